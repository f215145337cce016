//! How clients share a limit that all of them wait for, in virtual time.
//!
//! With n clients waiting, quantum Q, requests of at most M bytes and a limit of r bytes/s, deficit
//! round robin sends at most Q + M of each other client before a request of at most Q bytes that
//! has just come first in its client's line; and the limit has at most the burst or one request
//! still to drain. So it waits for at most ((n - 1)(Q + M) + max(burst, M) + own) / r.

use std::num::NonZeroU64;

use proptest::prelude::*;
use volume::gcra::Rate;
use volume::qos::{ClientId, FlowId, Limits, QUANTUM, Released, Request, Shaper, VolumeId};

const MIB: u64 = 1 << 20;
const RATE: u64 = 64 * MIB;

fn limited(per_s: u64) -> Limits {
    let per_s = NonZeroU64::new(per_s).expect("a rate");
    Limits { bytes: Some(Rate { per_s, burst_ns: 0 }), ops: None }
}

fn operations(per_s: u64) -> Limits {
    let per_s = NonZeroU64::new(per_s).expect("a rate");
    Limits { bytes: None, ops: Some(Rate { per_s, burst_ns: 0 }) }
}

fn arrive(shaper: &mut Shaper, now_ns: u64, flow: FlowId, volume: VolumeId, bytes: u64, n: u64) {
    for token in 0..n {
        shaper.arrive(now_ns, flow, Request { volume, bytes, token });
    }
}

/// What goes until `end_ns`.
fn until(shaper: &mut Shaper, end_ns: u64) -> Vec<Released> {
    let mut out = Vec::new();
    while let Some(at_ns) = shaper.next_ns().filter(|at_ns| *at_ns <= end_ns) {
        shaper.release(at_ns, &mut out);
    }
    out
}

/// The time that `bytes` take at [`RATE`], rounded up.
fn time_ns(bytes: u64) -> u64 {
    (u128::from(bytes) * 1_000_000_000).div_ceil(u128::from(RATE)) as u64
}

/// What a request of `own` bytes waits for at most, with `others` clients that wait too.
fn most_wait_ns(others: u64, own: u64) -> u64 {
    time_ns(others * (QUANTUM + MIB) + MIB + own)
}

fn sent(released: &[Released], flows: &[FlowId]) -> u64 {
    let of = released.iter().filter(|released| flows.contains(&released.flow));
    of.map(|released| released.request.bytes).sum()
}

/// One volume with `others` clients, each with 16 connections of 100 READs of 1 MiB, that have
/// been served for a second. Gives the connection of one client more.
fn crowded(volume_limits: Limits, others: u32, bytes: u64) -> (Shaper, VolumeId, FlowId) {
    let mut shaper = Shaper::new(Limits::default());
    let endpoint = shaper.add_endpoint(Limits::default());
    let volume = shaper.add_volume(endpoint, volume_limits);
    for client in 1..=others {
        for _ in 0..16 {
            let flow = shaper.open_flow_of(ClientId::new(client));
            arrive(&mut shaper, 0, flow, volume, bytes, 100);
        }
    }
    until(&mut shaper, 1_000_000_000);
    let good = shaper.open_flow_of(ClientId::new(others + 1));
    (shaper, volume, good)
}

#[test]
fn a_client_waits_one_turn_of_each_other_client_however_much_they_have_queued() {
    for others in [1, 2, 7, 50] {
        let (mut shaper, volume, good) = crowded(limited(RATE), others, MIB);
        let mut now_ns = 1_000_000_000;
        for bytes in [4096, QUANTUM, 4096, 4096] {
            arrive(&mut shaper, now_ns, good, volume, bytes, 1);
            let bound_ns = now_ns + most_wait_ns(others.into(), bytes);
            let went = until(&mut shaper, bound_ns);
            let mine = went.iter().find(|released| released.flow == good);
            let waited = "the request waits longer than one turn of each client takes";
            now_ns = mine.expect(waited).at_ns.max(bound_ns);
        }
    }
}

#[test]
fn a_client_with_sixteen_connections_gets_no_more_than_one_with_a_single_connection() {
    let (mut shaper, volume, good) = crowded(limited(RATE), 1, MIB);
    arrive(&mut shaper, 1_000_000_000, good, volume, 65_536, 1000);
    let went = until(&mut shaper, 2_000_000_000);
    let mine = sent(&went, &[good]);
    let others = went.iter().map(|released| released.request.bytes).sum::<u64>() - mine;
    // Lemma 2 of the source: they differ by less than 2 M + Q.
    assert!(mine.abs_diff(others) <= 2 * MIB + QUANTUM, "{mine} and {others}");
    assert!(mine + others >= 63 * MIB, "the limit is used");
}

#[test]
fn where_only_operations_are_limited_clients_take_turns_by_operation() {
    let (mut shaper, volume, good) = crowded(operations(1000), 3, 4096);
    arrive(&mut shaper, 1_000_000_000, good, volume, 0, 5);
    let went = until(&mut shaper, 1_020_000_000);
    let mine: Vec<u64> = went.iter().filter(|one| one.flow == good).map(|one| one.at_ns).collect();
    // Every fourth operation is its own.
    let expected: Vec<u64> = (1..=5).map(|turn| 1_000_000_000 + turn * 4_000_000).collect();
    assert_eq!(mine, expected);
}

#[test]
fn requests_that_count_against_both_limits_are_shared_by_the_time_that_they_take() {
    let per_s = |per_s| Some(Rate { per_s: NonZeroU64::new(per_s).expect("a rate"), burst_ns: 0 });
    // An operation takes as long as 16 KiB, so four small ones as long as a large one: 1/1024 s.
    let limits = Limits { bytes: per_s(RATE), ops: per_s(4096) };
    let mut shaper = Shaper::new(Limits::default());
    let endpoint = shaper.add_endpoint(Limits::default());
    let volume = shaper.add_volume(endpoint, limits);
    let [small, large] = [1, 2].map(|client| shaper.open_flow_of(ClientId::new(client)));
    arrive(&mut shaper, 0, small, volume, 4096, 10_000);
    arrive(&mut shaper, 0, large, volume, 65_536, 10_000);
    // In each turn a limit that was not the one to wait for leaves a credit of up to 1 ns.
    let went = until(&mut shaper, 999_990_000);
    let count = |flow| went.iter().filter(|released| released.flow == flow).count();
    assert_eq!((count(small), count(large)), (2048, 512));
}

/// An endpoint is the limit. One client has long queues for ten volumes; another uses the one that
/// the first client came to last, or one that nobody else uses.
#[test]
fn at_an_endpoint_a_client_does_not_wait_behind_what_another_sent_to_other_volumes() {
    for is_shared in [true, false] {
        let mut shaper = Shaper::new(Limits::default());
        let endpoint = shaper.add_endpoint(limited(RATE));
        let volumes: Vec<VolumeId> =
            (0..11).map(|_| shaper.add_volume(endpoint, Limits::default())).collect();
        for volume in &volumes[..10] {
            let flow = shaper.open_flow_of(ClientId::new(1));
            arrive(&mut shaper, 0, flow, *volume, MIB, 100);
        }
        until(&mut shaper, 1_000_000_000);
        let good = shaper.open_flow_of(ClientId::new(2));
        let mut now_ns = 1_000_000_000;
        for turn in 0..20 {
            let volume = volumes[if is_shared { 9 } else { 10 }];
            arrive(&mut shaper, now_ns, good, volume, 4096, 1);
            // The others are the busy client's volumes, and the shared volume if there is one. It
            // may have to send first what the busy client has there, in a turn of its own.
            let turns = if is_shared { 2 } else { 1 };
            let bound_ns = now_ns + turns * most_wait_ns(turns, 4096);
            let went = until(&mut shaper, bound_ns);
            assert!(went.iter().any(|one| one.flow == good), "{is_shared}, request {turn}");
            now_ns = bound_ns;
        }
    }
}

#[test]
fn volumes_of_two_clients_share_their_endpoint_evenly_whatever_the_size_of_requests() {
    let mut shaper = Shaper::new(Limits::default());
    let endpoint = shaper.add_endpoint(limited(RATE));
    // With the burst that is the default: a volume without room has nothing to offer.
    let per_s = NonZeroU64::new(60 * MIB).expect("a rate");
    let limits = Limits { bytes: Some(Rate { per_s, burst_ns: 7_500_000 }), ops: None };
    let volumes = [0, 1].map(|_| shaper.add_volume(endpoint, limits));
    let flows = [1, 2].map(|client| shaper.open_flow_of(ClientId::new(client)));
    arrive(&mut shaper, 0, flows[0], volumes[0], MIB, 200);
    arrive(&mut shaper, 0, flows[1], volumes[1], 8192, 10_000);
    let went = until(&mut shaper, 1_000_000_000);
    let [large, small] = flows.map(|flow| sent(&went, &[flow]));
    assert!(large.abs_diff(small) <= 2 * MIB + QUANTUM, "{large} and {small}");
    assert!(large + small >= 63 * MIB, "the limit is used");
}

proptest! {
    /// While two clients both have something waiting, what they send differs by at most 2 M + Q
    /// (lemma 2 of the source), whatever they send and over however many connections; and all
    /// together get the limit.
    #[test]
    fn clients_that_wait_are_served_evenly(
        sizes in prop::collection::vec(
            (prop::collection::vec(4096..MIB, 1..5), 1usize..4),
            2..6,
        ),
        start_ns in 0u64..1_000_000_000,
    ) {
        let mut shaper = Shaper::new(Limits::default());
        let endpoint = shaper.add_endpoint(Limits::default());
        let volume = shaper.add_volume(endpoint, limited(RATE));
        let mut flows = Vec::new();
        for (client, (sizes, connections)) in (1..).zip(&sizes) {
            let mine: Vec<FlowId> =
                (0..*connections).map(|_| shaper.open_flow_of(ClientId::new(client))).collect();
            // 100 MiB each at least, and at most 128 MiB go: all of them wait all the time.
            let mut queued = 0;
            while queued < 100 * MIB {
                for (place, bytes) in sizes.iter().enumerate() {
                    arrive(&mut shaper, 0, mine[place % mine.len()], volume, *bytes, 1);
                    queued += bytes;
                }
            }
            flows.push(mine);
        }
        let all = until(&mut shaper, start_ns + 1_000_000_000);
        let went: Vec<Released> =
            all.into_iter().filter(|released| released.at_ns >= start_ns).collect();
        let each: Vec<u64> = flows.iter().map(|mine| sent(&went, mine)).collect();
        let (least, most) = (each.iter().min().unwrap(), each.iter().max().unwrap());
        prop_assert!(most - least <= 2 * MIB + QUANTUM, "{each:?}");
        prop_assert!(each.iter().sum::<u64>() >= 62 * MIB, "{each:?}");
    }
}
