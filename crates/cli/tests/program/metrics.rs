//! `run --metrics` and `--metrics-file`, read by Prometheus and promtool (Debian's `prometheus`),
//! and the Grafana dashboard of `examples/grafana`.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::{Duration, Instant};

use crate::exporter::get;
use crate::harness::{Running, TestDir};

/// Reads and writes on the null target, in intervals of a quarter of a second.
fn experiment(measure: &str) -> String {
    format!(
        "name = \"metrics\"\n[run]\nwarm_up = \"250ms\"\nmeasure = \"{measure}\"\n\
         interval = \"250ms\"\n[stream.mixed]\nread = \"70%\"\ntransfer_size = \"8KiB\"\n\
         pattern = \"random\"\nfiles = 1\nfile_size = \"64MiB\"\nqueue_depth = 2\n"
    )
}

const OPENMETRICS: &str = "application/openmetrics-text;version=1.0.0,text/plain;q=0.1";

/// The address of the line `metrics: http://ADDRESS/metrics`.
fn address_of(running: &Running) -> String {
    let line = running.wait_for("metrics: http://");
    let address = line.trim().rsplit("http://").next().expect("an address");
    address.trim_end_matches("/metrics").to_owned()
}

/// The type of each metric, by its name in the Prometheus text format.
fn types(text: &str) -> BTreeMap<String, String> {
    let of_line = |line: &str| {
        let (name, kind) = line.strip_prefix("# TYPE ")?.split_once(' ')?;
        Some((name.to_owned(), kind.to_owned()))
    };
    text.lines().filter_map(of_line).collect()
}

/// The value of a series of a text.
fn value(text: &str, series: &str) -> Option<f64> {
    let of_line = |line: &str| line.strip_prefix(series)?.strip_prefix(' ')?.parse().ok();
    text.lines().find_map(of_line)
}

/// `promtool check metrics` accepts the text, and has no advice.
fn check_with_promtool(text: &str) {
    let mut promtool = Command::new("promtool")
        .args(["check", "metrics"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("start promtool (`cargo xtask check --install`)");
    let mut stdin = promtool.stdin.take().expect("its stdin is a pipe");
    stdin.write_all(text.as_bytes()).expect("send it the metrics");
    drop(stdin);
    let ended = promtool.wait_with_output().expect("promtool ends");
    let said = String::from_utf8_lossy(&ended.stderr);
    assert!(ended.status.success() && said.trim().is_empty(), "{said}\n{text}");
}

#[test]
fn a_run_serves_valid_metrics_with_the_names_of_volume_serve() {
    let dir = TestDir::new();
    dir.file("e.toml", &experiment("3s"));
    let flags = ["run", "null:", "-w", "e.toml", "--no-report", "--metrics", ":0"];
    let running = dir.start(&flags);
    let address = address_of(&running);
    assert!(address.starts_with("127.0.0.1:"), "a port alone is on loopback: {address}");
    let deadline = Instant::now() + Duration::from_secs(60);
    let series = "fourcorners_stream_operations_total{stream=\"mixed\",operation=\"write\"}";
    let (head, openmetrics) = loop {
        let (head, text) = get(&address, "/metrics", OPENMETRICS);
        if value(&text, series).is_some_and(|count| count > 0.0) {
            break (head, text);
        }
        assert!(Instant::now() < deadline, "{text}");
    };
    assert!(head.contains("Content-Type: application/openmetrics-text; version=1.0.0"), "{head}");
    assert!(openmetrics.ends_with("\n# EOF\n"), "{openmetrics}");
    assert!(openmetrics.contains("# TYPE fourcorners_stream_operations counter\n"));
    let (head, text) = get(&address, "/metrics", "*/*");
    assert!(head.contains("Content-Type: text/plain; version=0.0.4"), "{head}");
    check_with_promtool(&text);
    assert!(get(&address, "/", "*/*").0.starts_with("HTTP/1.1 404 "));
    let version = env!("CARGO_PKG_VERSION");
    let info = format!(
        "fourcorners_run_info{{version=\"{version}\",target_kind=\"null\",experiment=\"metrics\"}}"
    );
    assert_eq!(value(&text, &info), Some(1.0), "{text}");
    assert_eq!(value(&text, "fourcorners_run_load_points_planned"), Some(1.0), "{text}");
    let labels: BTreeSet<&str> = text
        .lines()
        .filter(|line| line.starts_with("fourcorners_stream_"))
        .filter_map(|line| line.split_once('{')?.1.split_once("\"}"))
        .flat_map(|(labels, _)| labels.split("\",").filter_map(|one| one.split('=').next()))
        .collect();
    assert!(labels.is_subset(&["stream", "operation", "error", "le"].into()), "{labels:?}");
    let ended = running.end();
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);

    let arguments = ["volume", "serve", "--address", "127.0.0.1:0", "--metrics", "127.0.0.1:0"];
    let service = dir.start(&arguments);
    let line = service.wait_for("metrics ");
    let at = line.trim().rsplit("http://").next().expect("an address");
    let of_volume = get(at.trim_end_matches("/metrics"), "/metrics", "*/*").1;
    check_with_promtool(&of_volume);
    let (ours, theirs) = (types(&text), types(&of_volume));
    for name in [
        "requests_total",
        "operations_total",
        "failed_total",
        "read_bytes_total",
        "written_bytes_total",
        "outstanding",
    ] {
        let kind = ours.get(&format!("fourcorners_stream_{name}"));
        assert!(kind.is_some(), "{name}");
        assert_eq!(kind, theirs.get(&format!("fourcorners_volume_{name}")), "{name}");
    }
}

#[test]
fn a_port_in_use_is_refused_before_anything_is_measured() {
    let dir = TestDir::new();
    let taken = TcpListener::bind("127.0.0.1:0").expect("listen");
    let address = taken.local_addr().expect("an address").to_string();
    let ended = dir.run(&["run", "null:", "--quick", "--metrics", &address]);
    assert_eq!(ended.code, Some(2), "{}", ended.stderr);
    let reason = format!("--metrics {address}: ");
    assert!(ended.stderr.contains(&reason), "{}", ended.stderr);
    assert!(ended.stderr.contains("choose another port"), "{}", ended.stderr);
    assert!(!dir.store().exists(), "no record was begun");
    for (flag, wrong, reason) in [
        ("--metrics", ":65536", "a port is at most 65535"),
        ("--metrics", "localhost:9400", "write a port (:9400)"),
        ("--metrics-file", "-", "name a file"),
        ("--metrics-file", "missing/x.prom", "missing does not exist"),
    ] {
        let ended = dir.run(&["run", "null:", "--quick", flag, wrong]);
        assert_eq!(ended.code, Some(2), "{wrong}: {}", ended.stderr);
        assert!(ended.stderr.contains(reason), "{wrong}: {}", ended.stderr);
    }
}

#[test]
fn a_reader_of_the_metrics_file_never_sees_a_part_and_the_final_counters_remain() {
    let dir = TestDir::new();
    dir.file("e.toml", &experiment("2s"));
    let path = dir.path().join("run.prom");
    let arguments = [
        "run",
        "null:",
        "-w",
        "e.toml",
        "--no-report",
        "--events=jsonl",
        "--metrics-file=run.prom",
    ];
    let running = dir.start(&arguments);
    let mut versions = BTreeSet::new();
    loop {
        if let Ok(text) = std::fs::read_to_string(&path) {
            assert!(text.starts_with("# HELP fourcorners_run_info "), "a part:\n{text}");
            let last = "# TYPE fourcorners_stream_service_time_seconds histogram\n";
            assert!(text.ends_with('\n') && text.contains(last), "a part:\n{text}");
            let is_finished = text.contains("fourcorners_run_phase{phase=\"finished\"} 1\n");
            versions.insert(text);
            if is_finished {
                break;
            }
        }
        assert!(versions.len() < 1000, "the run does not end");
    }
    let ended = running.end();
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(versions.len() >= 5, "{} versions of the file in 9 intervals", versions.len());
    let text = std::fs::read_to_string(&path).expect("the file remains");
    check_with_promtool(&text);
    // Every operation of every interval is counted once.
    let events = ended
        .stdout
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).expect("an event is JSON"));
    let mut completed = [0; 2];
    for event in events.filter(|event| event["event"] == "interval") {
        for kind in event["streams"][0]["kinds"].as_array().expect("kinds") {
            let index = usize::from(kind["kind"] == "write");
            completed[index] += kind["completed"].as_u64().expect("a count");
        }
    }
    for (operation, completed) in ["read", "write"].into_iter().zip(completed) {
        let labels = format!("{{stream=\"mixed\",operation=\"{operation}\"}}");
        let series = format!("fourcorners_stream_operations_total{labels}");
        assert_eq!(value(&text, &series), Some(completed as f64), "{text}");
        let series = format!("fourcorners_stream_response_time_seconds_count{labels}");
        assert_eq!(value(&text, &series), Some(completed as f64), "{text}");
    }
    let left = std::fs::read_dir(dir.path()).expect("list the directory");
    let parts = left.filter(|one| {
        one.as_ref().expect("an entry").file_name().to_string_lossy().ends_with(".part")
    });
    assert_eq!(parts.count(), 0, "temporary files remain");
}

/// Prometheus with a separate store, scraping one address twice per second.
struct Prometheus {
    child: Child,
    address: String,
}

impl Prometheus {
    /// Starts it and waits until it answers queries.
    fn start(dir: &Path, target: &str) -> Prometheus {
        let config = format!(
            "global:\n  scrape_interval: 500ms\n  scrape_timeout: 500ms\nscrape_configs:\n\
             - job_name: fourcorners\n  static_configs:\n  - targets: ['{target}']\n"
        );
        std::fs::write(dir.join("prometheus.yml"), config).expect("write its configuration");
        // It cannot choose a free port itself. At a loopback address that only this start uses, a port
        // that was free stays free.
        static STARTS: AtomicU8 = AtomicU8::new(128);
        let [_, _, high, low] = std::process::id().to_be_bytes();
        let address = Ipv4Addr::new(127, STARTS.fetch_add(1, Ordering::Relaxed), high, low);
        let free = TcpListener::bind((address, 0)).expect("listen").local_addr();
        let mut started = Prometheus::spawn(dir, free.expect("an address").to_string());
        let until = Instant::now() + Duration::from_secs(60);
        while started.child.try_wait().expect("ask for its state").is_none()
            && Instant::now() < until
        {
            if started.is_ready() {
                return started;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        panic!("{}", std::fs::read_to_string(dir.join("prometheus.log")).unwrap_or_default());
    }

    fn spawn(dir: &Path, address: String) -> Prometheus {
        let log = std::fs::File::create(dir.join("prometheus.log")).expect("create its log");
        let child = Command::new("prometheus")
            .arg(format!("--config.file={}", dir.join("prometheus.yml").display()))
            .arg(format!("--storage.tsdb.path={}", dir.join("tsdb").display()))
            .arg(format!("--web.listen-address={address}"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .expect("start prometheus (`cargo xtask check --install`)");
        Prometheus { child, address }
    }

    fn is_ready(&self) -> bool {
        TcpStream::connect(&self.address).is_ok()
            && get(&self.address, "/-/ready", "*/*").0.contains(" 200 ")
    }

    /// The number of series in the result of an expression.
    fn series(&self, expression: &str) -> usize {
        let encode = |byte: u8| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' => char::from(byte).to_string(),
            other => format!("%{other:02X}"),
        };
        let query: String = expression.bytes().map(encode).collect();
        let path = format!("/api/v1/query?query={query}");
        let (_, body) = get(&self.address, &path, "application/json");
        let answer: serde_json::Value = serde_json::from_str(&body).expect("the API returns JSON");
        assert_eq!(answer["status"], "success", "{expression}: {body}");
        answer["data"]["result"].as_array().expect("a vector").len()
    }
}

impl Drop for Prometheus {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn every_panel_of_the_grafana_dashboard_shows_data_of_a_run() {
    let dir = TestDir::new();
    dir.file("e.toml", &experiment("60s"));
    let running =
        dir.start(&["run", "null:", "-w", "e.toml", "--no-report", "--metrics", "127.0.0.1:0"]);
    let prometheus = Prometheus::start(dir.path(), &address_of(&running));
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/grafana/fourcorners.json");
    let text = std::fs::read_to_string(file).expect("the dashboard is in examples/");
    let dashboard: serde_json::Value = serde_json::from_str(&text).expect("it is JSON");
    let expressions: Vec<String> = dashboard["panels"]
        .as_array()
        .expect("panels")
        .iter()
        .flat_map(|panel| panel["targets"].as_array().expect("each panel has queries"))
        .map(|target| target["expr"].as_str().expect("a query").to_owned())
        .collect();
    assert!(expressions.len() >= 15, "{expressions:?}");
    // As Grafana replaces its variables.
    let replaced = |expression: &String| {
        expression
            .replace("$instance", ".*")
            .replace("$stream", ".*")
            .replace("$__rate_interval", "2s")
    };
    let deadline = Instant::now() + Duration::from_secs(50);
    while prometheus.series("fourcorners_stream_requests_total > 0") == 0 {
        assert!(Instant::now() < deadline, "Prometheus does not scrape the run");
        std::thread::sleep(Duration::from_millis(100));
    }
    for expression in expressions.iter().map(replaced) {
        while prometheus.series(&expression) == 0 {
            assert!(Instant::now() < deadline, "no data: {expression}");
            std::thread::sleep(Duration::from_millis(100));
        }
    }
    running.signal("INT");
    let ended = running.end();
    assert_eq!(ended.code, Some(1), "interrupted: {}", ended.stderr);
}
