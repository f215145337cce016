//! What each of several hosts did over time: one row for each host, so that one that is slower, stalls or is
//! lost stands out.

use metrics::fleet::HostRun;
use metrics::interval::Interval;
use metrics::run_record::RunRecord;

use crate::curve::Curve;
use crate::heat::{COLUMNS_MAX, ends_of_curves};

/// Most hosts; of more, those with the fewest operations are kept.
pub const HOSTS_MAX: usize = 48;
/// Most runs of an experiment.
pub const RUNS_MAX: usize = 8;

/// The hosts of one run over time, reads and writes of all streams together.
#[derive(Clone, Debug, PartialEq)]
pub struct HostHeat {
    /// Index of the load point in `Findings::load_points`.
    pub load_point: usize,
    /// Index of the run in the plan.
    pub run_index: u32,
    /// Start and end of each column, in nanoseconds from the start of the run.
    pub columns: Vec<(u64, u64)>,
    /// The hosts, in their order.
    pub rows: Vec<HostRow>,
    /// Hosts of the run; more than rows if some are left out.
    pub of: usize,
}

/// A host over time.
#[derive(Clone, Debug, PartialEq)]
pub struct HostRow {
    /// The host's position.
    pub host: usize,
    /// `cells[column]`; shorter if the host was lost.
    pub cells: Vec<HostCell>,
}

/// What a host did in the time of a column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HostCell {
    /// Operations that succeeded.
    pub operations: u64,
    /// Bytes that they moved.
    pub bytes: u64,
    /// Their mean response time, in nanoseconds; `None` without operations.
    pub mean_ns: Option<f64>,
}

/// The first repeat of the load points with the lowest and the highest rate of each curve, if several hosts
/// executed them.
pub(crate) fn host_heats(curves: &[Curve], groups: &[Vec<&RunRecord>]) -> Vec<HostHeat> {
    let points = ends_of_curves(curves).into_iter();
    let heats = points.filter_map(|index| {
        let record = groups.get(index)?.first()?;
        host_heat(index, record.run.index, &record.hosts)
    });
    heats.take(RUNS_MAX).collect()
}

fn host_heat(load_point: usize, run_index: u32, hosts: &[HostRun]) -> Option<HostHeat> {
    if hosts.len() < 2 {
        return None;
    }
    let all: Vec<&[Interval]> = hosts.iter().map(|host| without_end(&host.intervals)).collect();
    let longest = all.iter().max_by_key(|intervals| intervals.len())?;
    let per_column = longest.len().div_ceil(COLUMNS_MAX).max(1);
    let mut rows: Vec<HostRow> = all
        .iter()
        .enumerate()
        .map(|(host, intervals)| {
            let cells = intervals.chunks(per_column).map(cell).collect();
            HostRow { host, cells }
        })
        .collect();
    let of = rows.len();
    if of > HOSTS_MAX {
        rows.sort_by_key(|row| row.cells.iter().map(|cell| cell.operations).sum::<u64>());
        rows.truncate(HOSTS_MAX);
        rows.sort_by_key(|row| row.host);
    }
    let columns = longest.chunks(per_column);
    let columns: Vec<(u64, u64)> =
        columns.map(|group| (group[0].start_ns, group[group.len() - 1].end_ns)).collect();
    (!columns.is_empty()).then_some(HostHeat { load_point, run_index, columns, rows, of })
}

/// Without the short interval in which the last operations of a run complete: its rate means nothing.
fn without_end(intervals: &[Interval]) -> &[Interval] {
    let length = |interval: &Interval| interval.end_ns - interval.start_ns;
    match intervals {
        [first, .., last] if length(last) < length(first) / 2 => &intervals[..intervals.len() - 1],
        all => all,
    }
}

fn cell(intervals: &[Interval]) -> HostCell {
    let kinds = || intervals.iter().flat_map(|one| &one.streams).flat_map(|one| &one.kinds);
    let operations: u64 = kinds().map(|kind| kind.completed).sum();
    let sum_ns: u128 = kinds().map(|kind| kind.response.sum_ns).sum();
    HostCell {
        operations,
        bytes: kinds().map(|kind| kind.bytes).sum(),
        mean_ns: (operations > 0).then(|| sum_ns as f64 / operations as f64),
    }
}

#[cfg(test)]
mod tests {
    use metrics::histogram::Counts;
    use metrics::interval::{KindInterval, StreamInterval};

    use super::*;

    fn interval(index: u32, completed: u64) -> Interval {
        let response = Counts { sum_ns: u128::from(completed) * 500, ..Counts::default() };
        let mut stream = StreamInterval::default();
        stream.kinds[1] = KindInterval {
            completed,
            bytes: completed * 4096,
            response,
            ..KindInterval::default()
        };
        Interval {
            index,
            start_ns: u64::from(index) * 1_000,
            end_ns: u64::from(index + 1) * 1_000,
            streams: vec![stream],
            ..Interval::default()
        }
    }

    /// Hosts with so many intervals, in each of which they complete so many operations.
    fn hosts(all: &[(u32, u64)]) -> Vec<HostRun> {
        let of_host = |(count, completed): &(u32, u64)| HostRun {
            intervals: (0..*count).map(|index| interval(index, *completed)).collect(),
            ..HostRun::default()
        };
        all.iter().map(of_host).collect()
    }

    #[test]
    fn each_host_has_a_row_that_ends_when_it_is_lost() {
        let heat = host_heat(0, 3, &hosts(&[(4, 10), (2, 5), (4, 0)])).expect("three hosts");
        assert_eq!(heat.columns, [(0, 1_000), (1_000, 2_000), (2_000, 3_000), (3_000, 4_000)]);
        assert_eq!((heat.run_index, heat.of), (3, 3));
        let cells: Vec<usize> = heat.rows.iter().map(|row| row.cells.len()).collect();
        assert_eq!(cells, [4, 2, 4]);
        let cell = HostCell { operations: 5, bytes: 5 * 4096, mean_ns: Some(500.0) };
        assert_eq!(heat.rows[1].cells[1], cell);
        assert_eq!(heat.rows[2].cells[0], HostCell { operations: 0, bytes: 0, mean_ns: None });
        assert_eq!(host_heat(0, 3, &hosts(&[(4, 10)])), None);
    }

    #[test]
    fn neighbouring_intervals_are_added_and_the_slowest_hosts_are_kept() {
        let heat = host_heat(0, 0, &hosts(&[(250, 1), (250, 2)])).expect("two hosts");
        assert_eq!(heat.columns.len(), 84);
        let operations = |row: &HostRow| row.cells.iter().map(|cell| cell.operations).sum::<u64>();
        assert_eq!(heat.rows.iter().map(operations).collect::<Vec<_>>(), [250, 500]);
        let many: Vec<(u32, u64)> = (0..60).map(|host| (1, 100 - host)).collect();
        let heat = host_heat(0, 0, &hosts(&many)).expect("60 hosts");
        let kept: Vec<usize> = heat.rows.iter().map(|row| row.host).collect();
        assert_eq!(kept, (12..60).collect::<Vec<_>>());
        assert_eq!(heat.of, 60);
    }
}
