//! `clean --experiment`: which files in a target belong to an experiment.
//!
//! The name of a file contains everything that its content depends on, so experiments on one target
//! share files. The stored plans show which experiment uses which file.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::anyhow;
use store::Store;
use workload::plan::{Plan, TargetSpec};

use crate::measure::experiment::{self, ExperimentOptions};
use crate::named_target;
use crate::outcome::Failure;

/// The files of some experiments.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Selected {
    /// Names of the files that no other stored experiment on the target uses.
    pub files: BTreeSet<String>,
    /// Files that other experiments use too, by the name of the experiment.
    pub shared: BTreeMap<String, u64>,
}

/// The files of the experiments with these names on `target`. A name is that of a stored experiment,
/// an ID, a label, or a built-in profile.
///
/// # Errors
/// No experiment has a name, or the store cannot be read.
pub fn files_of(store: &Store, target: &TargetSpec, names: &[String]) -> Result<Selected, Failure> {
    let listed = store.list().map_err(Failure::input)?;
    let on_target: Vec<(String, Plan)> = listed
        .into_iter()
        .filter_map(|one| Some((store.plan(&one.id).ok()?, one.id)))
        .filter(|(plan, _)| is_same(plan.target(), target))
        .map(|(plan, id)| (id, plan))
        .collect();
    let mut selected = Selected::default();
    let mut named = BTreeSet::new();
    for name in names {
        let id = store.resolve(name).ok();
        let is_named =
            |(own_id, plan): &&(String, Plan)| plan.name == *name || Some(own_id) == id.as_ref();
        let found: Vec<&(String, Plan)> = on_target.iter().filter(is_named).collect();
        match found.as_slice() {
            [] => selected.files.extend(file_names(&profile(name, target, &on_target)?)),
            _ => selected.files.extend(found.iter().flat_map(|(_, plan)| file_names(plan))),
        }
        named.extend(found.into_iter().map(|(id, _)| id));
    }
    for (_, plan) in on_target.iter().filter(|(id, _)| !named.contains(id)) {
        for file in file_names(plan) {
            if selected.files.remove(&file) {
                *selected.shared.entry(plan.name.clone()).or_default() += 1;
            }
        }
    }
    Ok(selected)
}

fn file_names(plan: &Plan) -> Vec<String> {
    let sets = plan.file_sets();
    let each = sets.iter().flat_map(|set| (0..set.files).map(|index| set.file_name(index)));
    each.collect()
}

/// The plan of a built-in profile, for files of experiments that are no longer stored.
fn profile(name: &str, target: &TargetSpec, on_target: &[(String, Plan)]) -> Result<Plan, Failure> {
    let options = ExperimentOptions {
        target: Some(target.in_words()),
        profile: Some(name.to_owned()),
        ..ExperimentOptions::default()
    };
    experiment::plan(&options).map(|planned| planned.plan).map_err(|_| {
        let known: BTreeSet<&str> = on_target.iter().map(|(_, plan)| plan.name.as_str()).collect();
        let known: Vec<&str> = known.into_iter().collect();
        let stored = match known.as_slice() {
            [] => "none is stored for this target".to_owned(),
            _ => units::unknown(name, &known),
        };
        Failure::input(anyhow!(
            "no experiment `{name}` was measured on {}: {stored}",
            target.in_words()
        ))
    })
}

/// Whether two targets have the same files: the same directory, or the same export whatever its
/// options.
fn is_same(one: &TargetSpec, other: &TargetSpec) -> bool {
    let export = |url: &str| url.split('?').next().unwrap_or_default().to_owned();
    match (one, other) {
        (TargetSpec::Directory { path: one }, TargetSpec::Directory { path: other }) => {
            named_target::is_same_directory(one, other)
        }
        (TargetSpec::Nfs { url: one, .. }, TargetSpec::Nfs { url: other, .. }) => {
            export(one) == export(other)
        }
        _ => false,
    }
}
