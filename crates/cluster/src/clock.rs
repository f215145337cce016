//! The clock of another host relative to this one.
//!
//! A ping leaves at `sent` and its reply arrives at `received`, both by this host's clock; the other host
//! read its clock in between. So its clock is ahead by the reading minus the midpoint, with an error of at
//! most half the round trip. The sample with the shortest round trip has the smallest error, as in NTP
//! (RFC 5905, section 10: the clock filter).

/// One ping, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// When the ping was sent, by this host's monotonic clock.
    pub sent_ns: u64,
    /// When the reply arrived, by this host's monotonic clock.
    pub received_ns: u64,
    /// This host's wall clock minus its monotonic clock.
    pub unix_at_zero_ns: u64,
    /// The other host's monotonic clock in between.
    pub monotonic_ns: u64,
    /// The other host's wall clock in between, since 1970.
    pub unix_ns: u64,
}

/// The best estimate from several samples, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockOffset {
    /// The other monotonic clock minus this one.
    pub monotonic_ns: i64,
    /// The other wall clock minus this one.
    pub wall_ns: i64,
    /// At most this much too high or too low.
    pub error_ns: u64,
    /// When the clocks were compared, by this host's monotonic clock. They run apart from then on.
    pub sampled_ns: u64,
}

/// The offset by the sample with the shortest round trip; `None` without samples.
pub fn offset(samples: &[Sample]) -> Option<ClockOffset> {
    let round_trip = |sample: &Sample| sample.received_ns.saturating_sub(sample.sent_ns);
    let best = samples.iter().min_by_key(|sample| round_trip(sample))?;
    let middle_ns = best.sent_ns + round_trip(best) / 2;
    let difference = |theirs: u64, ours: u64| {
        let wide = i128::from(theirs) - i128::from(ours);
        i64::try_from(wide).unwrap_or(if wide < 0 { i64::MIN } else { i64::MAX })
    };
    Some(ClockOffset {
        monotonic_ns: difference(best.monotonic_ns, middle_ns),
        wall_ns: difference(best.unix_ns, best.unix_at_zero_ns.saturating_add(middle_ns)),
        error_ns: round_trip(best).div_ceil(2),
        sampled_ns: middle_ns,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A ping whose way takes `there_ns` and `back_ns`, to a clock that is `ahead_ns` ahead.
    fn sample(sent_ns: u64, there_ns: u64, back_ns: u64, ahead_ns: i64) -> Sample {
        let theirs = |clock_ns: u64| clock_ns.checked_add_signed(ahead_ns).expect("in range");
        Sample {
            sent_ns,
            received_ns: sent_ns + there_ns + back_ns,
            unix_at_zero_ns: 1_700_000_000_000_000_000,
            monotonic_ns: theirs(sent_ns + there_ns),
            unix_ns: theirs(1_700_000_000_000_000_000 + sent_ns + there_ns),
        }
    }

    #[test]
    fn equal_ways_give_the_offset_exactly_and_the_shortest_round_trip_counts() {
        let hour_ns = 3_600_000_000_000;
        let samples = [
            sample(10_000_000_000_000, 40_000_000, 2_000_000, -hour_ns),
            sample(10_100_000_000_000, 150_000, 150_000, -hour_ns),
            sample(10_200_000_000_000, 900_000, 100_000, -hour_ns),
        ];
        let found = offset(&samples).expect("there are samples");
        let expected = ClockOffset {
            monotonic_ns: -hour_ns,
            wall_ns: -hour_ns,
            error_ns: 150_000,
            sampled_ns: 10_100_000_150_000,
        };
        assert_eq!(found, expected);
        assert_eq!(offset(&[]), None);
    }

    proptest! {
        #[test]
        fn the_truth_is_within_the_stated_error(
            ways in proptest::collection::vec((0u64..1_000_000_000, 0u64..1_000_000_000), 1..9),
            ahead_ns in -1_000_000_000_000i64..1_000_000_000_000,
        ) {
            let samples: Vec<Sample> = ways
                .iter()
                .map(|(there, back)| sample(2_000_000_000_000, *there, *back, ahead_ns))
                .collect();
            let found = offset(&samples).expect("there are samples");
            prop_assert!(found.monotonic_ns.abs_diff(ahead_ns) <= found.error_ns);
            prop_assert!(found.wall_ns.abs_diff(ahead_ns) <= found.error_ns);
        }
    }
}
