//! Draws systems at random.

use analysis::verdict::Limit;
use workload::limit::StatedLimit;
use workload::random;

use super::oracle::{self, Workload};
use crate::testbed::{Access, Amounts, Change, Credit, Disk, Neighbour, ServerCpu};

/// Intervals of the warm-up in the default profile.
pub(super) const WARM_UP: u64 = 2;
/// Intervals of the window in the default profile.
pub(super) const WINDOW: u64 = 14;
/// Approximate number of operations in a window; a real one has more, so its figures are more
/// precise.
pub(super) const OPERATIONS: f64 = 4000.0;

/// The characteristic of a system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// One limit is far below the others.
    One(Limit),
    /// No limit is reached at any allowed load.
    Nothing,
    /// Two limits differ by 2 to 60 %.
    TwoClose,
    /// The server's limits change once during the session.
    Moving,
    /// The volume can burst until its credit is spent.
    BurstCredit,
    /// Another client uses part of the limits intermittently.
    Neighbour,
    /// Other processes use this host's processors.
    BusyClient,
    /// Other clients use the server's processors.
    BusyServer,
    /// The page cache of this host serves reads of a mount.
    ClientCache,
    /// The server's cache serves part of the reads.
    ServerCache,
    /// A limit given by the user is wrong.
    FalseKnown,
    /// The quick profile.
    Quick,
    /// The default profile.
    FourCorners,
    /// Two load points.
    TwoPoints,
    /// One load point.
    OnePoint,
}

impl Class {
    /// All classes, with the number of systems of each among 400.
    pub const ALL: [(Class, u64); 25] = [
        (Class::One(Limit::VolumeThroughput), 30),
        (Class::One(Limit::Endpoint), 15),
        (Class::One(Limit::NetworkFlow), 26),
        (Class::One(Limit::VmEgress), 20),
        (Class::One(Limit::Link), 20),
        (Class::One(Limit::ClientCpu), 20),
        (Class::One(Limit::ClientSlots), 15),
        (Class::One(Limit::ServerSlots), 34),
        (Class::One(Limit::ServerCpu), 20),
        (Class::One(Limit::Disk), 22),
        (Class::One(Limit::OperationsPerSecond), 18),
        (Class::Nothing, 20),
        (Class::TwoClose, 24),
        (Class::Moving, 8),
        (Class::BurstCredit, 8),
        (Class::Neighbour, 8),
        (Class::BusyClient, 14),
        (Class::BusyServer, 10),
        (Class::ClientCache, 8),
        (Class::ServerCache, 8),
        (Class::FalseKnown, 14),
        (Class::Quick, 6),
        (Class::FourCorners, 6),
        (Class::TwoPoints, 8),
        (Class::OnePoint, 8),
    ];

    /// The number of the class.
    pub fn number(self) -> u64 {
        Class::ALL.iter().position(|(class, _)| *class == self).expect("every class is listed")
            as u64
    }

    /// The name in tables.
    pub fn name(self) -> String {
        match self {
            Class::One(limit) => limit.code().replace('_', " "),
            Class::Nothing => "no limit within reach".to_owned(),
            Class::TwoClose => "two limits close together".to_owned(),
            Class::Moving => "a limit that moves".to_owned(),
            Class::BurstCredit => "burst credit".to_owned(),
            Class::Neighbour => "a noisy neighbour".to_owned(),
            Class::BusyClient => "a busy client host".to_owned(),
            Class::BusyServer => "a busy server".to_owned(),
            Class::ClientCache => "the page cache answers".to_owned(),
            Class::ServerCache => "the server's cache answers in part".to_owned(),
            Class::FalseKnown => "a false --known".to_owned(),
            Class::Quick => "run --quick".to_owned(),
            Class::FourCorners => "run, the default profile".to_owned(),
            Class::TwoPoints => "two load points".to_owned(),
            Class::OnePoint => "one load point".to_owned(),
        }
    }
}

/// How the user measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// `run --explain`.
    Explain,
    /// `run --quick`.
    Quick,
    /// `run`.
    FourCorners,
    /// `run --set queue_depth=...` with these depths.
    Depths(&'static [u32]),
}

/// A system, the load on it, and the limits that its user knows.
#[derive(Clone, Debug)]
pub struct System {
    /// Its characteristic.
    pub class: Class,
    /// Its amounts.
    pub amounts: Amounts,
    /// How the client accesses it.
    pub access: Access,
    /// Connections of the built-in client, of each host to each volume.
    pub connections: u32,
    /// Number of workers of each host for each volume.
    pub workers: u32,
    /// Number of hosts.
    pub hosts: u32,
    /// Number of volumes, at one address.
    pub volumes: u32,
    /// Share of reads, in thousandths.
    pub read_permille: u16,
    /// Transfer size in bytes.
    pub size_bytes: u64,
    /// Whether access is sequential.
    pub sequential: bool,
    /// How the user measures.
    pub method: Method,
    /// Limits that the user states.
    pub known: Vec<StatedLimit>,
}

impl System {
    /// The workload in the oracle's form.
    pub fn workload(&self) -> Workload {
        let connections = match self.access {
            Access::OwnClient => self.connections,
            Access::Mount { connections } => connections,
        };
        Workload {
            reads: f64::from(self.read_permille) / 1000.0,
            size_bytes: self.size_bytes as f64,
            sequential: self.sequential,
            connections: f64::from(connections),
            workers: f64::from(self.workers),
        }
    }
}

/// A sequence of random draws.
struct Draw {
    seed: u64,
    number: u64,
}

impl Draw {
    fn unit(&mut self) -> f64 {
        self.number += 1;
        random::unit(random::at(self.seed, self.number))
    }

    /// Log-uniform between two values.
    fn between(&mut self, least: f64, most: f64) -> f64 {
        least * (most / least).powf(self.unit())
    }

    fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[(self.unit() * all.len() as f64) as usize]
    }

    fn chance(&mut self, share: f64) -> bool {
        self.unit() < share
    }
}

/// Draws the system of a class and seed.
pub fn draw(class: Class, seed: u64) -> System {
    let mut draw =
        Draw { seed: random::derive(random::derive(seed, 0x5EED), class.number()), number: 0 };
    let limit = limit(class, &mut draw);
    let mount = match class {
        Class::ClientCache => true,
        Class::One(Limit::ClientSlots) => false,
        _ => draw.chance(0.2),
    };
    let workers = draw.of(&[1, 1, 2]);
    let connections = draw.of(&[1, 1, 2, 4, 8]).max(workers);
    let sequential = draw.chance(0.5);
    let size_bytes = if sequential { 65_536 } else { draw.of(&[4096, 8192, 16_384]) };
    // A VM's egress limit affects only writes; caches only reads.
    let read_permille = match (class, limit) {
        (Class::ClientCache | Class::ServerCache, _) => 1000,
        (_, Limit::VmEgress) => 0,
        _ => draw.of(&[0, 1000, 1000]),
    };
    let slow = limit == Limit::ServerSlots;
    let service_ns = if slow { draw.between(2e5, 2e7) } else { draw.between(1e5, 2e6) };
    let amounts = Amounts {
        wire_ns: draw.between(50_000.0, 600_000.0),
        service_ns,
        write_factor: draw.between(0.6, 2.0),
        service_sigma: draw.of(&[0.0, 0.1, 0.3, 0.6]),
        processors: draw.of(&[2, 4, 8, 16]),
        other_load: draw.of(&[0.0, 0.0, 0.3]),
        client_cpu_ns: (draw.between(1000.0, 5000.0), draw.between(20.0, 200.0)),
        client_slots: if mount { 1 << 16 } else { 128 },
        flow_by_direction: draw.chance(0.5),
        ..Amounts::default()
    };
    let access = match mount {
        true => Access::Mount { connections },
        false => Access::OwnClient,
    };
    let mut system = System {
        class,
        amounts,
        access,
        connections,
        workers,
        hosts: 1,
        volumes: 1,
        read_permille,
        size_bytes,
        sequential,
        method: method(class),
        known: Vec::new(),
    };
    let rate = set_limits(&mut system, limit, &mut draw);
    add_disturbance(&mut system, rate, &mut draw);
    system.known = known(&system, &mut draw);
    system
}

fn method(class: Class) -> Method {
    match class {
        Class::Quick => Method::Quick,
        Class::FourCorners => Method::FourCorners,
        Class::TwoPoints => Method::Depths(&[1, 16]),
        Class::OnePoint => Method::Depths(&[16]),
        _ => Method::Explain,
    }
}

/// The limit that a system of this class reaches first.
fn limit(class: Class, draw: &mut Draw) -> Limit {
    let any = [
        Limit::VolumeThroughput,
        Limit::NetworkFlow,
        Limit::Endpoint,
        Limit::VmEgress,
        Limit::Link,
        Limit::ServerSlots,
        Limit::ServerCpu,
        Limit::Disk,
        Limit::OperationsPerSecond,
    ];
    match class {
        Class::One(limit) => limit,
        Class::Moving | Class::Neighbour => {
            draw.of(&[Limit::VolumeThroughput, Limit::Endpoint, Limit::OperationsPerSecond])
        }
        Class::BurstCredit | Class::Nothing => Limit::VolumeThroughput,
        Class::BusyClient => Limit::ClientCpu,
        Class::BusyServer => Limit::ServerCpu,
        Class::ClientCache | Class::ServerCache => Limit::Disk,
        _ => draw.of(&any),
    }
}

/// Sets the amounts of all resources so that `limit` is reached first; returns the rate at which it
/// is reached, in operations per second.
fn set_limits(system: &mut System, limit: Limit, draw: &mut Draw) -> f64 {
    let work = system.workload();
    let size = work.size_bytes;
    let on_wire = size + 1.06 * 300.0;
    let bare_s = (system.amounts.wire_ns + system.amounts.service_ns) / 1e9;
    let knee = match limit {
        Limit::ServerSlots | Limit::ClientSlots => slots(system, limit, draw),
        _ => draw.between(2.5, 48.0),
    };
    let rate = match limit {
        Limit::ServerSlots => knee / (system.amounts.service_ns / 1e9),
        _ => knee / bare_s,
    };
    // The other resources allow a multiple of this.
    let spare = |draw: &mut Draw| draw.between(2.0, 12.0);
    let amounts = &mut system.amounts;
    amounts.volume = Some(rate * size * spare(draw));
    amounts.endpoint = draw.chance(0.5).then(|| rate * size * spare(draw));
    amounts.egress = draw.chance(0.5).then(|| rate * on_wire * spare(draw));
    amounts.link = Some(rate * on_wire * spare(draw));
    amounts.operations = draw.chance(0.2).then(|| rate * spare(draw));
    amounts.client_cpu_ns.0 = amounts.client_cpu_ns.0.min(0.3 * work.workers / rate * 1e9);
    amounts.client_cpu_ns.1 =
        amounts.client_cpu_ns.1.min(0.1 * work.workers / rate * 1e9 / (size / 1024.0));
    set(amounts, limit, &work, rate, draw);
    match system.class {
        Class::TwoClose => {
            let others = [
                Limit::VolumeThroughput,
                Limit::NetworkFlow,
                Limit::Endpoint,
                Limit::Link,
                Limit::OperationsPerSecond,
                Limit::Disk,
            ];
            let mut second = draw.of(&others);
            while second == limit {
                second = draw.of(&others);
            }
            let near = draw.between(1.02, 1.6);
            set(amounts, second, &work, rate * near, draw);
        }
        Class::Nothing => {
            let far = 4096.0 * 4.0 / bare_s;
            *amounts = Amounts {
                volume: amounts.volume.map(|_| far * size),
                endpoint: amounts.endpoint.map(|_| far * size),
                egress: amounts.egress.map(|_| far * on_wire),
                link: Some(far * on_wire),
                operations: None,
                client_slots: 1 << 16,
                client_cpu_ns: (10.0, 0.1),
                ..amounts.clone()
            };
        }
        _ => {}
    }
    rate
}

/// Sets the slots of client or server; returns the number of outstanding operations that fills
/// them.
fn slots(system: &mut System, limit: Limit, draw: &mut Draw) -> f64 {
    let connections = system.workload().connections;
    let amounts = &mut system.amounts;
    if limit == Limit::ClientSlots {
        amounts.client_slots = draw.of(&[8, 16, 32, 64, 128]);
        return f64::from(amounts.client_slots) * connections;
    }
    let count = match draw.chance(0.4) {
        true => draw.of(&[8, 16, 32, 64, 128]),
        false => draw.between(4.0, 128.0).round() as u32,
    };
    if amounts.client_slots < 2 * count {
        amounts.client_slots = 512;
    }
    if draw.chance(0.75) {
        amounts.slots_per_connection = Some(count);
        f64::from(count) * connections
    } else {
        amounts.slots_per_server = Some(count);
        f64::from(count)
    }
}

/// Sets the amount of `limit` so that it is reached at `rate` operations per second.
fn set(amounts: &mut Amounts, limit: Limit, work: &Workload, rate: f64, draw: &mut Draw) {
    let size = work.size_bytes;
    let kib = size / 1024.0;
    let writes = 1.0 - work.reads;
    match limit {
        Limit::VolumeThroughput => amounts.volume = Some(rate * size),
        Limit::Endpoint => amounts.endpoint = Some(rate * size),
        Limit::NetworkFlow => amounts.flow = Some(rate * size / work.connections),
        Limit::VmEgress => {
            amounts.egress = Some(1.0);
            let unit = of(limit, amounts, work);
            amounts.egress = Some(rate / unit);
        }
        Limit::Link => {
            amounts.link = Some(1.0);
            let unit = of(limit, amounts, work);
            amounts.link = Some(rate / unit);
        }
        Limit::OperationsPerSecond => amounts.operations = Some(rate),
        Limit::ClientCpu => {
            let each = work.workers / rate * 1e9;
            let by_size = draw.between(0.05, 0.5);
            amounts.client_cpu_ns = (each * (1.0 - by_size), each * by_size / kib);
            if amounts.other_load == 0.0 {
                amounts.processors = amounts.processors.max(work.workers as u32 + 1);
            }
        }
        Limit::ServerCpu => {
            let processors = draw.of(&[1, 2, 4, 8]);
            let each = f64::from(processors) / rate * 1e9;
            let by_size = draw.between(0.05, 0.6);
            let work_ns = (each * (1.0 - by_size), each * by_size / kib);
            let sigma = draw.between(0.1, 0.8);
            amounts.server_cpu = Some(ServerCpu { processors, work_ns, sigma });
        }
        Limit::Disk => {
            let devices = draw.of(&[1, 2, 4, 8]);
            let write_factor = draw.of(&[1.0, 1.5, 3.0]);
            let each = f64::from(devices) / rate * 1e9 / (work.reads + writes * write_factor);
            // Seeks only for random access, transfers for both.
            let by_size = draw.between(0.1, 0.5);
            let slower = draw.between(1.6, 6.0);
            let own = (each * (1.0 - by_size), each * by_size / kib);
            let (random_ns, sequential_ns) = match work.sequential {
                true => ((own.0 * slower, own.1), own),
                false => (own, (own.0 / slower, own.1)),
            };
            amounts.disk =
                Some(Disk { devices, random_ns, sequential_ns, write_factor, cache: 0.0 });
        }
        Limit::ClientSlots | Limit::ServerSlots => {}
    }
}

/// The ceiling of one limit with the given amounts.
fn of(limit: Limit, amounts: &Amounts, work: &Workload) -> f64 {
    let all = oracle::ceilings(amounts, work);
    all.into_iter().find(|(one, _)| *one == limit).map_or(f64::INFINITY, |(_, rate)| rate)
}

/// Approximate length of a run at this rate, in nanoseconds.
fn run_length_ns(rate: f64) -> f64 {
    OPERATIONS / rate * 1e9 * (WARM_UP + WINDOW) as f64 / WINDOW as f64
}

/// Adds what changes the system while it is measured.
fn add_disturbance(system: &mut System, rate: f64, draw: &mut Draw) {
    let run_ns = run_length_ns(rate);
    let amounts = &mut system.amounts;
    match system.class {
        Class::Moving => {
            let factor = draw.of(&[0.5, 0.7, 1.5, 2.0]);
            amounts.change = Some(Change { at_ns: draw.between(1.5, 12.0) * run_ns, factor });
        }
        Class::BurstCredit => {
            let limit = amounts.volume.expect("it is set");
            let bytes = limit * draw.between(2.0, 20.0) * run_ns / 1e9;
            amounts.credit = Some(Credit { bytes, peak: draw.between(1.5, 4.0) });
        }
        Class::Neighbour => {
            let share = draw.between(0.15, 0.6);
            let period_ns = draw.between(0.05, 1.5) * run_ns;
            amounts.neighbour = Some(Neighbour { share, period_ns });
        }
        Class::BusyClient => {
            // More threads than processors: work takes about twice as long.
            amounts.processors = draw.of(&[1, 2, 4]);
            amounts.other_load = f64::from(amounts.processors) * draw.between(0.6, 2.0);
        }
        Class::BusyServer => {
            if let Some(cpu) = &mut amounts.server_cpu {
                cpu.sigma = draw.between(0.5, 1.2);
            }
            amounts.service_sigma = 0.6;
        }
        Class::ClientCache => amounts.client_cache = draw.between(0.3, 1.0),
        Class::ServerCache => {
            if let Some(disk) = &mut amounts.disk {
                disk.cache = draw.between(0.1, 0.6);
            }
        }
        _ => {}
    }
}

/// The limits that the user states: usually the quota, often the VM's size and the link, seldom
/// others. One in twelve is wrong; in systems of class `FalseKnown` the volume's is.
fn known(system: &System, draw: &mut Draw) -> Vec<StatedLimit> {
    let amounts = &system.amounts;
    let mut stated = Vec::new();
    let mut add =
        |draw: &mut Draw, limit: Limit, amount: Option<f64>, share: f64, is_false: bool| {
            let is_stated = draw.chance(share) || is_false;
            let wrong = draw.chance(1.0 / 12.0) || is_false;
            let factor = if wrong { draw.of(&[0.25, 0.5, 0.8, 1.3, 2.0, 4.0]) } else { 1.0 };
            if let Some(value) = amount.filter(|_| is_stated) {
                let value = (value * factor).round();
                stated.push(StatedLimit { limit, value, origin: "as given".to_owned() });
            }
        };
    let is_false = system.class == Class::FalseKnown;
    add(draw, Limit::VolumeThroughput, amounts.volume, 0.7, is_false);
    add(draw, Limit::VmEgress, amounts.egress, 0.5, false);
    add(draw, Limit::Link, amounts.link, 0.5, false);
    add(draw, Limit::Endpoint, amounts.endpoint, 0.15, false);
    add(draw, Limit::NetworkFlow, amounts.flow, 0.2, false);
    add(draw, Limit::OperationsPerSecond, amounts.operations, 0.1, false);
    // The order in which a record stores them.
    stated.sort_by_key(|one| one.limit.code());
    stated
}
