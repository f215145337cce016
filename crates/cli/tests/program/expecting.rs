//! `expect`: published figures near a configuration; and `predict` and `expect` beside a run on an
//! emulated volume over loopback.

use serde_json::Value;

use crate::harness::Place;

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).expect("it is JSON")
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

#[test]
fn the_figures_of_the_documents_are_found_for_their_own_configuration() {
    let place = Place::new();
    let arguments = ["expect", "--vm", "D32s_v3", "--protocol", "nfsv3", "--nconnect", "16"];
    let shown = place.ok(&arguments);
    for said in ["A61", "A13", "200,000 ops/s", "135,000 ops/s", "3,500 MiB/s", "1,500 MiB/s"] {
        assert!(shown.contains(said), "{said}: {shown}");
    }
    assert!(shown.contains("A59 and A14 contradict each other"), "{shown}");
    assert_eq!(shown.lines().find(|line| line.chars().count() > 80), None);

    let one = ["--transfer-size", "4KiB", "--read", "0%", "--json", "--top", "1"];
    let json = parsed(&place.ok(&[&arguments[..], &one[..]].concat()));
    let nearest = &json["expectations"][0]["figures"][0];
    assert_eq!((&nearest["id"], number(&nearest["value"])), (&"A62".into(), 135_000.0));
    // Nothing differs that the model would feel.
    assert_eq!(number(&nearest["here_ops_per_s"]), 135_000.0);
}

#[test]
fn a_figure_of_vmwares_hosts_and_one_of_smb_are_found() {
    let place = Place::new();
    let esxi = ["expect", "--client", "esxi", "--clients", "4", "--volumes", "4", "--explain"];
    let shown = place.ok(&esxi);
    for said in ["585,000 ops/s", "10,500 MiB/s", "published.toml"] {
        assert!(shown.contains(said), "{said}: {shown}");
    }
    let smb = ["expect", "--protocol", "smb", "--pattern", "sequential", "--read", "100%"];
    let shown = place.ok(&smb);
    assert!(shown.contains("A65") && shown.contains("knows nothing of smb"), "{shown}");
}

#[test]
fn a_vm_size_that_does_not_exist_is_refused_with_the_nearest() {
    let ended = Place::new().run(&["expect", "--vm", "D32s_v33"]);
    assert_eq!(ended.code, Some(2));
    assert!(ended.stderr.contains("Standard_D32s_v3"), "{}", ended.stderr);
}

/// The volume's limit: 256 operations of 16 KiB pass in a second.
const LIMIT: &str = "4MiB/s";
/// Of each read: much more than a busy machine adds. The bounds cross at 15 outstanding.
const DELAY: &str = "60ms";

const EXPERIMENT: &str = r#"
name = "depths"
[run]
warm_up = "250ms"
measure = "2s"
interval = "250ms"
[stream.reader]
read = "100%"
transfer_size = "16KiB"
pattern = "sequential"
files = 1
file_size = "2MiB"
queue_depth = [1, 8, 48]
"#;

fn topology(floor_s: f64, outstanding: u64) -> String {
    format!(
        "name = \"served\"\nfloor = \"{:.0}us\"\nfloor_spread = 0\n[[host]]\nname = \"here\"\n\
         [[volume]]\nname = \"vol1\"\nthroughput = \"{LIMIT}\"\n[[workload]]\n\
         transfer_size = \"16KiB\"\nread = \"100%\"\npattern = \"sequential\"\n\
         outstanding = {outstanding}\n",
        floor_s * 1e6
    )
}

/// From the response time of one operation at a time, which is measured, and the limit, which is
/// known, those at other queue depths are predicted within 5 %: below the crossing of the bounds
/// and above it. They are medians: a busy machine that stops for a moment does not move them.
#[test]
fn what_a_served_volume_then_shows_over_loopback_was_predicted_within_5_percent() {
    let place = Place::new();
    let arguments = ["volume", "serve", "--address", "127.0.0.1:0", "--metrics", "none"];
    let limits = ["--throughput", LIMIT, "--read-delay", DELAY];
    let serving = place.start(&[&arguments[..], &limits[..]].concat());
    let line = serving.wait_for("nfs://");
    let at = line.find("nfs://").expect("it was waited for");
    let target = line[at..].split_whitespace().next().expect("there is a URL").to_owned();
    let file = place.file("depths.toml", EXPERIMENT);
    let known = format!("volume={LIMIT}");
    place.ok(&[
        "run",
        &target,
        "-w",
        file.to_str().expect("UTF-8"),
        "--known",
        &known,
        "--no-report",
        "--no-progress",
    ]);
    let shown = parsed(&place.ok(&["show", "last", "--json"]));
    let points = shown["load_points"].as_array().expect("there are load points");
    let total = |point: &Value| point["merged"]["total"].clone();
    let median_s = |point: &Value| {
        let percentiles = total(point)["data"]["response_time"]["percentiles"].clone();
        let all = percentiles.as_array().expect("there are percentiles").clone();
        let median = all.iter().find(|one| one["name"] == "p50").expect("there is a median");
        number(&median["value_ns"]) / 1e9
    };
    let floor_s = median_s(&points[0]);
    for (point, outstanding) in points.iter().zip([1, 8, 48]) {
        let file = place.file("served.toml", &topology(floor_s, outstanding));
        let json = parsed(&place.ok(&["predict", file.to_str().expect("UTF-8"), "--json"]));
        let predicted_s = number(&json["asked"]["response_s"]["value"]);
        let off = predicted_s / median_s(point) - 1.0;
        assert!(off.abs() <= 0.05, "{outstanding}: {predicted_s}, measured {}", median_s(point));
    }

    // The same run beside what was published.
    let json = parsed(&place.ok(&["expect", "--run", "last", "--vm", "D32s_v3", "--json"]));
    let expectation = &json["expectations"][0];
    let rate = total(&points[2])["data"]["achieved_rate_ops_per_sec"]["value"].clone();
    assert_eq!(number(&expectation["measured"]["ops_per_s"]), number(&rate));
    let nearest = &expectation["figures"][0];
    let product = number(&nearest["explained"]) * number(&nearest["unexplained"]);
    let share = number(&nearest["measured_of_published"]);
    assert!((product / share - 1.0).abs() < 1e-6, "{nearest}");
    // It is the throughput limit that makes the difference, and hardly anything else is left.
    let steps = nearest["steps"].as_array().expect("there are steps");
    assert!(steps.iter().any(|step| step["what"] == "throughput limit"), "{nearest}");
    assert!(number(&nearest["unexplained"]) > 0.5, "{nearest}");
    let text = place.ok(&["expect", "--run", "last", "--vm", "D32s_v3"]);
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat.contains("of the published figure"), "{text}");
    serving.signal("INT");
    assert_eq!(serving.end().code, Some(0));
}
