//! The agent's core: answers pings and passes the request on. Without I/O and without a clock.

use crate::message::{Incoming, Message, NotAMessage};

/// What the agent's shell has to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AgentAction {
    /// Send bytes to the controller.
    Send(Vec<u8>),
    /// Do the work of a request, then send [`Message::Result`] or [`Message::Failed`].
    Work(Vec<u8>),
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
                Message::Request(request) => AgentAction::Work(request),
                Message::Hello(_)
                | Message::Pong { .. }
                | Message::Result(_)
                | Message::Failed(_)
                | Message::Alive => {
                    let why = "the controller sent a message of an agent".to_owned();
                    AgentAction::Send(Message::Failed(why).to_frame())
                }
            });
        }
        Ok(actions)
    }
}
