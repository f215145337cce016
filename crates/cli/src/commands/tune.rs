//! `tune`: the least concurrency that reaches a wanted rate. A search like any other: its runs are
//! done, kept and shown as those of `run`.

use analysis::tune::limit::most_bytes_per_s;
use anyhow::anyhow;
use units::BytesPerSec;
use workload::plan::{Plan, Run, Step, TargetSpec};
use workload::reach::Reach;
use workload::search::{Repeats, Search, SearchMethod};

use crate::commands::run;
use crate::exit::{Failure, Outcome};
use crate::experiment::{self, Laid, Own, Planned};
use crate::named_target::slots;
use crate::terminal::Terminal;
use crate::tune_args::TuneArguments;

/// What is measured unless the arguments say otherwise. The window is long enough that the rate is
/// known within a percent on a quiet system, and short enough for ten of them.
const EXPERIMENT: &str = r#"name = "tune"

[run]
warm_up = "2s"
measure = "10s"
interval = "500ms"

[stream.tune]
read = "100%"
transfer_size = "64KiB"
pattern = "sequential"
files = 4
file_size = "256MiB"
queue_depth = 1
workers = 1
"#;

/// More operations than any system that is tuned for was seen to need; a worker may have four times
/// as many.
const OUTSTANDING_MAX: u32 = 1024;
/// The most that a worker may have outstanding, as in the table of keys.
const QUEUE_DEPTH_MAX: u32 = 4096;
/// More runs than any search in the tests took.
const RUNS_MAX: u32 = 48;

pub(crate) fn run(arguments: &TuneArguments, terminal: &Terminal) -> Outcome {
    run::perform(&arguments.run, terminal, |terminal| plan(arguments, terminal))
}

/// The plan: one search.
fn plan(arguments: &TuneArguments, terminal: &Terminal) -> Result<Planned, Failure> {
    refuse(arguments)?;
    let mut laid = vec![
        Laid::new("--transfer-size", "transfer_size", &arguments.transfer_size),
        Laid::new("--read", "read", &arguments.read),
        Laid::new("--pattern", "pattern", &arguments.pattern),
        Laid::new("--workers", "workers", &arguments.workers),
        Laid::new("--files", "files", &arguments.files),
    ];
    let size = arguments.file_size.as_ref();
    laid.extend(size.map(|size| Laid::new("--file-size", "file_size", size)));
    let nconnect = arguments.nconnect.as_ref();
    laid.extend(nconnect.map(|count| Laid::new("--nconnect", "run.nconnect", count)));
    let own = Own { name: "tune", text: EXPERIMENT, laid, file_size_given: size.is_some() };
    let mut planned = experiment::plan_own(&arguments.run.experiment, own, terminal)?;
    let mut run = only_run(&planned.plan)?;
    run.connections = run.connections.or(planned.plan.target.connections());
    let reach = reach(arguments, &planned.plan.target, &run)?;
    let search = Search {
        name: run.variant.clone(),
        template: run.with_queue_depth(reach.outstanding_max),
        method: SearchMethod::Reach(reach),
        repeats: Repeats::ONCE,
        runs_max: RUNS_MAX,
    };
    planned.plan.steps = vec![Step::Search(search)];
    Ok(planned)
}

/// What `run` takes and a tuning decides by itself.
fn refuse(arguments: &TuneArguments) -> Result<(), Failure> {
    let experiment = &arguments.run.experiment;
    let given = [
        ("--workload", experiment.workload.is_some()),
        ("--profile", experiment.profile.is_some()),
        ("--repeats", experiment.repeats.is_some()),
        ("--until", experiment.until.is_some()),
        ("--explain", experiment.explain),
    ];
    match given.into_iter().find(|(_, given)| *given) {
        None => Ok(()),
        Some((flag, _)) => Err(Failure::input(anyhow!(
            "use {flag}: `tune` makes its own experiment (--transfer-size, --read, --pattern, \
             --set) and repeats what noise leaves open by itself; leave the flag out"
        ))),
    }
}

fn only_run(plan: &Plan) -> Result<Run, Failure> {
    match &plan.steps[..] {
        [Step::Fixed(run)] if run.parameters.is_empty() => Ok(run.clone()),
        _ => Err(Failure::input(anyhow!(
            "tune one load at a time: several values of a setting are a sweep, which `run` does"
        ))),
    }
}

fn reach(arguments: &TuneArguments, target: &TargetSpec, run: &Run) -> Result<Reach, Failure> {
    let stream = &run.streams[0];
    let wanted = arguments.want.bytes_per_s(stream.transfer_size_mean_bytes());
    if let TargetSpec::Emulated { .. } = target
        && wanted > most_bytes_per_s() as f64
    {
        return Err(Failure::input(anyhow!(
            "reach {}: no service level gives a volume more than {}",
            BytesPerSec::new(wanted),
            BytesPerSec::new(most_bytes_per_s() as f64)
        )));
    }
    let slots = slots(target, run)?;
    let by_workers = stream.workers.saturating_mul(QUEUE_DEPTH_MAX);
    let most = slots.map_or(by_workers, |slots| slots.min(by_workers));
    let outstanding_max = match arguments.outstanding_at_most {
        None => slots.unwrap_or(OUTSTANDING_MAX).min(by_workers),
        Some(asked) if asked <= most => asked,
        Some(asked) => {
            let why = match slots.filter(|slots| *slots == most) {
                Some(slots) => format!(
                    "the connections have slots for {slots} calls, and what is more would wait \
                     here; give them more (-o slots=, -o nconnect=)"
                ),
                None => format!(
                    "a worker has at most {QUEUE_DEPTH_MAX}; give it more workers (--workers)"
                ),
            };
            return Err(Failure::input(anyhow!("keep {asked} operations outstanding: {why}")));
        }
    };
    Ok(Reach {
        wanted: arguments.want,
        within_permille: arguments.within.permille(),
        outstanding_max,
        response_time_max_ns: arguments.response_time_at_most,
        hosts: arguments.hosts,
    })
}
