//! Very many operations outstanding at a time, on many hosts and volumes: what the engine's own
//! workers would take too much memory for.
//!
//! For: holding `predict` against a simulation at a scale where nothing can be measured, ten
//! million operations and more. An operation is sixteen bytes; events wait in buckets of time, of
//! which only the one that is due is put in order: an event costs the same whatever their number.
//! Not for: what a worker does with operations (schedules, intervals, histograms), which is
//! [`crate::world`]'s.
//!
//! Every host keeps its share outstanding, dealt out over its connections in turn. An operation
//! goes over its connection, to a volume drawn at random (exponential demand in the order of
//! arrival), through the volume's limit, and back. Source of the buckets: R. Brown, "Calendar
//! queues", Communications of the ACM 31(10), 1988.

use workload::random;

const NS_PER_S: f64 = 1e9;
/// Events that are due together, on average, when they are put in order.
const BUCKET_EVENTS: f64 = 64.0;
/// Buckets at most; later events wait in the last until it is their turn.
const BUCKETS_MAX: u64 = 1 << 20;

/// What is simulated.
#[derive(Clone, Debug, PartialEq)]
pub struct Population {
    /// Machines.
    pub hosts: u32,
    /// Connections of each.
    pub connections: u32,
    /// Operations that each keeps outstanding.
    pub outstanding: u32,
    /// Volumes, each as likely as the other.
    pub volumes: u32,
    /// Mean busy time of an operation at its connection, exponential, in seconds; may be 0.
    pub connection_s: f64,
    /// The same at its volume.
    pub volume_s: f64,
    /// Operations per second that each volume lets pass, if it is limited.
    pub volume_ops_per_s: Option<f64>,
    /// What an operation takes besides, in seconds, above 0.
    pub way_s: f64,
}

/// What came out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Seen {
    /// Operations that completed, of all hosts.
    pub completed: u64,
    /// Operations per second after the warm-up.
    pub ops_per_s: f64,
    /// Mean response time of those that completed after the warm-up, in seconds.
    pub response_s: f64,
    /// Events that were gone through.
    pub events: u64,
}

/// An operation that arrives at its volume or comes back.
#[derive(Clone, Copy, Debug)]
struct Event {
    at_ns: u64,
    /// The host's number; the highest bit says that it comes back.
    who: u32,
    /// When it was issued, in microseconds.
    issued_us: u32,
}

const BACK: u32 = 1 << 31;

/// Simulates `for_s` seconds, the first `warm_up_s` of which do not count.
///
/// # Panics
/// There are no hosts, connections or volumes, or an operation takes no time.
pub fn simulate(population: &Population, warm_up_s: f64, for_s: f64, seed: u64) -> Seen {
    let Population { hosts, connections, outstanding, volumes, .. } = *population;
    assert!(hosts > 0 && hosts < BACK && connections > 0 && volumes > 0, "something is there");
    assert!(population.way_s > 0.0, "an operation takes time");
    let mut world = World::new(population, for_s, seed);
    for _ in 0..outstanding {
        for host in 0..hosts {
            world.issue(0, host);
        }
    }
    let warm_up_ns = (warm_up_s * NS_PER_S) as u64;
    let end_ns = (for_s * NS_PER_S) as u64;
    let mut seen = Seen { completed: 0, ops_per_s: 0.0, response_s: 0.0, events: 0 };
    let (mut counted, mut sum_us) = (0u64, 0u64);
    while let Some(event) = world.queue.next() {
        if event.at_ns >= end_ns {
            break;
        }
        seen.events += 1;
        if event.who & BACK == 0 {
            world.arrive(event);
            continue;
        }
        seen.completed += 1;
        if event.at_ns >= warm_up_ns {
            counted += 1;
            sum_us += event.at_ns / 1000 - u64::from(event.issued_us);
        }
        world.issue(event.at_ns, event.who & !BACK);
    }
    seen.ops_per_s = counted as f64 / (for_s - warm_up_s);
    seen.response_s = sum_us as f64 / 1e6 / counted.max(1) as f64;
    seen
}

struct World<'a> {
    population: &'a Population,
    seed: u64,
    drawn: u64,
    /// By host and connection: when it has done what it took on.
    connections_ns: Vec<u64>,
    /// By host: the connection that is next.
    turn: Vec<u32>,
    /// By volume: when it has done what it took on, and when its limit lets the next pass.
    volumes_ns: Vec<(u64, f64)>,
    queue: Buckets,
}

impl World<'_> {
    fn new(population: &Population, for_s: f64, seed: u64) -> World<'_> {
        let connections = population.hosts as usize * population.connections as usize;
        let all = f64::from(population.hosts) * f64::from(population.outstanding);
        World {
            population,
            seed,
            drawn: 0,
            connections_ns: vec![0; connections],
            turn: vec![0; population.hosts as usize],
            volumes_ns: vec![(0, 0.0); population.volumes as usize],
            queue: Buckets::new(for_s, all),
        }
    }

    /// An exponential demand in nanoseconds.
    fn demand_ns(&mut self, mean_s: f64) -> u64 {
        if mean_s <= 0.0 {
            return 0;
        }
        self.drawn += 1;
        let uniform = 1.0 - random::unit(random::at(self.seed, self.drawn));
        (-uniform.ln() * mean_s * NS_PER_S) as u64
    }

    /// A host sends its next operation over its next connection.
    fn issue(&mut self, now_ns: u64, host: u32) {
        let demand_ns = self.demand_ns(self.population.connection_s);
        let turn = &mut self.turn[host as usize];
        let place = host as usize * self.population.connections as usize + *turn as usize;
        *turn = (*turn + 1) % self.population.connections;
        let done_ns = self.connections_ns[place].max(now_ns) + demand_ns;
        self.connections_ns[place] = done_ns;
        let issued_us = (now_ns / 1000) as u32;
        self.queue.add(Event { at_ns: done_ns, who: host, issued_us });
    }

    /// An operation comes to a volume, and is sent back when it is done there.
    fn arrive(&mut self, event: Event) {
        self.drawn += 1;
        let number = random::at(self.seed, self.drawn) % u64::from(self.population.volumes);
        let demand_ns = self.demand_ns(self.population.volume_s);
        let (free_ns, passes_ns) = &mut self.volumes_ns[number as usize];
        let mut at_ns = event.at_ns;
        if let Some(rate) = self.population.volume_ops_per_s {
            let passed_ns = passes_ns.max(at_ns as f64);
            *passes_ns = passed_ns + NS_PER_S / rate;
            at_ns = passed_ns as u64;
        }
        *free_ns = (*free_ns).max(at_ns) + demand_ns;
        let back_ns = *free_ns + (self.population.way_s * NS_PER_S) as u64;
        self.queue.add(Event { at_ns: back_ns, who: event.who | BACK, ..event });
    }
}

/// Events in buckets of equal time.
struct Buckets {
    width_ns: u64,
    buckets: Vec<Vec<Event>>,
    /// The bucket that is due.
    due: usize,
    /// Its events, the latest first.
    now: Vec<Event>,
}

impl Buckets {
    /// Buckets for a time in which about so many events are there at once.
    fn new(for_s: f64, events: f64) -> Buckets {
        let span_ns = (for_s * NS_PER_S) as u64 + 1;
        let wanted = ((events / BUCKET_EVENTS) as u64).clamp(1024, BUCKETS_MAX);
        let width_ns = (span_ns / wanted).max(1);
        let count = (span_ns / width_ns + 3) as usize;
        Buckets { width_ns, buckets: vec![Vec::new(); count], due: 0, now: Vec::new() }
    }

    fn add(&mut self, event: Event) {
        // The first bucket is empty: before the first event nothing is due.
        let place = (event.at_ns / self.width_ns + 1) as usize;
        let place = place.min(self.buckets.len() - 1);
        if place > self.due {
            self.buckets[place].push(event);
            return;
        }
        // It belongs among those that are in order already.
        let after = self.now.partition_point(|other| other.at_ns > event.at_ns);
        self.now.insert(after, event);
    }

    fn next(&mut self) -> Option<Event> {
        while self.now.is_empty() {
            self.due += 1;
            let bucket = self.buckets.get_mut(self.due)?;
            // What is taken is given back to the allocator when it is done.
            self.now = std::mem::take(bucket);
            self.now.sort_unstable_by_key(|event| std::cmp::Reverse(event.at_ns));
        }
        self.now.pop()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn small() -> Population {
        Population {
            hosts: 4,
            connections: 4,
            outstanding: 2,
            volumes: 2,
            connection_s: 0.0,
            volume_s: 0.0,
            volume_ops_per_s: None,
            way_s: 1e-3,
        }
    }

    #[test]
    fn without_queues_each_operation_takes_its_way() {
        let seen = simulate(&small(), 0.5, 2.0, 1);
        assert!((seen.ops_per_s / 8000.0 - 1.0).abs() < 0.01, "{seen:?}");
        assert!((seen.response_s - 1e-3).abs() < 2e-6, "{seen:?}");
    }

    #[test]
    fn volumes_let_their_limits_pass_and_littles_law_holds() {
        let limited = Population {
            outstanding: 100,
            volume_ops_per_s: Some(5000.0),
            connection_s: 1e-5,
            ..small()
        };
        let seen = simulate(&limited, 1.0, 5.0, 1);
        assert!((seen.ops_per_s / 10_000.0 - 1.0).abs() < 0.01, "{seen:?}");
        assert!((seen.ops_per_s * seen.response_s / 400.0 - 1.0).abs() < 0.02, "{seen:?}");
        assert_eq!(seen, simulate(&limited, 1.0, 5.0, 1), "the same seed, the same bits");
    }
}
