//! Diagnostics that several readers of an experiment report.

use settings::{Diagnostic, SourceSpan};

use crate::keys::{self, Key, Section};

/// Two variants have the same name.
pub(crate) fn same_name(span: &SourceSpan, name: &str) -> Diagnostic {
    span.diagnostic("two variants with the same name", "different names")
        .with_found(format!("`{name}`"))
}

/// The required `key` is missing.
pub(crate) fn missing_key(span: &SourceSpan, key: &Key, of: &str) -> Diagnostic {
    span.diagnostic(format!("{of} lacks `{}`", key.name), key.kind.allowed())
        .with_found("nothing")
        .with_hint(format!("for example {} = {}", key.name, key.example))
}

/// An unknown key, with the section that it belongs to or the nearest known key.
pub(crate) fn unknown_key(
    span: &SourceSpan,
    name: &str,
    sections: &[Section],
    title: &str,
) -> Diagnostic {
    let tables: &[&str] = match sections {
        [Section::Experiment] => &["run", "search", "metric", "stream", "variant"],
        _ => &[],
    };
    let rows = keys::KEYS.iter().filter(|key| sections.contains(&key.section));
    let known: Vec<&str> = rows.map(|key| key.name).chain(tables.iter().copied()).collect();
    let wrong = settings::unknown_key(span, name, title, &known);
    let Some(elsewhere) = keys::KEYS.iter().find(|key| key.name == name) else { return wrong };
    wrong.with_hint(match elsewhere.section {
        Section::Experiment => format!("`{name}` belongs at the top level"),
        Section::Target => format!("`{name}` belongs to [target.NAME]"),
        Section::Run => format!("`{name}` belongs to [run]"),
        Section::Search => format!("`{name}` belongs to [search]"),
        Section::Metric => format!("`{name}` belongs to [metric]"),
        Section::Stream => format!("`{name}` belongs to [stream.NAME]"),
        Section::Variant => format!("`{name}` belongs to [[variant]]"),
    })
}
