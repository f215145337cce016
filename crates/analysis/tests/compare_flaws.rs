//! What was wrong with a measurement goes with the comparison of it, and where a cache answered for
//! one side only no winner is called.

use crate::records::{done, experiment, reads, run, stream};
use analysis::compare::caveats::CaveatEvidence;
use analysis::compare::facts::Item;
use analysis::compare::figures::{InconclusiveCause, Verdict};
use analysis::compare::flaws::FlawKind;
use analysis::compare::side::Side;
use analysis::compare::{Options, Overall, Pair, compare};
use metrics::fleet::{FleetHost, HostEvent, HostRun};
use metrics::run_record::{ExperimentRecord, RunRecord};
use metrics::warning::{Figure, Warning};
use metrics::wire::{CounterSource, WireInterval};
use workload::arrival::Arrival;

const WINDOW: u64 = 12;

/// Five repeats at two queue depths, with so many operations a second more than the usual.
fn measured(faster: u64) -> ExperimentRecord {
    let one = |repeat: u32, depth: u32| {
        let mut run = run("random read 8 KiB", vec![stream("data", depth)], 1, WINDOW);
        run.repeat = repeat;
        let rate = 10_000 * u64::from(depth) + faster + 10 * u64::from(repeat);
        done(run, (0..=WINDOW).map(|second| reads(rate + second % 2, 8192, 100_000)).collect())
    };
    experiment((0..5).flat_map(|repeat| [one(repeat, 1), one(repeat, 4)]).collect())
}

/// Such that a cache answered all but `passed` of what the first load point's reads moved.
fn over_the_wire(mut record: ExperimentRecord, passed: f64) -> ExperimentRecord {
    for run in &mut record.runs {
        let passed = if run.run.streams[0].queue_depth == 1 { passed } else { 1.0 };
        for interval in &mut run.intervals {
            let moved: u64 = interval.streams[0].kinds.iter().map(|kind| kind.bytes).sum();
            let received_bytes = (moved as f64 * passed) as u64;
            let source = CounterSource::NfsMount;
            interval.wire = vec![WireInterval { source, received_bytes, sent_bytes: 0 }];
        }
    }
    record
}

fn compared(first: &ExperimentRecord, second: &ExperimentRecord, allowed: &[Item]) -> Pair {
    let options = Options { allowed: allowed.to_vec(), ..Options::default() };
    compare(&[Side::of(first), Side::of(second)], &options).pairs.remove(0)
}

fn each(record: &mut ExperimentRecord, change: fn(&mut RunRecord)) {
    let deep = record.runs.iter_mut().filter(|run| run.run.streams[0].queue_depth == 4);
    deep.for_each(change);
}

#[test]
fn good_measurements_have_no_caveats() {
    let pair = compared(&measured(0), &measured(2_000), &[]);
    assert_eq!((pair.verdict, pair.caveats), (Overall::Faster, Vec::new()));
    let wired = over_the_wire(measured(2_000), 1.02);
    assert_eq!(compared(&measured(0), &wired, &[]).caveats, []);
}

#[test]
fn an_unsteady_window_is_a_caveat() {
    let mut second = measured(2_000);
    each(&mut second, |record| {
        for (interval, faster) in record.intervals.iter_mut().zip(0..) {
            interval.streams[0] = reads(30_000 + 2_000 * faster, 8192, 100_000);
        }
    });
    let pair = compared(&measured(0), &second, &[]);
    let [caveat] = &pair.caveats[..] else { panic!("{:#?}", pair.caveats) };
    assert_eq!((caveat.side, caveat.kind), (1, FlawKind::NotSteady));
    assert_eq!(caveat.load_points, ["random read 8 KiB, queue_depth=4"]);
    let CaveatEvidence::Warning(warning) = &caveat.observed else {
        panic!("{:#?}", caveat.observed)
    };
    let Warning::NotSteady { figure, thirds: Some([first, _]), .. } = warning else {
        panic!("{warning:?}")
    };
    assert_eq!((*figure, first.round()), (Figure::AchievedRate, 35_000.0));
    assert_ne!(pair.verdict, Overall::NotComparable, "a winner may still be called");
}

#[test]
fn overload_is_a_caveat_of_both_sides() {
    let mut record = measured(0);
    each(&mut record, |record| {
        record.run.streams[0].arrival = Arrival::Poisson { offered_rate: 50_000.0 };
        for (interval, second) in record.intervals.iter_mut().zip(1u64..) {
            interval.streams[0].backlog_end = 9_000 * second;
        }
    });
    let pair = compared(&record, &record, &[]);
    let kinds: Vec<(usize, FlawKind)> = pair.caveats.iter().map(|c| (c.side, c.kind)).collect();
    assert_eq!(kinds, [(0, FlawKind::Overloaded), (1, FlawKind::Overloaded)]);
    let CaveatEvidence::Warning(warning) = &pair.caveats[0].observed else {
        panic!("{:#?}", pair.caveats)
    };
    let Warning::Overloaded { offered_rate, .. } = warning else { panic!("{warning:?}") };
    assert_eq!(*offered_rate, 50_000.0);
}

#[test]
fn a_cache_on_one_side_prevents_a_verdict_unless_allowed() {
    let storage = over_the_wire(measured(0), 1.02);
    let cached = over_the_wire(measured(2_000), 0.03);
    let pair = compared(&storage, &cached, &[]);
    assert_eq!(pair.verdict, Overall::NotComparable);
    let obstacles: Vec<_> = pair.obstacles().collect();
    let [obstacle] = &obstacles[..] else { panic!("{obstacles:#?}") };
    assert_eq!((obstacle.item, obstacle.load_points), (Item::Cache, 1));
    assert_eq!(obstacle.first.as_deref(), Some("none"));
    assert_eq!(obstacle.second.as_deref(), Some("97 %"));
    assert_eq!(pair.caveats.len(), 1);
    assert_eq!((pair.caveats[0].side, pair.caveats[0].kind), (1, FlawKind::Cached));

    let allowed = compared(&storage, &cached, &[Item::Cache]);
    assert_eq!((allowed.verdict, allowed.caveats.len()), (Overall::Faster, 1));
    // Of the other nothing is known: that is no reason to call it the same.
    let unknown = compared(&measured(0), &cached, &[]);
    assert_eq!(unknown.verdict, Overall::NotComparable);
    assert_eq!(unknown.obstacles().next().unwrap().first.as_deref(), Some("not known"));
}

#[test]
fn a_cache_on_both_sides_is_a_caveat_of_each() {
    let first = over_the_wire(measured(0), 0.03);
    let second = over_the_wire(measured(2_000), 0.01);
    let pair = compared(&first, &second, &[]);
    assert_eq!(pair.verdict, Overall::Faster);
    let sides: Vec<usize> = pair.caveats.iter().map(|caveat| caveat.side).collect();
    assert_eq!(sides, [0, 1]);
    assert!(pair.caveats.iter().all(|caveat| caveat.kind == FlawKind::Cached));
}

#[test]
fn a_side_with_lost_hosts_is_named_and_gets_no_verdict() {
    let mut second = measured(2_000);
    let host = |name: &str| FleetHost { name: name.to_owned(), ..FleetHost::default() };
    second.hosts = vec![host("vm1"), host("vm2")];
    each(&mut second, |record| {
        let lost = HostEvent::Lost {
            at_ns: 3_000_000_000,
            why: "killed".to_owned(),
            others_continued: true,
        };
        record.hosts =
            vec![HostRun::default(), HostRun { events: vec![lost], ..HostRun::default() }];
    });
    let pair = compared(&measured(0), &second, &[]);
    let names: Vec<&str> = pair.points.iter().map(|point| point.name.as_str()).collect();
    let lossy = "random read 8 KiB, queue_depth=4 (B: 1/2 hosts)";
    assert_eq!(names, ["random read 8 KiB, queue_depth=1", lossy]);
    let verdicts = |point: usize| -> Vec<Verdict> {
        let figures = pair.points[point].subjects.iter().flat_map(|subject| &subject.figures);
        figures.filter(|figure| figure.main).map(|figure| figure.verdict).collect()
    };
    assert!(verdicts(0).contains(&Verdict::Better), "{:?}", verdicts(0));
    let lost = Verdict::CannotTell(InconclusiveCause::HostsLost);
    assert!(verdicts(1).iter().all(|verdict| *verdict == lost), "{:?}", verdicts(1));
    let caveat = pair.caveats.iter().find(|one| one.kind == FlawKind::HostsLost).expect("a caveat");
    assert_eq!(
        (caveat.side, &caveat.load_points[..]),
        (1, &["random read 8 KiB, queue_depth=4".to_owned()][..])
    );
    let CaveatEvidence::Warning(Warning::HostsLost { lost, of: 2 }) = &caveat.observed else {
        panic!("{:#?}", caveat.observed)
    };
    assert_eq!((lost[0].0.as_str(), lost[0].1), ("vm2", 3_000_000_000));
}
