//! No cheaper design exists: exhaustive search on a small catalogue over pools, number of volumes,
//! size and number of hosts and number of connections, with independent arithmetic. Measured rates
//! and response times come from `predict` on both sides.

use crate::needs;
use std::sync::LazyLock;

use cloud::figure::Access;
use cloud::row::LimitName;
use cloud::service_level::{QosType, ServiceLevel, VolumeKind};
use cloud::throughput::KibPerSec;
use cloud::vm_size::VmSize;
use predict::topology::{EndpointGroup, HostGroup, Load, Topology, VolumeGroup, Workload};
use sizing::capability::Ability;
use sizing::design::Design;
use sizing::facts::Facts;
use sizing::need::{Demand, Need, Part, Protocol};
use sizing::solve::{Verdict, solve};
use units::{BytesPerSec, Nanos, Share};

/// Hosts of three sizes with different egress per processor.
static FACTS: LazyLock<Facts> = LazyLock::new(|| {
    let mut facts = Facts::embedded();
    let sizes = ["Standard_D4s_v3", "Standard_D16s_v5", "Standard_E32s_v5"];
    facts.vms.retain(|vm| sizes.contains(&vm.name.as_str()));
    assert_eq!(facts.vms.len(), sizes.len());
    facts
});

/// Largest values in the search.
const HOSTS: u64 = 12;
const VOLUMES: u64 = 4;
/// Volumes and their pools.
const PLACED: [(u64, u64); 10] =
    [(1, 1), (2, 1), (2, 2), (3, 1), (3, 2), (3, 3), (4, 1), (4, 2), (4, 3), (4, 4)];
const POOL_TIB: u64 = 160;
const CONNECTIONS: [u64; 3] = [1, 8, 16];
const SPARES: [u64; 6] = [0, 100, 200, 300, 400, 500];
/// Least share of the rate that counts as reached in the model.
const REACHED: f64 = 0.97;

fn need(kib: u64, gib: u64, permille: u64, transfer_bytes: u64, access: Access) -> Need {
    let (throughput, read) = (KibPerSec::new(kib), Share::from_permille(permille));
    let demand = Demand { throughput, transfer_bytes, read, access, names_per_s: 0 };
    Need { levels: Vec::new(), ..needs::of(demand, gib) }
}

fn limit(name: LimitName) -> u64 {
    FACTS.catalog.limit(name)
}

/// A design of the exhaustive search.
#[derive(Clone, Debug)]
struct Tried {
    kind: VolumeKind,
    volumes: u64,
    /// KiB/s per volume.
    limits: Vec<u64>,
    vm: VmSize,
    hosts: u64,
    connections: u64,
    micros: u128,
}

/// Cost of storage in millionths of a dollar per hour, and the limits of its volumes; `None` if
/// impossible.
fn storage(
    need: &Need,
    (level, qos): (ServiceLevel, QosType),
    (kind, volumes, pools): (VolumeKind, u64, u64),
    spare: u64,
) -> Option<(u128, Vec<u64>)> {
    let part = &need.parts[0];
    let wanted = (part.throughput().get() * 1000).div_ceil(1000 - spare);
    let (least, most) = if kind == VolumeKind::Large { (51_200, 1 << 20) } else { (50, 102_400) };
    let ceiling = FACTS.catalog.volume_ceiling(level, QosType::Auto, kind)?.get();
    let rate = FACTS.catalog.level(level).throughput.map(|rate| rate.kib_per_sec_per_gib());
    // The least quota, in GiB, for capacity and throughput, divided evenly.
    let mut quota = part.capacity_gib.max(volumes * least);
    if let (Some(rate), QosType::Auto) = (rate, qos) {
        quota = quota.max(wanted.div_ceil(rate));
    }
    let of = |index: u64| quota / volumes + u64::from(index < quota % volumes);
    if of(0) > most || of(volumes - 1) < least {
        return None;
    }
    let mib = wanted.div_ceil(1024).max(volumes);
    let assigned = |index: u64| (mib / volumes + u64::from(index < mib % volumes)) * 1024;
    let limits: Vec<u64> = (0..volumes)
        .map(|index| match (qos, rate) {
            (QosType::Auto, Some(rate)) => (of(index) * rate).min(ceiling),
            _ => assigned(index),
        })
        .collect();
    if limits.iter().sum::<u64>() < wanted || limits.iter().any(|one| *one > ceiling) {
        return None;
    }
    let prices = FACTS.prices.storage("eastus").expect("prices");
    let mut hour = 0;
    for pool in 0..pools {
        let own = || (0..volumes).filter(|index| index % pools == pool);
        let given: u64 = own().map(|index| limits[index as usize]).sum();
        let quota: u64 = own().map(of).sum();
        let enough = |tib: &u64| {
            let gives = match (qos, rate) {
                (QosType::Auto, _) => u64::MAX,
                (QosType::Manual, Some(rate)) => tib * 1024 * rate,
                (QosType::Manual, None) => tib * limit(LimitName::FlexibleThroughputMaxPerTib),
            };
            tib * 1024 >= quota && gives >= given
        };
        let tib = (1..=POOL_TIB).find(enough)?;
        hour +=
            u128::from(prices.capacity(level).expect("a price").micros()) * u128::from(tib * 1024);
        if rate.is_none() {
            let above = (given / 1024).saturating_sub(128);
            hour += u128::from(prices.flexible.expect("a price").throughput.micros())
                * u128::from(above);
        }
    }
    Some((hour, limits))
}

/// Whether hosts are sufficient, by measured rates, egress and waiting operations.
fn holds(need: &Need, tried: &Tried) -> bool {
    let demand = &need.parts[0].demands[0];
    let ability =
        Ability::of(demand, tried.kind, Protocol::Nfs3, &FACTS).expect("something is moved");
    let wanted = demand.throughput.get() as f64;
    let endpoints = match tried.kind {
        VolumeKind::Regular => {
            let one = ability.endpoint.expect("regular volumes share endpoints").value;
            (wanted / one).ceil().max(1.0) as u64
        }
        _ => tried.volumes,
    };
    if tried.kind == VolumeKind::Regular && endpoints > tried.volumes {
        return false;
    }
    let flows = tried.hosts * tried.connections * endpoints;
    let writes_bits =
        u128::from(demand.throughput.get()) * u128::from(demand.read.rest().permille()) * 1024 * 8
            / 1000;
    let sent_bits = u128::from(tried.hosts) * u128::from(tried.vm.egress_mbit_s) * 1_000_000;
    let host = ability.host(tried.vm.vcpu).kib_s;
    if (tried.volumes as f64) * ability.volume.kib_s < wanted
        || (tried.hosts as f64) * host < wanted
        || flows as f64 * ability.connection.value < wanted
        // The solver counts whole KiB/s of both.
        || sent_bits < writes_bits + 8 * 1024 * u128::from(tried.hosts + 1)
    {
        return false;
    }
    let topology = topology(tried, demand, endpoints);
    let rate = |outstanding: f64| {
        let point = predict::at(&topology, &FACTS.parameters, outstanding).expect("a topology");
        point.ops_per_s.value
    };
    let wanted = demand.rate().get() * REACHED;
    if rate(1e7) < wanted {
        // The figures leave open whether volumes are sufficient, so slots do not decide.
        return need.response_time.is_none();
    }
    let slots = (flows * 128).min(endpoints * 10_000) as f64;
    let calls = demand.transfer_bytes.div_ceil(262_144) as f64;
    if rate(slots / calls) < wanted {
        return false;
    }
    let Some(within) = need.response_time else { return true };
    let outstanding = wanted * within.0 / 1e9;
    rate(outstanding.min(slots / calls)) >= wanted
}

fn topology(tried: &Tried, demand: &Demand, endpoints: u64) -> Topology {
    let mut hosts = HostGroup::linux("host", tried.hosts, tried.connections);
    hosts.vcpu = Some(tried.vm.vcpu);
    hosts.egress = Some(BytesPerSec::new(tried.vm.egress_mbit_s as f64 * 125_000.0));
    hosts.slots = 1 << 32;
    let is_regular = tried.kind == VolumeKind::Regular;
    let volumes = |limit: &u64| {
        let mut volumes = VolumeGroup::of("volume", 1, tried.kind);
        volumes.limit = Some(BytesPerSec::new(*limit as f64 * 1024.0));
        volumes.endpoint = is_regular.then_some(0);
        volumes
    };
    let name = "endpoint".to_owned();
    let endpoint = EndpointGroup { name, count: endpoints, limit: None };
    Topology {
        name: "tried".to_owned(),
        floor: None,
        burst_s: 0.0,
        hosts: vec![hosts],
        endpoints: if is_regular { vec![endpoint] } else { Vec::new() },
        volumes: tried.limits.iter().map(volumes).collect(),
        workloads: vec![Workload {
            name: "demand".to_owned(),
            hosts: 0,
            volumes: (0..tried.limits.len()).collect(),
            transfer_bytes: demand.transfer_bytes,
            read: demand.read.fraction(),
            access: demand.access,
            load: Load::Closed { outstanding: 1 },
            names: None,
        }],
    }
}

/// One storage with all sizes and numbers of hosts.
fn with_hosts(kind: VolumeKind, hour: u128, limits: &[u64]) -> Vec<Tried> {
    let mut all = Vec::new();
    for vm in &FACTS.vms {
        let price = FACTS.prices.vm(&vm.name, "eastus").expect("a price").hour.micros();
        for hosts in 1..=HOSTS {
            let micros = (hour + u128::from(price) * u128::from(hosts)) * 730;
            all.extend(CONNECTIONS.map(|connections| Tried {
                kind,
                volumes: limits.len() as u64,
                limits: limits.to_vec(),
                vm: vm.clone(),
                hosts,
                connections,
                micros,
            }));
        }
    }
    all
}

/// The cheapest of all designs.
fn cheapest(need: &Need) -> Option<Tried> {
    let mut all: Vec<Tried> = Vec::new();
    let spares = if need.response_time.is_some() { &SPARES[..] } else { &SPARES[..1] };
    for level in need.levels.iter().copied() {
        for qos in FACTS.catalog.level(level).qos.iter().copied() {
            for kind in [VolumeKind::Regular, VolumeKind::Large] {
                for (volumes, pools) in PLACED {
                    for spare in spares {
                        let built = (kind, volumes, pools);
                        if let Some((hour, limits)) = storage(need, (level, qos), built, *spare) {
                            all.extend(with_hosts(kind, hour, &limits));
                        }
                    }
                }
            }
        }
    }
    all.sort_by_key(|tried| tried.micros);
    all.into_iter().find(|tried| holds(need, tried))
}

/// The parts of a design that the exhaustive search has.
fn as_tried(design: &Design) -> Tried {
    let hosts = design.hosts.as_ref().expect("something is moved");
    let volumes = design.pools.iter().flat_map(|pool| &pool.volumes);
    let limits = volumes.flat_map(|v| (0..v.count).map(|_| v.throughput.get()));
    Tried {
        kind: design.kind,
        volumes: design.volume_count(),
        limits: limits.collect(),
        vm: FACTS.vm(&hosts.vm).expect("a size that is known").clone(),
        hosts: u64::from(hosts.count),
        connections: hosts.connections,
        micros: u128::from(design.cost.month().micros()),
    }
}

/// Compares both searches; returns whether there is a design.
fn compare(need: &Need) -> bool {
    let designs = match solve(need, &FACTS).expect("a need") {
        Verdict::Feasible { designs, .. } => designs,
        Verdict::Infeasible(_) => Vec::new(),
    };
    let found = designs.first().map(as_tried);
    let brute = cheapest(need);
    match (&found, &brute) {
        (Some(found), Some(brute)) => {
            assert!(
                found.micros <= brute.micros,
                "{found:#?} is not the cheapest: {brute:#?}\nfor {need:#?}"
            );
            // A cheaper design must be outside the exhaustive search.
            let is_within = found.hosts <= HOSTS && found.volumes <= VOLUMES;
            assert!(
                found.micros == brute.micros || !is_within,
                "{found:#?} is cheaper than {brute:#?}\nfor {need:#?}"
            );
        }
        (None, Some(brute)) => panic!("{brute:#?} was not found for {need:#?}"),
        (Some(found), None) => {
            assert!(found.hosts > HOSTS || found.volumes > VOLUMES, "{found:#?}\n{need:#?}");
        }
        (None, None) => {}
    }
    found.is_some()
}

#[test]
fn no_cheaper_hosts_connections_and_volumes_exist() {
    let (random, in_order) = (Access::Random, Access::Sequential);
    let cases = [
        // Egress decides.
        (950 << 10, 4096, 0, 64 << 10, in_order),
        (400 << 10, 1024, 0, 64 << 10, in_order),
        (2000 << 10, 8192, 300, 64 << 10, in_order),
        // Processors decide.
        (468 << 10, 4096, 700, 8 << 10, random),
        (200 << 10, 1024, 1000, 4 << 10, random),
        (1200 << 10, 60 << 10, 500, 8 << 10, random),
        // A very small need, and a large volume next to several.
        (1, 1, 500, 8 << 10, random),
        (3000 << 10, 60 << 10, 1000, 256 << 10, in_order),
        // Several calls per operation.
        (1000 << 10, 2048, 1000, 1 << 20, in_order),
    ];
    for (kib, gib, read, transfer, access) in cases {
        for level in [ServiceLevel::Premium, ServiceLevel::Flexible] {
            let levels = vec![level];
            let need = Need { levels, ..need(kib, gib, read, transfer, access) };
            assert!(compare(&need), "nothing does it: {need:#?}");
        }
    }
}

/// Every assignment of parts to levels, and of parts of one level to pools.
fn cheapest_layout(need: &Need) -> u128 {
    let options: Vec<(ServiceLevel, QosType)> = need
        .levels
        .iter()
        .flat_map(|level| FACTS.catalog.level(*level).qos.iter().map(|qos| (*level, *qos)))
        .collect();
    let prices = FACTS.prices.storage("eastus").expect("prices");
    // Each part has an option and one of its pools, of which there are as many as parts.
    let parts = need.parts.len();
    let each = options.len() * parts;
    let mut best = u128::MAX;
    for code in 0..each.pow(parts as u32) {
        let option_of = |part: usize| code / each.pow(part as u32) % each;
        let mut hour: u128 = 0;
        for pool in 0..each {
            let own: Vec<&Part> = (0..parts)
                .filter(|part| option_of(*part) == pool)
                .map(|p| &need.parts[p])
                .collect();
            if own.is_empty() {
                continue;
            }
            let (level, qos) = options[pool / parts];
            let rate = FACTS.catalog.level(level).throughput.map(|rate| rate.kib_per_sec_per_gib());
            let kib = |part: &&Part| part.throughput().get();
            let mib: u64 = own.iter().map(|part| kib(part).div_ceil(1024).max(1)).sum();
            let gib: u64 = match (qos, rate) {
                (QosType::Auto, Some(rate)) => own
                    .iter()
                    .map(|part| part.capacity_gib.max(kib(part).div_ceil(rate)).max(50))
                    .sum(),
                _ => own.iter().map(|part| part.capacity_gib.max(50)).sum(),
            };
            let by_throughput = match (qos, rate) {
                (QosType::Auto, _) => 0,
                (_, Some(rate)) => (mib * 1024).div_ceil(rate),
                (_, None) => mib.div_ceil(640) * 1024,
            };
            let gib = gib.max(by_throughput).div_ceil(1024) * 1024;
            hour += u128::from(gib) * u128::from(prices.capacity(level).expect("a price").micros());
            if rate.is_none() {
                let above = u128::from(mib.saturating_sub(128));
                hour += above * u128::from(prices.flexible.expect("a price").throughput.micros());
            }
        }
        best = best.min(hour * 730);
    }
    best
}

#[test]
fn no_cheaper_layout_of_parts_over_pools_exists() {
    let cases: [&[(u64, u64)]; 5] = [
        &[(4096, 400), (60 << 10, 40)],
        &[(1024, 120), (1000, 128)],
        &[(1024, 64), (2048, 500), (500, 10)],
        &[(50, 1), (20 << 10, 16), (1024, 256)],
        &[(4096, 704), (512, 256), (1024, 64)],
    ];
    for parts in cases {
        let mut many = need(1, 1, 1000, 64 << 10, Access::Sequential);
        let demand = many.parts[0].demands[0];
        let part = |(index, (gib, mib)): (usize, &(u64, u64))| Part {
            name: format!("part {index}"),
            capacity_gib: *gib,
            demands: vec![Demand { throughput: KibPerSec::new(mib << 10), ..demand }],
            inodes: 0,
        };
        many.parts = parts.iter().enumerate().map(part).collect();
        use ServiceLevel::{Premium, Standard, Ultra};
        many.levels = vec![Standard, Premium, Ultra];
        assert_eq!(cheapest_storage(&many), cheapest_layout(&many), "{parts:?}");
        // Flexible may also divide a part among pools, which this search does not include.
        many.levels = ServiceLevel::ALL.to_vec();
        assert!(cheapest_storage(&many) <= cheapest_layout(&many), "{parts:?}");
    }
}

fn cheapest_storage(need: &Need) -> u128 {
    use sizing::cost::Item::{Capacity, Throughput};
    let Ok(Verdict::Feasible { designs, .. }) = solve(need, &FACTS) else { panic!("{need:#?}") };
    let storage = |design: &Design| design.cost.of(Capacity) + design.cost.of(Throughput);
    u128::from(designs.iter().map(storage).min().expect("a design").micros())
}

#[test]
fn no_cheaper_design_is_as_fast() {
    for (kib, read, ms) in [(468 << 10, 700, 3), (200 << 10, 1000, 2), (700 << 10, 0, 2)] {
        for level in [ServiceLevel::Premium, ServiceLevel::Flexible] {
            let mut fast = need(kib, 2048, read, 8 << 10, Access::Random);
            fast.response_time = Some(Nanos((ms * 1_000_000) as f64));
            fast.levels = vec![level];
            assert!(compare(&fast), "nothing is as fast: {fast:#?}");
        }
    }
}

#[test]
fn designs_are_possible_by_independent_arithmetic() {
    for read in [0, 500, 1000] {
        for mib in [100, 900, 2500] {
            let mut need = need(mib << 10, 4096, read, 64 << 10, Access::Sequential);
            need.levels = ServiceLevel::ALL.to_vec();
            let Ok(Verdict::Feasible { designs, of_each, .. }) = solve(&need, &FACTS) else {
                panic!("{need:#?}")
            };
            for design in designs.iter().chain(&of_each) {
                assert!(holds(&need, &as_tried(design)), "{design:#?}");
            }
        }
    }
}
