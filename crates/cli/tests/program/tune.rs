//! `tune`: the concurrency that a rate needs, found on volumes whose delays and limits are known.

use serde_json::Value;

use crate::harness::Place;

/// Short phases, and files that are filled at once.
const SHORT: [&str; 10] = [
    "--warm-up",
    "250ms",
    "--interval",
    "250ms",
    "--files",
    "2",
    "--file-size",
    "2MiB",
    "--no-report",
    "--no-progress",
];

/// The volume that the test serves: 7.5 MiB/s, and 40 ms for each read, which is much more than a
/// busy machine adds: half of the limit is 60 ops/s, two operations give 49 and three 74.
const LIMIT_MIB: f64 = 7.5;

fn tune(place: &Place, measure: &str, arguments: &[&str]) -> crate::harness::Ended {
    let measure = ["tune", "--measure", measure];
    let all: Vec<&str> = measure.into_iter().chain(arguments.iter().copied()).collect();
    place.run(&[&all[..], &SHORT[..]].concat())
}

fn shown(place: &Place) -> Value {
    let json = place.ok(&["show", "last", "--json"]);
    let shown: Value = serde_json::from_str(&json).expect("it is JSON");
    shown["tune"].clone()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

/// The lines below the one that holds `words`, without their indent, as far as they are one block.
fn block_below(text: &str, words: &str) -> String {
    let lines = text.lines().skip_while(|line| !line.contains(words)).skip(1);
    // The sentence may go on.
    let lines = lines.skip_while(|line| !line.starts_with("    "));
    let lines: Vec<&str> =
        lines.take_while(|line| line.starts_with("    ")).map(|line| line.trim_start()).collect();
    lines.join("\n")
}

#[test]
fn half_of_a_volumes_limit_is_reached_with_what_littles_law_says_and_its_settings_are_true() {
    let place = Place::new();
    let limit = format!("{LIMIT_MIB}MiB/s");
    let serving = place.start(&[
        "volume",
        "serve",
        "--address",
        "127.0.0.1:0",
        "--metrics",
        "none",
        "--throughput",
        &limit,
        "--read-delay",
        "40ms",
    ]);
    let line = serving.wait_for("nfs://");
    let at = line.find("nfs://").expect("it was waited for");
    let target = line[at..].split_whitespace().next().expect("there is a URL").to_owned();

    let wanted_mib = LIMIT_MIB / 2.0;
    let want = format!("{wanted_mib}MiB/s");
    // Of a window of 3 s the machine may stop for 90 ms and more.
    let ended = tune(&place, "3s", &[&target, "--want", &want, "--hosts", "2"]);
    assert_eq!(ended.code, Some(0), "{}\n{}", ended.stdout, ended.stderr);
    let wide = ended.stdout.lines().find(|line| line.chars().count() > 80);
    // The record's name is a word that cannot be broken.
    assert!(wide.is_none_or(|line| line.starts_with("record")), "{}", ended.stdout);
    let flat = ended.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat.contains("Little's law, outstanding = rate x response time"), "{flat}");
    assert!(flat.contains("does not reach it"), "{flat}");

    let found = shown(&place);
    assert_eq!(found["verdict"], "reached");
    let enough = number(&found["enough"]["outstanding"]);
    let little = number(&found["arithmetic"]["outstanding"]);
    assert!((enough - little).abs() <= 1.0, "{enough}, and Little's law says {little}");
    assert_eq!(number(&found["too_little"]["outstanding"]), enough - 1.0);
    // Left alone it gives more, because operations are whole; held at the rate it gives just it.
    let held = &found["held"];
    let landed = if held.is_null() { &found["enough"] } else { held };
    let landed_mib = number(&landed["throughput_bytes_per_sec"]["value"]) / 1_048_576.0;
    assert!((landed_mib / wanted_mib - 1.0).abs() <= 0.03, "{landed_mib} MiB/s");

    // What is printed for each of two hosts is an experiment, and keeps that much outstanding.
    let experiment = block_below(&ended.stdout, "tuned.toml");
    place.file("tuned.toml", &experiment);
    let plan = place.ok(&["plan", &target, "-w", "tuned.toml", "--json"]);
    let plan: Value = serde_json::from_str(&plan).expect("it is JSON");
    let stream = &plan["steps"][0]["fixed"]["streams"][0];
    let here = number(&stream["queue_depth"]) * number(&stream["workers"]);
    assert_eq!(here, (enough / 2.0).ceil(), "{experiment}");
    assert_eq!(stream["transfer_sizes"][0]["size_bytes"], 65_536);

    serving.signal("INT");
    assert_eq!(serving.end().code, Some(0));
}

#[test]
fn more_than_the_emulated_volume_gives_names_its_limit_and_the_quota_that_would_do() {
    let place = Place::new();
    let ended = tune(&place, "1500ms", &["--want", "200MiB/s", "--transfer-size", "1MiB"]);
    assert_eq!(ended.code, Some(1), "{}\n{}", ended.stdout, ended.stderr);
    let flat = ended.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    for words in [
        "cannot be reached by more concurrency",
        "Limited by the volume's throughput limit",
        "of the 128.00 MiB/s that was set (1 TiB x Ultra)",
        "ultra 1,600 4,500",
    ] {
        assert!(flat.contains(words), "{words}: {}", ended.stdout);
    }
    let found = shown(&place);
    assert_eq!(found["verdict"], "saturated");
    assert_eq!(found["limited_by"]["limits"][0], "volume_throughput");
    assert!(found["settings"].is_null());
}

#[test]
fn what_cannot_be_tuned_for_is_refused_before_anything_is_done() {
    let place = Place::new();
    for (arguments, words) in [
        (&["--want", "200"][..], "without a unit it could be operations or bytes"),
        (&["--want", "0/s"], "nothing is wanted"),
        (&[], "--want"),
        (&["--want", "200MiB/s", "--read", "150%"], "a share from 0 % to 100 %"),
        (&["--want", "200MiB/s", "--transfer-size", "1000"], "a multiple of 512"),
        (&["--want", "200MiB/s", "--transfer-size", "8k,64k"], "several values"),
        (&["--want", "20GiB/s"], "no service level gives a volume more than"),
        (&["--want", "1/s", "--outstanding-at-most", "129"], "slots for 128 calls"),
        (&["null:", "--want", "1/s", "--outstanding-at-most", "5000"], "a worker has at most 4096"),
        (&["--want", "1/s", "--profile", "curve"], "`tune` makes its own experiment"),
        (&["--want", "1/s", "--within", "60%"], "0%"),
        (&["--want", "1/s", "--response-time-at-most", "2"], "a duration such as"),
        (&["/nowhere", "--want", "1/s", "--nconnect", "4"], "nconnect"),
        (&["/nowhere", "--want", "1/s"], "/nowhere"),
    ] {
        let all: Vec<&str> = ["tune"].into_iter().chain(arguments.iter().copied()).collect();
        let ended = place.run(&all);
        assert_eq!(ended.code, Some(2), "{arguments:?}: {}", ended.stderr);
        let flat = ended.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(flat.contains(words), "{arguments:?}: {}", ended.stderr);
    }
    assert!(!place.store().exists());
}

#[test]
fn more_than_the_generator_can_do_ends_with_its_ceiling() {
    let place = Place::new();
    let ended = tune(&place, "500ms", &["null:", "--want", "900M ops/s"]);
    assert_eq!(ended.code, Some(1), "{}\n{}", ended.stdout, ended.stderr);
    assert!(shown(&place)["verdict"] != "reached");
    assert!(ended.stdout.contains("900,000,000 ops/s"), "{}", ended.stdout);
}
