//! Invalid input: all problems are reported, nothing is done, the exit code is 2.

use expect_test::expect_file;

use crate::harness::TestDir;

#[test]
fn an_unknown_key_is_reported_with_line_and_column() {
    let dir = TestDir::new();
    dir.file(
        "typo.toml",
        "name = \"typo\"\n[stream.main]\nread = \"100%\"\ntransfer_size = \"4KiB\"\n\
         pattern = \"random\"\nfile_size = \"1MiB\"\nqueue_dept = 4\nqueue_depth = 1\n",
    );
    let ended = dir.run(&["plan", "target", "-w", "typo.toml"]);
    assert_eq!(ended.code, Some(2), "{}", ended.stderr);
    assert_eq!(ended.stdout, "");
    expect_file![concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/unknown_key.txt")]
        .assert_eq(&ended.stderr);
}

#[test]
fn all_problems_of_a_file_are_reported_together_and_nothing_is_done() {
    let dir = TestDir::new();
    dir.file(
        "bad.toml",
        "name = \"bad\"\n[run]\nmeasure = \"30\"\n[stream.main]\nread = \"170%\"\n\
         transfer_size = \"4 apples\"\npattern = \"rendom\"\nfile_size = \"1MiB\"\n\
         queue_depth = 0\n",
    );
    let ended = dir.run(&["run", "target", "-w", "bad.toml"]);
    assert_eq!(ended.code, Some(2), "{}", ended.stderr);
    for position in ["bad.toml:3:", "bad.toml:5:", "bad.toml:6:", "bad.toml:7:", "bad.toml:9:"] {
        assert!(ended.stderr.contains(position), "{position}\n{}", ended.stderr);
    }
    assert!(!dir.store().exists(), "nothing was done");
    assert_eq!(std::fs::read_dir(dir.target()).unwrap().count(), 0, "nothing was done");
}

#[test]
fn a_problem_of_an_override_is_reported_with_its_option() {
    let dir = TestDir::new();
    let ended = dir.run(&["plan", "target", "--set", "queue_depth=1,many"]);
    assert_eq!(ended.code, Some(2), "{}", ended.stderr);
    assert!(ended.stderr.contains("--set"), "{}", ended.stderr);
    assert!(ended.stderr.contains("many"), "{}", ended.stderr);
}

#[test]
fn published_figures_are_refused_for_csv_exports_before_a_record_is_read() {
    let dir = TestDir::new();
    for more in [&["--vm", "D32s_v5"][..], &["--published"]] {
        for format in ["csv", "curves", "connections", "hgrm"] {
            let arguments = ["export", "last", "--format", format];
            let ended = dir.run(&[&arguments[..], more].concat());
            assert_eq!(ended.code, Some(2), "{format}: {}", ended.stderr);
            assert!(ended.stderr.contains("JSON only"), "{format}: {}", ended.stderr);
        }
    }
    assert!(!dir.store().exists(), "nothing was done");
}

#[test]
fn colours_are_used_on_request_only() {
    let dir = TestDir::new();
    dir.file("bad.toml", "nome = 1\n");
    let arguments = ["plan", "target", "-w", "bad.toml"];
    let plain = dir.run(&arguments);
    assert!(!plain.stderr.contains('\x1b'), "a pipe gets no colours: {}", plain.stderr);
    let always = dir.run(&[&arguments[..], &["--color", "always"]].concat());
    assert!(always.stderr.contains("\x1b["), "{}", always.stderr);
}

#[test]
fn the_systems_error_is_printed_once() {
    let dir = TestDir::new();
    let ended = dir.run(&["run", "null:", "--store", "/proc/nowhere"]);
    assert_eq!(ended.stderr.matches("os error").count(), 1, "{}", ended.stderr);
}

#[test]
fn an_unwritable_report_is_refused_before_anything_is_measured() {
    let dir = TestDir::new();
    dir.file("tiny.toml", crate::runs::TINY);
    for report in ["nowhere/r.html", "target"] {
        let ended = dir.run(&["run", "target", "-w", "tiny.toml", "--report", report]);
        assert_eq!(ended.code, Some(2), "{}", ended.stderr);
        assert!(ended.stderr.contains(&format!("write {report}")), "{}", ended.stderr);
    }
    assert!(!dir.store().exists(), "nothing was done");
    assert_eq!(std::fs::read_dir(dir.target()).unwrap().count(), 0, "nothing was done");
}

#[test]
fn bad_input_ends_with_2_and_a_hint() {
    let dir = TestDir::new();
    for (arguments, said) in [
        (&["plam"][..], "plan"),
        (&["run", "--measure", "30"], "duration"),
        (&["run", "--repeats", "0"], "1"),
        (&["run", "--engine", "libaio"], "io_uring"),
        (&["run", "-p", "no-such-profile"], "four-corners"),
        (&["run", "-w", "missing.toml"], "missing.toml"),
        (&["run", "-w", "a.toml", "-p", "four-corners"], "cannot be used with"),
        (&["profiles", "no-such-profile"], "four-corners"),
        (&["show", "nothing"], "nothing"),
        (&["export", "nothing", "--format", "csv"], "nothing"),
        (&["report", "nothing"], "nothing"),
        (&["show", "last"], "no record `last`"),
        (&["clean", "target"], "was not created by fourcorners"),
        (&["clean", "nowhere"], "does not exist"),
        (&["run", "null:", "--store", "/proc/nowhere"], "create the store's directory"),
        (&["run", "smb://filer/vol1"], "use a directory"),
        (&["run", "null:", "--verify"], "stores no data to verify"),
        (&[], "Usage"),
    ] {
        let ended = dir.run(arguments);
        assert_eq!(ended.code, Some(2), "{arguments:?}\n{}", ended.stderr);
        assert!(ended.stderr.contains(said), "{arguments:?} says `{said}`:\n{}", ended.stderr);
    }
}

#[test]
fn options_of_fio_are_translated_into_a_valid_command() {
    let dir = TestDir::new();
    let arguments =
        ["run", "target", "--bs", "4k", "--iodepth=32", "--rw", "randrw", "--rwmixread=70"];
    let ended = dir.run(&[&arguments[..], &["--size", "64m", "--runtime", "10"]].concat());
    assert_eq!(ended.code, Some(2), "{}", ended.stderr);
    assert!(ended.stderr.contains("--bs 4k"), "{}", ended.stderr);
    assert!(!dir.store().exists(), "nothing was done");
    let command =
        ended.stderr.lines().find_map(|line| line.trim().strip_prefix("fourcorners run "));
    let words = ["plan"].into_iter().chain(command.unwrap().split(' ')).collect::<Vec<_>>();
    let planned = dir.run(&words);
    assert_eq!(planned.code, Some(0), "{}", planned.stderr);
    assert!(planned.stdout.contains("1. random 70% read 4 KiB: 10s"), "{}", planned.stdout);
    assert!(!planned.stdout.contains("2. "), "one load, as in fio: {}", planned.stdout);
}
