//! One run: the event loop in which operations pass through the resources.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use metrics::run_record::{Outcome, RunRecord};
use workload::op::OpKind;
use workload::pattern::AccessPattern;
use workload::plan::Run;
use workload::random;

use super::amounts::Amounts;
use super::servers::{Bucket, Server, Servers, Slots};
use super::tally::{HostLoad, Tally};
use super::{Access, Testbed};

const NS: f64 = 1e9;
/// Bytes of a TCP segment, of its headers, and of an NFS call or reply without data: close but not
/// equal to what analysis assumes.
const SEGMENT: f64 = 1448.0;
const HEADERS: f64 = 78.0;
const CALL: f64 = 140.0;
/// Longest delay of an acknowledgement without a reply (Linux's delayed acknowledgement,
/// TCP_DELACK_MIN).
const DELAYED_ACK_NS: f64 = 40e6;
/// Request data of more segments than this is acknowledged as it arrives.
const SEGMENTS_ACKED: f64 = 2.0;

/// The stages of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    Issued,
    Ready,
    Arrived,
    Served,
    Answered,
    Completed,
}

/// One of the outstanding operations, whose number is constant.
#[derive(Clone, Copy, Debug)]
struct Carried {
    worker: usize,
    host: usize,
    target: usize,
    connection: usize,
    kind: OpKind,
    issued_ns: f64,
    sent_ns: f64,
    /// Time that it waited in the network on the way to the server.
    outbound_wait_ns: f64,
}

pub(super) struct Engine<'a> {
    run: &'a Run,
    amounts: &'a Amounts,
    access: Access,
    /// Session time at which the run begins.
    start_ns: f64,
    seed: u64,
    drawn: u64,
    size: f64,
    sequential: bool,
    carried: Vec<Carried>,
    events: BinaryHeap<Reverse<(u64, u64, usize, Stage)>>,
    planned: u64,
    /// Factor by which other processes on the host's processors slow this process down.
    slowdown: f64,
    workers: Vec<Server>,
    client_slots: Vec<Slots>,
    connection_slots: Vec<Slots>,
    server_slots: Slots,
    flows: Vec<[Server; 2]>,
    egress: Vec<Server>,
    link: Vec<[Server; 2]>,
    server_cpu: Servers,
    operations: Server,
    volumes: Vec<Server>,
    credit: Option<Bucket>,
    endpoint: Server,
    disk: Servers,
    neighbour_on: bool,
    neighbour_until_ns: f64,
    tally: Tally,
}

impl<'a> Engine<'a> {
    pub(super) fn new(
        run: &'a Run,
        amounts: &'a Amounts,
        access: Access,
        start_ns: f64,
        credit: Option<Bucket>,
        seed: u64,
    ) -> Engine<'a> {
        let stream = &run.streams[0];
        let workers = stream.workers as usize;
        let connections = match access {
            Access::OwnClient => match run.connections {
                Some(count) => (count * run.connection_parts()) as usize,
                None => workers,
            },
            Access::Mount { connections } => (connections * run.connection_parts()) as usize,
        };
        let hosts = run.hosts.max(1) as usize;
        let targets = stream.targets.positions.iter().max().map_or(1, |last| *last as usize + 1);
        let carried = |number: usize| Carried {
            worker: number % workers,
            host: number % workers * hosts / workers,
            target: stream.target_lane(run.hosts, (number % workers) as u32).target as usize,
            connection: number % connections,
            kind: OpKind::Read,
            issued_ns: 0.0,
            sent_ns: 0.0,
            outbound_wait_ns: 0.0,
        };
        let slots = |count: Option<u32>| vec![Slots::new(count.unwrap_or(u32::MAX)); connections];
        let processors = f64::from(amounts.processors.max(1));
        let threads = workers as f64 / hosts as f64;
        Engine {
            run,
            amounts,
            access,
            start_ns,
            seed,
            drawn: 0,
            size: stream.transfer_sizes[0].size_bytes as f64,
            sequential: stream.access_pattern == AccessPattern::Sequential,
            carried: (0..stream.queue_depth_total() as usize).map(carried).collect(),
            events: BinaryHeap::new(),
            planned: 0,
            slowdown: ((threads + amounts.other_load) / processors).max(1.0),
            workers: vec![Server::default(); workers],
            client_slots: slots(Some(amounts.client_slots)),
            connection_slots: slots(amounts.slots_per_connection),
            server_slots: Slots::new(amounts.slots_per_server.unwrap_or(u32::MAX)),
            flows: vec![[Server::default(); 2]; connections],
            egress: vec![Server::default(); hosts],
            link: vec![[Server::default(); 2]; hosts],
            server_cpu: Servers::new(amounts.server_cpu.map_or(1, |cpu| cpu.processors)),
            operations: Server::default(),
            volumes: vec![Server::default(); targets],
            credit,
            endpoint: Server::default(),
            disk: Servers::new(amounts.disk.map_or(1, |disk| disk.devices)),
            neighbour_on: false,
            neighbour_until_ns: start_ns,
            tally: Tally::new(workers, connections, targets, amounts.wire_ns),
        }
    }

    /// Runs until the end of the last phase; returns the record and the remaining credit.
    pub(super) fn run(mut self) -> (RunRecord, Option<Bucket>) {
        for number in 0..self.carried.len() {
            self.plan(0.0, number, Stage::Issued);
        }
        let phases = self.run.phases;
        while let Some(Reverse((at, _, number, stage))) = self.events.pop() {
            while at >= self.tally.next_edge_ns(phases.interval_ns) {
                self.turn();
            }
            if self.tally.next_edge_ns(phases.interval_ns) > phases.total_ns() {
                break;
            }
            self.step(at as f64, number, stage);
        }
        let record = RunRecord {
            run: self.run.clone(),
            started_unix_ms: (self.start_ns / 1e6) as u64,
            intervals: self.tally.intervals,
            warnings: Vec::new(),
            hosts: Vec::new(),
            service_counters: None,
            trees: Vec::new(),
            outcome: Outcome::Done,
        };
        (record, self.credit)
    }

    fn turn(&mut self) {
        let host = HostLoad {
            hosts: self.run.hosts.max(1),
            processors: self.amounts.processors.max(1),
            other_load: self.amounts.other_load,
            slowdown: self.slowdown,
        };
        let of_mount = matches!(self.access, Access::Mount { .. });
        self.tally.turn(self.run.phases.interval_ns, self.carried.len() as u64, &host, of_mount);
    }

    fn plan(&mut self, at_ns: f64, number: usize, stage: Stage) {
        self.planned += 1;
        self.events.push(Reverse((at_ns.round() as u64, self.planned, number, stage)));
    }

    /// A uniform random number in (0, 1].
    fn unit(&mut self) -> f64 {
        self.drawn += 1;
        1.0 - random::unit(random::at(self.seed, self.drawn))
    }

    /// A lognormal factor with mean 1 and this standard deviation of its logarithm.
    fn lognormal(&mut self, sigma: f64) -> f64 {
        if sigma == 0.0 {
            return 1.0;
        }
        let (a, b) = (self.unit(), self.unit());
        let normal = (-2.0 * a.ln()).sqrt() * (std::f64::consts::TAU * b).cos();
        (sigma * normal - sigma * sigma / 2.0).exp()
    }

    fn step(&mut self, now: f64, number: usize, stage: Stage) {
        let op = self.carried[number];
        match stage {
            Stage::Issued => self.issue(now, number),
            Stage::Ready => {
                if self.client_slots[op.connection].take(number) {
                    self.send(now, number);
                }
            }
            Stage::Arrived => {
                if self.connection_slots[op.connection].take(number) {
                    self.admit(now, number);
                }
            }
            Stage::Served => {
                if let Some(next) = self.server_slots.release() {
                    self.serve(now, next);
                }
                if let Some(next) = self.connection_slots[op.connection].release() {
                    self.admit(now, next);
                }
                let data = if op.kind == OpKind::Write { 0.0 } else { self.size };
                let (at, _) = self.network(now, &op, 1, data);
                self.plan(at + self.amounts.wire_ns / 2.0, number, Stage::Answered);
            }
            Stage::Answered => {
                self.tally.connections[op.connection].answered(now, self.size as u64);
                self.note_round_trip(now, &op);
                if let Some(next) = self.client_slots[op.connection].release() {
                    self.send(now, next);
                }
                self.tally.wire(op.kind, self.size as u64);
                self.plan(now, number, Stage::Completed);
            }
            Stage::Completed => {
                let took = (now - op.issued_ns).max(1.0) as u64;
                self.tally.complete(op.kind, op.target, took, self.size as u64);
                self.plan(now, number, Stage::Issued);
            }
        }
    }

    fn issue(&mut self, now: f64, number: usize) {
        let share = f64::from(self.run.streams[0].read_permille) / 1000.0;
        let kind = if self.unit() <= share { OpKind::Read } else { OpKind::Write };
        self.tally.issued += 1;
        let op = &mut self.carried[number];
        (op.kind, op.issued_ns) = (kind, now);
        let worker = op.worker;
        let cpu = self.amounts.client_cpu_ns;
        let work = cpu.0 + cpu.1 * self.size / 1024.0;
        self.tally.cpu_ns[worker] += work;
        let done = self.workers[worker].pass(now, work * self.slowdown);
        let cached = kind == OpKind::Read
            && self.amounts.client_cache > 0.0
            && self.unit() <= self.amounts.client_cache;
        self.plan(done, number, if cached { Stage::Completed } else { Stage::Ready });
    }

    /// Sends an operation's request.
    fn send(&mut self, now: f64, number: usize) {
        let op = self.carried[number];
        let connection = op.connection;
        let write = self.carried[number].kind == OpKind::Write;
        self.tally.connections[connection].sent(now);
        let data = if write { self.size } else { 0.0 };
        let (out, waited) = self.network(now, &op, 0, data);
        let op = &mut self.carried[number];
        op.sent_ns = now;
        op.outbound_wait_ns = waited;
        self.plan(out + self.amounts.wire_ns / 2.0, number, Stage::Arrived);
    }

    /// Adds an operation to the kernel's smoothed round-trip time. A small request is acknowledged
    /// by its reply, so its sample includes the time in the server; a large one is acknowledged as
    /// it arrives.
    fn note_round_trip(&mut self, now: f64, op: &Carried) {
        let acked = op.kind == OpKind::Write && self.size > SEGMENTS_ACKED * SEGMENT;
        let sample = match acked {
            true => self.amounts.wire_ns + op.outbound_wait_ns,
            false => (now - op.sent_ns).min(self.amounts.wire_ns + DELAYED_ACK_NS),
        };
        self.tally.connections[op.connection].round_trip(sample);
    }

    /// Passes data through the network in one direction (0 out, 1 back). Returns when it has
    /// passed, and how long it waited.
    fn network(&mut self, now: f64, op: &Carried, direction: usize, data: f64) -> (f64, f64) {
        let bytes = data + CALL;
        let wire = bytes + (bytes / SEGMENT).ceil() * HEADERS;
        let (mut at, mut waited) = (now, 0.0);
        if let Some(rate) = self.amounts.flow.filter(|_| data > 0.0) {
            let counted = if self.amounts.flow_by_direction { direction } else { 0 };
            let flow = &mut self.flows[op.connection][counted];
            waited += flow.wait_ns(at);
            at = flow.pass(at, data / rate * NS);
        }
        if let Some(rate) = self.amounts.egress.filter(|_| direction == 0) {
            waited += self.egress[op.host].wait_ns(at);
            at = self.egress[op.host].pass(at, wire / rate * NS);
        }
        if let Some(rate) = self.amounts.link {
            waited += self.link[op.host][direction].wait_ns(at);
            at = self.link[op.host][direction].pass(at, wire / rate * NS);
        }
        (at, waited)
    }

    /// Serves a request that has a slot of its connection when it gets one of the server.
    fn admit(&mut self, now: f64, number: usize) {
        if self.server_slots.take(number) {
            self.serve(now, number);
        }
    }

    /// The share of the server's limits that is available at `now`.
    fn shared(&mut self, now: f64) -> f64 {
        let at = self.start_ns + now;
        let mut factor = 1.0;
        if let Some(change) = self.amounts.change.filter(|change| at >= change.at_ns) {
            factor *= change.factor;
        }
        if let Some(neighbour) = self.amounts.neighbour {
            while at >= self.neighbour_until_ns {
                self.neighbour_on = !self.neighbour_on;
                self.neighbour_until_ns -= self.unit().ln() * neighbour.period_ns;
            }
            if self.neighbour_on {
                factor *= 1.0 - neighbour.share;
            }
        }
        factor
    }

    /// Passes a request through the server's processors, limits and storage.
    fn serve(&mut self, now: f64, number: usize) {
        let write = self.carried[number].kind == OpKind::Write;
        let target = self.carried[number].target;
        let amounts = self.amounts;
        let shared = self.shared(now);
        let mut at = now;
        if let Some(cpu) = amounts.server_cpu {
            let work = cpu.work_ns.0 + cpu.work_ns.1 * self.size / 1024.0;
            let work = work * self.lognormal(cpu.sigma);
            at = self.server_cpu.pass(at, work);
        }
        if let Some(rate) = amounts.operations {
            at = self.operations.pass(at, NS / (rate * shared));
        }
        if let Some(rate) = amounts.volume {
            let factor = amounts.volume_factors.get(target).copied().unwrap_or(1.0);
            let rate = rate * factor * shared;
            let session = self.start_ns + at;
            let peak = match (&mut self.credit, amounts.credit) {
                (Some(bucket), Some(credit)) => match bucket.spend(session, self.size, rate) {
                    true => credit.peak,
                    false => 1.0,
                },
                _ => 1.0,
            };
            at = self.volumes[target].pass(at, self.size / (rate * peak) * NS);
        }
        if let Some(rate) = amounts.endpoint {
            at = self.endpoint.pass(at, self.size / (rate * shared) * NS);
        }
        if let Some(disk) = amounts.disk {
            let hit = !write && disk.cache > 0.0 && self.unit() <= disk.cache;
            if !hit {
                let (each, per_kib) =
                    if self.sequential { disk.sequential_ns } else { disk.random_ns };
                let factor = if write { disk.write_factor } else { 1.0 };
                let work = -self.unit().ln() * factor * (each + per_kib * self.size / 1024.0);
                at = self.disk.pass(at, work / shared);
            }
        }
        let factor = if write { amounts.write_factor } else { 1.0 };
        let service = amounts.service_ns * factor * self.lognormal(amounts.service_sigma);
        self.plan(at + service, number, Stage::Served);
    }
}

impl std::fmt::Debug for Engine<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Engine").field("run", &self.run.index).finish_non_exhaustive()
    }
}

/// The round-trip time that [`Testbed`] records.
impl Testbed {
    /// Shortest round-trip time of several NULL calls, in nanoseconds.
    pub fn null_round_trip_ns(&self) -> f64 {
        let cpu = self.amounts.client_cpu_ns.0 * 0.5;
        self.amounts.wire_ns + cpu
    }
}
