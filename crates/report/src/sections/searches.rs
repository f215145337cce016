//! The outcome of searches: load points, runs, and why they ended.

use analysis::Findings;
use analysis::search::Searched;

use crate::document::{Block, Section};
use crate::results::load_point_name;
use crate::verdict::words;

/// The section; `None` if the plan had no search.
pub(super) fn section(findings: &Findings) -> Option<Section> {
    let searches = &findings.searches;
    let sentences = searches.iter().map(|searched| sentence(searched, findings)).collect();
    (!searches.is_empty()).then(|| Section {
        id: "search",
        title: "Search".to_owned(),
        blocks: vec![Block::List(sentences)],
        method: vec!["Search"],
    })
}

fn sentence(searched: &Searched, findings: &Findings) -> String {
    let end = match searched.ended {
        Some(ended) => format!("it ended because {}", words::ended(ended)),
        None if searched.runs == 0 => return format!("{}: not started.", searched.name),
        None => "it was interrupted".to_owned(),
    };
    let mut sentence = format!(
        "{}: {} load points in {} runs; {end}.",
        searched.name,
        searched.load_points.len(),
        searched.runs
    );
    let lost = searched.load_points.iter().filter(|at| !findings.load_points[**at].is_whole());
    let lost = lost.count();
    if lost > 0 {
        sentence.push_str(&format!(
            " Hosts were lost, so the totals of {lost} of them are those of fewer hosts."
        ));
    }
    if !searched.not_converged.is_empty() {
        let names: Vec<String> = searched
            .not_converged
            .iter()
            .map(|index| load_point_name(&findings.load_points[*index]))
            .collect();
        sentence.push_str(&format!(
            " Did not reach the required precision within the allowed repeats: {}.",
            names.join("; ")
        ));
    }
    sentence
}
