//! The goal of tuning: the smallest concurrency that reaches a required rate.

use serde::{Deserialize, Serialize};
use units::{BytesPerSec, OpsPerSec};

use crate::offered_load;
use crate::run::Stream;

/// The required rate, and the bounds of the search.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reach {
    /// The required rate, as the user gave it.
    #[serde(rename = "wanted")]
    pub required: RequiredRate,
    /// A rate that is lower by this many thousandths still counts as reached.
    pub within_permille: u16,
    /// Maximum number of outstanding operations, over all workers.
    pub outstanding_max: u32,
    /// The objective: maximum mean response time, in nanoseconds.
    pub response_time_max_ns: Option<u64>,
    /// Number of hosts that the recommended settings are for.
    pub hosts: u32,
}

/// A rate in the unit that the user gave.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RequiredRate {
    /// Bytes per second, reads and writes together.
    Throughput {
        /// The value.
        bytes_per_s: f64,
    },
    /// Operations per second.
    Rate {
        /// The value.
        ops_per_s: f64,
    },
}

impl Reach {
    /// Maximum number of load points: every concurrency, and one of them at the required rate.
    pub(crate) const fn load_points_max(&self) -> u32 {
        self.outstanding_max.saturating_add(1)
    }
}

impl RequiredRate {
    /// Required rate of operations: throughput over bytes per operation.
    ///
    /// * `operation_bytes` - mean bytes per operation; above 0 for a throughput
    ///
    /// Source: section 10 of NetApp's paper, "Convert MiB/s to IOPS".
    pub fn rate(self, operation_bytes: f64) -> OpsPerSec {
        OpsPerSec::new(match self {
            RequiredRate::Throughput { bytes_per_s } => bytes_per_s / operation_bytes,
            RequiredRate::Rate { ops_per_s } => ops_per_s,
        })
    }

    /// Required throughput: rate times bytes per operation.
    pub fn throughput(self, operation_bytes: f64) -> BytesPerSec {
        BytesPerSec::new(self.rate(operation_bytes).get() * operation_bytes)
    }
}

impl Stream {
    /// Mean bytes that an operation moves; 0 if none moves data.
    pub fn operation_bytes(&self) -> f64 {
        if let Some(load) = &self.names {
            return offered_load::bytes_of_names(load);
        }
        let weights: f64 = self.transfer_sizes.iter().map(|size| f64::from(size.weight)).sum();
        let bytes = self.transfer_sizes.iter().map(|s| s.size_bytes as f64 * f64::from(s.weight));
        bytes.sum::<f64>() / weights
    }
}
