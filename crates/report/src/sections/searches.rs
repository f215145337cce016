//! What became of the searches: how many load points, in how many runs, and why they ended.

use analysis::Findings;
use analysis::search::Searched;

use crate::document::{Block, Section};
use crate::rows;

/// The section, where the plan had a search.
pub(super) fn section(findings: &Findings) -> Option<Section> {
    let searches = &findings.searches;
    let words = searches.iter().map(|searched| words(searched, findings)).collect();
    (!searches.is_empty()).then(|| Section {
        id: "search",
        title: "Search".to_owned(),
        blocks: vec![Block::List(words)],
        method: vec!["Search"],
    })
}

fn words(searched: &Searched, findings: &Findings) -> String {
    let end = match searched.ended {
        Some(ended) => format!("it ended because {}", ended.because()),
        None if searched.runs == 0 => return format!("{}: it was not begun.", searched.name),
        None => "it was cut short".to_owned(),
    };
    let mut words = format!(
        "{}: {} load points in {} runs; {end}.",
        searched.name,
        searched.load_points.len(),
        searched.runs
    );
    if !searched.not_narrow.is_empty() {
        let names: Vec<String> = searched
            .not_narrow
            .iter()
            .map(|place| rows::load_point_name(&findings.load_points[*place]))
            .collect();
        words.push_str(&format!(
            " Not known as well as was asked for, after as many repeats as allowed: {}.",
            names.join("; ")
        ));
    }
    words
}
