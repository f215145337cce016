//! `size --from-run`: a measured load as a requirement.

use analysis::analyze;
use analysis::load_point::LoadPoint;
use analysis::measured_load::{BestBy, MeasuredLoad, best_of_each, read_share_of_bytes};
use cloud::throughput::KibPerSec;
use sizing::assumption::Assumption;
use sizing::need::{Demand, Part};
use store::Store;
use units::Bytes;

use crate::outcome::Failure;
use crate::predict::{no_successful_operations, refuse_lost_hosts};

/// The requirement of a record: the largest throughput of each of its variants, each of which the
/// design must meet separately.
///
/// * `capacity_gib` - the required capacity; `None` for the size of the record's files
pub(super) fn part(
    id: &str,
    store: &Store,
    capacity_gib: Option<u64>,
    assumptions: &mut Vec<Assumption>,
) -> Result<Part, Failure> {
    let record = store.load(id).map_err(Failure::input)?;
    let findings = analyze(&record);
    refuse_lost_hosts("size from", &findings)?;
    let by = BestBy::Throughput;
    let best = best_of_each(&findings, by).into_iter().map(|index| &findings.load_points[index]);
    let best: Vec<_> = best.filter_map(|point| Some((point, by.of(point)?))).collect();
    if best.is_empty() {
        return Err(no_successful_operations("size", &findings.id));
    }
    let mut demands = Vec::new();
    for (point, throughput) in best {
        let demand = demand(point, throughput);
        assumptions.push(Assumption::Measured {
            id: findings.id.clone(),
            variant: point.variant.clone(),
            throughput: demand.throughput,
            transfer: Bytes::new(demand.transfer_bytes),
            read: demand.read,
        });
        demands.push(demand);
    }
    let filled = record.plan.bytes_needed().get();
    let capacity_gib = capacity_gib.unwrap_or_else(|| {
        assumptions.push(Assumption::FilesOfRecord(Bytes::new(filled)));
        filled.div_ceil(1 << 30)
    });
    Ok(Part { name: "data".to_owned(), capacity_gib, demands, inodes: 0 })
}

/// The share of reads is that of bytes, because limits apply to bytes.
fn demand(point: &LoadPoint, throughput: f64) -> Demand {
    let MeasuredLoad { transfer_bytes, access, .. } = MeasuredLoad::of(point);
    Demand {
        throughput: KibPerSec::new((throughput / 1024.0).ceil() as u64),
        transfer_bytes,
        read: read_share_of_bytes(point),
        access,
        names_per_s: 0,
    }
}
