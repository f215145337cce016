//! The end of `run` and `show`: the answer on one screen, in the width and colours of the user.

use crate::harness::TestDir;

/// Two workloads at four queue depths on an emulated volume, 300 ms each.
const SCREEN: &str = r#"
name = "screen"

[run]
warm_up = "100ms"
measure = "200ms"
interval = "100ms"

[stream.corner]
files = 1
file_size = "4MiB"
queue_depth = [1, 2, 4, 8]
pattern = "random"

[[variant]]
read = "100%"
transfer_size = "8KiB"

[[variant]]
read = "0%"
transfer_size = "64KiB"
pattern = "sequential"
"#;

/// A directory with a stored run on an emulated volume, and what the run printed.
fn measured() -> (TestDir, String) {
    let dir = TestDir::new();
    dir.file("screen.toml", SCREEN);
    let printed = dir.measured(&["run", "-w", "screen.toml"]);
    (dir, printed)
}

/// The widest line, except of those with paths and commands, which are never broken.
fn widest(text: &str) -> usize {
    let footer = ["record", "report", "more", "compare", "left"];
    let is_broken =
        |line: &&str| !line.contains('/') && !footer.iter().any(|name| line.starts_with(name));
    text.lines().filter(is_broken).map(|line| line.chars().count()).max().unwrap_or(0)
}

#[test]
fn a_run_ends_on_one_screen_and_full_has_everything() {
    let (dir, printed) = measured();
    let lines: Vec<&str> = printed.lines().collect();
    assert!(lines.len() <= 40, "{} lines:\n{printed}", lines.len());
    assert!(lines[0].starts_with("emulated volume"), "{printed}");
    assert!(widest(&printed) <= 80, "{printed}");
    for end in ["record ", "report ", "more "] {
        assert!(lines.iter().any(|line| line.starts_with(end)), "no line `{end}`:\n{printed}");
    }
    let more = lines.iter().find(|line| line.starts_with("more ")).expect("it was found");
    assert!(more.contains("fourcorners show last --full"), "{more}");

    let shown = dir.ok(&["show", "last"]);
    let answer = |text: &str| text.lines().take(3).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(answer(&shown), answer(&printed), "show repeats the answer of run");
    assert!(shown.lines().count() <= 40, "{shown}");
    let full = dir.ok(&["show", "last", "--full"]);
    assert_eq!(answer(&full), answer(&printed), "--full begins with the answer");
    assert!(full.lines().count() > shown.lines().count() + 20, "{full}");
}

#[test]
fn the_width_is_that_of_the_flag_then_columns_then_the_configuration() {
    let (dir, _) = measured();
    let show = |arguments: &[&str], variables: &[(&str, &str)]| {
        let mut command = dir.command(&[&["show", "last"], arguments].concat());
        command.env_remove("COLUMNS").envs(variables.iter().copied());
        let output = command.output().expect("start the program");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("it prints UTF-8")
    };
    let narrow = show(&[], &[("COLUMNS", "50")]);
    assert!(widest(&narrow) <= 50, "{narrow}");
    assert_eq!(show(&[], &[]), show(&[], &[("COLUMNS", "80")]));
    assert_eq!(show(&["--width", "50"], &[("COLUMNS", "120")]), narrow);
    assert_eq!(show(&[], &[("FOURCORNERS_WIDTH", "50")]), narrow);
    let wide = show(&["--width", "200"], &[]);
    assert!(wide.contains("p50") && wide.contains("service"), "{wide}");
    assert!(!narrow.contains("p50"), "{narrow}");
}

#[test]
fn a_width_out_of_range_is_refused() {
    let dir = TestDir::new();
    for width in ["39", "201", "wide"] {
        let ended = dir.run(&["list", "--width", width]);
        assert_eq!(ended.code, Some(2), "--width {width}");
        assert!(ended.stderr.contains("40 to 200"), "{}", ended.stderr);
    }
}

#[test]
fn only_a_requested_colour_paints_the_verdict_in_a_pipe() {
    let (dir, printed) = measured();
    assert!(!printed.contains('\x1b'), "{printed}");
    let colored = dir.ok(&["show", "last", "--color", "always"]);
    assert!(colored.contains("\x1b["), "{colored}");
    assert!(!dir.ok(&["show", "last", "--color", "never"]).contains('\x1b'));
}

/// The command after `name` in the last lines of a result.
fn command_after(result: &str, name: &str) -> String {
    let from = result.rfind(&format!("{name:<9}fourcorners ")).expect("the line has this name");
    let line = result[from..].lines().next().unwrap_or_default();
    let command = line[name.len()..].trim_start().split("    ").next().unwrap_or_default();
    command.trim_start_matches("fourcorners ").to_owned()
}

#[test]
fn the_commands_for_more_name_records_as_briefly_as_is_clear_and_work() {
    let dir = TestDir::new();
    dir.file("screen.toml", SCREEN);
    let run = ["run", "null:", "-w", "screen.toml", "--no-report", "--quick"];
    let first = dir.measured(&run);
    assert!(!first.contains("compare  "), "there is nothing to compare it with:\n{first}");
    let second = dir.measured(&run);
    assert_eq!(command_after(&second, "more"), "show last --full");
    assert_eq!(command_after(&second, "compare"), "compare last~1 last");

    let older = dir.ok(&["show", "last~1"]);
    let more = command_after(&older, "more");
    let id = more.split(' ').nth(1).expect("a name");
    assert!(id.len() < 25 && id.starts_with("20"), "the beginning of the ID: {more}");
    let printed = dir.ok(&more.split(' ').collect::<Vec<_>>());
    assert_eq!(printed, dir.ok(&["show", "last~1", "--full"]));

    dir.ok(&["label", "last", "best"]);
    let labelled = dir.ok(&["show", "last"]);
    assert_eq!(command_after(&labelled, "more"), "show best --full");
    let elsewhere = dir.store().display().to_string();
    let labelled = dir.ok(&["show", "last", "--store", &elsewhere]);
    assert_eq!(command_after(&labelled, "more"), format!("show best --full --store {elsewhere}"));
}

#[test]
fn a_run_begins_with_at_most_six_lines_about_what_it_assumes() {
    let dir = TestDir::new();
    let running = dir.start(&["run", "--quick", "--plain", "--no-report"]);
    running.wait_for("files of");
    running.signal("INT");
    let ended = running.end();
    let before = ended.stderr.lines().take_while(|line| !line.starts_with("files of")).count();
    assert!((2..=6).contains(&before), "{before} lines:\n{}", ended.stderr);
}
