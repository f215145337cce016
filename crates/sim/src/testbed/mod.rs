//! A client, a network and a server of which every amount is known, so that it is known which
//! resource limits a run: the truth that verdicts are graded against.
//!
//! A closed loop of operations passes the client's processors and request slots, the network, the
//! server's slots, processors, limits and storage, and the network back, first come first served.
//! It is coarse on purpose (no TCP, no operations split into several calls), so that thousands of
//! systems are cheap; its amounts of protocol overhead differ from those that analysis assumes.
//! Not for testing the product's own code on the way of an operation: [`crate::world`] and
//! [`crate::nfs_world`] run that.

mod amounts;
mod engine;
mod servers;
mod tally;

pub use amounts::{Amounts, Change, Credit, Disk, Neighbour, ServerCpu};

use metrics::run_record::RunRecord;
use workload::plan::Run;
use workload::random;

use servers::Bucket;

/// Pause between two runs of one session, as a share of a run's length.
const PAUSE: f64 = 0.02;

/// A system that is measured run after run: limits move, credits are spent and earned, whatever
/// runs are made.
#[derive(Debug)]
pub struct Testbed {
    amounts: Amounts,
    seed: u64,
    runs: u64,
    /// Time since the first run began, in nanoseconds.
    clock_ns: f64,
    /// Burst credit of the volume.
    credit: Option<Bucket>,
}

/// How the client reaches the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// The built-in NFS client: connections are counted one by one.
    OwnClient,
    /// A kernel mount with this many connections: nothing is known of them, the mount's byte
    /// counters are.
    Mount {
        /// Connections of the mount.
        connections: u32,
    },
}

impl Testbed {
    /// A system at rest.
    pub fn new(amounts: Amounts, seed: u64) -> Testbed {
        let credit = amounts.credit.map(|credit| Bucket::full(credit.bytes));
        Testbed { amounts, seed, runs: 0, clock_ns: 0.0, credit }
    }

    /// Makes one run of one closed stream with a single transfer size.
    pub fn measure(&mut self, run: &Run, access: Access) -> RunRecord {
        let seed = random::derive(self.seed, self.runs);
        let (record, credit) =
            engine::Engine::new(run, &self.amounts, access, self.clock_ns, self.credit, seed).run();
        self.credit = credit;
        self.runs += 1;
        self.clock_ns += run.phases.total_ns() as f64 * (1.0 + PAUSE);
        record
    }
}
