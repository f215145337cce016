//! The controller's core: one session for each host, from its first byte to its end.
//!
//! It has no clock and no pipes: the caller passes bytes, ends and the time, then performs the
//! [`Action`]s and handles the [`Event`]s. A session is finished by the caller, or its host is [`Lost`]:
//! a host that sends nothing is lost after a stated time, so every fleet ends.

use std::collections::VecDeque;

use crate::agent::ALIVE_EVERY_NS;
use crate::clock::{self, ClockOffset, Sample};
use crate::launch::{PRESENT, SEND};
use crate::message::{Build, Hello, Incoming, Message, NotAMessage, PROTOCOL};

/// An agent that does not send its hello within this time is lost: ssh itself gives up after 8 s, and a host must
/// be named within 10 s.
pub const HELLO_WITHIN_NS: u64 = 9_000_000_000;
/// An agent sends something every second; without anything for this long it is lost.
pub const SILENT_AFTER_NS: u64 = 8_000_000_000;
/// An agent that was heard within this time is alive: it reports three times as often.
const RESPONDS_WITHIN_NS: u64 = 3 * ALIVE_EVERY_NS;
/// Samples of each host's clock.
const SAMPLES: u32 = 8;

/// What the caller has to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Send bytes to a host.
    Send {
        /// Its position in the list.
        host: usize,
        /// The bytes.
        bytes: Vec<u8>,
    },
    /// Send the program to a host, before anything else.
    SendCopy {
        /// Its position in the list.
        host: usize,
    },
    /// End the pipe to a host that is lost, and its process, which may not end with it.
    Abandon {
        /// Its position in the list.
        host: usize,
    },
    /// End the pipe to a host, whose process then ends by itself.
    Close {
        /// Its position in the list.
        host: usize,
    },
}

/// What happened to a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// Its agent runs, and its clock was sampled for the first time; requests can be sent.
    Connected {
        /// Its position in the list.
        host: usize,
    },
    /// Its clock was sampled again, as the caller wished.
    ClockSampled {
        /// Its position in the list.
        host: usize,
    },
    /// It did a request, or failed to.
    Reply {
        /// Its position in the list.
        host: usize,
        /// The request's number.
        number: u32,
        /// The result, or why there is none.
        result: Result<Vec<u8>, String>,
    },
    /// It reports progress.
    Report {
        /// Its position in the list.
        host: usize,
        /// In the form that the caller defines.
        report: Vec<u8>,
    },
    /// It sent a frame of a journal.
    Frame {
        /// Its position in the list.
        host: usize,
        /// The frame's kind.
        kind: u8,
        /// The frame's payload.
        payload: Vec<u8>,
    },
    /// Its session ended before the caller finished it; nothing follows.
    Lost {
        /// Its position in the list.
        host: usize,
        /// The reason.
        why: Lost,
    },
}

/// Why a host takes no further part.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Lost {
    /// The pipe ended; with the reason and what to do, if they are known.
    #[error("{0}")]
    Ended(String),
    /// No hello.
    #[error(
        "its agent did not start within {} s",
        HELLO_WITHIN_NS / 1_000_000_000
    )]
    NoHello,
    /// Nothing arrives.
    #[error(
        "nothing was heard from it for {} s: it is frozen, or the network is cut",
        SILENT_AFTER_NS / 1_000_000_000
    )]
    Silent,
    /// What arrives is no message.
    #[error(transparent)]
    NotAMessage(#[from] NotAMessage),
    /// Another version of the messages.
    #[error(
        "it runs fourcorners {theirs} (protocol {their_protocol}), and this host {ours} (protocol \
         {PROTOCOL}); install the same version on both"
    )]
    Version {
        /// Its version.
        theirs: String,
        /// Its protocol.
        their_protocol: u32,
        /// This host's version.
        ours: String,
    },
    /// Another build of the same version.
    #[error(
        "it runs another build of fourcorners {version} (SHA-256 {}…), and this host {}…; install the \
         same file on both, or copy it with --push",
        beginning(theirs),
        beginning(ours)
    )]
    Build {
        /// The version of both.
        version: String,
        /// SHA-256 of its file, in hexadecimal.
        theirs: String,
        /// SHA-256 of this host's file.
        ours: String,
    },
    /// A message that does not follow from the previous ones.
    #[error("it sent a message that was not expected")]
    Unexpected,
    /// A request failed.
    #[error("{0}")]
    Failed(String),
    /// The user ended the command.
    #[error("interrupted by the user")]
    Interrupted,
}

/// Enough of a hash to tell builds apart.
fn beginning(hash: &str) -> &str {
    hash.get(..12).unwrap_or(hash)
}

/// The sessions of a fleet.
#[derive(Debug)]
pub struct Controller {
    build: Build,
    /// This host's wall clock when its monotonic clock was 0, in nanoseconds since 1970.
    unix_at_zero_ns: u64,
    sessions: Vec<Session>,
    actions: VecDeque<Action>,
    events: VecDeque<Event>,
}

#[derive(Debug)]
struct Session {
    incoming: Incoming,
    stage: Stage,
    /// When the session began, or something arrived.
    heard_ns: u64,
    /// The number of the next request.
    next_request: u32,
}

#[derive(Debug)]
enum Stage {
    /// A script says whether it needs the program; its line so far.
    Greeting(Vec<u8>),
    Starting,
    Connected {
        hello: Hello,
        /// The last complete sampling; `None` during the first.
        clock: Option<ClockOffset>,
        sampling: Option<Sampling>,
    },
    Ended,
}

/// Pings that are being exchanged.
#[derive(Debug)]
struct Sampling {
    sent_ns: u64,
    samples: Vec<Sample>,
}

impl Controller {
    /// Sessions with agents that are being started at `now_ns`.
    ///
    /// * `copies` - for each host, whether the program is copied there first
    /// * `build` - of this program; agents must have the same
    /// * `unix_at_zero_ns` - this host's wall clock minus the clock of `now_ns`
    pub fn new(copies: &[bool], build: &Build, now_ns: u64, unix_at_zero_ns: u64) -> Controller {
        let session = |copies: &bool| Session {
            incoming: Incoming::default(),
            stage: if *copies { Stage::Greeting(Vec::new()) } else { Stage::Starting },
            heard_ns: now_ns,
            next_request: 0,
        };
        Controller {
            build: build.clone(),
            unix_at_zero_ns,
            sessions: copies.iter().map(session).collect(),
            actions: VecDeque::new(),
            events: VecDeque::new(),
        }
    }

    /// This host's wall clock, which may be adjusted at any time, minus its monotonic clock.
    pub fn set_wall_clock(&mut self, unix_at_zero_ns: u64) {
        self.unix_at_zero_ns = unix_at_zero_ns;
    }

    /// The next thing that the caller has to do.
    pub fn next_action(&mut self) -> Option<Action> {
        self.actions.pop_front()
    }

    /// The next thing that happened.
    pub fn next_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// A host took some of the program that is sent to it.
    pub fn copied(&mut self, host: usize, now_ns: u64) {
        self.sessions[host].heard_ns = now_ns;
    }

    /// Takes bytes from a host.
    pub fn received(&mut self, host: usize, bytes: &[u8], now_ns: u64) {
        let session = &mut self.sessions[host];
        let bytes = match &mut session.stage {
            Stage::Ended => return,
            Stage::Greeting(line) => {
                session.heard_ns = now_ns;
                let end = bytes.iter().position(|byte| *byte == b'\n');
                line.extend_from_slice(&bytes[..end.unwrap_or(bytes.len())]);
                if end.is_none() && line.len() <= SEND.len() {
                    return;
                }
                match line.as_slice() {
                    line if line == PRESENT.as_bytes() => {}
                    line if line == SEND.as_bytes() => {
                        self.actions.push_back(Action::SendCopy { host });
                    }
                    other => {
                        let why = NotAMessage::foreign(other);
                        return self.lose(host, why.into());
                    }
                }
                session.stage = Stage::Starting;
                &bytes[end.map_or(bytes.len(), |end| end + 1)..]
            }
            _ => bytes,
        };
        if bytes.is_empty() {
            return;
        }
        if let Stage::Connected { .. } = session.stage {
            // A long message over a slow link is not silence. A hello is short, and has its own limit.
            session.heard_ns = now_ns;
        }
        session.incoming.add(bytes);
        while !self.is_ended(host) {
            let session = &mut self.sessions[host];
            let handled = match session.incoming.next_message() {
                Ok(None) => return,
                Ok(Some(message)) => {
                    session.heard_ns = now_ns;
                    self.message(host, message, now_ns)
                }
                Err(error) => Err(error.into()),
            };
            if let Err(why) = handled {
                self.lose(host, why);
            }
        }
    }

    /// The pipe to a host ended.
    pub fn closed(&mut self, host: usize, why: String) {
        self.lose(host, Lost::Ended(why));
    }

    /// Gives up hosts that are overdue. Call it at least once a second.
    pub fn tick(&mut self, now_ns: u64) {
        for host in 0..self.sessions.len() {
            let session = &self.sessions[host];
            let silent_ns = now_ns.saturating_sub(session.heard_ns);
            match session.stage {
                Stage::Greeting(_) | Stage::Starting if silent_ns > HELLO_WITHIN_NS => {
                    self.lose(host, Lost::NoHello);
                }
                Stage::Connected { .. } if silent_ns > SILENT_AFTER_NS => {
                    self.lose(host, Lost::Silent);
                }
                _ => {}
            }
        }
    }

    /// Ends all sessions on behalf of the user.
    pub fn interrupt(&mut self) {
        (0..self.sessions.len()).for_each(|host| self.lose(host, Lost::Interrupted));
    }

    /// Ends the session with a host because of a failure.
    pub fn lose(&mut self, host: usize, why: Lost) {
        if !self.is_ended(host) {
            self.sessions[host].stage = Stage::Ended;
            self.actions.push_back(Action::Abandon { host });
            self.events.push_back(Event::Lost { host, why });
        }
    }

    /// Ends the session with a host that has nothing more to do.
    pub fn finish(&mut self, host: usize) {
        if !self.is_ended(host) {
            self.sessions[host].stage = Stage::Ended;
            self.actions.push_back(Action::Close { host });
        }
    }

    /// Sends a request to a connected host, and returns its number. If the host is lost, its event
    /// says so.
    pub fn request(&mut self, host: usize, work: Vec<u8>) -> u32 {
        let number = self.sessions[host].next_request;
        self.sessions[host].next_request += 1;
        self.send(host, &Message::Request { number, work });
        number
    }

    /// Sends a signal to a connected host.
    pub fn signal(&mut self, host: usize, signal: Vec<u8>) {
        self.send(host, &Message::Signal(signal));
    }

    /// Samples the clock of a connected host again, unless that is being done; [`Event::ClockSampled`]
    /// follows.
    pub fn sample_clock(&mut self, host: usize, now_ns: u64) {
        if let Stage::Connected { sampling: sampling @ None, .. } = &mut self.sessions[host].stage {
            *sampling = Some(Sampling { sent_ns: now_ns, samples: Vec::new() });
            self.send(host, &Message::Ping { number: 0 });
        }
    }

    /// The agent of a connected host.
    pub fn hello(&self, host: usize) -> Option<&Hello> {
        match &self.sessions[host].stage {
            Stage::Connected { hello, .. } => Some(hello),
            _ => None,
        }
    }

    /// The clock of a connected host, by its last sampling.
    pub fn clock(&self, host: usize) -> Option<ClockOffset> {
        match &self.sessions[host].stage {
            Stage::Connected { clock, .. } => *clock,
            _ => None,
        }
    }

    /// Whether the agent of a host is known to be alive. If not, it may be busy, frozen or cut off.
    pub fn responds(&self, host: usize, now_ns: u64) -> bool {
        let session = &self.sessions[host];
        let silent_ns = now_ns.saturating_sub(session.heard_ns);
        matches!(session.stage, Stage::Connected { .. }) && silent_ns <= RESPONDS_WITHIN_NS
    }

    /// Whether the session of a host has ended.
    pub fn is_ended(&self, host: usize) -> bool {
        matches!(self.sessions[host].stage, Stage::Ended)
    }

    /// Whether all sessions have ended.
    pub fn is_done(&self) -> bool {
        (0..self.sessions.len()).all(|host| self.is_ended(host))
    }

    fn send(&mut self, host: usize, message: &Message) {
        if !self.is_ended(host) {
            self.actions.push_back(Action::Send { host, bytes: message.to_frame() });
        }
    }

    fn message(&mut self, host: usize, message: Message, now_ns: u64) -> Result<(), Lost> {
        let session = &self.sessions[host];
        let event = match (&session.stage, message) {
            (_, Message::Alive) => return Ok(()),
            (_, Message::Refused(why)) => return Err(Lost::Failed(why)),
            (Stage::Starting, Message::Hello(hello)) => {
                self.refuse_another_build(&hello)?;
                self.sessions[host].stage = Stage::Connected { hello, clock: None, sampling: None };
                self.sample_clock(host, now_ns);
                return Ok(());
            }
            (Stage::Connected { .. }, Message::Pong { number, monotonic_ns, unix_ns }) => {
                return self.pong(host, number, [monotonic_ns, unix_ns], now_ns);
            }
            (Stage::Connected { clock: Some(_), .. }, Message::Reply { number, result })
                if number < session.next_request =>
            {
                Event::Reply { host, number, result }
            }
            (Stage::Connected { clock: Some(_), .. }, Message::Report(report)) => {
                Event::Report { host, report }
            }
            (Stage::Connected { clock: Some(_), .. }, Message::Frame { kind, payload }) => {
                Event::Frame { host, kind, payload }
            }
            _ => return Err(Lost::Unexpected),
        };
        self.events.push_back(event);
        Ok(())
    }

    fn refuse_another_build(&self, hello: &Hello) -> Result<(), Lost> {
        let Build { version, id, .. } = &hello.build;
        if hello.protocol != PROTOCOL || *version != self.build.version {
            return Err(Lost::Version {
                theirs: version.clone(),
                their_protocol: hello.protocol,
                ours: self.build.version.clone(),
            });
        }
        match hello.build.differs_from(&self.build) {
            false => Ok(()),
            true => Err(Lost::Build {
                version: version.clone(),
                theirs: id.clone().unwrap_or_default(),
                ours: self.build.id.clone().unwrap_or_default(),
            }),
        }
    }

    /// Takes the reply to a ping, and sends the next one unless there are enough.
    fn pong(
        &mut self,
        host: usize,
        number: u32,
        [monotonic_ns, unix_ns]: [u64; 2],
        now_ns: u64,
    ) -> Result<(), Lost> {
        let unix_at_zero_ns = self.unix_at_zero_ns;
        let Stage::Connected { clock, sampling: Some(sampling), .. } =
            &mut self.sessions[host].stage
        else {
            return Err(Lost::Unexpected);
        };
        if number as usize != sampling.samples.len() {
            return Err(Lost::Unexpected);
        }
        let (sent_ns, received_ns) = (sampling.sent_ns, now_ns);
        let sample = Sample { sent_ns, received_ns, unix_at_zero_ns, monotonic_ns, unix_ns };
        sampling.samples.push(sample);
        if number + 1 < SAMPLES {
            sampling.sent_ns = now_ns;
            self.send(host, &Message::Ping { number: number + 1 });
            return Ok(());
        }
        let is_first = clock.is_none();
        *clock = clock::offset(&sampling.samples);
        if let Stage::Connected { sampling, .. } = &mut self.sessions[host].stage {
            *sampling = None;
        }
        self.events.push_back(match is_first {
            true => Event::Connected { host },
            false => Event::ClockSampled { host },
        });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::{Agent, AgentAction};
    use crate::ask::{Answer, Ask};

    const SECOND_NS: u64 = 1_000_000_000;

    fn hello(version: &str) -> Hello {
        hello_of(build(version, "aa"))
    }

    fn hello_of(build: Build) -> Hello {
        Hello { protocol: PROTOCOL, build, ..Hello::default() }
    }

    fn build(version: &str, id: &str) -> Build {
        let id = Some(id.to_owned());
        Build { version: version.to_owned(), architecture: "x".to_owned(), id }
    }

    fn controller(copies: &[bool]) -> Controller {
        Controller::new(copies, &build("1", "aa"), 0, 5)
    }

    fn actions(controller: &mut Controller) -> Vec<Action> {
        std::iter::from_fn(|| controller.next_action()).collect()
    }

    /// The hosts that were lost since the last call, and why.
    fn lost(controller: &mut Controller) -> Vec<(usize, Lost)> {
        let events = std::iter::from_fn(|| controller.next_event());
        let lost = |event| match event {
            Event::Lost { host, why } => Some((host, why)),
            _ => None,
        };
        events.filter_map(lost).collect()
    }

    /// A controller and agents under virtual time, over pipes without delay; all are asked.
    fn ask(versions: &[&str]) -> Vec<Result<Answer, Lost>> {
        let mut controller = controller(&vec![false; versions.len()]);
        let mut agents: Vec<Agent> = versions.iter().map(|_| Agent::default()).collect();
        let mut ask = Ask::new(versions.len(), b"what".to_vec());
        for (host, version) in versions.iter().enumerate() {
            controller.received(host, &Message::Hello(hello(version)).to_frame(), 0);
        }
        while !ask.is_done() {
            ask.handle_events(&mut controller);
            for action in actions(&mut controller) {
                let Action::Send { host, bytes } = action else { continue };
                for step in agents[host].received(&bytes, 0, 7).expect("messages") {
                    let reply = match step {
                        AgentAction::Send(bytes) => bytes,
                        AgentAction::Work { number, work } => {
                            Message::Reply { number, result: Ok(work) }.to_frame()
                        }
                        AgentAction::Signal(_) => panic!("nothing was signalled"),
                    };
                    controller.received(host, &reply, 0);
                }
            }
        }
        ask.into_answers()
    }

    #[test]
    fn each_host_gets_the_request_after_its_clock_was_sampled() {
        for result in ask(&["1", "1", "1"]) {
            let answer = result.expect("an answer");
            assert_eq!(answer.result, b"what");
            let clock = ClockOffset { monotonic_ns: 0, wall_ns: 2, error_ns: 0, sampled_ns: 0 };
            assert_eq!(answer.clock, clock);
        }
    }

    #[test]
    fn an_adjusted_wall_clock_of_this_host_is_no_difference_between_hosts() {
        let mut controller = controller(&[false]);
        controller.received(0, &Message::Hello(hello("1")).to_frame(), 0);
        // Since the start this host's clock went a second ahead; the other one has the same time.
        controller.set_wall_clock(5 + SECOND_NS);
        for number in 0..SAMPLES {
            let pong = Message::Pong { number, monotonic_ns: 0, unix_ns: 5 + SECOND_NS };
            controller.received(0, &pong.to_frame(), 0);
        }
        assert_eq!(controller.clock(0).map(|clock| clock.wall_ns), Some(0));
    }

    #[test]
    fn another_version_is_refused_naming_both() {
        let results = ask(&["1", "2"]);
        assert!(results[0].is_ok());
        let text = results[1].as_ref().unwrap_err().to_string();
        assert!(text.contains("fourcorners 2") && text.contains("this host 1"), "{text}");
    }

    #[test]
    fn another_build_of_the_same_version_is_refused_with_both_hashes() {
        let mut controller = controller(&[false; 2]);
        for (host, id) in [(0, "bb"), (1, "aa")] {
            let hello = Message::Hello(hello_of(build("1", id)));
            controller.received(host, &hello.to_frame(), 0);
        }
        let lost = lost(&mut controller);
        let [(0, why @ Lost::Build { .. })] = lost.as_slice() else { panic!("{lost:?}") };
        let text = why.to_string();
        assert!(text.contains("SHA-256 bb…") && text.contains("this host aa…"), "{text}");
    }

    #[test]
    fn a_host_that_does_not_start_and_one_that_falls_silent_are_lost_in_time() {
        let mut controller = controller(&[false; 2]);
        controller.received(1, &Message::Hello(hello("1")).to_frame(), SECOND_NS);
        assert_eq!(actions(&mut controller).len(), 1, "a ping");
        controller.tick(9 * SECOND_NS);
        assert_eq!(actions(&mut controller), []);
        // A sign of life is enough for a slow host.
        controller.received(1, &Message::Alive.to_frame(), 9 * SECOND_NS);
        controller.tick(10 * SECOND_NS + 1);
        assert_eq!(actions(&mut controller), [Action::Abandon { host: 0 }]);
        assert!(controller.responds(1, 12 * SECOND_NS));
        assert!(!controller.responds(1, 12 * SECOND_NS + 1), "it reports every second");
        assert!(!controller.responds(0, 10 * SECOND_NS), "it never connected");
        controller.tick(17 * SECOND_NS);
        assert_eq!(actions(&mut controller), []);
        controller.tick(17 * SECOND_NS + 1);
        assert_eq!(actions(&mut controller), [Action::Abandon { host: 1 }]);
        assert!(controller.is_done());
        assert_eq!(lost(&mut controller), [(0, Lost::NoHello), (1, Lost::Silent)]);
    }

    #[test]
    fn a_long_message_that_arrives_slowly_is_not_silence() {
        let mut controller = controller(&[false]);
        controller.received(0, &Message::Hello(hello("1")).to_frame(), 0);
        actions(&mut controller);
        let message = Message::Report(vec![0; 100]).to_frame();
        let mut now_ns = 0;
        for bytes in message[..90].chunks(10) {
            now_ns += 7 * SECOND_NS;
            controller.received(0, bytes, now_ns);
            controller.tick(now_ns + SECOND_NS);
            assert_eq!(actions(&mut controller), []);
        }
        controller.tick(now_ns + 8 * SECOND_NS + 1);
        assert_eq!(lost(&mut controller), [(0, Lost::Silent)]);
    }

    #[test]
    fn a_lying_agent_is_lost_and_what_follows_is_ignored() {
        let mut controller = controller(&[false; 3]);
        let early = Message::Reply { number: 0, result: Ok(Vec::new()) };
        controller.received(0, &early.to_frame(), 1);
        assert_eq!(actions(&mut controller), [Action::Abandon { host: 0 }]);
        controller.received(0, &Message::Hello(hello("1")).to_frame(), 2);
        assert_eq!(actions(&mut controller), []);
        let wrong = Message::Pong { number: 3, monotonic_ns: 0, unix_ns: 0 };
        for (host, lie) in [(1, wrong), (2, Message::Report(Vec::new()))] {
            controller.received(host, &Message::Hello(hello("1")).to_frame(), 1);
            controller.received(host, &lie.to_frame(), 2);
        }
        let unexpected = [0, 1, 2].map(|host| (host, Lost::Unexpected));
        assert_eq!(lost(&mut controller), unexpected);
    }

    #[test]
    fn the_program_is_sent_only_where_it_is_missing() {
        let mut controller = controller(&[true; 3]);
        controller.received(0, b"fourcorners: se", 1);
        assert_eq!(actions(&mut controller), []);
        controller.received(0, b"nd\n", 1);
        assert_eq!(actions(&mut controller), [Action::SendCopy { host: 0 }]);
        let hello =
            [b"fourcorners: present\n", &Message::Hello(hello("1")).to_frame()[..]].concat();
        let ping = Action::Send { host: 1, bytes: Message::Ping { number: 0 }.to_frame() };
        controller.received(1, &hello, 1);
        assert_eq!(actions(&mut controller), [ping]);
        controller.received(2, b"Welcome to vm03\n", 1);
        assert_eq!(actions(&mut controller), [Action::Abandon { host: 2 }]);
        // A slow copy is not silence.
        controller.copied(0, 9 * SECOND_NS);
        controller.tick(12 * SECOND_NS);
        assert_eq!(actions(&mut controller), [Action::Abandon { host: 1 }]);
        controller.closed(0, "gone".to_owned());
        let (host, why) = lost(&mut controller).remove(0);
        let text = why.to_string();
        assert!(host == 2 && text.contains("`Welcome to vm03`"), "{text}");
    }

    #[test]
    fn an_end_counts_once_and_an_interrupt_ends_the_rest() {
        let mut controller = controller(&[false; 3]);
        controller.closed(0, "exit code 255".to_owned());
        controller.finish(2);
        actions(&mut controller);
        controller.interrupt();
        assert_eq!(actions(&mut controller), [Action::Abandon { host: 1 }]);
        controller.closed(1, "later".to_owned());
        let ended = Lost::Ended("exit code 255".to_owned());
        assert_eq!(lost(&mut controller), [(0, ended), (1, Lost::Interrupted)]);
    }
}
