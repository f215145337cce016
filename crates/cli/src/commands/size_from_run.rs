//! `size --from-run`: what was measured, as what is needed.

use analysis::analyze;
use analysis::load_point::LoadPoint;
use anyhow::anyhow;
use cloud::throughput::KibPerSec;
use sizing::need::{Demand, Part};
use units::Bytes;

use crate::exit::Failure;
use crate::load_points::{Done, Most, best_of_each, read_permille_of_bytes};
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
    let store = store.open();
    let record = store.load(id).map_err(Failure::input)?;
    let findings = analyze(&record);
    let most = Most::Throughput;
    let best = best_of_each(&findings, most).into_iter().map(|place| &findings.load_points[place]);
    let best: Vec<_> = best.filter_map(|point| Some((point, most.of(point)?))).collect();
    if best.is_empty() {
        return Err(Failure::input(anyhow!(
            "size from `{}`: it has no operations that succeeded; name a record that has, as \
             `fourcorners show` tells",
            findings.id
        )));
    }
    let mut demands = Vec::new();
    for (point, throughput) in best {
        let demand = demand(point, throughput);
        assumptions.push(format!(
            "from `{}`, {}: {:.1} in transfers of {}, {} % of the bytes read",
            findings.id,
            point.variant,
            demand.throughput,
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

/// Where reads and writes are of different sizes, the share is that of bytes: limits are of bytes.
fn demand(point: &LoadPoint, throughput: f64) -> Demand {
    let Done { transfer_bytes, access, .. } = Done::of(point);
    Demand {
        throughput: KibPerSec::new((throughput / 1024.0).ceil() as u64),
        transfer_bytes,
        read_permille: read_permille_of_bytes(point),
        access,
    }
}
