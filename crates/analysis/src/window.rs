//! Sums over the intervals of a run's measure phase.
//!
//! Only whole intervals count; a run that ended early contributes those it has. All later figures
//! come from [`WindowSums`], so one run, all repeats of a load point, one stream and all streams
//! together share the same code.

use std::sync::LazyLock;

use metrics::histogram::{BUCKETS, Counts};
use metrics::interval::{Interval, KindInterval, StreamInterval};
use metrics::run_record::RunRecord;
use units::OpsPerSec;
use workload::op::OpKind;
use workload::outcome::ErrorKind;
use workload::plan::Stream;

use crate::users::UserSums;

/// The whole intervals of the run's measure phase, whether all streams are active in them or not.
pub(crate) fn measured(run: &RunRecord) -> Vec<&Interval> {
    whole(run, run.run.phases.window())
}

/// The whole intervals of the measure phase in which all streams are active: those of totals.
pub(crate) fn common(run: &RunRecord) -> Vec<&Interval> {
    whole(run, run.run.common_window())
}

/// The whole intervals of the measure phase in which a stream is active: those of its results.
pub(crate) fn of_stream<'a>(run: &'a RunRecord, stream: &Stream) -> Vec<&'a Interval> {
    whole(run, stream.active.window(&run.run.phases))
}

/// The whole intervals from the stream's start to the end of its window: warm-up and measure phase.
pub(crate) fn with_warm_up<'a>(run: &'a RunRecord, stream: &Stream) -> Vec<&'a Interval> {
    let phases = &run.run.phases;
    let start = stream.active.range_ns(phases).start.div_ceil(phases.interval_ns);
    whole(run, (start as u32, stream.active.window(phases).1))
}

/// The whole intervals with these numbers, the second excluded.
fn whole(run: &RunRecord, (first, end): (u32, u32)) -> Vec<&Interval> {
    // Workers close an interval within one percent of its edge; a shorter one was cut off.
    let interval_ns = u128::from(run.run.phases.interval_ns);
    let is_whole =
        |i: &&Interval| u128::from(i.end_ns.saturating_sub(i.start_ns)) * 100 >= interval_ns * 99;
    let inside = |i: &&Interval| (first..end).contains(&i.index);
    run.intervals.iter().filter(inside).filter(is_whole).collect()
}

/// Sums of one stream, or of all streams, over a window.
#[derive(Clone, Debug, Default)]
pub(crate) struct WindowSums<'a> {
    /// Length of each interval, in nanoseconds.
    pub(crate) length_ns: Vec<f64>,
    /// The kinds of operations that occurred, in the order of their numbers.
    kinds: Vec<(OpKind, Ops<'a>)>,
    /// Time integral of the outstanding operations in each interval.
    pub(crate) outstanding_time_ns: Vec<f64>,
    /// Time integral of the backlog in each interval.
    pub(crate) backlog_time_ns: Vec<f64>,
    /// Operations due but not issued when the window began.
    pub(crate) backlog_start: u64,
    /// Operations due but not issued when the window ended.
    pub(crate) backlog_end: u64,
    /// The backlog at the end of a window differs from that at its start, in any of the windows or
    /// streams that were added. Open loops only.
    pub(crate) backlog_changed: bool,
    /// Operations that became due in each interval by the offered rates; `None` if a stream is a
    /// closed loop.
    pub(crate) due: Option<Vec<f64>>,
    /// An offered rate changes by plan.
    pub(crate) rate_varies: bool,
    /// What users did; `None` without users.
    pub(crate) users: Option<UserSums<'a>>,
}

/// Operations of one kind, or of several together, in a window.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ops<'a> {
    /// Completions in each interval.
    pub(crate) completed: Vec<f64>,
    /// Bytes moved in each interval.
    pub(crate) bytes: Vec<f64>,
    /// Sum of service times in each interval, in nanoseconds.
    pub(crate) service_sum_ns: Vec<f64>,
    /// Sum of response times in each interval, in nanoseconds.
    pub(crate) response_sum_ns: Vec<f64>,
    pub(crate) failed: [u64; ErrorKind::COUNT],
    /// Service times of the whole window.
    pub(crate) service: Counts,
    /// Response times of the whole window.
    pub(crate) response: Counts,
    /// The intervals of both sums: index and counts.
    pub(crate) parts: Vec<(u32, &'a KindInterval)>,
}

impl<'a> WindowSums<'a> {
    /// Adds up stream `stream` over `intervals`; `backlog_start` is the backlog when the first of
    /// them began.
    pub(crate) fn of(
        intervals: &[&'a Interval],
        stream: usize,
        backlog_start: u64,
    ) -> WindowSums<'a> {
        // A third-party record may lack a stream in an interval without operations.
        static NOTHING: LazyLock<StreamInterval> = LazyLock::new(StreamInterval::default);
        let of_stream = || intervals.iter().map(|i| i.streams.get(stream).unwrap_or(&NOTHING));
        let backlog_end = of_stream().next_back().map_or(backlog_start, |s| s.backlog_end);
        WindowSums {
            length_ns: intervals.iter().map(|i| (i.end_ns - i.start_ns) as f64).collect(),
            kinds: OpKind::ALL
                .into_iter()
                .filter(|kind| of_stream().any(|s| s.kinds.get(*kind).is_some()))
                .map(|kind| (kind, Ops::of(of_stream().map(|s| &s.kinds[kind]))))
                .collect(),
            outstanding_time_ns: of_stream().map(|s| s.outstanding_time_ns as f64).collect(),
            backlog_time_ns: of_stream().map(|s| s.backlog_time_ns as f64).collect(),
            backlog_start,
            backlog_end,
            backlog_changed: backlog_end != backlog_start,
            due: None,
            rate_varies: false,
            users: UserSums::of(of_stream().map(|s| s.users.as_deref())),
        }
    }

    /// The lengths by which rates are averaged, in nanoseconds: those of the intervals or, if the
    /// offered rate changes by plan, the window's length divided like the operations that became due. So
    /// the uncertainty of a rate does not contain the planned changes.
    pub(crate) fn weighted_length_ns(&self) -> Vec<f64> {
        let due = self.due.as_ref().filter(|_| self.rate_varies);
        let sum: f64 = due.iter().copied().flatten().sum();
        match due {
            Some(due) if sum > 0.0 => {
                let each = self.length_ns.iter().sum::<f64>() / sum;
                due.iter().map(|due| due * each).collect()
            }
            _ => self.length_ns.clone(),
        }
    }

    /// The mean offered rate of the intervals; `None` if a stream is a closed loop, or without
    /// intervals.
    pub(crate) fn offered_rate(&self) -> Option<OpsPerSec> {
        let seconds = self.length_ns.iter().sum::<f64>() / 1e9;
        let due: f64 = self.due.as_ref()?.iter().sum();
        (seconds > 0.0).then(|| OpsPerSec::new(due / seconds))
    }

    /// Operations of the given kinds together.
    pub(crate) fn together(&self, kinds: &[OpKind]) -> Ops<'a> {
        let mut sums = self.kinds.iter().filter(|(kind, _)| kinds.contains(kind));
        let Some((_, first)) = sums.next() else { return Ops::none(self.length_ns.len()) };
        let mut sum = first.clone();
        for (_, ops) in sums {
            sum.add_stream(ops);
        }
        sum
    }

    /// Operations of one kind, if there were any.
    pub(crate) fn kind(&self, kind: OpKind) -> Option<&Ops<'a>> {
        self.kinds.iter().find(|(of, _)| *of == kind).map(|(_, ops)| ops)
    }

    /// The kinds of operations of which some ended.
    pub(crate) fn ended(&self) -> impl Iterator<Item = (OpKind, &Ops<'a>)> {
        let kinds = self.kinds.iter().map(|(kind, ops)| (*kind, ops));
        kinds.filter(|(_, ops)| ops.completed_total() + ops.failed_total() > 0)
    }

    /// The sums of a kind, added for `intervals` intervals without operations if there are none.
    fn entry(&mut self, kind: OpKind, intervals: usize) -> &mut Ops<'a> {
        let found = self.kinds.binary_search_by_key(&kind, |(of, _)| *of);
        let at = found.unwrap_or_else(|at| {
            self.kinds.insert(at, (kind, Ops::none(intervals)));
            at
        });
        &mut self.kinds[at].1
    }

    /// Adds another stream of the same run and window.
    pub(crate) fn add_stream(&mut self, other: &WindowSums<'a>) {
        let intervals = self.length_ns.len();
        for (kind, theirs) in &other.kinds {
            self.entry(*kind, intervals).add_stream(theirs);
        }
        add_each(&mut self.outstanding_time_ns, &other.outstanding_time_ns);
        add_each(&mut self.backlog_time_ns, &other.backlog_time_ns);
        self.backlog_start += other.backlog_start;
        self.backlog_end += other.backlog_end;
        self.backlog_changed |= other.backlog_changed;
        self.rate_varies |= other.rate_varies;
        match (&mut self.due, &other.due) {
            (Some(due), Some(theirs)) => add_each(due, theirs),
            _ => self.due = None,
        }
        match (&mut self.users, &other.users) {
            (Some(users), Some(theirs)) => users.add_stream(theirs),
            (users @ None, Some(theirs)) => *users = Some(theirs.clone()),
            (_, None) => {}
        }
    }

    /// Adds the same stream of another repeat, as if its window followed this one.
    pub(crate) fn append(&mut self, other: &WindowSums<'a>) {
        let intervals = self.length_ns.len();
        self.length_ns.extend(&other.length_ns);
        for (kind, theirs) in &other.kinds {
            self.entry(*kind, intervals).append(theirs);
        }
        for (kind, ops) in &mut self.kinds {
            if other.kind(*kind).is_none() {
                ops.append(&Ops::none(other.length_ns.len()));
            }
        }
        self.outstanding_time_ns.extend(&other.outstanding_time_ns);
        self.backlog_time_ns.extend(&other.backlog_time_ns);
        self.backlog_start += other.backlog_start;
        self.backlog_end += other.backlog_end;
        self.backlog_changed |= other.backlog_changed;
        self.rate_varies |= other.rate_varies;
        match (&mut self.due, &other.due) {
            (Some(due), Some(theirs)) => due.extend(theirs),
            _ => self.due = None,
        }
        match (&mut self.users, &other.users) {
            (Some(users), Some(theirs)) => users.append(theirs),
            // A repeat without an interval in its window.
            (users, theirs) if intervals == 0 => users.clone_from(theirs),
            _ => {}
        }
    }
}

impl<'a> Ops<'a> {
    /// No operations, in this many intervals.
    fn none(intervals: usize) -> Ops<'a> {
        let zeros = vec![0.0; intervals];
        Ops {
            completed: zeros.clone(),
            bytes: zeros.clone(),
            service_sum_ns: zeros.clone(),
            response_sum_ns: zeros,
            ..Ops::default()
        }
    }

    fn of(intervals: impl Iterator<Item = &'a KindInterval>) -> Ops<'a> {
        let mut ops = Ops::default();
        let mut service = CountsSum::default();
        let mut response = CountsSum::default();
        for (number, interval) in intervals.enumerate() {
            if interval.completed > 0 {
                ops.parts.push((number as u32, interval));
            }
            ops.completed.push(interval.completed as f64);
            ops.bytes.push(interval.bytes as f64);
            ops.service_sum_ns.push(interval.service.sum_ns as f64);
            ops.response_sum_ns.push(interval.response.sum_ns as f64);
            for (count, theirs) in ops.failed.iter_mut().zip(&interval.failed) {
                *count += theirs;
            }
            service.add(&interval.service);
            response.add(&interval.response);
        }
        ops.service = service.into_counts();
        ops.response = response.into_counts();
        ops
    }

    /// Completions of the whole window.
    pub(crate) fn completed_total(&self) -> u64 {
        self.completed.iter().sum::<f64>() as u64
    }

    /// Failures of the whole window.
    pub(crate) fn failed_total(&self) -> u64 {
        self.failed.iter().sum()
    }

    fn add_stream(&mut self, other: &Ops<'a>) {
        add_each(&mut self.completed, &other.completed);
        add_each(&mut self.bytes, &other.bytes);
        add_each(&mut self.service_sum_ns, &other.service_sum_ns);
        add_each(&mut self.response_sum_ns, &other.response_sum_ns);
        self.parts.extend(&other.parts);
        self.add_totals(other);
    }

    fn append(&mut self, other: &Ops<'a>) {
        let before = self.completed.len() as u32;
        self.parts.extend(other.parts.iter().map(|(number, part)| (before + number, *part)));
        self.completed.extend(&other.completed);
        self.bytes.extend(&other.bytes);
        self.service_sum_ns.extend(&other.service_sum_ns);
        self.response_sum_ns.extend(&other.response_sum_ns);
        self.add_totals(other);
    }

    fn add_totals(&mut self, other: &Ops<'a>) {
        for (count, theirs) in self.failed.iter_mut().zip(&other.failed) {
            *count += theirs;
        }
        self.service.merge(&other.service);
        self.response.merge(&other.response);
    }
}

fn add_each(sums: &mut [f64], others: &[f64]) {
    for (sum, other) in sums.iter_mut().zip(others) {
        *sum += other;
    }
}

/// Adds many snapshots at a cost proportional to their own size, where merging pairwise would walk
/// the growing sum each time. Few rows are kept unsorted, so that short windows need no array of
/// all buckets.
#[derive(Default)]
pub(crate) struct CountsSum {
    /// Rows not in `counts` yet: `(bucket, count)`, unsorted.
    rows: Vec<(u32, u64)>,
    /// `counts[bucket]`; empty until there are many rows.
    counts: Vec<u64>,
    /// All fields but the buckets.
    totals: Counts,
}

/// More rows than this are counted by bucket.
const ROWS_MAX: usize = BUCKETS / 8;

impl CountsSum {
    pub(crate) fn add(&mut self, counts: &Counts) {
        if self.counts.is_empty() && self.rows.len() + counts.buckets.len() <= ROWS_MAX {
            self.rows.extend_from_slice(&counts.buckets);
        } else {
            if self.counts.is_empty() {
                self.counts = vec![0; BUCKETS];
            }
            for (bucket, count) in self.rows.drain(..).chain(counts.buckets.iter().copied()) {
                self.counts[bucket as usize] += count;
            }
        }
        self.totals.over_range += counts.over_range;
        self.totals.sum_ns += counts.sum_ns;
        self.totals.min_ns = self.totals.min_ns.min(counts.min_ns);
        self.totals.max_ns = self.totals.max_ns.max(counts.max_ns);
    }

    pub(crate) fn into_counts(mut self) -> Counts {
        if self.counts.is_empty() {
            self.rows.sort_unstable_by_key(|(bucket, _)| *bucket);
            self.rows.dedup_by(|next, kept| {
                let same = next.0 == kept.0;
                kept.1 += if same { next.1 } else { 0 };
                same
            });
            return Counts { buckets: self.rows, ..self.totals };
        }
        let filled = self.counts.iter().enumerate().filter(|(_, count)| **count > 0);
        Counts { buckets: filled.map(|(b, count)| (b as u32, *count)).collect(), ..self.totals }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_snapshots_and_many_add_up_to_the_same() {
        let snapshot = |seed: u32, size: u32| Counts {
            buckets: (0..size).map(|step| (seed % 7 + step * 3, u64::from(seed + step))).collect(),
            over_range: u64::from(seed),
            sum_ns: u128::from(seed * 1000),
            min_ns: u64::from(seed) + 5,
            max_ns: u64::from(seed) + 900,
        };
        for (snapshots, size) in [(1, 4), (5, 100), (40, 200), (3, ROWS_MAX as u32)] {
            let (mut sum, mut merged) = (CountsSum::default(), Counts::default());
            for seed in 1..=snapshots {
                sum.add(&snapshot(seed, size));
                merged.merge(&snapshot(seed, size));
            }
            assert_eq!(sum.into_counts(), merged, "{snapshots} of {size}");
        }
    }
}
