//! Several limits together: bounds, order, fairness, changes under load.

use std::collections::VecDeque;
use std::num::NonZeroU64;

use proptest::prelude::*;
use volume::gcra::{Gcra, Rate};
use volume::qos::{Limits, Released, Request, Shaper, VolumeId};

const MIB: u64 = 1 << 20;

fn rate(per_s: u64, burst_ns: u64) -> Option<Rate> {
    NonZeroU64::new(per_s).map(|per_s| Rate { per_s, burst_ns })
}

fn bytes(per_s: u64, burst_ns: u64) -> Limits {
    Limits { bytes: rate(per_s, burst_ns), ops: None }
}

/// Comes back at every instant that the shaper names until nothing waits.
fn drain(shaper: &mut Shaper) -> Vec<(u64, Released)> {
    let (mut out, mut went) = (Vec::new(), Vec::new());
    while let Some(at_ns) = shaper.next_ns() {
        shaper.release(at_ns, &mut out);
        went.extend(out.drain(..).map(|released| (at_ns, released)));
    }
    assert_eq!(shaper.waiting(), 0);
    went
}

fn one_volume(flow: Limits, volume: Limits, endpoint: Limits) -> (Shaper, VolumeId) {
    let mut shaper = Shaper::new(flow);
    let endpoint = shaper.add_endpoint(endpoint);
    let volume = shaper.add_volume(endpoint, volume);
    (shaper, volume)
}

#[test]
fn without_limits_a_request_goes_at_once() {
    let (mut shaper, volume) = one_volume(Limits::default(), Limits::default(), Limits::default());
    let flow = shaper.open_flow();
    shaper.arrive(7, flow, Request { volume, bytes: 65_536, token: 3 });
    let mut out = Vec::new();
    shaper.release(7, &mut out);
    assert_eq!((out.len(), out[0].arrived_ns, out[0].request.token), (1, 7, 3));
    assert_eq!(shaper.next_ns(), None);
}

#[test]
fn which_request_is_the_next_of_its_flow_is_known_before_it_goes() {
    let (mut shaper, volume) = one_volume(bytes(64 * MIB, 0), Limits::default(), Limits::default());
    let flows = [shaper.open_flow(), shaper.open_flow()];
    for token in 0..10 {
        shaper.arrive(0, flows[token as usize % 2], Request { volume, bytes: 65_536, token });
    }
    let (mut out, mut told, mut went) = (Vec::new(), vec![0, 1], Vec::new());
    while let Some(at_ns) = shaper.next_ns() {
        shaper.release(at_ns, &mut out);
        for released in out.drain(..) {
            told.extend(shaper.first_of(released.flow));
            went.push(released.request.token);
        }
    }
    told.sort_unstable();
    assert_eq!((told, went), ((0..10).collect(), (0..10).collect()));
}

#[test]
fn the_least_of_flow_volume_and_endpoint_decides_and_more_flows_add_up() {
    // As with nconnect: one flow gives the flow's limit, eight give eight times as much, and the
    // volume's limit is the end of it.
    for (flows, mib_per_s) in [(1, 10), (2, 20), (4, 40), (8, 64), (16, 64)] {
        let (mut shaper, volume) =
            one_volume(bytes(10 * MIB, 0), bytes(64 * MIB, 0), bytes(1000 * MIB, 0));
        let opened: Vec<_> = (0..flows).map(|_| shaper.open_flow()).collect();
        for token in 0..(640 / flows) {
            for flow in &opened {
                shaper.arrive(0, *flow, Request { volume, bytes: 65_536, token });
            }
        }
        let went = drain(&mut shaper);
        // The first goes at once, so n take the time of n - 1.
        let last_ns = went.last().unwrap().0;
        let first_burst = flows.min(64 / 10 + 1) * 65_536;
        let moved = (went.len() as u64 * 65_536 - first_burst) as f64;
        let seen = moved / (last_ns as f64 / 1e9) / MIB as f64;
        let wanted = f64::from(mib_per_s);
        assert!((seen / wanted - 1.0).abs() < 0.02, "{flows} flows: {seen} MiB/s");
    }
}

#[test]
fn volumes_behind_one_endpoint_share_its_limit_in_order_of_arrival() {
    let mut shaper = Shaper::new(Limits::default());
    let endpoint = shaper.add_endpoint(bytes(100 * MIB, 0));
    let volumes = [0, 1].map(|_| shaper.add_volume(endpoint, bytes(80 * MIB, 0)));
    let flows = [0, 1].map(|_| shaper.open_flow());
    for token in 0..400 {
        for side in [0, 1] {
            let volume = volumes[side];
            shaper.arrive(0, flows[side], Request { volume, bytes: MIB, token });
        }
    }
    let went = drain(&mut shaper);
    assert_eq!(went.last().unwrap().0, 7_990_000_000, "799 MiB after the first at 100 MiB/s");
    let in_first_second = |volume| {
        let first = went.iter().filter(|(at_ns, _)| *at_ns < 1_000_000_000);
        first.filter(|(_, released)| released.request.volume == volume).count()
    };
    assert_eq!(volumes.map(in_first_second), [50, 50]);
}

#[test]
fn a_flow_at_its_own_limit_holds_up_nobody_else() {
    let (mut shaper, volume) = one_volume(bytes(MIB, 0), bytes(100 * MIB, 0), Limits::default());
    let (slow, quick) = (shaper.open_flow(), shaper.open_flow());
    for token in 0..10 {
        shaper.arrive(0, slow, Request { volume, bytes: MIB, token });
    }
    shaper.arrive(0, quick, Request { volume, bytes: 4096, token: 99 });
    let went = drain(&mut shaper);
    let quick_at = went.iter().find(|(_, released)| released.flow == quick).unwrap().0;
    assert_eq!(quick_at, 10_000_000, "after one MiB of the volume, not after ten of the flow");
}

#[test]
fn a_large_request_is_not_overtaken_for_ever_by_small_ones() {
    let (mut shaper, volume) =
        one_volume(Limits::default(), bytes(1_000_000, 1_000_000), Limits::default());
    let (large, small) = (shaper.open_flow(), shaper.open_flow());
    for token in 0..5 {
        shaper.arrive(0, small, Request { volume, bytes: 1000, token });
    }
    shaper.arrive(0, large, Request { volume, bytes: 100_000, token: 100 });
    for token in 5..500 {
        shaper.arrive(0, small, Request { volume, bytes: 1000, token });
    }
    let went = drain(&mut shaper);
    let place = went.iter().position(|(_, released)| released.flow == large);
    assert_eq!(place, Some(5), "its turn comes in the order of arrival");
}

#[test]
fn operations_are_limited_beside_bytes() {
    let limits = Limits { bytes: rate(1000 * MIB, 0), ops: rate(1000, 0) };
    let (mut shaper, volume) = one_volume(Limits::default(), limits, Limits::default());
    let flow = shaper.open_flow();
    for token in 0..101 {
        // Every second one moves no data and counts as an operation all the same.
        shaper.arrive(0, flow, Request { volume, bytes: 4096 * (token % 2), token });
    }
    assert_eq!(drain(&mut shaper).last().unwrap().0, 100_000_000);
}

#[test]
fn a_changed_limit_acts_on_waiting_requests_at_once() {
    let (mut shaper, volume) = one_volume(Limits::default(), bytes(64 * MIB, 0), Limits::default());
    let flow = shaper.open_flow();
    for token in 0..2048 {
        shaper.arrive(0, flow, Request { volume, bytes: 65_536, token });
    }
    let mut out = Vec::new();
    let mut until = |shaper: &mut Shaper, end_ns: u64| {
        out.clear();
        while let Some(at_ns) = shaper.next_ns().filter(|at_ns| *at_ns <= end_ns) {
            shaper.release(at_ns, &mut out);
        }
        out.len()
    };
    assert_eq!(until(&mut shaper, 499_999_999), 512, "half a second at 64 MiB/s");
    shaper.set_volume_limits(500_000_000, volume, bytes(128 * MIB, 0));
    assert_eq!(until(&mut shaper, 999_999_999), 1024, "half a second at twice the rate");
    shaper.set_volume_limits(1_000_000_000, volume, bytes(16 * MIB, 0));
    assert_eq!(until(&mut shaper, 1_499_999_999), 128, "and at a quarter of the first");
    shaper.set_volume_limits(1_500_000_000, volume, Limits::default());
    assert_eq!(until(&mut shaper, 1_500_000_000), 384, "all the rest without a limit");
}

#[test]
fn a_closed_flow_gives_back_what_waited_and_leaves_the_others_alone() {
    let (mut shaper, volume) = one_volume(bytes(MIB, 0), bytes(MIB, 0), bytes(MIB, 0));
    let (gone, stays) = (shaper.open_flow(), shaper.open_flow());
    for (flow, token) in [(gone, 0), (gone, 1), (stays, 2), (gone, 3), (stays, 4)] {
        shaper.arrive(0, flow, Request { volume, bytes: MIB, token });
    }
    let mut out = Vec::new();
    shaper.release(0, &mut out);
    assert_eq!(out[0].request.token, 0);
    let dropped: Vec<u64> =
        shaper.close_flow(0, gone).iter().map(|request| request.token).collect();
    assert_eq!((dropped, shaper.waiting()), (vec![1, 3], 2));
    assert_eq!(shaper.open_flow(), gone, "its place is used again");
    let went: Vec<(u64, u64)> =
        drain(&mut shaper).iter().map(|(at_ns, r)| (*at_ns, r.request.token)).collect();
    assert_eq!(went, [(1_000_000_000, 2), (2_000_000_000, 4)]);
}

#[test]
fn a_faster_limit_does_not_wait_for_the_instant_that_the_slower_one_named() {
    for which in ["volume", "endpoint", "flow"] {
        let of = |name: &str| if which == name { bytes(MIB, 0) } else { Limits::default() };
        let mut shaper = Shaper::new(of("flow"));
        let endpoint = shaper.add_endpoint(of("endpoint"));
        let volume = shaper.add_volume(endpoint, of("volume"));
        let flow = shaper.open_flow();
        for token in 0..2 {
            shaper.arrive(0, flow, Request { volume, bytes: 10 * MIB, token });
        }
        let mut out = Vec::new();
        shaper.release(1_000_000_000, &mut out);
        assert_eq!((out.len(), shaper.next_ns()), (1, Some(10_000_000_000)), "{which}");
        match which {
            "volume" => shaper.set_volume_limits(1_000_000_000, volume, bytes(100 * MIB, 0)),
            "endpoint" => shaper.set_endpoint_limits(1_000_000_000, endpoint, bytes(100 * MIB, 0)),
            _ => shaper.set_flow_limits(1_000_000_000, bytes(100 * MIB, 0)),
        }
        assert_eq!(shaper.next_ns(), Some(1_090_000_000), "{which}: 9 MiB are still owed");
    }
}

#[test]
fn a_flow_that_closes_while_its_request_is_chosen_leaves_the_limit_to_the_next() {
    for at_endpoint in [false, true] {
        let of = |is: bool| if is { bytes(MIB, 0) } else { Limits::default() };
        let (mut shaper, volume) = one_volume(Limits::default(), of(!at_endpoint), of(at_endpoint));
        let [first, gone, stays] = [0; 3].map(|_| shaper.open_flow());
        for (token, flow) in [first, gone, stays].into_iter().enumerate() {
            shaper.arrive(0, flow, Request { volume, bytes: MIB, token: token as u64 });
        }
        let mut out = Vec::new();
        shaper.release(0, &mut out);
        assert_eq!(out.len(), 1);
        assert_eq!(shaper.close_flow(1, gone).len(), 1);
        let went: Vec<(u64, u64)> =
            drain(&mut shaper).iter().map(|(at_ns, r)| (*at_ns, r.request.token)).collect();
        assert_eq!(went, [(1_000_000_000, 2)]);
        // When nothing is left that was chosen, nothing is in the way of what comes next.
        shaper.arrive(1_000_000_000, stays, Request { volume, bytes: MIB, token: 3 });
        shaper.release(1_000_000_000, &mut out);
        assert_eq!(shaper.close_flow(1_000_000_000, stays).len(), 1);
        assert!(shaper.pass(2_000_000_000, first, volume, MIB), "{at_endpoint}");
    }
}

#[test]
fn a_removed_volume_is_not_used_again_before_what_waits_for_it_has_gone() {
    let (mut shaper, removed) = one_volume(Limits::default(), bytes(MIB, 0), Limits::default());
    let endpoint = shaper.add_endpoint(Limits::default());
    let flow = shaper.open_flow();
    for token in 0..3 {
        shaper.arrive(0, flow, Request { volume: removed, bytes: MIB, token });
    }
    shaper.remove_volume(removed);
    assert_ne!(shaper.add_volume(endpoint, Limits::default()), removed);
    let went: Vec<u64> = drain(&mut shaper).iter().map(|(at_ns, _)| *at_ns).collect();
    assert_eq!(went, [0, 1_000_000_000, 2_000_000_000]);
    assert_eq!(shaper.add_volume(endpoint, Limits::default()), removed);
}

/// Number in the order of arrival, volume, bytes.
type Waiting = (usize, usize, u64);

/// What the text of `qos.rs` says, by looking at everything at every instant.
struct Oracle {
    flows: Vec<(Option<Gcra>, VecDeque<Waiting>)>,
    /// Meter and endpoint.
    volumes: Vec<(Option<Gcra>, usize)>,
    endpoints: Vec<Option<Gcra>>,
}

impl Oracle {
    fn go(&mut self, now_ns: u64) -> Option<usize> {
        let conforms = |meter: &Option<Gcra>, cost: u64| {
            meter.as_ref().is_none_or(|gcra| gcra.conforms_at_ns(now_ns, cost) == now_ns)
        };
        // What costs nothing waits for nothing but its turn in its flow.
        for (_, queue) in &mut self.flows {
            if queue.front().is_some_and(|(_, _, cost)| *cost == 0) {
                return queue.pop_front().map(|(sequence, ..)| sequence);
            }
        }
        // Per volume the first of those with room in their flow, if the volume has room for it.
        let mut candidates: Vec<Option<(usize, usize, u64)>> = vec![None; self.volumes.len()];
        for (index, (meter, queue)) in self.flows.iter().enumerate() {
            if let Some(&(sequence, volume, cost)) = queue.front()
                && conforms(meter, cost)
                && candidates[volume].is_none_or(|(first, ..)| sequence < first)
            {
                candidates[volume] = Some((sequence, index, cost));
            }
        }
        for endpoint in 0..self.endpoints.len() {
            let first = (0..self.volumes.len())
                .filter(|volume| self.volumes[*volume].1 == endpoint)
                .filter_map(|volume| candidates[volume].map(|candidate| (candidate, volume)))
                .filter(|((_, _, cost), volume)| conforms(&self.volumes[*volume].0, *cost))
                .min();
            if let Some(((sequence, flow, cost), volume)) = first
                && conforms(&self.endpoints[endpoint], cost)
            {
                self.flows[flow].1.pop_front();
                let meters = [
                    &mut self.flows[flow].0,
                    &mut self.volumes[volume].0,
                    &mut self.endpoints[endpoint],
                ];
                for gcra in meters.into_iter().flatten() {
                    gcra.charge(now_ns, cost);
                }
                return Some(sequence);
            }
        }
        None
    }
}

/// Runs arrivals `(gap_ns, flow, volume, cost)` through both; 1 byte per ns is the rate unit. Once
/// each request is queued first, once only what cannot pass at once.
fn agrees_with_the_oracle(arrivals: &[(u64, usize, usize, u64)], limits: [Limits; 3]) {
    agrees_if_asked_to_pass(arrivals, limits, false);
    agrees_if_asked_to_pass(arrivals, limits, true);
}

fn agrees_if_asked_to_pass(arrivals: &[(u64, usize, usize, u64)], limits: [Limits; 3], pass: bool) {
    let gcra = |limits: Limits| limits.bytes.map(Gcra::new);
    let mut oracle = Oracle {
        flows: (0..2).map(|_| (gcra(limits[0]), VecDeque::new())).collect(),
        volumes: (0..2).map(|_| (gcra(limits[1]), 0)).collect(),
        endpoints: vec![gcra(limits[2])],
    };
    let mut shaper = Shaper::new(limits[0]);
    let endpoint = shaper.add_endpoint(limits[2]);
    let volumes = [0, 1].map(|_| shaper.add_volume(endpoint, limits[1]));
    let flows = [0, 1].map(|_| shaper.open_flow());

    let (mut expected, mut seen, mut out) = (Vec::new(), Vec::new(), Vec::new());
    let (mut next, mut due_ns) = (0, arrivals.first().map_or(0, |arrival| arrival.0));
    let mut now_ns = 0;
    while expected.len() < arrivals.len() {
        while next < arrivals.len() && due_ns <= now_ns {
            let (_, flow, volume, cost) = arrivals[next];
            oracle.flows[flow].1.push_back((next, volume, cost));
            let request = Request { volume: volumes[volume], bytes: cost, token: next as u64 };
            if pass {
                shaper.release(now_ns, &mut out);
                seen.extend(out.drain(..).map(|released| (now_ns, released.request.token)));
            }
            if pass && shaper.pass(now_ns, flows[flow], request.volume, cost) {
                seen.push((now_ns, next as u64));
            } else {
                shaper.arrive(now_ns, flows[flow], request);
            }
            next += 1;
            due_ns += arrivals.get(next).map_or(0, |arrival| arrival.0);
        }
        while let Some(sequence) = oracle.go(now_ns) {
            expected.push((now_ns, sequence as u64));
        }
        let told = shaper.next_ns();
        shaper.release(now_ns, &mut out);
        assert!(out.is_empty() || told.is_some_and(|at_ns| at_ns <= now_ns));
        seen.extend(out.drain(..).map(|released| (now_ns, released.request.token)));
        if pass {
            // At one instant what passes is seen before what was queued, and goes no earlier.
            seen.sort_unstable();
            expected.sort_unstable();
        }
        assert_eq!(seen, expected, "{arrivals:?} {limits:?}");
        now_ns += 1;
    }
    assert_eq!(shaper.next_ns(), None);
}

#[test]
fn every_small_case_goes_as_the_definition_says() {
    let per_ns = |units: u64, burst_ns: u64| bytes(units * 1_000_000_000, burst_ns);
    let none = Limits::default();
    let settings = [
        [none, per_ns(1, 0), none],
        [per_ns(1, 1), none, per_ns(1, 0)],
        [per_ns(1, 0), per_ns(1, 2), per_ns(2, 0)],
        [per_ns(2, 1), per_ns(1, 1), per_ns(1, 1)],
    ];
    for limits in settings {
        for code in 0..16u64.pow(3) {
            let arrivals: Vec<(u64, usize, usize, u64)> = (0..3)
                .map(|place| code >> (4 * place))
                .map(|bits| {
                    (
                        bits & 1,
                        (bits >> 1 & 1) as usize,
                        (bits >> 2 & 1) as usize,
                        (bits >> 3 & 1) * 2 + 1,
                    )
                })
                .collect();
            agrees_with_the_oracle(&arrivals, limits);
        }
    }
}

/// The same arrivals, released when told to and released late: when each goes and in which order.
fn is_no_different_when_late(
    arrivals: &[(u64, usize, usize, u64)],
    limits: [Limits; 3],
    late_ns: u64,
) {
    let [punctual, late] = [0, late_ns].map(|late_ns| {
        let mut shaper = Shaper::new(limits[0]);
        let endpoint = shaper.add_endpoint(limits[2]);
        let volumes = [0, 1].map(|_| shaper.add_volume(endpoint, limits[1]));
        let flows = [0, 1].map(|_| shaper.open_flow());
        let (mut now_ns, mut out, mut went) = (0, Vec::new(), Vec::new());
        let mut note = |shaper: &mut Shaper, now_ns: u64| {
            shaper.release(now_ns, &mut out);
            for released in out.drain(..) {
                assert!(released.at_ns <= now_ns, "nothing goes early");
                went.push((released.at_ns, released.request.token));
            }
        };
        for (token, &(gap_ns, flow, volume, bytes)) in arrivals.iter().enumerate() {
            now_ns += gap_ns;
            while let Some(at_ns) = shaper.next_ns().filter(|at_ns| at_ns + late_ns <= now_ns) {
                note(&mut shaper, at_ns + late_ns);
            }
            // Whatever is due by now is released before a request is brought.
            note(&mut shaper, now_ns);
            let request = Request { volume: volumes[volume], bytes, token: token as u64 };
            shaper.arrive(now_ns, flows[flow], request);
        }
        while let Some(at_ns) = shaper.next_ns() {
            note(&mut shaper, at_ns + late_ns);
        }
        went
    });
    assert_eq!(punctual, late, "{arrivals:?} {limits:?}");
}

fn limit() -> impl Strategy<Value = Limits> {
    prop_oneof![
        1 => Just(Limits::default()),
        3 => (1u64..4, 0u64..6)
            .prop_map(|(units, burst_ns)| bytes(units * 1_000_000_000, burst_ns)),
    ]
}

proptest! {
    #[test]
    fn longer_cases_go_as_the_definition_says(
        arrivals in prop::collection::vec((0u64..4, 0usize..2, 0usize..2, 0u64..7), 1..40),
        limits in [limit(), limit(), limit()],
    ) {
        agrees_with_the_oracle(&arrivals, limits);
    }

    #[test]
    fn late_calls_change_neither_the_instants_nor_the_order(
        arrivals in prop::collection::vec((0u64..4, 0usize..2, 0usize..2, 0u64..7), 1..40),
        limits in [limit(), limit(), limit()],
        late_ns in 0u64..30,
    ) {
        is_no_different_when_late(&arrivals, limits, late_ns);
    }

    /// With rates and sizes as they are: every limit holds over every window, no flow is reordered,
    /// nothing is lost, nothing goes before it came.
    #[test]
    fn every_limit_holds_over_every_window(
        arrivals in prop::collection::vec(
            (0u64..200_000, 0usize..4, 0usize..3, 0u64..1_048_577),
            1..80,
        ),
        flow_rate in 1u64..2_000_000_000,
        volume_rate in 1_000_000u64..2_000_000_000,
        endpoint_rate in 1_000_000u64..2_000_000_000,
        burst_ns in 0u64..20_000_000,
    ) {
        let rates = [flow_rate + 1_000_000, volume_rate, endpoint_rate];
        let mut shaper = Shaper::new(bytes(rates[0], burst_ns));
        let endpoint = shaper.add_endpoint(bytes(rates[2], burst_ns));
        let volumes = [0; 3].map(|_| shaper.add_volume(endpoint, bytes(rates[1], burst_ns)));
        let flows = [0; 4].map(|_| shaper.open_flow());
        let (mut now_ns, mut out, mut went) = (0, Vec::new(), Vec::new());
        for (token, (gap_ns, flow, volume, cost)) in arrivals.iter().enumerate() {
            now_ns += gap_ns;
            while let Some(at_ns) = shaper.next_ns().filter(|at_ns| *at_ns <= now_ns) {
                shaper.release(at_ns, &mut out);
                went.extend(out.drain(..).map(|released| (at_ns, released)));
            }
            let request = Request { volume: volumes[*volume], bytes: *cost, token: token as u64 };
            shaper.arrive(now_ns, flows[*flow], request);
        }
        went.extend(drain(&mut shaper));
        prop_assert_eq!(went.len(), arrivals.len());
        prop_assert!(went.iter().all(|(at_ns, released)| *at_ns >= released.arrived_ns));

        let within = |kept: Vec<(u64, u64)>, rate: u64| {
            let largest = arrivals.iter().map(|arrival| u128::from(arrival.3)).max().unwrap_or(0);
            let at_once = (u128::from(rate) * u128::from(burst_ns)).max(largest * 1_000_000_000);
            (0..kept.len()).all(|first| {
                let mut sum = 0u128;
                kept[first..].iter().all(|(at_ns, bytes)| {
                    sum += u128::from(*bytes) * 1_000_000_000;
                    sum <= at_once + u128::from(at_ns - kept[first].0 + 1) * u128::from(rate)
                })
            })
        };
        let of = |keep: &dyn Fn(&Released) -> bool| -> Vec<(u64, u64)> {
            let kept = went.iter().filter(|(_, released)| keep(released));
            kept.map(|(at_ns, released)| (*at_ns, released.request.bytes)).collect()
        };
        prop_assert!(within(of(&|_| true), rates[2]));
        for volume in volumes {
            prop_assert!(within(of(&|released| released.request.volume == volume), rates[1]));
        }
        for flow in flows {
            prop_assert!(within(of(&|released| released.flow == flow), rates[0]));
            let mut tokens = went.iter().filter(|(_, released)| released.flow == flow)
                .map(|(_, released)| released.request.token);
            let in_order = tokens.try_fold(0, |last, token| (token >= last).then_some(token));
            prop_assert!(in_order.is_some());
        }
    }
}
