//! A sizing for Azure VMware Solution as sections: recommendation, designs, datastores, inputs,
//! assumptions and reasons.

mod best;
mod existing;
pub mod json;
pub mod placement;
mod statements;
mod tables;
mod words;

use sizing::avs::Sizing;
use sizing::avs::current_estate::CurrentEstate;
use sizing::avs::senses::Senses;
use sizing::avs::statement::Reason;

use crate::document::{Block, Section};
use crate::sheet::{Sheet, reasons};

/// The inputs of a sizing.
#[derive(Clone, Debug, PartialEq)]
pub struct Source {
    /// Files of the inventory.
    pub files: Vec<String>,
    /// Sheets read, each with its number of rows.
    pub sheets: Vec<(String, usize)>,
    /// Missing sheets that would add information.
    pub absent: Vec<&'static str>,
    /// What was skipped or interpreted differently.
    pub notes: Vec<String>,
    /// Which figures of a machine count.
    pub senses: Senses,
    /// Whether the inventory has measured loads.
    pub has_loads: bool,
    /// Unconfirmed values of the load profile.
    pub unconfirmed: Option<Unconfirmed>,
    /// The current estate.
    pub today: CurrentEstate,
}

/// Values of a built-in load profile that no source confirms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unconfirmed {
    /// The profile.
    pub profile: String,
    /// Their keys.
    pub keys: Vec<String>,
}

/// A sizing as a sheet, the recommendation first.
pub fn sheet(sizing: &Sizing, source: &Source) -> Sheet {
    let mut sections = vec![
        Section {
            method: vec!["Hosts and datastores"],
            ..section("designs", "Designs", tables::designs(sizing, &tables::shown(sizing)))
        },
        section("cost", "Monthly cost of the datastores", best::chart(sizing)),
        section("datastores", "Datastores", best::datastores(sizing)),
        section("spread", "Machines on several datastores", words::spread(sizing)),
        section("misfits", "Disks that no datastore can hold", words::misfits(sizing)),
        section("use", "Use of resources", best::bars(sizing)),
    ];
    sections.retain(|section| !section.blocks.is_empty());
    let mut folded = vec![
        section("all-designs", "All designs", tables::every_design(sizing)),
        section("all-datastores", "All datastores", best::all_datastores(sizing)),
        section("needed", "Requirements", tables::needed(sizing)),
        section("loads", "Loads by class", tables::loads(sizing)),
        section("today", "Current estate", existing::blocks(&source.today)),
        section("read", "Inputs", words::read(sizing, source)),
        section("assumed", "Assumptions", words::assumed(sizing, source)),
        why(sizing),
    ];
    folded.retain(|section| !section.blocks.is_empty());
    Sheet {
        title: "Azure VMware Solution: hosts and datastores".to_owned(),
        answer: words::answer(sizing),
        sections,
        folded,
    }
}

/// The warnings of a sizing as sentences.
pub fn warnings(sizing: &Sizing) -> Vec<String> {
    sizing.warnings.iter().map(statements::warning).collect()
}

fn section(id: &'static str, title: &str, blocks: Vec<Block>) -> Section {
    Section { id, title: title.to_owned(), blocks, method: Vec::new() }
}

/// Each distinct reason, under the first heading that it applies to.
fn why(sizing: &Sizing) -> Section {
    let mut parts: Vec<(String, Vec<&Reason>)> =
        vec![("Hosts".to_owned(), sizing.hosts.reasons.iter().collect())];
    for design in &sizing.designs {
        let lacks = design.lacks.iter().map(|lack| &lack.reason);
        parts.push((design.name(), design.reasons.iter().chain(lacks).collect()));
    }
    parts.insert(1, ("Loads by class".to_owned(), sizing.loads.iter().collect()));
    let spread = sizing.spread.iter().map(|advice| &advice.reason).collect();
    parts.push(("Machines on several datastores".to_owned(), spread));
    let mut blocks = Vec::new();
    let mut seen: Vec<&Reason> = Vec::new();
    for (heading, mut new) in parts {
        new.retain(|reason| !seen.contains(reason));
        seen.extend(&new);
        if !new.is_empty() {
            blocks.push(Block::Heading(heading));
            blocks.push(reasons(&new.into_iter().map(statements::reason).collect::<Vec<_>>()));
        }
    }
    section("why", "Why", blocks)
}
