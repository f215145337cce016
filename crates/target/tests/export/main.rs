//! The rules of a run's directory on an export of nfs-ganesha: the same tests as on this machine,
//! and those that only an export needs. Wants root and nfs-ganesha, as CI has them.

#![expect(clippy::unwrap_used, reason = "a helper that cannot help fails its test")]

#[path = "../directory/cleaning.rs"]
mod cleaning;
mod exports;
mod faults;
#[path = "../directory/filling.rs"]
mod filling;
#[path = "../nfs/ganesha.rs"]
mod ganesha;
mod leases;
mod place;
#[path = "../directory/plans.rs"]
mod plans;
#[path = "../directory/refusals.rs"]
mod refusals;
mod served;
mod service;
#[path = "../directory/truths.rs"]
mod truths;
