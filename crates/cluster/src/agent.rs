//! The agent's core: answers pings, passes requests on, and gives signs of life. Without I/O and without a
//! clock.

use crate::message::{Incoming, Message, NotAMessage};

/// Time between two signs of life, in nanoseconds.
pub const ALIVE_EVERY_NS: u64 = 1_000_000_000;

/// What the agent's shell has to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AgentAction {
    /// Send bytes to the controller.
    Send(Vec<u8>),
    /// Do the work of a request after those before it, then send [`Message::Reply`].
    Work {
        /// The request's number.
        number: u32,
        /// What to do.
        work: Vec<u8>,
    },
    /// Tell the request that is being done.
    Signal(Vec<u8>),
}

/// The session with the controller.
#[derive(Debug, Default)]
pub struct Agent {
    incoming: Incoming,
    /// When the next sign of life is due, by this host's monotonic clock.
    alive_due_ns: u64,
}

impl Agent {
    /// A sign of life for the controller, if one is due. It does not depend on what arrives: a controller
    /// that sends signals all the time would else not hear from an agent that waits.
    pub fn sign_of_life(&mut self, monotonic_ns: u64) -> Option<Vec<u8>> {
        if monotonic_ns < self.alive_due_ns {
            return None;
        }
        self.alive_due_ns = monotonic_ns + ALIVE_EVERY_NS;
        Some(Message::Alive.to_frame())
    }

    /// Time until the next sign of life is due, in nanoseconds.
    pub const fn until_sign_of_life_ns(&self, monotonic_ns: u64) -> u64 {
        self.alive_due_ns.saturating_sub(monotonic_ns)
    }

    /// Takes bytes from the controller.
    ///
    /// * `monotonic_ns`, `unix_ns` - this host's clocks, read when the bytes arrived
    ///
    /// # Errors
    /// The bytes are not messages of a controller.
    pub fn received(
        &mut self,
        bytes: &[u8],
        monotonic_ns: u64,
        unix_ns: u64,
    ) -> Result<Vec<AgentAction>, NotAMessage> {
        self.incoming.add(bytes);
        let mut actions = Vec::new();
        while let Some(message) = self.incoming.next_message()? {
            actions.push(match message {
                Message::Ping { number } => {
                    let pong = Message::Pong { number, monotonic_ns, unix_ns };
                    AgentAction::Send(pong.to_frame())
                }
                Message::Request { number, work } => AgentAction::Work { number, work },
                Message::Signal(signal) => AgentAction::Signal(signal),
                Message::Hello(_)
                | Message::Pong { .. }
                | Message::Reply { .. }
                | Message::Alive
                | Message::Report(_)
                | Message::Refused(_)
                | Message::Frame { .. } => {
                    let why = "the controller sent a message of an agent".to_owned();
                    AgentAction::Send(Message::Refused(why).to_frame())
                }
            });
        }
        Ok(actions)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sign_of_life_is_sent_every_second_however_often_the_controller_sends() {
        let mut agent = Agent::default();
        let signal = Message::Signal(vec![1]).to_frame();
        let mut sent_ns = Vec::new();
        for now_ns in (0..30).map(|tenth| 7 + tenth * ALIVE_EVERY_NS / 10) {
            agent.received(&signal, now_ns, 0).expect("it is a message");
            if let Some(frame) = agent.sign_of_life(now_ns) {
                assert_eq!(frame, Message::Alive.to_frame());
                sent_ns.push(now_ns);
            }
            assert!(agent.until_sign_of_life_ns(now_ns) > 0);
        }
        assert_eq!(sent_ns, [0, 1, 2].map(|second| 7 + second * ALIVE_EVERY_NS));
    }
}
