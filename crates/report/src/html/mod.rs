//! A report as one HTML file: opens from disk, needs no network, prints.
//!
//! The page is a template with escaping on, because names come from users; charts are options for
//! ECharts made in [`crate::chart`], carried as JSON; the bundle is vendored under
//! `assets/echarts`.

mod paper;
mod record;

use analysis::Findings;
use minijinja::{Environment, Value, context};

use crate::chart::echarts::Charts;
use crate::chart::theme::Theme;
use crate::charts::{Shown, of_curves};
use crate::document::figures::figures;
use crate::document::page::{CHARTS_JS, ECHARTS, MACROS, STYLE, apart};
use crate::document::{RenderError, Section};
use crate::labels::labels;
use crate::method;
use crate::number::date;
use crate::record::Record;

const TEMPLATE: &str = include_str!("../../assets/report.html");
const RECORD: &str = include_str!("../../assets/record.html");

/// The environment's entry that holds the experiment as it was written. It has its own place on the
/// page, so that a report that was passed on can be repeated.
pub const EXPERIMENT_TEXT: &str = "experiment.text";

/// The whole page of one record.
///
/// # Errors
/// Only where the template is wrong.
pub fn render<'a>(record: impl Into<Record<'a>>) -> Result<String, RenderError> {
    let record: Record<'a> = record.into();
    render_all(&[record], &[], Theme::Auto)
}

/// One page of one record or several, with `comparisons` before them.
///
/// # Errors
/// Only where the template is wrong.
pub fn render_all<'a, R: Into<Record<'a>> + Copy>(
    records: &[R],
    comparisons: &[Section],
    theme: Theme,
) -> Result<String, RenderError> {
    let shown: Vec<Record<'_>> = records.iter().map(|record| (*record).into()).collect();
    let records: Vec<&Findings> = shown.iter().map(|record| record.findings).collect();
    let mut environment = Environment::new();
    // The names' ending turns escaping on.
    environment.add_template("report.html", TEMPLATE)?;
    environment.add_template("macros.html", MACROS)?;
    environment.add_template("record.html", RECORD)?;
    let mut charts = Charts::default();
    let labels = labels(&records);
    let several = records.len() > 1;
    let together: Vec<(Option<&str>, &Findings)> = labels
        .iter()
        .zip(&records)
        .map(|(label, findings)| (Some(label.as_str()), *findings))
        .collect();
    let overlay = if several { of_curves(&Shown::all(&together)) } else { Vec::new() };
    let overlay = figures(&overlay, paper::CURVE_CHARTS_MAX, &mut charts);
    let has_published = shown.iter().any(|record| record.published.is_some());
    let shown: Vec<Value> = shown
        .iter()
        .zip(&labels)
        .enumerate()
        .map(|(place, (one, label))| {
            let prefix = if several { format!("r{}-", place + 1) } else { String::new() };
            let label = several.then_some(label.as_str());
            record::record(*one, &prefix, label, theme, &mut charts)
        })
        .collect();
    let title = match records.as_slice() {
        [one] => format!("{}: {} ({})", one.name, one.target, date(one.started_unix_ms)),
        several => format!("{} records", several.len()),
    };
    let page = environment.get_template("report.html")?.render(context! {
        title,
        theme => theme.name(),
        several,
        records => shown,
        overlay,
        comparisons => apart(comparisons, &mut charts),
        method => method::definitions(has_published),
        ids => records.iter().map(|r| r.id.clone()).collect::<Vec<_>>(),
        style => Value::from_safe_string(STYLE.to_owned()),
        echarts => Value::from_safe_string(ECHARTS.to_owned()),
        charts_js => Value::from_safe_string(CHARTS_JS.to_owned()),
        charts => Value::from_safe_string(charts.into_script_json()),
    })?;
    Ok(page)
}
