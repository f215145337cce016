//! The answer in sentences: reached or not, what was measured, and what limits it.

use analysis::Findings;
use analysis::tune::findings::{Outcome, Settings, Tried, TuneFindings};
use units::thousands;

use super::quantities::{
    hosts, measured, operations, rate, rate_of, requirement, time_unit, within, workers,
};
use crate::look::Tone;
use crate::number::{TimeUnit, mib, percent};
use crate::verdict::{self, Brief};

/// The answer in at most two sentences.
pub(crate) fn brief(findings: &Findings, tune: &TuneFindings) -> Brief {
    let sentences = match (&tune.outcome, &tune.settings) {
        (Outcome::Reached { enough, open, .. }, Some(settings)) => {
            let mut sentences = vec![needed(tune, enough, settings)];
            sentences.extend(open.then(|| NOISE.to_owned()));
            sentences
        }
        (Outcome::Saturated { .. } | Outcome::Inconclusive { .. }, _) => {
            let answer = words(findings, tune).into_iter().take(1);
            answer.chain(limited(findings, tune).into_iter().take(1)).collect()
        }
        _ => words(findings, tune).into_iter().take(2).collect(),
    };
    let tone = match &tune.outcome {
        Outcome::Reached { .. } => Tone::Good,
        Outcome::TooSlow { .. } | Outcome::Saturated { .. } | Outcome::Bounded { .. } => Tone::Bad,
        Outcome::Inconclusive { .. } | Outcome::Unfinished => Tone::Warning,
    };
    Brief { sentences, tone, is_one_answer: true }
}

/// `200 MiB/s (3,200 ops/s) needs 7 in flight (queue depth 7, 1 worker): measured 200 MiB/s (3,200
/// ops/s) at 1.95 ms.`
fn needed(tune: &TuneFindings, enough: &Tried, settings: &Settings) -> String {
    let unit = time_unit(tune);
    let measured = tune.paced.as_ref().unwrap_or(enough);
    let shares = match &settings.shares[..] {
        [only] if only.hosts == 1 => {
            format!("queue depth {}, {}", only.queue_depth, workers(only.workers))
        }
        several => hosts(several.iter().map(|share| share.hosts).sum()),
    };
    let rate = rate_of(measured.rate);
    format!(
        "{} needs {} in flight ({shares}): measured {} at {}.",
        requirement(tune),
        enough.outstanding,
        match measured.throughput {
            Some(throughput) => format!("{} MiB/s ({rate})", mib(throughput.value)),
            None => rate,
        },
        unit.with_symbol(measured.response_ns.value)
    )
}

/// Why the answer may be one off.
const NOISE: &str = "Repeats vary so much that the lowest sufficient number may be one higher or \
                     one lower: the required rate is within the confidence interval. Use longer \
                     windows (--measure) on a quieter system.";

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
                words.push(NOISE.to_owned());
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
            let quantity = if tune.target_throughput.is_some() { "Throughput" } else { "The rate" };
            words.push(format!(
                "{quantity} still rises in proportion to concurrency. By Little's law about {} \
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
        words.push(verdict::next_in_words(findings, why, &arguments));
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
