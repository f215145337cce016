//! Every record that a kill can leave, collected from spools that are cut at every frame.

use metrics::environment::Environment;
use metrics::fleet::{FleetHost, HostRun, totals};
use metrics::interval::StreamInterval;
use metrics::run_record::ChosenIoMethod;
use workload::plan::{IoMethodUsed, Plan, TargetSpec};
use workload::resolve::{self, ResolveOptions};

use super::*;

const INTERVALS: u32 = 4;

fn plan() -> Plan {
    let text = "name = \"one\"\n[run]\nhosts = 2\nwarm_up = \"0s\"\nmeasure = \"4s\"\n\
                interval = \"1s\"\n[stream.main]\nread = \"100%\"\ntransfer_size = \"8KiB\"\n\
                pattern = \"random\"\nfile_size = \"1MiB\"\nqueue_depth = 4\n";
    let experiment = workload::experiment::parse(text, "one.toml").expect("it is whole");
    let options = ResolveOptions { hosts: 2, ..ResolveOptions::LOCAL };
    resolve::resolve(&experiment, "one.toml", TargetSpec::Null, &options).expect("possible")
}

fn run() -> Run {
    plan().known_runs().next().expect("a plan has runs").clone()
}

/// An interval that is recognised in a total.
fn interval(host: u64, index: u32) -> Interval {
    let issued = (host + 1) * 100 + u64::from(index);
    Interval {
        index,
        start_ns: u64::from(index) * 1_000_000_000,
        end_ns: u64::from(index + 1) * 1_000_000_000,
        streams: vec![StreamInterval { issued, ..StreamInterval::default() }],
        ..Interval::default()
    }
}

fn spool(host: u32, intervals: u32, outcome: &Outcome) -> Vec<Frame> {
    let mut frames = vec![Frame::RunStarted { started_unix_ms: 7, run: Box::new(run()) }];
    frames.extend((0..intervals).map(|index| Frame::HostInterval {
        host,
        run_index: 0,
        interval: Box::new(interval(u64::from(host), index)),
    }));
    let event = |event| Frame::HostEvent { host, run_index: 0, event };
    frames.push(event(HostEvent::Started { late_ns: 1, clock_error_ns: 2 }));
    frames.push(event(HostEvent::Ended));
    frames.push(Frame::RunFinished { run_index: 0, outcome: outcome.clone() });
    frames
}

/// A record with so many intervals and these events of each host.
fn record(hosts: [(u32, Vec<HostEvent>); 2], outcome: Outcome) -> ExperimentRecord {
    let of_host = |(host, (count, events)): (u64, (u32, Vec<HostEvent>))| HostRun {
        intervals: (0..count).map(|index| interval(host, index)).collect(),
        events,
    };
    let host = |name: &str| FleetHost { name: name.to_owned(), ..FleetHost::default() };
    ExperimentRecord {
        id: "20261121".to_owned(),
        plan: plan(),
        plan_hash: String::new(),
        io_method: ChosenIoMethod { io_method: IoMethodUsed::Psync, reason: String::new() },
        environment: Environment::default(),
        started_unix_ms: 0,
        prepared: Vec::new(),
        warnings: Vec::new(),
        runs: vec![RunRecord {
            run: run(),
            started_unix_ms: 7,
            intervals: Vec::new(),
            hosts: (0..).zip(hosts).map(of_host).collect(),
            warnings: Vec::new(),
            service_counters: None,
            trees: Vec::new(),
            outcome,
        }],
        hosts: vec![host("a"), host("b")],
        scraped: Default::default(),
        outcome: Outcome::Aborted,
    }
}

/// Collects spools into a record; returns what was appended and what is still missing.
fn collect(record: &mut ExperimentRecord, spools: [&[Frame]; 2]) -> (usize, Vec<Incomplete>) {
    let names = ["a".to_owned(), "b".to_owned()];
    let mut collection = Collection::of(record, &names);
    let mut order = vec![0, 1];
    order.sort_by_key(|host| (collection.was_lost(*host), *host));
    let mut additions = Vec::new();
    for host in order {
        for frame in spools[host] {
            additions.extend(collection.take(host, frame.clone()).expect("it follows"));
        }
    }
    additions.extend(collection.settle());
    let count = additions.len();
    for addition in additions {
        let run = &mut record.runs[0];
        match addition {
            Addition::Interval { host, interval, .. } => {
                let intervals = &mut run.hosts[host as usize].intervals;
                assert_eq!(interval.index as usize, intervals.len(), "none is missing");
                intervals.push(*interval);
            }
            Addition::HostEvent { host, event, .. } => run.hosts[host as usize].events.push(event),
            Addition::Warning { .. } | Addition::RunStarted { .. } => panic!("there is none"),
            Addition::RunFinished { outcome, .. } => run.outcome = outcome,
            Addition::Finished { outcome } => record.outcome = outcome,
        }
    }
    (count, collection.incomplete())
}

fn issued(record: &ExperimentRecord) -> Vec<u64> {
    let totals = totals(&record.runs[0].hosts, false);
    totals.iter().map(|total| total.streams[0].issued).collect()
}

/// Of all hosts and intervals.
const WHOLE: [u64; 4] = [300, 302, 304, 306];

fn lost(at: u32, others_continued: bool) -> HostEvent {
    let at_ns = u64::from(at) * 1_000_000_000;
    HostEvent::Lost { at_ns, why: "cut off".to_owned(), others_continued }
}

#[test]
fn after_a_killed_controller_whatever_it_had_recorded_the_record_becomes_whole_once() {
    let spools = [0, 1].map(|host| spool(host, INTERVALS, &Outcome::Done));
    for had in 0..=INTERVALS * 5 {
        let (first, second) = (had % 5, had / 5);
        let ended = |count| match count {
            INTERVALS => vec![HostEvent::Ended],
            _ => Vec::new(),
        };
        let hosts = [(first, ended(first)), (second.min(INTERVALS), ended(second))];
        let mut record = record(hosts, Outcome::Aborted);
        let (count, missing) = collect(&mut record, [&spools[0], &spools[1]]);
        assert!(count > 0 && missing.is_empty(), "{had}: {missing:?}");
        assert_eq!(issued(&record), WHOLE, "{had}");
        assert_eq!((&record.runs[0].outcome, &record.outcome), (&Outcome::Done, &Outcome::Done));
        assert_eq!(collect(&mut record, [&spools[0], &spools[1]]), (0, Vec::new()), "{had}");
    }
}

#[test]
fn a_spool_that_ends_anywhere_adds_what_it_has_and_the_host_stays_lost_from_there() {
    let whole = spool(1, INTERVALS, &Outcome::Done);
    for length in 0..=whole.len() {
        let hosts = [(INTERVALS, vec![HostEvent::Ended]), (1, vec![lost(1, true)])];
        let mut record = record(hosts, Outcome::Done);
        let (_, missing) = collect(&mut record, [&[], &whole[..length]]);
        let has = (length as u32).saturating_sub(1).clamp(1, INTERVALS);
        let of_host = &record.runs[0].hosts[1];
        assert_eq!(of_host.intervals.len() as u32, has, "{length}");
        let is_whole = length == whole.len();
        assert_eq!(missing.is_empty(), is_whole, "{length}");
        let lost_at = of_host.lost().map(|(at_ns, _)| at_ns);
        let expected = (!is_whole).then_some(u64::from(has) * 1_000_000_000);
        assert_eq!(lost_at, expected, "{length}");
        assert_eq!(issued(&record).len() as u32, INTERVALS, "{length}");
    }
}

#[test]
fn totals_of_a_run_that_failed_are_never_those_of_the_host_that_was_cut_off() {
    let spools = [0, 1].map(|host| spool(host, INTERVALS, &Outcome::Done));
    let failed = || Outcome::Failed { reason: "b is lost".to_owned() };
    let hosts = [(2, vec![HostEvent::Ended]), (1, vec![lost(1, false)])];
    let mut record = record(hosts, failed());
    let (_, missing) = collect(&mut record, [&[], &spools[1]]);
    assert_eq!((issued(&record), missing), (WHOLE[..2].to_vec(), Vec::new()));
    assert_eq!(record.runs[0].outcome, failed(), "it happened");
    // The experiment's end was not recorded, and is that of its only run.
    assert_eq!(record.outcome, failed());
}

#[test]
fn an_interval_in_which_another_host_was_stopped_is_left_out() {
    let spools = [0, 1].map(|host| spool(host, INTERVALS, &Outcome::Done));
    let failed = Outcome::Failed { reason: "b is lost".to_owned() };
    let hosts = [(3, vec![HostEvent::Ended]), (1, vec![lost(1, false)])];
    let mut record = record(hosts, failed);
    record.runs[0].hosts[0].intervals[2].end_ns -= 900_000_000;
    collect(&mut record, [&[], &spools[1]]);
    // The last is only what the first host did until it was stopped.
    assert_eq!(issued(&record), [WHOLE[0], WHOLE[1], 102]);
    assert_eq!(record.runs[0].hosts[1].intervals.len(), 2);
}

#[test]
fn a_share_that_failed_fails_the_run_with_the_host_named() {
    let failed = Outcome::Failed { reason: "no reply".to_owned() };
    let spools = [spool(0, INTERVALS, &Outcome::Done), spool(1, 2, &failed)];
    let mut record = record([(0, Vec::new()), (0, Vec::new())], Outcome::Aborted);
    collect(&mut record, [&spools[0], &spools[1]]);
    let named = Outcome::Failed { reason: "b: no reply".to_owned() };
    assert_eq!((&record.runs[0].outcome, &record.outcome), (&named, &named));
}

#[test]
fn a_run_stays_open_until_every_share_is_known() {
    let spools = [0, 1].map(|host| spool(host, INTERVALS, &Outcome::Done));
    let mut record = record([(1, Vec::new()), (1, Vec::new())], Outcome::Aborted);
    let (_, missing) = collect(&mut record, [&spools[0], &[]]);
    let b = Incomplete { host: "b".to_owned(), run_index: 0, intervals: 1, why: None };
    assert_eq!((missing, issued(&record)), (vec![b], WHOLE[..1].to_vec()));
    assert_eq!(record.outcome, Outcome::Aborted);
    // The second host is reached later.
    let (_, missing) = collect(&mut record, [&[], &spools[1]]);
    assert_eq!((missing, issued(&record)), (Vec::new(), WHOLE.to_vec()));
    assert_eq!(record.outcome, Outcome::Done);
}

#[test]
fn frames_that_do_not_follow_from_the_record_are_refused() {
    let mut record = record([(1, Vec::new()), (1, Vec::new())], Outcome::Aborted);
    record.outcome = Outcome::Aborted;
    let names = ["a".to_owned(), "b".to_owned()];
    let mut collection = Collection::of(&record, &names);
    let frames = spool(1, INTERVALS, &Outcome::Done);
    let why = collection.take(0, frames[1].clone()).unwrap_err();
    assert!(why.contains("another host"), "{why}");
    let why = collection.take(1, frames[4].clone()).unwrap_err();
    assert!(why.contains("ends at interval 1, and the spool continues at 3"), "{why}");
    let unknown = Frame::RunFinished { run_index: 9, outcome: Outcome::Done };
    assert!(collection.take(1, unknown).unwrap_err().contains("was not started"));
    assert!(collection.take(1, Frame::Finished(Outcome::Done)).is_err());
}
