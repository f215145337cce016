//! Response times over time, all of them: how many operations took how long, when. Where a mean is
//! one number, this shows whether there are two kinds of operations, or a stall.
//!
//! Counts only, no statistics: every operation of a run is in exactly one cell.

use metrics::histogram::{Counts, bucket_low_ns};
use metrics::interval::Interval;
use metrics::run_record::RunRecord;
use workload::op::OpKind;

use crate::curve::Curve;

/// At most this many columns, neighbouring intervals together.
pub const COLUMNS_MAX: usize = 120;
/// At most this many rows, each the same factor above the one below it.
pub const ROWS_MAX: usize = 32;
/// At most this many runs of an experiment.
pub const RUNS_MAX: usize = 24;
/// Rows for each doubling of the time, the most that [`ROWS_MAX`] allows.
const PER_DOUBLING: [u32; 4] = [8, 4, 2, 1];

/// The response times of one run over time, reads and writes of all streams together.
#[derive(Clone, Debug, PartialEq)]
pub struct Heat {
    /// The load point, as a place in `Findings::load_points`.
    pub load_point: usize,
    /// The run, by its place in the plan.
    pub run_index: u32,
    /// Beginning and end of each column, in nanoseconds from the run's start.
    pub columns: Vec<(u64, u64)>,
    /// The shortest and the longest time of each row, in nanoseconds, ascending; the longest is the
    /// shortest of the next row and not part of this one.
    pub rows: Vec<(f64, f64)>,
    /// Cells that hold operations.
    pub cells: Vec<Cell>,
}

/// Operations that took about as long at about the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    /// The column.
    pub column: usize,
    /// The row.
    pub row: usize,
    /// How many.
    pub operations: u64,
}

/// Of each curve its lowest and its highest rate: the first repeat of the load points where a
/// reader looks first.
pub(crate) fn heats(curves: &[Curve], groups: &[Vec<&RunRecord>]) -> Vec<Heat> {
    let ends = curves.iter().flat_map(|curve| {
        let most = curve.most.and_then(|place| curve.points.get(place));
        let first = curve.points.first();
        first.into_iter().chain(most).map(|point| point.load_point)
    });
    let mut places: Vec<usize> = Vec::new();
    for place in ends {
        if !places.contains(&place) && places.len() < RUNS_MAX {
            places.push(place);
        }
    }
    places.into_iter().filter_map(|place| heat(place, groups.get(place)?.first()?)).collect()
}

fn heat(load_point: usize, record: &RunRecord) -> Option<Heat> {
    let intervals = &record.intervals;
    let per_column = intervals.len().div_ceil(COLUMNS_MAX).max(1);
    let groups: Vec<&[Interval]> = intervals.chunks(per_column).collect();
    let ends: Vec<(u64, u64)> = intervals.iter().flat_map(times).filter_map(ends).collect();
    let shortest = ends.iter().map(|(low, _)| *low).min()?;
    let longest = ends.iter().map(|(_, high)| *high).max()?;
    let doublings = (longest as f64 / shortest as f64).log2();
    let fits = |per: &&u32| ROWS_MAX > (doublings * f64::from(**per)).floor() as usize;
    // A row for each doubling is enough for a nanosecond to several minutes.
    let per = f64::from(*PER_DOUBLING.iter().find(fits).unwrap_or(&1));
    let row_of = |ns: u64| ((ns as f64 / shortest as f64).log2() * per).floor() as usize;
    let rows_count = row_of(longest) + 1;
    let mut operations = vec![0_u64; groups.len() * rows_count];
    // The row of each bucket that was met: a logarithm for each count would be slow.
    let mut row_of_bucket: Vec<Option<usize>> = Vec::new();
    for (column, group) in groups.iter().enumerate() {
        let cells = &mut operations[column * rows_count..(column + 1) * rows_count];
        for counts in group.iter().flat_map(times) {
            for (bucket, count) in &counts.buckets {
                let place = *bucket as usize;
                if place >= row_of_bucket.len() {
                    row_of_bucket.resize(place + 1, None);
                }
                let low = || row_of(bucket_low_ns(*bucket).max(1));
                cells[*row_of_bucket[place].get_or_insert_with(low)] += count;
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
            .map(|(place, count)| Cell {
                column: place / rows_count,
                row: place % rows_count,
                operations: *count,
            })
            .collect(),
    })
}

/// Response times of reads and writes, of each stream.
fn times(interval: &Interval) -> impl Iterator<Item = &Counts> {
    interval.streams.iter().flat_map(|stream| {
        [OpKind::Read, OpKind::Write].map(|kind| &stream.kinds[kind as usize].response)
    })
}

/// The shortest and the longest time, as lower edges of their buckets and at least a nanosecond.
fn ends(counts: &Counts) -> Option<(u64, u64)> {
    let lows = || counts.buckets.iter().map(|(bucket, _)| bucket_low_ns(*bucket).max(1));
    let over = (counts.over_range > 0).then_some(counts.max_ns);
    // Buckets ascend.
    let (first, last) = (lows().next().or(over)?, over.or(lows().next_back())?);
    Some((first, last))
}
