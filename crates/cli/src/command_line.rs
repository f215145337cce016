//! The command that repeats a run: the user's, with absolute paths and without options that only
//! affect output.

use std::path::Path;

use clap::{Arg, CommandFactory};
use commands::measure::experiment::Planned;
use commands::refusal::quoted;
use workload::plan::TargetSpec;

use crate::args::Arguments;

/// IDs of the arguments of `run` that change neither the measurement nor where it is stored.
const OUTPUT_ONLY: &[&str] = &[
    "events",
    "json",
    "report",
    "no_report",
    "no_progress",
    "plain",
    "verbose",
    "label",
    "note",
    "fail_if",
    "strict",
    "junit",
    "markdown",
    "color",
];

/// IDs of the arguments of `run` that are paths.
const PATHS: [&str; 2] = ["workload", "directory"];

/// The command that repeats this process's run.
pub(crate) fn of_this_run(planned: &Planned) -> String {
    let words = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned());
    let target = match planned.plan.target() {
        TargetSpec::Directory { path } => Some(path.as_str()),
        _ => None,
    };
    repeating(words.collect(), target)
}

/// * `words` - the arguments of the program
/// * `target` - the directory, if the target is one
fn repeating(words: Vec<String>, target: Option<&str>) -> String {
    let mut command = Arguments::command();
    command.build();
    let run = command.find_subcommand("run").expect("`run` is a command");
    let (mut positional, mut options) = (Vec::new(), Vec::new());
    let mut words = words.into_iter();
    let mut only_positional = false;
    while let Some(word) = words.next() {
        if word == "--" && !only_positional {
            only_positional = true;
            continue;
        }
        let Some((argument, value)) = option_of(run, &word).filter(|_| !only_positional) else {
            positional.push(word);
            continue;
        };
        let takes_value = argument.get_action().takes_values();
        let value = value.or_else(|| takes_value.then(|| words.next()).flatten());
        if OUTPUT_ONLY.contains(&argument.get_id().as_str()) {
            continue;
        }
        options.push(format!("--{}", argument.get_long().expect("every option has a long name")));
        options.extend(value.map(|value| match PATHS.contains(&argument.get_id().as_str()) {
            true => quoted(&absolute(&value)),
            false => quoted(&value),
        }));
    }
    // The first word is `run`.
    let named = target.map(absolute).or_else(|| positional.get(1).cloned());
    let mut line = vec!["fourcorners".to_owned(), "run".to_owned()];
    line.extend(named.map(|target| quoted(&target)));
    line.extend(options);
    line.join(" ")
}

/// The option in a word, and its value if the word includes it.
pub(crate) fn option_of<'c>(
    run: &'c clap::Command,
    word: &str,
) -> Option<(&'c Arg, Option<String>)> {
    let mut arguments = run.get_arguments();
    if let Some(long) = word.strip_prefix("--") {
        let (name, value) = match long.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (long, None),
        };
        return arguments.find(|argument| argument.get_long() == Some(name)).map(|a| (a, value));
    }
    let mut letters = word.strip_prefix('-')?.chars();
    let letter = letters.next()?;
    let rest = letters.as_str();
    let value = rest.strip_prefix('=').unwrap_or(rest);
    let value = (!value.is_empty()).then(|| value.to_owned());
    arguments.find(|argument| argument.get_short() == Some(letter)).map(|a| (a, value))
}

/// An absolute path. Symbolic links are not resolved: repeating the run follows them again.
fn absolute(path: &str) -> String {
    std::path::absolute(Path::new(path))
        .map_or_else(|_| path.to_owned(), |path| path.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn repeats(words: &[&str], target: Option<&str>) -> String {
        let here = absolute("here");
        repeating(words.iter().map(|word| (*word).to_owned()).collect(), target)
            .replace(here.strip_suffix("/here").expect("it ends so"), "HERE")
    }

    #[test]
    fn paths_are_made_absolute() {
        for (words, target, line) in [
            (&["run"][..], None, "fourcorners run"),
            (&["run", "vol1"], Some("vol1"), "fourcorners run HERE/vol1"),
            (&["run", "null:"], None, "fourcorners run null:"),
            (
                &["run", "/mnt/vol1", "-w", "oltp.toml"],
                Some("/mnt/vol1"),
                "fourcorners run /mnt/vol1 --workload HERE/oltp.toml",
            ),
            (
                &["run", "-woltp.toml", "--store=kept", "vol1"],
                Some("vol1"),
                "fourcorners run HERE/vol1 --workload HERE/oltp.toml --store HERE/kept",
            ),
        ] {
            assert_eq!(repeats(words, target), line, "{words:?}");
        }
    }

    #[test]
    fn a_target_from_the_experiment_file_is_included() {
        let line = repeats(&["run", "-w", "oltp.toml"], Some("vol1"));
        assert_eq!(line, "fourcorners run HERE/vol1 --workload HERE/oltp.toml");
    }

    #[test]
    fn options_that_only_affect_output_are_dropped() {
        let words = [
            "--color",
            "never",
            "run",
            "null:",
            "--events",
            "jsonl",
            "--report=r.html",
            "--no-progress",
            "--quick",
            "--json",
            "--no-report",
            "--report",
            "r.html",
        ];
        assert_eq!(repeats(&words, None), "fourcorners run null: --quick");
    }

    #[test]
    fn options_that_affect_the_measurement_are_kept_and_quoted() {
        let words = [
            "run",
            "--set",
            "queue_depth=1..4 x2",
            "--set=read=50%",
            "--repeats",
            "3",
            "--pin",
            "--refill",
            "--",
            "my vol",
        ];
        assert_eq!(
            repeats(&words, Some("/mnt/my vol")),
            "fourcorners run '/mnt/my vol' --set 'queue_depth=1..4 x2' --set read=50% \
             --repeats 3 --pin --refill"
        );
    }

    #[test]
    fn the_dropped_and_the_absolute_arguments_are_arguments_of_run() {
        let mut command = Arguments::command();
        command.build();
        let run = command.find_subcommand("run").expect("`run` is a command");
        for id in OUTPUT_ONLY.iter().chain(&PATHS) {
            assert!(run.get_arguments().any(|argument| argument.get_id() == id), "{id}");
        }
    }
}
