//! Warnings that follow from the host that measures, by whichever fleet it belongs to.

use metrics::warning::Warning;
use target::storage::Storage;
use workload::plan::{Run, Stream};

/// Share of processor time taken by the hypervisor above which a warning is given: one percent
/// moves a p99.
const STEAL_NOISY: f64 = 0.01;

/// What a host has; `None` if it is unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HostLimits {
    /// Its memory, in bytes.
    pub memory_bytes: Option<u64>,
    /// Processors that the threads of this process can use at a time.
    pub available_processors: Option<u32>,
}

/// The warnings that are known before a run.
///
/// * `threads` - of the run on this host
/// * `storage` - of a directory; `None` for a target that this host does not cache
pub fn before_run(
    run: &Run,
    threads: u64,
    host: HostLimits,
    storage: Option<&Storage>,
) -> Vec<Warning> {
    let mut warnings = Vec::new();
    if let Some(processors) = host.available_processors
        && threads > u64::from(processors)
    {
        warnings.push(Warning::ThreadsShareProcessors { threads, processors });
    }
    let Some(storage) = storage else { return warnings };
    if storage.in_memory || !storage.direct.is_supported() {
        warnings.push(Warning::NotStorage { filesystem: storage.filesystem.clone() });
    }
    let working_set_bytes = buffered_bytes(run);
    if let Some(memory_bytes) = host.memory_bytes
        && working_set_bytes > 0
        && working_set_bytes <= memory_bytes
    {
        warnings.push(Warning::WorkingSetFitsCache { working_set_bytes, memory_bytes });
    }
    warnings
}

/// The warning about a share of processor time, 0 to 1, that the hypervisor took during a run.
pub fn of_steal(steal: f64) -> Option<Warning> {
    (steal > STEAL_NOISY).then_some(Warning::HostNoisy { steal })
}

/// Bytes that the run's buffered streams can touch on one host.
fn buffered_bytes(run: &Run) -> u64 {
    let buffered = run.streams.iter().filter(|stream| !stream.direct);
    let files = |stream: &Stream| match stream.file_use.is_separate() {
        true => stream.working_set.files.div_ceil(stream.file_use.hosts.max(1)),
        false => stream.working_set.files,
    };
    let bytes = |stream: &Stream| {
        let files = u64::from(files(stream)) * u64::from(stream.targets.count());
        files * stream.working_set.area_bytes
    };
    buffered.map(bytes).sum()
}
