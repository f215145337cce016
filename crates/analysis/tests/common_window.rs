//! When all hosts of a fleet measured together.

use crate::records::{SECOND_NS, done, interval, reads, run, stream};
use analysis::common_window::CommonWindow;
use metrics::fleet::{HostEvent, HostRun};
use metrics::interval::Interval;
use metrics::run_record::RunRecord;

fn seconds(count: u32) -> Vec<Interval> {
    (0..count).map(|index| interval(index, vec![reads(100, 8192, 100_000)])).collect()
}

fn host(count: u32, late_ns: u64) -> HostRun {
    let started = HostEvent::Started { late_ns, clock_error_ns: 0 };
    HostRun { intervals: seconds(count), events: vec![started] }
}

/// Two seconds of warm-up, five seconds that count.
fn run_of(hosts: Vec<HostRun>, totals: u32) -> RunRecord {
    let run = run("reads", vec![stream("data", 1)], 2, 5);
    RunRecord { hosts, intervals: seconds(totals), ..done(run, Vec::new()) }
}

#[test]
fn all_hosts_measure_from_the_last_start_to_the_first_end() {
    let record = run_of(vec![host(9, 300), host(8, 700), host(9, 0)], 9);
    let window = CommonWindow {
        runs: 1,
        runs_without: 0,
        span_ns: Some((700, 7 * SECOND_NS)),
        totals_ns: Some((2 * SECOND_NS, 7 * SECOND_NS)),
        runs_beyond: 0,
    };
    assert_eq!(CommonWindow::of(std::slice::from_ref(&record)), Some(window));
    // The narrowest of several runs; one host alone has nothing in common.
    let stopped = run_of(vec![host(4, 900), host(3, 0)], 3);
    let alone = run_of(vec![host(9, 5)], 9);
    let both = CommonWindow { runs: 2, span_ns: Some((900, 3 * SECOND_NS)), ..window };
    assert_eq!(CommonWindow::of(&[record, stopped, alone.clone()]), Some(both));
    assert_eq!(CommonWindow::of(&[alone]), None);
}

#[test]
fn a_run_without_a_host_has_no_common_window_and_does_not_narrow_that_of_others() {
    // Lost in the run before.
    let absent = run_of(vec![host(9, 300), HostRun::default()], 9);
    let none = CommonWindow::of(std::slice::from_ref(&absent)).expect("a start is known");
    assert_eq!((none.span_ns, none.runs_without, none.runs_beyond), (None, 1, 1));
    let together = run_of(vec![host(9, 300), host(9, 0)], 9);
    for runs in [[absent.clone(), together.clone()], [together, absent]] {
        let both = CommonWindow::of(&runs).expect("a start is known");
        assert_eq!(both.span_ns, Some((300, 7 * SECOND_NS)));
        assert_eq!((both.runs, both.runs_without), (2, 1));
    }
}

#[test]
fn totals_that_continue_without_a_host_or_begin_before_one_are_counted() {
    let beyond = |record| CommonWindow::of(&[record]).map(|window| window.runs_beyond);
    let mut lost = host(4, 0);
    lost.events = vec![HostEvent::Lost {
        at_ns: 4 * SECOND_NS,
        why: "killed".to_owned(),
        others_continued: true,
    }];
    assert_eq!(beyond(run_of(vec![host(9, 0), lost.clone()], 9)), Some(1));
    assert_eq!(beyond(run_of(vec![host(9, 0), lost], 4)), Some(0), "totals end with it");
    assert_eq!(beyond(run_of(vec![host(9, 0), host(9, 2 * SECOND_NS)], 9)), Some(0));
    assert_eq!(beyond(run_of(vec![host(9, 0), host(9, 3 * SECOND_NS)], 9)), Some(1));
}
