//! What is in the files in the end is what was written, whatever came between.

use engine::tiles::Tiles;
use files::{Caller, Unstable};
use metrics::run_record::Outcome;
use sim::nfs_world::{Client, Data, Happening, Setup, Simulated, Which, simulate};
use sim::tap::{Shorten, Tapping};
use sim::wire::{Down, Pieces, Wire};
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
/// Drawn setups that are tried.
const DRAWN: u64 = 60;

/// Every byte of every file against the fill and the writes that ended well, in their order.
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

/// A worker that writes files over and over from their beginning.
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
fn what_a_restart_lost_is_written_again() {
    for (seed, fsync_every) in SEEDS.into_iter().zip([None, Some(5), Some(40)]) {
        // The last of them so late that most of what it lost is not written over by the run.
        let happenings = [50, 130, 131, 260, 495].map(|at_ms| (at_ms * MS, Happening::Restart));
        let setup = Setup {
            happenings: happenings.to_vec(),
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
        assert!(again > 8, "{again} writes were made again");
        assert_data(&simulated, "at the end");
    }
}

/// A setup and a run that are drawn: restarts, lost connections and a link that is down, at any
/// time of its first third. What is lost at the very end, and not committed, nobody has promised.
fn drawn(seed: u64) -> (Setup, Run) {
    let mut draws = (0..).map(|place| random::at(random::derive(seed, 0xD12A), place));
    let mut below = |most: u64| draws.next().unwrap() % most;
    let (end_ns, first_ns) = (120 * MS, 40 * MS);
    let mut happenings = Vec::new();
    for _ in 0..below(4) {
        happenings.push((below(first_ns), Happening::Restart));
    }
    for _ in 0..below(4) {
        let which = if below(2) == 0 { Which::All } else { Which::One(below(4) as u32) };
        happenings.push((below(first_ns), Happening::Lose(which)));
    }
    let from_ns = below(first_ns);
    let down = Down { from_ns, until_ns: from_ns + 1 + below(10 * MS) };
    let client = Client {
        policy: [Policy::RoundRobin, Policy::PerFile, Policy::LeastOutstanding][below(3) as usize],
        wsize_bytes: [8192, 16384, 1 << 20][below(3) as usize],
        timeo_ns: [50 * MS, S][below(2) as usize],
        slots: [3, 128][below(2) as usize],
        ..Client::of(1 + below(4) as u32)
    };
    let most = [Bytes::mib(64), Bytes::kib(64)][below(2) as usize];
    let setup = Setup {
        happenings,
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
fn whatever_happens_what_was_written_last_is_there_in_the_end() {
    let mut events = (0, 0);
    for seed in 0..DRAWN {
        let (setup, run) = drawn(seed);
        let simulated = simulate(&run, &setup, seed);
        assert_whole(&simulated);
        assert_data(&simulated, &format!("seed {seed}"));
        let (reconnects, replays) = repeats(&simulated.record);
        events = (events.0 + reconnects, events.1 + replays);
    }
    assert!(events.0 > DRAWN && events.1 > DRAWN, "much happened: {events:?}");
}

#[test]
fn whatever_is_lost_on_the_way_what_is_read_is_what_was_written_last() {
    for seed in 0..DRAWN {
        let (mut setup, mut run) = drawn(seed);
        setup.happenings.retain(|(_, what)| matches!(what, Happening::Lose(_)));
        setup.data = Data::Verified { seed: DATA_SEED };
        let stream = &mut run.streams[0];
        stream.read_permille = 500;
        stream.access_pattern = AccessPattern::Uniform;
        // Parts of writes that overlap may be mixed, but not within the data of one stamp.
        let simulated = simulate(&run, &setup, seed);
        assert_whole(&simulated);
        let (_, replays) = repeats(&simulated.record);
        if replays == 0 {
            crate::witness::assert_agree(&simulated);
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
        let told = analysis::witness::Told::of(&simulated.record);
        let witness = simulated.record.witness.unwrap();
        assert_eq!(told.differences(&witness), Vec::<String>::new(), "seed {seed}");
        replays += told.replays;
    }
    assert!(replays > DRAWN, "much happened: {replays}");
}

#[test]
fn nothing_is_written_again_after_a_restart_if_it_was_stable_when_it_was_answered() {
    use workload::plan::WriteStability;
    for seed in SEEDS {
        let setup = Setup {
            happenings: vec![(100 * MS, Happening::Restart)],
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
fn a_connection_that_is_lost_between_writes_leaves_what_was_written_last() {
    for seed in SEEDS {
        let happenings =
            (1..8).map(|n| (n * 23 * MS, Happening::Lose(Which::One(n as u32 % 3)))).collect();
        let setup = Setup {
            happenings,
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
fn short_reads_and_writes_are_gone_on_with_and_are_one_operation() {
    for (seed, every) in SEEDS.into_iter().zip([1, 2, 5]) {
        for shortened in [OpKind::Read, OpKind::Write] {
            let shorten = Some(Shorten { kind: shortened, every });
            let setup = Setup {
                client: Client::of(2),
                data: Data::Verified { seed: DATA_SEED },
                tapping: Some(Tapping { shorten }),
                ..Setup::new(volume(None, MS), VOLUME)
            };
            // One after the other: writes that overlap may well leave a mixture of their parts.
            let stream = Stream {
                read_permille: 500,
                access_pattern: AccessPattern::Sequential,
                transfer_sizes: size(16384),
                working_set: small(2, 1 << 20),
                ..stream(CLOSED, 8)
            };
            let simulated = simulate(&run(vec![stream], S / 5, S / 10), &setup, seed);
            assert_whole(&simulated);
            crate::witness::assert_agree(&simulated);
            let record = &simulated.record;
            assert!(simulated.tapped.shortened > 50);
            // One more call for each that was cut, and no operation more.
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
fn a_file_that_ends_too_early_is_a_short_read_by_kind() {
    for seed in SEEDS {
        let setup =
            Setup { file_bytes: Some((1 << 20) + 4096), ..Setup::new(volume(None, MS), VOLUME) };
        let stream = Stream { working_set: small(1, 2 << 20), ..stream(CLOSED, 8) };
        let simulated = simulate(&run(vec![stream], S, S / 4), &setup, seed);
        assert_eq!(simulated.record.outcome, Outcome::Done);
        let reads = kind(&simulated.record, OpKind::Read);
        let short = reads.failed[ErrorKind::Short as usize];
        assert_eq!(short, reads.failed_total());
        crate::setups::assert_near(short as f64, reads.completed as f64, 0.1, "half of them");
        let counted = calls(&simulated.record, OpKind::Read, None);
        assert_eq!(counted.calls, counted.operations, "an end is an end");
    }
}

#[test]
fn operations_larger_than_the_largest_call_are_several_calls_and_one_operation() {
    for seed in SEEDS {
        let setup = Setup {
            client: Client { rsize_bytes: 16384, wsize_bytes: 10_000, ..Client::of(4) },
            data: Data::Verified { seed: DATA_SEED },
            happenings: vec![(S / 10, Happening::Lose(Which::All))],
            ..Setup::new(volume(None, MS), VOLUME)
        };
        // Writes that overlap may well leave a mixture of their parts, but of whole pages.
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
