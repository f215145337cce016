//! One figure of one load point, first against second: how far apart, how surely, and the verdict.

use super::figure::Figure;
use super::ranks::{self, RankTest};
use super::side::Sample;
use super::welch::{self, LEVEL, Mean, POWER, Ratio};
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
    /// P-value of Welch's test.
    pub p: Option<f64>,
    /// The same held to one error rate over all tests of its family; `None` where it is in none.
    pub p_adjusted: Option<f64>,
    /// The comparison by ranks.
    pub ranks: Option<RankTest>,
    /// The change, as a share of the first, that is found with a probability of 80 % among so many
    /// tests.
    pub detectable: Option<f64>,
    /// With 95 % certainty the change is not larger than this share of the first.
    pub at_most: Option<f64>,
    /// What it comes to.
    pub verdict: Verdict,
}

/// What the uncertainty of a difference rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Basis {
    /// How much the repeats of each side differ.
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
            Basis::Repeats => "repeats",
            Basis::Borrowed => "repeats of one side",
            Basis::Given => "given run-to-run deviation",
            Basis::WithinRuns => "within runs",
            Basis::Nothing => "nothing",
        }
    }

    /// Whether it tells how much one run differs from the next, without which there is no verdict.
    pub const fn between_runs(self) -> bool {
        matches!(self, Basis::Repeats | Basis::Borrowed | Basis::Given)
    }

    const fn method(self) -> Method {
        match self {
            Basis::Repeats | Basis::Borrowed => Method::Repeats,
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
    /// A change that would matter could not have been seen.
    TooCoarse,
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
            Doubt::TooCoarse => "runs differ too much to see it",
        }
    }
}

/// A test by ranks with a larger p-value does not even hint at a difference. To ask for 5 % here
/// too costs power: of 1,000 simulated pairs 75 % would be found where 80 % are stated.
const HINT: f64 = 0.20;

/// Compares one figure; the verdict is given when all tests are known.
pub(super) fn compared(a: &Sample, b: &Sample, run_to_run: Option<f64>) -> FigureComparison {
    let mut figure = FigureComparison {
        figure: a.figure,
        main: a.main,
        basis: Basis::Nothing,
        first: bare(a),
        second: bare(b),
        difference: None,
        ratio: None,
        p: None,
        p_adjusted: None,
        ranks: None,
        detectable: None,
        at_most: None,
        verdict: Verdict::CannotTell(Doubt::NotMeasured),
    };
    let Some((first, second, basis)) = means(a, b, run_to_run) else { return figure };
    let difference = match basis {
        // One estimate of one variance serves both.
        Basis::Borrowed => {
            let repeats = a.repeats.len().max(b.repeats.len());
            welch::difference_with(&first, &second, repeats as f64 - 1.0)
        }
        _ => welch::difference(&first, &second),
    };
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
    figure.ranks = match basis {
        Basis::WithinRuns | Basis::Given => {
            ranks::rank_test(&decorrelated(&a.batches), &decorrelated(&b.batches))
        }
        _ => ranks::rank_test(&a.repeats, &b.repeats),
    };
    figure.detectable = detectable(&figure, 1);
    figure.at_most = difference.ratio.map(|r| (r.low - 1.0).abs().max((r.high - 1.0).abs()));
    figure
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
    let count = sample.repeats.len();
    let mean = sample.repeats.iter().sum::<f64>() / count as f64;
    (count > 0).then(|| Estimate { samples: count as f64, ..Estimate::bare(mean) })
}

fn count(sample: &Sample) -> f64 {
    match sample.repeats.len() {
        1 if !sample.batches.is_empty() => independent(&sample.batches),
        repeats => repeats as f64,
    }
}

/// Both means with what is known of their variances; `None` where that is nothing.
fn means(a: &Sample, b: &Sample, run_to_run: Option<f64>) -> Option<(Mean, Mean, Basis)> {
    match (a.repeats.as_slice(), b.repeats.as_slice()) {
        ([], _) | (_, []) => None,
        ([x], [y]) => single_runs(*x, &a.batches, *y, &b.batches, run_to_run),
        (many, [one]) => {
            let mean = Mean::of(many);
            Some((mean, borrowed(*one, &mean, many.len()), Basis::Borrowed))
        }
        ([one], many) => {
            let mean = Mean::of(many);
            Some((borrowed(*one, &mean, many.len()), mean, Basis::Borrowed))
        }
        (first, second) => Some((Mean::of(first), Mean::of(second), Basis::Repeats)),
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
    if adjusted <= LEVEL {
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
    match figure.detectable {
        Some(share) if share <= resolution => Verdict::NoDifference,
        _ => Verdict::CannotTell(Doubt::TooCoarse),
    }
}
