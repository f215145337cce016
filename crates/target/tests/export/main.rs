//! The target directory on an export of nfs-ganesha: the same tests as on local files, and those
//! that need an export. Needs root and nfs-ganesha, as in CI.

#![expect(clippy::unwrap_used, reason = "a failed helper fails its test")]

#[path = "../directory/cleaning.rs"]
mod cleaning;
mod exports;
mod faults;
#[path = "../directory/filling.rs"]
mod filling;
#[path = "../nfs/ganesha.rs"]
mod ganesha;
mod leases;
#[path = "../directory/plans.rs"]
mod plans;
#[path = "../directory/refusals.rs"]
mod refusals;
mod served;
mod service;
#[path = "../directory/splitting.rs"]
mod splitting;
mod test_volume;
#[path = "../directory/verification.rs"]
mod verification;
