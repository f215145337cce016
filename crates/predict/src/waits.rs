//! Demands, utilizations and waits at one station.
//!
//! The wait at a station is `d x (waiting + v x utilization)`: the demands of the waiting
//! operations, and the rest of the one in service. `v` is 1 for exponential demands, as in the
//! arrival theorem (Reiser and Lavenberg 1980); for a rate limit it is less (see [`variability`]),
//! and the limit's burst shortens waits (see [`past_burst`]).

use crate::network::{Class, Network, Station};

/// Steps of a bisection: a double has 53 digits.
pub(crate) const BISECTIONS: u32 = 200;
/// Spread of response times, in intervals of a limit, at which its effect on the order of arrivals
/// is half of the full one. Found by simulation; see `docs/method.md`.
const HALF_MIXED: f64 = 0.7;

/// Highest rate of a class alone at a station, in operations per second.
pub(crate) fn bound(station: &Station, class: usize) -> f64 {
    station.count / station.demands[class]
}

/// Utilization of one of the group's stations.
pub(crate) fn utilization(station: &Station, rates: &[f64]) -> f64 {
    let busy = rates.iter().zip(&station.demands).map(|(rate, demand)| rate * demand);
    busy.sum::<f64>() / station.count
}

/// Response time of a single operation: the floor, or the sum of demands if larger.
pub(crate) fn alone_s(network: &Network, index: usize, class: &Class) -> f64 {
    let queues = network.stations.iter().filter(|station| !station.paces);
    queues.map(|station| station.demands[index]).sum::<f64>().max(class.floor.mean_s)
}

/// Busy time of one visit.
pub(crate) fn demand_s(station: &Station, class: usize) -> f64 {
    match station.visits[class] {
        0.0 => 0.0,
        visits => station.demands[class] / visits,
    }
}

/// Mean remaining work of a busy server when an operation arrives, as a share of a demand.
///
/// 1 for exponential demands. For a rate limit it is half if operations arrive in random order, and
/// 0 if they arrive as evenly as the limit releases them. That depends on the spread of the times
/// between their visits, relative to the limit's interval.
pub(crate) fn variability(network: &Network, station: &Station, index: usize) -> f64 {
    if !station.paces {
        return 1.0;
    }
    let class = &network.classes[index];
    let interval_s = demand_s(station, index);
    let queues = network.stations.iter().filter(|other| !other.paces);
    let by_queues: f64 = queues.map(|other| demand_s(other, index).powi(2)).sum();
    let spread_s = ((class.floor.spread * class.floor.mean_s).powi(2) + by_queues).sqrt();
    if interval_s <= 0.0 || spread_s <= 0.0 {
        return 0.0;
    }
    let intervals = spread_s / interval_s;
    let mixed = intervals / (intervals + HALF_MIXED);
    ((1.0 + class.floor.spread) / 2.0 * mixed).min(1.0)
}

/// Factor by which a limit's burst shortens a wait.
///
/// The share of waiting work beyond a level `b` is `exp(-(1 - utilization) b / (v D))`, the tail of
/// a constant server's queue in heavy traffic (Kingman 1962). 1 without a burst.
pub(crate) fn past_burst(network: &Network, station: &Station, busy: f64, work_s: f64) -> f64 {
    if !station.paces || network.burst_s <= 0.0 {
        return 1.0;
    }
    if work_s <= 0.0 {
        return 0.0;
    }
    (-(1.0 - busy.min(1.0)) * network.burst_s / work_s).exp()
}

/// The share of outstanding operations that an arriving one can meet: all but itself.
pub(crate) fn others(station: &Station, class: &Class, population: f64) -> f64 {
    let chains = if station.is_private { class.hosts } else { 1.0 };
    (1.0 - chains / population).max(0.0)
}
