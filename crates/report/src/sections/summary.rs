//! The summary: key results, knee and saturation, bottleneck, recommendations, caveats.

use analysis::Findings;
use analysis::curve::Curve;
use analysis::curve::plateau::State;
use analysis::sample::Load;
use analysis::summary::{Bend, CurveSummary};
use analysis::verdict::{Answer, Verdict};

use super::bottleneck::{self, NAMES_MAX, listed};
use crate::charts::method_name;
use crate::document::{Block, Section};
use crate::drawing::ticks;
use crate::number::{TimeUnit, mib, percent, plain};
use crate::results::{self, plus_minus, time_unit, unloaded};
use crate::verdict;
use crate::warnings::group_advice;

/// More warnings are counted, not listed.
const CAVEATS_MAX: usize = 6;

/// The summary; `None` if nothing was measured.
pub(crate) fn section(findings: &Findings) -> Option<Section> {
    of(findings, Output::Document)
}

/// The summary without bottleneck and caveats, which follow immediately below it in a terminal.
pub(crate) fn for_terminal(findings: &Findings) -> Option<Section> {
    of(findings, Output::Terminal)
}

/// Where it is read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Output {
    Document,
    Terminal,
}

fn of(findings: &Findings, output: Output) -> Option<Section> {
    let summary = &findings.summary;
    if summary.curves.is_empty() {
        return None;
    }
    let mut blocks = Vec::new();
    let mut part = |heading: &str, points: Vec<String>| {
        if !points.is_empty() {
            blocks.push(Block::Heading(heading.to_owned()));
            blocks.push(Block::List(points));
        }
    };
    let unit = time_unit(&[findings]);
    let highest = summary.curves.iter().map(|one| highest(findings, one, unit));
    let mut results: Vec<String> = highest.collect();
    if summary.curves_left_out > 0 {
        let more = units::counted(summary.curves_left_out as u64, "more curve");
        results.push(format!("{more} in the results below."));
    }
    part("Key results", results);
    let knees = summary.curves.iter().filter_map(|one| knee_and_saturation(findings, one));
    part("Knee and saturation", knees.collect());
    if output == Output::Document {
        part("Bottleneck", limits(findings));
    }
    part("Recommendations", recommendations(findings, output));
    if output == Output::Document {
        part("Caveats", caveats(findings));
    }
    Some(Section {
        id: "summary",
        title: "Summary".to_owned(),
        blocks,
        method: vec!["Achieved rate", "Response time", "Latency floor", "Knees", "Saturation"],
    })
}

fn curve_of<'a>(findings: &'a Findings, one: &CurveSummary) -> &'a Curve {
    &findings.curves[one.curve]
}

/// The verdict on the curve; `None` if its axis is not a load, because each point has its own then.
fn verdict_of<'a>(findings: &'a Findings, one: &CurveSummary) -> Option<&'a Verdict> {
    let curve = curve_of(findings, one);
    let point = curve.points.get(one.most)?;
    (curve.load != Load::NotRaised).then(|| findings.verdict_of(point.load_point)).flatten()
}

/// The load point with the highest rate, and the latency floor.
fn highest(findings: &Findings, one: &CurveSummary, unit: TimeUnit) -> String {
    let curve = curve_of(findings, one);
    let mut sentence =
        format!("{}: {} ops/s{}", curve.name, plain(one.rate.value), plus_minus(one.rate));
    if let Some(throughput) = one.throughput.filter(|throughput| throughput.value > 0.0) {
        sentence.push_str(&format!(", {} MiB/s", mib(throughput.value)));
    }
    sentence.push_str(&format!(" at {}", results::load_in_words(curve, one.most)));
    if let Some(mean) = one.response_mean_ns {
        let mean = unit.with_symbol(mean.value);
        sentence.push_str(&format!(", mean response time {mean}"));
    }
    sentence.push('.');
    if let Ok(floor) = &curve.floor {
        let load = unloaded(&findings.load_points[floor.load_point]);
        match floor.latency_ns() {
            Some(latency) => {
                let latency = unit.with_symbol(latency.value);
                sentence.push_str(&format!(" Latency at {load}: {latency}."));
            }
            None => sentence.push_str(&format!(
                " Throughput is at a limit even at {load}, so the latency of an unloaded operation \
                 was not measured."
            )),
        }
    }
    sentence
}

/// The knee of a curve, and whether it is saturated; `None` for a single load point.
fn knee_and_saturation(findings: &Findings, one: &CurveSummary) -> Option<String> {
    let curve = curve_of(findings, one);
    if curve.points.len() == 1 {
        return None;
    }
    let saturation = saturation(findings, verdict_of(findings, one)?);
    Some(match &one.bend {
        Some(bend) => format!("{}: {}. {saturation}", curve.name, knee(curve, bend)),
        None => format!("{}: {saturation}", curve.name),
    })
}

/// Whether throughput has stopped rising, as a sentence.
pub(super) fn saturation(findings: &Findings, verdict: &Verdict) -> String {
    let shape = verdict::shape(findings, verdict);
    match verdict.plateau.state {
        State::Reached(_) => format!("Saturated: {shape}."),
        State::NotReached => format!("Not saturated: {shape}."),
        State::Inconclusive(_) => format!("Saturation is inconclusive: {shape}."),
    }
}

fn knee(curve: &Curve, bend: &Bend) -> String {
    format!(
        "Knee ({}): {}, at {} of peak throughput. Reaching the peak raises latency {}×",
        method_name(bend.knee.method),
        load_in_words(curve, bend.knee.load),
        percent(bend.rate_share),
        plain(bend.response_factor),
    )
}

fn load_in_words(curve: &Curve, load: f64) -> String {
    match curve.load {
        Load::Open => format!("{} ops/s offered", plain(load)),
        Load::Closed | Load::NotRaised => {
            format!("queue depth {}", ticks::label(load))
        }
    }
}

/// What limits the curves: each answer once, with its curves.
fn limits(findings: &Findings) -> Vec<String> {
    let found = bottleneck::proven(findings).into_iter().filter(|one| one.is_limit);
    found.map(|one| format!("{}: {}", one.names, one.headline)).collect()
}

/// The load for low latency, remedies for the bottlenecks, and loads that should be measured.
fn recommendations(findings: &Findings, output: Output) -> Vec<String> {
    let summary = &findings.summary;
    let mut points: Vec<String> = Vec::new();
    let knees: Vec<String> = summary
        .curves
        .iter()
        .filter_map(|one| {
            let curve = curve_of(findings, one);
            let load = load_in_words(curve, one.bend.as_ref()?.knee.load);
            Some(format!("{load} ({})", curve.name))
        })
        .collect();
    if !knees.is_empty() {
        points.push(format!(
            "For latency-sensitive workloads, use {}.",
            listed(knees.iter().map(String::as_str))
        ));
    }
    let rising: Vec<String> = summary
        .curves
        .iter()
        .filter(|one| {
            let state = verdict_of(findings, one).map(|verdict| verdict.plateau.state);
            state == Some(State::NotReached)
        })
        .map(|one| {
            let curve = curve_of(findings, one);
            format!("{} ({})", results::load_in_words(curve, one.most), curve.name)
        })
        .collect();
    if output == Output::Document {
        let mut remedies: Vec<String> = Vec::new();
        for same in bottleneck::by_answer(findings) {
            let verdict = bottleneck::least_certain(&same);
            if !matches!(verdict.answer, Answer::Limited { .. }) {
                continue;
            }
            let Some(first) = verdict::advice(findings, verdict).into_iter().next() else {
                continue;
            };
            if !remedies.contains(&first) {
                remedies.push(first);
            }
        }
        points.extend(remedies.into_iter().take(NAMES_MAX));
    }
    if !rising.is_empty() {
        points.push(format!(
            "To find the peak throughput, measure with more load than {}.",
            listed(rising.iter().map(String::as_str))
        ));
    }
    points
}

fn caveats(findings: &Findings) -> Vec<String> {
    let caveats = &findings.summary.caveats;
    let all = findings.load_points.len();
    let mut points: Vec<String> = caveats
        .iter()
        .take(CAVEATS_MAX)
        .map(|caveat| {
            let group = &findings.warnings[caveat.warning];
            let name = group.code.replace('_', " ");
            let count = caveat.load_points;
            format!("{name} ({count} of {all} load points): {}", group_advice(group).effect)
        })
        .collect();
    if caveats.len() > CAVEATS_MAX {
        points.push(format!("{} more; see the warnings.", caveats.len() - CAVEATS_MAX));
    }
    points
}
