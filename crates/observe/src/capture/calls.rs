//! Matches calls with replies by connection and XID, and turns them into operations.

use std::collections::BTreeMap;

use nfs3::arguments::stable_how;
use nfs3::procedure::{MOUNT_PROGRAM, NFS_PROGRAM, NFS_V3, NfsProcedure};
use nfs3::rpc::{CallHeader, ReplyHeader, ReplyStatus};
use nfs3::types::{diropargs3, nfs_fh3, post_op_attr, post_op_fh3, wcc_data};
use nfs3::xdr::{Reader, Xdr, XdrError};

use super::frame::End;
use super::messages::Message;
use super::names::Names;
use super::streams::Received;
use crate::error::{Error, Position};
use crate::observation::{Damage, Direction, Note};
use crate::observer::{Observer, Operation};

/// Calls without a reply that are kept; the oldest of a full connection is dropped.
const OUTSTANDING_MAX: usize = 1 << 20;
/// MNT of the MOUNT protocol.
const MNT: u32 = 1;
/// The longest path of an export (RFC 1813, section 5.1.1).
const MNTPATHLEN: usize = 1024;

/// A call that waits for its reply.
#[derive(Debug)]
struct Call {
    begin_ns: u64,
    kind: Kind,
    /// The name under which it was counted, unless it reads or writes.
    counted: Option<&'static str>,
}

/// What is needed of a call when its reply comes.
#[derive(Debug)]
enum Kind {
    Data { direction: Direction, file: Vec<u8>, offset: u64, count: u32, is_durable: bool },
    Name { directory: Vec<u8>, name: Vec<u8>, procedure: NfsProcedure },
    Mount { path: Vec<u8> },
    Commit { file: Vec<u8> },
    Other,
}

/// The calls of all connections.
#[derive(Debug, Default)]
pub(super) struct Calls {
    outstanding: BTreeMap<(End, End, u32), Call>,
    names: Names,
    unanswered: u64,
    unmatched: u64,
    other_nfs: u64,
    is_nfs3: bool,
}

impl Calls {
    /// Takes a message; false if it is none of RPC.
    pub(super) fn receive(&mut self, received: Received<'_>, observer: &mut Observer) -> bool {
        let Received { from, to, at, message } = received;
        let kind = message.head.get(4..).and_then(|rest| rest.first_chunk::<4>());
        match kind.map(|kind| u32::from_be_bytes(*kind)) {
            Some(0) => self.call((from, to), at, &message, observer),
            Some(1) => self.reply((to, from), at, &message, observer),
            _ => false,
        }
    }

    fn call(
        &mut self,
        (client, server): (End, End),
        at: Position,
        message: &Message<'_>,
        observer: &mut Observer,
    ) -> bool {
        let mut reader = Reader::new(message.head);
        let Ok(header) = CallHeader::decode(&mut reader) else { return false };
        let (kind, counted) = match (header.program, header.version, header.procedure) {
            (NFS_PROGRAM, NFS_V3, number) => {
                self.is_nfs3 = true;
                match self.nfs(number, &mut reader, observer) {
                    Ok(found) => found,
                    Err(_) => {
                        observer.damaged(at, Damage::Message);
                        (Kind::Other, None)
                    }
                }
            }
            (NFS_PROGRAM, ..) => {
                self.other_nfs += 1;
                (Kind::Other, None)
            }
            (MOUNT_PROGRAM, _, MNT) => match reader.opaque("a path", MNTPATHLEN) {
                Ok(path) => (Kind::Mount { path: path.to_vec() }, None),
                Err(_) => (Kind::Other, None),
            },
            _ => (Kind::Other, None),
        };
        if self.outstanding.len() >= OUTSTANDING_MAX {
            self.outstanding.pop_first();
            self.unanswered += 1;
        }
        let call = Call { begin_ns: message.begin_ns, kind, counted };
        let key = (client, server, header.xid);
        // A retransmission is the same call, and began when it was first sent.
        self.outstanding.entry(key).or_insert(call);
        true
    }

    /// The arguments of an NFS call, and the name under which it was counted.
    fn nfs(
        &mut self,
        number: u32,
        reader: &mut Reader<'_>,
        observer: &mut Observer,
    ) -> Result<(Kind, Option<&'static str>), XdrError> {
        let procedure = NfsProcedure::decode(&mut Reader::new(&number.to_be_bytes()))?;
        match procedure {
            NfsProcedure::READ | NfsProcedure::WRITE => {
                let file = nfs_fh3::decode(reader)?.0.to_vec();
                let (offset, count) = (reader.u64()?, reader.u32()?);
                let is_write = procedure == NfsProcedure::WRITE;
                let is_durable = is_write && stable_how::decode(reader)? != stable_how::UNSTABLE;
                let direction = if is_write { Direction::Write } else { Direction::Read };
                Ok((Kind::Data { direction, file, offset, count, is_durable }, None))
            }
            NfsProcedure::LOOKUP | NfsProcedure::CREATE | NfsProcedure::MKDIR => {
                let diropargs3 { dir, name } = diropargs3::decode(reader)?;
                let path = self.names.path(dir.0);
                let counted = self.count(procedure, path.as_deref(), observer);
                let (directory, name) = (dir.0.to_vec(), name.0.to_vec());
                Ok((Kind::Name { directory, name, procedure }, counted))
            }
            NfsProcedure::NULL => Ok((Kind::Other, self.count(procedure, None, observer))),
            NfsProcedure::COMMIT => {
                let file = nfs_fh3::decode(reader)?.0.to_vec();
                let counted = self.count(procedure, self.names.path(&file).as_deref(), observer);
                Ok((Kind::Commit { file }, counted))
            }
            // All others begin with a handle.
            _ => {
                let path = self.names.path(nfs_fh3::decode(reader)?.0);
                Ok((Kind::Other, self.count(procedure, path.as_deref(), observer)))
            }
        }
    }

    /// Counts a call that neither reads nor writes; returns its name if it is observed.
    fn count(
        &self,
        procedure: NfsProcedure,
        path: Option<&str>,
        observer: &mut Observer,
    ) -> Option<&'static str> {
        let is_included = match path {
            Some(path) => observer.includes(path),
            None => !observer.is_restricted(),
        };
        is_included.then(|| {
            observer.other(procedure.name());
            procedure.name()
        })
    }

    fn reply(
        &mut self,
        (client, server): (End, End),
        at: Position,
        message: &Message<'_>,
        observer: &mut Observer,
    ) -> bool {
        let mut reader = Reader::new(message.head);
        let Ok(header) = ReplyHeader::decode(&mut reader) else { return false };
        let Some(call) = self.outstanding.remove(&(client, server, header.xid)) else {
            self.unmatched += 1;
            return true;
        };
        if let Some(name) = call.counted {
            observer.other_response(name, message.end_ns.saturating_sub(call.begin_ns));
        }
        let is_performed = header.status == ReplyStatus::Success;
        // NULL has no status.
        let status = if is_performed { reader.u32().ok() } else { Some(u32::MAX) };
        if let (Some(name), true) = (call.counted, status.is_some_and(|status| status != 0)) {
            observer.other_failed(name);
        }
        let status = status.unwrap_or(u32::MAX);
        match call.kind {
            Kind::Data { direction, .. } if status != 0 => observer.failed(direction),
            Kind::Data { direction, file, offset, count, is_durable } => {
                let path = self.names.path(&file);
                let Some(id) = observer.file_by_key(&file, path.as_deref()) else { return true };
                let (moved, size) = moved(direction, &mut reader).unwrap_or((count, None));
                if let Some(size) = size {
                    observer.file_size(id, size);
                }
                if moved == 0 {
                    if direction == Direction::Read {
                        observer.end_of_file();
                    }
                    return true;
                }
                let operation = Operation {
                    direction,
                    file: id,
                    offset_bytes: offset,
                    size_bytes: u64::from(moved),
                    begin_ns: Some(call.begin_ns),
                    end_ns: Some(message.end_ns),
                    is_direct: None,
                    is_durable: (direction == Direction::Write).then_some(is_durable),
                };
                observer.data(operation, at);
            }
            Kind::Name { directory, name, procedure } if status == 0 => {
                if let Some(handle) = new_handle(procedure, &mut reader) {
                    self.names.entry(handle, &directory, &name);
                }
            }
            Kind::Mount { path } if status == 0 => {
                if let Ok(handle) = nfs_fh3::decode(&mut reader) {
                    self.names.export(handle.0, &path);
                }
            }
            Kind::Commit { file } if status == 0 => {
                let path = self.names.path(&file);
                let name = NfsProcedure::COMMIT.name();
                observer.sync(name, &file, path.as_deref(), Some(call.begin_ns), at);
            }
            Kind::Name { .. } | Kind::Mount { .. } | Kind::Commit { .. } | Kind::Other => {}
        }
        true
    }

    /// Adds what the reader must know.
    pub(super) fn finish(self, observer: &mut Observer) -> Result<(), Error> {
        if !self.is_nfs3 && self.other_nfs > 0 {
            return Err(Error::OnlyNfs4 { calls: self.other_nfs });
        }
        let unanswered = self.unanswered + self.outstanding.len() as u64;
        let notes = [
            (unanswered, Note::Unanswered { calls: unanswered }),
            (self.unmatched, Note::Unmatched { replies: self.unmatched }),
            (self.other_nfs, Note::OtherNfs { calls: self.other_nfs }),
        ];
        for (_, note) in notes.into_iter().filter(|(count, _)| *count > 0) {
            observer.note(note);
        }
        Ok(())
    }
}

/// Bytes that a READ or WRITE moved, and the size of the file after it; `None` if the capture has too
/// little of the reply.
fn moved(direction: Direction, reader: &mut Reader<'_>) -> Option<(u32, Option<u64>)> {
    let attributes = match direction {
        Direction::Read => post_op_attr::decode(reader).ok()?,
        Direction::Write => wcc_data::decode(reader).ok()?.after,
    };
    Some((reader.u32().ok()?, attributes.map(|attributes| attributes.size)))
}

/// The handle that a reply names.
fn new_handle<'a>(procedure: NfsProcedure, reader: &mut Reader<'a>) -> Option<&'a [u8]> {
    match procedure {
        NfsProcedure::LOOKUP => Some(nfs_fh3::decode(reader).ok()?.0),
        _ => post_op_fh3::decode(reader).ok()?.map(|handle| handle.0),
    }
}
