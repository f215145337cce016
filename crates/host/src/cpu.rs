//! Processors: their model, and where their time goes.

use metrics::host_state::ProcessorTimes;

use crate::Root;

/// Processor time of the whole host since it started, in clock ticks.
///
/// Source: proc_stat(5), the line `cpu`. `user` and `nice` include the time of guests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CpuTimes {
    /// User space, at any priority.
    pub user: u64,
    /// The kernel, including interrupts.
    pub system: u64,
    /// Idle, or waiting only for I/O.
    pub idle: u64,
    /// Taken by the hypervisor for other guests.
    pub steal: u64,
}

impl CpuTimes {
    /// Reads them; `None` if the kernel does not report them.
    pub fn read(root: &Root) -> Option<CpuTimes> {
        CpuTimes::parse(&root.text("proc/stat")?)
    }

    /// Parses the text of `/proc/stat`.
    pub fn parse(stat: &str) -> Option<CpuTimes> {
        CpuTimes::of_fields(stat.lines().find_map(|line| line.strip_prefix("cpu "))?)
    }

    /// Parses the numbers of one line.
    fn of_fields(fields: &str) -> Option<CpuTimes> {
        let ticks: Vec<u64> =
            fields.split_ascii_whitespace().map(str::parse).collect::<Result<_, _>>().ok()?;
        let [user, nice, system, idle, iowait, irq, softirq, rest @ ..] = ticks.as_slice() else {
            return None;
        };
        Some(CpuTimes {
            user: user.saturating_add(*nice),
            system: system.saturating_add(*irq).saturating_add(*softirq),
            idle: idle.saturating_add(*iowait),
            // Since Linux 2.6.11; without a hypervisor it stays 0.
            steal: rest.first().copied().unwrap_or(0),
        })
    }

    /// The share of the host's processor time since `earlier` that the hypervisor took, 0 to 1;
    /// `None` if no time has passed.
    pub fn steal_since(&self, earlier: &CpuTimes) -> Option<f64> {
        let total = self.total().checked_sub(earlier.total()).filter(|ticks| *ticks > 0)?;
        // The kernel sometimes corrects idle and stolen time, and may count backwards by a tick.
        Some(self.steal.saturating_sub(earlier.steal) as f64 / total as f64)
    }

    /// Time spent working, in clock ticks.
    fn busy(&self) -> u64 {
        self.user.saturating_add(self.system)
    }

    /// Adds another processor's times.
    fn add(&mut self, other: &CpuTimes) {
        self.user = self.user.saturating_add(other.user);
        self.system = self.system.saturating_add(other.system);
        self.idle = self.idle.saturating_add(other.idle);
        self.steal = self.steal.saturating_add(other.steal);
    }

    fn total(&self) -> u64 {
        // A captured file may contain any numbers.
        let all = [self.user, self.system, self.idle, self.steal];
        all.into_iter().fold(0, u64::saturating_add)
    }
}

/// The counters of each processor.
///
/// Source: proc_stat(5), the lines `cpuN` and `procs_running`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProcessorCounters {
    /// Number and times of each online processor; offline processors have no line.
    pub processors: Vec<(u32, CpuTimes)>,
    /// Tasks running or waiting for a processor.
    pub runnable: Option<u32>,
}

impl ProcessorCounters {
    /// Parses the text of `/proc/stat`; unknown lines are ignored.
    pub fn parse(stat: &str) -> ProcessorCounters {
        let mut counters = ProcessorCounters::default();
        for (name, fields) in stat.lines().filter_map(|line| line.split_once(' ')) {
            if name == "procs_running" {
                counters.runnable = fields.trim().parse().ok();
            }
            let number = name.strip_prefix("cpu").and_then(|number| number.parse().ok());
            let times = number.and_then(|number| Some((number, CpuTimes::of_fields(fields)?)));
            counters.processors.extend(times);
        }
        counters
    }

    /// The counters of the online processors among `allowed`.
    pub(crate) fn within(mut self, allowed: &[u32]) -> ProcessorCounters {
        self.processors.retain(|(number, _)| allowed.contains(number));
        self
    }

    /// The processors' time since `earlier`; `None` without processors, or if their set changed.
    pub(crate) fn times_since(
        &self,
        earlier: &ProcessorCounters,
        tick_ns: u64,
    ) -> Option<ProcessorTimes> {
        let numbers = |of: &ProcessorCounters| -> Vec<u32> {
            of.processors.iter().map(|(number, _)| *number).collect()
        };
        if self.processors.is_empty() || numbers(self) != numbers(earlier) {
            return None;
        }
        let (now, before) = (self.sum(), earlier.sum());
        let difference_ns = |pick: fn(&CpuTimes) -> u64| {
            // The kernel sometimes corrects idle and stolen time, and may count backwards.
            pick(&now).saturating_sub(pick(&before)).saturating_mul(tick_ns)
        };
        Some(ProcessorTimes {
            busy_ns: difference_ns(CpuTimes::busy),
            idle_ns: difference_ns(|times| times.idle),
            steal_ns: difference_ns(|times| times.steal),
        })
    }

    /// The times of all processors together.
    fn sum(&self) -> CpuTimes {
        let mut sum = CpuTimes::default();
        self.processors.iter().for_each(|(_, times)| sum.add(times));
        sum
    }
}

/// The processors in the affinity mask of this process, including offline ones; `None` if the kernel
/// does not report it.
pub(crate) fn allowed_processors(root: &Root) -> Option<Vec<u32>> {
    let status = root.text("proc/self/status")?;
    parse_list(status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?)
}

/// No kernel has processor numbers above this: `CONFIG_NR_CPUS` is at most 8192.
const PROCESSOR_MAX: u32 = 1 << 16;

/// A list such as `0-3,8`: cpuset(7), "List format".
fn parse_list(list: &str) -> Option<Vec<u32>> {
    let mut numbers = Vec::new();
    for part in list.trim().split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
        if last > PROCESSOR_MAX {
            return None;
        }
        numbers.extend(first..=last);
    }
    Some(numbers)
}

/// The contents of `/proc/cpuinfo`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CpuInfo {
    pub(crate) count: usize,
    pub(crate) model: Option<String>,
    /// The processor reports a hypervisor.
    pub(crate) virtual_machine: bool,
}

impl CpuInfo {
    pub(crate) fn parse(cpuinfo: &str) -> CpuInfo {
        let mut info = CpuInfo::default();
        for (key, value) in cpuinfo.lines().filter_map(|line| line.split_once(':')) {
            match key.trim() {
                "processor" => info.count += 1,
                // `model name` on x86, `cpu` on POWER; Arm has only numbers, of which `CPU part`
                // is the first.
                "model name" | "cpu" | "CPU part" if info.model.is_none() => {
                    info.model = Some(value.split_whitespace().collect::<Vec<_>>().join(" "));
                }
                "flags" if !info.virtual_machine => {
                    info.virtual_machine =
                        value.split_ascii_whitespace().any(|flag| flag == "hypervisor");
                }
                _ => {}
            }
        }
        info
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processor_times_are_read_from_the_line_of_all_processors() {
        let stat = "cpu  100 10 50 800 40 3 7 90 5 0\ncpu0 1 1 1 1 1 1 1 1 0 0\nintr 5\n";
        let times = CpuTimes { user: 110, system: 60, idle: 840, steal: 90 };
        assert_eq!(CpuTimes::parse(stat), Some(times));
    }

    #[test]
    fn the_stolen_share_is_that_between_two_readings() {
        let earlier = CpuTimes { user: 100, system: 50, idle: 800, steal: 10 };
        let later = CpuTimes { user: 140, system: 60, idle: 840, steal: 20 };
        assert_eq!(later.steal_since(&earlier), Some(0.1));
        assert_eq!(earlier.steal_since(&earlier), None);
        assert_eq!(earlier.steal_since(&later), None);
    }

    /// A host with four processors, of which number 2 is offline.
    const STAT: &str = "\
cpu  78604 10 14854 51811 3064 20 900 113 50 0
cpu0 36631 4 6621 30144 1065 5 276 57 40 0
cpu1 41973 6 8232 21666 1998 15 623 55 10 0
cpu3 1 0 2 1 0 0 1 1 0 0
intr 1491068 0 0 0
ctxt 4493658
btime 1795383203
processes 36000
procs_running 5
procs_blocked 0
softirq 1660336 0 59634
";

    #[test]
    fn an_offline_processor_has_no_times() {
        let counters = ProcessorCounters::parse(STAT);
        let numbers: Vec<u32> = counters.processors.iter().map(|(number, _)| *number).collect();
        assert_eq!(numbers, [0, 1, 3]);
        assert_eq!(counters.runnable, Some(5));
        let second = CpuTimes { user: 41_979, system: 8_870, idle: 23_664, steal: 55 };
        assert_eq!(counters.processors[1], (1, second));
        // The mask allows processor 2 as well.
        let allowed = counters.within(&[0, 2, 3]);
        let sum = CpuTimes { user: 36_636, system: 6_905, idle: 31_210, steal: 58 };
        assert_eq!((allowed.processors.len(), allowed.sum()), (2, sum));
        assert_eq!(sum.busy(), 36_636 + 6_905);
    }

    #[test]
    fn malformed_lines_are_ignored() {
        let text = "cpu0 1 2 3\ncpux 1 2 3 4 5 6 7 8\ncpu1 1 2 3 4 5 6 -7 8\nprocs_running many\n";
        assert_eq!(ProcessorCounters::parse(text), ProcessorCounters::default());
        assert_eq!(ProcessorCounters::parse(""), ProcessorCounters::default());
    }

    #[test]
    fn the_affinity_mask_is_a_list_of_ranges() {
        assert_eq!(parse_list("\t0-1"), Some(vec![0, 1]));
        assert_eq!(parse_list("3"), Some(vec![3]));
        assert_eq!(parse_list("0-2,8,10-11\n"), Some(vec![0, 1, 2, 8, 10, 11]));
        for wrong in ["", "a", "1-", "0-4294967295", "-1"] {
            assert_eq!(parse_list(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn malformed_times_are_none() {
        for text in ["", "cpu", "cpu  1 2 3", "cpu  a b c d e f g h", "cpu0 1 2 3 4 5 6 7 8"] {
            assert_eq!(CpuTimes::parse(text), None, "{text}");
        }
    }

    #[test]
    fn cpuinfo_gives_count_model_and_hypervisor() {
        let cpuinfo = "processor\t: 0\nmodel name\t: Intel(R)  Xeon(R)   Platinum 8370C\n\
            flags\t\t: fpu sse2 hypervisor\n\nprocessor\t: 1\nmodel name\t: another\n";
        let info = CpuInfo::parse(cpuinfo);
        let model = Some("Intel(R) Xeon(R) Platinum 8370C".to_owned());
        assert_eq!(info, CpuInfo { count: 2, model, virtual_machine: true });
    }
}
