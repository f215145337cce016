//! `size`: what it prints, its forms, and what it says of input that it cannot use.

use metrics::interval::StreamInterval;
use serde_json::Value;
use workload::op::OpKind;

use crate::comparing::kept;
use crate::harness::Place;
use crate::records::{done, experiment, kind, reads, run, stream};

#[test]
fn a_throughput_and_a_capacity_become_designs_with_their_cost() {
    let place = Place::new();
    let needed = ["size", "--throughput", "950MiB/s", "--capacity", "4TiB", "--level", "premium"];
    let text = place.ok(&needed);
    for words in [
        "15 TiB premium, auto QoS, 1 regular volume",
        "15,200",
        "prices of eastus",
        "grows with its",
    ] {
        assert!(text.contains(words), "`{words}` in\n{text}");
    }
    let explained = place.ok(&[&needed[..], &["--explain"]].concat());
    let one_line = explained.split_whitespace().collect::<Vec<_>>().join(" ");
    for words in [
        "950 MiB/s = 972,800 KiB/s; / 64 KiB/s per GiB = 15,200 GiB of premium quota",
        "`service_levels.toml` service_level premium (AD:azure-netapp-files-service-levels.md",
        "15,360 GiB x $0.000403 x 730 h = $4,519",
    ] {
        assert!(one_line.contains(words), "`{words}` in\n{explained}");
    }
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    let json: Value =
        serde_json::from_str(&place.ok(&[&needed[..], &["--json"]].concat())).expect("JSON");
    assert_eq!(json["feasible"], true);
    let volume = &json["designs"][0]["pools"][0]["volumes"][0];
    assert_eq!(volume["quota_gib"], 15_200);
    assert_eq!(volume["throughput_kib_s"], 972_800);
}

#[test]
fn what_nothing_gives_is_told_with_what_would_be_possible_and_exit_code_1() {
    let place = Place::new();
    let writes = ["size", "--throughput", "2000MiB/s", "--capacity", "4TiB", "--read", "0%"];
    let ended = place.run(&[&writes[..], &["--vm", "D32s_v3", "--clients", "1"]].concat());
    assert_eq!(ended.code, Some(1), "{}\n{}", ended.stdout, ended.stderr);
    let one_line = ended.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    for words in [
        "VM egress: 1 Standard_D32s_v3 send at most 1,907.3 MiB/s; writes need 2,000.0 MiB/s",
        "with 2 hosts of Standard_D32s_v3",
        "with at most 1,90",
    ] {
        assert!(one_line.contains(words), "`{words}` in\n{}", ended.stdout);
    }
    let all = place.run(&["size", "--throughput", "900TiB/s", "--capacity", "1TiB", "--json"]);
    assert_eq!(all.code, Some(1), "{}", all.stderr);
    let json: Value = serde_json::from_str(&all.stdout).expect("JSON");
    assert_eq!(json["feasible"], false);
    assert_eq!(json["shortfalls"][0]["constraint"], "number of volumes");
}

#[test]
fn each_number_says_what_it_rests_on_in_text_json_and_html() {
    let place = Place::new();
    let page = place.path().join("sizing.html");
    let needed = ["size", "--throughput", "950MiB/s", "--capacity", "4TiB", "--vm", "D2s_v5"];
    let report = ["--explain", "--report", page.to_str().expect("a path")];
    let text = one_line(&place.ok(&[&needed[..], &report].concat()));
    let html = std::fs::read_to_string(&page).expect("read the page");
    let json: Value =
        serde_json::from_str(&place.ok(&[&needed[..], &["--json"]].concat())).expect("JSON");
    for kind in ["documented limit", "published", "derived", "extrapolated"] {
        assert!(text.contains(&format!("- {kind}: ")), "{kind}: {text}");
        assert!(html.contains(&format!("{kind}: ")), "{kind}");
        let reasons = json["designs"][0]["reasons"].as_array().expect("reasons");
        assert!(reasons.iter().any(|reason| reason["kind"] == kind), "{kind}");
    }
    assert!(text.contains("extrapolated 16-fold down from 32 processors"), "{text}");
    assert!(text.contains("regional capacity quota 4,096 25,600 GiB 16 %"), "{text}");
    let uses = json["designs"][0]["uses"].as_array().expect("uses");
    let host = uses.iter().find(|one| one["resource"] == "capability of the hosts");
    assert_eq!(host.expect("hosts are used")["kind"], "extrapolated");
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn datastores_have_one_connection_of_every_host_each() {
    let place = Place::new();
    let asked = ["size", "--protocol", "datastores", "--iops", "195000", "--capacity", "4TiB"];
    let text = place.ok(&[&asked[..], &["--clients", "4", "--level", "ultra"]].concat());
    let said = one_line(&text);
    for words in [
        "4 x AV36 (36 cores) with 1 connection to each of",
        "az vmware datastore netapp-volume create",
        "--cluster CLUSTER",
        "hosts: no price of AV36 in eastus",
        "every host of Azure VMware Solution does what was published of AV36",
    ] {
        assert!(said.contains(words), "`{words}` in\n{text}");
    }
    assert!(!said.contains("grows with its processors"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    let few = place.run(&[&asked[..], &["--clients", "2"]].concat());
    assert_eq!(few.code, Some(1), "{}\n{}", few.stdout, few.stderr);
    assert!(few.stdout.contains("a cluster has at least 3"), "{}", few.stdout);
}

#[test]
fn a_session_of_nfs_4_1_has_fewer_slots_than_its_connections() {
    let place = Place::new();
    let asked = ["size", "--throughput", "1GiB/s", "--capacity", "20TiB", "--level", "premium"];
    let json = |protocol: &str| -> Value {
        let all = [&asked[..], &["--clients", "2", "--protocol", protocol, "--json"]].concat();
        serde_json::from_str(&place.ok(&all)).expect("JSON")
    };
    let hosts = |json: &Value| json["designs"][0]["hosts"].clone();
    let (three, four) = (hosts(&json("nfsv3")), hosts(&json("nfsv4.1")));
    assert_eq!(three["slots"].as_u64(), three["connections_total"].as_u64().map(|c| c * 128));
    let each = four["connections"].as_u64().map(|connections| (connections * 128).min(180));
    let ways = four["endpoints"].as_u64().zip(each).map(|(ways, each)| 2 * ways * each);
    assert_eq!(four["slots"].as_u64(), ways);
    let text = place.ok(&[&asked[..], &["--protocol", "nfsv4.1"]].concat());
    assert!(text.contains("max_session_slots=180"), "{text}");
    let smb = place.ok(&[&asked[..], &["--protocol", "smb"]].concat());
    assert!(smb.contains("ConnectionCountPerRssNetworkInterface"), "{smb}");
}

#[test]
fn parts_are_laid_out_over_levels_where_that_is_cheaper() {
    let place = Place::new();
    let parts = ["size", "--part", "data=1TiB,3000MiB/s", "--part", "log=60TiB,10MiB/s"];
    let text = place.ok(&[&parts[..], &["--level", "standard,ultra", "--explain"]].concat());
    let said = one_line(&text);
    for words in ["24 TiB ultra, auto QoS", "60 TiB standard, auto QoS", "ultra+standard"] {
        assert!(said.contains(words), "`{words}` in\n{text}");
    }
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
}

#[test]
fn more_parts_than_layouts_are_looked_for_are_said_to_be_of_one_level() {
    let place = Place::new();
    let said = |count: usize| {
        let parts: Vec<String> = (0..count).map(|part| format!("p{part}=1TiB,10MiB/s")).collect();
        let flags = parts.iter().flat_map(|part| ["--part", part]);
        let all: Vec<&str> =
            ["size", "--level", "standard,ultra"].into_iter().chain(flags).collect();
        one_line(&place.ok(&all)).contains("all parts are of one level")
    };
    assert!(said(7) && !said(6));
}

#[test]
fn cool_data_backups_and_what_crosses_a_peering_are_in_the_cost() {
    let place = Place::new();
    let asked = ["size", "--capacity", "4TiB", "--level", "standard", "--explain"];
    let charged = ["--cool", "75%", "--cool-moved", "20%", "--backup", "6TiB"];
    let text = place.ok(&[&asked[..], &charged].concat());
    let said = one_line(&text);
    for words in [
        "cool tier: 75 % of the capacity, 3,072 GiB x $0.000082 x 730 h = $184",
        "to move it there costs $61.44 once",
        "20 % of 3,072 GiB in a month x $0.02 = $12.29",
        "6,144 GiB x $0.05 a month = $307",
        "operations on data in the cool tier take longer",
    ] {
        assert!(said.contains(words), "`{words}` in\n{text}");
    }
    let moved = ["size", "--throughput", "100MiB/s", "--peered", "50%", "--mean", "50%"];
    let text = place.ok(&[&moved[..], &["--explain"]].concat());
    let words = "a mean of 50 % of 100 MiB/s, 50 % of which crosses, over 730 h = 68,892 GB";
    assert!(one_line(&text).contains(words), "`{words}` in\n{text}");
}

#[test]
fn a_page_is_written_by_its_ending() {
    let place = Place::new();
    let page = place.path().join("sizing.html");
    let needed = ["size", "--capacity", "4TiB", "--report"];
    place.ok(&[&needed[..], &[page.to_str().expect("a path")]].concat());
    let html = std::fs::read_to_string(&page).expect("read the page");
    assert!(html.contains("<h1>Sizing for 4 TiB in eastus</h1>"), "{html}");
    assert!(html.contains("pool_size_step"), "the page has the rows of data");
    let page = place.path().join("sizing.md");
    place.ok(&[&needed[..], &[page.to_str().expect("a path")]].concat());
    let text = std::fs::read_to_string(&page).expect("read the page");
    assert!(text.starts_with("# Sizing for 4 TiB in eastus\n"), "{text}");
}

#[test]
fn what_is_added_to_the_cost_is_a_line_in_text_json_and_page() {
    let place = Place::new();
    let page = place.path().join("sizing.html");
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
        "--report",
        page_name,
    ];
    let text = place.ok(&needed);
    let json = place.ok(&[&needed[..], &["--json"]].concat());
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
fn wrong_input_is_refused_with_what_is_allowed() {
    let place = Place::new();
    let cases: [(&[&str], &str); 28] = [
        (&["--throughput", "-5MiB/s"], "a throughput such as `950MiB/s`"),
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
        (&["--capacity", "4TiB", "--vm", "AV36"], "are for --protocol datastores"),
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
        (&[], "nothing is wanted"),
    ];
    for (arguments, words) in cases {
        let all: Vec<&str> = ["size"].iter().chain(arguments).copied().collect();
        let ended = place.run(&all);
        assert_eq!(ended.code, Some(2), "{all:?}\n{}\n{}", ended.stdout, ended.stderr);
        assert!(ended.stderr.contains(words), "{all:?}: `{words}` in\n{}", ended.stderr);
    }
}

#[test]
fn a_schedule_has_its_limits_its_cost_and_its_rules() {
    let place = Place::new();
    let asked = ["size", "--schedule", "peak=5TiB@08-18,off=4TiB", "--capacity", "1.1TiB"];
    let text = place.ok(&[&asked[..], &["--level", "premium", "--explain"]].concat());
    for words in ["With premium", "320", "256", "$1,331 a month, against $1,506", "mon 08:00"] {
        assert!(text.contains(words), "`{words}` in\n{text}");
    }
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    let json: Value = serde_json::from_str(&place.ok(&[&asked[..], &["--json"]].concat()))
        .expect("what --json prints is JSON");
    assert_eq!(json["schedules"].as_array().map(Vec::len), Some(3), "each level by quota");
    assert_eq!(json["schedules"][1]["phases"][0]["throughput_kib_s"], 320 << 10);

    let daily = place.run(&["size", "--schedule", "peak=5TiB:ultra@08-18,off=5TiB:premium"]);
    assert_eq!(daily.code, Some(1), "{}\n{}", daily.stdout, daily.stderr);
    assert!(daily.stdout.contains("10 h later down again"), "{}", daily.stdout);
    let weekly = "week=5TiB:ultra@mon-fri,weekend=5TiB:premium";
    place.ok(&["size", "--schedule", weekly]);
    let old = place.run(&["size", "--schedule", weekly, "--cool-down", "7d"]);
    assert_eq!(old.code, Some(1), "{}", old.stdout);
    let wrong = place.run(&["size", "--schedule", "peak=5TiB@08-18"]);
    assert_eq!(wrong.code, Some(2));
    assert!(wrong.stderr.contains("mon 00:00 is in no phase"), "{}", wrong.stderr);
}

#[test]
fn what_was_measured_becomes_what_is_needed() {
    let place = Place::new();
    let reading = run("random read 8 KiB", vec![stream("data", 4)], 1, 6);
    let measured = (0..7).map(|_| reads(50_000, 8192, 100_000)).collect();
    let id = kept(&place, &experiment(vec![done(reading, measured)]), 1_795_241_733_000);
    let text = place.ok(&["size", "--from-run", &id, "--growth", "30%", "--explain"]);
    let one_line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for words in [
        "random read 8 KiB: 390.6 MiB/s in transfers of 8 KiB, 100 % of the bytes read",
        "30 % of growth: 390.625 MiB/s become 507.8125 MiB/s",
        "the volumes hold the files of the record",
    ] {
        assert!(one_line.contains(words), "`{words}` in\n{text}");
    }
    let both = place.run(&["size", "--from-run", &id, "--iops", "5"]);
    assert_eq!(both.code, Some(2), "{}", both.stderr);
    let missing = place.run(&["size", "--from-run", "nothing"]);
    assert_eq!(missing.code, Some(2));
    assert!(missing.stderr.contains("no record `nothing`"), "{}", missing.stderr);
}

#[test]
fn where_reads_are_smaller_than_writes_a_need_has_their_share_of_bytes_and_a_comparison_of_counts()
{
    let place = Place::new();
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
    let id = kept(&place, &record, 1_795_241_733_000);
    let text = place.ok(&["size", "--from-run", &id]);
    let one_line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(one_line.contains("11 % of the bytes read"), "{text}");
    let json: Value =
        serde_json::from_str(&place.ok(&["expect", "--run", &id, "--json"])).expect("JSON");
    assert_eq!(json["expectations"][0]["read_fraction"], 0.5);
}
