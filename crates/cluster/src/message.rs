//! What controller and agents send each other, as frames of crate `record`.
//!
//! Kinds below [`FIRST_CONTROL`] are those of a journal. A peer is a stranger until its hello was accepted:
//! lengths are limited, checksums are verified, and bytes that are no frame are quoted in the error, because
//! they usually are what a login script prints.

use record::framing::{self, HEAD_BYTES, MARKER, RawFrame};
use serde::{Deserialize, Serialize};

/// Version of the messages. Peers with different versions refuse each other.
pub const PROTOCOL: u32 = 3;
/// Longest payload of a frame, in bytes.
pub const PAYLOAD_BYTES_MAX: usize = 64 << 20;
/// The lowest kind of a control frame.
const FIRST_CONTROL: u8 = 128;
/// Characters of foreign output that an error quotes.
const QUOTED_MAX: usize = 200;

/// A control message. Frames store a variant as [`FIRST_CONTROL`] plus its position here.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Message {
    /// Agent: the first message.
    Hello(Hello),
    /// Controller: a sample of the clocks begins.
    Ping {
        /// Its number.
        number: u32,
    },
    /// Agent: the reply to a ping.
    Pong {
        /// The ping's number.
        number: u32,
        /// The agent's monotonic clock, in nanoseconds.
        monotonic_ns: u64,
        /// The agent's wall clock, in nanoseconds since 1970.
        unix_ns: u64,
    },
    /// Controller: what to do, in the form that the caller defines. Agents do one after the other.
    Request {
        /// Its number in the session, from 0.
        number: u32,
        /// What to do.
        work: Vec<u8>,
    },
    /// Agent: the result of a request, in the form that the caller defines, or why there is none, in words.
    Reply {
        /// The request's number.
        number: u32,
        /// The result.
        result: Result<Vec<u8>, String>,
    },
    /// Agent: it is alive; sent every second.
    Alive,
    /// Controller: concerns the request that is being done, in the form that the caller defines. Not
    /// replied to.
    Signal(Vec<u8>),
    /// Agent: progress of the request that is being done, in the form that the caller defines.
    Report(Vec<u8>),
    /// Agent: the controller sent something that it must not send; the session ends.
    Refused(String),
    /// Agent: a frame of a journal, with its own kind.
    Frame {
        /// Its kind, below [`FIRST_CONTROL`].
        kind: u8,
        /// Its payload.
        payload: Vec<u8>,
    },
}

/// A build of the program.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Build {
    /// Version and commit.
    pub version: String,
    /// The processor architecture that it is compiled for.
    pub architecture: String,
    /// Identifies its content, in hexadecimal: two builds may have one version. `None` for an agent that
    /// its controller started from its own file, and if the file cannot be read.
    pub id: Option<String>,
}

impl Build {
    /// Whether it certainly differs from another build of the same version. Builds for two architectures
    /// have different files, so those are not compared.
    pub(crate) fn differs_from(&self, other: &Build) -> bool {
        let ids = self.id.as_ref().zip(other.id.as_ref());
        self.architecture == other.architecture && ids.is_some_and(|(ours, other)| ours != other)
    }
}

/// Who an agent is. The protocol and the version come first in every version, so that a difference is
/// reported in words.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    /// [`PROTOCOL`] of the agent.
    pub protocol: u32,
    /// The program.
    pub build: Build,
    /// The host's own name.
    pub host_name: String,
    /// Changes when the host restarts, so that clocks are not compared across a restart.
    pub boot_id: String,
    /// Of processes and of networks: differ between containers on one machine. Empty if unknown.
    pub namespaces: String,
    /// The agent's process.
    pub process: u32,
}

impl Hello {
    /// Whether both agents certainly run on one machine, and not in two containers of it.
    pub(crate) fn is_on_same_host(&self, other: &Hello) -> bool {
        let is_known = !self.boot_id.is_empty() && !self.namespaces.is_empty();
        is_known && self.boot_id == other.boot_id && self.namespaces == other.namespaces
    }
}

impl Message {
    /// The message as a frame.
    pub fn to_frame(&self) -> Vec<u8> {
        let mut frame = Vec::new();
        match self {
            Message::Frame { kind, payload } => {
                framing::append(*kind, |out| out.extend_from_slice(payload), &mut frame);
            }
            _ => framing::append(self.kind(), |out| record::frame::encode(self, out), &mut frame),
        }
        frame
    }

    const fn kind(&self) -> u8 {
        FIRST_CONTROL
            + match self {
                Message::Hello(_) => 0,
                Message::Ping { .. } => 1,
                Message::Pong { .. } => 2,
                Message::Request { .. } => 3,
                Message::Reply { .. } => 4,
                Message::Alive => 5,
                Message::Signal(_) => 6,
                Message::Report(_) => 7,
                Message::Refused(_) => 8,
                Message::Frame { kind, .. } => return *kind,
            }
    }
}

/// Why bytes from a peer are not messages.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotAMessage {
    /// Other output.
    #[error(
        "it printed `{0}` instead of a message; a login script must not write to standard output"
    )]
    Foreign(String),
    /// A frame that is longer than [`PAYLOAD_BYTES_MAX`].
    #[error("it announced a message of {0} bytes; at most {PAYLOAD_BYTES_MAX} are accepted")]
    TooLong(usize),
    /// A wrong checksum.
    #[error("a message was damaged on its way (checksum)")]
    Damaged,
    /// A frame of a kind that this version does not know, or with content that does not match it.
    #[error("it sent a message that this version of fourcorners does not know (kind {0})")]
    Unknown(u8),
}

impl NotAMessage {
    /// Other output, quoted.
    pub(crate) fn foreign(bytes: &[u8]) -> NotAMessage {
        NotAMessage::Foreign(quote(bytes))
    }
}

/// Bytes from a peer that are not yet messages.
#[derive(Debug, Default)]
pub struct Incoming {
    bytes: Vec<u8>,
}

impl Incoming {
    /// Adds bytes.
    pub fn add(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// The next complete message; `None` until it is complete.
    ///
    /// # Errors
    /// The bytes are not a message. Nothing that follows can be trusted.
    pub fn next_message(&mut self) -> Result<Option<Message>, NotAMessage> {
        let begins = MARKER.len().min(self.bytes.len());
        if self.bytes[..begins] != MARKER[..begins] {
            return Err(NotAMessage::foreign(&self.bytes));
        }
        let Some(head) = self.bytes.first_chunk::<HEAD_BYTES>() else { return Ok(None) };
        let length = u32::from_le_bytes([head[4], head[5], head[6], head[7]]) as usize;
        if length > PAYLOAD_BYTES_MAX {
            return Err(NotAMessage::TooLong(length));
        }
        let end = HEAD_BYTES + length;
        if self.bytes.len() < end {
            return Ok(None);
        }
        let RawFrame { kind, payload, .. } =
            framing::frame_at(&self.bytes[..end], 0).ok_or(NotAMessage::Damaged)?;
        let message = match kind {
            ..FIRST_CONTROL => Message::Frame { kind, payload: payload.to_vec() },
            _ => record::frame::decode(payload)
                .ok()
                .or_else(|| hello_of_another_version(payload))
                .ok_or(NotAMessage::Unknown(kind))?,
        };
        if message.kind() != kind {
            return Err(NotAMessage::Unknown(kind));
        }
        self.bytes.drain(..end);
        Ok(Some(message))
    }
}

/// What is known of a hello of another protocol.
fn hello_of_another_version(payload: &[u8]) -> Option<Message> {
    let (position, protocol, version): (u32, u32, String) =
        record::frame::decode_beginning(payload).ok()?;
    let build = Build { version, ..Build::default() };
    let is_hello = position == 0 && protocol != PROTOCOL;
    is_hello.then(|| Message::Hello(Hello { protocol, build, ..Hello::default() }))
}

/// The beginning of foreign output, on one line.
fn quote(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(QUOTED_MAX)]);
    let line = text.trim().lines().next().unwrap_or_default().trim().to_owned();
    line.chars().map(|c| if c.is_control() { '?' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn hello() -> Hello {
        let id = Some("ab".repeat(20));
        Hello {
            protocol: PROTOCOL,
            build: Build { version: "0.1.0".to_owned(), architecture: "x86_64".to_owned(), id },
            host_name: "vm01".to_owned(),
            boot_id: "b".to_owned(),
            namespaces: "pid:[1] net:[2]".to_owned(),
            process: 7,
        }
    }

    fn all() -> Vec<Message> {
        vec![
            Message::Hello(hello()),
            Message::Ping { number: 3 },
            Message::Pong { number: 3, monotonic_ns: 5, unix_ns: u64::MAX },
            Message::Request { number: 0, work: vec![0, 255] },
            Message::Reply { number: 0, result: Ok(Vec::new()) },
            Message::Reply { number: 1, result: Err("no such path".to_owned()) },
            Message::Alive,
            Message::Signal(vec![1]),
            Message::Report(vec![2]),
            Message::Refused("no".to_owned()),
            Message::Frame { kind: record::frame::INTERVAL, payload: vec![3, 4] },
        ]
    }

    #[test]
    fn every_message_reads_back_whatever_the_pieces() {
        let bytes: Vec<u8> = all().iter().flat_map(Message::to_frame).collect();
        for piece in [1, 2, 7, bytes.len()] {
            let mut incoming = Incoming::default();
            let mut read = Vec::new();
            for bytes in bytes.chunks(piece) {
                incoming.add(bytes);
                while let Some(message) = incoming.next_message().expect("only messages") {
                    read.push(message);
                }
            }
            assert_eq!(read, all(), "pieces of {piece}");
        }
    }

    #[test]
    fn a_hello_of_another_protocol_is_read_as_far_as_versions_agree() {
        let read = |payload: &[u8]| {
            let mut frame = Vec::new();
            framing::append(FIRST_CONTROL, |out| out.extend_from_slice(payload), &mut frame);
            let mut incoming = Incoming::default();
            incoming.add(&frame);
            incoming.next_message()
        };
        let mut payload = Vec::new();
        // As protocol 2: without a build.
        record::frame::encode(&(0u32, 2u32, "0.0.9", "vm01", "b", 7u32), &mut payload);
        let later_bytes = [&[0, 9][..], &[5], b"0.9.0", b"more"].concat();
        for (payload, protocol, version) in [(payload, 2, "0.0.9"), (later_bytes, 9, "0.9.0")] {
            let Ok(Some(Message::Hello(hello))) = read(&payload) else { panic!("{version}") };
            assert_eq!((hello.protocol, hello.build.version.as_str()), (protocol, version));
        }
        let mut of_this = Vec::new();
        record::frame::encode(&(0u32, PROTOCOL, "0.1.0"), &mut of_this);
        assert_eq!(read(&of_this), Err(NotAMessage::Unknown(FIRST_CONTROL)));
    }

    #[test]
    fn two_names_of_a_machine_are_one_host_and_its_containers_and_unknown_ones_are_not() {
        let of = |boot_id: &str, namespaces: &str| Hello {
            boot_id: boot_id.to_owned(),
            namespaces: namespaces.to_owned(),
            ..Hello::default()
        };
        let machine = of("b", "pid:[1] net:[2]");
        assert!(machine.is_on_same_host(&Hello { process: 9, ..machine.clone() }));
        for other in [of("c", "pid:[1] net:[2]"), of("b", "pid:[3] net:[2]"), of("b", "")] {
            assert!(
                !machine.is_on_same_host(&other) && !other.is_on_same_host(&machine),
                "{other:?}"
            );
        }
        assert!(!of("b", "").is_on_same_host(&of("b", "")));
        assert!(!of("", "pid:[1]").is_on_same_host(&of("", "pid:[1]")));
    }

    #[test]
    fn builds_differ_by_their_files_unless_they_are_for_different_architectures() {
        let build = |architecture: &str, id: Option<&str>| Build {
            version: "1".to_owned(),
            architecture: architecture.to_owned(),
            id: id.map(str::to_owned),
        };
        let ours = build("x86_64", Some("aa"));
        assert!(ours.differs_from(&build("x86_64", Some("bb"))));
        for same in
            [build("x86_64", Some("aa")), build("aarch64", Some("bb")), build("x86_64", None)]
        {
            assert!(!ours.differs_from(&same), "{same:?}");
        }
    }

    #[test]
    fn other_output_is_quoted_and_lengths_are_limited() {
        let mut incoming = Incoming::default();
        incoming.add(b"Welcome to vm01\nLast login");
        let text = incoming.next_message().unwrap_err().to_string();
        assert!(text.contains("`Welcome to vm01`"), "{text}");
        let mut long = Message::Alive.to_frame();
        long[4..8].copy_from_slice(&u32::MAX.to_le_bytes());
        let mut incoming = Incoming::default();
        incoming.add(&long);
        assert_eq!(incoming.next_message(), Err(NotAMessage::TooLong(u32::MAX as usize)));
        let mut flipped = Message::Ping { number: 1 }.to_frame();
        *flipped.last_mut().expect("a payload") ^= 1;
        let mut incoming = Incoming::default();
        incoming.add(&flipped);
        assert_eq!(incoming.next_message(), Err(NotAMessage::Damaged));
        let mut unknown = Vec::new();
        framing::append(250, |out| out.push(9), &mut unknown);
        let mut incoming = Incoming::default();
        incoming.add(&unknown);
        assert_eq!(incoming.next_message(), Err(NotAMessage::Unknown(250)));
    }

    proptest! {
        #[test]
        fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300), valid in any::<bool>()) {
            let mut incoming = Incoming::default();
            if valid {
                incoming.add(&MARKER);
            }
            incoming.add(&bytes);
            for _ in 0..300 {
                if !matches!(incoming.next_message(), Ok(Some(_))) {
                    break;
                }
            }
        }
    }
}
