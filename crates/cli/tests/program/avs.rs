//! `avs` from an export to hosts and datastores, and what it says of exports that are wrong.

use expect_test::expect_file;
use serde_json::Value;

use crate::harness::{Ended, Place};
use crate::workbooks::{Table, Vm, estate, hosts, info, workbook};

const GOLDEN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/avs");

/// Three machines that vSAN of three hosts cannot hold, and some that do not count.
fn small() -> Vec<u8> {
    let mib = |tib: u64| tib * 1024 * 1024;
    let machine = |name, tib| Vm {
        name,
        cpus: 16,
        memory_mib: 65_536,
        provisioned_mib: mib(tib) * 2,
        in_use_mib: mib(tib),
        ..Vm::default()
    };
    let table = info(&[
        machine("files", 14),
        machine("mail", 8),
        machine("sql", 12),
        Vm { name: "old", power: "poweredOff", ..Vm::default() },
        Vm { name: "pattern", template: "True", ..Vm::default() },
        Vm { name: "elsewhere", placeholder: "True", ..Vm::default() },
    ]);
    workbook(&[table, hosts(2, 32, 64)])
}

fn avs(place: &Place, export: &[u8], arguments: &[&str]) -> Ended {
    std::fs::write(place.path().join("export.xlsx"), export).expect("write the export");
    place.run(&[&["avs", "--rvtools", "export.xlsx"], arguments].concat())
}

fn json(ended: &Ended) -> Value {
    serde_json::from_str(&ended.stdout).unwrap_or_else(|_| panic!("no JSON: {ended:?}"))
}

#[test]
fn a_small_export_becomes_hosts_and_datastores_with_every_reason() {
    let place = Place::new();
    let arguments = ["--iops-per-vm", "20000/s", "--host-price", "6000/month", "--explain"];
    let ended = avs(&place, &small(), &arguments);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let too_wide = ended.stdout.lines().find(|line| line.chars().count() > 80);
    assert_eq!(too_wide, None);
    expect_file![format!("{GOLDEN}/small.txt")].assert_eq(&ended.stdout);
}

#[test]
fn two_thousand_machines_are_each_placed_once() {
    let place = Place::new();
    let placement = place.path().join("placement.csv");
    let path = placement.to_str().expect("the test's path is text");
    let arguments = ["--iops-per-vm", "50", "--json", "--placement", path];
    let ended = avs(&place, &estate(2000), &arguments);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let document = json(&ended);
    let counted = document["machines"]["counted"].as_u64().expect("a number");
    let lines = std::fs::read_to_string(&placement).expect("read the placement");
    let mut rows: Vec<&str> =
        lines.lines().skip(1).filter_map(|line| line.split(',').nth(1)).collect();
    assert_eq!(rows.len() as u64, counted);
    rows.sort_unstable();
    rows.dedup();
    assert_eq!(rows.len() as u64, counted);
    for reason in document["hosts"]["reasons"].as_array().expect("a list") {
        assert!(!reason["text"].as_str().unwrap_or_default().is_empty());
    }
}

#[test]
fn wrong_exports_are_refused_with_what_where_and_remedy() {
    let place = Place::new();
    let negative = info(&[Vm::default()]).csv(',').replace(",51200,", ",-51200,");
    let typo = info(&[Vm::default()]).renamed("Powerstate", "Power state").renamed("CPUs", "CPU");
    let all_off = info(&[Vm { power: "poweredOff", ..Vm::default() }]);
    let only_disks = Table::new("vDisk", &["VM", "Capacity MiB"]).row(&["vm", "1"]);
    for (export, said) in [
        (b"".to_vec(), "it is empty"),
        (b"PK\x03\x04 broken".to_vec(), "the workbook is broken"),
        (negative.into_bytes(), "vInfo!Q2: found `-51200`, wanted a number from 0 on"),
        (workbook(&[typo]), "no heading `CPUs` (the closest is `CPU` in column J)"),
        (workbook(&[only_disks]), "no sheet `vInfo`"),
        (workbook(&[info(&[])]), "no machine in it"),
        (workbook(&[all_off]), "ask for others with --power"),
    ] {
        let ended = avs(&place, &export, &[]);
        assert_eq!(ended.code, Some(2), "{said}: {ended:?}");
        assert!(ended.stderr.contains(said), "{said}: {}", ended.stderr);
        assert_eq!(ended.stdout, "");
    }
}
