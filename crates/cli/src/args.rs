//! The table of commands, and the exit codes as the long help has them.
//!
//! The flags of a command stand here or in the file `*_args.rs` of its name; all help texts are
//! golden-tested in `tests/program/help.rs`. A command is added as a variant of [`Command`] with
//! its arguments and a file of its name in `commands/`. Places are kept for import, vdbench, fio,
//! agent and web.

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::avs_args::{AVS_EXAMPLES, AVS_USAGE, AvsArguments};
use crate::check_args::{CHECK_EXAMPLES, CheckArguments};
use crate::compare_args::{COMPARE_EXAMPLES, CompareArguments};
use crate::expect_args::{EXPECT_EXAMPLES, ExpectArguments};
use crate::predict_args::{PREDICT_EXAMPLES, PredictArguments};
use crate::record_args::{EXPORT_EXAMPLES, ExportArguments, ListArguments};
use crate::record_args::{REPORT_EXAMPLES, ReportArguments, SHOW_EXAMPLES, ShowArguments};
use crate::run_args::{PLAN_EXAMPLES, PlanArguments, RUN_EXAMPLES, RunCommandArguments};
use crate::size_args::{SIZE_EXAMPLES, SizeArguments};
use crate::tune_args::{TUNE_EXAMPLES, TuneArguments};
use crate::volume_args::{VOLUME_EXAMPLES, VolumeCommand};

/// Measures what a file store delivers, and keeps the numbers with their raw data.
#[derive(Debug, Parser)]
#[command(
    name = "fourcorners",
    version,
    disable_help_subcommand = true,
    after_help = EXAMPLES,
    after_long_help = EXAMPLES_AND_EXIT_CODES
)]
pub(crate) struct Arguments {
    /// Whether messages and tables are coloured.
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

    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Command,
}

const EXAMPLES: &str = "\
Examples:
  fourcorners run                      the four corners of an emulated volume
  fourcorners run /mnt/vol1 --quick    of a mounted volume, done within 30 s
  fourcorners run nfs://filer/vol1     of an NFS export, without a mount
  fourcorners plan /mnt/vol1           what run would do, without doing it
  fourcorners list                     what was measured so far";

const EXAMPLES_AND_EXIT_CODES: &str = "\
Examples:
  fourcorners run                      the four corners of an emulated volume
  fourcorners run /mnt/vol1 --quick    of a mounted volume, done within 30 s
  fourcorners run nfs://filer/vol1     of an NFS export, without a mount
  fourcorners plan /mnt/vol1           what run would do, without doing it
  fourcorners list                     what was measured so far

Exit codes:
  0  done
  1  done, but the verdict is negative: interrupted, overloaded, or known less
     well than --until asks (run), a rate not reached (tune), found worse or
     not to be compared (compare), problems found (check), nothing that could
     be bought (size) or no design (avs) as asked, more offered than would be
     let through (predict)
  2  bad input: arguments, the experiment file, or a target that is refused
  3  the target failed, or what was measured could not be kept
  4  a mistake of fourcorners itself";

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

/// What can be done.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Measure a directory or an NFS export, and keep the results.
    ///
    /// Prepares the files that are missing, warms up, measures, and ends with a table, an HTML
    /// report and the ID under which everything is kept.
    #[command(after_help = RUN_EXAMPLES)]
    Run(Box<RunCommandArguments>),
    /// Find the least concurrency that reaches a rate, or what stops it.
    ///
    /// Measures the response time of one operation at a time, works out by Little's law how many
    /// must be outstanding, measures that and corrects, until one number reaches the rate and one
    /// less does not, or until more brings no more. Ends with the arithmetic and with the settings
    /// of fio, Vdbench and fourcorners that give this concurrency. Exit code 0: reached, 1: not
    /// reached.
    #[command(after_help = TUNE_EXAMPLES)]
    Tune(Box<TuneArguments>),
    /// Show what `run` would do, exactly, and write nothing.
    ///
    /// Takes the same arguments as `run` and prints every run in its order, the operations, the
    /// bytes to be written, and the time needed; or, with exit code 2, why `run` would refuse. For
    /// that it reads samples of the files that are there.
    #[command(after_help = PLAN_EXAMPLES)]
    Plan(PlanArguments),
    /// Find what to buy for a need: service level, quota, volumes, hosts, cost.
    ///
    /// Shows the designs that no other beats in monthly cost, spare throughput and number of things
    /// to run, with what binds each and what the next cheaper one would lose. Where nothing gives
    /// what is needed it says which constraint forbids it, by how much, and what would be possible,
    /// with exit code 1.
    #[command(after_help = SIZE_EXAMPLES)]
    Size(Box<SizeArguments>),
    /// Predict rate and response time of hosts and volumes that are only described.
    ///
    /// Takes a topology file: hosts with their VM sizes, volumes with their levels, what is done.
    /// Ends with the curve over concurrency, what bounds each stretch of it, and how far off that
    /// may be. Exit code 1: more is offered than would be let through.
    #[command(after_help = PREDICT_EXAMPLES)]
    Predict(PredictArguments),
    /// Show the published figures nearest to a configuration, and what they mean for it.
    ///
    /// Says how each differs (connections, machines, transfer size, caching, age), what the model
    /// makes of the differences, and which figures contradict each other. With --run a measurement
    /// is set beside them.
    #[command(after_help = EXPECT_EXAMPLES)]
    Expect(Box<ExpectArguments>),
    /// List what was measured, the oldest first.
    ///
    /// An ID begins with the date and time (UTC) at which its experiment began.
    #[command(after_help = "Examples:\n  fourcorners list\n  fourcorners list --json")]
    List(ListArguments),
    /// Show the results of one experiment.
    #[command(after_help = SHOW_EXAMPLES)]
    Show(ShowArguments),
    /// Write the results of one experiment as CSV, JSON or HdrHistogram percentiles.
    #[command(after_help = EXPORT_EXAMPLES)]
    Export(ExportArguments),
    /// Write the report of one or more experiments, and print its path.
    ///
    /// Begins with a page in plain words: what the target can do, where it bends, what limits it,
    /// what to change. Several experiments get charts that show them side by side, and the verdict
    /// of `compare`.
    #[command(after_help = REPORT_EXAMPLES)]
    Report(ReportArguments),
    /// Tell whether two experiments or more differ, and by how much.
    ///
    /// Compares the load points that all have in common with those of the first, figure by figure:
    /// the change with its 95 % interval, and a verdict that is wrong in at most one comparison of
    /// twenty where nothing differs. No winner is named where something else differs too.
    #[command(after_help = COMPARE_EXAMPLES)]
    Compare(CompareArguments),
    /// Check whether this host and this mount are set to show what the store can do.
    ///
    /// Looks at mount options, connections, slots, TCP windows, the network interface, the virtual
    /// machine's limit, processors, clocks and limits; says what was found, what is wanted, which
    /// figure it matters for, and the command that changes it. Changes nothing itself. Exit code 1
    /// where there is a problem, 2 where the directory does not exist or the export cannot be
    /// mounted.
    #[command(after_help = CHECK_EXAMPLES)]
    Check(CheckArguments),
    /// Size Azure VMware Solution for the machines of an RVTools export.
    ///
    /// Counts hosts by processors, memory and storage; compares vSAN alone with datastores on Azure
    /// NetApp Files of each service level and their cheapest mix; says how many datastores, how
    /// large and how fast, places every machine on one, and says which machines to stripe over
    /// several. Exit code 1 where no design with datastores on files is possible as asked.
    #[command(after_help = AVS_EXAMPLES, override_usage = AVS_USAGE)]
    Avs(Box<AvsArguments>),
    /// Remove the files that fourcorners made in a target, and nothing else.
    #[command(after_help = CLEAN_EXAMPLES)]
    Clean(CleanArguments),
    /// List the built-in profiles, or print one as a starting point.
    #[command(after_help = PROFILES_EXAMPLES)]
    Profiles(ProfilesArguments),
    /// Serve emulated volumes over NFS, or show what such a service saw.
    #[command(subcommand, disable_help_subcommand = true, after_help = VOLUME_EXAMPLES)]
    Volume(VolumeCommand),
    /// Print the JSON Schema of the experiment file, for editors.
    #[command(after_help = "Examples:\n  fourcorners schema > fourcorners.schema.json")]
    Schema,
}

const CLEAN_EXAMPLES: &str = "\
Examples:
  fourcorners clean /mnt/vol1
  fourcorners clean nfs://filer/vol1";

/// Arguments of `clean`.
#[derive(Debug, Args)]
pub(crate) struct CleanArguments {
    /// The directory or NFS export; it must carry the marker that fourcorners writes.
    #[arg(value_name = "TARGET")]
    pub(crate) target: String,

    /// An option of the NFS export, as `run` takes them.
    #[arg(short, long = "option", value_name = "KEY=VALUE")]
    pub(crate) option: Vec<String>,
}

const PROFILES_EXAMPLES: &str = "\
Examples:
  fourcorners profiles
  fourcorners profiles four-corners > mine.toml";

/// Arguments of `profiles`.
#[derive(Debug, Args)]
pub(crate) struct ProfilesArguments {
    /// The profile to print as TOML.
    #[arg(value_name = "NAME")]
    pub(crate) name: Option<String>,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_table_of_arguments_is_consistent() {
        super::Arguments::command().debug_assert();
    }
}
