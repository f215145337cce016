//! What an installed program offers besides its work: version, configuration, completions, manual.

use std::process::Command;

use crate::harness::{Ended, TestDir};

#[test]
fn the_version_names_commit_and_build_profile() {
    let dir = TestDir::new();
    let long = dir.ok(&["--version"]);
    let version = env!("CARGO_PKG_VERSION");
    let rest = long.trim_end().strip_prefix(&format!("fourcorners {version} ("));
    let rest = rest.and_then(|rest| rest.strip_suffix(')')).unwrap_or_else(|| panic!("{long}"));
    let (commit, profile) = rest.split_once(", ").expect("commit and profile");
    let is_hash = commit.len() >= 7 && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
    assert!(is_hash || commit == "unknown commit", "{long}");
    let built = env!("CARGO_BIN_EXE_fourcorners");
    assert!(built.contains(&format!("/{profile}/")), "{profile} is not the profile of {built}");
    assert_eq!(dir.ok(&["-V"]), format!("fourcorners {version}\n"));
}

/// The program with a configuration file and variables.
fn configured(dir: &TestDir, file: &str, variables: &[(&str, &str)], arguments: &[&str]) -> Ended {
    let folder = dir.path().join(".config/fourcorners");
    std::fs::create_dir_all(&folder).expect("make the folder of the file");
    std::fs::write(folder.join("config.toml"), file).expect("write the file");
    let mut command = dir.command(arguments);
    command.env_remove("FOURCORNERS_STORE").env_remove("XDG_CONFIG_HOME");
    command.env_remove("COLUMNS").envs(variables.iter().copied());
    let output = command.output().expect("start the program");
    let text = |bytes| String::from_utf8(bytes).expect("output is text");
    Ended { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
}

#[test]
fn config_prints_each_value_and_where_it_comes_from() {
    let dir = TestDir::new();
    let file = "# mine\nstore = \"~/runs\"\nwidth = 100\nregion = \"westeurope\"\n";
    let variables = [("FOURCORNERS_WIDTH", "66"), ("FOURCORNERS_VM", "D32s_v5")];
    let ended = configured(&dir, file, &variables, &["config", "--json"]);
    let document: serde_json::Value = serde_json::from_str(&ended.stdout).expect("JSON");
    let path = dir.path().join(".config/fourcorners/config.toml");
    let of = |key: &str| {
        let settings = document["settings"].as_array().expect("a list of settings");
        let one = settings.iter().find(|one| one["key"] == key).expect("every key is listed");
        let text = |field: &str| one[field].as_str().expect("text").to_owned();
        (text("value"), text("source"))
    };
    let (line, both) =
        (|line| format!("{}:{line}", path.display()), |a: &str, b: String| (a.to_owned(), b));
    let store = dir.path().join("runs").display().to_string();
    assert_eq!(of("store"), (store.clone(), line(2)));
    assert_eq!(of("width"), both("66", "variable FOURCORNERS_WIDTH".to_owned()));
    assert_eq!(of("vm"), both("D32s_v5", "variable FOURCORNERS_VM".to_owned()));
    assert_eq!(of("region"), both("westeurope", line(4)));
    assert_eq!(of("color"), both("auto", "default".to_owned()));
    let table = configured(&dir, file, &variables, &["config", "--width", "200"]).stdout;
    assert!(table.contains("variable FOURCORNERS_WIDTH") && table.contains(&line(2)), "{table}");
}

#[test]
fn a_flag_has_precedence_over_a_variable_and_a_variable_over_the_file() {
    let dir = TestDir::new();
    let store_of = |variables: &[(&str, &str)], arguments: &[&str]| {
        let file = "store = \"/of-the-file\"\n";
        let ended = configured(&dir, file, variables, &[&["list"][..], arguments].concat());
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        ended.stdout.split_whitespace().last().unwrap_or_default().to_owned()
    };
    let variable = [("FOURCORNERS_STORE", "/of-the-variable")];
    assert_eq!(store_of(&[], &[]), "/of-the-file");
    assert_eq!(store_of(&variable, &[]), "/of-the-variable");
    assert_eq!(store_of(&variable, &["--store", "/of-the-flag"]), "/of-the-flag");
}

#[test]
fn a_configured_width_and_colour_apply_to_results() {
    let dir = TestDir::new();
    let size = ["size", "--throughput", "500MiB/s", "--capacity", "4TiB"];
    let widest = |width: &str| {
        let ended = configured(&dir, &format!("width = {width}\n"), &[], &size);
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        // Commands are not broken, so that they can be copied.
        let is_command = |line: &&str| line.contains("mount -t nfs") || line.contains("/sys/");
        let lines = ended.stdout.lines().filter(|line| !is_command(line));
        lines.map(|line| line.chars().count()).max()
    };
    assert!(widest("60") <= Some(60), "{:?}", widest("60"));
    assert!(widest("120") > Some(80), "{:?}", widest("120"));
    let error = configured(&dir, "color = \"always\"\n", &[], &["show", "none"]);
    assert!(error.stderr.contains("\u{1b}["), "{}", error.stderr);
}

#[test]
fn a_wrong_configuration_is_reported_with_its_position_and_help_still_works() {
    let dir = TestDir::new();
    let ended = configured(&dir, "width = 100\nregoin = \"westeurope\"\n", &[], &["list"]);
    assert_eq!(ended.code, Some(2), "{}", ended.stderr);
    for part in ["config.toml:2:1", "unknown key", "did you mean `region`?"] {
        assert!(ended.stderr.contains(part), "{part}: {}", ended.stderr);
    }
    let help = configured(&dir, "regoin = 1\n", &[], &["--help"]);
    assert_eq!(help.code, Some(0), "{}", help.stderr);
    let variable = configured(&dir, "", &[("FOURCORNERS_WIDTH", "wide")], &["list"]);
    assert_eq!(variable.code, Some(2));
    assert!(variable.stderr.contains("FOURCORNERS_WIDTH is `wide`"), "{}", variable.stderr);
}

#[test]
fn bash_completes_subcommands_flags_and_values() {
    let dir = TestDir::new();
    dir.file("completions", &dir.ok(&["completions", "bash"]));
    let complete = |words: &[&str]| {
        let script = "source completions; COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); \
                      _fourcorners fourcorners \"${@: -1}\" \"${@: -2:1}\"; echo \"${COMPREPLY[@]}\"";
        let mut bash = Command::new("bash");
        bash.args(["--norc", "-c", script, "bash", "fourcorners"]).args(words);
        let output = bash.current_dir(dir.path()).output().expect("start bash");
        String::from_utf8(output.stdout).expect("words").trim().to_owned()
    };
    assert_eq!(complete(&["comple"]), "completions");
    assert_eq!(complete(&["volume", "ser"]), "serve");
    assert_eq!(complete(&["export", "--form"]), "--format");
    assert_eq!(complete(&["export", "--format", "interv"]), "intervals");
    for shell in ["zsh", "fish", "elvish", "powershell"] {
        assert!(dir.ok(&["completions", shell]).contains("fourcorners"), "{shell}");
    }
}

#[test]
fn every_command_has_a_manual_page_with_its_examples() {
    let dir = TestDir::new();
    dir.ok(&["man", "--output", "man1"]);
    let page = |name: &str| {
        let path = dir.path().join("man1").join(name);
        std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{name}: {error}"))
    };
    for command in ["run", "export", "volume-serve", "man"] {
        let text = page(&format!("fourcorners-{command}.1"));
        assert!(text.contains(".SH NAME") && text.contains(".SH EXAMPLES\n.nf\n"), "{command}");
    }
    let main = page("fourcorners.1");
    assert_eq!(dir.ok(&["man"]), main);
    assert!(main.contains(".SH EXIT CODES\n.nf\n"), "{main}");
    // The form of a dot or a quote at the start of a line, which would be a request of roff.
    let requests = main.lines().filter(|line| line.starts_with('\''));
    assert_eq!(requests.count(), 0, "{main}");
}
