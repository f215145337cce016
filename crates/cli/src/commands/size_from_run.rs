//! `size --from-run`: what was measured, as what is needed.

use analysis::load_point::{LoadPoint, OpSummary};
use analysis::{Findings, analyze};
use anyhow::anyhow;
use cloud::figure::Access;
use cloud::throughput::KibPerSec;
use metrics::run_record::ExperimentRecord;
use sizing::need::{Demand, Part};
use units::Bytes;
use workload::pattern::AccessPattern;

use crate::exit::Failure;
use crate::record_args::StoreArguments;

/// The part that a record stands for: each of its variants at its largest throughput, of which the
/// design has to carry each by itself.
///
/// * `capacity_gib` - what the volumes must hold; without it, the files that the record's plan has
pub(super) fn part(
    id: &str,
    store: &StoreArguments,
    capacity_gib: Option<u64>,
    assumptions: &mut Vec<String>,
) -> Result<Part, Failure> {
    let store = store.open()?;
    let record = store.load(id).map_err(Failure::input)?;
    let findings = analyze(&record);
    let best = best_of_each(&findings);
    if best.is_empty() {
        return Err(Failure::input(anyhow!(
            "size from `{}`: it has no operations that succeeded; name a record that has, as \
             `fourcorners show` tells",
            findings.id
        )));
    }
    let mut demands = Vec::new();
    for (point, data, throughput) in best {
        let access = access(&record, &point.variant);
        let demand = demand(point, data, throughput, access);
        assumptions.push(format!(
            "from `{}`, {}: {:.1} MiB/s in transfers of {}, {} % of them reads",
            findings.id,
            point.variant,
            demand.throughput.as_mib(),
            Bytes::new(demand.transfer_bytes),
            demand.read_permille / 10
        ));
        demands.push(demand);
    }
    let filled: u64 = record.plan.file_sets().iter().map(|set| set.total_bytes()).sum();
    let capacity_gib = capacity_gib.unwrap_or_else(|| {
        let words = format!(
            "the volumes hold the files of the record, {} (--capacity)",
            Bytes::new(filled)
        );
        assumptions.push(words);
        filled.div_ceil(1 << 30)
    });
    Ok(Part { name: "data".to_owned(), capacity_gib, demands })
}

/// The load point of each variant with the largest throughput.
fn best_of_each(findings: &Findings) -> Vec<(&LoadPoint, &OpSummary, f64)> {
    let mut best: Vec<(&LoadPoint, &OpSummary, f64)> = Vec::new();
    for point in &findings.load_points {
        let data = &point.merged.total.data;
        let Some(throughput) = data.throughput.map(|estimate| estimate.value) else { continue };
        if throughput <= 0.0 || data.completed == 0 {
            continue;
        }
        match best.iter_mut().find(|(other, _, _)| other.variant == point.variant) {
            Some(other) if other.2 >= throughput => {}
            Some(other) => *other = (point, data, throughput),
            None => best.push((point, data, throughput)),
        }
    }
    best
}

/// Sequential only where every stream of the variant is.
fn access(record: &ExperimentRecord, variant: &str) -> Access {
    let runs = record.runs.iter().filter(|record| record.run.variant == variant);
    let mut streams = runs.flat_map(|record| &record.run.streams);
    match streams.all(|stream| matches!(stream.access_pattern, AccessPattern::Sequential)) {
        true => Access::Sequential,
        false => Access::Random,
    }
}

fn demand(point: &LoadPoint, data: &OpSummary, throughput: f64, access: Access) -> Demand {
    let reads = point.merged.total.kinds.iter().filter(|kind| kind.name == "read");
    let read_bytes: u64 = reads.map(|kind| kind.bytes).sum();
    Demand {
        throughput: KibPerSec::new((throughput / 1024.0).ceil() as u64),
        transfer_bytes: (data.bytes / data.completed).max(1),
        read_permille: read_bytes.saturating_mul(1000) / data.bytes.max(1),
        access,
    }
}
