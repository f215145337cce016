//! One simulated experiment: its hosts and faults, and what became of it.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use engine::drive::Stop;
use metrics::interval::Interval;
use metrics::run_record::{ExperimentRecord, Outcome};
use record::frame::Frame;
use runner::fleet_run::OnLost;
use sim::fleet::{Clock, Fault, Host, NetworkPath, Phase, PlannedFault, Random, World};

use super::agent::SimulatedAgent;
use super::disk::Disk;
use super::experiment::{self, Results, SharedResults, VERSION};
use crate::fleet::collect::Collected;

pub(super) const MS_NS: u64 = 1_000_000;
pub(super) const SECOND_NS: u64 = 1_000 * MS_NS;
/// No experiment takes longer.
const LONGEST_NS: u64 = 400 * SECOND_NS;
/// Kinds of faults; see [`kind`].
pub(super) const KINDS: usize = 9;

/// The kind of a fault.
pub(super) const fn kind(fault: &Fault) -> usize {
    match fault {
        Fault::Kill => 0,
        Fault::Freeze { continues_after_ns: None } => 1,
        Fault::Freeze { continues_after_ns: Some(_) } => 2,
        Fault::Cut { recovers_after_ns: None, .. } => 3,
        Fault::Cut { recovers_after_ns: Some(_), .. } => 4,
        Fault::Slow(_) => 5,
        Fault::KillController => 6,
        Fault::SpoolFull => 7,
        Fault::Stall => 8,
    }
}

/// A request of the user to stop.
#[derive(Clone, Copy, Debug)]
pub(super) struct UserStop {
    pub(super) at_ns: u64,
    pub(super) is_now: bool,
}

/// An experiment before it is executed.
#[derive(Clone, Debug)]
pub(super) struct Case {
    pub(super) seed: u64,
    pub(super) hosts: Vec<Host>,
    pub(super) faults: Vec<PlannedFault>,
    pub(super) on_lost: OnLost,
    pub(super) stop: Option<UserStop>,
    /// The host with another version of the program.
    pub(super) other_version: Option<usize>,
}

/// An experiment after it was executed, and its record after it was collected.
#[derive(Debug)]
pub(super) struct Finished {
    pub(super) case: Case,
    /// `None` if the controller was killed.
    pub(super) outcome: Option<Result<Outcome, String>>,
    pub(super) ended_ns: u64,
    /// When each fault happened.
    pub(super) fired: Vec<Option<u64>>,
    pub(super) named: Vec<(u64, String)>,
    pub(super) totals: Vec<(u32, Interval)>,
    pub(super) disks: Vec<Disk>,
    /// The record when the experiment ended.
    pub(super) measured: Option<ExperimentRecord>,
    /// The frames of every spool, by host, when all agents had ended.
    pub(super) spools: Vec<Vec<Frame>>,
    /// The record after it was collected.
    pub(super) collected: Option<(ExperimentRecord, Collected)>,
    /// How often it was collected before.
    pub(super) collected_before: u32,
}

fn random_fault(random: &mut Random) -> Fault {
    let some_ns = |random: &mut Random| MS_NS + random.below(20 * SECOND_NS);
    match random.below(KINDS as u64) {
        0 => Fault::Kill,
        1 => Fault::Freeze { continues_after_ns: None },
        2 => Fault::Freeze { continues_after_ns: Some(some_ns(random)) },
        3 => Fault::Cut {
            recovers_after_ns: None,
            host_notices_after_ns: SECOND_NS + random.below(120 * SECOND_NS),
        },
        4 => {
            Fault::Cut { recovers_after_ns: Some(some_ns(random)), host_notices_after_ns: u64::MAX }
        }
        5 => Fault::Slow(NetworkPath {
            there_ns: random.below(SECOND_NS),
            back_ns: random.below(SECOND_NS),
            jitter_ns: random.below(SECOND_NS),
            bytes_per_s: 100 + random.below(10_000),
        }),
        6 => Fault::KillController,
        7 => Fault::SpoolFull,
        _ => Fault::Stall,
    }
}

fn random_host(number: usize, random: &mut Random) -> Host {
    let hour_ns = 3_600 * SECOND_NS;
    let ahead_ns = match random.below(4) {
        0 => random.below(2 * hour_ns),
        _ => hour_ns + random.below(100 * MS_NS),
    };
    let latency_ns = match random.below(4) {
        0 => random.below(100 * MS_NS),
        _ => 50_000 + random.below(MS_NS),
    };
    Host {
        name: format!("h{number}"),
        clock: Clock {
            monotonic_zero_ns: random.below(1_000_000 * SECOND_NS),
            unix_zero_ns: sim::fleet::world::UNIX_ZERO_NS - hour_ns + ahead_ns,
            drift_ppm: random.below(101) as i64 - 50,
        },
        path: NetworkPath {
            there_ns: latency_ns,
            back_ns: latency_ns / (1 + random.below(3)),
            jitter_ns: random.below(latency_ns),
            bytes_per_s: 10_000_000 + random.below(1_000_000_000),
        },
        starts_within_ns: random.below(2 * SECOND_NS),
    }
}

impl Case {
    /// The experiment of a seed: one to four hosts, and up to two faults.
    pub(super) fn random(seed: u64) -> Case {
        let mut random = Random(seed);
        let count = 1 + random.below(4) as usize;
        let hosts = (0..count).map(|host| random_host(host, &mut random)).collect();
        let faults = (0..random.below(3)).map(|_| PlannedFault {
            host: random.below(count as u64) as usize,
            phase: Phase::ALL[random.below(8) as usize],
            after_ns: match random.below(2) {
                0 => random.below(10 * MS_NS),
                _ => random.below(5 * SECOND_NS),
            },
            fault: random_fault(&mut random),
        });
        // In other phases an agent waits for its storage until the user stops it.
        let can_happen = |one: &PlannedFault| one.fault != Fault::Stall || one.phase.is_in_run();
        let faults = faults.filter(can_happen).collect();
        let stop = (random.below(8) == 0).then(|| UserStop {
            at_ns: random.below(40 * SECOND_NS),
            is_now: random.below(2) == 0,
        });
        let other_version = (random.below(30) == 0).then(|| random.below(count as u64) as usize);
        let on_lost = if seed.is_multiple_of(2) { OnLost::Fail } else { OnLost::Continue };
        Case { seed, hosts, faults, on_lost, stop, other_version }
    }

    /// An experiment on so many hosts, of which some are killed while they measure.
    pub(super) fn of_hosts(count: usize, killed: usize, on_lost: OnLost, seed: u64) -> Case {
        let mut random = Random(seed);
        let hosts = (0..count).map(|host| random_host(host, &mut random)).collect();
        let fault = |number: usize| PlannedFault {
            host: number * (count / killed),
            phase: Phase::Measure,
            after_ns: random.below(5 * SECOND_NS),
            fault: Fault::Kill,
        };
        let faults = (0..killed).map(fault).collect();
        Case { seed, hosts, faults, on_lost, stop: None, other_version: None }
    }

    fn world(&self, disks: &[Disk]) -> World {
        let disks = disks.to_vec();
        let (seed, other_version) = (self.seed, self.other_version);
        let mut processes = 0;
        let new_program = move |host: usize, outbox| {
            processes += 1;
            // Each process of a host differs, and none depends on what others did.
            let random = Random(seed ^ (host as u64) << 32 ^ processes << 48);
            let version = if other_version == Some(host) { "2" } else { VERSION };
            Box::new(SimulatedAgent::new(host, version, disks[host].clone(), outbox, random)) as _
        };
        let random = Random(self.seed.wrapping_mul(31));
        World::new(self.hosts.clone(), self.faults.clone(), random, Box::new(new_program))
    }

    /// Executes the experiment, and collects its record.
    ///
    /// # Panics
    /// It does not end.
    pub(super) fn execute(self) -> Finished {
        let disks: Vec<Disk> = self.hosts.iter().map(|_| Disk::default()).collect();
        let world = Rc::new(RefCell::new(self.world(&disks)));
        let results: SharedResults = Rc::new(RefCell::new(Results::default()));
        let stop = Arc::new(Stop::new());
        if let Some(UserStop { at_ns, is_now }) = self.stop {
            let stop = Arc::clone(&stop);
            let requested = move || if is_now { stop.now() } else { stop.finish_interval() };
            world.borrow_mut().call_at(at_ns, Box::new(requested));
        }
        let is_measuring = Rc::new(RefCell::new(true));
        let context = (self.seed, self.faults.clone());
        let watched = Rc::clone(&is_measuring);
        let watch = move || assert!(!*watched.borrow(), "it does not end: {context:?}");
        world.borrow_mut().call_at(LONGEST_NS, Box::new(watch));

        let plan = experiment::plan(self.hosts.len() as u32);
        let outcome = experiment::run(&world, &plan, self.on_lost, &stop, &results);
        *is_measuring.borrow_mut() = false;
        let ended_ns = world.borrow().now_ns();
        let measured = results.borrow().record.clone();

        let mut collected_before = 0;
        let mut collected = None;
        let mut spools = Vec::new();
        if measured.is_some() && self.other_version.is_none() {
            // First while hosts still measure, and while faults happen.
            if !self.seed.is_multiple_of(3) {
                experiment::collect(&world, &results);
                collected_before = 1;
            }
            let mut all = world.borrow_mut();
            all.repair();
            let now_ns = all.now_ns();
            all.run_until(now_ns + 300 * SECOND_NS);
            assert!(!all.has_processes(), "an agent does not end: {self:?}");
            drop(all);
            spools = disks.iter().map(frames_of).collect();
            let last = experiment::collect(&world, &results).expect("nothing happens any more");
            let record = results.borrow().record.clone();
            collected = record.map(|record| (record, last));
        }
        let fired = world.borrow().fired().to_vec();
        let Results { totals, named, .. } = std::mem::take(&mut *results.borrow_mut());
        Finished {
            case: self,
            outcome,
            ended_ns,
            fired,
            named,
            totals,
            disks,
            measured,
            spools,
            collected,
            collected_before,
        }
    }
}

/// The frames of all spools on a disk.
fn frames_of(disk: &Disk) -> Vec<Frame> {
    let contents = disk.names().into_iter().filter_map(|name| disk.read(&name));
    let frames = contents.flat_map(|content| content.frames);
    frames.map(|(kind, payload)| Frame::decode(kind, &payload).expect("it is whole")).collect()
}
