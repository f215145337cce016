//! Connections: whole ones and broken ones, in pieces, half closed, gone, and those that do
//! nothing.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};

use nfs3::record::{EMPTY_FRAGMENTS_MAX, mark};
use nfs3::request::Arguments;
use volume::shell::Running;

use crate::harness::{
    Connected, PATIENCE, described, getattr, options, pattern, read, service, settled, write,
};

#[test]
fn a_file_is_made_written_and_read_back() {
    let running = service("3000MiB/s", "");
    let mut client = Connected::to(running.addresses()[0]);
    let root = client.mount("/vol1");
    let file = client.filled(&root, "file", 300_000);
    let reply = client.call(read(&file, 1000, 200_000));
    assert_eq!(reply.data(), pattern(300_000)[1000..201_000]);
    let last = running.stop().unwrap();
    assert_eq!((last.connections, last.held), (1, 0));
}

#[test]
fn calls_that_come_together_are_all_answered() {
    let running = service("3000MiB/s", "[limits]\nenforced = false\n");
    let mut client = Connected::to(running.addresses()[0]);
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
    let (_, volume) = snapshot.witness.volumes().next().unwrap();
    assert_eq!((volume.completed(), volume.outstanding), (4000, 0));
}

#[test]
fn calls_that_come_byte_by_byte_are_answered_as_if_they_came_whole() {
    let running = service("3000MiB/s", "");
    let mut client = Connected::to(running.addresses()[0]);
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
fn a_half_closed_connection_gets_every_reply_that_it_still_waits_for() {
    let running = service("3000MiB/s", "[delay]\nread = \"20ms\"\n");
    let mut client = Connected::to(running.addresses()[0]);
    let root = client.mount("/vol1");
    let file = client.filled(&root, "file", 10_000);
    for at in 0..3 {
        client.send(read(&file, at * 1000, 1000));
    }
    client.stream.shutdown(Shutdown::Write).unwrap();
    for at in 0..3 {
        assert_eq!(client.receive().data(), pattern(10_000)[at * 1000..(at + 1) * 1000]);
    }
    assert!(client.try_receive().is_none(), "nothing more comes, and the connection is closed");
    assert_eq!(settled(&running, |now| now.connections == 0).connections, 0);
}

#[test]
fn what_is_held_for_a_connection_that_is_gone_is_dropped_and_others_go_on() {
    let running = service("3000MiB/s", "[delay]\nread = \"1h\"\nwrite = \"0s\"\n");
    let mut gone = Connected::to(running.addresses()[0]);
    let mut other = Connected::to(running.addresses()[0]);
    let root = gone.mount("/vol1");
    for _ in 0..50 {
        gone.send(getattr(&root));
    }
    let held = settled(&running, |now| now.held == 50);
    assert_eq!((held.held, held.connections), (50, 2));
    // Closing a socket with a reply that was not read aborts the connection.
    gone.send(write(&root, 0, &[0]));
    gone.stream.peek(&mut [0]).unwrap();
    drop(gone);
    let after = settled(&running, |now| now.connections == 1);
    assert_eq!((after.held, after.connections), (0, 1));
    assert_eq!(other.mount("/vol1"), root);
}

#[test]
fn a_record_that_is_too_long_closes_its_connection_with_one_line_and_no_other() {
    let (options, lines) = options(described("3000MiB/s", ""));
    let running = Running::start(options).unwrap();
    let mut good = Connected::to(running.addresses()[0]);
    let root = good.mount("/vol1");
    let mut bad = TcpStream::connect(running.addresses()[0]).unwrap();
    bad.set_read_timeout(Some(PATIENCE)).unwrap();
    bad.write_all(&mark((1 << 31) - 1).to_be_bytes()).unwrap();
    let ended = bad.read(&mut [0; 10]);
    assert!(matches!(ended, Ok(0)) || ended.is_err(), "{ended:?}");
    let line = lines.recv_timeout(PATIENCE).unwrap();
    let peer = bad.local_addr().unwrap().to_string();
    assert!(line.contains(&peer) && line.contains("2147483647 bytes"), "{line}");
    good.call(getattr(&root));
    assert!(lines.try_recv().is_err(), "one line is enough");
}

#[test]
fn a_record_of_empty_fragments_without_end_closes_its_connection() {
    let (options, lines) = options(described("3000MiB/s", ""));
    let running = Running::start(options).unwrap();
    let mut bad = TcpStream::connect(running.addresses()[0]).unwrap();
    bad.set_read_timeout(Some(PATIENCE)).unwrap();
    bad.write_all(&[0; 4].repeat(EMPTY_FRAGMENTS_MAX)).unwrap();
    settled(&running, |now| now.connections == 1);
    bad.write_all(&[0; 4]).unwrap();
    let ended = bad.read(&mut [0; 10]);
    assert!(matches!(ended, Ok(0)) || ended.is_err(), "{ended:?}");
    let line = lines.recv_timeout(PATIENCE).unwrap();
    assert!(line.ends_with("a record with more than 16 empty fragments arrived"), "{line}");
}

#[test]
fn connections_beyond_the_limit_are_closed_with_a_line_and_the_others_go_on() {
    let (mut options, lines) = options(described("3000MiB/s", ""));
    options.connections_max = 2;
    let running = Running::start(options).unwrap();
    let address = running.addresses()[0];
    let (mut first, mut second) = (Connected::to(address), Connected::to(address));
    let root = first.mount("/vol1");
    second.call(getattr(&root));
    let mut third = TcpStream::connect(address).unwrap();
    third.set_read_timeout(Some(PATIENCE)).unwrap();
    assert_eq!(third.read(&mut [0; 10]).unwrap(), 0);
    let line = lines.recv_timeout(PATIENCE).unwrap();
    assert!(line.starts_with("refused a connection of 127.0.0.1:"), "{line}");
    assert!(line.ends_with("2 are open, the most allowed"), "{line}");
    first.call(getattr(&root));
    drop(second);
    settled(&running, |now| now.connections == 1);
    Connected::to(address).call(getattr(&root));
}

#[test]
fn a_peer_that_vanished_is_found_out_by_the_kernel() {
    let running = service("3000MiB/s", "");
    let mut client = Connected::to(running.addresses()[0]);
    client.mount("/vol1");
    let ends = [running.addresses()[0].port(), client.stream.local_addr().unwrap().port()];
    let wanted = ends.map(|port| format!(":{port:04X}"));
    // Columns: number, local and remote address, state, queues, timer. 02 is that of keepalive,
    // once whatever was sent last is acknowledged.
    let deadline = std::time::Instant::now() + PATIENCE;
    loop {
        let table = std::fs::read_to_string("/proc/net/tcp").unwrap();
        let lines = table.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
        let mut ours =
            lines.filter(|line| line[1].ends_with(&wanted[0]) && line[2].ends_with(&wanted[1]));
        let timer = ours.next().expect("the service's end of the connection")[5].to_owned();
        if timer.starts_with("02:") {
            break;
        }
        assert!(std::time::Instant::now() < deadline, "its timer is {timer}");
        std::thread::yield_now();
    }
}

#[test]
fn a_service_with_idle_connections_makes_no_turn() {
    let (options, lines) = options(described("3000MiB/s", ""));
    let running = Running::start(options).unwrap();
    let mut clients: Vec<Connected> =
        (0..100).map(|_| Connected::to(running.addresses()[0])).collect();
    for client in &mut clients {
        client.mount("/vol1");
    }
    let before = settled(&running, |now| now.connections == 100);
    // Nobody tells anything: this is a wait of a known length, not one for luck.
    let silence = lines.recv_timeout(std::time::Duration::from_millis(300));
    assert!(silence.is_err(), "{silence:?}");
    let after = running.snapshot().unwrap();
    assert_eq!(after.turns - before.turns, 1, "the one that this question took");
    assert!(after.now_ns - before.now_ns >= 300_000_000);
}

#[test]
fn the_portmapper_answers_at_a_port_of_its_own_with_the_port_of_nfs() {
    use nfs3::portmap::{IPPROTO_TCP, mapping};
    use nfs3::procedure::{MOUNT_PROGRAM, NFS_PROGRAM};
    use nfs3::request::{PortmapArguments, PortmapResults, Results};
    let (mut options, _lines) = options(described("3000MiB/s", ""));
    options.portmapper = Some(0);
    let running = Running::start(options).unwrap();
    let nfs = running.addresses()[0];
    let mut client = Connected::to(running.portmappers()[0]);
    for prog in [NFS_PROGRAM, MOUNT_PROGRAM] {
        let asked = mapping { prog, vers: 3, prot: IPPROTO_TCP, port: 0 };
        let arguments = Arguments::Portmap(PortmapArguments::GETPORT(asked));
        let (_, bytes) = client.begin(&arguments);
        client.stream.write_all(&bytes).unwrap();
        let reply = client.receive();
        let results = Results::decode(reply.procedure, &reply.body).unwrap();
        let port = u32::from(nfs.port());
        assert_eq!(results, Results::Portmap(PortmapResults::GETPORT(port)));
    }
}

#[test]
fn a_service_that_is_dropped_is_gone() {
    let running = service("3000MiB/s", "");
    let address = running.addresses()[0];
    let mut client = Connected::to(address);
    client.mount("/vol1");
    drop(running);
    assert!(client.try_receive().is_none());
    assert!(TcpStream::connect(address).is_err());
}
