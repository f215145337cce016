//! Each curve at one glance: peak, latency floor, recommended operating point and saturation.

use std::fmt;

use analysis::Findings;
use analysis::curve::plateau::{Plateau, State};
use analysis::curve::{Curve, QUEUE_DEPTH};
use analysis::sample::Load;
use analysis::summary::CurveSummary;
use analysis::verdict::Verdict;
use units::{Nanos, counted};

use crate::number::{NONE, NS_PER_S, percent, plain};
use crate::prose::wrap;
use crate::results::{self, load_in_words, unloaded};
use crate::table::{Column, Table, terminal};
use crate::verdict;

/// More curves with the same line are counted, not named.
const NAMES_MAX: usize = 3;

/// A curve at one glance.
#[derive(Clone, Debug, PartialEq)]
pub struct CurveGlance {
    /// Index into `Findings::curves`.
    pub curve: usize,
    /// The name of the curve: `random read 8 KiB`.
    pub name: String,
    /// The highest rate: `16,387 IOPS`.
    pub peak: String,
    /// The load of the peak: `at queue depth 32`, `at offered rate 500 ops/s`, or `from queue depth 16`
    /// where throughput has stopped rising.
    pub peak_load: String,
    /// The latency floor: `441 µs`; `None` if it was not measured.
    pub floor: Option<String>,
    /// Its load: `queue depth 1`; `None` without a floor.
    pub floor_load: Option<&'static str>,
    /// The recommended load for latency-sensitive work; `None` without a knee.
    pub operating_point: Option<OperatingPoint>,
    /// Whether throughput has stopped rising; `None` if no load was raised along the curve.
    pub saturation: Option<Saturation>,
    /// Its highest throughput is at a limit.
    pub at_limit: bool,
    /// It is at a limit even at queue depth 1, so that it has no latency floor.
    pub floor_at_limit: bool,
}

/// The load with the best ratio of throughput to latency.
#[derive(Clone, Debug, PartialEq)]
pub struct OperatingPoint {
    /// The load: `QD 4`.
    pub load: String,
    /// Its throughput as a share of the peak: `52 %`.
    pub share: String,
    /// Its mean response time: `469 µs`.
    pub latency: String,
    /// The factor by which the peak raises latency: `4.2`.
    pub factor: String,
}

impl fmt::Display for OperatingPoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let OperatingPoint { load, share, latency, .. } = self;
        write!(f, "{load}: {share} of peak, {latency}")
    }
}

/// Whether throughput has stopped rising.
#[derive(Clone, Debug, PartialEq)]
pub struct Saturation {
    /// Where: `from QD 16`, `not reached` or `inconclusive`.
    pub at: String,
    /// Its cause with confidence, unless the verdict on the record has it.
    pub cause: Option<String>,
}

impl fmt::Display for Saturation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.cause {
            Some(cause) => write!(f, "{}: {cause}", self.at),
            None => f.write_str(&self.at),
        }
    }
}

/// Where the causes of saturation are stated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Causes {
    /// In the verdict, for all curves.
    InVerdict,
    /// With each curve.
    Each,
}

impl CurveGlance {
    pub(super) fn of(findings: &Findings, one: &CurveSummary, causes: Causes) -> CurveGlance {
        let curve = &findings.curves[one.curve];
        let most = &curve.points[one.most];
        let verdict = findings.verdict_of(most.load_point);
        let floor = curve.floor.as_ref().ok();
        let is_on_names = findings.load_points[most.load_point].merged.total.is_on_names();
        CurveGlance {
            curve: one.curve,
            name: curve.name.clone(),
            peak: format!("{} {}", plain(one.rate.value), results::rate_unit(is_on_names)),
            peak_load: peak_load(curve, one, verdict),
            floor: floor
                .and_then(|floor| floor.latency_ns())
                .map(|latency| Nanos(latency.value).to_string()),
            floor_load: floor.map(|floor| unloaded(&findings.load_points[floor.load_point])),
            operating_point: operating_point(curve, one),
            saturation: verdict
                .filter(|_| curve.load != Load::NotRaised)
                .map(|verdict| saturation(curve, verdict, causes)),
            at_limit: verdict.is_some_and(|verdict| verdict.plateau.is_reached()),
            floor_at_limit: floor.is_some_and(|floor| floor.is_pace),
        }
    }
}

/// The heading of a curve's axis in a narrow column.
pub(super) fn axis(curve: &Curve) -> &str {
    if curve.axis == QUEUE_DEPTH { "QD" } else { &curve.axis }
}

fn load(curve: &Curve, point: usize) -> String {
    format!("{} {}", axis(curve), curve.points[point].label)
}

/// Index of the recommended point of the curve.
pub(super) fn operating_index(one: &CurveSummary) -> Option<usize> {
    one.bend.as_ref()?.knee.point
}

fn peak_load(curve: &Curve, one: &CurveSummary, verdict: Option<&Verdict>) -> String {
    let (word, point) = match verdict.map(|verdict| &verdict.plateau) {
        Some(plateau) if plateau.is_reached() => ("from", first_at_limit(curve, plateau)),
        _ => ("at", one.most),
    };
    format!("{word} {}", load_in_words(curve, point))
}

/// Index of the first point of the curve at which throughput has stopped rising.
fn first_at_limit(curve: &Curve, plateau: &Plateau) -> usize {
    plateau.from.unwrap_or(plateau.top).min(curve.points.len() - 1)
}

fn operating_point(curve: &Curve, one: &CurveSummary) -> Option<OperatingPoint> {
    let bend = one.bend.as_ref()?;
    let point = bend.knee.point?;
    let sample = curve.points[point].sample?;
    Some(OperatingPoint {
        load: load(curve, point),
        share: percent(bend.rate_share),
        latency: Nanos(sample.response_s.value * NS_PER_S).to_string(),
        factor: plain(bend.response_factor),
    })
}

fn saturation(curve: &Curve, verdict: &Verdict, causes: Causes) -> Saturation {
    let plateau = &verdict.plateau;
    let at = match plateau.state {
        State::Reached(_) => format!("from {}", load(curve, first_at_limit(curve, plateau))),
        State::NotReached => "not reached".to_owned(),
        State::Inconclusive(_) => "inconclusive".to_owned(),
    };
    let cause = match causes {
        Causes::Each if !verdict.named().is_empty() => Some(verdict::cause(verdict)),
        Causes::Each if plateau.is_reached() => Some("cause unknown".to_owned()),
        _ => None,
    };
    Saturation { at, cause }
}

/// The cells of a curve's line below [`COLUMNS`].
fn cells(one: &CurveGlance) -> [String; 3] {
    let floor = match &one.floor {
        Some(floor) => floor.clone(),
        None if one.floor_at_limit => "at limit".to_owned(),
        None => NONE.to_owned(),
    };
    [floor, printed(one.operating_point.as_ref()), printed(one.saturation.as_ref())]
}

fn printed(value: Option<&impl fmt::Display>) -> String {
    value.map_or(NONE.to_owned(), ToString::to_string)
}

/// The headings of a curve's line.
const COLUMNS: [&str; 3] = ["latency floor", "operating point", "saturation"];

/// One line for each curve: a table if it fits, otherwise sentences.
pub(super) fn lines(curves: &[CurveGlance], width: usize, out: &mut String) {
    let curves: Vec<(&str, [String; 3])> = curves
        .iter()
        .map(|one| (one.name.as_str(), cells(one)))
        .filter(|(_, cells)| cells.iter().any(|cell| cell != NONE))
        .collect();
    let table = Table {
        caption: String::new(),
        columns: vec![
            Column::words(""),
            Column::numbers(COLUMNS[0], ""),
            Column::words(COLUMNS[1]),
            Column::words(COLUMNS[2]),
        ],
        rows: curves
            .iter()
            .map(|(name, cells)| [&[(*name).to_owned()], &cells[..]].concat())
            .collect(),
    };
    if curves.is_empty() || terminal::write_listing_if_it_fits(&table, width, out) {
        return;
    }
    // Curves with the same answer share a sentence.
    for same in curves.chunk_by(|(_, a), (_, b)| a == b) {
        let names: Vec<&str> = same.iter().map(|(name, _)| *name).collect();
        let known = COLUMNS.iter().zip(&same[0].1).filter(|(_, cell)| *cell != NONE);
        let known: Vec<String> = known.map(|(name, cell)| format!("{name} {cell}")).collect();
        let names = match names.len() {
            few if few <= NAMES_MAX => names.join(", "),
            many => counted(many as u64, "curve"),
        };
        let sentence = format!("{names}: {}", known.join("; "));
        wrap(&sentence, "", "  ", width, out);
    }
}
