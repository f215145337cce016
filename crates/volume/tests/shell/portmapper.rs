//! The portmapper over UDP, with a hand-written client (RFC 1833, section 3; RFC 5531).

use std::net::{SocketAddr, UdpSocket};

use volume::shell::Running;

use crate::harness::{TIMEOUT, configured, options};

const PORTMAPPER: u32 = 100_000;
const NFS: u32 = 100_003;
const MOUNT: u32 = 100_005;
const NULL: u32 = 0;
const SET: u32 = 1;
const GETPORT: u32 = 3;
const DUMP: u32 = 4;
const CALLIT: u32 = 5;

/// The longest answer: DUMP with four mappings.
const LONGEST_ANSWER: usize = 108;

fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_be_bytes()).collect()
}

/// A call with RPC version 2, without credential and verifier.
fn encode_call(xid: u32, program: u32, version: u32, procedure: u32, arguments: &[u32]) -> Vec<u8> {
    bytes(&[&[xid, 0, 2, program, version, procedure, 0, 0, 0, 0], arguments].concat())
}

struct Client(UdpSocket);

impl Client {
    fn of(portmapper: SocketAddr) -> Client {
        let socket = UdpSocket::bind("127.0.0.1:0").expect("a socket");
        socket.connect(portmapper).expect("set the peer");
        socket.set_read_timeout(Some(TIMEOUT)).expect("set a timeout");
        Client(socket)
    }

    fn send(&self, datagram: &[u8]) {
        assert_eq!(self.0.send(datagram).expect("send a datagram"), datagram.len());
    }

    /// The words of the next datagram.
    fn receive(&self) -> Vec<u32> {
        let mut buffer = [0; 2048];
        let count = self.0.recv(&mut buffer).expect("an answer");
        assert!(count <= LONGEST_ANSWER, "{count} bytes");
        let words = buffer[..count].chunks(4);
        words.map(|word| u32::from_be_bytes(word.try_into().expect("whole words"))).collect()
    }

    /// The status and the results of an accepted reply.
    fn call(&self, program: u32, version: u32, procedure: u32, arguments: &[u32]) -> Vec<u32> {
        self.send(&encode_call(77, program, version, procedure, arguments));
        let answer = self.receive();
        assert_eq!(answer[..5], [77, 1, 0, 0, 0], "a reply, accepted, without verifier");
        answer[5..].to_vec()
    }
}

fn running() -> (Running, SocketAddr, u32) {
    let (mut options, _lines) = options(configured("64MiB/s", ""));
    options.portmapper = Some(0);
    let running = Running::start(options).expect("start the service");
    let (portmapper, nfs) = (running.portmappers()[0], running.addresses()[0].port());
    (running, portmapper, nfs.into())
}

#[test]
fn getport_and_dump_are_answered_over_udp() {
    let (_running, portmapper, nfs) = running();
    let client = Client::of(portmapper);
    let (tcp, udp) = (6, 17);
    assert_eq!(client.call(PORTMAPPER, 2, NULL, &[]), [0]);
    for (program, version, protocol, port) in [
        (NFS, 3, tcp, nfs),
        (MOUNT, 3, tcp, nfs),
        (PORTMAPPER, 2, tcp, nfs),
        (PORTMAPPER, 2, udp, portmapper.port().into()),
        (NFS, 4, tcp, 0),
        (NFS, 3, udp, 0),
        (MOUNT, 3, udp, 0),
        (100_021, 3, tcp, 0),
    ] {
        let answer = client.call(PORTMAPPER, 2, GETPORT, &[program, version, protocol, 0]);
        assert_eq!(answer, [0, port], "program {program} version {version} over {protocol}");
    }
    let listed = client.call(PORTMAPPER, 2, DUMP, &[]);
    let mut expected = vec![0];
    expected.extend([1, NFS, 3, tcp, nfs, 1, MOUNT, 3, tcp, nfs, 1, PORTMAPPER, 2, tcp, nfs]);
    expected.extend([1, PORTMAPPER, 2, udp, portmapper.port().into(), 0]);
    assert_eq!(listed, expected);
}

#[test]
fn over_udp_the_portmapper_registers_and_forwards_nothing_and_serves_no_other_program() {
    let (_running, portmapper, _) = running();
    let client = Client::of(portmapper);
    assert_eq!(client.call(PORTMAPPER, 2, SET, &[NFS, 3, 17, 9]), [0, 0], "answered FALSE");
    // Procedure unavailable, program unavailable, versions 2 to 2 only, garbage arguments.
    assert_eq!(client.call(PORTMAPPER, 2, CALLIT, &[NFS, 3, 0, 0]), [3]);
    assert_eq!(client.call(NFS, 3, 0, &[]), [1]);
    assert_eq!(client.call(MOUNT, 3, 5, &[]), [1]);
    assert_eq!(client.call(PORTMAPPER, 4, 0, &[]), [2, 2, 2]);
    assert_eq!(client.call(PORTMAPPER, 2, GETPORT, &[NFS]), [4]);
}

#[test]
fn datagrams_that_are_no_calls_or_too_long_get_no_answer() {
    let (_running, portmapper, nfs) = running();
    let client = Client::of(portmapper);
    let getport = encode_call(1, PORTMAPPER, 2, GETPORT, &[NFS, 3, 6, 0]);
    for datagram in [
        Vec::new(),
        vec![0; 3],
        vec![0xff; 1024],
        // A reply; otherwise two services could answer each other forever.
        bytes(&[1, 1, 0, 0, 0, 0]),
        [getport.clone(), vec![0; 1024]].concat(),
    ] {
        client.send(&datagram);
    }
    // Datagrams of one socket arrive in order on loopback, so the next answer shows that there was no
    // earlier one.
    assert_eq!(client.call(PORTMAPPER, 2, GETPORT, &[NFS, 3, 6, 0]), [0, nfs]);
}
