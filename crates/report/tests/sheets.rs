//! The sheets of `size`, `predict` and `expect`: one screen with the answer first, everything in
//! `--full`, and the same on the page, with evidence folded.

#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use std::sync::LazyLock;

use cloud::figure::{self, Access};
use cloud::service_level::VolumeKind;
use cloud::throughput::KibPerSec;
use cloud::vm_size;
use predict::configuration::Configuration;
use predict::expect::{nearest, predicted};
use predict::{Parameters, topology_file};
use report::expect::Expectation;
use report::expect::published::Published;
use report::predict::Comparison;
use report::sheet::Sheet;
use serde_json::Value;
use sizing::assumption::Assumption;
use sizing::cost_by_level::cost_by_level;
use sizing::facts::Facts;
use sizing::need::{Charges, Demand, Need, POOLS_MAX, Part, Protocol};
use sizing::solve::{Verdict, solve};
use units::Share;

static FACTS: LazyLock<Facts> = LazyLock::new(Facts::embedded);
static PARAMETERS: LazyLock<Parameters> = LazyLock::new(|| Parameters::calibrated(&figure::all()));

const WIDTHS: [usize; 5] = [40, 60, 80, 120, 200];
const TOPOLOGY: &str = include_str!("../../../examples/topologies/database.toml");
/// The year from which the age of figures is counted.
const YEAR: u64 = 2026;

/// 950 MiB/s of sequential reads on 4 TiB in eastus, without client hosts.
fn need() -> Need {
    let demand = Demand {
        throughput: KibPerSec::new(950 << 10),
        transfer_bytes: 64 << 10,
        read: Share::WHOLE,
        access: Access::Sequential,
        names_per_s: 0,
    };
    Need {
        parts: vec![Part {
            name: "data".to_owned(),
            capacity_gib: 4096,
            demands: vec![demand],
            inodes: 0,
        }],
        growth: Share::ZERO,
        headroom: Share::ZERO,
        response_time: None,
        region: "eastus".to_owned(),
        protocol: Protocol::Nfs3,
        hosts: None,
        vm: None,
        levels: FACTS.levels_of("eastus"),
        previews: false,
        hours_per_month: 730,
        charges: Charges { hosts: false, ..Charges::default() },
        pools_max: POOLS_MAX,
        business: None,
    }
}

static VERDICT: LazyLock<Verdict> = LazyLock::new(|| solve(&need(), &FACTS).unwrap());

fn sizing() -> Sheet {
    let costs = cost_by_level(&need(), &FACTS);
    let assumptions = [Assumption::ReadsOnly, Assumption::ProportionalLoad];
    report::sizing::sheet(&need(), &VERDICT, &assumptions, &costs, 5)
}

fn prediction() -> Sheet {
    let topology = topology_file::parse(TOPOLOGY, "database.toml").unwrap();
    let curve = predict::curve(&topology, &PARAMETERS).unwrap();
    report::predict::sheet(&topology, &curve, &Comparison::default())
}

/// Random and sequential reads and writes of one D32s_v3 with 16 connections.
fn expectations(loads: &[(u64, Access, f64)]) -> Sheet {
    let figures = figure::all();
    let expectation = |&(transfer_bytes, access, read): &(u64, Access, f64)| {
        let configuration = Configuration {
            protocol: figure::Protocol::Nfsv3,
            vm: vm_size::named("Standard_D32s_v3"),
            vcpu: Some(32),
            esxi: false,
            hosts: 1,
            nconnect: 16,
            volumes: 1,
            kind: VolumeKind::Regular,
            endpoints: 1,
            limit: None,
            transfer_bytes,
            read,
            access,
            outstanding: None,
            floor_s: None,
        };
        Expectation {
            curve: predicted(&configuration, &PARAMETERS),
            near: nearest(&configuration, &figures, &PARAMETERS, YEAR, 3),
            figures: figures.clone(),
            configuration,
            measured: None,
        }
    };
    let expectations = loads.iter().map(expectation).collect();
    report::expect::sheet(&Published { expectations, ..Published::default() })
}

const CORNERS: [(u64, Access, f64); 4] = [
    (8192, Access::Random, 1.0),
    (8192, Access::Random, 0.0),
    (65_536, Access::Sequential, 1.0),
    (65_536, Access::Sequential, 0.0),
];

fn sheets() -> Vec<(&'static str, Sheet)> {
    vec![
        ("size", sizing()),
        ("predict", prediction()),
        ("expect", expectations(&CORNERS)),
        ("expect one load", expectations(&CORNERS[..1])),
    ]
}

fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn the_short_text_has_40_lines_and_no_text_is_wider_than_the_terminal() {
    for (name, sheet) in sheets() {
        let short = sheet.short(80);
        assert!(short.lines().count() <= 40, "{name}:\n{short}");
        assert!(short.lines().count() < sheet.text(80).lines().count(), "{name}");
        for width in WIDTHS {
            for text in [sheet.short(width), sheet.text(width)] {
                // Commands are not broken further, so that they can be copied.
                let too_wide = text
                    .lines()
                    .find(|line| line.chars().count() > width && !line.starts_with("    "));
                assert_eq!(too_wide, None, "{name} at {width}:\n{text}");
            }
        }
    }
}

#[test]
fn the_recommendation_is_the_first_design_and_costs_what_its_storage_costs() {
    let mut out = Vec::new();
    report::sizing::json::write(&need(), &VERDICT, &[], &mut out).unwrap();
    let document: Value = serde_json::from_slice(&out).unwrap();
    let first = &document["designs"][0];
    let items = first["costs"].as_array().unwrap();
    let storage: f64 = items.iter().map(|one| one["month_usd"].as_f64().unwrap()).sum();
    assert!(items.iter().all(|one| one["item"] != "hosts"), "{items:?}");
    assert!((storage - first["month_usd"].as_f64().unwrap()).abs() < 0.01);
    let Verdict::Feasible { designs, .. } = &*VERDICT else { panic!("feasible") };
    let short = flat(&sizing().short(80));
    let level = first["level"].as_str().unwrap();
    let month = designs[0].cost.month();
    assert!(short.starts_with("Buy ") && short.contains(&format!(" {level}")), "{short}");
    let until_limit = short.split(". ").next().unwrap();
    assert!(until_limit.contains(&format!("{month} per month for 950 MiB/s and 4 TiB")), "{short}");
    // At most five designs in the table.
    let table = short.split("Designs").nth(1).unwrap();
    assert!(designs.len() <= 5 || table.contains("`--top "), "{table}");
}

#[test]
fn an_expectation_begins_with_a_range_and_the_nearest_published_figure() {
    let one = flat(&expectations(&[(4096, Access::Random, 1.0)]).short(80));
    let (range, rest) = one.split_once("; published: ").unwrap();
    let range = range.strip_prefix("Expect ").unwrap().strip_suffix(" IOPS").unwrap();
    let (low, high) = range.split_once(" to ").unwrap();
    let number = |text: &str| text.replace(',', "").parse::<u64>().unwrap();
    assert!(number(low) < number(high), "{one}");
    assert!(rest.starts_with("200,000 on D32s_v3 with 4 KiB (A61)."), "{one}");
    let four = expectations(&CORNERS);
    assert_eq!(four.answer.len(), 4);
    assert!(four.answer.iter().all(|sentence| sentence.starts_with("Expect ")));
    for (name, sheet) in sheets() {
        let all = sheet.text(80) + &sheet.html().unwrap();
        assert!(!all.contains("ops/s"), "{name} has IOPS and ops/s");
    }
}

#[test]
fn a_prediction_begins_with_rate_latency_and_bottleneck() {
    let short = flat(&prediction().short(80));
    let first = short.split(". ").next().unwrap();
    for words in
        ["Expect ", " IOPS (", " to ", " MiB/s", "a mean latency of ", " ms", "; bottleneck: "]
    {
        assert!(first.contains(words), "{words}: {short}");
    }
}

#[test]
fn pages_have_the_answer_charts_bars_and_diagram_first_and_evidence_folded() {
    for (name, sheet) in sheets() {
        let page = sheet.html().unwrap();
        let body = page.split("<script").next().unwrap();
        let (shown, folded) = body.split_once("<details class=\"fold\"").unwrap();
        assert!(shown.contains("<p class=\"answer\">"), "{name}");
        assert!(shown.contains("<svg class=\"diagram\""), "{name}");
        assert!(folded.contains("ssumptions") && !shown.contains("<h2 id=\"why\""), "{name}");
        if name != "expect" {
            assert!(shown.contains("class=\"bars\"") && shown.contains("data-chart="), "{name}");
        }
        for link in body.split("href=\"#").skip(1) {
            let link = link.split('"').next().unwrap();
            assert!(body.contains(&format!("id=\"{link}\"")), "{name}: #{link} has no target");
        }
    }
    let page = sizing().html().unwrap();
    for level in ["standard", "premium", "ultra", "flexible"] {
        assert!(page.contains(&format!("\"{level}\"")), "a cost line of {level}");
    }
    assert!(page.contains("recommended: ") && page.contains("mount -t nfs"));
}
