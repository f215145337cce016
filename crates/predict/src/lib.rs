//! Predicts what a system of hosts, connections, endpoints and volumes will do, before anyone buys
//! it.
//!
//! For: rate and response time against concurrency, which resource bounds where, and how far off
//! that may be. A [`Topology`] says the system in groups of equals, [`Parameters`] what its parts
//! can do ([`Parameters::calibrated`] from published figures, [`Parameters::unbounded`] where the
//! topology says every limit itself), [`curve()`] gives the whole curve with intervals and reasons,
//! [`at`] one load quickly, [`capacity`] the least bound. Not for: reading files, which the caller
//! does ([`topology_file::parse`] takes the text); nor for what should be bought.
//!
//! ```
//! use cloud::{figure, service_level::VolumeKind};
//! use predict::topology::{HostGroup, Load, Topology, VolumeGroup, Workload};
//! use predict::{Parameters, capacity};
//!
//! let parameters = Parameters::calibrated(&figure::all());
//! let topology = Topology {
//!     name: "four hosts, four datastores".to_owned(),
//!     floor: None,
//!     burst_s: 0.0,
//!     hosts: vec![HostGroup::esxi("host", 4, None)],
//!     endpoints: Vec::new(),
//!     volumes: vec![VolumeGroup::of("datastore", 4, VolumeKind::Regular)],
//!     workloads: vec![Workload {
//!         name: "random".to_owned(),
//!         hosts: 0,
//!         volumes: vec![0],
//!         transfer_bytes: 8192,
//!         read: 1.0,
//!         access: figure::Access::Random,
//!         load: Load::Closed { outstanding: 512 },
//!     }],
//! };
//! assert_eq!(topology.flows(&topology.workloads[0]), 16);
//! let most = capacity(&topology, &parameters).unwrap();
//! assert!((450e3..650e3).contains(&most.ops_per_s.value));
//! ```
//!
//! Pure: the same topology and parameters give the same bits. Groups of equals cost what one of
//! them costs, so a thousand hosts with millions of operations outstanding take milliseconds.

pub mod calibrate;
mod contradictions;
pub mod coverage;
pub mod curve;
pub mod distance;
pub mod documents;
pub mod expect;
mod facts;
pub mod fields;
mod fit;
pub mod interval;
pub mod measured;
mod meeting;
mod model;
mod network;
pub mod of_figure;
pub mod parameters;
mod reasons;
pub mod resource;
mod solve;
pub mod spread;
pub mod topology;
pub mod topology_file;
pub mod validation;
mod volume_settings;

pub use curve::{Bound, Curve, Point, Stretch, Unpredictable, at, capacity, curve};
pub use interval::Interval;
pub use parameters::{Group, Parameter, Parameters};
pub use resource::{Resource, ResourceKind};
pub use topology::Topology;
