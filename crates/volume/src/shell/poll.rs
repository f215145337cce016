//! Waiting for many sockets at once, and for an instant.
//!
//! For: epoll, level-triggered, behind three functions. Not for: who the sockets are; each has a
//! number that its owner chose.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use rustix::event::{EventfdFlags, eventfd};
use uring::waiting;

/// Events that one wait can bring.
const EVENTS: usize = 512;

/// The kernel lets an epoll wait end late by up to a thousandth of its length (`fs/select.c`,
/// `select_estimate_accuracy`). Waits longer than this are cut short of their end, so that the
/// last one is exact to a few microseconds.
const EXACT_NS: u64 = 10_000_000;

/// What is waited for at a socket.
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

/// What happened at a socket.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Happened {
    pub(crate) number: u64,
    /// Something can be read, or the peer has nothing more to say.
    pub(crate) readable: bool,
    pub(crate) writable: bool,
    /// Both directions are closed, or the connection failed.
    pub(crate) over: bool,
}

/// The set of sockets.
#[derive(Debug)]
pub(crate) struct Poll(OwnedFd);

/// What one wait brought; made in the thread that waits.
pub(crate) struct Events(waiting::Events);

impl Events {
    pub(crate) fn new() -> Events {
        Events(waiting::Events::new(EVENTS))
    }

    pub(crate) fn happened(&self, index: usize) -> Happened {
        let (flags, number) = self.0.get(index);
        let flags = EventFlags::from_bits_retain(flags);
        let over = flags.intersects(EventFlags::HUP | EventFlags::ERR);
        Happened {
            number,
            readable: flags.contains(EventFlags::IN),
            writable: flags.contains(EventFlags::OUT),
            over,
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

    /// Waits for sockets, at most so long (`None`: for ever), and says how many events there are.
    /// It may end early without any.
    ///
    /// To be exact to less than a millisecond this must be `epoll_pwait2` (Linux 5.11), which
    /// rustix takes with its feature `linux_5_11` only.
    pub(crate) fn wait(&self, events: &mut Events, timeout_ns: Option<u64>) -> io::Result<usize> {
        let timeout = timeout_ns
            .map(|ns| Duration::from_nanos(if ns > EXACT_NS { ns - ns / 16 } else { ns }));
        events.0.wait(&self.0, timeout)?;
        Ok(events.0.len())
    }
}

/// Ends a wait from another thread.
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

    /// Wakes; a waker that was not drained since is awake already.
    pub(crate) fn wake(&self) {
        let awake = rustix::io::write(&self.0, &1_u64.to_ne_bytes());
        debug_assert!(matches!(awake, Ok(8) | Err(rustix::io::Errno::AGAIN)), "{awake:?}");
    }

    /// Lets the next wait sleep again.
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
    fn a_wait_tells_which_socket_can_do_what() {
        let (poll, mut events) = (Poll::new().unwrap(), Events::new());
        let (mut ours, mut theirs) = UnixStream::pair().unwrap();
        poll.add(&ours, 7, Interest::READ).unwrap();
        assert_eq!(poll.wait(&mut events, Some(0)).unwrap(), 0);
        theirs.write_all(b"x").unwrap();
        for _ in 0..2 {
            assert_eq!(
                poll.wait(&mut events, None).unwrap(),
                1,
                "level-triggered: until it is read"
            );
            let happened = events.happened(0);
            assert_eq!((happened.number, happened.readable), (7, true));
            assert!(!happened.writable && !happened.over);
        }
        ours.read_exact(&mut [0]).unwrap();
        poll.change(&ours, 8, Interest { read: false, write: true }).unwrap();
        assert_eq!(poll.wait(&mut events, None).unwrap(), 1);
        assert!(events.happened(0).writable && events.happened(0).number == 8);
        drop(theirs);
        poll.change(&ours, 9, Interest { read: false, write: false }).unwrap();
        assert_eq!(poll.wait(&mut events, None).unwrap(), 1);
        assert!(events.happened(0).over);
    }

    #[test]
    fn a_wait_may_be_shorter_than_a_millisecond() {
        let (poll, mut events) = (Poll::new().unwrap(), Events::new());
        let mut wait = |ns| {
            let begun = std::time::Instant::now();
            assert_eq!(poll.wait(&mut events, Some(ns)).unwrap(), 0);
            begun.elapsed().as_nanos() as u64
        };
        // Where waits were rounded up to milliseconds the two would last equally long, so either
        // would be the longer one by chance: 75 of 100 have a probability of 3e-7. Where they are
        // not, only a wait that is held up by 0.9 ms in 26 of 100 pairs makes this fail.
        let shorter = (0..100).filter(|_| {
            let [short, long] = [100_000, 1_000_000].map(&mut wait);
            assert!(short >= 100_000, "a wait of 100 us ended after {short} ns");
            short < long
        });
        let shorter = shorter.count();
        assert!(shorter >= 75, "{shorter} of 100 waits of 100 us were shorter than one of 1 ms");
    }

    #[test]
    fn a_waker_ends_one_wait_however_often_it_was_woken() {
        let (poll, mut events) = (Poll::new().unwrap(), Events::new());
        let waker = Waker::new().unwrap();
        poll.add(waker.fd(), 1, Interest::READ).unwrap();
        let theirs = waker.clone().unwrap();
        std::thread::spawn(move || (theirs.wake(), theirs.wake())).join().unwrap();
        assert_eq!(poll.wait(&mut events, None).unwrap(), 1);
        waker.drain();
        assert_eq!(poll.wait(&mut events, Some(0)).unwrap(), 0);
    }
}
