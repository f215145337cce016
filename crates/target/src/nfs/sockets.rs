//! The sockets behind [`super::files::NfsFiles`]: sending, waiting, receiving, and reconnecting.
//! The decisions are made by [`super::core::Core`].

use std::io::IoSlice;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, epoll, poll};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendAncillaryBuffer, SendFlags, recv, sendmsg, sockopt};
use uring::waiting::Events;
use workload::connection::{ConnectionCounters, Endpoint, TcpState};

use super::core::{Core, SocketAction};
use super::dial::{self, timespec};
use super::flow::Link;
use super::url::NfsUrl;
use crate::{TargetError, Wait};

/// Bytes received with one system call: small enough for the CPU's caches, because the kernel
/// copies them there immediately before they are read.
const RECEIVE_BYTES: usize = 256 << 10;
/// Pieces sent with one system call.
const PIECES: usize = 128;
/// The same for a few calls: making an array of [`PIECES`] takes longer than gathering them.
const PIECES_OF_FEW: usize = 16;
/// A call with data has three pieces.
const FEW_CALLS: usize = PIECES_OF_FEW / 3;
/// Events returned by one system call.
const EVENTS: usize = 64;
/// Receive timeout of the sockets. Changing it per call would need another system call, so shorter
/// waits use `ppoll`.
const RECEIVE_TIMEOUT: Duration = Duration::from_millis(50);

#[derive(Debug)]
struct Socket {
    address: SocketAddr,
    descriptor: Option<OwnedFd>,
    /// The send buffer is full; sending continues when the socket is writable.
    is_full: bool,
    /// Retransmissions of the earlier sockets of this connection.
    retransmits: u64,
}

/// All sockets of a worker.
pub(super) struct Sockets {
    all: Vec<Socket>,
    /// Only with several connections.
    epoll: Option<OwnedFd>,
    events: Events,
    received: Vec<u8>,
    /// Connections to send on; kept to reuse its memory.
    turn: Vec<u32>,
    privileged: bool,
}

fn drive(source: impl Into<std::io::Error>) -> TargetError {
    TargetError::Drive { target: "connections to an NFS server".to_owned(), source: source.into() }
}

impl Sockets {
    /// Opens every connection.
    pub(super) fn open(servers: &[SocketAddr], url: &NfsUrl) -> Result<Sockets, TargetError> {
        let epoll = match servers.len() {
            0 | 1 => None,
            _ => Some(epoll::create(epoll::CreateFlags::CLOEXEC).map_err(drive)?),
        };
        let mut sockets = Sockets {
            all: Vec::with_capacity(servers.len()),
            epoll,
            events: Events::new(EVENTS),
            received: vec![0; RECEIVE_BYTES],
            turn: Vec::with_capacity(servers.len()),
            privileged: url.privileged,
        };
        for (connection, address) in servers.iter().enumerate() {
            let failed = |source| TargetError::Open {
                path: format!("connection {connection} to {address}"),
                source,
            };
            let allowed = url.connect_timeout;
            // No cancellation here: the thread that waits for this one abandons it.
            let stream = dial::connect(*address, url.privileged, allowed, &mut || Ok(()));
            let stream = stream.map_err(failed)?;
            let descriptor = Some(OwnedFd::from(stream));
            sockets.all.push(Socket {
                address: *address,
                descriptor,
                is_full: false,
                retransmits: 0,
            });
            sockets
                .watch(connection, epoll::EventFlags::IN, false)
                .map_err(|error| failed(error.into()))?;
            sockets.configure(connection).map_err(|error| failed(error.into()))?;
        }
        Ok(sockets)
    }

    /// Stores the addresses of a connection in its counters.
    pub(super) fn set_endpoints(&self, connection: usize, counters: &mut ConnectionCounters) {
        let socket = &self.all[connection];
        counters.remote = endpoint(socket.address);
        let local = socket.descriptor.as_ref().map(rustix::net::getsockname);
        if let Some(Ok(local)) = local
            && let Ok(local) = SocketAddr::try_from(local)
        {
            counters.local = endpoint(local);
        }
    }

    /// The kernel's state of a connection; `None` if there is no socket or the kernel refuses.
    pub(super) fn tcp(&self, connection: usize) -> Option<TcpState> {
        let Socket { descriptor, retransmits, .. } = &self.all[connection];
        let info = uring::socket::tcp_info(descriptor.as_ref()?).ok()?;
        Some(TcpState {
            rtt_ns: nanoseconds(info.rtt_us),
            rtt_deviation_ns: nanoseconds(info.rtt_deviation_us),
            retransmits: retransmits + u64::from(info.retransmits),
        })
    }

    fn watch(
        &self,
        connection: usize,
        flags: epoll::EventFlags,
        again: bool,
    ) -> rustix::io::Result<()> {
        let (Some(epoll), Some(socket)) = (&self.epoll, &self.all[connection].descriptor) else {
            return Ok(());
        };
        let data = epoll::EventData::new_u64(connection as u64);
        if again {
            epoll::modify(epoll, socket, data, flags)
        } else {
            epoll::add(epoll, socket, data, flags)
        }
    }

    /// Makes a connected socket blocking, with a receive timeout.
    fn configure(&self, connection: usize) -> rustix::io::Result<()> {
        let socket = self.all[connection].descriptor.as_ref().expect("it was just opened");
        rustix::io::ioctl_fionbio(socket, false)?;
        sockopt::set_socket_timeout(socket, sockopt::Timeout::Recv, Some(RECEIVE_TIMEOUT))
    }

    /// Sends all queued calls.
    #[inline]
    pub(super) fn send(&mut self, core: &mut Core) {
        if core.unsent.is_empty() {
            return;
        }
        std::mem::swap(&mut self.turn, &mut core.unsent);
        for turn in 0..self.turn.len() {
            let connection = self.turn[turn] as usize;
            core.flows[connection].is_listed = false;
            self.send_on(core, connection);
        }
        self.turn.clear();
    }

    fn send_on(&mut self, core: &mut Core, connection: usize) {
        let socket = &mut self.all[connection];
        if core.flows[connection].link != Link::Up || socket.is_full {
            return;
        }
        let descriptor = socket.descriptor.as_ref().expect("a connection that is up has one");
        while core.flows[connection].has_unsent() {
            let sent = if core.flows[connection].unsent_calls() <= FEW_CALLS {
                send_pieces::<PIECES_OF_FEW>(descriptor, core, connection)
            } else {
                send_pieces::<PIECES>(descriptor, core, connection)
            };
            match sent {
                Ok(bytes) => core.flows[connection].sent(&core.calls, bytes, core.now_ns),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => {
                    socket.is_full = true;
                    let flags = epoll::EventFlags::IN | epoll::EventFlags::OUT;
                    if let Err(refused) = self.watch(connection, flags, true) {
                        self.close(core, connection, refused);
                    }
                    return;
                }
                Err(errno) => return self.close(core, connection, errno),
            }
        }
    }

    /// Waits until bytes have arrived or `wait` is over, and processes what arrived.
    #[inline]
    pub(super) fn receive(
        &mut self,
        core: &mut Core,
        wait: Wait,
        clock: &dyn Fn() -> u64,
    ) -> Result<(), TargetError> {
        let (time, coarse) = match wait {
            Wait::Poll => (Duration::ZERO, false),
            Wait::Precise(time) => (time, false),
            Wait::Coarse(time) => (time, true),
        };
        let ahead = Duration::from_nanos(core.next_ns().saturating_sub(core.now_ns));
        let time = time.min(ahead);
        if self.epoll.is_some() {
            return self.receive_of_many(core, time, clock);
        }
        let is_plain = core.flows[0].link == Link::Up && !self.all[0].is_full;
        if is_plain && coarse && time >= RECEIVE_TIMEOUT {
            self.take(core, 0, RecvFlags::empty(), clock);
            return Ok(());
        }
        // With several calls outstanding, bytes have usually arrived already.
        if is_plain && (time.is_zero() || core.flows[0].client.outstanding() > 1) {
            let taken = self.take(core, 0, RecvFlags::DONTWAIT, clock);
            if taken || time.is_zero() {
                return Ok(());
            }
        }
        self.receive_of_one(core, time, clock)
    }

    /// Waits for the only connection, in any state.
    fn receive_of_one(
        &mut self,
        core: &mut Core,
        time: Duration,
        clock: &dyn Fn() -> u64,
    ) -> Result<(), TargetError> {
        let Some(socket) = &self.all[0].descriptor else {
            std::thread::sleep(time);
            core.set_time(clock());
            return Ok(());
        };
        let mut flags = PollFlags::IN;
        if core.flows[0].link != Link::Up || self.all[0].is_full {
            flags |= PollFlags::OUT;
        }
        let mut polled = [PollFd::new(socket, flags)];
        let ready = poll(&mut polled, Some(&timespec(time)));
        let events = polled[0].revents();
        core.set_time(clock());
        match ready {
            Ok(0) | Err(Errno::INTR) => return Ok(()),
            Ok(_) => {}
            Err(refused) => return Err(drive(refused)),
        }
        self.handle_event(core, 0, events.contains(PollFlags::OUT), clock);
        Ok(())
    }

    fn receive_of_many(
        &mut self,
        core: &mut Core,
        time: Duration,
        clock: &dyn Fn() -> u64,
    ) -> Result<(), TargetError> {
        let epoll = self.epoll.as_ref().expect("several connections have one");
        self.events.wait(epoll, Some(time)).map_err(drive)?;
        core.set_time(clock());
        for event in 0..self.events.len() {
            let (flags, connection) = self.events.get(event);
            let may_send = flags & epoll::EventFlags::OUT.bits() != 0;
            self.handle_event(core, connection as usize, may_send, clock);
        }
        Ok(())
    }

    /// Handles a connection that is ready: it is established, writable or readable.
    fn handle_event(
        &mut self,
        core: &mut Core,
        connection: usize,
        may_send: bool,
        clock: &dyn Fn() -> u64,
    ) {
        if let Link::Connecting { .. } = core.flows[connection].link {
            let socket = self.all[connection].descriptor.as_ref();
            let outcome = dial::outcome(socket.expect("a connecting socket exists"));
            let configured = outcome.and_then(|()| {
                self.configure(connection)?;
                Ok(self.watch(connection, epoll::EventFlags::IN, true)?)
            });
            if let Err(error) = configured {
                return self.close(core, connection, errno(&error));
            }
            core.connected(connection);
            self.set_endpoints(connection, &mut core.counters[connection]);
            return;
        }
        if may_send && self.all[connection].is_full {
            self.all[connection].is_full = false;
            if let Err(refused) = self.watch(connection, epoll::EventFlags::IN, true) {
                return self.close(core, connection, refused);
            }
            self.send_on(core, connection);
        }
        if core.flows[connection].link == Link::Up {
            self.take(core, connection, RecvFlags::DONTWAIT, clock);
        }
    }

    /// Receives from a connection. Returns false if nothing had arrived.
    #[inline]
    fn take(
        &mut self,
        core: &mut Core,
        connection: usize,
        flags: RecvFlags,
        clock: &dyn Fn() -> u64,
    ) -> bool {
        let socket = self.all[connection].descriptor.as_ref();
        let socket = socket.expect("a connection that is up has one");
        let received = recv(socket, self.received.as_mut_slice(), flags);
        core.set_time(clock());
        match received {
            Ok((bytes, _)) if bytes > 0 => {
                if !core.received(connection, &self.received[..bytes]) {
                    self.close(core, connection, Errno::PROTO);
                }
                true
            }
            Err(Errno::AGAIN | Errno::INTR) => false,
            // The server has closed the connection; sending on it would fail with EPIPE.
            Ok(_) => {
                self.close(core, connection, Errno::PIPE);
                true
            }
            Err(errno) => {
                self.close(core, connection, errno);
                true
            }
        }
    }

    /// Closes a lost connection. Its calls are repeated over another one, so it is reset: after an
    /// ordinary close the kernel would still deliver buffered WRITEs, possibly after later ones.
    fn close(&mut self, core: &mut Core, connection: usize, errno: Errno) {
        let state = self.tcp(connection);
        let socket = &mut self.all[connection];
        if let Some(socket) = &socket.descriptor {
            let set = sockopt::set_socket_linger(socket, Some(Duration::ZERO));
            debug_assert!(set.is_ok(), "every TCP socket can be reset: {set:?}");
        }
        if let Some(state) = state {
            socket.retransmits = state.retransmits;
            core.counters[connection].tcp = Some(state);
        }
        // Closing the descriptor also removes it from the epoll set.
        socket.descriptor = None;
        socket.is_full = false;
        core.lost(connection, errno);
    }

    /// Performs an action of the core.
    pub(super) fn perform(&mut self, core: &mut Core, action: SocketAction) {
        match action {
            SocketAction::Close(connection) => self.close(core, connection, Errno::TIMEDOUT),
            SocketAction::Connect(connection) => {
                let begun = dial::begin(self.all[connection].address, self.privileged);
                let watched = begun.and_then(|socket| {
                    self.all[connection].descriptor = Some(socket);
                    Ok(self.watch(connection, epoll::EventFlags::OUT, false)?)
                });
                if let Err(error) = watched {
                    self.close(core, connection, errno(&error));
                }
            }
        }
    }
}

/// Sends the next calls of a connection, at most `N` pieces.
#[inline]
fn send_pieces<const N: usize>(
    socket: &OwnedFd,
    core: &Core,
    connection: usize,
) -> rustix::io::Result<usize> {
    let mut pieces = [IoSlice::new(&[]); N];
    let filled = core.flows[connection].gather(&core.calls, &core.buffers, &mut pieces);
    let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
    sendmsg(socket, &pieces[..filled], &mut SendAncillaryBuffer::default(), flags)
}

/// Nanoseconds in the kernel's microseconds.
pub(super) fn nanoseconds(us: u32) -> u64 {
    u64::from(us) * 1000
}

fn errno(error: &std::io::Error) -> Errno {
    error.raw_os_error().map_or(Errno::IO, Errno::from_raw_os_error)
}

fn endpoint(address: SocketAddr) -> Endpoint {
    match address.ip() {
        IpAddr::V4(ip) => Endpoint::v4(ip.octets(), address.port()),
        IpAddr::V6(ip) => Endpoint::v6(ip.octets(), address.port()),
    }
}
