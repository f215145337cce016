//! What values mean together at one load point: the stream they make, or why they cannot.

use std::time::Duration;

use units::{Bytes, print_duration};

use crate::arrival::Arrival;
use crate::data::DataPattern;
use crate::diagnostic::{Diagnostic, Place};
use crate::keys::TILE;
use crate::pattern::AccessPattern;
use crate::plan::{Phases, Stream, TargetSpec, WeightedSize, WorkingSet, WriteStability};
use crate::resolve::{DEFAULTS_FILE, Layer, Taken};
use crate::value::Value;

/// Slots hold their buffers for the whole run: more memory than this for one run is a slip.
const MOST_BUFFER_BYTES: u64 = 64 << 30;
/// Intervals of one run that are kept.
const MOST_INTERVALS: u64 = 10_000_000;

/// One stream at one load point.
pub(crate) struct StreamAt<'a, 'e> {
    pub(crate) name: &'a str,
    pub(crate) layer: &'a Layer<'e>,
    pub(crate) taken: &'a [Taken<'e>],
    /// What operations are sent to, where it is known.
    pub(crate) target: Option<&'a TargetSpec>,
}

impl<'e> StreamAt<'_, 'e> {
    fn at(&self, name: &str) -> Option<(&'e Value, &'e Place)> {
        self.layer.at(name, self.taken)
    }

    fn count(&self, name: &str) -> Option<u32> {
        match self.at(name)?.0 {
            Value::Count(count) => u32::try_from(*count).ok(),
            _ => None,
        }
    }

    fn bytes(&self, name: &str) -> Option<(u64, &'e Place)> {
        match self.at(name)? {
            (Value::Bytes(bytes), place) => Some((*bytes, place)),
            _ => None,
        }
    }

    fn share(&self, name: &str) -> Option<u16> {
        match self.at(name)?.0 {
            Value::Share(permille) => Some(*permille),
            _ => None,
        }
    }

    fn flag(&self, name: &str) -> Option<bool> {
        match self.at(name)?.0 {
            Value::Flag(flag) => Some(*flag),
            _ => None,
        }
    }

    fn sizes(&self) -> Option<(&'e [WeightedSize], &'e Place)> {
        match self.at("transfer_size")? {
            (Value::Sizes(sizes), place) => Some((sizes, place)),
            _ => None,
        }
    }

    fn pattern(&self) -> Option<(AccessPattern, &'e Place)> {
        match self.at("pattern")? {
            (Value::Pattern(pattern), place) => Some((*pattern, place)),
            _ => None,
        }
    }

    fn stability(&self) -> Option<(WriteStability, &'e Place)> {
        let all = [WriteStability::Unstable, WriteStability::DataSync, WriteStability::FileSync];
        match self.at("write_stability")? {
            (Value::Text(word), place) => {
                all.into_iter().find(|known| known.name() == word).map(|known| (known, place))
            }
            _ => None,
        }
    }

    fn arrival(&self) -> Option<Arrival> {
        match self.at("arrival")?.0 {
            Value::Arrival(arrival) => Some(*arrival),
            _ => None,
        }
    }
}

/// The stream that the values make; `None` where one is missing or wrong. Checks what can be
/// checked of the rest.
pub(crate) fn stream(at: &StreamAt<'_, '_>, problems: &mut Vec<Diagnostic>) -> Option<Stream> {
    let working_set = working_set(at, problems);
    check_transfers(at, working_set, problems);
    check_fsync(at, problems);
    check_pattern(at, problems);
    Some(Stream {
        name: at.name.to_owned(),
        read_permille: at.share("read")?,
        transfer_sizes: at.sizes()?.0.to_vec(),
        access_pattern: at.pattern()?.0,
        working_set: working_set?,
        queue_depth: at.count("queue_depth")?,
        workers: at.count("workers")?,
        arrival: at.arrival()?,
        direct: at.flag("direct")?,
        dsync: at.flag("dsync")?,
        write_stability: write_stability(at, problems),
        fsync_every_writes: at.count("fsync_every"),
        data: DataPattern {
            compressible_permille: at.share("compressible")?,
            duplicate_permille: at.share("duplicate")?,
        },
    })
}

/// How durable writes are, on an NFS export; nothing elsewhere.
fn write_stability(
    at: &StreamAt<'_, '_>,
    problems: &mut Vec<Diagnostic>,
) -> Option<WriteStability> {
    let written = at.stability();
    if at.target?.is_nfs() {
        let by_dsync = match at.flag("dsync")? {
            true => WriteStability::DataSync,
            false => WriteStability::Unstable,
        };
        return Some(written.map_or(by_dsync, |(stability, _)| stability));
    }
    if let Some((_, place)) = written {
        let wrong = place.diagnostic(
            format!("stream `{}` says how NFS writes, and the target is no NFS export", at.name),
            "`write_stability` where the target is `nfs://...`",
        );
        problems.push(wrong.with_hint("`dsync = true` makes the writes of a directory durable"));
    }
    None
}

fn working_set(at: &StreamAt<'_, '_>, problems: &mut Vec<Diagnostic>) -> Option<WorkingSet> {
    let files = at.count("files")?;
    let (file_size_bytes, _) = at.bytes("file_size")?;
    let whole = u64::from(files) * file_size_bytes;
    let area_bytes = match at.bytes("area") {
        None => file_size_bytes,
        Some((area, place)) if area > whole => {
            problems.push(
                place
                    .diagnostic(
                        format!("the area of stream `{}` is larger than its files", at.name),
                        format!(
                            "up to {} ({files} x {})",
                            Bytes::new(whole),
                            Bytes::new(file_size_bytes)
                        ),
                    )
                    .with_found(format!("{}", Bytes::new(area))),
            );
            return None;
        }
        Some((area, place)) => {
            let of_each = area / u64::from(files) / TILE * TILE;
            if of_each == 0 {
                problems.push(
                    place
                        .diagnostic(
                            format!("the area of stream `{}` leaves nothing of each file", at.name),
                            format!(
                                "at least {} for {files} files",
                                Bytes::new(TILE * u64::from(files))
                            ),
                        )
                        .with_found(format!("{}", Bytes::new(area))),
                );
                return None;
            }
            of_each
        }
    };
    Some(WorkingSet { files, file_size_bytes, area_bytes })
}

fn check_transfers(at: &StreamAt<'_, '_>, set: Option<WorkingSet>, problems: &mut Vec<Diagnostic>) {
    let (Some((sizes, place)), Some(set)) = (at.sizes(), set) else { return };
    let largest = sizes.iter().map(|size| size.size_bytes).max().unwrap_or(0);
    if largest > set.area_bytes {
        let (part, of) = if set.area_bytes < set.file_size_bytes {
            ("part of each file that is touched", "`area` over `files`")
        } else {
            ("file", "`file_size`")
        };
        problems.push(
            place
                .diagnostic(
                    format!("a transfer of stream `{}` is larger than the {part}", at.name),
                    format!("up to {} ({of})", Bytes::new(set.area_bytes)),
                )
                .with_found(Bytes::new(largest).to_string()),
        );
    }
    if sizes.len() > 1 && at.pattern().is_some_and(|(p, _)| p == AccessPattern::Sequential) {
        problems.push(
            place
                .diagnostic(
                    format!("stream `{}` is sequential with several transfer sizes", at.name),
                    "one transfer size where the pattern is sequential",
                )
                .with_hint("two streams, one for each size, can run together"),
        );
    }
}

fn check_fsync(at: &StreamAt<'_, '_>, problems: &mut Vec<Diagnostic>) {
    if let (Some(1000), Some((_, place))) = (at.share("read"), at.at("fsync_every")) {
        problems.push(place.diagnostic(
            format!("stream `{}` has an fsync after writes but no writes", at.name),
            "`fsync_every` where `read` is below 100 %",
        ));
    }
}

/// Each worker of a sequential stream starts at a place of its own, so there must be a place for
/// each.
fn check_pattern(at: &StreamAt<'_, '_>, problems: &mut Vec<Diagnostic>) {
    let (Some((AccessPattern::Sequential, place)), Some(workers)) =
        (at.pattern(), at.count("workers"))
    else {
        return;
    };
    let (Some((sizes, _)), Some(files), Some((file_size, _))) =
        (at.sizes(), at.count("files"), at.bytes("file_size"))
    else {
        return;
    };
    let area = at.bytes("area").map_or(file_size, |(area, _)| area / u64::from(files));
    let size = sizes.first().map_or(1, |size| size.size_bytes);
    let places = (area / size) * u64::from(files);
    if places > 0 && places < u64::from(workers) {
        problems.push(
            place
                .diagnostic(
                    format!(
                        "the working set of stream `{}` has fewer transfers than there are workers \
                         to walk through it",
                        at.name
                    ),
                    "a working set of at least one transfer for each worker",
                )
                .with_found(format!("{places} transfers, {workers} workers")),
        );
    }
}

/// The phases of a run; `None` where a value is wrong or they do not fit together.
pub(crate) fn phases(
    run: &Layer<'_>,
    taken: &[Taken<'_>],
    problems: &mut Vec<Diagnostic>,
) -> Option<Phases> {
    let time = |name| match run.at(name, taken) {
        Some((Value::Duration(ns), place)) => Some((*ns, place)),
        _ => None,
    };
    let (interval_ns, interval_place) = time("interval")?;
    let shown = |ns| print_duration(Duration::from_nanos(ns));
    let mut fits = true;
    let mut whole_intervals = |name| {
        let (ns, place) = time(name)?;
        let rounded = ns.div_ceil(interval_ns).saturating_mul(interval_ns);
        // A user who sets the interval alone does not mean to correct defaults too.
        if rounded != ns && place.file.as_ref() != DEFAULTS_FILE {
            fits = false;
            problems.push(
                place
                    .diagnostic(
                        format!("`{name}` is not a whole number of intervals"),
                        format!("a multiple of `interval` ({})", shown(interval_ns)),
                    )
                    .with_found(shown(ns))
                    .with_hint(format!("`{name} = \"{}\"` is the next one", shown(rounded))),
            );
        }
        Some(rounded)
    };
    let (warm_up_ns, measure_ns) = (whole_intervals("warm_up")?, whole_intervals("measure")?);
    if (warm_up_ns + measure_ns) / interval_ns > MOST_INTERVALS {
        fits = false;
        problems.push(interval_place.diagnostic(
            "the interval is too short for so long a run",
            format!("at most {MOST_INTERVALS} intervals in a run"),
        ));
    }
    fits.then_some(Phases { warm_up_ns, measure_ns, interval_ns })
}

/// The connections of a run, where `[run]` says how many.
pub(crate) fn connections(
    run: &Layer<'_>,
    taken: &[Taken<'_>],
    target: Option<&TargetSpec>,
    problems: &mut Vec<Diagnostic>,
) -> Option<u32> {
    let (Value::Count(count), place) = run.at("nconnect", taken)? else { return None };
    let (wrong, allowed, hint) = match target {
        Some(TargetSpec::Directory { .. }) => (
            "the connections of a mount are set when it is mounted",
            "`nconnect` where the target is `nfs://...` or the emulated volume",
            "mount it with `-o nconnect=8`, or measure its export: \
             `nfs://SERVER/EXPORT?nconnect=8`",
        ),
        Some(TargetSpec::Null) => (
            "a null target has no connections",
            "`nconnect` where the target is `nfs://...` or the emulated volume",
            "leave `nconnect` away",
        ),
        Some(TargetSpec::Nfs { .. } | TargetSpec::Emulated { .. }) | None => {
            return u32::try_from(*count).ok();
        }
    };
    problems.push(place.diagnostic(wrong, allowed).with_hint(hint));
    None
}

/// What the streams of a run need together, and of the target.
pub(crate) fn whole_run(
    place: &Place,
    streams: &[Stream],
    target: Option<&TargetSpec>,
    connections: Option<u32>,
    problems: &mut Vec<Diagnostic>,
) {
    let workers = streams.iter().fold(0u64, |sum, stream| sum + u64::from(stream.workers));
    if let Some(connections) = connections.or(target.and_then(TargetSpec::connections))
        && u64::from(connections) < workers
    {
        problems.push(
            place
                .diagnostic(
                    "a run has more workers than connections, and each connection has one worker",
                    format!("`nconnect` of at least {workers}, or fewer `workers`"),
                )
                .with_found(format!("nconnect={connections}, {workers} workers"))
                .with_hint("without `nconnect` each worker has a connection of its own"),
        );
    }
    let buffers = streams.iter().fold(0u64, |sum, stream| {
        let of_stream = stream.queue_depth_total().saturating_mul(stream.transfer_size_max_bytes());
        sum.saturating_add(of_stream)
    });
    if buffers > MOST_BUFFER_BYTES {
        problems.push(
            place
                .diagnostic(
                    "the buffers of a run (queue depth x workers x transfer size) take too much \
                     memory",
                    format!("up to {}", Bytes::new(MOST_BUFFER_BYTES)),
                )
                .with_found(Bytes::new(buffers).to_string()),
        );
    }
}
