//! Reads the rows of a file in `data/`: typed values, defaults, and the origin of each row.
//!
//! Not for: what the rows mean.

use std::ops::Range;

use settings::{Diagnostic, Problems};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::row::{Dimension, Origin, Status};
use crate::service_level::QosType;

/// The table of defaults for every row.
const DEFAULT: &str = "default";

/// Why a text of rows is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RowsError {
    /// The text is not TOML, or rows are wrong.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    Invalid(Vec<Diagnostic>),
    /// A row contradicts another.
    #[error("{row}: {problem}")]
    Contradiction {
        /// The row.
        row: String,
        /// The contradiction.
        problem: String,
    },
    /// A fact does not have exactly one current row.
    #[error("{of} has {rows} current rows instead of one")]
    NotOneCurrent {
        /// The fact.
        of: String,
        /// The number of current rows.
        rows: usize,
    },
}

/// Reads each row of a text of `[[table]]`s. Keys of the table `[default]` are defaults for every row.
///
/// * `file` — the name of the text's file in `data/`
/// * `read` — returns the value of a row of the named table; keys that it does not read are unknown
pub(crate) fn rows<T>(
    text: &str,
    file: &str,
    mut read: impl FnMut(&str, &mut Row<'_, '_>) -> Result<T, String>,
) -> Result<Vec<T>, RowsError> {
    let read_all = |tree: &DeTable<'_>, problems: &mut Problems<'_>| {
        let default = match tree.get(DEFAULT).map(|node| (node.get_ref(), node.span())) {
            Some((DeValue::Table(default), _)) => Some(default),
            Some((_, span)) => {
                problems.add(span, format!("`{DEFAULT}` is a table"), "");
                None
            }
            None => None,
        };
        let mut all = Vec::new();
        for (table, rows) in tree.iter().filter(|(key, _)| key.get_ref().as_ref() != DEFAULT) {
            let DeValue::Array(rows) = rows.get_ref() else {
                let message = format!("`{}` is a list of tables", table.get_ref());
                problems.add(rows.span(), message, "");
                continue;
            };
            for node in rows {
                let DeValue::Table(keys) = node.get_ref() else {
                    problems.add(node.span(), "this is not a table", "");
                    continue;
                };
                let mut row =
                    Row { keys, default, known: Vec::new(), whole: node.span(), span: node.span() };
                match read(table.get_ref(), &mut row) {
                    Ok(value) => all.push(value),
                    Err(problem) => {
                        problems.add(row.span, problem, "");
                        continue;
                    }
                }
                let title = format!("[[{}]]", table.get_ref());
                settings::report_unknown_keys(keys, &row.known, &title, problems);
            }
        }
        all
    };
    settings::parse(text, file, read_all).map_err(RowsError::Invalid)
}

/// Reads the keys of a row.
pub(crate) struct Row<'t, 'i> {
    keys: &'t DeTable<'i>,
    default: Option<&'t DeTable<'i>>,
    known: Vec<String>,
    whole: Range<usize>,
    /// The last value read, or the whole row if it lacks that key.
    span: Range<usize>,
}

impl<'t, 'i> Row<'t, 'i> {
    /// Whether the row or the defaults have a key.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.keys.contains_key(key) || self.default.is_some_and(|table| table.contains_key(key))
    }

    fn value(&mut self, key: &str) -> Result<&'t DeValue<'i>, String> {
        self.known.push(key.to_owned());
        let written = self.keys.get(key);
        self.span = written.map_or_else(|| self.whole.clone(), Spanned::span);
        let node = written.or_else(|| self.default?.get(key));
        node.map(Spanned::get_ref).ok_or_else(|| format!("`{key}` is missing"))
    }

    pub(crate) fn text(&mut self, key: &str) -> Result<String, String> {
        match self.value(key)? {
            DeValue::String(text) if !text.trim().is_empty() => Ok(text.to_string()),
            _ => Err(format!("`{key}` is not a text")),
        }
    }

    pub(crate) fn number(&mut self, key: &str) -> Result<u64, String> {
        match self.value(key)? {
            DeValue::Integer(number) if number.radix() == 10 => {
                number.as_str().parse().map_err(|_| format!("`{key}` is negative or too large"))
            }
            _ => Err(format!("`{key}` is not a whole number")),
        }
    }

    /// Degrees of latitude or longitude.
    pub(crate) fn degrees(&mut self, key: &str) -> Result<f64, String> {
        let degrees = match self.value(key)? {
            DeValue::Float(degrees) => degrees.as_str().parse().ok(),
            _ => None,
        };
        let degrees = degrees.filter(|degrees: &f64| degrees.abs() <= 180.0);
        degrees.ok_or_else(|| format!("`{key}` is not a number of degrees"))
    }

    pub(crate) fn named<T>(
        &mut self,
        key: &str,
        named: impl Fn(&str) -> Option<T>,
    ) -> Result<T, String> {
        let name = self.text(key)?;
        named(&name).ok_or_else(|| format!("`{key}` is unknown: `{name}`"))
    }

    /// A list of texts.
    pub(crate) fn texts(&mut self, key: &str) -> Result<Vec<String>, String> {
        let texts = match self.value(key)? {
            DeValue::Array(list) => {
                let texts = list.iter().map(|one| one.get_ref().as_str().map(str::to_owned));
                texts.collect::<Option<Vec<String>>>()
            }
            _ => None,
        };
        texts.ok_or_else(|| format!("`{key}` is not a list of texts"))
    }

    /// Reads a key that may be missing.
    pub(crate) fn optional<T>(
        &mut self,
        key: &str,
        read: impl FnOnce(&mut Row<'t, 'i>, &str) -> Result<T, String>,
    ) -> Result<Option<T>, String> {
        self.has(key).then(|| read(self, key)).transpose()
    }

    pub(crate) fn quantity(&mut self, dimension: Dimension) -> Result<u64, String> {
        let (value, unit) = (self.number("value")?, self.text("unit")?);
        let factor = dimension.factor(&unit).ok_or_else(|| format!("wrong unit `{unit}`"))?;
        value.checked_mul(factor).ok_or_else(|| format!("`value` is too large: {value}"))
    }

    pub(crate) fn qos_types(&mut self) -> Result<Vec<QosType>, String> {
        let names = self.texts("qos")?;
        if names.is_empty() {
            return Err("`qos` is empty".to_owned());
        }
        let read = |name: &String| {
            QosType::named(name).ok_or_else(|| format!("`qos` is unknown: `{name}`"))
        };
        names.iter().map(read).collect()
    }

    pub(crate) fn origin(&mut self) -> Result<Origin, String> {
        let status = |name: &str| match name {
            "current" => Some(Status::Current),
            "superseded" => Some(Status::Superseded),
            _ => None,
        };
        let (source, date) = (self.text("source")?, self.text("date")?);
        if !is_date(&date) {
            return Err(format!("`date` is not a date: `{date}`"));
        }
        let status = self.named("status", status)?;
        let note = self.optional("note", |row, key| row.text(key))?;
        Ok(Origin { source, date, status, note })
    }
}

/// `2026`, `2026-01` or `2026-01-29`.
pub(crate) fn is_date(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let number = |part: &str, digits: usize, least: u32, most: u32| {
        part.len() == digits
            && part.bytes().all(|b| b.is_ascii_digit())
            && part.parse().is_ok_and(|n| (least..=most).contains(&n))
    };
    parts.len() <= 3
        && number(parts[0], 4, 1990, 2999)
        && parts.get(1).is_none_or(|month| number(month, 2, 1, 12))
        && parts.get(2).is_none_or(|day| number(day, 2, 1, 31))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_key_has_the_value_of_the_default_table() {
        let text = "default.source = \"s\"\ndefault.date = \"2026\"\n\
                    default.status = \"current\"\n\
                    row = [{ name = \"a\" }, { name = \"b\", date = \"2025\" }]\n";
        let read = |_: &str, row: &mut Row<'_, '_>| Ok((row.text("name")?, row.origin()?.date));
        let found = rows(text, "x.toml", read).unwrap();
        let expected = [("a", "2026"), ("b", "2025")].map(|(n, d)| (n.to_owned(), d.to_owned()));
        assert_eq!(found, expected);
        let wrong = rows("default = 1\n", "x.toml", read).unwrap_err().to_string();
        assert!(wrong.contains("`default` is a table"), "{wrong}");
    }
}
