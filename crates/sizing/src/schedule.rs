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
use cloud::service_level::{QosType, ServiceLevel, VolumeKind};
use cloud::throughput::KibPerSec;
use units::thousands;

use crate::facts::Facts;

/// Hours of a week.
pub const WEEK: usize = 168;
/// Seconds in an hour.
const SECONDS: u64 = 3600;

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
    let mut breaches = sizes(schedule, facts);
    breaches.extend(cool_downs(schedule, facts));
    let steps: Vec<Step> = (0..schedule.phases.len()).map(|p| step(schedule, p, facts)).collect();
    if let Some(wanted) = schedule.throughput {
        let most = steps.iter().map(|s| s.throughput).max().unwrap_or(KibPerSec::new(0));
        if most < wanted {
            let level = schedule.phases[0].level;
            let rate = facts.catalog.level(level).throughput;
            let remedy = rate.map_or(String::new(), |rate| {
                format!("{} GiB of {level} give it", thousands(rate.quota_gib_for(wanted)))
            });
            breaches.push(Breach {
                text: format!("no phase gives {wanted}; the most is {most}"),
                remedy,
                rows: vec![facts.catalog.level_row(level)],
            });
        }
    }
    if !breaches.is_empty() {
        return Err(breaches);
    }
    let month = steps.iter().map(|step| step.month).sum();
    let whole = |step: &Step| cost(schedule, step.pool_gib, step.phase.level, WEEK as u64, facts);
    let constant = steps.iter().map(whole).max().unwrap_or(Usd::ZERO);
    let reasons = steps.iter().map(|step| reason(schedule, step, facts)).collect();
    Ok(Plan { changes: changes(schedule), steps, month, constant, reasons })
}

fn step(schedule: &Schedule, place: usize, facts: &Facts) -> Step {
    let phase = schedule.phases[place].clone();
    let hours = schedule.hours.iter().filter(|hour| **hour == place).count() as u64;
    let pool_gib = pool_gib(phase.quota_gib, facts);
    let month = cost(schedule, pool_gib, phase.level, hours, facts);
    Step { throughput: limit(&phase, facts), phase, hours, pool_gib, month }
}

fn pool_gib(quota_gib: u64, facts: &Facts) -> u64 {
    let step = facts.catalog.limit(LimitName::PoolSizeStep).max(1);
    quota_gib.max(facts.catalog.limit(LimitName::PoolSizeMin)).div_ceil(step) * step
}

fn kind(quota_gib: u64, facts: &Facts) -> VolumeKind {
    match quota_gib > facts.catalog.quota_range(VolumeKind::Regular).1 {
        true => VolumeKind::Large,
        false => VolumeKind::Regular,
    }
}

fn limit(phase: &Phase, facts: &Facts) -> KibPerSec {
    let Some(rate) = facts.catalog.level(phase.level).throughput else { return KibPerSec::new(0) };
    let by_quota = rate.limit(phase.quota_gib);
    let ceiling = facts.catalog.ceiling(phase.level, kind(phase.quota_gib, facts));
    ceiling.map_or(by_quota, |ceiling| by_quota.min(ceiling))
}

/// `GiB x price x hours of the month x share of the week`, rounded down to a millionth.
fn cost(schedule: &Schedule, gib: u64, level: ServiceLevel, hours: u64, facts: &Facts) -> Usd {
    let Some(prices) = facts.prices.storage(&schedule.region) else { return Usd::ZERO };
    let month = u64::from(schedule.hours_per_month);
    let whole = u128::from(prices.capacity(level).times(gib).times(month).micros());
    let share = whole * u128::from(hours) / WEEK as u128;
    Usd::from_micros(u64::try_from(share).unwrap_or(u64::MAX))
}

fn sizes(schedule: &Schedule, facts: &Facts) -> Vec<Breach> {
    let catalog = &facts.catalog;
    let mut breaches = Vec::new();
    let mut add = |text: String, remedy: String, rows: Vec<RowRef>| {
        breaches.push(Breach { text, remedy, rows });
    };
    let kinds: Vec<VolumeKind> =
        schedule.phases.iter().map(|phase| kind(phase.quota_gib, facts)).collect();
    for (phase, kind) in schedule.phases.iter().zip(&kinds) {
        let (name, quota) = (&phase.name, thousands(phase.quota_gib));
        if !catalog.level(phase.level).qos.contains(&QosType::Auto) {
            add(
                format!("{name}: the throughput of {} is bought apart from the quota", phase.level),
                "schedule standard, premium or ultra".to_owned(),
                vec![catalog.level_row(phase.level)],
            );
        }
        let (least, most) = catalog.quota_range(*kind);
        if !(least..=most).contains(&phase.quota_gib) {
            add(
                format!("{name}: a {} volume has no quota of {quota} GiB", kind.name()),
                format!("from {} to {} GiB", thousands(least), thousands(most)),
                vec![],
            );
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

fn reason(schedule: &Schedule, step: &Step, facts: &Facts) -> Reason {
    let level = step.phase.level;
    let rate = facts.catalog.level(level).throughput.map_or(0, |rate| rate.get());
    let mut rows = vec![facts.catalog.level_row(level)];
    rows.extend(facts.prices.storage(&schedule.region).map(|prices| prices.row()));
    let price = facts.prices.storage(&schedule.region).map_or(Usd::ZERO, |p| p.capacity(level));
    Reason::from_rows(
        format!(
            "{}: {} GiB x {rate} KiB/s per GiB = {}; pool of {} GiB x {} x {} h x \
              {}/{WEEK} of the week = {}",
            step.phase.name,
            thousands(step.phase.quota_gib),
            step.throughput,
            thousands(step.pool_gib),
            price.exact(),
            schedule.hours_per_month,
            step.hours,
            step.month
        ),
        rows,
    )
}
