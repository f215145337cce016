//! Processors and clocks, which can lengthen response times or make them noisy.

use super::finding::{Finding, Governor, Steal};
use super::{Check, Look, Status};

/// Steal above which neighbours disturb: 1 % moves a p99.
const STEAL_NOISY: f64 = 0.01;
/// Steal above which figures no longer describe the storage.
const STEAL_SPOILS: f64 = 0.05;

pub(super) fn checks(look: &Look<'_>) -> Vec<Check> {
    let mut checks = vec![governor(look), steal(look), processors(look)];
    checks.extend(quota(look));
    checks.extend([clock_source(look), clock_keeper(look)]);
    checks
}

fn governor(look: &Look<'_>) -> Check {
    let is_virtual = || {
        let kind = look.facts.get("virtualisation");
        kind.is_some_and(|kind| kind.contains("virtual machine"))
    };
    let (status, governor) = match look.text("cpu.governor") {
        Some(name) if name == "performance" => (Status::Ok, Governor::Named(name)),
        Some(name) => (Status::Warning, Governor::Named(name)),
        None if is_virtual() => (Status::Ok, Governor::Hypervisor),
        None => (Status::NotKnown, Governor::NotKnown),
    };
    Check::new(status, Finding::Governor(governor))
}

fn steal(look: &Look<'_>) -> Check {
    let during_check = look.facts.real("cpu.steal_share");
    let steal = match during_check {
        Some(share) => Some(Steal { share, is_since_boot: false }),
        None => look
            .facts
            .real("cpu.steal_share_since_boot")
            .map(|share| Steal { share, is_since_boot: true }),
    };
    let status = match steal {
        None => Status::NotKnown,
        Some(Steal { share, .. }) if share > STEAL_SPOILS => Status::Problem,
        Some(Steal { share, .. }) if share > STEAL_NOISY => Status::Warning,
        Some(_) => Status::Ok,
    };
    Check::new(status, Finding::Steal(steal))
}

fn processors(look: &Look<'_>) -> Check {
    let count = look.facts.number("cpu.count");
    let share_cores = look.facts.get("cpu.smt").map(|smt| smt == "1");
    let status = if count.is_some() { Status::Ok } else { Status::NotKnown };
    Check::new(status, Finding::Processors { count, share_cores })
}

/// Only in a control group with fewer processors than the host.
fn quota(look: &Look<'_>) -> Option<Check> {
    let (quota, period) = look.facts.get("cpu.quota")?.split_once(' ')?;
    let quota = quota.parse::<f64>().ok()? / period.parse::<f64>().ok().filter(|p| *p > 0.0)?;
    let processors = look.facts.number("cpu.count")?;
    let finding = Finding::ProcessorQuota { quota, processors };
    (quota < processors as f64).then(|| Check::new(Status::Warning, finding))
}

fn clock_source(look: &Look<'_>) -> Check {
    let found = look.text("clock.source");
    let status = match found.as_deref() {
        None => Status::NotKnown,
        Some(
            "tsc" | "hyperv_clocksource_tsc_page" | "kvm-clock" | "arch_sys_counter" | "timebase",
        ) => Status::Ok,
        Some(_) => Status::Problem,
    };
    let available = look.facts.get("clock.available").unwrap_or("");
    let better = ["tsc", "hyperv_clocksource_tsc_page", "kvm-clock"]
        .into_iter()
        .find(|better| available.split_ascii_whitespace().any(|one| one == *better));
    Check::new(status, Finding::ClockSource { found, better })
}

fn clock_keeper(look: &Look<'_>) -> Check {
    let keeper = look.text("clock.keeper");
    let status = if keeper.is_some() { Status::Ok } else { Status::Hint };
    Check::new(status, Finding::ClockKeeper(keeper))
}
