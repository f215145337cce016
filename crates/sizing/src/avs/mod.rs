//! Azure VMware Solution: from an inventory of virtual machines to hosts, pools and datastores.
//!
//! The hand formula of the TCO estimator (Azure/azure-netapp-files, docs/avs-calc v6.1) is the
//! beginning: hosts by processors, by memory and by what vSAN can hold; what vSAN cannot hold goes
//! to datastores on Azure NetApp Files instead of on more hosts. Beyond it: machines are placed one
//! by one, pools are sized for throughput as well as for capacity, and everything is in whole
//! numbers.
//!
//! Reading order: [`machine`] (whom it is about), [`profile`] (what is assumed of whom), [`ask`],
//! [`hosts`], [`spread`] (one machine on several datastores), [`flows`] (how many datastores),
//! [`placement`], [`pool`] (what is bought), [`design`] (all together), [`present`] (what is there
//! today).

pub mod ask;
mod assumptions;
pub mod design;
mod files;
mod filling;
pub mod flows;
pub mod hosts;
mod loads;
pub mod machine;
mod mix;
pub mod placement;
pub mod pool;
pub mod present;
pub mod profile;
pub mod profile_file;
pub mod profile_text;
pub mod spread;

pub use ask::{Ask, Facts, OnVsan, Ratio, Refusal};
pub use design::{Design, Lack, Sizing, size};

/// Hours of a month in prices: a year of 365 days, divided by twelve.
pub const HOURS_PER_MONTH: u64 = 730;
