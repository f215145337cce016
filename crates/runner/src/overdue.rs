//! When a wait for a host of several is reported. A host that may rightly take long, such as one that
//! checks many files, is named and not lost.
//!
//! Not for waits of the built-in NFS client for its server, which `target` reports.

/// A host without progress for this long is named, in nanoseconds: two seconds before a user has waited for
/// ten.
pub const NAMED_AFTER_NS: u64 = 8_000_000_000;

/// The reports about one wait: the first after a given time, the next ones whenever the wait has doubled.
#[derive(Clone, Copy, Debug, Default)]
pub struct WaitReports {
    /// The length at which the wait is reported again.
    next_ns: u64,
}

impl WaitReports {
    /// Whether a wait is to be reported now. A shorter one than `first_after_ns` is a new wait.
    ///
    /// * `waited_ns` - since the last progress
    pub const fn is_due(&mut self, waited_ns: u64, first_after_ns: u64) -> bool {
        if waited_ns < first_after_ns {
            self.next_ns = 0;
            return false;
        }
        let is_due = waited_ns >= self.next_ns;
        if is_due {
            self.next_ns = waited_ns.saturating_mul(2);
        }
        is_due
    }
}

/// A wait for a host whose agent is alive, in words.
///
/// * `doing` - what the host does: `opening the target`
/// * `waited_ns` - since its last progress, in nanoseconds
pub fn no_progress(doing: &str, waited_ns: u64) -> String {
    let seconds = waited_ns / 1_000_000_000;
    format!("no progress for {seconds} s while {doing}; its agent responds, its storage may not")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_is_reported_after_its_time_and_whenever_it_has_doubled() {
        let mut reports = WaitReports::default();
        let mut reported_at = |waits: std::ops::Range<u64>| -> Vec<u64> {
            waits.filter(|waited| reports.is_due(*waited, 8)).collect()
        };
        assert_eq!(reported_at(0..40), [8, 16, 32]);
        assert_eq!(reported_at(0..9), [8], "progress begins a new wait");
    }
}
