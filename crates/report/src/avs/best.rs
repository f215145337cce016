//! The recommended design: its datastores, their cost with other levels, the use of its resources and
//! its diagram.

use sizing::avs::Sizing;
use sizing::avs::design::Design;
use sizing::avs::utilization::{DesignResource, DesignUse};
use sizing::cost_by_level::LevelCost;
use units::{Bytes, Share, counted, thousands};

use super::tables;
use crate::buy::cost_chart::{CostLine, cost_chart};
use crate::buy::diagram::{Diagram, Layer, Links};
use crate::buy::utilization::{Bar, highest_first};
use crate::document::Block;
use crate::number::plain;

/// Most datastores in the short table.
const DATASTORES_SHOWN: usize = 6;
/// KiB/s in a MiB/s.
const KIB_PER_MIB: f64 = 1024.0;

/// The best design with datastores, if it has any.
fn best(sizing: &Sizing) -> Option<&Design> {
    sizing.best.map(|at| &sizing.designs[at]).filter(|design| !design.datastores.is_empty())
}

/// The cost of the datastores with each level.
pub(super) fn chart(sizing: &Sizing) -> Vec<Block> {
    let line = |one: &LevelCost| CostLine {
        name: one.level.name().to_owned(),
        points: one
            .points
            .iter()
            .map(|(rate, month)| (rate.as_mib(), month.as_dollars()))
            .collect(),
    };
    let lines: Vec<CostLine> = sizing.costs.iter().map(line).collect();
    let chosen = best(sizing).and_then(|design| {
        let at = (design.load().as_mib(), design.files_month?.as_dollars());
        Some((format!("recommended: {}", design.name()), at))
    });
    let what = "Monthly cost of one pool for the quotas of the recommended design";
    cost_chart(&lines, chosen, what).map(|chart| Block::Charts(vec![chart])).into_iter().collect()
}

/// The diagram and the first datastores.
pub(super) fn datastores(sizing: &Sizing) -> Vec<Block> {
    let Some(design) = best(sizing) else { return Vec::new() };
    let shown = tables::datastores(design, DATASTORES_SHOWN);
    vec![Block::Diagram(diagram(design)), Block::Table(shown)]
}

/// All datastores, if the short table leaves some out.
pub(super) fn all_datastores(sizing: &Sizing) -> Vec<Block> {
    let design = best(sizing).filter(|design| design.datastores.len() > DATASTORES_SHOWN);
    design.map(|design| Block::Table(tables::datastores(design, usize::MAX))).into_iter().collect()
}

/// The used share of each resource of the best design, or of vSAN only.
pub(super) fn bars(sizing: &Sizing) -> Vec<Block> {
    let design = sizing.best.map_or(&sizing.designs[0], |at| &sizing.designs[at]);
    let bars: Vec<Bar> = sizing.uses(design).iter().map(bar).collect();
    if bars.is_empty() { Vec::new() } else { vec![Block::Bars(highest_first(bars))] }
}

fn bar(of: &DesignUse) -> Bar {
    let hosts = |count: u64| counted(count, "host");
    let tib = |bytes: u64| tables::tib(Bytes::new(bytes));
    let mib = |kib: u64| plain(kib as f64 / KIB_PER_MIB);
    let (used, limit) = (of.used, of.limit);
    let (resource, amount) = match of.resource {
        DesignResource::Processors => {
            ("processors without spare hosts", format!("{used} of {}", hosts(limit)))
        }
        DesignResource::Memory => {
            ("memory without spare hosts", format!("{used} of {}", hosts(limit)))
        }
        DesignResource::Vsan => ("vSAN", format!("{} of {} TiB", tib(used), tib(limit))),
        DesignResource::Quotas => {
            ("quotas", format!("{} of {} GiB", thousands(used), thousands(limit)))
        }
        DesignResource::Throughput => {
            ("throughput limits", format!("{} of {} MiB/s", mib(used), mib(limit)))
        }
    };
    let share = Share::of_rounded_up(used, limit).fraction();
    Bar { resource: resource.to_owned(), used: share, amount }
}

/// Hosts, connections, datastores and pools.
fn diagram(design: &Design) -> Diagram {
    let stores = design.datastores.len() as u64;
    let layer = |count: u64, title: String, below: Links| Layer { count, title, below };
    let connections = counted(design.hosts.saturating_mul(stores), "connection");
    let quotas: u64 = design.datastores.iter().map(|store| store.quota_gib).sum();
    let pools = design.pools.len() as u64;
    let size: u64 = design.pools.iter().map(|pool| pool.size_gib).sum();
    Diagram {
        layers: vec![
            layer(design.hosts, counted(design.hosts, "host"), Links::Connections(connections)),
            layer(
                stores,
                format!("{}: {}", counted(stores, "datastore"), Bytes::gib(quotas)),
                Links::Members,
            ),
            layer(
                pools,
                format!("{}: {} {}", counted(pools, "pool"), Bytes::gib(size), design.name()),
                Links::Members,
            ),
        ],
    }
}
