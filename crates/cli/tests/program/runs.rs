//! Complete runs on real files, and the commands that use their records.

use std::path::{Path, PathBuf};

use crate::harness::TestDir;

/// Ready within a second: one small file, two load points, 300 ms of operations each.
pub(crate) const TINY: &str = r#"
name = "tiny"

[run]
warm_up = "100ms"
measure = "200ms"
interval = "100ms"

[stream.main]
read = "100%"
transfer_size = "4KiB"
pattern = "random"
files = 1
file_size = "1MiB"
queue_depth = [1, 4]
"#;

/// The record's ID, from the last lines of `run`.
fn id_of(stdout: &str) -> &str {
    let line =
        stdout.lines().find(|line| line.starts_with("record")).expect("run names its record");
    line.split_whitespace().nth(1).expect("the ID follows")
}

/// Whether both begin with the same result, above the record.
fn same_result(one: &str, other: &str) -> bool {
    let result = |text: &str| text.split("\nrecord").next().map(str::to_owned);
    result(one) == result(other)
}

fn report_of(stdout: &str) -> PathBuf {
    let line =
        stdout.lines().find(|line| line.starts_with("report")).expect("run names its report");
    PathBuf::from(line["report".len()..].trim())
}

#[test]
fn a_run_ends_with_a_table_a_report_and_its_record() {
    let dir = TestDir::new();
    dir.file("tiny.toml", TINY);
    let ended = dir.run(&["run", "target", "-w", "tiny.toml"]);
    assert_eq!(ended.code, Some(0), "{}\n{}", ended.stdout, ended.stderr);

    for word in ["IOPS", "MiB/s", "p99"] {
        assert!(ended.stdout.contains(word), "the table shows {word}:\n{}", ended.stdout);
    }
    let html = std::fs::read_to_string(report_of(&ended.stdout)).expect("the report is there");
    assert!(html.contains("<html") && html.contains("tiny"));
    // It includes what is needed to repeat the run.
    let html = html.replace("&#x2f;", "/").replace("&quot;", "\"");
    assert!(html.contains(&format!("fourcorners run {}", dir.target().display())));
    assert!(html.contains("pattern = \"random\""), "the experiment is in the report");
    let positions = ["IOPS", "\nrecord", "\nreport"].map(|words| ended.stdout.find(words));
    assert!(positions.is_sorted() && positions[0].is_some(), "the report last: {}", ended.stdout);

    // Progress goes to stderr: the engine, and a line per load point.
    for words in ["engine: ", "2 runs, ", "    1/2 ", "  tiny, queue_depth=1\n"] {
        assert!(ended.stderr.contains(words), "stderr shows `{words}`:\n{}", ended.stderr);
    }
    assert!(!ended.stderr.contains('\x1b'), "a pipe gets plain lines");

    let id = id_of(&ended.stdout);
    let listed = dir.ok(&["list"]);
    let line = listed.lines().find(|line| line.starts_with(id)).expect("the record is listed");
    // An experiment that ended as planned has a verdict instead of a state.
    assert!(line.ends_with("target") && !line.contains("2/2"), "{line}");
}

#[test]
fn show_export_and_report_of_a_record_agree() {
    let dir = TestDir::new();
    dir.file("tiny.toml", TINY);
    let ended = dir.run(&["run", "target", "-w", "tiny.toml", "--no-report", "--no-progress"]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let (stdout, stderr) = (ended.stdout, ended.stderr);
    for decided in ["assumed seed: 1", "target: ", "engine: "] {
        assert_eq!(stderr.matches(decided).count(), 1, "`{decided}` is said once:\n{stderr}");
    }
    assert!(!stderr.contains("1/2"), "progress is not shown: {stderr}");
    let id = id_of(&stdout).to_owned();
    assert!(!stdout.lines().any(|line| line.starts_with("report")), "{stdout}");

    let shown = dir.ok(&["show", &id]);
    assert!(shown.contains("IOPS") && same_result(&stdout, &shown), "{stdout}\n{shown}");
    assert_eq!(dir.ok(&["show", "last"]), shown);
    assert_eq!(dir.ok(&["show", &id, "--json"]), dir.ok(&["export", &id, "--format", "json"]));

    let html = dir.path().join("out.html");
    let printed = dir.ok(&["report", &id, "-o", html.to_str().unwrap()]);
    assert_eq!(printed.trim(), html.to_str().unwrap());
    assert!(std::fs::read_to_string(&html).unwrap().contains("<html"));
    let printed = dir.ok(&["report", &id]);
    assert!(Path::new(printed.trim()).starts_with(dir.store()), "{printed}");

    let hgrm = dir.ok(&["export", &id, "--format", "hgrm"]);
    assert!(hgrm.contains("Percentile"), "{hgrm}");
}

#[test]
fn csv_and_json_carry_the_same_numbers() {
    let dir = TestDir::new();
    dir.file("tiny.toml", TINY);
    dir.ok(&["run", "target", "-w", "tiny.toml", "--no-report", "--no-progress"]);
    let csv = dir.path().join("out.csv");
    let printed = dir.ok(&["export", "last", "--format", "csv", "-o", csv.to_str().unwrap()]);
    assert_eq!(printed, "", "what goes to a file does not go to stdout");
    let csv = std::fs::read_to_string(csv).unwrap();
    let json = dir.ok(&["export", "last", "--format", "json"]);
    let json: serde_json::Value = serde_json::from_str(&json).expect("the export is JSON");

    let mut lines = csv.lines();
    let names: Vec<&str> = lines.next().expect("a heading").split(',').collect();
    let rows: Vec<Vec<&str>> = lines.map(|line| line.split(',').collect()).collect();
    let column = |name: &str| {
        names.iter().position(|other| *other == name).unwrap_or_else(|| panic!("no {name}"))
    };
    let mut compared = 0;
    for (index, point) in json["load_points"].as_array().expect("load points").iter().enumerate() {
        let is_merged_data = |row: &&Vec<&str>| {
            row[column("load_point")] == index.to_string()
                && row[column("repeat")] == "all"
                && row[column("operation")] == "data"
        };
        let row = rows.iter().find(is_merged_data).expect("each load point has its row");
        let data = &point["merged"]["total"]["data"];
        for (name, value) in [
            ("completed", &data["completed"]),
            ("achieved_rate_ops_per_sec", &data["achieved_rate_ops_per_sec"]["value"]),
            ("throughput_bytes_per_sec", &data["throughput_bytes_per_sec"]["value"]),
            ("response_mean_ns", &data["response_time"]["mean_ns"]["value"]),
            ("response_p50_ns", &data["response_time"]["percentiles"][0]["value_ns"]),
        ] {
            let number: f64 = row[column(name)].parse().expect("the cell is a number");
            assert_eq!(Some(number), value.as_f64(), "{name} of load point {index}");
            compared += 1;
        }
    }
    assert_eq!(compared, 10, "five numbers of two load points");
}

#[test]
fn the_null_target_needs_no_files() {
    let dir = TestDir::new();
    dir.file("tiny.toml", TINY);
    let stdout = dir.ok(&["run", "null:", "-w", "tiny.toml", "--no-progress"]);
    assert!(stdout.contains("IOPS"), "{stdout}");
    let listed = dir.ok(&["list", "--json"]);
    let listed: serde_json::Value = serde_json::from_str(&listed).expect("the list is JSON");
    assert_eq!(listed[0]["target"], "null:");
    assert_eq!(listed[0]["state"], "done");
    assert_eq!(listed[0]["runs_done"], 2);
}

#[test]
fn settings_of_the_command_line_are_in_the_head_of_every_output() {
    let dir = TestDir::new();
    dir.file("tiny.toml", TINY);
    let set = ["--set", "transfer_size=8KiB", "--set", "queue_depth=2", "--interval", "50ms"];
    let run = ["run", "null:", "-w", "tiny.toml", "--no-progress"];
    let stdout = dir.ok(&[&run[..], &set[..]].concat());
    let words = "transfer_size=8KiB, queue_depth=2, run.interval=50ms";
    let head = format!("Overrides of tiny.toml: {words}\n");
    assert!(stdout.contains(&format!("\n{head}")), "{stdout}");
    let html = std::fs::read_to_string(report_of(&stdout)).expect("the report is there");
    let header = html.split("</header>").next().expect("there is a head");
    assert!(header.replace("&#x2f;", "/").contains(head.trim_end()), "{header}");
    let plan = dir.ok(&[&["plan", "null:", "-w", "tiny.toml"][..], &set[..]].concat());
    assert!(plan.contains(&format!("\noverrides   {words}\n")), "{plan}");
    assert!(dir.ok(&["list"]).contains(&format!(" with {words}\n")));
    let given = serde_json::json!(["transfer_size=8KiB", "queue_depth=2", "run.interval=50ms"]);
    for (arguments, at) in
        [(&["list", "--json"][..], "/0/overrides"), (&["show", "last", "--json"], "/overrides")]
    {
        let shown: serde_json::Value = serde_json::from_str(&dir.ok(arguments)).expect("JSON");
        assert_eq!(shown.pointer(at), Some(&given), "{arguments:?}");
    }
    // Without overrides there is no such line.
    let stdout = dir.ok(&run);
    assert!(!stdout.contains("Overrides"), "{stdout}");
}

#[test]
fn report_and_store_can_be_redirected() {
    let dir = TestDir::new();
    dir.file("tiny.toml", TINY);
    let run = ["run", "null:", "-w", "tiny.toml", "--store", "elsewhere", "--report", "my.html"];
    dir.ok(&run);
    assert!(dir.path().join("my.html").is_file());
    assert!(dir.path().join("elsewhere/runs").is_dir());
    assert!(!dir.store().exists());
    assert_eq!(dir.ok(&["list", "--store", "elsewhere"]).lines().count(), 3);
}

#[test]
fn events_are_one_json_object_a_line_and_the_table_goes_to_stderr() {
    let dir = TestDir::new();
    dir.file("tiny.toml", TINY);
    let ended = dir.run(&["run", "target", "-w", "tiny.toml", "--events", "jsonl", "--no-report"]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let events: Vec<serde_json::Value> = ended
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).expect("each line is JSON"))
        .collect();
    let count = |name: &str| events.iter().filter(|event| event["event"] == name).count();
    assert_eq!(count("run_started"), 2);
    assert_eq!(count("run_finished"), 2);
    assert!(count("interval") >= 6, "{} intervals", count("interval"));
    assert_eq!(count("finished"), 1);
    let last = events.last().expect("there are events");
    assert_eq!((&last["event"], &last["outcome"]), (&"finished".into(), &"done".into()));
    assert_eq!((&last["verdict"], &last["exit_code"]), (&"done".into(), &0.into()));
    assert!(ended.stderr.contains(last["record"].as_str().expect("an ID is text")));
    let shown: serde_json::Value =
        serde_json::from_str(&dir.ok(&["show", "last", "--json"])).expect("it is JSON");
    let codes = |warnings: &serde_json::Value| -> Vec<String> {
        let warnings = warnings.as_array().expect("a list").iter();
        warnings.map(|warning| warning["code"].to_string()).collect()
    };
    assert_eq!(codes(&last["warnings"]), codes(&shown["warnings"]));
    let interval = events.iter().find(|event| event["event"] == "interval").expect("counted above");
    assert!(interval["streams"][0]["kinds"][0]["service_time"]["mean_ns"].is_number());
    assert!(ended.stderr.contains("record"), "{}", ended.stderr);
}

#[test]
fn json_prints_the_results_and_nothing_else_on_stdout() {
    let dir = TestDir::new();
    dir.file("tiny.toml", TINY);
    let stdout = dir.ok(&["run", "null:", "-w", "tiny.toml", "--json", "--no-report"]);
    let json: serde_json::Value = serde_json::from_str(&stdout).expect("stdout is one JSON value");
    let fact = |name: &str| {
        let facts = json["environment"].as_array().expect("the environment is a list");
        let fact = facts.iter().find(|fact| fact["name"] == name);
        fact.unwrap_or_else(|| panic!("no {name}"))["value"].clone()
    };
    let experiment = dir.path().join("tiny.toml");
    let line = format!("fourcorners run null: --workload {}", experiment.display());
    assert_eq!(fact("command.line"), line.as_str());
    assert_eq!(fact("experiment.text"), TINY);
    assert_eq!(fact("fourcorners.version"), env!("CARGO_PKG_VERSION"));
    let build_id = fact("fourcorners.build_id");
    assert!(build_id.as_str().is_some_and(|id| id.len() >= 16), "{build_id}");
    assert_eq!(dir.ok(&["show", "last", "--json"]), stdout);
}

#[test]
fn both_engines_can_be_forced_and_are_named() {
    let dir = TestDir::new();
    dir.file("tiny.toml", TINY);
    for engine in ["io_uring", "psync"] {
        let ended =
            dir.run(&["run", "target", "-w", "tiny.toml", "--engine", engine, "--no-report"]);
        assert_eq!(ended.code, Some(0), "{engine}: {}", ended.stderr);
        assert!(ended.stderr.contains(&format!("engine: {engine}")), "{}", ended.stderr);
    }
}

#[test]
fn an_unreachable_offered_rate_is_a_negative_verdict() {
    let dir = TestDir::new();
    dir.file("tiny.toml", TINY);
    // A million synchronous random writes a second at queue depth 1 are more than any file system
    // makes durable.
    let ended = dir.run(&[
        "run",
        "target",
        "-w",
        "tiny.toml",
        "--no-report",
        "--set",
        "queue_depth=1",
        "--set",
        "read=0%",
        "--set",
        "dsync=true",
        "--set",
        "arrival.constant=1000k/s",
        "--measure",
        "1s",
    ]);
    assert_eq!(ended.code, Some(1), "{}\n{}", ended.stdout, ended.stderr);
    assert!(ended.stdout.contains("overloaded") || ended.stderr.contains("overloaded"));
}

#[test]
fn a_report_that_fails_at_the_end_leaves_the_table_and_the_record() {
    let dir = TestDir::new();
    dir.file("tiny.toml", TINY);
    let reports = dir.path().join("reports");
    std::fs::create_dir(&reports).unwrap();
    let arguments =
        ["run", "null:", "-w", "tiny.toml", "-v", "--report", "reports/r.html", "--measure", "1s"];
    let running = dir.start(&arguments);
    running.wait_for(" measure ");
    std::fs::remove_dir(&reports).unwrap();
    let ended = running.end();
    assert_eq!(ended.code, Some(3), "{}", ended.stderr);
    assert!(ended.stderr.contains("write reports/r.html"), "{}", ended.stderr);
    assert!(ended.stdout.contains("IOPS"), "{}", ended.stdout);
    assert!(dir.ok(&["list"]).contains(id_of(&ended.stdout)));
}

#[test]
fn unwritable_outputs_are_refused_before_anything_is_read_or_measured() {
    let dir = TestDir::new();
    dir.file("tiny.toml", TINY);
    dir.file("topology.toml", "not read");
    dir.file("file", "kept");
    for (arguments, word) in [
        (&["run", "target", "-w", "tiny.toml", "--report", "no/r.html"][..], "does not exist"),
        (&["run", "target", "-w", "tiny.toml", "--report", "target"], "directory"),
        (&["run", "target", "-w", "tiny.toml", "--report", "file/r.html"], "directory"),
        (&["run", "target", "-w", "tiny.toml", "--report", "-", "--json"], "--json"),
        (
            &["tune", "target", "--target-rate", "100ops/s", "--report", "no/r.html"],
            "does not exist",
        ),
        (&["report", "unread", "-o", "no/r.html"], "does not exist"),
        (&["report", "unread", "-o", "no/pictures", "--format", "png"], "does not exist"),
        (&["report", "unread", "-o", "file", "--format", "png"], "name a directory"),
        (&["report", "unread", "-o", "-", "--format", "md"], "name a directory"),
        (&["export", "unread", "--format", "csv", "-o", "no/r.csv"], "does not exist"),
        (&["predict", "topology.toml", "--report", "no/r.html"], "does not exist"),
        (&["predict", "topology.toml", "--report", "r.txt"], ".html or .md"),
        (&["expect", "--run", "unread", "--report", "no/r.html"], "does not exist"),
        (&["size", "--throughput", "1GiB/s", "--report", "no/r.html"], "does not exist"),
        (&["avs", "--rvtools", "unread", "--placement", "no/p.csv"], "does not exist"),
    ] {
        let ended = dir.run(arguments);
        assert_eq!(ended.code, Some(2), "{arguments:?}: {}", ended.stderr);
        assert!(ended.stderr.contains("write "), "{arguments:?}: {}", ended.stderr);
        assert!(ended.stderr.contains(word), "{arguments:?}: {}", ended.stderr);
    }
    let ended = dir.run(&["run", "target", "-w", "tiny.toml", "--store", "file"]);
    assert_eq!(ended.code, Some(2), "{}", ended.stderr);
    assert!(ended.stderr.contains("store"), "{}", ended.stderr);
    assert_eq!(std::fs::read_to_string(dir.path().join("file")).unwrap(), "kept");
    assert!(!dir.path().join("no").exists());
    assert_eq!(std::fs::read_dir(dir.target()).unwrap().count(), 0, "nothing was prepared");
}

#[test]
fn a_store_that_cannot_be_written_is_refused_before_the_target_is_touched() {
    let mut dir = TestDir::new();
    dir.file("tiny.toml", TINY);
    dir.ok(&["run", "null:", "-w", "tiny.toml"]);
    let anyone = std::os::unix::fs::PermissionsExt::from_mode(0o777);
    std::fs::set_permissions(dir.target(), anyone).unwrap();
    // Root may write everywhere.
    let mut unprivileged = std::process::Command::new("setpriv");
    unprivileged.args(["--reuid=65534", "--regid=65534", "--clear-groups", "--"]);
    unprivileged.arg(env!("CARGO_BIN_EXE_fourcorners"));
    dir.enter(unprivileged);
    let ended = dir.run(&["run", "target", "-w", "tiny.toml"]);
    assert_eq!(ended.code, Some(2), "{}", ended.stderr);
    assert!(ended.stderr.contains("store"), "{}", ended.stderr);
    assert_eq!(std::fs::read_dir(dir.target()).unwrap().count(), 0, "nothing was prepared");
}

#[test]
fn a_command_that_only_reads_creates_no_store() {
    let dir = TestDir::new();
    dir.file("tiny.toml", TINY);
    for (arguments, code) in [
        (&["list", "--store", "elsewhere"][..], 0),
        (&["list", "--json", "--store", "elsewhere"], 0),
        (&["show", "last", "--store", "elsewhere"], 2),
        (&["export", "last", "--format", "csv", "--store", "elsewhere"], 2),
        (&["report", "last", "--format", "png", "-o", "pictures", "--store", "elsewhere"], 2),
        (&["compare", "a", "b", "--store", "elsewhere"], 2),
        (&["plan", "target", "-w", "tiny.toml"], 0),
    ] {
        let ended = dir.run(arguments);
        assert_eq!(ended.code, Some(code), "{arguments:?}: {}", ended.stderr);
        for made in ["elsewhere", "store", "pictures"] {
            assert!(!dir.path().join(made).exists(), "{arguments:?} made {made}");
        }
    }
}

#[test]
fn a_report_goes_to_stdout_to_a_pipe_and_through_a_link() {
    let dir = TestDir::new();
    dir.file("tiny.toml", TINY);
    let ended = dir.run(&["run", "null:", "-w", "tiny.toml", "--report", "-"]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(ended.stdout.trim_end().ends_with("</html>"), "the page alone is on stdout");
    assert!(ended.stderr.contains("IOPS"), "the table is on stderr: {}", ended.stderr);
    let page = dir.ok(&["report", "last", "-o", "-"]);
    assert!(page.trim_end().ends_with("</html>"), "nothing follows the page");
    let csv = dir.ok(&["export", "last", "--format", "csv"]);
    assert_eq!(dir.ok(&["export", "last", "--format", "csv", "-o", "/dev/stdout"]), csv);

    let pipe = dir.path().join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status().expect("start mkfifo");
    assert!(made.success());
    let writing = dir.start(&["export", "last", "--format", "csv", "-o", "pipe"]);
    assert_eq!(std::fs::read_to_string(&pipe).unwrap(), csv);
    assert_eq!(writing.end().code, Some(0));

    dir.file("kept.csv", "old");
    std::os::unix::fs::symlink("kept.csv", dir.path().join("latest.csv")).unwrap();
    dir.ok(&["export", "last", "--format", "csv", "-o", "latest.csv"]);
    assert_eq!(std::fs::read_to_string(dir.path().join("kept.csv")).unwrap(), csv);
}

#[test]
fn more_pinned_workers_than_processors_are_reported() {
    let dir = TestDir::new();
    dir.file("tiny.toml", TINY);
    let arguments = ["null:", "-w", "tiny.toml", "--pin", "--set", "workers=1000"];
    let plan = dir.run(&[&["plan"], &arguments[..]].concat());
    assert_eq!(plan.code, Some(0), "{}", plan.stderr);
    assert!(plan.stdout.contains("pinned to processors in turn: 1,000 workers share"), "{plan:?}");
    assert!(plan.stderr.contains("1,000 workers share"), "{}", plan.stderr);
    let one = dir.run(&["plan", "null:", "-w", "tiny.toml", "--pin"]);
    assert!(one.stdout.contains("each pinned to a separate processor"), "{}", one.stdout);
    assert!(!one.stderr.contains("share"), "{}", one.stderr);
}
