//! Known answers of the values that designs are made of.

use cloud::service_level::{QosType, ServiceLevel, VolumeKind};
use cloud::throughput::KibPerSec;
use sizing::claim::ClaimKind;
use sizing::facts::Facts;
use sizing::host_kind::{self, HostKind};
use sizing::hosts::Hosts;
use sizing::need::Protocol;
use sizing::pool::{Pool, Volumes};
use sizing::resource_use::{Resource, Use};
use units::Share;

fn volumes(count: u64, quota_gib: u64, throughput: u64) -> Volumes {
    let (part, kind) = ("data".to_owned(), VolumeKind::Regular);
    Volumes { part, count, kind, quota_gib, throughput: KibPerSec::new(throughput) }
}

#[test]
fn a_pool_adds_the_quotas_and_limits_of_its_volumes() {
    let pool = Pool {
        level: ServiceLevel::Premium,
        qos: QosType::Auto,
        size_gib: 4096,
        throughput: KibPerSec::new(1),
        volumes: vec![volumes(3, 100, 7), volumes(2, 50, 11)],
    };
    assert_eq!((pool.quota_gib(), pool.limits().get()), (400, 43));
}

#[test]
fn capacity_is_no_rate_and_four_resources_are_of_hosts() {
    use Resource::{
        Capacity, Egress, Endpoints, Flows, HostCapability, RegionalQuota, Slots, VolumeCapability,
        VolumeLimits,
    };
    let all = [
        VolumeLimits,
        VolumeCapability,
        Capacity,
        Egress,
        HostCapability,
        Flows,
        Slots,
        Endpoints,
        RegionalQuota,
    ];
    let not_rates: Vec<_> = all.into_iter().filter(|one| !one.is_rate()).collect();
    assert_eq!(not_rates, [Capacity, RegionalQuota]);
    let of_hosts: Vec<_> = all.into_iter().filter(|one| one.is_of_hosts()).collect();
    assert_eq!(of_hosts, [Egress, HostCapability, Flows, Slots]);
}

#[test]
fn a_used_share_is_rounded_up() {
    let share = |used, limit| {
        Use { resource: Resource::Capacity, kind: ClaimKind::Derived, used, limit }.share()
    };
    assert_eq!([share(1, 2), share(1, 3)], [Share::from_permille(500), Share::from_permille(334)]);
}

#[test]
fn hosts_divide_a_throughput_and_multiply_connections() {
    let hosts = |count| Hosts {
        vm: "Standard_D8s_v5".to_owned(),
        vcpu: 8,
        extrapolated_from: None,
        is_charged: true,
        attached: Protocol::Nfs3,
        count,
        connections: 4,
        endpoints: 2,
        paths: 3,
        slots: None,
        outstanding: None,
    };
    assert_eq!(hosts(2).each_of(KibPerSec::new(7)).get(), 4);
    assert_eq!(hosts(2).each_of(KibPerSec::new(8)).get(), 4);
    assert_eq!(hosts(0).each_of(KibPerSec::new(7)).get(), 7);
    assert_eq!(hosts(5).connections_total(), 5 * 4 * 3);
}

#[test]
fn egress_is_converted_from_megabits_and_hosts_of_clusters_have_a_range() {
    let facts = Facts::embedded();
    let vm = host_kind::named("d8s_v5", Protocol::Nfs3, &facts).expect("it is known");
    let of = |egress_mbit_s| HostKind { egress_mbit_s, ..vm.clone() }.egress_kib_s();
    // 8 Mbit/s are 10^6 B/s, 976.5 KiB/s.
    assert_eq!([of(None), of(Some(8)), of(Some(0))], [None, Some(976), Some(1)]);
    assert_eq!((vm.fewest, vm.most), (1, None));
    let host = host_kind::named("AV36P", Protocol::Datastores, &facts).expect("it is known");
    assert_eq!((host.fewest, host.most, host.vcpu), (3, Some(96), 36));
    assert_eq!(host_kind::named("AV36P", Protocol::Nfs3, &facts), None);
}
