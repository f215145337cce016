//! `avs`: from an export to hosts and datastores, and the messages about invalid exports.

use expect_test::expect_file;
use serde_json::Value;

use crate::harness::{Ended, TestDir};
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

fn avs(dir: &TestDir, export: &[u8], arguments: &[&str]) -> Ended {
    std::fs::write(dir.path().join("export.xlsx"), export).expect("write the export");
    dir.run(&[&["avs", "--rvtools", "export.xlsx"], arguments].concat())
}

fn json(ended: &Ended) -> Value {
    serde_json::from_str(&ended.stdout).unwrap_or_else(|_| panic!("no JSON: {ended:?}"))
}

#[test]
fn a_small_export_becomes_hosts_and_datastores_with_every_reason() {
    let dir = TestDir::new();
    let arguments = ["--iops-per-vm", "20000/s", "--host-price", "6000/month", "--full"];
    let ended = avs(&dir, &small(), &arguments);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let too_wide = ended.stdout.lines().find(|line| line.chars().count() > 80);
    assert_eq!(too_wide, None);
    expect_file![format!("{GOLDEN}/small.txt")].assert_eq(&ended.stdout);
}

#[test]
fn two_thousand_machines_are_each_placed_once() {
    let dir = TestDir::new();
    let placement = dir.path().join("placement.csv");
    let path = placement.to_str().expect("the test's path is text");
    let arguments = ["--iops-per-vm", "50", "--json", "--placement", path];
    let ended = avs(&dir, &estate(2000), &arguments);
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
fn a_csv_set_with_loads_of_live_optics_gives_a_page_and_markdown() {
    let dir = TestDir::new();
    let set = dir.path().join("set");
    std::fs::create_dir(&set).expect("make a directory");
    let machine = |name| Vm { name, in_use_mib: 12 << 20, ..Vm::default() };
    let machines = [machine("a, <b>"), machine("c"), machine("d")];
    let file = |name: &str, text: String| std::fs::write(set.join(name), text).expect("write");
    file("RVTools_tabvInfo.csv", info(&machines).csv(';'));
    file("RVTools_tabvHost.csv", hosts(1, 32, 64).csv(';'));
    file("RVTools_tabvNIC.csv", "Host;Port\nesx1;1\n".to_owned());
    let load = Table::new("VM Performance", &["VM Name", "Peak IOPS", "Max KB/sec"])
        .row(&["a, <b>", "100000", "2048000"]);
    std::fs::write(dir.path().join("live.xlsx"), workbook(&[load])).expect("write");
    let arguments =
        ["avs", "--rvtools", "set", "--live-optics", "live.xlsx", "--region", "westeurope"];
    for (name, wanted) in [("a.html", "<title>Azure VMware"), ("a.md", "# Azure VMware Solution")] {
        let shown = dir.ok(&[&arguments[..], &["--report", name]].concat());
        assert!(shown.contains("a, <b> (row 2): stripe its disks over 2 datastores."), "{shown}");
        let page = std::fs::read_to_string(dir.path().join(name)).expect("read the page");
        assert!(page.contains(wanted) && !page.contains("<b>"), "{name}");
    }
    let placement = [&arguments[..], &["--placement", "p.csv", "--on-vsan", "nothing"]].concat();
    dir.ok(&placement);
    let lines = std::fs::read_to_string(dir.path().join("p.csv")).expect("read the placement");
    assert_eq!(lines.matches("\"a, <b>\",2,").count(), 2, "{lines}");
}

#[test]
fn rare_options_change_hosts_loads_and_datastores() {
    let dir = TestDir::new();
    let sized = |more: &[&str]| json(&avs(&dir, &small(), &[&["--json"], more].concat()));
    let usual = sized(&[]);
    // 48 vCPUs on hosts of 36 cores.
    let by_processors = |document: &Value| document["hosts"]["by_processors"].as_u64();
    assert_eq!(
        (by_processors(&usual), by_processors(&sized(&["--vcpus-per-core", "1"]))),
        (Some(1), Some(2))
    );
    let loaded = sized(&["--throughput-per-vm", "100MiB/s"]);
    assert_eq!(loaded["machines"]["bytes_per_s"], 300 << 20);
    // Half of vSAN is overhead, so the data need twice the hosts.
    let by_storage = |document: &Value| document["hosts"]["by_storage"].as_u64();
    let overhead = sized(&["--format-overhead", "50%"]);
    assert_eq!((by_storage(&usual), by_storage(&overhead)), (Some(6), Some(11)));
    let small = sized(&["--datastore-size", "20TiB"]);
    let quotas = |document: &Value| {
        let best = document["best"].as_str().expect("a design").to_owned();
        let designs = document["designs"].as_array().expect("designs");
        let best = designs.iter().find(|one| one["name"] == best.as_str()).expect("the best");
        let stores = best["datastores"].as_array().expect("datastores").clone();
        stores.iter().filter_map(|store| store["quota_gib"].as_u64()).max()
    };
    assert!(quotas(&small) <= Some(20 << 10), "{:?}", quotas(&small));
}

#[test]
fn a_region_without_datastores_is_refused_with_those_that_have_them() {
    let dir = TestDir::new();
    std::fs::write(dir.path().join("export.xlsx"), small()).expect("write the export");
    let arguments = ["avs", "--rvtools", "export.xlsx"];
    let mut configured = dir.command(&arguments);
    configured.env("FOURCORNERS_REGION", "israelcentral");
    let ended = configured.output().expect("start the program");
    let words =
        String::from_utf8_lossy(&ended.stderr).split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(ended.status.code(), Some(2), "{words}");
    assert!(words.contains("Israel Central has no") && words.contains("--region"), "{words}");
    dir.ok(&[&arguments[..], &["--region", "none"]].concat());
}

#[test]
fn the_answer_is_on_one_screen_and_begins_with_hosts_datastores_and_cost() {
    let dir = TestDir::new();
    let ended = avs(&dir, &small(), &["--iops-per-vm", "20000/s", "--host-price", "6000/month"]);
    let words = ended.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    let answer = "Buy 3 hosts and 2 Azure NetApp Files datastores, 25 TiB flexible with 314 MiB/s: \
                  $21,240 per month, $14,760 less than vSAN only.";
    assert!(words.starts_with(answer), "{}", ended.stdout);
    assert!(ended.stdout.lines().count() <= 40, "{}", ended.stdout);
    let ended = avs(&dir, &small(), &["--iops-per-vm", "20000/s"]);
    let words = ended.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    let cost = "the datastores cost $3,240 per month, cheaper than vSAN only if a host costs more than \
                $1,080 per month (`--host-price`)";
    assert!(words.contains(cost), "{}", ended.stdout);
}

#[test]
fn an_impossible_design_ends_with_1_and_its_shortfall() {
    let dir = TestDir::new();
    let arguments = ["--datastores", "1", "--iops-per-vm", "70000", "--on-vsan", "nothing"];
    let ended = avs(&dir, &small(), &arguments);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(
        ended.stdout.contains("No design with Azure NetApp Files datastores meets the options")
    );
    let words = ended.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("1 datastores are 1 too few for the load."), "{words}");
}

#[test]
fn mistyped_arguments_are_refused_with_the_nearest_name() {
    let dir = TestDir::new();
    for (arguments, said) in [
        (["--host", "AV36Q"], "did you mean `AV36`?"),
        (["--policy", "raid-5"], "did you mean `raid5`?"),
        (["--region", "eastuss"], "did you mean `eastus`?"),
        (["--host-price", "5000"], "`5000/month`"),
        (["--dedup", "0.5"], "a factor from `1` to `10`"),
        (["--report", "page.pdf"], "must end in .html or .md"),
        (["--memory", "consumed"], "no sheet vMemory"),
        (["--storage", "guest"], "no sheet vPartition"),
        (["--iops-per-vm=-5", "--json"], "expected a rate"),
    ] {
        let ended = avs(&dir, &small(), &arguments);
        assert_eq!(ended.code, Some(2), "{said}: {ended:?}");
        let words = ended.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains(said), "{said}: {words}");
    }
    let ended = dir.run(&["avs", "--rvtools", "nowhere.xlsx"]);
    assert_eq!(ended.code, Some(2));
    assert!(ended.stderr.contains("read nowhere.xlsx"));
    let ended = dir.run(&["avs", "--rvtools", "target"]);
    assert!(ended.stderr.contains("it has no CSV file of RVTools"), "{}", ended.stderr);
}

#[test]
fn invalid_exports_are_refused_with_position_and_remedy() {
    let dir = TestDir::new();
    let negative = info(&[Vm::default()]).csv(',').replace(",51200,", ",-51200,");
    let typo = info(&[Vm::default()]).renamed("Powerstate", "Power state").renamed("CPUs", "CPU");
    let all_off = info(&[Vm { power: "poweredOff", ..Vm::default() }]);
    let only_disks = Table::new("vDisk", &["VM", "Capacity MiB"]).row(&["vm", "1"]);
    for (export, said) in [
        (b"".to_vec(), "it is empty"),
        (b"PK\x03\x04 broken".to_vec(), "the workbook is damaged"),
        (negative.into_bytes(), "vInfo!Q2: found `-51200`, expected a number of at least 0"),
        (workbook(&[typo]), "no heading `CPUs` (the most similar is `CPU` in column J)"),
        (workbook(&[only_disks]), "no sheet `vInfo`"),
        (workbook(&[info(&[])]), "no machines"),
        (workbook(&[all_off]), "select others with --power"),
    ] {
        let ended = avs(&dir, &export, &[]);
        assert_eq!(ended.code, Some(2), "{said}: {ended:?}");
        assert!(ended.stderr.contains(said), "{said}: {}", ended.stderr);
        assert_eq!(ended.stdout, "");
    }
}
