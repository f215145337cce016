//! Random numbers as a function of a counter. The load generator has separate code, so that a common
//! bug cannot make both agree.

/// The 64 random bits at `index` of the sequence of `seed`.
///
/// Source: SplitMix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", OOPSLA
/// 2014): its output after `index` steps.
pub(crate) const fn bits(seed: u64, index: u64) -> u64 {
    const STEP: u64 = 0x9E37_79B9_7F4A_7C15;
    let z = seed.wrapping_add(STEP.wrapping_mul(index.wrapping_add(1)));
    let z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// A number in the open interval (0, 1); never 0, so its logarithm is finite.
pub(crate) fn open_unit(bits: u64) -> f64 {
    ((bits >> 12) as f64 + 0.5) / (1u64 << 52) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sequence_is_that_of_the_reference_implementation() {
        // First outputs of the public-domain splitmix64.c for the state 1234567.
        assert_eq!(bits(1_234_567, 0), 6_457_827_717_110_365_317);
        assert_eq!(bits(1_234_567, 1), 3_203_168_211_198_807_973);
    }

    #[test]
    fn a_unit_is_never_zero_or_one() {
        assert!(open_unit(0) > 0.0);
        assert!(open_unit(u64::MAX) < 1.0);
    }
}
