//! The controller's core: one session for each host, from its first byte to its result.
//!
//! It has no clock and no pipes: the caller passes bytes, ends and the time, and performs the actions. A
//! session ends in an [`Answer`] or is [`Lost`]; a host that sends nothing is lost after a stated time, so
//! every fleet ends.

use crate::clock::{self, ClockOffset, Sample};
use crate::launch::{PRESENT, SEND};
use crate::message::{Hello, Incoming, Message, NotAMessage, PROTOCOL};

/// An agent that does not send its hello within this time is lost. ssh itself gives up after 8 s.
pub const HELLO_WITHIN_NS: u64 = 10_000_000_000;
/// An agent sends something every second; without anything for this long it is lost.
pub const SILENT_AFTER_NS: u64 = 8_000_000_000;
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
    /// End the pipe to a host.
    Close {
        /// Its position in the list.
        host: usize,
    },
}

/// What a host answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Who its agent is.
    pub hello: Hello,
    /// Its clock.
    pub clock: ClockOffset,
    /// The result of the request.
    pub result: Vec<u8>,
}

/// Why there is no answer from a host.
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
    /// A message that does not follow from the previous ones.
    #[error("it sent a message that was not expected")]
    Unexpected,
    /// The agent reported a failure.
    #[error("{0}")]
    Failed(String),
    /// The user ended the command.
    #[error("interrupted by the user")]
    Interrupted,
}

/// The sessions of a fleet.
#[derive(Debug)]
pub struct Controller {
    version: String,
    request: Vec<u8>,
    /// This host's wall clock when its monotonic clock was 0, in nanoseconds since 1970.
    unix_at_zero_ns: u64,
    sessions: Vec<Session>,
}

#[derive(Debug)]
struct Session {
    incoming: Incoming,
    stage: Stage,
    /// When the session began or the last message arrived.
    heard_ns: u64,
}

#[derive(Debug)]
enum Stage {
    /// A script says whether it needs the program; its line so far.
    Greeting(Vec<u8>),
    Starting,
    Sampling {
        hello: Hello,
        sent_ns: u64,
        samples: Vec<Sample>,
    },
    Working {
        hello: Hello,
        clock: ClockOffset,
    },
    Ended(Result<Answer, Lost>),
}

impl Controller {
    /// Sends `request` to each of the agents that are being started at `now_ns`.
    ///
    /// * `copies` - for each host, whether the program is copied there first
    /// * `version` - of this program; agents must have the same
    /// * `unix_at_zero_ns` - this host's wall clock minus the clock of `now_ns`
    pub fn new(
        copies: &[bool],
        version: &str,
        request: Vec<u8>,
        now_ns: u64,
        unix_at_zero_ns: u64,
    ) -> Controller {
        let session = |copies: &bool| Session {
            incoming: Incoming::default(),
            stage: if *copies { Stage::Greeting(Vec::new()) } else { Stage::Starting },
            heard_ns: now_ns,
        };
        let sessions = copies.iter().map(session).collect();
        Controller { version: version.to_owned(), request, unix_at_zero_ns, sessions }
    }

    /// A host took some of the program that is sent to it.
    pub fn copied(&mut self, host: usize, now_ns: u64) {
        self.sessions[host].heard_ns = now_ns;
    }

    /// Takes bytes from a host.
    pub fn received(&mut self, host: usize, bytes: &[u8], now_ns: u64) -> Vec<Action> {
        let mut actions = Vec::new();
        let session = &mut self.sessions[host];
        let bytes = match &mut session.stage {
            Stage::Ended(_) => return actions,
            Stage::Greeting(line) => {
                session.heard_ns = now_ns;
                let end = bytes.iter().position(|byte| *byte == b'\n');
                line.extend_from_slice(&bytes[..end.unwrap_or(bytes.len())]);
                if end.is_none() && line.len() <= SEND.len() {
                    return actions;
                }
                match line.as_slice() {
                    line if line == PRESENT.as_bytes() => {}
                    line if line == SEND.as_bytes() => actions.push(Action::SendCopy { host }),
                    other => {
                        let why = NotAMessage::foreign(other);
                        session.stage = Stage::Ended(Err(why.into()));
                        return vec![Action::Close { host }];
                    }
                }
                session.stage = Stage::Starting;
                &bytes[end.map_or(bytes.len(), |end| end + 1)..]
            }
            _ => bytes,
        };
        if bytes.is_empty() {
            return actions;
        }
        session.incoming.add(bytes);
        loop {
            let session = &mut self.sessions[host];
            let next = match session.incoming.next_message() {
                Ok(None) => return actions,
                Ok(Some(message)) => {
                    session.heard_ns = now_ns;
                    self.message(host, message, now_ns)
                }
                Err(error) => Err(error.into()),
            };
            match next {
                Ok(Some(message)) => {
                    actions.push(Action::Send { host, bytes: message.to_frame() });
                }
                Ok(None) => {}
                Err(lost) => self.sessions[host].stage = Stage::Ended(Err(lost)),
            }
            if matches!(self.sessions[host].stage, Stage::Ended(_)) {
                actions.push(Action::Close { host });
                return actions;
            }
        }
    }

    /// The pipe to a host ended.
    pub fn closed(&mut self, host: usize, why: String) {
        let stage = &mut self.sessions[host].stage;
        if !matches!(stage, Stage::Ended(_)) {
            *stage = Stage::Ended(Err(Lost::Ended(why)));
        }
    }

    /// Gives up hosts that are overdue. Call it at least once a second.
    pub fn tick(&mut self, now_ns: u64) -> Vec<Action> {
        self.end_those(|session| {
            let silent_ns = now_ns.saturating_sub(session.heard_ns);
            match session.stage {
                Stage::Greeting(_) | Stage::Starting if silent_ns > HELLO_WITHIN_NS => {
                    Some(Lost::NoHello)
                }
                Stage::Sampling { .. } | Stage::Working { .. } if silent_ns > SILENT_AFTER_NS => {
                    Some(Lost::Silent)
                }
                _ => None,
            }
        })
    }

    /// Ends all sessions on behalf of the user.
    pub fn interrupt(&mut self) -> Vec<Action> {
        self.end_those(|_| Some(Lost::Interrupted))
    }

    fn end_those(&mut self, lost: impl Fn(&Session) -> Option<Lost>) -> Vec<Action> {
        let mut actions = Vec::new();
        for (host, session) in self.sessions.iter_mut().enumerate() {
            if matches!(session.stage, Stage::Ended(_)) {
                continue;
            }
            if let Some(lost) = lost(session) {
                session.stage = Stage::Ended(Err(lost));
                actions.push(Action::Close { host });
            }
        }
        actions
    }

    /// Hosts whose session has ended.
    pub fn ended(&self) -> usize {
        (0..self.sessions.len()).filter(|host| self.is_ended(*host)).count()
    }

    /// Whether a host has answered.
    pub fn is_answered(&self, host: usize) -> bool {
        matches!(self.sessions[host].stage, Stage::Ended(Ok(_)))
    }

    /// Whether the session of a host has ended.
    pub fn is_ended(&self, host: usize) -> bool {
        matches!(self.sessions[host].stage, Stage::Ended(_))
    }

    /// Whether all sessions have ended.
    pub fn is_done(&self) -> bool {
        self.ended() == self.sessions.len()
    }

    /// The results, in the order of the hosts.
    ///
    /// # Panics
    /// A session has not ended.
    pub fn into_results(self) -> Vec<Result<Answer, Lost>> {
        let result = |session: Session| match session.stage {
            Stage::Ended(result) => result,
            _ => panic!("every session has ended"),
        };
        self.sessions.into_iter().map(result).collect()
    }

    /// Handles a message; returns the reply.
    fn message(
        &mut self,
        host: usize,
        message: Message,
        now_ns: u64,
    ) -> Result<Option<Message>, Lost> {
        if message == Message::Alive {
            return Ok(None);
        }
        let stage = std::mem::replace(&mut self.sessions[host].stage, Stage::Starting);
        let (stage, reply) = match (stage, message) {
            (Stage::Starting, Message::Hello(hello)) => {
                if hello.protocol != PROTOCOL || hello.version != self.version {
                    return Err(Lost::Version {
                        theirs: hello.version,
                        their_protocol: hello.protocol,
                        ours: self.version.clone(),
                    });
                }
                let stage = Stage::Sampling { hello, sent_ns: now_ns, samples: Vec::new() };
                (stage, Some(Message::Ping { number: 0 }))
            }
            (
                Stage::Sampling { hello, sent_ns, mut samples },
                Message::Pong { number, monotonic_ns, unix_ns },
            ) if number as usize == samples.len() => {
                samples.push(Sample {
                    sent_ns,
                    received_ns: now_ns,
                    unix_at_zero_ns: self.unix_at_zero_ns,
                    monotonic_ns,
                    unix_ns,
                });
                match clock::offset(&samples) {
                    Some(clock) if number + 1 == SAMPLES => {
                        let request = Message::Request(self.request.clone());
                        (Stage::Working { hello, clock }, Some(request))
                    }
                    _ => {
                        let ping = Message::Ping { number: number + 1 };
                        (Stage::Sampling { hello, sent_ns: now_ns, samples }, Some(ping))
                    }
                }
            }
            (Stage::Working { hello, clock }, Message::Result(result)) => {
                (Stage::Ended(Ok(Answer { hello, clock, result })), None)
            }
            (_, Message::Failed(why)) => return Err(Lost::Failed(why)),
            _ => return Err(Lost::Unexpected),
        };
        self.sessions[host].stage = stage;
        Ok(reply)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::{Agent, AgentAction};

    const SECOND_NS: u64 = 1_000_000_000;

    fn hello(version: &str) -> Hello {
        Hello {
            protocol: PROTOCOL,
            version: version.to_owned(),
            host_name: "h".to_owned(),
            boot_id: "b".to_owned(),
            process: 1,
        }
    }

    /// A controller and agents under virtual time, over pipes without delay.
    struct World {
        controller: Controller,
        agents: Vec<Agent>,
        now_ns: u64,
    }

    impl World {
        fn new(versions: &[&str]) -> World {
            let controller =
                Controller::new(&vec![false; versions.len()], "1", b"what".to_vec(), 0, 5);
            let agents = versions.iter().map(|_| Agent::default()).collect();
            let mut world = World { controller, agents, now_ns: 0 };
            for (host, version) in versions.iter().enumerate() {
                let hello = Message::Hello(hello(version)).to_frame();
                world.send(host, &hello);
            }
            world
        }

        /// Bytes from an agent, and everything that follows from them.
        fn send(&mut self, host: usize, bytes: &[u8]) {
            let mut actions = self.controller.received(host, bytes, self.now_ns);
            while let Some(action) = actions.pop() {
                let Action::Send { host, bytes } = action else { continue };
                for step in self.agents[host].received(&bytes, self.now_ns, 7).expect("messages") {
                    let reply = match step {
                        AgentAction::Send(bytes) => bytes,
                        AgentAction::Work(request) => Message::Result(request).to_frame(),
                    };
                    actions.extend(self.controller.received(host, &reply, self.now_ns));
                }
            }
        }
    }

    #[test]
    fn each_host_gets_the_request_after_its_clock_was_sampled() {
        let world = World::new(&["1", "1", "1"]);
        assert!(world.controller.is_done());
        for result in world.controller.into_results() {
            let answer = result.expect("an answer");
            assert_eq!(answer.result, b"what");
            let clock = ClockOffset { monotonic_ns: 0, wall_ns: 2, error_ns: 0 };
            assert_eq!(answer.clock, clock);
        }
    }

    #[test]
    fn another_version_is_refused_naming_both() {
        let world = World::new(&["1", "2"]);
        let results = world.controller.into_results();
        assert!(results[0].is_ok());
        let text = results[1].as_ref().unwrap_err().to_string();
        assert!(text.contains("fourcorners 2") && text.contains("this host 1"), "{text}");
    }

    #[test]
    fn a_host_that_does_not_start_and_one_that_falls_silent_are_lost_in_time() {
        let mut controller = Controller::new(&[false; 2], "1", Vec::new(), 0, 0);
        let hello = Message::Hello(hello("1")).to_frame();
        assert_eq!(controller.received(1, &hello, SECOND_NS).len(), 1, "a ping");
        assert_eq!(controller.tick(9 * SECOND_NS), []);
        // A sign of life is enough for a slow host.
        controller.received(1, &Message::Alive.to_frame(), 9 * SECOND_NS);
        assert_eq!(controller.tick(10 * SECOND_NS + 1), [Action::Close { host: 0 }]);
        assert_eq!(controller.tick(17 * SECOND_NS), []);
        assert_eq!(controller.tick(17 * SECOND_NS + 1), [Action::Close { host: 1 }]);
        assert!(controller.is_done());
        assert_eq!(controller.into_results(), [Err(Lost::NoHello), Err(Lost::Silent)]);
    }

    #[test]
    fn a_lying_agent_is_lost_and_what_follows_is_ignored() {
        let mut controller = Controller::new(&[false; 2], "1", Vec::new(), 0, 0);
        let early = Message::Result(Vec::new()).to_frame();
        assert_eq!(controller.received(0, &early, 1), [Action::Close { host: 0 }]);
        assert_eq!(controller.received(0, &Message::Hello(hello("1")).to_frame(), 2), []);
        controller.received(1, &Message::Hello(hello("1")).to_frame(), 1);
        let wrong = Message::Pong { number: 3, monotonic_ns: 0, unix_ns: 0 };
        controller.received(1, &wrong.to_frame(), 2);
        assert_eq!(controller.into_results(), [Err(Lost::Unexpected), Err(Lost::Unexpected)]);
    }

    #[test]
    fn the_program_is_sent_only_where_it_is_missing() {
        let mut controller = Controller::new(&[true; 3], "1", Vec::new(), 0, 0);
        assert_eq!(controller.received(0, b"fourcorners: se", 1), []);
        assert_eq!(controller.received(0, b"nd\n", 1), [Action::SendCopy { host: 0 }]);
        let hello =
            [b"fourcorners: present\n", &Message::Hello(hello("1")).to_frame()[..]].concat();
        let ping = Action::Send { host: 1, bytes: Message::Ping { number: 0 }.to_frame() };
        assert_eq!(controller.received(1, &hello, 1), [ping]);
        assert_eq!(controller.received(2, b"Welcome to vm03\n", 1), [Action::Close { host: 2 }]);
        // A slow copy is not silence.
        controller.copied(0, 9 * SECOND_NS);
        assert_eq!(controller.tick(12 * SECOND_NS), [Action::Close { host: 1 }]);
        controller.closed(0, "gone".to_owned());
        let text = controller.into_results().pop().expect("three").unwrap_err().to_string();
        assert!(text.contains("`Welcome to vm03`"), "{text}");
    }

    #[test]
    fn an_end_counts_once_and_an_interrupt_ends_the_rest() {
        let mut controller = Controller::new(&[false; 2], "1", Vec::new(), 0, 0);
        controller.closed(0, "exit code 255".to_owned());
        assert_eq!(controller.interrupt(), [Action::Close { host: 1 }]);
        controller.closed(1, "later".to_owned());
        let results = controller.into_results();
        assert_eq!(results[0], Err(Lost::Ended("exit code 255".to_owned())));
        assert_eq!(results[1], Err(Lost::Interrupted));
    }
}
