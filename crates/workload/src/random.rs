//! Random numbers as a function of a counter, without state.

/// Mixes a 64-bit counter into 64 well-distributed bits.
///
/// Source: the finaliser of SplitMix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number
/// generators", OOPSLA 2014), with Stafford's variant 13 constants.
#[inline]
pub const fn mix64(counter: u64) -> u64 {
    let z = counter.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// Number `index` of the random sequence `seed`.
#[inline]
pub const fn at(seed: u64, index: u64) -> u64 {
    mix64(seed ^ index.wrapping_mul(0x9E37_79B9_7F4A_7C15))
}

/// A seed for a separate purpose, derived from `seed`; `purpose` is any constant.
pub const fn derive(seed: u64, purpose: u64) -> u64 {
    mix64(mix64(seed).wrapping_add(purpose.wrapping_mul(0xD1B5_4A32_D192_ED03)))
}

/// Maps 64 random bits to `0..bound` without division.
///
/// Source: Lemire, "Fast random integer generation in an interval", ACM TOMACS 29(1), 2019. The
/// bias is below `bound / 2^64`.
#[inline]
pub const fn below(bits: u64, bound: u64) -> u64 {
    ((bits as u128 * bound as u128) >> 64) as u64
}

/// Maps 64 random bits to [0, 1).
#[inline]
pub const fn unit(bits: u64) -> f64 {
    (bits >> 11) as f64 / (1u64 << 53) as f64
}

/// The numbers `0..count` in an order drawn from `seed`.
///
/// Source: Durstenfeld, "Algorithm 235: Random permutation", CACM 7(7), 1964.
pub fn shuffled(seed: u64, count: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    for last in (1..count).rev() {
        let bits = at(seed, last as u64);
        order.swap(last, below(bits, last as u64 + 1) as usize);
    }
    order
}

/// SplitMix64 as a generator for libraries, started at a counter.
#[derive(Clone, Debug)]
pub struct CounterRng(u64);

impl CounterRng {
    /// A generator whose sequence depends only on `start`.
    pub const fn new(start: u64) -> CounterRng {
        CounterRng(start)
    }

    /// The next 64 bits.
    #[inline]
    pub const fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        mix64(self.0)
    }
}
