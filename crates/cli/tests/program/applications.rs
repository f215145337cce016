//! Real programs, traced by strace as the guide states and characterised by `observe`. The comparison
//! of databases and a large build with their profiles is `docs/validation-profiles.md`.

use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::harness::TestDir;

/// Sources of the project, each of which includes one header.
const SOURCES: usize = 4;
/// Transactions of the database, each of which changes one row.
const TRANSACTIONS: u64 = 50;
/// The largest difference between an application and its profile, as in `docs/validation-profiles.md`.
const TOLERANCE: f64 = 0.15;

/// What a command did below `under`, characterised by `observe`.
///
/// * `codes` - the exit codes with which it may end
fn observed(dir: &TestDir, under: &Path, command: &Command, codes: &[i32]) -> Value {
    let trace = "app.strace";
    let mut strace = Command::new("strace");
    strace.args(["-f", "-ttt", "-T", "-y", "-o", trace]);
    strace.arg(command.get_program()).args(command.get_args()).current_dir(dir.path());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => strace.env(name, value),
            None => strace.env_remove(name),
        };
    }
    let ended = strace.stdin(Stdio::null()).output().expect("start strace");
    let messages = String::from_utf8_lossy(&ended.stderr);
    assert!(ended.status.code().is_some_and(|code| codes.contains(&code)), "{messages}");
    let under = under.to_str().expect("UTF-8");
    let shown = dir.ok(&["observe", trace, "--under", under, "--json"]);
    let json: Value = serde_json::from_str(&shown).expect("JSON");
    assert_eq!(json["damaged_records"], 0, "{json}");
    json
}

/// The number of other operations with one of these names, and of those with a response time.
fn count(json: &Value, names: &[&str]) -> (u64, u64) {
    let calls = json["others"].as_array().expect("calls");
    let named = calls.iter().filter(|call| names.iter().any(|name| call["name"] == *name));
    named.fold((0, 0), |(operations, samples), call| {
        let timed = call["response_time"]["samples"].as_u64().unwrap_or(0);
        (operations + call["operations"].as_u64().unwrap_or(0), samples + timed)
    })
}

fn syncs(json: &Value) -> u64 {
    count(json, &["fsync", "fdatasync"]).0
}

/// The mean size of a write, and the number of syncs for each.
fn shape(json: &Value) -> [f64; 2] {
    let writes = number(&json["writes"]["operations"]) as f64;
    let sizes = json["writes"]["sizes"].as_array().expect("sizes");
    let of_size = |size: &Value| number(&size["size_bytes"]) * number(&size["operations"]);
    let bytes: u64 = sizes.iter().map(of_size).sum();
    [bytes as f64 / writes, syncs(json) as f64 / writes]
}

fn number(value: &Value) -> u64 {
    value.as_u64().expect("a count")
}

#[test]
fn a_build_is_observed_with_its_sources_objects_and_calls_on_relative_paths() {
    let dir = TestDir::new();
    let project = dir.target().join("project");
    std::fs::create_dir(&project).expect("make the project");
    std::fs::write(project.join("all.h"), "int one(void);\n").expect("write a header");
    for number in 0..SOURCES {
        let text = format!("#include \"all.h\"\nint f{number}(void) {{ return {number}; }}\n");
        std::fs::write(project.join(format!("f{number}.c")), text).expect("write a source");
    }
    let script = "cd target/project && git init -q . && git add . && mkdir objects && cd objects && \
                  for source in ../*.c; do cc -c -I.. \"$source\"; done && rm f0.o";
    let mut build = Command::new("sh");
    build.args(["-c", script]).env("GIT_CONFIG_GLOBAL", "/dev/null");
    let json = observed(&dir, &project, &build, &[0]);
    let files = json["working_set"]["most_accessed_files"].as_array().expect("files");
    let has = |end: &str| files.iter().any(|file| file["name"].as_str().unwrap().ends_with(end));
    for number in 0..SOURCES {
        for file in [format!("project/f{number}.c"), format!("objects/f{number}.o")] {
            assert!(has(&file), "{file}: {json}");
        }
    }
    assert!(has("project/all.h"), "{json}");
    // `mkdir objects` and `rm f0.o` have no absolute path; git makes directories and removes files too.
    for names in [&["mkdir", "mkdirat"][..], &["unlink", "unlinkat"], &["open"], &["newfstatat"]] {
        let (operations, samples) = count(&json, names);
        assert!(operations > 0 && samples == operations, "{names:?}: {json}");
    }
}

#[test]
fn a_database_is_observed_with_a_journal_for_each_transaction() {
    let dir = TestDir::new();
    // By default SQLite makes a journal before a transaction, syncs it and the database, and removes it.
    let mut statements = "CREATE TABLE t (text TEXT);".to_owned();
    statements.push_str(&"INSERT INTO t VALUES ('text');".repeat(TRANSACTIONS as usize - 1));
    let mut database = Command::new("sqlite3");
    database.args(["target/app.db", &statements]);
    let json = observed(&dir, &dir.target(), &database, &[0]);
    let (removed, timed) = count(&json, &["unlink", "unlinkat"]);
    assert_eq!((removed, timed), (TRANSACTIONS, TRANSACTIONS), "{json}");
    assert!(syncs(&json) >= 2 * TRANSACTIONS, "{json}");
    // Each transaction writes at least its header and page of the journal, and a page.
    assert!(number(&json["writes"]["operations"]) >= 3 * TRANSACTIONS, "{json}");
}

#[test]
fn the_log_of_etcd_has_the_shape_of_its_profile() {
    let dir = TestDir::new();
    let job = "--name=wal --rw=write --ioengine=sync --fdatasync=1 --size=460k --bs=2300 --thread";
    let mut fio = Command::new("fio");
    fio.arg("--directory=target").args(job.split(' '));
    let application = observed(&dir, &dir.target(), &fio, &[0]);
    let writes = number(&application["writes"]["operations"]);
    assert_eq!((writes, number(&application["reads"]["operations"])), (204, 0), "{application}");
    assert_eq!(application["writes"]["sequential"], writes - 1, "{application}");

    // A target with files of others is refused.
    std::fs::remove_file(dir.target().join("wal.0.0")).expect("remove fio's file");
    let run = "run target -p etcd --warm-up 0s --measure 1s --engine psync";
    let run: Vec<&str> = run.split(' ').collect();
    // The first run writes the files, which is no part of the shape.
    dir.measured(&run);
    // Exit code 1: the disk of this machine does not meet etcd's requirement.
    let profile = observed(&dir, &dir.target(), &dir.command(&run), &[0, 1]);
    assert_eq!(profile["in_flight"]["max"], application["in_flight"]["max"], "{profile}");
    for (ours, real) in shape(&profile).into_iter().zip(shape(&application)) {
        assert!((ours / real - 1.0).abs() <= TOLERANCE, "{ours} instead of {real}: {profile}");
    }
}
