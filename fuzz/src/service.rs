//! What must hold for every stream of bytes that a client sends to the service: it is answered the
//! same however it is cut into pieces, and nothing that it asks for is left hanging.
//!
//! Included by the fuzz target and by the test that replays the corpus, so that both do the same.

use std::io::IoSlice;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::OnceLock;

use cloud::catalog::Catalog;
use units::Bytes;
use volume::config::{self, Config};
use volume::server::{Conn, Server, ServerOptions};

/// Handles follow from the volume's name and the order in which things are made, so those in the
/// corpus are good in every run.
const VOLUME: &str = "[[pool]]\nname = \"pool\"\nservice_level = \"ultra\"\nsize = \"4TiB\"\n\
    [[volume]]\nname = \"vol1\"\npool = \"pool\"\nquota = \"1TiB\"\n[limits]\nenforced = false\n";

/// Above this answers are counted and no longer kept: a READ of a MiB is a small request.
const KEPT_BYTES: usize = 1 << 20;

fn described() -> (Catalog, Config) {
    static DESCRIBED: OnceLock<(Catalog, Config)> = OnceLock::new();
    let make = || {
        let catalog = Catalog::embedded();
        let mut open = |name: &str| Err(format!("there is no {name}"));
        let config = config::parse(VOLUME, "volumes.toml", &catalog, &mut open);
        (catalog, config.expect("a good description"))
    };
    DESCRIBED.get_or_init(make).clone()
}

/// The first byte is the length of the pieces, the rest the stream.
pub(crate) fn try_service(data: &[u8]) {
    let [piece, stream @ ..] = data else { return };
    let whole = stream.len().max(1);
    assert_eq!(answers(stream, usize::from(*piece) + 1), answers(stream, whole));
}

/// What a client gets.
#[derive(Debug, Default, PartialEq)]
struct Answers {
    first: Vec<u8>,
    bytes: usize,
    is_broken: bool,
}

fn answers(stream: &[u8], piece: usize) -> Answers {
    let (catalog, config) = described();
    let options = ServerOptions {
        memory: Bytes::mib(64),
        connections_max: 1,
        epoch_ns: 1_000_000_000_000_000_000,
    };
    let server = Server::start(0, catalog, config, options, Box::new(|_| {}));
    let mut server = server.expect("a good description");
    let address = |port| SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let conn = server.accept(0, 0, address(2049), address(1000), 2049).expect("the first");
    let mut answers = Answers::default();
    for bytes in stream.chunks(piece) {
        server.received(0, conn, bytes);
        take(&mut server, conn, &mut answers);
        if server.is_broken(conn) {
            answers.is_broken = true;
            break;
        }
    }
    assert_eq!(server.held(), 0, "nothing is held where there are no limits and no delays");
    server.closed(0, conn);
    assert_eq!(server.connections(), 0);
    answers
}

/// Takes everything that is to be sent, until nothing more comes.
fn take(server: &mut Server, conn: Conn, answers: &mut Answers) {
    loop {
        server.advance(0);
        let mut slices = [IoSlice::new(&[]); 16];
        let count = server.gather(conn, &mut slices);
        let bytes: usize = slices[..count].iter().map(|slice| slice.len()).sum();
        for slice in &slices[..count] {
            let room = KEPT_BYTES.saturating_sub(answers.first.len());
            answers.first.extend_from_slice(&slice[..slice.len().min(room)]);
        }
        answers.bytes += bytes;
        server.sent(conn, bytes);
        if bytes == 0 && !server.is_unfinished(conn) {
            return;
        }
    }
}
