//! Rates and response times of a network of queues.
//!
//! For: closed loads by mean value analysis (exact for one host and a limited number of operations,
//! otherwise approximate), open loads by the formulas of single queues. For sources and changes see
//! `docs/method.md`, section Prediction. [`crate::waits`] has the wait at a station.

use crate::network::{Network, Station};
use crate::several_classes;
use crate::waits::{
    BISECTIONS, alone_s, bound, demand_s, others, past_burst, utilization, variability,
};

/// The largest population for exact analysis, which computes every smaller one.
const EXACT_MAX: f64 = 4096.0;
/// The solution.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Solved {
    /// By class, operations per second.
    pub(crate) rates: Vec<f64>,
    /// By class, mean response time in seconds, including the wait for a slot.
    pub(crate) responses: Vec<f64>,
    /// By station, utilization, 0 to 1.
    pub(crate) utilizations: Vec<f64>,
}

/// Solves for closed loads: outstanding operations by class, over all its hosts.
pub(crate) fn closed(network: &Network, populations: &[f64]) -> Solved {
    let within: Vec<f64> = network
        .classes
        .iter()
        .zip(populations)
        .map(|(class, population)| population.min(class.slots).max(0.0))
        .collect();
    let rates = match &within[..] {
        [] => Vec::new(),
        [n] if network.classes[0].hosts <= 1.0 && *n <= EXACT_MAX => vec![exact(network, *n)],
        [n] => vec![one_class(network, *n)],
        several => several_classes::rates(network, several),
    };
    let responses = populations.iter().zip(&rates).map(|(n, rate)| n / rate).collect();
    let utilizations = network.stations.iter().map(|one| utilization(one, &rates)).collect();
    Solved { rates, responses, utilizations }
}

/// Solves for open loads: operations per second by class; `None` if a station is overloaded.
pub(crate) fn open(network: &Network, rates: &[f64]) -> Option<Solved> {
    let utilizations: Vec<f64> =
        network.stations.iter().map(|one| utilization(one, rates)).collect();
    if utilizations.iter().any(|busy| *busy >= 1.0) {
        return None;
    }
    let mut responses = Vec::new();
    for (index, class) in network.classes.iter().enumerate() {
        let mut response_s = alone_s(network, index, class);
        for (station, busy) in network.stations.iter().zip(&utilizations) {
            // Pollaczek and Khinchine: the mean waiting work, over arrivals of all classes.
            let v = if station.paces { 0.5 } else { 1.0 };
            let work: f64 = (0..rates.len())
                .map(|j| rates[j] / station.count * station.demands[j] * demand_s(station, j))
                .sum();
            let past = past_burst(network, station, *busy, v * demand_s(station, index));
            response_s += station.visits[index] * v * work / (1.0 - busy) * past;
        }
        responses.push(response_s);
    }
    let within = network.classes.iter().zip(rates).zip(&responses);
    if within.into_iter().any(|((class, rate), response_s)| rate * response_s > class.slots) {
        return None;
    }
    Some(Solved { rates: rates.to_vec(), responses, utilizations })
}

/// The lowest bound of one class.
fn least_bound(network: &Network, index: usize) -> f64 {
    network.stations.iter().map(|station| bound(station, index)).fold(f64::INFINITY, f64::min)
}

/// Exact mean value analysis of one class on one host: every population from 1 on.
fn exact(network: &Network, population: f64) -> f64 {
    let alone_s = alone_s(network, 0, &network.classes[0]);
    if population < 1.0 {
        return population / alone_s;
    }
    let most = least_bound(network, 0);
    let stations: Vec<(&Station, f64)> =
        network.stations.iter().map(|one| (one, variability(network, one, 0))).collect();
    let mut waiting = vec![0.0; stations.len()];
    let (mut rate, mut before) = (0.0, 0.0);
    let whole = population.floor() as u64;
    for n in 1..=whole + 1 {
        let n = n as f64;
        before = rate;
        let wait = |(index, (station, v)): (usize, &(&Station, f64))| {
            let busy = rate * station.demands[0] / station.count;
            let past = past_burst(network, station, busy, v * demand_s(station, 0));
            station.demands[0] * (waiting[index] + v * busy) * past
        };
        let waits: Vec<f64> = stations.iter().enumerate().map(wait).collect();
        let waits_s: f64 = waits.iter().sum();
        rate = (n / (alone_s + waits_s)).min(most);
        // Operations that the limit delays wait at it.
        let delayed_s = n / rate - alone_s - waits_s;
        for (index, (station, _)) in stations.iter().enumerate() {
            let is_bound = bound(station, 0) <= most;
            let delayed_s = if is_bound { delayed_s.max(0.0) } else { 0.0 };
            waiting[index] = rate * (waits[index] + delayed_s) / station.count;
        }
    }
    // Interpolate between whole numbers, for averages over hosts.
    before + (rate - before) * population.fract()
}

/// Approximation of Bard and Schweitzer for one class on any number of equal hosts: the waits
/// follow from the rate, and exactly one rate is consistent with all times.
fn one_class(network: &Network, population: f64) -> f64 {
    let class = &network.classes[0];
    let alone_s = alone_s(network, 0, class);
    if population <= 0.0 {
        return 0.0;
    }
    let stations: Vec<(&Station, f64, f64)> = network
        .stations
        .iter()
        .map(|one| (one, variability(network, one, 0), others(one, class, population)))
        .collect();
    let outstanding = |rate: f64| {
        let wait = |(station, v, others): &(&Station, f64, f64)| {
            let busy = rate * station.demands[0] / station.count;
            let past = past_burst(network, station, busy, v * demand_s(station, 0));
            let met = others * busy;
            past * station.demands[0] * v * met / (1.0 - past * met).max(f64::MIN_POSITIVE)
        };
        rate * (alone_s + stations.iter().map(wait).sum::<f64>())
    };
    let (mut low, mut high) = (0.0, least_bound(network, 0).min(population / alone_s));
    if outstanding(high) <= population {
        return high;
    }
    for _ in 0..BISECTIONS {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            break;
        }
        match outstanding(middle) <= population {
            true => low = middle,
            false => high = middle,
        }
    }
    low
}

#[cfg(test)]
mod tests {
    use cloud::figure::Access;
    use cloud::service_level::VolumeKind;
    use statistics::queueing::closed_rate;

    use super::*;
    use crate::parameter::Parameter;
    use crate::parameters::Parameters;
    use crate::topology::{Floor, HostGroup, Load, Topology, VolumeGroup, Workload};

    /// Hosts with 8 KiB reads, a volume with a demand of 1 ms, and a delay of `way_s`.
    fn network(hosts: u64, way_s: f64) -> Network {
        let topology = Topology {
            name: "known".to_owned(),
            floor: Some(Floor { mean_s: 1e-3 + way_s, spread: 0.0 }),
            burst_s: 0.0,
            hosts: vec![HostGroup::linux("host", hosts, 1)],
            endpoints: Vec::new(),
            volumes: vec![VolumeGroup::of("volume", 1, VolumeKind::Regular)],
            workloads: vec![Workload {
                name: "reads".to_owned(),
                hosts: 0,
                volumes: vec![0],
                transfer_bytes: 8192,
                read: 1.0,
                access: Access::Random,
                load: Load::Closed { outstanding: 1 },
                names: None,
            }],
        };
        Network::of(&topology, &Parameters::unbounded().with(Parameter::RegularRead, 1e-3))
    }

    #[test]
    fn one_exponential_server_after_a_delay_is_the_machine_repairman() {
        for (n, way_s) in [(1, 4e-3), (2, 4e-3), (5, 4e-3), (8, 4e-3), (40, 9e-3)] {
            let rate = closed(&network(1, way_s), &[f64::from(n)]).rates[0];
            let expected = closed_rate(f64::from(n), way_s, 1e-3, 1.0);
            assert!((rate / expected - 1.0).abs() < 1e-9, "{n}: {rate} and {expected}");
        }
    }

    #[test]
    fn the_approximation_is_close_to_the_exact_solution() {
        for (n, way_s) in [(1.0, 4e-3), (3.0, 4e-3), (5.0, 4e-3), (12.0, 4e-3), (100.0, 9e-3)] {
            let network = network(1, way_s);
            let (near, exact) = (one_class(&network, n), exact(&network, n));
            assert!((near / exact - 1.0).abs() < 0.05, "{n}: {near} and {exact}");
        }
    }

    #[test]
    fn up_to_one_operation_does_not_wait() {
        let network = network(1, 4e-3);
        for part in [0.25, 0.5, 1.0] {
            let rate = exact(&network, part);
            assert!((rate / (part / 5e-3) - 1.0).abs() < 1e-9, "{part}: {rate}");
        }
    }

    #[test]
    fn an_open_queue_with_exponential_demand_is_mm1_and_has_no_answer_when_it_is_full() {
        let network = network(4, 1e-3);
        let response_s = open(&network, &[800.0]).unwrap().responses[0];
        // A delay of 1 ms, and 1 ms / (1 - 0.8).
        assert!((response_s - 6e-3).abs() < 1e-12, "{response_s}");
        assert_eq!(open(&network, &[1000.0]), None);
    }

    #[test]
    fn ten_million_operations_cost_no_more_than_one() {
        let mut network = network(1000, 1e-3);
        network.classes[0].slots = 1e8;
        let solved = closed(&network, &[1e7]);
        assert!((solved.rates[0] - 1000.0).abs() < 1e-3, "{:?}", solved.rates);
        assert!((solved.responses[0] - 1e4).abs() < 0.1, "{:?}", solved.responses);
    }
}
