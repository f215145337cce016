//! Fleets under virtual time: hosts with slow links, wrong clocks and every fault at any instant. Each host
//! that is well answers; each other is named, in time, with the right reason.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use cluster::agent::{Agent, AgentAction};
use cluster::ask::{Answer, Ask};
use cluster::controller::{Action, Controller, HELLO_WITHIN_NS, Lost, SILENT_AFTER_NS};
use cluster::message::{Build, Hello, Message, NotAMessage, PROTOCOL};

const SECOND_NS: u64 = 1_000_000_000;
const MS_NS: u64 = 1_000_000;
/// The shell looks at deadlines this often.
const TICK_NS: u64 = 100 * MS_NS;
/// The controller's wall clock at time 0.
const UNIX_AT_ZERO_NS: u64 = 1_700_000_000 * SECOND_NS;

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
    /// ssh hangs, or the host is asleep.
    NeverStarts,
    /// SIGKILL at this time.
    Dies(u64),
    /// SIGSTOP, or a cut network, at this time.
    Silent(u64),
    /// Its login script greets.
    Greets,
    OtherVersion,
    /// The request fails, for example because a path does not exist.
    Refuses,
    /// A bit of its hello is flipped.
    Damaged,
}

/// A host and its link.
struct Host {
    agent: Agent,
    fault: Fault,
    starts_ns: u64,
    there_ns: u64,
    back_ns: u64,
    work_ns: u64,
    ahead_ns: i64,
}

impl Host {
    fn random(random: &mut Random) -> Host {
        let at_ns = random.below(15) * SECOND_NS + random.below(SECOND_NS);
        let fault = match random.below(12) {
            0 => Fault::NeverStarts,
            1 => Fault::Dies(at_ns),
            2 => Fault::Silent(at_ns),
            3 => Fault::Greets,
            4 => Fault::OtherVersion,
            5 => Fault::Refuses,
            6 => Fault::Damaged,
            _ => Fault::None,
        };
        Host {
            agent: Agent::default(),
            fault,
            starts_ns: random.below(3 * SECOND_NS),
            there_ns: random.below(200 * MS_NS),
            back_ns: random.below(200 * MS_NS),
            work_ns: random.below(20 * SECOND_NS),
            ahead_ns: random.below(7_200 * SECOND_NS) as i64 - 3_600 * SECOND_NS as i64,
        }
    }

    /// Whether what it sends at this time is lost.
    fn is_cut(&self, now_ns: u64) -> bool {
        matches!(self.fault, Fault::Dies(at_ns) | Fault::Silent(at_ns) if now_ns >= at_ns)
    }

    fn clock(&self, zero_ns: u64, now_ns: u64) -> u64 {
        (zero_ns + now_ns).checked_add_signed(self.ahead_ns).expect("in range")
    }

    fn first_words(&self, host: usize) -> Vec<u8> {
        let version = if self.fault == Fault::OtherVersion { "2" } else { "1" };
        let hello = Hello {
            protocol: PROTOCOL,
            build: build(version),
            host_name: format!("h{host}"),
            ..Hello::default()
        };
        let mut bytes = Message::Hello(hello).to_frame();
        match self.fault {
            Fault::Greets => bytes.splice(0..0, *b"Welcome\n").for_each(drop),
            Fault::Damaged => *bytes.last_mut().expect("a hello") ^= 1,
            _ => {}
        }
        bytes
    }
}

fn build(version: &str) -> Build {
    Build { version: version.to_owned(), ..Build::default() }
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Tick,
    Start(usize),
    Alive(usize),
    ToAgent(usize, Vec<u8>),
    ToController(usize, Vec<u8>),
    WorkDone(usize),
    PipeEnds(usize),
}

/// The monotonic clock of a host at the controller's time 0, apart from what it is ahead.
const MONOTONIC_ZERO_NS: u64 = 4_000 * SECOND_NS;

/// What became of a host, and when.
type Outcome = (Result<Answer, Lost>, u64);

struct World {
    controller: Controller,
    ask: Ask,
    hosts: Vec<Host>,
    events: BinaryHeap<Reverse<(u64, u64, Event)>>,
    number: u64,
    ended_ns: Vec<u64>,
}

impl World {
    fn run(hosts: Vec<Host>) -> (Vec<Outcome>, Vec<Host>) {
        let count = hosts.len();
        let mut world = World {
            controller: Controller::new(&vec![false; count], &build("1"), 0, UNIX_AT_ZERO_NS),
            ask: Ask::new(count, b"ask".to_vec()),
            hosts,
            events: BinaryHeap::new(),
            number: 0,
            ended_ns: vec![u64::MAX; count],
        };
        world.at(0, Event::Tick);
        for host in 0..count {
            let one = &world.hosts[host];
            let (fault, starts_ns) = (one.fault, one.starts_ns);
            if fault != Fault::NeverStarts {
                world.at(starts_ns, Event::Start(host));
            }
            if let Fault::Dies(at_ns) = fault {
                world.at(at_ns, Event::PipeEnds(host));
            }
        }
        while let Some(Reverse((now_ns, _, event))) = world.events.pop() {
            if world.ask.is_done() {
                break;
            }
            let before = world.ask.ended();
            world.handle(now_ns, event);
            world.ask.handle_events(&mut world.controller);
            world.perform(now_ns);
            if world.ask.ended() != before {
                world.note_ends(now_ns);
            }
        }
        let World { controller, ask, hosts, ended_ns, .. } = world;
        assert!(controller.is_done() && ask.is_done(), "every fleet ends");
        (ask.into_answers().into_iter().zip(ended_ns).collect(), hosts)
    }

    fn at(&mut self, time_ns: u64, event: Event) {
        self.number += 1;
        self.events.push(Reverse((time_ns, self.number, event)));
    }

    fn note_ends(&mut self, now_ns: u64) {
        for host in 0..self.hosts.len() {
            if self.ended_ns[host] == u64::MAX && self.controller.is_ended(host) {
                self.ended_ns[host] = now_ns;
            }
        }
    }

    fn handle(&mut self, now_ns: u64, event: Event) {
        match event {
            Event::Tick => {
                self.controller.tick(now_ns);
                self.at(now_ns + TICK_NS, Event::Tick);
            }
            Event::Start(host) => {
                let bytes = self.hosts[host].first_words(host);
                self.send(host, bytes, now_ns);
                self.at(now_ns + SECOND_NS, Event::Alive(host));
            }
            Event::Alive(host) => {
                self.send(host, Message::Alive.to_frame(), now_ns);
                if !self.hosts[host].is_cut(now_ns) {
                    self.at(now_ns + SECOND_NS, Event::Alive(host));
                }
            }
            Event::ToAgent(host, bytes) => {
                let one = &mut self.hosts[host];
                if one.is_cut(now_ns) {
                    return;
                }
                let (monotonic_ns, unix_ns) =
                    (one.clock(MONOTONIC_ZERO_NS, now_ns), one.clock(UNIX_AT_ZERO_NS, now_ns));
                let actions = one.agent.received(&bytes, monotonic_ns, unix_ns);
                let work_ns = one.work_ns;
                for action in actions.expect("the controller sends messages") {
                    match action {
                        AgentAction::Send(bytes) => self.send(host, bytes, now_ns),
                        AgentAction::Work { number, work } => {
                            assert_eq!((number, work), (0, b"ask".to_vec()));
                            self.at(now_ns + work_ns, Event::WorkDone(host));
                        }
                        AgentAction::Signal(_) => panic!("nothing was signalled"),
                    }
                }
            }
            Event::WorkDone(host) => {
                let result = match self.hosts[host].fault {
                    Fault::Refuses => Err("no such path".to_owned()),
                    _ => Ok(vec![7]),
                };
                self.send(host, Message::Reply { number: 0, result }.to_frame(), now_ns);
            }
            Event::ToController(host, bytes) => {
                self.controller.received(host, &bytes, now_ns);
            }
            Event::PipeEnds(host) => self.controller.closed(host, "killed".to_owned()),
        }
    }

    /// Bytes from a host arrive after its link's delay.
    fn send(&mut self, host: usize, bytes: Vec<u8>, now_ns: u64) {
        let one = &self.hosts[host];
        if !one.is_cut(now_ns) {
            self.at(now_ns + one.back_ns, Event::ToController(host, bytes));
        }
    }

    fn perform(&mut self, now_ns: u64) {
        while let Some(action) = self.controller.next_action() {
            if let Action::Send { host, bytes } = action {
                let arrives_ns = now_ns + self.hosts[host].there_ns;
                self.at(arrives_ns, Event::ToAgent(host, bytes));
            }
        }
    }
}

/// Checks what became of each host against what happened to it.
fn judge(hosts: &[Host], outcomes: &[Outcome], context: &str) {
    for (index, (host, (result, ended_ns))) in hosts.iter().zip(outcomes).enumerate() {
        let context = format!("{context}, host {index}, {:?}: {result:?}", host.fault);
        let in_time = |happened_ns: u64, within_ns: u64| {
            let latest_ns = happened_ns + within_ns + host.back_ns + TICK_NS;
            assert!(*ended_ns <= latest_ns, "{context} at {ended_ns}, not by {latest_ns}");
        };
        match (host.fault, result) {
            // A fault after the end has no effect.
            (Fault::None | Fault::Dies(_) | Fault::Silent(_), Ok(answer)) => {
                assert_eq!(answer.result, [7], "{context}");
                assert_eq!(answer.hello.host_name, format!("h{index}"), "{context}");
                let clock = answer.clock;
                assert!(clock.wall_ns.abs_diff(host.ahead_ns) <= clock.error_ns, "{context}");
            }
            (Fault::NeverStarts, Err(Lost::NoHello)) => in_time(0, HELLO_WITHIN_NS),
            (Fault::Dies(at_ns), Err(Lost::Ended(why))) => {
                assert_eq!(why, "killed", "{context}");
                in_time(at_ns, 0);
            }
            (Fault::Silent(at_ns), Err(Lost::NoHello)) => {
                assert!(at_ns <= host.starts_ns, "{context}");
                in_time(0, HELLO_WITHIN_NS);
            }
            (Fault::Silent(at_ns), Err(Lost::Silent)) => in_time(at_ns, SILENT_AFTER_NS),
            (Fault::Greets, Err(Lost::NotAMessage(NotAMessage::Foreign(words)))) => {
                assert_eq!(words, "Welcome", "{context}");
                in_time(host.starts_ns, 0);
            }
            (Fault::OtherVersion, Err(Lost::Version { theirs, .. })) => {
                assert_eq!(theirs, "2", "{context}");
                in_time(host.starts_ns, 0);
            }
            (Fault::Refuses, Err(Lost::Failed(why))) => {
                assert_eq!(why, "no such path", "{context}");
            }
            (Fault::Damaged, Err(Lost::NotAMessage(NotAMessage::Damaged))) => {
                in_time(host.starts_ns, 0);
            }
            _ => panic!("{context}"),
        }
    }
}

#[test]
fn in_2000_fleets_every_fault_is_named_in_time_and_every_other_host_answers() {
    let mut well = 0;
    for seed in 0..2_000 {
        let mut random = Random(seed);
        let hosts = (0..=random.below(5)).map(|_| Host::random(&mut random)).collect();
        let (outcomes, hosts) = World::run(hosts);
        judge(&hosts, &outcomes, &format!("seed {seed}"));
        well += outcomes.iter().filter(|(result, _)| result.is_ok()).count();
    }
    assert!(well > 1_000, "most hosts are well: {well}");
}

#[test]
fn a_fleet_of_1000_hosts_is_answered_or_named() {
    let mut random = Random(0xF1EE7);
    let hosts = (0..1_000).map(|_| Host::random(&mut random)).collect();
    let (outcomes, hosts) = World::run(hosts);
    judge(&hosts, &outcomes, "1,000 hosts");
}
