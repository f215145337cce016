//! A weekly schedule of quota and service level as sections.

use std::io::{self, Write};

use cloud::volume_limit::SettingsError;
use serde::Serialize;
use sizing::assumption::Assumption;
use sizing::schedule::{Breach, Change, PhaseCost, Plan, Rule, Schedule, WEEK};
use units::thousands;

use crate::document::{Block, Column, Section, Table};
use crate::model::words::volume_limit;
use crate::number::{exported, plain};
use crate::sheet::{Sheet, with_rows};

/// A schedule with its result.
pub type Planned = (Schedule, Result<Plan, Vec<Breach>>);

/// The cheapest schedule in a sentence, a table for each allowed schedule, and the broken rules of
/// the others.
pub fn sheet(planned: &[Planned], assumptions: &[Assumption]) -> Sheet {
    let mut folded: Vec<Section> =
        planned.iter().map(|(schedule, result)| details(schedule, result)).collect();
    folded.push(super::assumed(assumptions));
    Sheet {
        title: "Quota and service level over the week".to_owned(),
        answer: vec![recommendation(planned)],
        sections: planned.iter().map(|(schedule, result)| section(schedule, result)).collect(),
        folded,
    }
}

fn recommendation(planned: &[Planned]) -> String {
    let allowed =
        planned.iter().filter_map(|(schedule, result)| Some((schedule, result.as_ref().ok()?)));
    match allowed.min_by_key(|(_, plan)| plan.month) {
        Some((schedule, plan)) => {
            format!("Use {}: {} per month, {}.", levels(schedule), plan.month, saved(plan))
        }
        None => "No schedule keeps the service's rules and the requirements.".to_owned(),
    }
}

/// `$175 less than the most expensive phase all the time ($1,506)`
fn saved(plan: &Plan) -> String {
    let saved = plan.constant.less(plan.month);
    format!("{saved} less than the most expensive phase all the time ({})", plan.constant)
}

fn section(schedule: &Schedule, result: &Result<Plan, Vec<Breach>>) -> Section {
    let levels = levels(schedule);
    let (title, blocks) = match result {
        Ok(plan) => {
            let cost = format!("{} per month, {}.", plan.month, saved(plan));
            let blocks = vec![Block::Paragraph(cost), Block::Table(table(plan))];
            (format!("With {levels}"), blocks)
        }
        Err(breaches) => {
            let point = |b: &Breach| format!("{}; remedy: {}", rule(&b.rule), remedy(&b.rule));
            let blocks = vec![Block::List(breaches.iter().map(point).collect())];
            (format!("Not possible with {levels}"), blocks)
        }
    };
    Section { id: "schedule", title, blocks, method: vec!["Schedule"] }
}

/// Changes and arithmetic of a schedule.
fn details(schedule: &Schedule, result: &Result<Plan, Vec<Breach>>) -> Section {
    let blocks = match result {
        Ok(plan) => {
            let reason = |of: &PhaseCost| with_rows(&phase_cost(of), &of.rows);
            vec![
                Block::Heading("Changes in a week".to_owned()),
                Block::List(plan.changes.iter().map(change).collect()),
                Block::Heading("Why".to_owned()),
                Block::List(plan.reasons.iter().map(reason).collect()),
            ]
        }
        Err(breaches) => {
            let reason = |of: &Breach| with_rows(&rule(&of.rule), &of.rows);
            vec![Block::List(breaches.iter().map(reason).collect())]
        }
    };
    let title = format!("Details with {}", levels(schedule));
    Section { id: "details", title, blocks, method: Vec::new() }
}

fn levels(schedule: &Schedule) -> String {
    let mut levels: Vec<&str> = schedule.phases.iter().map(|phase| phase.level.name()).collect();
    levels.dedup();
    levels.join(" and ")
}

fn table(plan: &Plan) -> Table {
    let rows = plan.steps.iter().map(|step| {
        vec![
            step.phase.name.clone(),
            step.phase.level.name().to_owned(),
            step.hours.to_string(),
            plain(step.phase.quota_gib as f64),
            (step.pool_gib >> 10).to_string(),
            plain(step.throughput.as_mib()),
            step.month.to_string(),
        ]
    });
    Table {
        caption: String::new(),
        columns: vec![
            Column::words("phase"),
            Column::words("level"),
            Column::numbers("per week", "h"),
            Column::numbers("quota", "GiB"),
            Column::numbers("pool", "TiB"),
            Column::numbers("limit", "MiB/s"),
            Column::numbers("per month", ""),
        ],
        rows: rows.collect(),
    }
}

const DAYS: [&str; 7] = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];

/// `mon 08:00: to peak, quota from 4,096 to 5,120 GiB`
fn change(of: &Change) -> String {
    let (from, to) = (&of.from, &of.to);
    let level = match from.level == to.level {
        true => String::new(),
        false => format!(", moved from {} to {}", from.level, to.level),
    };
    format!(
        "{} {:02}:00: to {}, quota from {} to {} GiB{level}",
        DAYS[of.hour / 24],
        of.hour % 24,
        to.name,
        thousands(from.quota_gib),
        thousands(to.quota_gib),
    )
}

/// The throughput limit and the cost of a phase.
fn phase_cost(of: &PhaseCost) -> String {
    let PhaseCost { step, limit, price, hours_per_month, .. } = of;
    format!(
        "{}: {}; pool of {} GiB x {} x {hours_per_month} h x {}/{WEEK} of the week = {}",
        step.phase.name,
        volume_limit(&limit.derivation),
        thousands(step.pool_gib),
        price.exact(),
        step.hours,
        step.month
    )
}

/// A broken rule.
fn rule(of: &Rule) -> String {
    match of {
        Rule::Settings { phase, error, .. } => format!("{phase}: {error}"),
        Rule::Stored { phase, quota_gib, stored_gib } => format!(
            "{phase}: a quota of {} GiB is below the {} GiB stored",
            thousands(*quota_gib),
            thousands(*stored_gib)
        ),
        Rule::KindChanges => {
            "a regular volume cannot become a large one, or the reverse".to_owned()
        }
        Rule::Growth { least_gib, allowed_gib, most_gib } => format!(
            "a large volume of {} GiB can grow to {} GiB, not to {} GiB",
            thousands(*least_gib),
            thousands(*allowed_gib),
            thousands(*most_gib)
        ),
        Rule::CoolDown { level, after_hours, wait_hours } => format!(
            "a move up to {level} is followed by a move down after {after_hours} h; the service \
             requires {wait_hours} h in between ({} h missing)",
            wait_hours - after_hours
        ),
        Rule::Throughput { required, most, .. } => {
            format!("no phase provides {required}; the highest limit is {most}")
        }
    }
}

/// What would comply with a rule.
fn remedy(of: &Rule) -> String {
    match of {
        Rule::Settings { error: SettingsError::QosType { .. }, .. } => {
            "schedule standard, premium or ultra".to_owned()
        }
        Rule::Settings { allowed, .. } => allowed.clone(),
        Rule::Stored { stored_gib, .. } => {
            format!("at least {} GiB in every phase", thousands(*stored_gib))
        }
        Rule::KindChanges => {
            "keep all phases below, or all above, the largest regular volume".to_owned()
        }
        Rule::Growth { .. } => {
            "ask support to raise the limit, or reduce the difference between phases".to_owned()
        }
        Rule::CoolDown { .. } => {
            "change the quota within one level, which is allowed at any time, or keep the higher level \
             for longer"
                .to_owned()
        }
        Rule::Throughput { level, quota: Ok(quota), .. } => {
            format!("{} GiB of {level} provide it", thousands(quota.get() >> 30))
        }
        Rule::Throughput { quota: Err(why), .. } => why.to_string(),
    }
}

#[derive(Serialize)]
struct Document<'a> {
    schema_version: u32,
    assumptions: Vec<String>,
    schedules: Vec<ScheduleJson<'a>>,
}

#[derive(Serialize)]
struct ScheduleJson<'a> {
    levels: String,
    allowed: bool,
    month_usd: Option<f64>,
    constant_month_usd: Option<f64>,
    phases: Vec<PhaseJson<'a>>,
    changes: Vec<String>,
    breaches: Vec<BreachJson>,
    reasons: Vec<super::json::ReasonJson<'a>>,
}

#[derive(Serialize)]
struct PhaseJson<'a> {
    name: &'a str,
    level: &'static str,
    hours_per_week: u64,
    quota_gib: u64,
    pool_gib: u64,
    throughput_kib_s: u64,
    month_usd: f64,
}

#[derive(Serialize)]
struct BreachJson {
    text: String,
    remedy: String,
}

/// Writes everything as JSON, indented, with a line break at the end.
///
/// # Errors
/// Writing to `out` fails.
pub fn write_json(
    planned: &[Planned],
    assumptions: &[Assumption],
    out: &mut dyn Write,
) -> io::Result<()> {
    let schedules = planned.iter().map(|(schedule, result)| {
        let plan = result.as_ref().ok();
        let phases = plan.iter().flat_map(|plan| &plan.steps).map(|step| PhaseJson {
            name: &step.phase.name,
            level: step.phase.level.name(),
            hours_per_week: step.hours,
            quota_gib: step.phase.quota_gib,
            pool_gib: step.pool_gib,
            throughput_kib_s: step.throughput.get(),
            month_usd: exported(step.month.as_dollars()),
        });
        let changes = plan.iter().flat_map(|plan| &plan.changes);
        let breaches = result.as_ref().err().into_iter().flatten();
        ScheduleJson {
            levels: levels(schedule),
            allowed: result.is_ok(),
            month_usd: plan.map(|plan| exported(plan.month.as_dollars())),
            constant_month_usd: plan.map(|plan| exported(plan.constant.as_dollars())),
            phases: phases.collect(),
            changes: changes.map(change).collect(),
            breaches: breaches
                .map(|b| BreachJson { text: rule(&b.rule), remedy: remedy(&b.rule) })
                .collect(),
            reasons: plan
                .iter()
                .flat_map(|plan| &plan.reasons)
                .map(|of| super::json::reason(phase_cost(of), &of.rows))
                .collect(),
        }
    });
    let document = Document {
        schema_version: super::json::SCHEMA_VERSION,
        assumptions: super::assumptions::sentences(assumptions),
        schedules: schedules.collect(),
    };
    serde_json::to_writer_pretty(&mut *out, &document)?;
    writeln!(out)
}
