//! A load as an experiment file of fourcorners.

use analysis::tune::findings::HostShare;
use units::{OpsPerSec, Percent, print_duration};
use workload::file_use::Sharing;
use workload::names::{KindShare, NameSize, WeightedFileSize};
use workload::op::OpKind;
use workload::pattern::AccessPattern;
use workload::plan::{NameLoad, Stream, TargetSpec};

use super::{Load, percent, size};

/// The file of sizes that an experiment names if it cannot contain them.
pub const SIZES_FILE: &str = "tuned-sizes.csv";

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
    if stream.names.is_none() {
        at_offsets(stream, &mut set);
    }
    for (key, value) in concurrency(share) {
        set(key, value);
    }
    if stream.active.start_ns > 0 {
        set("start", time(stream.active.start_ns));
    }
    if let Some(end_ns) = stream.active.end_ns {
        set("end", time(end_ns));
    }
    if !stream.direct && stream.names.is_none() {
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
    if let Some(names) = &stream.names {
        on_names(&stream.name, names, &mut lines);
    }
    lines
}

/// The keys of a host's share of the outstanding operations.
pub fn concurrency(share: &HostShare) -> Vec<(&'static str, String)> {
    let mut keys = vec![
        ("workers", share.workers.to_string()),
        ("queue_depth", share.queue_depth.to_string()),
    ];
    let arrival = |rate: OpsPerSec| format!("{{ constant = \"{}/s\" }}", rate.get().ceil());
    keys.extend(share.rate.map(|rate| ("arrival", arrival(rate))));
    keys
}

/// The keys of operations at offsets.
fn at_offsets(stream: &Stream, set: &mut impl FnMut(&str, String)) {
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
}

/// The tables of operations on names: the tree and the mix.
fn on_names(stream: &str, load: &NameLoad, lines: &mut Vec<String>) {
    let tree = &load.tree;
    lines.push(format!("[stream.{stream}.names]"));
    let mut set = |key: &str, value: String| lines.push(format!("{key} = {value}"));
    set("files", tree.files.to_string());
    set("depth", tree.depth.to_string());
    set("width", tree.width.to_string());
    if u64::from(tree.width).checked_pow(tree.depth) != Some(tree.directories) {
        set("files_per_directory", tree.files.div_ceil(tree.directories.max(1)).to_string());
    }
    set("name_length", tree.name_length.to_string());
    set("spread", quoted(tree.spread.name()));
    if load.mix.permille(OpKind::Append) > 0 {
        set("append", bytes(u64::from(load.append_bytes)));
    }
    match &tree.sizes {
        NameSize::Weighted { sizes } if sizes.len() == 1 => set("size", bytes(sizes[0].size_bytes)),
        NameSize::Lognormal { median_bytes, sigma, max_bytes } => {
            let (median, max) = (bytes(*median_bytes), bytes(*max_bytes));
            let table = format!("median = {median}, sigma = {sigma}, max = {max}");
            set("size", format!("{{ lognormal = {{ {table} }} }}"));
        }
        NameSize::Weighted { sizes } => match permilles(sizes) {
            None => set("size", format!("{{ file = {} }}", quoted(SIZES_FILE))),
            Some(shares) => {
                lines.push(format!("[stream.{stream}.names.size]"));
                let share = |(size, permille): (&WeightedFileSize, u16)| {
                    let size = bytes(size.size_bytes);
                    format!("{size} = {}", quoted(&format!("{}%", percent(permille))))
                };
                lines.extend(sizes.iter().zip(shares).map(share));
            }
        },
    }
    lines.push(format!("[stream.{stream}.mix]"));
    let share = |share: &KindShare| {
        format!("{} = {}", share.kind.name(), quoted(&format!("{}%", percent(share.permille))))
    };
    lines.extend(load.mix.shares.iter().map(share));
}

/// The lines of [`SIZES_FILE`], for sizes whose shares an experiment cannot state exactly.
pub fn size_lines(stream: &Stream) -> Option<Vec<String>> {
    let NameSize::Weighted { sizes } = &stream.names.as_ref()?.tree.sizes else { return None };
    let line = |size: &WeightedFileSize| format!("{},{}", size.size_bytes, size.weight);
    permilles(sizes).is_none().then(|| sizes.iter().map(line).collect())
}

/// The weights in thousandths of their sum; `None` if one is not whole.
fn permilles(sizes: &[WeightedFileSize]) -> Option<Vec<u16>> {
    let sum: u128 = sizes.iter().map(|size| u128::from(size.weight)).sum();
    let permille = |size: &WeightedFileSize| {
        let thousandfold = u128::from(size.weight) * 1000;
        let is_whole = sum > 0 && thousandfold.is_multiple_of(sum);
        is_whole.then(|| u16::try_from(thousandfold / sum).ok())?
    };
    sizes.iter().map(permille).collect()
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
