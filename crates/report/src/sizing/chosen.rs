//! The recommended design: caveats, cost, what to create, use of resources and commands.

use sizing::claim::{Claim, ClaimKind};
use sizing::cost::Item;
use sizing::cost_by_level::LevelCost;
use sizing::design::Design;
use sizing::hosts::Hosts;
use sizing::need::{Need, Protocol};
use sizing::pool::{Pool, Volumes};
use sizing::resource_use::Use;
use sizing::statement::{Note, Statement};
use units::{Bytes, counted, thousands};

use super::{names, section, statements, words};
use crate::buy::cost_chart::{CostLine, cost_chart};
use crate::buy::diagram::{Diagram, Layer, Links};
use crate::buy::utilization::{Bar, highest_first};
use crate::document::{Block, Column, Section, Table};
use crate::number::plain;

/// Most caveats that are shown; all are among the details of the design.
const CAVEATS_MAX: usize = 5;

/// The sections of the recommended design.
pub(super) fn sections(need: &Need, design: &Design, costs: &[LevelCost]) -> Vec<Section> {
    let mut sections = Vec::new();
    let caveats = caveats(design);
    if !caveats.is_empty() {
        sections.push(section("caveats", "Caveats", vec![Block::List(caveats)]));
    }
    if let Some(chart) = chart(need, design, costs) {
        sections.push(section("cost", "Monthly cost", vec![Block::Charts(vec![chart])]));
    }
    let blocks = vec![Block::Diagram(diagram(design)), Block::Table(pools(design))];
    sections.push(section("system", "Pools and volumes", blocks));
    if let Some(commands) = commands(design) {
        sections.push(section("commands", "Commands on each client", vec![commands]));
    }
    sections.push(section("use", "Use of resources", vec![bars(design)]));
    sections
}

/// What to know before buying it. That Flexible pools include some throughput is among its details.
fn caveats(design: &Design) -> Vec<String> {
    let is_normal =
        |note: &Claim| matches!(note.statement, Statement::Note(Note::FreeBaseline { .. }));
    let notes = design.notes.iter().filter(|note| !is_normal(note));
    let mut all: Vec<String> = notes.map(words::claim).collect();
    all.extend(design.cost.notes.iter().map(statements::cost_note));
    all.truncate(CAVEATS_MAX);
    all
}

/// The storage cost of each level by throughput; hosts do not depend on the level.
fn chart(need: &Need, design: &Design, costs: &[LevelCost]) -> Option<crate::drawing::Chart> {
    let line = |one: &LevelCost| CostLine {
        name: one.level.name().to_owned(),
        points: one
            .points
            .iter()
            .map(|(rate, month)| (rate.as_mib(), month.as_dollars()))
            .collect(),
    };
    let lines: Vec<CostLine> = costs.iter().map(line).collect();
    let storage = design.cost.month().less(design.cost.of(Item::Hosts));
    let at = (need.throughput().as_mib(), storage.as_dollars());
    let name = format!("recommended: {}", words::level(design));
    cost_chart(&lines, Some((name, at)), "Monthly cost of the cheapest storage with one level")
}

/// Pools and volumes of a design; identical pools share a row.
pub(super) fn pools(design: &Design) -> Table {
    let mut rows: Vec<Vec<String>> = Vec::new();
    for (count, pool) in distinct(&design.pools) {
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
            Column::words("type").dispensable(1),
            Column::numbers("size (each)", "GiB"),
            Column::numbers("throughput (each)", "MiB/s"),
        ],
        rows,
    }
}

/// Different pools, each with its number.
fn distinct(pools: &[Pool]) -> Vec<(u64, &Pool)> {
    let mut distinct: Vec<(u64, &Pool)> = Vec::new();
    for pool in pools {
        match distinct.iter_mut().find(|(_, other)| *other == pool) {
            Some((count, _)) => *count += 1,
            None => distinct.push((1, pool)),
        }
    }
    distinct
}

/// How much of each purchased resource is used.
pub(super) fn bars(design: &Design) -> Block {
    let bar = |one: &Use| {
        let (used, limit, unit) = words::amounts(one);
        let evidence = match one.kind {
            ClaimKind::DocumentedLimit => String::new(),
            kind => format!(" ({})", names::claim_kind(kind)),
        };
        Bar {
            resource: names::short_resource(one.resource).to_owned(),
            used: one.share().fraction(),
            amount: format!("{used} of {limit} {unit}{evidence}"),
        }
    };
    Block::Bars(highest_first(design.purchased_uses().map(bar).collect()))
}

/// The commands for each client, if there are any.
pub(super) fn commands(design: &Design) -> Option<Block> {
    let commands = design.settings.commands();
    let lines = commands.iter().flat_map(|command| words::broken(command)).collect();
    (!commands.is_empty()).then_some(Block::Commands(lines))
}

/// Clients, endpoints, volumes and pools.
fn diagram(design: &Design) -> Diagram {
    let mut layers: Vec<Layer> = Vec::new();
    if let Some(hosts) = &design.hosts {
        layers.extend(of_hosts(hosts));
    }
    let gib: u64 = design.quota_gib();
    layers.push(Layer {
        count: design.volume_count(),
        title: format!(
            "{}: {} with {}",
            counted(design.volume_count(), &format!("{} volume", design.kind.name())),
            Bytes::gib(gib),
            design.limits()
        ),
        below: Links::Members,
    });
    let pools = design.pools.len() as u64;
    let size = Bytes::gib(design.pool_gib());
    layers.push(Layer {
        count: pools,
        title: format!("{}: {size} {}", counted(pools, "pool"), words::level(design)),
        below: Links::Members,
    });
    Diagram { layers }
}

fn of_hosts(hosts: &Hosts) -> Vec<Layer> {
    let count = u64::from(hosts.count);
    let all = hosts.connections_total();
    let mut layers = vec![Layer {
        count,
        title: format!("{}: {}", counted(count, "client"), words::short_vm(&hosts.vm)),
        below: Links::Connections(match count {
            1 => counted(all, "connection"),
            _ => format!("{} ({} each)", counted(all, "connection"), thousands(all / count)),
        }),
    }];
    // A VMware host has a connection to each datastore.
    if hosts.attached != Protocol::Datastores {
        layers.push(Layer {
            count: hosts.paths,
            title: counted(hosts.paths, "endpoint"),
            below: Links::Members,
        });
    }
    layers
}
