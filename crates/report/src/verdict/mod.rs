//! The verdict on a curve in words: the one place where its sentences are made. Every output takes
//! them from here, so that no two of them can contradict each other.

mod advice;
mod brief;
mod evidence;
mod in_list;
mod proof;
pub mod words;

pub(crate) use advice::{advice, next_command, next_in_words, next_step};
pub(crate) use brief::{Brief, brief, cause};
pub(crate) use evidence::{evidence, sentence as evidence_sentence};
pub use in_list::in_list;
pub(crate) use proof::{Number, proof};

use analysis::Findings;
use analysis::curve::plateau::{Inconclusive, Reason, State};
use analysis::load_point::LoadPoint;
use analysis::verdict::known::Origin;
use analysis::verdict::{Answer, Evidence, Gap, Limit, NAME_MIN, Verdict};
use units::{BytesPerSec, Nanos, OpsPerSec};

use crate::number::{half_width, percent, plain, probability};

/// Candidates that are listed where the answer is open.
const CANDIDATES_MAX: usize = 4;

/// The answer in one sentence, without the curve's name.
pub(crate) fn headline(verdict: &Verdict) -> String {
    match &verdict.answer {
        Answer::Limited { by, probability } => {
            format!("Limited by {}{}.", one_of(by), certainty(*probability, by.len()))
        }
        Answer::NotReached => "No limit reached.".to_owned(),
        Answer::NotEnoughData(Gap::Cached) => {
            "Not enough data: a client cache answered, so the target was not measured.".to_owned()
        }
        Answer::NotEnoughData(Gap::End(Inconclusive::BacklogStood(_))) => {
            "Not enough data to tell whether the target sustains the offered rate.".to_owned()
        }
        Answer::NotEnoughData(Gap::End(_)) => {
            "Not enough data to tell whether throughput still rises with load.".to_owned()
        }
        Answer::NotEnoughData(Gap::Undecided) => {
            let listed: Vec<String> = verdict
                .candidates
                .iter()
                .take(CANDIDATES_MAX)
                .map(|one| format!("{} {}", words::limit(one.limit), probability(one.probability)))
                .collect();
            format!(
                "Throughput has stopped rising, but not enough data to tell why (candidates: {}).",
                listed.join(", ")
            )
        }
    }
}

fn certainty(stated: f64, count: usize) -> String {
    debug_assert!(stated >= NAME_MIN, "nothing is named below");
    match count {
        1 => format!(" ({} sure)", probability(stated)),
        _ => format!(" ({} sure together; the data cannot tell them apart)", probability(stated)),
    }
}

/// `the volume's throughput limit or the endpoint's throughput limit`
pub(crate) fn one_of(limits: &[Limit]) -> String {
    let names: Vec<&str> = limits.iter().map(|limit| words::limit(*limit)).collect();
    match names.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        Some((last, _)) => (*last).to_owned(),
        None => String::new(),
    }
}

/// Index of the highest load without lost hosts, as no sentence rests on a total of fewer hosts.
pub(crate) fn last_whole(findings: &Findings, verdict: &Verdict) -> usize {
    let is_whole = |index: &usize| findings.load_points[*index].is_whole();
    let last = verdict.load_points.iter().rposition(is_whole);
    last.unwrap_or(verdict.plateau.top)
}

/// What the curve's points show, in one sentence with numbers; without a full stop.
pub(crate) fn shape(findings: &Findings, verdict: &Verdict) -> String {
    let plateau = &verdict.plateau;
    let point = |index: usize| &findings.load_points[verdict.load_points[index]];
    let last = last_whole(findings, verdict);
    let top = point(plateau.top);
    match plateau.state {
        State::Reached(Reason::Flat) => {
            let from = plateau.from.unwrap_or(plateau.top);
            let (low, high) = (point(from.min(last)), point(last));
            match from < last {
                true => format!(
                    "throughput is flat from {} ({}) to {} ({}), while latency rises from {} to {}",
                    load(low),
                    rate(low),
                    load(high),
                    rate(high),
                    latency(low),
                    latency(high)
                ),
                false => {
                    let growth = plateau.growth.map_or(String::new(), |growth| {
                        let each = percent(growth.per_doubling());
                        format!(": growth per doubling of the load is {each}")
                    });
                    format!(
                        "throughput does not rise beyond {} at {}{growth}",
                        rate(top),
                        load(top)
                    )
                }
            }
        }
        State::Reached(Reason::AtKnownLimit) => match known_limit(verdict) {
            Some((known, origin)) => {
                let (judged, how) = judged_bytes(top);
                let volumes = verdict.signature.volumes;
                let known = known * f64::from(volumes.max(1));
                let origin = match volumes {
                    0 | 1 => words::origin(origin),
                    several if *origin == Origin::UnequalVolumes => {
                        format!("{several} volumes with unequal limits")
                    }
                    several => format!("{several} volumes: {}", words::origin(origin)),
                };
                format!(
                    "{} at {}{how}, {} of the configured {} ({origin})",
                    BytesPerSec::new(judged),
                    load(top),
                    percent(judged / known),
                    BytesPerSec::new(known),
                )
            }
            None => format!("{} at {}", throughput(top), load(top)),
        },
        State::Reached(Reason::RateNotKept) if verdict.load_points.len() == 1 => format!(
            "the offered rate of {} was not met: {} completed",
            rate_offered(top),
            rate(top)
        ),
        State::Reached(Reason::RateNotKept) => {
            format!(
                "an offered rate was not met: at most {} completed, at {}",
                rate(top),
                load(top)
            )
        }
        State::NotReached if is_open(top) && verdict.load_points.len() == 1 => {
            format!("the offered rate of {} was met", rate_offered(top))
        }
        State::NotReached if is_open(top) => {
            format!("every offered rate was met, up to {}", rate_offered(point(last)))
        }
        State::NotReached => {
            let high = point(last);
            format!(
                "at {} ({}) operations take {}, hardly longer than unloaded ones",
                load(high),
                rate(high),
                latency(high)
            )
        }
        State::Inconclusive(why) => inconclusive(findings, verdict, why),
    }
}

/// The known limit among the evidence in bytes per second, and where it is known from.
fn known_limit(verdict: &Verdict) -> Option<(f64, &Origin)> {
    verdict.evidence.iter().find_map(|one| match &one.evidence {
        Evidence::Known { known, origin, .. } => Some((*known, origin)),
        _ => None,
    })
}

fn inconclusive(findings: &Findings, verdict: &Verdict, why: Inconclusive) -> String {
    let point = |index: usize| &findings.load_points[verdict.load_points[index]];
    let last = last_whole(findings, verdict);
    match why {
        Inconclusive::OnePoint => format!(
            "{} at {}: a single load point does not show whether throughput still rises",
            rate(point(0)),
            load(point(0))
        ),
        Inconclusive::Precision(index) => {
            let at = point(index);
            let half = at.rate_for_judgement().and_then(|(rate, _, _)| rate.relative());
            match half {
                Some(half) => {
                    format!("the rate at {} is known only to ±{}", load(at), half_width(half))
                }
                None => format!(
                    "the rate at {} has no confidence interval: too few intervals",
                    load(at)
                ),
            }
        }
        Inconclusive::MoreLoad => {
            let growth = verdict.plateau.growth;
            let from = growth.map(|growth| point(growth.from));
            match growth.zip(from) {
                Some((growth, from)) => format!(
                    "from {} to {} throughput changed by {} to {}, while latency went from {} \
                     to {}",
                    load(from),
                    load(point(last)),
                    signed(growth.total),
                    rate(point(last)),
                    latency(from),
                    latency(point(last))
                ),
                None => format!("{} at {}", rate(point(last)), load(point(last))),
            }
        }
        Inconclusive::Doubling => {
            "the highest load is less than twice the next lower one".to_owned()
        }
        Inconclusive::Stability(index) => {
            let at = point(index);
            let rates: Vec<f64> = at
                .runs
                .iter()
                .filter_map(|run| run.summary.total.achieved_rate_all_kinds())
                .map(|rate| rate.value)
                .collect();
            match &rates[..] {
                [] | [_] => format!(
                    "throughput fell from {} at {} to {} at {}",
                    rate(at),
                    load(at),
                    rate(point(last)),
                    load(point(last))
                ),
                many => {
                    let (low, high) =
                        many.iter().fold((f64::INFINITY, 0.0f64), |(low, high), rate| {
                            (low.min(*rate), high.max(*rate))
                        });
                    format!(
                        "{} gave {} in one run and {} in another: a limit moved, a burst credit \
                         ran out, or something else used the target",
                        load(at),
                        OpsPerSec::new(high),
                        OpsPerSec::new(low)
                    )
                }
            }
        }
        Inconclusive::BacklogStood(index) => {
            let at = point(index);
            format!(
                "the offered rate of {} was met only on average: operations waited {} to be sent, \
                 and the target took {} for them",
                rate_offered(at),
                schedule_delay(at),
                latency(at)
            )
        }
        Inconclusive::QueueDepth(index) => {
            let at = point(index);
            format!(
                "the offered rate of {} was not met because all {} slots of the queue depth were \
                 in use, while operations took no longer than unloaded ones",
                rate_offered(at),
                at.queue_depth_total
            )
        }
    }
}

/// `+12 %`, `-3.0 %`
fn signed(fraction: f64) -> String {
    let sign = if fraction < 0.0 { "-" } else { "+" };
    format!("{sign}{}", percent(fraction.abs()))
}

fn is_open(point: &LoadPoint) -> bool {
    point.merged.total.offered_rate.is_some()
}

/// `queue depth 16`, or `16,000 ops/s offered`
pub(crate) fn load(point: &LoadPoint) -> String {
    match point.merged.total.offered_rate {
        Some(offered) => format!("{offered} offered"),
        None => format!("queue depth {}", point.queue_depth_total),
    }
}

fn bytes(point: &LoadPoint) -> f64 {
    point.merged.total.data.throughput.map_or(0.0, |throughput| throughput.value)
}

fn throughput(point: &LoadPoint) -> String {
    BytesPerSec::new(bytes(point)).to_string()
}

/// Bytes per second by the rate that the verdict judges, which is no plain mean where runs of the
/// load point differ in precision; and words that say so.
fn judged_bytes(point: &LoadPoint) -> (f64, &'static str) {
    match point.rate_for_judgement() {
        Some((rate, runs, _)) if runs > 1 => {
            (rate.value * point.signature.bytes_per_op(), " (runs weighted by their precision)")
        }
        _ => (bytes(point), ""),
    }
}

/// `16,384 ops/s, 128 MiB/s`
pub(crate) fn rate(point: &LoadPoint) -> String {
    let rate = point.merged.total.data.achieved_rate.map_or(0.0, |rate| rate.value);
    match bytes(point) > 0.0 {
        true => format!("{} ops/s, {}", plain(rate), throughput(point)),
        false => format!("{} ops/s", plain(rate)),
    }
}

fn latency(point: &LoadPoint) -> String {
    let service = point.merged.total.data.service.mean_ns;
    service.map_or("an unknown time".to_owned(), |mean| Nanos(mean.value).to_string())
}

/// `16,000 ops/s`; of a closed load, its queue depth.
fn rate_offered(point: &LoadPoint) -> String {
    let offered = point.merged.total.offered_rate;
    offered.map_or_else(|| load(point), |rate| rate.to_string())
}

fn schedule_delay(point: &LoadPoint) -> String {
    let delay = point.merged.total.schedule_delay_mean_ns;
    delay.map_or("an unknown time".to_owned(), |mean| Nanos(mean.value).to_string())
}
