//! `avs --profile`: loads by class, problems of profiles, and the present estate.

use serde_json::Value;

use crate::harness::{Ended, TestDir};
use crate::workbooks::{Table, Vm, estate, hosts, info, workbook};

const PROFILE: &str = r#"
[[class]]
name = "databases"
vm = "sql*"
iops_per_vcpu = 1000
transfer_size = "16KiB"

[[class]]
name = "gold"
column = { Tier = "gold" }
iops_per_gib = 1

[[class]]
name = "mistyped"
folder = "*/Prodcution/*"
iops_per_vm = 1
"#;

fn export() -> Vec<u8> {
    let mib = |tib: u64| tib * 1024 * 1024;
    let machine = |name, tier| Vm {
        name,
        tier,
        cpus: 16,
        memory_mib: 65_536,
        provisioned_mib: mib(20),
        in_use_mib: mib(10),
        ..Vm::default()
    };
    let table = info(&[machine("SQL-1", "gold"), machine("files", "gold"), machine("web", "")]);
    let guests = Table::new("vPartition", &["VM", "Capacity MiB", "Consumed MiB"])
        .row(&["SQL-1", "10485760", "5242880"])
        .row(&["files", "10485760", "5242880"]);
    let headings = ["Name", "Type", "Capacity MiB", "Provisioned MiB", "In Use MiB"];
    let stores = Table::new("vDatastore", &headings)
        .row(&["ds1", "VMFS", "41943040", "62914560", "31457280"]);
    let clusters = Table::new("vCluster", &["Name", "NumHosts", "NumCpuCores", "Failover Level"])
        .row(&["c1", "2", "64", "1"]);
    workbook(&[table, hosts(2, 32, 64), clusters, guests, stores])
}

fn avs(dir: &TestDir, profile: &str, arguments: &[&str]) -> Ended {
    let write = |name: &str, bytes: &[u8]| {
        std::fs::write(dir.path().join(name), bytes).expect("write");
    };
    write("export.xlsx", &export());
    write("loads.toml", profile.as_bytes());
    dir.run(&[&["avs", "--rvtools", "export.xlsx", "--profile", "loads.toml"], arguments].concat())
}

fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn json(ended: &Ended) -> Value {
    serde_json::from_str(&ended.stdout).unwrap_or_else(|_| panic!("no JSON: {ended:?}"))
}

#[test]
fn a_profile_assigns_loads_by_class_with_the_pattern_that_matched() {
    let dir = TestDir::new();
    let ended = avs(&dir, PROFILE, &["--iops-per-vm", "50", "--full"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let said = words(&ended.stdout);
    for wanted in [
        "databases 1 0 16,000 250",
        "gold 1 0 10,240 80",
        "Loads of 3 machines: 2 assumed by profile loads.toml, 1 assumed for each (50 IOPS of \
         8 KiB).",
        "databases: 1,000 IOPS per vCPU, transfers of 16 KiB",
    ] {
        assert!(said.contains(wanted), "{wanted}: {}", ended.stdout);
    }
    assert!(ended.stderr.contains("Class `mistyped` of the profile matches no machine"));
    let too_wide = ended.stdout.lines().find(|line| line.chars().count() > 80);
    assert_eq!(too_wide, None);

    let document = json(&avs(&dir, PROFILE, &["--json", "--placement", "p.csv"]));
    assert_eq!(document["machines"]["loads"]["profile"], 2);
    assert_eq!(document["machines"]["loads"]["none"], 1);
    assert_eq!(document["machines"]["each"][1]["class"], "gold");
    assert_eq!(document["classes"][0]["assumed_ops_per_s"], 16_000);
    assert!(document["warnings"][0].as_str().expect("a text").contains("mistyped"));
    let lines = std::fs::read_to_string(dir.path().join("p.csv")).expect("read the placement");
    assert!(lines.contains(",16000,262144000,profile,databases"), "{lines}");
    assert!(lines.contains(",,,none,"), "{lines}");
}

#[test]
fn measured_loads_take_precedence_over_the_profile() {
    let dir = TestDir::new();
    let load = Table::new("VM Performance", &["VM Name", "Peak IOPS"]).row(&["SQL-1", "500"]);
    std::fs::write(dir.path().join("live.xlsx"), workbook(&[load])).expect("write");
    let ended = avs(&dir, PROFILE, &["--live-optics", "live.xlsx", "--json"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let document = json(&ended);
    let machine = &document["machines"]["each"][0];
    assert_eq!(
        (&machine["load_from"], &machine["class"]),
        (&"measured".into(), &"databases".into())
    );
    // The operations were measured; their size is from the class.
    assert_eq!(machine["bytes_per_s"], 500 * 16_384);
    assert_eq!(document["classes"][0]["measured"], 1);
    let said = "Class `databases` of the profile has no effect";
    assert!(ended.stderr.contains(said), "{}", ended.stderr);
}

#[test]
fn loads_are_peaks_unless_means_are_requested() {
    let dir = TestDir::new();
    let load = Table::new("VM Performance", &["VM Name", "Peak IOPS", "Average IOPS"])
        .row(&["SQL-1", "500", "20"]);
    std::fs::write(dir.path().join("live.xlsx"), workbook(&[load])).expect("write");
    let operations = |more: &[&str]| {
        let arguments = [&["--live-optics", "live.xlsx", "--json"], more].concat();
        let document = json(&avs(&dir, PROFILE, &arguments));
        document["machines"]["each"][0]["bytes_per_s"].as_u64().expect("a number") / 16_384
    };
    assert_eq!(operations(&[]), 500);
    assert_eq!(operations(&["--load", "peak"]), 500);
    assert_eq!(operations(&["--load", "mean"]), 20);
}

#[test]
fn the_present_estate_is_shown_next_to_the_design() {
    let dir = TestDir::new();
    let ended = avs(&dir, PROFILE, &["--full"]);
    let said = words(&ended.stdout);
    for wanted in [
        "Current estate",
        "hosts 2 5 3",
        "datastores 1 1 ",
        "stored, TiB 30.0 30.0 30.0",
        "vDatastore (1 row)",
        "VMFS (1 datastore): 40.0 TiB, 30.0 TiB in use, 10.0 TiB free; 150 % of it is provisioned",
        "Hosts: 128 vCPUs, configured to tolerate 1 failed host over all clusters.",
        "Guests of 2 of 3 machines use 10.0 TiB in their file systems and 20.0 TiB on datastores",
        "a capacity of 20.0 TiB: they can grow by 10.0 TiB",
        // 3 x 7.2 TB of vSAN are 19.645 TiB; and 24 TiB of quotas; 30 TiB are taken.
        "datastores of Flexible have 13.6 TiB free",
    ] {
        assert!(said.contains(wanted), "{wanted}: {}", ended.stdout);
    }
    let guest = json(&avs(&dir, PROFILE, &["--storage", "guest", "--json"]));
    assert_eq!(guest["machines"]["storage_bytes"], 20_u64 << 40);
    assert_eq!(guest["today"]["guests"]["reclaimable_bytes"], 10_u64 << 40);
    assert_eq!(guest["today"]["datastores"][0]["committed_permille"], 1500);
}

#[test]
fn built_in_profiles_can_be_used_and_printed_as_a_file() {
    let dir = TestDir::new();
    let printed = dir.ok(&["avs", "--print-profile", "avd-medium"]);
    assert!(printed.contains("iops_per_vcpu = 40") && printed.contains("Not confirmed"));
    let by_file = json(&avs(&dir, &printed, &["--json"]));
    let by_name = ["avs", "--rvtools", "export.xlsx", "--profile", "avd-medium", "--json"];
    let by_name = json(&dir.run(&by_name));
    assert_eq!(by_name["machines"]["ops_per_s"], 3 * 16 * 40);
    assert_eq!(by_file["machines"], by_name["machines"]);
    let row = &by_name["classes"][0]["reason"]["rows"][0];
    assert_eq!(row["row"], "profile avd-medium");
    let assumptions = by_name["assumptions"].to_string();
    assert!(assumptions.contains("no source confirms `read`"));
}

#[test]
fn problems_of_a_profile_are_reported_with_their_position() {
    let dir = TestDir::new();
    for (from, to, said) in [
        ("vm = \"sql*\"", "vn = \"sql*\"", "did you mean `vm`?"),
        ("iops_per_gib = 1", "iops_per_gib = 1\niops_per_vm = 2", "contradicts `iops_per_vm`"),
        ("iops_per_gib = 1", "iops_per_gib = -1", "loads.toml:11:16"),
        ("[[class]]", "[[class]", "this is not TOML"),
    ] {
        let ended = avs(&dir, &PROFILE.replacen(from, to, 1), &[]);
        assert_eq!(ended.code, Some(2), "{said}: {ended:?}");
        assert!(ended.stderr.contains(said), "{said}: {}", ended.stderr);
        assert_eq!(ended.stdout, "");
    }
    let ended = avs(&dir, "", &[]);
    assert!(ended.stderr.contains("the profile has no class"), "{}", ended.stderr);
    for (arguments, said) in [
        (
            ["--rvtools", "export.xlsx", "--profile", "nowhere.toml"],
            "neither such a file nor a built-in",
        ),
        (["--rvtools", "export.xlsx", "--profile", "avd-medum"], "did you mean `avd-medium`?"),
        (["--rvtools", "export.xlsx", "--spare-hosts", "16"], "from 0 to 15"),
        (["--rvtools", "export.xlsx", "--print-profile", "avd-light"], "cannot be used with"),
    ] {
        let ended = dir.run(&[&["avs"][..], &arguments].concat());
        assert_eq!(ended.code, Some(2), "{said}: {ended:?}");
        assert!(words(&ended.stderr).contains(said), "{said}: {}", ended.stderr);
    }
    let ended = dir.run(&["avs", "--print-profile", "oracle"]);
    assert_eq!(ended.code, Some(2));
    assert!(ended.stderr.contains("there are avd-light"), "{}", ended.stderr);
}

#[test]
fn an_unknown_column_of_a_profile_is_reported_with_the_nearest() {
    let dir = TestDir::new();
    let ended = avs(&dir, &PROFILE.replace("Tier", "Tierr"), &["--full"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let said = words(&ended.stdout);
    assert!(
        said.contains("the requested column `Tierr` is missing; did you mean `Tier` (column V)?")
    );
    assert!(ended.stderr.contains("Class `gold` of the profile matches no machine"));
}

#[test]
fn two_thousand_machines_get_their_loads_by_class() {
    let dir = TestDir::new();
    std::fs::write(dir.path().join("estate.xlsx"), estate(2000)).expect("write");
    let profile = "[[class]]\nname = \"production\"\nfolder = \"*/Production\"\niops_per_gib = 2\n\
                   [[class]]\nname = \"gold\"\ncolumn = { Tier = \"gold\" }\niops_per_vcpu = 50\n\
                   [default]\niops_per_vm = 20\n";
    std::fs::write(dir.path().join("loads.toml"), profile).expect("write");
    let arguments = ["avs", "--rvtools", "estate.xlsx", "--profile", "loads.toml", "--json"];
    let ended = dir.run(&arguments);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let document = json(&ended);
    let classes = document["classes"].as_array().expect("a list");
    let machines = |class: &Value| class["machines"].as_u64().expect("a number");
    assert!(classes.iter().all(|class| machines(class) > 100), "{classes:?}");
    assert_eq!(Some(classes.iter().map(machines).sum()), document["machines"]["counted"].as_u64());
    assert_eq!(document["machines"]["loads"]["none"], 0);
}
