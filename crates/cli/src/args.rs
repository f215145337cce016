//! The commands and their help, with the exit codes.
//!
//! The flags of a command are here or in its `*_args.rs`; `tests/program/help.rs` compares all help
//! texts with stored ones. To add a command, add a variant of [`Command`] with its arguments and a
//! file in `commands/`.

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::avs_args::{AVS_EXAMPLES, AVS_USAGE, AvsArguments};
use crate::check_args::{CHECK_EXAMPLES, CheckArguments};
use crate::compare_args::{COMPARE_EXAMPLES, CompareArguments};
use crate::expect_args::{EXPECT_EXAMPLES, ExpectArguments};
use crate::fleet_command::{FLEET_EXAMPLES, FleetCommand};
use crate::keep_args::{
    BASELINE_EXAMPLES, BaselineCommand, DuArguments, LABEL_EXAMPLES, LabelArguments,
    PRUNE_EXAMPLES, PruneArguments, RM_EXAMPLES, RmArguments,
};
use crate::observe_args::{OBSERVE_EXAMPLES, ObserveArguments};
use crate::predict_args::{PREDICT_EXAMPLES, PredictArguments};
use crate::program_args::{
    COMPLETIONS_EXAMPLES, CONFIG_EXAMPLES, CompletionsArguments, ConfigArguments, MAN_EXAMPLES,
    ManArguments, SCHEMA_EXAMPLES, SchemaArguments,
};
use crate::record_args::{EXPORT_EXAMPLES, ExportArguments, ListArguments, StoreArguments};
use crate::record_args::{REPORT_EXAMPLES, ReportArguments, SHOW_EXAMPLES, ShowArguments};
use crate::run_args::{PLAN_EXAMPLES, PlanArguments, RUN_EXAMPLES, RunCommandArguments};
use crate::size_args::{SIZE_EXAMPLES, SizeArguments};
use crate::terminal::COLUMNS;
use crate::tune_args::{TUNE_EXAMPLES, TuneArguments};
use crate::volume_args::{VOLUME_EXAMPLES, VolumeCommand};

/// Measure the performance of network file storage: throughput, IOPS, latency.
#[derive(Debug, Parser)]
#[command(
    name = "fourcorners",
    version,
    long_version = env!("FOURCORNERS_LONG_VERSION"),
    disable_help_subcommand = true,
    after_help = EXAMPLES,
    after_long_help = EXAMPLES_AND_EXIT_CODES
)]
pub(crate) struct Arguments {
    /// When to colour messages and tables.
    ///
    /// `auto` colours on a terminal unless the variable NO_COLOR is set.
    #[arg(
        long,
        global = true,
        value_name = "WHEN",
        value_enum,
        default_value_t = ColorWhen::Auto,
        display_order = 1000
    )]
    pub(crate) color: ColorWhen,

    /// Columns of results: 40 to 200.
    ///
    /// Default: the variable COLUMNS, the width of the terminal, or 80.
    #[arg(
        long,
        global = true,
        value_name = "COLUMNS",
        value_parser = width,
        display_order = 1001
    )]
    pub(crate) width: Option<usize>,

    /// The command.
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// The value of --width.
fn width(text: &str) -> Result<usize, String> {
    let (least, most) = (COLUMNS.start(), COLUMNS.end());
    let width = text.parse().ok().filter(|width| COLUMNS.contains(width));
    width.ok_or_else(|| format!("a number from {least} to {most} is required"))
}

macro_rules! examples {
    () => {
        "\
Examples:
  fourcorners run                      measure an emulated volume
  fourcorners run /mnt/vol1 --quick    measure a mounted volume within 30 s
  fourcorners run nfs://filer/vol1     measure an NFS export without a mount
  fourcorners plan /mnt/vol1           show what run would do
  fourcorners list                     list the stored experiments"
    };
}

const EXAMPLES: &str = examples!();

const EXAMPLES_AND_EXIT_CODES: &str = concat!(
    examples!(),
    "

Exit codes:
  0  done
  1  done, but the verdict is negative: interrupted, overloaded, or less
     precise than --until (run), a condition of --fail-if met (run, show),
     target rate not reached (tune), worse or not comparable (compare),
     intervals still missing (fleet collect),
     problems found (check), no design (size, avs),
     offered rate above a limit (predict)
  2  bad input: arguments, an input file, or a refused target
  3  the target failed, or results could not be stored
  4  an internal error of fourcorners (please report it)"
);

/// When messages are coloured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorWhen {
    /// On a terminal, unless NO_COLOR is set.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Measure a directory or an NFS export, and store the results.
    ///
    /// Creates missing files, warms up and measures. Prints a table, writes an HTML report, and
    /// stores all raw data under an ID.
    #[command(after_help = RUN_EXAMPLES)]
    Run(Box<RunCommandArguments>),
    /// Find the least concurrency (I/O depth) that reaches a throughput, IOPS or ops/s target.
    ///
    /// Measures latency at queue depth 1, calculates the required concurrency with Little's law,
    /// measures it, and adjusts until n outstanding operations reach the rate and n - 1 do not, or
    /// until more concurrency brings no more throughput. Prints the calculation and the matching
    /// settings for fourcorners, and for reads and writes also for fio and Vdbench. Exit code 0:
    /// reached, 1: not reached.
    #[command(after_help = TUNE_EXAMPLES)]
    Tune(Box<TuneArguments>),
    /// Show exactly what `run` would do, without writing anything.
    ///
    /// Takes the same arguments as `run`. Prints every run in order, its operations, the data to be
    /// written and the time required; or, with exit code 2, why `run` would refuse the target.
    /// Reads samples of existing files to decide that.
    #[command(after_help = PLAN_EXAMPLES)]
    Plan(PlanArguments),
    /// Characterise an application from a trace, and write the experiment that offers its load.
    ///
    /// Reads fio I/O logs, the output of strace and captures of NFSv3. Prints mix, transfer sizes,
    /// run lengths, working set, arrival, concurrency and response times. Measures nothing.
    #[command(after_help = OBSERVE_EXAMPLES)]
    Observe(ObserveArguments),
    /// Find what to buy: service level, quota, volumes, hosts and cost for a requirement.
    ///
    /// Prints the designs that no other design beats in monthly cost, spare throughput and number
    /// of resources, the limit of each, and what the next cheaper one lacks. If no design meets the
    /// requirement, prints the constraint that prevents it, by how much, and what is possible, with
    /// exit code 1.
    #[command(after_help = SIZE_EXAMPLES)]
    Size(Box<SizeArguments>),
    /// Predict throughput and latency of planned hosts and volumes.
    ///
    /// Takes a topology file: hosts with VM sizes, volumes with service levels, and a workload.
    /// Prints throughput and latency over concurrency, the bottleneck of each range, and the
    /// uncertainty. Exit code 1: the offered rate exceeds a limit.
    #[command(after_help = PREDICT_EXAMPLES)]
    Predict(PredictArguments),
    /// Show the published figures nearest to a configuration, and what they imply for it.
    ///
    /// Prints how each differs (connections, machines, transfer size, caching, age), the model's
    /// correction for the differences, and figures that contradict each other. With --run, compares
    /// them with a measurement.
    #[command(after_help = EXPECT_EXAMPLES)]
    Expect(Box<ExpectArguments>),
    /// List the stored experiments with their results, the newest last.
    ///
    /// Shows label, best throughput, latency floor, verdict, size on disk and target. An ID begins
    /// with the start date and time of the experiment (UTC), which name it too. A narrow terminal
    /// shows fewer columns.
    #[command(after_help = "Examples:\n  fourcorners list\n  fourcorners list --json")]
    List(ListArguments),
    /// Print the results of an experiment.
    #[command(after_help = SHOW_EXAMPLES)]
    Show(ShowArguments),
    /// Export the results of an experiment as CSV, JSON or HdrHistogram percentiles.
    #[command(after_help = EXPORT_EXAMPLES)]
    Export(ExportArguments),
    /// Write the report of one or more experiments, and print its path.
    ///
    /// The first page has the key results, the latency floor, knee and saturation, the bottleneck,
    /// recommendations and caveats. A report of several experiments has combined charts and the
    /// verdict of `compare`.
    #[command(after_help = REPORT_EXAMPLES)]
    Report(ReportArguments),
    /// Test whether experiments differ, and by how much.
    ///
    /// Compares the load points that all experiments have in common with those of the first: the
    /// change of each figure with its 95 % confidence interval, and a verdict that is wrong in at
    /// most 5 % of comparisons without a difference. Names no winner if anything else differs
    /// too.
    #[command(after_help = COMPARE_EXAMPLES)]
    Compare(CompareArguments),
    /// Check whether this host and its mount are configured for full storage performance.
    ///
    /// Checks mount options, connections, slots, TCP windows, the network interface, the VM's
    /// limits, processors, clocks and resource limits. Prints what was found, what is recommended,
    /// which result it affects, and the command to change it. Changes nothing. Exit code 1:
    /// problems found; 2: the directory does not exist or the export cannot be mounted.
    #[command(after_help = CHECK_EXAMPLES)]
    Check(CheckArguments),
    /// Serve a controller on standard input and output: the far end of `--hosts`.
    ///
    /// Started by ssh, srun, kubectl exec or another command on each host of a fleet; not by hand.
    Agent(AgentArguments),
    /// Show what runs on the hosts of a fleet, or complete a record from them.
    #[command(subcommand, disable_help_subcommand = true, after_help = FLEET_EXAMPLES)]
    Fleet(FleetCommand),
    /// Size Azure VMware Solution for the virtual machines of an RVTools export.
    ///
    /// Sizes hosts by CPU, memory and storage. Compares vSAN only with Azure NetApp Files
    /// datastores of each service level and the cheapest mix. Prints the number, size and
    /// throughput of datastores, assigns every VM to one, and lists the VMs to stripe over several.
    /// Exit code 1: no design with such datastores is possible.
    #[command(after_help = AVS_EXAMPLES, override_usage = AVS_USAGE)]
    Avs(Box<AvsArguments>),
    /// Name a record, or add a note to it.
    ///
    /// The label can be used wherever an ID can.
    #[command(after_help = LABEL_EXAMPLES)]
    Label(LabelArguments),
    /// Remove records from the store.
    ///
    /// A running experiment is refused. Continues after an error.
    #[command(after_help = RM_EXAMPLES)]
    Rm(RmArguments),
    /// Remove old records from the store.
    #[command(after_help = PRUNE_EXAMPLES)]
    Prune(PruneArguments),
    /// Show the space that each record takes, the largest first.
    #[command(after_help = "Examples:\n  fourcorners du\n  fourcorners du --json")]
    Du(DuArguments),
    /// Save a record as a small text file to compare with, or print one.
    ///
    /// The file can be committed: `compare --baseline FILE` needs no store with the record.
    #[command(subcommand, disable_help_subcommand = true, after_help = BASELINE_EXAMPLES)]
    Baseline(BaselineCommand),
    /// Remove the files that fourcorners created in a target, and nothing else.
    #[command(after_help = CLEAN_EXAMPLES)]
    Clean(CleanArguments),
    /// List the built-in profiles, or print one as a starting point.
    ///
    /// Each with the space and inodes that its files need, and the time that its runs take without the fill.
    #[command(after_help = PROFILES_EXAMPLES)]
    Profiles(ProfilesArguments),
    /// Serve emulated volumes over NFS, or show the counters of such a service.
    #[command(subcommand, disable_help_subcommand = true, after_help = VOLUME_EXAMPLES)]
    Volume(VolumeCommand),
    /// Print the JSON Schema of the experiment file, for editors, or of results.
    #[command(after_help = SCHEMA_EXAMPLES)]
    Schema(SchemaArguments),
    /// Print the configured values, and where each comes from.
    ///
    /// Reads `fourcorners/config.toml` in $XDG_CONFIG_HOME or ~/.config: lines `KEY = "VALUE"` with
    /// the keys store, color, width, vm and region. A variable FOURCORNERS_KEY has precedence over
    /// the file, and a flag over both.
    #[command(after_help = CONFIG_EXAMPLES)]
    Config(ConfigArguments),
    /// Print the completions of commands and flags for a shell.
    #[command(after_help = COMPLETIONS_EXAMPLES)]
    Completions(CompletionsArguments),
    /// Print the manual page, or write those of all commands into a directory.
    #[command(after_help = MAN_EXAMPLES)]
    Man(ManArguments),
}

const CLEAN_EXAMPLES: &str = "\
Examples:
  fourcorners clean /mnt/vol1
  fourcorners clean nfs://filer/vol1
  fourcorners clean /mnt/vol1 --experiment oltp";

/// Flags of an agent.
#[derive(Debug, Args)]
pub(crate) struct AgentArguments {
    /// Started by a controller from its own file, which is not hashed.
    #[arg(long, hide = true)]
    pub(crate) same_file: bool,
}

/// Arguments of `clean`.
#[derive(Debug, Args)]
pub(crate) struct CleanArguments {
    /// The directory or NFS export; it must contain the marker that fourcorners writes.
    #[arg(value_name = "TARGET")]
    pub(crate) target: String,

    /// An option of the NFS export, as for `run`.
    #[arg(short, long = "option", value_name = "KEY=VALUE")]
    pub(crate) option: Vec<String>,

    /// Remove only the files of this experiment, and keep those that others use.
    ///
    /// The name of a stored experiment or a built-in profile, an ID or a label. May be repeated.
    #[arg(long, value_name = "NAME")]
    pub(crate) experiment: Vec<String>,

    #[command(flatten)]
    pub(crate) store: StoreArguments,
}

const PROFILES_EXAMPLES: &str = "\
Examples:
  fourcorners profiles
  fourcorners profiles sql-server-like > mine.toml
  fourcorners profiles --json";

/// Arguments of `profiles`.
#[derive(Debug, Args)]
pub(crate) struct ProfilesArguments {
    /// Print this profile as TOML.
    #[arg(value_name = "NAME")]
    pub(crate) name: Option<String>,

    /// Print the list as JSON.
    #[arg(long, conflicts_with = "name")]
    pub(crate) json: bool,
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory, Parser};
    use cloud::catalog::Catalog;
    use cloud::service_level::ServiceLevel::{self, Premium, Standard, Ultra};
    use cloud::service_level::VolumeKind::Regular;
    use cloud::volume_limit::VolumeSettings;
    use units::Bytes;

    use super::{Arguments, Command, VolumeCommand};

    #[test]
    fn the_definitions_of_all_arguments_are_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn help_texts_have_the_quotas_and_rates_of_the_catalogue() {
        let catalog = Catalog::embedded();
        let mut command = Arguments::command();
        command.build();
        let help_of = |path: &[&str], flag: &str| {
            let found = path.iter().fold(&command, |command, name| {
                command.find_subcommand(name).expect("a command of this name")
            });
            let mut flags = found.get_arguments();
            let flag = flags.find(|one| one.get_long() == Some(flag)).expect("a flag of this name");
            let help = flag.get_long_help().expect("it has a long help").to_string();
            help.split_whitespace().collect::<Vec<_>>().join(" ")
        };
        let most = Bytes::gib(catalog.quota_range(Regular).1);
        let usual = format!("regular up to {most} and large above");
        for (path, flag) in [(&["run"][..], "known"), (&["volume", "serve"], "kind")] {
            let help = help_of(path, flag);
            assert!(help.contains(&usual), "--{flag}: `{usual}` is not in: {help}");
        }
        let per_tib = |level: ServiceLevel| {
            let settings = VolumeSettings::auto(level, Regular, Bytes::gib(1 << 10));
            let limit = catalog.volume_limit(&settings).expect("the service allows it").throughput;
            limit.expect("a regular volume has a limit").bytes_per_s() >> 20
        };
        let [standard, premium, ultra] = [Standard, Premium, Ultra].map(per_tib);
        let rates = format!("{standard}, {premium} or {ultra} MiB/s per TiB");
        let help = help_of(&["volume", "serve"], "level");
        assert!(help.contains(&rates), "--level: `{rates}` is not in: {help}");
        let line = ["fourcorners", "volume", "serve", "--level", "flexible"];
        let parsed = Arguments::try_parse_from(line).expect("arguments of `volume serve`");
        let Command::Volume(VolumeCommand::Serve(serve)) = parsed.command else {
            panic!("another command")
        };
        let config = serve.volume(&catalog).config(&catalog).expect("the service allows it");
        let account = &config.account;
        let limit = account.throughput_limit(&catalog, &account.volumes[0]).expect("a limit");
        let words = format!("flexible has {} MiB/s", limit.bytes_per_s() as f64 / 1_048_576.0);
        assert!(help.contains(&words), "--level: `{words}` is not in: {help}");
    }
}
