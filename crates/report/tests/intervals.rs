//! Exported intervals: known answers, and the reference page.

#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use crate::fixture::records::{done, experiment, interval, kind, reads, run, stream};
use expect_test::expect_file;
use metrics::interval::StreamInterval;
use metrics::run_record::ExperimentRecord;
use report::intervals::{COLUMNS, Format, HISTOGRAMS, write};
use workload::op::OpKind;

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/intervals.md");
/// The reference page up to this line is written by hand.
const GENERATED: &str =
    "<!-- Generated from the columns. UPDATE_EXPECT=1 cargo test -p report intervals -->\n";

/// Two seconds of reads: 1,000 of 100 µs, then none; and a mixed stream that also writes.
fn record() -> ExperimentRecord {
    let mut mixed = stream("mixed", 4);
    mixed.read_permille = 500;
    let mut both =
        StreamInterval { outstanding_time_ns: 3_000_000_000, ..StreamInterval::default() };
    both.kinds[OpKind::Read as usize] = kind(5, 4096, 200_000, 300_000);
    both.kinds[OpKind::Write as usize] = kind(20, 8192, 400_000, 500_000);
    let first = done(
        run("reads", vec![stream("data", 2)], 0, 2),
        vec![reads(1_000, 8192, 100_000), reads(0, 0, 1)],
    );
    let mut second = done(run("both", vec![stream("data", 2), mixed], 1, 1), Vec::new());
    second.intervals = vec![interval(0, vec![reads(10, 8192, 50_000), both])];
    experiment(vec![first, second])
}

fn written(format: Format) -> Vec<u8> {
    let mut out = Vec::new();
    write(&mut [record(), record()].into_iter(), format, &mut out).unwrap();
    out
}

#[test]
fn each_interval_stream_and_kind_has_a_line_with_its_own_figures() {
    let text = String::from_utf8(written(Format::Csv)).unwrap();
    let mut lines = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let names = lines.next().unwrap();
    let lines: Vec<Vec<&str>> = lines.collect();
    assert_eq!(lines.len(), 2 * (2 + 3), "of both records");
    let cells = |line: usize, columns: &[&str]| -> Vec<&str> {
        let index = |name: &&str| names.iter().position(|one| one == name).unwrap();
        columns.iter().map(|name| lines[line][index(name)]).collect()
    };
    let figures = [
        "load_point",
        "phase",
        "stream",
        "operation",
        "completed",
        "moved_bytes",
        "achieved_rate_ops_per_sec",
        "throughput_bytes_per_sec",
        "response_mean_ns",
        "response_p99_ns",
        "response_p99_9_ns",
        "outstanding_mean_ops",
    ];
    // Exactly ten samples are above the p99 of 1,000, and one is above the p99.9.
    assert_eq!(
        cells(0, &figures),
        [
            "0", "measure", "data", "read", "1000", "8192000", "1000", "8192000", "100000",
            "100000", "", "0.1"
        ]
    );
    assert_eq!(
        cells(1, &figures),
        ["0", "measure", "data", "read", "0", "0", "0", "0", "", "", "", "0"]
    );
    assert_eq!(cells(3, &figures)[..6], ["1", "warm_up", "mixed", "read", "5", "20480"]);
    let times =
        ["operation", "completed", "response_mean_ns", "service_mean_ns", "outstanding_mean_ops"];
    assert_eq!(cells(4, &times), ["write", "20", "500000", "400000", "3"]);
}

#[test]
fn the_interval_reference_describes_every_column() {
    let page = std::fs::read_to_string(PAGE).unwrap();
    let head = page.split(GENERATED).next().unwrap();
    let mut text = format!("{head}{GENERATED}\n| column | type | meaning |\n| --- | --- | --- |\n");
    for column in COLUMNS {
        let (name, kind) = (column.name, column.type_name());
        text.push_str(&format!("| `{name}` | {kind} | {} |\n", column.meaning));
    }
    for histogram in HISTOGRAMS {
        let (edges, counts, meaning) = (histogram.edges, histogram.counts, histogram.meaning);
        text.push_str(&format!(
            "| `{edges}` | list of integers | Parquet only: upper ends of the histogram's buckets, of \
             {meaning} |\n| `{counts}` | list of integers | Parquet only: operations in each bucket |\n"
        ));
    }
    expect_file![PAGE].assert_eq(&text);
}

#[test]
fn a_parquet_file_has_the_numbers_of_the_csv_and_the_histograms() {
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::Field;

    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("intervals.parquet");
    std::fs::write(&path, written(Format::Parquet)).unwrap();
    let reader = SerializedFileReader::new(std::fs::File::open(path).unwrap()).unwrap();
    let text = String::from_utf8(written(Format::Csv)).unwrap();
    let mut lines = text.lines();
    let names: Vec<&str> = lines.next().unwrap().split(',').collect();
    let rows: Vec<_> = reader.get_row_iter(None).unwrap().map(Result::unwrap).collect();
    assert_eq!(rows.len(), lines.clone().count());
    for (row, line) in rows.iter().zip(lines) {
        let cells = line.split(',');
        let columns: Vec<_> = row.get_column_iter().collect();
        assert_eq!(columns.len(), names.len() + 2 * HISTOGRAMS.len());
        for ((cell, name), (column, field)) in cells.zip(&names).zip(&columns) {
            assert_eq!(name, &column.as_str());
            let value = match field {
                Field::Str(text) => text.clone(),
                Field::Long(number) => number.to_string(),
                Field::Double(number) => number.to_string(),
                Field::Null => String::new(),
                other => panic!("{name}: {other:?}"),
            };
            assert_eq!(value, *cell, "{name}");
        }
    }
    // 1,000 reads of 100 µs, which is the exact maximum.
    let histogram = |row: usize| -> Vec<String> {
        rows[row].get_column_iter().skip(names.len()).map(|(_, field)| field.to_string()).collect()
    };
    assert_eq!(histogram(0)[..2], ["[100000]", "[1000]"]);
    assert_eq!(histogram(1)[..2], ["[]", "[]"]);
}
