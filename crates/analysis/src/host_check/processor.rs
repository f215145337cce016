//! Processors and clocks: what makes response times longer or less certain than the store's.

use units::thousands;

use super::{Check, Look, Status, Subject};

/// Stolen time beyond which neighbours are said to disturb: a hundredth moves a p99.
const STEAL_NOISY: f64 = 0.01;
/// Stolen time beyond which no figure is the store's any more.
const STEAL_SPOILS: f64 = 0.05;

pub(super) fn checks(look: &Look<'_>) -> Vec<Check> {
    let mut checks = vec![governor(look), steal(look), siblings(look)];
    checks.extend(quota(look));
    checks.extend([clock_source(look), clock_keeper(look)]);
    checks
}

fn governor(look: &Look<'_>) -> Check {
    let check = Check::new("cpu.governor", Subject::Processor, "clock rate of the processors")
        .wanted("performance")
        .why("response time at low load: a processor that slept deep or slowed down wakes late");
    match look.facts.get("cpu.governor") {
        Some("performance") => check.found("performance").ok(),
        Some(other) => {
            check.found(other).status(Status::Warning, "sudo cpupower frequency-set -g performance")
        }
        None => match look.facts.get("virtualisation") {
            Some(kind) if kind.contains("virtual machine") => {
                check.found("the hypervisor's matter (no cpufreq here)").ok()
            }
            _ => check.not_known("/sys/devices/system/cpu/cpu0/cpufreq is not there"),
        },
    }
}

fn steal(look: &Look<'_>) -> Check {
    let check = Check::new("cpu.steal", Subject::Processor, "time taken by the hypervisor")
        .wanted("less than 1 %")
        .why("the largest response times, and the spread between repeats");
    let (share, when) = match look.facts.real("cpu.steal_share") {
        Some(share) => (share, "just now"),
        None => match look.facts.real("cpu.steal_share_since_boot") {
            Some(share) => (share, "since start"),
            None => return check.not_known("/proc/stat is not there"),
        },
    };
    let status = match share {
        share if share > STEAL_SPOILS => Status::Problem,
        share if share > STEAL_NOISY => Status::Warning,
        _ => Status::Ok,
    };
    let change = "another host, or a size with processors of its own";
    check.found(format!("{:.2} % {when}", 100.0 * share)).status(status, change)
}

fn siblings(look: &Look<'_>) -> Check {
    let check = Check::new("cpu.siblings", Subject::Processor, "processors")
        .wanted("as many as workers")
        .why("ops/s of the generator: two threads of a core share it");
    let Some(count) = look.facts.number("cpu.count") else {
        return check.not_known("/proc/cpuinfo is not there");
    };
    let threads = match look.facts.get("cpu.smt") {
        Some("1") => ", two or more to a core",
        Some(_) => ", one to a core",
        None => "",
    };
    check.found(format!("{}{threads}", thousands(count))).ok()
}

/// Only in a control group that has less than the host.
fn quota(look: &Look<'_>) -> Option<Check> {
    let (quota, period) = look.facts.get("cpu.quota")?.split_once(' ')?;
    let processors =
        quota.parse::<f64>().ok()? / period.parse::<f64>().ok().filter(|p| *p > 0.0)?;
    let count = look.facts.number("cpu.count")?;
    (processors < count as f64).then(|| {
        Check::new("cpu.quota", Subject::Processor, "processor time of this container")
            .found(format!("{processors:.1} of {count} processors"))
            .wanted("no limit")
            .why("ops/s and the largest response times: a worker is stopped when it is used up")
            .status(Status::Warning, "start the container without a limit of processors")
    })
}

fn clock_source(look: &Look<'_>) -> Check {
    let check = Check::new("clock.source", Subject::Processor, "clock source")
        .wanted("tsc, hyperv_clocksource_tsc_page, kvm-clock or arch_sys_counter")
        .why(
            "CPU per operation and response time: others cost a call into the kernel or hypervisor",
        );
    match look.facts.get("clock.source") {
        None => check.not_known("/sys/devices/system/clocksource is not there"),
        Some(
            name @ ("tsc"
            | "hyperv_clocksource_tsc_page"
            | "kvm-clock"
            | "arch_sys_counter"
            | "timebase"),
        ) => check.found(name).ok(),
        Some(name) => {
            let available = look.facts.get("clock.available").unwrap_or("");
            let better = ["tsc", "hyperv_clocksource_tsc_page", "kvm-clock"]
                .into_iter()
                .find(|better| available.split_ascii_whitespace().any(|one| one == *better));
            let file = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
            let change = better.map_or_else(
                || "start the kernel with tsc=reliable, where the processor allows it".to_owned(),
                |better| format!("echo {better} | sudo tee {file}"),
            );
            check.found(name).status(Status::Problem, change)
        }
    }
}

fn clock_keeper(look: &Look<'_>) -> Check {
    let check = Check::new("clock.keeper", Subject::Processor, "what keeps the clock in step")
        .wanted("chronyd or another")
        .why("no figure of one host; those of several are put together by their clocks");
    match look.facts.get("clock.keeper") {
        Some(name) => check.found(format!("{name} runs")).ok(),
        None => check
            .found("none of chronyd, ntpd, systemd-timesyncd, ptp4l was seen running")
            .status(Status::Hint, "sudo systemctl enable --now chronyd"),
    }
}
