//! Progress on stderr: a line per interval and stream, and a bar over the whole plan.
//!
//! On a terminal the bar stays below the lines; elsewhere (a file, a job's log) there are only
//! lines. The figures are those of the interval record; this module computes no statistics.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use analysis::series::{PointPhase, SeriesPoint, points_of};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use metrics::interval::Interval;
use metrics::run_record::{ChosenIoMethod, Outcome};
use metrics::warning::Warning;
use runner::event::{Event, Listener, ListenerError, Phase};
use units::{Bytes, Nanos, print_whole_seconds};
use workload::plan::{Plan, Run, Step};

use crate::connection_state::ConnectionState;
use crate::terminal::{Terminal, wrapped};

/// Shows events on stderr.
pub(crate) struct Live {
    terminal: Terminal,
    bar: Option<ProgressBar>,
    /// Duration of the plan's runs, without the fill.
    plan_ns: u64,
    /// The part of it that is finished.
    finished_ns: u64,
    runs_total: u32,
    /// `at most ` if searches make the number of runs an upper bound.
    at_most: &'static str,
    runs_started: u32,
    plan: Plan,
    run: Option<Box<Run>>,
    phase: Phase,
    fill: Option<Fill>,
    connections: ConnectionState,
}

/// The fill of one file set, to estimate the remaining time.
struct Fill {
    stream: String,
    started: Instant,
    reported: Instant,
}

/// Text is broken into lines of this many columns, the width of the table.
const TEXT_WIDTH: usize = 78;

/// How often the fill is reported without a terminal.
const FILL_LINE_EVERY: Duration = Duration::from_secs(10);

impl Live {
    /// Prepares to show `plan`. There is a bar only if stderr is a terminal.
    pub(crate) fn new(plan: &Plan, terminal: &Terminal) -> Live {
        let bar = terminal.is_interactive.then(|| {
            let bar =
                ProgressBar::with_draw_target(Some(1000), ProgressDrawTarget::stderr_with_hz(5));
            let style = ProgressStyle::with_template(match terminal.color_stderr {
                true => "{bar:20.cyan/dim} {percent:>3}%  {msg}",
                false => "{bar:20} {percent:>3}%  {msg}",
            });
            bar.set_style(style.expect("both templates are constants").progress_chars("━━─"));
            bar
        });
        Live {
            terminal: *terminal,
            bar,
            plan_ns: u64::try_from(plan.time_max().as_nanos()).unwrap_or(u64::MAX),
            finished_ns: 0,
            runs_total: plan.runs_max(),
            at_most: if plan.searches().next().is_some() { "at most " } else { "" },
            plan: plan.clone(),
            runs_started: 0,
            run: None,
            phase: Phase::Prepare,
            fill: None,
            connections: ConnectionState::default(),
        }
    }

    /// Writes a line above the bar.
    fn line(&self, text: &str) {
        match &self.bar {
            Some(bar) => bar.println(text),
            None => self.terminal.note(text),
        }
    }

    fn show_position(&self, done_ns: u64, message: String) {
        if let Some(bar) = &self.bar {
            // In thousandths: finer than the columns of a terminal.
            bar.set_position(done_ns.saturating_mul(1000).checked_div(self.plan_ns).unwrap_or(0));
            bar.set_message(message);
        }
    }

    /// Shows the position in the plan, `in_run_ns` after the start of the current run.
    fn show_run_position(&self, in_run_ns: u64) {
        let Some(run) = &self.run else { return };
        let done_ns = self.finished_ns + in_run_ns.min(run.phases.total_ns());
        let left = Duration::from_nanos(self.plan_ns.saturating_sub(done_ns));
        let doing = self.connections.status();
        self.show_position(
            done_ns,
            format!(
                "run {} of {at_most}{}, {}, {at_most}{} left",
                self.runs_started,
                self.runs_total,
                doing.as_deref().unwrap_or(phase_words(self.phase)),
                print_whole_seconds(left),
                at_most = self.at_most,
            ),
        );
    }

    /// Skips the runs that a search did not need.
    fn skip_to(&mut self, run: &Run) {
        let has_started = |step: &&Step| match step {
            Step::Fixed(fixed) => fixed.index < run.index,
            Step::Search(search) => search.template.index + search.runs_max <= run.index,
        };
        self.finished_ns =
            self.plan.steps.iter().take_while(has_started).map(Step::time_max_ns).sum();
        if let Some(Step::Search(search)) = self.plan.step_of(run.index) {
            let before = u64::from(run.index - search.template.index);
            self.finished_ns += before * run.phases.total_ns();
        }
        let skipped = run.index.saturating_sub(self.runs_started);
        self.runs_total = self.plan.runs_max().saturating_sub(skipped);
    }

    fn run_started(&mut self, run: &Run) {
        self.skip_to(run);
        self.runs_started += 1;
        let mut text = format!(
            "\nrun {} of {}{}: {}",
            self.runs_started,
            self.at_most,
            self.runs_total,
            run.load_point()
        );
        if run.repeat > 0 {
            let _ = write!(text, ", repeat {}", run.repeat + 1);
        }
        self.line(&text);
        self.line(HEADING);
        self.run = Some(Box::new(run.clone()));
        self.connections = ConnectionState::default();
        self.phase = Phase::WarmUp;
        self.show_run_position(0);
    }

    fn interval(&mut self, interval: &Interval) {
        let changed = self.connections.observe(interval);
        let is_down = self.connections.status().is_some();
        // A reconnect is reported before the interval's operations, a lost connection after them.
        if let Some(changed) = changed.as_ref().filter(|_| !is_down) {
            self.line(changed);
        }
        let Some(run) = &self.run else { return };
        let points = points_of(run, interval);
        // No line for the short interval in which the last operations complete, nor for the zeros
        // of a reported outage.
        let is_idle =
            points.iter().all(|point| point.achieved_rate.get() == 0.0 && point.failed == 0);
        let is_shown =
            interval.end_ns - interval.start_ns >= run.phases.interval_ns && !(is_idle && is_down);
        let shown = points.iter().enumerate().filter(|_| is_shown);
        for (index, point) in shown {
            let time = time_words(point.end_ns, run.phases.interval_ns);
            self.line(&stream_line(&time, &run.streams[index].name, point, index == 0));
        }
        if let Some(changed) = changed.filter(|_| is_down) {
            self.line(&changed);
        }
        self.show_run_position(interval.end_ns);
    }

    fn fill(&mut self, stream: &str, written_bytes: u64, total_bytes: u64) {
        let now = Instant::now();
        let fill = match &mut self.fill {
            Some(fill) if fill.stream == stream => fill,
            _ => self.fill.insert(Fill { stream: stream.to_owned(), started: now, reported: now }),
        };
        let (written, total) = (Bytes::new(written_bytes), Bytes::new(total_bytes));
        let mut text = format!("fill {stream}: {written} of {total}");
        let took = now - fill.started;
        if written_bytes > 0 && !took.is_zero() {
            let share_left =
                (total_bytes - written_bytes.min(total_bytes)) as f64 / written_bytes as f64;
            // An estimate right after the start may exceed the range of Duration.
            if let Ok(left) = Duration::try_from_secs_f64(took.as_secs_f64() * share_left) {
                let left = left.saturating_add(Duration::from_nanos(self.plan_ns));
                let _ = write!(text, ", {} left with all runs", print_whole_seconds(left));
            }
        }
        if self.bar.is_some() {
            self.show_position(0, text);
        } else if now - fill.reported >= FILL_LINE_EVERY {
            fill.reported = now;
            self.line(&text);
        }
    }

    fn run_finished(&mut self, outcome: &Outcome) {
        if let Some(run) = self.run.take() {
            self.finished_ns += run.phases.total_ns();
        }
        match outcome {
            Outcome::Done => {}
            Outcome::Interrupted => self.line("run interrupted"),
            // The full reason is printed at the end.
            Outcome::Failed { reason } => {
                let first = reason.lines().next().unwrap_or_default();
                self.line(&format!("run failed: {first}"));
            }
            Outcome::Aborted => self.line("run aborted"),
        }
    }
}

impl Listener for Live {
    fn on_event(&mut self, event: &Event) -> Result<(), ListenerError> {
        match event {
            Event::IoMethodChosen(used) => self.line(&engine_words(used)),
            Event::PhaseStarted { phase, .. } => {
                self.phase = *phase;
                if *phase == Phase::Prepare {
                    self.show_position(0, "inspecting files".to_owned());
                }
            }
            Event::PrepareProgress { stream, written_bytes, total_bytes } => {
                self.fill(stream, *written_bytes, *total_bytes);
            }
            Event::PrepareFinished(prepared) => self.line(&match prepared.written_bytes {
                0 => format!("files of {}: ready, unchanged since the fill", prepared.stream),
                bytes => format!(
                    "files of {}: ready, {} written in {}",
                    prepared.stream,
                    Bytes::new(bytes),
                    Nanos(prepared.took_ns as f64)
                ),
            }),
            Event::RunStarted { run, .. } => self.run_started(run),
            Event::Interval { interval, .. } => self.interval(interval),
            // Reported by RunFinished.
            Event::Warning { warning: Warning::EndedEarly { .. }, .. } => {}
            Event::Warning { warning, .. } => {
                self.line(&format!("warning: {}", report::warnings::found(warning)));
            }
            // Reported for all runs together, at the end.
            Event::ServiceCounters { .. } => {}
            Event::RunFinished { outcome, .. } => self.run_finished(outcome),
            Event::Finished { .. } => {
                // The table follows.
                self.line("");
                if let Some(bar) = &self.bar {
                    bar.finish_and_clear();
                }
            }
        }
        Ok(())
    }
}

/// Without progress: prints the chosen I/O method, and lost and restored connections.
pub(crate) struct Decisions {
    terminal: Terminal,
    connections: ConnectionState,
}

impl Decisions {
    pub(crate) fn new(terminal: &Terminal) -> Decisions {
        Decisions { terminal: *terminal, connections: ConnectionState::default() }
    }
}

impl Listener for Decisions {
    fn on_event(&mut self, event: &Event) -> Result<(), ListenerError> {
        match event {
            Event::IoMethodChosen(used) => self.terminal.note(&engine_words(used)),
            Event::RunStarted { .. } => self.connections = ConnectionState::default(),
            Event::Interval { interval, .. } => {
                if let Some(changed) = self.connections.observe(interval) {
                    self.terminal.note(&changed);
                }
            }
            _ => {}
        }
        Ok(())
    }
}

fn engine_words(used: &ChosenIoMethod) -> String {
    let text = format!("engine: {} ({})", used.io_method.name(), used.reason);
    wrapped(&text, TEXT_WIDTH).join("\n  ")
}

/// The heading over the lines of [`stream_line`]; 79 columns.
const HEADING: &str =
    "  time phase   stream       ops/s    MiB/s    mean     p99  outst   cpu errors";

/// One stream in one interval below [`HEADING`]: reads and writes together. `cpu` is the CPU time
/// of the process in percent of one processor, once per interval.
fn stream_line(time: &str, name: &str, point: &SeriesPoint, with_cpu: bool) -> String {
    let phase = match point.phase {
        PointPhase::WarmUp => "warm up",
        PointPhase::Measure => "measure",
        PointPhase::CoolDown => "cool dn",
    };
    let words = |time: Option<Nanos>| time.map_or_else(|| "-".to_owned(), |time| time.to_string());
    let cpu = if with_cpu { format!("{:.0}%", point.cpu_used * 100.0) } else { String::new() };
    format!(
        "{time:>6} {phase:<7} {name:<9.9} {:>8.0} {:>8.1} {:>7} {:>7} {:>6.1} {cpu:>5} {:>6}",
        point.achieved_rate.get(),
        point.throughput.as_mib(),
        words(point.response_mean),
        words(point.response_p99_ns.map(|ns| Nanos(ns as f64))),
        point.outstanding_mean,
        point.failed,
    )
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

const fn phase_words(phase: Phase) -> &'static str {
    match phase {
        Phase::Prepare => "preparing",
        Phase::WarmUp => "warming up",
        Phase::Measure => "measuring",
        Phase::CoolDown => "cooling down",
    }
}

#[cfg(test)]
mod tests {
    use units::{BytesPerSec, OpsPerSec};

    use super::*;

    const POINT: SeriesPoint = SeriesPoint {
        start_ns: 11_000_000_000,
        end_ns: 12_000_000_000,
        phase: PointPhase::Measure,
        achieved_rate: OpsPerSec::new(102_345.4),
        throughput: BytesPerSec::new(838_000_000.0),
        response_mean: Some(Nanos(60_300.0)),
        response_p99_ns: Some(1_909_000),
        outstanding_mean: 32.0,
        backlog_mean: 0.0,
        failed: 3,
        cpu_used: 0.984,
    };

    #[test]
    fn a_line_is_aligned_with_its_heading_and_fits_80_columns() {
        let none = SeriesPoint {
            phase: PointPhase::WarmUp,
            response_mean: None,
            response_p99_ns: None,
            ..POINT
        };
        let lines = [
            HEADING.to_owned(),
            stream_line("12s", "database", &POINT, true),
            stream_line("12s", "a-very-long-name", &none, false),
        ];
        expect_test::expect![[r#"
            |  time phase   stream       ops/s    MiB/s    mean     p99  outst   cpu errors
            |   12s measure database    102345    799.2 60.3 µs 1.91 ms   32.0   98%      3
            |   12s warm up a-very-lo   102345    799.2       -       -   32.0            3"#]]
        .assert_eq(&format!("|{}", lines.join("\n|")));
        assert!(lines.iter().all(|line| line.chars().count() <= 79));
    }

    #[test]
    fn times_have_the_decimals_that_their_intervals_need() {
        assert_eq!(time_words(12_000_000_000, 1_000_000_000), "12s");
        assert_eq!(time_words(1_500_000_000, 500_000_000), "1.5s");
        assert_eq!(time_words(750_000_000, 250_000_000), "0.75s");
    }
}
