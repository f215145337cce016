//! Several limits together: bounds, order, fairness, changes under load.

use std::num::NonZeroU64;

use volume::gcra::Rate;
use volume::ids::{ClientId, ServedVolumeId};
use volume::qos::{Limits, Release, Request, Shaper};

const MIB: u64 = 1 << 20;

/// The client of all flows.
pub(crate) const CLIENT: ClientId = ClientId::new(0);

fn rate(per_s: u64, burst_ns: u64) -> Option<Rate> {
    NonZeroU64::new(per_s).map(|per_s| Rate { per_s, burst_ns })
}

pub(crate) fn bytes(per_s: u64, burst_ns: u64) -> Limits {
    Limits { bytes: rate(per_s, burst_ns), ops: None }
}

/// Releases all waiting requests, each at the instant of `next_ns`.
pub(crate) fn drain(shaper: &mut Shaper) -> Vec<(u64, Release)> {
    let (mut out, mut all) = (Vec::new(), Vec::new());
    while let Some(at_ns) = shaper.next_ns() {
        shaper.release(at_ns, &mut out);
        all.extend(out.drain(..).map(|released| (at_ns, released)));
    }
    assert_eq!(shaper.waiting(), 0);
    all
}

fn one_volume(flow: Limits, volume: Limits, endpoint: Limits) -> (Shaper, ServedVolumeId) {
    let mut shaper = Shaper::new(flow);
    let endpoint = shaper.add_endpoint(endpoint);
    let volume = shaper.add_volume(endpoint, volume);
    (shaper, volume)
}

#[test]
fn without_limits_a_request_is_released_immediately() {
    let (mut shaper, volume) = one_volume(Limits::default(), Limits::default(), Limits::default());
    let flow = shaper.open_flow(CLIENT);
    shaper.arrive(7, flow, Request { volume, bytes: 65_536, token: 3 });
    let mut out = Vec::new();
    shaper.release(7, &mut out);
    assert_eq!((out.len(), out[0].arrived_ns, out[0].request.token), (1, 7, 3));
    assert_eq!(shaper.next_ns(), None);
}

#[test]
fn first_of_returns_the_next_request_of_a_flow_before_it_is_released() {
    let (mut shaper, volume) = one_volume(bytes(64 * MIB, 0), Limits::default(), Limits::default());
    let flows = [shaper.open_flow(CLIENT), shaper.open_flow(CLIENT)];
    for token in 0..10 {
        shaper.arrive(0, flows[token as usize % 2], Request { volume, bytes: 65_536, token });
    }
    let (mut out, mut firsts, mut tokens) = (Vec::new(), vec![0, 1], Vec::new());
    while let Some(at_ns) = shaper.next_ns() {
        shaper.release(at_ns, &mut out);
        for released in out.drain(..) {
            firsts.extend(shaper.first_of(released.flow));
            tokens.push(released.request.token);
        }
    }
    firsts.sort_unstable();
    assert_eq!((firsts, tokens), ((0..10).collect(), (0..10).collect()));
}

#[test]
fn the_lowest_limit_applies_and_limits_of_flows_add_up() {
    // As with nconnect: throughput grows with the number of flows up to the volume's limit.
    for (flows, mib_per_s) in [(1, 10), (2, 20), (4, 40), (8, 64), (16, 64)] {
        let (mut shaper, volume) =
            one_volume(bytes(10 * MIB, 0), bytes(64 * MIB, 0), bytes(1000 * MIB, 0));
        let opened: Vec<_> = (0..flows).map(|_| shaper.open_flow(CLIENT)).collect();
        for token in 0..(640 / flows) {
            for flow in &opened {
                shaper.arrive(0, *flow, Request { volume, bytes: 65_536, token });
            }
        }
        let released = drain(&mut shaper);
        // The first requests are released immediately, so they do not count for the rate.
        let last_ns = released.last().unwrap().0;
        let first_bytes = flows.min(64 / 10 + 1) * 65_536;
        let bytes = (released.len() as u64 * 65_536 - first_bytes) as f64;
        let actual = bytes / (last_ns as f64 / 1e9) / MIB as f64;
        let expected = f64::from(mib_per_s);
        assert!((actual / expected - 1.0).abs() < 0.02, "{flows} flows: {actual} MiB/s");
    }
}

#[test]
fn volumes_behind_one_endpoint_share_its_limit_in_order_of_arrival() {
    let mut shaper = Shaper::new(Limits::default());
    let endpoint = shaper.add_endpoint(bytes(100 * MIB, 0));
    let volumes = [0, 1].map(|_| shaper.add_volume(endpoint, bytes(80 * MIB, 0)));
    let flows = [0, 1].map(|_| shaper.open_flow(CLIENT));
    for token in 0..400 {
        for index in [0, 1] {
            let volume = volumes[index];
            shaper.arrive(0, flows[index], Request { volume, bytes: MIB, token });
        }
    }
    let released = drain(&mut shaper);
    assert_eq!(released.last().unwrap().0, 7_990_000_000, "799 MiB after the first, at 100 MiB/s");
    let in_first_second = |volume| {
        let first = released.iter().filter(|(at_ns, _)| *at_ns < 1_000_000_000);
        first.filter(|(_, released)| released.request.volume == volume).count()
    };
    assert_eq!(volumes.map(in_first_second), [50, 50]);
}

#[test]
fn a_flow_at_its_limit_does_not_delay_other_flows() {
    let (mut shaper, volume) = one_volume(bytes(MIB, 0), bytes(100 * MIB, 0), Limits::default());
    let (slow, fast) = (shaper.open_flow(CLIENT), shaper.open_flow(CLIENT));
    for token in 0..10 {
        shaper.arrive(0, slow, Request { volume, bytes: MIB, token });
    }
    shaper.arrive(0, fast, Request { volume, bytes: 4096, token: 99 });
    let released = drain(&mut shaper);
    let fast_at_ns = released.iter().find(|(_, released)| released.flow == fast).unwrap().0;
    assert_eq!(fast_at_ns, 10_000_000, "after 1 MiB at the volume's limit, not 10 at the flow's");
}

#[test]
fn a_large_request_is_not_starved_by_small_ones() {
    let (mut shaper, volume) =
        one_volume(Limits::default(), bytes(1_000_000, 1_000_000), Limits::default());
    let (large, small) = (shaper.open_flow(CLIENT), shaper.open_flow(CLIENT));
    for token in 0..5 {
        shaper.arrive(0, small, Request { volume, bytes: 1000, token });
    }
    shaper.arrive(0, large, Request { volume, bytes: 100_000, token: 100 });
    for token in 5..500 {
        shaper.arrive(0, small, Request { volume, bytes: 1000, token });
    }
    let released = drain(&mut shaper);
    let position = released.iter().position(|(_, released)| released.flow == large);
    assert_eq!(position, Some(5), "in order of arrival");
}

#[test]
fn operations_are_limited_in_addition_to_bytes() {
    let limits = Limits { bytes: rate(1000 * MIB, 0), ops: rate(1000, 0) };
    let (mut shaper, volume) = one_volume(Limits::default(), limits, Limits::default());
    let flow = shaper.open_flow(CLIENT);
    for token in 0..101 {
        // Every second request moves no data but counts as an operation.
        shaper.arrive(0, flow, Request { volume, bytes: 4096 * (token % 2), token });
    }
    assert_eq!(drain(&mut shaper).last().unwrap().0, 100_000_000);
}

#[test]
fn a_changed_limit_acts_on_waiting_requests_immediately() {
    let (mut shaper, volume) = one_volume(Limits::default(), bytes(64 * MIB, 0), Limits::default());
    let flow = shaper.open_flow(CLIENT);
    for token in 0..2048 {
        shaper.arrive(0, flow, Request { volume, bytes: 65_536, token });
    }
    let mut out = Vec::new();
    let mut released_until = |shaper: &mut Shaper, end_ns: u64| {
        out.clear();
        while let Some(at_ns) = shaper.next_ns().filter(|at_ns| *at_ns <= end_ns) {
            shaper.release(at_ns, &mut out);
        }
        out.len()
    };
    assert_eq!(released_until(&mut shaper, 499_999_999), 512, "0.5 s at 64 MiB/s");
    shaper.set_volume_limits(500_000_000, volume, bytes(128 * MIB, 0));
    assert_eq!(released_until(&mut shaper, 999_999_999), 1024, "0.5 s at 128 MiB/s");
    shaper.set_volume_limits(1_000_000_000, volume, bytes(16 * MIB, 0));
    assert_eq!(released_until(&mut shaper, 1_499_999_999), 128, "0.5 s at 16 MiB/s");
    shaper.set_volume_limits(1_500_000_000, volume, Limits::default());
    assert_eq!(released_until(&mut shaper, 1_500_000_000), 384, "all others without a limit");
}

#[test]
fn closing_a_flow_returns_its_waiting_requests_and_does_not_affect_others() {
    let (mut shaper, volume) = one_volume(bytes(MIB, 0), bytes(MIB, 0), bytes(MIB, 0));
    let (closed, open) = (shaper.open_flow(CLIENT), shaper.open_flow(CLIENT));
    for (flow, token) in [(closed, 0), (closed, 1), (open, 2), (closed, 3), (open, 4)] {
        shaper.arrive(0, flow, Request { volume, bytes: MIB, token });
    }
    let mut out = Vec::new();
    shaper.release(0, &mut out);
    assert_eq!(out[0].request.token, 0);
    let dropped: Vec<u64> =
        shaper.close_flow(0, closed).iter().map(|request| request.token).collect();
    assert_eq!((dropped, shaper.waiting()), (vec![1, 3], 2));
    assert_eq!(shaper.open_flow(CLIENT), closed, "its id is reused");
    let released: Vec<(u64, u64)> =
        drain(&mut shaper).iter().map(|(at_ns, r)| (*at_ns, r.request.token)).collect();
    assert_eq!(released, [(1_000_000_000, 2), (2_000_000_000, 4)]);
}

#[test]
fn after_a_limit_is_raised_the_next_release_is_earlier() {
    for which in ["volume", "endpoint", "flow"] {
        let of = |name: &str| if which == name { bytes(MIB, 0) } else { Limits::default() };
        let mut shaper = Shaper::new(of("flow"));
        let endpoint = shaper.add_endpoint(of("endpoint"));
        let volume = shaper.add_volume(endpoint, of("volume"));
        let flow = shaper.open_flow(CLIENT);
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
        // 9 MiB have not drained yet.
        assert_eq!(shaper.next_ns(), Some(1_090_000_000), "{which}");
    }
}

#[test]
fn when_a_flow_closes_whose_request_is_chosen_another_request_is_chosen() {
    for at_endpoint in [false, true] {
        let of = |is: bool| if is { bytes(MIB, 0) } else { Limits::default() };
        let (mut shaper, volume) = one_volume(Limits::default(), of(!at_endpoint), of(at_endpoint));
        let [first, closed, last] = [0; 3].map(|_| shaper.open_flow(CLIENT));
        for (token, flow) in [first, closed, last].into_iter().enumerate() {
            shaper.arrive(0, flow, Request { volume, bytes: MIB, token: token as u64 });
        }
        let mut out = Vec::new();
        shaper.release(0, &mut out);
        assert_eq!(out.len(), 1);
        assert_eq!(shaper.close_flow(1, closed).len(), 1);
        let released: Vec<(u64, u64)> =
            drain(&mut shaper).iter().map(|(at_ns, r)| (*at_ns, r.request.token)).collect();
        assert_eq!(released, [(1_000_000_000, 2)]);
        // After the only chosen request is withdrawn, a new request can pass.
        shaper.arrive(1_000_000_000, last, Request { volume, bytes: MIB, token: 3 });
        shaper.release(1_000_000_000, &mut out);
        assert_eq!(shaper.close_flow(1_000_000_000, last).len(), 1);
        assert!(shaper.pass(2_000_000_000, first, volume, MIB), "{at_endpoint}");
    }
}

#[test]
fn the_id_of_a_removed_volume_is_not_reused_before_its_waiting_requests_are_released() {
    let (mut shaper, removed) = one_volume(Limits::default(), bytes(MIB, 0), Limits::default());
    let endpoint = shaper.add_endpoint(Limits::default());
    let flow = shaper.open_flow(CLIENT);
    for token in 0..3 {
        shaper.arrive(0, flow, Request { volume: removed, bytes: MIB, token });
    }
    shaper.remove_volume(removed);
    assert_ne!(shaper.add_volume(endpoint, Limits::default()), removed);
    let instants: Vec<u64> = drain(&mut shaper).iter().map(|(at_ns, _)| *at_ns).collect();
    assert_eq!(instants, [0, 1_000_000_000, 2_000_000_000]);
    assert_eq!(shaper.add_volume(endpoint, Limits::default()), removed);
}

#[test]
fn the_id_of_a_removed_volume_is_reused_when_its_waiting_requests_leave_with_their_flow() {
    let (mut shaper, removed) = one_volume(Limits::default(), bytes(MIB, 0), Limits::default());
    let endpoint = shaper.add_endpoint(Limits::default());
    let flow = shaper.open_flow(CLIENT);
    for token in 0..3 {
        shaper.arrive(0, flow, Request { volume: removed, bytes: MIB, token });
    }
    shaper.remove_volume(removed);
    assert_eq!(shaper.close_flow(0, flow).len(), 3);
    assert_eq!(shaper.waiting(), 0);
    assert_eq!(shaper.add_volume(endpoint, Limits::default()), removed);
}
