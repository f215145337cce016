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
    assert_eq!(corners[15], "sequential write 64 KiB, queue_depth=32");
    assert!(plan.known_runs().all(|run| run.streams[0].direct));
}

#[test]
fn the_quick_corners_leave_a_third_of_thirty_seconds_for_the_fill() {
    let plan = plan("four-corners-quick");
    assert_eq!(plan.known_runs().count(), 8);
    assert!(plan.time_max() <= Duration::from_secs(20), "{:?}", plan.time_max());
    assert!(plan.bytes_needed() <= units::Bytes::mib(512));
}
