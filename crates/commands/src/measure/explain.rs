//! `--explain`: replaces an experiment's load points by the scaling experiments that find the
//! bottleneck of each workload variant.

use std::path::Path;

use analysis::verdict::explain::{PossibleChanges, largest};
use anyhow::anyhow;
use host::Root;
use metrics::environment::Environment;
use workload::arrival::Arrival;
use workload::limit::{PriorKnowledge, StatedLimit};
use workload::plan::{Plan, Run, Step, TargetSpec};
use workload::scale::{RUNS_MAX, Scale};
use workload::search::{Repeats, Search, SearchMethod};

use crate::named_target::slots;
use crate::outcome::Failure;

/// The most outstanding operations for a target without slots: more than any system needed that the
/// search was tried on.
const OUTSTANDING_MAX: u32 = 1024;
/// Outstanding operations per slot of all connections: beyond 1, so that full slots can be
/// distinguished from a slow target.
const OVER_SLOTS: u32 = 8;
/// The most outstanding operations of a worker, as in the table of keys.
const QUEUE_DEPTH_MAX: u32 = 4096;
/// Memory for the buffers of outstanding operations.
const BUFFERS_MAX_BYTES: u64 = 1 << 30;

/// Turns each variant of `plan` into a search for its bottleneck.
///
/// # Errors
/// A variant has no load that can be scaled.
///
/// * `on_this_host` - this host measures, so its facts are known limits
pub(super) fn replace(
    plan: &mut Plan,
    stated: &[StatedLimit],
    on_this_host: bool,
) -> Result<(), Failure> {
    let root = Root::of_this_host();
    let mut environment = Environment::default();
    if on_this_host {
        environment = host::facts::of_host(&root).into_iter().collect();
        if let TargetSpec::Directory { path } = plan.target() {
            environment.extend(host::facts::of_target(&root, Path::new(path)));
        }
    }
    let known = PriorKnowledge { stated_limits: stated.to_vec(), ..environment.prior };
    let mut steps: Vec<Step> = Vec::new();
    for mut template in templates(plan)? {
        template.index = steps.len() as u32 * RUNS_MAX;
        steps.push(Step::Search(search(template, &plan.targets, &known)?));
    }
    plan.steps = steps;
    Ok(())
}

/// Adds the facts that are known only once the target is mounted to the plan's scaling experiments.
pub(super) fn add_facts(plan: &mut Plan, facts: &PriorKnowledge) {
    for step in &mut plan.steps {
        let Step::Search(Search { method: SearchMethod::Scale(scale), .. }) = step else {
            continue;
        };
        scale.known.complete_from(facts);
    }
}

/// The refusal to explain the bottleneck of an unsuitable experiment.
pub(super) fn refused(what: &str) -> Failure {
    Failure::input(anyhow!("explain the bottleneck {what}"))
}

/// The deepest run of each variant.
fn templates(plan: &Plan) -> Result<Vec<Run>, Failure> {
    let mut templates: Vec<Run> = Vec::new();
    for run in plan.model_runs() {
        let is_queue_depth = |key: &str| key.rsplit('.').next() == Some("queue_depth");
        if let Some((key, _)) = run.parameters.iter().find(|(key, _)| !is_queue_depth(key)) {
            return Err(refused(&format!(
                "over several values of `{key}`: scaling experiments start from one load and change \
                 one setting at a time; give it one value (--set {key}=...)"
            )));
        }
        let [stream] = &run.streams[..] else {
            return Err(refused(&format!(
                "of `{}`, which has {} concurrent streams: the results would not show which of them \
                 is limited; explain each in an experiment with one stream",
                run.variant,
                run.streams.len()
            )));
        };
        if stream.replay.is_some() {
            return Err(refused(&format!(
                "of `{}`, which replays a trace: scaling experiments change the operations; explain an \
                 experiment that offers a load like it (`fourcorners observe TRACE --output FILE`)",
                run.variant
            )));
        }
        if stream.arrival.users().is_some() {
            return Err(refused(&format!(
                "of `{}`, which has users: their pauses set the load; explain the same operations \
                 with `mix` and `queue_depth`",
                run.variant
            )));
        }
        if stream.names.is_some() {
            return Err(refused(&format!(
                "of `{}`, which has operations on names: scaling experiments change transfer size, \
                 order and direction, which these do not have; measure them at several depths \
                 (--set queue_depth=1,4,16,64)",
                run.variant
            )));
        }
        if stream.arrival != (Arrival::Closed { think_time_ns: 0 }) {
            return Err(refused(&format!(
                "of `{}`, which offers a fixed rate or waits between operations: only a closed load \
                 without think time reaches the limit (--set arrival=closed)",
                run.variant
            )));
        }
        match templates.iter_mut().find(|known| known.variant == run.variant) {
            Some(known) if known.streams[0].queue_depth >= stream.queue_depth => {}
            Some(known) => *known = run.clone(),
            None => templates.push(run.clone()),
        }
    }
    Ok(templates)
}

fn search(
    mut template: Run,
    targets: &[TargetSpec],
    known: &PriorKnowledge,
) -> Result<Search, Failure> {
    let (target, other_targets) = targets.split_first().expect("a plan has a target");
    template.parameters.clear();
    template.repeat = 0;
    template.connections = template.connections.or(target.connections());
    let queue_depth_max = queue_depth_max(&template, target)?;
    let may = PossibleChanges {
        connections: target.capabilities().own_client,
        direction: true,
        queue_depth_max,
    };
    let scale = Scale {
        connections: may.connections,
        direction: may.direction,
        queue_depth_max,
        known: known.clone(),
        target: target.clone(),
        other_targets: other_targets.to_vec(),
        largest: Box::new(largest(&template, may)),
    };
    Ok(Search {
        name: template.variant.clone(),
        template,
        method: SearchMethod::Scale(scale),
        repeats: Repeats::ONCE,
        runs_max: RUNS_MAX,
    })
}

/// The queue depth that a worker may reach: the experiment's, or more if memory and slots allow it.
fn queue_depth_max(template: &Run, target: &TargetSpec) -> Result<u32, Failure> {
    let stream = &template.streams[0];
    // A mount of each host for each target.
    let of_mounts = OUTSTANDING_MAX.saturating_mul(template.connection_parts());
    let most = slots(target, template)?
        .map_or(of_mounts, |slots| slots.saturating_mul(OVER_SLOTS))
        .div_ceil(stream.workers.max(1));
    let one = PossibleChanges { connections: false, direction: false, queue_depth_max: 1 };
    let mut unloaded = template.clone();
    unloaded.streams[0].queue_depth = 1;
    let largest = largest(&unloaded, one);
    let bytes =
        largest.streams[0].queue_depth_total() * largest.streams[0].transfer_size_max_bytes();
    let by_memory = u32::try_from(BUFFERS_MAX_BYTES / bytes.max(1)).unwrap_or(u32::MAX);
    Ok(most.min(QUEUE_DEPTH_MAX).min(by_memory).max(stream.queue_depth))
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use workload::resolve::{self, ResolveOptions};

    use super::*;

    fn plan() -> Plan {
        let text = "name = \"one\"\n[stream.main]\nread = \"100%\"\ntransfer_size = \"8KiB\"\n\
                    pattern = \"random\"\nfile_size = \"1MiB\"\nqueue_depth = 4\n";
        let experiment = workload::experiment::parse(text, "one.toml").expect("it is whole");
        let options = ResolveOptions::LOCAL;
        let url = "nfs://127.0.0.1/vol1".to_owned();
        let target = TargetSpec::Nfs { url, connections: Some(1) };
        let mut plan =
            resolve::resolve(&experiment, "one.toml", target.clone(), &options).expect("possible");
        let known = PriorKnowledge { processors: NonZeroU32::new(8), ..PriorKnowledge::default() };
        let template = templates(&plan).expect("one closed stream").remove(0);
        plan.steps = vec![Step::Search(search(template, &[target], &known).expect("it has slots"))];
        plan
    }

    #[test]
    fn scaling_experiments_take_in_the_round_trip_time_of_the_mounted_target() {
        let mut plan = plan();
        let facts = |processors| PriorKnowledge {
            processors: NonZeroU32::new(processors),
            null_round_trip_ns: Some(250_000),
            ..PriorKnowledge::default()
        };
        add_facts(&mut plan, &facts(2));
        let [Step::Search(Search { method: SearchMethod::Scale(scale), .. })] = &plan.steps[..]
        else {
            panic!("one search");
        };
        assert_eq!(scale.known, facts(8));
    }
}
