//! Systems drawn at random, each with one resource that is full long before the others.

use analysis::bottleneck::{Known, KnownLimit, Limit};
use sim::resources::{Disk, Resources};
use workload::random;

/// What is drawn, in the order of the matrix.
pub(crate) const TRUTHS: [Limit; 10] = [
    Limit::VolumeThroughput,
    Limit::NetworkFlow,
    Limit::Endpoint,
    Limit::VmEgress,
    Limit::Link,
    Limit::ClientCpu,
    Limit::ServerSlots,
    Limit::Disk,
    Limit::OperationsPerSecond,
    Limit::NotReached,
];

/// A system, the operations that are sent to it, and what is known of it.
#[derive(Clone, Debug)]
pub(crate) struct System {
    pub(crate) resources: Resources,
    pub(crate) connections: u32,
    pub(crate) workers: u32,
    pub(crate) read_permille: u16,
    pub(crate) size_bytes: u64,
    pub(crate) sequential: bool,
    /// Outstanding operations at which the limit is reached.
    pub(crate) knee: f64,
    pub(crate) floor_s: f64,
    pub(crate) known: Known,
}

/// Draws one after the other.
pub(crate) struct Draw {
    seed: u64,
    number: u64,
}

impl Draw {
    pub(crate) fn new(seed: u64) -> Draw {
        Draw { seed: random::derive(seed, 0x11_1417), number: 0 }
    }

    fn unit(&mut self) -> f64 {
        self.number += 1;
        random::unit(random::at(self.seed, self.number))
    }

    /// Evenly on a logarithmic scale.
    fn between(&mut self, least: f64, most: f64) -> f64 {
        least * (most / least).powf(self.unit())
    }

    fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[(self.unit() * all.len() as f64) as usize]
    }

    fn chance(&mut self, share: f64) -> bool {
        self.unit() < share
    }
}

/// A system in which `truth` is what limits.
pub(crate) fn system(truth: Limit, seed: u64) -> System {
    let mut draw = Draw::new(seed);
    let workers = draw.of(&[1, 1, 2]);
    let connections = draw.of(&[1, 1, 2, 4, 8]).max(workers);
    let sequential = draw.chance(0.5);
    let size_bytes = if sequential { 65_536 } else { draw.of(&[4096, 8192, 16_384]) };
    // A VM's egress is a limit of writes only.
    let read_permille = match truth {
        Limit::VmEgress => 0,
        _ => draw.of(&[0, 1000, 1000]),
    };
    let wire_ns = draw.between(50_000.0, 600_000.0);
    let service_ns = draw.between(100_000.0, 2_000_000.0);
    let mut resources = Resources {
        wire_ns,
        service_ns,
        service_sigma: draw.of(&[0.0, 0.1, 0.3, 0.6]),
        cpu_ns: (draw.between(1000.0, 5000.0), 0.1),
        queues_in_network: draw.chance(0.5),
        flow_by_direction: draw.chance(0.5),
        client_slots: 128,
        ..Resources::default()
    };
    let size = size_bytes as f64;
    let floor_s = (wire_ns + service_ns) / 1e9;
    let knee = draw.between(2.5, 16.0);
    // The rate at which the limit is reached, and bytes of it.
    let rate = knee / floor_s;
    let bytes = rate * size;
    let on_the_wire = rate * (size + 300.0) * 1.06;
    // What the others allow: enough not to be felt.
    let mut spare = || draw.between(3.0, 12.0);
    let (volume, endpoint, egress) = (bytes * spare(), bytes * spare(), on_the_wire * spare());
    let (link, operations) = (on_the_wire * spare(), rate * spare());
    resources.volume = Some(volume);
    resources.endpoint = draw.chance(0.5).then_some(endpoint);
    resources.egress = draw.chance(0.5).then_some(egress);
    resources.link = Some(link);
    resources.operations = draw.chance(0.2).then_some(operations);
    resources.server_slots = draw.chance(0.5).then_some(128);
    let mut knee = knee;
    match truth {
        Limit::VolumeThroughput => resources.volume = Some(bytes),
        Limit::Endpoint => resources.endpoint = Some(bytes),
        Limit::NetworkFlow => resources.flow = Some(bytes / f64::from(connections)),
        Limit::VmEgress => resources.egress = Some(on_the_wire),
        Limit::Link => resources.link = Some(on_the_wire),
        Limit::OperationsPerSecond => resources.operations = Some(rate),
        Limit::ClientCpu => {
            resources.cpu_ns = (f64::from(workers) / rate * 1e9, 0.0);
            knee += f64::from(workers);
        }
        Limit::ServerSlots => {
            let slots = draw.of(&[16, 64, 128]);
            knee = f64::from(slots * connections);
            if draw.chance(0.5) {
                resources.client_slots = slots;
            } else {
                resources.server_slots = Some(slots);
            }
            // Everything else allows what the slots ask for.
            let more = knee / floor_s * size;
            resources.volume = Some(4.0 * more);
            resources.endpoint = resources.endpoint.map(|_| 5.0 * more);
            resources.egress = resources.egress.map(|_| 6.0 * more);
            resources.link = Some(6.0 * more);
            resources.operations = resources.operations.map(|_| 4.0 * more / size);
            resources.cpu_ns.0 = resources.cpu_ns.0.min(0.2 * floor_s / knee * 1e9);
        }
        Limit::Disk => {
            let servers = draw.of(&[1, 2, 4, 8]);
            let work = f64::from(servers) / rate * 1e9;
            // Seeks for random places, transfer for all.
            let kib = size / 1024.0;
            let by_size = draw.between(0.1, 0.5);
            let slower = draw.between(1.6, 6.0);
            let own = (work * (1.0 - by_size), work * by_size / kib);
            let (random_ns, sequential_ns) = match sequential {
                true => ((own.0 * slower, own.1), own),
                false => (own, (own.0 / slower, own.1)),
            };
            let write_factor = 1.0;
            resources.disk = Some(Disk { servers, random_ns, sequential_ns, write_factor });
            knee += f64::from(servers);
        }
        // Out of reach.
        _ => knee = f64::INFINITY,
    }
    if truth == Limit::NotReached {
        for amount in [&mut resources.volume, &mut resources.endpoint, &mut resources.egress] {
            *amount = amount.map(|amount| amount * 1000.0);
        }
        resources.link = resources.link.map(|link| link * 1000.0);
        resources.operations = None;
        resources.server_slots = None;
        resources.client_slots = 1 << 16;
        resources.cpu_ns.0 = resources.cpu_ns.0.min(100.0);
    }
    let known = known(&resources, &mut draw);
    System {
        resources,
        connections,
        workers,
        read_permille,
        size_bytes,
        sequential,
        knee,
        floor_s,
        known,
    }
}

/// What a user might know: the quota mostly, the VM's size and the link often, the rest seldom.
fn known(resources: &Resources, draw: &mut Draw) -> Known {
    let mut known = Known {
        processors: Some(16),
        client_slots: Some(f64::from(resources.client_slots)),
        own_client: true,
        ..Known::default()
    };
    let mut add = |limit, amount: Option<f64>, share: f64| {
        let is_known = draw.chance(share);
        if let Some(value) = amount.filter(|_| is_known) {
            known.limits.push(KnownLimit { limit, value, origin: "drawn".to_owned() });
        }
    };
    add(Limit::VolumeThroughput, resources.volume, 0.8);
    add(Limit::VmEgress, resources.egress, 0.6);
    add(Limit::Link, resources.link, 0.6);
    add(Limit::Endpoint, resources.endpoint, 0.2);
    add(Limit::NetworkFlow, resources.flow, 0.2);
    add(Limit::OperationsPerSecond, resources.operations, 0.1);
    known
}
