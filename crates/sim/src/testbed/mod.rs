//! A client, a network and a server with known amounts, so that the resource that limits a run is
//! known: the truth for grading verdicts.
//!
//! Operations of a closed loop pass the client's processors and request slots, the network, the
//! server's slots, processors, limits and storage, and return, first come first served. The model
//! is coarse (no TCP, no split operations), so that thousands of systems are cheap; its protocol
//! overhead differs from what analysis assumes. The product's own code on the path of an operation
//! is simulated in [`crate::world`] and [`crate::nfs_world`].

mod amounts;
mod engine;
mod servers;
mod tally;

pub use amounts::{Amounts, Change, Credit, Disk, Neighbour, ServerCpu};

use metrics::run_record::RunRecord;
use workload::plan::Run;
use workload::random;

use servers::Bucket;

/// Pause between two runs of a session, as a share of a run's length.
const PAUSE: f64 = 0.02;

/// A system that is measured in several runs: limits change and credits are earned and spent
/// between them too.
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
    /// The built-in NFS client, with counters per connection.
    OwnClient,
    /// A kernel mount with this many connections, which has only byte counters.
    Mount {
        /// Connections of the mount.
        connections: u32,
    },
}

impl Testbed {
    /// An idle system.
    pub fn new(amounts: Amounts, seed: u64) -> Testbed {
        let credit = amounts.credit.map(|credit| Bucket::full(credit.bytes));
        Testbed { amounts, seed, runs: 0, clock_ns: 0.0, credit }
    }

    /// Simulates a run with one closed stream and a single transfer size.
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
