//! The examples for CI systems: every command in them works.

use crate::harness::TestDir;

/// Ready within a few seconds with five repeats.
const STORAGE: &str = r#"
name = "storage"

[run]
warm_up = "50ms"
measure = "100ms"
interval = "50ms"

[stream.main]
read = "100%"
transfer_size = "64KiB"
pattern = "random"
files = 1
file_size = "1MiB"
queue_depth = 1
"#;

/// The commands that begin with `fourcorners`, each on one line.
fn commands(example: &str) -> Vec<String> {
    let joined = example.replace("\\\n", "");
    let lines = joined.lines().map(str::trim).filter(|line| line.starts_with("fourcorners "));
    lines.map(str::to_owned).collect()
}

fn run_every_command(name: &str) {
    let examples = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/ci");
    let example = std::fs::read_to_string(format!("{examples}/{name}")).expect("read the example");
    let mut dir = TestDir::new();
    std::fs::create_dir(dir.path().join("ci")).expect("make the directory");
    dir.file("ci/storage.toml", STORAGE);
    dir.measured(&["run", "null:", "-w", "ci/storage.toml", "--repeats", "5", "--no-progress"]);
    dir.ok(&["baseline", "save", "main", "--output", "ci/baseline.json"]);
    let commands = commands(&example);
    assert!(commands.len() > 2, "{commands:?}");
    for command in commands {
        let script = command.replacen("fourcorners", env!("CARGO_BIN_EXE_fourcorners"), 1);
        let mut shell = std::process::Command::new("env");
        shell.args(["TARGET=null:", "LABEL=build-1-1", "sh", "-c", &script]);
        dir.enter(shell);
        let ended = dir.run::<&str>(&[]);
        // A busy host may be slower than a moment before.
        let is_verdict = ended.code == Some(0) || ended.code == Some(1) && is_judging(&command);
        assert!(is_verdict, "{command}\n{}\n{}", ended.stdout, ended.stderr);
    }
    for name in ["conditions", "comparison"] {
        let xml = std::fs::read_to_string(dir.path().join(format!("{name}.xml"))).expect("JUnit");
        let xml = roxmltree::Document::parse(&xml).expect("it is XML");
        assert!(xml.descendants().any(|one| one.has_tag_name("testcase")));
        let text =
            std::fs::read_to_string(dir.path().join(format!("{name}.md"))).expect("Markdown");
        assert!(text.contains("| :-- |"), "{text}");
    }
}

fn is_judging(command: &str) -> bool {
    command.starts_with("fourcorners run ") || command.starts_with("fourcorners compare ")
}

#[test]
fn every_command_of_the_github_actions_example_works() {
    run_every_command("github-actions.yml");
}

#[test]
fn every_command_of_the_azure_pipelines_example_works() {
    run_every_command("azure-pipelines.yml");
}
