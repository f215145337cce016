//! The summary in plain words: key results, knee and saturation, bottleneck, recommendations,
//! caveats.

use analysis::Findings;
use analysis::curve::Curve;
use analysis::curve::plateau::State;
use analysis::curve::sample::Load;
use analysis::summary::{Bend, CurveSummary};
use analysis::verdict::{Answer, Verdict};
use units::Nanos;

use super::bottleneck;
use crate::charts::method_in_words;
use crate::document::{Block, Section};
use crate::number::{half_width, mib, percent, plain};
use crate::verdict;

/// More names than this are counted, not listed.
const NAMES_MAX: usize = 8;
/// More warnings than this are counted, not listed.
const CAVEATS_MAX: usize = 6;

/// The summary; nothing where nothing was measured.
pub(crate) fn section(findings: &Findings) -> Option<Section> {
    of(findings, Output::Document)
}

/// The summary without bottleneck and caveats: in a terminal both follow just below it.
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
    let of_curve = |say: fn(&Findings, &CurveSummary) -> Option<String>| -> Vec<String> {
        summary.curves.iter().filter_map(|one| say(findings, one)).collect()
    };
    let mut results = of_curve(highest);
    if summary.curves_left_out > 0 {
        let more = units::counted(summary.curves_left_out as u64, "more curve");
        results.push(format!("{more} in the results below."));
    }
    part("Key results", results);
    part("Knee and saturation", of_curve(bend));
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
        method: vec!["Achieved rate", "Response time", "Floor", "Knees", "Saturation"],
    })
}

fn curve_of<'a>(findings: &'a Findings, one: &CurveSummary) -> &'a Curve {
    &findings.curves[one.curve]
}

/// The verdict on the curve; `None` where its axis is no load, so that each point has its own.
fn verdict_of<'a>(findings: &'a Findings, one: &CurveSummary) -> Option<&'a Verdict> {
    let curve = curve_of(findings, one);
    let point = curve.points.get(one.most)?;
    (curve.load != Load::NotRaised).then(|| findings.verdict_of(point.load_point)).flatten()
}

fn highest(findings: &Findings, one: &CurveSummary) -> Option<String> {
    let curve = curve_of(findings, one);
    let point = &curve.points[one.most];
    let plus_minus =
        one.rate.relative().map_or(String::new(), |share| format!(" ± {}", half_width(share)));
    let mut words = format!("{}: {} ops/s{plus_minus}", curve.name, plain(one.rate.value));
    if let Some(throughput) = one.throughput {
        words.push_str(&format!(", {} MiB/s", mib(throughput.value)));
    }
    words.push_str(&format!(", at {} {}", curve.axis, point.label));
    if let Some(mean) = one.response_mean_ns {
        words.push_str(&format!(", with a mean response time of {}", Nanos(mean.value)));
    }
    words.push('.');
    if let Ok(floor) = &curve.floor {
        match floor.latency_ns() {
            Some(latency) => {
                words.push_str(&format!(" Latency at queue depth 1: {}.", Nanos(latency.value)));
            }
            None => words.push_str(
                " Throughput is at a limit from queue depth 1 on, so the latency of an unloaded \
                 operation was not measured.",
            ),
        }
    }
    Some(words)
}

/// Where the curve bends and whether its end was reached.
fn bend(findings: &Findings, one: &CurveSummary) -> Option<String> {
    let curve = curve_of(findings, one);
    if curve.points.len() == 1 {
        // One load point has no bend.
        return None;
    }
    let verdict = verdict_of(findings, one)?;
    let end = end(findings, verdict);
    let words = match &one.bend {
        Some(bend) => format!("{}: {}. {end}", curve.name, knee(curve, bend)),
        None => format!("{}: {end}", curve.name),
    };
    Some(words)
}

/// Whether throughput has stopped rising, as one or two sentences.
pub(super) fn end(findings: &Findings, verdict: &Verdict) -> String {
    let shape = verdict::shape(findings, verdict);
    match verdict.plateau.state {
        State::Reached(_) => format!("Saturated: {shape}."),
        State::NotReached => format!("Not saturated: {shape}."),
        State::Inconclusive(_) => format!("Saturation is inconclusive: {shape}."),
    }
}

fn knee(curve: &Curve, bend: &Bend) -> String {
    format!(
        "Knee ({}): {}, at {} of the highest throughput; the rest costs {} times the latency",
        method_in_words(bend.knee.method),
        load_in_words(curve, bend.knee.load),
        percent(bend.rate_share),
        plain(bend.response_factor),
    )
}

fn load_in_words(curve: &Curve, load: f64) -> String {
    match curve.load {
        Load::Open => format!("{} ops/s offered", plain(load)),
        Load::Closed | Load::NotRaised => {
            format!("queue depth {}", crate::chart::ticks::label(load))
        }
    }
}

/// What limits the curves: each answer once, with the curves that it is about.
fn limits(findings: &Findings) -> Vec<String> {
    bottleneck::alike(findings)
        .iter()
        .filter(|same| same[0].answer != Answer::NotReached)
        .map(|same| {
            let names: Vec<String> = same.iter().map(|verdict| verdict.name.clone()).collect();
            let headline = verdict::headline(bottleneck::least_sure(same));
            format!("{}: {headline}", listed(&names))
        })
        .collect()
}

/// Names of curves, the first few of many.
fn listed(names: &[String]) -> String {
    let few: Vec<&str> = names.iter().take(NAMES_MAX).map(String::as_str).collect();
    match names.len().saturating_sub(NAMES_MAX) {
        0 => few.join("; "),
        more => format!("{}; and {more} more", few.join("; ")),
    }
}

/// Loads that give much for little latency, then what raises limits, then loads that were not
/// tried.
fn recommendations(findings: &Findings, output: Output) -> Vec<String> {
    let summary = &findings.summary;
    let mut points: Vec<String> = Vec::new();
    let bends: Vec<String> = summary
        .curves
        .iter()
        .filter_map(|one| {
            let curve = curve_of(findings, one);
            let load = load_in_words(curve, one.bend.as_ref()?.knee.load);
            Some(format!("{load} ({})", curve.name))
        })
        .collect();
    if !bends.is_empty() {
        points.push(format!("For latency-sensitive workloads, use {}.", listed(&bends)));
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
            format!("{} {} ({})", curve.axis, curve.points[one.most].label, curve.name)
        })
        .collect();
    if output == Output::Document {
        let mut remedies: Vec<String> = Vec::new();
        for same in bottleneck::alike(findings) {
            let verdict = bottleneck::least_sure(&same);
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
            "To find the highest throughput, measure with more load than {}.",
            listed(&rising)
        ));
    }
    points
}

fn caveats(findings: &Findings) -> Vec<String> {
    let doubts = &findings.summary.doubts;
    let all = findings.load_points.len();
    let mut points: Vec<String> = doubts
        .iter()
        .take(CAVEATS_MAX)
        .map(|doubt| {
            let group = &findings.warnings[doubt.warning];
            let name = group.code.replace('_', " ");
            let count = doubt.load_points;
            format!("{name} ({count} of {all} load points): {}", group.matters)
        })
        .collect();
    if doubts.len() > CAVEATS_MAX {
        points.push(format!("{} more, see warnings.", doubts.len() - CAVEATS_MAX));
    }
    points
}
