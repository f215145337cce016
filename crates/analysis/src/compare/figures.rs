//! Comparison of one figure of one load point: the difference, its uncertainty and the verdict.

use statistics::distributions::t_quantile;
use statistics::ranks::{self, RankTest};

use super::drift::{self, Drift};
use super::facts::Item;
use super::figure::Figure;
use super::paired::{self, Paired};
use super::side::{Sample, Side};
use super::welch::{self, Difference, LEVEL, Mean, POWER, Ratio};
use crate::effective::effective_samples;
use crate::estimate::{Estimate, INTERVALS_MIN, Method};

/// Comparison of one figure.
#[derive(Clone, Debug, PartialEq)]
pub struct FigureComparison {
    /// The figure.
    pub figure: Figure,
    /// Whether the verdict of the whole comparison depends on it.
    pub main: bool,
    /// Basis of its uncertainty.
    pub basis: Basis,
    /// The first side's mean over its repeats.
    pub first: Option<Estimate>,
    /// The second side's mean over its repeats.
    pub second: Option<Estimate>,
    /// Second minus first.
    pub difference: Option<Estimate>,
    /// Second over first.
    pub ratio: Option<Ratio>,
    /// Two-sided p-value that there is no difference: of the blocks' t test, or of Welch's with the
    /// variance that the drift between repeats gives.
    pub p: Option<f64>,
    /// The p-value under the assumption that back-to-back repeats are independent.
    pub p_independent: Option<f64>,
    /// The p-value adjusted for all tests of its family; `None` if it is in no family.
    pub p_adjusted: Option<f64>,
    /// Number of repeats with a value on each side.
    pub repeats: usize,
    /// Rank test.
    pub ranks: Option<RankTest>,
    /// Detectable change relative to the first side, with a power of 80 % among this many tests.
    pub detectable: Option<f64>,
    /// Upper bound of the change relative to the first side, at 95 % confidence.
    pub at_most: Option<f64>,
    /// The two sides ran under different host state.
    pub host_differs: bool,
    /// A side lost hosts, so its value is that of fewer.
    pub hosts_lost: bool,
    /// A side is a single run whose offered rate changes by plan, so that its parts are no samples.
    pub changes_by_plan: bool,
    /// The verdict.
    pub verdict: Verdict,
}

/// Basis of a difference's uncertainty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Basis {
    /// Blocks of two runs, one of each side.
    Blocks,
    /// The variation and the drift of each side's repeats.
    Repeats,
    /// One side is a single run; its variation between runs is assumed equal to the other side's.
    Borrowed,
    /// Two single runs with a given run-to-run variation.
    Given,
    /// Two single runs, by the variation within each. The run-to-run variation is unknown.
    WithinRuns,
    /// None: too few values.
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

    /// Whether it includes the variation between runs, which a verdict requires.
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

/// Verdict on a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The second is better.
    Better,
    /// The second is worse.
    Worse,
    /// No difference, although one of the relevant size would have been detected.
    NoDifference,
    /// Inconclusive.
    CannotTell(InconclusiveCause),
}

/// Why a comparison is inconclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InconclusiveCause {
    /// One side has no values, or too few.
    NotMeasured,
    /// Two single runs that differ by more than the variation within them, which is common.
    SingleRunsDiffer,
    /// Two single runs that differ by no more than the variation within them.
    SingleRuns,
    /// The means differ but the ranks do not: the difference is due to outliers.
    TestsDisagree,
    /// Significant as a single test, but not among this many tests.
    AmongMany,
    /// The repeats ran back to back, and their drift explains the difference.
    Drift,
    /// Too few back-to-back repeats to exclude a change of the host between the sides.
    FewBackToBack,
    /// The sides ran under different host state.
    HostDiffers,
    /// A side lost hosts while the others continued.
    HostsLost,
    /// A relevant change would not have been detected.
    TooCoarse,
    /// Single runs whose offered rate changes by plan, so that the variation within a run is no noise.
    ChangesByPlan,
}

impl FigureComparison {
    /// Whether each side's repeats ran in one session.
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

/// Least number of repeats of both sides together for a verdict on back-to-back records. If the
/// speed of a host changes once, at any of the `n - 1` steps between repeats, it does so exactly
/// between the sides with a probability of at most `1 / e / (n - 1)` (exactly one change of a
/// Poisson process): below 5 % from 9 on.
const BACK_TO_BACK_LEAST: usize = 9;

/// Order of two sides' runs in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Design {
    /// They took turns in blocks of two, in random order.
    Interleaved,
    /// All of one side ran before all of the other, or in an order chosen by the user.
    BackToBack,
}

impl Design {
    /// Items that differ because they are compared: for sides that took turns within one command,
    /// the target and the path to it.
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

/// Highest p-value of the rank test for a difference. 5 % here too would reduce the power: of 1,000
/// simulated pairs 75 % would be found instead of the stated 80 %.
const HINT: f64 = 0.20;

/// Compares one figure; the verdict follows once all tests are known.
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
        hosts_lost: false,
        changes_by_plan: a.changes_by_plan || b.changes_by_plan,
        verdict: Verdict::CannotTell(InconclusiveCause::NotMeasured),
    };
    if design == Design::Interleaved
        && let Some(paired) = paired::paired(a, b)
    {
        in_blocks(&mut figure, &paired);
        return figure;
    }
    let Some((first, second, basis)) = means(a, b, run_to_run) else { return figure };
    let independent = match basis {
        // One estimate of the common variance applies to both.
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
        // Without scatter there is no scale: use the order only.
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

/// The difference with the variance due to drift, if that exceeds the variance of independent
/// repeats.
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

/// Detectable change relative to the first side, with a power of 80 % among this many tests:
/// `(t(1 - 0.025 / tests) + t(0.80))` standard errors, which is the most that Holm's correction
/// requires of any test.
pub(super) fn detectable(figure: &FigureComparison, tests: usize) -> Option<f64> {
    let (first, difference) = (figure.first?, figure.difference?);
    let degrees = difference.samples - 1.0;
    let error = difference.uncertainty? / t_quantile(1.0 - LEVEL / 2.0, degrees);
    let factor = t_quantile(1.0 - LEVEL / 2.0 / tests as f64, degrees) + t_quantile(POWER, degrees);
    (first.value > 0.0).then(|| factor * error / first.value)
}

/// A value of unknown variance.
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

/// Both means with their variances; `None` if those are unknown.
fn means(a: &Sample, b: &Sample, run_to_run: Option<f64>) -> Option<(Mean, Mean, Basis)> {
    // A value can be anywhere in its bucket, however many repeats there are.
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

/// A single run with the other side's variation between runs.
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

/// The variance of a run's value from the differences between its batches, with its degrees of
/// freedom.
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

/// Merges neighbouring batches until they are uncorrelated.
fn decorrelated(batches: &[f64]) -> Vec<f64> {
    if batches.is_empty() {
        return Vec::new();
    }
    let size = (batches.len() as f64 / independent(batches)).round().max(1.0) as usize;
    batches.chunks(size).map(|c| c.iter().sum::<f64>() / c.len() as f64).collect()
}

/// The verdict on a figure, given the p-values of its family.
pub(super) fn verdict(figure: &FigureComparison, resolution: f64) -> Verdict {
    if figure.hosts_lost {
        return Verdict::CannotTell(InconclusiveCause::HostsLost);
    }
    let Some(p) = figure.p else {
        let is_measured = figure.first.is_some() && figure.second.is_some();
        return Verdict::CannotTell(match is_measured && figure.changes_by_plan {
            true => InconclusiveCause::ChangesByPlan,
            false => InconclusiveCause::NotMeasured,
        });
    };
    let Some(adjusted) = figure.p_adjusted else {
        return Verdict::CannotTell(match p <= LEVEL {
            true => InconclusiveCause::SingleRunsDiffer,
            false => InconclusiveCause::SingleRuns,
        });
    };
    if figure.host_differs && figure.basis != Basis::Blocks {
        return Verdict::CannotTell(InconclusiveCause::HostDiffers);
    }
    if adjusted <= LEVEL {
        if figure.is_back_to_back() && figure.repeats < BACK_TO_BACK_LEAST {
            return Verdict::CannotTell(InconclusiveCause::FewBackToBack);
        }
        // If the rank test could have found it and did not, few values cause the difference.
        let ranks = figure.ranks.filter(|_| figure.basis == Basis::Repeats);
        if ranks.is_some_and(|ranks| ranks.p_least <= HINT && ranks.p > HINT) {
            return Verdict::CannotTell(InconclusiveCause::TestsDisagree);
        }
        let more = figure.difference.is_some_and(|difference| difference.value > 0.0);
        return match more == figure.figure.more_is_better() {
            true => Verdict::Better,
            false => Verdict::Worse,
        };
    }
    if p <= LEVEL {
        return Verdict::CannotTell(InconclusiveCause::AmongMany);
    }
    if figure.p_independent.is_some_and(|p| p <= LEVEL) {
        return Verdict::CannotTell(InconclusiveCause::Drift);
    }
    match figure.detectable {
        Some(share) if share <= resolution => Verdict::NoDifference,
        _ => Verdict::CannotTell(InconclusiveCause::TooCoarse),
    }
}
