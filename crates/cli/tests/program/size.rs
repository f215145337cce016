//! `size`: its output formats, and its messages about unusable input.

use metrics::interval::StreamInterval;
use serde_json::Value;
use workload::op::OpKind;

use crate::comparing::kept;
use crate::harness::TestDir;
use crate::records::{done, experiment, kind, reads, run, stream};

#[test]
fn a_throughput_and_a_capacity_become_designs_with_their_cost() {
    let dir = TestDir::new();
    let needed = ["size", "--throughput", "950MiB/s", "--capacity", "4TiB", "--level", "premium"];
    let text = dir.ok(&needed);
    let recommended = "Buy 15 TiB premium, auto QoS, 1 regular volume: $4,519 per month for 950 MiB/s \
                       and 4 TiB in eastus.";
    assert!(one_line(&text).starts_with(recommended), "{text}");
    for words in ["15,200", "Clients, not in the cost (`--vm` or `--clients` adds them): 1 x "] {
        assert!(one_line(&text).contains(words), "`{words}` in\n{text}");
    }
    assert!(text.lines().count() <= 40 && !text.contains("hosts: $"), "{text}");
    let explained = dir.ok(&[&needed[..], &["--full"]].concat());
    for words in [
        "prices of eastus",
        "grows with its",
        "950 MiB/s = 972,800 KiB/s; / 64 KiB/s per GiB = 15,200 GiB of premium quota",
        "`service_levels.toml` service_level premium (AD:azure-netapp-files-service-levels.md",
        "15,360 GiB x $0.000403 x 730 h = $4,519",
    ] {
        assert!(one_line(&explained).contains(words), "`{words}` in\n{explained}");
    }
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    let json: Value =
        serde_json::from_str(&dir.ok(&[&needed[..], &["--json"]].concat())).expect("JSON");
    assert_eq!(json["feasible"], true);
    let volume = &json["designs"][0]["pools"][0]["volumes"][0];
    assert_eq!(volume["quota_gib"], 15_200);
    assert_eq!(volume["throughput_kib_s"], 972_800);
    // The recommendation is the first design.
    let month = json["designs"][0]["month_usd"].as_f64().expect("a cost");
    assert!((4518.5..4519.5).contains(&month), "{month}");
    assert_eq!(json["designs"][0]["hosts"]["in_cost"], false);
}

#[test]
fn a_recommended_design_whose_latency_is_not_met_says_why_and_names_one_whose_is() {
    let dir = TestDir::new();
    let needed = ["size", "--capacity", "1TiB", "--level", "flexible", "--region", "westeurope"];
    let text = dir.ok(&[&needed[..], &["--throughput", "3000MiB/s"]].concat());
    // Four volumes of 1,080 and 640 MiB/s: equal parts of the load are 750 MiB/s.
    for words in [
        "1,080",
        "not met",
        "the model of latency does not reach the throughput (not met): it divides the load equally",
        "The cheapest design for which it does is design 4: 5 TiB flexible, manual QoS, 1 regular volume,",
    ] {
        assert!(one_line(&text).contains(words), "`{words}` in\n{text}");
    }
    let text = dir.ok(&[&needed[..], &["--throughput", "300MiB/s"]].concat());
    assert!(!text.contains("not met"), "{text}");
}

#[test]
fn clients_are_in_the_cost_only_on_request() {
    let dir = TestDir::new();
    let needed = ["size", "--throughput", "950MiB/s", "--capacity", "4TiB", "--level", "premium"];
    let costs = |more: &[&str]| {
        let json: Value = serde_json::from_str(&dir.ok(&[&needed[..], &["--json"], more].concat()))
            .expect("JSON");
        let items = json["designs"][0]["costs"].as_array().expect("items").clone();
        items.iter().map(|one| one["item"].as_str().expect("a name").to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(costs(&[]), ["pool capacity"]);
    assert_eq!(costs(&["--clients", "2"]), ["pool capacity", "hosts"]);
    assert_eq!(costs(&["--vm", "D32s_v5"]), ["pool capacity", "hosts"]);
    let text = dir.ok(&[&needed[..], &["--vm", "D32s_v5"]].concat());
    assert!(text.contains("1 x D32s_v5: $") && !text.contains("Clients, not"), "{text}");
}

#[test]
fn rare_constraints_and_charges_change_the_answer() {
    let dir = TestDir::new();
    let json = |arguments: &[&str]| -> Value {
        let all = [&["size", "--json"], arguments].concat();
        serde_json::from_str(&dir.ok(&all)).expect("JSON")
    };
    let flexible = ["--throughput", "500MiB/s", "--capacity", "5TiB", "--level", "flexible"];
    let pools = |more: &[&str]| {
        let json = json(&[&flexible[..], more].concat());
        let designs = json["designs"].as_array().expect("designs").clone();
        designs.iter().map(|one| one["pools"].as_array().map_or(0, Vec::len)).max()
    };
    // Each pool includes 128 MiB/s free of charge, so several are cheaper if they are allowed.
    assert_eq!((pools(&["--pools", "1"]), pools(&["--pools", "3"])), (Some(1), Some(3)));

    let kinds = |more: &[&str]| {
        let json = json(&[&["--throughput", "1GiB/s", "--capacity", "50TiB"], more].concat());
        json["cheapest_of_each_kind"].to_string().contains("\"breakthrough\"")
    };
    assert!(!kinds(&[]) && kinds(&["--previews"]));

    let replicated = ["--capacity", "4TiB", "--level", "premium", "--replicate-to", "westus"];
    let replica = |more: &[&str]| {
        let json = json(&[&replicated[..], more].concat());
        let of = |item: &str| {
            let items = json["designs"][0]["costs"].as_array().expect("items");
            let found = items.iter().find(|one| one["item"] == item).expect("an item");
            found["month_usd"].as_f64().expect("dollars")
        };
        (of("replica capacity"), of("replication"))
    };
    let (usual, standard) = (replica(&[]), replica(&["--replica-level", "standard"]));
    assert!(standard.0 < usual.0 && standard.1 == usual.1, "{standard:?} {usual:?}");
    let daily = replica(&["--replicate-every", "day"]);
    assert!(daily.1 < usual.1 && daily.0 == usual.0, "{daily:?} {usual:?}");
}

#[test]
fn an_impossible_requirement_is_reported_with_what_is_possible() {
    let dir = TestDir::new();
    let writes = ["size", "--throughput", "2000MiB/s", "--capacity", "4TiB", "--read", "0%"];
    let ended = dir.run(&[&writes[..], &["--vm", "D32s_v3", "--clients", "1"]].concat());
    assert_eq!(ended.code, Some(1), "{}\n{}", ended.stdout, ended.stderr);
    let one_line = ended.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    for words in [
        "VM egress: 1 x Standard_D32s_v3 send at most 1,907.3 MiB/s; writes require 2,000.0 MiB/s",
        "with 2 hosts of Standard_D32s_v3",
        "with at most 1,90",
    ] {
        assert!(one_line.contains(words), "`{words}` in\n{}", ended.stdout);
    }
    let all = dir.run(&["size", "--throughput", "900TiB/s", "--capacity", "1TiB", "--json"]);
    assert_eq!(all.code, Some(1), "{}", all.stderr);
    let json: Value = serde_json::from_str(&all.stdout).expect("JSON");
    assert_eq!(json["feasible"], false);
    assert_eq!(json["shortfalls"][0]["constraint"], "number of volumes");
}

#[test]
fn each_number_has_its_sources_in_text_json_and_html() {
    let dir = TestDir::new();
    let page = dir.path().join("sizing.html");
    let needed = ["size", "--throughput", "950MiB/s", "--capacity", "4TiB", "--vm", "D2s_v5"];
    let report = ["--full", "--report", page.to_str().expect("a path")];
    let text = one_line(&dir.ok(&[&needed[..], &report].concat()));
    let html = std::fs::read_to_string(&page).expect("read the page");
    let json: Value =
        serde_json::from_str(&dir.ok(&[&needed[..], &["--json"]].concat())).expect("JSON");
    for kind in ["documented limit", "published", "derived", "extrapolated"] {
        assert!(text.contains(&format!("- {kind}: ")), "{kind}: {text}");
        assert!(html.contains(&format!("{kind}: ")), "{kind}");
        let reasons = json["designs"][0]["reasons"].as_array().expect("reasons");
        assert!(reasons.iter().any(|reason| reason["kind"] == kind), "{kind}");
    }
    assert!(text.contains("extrapolated 16-fold down from 32 processors"), "{text}");
    assert!(text.contains("16 % 4,096 of 25,600 GiB"), "{text}");
    let uses = json["designs"][0]["uses"].as_array().expect("uses");
    let host = uses.iter().find(|one| one["resource"] == "capability of the hosts");
    assert_eq!(host.expect("hosts are used")["kind"], "extrapolated");
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn datastores_have_one_connection_of_every_host_each() {
    let dir = TestDir::new();
    let asked = ["size", "--protocol", "datastores", "--iops", "195000", "--capacity", "4TiB"];
    let text = dir.ok(&[&asked[..], &["--clients", "4", "--level", "ultra", "--full"]].concat());
    let said = one_line(&text);
    for words in [
        "4 x AV36 (36 cores) with 1 connection to each of",
        "az vmware datastore netapp-volume create",
        "--cluster CLUSTER",
        "hosts: no price of AV36 in eastus",
        "every host of Azure VMware Solution delivers the published figures of AV36",
    ] {
        assert!(said.contains(words), "`{words}` in\n{text}");
    }
    assert!(!said.contains("grows with its processors"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    let few = dir.run(&[&asked[..], &["--clients", "2"]].concat());
    assert_eq!(few.code, Some(1), "{}\n{}", few.stdout, few.stderr);
    assert!(few.stdout.contains("a cluster has at least 3"), "{}", few.stdout);
}

#[test]
fn a_session_of_nfs_4_1_has_fewer_slots_than_its_connections() {
    let dir = TestDir::new();
    let asked = ["size", "--throughput", "1GiB/s", "--capacity", "20TiB", "--level", "premium"];
    let json = |protocol: &str| -> Value {
        let all = [&asked[..], &["--clients", "2", "--protocol", protocol, "--json"]].concat();
        serde_json::from_str(&dir.ok(&all)).expect("JSON")
    };
    let hosts = |json: &Value| json["designs"][0]["hosts"].clone();
    let (three, four) = (hosts(&json("nfsv3")), hosts(&json("nfsv4.1")));
    assert_eq!(three["slots"].as_u64(), three["connections_total"].as_u64().map(|c| c * 128));
    let each = four["connections"].as_u64().map(|connections| (connections * 128).min(180));
    let ways = four["endpoints"].as_u64().zip(each).map(|(ways, each)| 2 * ways * each);
    assert_eq!(four["slots"].as_u64(), ways);
    let text = dir.ok(&[&asked[..], &["--protocol", "nfsv4.1", "--full"]].concat());
    assert!(text.contains("max_session_slots=180"), "{text}");
    let smb = dir.ok(&[&asked[..], &["--protocol", "smb", "--full"]].concat());
    assert!(smb.contains("ConnectionCountPerRssNetworkInterface"), "{smb}");
}

#[test]
fn parts_use_several_levels_if_that_is_cheaper() {
    let dir = TestDir::new();
    let parts = ["size", "--part", "data=1TiB,3000MiB/s", "--part", "log=60TiB,10MiB/s"];
    let text = dir.ok(&[&parts[..], &["--level", "standard,ultra", "--full"]].concat());
    let said = one_line(&text);
    for words in ["24 TiB ultra, auto QoS", "60 TiB standard, auto QoS", "ultra+standard"] {
        assert!(said.contains(words), "`{words}` in\n{text}");
    }
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
}

#[test]
fn seven_parts_have_one_level() {
    let dir = TestDir::new();
    let said = |count: usize| {
        let parts: Vec<String> = (0..count).map(|part| format!("p{part}=1TiB,10MiB/s")).collect();
        let flags = parts.iter().flat_map(|part| ["--part", part]);
        let all: Vec<&str> =
            ["size", "--full", "--level", "standard,ultra"].into_iter().chain(flags).collect();
        one_line(&dir.ok(&all)).contains("all parts have one level")
    };
    assert!(said(7) && !said(6));
}

#[test]
fn cool_data_backups_and_peering_traffic_are_in_the_cost() {
    let dir = TestDir::new();
    let asked = ["size", "--capacity", "4TiB", "--level", "standard", "--full"];
    let charged = ["--cool", "75%", "--cool-moved", "20%", "--backup", "6TiB"];
    let text = dir.ok(&[&asked[..], &charged].concat());
    let said = one_line(&text);
    for words in [
        "cool tier: 75 % of the capacity, 3,072 GiB x $0.000082 x 730 h = $184",
        "moving the data there costs $61.44 once",
        "20 % of 3,072 GiB per month x $0.02 = $12.29",
        "6,144 GiB x $0.05 per month = $307",
        "operations on data in the cool tier are slower",
    ] {
        assert!(said.contains(words), "`{words}` in\n{text}");
    }
    let moved = ["size", "--throughput", "100MiB/s", "--peered", "50%", "--mean", "50%"];
    let text = dir.ok(&[&moved[..], &["--full"]].concat());
    let words = "a mean of 50 % of 100 MiB/s, of which 50 % cross, over 730 h = 68,892 GB";
    assert!(one_line(&text).contains(words), "`{words}` in\n{text}");
}

#[test]
fn the_format_of_a_page_is_that_of_its_extension() {
    let dir = TestDir::new();
    let page = dir.path().join("sizing.html");
    let needed = ["size", "--capacity", "4TiB", "--report"];
    dir.ok(&[&needed[..], &[page.to_str().expect("a path")]].concat());
    let html = std::fs::read_to_string(&page).expect("read the page");
    assert!(html.contains("<h1>Sizing for 4 TiB in eastus</h1>"), "{html}");
    assert!(html.contains("pool_size_step"), "the page has the rows of data");
    let page = dir.path().join("sizing.md");
    dir.ok(&[&needed[..], &[page.to_str().expect("a path")]].concat());
    let text = std::fs::read_to_string(&page).expect("read the page");
    assert!(text.starts_with("# Sizing for 4 TiB in eastus\n"), "{text}");
}

#[test]
fn each_charge_is_a_line_in_text_json_and_page() {
    let dir = TestDir::new();
    let page = dir.path().join("sizing.html");
    let page_name = page.to_str().expect("a path");
    let needed = [
        "size",
        "--capacity",
        "150TiB",
        "--region",
        "West Europe",
        "--level",
        "premium",
        "--snapshots",
        "20%",
        "--replicate-to",
        "North Europe",
        "--reserved",
        "1y",
        "--full",
        "--report",
        page_name,
    ];
    let text = dir.ok(&needed);
    let json = dir.ok(&[&needed[..], &["--json"]].concat());
    let page = std::fs::read_to_string(&page).expect("read the page");
    for line in ["reserved capacity: $", "snapshots: $", "replication: $", "replica capacity: $"] {
        assert!(text.contains(&format!("  - {line}")), "{line}: {text}");
        assert!(page.contains(line), "{line}");
        let item = line.split(':').next().expect("a name");
        assert!(json.contains(&format!("\"item\": \"{item}\"")), "{item}");
    }
    assert!(json.contains("\"region\": \"westeurope\""), "{json}");
    assert!(json.contains("\"reserved\": \"1y\""), "{json}");
    assert!(text.contains("2.9 % of the data changes in a day"), "{text}");
}

#[test]
fn invalid_input_is_refused_with_what_is_allowed() {
    let dir = TestDir::new();
    let cases: [(&[&str], &str); 28] = [
        (&["--throughput", "-5MiB/s"], "a throughput with its unit, such as `950MiB/s`"),
        (&["--throughput", "950"], "a throughput with its unit"),
        (&["--capacity", "-4TiB"], "a size such as"),
        (&["--iops", "-1"], "a rate"),
        (&["--capacity", "4TiB", "--region", "eastuss"], "did you mean `eastus`?"),
        (&["--capacity", "4TiB", "--region", "West Eurpe"], "did you mean `westeurope`?"),
        (
            &["--capacity", "4TiB", "--region", "New Zealand North", "--level", "flexible"],
            "New Zealand North has no Flexible service level; the nearest regions that have it are \
             australiaeast, ",
        ),
        (
            &["--capacity", "4TiB", "--region", "israelcentral", "--require", "large-volumes"],
            "Israel Central has no large volumes; the nearest regions that have it are ",
        ),
        (
            &["--capacity", "4TiB", "--replicate-to", "westeurope"],
            "volumes in East US cannot be replicated to West Europe; they can be replicated to ",
        ),
        (&["--capacity", "4TiB", "--daily-change", "3%"], "--replicate-to"),
        (&["--capacity", "4TiB", "--vm", "D33s_v3"], "did you mean `Standard_D32s_v3`?"),
        (&["--capacity", "4TiB", "--vm", "F8"], "there are Standard_"),
        (&["--capacity", "4TiB", "--vm", "AV36"], "require --protocol datastores"),
        (&["--capacity", "4TiB", "--mean", "50%"], "--peered"),
        (&["--capacity", "4TiB", "--level", "premum"], "did you mean `premium`?"),
        (&["--capacity", "4TiB", "--clients", "0"], "--clients"),
        (&["--capacity", "4TiB", "--headroom", "95%"], "the headroom is 95 %"),
        (&["--capacity", "4TiB", "--hours", "800"], "--hours"),
        (&["--capacity", "4TiB", "--report", "page.pdf"], ".html or .md"),
        (&["--part", "data=4TiB"], "such as `data=4TiB,704MiB/s`"),
        (&["--part", "a=1TiB,1MiB/s", "--part", "a=1TiB,1MiB/s"], "two parts are called `a`"),
        (&["--capacity", "4TiB", "--cool", "120%"], "--cool"),
        (&["--capacity", "4TiB", "--cool-moved", "10%"], "--cool"),
        (&["--capacity", "4TiB", "--peered", "-5%"], "--peered"),
        (&["--capacity", "4TiB", "--backup", "0"], "a capacity above 0"),
        (&["--capacity", "4TiB", "--protocol", "datastore"], "did you mean `datastores`?"),
        (
            &["--capacity", "4TiB", "--protocol", "datastores", "--vm", "AV37"],
            "did you mean `AV36`?",
        ),
        (&[], "give a throughput, a rate of operations or a capacity above 0"),
    ];
    for (arguments, words) in cases {
        let all: Vec<&str> = ["size"].iter().chain(arguments).copied().collect();
        let ended = dir.run(&all);
        assert_eq!(ended.code, Some(2), "{all:?}\n{}\n{}", ended.stdout, ended.stderr);
        assert!(ended.stderr.contains(words), "{all:?}: `{words}` in\n{}", ended.stderr);
    }
}

#[test]
fn a_schedule_has_its_limits_its_cost_and_its_rules() {
    let dir = TestDir::new();
    let asked = ["size", "--schedule", "peak=5TiB@08-18,off=4TiB", "--capacity", "1.1TiB"];
    let text = dir.ok(&[&asked[..], &["--level", "premium", "--full"]].concat());
    for words in ["With premium", "320", "256", "$1,331 per month", "($1,506)", "mon 08:00"] {
        assert!(text.contains(words), "`{words}` in\n{text}");
    }
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    let json: Value = serde_json::from_str(&dir.ok(&[&asked[..], &["--json"]].concat()))
        .expect("what --json prints is JSON");
    assert_eq!(json["schedules"].as_array().map(Vec::len), Some(3), "each level by quota");
    assert_eq!(json["schedules"][1]["phases"][0]["throughput_kib_s"], 320 << 10);

    let daily = dir.run(&["size", "--schedule", "peak=5TiB:ultra@08-18,off=5TiB:premium"]);
    assert_eq!(daily.code, Some(1), "{}\n{}", daily.stdout, daily.stderr);
    assert!(daily.stdout.contains("a move down after 10 h"), "{}", daily.stdout);
    let weekly = "week=5TiB:ultra@mon-fri,weekend=5TiB:premium";
    dir.ok(&["size", "--schedule", weekly]);
    let old = dir.run(&["size", "--schedule", weekly, "--cool-down", "7d"]);
    assert_eq!(old.code, Some(1), "{}", old.stdout);
    let wrong = dir.run(&["size", "--schedule", "peak=5TiB@08-18"]);
    assert_eq!(wrong.code, Some(2));
    assert!(wrong.stderr.contains("mon 00:00 is in no phase"), "{}", wrong.stderr);
}

#[test]
fn a_measured_load_becomes_a_requirement() {
    let dir = TestDir::new();
    let reading = run("random read 8 KiB", vec![stream("data", 4)], 1, 6);
    let measured = (0..7).map(|_| reads(50_000, 8192, 100_000)).collect();
    let id = kept(&dir, &experiment(vec![done(reading, measured)]), 1_795_241_733_000);
    let text = dir.ok(&["size", "--from-run", &id, "--growth", "30%", "--full"]);
    let one_line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for words in [
        "random read 8 KiB: 390.6 MiB/s in transfers of 8 KiB, 100 % of the bytes are reads",
        "growth of 30 %: 390.625 MiB/s become 507.8125 MiB/s",
        "the volumes hold the files of the record",
    ] {
        assert!(one_line.contains(words), "`{words}` in\n{text}");
    }
    let both = dir.run(&["size", "--from-run", &id, "--iops", "5"]);
    assert_eq!(both.code, Some(2), "{}", both.stderr);
    let missing = dir.run(&["size", "--from-run", "nothing"]);
    assert_eq!(missing.code, Some(2));
    assert!(missing.stderr.contains("no record `nothing`"), "{}", missing.stderr);
}

#[test]
fn with_unequal_sizes_a_need_has_the_share_of_bytes_and_a_comparison_that_of_operations() {
    let dir = TestDir::new();
    let mixed = || {
        let mut interval = StreamInterval {
            issued: 20_000,
            outstanding_time_ns: 20_000 * 100_000,
            ..StreamInterval::default()
        };
        interval.kinds[OpKind::Read as usize] = kind(10_000, 8192, 100_000, 100_000);
        interval.kinds[OpKind::Write as usize] = kind(10_000, 65_536, 100_000, 100_000);
        interval
    };
    let mixing = run("mixed", vec![stream("data", 4)], 1, 6);
    let record = experiment(vec![done(mixing, (0..7).map(|_| mixed()).collect())]);
    let id = kept(&dir, &record, 1_795_241_733_000);
    let text = dir.ok(&["size", "--from-run", &id, "--full"]);
    let one_line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(one_line.contains("11 % of the bytes are reads"), "{text}");
    let json: Value =
        serde_json::from_str(&dir.ok(&["expect", "--run", &id, "--json"])).expect("JSON");
    assert_eq!(json["expectations"][0]["read_fraction"], 0.5);
}

#[test]
fn a_number_of_job_sets_becomes_a_demand_by_kind_and_a_design() {
    let dir = TestDir::new();
    let json = |units: &str| -> Value {
        let all = ["size", "--profile", "eda-like", "--metric", units, "--json"];
        serde_json::from_str(&dir.ok(&all)).expect("JSON")
    };
    let one = json("88");
    // 88 job sets: 88 x 450 operations, of which 40 % are on names, 7.26 MB/s and 11 GiB each.
    let part = &one["need"]["parts"][0];
    let number = |value: &Value| value.as_f64().expect("a number");
    assert!((number(&part["demands"][0]["names_per_s"]) / (88.0 * 180.0) - 1.0).abs() < 0.01);
    let mb_s = number(&part["demands"][0]["throughput_kib_s"]) * 1024.0 / 1e6;
    assert!((mb_s / (88.0 * 7.26) - 1.0).abs() < 0.01, "{mb_s}");
    assert_eq!((&part["capacity_gib"], &part["inodes"]), (&968.into(), &633_600.into()));
    let business = &one["need"]["business"];
    assert_eq!((&business["metric"], &business["units"]), (&"job sets".into(), &88.into()));
    let kinds = business["variants"][0]["kinds"].as_array().expect("kinds");
    let rate: f64 = kinds.iter().map(|kind| number(&kind["ops_per_s"])).sum();
    assert!((rate - 88.0 * 450.0).abs() < 1e-6, "{rate}");
    assert_eq!(business["not_enough_data"], serde_json::json!([]));
    // The published result is that of 88 job sets on one regular volume; twice that needs two.
    let regular = |found: &Value| -> u64 {
        let designs = found["cheapest_of_each_kind"].as_array().expect("designs").iter();
        let volumes = |design: &Value| -> u64 {
            let pools = design["pools"].as_array().expect("pools").iter();
            let all = pools.flat_map(|pool| pool["volumes"].as_array().expect("volumes"));
            all.map(|one| one["count"].as_u64().expect("a count")).sum()
        };
        let regular = designs.filter(|design| design["volume_kind"] == "regular");
        regular.map(volumes).min().expect("a design with regular volumes")
    };
    assert_eq!((regular(&one), regular(&json("177"))), (1, 3));
    let text = one_line(&dir.ok(&["size", "--profile", "eda-like", "--metric", "88", "--full"]));
    for words in [
        "88 job sets (",
        "88 job sets by eda-like: 39,600 ops/s, 15,",
        "capacity: 88 x 11 GiB = 968 GiB",
        "inodes: 88 x 7,200 = 633,600",
        "one regular volume carried 15,840 ops/s on names, by figure C08 of",
    ] {
        assert!(text.contains(words), "`{words}` in\n{text}");
    }
}

#[test]
fn kinds_without_a_published_rate_are_named_and_not_counted() {
    let dir = TestDir::new();
    let text = one_line(&dir.ok(&["size", "--profile", "home-directories", "--metric", "14000"]));
    let words = "Not enough data for open, readdirplus, lookup, lookup_missing, rename:";
    assert!(text.contains(words), "{text}");
    assert!(text.contains("14,000 active users"), "{text}");
}

#[test]
fn a_metric_that_cannot_be_sized_is_refused_with_a_remedy() {
    let dir = TestDir::new();
    dir.file("none.toml", "name = \"none\"\n[stream.a]\nread = \"70%\"\ntransfer_size = \"8KiB\"\npattern = \"random\"\nfile_size = \"1GiB\"\nqueue_depth = 4\narrival = { poisson = \"300/s\" }\n");
    dir.file(
        "shares.toml",
        "name = \"shares\"\n[metric]\nname = \"builds\"\nvalues = 1\n[stream.a]\nnames = { files = 1000, depth = 1, width = 10, size = \"16KiB\" }\nmix = { stat = \"90%\", access = \"20%\" }\nqueue_depth = 4\narrival = { poisson = \"300/s\" }\n",
    );
    for (arguments, words) in [
        (&["--profile", "kafka-like", "--metric", "5"][..], "it has no business metric"),
        (&["--profile", "kafka-like", "--metric", "5"], "eda-like (job sets)"),
        (&["--profile", "eda", "--metric", "5"], "neither such a profile nor a file"),
        (&["--profile", "none.toml", "--metric", "5"], "add [metric] with `name` and `values`"),
        (&["--profile", "shares.toml", "--metric", "5"], "shares.toml:7:"),
        (
            &["--profile", "eda-like", "--metric", "users=5"],
            "is not its metric, which is `job sets`",
        ),
        (&["--profile", "eda-like", "--metric", "0"], "a whole number of units from 1"),
        (&["--profile", "eda-like", "--metric", "-3"], "a whole number of units from 1"),
        (&["--profile", "eda-like"], "--metric"),
        (&["--metric", "5"], "--profile"),
        (
            &["--profile", "eda-like", "--metric", "500", "--capacity", "1TiB"],
            "--capacity 1 TiB is less than the working set: 500 job sets x 11 GiB = 5.37 TiB",
        ),
        (&["--profile", "eda-like", "--metric", "5", "--capacity", "1GiB"], "eda-like:16:1"),
    ] {
        let ended = dir.run(&[&["size"][..], arguments].concat());
        assert_eq!(ended.code, Some(2), "{arguments:?}: {}{}", ended.stdout, ended.stderr);
        assert!(one_line(&ended.stderr).contains(words), "{arguments:?}: {}", ended.stderr);
        assert!(ended.stdout.is_empty(), "{}", ended.stdout);
    }
}
