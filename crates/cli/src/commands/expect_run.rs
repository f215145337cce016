//! `expect --run`: what was measured, as configurations that figures are set beside.

use analysis::bottleneck::{Known, Limit};
use analysis::load_point::LoadPoint;
use analysis::{Findings, analyze};
use cloud::figure::Access;
use metrics::run_record::ExperimentRecord;
use predict::expect::Configuration;
use report::expect::Measured;
use workload::pattern::AccessPattern;
use workload::plan::Step;

use crate::commands::expect::{nothing, of};
use crate::exit::Failure;
use crate::expect_args::ExpectArguments;

/// The load point of each variant with the largest rate, as a configuration with what was measured.
pub(super) fn loads(
    id: &str,
    arguments: &ExpectArguments,
) -> Result<Vec<(Configuration, Option<Measured>)>, Failure> {
    let store = arguments.store.open()?;
    let record = store.load(id).map_err(Failure::input)?;
    let findings = analyze(&record);
    let best = best_of_each(&findings);
    if best.is_empty() {
        return Err(nothing(&findings.id));
    }
    Ok(best.into_iter().map(|place| load(place, &record, &findings, arguments)).collect())
}

/// Places of the load points of each variant with the largest rate.
fn best_of_each(findings: &Findings) -> Vec<usize> {
    let rate = |place: &usize| {
        let data = &findings.load_points[*place].merged.total.data;
        data.achieved_rate.filter(|_| data.completed > 0).map_or(0.0, |rate| rate.value)
    };
    let mut best: Vec<usize> = Vec::new();
    for place in (0..findings.load_points.len()).filter(|place| rate(place) > 0.0) {
        let variant = &findings.load_points[place].variant;
        match best.iter_mut().find(|one| findings.load_points[**one].variant == *variant) {
            Some(one) if rate(one) >= rate(&place) => {}
            Some(one) => *one = place,
            None => best.push(place),
        }
    }
    best
}

fn load(
    place: usize,
    record: &ExperimentRecord,
    findings: &Findings,
    arguments: &ExpectArguments,
) -> (Configuration, Option<Measured>) {
    let point = &findings.load_points[place];
    let total = &point.merged.total;
    let data = &total.data;
    let Done { transfer_bytes, read, access } = done(record, point);
    let mut configuration = of(arguments, transfer_bytes, access, read);
    let known = Known::of(record);
    let value = |limit| known.limit(limit).map(|known| known.value);
    configuration.limit_bytes_per_s =
        configuration.limit_bytes_per_s.or_else(|| value(Limit::VolumeThroughput));
    if configuration.vm.is_none() {
        let size = environment(record, "vm.size");
        configuration.vm = size.and_then(|name| predict::topology_file::vm(name).ok());
    }
    if arguments.nconnect.is_none() {
        configuration.nconnect = connections(record, point);
    }
    configuration.outstanding = Some(point.queue_depth_total);
    configuration.floor_s = floor_s(findings, &point.variant);
    let limit = findings.limits.iter().find(|limit| limit.load_points.contains(&place));
    let measured = Measured {
        id: findings.id.clone(),
        variant: point.variant.clone(),
        ops_per_s: data.achieved_rate.map_or(0.0, |rate| rate.value),
        limited_by: limit.map(|found| (found.limit.name(), found.confidence)),
    };
    (configuration, Some(measured))
}

/// What a load point did.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Done {
    /// Mean bytes of an operation.
    pub(super) transfer_bytes: u64,
    /// The share of reads, 0 to 1.
    pub(super) read: f64,
    /// Where operations went.
    pub(super) access: Access,
}

/// What a load point did, from what it counted.
pub(super) fn done(record: &ExperimentRecord, point: &LoadPoint) -> Done {
    let total = &point.merged.total;
    let reads = total.kinds.iter().filter(|kind| kind.name == "read");
    let reads: u64 = reads.map(|kind| kind.completed).sum();
    let completed = total.data.completed.max(1);
    Done {
        transfer_bytes: (total.data.bytes / completed).max(1),
        read: reads as f64 / completed as f64,
        access: access(record, point),
    }
}

/// Random where any stream is: that is what costs.
fn access(record: &ExperimentRecord, point: &LoadPoint) -> Access {
    let runs = record.plan.steps.iter().map(|step| match step {
        Step::Fixed(run) => run,
        Step::Search(search) => &search.template,
    });
    let mut of_variant = runs.filter(|run| run.variant == point.variant);
    let is_sequential = of_variant.next().is_some_and(|run| {
        run.streams.iter().all(|s| matches!(s.access_pattern, AccessPattern::Sequential))
    });
    if is_sequential { Access::Sequential } else { Access::Random }
}

/// Connections of the load point, of the kernel's mount, or one.
fn connections(record: &ExperimentRecord, point: &LoadPoint) -> u64 {
    let own = point.runs.iter().map(|run| run.connections.len() as u64).max().unwrap_or(0);
    let mount = || environment(record, "mount.nconnect").and_then(|text| text.parse().ok());
    Some(own).filter(|count| *count > 0).or_else(mount).unwrap_or(1)
}

/// The response time of one operation at a time, where the variant was measured so.
fn floor_s(findings: &Findings, variant: &str) -> Option<f64> {
    let alone = findings
        .load_points
        .iter()
        .find(|point| point.variant == variant && point.queue_depth_total == 1)?;
    alone.merged.total.data.service.mean_ns.map(|mean| mean.value / 1e9)
}

fn environment<'r>(record: &'r ExperimentRecord, name: &str) -> Option<&'r str> {
    record.environment.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
}
