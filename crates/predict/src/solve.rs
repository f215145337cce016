//! Rates and response times of a network of queues.
//!
//! For: closed loads by mean value analysis (exact where there is one host and not too many
//! operations, else approximate), open loads by the formulas of single queues. The sources and what
//! we changed are in `docs/method.md`, section Prediction.
//!
//! A wait at a station is `d x (waiting + v x utilization)`: the operations that wait there, each
//! for its demand, and what is left of the one in service. `v` is 1 for exponential demands, which
//! makes it the arrival theorem (Reiser and Lavenberg 1980); for a limit that paces evenly it is
//! less (see [`variability`]).

use crate::network::{Class, Network, Station};

/// The largest population for which every smaller one is gone through.
const EXACT_MAX: f64 = 4096.0;
/// Steps of a bisection: a double has 53 digits.
const BISECTIONS: u32 = 200;
/// Rates of several classes are known when none changes by more.
const SAME: f64 = 1e-10;
/// More steps than any network in the tests took, by far.
const STEPS_MAX: u32 = 20_000;
/// What is kept of the step before, so that rates do not swing.
const DAMPING: f64 = 0.5;
/// The least variability where several classes meet: with none at all a limit has no slope that
/// their search could follow.
const VARIABILITY_MIN: f64 = 0.02;
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
        several => classes(network, several),
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
            response_s += station.visits[index] * v * work / (1.0 - busy);
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
fn demand_s(station: &Station, class: usize) -> f64 {
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
fn variability(network: &Network, station: &Station, index: usize) -> f64 {
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
            station.demands[0] * (waiting[place] + v * rate * station.demands[0] / station.count)
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
            let busy = others * rate * station.demands[0] / station.count;
            station.demands[0] * v * busy / (1.0 - busy).max(f64::MIN_POSITIVE)
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
fn others(station: &Station, class: &Class, population: f64) -> f64 {
    let chains = if station.is_private { class.hosts } else { 1.0 };
    (1.0 - chains / population).max(0.0)
}

/// Bard and Schweitzer for several classes, step by step until no rate changes.
fn classes(network: &Network, populations: &[f64]) -> Vec<f64> {
    let count = populations.len();
    let alone: Vec<f64> =
        network.classes.iter().enumerate().map(|(c, class)| alone_s(network, c, class)).collect();
    let spread: Vec<Vec<f64>> = network
        .stations
        .iter()
        .map(|one| (0..count).map(|c| variability(network, one, c).max(VARIABILITY_MIN)).collect())
        .collect();
    let mut rates: Vec<f64> =
        (0..count).map(|c| (populations[c] / alone[c]).min(least_bound(network, c))).collect();
    let mut waiting = vec![vec![0.0; count]; network.stations.len()];
    for _ in 0..STEPS_MAX {
        let mut waits = vec![vec![0.0; count]; network.stations.len()];
        for (place, station) in network.stations.iter().enumerate() {
            // The work of each class that is there, waiting or in service.
            let work = |j: usize| {
                let busy = rates[j] * station.demands[j] / station.count;
                (waiting[place][j] / station.count + spread[place][j] * busy) * demand_s(station, j)
            };
            let all: f64 = (0..count).map(work).sum();
            for c in (0..count).filter(|c| station.visits[*c] > 0.0 && populations[*c] > 0.0) {
                let own = work(c) * (1.0 - others(station, &network.classes[c], populations[c]));
                waits[place][c] = station.visits[c] * (all - own);
            }
        }
        let mut changed: f64 = 0.0;
        for c in 0..count {
            let waits_s: f64 = waits.iter().map(|of| of[c]).sum();
            let next = populations[c] / (alone[c] + waits_s);
            let damped = rates[c] + DAMPING * (next - rates[c]);
            changed = changed.max((damped - rates[c]).abs() / damped.max(f64::MIN_POSITIVE));
            rates[c] = damped;
            for (of, wait) in waiting.iter_mut().zip(&waits) {
                of[c] += DAMPING * (rates[c] * wait[c] - of[c]);
            }
        }
        if changed < SAME {
            break;
        }
    }
    // At saturation the approximation may be above a limit by what one operation is among all.
    for station in &network.stations {
        let busy = utilization(station, &rates);
        for (rate, demand) in rates.iter_mut().zip(&station.demands) {
            *rate /= if busy > 1.0 && *demand > 0.0 { busy } else { 1.0 };
        }
    }
    rates
}
