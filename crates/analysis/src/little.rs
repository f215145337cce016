//! Little's law as an accounting check on every window.

use units::{Nanos, OpsPerSec};

/// Mean outstanding operations by Little's law, `L = X * S`.
///
/// * `achieved_rate`: completions over the window, of every kind of operation
/// * `service_time_mean`: issue to completion, of the same completions. With the response time
///   instead, the result also counts the backlog (operations due but not issued, such as those whose
///   data is being made).
///
/// Holds for any window in which issues and completions balance.
/// Source: J. D. C. Little, Operations Research 9(3), 1961.
pub fn outstanding_mean(achieved_rate: OpsPerSec, service_time_mean: Nanos) -> f64 {
    achieved_rate.get() * service_time_mean.0 / 1e9
}

/// Both sides of Little's law on one window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LittleCheck {
    /// Mean number of operations, from the time integral of the workers.
    pub counted: f64,
    /// Achieved rate times mean time.
    pub expected: f64,
    /// Their difference relative to the counted value.
    pub mismatch: f64,
}

/// Larger differences are reported.
pub const MISMATCH_MAX: f64 = 0.02;

impl LittleCheck {
    /// Compares both sides; `None` if nothing was outstanding.
    pub(crate) fn new(counted: f64, expected: f64) -> Option<LittleCheck> {
        (counted > 0.0).then(|| LittleCheck {
            counted,
            expected,
            mismatch: (expected - counted) / counted,
        })
    }

    /// Whether both sides agree.
    pub fn holds(&self) -> bool {
        self.mismatch.abs() <= MISMATCH_MAX
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn littles_law_multiplies_rate_and_time() {
        let outstanding = outstanding_mean(OpsPerSec::new(3200.0), Nanos(1_909_000.0));
        assert!((outstanding - 6.1088).abs() < 1e-9);
    }

    #[test]
    fn two_percent_is_tolerated_and_three_are_not() {
        assert!(LittleCheck::new(100.0, 98.0).unwrap().holds());
        assert!(!LittleCheck::new(100.0, 97.0).unwrap().holds());
        assert_eq!(LittleCheck::new(0.0, 0.0), None);
    }
}
