//! Lost connections, and streams that arrive in pieces.

use sim::nfs_setup::{Client, Connections, Data, Incident, Setup};
use sim::nfs_world::simulate;
use sim::tap::Tapping;
use sim::wire::{Outage, Pieces, Wire};
use volume::delay::Distribution;
use workload::op::OpKind;
use workload::plan::Stream;

use crate::setups::{
    CLOSED, MS, S, SEEDS, US, VOLUME, assert_whole, calls, kind, repeats, run, size, small, stream,
    volume, volume_of, whole,
};

#[test]
fn lost_connections_lose_no_operation_and_repeated_calls_keep_their_xid() {
    for seed in SEEDS {
        let incidents = vec![
            (S / 2, Incident::Lose(Connections::One(1))),
            (S, Incident::Lose(Connections::All)),
            (S + 300 * US, Incident::Lose(Connections::All)),
        ];
        let setup = Setup {
            incidents,
            client: Client::of(4),
            wire: Wire::of_delay(100 * US),
            data: Data::Verified { seed: 5 },
            tapping: Some(Tapping::default()),
            ..Setup::new(volume(None, 2 * MS), VOLUME)
        };
        let stream = Stream {
            read_permille: 600,
            working_set: small(2, 4 << 20),
            fsync_every_writes: Some(20),
            ..stream(CLOSED, 32)
        };
        let simulated = simulate(&run(vec![stream], 2 * S, S / 4), &setup, seed);
        assert_whole(&simulated);
        let record = &simulated.record;
        let (reconnects, replays) = repeats(record);
        assert_eq!(reconnects, 1 + 4 + 4);
        assert!(replays > 30, "{replays} calls were sent again");

        // Each call has one xid, however often it was sent.
        let made: u64 = OpKind::ALL.into_iter().map(|kind| calls(record, kind, None).calls).sum();
        assert_eq!(made, simulated.tapped.calls.len() as u64);
        // Calls that arrived twice had been sent again; some had not arrived the first time.
        let again = simulated.tapped.arrived() - made;
        assert!(again > 0 && again <= replays, "{again} of {replays}");
        // The service saw exactly what arrived, and replied to everything that it did not drop.
        let seen = &simulated.snapshot.volumes[0].counters;
        assert_eq!(seen.arrived, simulated.tapped.arrived());
        assert_eq!(seen.arrived, seen.completed() + seen.dropped);
        assert!(seen.dropped > 0 && seen.dropped <= replays);
        assert_eq!(
            analysis::service_check::GeneratorCounts::of(record)
                .differences(&record.service_counters.unwrap()),
            [""; 0]
        );

        // The gap: a client whose connection is lost twice without a reply in between waits 50 ms
        // before the third connection; then connection and call take their time.
        let most_ns = kind(record, OpKind::Read).response.max_ns;
        assert!((52 * MS..57 * MS).contains(&most_ns), "{most_ns} ns");
    }
}

#[test]
fn an_outage_longer_than_the_client_waits_is_survived() {
    for seed in SEEDS {
        let down = vec![Outage { from_ns: S, until_ns: 4 * S }];
        let setup = Setup {
            wire: Wire { down, ..Wire::of_delay(100 * US) },
            client: Client { timeo_ns: S, ..Client::of(3) },
            data: Data::Verified { seed: 5 },
            ..Setup::new(volume(None, MS), VOLUME)
        };
        let stream =
            Stream { read_permille: 500, working_set: small(2, 4 << 20), ..stream(CLOSED, 12) };
        let simulated = simulate(&run(vec![stream], 6 * S, S), &setup, seed);
        assert_whole(&simulated);
        let (reconnects, replays) = repeats(&simulated.record);
        assert!(reconnects >= 3 && replays >= 12, "{reconnects} {replays}");
        let most_ns = kind(&simulated.record, OpKind::Read).response.max_ns;
        assert!((3 * S..4 * S).contains(&most_ns), "{most_ns} ns");
        let completed: Vec<u64> =
            simulated.record.intervals.iter().map(|i| i.streams[0].completed()).collect();
        assert_eq!(completed[2..4], [0, 0]);
        assert!(completed[5] > 9000, "{completed:?}");
    }
}

#[test]
fn streams_may_be_split_anywhere_and_connections_overtake_each_other() {
    let all = [
        Pieces::Every { bytes: 1 },
        Pieces::Every { bytes: 3 },
        Pieces::Every { bytes: 1448 },
        Pieces::Random { most_bytes: 7 },
        Pieces::Random { most_bytes: 9000 },
    ];
    for (pieces, seed) in all.into_iter().zip([1, 2, 3, 4, 5]) {
        // Replies are sent in any order, and arrive in any order over different connections.
        let time = Distribution::lognormal(MS, 10 * MS).unwrap();
        let setup = Setup {
            wire: Wire { pieces, jitter_ns: 3 * MS, ..Wire::of_delay(50 * US) },
            client: Client::of(4),
            data: Data::Verified { seed: 5 },
            ..Setup::new(volume_of(None, None, time), VOLUME)
        };
        let stream = Stream {
            read_permille: 500,
            transfer_sizes: [size(512), size(4608)].concat(),
            working_set: small(2, 1 << 20),
            fsync_every_writes: Some(10),
            ..stream(CLOSED, 16)
        };
        let simulated = simulate(&run(vec![stream], S / 5, S / 10), &setup, seed);
        assert_whole(&simulated);
        assert!(whole(&simulated.record, 0).completed() > 300, "{pieces:?}");
        crate::service_counters::assert_agree(&simulated);
    }
}

#[test]
fn a_window_smaller_than_a_message_and_a_slow_link_are_fully_used_but_not_exceeded() {
    for (seed, window_bytes) in SEEDS.into_iter().zip([1000, 65536, 4 << 20]) {
        // 16 MiB/s in each direction, and a round trip of 1 ms.
        let setup = Setup {
            wire: Wire {
                bytes_per_s: Some(16 << 20),
                window_bytes,
                pieces: Pieces::Every { bytes: 1448 },
                ..Wire::of_delay(500 * US)
            },
            data: Data::Verified { seed: 5 },
            ..Setup::new(volume(None, 0), VOLUME)
        };
        let stream = Stream {
            transfer_sizes: size(32768),
            working_set: small(1, 4 << 20),
            ..stream(CLOSED, 16)
        };
        let simulated = simulate(&run(vec![stream], 2 * S, S / 2), &setup, seed);
        assert_whole(&simulated);
        // A window is in flight for the delay and its transmission; the link is never more than
        // full.
        let window_mib = window_bytes as f64 / crate::setups::MIB;
        let of_window = window_mib / (0.0005 + window_mib / 16.0);
        let seen = crate::setups::throughput(&simulated.record, 0, 1..4);
        let expected = if window_bytes < 65536 { of_window } else { 16.0 };
        assert!(seen <= expected && seen > 0.9 * expected, "{seen} MiB/s, not {expected}");
    }
}

#[test]
fn a_large_write_over_a_slow_path_does_not_count_as_silence() {
    for seed in SEEDS {
        // A write is in flight 8 times as long as the connection may be silent.
        let setup = Setup {
            client: Client { timeo_ns: 32 * MS, ..Client::new() },
            wire: Wire { window_bytes: 4096, ..Wire::of_delay(MS) },
            ..Setup::new(volume(None, MS), VOLUME)
        };
        let stream = Stream {
            read_permille: 0,
            transfer_sizes: size(1 << 20),
            working_set: small(1, 4 << 20),
            ..stream(CLOSED, 1)
        };
        let simulated = simulate(&run(vec![stream], 2 * S, S), &setup, seed);
        assert_whole(&simulated);
        assert!(kind(&simulated.record, OpKind::Write).response.max_ns > 7 * 32 * MS);
        assert_eq!(repeats(&simulated.record), (0, 0));
    }
}
