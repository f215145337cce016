//! The first screen of a record's page, which is also its first printed page: the verdict, a card for
//! each curve and two charts; below it the bottleneck, recommendations and caveats.
//!
//! Its sentences are those of [`crate::glance`], so that the page and the terminal agree.

use analysis::Findings;
use minijinja::{Value, context};

use crate::charts::{Overview, overview};
use crate::document::page::figure;
use crate::drawing::echarts::Charts;
use crate::drawing::sparkline::sparkline;
use crate::glance::{Caveat, CurveGlance, Glance};
use crate::look::Tone;
use crate::prose;
use crate::results::USERS;
use crate::sections::bottleneck::{Proven, proven};

/// More cards have two rows.
const CARDS_IN_A_ROW_MAX: usize = 6;
/// Answers about bottlenecks; the evidence has all.
const ANSWERS_MAX: usize = 3;

/// What the template shows below the page's heading.
pub(super) fn screen(findings: &Findings, glance: &Glance, charts: &mut Charts) -> Value {
    let Overview { output, latency } = overview(findings);
    let drawn = [output, latency];
    let figures: Vec<Value> = drawn
        .iter()
        .filter(|chart| chart.has_measurements())
        .map(|chart| figure(chart, true, charts))
        .collect();
    let answers = proven(findings);
    context! {
        verdict => sentences(&glance.verdict),
        tone => match glance.tone {
            Tone::Good => "good",
            Tone::Warning => "warning",
            Tone::Bad => "bad",
        },
        cards => glance.curves.iter().map(|curve| card(findings, curve)).collect::<Vec<_>>(),
        columns => columns(glance.curves.len()),
        curves_left_out => glance.curves_left_out,
        figures,
        bottlenecks => answers.iter().take(ANSWERS_MAX).map(bottleneck).collect::<Vec<_>>(),
        bottlenecks_left_out => answers.len().saturating_sub(ANSWERS_MAX),
        recommendations => sentences(&glance.recommendations),
        caveats => glance.caveats.iter().map(caveat).collect::<Vec<_>>(),
        caveats_left_out => glance.caveats_left_out,
    }
}

fn sentences(all: &[String]) -> Vec<Value> {
    all.iter().map(|sentence| prose::html(sentence)).collect()
}

/// Cards side by side: rows as equal as possible.
fn columns(cards: usize) -> usize {
    cards.div_ceil(cards.div_ceil(CARDS_IN_A_ROW_MAX).max(1)).max(1)
}

fn card(findings: &Findings, shown: &CurveGlance) -> Value {
    let curve = &findings.curves[shown.curve];
    // A sparkline has no room for a label, so it is without totals of fewer hosts.
    let rates = curve.points.iter().filter_map(|point| {
        let load_point = &findings.load_points[point.load_point];
        let rate = load_point.merged.total.data.achieved_rate;
        rate.filter(|_| load_point.is_whole()).map(|rate| rate.value)
    });
    let rates: Vec<f64> = rates.collect();
    context! {
        name => &shown.name,
        peak => &shown.peak,
        peak_load => &shown.peak_load,
        floor => &shown.floor,
        floor_load => &shown.floor_load,
        floor_at_limit => shown.floor_at_limit,
        // One operation at a time is no load that users offer.
        has_floor => curve.axis != USERS,
        at_limit => shown.at_limit,
        saturation => shown.saturation.as_ref().map(ToString::to_string),
        sparkline => Value::from_safe_string(sparkline(&rates)),
    }
}

fn bottleneck(one: &Proven) -> Value {
    let numbers = one.numbers.iter();
    context! {
        names => &one.names,
        headline => prose::html(&one.headline),
        evidence => prose::html(&one.evidence),
        numbers => numbers
            .map(|number| context! { name => &number.name, value => &number.value })
            .collect::<Vec<_>>(),
    }
}

fn caveat(one: &Caveat) -> Value {
    context! {
        mark => one.mark.to_string(),
        line => prose::html(&one.line),
        explanation => prose::html(&one.explanation),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cards_are_in_one_row_or_in_two_of_equal_length() {
        let expected =
            [(1, 1), (2, 2), (3, 3), (4, 4), (6, 6), (7, 4), (8, 4), (9, 5), (11, 6), (12, 6)];
        for (cards, side_by_side) in expected {
            assert_eq!(columns(cards), side_by_side, "{cards} cards");
        }
    }
}
