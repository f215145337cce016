//! Reads the keys of one table of a configuration, typed, and says what is wrong with each.
//!
//! For: `config.rs`. A key that is read is known; what is left over at the end is unknown and is
//! told, with all that are known.

use std::collections::BTreeMap;
use std::num::NonZeroU64;
use std::ops::Range;

use cloud::throughput::KibPerSec;
use toml::Spanned;
use toml::de::{DeTable, DeValue};
use units::{Bytes, BytesPerSec, OpsPerSec, parse_duration};

use units::diagnostic::Mistakes;

pub(crate) type Node<'i> = Spanned<DeValue<'i>>;

/// A table whose keys are being read.
pub(crate) struct Fields<'t, 'i> {
    table: &'t DeTable<'i>,
    /// Of the table as a whole.
    pub(crate) span: Range<usize>,
    /// What the table is, for messages.
    what: String,
    known: Vec<&'static str>,
}

/// Where the keys of a table stand, to say later what is wrong with them.
#[derive(Clone, Debug)]
pub(crate) struct Places {
    whole: Range<usize>,
    keys: BTreeMap<String, Range<usize>>,
}

impl Places {
    /// The value of `key`, or the table where it is not written.
    pub(crate) fn of(&self, key: &str) -> Range<usize> {
        self.keys.get(key).unwrap_or(&self.whole).clone()
    }
}

impl<'t, 'i> Fields<'t, 'i> {
    pub(crate) fn new(
        table: &'t DeTable<'i>,
        span: Range<usize>,
        what: impl Into<String>,
    ) -> Fields<'t, 'i> {
        Fields { table, span, what: what.into(), known: Vec::new() }
    }

    /// Where everything stands.
    pub(crate) fn places(&self) -> Places {
        let keys = self.table.iter().map(|(key, node)| (key.get_ref().to_string(), node.span()));
        Places { whole: self.span.clone(), keys: keys.collect() }
    }

    /// The value of a key, which is known from now on.
    pub(crate) fn node(&mut self, key: &'static str) -> Option<&'t Node<'i>> {
        if !self.known.contains(&key) {
            self.known.push(key);
        }
        self.table.get(key)
    }

    /// Tells that a key is missing.
    pub(crate) fn missing(&self, key: &str, mistakes: &mut Mistakes<'_>) {
        mistakes.add(self.span.clone(), format!("{} lacks `{key}`", self.what), "");
    }

    /// A text. `read` gives a value or says what is allowed.
    pub(crate) fn read<T>(
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
            DeValue::Boolean(value) => read(if *value { "true" } else { "false" }),
            _ => None,
        };
        if value.is_none() {
            mistakes.add(node.span(), format!("wrong value for `{key}`"), allowed);
        }
        value
    }

    /// A name: not empty, no control characters.
    pub(crate) fn name(
        &mut self,
        key: &'static str,
        mistakes: &mut Mistakes<'_>,
    ) -> Option<String> {
        self.read(key, mistakes, "a text of 1 to 100 characters", |text| {
            let fits = (1..=100).contains(&text.chars().count());
            (fits && !text.chars().any(char::is_control)).then(|| text.to_owned())
        })
    }

    /// The same, missed if it is not there.
    pub(crate) fn required_name(
        &mut self,
        key: &'static str,
        mistakes: &mut Mistakes<'_>,
    ) -> Option<String> {
        if self.node(key).is_none() {
            self.missing(key, mistakes);
        }
        self.name(key, mistakes)
    }

    pub(crate) fn bytes(
        &mut self,
        key: &'static str,
        mistakes: &mut Mistakes<'_>,
    ) -> Option<Bytes> {
        self.read(key, mistakes, "a size such as `100GiB` or `4TiB`", |text| text.parse().ok())
    }

    /// A throughput of whole KiB/s.
    pub(crate) fn throughput(
        &mut self,
        key: &'static str,
        mistakes: &mut Mistakes<'_>,
    ) -> Option<KibPerSec> {
        let allowed = "a throughput of whole KiB/s above 0, such as `64MiB/s`";
        self.read(key, mistakes, allowed, |text| {
            text.parse::<BytesPerSec>().ok().and_then(KibPerSec::whole)
        })
    }

    /// A whole number of operations per second.
    pub(crate) fn ops(
        &mut self,
        key: &'static str,
        mistakes: &mut Mistakes<'_>,
    ) -> Option<NonZeroU64> {
        self.read(key, mistakes, "a rate of at least `1/s`, such as `100k/s`", |text| {
            let rate = text.parse::<OpsPerSec>().ok()?.get();
            let whole = (1.0..=1e12).contains(&rate) && rate.fract() == 0.0;
            NonZeroU64::new(if whole { rate as u64 } else { 0 })
        })
    }

    /// A duration in nanoseconds.
    pub(crate) fn duration(
        &mut self,
        key: &'static str,
        mistakes: &mut Mistakes<'_>,
    ) -> Option<u64> {
        self.read(key, mistakes, "a duration such as `500us`, `1ms` or `24h`", duration_ns)
    }

    pub(crate) fn number(&mut self, key: &'static str, mistakes: &mut Mistakes<'_>) -> Option<u64> {
        self.read(key, mistakes, "a whole number", |text| text.parse().ok())
    }

    /// One of several words.
    pub(crate) fn word<T: Copy>(
        &mut self,
        key: &'static str,
        mistakes: &mut Mistakes<'_>,
        words: &[(&str, T)],
    ) -> Option<T> {
        let allowed: Vec<String> = words.iter().map(|(word, _)| format!("`{word}`")).collect();
        self.read(key, mistakes, &allowed.join(", "), |text| {
            words.iter().find(|(word, _)| *word == text).map(|(_, value)| *value)
        })
    }

    /// A text or a list of texts.
    pub(crate) fn names(
        &mut self,
        key: &'static str,
        mistakes: &mut Mistakes<'_>,
    ) -> Option<Vec<String>> {
        let node = self.node(key)?;
        let one = |node: &Node<'_>| match node.get_ref() {
            DeValue::String(text) if !text.trim().is_empty() => Some(text.trim().to_owned()),
            _ => None,
        };
        let names = match node.get_ref() {
            DeValue::Array(items) => items.iter().map(one).collect(),
            _ => one(node).map(|name| vec![name]),
        };
        if names.is_none() {
            mistakes.add(
                node.span(),
                format!("wrong value for `{key}`"),
                "a name or a list of names",
            );
        }
        names
    }

    /// Tells every key that nobody asked for.
    pub(crate) fn finish(self, mistakes: &mut Mistakes<'_>) {
        for (key, _) in self.table.iter() {
            let name = key.get_ref().as_ref();
            if !self.known.contains(&name) {
                let known: Vec<String> = self.known.iter().map(|k| format!("`{k}`")).collect();
                let message = format!("unknown key `{name}` in {}", self.what);
                mistakes.add(key.span(), message, format!("known: {}", known.join(", ")));
            }
        }
    }
}

/// A duration in nanoseconds.
pub(crate) fn duration_ns(text: &str) -> Option<u64> {
    u64::try_from(parse_duration(text).ok()?.as_nanos()).ok()
}
