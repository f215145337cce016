//! CPU time of the process and of its threads, and how long these waited for a processor; read from
//! outside the workers, so that a worker makes no system call for it while it runs.

use rustix::time::{ClockId, clock_gettime};

/// CPU time of the whole process.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ProcessCpu {
    total_ns: u64,
    user_ticks: u64,
    system_ticks: u64,
}

impl ProcessCpu {
    /// Reads it. The total is exact; its division into user and system comes in clock ticks of 10
    /// ms.
    pub(crate) fn read() -> ProcessCpu {
        let total = clock_gettime(ClockId::ProcessCPUTime);
        let total_ns = total.tv_sec as u64 * 1_000_000_000 + total.tv_nsec as u64;
        let (user_ticks, system_ticks) = std::fs::read_to_string("/proc/self/stat")
            .ok()
            .and_then(|stat| ticks(&stat))
            .unwrap_or((0, 0));
        ProcessCpu { total_ns, user_ticks, system_ticks }
    }

    /// User and system time since `earlier`, in nanoseconds; their sum is exact.
    pub(crate) fn since(&self, earlier: &ProcessCpu) -> (u64, u64) {
        let total = self.total_ns - earlier.total_ns;
        let user = self.user_ticks - earlier.user_ticks;
        let system = self.system_ticks - earlier.system_ticks;
        if user + system == 0 {
            return (total, 0);
        }
        let system_ns = (u128::from(total) * u128::from(system) / u128::from(user + system)) as u64;
        (total - system_ns, system_ns)
    }
}

/// The scheduler's times of one thread since it began, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ThreadTimes {
    /// On a processor.
    pub(crate) cpu_ns: u64,
    /// Runnable, waiting for a processor. The kernel adds a wait when it ends.
    pub(crate) run_delay_ns: u64,
}

impl ThreadTimes {
    /// Of thread `tid` of this process; `None` once the thread is gone.
    ///
    /// The CPU time is brought up to date at scheduler ticks, so it may lag behind by one.
    pub(crate) fn of_thread(tid: i32) -> Option<ThreadTimes> {
        ThreadTimes::read(&format!("/proc/self/task/{tid}/schedstat"))
    }

    /// Of the calling thread, exactly.
    pub(crate) fn own() -> ThreadTimes {
        let time = clock_gettime(ClockId::ThreadCPUTime);
        ThreadTimes {
            cpu_ns: time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64,
            run_delay_ns: ThreadTimes::read("/proc/thread-self/schedstat")
                .map_or(0, |times| times.run_delay_ns),
        }
    }

    /// `schedstat`: time on a processor, time waiting for one, both in nanoseconds, time slices
    /// (Documentation/scheduler/sched-stats.rst of the kernel).
    fn read(path: &str) -> Option<ThreadTimes> {
        let text = std::fs::read_to_string(path).ok()?;
        let mut fields = text.split_ascii_whitespace();
        let cpu_ns = fields.next()?.parse().ok()?;
        Some(ThreadTimes { cpu_ns, run_delay_ns: fields.next()?.parse().ok()? })
    }
}

/// Fields 14 and 15 of `/proc/PID/stat`, counted after the command's closing parenthesis (proc(5)).
fn ticks(stat: &str) -> Option<(u64, u64)> {
    let mut fields = stat.rsplit_once(')')?.1.split_ascii_whitespace().skip(11);
    Some((fields.next()?.parse().ok()?, fields.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_found_behind_a_command_with_parentheses_and_spaces() {
        let stat = "77 (a ) b) R 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15";
        assert_eq!(ticks(stat), Some((11, 12)));
    }

    #[test]
    fn a_thread_is_seen_from_outside_as_it_sees_itself() {
        let tid = rustix::thread::gettid().as_raw_nonzero().get();
        let outside = ThreadTimes::of_thread(tid).expect("this thread lives");
        let own = ThreadTimes::own();
        assert!(outside.cpu_ns <= own.cpu_ns && outside.run_delay_ns <= own.run_delay_ns);
        assert_eq!(ThreadTimes::of_thread(-1), None);
    }
}
