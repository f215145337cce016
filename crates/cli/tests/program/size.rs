//! `size`: what it prints, its forms, and what it says of input that it cannot use.

use serde_json::Value;

use crate::comparing::kept;
use crate::harness::Place;
use crate::records::{done, experiment, reads, run, stream};

#[test]
fn a_throughput_and_a_capacity_become_designs_with_their_cost() {
    let place = Place::new();
    let needed = ["size", "--throughput", "950MiB/s", "--capacity", "4TiB", "--level", "premium"];
    let text = place.ok(&needed);
    for words in ["15 TiB premium, auto QoS, 1 regular volume", "15,200", "prices of eastus"] {
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
    let prose = text.lines().filter(|line| !line.starts_with("    mount "));
    assert!(prose.clone().all(|line| line.chars().count() <= 80), "{text}");
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
        "VM egress: 1 Standard_D32s_v3 send at most 1907.3 MiB/s; writes need 2000.0 MiB/s",
        "with 2 hosts of Standard_D32s_v3",
        "with at most 190",
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
fn wrong_input_is_refused_with_what_is_allowed() {
    let place = Place::new();
    let cases: [(&[&str], &str); 13] = [
        (&["--throughput", "-5MiB/s"], "a throughput such as `950MiB/s`"),
        (&["--throughput", "950"], "a throughput with its unit"),
        (&["--capacity", "-4TiB"], "a size such as"),
        (&["--iops", "-1"], "a rate"),
        (&["--capacity", "4TiB", "--region", "eastuss"], "did you mean `eastus`?"),
        (&["--capacity", "4TiB", "--vm", "D33s_v3"], "did you mean `Standard_D32s_v3`?"),
        (&["--capacity", "4TiB", "--level", "premum"], "did you mean `premium`?"),
        (&["--capacity", "4TiB", "--clients", "0"], "--clients"),
        (&["--capacity", "4TiB", "--headroom", "95%"], "the headroom is 95 %"),
        (&["--capacity", "4TiB", "--hours", "800"], "--hours"),
        (&["--capacity", "4TiB", "--report", "page.pdf"], ".html or .md"),
        (&["--part", "data=4TiB"], "such as `data=4TiB,704MiB/s`"),
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
        "random read 8 KiB: 390.6 MiB/s in transfers of 8 KiB, 100 % of them reads",
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
