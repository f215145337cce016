//! A topology's network with its requested load: single points of a curve, and bounds.

use crate::interval::Interval;
use crate::network::{Class, Network, Station};
use crate::parameters::{End, Parameters};
use crate::point::{Bound, Point, Unpredictable};
use crate::resource::Resource;
use crate::solve::{self, Solved};
use crate::topology::{Floor, Load, Topology};
use crate::waits;

/// Points per doubling of the concurrency.
const POINTS_PER_DOUBLING: f64 = 2.0;
/// End of a curve, in multiples of the concurrency at which its bounds cross.
const BEYOND_THE_KNEE: f64 = 8.0;
/// Shares of the highest rate for the points of an open load, in percent.
const OPEN_SHARES: [u32; 14] = [5, 10, 20, 30, 40, 50, 60, 70, 80, 85, 90, 95, 98, 99];

/// Loads of all classes.
pub(crate) enum Loads {
    /// Operations outstanding.
    Closed(Vec<f64>),
    /// Operations per second.
    Open(Vec<f64>),
}

/// The network with the middle of every interval, and with their ends.
pub(crate) struct Model {
    pub(crate) middle: Network,
    pub(crate) ends: Option<Box<(Network, Network)>>,
    floor_ends: (f64, f64),
}

impl Model {
    pub(crate) fn of(topology: &Topology, parameters: &Parameters) -> Result<Model, Unpredictable> {
        let mut model = Model::of_one(topology, parameters)?;
        let distance = parameters.distance(topology);
        let end = |end| Network::of(topology, &parameters.at_end(end, distance));
        model.ends = Some(Box::new((end(End::Slow), end(End::Fast))));
        let floor_s = parameters.floor_at(distance);
        let of = |own: f64| topology.floor.map_or(own, |floor: Floor| floor.mean_s);
        model.floor_ends = (of(floor_s.low), of(floor_s.high));
        Ok(model)
    }

    pub(crate) fn of_one(
        topology: &Topology,
        parameters: &Parameters,
    ) -> Result<Model, Unpredictable> {
        check(topology)?;
        let middle = Network::of(topology, parameters);
        let alone = |(c, class)| waits::alone_s(&middle, c, class);
        if middle.classes.iter().enumerate().map(alone).any(|s: f64| s <= 0.0) {
            return Err(Unpredictable::NoTime { topology: topology.name.clone() });
        }
        let floor_s = topology.floor.map_or(parameters.floor_s, |floor: Floor| floor.mean_s);
        Ok(Model { middle, ends: None, floor_ends: (floor_s, floor_s) })
    }

    /// The load that the topology requests.
    pub(crate) fn requested(&self) -> Loads {
        let of = |class: &Class| match class.load {
            Load::Closed { outstanding } => outstanding as f64 * class.hosts,
            Load::Offered { rate } => rate.get(),
        };
        let loads = self.middle.classes.iter().map(of).collect();
        match self.is_open() {
            true => Loads::Open(loads),
            false => Loads::Closed(loads),
        }
    }

    fn is_open(&self) -> bool {
        matches!(self.middle.classes[0].load, Load::Offered { .. })
    }

    /// Closed loads with this total number of operations.
    pub(crate) fn shared(&self, outstanding: f64) -> Loads {
        let weight = |class: &Class| match class.load {
            Load::Closed { outstanding } => outstanding.max(1) as f64 * class.hosts,
            Load::Offered { .. } => class.hosts,
        };
        let weights: Vec<f64> = self.middle.classes.iter().map(weight).collect();
        let all: f64 = weights.iter().sum();
        Loads::Closed(weights.iter().map(|weight| outstanding * weight / all).collect())
    }

    /// The loads of a curve.
    pub(crate) fn loads(&self, topology: &Topology, knee: f64) -> Vec<Loads> {
        if let (true, Loads::Open(requested)) = (self.is_open(), self.requested()) {
            let most = self.bounds().first().map_or(0.0, |least| least.ops_per_s.value);
            let all: f64 = requested.iter().sum();
            let at = |share: &u32| most * f64::from(*share) / 100.0 / all;
            let scaled = |factor: f64| requested.iter().map(|rate| rate * factor).collect();
            return OPEN_SHARES.iter().map(at).map(scaled).map(Loads::Open).collect();
        }
        let Loads::Closed(requested) = self.requested() else { return Vec::new() };
        let slots: f64 = self.middle.classes.iter().map(|class| class.slots).sum();
        let requested: f64 = requested.iter().sum();
        let most = (BEYOND_THE_KNEE * knee).min(slots).max(requested).max(topology_min(topology));
        let mut all: Vec<f64> = Vec::new();
        let mut at = 1.0f64;
        while at < most {
            all.push(at.round());
            at *= 2f64.powf(1.0 / POINTS_PER_DOUBLING);
        }
        all.extend([most.round(), requested]);
        all.retain(|load| *load >= 1.0);
        all.sort_by(f64::total_cmp);
        all.dedup();
        all.into_iter().map(|outstanding| self.shared(outstanding)).collect()
    }

    fn solve(&self, network: &Network, load: &Loads) -> Option<Solved> {
        match load {
            Loads::Closed(populations) => Some(solve::closed(network, populations)),
            Loads::Open(rates) => solve::open(network, rates),
        }
    }

    pub(crate) fn point(&self, topology: &Topology, load: &Loads) -> Option<Point> {
        let of = |network: &Network| {
            let solved = self.solve(network, load)?;
            let (mut ops, mut bytes, mut outstanding) = (0.0, 0.0, 0.0);
            for ((rate, response_s), class) in
                solved.rates.iter().zip(&solved.responses).zip(&network.classes)
            {
                ops += rate;
                bytes += rate * class.transfer_bytes;
                outstanding += if *rate > 0.0 { rate * response_s } else { 0.0 };
            }
            Some((ops, bytes, outstanding, solved))
        };
        let (ops, bytes, outstanding, solved) = of(&self.middle)?;
        let response = outstanding / ops;
        let (slow, fast) = match &self.ends {
            None => (None, None),
            Some(ends) => (of(&ends.0), of(&ends.1)),
        };
        // An end that is overloaded by an open load has no response time.
        let is_over = self.ends.is_some() && slow.is_none();
        let end = |end: &Option<(f64, f64, f64, Solved)>| {
            end.as_ref()
                .map_or((ops, bytes, response), |(ops, bytes, out, _)| (*ops, *bytes, *out / *ops))
        };
        let (slow, fast) = (end(&slow), end(&fast));
        let mut response_s = Interval::around(response, slow.2, fast.2);
        if is_over {
            response_s.high = f64::INFINITY;
        }
        Some(Point {
            outstanding,
            ops_per_s: Interval::around(ops, slow.0, fast.0),
            bytes_per_s: Interval::around(bytes, slow.1, fast.1),
            response_s,
            bounded_by: self.bounding(topology, load, &solved),
            by_workload: solved.rates,
        })
    }

    /// The lowest asymptotic bound at a load. With several workloads: the busiest resource, or the
    /// slots of the first workload without free ones.
    fn bounding(&self, topology: &Topology, load: &Loads, solved: &Solved) -> Resource {
        let network = &self.middle;
        let busiest = solved.utilizations.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1));
        let Loads::Closed(populations) = load else {
            let busiest = busiest.map(|(index, _)| network.stations[index].resource.clone());
            return busiest.unwrap_or_else(Resource::outstanding);
        };
        for (c, class) in network.classes.iter().enumerate() {
            let alone_s = waits::alone_s(network, c, class);
            let has_slots = populations[c] <= class.slots;
            let by_slots = class.slots / alone_s;
            let least = network.stations.iter().map(|station| waits::bound(station, c));
            if !has_slots && least.fold(f64::INFINITY, f64::min) > by_slots {
                let hosts = topology.workloads[c].hosts;
                return Resource::slots(&topology.hosts[hosts].name);
            }
        }
        let Some((busiest, utilization)) = busiest else { return Resource::outstanding() };
        // Below the crossing of the asymptotes more outstanding operations raise the rate.
        let free: f64 = network
            .classes
            .iter()
            .enumerate()
            .map(|(c, class)| populations[c] / waits::alone_s(network, c, class))
            .sum();
        let rate: f64 = solved.rates.iter().sum();
        match free < rate / utilization {
            true => Resource::outstanding(),
            false => network.stations[busiest].resource.clone(),
        }
    }

    /// The highest rate of every resource, the lowest first.
    pub(crate) fn bounds(&self) -> Vec<Bound> {
        let (slow, fast) = match &self.ends {
            None => (&self.middle, &self.middle),
            Some(ends) => (&ends.0, &ends.1),
        };
        // Several workloads share a resource as at the highest rate.
        let top = self.top();
        let all: f64 = top.iter().sum();
        let bytes = top.iter().zip(&self.middle.classes).map(|(x, c)| x * c.transfer_bytes);
        let transfer = bytes.sum::<f64>() / all;
        let of = |network: &Network, resource: &Resource| {
            let mut stations = network.stations.iter();
            let station = stations.find(|station| station.resource == *resource);
            station.map_or(0.0, |station| all / waits::utilization(station, &top))
        };
        let bound = |station: &Station| {
            let resource = &station.resource;
            let value = of(&self.middle, resource);
            let ops_per_s = Interval::around(value, of(slow, resource), of(fast, resource));
            let bytes_per_s = ops_per_s.times(transfer);
            let count = station.count as u64;
            Bound { resource: resource.clone(), ops_per_s, bytes_per_s, count }
        };
        let mut bounds: Vec<Bound> = self.middle.stations.iter().map(bound).collect();
        bounds.retain(|bound| bound.ops_per_s.value.is_finite());
        bounds.sort_by(|a, b| a.ops_per_s.value.total_cmp(&b.ops_per_s.value));
        bounds
    }

    /// The lowest bound by a resource or the slots for one workload, in operations per second.
    pub(crate) fn least_bound(&self) -> f64 {
        let class = &self.middle.classes[0];
        let slots = class.slots / waits::alone_s(&self.middle, 0, class);
        self.middle.stations.iter().map(|station| waits::bound(station, 0)).fold(slots, f64::min)
    }

    pub(crate) fn bounds_with_slots(&self, topology: &Topology) -> Vec<Bound> {
        let mut bounds = self.bounds();
        for (c, class) in self.middle.classes.iter().enumerate() {
            let rate = class.slots / waits::alone_s(&self.middle, c, class);
            let workload = &topology.workloads[c];
            bounds.push(Bound {
                resource: Resource::slots(&topology.hosts[workload.hosts].name),
                ops_per_s: Interval::exactly(rate),
                bytes_per_s: Interval::exactly(rate * class.transfer_bytes),
                count: topology.flows(workload),
            });
        }
        bounds.sort_by(|a, b| a.ops_per_s.value.total_cmp(&b.ops_per_s.value));
        bounds
    }

    /// Rates of the classes at a very high load.
    fn top(&self) -> Vec<f64> {
        let network = &self.middle;
        if let Loads::Open(requested) = self.requested() {
            return requested;
        }
        if let [class] = &network.classes[..] {
            return vec![class.slots];
        }
        let populations: Vec<f64> = network.classes.iter().map(|class| class.slots).collect();
        solve::closed(network, &populations).rates
    }

    /// Where the asymptotes cross: Little's law at the lowest bound.
    pub(crate) fn knee(&self) -> Interval {
        let of = |network: &Network, floor_s: f64| -> f64 {
            let classes = network.classes.iter().enumerate();
            let one = |(c, class): (usize, &Class)| {
                let alone_s = waits::alone_s(network, c, class).max(floor_s);
                let least = network.stations.iter().map(|station| waits::bound(station, c));
                let slots = class.slots / alone_s;
                least.fold(slots, f64::min) * alone_s
            };
            classes.map(one).sum()
        };
        let value = of(&self.middle, 0.0);
        match &self.ends {
            None => Interval::exactly(value),
            Some(ends) => {
                let slow = of(&ends.0, self.floor_ends.0);
                Interval::around(value, slow, of(&ends.1, self.floor_ends.1))
            }
        }
    }
}

/// At least one operation per host, so that a curve includes all hosts.
fn topology_min(topology: &Topology) -> f64 {
    2.0 * topology.host_count() as f64
}

fn check(topology: &Topology) -> Result<(), Unpredictable> {
    let missing = |what| Err(Unpredictable::Missing { topology: topology.name.clone(), what });
    if topology.workloads.is_empty() {
        return missing("workload");
    }
    if topology.workloads.iter().any(|w| topology.hosts[w.hosts].count == 0) {
        return missing("host");
    }
    let none = |index: &usize| topology.volumes[*index].count == 0;
    if topology.workloads.iter().any(|w| w.volumes.is_empty() || w.volumes.iter().any(none)) {
        return missing("volume");
    }
    let open = topology.workloads.iter().filter(|w| matches!(w.load, Load::Offered { .. })).count();
    if open != 0 && open != topology.workloads.len() {
        return Err(Unpredictable::TwoKindsOfLoad { topology: topology.name.clone() });
    }
    Ok(())
}
