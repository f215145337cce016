//! How late deferred replies were sent: from the instant they were due until the service handed
//! them to their connections.
//!
//! For: showing how exact the service's limits and delays were. Not for: the limits and delays
//! themselves, which count the instants at which replies were due.

/// Buckets per power of two: a percentile is exact to 3 %.
const PARTS: u64 = 32;
const PARTS_BITS: u32 = PARTS.ilog2();

/// Buckets up to 2^36 ns (68 s); later replies are in the last one.
const BUCKETS: usize = 32 * PARTS as usize;

/// A histogram of how late deferred replies were sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lateness {
    buckets: Vec<u64>,
    count: u64,
    max_ns: u64,
}

impl Default for Lateness {
    fn default() -> Lateness {
        Lateness { buckets: vec![0; BUCKETS], count: 0, max_ns: 0 }
    }
}

impl Lateness {
    /// Deferred replies that were sent.
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// The latest, in nanoseconds.
    pub const fn max_ns(&self) -> u64 {
        self.max_ns
    }

    /// The lateness in nanoseconds that the share `fraction` (0 to 1) of replies did not exceed: the
    /// upper edge of a bucket. `None` if no deferred reply was sent.
    pub fn percentile_ns(&self, fraction: f64) -> Option<u64> {
        let rank = ((fraction * self.count as f64).ceil() as u64).max(1);
        let mut seen = 0;
        let bucket = self.buckets.iter().position(|count| {
            seen += count;
            seen >= rank
        })?;
        Some(upper_edge_ns(bucket).min(self.max_ns))
    }

    /// What was counted since `earlier`, a state of the same histogram. The maximum is not reset.
    #[must_use]
    pub fn since(&self, earlier: &Lateness) -> Lateness {
        let pairs = self.buckets.iter().zip(&earlier.buckets);
        Lateness {
            buckets: pairs.map(|(now, before)| now.saturating_sub(*before)).collect(),
            count: self.count.saturating_sub(earlier.count),
            max_ns: self.max_ns,
        }
    }

    pub(super) fn add(&mut self, late_ns: u64) {
        self.buckets[bucket_of(late_ns)] += 1;
        self.count += 1;
        self.max_ns = self.max_ns.max(late_ns);
    }
}

fn bucket_of(ns: u64) -> usize {
    let octave = (ns | (PARTS - 1)).ilog2() + 1 - PARTS_BITS;
    let part = ns >> octave.saturating_sub(1);
    let bucket = if octave == 0 { part } else { u64::from(octave - 1) * PARTS + part };
    (bucket as usize).min(BUCKETS - 1)
}

fn upper_edge_ns(bucket: usize) -> u64 {
    let (octave, part) = (bucket as u64 / PARTS, bucket as u64 % PARTS);
    match octave {
        0 => part,
        octave => ((PARTS + part + 1) << (octave - 1)) - 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_lies_between_the_upper_edges_of_the_bucket_before_and_its_own() {
        for ns in (0..5000).chain((13..36).flat_map(|bits| [(1 << bits) - 1, 1 << bits])) {
            let bucket = bucket_of(ns);
            assert!(ns <= upper_edge_ns(bucket), "{ns}");
            assert!(bucket == 0 || ns > upper_edge_ns(bucket - 1), "{ns}");
            assert!((upper_edge_ns(bucket) - ns) as f64 <= ns as f64 / 31.0, "{ns}");
        }
        assert_eq!(bucket_of(u64::MAX), BUCKETS - 1);
    }

    #[test]
    fn percentiles_since_an_earlier_state_are_those_of_later_values() {
        let mut late = Lateness::default();
        assert_eq!(late.percentile_ns(0.5), None);
        late.add(1_000_000);
        let before = late.clone();
        (1..=100).for_each(|us| late.add(us * 1000));
        let since = late.since(&before);
        assert_eq!((since.count(), late.count(), late.max_ns()), (100, 101, 1_000_000));
        for (fraction, ns) in [(0.5, 50_000.0), (0.99, 99_000.0), (1.0, 100_000.0)] {
            let seen = since.percentile_ns(fraction).unwrap() as f64;
            assert!(seen >= ns && seen < ns * 1.04, "{fraction}: {seen}");
        }
        assert_eq!(late.percentile_ns(1.0), Some(1_000_000));
    }
}
