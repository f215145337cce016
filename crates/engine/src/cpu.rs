//! CPU time of the process and its threads, and how long the threads waited for a processor. Read
//! by another thread, so that a running worker makes no system calls for it.

use rustix::time::{ClockId, clock_gettime};

/// CPU time of the whole process.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ProcessCpu {
    total_ns: u64,
    user_ticks: u64,
    system_ticks: u64,
}

impl ProcessCpu {
    /// Reads it. The total is exact; its division into user and system time has a resolution of
    /// clock ticks (10 ms).
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

/// The scheduler's times of a thread since it began, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ThreadTimes {
    /// On a processor.
    pub(crate) cpu_ns: u64,
    /// Runnable and waiting for a processor. The kernel adds a wait when it ends.
    pub(crate) run_delay_ns: u64,
}

impl ThreadTimes {
    /// The times of thread `tid` of this process; `None` if the thread has ended.
    ///
    /// The kernel updates the CPU time at scheduler ticks, so it may be one tick old.
    pub(crate) fn of_thread(tid: i32) -> Option<ThreadTimes> {
        ThreadTimes::read(&format!("/proc/self/task/{tid}/schedstat"))
    }

    /// The exact times of the calling thread.
    pub(crate) fn own() -> ThreadTimes {
        let time = clock_gettime(ClockId::ThreadCPUTime);
        ThreadTimes {
            cpu_ns: time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64,
            run_delay_ns: ThreadTimes::read("/proc/thread-self/schedstat")
                .map_or(0, |times| times.run_delay_ns),
        }
    }

    /// Parses `schedstat`: time on a processor and time waiting for one in nanoseconds, time slices
    /// (Documentation/scheduler/sched-stats.rst of the kernel).
    fn read(path: &str) -> Option<ThreadTimes> {
        let text = std::fs::read_to_string(path).ok()?;
        let mut fields = text.split_ascii_whitespace();
        let cpu_ns = fields.next()?.parse().ok()?;
        Some(ThreadTimes { cpu_ns, run_delay_ns: fields.next()?.parse().ok()? })
    }
}

/// Parses fields 14 and 15 of `/proc/PID/stat`, after the command's closing parenthesis (proc(5)).
fn ticks(stat: &str) -> Option<(u64, u64)> {
    let mut fields = stat.rsplit_once(')')?.1.split_ascii_whitespace().skip(11);
    Some((fields.next()?.parse().ok()?, fields.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_parsed_after_a_command_with_parentheses_and_spaces() {
        let stat = "77 (a ) b) R 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15";
        assert_eq!(ticks(stat), Some((11, 12)));
    }

    #[test]
    fn other_threads_read_a_threads_times_up_to_a_tick() {
        let tid = rustix::thread::gettid().as_raw_nonzero().get();
        let outside = ThreadTimes::of_thread(tid).expect("this thread is running");
        let own = ThreadTimes::own();
        assert!(outside.cpu_ns <= own.cpu_ns && outside.run_delay_ns <= own.run_delay_ns);
        assert_eq!(ThreadTimes::of_thread(-1), None);
    }
}
