//! One connection of a server: requests out of the bytes that arrive, and replies into bytes.
//!
//! What cannot be done is answered here as RFC 5531 says. The caller does the rest: it looks at
//! the credential, does the procedure now or later and in any order, sends the reply, and calls
//! [`Server::finished`]. While as many requests are in progress as allowed, nothing further is
//! taken from the input: not reading on is how a server pushes back.

use crate::procedure::{
    MOUNT_PROGRAM, MOUNT_V3, MountProcedure, NFS_PROGRAM, NFS_V3, NfsProcedure, PMAP_PROG,
    PMAP_VERS, PortmapProcedure, Procedure,
};
use crate::record::{RecordError, RecordReader, begin_record, end_record};
use crate::request::{Arguments, Results};
use crate::rpc::{
    CallError, CallHeader, Credential, OpaqueAuth, RPC_VERSION, ReplyHeader, ReplyStatus, auth_stat,
};
use crate::types::{nfsstat3, post_op_attr};
use crate::xdr::{Reader, Writer, Xdr, decode_whole, padding};

/// Which programs are served on the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Programs {
    /// NFS 3.
    pub nfs: bool,
    /// MOUNT 3.
    pub mount: bool,
    /// The portmapper, version 2.
    pub portmap: bool,
}

/// How a connection is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServerOptions {
    /// What is served.
    pub programs: Programs,
    /// Most bytes of a call: the largest WRITE and some 700 bytes of credential, handle and names.
    pub max_call_bytes: usize,
    /// Most requests in progress.
    pub max_in_progress: usize,
}

/// A request to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request<'a> {
    /// Names the call; its reply bears the same.
    pub xid: u32,
    /// Who calls, as the caller says.
    pub credential: Credential<'a>,
    /// What is to be done.
    pub arguments: Arguments<'a>,
    /// The arguments' bytes, for [`crate::reply_cache::CallKey`].
    pub arguments_bytes: &'a [u8],
}

/// What a record was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::large_enum_variant, reason = "almost everything received is a request")]
pub enum Received<'a> {
    /// A request; it is in progress until [`Server::finished`].
    Request(Request<'a>),
    /// A call that cannot be done; its answer was appended to `replies`.
    Answered {
        /// The call's.
        xid: u32,
        /// What was answered.
        status: ReplyStatus,
    },
    /// No call: there is nothing that could be answered.
    NotACall,
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
    /// A connection with nothing in progress.
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

    /// Requests in progress.
    #[must_use]
    pub fn in_progress(&self) -> usize {
        self.in_progress
    }

    /// A request's reply was handed to the connection, or the request dropped.
    ///
    /// # Panics
    /// None is in progress.
    pub fn finished(&mut self) {
        assert!(self.in_progress > 0, "only what was begun can be finished");
        self.in_progress -= 1;
    }

    /// Takes bytes from the front of `input` until a call is whole. `None`: all was taken and
    /// more is needed, or reading is not allowed; the rest of `input` must then be given again.
    ///
    /// Answers to calls that cannot be done are not in progress: a caller that sends them slower
    /// than it receives stops reading by the length of `replies`.
    ///
    /// # Errors
    /// A record above the maximum, or of too many empty fragments: the connection must be closed.
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
}

/// Takes a whole message, such as a datagram. The answer to a call that cannot be done is appended
/// to `replies`, record mark included.
pub fn receive_message<'a>(
    message: &'a [u8],
    programs: Programs,
    replies: &mut Vec<u8>,
) -> Received<'a> {
    match judge(message, programs) {
        Ok(request) => Received::Request(request),
        Err(Some((xid, status))) => {
            refuse(replies, xid, status);
            Received::Answered { xid, status }
        }
        Err(None) => Received::NotACall,
    }
}

/// The request in a record, or what to answer instead, if anything.
fn judge(record: &[u8], programs: Programs) -> Result<Request<'_>, Option<(u32, ReplyStatus)>> {
    let mut reader = Reader::new(record);
    let header = CallHeader::decode(&mut reader).map_err(|error| match error {
        CallError::NotACall => None,
        CallError::RpcMismatch { xid } => {
            Some((xid, ReplyStatus::RpcMismatch { low: RPC_VERSION, high: RPC_VERSION }))
        }
        CallError::BadAuth { xid, stat } => Some((xid, ReplyStatus::AuthError(stat))),
    })?;
    let refused = |status| Some((header.xid, status));
    let credential = match Credential::of(header.credential) {
        Ok(Credential::Other(_)) | Err(_) => {
            return Err(refused(ReplyStatus::AuthError(auth_stat::AUTH_BADCRED)));
        }
        Ok(credential) => credential,
    };
    let procedure = procedure_of(&header, programs).map_err(refused)?;
    let arguments_bytes = reader.rest();
    let arguments = Arguments::decode(procedure, arguments_bytes)
        .map_err(|_| refused(ReplyStatus::GarbageArgs))?;
    Ok(Request { xid: header.xid, credential, arguments, arguments_bytes })
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

/// Appends a reply with the results of one procedure, where their type is known.
pub fn reply_with<'a>(replies: &mut Vec<u8>, xid: u32, results: &impl Xdr<'a>) {
    reply_written(replies, xid, |writer| results.encode(writer));
}

/// Appends a reply whose results are written piece by piece, for example those of READDIR straight
/// out of a directory.
pub fn reply_written(replies: &mut Vec<u8>, xid: u32, write: impl FnOnce(&mut Writer<'_>)) {
    let start = reply_head(replies, xid, ReplyStatus::Success);
    write(&mut Writer::new(replies));
    end_record(replies, start, 0);
}

/// Appends the reply of a READ that is done, up to its data; the caller sends `count` bytes of
/// data and their [`padding`] after it.
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

/// Appends a reply that says why a call was not done.
pub fn refuse(replies: &mut Vec<u8>, xid: u32, status: ReplyStatus) {
    debug_assert!(status != ReplyStatus::Success, "a refusal has a reason");
    let start = reply_head(replies, xid, status);
    end_record(replies, start, 0);
}
