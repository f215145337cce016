//! The client without sockets, over one connection in virtual time: a test sees every call and
//! decides when and how each is answered.

use std::collections::VecDeque;
use std::io::IoSlice;
use std::sync::Arc;

use nfs3::arguments::{Data, stable_how};
use nfs3::procedure::NfsProcedure;
use nfs3::request::{Arguments, NfsArguments, NfsResults, Results};
use nfs3::results::{COMMIT3resok, READ3resfail, READ3resok, Res3, WRITE3resfail, WRITE3resok};
use nfs3::server::{Programs, Received, Server, ServerOptions, reply};
use nfs3::types::{nfsstat3, wcc_data};
use target::Completion;
use target::nfs::NfsAccess;
use target::nfs::sans_io::{SansIoClient, SocketAction};
use workload::connection::ConnectionCounters;
use workload::op::{Op, OpKind};

use crate::drive::fill;
use crate::scripted::{Act, Scripted};

/// The write verifier of the server's first instance, and of the one after a restart.
pub(crate) const FIRST: [u8; 8] = *b"instance";
pub(crate) const SECOND: [u8; 8] = *b"restart!";

/// An unanswered call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Call {
    pub(crate) xid: u32,
    pub(crate) procedure: NfsProcedure,
    pub(crate) file: u8,
    pub(crate) offset: u64,
    pub(crate) count: u32,
    pub(crate) stable: Option<stable_how>,
    pub(crate) data: Vec<u8>,
}

pub(crate) struct Exchange {
    pub(crate) client: SansIoClient,
    server: Server,
    /// Unanswered calls in the order in which they were sent.
    pub(crate) calls: VecDeque<Call>,
    pub(crate) now_ns: u64,
}

impl Exchange {
    /// A client of `files` files that can rewrite lost data.
    pub(crate) fn new(
        files: usize,
        options: &str,
        depth: u32,
        change: impl Fn(&mut NfsAccess),
    ) -> Exchange {
        // This server is used only for mounting.
        let mount = Scripted::start((files, 1), |_, _| Act::Answer);
        let access = mount.access(options, |access| {
            access.rewrite = Some(Arc::new(|op: &Op, memory: &mut [u8]| fill(op, memory)));
            change(access);
        });
        Exchange {
            client: SansIoClient::new(&access, depth, || 1).unwrap(),
            server: new_server(),
            calls: VecDeque::new(),
            now_ns: 0,
        }
    }

    pub(crate) fn at(&mut self, now_ns: u64) {
        self.now_ns = now_ns;
        self.client.set_time(now_ns);
    }

    /// Submits an operation with its data, and collects the calls that are sent.
    pub(crate) fn submit(&mut self, tag: u32, op: &Op) {
        if op.kind == OpKind::Write {
            fill(op, &mut self.client.buffer(tag)[..op.size_bytes as usize]);
        }
        self.client.submit(tag, op);
        self.collect();
    }

    /// Collects all calls that the client sends.
    pub(crate) fn collect(&mut self) {
        self.client.take_unsent();
        loop {
            let mut pieces = [IoSlice::new(&[]); 16];
            let filled = self.client.gather(0, &mut pieces);
            let bytes: Vec<u8> = pieces[..filled].iter().flat_map(|piece| piece.to_vec()).collect();
            if bytes.is_empty() {
                return;
            }
            self.client.sent(0, bytes.len());
            let (mut input, mut refused) = (&bytes[..], Vec::new());
            while let Some(received) = self.server.receive(&mut input, &mut refused).unwrap() {
                let Received::Request(request) = received else { panic!("{received:?}") };
                let Arguments::Nfs(arguments) = request.arguments else { panic!("{request:?}") };
                let (file, offset, count, stable, data) = match arguments {
                    NfsArguments::READ(args) => {
                        (args.file, args.offset, args.count, None, Vec::new())
                    }
                    NfsArguments::WRITE(args) => {
                        let data = args.data.0.to_vec();
                        (args.file, args.offset, args.count, Some(args.stable), data)
                    }
                    NfsArguments::COMMIT(args) => (args.file, 0, 0, None, Vec::new()),
                    other => panic!("no operation consists of {other:?}"),
                };
                let (xid, procedure, file) = (request.xid, arguments.procedure(), file.0[1]);
                let call = Call { xid, procedure, file, offset, count, stable, data };
                self.calls.push_back(call);
            }
        }
    }

    /// The only unanswered call.
    pub(crate) fn only(&self) -> Call {
        assert_eq!(self.calls.len(), 1, "{:?}", self.calls);
        self.calls[0].clone()
    }

    fn send(&mut self, call: &Call, results: NfsResults<'_>) {
        let position = self.calls.iter().position(|other| other.xid == call.xid);
        self.calls.remove(position.expect("the call is unanswered"));
        let mut bytes = Vec::new();
        reply(&mut bytes, call.xid, &Results::Nfs(results));
        assert!(self.client.received(0, &bytes), "the client accepts the reply");
        self.collect();
    }

    /// Answers a call as requested, as the instance with verifier `verf`; READs return zeros.
    pub(crate) fn answer(&mut self, call: &Call, verf: [u8; 8]) {
        self.answer_part(call, call.count, verf);
    }

    /// The same for at most `count` bytes.
    pub(crate) fn answer_part(&mut self, call: &Call, count: u32, verf: [u8; 8]) {
        let file_wcc = wcc_data::default();
        let zeros = vec![0; count as usize];
        let results = match call.procedure {
            NfsProcedure::READ => {
                let data = Data(&zeros);
                let ok = READ3resok { file_attributes: None, count, eof: false, data };
                NfsResults::READ(Res3::Ok(ok))
            }
            NfsProcedure::WRITE => {
                let committed = call.stable.unwrap();
                NfsResults::WRITE(Res3::Ok(WRITE3resok { file_wcc, count, committed, verf }))
            }
            _ => NfsResults::COMMIT(Res3::Ok(COMMIT3resok { file_wcc, verf })),
        };
        self.send(call, results);
    }

    /// Answers with a failure.
    pub(crate) fn fail(&mut self, call: &Call, status: nfsstat3) {
        let failed = WRITE3resfail { file_wcc: wcc_data::default() };
        let results = match call.procedure {
            NfsProcedure::READ => {
                NfsResults::READ(Res3::Fail(status, READ3resfail { obj_attributes: None }))
            }
            NfsProcedure::WRITE => NfsResults::WRITE(Res3::Fail(status, failed)),
            NfsProcedure::COMMIT => NfsResults::COMMIT(Res3::Fail(status, failed)),
            other => panic!("{other:?} cannot fail here"),
        };
        self.send(call, results);
    }

    /// Loses the connection and reconnects when the client requests it; unanswered calls are sent
    /// again.
    pub(crate) fn reconnect(&mut self) {
        self.client.lost(0);
        let action = loop {
            self.at(self.client.next_ns());
            if let Some(action) = self.client.advance() {
                break action;
            }
        };
        assert_eq!(action, SocketAction::Connect(0));
        self.client.connected(0);
        self.calls.clear();
        self.server = new_server();
        self.collect();
    }

    /// Does what is due, and collects the calls that are sent.
    pub(crate) fn advance(&mut self) -> Option<SocketAction> {
        let action = self.client.advance();
        self.collect();
        action
    }

    /// Operations completed since the last call: tags and results, sorted by tag.
    pub(crate) fn done(&mut self) -> Vec<(u32, i32)> {
        let mut done: Vec<Completion> = Vec::new();
        self.client.take_done(&mut done);
        let mut results: Vec<(u32, i32)> =
            done.iter().map(|completion| (completion.tag, completion.result)).collect();
        results.sort_unstable();
        results
    }

    pub(crate) fn counters(&mut self) -> ConnectionCounters {
        self.client.connections()[0]
    }
}

fn new_server() -> Server {
    Server::new(ServerOptions {
        programs: Programs { nfs: true, mount: false, portmap: false },
        max_call_bytes: 2 << 20,
        max_in_progress: usize::MAX,
    })
}
