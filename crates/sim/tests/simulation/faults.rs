//! Errors are counted by kind and stop neither the run nor the accounting.

use metrics::run_record::{Outcome, RunRecord};
use sim::storage::{Demand, Effect, Fault, Model, NEVER_NS};
use sim::world::{Simulated, simulate_observed};
use workload::op::OpKind;
use workload::outcome::ErrorKind;
use workload::plan::Stream;

use crate::runs::{CLOSED, MS, S, assert_near, constant, poisson, reads, run, stream, whole};

/// A fault at all times and for all kinds of operations.
fn fault(probability: f64, effect: Effect) -> Fault {
    Fault { from_ns: 0, until_ns: u64::MAX, kind: None, probability, effect }
}

fn queue() -> Model {
    Model::queue(4, Demand::Exponential { mean_ns: 1e6 })
}

fn faulty(faults: Vec<Fault>, stream: Stream) -> Simulated {
    simulate_observed(&run(vec![stream], 10 * S, S), &Model { faults, ..queue() }, 9)
}

/// In each interval the operations in equal those out and those still outstanding.
fn assert_balanced(record: &RunRecord) {
    let mut outstanding = 0;
    for interval in &record.intervals {
        let stream = &interval.streams[0];
        assert_eq!(stream.outstanding_start, outstanding, "intervals join");
        let after = stream.completed() + stream.failed() + stream.outstanding_end;
        assert_eq!(stream.outstanding_start + stream.issued, after);
        outstanding = stream.outstanding_end;
    }
    assert_eq!(outstanding, 0, "nothing is outstanding at the end");
}

#[test]
fn every_kind_of_error_is_counted_as_that_kind() {
    let errors = [
        (5, ErrorKind::InputOutput),
        (28, ErrorKind::NoSpace),
        (122, ErrorKind::NoSpace),
        (30, ErrorKind::ReadOnly),
        (116, ErrorKind::Gone),
        (4, ErrorKind::Interrupted),
        (22, ErrorKind::Invalid),
        (110, ErrorKind::Other),
    ];
    for (errno, kind) in errors {
        let faults = vec![fault(0.1, Effect::Error { errno })];
        let simulated = faulty(faults, stream(CLOSED, 8));
        let struck = simulated.seen.iter().filter(|seen| seen.reply.result == -errno).count();
        let reads = reads(&simulated.record);
        assert_eq!(reads.failed[kind as usize], struck as u64, "{errno}");
        assert_eq!(reads.failed_total(), struck as u64, "no other kind");
        assert_near(struck as f64, simulated.seen.len() as f64 * 0.1, 0.05, "a tenth");
        assert_balanced(&simulated.record);
        assert_eq!(simulated.record.outcome, Outcome::Done);
    }
}

#[test]
fn errors_are_distinguished_by_operation_kind_and_time() {
    let faults = vec![
        Fault {
            kind: Some(OpKind::Write),
            from_ns: 2 * S,
            until_ns: 4 * S,
            ..fault(1.0, Effect::Error { errno: 28 })
        },
        fault(0.01, Effect::Error { errno: 5 }),
    ];
    let stream = Stream { read_permille: 700, ..stream(poisson(1000.0), 64) };
    let simulated = faulty(faults, stream);
    let whole = whole(&simulated.record, 0);
    let count = |kind: OpKind, result: i32| {
        let same = |seen: &&sim::world::Seen| seen.op.kind == kind && seen.reply.result == result;
        simulated.seen.iter().filter(same).count() as u64
    };
    for kind in [OpKind::Read, OpKind::Write] {
        let failed = &whole.kinds[kind as usize].failed;
        assert_eq!(failed[ErrorKind::NoSpace as usize], count(kind, -28));
        assert_eq!(failed[ErrorKind::InputOutput as usize], count(kind, -5));
        assert_eq!(whole.kinds[kind as usize].completed, count(kind, 8192));
        assert_eq!(whole.kinds[kind as usize].bytes, 8192 * count(kind, 8192));
    }
    assert_eq!(count(OpKind::Read, -28), 0);
    assert_near(count(OpKind::Write, -28) as f64, 600.0, 0.1, "0.3 of 2,000");
    assert_balanced(&simulated.record);
}

#[test]
fn short_reads_are_failures_whose_bytes_are_not_counted() {
    let simulated = faulty(vec![fault(0.2, Effect::Short)], stream(constant(500.0), 8));
    let reads = reads(&simulated.record);
    let short = simulated.seen.iter().filter(|seen| seen.reply.result == 4096).count() as u64;
    assert!(short > 800);
    assert_eq!(reads.failed[ErrorKind::Short as usize], short);
    assert_eq!(reads.bytes, reads.completed * 8192);
    assert_eq!(reads.completed + short, 5000);
    // Failures are not part of the times.
    assert_eq!(reads.service.total(), reads.completed);
    assert_eq!(reads.response.total(), reads.completed);
}

#[test]
fn an_operation_that_never_completes_is_abandoned_at_its_deadline_and_reported() {
    let never =
        Fault { from_ns: 3 * S + MS, until_ns: 3 * S + 11 * MS, ..fault(0.2, Effect::Never) };
    let mut run = run(vec![stream(constant(500.0), 64)], 60 * S, S);
    run.operation_deadline_ns = 5 * S;
    let model = Model { faults: vec![never], ..queue() };
    let simulated = simulate_observed(&run, &model, 2);
    let lost: Vec<_> =
        simulated.seen.iter().filter(|seen| seen.reply.completed_ns == NEVER_NS).collect();
    assert!(!lost.is_empty());
    assert!(matches!(&simulated.record.outcome, Outcome::Failed { reason } if
        reason.contains("deadline")));
    assert_eq!(simulated.overdue[0].op, lost[0].op, "the oldest first");
    assert_eq!(simulated.overdue[0].issued_ns, lost[0].issued_ns);
    // Noticed when the worker next checks after the deadline: here at the next operation's instant.
    let given_up_ns = simulated.record.intervals.last().unwrap().end_ns;
    let due_ns = lost[0].issued_ns + 5 * S;
    assert!((due_ns..due_ns + 2 * MS).contains(&given_up_ns), "{given_up_ns} against {due_ns}");
    let reads = reads(&simulated.record);
    assert!(reads.failed[ErrorKind::Deadline as usize] >= lost.len() as u64);
    assert_balanced(&simulated.record);
}

#[test]
fn when_one_worker_abandons_operations_the_others_stop_and_keep_their_measurements() {
    let never = Fault { from_ns: 3 * S, until_ns: 3 * S + MS, ..fault(1.0, Effect::Never) };
    let write = Fault { kind: Some(OpKind::Write), ..never };
    let reader = stream(CLOSED, 4);
    let writer = Stream { name: "log".to_owned(), read_permille: 0, ..stream(CLOSED, 2) };
    let mut run = run(vec![reader, writer], 60 * S, S);
    run.operation_deadline_ns = 2 * S;
    let model = Model { faults: vec![write], ..queue() };
    let simulated = simulate_observed(&run, &model, 2);
    assert!(matches!(simulated.record.outcome, Outcome::Failed { .. }));
    assert!(simulated.overdue.iter().all(|overdue| overdue.stream == 1));
    assert!(simulated.abandoned.is_empty());
    let reader = whole(&simulated.record, 0);
    assert_eq!(reader.failed(), 0, "the reader's outstanding operations completed");
    assert!(reader.completed() > 10_000);
    assert!(simulated.record.intervals.len() <= 7);
}

#[test]
fn an_operation_left_behind_at_the_end_of_the_run_does_not_count_as_overdue() {
    // Both workers lose operations, the reader too late to reach its deadline before the end.
    let lost = |kind, from_ns| Fault {
        kind: Some(kind),
        from_ns,
        until_ns: from_ns + MS,
        ..fault(1.0, Effect::Never)
    };
    let faults = vec![lost(OpKind::Write, 3 * S), lost(OpKind::Read, 5 * S + S / 2)];
    let writer = Stream { name: "log".to_owned(), read_permille: 0, ..stream(CLOSED, 2) };
    let mut run = run(vec![stream(CLOSED, 4), writer], 60 * S, S);
    run.operation_deadline_ns = 2_500 * MS;
    let model = Model { faults, ..queue() };
    let simulated = simulate_observed(&run, &model, 2);
    assert!(!simulated.overdue.is_empty() && !simulated.abandoned.is_empty());
    assert!(simulated.overdue.iter().all(|op| op.stream == 1));
    assert!(simulated.abandoned.iter().all(|op| op.stream == 0));
    // The writer's boundary after its deadline is at 6 s; a second later the reader's are
    // abandoned.
    assert_eq!(simulated.record.intervals.last().unwrap().end_ns, 7 * S);
    assert_balanced(&simulated.record);
}

#[test]
fn a_slow_server_is_visible_in_high_percentiles_but_not_in_the_median() {
    let faults = vec![fault(0.02, Effect::Slow { factor: 50.0 })];
    let model = Model { faults, ..Model::fixed(MS) };
    let run = run(vec![stream(constant(1000.0), 64)], 10 * S, S);
    let reads = reads(&simulate_observed(&run, &model, 1).record);
    assert_near(reads.response.percentile_ns(0.5).unwrap() as f64, 1e6, 0.001, "median");
    assert_near(reads.response.percentile_ns(0.99).unwrap() as f64, 50e6, 0.001, "p99");
    assert_eq!(reads.failed_total(), 0);
}

#[test]
fn every_interval_is_balanced() {
    let faults = vec![
        fault(0.05, Effect::Error { errno: 5 }),
        fault(0.05, Effect::Short),
        fault(0.01, Effect::Slow { factor: 300.0 }),
    ];
    for arrival in [CLOSED, constant(3000.0), poisson(3000.0)] {
        for queue_depth in [1, 7, 128] {
            let simulated = faulty(faults.clone(), stream(arrival.clone(), queue_depth));
            assert_balanced(&simulated.record);
            let whole = whole(&simulated.record, 0);
            assert_eq!(whole.issued, simulated.seen.len() as u64);
            assert!(whole.failed() > 0);
        }
    }
}
