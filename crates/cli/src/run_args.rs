//! The flags of `run` and `plan` and their help.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use commands::measure::experiment::ExperimentOptions;
use commands::measure::known_limit;
use commands::measure::{self, FleetOptions};
use target::refusal::Overrides;
use units::Bytes;
use workload::limit::StatedLimit;
use workload::plan::IoMethod;

use crate::fleet_args::{FleetArguments, MeasuringFleetArguments};
use crate::keep_args::AnnotationArguments;
use crate::metrics_args::MetricsArguments;
use crate::pipeline_args::PipelineArguments;
use crate::record_args::{OUTPUT, StoreArguments};

pub(crate) const RUN_EXAMPLES: &str = "\
Examples:
  fourcorners run
  fourcorners run /mnt/vol1 --quick
  fourcorners run /mnt/vol1 -w oltp.toml --set queue_depth=1,4,16 --repeats 3
  fourcorners run \"nfs://filer/vol1?nconnect=8\" --quick
  fourcorners run nfs://filer/vol1 -o nconnect=16 -o addr=10.0.0.4,10.0.0.5
  fourcorners run nfs://filer/vol1 --explain --known volume=1TiB:premium
  fourcorners run /mnt/vol1 --label before --fail-if 'read.p99 > 2ms'
  fourcorners run /mnt/old /mnt/new --interleave --repeats 10
  fourcorners run /mnt/vol1 --hosts ssh:vm[01-24]
  fourcorners run null: --quick        the load generator's own limit";

pub(crate) const PLAN_EXAMPLES: &str = "\
Examples:
  fourcorners plan /mnt/vol1
  fourcorners plan /mnt/vol1 -w oltp.toml --set queue_depth=1,2,4,8,16
  fourcorners plan --json";

/// The experiment and its target, for `plan` and `run`.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Experiment")]
pub(crate) struct ExperimentArguments {
    /// The target: a directory, an NFS export (`nfs://host/export`), or `null:`.
    ///
    /// An `nfs://` URL is accessed by the built-in user-space NFSv3 client; no mount is needed:
    /// `nfs://host[:port]/export[/path][?KEY=VALUE&...]`, with the keys of `--option`. `null:`
    /// measures the load generator's own limit.
    ///
    /// Default: the target of the experiment file, or an emulated volume that this process serves
    /// over NFS on loopback. Its throughput limit and latency are known, no disk of this machine is
    /// measured, and nothing remains afterwards.
    #[arg(value_name = "TARGET", help_heading = None)]
    pub(crate) target: Option<String>,

    /// An option of the NFS export or the emulated volume, as in its URL
    ///
    /// nconnect=COUNT      connections, split across workers (one per worker)
    /// slots=COUNT         calls in flight per connection (128)
    /// policy=NAME         how operations are distributed over connections:
    ///                     round-robin, per-file or least-outstanding
    /// rsize=, wsize=SIZE  largest READ and WRITE, a multiple of 4 KiB
    /// addr=A,B            server addresses to spread connections over
    /// port=, mountport=   ports, instead of the portmapper's answer
    /// uid=, gid=, gids=   the user of the calls
    /// privileged=true     use source ports below 1024
    /// timeo=60s           how long to wait for a reply
    /// connect_timeout=10s how long to wait for a connection
    ///
    /// May be repeated, for example -o nconnect=8 -o slots=64.
    #[arg(
        short,
        long = "option",
        value_name = "KEY=VALUE",
        help_heading = None,
        verbatim_doc_comment
    )]
    pub(crate) option: Vec<String>,

    /// The experiment file (TOML).
    #[arg(short, long, value_name = "FILE", conflicts_with = "profile")]
    pub(crate) workload: Option<PathBuf>,

    /// A built-in profile (see `fourcorners profiles`); default: four-corners.
    #[arg(short, long, value_name = "NAME")]
    pub(crate) profile: Option<String>,

    /// Finish within about 30 s, with less precise results.
    ///
    /// Without an experiment, uses the profile four-corners-quick: 20 s of operations after a fill
    /// of 512 MiB, if the files do not exist yet. With one, measures each load point once; all of
    /// them share 24 s, but each takes 1 to 4 s: a sweep of 60 load points takes a minute.
    #[arg(long)]
    pub(crate) quick: bool,

    /// Override a value of the experiment; several comma-separated values are swept.
    ///
    /// KEY is a stream's key for all streams (`queue_depth`, the I/O depth; `transfer_size`, the
    /// block size; `read`, the share of reads), `STREAM.KEY` for one of them, or `run.KEY`
    /// (`run.measure`). Values, also ranges, are written as in the file. May be repeated.
    #[arg(long = "set", value_name = "KEY=V1,V2,...")]
    pub(crate) set: Vec<String>,

    /// Spread a working set of this size over the experiment's files, for example 1TiB.
    ///
    /// A filer's cache may hold a small working set. Sets `files` and `file_size`: the files become
    /// larger, and more of them above 64 GiB each. With several streams, each keeps its share.
    #[arg(long, value_name = "SIZE")]
    pub(crate) working_set: Option<Bytes>,

    /// How often to measure each load point.
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) repeats: Option<u32>,

    /// Repeat each load point until throughput and latency are this precise, for example 2%.
    ///
    /// The precision is the half-width of the 95 % confidence interval between repeats, of the
    /// achieved rate and of the mean response time. Load points are repeated in random order until
    /// they are precise enough, at least --repeats times (3) and at most `run.repeats_max` times
    /// (10). Load points that do not converge are listed, and the exit code is 1.
    #[arg(long, value_name = "SHARE")]
    pub(crate) until: Option<String>,

    /// Warm-up before the measured window, for example 5s.
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub(crate) warm_up: Option<String>,

    /// Length of the measured window, for example 30s or 2m.
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub(crate) measure: Option<String>,

    /// Reporting period, for example 1s or 500ms.
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub(crate) interval: Option<String>,

    /// Seed of the random number generator: the same seed gives the same operations.
    #[arg(long, value_name = "NUMBER")]
    pub(crate) seed: Option<u64>,

    /// How operations reach the kernel: the I/O engine.
    ///
    /// `auto` first reads from the target with both: io_uring at the plan's largest queue depth (up
    /// to 64), and one blocking thread. It chooses psync if io_uring is refused, or if the thread
    /// is more than 15 % faster and blocking threads would not outnumber the processors, and prints
    /// the reason.
    #[arg(long, value_name = "ENGINE", value_enum)]
    pub(crate) engine: Option<Engine>,

    /// Pin workers to processors in turn.
    ///
    /// With enough processors each worker has a separate one; otherwise workers share processors
    /// and wait for each other, which `plan` and `run` report.
    #[arg(long)]
    pub(crate) pin: bool,

    /// Verify the data that is read.
    ///
    /// A difference is reported with file, offset, expected and found value, and fails the run.
    /// Costs CPU time.
    #[arg(long)]
    pub(crate) verify: bool,

    /// Use the page cache (buffered I/O) instead of direct I/O.
    #[arg(long)]
    pub(crate) buffered: bool,

    /// Find the bottleneck with scaling experiments.
    ///
    /// Instead of its load points, each workload variant is measured with increasing concurrency
    /// until throughput stops rising, and then with one change at a time: another number of
    /// connections (NFS export or emulated volume) or workers, another transfer size, order or
    /// direction, fewer targets or hosts if there are several, until one explanation of the
    /// throughput is left or no experiment could distinguish the rest. This takes 6 runs per
    /// variant on average, and at most 24. A read-only variant may also be measured with writes, to
    /// files that fourcorners created. With one target a volume's limit cannot be distinguished
    /// from its endpoint's: use several [target.NAME] tables, or give limits with --known.
    #[arg(long)]
    pub(crate) explain: bool,

    /// A limit that you know, to help find the bottleneck
    ///
    /// volume=QUOTA:LEVEL[:KIND][@ASSIGNED]
    ///     a volume: 1TiB:premium, 100TiB:ultra:large,
    ///     1TiB:flexible@200MiB/s; KIND is regular, large or breakthrough,
    ///     by default regular up to 100 TiB and large above; ASSIGNED is
    ///     the throughput assigned with manual QoS
    /// volume=, flow=, endpoint=, link=THROUGHPUT
    ///     a bandwidth: 64MiB/s, 10Gbit/s
    /// egress=VM-SIZE, egress=THROUGHPUT
    ///     the VM's limit for sending: Standard_D32s_v3
    /// slots=COUNT
    ///     requests in flight per connection
    /// operations=RATE
    ///     IOPS: 50000/s
    ///
    /// Stored with the results. May be repeated.
    #[arg(
        long,
        value_name = "LIMIT=VALUE",
        value_parser = known_limit::parse,
        verbatim_doc_comment
    )]
    pub(crate) known: Vec<StatedLimit>,
}

impl ExperimentArguments {
    pub(crate) fn options(&self) -> ExperimentOptions {
        let given = self.clone();
        ExperimentOptions {
            hosts: None,
            target: given.target,
            option: given.option,
            workload: given.workload,
            profile: given.profile,
            quick: given.quick,
            set: given.set,
            working_set: given.working_set,
            repeats: given.repeats,
            until: given.until,
            warm_up: given.warm_up,
            measure: given.measure,
            interval: given.interval,
            seed: given.seed,
            io_method: given.engine.map(Engine::io_method),
            pin: given.pin,
            verify: given.verify,
            buffered: given.buffered,
            explain: given.explain,
            known: given.known,
        }
    }
}

/// A duration is checked here, so that the message names the flag, and passed on as it was written.
fn duration(text: &str) -> Result<String, units::ParseError> {
    units::parse_duration(text).map(|_| text.to_owned())
}

/// The I/O engines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Engine {
    /// A short probe on the target decides.
    Auto,
    /// io_uring, one ring per worker.
    #[value(name = "io_uring")]
    IoUring,
    /// pread and pwrite, one thread per outstanding operation.
    Psync,
}

impl Engine {
    const fn io_method(self) -> IoMethod {
        match self {
            Engine::Auto => IoMethod::Auto,
            Engine::IoUring => IoMethod::IoUring,
            Engine::Psync => IoMethod::Psync,
        }
    }
}

/// Refusals of a target that the user may override. The names are those of
/// `target::Override::flag`.
#[derive(Clone, Copy, Debug, Default, Args)]
#[command(next_help_heading = "Overriding refusals")]
pub(crate) struct OverrideArguments {
    /// Create the target directory if it does not exist.
    #[arg(long)]
    pub(crate) create: bool,

    /// Use a directory with other files in it; they are not touched.
    #[arg(long)]
    pub(crate) among_foreign_files: bool,

    /// Continue although nothing is mounted where a mount is expected.
    #[arg(long)]
    pub(crate) not_a_mount: bool,

    /// Continue although the directory was created on another file system.
    #[arg(long)]
    pub(crate) other_filesystem: bool,

    /// Start although the files will not fit into the free space.
    #[arg(long)]
    pub(crate) ignore_free_space: bool,

    /// Rewrite files that changed since they were filled.
    #[arg(long)]
    pub(crate) refill: bool,
}

impl OverrideArguments {
    pub(crate) const fn overrides(self) -> Overrides {
        Overrides {
            create: self.create,
            among_foreign_files: self.among_foreign_files,
            not_a_mount: self.not_a_mount,
            other_filesystem: self.other_filesystem,
            ignore_free_space: self.ignore_free_space,
            refill: self.refill,
        }
    }
}

/// Arguments of `run`.
#[derive(Debug, Args)]
pub(crate) struct RunArguments {
    #[command(flatten)]
    pub(crate) experiment: ExperimentArguments,

    #[command(flatten)]
    pub(crate) overrides: OverrideArguments,

    /// Print every event on stdout as it happens; the table goes to stderr.
    #[arg(long, help_heading = OUTPUT, value_name = "FORMAT", value_enum, conflicts_with = "json")]
    pub(crate) events: Option<EventsFormat>,

    /// Print the results, or the refusal of the target, as JSON instead of a table.
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) json: bool,

    /// Write the HTML report to this file (`-`: stdout, and the table to stderr). Default: in the
    /// store, next to the raw data.
    #[arg(long, help_heading = OUTPUT, value_name = "FILE", conflicts_with = "no_report")]
    pub(crate) report: Option<PathBuf>,

    /// Write no HTML report.
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) no_report: bool,

    /// Print everything that the report has, instead of one screen.
    #[arg(long, help_heading = OUTPUT, conflicts_with = "json")]
    pub(crate) full: bool,

    /// Show no progress; decisions are still printed.
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) no_progress: bool,

    /// Print progress as plain lines, one for each load point, instead of a screen.
    ///
    /// The default if stderr is not a terminal.
    #[arg(long, help_heading = OUTPUT, conflicts_with = "no_progress")]
    pub(crate) plain: bool,

    /// Print progress as plain lines, one for each interval and stream.
    #[arg(short, long, help_heading = OUTPUT, conflicts_with = "no_progress")]
    pub(crate) verbose: bool,

    #[command(flatten)]
    pub(crate) fleet: MeasuringFleetArguments,

    #[command(flatten)]
    pub(crate) metrics: MetricsArguments,

    #[command(flatten)]
    pub(crate) annotation: AnnotationArguments,

    #[command(flatten)]
    pub(crate) store: StoreArguments,
}

impl RunArguments {
    /// * `fleet` - the hosts that measure, instead of this one
    pub(crate) fn options(&self, fleet: Option<FleetOptions>) -> measure::Options {
        measure::Options {
            fleet,
            overrides: self.overrides.overrides(),
            known: self.experiment.known.clone(),
            store: self.store.root(),
            scrape: self.metrics.scrape.clone(),
            annotation: self.annotation.annotation(),
        }
    }
}

/// Arguments of the command `run`: those of other commands that measure, and the comparison.
#[derive(Debug, Args)]
pub(crate) struct RunCommandArguments {
    #[command(flatten)]
    pub(crate) run: RunArguments,

    #[command(flatten)]
    pub(crate) pipeline: PipelineArguments,

    /// The second target, for --interleave; the first target again compares it with itself.
    #[arg(value_name = "TARGET_B", help_heading = None, requires = "interleave")]
    pub(crate) second_target: Option<String>,

    /// Measure two targets in alternating runs and compare them: `run A B --interleave`.
    ///
    /// Prepares both, then does every run on A and on B back to back, in random order from the
    /// seed. Slow changes of the host affect both runs of such a block and cancel out. Each load
    /// point is measured in 5 blocks, or --repeats. Stores one record per target and prints their
    /// comparison as `compare` does. The exit code is that of a run, whatever the verdict.
    #[arg(
        long,
        help_heading = "Experiment",
        requires = "second_target",
        conflicts_with_all = [
            "hosts", "events", "report", "explain", "until", "metrics", "metrics_file", "scrape", "fail_if",
            "junit", "markdown",
        ]
    )]
    pub(crate) interleave: bool,
}

/// Formats of the event stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum EventsFormat {
    /// One JSON object per line; field names include units.
    Jsonl,
}

/// Arguments of `plan`.
#[derive(Debug, Args)]
pub(crate) struct PlanArguments {
    #[command(flatten)]
    pub(crate) experiment: ExperimentArguments,

    #[command(flatten)]
    pub(crate) overrides: OverrideArguments,

    #[command(flatten)]
    pub(crate) fleet: FleetArguments,

    /// Print the plan as JSON, as it is stored.
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) store: StoreArguments,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;
    use target::refusal::Override;

    #[test]
    fn run_and_plan_have_a_flag_for_every_override_of_a_refusal() {
        for name in ["run", "plan"] {
            let mut command = crate::args::Arguments::command();
            let command = command.find_subcommand_mut(name).expect("the command exists");
            let help = command.render_long_help().to_string();
            for one in Override::ALL {
                assert!(help.contains(one.flag()), "{name} lacks {}", one.flag());
            }
        }
    }
}
