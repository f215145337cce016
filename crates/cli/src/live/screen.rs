//! The lines of the live screen for a terminal's width and height: a pure function of the model.
//!
//! A low terminal shows the most important lines: each line has a rank, and those with the highest
//! ranks are left out until the rest fits.

use analysis::series::SeriesPoint;
use report::number::TimeUnit;
use runner::event::Phase;

use super::history::History;
use super::hosts_words;
use super::model::{CurrentRun, DoneVariant, LiveModel, point_words};
use super::painter::{Emphasis, Line, Size};
use super::quantities::Quantities;
use super::table;
use crate::terminal::wrapped;

/// More columns would not make a progress bar more precise.
const BAR_COLUMNS_MAX: usize = 72;
/// Variants whose finished load points are listed: the latest ones.
const DONE_VARIANTS: usize = 2;
/// Between two parts of the header on the same line.
const GAP: &str = "   ";

/// The ranks of lines, from indispensable to decoration.
mod rank {
    pub(super) const HEADER: u8 = 0;
    pub(super) const TABLE: u8 = 1;
    pub(super) const NOTICE: u8 = 2;
    pub(super) const OTHER_STREAMS: u8 = 3;
    pub(super) const THROUGHPUT: u8 = 4;
    pub(super) const P99: u8 = 5;
    pub(super) const DONE: u8 = 6;
    pub(super) const NOTICE_DETAIL: u8 = 7;
    pub(super) const BLANK: u8 = 8;
}

impl LiveModel {
    /// The lines for a terminal of this size. The last row stays free for the cursor, and the last
    /// column, because some terminals continue on the next row when it is written.
    pub(super) fn lines(&self, size: Size) -> Vec<Line> {
        let width = size.columns.saturating_sub(1).max(1);
        let mut lines = Layout { width, lines: Vec::new() };
        self.header(&mut lines);
        if let Some(current) = &self.run {
            streams(current, self.time_unit(), &mut lines);
        }
        history(&self.history, self.quantities, self.time_unit(), &mut lines);
        done(&self.done, &mut lines);
        if let Some(notice) = &self.notice {
            let emphasis = if notice.is_warning { Emphasis::Alert } else { Emphasis::Faint };
            for (index, line) in wrapped(&notice.text, lines.width).iter().enumerate() {
                let rank = if index == 0 { rank::NOTICE } else { rank::NOTICE_DETAIL };
                lines.add(rank, emphasis, line);
            }
        }
        lines.fitting(size.rows.saturating_sub(1).max(1))
    }

    /// What is measured, how far it is, and a bar.
    fn header(&self, lines: &mut Layout) {
        // The words of each group have lines of their own, so that lines seldom move.
        let mut groups = vec![vec![self.title.clone()]];
        let share = match (&self.run, &self.fill) {
            (Some(current), _) => {
                let position = &self.position;
                let (run, elapsed_ns) = (Some(&*current.run), current.elapsed_ns);
                groups[0].push(format!(
                    "run {} of {}{}: {}{}",
                    position.runs_started,
                    position.at_most,
                    position.runs_total,
                    point_words(&current.run),
                    hosts_words(self.lost.missing())
                ));
                let left = position.left_words(run, elapsed_ns);
                groups.push(vec![self.phase_words(current), left]);
                position.share(run, elapsed_ns)
            }
            (None, Some(fill)) => {
                groups[0].push(format!("writing the files of {}", fill.stream));
                groups.push(fill.parts(self.position.left(None, 0)));
                fill.share()
            }
            (None, None) => {
                let is_first = self.position.runs_started == 0;
                groups[0].extend(is_first.then(|| "inspecting the target".to_owned()));
                self.position.share(None, 0)
            }
        };
        let packed = groups.iter().flat_map(|parts| packed(parts, lines.width));
        for (index, line) in packed.collect::<Vec<_>>().iter().enumerate() {
            let emphasis = if index == 0 { Emphasis::Strong } else { Emphasis::Normal };
            lines.add(rank::HEADER, emphasis, line);
        }
        let bar = bar(share, lines.width.min(BAR_COLUMNS_MAX));
        lines.add(rank::HEADER, Emphasis::Normal, &bar);
    }

    /// `measuring 4.5 of 7.0 s`, or why nothing is measured.
    fn phase_words(&self, current: &CurrentRun) -> String {
        if let Some(outage) = current.connections.status() {
            return outage;
        }
        let phases = current.run.phases;
        let seconds = |ns: u64| ns as f64 / 1e9;
        let (words, from_ns, length_ns) = match self.phase {
            Phase::Prepare => return "preparing".to_owned(),
            Phase::CoolDown => return "cooling down".to_owned(),
            Phase::WarmUp => ("warming up", 0, phases.warm_up_ns),
            Phase::Measure => ("measuring", phases.warm_up_ns, phases.measure_ns),
        };
        let elapsed_ns = current.elapsed_ns.saturating_sub(from_ns).min(length_ns);
        format!("{words} {:.1} of {:.1} s", seconds(elapsed_ns), seconds(length_ns))
    }
}

/// Lines with their ranks.
struct Layout {
    width: usize,
    lines: Vec<(u8, Line)>,
}

impl Layout {
    /// Adds a line; what does not fit is cut off.
    fn add(&mut self, rank: u8, emphasis: Emphasis, text: &str) {
        let text = cut(text, self.width);
        self.lines.push((rank, Line { text, emphasis }));
    }

    fn blank(&mut self) {
        self.add(rank::BLANK, Emphasis::Normal, "");
    }

    /// The lines that fit into `rows`.
    fn fitting(mut self, rows: usize) -> Vec<Line> {
        while self.lines.len() > rows {
            let most = self.lines.iter().map(|(rank, _)| *rank).max().unwrap_or(0);
            let last = self.lines.iter().rposition(|(rank, _)| *rank == most);
            self.lines.remove(last.expect("a line has the highest rank"));
        }
        self.lines.into_iter().map(|(_, line)| line).collect()
    }
}

fn streams(current: &CurrentRun, unit: TimeUnit, lines: &mut Layout) {
    lines.blank();
    let quantities = Quantities::of(&current.run.streams);
    let rows = table::lines(&current.streams, quantities, unit, lines.width);
    let emphasis = |point: &Option<SeriesPoint>| match point {
        Some(point) if point.failed > 0 => Emphasis::Alert,
        _ => Emphasis::Normal,
    };
    let emphases = std::iter::once(Emphasis::Faint)
        .chain(current.streams.iter().map(|(_, point)| emphasis(point)));
    for (index, (row, emphasis)) in rows.iter().zip(emphases).enumerate() {
        let rank = if index > 1 { rank::OTHER_STREAMS } else { rank::TABLE };
        lines.add(rank, emphasis, row);
    }
}

fn history(history: &History, quantities: Quantities, unit: TimeUnit, lines: &mut Layout) {
    let ranks = [rank::THROUGHPUT, rank::P99];
    let of_history = history.lines(quantities, unit, lines.width);
    for (index, (line, rank)) in of_history.iter().zip(ranks).enumerate() {
        if index == 0 {
            lines.blank();
        }
        lines.add(rank, Emphasis::Normal, line);
    }
}

fn done(done: &[DoneVariant], lines: &mut Layout) {
    let mut latest_runs: Vec<u32> = done.iter().map(|variant| variant.latest_run).collect();
    latest_runs.sort_unstable_by(|a, b| b.cmp(a));
    latest_runs.truncate(DONE_VARIANTS);
    if !done.is_empty() {
        lines.blank();
    }
    for variant in done.iter().filter(|variant| latest_runs.contains(&variant.latest_run)) {
        let line = done_line(variant, lines.width);
        lines.add(rank::DONE, Emphasis::Faint, &line);
    }
}

/// The latest load points of a variant that fit: `done: random read 8 KiB, IOPS: QD 1 2,267  ...`.
fn done_line(variant: &DoneVariant, width: usize) -> String {
    let lead = format!("done: {}, {}:", variant.name, variant.rate_unit);
    let points: Vec<String> =
        variant.points.iter().map(|(load, rate)| format!(" {load} {rate} ")).collect();
    let mut room = width.saturating_sub(lead.chars().count());
    let is_fitting = |point: &&String| {
        let fits = point.trim_end().chars().count() <= room;
        room = room.saturating_sub(point.chars().count());
        fits
    };
    let fitting = points.iter().rev().take_while(is_fitting).count();
    format!("{lead}{}", points[points.len() - fitting..].concat()).trim_end().to_owned()
}

/// Puts as many parts on each line as fit.
fn packed(parts: &[String], width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for part in parts {
        match lines.last_mut() {
            Some(line) if (line.chars().count() + GAP.len() + part.chars().count()) <= width => {
                line.push_str(GAP);
                line.push_str(part);
            }
            _ => lines.push(part.clone()),
        }
    }
    lines
}

/// `[██████░░░░]  46%`
fn bar(share: f64, width: usize) -> String {
    let columns = width.saturating_sub("[]  46%".len()).max(1);
    let share = share.clamp(0.0, 1.0);
    let full = (share * columns as f64) as usize;
    let percent = (share * 100.0) as u32;
    format!("[{}{}] {percent:>3}%", "█".repeat(full), "░".repeat(columns - full))
}

/// The beginning of `text`, with an ellipsis if something is missing.
fn cut(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    text.chars().take(width.saturating_sub(1)).chain(['…']).collect()
}
