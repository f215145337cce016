//! `--working-set` spreads a size over the files, and results from a small one on a file server have
//! a caveat. What a run leaves on its target, and the command that removes it.

use crate::harness::TestDir;
use crate::runs::TINY;
use crate::servers::Service;

/// Two streams: the second has three quarters of the data.
const TWO_STREAMS: &str = r#"
name = "two"

[run]
measure = "200ms"
interval = "100ms"

[stream.log]
read = "0%"
transfer_size = "64KiB"
pattern = "sequential"
files = 1
file_size = "1GiB"
queue_depth = 1

[stream.data]
read = "100%"
transfer_size = "8KiB"
pattern = "random"
files = 3
file_size = "1GiB"
queue_depth = 1
"#;

/// The words of `plan`, whatever the lines are broken at.
fn planned(dir: &TestDir, more: &[&str]) -> String {
    let shown = dir.ok(&[&["plan", "target", "--ignore-free-space"], more].concat());
    shown.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The message of a refused plan.
fn refused(dir: &TestDir, more: &[&str]) -> String {
    let ended = dir.run(&[&["plan", "target"], more].concat());
    assert_eq!(ended.code, Some(2), "{more:?}: {}", ended.stdout);
    ended.stderr.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_working_set_is_spread_over_files_of_at_most_64_gib() {
    let dir = TestDir::new();
    let shown = planned(&dir, &["--working-set", "1TiB"]);
    assert!(shown.contains("files corner: 16 x 64 GiB = 1 TiB"), "{shown}");
    assert!(shown.contains("1 TiB in 16 files to write"), "{shown}");
    // With less there are as many files as in the experiment.
    let shown = planned(&dir, &["--working-set", "2GiB"]);
    assert!(shown.contains("files corner: 4 x 512 MiB = 2 GiB"), "{shown}");
}

#[test]
fn each_stream_keeps_its_share_of_the_working_set() {
    let dir = TestDir::new();
    dir.file("two.toml", TWO_STREAMS);
    let shown = planned(&dir, &["-w", "two.toml", "--working-set", "1TiB"]);
    assert!(shown.contains("files log: 4 x 64 GiB = 256 GiB"), "{shown}");
    assert!(shown.contains("files data: 12 x 64 GiB = 768 GiB"), "{shown}");
}

#[test]
fn a_run_fills_and_measures_the_working_set() {
    let dir = TestDir::new();
    dir.file("tiny.toml", TINY);
    dir.ok(&["run", "target", "-w", "tiny.toml", "--no-report", "--working-set", "8MiB"]);
    let file = dir.target().join("fourcorners/main-8388608-0000.data");
    assert_eq!(std::fs::metadata(file).expect("the file exists").len(), 8 << 20);
}

#[test]
fn a_working_set_that_does_not_fit_the_experiment_is_refused() {
    let dir = TestDir::new();
    dir.file("two.toml", TWO_STREAMS);
    let sizes = TINY.replace(r#"file_size = "1MiB""#, r#"file_size = ["1MiB", "2MiB"]"#);
    dir.file("sizes.toml", &sizes);
    dir.file("area.toml", &TINY.replace("files = 1", "files = 1\narea = \"512KiB\""));
    for (more, words) in [
        (&["--working-set", "4KiB"][..], "at least 256 KiB"),
        (&["--working-set", "much"], "--working-set"),
        (&["--working-set", "1TiB", "--set", "file_size=1GiB"], "leave one of them out"),
        (&["--working-set", "1TiB", "--set", "corner.files=2"], "leave one of them out"),
        (&["--working-set", "200KiB", "-w", "two.toml"], "at least 256 KiB"),
        (&["--working-set", "1GiB", "-w", "sizes.toml"], "differ in the number or size"),
        (&["--working-set", "1GiB", "-w", "area.toml"], "only the `area` of its files"),
        (&["--working-set", "1EiB"], "1EiB"),
    ] {
        let message = refused(&dir, more);
        assert!(message.contains(words), "{more:?}: {message}");
    }
}

#[test]
fn a_small_working_set_on_a_file_server_is_a_caveat_and_on_the_emulated_volume_not() {
    let dir = TestDir::new();
    dir.file("tiny.toml", TINY);
    let service = Service::start(&dir, "127.0.0.1:0");
    let run = |target: &[&str]| {
        let fixed = ["run", "-w", "tiny.toml", "--no-report", "--json", "--no-progress"];
        dir.ok(&[&fixed, target].concat())
    };
    let url = service.url();
    assert!(run(&[&url]).contains("working_set_fits_server_cache"));
    assert!(!run(&[]).contains("working_set_fits_server_cache"));
    service.kill();
}

#[test]
fn a_run_names_the_files_it_leaves_and_the_command_that_removes_them() {
    let dir = TestDir::new();
    dir.file("tiny.toml", TINY);
    let left = |more: &[&str]| {
        let fixed = ["run", "-w", "tiny.toml", "--no-report", "--no-progress"];
        let shown = dir.ok(&[&fixed, more].concat());
        shown.lines().find(|line| line.starts_with("left ")).map(str::to_owned)
    };
    assert_eq!(left(&["null:"]), None);
    assert_eq!(left(&[]), None, "the emulated volume ends with the run");
    let of_one = left(&["target"]).expect("a file is left");
    assert!(of_one.contains("1 MiB in 1 file; to remove: fourcorners clean target"), "{of_one}");
    // Files of other experiments are removed by the command too.
    let of_two = left(&["target", "--set", "file_size=2MiB"]).expect("files are left");
    assert!(of_two.contains("3 MiB in 2 files; to remove:"), "{of_two}");
    let command = of_two.split("fourcorners ").nth(1).expect("a command");
    let removed = dir.ok(&command.split(' ').collect::<Vec<_>>());
    assert!(removed.contains("removed 2 files (3 MiB)"), "{removed}");
}
