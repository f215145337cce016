//! Volumes on disk as a service uses them: they survive restarts and kills, and damage is detected.

#![expect(clippy::unwrap_used, reason = "a failing helper fails its test")]

mod crash;
mod damage;
mod full;
mod refused;
mod restart;
mod scene;
