//! Facts about cloud storage as rows with source and date.
//!
//! For: service levels, sizes, ceilings and waiting times of Azure NetApp Files, read from
//! `data/service_levels.toml`, which is part of the binary. Facts that newer sources contradict
//! stay as superseded rows, so that a figure from an old document can be explained. What follows
//! from the rows alone is here too: the throughput limit of a volume (`volume_limit.rs`) and of a
//! pool (`pool_throughput.rs`). Not for: conclusions (sizing, prediction) nor for holding anyone to
//! a limit; that is the volume service's. No number of the service is in code. Sizes of virtual
//! machines and settings of clients are rows of the same kind, in `data/vm_sizes.toml` and
//! `data/client_settings.toml`, and so are list prices, in `data/storage_prices.toml` and
//! `data/prices.toml`, regions with their features, in `data/regions.toml`, and published figures,
//! in `data/published.toml`.

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
pub mod service_level;
mod storage_price;
pub mod throughput;
pub mod vm_size;
pub mod volume_limit;
