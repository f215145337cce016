//! What must be true after a fault, for every phase.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::Value;

use super::{Case, Fault, Phase, Shown, VICTIM};
use crate::fleet_runs::{events, number, sums};

/// Time from a fault to the name of its host: it is lost after 8 s of silence.
const NAMED_WITHIN: Duration = Duration::from_secs(10);
/// Without a hello a host is lost after 10 s.
const SILENT_NAMED_WITHIN: Duration = Duration::from_secs(13);
/// The planned length of a run.
const RUN_NS: u64 = 1_200_000_000;
/// Intervals in the window of a run, at least.
const WINDOW_INTERVALS: u64 = 10;

/// How much of the runs a fault can touch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reached {
    /// There is no record.
    NoRecord,
    /// There is a record without a run.
    NoRun,
    /// The first run has begun, or the second.
    Run(usize),
    /// Both runs are in the record.
    All,
}

const fn reached(phase: Phase) -> Reached {
    match phase {
        Phase::Connecting | Phase::Opening => Reached::NoRecord,
        Phase::Filling => Reached::NoRun,
        Phase::Ready | Phase::Starting | Phase::Measuring => Reached::Run(0),
        Phase::BetweenRuns | Phase::RunEnding => Reached::Run(1),
        Phase::Ending => Reached::All,
    }
}

/// All of it.
pub(super) fn check(shown: &Shown) {
    let Shown { case, words, .. } = shown;
    let lines = events(&shown.ended.stdout);
    // After a kill the last line may be cut.
    no_total_of_fewer_hosts_precedes_the_loss(&lines, *case);
    let collected =
        shown.collected.as_ref().map_or(String::new(), |one| super::unwrapped(&one.stdout));
    for (record, words) in [(&shown.before, "before collecting"), (&shown.after, &collected)] {
        if let Some(record) = record {
            every_total_of_fewer_hosts_is_labelled(record, *case, words);
        }
    }
    match case.fault {
        fault if fault.loses_the_host() => the_host_is_named(shown, &lines),
        Fault::ControllerKilled => assert_eq!(shown.ended.code, None, "{case:?}: {words}"),
        _ => {
            // A busy machine may not reach the rate.
            assert!(matches!(shown.ended.code, Some(0 | 1)), "{case:?}: {words}");
            assert!(!words.contains("is lost"), "{case:?}: {words}");
            both_runs_are_whole(&shown.before, *case);
        }
    }
    if case.fault == Fault::SpoolFull {
        let warning = format!("on {VICTIM}: the intervals could not be written to the spool ");
        assert!(words.contains(&warning), "{case:?}: {words}");
        assert!(words.contains("No space left on device"), "{case:?}: {words}");
        if case.phase == Phase::Measuring {
            a_full_spool_is_named_while_the_host_measures(&lines, *case);
        }
    }
    what_can_be_collected_is(shown);
    assert!(shown.spools.is_empty(), "{case:?}: {:?} remain", shown.spools);
    let is_released = shown.cleaned.as_ref().is_none_or(|cleaned| cleaned.code == Some(0));
    assert!(is_released, "{case:?}: the target was not released: {:?}", shown.cleaned);
}

/// Intervals of the host follow the warning, in the same run.
fn a_full_spool_is_named_while_the_host_measures(lines: &[Value], case: Case) {
    let is_warning = |line: &Value| line["event"] == "warning" && line["code"] == "spool_failed";
    let at = lines.iter().position(is_warning).unwrap_or_else(|| panic!("{case:?}: {lines:?}"));
    let (warning, later) = (&lines[at], &lines[at + 1..]);
    let continues = later.iter().any(|line| {
        line["event"] == "host_interval"
            && line["host_index"] == case.victim
            && line["run_index"] == warning["run_index"]
    });
    assert!(continues, "{case:?}: reported when the run had ended: {warning}");
}

/// In words with the reason, in the events, in the stored record; in time and with the exit code.
fn the_host_is_named(shown: &Shown, lines: &[Value]) {
    let Shown { case, words, took, .. } = shown;
    let reached = reached(case.phase);
    let expected = match (reached, case.on_lost) {
        (Reached::NoRecord, _) => 2,
        (Reached::NoRun, _) | (Reached::Run(_), "fail") => 3,
        (Reached::Run(_), _) => 1,
        (Reached::All, _) => {
            assert!(matches!(shown.ended.code, Some(0 | 1)), "{case:?}: {words}");
            assert!(!words.contains("is lost"), "{case:?}: everything was measured: {words}");
            return both_runs_are_whole(&shown.before, *case);
        }
    };
    assert_eq!(shown.ended.code, Some(expected), "{case:?}: {words}");
    let is_silent = matches!(case.fault, Fault::AgentStopped | Fault::Silent);
    let (reason, within) = match (is_silent, case.phase) {
        (false, _) => ("its agent ended", NAMED_WITHIN),
        (true, Phase::Connecting) => ("its agent did not start within 9 s", SILENT_NAMED_WITHIN),
        (true, _) => ("it is frozen, or the network is cut", NAMED_WITHIN),
    };
    let took = took.unwrap_or_else(|| panic!("{case:?}: the host was not named: {words}"));
    assert!(took < within, "{case:?}: named after {took:?}");
    let Reached::Run(run) = reached else {
        assert!(words.contains(&format!("error: {VICTIM}: ")), "{case:?}: {words}");
        assert!(words.contains(reason), "{case:?}: `{reason}` in {words}");
        return;
    };
    let named = match case.on_lost {
        "fail" => [format!("run failed: {VICTIM} is lost"), format!("{VICTIM} is lost at t = ")],
        _ => ["2/3 hosts".to_owned(), format!("{VICTIM} is lost at t = ")],
    };
    for part in &named {
        assert!(words.contains(part), "{case:?}: `{part}` in {words}");
    }
    let lost: Vec<&Value> = lines.iter().filter(|line| line["event"] == "host_lost").collect();
    assert!(!lost.is_empty(), "{case:?}: {lines:?}");
    for line in &lost {
        assert_eq!(number(line, "host_index"), case.victim, "{case:?}: {line}");
        assert!(number(line, "run_index") >= run as u64, "{case:?}: {line}");
        let why = line["reason"].as_str().unwrap_or_default();
        assert!(why.contains(reason), "{case:?}: {line}");
    }
    let point = &shown.before.as_ref().expect("there is a record")["load_points"][run];
    for (host, of_host) in point["hosts"].as_array().expect("a list").iter().enumerate() {
        let is_lost = of_host["lost"]["reason"].as_str().is_some_and(|why| why.contains(reason));
        assert_eq!(is_lost, host as u64 == case.victim, "{case:?}: {of_host}");
    }
    if case.on_lost == "continue" {
        assert_eq!(point["missing_hosts"]["remaining"], 2, "{case:?}: {point}");
    }
}

/// Each total is the sum of the hosts, and of fewer than all only after a loss that lets the others
/// continue. (Hosts that have ended may be missing in what follows the planned end.)
fn no_total_of_fewer_hosts_precedes_the_loss(lines: &[Value], case: Case) {
    let mut hosts: BTreeMap<(u64, u64), Vec<(u64, u64)>> = BTreeMap::new();
    let mut others_continue = false;
    for line in lines {
        let key = || (number(line, "run_index"), number(line, "interval_index"));
        match line["event"].as_str().unwrap_or_default() {
            "host_interval" => {
                let of_host = (number(line, "completed"), number(line, "bytes"));
                hosts.entry(key()).or_default().push(of_host);
            }
            "host_lost" => others_continue |= line["others_continued"] == true,
            "interval" => {
                let parts = &hosts[&key()];
                let sum = parts.iter().fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
                let is_planned = number(line, "start_ns") < RUN_NS;
                let is_whole = parts.len() == 3 || others_continue || !is_planned;
                assert!(is_whole, "{case:?}: a total of {} hosts: {line}", parts.len());
                // A host may deliver more than the total waits for, never less.
                assert_eq!(sums(line), sum, "{case:?}: {line}");
            }
            _ => {}
        }
    }
}

fn intervals(of: &Value) -> u64 {
    of["intervals"].as_u64().unwrap_or_else(|| panic!("intervals in {of}"))
}

/// In a record as it is shown.
fn every_total_of_fewer_hosts_is_labelled(shown: &Value, case: Case, words: &str) {
    for point in shown["load_points"].as_array().expect("a list") {
        let total = intervals(&point["merged"]);
        for host in point["hosts"].as_array().expect("a list") {
            if intervals(&host["summary"]) < total {
                let is_labelled = !point["missing_hosts"].is_null() && !host["lost"].is_null();
                assert!(
                    is_labelled,
                    "{case:?}: a total without a label: {}, {words}",
                    shape(point)
                );
            }
        }
    }
}

/// The intervals of the total and of each host.
fn shape(point: &Value) -> String {
    let hosts = point["hosts"].as_array().expect("a list").iter();
    let hosts: Vec<String> =
        hosts.map(|host| format!("{} ({})", intervals(&host["summary"]), host["lost"])).collect();
    format!("{} of {hosts:?}", intervals(&point["merged"]))
}

fn is_whole(point: &Value) -> bool {
    let hosts = point["hosts"].as_array().expect("a list");
    let has_all =
        |host: &Value| host["lost"].is_null() && intervals(&host["summary"]) >= WINDOW_INTERVALS;
    point["missing_hosts"].is_null() && hosts.len() == 3 && hosts.iter().all(has_all)
}

fn both_runs_are_whole(shown: &Option<Value>, case: Case) {
    let points = shown.as_ref().map(|shown| shown["load_points"].clone()).unwrap_or_default();
    let points = points.as_array().expect("a list");
    assert!(
        points.len() == 2 && points.iter().all(is_whole),
        "{case:?}: {:?}",
        points.iter().map(shape).collect::<Vec<_>>()
    );
}

/// `fleet collect` adds what hosts still have, and names what is missing.
fn what_can_be_collected_is(shown: &Shown) {
    let Shown { case, collected, after, .. } = shown;
    let Some(collected) = collected else {
        // Agents that remained after the controller was killed found nothing to measure.
        return assert_eq!(reached(case.phase), Reached::NoRecord, "{case:?}");
    };
    let words = super::unwrapped(&collected.stdout);
    let context = format!("{case:?}: {words}\n{}", collected.stderr);
    let after = after.as_ref().expect("there is a record");
    let point = |run: usize| &after["load_points"][run];
    let missing = |run: usize| words.contains(&format!("{VICTIM}: run {} is incomplete", run + 1));
    // Runs that never started are not what a host lost.
    let is_complete = words.contains("every interval of all hosts");
    assert!(is_complete || collected.code == Some(1), "{context}");
    assert_eq!(!is_complete, words.contains("is incomplete, with "), "{context}");
    match (case.fault, case.phase) {
        // The second run may have begun, without a start.
        (Fault::ControllerKilled, Phase::BetweenRuns) => assert!(is_whole(point(0)), "{context}"),
        (Fault::ControllerKilled, Phase::Ready | Phase::Starting) => {
            assert!(missing(0), "{context}");
        }
        (Fault::ControllerKilled, Phase::Measuring) => {
            assert!(is_complete && is_whole(point(0)), "{context}");
        }
        (_, Phase::Filling) => assert!(is_complete, "{context}"),
        (fault, phase) if !fault.loses_the_host() || phase == Phase::Ending => {
            assert!(is_complete, "{context}");
            both_runs_are_whole(&Some(after.clone()), *case);
        }
        // Its share never began, or ended with the agent.
        (_, Phase::Ready | Phase::Starting) | (Fault::AgentKilled, Phase::Measuring) => {
            assert!(missing(0), "{context}");
        }
        // The others were stopped; the host did not know.
        (Fault::Cut, Phase::Measuring) if case.on_lost == "fail" => {
            let left_out = "left out, measured after the other hosts had been stopped";
            assert!(is_complete && words.contains(left_out), "{context}");
        }
        // The share is finished without the controller; the next run is without the host.
        (_, Phase::Measuring) => {
            assert!(!missing(0) && is_whole(point(0)), "{context}");
            assert_eq!(missing(1), case.on_lost == "continue", "{context}");
        }
        (_, Phase::BetweenRuns) => {
            assert!(missing(1) && !missing(0) && is_whole(point(0)), "{context}");
        }
        // The agent had sent everything but the end.
        _ => {
            assert!(is_complete, "{context}");
            both_runs_are_whole(&Some(after.clone()), *case);
        }
    }
}
