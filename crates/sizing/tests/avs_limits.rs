//! Values on both sides of each limit of the sizing of Azure VMware Solution.

use std::sync::LazyLock;

use cloud::avs::{Avs, AvsLimit};
use cloud::catalog::Catalog;
use cloud::figure;
use cloud::price::Prices;
use cloud::service_level::{QosType, ServiceLevel};
use predict::Parameters;
use sizing::avs::ask::{Ask, Facts, OnVsan};
use sizing::avs::current_estate::{self, Estate, EstateRow, ExistingDatastore, ExistingHost};
use sizing::avs::design::Design;
use sizing::avs::flows::Load;
use sizing::avs::hosts::{Hosts, clusters};
use sizing::avs::loads::{Chosen, LoadFrom};
use sizing::avs::machine::{Disk, Labels, Machine, Power, StorageUse};
use sizing::avs::placement::{Item, pack};
use sizing::avs::pool::{pool, qos};
use sizing::avs::ratio::{Ratio, RatioSource};
use sizing::avs::spread;
use sizing::avs::statement::Statement;
use sizing::avs::utilization::DesignResource;
use sizing::avs::{Sizing, size};
use units::{Bytes, BytesPerSec, OpsPerSec, Share};

const MIB: u64 = 1 << 20;

static AVS: LazyLock<Avs> = LazyLock::new(Avs::embedded);
static CATALOG: LazyLock<Catalog> = LazyLock::new(Catalog::embedded);
static PARAMETERS: LazyLock<Parameters> = LazyLock::new(|| Parameters::calibrated(&figure::all()));
static PRICES: LazyLock<Prices> = LazyLock::new(Prices::embedded);

pub(crate) fn facts() -> Facts<'static> {
    let prices = PRICES.storage("eastus");
    Facts { avs: &AVS, catalog: &CATALOG, parameters: &PARAMETERS, prices }
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

fn ask() -> Ask {
    Ask {
        powers: vec![Power::On],
        host: AVS.host("AV36P").expect("a row").clone(),
        policy: AVS.policy("raid1").expect("a row").clone(),
        vcpus_per_core: Some(Ratio { vcpus: 4, cores: 1, source: RatioSource::Given }),
        on_vsan: OnVsan::Nothing,
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

fn sized(machines: &[Machine]) -> Sizing {
    size(machines, &ask(), &facts()).expect("the machines count")
}

/// A machine with a load; without one, `None`.
fn chosen(ops_per_s: Option<u64>, bytes_per_s: Option<u64>, read: u64) -> Chosen {
    Chosen {
        name: "vm".to_owned(),
        row: 2,
        vcpus: 4,
        memory: Bytes::gib(16),
        storage: Bytes::gib(100),
        storage_use: StorageUse::default(),
        disks: Vec::new(),
        ops_per_s,
        bytes_per_s,
        read: Share::from_percent(read),
        class: None,
        load_from: LoadFrom::Measured,
    }
}

#[test]
fn an_exchange_improves_a_placement_of_up_to_400_machines() {
    // Longest first: 3 + 2 + 2 and 3 + 2; exchanging 3 for 2 gives 6 and 6, and no move does.
    let busiest = |count: usize| {
        let load = |machine: usize| match machine {
            0 | 1 => 3,
            2..=4 => 2,
            _ => 0,
        };
        let item = |machine| Item { machine, part: 0, stored: 0, load: load(machine) };
        let items: Vec<Item> = (0..count).map(item).collect();
        let placement = pack(&items, 2, 0).expect("nothing is stored");
        placement.bins.iter().map(|bin| bin.load).max()
    };
    assert_eq!([busiest(5), busiest(400), busiest(401)], [Some(6), Some(6), Some(7)]);
}

#[test]
fn no_placement_is_better_than_an_even_share_the_largest_item_or_two_that_must_share() {
    let bound = |numbers: &[u64], count| {
        let item = |(machine, &number): (usize, &u64)| Item {
            machine,
            part: 0,
            stored: number,
            load: 10 * number,
        };
        let items: Vec<Item> = numbers.iter().enumerate().map(item).collect();
        let placement = pack(&items, count, u64::MAX).expect("there is room");
        (placement.stored_bound, placement.load_bound)
    };
    assert_eq!(bound(&[4, 3, 2, 2], 2), (6, 55), "an even share");
    assert_eq!(bound(&[10, 1], 2), (10, 100), "the largest");
    assert_eq!(bound(&[6, 6, 6], 2), (12, 120), "two of three share");
    assert_eq!(bound(&[6, 5, 4], 3), (6, 60));
}

#[test]
fn a_datastore_may_be_full_and_not_fuller() {
    let items = [Item { machine: 0, part: 0, stored: 100, load: 0 }];
    assert!(pack(&items, 1, 100).is_some());
    assert!(pack(&items, 1, 99).is_none());
}

#[test]
fn without_a_known_load_no_throughput_is_used() {
    let resources = |machine: Machine| -> Vec<DesignResource> {
        let sizing = sized(&[machine]);
        let premium = sizing.designs.iter().find(|design| design.name() == "Premium");
        let uses = sizing.uses(premium.expect("a design"));
        assert!(uses.iter().all(|one| one.used <= one.limit), "{uses:?}");
        uses.into_iter().map(|one| one.resource).collect()
    };
    use DesignResource::{Memory, Processors, Quotas, Throughput};
    assert_eq!(resources(machine(2, 100)), [Processors, Memory, Quotas]);
    let busy = Machine { throughput: Some(BytesPerSec::new(1e6)), ..machine(2, 100) };
    assert_eq!(resources(busy), [Processors, Memory, Quotas, Throughput]);
}

#[test]
fn a_pool_assigns_throughput_only_if_a_load_is_known() {
    let premium = |machine: Machine| {
        let sizing = sized(&[machine]);
        let premium = sizing.designs.into_iter().find(|design| design.name() == "Premium");
        let premium = premium.expect("a design");
        let loads = premium.reasons.iter().find_map(|reason| match &reason.statement {
            Statement::Placement { load, .. } => Some(*load),
            _ => None,
        });
        (premium.pools[0].qos, loads.expect("machines are placed"))
    };
    assert_eq!(premium(machine(2, 100)), (QosType::Auto, None));
    let rate = BytesPerSec::new(1e6);
    let busy = Machine { throughput: Some(rate), ..machine(2, 100) };
    assert_eq!(premium(busy), (QosType::Manual, Some((rate, rate))));
}

#[test]
fn a_design_without_datastores_uses_vsan_in_whole_gib() {
    let sizing = sized(&[machine(2, 100)]);
    let uses = sizing.uses(&sizing.designs[0]);
    let vsan = uses.iter().find(|one| one.resource == DesignResource::Vsan).expect("it is used");
    assert_eq!(vsan.used, Bytes::gib(100).get());
    assert!(!uses.iter().any(|one| one.resource == DesignResource::Quotas), "{uses:?}");
}

fn hosts(by_processors: u64, spare_per_cluster: u64) -> Hosts {
    Hosts {
        by_processors: Some(by_processors),
        by_memory: 1,
        by_storage: 20,
        least: 3,
        least_by_policy: 4,
        cluster_max: 16,
        spare_per_cluster,
        reasons: Vec::new(),
    }
}

#[test]
fn a_second_cluster_needs_a_second_spare_host() {
    let at_least = |busy| hosts(busy, 1).at_least(0);
    assert_eq!([at_least(14), at_least(15), at_least(16)], [15, 16, 18]);
    let of = hosts(15, 1);
    assert_eq!([of.is_enough(15), of.is_enough(16), of.is_enough(17)], [false, true, true]);
    assert_eq!([of.spare(0), of.spare(1), of.spare(16), of.spare(17)], [0, 1, 1, 2]);
    assert_eq!((hosts(2, 0).at_least(3), hosts(5, 0).at_least(3)), (3, 5));
    assert_eq!((hosts(2, 0).with_vsan_only(), hosts(30, 0).with_vsan_only()), (20, 30));
    let most = AVS.limit(AvsLimit::HostsPerClusterMax);
    assert_eq!((clusters(most, &AVS), clusters(most + 1, &AVS)), (1, 2));
}

#[test]
fn a_machine_is_spread_from_the_first_unit_above_what_one_datastore_carries() {
    let ops = AVS.limit(AvsLimit::MachineOpsPerDatastore);
    let bytes = AVS.limit(AvsLimit::MachineThroughputPerDatastore) * 1024;
    let of = |ops, bytes| spread::datastores(&chosen(ops, bytes, 100), &AVS);
    assert_eq!([of(None, None), of(Some(0), Some(0))], [1, 1]);
    assert_eq!([of(Some(ops), None), of(Some(ops + 1), None)], [1, 2]);
    assert_eq!([of(None, Some(bytes)), of(None, Some(bytes + 1))], [1, 2]);
    assert_eq!(of(Some(ops + 1), Some(2 * bytes + 1)), 3, "the larger number");
    let most = AVS.limit(AvsLimit::MachineDatastoresMax);
    assert_eq!([of(Some(ops * most), None), of(Some(ops * most * 9), None)], [most, most]);
}

#[test]
fn a_machine_needs_too_much_above_the_highest_published_rate() {
    let ops_max = AVS.limit(AvsLimit::MachineOpsMax);
    let bytes_max = AVS.limit(AvsLimit::MachineThroughputMax) * 1024;
    let too_much = |ops, bytes| {
        let advice = spread::advice(&[chosen(ops, bytes, 100)], &AVS);
        advice.first().map(|advice| advice.is_too_much)
    };
    assert_eq!(too_much(Some(1), Some(1)), None);
    assert_eq!(
        [too_much(Some(ops_max), None), too_much(Some(ops_max + 1), None)],
        [Some(false), Some(true)]
    );
    assert_eq!(
        [too_much(None, Some(bytes_max)), too_much(None, Some(bytes_max + 1))],
        [Some(false), Some(true)]
    );
}

#[test]
fn raw_devices_and_disks_above_the_largest_file_fit_no_datastore() {
    let disk = |label: &str, capacity, is_raw| Disk { label: label.to_owned(), capacity, is_raw };
    let most = Bytes::gib(16 << 10);
    let disks = vec![
        disk("largest", most, false),
        disk("larger", Bytes::new(most.get() + 1), false),
        disk("raw", Bytes::gib(1), true),
    ];
    let busy = AVS.limit(AvsLimit::MachineOpsPerDatastore) + 1;
    let machine = Chosen { disks, ..chosen(Some(busy), None, 100) };
    let misfits = spread::misfits(std::slice::from_ref(&machine), &CATALOG);
    let labels: Vec<&str> = misfits.iter().map(|misfit| misfit.disk.as_str()).collect();
    assert_eq!(labels, ["larger", "raw"]);
    assert_eq!(spread::advice(&[machine], &AVS)[0].disks, 2, "without the raw device");
}

#[test]
fn a_load_adds_operations_and_weighs_reads_by_them() {
    let of = |machines: &[Chosen]| Load::of(machines.iter(), Share::from_percent(50));
    let none = of(&[chosen(None, None, 100)]);
    assert_eq!(
        (none.ops_per_s, none.bytes_per_s, none.read),
        (None, None, Share::from_percent(50))
    );
    let both = of(&[chosen(Some(300), Some(1 << 20), 100), chosen(Some(100), None, 0)]);
    assert_eq!((both.ops_per_s, both.bytes_per_s), (Some(400), Some(1 << 20)));
    assert_eq!(both.read, Share::from_percent(75));
    // 65,537 bytes are two operations of 64 KiB next to known operations.
    let mixed = of(&[chosen(Some(2), None, 0), chosen(None, Some((64 << 10) + 1), 100)]);
    assert_eq!((mixed.ops_per_s, mixed.read), (Some(4), Share::from_percent(50)));
    let bytes = of(&[chosen(None, Some(300), 100), chosen(None, Some(100), 0)]);
    assert_eq!((bytes.ops_per_s, bytes.bytes_per_s), (None, Some(400)));
    assert_eq!(bytes.read, Share::from_percent(75));
}

#[test]
fn measured_loads_are_rounded_up() {
    let rate = Some(OpsPerSec::new(10.2));
    let machine = Machine { rate, throughput: Some(BytesPerSec::new(0.5)), ..machine(2, 100) };
    let chosen = &sized(&[machine]).selection.machines[0];
    assert_eq!((chosen.ops_per_s, chosen.bytes_per_s), (Some(11), Some(1)));
    assert_eq!(chosen.load_from, LoadFrom::Measured);
}

#[test]
fn a_pool_has_whole_steps_and_a_largest_size() {
    use cloud::row::LimitName::{PoolSizeMax, PoolSizeMin, PoolSizeStep};
    let (least, step) = (CATALOG.limit(PoolSizeMin), CATALOG.limit(PoolSizeStep));
    let of = |gib| pool(ServiceLevel::Premium, gib, None, &facts()).ok().map(|pool| pool.size_gib);
    assert_eq!(of(1), Some(least.div_ceil(step) * step));
    assert_eq!([of(4 * step), of(4 * step + 1)], [Some(4 * step), Some(5 * step)]);
    let most = CATALOG.limit(PoolSizeMax);
    assert_eq!(of(most), Some(most));
    assert_eq!(of(most + 1), None);
    let refused =
        pool(ServiceLevel::Premium, most + 1, None, &facts()).map_err(|one| one.statement);
    let (size_gib, level) = (most + step, ServiceLevel::Premium);
    assert_eq!(refused, Err(Statement::LargePool { level, size_gib, excess_gib: step }));
    // Premium: 64 KiB/s per GiB, so 640 MiB/s require 10 TiB.
    let busy = pool(ServiceLevel::Premium, 1, Some(640), &facts()).expect("it is sold");
    assert_eq!((busy.size_gib, busy.qos), (10 << 10, QosType::Manual));
    assert_eq!(busy.throughput.get(), 640 * MIB / 1024);
    assert_eq!(qos(ServiceLevel::Premium, false, &facts()), QosType::Auto);
    assert_eq!(qos(ServiceLevel::Flexible, false, &facts()), QosType::Manual);
}

#[test]
fn a_pool_costs_its_size_for_730_hours() {
    let pool = pool(ServiceLevel::Premium, 4 << 10, None, &facts()).expect("it is sold");
    let prices = PRICES.storage("eastus").expect("it has prices");
    let each = prices.capacity(ServiceLevel::Premium).expect("it has a price");
    assert_eq!(pool.month, Some(each.times(4 << 10).times(730)));
}

#[test]
fn today_is_compared_with_vsan_alone_and_the_best_design() {
    let used = |in_use: u64, guest: Option<u64>| StorageUse {
        provisioned: Some(Bytes::gib(1000)),
        in_use: Some(Bytes::gib(in_use)),
        guest_used: guest.map(Bytes::gib),
        guest_capacity: Some(Bytes::gib(500)),
    };
    // Only the first two report what guests use.
    let uses = [used(900, Some(400)), used(800, Some(300)), used(700, None), StorageUse::default()];
    let machines: Vec<Machine> = (2..)
        .zip(uses)
        .map(|(row, storage_use)| Machine { storage_use, ..machine(row, 1000) })
        .collect();
    let sizing = sized(&machines);
    let store = ExistingDatastore {
        capacity: Some(Bytes::gib(6000)),
        in_use: Some(Bytes::gib(3000)),
        ..ExistingDatastore::default()
    };
    let estate = Estate { datastores: vec![store], ..Estate::default() };
    let today = current_estate::today(&estate, &sizing, &ask().host);
    let guests = today.guests.expect("two machines report it");
    assert_eq!((guests.machines, guests.of), (2, 4));
    assert_eq!(guests.storage_use.in_use, Some(Bytes::gib(1700)));
    assert_eq!(guests.reclaimable(), Some(Bytes::gib(1000)));
    assert_eq!(guests.growth(), Some(Bytes::gib(300)));
    let best = &sizing.designs[sizing.best.expect("a possible design")];
    let stores = best.datastores.len() as u64;
    let row =
        |row: &EstateRow| (row.name.clone(), row.hosts, row.cores, row.datastores, row.free());
    let rows: Vec<_> = today.comparison.iter().map(row).collect();
    let gib = |quotas: u64, stored: u64| Some(Bytes::gib(quotas - stored));
    let quotas: u64 = best.datastores.iter().map(|store| store.quota_gib).sum();
    // Three hosts of 36 cores in one cluster, whose vSAN is a datastore too. Nothing is on it.
    let vsan = best.vsan_usable.get();
    let free = Bytes::new(gib(quotas, 4000).expect("there is room").get() + vsan);
    assert_eq!(rows.len(), 3);
    assert_eq!(rows[0], ("today".to_owned(), None, None, Some(1), gib(6000, 3000)));
    assert_eq!((rows[1].0.as_str(), rows[1].3), ("vSAN only", Some(1)));
    assert_eq!(rows[2], (best.name(), Some(3), Some(3 * 36), Some(1 + stores), Some(free)));
    assert_eq!(today.comparison[2].memory, Some(Bytes::gib(3 * 768)));

    let hosts = vec![ExistingHost::default()];
    let only_hosts = Estate { hosts, ..Estate::default() };
    assert_eq!(current_estate::today(&only_hosts, &sizing, &ask().host).comparison.len(), 3);
    let nothing = current_estate::today(&Estate::default(), &sizing, &ask().host);
    assert_eq!(nothing.comparison, []);
    let silent = current_estate::today(&estate, &sized(&[machine(2, 1)]), &ask().host);
    assert_eq!(silent.guests, None);
}

#[test]
fn a_machine_above_the_largest_datastore_is_refused_with_the_excess() {
    let lacks = |machine: Machine, ask: &Ask| -> Vec<Statement> {
        let sizing = size(&[machine], ask, &facts()).expect("the machine counts");
        let of = |design: &&Design| design.name() == "Standard";
        let design = sizing.designs.iter().find(of).expect("a design");
        design.lacks.iter().map(|lack| lack.reason.statement.clone()).collect()
    };
    let asked = Ask { headroom_percent: Some(25), datastore_gib_max: Some(1000), ..ask() };
    let large = lacks(machine(2, 900), &asked);
    let (stored, excess) = (Bytes::gib(900), Bytes::gib(100));
    assert_eq!(large, [Statement::LargeMachine { stored, excess }]);
    assert_eq!(lacks(machine(2, 800), &asked), []);
    // 100 GiB/s on eight datastores are 12,800 MiB/s each, and a volume has at most 4,500.
    let throughput = Some(BytesPerSec::new((100_u64 << 30) as f64));
    let busy = lacks(Machine { throughput, ..machine(2, 900) }, &ask());
    let parts = AVS.limit(AvsLimit::MachineDatastoresMax);
    let mib_per_s = 100 * 1024 / parts;
    let level = ServiceLevel::Standard;
    let expected = Statement::BusyMachine { level, mib_per_s, excess: mib_per_s - 4500 };
    assert!(busy.contains(&expected), "{busy:?}");
}
