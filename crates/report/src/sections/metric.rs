//! The business metric: the largest value that passes, and every load point with the criterion.

use analysis::Findings;
use analysis::metric::{
    Criterion, Doubt, Judgement, Largest, MetricFindings, MetricPoint, MetricSeries,
};
use workload::metric::{Metric, ResponseTime};

use crate::document::{Block, Column, Section, Table};
use crate::drawing::ticks;
use crate::number::{NONE, TOO_FEW, TimeUnit, percent, plain};
use crate::results::{plus_minus, printed, relative, time_unit};

/// The section; `None` without a metric.
pub(super) fn section(findings: &Findings) -> Option<Section> {
    let found = findings.metric.as_ref()?;
    let unit = time_unit(&[findings]);
    let mut blocks = vec![Block::Paragraph(criterion(&found.metric, unit))];
    let statements = found.series.iter().map(|series| statement(found, series, unit));
    blocks.push(Block::List(statements.collect()));
    blocks.extend(found.series.iter().map(|series| Block::Table(table(found, series, unit))));
    Some(Section {
        id: "metric",
        title: format!("Load in {}", found.metric.name),
        blocks,
        method: vec!["Business metric", "Achieved rate", "Response time"],
    })
}

/// The largest passing values in at most `most` sentences, for the first lines of every output.
pub(crate) fn brief(findings: &Findings, most: usize) -> Vec<String> {
    let Some(found) = &findings.metric else { return Vec::new() };
    let unit = time_unit(&[findings]);
    found.series.iter().take(most).map(|series| statement(found, series, unit)).collect()
}

/// Whether each series has a largest value that is known to pass.
pub(crate) fn is_known(found: &MetricFindings) -> bool {
    found.series.iter().all(|series| series.largest.passes().is_some())
}

/// When a load point passes, in a sentence.
fn criterion(metric: &Metric, unit: TimeUnit) -> String {
    let least = percent(f64::from(metric.rate_min_permille) / 1000.0);
    let ceiling = metric.response_time_max_ns.map_or(String::new(), |most| {
        let most = unit.with_symbol(most as f64);
        format!(", and the {} is at most {most}", response_name(metric.response_time))
    });
    format!(
        "A load point passes if every stream achieves at least {least} of its offered rate{ceiling}, \
         each with its 95 % confidence interval."
    )
}

pub(crate) fn response_name(of: ResponseTime) -> String {
    match of {
        ResponseTime::Mean => "mean response time".to_owned(),
        percentile => format!("{} response time", percentile.name()),
    }
}

/// `eda, job sets: the largest passing load is 40 (…); 50 fails: …`
///
/// The name, a plural, is never next to a number, because it does not fit 1.
fn statement(found: &MetricFindings, series: &MetricSeries, unit: TimeUnit) -> String {
    let at = |index: usize| &series.points[index];
    let value = |index: usize| ticks::label(at(index).value);
    let figures = |index: usize| {
        format!(
            "{} ops/s, {} {}",
            printed(at(index).achieved_rate, plain),
            response_name(found.metric.response_time),
            at(index).response_ns.map_or(TOO_FEW.to_owned(), |ns| unit.with_symbol(ns)),
        )
    };
    let why = |index: usize| reason(&found.metric, at(index), unit);
    let mut sentence = match series.largest {
        Largest::Between { passes, fails } => {
            let between = match fails - passes {
                1 => String::new(),
                several => format!("; {} in between undecided", several - 1),
            };
            format!(
                "the largest passing load is {} ({}); {} fails: {}{between}",
                value(passes),
                figures(passes),
                value(fails),
                why(fails),
            )
        }
        Largest::AtLeast { passes } => format!(
            "at least {} ({}): every load point passes, so a larger one may as well",
            value(passes),
            figures(passes),
        ),
        Largest::Unbounded { passes } => format!(
            "at least {} ({}); not enough data to tell whether {} passes: {}",
            value(passes),
            figures(passes),
            value(passes + 1),
            why(passes + 1),
        ),
        Largest::BelowAll => format!("no load point passes; {} fails: {}", value(0), why(0)),
        Largest::NotEnoughData if series.points.is_empty() => "not enough data".to_owned(),
        Largest::NotEnoughData => {
            format!("not enough data to tell whether {} passes: {}", value(0), why(0))
        }
    };
    sentence.push('.');
    if let Some(ns) = series.overall_response_ns {
        sentence.push_str(&format!(" Overall response time {}.", unit.with_symbol(ns)));
    }
    format!("{}, {}: {sentence}", series.name, found.metric.name)
}

/// Why a load point does not pass.
fn reason(metric: &Metric, point: &MetricPoint, unit: TimeUnit) -> String {
    let time = |ns: Option<f64>| ns.map_or(TOO_FEW.to_owned(), |ns| unit.with_symbol(ns));
    let least = percent(f64::from(metric.rate_min_permille) / 1000.0);
    let share = point.rate_share.map_or(TOO_FEW.to_owned(), |share| percent(share.value));
    let uncertain = point.rate_share.map_or(String::new(), plus_minus);
    let response = response_name(metric.response_time);
    let most = time(metric.response_time_max_ns.map(|ns| ns as f64));
    match point.judgement {
        Judgement::Passed => "passes".to_owned(),
        Judgement::Failed(Criterion::Rate) => {
            format!("{share} of the offered rate was achieved, at least {least} is required")
        }
        Judgement::Failed(Criterion::ResponseTime) => {
            format!("{response} {}, at most {most} is allowed", time(point.response_ns))
        }
        Judgement::Undecided(doubt) => match doubt {
            Doubt::NotMeasured => "nothing was measured".to_owned(),
            Doubt::HostsLost => "hosts were lost".to_owned(),
            Doubt::NoInterval(Criterion::Rate) => {
                "too few intervals for a confidence interval of the rate".to_owned()
            }
            Doubt::NoInterval(Criterion::ResponseTime) => {
                format!("too few samples for a confidence interval of the {response}")
            }
            Doubt::IncludesBound(Criterion::Rate) => {
                format!(
                    "the achieved share of the offered rate, {share}{uncertain}, may be {least}"
                )
            }
            Doubt::IncludesBound(Criterion::ResponseTime) => {
                format!("the {response}, {}, may be {most}", time(point.response_ns))
            }
        },
    }
}

/// The word for a load point in the table.
const fn word(judgement: Judgement) -> &'static str {
    match judgement {
        Judgement::Passed => "passes",
        Judgement::Failed(Criterion::Rate) => "fails: rate",
        Judgement::Failed(Criterion::ResponseTime) => "fails: response time",
        Judgement::Undecided(Doubt::HostsLost) => "undecided: hosts lost",
        Judgement::Undecided(_) => "undecided",
    }
}

fn table(found: &MetricFindings, series: &MetricSeries, unit: TimeUnit) -> Table {
    let of = found.metric.response_time;
    let mut columns = vec![
        Column::numbers(&found.metric.name, ""),
        Column::numbers("offered", "ops/s").dispensable(2),
        Column::numbers("achieved", "ops/s"),
        Column::numbers("lowest share", "").narrow("lowest", "share"),
        Column::numbers("95 % CI", "±").narrow("95 %", "CI ±").dispensable(3),
        Column::numbers("mean", unit.symbol()),
    ];
    if of != ResponseTime::Mean {
        columns.push(Column::numbers(of.name(), unit.symbol()));
    }
    columns.push(Column::words("result"));
    let time = |ns: Option<f64>| ns.map_or(TOO_FEW.to_owned(), |ns| unit.print(ns));
    let row = |point: &MetricPoint| {
        let mut row = vec![
            ticks::label(point.value),
            point.offered_rate.map_or(NONE.to_owned(), plain),
            printed(point.achieved_rate, plain),
            printed(point.rate_share, percent),
            relative(point.rate_share),
            time(point.response_mean_ns),
        ];
        if of != ResponseTime::Mean {
            row.push(time(point.response_ns));
        }
        row.push(word(point.judgement).to_owned());
        row
    };
    Table { caption: series.name.clone(), columns, rows: series.points.iter().map(row).collect() }
}
