//! Known answers of the values that designs are made of.

use cloud::figure::Access;
use cloud::service_level::{QosType, ServiceLevel, VolumeKind};
use cloud::throughput::KibPerSec;
use sizing::capability::Abilities;
use sizing::claim::ClaimKind;
use sizing::facts::Facts;
use sizing::host_kind::{self, HostKind};
use sizing::hosts::Hosts;
use sizing::need::{Demand, Protocol};
use sizing::pool::{Pool, Volumes};
use sizing::resource_use::{Resource, Use};
use sizing::solve::{Verdict, solve};
use units::Share;

use crate::needs;

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

/// Sequential reads of 64 KiB, and operations on names.
fn demand(mib: u64, names_per_s: u64) -> Demand {
    Demand {
        throughput: KibPerSec::new(mib << 10),
        transfer_bytes: 64 << 10,
        read: Share::WHOLE,
        access: Access::Sequential,
        names_per_s,
    }
}

#[test]
fn volumes_carry_as_many_operations_on_names_as_published() {
    let facts = Facts::embedded();
    // 40 % of the 792,046 ops/s of figure C07.
    let (rate, figure) = facts.name_rate(VolumeKind::Large).expect("it is published");
    assert!((rate.get() - 316_818.4).abs() < 0.01, "{rate}");
    assert!(figure.row.ends_with("C07"), "{figure:?}");
    let mut need = needs::of(demand(100, 633_637), 1024);
    need.parts[0].demands.push(demand(100, 158_409));
    let abilities = Abilities::of(&need, VolumeKind::Large, &facts);
    let (volumes, most, published) = abilities.volumes_for_names(0).expect("it is published");
    assert!((volumes - 2.0).abs() < 1e-5, "{volumes}");
    assert_eq!((most.names_per_s, published.0), (633_637, rate));
    assert_eq!(abilities.volumes_for(0), volumes);
    let data = Abilities::of(&needs::of(demand(100, 0), 1024), VolumeKind::Large, &facts);
    assert_eq!(data.volumes_for_names(0), None);
    assert_eq!(data.volumes_for(0), data.volumes_for_data(0));
}

#[test]
fn an_operation_on_names_loads_a_host_like_a_small_read() {
    let facts = Facts::embedded();
    // 51,200 calls of 4 KiB are 200 MiB/s.
    let calls = Demand { transfer_bytes: 4096, access: Access::Random, ..demand(200, 0) };
    let used = |demand: Demand| {
        let abilities = Abilities::of(&needs::of(demand, 1024), VolumeKind::Large, &facts);
        abilities.share_of(0, |ability| ability.host(8).kib_s)
    };
    let together = used(demand(100, 51_200));
    let separate = used(demand(100, 0)) + used(calls);
    assert!((together / separate - 1.0).abs() < 1e-12, "{together} {separate}");
    assert!(together > used(demand(100, 0)));
}

#[test]
fn the_hardest_demand_needs_most_of_a_volume_and_not_most_bytes() {
    let facts = Facts::embedded();
    let small = Demand { transfer_bytes: 4096, access: Access::Random, ..demand(1000, 0) };
    let mut need = needs::of(demand(1200, 0), 1024);
    need.parts[0].demands.push(small);
    let abilities = Abilities::of(&need, VolumeKind::Regular, &facts);
    let hardest = abilities.hardest(0).map(|(demand, _)| *demand);
    assert_eq!(hardest, Some(small));
}

#[test]
fn a_design_for_names_shows_how_many_its_volumes_carry() {
    let facts = Facts::embedded();
    let (each, _) = facts.name_rate(VolumeKind::Regular).expect("it is published");
    let names_per_s = (2.5 * each.get()) as u64;
    let need = needs::of(demand(10, names_per_s), 1024);
    let Ok(Verdict::Feasible { designs, .. }) = solve(&need, &facts) else { panic!("{need:?}") };
    let mut counts = Vec::new();
    for design in designs {
        let volumes: u64 =
            design.pools.iter().flat_map(|pool| &pool.volumes).map(|v| v.count).sum();
        let kind = design.pools[0].volumes[0].kind;
        let (each, _) = facts.name_rate(kind).expect("it is published");
        let of_names = |one: &&Use| one.resource == Resource::VolumeNames;
        let one = design.uses.iter().find(of_names).expect("operations on names are required");
        assert_eq!(one.used, names_per_s);
        assert!(one.limit.abs_diff((each.get() * volumes as f64) as u64) <= 1, "{one:?}");
        let expected = if volumes == 1 { ClaimKind::Published } else { ClaimKind::Extrapolated };
        assert_eq!(one.kind, expected);
        counts.push((kind, volumes));
    }
    assert!(counts.contains(&(VolumeKind::Regular, 3)), "{counts:?}");
}
