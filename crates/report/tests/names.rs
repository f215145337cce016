//! Operations on names in every output: operations per second and latency first, and a table of kinds.

#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use crate::fixture::records::{done, experiment, run, second_of, stream};
use analysis::{Findings, analyze};
use metrics::run_record::ExperimentRecord;
use report::drawing::theme::Theme;
use report::glance::{self, Layout};
use report::look::Look;
use report::pictures::pictures;
use report::{html, markdown, results, text};
use workload::op::OpKind;
use workload::outcome::ErrorKind;

/// At each queue depth ten seconds of this mix; `bytes` of each file that is read or created.
fn builds(bytes: u64) -> Findings {
    analyze(&record(bytes))
}

fn record(bytes: u64) -> ExperimentRecord {
    let at = |depth: u64| {
        let second = |wave: u64| {
            let mut second = second_of(&[
                (OpKind::Create, 100 * depth + wave, bytes, 900_000),
                (OpKind::Unlink, 100 * depth + wave, 0, 500_000),
                (OpKind::Stat, 3_000 * depth, 0, 40_000),
                (OpKind::LookupMissing, 800 * depth, 0, 60_000),
            ]);
            second.kinds[OpKind::Create as usize].failed[ErrorKind::InputOutput as usize] = 2;
            second
        };
        let seconds = [0, 1, 2, 1, 0, 2, 1, 0, 1, 2].map(second);
        done(run("builds", vec![stream("objects", depth as u32)], 0, 10), seconds.to_vec())
    };
    experiment([1, 2, 4].map(at).to_vec())
}

fn at_80_columns(findings: &Findings) -> String {
    let layout = Layout { width: 80, lines_max: 40, look: Look::default() };
    glance::text(findings, layout).unwrap()
}

#[test]
fn a_glance_leads_with_operations_and_latency_and_sorts_kinds_by_share() {
    let shown = at_80_columns(&builds(4096));
    assert!(!shown.contains("IOPS"), "{shown}");
    let heading = shown.lines().find(|line| line.contains("ops/s")).unwrap();
    let at = |word: &str| heading.find(word).unwrap_or_else(|| panic!("{word}: {heading}"));
    assert!(at("ops/s") < at("p99") && at("p99") < at("MiB/s"), "{heading}");
    let line = |kind: &str| shown.lines().position(|line| line.trim_start().starts_with(kind));
    assert!(line("stat") < line("lookup_missing") && line("lookup_missing") < line("create"));
    let stat = shown.lines().find(|line| line.contains("  stat ")).unwrap();
    assert!(
        stat.contains('-') && !stat.contains(" 0 "),
        "no throughput of a kind without data: {stat}"
    );
}

#[test]
fn no_output_has_the_throughput_of_a_load_that_moves_no_data() {
    let findings = builds(0);
    let page = html::render(&findings).unwrap();
    let shown =
        [at_80_columns(&findings), text::summary(&findings, 120), markdown::render(&findings)];
    for text in &shown {
        let results = text.split("Method").next().unwrap();
        assert!(!results.contains("MiB/s"), "{text}");
    }
    assert!(!page.contains("0 MiB/s"));
    let drawn = pictures(&[&findings], Theme::Light);
    let names: Vec<&str> = drawn.iter().map(|picture| picture.name.as_str()).collect();
    assert!(
        names.contains(&"overview-rate") && names.contains(&"rate-by-queue-depth"),
        "{names:?}"
    );
    assert!(!names.iter().any(|name| name.contains("throughput")), "{names:?}");
    assert!(!drawn.iter().any(|picture| picture.svg.contains("MiB/s")));
}

#[test]
fn each_load_point_has_a_table_of_kinds_with_share_latency_and_errors() {
    let shown = text::summary(&builds(4096), 120);
    let section = &shown[shown.find("Operations by kind").unwrap()..];
    let row = |kind: &str| -> Vec<String> {
        let line = section.lines().find(|line| line.trim_start().starts_with(kind)).unwrap();
        line.split_whitespace().map(str::to_owned).collect()
    };
    assert_eq!(row("stat")[..4], ["stat", "75", "%", "3,000"], "{section}");
    let create = row("create");
    assert_eq!(create[1..3], ["2.5", "%"]);
    assert_eq!(create.last().unwrap(), "20", "errors of ten seconds");
    assert_eq!(row("unlink").last().unwrap(), "0");
    assert_eq!(row("all")[1..3], ["100", "%"]);
    let order = ["stat", "lookup_missing", "create", "all"].map(|kind| section.find(kind).unwrap());
    assert!(order.is_sorted(), "{section}");
    // The results have a row for each load point only.
    let tables = results::tables(&builds(4096));
    assert_eq!(tables.iter().map(|table| table.rows.len()).sum::<usize>(), 3);
}

#[test]
fn the_page_has_kinds_over_time_and_a_heat_map_of_each_kind() {
    let findings = builds(4096);
    let drawn = pictures(&[&findings], Theme::Light);
    let names: Vec<&str> = drawn.iter().map(|picture| picture.name.as_str()).collect();
    for name in [
        "kinds-over-time-builds-queue-depth-4",
        "heat-stat-builds-queue-depth-4",
        "heat-create-builds-queue-depth-4",
        "heat-lookup-missing-builds-queue-depth-4",
    ] {
        assert!(names.contains(&name), "{name}: {names:?}");
    }
    let page = html::render(&findings).unwrap();
    assert!(page.contains("ops/s</p>") || page.contains("ops/s<") || page.contains("ops&#x2f;s"));
    assert!(page.contains("Response times of create over time"));
}
