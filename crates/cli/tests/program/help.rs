//! `--help` of every command, at 80 columns. `UPDATE_EXPECT=1 cargo test -p cli` rewrites the
//! files.

use expect_test::expect_file;

use crate::harness::TestDir;

#[test]
fn the_help_of_every_command_is_as_stored() {
    let dir = TestDir::new();
    let commands = [
        "",
        "run",
        "plan",
        "observe",
        "predict",
        "expect",
        "tune",
        "size",
        "list",
        "show",
        "export",
        "report",
        "compare",
        "check",
        "fleet",
        "fleet status",
        "fleet collect",
        "avs",
        "label",
        "rm",
        "prune",
        "du",
        "baseline",
        "baseline save",
        "baseline show",
        "clean",
        "profiles",
        "volume",
        "volume serve",
        "volume stat",
        "schema",
        "config",
        "completions",
        "man",
    ];
    for command in commands {
        let name = match command {
            "" => "fourcorners".to_owned(),
            command => command.replace(' ', "-"),
        };
        for (flag, form) in [("--help", "long"), ("-h", "short")] {
            let arguments: Vec<&str> = command.split_whitespace().chain([flag]).collect();
            let shown = dir.ok(&arguments);
            expect_file![format!(
                "{}/tests/golden/help/{name}.{form}.txt",
                env!("CARGO_MANIFEST_DIR")
            )]
            .assert_eq(&shown);
            let too_wide = shown.lines().find(|line| line.chars().count() > 80);
            assert_eq!(too_wide, None, "{name} --help is wider than 80 columns");
        }
    }
}

#[test]
fn durations_have_an_example_with_a_unit() {
    let dir = TestDir::new();
    let help = dir.ok(&["run", "--help"]);
    for flag in ["--warm-up <DURATION>", "--measure <DURATION>", "--interval <DURATION>"] {
        assert!(help.contains(flag), "{flag}");
    }
    assert!(help.contains("for example"), "durations show an example with its unit");
}
