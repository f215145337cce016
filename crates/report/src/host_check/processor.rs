//! The words of checks of processors and clocks.

use analysis::host_check::finding::{Governor, Steal};
use units::thousands;

use super::words::Words;

pub(super) fn governor(governor: &Governor) -> Words {
    let found = match governor {
        Governor::Named(name) => name.as_str(),
        Governor::Hypervisor => "set by the hypervisor (no cpufreq)",
        Governor::NotKnown => "/sys/devices/system/cpu/cpu0/cpufreq is missing",
    };
    Words::new(
        "clock rate of the processors",
        "performance",
        "latency at low load: a processor in a deep sleep state or at a low clock wakes late",
    )
    .found(found)
    .change("sudo cpupower frequency-set -g performance")
}

pub(super) fn steal(steal: Option<Steal>) -> Words {
    let found = steal.map(|Steal { share, is_since_boot }| {
        let when = if is_since_boot { "since boot" } else { "now" };
        format!("{:.2} % {when}", 100.0 * share)
    });
    Words::new(
        "time taken by the hypervisor",
        "less than 1 %",
        "tail latency, and variation between repeats",
    )
    .found_or(found, "/proc/stat is missing")
    .change("another host, or a size with dedicated processors")
}

pub(super) fn processors(count: Option<u64>, share_cores: Option<bool>) -> Words {
    let threads = match share_cores {
        Some(true) => ", two or more per core",
        Some(false) => ", one per core",
        None => "",
    };
    let found = count.map(|count| format!("{}{threads}", thousands(count)));
    Words::new(
        "processors",
        "as many as workers",
        "ops/s of the generator: threads of a core share it",
    )
    .found_or(found, "/proc/cpuinfo is missing")
}

pub(super) fn quota(quota: f64, processors: u64) -> Words {
    Words::new(
        "processor time of this container",
        "no limit",
        "ops/s and tail latency: workers are throttled when it is used up",
    )
    .found(format!("{quota:.1} of {processors} processors"))
    .change("start the container without a processor limit")
}

pub(super) fn clock_source(found: Option<&str>, better: Option<&str>) -> Words {
    let file = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    let change = better.map_or_else(
        || "boot the kernel with tsc=reliable, if the processor supports it".to_owned(),
        |better| format!("echo {better} | sudo tee {file}"),
    );
    Words::new(
        "clock source",
        "tsc, hyperv_clocksource_tsc_page, kvm-clock or arch_sys_counter",
        "CPU per operation and response time: others require a call into the kernel or hypervisor",
    )
    .found_or(found, "/sys/devices/system/clocksource is missing")
    .change(change)
}

pub(super) fn clock_keeper(keeper: Option<&str>) -> Words {
    let found = keeper.map(|name| format!("{name} is running"));
    Words::new(
        "clock synchronization",
        "chronyd or similar",
        "no figure of a single host; figures of several hosts are aligned by their clocks",
    )
    .found_or(found, "none of chronyd, ntpd, systemd-timesyncd, ptp4l is running")
    .change("sudo systemctl enable --now chronyd")
}
