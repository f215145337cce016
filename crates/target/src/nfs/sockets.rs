//! The sockets behind the connections of [`super::files::NfsFiles`]: sending, waiting, receiving,
//! and making lost ones anew. No decisions: those are [`super::core::Core`]'s.

use std::io::IoSlice;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, epoll, poll};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendAncillaryBuffer, SendFlags, recv, sendmsg, sockopt};
use uring::waiting::Events;
use workload::connection::{ConnectionCounters, Endpoint, TcpState};

use super::core::{Core, Wanted};
use super::dial::{self, timespec};
use super::files::tcp_state;
use super::flow::Link;
use super::url::NfsUrl;
use crate::{TargetError, Wait};

/// Received at a time: what fits the caches near the processor, for the kernel copies into it and
/// we read it at once.
const RECEIVE_BYTES: usize = 256 << 10;
/// Pieces sent in one system call.
const PIECES: usize = 128;
/// Connections told of by one system call.
const EVENTS: usize = 64;
/// A receiving call returns after this long with nothing. Setting it for each call would be another
/// system call, so shorter waits than this are made by `ppoll`.
const STANDING: Duration = Duration::from_millis(50);

#[derive(Debug)]
struct Socket {
    address: SocketAddr,
    descriptor: Option<OwnedFd>,
    /// It takes no more at the moment: sent again when it does.
    is_full: bool,
    /// Of the sockets that this connection had before.
    retransmits: u64,
}

/// All sockets of a target.
pub(super) struct Sockets {
    all: Vec<Socket>,
    /// With several connections.
    epoll: Option<OwnedFd>,
    events: Events,
    received: Vec<u8>,
    /// Places of the connections to send on, while they are gone through.
    turn: Vec<u32>,
    privileged: bool,
}

fn drive(source: impl Into<std::io::Error>) -> TargetError {
    TargetError::Drive { target: "connections to an NFS server".to_owned(), source: source.into() }
}

impl Sockets {
    /// Makes every connection.
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
        for (place, address) in servers.iter().enumerate() {
            let failed = |source| TargetError::Open {
                path: format!("connection {place} to {address}"),
                source,
            };
            let allowed = url.connect_timeout;
            // Whoever waits for this thread gives it up when the user wants to end.
            let stream = dial::connect(*address, url.privileged, allowed, &mut || Ok(()));
            let stream = stream.map_err(failed)?;
            let descriptor = Some(OwnedFd::from(stream));
            sockets.all.push(Socket {
                address: *address,
                descriptor,
                is_full: false,
                retransmits: 0,
            });
            sockets.watch(place, epoll::EventFlags::IN, false).map_err(|e| failed(e.into()))?;
            sockets.made(place).map_err(|error| failed(error.into()))?;
        }
        Ok(sockets)
    }

    /// Says which ends a connection has.
    pub(super) fn name_ends(&self, place: usize, counters: &mut ConnectionCounters) {
        let socket = &self.all[place];
        counters.remote = endpoint(socket.address);
        let local = socket.descriptor.as_ref().map(rustix::net::getsockname);
        if let Some(Ok(local)) = local
            && let Ok(local) = SocketAddr::try_from(local)
        {
            counters.local = endpoint(local);
        }
    }

    /// What the kernel says of a connection.
    pub(super) fn tcp(&self, place: usize) -> Option<TcpState> {
        let Socket { descriptor, retransmits, .. } = &self.all[place];
        tcp_state(descriptor.as_ref()?, *retransmits)
    }

    fn watch(&self, place: usize, flags: epoll::EventFlags, again: bool) -> rustix::io::Result<()> {
        let (Some(epoll), Some(socket)) = (&self.epoll, &self.all[place].descriptor) else {
            return Ok(());
        };
        let data = epoll::EventData::new_u64(place as u64);
        if again {
            epoll::modify(epoll, socket, data, flags)
        } else {
            epoll::add(epoll, socket, data, flags)
        }
    }

    /// A connection was made: sets how its socket waits.
    fn made(&self, place: usize) -> rustix::io::Result<()> {
        let socket = self.all[place].descriptor.as_ref().expect("it was just made");
        rustix::io::ioctl_fionbio(socket, false)?;
        sockopt::set_socket_timeout(socket, sockopt::Timeout::Recv, Some(STANDING))
    }

    /// Sends what is to be sent.
    #[inline]
    pub(super) fn send(&mut self, core: &mut Core) {
        if core.unsent.is_empty() {
            return;
        }
        std::mem::swap(&mut self.turn, &mut core.unsent);
        for turn in 0..self.turn.len() {
            let place = self.turn[turn] as usize;
            core.flows[place].is_listed = false;
            self.send_on(core, place);
        }
        self.turn.clear();
    }

    fn send_on(&mut self, core: &mut Core, place: usize) {
        let socket = &mut self.all[place];
        if core.flows[place].link != Link::Up || socket.is_full {
            return;
        }
        let descriptor = socket.descriptor.as_ref().expect("a connection that is up has one");
        while core.flows[place].has_unsent() {
            let mut pieces = [IoSlice::new(&[]); PIECES];
            let filled = core.flows[place].gather(&core.calls, &core.buffers, &mut pieces);
            let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
            let mut control = SendAncillaryBuffer::default();
            match sendmsg(descriptor, &pieces[..filled], &mut control, flags) {
                Ok(bytes) => core.flows[place].sent(&core.calls, bytes, core.now_ns),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => {
                    socket.is_full = true;
                    let flags = epoll::EventFlags::IN | epoll::EventFlags::OUT;
                    if let Err(refused) = self.watch(place, flags, true) {
                        self.close(core, place, refused);
                    }
                    return;
                }
                Err(errno) => return self.close(core, place, errno),
            }
        }
    }

    /// Waits until something has arrived or `wait` is over, and takes it.
    #[inline]
    pub(super) fn receive(
        &mut self,
        core: &mut Core,
        wait: Wait,
        clock: &dyn Fn() -> u64,
    ) -> Result<(), TargetError> {
        let (time, coarse) = match wait {
            Wait::Look => (Duration::ZERO, false),
            Wait::Precise(time) => (time, false),
            Wait::Coarse(time) => (time, true),
        };
        let ahead = Duration::from_nanos(core.next_ns().saturating_sub(core.now_ns));
        let time = time.min(ahead);
        if self.epoll.is_some() {
            return self.receive_of_many(core, time, clock);
        }
        let is_plain = core.flows[0].link == Link::Up && !self.all[0].is_full;
        if is_plain && coarse && time >= STANDING {
            self.take(core, 0, RecvFlags::empty(), clock);
            return Ok(());
        }
        // With several calls outstanding something has mostly arrived already.
        if is_plain && (time.is_zero() || core.flows[0].client.outstanding() > 1) {
            let taken = self.take(core, 0, RecvFlags::DONTWAIT, clock);
            if taken || time.is_zero() {
                return Ok(());
            }
        }
        self.receive_of_one(core, time, clock)
    }

    /// Waits for the only connection, whatever state it is in.
    fn receive_of_one(
        &mut self,
        core: &mut Core,
        time: Duration,
        clock: &dyn Fn() -> u64,
    ) -> Result<(), TargetError> {
        let Some(socket) = &self.all[0].descriptor else {
            std::thread::sleep(time);
            core.at(clock());
            return Ok(());
        };
        let mut flags = PollFlags::IN;
        if core.flows[0].link != Link::Up || self.all[0].is_full {
            flags |= PollFlags::OUT;
        }
        let mut polled = [PollFd::new(socket, flags)];
        let answer = poll(&mut polled, Some(&timespec(time)));
        let seen = polled[0].revents();
        core.at(clock());
        match answer {
            Ok(0) | Err(Errno::INTR) => return Ok(()),
            Ok(_) => {}
            Err(refused) => return Err(drive(refused)),
        }
        self.look_at(core, 0, seen.contains(PollFlags::OUT), clock);
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
        core.at(clock());
        for event in 0..self.events.len() {
            let (flags, place) = self.events.get(event);
            let may_send = flags & epoll::EventFlags::OUT.bits() != 0;
            self.look_at(core, place as usize, may_send, clock);
        }
        Ok(())
    }

    /// Something is to be done for a connection: it is made, or can be sent on, or something has
    /// arrived.
    fn look_at(&mut self, core: &mut Core, place: usize, may_send: bool, clock: &dyn Fn() -> u64) {
        if let Link::Connecting { .. } = core.flows[place].link {
            let socket = self.all[place].descriptor.as_ref();
            let outcome = dial::outcome(socket.expect("what is being made has a socket"));
            let made = outcome.and_then(|()| {
                self.made(place)?;
                Ok(self.watch(place, epoll::EventFlags::IN, true)?)
            });
            if let Err(error) = made {
                return self.close(core, place, errno(&error));
            }
            core.connected(place);
            self.name_ends(place, &mut core.counters[place]);
            return;
        }
        if may_send && self.all[place].is_full {
            self.all[place].is_full = false;
            if let Err(refused) = self.watch(place, epoll::EventFlags::IN, true) {
                return self.close(core, place, refused);
            }
            self.send_on(core, place);
        }
        if core.flows[place].link == Link::Up {
            self.take(core, place, RecvFlags::DONTWAIT, clock);
        }
    }

    /// Takes what has arrived on a connection. False: nothing has.
    #[inline]
    fn take(
        &mut self,
        core: &mut Core,
        place: usize,
        flags: RecvFlags,
        clock: &dyn Fn() -> u64,
    ) -> bool {
        let socket = self.all[place].descriptor.as_ref();
        let socket = socket.expect("a connection that is up has one");
        let answer = recv(socket, self.received.as_mut_slice(), flags);
        core.at(clock());
        match answer {
            Ok((bytes, _)) if bytes > 0 => {
                if !core.received(place, &self.received[..bytes]) {
                    self.close(core, place, Errno::PROTO);
                }
                true
            }
            Err(Errno::AGAIN | Errno::INTR) => false,
            // The server has closed it: what is written to it would be refused so.
            Ok(_) => {
                self.close(core, place, Errno::PIPE);
                true
            }
            Err(errno) => {
                self.close(core, place, errno);
                true
            }
        }
    }

    /// Gives a connection up. Its calls go over another one, so nothing of them may arrive over
    /// this one any more: it is reset, for after a plain close the kernel would go on to deliver
    /// what it had taken, old WRITEs after those that came later.
    fn close(&mut self, core: &mut Core, place: usize, errno: Errno) {
        let state = self.tcp(place);
        let socket = &mut self.all[place];
        if let Some(socket) = &socket.descriptor {
            let set = sockopt::set_socket_linger(socket, Some(Duration::ZERO));
            debug_assert!(set.is_ok(), "every TCP socket can be told to be reset: {set:?}");
        }
        if let Some(state) = state {
            socket.retransmits = state.retransmits;
            core.counters[place].tcp = Some(state);
        }
        // With its last descriptor it leaves the epoll set.
        socket.descriptor = None;
        socket.is_full = false;
        core.lost(place, errno);
    }

    /// Does what the core asks for.
    pub(super) fn provide(&mut self, core: &mut Core, wanted: Wanted) {
        match wanted {
            Wanted::Close(place) => self.close(core, place as usize, Errno::TIMEDOUT),
            Wanted::Connect(place) => {
                let place = place as usize;
                let begun = dial::begin(self.all[place].address, self.privileged);
                let watched = begun.and_then(|socket| {
                    self.all[place].descriptor = Some(socket);
                    Ok(self.watch(place, epoll::EventFlags::OUT, false)?)
                });
                if let Err(error) = watched {
                    self.close(core, place, errno(&error));
                }
            }
        }
    }
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
