//! Working sets that the cache of a file server may hold: reads are then faster than its storage.

use metrics::run_record::{ExperimentRecord, RunRecord};
use metrics::warning::Warning;
use workload::plan::{Stream, TargetSpec};

use crate::host_check::is_remote;
use crate::warnings::Sighting;

/// A smaller working set may fit into the server's memory, whose size is unknown.
const WORKING_SET_MIN_BYTES: u64 = 64 << 30;

/// The warning about load points that read a small working set from a file server: one about all of
/// them, or one about each if there are others.
///
/// * `groups` - the runs of each load point
pub(crate) fn sightings(record: &ExperimentRecord, groups: &[Vec<&RunRecord>]) -> Vec<Sighting> {
    if !is_on_server(record) {
        return Vec::new();
    }
    let small = |(index, records): (usize, &Vec<&RunRecord>)| {
        let bytes = read_bytes(&records.first()?.run.streams)?;
        (bytes < WORKING_SET_MIN_BYTES).then_some((index, bytes))
    };
    let small: Vec<(usize, u64)> = groups.iter().enumerate().filter_map(small).collect();
    let sighting = |load_point: Option<usize>, working_set_bytes: u64| Sighting {
        load_point,
        stream: None,
        repeats: Vec::new(),
        warning: Warning::WorkingSetFitsServerCache { working_set_bytes },
    };
    if small.len() < groups.len() {
        return small.into_iter().map(|(index, bytes)| sighting(Some(index), bytes)).collect();
    }
    let largest = small.into_iter().map(|(_, bytes)| bytes).max();
    largest.map(|bytes| sighting(None, bytes)).into_iter().collect()
}

/// Whether a file server stores the files. The emulated volume does not count: it has no cache, and
/// delays every operation as its limits require.
fn is_on_server(record: &ExperimentRecord) -> bool {
    match record.plan.target() {
        TargetSpec::Nfs { .. } => true,
        TargetSpec::Directory { .. } => {
            record.environment.prior.filesystem.as_deref().is_some_and(is_remote)
        }
        TargetSpec::Emulated { .. } | TargetSpec::Null => false,
    }
}

/// The bytes that the operations of all streams can access, if any of them reads.
fn read_bytes(streams: &[Stream]) -> Option<u64> {
    streams.iter().any(|stream| stream.read_permille > 0).then(|| {
        let bytes = |stream: &Stream| {
            let set = stream.working_set;
            let files = u64::from(set.files) * u64::from(stream.targets.count());
            files.saturating_mul(set.area_bytes)
        };
        streams.iter().map(bytes).sum()
    })
}
