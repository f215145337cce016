//! Complete runs on real files with both engines.

mod runs;

use std::fs::OpenOptions;
use std::ops::ControlFlow;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use engine::drive::Stop;
use engine::request::{EngineError, Request};
use engine::run::run;
use metrics::run_record::Outcome;
use runs::{DATA_SEED, Setting, file_paths, fill, measure, small_run, sum};
use target::null::NullTarget;
use target::posix::PosixTarget;
use workload::arrival::{Arrival, Process};
use workload::op::OpKind;
use workload::outcome::ErrorKind;
use workload::plan::{IoMethodUsed, Phases};
use workload::rate_schedule::{RateSchedule, Segment, SegmentRate};

const ENGINES: [IoMethodUsed; 2] = [IoMethodUsed::IoUring, IoMethodUsed::Psync];

#[test]
fn a_run_reads_and_writes_and_accounts_for_every_operation() {
    for engine in ENGINES {
        let directory = tempfile::tempdir().expect("a directory");
        let mut small = small_run();
        small.streams[0].fsync_every_writes = Some(4);
        fill(directory.path(), &small);
        let (intervals, end) =
            measure(&small, Some(directory.path()), &Setting { engine, verify: false });
        assert_eq!(end.outcome, Outcome::Done);
        for (index, interval) in intervals.iter().enumerate() {
            assert_eq!(interval.index as usize, index, "a series has no gaps");
            assert!(interval.streams[0].is_balanced());
            if index > 0 {
                assert_eq!(interval.start_ns, intervals[index - 1].end_ns);
                assert_eq!(
                    interval.streams[0].outstanding_start,
                    intervals[index - 1].streams[0].outstanding_end
                );
            }
        }
        let all = sum(&intervals, 0);
        for kind in [OpKind::Read, OpKind::Write, OpKind::Fsync] {
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
fn littles_law_holds_in_every_interval_of_a_closed_loop() {
    let directory = tempfile::tempdir().expect("a directory");
    let small = small_run();
    fill(directory.path(), &small);
    let setting = Setting { engine: IoMethodUsed::IoUring, verify: false };
    let (intervals, _) = measure(&small, Some(directory.path()), &setting);
    let all = sum(&intervals, 0);
    // Over the whole run nothing is outstanding at either end, so the law holds exactly.
    let service_ns: u128 = all.kinds.iter().map(|kind| kind.service.sum_ns).sum();
    assert_eq!(all.outstanding_time_ns, service_ns);
}

#[test]
fn data_written_in_the_run_is_verified_by_its_generation() {
    for engine in ENGINES {
        let directory = tempfile::tempdir().expect("a directory");
        let small = small_run();
        fill(directory.path(), &small);
        let (intervals, end) =
            measure(&small, Some(directory.path()), &Setting { engine, verify: true });
        assert_eq!((end.outcome, end.mismatches), (Outcome::Done, Vec::new()));
        assert_eq!(sum(&intervals, 0).failed(), 0);
        // A second run finds the generations of the first one, complete and in place.
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
        let at = 37 * 4096 + 1000;
        let mut byte = [0];
        file.read_exact_at(&mut byte, at).expect("the byte is there");
        file.write_all_at(&[byte[0] ^ 0x40], at).expect("the byte can be changed");

        let (intervals, end) =
            measure(&small, Some(directory.path()), &Setting { engine, verify: true });
        let failed = sum(&intervals, 0).kinds[0].failed[ErrorKind::Corrupt as usize];
        assert!(failed > 0, "{engine:?} read every tile many times over");
        let expected = format!(
            "small-1048576-0001.data file 1, offset {}: expected this tile in any generation, \
             found byte {:#04x} instead of {:#04x} at offset {at}",
            37 * 4096,
            byte[0] ^ 0x40,
            byte[0]
        );
        assert!(
            end.mismatches.iter().any(|detail| detail.contains(&expected)),
            "{:?}",
            end.mismatches
        );
    }
}

#[test]
fn a_lost_write_is_found_although_the_tile_is_valid() {
    // During the run the file is overwritten with the fill's data: every tile is valid and in its
    // place, but acknowledged writes are lost.
    let directory = tempfile::tempdir().expect("a directory");
    let mut small = small_run();
    small.streams[0].working_set.files = 1;
    small.phases.measure_ns = 400_000_000;
    fill(directory.path(), &small);
    let path = file_paths(directory.path(), &small.streams[0]).remove(0);
    let filled = std::fs::read(&path).expect("the file");
    let assignment = small.split().remove(0);
    let request = Request {
        assignment: &assignment,
        targets: vec![Arc::new(PosixTarget::new(directory.path().to_owned()))],
        io_method: IoMethodUsed::IoUring,
        pin: false,
        verify: true,
        data_seed: DATA_SEED,
    };
    let mut intervals = Vec::new();
    let end = run(&request, &Arc::new(Stop::new()), None, &mut |interval| {
        if interval.index == 1 {
            let file = OpenOptions::new().write(true).open(&path).expect("the file");
            file.write_all_at(&filled, 0).expect("the file can be overwritten");
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
fn a_file_that_shrinks_during_the_run_gives_short_reads() {
    for engine in ENGINES {
        let directory = tempfile::tempdir().expect("a directory");
        let mut small = small_run();
        small.streams[0].read_permille = 1000;
        fill(directory.path(), &small);
        let path = file_paths(directory.path(), &small.streams[0]).remove(0);
        let file = OpenOptions::new().write(true).open(path).expect("the file");
        file.set_len(300_000).expect("the file can be shortened");
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
    let assignment = small.split().remove(0);
    let request = Request {
        assignment: &assignment,
        targets: vec![Arc::new(PosixTarget::new(directory.path().to_owned()))],
        io_method: IoMethodUsed::IoUring,
        pin: false,
        verify: false,
        data_seed: DATA_SEED,
    };
    let error = run(&request, &Arc::new(Stop::new()), None, &mut |_| ControlFlow::Continue(()))
        .expect_err("the file does not exist");
    assert!(matches!(error, EngineError::Target { .. }));
    let text = error.to_string();
    assert!(text.contains("stream small") && text.contains("small-1048576-0000.data"), "{text}");
}

#[test]
fn the_first_request_to_stop_finishes_the_interval() {
    let mut small = small_run();
    small.phases.measure_ns = 3_600_000_000_000;
    let assignment = small.split().remove(0);
    let request = Request {
        assignment: &assignment,
        targets: vec![Arc::new(NullTarget)],
        io_method: IoMethodUsed::IoUring,
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
    assert!(whole.count() >= 4, "the interval of the request is complete: {intervals:?}");
    assert_eq!(sum(&intervals, 0).issued, sum(&intervals, 0).completed());
}

/// Eight threads share a lane, and one of them counts what is due.
#[test]
fn the_backlog_of_an_open_loop_that_is_stopped_immediately_is_never_negative() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut small = small_run();
    small.phases.measure_ns = 3_600_000_000_000;
    small.streams[0].queue_depth = 8;
    fill(directory.path(), &small);
    // Each thread is the first after the edge at one of these rates; none may be negative.
    let rates = [470.0, 476.7, 483.4, 490.1, 496.8, 503.5, 510.2, 516.9];
    for offered_rate in rates {
        small.streams[0].arrival = Arrival::Constant { offered_rate };
        let assignment = small.split().remove(0);
        let request = Request {
            assignment: &assignment,
            targets: vec![Arc::new(PosixTarget::new(directory.path().to_owned()))],
            io_method: IoMethodUsed::Psync,
            pin: false,
            verify: false,
            data_seed: DATA_SEED,
        };
        let stop = Arc::new(Stop::new());
        let mut intervals = Vec::new();
        run(&request, &stop, None, &mut |interval| {
            if interval.index == 2 {
                stop.now();
            }
            intervals.push(interval);
            ControlFlow::Continue(())
        })
        .expect("the files exist");
        for stream in intervals.iter().map(|interval| &interval.streams[0]) {
            // A negative number wraps.
            assert!(i64::try_from(stream.backlog_end).is_ok(), "{stream:?}");
            assert!(i128::try_from(stream.backlog_time_ns).is_ok(), "{stream:?}");
        }
        let all = sum(&intervals, 0);
        assert_eq!(all.issued, all.completed());
    }
}

/// Operations of two workers that became due in a run of 200 ms: issued ones and those left at its end,
/// which a disk that stalls leaves.
fn due_operations(engine: IoMethodUsed, arrival: Arrival) -> u64 {
    let directory = tempfile::tempdir().expect("a directory");
    let mut small = small_run();
    small.streams[0].arrival = arrival;
    small.streams[0].workers = 2;
    fill(directory.path(), &small);
    let (intervals, _) =
        measure(&small, Some(directory.path()), &Setting { engine, verify: false });
    let all = sum(&intervals, 0);
    assert!(all.completed() > 0, "{engine:?}");
    all.issued + intervals.last().map_or(0, |i| i.streams[0].backlog_end)
}

#[test]
fn an_open_loop_on_real_files_accounts_for_all_due_operations_with_both_engines() {
    for engine in ENGINES {
        let due = due_operations(engine, Arrival::Constant { offered_rate: 1000.0 });
        // 200 ms at 1,000/s: exactly operations 0 to 199 are due before the end.
        assert_eq!(due, 200, "{engine:?}");
    }
}

/// Counts only, because the clock is real.
#[test]
fn a_schedule_on_real_files_accounts_for_all_due_operations_with_both_engines() {
    for (engine, process) in ENGINES.into_iter().zip([Process::Constant, Process::Poisson]) {
        let segments = [(2000.0, 60), (0.0, 60), (1000.0, 40)].map(|(rate, ms)| Segment {
            duration_ns: Some(ms * 1_000_000),
            rate: SegmentRate::Constant { rate },
        });
        let schedule = RateSchedule::try_from(segments.to_vec()).expect("it has a rate");
        let due = due_operations(engine, Arrival::Scheduled { schedule, process, part: 1.0 });
        match process {
            // 120 in the first burst, 40 in the second, and 80 in the 40 ms of the repetition.
            Process::Constant => assert_eq!(due, 240, "{engine:?}"),
            // Within five standard deviations: the seed is fixed.
            Process::Poisson => assert!((163..=317).contains(&due), "{due}"),
        }
    }
}

#[test]
fn threads_beyond_the_limit_are_refused_with_the_remedy() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut small = small_run();
    small.streams[0].queue_depth = 512;
    small.streams[0].workers = 8;
    let assignment = small.split().remove(0);
    let request = Request {
        assignment: &assignment,
        targets: vec![Arc::new(PosixTarget::new(directory.path().to_owned()))],
        io_method: IoMethodUsed::Psync,
        pin: false,
        verify: false,
        data_seed: DATA_SEED,
    };
    let error = run(&request, &Arc::new(Stop::new()), None, &mut |_| ControlFlow::Continue(()))
        .expect_err("4,096 threads are too many");
    assert!(error.to_string().contains("needs 4096 threads"), "{error}");
}

#[test]
fn blocking_threads_keep_the_order_of_writes_and_fsyncs_of_a_lane() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut small = small_run();
    small.streams[0].read_permille = 0;
    small.streams[0].queue_depth = 2;
    small.streams[0].fsync_every_writes = Some(1);
    fill(directory.path(), &small);
    let setting = Setting { engine: IoMethodUsed::Psync, verify: false };
    let (intervals, _) = measure(&small, Some(directory.path()), &setting);
    let all = sum(&intervals, 0);
    let writes = all.kinds[OpKind::Write as usize].completed;
    let fsyncs = all.kinds[OpKind::Fsync as usize].completed;
    assert!(writes > 0 && writes.abs_diff(fsyncs) <= 2, "{writes} writes, {fsyncs} fsyncs");
}

#[test]
fn an_idle_worker_does_not_count_as_hanging() {
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
fn a_file_removed_during_the_run_fails_it() {
    for engine in ENGINES {
        let directory = tempfile::tempdir().expect("a directory");
        let small = small_run();
        fill(directory.path(), &small);
        let path = file_paths(directory.path(), &small.streams[0]).remove(1);
        let assignment = small.split().remove(0);
        let request = Request {
            assignment: &assignment,
            targets: vec![Arc::new(PosixTarget::new(directory.path().to_owned()))],
            io_method: engine,
            pin: false,
            verify: false,
            data_seed: DATA_SEED,
        };
        let end = run(&request, &Arc::new(Stop::new()), None, &mut |interval| {
            if interval.index == 0 {
                std::fs::remove_file(&path).expect("the file exists");
            }
            ControlFlow::Continue(())
        })
        .expect("the run can be started");
        let Outcome::Failed { reason } = end.outcome else { panic!("{engine:?}: {end:?}") };
        assert!(reason.contains("small-1048576-0001.data was removed or replaced"), "{reason}");
    }
}

#[test]
fn a_link_that_replaces_a_file_is_neither_followed_nor_written() {
    for (engine, is_hard) in [(ENGINES[0], false), (ENGINES[1], false), (ENGINES[0], true)] {
        let directory = tempfile::tempdir().expect("a directory");
        let small = small_run();
        fill(directory.path(), &small);
        let path = file_paths(directory.path(), &small.streams[0]).remove(0);
        let precious = directory.path().join("precious");
        std::fs::rename(&path, &precious).expect("the file can be renamed");
        let before = std::fs::read(&precious).expect("it can be read");
        if is_hard {
            std::fs::hard_link(&precious, &path).expect("a second name");
        } else {
            std::os::unix::fs::symlink(&precious, &path).expect("a link");
        }
        let assignment = small.split().remove(0);
        let request = Request {
            assignment: &assignment,
            targets: vec![Arc::new(PosixTarget::new(directory.path().to_owned()))],
            io_method: engine,
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
