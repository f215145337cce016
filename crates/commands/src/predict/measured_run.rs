//! `predict --against RUN`: measured load points compared with the prediction.

use analysis::analyze;
use analysis::load_point::LoadPoint;
use analysis::measured_load::MeasuredLoad;
use anyhow::anyhow;
use predict::measured::MeasuredPoint;
use predict::topology::Workload;
use predict::{Parameters, Topology};
use report::predict::MeasuredRun;
use store::Store;
use units::{Bytes, OpsPerSec};

use crate::outcome::Failure;

/// Shares of reads that differ by less are equal: the mix is random.
const SAME_SHARE: f64 = 0.02;
/// Nanoseconds in a second.
const NS_PER_S: f64 = 1e9;

/// The load points of a run whose load is that of the topology's only workload.
pub(super) fn measured(
    id: &str,
    store: &Store,
    topology: &Topology,
    parameters: &Parameters,
) -> Result<MeasuredRun, Failure> {
    let [workload] = &topology.workloads[..] else {
        return Err(Failure::input(anyhow!(
            "compare the prediction with `{id}`: the topology has {} workloads, but a run can be \
             compared with one only; remove the others",
            topology.workloads.len()
        )));
    };
    let record = store.load(id).map_err(Failure::input)?;
    let findings = analyze(&record);
    let all: Vec<&LoadPoint> =
        findings.load_points.iter().filter(|point| point.merged.total.data.completed > 0).collect();
    let same = |point: &&LoadPoint| is_same(workload, &MeasuredLoad::of(point));
    let mut points = Vec::new();
    for point in all.iter().copied().filter(same) {
        let data = &point.merged.total.data;
        let (Some(rate), Some(mean)) = (data.achieved_rate, data.response.mean_ns) else {
            continue;
        };
        let numbers = (OpsPerSec::new(rate.value), mean.value / NS_PER_S);
        let outstanding = rate.value * numbers.1;
        let point = MeasuredPoint::of(topology, parameters, outstanding, numbers);
        points.push(point.map_err(Failure::input)?);
    }
    if points.is_empty() {
        return Err(no_such_load(&findings.id, workload, &all));
    }
    points.sort_by(|a, b| a.outstanding.total_cmp(&b.outstanding));
    Ok(MeasuredRun { id: findings.id, points })
}

fn is_same(workload: &Workload, load: &MeasuredLoad) -> bool {
    load.transfer_bytes == workload.transfer_bytes
        && load.access == workload.access
        && (load.read - workload.read).abs() <= SAME_SHARE
}

fn no_such_load(id: &str, workload: &Workload, all: &[&LoadPoint]) -> Failure {
    let in_words = |load: &MeasuredLoad| {
        let size = Bytes::new(load.transfer_bytes);
        format!("{size} {}, {:.0} % reads", load.access.name(), 100.0 * load.read)
    };
    let required = MeasuredLoad {
        transfer_bytes: workload.transfer_bytes,
        read: workload.read,
        access: workload.access,
    };
    let mut there: Vec<String> = Vec::new();
    for point in all {
        let found = in_words(&MeasuredLoad::of(point));
        if !there.contains(&found) {
            there.push(found);
        }
    }
    let there = match there.is_empty() {
        true => "no successful operations".to_owned(),
        false => there.join("; "),
    };
    Failure::input(anyhow!(
        "compare the prediction with `{id}`: none of its load points has the load of workload `{}` \
         ({}); it has: {there}",
        workload.name,
        in_words(&required)
    ))
}
