//! Waits for an epoll set with a timeout in nanoseconds, on every kernel: with `epoll_pwait2`
//! (Linux 5.11), or with `ppoll` on the set and then `epoll_wait`, one system call more. The first
//! wait with a timeout finds out which is available.

use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Whether `epoll_pwait2` is not available.
static IS_OLD: AtomicBool = AtomicBool::new(false);

/// Makes this process wait as on kernels before Linux 5.11, to test that on a newer one.
pub fn wait_as_before_linux_5_11() {
    IS_OLD.store(true, Ordering::Relaxed);
}

/// The events of one wait, in preallocated memory.
pub struct Events(Vec<libc::epoll_event>);

impl std::fmt::Debug for Events {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Events({} of {})", self.0.len(), self.0.capacity())
    }
}

impl Events {
    /// Memory for up to `max` events per wait.
    #[must_use]
    pub fn new(max: usize) -> Events {
        Events(Vec::with_capacity(max))
    }

    /// Number of events.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are no events.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The flags of an event (`EPOLLIN` and so on), and the number of its socket.
    ///
    /// # Panics
    /// `index` is out of range.
    #[must_use]
    pub fn get(&self, index: usize) -> (u32, u64) {
        let libc::epoll_event { events, u64 } = self.0[index];
        (events, u64)
    }

    /// Waits for events of `set` for at most `timeout` (`None`: without limit), and stores them. A
    /// signal ends the wait early without events.
    ///
    /// # Errors
    /// `set` is not an epoll set.
    pub fn wait(&mut self, set: impl AsFd, timeout: Option<Duration>) -> io::Result<()> {
        self.0.clear();
        let set = set.as_fd().as_raw_fd();
        let waited = match timeout {
            None => self.epoll_wait(set, -1),
            Some(Duration::ZERO) => self.epoll_wait(set, 0),
            Some(time) if IS_OLD.load(Ordering::Relaxed) => self.ppoll_and_wait(set, time),
            Some(time) => match self.epoll_pwait2(set, time) {
                // seccomp filters older than this system call return EPERM.
                Err(error) if matches!(error.raw_os_error(), Some(libc::ENOSYS | libc::EPERM)) => {
                    IS_OLD.store(true, Ordering::Relaxed);
                    self.ppoll_and_wait(set, time)
                }
                waited => waited,
            },
        };
        match waited {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(()),
            waited => waited,
        }
    }

    /// * `timeout`: milliseconds; -1 waits without limit
    fn epoll_wait(&mut self, set: i32, timeout: i32) -> io::Result<()> {
        let max = i32::try_from(self.0.capacity()).unwrap_or(i32::MAX);
        // SAFETY: the kernel writes at most `max` events into the vector's allocation.
        let count = unsafe { libc::epoll_wait(set, self.0.as_mut_ptr(), max, timeout) };
        self.set_count(i64::from(count))
    }

    fn epoll_pwait2(&mut self, set: i32, time: Duration) -> io::Result<()> {
        let max = i32::try_from(self.0.capacity()).unwrap_or(i32::MAX);
        // The kernel's timespec on every machine: two 64-bit numbers.
        let time = [seconds(time), i64::from(time.subsec_nanos())];
        // SAFETY: as above; `time` lives until the call returns, and the signal mask is null.
        let count = unsafe {
            libc::syscall(
                libc::SYS_epoll_pwait2,
                set,
                self.0.as_mut_ptr(),
                max,
                time.as_ptr(),
                std::ptr::null::<libc::sigset_t>(),
                0usize,
            )
        };
        self.set_count(count)
    }

    fn ppoll_and_wait(&mut self, set: i32, time: Duration) -> io::Result<()> {
        let mut polled = libc::pollfd { fd: set, events: libc::POLLIN, revents: 0 };
        let time = libc::timespec {
            tv_sec: seconds(time) as libc::time_t,
            tv_nsec: time.subsec_nanos() as libc::c_long,
        };
        // SAFETY: one entry, which lives until the call returns, as does `time`; no signal mask.
        match unsafe { libc::ppoll(&raw mut polled, 1, &raw const time, std::ptr::null()) } {
            -1 => Err(io::Error::last_os_error()),
            0 => Ok(()),
            _ => self.epoll_wait(set, 0),
        }
    }

    /// Sets the number of events that the kernel wrote; negative means an error.
    fn set_count(&mut self, count: i64) -> io::Result<()> {
        let Ok(count) = usize::try_from(count) else { return Err(io::Error::last_os_error()) };
        // SAFETY: the kernel has written this many events, at most the vector's capacity.
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

    /// An epoll set with one socket as number 7, that socket, and its peer.
    fn set_with_socket() -> (OwnedFd, UnixStream, UnixStream) {
        // SAFETY: its only argument is a flag.
        let set = unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) };
        assert!(set >= 0, "{}", io::Error::last_os_error());
        let (ours, theirs) = UnixStream::pair().expect("two sockets");
        let mut event = libc::epoll_event { events: libc::EPOLLIN as u32, u64: 7 };
        let fd = ours.as_raw_fd();
        // SAFETY: `event` lives until the call returns.
        let added = unsafe { libc::epoll_ctl(set, libc::EPOLL_CTL_ADD, fd, &raw mut event) };
        assert_eq!(added, 0, "{}", io::Error::last_os_error());
        // SAFETY: the descriptor was just created and is not shared.
        (unsafe { OwnedFd::from_raw_fd(set) }, ours, theirs)
    }

    type WaitFn = fn(&mut Events, i32, Duration) -> io::Result<()>;

    #[test]
    fn both_implementations_honour_the_timeout_and_return_events() {
        for wait in [Events::epoll_pwait2 as WaitFn, Events::ppoll_and_wait] {
            let (set, mut ours, mut theirs) = set_with_socket();
            let mut events = Events::new(4);
            let time = Duration::from_micros(300);
            let begun = Instant::now();
            wait(&mut events, set.as_raw_fd(), time).expect("the kernel supports it");
            assert!(begun.elapsed() >= time && events.is_empty());
            theirs.write_all(b"x").expect("write");
            // The event is level-triggered, and comes long before the timeout.
            for _ in 0..2 {
                let begun = Instant::now();
                wait(&mut events, set.as_raw_fd(), Duration::from_secs(600)).expect("wait");
                assert!(begun.elapsed() < Duration::from_secs(300));
                assert_eq!((events.len(), events.get(0)), (1, (libc::EPOLLIN as u32, 7)));
            }
            ours.read_exact(&mut [0]).expect("read");
        }
    }

    #[test]
    fn unlimited_waits_and_polls_need_no_new_kernel() {
        let (set, _ours, mut theirs) = set_with_socket();
        let mut events = Events::new(4);
        events.wait(&set, Some(Duration::ZERO)).expect("poll");
        assert!(events.is_empty());
        theirs.write_all(b"x").expect("write");
        events.wait(&set, None).expect("wait");
        assert_eq!(events.get(0).1, 7);
        let not_a_set = theirs;
        assert!(events.wait(&not_a_set, Some(Duration::ZERO)).is_err());
        assert!(events.epoll_pwait2(not_a_set.as_raw_fd(), Duration::from_millis(1)).is_err());
        assert!(events.is_empty());
    }

    #[test]
    fn an_old_kernel_returns_the_same_events() {
        wait_as_before_linux_5_11();
        let (set, _ours, mut theirs) = set_with_socket();
        let mut events = Events::new(4);
        events.wait(&set, Some(Duration::from_micros(300))).expect("wait");
        assert!(events.is_empty());
        theirs.write_all(b"x").expect("write");
        events.wait(&set, Some(Duration::from_secs(600))).expect("wait");
        assert_eq!((events.len(), events.get(0).1), (1, 7));
    }
}
