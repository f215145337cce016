//! When the operations of profiles arrive under virtual time, compared with what their files and sources
//! say, second by second.

use workload::arrival::Arrival;
use workload::plan::Stream;
use workload::profiles::profile;

use crate::schedules::{counts, issued_ns, poisson_score, stream_of};

/// The stated rate of a stream at a second of the run, in operations per second.
type Stated = fn(usize) -> f64;

/// Profile, variant (empty for the only one), stream, seconds to simulate, whether arrivals are random, and
/// the stated rate.
const STATED: &[(&str, &str, &str, u64, bool, Stated)] = &[
    ("oltp", "", "data", 60, true, |_| 500.0),
    ("oltp", "", "log", 120, true, |_| 50.0),
    ("sql-server-like", "", "data", 120, true, |_| 800.0),
    ("sql-server-like", "", "checkpoint", 180, false, |t| if t % 60 < 20 { 270.0 } else { 0.0 }),
    ("sql-server-like", "", "log", 120, true, |_| 110.0),
    ("sql-server-like", "", "tempdb", 120, true, |_| 50.0),
    ("mysql-like", "", "pages", 120, true, |_| 881.0),
    ("mysql-like", "", "doublewrite", 120, true, |_| 4.0),
    ("mysql-like", "", "redo", 120, true, |_| 115.0),
    ("postgres-like", "", "data", 120, true, |_| 210.0),
    ("postgres-like", "", "checkpoint", 600, false, |t| if t % 300 < 270 { 140.0 } else { 0.0 }),
    ("postgres-like", "", "wal", 120, true, |_| 205.0),
    ("hana-like", "", "log", 120, true, |_| 150.0),
    ("hana-like", "", "savepoint", 600, false, |t| if t % 300 < 60 { 12.0 } else { 0.0 }),
    ("hana-like", "", "shared", 120, true, |_| 20.0),
    ("epic-like", "", "reads", 120, true, |_| 1425.0),
    ("epic-like", "", "flush", 240, false, |t| if t % 80 < 45 { 464.0 } else { 0.0 }),
    ("meditech-like", "Expanse", "host", 120, true, |_| 750.0),
    ("meditech-like", "Client/Server", "host", 120, true, |_| 600.0),
    ("meditech-like", "MAGIC", "host", 120, true, |_| 400.0),
    ("kafka-like", "", "partitions", 120, true, |_| 160.0),
    ("kafka-like", "", "lagging", 120, false, |_| 20.0),
    ("eda-like", "", "frontend", 60, false, |_| 231.0),
    ("eda-like", "", "random", 60, false, |_| 69.0),
    ("eda-like", "", "backend", 60, false, |_| 150.0),
    ("software-build", "", "build", 60, false, |_| 500.0),
    ("home-directories", "", "users", 120, true, |_| 164.0),
    ("vdi-like", "in use", "desktops", 60, true, |_| 1000.0),
    ("vdi-like", "sign-in", "desktops", 60, true, |_| 5000.0),
    ("vdi-like", "boot storm", "desktops", 30, true, |_| 10_000.0),
    ("media-streaming", "", "recording", 60, false, |_| 90.0),
    ("media-streaming", "", "playback", 60, false, |_| 10.0),
    ("ai-training", "", "samples", 60, false, |_| 781.0),
    ("ai-training-unet3d", "", "images", 120, false, |_| 21.67),
    ("neighbour", "quiet", "victim", 120, true, |_| 500.0),
    ("neighbour", "with a neighbour", "victim", 120, true, |_| 500.0),
];

/// Standard scores above this have a probability below one in a million, for each of fewer than 100.
const SCORE_MAX: f64 = 4.9;

fn stream(name: &str, variant: &str, stream: &str) -> Stream {
    let plan = profile(name).expect("the profile exists").plan();
    let mut runs = plan.known_runs().filter(|run| variant.is_empty() || run.variant == variant);
    let run = runs.next().unwrap_or_else(|| panic!("{name} has no variant {variant}"));
    let found = run.streams.iter().find(|one| one.name == stream);
    found.unwrap_or_else(|| panic!("{name} has no stream {stream}")).clone()
}

#[test]
fn operations_of_profiles_arrive_at_the_stated_rates_and_in_the_stated_bursts() {
    for (name, variant, of, seconds, is_random, stated) in STATED {
        let what = format!("{name}, {variant}, {of}");
        let planned = stream(name, variant, of);
        let is_poisson = planned.arrival.is_poisson();
        assert_eq!(is_poisson, *is_random, "{what}");
        let simulated = stream_of(&planned.arrival, planned.workers);
        let found = counts(&issued_ns(vec![simulated], *seconds), *seconds);
        let expected: Vec<f64> = (0..*seconds as usize).map(stated).collect();
        if is_poisson {
            let score = poisson_score(&found, &expected);
            assert!(score.abs() < SCORE_MAX, "{what}: {score}");
            let (sum, mean) = (found.iter().sum::<f64>(), expected.iter().sum::<f64>());
            assert!((sum - mean).abs() < SCORE_MAX * mean.sqrt(), "{what}: {sum}, not {mean}");
            // The test can fail: a tenth more is noticed.
            let more: Vec<f64> = expected.iter().map(|rate| rate * 1.1).collect();
            let more_mean = more.iter().sum::<f64>();
            let is_noticed = (sum - more_mean).abs() > SCORE_MAX * more_mean.sqrt();
            assert!(is_noticed || mean < 5000.0, "{what}");
        } else {
            for (second, (count, rate)) in found.iter().zip(&expected).enumerate() {
                assert!((count - rate).abs() <= 1.0, "{what}, {second} s: {count}, not {rate}");
            }
        }
    }
}

#[test]
fn every_offered_rate_of_an_application_is_stated_here() {
    use workload::profiles::{Group, PROFILES};
    for profile in PROFILES.iter().filter(|profile| profile.group != Group::Synthetic) {
        for run in profile.plan().known_runs() {
            for stream in run.streams.iter().filter(|stream| stream.arrival.is_open()) {
                let is_idle = matches!(&stream.arrival, Arrival::Constant { offered_rate } if *offered_rate <= 1.0);
                let is_stated = STATED.iter().any(|(name, variant, of, ..)| {
                    *name == profile.name
                        && *of == stream.name
                        && (variant.is_empty() || *variant == run.variant)
                });
                assert!(is_stated || is_idle, "{}, {}, {}", profile.name, run.variant, stream.name);
            }
        }
    }
}
