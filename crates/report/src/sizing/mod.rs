//! A sizing laid out: what to buy, how to set it, what it costs, and why; or why nothing does.

pub mod json;
pub mod schedule;
mod words;

use cloud::price::Usd;
use sizing::claim::{Claim, ClaimKind};
use sizing::design::{Design, Pool, Volumes};
use sizing::need::Need;
use sizing::solve::{Infeasible, Verdict};
use units::{counted, percent};

use crate::document::{Block, Column, Section, Table};
use crate::number::{NONE, plain};
use crate::sheet::Sheet;

/// How much is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shown {
    /// Designs, the cheapest first.
    pub designs: usize,
    /// Whether the arithmetic with its rows is shown.
    pub explained: bool,
}

/// What is shown of a sizing.
///
/// * `assumptions` - what was taken for granted because nothing was said, as sentences
pub fn sheet(need: &Need, verdict: &Verdict, assumptions: &[String], shown: Shown) -> Sheet {
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
            "{more} more cost more for more spare throughput or fewer things to run \
             (`--top {}`).",
            designs.len()
        )));
    }
    blocks.push(Block::Paragraph(
        "The cheapest of each level and kind of volume, whether it is among these or not:"
            .to_owned(),
    ));
    blocks.push(Block::Table(table(of_each)));
    blocks.push(legend());
    let mut sections = vec![Section {
        id: "designs",
        title: format!("Designs for {}", words::need(need)),
        blocks,
        method: vec!["Sizing"],
    }];
    for (place, design) in some.iter().enumerate() {
        sections.push(one(need, design, place, shown));
    }
    sections
}

/// Anchors of the designs that can be linked to; the others have none.
const ANCHORS: [&str; 5] = ["design-1", "design-2", "design-3", "design-4", "design-5"];

fn one(need: &Need, design: &Design, place: usize, shown: Shown) -> Section {
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
        id: ANCHORS.get(place).copied().unwrap_or(""),
        title: format!("Design {}: {}", place + 1, words::name(design)),
        blocks,
        method: Vec::new(),
    }
}

/// The designs side by side.
fn table(designs: &[Design]) -> Table {
    let row = |(place, design): (usize, &Design)| {
        let hosts = match &design.hosts {
            Some(hosts) => format!("{} {}", hosts.count, words::short_vm(&hosts.vm)),
            None => NONE.to_owned(),
        };
        vec![
            (place + 1).to_string(),
            words::level(design),
            plain(tib(design.pool_gib())),
            words::volumes(design),
            plain(design.limits().as_mib()),
            hosts,
            percent(design.spare_permille()),
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
            Column::numbers("a month", ""),
        ],
        rows: designs.iter().enumerate().map(row).collect(),
    }
}

/// Pools and volumes of a design; pools that are alike in one row.
fn pools(design: &Design) -> Table {
    let mut rows: Vec<Vec<String>> = Vec::new();
    let mut alike: Vec<(u64, &Pool)> = Vec::new();
    for pool in &design.pools {
        match alike.iter_mut().find(|(_, other)| *other == pool) {
            Some((count, _)) => *count += 1,
            None => alike.push((1, pool)),
        }
    }
    for (count, pool) in alike {
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
            Column::words("what"),
            Column::words("of which kind"),
            Column::numbers("size each", "GiB"),
            Column::numbers("throughput each", "MiB/s"),
        ],
        rows,
    }
}

/// How much of everything is used.
fn uses(design: &Design) -> Table {
    let row = |one: &sizing::design::Use| {
        let (used, limit, unit) = words::amounts(one);
        let (share, kind) = (percent(one.permille()), one.kind.name().to_owned());
        vec![one.resource.name().to_owned(), used, limit, unit, share, kind]
    };
    Table {
        caption: String::new(),
        columns: vec![
            Column::words("resource"),
            Column::numbers("used", ""),
            Column::numbers("of", ""),
            Column::words(""),
            Column::numbers("share", ""),
            Column::words("limit is"),
        ],
        rows: design.uses.iter().map(row).collect(),
    }
}

fn infeasible(why: &Infeasible, shown: Shown) -> Section {
    let mut blocks = vec![Block::Paragraph(
        "No design gives this. What forbids the designs that come nearest:".to_owned(),
    )];
    blocks.push(Block::List(why.shortfalls.iter().map(words::shortfall).collect()));
    if !why.nearest.is_empty() {
        blocks.push(Block::Paragraph("What is possible:".to_owned()));
        let points = why.nearest.iter().map(|(what, design)| {
            let month: Usd = design.cost.month();
            format!("{what}: {}, {month} a month", words::name(design))
        });
        blocks.push(Block::List(points.collect()));
    }
    if shown.explained {
        let all = why.shortfalls.iter();
        let all = all.map(|one| Claim::new(one.kind, one.text.clone(), one.rows.clone()));
        blocks.push(Block::Heading("Why".to_owned()));
        blocks.push(claims(&all.collect::<Vec<_>>()));
    }
    Section { id: "infeasible", title: "Not possible".to_owned(), blocks, method: vec!["Sizing"] }
}

/// Claims as a list, each with its kind, and the rows of `data/` behind it.
fn claims(claims: &[Claim]) -> Block {
    Block::List(claims.iter().map(words::claim_with_rows).collect())
}

/// What the kinds of claim mean.
fn legend() -> Block {
    let kinds = ClaimKind::ALL.map(|kind| format!("{}: {}", kind.name(), kind.meaning()));
    Block::Paragraph(format!("What numbers rest on. {}.", kinds.join("; ")))
}

fn assumed(assumptions: &[String]) -> Section {
    Section {
        id: "assumptions",
        title: "Taken for granted".to_owned(),
        blocks: vec![Block::List(assumptions.to_vec())],
        method: Vec::new(),
    }
}

fn tib(gib: u64) -> f64 {
    gib as f64 / 1024.0
}
