//! The answer in sentences: reached or not, what was measured, and what limits it.

use analysis::Findings;
use analysis::tune::findings::{Outcome, Tried, TuneFindings};
use units::thousands;

use super::quantities::{measured, operations, rate, rate_of, requirement, time_unit, within};
use crate::number::{TimeUnit, percent};
use crate::verdict;

/// The answer in one line, for the end of long outputs.
pub(crate) fn in_a_line(tune: &TuneFindings) -> String {
    let required = requirement(tune);
    let time = |ns: f64| time_unit(tune).with_symbol(ns);
    match &tune.outcome {
        Outcome::Reached { enough, .. } => {
            format!("{required}: reached with {} outstanding", operations(enough.outstanding))
        }
        Outcome::TooSlow { response, .. } => format!(
            "{required}: reached, but in {} instead of {}",
            time(response.0),
            time(tune.reach.response_time_max_ns.unwrap_or(0) as f64)
        ),
        Outcome::Saturated { top, .. } => {
            format!("{required}: not reachable, at most {} ops/s", rate(top.rate.value))
        }
        Outcome::Bounded { top } => {
            format!("{required}: not reached with {} outstanding", operations(top.outstanding))
        }
        Outcome::Inconclusive { top, .. } => {
            format!("{required}: not enough data with {} outstanding", operations(top.outstanding))
        }
        Outcome::Unfinished => format!("{required}: unknown, the search was not finished"),
    }
}

/// The answer in paragraphs, the most important first.
pub(super) fn words(findings: &Findings, tune: &TuneFindings) -> Vec<String> {
    let required = requirement(tune);
    let unit = time_unit(tune);
    let time = |ns: f64| unit.with_symbol(ns);
    let measured = |tried: &Tried| measured(tried, unit);
    match &tune.outcome {
        Outcome::Reached { enough, too_little, open } => {
            let mut words = vec![format!(
                "{required} is reached with {} outstanding: {}.",
                operations(enough.outstanding),
                measured(enough)
            )];
            words.push(match too_little {
                Some(less) => format!(
                    "{} outstanding are too few: {}, {} of the requirement. (At least {} ops/s \
                     count as reached: --within {}.)",
                    less.outstanding,
                    rate_of(less.rate),
                    percent(less.rate.value / tune.target_rate.get()),
                    rate(tune.least_rate.get()),
                    within(tune),
                ),
                None => "One outstanding operation is sufficient.".to_owned(),
            });
            if *open {
                words.push(
                    "Repeats vary so much that the lowest sufficient number may be one higher or one \
                     lower: the required rate is within the confidence interval. Use longer windows \
                     (--measure) on a quieter system."
                        .to_owned(),
                );
            }
            words.extend(paced(tune, enough, unit));
            words
        }
        Outcome::TooSlow { enough, response } => {
            let objective = tune.reach.response_time_max_ns.unwrap_or(0) as f64;
            let mut words = vec![format!(
                "{required} is reached, but not within a mean response time of {}: the lowest \
                 sufficient concurrency is {} outstanding, with a response time of {}.",
                time(objective),
                operations(enough.outstanding),
                time(response.0)
            )];
            words.extend(paced(tune, enough, unit));
            words.push(match &tune.best_within_objective {
                Some(best) => format!(
                    "The highest rate within {} is {}, with {} outstanding.",
                    time(objective),
                    measured(best),
                    operations(best.outstanding)
                ),
                None => format!(
                    "No measurement is within {}: a single outstanding operation already takes \
                     longer.",
                    time(objective)
                ),
            });
            words
        }
        Outcome::Saturated { top, last } => {
            let mut words = vec![format!(
                "{required} cannot be reached with more concurrency: the rate stops rising at {} ({} \
                 outstanding).",
                measured(top),
                operations(top.outstanding)
            )];
            if last.outstanding > top.outstanding {
                words.push(format!(
                    "With {} outstanding it was {}, and response time was {} instead of {}.",
                    operations(last.outstanding),
                    rate_of(last.rate),
                    time(last.response_ns.value),
                    time(top.response_ns.value)
                ));
            }
            words.extend(limited(findings, tune));
            words
        }
        Outcome::Bounded { top } => {
            let needed = tune.target_rate.get() * top.response_ns.value / 1e9;
            let mut words = vec![format!(
                "{required} is not reached with {} outstanding, the maximum allowed: {}.",
                operations(top.outstanding),
                measured(top),
            )];
            words.push(format!(
                "Throughput still rises in proportion to concurrency. By Little's law about {} \
                 outstanding operations are required at that response time. Allow more \
                 (--queue-depth-max; over NFS also -o slots= and -o nconnect=).",
                thousands(needed.ceil() as u64)
            ));
            words
        }
        Outcome::Inconclusive { top, .. } => {
            let mut words = vec![format!(
                "{required} is not reached with {} outstanding: {}. Not enough data to tell whether \
                 more concurrency would reach it.",
                operations(top.outstanding),
                measured(top),
            )];
            words.extend(limited(findings, tune));
            words
        }
        Outcome::Unfinished => vec![format!(
            "Whether {required} can be reached is unknown: the search was not finished."
        )],
    }
}

/// What limits the rate, with the strongest evidence and the first advice, from the verdict on the
/// measured curve.
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
    if throughput_is_limit && tune.quotas.iter().all(|quota| quota.quota.is_none()) {
        words.push(
            "No quota of a regular volume gives the required rate; several volumes, or a large one, \
             may."
                .to_owned(),
        );
    }
    words
}

/// The measurement with arrivals at the required rate.
fn paced(tune: &TuneFindings, enough: &Tried, unit: TimeUnit) -> Option<String> {
    let paced = tune.paced.as_ref()?;
    let is_reached = paced.rate.value >= tune.least_rate.get();
    let gives = if is_reached { "gives" } else { "gives only" };
    Some(format!(
        "Unpaced, this concurrency gives {} of the requirement. Paced at {} ops/s (constant \
         arrivals), it {gives} {}.",
        percent(enough.rate.value / tune.target_rate.get()),
        rate(tune.target_rate.get()),
        measured(paced, unit)
    ))
}
