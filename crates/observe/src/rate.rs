//! When operations begin: their rate, its dispersion, and the times between begins.

use std::collections::BTreeMap;

use crate::observation::Arrival;

/// Nanoseconds in a second.
const NS_PER_S: u64 = 1_000_000_000;
/// Fewer whole seconds have no useful dispersion.
const SECONDS_MIN: u64 = 10;

/// Begins of operations, nearly in order.
#[derive(Debug, Default)]
pub(crate) struct Begins {
    first_ns: Option<u64>,
    last_ns: u64,
    count: u64,
    /// Operations by second since the first; seconds without one are absent.
    seconds: BTreeMap<u64, u64>,
    /// Sum of the squares of the times between begins, in square seconds.
    squares: f64,
}

impl Begins {
    pub(crate) fn add(&mut self, begin_ns: u64) {
        let first = *self.first_ns.get_or_insert(begin_ns);
        let since = begin_ns.saturating_sub(first);
        if self.count > 0 {
            let gap = begin_ns.saturating_sub(self.last_ns) as f64 / NS_PER_S as f64;
            self.squares += gap * gap;
        }
        self.count += 1;
        self.last_ns = self.last_ns.max(begin_ns);
        *self.seconds.entry(since / NS_PER_S).or_default() += 1;
    }

    /// `None` for fewer than two different times.
    pub(crate) fn arrival(&self) -> Option<Arrival> {
        let span_ns = self.last_ns.checked_sub(self.first_ns?).filter(|span| *span > 0)?;
        let (span_s, gaps) = (span_ns as f64 / NS_PER_S as f64, (self.count - 1) as f64);
        let seconds = span_ns / NS_PER_S;
        let whole = self.seconds.range(..seconds).map(|(_, count)| *count);
        let (sum, squares, peak) = whole.fold((0.0, 0.0, 0), |(sum, squares, peak), count| {
            let exact = count as f64;
            (sum + exact, squares + exact * exact, peak.max(count))
        });
        let dispersion = || {
            let n = seconds as f64;
            let variance = (squares - sum * sum / n) / (n - 1.0);
            (variance / (sum / n)).max(0.0)
        };
        let mean_gap = span_s / gaps;
        let variance = (self.squares / gaps - mean_gap * mean_gap).max(0.0);
        Some(Arrival {
            mean_per_s: gaps / span_s,
            seconds,
            dispersion: (seconds >= SECONDS_MIN).then(dispersion),
            peak_per_s: (seconds > 0).then_some(peak),
            gap_variation: (self.count > 2).then(|| variance.sqrt() / mean_gap),
        })
    }

    /// The first begin.
    pub(crate) fn first_ns(&self) -> Option<u64> {
        self.first_ns
    }

    /// The last begin.
    pub(crate) fn last_ns(&self) -> u64 {
        self.last_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arrival(times: impl IntoIterator<Item = u64>) -> Arrival {
        let mut begins = Begins::default();
        times.into_iter().for_each(|ns| begins.add(ns));
        begins.arrival().unwrap()
    }

    #[test]
    fn a_constant_rate_has_no_dispersion() {
        let found = arrival((0..=2000).map(|at| at * 10_000_000));
        assert!((found.mean_per_s - 100.0).abs() < 1e-9);
        assert_eq!((found.seconds, found.peak_per_s), (20, Some(100)));
        assert!(found.dispersion.unwrap() < 1e-9 && found.gap_variation.unwrap() < 1e-6);
    }

    #[test]
    fn bursts_have_the_dispersion_of_their_counts() {
        // 200 operations in every second second: mean 100, variance 100^2 x 20 / 19.
        let burst = |second: u64| (0..200).map(move |at| second * NS_PER_S + at * 1_000_000);
        let found = arrival((0..20).step_by(2).flat_map(burst).chain([20 * NS_PER_S]));
        assert_eq!((found.seconds, found.peak_per_s), (20, Some(200)));
        assert!((found.dispersion.unwrap() - 10_000.0 / 100.0 * 20.0 / 19.0).abs() < 1e-9);
        assert!(found.gap_variation.unwrap() > 3.0);
    }

    #[test]
    fn a_short_trace_has_no_dispersion() {
        let found = arrival([0, 500_000_000, 900_000_000]);
        assert_eq!((found.dispersion, found.peak_per_s, found.seconds), (None, None, 0));
        assert_eq!(Begins::default().arrival(), None);
    }
}
