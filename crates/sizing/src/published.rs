//! Throughput of one volume and one host by the newest published figure, and the older figures that
//! contradict it.
//!
//! For: letting the newest row of `data/published.toml` decide and naming both rows where they
//! differ. The model of `predict`, fitted to all figures, scales a figure to other transfer sizes
//! and mixes: `capability = model x figure / model at the figure's load`. Not for: hosts and
//! datastores of Azure VMware Solution, which use the model directly.

use cloud::figure::{Figure, Mix, Protocol, Scope, Value};
use cloud::reason::RowRef;
use cloud::row::Status;
use cloud::service_level::VolumeKind;
use units::{BytesPerSec, Share};

use crate::claim::ClaimKind;
use crate::facts::Facts;
use crate::need::Demand;
use crate::statement::Contradiction;

/// Bytes in a KiB.
const KIB: f64 = 1024.0;
/// Figures that differ by at most this share agree.
const AGREE: f64 = 0.05;
/// A figure below this share of the volume's capability was limited by its host.
const HOST_LIMITED: f64 = 0.8;

/// The throughput of one volume or host for a demand.
#[derive(Clone, Debug, PartialEq)]
pub struct Capability {
    /// In KiB/s; infinite if unlimited.
    pub kib_s: f64,
    /// The evidence.
    pub kind: ClaimKind,
    /// The figures that decide; none if only the model does.
    pub by: Vec<RowRef>,
    /// The figures that disagree with them.
    pub contradictions: Vec<Contradiction>,
}

impl Capability {
    /// A prediction of the model.
    pub(crate) fn of_model(kib_s: f64, kind: ClaimKind) -> Capability {
        Capability { kib_s, kind, by: Vec::new(), contradictions: Vec::new() }
    }

    /// All rows behind it.
    pub fn rows(&self) -> Vec<RowRef> {
        let others = self.contradictions.iter().map(|one| one.other.clone());
        self.by.iter().cloned().chain(others).collect()
    }

    /// The lowest value by any figure, in KiB/s.
    pub fn least_kib_s(&self) -> f64 {
        let factors = self.contradictions.iter().map(Contradiction::factor);
        self.kib_s * factors.fold(1.0, f64::min)
    }
}

/// The throughput of a figure in KiB/s; `None` for response times and unknown transfer sizes.
fn kib_s(figure: &Figure) -> Option<f64> {
    match figure.value {
        Value::Throughput(rate) => Some(rate.get() / KIB),
        Value::Rate(rate) => Some(rate.get() * figure.transfer_bytes? as f64 / KIB),
        Value::Seconds(_) => None,
    }
}

/// The share of reads of a figure, if it states one.
fn read(figure: &Figure) -> Option<Share> {
    match figure.read {
        Mix::Share(share) => Some(Share::from_permille((share * 1000.0).round() as u64)),
        Mix::Peak | Mix::Average | Mix::NotStated => None,
    }
}

/// The load of a figure, if it is a rate of one transfer size.
fn demand_of(figure: &Figure) -> Option<Demand> {
    Some(Demand {
        throughput: cloud::throughput::KibPerSec::new(kib_s(figure)? as u64),
        transfer_bytes: figure.transfer_bytes?,
        read: read(figure)?,
        access: figure.pattern?,
        names_per_s: 0,
    })
}

/// Figures for one volume of a kind with several Linux hosts.
fn of_volume(figure: &Figure, kind: VolumeKind) -> bool {
    figure.protocol == Protocol::Nfsv3
        && figure.esxi.is_none()
        && figure.scope == Scope::Volume
        && figure.volumes == 1
        && figure.volume == Some(kind)
        && figure.hosts != Some(1)
}

/// Figures for one host with several connections to one volume.
fn of_host(figure: &Figure, protocol: Protocol) -> bool {
    figure.protocol == protocol
        && figure.esxi.is_none()
        && figure.hosts == Some(1)
        && figure.nconnect != Some(1)
}

/// The processors of a figure's host.
fn vcpu(figure: &Figure, facts: &Facts) -> Option<u64> {
    facts.vm(figure.vm.as_deref()?).map(|vm| vm.vcpu)
}

/// Distance of two sizes: the logarithm of their ratio.
fn distance(one: u64, other: u64) -> f64 {
    (one.max(1) as f64 / other.max(1) as f64).ln().abs()
}

/// The newest figure nearest to a load, its ratio to the model, and the figures for the same load
/// that disagree with it.
struct Anchor<'a> {
    figure: &'a Figure,
    read: Share,
    ratio: f64,
    contradictions: Vec<Contradiction>,
}

/// The newest figure with this share of reads and the nearest transfer size.
fn anchor<'a>(
    figures: &[&'a Figure],
    share: Share,
    transfer_bytes: u64,
    model: &dyn Fn(&Demand) -> Option<f64>,
) -> Option<Anchor<'a>> {
    let of_mix = |figure: &&&Figure| read(figure) == Some(share);
    let of_mix: Vec<&&Figure> = figures.iter().filter(of_mix).collect();
    let current = of_mix.iter().filter(|figure| figure.origin.status == Status::Current);
    let newest = current.min_by(|a, b| {
        let far = |figure: &Figure| distance(figure.transfer_bytes.unwrap_or(1), transfer_bytes);
        far(a).total_cmp(&far(b)).then(b.origin.date.cmp(&a.origin.date))
    })?;
    let demand = demand_of(newest)?;
    let rate = kib_s(newest)?;
    let disagrees = |figure: &&&Figure| {
        figure.transfer_bytes == newest.transfer_bytes
            && figure.id != newest.id
            && kib_s(figure).is_some_and(|other| (other / rate - 1.0).abs() > AGREE)
    };
    let others = of_mix.iter().copied().filter(|figure| disagrees(figure));
    // On each side the figure that disagrees most.
    let mut contradictions: Vec<Contradiction> = others
        .filter_map(|figure| {
            Some(Contradiction {
                decides: newest.row_ref(),
                decides_throughput: BytesPerSec::new(rate * KIB),
                other: figure.row_ref(),
                other_throughput: BytesPerSec::new(kib_s(figure)? * KIB),
            })
        })
        .collect();
    let other = |one: &Contradiction| one.other_throughput.get();
    contradictions.sort_by(|a, b| other(a).total_cmp(&other(b)));
    let (lower, higher): (Vec<_>, Vec<_>) =
        contradictions.into_iter().partition(|one| one.factor() < 1.0);
    let ends = lower.into_iter().next().into_iter().chain(higher.into_iter().next_back());
    Some(Anchor {
        figure: newest,
        read: share,
        ratio: rate / model(&demand)?,
        contradictions: ends.collect(),
    })
}

/// The capability for a demand, by figures with shares of reads around it: their ratios to the
/// model are interpolated.
fn by_figures(
    figures: &[&Figure],
    demand: &Demand,
    model: &dyn Fn(&Demand) -> Option<f64>,
) -> Option<Capability> {
    let mut mixes: Vec<Share> = figures.iter().filter_map(|figure| read(figure)).collect();
    mixes.sort_unstable();
    mixes.dedup();
    let share = demand.read;
    let below = mixes.iter().rev().find(|mix| **mix <= share);
    let above = mixes.iter().find(|mix| **mix >= share);
    let at = |mix: Option<&Share>| anchor(figures, *mix?, demand.transfer_bytes, model);
    let (below, above) = (at(below), at(above));
    let (low, high) = match (&below, &above) {
        (Some(low), Some(high)) => (low, high),
        (Some(one), None) | (None, Some(one)) => (one, one),
        (None, None) => return None,
    };
    let from_low = |one: Share| one.permille().saturating_sub(low.read.permille()) as f64;
    let span = from_low(high.read);
    let weight = match span > 0.0 {
        true => from_low(share) / span,
        false => 0.0,
    };
    let ratio = low.ratio * (1.0 - weight) + high.ratio * weight;
    let mut anchors = vec![low];
    anchors.extend((span > 0.0).then_some(high));
    let sizes: Vec<u64> = figures
        .iter()
        .filter(|figure| anchors.iter().any(|a| read(figure) == Some(a.read)))
        .filter_map(|figure| figure.transfer_bytes)
        .collect();
    let is_same =
        |a: &&Anchor<'_>| a.read == share && a.figure.transfer_bytes == Some(demand.transfer_bytes);
    let is_between = below.is_some()
        && above.is_some()
        && sizes.iter().any(|size| *size <= demand.transfer_bytes)
        && sizes.iter().any(|size| *size >= demand.transfer_bytes);
    let kind = match anchors.iter().all(is_same) {
        true => ClaimKind::Published,
        false if is_between => ClaimKind::Derived,
        false => ClaimKind::Extrapolated,
    };
    Some(Capability {
        kib_s: model(demand)? * ratio,
        kind,
        by: anchors.iter().map(|anchor| anchor.figure.row_ref()).collect(),
        contradictions: anchors.iter().flat_map(|a| a.contradictions.iter().cloned()).collect(),
    })
}

/// The capability of one volume over NFS or SMB.
///
/// * `model` - the model's prediction for one volume of that kind, in KiB/s
pub(crate) fn volume(
    demand: &Demand,
    kind: VolumeKind,
    facts: &Facts,
    model: &dyn Fn(&Demand, VolumeKind) -> Option<f64>,
) -> Option<Capability> {
    // No figure is published for volumes in breakthrough mode.
    let seen = match kind {
        VolumeKind::Breakthrough => VolumeKind::Large,
        VolumeKind::Regular | VolumeKind::Large => kind,
    };
    let figures: Vec<&Figure> = facts
        .figures
        .iter()
        .filter(|figure| of_volume(figure, seen) && figure.pattern == Some(demand.access))
        .collect();
    let mut found = by_figures(&figures, demand, &|demand| model(demand, seen))?;
    if kind == VolumeKind::Breakthrough {
        found.kib_s *= model(demand, kind)? / model(demand, seen)?;
        found.kind = ClaimKind::Extrapolated;
    }
    Some(found)
}

/// The capability of one host, by the newest figure that a host limited, in proportion to the
/// number of processors; without one, by the model's rate per processor.
///
/// * `model` - the model's prediction for one processor, in KiB/s
pub(crate) fn host(
    demand: &Demand,
    processors: u64,
    is_smb: bool,
    facts: &Facts,
    model: &dyn Fn(&Demand) -> Option<f64>,
    volume: &dyn Fn(&Demand) -> Option<f64>,
) -> Option<Capability> {
    let of = |figure: &&Figure| {
        let protocol = if is_smb { Protocol::Smb } else { Protocol::Nfsv3 };
        of_host(figure, protocol) && figure.pattern == Some(demand.access)
    };
    let all: Vec<&Figure> = facts.figures.iter().filter(of).collect();
    let published = published_processors(facts);
    let nearest = published
        .iter()
        .copied()
        .min_by(|a, b| distance(*a, processors).total_cmp(&distance(*b, processors)))?;
    let by_model = model(demand)? * processors as f64;
    // A figure that the volume limited says nothing about the host.
    let is_limited = |figure: &&&Figure| {
        let Some(own) = demand_of(figure) else { return false };
        let least = volume(&own).unwrap_or(f64::INFINITY);
        is_smb || kib_s(figure).is_some_and(|rate| rate < HOST_LIMITED * least)
    };
    let of_size = |figure: &&&Figure| is_smb || vcpu(figure, facts) == Some(nearest);
    let limiting: Vec<&Figure> = all.iter().filter(of_size).filter(is_limited).copied().collect();
    let reference = |own: &Demand| Some(model(own)? * nearest as f64);
    let by_figure = by_figures(&limiting, demand, &reference);
    let within = |kind: ClaimKind| match published.contains(&processors) {
        true => kind,
        false
            if published.iter().any(|p| *p < processors)
                && published.iter().any(|p| *p > processors) =>
        {
            kind.max(ClaimKind::Derived)
        }
        false => ClaimKind::Extrapolated,
    };
    let Some(mut found) = by_figure else {
        let kind = within(ClaimKind::Derived);
        return Some(Capability::of_model(by_model, kind));
    };
    if is_smb {
        // The source does not state the size of its host; no host is assumed to do more.
        if found.kib_s >= by_model {
            return Some(Capability::of_model(by_model, ClaimKind::Extrapolated));
        }
        return Some(found);
    }
    found.kib_s *= processors as f64 / nearest as f64;
    found.kind = within(found.kind);
    Some(found)
}

/// Numbers of processors of Linux hosts with published figures, ascending.
pub fn published_processors(facts: &Facts) -> Vec<u64> {
    let figures = facts.figures.iter().filter(|figure| of_host(figure, Protocol::Nfsv3));
    let mut all: Vec<u64> = figures.filter_map(|figure| vcpu(figure, facts)).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// The most volumes and the most hosts of any published figure.
pub fn most_published(facts: &Facts) -> (u64, u64) {
    let volumes = facts.figures.iter().map(|figure| figure.volumes).max().unwrap_or(1);
    let hosts = facts.figures.iter().filter_map(|figure| figure.hosts).max().unwrap_or(1);
    (volumes, hosts)
}

/// The published number of processors nearest to `processors`; `None` if those are within the
/// published range.
pub fn extrapolated_from(processors: u64, facts: &Facts) -> Option<u64> {
    let published = published_processors(facts);
    let (least, most) = (*published.first()?, *published.last()?);
    let nearest = processors.clamp(least, most);
    (nearest != processors).then_some(nearest)
}
