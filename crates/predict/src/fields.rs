//! Reads what a user wrote as TOML: the keys of each table, typed, with what is wrong with each.
//!
//! A key that is read is known; what is left over at the end is unknown and is told, with the
//! nearest known one. For topologies, and for the files of those who predict (crate `sizing`).

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};
use units::diagnostic::{Diagnostic, Mistakes};
use units::{Bytes, BytesPerSec, OpsPerSec, Percent, nearest, parse_duration};

/// A bit per second is so many bytes per second.
const BYTES_PER_BIT: f64 = 0.125;

/// Reads a text.
///
/// * `file` — its name as the user gave it
/// * `walk` — goes over the table that the text is, with something in the place of what is wrong
///
/// # Errors
/// Every mistake, in the order of the text; where it is no TOML, only those of that.
pub fn read<T>(
    text: &str,
    file: &str,
    walk: impl FnOnce(&DeTable<'_>, &mut Mistakes<'_>) -> T,
) -> Result<T, Vec<Diagnostic>> {
    let mut mistakes = Mistakes::new(file, text);
    let (tree, errors) = DeTable::parse_recoverable(text);
    for error in &errors {
        let message = error.message().lines().collect::<Vec<_>>().join("; ");
        mistakes.add(error.span().unwrap_or(0..0), format!("this is not TOML: {message}"), "");
    }
    // What the parser made of a broken line is not what the user meant by it.
    if !mistakes.is_empty() {
        return Err(mistakes.into_sorted());
    }
    let read = walk(tree.get_ref(), &mut mistakes);
    if mistakes.is_empty() { Ok(read) } else { Err(mistakes.into_sorted()) }
}

/// A table whose keys are being read.
#[derive(Debug)]
pub struct Fields<'t, 'i> {
    table: &'t DeTable<'i>,
    /// Of the table as a whole.
    pub span: Range<usize>,
    /// What the table is, for messages.
    what: &'static str,
    known: Vec<&'static str>,
}

impl<'t, 'i> Fields<'t, 'i> {
    /// Nothing is known yet.
    ///
    /// * `span` — of the table as a whole
    /// * `what` — what the table is, for messages: `a host`
    pub const fn new(
        table: &'t DeTable<'i>,
        span: Range<usize>,
        what: &'static str,
    ) -> Fields<'t, 'i> {
        Fields { table, span, what, known: Vec::new() }
    }

    /// Where the value of a key stands, or the table where it is not written.
    pub fn place(&self, key: &str) -> Range<usize> {
        self.table.get(key).map_or_else(|| self.span.clone(), Spanned::span)
    }

    /// Whether a key is written.
    pub fn has(&self, key: &str) -> bool {
        self.table.contains_key(key)
    }

    /// The value of a key, which is known from now on.
    pub fn node(&mut self, key: &'static str) -> Option<&'t Spanned<DeValue<'i>>> {
        if !self.known.contains(&key) {
            self.known.push(key);
        }
        self.table.get(key)
    }

    /// A value. `read` gives it or nothing, and then it is said what is allowed.
    pub fn read<T>(
        &mut self,
        key: &'static str,
        mistakes: &mut Mistakes<'_>,
        allowed: &str,
        read: impl FnOnce(&str) -> Option<T>,
    ) -> Option<T> {
        let node = self.node(key)?;
        let value = match node.get_ref() {
            DeValue::String(text) => read(text.trim()),
            DeValue::Integer(number) if number.radix() == 10 => read(number.as_str()),
            DeValue::Float(number) => read(number.as_str()),
            _ => None,
        };
        if value.is_none() {
            let allowed = format!("allowed: {allowed}");
            mistakes.add(node.span(), format!("wrong value for `{key}`"), allowed);
        }
        value
    }

    /// A short text.
    pub fn text(&mut self, key: &'static str, m: &mut Mistakes<'_>) -> Option<String> {
        self.read(key, m, "a text of 1 to 100 characters", |text| {
            let fits = (1..=100).contains(&text.chars().count());
            (fits && !text.chars().any(char::is_control)).then(|| text.to_owned())
        })
    }

    /// A whole number from 1 to `most`.
    pub fn count(&mut self, key: &'static str, m: &mut Mistakes<'_>, most: u64) -> Option<u64> {
        let allowed = format!("a whole number from 1 to {most}");
        self.read(key, m, &allowed, |text| {
            text.parse().ok().filter(|number| (1..=most).contains(number))
        })
    }

    /// A size above 0, in bytes.
    pub fn bytes(&mut self, key: &'static str, m: &mut Mistakes<'_>) -> Option<u64> {
        self.read(key, m, "a size above 0 such as `8KiB` or `4TiB`", |text| {
            text.parse::<Bytes>().ok().map(Bytes::get).filter(|bytes| *bytes > 0)
        })
    }

    /// Bytes per second, also as links are named.
    pub fn throughput(&mut self, key: &'static str, m: &mut Mistakes<'_>) -> Option<f64> {
        let allowed = "a throughput above 0 such as `64MiB/s` or `10Gbit/s`";
        self.read(key, m, allowed, |text| throughput(text).filter(|rate| *rate > 0.0))
    }

    /// Operations per second, above 0.
    pub fn ops(&mut self, key: &'static str, m: &mut Mistakes<'_>) -> Option<f64> {
        self.read(key, m, "a rate above 0 such as `100k/s`", |text| {
            text.parse::<OpsPerSec>().ok().map(OpsPerSec::get).filter(|rate| *rate > 0.0)
        })
    }

    /// A share, from 0 to 1.
    pub fn share(&mut self, key: &'static str, m: &mut Mistakes<'_>) -> Option<f64> {
        self.read(key, m, "a share from `0%` to `100%`", |text| {
            text.parse::<Percent>().ok().map(Percent::fraction)
        })
    }

    /// A number from 0 to `most`.
    pub fn number(&mut self, key: &'static str, m: &mut Mistakes<'_>, most: f64) -> Option<f64> {
        self.read(key, m, &format!("a number from 0 to {most}"), |text| {
            text.parse().ok().filter(|number| (0.0..=most).contains(number))
        })
    }

    /// A duration above 0, in seconds.
    pub fn duration(&mut self, key: &'static str, m: &mut Mistakes<'_>) -> Option<f64> {
        self.read(key, m, "a duration above 0 such as `500us` or `1ms`", |text| {
            parse_duration(text).ok().map(|time| time.as_secs_f64()).filter(|time| *time > 0.0)
        })
    }

    /// One of several words.
    pub fn word<T: Copy>(
        &mut self,
        key: &'static str,
        m: &mut Mistakes<'_>,
        words: &[(&str, T)],
    ) -> Option<T> {
        let allowed: Vec<String> = words.iter().map(|(word, _)| format!("`{word}`")).collect();
        self.read(key, m, &allowed.join(", "), |text| {
            words.iter().find(|(word, _)| *word == text).map(|(_, value)| *value)
        })
    }

    /// A name or a list of names, each with its place.
    pub fn names(
        &mut self,
        key: &'static str,
        m: &mut Mistakes<'_>,
    ) -> Option<Vec<(String, Range<usize>)>> {
        let node = self.node(key)?;
        let one = |node: &Spanned<DeValue<'_>>| match node.get_ref() {
            DeValue::String(text) => Some((text.trim().to_owned(), node.span())),
            _ => None,
        };
        let names: Option<Vec<_>> = match node.get_ref() {
            DeValue::Array(items) => items.iter().map(one).collect(),
            _ => one(node).map(|name| vec![name]),
        };
        let names = names.filter(|names| !names.is_empty());
        if names.is_none() {
            let hint = "allowed: a name or a list of names";
            m.add(node.span(), format!("wrong value for `{key}`"), hint);
        }
        names
    }

    /// The tables of a list such as `[[host]]`; none where it is not written.
    ///
    /// * `what` — what each of them is, for messages: `a host`
    pub fn tables(
        &mut self,
        key: &'static str,
        what: &'static str,
        m: &mut Mistakes<'_>,
    ) -> Vec<Fields<'t, 'i>> {
        let Some(node) = self.node(key) else { return Vec::new() };
        let hint = format!("write `[[{key}]]`");
        let DeValue::Array(items) = node.get_ref() else {
            m.add(node.span(), format!("`{key}` is a list of tables"), hint);
            return Vec::new();
        };
        let mut tables = Vec::new();
        for item in items {
            match item.get_ref() {
                DeValue::Table(table) => tables.push(Fields::new(table, item.span(), what)),
                _ => m.add(item.span(), "this is not a table", hint.as_str()),
            }
        }
        tables
    }

    /// Tells every key that nobody asked for.
    pub fn finish(self, mistakes: &mut Mistakes<'_>) {
        for (key, _) in self.table.iter() {
            let name = key.get_ref().as_ref();
            if !self.known.contains(&name) {
                let message = format!("unknown key `{name}` in {}", self.what);
                let hint = match nearest(name, self.known.iter().copied()) {
                    Some(other) => format!("did you mean `{other}`?"),
                    None => format!("known: {}", self.known.join(", ")),
                };
                mistakes.add(key.span(), message, hint);
            }
        }
    }
}

/// `128MiB/s`, or as links are named `10Gbit/s`: 10^9 bit/s.
fn throughput(text: &str) -> Option<f64> {
    for (unit, factor) in [("Gbit/s", 1e9), ("Mbit/s", 1e6)] {
        if let Some(number) = text.strip_suffix(unit) {
            let number: f64 = number.trim().parse().ok()?;
            return Some(number * factor * BYTES_PER_BIT).filter(|rate| rate.is_finite());
        }
    }
    text.parse::<BytesPerSec>().ok().map(BytesPerSec::get)
}
