//! One figure of one load point, first against second: how far apart, how surely, and the verdict.

use super::drift::{self, Drift};
use super::facts::Item;
use super::figure::Figure;
use super::paired::{self, Paired};
use super::ranks::{self, RankTest};
use super::side::{Sample, Side};
use super::welch::{self, Difference, LEVEL, Mean, POWER, Ratio};
use crate::distributions::t_quantile;
use crate::effective::effective_samples;
use crate::estimate::{Estimate, INTERVALS_MIN, Method};

/// One figure compared.
#[derive(Clone, Debug, PartialEq)]
pub struct FigureComparison {
    /// Which figure.
    pub figure: Figure,
    /// The verdict of the whole comparison rests on it.
    pub main: bool,
    /// What its uncertainty rests on.
    pub basis: Basis,
    /// The first side's: the mean of its repeats' values.
    pub first: Option<Estimate>,
    /// The other side's.
    pub second: Option<Estimate>,
    /// Second minus first.
    pub difference: Option<Estimate>,
    /// Second over first.
    pub ratio: Option<Ratio>,
    /// Two-sided p-value that there is no difference: of the blocks' t test, or of Welch's with the
    /// variance that the drift between repeats gives.
    pub p: Option<f64>,
    /// What the p-value would be if repeats that ran back to back were independent.
    pub p_independent: Option<f64>,
    /// The same held to one error rate over all tests of its family; `None` where it is in none.
    pub p_adjusted: Option<f64>,
    /// Repeats of both sides that have a value.
    pub repeats: usize,
    /// The comparison by ranks.
    pub ranks: Option<RankTest>,
    /// The change, as a share of the first, that is found with a probability of 80 % among so many
    /// tests.
    pub detectable: Option<f64>,
    /// With 95 % certainty the change is not larger than this share of the first.
    pub at_most: Option<f64>,
    /// The two sides ran under different host state.
    pub host_differs: bool,
    /// What it comes to.
    pub verdict: Verdict,
}

/// What the uncertainty of a difference rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Basis {
    /// Blocks of two runs, one of each side.
    Blocks,
    /// How much the repeats of each side differ, and how far they drift.
    Repeats,
    /// One side is a single run, which is taken to differ from run to run as the other side does.
    Borrowed,
    /// Two single runs, and how much single runs are known to differ.
    Given,
    /// Two single runs, by how much they change within themselves. How much one run differs from
    /// the next is not known.
    WithinRuns,
    /// Nothing: there are not enough numbers.
    Nothing,
}

impl Basis {
    /// The name in files.
    pub const fn name(self) -> &'static str {
        match self {
            Basis::Blocks => "interleaved blocks",
            Basis::Repeats => "repeats",
            Basis::Borrowed => "repeats of one side",
            Basis::Given => "given run-to-run deviation",
            Basis::WithinRuns => "within runs",
            Basis::Nothing => "nothing",
        }
    }

    /// Whether it tells how much one run differs from the next, without which there is no verdict.
    pub const fn between_runs(self) -> bool {
        matches!(self, Basis::Blocks | Basis::Repeats | Basis::Borrowed | Basis::Given)
    }

    const fn method(self) -> Method {
        match self {
            Basis::Blocks | Basis::Repeats | Basis::Borrowed => Method::Repeats,
            Basis::Given | Basis::WithinRuns => Method::Intervals,
            Basis::Nothing => Method::Unknown,
        }
    }
}

/// What a figure's comparison comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The second is better.
    Better,
    /// The second is worse.
    Worse,
    /// None was found, and one of the wanted size would have been.
    NoDifference,
    /// Nothing can be said.
    CannotTell(Doubt),
}

/// Why nothing can be said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doubt {
    /// One of the sides has no such number, or too few.
    NotMeasured,
    /// Two single runs, which differ by more than they change within themselves; that may be what
    /// any two runs do.
    SingleRunsDiffer,
    /// Two single runs, which do not differ beyond what they change within themselves.
    SingleRuns,
    /// The means differ, the ranks do not: a few wild values decide.
    TestsDisagree,
    /// It would be a difference by itself, but among so many tests chance alone may bring it.
    AmongMany,
    /// The repeats ran back to back, and the drift from one to the next explains the difference.
    Drift,
    /// The repeats ran back to back and are too few to rule out that the host changed between the
    /// sides.
    FewBackToBack,
    /// The sides ran under different host state.
    HostDiffers,
    /// A change that would matter could not have been seen.
    TooCoarse,
}

impl FigureComparison {
    /// Whether its repeats ran in one session of each side.
    pub fn is_back_to_back(&self) -> bool {
        matches!(self.basis, Basis::Repeats | Basis::Borrowed)
    }
}

impl Verdict {
    /// The name in files.
    pub const fn name(self) -> &'static str {
        match self {
            Verdict::Better => "better",
            Verdict::Worse => "worse",
            Verdict::NoDifference => "no difference found",
            Verdict::CannotTell(_) => "cannot tell",
        }
    }
}

impl Doubt {
    /// The reason in words.
    pub const fn in_words(self) -> &'static str {
        match self {
            Doubt::NotMeasured => "too few samples on one side",
            Doubt::SingleRunsDiffer => "differs within these runs; one run each",
            Doubt::SingleRuns => "one run each",
            Doubt::TestsDisagree => "means and ranks disagree",
            Doubt::AmongMany => "could be chance among so many figures",
            Doubt::Drift => "the drift between back-to-back repeats explains it",
            Doubt::FewBackToBack => "too few back-to-back repeats",
            Doubt::HostDiffers => "host state differs",
            Doubt::TooCoarse => "runs differ too much to see it",
        }
    }
}

/// Repeats of both sides together that a verdict on back-to-back records takes. A host whose speed
/// changes once, at any of the `n - 1` steps between them, does so exactly between the sides with a
/// probability of at most `1 / e / (n - 1)` (one change of a Poisson process, none else): below 5 %
/// from 9 on.
const BACK_TO_BACK_LEAST: usize = 9;

/// How the runs of two sides lie in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Design {
    /// They took turns in blocks of two, in random order.
    Interleaved,
    /// All of one side ran before all of the other, or in an order of the user's own.
    BackToBack,
}

impl Design {
    /// What differs between the sides because it is what is compared: of sides that took turns
    /// within one command, the targets and the way to them.
    pub(super) const fn compares(self) -> &'static [Item] {
        match self {
            Design::Interleaved => {
                &[Item::Target, Item::Mount, Item::Nconnect, Item::Network, Item::Volume]
            }
            Design::BackToBack => &[],
        }
    }

    pub(super) fn of(first: &Side, second: &Side) -> Design {
        let names = |a: &Side, b: &Side| {
            a.interleaved.as_ref().is_some_and(|interleaved| interleaved.partner == b.id)
        };
        match names(first, second) && names(second, first) {
            true => Design::Interleaved,
            false => Design::BackToBack,
        }
    }
}

/// A test by ranks with a larger p-value does not even hint at a difference. To ask for 5 % here
/// too costs power: of 1,000 simulated pairs 75 % would be found where 80 % are stated.
const HINT: f64 = 0.20;

/// Compares one figure; the verdict is given when all tests are known.
pub(super) fn compared(
    a: &Sample,
    b: &Sample,
    design: Design,
    run_to_run: Option<f64>,
) -> FigureComparison {
    let mut figure = FigureComparison {
        figure: a.figure,
        main: a.main,
        basis: Basis::Nothing,
        first: bare(a),
        second: bare(b),
        difference: None,
        ratio: None,
        p: None,
        p_independent: None,
        p_adjusted: None,
        repeats: a.repeats.len() + b.repeats.len(),
        ranks: None,
        detectable: None,
        at_most: None,
        host_differs: false,
        verdict: Verdict::CannotTell(Doubt::NotMeasured),
    };
    if design == Design::Interleaved
        && let Some(paired) = paired::paired(a, b)
    {
        in_blocks(&mut figure, &paired);
        return figure;
    }
    let Some((first, second, basis)) = means(a, b, run_to_run) else { return figure };
    let independent = match basis {
        // One estimate of one variance serves both.
        Basis::Borrowed => {
            let repeats = a.repeats.len().max(b.repeats.len());
            welch::difference_with(&first, &second, repeats as f64 - 1.0)
        }
        _ => welch::difference(&first, &second),
    };
    figure.ranks = match basis {
        Basis::WithinRuns | Basis::Given => {
            ranks::rank_test(&decorrelated(&a.batches), &decorrelated(&b.batches))
        }
        _ => ranks::rank_test(&a.values(), &b.values()),
    };
    let (first, second, mut difference) = match basis {
        Basis::Repeats | Basis::Borrowed => {
            figure.p_independent = Some(independent.p);
            let drift = drift::of(&a.repeats, &b.repeats);
            with_drift(first, second, independent, drift)
        }
        _ => (first, second, independent),
    };
    if first.variance() + second.variance() == 0.0 {
        // No scatter gives no scale: by the order alone.
        difference.p = figure.ranks.map_or(1.0, |ranks| ranks.p);
    }
    let (method, samples) = (basis.method(), difference.degrees + 1.0);
    let of = |mean: &Mean, samples: f64| Estimate {
        value: mean.value,
        uncertainty: Some(mean.half_width()),
        samples,
        method,
    };
    figure.basis = basis;
    figure.first = Some(of(&first, count(a)));
    figure.second = Some(of(&second, count(b)));
    figure.difference = Some(Estimate {
        value: difference.value,
        uncertainty: Some(difference.half_width),
        samples,
        method,
    });
    figure.ratio = difference.ratio;
    figure.p = Some(difference.p);
    figure.detectable = detectable(&figure, 1);
    figure.at_most = difference.ratio.map(largest_change);
    figure
}

fn largest_change(ratio: Ratio) -> f64 {
    (ratio.low - 1.0).abs().max((ratio.high - 1.0).abs())
}

/// A figure of two sides that took turns.
fn in_blocks(figure: &mut FigureComparison, paired: &Paired) {
    let Paired { values: [first, second], ratio, p, degrees } = paired;
    let (first, second) = (Mean::of(first), Mean::of(second));
    let of = |value: f64, uncertainty: f64| Estimate {
        value,
        uncertainty: Some(uncertainty),
        samples: degrees + 1.0,
        method: Method::Repeats,
    };
    figure.basis = Basis::Blocks;
    figure.first = Some(of(first.value, first.half_width()));
    figure.second = Some(of(second.value, second.half_width()));
    // The interval is that of the ratio, in the figure's unit.
    let half = first.value * (ratio.high - ratio.low) / 2.0;
    figure.difference = Some(of(second.value - first.value, half));
    figure.ratio = Some(*ratio);
    figure.p = Some(*p);
    figure.detectable = detectable(figure, 1);
    figure.at_most = Some(largest_change(*ratio));
}

/// The difference with the variance that drift gives it, where that is larger than what independent
/// repeats would have.
fn with_drift(
    first: Mean,
    second: Mean,
    independent: Difference,
    drift: Option<Drift>,
) -> (Mean, Mean, Difference) {
    let variance = first.variance() + second.variance();
    let Some(drift) = drift.filter(|drift| drift.variance > variance && variance > 0.0) else {
        return (first, second, independent);
    };
    let widen = |mean: Mean| mean.widened(drift.variance / variance);
    let (first, second) = (widen(first), widen(second));
    let degrees = independent.degrees.min(drift.degrees);
    (first, second, welch::difference_with(&first, &second, degrees))
}

/// The change, as a share of the first, that is found with a probability of 80 % among so many
/// tests: `(t(1 - 0.025 / tests) + t(0.80))` standard errors. Holm's correction asks no more than
/// that of any of them.
pub(super) fn detectable(figure: &FigureComparison, tests: usize) -> Option<f64> {
    let (first, difference) = (figure.first?, figure.difference?);
    let degrees = difference.samples - 1.0;
    let error = difference.uncertainty? / t_quantile(1.0 - LEVEL / 2.0, degrees);
    let factor = t_quantile(1.0 - LEVEL / 2.0 / tests as f64, degrees) + t_quantile(POWER, degrees);
    (first.value > 0.0).then(|| factor * error / first.value)
}

/// A value of which nothing else is known.
fn bare(sample: &Sample) -> Option<Estimate> {
    let samples = sample.repeats.len() as f64;
    sample.mean().map(|mean| Estimate { samples, ..Estimate::bare(mean) })
}

fn count(sample: &Sample) -> f64 {
    match sample.repeats.len() {
        1 if !sample.batches.is_empty() => independent(&sample.batches),
        repeats => repeats as f64,
    }
}

/// Both means with what is known of their variances; `None` where that is nothing.
fn means(a: &Sample, b: &Sample, run_to_run: Option<f64>) -> Option<(Mean, Mean, Basis)> {
    // A value lies anywhere in its bucket, which more repeats do not change.
    let of = |values: &[f64]| {
        let mean = Mean::of(values);
        mean.with_least_variance((a.figure.resolution(mean.value) / 2.0).powi(2))
    };
    match (a.values().as_slice(), b.values().as_slice()) {
        ([], _) | (_, []) => None,
        ([x], [y]) => single_runs(*x, &a.batches, *y, &b.batches, run_to_run),
        (many, [one]) => {
            let mean = of(many);
            Some((mean, borrowed(*one, &mean, many.len()), Basis::Borrowed))
        }
        ([one], many) => {
            let mean = of(many);
            Some((borrowed(*one, &mean, many.len()), mean, Basis::Borrowed))
        }
        (first, second) => Some((of(first), of(second), Basis::Repeats)),
    }
}

/// A single run that differs from the next as those of the other side do.
fn borrowed(value: f64, other: &Mean, repeats: usize) -> Mean {
    let of_one_run = other.variance() * repeats as f64;
    Mean::known_by(value, of_one_run, repeats as f64 - 1.0)
}

fn single_runs(
    x: f64,
    x_batches: &[f64],
    y: f64,
    y_batches: &[f64],
    run_to_run: Option<f64>,
) -> Option<(Mean, Mean, Basis)> {
    let enough = x_batches.len() >= INTERVALS_MIN && y_batches.len() >= INTERVALS_MIN;
    let mean = |value: f64, batches: &[f64]| {
        let within = if enough { within(batches) } else { (0.0, f64::INFINITY) };
        let between = run_to_run.map_or(0.0, |share| (share * value).powi(2));
        Mean { value, variances: [within, (between, f64::INFINITY)] }
    };
    let basis = match run_to_run {
        Some(_) => Basis::Given,
        None if enough => Basis::WithinRuns,
        None => return None,
    };
    Some((mean(x, x_batches), mean(y, y_batches), basis))
}

/// The variance of a run's value by how much its batches differ, and its degrees of freedom.
fn within(batches: &[f64]) -> (f64, f64) {
    let count = batches.len() as f64;
    let mean = batches.iter().sum::<f64>() / count;
    let squares: f64 = batches.iter().map(|x| (x - mean).powi(2)).sum();
    let samples = independent(batches);
    (squares / (count - 1.0) / samples, samples - 1.0)
}

fn independent(batches: &[f64]) -> f64 {
    let mean = batches.iter().sum::<f64>() / batches.len() as f64;
    let deviations: Vec<f64> = batches.iter().map(|x| x - mean).collect();
    effective_samples(&deviations)
}

/// Neighbouring batches taken together, so that what is left resembles its neighbours no more.
fn decorrelated(batches: &[f64]) -> Vec<f64> {
    if batches.is_empty() {
        return Vec::new();
    }
    let size = (batches.len() as f64 / independent(batches)).round().max(1.0) as usize;
    batches.chunks(size).map(|c| c.iter().sum::<f64>() / c.len() as f64).collect()
}

/// What a figure comes to, when the p-values of its family are known.
pub(super) fn verdict(figure: &FigureComparison, resolution: f64) -> Verdict {
    let Some(p) = figure.p else { return Verdict::CannotTell(Doubt::NotMeasured) };
    let Some(adjusted) = figure.p_adjusted else {
        return Verdict::CannotTell(match p <= LEVEL {
            true => Doubt::SingleRunsDiffer,
            false => Doubt::SingleRuns,
        });
    };
    if figure.host_differs && figure.basis != Basis::Blocks {
        return Verdict::CannotTell(Doubt::HostDiffers);
    }
    if adjusted <= LEVEL {
        if figure.is_back_to_back() && figure.repeats < BACK_TO_BACK_LEAST {
            return Verdict::CannotTell(Doubt::FewBackToBack);
        }
        // Where the ranks could have hinted at it and did not, few values make the difference.
        let ranks = figure.ranks.filter(|_| figure.basis == Basis::Repeats);
        if ranks.is_some_and(|ranks| ranks.p_least <= HINT && ranks.p > HINT) {
            return Verdict::CannotTell(Doubt::TestsDisagree);
        }
        let more = figure.difference.is_some_and(|difference| difference.value > 0.0);
        return match more == figure.figure.more_is_better() {
            true => Verdict::Better,
            false => Verdict::Worse,
        };
    }
    if p <= LEVEL {
        return Verdict::CannotTell(Doubt::AmongMany);
    }
    if figure.p_independent.is_some_and(|p| p <= LEVEL) {
        return Verdict::CannotTell(Doubt::Drift);
    }
    match figure.detectable {
        Some(share) if share <= resolution => Verdict::NoDifference,
        _ => Verdict::CannotTell(Doubt::TooCoarse),
    }
}
