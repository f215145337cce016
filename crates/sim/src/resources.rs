//! A client, a network and a store of which every resource has a known amount, so that it is known
//! which of them is full: the truth that findings about limits are held against.
//!
//! A closed loop of operations goes through the client's processors, the slots of its connections,
//! the network out, the server's slots, its limits and its storage, and the network back, each in
//! the order of arrival. Coarse on purpose (no TCP, no calls that are split), so that hundreds of
//! systems are cheap. Not for: the product's own code, which `world` and `nfs_world` run.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};

use metrics::connection::ConnectionInterval;
use metrics::histogram::{Counts, bucket_of};
use metrics::interval::{Interval, KindInterval, StreamInterval, WorkerInterval};
use metrics::run_record::{Outcome, RunRecord};
use workload::connection::{CallCounters, TcpState};
use workload::op::OpKind;
use workload::pattern::AccessPattern;
use workload::plan::Run;
use workload::random;

const NS: f64 = 1e9;
/// Bytes around the data of a segment, and in a call without data: a network of its own, near but
/// not equal to what analysis assumes.
const SEGMENT: f64 = 1448.0;
const HEADERS: f64 = 78.0;
const CALL: f64 = 140.0;

/// The amounts. What is `None` has no limit.
#[derive(Clone, Debug, Default)]
pub struct Resources {
    /// There and back, in nanoseconds.
    pub wire_ns: f64,
    /// What every operation takes in the store, in nanoseconds.
    pub service_ns: f64,
    /// Standard deviation of the logarithm of that time.
    pub service_sigma: f64,
    /// Processor time of an operation, and of each KiB it moves, in nanoseconds.
    pub cpu_ns: (f64, f64),
    /// Bytes per second of each volume.
    pub volume: Option<f64>,
    /// Bytes per second of the endpoint.
    pub endpoint: Option<f64>,
    /// Bytes per second of each connection.
    pub flow: Option<f64>,
    /// A connection's limit is of each direction for itself.
    pub flow_by_direction: bool,
    /// Bytes per second that the client sends.
    pub egress: Option<f64>,
    /// Bytes per second of the link, in each direction.
    pub link: Option<f64>,
    /// What waits for the network waits where the kernel sees it in the round-trip time.
    pub queues_in_network: bool,
    /// Calls that the client has outstanding on a connection.
    pub client_slots: u32,
    /// Requests that are served at a time on a connection.
    pub server_slots: Option<u32>,
    /// Operations per second.
    pub operations: Option<f64>,
    /// The storage.
    pub disk: Option<Disk>,
}

/// A storage of several equal servers.
#[derive(Clone, Copy, Debug)]
pub struct Disk {
    /// How many operations are worked on at a time.
    pub servers: u32,
    /// Mean work for a random operation, and for each KiB it moves, in nanoseconds.
    pub random_ns: (f64, f64),
    /// The same for a sequential one.
    pub sequential_ns: (f64, f64),
    /// How many times as much work a write is.
    pub write_factor: f64,
}

/// Something that takes operations one after the other.
#[derive(Clone, Copy, Debug, Default)]
struct Server {
    free_ns: f64,
}

impl Server {
    fn pass(&mut self, at_ns: f64, work_ns: f64) -> f64 {
        self.free_ns = self.free_ns.max(at_ns) + work_ns;
        self.free_ns
    }

    fn waiting_ns(&self, at_ns: f64) -> f64 {
        (self.free_ns - at_ns).max(0.0)
    }
}

/// Permits, and who waits for one.
#[derive(Clone, Debug)]
struct Slots {
    free: u32,
    waiting: VecDeque<usize>,
}

impl Slots {
    fn new(count: u32) -> Slots {
        Slots { free: count, waiting: VecDeque::new() }
    }

    fn take(&mut self, who: usize) -> bool {
        if self.free == 0 {
            self.waiting.push_back(who);
            return false;
        }
        self.free -= 1;
        true
    }

    /// The next holder, if somebody waits.
    fn release(&mut self) -> Option<usize> {
        let next = self.waiting.pop_front();
        if next.is_none() {
            self.free += 1;
        }
        next
    }
}

/// Where an operation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    Issued,
    Sent,
    Arrived,
    Served,
    Answered,
    Completed,
}

/// One of the operations that are always outstanding.
#[derive(Clone, Copy, Debug)]
struct Carried {
    worker: usize,
    connection: usize,
    volume: usize,
    kind: OpKind,
    issued_ns: f64,
    sent_ns: f64,
}

/// What happened on one connection up to now.
#[derive(Clone, Copy, Debug, Default)]
struct Link {
    outstanding: u64,
    since_ns: f64,
    integral: f64,
    calls: u64,
    bytes: u64,
    rtt_ns: f64,
}

impl Link {
    fn count(&mut self, at_ns: f64, change: i64) {
        self.integral += self.outstanding as f64 * (at_ns - self.since_ns);
        self.since_ns = at_ns;
        self.outstanding = self.outstanding.saturating_add_signed(change);
    }
}

/// One interval being counted.
#[derive(Clone, Debug, Default)]
struct Tally {
    issued: u64,
    completed: [u64; 2],
    sums_ns: [u128; 2],
    buckets: [BTreeMap<u32, u64>; 2],
    extremes_ns: [(u64, u64); 2],
    cpu_ns: Vec<f64>,
}

/// A run of one closed stream of one transfer size, on `connections` connections and `volumes`
/// volumes.
pub fn simulate(
    run: &Run,
    resources: &Resources,
    connections: u32,
    volumes: u32,
    seed: u64,
) -> RunRecord {
    World::new(run, resources, connections, volumes, seed).run()
}

struct World<'a> {
    run: &'a Run,
    resources: &'a Resources,
    seed: u64,
    size: f64,
    sequential: bool,
    drawn: u64,
    carried: Vec<Carried>,
    events: BinaryHeap<Reverse<(u64, u64, usize, Stage)>>,
    planned: u64,
    cpus: Vec<Server>,
    client_slots: Vec<Slots>,
    server_slots: Vec<Slots>,
    flows: Vec<[Server; 2]>,
    egress: Server,
    links: [Server; 2],
    operations: Server,
    volumes: Vec<Server>,
    endpoint: Server,
    disks: BinaryHeap<Reverse<u64>>,
    seen: Vec<Link>,
    tally: Tally,
    intervals: Vec<Interval>,
    outstanding_start: u64,
}

impl<'a> World<'a> {
    fn new(
        run: &'a Run,
        resources: &'a Resources,
        connections: u32,
        volumes: u32,
        seed: u64,
    ) -> World<'a> {
        let stream = &run.streams[0];
        let depth = stream.queue_depth_total() as usize;
        let (workers, connections) = (stream.workers as usize, connections as usize);
        let carried = |number: usize| {
            let worker = number % workers;
            Carried {
                worker,
                connection: number % connections,
                volume: number % volumes as usize,
                kind: OpKind::Read,
                issued_ns: 0.0,
                sent_ns: 0.0,
            }
        };
        let slots = |count: u32| vec![Slots::new(count); connections];
        World {
            run,
            resources,
            seed,
            size: stream.transfer_sizes[0].size_bytes as f64,
            sequential: stream.access_pattern == AccessPattern::Sequential,
            drawn: 0,
            carried: (0..depth).map(carried).collect(),
            events: BinaryHeap::new(),
            planned: 0,
            cpus: vec![Server::default(); workers],
            client_slots: slots(resources.client_slots),
            server_slots: slots(resources.server_slots.unwrap_or(u32::MAX)),
            flows: vec![[Server::default(); 2]; connections],
            egress: Server::default(),
            links: [Server::default(); 2],
            operations: Server::default(),
            volumes: vec![Server::default(); volumes as usize],
            endpoint: Server::default(),
            disks: (0..resources.disk.map_or(0, |disk| disk.servers)).map(|_| Reverse(0)).collect(),
            seen: vec![Link { rtt_ns: resources.wire_ns, ..Link::default() }; connections],
            tally: Tally { cpu_ns: vec![0.0; workers], ..Tally::default() },
            intervals: Vec::new(),
            outstanding_start: 0,
        }
    }

    fn run(mut self) -> RunRecord {
        for number in 0..self.carried.len() {
            self.plan(0.0, number, Stage::Issued);
        }
        let phases = self.run.phases;
        while let Some(Reverse((at, _, number, stage))) = self.events.pop() {
            while at >= (self.intervals.len() as u64 + 1) * phases.interval_ns {
                self.turn();
            }
            if self.intervals.len() as u64 * phases.interval_ns >= phases.total_ns() {
                break;
            }
            self.step(at as f64, number, stage);
        }
        RunRecord {
            run: self.run.clone(),
            started_unix_ms: 0,
            intervals: self.intervals,
            warnings: Vec::new(),
            witness: None,
            outcome: Outcome::Done,
        }
    }

    fn plan(&mut self, at_ns: f64, number: usize, stage: Stage) {
        self.planned += 1;
        self.events.push(Reverse((at_ns.round() as u64, self.planned, number, stage)));
    }

    fn unit(&mut self) -> f64 {
        self.drawn += 1;
        1.0 - random::unit(random::at(self.seed, self.drawn))
    }

    fn step(&mut self, now: f64, number: usize, stage: Stage) {
        let op = self.carried[number];
        let write = op.kind == OpKind::Write;
        match stage {
            Stage::Issued => {
                let share = f64::from(self.run.streams[0].read_permille) / 1000.0;
                let kind = if self.unit() <= share { OpKind::Read } else { OpKind::Write };
                self.carried[number] = Carried { kind, issued_ns: now, ..op };
                self.tally.issued += 1;
                let work = self.resources.cpu_ns.0 + self.resources.cpu_ns.1 * self.size / 1024.0;
                self.tally.cpu_ns[op.worker] += work;
                let done = self.cpus[op.worker].pass(now, work);
                self.plan(done, number, Stage::Sent);
            }
            Stage::Sent => {
                if self.client_slots[op.connection].take(number) {
                    self.send(now, number);
                }
            }
            Stage::Arrived => {
                if self.server_slots[op.connection].take(number) {
                    self.serve(now, number);
                }
            }
            Stage::Served => {
                if let Some(next) = self.server_slots[op.connection].release() {
                    self.serve(now, next);
                }
                let size = if write { 0.0 } else { self.size };
                let out = self.network(now, op.connection, 1, size);
                self.plan(out + self.resources.wire_ns / 2.0, number, Stage::Answered);
            }
            Stage::Answered => {
                let link = &mut self.seen[op.connection];
                link.count(now, -1);
                link.calls += 1;
                link.bytes += self.size as u64;
                if let Some(next) = self.client_slots[op.connection].release() {
                    self.send(now, next);
                }
                self.plan(now, number, Stage::Completed);
            }
            Stage::Completed => {
                let took = (now - op.issued_ns).max(1.0) as u64;
                let kind = usize::from(write);
                self.tally.completed[kind] += 1;
                self.tally.sums_ns[kind] += u128::from(took);
                *self.tally.buckets[kind].entry(bucket_of(took)).or_default() += 1;
                let (least, most) = &mut self.tally.extremes_ns[kind];
                *least = if *least == 0 { took } else { (*least).min(took) };
                *most = (*most).max(took);
                self.plan(now, number, Stage::Issued);
            }
        }
    }

    /// Onto the wire.
    fn send(&mut self, now: f64, number: usize) {
        let op = &mut self.carried[number];
        op.sent_ns = now;
        let connection = op.connection;
        let size = if op.kind == OpKind::Write { self.size } else { 0.0 };
        self.seen[connection].count(now, 1);
        let out = self.network(now, connection, 0, size);
        self.plan(out + self.resources.wire_ns / 2.0, number, Stage::Arrived);
    }

    /// Through the network in one direction: out is 0, back is 1.
    fn network(&mut self, now: f64, connection: usize, way: usize, data: f64) -> f64 {
        let bytes = data + CALL;
        let wire = bytes + (bytes / SEGMENT).ceil() * HEADERS;
        let resources = self.resources;
        let mut at = now;
        let mut waits = 0.0;
        if let Some(rate) = resources.flow.filter(|_| data > 0.0) {
            let flow = if resources.flow_by_direction { way } else { 0 };
            waits += self.flows[connection][flow].waiting_ns(at);
            at = self.flows[connection][flow].pass(at, data / rate * NS);
        }
        if let Some(rate) = resources.egress.filter(|_| way == 0) {
            waits += self.egress.waiting_ns(at);
            at = self.egress.pass(at, wire / rate * NS);
        }
        if let Some(rate) = resources.link {
            waits += self.links[way].waiting_ns(at);
            at = self.links[way].pass(at, wire / rate * NS);
        }
        let waits = if resources.queues_in_network { waits } else { 0.0 };
        let rtt = &mut self.seen[connection].rtt_ns;
        let fresh = resources.wire_ns + waits;
        *rtt = 0.875 * *rtt + 0.125 * fresh;
        at
    }

    /// Through the server's limits and its storage.
    fn serve(&mut self, now: f64, number: usize) {
        let op = self.carried[number];
        let resources = self.resources;
        let mut at = now;
        if let Some(rate) = resources.operations {
            at = self.operations.pass(at, NS / rate);
        }
        if let Some(rate) = resources.volume {
            at = self.volumes[op.volume].pass(at, self.size / rate * NS);
        }
        if let Some(rate) = resources.endpoint {
            at = self.endpoint.pass(at, self.size / rate * NS);
        }
        if let Some(disk) = resources.disk {
            let (each, per_kib) = if self.sequential { disk.sequential_ns } else { disk.random_ns };
            let factor = if op.kind == OpKind::Write { disk.write_factor } else { 1.0 };
            let work = -self.unit().ln() * factor * (each + per_kib * self.size / 1024.0);
            let Reverse(free) = self.disks.pop().expect("a storage has servers");
            let done = (free as f64).max(at) + work;
            self.disks.push(Reverse(done.round() as u64));
            at = done;
        }
        let sigma = resources.service_sigma;
        let (a, b) = (self.unit(), self.unit());
        let normal = (-2.0 * a.ln()).sqrt() * (std::f64::consts::TAU * b).cos();
        let service = resources.service_ns * (sigma * normal - sigma * sigma / 2.0).exp();
        self.plan(at + service, number, Stage::Served);
    }

    /// Ends an interval.
    fn turn(&mut self) {
        let interval_ns = self.run.phases.interval_ns;
        let index = self.intervals.len() as u64;
        let (start_ns, end_ns) = (index * interval_ns, (index + 1) * interval_ns);
        let workers = self.tally.cpu_ns.len();
        let fresh = Tally { cpu_ns: vec![0.0; workers], ..Tally::default() };
        let tally = std::mem::replace(&mut self.tally, fresh);
        let mut kinds: [KindInterval; OpKind::COUNT] = Default::default();
        for kind in 0..2 {
            let counts = Counts {
                buckets: tally.buckets[kind].iter().map(|(b, n)| (*b, *n)).collect(),
                over_range: 0,
                sum_ns: tally.sums_ns[kind],
                min_ns: tally.extremes_ns[kind].0,
                max_ns: tally.extremes_ns[kind].1,
            };
            let place = [OpKind::Read, OpKind::Write][kind] as usize;
            kinds[place] = KindInterval {
                completed: tally.completed[kind],
                bytes: tally.completed[kind] * self.size as u64,
                service: counts.clone(),
                response: counts,
                ..KindInterval::default()
            };
        }
        let completed: u64 = tally.completed.iter().sum();
        let outstanding_end = self.outstanding_start + tally.issued - completed;
        let depth = self.carried.len() as u128;
        let stream = StreamInterval {
            issued: tally.issued,
            outstanding_start: self.outstanding_start,
            outstanding_end,
            outstanding_time_ns: depth * u128::from(interval_ns),
            kinds,
            ..StreamInterval::default()
        };
        self.outstanding_start = outstanding_end;
        let cpu_ns = |worker: usize| (tally.cpu_ns[worker] as u64).min(interval_ns);
        let workers: Vec<WorkerInterval> = (0..workers)
            .map(|lane| WorkerInterval { stream: 0, lane: lane as u32, cpu_ns: cpu_ns(lane) })
            .collect();
        let process_user_ns = workers.iter().map(|worker| worker.cpu_ns).sum();
        let connections = self.seen.iter_mut().enumerate().map(|(number, link)| {
            link.count(end_ns as f64, 0);
            let calls =
                CallCounters { operations: link.calls, calls: link.calls, bytes: link.bytes };
            let mut kinds = [CallCounters::default(); OpKind::COUNT];
            kinds[OpKind::Read as usize] = calls;
            let interval = ConnectionInterval {
                number: number as u32,
                kinds,
                outstanding_end: link.outstanding,
                outstanding_time_ns: link.integral as u128,
                span_ns: interval_ns,
                tcp: Some(TcpState { rtt_ns: link.rtt_ns as u64, ..TcpState::default() }),
                ..ConnectionInterval::default()
            };
            (link.calls, link.bytes, link.integral) = (0, 0, 0.0);
            interval
        });
        let connections = connections.collect();
        self.intervals.push(Interval {
            index: index as u32,
            start_ns,
            end_ns,
            streams: vec![stream],
            workers,
            connections,
            process_user_ns,
            ..Interval::default()
        });
    }
}
