//! A non-idempotent call that arrives again over another connection gets its first reply: the
//! client's half and the service's, compared with each other.

use std::io::IoSlice;
use std::net::SocketAddr;

use nfs3::arguments::{CREATE3args, REMOVE3args, createhow3};
use nfs3::client::{Client, ClientOptions, Received};
use nfs3::request::{Arguments, NfsArguments, NfsResults, Results};
use nfs3::results::Res3;
use nfs3::rpc::Credential;
use nfs3::types::{Handle, diropargs3, filename3, nfsstat3, sattr3, set_time};
use units::Bytes;
use volume::ids::{ConnectionId, EndpointId};
use volume::server::{Server, ServerOptions};

use crate::setups::{VOLUME, volume};

/// Attributes are left to the server.
const NOTHING: sattr3 = sattr3 {
    mode: None,
    uid: None,
    gid: None,
    size: None,
    atime: set_time::DONT_CHANGE,
    mtime: set_time::DONT_CHANGE,
};

struct Service {
    server: Server,
    now_ns: u64,
    ports: u16,
}

impl Service {
    fn new() -> Service {
        let options =
            ServerOptions { memory: Bytes::mib(64), connections_max: 8, epoch_ns: 1 << 60 };
        let catalog = cloud::catalog::Catalog::embedded();
        let log = Box::new(|_: &str| {});
        let server = Server::start(0, catalog, volume(None, 1000), options, log).unwrap();
        Service { server, now_ns: 0, ports: 700 }
    }

    fn root(&self) -> Handle {
        let exports = self.server.exports();
        let root = exports.get(exports.find(VOLUME).unwrap()).unwrap().files.root();
        Handle::new(&root.to_bytes()).unwrap()
    }

    fn connect(&mut self) -> ConnectionId {
        self.ports += 1;
        let (server, client) = (
            SocketAddr::from(([10, 0, 0, 1], 2049)),
            SocketAddr::from(([10, 0, 0, 2], self.ports)),
        );
        self.server.accept(self.now_ns, EndpointId::new(0), server, client, 2049).unwrap()
    }

    /// Sends a call and waits for its reply.
    fn answer(&mut self, conn: ConnectionId, call: &[u8]) -> Vec<u8> {
        self.server.received(self.now_ns, conn, call);
        let mut reply = Vec::new();
        for _ in 0..10 {
            if let Some(at_ns) = self.server.next_ns() {
                self.now_ns = self.now_ns.max(at_ns);
                self.server.advance(self.now_ns);
            }
            let mut slices = [IoSlice::new(&[]); 8];
            let filled = self.server.gather(conn, &mut slices);
            let before = reply.len();
            slices[..filled].iter().for_each(|slice| reply.extend_from_slice(slice));
            self.server.sent(conn, reply.len() - before);
        }
        reply
    }
}

/// Sends a call whose reply is lost with its connection, sends it again as the client does, and
/// returns the content of the second reply, which must equal the first.
fn twice(
    service: &mut Service,
    first_generation: u32,
    arguments: &NfsArguments<'_>,
) -> Result<(), nfsstat3> {
    let options = ClientOptions { slots: 4, max_reply_bytes: 4096, first_generation };
    let mut client = Client::new(options);
    let slot = client.call(&Credential::None, &Arguments::Nfs(*arguments)).unwrap();
    let xid = client.xid(slot);
    let first = service.connect();
    let lost = service.answer(first, client.message(slot));
    service.server.closed(service.now_ns, first);

    assert_eq!(client.reconnected(), [slot], "the call must be sent again");
    assert_eq!(client.xid(slot), xid);
    let second = service.connect();
    let came = service.answer(second, client.message(slot));
    assert_eq!(lost, came, "the same reply, byte for byte");
    let mut input = &came[..];
    let Ok(Some(Received::Completed(completed))) = client.receive(&mut input) else {
        panic!("a reply to the call")
    };
    match completed.results().unwrap() {
        Results::Nfs(NfsResults::CREATE(result)) => match result {
            Res3::Ok(_) => Ok(()),
            Res3::Fail(status, _) => Err(status),
        },
        Results::Nfs(NfsResults::REMOVE(result)) => match result {
            Res3::Ok(_) => Ok(()),
            Res3::Fail(status, _) => Err(status),
        },
        other => panic!("{other:?}"),
    }
}

#[test]
fn repeated_calls_create_a_file_once_and_remove_it_once() {
    let mut service = Service::new();
    let root = service.root();
    let name = diropargs3 { dir: root.fh(), name: filename3(b"file") };
    let create =
        NfsArguments::CREATE(CREATE3args { r#where: name, how: createhow3::GUARDED(NOTHING) });
    let remove = NfsArguments::REMOVE(REMOVE3args { object: name });
    // If executed again, the first would give NFS3ERR_EXIST and the second NFS3ERR_NOENT.
    assert_eq!(twice(&mut service, 1, &create), Ok(()));
    assert_eq!(twice(&mut service, 2, &create), Err(nfsstat3::NFS3ERR_EXIST), "another call");
    assert_eq!(twice(&mut service, 3, &remove), Ok(()));
    assert_eq!(twice(&mut service, 4, &remove), Err(nfsstat3::NFS3ERR_NOENT));
}
