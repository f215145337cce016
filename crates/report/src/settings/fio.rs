//! A load as a fio job file.

use analysis::tune::findings::HostShare;
use workload::pattern::AccessPattern;
use workload::plan::Stream;

use super::{Load, seconds, size};

/// How fio's skipped bytes differ from a stride, as comments.
const STRIDE_NOTE: [&str; 2] = [
    "# At the end of its file fio starts again at the same offsets, so it moves only every stride-th",
    "# block; fourcorners continues at the next block and uses each block once before it repeats any.",
];

/// The lines of a job file with a host's share of the outstanding operations.
pub fn job(load: &Load<'_>, share: &HostShare) -> Vec<String> {
    let stream = load.stream;
    let mut lines = vec!["[tune]".to_owned()];
    if matches!(stream.access_pattern, AccessPattern::Stride { .. }) {
        lines.extend(STRIDE_NOTE.map(str::to_owned));
    }
    let mut set = |key: &str, value: String| lines.push(format!("{key}={value}"));
    // A blocking call has one operation outstanding, so there is a job for each.
    let (engine, jobs, depth) = match load.io_method {
        "psync" => ("psync", share.outstanding, 1),
        "io_uring" => ("io_uring", u64::from(share.workers), share.queue_depth),
        _ => ("libaio", u64::from(share.workers), share.queue_depth),
    };
    set("ioengine", engine.to_owned());
    set("direct", u8::from(stream.direct).to_string());
    if stream.dsync {
        set("sync", "dsync".to_owned());
    }
    set("directory", load.directory.replace(':', "\\:"));
    // All jobs share the files, as workers do.
    set("filename_format", "fio.$filenum".to_owned());
    set("nrfiles", stream.working_set.files.to_string());
    // With a smaller `size` a second job would find no space.
    let set_bytes = u64::from(stream.working_set.files) * stream.working_set.area_bytes;
    set("filesize", size(stream.working_set.area_bytes));
    set("size", size(set_bytes));
    set("rw", kind(stream));
    if !matches!(stream.read_permille, 0 | 1000) {
        set("rwmixread", (f64::from(stream.read_permille) / 10.0).round().to_string());
    }
    sizes(load, &mut set);
    match stream.access_pattern {
        AccessPattern::Sequential | AccessPattern::Stride { .. } => {
            set("file_service_type", "sequential".to_owned());
        }
        AccessPattern::PartlySequential { seek_permille } => {
            set("norandommap", "1".to_owned());
            let seeks = (f64::from(seek_permille) / 10.0).round().max(1.0);
            set("percentage_random", seeks.to_string());
        }
        AccessPattern::Uniform => {
            set("norandommap", "1".to_owned());
            set("file_service_type", "random".to_owned());
        }
        AccessPattern::Zipf { theta } => set("random_distribution", format!("zipf:{theta}")),
        AccessPattern::HotSet { area_permille, accesses_permille } => {
            let (area, accesses) = (area_permille / 10, accesses_permille / 10);
            let (cold_area, cold_accesses) = (100 - area, 100 - accesses);
            let zones = format!("zoned:{accesses}/{area}:{cold_accesses}/{cold_area}");
            set("random_distribution", zones);
        }
    }
    if let Some(writes) = stream.fsync_every_writes {
        set("fsync", writes.to_string());
    }
    let data = stream.data;
    if data.compressible_permille > 0 {
        set("buffer_compress_percentage", (data.compressible_permille / 10).to_string());
    }
    if data.duplicate_permille > 0 {
        set("dedupe_percentage", (data.duplicate_permille / 10).to_string());
    }
    set("numjobs", jobs.to_string());
    set("iodepth", depth.to_string());
    if let Some(rate) = share.rate {
        set("rate_iops", rates(stream.read_permille, rate.get() / jobs as f64));
    }
    set("time_based", "1".to_owned());
    set("ramp_time", format!("{}s", seconds(load.phases.warm_up_ns)));
    set("runtime", format!("{}s", seconds(load.phases.measure_ns)));
    set("group_reporting", "1".to_owned());
    lines
}

/// The direction and order; with a stride also the bytes that are skipped after each transfer.
fn kind(stream: &Stream) -> String {
    use AccessPattern::{Sequential, Stride};
    let is_random = !matches!(stream.access_pattern, Sequential | Stride { .. });
    let direction = match (is_random, stream.read_permille) {
        (false, 1000) => "read",
        (false, 0) => "write",
        (false, _) => "rw",
        (true, 1000) => "randread",
        (true, 0) => "randwrite",
        (true, _) => "randrw",
    };
    let skipped = match stream.access_pattern {
        Stride { stride_bytes } => stride_bytes.saturating_sub(stream.transfer_size_max_bytes()),
        _ => 0,
    };
    match skipped {
        0 => direction.to_owned(),
        skipped => format!("{direction}:{}", size(skipped)),
    }
}

fn sizes(load: &Load<'_>, set: &mut impl FnMut(&str, String)) {
    let sizes = &load.stream.transfer_sizes;
    if let [only] = sizes[..] {
        set("bs", size(only.size_bytes));
        return;
    }
    let weights: u32 = sizes.iter().map(|size| size.weight).sum();
    let split = sizes.iter().map(|one| {
        let percent = (f64::from(one.weight) * 100.0 / f64::from(weights)).round();
        format!("{}/{percent}", size(one.size_bytes))
    });
    set("bssplit", split.collect::<Vec<_>>().join(":"));
}

/// The rate of one job, separately for reads and writes if there are both. Rounded up, so that all
/// jobs together reach the required rate.
fn rates(read_permille: u16, ops_per_s: f64) -> String {
    let share = |permille: u16| (ops_per_s * f64::from(permille) / 1000.0).ceil().max(1.0);
    match read_permille {
        0 | 1000 => share(1000).to_string(),
        reads => format!("{},{}", share(reads), share(1000 - reads)),
    }
}
