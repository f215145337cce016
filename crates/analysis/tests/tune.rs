//! The search for the least concurrency, on systems with a known answer.

use analysis::curve::plateau::RUNS_PER_POINT;
use analysis::estimate::{Estimate, Method};
use analysis::tune::search::{Answer, Goal, Next, Point, next};

/// Most runs of a search.
const RUNS_MAX: usize = 48;

/// A system: the rate that a number of outstanding operations reaches.
type System<'s> = &'s dyn Fn(u64) -> f64;
/// One of several.
type Boxed = Box<dyn Fn(u64) -> f64>;

/// Response time and throughput limit: `n / R` up to the limit.
fn limited(response_s: f64, limit: f64) -> impl Fn(u64) -> f64 {
    move |n| (n as f64 / response_s).min(limit)
}

/// Gunther's Universal Scalability Law.
fn usl(alone: f64, contention: f64, coherence: f64) -> impl Fn(u64) -> f64 {
    move |n| {
        let n = n as f64;
        alone * n / (1.0 + contention * (n - 1.0) + coherence * n * (n - 1.0))
    }
}

/// One server after a delay, by the bounds of balanced systems: a concave curve.
fn queueing(delay_s: f64, demand_s: f64) -> impl Fn(u64) -> f64 {
    move |n| n as f64 / (delay_s + demand_s * n as f64)
}

/// Reproducible draws.
struct Draws(u64);

impl Draws {
    fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Approximately normal, as the sum of twelve.
    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.unit()).sum::<f64>() - 6.0
    }
}

/// The course of a search.
struct Searched {
    answer: Answer,
    /// Every run's concurrency, in order.
    asked: Vec<u64>,
}

fn search(goal: Goal, system: System<'_>) -> Searched {
    search_in_noise(goal, system, 0.0, 1)
}

/// `noise` is the relative standard deviation of a run; the reported uncertainty is that of the
/// mean and decreases with repeats.
fn search_in_noise(goal: Goal, system: System<'_>, noise: f64, seed: u64) -> Searched {
    let mut draws = Draws(seed);
    let mut points: Vec<(Point, Vec<f64>)> = Vec::new();
    let mut asked = Vec::new();
    loop {
        let known: Vec<Point> = points.iter().map(|(point, _)| *point).collect();
        let outstanding = match next(&goal, &known) {
            Next::Done(answer) => return Searched { answer, asked },
            Next::Measure { outstanding } => outstanding,
        };
        asked.push(outstanding);
        assert!(asked.len() <= RUNS_MAX, "it ends: {asked:?}");
        assert!((1..=goal.outstanding_max).contains(&outstanding), "{asked:?}");
        let measured = system(outstanding) * (1.0 + noise * draws.normal());
        let index = points.iter().position(|(point, _)| point.outstanding == outstanding);
        let index = index.unwrap_or_else(|| {
            points.push((point(outstanding, 0.0, 0.0, 0), Vec::new()));
            points.len() - 1
        });
        let (point_known, values) = &mut points[index];
        values.push(measured);
        assert!(values.len() <= RUNS_PER_POINT as usize, "settled at last: {asked:?}");
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        if let Some(earlier) = values.len().checked_sub(2).map(|_| *point_known) {
            let distance = (earlier.rate.value - goal.least()).abs();
            // A peak with a sharp fall is confirmed once.
            let fell = known.iter().any(|point| {
                point.outstanding > outstanding && point.rate.value < 0.8 * earlier.rate.value
            });
            assert!(
                distance < earlier.rate.uncertainty.unwrap_or(0.0) || fell && values.len() == 2,
                "what noise has not left open is not asked again: {asked:?}"
            );
        }
        let half_width = 1.96 * noise * mean / (values.len() as f64).sqrt();
        *point_known = point(outstanding, mean, half_width, values.len() as u32);
    }
}

fn point(outstanding: u64, rate: f64, half_width: f64, runs: u32) -> Point {
    let uncertainty = Some(half_width);
    let rate = Estimate { value: rate, uncertainty, samples: 30.0, method: Method::Intervals };
    let response_ns = outstanding as f64 / rate.value * 1e9;
    Point { outstanding, rate, response_ns, runs, agrees: true }
}

fn goal(ops_per_s: f64) -> Goal {
    Goal { ops_per_s, within: 0.0, outstanding_max: 4096 }
}

/// The true answer, by exhaustive search.
fn least(goal: &Goal, system: System<'_>) -> Option<u64> {
    (1..=goal.outstanding_max).find(|n| system(*n) >= goal.least())
}

fn assert_least(goal: Goal, system: System<'_>, runs: usize, what: &str) {
    let searched = search(goal, system);
    let expected = least(&goal, system).expect("it can be reached");
    let too_little = (expected > 1).then(|| expected - 1);
    let answer = Answer::Reached { enough: expected, too_little };
    assert_eq!(searched.answer, answer, "{what}: {:?}", searched.asked);
    assert!(searched.asked.len() <= runs, "{what}: {:?}", searched.asked);
    let mut once = searched.asked.clone();
    once.sort_unstable();
    once.dedup();
    assert_eq!(once.len(), searched.asked.len(), "{what}: without noise nothing twice");
}

#[test]
fn the_example_of_the_paper_needs_three_points() {
    let system = limited(0.001_909, 1e9);
    let searched = search(goal(3200.0), &system);
    assert_eq!(searched.asked, [1, 7, 6]);
    assert_eq!(searched.answer, Answer::Reached { enough: 7, too_little: Some(6) });
    // Six give 3,143 ops/s, which is within 3 % of 3,200, as in the paper.
    let tolerant = Goal { within: 0.03, ..goal(3200.0) };
    let searched = search(tolerant, &system);
    assert_eq!(searched.answer, Answer::Reached { enough: 6, too_little: Some(5) });
    assert_eq!(searched.asked, [1, 7, 6, 5]);
}

#[test]
fn one_outstanding_operation_can_be_enough() {
    let searched = search(goal(500.0), &limited(0.001_909, 1e9));
    assert_eq!(searched.asked, [1]);
    assert_eq!(searched.answer, Answer::Reached { enough: 1, too_little: None });
}

#[test]
fn the_least_concurrency_is_found_on_every_rising_curve() {
    for wanted in [600.0, 1000.0, 3333.0, 7999.0, 16_000.0, 19_990.0] {
        for response_s in [0.000_4, 0.002, 0.017] {
            let system = limited(response_s, 20_000.0);
            assert_least(goal(wanted), &system, 6, &format!("limited {response_s} {wanted}"));
        }
        for (delay_s, demand_s) in [(0.001, 0.000_05), (0.010, 0.000_05), (0.000_3, 0.000_04)] {
            let system = queueing(delay_s, demand_s);
            let what = format!("queueing {delay_s} {demand_s} {wanted}");
            // Its last rate requires more than the largest concurrency allowed.
            if wanted > 0.97 / demand_s {
                continue;
            }
            assert_least(goal(wanted), &system, 16, &what);
        }
    }
}

#[test]
fn the_least_concurrency_is_found_below_a_peak() {
    for contention in [0.0, 0.01, 0.05] {
        for coherence in [0.000_01, 0.000_3, 0.002] {
            let system = usl(700.0, contention, coherence);
            let top = (1..4096).map(&system).fold(0.0, f64::max);
            for share in [0.2, 0.5, 0.8, 0.93, 0.97] {
                let what = format!("usl {contention} {coherence} {share}");
                assert_least(goal(share * top), &system, 20, &what);
            }
        }
    }
}

#[test]
fn a_rate_beyond_saturation_is_reported_with_the_saturation_rate() {
    let systems: [(&str, Boxed); 4] = [
        ("limited", Box::new(limited(0.002, 5000.0))),
        ("one slow flow", Box::new(limited(0.000_4, 900.0))),
        ("queueing", Box::new(queueing(0.002, 0.000_1))),
        ("usl", Box::new(usl(700.0, 0.02, 0.000_3))),
    ];
    for (what, system) in &systems {
        let top = (1..4096).map(system).fold(0.0, f64::max);
        for share in [1.1, 1.5, 4.0, 100.0] {
            let searched = search(goal(share * top), system.as_ref());
            let Answer::Saturated { top: at } = searched.answer else {
                panic!("{what} {share}: {:?} {:?}", searched.answer, searched.asked);
            };
            let seen = system(at);
            assert!(seen >= 0.94 * top, "{what} {share}: {seen} of {top}, {:?}", searched.asked);
            assert!(searched.asked.len() <= 18, "{what} {share}: {:?}", searched.asked);
        }
    }
}

#[test]
fn a_rising_rate_at_the_largest_concurrency_is_reported() {
    let few = Goal { outstanding_max: 128, ..goal(100_000.0) };
    let searched = search(few, &limited(0.002, 1e9));
    assert_eq!(searched.answer, Answer::Bounded { top: 128 });
    assert_eq!(searched.asked, [1, 128, 32]);
    // The same where the slots are what would be needed and it is flat long before.
    let searched = search(few, &limited(0.002, 10_000.0));
    assert!(matches!(searched.answer, Answer::Saturated { .. }), "{:?}", searched.asked);
}

#[test]
fn with_noise_the_answer_is_close_and_the_search_ends() {
    let mut off = 0;
    let systems: [Boxed; 3] = [
        Box::new(limited(0.005, 20_000.0)),
        Box::new(queueing(0.002, 0.000_05)),
        Box::new(usl(700.0, 0.01, 0.000_1)),
    ];
    for seed in 1..=200 {
        for system in &systems {
            let tolerant = Goal { within: 0.03, ..goal(4000.0) };
            let searched = search_in_noise(tolerant, system.as_ref(), 0.01, seed);
            let Answer::Reached { enough, .. } = searched.answer else {
                panic!("{seed}: {:?} {:?}", searched.answer, searched.asked);
            };
            let truth = least(&tolerant, system.as_ref()).expect("it can be reached");
            assert!(enough.abs_diff(truth) <= 2, "{enough}, not {truth}: {:?}", searched.asked);
            off += usize::from(enough.abs_diff(truth) > 1);
            // The answer reaches the rate except for noise.
            assert!(system(enough) >= 0.96 * tolerant.ops_per_s, "{:?}", searched.asked);
        }
    }
    assert!(off <= 30, "{off} of 600 searches were off by two");
}

#[test]
fn with_noise_a_rate_beyond_saturation_is_still_found() {
    for seed in 1..=200 {
        for wanted in [5500.0, 7000.0, 20_000.0] {
            let tolerant = Goal { within: 0.03, ..goal(wanted) };
            let searched = search_in_noise(tolerant, &limited(0.005, 5000.0), 0.01, seed);
            let Answer::Saturated { .. } = searched.answer else {
                panic!("{seed} {wanted}: {:?} {:?}", searched.answer, searched.asked);
            };
            assert!(searched.asked.len() <= 12, "{seed} {wanted}: {:?}", searched.asked);
        }
    }
}
