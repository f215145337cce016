//! A small stream, modified by tests.

use workload::active_time::ActiveTime;
use workload::arrival::Arrival;
use workload::data::DataPattern;
use workload::pattern::AccessPattern;
use workload::plan::{Stream, WeightedSize, WorkingSet};

/// One worker: 50 % random reads, 50 % random writes of 8 KiB in four files of 16 MiB.
pub(crate) fn base_stream() -> Stream {
    Stream {
        name: "s".to_owned(),
        read_permille: 500,
        transfer_sizes: vec![WeightedSize { size_bytes: 8192, weight: 1 }],
        access_pattern: AccessPattern::Uniform,
        working_set: WorkingSet { files: 4, file_size_bytes: 1 << 24, area_bytes: 1 << 24 },
        file_use: workload::file_use::FileUse::ALL,
        queue_depth: 1,
        workers: 1,
        arrival: Arrival::Closed { think_time_ns: 0 },
        active: ActiveTime::WHOLE_RUN,
        direct: false,
        dsync: false,
        write_stability: None,
        targets: workload::plan::StreamTargets::default(),
        names: None,
        replay: None,
        fsync_every_writes: None,
        data: DataPattern::default(),
    }
}
