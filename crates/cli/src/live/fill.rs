//! The fill of one file set: its rate and the remaining time.

use std::time::{Duration, Instant};

use units::{Bytes, BytesPerSec, print_whole_seconds};

/// The fill of one file set.
#[derive(Clone, Debug)]
pub(super) struct Fill {
    /// Leading part of the files' names.
    pub(super) stream: String,
    pub(super) written_bytes: u64,
    pub(super) total_bytes: u64,
    started: Instant,
    now: Instant,
}

impl Fill {
    /// Continues the fill in `known`, or begins another one.
    pub(super) fn progress(
        known: &mut Option<Fill>,
        stream: &str,
        [written_bytes, total_bytes]: [u64; 2],
        now: Instant,
    ) -> Fill {
        let started = match known.take() {
            Some(fill) if fill.stream == stream => fill.started,
            _ => now,
        };
        let fill = Fill { stream: stream.to_owned(), written_bytes, total_bytes, started, now };
        known.insert(fill).clone()
    }

    /// The time since the first byte.
    pub(super) fn took(&self) -> Duration {
        self.now.duration_since(self.started)
    }

    /// `1 GiB of 4 GiB`, `512.00 MiB/s`, `6s left`, `1m6s with all runs`; without rate and
    /// time if nothing is known about them yet.
    pub(super) fn parts(&self, runs: Duration) -> Vec<String> {
        let (written, total) = (Bytes::new(self.written_bytes), Bytes::new(self.total_bytes));
        let mut parts = vec![format!("{written} of {total}")];
        let took_s = self.took().as_secs_f64();
        if self.written_bytes == 0 || took_s <= 0.0 {
            return parts;
        }
        let bytes_per_s = self.written_bytes as f64 / took_s;
        parts.push(BytesPerSec::new(bytes_per_s).to_string());
        let left_bytes = self.total_bytes.saturating_sub(self.written_bytes);
        // An estimate right after the start may exceed the range of Duration.
        if let Ok(left) = Duration::try_from_secs_f64(left_bytes as f64 / bytes_per_s) {
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
        let fill = Fill::progress(&mut known, "corner", [0, total], start);
        assert_eq!(fill.parts(Duration::ZERO), ["0 B of 4 GiB"]);
        let later = start + Duration::from_secs(2);
        let fill = Fill::progress(&mut known, "corner", [1 << 30, total], later);
        assert_eq!(
            fill.parts(Duration::from_secs(60)),
            ["1 GiB of 4 GiB", "512.00 MiB/s", "6s left", "1m6s with all runs"]
        );
        let other = Fill::progress(&mut known, "log", [0, total], later);
        assert_eq!(other.took(), Duration::ZERO);
    }
}
