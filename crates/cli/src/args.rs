//! The table of commands, and the exit codes as the long help has them.
//!
//! The flags of a command stand here or in the file `*_args.rs` of its name; all help texts are
//! golden-tested in `tests/program/help.rs`. A command is added as a variant of [`Command`] with
//! its arguments and a file of its name in `commands/`. Places are kept for import, vdbench, fio,
//! agent and web.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::avs_args::AvsArguments;
use crate::beside_args::BesideArguments;
use crate::check_args::CheckArguments;
use crate::expect_args::ExpectArguments;
use crate::known::KnownLimit;
use crate::predict_args::PredictArguments;
use crate::size_args::SizeArguments;
use crate::tune_args::TuneArguments;
use crate::volume_args::VolumeCommand;

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
    Run(RunArguments),
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
    /// where there is a problem.
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

const RUN_EXAMPLES: &str = "\
Examples:
  fourcorners run
  fourcorners run /mnt/vol1 --quick
  fourcorners run /mnt/vol1 -w oltp.toml --set queue_depth=1,2,4,8,16 --repeats 3
  fourcorners run \"nfs://filer/vol1?nconnect=8\" --quick
  fourcorners run nfs://filer/vol1 -o nconnect=16 -o addr=10.0.0.4,10.0.0.5
  fourcorners run nfs://filer/vol1 --explain --known volume=1TiB:premium
  fourcorners run null: --quick        the ceiling of the generator itself";

const TUNE_EXAMPLES: &str = "\
Examples:
  fourcorners tune --want 100MiB/s     of an emulated volume
  fourcorners tune /mnt/vol1 --want 200MiB/s --transfer-size 64KiB
  fourcorners tune /mnt/vol1 --want 3200/s --transfer-size 8KiB --pattern random
  fourcorners tune nfs://filer/vol1 -o nconnect=8 --want 1GiB/s --hosts 3";

const SIZE_EXAMPLES: &str = "\
Examples:
  fourcorners size --throughput 950MiB/s --capacity 4TiB
  fourcorners size --iops 60000 --read 70% --capacity 4TiB --response-time 2ms
  fourcorners size --throughput 2GiB/s --capacity 20TiB --read 0% --vm D32s_v5
  fourcorners size --from-run last --growth 30% --headroom 20%
  fourcorners size --schedule peak=5TiB@08-18,off=4TiB --capacity 1.1TiB
  fourcorners size --part data=4TiB,704MiB/s --part log=512GiB,256MiB/s --json";

const PLAN_EXAMPLES: &str = "\
Examples:
  fourcorners plan /mnt/vol1
  fourcorners plan /mnt/vol1 -w oltp.toml --set queue_depth=1,2,4,8,16
  fourcorners plan --json";

const PREDICT_EXAMPLES: &str = "\
Examples:
  fourcorners predict examples/topologies/database.toml
  fourcorners predict examples/topologies/vmware.toml --curve --explain
  fourcorners predict mine.toml --against published
  fourcorners predict mine.toml --report mine.html";

const EXPECT_EXAMPLES: &str = "\
Examples:
  fourcorners expect --vm D32s_v3 --protocol nfsv3 --nconnect 16
  fourcorners expect --vm D32s_v5 --clients 6 --transfer-size 8KiB --read 70%
  fourcorners expect --client esxi --clients 4 --volumes 4 --explain
  fourcorners expect --run last --vm D32s_v5";

const CHECK_EXAMPLES: &str = "\
Examples:
  fourcorners check /mnt/vol1
  fourcorners check /mnt/vol1 --want 2GiB/s --rtt 500us --all
  fourcorners check \"nfs://filer/vol1?nconnect=8\" --json
  fourcorners check --capture-script > capture.sh
  fourcorners check /mnt/vol1 --root captured-host1";

const AVS_USAGE: &str = "\
fourcorners avs [OPTIONS] --rvtools <PATH>
       fourcorners avs --print-profile <NAME>";

const AVS_EXAMPLES: &str = "\
Examples:
  fourcorners avs --rvtools export.xlsx
  fourcorners avs --rvtools export.xlsx --iops-per-vm 50/s
  fourcorners avs --print-profile avd-medium > loads.toml
  fourcorners avs --rvtools export.xlsx --profile loads.toml
  fourcorners avs --rvtools export.xlsx --host AV64 --host-price 5000/month
  fourcorners avs --rvtools csv-set/ --live-optics measured.xlsx --policy raid5
  fourcorners avs --rvtools export.xlsx --explain --report avs.html";

const CLEAN_EXAMPLES: &str = "\
Examples:
  fourcorners clean /mnt/vol1
  fourcorners clean nfs://filer/vol1";

const SHOW_EXAMPLES: &str = "\
Examples:
  fourcorners show last
  fourcorners show 20261121 --json";

const EXPORT_EXAMPLES: &str = "\
Examples:
  fourcorners export last --format csv
  fourcorners export last --format hgrm --output vol1.hgrm";

const REPORT_EXAMPLES: &str = "\
Examples:
  fourcorners report last
  fourcorners report last --theme print --output vol1.html
  fourcorners report 20261121T0915 20261121T1030 --output near-and-far.html
  fourcorners report last --format png --output slides/";

const COMPARE_EXAMPLES: &str = "\
Examples:
  fourcorners compare last~1 last
  fourcorners compare 20261120 20261121 --allow-different kernel
  fourcorners compare before after --json --fail-on cannot-tell";

const VOLUME_EXAMPLES: &str = "\
Examples:
  fourcorners volume serve             a volume of 1 TiB, limited to 64 MiB/s
  fourcorners volume stat              what the service saw";

const PROFILES_EXAMPLES: &str = "\
Examples:
  fourcorners profiles
  fourcorners profiles four-corners > mine.toml";

/// What `plan` and `run` agree on: the experiment, and what it is done to.
#[derive(Debug, Args)]
#[command(next_help_heading = "Experiment")]
pub(crate) struct ExperimentArguments {
    /// What is measured: a directory, an NFS export (`nfs://host/export`), or `null:`.
    ///
    /// Of an export a client of our own is measured, in this process: `nfs://host[:port]/export
    /// [/path][?KEY=VALUE&...]`, with the keys of `--option`. `null:` is the generator's own
    /// ceiling.
    ///
    /// Without it, the target that the experiment file names; without that, an emulated volume
    /// that this process serves itself, over NFS on loopback: its throughput limit and its delays
    /// are known, nothing on this machine's disks is measured, and it leaves nothing behind.
    #[arg(value_name = "TARGET", help_heading = None)]
    pub(crate) target: Option<String>,

    /// An option of an NFS export or the emulated volume, as in its URL, for example nconnect=8.
    ///
    /// nconnect=COUNT: connections of this process, dealt out over the workers; without it one for
    /// each worker. port=, mountport=: instead of asking the portmapper. rsize=, wsize=: most bytes
    /// of a call, from 4 KiB on in whole 4 KiB. slots=: calls outstanding on a connection (128).
    /// policy=round-robin, per-file or least-outstanding: how operations are dealt out to
    /// connections. addr=A,B: addresses over which connections are spread. uid=, gid=, gids=: who
    /// calls. privileged=true: from ports below 1024. timeo=60s: how long a silent connection is
    /// waited for.
    #[arg(short, long = "option", value_name = "KEY=VALUE", help_heading = None)]
    pub(crate) option: Vec<String>,

    /// The experiment file (TOML).
    #[arg(short, long, value_name = "FILE", conflicts_with = "profile")]
    pub(crate) workload: Option<PathBuf>,

    /// A built-in profile; `fourcorners profiles` lists them. The default is four-corners.
    #[arg(short, long, value_name = "NAME")]
    pub(crate) profile: Option<String>,

    /// Be done within 30 s, or as near to it as one second for each load point allows.
    ///
    /// The numbers are rougher. Without an experiment it means the profile four-corners-quick: 20 s
    /// of operations, after a fill of 512 MiB where the files are not there yet. With one, each
    /// load point is measured once, and all of them share 24 s, but each has at least 1 s and at
    /// most 4 s: a sweep of 60 load points takes a minute.
    #[arg(long)]
    pub(crate) quick: bool,

    /// Replace a value of the experiment; several values, separated by commas, are swept.
    ///
    /// KEY is a key of a stream (`queue_depth`), which then holds for all streams, `STREAM.KEY` for
    /// one of them, or `run.KEY` (`run.measure`). Values are written as in the file, ranges too.
    /// May be given many times.
    #[arg(long = "set", value_name = "KEY=V1,V2,...")]
    pub(crate) set: Vec<String>,

    /// How often each load point is measured.
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) repeats: Option<u32>,

    /// Repeat each load point until rate and response time are known within this, for example 2%.
    ///
    /// It is the half-width of the 95% intervals, between repeats, of the achieved rate and of the
    /// mean response time. Load points are repeated in random order, those that are known well
    /// enough no more; at least --repeats times (3), at most `run.repeats_max` times (10). What is
    /// not known well enough even then is said, with exit code 1.
    #[arg(long, value_name = "SHARE")]
    pub(crate) until: Option<String>,

    /// How long operations run before the window begins, for example 5s.
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub(crate) warm_up: Option<String>,

    /// The length of the window that is reported, for example 30s or 2m.
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub(crate) measure: Option<String>,

    /// The reporting period, for example 1s or 500ms.
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub(crate) interval: Option<String>,

    /// The seed of all randomness: the same seed gives the same operations.
    #[arg(long, value_name = "NUMBER")]
    pub(crate) seed: Option<u64>,

    /// How operations reach the kernel.
    ///
    /// `auto` tries both with reads of the target before the first run: io_uring at the plan's
    /// largest queue depth (up to 64), and one blocking thread. It takes psync where io_uring is
    /// refused, or where the one thread reads more than 15% faster, and says what it saw.
    #[arg(long, value_name = "ENGINE", value_enum)]
    pub(crate) engine: Option<Engine>,

    /// Pin workers to processors in turn.
    ///
    /// Each has a processor of its own where there are enough of them; otherwise some share one and
    /// wait for each other, which `plan` and `run` say.
    #[arg(long)]
    pub(crate) pin: bool,

    /// Check what is read against what was written.
    ///
    /// A difference is reported with file, offset, expected and found, and fails the run. Costs
    /// processor time.
    #[arg(long)]
    pub(crate) verify: bool,

    /// Go through the page cache instead of using direct I/O.
    #[arg(long)]
    pub(crate) buffered: bool,

    /// Find out what limits the rate, by scaling experiments.
    ///
    /// Instead of the experiment's load points each of its variants is measured with more and more
    /// outstanding operations until they bring no more, and then with one change at a time: other
    /// numbers of connections (of an NFS export or the emulated volume) and workers, another
    /// transfer size, order and direction; until one explanation of the rate is left, or nothing
    /// would tell the rest apart. That takes 6 runs of a variant on average, and at most 24. Reads
    /// alone may be measured as writes too, to files of our own. A second volume behind the same
    /// address would tell a volume's limit from the address's, but a run has one target: see
    /// --known.
    #[arg(long)]
    pub(crate) explain: bool,

    /// A limit that you know beforehand, for telling what limits the rate.
    ///
    /// volume=QUOTA:LEVEL or THROUGHPUT (`1TiB:premium`, `64MiB/s`), flow=, endpoint= and link=
    /// THROUGHPUT (`10Gbit/s`), egress=VM SIZE or THROUGHPUT (`Standard_D32s_v3`), slots=COUNT
    /// of requests on a connection, operations=RATE. It is kept with the results. May be given many
    /// times.
    #[arg(long, value_name = "LIMIT=VALUE", value_parser = crate::known::parse)]
    pub(crate) known: Vec<KnownLimit>,
}

/// A duration is checked here, so that the message names the flag, and passed on as it was written.
fn duration(text: &str) -> Result<String, units::ParseError> {
    units::parse_duration(text).map(|_| text.to_owned())
}

/// The engines a user can ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Engine {
    /// A short probe decides.
    Auto,
    /// io_uring, one ring for each worker.
    #[value(name = "io_uring")]
    IoUring,
    /// pread and pwrite, a thread for each outstanding operation.
    Psync,
}

/// Refusals of a target directory that a user may override. The names are those of
/// `target::Override::flag`.
#[derive(Clone, Copy, Debug, Default, Args)]
#[command(next_help_heading = "Overriding refusals")]
pub(crate) struct OverrideArguments {
    /// Make the target directory if it does not exist.
    #[arg(long)]
    pub(crate) create: bool,

    /// Work beside files that fourcorners did not make; they are left alone.
    #[arg(long)]
    pub(crate) among_foreign_files: bool,

    /// Go on although nothing is mounted where a mount belongs.
    #[arg(long)]
    pub(crate) not_a_mount: bool,

    /// Go on although our directory was made on another file system.
    #[arg(long)]
    pub(crate) other_filesystem: bool,

    /// Begin although the files will not fit into the free space.
    #[arg(long)]
    pub(crate) ignore_free_space: bool,

    /// Write our files anew where they are not as they were left.
    #[arg(long)]
    pub(crate) refill: bool,
}

pub(crate) const OUTPUT: &str = "Output";

/// Arguments of `run`.
#[derive(Debug, Args)]
pub(crate) struct RunArguments {
    #[command(flatten)]
    pub(crate) experiment: ExperimentArguments,

    #[command(flatten)]
    pub(crate) overrides: OverrideArguments,

    /// Print every event on stdout as it happens; the table then goes to stderr.
    #[arg(long, help_heading = OUTPUT, value_name = "FORMAT", value_enum, conflicts_with = "json")]
    pub(crate) events: Option<EventsFormat>,

    /// Print the results as JSON on stdout instead of the table; or the refusal of the target.
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) json: bool,

    /// Where the HTML report is written; without it, beside the raw data in the store.
    #[arg(long, help_heading = OUTPUT, value_name = "FILE", conflicts_with = "no_report")]
    pub(crate) report: Option<PathBuf>,

    /// Write no HTML report.
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) no_report: bool,

    /// Show no line per interval and no progress bar; what was decided is still said.
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) no_progress: bool,

    #[command(flatten)]
    pub(crate) store: StoreArguments,
}

/// Forms of the event stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum EventsFormat {
    /// One JSON object on each line; units stand in the field names.
    Jsonl,
}

/// Arguments of `plan`.
#[derive(Debug, Args)]
pub(crate) struct PlanArguments {
    #[command(flatten)]
    pub(crate) experiment: ExperimentArguments,

    #[command(flatten)]
    pub(crate) overrides: OverrideArguments,

    /// Print the whole plan as JSON, as the store keeps it.
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) store: StoreArguments,
}

/// Where results are kept.
#[derive(Debug, Args)]
pub(crate) struct StoreArguments {
    /// The directory in which results are kept.
    ///
    /// Without it, the variable FOURCORNERS_STORE; without that, `fourcorners` inside
    /// $XDG_DATA_HOME or ~/.local/share.
    #[arg(long = "store", value_name = "DIR", help_heading = OUTPUT)]
    pub(crate) directory: Option<PathBuf>,
}

/// Arguments of `list`.
#[derive(Debug, Args)]
pub(crate) struct ListArguments {
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) store: StoreArguments,
}

/// Which experiment of the store.
#[derive(Debug, Args)]
pub(crate) struct IdArgument {
    /// The ID as `list` shows it, its unique beginning, or `last` for the newest.
    #[arg(value_name = "ID")]
    pub(crate) id: String,

    #[command(flatten)]
    pub(crate) store: StoreArguments,
}

/// Arguments of `show`.
#[derive(Debug, Args)]
pub(crate) struct ShowArguments {
    #[command(flatten)]
    pub(crate) which: IdArgument,

    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) beside: BesideArguments,
}

/// Arguments of `export`.
#[derive(Debug, Args)]
pub(crate) struct ExportArguments {
    #[command(flatten)]
    pub(crate) which: IdArgument,

    /// The form of the export.
    #[arg(long, value_name = "FORMAT", value_enum)]
    pub(crate) format: ExportFormat,

    /// The file that is written; without it, stdout.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) beside: BesideArguments,
}

/// Forms of an export.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportFormat {
    /// A row for each load point, repeat and stream.
    Csv,
    /// Everything the report shows.
    Json,
    /// A row for each point of each curve, with floor, knees and saturation marked, as CSV.
    Curves,
    /// A row for each connection of each run, as CSV; of targets with connections (`nfs://`).
    Connections,
    /// Percentile distributions, as HdrHistogram's tools read them.
    Hgrm,
}

/// Arguments of `report`.
#[derive(Debug, Args)]
pub(crate) struct ReportArguments {
    /// The IDs as `list` shows them, their unique beginnings, or `last` for the newest.
    #[arg(value_name = "ID", required = true)]
    pub(crate) ids: Vec<String>,

    /// The look: as the reader's system has it, or one of the others.
    #[arg(long, value_name = "THEME", value_enum, default_value_t = ReportTheme::Auto)]
    pub(crate) theme: ReportTheme,

    /// The form of the report.
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = ReportFormat::Html)]
    pub(crate) format: ReportFormat,

    /// The file that is written, with HTML, or else the directory; without it, `report.html` or
    /// `report` beside the raw data in the store.
    #[arg(short, long, value_name = "PATH")]
    pub(crate) output: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) beside: BesideArguments,

    #[command(flatten)]
    pub(crate) store: StoreArguments,
}

/// Looks of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportTheme {
    /// Light or dark as the reader's system has it.
    Auto,
    /// Light.
    Light,
    /// Dark.
    Dark,
    /// For paper: light, narrow, everything unfolded.
    Print,
}

/// Forms of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    /// One page that opens from disk and needs no network.
    Html,
    /// Markdown with tables, and its charts as SVG beside it.
    Md,
    /// Each chart as an SVG picture.
    Svg,
    /// Each chart as a PNG picture of 1920 pixels, for slides.
    Png,
}

/// Arguments of `compare`.
#[derive(Debug, Args)]
pub(crate) struct CompareArguments {
    /// The records: what the others are compared with first. Each an ID as `list` shows it, its
    /// unique beginning, `last`, `last~1` for the one before it, or the path of a run directory.
    #[arg(value_name = "ID", required = true, num_args = 1..)]
    pub(crate) ids: Vec<String>,

    /// Let these differ, because they are what is compared; several, separated by commas, or `all`.
    ///
    /// kernel, engine, mount (file system, mount options), nconnect, vm, cpu, memory, network,
    /// clock, target, volume (the emulated one's settings), plan (what was asked of the load
    /// points), cache (how much a cache of this host answered) and tool (the build of fourcorners).
    #[arg(long, value_name = "ITEM,...", value_delimiter = ',')]
    pub(crate) allow_different: Vec<String>,

    /// How much single runs are known to differ, as a share (one standard deviation): 2%.
    ///
    /// Only for records that measured each load point once, which by themselves give no verdict.
    #[arg(long, value_name = "SHARE")]
    pub(crate) run_to_run: Option<units::Percent>,

    /// Say `no difference` only where a change of this share would have been seen; 10% without it.
    #[arg(long, value_name = "SHARE")]
    pub(crate) resolution: Option<units::Percent>,

    /// When the exit code is 1.
    #[arg(long, value_name = "WHEN", value_enum, default_value_t = FailOn::Regression)]
    pub(crate) fail_on: FailOn,

    /// Show all figures, not only the main ones and those that differ.
    #[arg(long)]
    pub(crate) all: bool,

    /// The form of the output.
    #[arg(long, value_name = "FORMAT", value_enum, conflicts_with = "json")]
    pub(crate) format: Option<CompareFormat>,

    /// Print JSON, with all figures.
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) store: StoreArguments,
}

impl CompareArguments {
    /// The form that is wanted.
    pub(crate) fn form(&self) -> CompareFormat {
        match self.json {
            true => CompareFormat::Json,
            false => self.format.unwrap_or(CompareFormat::Text),
        }
    }
}

/// When a comparison ends with a negative verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FailOn {
    /// When a main figure became worse, or what was measured cannot be compared.
    Regression,
    /// Then, and when nothing can be told.
    CannotTell,
    /// Never.
    Never,
}

/// Forms of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum CompareFormat {
    /// For a terminal.
    Text,
    /// Markdown, for a wiki or a ticket.
    Md,
    /// Everything, for programs.
    Json,
}

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
