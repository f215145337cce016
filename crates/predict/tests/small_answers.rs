//! Known answers of the arithmetic of topologies, bounds and errors.

use cloud::figure::Access;
use cloud::service_level::VolumeKind;
use predict::expect::{FigureComparison, Rates};
use predict::point::{Bound, Point, Unpredictable};
use predict::resource::ResourceKind;
use predict::spread::Error;
use predict::topology::{
    EndpointGroup, Floor, HostGroup, Load, NameLoad, Topology, VolumeGroup, Workload,
};
use predict::{Interval, Parameters, capacity, curve};
use units::{BytesPerSec, OpsPerSec};

fn workload(hosts: usize, volumes: Vec<usize>) -> Workload {
    Workload {
        name: "load".to_owned(),
        hosts,
        volumes,
        transfer_bytes: 8192,
        read: 1.0,
        access: Access::Random,
        load: Load::Closed { outstanding: 1 },
        names: None,
    }
}

/// Three Linux hosts with two connections each, five VMware hosts, and four groups of volumes.
fn topology() -> Topology {
    let mut named = VolumeGroup::of("named", 3, VolumeKind::Regular);
    named.endpoint = Some(0);
    Topology {
        name: "known".to_owned(),
        floor: None,
        burst_s: 0.0,
        hosts: vec![HostGroup::linux("linux", 3, 2), HostGroup::esxi("esxi", 5, None)],
        endpoints: vec![EndpointGroup::of(4)],
        volumes: vec![
            VolumeGroup::of("regular", 6, VolumeKind::Regular),
            VolumeGroup::of("other", 7, VolumeKind::Regular),
            VolumeGroup::of("large", 2, VolumeKind::Large),
            named,
        ],
        workloads: Vec::new(),
    }
}

fn calibrated() -> Parameters {
    Parameters::calibrated(&cloud::figure::all())
}

#[test]
fn regular_volumes_share_an_endpoint_and_named_ones_are_counted_once() {
    let topology = topology();
    let endpoints = |volumes: &[usize]| topology.endpoints_of(&workload(0, volumes.to_vec()));
    assert_eq!(endpoints(&[0]), 1);
    assert_eq!(endpoints(&[0, 1]), 1, "shared");
    assert_eq!(endpoints(&[2]), 2, "one of each large volume");
    assert_eq!(endpoints(&[3, 3]), 4, "named");
    assert_eq!(endpoints(&[0, 1, 2, 3]), 1 + 2 + 4);
    assert_eq!(topology.host_count(), 8);
}

#[test]
fn linux_hosts_connect_to_endpoints_and_vmware_hosts_to_volumes() {
    let topology = topology();
    assert_eq!(topology.flows(&workload(0, vec![0])), 3 * 2);
    assert_eq!(topology.flows(&workload(0, vec![2, 3])), 3 * 2 * (2 + 4));
    assert_eq!(topology.flows(&workload(1, vec![0, 1])), 5 * (6 + 7));
}

#[test]
fn the_used_share_of_a_bound_is_a_ratio_of_rates() {
    let rate = |ops_per_s: f64| Interval::exactly(ops_per_s);
    let mut calibrated =
        capacity(&Topology { workloads: vec![workload(0, vec![0])], ..topology() }, &calibrated())
            .expect("it can be predicted");
    calibrated.ops_per_s = rate(400.0);
    let bound: Bound = calibrated;
    let load = Point {
        outstanding: 1.0,
        ops_per_s: rate(100.0),
        bytes_per_s: rate(0.0),
        response_s: rate(0.0),
        by_workload: Vec::new(),
        bounded_by: bound.resource.clone(),
    };
    assert_eq!(bound.used_by(&load), 0.25);
}

#[test]
fn an_error_grows_with_a_power_of_one_plus_the_distance() {
    let error = Error { base: 0.2, growth: 2.0 };
    assert_eq!([error.at(0.0), error.at(1.0), error.at(3.0)], [0.2, 0.8, 3.2]);
    assert_eq!(Error { growth: 0.0, ..error }.at(9.0), 0.2);
}

#[test]
fn each_kind_of_resource_has_its_name_and_label() {
    let names = |kind: ResourceKind| (kind.name(), kind.label());
    assert_eq!(names(ResourceKind::FlowOpsLimit), ("flow_ops_limit", "connection limit"));
    assert_eq!(names(ResourceKind::Guest), ("guest", "virtual machines"));
    assert_eq!(names(ResourceKind::VolumeRandom), ("volume_random", "volumes, random"));
}

fn near(value: f64, expected: f64) {
    assert!((value / expected - 1.0).abs() < 1e-9, "{value} instead of {expected}");
}

#[test]
fn a_known_limit_bounds_its_share_of_the_bytes_or_calls() {
    let mut host = HostGroup::linux("linux", 3, 2);
    host.link = Some(BytesPerSec::new(1e9));
    host.egress = Some(BytesPerSec::new(2e8));
    host.flow_throughput = Some(BytesPerSec::new(5e7));
    host.flow_rate = Some(OpsPerSec::new(1000.0));
    host.call_bytes = 256 << 10;
    let limit = Some(BytesPerSec::new(1e8));
    // Both groups of volumes are on the same endpoints.
    let volumes = [3, 1].map(|count| VolumeGroup {
        endpoint: Some(0),
        limit: Some(BytesPerSec::new(1e7)),
        ..VolumeGroup::of("named", count, VolumeKind::Regular)
    });
    let transfer_bytes = 1 << 20;
    let topology = Topology {
        hosts: vec![host],
        endpoints: vec![EndpointGroup { limit, ..EndpointGroup::of(4) }],
        volumes: volumes.to_vec(),
        workloads: vec![Workload { transfer_bytes, read: 0.75, ..workload(0, vec![0, 1]) }],
        ..topology()
    };
    let bounds = curve(&topology, &calibrated()).expect("it can be predicted").bounds;
    let bound = |kind| {
        let bound = bounds.iter().find(|bound| bound.resource.kind == kind).expect("it is known");
        bound.ops_per_s.value
    };
    let bytes = f64::from(1 << 20);
    near(bound(ResourceKind::LinkOut), 3e9 / (0.25 * bytes));
    near(bound(ResourceKind::LinkIn), 3e9 / (0.75 * bytes));
    near(bound(ResourceKind::Egress), 6e8 / (0.25 * bytes));
    // 3 hosts with 2 connections to each of 4 endpoints, and 4 calls for each operation.
    near(bound(ResourceKind::FlowLimit), 24.0 * 5e7 / bytes);
    near(bound(ResourceKind::FlowOpsLimit), 24.0 * 1000.0 / 4.0);
    near(bound(ResourceKind::EndpointLimit), 4.0 * 1e8 / bytes);
    near(bound(ResourceKind::VolumeLimit), 4.0 * 1e7 / bytes);
}

#[test]
fn the_curve_of_open_loads_goes_from_5_to_99_percent_of_the_lowest_bound() {
    let offered = |rate| Workload {
        load: Load::Offered { rate: OpsPerSec::new(rate) },
        ..workload(0, vec![0])
    };
    let mut topology = Topology { workloads: vec![offered(100.0), offered(300.0)], ..topology() };
    topology.volumes[0].limit = Some(BytesPerSec::new(8192.0 * 1000.0));
    let parameters = calibrated();
    let open = curve(&topology, &parameters).expect("it can be predicted");
    // Six volumes of 1,000 ops/s each.
    near(open.bounds[0].ops_per_s.value, 6000.0);
    near(open.points[0].ops_per_s.value, 0.05 * 6000.0);
    near(open.most.ops_per_s.value, 0.99 * 6000.0);
    for point in open.requested.iter().chain(&open.points) {
        near(point.by_workload[1], 3.0 * point.by_workload[0]);
    }
    near(open.requested.expect("the limit is higher").ops_per_s.value, 400.0);
    topology.workloads[1] = workload(0, vec![0]);
    let both = curve(&topology, &parameters);
    assert!(matches!(both, Err(Unpredictable::TwoKindsOfLoad { .. })), "{both:?}");
}

#[test]
fn kinds_of_names_without_a_published_rate_are_listed_once() {
    let names = |kinds: &[&str]| {
        let not_counted = kinds.iter().map(|kind| (*kind).to_owned()).collect();
        Some(NameLoad { not_counted, not_counted_share: 0.5 })
    };
    let on_names =
        |kinds| Workload { names: names(kinds), transfer_bytes: 4096, ..workload(0, vec![0]) };
    let workloads = vec![
        on_names(&[]),
        on_names(&["rename"]),
        workload(0, vec![0]),
        on_names(&["rename"]),
        on_names(&["link"]),
    ];
    let curve = curve(&Topology { workloads, ..topology() }, &calibrated());
    let expected: Vec<NameLoad> =
        [&["rename"], &["link"]].iter().filter_map(|k| names(*k)).collect();
    assert_eq!(curve.expect("it can be predicted").not_counted, expected);
}

#[test]
fn a_comparison_is_a_ratio_and_within_both_ends_of_an_interval() {
    let operations = |here, published| Rates::Operations {
        here: OpsPerSec::new(here),
        published: OpsPerSec::new(published),
    };
    assert_eq!(operations(50.0, 200.0).ratio(), 0.25);
    let bytes = |rate| BytesPerSec::new(rate);
    assert_eq!(Rates::Bytes { here: bytes(300.0), published: bytes(200.0) }.ratio(), 1.5);
    let within = |unexplained| {
        let compared = FigureComparison { of_published: 1.0, explained: 1.0, unexplained };
        compared.is_within(Interval { low: 50.0, value: 100.0, high: 150.0 })
    };
    assert_eq!([0.49, 0.5, 1.0, 1.5, 1.51].map(within), [false, true, true, true, false]);
}

#[test]
fn slots_bound_a_slow_system_and_the_knee_is_where_both_bounds_cross() {
    let mut host = HostGroup::linux("linux", 3, 2);
    (host.slots, host.call_bytes) = (100, 256 << 10);
    let floor = Some(Floor { mean_s: 1.0, spread: 0.0 });
    let transfer_bytes = 1 << 20;
    let slow = Topology {
        floor,
        hosts: vec![host],
        workloads: vec![Workload { transfer_bytes, ..workload(0, vec![0]) }],
        ..topology()
    };
    // 6 connections of 100 slots, and 4 calls for each operation of 1 s.
    let bound = capacity(&slow, &calibrated()).expect("it can be predicted");
    assert_eq!((bound.resource.kind, bound.count), (ResourceKind::Slots, 6));
    near(bound.ops_per_s.value, 150.0);
    near(bound.bytes_per_s.value, 150.0 * f64::from(1 << 20));
    let mut limited = slow;
    limited.volumes[0].limit = Some(BytesPerSec::new(f64::from(1 << 20)));
    let curve = curve(&limited, &calibrated()).expect("it can be predicted");
    // Six volumes of 1 operation per second, each operation of 1 s.
    near(curve.knee_outstanding.value, 6.0);
}

#[test]
fn each_kind_of_resource_is_counted_by_what_has_one() {
    let bounds = |hosts: HostGroup, volumes: Vec<usize>| {
        let mut topology = topology();
        topology.hosts[0] = hosts;
        topology.workloads = vec![workload(0, volumes)];
        let bounds = curve(&topology, &calibrated()).expect("it can be predicted").bounds;
        move |kind| {
            let of_kind = bounds.iter().filter(move |bound| bound.resource.kind == kind);
            let mut counts: Vec<u64> = of_kind.map(|bound| bound.count).collect();
            counts.sort_unstable();
            counts
        }
    };
    use ResourceKind::{EndpointOps, Flow, Guest, HostProcessing};
    // Regular volumes at the shared endpoint, and those at 4 endpoints: separate connections.
    let linux = bounds(HostGroup::linux("linux", 3, 2), vec![0, 3]);
    assert_eq!((linux(Flow), linux(EndpointOps)), (vec![6, 24], vec![1, 4]));
    assert_eq!(linux(HostProcessing), []);
    let esxi = bounds(HostGroup::esxi("esxi", 5, Some(3)), vec![0, 3]);
    assert_eq!((esxi(Guest), esxi(HostProcessing)), (vec![15], vec![5]));
    assert_eq!(esxi(Flow), [5 * 3, 5 * 6]);
}

#[test]
fn twice_the_processors_send_twice_the_bytes() {
    let rate = |vcpu| {
        let host = HostGroup { vcpu: Some(vcpu), ..HostGroup::linux("linux", 1, 1) };
        let large = Workload { transfer_bytes: 1 << 20, ..workload(0, vec![0]) };
        let topology = Topology { hosts: vec![host], workloads: vec![large], ..topology() };
        let bounds = curve(&topology, &calibrated()).expect("it can be predicted").bounds;
        let is_host = |bound: &&Bound| bound.resource.kind == ResourceKind::HostProcessing;
        bounds.iter().find(is_host).expect("its size is known").bytes_per_s.value
    };
    near(rate(16), 2.0 * rate(8));
}

#[test]
fn hosts_have_separate_connections_and_each_call_loads_an_endpoint() {
    let two = |call_bytes| {
        let mut topology = topology();
        topology.hosts = vec![HostGroup::linux("one", 3, 2), HostGroup::linux("two", 1, 4)];
        topology.hosts.iter_mut().for_each(|host| host.call_bytes = call_bytes);
        let other = Workload { hosts: 1, ..workload(0, vec![0]) };
        topology.workloads = vec![workload(0, vec![0]), other];
        curve(&topology, &calibrated()).expect("it can be predicted").bounds
    };
    let of = |bounds: &[Bound], kind| -> Vec<Bound> {
        bounds.iter().filter(|bound| bound.resource.kind == kind).cloned().collect()
    };
    let mut flows: Vec<u64> =
        of(&two(8192), ResourceKind::Flow).iter().map(|bound| bound.count).collect();
    flows.sort_unstable();
    assert_eq!(flows, [4, 6]);
    let endpoint = |call_bytes| of(&two(call_bytes), ResourceKind::EndpointOps)[0].ops_per_s.value;
    near(endpoint(8192), 4.0 * endpoint(2048));
}
