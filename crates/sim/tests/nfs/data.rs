//! After any sequence of incidents the files contain what was written.

use engine::tiles::Tiles;
use files::{Caller, Unstable};
use metrics::run_record::Outcome;
use sim::nfs_setup::{Client, Connections, Data, Incident, Setup};
use sim::nfs_world::{Simulated, simulate};
use sim::tap::{Shorten, Tapping};
use sim::wire::{Outage, Pieces, Wire};
use target::nfs::Policy;
use units::Bytes;
use workload::op::OpKind;
use workload::outcome::ErrorKind;
use workload::pattern::AccessPattern;
use workload::plan::{Run, Stream};
use workload::random;

use crate::setups::{
    CLOSED, MS, S, SEEDS, VOLUME, assert_whole, calls, kind, repeats, run, size, small, stream,
    volume, whole,
};

const DATA_SEED: u64 = 77;
/// Number of random setups.
const DRAWN: u64 = 60;

/// Compares every byte of every file with the fill and the successful writes, in their order.
#[track_caller]
fn assert_data(simulated: &Simulated, what: &str) {
    let run = &simulated.record.run;
    let set = run.streams[0].file_set();
    let maker = std::sync::Arc::new(set.tile_maker(DATA_SEED));
    let rewrite = Tiles::rewriting(maker.clone(), run.seed);
    let exports = simulated.server.exports();
    let fs = &exports.get(exports.find(VOLUME).unwrap()).unwrap().files;
    let root = Caller { uid: 0, gid: 0, gids: &[], read_only: false };
    for file in 0..set.files {
        let mut expected = vec![0; set.file_size_bytes as usize];
        maker.fill(file, 0, 0, &mut expected);
        for op in simulated.written.iter().flatten().filter(|op| op.file == file) {
            let range =
                op.offset_bytes as usize..(op.offset_bytes as usize + op.size_bytes as usize);
            rewrite(op, &mut expected[range]);
        }
        let name = set.file_name(file);
        let handle = fs.lookup(fs.root(), name.as_bytes(), &root).unwrap().handle;
        let read = fs.read(handle, 0, set.file_size_bytes, &root).unwrap();
        let found: Vec<u8> = read.pieces.flat_map(|piece| piece.as_ref().to_vec()).collect();
        assert_eq!(found.len(), expected.len());
        let differs = found.iter().zip(&expected).position(|(a, b)| a != b);
        assert_eq!(differs, None, "{what}: {name}");
    }
}

/// A worker that overwrites its files repeatedly, in order.
fn writer(fsync_every_writes: Option<u32>) -> Stream {
    Stream {
        read_permille: 0,
        transfer_sizes: size(65536),
        access_pattern: AccessPattern::Sequential,
        working_set: small(2, 4 << 20),
        fsync_every_writes,
        ..stream(CLOSED, 8)
    }
}

#[test]
fn data_that_a_restart_lost_is_rewritten() {
    for (seed, fsync_every) in SEEDS.into_iter().zip([None, Some(5), Some(40)]) {
        // The last one is so late that most of the data it lost is not overwritten by the run.
        let incidents = [50, 130, 131, 260, 495].map(|at_ms| (at_ms * MS, Incident::Restart));
        let setup = Setup {
            incidents: incidents.to_vec(),
            client: Client::of(3),
            data: Data::Filled { seed: DATA_SEED },
            unstable: Unstable::MayBeLost { max: Bytes::mib(64) },
            ..Setup::new(volume(None, 2 * MS), VOLUME)
        };
        let simulated = simulate(&run(vec![writer(fsync_every)], S / 2, S / 10), &setup, seed);
        assert_whole(&simulated);
        let record = &simulated.record;
        assert!(repeats(record).0 >= 12, "{:?}", repeats(record));
        let writes = calls(record, OpKind::Write, None);
        let again = writes.calls - whole(record, 0).kinds[OpKind::Write as usize].completed;
        assert!(again > 8, "{again} writes were repeated");
        assert_data(&simulated, "at the end");
    }
}

/// A random setup and run: restarts, lost connections and a link outage at any time in the first
/// third. Uncommitted data that is lost at the very end may be missing.
fn drawn(seed: u64) -> (Setup, Run) {
    let mut draws = (0..).map(|index| random::at(random::derive(seed, 0xD12A), index));
    let mut below = |most: u64| draws.next().unwrap() % most;
    let (end_ns, first_ns) = (120 * MS, 40 * MS);
    let mut incidents = Vec::new();
    for _ in 0..below(4) {
        incidents.push((below(first_ns), Incident::Restart));
    }
    for _ in 0..below(4) {
        let which =
            if below(2) == 0 { Connections::All } else { Connections::One(below(4) as u32) };
        incidents.push((below(first_ns), Incident::Lose(which)));
    }
    let from_ns = below(first_ns);
    let down = Outage { from_ns, until_ns: from_ns + 1 + below(10 * MS) };
    let client = Client {
        policy: [Policy::RoundRobin, Policy::PerFile, Policy::LeastOutstanding][below(3) as usize],
        wsize_bytes: [8192, 16384, 1 << 20][below(3) as usize],
        timeo_ns: [50 * MS, S][below(2) as usize],
        slots: [3, 128][below(2) as usize],
        ..Client::of(1 + below(4) as u32)
    };
    let most = [Bytes::mib(64), Bytes::kib(64)][below(2) as usize];
    let setup = Setup {
        incidents,
        client,
        wire: Wire {
            jitter_ns: below(MS),
            pieces: Pieces::Random { most_bytes: 1 + below(20_000) as usize },
            window_bytes: 4096 + below(100_000) as usize,
            down: if below(2) == 0 { vec![down] } else { Vec::new() },
            ..Wire::of_delay(1 + below(MS))
        },
        data: Data::Filled { seed: DATA_SEED },
        unstable: Unstable::MayBeLost { max: most },
        ..Setup::new(volume(None, below(2 * MS)), VOLUME)
    };
    let fsync_every_writes = [None, Some(1), Some(3), Some(20)][below(4) as usize];
    let stream = Stream {
        transfer_sizes: size(16384),
        working_set: small(2, 512 << 10),
        queue_depth: 1 + below(8) as u32,
        ..writer(fsync_every_writes)
    };
    let run = Run { seed, ..run(vec![stream], end_ns, end_ns / 2) };
    (setup, run)
}

#[test]
fn random_incidents_leave_the_last_write_in_every_file() {
    let mut events = (0, 0);
    for seed in 0..DRAWN {
        let (setup, run) = drawn(seed);
        let simulated = simulate(&run, &setup, seed);
        assert_whole(&simulated);
        assert_data(&simulated, &format!("seed {seed}"));
        let (reconnects, replays) = repeats(&simulated.record);
        events = (events.0 + reconnects, events.1 + replays);
    }
    assert!(events.0 > DRAWN && events.1 > DRAWN, "too few incidents: {events:?}");
}

#[test]
fn reads_return_the_last_write_whatever_the_network_loses() {
    for seed in 0..DRAWN {
        let (mut setup, mut run) = drawn(seed);
        setup.incidents.retain(|(_, what)| matches!(what, Incident::Lose(_)));
        setup.data = Data::Verified { seed: DATA_SEED };
        let stream = &mut run.streams[0];
        stream.read_permille = 500;
        stream.access_pattern = AccessPattern::Uniform;
        // Parts of overlapping writes may be mixed, but not within the data of one stamp.
        let simulated = simulate(&run, &setup, seed);
        assert_whole(&simulated);
        let (_, replays) = repeats(&simulated.record);
        if replays == 0 {
            crate::service_counters::assert_agree(&simulated);
        }
    }
}

#[test]
fn no_read_sees_what_a_restart_lost() {
    let mut replays = 0;
    for seed in 0..DRAWN {
        let (mut setup, mut run) = drawn(seed);
        setup.data = Data::Verified { seed: DATA_SEED };
        let stream = &mut run.streams[0];
        stream.read_permille = 500;
        stream.access_pattern = AccessPattern::Uniform;
        let simulated = simulate(&run, &setup, seed);
        assert_whole(&simulated);
        let generated = analysis::service_check::GeneratorCounts::of(&simulated.record);
        let counters = simulated.record.service_counters.unwrap();
        assert_eq!(generated.differences(&counters), Vec::<String>::new(), "seed {seed}");
        replays += generated.replays;
    }
    assert!(replays > DRAWN, "too few replays: {replays}");
}

#[test]
fn stable_writes_are_not_repeated_after_a_restart() {
    use workload::plan::WriteStability;
    for seed in SEEDS {
        let setup = Setup {
            incidents: vec![(100 * MS, Incident::Restart)],
            data: Data::Filled { seed: DATA_SEED },
            unstable: Unstable::MayBeLost { max: Bytes::mib(64) },
            ..Setup::new(volume(None, 2 * MS), VOLUME)
        };
        let stream = Stream { write_stability: Some(WriteStability::DataSync), ..writer(None) };
        let simulated = simulate(&run(vec![stream], S / 5, S / 10), &setup, seed);
        assert_whole(&simulated);
        let writes = calls(&simulated.record, OpKind::Write, None);
        assert_eq!(writes.calls, writes.operations);
        assert_data(&simulated, "at the end");
    }
}

#[test]
fn losing_connections_between_writes_keeps_the_last_write() {
    for seed in SEEDS {
        let incidents =
            (1..8).map(|n| (n * 23 * MS, Incident::Lose(Connections::One(n as u32 % 3)))).collect();
        let setup = Setup {
            incidents,
            client: Client::of(3),
            data: Data::Filled { seed: DATA_SEED },
            ..Setup::new(volume(None, 2 * MS), VOLUME)
        };
        let simulated = simulate(&run(vec![writer(Some(9))], S / 5, S / 10), &setup, seed);
        assert_whole(&simulated);
        assert_data(&simulated, "at the end");
    }
}

#[test]
fn short_reads_and_writes_are_continued_within_one_operation() {
    for (seed, every) in SEEDS.into_iter().zip([1, 2, 5]) {
        for shortened in [OpKind::Read, OpKind::Write] {
            let shorten = Some(Shorten { kind: shortened, every });
            let setup = Setup {
                client: Client::of(2),
                data: Data::Verified { seed: DATA_SEED },
                tapping: Some(Tapping { shorten }),
                ..Setup::new(volume(None, MS), VOLUME)
            };
            // Sequential: overlapping writes may leave a mixture of their parts.
            let stream = Stream {
                read_permille: 500,
                access_pattern: AccessPattern::Sequential,
                transfer_sizes: size(16384),
                working_set: small(2, 1 << 20),
                ..stream(CLOSED, 8)
            };
            let simulated = simulate(&run(vec![stream], S / 5, S / 10), &setup, seed);
            assert_whole(&simulated);
            crate::service_counters::assert_agree(&simulated);
            let record = &simulated.record;
            assert!(simulated.tapped.shortened > 50);
            // One additional call for each shortened one, and no additional operation.
            let done = kind(record, shortened);
            let counted = calls(record, shortened, None);
            assert_eq!(counted.operations, done.completed);
            assert_eq!(counted.calls, done.completed + simulated.tapped.shortened);
            assert_eq!(done.bytes, done.completed * 16384);
            let other = if shortened == OpKind::Read { OpKind::Write } else { OpKind::Read };
            let counted = calls(record, other, None);
            assert_eq!(counted.calls, counted.operations);
        }
    }
}

#[test]
fn a_file_that_ends_too_early_is_counted_as_short_read() {
    for seed in SEEDS {
        let setup =
            Setup { file_bytes: Some((1 << 20) + 4096), ..Setup::new(volume(None, MS), VOLUME) };
        let stream = Stream { working_set: small(1, 2 << 20), ..stream(CLOSED, 8) };
        let simulated = simulate(&run(vec![stream], S, S / 4), &setup, seed);
        assert_eq!(simulated.record.outcome, Outcome::Done);
        let reads = kind(&simulated.record, OpKind::Read);
        let short = reads.failed[ErrorKind::Short as usize];
        assert_eq!(short, reads.failed_total());
        crate::setups::assert_near(short as f64, reads.completed as f64, 0.1, "half");
        let counted = calls(&simulated.record, OpKind::Read, None);
        assert_eq!(counted.calls, counted.operations, "the end of a file needs no other call");
    }
}

#[test]
fn an_operation_larger_than_a_call_takes_several_calls_and_counts_once() {
    for seed in SEEDS {
        let setup = Setup {
            client: Client { rsize_bytes: 16384, wsize_bytes: 10_000, ..Client::of(4) },
            data: Data::Verified { seed: DATA_SEED },
            incidents: vec![(S / 10, Incident::Lose(Connections::All))],
            ..Setup::new(volume(None, MS), VOLUME)
        };
        // Overlapping writes may leave a mixture of their parts, but of whole pages.
        let stream = Stream {
            read_permille: 500,
            transfer_sizes: size(65536),
            working_set: small(1, 512 << 10),
            ..stream(CLOSED, 8)
        };
        let simulated = simulate(&run(vec![stream], S / 5, S / 10), &setup, seed);
        assert_whole(&simulated);
        for (kind, calls_each) in [(OpKind::Read, 4), (OpKind::Write, 8)] {
            let counted = calls(&simulated.record, kind, None);
            assert_eq!(counted.calls, counted.operations * calls_each);
        }
    }
}
