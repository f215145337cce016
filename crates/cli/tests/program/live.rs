//! The progress of a measurement: a screen on a terminal, plain lines elsewhere.

use crate::harness::TestDir;
use crate::pseudo_terminal::{Display, PseudoTerminal};

/// Three load points of 700 ms.
const LIVE: &str = r#"
name = "live"

[run]
warm_up = "100ms"
measure = "600ms"
interval = "100ms"

[stream.main]
read = "100%"
transfer_size = "4KiB"
pattern = "random"
files = 1
file_size = "1MiB"
queue_depth = [1, 4, 16]
"#;

const RUN: [&str; 5] = ["run", "null:", "-w", "live.toml", "--no-report"];

fn directory() -> TestDir {
    let dir = TestDir::new();
    dir.file("live.toml", LIVE);
    dir
}

/// Starts a run on a terminal of 80 columns and 24 rows.
fn start(dir: &mut TestDir, arguments: &[&str], variables: &[(&str, &str)]) -> PseudoTerminal {
    PseudoTerminal::start(dir, arguments, [80, 24], variables)
}

/// `[█████░░░░░]  46%`: each screen has one such row.
fn is_bar(row: &str) -> bool {
    row.starts_with('[') && row.ends_with('%')
}

fn is_title(row: &str) -> bool {
    row.starts_with("live on ") || row.starts_with("tune on ")
}

/// Every part of the screen is there, and once.
fn is_complete(display: &Display) -> bool {
    let parts: [&dyn Fn(&str) -> bool; 6] = [
        &is_title,
        &is_bar,
        &|row| row.starts_with("stream "),
        &|row| row.starts_with("MiB/s ") && row.contains('█'),
        &|row| row.starts_with("p99, ") && row.contains('█'),
        &|row| row.starts_with("done: "),
    ];
    parts.iter().all(|part| display.count(part) == 1)
}

/// The screen is gone, and the result is there.
fn assert_ended(code: Option<i32>, display: &Display) {
    let all = display.all();
    assert!(matches!(code, Some(0 | 1)), "{code:?}\n{all}");
    let is_left = |row: &&str| is_bar(row) || is_title(row) || row.starts_with("done: ");
    assert_eq!(all.lines().find(is_left), None, "{all}");
    assert!(all.contains("record "), "{all}");
}

#[test]
fn the_screen_is_redrawn_in_place_and_only_the_result_remains() {
    let mut dir = directory();
    let mut terminal = start(&mut dir, &RUN, &[]);
    terminal.wait_until(|display| {
        let titles = display.all().lines().filter(|row| is_title(row)).count();
        assert!(titles <= 1, "{}", display.all());
        is_complete(display) && display.redraws > 10
    });
    let (code, display) = terminal.end();
    assert_ended(code, &display);
    assert!(display.emphases > 0, "a terminal gets colours");
}

#[test]
fn the_screen_follows_the_size_of_the_terminal() {
    let mut dir = directory();
    let mut terminal = start(&mut dir, &RUN, &[]);
    terminal.wait_until(is_complete);
    for [columns, rows] in [[40, 24], [120, 30], [60, 20]] {
        terminal.resize(columns, rows);
        let redrawn = terminal.display.redraws + 2;
        terminal.wait_until(|display| display.redraws >= redrawn && display.count(is_bar) == 1);
        let display = &terminal.display;
        let screen = display.visible().join("\n");
        assert_eq!(display.count(is_title), 1, "{columns} x {rows}\n{screen}");
        assert_eq!(display.count(|row| row.starts_with("stream ")), 1, "{screen}");
        let bar = display.visible().into_iter().find(|row| is_bar(row)).expect("there is one");
        assert_eq!(bar.chars().count(), (columns - 1).min(72), "{screen}");
    }
    let (code, display) = terminal.end();
    assert_ended(code, &display);
}

#[test]
fn without_colours_the_screen_has_no_emphasis() {
    let mut dir = directory();
    let mut terminal = start(&mut dir, &RUN, &[("NO_COLOR", "1")]);
    terminal.wait_until(is_complete);
    terminal.type_text("\x03");
    let (code, display) = terminal.end();
    assert_ended(code, &display);
    assert!(display.redraws > 0);
    assert_eq!(display.emphases, 0, "{}", display.all());
}

#[test]
fn ctrl_c_leaves_the_results_and_nothing_of_the_screen() {
    let mut dir = directory();
    let mut terminal = start(&mut dir, &RUN, &[]);
    terminal.wait_until(is_complete);
    terminal.type_text("\x03");
    let (code, display) = terminal.end();
    assert_eq!(code, Some(1), "{}", display.all());
    assert_ended(code, &display);
    let all = display.all();
    assert_eq!(all.matches("interrupted: finishing the interval").count(), 1, "{all}");
    assert!(!all.contains("^C"), "{all}");
}

#[test]
fn tune_and_two_targets_in_turns_have_the_screen_too() {
    let turns = ["run", "null:", "null:", "-w", "live.toml", "--interleave", "--repeats", "2"];
    let tune = ["tune", "null:", "--target-rate", "100/s", "--no-report"];
    for arguments in [&turns[..], &tune[..]] {
        let mut dir = directory();
        let mut terminal = start(&mut dir, arguments, &[]);
        terminal.wait_until(|display| {
            display.count(is_title) == 1 && display.count(|row| row.starts_with("stream ")) == 1
        });
        terminal.type_text("\x03");
        terminal.type_text("\x03");
        let (code, display) = terminal.end();
        assert_ended(code, &display);
    }
}

#[test]
fn a_terminal_gets_plain_lines_by_flag_and_if_it_cannot_redraw() {
    let cases = [
        (&["--plain"][..], "xterm"),
        (&["--verbose"][..], "xterm"),
        (&["--events", "jsonl"][..], "xterm"),
        (&[][..], "dumb"),
    ];
    for (flags, kind) in cases {
        let mut dir = directory();
        let arguments = [&RUN[..], flags].concat();
        let mut terminal = start(&mut dir, &arguments, &[("TERM", kind)]);
        terminal.wait_until(|display| display.all().contains("queue_depth=1"));
        terminal.type_text("\x03");
        let (code, display) = terminal.end();
        assert_ended(code, &display);
        assert_eq!(display.redraws, 0, "{flags:?}\n{}", display.all());
    }
}

/// The lines of progress: one for each load point, and one for each interval.
fn progress(flags: &[&str]) -> [usize; 2] {
    let ended = directory().run(&[&RUN[..], &["--measure", "200ms"], flags].concat());
    assert!(matches!(ended.code, Some(0 | 1)), "{}", ended.stderr);
    assert!(ended.stderr.contains("engine: "), "decisions are printed: {}", ended.stderr);
    assert!(!ended.stderr.contains('\x1b'), "a pipe gets plain lines: {}", ended.stderr);
    let count =
        |is_it: &dyn Fn(&str) -> bool| ended.stderr.lines().filter(|line| is_it(line)).count();
    [
        count(&|line| line.contains("  live, queue_depth=")),
        count(&|line| line.contains(" measure ")),
    ]
}

#[test]
fn plain_progress_is_a_line_for_each_load_point_and_verbose_one_for_each_interval() {
    assert_eq!(progress(&[]), [3, 0]);
    assert_eq!(progress(&["-v"]), [0, 6]);
    assert_eq!(progress(&["--no-progress"]), [0, 0]);
}

#[test]
fn no_progress_excludes_a_form_of_progress() {
    for flag in ["--plain", "-v"] {
        let ended = directory().run(&[&RUN[..], &["--no-progress", flag]].concat());
        assert_eq!(ended.code, Some(2), "{}", ended.stderr);
        assert!(ended.stderr.contains("--no-progress"), "{}", ended.stderr);
    }
}
