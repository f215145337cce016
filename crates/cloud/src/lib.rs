//! Facts about cloud storage, as rows of `data/*.toml` with source and date, embedded in the binary:
//! service levels and limits of Azure NetApp Files, sizes of virtual machines, client settings, list
//! prices, regions with their features, published figures, and load profiles.
//!
//! For: the facts, and what follows from them directly: the throughput limit of a volume
//! (`volume_limit.rs`) and of a pool (`pool_throughput.rs`). Facts that newer sources contradict
//! remain as superseded rows, so that a figure from an old document can be explained. No number of
//! the service is in code. Not for: conclusions (sizing, prediction), or enforcing limits (`volume`).

pub mod avs;
pub mod catalog;
mod catalog_rows;
pub mod client;
pub mod figure;
pub mod load_profile;
pub mod pool_throughput;
pub mod price;
pub mod reason;
pub mod region;
pub mod row;
pub mod row_reader;
pub mod service_level;
mod storage_price;
pub mod throughput;
mod usd;
pub mod vm_size;
pub mod volume_limit;
