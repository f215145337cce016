//! A load as an experiment file of fourcorners.

use analysis::tune::findings::HostShare;
use units::{Percent, print_duration};
use workload::file_use::Sharing;
use workload::pattern::AccessPattern;
use workload::plan::{Stream, TargetSpec};

use super::{Load, percent, size};

/// The lines of an experiment file with a host's share of the outstanding operations. Its stream has
/// the name of the measured one, so that the same files are used.
pub fn lines(load: &Load<'_>, share: &HostShare) -> Vec<String> {
    let stream = load.stream;
    let data = stream.data;
    let time = |ns| quoted(&print_duration(std::time::Duration::from_nanos(ns)));
    let mut lines = vec![
        "name = \"tuned\"".to_owned(),
        "[run]".to_owned(),
        format!("warm_up = {}", time(load.phases.warm_up_ns)),
        format!("measure = {}", time(load.phases.measure_ns)),
        format!("interval = {}", time(load.phases.interval_ns)),
    ];
    lines.extend(load.connections.map(|count| format!("nconnect = {count}")));
    lines.push(format!("[stream.{}]", stream.name));
    let mut set = |key: &str, value: String| lines.push(format!("{key} = {value}"));
    let reads = Percent::from_permille(stream.read_permille).unwrap_or(Percent::ALL);
    set("read", quoted(&reads.to_string()));
    set("transfer_size", sizes(stream));
    set("pattern", pattern(stream.access_pattern));
    set("files", stream.working_set.files.to_string());
    set("file_size", bytes(stream.working_set.file_size_bytes));
    let area = stream.working_set.area_bytes;
    if area != stream.working_set.file_size_bytes {
        set("area", bytes(area * u64::from(stream.working_set.files)));
    }
    if stream.file_use.sharing != Sharing::All {
        set("sharing", quoted(stream.file_use.sharing.name()));
    }
    set("workers", share.workers.to_string());
    set("queue_depth", share.queue_depth.to_string());
    if let Some(rate) = share.rate {
        set("arrival", format!("{{ constant = \"{}/s\" }}", rate.get().ceil()));
    }
    if stream.active.start_ns > 0 {
        set("start", time(stream.active.start_ns));
    }
    if let Some(end_ns) = stream.active.end_ns {
        set("end", time(end_ns));
    }
    if !stream.direct {
        set("direct", "false".to_owned());
    }
    if stream.dsync {
        set("dsync", "true".to_owned());
    }
    let writes = stream.read_permille < 1000;
    if let Some(stability) = stream.write_stability.filter(|_| writes) {
        set("write_stability", quoted(stability.name()));
    }
    if let Some(writes) = stream.fsync_every_writes {
        set("fsync_every", writes.to_string());
    }
    for (key, permille) in
        [("compressible", data.compressible_permille), ("duplicate", data.duplicate_permille)]
    {
        if permille > 0 {
            set(key, quoted(&format!("{}%", percent(permille))));
        }
    }
    lines
}

/// The command that runs it.
pub fn command(target: &TargetSpec) -> String {
    let arguments = match target {
        TargetSpec::Emulated { options, .. } => {
            options.split('&').filter(|o| !o.is_empty()).map(|o| format!(" -o {o}")).collect()
        }
        named => format!(" {}", shell_word(&named.in_words())),
    };
    format!("fourcorners run{arguments} -w tuned.toml")
}

/// A word quoted for a POSIX shell, if necessary.
fn shell_word(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,@%+".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

fn sizes(stream: &Stream) -> String {
    if let [only] = stream.transfer_sizes[..] {
        return bytes(only.size_bytes);
    }
    let weights: u32 = stream.transfer_sizes.iter().map(|size| size.weight).sum();
    let sizes = stream.transfer_sizes.iter().map(|one| {
        let share = f64::from(one.weight) * 100.0 / f64::from(weights);
        format!("{} = \"{share:.1}%\"", bytes(one.size_bytes))
    });
    format!("{{ {} }}", sizes.collect::<Vec<_>>().join(", "))
}

fn pattern(pattern: AccessPattern) -> String {
    match pattern {
        AccessPattern::Sequential => quoted("sequential"),
        AccessPattern::Uniform => quoted("random"),
        AccessPattern::Zipf { theta } => format!("{{ zipf = {theta} }}"),
        AccessPattern::PartlySequential { seek_permille } => {
            format!("{{ seek = \"{}%\" }}", percent(seek_permille))
        }
        AccessPattern::Stride { stride_bytes } => format!("{{ stride = {} }}", bytes(stride_bytes)),
        AccessPattern::HotSet { area_permille, accesses_permille } => {
            let share = |permille: u16| {
                quoted(&Percent::from_permille(permille).unwrap_or(Percent::ALL).to_string())
            };
            let (area, accesses) = (share(area_permille), share(accesses_permille));
            format!("{{ hot_set = {{ area = {area}, accesses = {accesses} }} }}")
        }
    }
}

/// An exact size: in the largest unit that divides it.
fn bytes(count: u64) -> String {
    let size = size(count);
    match size.ends_with(|c: char| c.is_ascii_alphabetic()) {
        true => quoted(&format!("{}iB", size.to_uppercase())),
        false => quoted(&size),
    }
}

fn quoted(text: &str) -> String {
    format!("\"{text}\"")
}
