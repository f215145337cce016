//! Settings from the command line: `--set queue_depth=1,2,4`, `--set database.read=50%`,
//! `--set run.measure=10s`, and options for a single key (`--repeats 3`).

use std::borrow::Cow;
use std::ops::Range;

use settings::{Diagnostic, Source, SourceSpan, did_you_mean};
use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

use crate::keys::{self, Key, Kind, Section};
use crate::metric;
use crate::problem::unknown_key;
use crate::reader::{ReadFile, Reader};
use crate::value::{Choice, Value};
use crate::written::{Experiment, Setting, StreamOverride, TargetSettings};

/// A setting from the command line, and the option that carried it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Override {
    /// The option's name in diagnostics: `--set`, `--repeats`.
    pub flag: String,
    /// The key that the option implies, such as `run.repeats`; `None` if the text contains it.
    pub key: Option<String>,
    /// The text: `queue_depth=1,2,4`, or only the value.
    pub text: String,
}

impl Override {
    /// `--set KEY=VALUE[,VALUE…]`
    pub fn set(text: &str) -> Override {
        Override { flag: "--set".to_owned(), key: None, text: text.to_owned() }
    }

    /// An option for one key: `Override::option("--measure", "run.measure", "10s")`.
    pub fn option(flag: &str, key: &str, text: &str) -> Override {
        Override { flag: flag.to_owned(), key: Some(key.to_owned()), text: text.to_owned() }
    }

    /// `KEY=VALUE`, for every option.
    pub fn assignment(&self) -> String {
        match &self.key {
            Some(key) => format!("{key}={}", self.text),
            None => self.text.clone(),
        }
    }
}

const FORM: &str = "KEY=VALUE[,VALUE…], STREAM.KEY=VALUE, run.KEY=VALUE, search.KEY=VALUE, \
                    metric.KEY=VALUE or target.NAME.KEY=VALUE";

/// Applies `overrides` to the experiment; later ones take precedence.
pub(crate) fn apply(
    experiment: &mut Experiment,
    overrides: &[Override],
    read_file: ReadFile<'_>,
    problems: &mut Vec<Diagnostic>,
) {
    let search_in_file = experiment.search.clone();
    apply_each(experiment, overrides, read_file, problems);
    // Listed queue depths replace a search for queue depths, unless the command line requests both.
    if experiment.search == search_in_file && is_ladder(&search_in_file) && lists_depths(experiment)
    {
        experiment.search.clear();
    }
}

/// Whether a search only chooses queue depths.
fn is_ladder(search: &[Setting]) -> bool {
    let method = search.iter().find(|setting| setting.key.name == "method");
    let choices = method.map_or(&[][..], |method| &method.choices);
    matches!(choices, [one] if matches!(&one.value, Value::Text(word) if word == "queue-depth"))
}

/// Whether the command line lists several queue depths.
fn lists_depths(experiment: &Experiment) -> bool {
    let mut settings = experiment.overrides.iter().map(|one| &one.setting);
    settings.any(|setting| setting.key.name == "queue_depth" && setting.choices.len() > 1)
}

fn apply_each(
    experiment: &mut Experiment,
    overrides: &[Override],
    read_file: ReadFile<'_>,
    problems: &mut Vec<Diagnostic>,
) {
    for one in overrides {
        let source = Source::option(&one.flag, &one.text);
        let Some(destination) = destination(experiment, one, &source, problems) else { continue };
        let Some(node) = value_node(&one.text, destination.value.clone(), &source, problems) else {
            continue;
        };
        let node = destination.inside.iter().rev().fold(node, |inner, (field, span)| {
            let mut table = DeTable::new();
            table.insert(Spanned::new(span.clone(), Cow::Borrowed(*field)), inner);
            Spanned::new(span.clone(), DeValue::Table(table))
        });
        let mut reader = Reader { source: &source, problems: &mut *problems, read_file };
        if matches!(destination.key.kind, Kind::Names) && !destination.inside.is_empty() {
            let Some(changed) = changed_names(experiment, &destination, &node, &mut reader) else {
                continue;
            };
            if !changed.is_empty() {
                let names_it = |other: &StreamOverride| {
                    other.setting.key.name == destination.key.name
                        && changed.iter().any(|(stream, _)| other.stream.as_ref() == Some(stream))
                };
                experiment.overrides.retain(|other| !names_it(other));
                experiment.overrides.extend(changed.into_iter().map(|(stream, choices)| {
                    let span = source.span(destination.written.clone());
                    let setting = Setting { key: destination.key, choices, span };
                    StreamOverride { stream: Some(stream), setting }
                }));
                continue;
            }
        }
        let choices = reader.choices(destination.key, &node);
        let setting =
            Setting { key: destination.key, choices, span: source.span(destination.written) };
        if let Some(position) = destination.target {
            set_of_target(&mut experiment.targets[position], setting);
            continue;
        }
        let of_section = match destination.key.section {
            Section::Run => Some(&mut experiment.run),
            Section::Search => Some(&mut experiment.search),
            Section::Metric => Some(&mut experiment.metric),
            Section::Experiment | Section::Target | Section::Stream | Section::Variant => None,
        };
        if let Some(settings) = of_section {
            let replaced = match destination.key.section {
                Section::Metric => metric::replaced_by(destination.key.name),
                _ => &[],
            };
            let is_in_file =
                |other: &Setting| !overrides.iter().any(|one| *one.flag == *other.span.file);
            settings.retain(|other| {
                other.key.name != destination.key.name
                    && !(replaced.contains(&other.key.name) && is_in_file(other))
            });
            settings.push(setting);
        } else {
            experiment.overrides.retain(|other| {
                other.setting.key.name != destination.key.name || other.stream != destination.stream
            });
            experiment.overrides.push(StreamOverride { stream: destination.stream, setting });
        }
    }
}

/// The trees of names of the streams with the fields in `node` changed, and the rest as it was; empty if
/// no stream has a tree, `None` if a field is wrong, which is reported once.
fn changed_names(
    experiment: &Experiment,
    destination: &Destination<'_>,
    node: &Spanned<DeValue<'_>>,
    reader: &mut Reader<'_, '_>,
) -> Option<Vec<(String, Vec<Choice>)>> {
    let only = destination.stream.as_deref();
    let streams = experiment.streams.iter().filter(|one| only.is_none_or(|name| name == one.name));
    let mut changed = Vec::new();
    for stream in streams {
        let of_command_line = experiment.overrides.iter().rev();
        let of_command_line = of_command_line
            .filter(|one| one.stream.as_ref().is_none_or(|name| *name == stream.name))
            .map(|one| &one.setting);
        let mut settings = of_command_line.chain(stream.settings.iter().rev());
        let Some(names) = settings.find(|one| one.key.name == destination.key.name) else {
            continue;
        };
        let mut choices = Vec::new();
        for choice in &names.choices {
            let Value::Names(base) = &choice.value else { continue };
            let names = reader.names_table(node, Some(base))?;
            let span = reader.source.span(destination.written.clone());
            choices.push(Choice { value: Value::Names(Box::new(names)), span });
        }
        changed.push((stream.name.clone(), choices));
    }
    Some(changed)
}

/// Applies a setting to a target. A location replaces the emulated volume of the file.
fn set_of_target(target: &mut TargetSettings, setting: Setting) {
    let replaces =
        |other: &Setting| other.key.name == setting.key.name || setting.key.name == "location";
    target.settings.retain(|other| !replaces(other));
    target.settings.push(setting);
}

/// The key that a setting applies to.
struct Destination<'t> {
    stream: Option<String>,
    /// The position of the table of a target.
    target: Option<usize>,
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
                let span = source.span(0..one.text.len());
                problems.push(span.diagnostic("a setting without a value", FORM));
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
    let mut target = None;
    let mut section = Section::Stream;
    if parts.len() > 2 && parts[0].0 == "target" {
        section = Section::Target;
        parts.remove(0);
        let (name, span) = parts.remove(0);
        target = experiment.targets.iter().position(|one| one.name == name);
        if target.is_none() {
            problems.push(unknown_target(experiment, name, &source.span(span)));
            return None;
        }
    } else if parts.len() > 1 && parts[0].0 == "run" {
        section = Section::Run;
        parts.remove(0);
    } else if parts.len() > 1 && parts[0].0 == "search" {
        section = Section::Search;
        parts.remove(0);
    } else if parts.len() > 1
        && parts[0].0 == "metric"
        && !experiment.streams.iter().any(|stream| stream.name == "metric")
    {
        section = Section::Metric;
        parts.remove(0);
    } else if parts.len() > 1 && experiment.streams.iter().any(|s| s.name == parts[0].0) {
        stream = Some(parts.remove(0).0.to_owned());
    } else if parts.len() > 1 && keys::key(Section::Stream, parts[0].0).is_none() {
        let names = || experiment.streams.iter().map(|s| s.name.as_str()).chain(["run", "search"]);
        let known: Vec<&str> = names().collect();
        let span = source.span(parts[0].1.clone());
        let mut wrong = span.diagnostic("unknown stream", known.join(", "));
        wrong.hint = did_you_mean(parts[0].0, names());
        problems.push(wrong);
        return None;
    }
    let (name, span) = parts.remove(0);
    let Some(key) = keys::key(section, name) else {
        let title = match section {
            Section::Run => "[run]",
            Section::Search => "[search]",
            Section::Target => "a target",
            Section::Metric => "[metric]",
            _ => "a stream",
        };
        let mut wrong = unknown_key(&source.span(span), name, &[section], title);
        if section == Section::Stream && keys::key(Section::Run, name).is_some() {
            wrong.hint = Some(format!("for a key of [run] write `run.{name}=…`"));
        } else if section == Section::Stream && keys::key(Section::Search, name).is_some() {
            wrong.hint = Some(format!("for a key of [search] write `search.{name}=…`"));
        }
        problems.push(wrong);
        return None;
    };
    if let Some((_, span)) = parts.first()
        && !matches!(
            key.kind,
            Kind::Arrival | Kind::Pattern | Kind::Names | Kind::Mix | Kind::Replay
        )
    {
        let span = source.span(span.clone());
        problems.push(span.diagnostic(format!("`{name}` has no fields"), FORM));
        return None;
    }
    Some(Destination { stream, target, key, inside: parts, written, value })
}

fn unknown_target(experiment: &Experiment, name: &str, span: &SourceSpan) -> Diagnostic {
    let known = || experiment.targets.iter().map(|one| one.name.as_str());
    let allowed = match experiment.targets.is_empty() {
        true => "the experiment has no [target.NAME] table".to_owned(),
        false => known().collect::<Vec<&str>>().join(", "),
    };
    let mut wrong = span.diagnostic("unknown target", allowed).with_found(format!("`{name}`"));
    wrong.hint = did_you_mean(name, known());
    wrong
}

/// The value's text as a TOML node: an array if commas separate several values.
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

/// The parts between commas outside brackets and quotes, trimmed.
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
            let span = source.span(inside.start + span.start..inside.end + span.start);
            let message = error.message().lines().collect::<Vec<_>>().join("; ");
            problems.push(span.diagnostic(format!("this is not a value: {message}"), FORM));
            None
        }
    }
}

/// The value with its spans moved by `by` bytes, from a part to the whole text.
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
