//! `size --profile NAME --metric N`: what N units of a business metric require.

use cloud::figure::{Access, name_kinds};
use cloud::throughput::KibPerSec;
use sizing::assumption::Assumption;
use sizing::business::{BusinessDemand, KindDemand, VariantDemand};
use sizing::facts::Facts;
use sizing::need::{Demand, Part};
use units::{Bytes, BytesPerSec, OpsPerSec, Share};
use workload::metric::ResponseTime;
use workload::offered_load::OfferedKind;

use crate::outcome::Failure;
use crate::units_load::{Transfers, Units, UnitsLoad, is_known, load};

/// From this share of the bytes on, random operations make the demand random: their capability is lower.
const RANDOM_SHARE: f64 = 0.1;

/// What the units require.
pub(super) struct BusinessNeed {
    pub(super) part: Part,
    pub(super) demand: BusinessDemand,
    /// The required mean response time, in nanoseconds.
    pub(super) response_time_ns: Option<u64>,
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
