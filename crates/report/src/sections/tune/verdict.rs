//! The answer in sentences: reached or not, what was seen, and what stops it.

use analysis::bottleneck::LimitFinding;
use analysis::tune::findings::{Tried, TuneFindings, Verdict};
use analysis::tune::limit::Stop;
use units::{Bytes, thousands};

use super::words::{measured, operations, rate, rate_of, time, wanted, within};
use crate::number::{mib, percent};

/// The answer in one line, for the end of long outputs.
pub(crate) fn in_a_line(tune: &TuneFindings) -> String {
    let wanted = wanted(tune);
    match &tune.verdict {
        Verdict::Reached { enough, .. } => {
            format!("{wanted}: reached with {} outstanding", operations(enough.outstanding))
        }
        Verdict::TooSlow { response_ns, .. } => format!(
            "{wanted}: reached, but in {} instead of {}",
            time(*response_ns),
            time(tune.reach.response_time_max_ns.unwrap_or(0) as f64)
        ),
        Verdict::Saturated { top, .. } => {
            format!("{wanted}: not reachable, {} ops/s at most", rate(top.rate.value))
        }
        Verdict::Bounded { top } => {
            format!("{wanted}: not reached with {} outstanding", operations(top.outstanding))
        }
        Verdict::Unfinished => format!("{wanted}: not known, the search was not finished"),
    }
}

/// The answer, the most important first.
pub(super) fn words(tune: &TuneFindings, limits: &[LimitFinding]) -> Vec<String> {
    let wanted = wanted(tune);
    match &tune.verdict {
        Verdict::Reached { enough, too_little, open } => {
            let mut words = vec![format!(
                "{wanted} is reached with {} outstanding: {}.",
                operations(enough.outstanding),
                measured(enough)
            )];
            words.push(match too_little {
                Some(less) => format!(
                    "One less, {}, does not reach it: {}, {} of what is wanted. (From {} ops/s on \
                     it counts as reached: --within {}.)",
                    less.outstanding,
                    rate_of(&less.rate),
                    percent(less.rate.value / tune.wanted_ops_per_s),
                    rate(tune.least_ops_per_s),
                    within(tune),
                ),
                None => "One operation at a time is enough, so there is no less.".to_owned(),
            });
            if *open {
                words.push(
                    "Repeats differ so much that one more or one less may be the least: the rate \
                     that counts as reached lies within the uncertainty. A longer window (--measure) \
                     on a quieter system would tell."
                        .to_owned(),
                );
            }
            words.extend(held(tune, enough));
            words
        }
        Verdict::TooSlow { enough, response_ns } => {
            let objective = tune.reach.response_time_max_ns.unwrap_or(0) as f64;
            let mut words = vec![format!(
                "{wanted} is reached, but not within a mean response time of {}: the least \
                 concurrency that reaches it is {} outstanding, and with it the response time is \
                 {}.",
                time(objective),
                operations(enough.outstanding),
                time(*response_ns)
            )];
            words.extend(held(tune, enough));
            words.push(match &tune.best_within_objective {
                Some(best) => format!(
                    "Within {} the most that was measured is {}, with {} outstanding.",
                    time(objective),
                    measured(best),
                    operations(best.outstanding)
                ),
                None => format!(
                    "Nothing that was measured is within {}: one operation at a time already takes \
                     longer.",
                    time(objective)
                ),
            });
            words
        }
        Verdict::Saturated { top, last } => {
            let mut words = vec![format!(
                "{wanted} cannot be reached by more concurrency: the rate stops rising at {} ({} \
                 outstanding).",
                measured(top),
                operations(top.outstanding)
            )];
            if last.outstanding > top.outstanding {
                words.push(format!(
                    "With {} outstanding it was {}, and operations took {} instead of {}.",
                    operations(last.outstanding),
                    rate_of(&last.rate),
                    time(last.response_ns.value),
                    time(top.response_ns.value)
                ));
            }
            words.extend(tune.stop.as_ref().map(|stop| stopped(tune, stop, limits)));
            words
        }
        Verdict::Bounded { top } => {
            let needed = tune.wanted_ops_per_s * top.response_ns.value / 1e9;
            vec![format!(
                "{wanted} is not reached with {} outstanding, the most that was allowed: {}. The \
                 rate was still rising. By Little's law about {} would be needed, if operations \
                 took no longer than they did there: allow more (--outstanding-at-most; over NFS \
                 also -o slots= and -o nconnect=).",
                operations(top.outstanding),
                measured(top),
                thousands(needed.ceil() as u64)
            )]
        }
        Verdict::Unfinished => vec![format!(
            "Whether {wanted} can be reached is not known: the search did not come to its end."
        )],
    }
}

fn stopped(tune: &TuneFindings, stop: &Stop, limits: &[LimitFinding]) -> String {
    match stop {
        Stop::ThroughputLimit { bytes_per_s, level, quota_bytes } => {
            let mut words = format!(
                "What stops it is the volume's throughput limit: {} MiB/s ({} {level}).",
                mib(*bytes_per_s),
                Bytes::new(*quota_bytes)
            );
            if tune.quotas.iter().all(|quota| quota.quota_bytes.is_none()) {
                words.push_str(
                    " No quota of a regular volume gives what is wanted; several volumes, or a \
                     large one, may.",
                );
            }
            words
        }
        Stop::Generator { busy } => format!(
            "What stops it is the generator: its busiest worker used {} of a processor. Give it \
             more workers (--workers), or more hosts.",
            percent(*busy)
        ),
        Stop::Ceiling => "Nothing but the generator was measured: this is its ceiling on this \
                          host. More workers (--workers) raise it as long as there are processors \
                          for them."
            .to_owned(),
        Stop::Attributed { finding, limit, confidence } => {
            let remedy = limits[*finding].remedy.first().map(String::as_str).unwrap_or_default();
            format!(
                "What stops it, with a probability of {}: {}. {remedy}",
                percent(*confidence),
                limit.name()
            )
        }
        Stop::Unknown => "What stops it cannot be told from this alone: a throughput limit of the \
                          volume, a network flow, the host's network, slots of client or server, \
                          or the storage look the same here. What tells them apart: the volume's \
                          quota and service level, and whether more connections (-o nconnect=), \
                          more workers, or more hosts raise the rate."
            .to_owned(),
    }
}

/// What is felt where the concurrency is held at the wanted rate.
fn held(tune: &TuneFindings, enough: &Tried) -> Option<String> {
    let held = tune.held.as_ref()?;
    let reached = held.rate.value >= tune.least_ops_per_s;
    let verdict = if reached { "it gives" } else { "it gives only" };
    Some(format!(
        "Left alone, this concurrency gives {} of what is wanted. Held at {} ops/s (constant \
         arrivals), {verdict} {}.",
        percent(enough.rate.value / tune.wanted_ops_per_s),
        rate(tune.wanted_ops_per_s),
        measured(held)
    ))
}
