//! The fill of one file set or tree: its rate and the remaining time.

use std::time::{Duration, Instant};

use metrics::run_record::PreparedAmount;
use units::{Bytes, BytesPerSec, print_whole_seconds, thousands};

/// The fill of one file set or tree.
#[derive(Clone, Debug)]
pub(super) struct Fill {
    /// Leading part of the files' names.
    pub(super) stream: String,
    done: PreparedAmount,
    total: PreparedAmount,
    started: Instant,
    now: Instant,
}

impl Fill {
    /// Continues the fill in `known`, or begins another one.
    pub(super) fn progress(
        known: &mut Option<Fill>,
        stream: &str,
        [done, total]: [PreparedAmount; 2],
        now: Instant,
    ) -> Fill {
        let started = match known.take() {
            Some(fill) if fill.stream == stream => fill.started,
            _ => now,
        };
        let fill = Fill { stream: stream.to_owned(), done, total, started, now };
        known.insert(fill).clone()
    }

    /// The time since the first byte.
    pub(super) fn took(&self) -> Duration {
        self.now.duration_since(self.started)
    }

    /// The share that is done, 0 to 1: of a tree that of its names, because empty files have no bytes.
    pub(super) fn share(&self) -> f64 {
        let (done, total) = match self.total.names {
            0 => (self.done.bytes, self.total.bytes),
            total => (self.done.names, total),
        };
        done as f64 / total.max(1) as f64
    }

    /// `1 GiB of 4 GiB`, `512.00 MiB/s`, `6s left`, `1m6s with all runs`; without rate and
    /// time if nothing is known about them yet. Of a tree `900 of 4,000 names` is first.
    pub(super) fn parts(&self, runs: Duration) -> Vec<String> {
        let mut parts = Vec::new();
        if self.total.names > 0 {
            let (done, total) = (thousands(self.done.names), thousands(self.total.names));
            parts.push(format!("{done} of {total} names"));
        }
        if self.total.names == 0 || self.total.bytes > 0 {
            let (done, total) = (Bytes::new(self.done.bytes), Bytes::new(self.total.bytes));
            parts.push(format!("{done} of {total}"));
        }
        let took_s = self.took().as_secs_f64();
        if self.share() == 0.0 || took_s <= 0.0 {
            return parts;
        }
        if self.total.names > 0 {
            let names_per_s = self.done.names as f64 / took_s;
            parts.push(format!("{} names/s", thousands(names_per_s.round() as u64)));
        } else {
            parts.push(BytesPerSec::new(self.done.bytes as f64 / took_s).to_string());
        }
        // An estimate right after the start may exceed the range of Duration.
        let left_s = took_s * (1.0 - self.share()).max(0.0) / self.share();
        if let Ok(left) = Duration::try_from_secs_f64(left_s) {
            parts.push(format!("{} left", print_whole_seconds(left)));
            let all = print_whole_seconds(left.saturating_add(runs));
            parts.push(format!("{all} with all runs"));
        }
        parts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fill_has_its_rate_and_the_remaining_time() {
        let start = Instant::now();
        let mut known = None;
        let total = 4u64 << 30;
        let bytes = PreparedAmount::of_bytes;
        let fill = Fill::progress(&mut known, "corner", [bytes(0), bytes(total)], start);
        assert_eq!(fill.parts(Duration::ZERO), ["0 B of 4 GiB"]);
        let later = start + Duration::from_secs(2);
        let fill = Fill::progress(&mut known, "corner", [bytes(1 << 30), bytes(total)], later);
        assert_eq!(
            fill.parts(Duration::from_secs(60)),
            ["1 GiB of 4 GiB", "512.00 MiB/s", "6s left", "1m6s with all runs"]
        );
        let other = Fill::progress(&mut known, "log", [bytes(0), bytes(total)], later);
        assert_eq!(other.took(), Duration::ZERO);
    }

    #[test]
    fn the_fill_of_a_tree_counts_names_and_bytes_if_it_has_some() {
        let start = Instant::now();
        let later = start + Duration::from_secs(2);
        let amounts = |names, bytes, of| {
            [PreparedAmount { names, bytes }, PreparedAmount { names: 8000, bytes: of }]
        };
        let mut known = None;
        let fill = Fill::progress(&mut known, "home", amounts(0, 0, 0), start);
        assert_eq!(fill.parts(Duration::ZERO), ["0 of 8,000 names"]);
        let fill = Fill::progress(&mut known, "home", amounts(2000, 0, 0), later);
        assert_eq!(
            fill.parts(Duration::ZERO),
            ["2,000 of 8,000 names", "1,000 names/s", "6s left", "6s with all runs"]
        );
        assert_eq!(fill.share(), 0.25);
        let fill = Fill::progress(&mut known, "home", amounts(2000, 1 << 20, 4 << 20), later);
        assert_eq!(fill.parts(Duration::ZERO)[..2], ["2,000 of 8,000 names", "1 MiB of 4 MiB"]);
    }
}
