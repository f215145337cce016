//! Captures made of synthetic frames. RPC messages are written word by word, independent of the codec
//! under test.

/// Bytes before IP, and the number of their kind.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Link {
    Ethernet,
    /// With a tag of a VLAN.
    Vlan,
    Cooked,
    Cooked2,
    RawIp,
    /// IP version 6 on Ethernet.
    EthernetIpv6,
}

/// The form of the file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Container {
    pub(crate) is_pcapng: bool,
    pub(crate) is_big_endian: bool,
    pub(crate) has_nanoseconds: bool,
    pub(crate) link: Link,
    /// Bytes of a packet that are kept.
    pub(crate) snap: usize,
}

impl Container {
    pub(crate) fn pcap() -> Container {
        Container {
            is_pcapng: false,
            is_big_endian: false,
            has_nanoseconds: false,
            link: Link::Ethernet,
            snap: usize::MAX,
        }
    }

    pub(crate) fn pcapng() -> Container {
        Container { is_pcapng: true, ..Container::pcap() }
    }

    fn u32(&self, value: u32) -> [u8; 4] {
        if self.is_big_endian { value.to_be_bytes() } else { value.to_le_bytes() }
    }

    fn u16(&self, value: u16) -> [u8; 2] {
        if self.is_big_endian { value.to_be_bytes() } else { value.to_le_bytes() }
    }

    fn link_type(&self) -> u32 {
        match self.link {
            Link::Ethernet | Link::Vlan | Link::EthernetIpv6 => 1,
            Link::Cooked => 113,
            Link::Cooked2 => 276,
            Link::RawIp => 101,
        }
    }
}

/// A capture of one connection between a client and a server.
pub(crate) struct Capture {
    container: Container,
    bytes: Vec<u8>,
    /// The next sequence numbers of client and server.
    next: [u32; 2],
    /// The time of the next packet, 1 ms after the one before.
    pub(crate) now_us: u64,
}

impl Capture {
    /// A capture that begins with the connection.
    pub(crate) fn new(container: Container) -> Capture {
        let mut capture = Capture::without_begin(container);
        capture.next = [u32::MAX - 100, 7];
        for from in [0, 1] {
            let sequence = capture.next[from];
            capture.packet(from, sequence, 2, &[]);
            capture.next[from] = sequence.wrapping_add(1);
        }
        capture.now_us = 1_000_000_000_000;
        capture
    }

    /// A capture that begins after the connection.
    pub(crate) fn without_begin(container: Container) -> Capture {
        let mut bytes = Vec::new();
        if container.is_pcapng {
            let mut body = container.u32(0x1a2b_3c4d).to_vec();
            body.extend([container.u16(1), container.u16(0)].concat());
            body.extend([0xff; 8]);
            block(&container, 0x0a0d_0d0a, &body, &mut bytes);
            let mut body = container.u16(container.link_type() as u16).to_vec();
            body.extend(container.u16(0));
            body.extend(container.u32(0));
            if container.has_nanoseconds {
                body.extend([container.u16(9), container.u16(1)].concat());
                body.extend([9, 0, 0, 0]);
                body.extend([0; 4]);
            }
            block(&container, 1, &body, &mut bytes);
        } else {
            let magic = if container.has_nanoseconds { 0xa1b2_3c4d } else { 0xa1b2_c3d4 };
            bytes.extend(container.u32(magic));
            bytes.extend([container.u16(2), container.u16(4)].concat());
            bytes.extend([0; 8]);
            bytes.extend(container.u32(65_535));
            bytes.extend(container.u32(container.link_type()));
        }
        Capture { container, bytes, next: [100, 200], now_us: 1_000_000_000_000 }
    }

    /// A message of the client, as one segment.
    pub(crate) fn client(&mut self, message: &[u8]) {
        self.send(0, message);
    }

    /// A message of the server.
    pub(crate) fn server(&mut self, message: &[u8]) {
        self.send(1, message);
    }

    /// Bytes of the client (0) or the server (1) as one segment.
    pub(crate) fn send(&mut self, from: usize, data: &[u8]) {
        let sequence = self.next[from];
        self.segment(from, 0, data);
        self.next[from] = sequence.wrapping_add(data.len() as u32);
    }

    /// A segment that begins this much after the next byte, which stays the next.
    pub(crate) fn segment(&mut self, from: usize, ahead: u32, data: &[u8]) {
        let sequence = self.next[from].wrapping_add(ahead);
        self.packet(from, sequence, 16, data);
    }

    /// Bytes that were sent but are not in the capture.
    pub(crate) fn lose(&mut self, from: usize, count: usize) {
        self.next[from] = self.next[from].wrapping_add(count as u32);
    }

    fn packet(&mut self, from: usize, sequence: u32, flags: u8, data: &[u8]) {
        let ports = [[700u16, 2049], [2049, 700]][from];
        let mut tcp = ports.map(u16::to_be_bytes).concat();
        tcp.extend(sequence.to_be_bytes());
        tcp.extend([0, 0, 0, 0, 0x50, flags, 0, 0, 0, 0, 0, 0]);
        tcp.extend(data);
        let hosts = [[1u8, 2], [2, 1]][from];
        let (kind, ip) = match self.container.link {
            Link::EthernetIpv6 => {
                let mut ip = vec![0x60, 0, 0, 0];
                // 0 as for a payload that is too long for the field.
                ip.extend(u16::try_from(tcp.len()).unwrap_or(0).to_be_bytes());
                ip.extend([6, 64]);
                for host in hosts {
                    ip.extend([0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, host]);
                }
                (0x86ddu16, ip)
            }
            _ => {
                let mut ip = vec![0x45, 0];
                // 0 as with segmentation offload.
                let total = u16::try_from(20 + tcp.len()).unwrap_or(0);
                ip.extend(total.to_be_bytes());
                ip.extend([0, 0, 0x40, 0, 64, 6, 0, 0]);
                for host in hosts {
                    ip.extend([10, 0, 0, host]);
                }
                (0x0800, ip)
            }
        };
        let kind = kind.to_be_bytes();
        let mut frame = match self.container.link {
            Link::Ethernet | Link::EthernetIpv6 => [&[2; 12][..], &kind].concat(),
            Link::Vlan => [&[2; 12][..], &[0x81, 0, 0, 5], &kind].concat(),
            Link::Cooked => [&[0; 14][..], &kind].concat(),
            Link::Cooked2 => [&kind[..], &[0; 18]].concat(),
            Link::RawIp => Vec::new(),
        };
        frame.extend(ip);
        frame.extend(tcp);
        self.frame(&frame);
    }

    /// Adds a frame.
    pub(crate) fn frame(&mut self, frame: &[u8]) {
        let container = self.container;
        let kept = &frame[..frame.len().min(container.snap)];
        let scale = if container.has_nanoseconds { 1000 } else { 1 };
        if container.is_pcapng {
            let ticks = self.now_us * scale;
            let mut body = container.u32(0).to_vec();
            body.extend(container.u32((ticks >> 32) as u32));
            body.extend(container.u32(ticks as u32));
            body.extend(container.u32(kept.len() as u32));
            body.extend(container.u32(frame.len() as u32));
            body.extend(kept);
            body.resize(body.len().next_multiple_of(4), 0);
            block(&container, 6, &body, &mut self.bytes);
        } else {
            let (seconds, micros) = (self.now_us / 1_000_000, self.now_us % 1_000_000);
            for word in [seconds, micros * scale, kept.len() as u64, frame.len() as u64] {
                self.bytes.extend(container.u32(word as u32));
            }
            self.bytes.extend(kept);
        }
        self.now_us += 1000;
    }

    /// The file.
    pub(crate) fn bytes(self) -> Vec<u8> {
        self.bytes
    }
}

/// A block of pcapng.
fn block(container: &Container, kind: u32, body: &[u8], bytes: &mut Vec<u8>) {
    let length = container.u32(12 + body.len() as u32);
    bytes.extend(container.u32(kind));
    bytes.extend(length);
    bytes.extend(body);
    bytes.extend(length);
}

fn record(words: &[u32]) -> Vec<u8> {
    let mark = 1 << 31 | (words.len() as u32 * 4);
    [mark].iter().chain(words).flat_map(|word| word.to_be_bytes()).collect()
}

/// A call of NFS 3 with AUTH_SYS of a host with a short name.
pub(crate) fn call(xid: u32, procedure: u32, arguments: &[u32]) -> Vec<u8> {
    let head = [xid, 0, 2, 100_003, 3, procedure, 1, 24, 9, 1, 0x6100_0000, 0, 0, 0, 0, 0];
    record(&[&head[..], arguments].concat())
}

/// A reply that was performed.
pub(crate) fn reply(xid: u32, results: &[u32]) -> Vec<u8> {
    record(&[&[xid, 1, 0, 0, 0, 0][..], results].concat())
}

/// The words of an opaque.
pub(crate) fn opaque(bytes: &[u8]) -> Vec<u32> {
    let mut padded = bytes.to_vec();
    padded.resize(bytes.len().next_multiple_of(4), 0);
    let words = padded.chunks(4).map(|word| u32::from_be_bytes(word.try_into().unwrap()));
    std::iter::once(bytes.len() as u32).chain(words).collect()
}

/// Attributes of a file of this size, after the word that they follow.
fn attributes(size: u32) -> Vec<u32> {
    let mut words = vec![1, 1, 0o644, 1, 0, 0, 0, size];
    words.extend([0; 14]);
    words
}

pub(crate) fn read_call(xid: u32, handle: &[u8], offset: u64, count: u32) -> Vec<u8> {
    let offset = [(offset >> 32) as u32, offset as u32];
    call(xid, 6, &[&opaque(handle)[..], &offset, &[count]].concat())
}

/// A reply of READ with data.
pub(crate) fn read_reply(xid: u32, count: u32, file_size: u32) -> Vec<u8> {
    let data = opaque(&vec![0x5a; count as usize]);
    reply(xid, &[&[0][..], &attributes(file_size), &[count, 0], &data].concat())
}

/// A call of WRITE with data.
pub(crate) fn write_call(xid: u32, handle: &[u8], offset: u64, count: u32, stable: u32) -> Vec<u8> {
    let range = [(offset >> 32) as u32, offset as u32, count, stable];
    let data = opaque(&vec![0xa5; count as usize]);
    call(xid, 7, &[&opaque(handle)[..], &range, &data].concat())
}

pub(crate) fn write_reply(xid: u32, count: u32, file_size: u32) -> Vec<u8> {
    let attributes = attributes(file_size);
    reply(xid, &[&[0, 0][..], &attributes, &[count, 2, 0, 0]].concat())
}
