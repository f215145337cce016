//! Known answers of the arithmetic of topologies, bounds and errors.

use cloud::figure::Access;
use cloud::service_level::VolumeKind;
use predict::Interval;
use predict::point::{Bound, Point};
use predict::resource::ResourceKind;
use predict::spread::Error;
use predict::topology::{EndpointGroup, HostGroup, Load, Topology, VolumeGroup, Workload};

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
    let mut calibrated = predict::capacity(
        &Topology { workloads: vec![workload(0, vec![0])], ..topology() },
        &predict::Parameters::calibrated(&cloud::figure::all()),
    )
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
