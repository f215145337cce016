//! The command that repeats a run: the user's own, with what it names made findable from anywhere,
//! and without what only told where the results should be shown.

use std::path::Path;

use clap::{Arg, CommandFactory};
use workload::plan::TargetSpec;

use crate::args::Arguments;
use crate::experiment::Planned;

/// Arguments of `run`, by their IDs, that change nothing of what is measured or where it is kept.
const OUTPUT_ONLY: [&str; 6] = ["events", "json", "report", "no_report", "no_progress", "color"];

/// Arguments of `run`, by their IDs, that name a path.
const PATHS: [&str; 2] = ["workload", "directory"];

/// The command that repeats the run that was started as this process.
pub(crate) fn of_this_run(planned: &Planned) -> String {
    let words = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned());
    let target = match &planned.plan.target {
        TargetSpec::Directory { path } => Some(path.as_str()),
        _ => None,
    };
    repeating(words.collect(), target)
}

/// `words` as they were given to the program; `target` where the experiment runs in a directory
/// that somebody named.
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
    // The first is `run` itself.
    let named = target.map(absolute).or_else(|| positional.get(1).cloned());
    let mut line = vec!["fourcorners".to_owned(), "run".to_owned()];
    line.extend(named.map(|target| quoted(&target)));
    line.extend(options);
    line.join(" ")
}

/// The option that a word begins, and the value that stands in the same word.
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

/// A path that means the same from every directory. Links in it stay as they are: who repeats the
/// run means what they lead to then.
fn absolute(path: &str) -> String {
    std::path::absolute(Path::new(path))
        .map_or_else(|_| path.to_owned(), |path| path.to_string_lossy().into_owned())
}

/// A word as a POSIX shell takes it.
pub(crate) fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,@%+".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
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
    fn a_target_that_only_the_experiment_names_is_named() {
        let line = repeats(&["run", "-w", "oltp.toml"], Some("vol1"));
        assert_eq!(line, "fourcorners run HERE/vol1 --workload HERE/oltp.toml");
    }

    #[test]
    fn what_only_concerns_the_output_is_dropped() {
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
    fn what_changes_the_measurement_is_kept_and_quoted() {
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
    fn every_argument_that_is_dropped_or_made_absolute_is_one_of_run() {
        let mut command = Arguments::command();
        command.build();
        let run = command.find_subcommand("run").expect("`run` is a command");
        for id in OUTPUT_ONLY.iter().chain(&PATHS) {
            assert!(run.get_arguments().any(|argument| argument.get_id() == id), "{id}");
        }
    }

    #[test]
    fn words_are_quoted_as_a_shell_takes_them() {
        for (word, shell) in [
            ("run", "run"),
            ("--set", "--set"),
            ("queue_depth=1,2", "queue_depth=1,2"),
            ("/mnt/my vol", "'/mnt/my vol'"),
            ("it's", "'it'\\''s'"),
            ("", "''"),
        ] {
            assert_eq!(quoted(word), shell);
        }
    }
}
