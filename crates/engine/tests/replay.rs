//! A replay sends the operations of its list, each once, in order, when they are due. Virtual time, in
//! which every operation takes a fixed time, and real files.

mod collected;
mod replaying;
#[expect(dead_code, reason = "other tests use the rest")]
mod runs;

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use collected::Collected;
use engine::clock::Clock;
use engine::drive::{DriveEnd, Stop, drive};
use engine::pulse::Pulse;
use engine::replay::ReplayInstants;
use engine::schedule::{Open, Schedule, Thinking};
use engine::steps::Steps;
use engine::worker::{Assigned, Plain, Worker};
use metrics::interval::StreamInterval;
use replaying::replaying;
use runs::{DATA_SEED, Setting, file_paths, fill, measure, sum};
use target::{Completion, Target, TargetError, Wait};
use workload::op::{Op, OpKind};
use workload::plan::{IoMethodUsed, Run};
use workload::replay::LaneReplay;

const MS: u64 = 1_000_000;

/// A clock that advances only while the target is waited for.
#[derive(Clone, Default)]
struct Virtual(Rc<Cell<u64>>);

impl Clock for Virtual {
    fn now_ns(&self) -> u64 {
        self.0.get()
    }
}

/// Completes every operation a fixed time after its submission, and keeps all with their times.
struct Delay {
    clock: Virtual,
    service_ns: u64,
    coming: Vec<(u64, Completion)>,
    sent: Vec<(u64, Op)>,
    most_outstanding: usize,
}

impl Target for Delay {
    fn submit(&mut self, tag: u32, op: &Op) -> Result<(), TargetError> {
        let now_ns = self.clock.now_ns();
        self.sent.push((now_ns, *op));
        let completion = Completion { tag, result: op.size_bytes as i32 };
        self.coming.push((now_ns + self.service_ns, completion));
        self.most_outstanding = self.most_outstanding.max(self.coming.len());
        Ok(())
    }

    fn reap(&mut self, wait: Wait, done: &mut Vec<Completion>) -> Result<(), TargetError> {
        let now_ns = self.clock.now_ns();
        let waits_until_ns = match wait {
            Wait::Poll => now_ns + 1,
            Wait::Precise(time) | Wait::Coarse(time) => now_ns + time.as_nanos() as u64,
        };
        let first_ns = self.coming.first().map_or(u64::MAX, |(at_ns, _)| *at_ns);
        self.clock.0.set(now_ns.max(waits_until_ns.min(first_ns)));
        let due = self.coming.iter().take_while(|(at_ns, _)| *at_ns <= self.clock.now_ns());
        let due = due.count();
        done.extend(self.coming.drain(..due).map(|(_, completion)| completion));
        Ok(())
    }

    fn buffer(&mut self, _tag: u32) -> Option<&mut [u8]> {
        None
    }
}

struct Replayed {
    sent: Vec<(u64, Op)>,
    sum: StreamInterval,
    most_outstanding: usize,
    backlog_end: u64,
}

/// What one worker of the run sends to a target that takes `service_ns` for each operation.
fn replay(run: &Run, service_ns: u64) -> Replayed {
    let stream = &run.streams[0];
    let lane = LaneReplay::of(stream, 0).expect("it replays a list");
    match stream.arrival.is_open() {
        true => {
            let schedule = Open::new(ReplayInstants::new(lane.clone(), stream.active.start_ns));
            replay_with(run, lane, schedule, service_ns)
        }
        false => {
            let schedule = Thinking::new(stream.active.start_ns, 0, stream.queue_depth);
            replay_with(run, lane, schedule, service_ns)
        }
    }
}

fn replay_with<S: Schedule>(run: &Run, lane: LaneReplay, schedule: S, service_ns: u64) -> Replayed {
    let assigned = Assigned {
        lane: 0,
        queue_depth: run.streams[0].queue_depth,
        interval_ns: run.phases.interval_ns,
        end_ns: run.phases.total_ns(),
        operation_deadline_ns: run.operation_deadline_ns,
    };
    let collected = Rc::new(RefCell::new(Vec::new()));
    let handover = Collected(Rc::clone(&collected));
    let clock = Virtual::default();
    let tally = Box::default();
    let mut worker = Worker::new(assigned, lane, Steps::own(), schedule, Plain, handover, tally);
    let (coming, sent) = (Vec::new(), Vec::new());
    let mut target = Delay { clock: clock.clone(), service_ns, coming, sent, most_outstanding: 0 };
    let end = drive(&mut worker, &mut target, &clock, &Stop::new(), &Pulse::default());
    assert!(matches!(end, Ok(DriveEnd::Drained)));
    let intervals = collected.take();
    assert!(intervals.iter().all(StreamInterval::is_balanced));
    let mut sum = StreamInterval::default();
    intervals.iter().for_each(|interval| sum.merge(interval));
    let backlog_end = intervals.last().map_or(0, |last| last.backlog_end);
    let Delay { sent, most_outstanding, .. } = target;
    Replayed { sent, sum, most_outstanding, backlog_end }
}

/// 60 operations of all kinds: pairs, a burst, and a pause of 200 ms in the middle.
fn lines() -> (String, Vec<u64>) {
    let (mut text, mut times) = (String::new(), Vec::new());
    for number in 0..60u64 {
        let ns = match number {
            0..30 => number / 2 * 7 * MS,
            _ => 300 * MS + number * 1001,
        };
        times.push(ns);
        text += &match number % 5 {
            0 => format!("{ns} write 0 {} 4096\n", number * 8192),
            4 => format!("{ns} fsync 0\n"),
            _ => format!("{ns} read 1 {} {}\n", number * 512, 512 * (1 + number % 3)),
        };
    }
    (text, times)
}

const SETTINGS: &str = "replay = 'l'\nqueue_depth = 8\n[run]\ninterval = '10ms'\n";

#[test]
fn every_operation_is_sent_when_it_is_due() {
    let (lines, times) = lines();
    let run = replaying(&lines, SETTINGS);
    let list = run.streams[0].replay.as_ref().expect("it replays").source().expect("a list");
    let Replayed { sent, sum, .. } = replay(&run, 100_000);
    let found: Vec<(u64, OpKind, u64, u32, u32)> = sent
        .iter()
        .map(|(ns, op)| (*ns, op.kind, op.offset_bytes, op.size_bytes, op.file))
        .collect();
    // At most eight in 100 µs are in flight, so none waits.
    let expected: Vec<(u64, OpKind, u64, u32, u32)> = list
        .operations()
        .iter()
        .zip(&times)
        .map(|(op, ns)| (*ns, op.kind, op.offset_bytes, op.size_bytes, u32::from(op.file)))
        .collect();
    assert_eq!(found.len(), 60);
    let waits = found.iter().zip(&expected).filter(|(found, expected)| found != expected);
    // The burst has an operation each 1,001 ns, of which eight fit into a service time.
    let waits: Vec<_> = waits.map(|(found, expected)| (found.0 - expected.0, found.1)).collect();
    assert!(waits.iter().all(|(late_ns, _)| *late_ns > 0), "only times differ: {waits:?}");
    assert_eq!(waits.len(), 22, "of the 30 operations of the burst, all but the first eight");
    assert_eq!((sum.kinds[0].completed, sum.kinds[1].completed), (36, 12));
    assert_eq!(sum.kinds[2].completed, 12);
}

#[test]
fn lateness_is_part_of_the_response_time_and_what_is_not_sent_is_the_backlog() {
    let (lines, times) = lines();
    let mut run = replaying(&lines, &SETTINGS.replace("queue_depth = 8", "queue_depth = 1"));
    let service_ns = 20 * MS;
    // The run ends with the list, when a slow target has performed only a part of it.
    let short = replay(&run, service_ns);
    assert_eq!(short.sent.len() as u64, run.phases.total_ns().div_ceil(service_ns));
    assert_eq!(short.backlog_end, 60 - short.sent.len() as u64);
    // Long enough for all.
    run.phases.measure_ns = 2000 * MS;
    let Replayed { sent, sum, most_outstanding, backlog_end } = replay(&run, service_ns);
    assert_eq!((sent.len(), most_outstanding, backlog_end), (60, 1, 0));
    // A queue with one server, computed by hand.
    let (mut free_ns, mut responses) = (0, 0u128);
    for (time_ns, (sent_ns, _)) in times.iter().zip(&sent) {
        let begin_ns = u64::max(free_ns, *time_ns);
        assert_eq!(*sent_ns, begin_ns);
        free_ns = begin_ns + service_ns;
        responses += u128::from(free_ns - time_ns);
    }
    let found: u128 = sum.kinds.iter().map(|kind| kind.response.sum_ns).sum();
    assert_eq!(found, responses);
    assert_eq!(sum.outstanding_time_ns + sum.backlog_time_ns, found, "Little's law");
}

#[test]
fn as_fast_as_possible_the_queue_is_full_and_the_list_starts_again() {
    let (lines, _) = lines();
    let settings = "replay = { list = 'l', speed = 'max' }\nqueue_depth = 4\n[run]\n\
                    interval = '10ms'\nmeasure = '100ms'\nwarm_up = '0s'\n";
    let run = replaying(&lines, settings);
    let list = run.streams[0].replay.as_ref().expect("it replays").source().expect("a list");
    let Replayed { sent, most_outstanding, .. } = replay(&run, MS);
    assert_eq!((sent.len(), most_outstanding), (400, 4));
    for (number, (ns, op)) in sent.iter().enumerate() {
        let listed = list.operations()[number % 60];
        assert_eq!((*ns, op.index), (number as u64 / 4 * MS, number as u64));
        assert_eq!((op.kind, op.offset_bytes), (listed.kind, listed.offset_bytes));
    }
}

#[test]
fn real_files_are_read_and_written_as_listed_and_keep_recognisable_data() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let (even, _) = lines();
    // Offsets and sizes that are no multiples of anything.
    let odd: String = (0..40)
        .map(|n| format!("{} write {} {} {}\n", n * 100_000, n % 2, n * 977, n * 313 + 1))
        .collect();
    for (lines, settings) in [(&even, SETTINGS), (&odd, SETTINGS)] {
        let mut run = replaying(lines, settings);
        // Long enough for a busy machine to send everything, however late.
        run.phases.measure_ns += 2000 * MS;
        fill(folder.path(), &run);
        let stream = &run.streams[0];
        let replay = stream.replay.as_ref().expect("it replays");
        for engine in [IoMethodUsed::IoUring, IoMethodUsed::Psync] {
            let (intervals, end) =
                measure(&run, Some(folder.path()), &Setting { engine, verify: true });
            assert_eq!(
                (end.outcome, end.details),
                (metrics::run_record::Outcome::Done, Vec::new())
            );
            let sum = sum(&intervals, 0);
            assert_eq!(OpKind::DATA.map(|kind| sum.kinds[kind].completed), replay.operations);
            let moved = [OpKind::Read, OpKind::Write].map(|kind| sum.kinds[kind].bytes);
            assert_eq!(moved, replay.bytes);
            // Every tile is that of its file and offset, in the generation of the fill or of a write.
            let mut paths = file_paths(folder.path(), stream).into_iter();
            for set in stream.file_sets() {
                let maker = set.tile_maker(DATA_SEED);
                let mut scratch = vec![0; maker.tile_bytes()];
                for index in 0..set.files {
                    let path = paths.next().expect("a path for each file");
                    let data = std::fs::read(path).expect("the file is there");
                    assert_eq!(data.len() as u64, set.file_size_bytes);
                    for (at, tile) in data.chunks(maker.tile_bytes()).enumerate() {
                        let offset = (at * maker.tile_bytes()) as u64;
                        let found = maker.inspect(index, offset, tile, &mut scratch);
                        let is_good = matches!(found, workload::data::TileFound::Good { .. });
                        assert!(is_good, "{engine:?}, file {index}, offset {offset}: {found:?}");
                    }
                }
            }
        }
    }
}

#[test]
fn damaged_data_is_found_by_verified_reads_with_its_file_and_offset() {
    // Of blocks, and of bytes whose writes write the fill's data again.
    let blocks = "0 write 0 0 4096\n1000 read 0 0 16384\n2000 read 1 0 8192\n";
    let bytes = "0 write 0 5 7\n1000 read 0 1 16000\n2000 read 1 0 8192\n";
    let settings = "replay = { list = 'l', speed = 'max' }\nqueue_depth = 1\n[run]\n\
                    interval = '10ms'\nmeasure = '100ms'\nwarm_up = '0s'\n";
    for lines in [blocks, bytes] {
        let folder = tempfile::tempdir().expect("a temporary directory");
        let run = replaying(lines, settings);
        fill(folder.path(), &run);
        let setting = Setting { engine: IoMethodUsed::Psync, verify: true };
        let found = |damage: &[u8]| {
            let paths = file_paths(folder.path(), &run.streams[0]);
            let path = &paths[paths.len() - 1];
            let mut data = std::fs::read(path).expect("the file is there");
            data[9000..9000 + damage.len()].copy_from_slice(damage);
            std::fs::write(path, data).expect("it is written");
            let (intervals, end) = measure(&run, Some(folder.path()), &setting);
            let read = sum(&intervals, 0).kinds[OpKind::Read].clone();
            assert!(read.completed > 0, "{lines}");
            (read.failed_total(), end.mismatches)
        };
        assert_eq!(found(&[]), (0, Vec::new()), "{lines}");
        let (failed, mismatches) = found(b"damaged!");
        assert!(failed > 0, "{lines}");
        assert_eq!(mismatches.len(), 1, "only the damaged block: {mismatches:?}");
        assert!(mismatches[0].contains("offset 8192"), "{mismatches:?}");
    }
}
