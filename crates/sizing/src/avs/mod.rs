//! Azure VMware Solution: from an inventory of virtual machines to hosts, pools and datastores.
//!
//! Starts from the formula of the TCO estimator (Azure/azure-netapp-files, docs/avs-calc v6.1):
//! hosts by processors, memory and vSAN capacity; data beyond vSAN goes to Azure NetApp Files
//! datastores instead of more hosts. In addition, machines are placed individually, pools are sized
//! for throughput as well as capacity, and all arithmetic is in integers.
//!
//! Reading order: [`machine`], [`profile`] (assumed loads), [`ask`] (options), [`hosts`],
//! [`spread`] (machines on several datastores), [`flows`] (number of datastores), [`placement`],
//! [`pool`], [`design`], [`recommendation`] (all together), [`current_estate`].

#![expect(
    clippy::result_large_err,
    reason = "a refused design is rare, and ends a computation of milliseconds"
)]

pub mod ask;
mod assumptions;
pub mod class_load;
pub mod current_estate;
pub mod design;
mod files;
mod filling;
pub mod flows;
pub mod hosts;
pub mod loads;
pub mod machine;
mod mix;
pub mod placement;
pub mod pool;
pub mod profile;
pub mod profile_file;
pub mod profile_text;
pub mod ratio;
pub mod recommendation;
pub mod selection;
pub mod senses;
pub mod spread;
pub mod statement;
pub mod utilization;

pub use ask::{Ask, Facts, OnVsan, Refusal};
pub use design::{Design, Lack};
pub use ratio::Ratio;
pub use recommendation::{Sizing, size};

/// Hours of a month in prices: a year of 365 days, divided by twelve.
pub const HOURS_PER_MONTH: u64 = 730;
