//! Response times over time as a heat map, which shows stalls and bimodal latency that a mean
//! hides.
//!
//! Counts only: each operation of a run is in exactly one cell.

use metrics::histogram::{Counts, bucket_low_ns};
use metrics::interval::Interval;
use metrics::run_record::RunRecord;
use workload::op::OpKind;

use crate::curve::Curve;

/// Most columns; neighbouring intervals are merged.
pub const COLUMNS_MAX: usize = 120;
/// Most rows, on a logarithmic scale.
pub const ROWS_MAX: usize = 32;
/// Most runs of an experiment.
pub const RUNS_MAX: usize = 24;
/// Candidates for rows per doubling, within [`ROWS_MAX`].
const PER_DOUBLING: [u32; 4] = [8, 4, 2, 1];

/// The response times of one run over time, of all streams together: of one kind of operation, or of
/// all kinds but fsyncs.
#[derive(Clone, Debug, PartialEq)]
pub struct Heat {
    /// Index of the load point in `Findings::load_points`.
    pub load_point: usize,
    /// Index of the run in the plan.
    pub run_index: u32,
    /// Start and end of each column, in nanoseconds from the start of the run.
    pub columns: Vec<(u64, u64)>,
    /// Range of each row in nanoseconds, ascending; the upper end is exclusive.
    pub rows: Vec<(f64, f64)>,
    /// Cells with operations.
    pub cells: Vec<Cell>,
}

/// A cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    /// The column.
    pub column: usize,
    /// The row.
    pub row: usize,
    /// How many.
    pub operations: u64,
}

/// The first repeat of the load points with the lowest and the highest rate of each curve.
pub(crate) fn heats(curves: &[Curve], groups: &[Vec<&RunRecord>]) -> Vec<Heat> {
    let points = ends_of_curves(curves).into_iter();
    let is_main = |kind| kind != OpKind::Fsync;
    points.filter_map(|index| heat(index, groups.get(index)?.first()?, &is_main)).collect()
}

/// The load points with the lowest and the highest rate of each curve, at most [`RUNS_MAX`].
pub(crate) fn ends_of_curves(curves: &[Curve]) -> Vec<usize> {
    let ends = curves.iter().flat_map(|curve| {
        let most = curve.most.and_then(|index| curve.points.get(index));
        let first = curve.points.first();
        first.into_iter().chain(most).map(|point| point.load_point)
    });
    let mut indices: Vec<usize> = Vec::new();
    for index in ends {
        if !indices.contains(&index) && indices.len() < RUNS_MAX {
            indices.push(index);
        }
    }
    indices
}

/// The heat map of a run, of the operations of these kinds; `None` if there are none.
pub(crate) fn heat(
    load_point: usize,
    record: &RunRecord,
    is_shown: &dyn Fn(OpKind) -> bool,
) -> Option<Heat> {
    let intervals = &record.intervals;
    let per_column = intervals.len().div_ceil(COLUMNS_MAX).max(1);
    let groups: Vec<&[Interval]> = intervals.chunks(per_column).collect();
    let ends: Vec<(u64, u64)> =
        intervals.iter().flat_map(|i| times(i, is_shown)).filter_map(ends).collect();
    let shortest = ends.iter().map(|(low, _)| *low).min()?;
    let longest = ends.iter().map(|(_, high)| *high).max()?;
    let doublings = (longest as f64 / shortest as f64).log2();
    let fits = |per: &&u32| ROWS_MAX > (doublings * f64::from(**per)).floor() as usize;
    // One row per doubling covers a nanosecond to several minutes.
    let per = f64::from(*PER_DOUBLING.iter().find(fits).unwrap_or(&1));
    let row_of = |ns: u64| ((ns as f64 / shortest as f64).log2() * per).floor() as usize;
    let rows_count = row_of(longest) + 1;
    let mut operations = vec![0_u64; groups.len() * rows_count];
    // The row per bucket; a logarithm per count would be slow.
    let mut row_of_bucket: Vec<Option<usize>> = Vec::new();
    for (column, group) in groups.iter().enumerate() {
        let cells = &mut operations[column * rows_count..(column + 1) * rows_count];
        for counts in group.iter().flat_map(|i| times(i, is_shown)) {
            for (bucket, count) in &counts.buckets {
                let index = *bucket as usize;
                if index >= row_of_bucket.len() {
                    row_of_bucket.resize(index + 1, None);
                }
                let low = || row_of(bucket_low_ns(*bucket).max(1));
                cells[*row_of_bucket[index].get_or_insert_with(low)] += count;
            }
            if counts.over_range > 0 {
                cells[row_of(counts.max_ns)] += counts.over_range;
            }
        }
    }
    let edge = |row: usize| shortest as f64 * (row as f64 / per).exp2();
    let cells = operations.iter().enumerate().filter(|(_, count)| **count > 0);
    Some(Heat {
        load_point,
        run_index: record.run.index,
        columns: groups.iter().map(|g| (g[0].start_ns, g[g.len() - 1].end_ns)).collect(),
        rows: (0..rows_count).map(|row| (edge(row), edge(row + 1))).collect(),
        cells: cells
            .map(|(index, count)| Cell {
                column: index / rows_count,
                row: index % rows_count,
                operations: *count,
            })
            .collect(),
    })
}

/// Response times of each stream and of each of these kinds.
fn times<'a>(
    interval: &'a Interval,
    is_shown: &'a dyn Fn(OpKind) -> bool,
) -> impl Iterator<Item = &'a Counts> {
    interval.streams.iter().flat_map(move |stream| {
        let shown = stream.kinds.entries().filter(move |(kind, _)| is_shown(*kind));
        shown.map(|(_, times)| &times.response)
    })
}

/// The shortest and the longest time, as lower bucket edges of at least 1 ns.
fn ends(counts: &Counts) -> Option<(u64, u64)> {
    let lows = || counts.buckets.iter().map(|(bucket, _)| bucket_low_ns(*bucket).max(1));
    let over = (counts.over_range > 0).then_some(counts.max_ns);
    // Buckets ascend.
    let (first, last) = (lows().next().or(over)?, over.or(lows().next_back())?);
    Some((first, last))
}
