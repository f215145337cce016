//! A verdict against the truth.

use std::collections::BTreeMap;
use std::fmt::Write;

use analysis::Findings;
use analysis::curve::plateau::Inconclusive;
use analysis::verdict::{Answer, Gap, Limit, NAME_MIN, Verdict};
use analysis::work::Order;

use super::oracle::{self, Workload};
use super::systems::{Class, System};
use crate::testbed::{Access, Amounts};

/// Limits within this share of the lowest are all the truth.
const CLOSE: f64 = 0.08;
/// A statement that no limit was reached is right if the ceiling lies above the highest rate by at
/// least this share.
const ABOVE: f64 = 0.03;
/// Probability of a statement that is made without one.
const UNQUALIFIED: f64 = 0.99;

/// What became of one verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Grade {
    /// What it says is true.
    Right,
    /// It says that the data do not tell.
    NotEnoughData,
    /// What it says is false.
    Wrong,
}

/// One verdict, graded.
#[derive(Clone, Debug)]
pub struct Graded {
    /// What the system was meant to show.
    pub class: Class,
    /// What limits it, by arithmetic: the lowest ceiling and those close to it.
    pub truth: Vec<Limit>,
    /// What was said.
    pub answer: Answer,
    /// Whether that is true.
    pub grade: Grade,
    /// Probability that was stated; none where nothing was claimed.
    pub stated: Option<f64>,
    /// Probabilities of single causes that were printed, and whether each is the truth.
    pub candidates: Vec<(f64, bool)>,
    /// The candidates by name.
    pub listed: Vec<(Limit, f64)>,
    /// Runs that the measurement took.
    pub runs: usize,
}

/// Grades one verdict of a system.
pub fn grade(system: &System, verdict: &Verdict, findings: &Findings) -> Graded {
    let work = &verdict.work;
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

/// The amounts under each of the conditions that a session may meet: what limits under one of them
/// is the truth while it lasts.
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

/// Grades of many verdicts.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    all: Vec<Graded>,
}

/// Bounds of the classes of stated probability.
const STATED: [(f64, f64); 4] = [(0.90, 0.95), (0.95, 0.98), (0.98, 0.995), (0.995, 1.01)];
/// The same for candidates.
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

    /// Right, not enough data, wrong.
    pub fn counts(&self) -> (usize, usize, usize) {
        let of = |grade: Grade| self.all.iter().filter(|one| one.grade == grade).count();
        (of(Grade::Right), of(Grade::NotEnoughData), of(Grade::Wrong))
    }

    /// Wrong verdicts that were stated with at least 90 %.
    pub fn confident_and_wrong(&self) -> usize {
        let confident = |one: &&Graded| one.stated.is_some_and(|stated| stated >= NAME_MIN);
        self.all.iter().filter(confident).filter(|one| one.grade == Grade::Wrong).count()
    }

    /// The largest difference between stated probability and share of right statements, over the
    /// classes of stated probability with at least `least` statements.
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

/// One class of stated probability.
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
        .expect("a string takes it");
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
        let as_what = match &one.answer {
            Answer::Limited { by, .. } => {
                by.iter().map(|limit| limit.code()).collect::<Vec<_>>().join(" or ")
            }
            Answer::NotReached => "not_reached".to_owned(),
            Answer::NotEnoughData(_) => "cached".to_owned(),
        };
        *wrong.entry(as_what).or_default() += 1;
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
    .expect("a string takes it");
}
