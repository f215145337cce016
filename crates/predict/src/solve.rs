//! Rates and response times of a network of queues.
//!
//! For: closed loads by mean value analysis (exact where there is one host and not too many
//! operations, else approximate), open loads by the formulas of single queues. The sources and what
//! we changed are in `docs/method.md`, section Prediction.
//!
//! A wait at a station is `d x (waiting + v x utilization)`: the operations that wait there, each
//! for its demand, and what is left of the one in service. `v` is 1 for exponential demands, which
//! makes it the arrival theorem (Reiser and Lavenberg 1980); for a limit that paces evenly it is
//! less (see [`variability`]), and what it lets pass at once shortens waits (see [`past_burst`]).

use crate::meeting;
use crate::network::{Class, Network, Station};

/// The largest population for which every smaller one is gone through.
const EXACT_MAX: f64 = 4096.0;
/// Steps of a bisection: a double has 53 digits.
pub(crate) const BISECTIONS: u32 = 200;
/// At this many intervals of a limit the spread of response times is half as good as none of the
/// order in which operations come. Found by simulation; see `docs/method.md`.
const HALF_MIXED: f64 = 0.7;

/// What came out.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Solved {
    /// By class, operations per second.
    pub(crate) rates: Vec<f64>,
    /// By class, mean response time in seconds, with the wait for a slot.
    pub(crate) responses: Vec<f64>,
    /// By station, 0 to 1.
    pub(crate) utilizations: Vec<f64>,
}

/// So many operations outstanding of each class, over all its hosts.
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
        several => meeting::rates(network, several),
    };
    let responses = populations.iter().zip(&rates).map(|(n, rate)| n / rate).collect();
    let utilizations = network.stations.iter().map(|one| utilization(one, &rates)).collect();
    Solved { rates, responses, utilizations }
}

/// Operations at so many per second of each class; `None` where a station cannot keep up.
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
            // Pollaczek and Khinchine: the mean work that waits, over arrivals of all classes.
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

/// The most that a class alone gets through a station, in operations per second.
pub(crate) fn bound(station: &Station, class: usize) -> f64 {
    station.count / station.demands[class]
}

/// Busy share of one of the station's equals.
pub(crate) fn utilization(station: &Station, rates: &[f64]) -> f64 {
    let busy = rates.iter().zip(&station.demands).map(|(rate, demand)| rate * demand);
    busy.sum::<f64>() / station.count
}

/// The response time of an operation that is alone: the floor, or the demands where they are more.
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

/// How much of a server's work is left on average when an operation arrives and finds it busy, as a
/// share of a whole demand.
///
/// 1 for exponential demands. An even limit leaves half where operations come in any order, and
/// nothing where they come as evenly as it lets them pass: that depends on how much the time
/// between their visits spreads, counted in the limit's own intervals.
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

/// The share of a wait that is left where a limit lets some pass at once after a pause.
///
/// Work beyond a level `b` is `exp(-(1 - utilization) b / (v D))` of all that waits, the tail of
/// an even server's queue in heavy traffic (Kingman 1962). 1 where there is no burst.
pub(crate) fn past_burst(network: &Network, station: &Station, busy: f64, work_s: f64) -> f64 {
    if !station.paces || network.burst_s <= 0.0 {
        return 1.0;
    }
    if work_s <= 0.0 {
        return 0.0;
    }
    (-(1.0 - busy.min(1.0)) * network.burst_s / work_s).exp()
}

/// The least bound of one class.
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
        let wait = |(place, (station, v)): (usize, &(&Station, f64))| {
            let busy = rate * station.demands[0] / station.count;
            let past = past_burst(network, station, busy, v * demand_s(station, 0));
            station.demands[0] * (waiting[place] + v * busy) * past
        };
        let waits: Vec<f64> = stations.iter().enumerate().map(wait).collect();
        let waits_s: f64 = waits.iter().sum();
        rate = (n / (alone_s + waits_s)).min(most);
        // What the limit holds back waits at it.
        let held_s = n / rate - alone_s - waits_s;
        for (place, (station, _)) in stations.iter().enumerate() {
            let is_bound = bound(station, 0) <= most;
            let held_s = if is_bound { held_s.max(0.0) } else { 0.0 };
            waiting[place] = rate * (waits[place] + held_s) / station.count;
        }
    }
    // Between two whole numbers, for averages over hosts.
    before + (rate - before) * population.fract()
}

/// Bard and Schweitzer for one class on any number of equal hosts: the wait of every station
/// follows from the rate, and one rate makes all times add up.
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

/// The share of what is outstanding that an operation meets: all but itself.
pub(crate) fn others(station: &Station, class: &Class, population: f64) -> f64 {
    let chains = if station.is_private { class.hosts } else { 1.0 };
    (1.0 - chains / population).max(0.0)
}

#[cfg(test)]
mod tests {
    use cloud::figure::Access;
    use cloud::service_level::VolumeKind;

    use super::*;
    use crate::parameters::{Parameter, Parameters};
    use crate::topology::{Floor, HostGroup, Load, Topology, VolumeGroup, Workload};

    /// Hosts that send 8 KiB reads to a volume that needs 1 ms for each, `way_s` away.
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
            }],
        };
        Network::of(&topology, &Parameters::unbounded().with(Parameter::RegularRead, 1e-3))
    }

    /// The machine repairman's rate: the probability that the server is not idle, over its demand.
    fn repairman(n: u32, way_s: f64, demand_s: f64) -> f64 {
        let ratio = demand_s / way_s;
        let mut term = 1.0;
        let mut sum = 1.0;
        for k in 0..n {
            term *= f64::from(n - k) * ratio;
            sum += term;
        }
        (1.0 - 1.0 / sum) / demand_s
    }

    #[test]
    fn one_exponential_server_behind_a_delay_is_the_machine_repairman() {
        for (n, way_s) in [(1, 4e-3), (2, 4e-3), (5, 4e-3), (8, 4e-3), (40, 9e-3)] {
            let rate = closed(&network(1, way_s), &[f64::from(n)]).rates[0];
            let expected = repairman(n, way_s, 1e-3);
            assert!((rate / expected - 1.0).abs() < 1e-9, "{n}: {rate} and {expected}");
        }
    }

    #[test]
    fn the_approximation_is_near_what_is_exact() {
        for (n, way_s) in [(1.0, 4e-3), (3.0, 4e-3), (5.0, 4e-3), (12.0, 4e-3), (100.0, 9e-3)] {
            let network = network(1, way_s);
            let (near, exact) = (one_class(&network, n), exact(&network, n));
            assert!((near / exact - 1.0).abs() < 0.05, "{n}: {near} and {exact}");
        }
    }

    #[test]
    fn an_open_queue_with_exponential_demand_is_mm1_and_has_no_answer_when_it_is_full() {
        let network = network(4, 1e-3);
        let response_s = open(&network, &[800.0]).unwrap().responses[0];
        // 1 ms of way, and 1 ms / (1 - 0.8).
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
