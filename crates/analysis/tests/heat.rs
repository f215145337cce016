//! The heat map of response times: every operation in one cell, and a bounded number of cells.

use crate::records;
use crate::records::{done, experiment, kind, run, stream};
use analysis::analyze;
use analysis::heat::{COLUMNS_MAX, Heat, ROWS_MAX, RUNS_MAX};
use metrics::interval::StreamInterval;
use workload::op::OpKind;

#[test]
fn operations_on_names_have_a_heat_map_and_percentiles_over_time_for_each_kind() {
    let second = |creates: u64| {
        records::second_of(&[
            (OpKind::Create, creates, 4096, 1 << 20),
            (OpKind::Stat, 900, 0, 1 << 12),
            (OpKind::Readdir, 15, 0, 1 << 22),
        ])
    };
    let record = done(run("v", vec![stream("data", 1)], 1, 2), [0, 40, 60].map(second).to_vec());
    let found = analyze(&experiment(vec![record])).kinds_over_time.remove(0);
    let kinds: Vec<OpKind> = found.kinds.iter().map(|one| one.kind).collect();
    assert_eq!(kinds, [OpKind::Stat, OpKind::Create, OpKind::Readdir], "the most frequent first");
    assert_eq!((found.load_point, found.left_out), (0, 0));
    let operations =
        |at: usize| -> u64 { found.kinds[at].heat.cells.iter().map(|cell| cell.operations).sum() };
    assert_eq!([0, 1, 2].map(operations), [2700, 100, 45], "only those of the kind");
    let creates = &found.kinds[1].points;
    let rates: Vec<f64> = creates.iter().map(|point| point.achieved_rate.get()).collect();
    assert_eq!(rates, [0.0, 40.0, 60.0]);
    let medians: Vec<Option<u64>> = creates.iter().map(|point| point.response_p50_ns).collect();
    assert_eq!(medians, [None, Some(1 << 20), Some(1 << 20)]);
    assert_eq!(creates[2].response_p99_ns, None, "too few above it");
    let reads = done(run("v", vec![stream("data", 1)], 0, 1), vec![records::reads(9, 1, 1)]);
    assert!(analyze(&experiment(vec![reads])).kinds_over_time.is_empty());
}

/// A second of `(time in ns, reads)` and `(time in ns, writes)`.
fn second(reads: (u64, u64), writes: (u64, u64)) -> StreamInterval {
    let mut interval = StreamInterval::default();
    for (of, (time_ns, count)) in [(OpKind::Read, reads), (OpKind::Write, writes)] {
        interval.kinds[of as usize] = kind(count, 8192, time_ns, time_ns);
    }
    interval
}

fn heat_of(seconds: Vec<StreamInterval>) -> Heat {
    let count = seconds.len() as u64;
    let record = done(run("v", vec![stream("data", 1)], 0, count), seconds);
    analyze(&experiment(vec![record])).heats.remove(0)
}

#[test]
fn every_operation_counts_in_the_cell_of_its_time_and_second() {
    let heat = heat_of(vec![
        second((1 << 10, 5), (1 << 12, 7)),
        second((1 << 10, 3), ((1 << 11) + (1 << 10), 2)),
    ]);
    // From 2^10 to 2^12 ns are two doublings of eight rows, and the row of the last time.
    assert_eq!(heat.rows.len(), 17);
    assert_eq!(heat.rows[8].0, 2048.0);
    // log2(3) = 1.585: row 12 begins at 2^(10 + 12/8) = 2,896 and ends at 3,158.
    let cells: Vec<_> = heat.cells.iter().map(|c| (c.column, c.row, c.operations)).collect();
    assert_eq!(cells, [(0, 0, 5), (0, 16, 7), (1, 0, 3), (1, 12, 2)]);
    assert_eq!(heat.columns[1], (records::SECOND_NS, 2 * records::SECOND_NS));
}

#[test]
fn a_long_run_has_a_bounded_number_of_cells() {
    let heat = heat_of(vec![second((100, 1), (50_000_000_000, 1)); 3_600]);
    assert!(heat.columns.len() <= COLUMNS_MAX && heat.rows.len() <= ROWS_MAX);
    assert_eq!(heat.cells.iter().map(|cell| cell.operations).sum::<u64>(), 7_200);
}

#[test]
fn the_number_of_heat_maps_is_bounded() {
    let idle = done(run("v", vec![stream("data", 1)], 0, 2), vec![StreamInterval::default(); 2]);
    assert!(analyze(&experiment(vec![idle])).heats.is_empty());
    let many = (0..60).map(|n| {
        let name = format!("v{n}");
        done(run(&name, vec![stream("data", 1)], 0, 2), vec![second((900, 4), (2_000, 4)); 2])
    });
    let findings = analyze(&experiment(many.collect()));
    assert_eq!(findings.heats.len(), RUNS_MAX);
    assert!(findings.heats.iter().all(|h| findings.load_points.get(h.load_point).is_some()));
}
