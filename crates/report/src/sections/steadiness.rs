//! Whether the figures stand still: warm-up, rounds, intervals and repeats that lie apart.

use analysis::Findings;
use analysis::steadiness::{StreamSteadiness, WarmUp};
use analysis::warm_up::BIAS_MIN;
use metrics::warning::Figure;
use units::{Nanos, OpsPerSec};

use crate::document::{Block, Section};
use crate::rows;

/// More outliers than this are counted, not listed.
const LISTED_MAX: usize = 6;

/// The section, where there is a run to be judged.
pub(super) fn section(findings: &Findings) -> Option<Section> {
    let points: Vec<String> =
        [steady(findings), warm_up(findings), outliers(findings), repeats(findings)]
            .into_iter()
            .flatten()
            .collect();
    (!points.is_empty()).then(|| Section {
        id: "steadiness",
        title: "Steadiness".to_owned(),
        blocks: vec![Block::List(points)],
        method: vec!["Steady state", "Warm-up", "Outliers", "Repeats disagree"],
    })
}

fn streams(findings: &Findings) -> impl Iterator<Item = (usize, &StreamSteadiness)> {
    let points = findings.steadiness.iter().enumerate();
    points.flat_map(|(place, point)| point.streams.iter().map(move |stream| (place, stream)))
}

fn steady(findings: &Findings) -> Option<String> {
    let open = |place: usize, stream: &StreamSteadiness| {
        let mut streams = findings.load_points[place].merged.streams.iter();
        streams.any(|s| s.name == stream.stream && s.offered_rate.is_some())
    };
    let judged: Vec<bool> = streams(findings)
        .filter_map(|(place, stream)| match open(place, stream) {
            true => Some(stream.rate?.is_steady() && stream.response?.is_steady()),
            false => Some(stream.rate?.is_steady()),
        })
        .collect();
    if judged.is_empty() {
        return None;
    }
    let still = judged.iter().filter(|steady| **steady).count();
    Some(format!(
        "Steady: {still} of {}. (Five rounds of the window within 20 % of their mean, their line \
         within 10 %, as SNIA asks; first and last third within 10 %; more only by noise.)",
        counted(judged.len(), "window", "windows")
    ))
}

fn warm_up(findings: &Findings) -> Option<String> {
    let cuts: Vec<WarmUp> = streams(findings).filter_map(|(_, stream)| stream.warm_up).collect();
    warm_up_words(&cuts)
}

/// Of windows with these warm-ups: whether they were long enough, and by what.
fn warm_up_words(cuts: &[WarmUp]) -> Option<String> {
    let latest = cuts.iter().max_by_key(|warm_up| (warm_up.no_end, warm_up.cut_ns))?;
    let planned = Nanos(latest.planned_ns as f64);
    let cut = Nanos(latest.cut_ns as f64);
    let is_late = |warm_up: &&WarmUp| warm_up.no_end || warm_up.cut_ns > warm_up.planned_ns;
    let (late, short) = (
        cuts.iter().filter(is_late).count(),
        cuts.iter().filter(|warm_up| warm_up.bias.is_some()).count(),
    );
    let seen = match latest.no_end {
        true => format!("sees no end of the transient before {cut}"),
        false => format!("cuts at {cut} at the latest"),
    };
    let verdict = if short > 0 {
        let windows = counted(short, "window", "windows");
        format!("Warm-up: {planned} was too short for {windows}; MSER-5 {seen}")
    } else if late > 0 {
        format!(
            "Warm-up: {planned}; in {late} of {} MSER-5 looks into the window for the end of the \
             transient and {seen}, but no mean changes by more than {:.0} % or than by noise",
            counted(cuts.len(), "window", "windows"),
            100.0 * BIAS_MIN
        )
    } else {
        format!("Warm-up: {planned} was enough; MSER-5 {seen}")
    };
    Some(format!("{verdict}. The windows are the plan's."))
}

fn outliers(findings: &Findings) -> Option<String> {
    let all: Vec<String> = streams(findings)
        .flat_map(|(place, stream)| {
            let point = rows::load_point_name(&findings.load_points[place]);
            stream.outliers.iter().map(move |outlier| {
                let print = |value: f64| match outlier.figure {
                    Figure::AchievedRate => OpsPerSec::new(value).to_string(),
                    Figure::ResponseTime => Nanos(value).to_string(),
                };
                format!(
                    "{point}, repeat {}, at {}: {} where the median is {}",
                    stream.repeat + 1,
                    Nanos(outlier.start_ns as f64),
                    print(outlier.value),
                    print(outlier.median)
                )
            })
        })
        .collect();
    if all.is_empty() {
        return None;
    }
    let mut words = all.iter().take(LISTED_MAX).cloned().collect::<Vec<_>>().join("; ");
    if all.len() > LISTED_MAX {
        words.push_str(&format!("; and {} more in the JSON", all.len() - LISTED_MAX));
    }
    let count = counted(all.len(), "interval", "intervals");
    Some(format!("Outliers, counted in every figure: {count} far from the others: {words}."))
}

fn repeats(findings: &Findings) -> Option<String> {
    let repeated = || findings.steadiness.iter().filter_map(|point| point.repeats.as_ref());
    let known: Vec<_> = repeated().filter_map(|repeats| repeats.agreement).collect();
    if known.is_empty() {
        return None;
    }
    let agree = known.iter().filter(|agreement| !agreement.disagree()).count();
    let spread = known.iter().map(|agreement| agreement.spread).fold(0.0, f64::max);
    Some(format!(
        "Repeats: of {} with repeats, {agree} differ no more than their intervals explain \
         (Welch's test, 1 %); the widest spread is {:.1} % of the mean.",
        counted(known.len(), "load point", "load points"),
        spread * 100.0
    ))
}

fn counted(count: usize, one: &str, more: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { more })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(planned_ms: u64, cut_ms: u64) -> WarmUp {
        WarmUp {
            figure: Figure::AchievedRate,
            planned_ns: planned_ms * 1_000_000,
            cut_ns: cut_ms * 1_000_000,
            batch: 1,
            no_end: false,
            bias: None,
        }
    }

    fn words(cuts: &[WarmUp]) -> String {
        warm_up_words(cuts).expect("there are windows")
    }

    #[test]
    fn a_warm_up_was_enough_only_where_the_transient_ends_in_it() {
        assert_eq!(
            words(&[cut(250, 0), cut(250, 200)]),
            "Warm-up: 250 ms was enough; MSER-5 cuts at 200 ms at the latest. The windows are the \
             plan's."
        );
        let late = words(&[cut(250, 0), cut(250, 550)]);
        assert!(!late.contains("enough"), "{late}");
        assert!(late.starts_with("Warm-up: 250 ms; in 1 of 2 windows MSER-5 looks"), "{late}");
        assert!(late.contains("cuts at 550 ms at the latest, but no mean changes by"), "{late}");
        // What goes on to the end matters more than what ends later.
        let endless = WarmUp { no_end: true, ..cut(250, 200) };
        let words_of_both = words(&[endless, cut(250, 240)]);
        assert!(!words_of_both.contains("enough"), "{words_of_both}");
        assert!(words_of_both.contains("sees no end of the transient before 200 ms"));
    }

    #[test]
    fn a_warm_up_that_biases_a_window_was_too_short_for_it() {
        let biased = WarmUp { bias: Some(-0.05), ..cut(250, 550) };
        assert_eq!(
            words(&[cut(250, 0), biased]),
            "Warm-up: 250 ms was too short for 1 window; MSER-5 cuts at 550 ms at the latest. The \
             windows are the plan's."
        );
    }
}
