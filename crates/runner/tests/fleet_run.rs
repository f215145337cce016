//! Runs on several hosts under virtual time: every fault at any instant. A run always ends, its totals are
//! those of the samples of the hosts that they claim to have, and every lost host is named in time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use engine::operations::LaneEnd;
use engine::run::RunEnd;
use metrics::fleet::{HostEvent, HostRun, totals};
use metrics::interval::{Interval, KindInterval, StreamInterval};
use metrics::run_record::Outcome;
use runner::fleet::Progress;
use runner::fleet_run::{
    FleetRun, HostClock, OnLost, READY_WITHIN_NS, RunAction, STALLED_AFTER_NS, StopLevel,
};
use units::Nanos;
use workload::plan::{Phases, Run};

const MS_NS: u64 = 1_000_000;
const SECOND_NS: u64 = 1_000 * MS_NS;
const INTERVAL_NS: u64 = SECOND_NS;
const INTERVALS: u32 = 12;
/// The shell looks at deadlines this often.
const TICK_NS: u64 = 100 * MS_NS;
/// Time from a fault to the name of its host.
const NAMED_WITHIN_NS: u64 = 10 * SECOND_NS;

/// A generator of numbers from a seed (splitmix64).
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)) % bound
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    None,
    /// Its pipe ends at this time, or its session learns then that it is silent.
    Lost(u64),
    /// It opens its files for ever.
    NeverReady,
    /// It delivers nothing from this time on, but its session is alive.
    Stalled(u64),
    /// Its share fails at this time, for example because its mount is gone.
    Fails(u64),
    /// What it delivers from this time on is discarded, because too much waits.
    Discards(u64),
}

struct Host {
    fault: Fault,
    ready_ns: u64,
    delay_ns: u64,
    /// Its monotonic clock minus the caller's, at time 0.
    ahead_ns: i64,
    /// Its clock is faster by this much, in millionths.
    drift_ppm: i64,
    /// The clock as it was sampled last.
    clock: HostClock,
    /// What a sample is off by.
    off_ns: i64,
    /// The common start by its own clock, once it is known.
    known_start_ns: Option<u64>,
    /// Operations that complete in each of its intervals.
    pace: u64,
    late_ns: u64,
    is_stopped: bool,
    ends_after: u32,
    /// Intervals that it has measured.
    measured: u32,
    /// After the run it checks its files for this long.
    checks_ns: u64,
}

impl Host {
    /// Its clock minus the caller's, at a time of the caller's clock.
    fn ahead_at(&self, at_ns: u64) -> i64 {
        self.ahead_ns + at_ns as i64 * self.drift_ppm / 1_000_000
    }
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Tick,
    Ready(usize),
    /// The result of a sample at this time.
    Clock(usize, u64),
    Interval(usize, u32),
    Measured(usize),
    Ended(usize),
    Lost(usize),
    UserStops,
}

fn interval(index: u32, pace: u64) -> Interval {
    let mut stream = StreamInterval { issued: pace, ..StreamInterval::default() };
    stream.kinds[0] =
        KindInterval { completed: pace, bytes: pace * 4096, ..KindInterval::default() };
    Interval {
        index,
        start_ns: u64::from(index) * INTERVAL_NS,
        end_ns: u64::from(index + 1) * INTERVAL_NS,
        streams: vec![stream],
        ..Interval::default()
    }
}

fn run(hosts: u32) -> Run {
    Run {
        index: 0,
        variant: "v".to_owned(),
        parameters: Vec::new(),
        repeat: 0,
        seed: 1,
        hosts,
        connections: None,
        streams: Vec::new(),
        phases: Phases {
            warm_up_ns: 0,
            measure_ns: u64::from(INTERVALS) * INTERVAL_NS,
            interval_ns: INTERVAL_NS,
        },
        tolerated_errors: 0,
        operation_deadline_ns: 60 * SECOND_NS,
    }
}

struct World {
    core: FleetRun,
    hosts: Vec<Host>,
    events: BinaryHeap<Reverse<(u64, u64, Event)>>,
    number: u64,
    /// What the core reported, in order, with the time.
    reported: Vec<(u64, Progress)>,
    /// `named_ns[host]`: when it was first reported that it makes no progress.
    named_ns: Vec<Option<u64>>,
    /// The start of each host in the caller's time.
    starts_ns: Vec<u64>,
    /// The errors that were stated for these starts.
    errors_ns: Vec<u64>,
}

/// A run that is over.
struct Finished {
    end: RunEnd,
    reported: Vec<(u64, Progress)>,
    /// `named_ns[host]`: when it was first reported that it makes no progress.
    named_ns: Vec<Option<u64>>,
    hosts: Vec<Host>,
    /// The start of each host in the caller's time.
    starts_ns: Vec<u64>,
    /// The errors that were stated for these starts.
    errors_ns: Vec<u64>,
    ended_ns: u64,
}

impl World {
    fn new(hosts: Vec<Host>, on_lost: OnLost, stops_at_ns: Option<u64>) -> World {
        let names: Vec<String> = (0..hosts.len()).map(|host| format!("h{host}")).collect();
        let lost = vec![None; hosts.len()];
        let core = FleetRun::new(&run(hosts.len() as u32), &names, &lost, on_lost, false, 0);
        let (events, reported, starts_ns) = Default::default();
        let (named_ns, errors_ns) = (vec![None; hosts.len()], Vec::new());
        let mut world =
            World { core, hosts, events, number: 0, reported, named_ns, starts_ns, errors_ns };
        world.at(0, Event::Tick);
        for host in 0..world.hosts.len() {
            let Host { fault, ready_ns, delay_ns, .. } = world.hosts[host];
            if fault != Fault::NeverReady {
                world.at(ready_ns + delay_ns, Event::Ready(host));
            }
            if let Fault::Lost(at_ns) = fault {
                world.at(at_ns, Event::Lost(host));
            }
        }
        if let Some(at_ns) = stops_at_ns {
            world.at(at_ns, Event::UserStops);
        }
        world
    }

    fn at(&mut self, time_ns: u64, event: Event) {
        self.number += 1;
        self.events.push(Reverse((time_ns, self.number, event)));
    }

    fn run_to_end(mut self) -> Finished {
        let mut now_ns = 0;
        while !self.core.is_over() {
            assert!(now_ns < 1_000 * SECOND_NS, "a run ends: {:?}", self.core);
            let Reverse((time_ns, _, event)) = self.events.pop().expect("a run ends");
            now_ns = time_ns;
            self.handle(now_ns, event);
            while let Some(action) = self.core.next_action() {
                self.perform(now_ns, action);
            }
            while let Some(progress) = self.core.next_progress() {
                self.reported.push((now_ns, progress));
            }
        }
        let World { core, hosts, reported, named_ns, starts_ns, errors_ns, .. } = self;
        let (end, ended_ns) = (core.into_end(), now_ns);
        Finished { end, reported, named_ns, hosts, starts_ns, errors_ns, ended_ns }
    }

    fn handle(&mut self, now_ns: u64, event: Event) {
        match event {
            Event::Tick => {
                self.core.tick(now_ns, |_| true);
                self.at(now_ns + TICK_NS, Event::Tick);
            }
            Event::Clock(host, sampled_ns) => {
                let one = &mut self.hosts[host];
                let ahead_ns = one.ahead_at(sampled_ns) + one.off_ns;
                one.clock = HostClock { ahead_ns, sampled_ns, ..one.clock };
                self.core.clock_sampled(host, one.clock, now_ns);
            }
            Event::Ready(host) => self.core.ready(host, now_ns),
            Event::Interval(host, index) => {
                let Host { pace, fault, .. } = self.hosts[host];
                self.hosts[host].measured += 1;
                if !matches!(fault, Fault::Discards(at_ns) if at_ns <= now_ns) {
                    self.core.interval(host, interval(index, pace), now_ns);
                }
            }
            Event::Measured(host) => self.core.measured(host, now_ns),
            Event::Ended(host) => {
                let outcome = match self.hosts[host].fault {
                    Fault::Fails(_) => Outcome::Failed { reason: "EIO".to_owned() },
                    _ if self.hosts[host].is_stopped => Outcome::Interrupted,
                    _ => Outcome::Done,
                };
                let started_late_ns = Some(self.hosts[host].late_ns);
                let measured = self.hosts[host].measured;
                let lane = LaneEnd { stream: 0, target: 0, lane: host as u32, steps: None };
                let lanes = vec![lane];
                let end = RunEnd { started_late_ns, lanes, ..RunEnd::of(outcome) };
                self.core.ended(host, end, measured);
            }
            Event::Lost(host) => self.core.lost(host, "killed"),
            Event::UserStops => self.core.stop(StopLevel::AtInterval, None, now_ns),
        }
    }

    fn perform(&mut self, now_ns: u64, action: RunAction) {
        match action {
            RunAction::SampleClock { host } => {
                let delay_ns = self.hosts[host].delay_ns;
                self.at(now_ns + 2 * delay_ns, Event::Clock(host, now_ns + delay_ns));
            }
            RunAction::Go { host, start_ns, clock_error_ns } => {
                self.hosts[host].known_start_ns = Some(start_ns);
                let back =
                    |ahead_ns: i64| start_ns.checked_add_signed(-ahead_ns).expect("in range");
                // Back from the host's clock as it was sampled.
                let start_ns = back(self.hosts[host].clock.ahead_ns);
                assert!(start_ns > now_ns, "the start is ahead");
                let wrong_ns = back(self.hosts[host].ahead_at(start_ns)).abs_diff(start_ns);
                assert!(wrong_ns <= clock_error_ns, "{wrong_ns} ns, stated {clock_error_ns} ns");
                self.errors_ns.push(clock_error_ns);
                self.starts_ns.push(start_ns);
                let Host { fault, delay_ns, ends_after, checks_ns, .. } = self.hosts[host];
                let cut_ns = match fault {
                    Fault::Lost(at_ns) | Fault::Stalled(at_ns) | Fault::Fails(at_ns) => at_ns,
                    Fault::None | Fault::NeverReady | Fault::Discards(_) => u64::MAX,
                };
                for index in 0..ends_after {
                    let end_ns = start_ns + u64::from(index + 1) * INTERVAL_NS + delay_ns;
                    if end_ns < cut_ns {
                        self.at(end_ns, Event::Interval(host, index));
                    }
                }
                let end_ns = start_ns + u64::from(ends_after) * INTERVAL_NS + 2 * delay_ns;
                match fault {
                    Fault::Fails(at_ns) => self.at(at_ns.max(start_ns), Event::Ended(host)),
                    Fault::Stalled(_) | Fault::Lost(_) => {}
                    _ => {
                        self.at(end_ns, Event::Measured(host));
                        self.at(end_ns + checks_ns, Event::Ended(host));
                    }
                }
            }
            RunAction::EndAt { host, end_ns } => {
                assert!(end_ns.is_multiple_of(INTERVAL_NS), "an edge of intervals");
                self.hosts[host].is_stopped = true;
                let start_ns = self.starts_ns.first().copied().unwrap_or(now_ns);
                self.at(start_ns + end_ns + self.hosts[host].delay_ns, Event::Ended(host));
            }
            RunAction::Stop { host } => {
                self.hosts[host].is_stopped = true;
                let answers = match self.hosts[host].fault {
                    Fault::NeverReady => false,
                    Fault::Stalled(at_ns) | Fault::Lost(at_ns) => at_ns > now_ns,
                    Fault::None | Fault::Fails(_) | Fault::Discards(_) => true,
                };
                if answers {
                    self.at(now_ns + self.hosts[host].delay_ns, Event::Ended(host));
                }
            }
            RunAction::ReportWait { host, .. } => {
                self.named_ns[host].get_or_insert(now_ns);
            }
            RunAction::GiveUp { host, why } => {
                let fault = self.hosts[host].fault;
                let is_right = match fault {
                    Fault::NeverReady | Fault::Stalled(_) | Fault::Lost(_) => true,
                    Fault::Discards(_) => {
                        why.contains("did not arrive") || why.contains("no interval arrived")
                    }
                    Fault::None | Fault::Fails(_) => false,
                };
                assert!(is_right, "{fault:?}: {why}");
            }
        }
    }
}

fn random_host(random: &mut Random) -> Host {
    let at_ns = random.below(15 * SECOND_NS);
    let error_ns = random.below(100 * MS_NS);
    let fault = match random.below(10) {
        0 => Fault::Lost(at_ns),
        1 => Fault::NeverReady,
        2 => Fault::Stalled(at_ns),
        3 => Fault::Fails(at_ns),
        4 => Fault::Discards(at_ns),
        _ => Fault::None,
    };
    Host {
        fault,
        ready_ns: random.below(2 * SECOND_NS),
        delay_ns: random.below(300 * MS_NS),
        ahead_ns: random.below(7_200 * SECOND_NS) as i64,
        drift_ppm: random.below(199) as i64 - 99,
        clock: HostClock { ahead_ns: 0, error_ns, sampled_ns: 0 },
        off_ns: random.below(2 * error_ns + 1) as i64 - error_ns as i64,
        known_start_ns: None,
        pace: random.below(1_000),
        late_ns: random.below(MS_NS),
        is_stopped: false,
        ends_after: INTERVALS + random.below(2) as u32,
        measured: 0,
        checks_ns: random.below(20 * SECOND_NS),
    }
}

/// What the core reported about each host.
fn by_host(hosts: usize, reported: &[(u64, Progress)]) -> Vec<HostRun> {
    let mut all = vec![HostRun::default(); hosts];
    for (_, progress) in reported {
        match progress {
            Progress::HostInterval(host, interval) => {
                all[*host as usize].intervals.push(interval.clone());
            }
            Progress::HostEvent(host, event) => all[*host as usize].events.push(event.clone()),
            Progress::Interval(_) | Progress::Warning(_) => {}
        }
    }
    all
}

fn check(seed: u64, on_lost: OnLost) {
    let mut random = Random(seed);
    let count = 1 + random.below(6) as usize;
    let hosts: Vec<Host> = (0..count).map(|_| random_host(&mut random)).collect();
    let stops_at_ns = (random.below(4) == 0).then(|| random.below(12 * SECOND_NS));
    let faults: Vec<Fault> = hosts.iter().map(|host| host.fault).collect();
    let context = format!("seed {seed}, {on_lost:?}, {faults:?}, stopped at {stops_at_ns:?}");
    let Finished { end, reported, named_ns, hosts, starts_ns, ended_ns, .. } =
        World::new(hosts, on_lost, stops_at_ns).run_to_end();
    // All get the same instant.
    assert!(starts_ns.windows(2).all(|pair| pair[0] == pair[1]), "{context}: {starts_ns:?}");
    // What a record holds gives the totals that were reported, whatever happened.
    let stored = by_host(count, &reported);
    let live: Vec<Interval> = reported
        .iter()
        .filter_map(|(_, progress)| match progress {
            Progress::Interval(interval) => Some(interval.clone()),
            _ => None,
        })
        .collect();
    assert_eq!(live, totals(&stored, false), "{context}");
    for (index, total) in live.iter().enumerate() {
        let of_host =
            |host: &HostRun| host.intervals.get(index).map(|one| one.streams[0].completed());
        let sum: u64 = stored.iter().filter_map(of_host).sum();
        assert_eq!(total.streams[0].completed(), sum, "{context}, interval {index}");
        // A total without a host is labelled, or the host had ended as planned.
        for (host, of_host) in stored.iter().enumerate() {
            let is_labelled = of_host.was_left_behind()
                && of_host.lost().is_some_and(|(at_ns, _)| at_ns <= total.start_ns);
            let has_ended =
                of_host.events.contains(&HostEvent::Ended) && !of_host.intervals.is_empty();
            let is_missing = of_host.intervals.len() <= index;
            assert!(!is_missing || is_labelled || has_ended, "{context}, {host} in {index}");
        }
    }
    let has_started = !starts_ns.is_empty();
    let start_ns = starts_ns.first().copied().unwrap_or(0);
    for (host, (fault, of_host)) in faults.iter().zip(&stored).enumerate() {
        let context = format!("{context}, host {host}");
        let noticed_ns = reported.iter().find_map(|(at_ns, progress)| match progress {
            Progress::HostEvent(of, HostEvent::Lost { .. }) if *of as usize == host => Some(*at_ns),
            _ => None,
        });
        match (fault, noticed_ns) {
            (Fault::None, Some(_)) => panic!("{context}: it is not lost"),
            (Fault::Fails(_), Some(_)) => {
                assert!(of_host.intervals.is_empty(), "{context}: it took part");
            }
            (Fault::Lost(at_ns), Some(noticed_ns)) => assert_eq!(noticed_ns, *at_ns, "{context}"),
            (Fault::Stalled(at_ns), Some(noticed_ns)) => {
                // A run that never started is stopped at the latest when a host is not ready in time.
                let from_ns = if has_started { start_ns.max(*at_ns) } else { READY_WITHIN_NS };
                let latest = from_ns + STALLED_AFTER_NS + 2 * INTERVAL_NS + TICK_NS;
                assert!(noticed_ns <= latest, "{context}: {}", Nanos(noticed_ns as f64));
            }
            (Fault::NeverReady, Some(noticed_ns)) => {
                assert!(noticed_ns <= READY_WITHIN_NS + TICK_NS, "{context}");
            }
            (Fault::Discards(at_ns), Some(noticed_ns)) => {
                assert!(noticed_ns >= *at_ns, "{context}: nothing was discarded yet");
            }
            // The run had ended, or the fault came after this host's end.
            (_, None) => {}
        }
        if let Some((at_ns, _)) = of_host.lost() {
            assert_eq!(at_ns, of_host.intervals.len() as u64 * INTERVAL_NS, "{context}");
        }
    }
    for (host, named_ns) in hosts.iter().zip(&named_ns) {
        let context = format!("{context}: {:?} named at {named_ns:?}", host.fault);
        match host.fault {
            Fault::NeverReady => {
                let is_named = named_ns.is_some_and(|at_ns| at_ns <= NAMED_WITHIN_NS);
                assert!(is_named || ended_ns <= NAMED_WITHIN_NS, "{context}");
            }
            Fault::Stalled(at_ns) if has_started => {
                let latest_ns = at_ns.max(start_ns) + NAMED_WITHIN_NS;
                let is_named = named_ns.is_some_and(|at_ns| at_ns <= latest_ns);
                assert!(is_named || ended_ns <= latest_ns, "{context}");
            }
            // It may take long to check its files, which is named too.
            Fault::None if host.checks_ns < 7 * SECOND_NS => {
                assert_eq!(*named_ns, None, "{context}")
            }
            _ => {}
        }
    }
    // A tree of names is compared only if the steps of all hosts are known.
    let mut lanes: Vec<u32> = end.lanes.iter().map(|lane| lane.lane).collect();
    lanes.sort_unstable();
    let has_ended = |host: &u32| stored[*host as usize].events.contains(&HostEvent::Ended);
    assert_eq!(lanes, (0..count as u32).filter(has_ended).collect::<Vec<_>>(), "{context}");
    let is_lost = stored.iter().any(|host| host.lost().is_some());
    if on_lost == OnLost::Fail && is_lost {
        assert!(matches!(end.outcome, Outcome::Failed { .. }), "{context}: {end:?}");
    }
    if faults.iter().all(|fault| *fault == Fault::None) && stops_at_ns.is_none() {
        assert_eq!(end.outcome, Outcome::Done, "{context}");
        assert!(has_started && live.len() >= INTERVALS as usize, "{context}");
        let late = stored.iter().map(|host| host.started().map(|(late_ns, _)| late_ns));
        let expected = hosts.iter().map(|host| Some(host.late_ns));
        assert!(late.eq(expected), "{context}");
    }
    let longest_ns = READY_WITHIN_NS + 40 * SECOND_NS;
    assert!(ended_ns <= longest_ns, "{context}: {}", Nanos(ended_ns as f64));
}

#[test]
fn with_every_fault_at_any_instant_a_run_ends_and_no_total_is_unlabelled() {
    for seed in 0..10_000 {
        check(seed, if seed % 2 == 0 { OnLost::Fail } else { OnLost::Continue });
    }
}

#[test]
fn a_run_on_1000_hosts_starts_once_and_adds_up() {
    let mut random = Random(7);
    let hosts: Vec<Host> = (0..1_000)
        .map(|_| Host { fault: Fault::None, ends_after: INTERVALS, ..random_host(&mut random) })
        .collect();
    let paces: u64 = hosts.iter().map(|host| host.pace).sum();
    let Finished { end, reported, .. } = World::new(hosts, OnLost::Fail, None).run_to_end();
    assert_eq!(end.outcome, Outcome::Done);
    let totals: Vec<u64> = reported
        .iter()
        .filter_map(|(_, progress)| match progress {
            Progress::Interval(interval) => Some(interval.streams[0].completed()),
            _ => None,
        })
        .collect();
    assert_eq!(totals, vec![paces; INTERVALS as usize]);
}

#[test]
fn the_stated_error_of_the_start_covers_clocks_that_run_apart_while_a_host_opens_its_files() {
    let mut random = Random(11);
    let mut host = |ready_ns, drift_ppm| Host {
        fault: Fault::None,
        ready_ns,
        drift_ppm,
        delay_ns: MS_NS,
        clock: HostClock { error_ns: MS_NS / 2, ..RIGHT_CLOCK },
        off_ns: 0,
        ends_after: INTERVALS,
        ..random_host(&mut random)
    };
    // Until the last host is ready, the first clock is off by 5.4 ms.
    let hosts = vec![host(0, 90), host(60 * SECOND_NS, -90)];
    let Finished { end, errors_ns, .. } = World::new(hosts, OnLost::Fail, None).run_to_end();
    assert_eq!(end.outcome, Outcome::Done);
    // Each start was compared with the truth. The stated error is little more than that of a sample.
    assert_eq!(errors_ns.len(), 2);
    assert!(errors_ns.iter().all(|ns| (MS_NS / 2..MS_NS).contains(ns)), "{errors_ns:?}");
}

#[test]
fn a_host_that_is_lost_after_the_others_have_ended_is_not_every_host() {
    let names = ["a".to_owned(), "b".to_owned()];
    let outcome = |first_ends: bool| {
        let mut core = FleetRun::new(&run(2), &names, &[None, None], OnLost::Continue, false, 0);
        match first_ends {
            true => core.ended(0, RunEnd::of(Outcome::Done), 0),
            false => core.lost(0, "it is frozen"),
        }
        core.lost(1, "it is frozen");
        assert!(core.is_over());
        core.into_end().outcome
    };
    assert_eq!(outcome(true), Outcome::Done);
    let reason = "every host is lost; b: it is frozen".to_owned();
    assert_eq!(outcome(false), Outcome::Failed { reason });
}

#[test]
fn the_others_start_when_the_last_host_that_prepares_is_lost() {
    let names = ["a".to_owned(), "b".to_owned()];
    let mut core = FleetRun::new(&run(2), &names, &[None, None], OnLost::Continue, false, 0);
    core.ready(0, 0);
    core.lost(1, "its agent ended");
    core.tick(TICK_NS, |_| true);
    assert_eq!(core.next_action(), Some(RunAction::SampleClock { host: 0 }));
    core.clock_sampled(0, RIGHT_CLOCK, TICK_NS);
    let action = core.next_action();
    assert!(matches!(action, Some(RunAction::Go { host: 0, .. })), "{action:?}");
}

const RIGHT_CLOCK: HostClock = HostClock { ahead_ns: 0, error_ns: 0, sampled_ns: 0 };

/// Two hosts that have started, at 0 of the clock of their run. Returns the run with its start.
fn started(interval_ns: u64) -> (FleetRun, u64) {
    let names = ["a".to_owned(), "b".to_owned()];
    let mut run = run(2);
    run.phases.interval_ns = interval_ns;
    let mut core = FleetRun::new(&run, &names, &[None, None], OnLost::Continue, false, 0);
    (0..2).for_each(|host| core.ready(host, 0));
    (0..2).for_each(|host| core.clock_sampled(host, RIGHT_CLOCK, 0));
    let starts = std::iter::from_fn(|| core.next_action());
    let start_ns = starts.filter_map(|action| match action {
        RunAction::Go { start_ns, .. } => Some(start_ns),
        _ => None,
    });
    let start_ns = start_ns.min().expect("it starts");
    (core, start_ns)
}

/// The first host that was reported to make no progress, and how.
fn named(core: &mut FleetRun) -> Option<(usize, String)> {
    let mut actions = std::iter::from_fn(|| core.next_action());
    actions.find_map(|action| match action {
        RunAction::ReportWait { host, wait } => Some((host, wait)),
        _ => None,
    })
}

#[test]
fn a_host_whose_operations_do_not_end_is_named_in_10_s_whatever_the_interval() {
    for interval_ns in [100 * MS_NS, SECOND_NS, 2 * SECOND_NS, 3 * SECOND_NS, 5 * SECOND_NS] {
        let (mut core, start_ns) = started(interval_ns);
        // At the worst time, just after the interval at 30 s began.
        let hung_from = u32::try_from(30 * SECOND_NS / interval_ns).expect("it is small") + 1;
        let hung_ns = start_ns + u64::from(hung_from - 1) * interval_ns;
        let mut found = None;
        for index in 0..u32::MAX {
            let now_ns = start_ns + u64::from(index + 1) * interval_ns;
            let mut hung = interval(index, if index < hung_from { 5 } else { 0 });
            hung.streams[0].outstanding_start = 2;
            hung.streams[0].outstanding_end = 2;
            core.interval(0, hung, now_ns);
            // The other has nothing to do in between.
            core.interval(1, interval(index, u64::from(index.is_multiple_of(50))), now_ns);
            core.tick(now_ns, |_| true);
            found = named(&mut core).map(|(host, wait)| (host, wait, now_ns));
            if found.is_some() {
                break;
            }
        }
        let (host, wait, named_ns) = found.expect("it is named");
        assert!(host == 0 && wait.starts_with("no operation completed for "), "{host}: {wait}");
        assert!(wait.contains("2 in flight"), "{wait}");
        let took_ns = named_ns - hung_ns;
        assert!(took_ns <= NAMED_WITHIN_NS, "{interval_ns}: {}", Nanos(took_ns as f64));
    }
}

#[test]
fn a_host_that_delivers_nothing_is_named_in_10_s_up_to_intervals_of_8_s() {
    for interval_ns in [100 * MS_NS, SECOND_NS, 3 * SECOND_NS, 8 * SECOND_NS] {
        let (mut core, start_ns) = started(interval_ns);
        let mut now_ns = start_ns;
        let mut delivered = 0;
        let (host, wait) = loop {
            now_ns += TICK_NS;
            while start_ns + u64::from(delivered + 1) * interval_ns <= now_ns {
                core.interval(1, interval(delivered, 1), now_ns);
                delivered += 1;
            }
            core.tick(now_ns, |_| true);
            if let Some(named) = named(&mut core) {
                break named;
            }
        };
        assert!(host == 0 && wait.starts_with("no interval for "), "{host}: {wait}");
        assert!(now_ns - start_ns <= NAMED_WITHIN_NS, "{interval_ns}: {wait}");
    }
}

#[test]
fn a_host_that_does_not_respond_is_not_said_to_be_alive() {
    let (mut core, start_ns) = started(100 * MS_NS);
    for index in 0..200 {
        let now_ns = start_ns + u64::from(index + 1) * 100 * MS_NS;
        core.interval(1, interval(index, 1), now_ns);
        core.tick(now_ns, |host| host != 0);
        assert_eq!(named(&mut core), None);
    }
    assert!(!core.is_over());
    // Whether it has a fault or is alive without progress is known as soon as it responds.
    core.tick(start_ns + 20 * SECOND_NS, |_| true);
    let (host, wait) = named(&mut core).expect("it is named");
    assert_eq!((host, wait.as_str()), (0, "no interval for 20 s; its agent responds"));
}
