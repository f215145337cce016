//! Profiles from the command line: listed, run for real, on one target or on several volumes, and refused.

use std::fmt::Write;
use std::path::Path;

use units::{counted, print_whole_seconds};
use workload::profiles::{Group, PROFILES};

use crate::harness::TestDir;

/// What makes a run short.
const SHORT: [&str; 7] =
    ["--warm-up", "100ms", "--measure", "200ms", "--interval", "100ms", "--no-report"];

fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn the_list_has_groups_space_inodes_and_time_within_80_columns() {
    let dir = TestDir::new();
    let list = dir.ok(&["profiles"]);
    assert!(list.lines().all(|line| line.chars().count() <= 80), "{list}");
    for group in Group::ALL {
        assert!(list.lines().any(|line| line == group.title()), "{}", group.title());
    }
    let shown = words(&list);
    assert!(shown.contains("four-corners 1 GiB, 4 inodes; 16 load points, 2m8s"), "{list}");
    assert!(
        shown.contains("mysql-like 2.19 GiB, 6 inodes on 2 volumes; 1 load point, 1m5s"),
        "{list}"
    );
    let json: serde_json::Value =
        serde_json::from_str(&dir.ok(&["profiles", "--json"])).expect("it is JSON");
    let names: Vec<&str> =
        json.as_array().expect("a list").iter().filter_map(|one| one["name"].as_str()).collect();
    assert_eq!(names, PROFILES.iter().map(|profile| profile.name).collect::<Vec<_>>());
    assert_eq!(json[0]["bytes"], 1 << 30);
    assert_eq!(json[0]["seconds"], 128.0);
}

#[test]
fn every_application_runs_with_all_its_load_points() {
    let dir = TestDir::new();
    for profile in PROFILES.iter().filter(|profile| profile.group != Group::Synthetic) {
        let run = [&["run", "null:", "-p", profile.name, "--json"][..], &SHORT].concat();
        let shown: serde_json::Value =
            serde_json::from_str(&dir.measured(&run)).expect("the results are JSON");
        let points = shown["load_points"].as_array().expect("load points").len();
        assert_eq!(points, profile.requirements().load_points, "{}", profile.name);
        assert_eq!(shown["outcome"]["outcome"], "done", "{}: {}", profile.name, shown["outcome"]);
    }
}

#[test]
fn applications_run_on_a_directory() {
    let dir = TestDir::new();
    for (name, more) in [
        ("oltp", &["--working-set", "24MiB", "--set", "data.queue_depth=4"][..]),
        ("etcd", &[]),
        ("checkpoint", &["--working-set", "64MiB"]),
        ("software-build", &["--set", "build.names.files=1000"]),
        ("eda-like", &["--set", "random.file_size=1MiB", "--set", "backend.files=4"]),
    ] {
        let run = [&["run", "target", "-p", name][..], more, &SHORT].concat();
        dir.measured(&run);
    }
}

/// The small files of a profile with two volumes.
const SMALL_MYSQL: [&str; 6] = [
    "--set",
    "pages.file_size=1MiB",
    "--set",
    "redo.file_size=1MiB",
    "--set",
    "doublewrite.file_size=2MiB",
];

#[test]
fn the_volumes_of_a_profile_are_the_locations_of_the_command_line() {
    let dir = TestDir::new();
    for folder in ["fast", "durable"] {
        std::fs::create_dir(dir.path().join(folder)).expect("make a directory");
    }
    let locations = ["--set", "target.data.location=fast", "--set", "target.log.location=durable"];
    let run = [&["run", "-p", "mysql-like"][..], &locations, &SMALL_MYSQL, &SHORT].concat();
    dir.measured(&run);
    let files = |folder: &str| -> Vec<String> {
        let folder = dir.path().join(folder).join("fourcorners");
        let entries = std::fs::read_dir(folder).expect("the target has files");
        let mut names: Vec<String> = entries
            .map(|one| one.expect("an entry").file_name().into_string().expect("a name"))
            .collect();
        names.retain(|name| !name.starts_with('.'));
        names.sort();
        names
    };
    let (fast, durable) = (files("fast"), files("durable"));
    assert!(fast.iter().all(|name| name.starts_with("pages-")) && fast.len() == 4, "{fast:?}");
    assert!(durable.iter().any(|name| name.starts_with("redo-")), "{durable:?}");
    assert!(durable.iter().any(|name| name.starts_with("doublewrite-")), "{durable:?}");
}

#[test]
fn one_target_takes_all_streams_of_a_profile_and_the_plan_says_so() {
    let dir = TestDir::new();
    let plan = [&["plan", "target", "-p", "mysql-like"][..], &SMALL_MYSQL].concat();
    let ended = dir.run(&plan);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let said = words(&ended.stderr);
    assert!(said.contains("one instead of 2 (--set target.NAME.location=TARGET)"), "{said}");
    let shown = words(&ended.stdout);
    for stream in ["files pages: 4 x 1 MiB", "files redo: 1 x 1 MiB", "doublewrite: 1 x 2 MiB"] {
        assert!(shown.contains(stream), "{stream}: {shown}");
    }
}

#[test]
fn what_does_not_fit_a_profile_is_refused_with_a_remedy_before_anything_is_written() {
    let dir = TestDir::new();
    for (arguments, said) in [
        (
            &["-p", "sql-server"][..],
            "did you mean `sql-server-like`? what to do: `fourcorners profiles` lists them",
        ),
        (&["-p", "oltp", "--working-set", "600TiB"], "--ignore-free-space"),
        (&["-p", "software-build", "--set", "build.names.files=10"], "`files` of at least 81"),
        (
            &["-p", "software-build", "--set", "mix={ create = '2%', stat = '98%' }"],
            "hint: set `unlink = \"2%\"`",
        ),
        (&["-p", "software-build", "--set", "mix={ stat = '90%' }"], "do not add up to 100 %"),
        (&["-p", "mysql-like", "--set", "target.logs.location=x"], "unknown target"),
        (&["-p", "oltp", "--set", "user_count=10"], "unknown key in a stream"),
    ] {
        let ended = dir.run(&[&["run", "target"][..], arguments, &SHORT].concat());
        assert_eq!(ended.code, Some(2), "{arguments:?}: {}{}", ended.stdout, ended.stderr);
        let message = words(&ended.stderr);
        assert!(message.contains(said), "{arguments:?}: {message}");
        assert!(!dir.target().join("fourcorners").exists(), "{arguments:?} wrote files");
    }
}

/// The lines around the generated tables of the guide.
const START: &str = "<!-- The tables are generated: crates/cli/tests/program/profiles.rs -->\n";
const END: &str = "<!-- The end of the tables -->";

/// The tables of the guide.
fn tables() -> String {
    let mut out = String::new();
    for group in Group::ALL {
        write!(out, "\n### {}\n\n", group.title()).expect("write to a string");
        out.push_str("| profile | what it measures | needs | takes |\n| --- | --- | --- | --- |\n");
        for profile in PROFILES.iter().filter(|profile| profile.group == group) {
            let (name, purpose) = (profile.name, profile.purpose());
            let required = profile.requirements();
            let inodes = counted(required.inodes, "inode");
            let (size, time) = (required.bytes, print_whole_seconds(required.time));
            writeln!(out, "| `{name}` | {purpose} | {size}, {inodes} | {time} |")
                .expect("write to a string");
        }
    }
    out.push('\n');
    out
}

#[test]
fn the_guide_has_every_profile_with_what_it_requires() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide/profiles.md");
    let page = std::fs::read_to_string(&path).expect("read the guide");
    let start = page.find(START).expect("the page has the start of the tables") + START.len();
    let end = page.find(END).expect("the page has the end of the tables");
    let expected = format!("{}{}{}", &page[..start], tables(), &page[end..]);
    expect_test::expect_file![path].assert_eq(&expected);
}
