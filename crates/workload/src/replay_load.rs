//! Combines a list to replay with the settings of its stream, and checks that they fit together.

use std::time::Duration;

use settings::{Diagnostic, SourceSpan};
use units::{counted, print_duration};

use crate::active_time::{self, ActiveTime};
use crate::combination::{StreamAt, write_stability};
use crate::data::DataPattern;
use crate::file_use::FileUse;
use crate::layer::{AxisValue, DEFAULTS_FILE, Layer};
use crate::name_load::KEYS_AT_OFFSETS;
use crate::pattern::AccessPattern;
use crate::replay::{Replay, ReplayList};
use crate::run::{Phases, Stream, WeightedSize, WorkingSet};
use crate::value::Value;

/// The unit of direct I/O, and of buffers.
const SECTOR: u64 = 512;

/// The stream that replays a list; `None` if a value is missing or wrong.
pub(crate) fn stream(at: &StreamAt<'_, '_>, problems: &mut Vec<Diagnostic>) -> Option<Stream> {
    let before = problems.len();
    refuse_described_operations(at, problems);
    let Some((Value::Replay(replay), span)) = at.at("replay") else { return None };
    let list = replay.source()?;
    let targets = at.targets(problems)?;
    let (workers, queue_depth) = (at.count("workers")?, at.count("queue_depth")?);
    if at.shared_arrival.is_some() {
        let wrong = format!("stream `{}` replays a list, and [run] sets `arrival`", at.name);
        let wrong = span.diagnostic(wrong, "`arrival` in [run] only without `replay`");
        problems.push(wrong.with_hint("set `arrival` in the other streams"));
    }
    refuse_split(at, replay, span, problems);
    check_times(at, replay, span, problems);
    let direct = direct(at, replay, problems)?;
    let mut replay = (**replay).clone();
    let active = active(at, &replay, span, problems);
    let arrival = match at.phases {
        Some(phases) => {
            let end_ns = active.range_ns(&phases).end;
            replay.set_arrival(active.start_ns, end_ns, phases.interval_ns)
        }
        None => None,
    };
    if problems.len() > before {
        return None;
    }
    let files = replay.files_total();
    // The sum of the sizes is right, whatever the size of each.
    let file_size_bytes = replay.file_bytes().div_ceil(u64::from(files));
    Some(Stream {
        name: at.name.to_owned(),
        read_permille: replay.read_permille(),
        transfer_sizes: transfer_sizes(list),
        access_pattern: AccessPattern::Uniform,
        working_set: WorkingSet { files, file_size_bytes, area_bytes: file_size_bytes },
        file_use: FileUse::ALL,
        queue_depth,
        workers: targets.workers(workers, at.hosts)?,
        arrival: arrival?,
        direct,
        dsync: at.flag("dsync")?,
        write_stability: write_stability(at, problems),
        fsync_every_writes: None,
        data: DataPattern {
            compressible_permille: at.share("compressible")?,
            duplicate_permille: at.share("duplicate")?,
        },
        targets,
        active,
        names: None,
        replay: Some(Box::new(replay)),
    })
}

/// Sizes of the list, whose largest is rounded up to a whole buffer.
fn transfer_sizes(list: &ReplayList) -> Vec<WeightedSize> {
    let mut sizes = list.transfer_sizes();
    if let Some(largest) = sizes.iter_mut().max_by_key(|size| size.size_bytes) {
        largest.size_bytes = largest.size_bytes.next_multiple_of(SECTOR);
    }
    sizes
}

/// Refuses keys that describe operations, which are those of the list.
fn refuse_described_operations(at: &StreamAt<'_, '_>, problems: &mut Vec<Diagnostic>) {
    let described = KEYS_AT_OFFSETS.into_iter().filter(|key| *key != "direct");
    for key in described.chain(["names", "mix", "arrival", "weight"]) {
        let written = at.at(key).filter(|(_, span)| span.file.as_ref() != DEFAULTS_FILE);
        if let Some((_, span)) = written {
            let wrong = format!("stream `{}` has `replay` and `{key}`", at.name);
            let allowed = format!("`{key}` only without `replay`");
            let hint = match key {
                "arrival" => "set `speed` in `replay`, or omit `arrival`",
                _ => "omit it, or use two streams; streams run concurrently",
            };
            problems.push(span.diagnostic(wrong, allowed).with_hint(hint));
        }
    }
}

/// The workers of all hosts and targets together replay a list, with each file by one worker.
fn refuse_split(
    at: &StreamAt<'_, '_>,
    replay: &Replay,
    span: &SourceSpan,
    problems: &mut Vec<Diagnostic>,
) {
    let name = at.name;
    let files = replay.files_total();
    let targets = at.targets(&mut Vec::new());
    let Some((Value::Count(workers), workers_span)) = at.at("workers") else { return };
    let Some((workers, targets)) = u32::try_from(*workers).ok().zip(targets) else { return };
    let Some(all) = targets.workers(workers, at.hosts).filter(|all| *all > files) else { return };
    let hint = "operations on a file are sent by one worker, in order; raise `queue_depth`";
    if all == workers {
        let wrong = format!("stream `{name}` has more workers than its list has files");
        let allowed = format!("at most {}", counted(u64::from(files), "worker"));
        problems.push(workers_span.diagnostic(wrong, allowed).with_hint(hint));
        return;
    }
    let parts = if at.hosts > 1 { "hosts and targets" } else { "targets" };
    let wrong =
        format!("stream `{name}` has more workers on its {parts} together than its list has files");
    let allowed = format!("at most {} on all {parts}", counted(u64::from(files), "worker"));
    let wrong = span.diagnostic(wrong, allowed).with_found(counted(all.into(), "worker"));
    problems.push(wrong.with_hint(hint));
}

fn check_times(
    at: &StreamAt<'_, '_>,
    replay: &Replay,
    span: &SourceSpan,
    problems: &mut Vec<Diagnostic>,
) {
    if replay.speed.is_none() {
        return;
    }
    if replay.length_ns.is_none() {
        let wrong = format!("the list of stream `{}` has no times", at.name);
        let wrong = span.diagnostic(wrong, "`speed = \"max\"` for a list without times");
        problems.push(wrong.with_hint("record a trace with times, such as `strace -ttt`"));
    } else if replay.repeat && replay.length_ns == Some(0) {
        let wrong = format!("all operations of the list of stream `{}` have one time", at.name);
        let wrong = span.diagnostic(wrong, "`repeat` only for a list that takes time");
        problems.push(wrong.with_hint("omit `repeat`, or set `speed = \"max\"`"));
    }
}

/// Whether files are opened with O_DIRECT: by default if all offsets and sizes permit it.
fn direct(at: &StreamAt<'_, '_>, replay: &Replay, problems: &mut Vec<Diagnostic>) -> Option<bool> {
    let (Value::Flag(direct), span) = at.at("direct")? else { return None };
    let is_aligned = u64::from(replay.alignment_bytes) >= SECTOR;
    if span.file.as_ref() == DEFAULTS_FILE {
        return Some(*direct && is_aligned);
    }
    if *direct && !is_aligned {
        let wrong = format!(
            "stream `{}` sets `direct`, but its list has offsets or sizes that are no multiples of \
             512",
            at.name
        );
        let wrong = span.diagnostic(wrong, "`direct = false`");
        problems.push(wrong.with_hint("omit `direct`: the page cache is used if it must be"));
    }
    Some(*direct)
}

/// From the stream's start to the interval in which its last operation is due.
fn active(
    at: &StreamAt<'_, '_>,
    replay: &Replay,
    span: &SourceSpan,
    problems: &mut Vec<Diagnostic>,
) -> ActiveTime {
    let written = active_time::of_stream(at, problems);
    let (Some(phases), Some(end_ns)) = (at.phases, replay.end_ns()) else { return written };
    let end_ns = written.start_ns.saturating_add(end_ns).div_ceil(phases.interval_ns);
    let end_ns = end_ns.saturating_mul(phases.interval_ns);
    if end_ns <= phases.warm_up_ns {
        let shown = |ns| print_duration(Duration::from_nanos(ns));
        let wrong = format!("the list of stream `{}` ends within the warm-up", at.name);
        let allowed =
            format!("a list that is longer than `warm_up` ({})", shown(phases.warm_up_ns));
        let wrong = span.diagnostic(wrong, allowed).with_found(shown(end_ns));
        problems.push(wrong.with_hint("set `warm_up = \"0s\"` in [run], or `repeat = true`"));
    }
    if end_ns >= written.end_ns.unwrap_or_else(|| phases.total_ns()) {
        return written;
    }
    ActiveTime { end_ns: Some(end_ns), ..written }
}

/// When a run in which all streams replay has ended, in nanoseconds from its start; `None` if a stream
/// does not end by itself.
pub(crate) fn end_ns(streams: &[(&str, &Layer<'_>)], axis_values: &[AxisValue<'_>]) -> Option<u64> {
    let end_ns = |(_, layer): &(&str, &Layer<'_>)| {
        let Some(Value::Replay(replay)) = layer.value("replay", axis_values) else { return None };
        let time_ns = |key| match layer.value(key, axis_values) {
            Some(Value::Duration(ns)) => Some(*ns),
            _ => None,
        };
        let end_ns = time_ns("start").unwrap_or(0).saturating_add(replay.end_ns()?);
        Some(time_ns("end").map_or(end_ns, |end| end.min(end_ns)))
    };
    let ends = streams.iter().map(end_ns).collect::<Option<Vec<u64>>>()?;
    ends.into_iter().max()
}

/// The phases of a run that has ended after `end_ns`. Without `warm_up` it has none.
///
/// * `warm_up_ns`, `measure_ns` - the lengths that are written; `None` for defaults
pub(crate) fn phases(
    end_ns: u64,
    interval_ns: u64,
    warm_up_ns: Option<u64>,
    measure_ns: Option<u64>,
) -> Phases {
    let warm_up_ns = warm_up_ns.unwrap_or(0);
    let whole_ns = end_ns.div_ceil(interval_ns).max(1).saturating_mul(interval_ns);
    // A list that ends within the warm-up is refused with its stream.
    let rest_ns = whole_ns.saturating_sub(warm_up_ns).max(interval_ns);
    let measure_ns = measure_ns.map_or(rest_ns, |measure_ns| measure_ns.min(rest_ns));
    Phases { warm_up_ns, measure_ns, interval_ns }
}
