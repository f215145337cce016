//! Error rates of comparisons: equal systems differ no more often than stated, and a detectable
//! difference is found as often as stated.

use crate::records::draws::Draws;
use crate::records::{done, experiment, random_reads, run, stream};
use analysis::compare::figure::Figure;
use analysis::compare::figures::{Basis, FigureComparison, InconclusiveCause, Verdict};
use analysis::compare::side::{PointSide, Repeat, Sample, Side, Subject};
use analysis::compare::welch::{LEVEL, POWER};
use analysis::compare::{Comparison, Options, Overall, compare};
use metrics::interleaved::Interleaved;
use metrics::run_record::ExperimentRecord;
use workload::interleave::ComparedSide;

/// Simulated pairs per claim.
const PAIRS: u64 = 1_000;

/// Share of the pairs above which a rate of `expected` is rejected: three standard deviations of
/// the binomial distribution.
fn bound(expected: f64, pairs: u64) -> f64 {
    expected + 3.0 * (expected * (1.0 - expected) / pairs as f64).sqrt()
}

/// A system's variation between runs and between intervals.
#[derive(Clone, Copy)]
struct System {
    /// Its true rate relative to that of the first.
    faster: f64,
    /// Relative standard deviation between runs.
    between: f64,
    /// Relative standard deviation of intervals within a run.
    within: f64,
    /// Correlation of neighbouring intervals.
    correlation: f64,
}

const REPEATS: u32 = 5;
const INTERVALS: u64 = 16;

/// A whole record of a closed loop whose rate is an autoregressive process around a level that each
/// run draws anew; times go with its inverse.
fn record(system: System, repeats: u32, seed: u64) -> ExperimentRecord {
    let mut draws = Draws::new(seed);
    let System { faster, between, within, correlation } = system;
    let runs = (0..repeats).map(|repeat| {
        let level = 10_000.0 * (1.0 + faster) * (1.0 + between * draws.normal());
        let mut state = draws.normal();
        let seconds = (0..INTERVALS).map(|_| {
            let fresh = (1.0 - correlation * correlation).sqrt();
            state = correlation * state + fresh * draws.normal();
            let rate = level * (1.0 + within * state);
            random_reads(rate, 4e9 / rate * (1.0 + 0.01 * draws.normal()))
        });
        let mut run = run("random read 8 KiB", vec![stream("data", 4)], 0, INTERVALS);
        run.repeat = repeat;
        done(run, seconds.collect())
    });
    experiment(runs.collect())
}

fn figure(comparison: &Comparison, wanted: Figure) -> &FigureComparison {
    let figures = comparison.pairs[0].figures();
    figures.map(|(_, _, figure)| figure).find(|f| f.figure == wanted).expect("it is compared")
}

/// Order of two sides' measurements.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Order {
    /// One after the other, analysed as two sessions.
    BackToBack,
    /// Interleaved: the variation between runs is independent, as the pairing assumes.
    InTurns,
}

impl Order {
    fn of(self, mut sides: [Side; 2]) -> [Side; 2] {
        if self == Order::InTurns {
            for (own, side) in sides.iter_mut().zip(ComparedSide::BOTH) {
                own.id = side.label().to_string();
                let partner = side.other().label().to_string();
                own.interleaved = Some(Interleaved { partner, side, first: Vec::new() });
            }
        }
        sides
    }
}

/// Shares of the pairs in which the rate's own test found something, and in which the verdict did.
fn found(system: System, repeats: u32, order: Order, pairs: u64) -> (f64, f64) {
    let (mut alone, mut overall) = (0.0, 0.0);
    for pair in 0..pairs {
        let first = Side::of(&record(System { faster: 0.0, ..system }, repeats, 2 * pair));
        let second = Side::of(&record(system, repeats, 2 * pair + 1));
        let comparison = compare(&order.of([first, second]), &Options::default());
        let p = figure(&comparison, Figure::AchievedRate).p.expect("it is tested");
        alone += f64::from(p <= LEVEL);
        let verdict = comparison.pairs[0].verdict;
        let differs = [Overall::Faster, Overall::Slower, Overall::Mixed].contains(&verdict);
        overall += f64::from(differs);
    }
    (alone / pairs as f64, overall / pairs as f64)
}

#[test]
fn equal_systems_differ_no_more_often_than_stated() {
    let system = System { faster: 0.0, between: 0.015, within: 0.05, correlation: 0.7 };
    for order in [Order::BackToBack, Order::InTurns] {
        let (alone, overall) = found(system, REPEATS, order, PAIRS);
        assert!(alone <= bound(LEVEL, PAIRS), "{order:?}, a single figure: {alone}");
        assert!(overall <= bound(LEVEL, PAIRS), "{order:?}, the verdict over two: {overall}");
    }
}

/// A side of `points` load points of one main figure each, with values as drawn.
fn side(points: usize, repeats: usize, mut draw: impl FnMut() -> f64) -> Side {
    let point = |index: usize, values: Vec<f64>| PointSide {
        variant: format!("load point {index}"),
        parameters: Vec::new(),
        keys: Vec::new(),
        flaws: Vec::new(),
        cached_share: None,
        host: None,
        subjects: vec![Subject {
            stream: None,
            operations: "data",
            samples: vec![Sample {
                figure: Figure::AchievedRate,
                main: true,
                repeats: values
                    .into_iter()
                    .zip(0..)
                    .map(|(value, number)| Repeat { number, began_unix_ms: 0, value })
                    .collect(),
                without: 0,
                batches: Vec::new(),
                changes_by_plan: false,
            }],
        }],
    };
    Side {
        id: String::new(),
        name: String::new(),
        target: String::new(),
        started_unix_ms: 0,
        plan_hash: String::new(),
        facts: Vec::new(),
        interleaved: None,
        caveats: Vec::new(),
        metric: None,
        points: (0..points).map(|p| point(p, (0..repeats).map(|_| draw()).collect())).collect(),
    }
}

/// The share of pairs in which something was found among `points` figures.
fn found_among(
    points: usize,
    repeats: (usize, usize),
    order: Order,
    pairs: u64,
    draw: fn(&mut Draws) -> f64,
    faster: f64,
) -> f64 {
    let mut draws = Draws::new(7_000 + points as u64 + 100 * repeats.0 as u64 + repeats.1 as u64);
    let mut found = 0.0;
    for _ in 0..pairs {
        let first = side(points, repeats.0, || 1_000.0 * (1.0 + 0.02 * draw(&mut draws)));
        let second =
            side(points, repeats.1, || 1_000.0 * (1.0 + faster) * (1.0 + 0.02 * draw(&mut draws)));
        let sides = order.of([first, second]);
        let verdict = compare(&sides, &Options::default()).pairs[0].verdict;
        let differs = [Overall::Faster, Overall::Slower, Overall::Mixed].contains(&verdict);
        found += f64::from(differs);
    }
    found / pairs as f64
}

#[test]
fn the_error_rate_holds_for_few_repeats_outliers_and_long_tails() {
    type Draw = fn(&mut Draws) -> f64;
    let draws: [(&str, Draw); 3] =
        [("normal", Draws::normal), ("heavy", Draws::heavy), ("skewed", Draws::skewed)];
    for (name, draw) in draws {
        for repeats in [(2, 2), (3, 3), (5, 5), (10, 10)] {
            for order in [Order::BackToBack, Order::InTurns] {
                let found = found_among(1, repeats, order, PAIRS, draw, 0.0);
                assert!(found <= bound(LEVEL, PAIRS), "{name}, {repeats:?}, {order:?}: {found}");
            }
        }
    }
    for repeats in [(3, 1), (10, 1), (3, 6)] {
        let found = found_among(1, repeats, Order::BackToBack, PAIRS, Draws::normal, 0.0);
        assert!(found <= bound(LEVEL, PAIRS), "{repeats:?}: {found}");
    }
}

#[test]
fn many_figures_have_the_error_rate_of_one() {
    for points in [4, 20] {
        for order in [Order::BackToBack, Order::InTurns] {
            let found = found_among(points, (5, 5), order, PAIRS, Draws::normal, 0.0);
            assert!(found <= bound(LEVEL, PAIRS), "{points} load points, {order:?}: {found}");
        }
    }
}

#[test]
fn a_true_difference_of_three_percent_is_found_with_the_stated_power() {
    // With 2 % from run to run, eight blocks see 3 % with a power of 80 %: (t(0.975, 7) + t(0.8,
    // 7)) 0.02 sqrt(2 / 8) = (2.365 + 0.896) 0.01 = 0.0326.
    let share = found_among(1, (8, 8), Order::InTurns, PAIRS, Draws::normal, 0.0326);
    let spread = 3.0 * (POWER * (1.0 - POWER) / PAIRS as f64).sqrt();
    assert!((share - POWER).abs() <= spread + 0.01, "{share}");
    // Whole records too, with intervals that resemble their neighbours.
    let system = System { faster: 0.03, between: 0.01, within: 0.02, correlation: 0.7 };
    let (alone, overall) = found(system, 8, Order::InTurns, 200);
    assert!(alone >= 0.80, "{alone}");
    assert!(overall >= 0.80, "{overall}");
}

#[test]
fn a_detectable_difference_is_detected() {
    // On average, the detectable difference is the one that the draws were made for.
    let mut draws = Draws::new(11);
    let mut shares = 0.0;
    let pairs = 300;
    for _ in 0..pairs {
        let mut sample = || side(1, 8, || 1_000.0 * (1.0 + 0.02 * draws.normal()));
        let sides = Order::InTurns.of([sample(), sample()]);
        let comparison = compare(&sides, &Options::default());
        shares += figure(&comparison, Figure::AchievedRate).detectable.expect("it is known");
    }
    let mean = shares / f64::from(pairs);
    // By the standard deviation of seven degrees of freedom, on average 0.965 of the true one.
    assert!((mean - 0.0326 * 0.965).abs() < 0.001, "{mean}");
}

#[test]
fn no_difference_requires_enough_resolution() {
    let compared = |deviation: f64, resolution: Option<f64>| {
        let mut sign = 1.0;
        let mut sample = || {
            side(1, 8, || {
                sign = -sign;
                1_000.0 * (1.0 + sign * deviation)
            })
        };
        let sides = Order::BackToBack.of([sample(), sample()]);
        let usual = Options::default();
        let resolution = resolution.unwrap_or(usual.resolution);
        let comparison = compare(&sides, &Options { resolution, ..usual });
        let rate = figure(&comparison, Figure::AchievedRate);
        (rate.detectable.expect("it is known"), rate.verdict)
    };
    let (too_coarse, none) =
        (Verdict::CannotTell(InconclusiveCause::TooCoarse), Verdict::NoDifference);
    let (detectable, _) = compared(0.02, None);
    assert_eq!(compared(0.02, Some(detectable * 1.001)).1, none);
    assert_eq!(compared(0.02, Some(detectable * 0.999)).1, too_coarse);
    // `compare --resolution` is 10 % unless the user says otherwise.
    let at_ten_percent = 0.02 * 0.10 / detectable;
    assert_eq!(compared(at_ten_percent * 0.999, None).1, none);
    assert_eq!(compared(at_ten_percent * 1.001, None).1, too_coarse);
}

#[test]
fn two_single_runs_give_no_verdict() {
    let system = System { faster: 0.0, between: 0.0, within: 0.01, correlation: 0.3 };
    let first = Side::of(&record(system, 1, 1));
    let second = Side::of(&record(System { faster: 0.2, ..system }, 1, 2));
    let comparison = compare(&[first.clone(), second.clone()], &Options::default());
    assert_eq!(comparison.pairs[0].verdict, Overall::CannotTell);
    let rate = figure(&comparison, Figure::AchievedRate);
    assert_eq!(rate.verdict, Verdict::CannotTell(InconclusiveCause::SingleRunsDiffer));
    assert_eq!(rate.basis, Basis::WithinRuns);
    assert_eq!(comparison.main_tests, 0);
    // Who knows how much runs differ, may say so.
    let known = Options { run_to_run: Some(0.02), ..Options::default() };
    let comparison = compare(&[first.clone(), second.clone()], &known);
    assert_eq!(comparison.pairs[0].verdict, Overall::Faster);
    let unknown = Options { run_to_run: Some(0.15), ..Options::default() };
    let comparison = compare(&[first, second], &unknown);
    assert_eq!(comparison.pairs[0].verdict, Overall::CannotTell);
}

#[test]
fn the_error_rate_holds_with_a_given_deviation_between_runs() {
    let system = System { faster: 0.0, between: 0.02, within: 0.02, correlation: 0.5 };
    let options = Options { run_to_run: Some(0.02), ..Options::default() };
    let pairs = 500;
    let mut found = 0.0;
    for pair in 0..pairs {
        let sides = [record(system, 1, 90_000 + 2 * pair), record(system, 1, 90_001 + 2 * pair)];
        let comparison = compare(&sides.each_ref().map(Side::of), &options);
        found += f64::from(figure(&comparison, Figure::AchievedRate).p.expect("tested") <= LEVEL);
    }
    let found = found / pairs as f64;
    assert!(found <= bound(LEVEL, pairs), "{found}");
}

#[test]
fn three_systems_are_ranked_by_significant_differences() {
    let mut draws = Draws::new(6);
    let mut system = |rate: f64| side(2, 6, || rate * (1.0 + 0.005 * draws.normal()));
    let sides = [system(1_000.0), system(1_500.0), system(1_000.0)];
    let comparison = compare(&sides, &Options::default());
    assert_eq!(comparison.pairs.len(), 2);
    assert_eq!(comparison.pairs[0].verdict, Overall::Faster);
    assert_eq!(comparison.pairs[1].verdict, Overall::NoDifference);
    assert_eq!(comparison.main_tests, 4);
    assert_eq!(comparison.rankings.len(), 2);
    for ranking in &comparison.rankings {
        let ranks: Vec<usize> = ranking.ranks.iter().map(|side| side.rank).collect();
        assert_eq!(ranks, [1, 2, 2]);
        assert_eq!(ranking.ranks[0].side, 1);
    }
}
