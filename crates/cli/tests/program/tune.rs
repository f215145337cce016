//! `tune` on volumes with known delays and limits.

use serde_json::Value;

use crate::harness::TestDir;

/// Short phases, and files that are filled immediately.
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

fn tune(dir: &TestDir, measure: &str, arguments: &[&str]) -> crate::harness::Ended {
    let measure = ["tune", "--measure", measure];
    let all: Vec<&str> = measure.into_iter().chain(arguments.iter().copied()).collect();
    dir.run(&[&all[..], &SHORT[..]].concat())
}

fn shown(dir: &TestDir) -> Value {
    let json = dir.ok(&["show", "last", "--json"]);
    let shown: Value = serde_json::from_str(&json).expect("it is JSON");
    shown["tune"].clone()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

/// The lines below the one that holds `words`, without their indent, as far as they are one block.
fn block_below(text: &str, words: &str) -> String {
    let lines = text.lines().skip_while(|line| !line.contains(words)).skip(1);
    // The sentence may continue.
    let lines = lines.skip_while(|line| !line.starts_with("    "));
    let lines: Vec<&str> =
        lines.take_while(|line| line.starts_with("    ")).map(|line| line.trim_start()).collect();
    lines.join("\n")
}

#[test]
fn half_of_a_volumes_limit_needs_the_concurrency_of_littles_law() {
    let dir = TestDir::new();
    let limit = format!("{LIMIT_MIB}MiB/s");
    let serving = dir.start(&[
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
    let arguments = [&target, "--target-rate", &want, "--clients", "2", "--workers", "7"];
    let ended = tune(&dir, "3s", &arguments);
    assert_eq!(ended.code, Some(0), "{}\n{}", ended.stdout, ended.stderr);
    let wide = ended.stdout.lines().find(|line| line.chars().count() > 80);
    // The record's name is a word that cannot be broken.
    let is_copied = |line: &str| line.starts_with("record") || line.starts_with("left");
    assert!(wide.is_none_or(is_copied), "{}", ended.stdout);
    assert!(ended.stdout.lines().count() <= 40, "{}", ended.stdout);
    let full = dir.ok(&["show", "last", "--full"]);
    let flat = full.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat.contains("Little's law, outstanding = rate x response time"), "{flat}");
    assert!(flat.contains("outstanding are too few"), "{flat}");

    let found = shown(&dir);
    assert_eq!(found["verdict"], "reached");
    let enough = number(&found["enough"]["outstanding"]);
    let little = number(&found["arithmetic"]["outstanding"]);
    assert!((enough - little).abs() <= 1.0, "{enough}, and Little's law says {little}");
    assert_eq!(number(&found["too_little"]["outstanding"]), enough - 1.0);
    // Unpaced the throughput is higher, because the number of operations is whole; paced it is the
    // target.
    let paced = &found["paced"];
    let landed = if paced.is_null() { &found["enough"] } else { paced };
    let landed_mib = number(&landed["throughput_bytes_per_sec"]["value"]) / 1_048_576.0;
    assert!((landed_mib / wanted_mib - 1.0).abs() <= 0.03, "{landed_mib} MiB/s");

    // The settings for each of two hosts are an experiment with that many outstanding operations.
    let experiment = block_below(&full, "tuned.toml");
    dir.file("tuned.toml", &experiment);
    let plan = dir.ok(&["plan", &target, "-w", "tuned.toml", "--json"]);
    let plan: Value = serde_json::from_str(&plan).expect("it is JSON");
    let stream = &plan["steps"][0]["fixed"]["streams"][0];
    let here = number(&stream["queue_depth"]) * number(&stream["workers"]);
    assert_eq!(here, (enough / 2.0).ceil(), "{experiment}");
    assert_eq!(number(&stream["workers"]), here, "up to seven workers share them evenly");
    assert_eq!(stream["transfer_sizes"][0]["size_bytes"], 65_536);

    serving.signal("INT");
    assert_eq!(serving.end().code, Some(0));
}

#[test]
fn a_rate_above_the_volumes_limit_names_the_limit_and_the_required_quota() {
    let dir = TestDir::new();
    let ended = tune(&dir, "1500ms", &["--target-rate", "200MiB/s", "--transfer-size", "1MiB"]);
    assert_eq!(ended.code, Some(1), "{}\n{}", ended.stdout, ended.stderr);
    let flat = ended.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    for words in [
        "cannot be reached with more concurrency",
        "Limited by the volume's throughput limit",
        "Lowest quota for 200 MiB/s:",
        "ultra 1.56 TiB",
    ] {
        assert!(flat.contains(words), "{words}: {}", ended.stdout);
    }
    let found = shown(&dir);
    assert_eq!(found["verdict"], "saturated");
    assert_eq!(found["limited_by"]["limits"][0], "volume_throughput");
    assert!(found["settings"].is_null());
}

#[test]
fn invalid_targets_are_refused_before_anything_is_done() {
    let dir = TestDir::new();
    dir.file("users.toml", USERS);
    for (arguments, words) in [
        (&["--target-rate", "200"][..], "without a unit this could be operations or bytes"),
        (&["--target-rate", "0/s"], "the rate is 0"),
        (&[], "--target-rate"),
        (&["--target-rate", "200MiB/s", "--read", "150%"], "a share from 0 % to 100 %"),
        (&["--target-rate", "200MiB/s", "--transfer-size", "1000"], "a multiple of 512"),
        (&["--target-rate", "200MiB/s", "--transfer-size", "8k,64k"], "several values"),
        (&["--target-rate", "20GiB/s"], "no service level gives a volume more than"),
        (&["--target-rate", "1/s", "--queue-depth-max", "129"], "slots for 128 calls"),
        (
            &["null:", "--target-rate", "1/s", "--queue-depth-max", "5000"],
            "a worker has at most 4096",
        ),
        (&["--target-rate", "1/s", "--repeats", "2"], "`tune` chooses its load points"),
        (&["--target-rate", "1/s", "--set", "search.step=4"], "chooses its load points"),
        (
            &["--target-rate", "1/s", "--profile", "curve"],
            "several values of a setting, or variants",
        ),
        (&["--target-rate", "1/s", "--profile", "eda-like"], "`tune` measures one stream"),
        (&["--target-rate", "1/s", "-w", "users.toml"], "users.toml:4"),
        (&["--target-rate", "200MiB/s", "--mix", "stat"], "move no data"),
        (&["--target-rate", "1/s", "--mix", "creat=50%,unlink=50%"], "did you mean `create`"),
        (&["--target-rate", "1/s", "--mix", "create=50%,unlink=40%"], "a sum of 100 %"),
        (&["--target-rate", "1/s", "--mix", "create=40%,unlink=60%"], "removes more names than"),
        (&["--target-rate", "1/s", "--mix", "stat", "--read", "70%"], "`names` and `read`"),
        (
            &[
                "--target-rate",
                "1/s",
                "--mix",
                "copy=50%,unlink=50%",
                "--files",
                "2000",
                "-o",
                "nconnect=8",
            ],
            "use at least 5,501 files",
        ),
        (&["--target-rate", "1/s", "--within", "60%"], "0%"),
        (&["--target-rate", "1/s", "--response-time", "2"], "a duration such as"),
        // The former names of the flags.
        (&["--want", "1/s", "--outstanding-at-most", "129"], "slots for 128 calls"),
        (&["--want", "1/s", "--response-time-at-most", "2"], "a duration such as"),
        (&["/nowhere", "--target-rate", "1/s", "--nconnect", "4"], "nconnect"),
        (&["/nowhere", "--target-rate", "1/s"], "/nowhere"),
    ] {
        let all: Vec<&str> = ["tune"].into_iter().chain(arguments.iter().copied()).collect();
        let ended = dir.run(&all);
        assert_eq!(ended.code, Some(2), "{arguments:?}: {}", ended.stderr);
        let flat = ended.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(flat.contains(words), "{arguments:?}: {}", ended.stderr);
    }
    assert!(!dir.store().exists());
}

/// A load without a queue depth.
const USERS: &str = r#"name = "users"
[stream.home]
names = { files = 4000 }
users = 10
cycle = "1s"
scenario = [{ stat = 4 }]
"#;

#[test]
fn flags_change_the_tree_of_an_experiment_that_has_no_queue_depth() {
    let dir = TestDir::new();
    let mix = "mix = { create = \"50%\", unlink = \"50%\" }";
    dir.file(
        "names.toml",
        &format!("name = \"n\"\n[stream.s]\nnames = {{ files = 4000 }}\n{mix}\n"),
    );
    let tune = ["tune", "null:", "--target-rate", "100/s", "-w", "names.toml", "--files", "9000"];
    let short = ["--warm-up", "0s", "--interval", "100ms", "--measure", "300ms", "--no-report"];
    let text = dir.measured(&[&tune[..], &short].concat());
    assert!(text.contains("queue depth 1"), "{text}");
    let text = dir.ok(&["show", "last", "--full"]);
    assert!(text.contains("files = 9000"), "{text}");
}

#[test]
fn a_rate_of_operations_on_names_needs_the_concurrency_of_littles_law() {
    let dir = TestDir::new();
    let serve = ["volume", "serve", "--address", "127.0.0.1:0", "--metrics", "none"];
    let serving = dir.start(&[&serve[..], &["--read-delay", "40ms"]].concat());
    let line = serving.wait_for("nfs://");
    let at = line.find("nfs://").expect("it was waited for");
    let target = line[at..].split_whitespace().next().expect("there is a URL").to_owned();
    // Each operation is one call, which takes 40 ms: two outstanding give 50 per second, three 75.
    let mix = "lookup=98%,create=1%,unlink=1%";
    let load = ["--mix", mix, "--files", "40", "--set", "names.depth=0", "--queue-depth-max", "4"];
    let short = ["--warm-up", "250ms", "--interval", "250ms", "--measure", "1500ms", "--no-report"];
    let tune = ["tune", &target, "--target-rate", "62/s", "--no-progress"];
    let ended = dir.run(&[&tune[..], &load, &short].concat());
    assert_eq!(ended.code, Some(0), "{}\n{}", ended.stdout, ended.stderr);
    assert!(ended.stdout.contains("62.0 ops/s needs 3 in flight"), "{}", ended.stdout);
    assert!(ended.stdout.lines().count() <= 40, "{}", ended.stdout);
    let full = dir.ok(&["show", "last", "--full"]);
    let about = &full[full.find("Tuning for").expect("a section")..];
    let about = &about[..about.find("\nSummary").expect("the next section")];
    for text in [&ended.stdout[..], about] {
        assert!(!text.contains("MiB/s") && !text.contains("IOPS"), "{text}");
    }
    let found = shown(&dir);
    assert_eq!(found["verdict"], "reached");
    assert_eq!(number(&found["enough"]["outstanding"]), 3.0);
    assert_eq!(number(&found["too_little"]["outstanding"]), 2.0);
    let little = number(&found["arithmetic"]["outstanding"]);
    assert!((2.48..3.0).contains(&little), "62/s x 40 ms and more: {little}");
    assert!(found["enough"]["throughput_bytes_per_sec"].is_null(), "{found}");

    // The printed experiment is that load, and runs.
    let experiment = block_below(&full, "tuned.toml");
    dir.file("tuned.toml", &experiment);
    dir.measured(&[&["run", &target, "-w", "tuned.toml"][..], &short].concat());
    let ran: Value = serde_json::from_str(&dir.ok(&["show", "last", "--json"])).expect("JSON");
    let point = &ran["load_points"][0];
    assert_eq!(number(&point["queue_depth_total"]), 3.0, "{experiment}");
    serving.signal("INT");
    assert_eq!(serving.end().code, Some(0));
}

#[test]
fn a_rate_above_the_generators_limit_ends_with_that_limit() {
    let dir = TestDir::new();
    let ended = tune(&dir, "500ms", &["null:", "--target-rate", "900M ops/s"]);
    assert_eq!(ended.code, Some(1), "{}\n{}", ended.stdout, ended.stderr);
    assert!(shown(&dir)["verdict"] != "reached");
    assert!(ended.stdout.contains("900,000,000 ops/s"), "{}", ended.stdout);
}
