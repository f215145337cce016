//! The confusion matrix: what was true against what was found.

use std::collections::BTreeMap;
use std::fmt::Write;

use analysis::bottleneck::Limit;

use crate::measure;
use crate::systems::{TRUTHS, system};

/// Systems of each truth.
const EACH: u64 = 24;
/// Seeds from here on. The numbers of the judgement were found with seeds below 10,000.
const PROOF: u64 = 1_000_000;

/// What was found of the systems of each truth.
#[derive(Default)]
struct Matrix {
    counts: BTreeMap<(Limit, Limit), u32>,
    wrong: Vec<String>,
    runs: usize,
}

impl Matrix {
    fn add(&mut self, truth: Limit, found: Limit, what: impl FnOnce() -> String) {
        *self.counts.entry((truth, found)).or_default() += 1;
        if found != Limit::Unknown && found != truth {
            self.wrong.push(what());
        }
    }

    fn sum(&self, of: impl Fn(Limit, Limit) -> bool) -> u32 {
        let counted = self.counts.iter().filter(|((truth, found), _)| of(*truth, *found));
        counted.map(|(_, count)| count).sum()
    }

    /// Right, unknown and wrong answers.
    fn totals(&self) -> (u32, u32, u32) {
        let right = self.sum(|truth, found| truth == found);
        let unknown = self.sum(|_, found| found == Limit::Unknown);
        (right, unknown, self.sum(|_, _| true) - right - unknown)
    }

    fn text(&self, title: &str) -> String {
        let mut text = format!("{title}\n\n| what is full | right | unknown | wrong, as |\n");
        text.push_str("| --- | --- | --- | --- |\n");
        for truth in TRUTHS {
            let of = |found: Limit| self.counts.get(&(truth, found)).copied().unwrap_or(0);
            let wrong: Vec<String> = TRUTHS
                .into_iter()
                .filter(|found| *found != truth && of(*found) > 0)
                .map(|found| format!("{} {}", of(found), found.name()))
                .collect();
            let (right, unknown) = (of(truth), of(Limit::Unknown));
            let wrong = if wrong.is_empty() { "-".to_owned() } else { wrong.join(", ") };
            writeln!(text, "| {} | {right} | {unknown} | {wrong} |", truth.name()).unwrap();
        }
        let (right, unknown, wrong) = self.totals();
        let all = right + unknown + wrong;
        let percent = |n: u32| 100.0 * f64::from(n) / f64::from(all);
        writeln!(
            text,
            "\nOf {all} systems: {right} right ({:.1} %), {unknown} unknown ({:.1} %), {wrong} \
             wrong ({:.1} %).",
            percent(right),
            percent(unknown),
            percent(wrong)
        )
        .unwrap();
        text
    }
}

/// `(from one curve, with scaling experiments)` over systems of these seeds.
fn matrices(first_seed: u64, each: u64) -> (Matrix, Matrix) {
    let (mut curve, mut explained) = (Matrix::default(), Matrix::default());
    for (place, truth) in TRUTHS.into_iter().enumerate() {
        for number in 0..each {
            let seed = first_seed + 1000 * place as u64 + number;
            let system = system(truth, seed);
            let found = measure::of_one_curve(&system, seed);
            curve.add(truth, found.limit, || format!("{seed} {truth:?}: {found:#?}\n{system:?}"));
            let (found, runs) = measure::explained(&system, seed);
            explained.runs += runs;
            let what = || format!("{seed} {truth:?}: {found:#?}\n{system:?}");
            explained.add(truth, found.limit, what);
        }
    }
    (curve, explained)
}

/// What the user reads of both matrices.
const HEAD: &str = "\
# How often the finding of a limit is right

Simulated systems, each with one resource that is full long before the others; all amounts, times,
noise, numbers of connections and workers, transfer sizes and orders, and what is known beforehand
are drawn at random. Made by `UPDATE_EXPECT=1 cargo test -p sim --test limits`; the seeds of these
systems were not used to find the numbers of the [judgement](../method.md#limits). A wrong answer is
one that was given with a probability of at least 90 %.
";

#[test]
fn with_scaling_experiments_the_limit_is_found_and_hardly_ever_a_wrong_one() {
    let (curve, explained) = matrices(PROOF, EACH);
    let all = EACH as usize * TRUTHS.len();
    for (matrix, right_min, unknown_max) in [(&curve, 0.40, 0.60), (&explained, 0.95, 0.05)] {
        let (right, unknown, wrong) = matrix.totals();
        let share = |count: u32| f64::from(count) / all as f64;
        assert!(share(wrong) < 0.01, "{}", matrix.wrong.join("\n"));
        assert!(share(right) >= right_min, "{right} of {all}");
        assert!(share(unknown) <= unknown_max, "{unknown} of {all}");
    }
    let text = format!(
        "{HEAD}\n{}\n{}\nOn average {:.1} runs of a system, the curve's included.\n",
        curve.text("## From one curve of one workload"),
        explained.text("## With scaling experiments"),
        explained.runs as f64 / all as f64
    );
    expect_test::expect_file!["../../../../docs/reference/limits.md"].assert_eq(&text);
}
