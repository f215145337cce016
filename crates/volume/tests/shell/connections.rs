//! Connections: calls in pieces or together, half-closed, aborted, invalid and idle connections.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};

use nfs3::record::{EMPTY_FRAGMENTS_MAX, mark};
use nfs3::request::Arguments;
use volume::shell::Running;

use crate::harness::{
    Connection, TIMEOUT, configured, getattr, options, pattern, read, service, wait_until, write,
};

#[test]
fn a_file_is_created_written_and_read() {
    let running = service("3000MiB/s", "");
    let mut client = Connection::to(running.addresses()[0]);
    let root = client.mount("/vol1");
    let file = client.filled(&root, "file", 300_000);
    let reply = client.call(read(&file, 1000, 200_000));
    assert_eq!(reply.data(), pattern(300_000)[1000..201_000]);
    let last = running.stop().unwrap();
    assert_eq!((last.connections, last.deferred), (1, 0));
}

#[test]
fn calls_that_arrive_together_are_all_answered() {
    let running = service("3000MiB/s", "[limits]\nenforced = false\n");
    let mut client = Connection::to(running.addresses()[0]);
    let root = client.mount("/vol1");
    let mut all = Vec::new();
    let mut slots: Vec<u32> = Vec::new();
    for _ in 0..4000 {
        let (slot, bytes) = client.begin(&Arguments::Nfs(getattr(&root)));
        all.extend_from_slice(&bytes);
        slots.push(slot);
    }
    client.stream.write_all(&all).unwrap();
    let mut answered: Vec<u32> = slots.iter().map(|_| client.receive().slot).collect();
    answered.sort_unstable();
    slots.sort_unstable();
    assert_eq!(answered, slots);
    let snapshot = running.snapshot().unwrap();
    let (_, volume) = snapshot.counters.volumes().next().unwrap();
    assert_eq!((volume.completed(), volume.outstanding), (4000, 0));
}

#[test]
fn calls_that_arrive_byte_by_byte_are_answered() {
    let running = service("3000MiB/s", "");
    let mut client = Connection::to(running.addresses()[0]);
    let root = client.mount("/vol1");
    let file = client.create(&root, "file");
    let data = pattern(100);
    for arguments in [write(&file, 0, &data), read(&file, 0, 100), getattr(&file)] {
        let (slot, bytes) = client.begin(&Arguments::Nfs(arguments));
        for byte in bytes.chunks(1) {
            client.stream.write_all(byte).unwrap();
        }
        assert_eq!(client.receive().slot, slot);
    }
    assert_eq!(client.call(read(&file, 0, 1000)).data(), data);
}

#[test]
fn a_half_closed_connection_gets_its_outstanding_replies() {
    let running = service("3000MiB/s", "[delay]\nread = \"20ms\"\n");
    let mut client = Connection::to(running.addresses()[0]);
    let root = client.mount("/vol1");
    let file = client.filled(&root, "file", 10_000);
    for number in 0..3 {
        client.send(read(&file, number * 1000, 1000));
    }
    client.stream.shutdown(Shutdown::Write).unwrap();
    for number in 0..3 {
        let expected = &pattern(10_000)[number * 1000..(number + 1) * 1000];
        assert_eq!(client.receive().data(), expected);
    }
    assert!(client.try_receive().is_none(), "the connection is closed");
    assert_eq!(wait_until(&running, |now| now.connections == 0).connections, 0);
}

#[test]
fn deferred_replies_of_an_aborted_connection_are_dropped_and_others_are_unaffected() {
    let running = service("3000MiB/s", "[delay]\nread = \"1h\"\nwrite = \"0s\"\n");
    let mut aborted = Connection::to(running.addresses()[0]);
    let mut other = Connection::to(running.addresses()[0]);
    let root = aborted.mount("/vol1");
    for _ in 0..50 {
        aborted.send(getattr(&root));
    }
    let before = wait_until(&running, |now| now.deferred == 50);
    assert_eq!((before.deferred, before.connections), (50, 2));
    // Closing a socket with an unread reply aborts the connection.
    aborted.send(write(&root, 0, &[0]));
    aborted.stream.peek(&mut [0]).unwrap();
    drop(aborted);
    let after = wait_until(&running, |now| now.connections == 1);
    assert_eq!((after.deferred, after.connections), (0, 1));
    assert_eq!(other.mount("/vol1"), root);
}

#[test]
fn a_record_that_is_too_long_closes_only_its_connection_and_logs_one_line() {
    let (options, lines) = options(configured("3000MiB/s", ""));
    let running = Running::start(options).unwrap();
    let mut valid = Connection::to(running.addresses()[0]);
    let root = valid.mount("/vol1");
    let mut invalid = TcpStream::connect(running.addresses()[0]).unwrap();
    invalid.set_read_timeout(Some(TIMEOUT)).unwrap();
    invalid.write_all(&mark((1 << 31) - 1).to_be_bytes()).unwrap();
    let ended = invalid.read(&mut [0; 10]);
    assert!(matches!(ended, Ok(0)) || ended.is_err(), "{ended:?}");
    let line = lines.recv_timeout(TIMEOUT).unwrap();
    let peer = invalid.local_addr().unwrap().to_string();
    assert!(line.contains(&peer) && line.contains("2147483647 bytes"), "{line}");
    valid.call(getattr(&root));
    assert!(lines.try_recv().is_err(), "one line only");
}

#[test]
fn a_record_of_empty_fragments_without_end_closes_its_connection() {
    let (options, lines) = options(configured("3000MiB/s", ""));
    let running = Running::start(options).unwrap();
    let mut invalid = TcpStream::connect(running.addresses()[0]).unwrap();
    invalid.set_read_timeout(Some(TIMEOUT)).unwrap();
    invalid.write_all(&[0; 4].repeat(EMPTY_FRAGMENTS_MAX)).unwrap();
    wait_until(&running, |now| now.connections == 1);
    invalid.write_all(&[0; 4]).unwrap();
    let ended = invalid.read(&mut [0; 10]);
    assert!(matches!(ended, Ok(0)) || ended.is_err(), "{ended:?}");
    let line = lines.recv_timeout(TIMEOUT).unwrap();
    assert!(line.ends_with("received a record with more than 16 empty fragments"), "{line}");
}

#[test]
fn connections_beyond_the_maximum_are_closed_and_logged_and_others_are_unaffected() {
    let (mut options, lines) = options(configured("3000MiB/s", ""));
    options.connections_max = 2;
    let running = Running::start(options).unwrap();
    let address = running.addresses()[0];
    let (mut first, mut second) = (Connection::to(address), Connection::to(address));
    let root = first.mount("/vol1");
    second.call(getattr(&root));
    let mut third = TcpStream::connect(address).unwrap();
    third.set_read_timeout(Some(TIMEOUT)).unwrap();
    assert_eq!(third.read(&mut [0; 10]).unwrap(), 0);
    let line = lines.recv_timeout(TIMEOUT).unwrap();
    assert!(line.starts_with("refused a connection from 127.0.0.1:"), "{line}");
    assert!(line.ends_with("the maximum of 2 are open"), "{line}");
    first.call(getattr(&root));
    drop(second);
    wait_until(&running, |now| now.connections == 1);
    Connection::to(address).call(getattr(&root));
}

#[test]
fn connections_have_keepalive_timers() {
    let running = service("3000MiB/s", "");
    let mut client = Connection::to(running.addresses()[0]);
    client.mount("/vol1");
    let ends = [running.addresses()[0].port(), client.stream.local_addr().unwrap().port()];
    let ports = ends.map(|port| format!(":{port:04X}"));
    // Columns: number, local and remote address, state, queues, timer. Timer 02 is keepalive, which
    // runs once all sent bytes are acknowledged.
    let deadline = std::time::Instant::now() + TIMEOUT;
    loop {
        let table = std::fs::read_to_string("/proc/net/tcp").unwrap();
        let lines = table.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
        let mut ours =
            lines.filter(|line| line[1].ends_with(&ports[0]) && line[2].ends_with(&ports[1]));
        let timer = ours.next().expect("the service's end of the connection")[5].to_owned();
        if timer.starts_with("02:") {
            break;
        }
        assert!(std::time::Instant::now() < deadline, "its timer is {timer}");
        std::thread::yield_now();
    }
}

#[test]
fn a_service_with_idle_connections_takes_no_turns() {
    let (options, lines) = options(configured("3000MiB/s", ""));
    let running = Running::start(options).unwrap();
    let mut clients: Vec<Connection> =
        (0..100).map(|_| Connection::to(running.addresses()[0])).collect();
    for client in &mut clients {
        client.mount("/vol1");
    }
    let before = wait_until(&running, |now| now.connections == 100);
    // Waits 300 ms, during which nothing is logged.
    let line = lines.recv_timeout(std::time::Duration::from_millis(300));
    assert!(line.is_err(), "{line:?}");
    let after = running.snapshot().unwrap();
    assert_eq!(after.turns - before.turns, 1, "the turn of this snapshot");
    assert!(after.now_ns - before.now_ns >= 300_000_000);
}

#[test]
fn the_portmapper_at_a_separate_port_returns_the_port_of_nfs() {
    use nfs3::portmap::{IPPROTO_TCP, mapping};
    use nfs3::procedure::{MOUNT_PROGRAM, NFS_PROGRAM};
    use nfs3::request::{PortmapArguments, PortmapResults, Results};
    let (mut options, _lines) = options(configured("3000MiB/s", ""));
    options.portmapper = Some(0);
    let running = Running::start(options).unwrap();
    let nfs = running.addresses()[0];
    let mut client = Connection::to(running.portmappers()[0]);
    for prog in [NFS_PROGRAM, MOUNT_PROGRAM] {
        let requested = mapping { prog, vers: 3, prot: IPPROTO_TCP, port: 0 };
        let arguments = Arguments::Portmap(PortmapArguments::GETPORT(requested));
        let (_, bytes) = client.begin(&arguments);
        client.stream.write_all(&bytes).unwrap();
        let reply = client.receive();
        let results = Results::decode(reply.procedure, &reply.body).unwrap();
        let port = u32::from(nfs.port());
        assert_eq!(results, Results::Portmap(PortmapResults::GETPORT(port)));
    }
}

#[test]
fn a_dropped_service_closes_its_connections_and_listeners() {
    let running = service("3000MiB/s", "");
    let address = running.addresses()[0];
    let mut client = Connection::to(address);
    client.mount("/vol1");
    drop(running);
    assert!(client.try_receive().is_none());
    assert!(TcpStream::connect(address).is_err());
}
