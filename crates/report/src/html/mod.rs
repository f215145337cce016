//! A report as one HTML file that opens from disk, needs no network and can be printed.
//!
//! The page is a template with escaping on, because names come from users. Charts are options for
//! ECharts made in [`crate::drawing`] and embedded as JSON; ECharts is vendored under
//! `assets/echarts`.

mod first_screen;
mod paper;
mod record;

use std::collections::BTreeSet;

use analysis::Findings;
use minijinja::{Environment, Value, context};

use crate::charts::{ShownCurve, of_curves};
use crate::compare;
use crate::document::page::{CHARTS_JS, ECHARTS, MACROS, figures, style, with_unique_anchors};
use crate::document::{RenderError, Section};
use crate::drawing::echarts::Charts;
use crate::drawing::theme::Theme;
use crate::labels::labels;
use crate::method;
use crate::number::date;
use crate::record::Record;
use crate::table::{Column, Table, html};

const TEMPLATE: &str = include_str!("../../assets/report.html");
const RECORD: &str = include_str!("../../assets/record.html");

/// Charts of several records side by side that are printed, and not folded on a screen.
const OVERLAY_MAX: usize = 2;
/// Definitions of what tables and charts show. Sections link to the others that they need.
const IN_TABLES: [&str; 11] = [
    "Window",
    "Achieved rate",
    "Throughput",
    "Response time",
    "Service time",
    "Percentiles",
    "Outstanding",
    "Uncertainty",
    "CPU per operation",
    "Charts of curves",
    "Charts over time",
];

/// The whole page of one record.
///
/// # Errors
/// Only if the template has a bug.
pub fn render<'a>(record: impl Into<Record<'a>>) -> Result<String, RenderError> {
    let record: Record<'a> = record.into();
    render_all(&[record], &[], Theme::Auto)
}

/// One page of one record or several, with `comparisons` before them.
///
/// # Errors
/// Only if the template has a bug.
pub fn render_all<'a, R: Into<Record<'a>> + Copy>(
    records: &[R],
    comparisons: &[Section],
    theme: Theme,
) -> Result<String, RenderError> {
    let records: Vec<Record<'_>> = records.iter().map(|record| (*record).into()).collect();
    let findings: Vec<&Findings> = records.iter().map(|record| record.findings).collect();
    let mut environment = Environment::new();
    // Escaping is on for names that end in `.html`.
    environment.add_template("report.html", TEMPLATE)?;
    environment.add_template("macros.html", MACROS)?;
    environment.add_template("record.html", RECORD)?;
    let mut charts = Charts::default();
    let labels = labels(&findings);
    let has_several = records.len() > 1;
    let overlay =
        if has_several { of_curves(&ShownCurve::of_all(&findings, &labels)) } else { Vec::new() };
    let overlay = figures(&overlay, OVERLAY_MAX, &mut charts);
    let mut used: BTreeSet<&str> =
        comparisons.iter().flat_map(|one| &one.method).copied().collect();
    used.extend(IN_TABLES);
    let shown: Vec<Value> = records
        .iter()
        .zip(&labels)
        .enumerate()
        .map(|(index, (one, label))| {
            let prefix = if has_several { format!("r{}-", index + 1) } else { String::new() };
            let label = has_several.then_some(label.as_str());
            record::record(*one, (&prefix, label), theme, &mut charts, &mut used)
        })
        .collect();
    let title = match findings.as_slice() {
        [one] => format!("{}: {} ({})", one.name, one.target, date(one.started_unix_ms)),
        _ => labels.join(" and "),
    };
    let page = environment.get_template("report.html")?.render(context! {
        title,
        theme => theme.name(),
        is_paper => theme == Theme::Print,
        several => has_several,
        records => shown,
        compared => html::value(&compared(&findings, &labels)),
        overlay,
        comparisons => with_unique_anchors(comparisons, &mut charts),
        verdict => compare::VERDICT,
        method => method::definitions_where(|name| used.contains(name)),
        ids => findings.iter().map(|one| one.id.clone()).collect::<Vec<_>>(),
        style => style(theme),
        echarts => Value::from_safe_string(ECHARTS.to_owned()),
        charts_js => Value::from_safe_string(CHARTS_JS.to_owned()),
        charts => Value::from_safe_string(charts.into_script_json()),
    })?;
    Ok(page)
}

/// The records of a page with several.
fn compared(records: &[&Findings], labels: &[String]) -> Table {
    let row = |(one, label): (&&Findings, &String)| {
        vec![
            label.clone(),
            one.name.clone(),
            format!("{}, with {}", one.target, one.io_method),
            date(one.started_unix_ms),
            one.id.clone(),
        ]
    };
    Table {
        caption: "Compared records.".to_owned(),
        columns: ["label", "experiment", "target", "started", "record"].map(Column::words).into(),
        rows: records.iter().zip(labels).map(row).collect(),
    }
}
