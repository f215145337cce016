//! The summary in plain words: what it can do, where it bends, what limits it, what to change, and
//! what to doubt.

use analysis::Findings;
use analysis::bottleneck::{Limit, LimitFinding};
use analysis::curve::Curve;
use analysis::curve::sample::Load;
use analysis::curve::saturation::Reached;
use analysis::summary::{Bend, CurveSummary};

use crate::charts::method_in_words;
use crate::document::{Block, Section};
use crate::number::{half_width, mib, ms, percent, plain, probability};

/// More names than this are counted, not listed.
const NAMES_MAX: usize = 8;
/// More warnings than this are counted, not listed.
const DOUBTS_MAX: usize = 6;

/// The summary; nothing where nothing was measured.
pub(crate) fn section(findings: &Findings) -> Option<Section> {
    of(findings, Place::Document)
}

/// The summary without what limits it and what to doubt: in a terminal both stand just below it.
pub(crate) fn for_terminal(findings: &Findings) -> Option<Section> {
    of(findings, Place::Terminal)
}

/// Where it is read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Document,
    Terminal,
}

fn of(findings: &Findings, place: Place) -> Option<Section> {
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
    let mut can = of_curve(highest);
    if summary.curves_left_out > 0 {
        can.push(format!("{} more below, in the results.", curves(summary.curves_left_out)));
    }
    part("What it can do", can);
    part("Where it bends", of_curve(bend));
    if place == Place::Document {
        part("What limits it", limits(findings));
    }
    part("What to change", change(findings, place));
    if place == Place::Document {
        part("What to doubt", doubts(findings));
    }
    Some(Section {
        id: "summary",
        title: "In short".to_owned(),
        blocks,
        method: vec!["Achieved rate", "Response time", "Floor", "Knees", "Saturation"],
    })
}

fn curves(count: usize) -> String {
    if count == 1 { "1 curve is".to_owned() } else { format!("{count} curves are") }
}

fn curve_of<'a>(findings: &'a Findings, one: &CurveSummary) -> &'a Curve {
    &findings.curves[one.curve]
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
        words.push_str(&format!(", with a mean response time of {} ms", ms(mean.value)));
    }
    words.push('.');
    if let Some(floor) = one.floor_ns {
        words.push_str(&format!(" An operation that is alone takes {} ms.", ms(floor.value)));
    }
    Some(words)
}

/// Where it bends, or why nothing is said about it.
fn bend(findings: &Findings, one: &CurveSummary) -> Option<String> {
    let curve = curve_of(findings, one);
    if curve.points.len() == 1 {
        // One load point has no bend, and nobody asked for one.
        return None;
    }
    let end = match one.reached? {
        Reached::Yes => "Its highest rate is saturation: more load gave no more",
        Reached::No => {
            "Saturation was not reached: the rate still grew with the highest load, so more load \
             may give more"
        }
        Reached::Unclear => {
            "Whether more load would give more is not known: its rates vary too much"
        }
        Reached::NotDoubled => {
            "Whether more load would give more is not known: the load was not doubled"
        }
    };
    let words = match &one.bend {
        Some(bend) => format!("{}: {}. {end}.", curve.name, knee(curve, bend)),
        None => format!("{}: {end}.", curve.name),
    };
    Some(words)
}

fn knee(curve: &Curve, bend: &Bend) -> String {
    format!(
        "the best trade of rate for response time (knee by {}) is {}: {} of its highest rate; the \
         rest costs {} times the response time",
        method_in_words(bend.knee.method),
        load_in_words(curve, bend.knee.load),
        percent(bend.rate_share),
        plain(bend.response_factor),
    )
}

fn load_in_words(curve: &Curve, load: f64) -> String {
    match curve.load {
        Load::Open => format!("{} ops/s offered", plain(load)),
        Load::Closed | Load::NotRaised if load == 1.0 => "1 operation outstanding".to_owned(),
        Load::Closed | Load::NotRaised => {
            format!("{} operations outstanding", crate::chart::ticks::label(load))
        }
    }
}

/// What limits it: each answer once, with the curves that it is about.
fn limits(findings: &Findings) -> Vec<String> {
    let mut answers: Vec<(Limit, f64, Vec<String>)> = Vec::new();
    for finding in findings.limits.iter().filter(|finding| answered(finding)) {
        let name = finding.name.clone();
        match answers.iter_mut().find(|(limit, _, _)| *limit == finding.limit) {
            Some((_, least, names)) => {
                *least = least.min(finding.confidence);
                names.push(name);
            }
            None => answers.push((finding.limit, finding.confidence, vec![name])),
        }
    }
    let mut points: Vec<String> = answers
        .into_iter()
        .map(|(limit, confidence, names)| {
            format!("{}: {} ({} sure).", listed(&names), limit.name(), probability(confidence))
        })
        .collect();
    let open: Vec<String> = findings
        .limits
        .iter()
        .filter(|finding| finding.limit == Limit::Unknown)
        .map(|finding| finding.name.clone())
        .collect();
    if !open.is_empty() {
        points.push(format!(
            "{}: not known; what was measured fits several explanations.",
            listed(&open)
        ));
    }
    points
}

/// That the rate still rises is said where it bends.
fn answered(finding: &LimitFinding) -> bool {
    !matches!(finding.limit, Limit::Unknown | Limit::NotReached)
}

/// Names of curves, the first few of many.
fn listed(names: &[String]) -> String {
    let few: Vec<&str> = names.iter().take(NAMES_MAX).map(String::as_str).collect();
    match names.len().saturating_sub(NAMES_MAX) {
        0 => few.join("; "),
        more => format!("{}; and {more} more", few.join("; ")),
    }
}

/// What a reader can do: loads that give much for little, then loads that were not tried.
fn change(findings: &Findings, place: Place) -> Vec<String> {
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
        points.push(format!(
            "Where response time matters, keep to the best trade: {}.",
            listed(&bends)
        ));
    }
    let growing: Vec<String> = summary
        .curves
        .iter()
        .filter(|one| one.reached == Some(Reached::No))
        .map(|one| {
            let curve = curve_of(findings, one);
            format!("{} {} ({})", curve.axis, curve.points[one.most].label, curve.name)
        })
        .collect();
    let mut remedies: Vec<&str> = Vec::new();
    for finding in findings.limits.iter().filter(|finding| answered(finding)) {
        let Some(first) = finding.remedy.first() else { continue };
        if !remedies.contains(&first.as_str()) {
            remedies.push(first);
        }
    }
    if place == Place::Document {
        points.extend(remedies.into_iter().take(NAMES_MAX).map(str::to_owned));
    }
    if !growing.is_empty() {
        points.push(format!(
            "To find the highest rate, measure with more load than {}.",
            listed(&growing)
        ));
    }
    points
}

fn doubts(findings: &Findings) -> Vec<String> {
    let doubts = &findings.summary.doubts;
    let all = findings.load_points.len();
    let mut points: Vec<String> = doubts
        .iter()
        .take(DOUBTS_MAX)
        .map(|doubt| {
            let group = &findings.warnings[doubt.warning];
            let name = group.code.replace('_', " ");
            let count = doubt.load_points;
            format!("{name} ({count} of {all} load points): {}", group.matters)
        })
        .collect();
    if doubts.len() > DOUBTS_MAX {
        points.push(format!("{} more, see warnings.", doubts.len() - DOUBTS_MAX));
    }
    points
}
