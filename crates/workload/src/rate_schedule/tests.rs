use proptest::prelude::*;

use super::*;

const S: u64 = 1_000_000_000;

fn segment(seconds: Option<f64>, rate: SegmentRate) -> Segment {
    Segment { duration_ns: seconds.map(|s| (s * 1e9) as u64), rate }
}

fn schedule(segments: Vec<Segment>) -> RateSchedule {
    RateSchedule::try_from(segments).expect("the segments are a schedule")
}

fn constant(rate: f64) -> SegmentRate {
    SegmentRate::Constant { rate }
}

fn bursts(base: f64, burst: f64, period_s: u64, burst_s: u64) -> SegmentRate {
    SegmentRate::Bursts { base, burst, period_ns: period_s * S, burst_ns: burst_s * S }
}

/// The rate `ns` after the start of a segment, as its documentation defines it: an oracle that shares
/// no code with the counts.
fn rate(segment: &Segment, ns: f64) -> f64 {
    match segment.rate {
        SegmentRate::Constant { rate } => rate,
        SegmentRate::Ramp { from, to } => {
            from + (to - from) * ns / segment.duration_ns.expect("a ramp ends") as f64
        }
        SegmentRate::Sine { mean, amplitude, period_ns } => {
            mean + amplitude * (TAU * ns / period_ns as f64).sin()
        }
        SegmentRate::Bursts { base, burst, period_ns, burst_ns } => {
            if ns % (period_ns as f64) < burst_ns as f64 { burst } else { base }
        }
    }
}

/// The integral of the rate over a segment by the midpoint rule.
fn integral(segment: &Segment, ns: f64) -> f64 {
    const STEPS: u32 = 200_000;
    let width = ns / f64::from(STEPS);
    let midpoints = (0..STEPS).map(|step| (f64::from(step) + 0.5) * width);
    midpoints.map(|at| rate(segment, at)).sum::<f64>() * width / 1e9
}

#[test]
fn counts_are_the_integral_of_the_rate() {
    let sine = SegmentRate::Sine { mean: 500.0, amplitude: 500.0, period_ns: 7 * S };
    for one in [
        segment(Some(12.0), constant(250.0)),
        segment(Some(12.0), SegmentRate::Ramp { from: 0.0, to: 900.0 }),
        segment(Some(12.0), SegmentRate::Ramp { from: 900.0, to: 100.0 }),
        segment(Some(12.0), sine),
        segment(Some(12.0), bursts(20.0, 3000.0, 5, 1)),
        segment(Some(12.0), bursts(3000.0, 0.0, 5, 2)),
    ] {
        let of = schedule(vec![one.clone()]);
        for ns in [0.3e9, 1e9, 4.4e9, 5.5e9, 11.9e9] {
            let (found, expected) = (of.count(ns), integral(&one, ns));
            assert!((found - expected).abs() < 0.5, "{one} at {ns} ns: {found}, not {expected}");
        }
    }
}

#[test]
fn arrivals_come_at_the_times_that_the_formulas_give() {
    let ramp = schedule(vec![segment(Some(10.0), SegmentRate::Ramp { from: 0.0, to: 100.0 })]);
    // N(t) = 5 t^2.
    assert_eq!([ramp.time_ns(0.0), ramp.time_ns(5.0)], [Some(0.0), Some(1e9)]);
    assert_eq!(ramp.time_ns(125.0), Some(5e9));
    assert_eq!(ramp.time_ns(505.0), Some(11e9), "it repeats after 500 arrivals");
    let down = schedule(vec![segment(Some(10.0), SegmentRate::Ramp { from: 100.0, to: 0.0 })]);
    assert_eq!(down.time_ns(375.0), Some(5e9));
    let bursts = schedule(vec![segment(None, bursts(0.0, 100.0, 5, 1))]);
    assert_eq!(bursts.time_ns(99.0), Some(0.99e9));
    assert_eq!(bursts.time_ns(100.0), Some(5e9), "the burst has ended: the next has begun");
    assert_eq!(bursts.time_ns(250.0), Some(10.5e9));
    let ending = schedule(vec![segment(Some(1.0), constant(10.0)), segment(None, constant(0.0))]);
    assert_eq!([ending.time_ns(9.0), ending.time_ns(10.0)], [Some(0.9e9), None]);
    assert_eq!(ending.count(1e15), 10.0);
}

#[test]
fn the_end_of_a_burst_is_never_confused_with_the_start_of_the_next() {
    // Rates and lengths without an exact binary form, at the first arrival of every burst for an hour.
    for (rate, burst_s, period_s) in [(1.0 / 3.0, 3.0, 7.0), (1000.1, 0.1, 0.7), (70.0, 0.3, 1.1)] {
        let pause = segment(Some(period_s - burst_s), constant(0.0));
        let of = schedule(vec![segment(Some(burst_s), constant(rate)), pause]);
        let of_burst = rate * burst_s;
        for number in 0..(3600.0 / period_s) as u64 {
            let ns = of.time_ns(number as f64 * of_burst).expect("it repeats");
            let expected = number as f64 * period_s * 1e9;
            assert!((ns - expected).abs() < 1e4, "burst {number}: {ns}, not {expected}");
        }
    }
}

#[test]
fn segments_that_are_no_schedule_are_refused() {
    let wrong = |segments| RateSchedule::try_from(segments).err();
    assert_eq!(wrong(Vec::new()), Some(ScheduleError::Empty));
    let open = segment(None, constant(1.0));
    assert_eq!(wrong(vec![open.clone(), open]), Some(ScheduleError::NoDuration(0)));
    let ramp = SegmentRate::Ramp { from: 1.0, to: 2.0 };
    assert_eq!(wrong(vec![segment(None, ramp)]), Some(ScheduleError::NoDuration(0)));
    let silent = vec![segment(Some(1.0), constant(0.0))];
    assert_eq!(wrong(silent), Some(ScheduleError::NoOperations));
    let swings = SegmentRate::Sine { mean: 1.0, amplitude: 1.5, period_ns: S };
    for rate in [constant(-1.0), constant(f64::NAN), swings, bursts(1.0, 2.0, 1, 1)] {
        assert_eq!(wrong(vec![segment(Some(1.0), rate)]), Some(ScheduleError::WrongRate(0)));
    }
}

#[test]
fn a_schedule_is_stored_as_its_segments_and_printed_on_one_line() {
    let of = schedule(vec![
        segment(Some(10.0), constant(100.0)),
        segment(Some(30.0), SegmentRate::Ramp { from: 100.0, to: 1000.0 }),
    ]);
    assert_eq!(of.to_string(), "100/s for 10s, then 100/s to 1000/s for 30s, repeated");
    let json = serde_json::to_string(&of).expect("numbers");
    assert_eq!(
        json,
        "[{\"duration_ns\":10000000000,\"rate\":{\"constant\":{\"rate\":100.0}}},\
         {\"duration_ns\":30000000000,\"rate\":{\"ramp\":{\"from\":100.0,\"to\":1000.0}}}]"
    );
    assert_eq!(serde_json::from_str::<RateSchedule>(&json).ok(), Some(of));
    assert!(serde_json::from_str::<RateSchedule>("[]").is_err());
    let long = |last| schedule((1..=9).map(|n| segment(Some(n as f64), constant(last))).collect());
    assert_ne!(long(1.0).to_string(), long(2.0).to_string());
}

fn any_segment() -> impl Strategy<Value = Segment> {
    let rate = || prop_oneof![Just(0.0), 0.001..50_000.0f64];
    let any = prop_oneof![
        rate().prop_map(constant),
        (rate(), rate()).prop_map(|(from, to)| SegmentRate::Ramp { from, to }),
        (0.001..50_000.0f64, 0.0..=1.0f64, 1_000_000..20 * S).prop_map(
            |(mean, part, period_ns)| {
                SegmentRate::Sine { mean, amplitude: mean * part, period_ns }
            }
        ),
        (rate(), rate(), 1_000_000..20 * S, 0.01..0.99f64).prop_map(
            |(base, burst, period_ns, d)| {
                SegmentRate::Bursts {
                    base,
                    burst,
                    period_ns,
                    burst_ns: (period_ns as f64 * d) as u64,
                }
            }
        ),
    ];
    (any, 1_000_000..100 * S).prop_map(|(rate, ns)| Segment { duration_ns: Some(ns), rate })
}

proptest! {
    #[test]
    fn times_are_the_inverse_of_counts(
        segments in prop::collection::vec(any_segment(), 1..6),
        ends in any::<bool>(),
        share in 0.0..3.0f64,
    ) {
        let mut segments = segments;
        let is_ramp = |s: &Segment| matches!(s.rate, SegmentRate::Ramp { .. });
        if let Some(last) = segments.last_mut().filter(|last| !ends && !is_ramp(last)) {
            last.duration_ns = None;
        }
        let Ok(of) = RateSchedule::try_from(segments) else { return Ok(()) };
        let count = share * of.count(100e9);
        let Some(ns) = of.time_ns(count) else { return Ok(()) };
        let rounding = 1e-6 * count.max(1.0);
        // One nanosecond at the highest rate is below the rounding.
        prop_assert!((of.count(ns) - count).abs() <= rounding + 5e-5, "{of}: {count} at {ns} ns");
        let next = of.time_ns(count + 1.0);
        prop_assert!(next.is_none_or(|next| next >= ns), "{of}: later arrivals are not earlier");
        // It is the latest such time: more arrivals are expected shortly after it.
        prop_assert!(of.count(ns + 1e6) >= of.count(ns));
    }
}
