//! Log-linear histograms of times in nanoseconds.
//!
//! Values below 2,048 ns have one bucket each; above, every power of two is divided into 1,024
//! equal buckets, so a bucket is never wider than 1/1,024 (0.098 %) of its lower edge. The scheme
//! is HdrHistogram's (Tene) and h2histogram's. A worker records into a [`Histogram`]; [`Counts`] is
//! the compact snapshot that is merged, stored and evaluated.

/// There are `1 << PRECISION_BITS` buckets per power of two.
pub const PRECISION_BITS: u32 = 10;
/// The largest time with a bucket, 60 s. Longer times are counted as over range, with their exact
/// sum and maximum.
pub const RANGE_MAX_NS: u64 = 60_000_000_000;
/// Times in one interval that a compact histogram holds in 2 KiB.
pub const RECENT_MAX: usize = 1024;
/// Number of buckets.
pub const BUCKETS: usize = bucket_of(RANGE_MAX_NS) as usize + 1;

/// The bucket of a time.
#[inline]
pub const fn bucket_of(time_ns: u64) -> u32 {
    // For values below 2^(PRECISION_BITS + 1) the shift is 0.
    let magnitude = 63 - (time_ns | (1 << PRECISION_BITS)).leading_zeros();
    let shift = magnitude - PRECISION_BITS;
    (shift << PRECISION_BITS) + (time_ns >> shift) as u32
}

/// The smallest time in a bucket, in nanoseconds.
#[inline]
pub const fn bucket_low_ns(bucket: u32) -> u64 {
    if bucket < 2 << PRECISION_BITS {
        return bucket as u64;
    }
    let shift = (bucket >> PRECISION_BITS) - 1;
    ((bucket & ((1 << PRECISION_BITS) - 1)) as u64 + (1 << PRECISION_BITS)) << shift
}

/// The largest time in a bucket, in nanoseconds.
#[inline]
pub const fn bucket_high_ns(bucket: u32) -> u64 {
    bucket_low_ns(bucket + 1) - 1
}

/// The histogram that a worker records into. Its counters have 32 bits, because no interval of a
/// worker has 2^32 operations.
#[derive(Clone, Debug)]
pub struct Histogram {
    /// By bucket; empty in a compact histogram with few times.
    counts: Box<[u32]>,
    /// The buckets of a compact histogram's times. Its capacity is not exceeded.
    recent: Vec<u16>,
    over_range: u64,
    sum_ns: u64,
    min_ns: u64,
    max_ns: u64,
}

impl Default for Histogram {
    fn default() -> Histogram {
        Histogram {
            counts: vec![0; BUCKETS].into_boxed_slice(),
            recent: Vec::new(),
            over_range: 0,
            sum_ns: 0,
            min_ns: u64::MAX,
            max_ns: 0,
        }
    }
}

impl Histogram {
    /// A histogram of 2 KiB, for kinds of operations that are rare in an interval. After more than
    /// [`RECENT_MAX`] times in one interval it takes as much memory as others, for good.
    pub fn compact() -> Histogram {
        Histogram {
            counts: Box::default(),
            recent: Vec::with_capacity(RECENT_MAX),
            ..Histogram::default()
        }
    }

    /// Records one time.
    #[inline]
    pub fn record(&mut self, time_ns: u64) {
        self.sum_ns += time_ns;
        self.min_ns = self.min_ns.min(time_ns);
        self.max_ns = self.max_ns.max(time_ns);
        match self.counts.get_mut(bucket_of(time_ns) as usize) {
            Some(count) => *count += 1,
            None => self.record_compact(time_ns),
        }
    }

    /// Records a time that has no counter: it is over range, or the histogram is compact.
    fn record_compact(&mut self, time_ns: u64) {
        let bucket = bucket_of(time_ns);
        // The last bucket also has times just above [`RANGE_MAX_NS`].
        if bucket as usize >= BUCKETS {
            self.over_range += 1;
            return;
        }
        debug_assert!(self.counts.is_empty(), "each bucket has a counter");
        if self.recent.len() == RECENT_MAX {
            self.expand();
            self.counts[bucket as usize] += 1;
            return;
        }
        self.recent.push(bucket as u16);
    }

    /// Gives each bucket a counter.
    #[cold]
    fn expand(&mut self) {
        self.counts = vec![0; BUCKETS].into_boxed_slice();
        for bucket in std::mem::take(&mut self.recent) {
            self.counts[usize::from(bucket)] += 1;
        }
    }

    /// Whether nothing was recorded.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.max_ns == 0 && self.min_ns == u64::MAX
    }

    /// Adds everything to `counts` and empties the histogram. Only touched memory is written, so an
    /// unused histogram has no resident pages.
    pub fn drain_into(&mut self, counts: &mut Counts) {
        if self.is_empty() {
            return;
        }
        let mut snapshot = Counts {
            buckets: Vec::new(),
            over_range: self.over_range,
            sum_ns: u128::from(self.sum_ns),
            min_ns: self.min_ns,
            max_ns: self.max_ns,
        };
        let last = bucket_of(self.max_ns.min(RANGE_MAX_NS)) as usize;
        let first = bucket_of(self.min_ns.min(RANGE_MAX_NS)) as usize;
        if self.counts.is_empty() {
            self.recent.sort_unstable();
            for times in self.recent.chunk_by(|one, other| one == other) {
                snapshot.buckets.push((u32::from(times[0]), times.len() as u64));
            }
            self.recent.clear();
        } else {
            for (offset, count) in self.counts[first..=last].iter_mut().enumerate() {
                if *count != 0 {
                    snapshot.buckets.push(((first + offset) as u32, u64::from(*count)));
                    *count = 0;
                }
            }
        }
        counts.merge(&snapshot);
        (self.over_range, self.sum_ns, self.min_ns, self.max_ns) = (0, 0, u64::MAX, 0);
    }
}

/// The snapshot of a histogram: its non-empty buckets, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counts {
    /// `(bucket, count)`, ascending by bucket, counts above 0.
    pub buckets: Vec<(u32, u64)>,
    /// Times beyond the last bucket, which contains [`RANGE_MAX_NS`].
    pub over_range: u64,
    /// Exact sum of all times.
    pub sum_ns: u128,
    /// Exact smallest time; `u64::MAX` when empty.
    pub min_ns: u64,
    /// Exact largest time; 0 when empty.
    pub max_ns: u64,
}

impl Default for Counts {
    fn default() -> Counts {
        Counts::EMPTY
    }
}

impl Counts {
    /// No times.
    pub const EMPTY: Counts =
        Counts { buckets: Vec::new(), over_range: 0, sum_ns: 0, min_ns: u64::MAX, max_ns: 0 };

    /// Number of recorded times.
    pub fn total(&self) -> u64 {
        self.buckets.iter().map(|(_, count)| count).sum::<u64>() + self.over_range
    }

    /// Exact mean, in nanoseconds; `None` when empty.
    pub fn mean_ns(&self) -> Option<f64> {
        let total = self.total();
        (total > 0).then(|| self.sum_ns as f64 / total as f64)
    }

    /// Adds another snapshot; the result is that of recording both into one histogram.
    pub fn merge(&mut self, other: &Counts) {
        if !other.buckets.is_empty() {
            if self.buckets.is_empty() {
                self.buckets.clone_from(&other.buckets);
            } else {
                self.buckets = merge_sorted(&self.buckets, &other.buckets);
            }
        }
        self.over_range += other.over_range;
        self.sum_ns += other.sum_ns;
        self.min_ns = self.min_ns.min(other.min_ns);
        self.max_ns = self.max_ns.max(other.max_ns);
    }

    /// The percentile of `fraction` (0 to 1) in nanoseconds: the upper edge of its bucket, at most
    /// the exact maximum. `None` when empty. The rank is `ceil(fraction * total)`, at least 1
    /// (nearest-rank definition). If the rank is among the times over range, the result is the
    /// exact maximum.
    pub fn percentile_ns(&self, fraction: f64) -> Option<u64> {
        let total = self.total();
        if total == 0 {
            return None;
        }
        let rank = nearest_rank(fraction, total);
        let mut seen = 0;
        for (bucket, count) in &self.buckets {
            seen += count;
            if seen >= rank {
                return Some(bucket_high_ns(*bucket).min(self.max_ns));
            }
        }
        Some(self.max_ns)
    }

    /// Number of recorded times above the percentile of `fraction`.
    pub fn samples_above(&self, fraction: f64) -> u64 {
        let total = self.total();
        total - nearest_rank(fraction, total).min(total)
    }
}

/// `ceil(fraction * total)`, from 1 to `total`.
///
/// The product is first reduced by its rounding error: 0.07 × 100 is 7.000000000000001 in binary,
/// but the rank of the 7th percentile of 100 samples is 7.
fn nearest_rank(fraction: f64, total: u64) -> u64 {
    let exact = fraction * total as f64;
    let rank = (exact - exact * 2.0 * f64::EPSILON).ceil();
    (rank as u64).clamp(1, total.max(1))
}

fn merge_sorted(a: &[(u32, u64)], b: &[(u32, u64)]) -> Vec<(u32, u64)> {
    let mut out = Vec::with_capacity(a.len() + b.len());
    let (mut i, mut j) = (0, 0);
    while i < a.len() && j < b.len() {
        match a[i].0.cmp(&b[j].0) {
            std::cmp::Ordering::Less => {
                out.push(a[i]);
                i += 1;
            }
            std::cmp::Ordering::Greater => {
                out.push(b[j]);
                j += 1;
            }
            std::cmp::Ordering::Equal => {
                out.push((a[i].0, a[i].1 + b[j].1));
                i += 1;
                j += 1;
            }
        }
    }
    out.extend_from_slice(&a[i..]);
    out.extend_from_slice(&b[j..]);
    out
}
