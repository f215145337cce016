//! Tables of a sizing for Azure VMware Solution.

use cloud::price::Usd;
use sizing::avs::Sizing;
use sizing::avs::design::{Design, Lack};
use sizing::avs::recommendation::Direction;
use units::{Bytes, thousands};

use super::statements;
use crate::document::{Block, Column, Table};
use crate::number::{NONE, plain};

/// Bytes in a TiB.
const TIB: f64 = 1_099_511_627_776.0;

/// Most designs in the short table.
const DESIGNS_SHOWN: usize = 5;

/// Indices of the designs to compare: vSAN only, the best, and the cheapest of the others, in the
/// order of the designs.
pub(super) fn shown(sizing: &Sizing) -> Vec<usize> {
    let rank = |at: &usize| {
        let design = &sizing.designs[*at];
        let is_needed = *at == 0 || Some(*at) == sizing.best;
        (!is_needed, !design.is_possible(), design.files_month)
    };
    let mut all: Vec<usize> = (0..sizing.designs.len()).collect();
    all.sort_by_key(rank);
    all.truncate(DESIGNS_SHOWN);
    all.sort_unstable();
    all
}

/// All designs, if the short table leaves some out.
pub(super) fn every_design(sizing: &Sizing) -> Vec<Block> {
    let all: Vec<usize> = (0..sizing.designs.len()).collect();
    if all.len() > DESIGNS_SHOWN { designs(sizing, &all) } else { Vec::new() }
}

/// Requirements and costs of these designs.
pub(super) fn designs(sizing: &Sizing, shown: &[usize]) -> Vec<Block> {
    let has_price = sizing.designs.iter().any(|design| design.files_month.is_some());
    let has_total = sizing.designs.iter().any(|design| design.month().is_some());
    let mut columns = vec![Column::words("Design"), Column::numbers("hosts", "")];
    // With all amounts of money there is no room for it in 80 columns.
    if !has_total {
        columns.push(Column::numbers("vSAN", "TiB"));
    }
    columns.extend([
        Column::numbers("pools", "TiB"),
        Column::numbers("stores", "").dispensable(2),
        Column::numbers("has", "MiB/s").dispensable(3),
    ]);
    if has_price {
        columns.push(Column::numbers("files", "a month").dispensable(1));
    }
    if has_total {
        columns.push(Column::numbers("all", "a month"));
        columns.push(Column::numbers("saved", "a month"));
    }
    let rows = shown.iter().map(|&at| {
        let design = &sizing.designs[at];
        let mut name = design.name();
        if Some(at) == sizing.best {
            name.push_str(" *");
        }
        if !design.is_possible() {
            name.push_str(" (no)");
        }
        let pools: u64 = design.pools.iter().map(|pool| pool.size_gib).sum();
        let rate: f64 = design.pools.iter().map(|pool| pool.throughput.as_mib()).sum();
        let mut row = vec![name, thousands(design.hosts)];
        if !has_total {
            row.push(tib(design.vsan_stored));
        }
        row.extend([
            if design.pools.is_empty() { NONE.to_owned() } else { thousands(pools / 1024) },
            number_of_stores(design),
            if design.pools.is_empty() { NONE.to_owned() } else { format!("{rate:.0}") },
        ]);
        if has_price {
            let files = design.files_month.filter(|_| !design.pools.is_empty());
            row.push(money(files, design));
        }
        if has_total {
            row.push(money(design.month(), design));
            row.push(match sizing.saving(design).month {
                _ if at == 0 => NONE.to_owned(),
                Some((amount, Direction::Less)) if design.is_possible() => amount.to_string(),
                Some((amount, Direction::More)) if design.is_possible() => format!("-{amount}"),
                _ => NONE.to_owned(),
            });
        }
        row
    });
    let table = Table { caption: String::new(), columns, rows: rows.collect() };
    let mut blocks = vec![Block::Table(table)];
    let lacks = shown.iter().map(|at| &sizing.designs[*at]).flat_map(|design| {
        let text = |lack: &Lack| statements::text(&lack.reason);
        design.lacks.iter().map(move |lack| format!("{}: {}.", design.name(), text(lack)))
    });
    let lacks: Vec<String> = lacks.collect();
    if !lacks.is_empty() {
        blocks.push(Block::List(lacks));
    }
    blocks
}

fn number_of_stores(design: &Design) -> String {
    match design.datastores.len() {
        0 => NONE.to_owned(),
        count => count.to_string(),
    }
}

fn money(amount: Option<Usd>, design: &Design) -> String {
    match amount {
        Some(amount) if design.is_possible() => amount.to_string(),
        _ => NONE.to_owned(),
    }
}

/// The first `most` datastores of a design.
pub(super) fn datastores(design: &Design, most: usize) -> Table {
    let rows = design.datastores.iter().take(most).map(|store| {
        let load = match store.load_bytes_per_s {
            0 => NONE.to_owned(),
            bytes => thousands(bytes.div_ceil(1 << 20)),
        };
        vec![
            store.name.clone(),
            thousands(store.quota_gib),
            tib(store.stored),
            plain(store.throughput.as_mib()),
            load,
            thousands(store.machines.len() as u64),
        ]
    });
    let columns = vec![
        Column::words("Datastore"),
        Column::numbers("quota", "GiB"),
        Column::numbers("stored", "TiB"),
        Column::numbers("limit", "MiB/s").dispensable(2),
        Column::numbers("load", "MiB/s").dispensable(1),
        Column::numbers("machines", "").dispensable(3),
    ];
    let caption = format!("Datastores of design {}.", design.name());
    Table { caption, columns, rows: rows.collect() }
}

/// The classes of the profile with their assumed loads.
pub(super) fn loads(sizing: &Sizing) -> Vec<Block> {
    if sizing.selection.classes.is_empty() {
        return Vec::new();
    }
    let number = |count: usize| thousands(count as u64);
    let rows = sizing.selection.classes.iter().map(|class| {
        vec![
            class.name.clone(),
            number(class.machines),
            number(class.measured),
            class.ops_per_s.map_or(NONE.to_owned(), thousands),
            class.bytes_per_s.map_or(NONE.to_owned(), |bytes| thousands(bytes.div_ceil(1 << 20))),
        ]
    });
    let columns = vec![
        Column::words("Class"),
        Column::numbers("machines", ""),
        Column::numbers("measured", ""),
        Column::numbers("assumed", "IOPS"),
        Column::numbers("assumed", "MiB/s"),
    ];
    let caption = "The first matching class applies; measured loads take precedence.".to_owned();
    let mut blocks = vec![Block::Table(Table { caption, columns, rows: rows.collect() })];
    if !sizing.warnings.is_empty() {
        blocks.push(Block::List(super::warnings(sizing)));
    }
    blocks
}

/// Totals of the machines, and the hosts that each requires.
pub(super) fn needed(sizing: &Sizing) -> Vec<Block> {
    let (totals, hosts) = (&sizing.selection.totals, &sizing.hosts);
    let by = |count: Option<u64>| count.map_or(NONE.to_owned(), thousands);
    let row = |name: &str, amount: String, hosts: String| vec![name.to_owned(), amount, hosts];
    let mut rows = vec![
        row("vCPUs", thousands(totals.vcpus), by(hosts.by_processors)),
        row("memory", totals.memory.to_string(), by(Some(hosts.by_memory))),
        row("storage", totals.storage.to_string(), by(Some(hosts.by_storage))),
    ];
    if let Some(ops) = totals.ops_per_s {
        rows.push(row("operations", format!("{} IOPS", thousands(ops)), NONE.to_owned()));
    }
    if let Some(bytes) = totals.bytes_per_s {
        let rate = format!("{} MiB/s", thousands(bytes.div_ceil(1 << 20)));
        rows.push(row("throughput", rate, NONE.to_owned()));
    }
    let count = thousands(sizing.selection.machines.len() as u64);
    let columns =
        vec![Column::words("Of"), Column::numbers("all", ""), Column::numbers("hosts", "")];
    let caption = format!(
        "{count} machines; hosts by storage are those that vSAN alone would need. A cluster has \
         from {} to {} hosts, of which {} spare for the others' processors and memory.",
        hosts.least,
        hosts.cluster_max,
        match hosts.spare_per_cluster {
            0 => "none is".to_owned(),
            1 => "1 is".to_owned(),
            spare => format!("{spare} are"),
        }
    );
    vec![Block::Table(Table { caption, columns, rows })]
}

pub(super) fn tib(bytes: Bytes) -> String {
    format!("{:.1}", bytes.get() as f64 / TIB)
}
