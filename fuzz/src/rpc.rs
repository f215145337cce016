//! Any stream of bytes on a connection: the result does not depend on how the stream is split into
//! segments, and a client can parse the replies that the server sends without its caller.
//!
//! Included by the fuzz target and by the test that replays the corpus.

use nfs3::arguments::stable_how;
use nfs3::client::{self, Client, ClientOptions};
use nfs3::rpc::{Credential, ReplyHeader};
use nfs3::server::{self, Programs, Server, ServerOptions};
use nfs3::template::{ReadTemplate, WriteTemplate};
use nfs3::types::nfs_fh3;
use nfs3::xdr::{Reader, Xdr};

/// Larger than any input, so that only announced lengths can be refused.
const MAX_RECORD: usize = 1 << 16;

/// Tests one input. The first byte is the length of the segments, the rest the stream.
pub(crate) fn try_rpc(data: &[u8]) {
    let [segment, stream @ ..] = data else { return };
    let segment = usize::from(*segment) + 1;
    let whole = stream.len().max(1);
    assert_eq!(requests(stream, segment), requests(stream, whole));
    assert_eq!(completions(stream, segment), completions(stream, whole));
}

/// What a server receives from the stream, and the bytes of its replies.
fn requests(stream: &[u8], segment_bytes: usize) -> (Vec<String>, Vec<u8>) {
    let mut server = Server::new(ServerOptions {
        programs: Programs { nfs: true, mount: true, portmap: true },
        max_call_bytes: MAX_RECORD,
        max_in_progress: usize::MAX,
    });
    let (mut seen, mut replies) = (Vec::new(), Vec::new());
    'stream: for mut input in stream.chunks(segment_bytes) {
        loop {
            let before = replies.len();
            match server.receive(&mut input, &mut replies) {
                Ok(Some(received)) => {
                    if let server::Received::Answered { xid, status } = received {
                        let mut reader = Reader::new(&replies[before + 4..]);
                        let header =
                            ReplyHeader::decode(&mut reader).expect("the reply has a valid header");
                        assert_eq!((header.xid, header.status), (xid, status));
                    }
                    seen.push(format!("{received:?}"));
                }
                Ok(None) => break,
                Err(error) => {
                    seen.push(error.to_string());
                    break 'stream;
                }
            }
        }
    }
    (seen, replies)
}

/// What a client with outstanding calls receives from the stream.
fn completions(stream: &[u8], segment_bytes: usize) -> Vec<String> {
    let options = ClientOptions { slots: 8, max_reply_bytes: MAX_RECORD, first_generation: 0 };
    let mut client = Client::new(options);
    let file = nfs_fh3(b"file");
    let reads = ReadTemplate::new(&Credential::None, file);
    let writes = WriteTemplate::new(&Credential::None, file);
    for offset in 0..4 {
        client.read(&reads, offset, 4).expect("there are eight slots");
        client.write(&writes, offset, 4, stable_how::UNSTABLE).expect("there are eight slots");
    }
    let mut seen = Vec::new();
    'stream: for mut input in stream.chunks(segment_bytes) {
        loop {
            match client.receive(&mut input) {
                Ok(Some(received)) => {
                    if let client::Received::Completed(completion) = received {
                        seen.push(format!("{:?}", completion.results()));
                    }
                    seen.push(format!("{received:?}"));
                }
                Ok(None) => break,
                Err(error) => {
                    seen.push(error.to_string());
                    break 'stream;
                }
            }
        }
    }
    seen
}
