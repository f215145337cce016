//! Very many outstanding operations on many hosts and volumes, for which the engine's own workers
//! would need too much memory.
//!
//! It is for comparing `predict` with a simulation at a scale that cannot be measured: ten million
//! operations and more. An operation has sixteen bytes; events are in buckets of time, of which
//! only the current one is sorted, so an event costs the same whatever their number. Workers with
//! schedules, intervals and histograms are simulated in [`crate::world`].
//!
//! Every host keeps its operations outstanding, distributed over its connections in turn. An
//! operation passes its connection, a volume drawn at random (exponential demand, in the order of
//! arrival), the volume's limit, and returns. Source of the buckets: R. Brown, "Calendar queues",
//! Communications of the ACM 31(10), 1988.

use workload::random;

const NS_PER_S: f64 = 1e9;
/// Mean number of events in a bucket.
const BUCKET_EVENTS: f64 = 64.0;
/// Maximum number of buckets; the last also holds all later events.
const BUCKETS_MAX: u64 = 1 << 20;

/// The simulated system.
#[derive(Clone, Debug, PartialEq)]
pub struct Population {
    /// Number of hosts.
    pub hosts: u32,
    /// Connections of each host.
    pub connections: u32,
    /// Outstanding operations of each host.
    pub outstanding: u32,
    /// Number of volumes, used with equal probability.
    pub volumes: u32,
    /// Mean of the exponential service demand at the connection, in seconds; may be 0.
    pub connection_s: f64,
    /// Mean of the exponential service demand at the volume, in seconds; may be 0.
    pub volume_s: f64,
    /// Operations per second that each volume admits, if limited.
    pub volume_ops_per_s: Option<f64>,
    /// Additional delay of every operation, in seconds, above 0.
    pub delay_s: f64,
}

/// The results.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Seen {
    /// Completed operations of all hosts.
    pub completed: u64,
    /// Operations per second after the warm-up.
    pub ops_per_s: f64,
    /// Mean response time of operations completed after the warm-up, in seconds.
    pub response_s: f64,
    /// Number of events.
    pub events: u64,
}

/// An operation that arrives at its volume or returns to its host.
#[derive(Clone, Copy, Debug)]
struct Event {
    at_ns: u64,
    /// The host's number; the highest bit is set if the operation returns to it.
    host: u32,
    /// When it was issued, in microseconds.
    issued_us: u32,
}

const RETURNS: u32 = 1 << 31;

/// Simulates `for_s` seconds, of which the first `warm_up_s` are not counted.
///
/// # Panics
/// There are no hosts, connections or volumes, or an operation has no delay.
pub fn simulate(population: &Population, warm_up_s: f64, for_s: f64, seed: u64) -> Seen {
    let Population { hosts, connections, outstanding, volumes, .. } = *population;
    assert!(hosts > 0 && hosts < RETURNS && connections > 0 && volumes > 0, "nothing is simulated");
    assert!(population.delay_s > 0.0, "an operation takes time");
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
        if event.host & RETURNS == 0 {
            world.arrive(event);
            continue;
        }
        seen.completed += 1;
        if event.at_ns >= warm_up_ns {
            counted += 1;
            sum_us += event.at_ns / 1000 - u64::from(event.issued_us);
        }
        world.issue(event.at_ns, event.host & !RETURNS);
    }
    seen.ops_per_s = counted as f64 / (for_s - warm_up_s);
    seen.response_s = sum_us as f64 / 1e6 / counted.max(1) as f64;
    seen
}

struct World<'a> {
    population: &'a Population,
    seed: u64,
    drawn: u64,
    /// By host and connection: when it is free.
    connections_ns: Vec<u64>,
    /// By host: the next connection.
    turn: Vec<u32>,
    /// By volume: when it is free, and when its limit admits the next operation.
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

    /// Sends a host's next operation over its next connection.
    fn issue(&mut self, now_ns: u64, host: u32) {
        let demand_ns = self.demand_ns(self.population.connection_s);
        let turn = &mut self.turn[host as usize];
        let connection = host as usize * self.population.connections as usize + *turn as usize;
        *turn = (*turn + 1) % self.population.connections;
        let done_ns = self.connections_ns[connection].max(now_ns) + demand_ns;
        self.connections_ns[connection] = done_ns;
        let issued_us = (now_ns / 1000) as u32;
        self.queue.add(Event { at_ns: done_ns, host, issued_us });
    }

    /// Serves an operation at a volume, and sends it back.
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
        let back_ns = *free_ns + (self.population.delay_s * NS_PER_S) as u64;
        self.queue.add(Event { at_ns: back_ns, host: event.host | RETURNS, ..event });
    }
}

/// Events in buckets of equal time.
struct Buckets {
    width_ns: u64,
    buckets: Vec<Vec<Event>>,
    /// The current bucket.
    due: usize,
    /// Its events, the latest first.
    now: Vec<Event>,
}

impl Buckets {
    /// Buckets for `for_s` seconds with about `events` pending events.
    fn new(for_s: f64, events: f64) -> Buckets {
        let span_ns = (for_s * NS_PER_S) as u64 + 1;
        let requested = ((events / BUCKET_EVENTS) as u64).clamp(1024, BUCKETS_MAX);
        let width_ns = (span_ns / requested).max(1);
        let count = (span_ns / width_ns + 3) as usize;
        Buckets { width_ns, buckets: vec![Vec::new(); count], due: 0, now: Vec::new() }
    }

    fn add(&mut self, event: Event) {
        // The first bucket stays empty: it is current before the first event.
        let bucket = (event.at_ns / self.width_ns + 1) as usize;
        let bucket = bucket.min(self.buckets.len() - 1);
        if bucket > self.due {
            self.buckets[bucket].push(event);
            return;
        }
        // The event is inserted into the sorted events of the current bucket.
        let after = self.now.partition_point(|other| other.at_ns > event.at_ns);
        self.now.insert(after, event);
    }

    fn next(&mut self) -> Option<Event> {
        while self.now.is_empty() {
            self.due += 1;
            let bucket = self.buckets.get_mut(self.due)?;
            // The memory is freed when the bucket is done.
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
            delay_s: 1e-3,
        }
    }

    #[test]
    fn without_queues_each_operation_takes_its_delay() {
        let seen = simulate(&small(), 0.5, 2.0, 1);
        assert!((seen.ops_per_s / 8000.0 - 1.0).abs() < 0.01, "{seen:?}");
        assert!((seen.response_s - 1e-3).abs() < 2e-6, "{seen:?}");
    }

    #[test]
    fn volumes_admit_their_limits_and_littles_law_holds() {
        let limited = Population {
            outstanding: 100,
            volume_ops_per_s: Some(5000.0),
            connection_s: 1e-5,
            ..small()
        };
        let seen = simulate(&limited, 1.0, 5.0, 1);
        assert!((seen.ops_per_s / 10_000.0 - 1.0).abs() < 0.01, "{seen:?}");
        assert!((seen.ops_per_s * seen.response_s / 400.0 - 1.0).abs() < 0.02, "{seen:?}");
        assert_eq!(seen, simulate(&limited, 1.0, 5.0, 1), "the same seed gives the same bits");
    }
}
