//! Response times of reads or writes.

use metrics::histogram::{Counts, Histogram};

use crate::observation::ResponseTimes;

/// The counters of the histogram have 32 bits.
const RECORDED_MAX: u32 = 1 << 30;
/// A percentile needs this many samples above it.
const SAMPLES_ABOVE_MIN: u64 = 10;

/// A histogram of any number of times.
#[derive(Debug, Default)]
pub(crate) struct Times {
    recent: Histogram,
    recorded: u32,
    counts: Counts,
}

impl Times {
    pub(crate) fn add(&mut self, ns: u64) {
        self.recent.record(ns);
        self.recorded += 1;
        if self.recorded == RECORDED_MAX {
            self.drain();
        }
    }

    fn drain(&mut self) {
        self.recent.drain_into(&mut self.counts);
        self.recorded = 0;
    }

    /// `None` without samples.
    pub(crate) fn figures(mut self) -> Option<ResponseTimes> {
        self.drain();
        let counts = &self.counts;
        let percentile = |fraction: f64| {
            let is_known = counts.samples_above(fraction) >= SAMPLES_ABOVE_MIN;
            counts.percentile_ns(fraction).filter(|_| is_known)
        };
        Some(ResponseTimes {
            samples: counts.total(),
            mean_ns: counts.mean_ns()?,
            p50_ns: percentile(0.5),
            p99_ns: percentile(0.99),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentile_with_few_samples_above_it_is_not_given() {
        let mut times = Times::default();
        (1..=100).for_each(|ms| times.add(ms * 1_000_000));
        let found = times.figures().unwrap();
        assert_eq!((found.samples, found.mean_ns, found.p99_ns), (100, 50_500_000.0, None));
        // The histogram's buckets are narrower than 1 %.
        assert!((found.p50_ns.unwrap() as f64 / 50e6 - 1.0).abs() < 0.01);
        assert_eq!(Times::default().figures(), None);
    }
}
