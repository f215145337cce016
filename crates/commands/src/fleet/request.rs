//! What a controller asks its agents to do, and their answers, as JSON. Both ends have the same version of
//! the program, so the documents have none. Intervals travel as frames of a journal.

use analysis::host_check::{Facts, RoundTrip, RoundTripSource};
use engine::operations::LaneEnd;
use metrics::run_record::{Outcome, PreparedAmount};
use metrics::tree_comparison::TreeComparison;
use metrics::warning::Warning;
use serde::{Deserialize, Serialize};
use target::LockOwner;
use target::manifest::{DurableBytes, FilledBy, Manifest};
use target::refusal::Overrides;
use target::shared_directory::SharedDirectory;
use target::storage::Storage;
use target::tree::LaneSteps;
use units::BytesPerSec;
use workload::plan::{Assignment, FileSet, IoMethodUsed, Plan, Run};

use super::spool::SpoolRequest;
use crate::check;

/// A request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum Request {
    /// Read the facts that `check` judges.
    Facts {
        target: Option<String>,
        option: Vec<String>,
        target_rate_bytes_per_s: Option<f64>,
        round_trip_ns: Option<u64>,
    },
    /// Use the target of a plan. The answer is [`Opened`].
    Open(Box<Open>),
    /// Take a piece of the text of a list to replay, in order; the last one completes it.
    TakeList { checksum: String, piece: String, is_last: bool },
    /// Check the files of a target, and create those that are missing, for a fill by these hosts. The
    /// answer is [`FillBegun`].
    BeginFill { sequence: u32, target: usize, writers: Vec<FilledBy> },
    /// Fill a part of the missing files. The answer is a list of [`PartFilled`].
    FillPart { sequence: u32, target: usize, part: Box<FillPart> },
    /// Check what was filled. The answer is the manifest.
    EndFill { target: usize },
    /// Use the files of the host that claimed the directory.
    UseFiles { target: usize, manifest: Box<Manifest> },
    /// Make the trees of names on a target, as the first runs that use them need them. The answer is a
    /// list of [`metrics::run_record::Prepared`], one for each tree.
    MakeTrees { sequence: u32, target: usize },
    /// Make the trees of a run what they are at its start.
    RestoreTrees { sequence: u32, run: Box<Run> },
    /// Compare the trees of a run that completed. The answer is [`TreesCompared`].
    CompareTrees { sequence: u32, run: Box<Run>, lanes: Vec<LaneDone> },
    /// Choose the I/O method. The answer is [`Chosen`].
    ChooseIoMethod,
    /// Execute a share of a run. The answer is [`Ended`].
    Run { sequence: u32, assignment: Box<Assignment>, io_method: IoMethodUsed },
    /// The answer is the number and the size of the files that remain on each target, if they can be
    /// read.
    Left { sequence: u32 },
    /// Concerns the host's spools.
    Spool(SpoolRequest),
}

/// The target of a plan on one host.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Open {
    /// The lock of the target belongs to it.
    pub(super) controller: LockOwner,
    pub(super) plan: Plan,
    pub(super) overrides: Overrides,
    /// The directories that another host has claimed, one for each target, and their storage; `None`
    /// claims them.
    pub(super) join: Option<Vec<(SharedDirectory, Storage)>>,
}

/// The answer to [`Request::Open`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Opened {
    /// The directory of each target; none for the null target.
    pub(super) paths: Vec<String>,
    /// From the host that claimed them.
    pub(super) shared: Option<Vec<(SharedDirectory, Storage)>>,
    /// Facts about the host and its way to the target, `(name, value)`.
    pub(super) environment: Vec<(String, String)>,
}

/// The answer to [`Request::BeginFill`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct FillBegun {
    /// In the plan's order.
    pub(super) sets: Vec<SetToFill>,
    pub(super) manifest: Manifest,
}

/// A file set with the files that must be written.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct SetToFill {
    pub(super) set: FileSet,
    /// `(number, bytes to write)`.
    pub(super) missing: Vec<(u32, u64)>,
}

/// The files that one host fills.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct FillPart {
    /// That of the host that claimed the directory; `None` on this host itself.
    pub(super) manifest: Option<Manifest>,
    /// `files[set]`: numbers of missing files.
    pub(super) files: Vec<Vec<u32>>,
}

/// The files of a set that one host has filled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct PartFilled {
    pub(super) set: u32,
    pub(super) written_bytes: u64,
    pub(super) took_ns: u64,
}

/// The answer to [`Request::Run`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Ended {
    pub(super) outcome: Outcome,
    pub(super) details: Vec<String>,
    pub(super) mismatches: Vec<String>,
    pub(super) started_late_ns: Option<u64>,
    /// Intervals that were measured. Those that were not sent are in the host's spool.
    pub(super) intervals: u32,
    /// Warnings about the host during the run.
    pub(super) warnings: Vec<Warning>,
    /// What is done of each of its lanes of operations on names.
    pub(super) lanes: Vec<LaneDone>,
}

/// What is done of a lane of operations on names at the end of a run: [`LaneEnd`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct LaneDone {
    stream: usize,
    target: u32,
    lane: u32,
    /// `(prefix, end, failed)` of [`LaneSteps`].
    steps: Option<(u64, u64, Vec<u64>)>,
}

impl From<LaneEnd> for LaneDone {
    fn from(end: LaneEnd) -> LaneDone {
        let LaneEnd { stream, target, lane, steps } = end;
        let steps = steps.map(|LaneSteps { prefix, end, failed }| (prefix, end, failed));
        LaneDone { stream, target, lane, steps }
    }
}

impl From<LaneDone> for LaneEnd {
    fn from(done: LaneDone) -> LaneEnd {
        let LaneDone { stream, target, lane, steps } = done;
        let steps = steps.map(|(prefix, end, failed)| LaneSteps { prefix, end, failed });
        LaneEnd { stream, target, lane, steps }
    }
}

/// The answer to [`Request::CompareTrees`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct TreesCompared {
    /// Whether the comparison could be done.
    pub(super) outcome: Outcome,
    /// What differs, in words.
    pub(super) mismatches: Vec<String>,
    pub(super) trees: Vec<TreeComparison>,
}

/// What concerns the request that a host is doing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Signal {
    /// That of the request.
    pub(super) sequence: u32,
    pub(super) kind: SignalKind,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum SignalKind {
    /// Start at this time of the agent's clock, which is known with this error.
    Go { start_ns: u64, clock_error_ns: u64 },
    /// End at this time of the run.
    EndAt { end_ns: u64 },
    /// Stop now.
    Stop,
    /// Record what other hosts have written durably.
    Durable { files: Vec<DurableBytes> },
    /// The parts of all other hosts have ended.
    OthersFilled,
}

/// The progress of a request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum Report {
    /// How much of its part of a set the host has written.
    Filling { set: u32, written_bytes: u64 },
    /// What of the tree of a stream the host has created so far.
    MakingTree { stream: String, done: PreparedAmount, total: PreparedAmount },
    /// The host has walked or repaired a further part of a tree of names.
    TreeWalked,
    /// What the host has written durably.
    Durable { files: Vec<DurableBytes> },
    /// The part of the host that claimed the directory failed; its answer follows those of the others.
    PartFailed,
    /// All files are open; the run waits for its start. With the warnings known so far.
    Ready { warnings: Vec<Warning> },
    /// Warnings about the host that become known during its share of a run.
    Warned { warnings: Vec<Warning> },
    /// The last interval was measured; the host checks its files.
    Measured,
    /// It waits for a server, in words.
    Waiting { wait: String },
}

/// The answer to [`Request::Facts`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct HostFacts {
    facts: Vec<(String, String)>,
    round_trip: Option<Measured>,
}

/// A round-trip time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Measured {
    seconds: f64,
    source: Source,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Source {
    Given,
    Connects { count: usize, address: String },
    GetattrMean { calls: u64 },
}

impl Request {
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("a request is numbers, texts and lists")
    }

    /// What this request makes a host do, in words: `opening the target`.
    pub(super) const fn doing(&self) -> &'static str {
        match self {
            Request::Facts { .. } => "reading its settings",
            Request::Open(_) => "opening the target",
            Request::TakeList { .. } => "reading a list to replay",
            Request::BeginFill { .. } => "checking the files of the target",
            Request::FillPart { .. } => "filling its files",
            Request::EndFill { .. } => "checking the filled files",
            Request::UseFiles { .. } => "opening the filled files",
            Request::MakeTrees { .. } | Request::RestoreTrees { .. } => "making the tree of names",
            Request::CompareTrees { .. } => "comparing the tree of names",
            Request::ChooseIoMethod => "choosing the I/O method",
            Request::Run { .. } => "executing its share of the run",
            Request::Left { .. } => "counting the remaining files",
            Request::Spool(_) => "working on its spool",
        }
    }

    pub(super) fn of_check(options: &check::Options) -> Request {
        Request::Facts {
            target: options.target.clone(),
            option: options.option.clone(),
            target_rate_bytes_per_s: options.target_rate.map(BytesPerSec::get),
            round_trip_ns: options.round_trip.map(|time| time.as_nanos() as u64),
        }
    }

    pub(super) fn parse(bytes: &[u8]) -> Result<Request, String> {
        serde_json::from_slice(bytes)
            .map_err(|error| format!("read the controller's request: {error}"))
    }
}

impl HostFacts {
    pub(super) fn of(checked: check::Checked) -> HostFacts {
        let round_trip = checked.options.round_trip.map(|time| Measured {
            seconds: time.seconds,
            source: match time.source {
                RoundTripSource::Given => Source::Given,
                RoundTripSource::Connects { count, address } => Source::Connects { count, address },
                RoundTripSource::GetattrMean { calls } => Source::GetattrMean { calls },
            },
        });
        HostFacts { facts: checked.facts.0, round_trip }
    }

    pub(super) fn into_parts(self) -> (Facts, Option<RoundTrip>) {
        let round_trip = self.round_trip.map(|time| RoundTrip {
            seconds: time.seconds,
            source: match time.source {
                Source::Given => RoundTripSource::Given,
                Source::Connects { count, address } => RoundTripSource::Connects { count, address },
                Source::GetattrMean { calls } => RoundTripSource::GetattrMean { calls },
            },
        });
        (Facts(self.facts), round_trip)
    }
}
