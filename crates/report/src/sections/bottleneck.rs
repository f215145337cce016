//! The bottleneck of each curve; curves with the same answer share a paragraph.

use std::collections::BTreeSet;
use std::ops::Range;

use analysis::Findings;
use analysis::curve::Curve;
use analysis::load_point::Summary;
use analysis::verdict::{Answer, Verdict};

use crate::document::{Block, Section};
use crate::results;
use crate::verdict::{self, Number};

/// The anchor of the section.
pub(crate) const BOTTLENECK: &str = "bottleneck";
/// Evidence for a single curve; the JSON has all of it.
const EVIDENCE_MAX: usize = 4;
/// Evidence for each of several curves.
const EVIDENCE_MAX_EACH: usize = 2;
/// More names are counted, not listed.
pub(super) const NAMES_MAX: usize = 8;

/// The section; `None` if nothing was measured.
pub(super) fn section(findings: &Findings) -> Option<Section> {
    let mut blocks: Vec<Block> =
        by_answer(findings).iter().flat_map(|same| of_answer(findings, same)).collect();
    let reason = without_verdict(findings).map(str::to_owned);
    blocks.extend(reason.map(Block::Paragraph));
    blocks.extend(covered(findings).filter(|_| !blocks.is_empty()).map(Block::Paragraph));
    (!blocks.is_empty()).then(|| Section {
        id: BOTTLENECK,
        title: "Bottleneck".to_owned(),
        blocks,
        method: vec!["Verdicts"],
    })
}

/// What totals and the verdict cover, if streams are not active all the time: a sentence.
pub(crate) fn covered(findings: &Findings) -> Option<String> {
    let covers = findings.load_points.iter().map(|point| point.merged.total.covers.as_ref());
    let mut covers: Vec<Option<&Range<u64>>> = covers.collect();
    covers.dedup();
    match covers[..] {
        [None] | [] => None,
        [Some(time)] if time.is_empty() => {
            Some("There are no totals, because at no time are all streams active.".to_owned())
        }
        [Some(time)] => Some(format!(
            "Totals and the verdict cover {} of the run, the time in which all streams are active; the \
             rows of a stream cover its own time.",
            results::time_words(time)
        )),
        _ => Some(
            "Totals and verdicts cover the time in which all streams of a run are active; the rows of \
             a stream cover its own time."
                .to_owned(),
        ),
    }
}

/// Why load points that were measured have no verdict; `None` if one of them has.
pub(crate) fn without_verdict(findings: &Findings) -> Option<&'static str> {
    let all = findings.load_points.iter().map(|point| &point.merged);
    let measured: Vec<&Summary> = all.filter(|merged| merged.is_measured()).collect();
    if findings.answers().next().is_some() {
        return None;
    }
    let has_no_total =
        |merged: &&Summary| merged.total.covers.as_ref().is_some_and(|time| time.is_empty());
    if !measured.is_empty() && measured.iter().all(has_no_total) {
        return Some("No verdict: at no time are all streams active, so there is no total.");
    }
    if measured.iter().any(|merged| merged.total.rate_varies) {
        return Some(
            "No verdict: the offered rate changes by plan, and a verdict needs a steady load. To \
             find the limit, measure constant rates or a closed loop.",
        );
    }
    if measured.iter().any(|merged| merged.total.users.is_some()) {
        return Some(
            "No verdict: the pauses of users, not a limit, set how many operations are in flight. To \
             find the limit, measure the same operations with `mix` and `queue_depth`.",
        );
    }
    measured.iter().any(|merged| merged.is_mixed()).then_some(
        "No verdict: a closed loop ran next to offered rates, so there is no single load. To find \
         the limit, measure the streams separately.",
    )
}

/// Verdicts grouped by their answer, in the order of the first of each group.
pub(crate) fn by_answer(findings: &Findings) -> Vec<Vec<&Verdict>> {
    let mut groups: Vec<Vec<&Verdict>> = Vec::new();
    for verdict in findings.answers() {
        match groups.iter_mut().find(|group| is_same(&group[0].answer, &verdict.answer)) {
            Some(group) => group.push(verdict),
            None => groups.push(vec![verdict]),
        }
    }
    groups
}

/// Whether two answers name the same limits; their probabilities may differ.
fn is_same(a: &Answer, b: &Answer) -> bool {
    match (a, b) {
        (Answer::Limited { by: a, .. }, Answer::Limited { by: b, .. }) => a == b,
        (Answer::NotReached, Answer::NotReached) => true,
        (Answer::NotEnoughData(a), Answer::NotEnoughData(b)) => {
            std::mem::discriminant(a) == std::mem::discriminant(b)
        }
        _ => false,
    }
}

/// An answer as the first screen of a page shows it.
pub(crate) struct Proven {
    /// The curves that it holds for.
    pub(crate) names: String,
    /// The answer in a sentence.
    pub(crate) headline: String,
    /// Whether it is about a limit; otherwise none was reached.
    pub(crate) is_limit: bool,
    /// The evidence in a sentence.
    pub(crate) evidence: String,
    /// The two numbers that prove it, if the measurements decide.
    pub(crate) numbers: Vec<Number>,
}

/// Each answer, with its evidence on the curve for which it is least certain.
pub(crate) fn proven(findings: &Findings) -> Vec<Proven> {
    let of_answer = |same: &Vec<&Verdict>| {
        let least = least_certain(same);
        let curves = curves(findings, same);
        let of_curve = match curves.as_slice() {
            [_] => String::new(),
            several => {
                let least = several.iter().find(|(_, one)| std::ptr::eq(*one, least));
                least.map_or(String::new(), |(name, _)| format!("{name}: "))
            }
        };
        Proven {
            names: listed(curves.iter().map(|(name, _)| name.as_str())),
            headline: verdict::headline(least),
            is_limit: least.answer != Answer::NotReached,
            evidence: sentence(&format!("{of_curve}{}", verdict::shape(findings, least))),
            numbers: verdict::proof(findings, least).map(Vec::from).unwrap_or_default(),
        }
    };
    by_answer(findings).iter().map(of_answer).collect()
}

/// With a capital letter and a full stop.
fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|letter| letter.to_uppercase().to_string());
    format!("{}{}.", first.unwrap_or_default(), letters.as_str())
}

/// The curves of verdicts with the same answer, by name. The points of a sweep that have a verdict
/// each are one curve, represented by the least certain of them.
fn curves<'a>(findings: &Findings, same: &[&'a Verdict]) -> Vec<(String, &'a Verdict)> {
    let answered: BTreeSet<usize> =
        same.iter().flat_map(|verdict| verdict.load_points.iter().copied()).collect();
    let of_curve = |curve: &Curve| {
        let points = || curve.points.iter().filter(|point| answered.contains(&point.load_point));
        let labels: Vec<&str> = points().map(|point| point.label.as_str()).collect();
        let name = match labels.len() == curve.points.len() {
            true => curve.name.clone(),
            false => format!("{}, {} {}", curve.name, curve.axis, listed(labels.into_iter())),
        };
        let indices: BTreeSet<usize> = points().map(|point| point.load_point).collect();
        let is_here = |one: &&&Verdict| one.load_points.iter().any(|at| indices.contains(at));
        let here: Vec<&Verdict> = same.iter().filter(is_here).copied().collect();
        (!here.is_empty()).then(|| (name, least_certain(&here)))
    };
    findings.curves.iter().filter_map(of_curve).collect()
}

/// Names, or the first of many.
pub(super) fn listed<'a>(names: impl ExactSizeIterator<Item = &'a str>) -> String {
    let more = names.len().saturating_sub(NAMES_MAX);
    let few: Vec<&str> = names.take(NAMES_MAX).collect();
    match more {
        0 => few.join("; "),
        more => format!("{}; and {more} more", few.join("; ")),
    }
}

fn of_answer(findings: &Findings, same: &[&Verdict]) -> Vec<Block> {
    let least = least_certain(same);
    let curves = curves(findings, same);
    let names = listed(curves.iter().map(|(name, _)| name.as_str()));
    let mut blocks = vec![Block::Paragraph(format!("{names}: {}", verdict::headline(least)))];
    let max = if curves.len() > 1 { EVIDENCE_MAX_EACH } else { EVIDENCE_MAX };
    let evidence = curves.iter().flat_map(|(name, verdict)| {
        let lead = if curves.len() > 1 { format!("{name}: ") } else { String::new() };
        let shape = std::iter::once(verdict::shape(findings, verdict));
        let observed = verdict::evidence(verdict, max - 1);
        let sentences = shape.chain(observed);
        sentences.map(move |sentence| format!("{lead}{sentence}.")).collect::<Vec<_>>()
    });
    blocks.push(Block::List(evidence.collect()));
    let mut actions = verdict::advice(findings, least);
    if let Some((why, arguments)) = verdict::next_step(least) {
        actions.push(verdict::next_in_words(findings, why, &arguments));
        if matches!(least.answer, Answer::NotEnoughData(_)) {
            actions.push("Or use `run --explain`, which runs these experiments.".to_owned());
        }
    }
    if !actions.is_empty() {
        blocks.push(Block::Paragraph("What to do:".to_owned()));
        blocks.push(Block::List(actions));
    }
    blocks
}

/// The verdict with the lowest probability, which holds for the whole group.
pub(crate) fn least_certain<'a>(same: &[&'a Verdict]) -> &'a Verdict {
    let stated = |verdict: &Verdict| match &verdict.answer {
        Answer::Limited { probability, .. } => *probability,
        _ => 1.0,
    };
    same.iter()
        .copied()
        .min_by(|a, b| stated(a).total_cmp(&stated(b)))
        .expect("a group has at least one verdict")
}
