//! `size`: what it prints, its forms, and what it says of input that it cannot use.

use serde_json::Value;

use crate::harness::Place;

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
