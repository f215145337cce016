//! Quota and service level over the week: what each phase gives, what a month costs, and whether
//! the service lets it be changed so often.
//!
//! Rules: quota and pool of one level may be changed at any time, in steps, not below what is
//! stored nor below the smallest sizes; another level is a move to another pool, and after a move
//! up the next move down waits for the cool-down. Pools are paid by the hour at the size they
//! have.

use cloud::price::Usd;
use cloud::reason::{Reason, RowRef};
use cloud::row::LimitName;
use cloud::service_level::{ServiceLevel, VolumeKind};
use cloud::throughput::KibPerSec;
use cloud::volume_limit::{SettingsError, VolumeLimit, VolumeSettings};
use units::{Bytes, thousands};

use crate::facts::Facts;

/// Hours of a week.
pub const WEEK: usize = 168;
/// Seconds in an hour.
const SECONDS: u64 = 3600;
/// Bytes in a GiB.
const GIB: u64 = 1 << 30;

/// A state of the volume that comes back every week.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Phase {
    /// What it is called.
    pub name: String,
    /// The volume's quota.
    pub quota_gib: u64,
    /// The level of its pool.
    pub level: ServiceLevel,
}

/// Which phase holds in which hour of the week.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule {
    /// The phases.
    pub phases: Vec<Phase>,
    /// Their indices, from Monday 00:00 on; as many as [`WEEK`].
    pub hours: Vec<usize>,
    /// What is stored in the volume and so must fit at all times.
    pub stored_gib: u64,
    /// The throughput that some phase has to give.
    pub throughput: Option<KibPerSec>,
    /// From a move up until a move down, in seconds; `None`: as the service has it now.
    pub cool_down_s: Option<u64>,
    /// Where.
    pub region: String,
    /// Hours of a month.
    pub hours_per_month: u32,
}

/// What a phase comes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The phase.
    pub phase: Phase,
    /// Hours of a week in it.
    pub hours: u64,
    /// The pool's size.
    pub pool_gib: u64,
    /// The volume's limit.
    pub throughput: KibPerSec,
    /// What these hours cost in a month.
    pub month: Usd,
}

/// A schedule that the service allows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// What each phase comes to.
    pub steps: Vec<Step>,
    /// When something is changed, and what: `mon 08:00: to peak, quota 4,096 to 5,120 GiB`.
    pub changes: Vec<(usize, String)>,
    /// What it costs in a month.
    pub month: Usd,
    /// What the most expensive phase costs if it holds all the time.
    pub constant: Usd,
    /// The arithmetic.
    pub reasons: Vec<Reason>,
}

/// A rule that a schedule breaks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Breach {
    /// Which, with the arithmetic.
    pub text: String,
    /// What would be allowed.
    pub remedy: String,
    /// The facts in it.
    pub rows: Vec<RowRef>,
}

/// Works a schedule out.
///
/// # Errors
/// Every rule that it breaks.
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
    let reasons = each.map(|(step, limit)| reason(schedule, step, limit, facts)).collect();
    Ok(Plan { changes: changes(schedule), steps, month, constant, reasons })
}

fn step(schedule: &Schedule, place: usize, limit: &VolumeLimit, facts: &Facts) -> Step {
    let phase = schedule.phases[place].clone();
    let hours = schedule.hours.iter().filter(|hour| **hour == place).count() as u64;
    let pool_gib = pool_gib(phase.quota_gib, facts);
    let month = cost(schedule, pool_gib, phase.level, hours, facts);
    Step { throughput: throughput(limit), phase, hours, pool_gib, month }
}

fn pool_gib(quota_gib: u64, facts: &Facts) -> u64 {
    let step = facts.catalog.limit(LimitName::PoolSizeStep).max(1);
    quota_gib.max(facts.catalog.limit(LimitName::PoolSizeMin)).div_ceil(step) * step
}

/// The volume in a phase: alone in an auto QoS pool.
fn settings(phase: &Phase, facts: &Facts) -> VolumeSettings {
    let quota = Bytes::gib(phase.quota_gib);
    VolumeSettings::auto(phase.level, facts.catalog.usual_kind(quota), quota)
}

fn throughput(limit: &VolumeLimit) -> KibPerSec {
    limit.throughput.unwrap_or(limit.granted)
}

/// The breach where no phase gives the wanted throughput, with the quota that would.
fn too_slow(schedule: &Schedule, limits: &[VolumeLimit], facts: &Facts) -> Option<Breach> {
    let wanted = schedule.throughput?;
    let most = limits.iter().map(throughput).max().filter(|most| *most < wanted)?;
    let VolumeSettings { level, kind, .. } = settings(&schedule.phases[0], facts);
    let remedy = match facts.catalog.least_quota(level, kind, wanted) {
        Ok(quota) => format!("{} GiB of {level} give it", thousands(quota.get() / GIB)),
        Err(why) => why.to_string(),
    };
    Some(Breach {
        text: format!("no phase gives {wanted}; the most is {most}"),
        remedy,
        rows: limits.iter().flat_map(|limit| limit.reason.rows.clone()).collect(),
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

/// Each GiB of a pool of a level and hour; nothing where the region has no price of it.
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
    let mut add = |text: String, remedy: String, rows: Vec<RowRef>| {
        breaches.push(Breach { text, remedy, rows });
    };
    let kinds: Vec<VolumeKind> =
        schedule.phases.iter().map(|phase| settings(phase, facts).kind).collect();
    for (phase, limit) in schedule.phases.iter().zip(limits) {
        let (name, quota) = (&phase.name, thousands(phase.quota_gib));
        for error in limit.as_ref().err().into_iter().flatten() {
            let remedy = match error {
                SettingsError::QosType { .. } => "schedule standard, premium or ultra".to_owned(),
                _ => catalog.allowed(error),
            };
            add(format!("{name}: {error}"), remedy, vec![catalog.level_row(phase.level)]);
        }
        if phase.quota_gib < schedule.stored_gib {
            add(
                format!("{name}: {quota} GiB do not hold {} GiB", thousands(schedule.stored_gib)),
                format!("at least {} GiB in every phase", thousands(schedule.stored_gib)),
                vec![],
            );
        }
    }
    if kinds.iter().any(|kind| *kind != kinds[0]) {
        add(
            "regular volumes do not become large ones, nor large ones regular".to_owned(),
            "keep every phase on one side of the largest regular volume".to_owned(),
            vec![catalog.limit_row(LimitName::RegularVolumeSizeMax)],
        );
    }
    let quotas = schedule.phases.iter().map(|phase| phase.quota_gib);
    let (least, most) = (quotas.clone().min().unwrap_or(0), quotas.max().unwrap_or(0));
    let growth = catalog.limit(LimitName::LargeVolumeGrowthMax);
    let allowed = least.saturating_mul(100 + growth) / 100;
    if kinds.contains(&VolumeKind::Large) && most > allowed {
        let (least, most, allowed) = (thousands(least), thousands(most), thousands(allowed));
        add(
            format!("a large volume of {least} GiB grows to {allowed} GiB and not to {most} GiB"),
            "ask support to lift the limit, or let the phases differ by less".to_owned(),
            vec![catalog.limit_row(LimitName::LargeVolumeGrowthMax)],
        );
    }
    breaches
}

/// Moves down that come too soon after a move up.
fn cool_downs(schedule: &Schedule, facts: &Facts) -> Vec<Breach> {
    let now = facts.catalog.limit(LimitName::LevelCoolDown);
    let wait = schedule.cool_down_s.unwrap_or(now).div_ceil(SECONDS);
    let level = |hour: usize| schedule.phases[schedule.hours[hour % WEEK]].level;
    let mut breaches: Vec<Breach> = Vec::new();
    for hour in 0..WEEK {
        if level(hour) <= level(hour + WEEK - 1) {
            continue;
        }
        let down = (hour + 1..=hour + WEEK).find(|later| level(*later) < level(later - 1));
        let after = down.map_or(WEEK, |down| down - hour) as u64;
        if after < wait {
            let text = format!(
                "a move up to {} and {after} h later down again: the service wants {wait} h in \
                 between, so {} h are missing",
                level(hour),
                wait - after
            );
            let remedy = "change the quota within one level, which may be done at any time, or \
                          keep the higher level for longer"
                .to_owned();
            let rows = vec![facts.catalog.limit_row(LimitName::LevelCoolDown)];
            let breach = Breach { text, remedy, rows };
            if !breaches.contains(&breach) {
                breaches.push(breach);
            }
        }
    }
    breaches
}

const DAYS: [&str; 7] = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];

fn changes(schedule: &Schedule) -> Vec<(usize, String)> {
    let mut changes = Vec::new();
    for hour in 0..WEEK {
        let before = schedule.hours[(hour + WEEK - 1) % WEEK];
        let now = schedule.hours[hour];
        if before == now {
            continue;
        }
        let (before, now) = (&schedule.phases[before], &schedule.phases[now]);
        let level = match before.level == now.level {
            true => String::new(),
            false => format!(", moved from {} to {}", before.level, now.level),
        };
        let text = format!(
            "{} {:02}:00: to {}, quota from {} to {} GiB{level}",
            DAYS[hour / 24],
            hour % 24,
            now.name,
            thousands(before.quota_gib),
            thousands(now.quota_gib),
        );
        changes.push((hour, text));
    }
    changes
}

fn reason(schedule: &Schedule, step: &Step, limit: &VolumeLimit, facts: &Facts) -> Reason {
    let level = step.phase.level;
    let mut rows = limit.reason.rows.clone();
    rows.extend(facts.prices.storage(&schedule.region).map(|prices| prices.row(level)));
    let price = price(schedule, level, facts);
    Reason::from_rows(
        format!(
            "{}: {}; pool of {} GiB x {} x {} h x {}/{WEEK} of the week = {}",
            step.phase.name,
            limit.reason.text,
            thousands(step.pool_gib),
            price.exact(),
            schedule.hours_per_month,
            step.hours,
            step.month
        ),
        rows,
    )
}
