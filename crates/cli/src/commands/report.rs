//! `report`: writes one or more experiments as a page, as Markdown, or as images.

use commands::keep::report_files::{self, ReportFormat as Format, refuse_unwritable_report};
use commands::keep::{self, output_file};
use commands::outcome::{Exit, Outcome};
use report::drawing::theme::Theme;

use super::output::to_stdout;
use crate::record_args::{ReportArguments, ReportFormat, ReportTheme};

pub(crate) fn run(arguments: &ReportArguments) -> Outcome {
    let format = match arguments.format {
        ReportFormat::Html => Format::Html,
        ReportFormat::Md => Format::Markdown,
        ReportFormat::Svg => Format::Svg,
        ReportFormat::Png => Format::Png,
    };
    let theme = match arguments.theme {
        ReportTheme::Auto => Theme::Auto,
        ReportTheme::Light => Theme::Light,
        ReportTheme::Dark => Theme::Dark,
        ReportTheme::Print => Theme::Print,
    };
    if let Some(path) = &arguments.output {
        refuse_unwritable_report(format, path)?;
    }
    let records =
        keep::load(&arguments.store.open(), &arguments.ids, &arguments.published.options())?;
    let written = report_files::write(&records, format, theme, arguments.output.as_deref())?;
    if !output_file::is_stdout(&written) {
        to_stdout(|out| writeln!(out, "{}", written.display()))?;
    }
    Ok(Exit::Done)
}
