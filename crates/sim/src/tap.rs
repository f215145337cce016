//! Between the network and the service: counts the calls that arrive, and cuts some of them short.
//!
//! For: knowing exactly how often each call was sent, by its xid, without asking either side; and a
//! service that moves fewer bytes than it was asked for, which RFC 1813 allows (sections 3.3.6 and
//! 3.3.7) and ours never does. A call reaches the service once it is whole.

use std::collections::BTreeMap;

use nfs3::arguments::Data;
use nfs3::record::mark;
use nfs3::request::{Arguments, NfsArguments};
use nfs3::rpc::encode_call_head;
use nfs3::server::{Programs, Received, Request, Server, ServerOptions};
use nfs3::xdr::Writer;
use workload::op::OpKind;

/// Which calls are cut short.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shorten {
    /// READ or WRITE.
    pub kind: OpKind,
    /// Every so many of these, to half of its bytes; those of one byte stay.
    pub every: u64,
}

/// What is done to the calls that arrive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tapping {
    /// Cuts calls short.
    pub shorten: Option<Shorten>,
}

/// What was seen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tapped {
    /// How often each call arrived whole, by connection and xid.
    pub calls: BTreeMap<(u32, u32), u64>,
    /// Calls that were cut short.
    pub shortened: u64,
    /// Calls of the kind that is cut short.
    struck: u64,
}

impl Tapped {
    /// Calls that arrived whole, each as often as it did.
    pub fn arrived(&self) -> u64 {
        self.calls.values().sum()
    }
}

/// Of one connection.
#[derive(Debug)]
pub(crate) struct Tap {
    parser: Server,
    out: Vec<u8>,
}

/// Longer than any call.
const CALL_BYTES: usize = 4 << 20;

impl Tap {
    pub(crate) fn new() -> Tap {
        let programs = Programs { nfs: true, mount: true, portmap: true };
        let (max_call_bytes, max_in_progress) = (CALL_BYTES, 1);
        let options = ServerOptions { programs, max_call_bytes, max_in_progress };
        Tap { parser: Server::new(options), out: Vec::new() }
    }

    /// Takes bytes of connection `number` and gives the calls that are whole by now.
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
            self.parser.receive(&mut input, &mut refusals).expect("our client's calls are short")
        {
            let Received::Request(mut request) = received else {
                unreachable!("our client calls what is there: {received:?}");
            };
            *tapped.calls.entry((number, request.xid)).or_default() += 1;
            if let Some(shorten) = tapping.shorten {
                cut(&mut request, shorten, tapped);
            }
            append(&request, &mut self.out);
            self.parser.finished();
        }
        assert!(refusals.is_empty(), "our client's calls can be decoded");
        &self.out
    }
}

fn cut(request: &mut Request<'_>, shorten: Shorten, tapped: &mut Tapped) {
    let Arguments::Nfs(arguments) = &mut request.arguments else { return };
    let (kind, count) = match arguments {
        NfsArguments::READ(read) => (OpKind::Read, &mut read.count),
        NfsArguments::WRITE(write) => (OpKind::Write, &mut write.count),
        _ => return,
    };
    if kind != shorten.kind || *count < 2 {
        return;
    }
    tapped.struck += 1;
    if !tapped.struck.is_multiple_of(shorten.every) {
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
