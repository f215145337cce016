//! Use of this host's processors, and run-queue delays of threads, between successive readings.
//!
//! The thread that conducts a run reads them at the edges of intervals. The engine itself reads the
//! CPU time of this process. Not for: describing the processors (`facts`), nor for judging.

use std::time::Instant;

use metrics::host_state::HostInterval;
use rustix::time::{ClockId, clock_gettime};

use crate::cpu::{self, ProcessorCounters};
use crate::threads::{ThreadDelays, ThreadTimes};
use crate::{Root, quota};

/// Reads the state of this host at the edges of intervals.
#[derive(Debug)]
pub struct StateMeter {
    root: Root,
    started: Instant,
    tick_ns: u64,
    /// The thread that serves a volume in this process.
    service: Option<i32>,
    /// The affinity mask; read when a run begins, like the quota.
    allowed: Option<Vec<u32>>,
    quota_millicores: Option<u64>,
    delays: ThreadDelays,
    last: Reading,
}

/// One reading of all counters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Reading {
    /// When `/proc/stat` was read, in nanoseconds since the meter was created.
    at_ns: u64,
    /// The allowed processors; empty if the kernel does not report them.
    counters: ProcessorCounters,
    pressure_ns: Option<u64>,
    service: Option<ThreadTimes>,
}

impl StateMeter {
    /// A meter of this process's host.
    ///
    /// * `service` - the thread that serves an emulated volume in this process, if there is one
    pub fn new(root: Root, service: Option<i32>) -> StateMeter {
        StateMeter {
            root,
            started: Instant::now(),
            tick_ns: 1_000_000_000 / rustix::param::clock_ticks_per_second().max(1),
            service,
            allowed: None,
            quota_millicores: None,
            delays: ThreadDelays::default(),
            last: Reading::default(),
        }
    }

    /// Takes the first reading of a run. The run-queue delay of the `workers` (thread numbers) is
    /// excluded, because the engine reads it together with their CPU time.
    pub fn begin(&mut self, workers: &[i32]) {
        self.allowed = cpu::allowed_processors(&self.root);
        self.quota_millicores = quota::cpu_quota_millicores(&self.root);
        // The service's thread is read separately, for its CPU time.
        let excluded = workers.iter().copied().chain(self.service).collect();
        self.delays.begin(&self.root, excluded);
        self.last = self.read();
    }

    /// Changes since the last reading.
    pub fn since_last(&mut self) -> HostInterval {
        let cpu_before_ns = thread_cpu_ns();
        let now = self.read();
        let others_ns = self.delays.since_last(&self.root);
        let mut change = now.since(&self.last, self.tick_ns);
        let delays_ns = others_ns.zip(change.run_queue_delay_ns);
        change.run_queue_delay_ns =
            delays_ns.map(|(others, service)| others.saturating_add(service));
        change.quota_millicores = self.quota_millicores;
        self.last = now;
        change.reading_cpu_ns = thread_cpu_ns().saturating_sub(cpu_before_ns);
        change
    }

    fn read(&self) -> Reading {
        let stat = self.root.text("proc/stat");
        let at_ns = self.started.elapsed().as_nanos() as u64;
        let pressure = self.root.text("proc/pressure/cpu");
        Reading {
            at_ns,
            counters: match (&stat, &self.allowed) {
                (Some(stat), Some(allowed)) => ProcessorCounters::parse(stat).within(allowed),
                (Some(stat), None) => ProcessorCounters::parse(stat),
                (None, _) => ProcessorCounters::default(),
            },
            pressure_ns: pressure.and_then(|text| pressure_ns(&text)),
            service: self.service.and_then(|tid| ThreadTimes::read(&self.root, tid)),
        }
    }
}

impl Reading {
    /// The changes since `last`, with the run-queue delay of the service's thread only.
    fn since(&self, last: &Reading, tick_ns: u64) -> HostInterval {
        let online = self.counters.processors.len();
        let service = self.service.zip(last.service);
        let pressure = self.pressure_ns.zip(last.pressure_ns);
        HostInterval {
            span_ns: self.at_ns.saturating_sub(last.at_ns),
            processors: u32::try_from(online).ok().filter(|online| *online > 0),
            times: self.counters.times_since(&last.counters, tick_ns),
            runnable_tasks: self.counters.runnable,
            pressure_ns: pressure.and_then(|(now, before)| now.checked_sub(before)),
            // A thread that has ended adds no delay.
            run_queue_delay_ns: Some(
                service.map_or(0, |(now, before)| {
                    now.run_delay_ns.saturating_sub(before.run_delay_ns)
                }),
            ),
            service_cpu_ns: service.and_then(|(now, before)| now.cpu_ns.checked_sub(before.cpu_ns)),
            ..HostInterval::default()
        }
    }
}

/// CPU time of the calling thread, in nanoseconds.
fn thread_cpu_ns() -> u64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// The total of the line `some` of `/proc/pressure/cpu`, in nanoseconds: time in which at least one
/// task waited for a processor.
///
/// Source: Documentation/accounting/psi.rst of the kernel; the total is in microseconds.
fn pressure_ns(pressure: &str) -> Option<u64> {
    let line = pressure.lines().find_map(|line| line.strip_prefix("some "))?;
    let total = line.split_ascii_whitespace().find_map(|field| field.strip_prefix("total="))?;
    total.parse::<u64>().ok()?.checked_mul(1000)
}

#[cfg(test)]
mod tests {
    use metrics::host_state::ProcessorTimes;

    use super::*;
    use crate::tree::Tree;

    const MS: u64 = 1_000_000;
    const TICK_NS: u64 = 10 * MS;

    /// Two processors with these ticks in user mode, idle, and stolen.
    fn stat(ticks: [[u64; 3]; 2]) -> String {
        let line = |(number, [user, idle, steal]): (usize, [u64; 3])| {
            format!("cpu{number} {user} 0 0 {idle} 0 0 0 {steal} 0 0\n")
        };
        let lines: String = ticks.into_iter().enumerate().map(line).collect();
        format!("cpu  1 2 3 4 5 6 7 8 0 0\n{lines}procs_running 3\n")
    }

    fn reading(at_ns: u64, stat: &str) -> Reading {
        Reading { at_ns, counters: ProcessorCounters::parse(stat), ..Reading::default() }
    }

    #[test]
    fn a_late_reading_has_its_actual_time_span() {
        // Due after 500 ms, taken after 620.
        let before = reading(1_000 * MS, &stat([[100, 900, 5], [40, 60, 0]]));
        let after = reading(1_620 * MS, &stat([[162, 900, 5], [41, 120, 1]]));
        let change = after.since(&before, TICK_NS);
        assert_eq!((change.span_ns, change.processors), (620 * MS, Some(2)));
        let times = ProcessorTimes { busy_ns: 630 * MS, idle_ns: 600 * MS, steal_ns: 10 * MS };
        assert_eq!(change.times, Some(times));
        assert_eq!(change.runnable_tasks, Some(3));
        // Idle time that the kernel corrected backwards counts as zero.
        let corrected = reading(1_640 * MS, &stat([[164, 900, 5], [43, 119, 1]]));
        let times = ProcessorTimes { busy_ns: 40 * MS, ..ProcessorTimes::default() };
        assert_eq!(corrected.since(&after, TICK_NS).times, Some(times));
    }

    #[test]
    fn times_are_none_if_the_set_of_processors_changed() {
        let both = reading(0, &stat([[1, 1, 0], [1, 1, 0]]));
        let one = reading(500 * MS, "cpu0 40 0 0 2 0 0 0 0 0 0\nprocs_running 1\n");
        for (before, after, online) in [(&both, &one, 1), (&one, &both, 2)] {
            let change = after.since(before, TICK_NS);
            assert_eq!((change.processors, change.times), (Some(online), None));
        }
    }

    #[test]
    fn pressure_is_the_total_of_the_line_some() {
        let text = "some avg10=78.55 avg60=29.73 avg300=14.27 total=94325652\n\
                    full avg10=0.00 avg60=0.00 avg300=0.00 total=7\n";
        assert_eq!(pressure_ns(text), Some(94_325_652_000));
        for odd in ["", "full total=7", "some avg10=0.00", "some total=x", "some total=9e9"] {
            assert_eq!(pressure_ns(odd), None, "{odd}");
        }
    }

    const SERVICE: i32 = 77;
    const WORKER: i32 = 78;

    fn set_thread(tree: &Tree, tid: i32, cpu_ns: u64, run_delay_ns: u64) {
        let text = format!("{cpu_ns} {run_delay_ns} 9\n");
        tree.write(&format!("proc/self/task/{tid}/schedstat"), &text);
    }

    #[test]
    fn a_meter_reads_allowed_processors_quota_pressure_and_threads() {
        let mountinfo = "35 24 0:30 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";
        let tree = Tree::of(&[
            ("proc/stat", &stat([[100, 900, 0], [0, 0, 0]])),
            ("proc/self/status", "Name:\tx\nCpus_allowed_list:\t0,2-3\n"),
            ("proc/self/cgroup", "0::/\n"),
            ("proc/self/mountinfo", mountinfo),
            ("sys/fs/cgroup/cpu.max", "50000 100000\n"),
            ("proc/pressure/cpu", "some avg10=0.00 total=1000\n"),
        ]);
        set_thread(&tree, 70, 5, 100);
        set_thread(&tree, SERVICE, 1_000, 200);
        set_thread(&tree, WORKER, 9, 300);
        let mut meter = StateMeter::new(tree.root(), Some(SERVICE));
        meter.begin(&[WORKER]);

        tree.write("proc/stat", &stat([[103, 901, 1], [50, 50, 50]]));
        tree.write("proc/pressure/cpu", "some avg10=0.00 total=3500\n");
        set_thread(&tree, 70, 5, 110);
        set_thread(&tree, SERVICE, 4_000, 205);
        set_thread(&tree, WORKER, 9, 999);
        let change = meter.since_last();
        assert!(change.span_ns > 0 && change.reading_cpu_ns > 0);
        let times = ProcessorTimes { busy_ns: 30 * MS, idle_ns: 10 * MS, steal_ns: 10 * MS };
        let expected = HostInterval {
            span_ns: change.span_ns,
            reading_cpu_ns: change.reading_cpu_ns,
            // Of processors 0, 2 and 3 only number 0 is online.
            processors: Some(1),
            quota_millicores: Some(500),
            times: Some(times),
            runnable_tasks: Some(3),
            pressure_ns: Some(2_500_000),
            run_queue_delay_ns: Some(10 + 5),
            service_cpu_ns: Some(3_000),
        };
        assert_eq!(change, expected);

        // The service has ended.
        tree.remove(&format!("proc/self/task/{SERVICE}"));
        let change = meter.since_last();
        assert_eq!((change.run_queue_delay_ns, change.service_cpu_ns), (Some(0), None));
    }

    #[test]
    fn every_field_is_none_if_the_system_reports_nothing() {
        let tree = Tree::of(&[]);
        let mut meter = StateMeter::new(tree.root(), Some(SERVICE));
        meter.begin(&[]);
        let change = meter.since_last();
        let HostInterval { span_ns, reading_cpu_ns, .. } = change;
        assert_eq!(change, HostInterval { span_ns, reading_cpu_ns, ..HostInterval::default() });
    }

    #[test]
    fn this_host_reports_its_processors_and_their_times() {
        let mut meter = StateMeter::new(Root::of_this_host(), None);
        meter.begin(&[]);
        let change = meter.since_last();
        let allowed = rustix::thread::sched_getaffinity(None).unwrap().count();
        assert_eq!(change.processors, Some(allowed));
        assert!(change.times.is_some() && change.run_queue_delay_ns.is_some(), "{change:?}");
    }
}
