//! Whole runs on real files, with both engines.

mod runs;

use std::fs::OpenOptions;
use std::ops::ControlFlow;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use engine::drive::Stop;
use engine::place::{Place, file_paths};
use engine::run::{EngineError, Request, run};
use metrics::run_record::Outcome;
use runs::{DATA_SEED, Setting, fill, measure, small_run, sum};
use workload::arrival::Arrival;
use workload::op::OpKind;
use workload::outcome::ErrorKind;
use workload::plan::{EngineChoice, Phases};

const ENGINES: [EngineChoice; 2] = [EngineChoice::IoUring, EngineChoice::Psync];

#[test]
fn a_run_reads_and_writes_and_nothing_is_lost_from_the_accounts() {
    for engine in ENGINES {
        let directory = tempfile::tempdir().expect("a directory");
        let mut small = small_run();
        small.streams[0].fsync_every_writes = Some(4);
        fill(directory.path(), &small);
        let (intervals, end) =
            measure(&small, Some(directory.path()), &Setting { engine, verify: false });
        assert_eq!(end.outcome, Outcome::Done);
        for (place, interval) in intervals.iter().enumerate() {
            assert_eq!(interval.index as usize, place, "a series has no gaps");
            assert!(interval.streams[0].is_balanced());
            if place > 0 {
                assert_eq!(interval.start_ns, intervals[place - 1].end_ns);
                assert_eq!(
                    interval.streams[0].outstanding_start,
                    intervals[place - 1].streams[0].outstanding_end
                );
            }
        }
        let all = sum(&intervals, 0);
        for kind in OpKind::ALL {
            assert!(all.kinds[kind as usize].completed > 0, "{kind:?} with {engine:?}");
        }
        assert_eq!(all.failed(), 0);
        assert_eq!(all.issued, all.completed());
        let writes = all.kinds[OpKind::Write as usize].completed;
        assert_eq!(all.kinds[OpKind::Write as usize].bytes, writes * 4096);
        assert_eq!(all.kinds[OpKind::Write as usize].service.total(), writes);
        assert_eq!(all.kinds[OpKind::Write as usize].response.total(), writes);
    }
}

#[test]
fn little_holds_on_every_interval_of_a_closed_loop() {
    let directory = tempfile::tempdir().expect("a directory");
    let small = small_run();
    fill(directory.path(), &small);
    let setting = Setting { engine: EngineChoice::IoUring, verify: false };
    let (intervals, _) = measure(&small, Some(directory.path()), &setting);
    let all = sum(&intervals, 0);
    // Over the whole run nothing is outstanding at either end, so the law is an identity.
    let service_ns: u128 = all.kinds.iter().map(|kind| kind.service.sum_ns).sum();
    assert_eq!(all.outstanding_time_ns, service_ns);
}

#[test]
fn what_was_written_in_the_run_is_verified_by_its_generation() {
    for engine in ENGINES {
        let directory = tempfile::tempdir().expect("a directory");
        let small = small_run();
        fill(directory.path(), &small);
        let (intervals, end) =
            measure(&small, Some(directory.path()), &Setting { engine, verify: true });
        assert_eq!((end.outcome, end.mismatches), (Outcome::Done, Vec::new()));
        assert_eq!(sum(&intervals, 0).failed(), 0);
        // A second run finds the generations of the first one, whole and in their places.
        let mut again = small.clone();
        again.seed += 1;
        let (intervals, _) =
            measure(&again, Some(directory.path()), &Setting { engine, verify: true });
        assert_eq!(sum(&intervals, 0).failed(), 0);
    }
}

#[test]
fn planted_corruption_is_found_with_file_offset_expected_and_found() {
    for engine in ENGINES {
        let directory = tempfile::tempdir().expect("a directory");
        let mut small = small_run();
        small.streams[0].read_permille = 1000;
        fill(directory.path(), &small);
        let paths = file_paths(directory.path(), &small.streams[0]);
        let file = OpenOptions::new().read(true).write(true).open(&paths[1]).expect("the file");
        let place = 37 * 4096 + 1000;
        let mut byte = [0];
        file.read_exact_at(&mut byte, place).expect("the byte is there");
        file.write_all_at(&[byte[0] ^ 0x40], place).expect("it can be changed");

        let (intervals, end) =
            measure(&small, Some(directory.path()), &Setting { engine, verify: true });
        let failed = sum(&intervals, 0).kinds[0].failed[ErrorKind::Corrupt as usize];
        assert!(failed > 0, "{engine:?} read every tile many times over");
        let told = format!(
            "small-1048576-0001.data file 1, offset {}: expected the tile that belongs there, of \
             any generation, found byte {:#04x} instead of {:#04x} at offset {place}",
            37 * 4096,
            byte[0] ^ 0x40,
            byte[0]
        );
        assert!(end.mismatches.iter().any(|detail| detail.contains(&told)), "{:?}", end.mismatches);
    }
}

#[test]
fn a_lost_write_is_found_though_the_tile_is_whole() {
    // The file is replaced behind the run's back by what the fill wrote: every tile is whole and in
    // its place, but writes that were acknowledged are gone.
    let directory = tempfile::tempdir().expect("a directory");
    let mut small = small_run();
    small.streams[0].working_set.files = 1;
    small.phases.measure_ns = 400_000_000;
    fill(directory.path(), &small);
    let path = file_paths(directory.path(), &small.streams[0]).remove(0);
    let filled = std::fs::read(&path).expect("the file");
    let assignment = small.split(1).remove(0);
    let request = Request {
        assignment: &assignment,
        place: Place::Directory(directory.path().to_owned()),
        engine: EngineChoice::IoUring,
        pin: false,
        verify: true,
        data_seed: DATA_SEED,
    };
    let mut intervals = Vec::new();
    let end = run(&request, &Arc::new(Stop::new()), None, &mut |interval| {
        if interval.index == 1 {
            let file = OpenOptions::new().write(true).open(&path).expect("the file");
            file.write_all_at(&filled, 0).expect("it can be overwritten");
        }
        intervals.push(interval);
        ControlFlow::Continue(())
    })
    .expect("the run can be started");
    assert!(sum(&intervals, 0).kinds[0].failed[ErrorKind::Corrupt as usize] > 0);
    assert!(
        end.mismatches
            .iter()
            .any(|d| d.contains("expected generation 0x")
                && d.contains("found generation 0x00000000")),
        "{:?}",
        end.mismatches
    );
}

#[test]
fn a_file_that_shrinks_under_the_run_gives_short_reads() {
    for engine in ENGINES {
        let directory = tempfile::tempdir().expect("a directory");
        let mut small = small_run();
        small.streams[0].read_permille = 1000;
        fill(directory.path(), &small);
        let path = file_paths(directory.path(), &small.streams[0]).remove(0);
        let file = OpenOptions::new().write(true).open(path).expect("the file");
        file.set_len(300_000).expect("it can be shortened");
        let (intervals, _) =
            measure(&small, Some(directory.path()), &Setting { engine, verify: false });
        let all = sum(&intervals, 0);
        assert!(all.kinds[0].failed[ErrorKind::Short as usize] > 0);
        assert_eq!(all.issued, all.completed() + all.failed());
    }
}

#[test]
fn a_missing_file_is_an_error_that_names_stream_and_path() {
    let directory = tempfile::tempdir().expect("a directory");
    let small = small_run();
    let assignment = small.split(1).remove(0);
    let request = Request {
        assignment: &assignment,
        place: Place::Directory(directory.path().to_owned()),
        engine: EngineChoice::IoUring,
        pin: false,
        verify: false,
        data_seed: DATA_SEED,
    };
    let error = run(&request, &Arc::new(Stop::new()), None, &mut |_| ControlFlow::Continue(()))
        .expect_err("there is no file");
    assert!(matches!(error, EngineError::Target { .. }));
    let text = error.to_string();
    assert!(text.contains("stream small") && text.contains("small-1048576-0000.data"), "{text}");
}

#[test]
fn the_first_wish_to_stop_finishes_the_interval() {
    let mut small = small_run();
    small.phases.measure_ns = 3_600_000_000_000;
    let assignment = small.split(1).remove(0);
    let request = Request {
        assignment: &assignment,
        place: Place::Null,
        engine: EngineChoice::IoUring,
        pin: false,
        verify: false,
        data_seed: DATA_SEED,
    };
    let stop = Arc::new(Stop::new());
    let mut intervals = Vec::new();
    let end = run(&request, &stop, None, &mut |interval| {
        if interval.index == 2 {
            stop.finish_interval();
        }
        intervals.push(interval);
        ControlFlow::Continue(())
    })
    .expect("the null target can be run");
    assert_eq!(end.outcome, Outcome::Interrupted);
    let whole = intervals.iter().filter(|i| i.end_ns - i.start_ns == small.phases.interval_ns);
    assert!(whole.count() >= 4, "the interval in which it was wished for is whole: {intervals:?}");
    assert_eq!(sum(&intervals, 0).issued, sum(&intervals, 0).completed());
}

#[test]
fn an_open_loop_on_real_files_accounts_for_all_that_is_due_whatever_the_engine() {
    for engine in ENGINES {
        let directory = tempfile::tempdir().expect("a directory");
        let mut small = small_run();
        small.streams[0].arrival = Arrival::Constant { offered_rate: 1000.0 };
        small.streams[0].workers = 2;
        fill(directory.path(), &small);
        let (intervals, _) =
            measure(&small, Some(directory.path()), &Setting { engine, verify: false });
        // 200 ms at 1,000/s: operations 0 to 199 are due before the end, neither more nor fewer;
        // a disk that stalls leaves some of them undone.
        let all = sum(&intervals, 0);
        let left = intervals.last().map_or(0, |i| i.streams[0].backlog_end);
        assert_eq!(all.issued + left, 200, "{engine:?}");
        assert!(all.completed() > 0, "{engine:?}");
    }
}

#[test]
fn threads_beyond_the_limit_are_refused_with_the_remedy() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut small = small_run();
    small.streams[0].queue_depth = 512;
    small.streams[0].workers = 8;
    let assignment = small.split(1).remove(0);
    let request = Request {
        assignment: &assignment,
        place: Place::Directory(directory.path().to_owned()),
        engine: EngineChoice::Psync,
        pin: false,
        verify: false,
        data_seed: DATA_SEED,
    };
    let error = run(&request, &Arc::new(Stop::new()), None, &mut |_| ControlFlow::Continue(()))
        .expect_err("4,096 threads are too many");
    assert!(error.to_string().contains("needs 4096 threads"), "{error}");
}

#[test]
fn blocking_threads_keep_the_order_of_writes_and_fsyncs_of_their_lane() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut small = small_run();
    small.streams[0].read_permille = 0;
    small.streams[0].queue_depth = 2;
    small.streams[0].fsync_every_writes = Some(1);
    fill(directory.path(), &small);
    let setting = Setting { engine: EngineChoice::Psync, verify: false };
    let (intervals, _) = measure(&small, Some(directory.path()), &setting);
    let all = sum(&intervals, 0);
    let writes = all.kinds[OpKind::Write as usize].completed;
    let fsyncs = all.kinds[OpKind::Fsync as usize].completed;
    assert!(writes > 0 && writes.abs_diff(fsyncs) <= 2, "{writes} writes, {fsyncs} fsyncs");
}

#[test]
fn a_worker_that_has_nothing_to_do_is_not_taken_for_one_that_hangs() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut small = small_run();
    small.streams[0].arrival = Arrival::Constant { offered_rate: 1.0 };
    small.phases = Phases { warm_up_ns: 0, measure_ns: 1_200_000_000, interval_ns: 400_000_000 };
    small.operation_deadline_ns = 100_000_000;
    fill(directory.path(), &small);
    for engine in ENGINES {
        let setting = Setting { engine, verify: false };
        let (intervals, end) = measure(&small, Some(directory.path()), &setting);
        assert_eq!(end.outcome, Outcome::Done, "{engine:?}: {:?}", end.details);
        assert_eq!(sum(&intervals, 0).completed(), 2);
    }
}

#[test]
fn a_file_that_is_removed_under_the_run_fails_it() {
    for engine in ENGINES {
        let directory = tempfile::tempdir().expect("a directory");
        let small = small_run();
        fill(directory.path(), &small);
        let path = file_paths(directory.path(), &small.streams[0]).remove(1);
        let assignment = small.split(1).remove(0);
        let request = Request {
            assignment: &assignment,
            place: Place::Directory(directory.path().to_owned()),
            engine,
            pin: false,
            verify: false,
            data_seed: DATA_SEED,
        };
        let end = run(&request, &Arc::new(Stop::new()), None, &mut |interval| {
            if interval.index == 0 {
                std::fs::remove_file(&path).expect("it is there");
            }
            ControlFlow::Continue(())
        })
        .expect("the run can be started");
        let Outcome::Failed { reason } = end.outcome else { panic!("{engine:?}: {end:?}") };
        assert!(reason.contains("small-1048576-0001.data was removed or replaced"), "{reason}");
    }
}

#[test]
fn a_link_in_the_place_of_a_file_is_not_followed_and_not_written() {
    for (engine, is_hard) in [(ENGINES[0], false), (ENGINES[1], false), (ENGINES[0], true)] {
        let directory = tempfile::tempdir().expect("a directory");
        let small = small_run();
        fill(directory.path(), &small);
        let path = file_paths(directory.path(), &small.streams[0]).remove(0);
        let precious = directory.path().join("precious");
        std::fs::rename(&path, &precious).expect("it can be renamed");
        let before = std::fs::read(&precious).expect("it can be read");
        if is_hard {
            std::fs::hard_link(&precious, &path).expect("a second name");
        } else {
            std::os::unix::fs::symlink(&precious, &path).expect("a link");
        }
        let assignment = small.split(1).remove(0);
        let request = Request {
            assignment: &assignment,
            place: Place::Directory(directory.path().to_owned()),
            engine,
            pin: false,
            verify: false,
            data_seed: DATA_SEED,
        };
        let refused =
            run(&request, &Arc::new(Stop::new()), None, &mut |_| ControlFlow::Continue(()));
        assert!(matches!(refused, Err(EngineError::Target { .. })), "{refused:?}");
        assert!(std::fs::read(&precious).expect("it can be read") == before);
    }
}
