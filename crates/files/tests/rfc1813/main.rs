//! The public interface of the file system: the requirements of RFC 1813, and comparisons with two
//! oracles, a map of paths and a directory of the kernel.

#![expect(clippy::unwrap_used, reason = "a failing helper fails its test")]

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
