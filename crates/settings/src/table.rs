//! Reads the keys of one table.

use std::collections::BTreeMap;
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};
use units::{Bytes, BytesPerSec, OpsPerSec, Percent, parse_duration};

use crate::document::{Problems, unknown_key};

/// A TOML value and its position in the text.
pub type Node<'i> = Spanned<DeValue<'i>>;

/// Reads the keys of one table. [`TableReader::finish`] reports the keys that were not read.
#[derive(Debug)]
pub struct TableReader<'t, 'i> {
    table: &'t DeTable<'i>,
    /// The whole table in the text.
    pub span: Range<usize>,
    title: String,
    known: Vec<&'static str>,
}

/// The positions of a table's values, for checks that run after the table was read.
#[derive(Clone, Debug)]
pub struct KeySpans {
    table: Range<usize>,
    keys: BTreeMap<String, Range<usize>>,
}

impl KeySpans {
    /// The value of `key`, or the table if it lacks the key.
    pub fn of(&self, key: &str) -> Range<usize> {
        self.keys.get(key).unwrap_or(&self.table).clone()
    }
}

impl<'t, 'i> TableReader<'t, 'i> {
    /// Reads a table.
    ///
    /// * `title` — what the table is, for messages: `[run]`
    pub fn new(
        table: &'t DeTable<'i>,
        span: Range<usize>,
        title: impl Into<String>,
    ) -> TableReader<'t, 'i> {
        TableReader { table, span, title: title.into(), known: Vec::new() }
    }

    /// Reads the top-level table of a text.
    pub fn root(table: &'t DeTable<'i>) -> TableReader<'t, 'i> {
        TableReader::new(table, 0..0, "the top level")
    }

    /// The value of `key`, or the table if it lacks the key.
    pub fn span_of(&self, key: &str) -> Range<usize> {
        self.table.get(key).map_or_else(|| self.span.clone(), Spanned::span)
    }

    /// The positions of all values.
    pub fn key_spans(&self) -> KeySpans {
        let keys = self.table.iter().map(|(key, node)| (key.get_ref().to_string(), node.span()));
        KeySpans { table: self.span.clone(), keys: keys.collect() }
    }

    /// Whether the table has `key`.
    pub fn has(&self, key: &str) -> bool {
        self.table.contains_key(key)
    }

    /// The value of `key`, which is a known key from now on.
    pub fn node(&mut self, key: &'static str) -> Option<&'t Node<'i>> {
        if !self.known.contains(&key) {
            self.known.push(key);
        }
        self.table.get(key)
    }

    /// Reports each of `keys` that the table lacks.
    pub fn require(&self, keys: &[&str], problems: &mut Problems<'_>) {
        for key in keys.iter().filter(|key| !self.has(key)) {
            problems.add(self.span.clone(), format!("{} lacks `{key}`", self.title), "");
        }
    }

    /// Reads a scalar.
    ///
    /// * `allowed` — what `parse` accepts, reported where it returns `None`
    pub fn read<T>(
        &mut self,
        key: &'static str,
        problems: &mut Problems<'_>,
        allowed: &str,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Option<T> {
        let node = self.node(key)?;
        let value = scalar_text(node.get_ref()).and_then(parse);
        if value.is_none() {
            problems.wrong_value(node.span(), key, allowed);
        }
        value
    }

    /// A short text.
    pub fn text(&mut self, key: &'static str, problems: &mut Problems<'_>) -> Option<String> {
        self.read(key, problems, "a text of 1 to 100 characters", |text| {
            let fits = (1..=100).contains(&text.chars().count());
            (fits && !text.chars().any(char::is_control)).then(|| text.to_owned())
        })
    }

    /// A short text that must not be missing.
    pub fn required_text(
        &mut self,
        key: &'static str,
        problems: &mut Problems<'_>,
    ) -> Option<String> {
        self.require(&[key], problems);
        self.text(key, problems)
    }

    /// A whole number from 1 to `max`.
    pub fn count(
        &mut self,
        key: &'static str,
        problems: &mut Problems<'_>,
        max: u64,
    ) -> Option<u64> {
        self.read(key, problems, &format!("a whole number from 1 to {max}"), |text| {
            text.parse().ok().filter(|number| (1..=max).contains(number))
        })
    }

    /// A number from 0 to `max`.
    pub fn number(
        &mut self,
        key: &'static str,
        problems: &mut Problems<'_>,
        max: f64,
    ) -> Option<f64> {
        self.read(key, problems, &format!("a number from 0 to {max}"), |text| {
            text.parse().ok().filter(|number| (0.0..=max).contains(number))
        })
    }

    /// A size above 0.
    pub fn bytes(&mut self, key: &'static str, problems: &mut Problems<'_>) -> Option<Bytes> {
        self.read(key, problems, "a size above 0 such as `8KiB` or `4TiB`", |text| {
            text.parse().ok().filter(|bytes| *bytes > Bytes::ZERO)
        })
    }

    /// A throughput above 0.
    pub fn throughput(
        &mut self,
        key: &'static str,
        problems: &mut Problems<'_>,
    ) -> Option<BytesPerSec> {
        let allowed = "a throughput above 0 such as `64MiB/s` or `10Gbit/s`";
        self.read(key, problems, allowed, |text| {
            text.parse().ok().filter(|rate: &BytesPerSec| rate.get() > 0.0)
        })
    }

    /// A rate of operations above 0.
    pub fn ops(&mut self, key: &'static str, problems: &mut Problems<'_>) -> Option<OpsPerSec> {
        self.read(key, problems, "a rate above 0 such as `100k/s`", |text| {
            text.parse().ok().filter(|rate: &OpsPerSec| rate.get() > 0.0)
        })
    }

    /// A share.
    pub fn share(&mut self, key: &'static str, problems: &mut Problems<'_>) -> Option<Percent> {
        self.read(key, problems, "a share from `0%` to `100%`", |text| text.parse().ok())
    }

    /// A duration in nanoseconds, 0 included.
    pub fn duration_ns(&mut self, key: &'static str, problems: &mut Problems<'_>) -> Option<u64> {
        self.read(key, problems, "a duration such as `500us`, `1ms` or `24h`", duration_ns)
    }

    /// A duration above 0, in seconds.
    pub fn positive_seconds(
        &mut self,
        key: &'static str,
        problems: &mut Problems<'_>,
    ) -> Option<f64> {
        self.read(key, problems, "a duration above 0 such as `500us` or `1ms`", |text| {
            parse_duration(text).ok().map(|time| time.as_secs_f64()).filter(|time| *time > 0.0)
        })
    }

    /// One of several words.
    pub fn word<T: Copy>(
        &mut self,
        key: &'static str,
        problems: &mut Problems<'_>,
        words: &[(&str, T)],
    ) -> Option<T> {
        let allowed: Vec<String> = words.iter().map(|(word, _)| format!("`{word}`")).collect();
        self.read(key, problems, &allowed.join(", "), |text| {
            words.iter().find(|(word, _)| *word == text).map(|(_, value)| *value)
        })
    }

    /// A text or a list of texts, each with its position; never empty.
    ///
    /// * `allowed` — for messages: `a name or a list of names`
    pub fn texts(
        &mut self,
        key: &'static str,
        problems: &mut Problems<'_>,
        allowed: &str,
    ) -> Option<Vec<(String, Range<usize>)>> {
        let node = self.node(key)?;
        let texts = text_list(node);
        if texts.is_none() {
            problems.wrong_value(node.span(), key, allowed);
        }
        texts
    }

    /// The table `[key]`, if there is one.
    pub fn table(
        &mut self,
        key: &'static str,
        problems: &mut Problems<'_>,
    ) -> Option<TableReader<'t, 'i>> {
        let node = self.node(key)?;
        if let DeValue::Table(table) = node.get_ref() {
            return Some(TableReader::new(table, node.span(), format!("[{key}]")));
        }
        problems.add(node.span(), format!("`{key}` is a table"), format!("write `[{key}]`"));
        None
    }

    /// The tables of the list `[[key]]`; none if there is no such list.
    pub fn tables(
        &mut self,
        key: &'static str,
        problems: &mut Problems<'_>,
    ) -> Vec<TableReader<'t, 'i>> {
        let Some(node) = self.node(key) else { return Vec::new() };
        let hint = format!("write `[[{key}]]`");
        let DeValue::Array(items) = node.get_ref() else {
            problems.add(node.span(), format!("`{key}` is a list of tables"), hint);
            return Vec::new();
        };
        let mut tables = Vec::new();
        for item in items {
            match item.get_ref() {
                DeValue::Table(table) => {
                    tables.push(TableReader::new(table, item.span(), format!("[[{key}]]")));
                }
                _ => problems.add(item.span(), "this is not a table", hint.as_str()),
            }
        }
        tables
    }

    /// Reports every key that was not read.
    pub fn finish(self, problems: &mut Problems<'_>) {
        report_unknown_keys(self.table, &self.known, &self.title, problems);
    }
}

/// Reports the keys of `table` that are not among the `known` ones.
///
/// * `title` — what the table is, for messages: `[run]`
pub fn report_unknown_keys(
    table: &DeTable<'_>,
    known: &[impl AsRef<str>],
    title: &str,
    problems: &mut Problems<'_>,
) {
    let known: Vec<&str> = known.iter().map(AsRef::as_ref).collect();
    let (source, found) = problems.parts();
    for (key, _) in table.iter() {
        let name = key.get_ref().as_ref();
        if !known.contains(&name) {
            found.push(unknown_key(&source.span(key.span()), name, title, &known));
        }
    }
}

/// A text or a list of texts, trimmed; `None` if it is neither, or empty.
pub fn text_list(node: &Node<'_>) -> Option<Vec<(String, Range<usize>)>> {
    let one = |node: &Node<'_>| match node.get_ref() {
        DeValue::String(text) if !text.trim().is_empty() => {
            Some((text.trim().to_owned(), node.span()))
        }
        _ => None,
    };
    let texts: Option<Vec<_>> = match node.get_ref() {
        DeValue::Array(items) => items.iter().map(one).collect(),
        _ => one(node).map(|text| vec![text]),
    };
    texts.filter(|texts| !texts.is_empty())
}

/// A scalar as text: trimmed, and numbers without underscores. `None` for tables, lists and dates,
/// and for numbers in other radixes, which no quantity is written in.
pub fn scalar_text<'n>(value: &'n DeValue<'_>) -> Option<&'n str> {
    match value {
        DeValue::String(text) => Some(text.trim()),
        DeValue::Integer(number) if number.radix() == 10 => Some(number.as_str()),
        DeValue::Float(number) => Some(number.as_str()),
        DeValue::Boolean(flag) => Some(if *flag { "true" } else { "false" }),
        _ => None,
    }
}

/// A duration in nanoseconds.
pub fn duration_ns(text: &str) -> Option<u64> {
    u64::try_from(parse_duration(text).ok()?.as_nanos()).ok()
}
