//! `clean --experiment`: which files in a target belong to an experiment.
//!
//! The name of a file contains everything that its content depends on, so experiments on one target
//! share files. The stored plans show which experiment uses which file.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::anyhow;
use store::Store;
use workload::plan::{Plan, TargetSpec};

use crate::measure::experiment::{self, ExperimentOptions, Planned};
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
    let on_target: Vec<(String, PlanOnTarget)> = listed
        .into_iter()
        .filter_map(|one| Some((store.plan(&one.id).ok()?, one.id)))
        .filter_map(|(plan, id)| Some((id, PlanOnTarget::of(plan, target)?)))
        .collect();
    let mut selected = Selected::default();
    let mut named = BTreeSet::new();
    for name in names {
        let id = store.resolve(name).ok();
        let is_named = |(own_id, on): &&(String, PlanOnTarget)| {
            on.plan.name == *name || Some(own_id) == id.as_ref()
        };
        let found: Vec<&(String, PlanOnTarget)> = on_target.iter().filter(is_named).collect();
        match found.as_slice() {
            [] => selected.files.extend(profile(name, target, &on_target)?.file_names()),
            _ => selected.files.extend(found.iter().flat_map(|(_, on)| on.file_names())),
        }
        named.extend(found.into_iter().map(|(id, _)| id));
    }
    for (_, on) in on_target.iter().filter(|(id, _)| !named.contains(id)) {
        for file in on.file_names() {
            if selected.files.remove(&file) {
                *selected.shared.entry(on.plan.name.clone()).or_default() += 1;
            }
        }
    }
    Ok(selected)
}

/// A plan, and which of its targets is meant.
struct PlanOnTarget {
    plan: Plan,
    position: usize,
}

impl PlanOnTarget {
    /// `None` if the plan does not use the target.
    fn of(plan: Plan, target: &TargetSpec) -> Option<PlanOnTarget> {
        let position = plan.targets.iter().position(|one| is_same(one, target))?;
        Some(PlanOnTarget { plan, position })
    }

    fn file_names(&self) -> Vec<String> {
        let sets = self.plan.file_sets(self.position);
        let each = sets.iter().flat_map(|set| (0..set.files).map(|index| set.file_name(index)));
        each.collect()
    }
}

/// The plan of a built-in profile, for files of experiments that are no longer stored.
fn profile(
    name: &str,
    target: &TargetSpec,
    on_target: &[(String, PlanOnTarget)],
) -> Result<PlanOnTarget, Failure> {
    let options = ExperimentOptions {
        target: Some(target.in_words()),
        profile: Some(name.to_owned()),
        ..ExperimentOptions::default()
    };
    let of_profile = |planned: Planned| PlanOnTarget { plan: planned.plan, position: 0 };
    experiment::plan(&options).map(of_profile).map_err(|_| {
        let known: BTreeSet<&str> = on_target.iter().map(|(_, on)| on.plan.name.as_str()).collect();
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
