//! The file system as its callers see it, sentence by sentence of RFC 1813, and against two
//! oracles: a map of paths, and a directory of the kernel.

#![expect(clippy::unwrap_used, reason = "a helper that cannot help fails its test")]

mod attributes;
mod data;
mod disk;
mod listing;
mod model;
mod names;
mod permissions;
mod relink;
mod scale;
mod scene;
mod space;
mod steps;
mod storage;
