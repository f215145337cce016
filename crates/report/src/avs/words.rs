//! The recommendation, and the lists of a sizing for Azure VMware Solution.

use sizing::avs::Sizing;
use sizing::avs::design::Design;
use sizing::avs::recommendation::Direction;
use sizing::avs::senses::{LoadSense, MemorySense, StorageSense};
use units::{counted, thousands};

use super::{Source, Unconfirmed, statements};
use crate::document::Block;

/// Most points shown; `--json` has all.
const SHOWN: usize = 3;

/// The recommendation in a sentence, and what it depends on.
pub(super) fn answer(sizing: &Sizing) -> Vec<String> {
    let vsan = &sizing.designs[0];
    let Some(design) = sizing.best.map(|at| &sizing.designs[at]) else {
        let possible = if vsan.is_possible() { "is possible" } else { "is not possible either" };
        return vec![format!(
            "No design with Azure NetApp Files datastores meets the options; the reasons are below. \
             vSAN only, with {} hosts, {possible}.",
            thousands(vsan.hosts)
        )];
    };
    let stores = match design.datastores.len() as u64 {
        0 => "; no Azure NetApp Files datastore is needed".to_owned(),
        count => {
            let stores = counted(count, "Azure NetApp Files datastore");
            format!(" and {stores}, {}", pools(design))
        }
    };
    let cost = cost(sizing, design).map_or_else(String::new, |cost| format!(": {cost}"));
    let mut answer = vec![format!(
        "Buy {} hosts{stores}{cost}. vSAN only would need {}.",
        thousands(design.hosts),
        counted(vsan.hosts, "host")
    )];
    if sizing.selection.totals.bytes_per_s.is_none() && !design.datastores.is_empty() {
        answer.push(
            "No load is known: the design is sized for capacity only and may be too slow."
                .to_owned(),
        );
    }
    answer
}

/// The cost of a design compared with vSAN only, as far as prices are known.
fn cost(sizing: &Sizing, design: &Design) -> Option<String> {
    let saving = sizing.saving(design);
    if let (Some(month), Some((amount, direction))) = (design.month(), saving.month) {
        let than = match direction {
            Direction::Less => "less",
            Direction::More => "more",
        };
        return Some(format!("{month} per month, {amount} {than} than vSAN only"));
    }
    let files = design.files_month.filter(|_| !design.datastores.is_empty())?;
    let hosts = match saving.break_even {
        Some(host) => format!(
            "cheaper than vSAN only if a host costs more than {host} per month (`--host-price`)"
        ),
        None => "without the hosts (`--host-price`)".to_owned(),
    };
    Some(format!("the datastores cost {files} per month, {hosts}"))
}

fn pools(design: &Design) -> String {
    let one = |pool: &sizing::avs::pool::Pool| {
        format!("{} TiB {} with {}", thousands(pool.size_gib / 1024), pool.level, pool.throughput)
    };
    design.pools.iter().map(one).collect::<Vec<_>>().join(" and ")
}

/// Machines that need several datastores.
pub(super) fn spread(sizing: &Sizing) -> Vec<Block> {
    let points = sizing.spread.iter().map(|advice| {
        let what = if advice.is_too_much {
            "exceeds the highest published rate of one machine: split the application, or mount the \
             volume in the guest"
                .to_owned()
        } else {
            stripe(advice.disks, advice.datastores)
        };
        let why = statements::text(&advice.reason);
        format!("{} (row {}): {what}. {why}.", advice.machine, advice.row)
    });
    list(points.collect(), sizing.spread.len())
}

/// How to distribute the disks of a machine.
fn stripe(disks: u64, datastores: u64) -> String {
    let plain = format!("stripe its disks over {datastores} datastores");
    match disks {
        0 => plain,
        disks if disks < datastores => {
            let disk = if disks == 1 { "disk" } else { "disks" };
            let more = datastores - disks;
            format!("{plain}; it has {disks} {disk}, so add {more} more")
        }
        disks => format!("{plain}; it has {disks}, which is enough"),
    }
}

/// Disks that no datastore can hold.
pub(super) fn misfits(sizing: &Sizing) -> Vec<Block> {
    let points = sizing.misfits.iter().map(|misfit| {
        let why = statements::text(&misfit.reason);
        format!("{} (row {}), {}: {why}.", misfit.machine, misfit.row, misfit.disk)
    });
    list(points.collect(), sizing.misfits.len())
}

fn list(mut points: Vec<String>, all: usize) -> Vec<Block> {
    points.truncate(SHOWN);
    if all > SHOWN {
        points.push(format!("And {} more; `--json` has all.", thousands((all - SHOWN) as u64)));
    }
    if points.is_empty() { Vec::new() } else { vec![Block::List(points)] }
}

/// Files, sheets and excluded machines.
pub(super) fn read(sizing: &Sizing, source: &Source) -> Vec<Block> {
    let sheets = source
        .sheets
        .iter()
        .map(|(name, rows)| format!("{name} ({})", counted(*rows as u64, "row")));
    let sheets: Vec<String> = sheets.collect();
    let mut points = vec![format!("{}: {}.", source.files.join(", "), sheets.join(", "))];
    if !source.absent.is_empty() {
        points.push(format!("Missing sheets: {}.", source.absent.join(", ")));
    }
    let dropped = &sizing.selection.dropped;
    if !dropped.is_empty() {
        let count = |(why, count): (&&str, &usize)| format!("{why} ({})", thousands(*count as u64));
        let dropped: Vec<String> = dropped.iter().map(count).collect();
        points.push(format!("Excluded: {}.", dropped.join(", ")));
    }
    points.extend(source.notes.iter().cloned());
    vec![Block::List(points)]
}

pub(super) fn assumed(sizing: &Sizing, source: &Source) -> Vec<Block> {
    vec![Block::List(assumptions(sizing, source))]
}

/// Which figures count, assumptions, and what no source confirms, in sentences.
pub(super) fn assumptions(sizing: &Sizing, source: &Source) -> Vec<String> {
    let mut all = senses(source);
    all.extend(sizing.assumptions.iter().map(statements::assumption));
    all.extend(source.unconfirmed.as_ref().map(unconfirmed));
    all
}

fn senses(source: &Source) -> Vec<String> {
    let storage = match source.senses.storage {
        StorageSense::InUse => "its used space on datastores, with snapshots and swap",
        StorageSense::Provisioned => "its disks and swap at their full size",
        StorageSense::Guest => {
            "the used space in its guest's file systems, or without it on datastores"
        }
    };
    let memory = match source.senses.memory {
        MemorySense::Provisioned => "its configured memory",
        MemorySense::Consumed => "its host memory in use, or without it its configured memory",
    };
    let mut all = vec![format!("Storage of a machine is {storage}; memory is {memory}.")];
    if source.has_loads {
        let load = match source.senses.load {
            LoadSense::Peak => "Measured loads are peaks, assumed to occur at the same time.",
            LoadSense::Mean => "Measured loads are means; peaks are higher.",
        };
        all.push(load.to_owned());
    }
    all
}

fn unconfirmed(of: &Unconfirmed) -> String {
    let keys: Vec<String> = of.keys.iter().map(|key| format!("`{key}`")).collect();
    format!(
        "In the profile {}, no source confirms {}: print the profile with --print-profile, enter \
         your own values, and pass the file.",
        of.profile,
        keys.join(", ")
    )
}
