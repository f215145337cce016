//! Any stream of bytes from a client of the service: the replies do not depend on how the stream is
//! split into segments, and every request is answered.
//!
//! Included by the fuzz target and by the test that replays the corpus.

use std::io::IoSlice;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::OnceLock;

use cloud::catalog::Catalog;
use units::Bytes;
use volume::config::{self, Config};
use volume::ids::{ConnectionId, EndpointId};
use volume::server::{Server, ServerOptions};

/// Handles derive from the volume's name and the order of creation, so those in the corpus are
/// valid in every run.
const VOLUME: &str = "[[pool]]\nname = \"pool\"\nservice_level = \"ultra\"\nsize = \"4TiB\"\n\
    [[volume]]\nname = \"vol1\"\npool = \"pool\"\nquota = \"1TiB\"\n[limits]\nenforced = false\n";

/// Replies are compared up to this size; beyond it, only their length. A READ of 1 MiB is a small
/// request with a large reply.
const COMPARED_BYTES: usize = 1 << 20;

fn catalog_and_config() -> (Catalog, Config) {
    static PARSED: OnceLock<(Catalog, Config)> = OnceLock::new();
    let make = || {
        let catalog = Catalog::embedded();
        let mut open = |name: &str| Err(format!("there is no {name}"));
        let config = config::parse(VOLUME, "volumes.toml", &catalog, &mut open);
        (catalog, config.expect("the configuration is valid"))
    };
    PARSED.get_or_init(make).clone()
}

/// Tests one input. The first byte is the length of the segments, the rest the stream.
pub(crate) fn try_service(data: &[u8]) {
    let [segment, stream @ ..] = data else { return };
    let whole = stream.len().max(1);
    assert_eq!(replies(stream, usize::from(*segment) + 1), replies(stream, whole));
}

/// What the client receives.
#[derive(Debug, Default, PartialEq)]
struct Replies {
    first: Vec<u8>,
    bytes: usize,
    is_broken: bool,
}

fn replies(stream: &[u8], segment_bytes: usize) -> Replies {
    let (catalog, config) = catalog_and_config();
    let options = ServerOptions {
        memory: Bytes::mib(64),
        connections_max: 1,
        epoch_ns: 1_000_000_000_000_000_000,
    };
    let server = Server::start(0, catalog, config, options, Box::new(|_| {}));
    let mut server = server.expect("the configuration is valid");
    let address = |port| SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let conn = server
        .accept(0, EndpointId::new(0), address(2049), address(1000), 2049)
        .expect("the first connection is accepted");
    let mut replies = Replies::default();
    for bytes in stream.chunks(segment_bytes) {
        server.received(0, conn, bytes);
        drain(&mut server, conn, &mut replies);
        if server.is_broken(conn) {
            replies.is_broken = true;
            break;
        }
    }
    assert_eq!(server.deferred(), 0, "without limits and delays, no reply is deferred");
    server.closed(0, conn);
    assert_eq!(server.connections(), 0);
    replies
}

/// Takes everything that the server sends, until it has nothing left.
fn drain(server: &mut Server, conn: ConnectionId, replies: &mut Replies) {
    loop {
        server.advance(0);
        let mut slices = [IoSlice::new(&[]); 16];
        let count = server.gather(conn, &mut slices);
        let bytes: usize = slices[..count].iter().map(|slice| slice.len()).sum();
        for slice in &slices[..count] {
            let room = COMPARED_BYTES.saturating_sub(replies.first.len());
            replies.first.extend_from_slice(&slice[..slice.len().min(room)]);
        }
        replies.bytes += bytes;
        server.sent(conn, bytes);
        if bytes == 0 && !server.is_unfinished(conn) {
            return;
        }
    }
}
