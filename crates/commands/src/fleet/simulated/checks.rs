//! What must be true of every simulated experiment.

use metrics::fleet::{HostEvent, HostRun, totals};
use metrics::interval::Interval;
use metrics::run_record::{ExperimentRecord, Outcome, RunRecord};
use metrics::tree_comparison::{NotCompared, TreeResult};
use record::frame::Frame;
use runner::fleet_run::OnLost;
use sim::fleet::{Fault, Phase, PlannedFault};

use super::case::{Case, Finished, SECOND_NS, UserStop};

/// A host with a fault is named within this time.
const NAMED_WITHIN_NS: u64 = 10 * SECOND_NS;
/// A host that does nothing for this long is not lost.
const SHORT_NS: u64 = 4 * SECOND_NS;
/// Everything ends within this time of the user's request if every host responds: an interval, the lead of a stop,
/// and round trips.
const STOPPED_WITHIN_NS: u64 = 5 * SECOND_NS;

pub(super) fn check(finished: &Finished) {
    let Finished { case, outcome, fired, named, .. } = finished;
    let context = format!(
        "seed {}, {} hosts, {:?}, {:?} at {fired:?}, stop {:?}: {outcome:?} at {:.3} s, {named:?}",
        case.seed,
        case.hosts.len(),
        case.on_lost,
        case.faults,
        case.stop,
        finished.ended_ns as f64 / 1e9,
    );
    check_names(finished, &context);
    if let Some(record) = &finished.measured {
        check_reported(finished, record, &context);
        check_trees(finished, record, &context);
        check_totals(finished, record, &context);
        check_starts(case, finished, record, &context);
    }
    if let Some((record, _)) = &finished.collected {
        check_totals(finished, record, &context);
        check_collected(finished, record, &context);
    }
    check_outcome(finished, &context);
}

/// Nothing fails without a reason: short interruptions and slow links cost nothing, and the user's request ends
/// everything soon.
fn check_outcome(finished: &Finished, context: &str) {
    let Finished { case, outcome, fired, ended_ns, .. } = finished;
    let is_short = |(planned, fired): (&PlannedFault, &Option<u64>)| {
        fired.is_none()
            || match planned.fault {
                Fault::Freeze { continues_after_ns: Some(time_ns) }
                | Fault::Cut { recovers_after_ns: Some(time_ns), .. } => time_ns < SHORT_NS,
                Fault::SpoolFull | Fault::Slow(_) => true,
                _ => false,
            }
    };
    let is_well = case.faults.len() < 2
        && case.faults.iter().zip(fired).all(is_short)
        && case.other_version.is_none();
    let is_slow = case.faults.iter().any(|one| matches!(one.fault, Fault::Slow(_)));
    match case.stop {
        None if is_well => assert_eq!(*outcome, Some(Ok(Outcome::Done)), "{context}"),
        Some(UserStop { at_ns, .. }) if is_well && !is_slow => {
            let is_soon = *ended_ns <= at_ns + SHORT_NS + STOPPED_WITHIN_NS;
            let is_done = *ended_ns < at_ns;
            let has_stopped = match outcome {
                // The last intervals may be complete already.
                Some(Ok(Outcome::Interrupted | Outcome::Done)) => true,
                Some(Err(why)) => why.contains("interrupted"),
                _ => false,
            };
            assert!(is_done || (is_soon && has_stopped), "{context}");
        }
        _ => {}
    }
}

/// A fault after which a host does nothing more for the run.
const fn is_hard(fault: &Fault) -> bool {
    matches!(
        fault,
        Fault::Kill
            | Fault::Freeze { continues_after_ns: None }
            | Fault::Cut { recovers_after_ns: None, .. }
    )
}

/// Hosts with faults are named in time, and no others.
fn check_names(finished: &Finished, context: &str) {
    let Finished { case, fired, named, ended_ns, .. } = finished;
    let is_of = |words: &str, host: usize| {
        let name = format!("h{host}");
        let named = |part: &str| part == name;
        words.split(|c: char| !c.is_alphanumeric()).any(named)
    };
    let happened = || {
        let both = case.faults.iter().zip(fired);
        both.filter_map(|(planned, at_ns)| Some((planned, (*at_ns)?)))
    };
    for host in 0..case.hosts.len() {
        // Any host that opens its files for long is named, and not lost for that.
        let is_fault = |words: &str| !words.contains("while opening its files");
        let is_named = named.iter().any(|(_, words)| is_of(words, host) && is_fault(words));
        let has_fault =
            happened().any(|(planned, _)| planned.host == host) || case.other_version == Some(host);
        assert!(has_fault || !is_named, "{context}: h{host} is named without a reason");
    }
    if let Some(host) = case.other_version {
        let is_in_time = *ended_ns < 3 * SECOND_NS + NAMED_WITHIN_NS;
        let is_named = named.iter().any(|(_, words)| is_of(words, host));
        let is_expected = happened().next().is_some() || case.stop.is_some();
        assert!(is_expected || (is_named && is_in_time), "{context}");
        return;
    }
    let Some((planned, at_ns)) = happened().min_by_key(|(_, at_ns)| *at_ns) else { return };
    let is_only = happened().filter(|(one, _)| one.host == planned.host).count() == 1;
    if is_only && is_hard(&planned.fault) && *ended_ns > at_ns + NAMED_WITHIN_NS {
        let in_time = |(named_ns, words): &(u64, String)| {
            *named_ns <= at_ns + NAMED_WITHIN_NS && is_of(words, planned.host)
        };
        assert!(named.iter().any(in_time), "{context}");
    }
}

fn is_labelled(of_host: &HostRun, total: &Interval) -> bool {
    of_host.was_left_behind() && of_host.lost().is_some_and(|(at_ns, _)| at_ns <= total.start_ns)
}

/// What was reported live is what the record has, and a lost host fails a run unless the others continue.
fn check_reported(finished: &Finished, record: &ExperimentRecord, context: &str) {
    for run in &record.runs {
        let is_of = |(index, _): &&(u32, Interval)| *index == run.run.index;
        let reported = finished.totals.iter().filter(is_of).map(|(_, total)| total);
        assert!(reported.eq(&totals(&run.hosts, true)), "{context}, run {}", run.run.index);
        let is_lost = run.hosts.iter().any(|host| host.lost().is_some());
        if is_lost && finished.case.on_lost == OnLost::Fail && finished.outcome.is_some() {
            assert!(matches!(run.outcome, Outcome::Failed { .. }), "{context}");
        }
    }
}

/// A tree is compared if the run completed and no host was lost in it, with the steps of every host. Otherwise
/// the reason is recorded.
fn check_trees(finished: &Finished, record: &ExperimentRecord, context: &str) {
    for run in &record.runs {
        let context = format!("{context}, run {}: {:?}", run.run.index, run.trees);
        let lost = run.hosts.iter().filter(|host| host.lost().is_some()).count();
        let steps: usize = run.hosts.iter().map(|host| host.intervals.len()).sum();
        let [tree] = &run.trees[..] else {
            assert!(finished.outcome.is_none(), "{context}: only without its controller");
            continue;
        };
        let is_done = run.outcome == Outcome::Done;
        match tree.result {
            TreeResult::Compared(found) => {
                assert_eq!((found.files, lost), (steps as u64, 0), "{context}");
            }
            TreeResult::NotCompared(NotCompared::HostLost) => assert!(lost > 0, "{context}"),
            TreeResult::NotCompared(NotCompared::RunEndedEarly | NotCompared::Incomplete) => {
                assert!(!is_done || finished.outcome.is_none(), "{context}");
            }
            TreeResult::NotCompared(NotCompared::TooManyFailed) => panic!("{context}"),
        }
    }
}

/// The record has what the hosts measured; totals are its sum, and one without a host says so.
fn check_totals(finished: &Finished, record: &ExperimentRecord, context: &str) {
    for run in &record.runs {
        let context = format!("{context}, run {}", run.run.index);
        for (host, of_host) in run.hosts.iter().enumerate() {
            let measured = finished.disks[host].intervals(run.run.index);
            let recorded = &of_host.intervals;
            assert_eq!(measured.get(..recorded.len()), Some(&recorded[..]), "{context}, h{host}");
            let has_ended = of_host.events.contains(&HostEvent::Ended);
            assert!(!has_ended || recorded.len() == measured.len(), "{context}, h{host}");
        }
        for (number, total) in totals(&run.hosts, true).iter().enumerate() {
            let with = run.hosts.iter().filter_map(|host| host.intervals.get(number));
            let sum: u64 = with.map(|one| one.streams[0].issued).sum();
            assert_eq!(total.streams[0].issued, sum, "{context}");
            for (host, of_host) in run.hosts.iter().enumerate() {
                let is_missing = of_host.intervals.len() <= number;
                let has_ended = of_host.events.iter().any(is_end) && !of_host.intervals.is_empty();
                let is_said = is_labelled(of_host, total) || has_ended;
                assert!(!is_missing || is_said, "{context}, h{host} in {number}");
            }
        }
    }
}

const fn is_end(event: &HostEvent) -> bool {
    matches!(event, HostEvent::Ended | HostEvent::Collected { .. })
}

/// All hosts start within the stated error of the same instant.
fn check_starts(case: &Case, finished: &Finished, record: &ExperimentRecord, context: &str) {
    for run in &record.runs {
        let start = |(host, of_host): (usize, &HostRun)| {
            let (late_ns, error_ns) = of_host.started()?;
            let starts = finished.disks[host].starts();
            let (_, at_ns) = starts.into_iter().find(|(index, _)| *index == run.run.index)?;
            let at_ns = case.hosts[host].clock.time_of(at_ns) as i64;
            Some((at_ns - late_ns as i64, error_ns as i64))
        };
        let starts: Vec<(i64, i64)> = run.hosts.iter().enumerate().filter_map(start).collect();
        // The common start is within the error of every host: all these ranges have a point in common.
        let from = starts.iter().map(|(at, error)| at - error).max();
        let until = starts.iter().map(|(at, error)| at + error).min();
        assert!(from <= until, "{context}, run {}: {starts:?}", run.run.index);
    }
}

/// Everything that is in a spool is in the record, or was measured after the others had been stopped.
fn check_collected(finished: &Finished, record: &ExperimentRecord, context: &str) {
    let Some((_, last)) = &finished.collected else { return };
    assert!(last.not_reached.is_empty(), "{context}: {last:?}");
    assert!(last.problems.is_empty(), "{context}: {last:?}");
    for (host, frames) in finished.spools.iter().enumerate() {
        let mut missing = 0;
        for frame in frames {
            match frame {
                Frame::RunStarted { run, .. } => {
                    assert!(run_of(record, run.index).is_some(), "{context}, h{host}");
                }
                Frame::HostInterval { run_index, interval, .. } => {
                    let run = run_of(record, *run_index).expect("it started");
                    match run.hosts[host].intervals.get(interval.index as usize) {
                        Some(one) => assert_eq!(one, &**interval, "{context}, h{host}"),
                        None => missing += 1,
                    }
                }
                Frame::HostEvent { run_index, event: HostEvent::Ended, .. } => {
                    let of_host = &run_of(record, *run_index).expect("it started").hosts[host];
                    assert!(of_host.events.iter().any(is_end), "{context}, h{host}");
                }
                _ => {}
            }
        }
        if finished.collected_before == 0 {
            assert_eq!(missing, last.hosts[host].left_out, "{context}, h{host}: {last:?}");
        }
        assert_eq!(finished.disks[host].names(), [""; 0], "{context}: a spool of h{host} remains");
    }
    for run in &record.runs {
        check_run(finished, run, context);
    }
}

fn run_of(record: &ExperimentRecord, run_index: u32) -> Option<&RunRecord> {
    record.runs.iter().find(|run| run.run.index == run_index)
}

/// A run whose agents and spools were well is whole after it was collected, even without its controller.
fn check_run(finished: &Finished, run: &RunRecord, context: &str) {
    let harms = |planned: &PlannedFault| {
        !matches!(planned.fault, Fault::KillController) && planned.phase != Phase::Collect
    };
    let is_well = !finished.case.faults.iter().any(harms) && finished.case.stop.is_none();
    let has_started = run.hosts.iter().all(|host| host.started().is_some());
    if is_well && has_started {
        let context = format!("{context}, run {}: {:?}", run.run.index, run.outcome);
        assert_eq!(run.outcome, Outcome::Done, "{context}");
        let phases = &run.run.phases;
        let planned = (phases.warm_up_ns + phases.measure_ns) / phases.interval_ns;
        assert_eq!(totals(&run.hosts, true).len() as u64, planned, "{context}");
    }
}
