//! `predict --against RUN`: load points of a measured run beside what is predicted of them.

use analysis::analyze;
use analysis::load_point::LoadPoint;
use anyhow::anyhow;
use predict::measured::Beside;
use predict::topology::Workload;
use predict::{Parameters, Topology};
use report::predict::MeasuredRun;
use units::Bytes;

use crate::exit::Failure;
use crate::load_points::Done;
use crate::record_args::StoreArguments;

/// Nearer shares of reads are the same: mixes are drawn at random.
const SAME_SHARE: f64 = 0.02;
/// Nanoseconds in a second.
const NS_PER_S: f64 = 1e9;

/// The load points of a run that do what the topology's only workload does.
pub(super) fn measured(
    id: &str,
    store: &StoreArguments,
    topology: &Topology,
    parameters: &Parameters,
) -> Result<MeasuredRun, Failure> {
    let [workload] = &topology.workloads[..] else {
        return Err(Failure::input(anyhow!(
            "set the prediction beside `{id}`: the topology has {} workloads, and a run can be set \
             beside one only; leave one of them in it",
            topology.workloads.len()
        )));
    };
    let record = store.open().load(id).map_err(Failure::input)?;
    let findings = analyze(&record);
    let all: Vec<&LoadPoint> =
        findings.load_points.iter().filter(|point| point.merged.total.data.completed > 0).collect();
    let same = |point: &&LoadPoint| does(workload, &Done::of(point));
    let mut points = Vec::new();
    for point in all.iter().copied().filter(same) {
        let data = &point.merged.total.data;
        let (Some(rate), Some(mean)) = (data.achieved_rate, data.response.mean_ns) else {
            continue;
        };
        let numbers = (rate.value, mean.value / NS_PER_S);
        let outstanding = rate.value * numbers.1;
        let beside = Beside::of(topology, parameters, outstanding, numbers);
        points.push(beside.map_err(Failure::input)?);
    }
    if points.is_empty() {
        return Err(nothing_alike(&findings.id, workload, &all));
    }
    points.sort_by(|a, b| a.outstanding.total_cmp(&b.outstanding));
    Ok(MeasuredRun { id: findings.id, points })
}

fn does(workload: &Workload, done: &Done) -> bool {
    done.transfer_bytes == workload.transfer_bytes
        && done.access == workload.access
        && (done.read - workload.read).abs() <= SAME_SHARE
}

fn nothing_alike(id: &str, workload: &Workload, all: &[&LoadPoint]) -> Failure {
    let words = |done: &Done| {
        let size = Bytes::new(done.transfer_bytes);
        format!("{size} {}, {:.0} % of reads", done.access.name(), 100.0 * done.read)
    };
    let wanted = Done {
        transfer_bytes: workload.transfer_bytes,
        read: workload.read,
        access: workload.access,
    };
    let mut there: Vec<String> = Vec::new();
    for point in all {
        let found = words(&Done::of(point));
        if !there.contains(&found) {
            there.push(found);
        }
    }
    let there = match there.is_empty() {
        true => "nothing that succeeded".to_owned(),
        false => there.join("; "),
    };
    Failure::input(anyhow!(
        "set the prediction beside `{id}`: no load point of it does what workload `{}` does ({}); \
         it has: {there}",
        workload.name,
        words(&wanted)
    ))
}
