//! Who says what a machine does, and how many hosts are kept free.

use cloud::avs::Avs;
use proptest::prelude::*;
use sizing::avs::ask::{Ask, OnVsan};
use sizing::avs::flows::Load;
use sizing::avs::hosts::Hosts;
use sizing::avs::machine::{Held, LoadFrom, Machine, Power, Selection, select};
use sizing::avs::profile::{Labels, Profile};
use sizing::avs::profile_file;
use units::Bytes;

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
name = "nobody"
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
        saving_permille: 1000,
        format_permille: 0,
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
        read_permille: 700,
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
        held: Held { in_use: Some(Bytes::gib(100)), ..Held::default() },
        labels: Labels::default(),
        disks: Vec::new(),
        ops_per_s: None,
        bytes_per_s: None,
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
    select(machines, &ask(profile)).expect("somebody counts")
}

#[test]
fn what_a_machine_does_not_have_is_of_no_pattern() {
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
fn the_first_class_that_matches_counts_and_what_was_asked_is_the_last_resort() {
    let off = Machine { power: Power::Off, ..labelled("sql-off", "/dc/Production", "") };
    let measured = Machine { ops_per_s: Some(9.5), ..labelled("SQL-2", "/dc/Production/x", "") };
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
            // The class says how large what was measured is.
            (Some("databases"), LoadFrom::Measured, Some(10), Some(10 * 16_384)),
            // By what it holds on datastores, and not by the storage that is asked about.
            (Some("all of sql"), of, Some(50), Some(50 * 8192)),
            (Some("media"), of, Some(8), Some(8 << 20)),
            (None, LoadFrom::Asked, Some(7), Some(7 * 8192)),
        ]
    );
    let reads: Vec<u64> = selection.machines.iter().map(|one| one.read_permille).collect();
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
    assert_eq!((selection.measured, selection.asked, selection.without_load), (1, 1, 0));
}

#[test]
fn the_default_class_goes_before_what_was_asked_and_may_say_that_there_is_no_load() {
    let machines = [machine("a"), labelled("sql", "/", "")];
    let with_default = profile("[default]\niops_per_vm = 0\n");
    let selection = selected(&machines, Some(with_default));
    assert_eq!(selection.machines[0].ops_per_s, Some(0));
    assert_eq!(selection.class_name(&selection.machines[0]), Some("default"));
    assert_eq!((selection.asked, selection.without_load), (0, 0));
    assert_eq!(selection.totals.ops_per_s, Some(50));
    let without = selected(&machines, None);
    assert_eq!((without.asked, without.classes.len()), (2, 0));
}

#[test]
fn machines_that_say_only_throughput_count_as_large_operations_beside_others() {
    let only_throughput = Machine { bytes_per_s: Some(6_553_600.0), ..machine("a") };
    let selection = selected(&[only_throughput.clone(), machine("b")], None);
    let load = Load::of(selection.machines.iter(), 700);
    assert_eq!(load.ops_per_s, Some(100 + 7));
    assert_eq!(load.bytes_per_s, Some(6_553_600 + 7 * 8192));
    let alone = selected(&[only_throughput], None);
    assert_eq!(Load::of(alone.machines.iter(), 700).ops_per_s, None);
    let reads = [labelled("sql-1", "/Production", ""), labelled("x", "/", "bronze")];
    let selection = selected(&reads, Some(profile("")));
    // 400 operations of which 80 % are reads, and 8 of which all are.
    let load = Load::of(selection.machines.iter(), 700);
    assert_eq!(load.read_permille, (400 * 800 + 8 * 1000) / 408);
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
fn a_cluster_that_is_begun_needs_spare_hosts_of_its_own() {
    assert_eq!(hosts(15, 1).at_least(3), 16);
    assert_eq!(hosts(16, 1).at_least(3), 18);
    assert_eq!(hosts(14, 2).at_least(17), 18);
    assert_eq!(hosts(2, 1).at_least(3), 3);
    assert_eq!(hosts(28, 0).at_least(3), 28);
    // Where nothing runs, the fewest are enough, and all of them spare.
    assert_eq!((hosts(0, 15).at_least(3), hosts(0, 15).spare(3)), (3, 3));
}
