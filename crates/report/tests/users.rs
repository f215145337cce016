//! Users in every output: scenarios, overload and the overload point, and no queue depth.

use crate::fixture::records::{counts, done, experiment, reads, run, stream};
use analysis::{Findings, analyze};
use metrics::interval::{StreamInterval, UsersInterval};
use metrics::run_record::RunRecord;
use report::glance::{self, Layout};
use report::look::Look;
use report::{csv, html, json, markdown, text};
use workload::arrival::Arrival;
use workload::scenario::{Starts, Users};

const S: u64 = 1_000_000_000;

/// A run of ten seconds in which this many of 100 starts in each second were late.
fn run_of(count: u32, late: u64) -> RunRecord {
    let mut one = stream("home", 64);
    one.arrival = Arrival::Users(Users { count, cycle_ns: 10 * S, starts: Starts::Even });
    let mut planned = run("office", vec![one], 0, 10);
    planned.parameters = vec![("users".to_owned(), count.to_string())];
    let second = || {
        let users = UsersInterval {
            started: 100,
            completed: 100,
            due: 100,
            late,
            duration_us: counts(&[2_500_000; 100]),
            delay: counts(&[60_000; 100]),
        };
        StreamInterval { users: Some(Box::new(users)), ..reads(500, 0, 1_000_000) }
    };
    done(planned, (0..10).map(|_| second()).collect())
}

fn findings() -> Findings {
    analyze(&experiment(vec![run_of(1000, 0), run_of(2000, 1), run_of(4000, 38)]))
}

const SENTENCE: &str = "Overload point: between 2,000 and 4,000 users (overload 1.0 % ± 0.0 % and \
                        38 % ± 0.0 %; at most 1.0 % is tolerated).";

#[test]
fn every_output_has_the_overload_point_and_none_has_a_queue_depth() {
    let findings = findings();
    let mut table = Vec::new();
    csv::write(&findings, &mut table).unwrap();
    let table = String::from_utf8(table).unwrap();
    let mut outputs = vec![text::summary(&findings, 200), html::render(&findings).unwrap()];
    outputs.push(markdown::render(&findings));
    for shown in &outputs {
        assert!(shown.contains("Overload point: between 2,000 and 4,000 users"), "{shown}");
    }
    assert!(outputs[0].contains(SENTENCE), "{}", outputs[0]);
    assert!(!outputs[0].to_lowercase().contains("queue depth"), "{}", outputs[0]);
    let layout = Layout { width: 200, lines_max: 60, look: Look::default() };
    let first = glance::text(&findings, layout).unwrap();
    assert!(first.contains("Overload point: between 2,000 and 4,000 users"), "{first}");
    assert!(!first.to_lowercase().contains("queue depth"), "{first}");
    assert!(first.find("Overload point") < first.find("No verdict"), "the answer first: {first}");
    let card = outputs[1].split("<div class=\"peak\">").nth(1).unwrap();
    let load = card.split("<p class=\"faint\">").nth(1).unwrap();
    assert!(load.starts_with("at 1000 users"), "{card:.600}");
    let row = table.lines().nth(1).unwrap();
    assert!(
        row.ends_with(",1000,1000,1000,1000,0,100,0,0,0,2500000000,0,2500000000,60000"),
        "{row}"
    );
}

#[test]
fn json_has_users_and_the_points_of_the_bracket() {
    let mut exported = Vec::new();
    json::write(&findings(), &mut exported).unwrap();
    let exported: serde_json::Value = serde_json::from_slice(&exported).unwrap();
    let users = &exported["load_points"][2]["merged"]["total"]["users"];
    assert_eq!((users["users"].as_u64(), users["late"].as_u64()), (Some(4000), Some(380)));
    assert_eq!(users["overload_fraction"]["value"], 0.38);
    assert_eq!(users["duration"]["max_ns"], 2_500_000_000u64);
    let point = &exported["curves"][0]["overload_point"];
    assert_eq!(
        (point["passing_point"].as_u64(), point["failing_point"].as_u64()),
        (Some(1), Some(2))
    );
    assert_eq!(exported["curves"][0]["axis"], "users");
}
