//! Plain lines: one for each load point, or one for each interval and stream.
//!
//! For logs, pipes, and terminals whose user asks for them. Each quantity has the same unit in all
//! lines, because a later line may be a thousand times slower.

use std::time::{Duration, Instant};

use analysis::series::{PointPhase, SeriesPoint, WindowSoFar, points_of};
use metrics::interval::Interval;
use metrics::run_record::{Outcome, PreparedAmount};
use metrics::warning::Warning;
use report::number::{NONE, mib, us};
use runner::event::{Event, Listener, ListenerError};
use runner::lost_hosts::LostHosts;
use units::thousands;
use workload::plan::{Plan, Run};

use super::fill::Fill;
use super::position::Position;
use super::quantities::Quantities;
use super::{HostNews, ended_words, engine_words, hosts_words, prepared_words};
use crate::connection_state::ConnectionState;
use crate::terminal::Terminal;

/// How often the fill is reported.
const FILL_LINE_EVERY: Duration = Duration::from_secs(10);

/// Prints plain lines.
pub(super) struct PlainLines {
    terminal: Terminal,
    /// A line for each interval.
    is_verbose: bool,
    position: Position,
    /// Those of all streams of the plan.
    quantities: Quantities,
    run: Option<Box<Run>>,
    window: WindowSoFar,
    fill: Option<Fill>,
    fill_reported: Option<Instant>,
    connections: ConnectionState,
    /// News of the hosts, if there are several.
    hosts: HostNews,
    /// Those that the current run has lost.
    lost: LostHosts,
}

impl PlainLines {
    pub(super) fn new(plan: &Plan, is_verbose: bool, terminal: &Terminal) -> PlainLines {
        PlainLines {
            terminal: *terminal,
            is_verbose,
            position: Position::new(plan),
            quantities: Quantities::of(plan.model_streams()),
            run: None,
            window: WindowSoFar::default(),
            fill: None,
            fill_reported: None,
            connections: ConnectionState::default(),
            hosts: HostNews::default(),
            lost: LostHosts::default(),
        }
    }

    fn line(&self, text: &str) {
        self.terminal.note(text);
    }

    fn run_started(&mut self, run: &Run) {
        self.position.run_started(run);
        let Position { runs_started, at_most, runs_total, .. } = &self.position;
        if self.is_verbose {
            let point = point_words(run);
            self.line(&format!("\nrun {runs_started} of {at_most}{runs_total}: {point}"));
            self.line(&interval_heading(Quantities::of(&run.streams)));
        } else if *runs_started == 1 {
            let time = self.position.left_words(None, 0);
            let heading = point_heading(self.quantities);
            self.line(&format!("\n{at_most}{runs_total} runs, {time}\n{heading}"));
        }
        self.run = Some(Box::new(run.clone()));
        self.window = WindowSoFar::default();
        self.connections = ConnectionState::default();
    }

    fn interval(&mut self, interval: &Interval) {
        let changed = self.connections.observe(interval);
        let is_down = self.connections.status().is_some();
        // A reconnect is reported before the interval's operations, a lost connection after them.
        if let Some(changed) = changed.as_ref().filter(|_| !is_down) {
            self.line(changed);
        }
        let Some(run) = &self.run else { return };
        self.window.add(run, interval);
        if self.is_verbose {
            self.interval_lines(run, interval, is_down);
        }
        if let Some(changed) = changed.filter(|_| is_down) {
            self.line(&changed);
        }
    }

    fn interval_lines(&self, run: &Run, interval: &Interval, is_down: bool) {
        let points = points_of(run, interval);
        // No line for the short interval in which the last operations complete, nor for the zeros
        // of a reported outage.
        let is_idle =
            points.iter().all(|point| point.achieved_rate.get() == 0.0 && point.failed == 0);
        let is_short = interval.end_ns - interval.start_ns < run.phases.interval_ns;
        if is_short || (is_idle && is_down) {
            return;
        }
        let quantities = Quantities::of(&run.streams);
        for (index, point) in points.iter().enumerate() {
            let time = time_words(point.end_ns, run.phases.interval_ns);
            let name = &run.streams[index].name;
            let line = interval_line(&time, name, point, quantities, index == 0);
            self.line(&format!("{line}{}", hosts_words(self.lost.missing_from(interval))));
        }
    }

    fn fill(&mut self, stream: &str, amounts: [PreparedAmount; 2]) {
        let now = Instant::now();
        let fill = Fill::progress(&mut self.fill, stream, amounts, now);
        let reported = match self.fill_reported {
            Some(reported) if fill.took() > Duration::ZERO => reported,
            _ => *self.fill_reported.insert(now),
        };
        if now.duration_since(reported) >= FILL_LINE_EVERY {
            self.fill_reported = Some(now);
            let parts = fill.parts(self.position.left(None, 0));
            self.line(&format!("fill {stream}: {}", parts.join(", ")));
        }
    }

    fn run_finished(&mut self, outcome: &Outcome) {
        let Some(run) = self.run.take() else { return };
        self.position.run_finished(&run);
        if !self.is_verbose {
            let number = format!("{}/{}", self.position.runs_started, self.position.runs_total);
            let points = self.window.points(&run);
            for (index, point) in &points {
                let mut words = point_words(&run);
                words.push_str(&hosts_words(self.lost.missing()));
                if run.streams.len() > 1 {
                    words = format!("{}: {words}", run.streams[*index].name);
                }
                self.line(&point_line(&number, point, self.quantities, &words));
            }
        }
        if let Some(words) = ended_words(outcome) {
            self.line(&words);
        }
    }
}

impl Listener for PlainLines {
    fn on_event(&mut self, event: &Event) -> Result<(), ListenerError> {
        self.lost.take(event);
        match event {
            Event::IoMethodChosen(used) => self.terminal.note_wrapped(&engine_words(used)),
            Event::PrepareProgress { stream, done, total } => {
                self.fill(stream, [*done, *total]);
            }
            Event::PrepareFinished(prepared) => self.line(&prepared_words(prepared)),
            Event::RunStarted { run, .. } => self.run_started(run),
            Event::Interval { interval, .. } => self.interval(interval),
            Event::FleetReady { hosts } => self.hosts.ready(hosts),
            Event::HostEvent { host, event, .. } => {
                if let Some(words) = self.hosts.words(*host, event) {
                    self.line(&words);
                }
            }
            // Reported by RunFinished.
            Event::Warning { warning: Warning::EndedEarly { .. }, .. } => {}
            Event::Warning { warning, .. } => {
                self.line(&format!("warning: {}", report::warnings::found(warning)));
            }
            Event::RunFinished { outcome, .. } => self.run_finished(outcome),
            // The results follow.
            Event::Finished { .. } => self.line(""),
            // Service-side counters and trees are reported for all runs together, at the end.
            Event::PhaseStarted { .. }
            | Event::HostInterval { .. }
            | Event::ServiceCounters { .. }
            | Event::TreesCompared { .. } => {}
        }
        Ok(())
    }
}

/// `random read 8 KiB, queue_depth=4, repeat 2`
fn point_words(run: &Run) -> String {
    match run.repeat {
        0 => run.load_point(),
        repeat => format!("{}, repeat {}", run.load_point(), repeat + 1),
    }
}

/// The heading over the lines of [`point_line`].
fn point_heading(quantities: Quantities) -> String {
    let (rate, throughput) =
        (quantities.rate_unit(), throughput(quantities, || "MiB/s".to_owned()));
    format!("    run {rate:>9}{throughput}  mean µs   p99 µs errors  load point")
}

/// The window of a stream at one load point.
fn point_line(number: &str, point: &SeriesPoint, quantities: Quantities, words: &str) -> String {
    format!(
        "{number:>7} {:>9}{} {:>8} {:>8} {:>6}  {words}",
        rate(point),
        throughput(quantities, || mib(point.throughput.get())),
        mean(point),
        p99(point),
        thousands(point.failed),
    )
}

/// The heading over the lines of [`interval_line`]; up to 79 columns.
fn interval_heading(quantities: Quantities) -> String {
    let (rate, throughput) =
        (quantities.rate_unit(), throughput(quantities, || "MiB/s".to_owned()));
    format!("  time phase   stream  {rate:>9}{throughput} mean µs  p99 µs in flight   cpu errors")
}

/// One stream in one interval: reads and writes together. `cpu` is the CPU time of the process in
/// percent of one processor, once per interval.
fn interval_line(
    time: &str,
    name: &str,
    point: &SeriesPoint,
    quantities: Quantities,
    with_cpu: bool,
) -> String {
    let phase = match point.phase {
        PointPhase::WarmUp => "warm up",
        PointPhase::Measure => "measure",
        PointPhase::CoolDown => "cool dn",
    };
    let cpu = if with_cpu { format!("{:.0}%", point.cpu_used * 100.0) } else { String::new() };
    format!(
        "{time:>6} {phase:<7} {name:<7.7} {:>9}{} {:>7} {:>7} {:>9.1} {cpu:>5} {:>6}",
        rate(point),
        throughput(quantities, || mib(point.throughput.get())),
        mean(point),
        p99(point),
        point.outstanding_mean,
        point.failed,
    )
}

/// A cell of the column of throughputs; there is none if no operation moves data.
fn throughput(quantities: Quantities, cell: impl FnOnce() -> String) -> String {
    if quantities.move_data { format!(" {:>7}", cell()) } else { String::new() }
}

fn rate(point: &SeriesPoint) -> String {
    thousands(point.achieved_rate.get().round() as u64)
}

fn mean(point: &SeriesPoint) -> String {
    point.response_mean.map_or_else(|| NONE.to_owned(), |mean| us(mean.0))
}

fn p99(point: &SeriesPoint) -> String {
    point.response_p99_ns.map_or_else(|| NONE.to_owned(), |ns| us(ns as f64))
}

/// A time in the run in seconds, with the decimals that its intervals need.
fn time_words(ns: u64, interval_ns: u64) -> String {
    let decimals = match interval_ns {
        whole if whole.is_multiple_of(1_000_000_000) => 0,
        tenths if tenths.is_multiple_of(100_000_000) => 1,
        _ => 2,
    };
    format!("{:.decimals$}s", ns as f64 / 1e9)
}

#[cfg(test)]
mod tests {
    use units::{BytesPerSec, Nanos, OpsPerSec};

    use super::*;

    const POINT: SeriesPoint = SeriesPoint {
        start_ns: 11_000_000_000,
        end_ns: 12_000_000_000,
        phase: PointPhase::Measure,
        achieved_rate: OpsPerSec::new(102_345.4),
        offered_rate: None,
        throughput: BytesPerSec::new(838_000_000.0),
        response_mean: Some(Nanos(60_300.0)),
        response_p99_ns: Some(1_909_000),
        outstanding_mean: 32.0,
        backlog_mean: 0.0,
        failed: 3,
        cpu_used: 0.984,
    };

    #[test]
    fn lines_are_aligned_with_their_headings_and_fit_80_columns() {
        let none = SeriesPoint {
            phase: PointPhase::WarmUp,
            response_mean: None,
            response_p99_ns: None,
            ..POINT
        };
        let of = |are_on_names, move_data| Quantities { are_on_names, move_data };
        let [data, on_names] = [of(false, true), of(true, false)];
        let lines = [
            interval_heading(data),
            interval_line("12s", "db", &POINT, data, true),
            interval_line("12s", "a-very-long-name", &none, data, false),
            point_heading(data),
            point_line("7/16", &POINT, data, "random read 8 KiB"),
            interval_heading(on_names),
            interval_line("12s", "db", &POINT, on_names, true),
            point_heading(on_names),
            point_line("7/16", &POINT, on_names, "builds"),
        ];
        expect_test::expect![[r#"
            |  time phase   stream       IOPS   MiB/s mean µs  p99 µs in flight   cpu errors
            |   12s measure db        102,345     799    60.3   1,909      32.0   98%      3
            |   12s warm up a-very-   102,345     799       -       -      32.0            3
            |    run      IOPS   MiB/s  mean µs   p99 µs errors  load point
            |   7/16   102,345     799     60.3    1,909      3  random read 8 KiB
            |  time phase   stream      ops/s mean µs  p99 µs in flight   cpu errors
            |   12s measure db        102,345    60.3   1,909      32.0   98%      3
            |    run     ops/s  mean µs   p99 µs errors  load point
            |   7/16   102,345     60.3    1,909      3  builds"#]]
        .assert_eq(&format!("|{}", lines.join("\n|")));
        assert!(lines.iter().all(|line| line.chars().count() <= 80));
    }

    #[test]
    fn times_have_the_decimals_that_their_intervals_need() {
        assert_eq!(time_words(12_000_000_000, 1_000_000_000), "12s");
        assert_eq!(time_words(1_500_000_000, 500_000_000), "1.5s");
        assert_eq!(time_words(250_000_000, 250_000_000), "0.25s");
    }
}
