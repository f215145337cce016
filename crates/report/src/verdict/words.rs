//! The words of analysis' enums: limits, models, missing values, ends of searches, notes, caveats.

use analysis::compare::caveats::CaveatEvidence;
use analysis::compare::figures::InconclusiveCause;
use analysis::compare::host_use::HostContrast;
use analysis::compare::side::SideCaveat;
use analysis::curve::Missing;
use analysis::findings::Note;
use analysis::fit::model::Model;
use analysis::search::Ended;
use analysis::verdict::Limit;
use analysis::verdict::known::Origin;
use units::{counted, thousands};

/// The name of a limit in sentences: `limited by ...`.
pub(crate) const fn limit(of: Limit) -> &'static str {
    match of {
        Limit::VolumeThroughput => "the volume's throughput limit",
        Limit::Endpoint => "the endpoint's throughput limit",
        Limit::NetworkFlow => "the limit of each network flow",
        Limit::VmEgress => "the VM's egress limit",
        Limit::Link => "the link's bandwidth",
        Limit::ClientCpu => "this host's processors",
        Limit::ClientSlots => "the client's request slots",
        Limit::ServerSlots => "the server's request slots",
        Limit::ServerCpu => "the server's processors",
        Limit::Disk => "the storage media",
        Limit::OperationsPerSecond => "a limit on operations per second",
    }
}

/// Where a known limit comes from: `512 GiB x Ultra`, `as given`.
pub fn origin(of: &Origin) -> String {
    match of {
        Origin::Volume { quota, level } => format!("{quota} x {level}"),
        Origin::Volumes => "equal limits".to_owned(),
        Origin::UnequalVolumes => "the mean of unequal limits".to_owned(),
        Origin::Given(Some(name)) => name.clone(),
        Origin::Given(None) => "as given".to_owned(),
    }
}

/// A model of a storage.
pub(crate) const fn model(of: Model) -> &'static str {
    match of {
        Model::Bounds => "fixed delay and throughput limit",
        Model::DelayAndServer => "fixed delay and one server with a queue",
        Model::DelayAndServers => "fixed delay and several servers with a queue",
        Model::Usl => "universal scalability law",
        Model::Md1 => "M/D/1 after a fixed delay",
        Model::Mm1 => "M/M/1 after a fixed delay",
        Model::Mmc => "M/M/c after a fixed delay",
    }
}

/// Why a number of a curve is missing, as the end of a sentence.
pub(crate) fn missing(of: &Missing) -> String {
    match of {
        Missing::NotALoad => "the swept parameter is not a load",
        Missing::NothingMeasured => "nothing was measured",
        Missing::HostsLost => "hosts were lost",
        Missing::TooFewPoints { points, required } => {
            let points = counted(*points as u64, "load point");
            return format!("{points}, at least {required} are required");
        }
        Missing::NoQueueDepthOne => "no load point has queue depth 1 and one worker (for each host and target)",
        Missing::NotDoubled => "the load was not doubled",
        Missing::NotSaturated => "saturation was not reached",
        Missing::FloorIsPace => {
            "throughput is at the limit even at queue depth 1, so the time per operation there is set \
             by the limit and is not the latency of the target"
        }
        Missing::ObjectiveMetEverywhere => "every load point meets the objective",
        Missing::ObjectiveNeverMet => "no load point meets the objective",
        Missing::RateVaries => "the offered rate changes by plan",
        Missing::NotPoisson => "arrivals are not Poisson, so the formulas do not apply",
        Missing::NoBend => "the curve has no bend",
    }
    .to_owned()
}

/// Why a search ended: `it ended because ...`.
pub(crate) const fn ended(of: Ended) -> &'static str {
    match of {
        Ended::NoGain => "more outstanding operations did not raise throughput",
        Ended::ResponseTime => "the mean response time exceeded the objective",
        Ended::Overloaded => "the offered rate exceeded what the target sustains",
        Ended::AllTried => "all planned load points were measured",
        Ended::Reached => "the lowest concurrency that reaches the rate is known",
        Ended::Explained => "the bottleneck was identified, or there is none",
        Ended::Inconclusive => "no permitted change would reveal the bottleneck",
        Ended::Failed => "a run failed",
        Ended::RunsMax => "the maximum number of runs was reached",
        Ended::HostsLost => "hosts were lost",
        Ended::Bracketed => "the overload point is known to the required precision",
    }
}

/// A note on the experiment as a whole.
pub(crate) fn note(of: &Note) -> String {
    match of {
        Note::Interrupted => {
            "The experiment was interrupted; what was measured until then is shown.".to_owned()
        }
        Note::Failed { reason } => format!(
            "The experiment failed; what was measured until then is shown. Reason: {reason}"
        ),
        Note::Aborted => {
            "The experiment did not record its end: it was killed, or the host went down. All complete \
             intervals are shown."
                .to_owned()
        }
        Note::RunsMissing { started, planned } => {
            format!("{started} of {planned} planned runs were started.")
        }
        Note::HostsLost { load_points, of } => format!(
            "Hosts were lost: the totals of {load_points} of {} are those of fewer hosts, and no \
             conclusion rests on them.",
            counted(*of as u64, "load point")
        ),
    }
}

/// Why two figures cannot be compared.
pub(crate) const fn inconclusive_cause(of: InconclusiveCause) -> &'static str {
    match of {
        InconclusiveCause::NotMeasured => "too few samples on one side",
        InconclusiveCause::SingleRunsDiffer => "differs within these runs; one run each",
        InconclusiveCause::SingleRuns => "one run each",
        InconclusiveCause::TestsDisagree => "means and ranks disagree",
        InconclusiveCause::AmongMany => "could be chance among so many figures",
        InconclusiveCause::Drift => "explained by drift between back-to-back repeats",
        InconclusiveCause::FewBackToBack => "too few back-to-back repeats",
        InconclusiveCause::HostDiffers => "host state differs",
        InconclusiveCause::HostsLost => "hosts were lost, so a value is that of fewer hosts",
        InconclusiveCause::ChangesByPlan => "one run each, whose offered rate changes by plan",
        InconclusiveCause::TooCoarse => "runs vary too much to detect it",
    }
}

/// A caveat of one side of a comparison, after its label: `A was interrupted`.
pub(crate) fn side_caveat(of: &SideCaveat) -> String {
    match of {
        SideCaveat::Interrupted => "was interrupted".to_owned(),
        SideCaveat::Failed { reason } => format!("failed: {reason}"),
        SideCaveat::Aborted => "did not record its end".to_owned(),
        SideCaveat::FailedOperations(count) => format!(
            "had {} failed operations, which are in neither rates nor latencies",
            thousands(*count)
        ),
    }
}

/// What was wrong with a load point's measurement.
pub(crate) fn caveat_evidence(of: &CaveatEvidence) -> String {
    match of {
        CaveatEvidence::Warning(warning) => crate::warnings::found(warning),
        CaveatEvidence::Host(contrast) => host_contrast(contrast),
    }
}

/// The host states that differ: `steal 0.1 % and 5.0 % of processor time`.
pub(crate) fn host_contrast(of: &HostContrast) -> String {
    let percent = |share: f64| format!("{:.1} %", 100.0 * share.max(0.0));
    let pair = |what: &str, a: f64, b: f64| {
        format!("{what} {} against {} of processor time", percent(a), percent(b))
    };
    let steal = of.in_steal().then(|| pair("steal", of.first.steal, of.second.steal));
    let others = of.in_others().then(|| pair("other processes", of.first.others, of.second.others));
    steal.into_iter().chain(others).collect::<Vec<_>>().join(", ")
}
