//! What one volume and one host can do by the newest published figure for it, and which older
//! figures contradict that.
//!
//! For: letting the newest row of `data/published.toml` decide, with both rows named where they
//! differ. The model of `predict` is fitted to all figures together; here it carries a figure to
//! other transfer sizes and mixes: `capability = model x figure / model at the figure's load`. Not
//! for: hosts and datastores of Azure VMware Solution, for which the model is used as it is.

use cloud::figure::{Figure, Mix, Protocol, Scope, Value};
use cloud::reason::RowRef;
use cloud::row::Status;
use cloud::service_level::VolumeKind;

use crate::claim::ClaimKind;
use crate::facts::Facts;
use crate::need::{Demand, PERMILLE};

/// Bytes in a KiB.
const KIB: f64 = 1024.0;
/// Figures that differ by no more than this share agree.
const AGREE: f64 = 0.05;
/// A host that reached less than this share of what a volume reaches was what limited the figure.
const HOST_LIMITED: f64 = 0.8;

/// An older figure, or one with another method, that disagrees with the figure that decides.
#[derive(Clone, Debug, PartialEq)]
pub struct Contradiction {
    /// The figure that decides.
    pub decides: RowRef,
    /// What it says, in KiB/s for its own load.
    pub decides_kib_s: f64,
    /// The one that disagrees.
    pub other: RowRef,
    /// What it says, in KiB/s for the same load.
    pub other_kib_s: f64,
}

impl Contradiction {
    /// By it the capability would be this many times as large.
    pub fn factor(&self) -> f64 {
        self.other_kib_s / self.decides_kib_s
    }
}

/// What one of something can do with a demand.
#[derive(Clone, Debug, PartialEq)]
pub struct Capability {
    /// In KiB/s; infinite where nothing limits.
    pub kib_s: f64,
    /// What that rests on.
    pub kind: ClaimKind,
    /// The figures that decide; none where the model alone does.
    pub by: Vec<RowRef>,
    /// The figures that disagree with them.
    pub contradictions: Vec<Contradiction>,
}

impl Capability {
    /// By the model alone.
    pub(crate) fn of_model(kib_s: f64, kind: ClaimKind) -> Capability {
        Capability { kib_s, kind, by: Vec::new(), contradictions: Vec::new() }
    }

    /// All rows behind it.
    pub fn rows(&self) -> Vec<RowRef> {
        let others = self.contradictions.iter().map(|one| one.other.clone());
        self.by.iter().cloned().chain(others).collect()
    }

    /// `, by figure B09 of 2024-10-31`, or that it is fitted to all figures.
    pub fn source_words(&self) -> String {
        if self.by.is_empty() {
            return ", by the model that is fitted to all published figures".to_owned();
        }
        let names: Vec<String> =
            self.by.iter().map(|row| format!("{} of {}", row.row, row.date)).collect();
        format!(", by {}", names.join(" and "))
    }

    /// The least that any figure says of it, in KiB/s.
    pub fn least_kib_s(&self) -> f64 {
        let factors = self.contradictions.iter().map(Contradiction::factor);
        self.kib_s * factors.fold(1.0, f64::min)
    }
}

/// The rate of a figure in KiB/s; `None` of response times and operations of unknown size.
fn kib_s(figure: &Figure) -> Option<f64> {
    match figure.value {
        Value::BytesPerSec(rate) => Some(rate / KIB),
        Value::OpsPerSec(rate) => Some(rate * figure.transfer_bytes? as f64 / KIB),
        Value::Seconds(_) => None,
    }
}

/// The share of reads of a figure in thousandths, where it is one share.
fn read_permille(figure: &Figure) -> Option<u64> {
    match figure.read {
        Mix::Share(share) => Some((share * PERMILLE as f64).round() as u64),
        Mix::Peak | Mix::Average | Mix::NotStated => None,
    }
}

/// The load of a figure, if it is a rate of one kind of transfer.
fn demand_of(figure: &Figure) -> Option<Demand> {
    Some(Demand {
        throughput: cloud::throughput::KibPerSec::new(kib_s(figure)? as u64),
        transfer_bytes: figure.transfer_bytes?,
        read_permille: read_permille(figure)?,
        access: figure.pattern?,
    })
}

/// Figures of one volume of a kind with many Linux hosts.
fn of_volume(figure: &Figure, kind: VolumeKind) -> bool {
    figure.protocol == Protocol::Nfsv3
        && figure.esxi.is_none()
        && figure.scope == Scope::Volume
        && figure.volumes == 1
        && figure.volume == Some(kind)
        && figure.hosts != Some(1)
}

/// Figures of one host with several connections to one volume.
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

/// How far two sizes are apart: the logarithm of their ratio.
fn distance(one: u64, other: u64) -> f64 {
    (one.max(1) as f64 / other.max(1) as f64).ln().abs()
}

/// Of these figures the newest of those nearest to a load, with what it says over what the model
/// says, and the figures of the same load that disagree with it.
struct Anchor<'a> {
    figure: &'a Figure,
    permille: u64,
    ratio: f64,
    contradictions: Vec<Contradiction>,
}

/// The newest figure for one share of reads, of those with the nearest transfer size.
fn anchor<'a>(
    figures: &[&'a Figure],
    permille: u64,
    transfer_bytes: u64,
    model: &dyn Fn(&Demand) -> Option<f64>,
) -> Option<Anchor<'a>> {
    let of_mix = |figure: &&&Figure| read_permille(figure) == Some(permille);
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
    // Of those on either side the one that disagrees most.
    let mut contradictions: Vec<Contradiction> = others
        .filter_map(|figure| {
            Some(Contradiction {
                decides: newest.row_ref(),
                decides_kib_s: rate,
                other: figure.row_ref(),
                other_kib_s: kib_s(figure)?,
            })
        })
        .collect();
    contradictions.sort_by(|a, b| a.other_kib_s.total_cmp(&b.other_kib_s));
    let (lower, higher): (Vec<_>, Vec<_>) =
        contradictions.into_iter().partition(|one| one.factor() < 1.0);
    let ends = lower.into_iter().next().into_iter().chain(higher.into_iter().next_back());
    Some(Anchor {
        figure: newest,
        permille,
        ratio: rate / model(&demand)?,
        contradictions: ends.collect(),
    })
}

/// The capability for a demand by figures at shares of reads around its own: the ratio to the
/// model is interpolated between them.
fn by_figures(
    figures: &[&Figure],
    demand: &Demand,
    model: &dyn Fn(&Demand) -> Option<f64>,
) -> Option<Capability> {
    let mut mixes: Vec<u64> = figures.iter().filter_map(|figure| read_permille(figure)).collect();
    mixes.sort_unstable();
    mixes.dedup();
    let wanted = demand.read_permille;
    let below = mixes.iter().rev().find(|mix| **mix <= wanted);
    let above = mixes.iter().find(|mix| **mix >= wanted);
    let at = |mix: Option<&u64>| anchor(figures, *mix?, demand.transfer_bytes, model);
    let (below, above) = (at(below), at(above));
    let (low, high) = match (&below, &above) {
        (Some(low), Some(high)) => (low, high),
        (Some(one), None) | (None, Some(one)) => (one, one),
        (None, None) => return None,
    };
    let span = high.permille.saturating_sub(low.permille) as f64;
    let weight = match span > 0.0 {
        true => wanted.saturating_sub(low.permille) as f64 / span,
        false => 0.0,
    };
    let ratio = low.ratio * (1.0 - weight) + high.ratio * weight;
    let mut anchors = vec![low];
    anchors.extend((span > 0.0).then_some(high));
    let sizes: Vec<u64> = figures
        .iter()
        .filter(|figure| anchors.iter().any(|a| read_permille(figure) == Some(a.permille)))
        .filter_map(|figure| figure.transfer_bytes)
        .collect();
    let is_same = |a: &&Anchor<'_>| {
        a.permille == wanted && a.figure.transfer_bytes == Some(demand.transfer_bytes)
    };
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

/// What one volume reached over NFS or SMB can do.
///
/// * `model` - what the model says of one volume of that kind, in KiB/s
pub(crate) fn volume(
    demand: &Demand,
    kind: VolumeKind,
    facts: &Facts,
    model: &dyn Fn(&Demand, VolumeKind) -> Option<f64>,
) -> Option<Capability> {
    // Of volumes in breakthrough mode nothing is published.
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

/// What one host of so many processors can do: by the newest figure of a host that was itself the
/// limit, in proportion to its processors; without one, the model's rate for each processor.
///
/// * `model` - what the model says of one processor, in KiB/s
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
    // A figure that the volume explains says nothing of the host.
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
        // The source does not say how large its host was: no host is taken to do more than it.
        if found.kib_s >= by_model {
            return Some(Capability::of_model(by_model, ClaimKind::Extrapolated));
        }
        return Some(found);
    }
    found.kib_s *= processors as f64 / nearest as f64;
    found.kind = within(found.kind);
    Some(found)
}

/// The numbers of processors of Linux hosts with published figures, rising.
pub fn published_processors(facts: &Facts) -> Vec<u64> {
    let figures = facts.figures.iter().filter(|figure| of_host(figure, Protocol::Nfsv3));
    let mut all: Vec<u64> = figures.filter_map(|figure| vcpu(figure, facts)).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// The most volumes and the most hosts that any figure was published of.
pub fn most_published(facts: &Facts) -> (u64, u64) {
    let volumes = facts.figures.iter().map(|figure| figure.volumes).max().unwrap_or(1);
    let hosts = facts.figures.iter().filter_map(|figure| figure.hosts).max().unwrap_or(1);
    (volumes, hosts)
}

/// What over what a host is extrapolated: `16-fold from 32 processors`; `None` within the range.
pub fn extrapolation_words(processors: u64, facts: &Facts) -> Option<String> {
    let published = published_processors(facts);
    let (least, most) = (*published.first()?, *published.last()?);
    let fold = |large: u64, small: u64| {
        let fold = format!("{:.1}", large as f64 / small.max(1) as f64);
        fold.strip_suffix(".0").map_or(fold.clone(), str::to_owned)
    };
    match processors {
        few if few < least => {
            Some(format!("extrapolated {}-fold down from {least} processors", fold(least, few)))
        }
        many if many > most => {
            Some(format!("extrapolated {}-fold up from {most} processors", fold(many, most)))
        }
        _ => None,
    }
}
