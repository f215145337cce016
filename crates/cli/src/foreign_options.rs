//! Recognises options of fio and Vdbench on the command line of `run` and `plan`.

use clap::{Command, CommandFactory};
use commands::foreign_options::{self, OwnArguments, OwnOption};

use crate::args::Arguments;
use crate::command_line::option_of;

/// What to write instead of the options of other tools; `None` if there are none.
///
/// * `words` - the arguments of the program
pub(crate) fn message(words: &[String]) -> Option<String> {
    let mut command = Arguments::command();
    command.build();
    foreign_options::message(words, &Own(command))
}

/// The arguments of this program.
struct Own(Command);

impl OwnArguments for Own {
    fn is_command(&self, word: &str) -> bool {
        self.0.find_subcommand(word).is_some()
    }

    fn option(&self, command: &str, word: &str) -> Option<OwnOption> {
        let (argument, value) = option_of(self.0.find_subcommand(command)?, word)?;
        let takes_value = argument.get_action().takes_values();
        Some(OwnOption { takes_value, has_value: value.is_some() })
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use commands::foreign_options::table::{Equivalent, Given, OPTIONS};
    use expect_test::{Expect, expect};
    use workload::experiment::parse_with;
    use workload::overrides::Override;
    use workload::profiles::profile;

    use super::*;

    fn check(line: &str, expected: Expect) {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        expected.assert_eq(&message(&words).unwrap_or_else(|| "no message\n".to_owned()));
    }

    #[test]
    fn a_fio_command_line_is_translated_completely() {
        check(
            "run /mnt/vol1 --name=test --ioengine=libaio --direct=1 --bs 8k --iodepth 32 --rw \
             randrw --rwmixread 70 --size 10g --numjobs 4 --runtime 60 --time_based \
             --ramp_time=5s --rate_iops 1000 --group_reporting --output-format=json --quick",
            expect![[r#"
                these are options of fio; the options of fourcorners are:
                  --name=test           leave it out: the experiment file (-w) has the name
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
                  --group_reporting     leave it out: results always combine all workers
                  --output-format=json  --json

                The complete command:
                  fourcorners run /mnt/vol1 --quick --engine io_uring --set transfer_size=8KiB --set queue_depth=32 --set pattern=random --set read=70% --set files=4 --set file_size=10GiB --set workers=4 --measure 1m --warm-up 5s --set arrival.constant=4000/s --json
            "#]],
        );
    }

    #[test]
    fn the_default_command_is_run_and_a_file_name_gives_the_target() {
        check(
            "--rw=randread --filename=/mnt/vol1/file --bs=4k",
            expect![[r#"
                these are options of fio; the options of fourcorners are:
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
                these are options of fio; the options of fourcorners are:
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
                these are options of Vdbench; the options of fourcorners are:
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
                these are options of Vdbench; the options of fourcorners are:
                  xfersize=64k  --set transfer_size=64KiB
                  seekpct=seq   --set pattern=sequential
                  iorate=max    leave it out: without an arrival, the load is closed

                The complete command:
                  fourcorners run --set transfer_size=64KiB --set pattern=sequential
            "#]],
        );
    }

    #[test]
    fn an_option_without_an_equivalent_is_listed_and_no_command_is_printed() {
        check(
            "run /mnt/vol1 --ioengine=rdma --bs=4k,64k --rwmixread --rate=10m",
            expect![[r#"
                these are options of fio; the options of fourcorners are:
                  --ioengine=rdma  none: --engine is auto, io_uring or psync; an nfs:// target needs none
                  --bs=4k,64k      none: `4k,64k` is not one size
                  --rwmixread      the value is missing
                  --rate=10m       none: `4k,64k` is not one size
            "#]],
        );
        check(
            "run /mnt/vol1 --bs 8k --frobnicate",
            expect![[r#"
                these are options of fio; the options of fourcorners are:
                  --bs 8k       --set transfer_size=8KiB
                  --frobnicate  unknown, also to fio and Vdbench
            "#]],
        );
    }

    #[test]
    fn options_of_fourcorners_and_other_commands_get_no_message() {
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
    fn every_equivalent_is_accepted_by_run() {
        for option in OPTIONS {
            let given = Given::new([(option.names[0], Some(option.example))].into_iter());
            let equivalent = (option.translate)(option.example, &given)
                .unwrap_or_else(|why| panic!("{}={}: {why}", option.names[0], option.example));
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
            let parsed = parsed.unwrap_or_else(|error| panic!("{}: {error}", option.names[0]));
            let crate::args::Command::Run(run) = parsed.command else { panic!("it is `run`") };
            let set: Vec<Override> =
                run.run.experiment.set.iter().map(|text| Override::set(text)).collect();
            let text = profile("four-corners").expect("it is built in").text;
            // fsyncs need writes; an option may override the share.
            let overrides = [vec![Override::set("read=50%")], set].concat();
            parse_with(text, "four-corners", &overrides)
                .unwrap_or_else(|problems| panic!("{}: {problems:#?}", option.names[0]));
        }
    }

    #[test]
    fn option_names_are_unique_and_those_of_run_have_the_same_meaning() {
        let mut clap = Arguments::command();
        clap.build();
        let run = clap.find_subcommand("run").expect("`run` is a command");
        let mut names: Vec<&str> =
            OPTIONS.iter().flat_map(|option| option.names).copied().collect();
        let is_own = |name: &&&str| run.get_arguments().any(|own| own.get_long() == Some(**name));
        let own: Vec<&str> = names.iter().filter(is_own).copied().collect();
        // Options of `run` take precedence: two take no value, and the interval means the same.
        assert_eq!(own, ["buffered", "verify", "interval"]);
        names.sort_unstable();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "{names:?}");
    }
}
