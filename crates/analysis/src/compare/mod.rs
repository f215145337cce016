//! Compares experiments figure by figure and tests whether two systems differ.
//!
//! For: verdicts with a stated error rate. Not for: the figures of one system, or sentences.
//! [`Side::of`] extracts the required data from a record; [`compare`] is a pure function of sides.
//!
//! Reading order: [`compare`], [`figures`] (one figure: means, tests, verdict), [`paired`]
//! (interleaved runs), [`drift`] (back-to-back sessions), [`welch`] and [`statistics::ranks`]
//! (tests), [`holm`] (multiple tests), [`differences`] (other differences), [`host_use`], [`flaws`]
//! and [`caveats`] (problems of the measurements), [`side`]. `docs/method.md` has the formulas,
//! under Comparison.

pub mod caveats;
pub mod differences;
mod drift;
pub mod facts;
pub mod figure;
pub mod figures;
pub mod flaws;
pub mod host_use;
pub mod metric;
mod paired;
mod plan_keys;
pub mod ranking;
pub mod side;
pub mod welch;

use statistics::holm::holm;

use caveats::Caveat;
use differences::Difference;
use facts::Item;
use figures::{Design, FigureComparison, Verdict};
use host_use::HostContrast;
use metric::MetricContrast;
use ranking::Ranking;
use side::{PointSide, Side, SideCaveat};

/// "No difference" requires that a change of this share would have been detected.
pub const RESOLUTION: f64 = 0.10;

/// How to compare.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// What may differ, because it is the subject of the comparison.
    pub allowed: Vec<Item>,
    /// Known relative standard deviation of a figure from run to run. Without it, single runs give
    /// no verdict.
    pub run_to_run: Option<f64>,
    /// "No difference" requires that a change of this share would have been detected.
    pub resolution: f64,
}

impl Default for Options {
    fn default() -> Options {
        Options { allowed: Vec::new(), run_to_run: None, resolution: RESOLUTION }
    }
}

/// Several experiments compared with the first.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// What was compared, the first being what the others are compared with.
    pub sides: Vec<Named>,
    /// Each of the others against the first.
    pub pairs: Vec<Pair>,
    /// Of three and more: who is better than whom, for each load point and main figure.
    pub rankings: Vec<Ranking>,
    /// Tests that the verdicts rest on: they share one error rate.
    pub main_tests: usize,
    /// The other tests, which share one of their own.
    pub other_tests: usize,
    /// The options it was made with.
    pub options: Options,
}

/// One side of a comparison.
#[derive(Clone, Debug, PartialEq)]
pub struct Named {
    /// `A`, `B`, and so on.
    pub label: String,
    /// The record's name in the store.
    pub id: String,
    /// The experiment's name.
    pub name: String,
    /// The target as the user writes it.
    pub target: String,
    /// Start, in milliseconds since 1970.
    pub started_unix_ms: u64,
    /// SHA-256 of the plan's stored form.
    pub plan_hash: String,
    /// Caveats about the record.
    pub caveats: Vec<SideCaveat>,
}

/// One experiment compared with the first.
#[derive(Clone, Debug, PartialEq)]
pub struct Pair {
    /// The index of the other side in [`Comparison::sides`]; the first is always 0.
    pub side: usize,
    /// Differences besides the figures.
    pub differences: Vec<Difference>,
    /// Names of load points that only the first has.
    pub only_in_first: Vec<String>,
    /// Names of load points that only the other has.
    pub only_in_other: Vec<String>,
    /// Problems in the measurements of common load points.
    pub caveats: Vec<Caveat>,
    /// The load points that both have.
    pub points: Vec<PointComparison>,
    /// The largest passing values of the business metric that both have.
    pub metrics: Vec<MetricContrast>,
    /// What it comes to.
    pub verdict: Overall,
}

/// One load point that both sides have.
#[derive(Clone, Debug, PartialEq)]
pub struct PointComparison {
    /// The load point in words: `random read 8 KiB, queue_depth=4`, and `(B: 23/24 hosts)` if a side
    /// lost hosts.
    pub name: String,
    /// The host states of the two sides, where they differ materially.
    pub host: Option<HostContrast>,
    /// The figures of each subject, those of all operations first.
    pub subjects: Vec<SubjectComparison>,
}

/// Figures about the same operations.
#[derive(Clone, Debug, PartialEq)]
pub struct SubjectComparison {
    /// Which operations, in words; empty for all of them.
    pub name: String,
    /// Its figures.
    pub figures: Vec<FigureComparison>,
}

/// What a comparison comes to, by its main figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overall {
    /// Better in some, worse in none.
    Faster,
    /// Worse in some, better in none.
    Slower,
    /// Better in some and worse in others.
    Mixed,
    /// Nothing was found in any.
    NoDifference,
    /// Neither better nor worse anywhere, and in some nothing can be said.
    CannotTell,
    /// Something else differs that was not allowed to, so the cause of a difference is unknown.
    NotComparable,
}

impl Overall {
    /// The name in files.
    pub const fn name(self) -> &'static str {
        match self {
            Overall::Faster => "faster",
            Overall::Slower => "slower",
            Overall::Mixed => "mixed",
            Overall::NoDifference => "no difference found",
            Overall::CannotTell => "cannot tell",
            Overall::NotComparable => "not comparable",
        }
    }
}

impl Pair {
    /// Every figure with the load point and the operations it is about.
    pub fn figures(
        &self,
    ) -> impl Iterator<Item = (&PointComparison, &SubjectComparison, &FigureComparison)> {
        self.points.iter().flat_map(|point| {
            point.subjects.iter().flat_map(move |subject| {
                subject.figures.iter().map(move |figure| (point, subject, figure))
            })
        })
    }

    /// Differences that prevent a verdict.
    pub fn obstacles(&self) -> impl Iterator<Item = &Difference> {
        self.differences.iter().filter(|difference| difference.prevents_verdict)
    }

    /// Whether a main figure became worse.
    pub fn regressed(&self) -> bool {
        matches!(self.verdict, Overall::Slower | Overall::Mixed)
    }
}

/// Compares every side with the first. At least two.
pub fn compare(sides: &[Side], options: &Options) -> Comparison {
    assert!(sides.len() > 1, "a comparison needs two sides");
    let mut pairs: Vec<Pair> =
        (1..sides.len()).map(|other| pair(&sides[0], other, &sides[other], options)).collect();
    let main_tests = adjust(&mut pairs, true);
    let other_tests = adjust(&mut pairs, false);
    for pair in &mut pairs {
        for figure in figures_of(pair) {
            figure.verdict = figures::verdict(figure, options.resolution);
        }
        pair.verdict = overall(pair);
    }
    let comparable = pairs.iter().all(|pair| pair.obstacles().next().is_none());
    let ranked = comparable && sides.len() > 2;
    Comparison {
        rankings: if ranked { ranking::rankings(sides, options) } else { Vec::new() },
        sides: sides.iter().enumerate().map(|(index, side)| named(index, side)).collect(),
        pairs,
        main_tests,
        other_tests,
        options: options.clone(),
    }
}

fn named(index: usize, side: &Side) -> Named {
    Named {
        label: label(index),
        id: side.id.clone(),
        name: side.name.clone(),
        target: side.target.clone(),
        started_unix_ms: side.started_unix_ms,
        plan_hash: side.plan_hash.clone(),
        caveats: side.caveats.clone(),
    }
}

/// `A` to `Z`, then by number.
pub fn label(index: usize) -> String {
    match u8::try_from(index).ok().filter(|index| *index < 26) {
        Some(index) => char::from(b'A' + index).to_string(),
        None => format!("#{}", index + 1),
    }
}

fn pair(first: &Side, index: usize, other: &Side, options: &Options) -> Pair {
    let same =
        |a: &PointSide, b: &PointSide| a.variant == b.variant && a.parameters == b.parameters;
    let partner = |point: &PointSide, side: &Side| side.points.iter().any(|p| same(p, point));
    let only = |mine: &Side, theirs: &Side| -> Vec<String> {
        let alone = mine.points.iter().filter(|point| !partner(point, theirs));
        alone.map(PointSide::in_words).collect()
    };
    let design = Design::of(first, other);
    let allowed = [options.allowed.as_slice(), design.compares()].concat();
    let matched: Vec<(&PointSide, &PointSide)> = first
        .points
        .iter()
        .filter_map(|a| other.points.iter().find(|b| same(a, b)).map(|b| (a, b)))
        .collect();
    let points: Vec<PointComparison> = matched
        .iter()
        .map(|(a, b)| PointComparison {
            name: name_of_all(&[(0, *a), (index, *b)]),
            ..point(a, b, design, options)
        })
        .collect();
    let mut caveats = caveats::of_points((0, index), &matched);
    caveats.extend(caveats::host_differs(index, &points));
    Pair {
        side: index,
        differences: differences::differences(first, other, &matched, &allowed),
        only_in_first: only(first, other),
        only_in_other: only(other, first),
        caveats,
        points,
        metrics: metric::contrasts(first.metric.as_ref(), other.metric.as_ref()),
        verdict: Overall::CannotTell,
    }
}

/// The load point in words, with the sides whose values are those of fewer hosts.
///
/// * `sides` - the index of each side among the comparison's, and its load point
fn name_of_all(sides: &[(usize, &PointSide)]) -> String {
    let first = sides.first().map_or_else(String::new, |(_, point)| point.in_words());
    sides.iter().fold(first, |name, (side, point)| match point.missing_hosts() {
        Some(missing) => format!("{name} ({}: {missing})", label(*side)),
        None => name,
    })
}

fn point(a: &PointSide, b: &PointSide, design: Design, options: &Options) -> PointComparison {
    let host = host_use::contrast(a.host, b.host);
    let hosts_lost = [a, b].iter().any(|side| side.missing_hosts().is_some());
    let subjects = a.subjects.iter().filter_map(|subject| {
        let same =
            |s: &&side::Subject| s.stream == subject.stream && s.operations == subject.operations;
        let theirs = b.subjects.iter().find(same)?;
        let figures = subject.samples.iter().filter_map(|mine| {
            let sample = theirs.samples.iter().find(|s| s.figure == mine.figure)?;
            let figure = figures::compared(mine, sample, design, options.run_to_run);
            Some(FigureComparison { host_differs: host.is_some(), hosts_lost, ..figure })
        });
        Some(SubjectComparison { name: subject.in_words(), figures: figures.collect() })
    });
    PointComparison { name: a.in_words(), host, subjects: subjects.collect() }
}

fn figures_of(pair: &mut Pair) -> impl Iterator<Item = &mut FigureComparison> {
    pair.points.iter_mut().flat_map(|p| &mut p.subjects).flat_map(|s| &mut s.figures)
}

/// Holds one family of tests, the main figures of all pairs or the others, to one error rate; gives
/// its size.
fn adjust(pairs: &mut [Pair], main: bool) -> usize {
    let mut family: Vec<&mut FigureComparison> = pairs
        .iter_mut()
        .flat_map(figures_of)
        .filter(|figure| figure.main == main && figure.basis.between_runs())
        .collect();
    let p: Vec<f64> = family.iter().filter_map(|figure| figure.p).collect();
    let (adjusted, count) = (holm(&p), p.len());
    let tested = family.iter_mut().filter(|figure| figure.p.is_some());
    for (figure, p) in tested.zip(adjusted) {
        figure.p_adjusted = Some(p);
        figure.detectable = figures::detectable(figure, count);
    }
    count
}

fn overall(pair: &Pair) -> Overall {
    if pair.obstacles().next().is_some() {
        return Overall::NotComparable;
    }
    let main = || pair.figures().map(|(_, _, figure)| figure).filter(|figure| figure.main);
    let some = |wanted: fn(&Verdict) -> bool| main().any(|figure| wanted(&figure.verdict));
    let better = some(|verdict| *verdict == Verdict::Better);
    let worse = some(|verdict| *verdict == Verdict::Worse);
    let unknown = some(|verdict| matches!(verdict, Verdict::CannotTell(_)));
    match (better, worse) {
        (true, true) => Overall::Mixed,
        (true, false) => Overall::Faster,
        (false, true) => Overall::Slower,
        (false, false) if unknown || main().next().is_none() => Overall::CannotTell,
        (false, false) => Overall::NoDifference,
    }
}
