//! One connection of a client: which calls are outstanding, what their bytes are, and to which of
//! them a reply belongs.
//!
//! The caller owns the socket. It asks for a call ([`Client::read`], [`Client::write`],
//! [`Client::call`]), sends [`Client::message`] of the slot it got (and after a WRITE the data and
//! its padding), feeds what arrives to [`Client::receive`], and keeps what it wants to remember of
//! a call in a table of its own under the slot's index.
//!
//! An xid is the slot's index in its low bits and above it how often the slot was used: a reply
//! finds its slot by index, and a late reply to an earlier call is told by its generation.
//!
//! After a reconnect every outstanding call is sent again with the same bytes, and so the same
//! xid: a server that did the first one gives its first answer again instead of doing it twice.
//! What it is not for: deadlines and when to reconnect, for it has no clock.

use crate::arguments::stable_how;
use crate::procedure::{NfsProcedure, Procedure};
use crate::record::{MARK_BYTES, RecordError, RecordReader, begin_record, end_record};
use crate::request::{Arguments, Results};
use crate::results::{COMMIT3res, READ3res, WRITE3res};
use crate::rpc::{Credential, ReplyHeader, ReplyStatus, encode_call_head};
use crate::template::{ReadTemplate, WriteTemplate};
use crate::xdr::{Reader, Writer, Xdr, XdrError, decode_whole};

/// How a connection is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClientOptions {
    /// Most calls outstanding, 1 to 65,536.
    pub slots: u32,
    /// Most bytes of a reply: the largest READ and some 200 bytes.
    pub max_reply_bytes: usize,
    /// Where the generations begin. Connections of one client should differ in it, so that a
    /// server does not take the call of one for a repeated call of another.
    pub first_generation: u32,
}

/// Why a stream of replies is of no use any more: the connection must be closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReceiveError {
    /// A record above the maximum, or of too many empty fragments.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// A record that is no reply.
    #[error("read the head of a reply: {0}")]
    NotAReply(XdrError),
}

/// Why a reply holds no results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReplyError {
    /// The server did not do the call.
    #[error("the server did not take the call: {0:?}")]
    Refused(ReplyStatus),
    /// What follows is not what the procedure gives.
    #[error("read the results: {0}")]
    Malformed(XdrError),
    /// The results of another procedure were asked for.
    #[error("the reply is one to {0:?}")]
    OtherProcedure(Procedure),
}

/// What a record was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Received<'a> {
    /// The reply to an outstanding call; its slot is free again.
    Completed(Completion<'a>),
    /// A reply to nothing that is outstanding: a call was given up, or replayed and answered
    /// twice.
    Stale {
        /// The reply's.
        xid: u32,
    },
}

/// The end of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion<'a> {
    /// The slot that it had.
    pub slot: u32,
    /// The call's.
    pub xid: u32,
    /// Its procedure.
    pub procedure: Procedure,
    /// Whether the server did it.
    pub status: ReplyStatus,
    /// The results' bytes.
    pub body: &'a [u8],
}

impl<'a> Completion<'a> {
    /// The results.
    ///
    /// # Errors
    /// There are none.
    pub fn results(&self) -> Result<Results<'a>, ReplyError> {
        self.accepted()?;
        Results::decode(self.procedure, self.body).map_err(ReplyError::Malformed)
    }

    /// The results of a READ: the data lies where it was received.
    ///
    /// # Errors
    /// There are none.
    pub fn read(&self) -> Result<READ3res<'a>, ReplyError> {
        self.typed(NfsProcedure::READ)
    }

    /// The results of a WRITE.
    ///
    /// # Errors
    /// There are none.
    pub fn write(&self) -> Result<WRITE3res, ReplyError> {
        self.typed(NfsProcedure::WRITE)
    }

    /// The results of a COMMIT.
    ///
    /// # Errors
    /// There are none.
    pub fn commit(&self) -> Result<COMMIT3res, ReplyError> {
        self.typed(NfsProcedure::COMMIT)
    }

    fn accepted(&self) -> Result<(), ReplyError> {
        match self.status {
            ReplyStatus::Success => Ok(()),
            refused => Err(ReplyError::Refused(refused)),
        }
    }

    fn typed<T: Xdr<'a>>(&self, procedure: NfsProcedure) -> Result<T, ReplyError> {
        if self.procedure != Procedure::Nfs(procedure) {
            return Err(ReplyError::OtherProcedure(self.procedure));
        }
        self.accepted()?;
        decode_whole(self.body).map_err(ReplyError::Malformed)
    }
}

/// An entry of the table of outstanding calls.
#[derive(Debug)]
struct Slot {
    /// The call's bytes, without a WRITE's data; kept between calls for its memory.
    message: Vec<u8>,
    procedure: Procedure,
    /// The xid of the present or last call.
    xid: u32,
    outstanding: bool,
    /// Grows with each call of the connection: the order of a replay.
    sequence: u64,
    generation: u32,
}

/// A connection.
#[derive(Debug)]
pub struct Client {
    records: RecordReader,
    slots: Vec<Slot>,
    /// Indices of free slots; the one used last is taken first, for its memory is warm.
    free: Vec<u32>,
    index_bits: u32,
    sequence: u64,
}

impl Client {
    /// A connection with nothing outstanding.
    ///
    /// # Panics
    /// `slots` is 0 or above 65,536.
    #[must_use]
    pub fn new(options: ClientOptions) -> Client {
        assert!((1..=1 << 16).contains(&options.slots), "1 to 65,536 slots");
        let slot = |_| Slot {
            message: Vec::new(),
            procedure: Procedure::Nfs(NfsProcedure::NULL),
            xid: 0,
            outstanding: false,
            sequence: 0,
            generation: options.first_generation,
        };
        Client {
            records: RecordReader::new(options.max_reply_bytes),
            slots: (0..options.slots).map(slot).collect(),
            free: (0..options.slots).rev().collect(),
            index_bits: options.slots.next_power_of_two().trailing_zeros(),
            sequence: 0,
        }
    }

    /// Takes the memory at once for calls of `message_bytes` and for replies up to the maximum, so
    /// that nothing is allocated later.
    pub fn reserve(&mut self, message_bytes: usize) {
        for slot in &mut self.slots {
            slot.message.reserve(message_bytes);
        }
        self.records.reserve();
    }

    /// How many calls are outstanding.
    #[must_use]
    pub fn outstanding(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// How many more calls there is room for.
    #[must_use]
    pub fn room(&self) -> usize {
        self.free.len()
    }

    /// Begins a READ of `count` bytes at `offset`; `None` when all slots are taken.
    pub fn read(&mut self, template: &ReadTemplate, offset: u64, count: u32) -> Option<u32> {
        let index = self.free.pop()?;
        template.fill(&mut self.slots[index as usize].message, offset, count);
        self.begin(index, Procedure::Nfs(NfsProcedure::READ));
        Some(index)
    }

    /// Begins a WRITE of `count` bytes at `offset`; `None` when all slots are taken. The caller
    /// sends the data and its padding after the message.
    pub fn write(
        &mut self,
        template: &WriteTemplate,
        offset: u64,
        count: u32,
        stable: stable_how,
    ) -> Option<u32> {
        let index = self.free.pop()?;
        template.fill(&mut self.slots[index as usize].message, offset, count, stable);
        self.begin(index, Procedure::Nfs(NfsProcedure::WRITE));
        Some(index)
    }

    /// Begins any call; `None` when all slots are taken. The data of a WRITE is part of the
    /// message here.
    pub fn call(&mut self, credential: &Credential<'_>, arguments: &Arguments<'_>) -> Option<u32> {
        let index = self.free.pop()?;
        let message = &mut self.slots[index as usize].message;
        message.clear();
        let start = begin_record(message);
        let mut writer = Writer::new(message);
        let procedure = arguments.procedure();
        encode_call_head(&mut writer, 0, procedure.numbers(), credential);
        arguments.encode(&mut writer);
        end_record(message, start, 0);
        self.begin(index, procedure);
        Some(index)
    }

    fn begin(&mut self, index: u32, procedure: Procedure) {
        let slot = &mut self.slots[index as usize];
        slot.generation = slot.generation.wrapping_add(1);
        slot.xid = (slot.generation << self.index_bits) | index;
        slot.message[MARK_BYTES..MARK_BYTES + 4].copy_from_slice(&slot.xid.to_be_bytes());
        slot.procedure = procedure;
        slot.outstanding = true;
        slot.sequence = self.sequence;
        self.sequence += 1;
    }

    /// The bytes to send for the call in `slot`, record mark included.
    ///
    /// # Panics
    /// No call is outstanding there.
    #[must_use]
    pub fn message(&self, slot: u32) -> &[u8] {
        let slot = &self.slots[slot as usize];
        assert!(slot.outstanding, "a message of a call that is outstanding");
        &slot.message
    }

    /// The xid of the call in `slot`.
    #[must_use]
    pub fn xid(&self, slot: u32) -> u32 {
        self.slots[slot as usize].xid
    }

    /// Gives a call up, for example when its deadline has passed: its slot is free, and a reply
    /// that comes after all is [`Received::Stale`].
    ///
    /// # Panics
    /// No call is outstanding there.
    pub fn abandon(&mut self, slot: u32) {
        let entry = &mut self.slots[slot as usize];
        assert!(entry.outstanding, "only what is outstanding can be given up");
        entry.outstanding = false;
        self.free.push(slot);
    }

    /// Takes bytes from the front of `input` until a reply is whole. `None`: all was taken.
    ///
    /// # Errors
    /// The stream is of no use any more. What is outstanding stays so, to be replayed.
    pub fn receive<'a, 'i: 'a>(
        &'a mut self,
        input: &mut &'i [u8],
    ) -> Result<Option<Received<'a>>, ReceiveError> {
        let Some(record) = self.records.next(input)? else { return Ok(None) };
        let mut reader = Reader::new(record);
        let header = ReplyHeader::decode(&mut reader).map_err(ReceiveError::NotAReply)?;
        let xid = header.xid;
        let index = xid & ((1 << self.index_bits) - 1);
        let Some(slot) = self.slots.get_mut(index as usize) else {
            return Ok(Some(Received::Stale { xid }));
        };
        if !slot.outstanding || slot.xid != xid {
            return Ok(Some(Received::Stale { xid }));
        }
        slot.outstanding = false;
        self.free.push(index);
        Ok(Some(Received::Completed(Completion {
            slot: index,
            xid,
            procedure: slot.procedure,
            status: header.status,
            body: reader.rest(),
        })))
    }

    /// Begins a new connection in place of one that is lost: forgets a reply that was not whole
    /// and tells which calls to send again, in the order in which they were begun.
    pub fn reconnected(&mut self) -> Vec<u32> {
        self.records.reset();
        let mut replay: Vec<(u64, u32)> = (0u32..)
            .zip(&self.slots)
            .filter(|(_, slot)| slot.outstanding)
            .map(|(index, slot)| (slot.sequence, index))
            .collect();
        replay.sort_unstable();
        replay.into_iter().map(|(_, index)| index).collect()
    }
}
