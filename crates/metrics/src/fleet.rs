//! Several hosts in one run: what each measured, and the intervals of all of them together.
//!
//! Totals are never stored. They are merged from the hosts' intervals by [`Gather`], while measuring and
//! when a record is read, so that they are the same bit for bit.

use std::collections::{BTreeMap, VecDeque};

use serde::{Deserialize, Serialize};

use crate::interval::Interval;
use crate::run_record::Outcome;

/// A host of a fleet. Journals store the fields in this order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FleetHost {
    /// The name by which the user reaches it.
    pub name: String,
    /// Changes when the machine restarts; equal for two hosts that are one machine, such as containers.
    pub boot_id: String,
    /// Facts about it, `(name, value)`, as in an environment.
    pub facts: Vec<(String, String)>,
}

/// Something that concerns one host of a run. Journals store a variant as its position here, and its
/// fields in order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum HostEvent {
    /// Its first thread started.
    Started {
        /// How long after the common instant, in nanoseconds.
        late_ns: u64,
        /// The instant is at most this much earlier or later there than on the controller, in
        /// nanoseconds.
        clock_error_ns: u64,
    },
    /// Nothing more came from it.
    Lost {
        /// Time from the run's start, in nanoseconds, from which totals are without it.
        at_ns: u64,
        /// The reason.
        why: String,
        /// The others went on without it; otherwise the run failed.
        others_continued: bool,
    },
    /// Its share of the run ended.
    Ended,
    /// Everything that its share measured is in the record: what was missing came from its spool.
    Collected {
        /// How its share ended.
        outcome: Outcome,
    },
}

/// How the hosts of a fleet were reached, to reach them again. Stored with the record.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reach {
    /// The program's path on the hosts.
    pub agent: String,
    /// The program was copied to the hosts.
    pub push: bool,
    /// The hosts, in their order.
    pub hosts: Vec<ReachedHost>,
}

/// How a host was reached.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReachedHost {
    /// Its name.
    pub name: String,
    /// What starts its agent: `ssh`, `exec:docker exec -i {host}`.
    pub launcher: String,
}

/// Whose spool a journal on a host is. Spools store the fields in this order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct SpoolOwner {
    /// The ID of the record that the controller writes.
    pub record: String,
    /// The host's position in the fleet.
    pub host: u32,
    /// The host's name there.
    pub host_name: String,
    /// The boot ID of its machine.
    pub boot_id: String,
    /// The agent's process.
    pub process: u32,
    /// When the spool was begun, in milliseconds since 1970 by the host's clock.
    pub begun_unix_ms: u64,
}

/// One host's part of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HostRun {
    /// Every complete interval, in order.
    pub intervals: Vec<Interval>,
    /// What happened to it.
    pub events: Vec<HostEvent>,
}

impl HostRun {
    /// Time from the run's start from which totals are without it, in nanoseconds, and the reason.
    pub fn lost(&self) -> Option<(u64, &str)> {
        self.loss().map(|(at_ns, why, _)| (at_ns, why))
    }

    /// Whether the others continued without it.
    pub fn was_left_behind(&self) -> bool {
        self.loss().is_some_and(|(_, _, others_continued)| others_continued)
    }

    /// The last loss, unless everything was collected since. A host that measured nothing took no part.
    fn loss(&self) -> Option<(u64, &str, bool)> {
        self.events.iter().fold(None, |loss, event| match event {
            HostEvent::Lost { at_ns, why, others_continued } => {
                Some((*at_ns, why.as_str(), *others_continued))
            }
            HostEvent::Collected { .. } if !self.intervals.is_empty() => None,
            HostEvent::Collected { .. } | HostEvent::Started { .. } | HostEvent::Ended => loss,
        })
    }

    /// Whether totals continue without further intervals of the host. Without any of its intervals they are
    /// not those of all hosts, so they continue only if the others knew that.
    pub fn lets_totals_continue(&self) -> bool {
        self.events.iter().any(|event| match event {
            HostEvent::Started { .. } => false,
            HostEvent::Lost { others_continued, .. } => *others_continued,
            HostEvent::Ended | HostEvent::Collected { .. } => !self.intervals.is_empty(),
        })
    }

    /// How long after the common instant it started, and the error of its clock, in nanoseconds.
    pub fn started(&self) -> Option<(u64, u64)> {
        self.events.iter().find_map(|event| match event {
            HostEvent::Started { late_ns, clock_error_ns } => Some((*late_ns, *clock_error_ns)),
            HostEvent::Lost { .. } | HostEvent::Ended | HostEvent::Collected { .. } => None,
        })
    }
}

/// Whether no two hosts are one machine, whose counters would be added twice.
pub fn are_separate_machines(hosts: &[FleetHost]) -> bool {
    separate_machines(hosts).into_iter().all(|is_separate| is_separate)
}

/// For each host, whether no other host is the same machine, so that its counters are only its own.
pub fn separate_machines(hosts: &[FleetHost]) -> Vec<bool> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for host in hosts {
        *counts.entry(&host.boot_id).or_default() += 1;
    }
    let is_separate =
        |host: &FleetHost| !host.boot_id.is_empty() && counts[host.boot_id.as_str()] == 1;
    hosts.iter().map(is_separate).collect()
}

/// Merges the intervals of several hosts by their numbers.
///
/// An interval is complete when every host has delivered it, has ended, or is lost and the others continue.
/// Hosts end at different intervals only after the last operations are issued, while the last of them
/// complete.
#[derive(Clone, Debug)]
pub struct Gather {
    hosts: Vec<Series>,
    /// Number of the next interval.
    next: u32,
    with_wire: bool,
}

#[derive(Clone, Debug, Default)]
struct Series {
    /// Delivered, from `next` on.
    intervals: VecDeque<Interval>,
    /// Nothing follows.
    is_over: bool,
}

impl Gather {
    /// For `hosts` hosts. `with_wire`: they are separate machines, whose counters can be added.
    pub fn new(hosts: usize, with_wire: bool) -> Gather {
        Gather { hosts: vec![Series::default(); hosts], next: 0, with_wire }
    }

    /// Takes an interval of a host; false if it is not the one that follows that host's last.
    pub fn add(&mut self, host: usize, interval: Interval) -> bool {
        let next = self.next;
        let Some(series) = self.hosts.get_mut(host) else { return false };
        let expected = u64::from(next) + series.intervals.len() as u64;
        let is_next = u64::from(interval.index) == expected && !series.is_over;
        if is_next {
            series.intervals.push_back(interval);
        }
        is_next
    }

    /// Nothing more comes from a host, and totals continue without it.
    pub fn end(&mut self, host: usize) {
        if let Some(series) = self.hosts.get_mut(host) {
            series.is_over = true;
        }
    }

    /// Number of the next total.
    pub const fn next_index(&self) -> u32 {
        self.next
    }

    /// The next interval of all hosts together, once it is complete.
    pub fn take(&mut self) -> Option<Interval> {
        if self.hosts.iter().any(|series| series.intervals.is_empty() && !series.is_over) {
            return None;
        }
        let mut intervals = self.hosts.iter_mut().filter_map(|host| host.intervals.pop_front());
        let mut total = intervals.next()?;
        let mut shortest_ns = total.end_ns - total.start_ns;
        for interval in intervals {
            shortest_ns = shortest_ns.min(interval.end_ns - interval.start_ns);
            total.merge(&interval);
        }
        // A total in which a host was stopped is no interval of all hosts, so it is as short as that host's.
        // Workers close a whole interval within one percent of its edge.
        if u128::from(shortest_ns) * 100 < u128::from(total.end_ns - total.start_ns) * 99 {
            total.end_ns = total.start_ns + shortest_ns;
        }
        total.host = None;
        if !self.with_wire {
            total.wire.clear();
        }
        self.next += 1;
        Some(total)
    }
}

/// The totals of a run, from what its hosts delivered.
pub fn totals(hosts: &[HostRun], with_wire: bool) -> Vec<Interval> {
    let mut gather = Gather::new(hosts.len(), with_wire);
    for (number, host) in hosts.iter().enumerate() {
        for interval in &host.intervals {
            gather.add(number, interval.clone());
        }
        if host.lets_totals_continue() {
            gather.end(number);
        }
    }
    std::iter::from_fn(|| gather.take()).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::histogram::Histogram;
    use crate::interval::{KindInterval, StreamInterval, WorkerInterval};

    /// An interval with reads of these service times.
    fn interval(index: u32, lane: u32, times_ns: &[u64]) -> Interval {
        let mut histogram = Histogram::default();
        times_ns.iter().for_each(|time_ns| histogram.record(*time_ns));
        let mut read = KindInterval::default();
        (read.completed, read.bytes) = (times_ns.len() as u64, times_ns.len() as u64 * 4096);
        histogram.drain_into(&mut read.service);
        read.response = read.service.clone();
        let mut stream = StreamInterval { issued: read.completed, ..StreamInterval::default() };
        stream.kinds[0] = read;
        Interval {
            index,
            start_ns: u64::from(index) * 10,
            end_ns: u64::from(index) * 10 + 10,
            streams: vec![stream],
            workers: vec![WorkerInterval { stream: 0, lane, cpu_ns: 1 }],
            process_user_ns: 3,
            ..Interval::default()
        }
    }

    fn host(times_ns: &[&[u64]], lane: u32, events: &[HostEvent]) -> HostRun {
        let intervals = times_ns.iter().enumerate();
        HostRun {
            intervals: intervals.map(|(at, times)| interval(at as u32, lane, times)).collect(),
            events: events.to_vec(),
        }
    }

    fn collected() -> HostEvent {
        HostEvent::Collected { outcome: Outcome::Done }
    }

    #[test]
    fn a_host_is_lost_until_everything_is_collected_and_the_last_event_counts() {
        let lost = |at_ns, others_continued| HostEvent::Lost {
            at_ns,
            why: "cut off".to_owned(),
            others_continued,
        };
        let host = |events: &[HostEvent]| HostRun { intervals: vec![], events: events.to_vec() };
        let cut = host(&[lost(10, true)]);
        assert_eq!((cut.lost(), cut.was_left_behind()), (Some((10, "cut off")), true));
        let longer = host(&[lost(10, true), lost(20, true)]);
        assert_eq!(longer.lost(), Some((20, "cut off")), "more was collected, not all");
        let absent = host(&[lost(0, true), collected()]);
        assert!(absent.was_left_behind(), "it measured nothing");
        let whole = HostRun {
            intervals: vec![interval(0, 0, &[1])],
            events: vec![lost(10, true), collected()],
        };
        assert_eq!((whole.lost(), whole.was_left_behind()), (None, false));
        let failed = host(&[lost(10, false)]);
        assert!(failed.lost().is_some() && !failed.was_left_behind());
    }

    #[test]
    fn a_total_is_as_short_as_the_interval_of_a_host_that_was_stopped() {
        let mut stopped = host(&[&[1], &[1]], 1, &[HostEvent::Ended]);
        stopped.intervals[1].end_ns -= 7;
        let whole = host(&[&[2], &[2]], 2, &[HostEvent::Ended]);
        let totals = totals(&[whole, stopped], false);
        let spans: Vec<(u64, u64)> = totals.iter().map(|one| (one.start_ns, one.end_ns)).collect();
        assert_eq!(spans, [(0, 10), (10, 13)]);
        assert_eq!(totals[1].streams[0].issued, 2, "no operation is left out");
    }

    proptest! {
        #[test]
        fn a_total_is_the_interval_of_all_samples_bit_for_bit(
            times in proptest::collection::vec(
                proptest::collection::vec(1u64..10_000_000_000, 0..40), 1..6),
        ) {
            let hosts: Vec<HostRun> = times
                .iter()
                .zip(0..)
                .map(|(times, lane)| host(&[times.as_slice()], lane, &[HostEvent::Ended]))
                .collect();
            let mut all = interval(0, 0, &times.concat());
            all.workers = (0..times.len() as u32)
                .map(|lane| WorkerInterval { stream: 0, lane, cpu_ns: 1 })
                .collect();
            all.process_user_ns = 3 * times.len() as u64;
            prop_assert_eq!(totals(&hosts, true), [all]);
        }

        #[test]
        fn totals_do_not_depend_on_the_order_of_arrival(order in Just(vec![0, 0, 0, 1, 1, 1, 2, 2, 2]).prop_shuffle()) {
            let hosts = [0, 1, 2].map(|lane| {
                host(&[&[5 + u64::from(lane)], &[7], &[9]], lane, &[HostEvent::Ended])
            });
            let (mut gather, mut live) = (Gather::new(3, true), Vec::new());
            let mut sent = [0; 3];
            for number in order {
                prop_assert!(gather.add(number, hosts[number].intervals[sent[number]].clone()));
                sent[number] += 1;
                live.extend(std::iter::from_fn(|| gather.take()));
            }
            prop_assert_eq!(live, totals(&hosts, true));
        }
    }

    #[test]
    fn totals_wait_for_a_host_and_continue_without_a_lost_one_only_if_the_run_does() {
        let lost = |others_continued| HostEvent::Lost {
            at_ns: 10,
            why: "killed".to_owned(),
            others_continued,
        };
        let whole = host(&[&[1], &[2], &[3]], 0, &[HostEvent::Ended]);
        let completed = |second: &[HostEvent]| -> Vec<u64> {
            let hosts = [whole.clone(), host(&[&[4, 4]], 1, second)];
            totals(&hosts, true).iter().map(|total| total.streams[0].completed()).collect()
        };
        assert_eq!(completed(&[lost(true)]), [3, 1, 1]);
        assert_eq!(completed(&[lost(false)]), [3]);
        // The controller was killed: nothing is known about the second host's later intervals.
        assert_eq!(completed(&[]), [3]);
        assert_eq!(completed(&[HostEvent::Ended]), [3, 1, 1]);
        assert_eq!(completed(&[lost(false), collected()]), [3, 1, 1]);
    }

    #[test]
    fn an_interval_out_of_order_is_refused() {
        let mut gather = Gather::new(1, true);
        assert!(!gather.add(0, interval(1, 0, &[])) && !gather.add(1, interval(0, 0, &[])));
        assert!(gather.add(0, interval(0, 0, &[])) && !gather.add(0, interval(0, 0, &[])));
        gather.end(0);
        assert!(!gather.add(0, interval(1, 0, &[])), "it has ended");
    }

    #[test]
    fn counters_of_one_machine_are_not_added() {
        let host = |boot_id: &str| FleetHost { boot_id: boot_id.to_owned(), ..Default::default() };
        assert!(are_separate_machines(&[host("a"), host("b")]));
        assert!(!are_separate_machines(&[host("a"), host("b"), host("a")]));
        assert!(!are_separate_machines(&[host("a"), host("")]));
        let each = separate_machines(&[host("a"), host("b"), host("a"), host(""), host("c")]);
        assert_eq!(each, [false, true, false, false, true]);
    }
}
