//! Waiting at an epoll set for an instant that is told in nanoseconds, on every kernel.
//!
//! For: `epoll_pwait2` where the kernel has it (Linux 5.11), and else `ppoll` at the set with the
//! same timeout and then a look into it, which is one system call more. Which of them is found out
//! with the first wait that has a timeout. Not for: the set itself, and what its numbers mean.

use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Whether the kernel was seen, or said, to know no `epoll_pwait2`. Nothing else hangs on it.
static IS_OLD: AtomicBool = AtomicBool::new(false);

/// Makes this process wait as on a kernel before Linux 5.11, to try that on a newer one.
pub fn wait_as_before_linux_5_11() {
    IS_OLD.store(true, Ordering::Relaxed);
}

/// What one wait brought. Its memory is taken once.
pub struct Events(Vec<libc::epoll_event>);

impl std::fmt::Debug for Events {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Events({} of {})", self.0.len(), self.0.capacity())
    }
}

impl Events {
    /// Room for this many events of one wait.
    #[must_use]
    pub fn new(most: usize) -> Events {
        Events(Vec::with_capacity(most))
    }

    /// How many there are.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether the wait brought nothing.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The flags of an event (`EPOLLIN` and so on), and the number of the socket that it is of.
    ///
    /// # Panics
    /// There are not so many.
    #[must_use]
    pub fn get(&self, index: usize) -> (u32, u64) {
        let libc::epoll_event { events, u64 } = self.0[index];
        (events, u64)
    }

    /// Waits at most so long (`None`: for ever) for something to happen at a set, and holds what
    /// did from then on. A signal ends the wait early, with nothing.
    ///
    /// # Errors
    /// It is no set of epoll.
    pub fn wait(&mut self, set: impl AsFd, timeout: Option<Duration>) -> io::Result<()> {
        self.0.clear();
        let set = set.as_fd().as_raw_fd();
        let waited = match timeout {
            None => self.wait_plainly(set, -1),
            Some(Duration::ZERO) => self.wait_plainly(set, 0),
            Some(time) if IS_OLD.load(Ordering::Relaxed) => self.wait_in_two(set, time),
            Some(time) => match self.wait_in_one(set, time) {
                // Filters of system calls made before there was this one say EPERM.
                Err(error) if matches!(error.raw_os_error(), Some(libc::ENOSYS | libc::EPERM)) => {
                    IS_OLD.store(true, Ordering::Relaxed);
                    self.wait_in_two(set, time)
                }
                waited => waited,
            },
        };
        match waited {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(()),
            waited => waited,
        }
    }

    /// * `timeout` — in milliseconds; -1 is for ever
    fn wait_plainly(&mut self, set: i32, timeout: i32) -> io::Result<()> {
        let most = i32::try_from(self.0.capacity()).unwrap_or(i32::MAX);
        // SAFETY: the kernel writes at most `most` events into memory that the vector has for them.
        let count = unsafe { libc::epoll_wait(set, self.0.as_mut_ptr(), most, timeout) };
        self.hold(i64::from(count))
    }

    fn wait_in_one(&mut self, set: i32, time: Duration) -> io::Result<()> {
        let most = i32::try_from(self.0.capacity()).unwrap_or(i32::MAX);
        // As the kernel has it on every machine: two numbers of 64 bits.
        let time = [seconds(time), i64::from(time.subsec_nanos())];
        // SAFETY: as above; `time` lives until the call returns, and there is no mask of signals.
        let count = unsafe {
            libc::syscall(
                libc::SYS_epoll_pwait2,
                set,
                self.0.as_mut_ptr(),
                most,
                time.as_ptr(),
                std::ptr::null::<libc::sigset_t>(),
                0usize,
            )
        };
        self.hold(count)
    }

    fn wait_in_two(&mut self, set: i32, time: Duration) -> io::Result<()> {
        let mut polled = libc::pollfd { fd: set, events: libc::POLLIN, revents: 0 };
        let time = libc::timespec {
            tv_sec: seconds(time) as libc::time_t,
            tv_nsec: time.subsec_nanos() as libc::c_long,
        };
        // SAFETY: one entry, which lives until the call returns, as `time` does; no mask.
        match unsafe { libc::ppoll(&raw mut polled, 1, &raw const time, std::ptr::null()) } {
            -1 => Err(io::Error::last_os_error()),
            0 => Ok(()),
            _ => self.wait_plainly(set, 0),
        }
    }

    /// Takes what a call wrote.
    fn hold(&mut self, count: i64) -> io::Result<()> {
        let Ok(count) = usize::try_from(count) else { return Err(io::Error::last_os_error()) };
        // SAFETY: the kernel has written so many events, and no more than there is room for.
        unsafe { self.0.set_len(count) };
        Ok(())
    }
}

fn seconds(time: Duration) -> i64 {
    i64::try_from(time.as_secs()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::os::fd::{FromRawFd, OwnedFd};
    use std::os::unix::net::UnixStream;
    use std::time::Instant;

    /// A set with one socket in it, under the number 7, and the other end of that.
    fn scene() -> (OwnedFd, UnixStream, UnixStream) {
        // SAFETY: it has no arguments but a flag.
        let set = unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) };
        assert!(set >= 0, "{}", io::Error::last_os_error());
        let (ours, theirs) = UnixStream::pair().expect("two sockets");
        let mut event = libc::epoll_event { events: libc::EPOLLIN as u32, u64: 7 };
        let fd = ours.as_raw_fd();
        // SAFETY: `event` lives until the call returns.
        let added = unsafe { libc::epoll_ctl(set, libc::EPOLL_CTL_ADD, fd, &raw mut event) };
        assert_eq!(added, 0, "{}", io::Error::last_os_error());
        // SAFETY: it was just made, and nobody else has it.
        (unsafe { OwnedFd::from_raw_fd(set) }, ours, theirs)
    }

    type Way = fn(&mut Events, i32, Duration) -> io::Result<()>;

    #[test]
    fn both_ways_wait_for_the_time_that_they_are_told_and_bring_what_happened() {
        for way in [Events::wait_in_one as Way, Events::wait_in_two] {
            let (set, mut ours, mut theirs) = scene();
            let mut events = Events::new(4);
            let time = Duration::from_micros(300);
            let begun = Instant::now();
            way(&mut events, set.as_raw_fd(), time).expect("the kernel knows it");
            assert!(begun.elapsed() >= time && events.is_empty());
            theirs.write_all(b"x").expect("write");
            // For as long as nobody has read it, and long before the time is over.
            for _ in 0..2 {
                let begun = Instant::now();
                way(&mut events, set.as_raw_fd(), Duration::from_secs(600)).expect("wait");
                assert!(begun.elapsed() < Duration::from_secs(300));
                assert_eq!((events.len(), events.get(0)), (1, (libc::EPOLLIN as u32, 7)));
            }
            ours.read_exact(&mut [0]).expect("read");
        }
    }

    #[test]
    fn waits_for_ever_and_looks_need_no_new_kernel() {
        let (set, _ours, mut theirs) = scene();
        let mut events = Events::new(4);
        events.wait(&set, Some(Duration::ZERO)).expect("look");
        assert!(events.is_empty());
        theirs.write_all(b"x").expect("write");
        events.wait(&set, None).expect("wait");
        assert_eq!(events.get(0).1, 7);
        let no_set = theirs;
        assert!(events.wait(&no_set, Some(Duration::from_millis(1))).is_err());
        assert!(events.is_empty());
    }

    #[test]
    fn what_an_old_kernel_is_told_brings_the_same() {
        wait_as_before_linux_5_11();
        let (set, _ours, mut theirs) = scene();
        let mut events = Events::new(4);
        events.wait(&set, Some(Duration::from_micros(300))).expect("wait");
        assert!(events.is_empty());
        theirs.write_all(b"x").expect("write");
        events.wait(&set, Some(Duration::from_secs(600))).expect("wait");
        assert_eq!((events.len(), events.get(0).1), (1, 7));
    }
}
