//! WRITEs of 64 KiB and more over sockets, in memory and on disk.

use std::io::Write;

use nfs3::request::Arguments;
use volume::shell::Running;

use crate::harness::{Connection, configured, getattr, options, pattern, read, write};

const MIB: usize = 1 << 20;
const FILE_BYTES: usize = 4 * MIB;
const CONNECTIONS: usize = 3;
const ROUNDS: usize = 4;

/// Offset and length of the WRITEs of a round: whole and partial chunks, large and small.
const WRITES: [(usize, usize); 8] = [
    (0, 65_536),
    (65_536, 65_536),
    (MIB, MIB),
    (2 * MIB + 12_345, MIB),
    (0, 8192),
    (131_072, 65_536),
    (4096, 300_000),
    (FILE_BYTES - 65_536, 65_536),
];

/// Each connection writes to its own file and sends all calls of a round before it reads a reply.
fn write_and_verify(running: &Running) {
    let mut clients: Vec<(Connection, Vec<u8>, Vec<u8>)> = (0..CONNECTIONS)
        .map(|number| {
            let mut client = Connection::to(running.addresses()[0]);
            let root = client.mount("/vol1");
            let file = client.filled(&root, &format!("file-{number}"), FILE_BYTES);
            (client, file, pattern(FILE_BYTES))
        })
        .collect();
    for round in 0..ROUNDS {
        std::thread::scope(|scope| {
            for (number, (client, file, expected)) in clients.iter_mut().enumerate() {
                scope.spawn(move || {
                    let mut calls = Vec::new();
                    for (index, (offset, length)) in WRITES.into_iter().enumerate() {
                        let fill = (round * 50 + number * 10 + index) as u8;
                        let data: Vec<u8> =
                            (0..length).map(|at| (at / 4096) as u8 ^ fill).collect();
                        expected[offset..offset + length].copy_from_slice(&data);
                        let arguments = Arguments::Nfs(write(file, offset as u64, &data));
                        calls.extend(client.begin(&arguments).1);
                        calls.extend(client.begin(&Arguments::Nfs(getattr(file))).1);
                    }
                    client.stream.write_all(&calls).expect("send calls");
                    for _ in 0..2 * WRITES.len() {
                        client.receive();
                    }
                });
            }
        });
    }
    for (client, file, expected) in &mut clients {
        for (number, part) in expected.chunks(MIB).enumerate() {
            let reply = client.call(read(file, (number * MIB) as u64, MIB as u32));
            assert!(reply.data() == part, "MiB {number} of the file");
        }
    }
}

#[test]
fn large_writes_of_several_connections_store_their_bytes() {
    for is_on_disk in [false, true] {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let (mut options, _lines) =
            options(configured("3000MiB/s", "[limits]\nenforced = false\n"));
        options.data = is_on_disk.then(|| folder.path().into());
        let running = Running::start(options).expect("start the service");
        write_and_verify(&running);
        running.stop().expect("the service is running");
    }
}

#[test]
fn a_connection_closed_within_a_large_write_leaves_the_file_unchanged() {
    let (options, _lines) = options(configured("3000MiB/s", "[limits]\nenforced = false\n"));
    let running = Running::start(options).expect("start the service");
    let mut client = Connection::to(running.addresses()[0]);
    let root = client.mount("/vol1");
    let file = client.filled(&root, "file", MIB);
    for missing in [1, 500_000, MIB] {
        let mut other = Connection::to(running.addresses()[0]);
        let data = vec![1; MIB];
        other.call(write(&file, 0, &pattern(MIB)));
        let (_, bytes) = other.begin(&Arguments::Nfs(write(&file, 0, &data)));
        other.stream.write_all(&bytes[..bytes.len() - missing]).expect("send a part of a call");
        other.stream.shutdown(std::net::Shutdown::Write).expect("close the sending side");
        assert!(other.try_receive().is_none(), "there is no reply to a part of a call");
        assert!(client.call(read(&file, 0, MIB as u32)).data() == pattern(MIB));
    }
    running.stop().expect("the service is running");
}
