//! A server connection: decodes requests from received bytes, and encodes replies.
//!
//! Calls that cannot be performed are answered here as RFC 5531 requires. The caller does the rest:
//! it checks the credential, performs the procedures at any time and in any order, sends the reply,
//! and calls [`Server::finished`]. While the maximum number of requests is in progress, no more
//! input is taken, which applies back-pressure to the client.
//!
//! The data of a WRITE can be received without this connection, for example directly into the
//! memory of a file: see [`Server::incomplete_write`].

use crate::arguments::WRITE3args;
use crate::procedure::{
    MOUNT_PROGRAM, MOUNT_V3, MountProcedure, NFS_PROGRAM, NFS_V3, NfsProcedure, PMAP_PROG,
    PMAP_VERS, PortmapProcedure, Procedure,
};
use crate::record::{MARK_BYTES, RecordError, RecordReader, begin_record, end_record};
use crate::request::{Arguments, NfsArguments, Results};
use crate::rpc::{
    CallError, CallHeader, Credential, OpaqueAuth, RPC_VERSION, ReplyHeader, ReplyStatus, auth_stat,
};
use crate::types::{nfsstat3, post_op_attr};
use crate::xdr::{Reader, Writer, Xdr, decode_whole, padding};

/// The programs that are served on a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Programs {
    /// NFS 3.
    pub nfs: bool,
    /// MOUNT 3.
    pub mount: bool,
    /// The portmapper, version 2.
    pub portmap: bool,
}

/// Options of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServerOptions {
    /// Served programs.
    pub programs: Programs,
    /// Maximum size of a call in bytes: the largest WRITE plus about 700 bytes for credential,
    /// handle and names.
    pub max_call_bytes: usize,
    /// Maximum number of requests in progress.
    pub max_in_progress: usize,
}

/// A request to perform.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request<'a> {
    /// Identifies the call; its reply has the same xid.
    pub xid: u32,
    /// The claimed identity of the caller.
    pub credential: Credential<'a>,
    /// The procedure and its arguments.
    pub arguments: Arguments<'a>,
    /// The encoded arguments, for [`crate::reply_cache::CallKey`].
    pub arguments_bytes: &'a [u8],
}

/// A received record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::large_enum_variant, reason = "almost everything received is a request")]
pub enum Received<'a> {
    /// A request, which is in progress until [`Server::finished`].
    Request(Request<'a>),
    /// A call that cannot be performed. Its reply was appended to `replies`.
    Answered {
        /// The call's xid.
        xid: u32,
        /// The reply's status.
        status: ReplyStatus,
    },
    /// Not a call, so there is no reply.
    NotACall,
}

/// A WRITE of which everything but data was received. It decodes, its data ends the call, and it
/// has no padding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IncompleteWrite {
    /// Start in bytes.
    pub offset: u64,
    /// Bytes of data, received or not.
    pub length: usize,
    /// Bytes of data that are missing.
    pub missing: usize,
    /// Bytes of the call before its data, record mark included, unless it has several fragments.
    pub head: usize,
}

/// A connection.
#[derive(Debug)]
pub struct Server {
    records: RecordReader,
    programs: Programs,
    in_progress: usize,
    max_in_progress: usize,
}

impl Server {
    /// A new connection.
    #[must_use]
    pub fn new(options: ServerOptions) -> Server {
        Server {
            records: RecordReader::new(options.max_call_bytes),
            programs: options.programs,
            in_progress: 0,
            max_in_progress: options.max_in_progress,
        }
    }

    /// Whether bytes should be read from the connection.
    #[must_use]
    pub fn is_reading_allowed(&self) -> bool {
        self.in_progress < self.max_in_progress
    }

    /// Number of requests in progress.
    #[must_use]
    pub fn in_progress(&self) -> usize {
        self.in_progress
    }

    /// Ends a request, after its reply was passed to the connection or the request was dropped.
    ///
    /// # Panics
    /// If no request is in progress.
    pub fn finished(&mut self) {
        assert!(self.in_progress > 0, "no request is in progress");
        self.in_progress -= 1;
    }

    /// Takes bytes from the front of `input` until a call is complete. `None`: all bytes were taken
    /// and more are needed, or reading is not allowed; then pass the rest of `input` again.
    ///
    /// Calls that cannot be performed are not in progress. The caller must stop reading if
    /// `replies` grows faster than it can be sent.
    ///
    /// # Errors
    /// A record is too long or has too many empty fragments. The connection must be closed.
    pub fn receive<'a, 'i: 'a>(
        &'a mut self,
        input: &mut &'i [u8],
        replies: &mut Vec<u8>,
    ) -> Result<Option<Received<'a>>, RecordError> {
        if !self.is_reading_allowed() {
            return Ok(None);
        }
        let Some(record) = self.records.next(input)? else { return Ok(None) };
        let received = receive_message(record, self.programs, replies);
        self.in_progress += usize::from(matches!(received, Received::Request(_)));
        Ok(Some(received))
    }

    /// The call being received, if it is a WRITE whose data can be received separately, and at
    /// least `missing_min` bytes of it are missing. The caller calls [`Server::detach_data`], takes
    /// the missing bytes from the stream, and calls [`Server::detached_write`].
    #[must_use]
    pub fn incomplete_write(&self, missing_min: usize) -> Option<IncompleteWrite> {
        let (received, missing) = self.records.incomplete()?;
        if missing < missing_min {
            return None;
        }
        let head = WriteHead::decode(received, self.programs)?;
        let WRITE3args { offset, count, .. } = head.arguments;
        let length = head.data.len() + missing;
        let is_consistent = head.length == length && count as usize == length;
        let can_detach = is_consistent && padding(length).is_empty();
        let head = MARK_BYTES + received.len() - head.data.len();
        can_detach.then_some(IncompleteWrite { offset, length, missing, head })
    }

    /// Leaves the missing bytes of [`Server::incomplete_write`] to the caller. Returns the received
    /// part of the data.
    ///
    /// # Panics
    /// If there is no such call.
    pub fn detach_data(&mut self) -> &[u8] {
        WriteHead::decode(self.records.detach(), self.programs).expect("it is a WRITE").data
    }

    /// The request of the detached WRITE, with empty data, which is then in progress; `None` while
    /// reading is not allowed. Called before anything else is received.
    ///
    /// # Panics
    /// If no WRITE was detached.
    pub fn detached_write(&mut self) -> Option<Request<'_>> {
        if !self.is_reading_allowed() {
            return None;
        }
        self.in_progress += 1;
        let message = self.records.detached();
        let head = WriteHead::decode(message, self.programs).expect("it is a WRITE");
        Some(Request {
            xid: head.xid,
            credential: head.credential,
            arguments: Arguments::Nfs(NfsArguments::WRITE(head.arguments)),
            arguments_bytes: &[],
        })
    }

    /// Whether the next byte of the stream begins a call.
    #[must_use]
    pub fn is_between_calls(&self) -> bool {
        self.records.is_between_records()
    }
}

/// The received part of a WRITE.
struct WriteHead<'a> {
    xid: u32,
    credential: Credential<'a>,
    /// Without the data.
    arguments: WRITE3args<'a>,
    /// The length of the data.
    length: usize,
    /// Its received part.
    data: &'a [u8],
}

impl<'a> WriteHead<'a> {
    /// `None` if the message is not a WRITE, is not performed, or ends before its data.
    fn decode(message: &'a [u8], programs: Programs) -> Option<WriteHead<'a>> {
        let (header, credential, procedure, mut reader) = decode_call(message, programs).ok()?;
        if procedure != Procedure::Nfs(NfsProcedure::WRITE) {
            return None;
        }
        let (arguments, length) = WRITE3args::decode_head(&mut reader).ok()?;
        Some(WriteHead { xid: header.xid, credential, arguments, length, data: reader.rest() })
    }
}

/// Decodes a complete message, such as a datagram. The reply to a call that cannot be performed is
/// appended to `replies`, including the record mark.
pub fn receive_message<'a>(
    message: &'a [u8],
    programs: Programs,
    replies: &mut Vec<u8>,
) -> Received<'a> {
    match decode_request(message, programs) {
        Ok(request) => Received::Request(request),
        Err(Some((xid, status))) => {
            refuse(replies, xid, status);
            Received::Answered { xid, status }
        }
        Err(None) => Received::NotACall,
    }
}

/// Why a record cannot be performed: the reply, unless it is not a call.
type Refusal = Option<(u32, ReplyStatus)>;

/// The request in a record.
fn decode_request(record: &[u8], programs: Programs) -> Result<Request<'_>, Refusal> {
    let (header, credential, procedure, reader) = decode_call(record, programs)?;
    let arguments_bytes = reader.rest();
    let arguments = Arguments::decode(procedure, arguments_bytes)
        .map_err(|_| Some((header.xid, ReplyStatus::GarbageArgs)))?;
    Ok(Request { xid: header.xid, credential, arguments, arguments_bytes })
}

/// Decodes a call up to its arguments, which follow in the reader.
fn decode_call(
    record: &[u8],
    programs: Programs,
) -> Result<(CallHeader<'_>, Credential<'_>, Procedure, Reader<'_>), Refusal> {
    let mut reader = Reader::new(record);
    let header = CallHeader::decode(&mut reader).map_err(|error| match error {
        CallError::NotACall => None,
        CallError::RpcMismatch { xid } => {
            Some((xid, ReplyStatus::RpcMismatch { low: RPC_VERSION, high: RPC_VERSION }))
        }
        CallError::BadAuth { xid, stat } => Some((xid, ReplyStatus::AuthError(stat))),
    })?;
    let refused = |status| Some((header.xid, status));
    let credential = match Credential::decode(header.credential) {
        Ok(Credential::Other(_)) | Err(_) => {
            return Err(refused(ReplyStatus::AuthError(auth_stat::AUTH_BADCRED)));
        }
        Ok(credential) => credential,
    };
    let procedure = procedure_of(&header, programs).map_err(refused)?;
    Ok((header, credential, procedure, reader))
}

fn procedure_of(header: &CallHeader<'_>, programs: Programs) -> Result<Procedure, ReplyStatus> {
    let (served, version) = match header.program {
        NFS_PROGRAM => (programs.nfs, NFS_V3),
        MOUNT_PROGRAM => (programs.mount, MOUNT_V3),
        PMAP_PROG => (programs.portmap, PMAP_VERS),
        _ => (false, 0),
    };
    if !served {
        return Err(ReplyStatus::ProgUnavail);
    }
    if header.version != version {
        return Err(ReplyStatus::ProgMismatch { low: version, high: version });
    }
    let number = header.procedure.to_be_bytes();
    let procedure = match header.program {
        NFS_PROGRAM => decode_whole::<NfsProcedure>(&number).map(Procedure::Nfs),
        MOUNT_PROGRAM => decode_whole::<MountProcedure>(&number).map(Procedure::Mount),
        _ => decode_whole::<PortmapProcedure>(&number).map(Procedure::Portmap),
    };
    procedure.map_err(|_| ReplyStatus::ProcUnavail)
}

fn reply_head(replies: &mut Vec<u8>, xid: u32, status: ReplyStatus) -> usize {
    let start = begin_record(replies);
    ReplyHeader { xid, status, verifier: OpaqueAuth::NONE }.encode(&mut Writer::new(replies));
    start
}

/// Appends a reply with results.
pub fn reply(replies: &mut Vec<u8>, xid: u32, results: &Results<'_>) {
    let start = reply_head(replies, xid, ReplyStatus::Success);
    results.encode(&mut Writer::new(replies));
    end_record(replies, start, 0);
}

/// Appends a reply with the results of a procedure, if their type is known.
pub fn reply_with<'a>(replies: &mut Vec<u8>, xid: u32, results: &impl Xdr<'a>) {
    reply_written(replies, xid, |writer| results.encode(writer));
}

/// Appends a reply whose results are written by a function, for example those of READDIR directly
/// from a directory.
pub fn reply_written(replies: &mut Vec<u8>, xid: u32, write: impl FnOnce(&mut Writer<'_>)) {
    let start = reply_head(replies, xid, ReplyStatus::Success);
    write(&mut Writer::new(replies));
    end_record(replies, start, 0);
}

/// Appends the reply of a successful READ up to its data. The caller sends `count` bytes of data
/// and their [`padding`] after it.
pub fn reply_read_head(
    replies: &mut Vec<u8>,
    xid: u32,
    file_attributes: &post_op_attr,
    count: u32,
    eof: bool,
) {
    let start = reply_head(replies, xid, ReplyStatus::Success);
    let mut writer = Writer::new(replies);
    nfsstat3::NFS3_OK.encode(&mut writer);
    file_attributes.encode(&mut writer);
    writer.u32(count);
    writer.bool(eof);
    writer.u32(count);
    end_record(replies, start, count as usize + padding(count as usize).len());
}

/// Appends a reply that refuses a call.
pub fn refuse(replies: &mut Vec<u8>, xid: u32, status: ReplyStatus) {
    debug_assert!(status != ReplyStatus::Success, "a refusal has an error status");
    let start = reply_head(replies, xid, status);
    end_record(replies, start, 0);
}
