//! CPU time of the process and of its threads, read from outside the workers, so that a worker
//! makes no system call for it.

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

/// CPU time of the calling thread, in nanoseconds.
pub(crate) fn own_cpu_ns() -> u64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Fields 14 and 15 of `/proc/PID/stat`, counted after the command's closing parenthesis (proc(5)).
fn ticks(stat: &str) -> Option<(u64, u64)> {
    let mut fields = stat.rsplit_once(')')?.1.split_ascii_whitespace().skip(11);
    Some((fields.next()?.parse().ok()?, fields.next()?.parse().ok()?))
}

/// CPU time that thread `tid` of this process has used, in nanoseconds; `None` once the thread is
/// gone.
pub(crate) fn thread_cpu_ns(tid: i32) -> Option<u64> {
    // schedstat: time on the processor in ns, time waiting for it, time slices.
    let text = std::fs::read_to_string(format!("/proc/self/task/{tid}/schedstat")).ok()?;
    text.split_ascii_whitespace().next()?.parse().ok()
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
        // From outside the time is brought up to date at scheduler ticks, so it may lag behind.
        let outside = thread_cpu_ns(tid).expect("this thread lives");
        assert!(outside <= own_cpu_ns());
        assert_eq!(thread_cpu_ns(-1), None);
    }
}
