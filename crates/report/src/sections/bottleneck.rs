//! What limits each curve: curves with the same answer together.

use analysis::Findings;
use analysis::verdict::{Answer, Verdict};

use crate::document::{Block, Section};
use crate::verdict;

/// More evidence than this is in the JSON only.
const EVIDENCE_MAX: usize = 4;
/// The same for each of several curves.
const EVIDENCE_MAX_EACH: usize = 2;

/// The section; nothing where nothing was measured.
pub(super) fn section(findings: &Findings) -> Option<Section> {
    let blocks: Vec<Block> =
        alike(findings).iter().flat_map(|same| of_answer(findings, same)).collect();
    (!blocks.is_empty()).then(|| Section {
        id: "bottleneck",
        title: "Bottleneck".to_owned(),
        blocks,
        method: vec!["Verdicts"],
    })
}

/// Verdicts with the same answer, in the order of the first of each.
pub(super) fn alike(findings: &Findings) -> Vec<Vec<&Verdict>> {
    let mut groups: Vec<Vec<&Verdict>> = Vec::new();
    for verdict in findings.answers() {
        match groups.iter_mut().find(|group| is_same(&group[0].answer, &verdict.answer)) {
            Some(group) => group.push(verdict),
            None => groups.push(vec![verdict]),
        }
    }
    groups
}

/// The same causes; with what probability may differ.
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
    let least = least_sure(same);
    let names: Vec<&str> = same.iter().map(|verdict| verdict.name.as_str()).collect();
    let mut blocks =
        vec![Block::Paragraph(format!("{}: {}", names.join("; "), verdict::headline(least)))];
    let most = if same.len() > 1 { EVIDENCE_MAX_EACH } else { EVIDENCE_MAX };
    let evidence = same.iter().flat_map(|verdict| {
        let lead = if same.len() > 1 { format!("{}: ", verdict.name) } else { String::new() };
        let shape = std::iter::once(verdict::shape(findings, verdict));
        let observed = verdict::evidence(verdict, most - 1);
        shape.chain(observed).map(move |seen| format!("{lead}{seen}.")).collect::<Vec<_>>()
    });
    blocks.push(Block::List(evidence.collect()));
    let mut to_do = verdict::advice(findings, least);
    if let Some((why, arguments)) = verdict::next_step(least) {
        to_do.push(match arguments.is_empty() {
            true => why,
            false => format!("{why} Add to the command: `{arguments}`"),
        });
        if matches!(least.answer, Answer::NotEnoughData(_)) {
            to_do.push("Or let `run --explain` do the experiments one after another.".to_owned());
        }
    }
    if !to_do.is_empty() {
        blocks.push(Block::Paragraph("What to do:".to_owned()));
        blocks.push(Block::List(to_do));
    }
    blocks
}

/// What is said of several verdicts together is as sure as the least sure of them.
pub(super) fn least_sure<'a>(same: &[&'a Verdict]) -> &'a Verdict {
    let stated = |verdict: &Verdict| match &verdict.answer {
        Answer::Limited { probability, .. } => *probability,
        _ => 1.0,
    };
    same.iter()
        .copied()
        .min_by(|a, b| stated(a).total_cmp(&stated(b)))
        .expect("a group has at least one verdict")
}
