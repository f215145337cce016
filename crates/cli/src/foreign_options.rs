//! Options of fio and Vdbench on the command line of `run` and `plan`: what they are called here.
//!
//! For: one message that translates all of them with the user's values, and the complete command.
//! Not for: accepting them; a habit that is half understood would measure something else.
//!
//! Reading order: [`message`], [`translated`], and the table in `foreign_options/table.rs`.

mod table;

use std::collections::BTreeSet;

use clap::CommandFactory;

use crate::args::Arguments;
use crate::command_line::{option_of, quoted};
use table::{Equivalent, Given, HABITS, Habit};

/// Commands that take an experiment, and so an option of another load generator.
const COMMANDS: [&str; 2] = ["run", "plan"];
/// Widest that the column with what the user wrote is made.
const WRITTEN_WIDTH_MAX: usize = 32;

/// What to write instead of the options of other tools in `words`, which do not include the
/// program; `None` where there is no such option.
pub(crate) fn message(words: &[String]) -> Option<String> {
    let command_line = CommandLine::read(words)?;
    if command_line.foreign.is_empty() {
        return None;
    }
    let given = Given::new(
        command_line.foreign.iter().map(|one| (one.habit.names[0], one.value.as_deref())),
    );
    let translations: Vec<(&Foreign, Result<Equivalent, String>)> =
        command_line.foreign.iter().map(|one| (one, translated(one, &given))).collect();
    let tools: BTreeSet<&str> = translations.iter().map(|(one, _)| one.habit.tool.name()).collect();
    let tools: Vec<&str> = tools.into_iter().collect();
    let mut lines: Vec<(&str, String)> = Vec::new();
    for (one, translation) in &translations {
        let equivalent = translation.as_ref().map_or_else(Clone::clone, Equivalent::in_words);
        lines.push((&one.written, equivalent));
    }
    let unknown = "not known here, nor as an option of fio or Vdbench";
    lines.extend(command_line.unknown.iter().map(|word| (word.as_str(), unknown.to_owned())));
    let widths = lines.iter().map(|(written, _)| written.chars().count());
    let width = widths.max().unwrap_or(0).min(WRITTEN_WIDTH_MAX);
    let mut out =
        format!("these are options of {}; fourcorners has its own:\n", tools.join(" and "));
    for (written, equivalent) in lines {
        out.push_str(&format!("  {written:<width$}  {equivalent}\n"));
    }
    let equivalents: Option<Vec<&Equivalent>> =
        translations.iter().map(|(_, translation)| translation.as_ref().ok()).collect();
    if let Some(command) = equivalents.and_then(|all| command_line.translated(&all)) {
        out.push_str(&format!("\nThe complete command:\n  {command}\n"));
    }
    Some(out)
}

/// An option of another tool, as the user wrote it.
struct Foreign {
    habit: &'static Habit,
    /// `--bs 8k`
    written: String,
    value: Option<String>,
}

fn translated(one: &Foreign, given: &Given<'_>) -> Result<Equivalent, String> {
    match (&one.value, one.habit.takes_value) {
        (None, true) => Err("the value is missing".to_owned()),
        (value, _) => (one.habit.translate)(value.as_deref().unwrap_or("1"), given),
    }
}

/// The words of a command line, sorted.
#[derive(Default)]
struct CommandLine {
    /// `run` or `plan`, which the user need not have written.
    command: String,
    target: Option<String>,
    /// What fourcorners knows, as it was written.
    own: Vec<String>,
    foreign: Vec<Foreign>,
    /// What no tool knows.
    unknown: Vec<String>,
}

impl CommandLine {
    /// Sorts the words; `None` for commands that run no experiment.
    fn read(words: &[String]) -> Option<CommandLine> {
        let mut clap = Arguments::command();
        clap.build();
        let named = words.iter().find(|word| clap.find_subcommand(word).is_some());
        let name = named.map_or(COMMANDS[0], String::as_str);
        if !COMMANDS.contains(&name) {
            return None;
        }
        let command = clap.find_subcommand(name)?;
        let mut line = CommandLine { command: name.to_owned(), ..CommandLine::default() };
        let mut has_command = named.is_none();
        let mut words = words.iter().cloned().peekable();
        while let Some(word) = words.next() {
            if word == "--" {
                line.own.push(word);
                line.own.extend(words);
                break;
            }
            if !has_command && word == name {
                has_command = true;
                continue;
            }
            if let Some((argument, value)) = option_of(command, &word) {
                let takes_value = argument.get_action().takes_values();
                // `--verify=crc32c` is fio's; ours takes no value.
                if value.is_none() || takes_value {
                    line.own.push(word);
                    let next = (takes_value && value.is_none()).then(|| words.next()).flatten();
                    line.own.extend(next);
                    continue;
                }
            }
            let (option, value) = match word.split_once('=') {
                Some((option, value)) => (option, Some(value.to_owned())),
                None => (word.as_str(), None),
            };
            let is_option = word.starts_with("--");
            // A bare word is an option only with its value: `xfersize=8k`.
            let habit = HABITS.iter().find(|one| one.is_called(option));
            match habit.filter(|_| is_option || value.is_some()) {
                Some(habit) => {
                    let split = value.is_none() && habit.takes_value;
                    let next = |next: &String| !next.starts_with('-');
                    let value = if split { words.next_if(next) } else { value };
                    let written = match (&value, split) {
                        (Some(value), true) => format!("{word} {value}"),
                        _ => word.clone(),
                    };
                    line.foreign.push(Foreign { habit, written, value });
                }
                None if word.starts_with('-') => line.unknown.push(word),
                None if line.target.is_none() => line.target = Some(word),
                None => line.unknown.push(word),
            }
        }
        Some(line)
    }

    /// The command with the equivalents in the place of what they are for.
    fn translated(&self, equivalents: &[&Equivalent]) -> Option<String> {
        if !self.unknown.is_empty() {
            return None;
        }
        let named = equivalents.iter().find_map(|one| match one {
            Equivalent::Target(target) => Some(target),
            _ => None,
        });
        let mut words = vec!["fourcorners".to_owned(), self.command.clone()];
        words.extend(self.target.as_ref().or(named).cloned());
        words.extend(self.own.iter().cloned());
        let mut added: Vec<Vec<String>> = Vec::new();
        for arguments in equivalents.iter().flat_map(|one| one.arguments()) {
            // Of two options with one equivalent, such as a mix in two parts, it is given once.
            if !added.contains(&arguments) {
                added.push(arguments);
            }
        }
        words.extend(added.into_iter().flatten());
        Some(words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" "))
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use expect_test::{Expect, expect};
    use workload::experiment::{parse_with, profile};
    use workload::overrides::Override;

    use super::*;

    fn check(line: &str, expected: Expect) {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        expected.assert_eq(&message(&words).unwrap_or_else(|| "no message\n".to_owned()));
    }

    #[test]
    fn a_job_of_fio_is_translated_with_the_complete_command() {
        check(
            "run /mnt/vol1 --name=test --ioengine=libaio --direct=1 --bs 8k --iodepth 32 --rw \
             randrw --rwmixread 70 --size 10g --numjobs 4 --runtime 60 --time_based \
             --ramp_time=5s --rate_iops 1000 --group_reporting --output-format=json --quick",
            expect![[r#"
                these are options of fio; fourcorners has its own:
                  --name=test           leave it out: an experiment file (-w) has the name
                  --ioengine=libaio     --engine io_uring
                  --direct=1            leave it out: direct I/O is the default
                  --bs 8k               --set transfer_size=8KiB
                  --iodepth 32          --set queue_depth=32
                  --rw randrw           --set pattern=random --set read=70%
                  --rwmixread 70        --set read=70%
                  --size 10g            --set files=4 --set file_size=10GiB
                  --numjobs 4           --set workers=4
                  --runtime 60          --measure 1m
                  --time_based          leave it out: every run lasts as long as --measure says
                  --ramp_time=5s        --warm-up 5s
                  --rate_iops 1000      --set arrival.constant=4000/s
                  --group_reporting     leave it out: results are of all workers together
                  --output-format=json  --json

                The complete command:
                  fourcorners run /mnt/vol1 --quick --engine io_uring --set transfer_size=8KiB --set queue_depth=32 --set pattern=random --set read=70% --set files=4 --set file_size=10GiB --set workers=4 --measure 1m --warm-up 5s --set arrival.constant=4000/s --json
            "#]],
        );
    }

    #[test]
    fn options_without_a_command_mean_run_and_a_file_gives_the_target() {
        check(
            "--rw=randread --filename=/mnt/vol1/file --bs=4k",
            expect![[r#"
                these are options of fio; fourcorners has its own:
                  --rw=randread              --set pattern=random --set read=100%
                  --filename=/mnt/vol1/file  /mnt/vol1 (the target)
                  --bs=4k                    --set transfer_size=4KiB

                The complete command:
                  fourcorners run /mnt/vol1 --set pattern=random --set read=100% --set transfer_size=4KiB
            "#]],
        );
        check(
            "plan --directory=/mnt/vol1 --rw=write --fsync=8 --direct=0",
            expect![[r#"
                these are options of fio; fourcorners has its own:
                  --directory=/mnt/vol1  /mnt/vol1 (the target)
                  --rw=write             --set pattern=sequential --set read=0%
                  --fsync=8              --set fsync_every=8
                  --direct=0             --buffered

                The complete command:
                  fourcorners plan /mnt/vol1 --set pattern=sequential --set read=0% --set fsync_every=8 --buffered
            "#]],
        );
    }

    #[test]
    fn parameters_of_vdbench_are_translated() {
        check(
            "run /mnt/vol1 xfersize=8k rdpct=70 seekpct=100 threads=32 iorate=1000 elapsed=60 \
             warmup=10 interval=1",
            expect![[r#"
                these are options of Vdbench; fourcorners has its own:
                  xfersize=8k  --set transfer_size=8KiB
                  rdpct=70     --set read=70%
                  seekpct=100  --set pattern=random
                  threads=32   --set queue_depth=32
                  iorate=1000  --set arrival.constant=1000/s
                  elapsed=60   --measure 1m
                  warmup=10    --warm-up 10s
                  interval=1   --interval 1s

                The complete command:
                  fourcorners run /mnt/vol1 --set transfer_size=8KiB --set read=70% --set pattern=random --set queue_depth=32 --set arrival.constant=1000/s --measure 1m --warm-up 10s --interval 1s
            "#]],
        );
        check(
            "run xfersize=64k seekpct=seq iorate=max",
            expect![[r#"
                these are options of Vdbench; fourcorners has its own:
                  xfersize=64k  --set transfer_size=64KiB
                  seekpct=seq   --set pattern=sequential
                  iorate=max    leave it out: without an arrival, operations follow one another

                The complete command:
                  fourcorners run --set transfer_size=64KiB --set pattern=sequential
            "#]],
        );
    }

    #[test]
    fn what_has_no_equivalent_is_listed_and_no_command_is_claimed() {
        check(
            "run /mnt/vol1 --ioengine=rdma --bs=4k,64k --rwmixread --rate=10m",
            expect![[r#"
                these are options of fio; fourcorners has its own:
                  --ioengine=rdma  none: --engine is auto, io_uring or psync; an nfs:// target needs none
                  --bs=4k,64k      none: `4k,64k` is not one size
                  --rwmixread      the value is missing
                  --rate=10m       none: `4k,64k` is not one size
            "#]],
        );
        check(
            "run /mnt/vol1 --bs 8k --frobnicate",
            expect![[r#"
                these are options of fio; fourcorners has its own:
                  --bs 8k       --set transfer_size=8KiB
                  --frobnicate  not known here, nor as an option of fio or Vdbench
            "#]],
        );
    }

    #[test]
    fn a_command_line_of_our_own_and_other_commands_are_left_alone() {
        for line in [
            "run /mnt/vol1 --set transfer_size=8KiB --quick -p curve",
            "run --verify /mnt/vol1",
            "run --report bs=8k",
            "run -- bs=8k",
            "run /mnt/vol1 --frobnicate",
            "list --bs 8k",
            "tune --bs 8k",
            "",
        ] {
            check(
                line,
                expect![["
                no message
            "]],
            );
        }
    }

    #[test]
    fn every_row_of_the_table_is_translated_into_what_fourcorners_takes() {
        for habit in HABITS {
            let given = Given::new([(habit.names[0], Some(habit.example))].into_iter());
            let equivalent = (habit.translate)(habit.example, &given)
                .unwrap_or_else(|why| panic!("{}={}: {why}", habit.names[0], habit.example));
            if let Equivalent::LeaveOut(why) = equivalent {
                assert!(!why.is_empty());
                continue;
            }
            let words: Vec<String> = equivalent.arguments().concat();
            let target = match &equivalent {
                Equivalent::Target(target) => Some(target.clone()),
                _ => None,
            };
            let line = ["fourcorners", "run"].map(str::to_owned).into_iter();
            let parsed = Arguments::try_parse_from(line.chain(target).chain(words));
            let parsed = parsed.unwrap_or_else(|error| panic!("{}: {error}", habit.names[0]));
            let crate::args::Command::Run(run) = parsed.command else { panic!("it is `run`") };
            let set: Vec<Override> =
                run.run.experiment.set.iter().map(|text| Override::set(text)).collect();
            let text = profile("four-corners").expect("it is built in");
            // The share first, so that a row may replace it: fsyncs need writes.
            let overrides = [vec![Override::set("read=50%")], set].concat();
            parse_with(text, "four-corners", &overrides)
                .unwrap_or_else(|problems| panic!("{}: {problems:#?}", habit.names[0]));
        }
    }

    #[test]
    fn no_name_is_in_two_rows_and_an_option_of_run_means_the_same() {
        let mut clap = Arguments::command();
        clap.build();
        let run = clap.find_subcommand("run").expect("`run` is a command");
        let mut names: Vec<&str> = HABITS.iter().flat_map(|habit| habit.names).copied().collect();
        let is_own = |name: &&&str| run.get_arguments().any(|own| own.get_long() == Some(**name));
        let own: Vec<&str> = names.iter().filter(is_own).copied().collect();
        // Ours go before: two take no value, as in `--verify=crc32c`, and the interval is the same.
        assert_eq!(own, ["buffered", "verify", "interval"]);
        names.sort_unstable();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "{names:?}");
    }
}
