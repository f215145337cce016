//! A weekly schedule of quota and service level: throughput of each phase, monthly cost, and
//! whether the service allows the changes.
//!
//! Rules: quota and pool size may change at any time, in steps, but not below the stored data or
//! the smallest sizes. A change of level is a move to another pool; after a move up, the next move
//! down waits for the cool-down. Pools are charged by the hour at their current size.

use cloud::price::Usd;
use cloud::reason::RowRef;
use cloud::row::LimitName;
use cloud::service_level::{ServiceLevel, VolumeKind};
use cloud::throughput::KibPerSec;
use cloud::volume_limit::{NoQuota, SettingsError, VolumeLimit, VolumeSettings};
use units::Bytes;

use crate::facts::Facts;

/// Hours per week.
pub const WEEK: usize = 168;
/// Seconds in an hour.
const SECONDS: u64 = 3600;

/// A weekly state of the volume.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Phase {
    /// Its name.
    pub name: String,
    /// The volume's quota.
    pub quota_gib: u64,
    /// The level of its pool.
    pub level: ServiceLevel,
}

/// The phase of each hour of the week.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule {
    /// The phases.
    pub phases: Vec<Phase>,
    /// Index of the phase for each hour from Monday 00:00; [`WEEK`] entries.
    pub hours: Vec<usize>,
    /// Stored data, which must fit in every phase.
    pub stored_gib: u64,
    /// The throughput that at least one phase must provide.
    pub throughput: Option<KibPerSec>,
    /// Minimum time from a move up to the next move down, in seconds; `None` for the documented
    /// one.
    pub cool_down_s: Option<u64>,
    /// Azure name of the region.
    pub region: String,
    /// Hours per month.
    pub hours_per_month: u32,
}

/// The result of a phase.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The phase.
    pub phase: Phase,
    /// Its hours per week.
    pub hours: u64,
    /// The pool's size.
    pub pool_gib: u64,
    /// The volume's throughput limit.
    pub throughput: KibPerSec,
    /// Monthly cost of these hours.
    pub month: Usd,
}

/// A schedule that the service allows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The result of each phase.
    pub steps: Vec<Step>,
    /// The changes in a week.
    pub changes: Vec<Change>,
    /// Monthly cost.
    pub month: Usd,
    /// Monthly cost of keeping the most expensive phase all the time.
    pub constant: Usd,
    /// The arithmetic of each phase.
    pub reasons: Vec<PhaseCost>,
}

/// A change from one phase to the next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Hour of the week.
    pub hour: usize,
    /// The phase until then.
    pub from: Phase,
    /// The phase from then on.
    pub to: Phase,
}

/// The arithmetic of a phase's cost: `pool_gib x price x hours of the month x hours / WEEK`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PhaseCost {
    /// The phase with its result.
    pub step: Step,
    /// The throughput limit with its arithmetic.
    pub limit: VolumeLimit,
    /// Price per GiB and hour.
    pub price: Usd,
    /// Hours per month.
    pub hours_per_month: u32,
    /// The rows of `data/` used.
    pub rows: Vec<RowRef>,
}

/// A rule that a schedule breaks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Breach {
    /// The rule with its numbers.
    pub rule: Rule,
    /// The rows of `data/` used.
    pub rows: Vec<RowRef>,
}

/// A broken rule with its numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "fields are named as in the sentence of each variant")]
pub enum Rule {
    /// The service does not allow the settings of a phase; `allowed` is what it allows instead.
    Settings { phase: String, error: SettingsError, allowed: String },
    /// A phase's quota is below the stored data.
    Stored { phase: String, quota_gib: u64, stored_gib: u64 },
    /// Regular volumes cannot become large ones, nor the reverse.
    KindChanges,
    /// A large volume may grow from `least_gib` to `allowed_gib`, but not to `most_gib`.
    Growth { least_gib: u64, allowed_gib: u64, most_gib: u64 },
    /// A move up to `level` is followed by a move down after `after_hours` instead of `wait_hours`.
    CoolDown { level: ServiceLevel, after_hours: u64, wait_hours: u64 },
    /// No phase provides the required throughput; `quota` of `level` would.
    Throughput {
        required: KibPerSec,
        most: KibPerSec,
        level: ServiceLevel,
        quota: Result<Bytes, NoQuota>,
    },
}

/// Evaluates a schedule.
///
/// # Errors
/// All rules that it breaks.
pub fn plan(schedule: &Schedule, facts: &Facts) -> Result<Plan, Vec<Breach>> {
    let limits: Vec<Result<VolumeLimit, Vec<SettingsError>>> = schedule
        .phases
        .iter()
        .map(|phase| facts.catalog.volume_limit(&settings(phase, facts)))
        .collect();
    let mut breaches = sizes(schedule, &limits, facts);
    breaches.extend(cool_downs(schedule, facts));
    let limits: Vec<VolumeLimit> = limits.into_iter().flatten().collect();
    breaches.extend(too_slow(schedule, &limits, facts));
    if !breaches.is_empty() {
        return Err(breaches);
    }
    let phases = limits.iter().enumerate();
    let steps: Vec<Step> = phases.map(|(p, limit)| step(schedule, p, limit, facts)).collect();
    let month = steps.iter().map(|step| step.month).sum();
    let whole = |step: &Step| cost(schedule, step.pool_gib, step.phase.level, WEEK as u64, facts);
    let constant = steps.iter().map(whole).max().unwrap_or(Usd::ZERO);
    let each = steps.iter().zip(&limits);
    let reasons = each.map(|(step, limit)| phase_cost(schedule, step, limit, facts)).collect();
    Ok(Plan { changes: changes(schedule), steps, month, constant, reasons })
}

fn step(schedule: &Schedule, index: usize, limit: &VolumeLimit, facts: &Facts) -> Step {
    let phase = schedule.phases[index].clone();
    let hours = schedule.hours.iter().filter(|hour| **hour == index).count() as u64;
    let pool_gib = pool_gib(phase.quota_gib, facts);
    let month = cost(schedule, pool_gib, phase.level, hours, facts);
    Step { throughput: throughput(limit), phase, hours, pool_gib, month }
}

fn pool_gib(quota_gib: u64, facts: &Facts) -> u64 {
    let step = facts.catalog.limit(LimitName::PoolSizeStep).max(1);
    quota_gib.max(facts.catalog.limit(LimitName::PoolSizeMin)).div_ceil(step) * step
}

/// The settings of the volume in a phase: the only one in an auto QoS pool.
fn settings(phase: &Phase, facts: &Facts) -> VolumeSettings {
    let quota = Bytes::gib(phase.quota_gib);
    VolumeSettings::auto(phase.level, facts.catalog.usual_kind(quota), quota)
}

fn throughput(limit: &VolumeLimit) -> KibPerSec {
    limit.throughput.unwrap_or(limit.granted)
}

/// The breach that no phase provides the required throughput.
fn too_slow(schedule: &Schedule, limits: &[VolumeLimit], facts: &Facts) -> Option<Breach> {
    let required = schedule.throughput?;
    let most = limits.iter().map(throughput).max().filter(|most| *most < required)?;
    let VolumeSettings { level, kind, .. } = settings(&schedule.phases[0], facts);
    let quota = facts.catalog.least_quota(level, kind, required);
    Some(Breach {
        rule: Rule::Throughput { required, most, level, quota },
        rows: limits.iter().flat_map(|limit| limit.rows.clone()).collect(),
    })
}

/// `GiB x price x hours of the month x share of the week`, rounded down to a millionth.
fn cost(schedule: &Schedule, gib: u64, level: ServiceLevel, hours: u64, facts: &Facts) -> Usd {
    let each = price(schedule, level, facts);
    let month = u64::from(schedule.hours_per_month);
    let whole = u128::from(each.times(gib).times(month).micros());
    let share = whole * u128::from(hours) / WEEK as u128;
    Usd::from_micros(u64::try_from(share).unwrap_or(u64::MAX))
}

/// Price per GiB and hour; zero if the region has none.
fn price(schedule: &Schedule, level: ServiceLevel, facts: &Facts) -> Usd {
    let prices = facts.prices.storage(&schedule.region);
    prices.and_then(|prices| prices.capacity(level)).unwrap_or(Usd::ZERO)
}

fn sizes(
    schedule: &Schedule,
    limits: &[Result<VolumeLimit, Vec<SettingsError>>],
    facts: &Facts,
) -> Vec<Breach> {
    let catalog = &facts.catalog;
    let mut breaches = Vec::new();
    let mut add = |rule: Rule, rows: Vec<RowRef>| breaches.push(Breach { rule, rows });
    let kinds: Vec<VolumeKind> =
        schedule.phases.iter().map(|phase| settings(phase, facts).kind).collect();
    for (phase, limit) in schedule.phases.iter().zip(limits) {
        for error in limit.as_ref().err().into_iter().flatten() {
            let (phase_name, allowed) = (phase.name.clone(), catalog.allowed(error));
            let rule = Rule::Settings { phase: phase_name, error: *error, allowed };
            add(rule, vec![catalog.level_row(phase.level)]);
        }
        let (quota_gib, stored_gib) = (phase.quota_gib, schedule.stored_gib);
        if quota_gib < stored_gib {
            add(Rule::Stored { phase: phase.name.clone(), quota_gib, stored_gib }, vec![]);
        }
    }
    if kinds.iter().any(|kind| *kind != kinds[0]) {
        add(Rule::KindChanges, vec![catalog.limit_row(LimitName::RegularVolumeSizeMax)]);
    }
    let quotas = schedule.phases.iter().map(|phase| phase.quota_gib);
    let (least_gib, most_gib) = (quotas.clone().min().unwrap_or(0), quotas.max().unwrap_or(0));
    let growth = catalog.limit(LimitName::LargeVolumeGrowthMax);
    let allowed_gib = least_gib.saturating_mul(100 + growth) / 100;
    if kinds.contains(&VolumeKind::Large) && most_gib > allowed_gib {
        let rule = Rule::Growth { least_gib, allowed_gib, most_gib };
        add(rule, vec![catalog.limit_row(LimitName::LargeVolumeGrowthMax)]);
    }
    breaches
}

/// Moves down that come too soon after a move up.
fn cool_downs(schedule: &Schedule, facts: &Facts) -> Vec<Breach> {
    let documented = facts.catalog.limit(LimitName::LevelCoolDown);
    let wait_hours = schedule.cool_down_s.unwrap_or(documented).div_ceil(SECONDS);
    let level = |hour: usize| schedule.phases[schedule.hours[hour % WEEK]].level;
    let mut breaches: Vec<Breach> = Vec::new();
    for hour in 0..WEEK {
        if level(hour) <= level(hour + WEEK - 1) {
            continue;
        }
        let down = (hour + 1..=hour + WEEK).find(|later| level(*later) < level(later - 1));
        let after_hours = down.map_or(WEEK, |down| down - hour) as u64;
        if after_hours < wait_hours {
            let rule = Rule::CoolDown { level: level(hour), after_hours, wait_hours };
            let rows = vec![facts.catalog.limit_row(LimitName::LevelCoolDown)];
            let breach = Breach { rule, rows };
            if !breaches.contains(&breach) {
                breaches.push(breach);
            }
        }
    }
    breaches
}

fn changes(schedule: &Schedule) -> Vec<Change> {
    let phase = |hour: usize| schedule.hours[hour % WEEK];
    let changing = (0..WEEK).filter(|hour| phase(hour + WEEK - 1) != phase(*hour));
    let change = |hour: usize| Change {
        hour,
        from: schedule.phases[phase(hour + WEEK - 1)].clone(),
        to: schedule.phases[phase(hour)].clone(),
    };
    changing.map(change).collect()
}

fn phase_cost(schedule: &Schedule, step: &Step, limit: &VolumeLimit, facts: &Facts) -> PhaseCost {
    let level = step.phase.level;
    let mut rows = limit.rows.clone();
    rows.extend(facts.prices.storage(&schedule.region).map(|prices| prices.row(level)));
    PhaseCost {
        step: step.clone(),
        limit: limit.clone(),
        price: price(schedule, level, facts),
        hours_per_month: schedule.hours_per_month,
        rows,
    }
}
