//! A schedule of quota and level laid out.

use std::io::{self, Write};

use serde::Serialize;
use sizing::schedule::{Breach, Plan, Schedule};

use crate::document::{Block, Column, Section, Table};
use crate::number::{exported, plain};
use crate::sheet::{Sheet, reasons};

/// A schedule with what it comes to.
pub type Planned = (Schedule, Result<Plan, Vec<Breach>>);

/// What is shown: a table for each schedule that is allowed, and why others are not.
pub fn sheet(planned: &[Planned], assumptions: &[String], explained: bool) -> Sheet {
    let mut sections: Vec<Section> =
        planned.iter().map(|(schedule, result)| section(schedule, result, explained)).collect();
    sections.push(super::assumed(assumptions));
    Sheet { title: "Quota and service level over the week".to_owned(), sections }
}

fn section(schedule: &Schedule, result: &Result<Plan, Vec<Breach>>, explained: bool) -> Section {
    let levels = levels(schedule);
    let (title, blocks) = match result {
        Ok(plan) => {
            let saved = plan.constant.less(plan.month);
            let mut blocks = vec![
                Block::Paragraph(format!(
                    "{} a month, against {} with the most expensive phase all the time: {saved} \
                     less.",
                    plan.month, plan.constant
                )),
                Block::Table(table(plan)),
            ];
            if explained {
                blocks.push(Block::Heading("Changes in a week".to_owned()));
                blocks.push(Block::List(plan.changes.iter().map(|(_, c)| c.clone()).collect()));
                blocks.push(Block::Heading("Why".to_owned()));
                blocks.push(reasons(&plan.reasons));
            }
            (format!("With {levels}"), blocks)
        }
        Err(breaches) => {
            let point = |b: &Breach| match b.remedy.is_empty() {
                true => b.text.clone(),
                false => format!("{}; remedy: {}", b.text, b.remedy),
            };
            let mut blocks = vec![Block::List(breaches.iter().map(point).collect())];
            if explained {
                let rows = breaches.iter().map(|breach| cloud::reason::Reason {
                    text: breach.text.clone(),
                    rows: breach.rows.clone(),
                });
                blocks.push(reasons(&rows.collect::<Vec<_>>()));
            }
            (format!("Not possible with {levels}"), blocks)
        }
    };
    Section { id: "", title, blocks, method: vec!["Schedule"] }
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
            Column::numbers("a week", "h"),
            Column::numbers("quota", "GiB"),
            Column::numbers("pool", "TiB"),
            Column::numbers("limit", "MiB/s"),
            Column::numbers("a month", ""),
        ],
        rows: rows.collect(),
    }
}

#[derive(Serialize)]
struct Document<'a> {
    schema_version: u32,
    assumptions: &'a [String],
    schedules: Vec<ScheduleJson<'a>>,
}

#[derive(Serialize)]
struct ScheduleJson<'a> {
    levels: String,
    allowed: bool,
    month_usd: Option<f64>,
    constant_month_usd: Option<f64>,
    phases: Vec<PhaseJson<'a>>,
    changes: Vec<&'a str>,
    breaches: Vec<BreachJson<'a>>,
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
struct BreachJson<'a> {
    text: &'a str,
    remedy: &'a str,
}

/// Writes everything as JSON, indented, with a line break at the end.
///
/// # Errors
/// What `out` says.
pub fn write_json(
    planned: &[Planned],
    assumptions: &[String],
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
            changes: changes.map(|(_, change)| change.as_str()).collect(),
            breaches: breaches.map(|b| BreachJson { text: &b.text, remedy: &b.remedy }).collect(),
            reasons: plan.iter().flat_map(|p| &p.reasons).map(super::json::reason).collect(),
        }
    });
    let document = Document {
        schema_version: super::json::SCHEMA_VERSION,
        assumptions,
        schedules: schedules.collect(),
    };
    serde_json::to_writer_pretty(&mut *out, &document)?;
    writeln!(out)
}
