//! Predicts throughput and response time of a system of hosts, connections, endpoints and volumes.
//!
//! For: rate and response time against concurrency, the bottleneck at each load, and the
//! uncertainty of both. A [`Topology`] describes the system in groups of equals; [`Parameters`]
//! hold the service demands of its parts ([`Parameters::calibrated`] from published figures,
//! [`Parameters::unbounded`] if the topology gives all limits). [`curve()`] computes the whole
//! curve with intervals and reasons, [`at`] one load quickly, [`capacity`] the lowest bound. Not
//! for: reading files, which the caller does ([`topology_file::parse`] takes the text), or deciding
//! what to buy.
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
//!         names: None,
//!     }],
//! };
//! assert_eq!(topology.flows(&topology.workloads[0]), 16);
//! let most = capacity(&topology, &parameters).unwrap();
//! assert!((450e3..650e3).contains(&most.ops_per_s.value));
//! ```
//!
//! Deterministic: the same topology and parameters give the same bits. A group costs as much as one
//! member, so a thousand hosts with millions of outstanding operations take milliseconds.

pub mod calibrate;
pub mod configuration;
mod contradictions;
pub mod coverage;
pub mod cross_validation;
pub mod curve;
pub mod distance;
pub mod documents;
pub mod expect;
mod facts;
pub mod figure_row;
pub mod interval;
pub mod measured;
mod model;
mod network;
pub mod of_figure;
pub mod parameter;
pub mod parameters;
pub mod point;
mod reasons;
pub mod resource;
mod several_classes;
mod solve;
pub mod spread;
pub mod statement;
pub mod topology;
pub mod topology_file;
pub mod validation;
mod volume_settings;
mod waits;

pub use curve::{Curve, Stretch, at, capacity, curve};
pub use interval::Interval;
pub use parameter::{Group, Parameter};
pub use parameters::Parameters;
pub use point::{Bound, Point, Unpredictable};
pub use resource::{Resource, ResourceKind};
pub use statement::{Assumption, Reason, Statement};
pub use topology::Topology;
