//! The verdicts of a record in at most two sentences, for the first lines of every output.

use analysis::Findings;
use analysis::curve::plateau::{Reason, State};
use analysis::verdict::known::Origin;
use analysis::verdict::{Answer, Evidence, Limit, Verdict};
use units::OpsPerSec;

use super::{certainty, evidence, headline, next_command, one_of};
use crate::look::Tone;
use crate::number::mib;
use crate::sections::bottleneck::{by_answer, covered, least_certain, without_verdict};

/// More workloads are counted, not named.
const NAMES_MAX: usize = 2;
/// Measured values that differ by more than this factor are not stated as a range.
const RANGE_MAX: f64 = 1.1;

/// The verdicts in a few sentences.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Brief {
    /// At most two, the first about most workloads; and what they cover, if that is a part of the window.
    pub(crate) sentences: Vec<String>,
    /// What they mean to the reader.
    pub(crate) tone: Tone,
    /// Whether all workloads have the same answer.
    pub(crate) is_one_answer: bool,
}

/// The answers of all workloads: each once, the one of most workloads first. More than two answers
/// are in the lines of the curves.
pub(crate) fn brief(findings: &Findings) -> Brief {
    let mut groups = by_answer(findings);
    groups.sort_by_key(|same| std::cmp::Reverse(same.len()));
    let workloads = groups.iter().map(Vec::len).sum();
    let mut sentences = match &groups[..] {
        [] if findings.load_points.iter().any(|point| !point.is_whole()) => {
            let is_every = findings.load_points.iter().all(|point| !point.is_whole());
            let reason = match is_every {
                true => "hosts were lost at every load point",
                false => "each load point lost hosts or has no complete interval",
            };
            vec![format!("Not enough data: {reason}.")]
        }
        [] => {
            let reason = without_verdict(findings);
            let reason =
                reason.unwrap_or("Not enough data: no load point has a complete interval.");
            vec![reason.to_owned()]
        }
        [only] => {
            let mut sentences = vec![with_amount(only)];
            sentences.extend(contradiction(only));
            sentences.extend(next_command(findings, least_certain(only)));
            sentences
        }
        several => several.iter().map(|same| of_some(same, workloads)).collect(),
    };
    sentences.truncate(2);
    sentences.extend(covered(findings));
    Brief { sentences, tone: tone(&groups), is_one_answer: groups.len() < 2 }
}

fn tone(groups: &[Vec<&Verdict>]) -> Tone {
    let is_certain = |same: &Vec<&Verdict>| match &same[0].answer {
        // A limit of this host says little about the target.
        Answer::Limited { by, .. } => {
            !by.iter().any(|limit| matches!(limit, Limit::ClientCpu | Limit::ClientSlots))
        }
        Answer::NotReached => true,
        Answer::NotEnoughData(_) => false,
    };
    match !groups.is_empty() && groups.iter().all(is_certain) {
        true => Tone::Good,
        false => Tone::Warning,
    }
}

/// The answer of some of the workloads: `2 of 4 workloads: no limit reached.`
fn of_some(same: &[&Verdict], workloads: usize) -> String {
    let names: Vec<&str> = same.iter().map(|verdict| verdict.name.as_str()).collect();
    let names = match names.len() <= NAMES_MAX {
        true => names.join(" and "),
        false => format!("{} of {workloads} workloads", names.len()),
    };
    let answer = with_amount(same);
    let mut letters = answer.chars();
    let first = letters.next().map(|letter| letter.to_ascii_lowercase());
    format!("{names}: {}{}", first.map(String::from).unwrap_or_default(), letters.as_str())
}

/// The answer with the measured value and the known one, if the limit has an amount.
fn with_amount(same: &[&Verdict]) -> String {
    let least = least_certain(same);
    match amount(same) {
        Some(amount) => format!("Limited by {}: {amount}.", cause(least)),
        None => headline(least),
    }
}

/// `the volume's throughput limit (97 % sure)`; certainty is not stated for a limit that this program
/// set and that was measured.
pub(crate) fn cause(verdict: &Verdict) -> String {
    let Answer::Limited { by, probability } = &verdict.answer else { return String::new() };
    match verdict.plateau.state {
        State::Reached(Reason::AtKnownLimit) => one_of(by),
        _ => format!("{}{}", one_of(by), certainty(*probability, by.len())),
    }
}

/// `128 MiB/s (configured 128 MiB/s)`
fn amount(same: &[&Verdict]) -> Option<String> {
    let [limit] = *same[0].named() else { return None };
    let known = |verdict: &&Verdict| {
        verdict.evidence.iter().find_map(|one| match &one.evidence {
            Evidence::Known { limit: of, measured, known, origin } if *of == limit => {
                Some((*measured, *known, origin.clone()))
            }
            _ => None,
        })
    };
    let measured: Vec<f64> = same
        .iter()
        .map(|verdict| match known(verdict) {
            Some((measured, _, _)) => measured,
            None if limit == Limit::OperationsPerSecond => verdict.plateau.level.value,
            None => verdict.plateau.level.value * verdict.bytes_per_op(),
        })
        .collect();
    let measured = range(limit, &measured)?;
    let is_of_each = limit == Limit::VolumeThroughput
        && known(&same[0]).is_some()
        && same.iter().any(|verdict| verdict.signature.volumes > 1);
    Some(match known(&same[0]) {
        Some((_, amount, origin)) => {
            let each = match origin {
                _ if !is_of_each => "",
                Origin::UnequalVolumes => " for each volume on average",
                Origin::Volume { .. } | Origin::Volumes | Origin::Given(_) => " for each volume",
            };
            let source = match origin {
                Origin::Volume { .. } | Origin::Volumes | Origin::UnequalVolumes => "configured",
                Origin::Given(_) => "given",
            };
            format!("{measured} ({source} {}){each}", print(limit, amount)?)
        }
        None => measured,
    })
}

/// `128 MiB/s`, or `125 MiB/s to 128 MiB/s`.
fn range(limit: Limit, values: &[f64]) -> Option<String> {
    let low = values.iter().copied().min_by(f64::total_cmp)?;
    let high = values.iter().copied().max_by(f64::total_cmp)?;
    let (least, most) = (print(limit, low)?, print(limit, high)?);
    match () {
        () if least == most => Some(least),
        () if high > low * RANGE_MAX => None,
        () => Some(format!("{least} to {most}")),
    }
}

/// An amount of throughput or operations; `None` for limits on something else.
fn print(limit: Limit, value: f64) -> Option<String> {
    match limit {
        Limit::OperationsPerSecond => Some(OpsPerSec::new(value).to_string()),
        Limit::VolumeThroughput
        | Limit::Endpoint
        | Limit::NetworkFlow
        | Limit::VmEgress
        | Limit::Link
        | Limit::Disk => Some(format!("{} MiB/s", mib(value))),
        Limit::ClientCpu | Limit::ClientSlots | Limit::ServerSlots | Limit::ServerCpu => None,
    }
}

/// A given limit that the measurement contradicts.
fn contradiction(same: &[&Verdict]) -> Option<String> {
    let sentence = same.iter().find_map(|verdict| evidence(verdict, 0).into_iter().next())?;
    Some(format!("But {sentence}."))
}
