//! Calls of READ and WRITE that are written once for a file and only patched for each operation:
//! record mark, RPC head, credential and handle never change between two calls to one file.
//!
//! Making a call from a template is one copy of some 150 bytes into a buffer that has them
//! already, and a few words written over it: no allocation, no branch on what is in it.

use crate::arguments::{READ3args, WRITE3args, stable_how};
use crate::procedure::{NfsProcedure, Procedure};
use crate::record::{MARK_BYTES, begin_record, end_record, mark};
use crate::rpc::{Credential, encode_call_head};
use crate::types::nfs_fh3;
use crate::xdr::{Writer, Xdr, padding};

/// Writes `values` over the end of `bytes`.
fn patch_tail(bytes: &mut [u8], values: &[u8]) {
    let start = bytes.len() - values.len();
    bytes[start..].copy_from_slice(values);
}

/// A message up to its procedure's arguments, and then `arguments`.
fn message<'a>(
    procedure: NfsProcedure,
    credential: &Credential<'_>,
    arguments: &impl Xdr<'a>,
) -> Vec<u8> {
    let mut bytes = Vec::new();
    let start = begin_record(&mut bytes);
    let mut writer = Writer::new(&mut bytes);
    encode_call_head(&mut writer, 0, Procedure::Nfs(procedure).numbers(), credential);
    arguments.encode(&mut writer);
    end_record(&mut bytes, start, 0);
    bytes
}

/// READs of one file.
#[derive(Clone, Debug)]
pub struct ReadTemplate {
    bytes: Vec<u8>,
}

impl ReadTemplate {
    /// READs of `file` in the name of `credential`.
    #[must_use]
    pub fn new(credential: &Credential<'_>, file: nfs_fh3<'_>) -> ReadTemplate {
        let args = READ3args { file, offset: 0, count: 0 };
        ReadTemplate { bytes: message(NfsProcedure::READ, credential, &args) }
    }

    /// Replaces `call` with a READ of `count` bytes at `offset`; the xid is not set yet.
    pub(crate) fn fill(&self, call: &mut Vec<u8>, offset: u64, count: u32) {
        call.clear();
        call.extend_from_slice(&self.bytes);
        let mut tail = [0; 12];
        tail[..8].copy_from_slice(&offset.to_be_bytes());
        tail[8..].copy_from_slice(&count.to_be_bytes());
        patch_tail(call, &tail);
    }
}

/// WRITEs to one file. A call is made without its data: the caller sends the data after it, then
/// [`padding`].
#[derive(Clone, Debug)]
pub struct WriteTemplate {
    bytes: Vec<u8>,
}

impl WriteTemplate {
    /// WRITEs to `file` in the name of `credential`.
    #[must_use]
    pub fn new(credential: &Credential<'_>, file: nfs_fh3<'_>) -> WriteTemplate {
        let data = crate::arguments::Data(&[]);
        let args = WRITE3args { file, offset: 0, count: 0, stable: stable_how::UNSTABLE, data };
        WriteTemplate { bytes: message(NfsProcedure::WRITE, credential, &args) }
    }

    /// Replaces `call` with a WRITE of `count` bytes at `offset`, up to the length of the data;
    /// the xid is not set yet.
    pub(crate) fn fill(&self, call: &mut Vec<u8>, offset: u64, count: u32, stable: stable_how) {
        call.clear();
        call.extend_from_slice(&self.bytes);
        let payload = count as usize + padding(count as usize).len();
        let mark = mark(call.len() - MARK_BYTES + payload);
        call[..MARK_BYTES].copy_from_slice(&mark.to_be_bytes());
        let mut tail = [0; 20];
        tail[..8].copy_from_slice(&offset.to_be_bytes());
        tail[8..12].copy_from_slice(&count.to_be_bytes());
        tail[12..16].copy_from_slice(&(stable as u32).to_be_bytes());
        tail[16..].copy_from_slice(&count.to_be_bytes());
        patch_tail(call, &tail);
    }
}
