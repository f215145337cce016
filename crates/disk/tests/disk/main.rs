//! Volumes on a disk as a service uses them: kept over restarts and kills, refused where they are
//! not as they were left.

#![expect(clippy::unwrap_used, reason = "a helper that cannot help fails its test")]

mod crash;
mod damage;
mod full;
mod refused;
mod restart;
mod scene;
