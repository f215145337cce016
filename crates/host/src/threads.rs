//! Run-queue delay of this process's threads: how long they were runnable and waited for a processor.
//!
//! Source: `/proc/PID/task/TID/schedstat` (Documentation/scheduler/sched-stats.rst of the kernel).
//! The kernel adds a wait when it ends, so the wait of a waiting thread appears later.

use std::fs::DirEntry;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::Root;

/// Maximum number of files per reading, approximately: each takes about 3 us, and a ring can have
/// hundreds of kernel threads for blocking calls.
const FILES_MAX: usize = 32;

/// The scheduler's times of one thread since its start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ThreadTimes {
    /// On a processor, in nanoseconds.
    pub(crate) cpu_ns: u64,
    /// Runnable, waiting for a processor, in nanoseconds.
    pub(crate) run_delay_ns: u64,
}

impl ThreadTimes {
    /// Reads thread `tid` of this process; `None` if it has ended, or if the kernel does not count.
    pub(crate) fn read(root: &Root, tid: i32) -> Option<ThreadTimes> {
        ThreadTimes::parse(&root.text(&format!("proc/self/task/{tid}/schedstat"))?)
    }

    /// Parses `CPU_NS DELAY_NS SLICES`. A kernel that does not count writes three zeros.
    fn parse(schedstat: &str) -> Option<ThreadTimes> {
        let mut fields = schedstat.split_ascii_whitespace().map(str::parse::<u64>);
        let (cpu_ns, run_delay_ns) = (fields.next()?.ok()?, fields.next()?.ok()?);
        let slices = fields.next()?.ok()?;
        (slices > 0 || cpu_ns > 0).then_some(ThreadTimes { cpu_ns, run_delay_ns })
    }
}

/// Sums the run-queue delay of this process's threads.
///
/// The wait of a thread that ended since the last reading is lost; a new thread counts from its start.
/// So the sum never decreases.
#[derive(Debug, Default)]
pub(crate) struct ThreadDelays {
    /// Excluded threads, in order.
    excluded: Vec<i32>,
    /// Number and delay of the threads of the last reading, by number.
    last: Vec<(i32, u64)>,
    /// The last reading contains one of this many threads: 1 while they are few. A power of two, so
    /// that the threads of a larger stride are among those of a smaller one.
    stride: usize,
    /// The last list of threads that are not excluded.
    listed: Vec<i32>,
    /// Number of all threads at that time; `None` if it was unknown, or if a listed thread has ended
    /// since.
    listed_threads: Option<u64>,
}

impl ThreadDelays {
    /// Restarts without the threads `excluded`.
    pub(crate) fn begin(&mut self, root: &Root, mut excluded: Vec<i32>) {
        excluded.sort_unstable();
        *self = ThreadDelays { excluded, stride: 1, ..ThreadDelays::default() };
        self.since_last(root);
    }

    /// The delay since the last reading, in nanoseconds; `None` if the kernel does not count. If only
    /// some threads are read, their sum is extrapolated to all.
    pub(crate) fn since_last(&mut self, root: &Root) -> Option<u64> {
        self.list(root)?;
        let all = self.listed.len();
        let stride = all.div_ceil(FILES_MAX).next_power_of_two();
        let chosen = self.listed.iter().filter(|tid| spread(**tid).is_multiple_of(stride));
        let chosen: Vec<i32> = chosen.copied().collect();
        let times = chosen.iter().map(|tid| Some((*tid, ThreadTimes::read(root, *tid)?)));
        let now: Vec<(i32, u64)> =
            times.flatten().map(|(tid, times)| (tid, times.run_delay_ns)).collect();
        if now.len() < chosen.len() {
            self.listed_threads = None;
        }
        let are_unknown_new = stride >= self.stride;
        let delays = now.iter().filter_map(|entry| self.delay_since_last(*entry, are_unknown_new));
        let (mut sum_ns, mut counted) = (0, 0u128);
        for delay_ns in delays {
            sum_ns += u128::from(delay_ns);
            counted += 1;
        }
        (self.last, self.stride) = (now, stride);
        u64::try_from((sum_ns * all as u128).checked_div(counted)?).ok()
    }

    /// The delay of one thread; `None` if it existed at the last reading but was not read then.
    fn delay_since_last(&self, (tid, delay_ns): (i32, u64), are_unknown_new: bool) -> Option<u64> {
        let last = self.last.binary_search_by_key(&tid, |(tid, _)| *tid);
        match last.map(|index| self.last[index].1) {
            // Less than before: another thread reuses the number.
            Ok(before_ns) => Some(delay_ns.checked_sub(before_ns).unwrap_or(delay_ns)),
            Err(_) => are_unknown_new.then_some(delay_ns),
        }
    }

    /// Lists the threads, unless there are as many as before and none of those listed has ended:
    /// listing takes 0.4 us for each thread, and there may be thousands of workers.
    fn list(&mut self, root: &Root) -> Option<()> {
        let directory = root.path("proc/self/task");
        let threads = thread_count(&directory);
        if threads.is_some() && threads == self.listed_threads {
            return Some(());
        }
        let entries = std::fs::read_dir(directory).ok()?;
        let number = |entry: DirEntry| entry.file_name().to_str()?.parse::<i32>().ok();
        let tids = entries.filter_map(|entry| number(entry.ok()?));
        self.listed = tids.filter(|tid| self.excluded.binary_search(tid).is_err()).collect();
        self.listed.sort_unstable();
        self.listed_threads = threads;
        Some(())
    }
}

/// The number of threads, from the link count of their directory, which has two other links; `None`
/// for file systems without such counts.
fn thread_count(directory: &Path) -> Option<u64> {
    std::fs::metadata(directory).ok()?.nlink().checked_sub(2).filter(|threads| *threads > 0)
}

/// Mixes the bits of a thread's number, because thread numbers may follow a pattern.
fn spread(tid: i32) -> usize {
    // Fibonacci hashing (Knuth, The Art of Computer Programming, volume 3, 6.4): the upper half of
    // the product.
    ((tid as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::Tree;

    /// The threads of a process, by their numbers.
    struct Tasks(Tree);

    impl Tasks {
        fn new(threads: &[(i32, u64)]) -> Tasks {
            let tasks = Tasks(Tree::of(&[]));
            threads.iter().for_each(|(tid, delay_ns)| tasks.set(*tid, *delay_ns));
            tasks
        }

        fn set(&self, tid: i32, delay_ns: u64) {
            let text = format!("5000 {delay_ns} 3\n");
            self.0.write(&format!("proc/self/task/{tid}/schedstat"), &text);
        }

        fn end(&self, tid: i32) {
            self.0.remove(&format!("proc/self/task/{tid}"));
        }

        fn begin(&self, excluded: &[i32]) -> ThreadDelays {
            let mut delays = ThreadDelays::default();
            delays.begin(&self.0.root(), excluded.to_vec());
            delays
        }
    }

    #[test]
    fn schedstat_without_counts_is_none() {
        let times = ThreadTimes { cpu_ns: 71_234, run_delay_ns: 2_625_209 };
        assert_eq!(ThreadTimes::parse("71234 2625209 1"), Some(times));
        let waited = ThreadTimes { cpu_ns: 0, run_delay_ns: 9 };
        assert_eq!(ThreadTimes::parse("0 9 1"), Some(waited));
        for nothing in ["0 0 0", "", "1 2", "a b c", "-1 2 3"] {
            assert_eq!(ThreadTimes::parse(nothing), None, "{nothing}");
        }
    }

    #[test]
    fn the_sum_contains_all_threads_except_excluded_ones() {
        let tasks = Tasks::new(&[(10, 100), (11, 5_000), (12, 1_000)]);
        let mut delays = tasks.begin(&[11]);
        tasks.set(10, 130);
        tasks.set(11, 9_000);
        tasks.set(12, 1_007);
        assert_eq!(delays.since_last(&tasks.0.root()), Some(37));
        assert_eq!(delays.since_last(&tasks.0.root()), Some(0));
    }

    #[test]
    fn starting_and_ending_threads_never_decrease_the_sum() {
        let tasks = Tasks::new(&[(10, 100), (11, 5_000)]);
        let mut delays = tasks.begin(&[]);
        // One ended and one started. If only the number of threads is compared, the new one is found
        // by the next reading.
        tasks.end(11);
        tasks.set(12, 40);
        let found = [(); 2].map(|()| delays.since_last(&tasks.0.root()));
        assert!([[Some(0), Some(40)], [Some(40), Some(0)]].contains(&found), "{found:?}");
        // A new thread with the number of one that ended.
        tasks.set(12, 15);
        tasks.set(10, 101);
        assert_eq!(delays.since_last(&tasks.0.root()), Some(16));
    }

    #[test]
    fn many_threads_are_sampled_and_extrapolated() {
        let many: Vec<(i32, u64)> = (1000..2000).map(|tid| (tid, 700)).collect();
        let tasks = Tasks::new(&many);
        let mut delays = tasks.begin(&[]);
        assert_eq!(delays.stride, 32);
        for tid in 1000..2000 {
            tasks.set(tid, 800);
        }
        // Every thread waited 100 ns, so every sample gives the same sum.
        assert_eq!(delays.since_last(&tasks.0.root()), Some(100_000));
        assert!((16..64).contains(&delays.last.len()), "{}", delays.last.len());
        // With fewer threads others are read, too; these are not new.
        (1000..1950).for_each(|tid| tasks.end(tid));
        assert_eq!(delays.since_last(&tasks.0.root()), Some(0));
        (1950..2000).for_each(|tid| tasks.set(tid, 803));
        assert_eq!(delays.since_last(&tasks.0.root()), Some(150));
    }

    #[test]
    fn the_delay_is_none_if_the_kernel_does_not_count() {
        let tasks = Tasks::new(&[]);
        assert_eq!(tasks.begin(&[]).since_last(&tasks.0.root()), None);
        tasks.0.write("proc/self/task/10/schedstat", "0 0 0\n");
        assert_eq!(tasks.begin(&[]).since_last(&tasks.0.root()), None);
    }
}
