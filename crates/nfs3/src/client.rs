//! A client connection: outstanding calls, their bytes, and the call that a reply belongs to.
//!
//! The caller owns the socket. It begins a call ([`Client::read`], [`Client::write`],
//! [`Client::call`]), sends [`Client::message`] of the returned slot (for a WRITE, followed by the
//! data and its padding), passes received bytes to [`Client::receive`], and stores its own data
//! about a call in a table indexed by slot.
//!
//! The low bits of an xid are the slot's index, and the high bits its generation, which increases
//! with each use. So a reply finds its slot by index, and a late reply to an earlier call is
//! recognized by its generation.
//!
//! After a reconnect, every outstanding call is retransmitted with the same bytes and so the same
//! xid. A server that has performed it answers with its first reply instead of performing it twice.
//! Not for: deadlines, and when to reconnect, because it has no clock.

use crate::arguments::{Data, WRITE3args, stable_how};
use crate::directory::Listing;
use crate::procedure::{NfsProcedure, Procedure};
use crate::record::{MARK_BYTES, RecordError, RecordReader, begin_record, end_record, mark};
use crate::request::{Arguments, NfsArguments, Results};
use crate::results::{COMMIT3res, READ3res, WRITE3res};
use crate::rpc::{Credential, ReplyHeader, ReplyStatus, encode_call_head};
use crate::template::{ReadTemplate, WriteTemplate};
use crate::types::{nfs_fh3, nfsstat3};
use crate::xdr::{Reader, Writer, Xdr, XdrError, decode_whole, padding};

/// Options of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClientOptions {
    /// Maximum number of outstanding calls, 1 to 65,536.
    pub slots: u32,
    /// Maximum size of a reply in bytes: the largest READ plus about 200 bytes.
    pub max_reply_bytes: usize,
    /// The first generation. It should differ between connections of a client, so that a server
    /// does not mistake the call of one for a retransmission of another.
    pub first_generation: u32,
}

/// Why a stream of replies cannot be used any more: the connection must be closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReceiveError {
    /// A record is too long or has too many empty fragments.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// A record is not a reply.
    #[error("decode the header of a reply: {0}")]
    NotAReply(XdrError),
}

/// Why a reply has no results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReplyError {
    /// The server refused the call.
    #[error("the server refused the call: {0:?}")]
    Refused(ReplyStatus),
    /// The results are invalid for the procedure.
    #[error("decode the results: {0}")]
    Malformed(XdrError),
    /// The results of another procedure were requested.
    #[error("the reply belongs to {0:?}")]
    OtherProcedure(Procedure),
}

/// A received record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Received<'a> {
    /// The reply to an outstanding call; its slot is free again.
    Completed(Completion<'a>),
    /// A reply to no outstanding call: the call was abandoned, or retransmitted and answered twice.
    Stale {
        /// The reply's xid.
        xid: u32,
    },
}

/// A completed call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion<'a> {
    /// Its slot.
    pub slot: u32,
    /// Its xid.
    pub xid: u32,
    /// Its procedure.
    pub procedure: Procedure,
    /// Whether the server performed it.
    pub status: ReplyStatus,
    /// The encoded results.
    pub body: &'a [u8],
}

impl<'a> Completion<'a> {
    /// The results.
    ///
    /// # Errors
    /// The reply has no such results.
    pub fn results(&self) -> Result<Results<'a>, ReplyError> {
        self.accepted()?;
        Results::decode(self.procedure, self.body).map_err(ReplyError::Malformed)
    }

    /// The results of a READ, with the data borrowed from the received bytes.
    ///
    /// # Errors
    /// The reply has no such results.
    pub fn read(&self) -> Result<READ3res<'a>, ReplyError> {
        self.typed(NfsProcedure::READ)
    }

    /// The results of a WRITE.
    ///
    /// # Errors
    /// The reply has no such results.
    pub fn write(&self) -> Result<WRITE3res, ReplyError> {
        self.typed(NfsProcedure::WRITE)
    }

    /// The results of a COMMIT.
    ///
    /// # Errors
    /// The reply has no such results.
    pub fn commit(&self) -> Result<COMMIT3res, ReplyError> {
        self.typed(NfsProcedure::COMMIT)
    }

    /// The end of the results of a READDIR, or with `plus` of a READDIRPLUS, without a list of the
    /// entries; or why it failed.
    ///
    /// # Errors
    /// The reply has no such results.
    pub fn listing(&self, plus: bool) -> Result<Result<Listing, nfsstat3>, ReplyError> {
        self.accepted()?;
        Listing::decode(self.body, plus).map_err(ReplyError::Malformed)
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

/// A slot for an outstanding call.
#[derive(Debug)]
struct Slot {
    /// The call without a WRITE's data. Reused to avoid allocation.
    message: Vec<u8>,
    procedure: Procedure,
    /// The xid of the current or last call.
    xid: u32,
    outstanding: bool,
    /// Increases with each call of the connection; the order of retransmission.
    sequence: u64,
    generation: u32,
}

/// A connection.
#[derive(Debug)]
pub struct Client {
    records: RecordReader,
    slots: Vec<Slot>,
    /// Indices of free slots. The slot used last is taken first, because its memory is cached.
    free: Vec<u32>,
    index_bits: u32,
    sequence: u64,
}

impl Client {
    /// A new connection.
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

    /// Allocates memory for calls of `message_bytes` and for replies of the maximum size, so that
    /// nothing is allocated later.
    pub fn reserve(&mut self, message_bytes: usize) {
        for slot in &mut self.slots {
            slot.message.reserve(message_bytes);
        }
        self.records.reserve();
    }

    /// Number of outstanding calls.
    #[must_use]
    pub fn outstanding(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// Number of free slots.
    #[must_use]
    pub fn room(&self) -> usize {
        self.free.len()
    }

    /// Begins a READ of `count` bytes at `offset`; `None` if no slot is free.
    pub fn read(&mut self, template: &ReadTemplate, offset: u64, count: u32) -> Option<u32> {
        let index = self.free.pop()?;
        template.fill(&mut self.slots[index as usize].message, offset, count);
        self.begin(index, Procedure::Nfs(NfsProcedure::READ));
        Some(index)
    }

    /// Begins a WRITE of `count` bytes at `offset`; `None` if no slot is free. The caller sends the
    /// data and its padding after the message.
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

    /// Begins any call; `None` if no slot is free. The message includes the data of a WRITE.
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

    /// Begins a WRITE of `count` bytes at `offset` of a file without a template; `None` if no slot is
    /// free. The caller sends the data and its padding after the message.
    pub fn write_to(
        &mut self,
        credential: &Credential<'_>,
        file: nfs_fh3<'_>,
        offset: u64,
        count: u32,
        stable: stable_how,
    ) -> Option<u32> {
        let data = Data(&[]);
        let args = WRITE3args { file, offset, count, stable, data };
        let index = self.call(credential, &Arguments::Nfs(NfsArguments::WRITE(args)))?;
        let message = &mut self.slots[index as usize].message;
        // The length of the data, and the record with it.
        let length = message.len();
        message[length - 4..].copy_from_slice(&count.to_be_bytes());
        let payload = count as usize + padding(count as usize).len();
        let mark = mark(length - MARK_BYTES + payload);
        message[..MARK_BYTES].copy_from_slice(&mark.to_be_bytes());
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

    /// The bytes to send for the call in `slot`, including the record mark.
    ///
    /// # Panics
    /// If the slot has no outstanding call.
    #[must_use]
    pub fn message(&self, slot: u32) -> &[u8] {
        let slot = &self.slots[slot as usize];
        assert!(slot.outstanding, "the slot has no outstanding call");
        &slot.message
    }

    /// The xid of the call in `slot`.
    #[must_use]
    pub fn xid(&self, slot: u32) -> u32 {
        self.slots[slot as usize].xid
    }

    /// Abandons a call, for example after its deadline. Its slot becomes free, and a late reply is
    /// [`Received::Stale`].
    ///
    /// # Panics
    /// If the slot has no outstanding call.
    pub fn abandon(&mut self, slot: u32) {
        let entry = &mut self.slots[slot as usize];
        assert!(entry.outstanding, "the slot has no outstanding call");
        entry.outstanding = false;
        self.free.push(slot);
    }

    /// Takes bytes from the front of `input` until a reply is complete. `None`: all bytes were
    /// taken.
    ///
    /// # Errors
    /// The stream cannot be used any more. Outstanding calls stay outstanding, for retransmission.
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

    /// Starts a new stream after the connection was lost. Drops an incomplete reply; returns the
    /// slots to retransmit, in the order in which their calls were begun.
    pub fn reconnected(&mut self) -> Vec<u32> {
        self.records.reset();
        let mut outstanding: Vec<(u64, u32)> = (0u32..)
            .zip(&self.slots)
            .filter(|(_, slot)| slot.outstanding)
            .map(|(index, slot)| (slot.sequence, index))
            .collect();
        outstanding.sort_unstable();
        outstanding.into_iter().map(|(_, index)| index).collect()
    }
}
