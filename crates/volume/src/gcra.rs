//! One rate limit: the generic cell rate algorithm for requests of any size.
//!
//! For: computing when a request conforms, and counting it when it is released. Not for: queues or
//! several limits together (`qos.rs`).
//!
//! Idea: the continuous-state leaky bucket of ITU-T I.371 (1993). It is equivalent to the virtual
//! scheduling form, but stores a level instead of a theoretical arrival time, so that the rate can
//! change while requests wait. The level is counted in billionths of a unit (a byte, an operation):
//! a nanosecond drains exactly `rate` of them, so only the returned instant is rounded. The rounding
//! of less than a nanosecond remains as credit, so the long-run rate is exact
//! (docs/adr/0012-gcra.md).

use std::num::NonZeroU64;

/// Level per unit.
const NANO: i128 = 1_000_000_000;

/// A rate with its burst.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    /// Units (bytes, operations) per second.
    pub per_s: NonZeroU64,
    /// The burst, as a time at the rate: after a pause its units may be released immediately.
    pub burst_ns: u64,
}

impl Rate {
    /// The level that drains in a nanosecond.
    fn per_ns(self) -> i128 {
        i128::from(self.per_s.get())
    }

    /// The burst as a level.
    fn burst(self) -> i128 {
        self.per_ns().saturating_mul(i128::from(self.burst_ns))
    }
}

/// A leaky bucket. Its level is what was released recently and has not drained yet.
#[derive(Clone, Debug)]
pub struct Gcra {
    rate: Rate,
    /// In billionths of a unit, at `as_of_ns`. The credit below 0 is at most one nanosecond's drain.
    level: i128,
    as_of_ns: u64,
}

impl Gcra {
    /// An empty bucket: a whole burst may be released.
    pub const fn new(rate: Rate) -> Gcra {
        Gcra { rate, level: 0, as_of_ns: 0 }
    }

    /// The rate in force.
    pub const fn rate(&self) -> Rate {
        self.rate
    }

    /// Replaces the rate from `now_ns` on. The used share of the burst stays the same, so that the
    /// change causes neither a pause nor a burst. The level above the burst is unchanged, and drains
    /// at the new rate.
    pub fn set_rate(&mut self, now_ns: u64, rate: Rate) {
        self.drain(now_ns);
        let (before, after) = (self.rate.burst(), rate.burst());
        let within = self.level.min(before);
        if within > 0 {
            // Reduced to 48 bits each, so that the product fits.
            let bits = 128u32.saturating_sub(before.max(after).leading_zeros() + 48);
            let [used, old_burst, new_burst] = [within, before, after].map(|level| level >> bits);
            self.level += ((used * new_burst / old_burst.max(1)) << bits) - within;
        }
        self.rate = rate;
    }

    /// The first instant, not before `now_ns`, at which a request of `cost` units conforms if no
    /// other is released before.
    ///
    /// A request conforms when the level including it is within the burst, or if it is larger than
    /// the burst, when the bucket is empty. So in any window t, including its first and last
    /// nanosecond, at most `max(burst, largest request) + rate × t` is released, and no request waits
    /// forever.
    pub fn conforms_at_ns(&self, now_ns: u64, cost: u64) -> u64 {
        if cost == 0 {
            return now_ns;
        }
        let burst = self.rate.burst();
        let room_for = (i128::from(cost) * NANO).min(burst);
        let excess = self.level_at(now_ns) + room_for - burst;
        if excess <= 0 {
            return now_ns;
        }
        // Division of 64 bits is much faster than of 128, and nearly always suffices.
        let wait_ns = match u64::try_from(excess) {
            Ok(excess) => excess.div_ceil(self.rate.per_s.get()),
            Err(_) => {
                let wait_ns = (excess + self.rate.per_ns() - 1) / self.rate.per_ns();
                u64::try_from(wait_ns).unwrap_or(u64::MAX)
            }
        };
        now_ns.saturating_add(wait_ns)
    }

    /// Counts a request of `cost` units that is released at `now_ns`.
    pub fn charge(&mut self, now_ns: u64, cost: u64) {
        self.drain(now_ns);
        self.level += i128::from(cost) * NANO;
    }

    fn drain(&mut self, now_ns: u64) {
        self.level = self.level_at(now_ns);
        self.as_of_ns = self.as_of_ns.max(now_ns);
    }

    fn level_at(&self, now_ns: u64) -> i128 {
        let passed_ns = i128::from(now_ns.saturating_sub(self.as_of_ns));
        let drained = passed_ns.saturating_mul(self.rate.per_ns());
        self.level.saturating_sub(drained).max(-self.rate.per_ns())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn rate(per_s: u64, burst_ns: u64) -> Rate {
        Rate { per_s: NonZeroU64::new(per_s).unwrap(), burst_ns }
    }

    /// Releases requests one after another, each at the first instant that conforms, for arrivals
    /// `(gap_ns, cost)`. Returns `(instant, cost)`.
    fn release(gcra: &mut Gcra, arrivals: &[(u64, u64)]) -> Vec<(u64, u64)> {
        let mut now_ns = 0;
        let one = |&(gap_ns, cost): &(u64, u64)| {
            now_ns += gap_ns;
            let at_ns = gcra.conforms_at_ns(now_ns, cost);
            gcra.charge(at_ns, cost);
            now_ns = at_ns;
            (at_ns, cost)
        };
        arrivals.iter().map(one).collect()
    }

    /// Whether every window between two releases has at most burst + rate × t.
    fn within_bound(released: &[(u64, u64)], rate: Rate) -> bool {
        let largest = released.iter().map(|(_, cost)| i128::from(*cost) * NANO).max().unwrap_or(0);
        let burst = rate.burst().max(largest);
        (0..released.len()).all(|first| {
            let mut sum = 0;
            released[first..].iter().all(|(at_ns, cost)| {
                sum += i128::from(*cost) * NANO;
                let window_ns = i128::from(at_ns - released[first].0 + 1);
                sum <= burst + window_ns * rate.per_ns()
            })
        })
    }

    #[test]
    fn requests_beyond_the_burst_are_released_at_the_rate() {
        // 1,000 units/s, a burst of 3: three immediately, then one per millisecond.
        let mut gcra = Gcra::new(rate(1000, 3_000_000));
        let released = release(&mut gcra, &[(0, 1); 6]);
        let instants: Vec<u64> = released.iter().map(|(at, _)| *at).collect();
        assert_eq!(instants, [0, 0, 0, 1_000_000, 2_000_000, 3_000_000]);
    }

    #[test]
    fn the_long_run_rate_is_exact_where_the_gap_is_no_whole_number() {
        // 64 MiB/s in requests of 8 KiB: one per 122,070.3125 ns. 8,192 of them take exactly a second,
        // 81,920 exactly ten.
        let mut gcra = Gcra::new(rate(64 << 20, 0));
        let released = release(&mut gcra, &[(0, 8192); 81_921]);
        assert_eq!(released[8192].0, 1_000_000_000);
        assert_eq!(released[81_920].0, 10_000_000_000);
    }

    #[test]
    fn a_request_larger_than_the_burst_is_released_when_the_bucket_is_empty() {
        let mut gcra = Gcra::new(rate(1000, 2_000_000));
        let released = release(&mut gcra, &[(0, 10), (0, 10), (0, 1)]);
        let instants: Vec<u64> = released.iter().map(|(at, _)| *at).collect();
        assert_eq!(instants, [0, 10_000_000, 19_000_000]);
    }

    #[test]
    fn a_request_of_cost_0_never_waits() {
        let mut gcra = Gcra::new(rate(1, 0));
        gcra.charge(5, 1000);
        assert_eq!(gcra.conforms_at_ns(5, 0), 5);
    }

    #[test]
    fn a_request_waits_for_the_last_billionth_of_a_unit() {
        let mut gcra = Gcra::new(rate(999_999_999, 0));
        gcra.charge(0, 1);
        assert_eq!([0, 1, 2].map(|now_ns| gcra.conforms_at_ns(now_ns, 1)), [2, 2, 2]);
    }

    #[test]
    fn levels_beyond_64_bits_drain_exactly_and_the_wait_saturates() {
        let mut gcra = Gcra::new(rate(1 << 40, 0));
        gcra.charge(0, 1 << 40);
        assert_eq!(gcra.conforms_at_ns(0, 1), 1_000_000_000);
        gcra.charge(0, 1);
        assert_eq!(gcra.conforms_at_ns(0, 1), 1_000_000_001);
        let mut slow = Gcra::new(rate(1, 0));
        slow.charge(0, u64::MAX);
        assert_eq!(slow.conforms_at_ns(0, 1), u64::MAX);
        let fast = Gcra::new(rate(u64::MAX, 0));
        assert_eq!(fast.conforms_at_ns(u64::MAX, 1), u64::MAX);
    }

    #[test]
    fn a_charge_at_an_earlier_instant_drains_nothing_twice() {
        let mut gcra = Gcra::new(rate(1_000_000_000, 0));
        // The credit is 1 at first, so the level is 99, then 100.
        gcra.charge(10, 100);
        gcra.charge(5, 1);
        assert_eq!([5, 10].map(|now_ns| gcra.conforms_at_ns(now_ns, 1)), [105, 110]);
    }

    #[test]
    fn a_used_up_burst_stays_used_up_however_large_the_new_burst_is() {
        let mut gcra = Gcra::new(rate(1 << 30, 1 << 23));
        // The burst is 2^53 billionths of a unit.
        gcra.charge(0, (1 << 53) / 1_000_000_000 + 1);
        gcra.set_rate(0, rate(1 << 62, 1 << 38));
        // 2^64 units at 2^62 units/s.
        assert_eq!(gcra.conforms_at_ns(0, u64::MAX), 4_000_000_000);
    }

    #[test]
    fn a_new_rate_takes_effect_immediately_and_keeps_the_level() {
        let mut gcra = Gcra::new(rate(1000, 0));
        gcra.charge(0, 100);
        assert_eq!(gcra.conforms_at_ns(0, 1), 100_000_000);
        // Half of it has drained after 50 ms; the other half takes 5 ms at ten times the rate.
        gcra.set_rate(50_000_000, rate(10_000, 0));
        assert_eq!(gcra.conforms_at_ns(50_000_000, 1), 55_000_000);
    }

    #[test]
    fn a_new_rate_causes_neither_a_pause_nor_a_burst_at_the_limit() {
        for (before, after) in [(64 << 20, 256 << 20), (256 << 20, 64 << 20), (8_000_000, 1 << 40)]
        {
            let mut gcra = Gcra::new(rate(before, 7_500_000));
            gcra.charge(0, before * 3 / 400);
            assert!(gcra.conforms_at_ns(0, before) > 0, "the burst is used up");
            // After a quarter of its time a quarter of it is free; then the rate changes.
            gcra.set_rate(1_875_000, rate(after, 7_500_000));
            let free = after * 3 / 1600;
            assert!(gcra.conforms_at_ns(1_875_000, free - 1) <= 1_875_000 + 7_500_000 / 100);
            let at_ns = gcra.conforms_at_ns(1_875_000, after * 3 / 800);
            assert!(at_ns.abs_diff(3_750_000) <= 7_500_000 / 100, "{before} {after}: {at_ns}");
        }
    }

    /// All sequences of four requests with small costs and gaps, at all small bursts and rates,
    /// compared with a bucket that is stepped nanosecond by nanosecond.
    #[test]
    fn every_small_sequence_is_released_as_by_a_stepped_bucket() {
        for (units_per_ns, burst_ns) in (1..=2).flat_map(|r| (0..=3).map(move |b| (r, b))) {
            let (units, burst) = (units_per_ns as i64, (units_per_ns * burst_ns) as i64);
            for code in 0..9u64.pow(4) {
                let digit = |index: u32| code / 9u64.pow(index) % 9;
                let arrivals: Vec<(u64, u64)> =
                    (0..4).map(|index| (digit(index) / 3, digit(index) % 3 + 1)).collect();
                let rate = rate(units_per_ns * 1_000_000_000, burst_ns);
                let released = release(&mut Gcra::new(rate), &arrivals);

                let (mut now, mut level, mut stepped) = (0u64, 0i64, Vec::new());
                for &(gap, cost) in &arrivals {
                    for _ in 0..gap {
                        (now, level) = (now + 1, (level - units).max(-units));
                    }
                    while level + (cost as i64).min(burst) > burst {
                        (now, level) = (now + 1, (level - units).max(-units));
                    }
                    level += cost as i64;
                    stepped.push((now, cost));
                }
                let case = || format!("rate {units_per_ns}/ns burst {burst}: {arrivals:?}");
                assert_eq!(released, stepped, "{}", case());
                assert!(within_bound(&released, rate), "{}", case());
            }
        }
    }

    proptest! {
        #[test]
        fn no_window_has_more_than_burst_plus_rate(
            per_s in 1u64..5_000_000_000,
            burst_ns in 0u64..100_000_000,
            arrivals in prop::collection::vec((0u64..5_000_000, 0u64..2_000_000), 1..60),
        ) {
            let rate = rate(per_s, burst_ns);
            let released = release(&mut Gcra::new(rate), &arrivals);
            prop_assert!(within_bound(&released, rate));
        }

        #[test]
        fn a_request_is_released_at_the_first_instant_that_conforms(
            per_s in 1u64..5_000_000_000,
            burst_ns in 0u64..10_000_000,
            before in 1u64..1_000_000,
            cost in 1u64..1_000_000,
        ) {
            let rate = rate(per_s, burst_ns);
            let mut gcra = Gcra::new(rate);
            gcra.charge(0, before);
            let at_ns = gcra.conforms_at_ns(0, cost);
            prop_assert_eq!(gcra.conforms_at_ns(at_ns, cost), at_ns);
            if at_ns > 0 {
                prop_assert!(gcra.conforms_at_ns(at_ns - 1, cost) == at_ns);
            }
        }
    }
}
