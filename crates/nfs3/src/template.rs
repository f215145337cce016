//! Templates of READ and WRITE calls. Record mark, RPC header, credential and handle are the same
//! in all calls for a file, so they are encoded once and only the rest is patched.
//!
//! A call from a template is a copy of about 150 bytes into an existing buffer, and a few patched
//! words. It does not allocate.

use crate::arguments::{READ3args, WRITE3args, stable_how};
use crate::procedure::{NfsProcedure, Procedure};
use crate::record::{MARK_BYTES, begin_record, end_record, mark};
use crate::rpc::{Credential, encode_call_head};
use crate::types::nfs_fh3;
use crate::xdr::{Writer, Xdr, padding};

/// Overwrites the end of `bytes` with `values`.
fn patch_tail(bytes: &mut [u8], values: &[u8]) {
    let start = bytes.len() - values.len();
    bytes[start..].copy_from_slice(values);
}

/// A call with these arguments and xid 0.
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

/// Template of READs of one file.
#[derive(Clone, Debug)]
pub struct ReadTemplate {
    bytes: Vec<u8>,
}

impl ReadTemplate {
    /// READs of `file` with `credential`.
    #[must_use]
    pub fn new(credential: &Credential<'_>, file: nfs_fh3<'_>) -> ReadTemplate {
        let args = READ3args { file, offset: 0, count: 0 };
        ReadTemplate { bytes: message(NfsProcedure::READ, credential, &args) }
    }

    /// Replaces `call` by a READ of `count` bytes at `offset`, without its xid.
    pub(crate) fn fill(&self, call: &mut Vec<u8>, offset: u64, count: u32) {
        call.clear();
        call.extend_from_slice(&self.bytes);
        let mut tail = [0; 12];
        tail[..8].copy_from_slice(&offset.to_be_bytes());
        tail[8..].copy_from_slice(&count.to_be_bytes());
        patch_tail(call, &tail);
    }
}

/// Template of WRITEs to one file. A call does not contain its data: the caller sends the data and
/// its [`padding`] after it.
#[derive(Clone, Debug)]
pub struct WriteTemplate {
    bytes: Vec<u8>,
}

impl WriteTemplate {
    /// WRITEs to `file` with `credential`.
    #[must_use]
    pub fn new(credential: &Credential<'_>, file: nfs_fh3<'_>) -> WriteTemplate {
        let data = crate::arguments::Data(&[]);
        let args = WRITE3args { file, offset: 0, count: 0, stable: stable_how::UNSTABLE, data };
        WriteTemplate { bytes: message(NfsProcedure::WRITE, credential, &args) }
    }

    /// Replaces `call` by a WRITE of `count` bytes at `offset`, without its xid and its data.
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
