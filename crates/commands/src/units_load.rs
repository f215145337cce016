//! What a number of units of a business metric offers, by a profile or an experiment file: `--profile NAME
//! --metric N` of `size`, and `profile` and `metric` of a topology.

use std::path::Path;

use anyhow::{Context, anyhow};
use settings::Diagnostic;
use units::nearest;
use workload::experiment::{Experiment, parse_with};
use workload::metric::Metric;
use workload::offered_load::{OfferedKind, offered};
use workload::overrides::Override;
use workload::plan::{Plan, TargetSpec};
use workload::profiles::{self, PROFILES};
use workload::resolve::{PlanTargets, ResolveOptions, resolve};

use crate::outcome::Failure;

/// Larger transfers are sent in parts of this size.
const TRANSFER_MAX: f64 = 1_048_576.0;

/// A number of units, and the name of their metric if the user gave it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Units {
    /// The number.
    pub count: u64,
    /// The name of the metric.
    pub metric: Option<String>,
}

/// The load of a number of units.
pub(crate) struct UnitsLoad {
    pub(crate) source: Source,
    pub(crate) experiment: Experiment,
    pub(crate) plan: Plan,
    pub(crate) metric: Metric,
    /// The operations of each workload variant.
    pub(crate) variants: Vec<(String, Vec<OfferedKind>)>,
}

/// A profile, or an experiment file.
pub(crate) struct Source {
    pub(crate) name: String,
    pub(crate) text: String,
    pub(crate) is_built_in: bool,
}

/// The load of a number of units of a profile or an experiment file.
///
/// # Errors
/// There is no such profile or file, it has no such metric, or a stream has no constant rate.
pub(crate) fn load(profile: &str, units: &Units) -> Result<UnitsLoad, Failure> {
    let source = source(profile)?;
    let of_source = |problems| Failure::problems(&source.text, problems);
    let experiment = parse_with(&source.text, &source.name, &[]).map_err(of_source)?;
    if experiment.metric.is_empty() {
        return Err(without_metric(&source));
    }
    let values = Override::option("--metric", "metric.values", &units.count.to_string());
    let experiment = parse_with(&source.text, &source.name, &[values]).map_err(of_source)?;
    let plan = plan(&experiment, &source).map_err(of_source)?;
    let metric = plan.metric.clone().ok_or_else(|| without_metric(&source))?;
    refuse_other_metric(&source, &metric, units)?;
    let mut variants: Vec<(String, Vec<OfferedKind>)> = Vec::new();
    for run in plan.known_runs() {
        let kinds = offered(run).map_err(|error| {
            Failure::input(anyhow!(
                "profile {}: stream `{}` follows a schedule, so its rate has no constant mean",
                source.name,
                error.stream
            ))
            .with_remedy("give its peak as a rate instead")
        })?;
        let one = (run.variant.clone(), kinds);
        if !variants.contains(&one) {
            variants.push(one);
        }
    }
    Ok(UnitsLoad { source, experiment, plan, metric, variants })
}

/// The built-in profile of this name, or if there is none the file.
fn source(profile: &str) -> Result<Source, Failure> {
    let name = profile.to_owned();
    if let Some(found) = profiles::profile(profile) {
        return Ok(Source { name, text: found.text.to_owned(), is_built_in: true });
    }
    if Path::new(profile).is_file() {
        let text = std::fs::read_to_string(profile)
            .with_context(|| format!("read the experiment {profile}"))
            .map_err(Failure::input)?;
        return Ok(Source { name, text, is_built_in: false });
    }
    let names: Vec<&str> = PROFILES.iter().map(|one| one.name).collect();
    let near = nearest(profile, names).map(|near| format!("; did you mean `{near}`?"));
    let near = near.unwrap_or_default();
    let reason = anyhow!("profile {profile}: there is neither such a profile nor a file{near}");
    Err(Failure::input(reason).with_remedy(with_metric()))
}

/// The profiles with a metric.
fn with_metric() -> String {
    let of = |one: &profiles::Profile| Some(format!("{} ({})", one.name, one.plan().metric?.name));
    let all: Vec<String> = PROFILES.iter().filter_map(of).collect();
    format!("use one of {}", all.join(", "))
}

fn without_metric(source: &Source) -> Failure {
    let reason = anyhow!("profile {}: it has no business metric", source.name);
    Failure::input(reason).with_remedy(match source.is_built_in {
        true => with_metric(),
        false => "add [metric] with `name` and `values`; see docs/guide/metric.md".to_owned(),
    })
}

fn plan(experiment: &Experiment, source: &Source) -> Result<Plan, Vec<Diagnostic>> {
    let names: Vec<String> = experiment.targets.iter().map(|one| one.name.clone()).collect();
    let targets = match names.is_empty() {
        true => PlanTargets::from(TargetSpec::Null),
        false => PlanTargets { specs: names.iter().map(|_| TargetSpec::Null).collect(), names },
    };
    resolve(experiment, &source.name, targets, &ResolveOptions::LOCAL)
}

fn refuse_other_metric(source: &Source, metric: &Metric, units: &Units) -> Result<(), Failure> {
    let plain = |name: &str| name.to_lowercase().replace(['-', '_'], " ");
    match &units.metric {
        Some(given) if plain(given) != plain(&metric.name) => {
            let reason = anyhow!(
                "profile {}: `{given}` is not its metric, which is `{}`",
                source.name,
                metric.name
            );
            Err(Failure::input(reason).with_remedy(format!("--metric {}", units.count)))
        }
        _ => Ok(()),
    }
}

/// Reads and writes together, per second.
pub(crate) struct Transfers {
    /// Bytes.
    pub(crate) bytes: f64,
    /// Bytes of reads.
    pub(crate) read: f64,
    /// Operations, of which large ones are sent in several transfers.
    pub(crate) transfers: f64,
}

impl Transfers {
    pub(crate) fn of<'k>(kinds: impl Iterator<Item = &'k OfferedKind>) -> Transfers {
        let mut all = Transfers { bytes: 0.0, read: 0.0, transfers: 0.0 };
        for one in kinds.filter(|one| one.moves_data()) {
            let moved = one.rate * one.bytes;
            all.bytes += moved;
            all.transfers += moved / one.bytes.min(TRANSFER_MAX);
            all.read += if one.is_write { 0.0 } else { moved };
        }
        all
    }
}

/// An operation on a name that moves no data, of a kind with a published rate.
pub(crate) fn is_known(one: &OfferedKind, known: &[&str]) -> bool {
    !one.moves_data() && known.contains(&one.kind.name())
}
