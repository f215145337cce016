//! Several hosts in one experiment: what each of them measured, whether they started together, and who was
//! lost.

use std::fmt;

use metrics::environment::{fact_of_target, without_target};
use metrics::fleet::{FleetHost, HostRun, separate_machines};
use metrics::interval::StreamInterval;
use metrics::run_record::{ExperimentRecord, RunRecord};
use metrics::warning::Warning;
use workload::plan::{Assignment, Spread};

use crate::common_window::CommonWindow;
use crate::load_point::{self, Generator, LoadPoint, Summary};
use crate::wire::{self, HostCache, RunWire};

/// Hosts that start further apart than this share of an interval make its totals wrong.
const APART_MAX: f64 = 0.1;
/// A host is slower than the others if its rate is below their median by more than this share, and by
/// more than both are uncertain.
const SLOWER_MIN: f64 = 0.1;
/// Fewer hosts have no median that an outlier leaves alone.
const COMPARED_MIN: usize = 3;
/// Facts that differ between hosts without a reason to mention it.
const EXPECTED_TO_DIFFER: [&str; 4] =
    ["host.name", "filesystem.free_bytes", "target.directory", "target.null_round_trip_ns"];

/// The hosts of an experiment.
#[derive(Clone, Debug, PartialEq)]
pub struct FleetFindings {
    /// Their names.
    pub hosts: Vec<String>,
    /// Facts that differ between them: each value with the hosts that have it.
    pub differences: Vec<FactDifference>,
    /// What each measured, in the order of the load points.
    pub load_points: Vec<FleetLoadPoint>,
    /// Between the first and the last start of a run, the longest of all runs; `None` if none is known.
    pub start_spread: Option<StartSpread>,
    /// When all of them measured together; `None` if it is not known.
    pub window: Option<CommonWindow>,
}

/// A fact that differs between hosts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FactDifference {
    /// The fact.
    pub name: String,
    /// Each value, and the hosts that have it; `None` for hosts without the fact.
    pub values: Vec<(Option<String>, Vec<String>)>,
}

/// A load point on each host.
#[derive(Clone, Debug, PartialEq)]
pub struct FleetLoadPoint {
    /// Hosts that executed it, with their share's summary over all repeats.
    pub hosts: Vec<HostSummary>,
    /// Every host sends to the same targets, with as many workers as the others.
    pub has_equal_targets: bool,
}

/// One host's share of a load point.
#[derive(Clone, Debug, PartialEq)]
pub struct HostSummary {
    /// The host's position.
    pub host: usize,
    /// What it measured, over all repeats.
    pub summary: Summary,
    /// Time from the start of a run from which it is missing, in nanoseconds, and why.
    pub lost: Option<(u64, String)>,
    /// Its kernel's counters of each run that has them; none if another host is the same machine.
    pub wire: Vec<RunWire>,
}

impl FleetLoadPoint {
    /// Whether a cache of a host served reads or writes.
    pub fn is_cached(&self) -> bool {
        self.hosts.iter().flat_map(|host| &host.wire).any(RunWire::is_cached)
    }
}

/// How far apart hosts started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StartSpread {
    /// Between the first and the last start, in nanoseconds.
    pub spread_ns: u64,
    /// At most this much more or less, in nanoseconds: the errors of the two least known clocks.
    pub error_ns: u64,
    /// The host that started last.
    pub last: usize,
}

/// Hosts that were lost while the others continued.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MissingHosts {
    /// Hosts that remained.
    pub remaining: usize,
    /// Hosts of the run.
    pub of: usize,
    /// Time from the run's start from which the first was missing, in nanoseconds.
    pub from_ns: u64,
}

impl StartSpread {
    /// Of one run; `None` if fewer than two hosts are known to have started.
    pub fn of(hosts: &[HostRun]) -> Option<StartSpread> {
        let started = hosts.iter().enumerate().filter_map(|(at, host)| Some((at, host.started()?)));
        let started: Vec<(usize, (u64, u64))> = started.collect();
        let first_ns = started.iter().map(|(_, (late_ns, _))| *late_ns).min()?;
        let (last, (last_ns, _)) = *started.iter().max_by_key(|(_, (late_ns, _))| *late_ns)?;
        let mut errors: Vec<u64> = started.iter().map(|(_, (_, error_ns))| *error_ns).collect();
        errors.sort_unstable();
        let error_ns = errors.iter().rev().take(2).sum();
        (started.len() > 1).then_some(StartSpread { spread_ns: last_ns - first_ns, error_ns, last })
    }
}

/// Short, for the name of a load: `23/24 hosts`. With the time, a report writes it out.
impl fmt::Display for MissingHosts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{} hosts", self.remaining, self.of)
    }
}

impl MissingHosts {
    /// Of one run, whose totals are those of fewer hosts from some time on.
    pub fn of(hosts: &[HostRun]) -> Option<MissingHosts> {
        let lost = hosts.iter().filter(|host| host.was_left_behind());
        let lost: Vec<u64> = lost.filter_map(|host| Some(host.lost()?.0)).collect();
        let from_ns = *lost.iter().min()?;
        Some(MissingHosts { remaining: hosts.len() - lost.len(), of: hosts.len(), from_ns })
    }

    /// Of the warning about lost hosts; `None` of other warnings.
    pub fn of_warning(warning: &Warning) -> Option<MissingHosts> {
        let Warning::HostsLost { lost, of } = warning else { return None };
        let from_ns = lost.iter().map(|(_, at_ns, _)| *at_ns).min()?;
        let of = *of as usize;
        Some(MissingHosts { remaining: of.saturating_sub(lost.len()), of, from_ns })
    }
}

/// The hosts of a record; `None` without a fleet.
pub(crate) fn findings(
    record: &ExperimentRecord,
    groups: &[Vec<&RunRecord>],
    generator: Generator,
    cache: HostCache,
) -> Option<FleetFindings> {
    if record.hosts.is_empty() {
        return None;
    }
    let caches = caches(&record.hosts, cache);
    let spreads = record.runs.iter().filter_map(|run| StartSpread::of(&run.hosts));
    Some(FleetFindings {
        hosts: record.hosts.iter().map(|host| host.name.clone()).collect(),
        differences: differences(&record.hosts, &record.plan.target_names),
        load_points: groups
            .iter()
            .map(|records| of_load_point(records, generator, &caches))
            .collect(),
        start_spread: spreads.max_by_key(|spread| spread.spread_ns),
        window: CommonWindow::of(&record.runs),
    })
}

/// The cache of each host; `None` if its counters are also those of another host.
fn caches(hosts: &[FleetHost], cache: HostCache) -> Vec<Option<HostCache>> {
    let of_host = |is_separate: bool| is_separate.then_some(cache);
    separate_machines(hosts).into_iter().map(of_host).collect()
}

/// The counters of a run: those of all hosts together and, because one host's cache is hidden among many,
/// those of each host that is a separate machine.
///
/// * `hosts` - those of the experiment
pub(crate) fn wires(record: &RunRecord, hosts: &[FleetHost], cache: HostCache) -> Vec<RunWire> {
    let mut wires: Vec<RunWire> = wire::of_run(record, cache).into_iter().collect();
    if record.hosts.is_empty() {
        return wires;
    }
    let shares = record.run.split().into_iter().enumerate();
    let shares = shares.filter_map(|(host, assignment)| share(record, &assignment, host));
    let counted = shares.zip(caches(hosts, cache));
    wires.extend(counted.filter_map(|(share, cache)| wire::of_run(&share, cache?)));
    wires
}

/// A load point's summary on each host, computed as that of all hosts together.
///
/// * `caches` - the cache of each host; `None` if its counters are also those of another host
fn of_load_point(
    records: &[&RunRecord],
    generator: Generator,
    caches: &[Option<HostCache>],
) -> FleetLoadPoint {
    let count = records.iter().map(|record| record.hosts.len()).max().unwrap_or(0);
    let assignments: Vec<Vec<Assignment>> =
        records.iter().map(|record| record.run.split()).collect();
    let of_host = |host: usize| {
        let shares: Vec<RunRecord> = records
            .iter()
            .zip(&assignments)
            .filter_map(|(record, assignments)| share(record, assignments.get(host)?, host))
            .collect();
        let lost = records.iter().filter_map(|record| record.hosts.get(host)?.lost());
        let lost = lost.map(|(at_ns, why)| (at_ns, why.to_owned())).min();
        let point = load_point::load_point(&shares.iter().collect::<Vec<_>>(), generator);
        let cache = caches.get(host).copied().flatten();
        let counted = |share: &RunRecord| wire::of_run(share, cache?);
        let wire = shares.iter().filter_map(counted).collect();
        HostSummary { host, summary: point.merged, lost, wire }
    };
    let mut streams = records.iter().flat_map(|record| &record.run.streams);
    let has_equal_targets =
        streams.all(|one| one.targets.count() == 1 || one.targets.spread == Spread::All);
    FleetLoadPoint { hosts: (0..count).map(of_host).collect(), has_equal_targets }
}

/// A run as one host executed it; `None` if it took no part.
fn share(record: &RunRecord, assignment: &Assignment, host: usize) -> Option<RunRecord> {
    Some(RunRecord {
        run: assignment.share(),
        started_unix_ms: record.started_unix_ms,
        intervals: record.hosts.get(host)?.intervals.clone(),
        hosts: Vec::new(),
        warnings: record.warnings.clone(),
        service_counters: record.service_counters,
        trees: record.trees.clone(),
        outcome: record.outcome.clone(),
    })
}

/// * `targets` - the names of the experiment's targets
fn differences(hosts: &[FleetHost], targets: &[String]) -> Vec<FactDifference> {
    let mut names: Vec<&str> =
        hosts.iter().flat_map(|host| &host.facts).map(|(name, _)| name.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    let of_fact = |name: &str| {
        let mut values: Vec<(Option<String>, Vec<String>)> = Vec::new();
        for host in hosts {
            let fact = host.facts.iter().find(|(fact, _)| fact == name);
            let value = fact.map(|(_, value)| without_client_address(value));
            match values.iter_mut().find(|(known, _)| *known == value) {
                Some((_, hosts)) => hosts.push(host.name.clone()),
                None => values.push((value, vec![host.name.clone()])),
            }
        }
        values.sort_by_key(|(_, hosts)| std::cmp::Reverse(hosts.len()));
        let name = match without_target(name, targets) {
            (fact, Some(target)) => fact_of_target(fact, target),
            (fact, None) => fact.to_owned(),
        };
        FactDifference { name, values }
    };
    let is_compared = |name: &&str| !EXPECTED_TO_DIFFER.contains(&without_target(name, targets).0);
    let names = names.into_iter().filter(is_compared);
    names.map(of_fact).filter(|one| one.values.len() > 1).collect()
}

/// Mount options without the address of the client, which differs for each.
fn without_client_address(value: &str) -> String {
    let options = value.split(',').filter(|option| !option.starts_with("clientaddr="));
    options.collect::<Vec<_>>().join(",")
}

/// The warning about facts that differ between hosts, each with the hosts that differ from most.
pub(crate) fn differing(fleet: &FleetFindings) -> Option<Warning> {
    let unusual = |one: &FactDifference| {
        let hosts = one.values.iter().skip(1).flat_map(|(_, hosts)| hosts.clone()).collect();
        (one.name.clone(), hosts)
    };
    let facts: Vec<(String, Vec<String>)> = fleet.differences.iter().map(unusual).collect();
    (!facts.is_empty()).then_some(Warning::HostsDiffer { facts })
}

fn name_of(hosts: &[FleetHost], host: usize) -> String {
    hosts.get(host).map_or_else(String::new, |host| host.name.clone())
}

/// The warning about hosts that a run lost while the others continued.
///
/// * `hosts` - those of the experiment
pub(crate) fn hosts_lost(record: &RunRecord, hosts: &[FleetHost]) -> Option<Warning> {
    let lost = record.hosts.iter().enumerate().filter_map(|(host, of_host)| {
        // A run that fails because of a lost host says so itself.
        let (at_ns, why) = of_host.lost().filter(|_| of_host.was_left_behind())?;
        Some((name_of(hosts, host), at_ns, why.to_owned()))
    });
    let lost: Vec<(String, u64, String)> = lost.collect();
    (!lost.is_empty()).then_some(Warning::HostsLost { lost, of: record.hosts.len() as u32 })
}

/// The hosts of a load point, for its warnings.
#[derive(Clone, Copy)]
pub(crate) struct HostsOfPoint<'a> {
    hosts: &'a [FleetHost],
    point: &'a FleetLoadPoint,
}

impl<'a> HostsOfPoint<'a> {
    pub(crate) fn of(
        hosts: &'a [FleetHost],
        fleet: Option<&'a FleetFindings>,
        load_point: usize,
    ) -> Option<HostsOfPoint<'a>> {
        Some(HostsOfPoint { hosts, point: fleet?.load_points.get(load_point)? })
    }

    fn name(self, host: usize) -> String {
        name_of(self.hosts, host)
    }

    /// The warnings about one run's hosts.
    pub(crate) fn warnings_of_run(self, record: &RunRecord) -> Vec<Warning> {
        let mut warnings: Vec<Warning> = hosts_lost(record, self.hosts).into_iter().collect();
        if let Some(StartSpread { spread_ns, error_ns, last }) = StartSpread::of(&record.hosts)
            && (spread_ns + error_ns) as f64 > APART_MAX * record.run.phases.interval_ns as f64
        {
            let last = self.name(last);
            warnings.push(Warning::HostsStartedApart { spread_ns, error_ns, last });
        }
        warnings
    }

    /// The warnings about hosts whose own caches served them, with the repeat concerned. Numbers are the
    /// sums of the hosts named.
    pub(crate) fn cached(self) -> Vec<(u32, Warning)> {
        let mut all: Vec<(u32, Warning)> = Vec::new();
        let runs = self.point.hosts.iter().flat_map(|host| {
            let found = host
                .wire
                .iter()
                .flat_map(|run| run.warnings().into_iter().map(|warning| (run.repeat, warning)));
            found.map(|(repeat, warning)| (host.host, repeat, warning))
        });
        for (host, repeat, warning) in runs {
            let same = |(other, known): &&mut (u32, Warning)| {
                (*other, known.code()) == (repeat, warning.code())
            };
            match all.iter_mut().find(same) {
                Some((_, known)) => add_host(known, self.name(host), &warning),
                None => {
                    let of = self.point.hosts.len() as u32;
                    let hosts = vec![self.name(host)];
                    let on_host = Warning::OnHosts { hosts, of, warning: Box::new(warning) };
                    all.push((repeat, on_host));
                }
            }
        }
        all
    }

    /// A warning about failed operations of a run, with the hosts on which they failed.
    pub(crate) fn with_failures(self, record: &RunRecord, warning: Warning) -> Warning {
        with_failures(self.hosts, &record.hosts, warning)
    }

    /// The warning about a host that is slower than the others with the same share of the load.
    pub(crate) fn slower(self, load_point: &LoadPoint) -> Option<Warning> {
        let hosts = &self.point.hosts;
        let has_equal_shares =
            load_point.signature.workers.is_multiple_of(hosts.len().max(1) as u32);
        if hosts.len() < COMPARED_MIN || !has_equal_shares || !self.point.has_equal_targets {
            return None;
        }
        let rate = |host: &HostSummary| {
            let rate = host.summary.total.achieved_rate_all_kinds()?;
            let is_whole = host.lost.is_none() && host.summary.intervals > 0;
            is_whole.then_some((rate.value, rate.uncertainty?))
        };
        let mut rates: Vec<(usize, (f64, f64))> =
            hosts.iter().filter_map(|host| Some((host.host, rate(host)?))).collect();
        rates.sort_by(|(_, (a, _)), (_, (b, _))| a.total_cmp(b));
        let rates_alone: Vec<(f64, f64)> = rates.iter().map(|(_, rate)| *rate).collect();
        let median = median_if_slower(&rates_alone)?;
        let (host, (rate, _)) = *rates.first()?;
        Some(Warning::HostSlower { host: self.name(host), rate, median })
    }
}

/// Adds a host with its bytes to a warning about cached bytes on other hosts.
fn add_host(known: &mut Warning, host: String, added: &Warning) {
    let Warning::OnHosts { hosts, warning, .. } = known else { return };
    hosts.push(host);
    if let (
        Warning::ServedFromCache { counted_bytes, wire_bytes, .. },
        Warning::ServedFromCache { counted_bytes: counted, wire_bytes: wire, .. },
    ) = (&mut **warning, added)
    {
        *counted_bytes += counted;
        *wire_bytes += wire;
    }
}

/// A warning about failed operations with the hosts on which they failed, most failures first.
fn with_failures(hosts: &[FleetHost], of_run: &[HostRun], warning: Warning) -> Warning {
    let failed = |host: &HostRun| -> u64 {
        let streams = host.intervals.iter().flat_map(|interval| &interval.streams);
        streams.map(StreamInterval::failed).sum()
    };
    let mut failures: Vec<(u64, &FleetHost)> =
        of_run.iter().map(failed).zip(hosts).filter(|(failed, _)| *failed > 0).collect();
    failures.sort_by_key(|(failed, _)| std::cmp::Reverse(*failed));
    Warning::OnHosts {
        hosts: failures.iter().map(|(_, host)| host.name.clone()).collect(),
        of: of_run.len() as u32,
        warning: Box::new(warning),
    }
}

/// The median of the other rates, if the first is certainly lower.
///
/// * `rates` - each with the half-width of its 95 % interval, ascending
fn median_if_slower(rates: &[(f64, f64)]) -> Option<f64> {
    let [(slowest, half), others @ ..] = rates else { return None };
    if rates.len() < COMPARED_MIN {
        return None;
    }
    // Equal if their number is odd.
    let (low, high) = (others[(others.len() - 1) / 2], others[others.len() / 2]);
    let median = f64::midpoint(low.0, high.0);
    let missing = median - slowest;
    let is_certain = missing > half.hypot(low.1.max(high.1)) && missing > SLOWER_MIN * median;
    is_certain.then_some(median)
}

#[cfg(test)]
mod tests {
    use metrics::fleet::HostEvent;
    use metrics::interval::Interval;

    use super::*;

    fn host(events: &[HostEvent]) -> HostRun {
        HostRun { intervals: Vec::new(), events: events.to_vec() }
    }

    #[test]
    fn a_host_is_slower_if_it_is_below_the_median_of_the_others_by_more_than_a_tenth_and_noise() {
        let rates = |rates: &[f64]| rates.iter().map(|rate| (*rate, 1.0)).collect::<Vec<_>>();
        assert_eq!(median_if_slower(&rates(&[100.0, 100.0, 120.0])), None, "9.1 % below 110");
        assert_eq!(median_if_slower(&rates(&[90.0, 100.0, 120.0])), Some(110.0));
        assert_eq!(median_if_slower(&rates(&[80.0, 100.0, 100.0, 100.0, 500.0])), Some(100.0));
        assert_eq!(median_if_slower(&rates(&[80.0, 100.0, 110.0, 500.0])), Some(110.0));
        assert_eq!(median_if_slower(&rates(&[10.0, 100.0])), None, "two hosts have no outlier");
        let uncertain = [(80.0, 30.0), (100.0, 1.0), (100.0, 1.0)];
        assert_eq!(median_if_slower(&uncertain), None);
    }

    #[test]
    fn failed_operations_are_reported_with_their_hosts_most_failures_first() {
        let names = ["a", "b", "c"];
        let hosts = names.map(|name| FleetHost { name: name.to_owned(), ..FleetHost::default() });
        let failing = |failed: u64| {
            let mut stream = StreamInterval::default();
            stream.kinds[0].failed[0] = failed;
            let interval = Interval { streams: vec![stream], ..Interval::default() };
            HostRun { intervals: vec![interval], events: Vec::new() }
        };
        let of_run = [failing(2), failing(0), failing(7)];
        let errors = vec![("read".to_owned(), "input_output".to_owned(), 9)];
        let seen = Warning::ErrorsSeen { errors };
        let Warning::OnHosts { hosts, of, warning } = with_failures(&hosts, &of_run, seen.clone())
        else {
            panic!("it concerns hosts");
        };
        assert_eq!((hosts.as_slice(), of), (&["c".to_owned(), "a".to_owned()][..], 3));
        assert_eq!(*warning, seen);
    }

    #[test]
    fn the_spread_is_between_the_first_and_the_last_start_with_the_errors_of_two_clocks() {
        let started = |late_ns, clock_error_ns| HostEvent::Started { late_ns, clock_error_ns };
        let hosts = [
            host(&[started(500, 10)]),
            host(&[]),
            host(&[started(2_500, 40), HostEvent::Ended]),
            host(&[started(700, 30)]),
        ];
        let spread = StartSpread { spread_ns: 2_000, error_ns: 70, last: 2 };
        assert_eq!(StartSpread::of(&hosts), Some(spread));
        assert_eq!(StartSpread::of(&hosts[..2]), None, "one start alone has no spread");
    }

    #[test]
    fn a_difference_lists_the_most_frequent_value_first_and_ignores_what_must_differ() {
        let host = |name: &str, kernel: &str, options: &str| FleetHost {
            name: name.to_owned(),
            boot_id: name.to_owned(),
            facts: vec![
                ("host.name".to_owned(), name.to_owned()),
                ("kernel.release".to_owned(), kernel.to_owned()),
                ("mount.super_options".to_owned(), options.to_owned()),
            ],
        };
        let hosts = [
            host("a", "6.1", "rw,clientaddr=10.0.0.1"),
            host("b", "6.8", "rw,clientaddr=10.0.0.2"),
            host("c", "6.8", "rw,clientaddr=10.0.0.3"),
        ];
        let found = differences(&hosts, &[]);
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        assert_eq!(
            found,
            [FactDifference {
                name: "kernel.release".to_owned(),
                values: vec![
                    (Some("6.8".to_owned()), names(&["b", "c"])),
                    (Some("6.1".to_owned()), names(&["a"])),
                ],
            }]
        );
    }

    #[test]
    fn facts_of_several_targets_are_compared_for_each() {
        let host = |name: &str, first: &str, second: &str| FleetHost {
            facts: [
                ("mount.nconnect", first),
                ("mount.nconnect.vol2", second),
                ("target.directory.vol2", name),
            ]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .to_vec(),
            ..FleetHost::default()
        };
        let targets = ["vol1", "vol2"].map(str::to_owned);
        let names = |hosts: &[FleetHost]| -> Vec<String> {
            differences(hosts, &targets).into_iter().map(|one| one.name).collect()
        };
        assert_eq!(names(&[host("a", "8", "8"), host("b", "8", "1")]), ["mount.nconnect.vol2"]);
        assert_eq!(names(&[host("a", "8", "8"), host("b", "1", "8")]), ["mount.nconnect.vol1"]);
    }

    #[test]
    fn hosts_are_missing_from_the_first_loss_on() {
        let lost =
            |at_ns| HostEvent::Lost { at_ns, why: "gone".to_owned(), others_continued: true };
        let hosts = [host(&[]), host(&[lost(900)]), host(&[lost(300)]), host(&[HostEvent::Ended])];
        let missing = MissingHosts { remaining: 2, of: 4, from_ns: 300 };
        assert_eq!(MissingHosts::of(&hosts), Some(missing));
        assert_eq!(MissingHosts::of(&hosts[..1]), None);
    }

    #[test]
    fn only_the_address_of_the_client_is_removed_from_mount_options() {
        let of = |options| without_client_address(options);
        assert_eq!(of("rw,clientaddr=10.0.0.1,nconnect=4"), "rw,nconnect=4");
        assert_eq!(of("addr=10.0.0.9"), "addr=10.0.0.9");
    }
}
