//! Hosts, their processes, the network between them and the controller, and the order of what happens.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use cluster::agent::{ALIVE_EVERY_NS, Agent, AgentAction};
use cluster::message::Message;
use cluster::outbox::Outbox;

use super::Random;
use super::host::{Direction, Fault, Host, PlannedFault};
use super::program::{HostTime, Program};

/// The controller's wall clock at time 0, in nanoseconds since 1970.
pub const UNIX_ZERO_NS: u64 = 1_700_000_000_000_000_000;

/// A message is sent in parts of at most this size, about that of a packet.
const PART_BYTES_MAX: u64 = 1_400;
/// Over a slow link at least so many parts arrive in a second.
const PARTS_PER_SECOND: u64 = 2;

/// Makes the program of a process: of the host at this position, which sends by this outbox.
pub type NewProgram = Box<dyn FnMut(usize, Outbox) -> Box<dyn Program>>;

/// What the controller notices.
#[derive(Debug)]
pub(super) enum Arrival {
    Bytes { host: usize, bytes: Vec<u8> },
    End { host: usize, why: &'static str },
    Killed,
}

#[derive(Debug)]
enum Event {
    Start {
        process: usize,
    },
    ToAgent {
        process: usize,
        bytes: Vec<u8>,
    },
    InputEnds {
        process: usize,
    },
    SignOfLife {
        process: usize,
    },
    Wake {
        process: usize,
    },
    /// The connection takes more of the outbox.
    Write {
        process: usize,
    },
    Continue {
        process: usize,
    },
    ToController {
        process: usize,
        bytes: Vec<u8>,
    },
    PipeEnds {
        process: usize,
        why: &'static str,
    },
    Fault {
        planned: usize,
    },
    Call {
        at: usize,
    },
}

impl Event {
    /// The process that must run for this.
    const fn executed_by(&self) -> Option<usize> {
        match self {
            Event::Start { process }
            | Event::ToAgent { process, .. }
            | Event::InputEnds { process }
            | Event::SignOfLife { process }
            | Event::Wake { process }
            | Event::Write { process } => Some(*process),
            Event::Continue { .. }
            | Event::ToController { .. }
            | Event::PipeEnds { .. }
            | Event::Fault { .. }
            | Event::Call { .. } => None,
        }
    }
}

struct Process {
    host: usize,
    session: u64,
    /// `None` once it has ended.
    program: Option<Box<dyn Program>>,
    agent: Agent,
    outbox: Outbox,
    there: Direction,
    back: Direction,
    has_input: bool,
    is_killed: bool,
    is_frozen: bool,
    /// What happened while it was frozen.
    deferred: Vec<Event>,
    /// The earliest wake-up that is an event already.
    wakes_ns: u64,
    is_writing: bool,
}

/// The state of a host's network.
#[derive(Clone, Copy, Debug, Default)]
struct Cut {
    /// Nothing passes until then.
    until_ns: u64,
}

/// Hosts and what happens to them.
pub struct World {
    now_ns: u64,
    /// The same for observers in other types.
    clock: Arc<AtomicU64>,
    number: u64,
    events: BTreeMap<(u64, u64), Event>,
    random: Random,
    hosts: Vec<Host>,
    cuts: Vec<Cut>,
    new_program: NewProgram,
    processes: Vec<Process>,
    /// `current[host]`: the process of the controller that lives.
    current: Vec<Option<usize>>,
    session: u64,
    planned: Vec<PlannedFault>,
    /// `fired[planned]`: when the fault happened.
    fired: Vec<Option<u64>>,
    is_triggered: Vec<bool>,
    is_killed: bool,
    /// No further fault happens.
    is_repaired: bool,
    calls: Vec<Box<dyn FnMut()>>,
}

impl fmt::Debug for World {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("World").field("now_ns", &self.now_ns).finish_non_exhaustive()
    }
}

impl World {
    /// Hosts at time 0, to which the `planned` faults will happen.
    pub fn new(
        hosts: Vec<Host>,
        planned: Vec<PlannedFault>,
        random: Random,
        new_program: NewProgram,
    ) -> World {
        World {
            now_ns: 0,
            clock: Arc::default(),
            number: 0,
            events: BTreeMap::new(),
            random,
            cuts: vec![Cut::default(); hosts.len()],
            current: vec![None; hosts.len()],
            hosts,
            new_program,
            processes: Vec::new(),
            session: 0,
            fired: vec![None; planned.len()],
            is_triggered: vec![false; planned.len()],
            planned,
            is_killed: false,
            is_repaired: false,
            calls: Vec::new(),
        }
    }

    /// The time.
    pub const fn now_ns(&self) -> u64 {
        self.now_ns
    }

    /// The time, for those who cannot share this world.
    pub fn clock(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.clock)
    }

    /// The hosts.
    pub fn hosts(&self) -> impl ExactSizeIterator<Item = &Host> {
        self.hosts.iter()
    }

    /// When each planned fault happened, in their order.
    pub fn fired(&self) -> &[Option<u64>] {
        &self.fired
    }

    /// Calls `call` at this time.
    pub fn call_at(&mut self, time_ns: u64, call: Box<dyn FnMut()>) {
        let at = self.calls.len();
        self.calls.push(call);
        self.at(time_ns, Event::Call { at });
    }

    /// Lets everything happen until this time, without a controller.
    pub fn run_until(&mut self, time_ns: u64) {
        while self.next_arrival(time_ns).is_some() {}
    }

    /// The network recovers, and what is frozen is killed: nothing is wrong with any host afterwards.
    pub fn repair(&mut self) {
        self.cuts.fill(Cut::default());
        self.is_repaired = true;
        for process in &mut self.processes {
            if process.is_frozen {
                process.program = None;
            }
        }
    }

    /// Whether a process runs on any host.
    pub fn has_processes(&self) -> bool {
        self.processes.iter().any(|process| process.program.is_some())
    }

    /// Starts an agent on each host. Returns the number of the session, the number of hosts and the time.
    pub(super) fn connect(&mut self) -> (u64, usize, u64) {
        self.session += 1;
        self.is_killed = false;
        for host in 0..self.hosts.len() {
            let number = self.processes.len();
            self.processes.push(Process {
                host,
                session: self.session,
                program: None,
                agent: Agent::default(),
                outbox: Outbox::default(),
                there: Direction::default(),
                back: Direction::default(),
                has_input: true,
                is_killed: false,
                is_frozen: false,
                deferred: Vec::new(),
                wakes_ns: u64::MAX,
                is_writing: false,
            });
            self.current[host] = Some(number);
            self.phase_entered(host, super::Phase::Connect);
            let Host { path, starts_within_ns, .. } = self.hosts[host];
            let begins_ns = self.now_ns + path.there_ns + path.back_ns + starts_within_ns;
            self.at(begins_ns.max(self.cuts[host].until_ns), Event::Start { process: number });
        }
        (self.session, self.hosts.len(), self.now_ns)
    }

    /// Ends the session: the kernel closes all pipes.
    pub(super) fn disconnect(&mut self, session: u64) {
        if session == self.session {
            (0..self.hosts.len()).for_each(|host| self.close(host));
        }
    }

    /// Sends bytes to the agent of a host.
    pub(super) fn send(&mut self, host: usize, bytes: Vec<u8>) {
        let Some(process) = self.current[host] else { return };
        if let Some(arrives_ns) = self.arrival_there(process, bytes.len()) {
            self.at(arrives_ns, Event::ToAgent { process, bytes });
        }
    }

    /// Ends the pipe to a host.
    pub(super) fn close(&mut self, host: usize) {
        let Some(process) = self.current[host].take() else { return };
        if let Some(arrives_ns) = self.arrival_there(process, 0) {
            self.at(arrives_ns, Event::InputEnds { process });
        }
    }

    /// Lets things happen until the controller notices something, or until this time.
    pub(super) fn next_arrival(&mut self, until_ns: u64) -> Option<Arrival> {
        let arrival = self.arrival_until(until_ns);
        self.clock.store(self.now_ns, Ordering::Relaxed);
        arrival
    }

    fn arrival_until(&mut self, until_ns: u64) -> Option<Arrival> {
        loop {
            if std::mem::take(&mut self.is_killed) {
                return Some(Arrival::Killed);
            }
            match self.events.first_entry() {
                Some(first) if first.key().0 <= until_ns => {
                    self.now_ns = self.now_ns.max(first.key().0);
                    let event = first.remove();
                    if let Some(arrival) = self.handle(event) {
                        return Some(arrival);
                    }
                }
                _ => {
                    self.now_ns = self.now_ns.max(until_ns);
                    return None;
                }
            }
        }
    }

    fn at(&mut self, time_ns: u64, event: Event) {
        // An event at the end of time never happens.
        if time_ns < u64::MAX {
            self.number += 1;
            self.events.insert((time_ns, self.number), event);
        }
    }

    fn time_on(&self, host: usize) -> HostTime {
        let clock = &self.hosts[host].clock;
        HostTime {
            monotonic_ns: clock.monotonic_ns(self.now_ns),
            unix_ns: clock.unix_ns(self.now_ns),
        }
    }

    fn handle(&mut self, event: Event) -> Option<Arrival> {
        if let Some(number) = event.executed_by() {
            let process = &mut self.processes[number];
            if process.is_frozen {
                process.deferred.push(event);
                return None;
            }
            self.execute(number, event);
            self.afterwards(number);
            return None;
        }
        match event {
            Event::ToController { process, bytes } if self.is_current(process) => {
                return Some(Arrival::Bytes { host: self.processes[process].host, bytes });
            }
            Event::PipeEnds { process, why } if self.is_current(process) => {
                return Some(Arrival::End { host: self.processes[process].host, why });
            }
            Event::Continue { process } => {
                self.processes[process].is_frozen = false;
                for event in std::mem::take(&mut self.processes[process].deferred) {
                    self.at(self.now_ns, event);
                }
            }
            Event::Fault { planned } => self.fault(planned),
            Event::Call { at } => self.calls[at](),
            _ => {}
        }
        None
    }

    fn is_current(&self, process: usize) -> bool {
        self.current[self.processes[process].host] == Some(process)
    }

    fn execute(&mut self, number: usize, event: Event) {
        let host = self.processes[number].host;
        let time = self.time_on(host);
        if let Event::Start { .. } = event {
            if self.processes[number].is_killed || !self.processes[number].has_input {
                return;
            }
            let outbox = self.processes[number].outbox.clone();
            let program = (self.new_program)(host, outbox.clone());
            let _queued = outbox.send(&Message::Hello(program.hello()));
            self.processes[number].program = Some(program);
            return self.sign_of_life(number, time);
        }
        let process = &mut self.processes[number];
        let Some(program) = &mut process.program else {
            // Its pipe may end before it starts.
            process.has_input &= !matches!(event, Event::InputEnds { .. });
            return;
        };
        match event {
            Event::ToAgent { bytes, .. } if process.has_input => {
                let actions = process.agent.received(&bytes, time.monotonic_ns, time.unix_ns);
                for action in actions.expect("the controller sends messages") {
                    match action {
                        AgentAction::Send(frame) => drop(process.outbox.send_frame(frame)),
                        AgentAction::Work { number, work } => program.work(number, work, time),
                        AgentAction::Signal(signal) => program.signal(&signal, time),
                    }
                }
            }
            Event::InputEnds { .. } if process.has_input => {
                process.has_input = false;
                program.input_ended(time);
                process.outbox.close();
            }
            Event::SignOfLife { .. } if process.has_input => self.sign_of_life(number, time),
            Event::Wake { .. } => {
                process.wakes_ns = u64::MAX;
                if program.wakes_at_ns().is_some_and(|at_ns| at_ns <= time.monotonic_ns) {
                    program.wake(time);
                }
            }
            Event::Write { .. } => process.is_writing = false,
            _ => {}
        }
    }

    /// Sends a sign of life if one is due. An outbox without room delays what an agent reads and sends.
    fn sign_of_life(&mut self, number: usize, time: HostTime) {
        let process = &mut self.processes[number];
        if let Some(frame) = process.agent.sign_of_life(time.monotonic_ns) {
            // If the controller is gone, the end of the input shows it.
            let _closed = process.outbox.send_frame(frame);
        }
        let due_ns = time.monotonic_ns
            + process.agent.until_sign_of_life_ns(time.monotonic_ns).min(ALIVE_EVERY_NS);
        let at_ns = self.hosts[process.host].clock.time_of(due_ns);
        self.at(at_ns, Event::SignOfLife { process: number });
    }

    /// Sends what the process has written, plans its next wake-up, and notices its end.
    fn afterwards(&mut self, number: usize) {
        let host = self.processes[number].host;
        let process = &mut self.processes[number];
        let Some(program) = &mut process.program else { return };
        let phases = program.take_phases();
        let wakes_at_ns = program.wakes_at_ns();
        let has_ended = program.has_ended();
        self.write(number);
        if has_ended {
            self.end_process(number, "its agent ended (exit status: 0)");
        } else if let Some(at_ns) = wakes_at_ns {
            let at_ns = self.hosts[host].clock.time_of(at_ns).max(self.now_ns);
            if at_ns < self.processes[number].wakes_ns {
                self.processes[number].wakes_ns = at_ns;
                self.at(at_ns, Event::Wake { process: number });
            }
        }
        for phase in phases {
            self.phase_entered(host, phase);
        }
    }

    fn write(&mut self, number: usize) {
        while !self.processes[number].is_writing
            && let Some(frame) = self.processes[number].outbox.take_frame()
        {
            // A long message arrives in parts.
            let bytes_per_s = self.hosts[self.processes[number].host].path.bytes_per_s;
            let part_bytes = (bytes_per_s / PARTS_PER_SECOND).clamp(1, PART_BYTES_MAX) as usize;
            for part in frame.chunks(part_bytes) {
                let Some(arrives_ns) = self.arrival_back(number, part.len()) else { break };
                let bytes = part.to_vec();
                self.at(arrives_ns, Event::ToController { process: number, bytes });
            }
            let free_ns = self.processes[number].back.free_ns();
            if free_ns > self.now_ns {
                self.processes[number].is_writing = true;
                self.at(free_ns, Event::Write { process: number });
            }
        }
    }

    /// The process ends, and so does its pipe, after what it has written.
    fn end_process(&mut self, number: usize, why: &'static str) {
        self.processes[number].program = None;
        if let Some(arrives_ns) = self.arrival_back(number, 0) {
            self.at(arrives_ns, Event::PipeEnds { process: number, why });
        }
    }

    fn arrival_there(&mut self, number: usize, bytes: usize) -> Option<u64> {
        let process = &mut self.processes[number];
        let (cut, path) = (self.cuts[process.host], self.hosts[process.host].path);
        let from_ns = self.now_ns.max(cut.until_ns);
        (from_ns < u64::MAX).then(|| {
            process.there.arrival_ns(from_ns, bytes, path.there_ns, &path, &mut self.random)
        })
    }

    fn arrival_back(&mut self, number: usize, bytes: usize) -> Option<u64> {
        let process = &mut self.processes[number];
        let (cut, path) = (self.cuts[process.host], self.hosts[process.host].path);
        let from_ns = self.now_ns.max(cut.until_ns);
        (from_ns < u64::MAX)
            .then(|| process.back.arrival_ns(from_ns, bytes, path.back_ns, &path, &mut self.random))
    }

    fn phase_entered(&mut self, host: usize, phase: super::Phase) {
        for planned in 0..self.planned.len() {
            let PlannedFault { host: of, phase: in_phase, after_ns, .. } = self.planned[planned];
            let is_due = (of, in_phase) == (host, phase) && !self.is_repaired;
            if is_due && !self.is_triggered[planned] {
                self.is_triggered[planned] = true;
                self.at(self.now_ns + after_ns, Event::Fault { planned });
            }
        }
    }

    fn fault(&mut self, planned: usize) {
        if self.is_repaired {
            return;
        }
        let PlannedFault { host, fault, .. } = self.planned[planned];
        self.fired[planned] = Some(self.now_ns);
        let of_session =
            |one: &(usize, &Process)| one.1.host == host && one.1.session == self.session;
        let found = self.processes.iter().enumerate().find(of_session);
        let Some((number, _)) = found else { return };
        match fault {
            Fault::Kill => {
                self.processes[number].is_killed = true;
                self.end_process(number, "its agent ended (signal: 9)");
            }
            Fault::Freeze { continues_after_ns } => {
                self.processes[number].is_frozen = true;
                if let Some(after_ns) = continues_after_ns {
                    self.at(self.now_ns + after_ns, Event::Continue { process: number });
                }
            }
            Fault::Cut { recovers_after_ns, host_notices_after_ns } => {
                let until_ns =
                    recovers_after_ns.map_or(u64::MAX, |after_ns| self.now_ns + after_ns);
                self.cuts[host].until_ns = until_ns;
                if recovers_after_ns.is_none() {
                    let notices_ns = self.now_ns + host_notices_after_ns;
                    self.at(notices_ns, Event::InputEnds { process: number });
                }
            }
            Fault::Slow(path) => self.hosts[host].path = path,
            Fault::KillController => self.is_killed = true,
            Fault::SpoolFull | Fault::Stall => {
                let time = self.time_on(host);
                if let Some(program) = &mut self.processes[number].program {
                    program.storage_failed(fault, time);
                }
                self.afterwards(number);
            }
        }
    }
}
