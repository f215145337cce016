//! The agent's core: answers pings and passes requests on. Without I/O and without a clock.

use crate::message::{Incoming, Message, NotAMessage};

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
}

impl Agent {
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
