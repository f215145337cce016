//! The flags of `run` and `plan` and their help.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::known::KnownLimit;
use crate::record_args::{OUTPUT, StoreArguments};

pub(crate) const RUN_EXAMPLES: &str = "\
Examples:
  fourcorners run
  fourcorners run /mnt/vol1 --quick
  fourcorners run /mnt/vol1 -w oltp.toml --set queue_depth=1,2,4,8,16 --repeats 3
  fourcorners run \"nfs://filer/vol1?nconnect=8\" --quick
  fourcorners run nfs://filer/vol1 -o nconnect=16 -o addr=10.0.0.4,10.0.0.5
  fourcorners run nfs://filer/vol1 --explain --known volume=1TiB:premium
  fourcorners run /mnt/old /mnt/new --interleave --repeats 10
  fourcorners run null: --quick        the ceiling of the generator itself";

pub(crate) const PLAN_EXAMPLES: &str = "\
Examples:
  fourcorners plan /mnt/vol1
  fourcorners plan /mnt/vol1 -w oltp.toml --set queue_depth=1,2,4,8,16
  fourcorners plan --json";

/// What `plan` and `run` agree on: the experiment, and what it is done to.
#[derive(Clone, Debug, Args)]
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
    /// waited for. connect_timeout=10s: how long one may take to be made.
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
    /// refused, or where the one thread reads more than 15% faster and blocking threads do not
    /// outnumber the processors, and says what it saw.
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
    /// volume=QUOTA:LEVEL[:KIND][@ASSIGNED] or THROUGHPUT (`1TiB:premium`, `100TiB:ultra:large`,
    /// `1TiB:flexible@200MiB/s`, `64MiB/s`), flow=, endpoint= and link= THROUGHPUT (`10Gbit/s`),
    /// egress=VM SIZE or THROUGHPUT (`Standard_D32s_v3`), slots=COUNT of requests on a connection,
    /// operations=RATE. Kinds of volumes are regular, large and breakthrough; without one a volume
    /// is regular up to 100 TiB and large beyond. ASSIGNED is the throughput that is assigned with
    /// manual QoS. It is kept with the results. May be given many times.
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

    /// Where the HTML report is written (`-`: to stdout, and the table to stderr); without it, in
    /// the store next to the raw data.
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

/// Arguments of the command `run`: what other commands that measure share, and the comparison.
#[derive(Debug, Args)]
pub(crate) struct RunCommandArguments {
    #[command(flatten)]
    pub(crate) run: RunArguments,

    /// The second target, for --interleave. The same as the first compares it with itself.
    #[arg(value_name = "TARGET_B", help_heading = None, requires = "interleave")]
    pub(crate) second_target: Option<String>,

    /// Measure two targets in turns and compare them: `run A B --interleave`.
    ///
    /// Prepares both, then does every run on A and on B, one right after the other, in random
    /// order from the seed. Whatever the host does over a longer time is in both runs of such a
    /// block and cancels; runs that are done back to back cannot tell it from a difference. Each
    /// load point is measured in 5 blocks, or in as many as --repeats says. Keeps one record for
    /// each side and ends with their comparison, as `compare` prints it; the exit code is that of a
    /// run, whatever the verdict.
    #[arg(
        long,
        help_heading = "Experiment",
        requires = "second_target",
        conflicts_with_all = ["events", "report", "explain", "until"]
    )]
    pub(crate) interleave: bool,
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
