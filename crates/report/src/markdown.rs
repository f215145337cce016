//! The report as Markdown, for a wiki, a ticket or a repository: text and tables; pictures of the
//! charts are files beside it.

use analysis::Findings;

use crate::document::markdown::{escaped, marked_up, write, write_commands, write_table};
use crate::document::{Block, Column, Section, Table};
use crate::expect::published::Detail;
use crate::html::EXPERIMENT_TEXT;
use crate::labels::labels;
use crate::number::date;
use crate::pictures::Picture;
use crate::record::Record;
use crate::rows::{self, TimeUnit};
use crate::text::{overrides, sightings_by_words};
use crate::{emulated, method, sections};

/// The report of one record, without pictures.
pub fn render<'a>(record: impl Into<Record<'a>>) -> String {
    let record: Record<'a> = record.into();
    render_all(&[record], &[], &[])
}

/// The report of one record or several, with `comparisons` before them and the pictures that lie
/// beside it as `NAME.svg`.
pub fn render_all<'a, R: Into<Record<'a>> + Copy>(
    records: &[R],
    comparisons: &[Section],
    pictures: &[Picture],
) -> String {
    let mut out = String::new();
    let records: Vec<Record<'_>> = records.iter().map(|record| (*record).into()).collect();
    let all: Vec<&Findings> = records.iter().map(|record| record.findings).collect();
    let labels = labels(&all);
    let several = records.len() > 1;
    if several {
        out.push_str(&format!("# {} records\n\n", records.len()));
        for (label, findings) in labels.iter().zip(&all) {
            out.push_str(&format!("- {}: `{}`\n", escaped(label), findings.id));
        }
        out.push('\n');
    }
    for section in comparisons {
        write(section, 2, &mut out);
    }
    if several {
        out.push_str("## Side by side\n\n");
        shown(pictures, None, &mut out);
    }
    for (place, one) in records.iter().enumerate() {
        let name = escaped(&one.findings.name);
        match several {
            true => out.push_str(&format!("# {}: {name}\n\n", escaped(&labels[place]))),
            false => out.push_str(&format!("# {name}\n\n")),
        }
        record(*one, pictures, place, &mut out);
    }
    definitions(records.iter().any(|record| record.published.is_some()), &mut out);
    out
}

fn record(record: Record<'_>, pictures: &[Picture], place: usize, out: &mut String) {
    let findings = record.findings;
    out.push_str(&format!(
        "**{}** with {}, begun {}. Record `{}`.\n\n",
        escaped(&findings.target),
        escaped(findings.engine),
        date(findings.started_unix_ms),
        findings.id,
    ));
    if let Some(words) = overrides(findings) {
        out.push_str(&format!("{}\n\n", escaped(&words)));
    }
    for note in &findings.notes {
        out.push_str(&format!("> {}\n\n", marked_up(note)));
    }
    if let Some(summary) = sections::summary::section(findings) {
        write(&summary, 2, out);
    }
    out.push_str("## Results\n\n");
    results(findings, out);
    for section in sections::of(record, Detail::Whole) {
        write(&section, 2, out);
    }
    warnings(findings, out);
    if pictures.iter().any(|picture| picture.record == Some(place)) {
        out.push_str("## Charts\n\n");
        shown(pictures, Some(place), out);
    }
    write(&environment(findings), 2, out);
    out.push_str("## Repeat it\n\n");
    write_commands(&findings.repeat_command, out);
}

/// Pictures with what they show in words, for those who cannot see them.
fn shown(pictures: &[Picture], record: Option<usize>, out: &mut String) {
    for picture in pictures.iter().filter(|picture| picture.record == record) {
        let (title, name) = (escaped(&picture.title), &picture.name);
        out.push_str(&format!("![{title}]({name}.svg)\n\n{}\n\n", marked_up(&picture.caption)));
    }
}

fn results(findings: &Findings, out: &mut String) {
    for block in rows::blocks(findings) {
        let columns = [
            Column::words(block.axis),
            Column::numbers("achieved rate", "ops/s"),
            Column::numbers("95 %", "±"),
            Column::numbers("throughput", "MiB/s"),
            Column::numbers("response mean", "µs"),
            Column::numbers("p50", "µs"),
            Column::numbers("p99", "µs"),
            Column::numbers("p99.9", "µs"),
            Column::numbers("outstanding", ""),
            Column::numbers("CPU", "µs/op"),
            Column::words("warnings"),
        ];
        let rows = block
            .rows
            .iter()
            .map(|row| std::iter::once(row.label.clone()).chain(row.cells(TimeUnit::Us)).collect());
        out.push_str(&format!("### {}\n\n", escaped(&block.name)));
        write_table(
            &Table { caption: String::new(), columns: columns.into(), rows: rows.collect() },
            out,
        );
    }
    let settings = emulated::rows(findings);
    if settings.is_empty() {
        return;
    }
    let rows = settings.into_iter();
    let table = Table {
        caption: "What the emulated volume was set to, beside what was measured of it.".into(),
        columns: vec![
            Column::words("setting"),
            Column::numbers("configured", ""),
            Column::numbers("measured", ""),
            Column::words("where"),
        ],
        rows: rows.map(|r| vec![r.name.to_owned(), r.configured, r.measured, r.place]).collect(),
    };
    write_table(&table, out);
}

fn warnings(findings: &Findings, out: &mut String) {
    out.push_str("## Warnings\n\n");
    if findings.warnings.is_empty() {
        out.push_str("None: nothing was seen that would make a number doubtful.\n\n");
    }
    for group in &findings.warnings {
        let seen = sightings_by_words(findings, group);
        let seen = seen.into_iter().map(|(words, places)| {
            format!("{} ({})", words.replace('\n', "; "), places.join("; "))
        });
        let section = Section {
            id: "warning",
            title: format!("{}  {}", group.mark, group.code),
            blocks: vec![
                Block::List(seen.collect()),
                Block::Paragraph(group.matters.to_owned()),
                Block::Paragraph(format!("What to try: {}", group.remedy)),
            ],
            method: Vec::new(),
        };
        write(&section, 3, out);
    }
}

fn environment(findings: &Findings) -> Section {
    let own = [
        ("engine", format!("{}: {}", findings.engine, findings.engine_reason)),
        ("experiment", findings.source.clone()),
        ("plan (SHA-256)", findings.plan_hash.clone()),
        ("seed", findings.seed.to_string()),
    ];
    let own = own.into_iter().map(|(name, value)| vec![name.to_owned(), value]);
    let of_host = findings.environment.iter().filter(|(name, _)| name != EXPERIMENT_TEXT);
    let of_host = of_host.map(|(name, value)| vec![name.clone(), value.clone()]);
    let table = Table {
        caption: "What the host and the target were.".to_owned(),
        columns: vec![Column::words("what"), Column::words("value")],
        rows: own.chain(of_host).collect(),
    };
    Section {
        id: "environment",
        title: "Environment".to_owned(),
        blocks: vec![Block::Table(table)],
        method: Vec::new(),
    }
}

fn definitions(published: bool, out: &mut String) {
    out.push_str("## Method\n\n");
    let of_record = |(name, _): &&(&str, &str)| method::is_of_record(name, published);
    for (name, words) in method::DEFINITIONS.iter().filter(of_record) {
        out.push_str(&format!("- **{}**: {}\n", escaped(name), marked_up(words)));
    }
    out.push_str("\nFormulas, assumptions and sources: `docs/method.md`.\n\n");
}
