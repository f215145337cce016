//! Weighs the explanations of one group's rate by Bayes' rule.
//!
//! For each explanation the likelihoods of independent observations are multiplied: that the rate
//! is flat at all; how the ceilings of the other groups lie to this one's, against what the
//! explanation predicts; whether the ceiling is one that is known beforehand; and what was seen
//! directly of processors, slots, network and evenness. The numbers here are judgements about
//! systems in general, held against simulated systems of which the truth is known
//! (`crates/sim/tests`): `docs/method.md` lists them.

use super::groups::{Group, State};
use super::known::Known;
use super::predict::{self, Prediction, Ratio};
use super::{Candidate, Limit};

/// How common each is before anything was measured: the order of the white paper's section 11.
const fn prior(limit: Limit) -> f64 {
    match limit {
        Limit::VolumeThroughput => 0.27,
        Limit::NetworkFlow => 0.15,
        Limit::Disk => 0.13,
        Limit::VmEgress | Limit::Link | Limit::ClientCpu | Limit::ServerSlots => 0.09,
        Limit::Endpoint | Limit::OperationsPerSecond => 0.07,
        Limit::NotReached => 0.20,
        Limit::Unknown => 0.003,
    }
}

/// Standard deviation of a ratio of two ceilings beyond what was measured of it.
const SIGMA: f64 = 0.025;
/// Share of ratios that are farther off than that.
const LOOSE_SHARE: f64 = 0.10;
/// Their standard deviation.
const LOOSE_SIGMA: f64 = 0.10;
/// Probability that another limit comes first where a ceiling was predicted to stay.
const OTHER_FIRST: f64 = 0.10;
/// The same where more operations or more bytes were predicted to pass: the next limit is near.
const OTHER_FIRST_RISING: f64 = 0.30;
/// A rise by more than this, as a logarithm.
const RISE_MIN: f64 = 0.2;
/// Probability that more was reached than a ceiling allows.
const EXCEEDED: f64 = 0.001;
/// Ceilings that nothing predicts may lie this far apart, as a logarithm.
const RANGE: f64 = 4.0;
/// Amounts of which nothing is known lie this far apart, as a logarithm: four decades.
const AMOUNT_RANGE: f64 = 9.2;

/// All explanations, the most probable first; they sum to 1. [`Limit::Unknown`] stands for what is
/// not among them.
pub(crate) fn candidates(group: &Group, all: &[Group], known: &Known) -> Vec<Candidate> {
    let limits = Limit::RESOURCES.into_iter().chain([Limit::NotReached, Limit::Unknown]);
    let mut candidates: Vec<Candidate> = limits
        .map(|limit| Candidate {
            limit,
            probability: prior(limit) * likelihood(limit, group, all, known),
        })
        .collect();
    let sum: f64 = candidates.iter().map(|candidate| candidate.probability).sum();
    for candidate in &mut candidates {
        candidate.probability /= sum;
    }
    candidates.sort_by(|a, b| b.probability.total_cmp(&a.probability));
    candidates
}

fn likelihood(limit: Limit, group: &Group, all: &[Group], known: &Known) -> f64 {
    let shape = of_state(limit, group.state);
    if known.absent.contains(&limit) {
        return 0.0;
    }
    if limit == Limit::NotReached {
        return shape * of_processors(limit, group, known) / AMOUNT_RANGE;
    }
    let processors = known.processors.map_or(f64::INFINITY, f64::from);
    let others: Vec<&Group> =
        all.iter().filter(|other| !same_circumstances(group, other)).collect();
    let direct = of_processors(limit, group, known)
        * of_slots(limit, group, known)
        * of_client_slots(limit, group, known)
        * of_network(limit, group)
        * of_evenness(limit, group);
    let forms = match predict::prediction(limit, group, processors) {
        Some(Prediction::Amount(forms)) => forms,
        Some(Prediction::Work(_, forms)) => {
            let form =
                |form: &predict::WorkForm| predict::Form { weight: form.weight, need: f64::NAN };
            forms.iter().map(form).collect()
        }
        None => Vec::new(),
    };
    // Without a form there is nothing to predict: whatever is seen is one of many things.
    if forms.is_empty() {
        let flat = others.iter().filter(|other| other.state == State::Flat).count();
        return shape * direct * (1.0 / RANGE).powi(flat as i32) / AMOUNT_RANGE;
    }
    let weighed = forms.iter().enumerate().map(|(place, form)| {
        let ratios =
            others.iter().map(|other| match predict::ratios(limit, group, other, processors) {
                Some(ratios) => of_ratio(ratios[place], group, other),
                None => of_ratio(Ratio::Any, group, other),
            });
        form.weight * of_amount(limit, form.need, group, known) * ratios.product::<f64>()
    });
    shape * direct * weighed.sum::<f64>()
}

/// Nothing differs that an explanation could depend on.
fn same_circumstances(group: &Group, other: &Group) -> bool {
    let (a, b) = (&group.work, &other.work);
    a.kind == b.kind
        && a.connections == b.connections
        && a.workers == b.workers
        && a.volumes == b.volumes
}

/// Whether it fits the curve's shape.
const fn of_state(limit: Limit, state: State) -> f64 {
    match (limit, state) {
        (Limit::NotReached, State::Flat) => 1e-4,
        (Limit::NotReached, State::Rising) => 100.0,
        (Limit::NotReached, _) => 1.0,
        (_, State::Flat) => 1.0,
        (_, State::Bent) => 0.2,
        (_, State::Rising) => 0.01,
        (_, State::Alone) => 0.5,
    }
}

/// How the ceiling of `other` lies to that of `group`, against the ratio that is predicted.
fn of_ratio(ratio: Ratio, group: &Group, other: &Group) -> f64 {
    // Of a rate that is not flat only the ceiling's lower bound is known.
    if group.state != State::Flat {
        return 1.0;
    }
    let found = (other.level / group.level).ln();
    let uncertainty = group.top().uncertainty.hypot(other.top().uncertainty) / 2.0;
    let sigma = SIGMA.hypot(uncertainty.min(0.2));
    if other.state != State::Flat {
        let most = match ratio {
            Ratio::Exactly(ratio) => ratio,
            Ratio::Between(_, most) => most,
            Ratio::Any => return 1.0,
        };
        let over = (found - most) / sigma;
        return if over > 0.0 { (-0.5 * over * over).exp().max(EXCEEDED) } else { 1.0 };
    }
    let more_bytes = (other.work.transfer_bytes / group.work.transfer_bytes).ln();
    let density = |ratio: f64| {
        let rises = ratio > RISE_MIN || ratio + more_bytes > RISE_MIN;
        density(found - ratio, sigma, if rises { OTHER_FIRST_RISING } else { OTHER_FIRST })
    };
    match ratio {
        Ratio::Exactly(ratio) => density(ratio),
        Ratio::Between(least, most) if found < least => density(least).min(1.0 / (most - least)),
        Ratio::Between(least, most) if found > most => density(most).min(1.0 / (most - least)),
        Ratio::Between(least, most) => (1.0 - OTHER_FIRST) / (most - least).max(sigma),
        Ratio::Any => 1.0 / RANGE,
    }
}

/// Density of a ratio that is `off` from what was predicted: near it, or with probability
/// `other_first` below it because another limit comes first there, and hardly ever above.
fn density(off: f64, sigma: f64, other_first: f64) -> f64 {
    let near = (1.0 - LOOSE_SHARE) * normal(off, sigma)
        + LOOSE_SHARE * normal(off, LOOSE_SIGMA.max(sigma));
    let elsewhere = if off < 0.0 { other_first } else { EXCEEDED };
    (1.0 - other_first) * near + elsewhere / RANGE
}

fn normal(off: f64, sigma: f64) -> f64 {
    (-0.5 * (off / sigma).powi(2)).exp() / (sigma * std::f64::consts::TAU.sqrt())
}

/// Whether the ceiling is the amount that is known beforehand; where nothing is, one of many.
fn of_amount(limit: Limit, need: f64, group: &Group, known: &Known) -> f64 {
    let Some(known) = known.limit(limit).filter(|_| need.is_finite()) else {
        return 1.0 / AMOUNT_RANGE;
    };
    let off = group.level.ln() + need - known.value.ln();
    // Headers are known roughly; the rest is what published limits and quotas hold.
    let sigma = match limit {
        Limit::VmEgress | Limit::Link => 0.05,
        _ => 0.02,
    };
    let near = normal(off, sigma);
    // Facts may be out of date, and a service may let more pass for a while.
    let elsewhere = if off < 0.0 { 0.02 } else { 0.005 };
    near + elsewhere / AMOUNT_RANGE
}

/// What the processors of this host did: likelihoods for the explanation at hand, and for others.
fn of_processors(limit: Limit, group: &Group, known: &Known) -> f64 {
    // Of a target that does nothing, all that is measured is this host.
    let alone = Limit::RESOURCES.iter().filter(|limit| !known.absent.contains(limit)).count() == 1;
    if alone && limit == Limit::ClientCpu {
        return 1.0;
    }
    let (cpu, others) = match busy(group, known) {
        Some(busy) if busy >= 0.95 => (0.90, 0.01),
        Some(busy) if busy >= 0.85 => (0.08, 0.03),
        Some(_) => (0.002, 0.90),
        None => (0.05, 0.90),
    };
    if limit == Limit::ClientCpu { cpu } else { others }
}

/// Share of the processors that are used where the rate is highest: of the busiest worker's, or of
/// the host's.
pub(crate) fn busy(group: &Group, known: &Known) -> Option<f64> {
    let top = group.top();
    let of_host = top.cpu_used.zip(known.processors).map(|(used, all)| used / f64::from(all));
    match (top.worker_busy, of_host) {
        (Some(worker), Some(host)) => Some(worker.max(host)),
        (one, other) => one.or(other),
    }
}

/// Calls at a time on one connection that would give this rate if none of them waited: as the
/// client holds its slots, there and back, and as a server holds its own, without the network.
pub(crate) fn slots_in_use(group: &Group) -> Option<(f64, f64)> {
    let connections = f64::from(group.work.connections?.max(1));
    let calls = group.work.calls_per_op.unwrap_or(1.0);
    let floor_s = group.floor_s?;
    let network_s = group.points[0].rtt_s.unwrap_or(0.0).min(0.9 * floor_s);
    let in_use = |held_s: f64| group.level * calls * held_s / connections;
    Some((in_use(floor_s), in_use(floor_s - network_s)))
}

/// Requests on a connection that servers are known to serve at a time (Azure NetApp Files: 128),
/// and round numbers.
const SERVER_SLOTS: [f64; 5] = [16.0, 32.0, 64.0, 128.0, 256.0];

/// Whether the rate is that of a round number of requests at a time on each connection.
fn of_slots(limit: Limit, group: &Group, known: &Known) -> f64 {
    if limit != Limit::ServerSlots {
        return 1.0;
    }
    let flat = group.state == State::Flat;
    let Some((there_and_back, served)) = slots_in_use(group).filter(|_| flat) else { return 0.1 };
    // Where the amount is known, it was looked at already.
    if known.limit(limit).is_some() {
        return 1.0;
    }
    let of_client = known.client_slots.map_or(f64::INFINITY, |slots| (there_and_back / slots).ln());
    let of_server = SERVER_SLOTS.iter().map(|slots| (served / slots).ln());
    let off = of_server.chain([of_client]).map(f64::abs).fold(f64::INFINITY, f64::min);
    AMOUNT_RANGE * (0.2 * normal(off, 0.05) + 0.01 / AMOUNT_RANGE)
}

/// Whether the slots of our own client are full, and if so, whether the calls in them wait.
///
/// Full slots alone say little: where anything else is full, they fill up in front of it. Full ones
/// whose calls come back as fast as a single one are themselves what is full.
pub(crate) fn client_slots(group: &Group, known: &Known) -> Option<ClientSlots> {
    let last = group.last();
    let slots = known.client_slots?;
    let connections = f64::from(group.work.connections?.max(1));
    let calls = group.work.calls_per_op.unwrap_or(1.0);
    let (outstanding, floor_s) = (last.calls_outstanding?, group.floor_s?);
    let asked = last.depth * calls / connections;
    let is_full = outstanding >= SLOTS_FULL * slots && asked > SLOTS_ASKED * slots;
    let call_s = outstanding * connections / (last.rate * calls);
    Some(ClientSlots { is_full, waiting: call_s / floor_s })
}

/// Share of the slots from which on they are called full.
const SLOTS_FULL: f64 = 0.97;
/// Calls that would be outstanding without slots, over the slots, from which on slots can matter.
const SLOTS_ASKED: f64 = 1.1;

/// The slots of our own client where most was asked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ClientSlots {
    pub(crate) is_full: bool,
    /// The time from a call's sending to its answer, over that of an operation alone.
    pub(crate) waiting: f64,
}

fn of_client_slots(limit: Limit, group: &Group, known: &Known) -> f64 {
    let found = client_slots(group, known).filter(|_| group.state == State::Flat);
    let (slots, others) = match found {
        Some(found) if found.is_full && found.waiting < 1.15 => (0.9, 0.02),
        // Not those of the client; the server's may be what they wait for.
        Some(found) if found.is_full && found.waiting > 1.5 => (0.3, 0.5),
        Some(found) if found.is_full => (0.1, 0.1),
        // The server's own may still be full.
        Some(_) => (0.3, 0.4),
        None => (1.0, 1.0),
    };
    if limit == Limit::ServerSlots { slots } else { others }
}

/// The share of the time that operations wait by which the network's round-trip time grew.
pub(crate) fn waits_in_network(group: &Group) -> Option<f64> {
    let (first, last) = (group.points[0], group.last());
    let waited_s = last.service_s - group.floor_s?;
    let grew_s = last.rtt_s? - first.rtt_s?;
    (group.points.len() > 1 && waited_s > group.floor_s? && last.depth > first.depth)
        .then(|| (grew_s / waited_s).max(0.0))
}

/// Whether the time that operations wait is spent in the network: packets queue there, and the
/// kernel sees it.
fn of_network(limit: Limit, group: &Group) -> f64 {
    let (network, others) = match waits_in_network(group).filter(|_| group.state == State::Flat) {
        Some(share) if share > 0.5 => (0.4, 0.02),
        Some(share) if share > 0.1 => (0.1, 0.08),
        // A limit may throttle without letting packets queue.
        Some(_) => (0.5, 0.9),
        None => (1.0, 1.0),
    };
    match limit {
        Limit::NetworkFlow | Limit::VmEgress | Limit::Link => network,
        _ => others,
    }
}

/// How evenly operations complete: what lets bytes or operations pass at a set rate does so evenly;
/// what works on each for as long as it takes does not.
fn of_evenness(limit: Limit, group: &Group) -> f64 {
    let dispersion = group.top().dispersion.filter(|_| group.state == State::Flat);
    let Some(dispersion) = dispersion else { return 1.0 };
    let even = dispersion < EVEN_MAX;
    match limit {
        Limit::Disk | Limit::ServerSlots => {
            if even {
                0.15
            } else {
                0.85
            }
        }
        _ => 0.5,
    }
}

/// Variance over mean of counts below which operations are let pass evenly; 1 is chance.
pub(crate) const EVEN_MAX: f64 = 0.1;
