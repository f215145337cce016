//! How clients share a limit that all of them wait for, in virtual time.
//!
//! With n waiting clients, quantum Q, requests of at most M bytes and a limit of r bytes/s, deficit
//! round robin releases at most Q + M bytes of each other client before a request of at most Q bytes
//! that is the first of its client, and the limit has at most the burst or one request to drain. So
//! the request waits for at most ((n - 1)(Q + M) + max(burst, M) + its bytes) / r.

use std::num::NonZeroU64;

use proptest::prelude::*;
use volume::gcra::Rate;
use volume::ids::{ClientId, FlowId, ServedVolumeId};
use volume::qos::{Limits, QUANTUM, Release, Request, Shaper};

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

fn arrive(
    shaper: &mut Shaper,
    now_ns: u64,
    flow: FlowId,
    volume: ServedVolumeId,
    bytes: u64,
    count: u64,
) {
    for token in 0..count {
        shaper.arrive(now_ns, flow, Request { volume, bytes, token });
    }
}

/// Releases requests until `end_ns`.
fn release_until(shaper: &mut Shaper, end_ns: u64) -> Vec<Release> {
    let mut out = Vec::new();
    while let Some(at_ns) = shaper.next_ns().filter(|at_ns| *at_ns <= end_ns) {
        shaper.release(at_ns, &mut out);
    }
    out
}

/// The time of `bytes` at [`RATE`], rounded up.
fn time_ns(bytes: u64) -> u64 {
    (u128::from(bytes) * 1_000_000_000).div_ceil(u128::from(RATE)) as u64
}

/// The maximum wait of a request of `bytes` with `others` waiting clients.
fn wait_max_ns(others: u64, bytes: u64) -> u64 {
    time_ns(others * (QUANTUM + MIB) + MIB + bytes)
}

/// The released bytes of these flows.
fn bytes_of(released: &[Release], flows: &[FlowId]) -> u64 {
    let of = released.iter().filter(|released| flows.contains(&released.flow));
    of.map(|released| released.request.bytes).sum()
}

/// A volume with `others` clients that have been served for a second, each with 16 flows of 100
/// requests. Returns it with a flow of another client.
fn busy_volume(volume_limits: Limits, others: u32, bytes: u64) -> (Shaper, ServedVolumeId, FlowId) {
    let mut shaper = Shaper::new(Limits::default());
    let endpoint = shaper.add_endpoint(Limits::default());
    let volume = shaper.add_volume(endpoint, volume_limits);
    for client in 1..=others {
        for _ in 0..16 {
            let flow = shaper.open_flow(ClientId::new(client));
            arrive(&mut shaper, 0, flow, volume, bytes, 100);
        }
    }
    release_until(&mut shaper, 1_000_000_000);
    let measured = shaper.open_flow(ClientId::new(others + 1));
    (shaper, volume, measured)
}

#[test]
fn a_client_waits_one_turn_of_each_other_client_however_much_they_have_queued() {
    for others in [1, 2, 7, 50] {
        let (mut shaper, volume, measured) = busy_volume(limited(RATE), others, MIB);
        let mut now_ns = 1_000_000_000;
        for bytes in [4096, QUANTUM, 4096, 4096] {
            arrive(&mut shaper, now_ns, measured, volume, bytes, 1);
            let bound_ns = now_ns + wait_max_ns(others.into(), bytes);
            let released = release_until(&mut shaper, bound_ns);
            let request = released.iter().find(|released| released.flow == measured);
            assert!(request.is_some(), "it waits longer than one turn of each of {others} clients");
            now_ns = bound_ns;
        }
    }
}

#[test]
fn a_client_with_sixteen_connections_gets_no_more_than_one_with_a_single_connection() {
    let (mut shaper, volume, measured) = busy_volume(limited(RATE), 1, MIB);
    arrive(&mut shaper, 1_000_000_000, measured, volume, 65_536, 1000);
    let released = release_until(&mut shaper, 2_000_000_000);
    let one_connection = bytes_of(&released, &[measured]);
    let all = released.iter().map(|released| released.request.bytes).sum::<u64>();
    let sixteen = all - one_connection;
    // Lemma 2 of the source: they differ by less than 2 M + Q.
    let difference = one_connection.abs_diff(sixteen);
    assert!(difference <= 2 * MIB + QUANTUM, "{one_connection} and {sixteen}");
    assert!(all >= 63 * MIB, "the limit is used");
}

#[test]
fn where_only_operations_are_limited_clients_take_turns_by_operation() {
    let (mut shaper, volume, measured) = busy_volume(operations(1000), 3, 4096);
    arrive(&mut shaper, 1_000_000_000, measured, volume, 0, 5);
    let released = release_until(&mut shaper, 1_020_000_000);
    let of_measured = released.iter().filter(|released| released.flow == measured);
    let instants: Vec<u64> = of_measured.map(|released| released.at_ns).collect();
    // Every fourth operation.
    let expected: Vec<u64> = (1..=5).map(|turn| 1_000_000_000 + turn * 4_000_000).collect();
    assert_eq!(instants, expected);
}

#[test]
fn with_both_limits_clients_get_equal_shares_of_time() {
    let per_s = |per_s| Some(Rate { per_s: NonZeroU64::new(per_s).expect("a rate"), burst_ns: 0 });
    // An operation takes as long as 16 KiB, so four small requests take as long as a large one:
    // 1/1024 s.
    let limits = Limits { bytes: per_s(RATE), ops: per_s(4096) };
    let mut shaper = Shaper::new(Limits::default());
    let endpoint = shaper.add_endpoint(Limits::default());
    let volume = shaper.add_volume(endpoint, limits);
    let [small, large] = [1, 2].map(|client| shaper.open_flow(ClientId::new(client)));
    arrive(&mut shaper, 0, small, volume, 4096, 10_000);
    arrive(&mut shaper, 0, large, volume, 65_536, 10_000);
    // In each turn the other limit gives a credit of up to 1 ns.
    let released = release_until(&mut shaper, 999_990_000);
    let count = |flow| released.iter().filter(|released| released.flow == flow).count();
    assert_eq!((count(small), count(large)), (2048, 512));
}

/// The endpoint has the limit. One client has long queues for ten volumes. The other uses the last of
/// these volumes, or a separate one.
#[test]
fn at_an_endpoint_a_client_does_not_wait_behind_what_another_sent_to_other_volumes() {
    for is_shared in [true, false] {
        let mut shaper = Shaper::new(Limits::default());
        let endpoint = shaper.add_endpoint(limited(RATE));
        let volumes: Vec<ServedVolumeId> =
            (0..11).map(|_| shaper.add_volume(endpoint, Limits::default())).collect();
        for volume in &volumes[..10] {
            let flow = shaper.open_flow(ClientId::new(1));
            arrive(&mut shaper, 0, flow, *volume, MIB, 100);
        }
        release_until(&mut shaper, 1_000_000_000);
        let measured = shaper.open_flow(ClientId::new(2));
        let mut now_ns = 1_000_000_000;
        for turn in 0..20 {
            let volume = volumes[if is_shared { 9 } else { 10 }];
            arrive(&mut shaper, now_ns, measured, volume, 4096, 1);
            // The endpoint serves the busy client and the shared volume in turns; in its turn the
            // shared volume may first serve the busy client.
            let turns = if is_shared { 2 } else { 1 };
            let bound_ns = now_ns + turns * wait_max_ns(turns, 4096);
            let released = release_until(&mut shaper, bound_ns);
            let is_released = released.iter().any(|released| released.flow == measured);
            assert!(is_released, "{is_shared}, request {turn}");
            now_ns = bound_ns;
        }
    }
}

#[test]
fn volumes_of_two_clients_share_their_endpoint_equally_whatever_the_size_of_requests() {
    let mut shaper = Shaper::new(Limits::default());
    let endpoint = shaper.add_endpoint(limited(RATE));
    // With the default burst; a volume at its own limit gets no turn at the endpoint.
    let per_s = NonZeroU64::new(60 * MIB).expect("a rate");
    let limits = Limits { bytes: Some(Rate { per_s, burst_ns: 7_500_000 }), ops: None };
    let volumes = [0, 1].map(|_| shaper.add_volume(endpoint, limits));
    let flows = [1, 2].map(|client| shaper.open_flow(ClientId::new(client)));
    arrive(&mut shaper, 0, flows[0], volumes[0], MIB, 200);
    arrive(&mut shaper, 0, flows[1], volumes[1], 8192, 10_000);
    let released = release_until(&mut shaper, 1_000_000_000);
    let [large, small] = flows.map(|flow| bytes_of(&released, &[flow]));
    assert!(large.abs_diff(small) <= 2 * MIB + QUANTUM, "{large} and {small}");
    assert!(large + small >= 63 * MIB, "the limit is used");
}

proptest! {
    /// While clients have waiting requests, their released bytes differ by at most 2 M + Q (lemma 2 of
    /// the source), whatever their sizes and numbers of connections, and together they use the limit.
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
            let own: Vec<FlowId> =
                (0..*connections).map(|_| shaper.open_flow(ClientId::new(client))).collect();
            // At least 100 MiB each, and at most 128 MiB are released: all have waiting requests.
            let mut queued = 0;
            while queued < 100 * MIB {
                for (index, bytes) in sizes.iter().enumerate() {
                    arrive(&mut shaper, 0, own[index % own.len()], volume, *bytes, 1);
                    queued += bytes;
                }
            }
            flows.push(own);
        }
        let all = release_until(&mut shaper, start_ns + 1_000_000_000);
        let released: Vec<Release> =
            all.into_iter().filter(|released| released.at_ns >= start_ns).collect();
        let each: Vec<u64> = flows.iter().map(|own| bytes_of(&released, own)).collect();
        let (min, max) = (each.iter().min().unwrap(), each.iter().max().unwrap());
        prop_assert!(max - min <= 2 * MIB + QUANTUM, "{each:?}");
        prop_assert!(each.iter().sum::<u64>() >= 62 * MIB, "{each:?}");
    }
}
