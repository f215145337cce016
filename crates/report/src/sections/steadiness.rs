//! Whether the figures stand still: warm-up, rounds, intervals and repeats that lie apart.

use analysis::Findings;
use analysis::steadiness::{StreamSteadiness, WarmUp};
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
    let cuts = || streams(findings).filter_map(|(_, stream)| stream.warm_up);
    let latest = cuts().max_by_key(|warm_up| warm_up.cut_ns)?;
    let planned = |warm_up: WarmUp| Nanos(warm_up.planned_ns as f64);
    let short = cuts().filter(|warm_up| warm_up.bias.is_some()).count();
    let verdict = match short {
        0 => format!("Warm-up: {} was enough", planned(latest)),
        _ => format!(
            "Warm-up: {} was too short for {}",
            planned(latest),
            counted(short, "window", "windows")
        ),
    };
    let until = if latest.no_end { "no end of the transient seen before " } else { "" };
    Some(format!(
        "{verdict}; MSER-5 cuts at {until}{} at the latest. The windows are the plan's.",
        Nanos(latest.cut_ns as f64)
    ))
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
