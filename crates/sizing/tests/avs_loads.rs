//! Sources of a machine's load, and the number of spare hosts.

use cloud::avs::Avs;
use proptest::prelude::*;
use sizing::avs::ask::{Ask, OnVsan};
use sizing::avs::flows::Load;
use sizing::avs::hosts::Hosts;
use sizing::avs::loads::LoadFrom;
use sizing::avs::machine::Labels;
use sizing::avs::machine::{Machine, Power, StorageUse};
use sizing::avs::profile::Profile;
use sizing::avs::profile_file;
use sizing::avs::selection::{Selection, select};
use sizing::avs::size;
use sizing::avs::statement::Warning;
use units::{Bytes, BytesPerSec, OpsPerSec, Share};

use crate::avs_limits::facts;

const PROFILE: &str = r#"
[[class]]
name = "databases"
vm = ["sql*", "ora-??"]
folder = "*/Production*"
iops_per_vcpu = 100
transfer_size = "16KiB"
read = "80%"

[[class]]
name = "all of sql"
vm = "sql*"
iops_per_gib = 0.5

[[class]]
name = "media"
column = { Tier = "bronze" }
throughput_per_vm = "8MiB/s"
transfer_size = "1MiB"
read = "100%"

[[class]]
name = "unmatched"
os = "*BeOS*"
iops_per_vm = 1
"#;

fn profile(more: &str) -> Profile {
    profile_file::parse(&format!("{PROFILE}{more}"), "p.toml").expect("a profile")
}

fn ask(profile: Option<Profile>) -> Ask {
    let avs = Avs::embedded();
    Ask {
        powers: vec![Power::On],
        host: avs.host("AV36P").expect("a row").clone(),
        policy: avs.policy("raid1").expect("a row").clone(),
        vcpus_per_core: None,
        on_vsan: OnVsan::Coldest,
        saving: Share::WHOLE,
        format: Share::ZERO,
        headroom_percent: None,
        datastores: None,
        datastore_gib_max: None,
        hosts: None,
        spare_hosts: None,
        host_month: None,
        profile,
        ops_per_machine: Some(7),
        bytes_per_s_per_machine: None,
        transfer_bytes: 8192,
        read: Share::from_percent(70),
    }
}

fn machine(name: &str) -> Machine {
    Machine {
        name: name.to_owned(),
        row: 2,
        power: Power::On,
        is_template: false,
        is_placeholder: false,
        vcpus: 4,
        memory: Bytes::gib(16),
        storage: Some(Bytes::gib(500)),
        storage_use: StorageUse { in_use: Some(Bytes::gib(100)), ..StorageUse::default() },
        labels: Labels::default(),
        disks: Vec::new(),
        rate: None,
        throughput: None,
    }
}

fn labelled(name: &str, folder: &str, tier: &str) -> Machine {
    let labels = Labels {
        folder: Some(folder.to_owned()),
        columns: vec![Some(tier.to_owned())],
        ..Labels::default()
    };
    Machine { labels, ..machine(name) }
}

fn selected(machines: &[Machine], profile: Option<Profile>) -> Selection {
    select(machines, &ask(profile)).expect("some machine counts")
}

#[test]
fn a_missing_value_matches_no_pattern() {
    let class =
        |wanted: &str| profile(&format!("[[class]]\nname = \"any\"\n{wanted}\niops_per_vm = 1\n"));
    let (folder, cluster) = (r#"folder = "*""#, r#"cluster = "*""#);
    for wanted in [folder, cluster, r#"os = "*""#, r#"column = { Tier = "*" }"#] {
        assert_eq!(class(wanted).class_of(&machine("bare")), None, "{wanted}");
    }
    let has = |text: &str| Some(text.to_owned());
    let labels = Labels { cluster: has("c"), ..Labels::default() };
    let machine = Machine { labels, ..machine("bare") };
    assert!(class(cluster).class_of(&machine).is_some());
    assert!(class(folder).class_of(&machine).is_none());
}

#[test]
fn the_first_matching_class_counts_before_the_given_load() {
    let off = Machine { power: Power::Off, ..labelled("sql-off", "/dc/Production", "") };
    let rate = Some(OpsPerSec::new(9.5));
    let measured = Machine { rate, ..labelled("SQL-2", "/dc/Production/x", "") };
    let machines = [
        labelled("SQL-1", "/dc/Production/x", "bronze"),
        measured,
        labelled("sql-3", "/dc/Test", "bronze"),
        labelled("web", "/dc/Test", "Bronze"),
        machine("ora-x"),
        off,
    ];
    let selection = selected(&machines, Some(profile("")));
    let loads: Vec<_> = selection
        .machines
        .iter()
        .map(|one| (selection.class_name(one), one.load_from, one.ops_per_s, one.bytes_per_s))
        .collect();
    let of = LoadFrom::Class;
    assert_eq!(
        loads,
        [
            (Some("databases"), of, Some(400), Some(400 * 16_384)),
            // The class states the size of measured operations.
            (Some("databases"), LoadFrom::Measured, Some(10), Some(10 * 16_384)),
            // By its data on datastores, not by the storage under consideration.
            (Some("all of sql"), of, Some(50), Some(50 * 8192)),
            (Some("media"), of, Some(8), Some(8 << 20)),
            (None, LoadFrom::EachMachine, Some(7), Some(7 * 8192)),
        ]
    );
    let reads: Vec<u64> = selection.machines.iter().map(|one| one.read.permille()).collect();
    assert_eq!(reads, [800, 800, 700, 1000, 700]);
    let classes: Vec<_> = selection
        .classes
        .iter()
        .map(|class| (class.machines, class.measured, class.left_out, class.ops_per_s))
        .collect();
    assert_eq!(
        classes,
        [(2, 1, 1, Some(400)), (1, 0, 0, Some(50)), (1, 0, 0, Some(8)), (0, 0, 0, None)]
    );
    assert_eq!((selection.measured, selection.by_options, selection.without_load), (1, 1, 0));
}

#[test]
fn the_default_class_overrides_the_given_load() {
    let machines = [machine("a"), labelled("sql", "/", "")];
    let with_default = profile("[default]\niops_per_vm = 0\n");
    let selection = selected(&machines, Some(with_default));
    assert_eq!(selection.machines[0].ops_per_s, Some(0));
    assert_eq!(selection.class_name(&selection.machines[0]), Some("default"));
    assert_eq!((selection.by_options, selection.without_load), (0, 0));
    assert_eq!(selection.totals.ops_per_s, Some(50));
    let without = selected(&machines, None);
    assert_eq!((without.by_options, without.classes.len()), (2, 0));
}

#[test]
fn machines_with_throughput_only_count_as_large_operations() {
    let throughput = Some(BytesPerSec::new(6_553_600.0));
    let only_throughput = Machine { throughput, ..machine("a") };
    let selection = selected(&[only_throughput.clone(), machine("b")], None);
    let load = Load::of(selection.machines.iter(), Share::from_percent(70));
    assert_eq!(load.ops_per_s, Some(100 + 7));
    assert_eq!(load.bytes_per_s, Some(6_553_600 + 7 * 8192));
    let alone = selected(&[only_throughput], None);
    assert_eq!(Load::of(alone.machines.iter(), Share::from_percent(70)).ops_per_s, None);
    let reads = [labelled("sql-1", "/Production", ""), labelled("x", "/", "bronze")];
    let selection = selected(&reads, Some(profile("")));
    // 400 operations with 80 % reads, and 8 reads.
    let load = Load::of(selection.machines.iter(), Share::from_percent(70));
    assert_eq!(load.read.permille(), (400 * 800 + 8 * 1000) / 408);
}

fn hosts(busy: u64, spare: u64) -> Hosts {
    Hosts {
        by_processors: Some(busy),
        by_memory: 0,
        by_storage: 0,
        least: 3,
        least_by_policy: 3,
        cluster_max: 16,
        spare_per_cluster: spare,
        reasons: Vec::new(),
    }
}

proptest! {
    #[test]
    fn no_fewer_hosts_carry_the_machines_without_the_spare_ones(
        busy in 0_u64..300,
        spare in 0_u64..16,
        least in 0_u64..400,
    ) {
        let hosts = hosts(busy, spare);
        let count = hosts.at_least(least);
        prop_assert!(count >= least && count - hosts.spare(count) >= busy);
        for fewer in least..count {
            prop_assert!(fewer.saturating_sub(hosts.spare(fewer)) < busy, "{fewer}");
        }
    }
}

#[test]
fn a_started_cluster_needs_its_own_spare_hosts() {
    assert_eq!(hosts(15, 1).at_least(3), 16);
    assert_eq!(hosts(16, 1).at_least(3), 18);
    assert_eq!(hosts(14, 2).at_least(17), 18);
    assert_eq!(hosts(2, 1).at_least(3), 3);
    assert_eq!(hosts(28, 0).at_least(3), 28);
    // Without load the minimum is enough, and all of its hosts are spare.
    assert_eq!((hosts(0, 15).at_least(3), hosts(0, 15).spare(3)), (3, 3));
}

#[test]
fn classes_and_options_without_effect_are_warned_of() {
    let warnings = |machines: &[Machine], profile: Profile| {
        size(machines, &ask(Some(profile)), &facts()).expect("some machine counts").warnings
    };
    let class =
        |name: &str| format!("[[class]]\nname = \"{name}\"\nvm = \"{name}*\"\niops_per_vm = 1\n");
    let of = |names: &[&str], default: &str| {
        let text: String = names.iter().map(|name| class(name)).collect();
        profile_file::parse(&format!("{text}{default}"), "p.toml").expect("a profile")
    };
    let off = |name: &str| Machine { power: Power::Off, ..machine(name) };
    let measured = |name: &str| Machine { rate: Some(OpsPerSec::new(9.0)), ..machine(name) };
    // Class b has only measured machines, c one of each, d only two that are off, e none.
    let machines = [
        machine("a1"),
        measured("b1"),
        machine("c1"),
        measured("c2"),
        off("d1"),
        off("d2"),
        off("b2"),
    ];
    let all = of(&["a", "b", "c", "d", "e"], "");
    let class = |name: &str| name.to_owned();
    let expected = [
        Warning::ClassMeasured { class: class("b") },
        Warning::ClassLeftOut { class: class("d"), machines: 2 },
        Warning::UnmatchedClass { class: class("e") },
        // Each machine has a class or a measured load.
        Warning::EachLoadUnused,
    ];
    assert_eq!(warnings(&machines, all), expected);
    assert_eq!(warnings(&[machine("a1"), machine("z")], of(&["a"], "")), []);
    // A default class that no machine needs is no mistake.
    let default = "[default]\niops_per_vm = 1\n";
    assert_eq!(warnings(&[machine("a1")], of(&["a"], default)), [Warning::EachLoadUnused]);
}
