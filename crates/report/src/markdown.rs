//! The report as Markdown, for a wiki, a ticket or a repository: text and tables, with pictures of
//! the charts in separate files.

use analysis::Findings;

use crate::document::markdown::{write, write_commands};
use crate::document::{Block, Section};
use crate::expect::published::Detail;
use crate::labels::labels;
use crate::number::date;
use crate::pictures::Picture;
use crate::prose::{markdown, markdown_text};
use crate::record::{Record, overrides};
use crate::table::Table;
use crate::warnings::{Advice, group_advice, sightings};
use crate::{emulated, method, results, sections, table};

/// The report of one record, without pictures.
pub fn render<'a>(record: impl Into<Record<'a>>) -> String {
    let record: Record<'a> = record.into();
    render_all(&[record], &[], &[])
}

/// The report of one record or several, with `comparisons` before them. It refers to each picture
/// as `NAME.svg` in its own directory.
pub fn render_all<'a, R: Into<Record<'a>> + Copy>(
    records: &[R],
    comparisons: &[Section],
    pictures: &[Picture],
) -> String {
    let mut out = String::new();
    let records: Vec<Record<'_>> = records.iter().map(|record| (*record).into()).collect();
    let all: Vec<&Findings> = records.iter().map(|record| record.findings).collect();
    let labels = labels(&all);
    let has_several = records.len() > 1;
    if has_several {
        out.push_str(&format!("# {} records\n\n", records.len()));
        for (label, findings) in labels.iter().zip(&all) {
            out.push_str(&format!("- {}: `{}`\n", markdown_text(label), findings.id));
        }
        out.push('\n');
    }
    for section in comparisons {
        write(section, 2, &mut out);
    }
    if has_several {
        out.push_str("## Side by side\n\n");
        write_pictures(pictures, None, &mut out);
    }
    for (index, record) in records.iter().enumerate() {
        let name = markdown_text(&record.findings.name);
        match has_several {
            true => out.push_str(&format!("# {}: {name}\n\n", markdown_text(&labels[index]))),
            false => out.push_str(&format!("# {name}\n\n")),
        }
        write_record(*record, pictures, index, &mut out);
    }
    definitions(records.iter().any(|record| record.published.is_some()), &mut out);
    out
}

fn write_record(record: Record<'_>, pictures: &[Picture], index: usize, out: &mut String) {
    let findings = record.findings;
    out.push_str(&format!(
        "**{}** with {}, started {}. Record `{}`.\n\n",
        markdown_text(&findings.target),
        markdown_text(findings.io_method),
        date(findings.started_unix_ms),
        findings.id,
    ));
    if let Some(overrides) = overrides(findings) {
        out.push_str(&format!("{}\n\n", markdown_text(&overrides)));
    }
    for note in findings.notes.iter().map(crate::verdict::words::note) {
        out.push_str(&format!("> {}\n\n", markdown(&note)));
    }
    if let Some(summary) = sections::summary::section(findings) {
        write(&summary, 2, out);
    }
    out.push_str("## Results\n\n");
    write_results(findings, out);
    for section in sections::of(record, Detail::Whole) {
        write(&section, 2, out);
    }
    warnings(findings, out);
    if pictures.iter().any(|picture| picture.record == Some(index)) {
        out.push_str("## Charts\n\n");
        write_pictures(pictures, Some(index), out);
    }
    write(&sections::environment::section(findings), 2, out);
    out.push_str("## Reproduce\n\n");
    write_commands(&findings.repeat_command, out);
}

/// The pictures of a record, with their captions for readers who cannot see them.
fn write_pictures(pictures: &[Picture], record: Option<usize>, out: &mut String) {
    for picture in pictures.iter().filter(|picture| picture.record == record) {
        let (title, name) = (markdown_text(&picture.title), &picture.name);
        out.push_str(&format!("![{title}]({name}.svg)\n\n{}\n\n", markdown(&picture.caption)));
    }
}

fn write_results(findings: &Findings, out: &mut String) {
    for mut table in results::tables(findings) {
        let caption = std::mem::take(&mut table.caption);
        out.push_str(&format!("### {}\n\n", markdown_text(&caption)));
        table::markdown::write(&table, out);
    }
    if let Some(table) = emulated::table(findings) {
        let caption =
            "Settings of the emulated volume, compared with what was measured.".to_owned();
        table::markdown::write(&Table { caption, ..table }, out);
    }
}

fn warnings(findings: &Findings, out: &mut String) {
    out.push_str("## Warnings\n\n");
    if findings.warnings.is_empty() {
        out.push_str("None.\n\n");
    }
    for group in &findings.warnings {
        let Advice { effect, remedy } = group_advice(group);
        let seen = sightings(findings, group).into_iter().map(|(text, locations)| {
            format!("{} ({})", text.replace('\n', "; "), locations.join("; "))
        });
        let section = Section {
            id: "warning",
            title: format!("{}  {}", group.mark, group.code),
            blocks: vec![
                Block::List(seen.collect()),
                Block::Paragraph(effect.to_owned()),
                Block::Paragraph(format!("What to do: {remedy}")),
            ],
            method: Vec::new(),
        };
        write(&section, 3, out);
    }
}

fn definitions(has_published: bool, out: &mut String) {
    out.push_str("## Method\n\n");
    let of_record = |(name, _): &&(&str, &str)| method::is_of_record(name, has_published);
    for (name, definition) in method::DEFINITIONS.iter().filter(of_record) {
        out.push_str(&format!("- **{}**: {}\n", markdown_text(name), markdown(definition)));
    }
    out.push_str("\nFormulas, assumptions and sources: `docs/method.md`.\n\n");
}
