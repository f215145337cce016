//! The live screen and the plain lines of an experiment whose numbers are chosen.

#[path = "../../../analysis/tests/records/mod.rs"]
mod records;

use std::time::{Duration, Instant};

use expect_test::{Expect, expect};
use metrics::connection::ConnectionInterval;
use metrics::fleet::HostEvent;
use metrics::interval::Interval;
use metrics::run_record::{Outcome, PreparedAmount};
use runner::event::{Event, Phase};
use workload::plan::{Plan, Run, TargetSpec};
use workload::resolve::{ResolveOptions, resolve};

use super::HostNews;
use super::model::LiveModel;
use super::painter::{Emphasis, Size};
use records::{interval, reads};

const MEASURED_STREAM: &str = "[stream.corner]\nread = \"100%\"\npattern = \"random\"\n\
     transfer_size = \"8KiB\"\nfile_size = \"1MiB\"\nqueue_depth = [4, 16, 32]\n";

/// Two intervals of warm-up, then a window of six.
fn plan(streams: &str) -> Plan {
    let text = format!(
        "name = \"oltp\"\n[run]\nseed = 1\nwarm_up = \"2s\"\nmeasure = \"6s\"\ninterval = \"1s\"\n\
         {streams}"
    );
    let experiment = workload::experiment::parse_with(&text, "test", &[]).expect("it is valid");
    let options = ResolveOptions::LOCAL;
    let target = TargetSpec::Directory { path: "/mnt/vol1".to_owned() };
    resolve(&experiment, "test", target, &options).expect("it is possible")
}

/// A model that has seen events.
struct Followed {
    model: LiveModel,
    start: Instant,
}

impl Followed {
    fn new(plan: &Plan) -> Followed {
        Followed { model: LiveModel::new(plan), start: Instant::now() }
    }

    fn take(&mut self, event: Event) {
        self.model.take(&event, self.start);
    }

    fn start(&mut self, run: &Run) {
        self.take(Event::RunStarted { run: Box::new(run.clone()), started_unix_ms: 0 });
    }

    fn phase(&mut self, phase: Phase) {
        self.take(Event::PhaseStarted { run_index: Some(0), phase });
    }

    /// Intervals in which all streams complete `rate` operations of `service_ns` each.
    fn intervals(&mut self, run: &Run, indices: std::ops::Range<u32>, rate: u64, service_ns: u64) {
        for index in indices {
            let streams = run.streams.iter().map(|_| reads(rate, 8192, service_ns)).collect();
            self.interval(interval(index, streams));
        }
    }

    fn interval(&mut self, interval: Interval) {
        self.take(Event::Interval { run_index: 0, interval: Box::new(interval) });
    }

    fn finish(&mut self) {
        self.take(Event::RunFinished { run_index: 0, outcome: Outcome::Done });
    }

    /// A run from its start to its end.
    fn complete(&mut self, run: &Run, rate: u64, service_ns: u64) {
        self.start(run);
        self.intervals(run, 0..8, rate, service_ns);
        self.finish();
    }

    fn lines(&self, columns: usize, rows: usize) -> Vec<String> {
        self.model.lines(Size { columns, rows }).into_iter().map(|line| line.text).collect()
    }

    fn shows(&self, columns: usize, rows: usize, expected: &Expect) {
        expected.assert_eq(&self.lines(columns, rows).join("\n"));
    }
}

/// The second of three load points is being measured, after a slow warm-up.
fn in_the_second_run() -> Followed {
    let plan = plan(MEASURED_STREAM);
    let runs: Vec<&Run> = plan.known_runs().collect();
    let mut followed = Followed::new(&plan);
    followed.complete(runs[0], 8_534, 469_000);
    followed.start(runs[1]);
    followed.intervals(runs[1], 0..2, 4_000, 2_000_000);
    followed.phase(Phase::Measure);
    followed.intervals(runs[1], 2..5, 16_384, 977_000);
    followed
}

#[test]
fn the_offered_rate_is_next_to_the_achieved_one() {
    let open = MEASURED_STREAM.replace("[4, 16, 32]", "4\narrival = { constant = \"2000/s\" }");
    let plan = plan(&open);
    let run = plan.known_runs().next().expect("a run");
    let mut followed = Followed::new(&plan);
    followed.start(run);
    followed.phase(Phase::Measure);
    followed.intervals(run, 0..3, 1_500, 977_000);
    let table = |columns| -> Vec<String> {
        let lines = followed.lines(columns, 24);
        let table = lines
            .into_iter()
            .filter(|line| ["stream", "corner"].iter().any(|s| line.starts_with(s)));
        table.collect()
    };
    expect![[r#"
        stream      IOPS   offered     MiB/s mean, µs  p99, µs in flight errors
        corner     1,500     2,000      11.7      977      977       1.5      0"#]]
    .assert_eq(&table(80).join("\n"));
    expect![[r#"
        stream      IOPS   offered     MiB/s
        corner     1,500     2,000      11.7"#]]
    .assert_eq(&table(40).join("\n"));
}

#[test]
fn the_screen_shows_position_streams_history_and_finished_load_points() {
    in_the_second_run().shows(
        80,
        24,
        &expect![[r#"
            oltp on /mnt/vol1   run 2 of 3: oltp, QD 16
            measuring 3.0 of 6.0 s   11s left
            [███████████████████████████████████░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░]  54%

            stream      IOPS     MiB/s mean, µs  p99, µs in flight errors
            corner    16,384       128      977      977      16.0      0

            MiB/s   ▅▅▅▅▅▅▅▅▂▂███ 0 to 128, last 13s
            p99, µs ▂▂▂▂▂▂▂▂██▄▄▄ 0 to 2,000

            done: oltp, IOPS: QD 4 8,534"#]],
    );
}

#[test]
fn after_a_lost_host_the_run_its_history_and_the_finished_load_point_have_the_number_of_hosts() {
    let plan = plan(MEASURED_STREAM);
    let runs: Vec<Run> = plan.known_runs().map(|run| Run { hosts: 3, ..run.clone() }).collect();
    let mut followed = Followed::new(&plan);
    followed.complete(&runs[0], 8_534, 469_000);
    followed.start(&runs[1]);
    followed.intervals(&runs[1], 0..3, 4_000, 2_000_000);
    assert!(!followed.lines(80, 24).concat().contains("hosts"), "{:#?}", followed.lines(80, 24));
    let lose = |at_ns: u64| Event::HostEvent {
        run_index: 0,
        host: 2,
        event: HostEvent::Lost { at_ns, why: "killed".to_owned(), others_continued: true },
    };
    followed.take(lose(3_000_000_000));
    followed.intervals(&runs[1], 3..8, 2_600, 2_000_000);
    let with_hosts = |lines: &[String]| -> Vec<String> {
        lines.iter().filter(|line| line.contains("2/3 hosts")).cloned().collect()
    };
    let [head, throughput, p99] = &with_hosts(&followed.lines(80, 24))[..] else {
        panic!("{:#?}", followed.lines(80, 24))
    };
    assert!(head.ends_with("run 2 of 3: oltp, QD 16 (2/3 hosts)"), "{head}");
    assert!(throughput.ends_with("last 16s, down to 2/3 hosts"), "{throughput}");
    assert!(p99.ends_with(", down to 2/3 hosts"), "{p99}");
    followed.finish();
    followed.start(&runs[2]);
    followed.take(lose(0));
    let lines = followed.lines(80, 24);
    assert!(lines[0].ends_with("QD 32 (2/3 hosts)"), "{lines:#?}");
    let done = lines.iter().find(|line| line.starts_with("done: ")).expect("a line");
    assert_eq!(done, "done: oltp, IOPS: QD 4 8,534  QD 16 2,833 (2/3 hosts)", "the window's mean");
}

#[test]
fn a_host_that_further_runs_lack_for_the_same_reason_is_reported_once() {
    let lost = |at_ns: u64, why: &str| HostEvent::Lost {
        at_ns,
        why: why.to_owned(),
        others_continued: true,
    };
    let mut news = HostNews::default();
    let first = news.words(1, &lost(3_000_000_000, "killed")).expect("it is new");
    assert_eq!(first, "a host is lost at t = 3s: killed; the others continue");
    assert_eq!(news.words(1, &lost(0, "killed")), None);
    assert!(news.words(2, &lost(0, "killed")).is_some(), "another host");
    assert!(news.words(1, &lost(0, "started late")).is_some(), "another reason");
    assert!(news.words(1, &lost(2_000_000_000, "started late")).is_some(), "lost once more");
    news.ready(&[]);
    assert!(news.words(1, &lost(0, "started late")).is_some(), "another experiment");
}

#[test]
fn a_narrow_screen_keeps_the_most_important_columns() {
    in_the_second_run().shows(
        40,
        24,
        &expect![[r#"
            oltp on /mnt/vol1
            run 2 of 3: oltp, QD 16
            measuring 3.0 of 6.0 s   11s left
            [█████████████████░░░░░░░░░░░░░░░]  54%

            stream      IOPS     MiB/s  p99, µs
            corner    16,384       128      977

            MiB/s   ▅▅▅▅▅▅▂▂███ 0 to 128, last 11s
            p99, µs ▂▂▂▂▂▂██▄▄▄ 0 to 2,000

            done: oltp, IOPS: QD 4 8,534"#]],
    );
}

#[test]
fn a_low_screen_keeps_the_position_and_the_streams() {
    in_the_second_run().shows(
        80,
        7,
        &expect![[r#"
            oltp on /mnt/vol1   run 2 of 3: oltp, QD 16
            measuring 3.0 of 6.0 s   11s left
            [███████████████████████████████████░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░]  54%
            stream      IOPS     MiB/s mean, µs  p99, µs in flight errors
            corner    16,384       128      977      977      16.0      0
            MiB/s   ▅▅▅▅▅▅▅▅▂▂███ 0 to 128, last 13s"#]],
    );
}

#[test]
fn a_screen_fits_every_size() {
    let followed = in_the_second_run();
    for columns in 1..=200 {
        for rows in 1..=30 {
            let lines = followed.lines(columns, rows);
            assert!(lines.len() < rows.max(2), "{columns} x {rows}: {lines:?}");
            let width = lines.iter().map(|line| line.chars().count()).max();
            assert!(width < Some(columns.max(2)), "{columns} x {rows}: {lines:?}");
        }
    }
}

#[test]
fn a_fill_shows_its_rate_and_the_remaining_time() {
    let plan = plan(MEASURED_STREAM);
    let mut followed = Followed::new(&plan);
    followed.take(Event::PhaseStarted { run_index: None, phase: Phase::Prepare });
    followed.shows(
        80,
        24,
        &expect![[r#"
        oltp on /mnt/vol1   inspecting the target
        [░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░]   0%"#]],
    );
    let progress = |written_bytes| Event::PrepareProgress {
        stream: "corner".to_owned(),
        done: PreparedAmount::of_bytes(written_bytes),
        total: PreparedAmount::of_bytes(4 << 30),
    };
    followed.take(progress(0));
    followed.model.take(&progress(1 << 30), followed.start + Duration::from_secs(2));
    followed.shows(
        80,
        24,
        &expect![[r#"
        oltp on /mnt/vol1   writing the files of corner
        1 GiB of 4 GiB   512.00 MiB/s   6s left   30s with all runs
        [████████████████░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░]  25%"#]],
    );
}

#[test]
fn load_points_of_targets_in_turns_stay_on_their_lines() {
    let plan = plan(MEASURED_STREAM);
    let run = plan.known_runs().next().expect("there is one");
    let mut followed = Followed::new(&plan);
    for (variant, rate) in [("A: oltp", 1_000), ("B: oltp", 2_000), ("A: oltp", 3_000)] {
        let run = Run { variant: variant.to_owned(), ..run.clone() };
        followed.complete(&run, rate, 100_000);
    }
    let done: Vec<String> =
        followed.lines(80, 24).into_iter().filter(|line| line.starts_with("done")).collect();
    assert_eq!(done, ["done: A: oltp, IOPS: QD 4 3,000", "done: B: oltp, IOPS: QD 4 2,000"]);
}

#[test]
fn failed_operations_and_lost_connections_stand_out() {
    let plan = plan(MEASURED_STREAM);
    let run = plan.known_runs().next().expect("there is one");
    let mut followed = Followed::new(&plan);
    followed.start(run);
    let mut failing = interval(0, vec![reads(100, 8192, 469_000)]);
    failing.streams[0].kinds[0].failed[0] = 7;
    let second_ns = records::SECOND_NS;
    failing.connections =
        vec![ConnectionInterval { down_ns: second_ns, down_errno: 111, ..Default::default() }];
    followed.interval(failing);
    let lines = followed.model.lines(Size { columns: 80, rows: 24 });
    let alerts: Vec<&str> = lines
        .iter()
        .filter(|line| line.emphasis == Emphasis::Alert)
        .map(|line| line.text.as_str())
        .collect();
    assert_eq!(alerts.len(), 2, "{alerts:?}");
    assert!(alerts[0].ends_with(" 7"), "{alerts:?}");
    assert!(alerts[1].contains("lost: connection refused"), "{alerts:?}");
    let header = lines.iter().any(|line| line.text.starts_with("connection refused, retrying"));
    assert!(header, "the phase is the outage: {lines:?}");
}
