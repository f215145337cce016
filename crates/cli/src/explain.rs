//! `--explain`: in the place of an experiment's load points, the scaling experiments that find out
//! what limits each of its variants.

use std::path::Path;

use analysis::verdict::explain::{May, largest};
use analysis::verdict::known::is_of_use;
use anyhow::anyhow;
use host::Root;
use workload::arrival::Arrival;
use workload::plan::{Plan, Run, Step, TargetSpec};
use workload::scale::{RUNS_MAX, Scale};
use workload::search::{Repeats, Search, SearchMethod};

use crate::exit::Failure;
use crate::known;
use crate::named_target::slots;
use crate::run_args::ExperimentArguments;

/// Operations outstanding at most where there are no slots that could be full: more than any system
/// needed that a search was tried on.
const OUTSTANDING_MAX: u32 = 1024;
/// Over the slots of all connections, so that full slots can be told from a target that is slow.
const OVER_SLOTS: u32 = 8;
/// The most that a worker may have outstanding, as in the table of keys.
const QUEUE_DEPTH_MAX: u32 = 4096;
/// Memory for the transfers that are outstanding.
const BUFFERS_MAX_BYTES: u64 = 1 << 30;

/// Makes each variant of `plan` a search for what limits it.
///
/// # Errors
/// Where a variant has no load that could be scaled, or the arguments ask for what scaling
/// experiments decide themselves.
pub(crate) fn replace(plan: &mut Plan, arguments: &ExperimentArguments) -> Result<(), Failure> {
    let given =
        [("--repeats", arguments.repeats.is_some()), ("--until", arguments.until.is_some())];
    if let Some((flag, _)) = given.into_iter().find(|(_, given)| *given) {
        return Err(refused(&format!(
            "with {flag}: each scaling experiment is done once; leave the flag out"
        )));
    }
    let mut known: Vec<(String, String)> = known::entries(&arguments.known).collect();
    let root = Root::of_this_host();
    let mut facts = host::facts::environment(&root);
    if let TargetSpec::Directory { path } = &plan.target {
        facts.extend(host::facts::target_environment(&root, Path::new(path)));
    }
    known.extend(facts.into_iter().filter(|(name, _)| is_of_use(name)));
    let mut steps: Vec<Step> = Vec::new();
    for mut template in templates(plan)? {
        template.index = steps.len() as u32 * RUNS_MAX;
        steps.push(Step::Search(search(template, &plan.target, &known)?));
    }
    plan.steps = steps;
    Ok(())
}

/// Adds to the plan's scaling experiments what only the mounted target could say, `facts` being the
/// record's environment.
pub(crate) fn add_facts(plan: &mut Plan, facts: &[(String, String)]) {
    for step in &mut plan.steps {
        let Step::Search(Search { method: SearchMethod::Scale(scale), .. }) = step else {
            continue;
        };
        let new: Vec<_> = facts
            .iter()
            .filter(|(name, _)| {
                is_of_use(name) && scale.known.iter().all(|(known, _)| known != name)
            })
            .cloned()
            .collect();
        scale.known.extend(new);
    }
}

fn refused(what: &str) -> Failure {
    Failure::input(anyhow!("explain what limits the rate {what}"))
}

/// The deepest run of each variant.
fn templates(plan: &Plan) -> Result<Vec<Run>, Failure> {
    let mut templates: Vec<Run> = Vec::new();
    for run in plan.model_runs() {
        let asks = |key: &str| key.rsplit('.').next() == Some("queue_depth");
        if let Some((key, _)) = run.parameters.iter().find(|(key, _)| !asks(key)) {
            return Err(refused(&format!(
                "over several values of `{key}`: scaling experiments begin with one load and \
                 change one thing at a time themselves; give it one value (--set {key}=...)"
            )));
        }
        let [stream] = &run.streams[..] else {
            return Err(refused(&format!(
                "of `{}`, which has {} streams at a time: which of them is limited cannot be \
                 told; explain each alone (an experiment of one stream)",
                run.variant,
                run.streams.len()
            )));
        };
        if stream.arrival != (Arrival::Closed { think_time_ns: 0 }) {
            return Err(refused(&format!(
                "of `{}`, which offers a rate of its own or waits between operations: only a \
                 closed load without a think time goes to the limit (--set arrival=closed)",
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
    target: &TargetSpec,
    known: &[(String, String)],
) -> Result<Search, Failure> {
    template.parameters.clear();
    template.repeat = 0;
    template.connections = template.connections.or(target.connections());
    let queue_depth_max = queue_depth_max(&template, target)?;
    let may =
        May { connections: target.is_nfs(), direction: true, volumes: false, queue_depth_max };
    let scale = Scale {
        connections: may.connections,
        direction: may.direction,
        queue_depth_max,
        known: known.to_vec(),
        target: target.clone(),
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

/// For each worker: what the user asked for, or more where it is known to be harmless.
fn queue_depth_max(template: &Run, target: &TargetSpec) -> Result<u32, Failure> {
    let stream = &template.streams[0];
    let most = slots(target, template)?
        .map_or(OUTSTANDING_MAX, |slots| slots.saturating_mul(OVER_SLOTS))
        .div_ceil(stream.workers.max(1));
    let one = May { connections: false, direction: false, volumes: false, queue_depth_max: 1 };
    let mut alone = template.clone();
    alone.streams[0].queue_depth = 1;
    let largest = largest(&alone, one);
    let bytes =
        largest.streams[0].queue_depth_total() * largest.streams[0].transfer_size_max_bytes();
    let by_memory = u32::try_from(BUFFERS_MAX_BYTES / bytes.max(1)).unwrap_or(u32::MAX);
    Ok(most.min(QUEUE_DEPTH_MAX).min(by_memory).max(stream.queue_depth))
}

#[cfg(test)]
mod tests {
    use workload::plan::EngineChoice;
    use workload::resolve::{self, ResolveOptions};

    use super::*;

    fn plan() -> Plan {
        let text = "name = \"one\"\n[stream.main]\nread = \"100%\"\ntransfer_size = \"8KiB\"\n\
                    pattern = \"random\"\nfile_size = \"1MiB\"\nqueue_depth = 4\n";
        let experiment = workload::experiment::parse(text, "one.toml").expect("it is whole");
        let options = ResolveOptions { engine: EngineChoice::Auto, pin: false, verify: false };
        let url = "nfs://127.0.0.1/vol1".to_owned();
        let target = TargetSpec::Nfs { url, connections: Some(1) };
        let mut plan =
            resolve::resolve(&experiment, "one.toml", target.clone(), &options).expect("possible");
        let known = vec![("cpu.count".to_owned(), "8".to_owned())];
        let template = templates(&plan).expect("one closed stream").remove(0);
        plan.steps = vec![Step::Search(search(template, &target, &known).expect("it has slots"))];
        plan
    }

    #[test]
    fn scaling_experiments_keep_what_the_mounted_target_said() {
        let mut plan = plan();
        let fact = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let null = fact("target.null_round_trip_ns", "250000");
        add_facts(&mut plan, &[fact("cpu.count", "2"), fact("cpu.model", "any"), null.clone()]);
        let [Step::Search(Search { method: SearchMethod::Scale(scale), .. })] = &plan.steps[..]
        else {
            panic!("one search");
        };
        assert_eq!(scale.known, [fact("cpu.count", "8"), null]);
    }
}
