//! The built-in experiments are as described.

use std::time::Duration;

use workload::experiment::parse_with;
use workload::overrides::Override;
use workload::plan::{Plan, TargetSpec};
use workload::profiles::{PROFILES, profile, quick_profile};
use workload::resolve::{ResolveOptions, resolve};

fn plan(name: &str) -> Plan {
    plan_with(name, &[])
}

fn plan_with(name: &str, overrides: &[Override]) -> Plan {
    let text = profile(name).unwrap().text;
    let experiment =
        parse_with(text, name, overrides).unwrap_or_else(|problems| panic!("{problems:#?}"));
    let options = ResolveOptions::LOCAL;
    resolve(&experiment, &format!("profile:{name}"), TargetSpec::Null, &options).unwrap()
}

#[test]
fn every_listed_profile_exists_and_resolves() {
    for profile in PROFILES {
        let plan = profile.plan();
        assert_eq!(plan.name, profile.name);
        let purpose = profile.purpose();
        assert!((20..=130).contains(&purpose.len()), "{}: {purpose}", profile.name);
        assert!(purpose.ends_with('.'), "{}: {purpose}", profile.name);
    }
    assert!(PROFILES.is_sorted_by_key(|profile| profile.group), "listed by group");
    assert!(profile("five-corners").is_none());
}

#[test]
fn the_four_corners_leave_a_minute_of_three_for_the_fill() {
    let plan = plan("four-corners");
    assert_eq!(plan.known_runs().count(), 16);
    assert!(plan.time_max() <= Duration::from_secs(130), "{:?}", plan.time_max());
    assert_eq!(plan.bytes_needed(), units::Bytes::gib(1));
    let corners: Vec<String> = plan.known_runs().map(|run| run.load_point()).collect();
    assert_eq!(corners[0], "random read 8 KiB, queue_depth=1");
    assert_eq!(corners[15], "sequential write 64 KiB, queue_depth=64");
    assert!(plan.known_runs().all(|run| run.streams[0].direct));
}

#[test]
fn the_quick_corners_leave_a_third_of_thirty_seconds_for_the_fill() {
    let plan = plan("four-corners-quick");
    assert_eq!(plan.searches().count(), 4);
    // The worst case of each corner: queue depths 1, 4, 16, 64 and 256, and two repeated load points
    // that decide the end.
    let runs = 4 * (5 + 2);
    assert_eq!(plan.runs_max(), runs);
    assert_eq!(plan.time_max(), runs * Duration::from_millis(100 + 600));
    assert!(plan.time_max() <= Duration::from_secs(20), "{:?}", plan.time_max());
    assert!(plan.bytes_needed() <= units::Bytes::mib(512));
}

/// The load points of a profile with settings from the command line.
fn load_points(name: &str, settings: &[&str]) -> Vec<String> {
    let overrides: Vec<Override> = settings.iter().map(|text| Override::set(text)).collect();
    let plan = plan_with(name, &overrides);
    plan.model_runs().map(|run| run.load_point()).collect()
}

#[test]
fn load_points_are_named_after_the_operations_that_actually_run() {
    for (name, settings, expected) in [
        (
            "four-corners-quick",
            &["transfer_size=4KiB"][..],
            &[
                "random read 4 KiB",
                "random write 4 KiB",
                "sequential read 4 KiB",
                "sequential write 4 KiB",
            ][..],
        ),
        ("curve", &["read=70"], &["random 70% read 8 KiB", "sequential 70% read 64 KiB"]),
        ("curve", &["pattern.zipf=1.1"], &["zipf 1.1 read 8 KiB", "zipf 1.1 read 64 KiB"]),
        (
            "curve",
            &["transfer_size={ \"8k\" = \"70%\", \"64k\" = \"30%\" }", "pattern=random"],
            &["random read 70% 8KiB + 30% 64KiB"],
        ),
        (
            "curve-quick",
            &["transfer_size=4KiB,1025KiB", "pattern=random"],
            &["random read, transfer_size=4KiB", "random read, transfer_size=1025KiB"],
        ),
        ("ranges", &["read=70%"], &["random 70% read 8 KiB", "sequential 70% read 64 KiB"]),
    ] {
        let mut found = load_points(name, settings);
        found.sort_by_key(|found| expected.iter().position(|name| found == name));
        assert_eq!(found, expected, "{name} {settings:?}");
    }
}

#[test]
fn corners_that_the_command_line_makes_equal_are_run_once() {
    let settings = ["read=100%", "pattern=random", "transfer_size=8KiB", "queue_depth=32"];
    assert_eq!(load_points("four-corners", &settings), ["random read 8 KiB"]);
    let two =
        load_points("four-corners", &["transfer_size=4KiB", "pattern=random", "queue_depth=1"]);
    assert_eq!(two, ["random read 4 KiB", "random write 4 KiB"]);
}

#[test]
fn queue_depths_on_the_command_line_replace_the_ladder() {
    let plan = plan_with("four-corners-quick", &[Override::set("queue_depth=2,8")]);
    assert_eq!(plan.searches().count(), 0);
    let runs: Vec<_> = plan.known_runs().collect();
    let names: Vec<String> = runs.iter().take(2).map(|run| run.load_point()).collect();
    assert_eq!(names, ["random read 8 KiB, queue_depth=2", "random read 8 KiB, queue_depth=8"]);
    assert_eq!(runs.len(), 8);
    for phases in runs.iter().map(|run| run.phases) {
        let ms =
            [phases.warm_up_ns, phases.measure_ns, phases.interval_ns].map(|ns| ns / 1_000_000);
        assert_eq!(ms, [100, 600, 100]);
    }
}

#[test]
fn one_queue_depth_on_the_command_line_is_the_maximum_of_the_search() {
    let plan = plan_with("four-corners-quick", &[Override::set("queue_depth=32")]);
    assert_eq!(plan.searches().count(), 4);
    assert!(plan.model_runs().all(|run| run.queue_depth_total() == 32));
}

#[test]
fn a_queue_depth_search_with_several_queue_depths_is_refused() {
    let settings = ["queue_depth=2,8", "search.method=queue-depth", "search.step=2"];
    let overrides = settings.map(Override::set);
    let text = profile("four-corners-quick").unwrap().text;
    let problems = parse_with(text, "four-corners-quick", &overrides).unwrap_err();
    assert_eq!(problems[0].message, "a search chooses the queue depths itself");
}

#[test]
fn ranges_go_from_all_reads_to_all_writes_in_random_order_in_under_four_minutes() {
    let full = plan("ranges");
    assert_eq!(full.known_runs().count(), 22);
    assert!(full.time_max() <= Duration::from_secs(200), "{:?}", full.time_max());
    let mut shares: Vec<u16> = full
        .known_runs()
        .filter(|run| run.variant == "random 8 KiB")
        .map(|run| run.streams[0].read_permille)
        .collect();
    assert!(!shares.is_sorted() && !shares.is_sorted_by(|a, b| a > b), "random order: {shares:?}");
    shares.sort_unstable();
    assert_eq!(shares, [0, 100, 200, 300, 400, 500, 600, 700, 800, 900, 1000]);
    let quick = plan("ranges-quick");
    assert_eq!(quick.known_runs().count(), 10);
    assert!(quick.time_max() <= Duration::from_secs(40), "{:?}", quick.time_max());
    assert!(quick.bytes_needed() <= units::Bytes::mib(512));
}

#[test]
fn curves_take_at_most_four_minutes_and_quick_ones_at_most_one() {
    for (name, seconds) in [("curve", 240), ("curve-quick", 50)] {
        let plan = plan(name);
        assert_eq!(plan.searches().count(), 2, "{name}");
        assert!(plan.time_max() <= Duration::from_secs(seconds), "{name}: {:?}", plan.time_max());
    }
}

#[test]
fn every_profile_has_a_quick_form() {
    for name in ["four-corners", "curve", "ranges"] {
        assert_eq!(quick_profile(name).unwrap(), format!("{name}-quick"));
    }
    assert_eq!(quick_profile("four-corners-quick"), None);
}
