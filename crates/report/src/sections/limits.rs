//! What limits each curve, in plain words: curves with the same limit together.

use analysis::Findings;
use analysis::bottleneck::{Limit, LimitFinding};

use crate::document::{Block, Section};
use crate::number::probability;

/// More evidence than this is in the JSON only.
const EVIDENCE_MAX: usize = 4;
/// Candidates that are named where the answer is open.
const CANDIDATES_MAX: usize = 4;

/// The section; nothing where nothing was measured.
pub(super) fn section(findings: &Findings) -> Option<Section> {
    let mut limits: Vec<Limit> = Vec::new();
    for found in &findings.limits {
        if !limits.contains(&found.limit) {
            limits.push(found.limit);
        }
    }
    let blocks: Vec<Block> = limits
        .into_iter()
        .flat_map(|limit| {
            let same = findings.limits.iter().filter(|found| found.limit == limit);
            of_limit(limit, &same.collect::<Vec<_>>())
        })
        .collect();
    (!blocks.is_empty()).then(|| Section {
        id: "limits",
        title: "What limits it".to_owned(),
        blocks,
        method: vec!["Limits"],
    })
}

fn of_limit(limit: Limit, found: &[&LimitFinding]) -> Vec<Block> {
    let mut blocks = Vec::new();
    let names: Vec<String> = found.iter().map(|one| named(one)).collect();
    let words = match limit {
        Limit::Unknown => "What was measured does not tell what limits".to_owned(),
        Limit::NotReached => "No limit was reached".to_owned(),
        limit => sentence(limit.name()),
    };
    blocks.push(Block::Paragraph(format!("{words}: {}.", names.join("; "))));
    let evidence = found.iter().flat_map(|one| {
        let lead = if found.len() > 1 { format!("{}: ", one.name) } else { String::new() };
        let most = if found.len() > 1 { 2 } else { EVIDENCE_MAX };
        one.evidence.iter().take(most).map(move |seen| format!("{lead}{}", seen.seen))
    });
    blocks.push(Block::List(evidence.collect()));
    let Some(first) = found.first() else { return blocks };
    let mut next: Vec<String> = first.remedy.clone();
    if let Some(experiment) = &first.experiment {
        next.push(experiment.why.clone());
        if !experiment.arguments.is_empty() {
            next.push(format!("Add to the command: `{}`", experiment.arguments));
        }
    }
    blocks.push(Block::Paragraph("What to do:".to_owned()));
    blocks.push(Block::List(next));
    blocks
}

/// The curve's name with how sure the answer is, or with what is possible.
fn named(found: &LimitFinding) -> String {
    if found.limit != Limit::Unknown {
        return format!("{} ({} sure)", found.name, probability(found.confidence));
    }
    let candidates = found.candidates.iter().filter(|c| c.limit != Limit::Unknown);
    let candidates: Vec<String> = candidates
        .take(CANDIDATES_MAX)
        .map(|c| format!("{} {}", c.limit.name(), probability(c.probability)))
        .collect();
    match candidates.is_empty() {
        true => found.name.clone(),
        false => format!("{} (possible: {})", found.name, candidates.join(", ")),
    }
}

fn sentence(words: &str) -> String {
    let mut letters = words.chars();
    let first = letters.next().map(|letter| letter.to_uppercase().to_string());
    first.unwrap_or_default() + letters.as_str()
}
