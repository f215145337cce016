//! Whether the windows were in steady state: rounds, warm-up, outliers and repeats.

use analysis::Findings;
use analysis::steadiness::{StreamSteadiness, WarmUp};
use analysis::warm_up::BIAS_MIN;
use metrics::warning::Figure;
use units::{Nanos, OpsPerSec, counted};

use crate::document::{Block, Section};
use crate::results::{load_point_name, time_unit};

/// More outliers are counted, not listed.
const LISTED_MAX: usize = 6;

/// The section; `None` if no run is long enough to judge.
pub(super) fn section(findings: &Findings) -> Option<Section> {
    let points: Vec<String> =
        [steady(findings), warm_up(findings), outliers(findings), repeats(findings)]
            .into_iter()
            .flatten()
            .collect();
    (!points.is_empty()).then(|| Section {
        id: "steady-state",
        title: "Steady state".to_owned(),
        blocks: vec![Block::List(points)],
        method: vec!["Steady state", "Warm-up", "Outliers", "Repeatability"],
    })
}

fn streams(findings: &Findings) -> impl Iterator<Item = (usize, &StreamSteadiness)> {
    let points = findings.steadiness.iter().enumerate();
    points.flat_map(|(index, point)| point.streams.iter().map(move |stream| (index, stream)))
}

fn steady(findings: &Findings) -> Option<String> {
    let is_open = |index: usize, stream: &StreamSteadiness| {
        let mut streams = findings.load_points[index].merged.streams.iter();
        streams.any(|s| s.name == stream.stream && s.offered_rate.is_some())
    };
    let judged: Vec<bool> = streams(findings)
        .filter_map(|(index, stream)| match is_open(index, stream) {
            true => Some(stream.rate?.is_steady() && stream.response?.is_steady()),
            false => Some(stream.rate?.is_steady()),
        })
        .collect();
    if judged.is_empty() {
        return None;
    }
    let steady = judged.iter().filter(|steady| **steady).count();
    Some(format!("Steady: {steady} of {}.", counted(judged.len() as u64, "window")))
}

fn warm_up(findings: &Findings) -> Option<String> {
    let cuts: Vec<WarmUp> = streams(findings).filter_map(|(_, stream)| stream.warm_up).collect();
    warm_up_sentence(&cuts)
}

/// Whether these warm-ups were long enough.
fn warm_up_sentence(cuts: &[WarmUp]) -> Option<String> {
    let latest = cuts.iter().max_by_key(|warm_up| (warm_up.no_end, warm_up.cut_ns))?;
    let planned = Nanos(latest.planned_ns as f64);
    let cut = Nanos(latest.cut_ns as f64);
    let is_late = |warm_up: &&WarmUp| warm_up.no_end || warm_up.cut_ns > warm_up.planned_ns;
    let (late, short) = (
        cuts.iter().filter(is_late).count(),
        cuts.iter().filter(|warm_up| warm_up.bias.is_some()).count(),
    );
    let end = match latest.no_end {
        true => format!("MSER-5 finds no end of the transient before {cut}"),
        false => format!("MSER-5 ends the transient at {cut} at the latest"),
    };
    Some(if short > 0 {
        let windows = counted(short as u64, "window");
        format!("Warm-up: {planned} was too short for {windows}. {end}.")
    } else if late > 0 {
        format!(
            "Warm-up: {planned}. {end}, inside {late} of {}, but every mean changes by at most \
             {:.0} % or within its noise.",
            counted(cuts.len() as u64, "window"),
            100.0 * BIAS_MIN
        )
    } else {
        format!("Warm-up: {planned} was sufficient. {end}.")
    })
}

fn outliers(findings: &Findings) -> Option<String> {
    let unit = time_unit(&[findings]);
    let all: Vec<String> = streams(findings)
        .flat_map(|(index, stream)| {
            let point = load_point_name(&findings.load_points[index]);
            stream.outliers.iter().map(move |outlier| {
                let print = |value: f64| match outlier.figure {
                    Figure::AchievedRate => OpsPerSec::new(value).to_string(),
                    Figure::ResponseTime => unit.with_symbol(value),
                };
                format!(
                    "{point}, repeat {}, at {}: {} (median {})",
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
    let mut listed = all.iter().take(LISTED_MAX).cloned().collect::<Vec<_>>().join("; ");
    if all.len() > LISTED_MAX {
        listed.push_str(&format!("; and {} more in the JSON", all.len() - LISTED_MAX));
    }
    let count = counted(all.len() as u64, "interval");
    Some(format!("Outliers, included in all results: {count}: {listed}."))
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
        "Repeats: {agree} of {} repeatable (differences within the confidence intervals, Welch's \
         test at 1 %); the widest spread is {:.1} % of the mean.",
        counted(known.len() as u64, "load point"),
        spread * 100.0
    ))
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

    fn sentence(cuts: &[WarmUp]) -> String {
        warm_up_sentence(cuts).expect("there are windows")
    }

    #[test]
    fn a_warm_up_is_sufficient_only_if_the_transient_ends_in_it() {
        assert_eq!(
            sentence(&[cut(250, 0), cut(250, 200)]),
            "Warm-up: 250 ms was sufficient. MSER-5 ends the transient at 200 ms at the latest."
        );
        assert_eq!(
            sentence(&[cut(250, 0), cut(250, 550)]),
            "Warm-up: 250 ms. MSER-5 ends the transient at 550 ms at the latest, inside 1 of 2 \
             windows, but every mean changes by at most 1 % or within its noise."
        );
        // A transient without an end matters more than one that ends later.
        let endless = WarmUp { no_end: true, ..cut(250, 200) };
        let both = sentence(&[endless, cut(250, 240)]);
        assert!(!both.contains("sufficient"), "{both}");
        assert!(both.contains("finds no end of the transient before 200 ms"), "{both}");
    }

    #[test]
    fn a_warm_up_that_biases_a_window_is_too_short() {
        let biased = WarmUp { bias: Some(-0.05), ..cut(250, 550) };
        assert_eq!(
            sentence(&[cut(250, 0), biased]),
            "Warm-up: 250 ms was too short for 1 window. MSER-5 ends the transient at 550 ms at \
             the latest."
        );
    }
}
