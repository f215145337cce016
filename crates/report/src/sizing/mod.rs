//! A sizing as sections: designs with settings, cost and reasons, or why there is none.

mod assumptions;
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
use sizing::design::Design;
use sizing::need::Need;
use sizing::pool::{Pool, Volumes};
use sizing::shortfall::Shortfall;
use sizing::solve::{Infeasible, Verdict};
use units::counted;

use crate::document::{Block, Column, Section, Table};
use crate::number::{NONE, plain};
use crate::sheet::{Sheet, with_rows};

/// How much is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shown {
    /// Most designs to show, cheapest first.
    pub designs: usize,
    /// Whether the arithmetic with its rows is shown.
    pub explained: bool,
}

/// A sizing as a sheet.
///
/// * `assumptions` - defaults that were used
pub fn sheet(need: &Need, verdict: &Verdict, assumptions: &[Assumption], shown: Shown) -> Sheet {
    let title = format!("Sizing for {}", words::need(need));
    let mut sections = match verdict {
        Verdict::Feasible { designs, of_each, cautions } => {
            let mut sections = feasible(need, designs, of_each, shown);
            let first = cautions.iter().map(|caution| Block::Paragraph(words::claim(caution)));
            sections[0].blocks.splice(0..0, first);
            sections
        }
        Verdict::Infeasible(why) => vec![infeasible(why, shown)],
    };
    sections.push(assumed(assumptions));
    Sheet { title, sections }
}

fn feasible(need: &Need, designs: &[Design], of_each: &[Design], shown: Shown) -> Vec<Section> {
    let some = &designs[..designs.len().min(shown.designs.max(1))];
    let mut blocks = vec![Block::Paragraph(words::verdict(&designs[0]))];
    blocks.extend(words::without_contradiction(designs).map(Block::Paragraph));
    blocks.push(Block::Table(table(some)));
    let all = some.iter().chain(of_each);
    blocks.extend(words::marks(all).map(Block::Paragraph));
    let more = designs.len() - some.len();
    if more > 0 {
        blocks.push(Block::Paragraph(format!(
            "{more} more designs cost more but have more spare throughput or fewer parts to manage \
             (`--top {}`).",
            designs.len()
        )));
    }
    blocks
        .push(Block::Paragraph("The cheapest design of each level and kind of volume:".to_owned()));
    blocks.push(Block::Table(table(of_each)));
    blocks.push(legend());
    let mut sections = vec![Section {
        id: "designs",
        title: format!("Designs for {}", words::need(need)),
        blocks,
        method: vec!["Sizing"],
    }];
    for (index, design) in some.iter().enumerate() {
        sections.push(one(need, design, index, shown));
    }
    sections
}

/// Anchors of the first designs; the others cannot be linked to.
const ANCHORS: [&str; 5] = ["design-1", "design-2", "design-3", "design-4", "design-5"];

fn one(need: &Need, design: &Design, index: usize, shown: Shown) -> Section {
    let mut blocks = vec![Block::List(words::facts(need, design)), Block::Table(pools(design))];
    blocks.push(Block::Table(uses(design)));
    let commands = design.settings.commands();
    if !commands.is_empty() {
        blocks.push(Block::Commands(commands.iter().flat_map(|c| words::broken(c)).collect()));
    }
    if shown.explained {
        blocks.push(Block::Heading("Why".to_owned()));
        let mut all = design.reasons.clone();
        all.extend(design.settings.reasons.iter().cloned());
        blocks.push(claims(&all));
    }
    Section {
        id: ANCHORS.get(index).copied().unwrap_or(""),
        title: format!("Design {}: {}", index + 1, words::name(design)),
        blocks,
        method: Vec::new(),
    }
}

/// One row per design.
fn table(designs: &[Design]) -> Table {
    let row = |(index, design): (usize, &Design)| {
        let hosts = match &design.hosts {
            Some(hosts) => format!("{} {}", hosts.count, words::short_vm(&hosts.vm)),
            None => NONE.to_owned(),
        };
        vec![
            (index + 1).to_string(),
            words::level(design),
            plain(tib(design.pool_gib())),
            words::volumes(design),
            plain(design.limits().as_mib()),
            hosts,
            design.spare().to_string(),
            words::response(design),
            design.cost.month().to_string(),
        ]
    };
    Table {
        caption: String::new(),
        columns: vec![
            Column::words("#"),
            Column::words("level, QoS"),
            Column::numbers("pools", "TiB"),
            Column::words("volumes"),
            Column::numbers("limits", "MiB/s"),
            Column::words("hosts"),
            Column::numbers("spare", ""),
            Column::numbers("time", "ms"),
            Column::numbers("per month", ""),
        ],
        rows: designs.iter().enumerate().map(row).collect(),
    }
}

/// Pools and volumes of a design; identical pools share a row.
fn pools(design: &Design) -> Table {
    let mut rows: Vec<Vec<String>> = Vec::new();
    let mut distinct: Vec<(u64, &Pool)> = Vec::new();
    for pool in &design.pools {
        match distinct.iter_mut().find(|(_, other)| *other == pool) {
            Some((count, _)) => *count += 1,
            None => distinct.push((1, pool)),
        }
    }
    for (count, pool) in distinct {
        let quota = |v: &Volumes| v.quota_gib as f64;
        rows.push(vec![
            counted(count, "pool"),
            words::pool(pool),
            plain(pool.size_gib as f64),
            plain(pool.throughput.as_mib()),
        ]);
        for volumes in &pool.volumes {
            rows.push(vec![
                counted(volumes.count, "volume"),
                format!("{}, {}", volumes.part, volumes.kind.name()),
                plain(quota(volumes)),
                plain(volumes.throughput.as_mib()),
            ]);
        }
    }
    Table {
        caption: String::new(),
        columns: vec![
            Column::words("item"),
            Column::words("type"),
            Column::numbers("size (each)", "GiB"),
            Column::numbers("throughput (each)", "MiB/s"),
        ],
        rows,
    }
}

/// How much of each resource is used.
fn uses(design: &Design) -> Table {
    let row = |one: &sizing::resource_use::Use| {
        let (used, limit, unit) = words::amounts(one);
        let (share, kind) = (one.share().to_string(), names::claim_kind(one.kind).to_owned());
        vec![names::resource(one.resource).to_owned(), used, limit, unit, share, kind]
    };
    Table {
        caption: String::new(),
        columns: vec![
            Column::words("resource"),
            Column::numbers("used", ""),
            Column::numbers("limit", ""),
            Column::words("unit"),
            Column::numbers("share", ""),
            Column::words("evidence for the limit"),
        ],
        rows: design.uses.iter().map(row).collect(),
    }
}

fn infeasible(why: &Infeasible, shown: Shown) -> Section {
    let mut blocks = vec![Block::Paragraph(
        "No design meets this need. The smallest violation of each constraint:".to_owned(),
    )];
    blocks.push(Block::List(why.shortfalls.iter().map(shortfalls::shortfall).collect()));
    if !why.nearest.is_empty() {
        blocks.push(Block::Paragraph("Feasible instead:".to_owned()));
        let points = why.nearest.iter().map(|(relaxation, design)| {
            let month: Usd = design.cost.month();
            let change = shortfalls::relaxation(*relaxation, design);
            format!("{change}: {}, {month} per month", words::name(design))
        });
        blocks.push(Block::List(points.collect()));
    }
    if shown.explained {
        let claim = |one: &Shortfall| {
            let text = with_rows(&shortfalls::lack(one), &one.rows);
            format!("{}: {text}", names::claim_kind(one.kind))
        };
        blocks.push(Block::Heading("Why".to_owned()));
        blocks.push(Block::List(why.shortfalls.iter().map(claim).collect()));
    }
    Section { id: "infeasible", title: "Not possible".to_owned(), blocks, method: vec!["Sizing"] }
}

/// Claims as a list, each with its kind and the rows of `data/` behind it.
fn claims(claims: &[Claim]) -> Block {
    Block::List(claims.iter().map(words::claim_with_rows).collect())
}

/// The meaning of the kinds of claim.
fn legend() -> Block {
    let kinds = ClaimKind::ALL
        .map(|kind| format!("{}: {}", names::claim_kind(kind), names::claim_kind_meaning(kind)));
    Block::Paragraph(format!("Evidence for numbers. {}.", kinds.join("; ")))
}

fn assumed(assumptions: &[Assumption]) -> Section {
    Section {
        id: "assumptions",
        title: "Assumptions".to_owned(),
        blocks: vec![Block::List(assumptions::sentences(assumptions))],
        method: Vec::new(),
    }
}

fn tib(gib: u64) -> f64 {
    gib as f64 / 1024.0
}
