//! Several classes of operations at shared stations: workloads that share hosts or volumes.
//!
//! For: closed loads of [`crate::solve`] with more than one workload.

use crate::network::{Network, Station};
use crate::waits::{BISECTIONS, alone_s, demand_s, others, past_burst, utilization, variability};

/// Relative change of rates below which the iteration has converged.
const SAME: f64 = 1e-10;
/// Most iterations; far more than any network in the tests needs.
const STEPS_MAX: u32 = 1000;
/// Longest wait, in seconds: a year.
const WAIT_MAX_S: f64 = 3.2e7;

/// Approximation of Bard and Schweitzer for several classes. The unknowns are the waits at the
/// stations: a longer wait lowers the rates, and lower rates shorten the wait, so there is exactly
/// one solution per station, found by bisection; stations in turn, until no rate changes.
pub(crate) fn rates(network: &Network, populations: &[f64]) -> Vec<f64> {
    let count = populations.len();
    let alone: Vec<f64> =
        network.classes.iter().enumerate().map(|(c, class)| alone_s(network, c, class)).collect();
    let mut shared: Vec<SharedStation<'_>> =
        network.stations.iter().map(|one| SharedStation::of(network, one, populations)).collect();
    let mut rates: Vec<f64> = (0..count).map(|c| populations[c] / alone[c]).collect();
    for _ in 0..STEPS_MAX {
        let before = rates.clone();
        for index in 0..shared.len() {
            shared[index].share(&rates);
            // Time of an operation without waits.
            let besides: Vec<f64> = (0..count)
                .map(|c| {
                    let others = shared.iter().enumerate().filter(|(other, _)| *other != index);
                    alone[c] + others.map(|(_, meeting)| meeting.wait_s(c)).sum::<f64>()
                })
                .collect();
            shared[index].balance(populations, &besides);
        }
        for c in 0..count {
            let waits_s: f64 = shared.iter().map(|meeting| meeting.wait_s(c)).sum();
            rates[c] = populations[c] / (alone[c] + waits_s);
        }
        let changed = |(now, then): (&f64, &f64)| (now - then).abs() > SAME * now;
        if !rates.iter().zip(&before).any(changed) {
            break;
        }
    }
    // Limits that are reached at the same time may each be slightly exceeded.
    for station in &network.stations {
        let busy = utilization(station, &rates);
        for (rate, demand) in rates.iter_mut().zip(&station.demands) {
            *rate /= if busy > 1.0 && *demand > 0.0 { busy } else { 1.0 };
        }
    }
    rates
}

/// A station shared by classes.
struct SharedStation<'a> {
    network: &'a Network,
    station: &'a Station,
    /// By class: [`variability`].
    v: Vec<f64>,
    /// By class: the share of the class's operations that an operation does not meet.
    itself: Vec<f64>,
    /// By class: its share of the work.
    shares: Vec<f64>,
    /// The wait of a visitor from outside.
    wait_s: f64,
}

impl<'a> SharedStation<'a> {
    fn of(network: &'a Network, station: &'a Station, populations: &[f64]) -> SharedStation<'a> {
        let count = populations.len();
        let itself = (0..count).map(|c| match populations[c] > 0.0 {
            true => 1.0 - others(station, &network.classes[c], populations[c]),
            false => 1.0,
        });
        SharedStation {
            network,
            station,
            v: (0..count).map(|c| variability(network, station, c)).collect(),
            itself: itself.collect(),
            shares: vec![0.0; count],
            wait_s: 0.0,
        }
    }

    /// The wait of one operation of a class.
    fn wait_s(&self, class: usize) -> f64 {
        self.station.visits[class] * self.wait_s * self.met(class)
    }

    /// Factor for the operations that it can meet.
    fn met(&self, class: usize) -> f64 {
        1.0 - self.itself[class] * self.shares[class]
    }

    fn share(&mut self, rates: &[f64]) {
        let busy = utilization(self.station, rates);
        for (c, share) in self.shares.iter_mut().enumerate() {
            let own = rates[c] * self.station.demands[c] / self.station.count;
            *share = if busy > 0.0 { own / busy } else { 0.0 };
        }
    }

    /// Finds the wait that is consistent with the rates.
    fn balance(&mut self, populations: &[f64], besides: &[f64]) {
        let rates = |wait_s: f64| -> Vec<f64> {
            let one = |c: usize| {
                let own = self.station.visits[c] * wait_s * self.met(c);
                populations[c] / (besides[c] + own)
            };
            (0..populations.len()).map(one).collect()
        };
        let (mut low, mut high) = (0.0, 1.0);
        while high < WAIT_MAX_S && self.given_by(&rates(high)) > high {
            (low, high) = (high, 2.0 * high);
        }
        for _ in 0..BISECTIONS {
            let middle = 0.5 * (low + high);
            if middle <= low || middle >= high {
                break;
            }
            match self.given_by(&rates(middle)) > middle {
                true => low = middle,
                false => high = middle,
            }
        }
        // At the shorter wait a limit without variability is just reached.
        self.wait_s = high;
    }

    /// The wait at given rates; infinite above the limit.
    fn given_by(&self, rates: &[f64]) -> f64 {
        let station = self.station;
        let busy = utilization(station, rates);
        if busy > 1.0 {
            return f64::INFINITY;
        }
        let (mut level_s, mut work_s, mut met) = (0.0, 0.0, 0.0);
        for (c, rate) in rates.iter().enumerate() {
            let own = rate * station.demands[c] / station.count;
            work_s += own * self.v[c] * demand_s(station, c);
            level_s += self.shares[c] * self.v[c] * demand_s(station, c);
            met += self.shares[c] * busy * self.met(c);
        }
        let past = past_burst(self.network, station, busy, level_s);
        match past * met < 1.0 {
            true => past * work_s / (1.0 - past * met),
            false => f64::INFINITY,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::Class;
    use crate::resource::Resource;
    use crate::topology::{Floor, Load};

    /// Two classes with a demand of 1 s each at one station.
    fn network(floor_s: f64) -> Network {
        let class = Class {
            hosts: 1.0,
            slots: 8.0,
            floor: Floor { mean_s: floor_s, spread: 0.0 },
            load: Load::Closed { outstanding: 1 },
            transfer_bytes: 8192.0,
        };
        let station = Station {
            resource: Resource::outstanding(),
            count: 1.0,
            paces: false,
            is_private: false,
            visits: vec![1.0; 2],
            demands: vec![1.0; 2],
        };
        Network { classes: vec![class.clone(), class], stations: vec![station], burst_s: 0.0 }
    }

    fn near(found: &[f64], expected: [f64; 2]) {
        let is_near = |(one, other): (&f64, &f64)| (one - other).abs() < 1e-8;
        assert!(found.iter().zip(&expected).all(is_near), "{found:?} instead of {expected:?}");
    }

    #[test]
    fn classes_share_a_busy_station_by_their_operations() {
        near(&rates(&network(0.0), &[1.0, 1.0]), [0.5, 0.5]);
        near(&rates(&network(0.0), &[1.0, 3.0]), [0.25, 0.75]);
    }

    #[test]
    fn an_operation_that_spends_2_s_elsewhere_meets_the_other_at_the_station() {
        // Rate r: 1 / r = 3 + r / (1 - r), so 2 r^2 - 4 r + 1 = 0.
        let rate = 1.0 - 0.5f64.sqrt();
        near(&rates(&network(3.0), &[1.0, 1.0]), [rate, rate]);
        near(&rates(&network(3.0), &[1.0, 0.0]), [1.0 / 3.0, 0.0]);
    }
}
