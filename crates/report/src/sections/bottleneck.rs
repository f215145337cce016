//! The bottleneck of each curve; curves with the same answer share a paragraph.

use analysis::Findings;
use analysis::verdict::{Answer, Verdict};

use crate::document::{Block, Section};
use crate::verdict;

/// Evidence for a single curve; the JSON has all of it.
const EVIDENCE_MAX: usize = 4;
/// Evidence for each of several curves.
const EVIDENCE_MAX_EACH: usize = 2;

/// The section; `None` if nothing was measured.
pub(super) fn section(findings: &Findings) -> Option<Section> {
    let blocks: Vec<Block> =
        by_answer(findings).iter().flat_map(|same| of_answer(findings, same)).collect();
    (!blocks.is_empty()).then(|| Section {
        id: "bottleneck",
        title: "Bottleneck".to_owned(),
        blocks,
        method: vec!["Verdicts"],
    })
}

/// Verdicts grouped by their answer, in the order of the first of each group.
pub(super) fn by_answer(findings: &Findings) -> Vec<Vec<&Verdict>> {
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

fn of_answer(findings: &Findings, same: &[&Verdict]) -> Vec<Block> {
    let least = least_certain(same);
    let names: Vec<&str> = same.iter().map(|verdict| verdict.name.as_str()).collect();
    let mut blocks =
        vec![Block::Paragraph(format!("{}: {}", names.join("; "), verdict::headline(least)))];
    let max = if same.len() > 1 { EVIDENCE_MAX_EACH } else { EVIDENCE_MAX };
    let evidence = same.iter().flat_map(|verdict| {
        let lead = if same.len() > 1 { format!("{}: ", verdict.name) } else { String::new() };
        let shape = std::iter::once(verdict::shape(findings, verdict));
        let observed = verdict::evidence(verdict, max - 1);
        let sentences = shape.chain(observed);
        sentences.map(move |sentence| format!("{lead}{sentence}.")).collect::<Vec<_>>()
    });
    blocks.push(Block::List(evidence.collect()));
    let mut actions = verdict::advice(findings, least);
    if let Some((why, arguments)) = verdict::next_step(least) {
        actions.push(match arguments.is_empty() {
            true => why,
            false => format!("{why} Add to the command: `{arguments}`"),
        });
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
pub(super) fn least_certain<'a>(same: &[&'a Verdict]) -> &'a Verdict {
    let stated = |verdict: &Verdict| match &verdict.answer {
        Answer::Limited { probability, .. } => *probability,
        _ => 1.0,
    };
    same.iter()
        .copied()
        .min_by(|a, b| stated(a).total_cmp(&stated(b)))
        .expect("a group has at least one verdict")
}
