//! Settings from the command line: `--set queue_depth=1,2,4`, `--set database.read=50%`,
//! `--set run.measure=10s`, and options that are short for one (`--repeats 3`).

use std::borrow::Cow;
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

use crate::diagnostic::{Diagnostic, Source, did_you_mean};
use crate::experiment::{Experiment, Setting, StreamOverride, unknown_key};
use crate::keys::{self, Key, Kind, Section};
use crate::reader::Reader;
use crate::value::Value;

/// A setting from the command line, and the option that carried it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Override {
    /// The option as diagnostics show it: `--set`, `--repeats`.
    pub flag: String,
    /// The key where the option implies it: `run.repeats`; `None` where the text says it.
    pub key: Option<String>,
    /// What the user wrote: `queue_depth=1,2,4`, or only the value.
    pub text: String,
}

impl Override {
    /// `--set KEY=VALUE[,VALUE…]`
    pub fn set(text: &str) -> Override {
        Override { flag: "--set".to_owned(), key: None, text: text.to_owned() }
    }

    /// An option of its own for one key: `Override::option("--measure", "run.measure", "10s")`.
    pub fn option(flag: &str, key: &str, text: &str) -> Override {
        Override { flag: flag.to_owned(), key: Some(key.to_owned()), text: text.to_owned() }
    }

    /// `KEY=VALUE`, whichever option carried it.
    pub fn assignment(&self) -> String {
        match &self.key {
            Some(key) => format!("{key}={}", self.text),
            None => self.text.clone(),
        }
    }
}

const FORM: &str = "KEY=VALUE[,VALUE…], STREAM.KEY=VALUE, run.KEY=VALUE or search.KEY=VALUE";

/// Lays `overrides` over the experiment, later ones over earlier ones.
pub(crate) fn apply(
    experiment: &mut Experiment,
    overrides: &[Override],
    problems: &mut Vec<Diagnostic>,
) {
    let search_in_file = experiment.search.clone();
    lay(experiment, overrides, problems);
    // Listed queue depths are what a ladder would choose, unless a ladder is requested as well.
    if experiment.search == search_in_file && is_ladder(&search_in_file) && lists_depths(experiment)
    {
        experiment.search.clear();
    }
}

/// Whether a search does nothing but choose queue depths.
fn is_ladder(search: &[Setting]) -> bool {
    let method = search.iter().find(|setting| setting.key.name == "method");
    let choices = method.map_or(&[][..], |method| &method.choices);
    matches!(choices, [one] if matches!(&one.value, Value::Text(word) if word == "queue-depth"))
}

/// Whether the command line has several queue depths.
fn lists_depths(experiment: &Experiment) -> bool {
    let mut settings = experiment.overrides.iter().map(|one| &one.setting);
    settings.any(|setting| setting.key.name == "queue_depth" && setting.choices.len() > 1)
}

fn lay(experiment: &mut Experiment, overrides: &[Override], problems: &mut Vec<Diagnostic>) {
    for one in overrides {
        let source = Source::option(&one.flag, &one.text);
        let Some(place) = destination(experiment, one, &source, problems) else { continue };
        let Some(node) = value_node(&one.text, place.value, &source, problems) else { continue };
        let node = place.inside.iter().rev().fold(node, |inner, (field, span)| {
            let mut table = DeTable::new();
            table.insert(Spanned::new(span.clone(), Cow::Borrowed(*field)), inner);
            Spanned::new(span.clone(), DeValue::Table(table))
        });
        let mut reader = Reader { source: &source, problems: &mut *problems };
        let choices = reader.choices(place.key, &node);
        let setting = Setting { key: place.key, choices, place: source.place(place.written) };
        let of_section = match place.key.section {
            Section::Run => Some(&mut experiment.run),
            Section::Search => Some(&mut experiment.search),
            Section::Experiment | Section::Stream | Section::Variant => None,
        };
        if let Some(settings) = of_section {
            settings.retain(|other| other.key.name != place.key.name);
            settings.push(setting);
        } else {
            experiment.overrides.retain(|other| {
                other.setting.key.name != place.key.name || other.stream != place.stream
            });
            experiment.overrides.push(StreamOverride { stream: place.stream, setting });
        }
    }
}

/// Which key of what is meant.
struct Destination<'t> {
    stream: Option<String>,
    key: &'static Key,
    /// Fields inside the key's value: `poisson` in `arrival.poisson=1k/s`.
    inside: Vec<(&'t str, Range<usize>)>,
    /// The key in the text.
    written: Range<usize>,
    /// The value in the text.
    value: Range<usize>,
}

fn destination<'t>(
    experiment: &Experiment,
    one: &'t Override,
    source: &Source<'_>,
    problems: &mut Vec<Diagnostic>,
) -> Option<Destination<'t>> {
    let (path, written, value): (&'t str, Range<usize>, Range<usize>) = match &one.key {
        Some(key) => (key, 0..0, 0..one.text.len()),
        None => match one.text.split_once('=') {
            Some((path, _)) => (path, 0..path.len(), path.len() + 1..one.text.len()),
            None => {
                let place = source.place(0..one.text.len());
                problems.push(place.diagnostic("this sets nothing", FORM));
                return None;
            }
        },
    };
    let mut parts: Vec<(&str, Range<usize>)> = Vec::new();
    let mut start = 0;
    for part in path.split('.') {
        let span = if one.key.is_some() { 0..0 } else { start..start + part.len() };
        parts.push((part.trim(), span));
        start += part.len() + 1;
    }
    if parts.len() > 1 && parts[0].0 == "stream" {
        parts.remove(0);
    }
    let mut stream = None;
    let mut section = Section::Stream;
    if parts.len() > 1 && parts[0].0 == "run" {
        section = Section::Run;
        parts.remove(0);
    } else if parts.len() > 1 && parts[0].0 == "search" {
        section = Section::Search;
        parts.remove(0);
    } else if parts.len() > 1 && experiment.streams.iter().any(|s| s.name == parts[0].0) {
        stream = Some(parts.remove(0).0.to_owned());
    } else if parts.len() > 1 && keys::key(Section::Stream, parts[0].0).is_none() {
        let names = || experiment.streams.iter().map(|s| s.name.as_str()).chain(["run", "search"]);
        let known: Vec<&str> = names().collect();
        let place = source.place(parts[0].1.clone());
        let mut wrong = place.diagnostic("there is no such stream", known.join(", "));
        wrong.hint = did_you_mean(parts[0].0, names());
        problems.push(wrong);
        return None;
    }
    let (name, span) = parts.remove(0);
    let Some(key) = keys::key(section, name) else {
        let title = match section {
            Section::Run => "[run]",
            Section::Search => "[search]",
            _ => "a stream",
        };
        let mut wrong = unknown_key(&source.place(span), name, &[section], title);
        if section == Section::Stream && keys::key(Section::Run, name).is_some() {
            wrong.hint = Some(format!("keys of [run] are set with `run.{name}=…`"));
        } else if section == Section::Stream && keys::key(Section::Search, name).is_some() {
            wrong.hint = Some(format!("keys of [search] are set with `search.{name}=…`"));
        }
        problems.push(wrong);
        return None;
    };
    if let Some((_, span)) = parts.first()
        && !matches!(key.kind, Kind::Arrival | Kind::Pattern)
    {
        let place = source.place(span.clone());
        problems.push(place.diagnostic(format!("`{name}` has nothing inside it"), FORM));
        return None;
    }
    Some(Destination { stream, key, inside: parts, written, value })
}

/// The value's text as a TOML node: one, or an array where commas separate several.
fn value_node<'t>(
    text: &'t str,
    span: Range<usize>,
    source: &Source<'_>,
    problems: &mut Vec<Diagnostic>,
) -> Option<Spanned<DeValue<'t>>> {
    let mut nodes = Vec::new();
    for part in split_at_commas(text, span.clone()) {
        nodes.push(part_node(text, part, source, problems)?);
    }
    if nodes.len() == 1 {
        return nodes.pop();
    }
    let mut array = DeArray::new();
    for node in nodes {
        array.push(node);
    }
    Some(Spanned::new(span, DeValue::Array(array)))
}

/// The parts between commas that do not stand inside brackets or quotes, trimmed.
fn split_at_commas(text: &str, span: Range<usize>) -> Vec<Range<usize>> {
    let mut parts = Vec::new();
    let (mut depth, mut quoted, mut start) = (0i32, false, span.start);
    for (at, byte) in text.bytes().enumerate().take(span.end).skip(span.start) {
        match byte {
            b'"' | b'\'' => quoted = !quoted,
            b'{' | b'[' if !quoted => depth += 1,
            b'}' | b']' if !quoted => depth -= 1,
            b',' if !quoted && depth == 0 => {
                parts.push(start..at);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(start..span.end);
    for part in &mut parts {
        let written = &text[part.clone()];
        part.start += written.len() - written.trim_start().len();
        part.end = part.start + written.trim().len();
    }
    parts
}

fn part_node<'t>(
    text: &'t str,
    span: Range<usize>,
    source: &Source<'_>,
    problems: &mut Vec<Diagnostic>,
) -> Option<Spanned<DeValue<'t>>> {
    let written = &text[span.clone()];
    if let Ok(flag) = written.parse::<bool>() {
        return Some(Spanned::new(span, DeValue::Boolean(flag)));
    }
    if !written.starts_with(['{', '[', '"', '\'']) {
        return Some(Spanned::new(span, DeValue::String(Cow::Borrowed(written))));
    }
    match DeValue::parse(written) {
        Ok(node) => Some(Spanned::new(span.clone(), moved(node.into_inner(), span.start))),
        Err(error) => {
            let inside = error.span().unwrap_or(0..written.len());
            let place = source.place(inside.start + span.start..inside.end + span.start);
            let message = error.message().lines().collect::<Vec<_>>().join("; ");
            problems.push(place.diagnostic(format!("this is not a value: {message}"), FORM));
            None
        }
    }
}

/// The same value with its places `by` bytes later: a part was parsed, places count in the whole
/// text.
fn moved(value: DeValue<'_>, by: usize) -> DeValue<'_> {
    let later = |span: Range<usize>| span.start + by..span.end + by;
    match value {
        DeValue::Array(items) => {
            let mut array = DeArray::new();
            for item in items {
                array.push(Spanned::new(later(item.span()), moved(item.into_inner(), by)));
            }
            DeValue::Array(array)
        }
        DeValue::Table(entries) => {
            let mut table = DeTable::new();
            for (key, item) in entries {
                let key = Spanned::new(later(key.span()), key.into_inner());
                table.insert(key, Spanned::new(later(item.span()), moved(item.into_inner(), by)));
            }
            DeValue::Table(table)
        }
        scalar => scalar,
    }
}
