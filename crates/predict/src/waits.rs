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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resource::{Resource, ResourceKind};
    use crate::topology::{Floor, Load};

    fn station(paces: bool, demand_s: f64) -> Station {
        Station {
            resource: Resource {
                kind: ResourceKind::HostProcessing,
                group: None,
                index: 0,
                name: String::new(),
            },
            count: 2.0,
            paces,
            is_private: false,
            visits: vec![2.0],
            demands: vec![demand_s],
        }
    }

    fn class(floor_s: f64, spread: f64) -> Class {
        Class {
            hosts: 4.0,
            slots: 8.0,
            floor: Floor { mean_s: floor_s, spread },
            load: Load::Closed { outstanding: 2 },
            transfer_bytes: 8192.0,
        }
    }

    fn network(stations: Vec<Station>, class: Class, burst_s: f64) -> Network {
        Network { classes: vec![class], stations, burst_s }
    }

    fn near(value: f64, expected: f64) {
        assert!((value - expected).abs() <= 1e-12, "{value} instead of {expected}");
    }

    #[test]
    fn a_station_is_busy_for_rate_times_demand_of_each_of_its_servers() {
        let station = station(false, 0.004);
        near(bound(&station, 0), 500.0);
        near(utilization(&station, &[125.0]), 0.25);
        near(demand_s(&station, 0), 0.002);
        near(demand_s(&Station { visits: vec![0.0], ..station }, 0), 0.0);
    }

    #[test]
    fn one_operation_takes_the_demands_of_queues_or_the_floor() {
        let stations = || vec![station(false, 0.004), station(false, 0.001), station(true, 1.0)];
        let short = network(stations(), class(0.002, 0.1), 0.0);
        near(alone_s(&short, 0, &short.classes[0]), 0.005);
        let long = network(stations(), class(0.02, 0.1), 0.0);
        near(alone_s(&long, 0, &long.classes[0]), 0.02);
    }

    #[test]
    fn rest_of_work_at_a_limit_depends_on_the_spread_of_visits() {
        let queue = station(false, 0.006);
        let limit = station(true, 0.004);
        let mixed = network(vec![queue.clone(), limit.clone()], class(0.02, 0.2), 0.0);
        near(variability(&mixed, &queue, 0), 1.0);
        // Spread of 4 ms by the floor and 3 ms by the queue: 5 ms, 2.5 intervals of 2 ms.
        near(variability(&mixed, &limit, 0), 1.2 / 2.0 * 2.5 / (2.5 + HALF_MIXED));
        // Nothing spreads visits.
        let even = network(vec![limit.clone()], class(0.02, 0.0), 0.0);
        near(variability(&even, &limit, 0), 0.0);
    }

    #[test]
    fn a_burst_absorbs_waits_except_at_full_utilization() {
        let limit = station(true, 0.004);
        let with = network(Vec::new(), class(0.001, 0.0), 0.02);
        near(past_burst(&with, &limit, 0.75, 0.005), (-1.0f64).exp());
        near(past_burst(&with, &limit, 1.0, 0.005), 1.0);
        near(past_burst(&with, &limit, 1.5, 0.005), 1.0);
        near(past_burst(&with, &limit, 0.75, 0.0), 0.0);
        near(past_burst(&with, &station(false, 0.004), 0.75, 0.005), 1.0);
        let without = network(Vec::new(), class(0.001, 0.0), 0.0);
        near(past_burst(&without, &limit, 0.75, 0.005), 1.0);
    }

    #[test]
    fn an_operation_meets_all_others_but_itself() {
        near(others(&station(false, 0.001), &class(0.001, 0.0), 8.0), 7.0 / 8.0);
        let private = Station { is_private: true, ..station(false, 0.001) };
        near(others(&private, &class(0.001, 0.0), 8.0), 0.5);
        near(others(&private, &class(0.001, 0.0), 2.0), 0.0);
    }
}
