//! A sizing for Azure VMware Solution, laid out: what was read, what is needed, the designs, the
//! datastores, what was taken for granted, and why each number is what it is.

mod existing;
pub mod json;
pub mod placement;
mod tables;
mod words;

use cloud::reason::Reason;
use sizing::avs::Sizing;
use sizing::avs::present::Today;

use crate::document::{Block, Section};
use crate::sheet::{Sheet, reasons};

/// What is said beside the sizing itself.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Source {
    /// Files that the inventory is from.
    pub files: Vec<String>,
    /// Sheets that were read, each with its rows.
    pub sheets: Vec<(String, usize)>,
    /// Sheets that would have said more and are not there.
    pub absent: Vec<&'static str>,
    /// What was skipped or taken in another sense.
    pub notes: Vec<String>,
    /// In which sense storage, memory and loads were taken, and what else was given.
    pub senses: Vec<String>,
    /// What is there today.
    pub today: Today,
}

/// The page: the verdict first. With `explain` the arithmetic of every design.
pub fn sheet(sizing: &Sizing, source: &Source, explain: bool) -> Sheet {
    let mut sections = vec![
        verdict(sizing),
        section("designs", "Designs", tables::designs(sizing)),
        section("datastores", "Datastores", tables::datastores(sizing)),
        section("spread", "Machines on several datastores", words::spread(sizing)),
        section("misfits", "Disks that no datastore holds", words::misfits(sizing)),
        section("needed", "What is needed", tables::needed(sizing)),
        section("loads", "Loads by class", tables::loads(sizing)),
        section("today", "What is there today", existing::blocks(&source.today)),
        section("read", "What was read", words::read(sizing, source)),
        section("assumed", "What was taken for granted", words::assumed(sizing, source)),
    ];
    if explain {
        sections.push(why(sizing));
    }
    sections.retain(|section| !section.blocks.is_empty());
    Sheet { title: "Azure VMware Solution: hosts and datastores".to_owned(), sections }
}

fn verdict(sizing: &Sizing) -> Section {
    let mut section = section("verdict", "Verdict", words::verdict(sizing));
    section.method = vec!["Hosts and datastores"];
    section
}

fn section(id: &'static str, title: &str, blocks: Vec<Block>) -> Section {
    Section { id, title: title.to_owned(), blocks, method: Vec::new() }
}

/// Every reason once, under the first of what it is a reason for.
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
    let mut said: Vec<&Reason> = Vec::new();
    for (heading, mut new) in parts {
        new.retain(|reason| !said.contains(reason));
        said.extend(&new);
        if !new.is_empty() {
            blocks.push(Block::Heading(heading));
            blocks.push(reasons(&new.into_iter().cloned().collect::<Vec<_>>()));
        }
    }
    section("why", "Why", blocks)
}
