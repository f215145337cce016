//! The built-in experiments keep what they promise.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails there")]

use std::time::Duration;

use workload::experiment::{PROFILES, parse, profile};
use workload::plan::{EngineChoice, Plan, TargetSpec};
use workload::resolve::{ResolveOptions, resolve};

fn plan(name: &str) -> Plan {
    let text = profile(name).unwrap();
    let experiment = parse(text, name).unwrap_or_else(|problems| panic!("{problems:#?}"));
    let options = ResolveOptions { engine: EngineChoice::Auto, pin: false, verify: false };
    resolve(&experiment, &format!("profile:{name}"), TargetSpec::Null, &options).unwrap()
}

#[test]
fn every_profile_of_the_list_is_there_and_can_be_planned() {
    for (name, description) in PROFILES {
        let plan = plan(name);
        assert_eq!(plan.name, *name);
        assert!(description.len() > 20);
    }
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
    assert!(plan.time_max() <= Duration::from_secs(20), "{:?}", plan.time_max());
    assert!(plan.bytes_needed() <= units::Bytes::mib(512));
}

#[test]
fn ranges_go_from_all_reads_to_all_writes_in_random_order_below_four_minutes() {
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
fn a_profile_knows_its_rougher_form() {
    use workload::experiment::quick_profile;
    for name in ["four-corners", "curve", "ranges"] {
        assert_eq!(quick_profile(name).unwrap(), format!("{name}-quick"));
    }
    assert_eq!(quick_profile("four-corners-quick"), None);
}
