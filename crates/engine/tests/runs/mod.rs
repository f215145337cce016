//! A small run that each test changes, and its files.

use std::fs::OpenOptions;
use std::ops::ControlFlow;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use engine::drive::Stop;
use engine::host_state::HostStateReader;
use engine::request::Request;
use engine::run::{RunEnd, run};
use metrics::interval::{Interval, StreamInterval};
use target::null::NullTarget;
use target::posix::PosixTarget;
use target::run_target::RunTarget;
use workload::active_time::ActiveTime;
use workload::arrival::Arrival;
use workload::data::DataPattern;
use workload::pattern::AccessPattern;
use workload::plan::{IoMethodUsed, Phases, Run, Stream, WeightedSize, WorkingSet};

/// Seed of the data in the files.
pub(crate) const DATA_SEED: u64 = 7;

/// 200 ms of uniform reads and writes of 4 KiB, eight outstanding, on two files of 1 MiB.
pub(crate) fn small_run() -> Run {
    let stream = Stream {
        name: "small".to_owned(),
        read_permille: 500,
        transfer_sizes: vec![WeightedSize { size_bytes: 4096, weight: 1 }],
        access_pattern: AccessPattern::Uniform,
        working_set: WorkingSet { files: 2, file_size_bytes: 1 << 20, area_bytes: 1 << 20 },
        file_use: workload::file_use::FileUse::ALL,
        queue_depth: 8,
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
    };
    Run {
        index: 0,
        variant: "small".to_owned(),
        parameters: Vec::new(),
        repeat: 0,
        seed: 11,
        hosts: 1,
        connections: None,
        streams: vec![stream],
        phases: Phases { warm_up_ns: 0, measure_ns: 200_000_000, interval_ns: 50_000_000 },
        tolerated_errors: 0,
        operation_deadline_ns: 10_000_000_000,
    }
}

/// The files of a stream in `directory`.
pub(crate) fn file_paths(directory: &Path, stream: &Stream) -> Vec<PathBuf> {
    PosixTarget::new(directory).local_paths(stream)
}

/// Creates the run's files with their data.
pub(crate) fn fill(directory: &Path, run: &Run) {
    for stream in &run.streams {
        let mut paths = file_paths(directory, stream).into_iter();
        for set in stream.file_sets() {
            let maker = set.tile_maker(DATA_SEED);
            for (index, path) in (0..set.files).zip(&mut paths) {
                let file = OpenOptions::new().write(true).create(true).truncate(true).open(path);
                let mut data = vec![0; set.file_size_bytes as usize];
                maker.fill(index, 0, 0, &mut data);
                let file = file.expect("the file can be created");
                file.write_all_at(&data, 0).expect("there is enough space");
                file.sync_all().expect("it can be synced");
            }
        }
    }
}

/// The settings of a measurement of `run` in `directory`.
pub(crate) struct Setting {
    pub(crate) engine: IoMethodUsed,
    pub(crate) verify: bool,
}

/// Executes `run` and returns its intervals and its end.
pub(crate) fn measure(
    run_of: &Run,
    directory: Option<&Path>,
    setting: &Setting,
) -> (Vec<Interval>, RunEnd) {
    measure_with(run_of, directory, setting, None)
}

/// Like `measure`, with a reader of the host's state.
pub(crate) fn measure_with(
    run_of: &Run,
    directory: Option<&Path>,
    setting: &Setting,
    host: Option<&mut dyn HostStateReader>,
) -> (Vec<Interval>, RunEnd) {
    let assignment = run_of.split().remove(0);
    let request = Request {
        assignment: &assignment,
        targets: vec![match directory {
            None => Arc::new(NullTarget),
            Some(directory) => Arc::new(PosixTarget::new(directory)),
        }],
        io_method: setting.engine,
        pin: false,
        verify: setting.verify,
        data_seed: DATA_SEED,
    };
    let mut intervals = Vec::new();
    let end = run(&request, &Arc::new(Stop::new()), host, &mut |interval| {
        intervals.push(interval);
        ControlFlow::Continue(())
    });
    (intervals, end.expect("the run can be started"))
}

/// All intervals of a stream in one.
pub(crate) fn sum(intervals: &[Interval], stream: usize) -> StreamInterval {
    let mut all = StreamInterval::default();
    for interval in intervals {
        all.merge(&interval.streams[stream]);
    }
    all
}
