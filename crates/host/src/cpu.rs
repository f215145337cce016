//! Processors: what they are, and who used them.

use crate::Root;

/// Processor time of the whole host since it started, in clock ticks.
///
/// Source: proc_stat(5), the line `cpu`. `user` and `nice` already include what guests of this host
/// used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CpuTimes {
    /// User space, at any priority.
    pub user: u64,
    /// The kernel, with interrupts.
    pub system: u64,
    /// Nothing to do, or only I/O to wait for.
    pub idle: u64,
    /// Taken by the hypervisor for others.
    pub steal: u64,
}

impl CpuTimes {
    /// Reads them; `None` where the kernel does not tell.
    pub fn read(root: &Root) -> Option<CpuTimes> {
        CpuTimes::parse(&root.text("proc/stat")?)
    }

    /// Takes them from the text of `/proc/stat`.
    pub fn parse(stat: &str) -> Option<CpuTimes> {
        let line = stat.lines().find_map(|line| line.strip_prefix("cpu "))?;
        let ticks: Vec<u64> =
            line.split_ascii_whitespace().map(str::parse).collect::<Result<_, _>>().ok()?;
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
        // The kernel corrects idle and stolen time now and then, and may count backwards by a tick.
        Some(self.steal.saturating_sub(earlier.steal) as f64 / total as f64)
    }

    fn total(&self) -> u64 {
        // A captured host may say anything.
        let all = [self.user, self.system, self.idle, self.steal];
        all.into_iter().fold(0, u64::saturating_add)
    }
}

/// What `/proc/cpuinfo` says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CpuInfo {
    pub(crate) count: usize,
    pub(crate) model: Option<String>,
    /// The processor says that it is run by a hypervisor.
    pub(crate) virtual_machine: bool,
}

impl CpuInfo {
    pub(crate) fn parse(cpuinfo: &str) -> CpuInfo {
        let mut info = CpuInfo::default();
        for (key, value) in cpuinfo.lines().filter_map(|line| line.split_once(':')) {
            match key.trim() {
                "processor" => info.count += 1,
                // `model name` on x86, `cpu` on POWER; Arm has numbers only, which `CPU part`
                // begins.
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
    fn the_stolen_share_is_of_the_time_between_two_looks() {
        let earlier = CpuTimes { user: 100, system: 50, idle: 800, steal: 10 };
        let later = CpuTimes { user: 140, system: 60, idle: 840, steal: 20 };
        assert_eq!(later.steal_since(&earlier), Some(0.1));
        assert_eq!(earlier.steal_since(&earlier), None);
        assert_eq!(earlier.steal_since(&later), None);
    }

    #[test]
    fn text_that_is_no_statistics_gives_nothing() {
        for text in ["", "cpu", "cpu  1 2 3", "cpu  a b c d e f g h", "cpu0 1 2 3 4 5 6 7 8"] {
            assert_eq!(CpuTimes::parse(text), None, "{text}");
        }
    }

    #[test]
    fn processors_are_counted_and_named() {
        let cpuinfo = "processor\t: 0\nmodel name\t: Intel(R)  Xeon(R)   Platinum 8370C\n\
            flags\t\t: fpu sse2 hypervisor\n\nprocessor\t: 1\nmodel name\t: another\n";
        let info = CpuInfo::parse(cpuinfo);
        let model = Some("Intel(R) Xeon(R) Platinum 8370C".to_owned());
        assert_eq!(info, CpuInfo { count: 2, model, virtual_machine: true });
    }
}
