//! `size --profile NAME --metric N`: what N units of a business metric require.

use std::path::Path;

use anyhow::{Context, anyhow};
use cloud::figure::{Access, name_kinds};
use cloud::throughput::KibPerSec;
use settings::Diagnostic;
use sizing::assumption::Assumption;
use sizing::business::{BusinessDemand, KindDemand, VariantDemand};
use sizing::facts::Facts;
use sizing::need::{Demand, Part};
use units::{Bytes, BytesPerSec, OpsPerSec, Share, nearest};
use workload::experiment::{Experiment, parse_with};
use workload::metric::{Metric, ResponseTime};
use workload::offered_load::{OfferedKind, offered};
use workload::overrides::Override;
use workload::plan::{Plan, TargetSpec};
use workload::profiles::{self, PROFILES};
use workload::resolve::{PlanTargets, ResolveOptions, resolve};

use crate::outcome::Failure;

/// Larger transfers are sent in parts of this size.
const TRANSFER_MAX: f64 = 1_048_576.0;
/// From this share of the bytes on, random operations make the demand random: their capability is lower.
const RANDOM_SHARE: f64 = 0.1;

/// A number of units, and the name of their metric if the user gave it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Units {
    /// The number.
    pub count: u64,
    /// The name of the metric.
    pub metric: Option<String>,
}

/// What the units require.
pub(super) struct BusinessNeed {
    pub(super) part: Part,
    pub(super) demand: BusinessDemand,
    /// The required mean response time, in nanoseconds.
    pub(super) response_time_ns: Option<u64>,
}

/// The load of a number of units.
pub(crate) struct UnitsLoad {
    source: Source,
    experiment: Experiment,
    plan: Plan,
    metric: Metric,
    /// The operations of each workload variant.
    pub(crate) variants: Vec<(String, Vec<OfferedKind>)>,
}

/// A profile, or an experiment file.
struct Source {
    name: String,
    text: String,
    is_built_in: bool,
}

/// The requirement of `units` of a profile.
///
/// * `capacity_gib` - the required capacity; `None` for what the units store
pub(super) fn need(
    profile: &str,
    units: &Units,
    capacity_gib: Option<u64>,
    facts: &Facts,
    assumptions: &mut Vec<Assumption>,
) -> Result<BusinessNeed, Failure> {
    let load = load(profile, units)?;
    refuse_small_capacity(&load, units, capacity_gib)?;
    let UnitsLoad { source, metric, .. } = load;
    let known = name_kinds(&facts.figures);
    let mut demands: Vec<Demand> = Vec::new();
    for (_, kinds) in &load.variants {
        let demand = demand(kinds, &known);
        if !demands.contains(&demand) {
            demands.push(demand);
        }
    }
    let variants = load.variants.iter().map(|(name, kinds)| variant(name, kinds, &known)).collect();
    let capacity_gib = capacity_gib.unwrap_or_else(|| {
        let all = metric.capacity_bytes.unwrap_or(0).saturating_mul(units.count);
        all.div_ceil(1 << 30)
    });
    let inodes = metric.inodes.unwrap_or(0).saturating_mul(units.count);
    let (response_time_ns, percentile_max) = match metric.response_time {
        ResponseTime::Mean => (metric.response_time_max_ns, None),
        percentile => (None, metric.response_time_max_ns.map(|_| percentile.name())),
    };
    assumptions.push(Assumption::OfProfile { profile: source.name.clone() });
    if demands.iter().any(|demand| demand.names_per_s > 0) {
        assumptions.push(Assumption::NamesAsPublished);
    }
    Ok(BusinessNeed {
        part: Part { name: "data".to_owned(), capacity_gib, demands, inodes },
        demand: BusinessDemand {
            profile: source.name,
            is_built_in: source.is_built_in,
            units: units.count,
            metric: metric.name,
            variants,
            unit_capacity: metric.capacity_bytes.map(Bytes::new),
            unit_inodes: metric.inodes,
            percentile_max,
        },
        response_time_ns,
    })
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

/// Reads the file `profile`, or if there is none the built-in profile of this name.
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

/// Refuses a capacity below what the units store, or below the files of the profile if it does not
/// state that.
fn refuse_small_capacity(
    load: &UnitsLoad,
    units: &Units,
    capacity_gib: Option<u64>,
) -> Result<(), Failure> {
    let UnitsLoad { source, experiment, plan, metric, .. } = load;
    let Some(given) = capacity_gib.map(Bytes::gib) else { return Ok(()) };
    let (required, what) = match metric.capacity_bytes {
        Some(unit) => {
            let all = Bytes::new(unit.saturating_mul(units.count));
            let unit = Bytes::new(unit);
            (all, format!("{} {} x {unit} = {all}", units.count, metric.name))
        }
        None => (plan.bytes_needed(), format!("its files have {}", plan.bytes_needed())),
    };
    if given.get() >= required.get() {
        return Ok(());
    }
    let stated = experiment.metric.iter().find(|setting| setting.key.name == "capacity");
    let span = stated.map_or(&experiment.span, |setting| &setting.span);
    let wrong = format!("--capacity {given} is less than the working set: {what}");
    let wrong = span.diagnostic(wrong, format!("at least {required}"));
    let wrong = wrong.with_hint("omit --capacity, or lower --metric");
    Err(Failure::problems(&source.text, vec![wrong]))
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

/// Reads and writes as one demand, and the operations on names with a published rate.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "rates are finite")]
fn demand(kinds: &[OfferedKind], known: &[&str]) -> Demand {
    let Transfers { bytes, read, transfers } = Transfers::of(kinds.iter());
    let random = Transfers::of(kinds.iter().filter(|one| one.is_random)).bytes;
    let names = kinds.iter().filter(|one| is_known(one, known)).map(|one| one.rate);
    Demand {
        throughput: KibPerSec::new((bytes / 1024.0).ceil() as u64),
        transfer_bytes: if transfers > 0.0 { (bytes / transfers).round() as u64 } else { 4096 },
        read: match bytes > 0.0 {
            true => Share::from_permille((read / bytes * 1000.0).round() as u64),
            false => Share::WHOLE,
        },
        access: match random >= RANDOM_SHARE * bytes {
            true => Access::Random,
            false => Access::Sequential,
        },
        names_per_s: names.sum::<f64>().ceil() as u64,
    }
}

/// An operation on a name that moves no data, of a kind with a published rate.
pub(crate) fn is_known(one: &OfferedKind, known: &[&str]) -> bool {
    !one.moves_data() && known.contains(&one.kind.name())
}

fn variant(name: &str, kinds: &[OfferedKind], known: &[&str]) -> VariantDemand {
    let mut all: Vec<KindDemand> = Vec::new();
    for one in kinds {
        let moved = BytesPerSec::new(one.rate * one.bytes);
        let none = BytesPerSec::new(0.0);
        let (reads, writes) = if one.is_write { (none, moved) } else { (moved, none) };
        let is_counted = one.moves_data() || is_known(one, known);
        match all.iter_mut().find(|kind| kind.name == one.kind.name()) {
            // A read of another stream, or the content of a created file.
            Some(kind) => {
                let is_content = one.moves_data() && one.kind.is_on_names();
                let rate = if is_content { 0.0 } else { one.rate };
                kind.rate = OpsPerSec::new(kind.rate.get() + rate);
                kind.reads = BytesPerSec::new(kind.reads.get() + reads.get());
                kind.writes = BytesPerSec::new(kind.writes.get() + writes.get());
                kind.is_counted &= is_counted;
            }
            None => all.push(KindDemand {
                name: one.kind.name().to_owned(),
                rate: OpsPerSec::new(one.rate),
                reads,
                writes,
                is_counted,
            }),
        }
    }
    all.sort_by(|a, b| b.rate.get().total_cmp(&a.rate.get()));
    VariantDemand { name: name.to_owned(), kinds: all }
}
