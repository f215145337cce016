//! Clients on sockets that share a volume's limit.

use std::io::Write;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, TcpStream};
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use nfs3::request::Arguments;
use rustix::net::{AddressFamily, SocketType, bind, connect, socket};

use crate::harness::{Connection, read, service, wait_until};

const MIB: usize = 1 << 20;

/// Connections of the busy client, and waiting READs of 1 MiB on each.
const CONNECTIONS: usize = 16;
const WAITING: usize = 100;

/// READs of 1 MiB by the other client, one after the other; at 64 MiB/s each takes 16 ms.
const READS: usize = 16;

/// A connection from this loopback address.
fn connect_from(local: Ipv4Addr, remote: SocketAddr) -> Connection {
    let socket: OwnedFd =
        socket(AddressFamily::INET, SocketType::STREAM, None).expect("create a socket");
    bind(&socket, &SocketAddr::V4(SocketAddrV4::new(local, 0))).expect("bind");
    connect(&socket, &remote).expect("connect");
    Connection::over(TcpStream::from(socket))
}

fn reads(client: &mut Connection, file: &[u8]) -> Duration {
    let start = Instant::now();
    for _ in 0..READS {
        assert_eq!(client.call(read(file, 0, MIB as u32)).data().len(), MIB);
    }
    start.elapsed()
}

#[test]
fn a_client_gets_half_of_the_limit_while_another_client_is_busy() {
    let running = service("64MiB/s", "");
    let address = running.addresses()[0];
    let mut measured = connect_from(Ipv4Addr::new(127, 0, 0, 1), address);
    let root = measured.mount("/vol1");
    let file = measured.filled(&root, "file", MIB);
    let unloaded = reads(&mut measured, &file);

    let busy: Vec<Connection> = (0..CONNECTIONS)
        .map(|_| {
            let mut client = connect_from(Ipv4Addr::new(127, 0, 0, 2), address);
            for _ in 0..WAITING {
                let (_, call) = client.begin(&Arguments::Nfs(read(&file, 0, MIB as u32)));
                client.stream.write_all(&call).expect("send a call");
            }
            client
        })
        .collect();
    // The busy client does not read its replies; those sent count against the limit all the same.
    wait_until(&running, |now| now.deferred > CONNECTIONS * WAITING * 3 / 4);
    let loaded = reads(&mut measured, &file);
    let snapshot = running.snapshot().expect("the service is running");
    assert!(snapshot.deferred > CONNECTIONS * WAITING / 4, "busy until the end");
    drop(busy);
    // One READ of the busy client is released before each READ, so the time doubles; the bound adds
    // 50 % for late wake-ups in both measurements. In order of arrival the ratio would be about 100.
    let ratio = loaded.as_secs_f64() / unloaded.as_secs_f64();
    assert!(ratio <= 3.0, "{ratio:.2} times the unloaded time: {loaded:?} and {unloaded:?}");
}
