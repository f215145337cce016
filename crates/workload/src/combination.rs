//! Combines the values of one load point into streams and phases, and checks that they fit together.

use std::time::Duration;

use settings::{Diagnostic, SourceSpan};
use units::{Bytes, print_duration};

use crate::arrival::Arrival;
use crate::data::DataPattern;
use crate::keys::TILE;
use crate::layer::{AxisValue, DEFAULTS_FILE, Layer};
use crate::pattern::AccessPattern;
use crate::run::{Phases, Stream, TargetSpec, WeightedSize, WorkingSet, WriteStability};
use crate::value::Value;

/// The buffers of all slots are allocated for the whole run. More memory than this is assumed to be a
/// mistake.
const MOST_BUFFER_BYTES: u64 = 64 << 30;
/// The most intervals of one run.
const MOST_INTERVALS: u64 = 10_000_000;

/// One stream at one load point.
pub(crate) struct StreamAt<'a, 'e> {
    pub(crate) name: &'a str,
    pub(crate) layer: &'a Layer<'e>,
    pub(crate) axis_values: &'a [AxisValue<'e>],
    /// The target, if it is known.
    pub(crate) target: Option<&'a TargetSpec>,
    /// Hosts of the run.
    pub(crate) hosts: u32,
}

impl<'e> StreamAt<'_, 'e> {
    fn at(&self, name: &str) -> Option<(&'e Value, &'e SourceSpan)> {
        self.layer.at(name, self.axis_values)
    }

    fn count(&self, name: &str) -> Option<u32> {
        match self.at(name)?.0 {
            Value::Count(count) => u32::try_from(*count).ok(),
            _ => None,
        }
    }

    fn bytes(&self, name: &str) -> Option<(u64, &'e SourceSpan)> {
        match self.at(name)? {
            (Value::Bytes(bytes), span) => Some((*bytes, span)),
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

    /// Workers on all hosts; the key says how many each host has.
    fn workers(&self) -> Option<u32> {
        self.count("workers")?.checked_mul(self.hosts)
    }

    fn sizes(&self) -> Option<(&'e [WeightedSize], &'e SourceSpan)> {
        match self.at("transfer_size")? {
            (Value::Sizes(sizes), span) => Some((sizes, span)),
            _ => None,
        }
    }

    fn pattern(&self) -> Option<(AccessPattern, &'e SourceSpan)> {
        match self.at("pattern")? {
            (Value::Pattern(pattern), span) => Some((*pattern, span)),
            _ => None,
        }
    }

    fn stability(&self) -> Option<(WriteStability, &'e SourceSpan)> {
        let all = [WriteStability::Unstable, WriteStability::DataSync, WriteStability::FileSync];
        match self.at("write_stability")? {
            (Value::Text(word), span) => {
                all.into_iter().find(|known| known.name() == word).map(|known| (known, span))
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

/// The stream with these values; `None` if one is missing or wrong. The other values are checked all
/// the same.
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
        workers: at.workers()?,
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

/// How durable writes are on an NFS export; `None` for other targets.
fn write_stability(
    at: &StreamAt<'_, '_>,
    problems: &mut Vec<Diagnostic>,
) -> Option<WriteStability> {
    let written = at.stability();
    if at.target?.capabilities().own_client {
        let by_dsync = match at.flag("dsync")? {
            true => WriteStability::DataSync,
            false => WriteStability::Unstable,
        };
        return Some(written.map_or(by_dsync, |(stability, _)| stability));
    }
    if let Some((_, span)) = written {
        let wrong = span.diagnostic(
            format!(
                "stream `{}` sets `write_stability`, but the target is not an NFS export",
                at.name
            ),
            "`write_stability` only for a target `nfs://...`",
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
        Some((area, span)) if area > whole => {
            problems.push(
                span.diagnostic(
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
        Some((area, span)) => {
            let of_each = area / u64::from(files) / TILE * TILE;
            if of_each == 0 {
                problems.push(
                    span.diagnostic(
                        format!("the area of stream `{}` is too small for its files", at.name),
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
    let (Some((sizes, span)), Some(set)) = (at.sizes(), set) else { return };
    let largest = sizes.iter().map(|size| size.size_bytes).max().unwrap_or(0);
    if largest > set.area_bytes {
        let (part, of) = if set.area_bytes < set.file_size_bytes {
            ("part of each file that is accessed", "`area` / `files`")
        } else {
            ("file", "`file_size`")
        };
        problems.push(
            span.diagnostic(
                format!("a transfer of stream `{}` is larger than the {part}", at.name),
                format!("up to {} ({of})", Bytes::new(set.area_bytes)),
            )
            .with_found(Bytes::new(largest).to_string()),
        );
    }
    if sizes.len() > 1 && at.pattern().is_some_and(|(p, _)| p == AccessPattern::Sequential) {
        problems.push(
            span.diagnostic(
                format!("stream `{}` is sequential with several transfer sizes", at.name),
                "one transfer size for a sequential pattern",
            )
            .with_hint("use one stream for each size; streams run concurrently"),
        );
    }
}

fn check_fsync(at: &StreamAt<'_, '_>, problems: &mut Vec<Diagnostic>) {
    if let (Some(1000), Some((_, span))) = (at.share("read"), at.at("fsync_every")) {
        problems.push(span.diagnostic(
            format!("stream `{}` has `fsync_every` but no writes", at.name),
            "`fsync_every` only if `read` is below 100 %",
        ));
    }
}

/// Each worker of a sequential stream starts at a different offset.
fn check_pattern(at: &StreamAt<'_, '_>, problems: &mut Vec<Diagnostic>) {
    let (Some((AccessPattern::Sequential, span)), Some(workers)) = (at.pattern(), at.workers())
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
    let transfers = (area / size) * u64::from(files);
    if transfers > 0 && transfers < u64::from(workers) {
        problems.push(
            span.diagnostic(
                format!(
                    "the working set of stream `{}` has fewer transfers than the stream has \
                         sequential workers",
                    at.name
                ),
                "a working set of at least one transfer for each worker",
            )
            .with_found(format!("{transfers} transfers, {workers} workers")),
        );
    }
}

/// The phases of a run; `None` if a value is wrong or they do not fit together.
pub(crate) fn phases(
    run: &Layer<'_>,
    axis_values: &[AxisValue<'_>],
    problems: &mut Vec<Diagnostic>,
) -> Option<Phases> {
    let time = |name| match run.at(name, axis_values) {
        Some((Value::Duration(ns), span)) => Some((*ns, span)),
        _ => None,
    };
    let (interval_ns, interval_span) = time("interval")?;
    let shown = |ns| print_duration(Duration::from_nanos(ns));
    let mut fits = true;
    let mut whole_intervals = |name| {
        let (ns, span) = time(name)?;
        let rounded = ns.div_ceil(interval_ns).saturating_mul(interval_ns);
        // Defaults are rounded up, so that a user can set the interval only.
        if rounded != ns && span.file.as_ref() != DEFAULTS_FILE {
            fits = false;
            problems.push(
                span.diagnostic(
                    format!("`{name}` is not a whole number of intervals"),
                    format!("a multiple of `interval` ({})", shown(interval_ns)),
                )
                .with_found(shown(ns))
                .with_hint(format!("the next multiple: `{name} = \"{}\"`", shown(rounded))),
            );
        }
        Some(rounded)
    };
    let (warm_up_ns, measure_ns) = (whole_intervals("warm_up")?, whole_intervals("measure")?);
    if (warm_up_ns + measure_ns) / interval_ns > MOST_INTERVALS {
        fits = false;
        problems.push(interval_span.diagnostic(
            "the interval is too short for a run of this length",
            format!("at most {MOST_INTERVALS} intervals in a run"),
        ));
    }
    fits.then_some(Phases { warm_up_ns, measure_ns, interval_ns })
}

/// The connections of a run, if `[run]` sets them.
pub(crate) fn connections(
    run: &Layer<'_>,
    axis_values: &[AxisValue<'_>],
    target: Option<&TargetSpec>,
    problems: &mut Vec<Diagnostic>,
) -> Option<u32> {
    let (Value::Count(count), span) = run.at("nconnect", axis_values)? else { return None };
    let (wrong, allowed, hint) = match target {
        Some(TargetSpec::Directory { .. }) => (
            "`nconnect` cannot change the connections of a mounted directory",
            "`nconnect` only for a target `nfs://...` or the emulated volume",
            "mount it with `-o nconnect=8`, or measure its export: \
             `nfs://SERVER/EXPORT?nconnect=8`",
        ),
        Some(TargetSpec::Null) => (
            "the target `null:` has no connections",
            "`nconnect` only for a target `nfs://...` or the emulated volume",
            "omit `nconnect`",
        ),
        Some(TargetSpec::Nfs { .. } | TargetSpec::Emulated { .. }) | None => {
            return u32::try_from(*count).ok();
        }
    };
    problems.push(span.diagnostic(wrong, allowed).with_hint(hint));
    None
}

/// The hosts of a run: as `[run]` sets them, or all that the user `named`, if their number is known.
pub(crate) fn hosts(
    run: &Layer<'_>,
    axis_values: &[AxisValue<'_>],
    named: Option<u32>,
    problems: &mut Vec<Diagnostic>,
) -> u32 {
    let Some((Value::Count(count), span)) = run.at("hosts", axis_values) else {
        return named.unwrap_or(1);
    };
    if let Some(named) = named
        && *count > u64::from(named)
    {
        let problem = span
            .diagnostic(
                "a run has more hosts than there are",
                format!("`hosts` of at most {named}"),
            )
            .with_found(format!("hosts={count}, {}", units::counted(u64::from(named), "host")))
            .with_hint("name the hosts with `--hosts`");
        problems.push(problem);
        return 1;
    }
    u32::try_from(*count).unwrap_or(1)
}

/// A run whose streams are resolved.
pub(crate) struct WholeRun<'a> {
    pub(crate) streams: &'a [Stream],
    pub(crate) target: Option<&'a TargetSpec>,
    pub(crate) connections: Option<u32>,
    pub(crate) hosts: u32,
}

impl WholeRun<'_> {
    /// Checks the streams together: connections and memory of each host.
    pub(crate) fn check(&self, span: &SourceSpan, problems: &mut Vec<Diagnostic>) {
        let WholeRun { streams, target, connections, hosts } = *self;
        let hosts = u64::from(hosts.max(1));
        let workers =
            streams.iter().fold(0u64, |sum, stream| sum + u64::from(stream.workers)) / hosts;
        if let Some(connections) = connections.or(target.and_then(TargetSpec::connections))
            && u64::from(connections) < workers
        {
            problems.push(
                span.diagnostic(
                    "a run has more workers than connections; each worker needs its own connection",
                    format!("`nconnect` of at least {workers}, or fewer `workers`"),
                )
                .with_found(format!("nconnect={connections}, {workers} workers"))
                .with_hint("omit `nconnect` to give each worker one connection"),
            );
        }
        let buffers = streams.iter().fold(0u64, |sum, stream| {
            let depth = stream.queue_depth_total() / hosts;
            sum.saturating_add(depth.saturating_mul(stream.transfer_size_max_bytes()))
        });
        if buffers > MOST_BUFFER_BYTES {
            problems.push(
                span.diagnostic(
                    "the buffers of a run (queue depth x workers x transfer size) take too much \
                     memory",
                    format!("up to {}", Bytes::new(MOST_BUFFER_BYTES)),
                )
                .with_found(Bytes::new(buffers).to_string()),
            );
        }
    }
}
