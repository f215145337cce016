//! Waiting for events of many sockets, with a timeout: level-triggered epoll.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use rustix::event::{EventfdFlags, eventfd};
use uring::waiting;

/// Most events that one wait returns.
const EVENTS: usize = 512;

/// The kernel may end an epoll wait late by a thousandth of its length (`fs/select.c`,
/// `select_estimate_accuracy`). Longer waits than this are shortened, so that the last one is exact
/// to a few microseconds.
const EXACT_NS: u64 = 10_000_000;

/// The events of interest of a socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Interest {
    pub(crate) read: bool,
    pub(crate) write: bool,
}

impl Interest {
    pub(crate) const READ: Interest = Interest { read: true, write: false };

    fn flags(self) -> EventFlags {
        let mut flags = EventFlags::empty();
        flags.set(EventFlags::IN, self.read);
        flags.set(EventFlags::OUT, self.write);
        flags
    }
}

/// An event of a socket.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Event {
    /// The number that the socket was added with.
    pub(crate) number: u64,
    /// Bytes can be read, or the peer closed its sending side.
    pub(crate) is_readable: bool,
    pub(crate) is_writable: bool,
    /// Both directions are closed, or the connection failed.
    pub(crate) is_closed: bool,
}

/// The set of sockets, each with a number.
#[derive(Debug)]
pub(crate) struct Poll(OwnedFd);

/// The events of one wait. Created in the thread that waits.
pub(crate) struct Events(waiting::Events);

impl Events {
    pub(crate) fn new() -> Events {
        Events(waiting::Events::new(EVENTS))
    }

    pub(crate) fn get(&self, index: usize) -> Event {
        let (flags, number) = self.0.get(index);
        let flags = EventFlags::from_bits_retain(flags);
        Event {
            number,
            is_readable: flags.contains(EventFlags::IN),
            is_writable: flags.contains(EventFlags::OUT),
            is_closed: flags.intersects(EventFlags::HUP | EventFlags::ERR),
        }
    }
}

impl Poll {
    pub(crate) fn new() -> io::Result<Poll> {
        Ok(Poll(epoll::create(CreateFlags::CLOEXEC)?))
    }

    pub(crate) fn add(&self, fd: impl AsFd, number: u64, interest: Interest) -> io::Result<()> {
        Ok(epoll::add(&self.0, fd, EventData::new_u64(number), interest.flags())?)
    }

    pub(crate) fn change(&self, fd: impl AsFd, number: u64, interest: Interest) -> io::Result<()> {
        Ok(epoll::modify(&self.0, fd, EventData::new_u64(number), interest.flags())?)
    }

    /// Waits for events, at most for the timeout (`None`: without one), and returns how many there
    /// are. May return early without any.
    ///
    /// Timeouts below a millisecond need `epoll_pwait2` (Linux 5.11), which rustix uses only with its
    /// feature `linux_5_11`; hence `uring::waiting`.
    pub(crate) fn wait(&self, events: &mut Events, timeout_ns: Option<u64>) -> io::Result<usize> {
        let timeout = timeout_ns
            .map(|ns| Duration::from_nanos(if ns > EXACT_NS { ns - ns / 16 } else { ns }));
        events.0.wait(&self.0, timeout)?;
        Ok(events.0.len())
    }
}

/// Ends a wait of another thread.
#[derive(Debug)]
pub(crate) struct Waker(OwnedFd);

impl Waker {
    pub(crate) fn new() -> io::Result<Waker> {
        Ok(Waker(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?))
    }

    pub(crate) fn fd(&self) -> impl AsFd {
        &self.0
    }

    pub(crate) fn clone(&self) -> io::Result<Waker> {
        Ok(Waker(self.0.try_clone()?))
    }

    /// Ends the current or next wait.
    pub(crate) fn wake(&self) {
        let awake = rustix::io::write(&self.0, &1_u64.to_ne_bytes());
        debug_assert!(matches!(awake, Ok(8) | Err(rustix::io::Errno::AGAIN)), "{awake:?}");
    }

    /// Resets the waker after it ended a wait.
    pub(crate) fn drain(&self) {
        let drained = rustix::io::read(&self.0, &mut [0_u8; 8]);
        debug_assert!(matches!(drained, Ok(8) | Err(rustix::io::Errno::AGAIN)), "{drained:?}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::os::unix::net::UnixStream;

    #[test]
    fn events_have_the_socket_and_its_state() {
        let (poll, mut events) = (Poll::new().unwrap(), Events::new());
        let (mut ours, mut theirs) = UnixStream::pair().unwrap();
        poll.add(&ours, 7, Interest::READ).unwrap();
        assert_eq!(poll.wait(&mut events, Some(0)).unwrap(), 0);
        theirs.write_all(b"x").unwrap();
        for _ in 0..2 {
            // Level-triggered: the event is repeated until the byte is read.
            assert_eq!(poll.wait(&mut events, None).unwrap(), 1);
            let event = events.get(0);
            assert_eq!((event.number, event.is_readable), (7, true));
            assert!(!event.is_writable && !event.is_closed);
        }
        ours.read_exact(&mut [0]).unwrap();
        poll.change(&ours, 8, Interest { read: false, write: true }).unwrap();
        assert_eq!(poll.wait(&mut events, None).unwrap(), 1);
        assert!(events.get(0).is_writable && events.get(0).number == 8);
        drop(theirs);
        poll.change(&ours, 9, Interest { read: false, write: false }).unwrap();
        assert_eq!(poll.wait(&mut events, None).unwrap(), 1);
        assert!(events.get(0).is_closed);
    }

    #[test]
    fn a_wait_can_be_shorter_than_a_millisecond() {
        let (poll, mut events) = (Poll::new().unwrap(), Events::new());
        let mut wait = |ns| {
            let started = std::time::Instant::now();
            assert_eq!(poll.wait(&mut events, Some(ns)).unwrap(), 0);
            started.elapsed().as_nanos() as u64
        };
        // If waits were rounded up to milliseconds, both would last equally long, and chance would
        // make the first shorter in 75 of 100 pairs with a probability of 3e-7. If they are exact,
        // the test fails only if 26 of 100 waits are delayed by 0.9 ms.
        let shorter = (0..100).filter(|_| {
            let [short, long] = [100_000, 1_000_000].map(&mut wait);
            assert!(short >= 100_000, "a wait of 100 us ended after {short} ns");
            short < long
        });
        let shorter = shorter.count();
        assert!(shorter >= 75, "{shorter} of 100 waits of 100 us were shorter than one of 1 ms");
    }

    #[test]
    fn a_waker_ends_one_wait_however_often_it_is_used() {
        let (poll, mut events) = (Poll::new().unwrap(), Events::new());
        let waker = Waker::new().unwrap();
        poll.add(waker.fd(), 1, Interest::READ).unwrap();
        let other = waker.clone().unwrap();
        std::thread::spawn(move || (other.wake(), other.wake())).join().unwrap();
        assert_eq!(poll.wait(&mut events, None).unwrap(), 1);
        waker.drain();
        assert_eq!(poll.wait(&mut events, Some(0)).unwrap(), 0);
    }
}
