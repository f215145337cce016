//! Combines the values of one load point into streams and phases, and checks that they fit together.

use std::collections::BTreeMap;
use std::time::Duration;

use settings::{Diagnostic, SourceSpan, did_you_mean};
use units::{Bytes, counted, print_duration};

use crate::active_time;
use crate::arrival::Arrival;
use crate::data::DataPattern;
use crate::file_use::{FileUse, Sharing};
use crate::keys::TILE;
use crate::layer::{AxisValue, DEFAULTS_FILE, Layer};
use crate::name_load;
use crate::pattern::AccessPattern;
use crate::replay_load;
use crate::run::{
    Phases, Spread, Stream, StreamTargets, TargetSpec, WeightedSize, WorkingSet, WriteStability,
};
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
    /// Hosts that the user named, which fill the files; `None` if that is not known.
    pub(crate) named_hosts: Option<u32>,
    /// The names of the experiment's targets; empty if it has one without a name.
    pub(crate) target_names: &'a [String],
    /// How many targets the run uses, and where that is written; `None` for all.
    pub(crate) targets_used: Option<(u64, &'e SourceSpan)>,
    /// Its part of an arrival process that the streams share.
    pub(crate) shared_arrival: Option<&'a Arrival>,
    /// The phases of the run; `None` if they are wrong.
    pub(crate) phases: Option<Phases>,
}

impl<'e> StreamAt<'_, 'e> {
    pub(crate) fn at(&self, name: &str) -> Option<(&'e Value, &'e SourceSpan)> {
        self.layer.at(name, self.axis_values)
    }

    pub(crate) fn count(&self, name: &str) -> Option<u32> {
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

    pub(crate) fn share(&self, name: &str) -> Option<u16> {
        match self.at(name)?.0 {
            Value::Share(permille) => Some(*permille),
            _ => None,
        }
    }

    pub(crate) fn flag(&self, name: &str) -> Option<bool> {
        match self.at(name)?.0 {
            Value::Flag(flag) => Some(*flag),
            _ => None,
        }
    }

    /// Workers on all hosts that send to one target, at most.
    pub(crate) fn workers_of_target(&self) -> Option<u64> {
        let workers = u64::from(self.count("workers")?);
        let (hosts, targets) =
            (u64::from(self.hosts), u64::from(self.targets(&mut Vec::new())?.count()));
        Some(match self.spread() {
            Spread::All => workers * hosts,
            Spread::Host => workers * hosts.div_ceil(targets),
            Spread::Worker => (workers * hosts).div_ceil(targets),
        })
    }

    /// Hosts that send to one target, at least.
    fn hosts_of_target(&self) -> u32 {
        let targets = self.targets(&mut Vec::new()).map_or(1, |targets| targets.count());
        match self.spread() {
            Spread::All | Spread::Worker => self.hosts.max(1),
            Spread::Host => (self.hosts / targets).max(1),
        }
    }

    pub(crate) fn spread(&self) -> Spread {
        match self.at("spread") {
            Some((Value::Text(word), _)) => Spread::named(word).unwrap_or_default(),
            _ => Spread::default(),
        }
    }

    /// The targets at this load point; `None` if a name is wrong, or there are not enough hosts or workers.
    pub(crate) fn targets(&self, problems: &mut Vec<Diagnostic>) -> Option<StreamTargets> {
        let mut positions = self.named_targets(problems)?;
        if let Some((used, span)) = self.targets_used {
            let known = positions.len() as u64;
            if used > known {
                let problem = span
                    .diagnostic(
                        format!("a run uses more targets than stream `{}` has", self.name),
                        format!("`targets` of at most {known}"),
                    )
                    .with_found(used.to_string())
                    .with_hint("add [target.NAME] tables");
                problems.push(problem);
                return None;
            }
            positions.truncate(used as usize);
        }
        let spread = self.spread();
        let (count, workers) = (positions.len() as u64, self.count("workers")?);
        let (units, what, remedy) = match spread {
            Spread::All => (count, "", ""),
            Spread::Host => (u64::from(self.hosts), "host", "name more hosts with `--hosts`"),
            Spread::Worker => {
                (u64::from(self.hosts) * u64::from(workers), "worker", "raise `workers`")
            }
        };
        // The number of hosts is known once the plan is made.
        if units < count
            && self.target.is_some()
            && let Some((_, span)) = self.at("spread")
        {
            let problem = span
                .diagnostic(
                    format!("stream `{}` has more targets than {what}s to send to them", self.name),
                    format!("at most {}", counted(units, "target")),
                )
                .with_found(counted(count, "target"))
                .with_hint(format!("{remedy}, or use fewer targets (`--set run.targets={units}`)"));
            problems.push(problem);
            return None;
        }
        Some(StreamTargets { positions, spread })
    }

    /// The positions of the targets that the stream names, each once, in the order of the experiment.
    fn named_targets(&self, problems: &mut Vec<Diagnostic>) -> Option<Vec<u32>> {
        let Some((Value::TargetNames(patterns), span)) = self.at("targets") else {
            return Some((0..self.target_names.len().max(1) as u32).collect());
        };
        for pattern in patterns {
            if !self.target_names.iter().any(|name| matches(pattern, name)) {
                let known: Vec<String> =
                    self.target_names.iter().map(|name| format!("`{name}`")).collect();
                let allowed = match known.is_empty() {
                    true => "`targets` only with [target.NAME] tables".to_owned(),
                    false => known.join(" or "),
                };
                let wrong = format!("stream `{}` uses an unknown target", self.name);
                let mut wrong = span.diagnostic(wrong, allowed).with_found(format!("`{pattern}`"));
                wrong.hint = did_you_mean(pattern, self.target_names.iter().map(String::as_str));
                problems.push(wrong);
                return None;
            }
        }
        let is_named =
            |(_, name): &(usize, &String)| patterns.iter().any(|pattern| matches(pattern, name));
        let named = self.target_names.iter().enumerate().filter(is_named);
        Some(named.map(|(position, _)| position as u32).collect())
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

    fn sharing(&self) -> Option<Sharing> {
        match self.at("sharing")? {
            (Value::Text(word), _) => Sharing::ALL.into_iter().find(|known| known.name() == word),
            _ => None,
        }
    }

    /// The position of `read_what = "others"`, if that is given.
    fn reads_others(&self) -> Option<&'e SourceSpan> {
        match self.at("read_what")? {
            (Value::Text(word), span) if word == "others" => Some(span),
            _ => None,
        }
    }

    pub(crate) fn arrival(&self) -> Option<Arrival> {
        if let Some(shared) = self.shared_arrival {
            return Some(shared.clone());
        }
        match self.at("arrival")?.0 {
            Value::Arrival(arrival) => Some(arrival.clone()),
            _ => None,
        }
    }
}

/// The stream with these values; `None` if one is missing or wrong. The other values are checked all
/// the same.
pub(crate) fn stream(at: &StreamAt<'_, '_>, problems: &mut Vec<Diagnostic>) -> Option<Stream> {
    if at.layer.is_replay() {
        return replay_load::stream(at, problems);
    }
    if at.layer.is_on_names() {
        return name_load::stream(at, problems);
    }
    let working_set = working_set(at, problems);
    let file_use = file_use(at, problems);
    check_transfers(at, working_set, problems);
    check_fsync(at, problems);
    check_pattern(at, problems);
    let active = active_time::of_stream(at, problems);
    let targets = at.targets(problems)?;
    Some(Stream {
        name: at.name.to_owned(),
        read_permille: at.share("read")?,
        transfer_sizes: at.sizes()?.0.to_vec(),
        access_pattern: at.pattern()?.0,
        working_set: working_set?,
        file_use: file_use?,
        queue_depth: at.count("queue_depth")?,
        workers: targets.workers(at.count("workers")?, at.hosts)?,
        arrival: at.arrival()?,
        active,
        direct: at.flag("direct")?,
        dsync: at.flag("dsync")?,
        write_stability: write_stability(at, problems),
        fsync_every_writes: at.count("fsync_every"),
        data: DataPattern {
            compressible_permille: at.share("compressible")?,
            duplicate_permille: at.share("duplicate")?,
        },
        targets,
        names: None,
        replay: None,
    })
}

/// Whether `name` matches `pattern`, in which each `*` matches any text.
fn matches(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == name,
        Some((start, rest)) => name.strip_prefix(start).is_some_and(|name| {
            name.char_indices()
                .map(|(at, _)| at)
                .chain([name.len()])
                .any(|at| matches(rest, &name[at..]))
        }),
    }
}

/// How durable writes are on an NFS export; `None` for other targets.
pub(crate) fn write_stability(
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

/// Which workers use which files; `None` if a part would have none.
fn file_use(at: &StreamAt<'_, '_>, problems: &mut Vec<Diagnostic>) -> Option<FileUse> {
    let sharing = at.sharing()?;
    let reads_others = at.reads_others();
    refuse_spread_parts(at, sharing, problems)?;
    if let Some(span) = reads_others {
        check_reads_of_others(at, sharing, span, problems)?;
    }
    if sharing == Sharing::All && reads_others.is_none() {
        return Some(FileUse::ALL);
    }
    let filled_by_others = reads_others.map(|_| at.named_hosts.unwrap_or(at.hosts).max(2));
    // As on one target; see `Stream::on_target`.
    let file_use = FileUse { sharing, hosts: at.hosts_of_target(), filled_by_others };
    let files = at.count("files")?;
    let workers = u32::try_from(at.workers_of_target()?).ok()?;
    let files_min = file_use.files_min(workers);
    if files < files_min {
        let (key, parts) = match sharing {
            Sharing::All => ("read_what", "hosts that each read files of another".to_owned()),
            Sharing::Host => ("sharing", "hosts that each have a part".to_owned()),
            Sharing::Worker => ("sharing", "workers that each have a part".to_owned()),
        };
        let written = at.at("files").filter(|(_, span)| span.file.as_ref() != DEFAULTS_FILE);
        let (_, span) = written.or_else(|| at.at(key))?;
        let title = format!("stream `{}` has fewer files than {parts}", at.name);
        let problem = span
            .diagnostic(title, format!("`files` of at least {files_min}"))
            .with_found(format!(
                "files={files}, {}, {}",
                counted(at.hosts.into(), "host"),
                counted(workers.into(), "worker"),
            ))
            .with_hint(format!("raise `files` to {files_min} or more, or omit `{key}`"));
        problems.push(problem);
        return None;
    }
    Some(FileUse { hosts: at.hosts, ..file_use })
}

/// Parts of hosts are those of the hosts that send to a target, so workers must not be spread across them.
fn refuse_spread_parts(
    at: &StreamAt<'_, '_>,
    sharing: Sharing,
    problems: &mut Vec<Diagnostic>,
) -> Option<()> {
    let spread = at.spread();
    let is_wrong = match spread {
        Spread::All => false,
        Spread::Host => at.reads_others().is_some(),
        Spread::Worker => sharing == Sharing::Host || at.reads_others().is_some(),
    };
    if !is_wrong {
        return Some(());
    }
    let (_, span) = at.at("spread")?;
    let key = if at.reads_others().is_some() { "read_what" } else { "sharing" };
    let problem = span
        .diagnostic(
            format!(
                "stream `{}` has parts of files for hosts that do not use every target",
                at.name
            ),
            format!("`{key}` only with `spread = \"all\"`"),
        )
        .with_hint(format!("omit `spread` or `{key}`"));
    problems.push(problem);
    None
}

/// Refuses reads of other hosts' files if there are none, or if they would be changed.
fn check_reads_of_others(
    at: &StreamAt<'_, '_>,
    sharing: Sharing,
    span: &SourceSpan,
    problems: &mut Vec<Diagnostic>,
) -> Option<()> {
    let name = at.name;
    let wrong = match (at.named_hosts, at.share("read")?) {
        (Some(_), _) if at.hosts < 2 => span
            .diagnostic(
                format!("stream `{name}` reads files of other hosts, but a run has one host"),
                "`read_what = \"others\"` only with several hosts",
            )
            .with_hint("name the hosts with `--hosts`, or omit `read_what`"),
        (_, read) if read < 1000 => span
            .diagnostic(
                format!("stream `{name}` writes, so it would change the files of other hosts"),
                "`read_what = \"others\"` only if `read` is 100 %",
            )
            .with_hint("use one stream that reads and another that writes"),
        (Some(named), _) if sharing != Sharing::All && named % at.hosts != 0 => span
            .diagnostic(
                format!("stream `{name}` has parts that its own host filled in part"),
                format!("`hosts` that divide the {named} hosts that fill the files"),
            )
            .with_found(format!("hosts={}", at.hosts))
            .with_hint("change `run.hosts`, or omit `sharing`"),
        _ => return Some(()),
    };
    problems.push(wrong);
    None
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
    let Some((pattern, pattern_span)) = at.pattern() else { return };
    if sizes.len() > 1 && pattern.is_ordered() {
        problems.push(
            span.diagnostic(
                format!("stream `{}` is sequential with several transfer sizes", at.name),
                "one transfer size for a sequential pattern",
            )
            .with_hint("use one stream for each size; streams run concurrently"),
        );
    }
    let AccessPattern::Stride { stride_bytes } = pattern else { return };
    let size = sizes.first().map_or(1, |size| size.size_bytes);
    let total = set.area_bytes.saturating_mul(u64::from(set.files));
    if !stride_bytes.is_multiple_of(size) {
        let wrong = format!("the stride of stream `{}` is no multiple of its block size", at.name);
        let wrong = pattern_span.diagnostic(wrong, format!("a multiple of {}", Bytes::new(size)));
        let next = stride_bytes.div_ceil(size).saturating_mul(size);
        let hint = format!("the next multiple is {next} bytes");
        problems.push(wrong.with_found(Bytes::new(stride_bytes).to_string()).with_hint(hint));
    } else if stride_bytes >= total {
        let wrong = format!("the stride of stream `{}` is not below its working set", at.name);
        let wrong = pattern_span.diagnostic(wrong, format!("less than {}", Bytes::new(total)));
        problems.push(wrong.with_found(Bytes::new(stride_bytes).to_string()));
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
    let (Some((pattern, span)), Some(workers)) = (at.pattern(), at.workers_of_target()) else {
        return;
    };
    if !pattern.is_ordered() {
        return;
    }
    let (Some((sizes, _)), Some(files), Some((file_size, _))) =
        (at.sizes(), at.count("files"), at.bytes("file_size"))
    else {
        return;
    };
    let area = at.bytes("area").map_or(file_size, |(area, _)| area / u64::from(files));
    let size = sizes.first().map_or(1, |size| size.size_bytes);
    let hosts = at.hosts_of_target();
    let (workers, files) = match at.sharing() {
        // The smallest part, and the workers that share it.
        Some(Sharing::Host) => (workers.div_ceil(u64::from(hosts)), files / hosts),
        Some(Sharing::Worker) => (1, u64::from(files).div_ceil(workers.max(1)) as u32),
        Some(Sharing::All) | None => (workers, files),
    };
    let transfers = (area / size) * u64::from(files);
    if transfers > 0 && transfers < workers {
        problems.push(
            span.diagnostic(
                format!(
                    "the working set of stream `{}` has fewer transfers than the stream has \
                         sequential workers",
                    at.name
                ),
                "a working set of at least one transfer for each worker",
            )
            .with_found(format!("{transfers} transfers, {}", counted(workers, "worker"))),
        );
    }
}

/// The phases of a run; `None` if a value is wrong or they do not fit together.
///
/// * `replay_end_ns` - when all streams have ended, if they all replay lists
pub(crate) fn phases(
    run: &Layer<'_>,
    axis_values: &[AxisValue<'_>],
    replay_end_ns: Option<u64>,
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
    let (mut warm_up_ns, mut measure_ns) =
        (whole_intervals("warm_up")?, whole_intervals("measure")?);
    if let Some(end_ns) = replay_end_ns {
        let written = |name, ns: u64| {
            time(name).filter(|(_, span)| span.file.as_ref() != DEFAULTS_FILE).map(|_| ns)
        };
        let written = (written("warm_up", warm_up_ns), written("measure", measure_ns));
        let phases = replay_load::phases(end_ns, interval_ns, written.0, written.1);
        (warm_up_ns, measure_ns) = (phases.warm_up_ns, phases.measure_ns);
    }
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

/// The number of targets of a run, if `[run]` sets it.
pub(crate) fn targets_used<'e>(
    run: &Layer<'e>,
    axis_values: &[AxisValue<'_>],
) -> Option<(u64, &'e SourceSpan)> {
    match run.at("targets", axis_values)? {
        (Value::Count(count), span) => Some((*count, span)),
        _ => None,
    }
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
            .with_found(format!("hosts={count}, {}", counted(u64::from(named), "host")))
            .with_hint("name the hosts with `--hosts`");
        problems.push(problem);
        return 1;
    }
    u32::try_from(*count).unwrap_or(1)
}

/// The largest number of workers of one host that send to one target, of all streams together.
pub(crate) fn workers_of_connections(streams: &[Stream], hosts: u32) -> u64 {
    let mut counts: BTreeMap<(u32, u32), u64> = BTreeMap::new();
    for stream in streams {
        let of_host = (stream.workers / hosts).max(1);
        for lane in 0..stream.workers {
            let target = stream.target_lane(hosts, lane).target;
            *counts.entry((lane / of_host, target)).or_default() += 1;
        }
    }
    counts.into_values().max().unwrap_or(0)
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
        let workers = workers_of_connections(streams, hosts.max(1));
        let hosts = u64::from(hosts.max(1));
        if let Some(connections) = connections.or(target.and_then(TargetSpec::connections))
            && u64::from(connections) < workers
        {
            problems.push(
                span.diagnostic(
                    "a run has more workers than connections to a target; each worker needs its own \
                     connection",
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
