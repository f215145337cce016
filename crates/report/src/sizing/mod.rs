//! A sizing as a sheet: the recommendation, designs, cost, use of resources and commands, or why
//! there is no design; with the arithmetic and assumptions folded.

mod assumptions;
mod business;
mod chosen;
pub mod json;
mod names;
pub mod schedule;
mod shortfalls;
mod statements;
mod trade_offs;
mod words;

use cloud::price::Usd;
use sizing::assumption::Assumption;
use sizing::claim::{Claim, ClaimKind};
use sizing::cost_by_level::LevelCost;
use sizing::design::Design;
use sizing::need::Need;
use sizing::shortfall::Shortfall;
use sizing::solve::{Infeasible, Verdict};

use crate::document::{Block, Column, Section, Table};
use crate::number::{NONE, plain};
use crate::sheet::{Sheet, with_rows};

/// A sizing as a sheet.
///
/// * `assumptions` - defaults that were used
/// * `costs` - for the chart; may be empty
/// * `top` - most designs to list, cheapest first
pub fn sheet(
    need: &Need,
    verdict: &Verdict,
    assumptions: &[Assumption],
    costs: &[LevelCost],
    top: usize,
) -> Sheet {
    let mut sheet = match verdict {
        Verdict::Feasible { designs, of_each, cautions } => {
            let mut sheet = feasible(need, designs, of_each, costs, top);
            sheet.answer.extend(cautions.iter().map(words::claim));
            sheet
        }
        Verdict::Infeasible(why) => infeasible(need, why),
    };
    let business = need.business.as_ref();
    sheet.answer.extend(business.map(business::in_words));
    sheet.answer.extend(business.and_then(business::not_enough_data));
    sheet.title = format!("Sizing for {}", words::need(need));
    sheet.sections.extend(business.map(business::section));
    sheet.folded.push(assumed(assumptions));
    sheet
}

fn feasible(
    need: &Need,
    designs: &[Design],
    of_each: &[Design],
    costs: &[LevelCost],
    top: usize,
) -> Sheet {
    let listed = &designs[..designs.len().min(top.max(1))];
    let best = &designs[0];
    let mut answer = vec![words::recommendation(need, best)];
    answer.extend(words::without_contradiction(designs));
    answer.extend(words::beyond_the_model(need, designs));
    answer.extend(words::clients(need, best));
    let mut blocks = vec![Block::Table(table(listed))];
    let more = designs.len() - listed.len();
    if more > 0 {
        blocks.push(Block::Paragraph(format!(
            "{more} more with more spare throughput or fewer parts to manage: `--top {}`.",
            designs.len()
        )));
    }
    let mut sections =
        vec![Section { method: vec!["Sizing"], ..section("designs", "Designs", blocks) }];
    sections.extend(chosen::sections(need, best, costs));
    let mut folded: Vec<Section> =
        listed.iter().enumerate().map(|(index, one)| details(need, one, index)).collect();
    let mut blocks = vec![Block::Table(table(of_each))];
    blocks.extend(words::marks(listed.iter().chain(of_each)).map(Block::Paragraph));
    let title = "Cheapest design of each level and kind of volume";
    folded.push(section("of-each", title, blocks));
    folded.push(section("evidence", "Evidence for numbers", vec![legend()]));
    Sheet { answer, sections, folded, ..Sheet::default() }
}

fn section(id: &'static str, title: &str, blocks: Vec<Block>) -> Section {
    Section { id, title: title.to_owned(), blocks, method: Vec::new() }
}

/// Key results and arithmetic of a design; of those that are not recommended also what is bought.
fn details(need: &Need, design: &Design, index: usize) -> Section {
    let mut blocks = vec![Block::List(words::facts(need, design))];
    if index > 0 {
        blocks.extend([Block::Table(chosen::pools(design)), chosen::bars(design)]);
        blocks.extend(chosen::commands(design));
    }
    blocks.push(Block::Heading("Why".to_owned()));
    blocks.push(claims(design.reasons.iter().chain(&design.settings.reasons)));
    section("design", &format!("Design {}: {}", index + 1, words::name(design)), blocks)
}

/// One row per design.
fn table(designs: &[Design]) -> Table {
    let charged = |design: &Design| {
        let hosts = design.hosts.as_ref().filter(|hosts| hosts.is_charged);
        hosts.map(|hosts| format!("{} {}", hosts.count, words::short_vm(&hosts.vm)))
    };
    let has_hosts = designs.iter().any(|design| charged(design).is_some());
    let row = |(index, design): (usize, &Design)| {
        let mut cells = vec![
            (index + 1).to_string(),
            words::level(design),
            plain(tib(design.pool_gib())),
            words::volumes(design),
            plain(design.limits().as_mib()),
        ];
        if has_hosts {
            cells.push(charged(design).unwrap_or_else(|| NONE.to_owned()));
        }
        cells.extend([
            design.spare().to_string(),
            words::response(design),
            design.cost.month().to_string(),
        ]);
        cells
    };
    let mut columns = vec![
        Column::words("#"),
        Column::words("level, QoS"),
        Column::numbers("pools", "TiB"),
        Column::words("volumes").dispensable(2),
        Column::numbers("limits", "MiB/s").dispensable(3),
    ];
    if has_hosts {
        columns.push(Column::words("hosts"));
    }
    columns.extend([
        Column::numbers("spare", "").dispensable(4),
        Column::numbers("latency", "ms").dispensable(1),
        Column::numbers("per month", ""),
    ]);
    Table { caption: String::new(), columns, rows: designs.iter().enumerate().map(row).collect() }
}

fn infeasible(need: &Need, why: &Infeasible) -> Sheet {
    let shortfalls = why.shortfalls.iter().map(shortfalls::shortfall).collect();
    let mut sections = vec![Section {
        method: vec!["Sizing"],
        ..section(
            "infeasible",
            "The smallest violation of each constraint",
            vec![Block::List(shortfalls)],
        )
    }];
    if !why.nearest.is_empty() {
        let points = why.nearest.iter().map(|(relaxation, design)| {
            let month: Usd = design.cost.month();
            let change = shortfalls::relaxation(*relaxation, design);
            format!("{change}: {}, {month} per month", words::name(design))
        });
        let blocks = vec![Block::List(points.collect())];
        sections.push(section("instead", "Feasible instead", blocks));
    }
    let claim = |one: &Shortfall| {
        let text = with_rows(&shortfalls::lack(one), &one.rows);
        format!("{}: {text}", names::claim_kind(one.kind))
    };
    let reasons = why.shortfalls.iter().map(claim).collect();
    Sheet {
        answer: vec![format!("No design meets {}.", words::need(need))],
        sections,
        folded: vec![section("why", "Why", vec![Block::List(reasons)])],
        ..Sheet::default()
    }
}

/// Claims as a list, each with its kind and the rows of `data/` behind it.
fn claims<'a>(claims: impl Iterator<Item = &'a Claim>) -> Block {
    Block::List(claims.map(words::claim_with_rows).collect())
}

/// The meaning of the kinds of claim.
fn legend() -> Block {
    let kinds = ClaimKind::ALL
        .map(|kind| format!("{}: {}", names::claim_kind(kind), names::claim_kind_meaning(kind)));
    Block::List(kinds.to_vec())
}

fn assumed(assumptions: &[Assumption]) -> Section {
    let blocks = vec![Block::List(assumptions::sentences(assumptions))];
    section("assumptions", "Assumptions", blocks)
}

fn tib(gib: u64) -> f64 {
    gib as f64 / 1024.0
}
