//! Clients of real connections that share a volume's limit.

use std::io::Write;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, TcpStream};
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use nfs3::request::Arguments;
use rustix::net::{AddressFamily, SocketType, bind, connect, socket};

use crate::harness::{Connected, read, service, settled};

const MIB: usize = 1 << 20;

/// Connections of the busy client, and READs of 1 MiB that wait on each.
const CONNECTIONS: usize = 16;
const WAITING: usize = 100;

/// READs of 1 MiB by the other client, one after the other; at 64 MiB/s each takes 16 ms.
const READS: usize = 16;

/// A connection from an address of loopback.
fn from(local: Ipv4Addr, remote: SocketAddr) -> Connected {
    let socket: OwnedFd =
        socket(AddressFamily::INET, SocketType::STREAM, None).expect("make a socket");
    bind(&socket, &SocketAddr::V4(SocketAddrV4::new(local, 0))).expect("bind");
    connect(&socket, &remote).expect("connect");
    Connected::over(TcpStream::from(socket))
}

fn reads(client: &mut Connected, file: &[u8]) -> Duration {
    let begun = Instant::now();
    for _ in 0..READS {
        assert_eq!(client.call(read(file, 0, MIB as u32)).data().len(), MIB);
    }
    begun.elapsed()
}

#[test]
fn a_client_beside_a_busy_one_gets_half_of_the_limit() {
    let running = service("64MiB/s", "");
    let address = running.addresses()[0];
    let mut good = from(Ipv4Addr::new(127, 0, 0, 1), address);
    let root = good.mount("/vol1");
    let file = good.filled(&root, "file", MIB);
    let unloaded = reads(&mut good, &file);

    let busy: Vec<Connected> = (0..CONNECTIONS)
        .map(|_| {
            let mut client = from(Ipv4Addr::new(127, 0, 0, 2), address);
            for _ in 0..WAITING {
                let (_, call) = client.begin(&Arguments::Nfs(read(&file, 0, MIB as u32)));
                client.stream.write_all(&call).expect("send a call");
            }
            client
        })
        .collect();
    // Nobody reads the replies: what has gone is in sockets and counted by the limit all the same.
    settled(&running, |now| now.held > CONNECTIONS * WAITING * 3 / 4);
    let loaded = reads(&mut good, &file);
    let snapshot = running.snapshot().expect("the service runs");
    assert!(snapshot.held > CONNECTIONS * WAITING / 4, "the other is busy until the end");
    drop(busy);
    // One READ of the other goes before each of its own, so twice the time; half as much again for
    // wakes that are late, in both measurements. In the order of arrival it would be a hundred
    // times.
    let ratio = loaded.as_secs_f64() / unloaded.as_secs_f64();
    assert!(ratio <= 3.0, "{ratio:.2} times its unloaded time: {loaded:?} and {unloaded:?}");
}
