//! Runs on an NFS export served in this process by the emulated volume: outstanding operations by
//! connection, equal counts on both sides, and the failure of the service during a run.
#![expect(clippy::expect_used, reason = "a failed step fails its test")]

#[expect(dead_code, reason = "other tests use the rest")]
mod runs;
mod served;

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use engine::drive::Stop;
use engine::request::Request;
use engine::run::{RunEnd, run};
use metrics::interval::Interval;
use metrics::run_record::Outcome;
use runs::{DATA_SEED, small_run, sum};
use served::service;
use target::directory::TargetDirectory;
use target::inventory::RequiredFiles;
use target::nfs::NfsUrl;
use target::refusal::Overrides;
use target::survey;
use volume::counters::{Counters, Procedure};
use volume::shell::Running;
use workload::op::OpKind;
use workload::plan::{IoMethodUsed, Run, WeightedSize, WriteStability};

/// Longer than one turn of an epoll loop on a busy machine, so that all calls of a round overlap.
const DELAY: Duration = Duration::from_millis(5);

/// The run's filled files.
fn prepared(service: &Running, options: &str, run: &Run) -> TargetDirectory {
    let port = service.addresses()[0].port();
    let url: NfsUrl = format!("nfs://127.0.0.1:{port}/vol1?mountport={port}&{options}")
        .parse()
        .expect("it is a URL");
    let wanted = RequiredFiles {
        file_sets: run.streams.iter().map(|stream| stream.file_set()).collect(),
        trees: Vec::new(),
        data_seed: DATA_SEED,
        direct_transfer_min_bytes: None,
    };
    let mut ours =
        survey::open(&url, wanted, Overrides::default()).expect("the export can be used");
    for set in ours.file_sets().to_vec() {
        ours.fill(&set, &|| false, &mut |_, _| {}).expect("there is enough space");
    }
    ours
}

fn measured(
    run_of: &Run,
    ours: &TargetDirectory,
    verify: bool,
    on_interval: &mut dyn FnMut(&Interval),
) -> (Vec<Interval>, RunEnd) {
    let assignment = run_of.split().remove(0);
    let request = Request {
        assignment: &assignment,
        targets: vec![ours.run_target().expect("the files exist")],
        io_method: IoMethodUsed::NfsClient,
        pin: false,
        verify,
        data_seed: DATA_SEED,
    };
    let mut intervals = Vec::new();
    let end = run(&request, &Arc::new(Stop::new()), None, &mut |interval| {
        on_interval(&interval);
        intervals.push(interval);
        ControlFlow::Continue(())
    });
    (intervals, end.expect("the run can be started"))
}

/// The service's counters of each of the run's connections, in the order of their numbers.
fn flows(service: &Running, intervals: &[Interval]) -> Vec<Counters> {
    let snapshot = service.snapshot().expect("the service runs");
    let all: BTreeMap<&str, &Counters> = snapshot.counters.flows().collect();
    let last = intervals.last().expect("there are intervals");
    let name = |c: &metrics::connection::ConnectionInterval| format!("{}-{}", c.local, c.remote);
    last.connections.iter().map(|c| all[name(c).as_str()].clone()).collect()
}

#[test]
fn a_queue_of_64_over_four_connections_is_16_on_each_and_counted_equally_by_both_sides() {
    let service = service(DELAY);
    let mut run = small_run();
    run.streams[0].queue_depth = 64;
    run.streams[0].write_stability = Some(WriteStability::FileSync);
    run.phases.measure_ns = 400_000_000;
    let ours = prepared(&service, "nconnect=4", &run);
    let (intervals, end) = measured(&run, &ours, false, &mut |_| {});
    assert_eq!(RunEnd { started_late_ns: None, ..end }, RunEnd::of(Outcome::Done));

    let flows = flows(&service, &intervals);
    assert_eq!(flows.iter().map(|flow| flow.outstanding_max).collect::<Vec<_>>(), [16; 4]);
    for (number, flow) in flows.iter().enumerate() {
        let of = |kind: OpKind| {
            let parts = intervals.iter().map(|i| i.connections[number].kinds[kind as usize]);
            parts.fold((0, 0, 0), |sum, part| {
                (sum.0 + part.operations, sum.1 + part.calls, sum.2 + part.bytes)
            })
        };
        let (reads, writes) = (flow.of(Procedure::Read), flow.of(Procedure::Write));
        assert_eq!(of(OpKind::Read), (reads, reads, flow.read_bytes));
        assert_eq!(of(OpKind::Write), (writes, writes, flow.written_bytes));
        assert!(reads > 0 && writes > 0);
    }
    let all = sum(&intervals, 0);
    let reported =
        |kind: OpKind| (all.kinds[kind as usize].completed, all.kinds[kind as usize].bytes);
    let total = |number: fn(&Counters) -> u64| flows.iter().map(number).sum::<u64>();
    let read = (total(|f| f.of(Procedure::Read)), total(|f| f.read_bytes));
    let written = (total(|f| f.of(Procedure::Write)), total(|f| f.written_bytes));
    assert_eq!((reported(OpKind::Read), reported(OpKind::Write)), (read, written));
    service.stop().expect("the service was running");
}

#[test]
fn connections_are_distributed_over_workers_with_one_each_by_default() {
    let service = service(DELAY);
    let mut run = small_run();
    run.streams[0].workers = 3;
    run.phases.measure_ns = 100_000_000;
    for (options, own, expected) in [
        ("nconnect=5", None, vec![1, 2, 2]),
        ("", None, vec![1, 1, 1]),
        ("nconnect=5", Some(7), vec![2, 2, 3]),
        ("", Some(4), vec![1, 1, 2]),
    ] {
        run.connections = own;
        let ours = prepared(&service, options, &run);
        let (intervals, end) = measured(&run, &ours, false, &mut |_| {});
        assert_eq!(end.outcome, Outcome::Done, "{end:?}");
        let of_lane = |lane| intervals[0].connections.iter().filter(|c| c.lane == lane).count();
        assert_eq!((0..3).map(of_lane).collect::<Vec<_>>(), expected);
    }
}

#[test]
fn data_written_over_nfs_is_read_back_with_every_stability() {
    let service = service(DELAY);
    for stability in [WriteStability::Unstable, WriteStability::DataSync, WriteStability::FileSync]
    {
        let mut run = small_run();
        run.streams[0].write_stability = Some(stability);
        run.streams[0].fsync_every_writes = Some(5);
        run.streams[0].queue_depth = 16;
        let ours = prepared(&service, "nconnect=2", &run);
        let (intervals, end) = measured(&run, &ours, true, &mut |_| {});
        assert_eq!(RunEnd { started_late_ns: None, ..end }, RunEnd::of(Outcome::Done));
        let all = sum(&intervals, 0);
        assert!(all.kinds.iter().all(|kind| kind.completed > 0 && kind.failed_total() == 0));
    }
}

#[test]
fn no_call_is_outstanding_while_the_data_of_its_operation_is_generated_or_verified() {
    let service = service(DELAY);
    let mut run = small_run();
    run.streams[0].transfer_sizes = vec![WeightedSize { size_bytes: 64 << 10, weight: 1 }];
    run.streams[0].queue_depth = 32;
    run.streams[0].write_stability = Some(WriteStability::FileSync);
    for verify in [false, true] {
        let ours = prepared(&service, "", &run);
        let (intervals, end) = measured(&run, &ours, verify, &mut |_| {});
        assert_eq!(end.outcome, Outcome::Done, "{end:?}");
        // One call for each operation: sent after the operation was issued and answered before it
        // completed, by the same clock.
        let all = sum(&intervals, 0);
        let connections = || intervals.iter().flat_map(|interval| &interval.connections);
        let calls: u64 = connections().flat_map(|c| &c.kinds).map(|kind| kind.calls).sum();
        assert_eq!(calls, all.completed());
        let calls_ns: u128 = connections().map(|c| c.outstanding_time_ns).sum();
        assert!(calls_ns <= all.outstanding_time_ns, "{calls_ns}: {}", all.outstanding_time_ns);
    }
}

#[test]
fn a_service_that_fails_during_a_run_ends_it_as_failed_with_the_outstanding_operations() {
    let service = service(DELAY);
    let mut run = small_run();
    run.phases.measure_ns = 60_000_000_000;
    run.operation_deadline_ns = 500_000_000;
    let ours = prepared(&service, "nconnect=2", &run);
    let mut service = Some(service);
    let (intervals, end) = measured(&run, &ours, false, &mut |interval| {
        if interval.index == 1 {
            drop(service.take());
        }
    });
    let Outcome::Failed { reason } = &end.outcome else { panic!("{end:?}") };
    assert!(reason.contains("did not return within their deadline"), "{reason}");
    assert!(
        end.details.iter().any(|detail| detail.contains("has been outstanding for")),
        "{end:?}"
    );
    assert!(sum(&intervals, 0).completed() > 0, "earlier measurements are kept");
}
