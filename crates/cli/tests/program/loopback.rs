//! `predict` and `expect` compared with a run on an emulated volume over loopback with a known
//! limit and delay: the prediction before the measurement matches it.

use std::io::{Read, Write};
use std::net::TcpStream;

use serde_json::Value;

use crate::harness::TestDir;

/// The volume's limit: 64 operations of 16 KiB pass in a second.
const LIMIT: &str = "1MiB/s";
/// Of each read: much more than a busy machine adds, which can be several turns of the scheduler.
const DELAY: &str = "200ms";
/// The bounds cross at 64/s x 200 ms = 12.8 outstanding: two depths below, two above.
const DEPTHS: [u64; 4] = [1, 8, 18, 32];
/// Intervals of the warm-up, after which a queue is as long as it gets: twice the longest response
/// time.
const WARM_UP: u64 = 5;
/// The allowed difference between prediction and measurement.
const WITHIN: f64 = 0.05;

const EXPERIMENT: &str = r#"
name = "depths"
[run]
warm_up = "1s"
measure = "5s"
interval = "200ms"
[stream.reader]
read = "100%"
transfer_size = "16KiB"
pattern = "sequential"
files = 1
file_size = "512KiB"
queue_depth = [1, 8, 18, 32]
"#;

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).expect("it is JSON")
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

fn topology(floor_s: f64, outstanding: u64) -> String {
    format!(
        "name = \"served\"\nfloor = \"{:.0}us\"\nfloor_spread = 0\n[[host]]\nname = \"here\"\n\
         [[volume]]\nname = \"vol1\"\nthroughput = \"{LIMIT}\"\n[[workload]]\n\
         transfer_size = \"16KiB\"\nread = \"100%\"\npattern = \"sequential\"\n\
         outstanding = {outstanding}\n",
        floor_s * 1e6
    )
}

/// The service's counters: the time of the last request by its clock, in seconds, and the number of
/// requests until then. In a closed loop they arrive at the rate of the replies.
fn counted(metrics: &str) -> (f64, f64) {
    let mut stream = TcpStream::connect(metrics).expect("reach the service's metrics");
    let request =
        format!("GET /stat.json HTTP/1.1\r\nHost: {metrics}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).expect("ask the service");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("hear the service");
    let (_, body) = answer.split_once("\r\n\r\n").expect("an answer has a body");
    let seen = parsed(body);
    let volume = &seen["volumes"][0];
    (number(&volume["last_arrival_ns"]) / 1e9, number(&volume["arrived"]))
}

/// The slope of the line through points: the middle of those of all pairs (Theil 1950, Sen 1968),
/// which a moment in which the machine stood still does not move.
fn slope(points: &[(f64, f64)]) -> f64 {
    let mut slopes: Vec<f64> = Vec::new();
    for (dir, one) in points.iter().enumerate() {
        let later = points[dir + 1..].iter().filter(|other| other.0 > one.0);
        slopes.extend(later.map(|other| (other.1 - one.1) / (other.0 - one.0)));
    }
    slopes.sort_by(f64::total_cmp);
    slopes[slopes.len() / 2]
}

/// From the limit, which is known, and the response time of one operation at a time, which is
/// measured, everything at other depths is predicted. Rates are those that the service counted by
/// itself, response times medians: a busy machine that stops for a moment moves neither.
#[test]
fn rates_and_response_times_over_loopback_are_predicted_within_5_percent_at_every_depth() {
    let dir = TestDir::new();
    let arguments = ["volume", "serve", "--address", "127.0.0.1:0", "--metrics", "127.0.0.1:0"];
    let limits = ["--throughput", LIMIT, "--read-delay", DELAY];
    let serving = dir.start(&[&arguments[..], &limits[..]].concat());
    let line = serving.wait_for("nfs://");
    let at = line.find("nfs://").expect("it was waited for");
    let target = line[at..].split_whitespace().next().expect("there is a URL").to_owned();
    let line = serving.wait_for("metrics ");
    let metrics = line.rsplit("http://").next().expect("an address").trim();
    let metrics = metrics.trim_end_matches("/metrics").to_owned();
    let file = dir.file("depths.toml", EXPERIMENT);
    let known = format!("volume={LIMIT}");
    let file = file.to_str().expect("UTF-8");
    let run = ["run", &target, "-w", file, "--known", &known, "--no-report", "--events", "jsonl"];
    let running = dir.start(&run);
    let mut seen: Vec<Vec<(f64, f64)>> = vec![Vec::new(); DEPTHS.len()];
    while let Some(line) = running.next_line(|line| line.contains("\"event\":\"interval\"")) {
        let event = parsed(&line);
        let field = |name: &str| event[name].as_u64().expect("a number");
        // From the end of the warm-up's last interval on.
        if field("interval_index") + 1 >= WARM_UP {
            seen[field("run_index") as usize].push(counted(&metrics));
        }
    }
    let ended = running.end();
    assert_eq!(ended.code, Some(0), "{}\n{}", ended.stdout, ended.stderr);

    let shown = parsed(&dir.ok(&["show", "last", "--json"]));
    let points = shown["load_points"].as_array().expect("there are load points");
    let total = |point: &Value| point["merged"]["total"].clone();
    let median_s = |point: &Value| {
        let percentiles = total(point)["data"]["response_time"]["percentiles"].clone();
        let all = percentiles.as_array().expect("there are percentiles").clone();
        let median = all.iter().find(|one| one["name"] == "p50").expect("there is a median");
        number(&median["value_ns"]) / 1e9
    };
    assert_eq!(points.len(), DEPTHS.len());
    let floor_s = median_s(&points[0]);
    let mut wrong = Vec::new();
    for ((point, seen), outstanding) in points.iter().zip(&seen).zip(DEPTHS) {
        let file = dir.file("served.toml", &topology(floor_s, outstanding));
        let json = parsed(&dir.ok(&["predict", file.to_str().expect("UTF-8"), "--json"]));
        assert!(seen.len() >= 8, "{outstanding}: the counters were read {} times", seen.len());
        for (what, predicted, measured) in [
            ("rate", number(&json["requested"]["ops_per_s"]["value"]), slope(seen)),
            ("response time", number(&json["requested"]["response_s"]["value"]), median_s(point)),
        ] {
            let off = predicted / measured - 1.0;
            if off.abs() > WITHIN {
                wrong.push(format!("{outstanding}: {what} {predicted}, measured {measured}"));
            }
        }
    }
    assert_eq!(wrong, Vec::<String>::new());

    // The same run compared with published figures.
    let expect =
        ["expect", "--run", "last", "--vm", "D32s_v3", "--json", "--report", "expected.md"];
    let json = parsed(&dir.ok(&expect));
    let expectation = &json["expectations"][0];
    let rate = total(points.last().expect("a point"))["data"]["achieved_rate_ops_per_sec"]["value"]
        .clone();
    assert!((number(&expectation["measured"]["ops_per_s"]) / number(&rate) - 1.0).abs() < 0.01);
    let nearest = &expectation["figures"][0];
    let product = number(&nearest["explained"]) * number(&nearest["unexplained"]);
    let share = number(&nearest["measured_over_published"]);
    assert!((product / share - 1.0).abs() < 1e-6, "{nearest}");
    // The throughput limit explains the difference almost completely.
    let steps = nearest["steps"].as_array().expect("there are steps");
    assert!(steps.iter().any(|step| step["what"] == "throughput limit"), "{nearest}");
    assert!(number(&nearest["unexplained"]) > 0.5, "{nearest}");
    let text = std::fs::read_to_string(dir.path().join("expected.md")).expect("it was written");
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat.contains("of the published figure"), "{text}");
    // And with its prediction: a point per depth.
    let file = dir.file("served.toml", &topology(floor_s, 48));
    let against = ["predict", file.to_str().expect("UTF-8"), "--against", "last"];
    let json = parsed(&dir.ok(&[&against[..], &["--json"]].concat()));
    let points = json["against_measured"][0]["points"].as_array().expect("there are points");
    assert_eq!(points.len(), DEPTHS.len());
    assert!(dir.ok(&against).contains("Measured: "));
    serving.signal("INT");
    assert_eq!(serving.end().code, Some(0));
}
