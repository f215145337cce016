//! The sentences.

use sizing::avs::Sizing;
use sizing::avs::design::{Design, Verdict};
use units::{counted, thousands};

use super::Source;
use crate::document::Block;

/// More points than this are counted; `--json` has all.
const SHOWN: usize = 10;

/// What to do, in a few sentences.
pub(super) fn verdict(sizing: &Sizing) -> Vec<Block> {
    let vsan = &sizing.designs[0];
    let Some(design) = sizing.best.map(|at| &sizing.designs[at]) else {
        let possible = if vsan.is_possible() { "is possible" } else { "is not possible either" };
        return vec![Block::Paragraph(format!(
            "No design with datastores on Azure NetApp Files is possible as asked; the reasons \
             stand below. vSAN alone, with {} hosts, {possible}.",
            thousands(vsan.hosts)
        ))];
    };
    let mut said = vec![hosts(vsan, design)];
    said.push(match design.datastores.len() {
        0 => "No datastore on Azure NetApp Files is needed.".to_owned(),
        count => format!(
            "{count} datastores on Azure NetApp Files, {}, hold what vSAN of these hosts does not.",
            pools(design)
        ),
    });
    let saving = sizing.saving(design);
    match (saving.month, saving.break_even, design.files_month) {
        (Some((amount, Verdict::Less)), _, _) => {
            said.push(format!("This saves {amount} a month."));
        }
        (Some((amount, Verdict::More)), _, _) => {
            said.push(format!("This costs {amount} a month more than vSAN alone."));
        }
        (None, Some(host), Some(files)) if !design.datastores.is_empty() => said.push(format!(
            "Files cost {files} a month: this is the cheaper way where a host costs more than \
             {host} a month."
        )),
        (None, _, Some(files)) if !design.datastores.is_empty() => {
            said.push(format!("Files cost {files} a month."));
        }
        _ => {}
    }
    if sizing.selection.totals.bytes_per_s.is_none() && !design.datastores.is_empty() {
        said.push(
            "No load is known: this is by capacity alone, and may be far too slow.".to_owned(),
        );
    }
    vec![Block::Paragraph(said.join(" "))]
}

fn hosts(vsan: &Design, design: &Design) -> String {
    let (less, count) = (vsan.hosts.saturating_sub(design.hosts), thousands(design.hosts));
    match less {
        0 => format!("{count} hosts, as many as with vSAN alone."),
        1 => format!("{count} hosts, one fewer than with vSAN alone."),
        less => format!(
            "{count} hosts, {} fewer than the {} of vSAN alone.",
            thousands(less),
            thousands(vsan.hosts)
        ),
    }
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
            "more than one machine was seen to reach: part the application, or mount the volume \
             in the guest"
                .to_owned()
        } else {
            stripe(advice.disks, advice.datastores)
        };
        format!("{} (row {}): {what}. {}.", advice.machine, advice.row, advice.reason.text)
    });
    list(points.collect(), sizing.spread.len())
}

/// What to do with the disks that a machine has.
fn stripe(disks: u64, datastores: u64) -> String {
    let plain = format!("stripe its disks over {datastores} datastores");
    match disks {
        0 => plain,
        disks if disks < datastores => {
            let disk = if disks == 1 { "disk" } else { "disks" };
            let more = datastores - disks;
            format!("{plain}; it has {disks} {disk}, so give it {more} more")
        }
        disks => format!("{plain}; it has {disks}, which are enough"),
    }
}

/// Disks that no datastore holds.
pub(super) fn misfits(sizing: &Sizing) -> Vec<Block> {
    let points = sizing.misfits.iter().map(|misfit| {
        format!("{} (row {}), {}: {}.", misfit.machine, misfit.row, misfit.disk, misfit.reason.text)
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

/// Files, sheets, and what was left out.
pub(super) fn read(sizing: &Sizing, source: &Source) -> Vec<Block> {
    let sheets = source
        .sheets
        .iter()
        .map(|(name, rows)| format!("{name} ({})", counted(*rows as u64, "row")));
    let sheets: Vec<String> = sheets.collect();
    let mut points = vec![format!("{}: {}.", source.files.join(", "), sheets.join(", "))];
    if !source.absent.is_empty() {
        points.push(format!("Sheets that are not there: {}.", source.absent.join(", ")));
    }
    let dropped = &sizing.selection.dropped;
    if !dropped.is_empty() {
        let count = |(why, count): (&&str, &usize)| format!("{} {why}", thousands(*count as u64));
        let dropped: Vec<String> = dropped.iter().map(count).collect();
        points.push(format!("Left out: {}.", dropped.join(", ")));
    }
    points.extend(source.notes.iter().cloned());
    vec![Block::List(points)]
}

/// Senses and assumptions.
pub(super) fn assumed(sizing: &Sizing, source: &Source) -> Vec<Block> {
    let points = source.senses.iter().chain(&sizing.assumptions).cloned();
    vec![Block::List(points.collect())]
}
