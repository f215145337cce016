//! What tuning looks for: the least concurrency that reaches a rate.

use serde::{Deserialize, Serialize};

use crate::plan::Stream;

/// The wanted rate, and what may be done for it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reach {
    /// What is wanted, as the user said it.
    pub wanted: Wanted,
    /// A rate that is lower by so many thousandths still counts as reached.
    pub within_permille: u16,
    /// No more operations than this are kept outstanding, over all workers.
    pub outstanding_max: u32,
    /// The objective: a longer mean response time, in nanoseconds, is too long.
    pub response_time_max_ns: Option<u64>,
    /// Hosts that the settings are for; all was measured on one.
    pub hosts: u32,
}

/// A rate as the user said it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Wanted {
    /// Bytes per second, reads and writes together.
    Throughput {
        /// The number.
        bytes_per_s: f64,
    },
    /// Operations per second.
    Rate {
        /// The number.
        ops_per_s: f64,
    },
}

impl Reach {
    /// At most so many load points: every concurrency, and one of them held at the wanted rate.
    pub(crate) const fn load_points_max(&self) -> u32 {
        self.outstanding_max.saturating_add(1)
    }
}

impl Wanted {
    /// The operations per second that are wanted: throughput over transfer size.
    ///
    /// * `transfer_bytes`: bytes moved by an operation, in the mean
    ///
    /// Source: section 10 of NetApp's paper, "Convert MiB/s to IOPS".
    pub fn ops_per_s(self, transfer_bytes: f64) -> f64 {
        match self {
            Wanted::Throughput { bytes_per_s } => bytes_per_s / transfer_bytes,
            Wanted::Rate { ops_per_s } => ops_per_s,
        }
    }

    /// The bytes per second that are wanted.
    pub fn bytes_per_s(self, transfer_bytes: f64) -> f64 {
        self.ops_per_s(transfer_bytes) * transfer_bytes
    }
}

impl Stream {
    /// Bytes moved by an operation, in the mean over the transfer sizes.
    pub fn transfer_size_mean_bytes(&self) -> f64 {
        let weights: f64 = self.transfer_sizes.iter().map(|size| f64::from(size.weight)).sum();
        let bytes = self.transfer_sizes.iter().map(|s| s.size_bytes as f64 * f64::from(s.weight));
        bytes.sum::<f64>() / weights
    }
}
