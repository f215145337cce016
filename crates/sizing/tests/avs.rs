//! Sizing of Azure VMware Solution: the published formula, designs checked by independent
//! arithmetic, and the reasons of impossible designs.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use cloud::avs::{Avs, AvsLimit};
use cloud::catalog::Catalog;
use cloud::figure;
use cloud::price::{Prices, Usd};
use cloud::row::LimitName;
use cloud::service_level::{QosType, ServiceLevel, VolumeKind};
use cloud::throughput::KibPerSec;
use cloud::volume_limit::VolumeSettings;
use predict::{Parameters, ResourceKind};
use proptest::prelude::*;
use sizing::avs::ask::{Ask, Facts, OnVsan, Refusal};
use sizing::avs::design::Design;
use sizing::avs::machine::Labels;
use sizing::avs::machine::{Disk, Machine, Power, StorageUse};
use sizing::avs::ratio::{Ratio, RatioSource};
use sizing::avs::recommendation::Direction;
use sizing::avs::statement::{LoadRate, Statement};
use sizing::avs::{Sizing, hosts, size};
use units::{Bytes, BytesPerSec, OpsPerSec, Share};

const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

struct World {
    avs: Avs,
    catalog: Catalog,
    parameters: Parameters,
    prices: Prices,
}

impl World {
    /// Calibrated once, because that takes longer than all of these tests.
    fn new() -> &'static World {
        static WORLD: OnceLock<World> = OnceLock::new();
        WORLD.get_or_init(|| World {
            avs: Avs::embedded(),
            catalog: Catalog::embedded(),
            parameters: Parameters::calibrated(&figure::all()),
            prices: Prices::embedded(),
        })
    }

    fn facts(&self) -> Facts<'_> {
        Facts {
            avs: &self.avs,
            catalog: &self.catalog,
            parameters: &self.parameters,
            prices: self.prices.storage("eastus"),
        }
    }

    fn ask(&self) -> Ask {
        Ask {
            powers: vec![Power::On],
            host: self.avs.host("AV36P").expect("a row").clone(),
            policy: self.avs.policy("raid1").expect("a row").clone(),
            vcpus_per_core: Some(Ratio { vcpus: 4, cores: 1, source: RatioSource::Given }),
            on_vsan: OnVsan::Coldest,
            saving: Share::WHOLE,
            format: Share::ZERO,
            headroom_percent: None,
            datastores: None,
            datastore_gib_max: None,
            hosts: None,
            spare_hosts: Some(0),
            host_month: None,
            profile: None,
            ops_per_machine: None,
            bytes_per_s_per_machine: None,
            transfer_bytes: 8192,
            read: Share::from_percent(70),
        }
    }

    fn size(&self, machines: &[Machine], ask: &Ask) -> Sizing {
        size(machines, ask, &self.facts()).expect("some machine counts")
    }
}

fn machine(row: u32, gib: u64) -> Machine {
    Machine {
        name: format!("vm{row}"),
        row,
        power: Power::On,
        is_template: false,
        is_placeholder: false,
        vcpus: 4,
        memory: Bytes::gib(16),
        storage: Some(Bytes::gib(gib)),
        storage_use: StorageUse::default(),
        labels: Labels::default(),
        disks: Vec::new(),
        rate: None,
        throughput: None,
    }
}

fn machines(count: u32, gib: u64) -> Vec<Machine> {
    (2..count + 2).map(|row| machine(row, gib)).collect()
}

fn design<'a>(sizing: &'a Sizing, name: &str) -> &'a Design {
    sizing.designs.iter().find(|design| design.name() == name).expect("a design")
}

#[test]
fn the_manual_formula_gives_the_same_result() {
    let world = World::new();
    let ask = world.ask();
    // AV36P: 19.2 TB raw, half of it for RAID 1, three quarters of that usable.
    assert_eq!(hosts::usable(1, &ask, &world.avs).get(), 7_200_000_000_000);
    let raid5 = Ask { policy: world.avs.policy("raid5").unwrap().clone(), ..ask.clone() };
    assert_eq!(hosts::usable(4, &raid5, &world.avs).get(), 43_200_000_000_000);
    let saved =
        Ask { saving: Share::from_percent(150), format: Share::from_percent(10), ..ask.clone() };
    assert_eq!(hosts::usable(1, &saved, &world.avs).get(), 9_720_000_000_000);

    // 1,000 machines of 4 vCPUs, 16 GiB and 500 GiB.
    let sizing = world.size(&machines(1000, 500), &ask);
    let hosts = &sizing.hosts;
    assert_eq!(hosts.by_processors, Some(4000_u64.div_ceil(4 * 36)));
    assert_eq!(hosts.by_memory, 16_000_u64.div_ceil(768));
    assert_eq!(hosts.by_storage, (500_000 * GIB).div_ceil(7_200_000_000_000));
    assert_eq!((hosts.at_least(hosts.least), hosts.with_vsan_only()), (28, 75));
    assert_eq!(sizing.designs[0].clusters, 5);
    assert_eq!(design(&sizing, "Premium").hosts, 28);
    let Statement::HostsByProcessors { vcpus, ratio, cores, .. } = &hosts.reasons[0].statement
    else {
        panic!("{:?}", hosts.reasons)
    };
    assert_eq!((*vcpus, ratio.vcpus, ratio.cores, *cores), (4_000, 4, 1, 36));
}

#[test]
fn a_cluster_has_at_least_the_hosts_that_its_policy_requires() {
    let world = World::new();
    let sizing = world.size(&machines(1, 10), &world.ask());
    assert_eq!((sizing.designs[0].hosts, sizing.hosts.at_least(sizing.hosts.least)), (3, 3));
    let raid6 = Ask { policy: world.avs.policy("raid6").unwrap().clone(), ..world.ask() };
    assert_eq!(world.size(&machines(1, 10), &raid6).designs[0].hosts, 6);
    let nothing = Ask { on_vsan: OnVsan::Nothing, ..raid6 };
    assert_eq!(design(&world.size(&machines(1, 10), &nothing), "Standard").hosts, 3);
}

#[test]
fn the_service_keeps_one_host_per_cluster_free_by_default() {
    let world = World::new();
    let all = machines(1000, 500);
    let by_facts = world.size(&all, &Ask { spare_hosts: None, ..world.ask() });
    // 28 hosts are two clusters; the vSAN of spare hosts is used.
    assert_eq!(
        (by_facts.hosts.at_least(by_facts.hosts.least), by_facts.hosts.with_vsan_only()),
        (30, 75)
    );
    let best = &by_facts.designs[by_facts.best.unwrap()];
    assert_eq!((best.hosts, best.clusters), (30, 2));
    let reason = by_facts.hosts.reasons.last().unwrap();
    let expected = Statement::SpareHosts { busy: 28, spare: 2, cluster_max: 16, hosts: 30 };
    assert_eq!(reason.statement, expected);
    assert!(reason.rows.iter().any(|row| row.row == "limit spare_hosts_per_cluster"));
    let two = Ask { spare_hosts: Some(2), hosts: Some(31), ..world.ask() };
    let sizing = world.size(&all, &two);
    assert_eq!(sizing.hosts.at_least(sizing.hosts.least), 32);
    let few = Statement::FewHosts { hosts: 31, missing: 1 };
    assert_eq!(design(&sizing, "Premium").lacks[0].reason.statement, few);
}

#[test]
fn the_reason_for_vsan_only_has_candidates_and_spare_hosts() {
    let world = World::new();
    let reason = |all: &[Machine], spare_hosts| {
        let sizing = world.size(all, &Ask { spare_hosts, ..world.ask() });
        let [reason] = &sizing.designs[0].reasons[..] else { panic!("one reason") };
        reason.statement.clone()
    };
    let largest = |candidates, hosts, spare| Statement::LargestOf { candidates, hosts, spare };
    let large = machines(1000, 500);
    assert_eq!(reason(&large, Some(0)), largest([28, 75, 3], 75, 0));
    assert_eq!(reason(&large, None), largest([30, 75, 3], 75, 5));
    // Four clusters suffice for processors. The fifth, for storage, needs spare hosts too: of 65
    // hosts only 25 would remain for the load of 28.
    assert_eq!(reason(&machines(1000, 435), Some(8)), largest([60, 65, 3], 68, 40));
}

#[test]
fn a_striped_machine_is_reported_with_its_disks() {
    let world = World::new();
    let mut all = machines(20, 400);
    all[3].rate = Some(OpsPerSec::new(140_000.0));
    let disk =
        |label: &str, is_raw| Disk { label: label.to_owned(), capacity: Bytes::gib(100), is_raw };
    all[3].disks = vec![disk("a", false), disk("b", true)];
    assert_eq!(world.size(&all, &world.ask()).spread[0].disks, 1);
}

#[test]
fn pools_cost_the_list_price() {
    let world = World::new();
    let ask = Ask { on_vsan: OnVsan::Nothing, headroom_percent: Some(0), ..world.ask() };
    // 100 TiB in all.
    let sizing = world.size(&machines(200, 512), &ask);
    let month = |name| design(&sizing, name).files_month.unwrap().to_string();
    assert_eq!(month("Premium"), "$30,125");
    assert_eq!(month("Standard"), "$15,100");
    assert_eq!(month("Flexible"), "$11,288");
    assert_eq!(sizing.best, Some(4));
    assert_eq!(design(&sizing, "Premium").pools[0].throughput.as_mib(), 6400.0);
    assert_eq!(design(&sizing, "Premium").datastores.len(), 4);
}

#[test]
fn throughput_enlarges_a_pool_and_mixed_levels_cost_no_more() {
    let world = World::new();
    let mut all = machines(100, 1000);
    for machine in &mut all[..10] {
        machine.throughput = Some(BytesPerSec::new(400.0 * MIB as f64));
    }
    let ask = Ask { on_vsan: OnVsan::Nothing, ..world.ask() };
    let sizing = world.size(&all, &ask);
    // 4,000 MiB/s at 16 MiB/s for each TiB, and 1 MiB/s for each datastore without a load.
    assert!(design(&sizing, "Standard").pools[0].size_gib >= 250 * 1024);
    assert!(design(&sizing, "Premium").pools[0].size_gib < 130 * 1024);
    let mix = sizing.designs.iter().find(|design| design.levels.len() == 2).unwrap();
    for level in &mix.levels {
        let alone = sizing.designs.iter().find(|design| design.levels == [*level]).unwrap();
        let most = alone.files_month.unwrap().micros() / 100 * 103;
        assert!(mix.files_month.unwrap().micros() <= most, "{}", mix.name());
    }
}

#[test]
fn a_machine_too_large_for_one_datastore_uses_several() {
    let world = World::new();
    let mut all = machines(20, 400);
    all[3].rate = Some(OpsPerSec::new(140_000.0));
    all[4].throughput = Some(BytesPerSec::new(3000.0 * MIB as f64));
    all[5].rate = Some(OpsPerSec::new(74_000.0));
    all[6].disks = vec![
        Disk { label: "big".to_owned(), capacity: Bytes::gib(17 * 1024), is_raw: false },
        Disk { label: "raw".to_owned(), capacity: Bytes::gib(1), is_raw: true },
        Disk { label: "fine".to_owned(), capacity: Bytes::gib(16 * 1024), is_raw: false },
    ];
    let sizing = world.size(&all, &world.ask());
    let advice: Vec<(&str, u64, bool)> = sizing
        .spread
        .iter()
        .map(|advice| (advice.machine.as_str(), advice.datastores, advice.is_too_much))
        .collect();
    assert_eq!(advice, [("vm5", 2, false), ("vm6", 2, true)]);
    let Statement::Spread { ops: Some(ops), .. } = &sizing.spread[0].reason.statement else {
        panic!("{:?}", sizing.spread)
    };
    assert_eq!((ops.ops, ops.each, ops.most), (140_000, 75_000, None));
    let misfits: Vec<&str> = sizing.misfits.iter().map(|misfit| misfit.disk.as_str()).collect();
    assert_eq!(misfits, ["big", "raw"]);
    let best = &sizing.designs[sizing.best.unwrap()];
    let parts = best.datastores.iter().flat_map(|store| &store.machines);
    assert_eq!(parts.filter(|(at, _, of)| *at == 3 && *of == 2).count(), 2);
}

#[test]
fn an_assigned_throughput_may_exceed_the_levels_largest() {
    let world = World::new();
    // 100 TiB of Standard give 1,600 MiB/s; up to 4,500 can be assigned.
    let mut all = machines(20, 400);
    all[3].throughput = Some(BytesPerSec::new(1650.0 * MIB as f64));
    let ask = Ask { on_vsan: OnVsan::Nothing, ..world.ask() };
    let sizing = world.size(&all, &ask);
    let standard = design(&sizing, "Standard");
    let most = standard.datastores.iter().map(|store| store.throughput).max();
    assert!(most >= KibPerSec::from_mib(1650), "{most:?} {:?}", standard.lacks);
}

#[test]
fn a_flexible_pool_has_the_least_that_can_be_assigned_to_each_datastore() {
    let world = World::new();
    let ask = Ask { on_vsan: OnVsan::Nothing, datastores: Some(200), ..world.ask() };
    let sizing = world.size(&machines(400, 100), &ask);
    let flexible = design(&sizing, "Flexible");
    assert_eq!(flexible.pools[0].throughput, KibPerSec::from_mib(200).expect("it fits"));
    assert_eq!(flexible.datastores.len(), 200);
    let each = KibPerSec::from_mib(1).expect("it fits");
    assert!(flexible.datastores.iter().all(|store| store.throughput == each));
}

#[test]
fn an_impossible_design_states_the_constraint_and_the_missing_amount() {
    let world = World::new();
    // 16 x 96 hosts of processors.
    let mut many = machines(200, 10);
    many.iter_mut().for_each(|machine| machine.vcpus = 100);
    let sizing = world.size(&many, &world.ask());
    assert_eq!(sizing.best, None);
    let lack = |design: &Design| design.lacks[0].reason.statement.clone();
    assert_eq!(lack(&sizing.designs[0]), Statement::HostsOfCloud { hosts: 139, excess: 43 });

    let few = Ask { datastores: Some(1), on_vsan: OnVsan::Nothing, ..world.ask() };
    let busy = |mib| Ask { bytes_per_s_per_machine: Some(mib * MIB), ..few.clone() };
    let sizing = world.size(&machines(100, 10), &busy(100));
    assert_eq!(sizing.best, None);
    let reason = &design(&sizing, "Ultra").lacks[0].reason;
    let Statement::NotCarried { load, hosts: 3, capacity, .. } = &reason.statement else {
        panic!("{reason:?}")
    };
    let required = BytesPerSec::new(10_000.0 * MIB as f64);
    assert_eq!(*load, LoadRate::Throughput(required));
    assert_eq!(capacity.bottleneck.kind, ResourceKind::HostProcessing);
    assert!(!reason.rows.is_empty());
    let sizing = world.size(&machines(100, 10), &busy(60));
    assert_eq!(sizing.best, None);
    let few_datastores = lack(design(&sizing, "Ultra"));
    assert!(matches!(few_datastores, Statement::FewDatastores { .. }), "{few_datastores:?}");
    let large = world.size(&machines(200, 1000), &few);
    let level = ServiceLevel::Premium;
    let expected = Statement::DatastoresRequired { level, required: 3, allowed: 1 };
    assert_eq!(lack(design(&large, "Premium")), expected);

    let mut one = machines(5, 10);
    one[0].storage = Some(Bytes::gib(101 * 1024));
    let sizing = world.size(&one, &Ask { on_vsan: OnVsan::Nothing, ..world.ask() });
    let large_machine = lack(design(&sizing, "Standard"));
    assert!(matches!(large_machine, Statement::LargeMachine { .. }), "{large_machine:?}");
    let hosts = Ask { hosts: Some(2), ..world.ask() };
    let sizing = world.size(&machines(5, 10), &hosts);
    let expected = Statement::FewHosts { hosts: 2, missing: 1 };
    assert_eq!(lack(design(&sizing, "Standard")), expected);
}

#[test]
fn templates_placeholders_and_other_power_states_do_not_count() {
    let world = World::new();
    let mut all = machines(6, 10);
    all[0].is_template = true;
    all[1].is_placeholder = true;
    all[2].power = Power::Off;
    all[3].power = Power::Suspended;
    let sizing = world.size(&all, &world.ask());
    assert_eq!(sizing.selection.machines.len(), 2);
    assert_eq!(sizing.selection.dropped.values().sum::<usize>(), 4);
    let all_states = Ask { powers: vec![Power::On, Power::Off, Power::Suspended], ..world.ask() };
    assert_eq!(world.size(&all, &all_states).selection.machines.len(), 4);
    let refused = size(&all[..2], &world.ask(), &world.facts()).unwrap_err();
    assert!(
        refused.to_string().contains("placeholders of Site Recovery Manager (1), templates (1)")
    );
    all.iter_mut().for_each(|machine| machine.storage = None);
    let nothing = size(&all, &world.ask(), &world.facts()).unwrap_err();
    assert!(matches!(nothing, Refusal::NoStorage { .. }));
}

#[test]
fn savings_are_in_hosts_and_with_a_price_in_money() {
    let world = World::new();
    let all = machines(1000, 500);
    let sizing = world.size(&all, &world.ask());
    let best = &sizing.designs[sizing.best.unwrap()];
    let saving = sizing.saving(best);
    assert_eq!((saving.hosts, saving.month), (47, None));
    let each = saving.break_even.unwrap().micros();
    assert!(each * 47 >= best.files_month.unwrap().micros());
    assert!((each - 1) * 47 < best.files_month.unwrap().micros());
    for (price, verdict) in [(each + 1, Direction::Less), (each - 1, Direction::More)] {
        let ask = Ask { host_month: Some(Usd::from_micros(price)), ..world.ask() };
        let sizing = world.size(&all, &ask);
        let best = &sizing.designs[sizing.best.unwrap()];
        assert_eq!(sizing.saving(best).month.unwrap().1, verdict);
    }
}

/// Checks a design with the facts only.
fn check(design: &Design, sizing: &Sizing, ask: &Ask, world: &World) {
    let all = &sizing.selection.machines;
    let mut parts: BTreeSet<(usize, u64)> = design.on_vsan.iter().map(|at| (*at, 1)).collect();
    assert_eq!(parts.len(), design.on_vsan.len());
    assert!(design.vsan_stored <= design.vsan_usable);
    assert!(design.hosts <= world.avs.limit(AvsLimit::HostsPerCloudMax));
    let spare = ask.spare_hosts.unwrap_or(1) * design.hosts.div_ceil(16);
    let busy = design.hosts - spare;
    assert!(busy * 768 * GIB >= sizing.selection.totals.memory.get());
    assert!(busy * 36 * 4 >= sizing.selection.totals.vcpus);
    let (mut whole, mut stored) = (design.on_vsan.len(), design.vsan_stored.get());
    for store in &design.datastores {
        let mut here = BTreeSet::new();
        let mut load = 0;
        for &(at, part, of) in &store.machines {
            assert!(parts.insert((at, part)) && here.insert(at), "twice");
            whole += usize::from(part == 1);
            load += all[at].bytes_per_s.unwrap_or(0).div_ceil(of);
        }
        assert_eq!(load, store.load_bytes_per_s);
        assert!(load <= store.throughput.bytes_per_s(), "{} {load}", store.name);
        let room = store.quota_gib as u128 * u128::from(GIB) * 100;
        assert!(room >= u128::from(store.stored.get()) * 120);
        let [least, most] = [LimitName::RegularVolumeSizeMin, LimitName::RegularVolumeSizeMax];
        let sizes = world.catalog.limit(least)..=world.catalog.limit(most);
        assert!(sizes.contains(&store.quota_gib));
        assert!(ask.datastore_gib_max.is_none_or(|most| store.quota_gib <= most));
        // In a manual pool every regular volume can be assigned the same, whatever its level.
        let pool = design.pools.iter().find(|pool| pool.level == store.level).expect("a pool");
        let ceiling = world.catalog.volume_ceiling(store.level, pool.qos, VolumeKind::Regular);
        assert!(ceiling.is_some_and(|ceiling| store.throughput <= ceiling));
        let settings = VolumeSettings {
            level: store.level,
            kind: VolumeKind::Regular,
            qos: pool.qos,
            quota: Bytes::gib(store.quota_gib),
            assigned: (pool.qos == QosType::Manual).then_some(store.throughput),
        };
        let limit = world.catalog.volume_limit(&settings).expect("the service allows it");
        assert_eq!(limit.throughput, Some(store.throughput));
        stored += store.stored.get();
    }
    assert_eq!(whole, all.len());
    assert!(stored >= sizing.selection.totals.storage.get());
    for pool in &design.pools {
        let of = |level: ServiceLevel| design.datastores.iter().filter(move |s| s.level == level);
        assert!(of(pool.level).map(|store| store.quota_gib).sum::<u64>() <= pool.size_gib);
        let assigned: KibPerSec = of(pool.level).map(|store| store.throughput).sum();
        assert!(assigned <= pool.throughput);
        assert!(pool.size_gib.is_multiple_of(1024) && pool.size_gib >= 1024);
    }
    let total: Usd = design.pools.iter().filter_map(|pool| pool.month).sum();
    assert_eq!(design.files_month, Some(total));
    assert!(!design.reasons.is_empty());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn every_possible_design_passes_an_independent_check(
        estate in prop::collection::vec((1_u64..4000, 0_u64..60_000, 1_u64..32), 1..80),
        nothing in any::<bool>(),
        size_max in prop::option::of(5_000_u64..50_000),
        spare in prop::option::of(0_u64..4),
    ) {
        let world = World::new();
        let machines: Vec<Machine> = estate
            .iter()
            .zip(2..)
            .map(|(&(gib, ops, vcpus), row)| Machine {
                vcpus,
                rate: (ops > 0).then_some(OpsPerSec::new(ops as f64)),
                ..machine(row, gib)
            })
            .collect();
        let on_vsan = if nothing { OnVsan::Nothing } else { OnVsan::Coldest };
        let ask =
            Ask { on_vsan, datastore_gib_max: size_max, spare_hosts: spare, ..world.ask() };
        let sizing = world.size(&machines, &ask);
        for design in sizing.designs.iter().filter(|design| design.is_possible()) {
            check(design, &sizing, &ask, world);
        }
        let again = world.size(&machines, &ask);
        prop_assert_eq!(again, sizing);
    }

    #[test]
    fn more_machines_never_cost_less(count in 1_u32..300, more in 1_u32..50, gib in 10_u64..2000) {
        let world = World::new();
        let ask = Ask { on_vsan: OnVsan::Nothing, ..world.ask() };
        let few = world.size(&machines(count, gib), &ask);
        let many = world.size(&machines(count + more, gib), &ask);
        prop_assert!(few.designs[0].hosts <= many.designs[0].hosts);
        for (few, many) in few.designs[1..5].iter().zip(&many.designs[1..5]) {
            prop_assert!(few.files_month <= many.files_month);
            prop_assert!(few.hosts <= many.hosts);
        }
    }
}
