//! Grades a verdict against the known truth.

use std::collections::BTreeMap;
use std::fmt::Write;

use analysis::Findings;
use analysis::curve::plateau::Inconclusive;
use analysis::verdict::{Answer, Gap, Limit, NAME_MIN, Verdict};
use analysis::workload_signature::Order;

use super::oracle::{self, Workload};
use super::systems::{Class, System};
use crate::testbed::{Access, Amounts};

/// All limits within this share of the lowest count as the truth.
const CLOSE: f64 = 0.08;
/// The statement that no limit was reached is right if the ceiling is above the highest rate by at
/// least this share.
const ABOVE: f64 = 0.03;
/// Probability of a statement without a stated probability.
const UNQUALIFIED: f64 = 0.99;

/// The grade of a verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Grade {
    /// Its statement is true.
    Right,
    /// It states that there is not enough data.
    NotEnoughData,
    /// Its statement is false.
    Wrong,
}

/// A graded verdict.
#[derive(Clone, Debug)]
pub struct Graded {
    /// The class of the system.
    pub class: Class,
    /// The lowest calculated ceiling and those close to it.
    pub truth: Vec<Limit>,
    /// The answer of the verdict.
    pub answer: Answer,
    /// The grade.
    pub grade: Grade,
    /// The stated probability; `None` if nothing was claimed.
    pub stated: Option<f64>,
    /// The printed probabilities of single causes, and whether each is the truth.
    pub candidates: Vec<(f64, bool)>,
    /// The candidates by name.
    pub listed: Vec<(Limit, f64)>,
    /// Number of runs of the measurement.
    pub runs: usize,
}

/// Grades one verdict of a system.
pub fn grade(system: &System, verdict: &Verdict, findings: &Findings) -> Graded {
    let work = &verdict.signature;
    let connections = match system.access {
        Access::OwnClient => f64::from(work.connections.unwrap_or(system.connections)),
        Access::Mount { connections } => f64::from(connections),
    };
    let workload = Workload {
        reads: work.read_share,
        size_bytes: work.transfer_bytes,
        sequential: work.order == Order::Sequential,
        connections,
        workers: f64::from(work.workers),
    };
    let mut truth: Vec<Limit> = Vec::new();
    let mut highest: f64 = 0.0;
    for amounts in conditions(&system.amounts) {
        let ceilings = oracle::ceilings(&amounts, &workload);
        let lowest = ceilings.iter().map(|(_, rate)| *rate).fold(f64::INFINITY, f64::min);
        let near = ceilings.iter().filter(|(_, rate)| *rate <= lowest * (1.0 + CLOSE));
        truth.extend(near.map(|(limit, _)| *limit));
        highest = highest.max(lowest);
    }
    truth.sort();
    truth.dedup();
    let top = &findings.load_points[verdict.top()];
    let rate = top.merged.total.achieved_rate_all_kinds().map_or(0.0, |rate| rate.value);
    let moves = matches!(system.class, Class::Moving | Class::BurstCredit | Class::Neighbour);
    let (grade, stated) = match &verdict.answer {
        Answer::Limited { by, probability } => {
            let right = by.iter().any(|limit| truth.contains(limit));
            let cached = system.class == Class::ClientCache;
            let grade = if right && !cached { Grade::Right } else { Grade::Wrong };
            (grade, Some(*probability))
        }
        Answer::NotReached => {
            let right = rate < highest * (1.0 - ABOVE);
            (if right { Grade::Right } else { Grade::Wrong }, Some(UNQUALIFIED))
        }
        Answer::NotEnoughData(Gap::End(Inconclusive::Stability(_))) if moves => {
            (Grade::Right, None)
        }
        Answer::NotEnoughData(Gap::Cached) => match system.class {
            Class::ClientCache => (Grade::Right, None),
            _ => (Grade::Wrong, Some(UNQUALIFIED)),
        },
        Answer::NotEnoughData(_) => (Grade::NotEnoughData, None),
    };
    let candidates = verdict
        .candidates
        .iter()
        .map(|candidate| (candidate.probability, truth.contains(&candidate.limit)))
        .collect();
    Graded {
        class: system.class,
        truth,
        answer: verdict.answer.clone(),
        grade,
        stated,
        listed: verdict.candidates.iter().map(|one| (one.limit, one.probability)).collect(),
        candidates,
        runs: findings.load_points.iter().map(|point| point.runs.len()).sum(),
    }
}

/// The amounts under each condition that can occur during a session; the limit under each of them
/// counts as the truth.
fn conditions(amounts: &Amounts) -> Vec<Amounts> {
    let scaled = |factor: f64| Amounts {
        volume: amounts.volume.map(|rate| rate * factor),
        endpoint: amounts.endpoint.map(|rate| rate * factor),
        operations: amounts.operations.map(|rate| rate * factor),
        ..amounts.clone()
    };
    let mut all = vec![amounts.clone()];
    all.extend(amounts.change.map(|change| scaled(change.factor)));
    all.extend(amounts.neighbour.map(|neighbour| scaled(1.0 - neighbour.share)));
    all.extend(amounts.credit.map(|credit| Amounts {
        volume: amounts.volume.map(|rate| rate * credit.peak),
        ..amounts.clone()
    }));
    all
}

/// The grades of many verdicts.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    all: Vec<Graded>,
}

/// Ranges of the stated probability.
const STATED: [(f64, f64); 4] = [(0.90, 0.95), (0.95, 0.98), (0.98, 0.995), (0.995, 1.01)];
/// Ranges of a candidate's probability.
const PRINTED: [(f64, f64); 7] = [
    (0.02, 0.10),
    (0.10, 0.25),
    (0.25, 0.50),
    (0.50, 0.75),
    (0.75, 0.90),
    (0.90, 0.98),
    (0.98, 1.01),
];

impl Tally {
    /// Adds verdicts.
    pub fn add(&mut self, graded: Vec<Graded>) {
        self.all.extend(graded);
    }

    /// Every verdict.
    pub fn all(&self) -> &[Graded] {
        &self.all
    }

    /// Number of verdicts that are right, without enough data, and wrong.
    pub fn counts(&self) -> (usize, usize, usize) {
        let of = |grade: Grade| self.all.iter().filter(|one| one.grade == grade).count();
        (of(Grade::Right), of(Grade::NotEnoughData), of(Grade::Wrong))
    }

    /// Number of wrong verdicts stated with at least 90 %.
    pub fn confident_and_wrong(&self) -> usize {
        let confident = |one: &&Graded| one.stated.is_some_and(|stated| stated >= NAME_MIN);
        self.all.iter().filter(confident).filter(|one| one.grade == Grade::Wrong).count()
    }

    /// The largest difference between stated probability and share of right statements, over the
    /// ranges with at least `least` statements.
    pub fn worst_calibration(&self, least: usize) -> f64 {
        self.stated()
            .into_iter()
            .filter(|row| row.count >= least)
            .fold(0.0, |worst: f64, row| worst.max((row.stated - row.right).abs()))
    }

    fn stated(&self) -> Vec<Calibration> {
        let statements =
            self.all.iter().filter_map(|one| Some((one.stated?, one.grade == Grade::Right)));
        rows(&STATED, &statements.collect::<Vec<_>>())
    }

    fn printed(&self) -> Vec<Calibration> {
        let candidates: Vec<(f64, bool)> =
            self.all.iter().flat_map(|one| one.candidates.iter().copied()).collect();
        rows(&PRINTED, &candidates)
    }

    /// The tables, as Markdown.
    pub fn text(&self) -> String {
        let mut text = String::new();
        text.push_str("| system | verdicts | right: one cause | two | three or four ");
        text.push_str("| not enough data | wrong, as |\n");
        text.push_str("| --- | --- | --- | --- | --- | --- | --- |\n");
        let mut classes: Vec<Class> = self.all.iter().map(|one| one.class).collect();
        classes.sort_by_key(|class| class.number());
        classes.dedup();
        for class in classes {
            let mine: Vec<&Graded> = self.all.iter().filter(|one| one.class == class).collect();
            row(&mut text, &class.name(), &mine);
        }
        row(&mut text, "all", &self.all.iter().collect::<Vec<_>>());
        text.push_str("\n| stated probability | statements | mean stated | right |\n");
        text.push_str("| --- | --- | --- | --- |\n");
        table(&mut text, &self.stated());
        text.push_str("\n| probability of a candidate | candidates | mean printed | true |\n");
        text.push_str("| --- | --- | --- | --- |\n");
        table(&mut text, &self.printed());
        text
    }
}

/// The calibration in one range of stated probability.
struct Calibration {
    bounds: (f64, f64),
    count: usize,
    stated: f64,
    right: f64,
}

fn rows(bounds: &[(f64, f64)], statements: &[(f64, bool)]) -> Vec<Calibration> {
    bounds
        .iter()
        .map(|(least, most)| {
            let mine = statements.iter().filter(|(stated, _)| (*least..*most).contains(stated));
            let mine: Vec<&(f64, bool)> = mine.collect();
            let count = mine.len();
            let share = |sum: f64| if count > 0 { sum / count as f64 } else { 0.0 };
            Calibration {
                bounds: (*least, *most),
                count,
                stated: share(mine.iter().map(|(stated, _)| *stated).sum()),
                right: share(mine.iter().filter(|(_, right)| *right).count() as f64),
            }
        })
        .collect()
}

fn table(text: &mut String, rows: &[Calibration]) {
    for row in rows.iter().filter(|row| row.count > 0) {
        let (least, most) = row.bounds;
        writeln!(
            text,
            "| {:.1} to {:.1} % | {} | {:.1} % | {:.1} % |",
            100.0 * least,
            100.0 * most.min(1.0),
            row.count,
            100.0 * row.stated,
            100.0 * row.right
        )
        .expect("writing to a string succeeds");
    }
}

fn row(text: &mut String, name: &str, mine: &[&Graded]) {
    let of = |grade: Grade| mine.iter().filter(move |one| one.grade == grade);
    let named = |count: usize| {
        of(Grade::Right)
            .filter(|one| match &one.answer {
                Answer::Limited { by, .. } => by.len() == count,
                _ => count == 1,
            })
            .count()
    };
    let mut wrong: BTreeMap<String, usize> = BTreeMap::new();
    for one in of(Grade::Wrong) {
        let stated = match &one.answer {
            Answer::Limited { by, .. } => {
                by.iter().map(|limit| limit.code()).collect::<Vec<_>>().join(" or ")
            }
            Answer::NotReached => "not_reached".to_owned(),
            Answer::NotEnoughData(_) => "cached".to_owned(),
        };
        *wrong.entry(stated).or_default() += 1;
    }
    let wrong: Vec<String> = wrong.iter().map(|(what, count)| format!("{count} {what}")).collect();
    let wrong = if wrong.is_empty() { "-".to_owned() } else { wrong.join(", ") };
    writeln!(
        text,
        "| {name} | {} | {} | {} | {} | {} | {wrong} |",
        mine.len(),
        named(1),
        named(2),
        named(3) + named(4),
        of(Grade::NotEnoughData).count()
    )
    .expect("writing to a string succeeds");
}
