//! Fleets in virtual time: hosts with clocks that are off and drift, links with latency and a limited
//! bandwidth, and faults at any instant, around the real cores of controller and agent (crate `cluster`).
//!
//! [`VirtualLinks`] takes the part of the controller's pipes, [`world`] that of ssh, kernels and networks. What an
//! agent does is a [`Program`], which the caller provides, and so is the code that controls the fleet: crate
//! `commands` runs its own on these links. Not for: the shells around the cores, which have processes.

pub mod host;
pub mod links;
pub mod program;
pub mod world;

pub use host::{Clock, Fault, Host, NetworkPath, Phase, PlannedFault};
pub use links::{ControllerKilled, VirtualLinks};
pub use program::{HostTime, Program};
pub use world::World;

/// A generator of numbers from a seed (splitmix64).
#[derive(Clone, Debug)]
pub struct Random(pub u64);

impl Random {
    /// The next number below `bound`, which is not 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)) % bound
    }
}
