//! A tap between the network and the service: counts the calls that arrive, and shortens some of
//! them.
//!
//! The counts by xid show how often each call was sent, independently of client and service.
//! Shortened calls make the service move fewer bytes than requested, which RFC 1813 allows
//! (sections 3.3.6 and 3.3.7) and our service otherwise never does. A call is passed to the service
//! when it is complete.

use std::collections::BTreeMap;

use nfs3::arguments::Data;
use nfs3::record::mark;
use nfs3::request::{Arguments, NfsArguments};
use nfs3::rpc::encode_call_head;
use nfs3::server::{Programs, Received, Request, Server, ServerOptions};
use nfs3::xdr::Writer;
use workload::op::OpKind;

/// Which calls are shortened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shorten {
    /// READ or WRITE.
    pub kind: OpKind,
    /// Every n-th of these is shortened to half of its bytes, except calls of one byte.
    pub every: u64,
}

/// What the tap does with calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tapping {
    /// Shortens calls.
    pub shorten: Option<Shorten>,
}

/// What the tap has counted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tapped {
    /// How often each call arrived, by connection and xid.
    pub calls: BTreeMap<(u32, u32), u64>,
    /// Number of shortened calls.
    pub shortened: u64,
    /// Number of calls of the kind that is shortened.
    candidates: u64,
}

impl Tapped {
    /// Number of calls that arrived, including repetitions.
    pub fn arrived(&self) -> u64 {
        self.calls.values().sum()
    }
}

/// The tap of one connection.
#[derive(Debug)]
pub(crate) struct Tap {
    parser: Server,
    out: Vec<u8>,
}

/// More than the size of any call.
const CALL_BYTES: usize = 4 << 20;

impl Tap {
    pub(crate) fn new() -> Tap {
        let programs = Programs { nfs: true, mount: true, portmap: true };
        let (max_call_bytes, max_in_progress) = (CALL_BYTES, 1);
        let options = ServerOptions { programs, max_call_bytes, max_in_progress };
        Tap { parser: Server::new(options), out: Vec::new() }
    }

    /// Takes bytes of connection `number` and returns the calls that are now complete.
    pub(crate) fn pass(
        &mut self,
        number: u32,
        mut input: &[u8],
        tapping: Tapping,
        tapped: &mut Tapped,
    ) -> &[u8] {
        self.out.clear();
        let mut refusals = Vec::new();
        while let Some(received) =
            self.parser.receive(&mut input, &mut refusals).expect("calls are short enough")
        {
            let Received::Request(mut request) = received else {
                unreachable!("the client calls only known procedures: {received:?}");
            };
            *tapped.calls.entry((number, request.xid)).or_default() += 1;
            if let Some(shorten) = tapping.shorten {
                shorten_call(&mut request, shorten, tapped);
            }
            append(&request, &mut self.out);
            self.parser.finished();
        }
        assert!(refusals.is_empty(), "all calls can be decoded");
        &self.out
    }
}

fn shorten_call(request: &mut Request<'_>, shorten: Shorten, tapped: &mut Tapped) {
    let Arguments::Nfs(arguments) = &mut request.arguments else { return };
    let (kind, count) = match arguments {
        NfsArguments::READ(read) => (OpKind::Read, &mut read.count),
        NfsArguments::WRITE(write) => (OpKind::Write, &mut write.count),
        _ => return,
    };
    if kind != shorten.kind || *count < 2 {
        return;
    }
    tapped.candidates += 1;
    if !tapped.candidates.is_multiple_of(shorten.every) {
        return;
    }
    tapped.shortened += 1;
    *count /= 2;
    if let NfsArguments::WRITE(write) = arguments {
        write.data = Data(&write.data.0[..write.count as usize]);
    }
}

/// Appends a call as a record of one fragment.
fn append(request: &Request<'_>, out: &mut Vec<u8>) {
    let start = out.len();
    let mut writer = Writer::new(out);
    writer.u32(0);
    let numbers = request.arguments.procedure().numbers();
    encode_call_head(&mut writer, request.xid, numbers, &request.credential);
    request.arguments.encode(&mut writer);
    let length = out.len() - start - 4;
    out[start..start + 4].copy_from_slice(&mark(length).to_be_bytes());
}
