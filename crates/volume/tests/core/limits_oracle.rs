//! The shaper compared with an oracle and with the definition of its limits, for small cases and random
//! ones.

use std::collections::VecDeque;

use proptest::prelude::*;
use volume::gcra::Gcra;
use volume::qos::{Limits, Release, Request, Shaper};

use crate::limits::{CLIENT, bytes, drain};

/// Sequence number, volume, bytes.
type Waiting = (usize, usize, u64);

/// The definition in `qos.rs`, implemented by examining all queues at every instant.
struct Oracle {
    flows: Vec<(Option<Gcra>, VecDeque<Waiting>)>,
    /// Limit and endpoint.
    volumes: Vec<(Option<Gcra>, usize)>,
    endpoints: Vec<Option<Gcra>>,
}

impl Oracle {
    /// Releases a request, if one conforms, and returns its sequence number.
    fn release_one(&mut self, now_ns: u64) -> Option<usize> {
        let conforms = |limit: &Option<Gcra>, cost: u64| {
            limit.as_ref().is_none_or(|gcra| gcra.conforms_at_ns(now_ns, cost) == now_ns)
        };
        // Requests without data wait only in the queue of their flow.
        for (_, queue) in &mut self.flows {
            if queue.front().is_some_and(|(_, _, cost)| *cost == 0) {
                return queue.pop_front().map(|(sequence, ..)| sequence);
            }
        }
        // For each volume the earliest first request of a flow that conforms to the flow's limit.
        let mut candidates: Vec<Option<(usize, usize, u64)>> = vec![None; self.volumes.len()];
        for (index, (limit, queue)) in self.flows.iter().enumerate() {
            if let Some(&(sequence, volume, cost)) = queue.front()
                && conforms(limit, cost)
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
                let limits = [
                    &mut self.flows[flow].0,
                    &mut self.volumes[volume].0,
                    &mut self.endpoints[endpoint],
                ];
                for gcra in limits.into_iter().flatten() {
                    gcra.charge(now_ns, cost);
                }
                return Some(sequence);
            }
        }
        None
    }
}

/// An arrival: gap in ns, flow, volume, bytes.
type Arrival = (u64, usize, usize, u64);

/// Compares the shaper with the oracle: once all requests are queued, once only those that do not
/// pass.
fn assert_as_oracle(arrivals: &[Arrival], limits: [Limits; 3]) {
    assert_as_oracle_with(arrivals, limits, false);
    assert_as_oracle_with(arrivals, limits, true);
}

fn assert_as_oracle_with(arrivals: &[Arrival], limits: [Limits; 3], pass: bool) {
    let gcra = |limits: Limits| limits.bytes.map(Gcra::new);
    let mut oracle = Oracle {
        flows: (0..2).map(|_| (gcra(limits[0]), VecDeque::new())).collect(),
        volumes: (0..2).map(|_| (gcra(limits[1]), 0)).collect(),
        endpoints: vec![gcra(limits[2])],
    };
    let mut shaper = Shaper::new(limits[0]);
    let endpoint = shaper.add_endpoint(limits[2]);
    let volumes = [0, 1].map(|_| shaper.add_volume(endpoint, limits[1]));
    let flows = [0, 1].map(|_| shaper.open_flow(CLIENT));

    let (mut expected, mut actual, mut out) = (Vec::new(), Vec::new(), Vec::new());
    let (mut next, mut due_ns) = (0, arrivals.first().map_or(0, |arrival| arrival.0));
    let mut now_ns = 0;
    while expected.len() < arrivals.len() {
        while next < arrivals.len() && due_ns <= now_ns {
            let (_, flow, volume, cost) = arrivals[next];
            oracle.flows[flow].1.push_back((next, volume, cost));
            let request = Request { volume: volumes[volume], bytes: cost, token: next as u64 };
            if pass {
                shaper.release(now_ns, &mut out);
                actual.extend(out.drain(..).map(|released| (now_ns, released.request.token)));
            }
            if pass && shaper.pass(now_ns, flows[flow], request.volume, cost) {
                actual.push((now_ns, next as u64));
            } else {
                shaper.arrive(now_ns, flows[flow], request);
            }
            next += 1;
            due_ns += arrivals.get(next).map_or(0, |arrival| arrival.0);
        }
        while let Some(sequence) = oracle.release_one(now_ns) {
            expected.push((now_ns, sequence as u64));
        }
        let next_ns = shaper.next_ns();
        shaper.release(now_ns, &mut out);
        assert!(out.is_empty() || next_ns.is_some_and(|at_ns| at_ns <= now_ns));
        actual.extend(out.drain(..).map(|released| (now_ns, released.request.token)));
        if pass {
            // Requests that pass are recorded before queued ones of the same instant.
            actual.sort_unstable();
            expected.sort_unstable();
        }
        assert_eq!(actual, expected, "{arrivals:?} {limits:?}");
        now_ns += 1;
    }
    assert_eq!(shaper.next_ns(), None);
}

#[test]
fn every_small_case_is_released_as_defined() {
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
            let arrivals: Vec<Arrival> = (0..3)
                .map(|index| code >> (4 * index))
                .map(|bits| {
                    (
                        bits & 1,
                        (bits >> 1 & 1) as usize,
                        (bits >> 2 & 1) as usize,
                        (bits >> 3 & 1) * 2 + 1,
                    )
                })
                .collect();
            assert_as_oracle(&arrivals, limits);
        }
    }
}

/// Instants and order of releases must be equal with punctual and with late calls.
fn assert_same_when_late(arrivals: &[Arrival], limits: [Limits; 3], late_ns: u64) {
    let [punctual, late] = [0, late_ns].map(|late_ns| {
        let mut shaper = Shaper::new(limits[0]);
        let endpoint = shaper.add_endpoint(limits[2]);
        let volumes = [0, 1].map(|_| shaper.add_volume(endpoint, limits[1]));
        let flows = [0, 1].map(|_| shaper.open_flow(CLIENT));
        let (mut now_ns, mut out, mut all) = (0, Vec::new(), Vec::new());
        let mut release = |shaper: &mut Shaper, now_ns: u64| {
            shaper.release(now_ns, &mut out);
            for released in out.drain(..) {
                assert!(released.at_ns <= now_ns, "released early");
                all.push((released.at_ns, released.request.token));
            }
        };
        for (token, &(gap_ns, flow, volume, bytes)) in arrivals.iter().enumerate() {
            now_ns += gap_ns;
            while let Some(at_ns) = shaper.next_ns().filter(|at_ns| at_ns + late_ns <= now_ns) {
                release(&mut shaper, at_ns + late_ns);
            }
            // Requests due by now must be released before one arrives.
            release(&mut shaper, now_ns);
            let request = Request { volume: volumes[volume], bytes, token: token as u64 };
            shaper.arrive(now_ns, flows[flow], request);
        }
        while let Some(at_ns) = shaper.next_ns() {
            release(&mut shaper, at_ns + late_ns);
        }
        all
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
    fn longer_cases_are_released_as_defined(
        arrivals in prop::collection::vec((0u64..4, 0usize..2, 0usize..2, 0u64..7), 1..40),
        limits in [limit(), limit(), limit()],
    ) {
        assert_as_oracle(&arrivals, limits);
    }

    #[test]
    fn late_calls_change_neither_the_instants_nor_the_order(
        arrivals in prop::collection::vec((0u64..4, 0usize..2, 0usize..2, 0u64..7), 1..40),
        limits in [limit(), limit(), limit()],
        late_ns in 0u64..30,
    ) {
        assert_same_when_late(&arrivals, limits, late_ns);
    }

    /// With realistic rates and sizes: every limit holds over every window, requests of a flow keep
    /// their order, none is lost, and none is released before it arrives.
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
        let flows = [0; 4].map(|_| shaper.open_flow(CLIENT));
        let (mut now_ns, mut out, mut all) = (0, Vec::new(), Vec::new());
        for (token, (gap_ns, flow, volume, cost)) in arrivals.iter().enumerate() {
            now_ns += gap_ns;
            while let Some(at_ns) = shaper.next_ns().filter(|at_ns| *at_ns <= now_ns) {
                shaper.release(at_ns, &mut out);
                all.extend(out.drain(..).map(|released| (at_ns, released)));
            }
            let request = Request { volume: volumes[*volume], bytes: *cost, token: token as u64 };
            shaper.arrive(now_ns, flows[*flow], request);
        }
        all.extend(drain(&mut shaper));
        prop_assert_eq!(all.len(), arrivals.len());
        prop_assert!(all.iter().all(|(at_ns, released)| *at_ns >= released.arrived_ns));

        let within = |some: Vec<(u64, u64)>, rate: u64| {
            let largest = arrivals.iter().map(|arrival| u128::from(arrival.3)).max().unwrap_or(0);
            let burst = (u128::from(rate) * u128::from(burst_ns)).max(largest * 1_000_000_000);
            (0..some.len()).all(|first| {
                let mut sum = 0u128;
                some[first..].iter().all(|(at_ns, bytes)| {
                    sum += u128::from(*bytes) * 1_000_000_000;
                    sum <= burst + u128::from(at_ns - some[first].0 + 1) * u128::from(rate)
                })
            })
        };
        let of = |filter: &dyn Fn(&Release) -> bool| -> Vec<(u64, u64)> {
            let some = all.iter().filter(|(_, released)| filter(released));
            some.map(|(at_ns, released)| (*at_ns, released.request.bytes)).collect()
        };
        prop_assert!(within(of(&|_| true), rates[2]));
        for volume in volumes {
            prop_assert!(within(of(&|released| released.request.volume == volume), rates[1]));
        }
        for flow in flows {
            prop_assert!(within(of(&|released| released.flow == flow), rates[0]));
            let mut tokens = all.iter().filter(|(_, released)| released.flow == flow)
                .map(|(_, released)| released.request.token);
            let in_order = tokens.try_fold(0, |last, token| (token >= last).then_some(token));
            prop_assert!(in_order.is_some());
        }
    }
}
