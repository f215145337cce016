//! The answer in sentences: reached or not, what was measured, and what limits it.

use analysis::Findings;
use analysis::tune::findings::{Outcome, Tried, TuneFindings};
use units::thousands;

use super::words::{measured, operations, rate, rate_of, time, wanted, within};
use crate::number::percent;
use crate::verdict;

/// The answer in one line, for the end of long outputs.
pub(crate) fn in_a_line(tune: &TuneFindings) -> String {
    let wanted = wanted(tune);
    match &tune.outcome {
        Outcome::Reached { enough, .. } => {
            format!("{wanted}: reached with {} outstanding", operations(enough.outstanding))
        }
        Outcome::TooSlow { response_ns, .. } => format!(
            "{wanted}: reached, but in {} instead of {}",
            time(*response_ns),
            time(tune.reach.response_time_max_ns.unwrap_or(0) as f64)
        ),
        Outcome::Saturated { top, .. } => {
            format!("{wanted}: not reachable, {} ops/s at most", rate(top.rate.value))
        }
        Outcome::Bounded { top } => {
            format!("{wanted}: not reached with {} outstanding", operations(top.outstanding))
        }
        Outcome::Inconclusive { top, .. } => {
            format!("{wanted}: not enough data with {} outstanding", operations(top.outstanding))
        }
        Outcome::Unfinished => format!("{wanted}: not known, the search was not finished"),
    }
}

/// The answer, the most important first.
pub(super) fn words(findings: &Findings, tune: &TuneFindings) -> Vec<String> {
    let wanted = wanted(tune);
    match &tune.outcome {
        Outcome::Reached { enough, too_little, open } => {
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
        Outcome::TooSlow { enough, response_ns } => {
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
        Outcome::Saturated { top, last } => {
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
            words.extend(limited(findings, tune));
            words
        }
        Outcome::Bounded { top } => {
            let needed = tune.wanted_ops_per_s * top.response_ns.value / 1e9;
            let mut words = vec![format!(
                "{wanted} is not reached with {} outstanding, the most that was allowed: {}.",
                operations(top.outstanding),
                measured(top),
            )];
            words.push(format!(
                "Throughput still rises in proportion to concurrency. By Little's law about {} \
                 outstanding operations would be needed, if they took no longer than they did \
                 there: allow more (--outstanding-at-most; over NFS also -o slots= and -o \
                 nconnect=).",
                thousands(needed.ceil() as u64)
            ));
            words
        }
        Outcome::Inconclusive { top, .. } => {
            let mut words = vec![format!(
                "{wanted} is not reached with {} outstanding: {}. Not enough data to tell whether \
                 more concurrency would reach it.",
                operations(top.outstanding),
                measured(top),
            )];
            words.extend(limited(findings, tune));
            words
        }
        Outcome::Unfinished => vec![format!(
            "Whether {wanted} can be reached is not known: the search did not come to its end."
        )],
    }
}

/// What limits it, with the strongest evidence and the first advice: the verdict on the curve that
/// was measured on the way.
fn limited(findings: &Findings, tune: &TuneFindings) -> Vec<String> {
    let Some(verdict) = tune.verdict.map(|index| &findings.verdicts[index]) else {
        return Vec::new();
    };
    let mut words = vec![
        verdict::headline(verdict),
        format!("Evidence: {}.", verdict::shape(findings, verdict)),
    ];
    words.extend(verdict::advice(findings, verdict).into_iter().next());
    if let Some((why, arguments)) = verdict::next_step(verdict).filter(|(_, more)| !more.is_empty())
    {
        words.push(format!("{why} Add to the command: `{arguments}`"));
    }
    let throughput_is_limit =
        verdict.named().first() == Some(&analysis::verdict::Limit::VolumeThroughput);
    if throughput_is_limit && tune.quotas.iter().all(|quota| quota.quota_bytes.is_none()) {
        words.push(
            "No quota of a regular volume gives the target rate; several volumes, or a large one, \
             may."
                .to_owned(),
        );
    }
    words
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
