//! Reads the values of one key: a scalar, a table, or several of these as a sweep.
//!
//! Not for: checks of values against each other (`combination.rs`).

use settings::{Diagnostic, Node, Source, SourceSpan, did_you_mean};
use toml::Spanned;
use toml::de::{DeTable, DeValue};
use units::{Bytes, OpsPerSec, Percent, parse_count, parse_duration};

use crate::arrival::Arrival;
use crate::keys::{
    FILE_SIZE_MAX, HOT_SHARE, Key, Kind, SEEKS, STRIDE, THINK_TIME, TRANSFER, WEIGHT,
};
use crate::pattern::AccessPattern;
use crate::replay_reader::speed;
use crate::run::WeightedSize;
use crate::sweep;
use crate::value::{Choice, Value};

/// Reads the text of a file that an experiment names, relative to the experiment.
///
/// The error describes why it cannot be read.
pub type ReadFile<'f> = &'f dyn Fn(&str) -> Result<String, String>;

/// Reads the values of one text and collects its problems.
pub(crate) struct Reader<'s, 'p> {
    pub(crate) source: &'s Source<'s>,
    pub(crate) problems: &'p mut Vec<Diagnostic>,
    pub(crate) read_file: ReadFile<'s>,
}

/// A scalar that is not allowed, with a hint.
struct Wrong(Option<String>);

impl Reader<'_, '_> {
    /// The values of `key`; empty if one of them is wrong.
    pub(crate) fn choices(&mut self, key: &Key, node: &Node<'_>) -> Vec<Choice> {
        let before = self.problems.len();
        let mut choices = Vec::new();
        match node.get_ref() {
            DeValue::Array(items) if key.sweep => {
                if items.is_empty() {
                    let span = self.source.span(node.span());
                    self.problems.push(span.diagnostic(
                        format!("`{}` is an empty list", key.name),
                        "at least one value",
                    ));
                }
                for item in items.iter() {
                    choices.extend(self.expand(key.name, key.kind, item));
                }
            }
            _ => choices = self.expand(key.name, key.kind, node),
        }
        if choices.len() > 1 && !key.sweep {
            choices.clear();
            let span = self.source.span(node.span());
            self.problems.push(
                span.diagnostic(format!("`{}` takes one value", key.name), key.kind.allowed()),
            );
        }
        self.refuse_repeated(key, &choices);
        if self.problems.len() > before {
            choices.clear();
        }
        choices
    }

    /// Reports a repeated value, because its load points would be indistinguishable.
    fn refuse_repeated(&mut self, key: &Key, choices: &[Choice]) {
        for (at, choice) in choices.iter().enumerate().take(sweep::MOST) {
            if choices[..at].iter().any(|earlier| earlier.value == choice.value) {
                self.problems.push(
                    choice
                        .span
                        .diagnostic(
                            format!("`{}` has the value {} twice", key.name, choice.value),
                            "each value once",
                        )
                        .with_hint("to run every load point several times, set `repeats` in [run]"),
                );
                return;
            }
        }
    }

    /// The values of one node: a scalar, a range, or a table with sweeps inside.
    pub(crate) fn expand(&mut self, name: &str, kind: Kind, node: &Node<'_>) -> Vec<Choice> {
        let span = self.source.span(node.span());
        let at = |value| Choice { value, span: span.clone() };
        match (kind, node.get_ref()) {
            (Kind::TransferSizes, DeValue::Table(table)) => {
                self.weighted_sizes(table, &span).map(|s| at(Value::Sizes(s))).into_iter().collect()
            }
            (Kind::TransferSizes, _) => {
                let sizes = self.expand(name, TRANSFER, node);
                sizes.into_iter().filter_map(single_size).collect()
            }
            (Kind::TargetNames, DeValue::Array(items)) => {
                let mut names = Vec::new();
                for item in items.iter() {
                    for choice in self.expand(name, Kind::Text, item) {
                        names.extend(text_of(choice));
                    }
                }
                if items.is_empty() {
                    let wrong = format!("`{name}` is an empty list");
                    self.problems.push(span.diagnostic(wrong, kind.allowed()));
                }
                vec![at(Value::TargetNames(names))]
            }
            (Kind::TargetNames, _) => {
                let names = self.expand(name, Kind::Text, node).into_iter().filter_map(text_of);
                names.map(|name| at(Value::TargetNames(vec![name]))).collect()
            }
            (Kind::Pattern, DeValue::Table(table)) => {
                self.pattern_table(table, &span).into_iter().map(at).collect()
            }
            (Kind::Names, _) => {
                let names = self.names_table(node, None);
                names.map(|names| at(Value::Names(Box::new(names)))).into_iter().collect()
            }
            (Kind::Replay, _) => self.replays(node).into_iter().map(at).collect(),
            (Kind::Scenario, _) => {
                self.scenario(node).map(Value::Scenario).map(at).into_iter().collect()
            }
            (Kind::Mix, _) => self.mix_table(node).map(Value::Mix).map(at).into_iter().collect(),
            (Kind::Arrival, DeValue::Table(table)) => {
                self.arrival_table(table, &span).into_iter().map(at).collect()
            }
            (Kind::ThinkTime, DeValue::Table(table)) => {
                self.think_time_table(table, &span).into_iter().map(at).collect()
            }
            (Kind::ThinkTime, _) => {
                let times = self.expand(name, THINK_TIME, node).into_iter();
                times.filter_map(constant_think_time).collect()
            }
            (_, DeValue::String(text)) if kind.is_number() && text.contains("..") => {
                // Limits apply to the resulting values only: a step may be below the smallest value.
                let parse = |text: &str| read_scalar(kind, &DeValue::String(text.into())).ok();
                match sweep::expand(text, parse) {
                    Ok(values) => {
                        for value in &values {
                            if !within(kind, value) {
                                let wrong = format!("{value} in the range of `{name}`");
                                let found = format!("`{text}`");
                                self.problems
                                    .push(span.diagnostic(wrong, kind.allowed()).with_found(found));
                                return Vec::new();
                            }
                        }
                        values.into_iter().map(at).collect()
                    }
                    Err(hint) => {
                        self.problems.push(
                            span.diagnostic(
                                format!("wrong range for `{name}`"),
                                "\"FIRST..LAST xFACTOR\" or \"FIRST..LAST step STEP\", such as \
                                     \"1..32 x2\" or \"10..100 step 10\"",
                            )
                            .with_hint(hint),
                        );
                        Vec::new()
                    }
                }
            }
            (_, value) => match scalar(kind, value) {
                Ok(value) => vec![at(value)],
                Err(Wrong(hint)) => {
                    let mut wrong =
                        span.diagnostic(format!("wrong value for `{name}`"), kind.allowed());
                    wrong.hint = hint;
                    self.problems.push(wrong);
                    Vec::new()
                }
            },
        }
    }

    /// The values inside a table: one, or a sweep.
    pub(crate) fn inner(&mut self, name: &str, kind: Kind, node: &Node<'_>) -> Vec<Value> {
        let nodes: Vec<&Node<'_>> = match node.get_ref() {
            DeValue::Array(items) => items.iter().collect(),
            _ => vec![node],
        };
        let mut values = Vec::new();
        for node in nodes {
            values.extend(self.expand(name, kind, node).into_iter().map(|choice| choice.value));
        }
        values
    }

    fn weighted_sizes(
        &mut self,
        table: &DeTable<'_>,
        span: &SourceSpan,
    ) -> Option<Vec<WeightedSize>> {
        let sizes = self.shares(table, span, "transfer size", TRANSFER)?.into_iter();
        let mut sizes: Vec<WeightedSize> =
            sizes.map(|(size_bytes, weight)| WeightedSize { size_bytes, weight }).collect();
        // A table with one size must give the same operations as the size itself.
        if let [only] = sizes.as_mut_slice() {
            only.weight = 1;
        }
        Some(sizes)
    }

    /// The sizes of a table with their shares in thousandths, in the order of the text.
    ///
    /// * `what` - a size, in words
    /// * `kind` - what a size can be
    pub(crate) fn shares(
        &mut self,
        table: &DeTable<'_>,
        span: &SourceSpan,
        what: &str,
        kind: Kind,
    ) -> Option<Vec<(u64, u32)>> {
        let before = self.problems.len();
        let mut sizes: Vec<(u64, u32)> = Vec::new();
        let mut sum = 0u32;
        let mut entries: Vec<_> = table.iter().collect();
        entries.sort_by_key(|(key, _)| key.span().start);
        for (key, weight) in entries {
            let size = match scalar(kind, &DeValue::String(key.get_ref().clone())) {
                Ok(Value::Bytes(size)) => Some(size),
                _ => {
                    let span = self.source.span(key.span());
                    self.problems
                        .push(span.diagnostic(format!("this is not a {what}"), kind.allowed()));
                    None
                }
            };
            let share = match scalar(WEIGHT, weight.get_ref()) {
                Ok(Value::Share(share)) => share,
                _ => {
                    let span = self.source.span(weight.span());
                    let wrong = format!("wrong share for a {what}");
                    self.problems.push(span.diagnostic(wrong, WEIGHT.allowed()));
                    continue;
                }
            };
            sum += u32::from(share);
            let Some(size_bytes) = size else { continue };
            if sizes.iter().any(|(other, _)| *other == size_bytes) {
                let span = self.source.span(key.span());
                self.problems.push(span.diagnostic(
                    format!("the {what} {} is listed twice", Bytes::new(size_bytes)),
                    "each size once",
                ));
                continue;
            }
            sizes.push((size_bytes, u32::from(share)));
        }
        if self.problems.len() == before && sum != 1000 {
            let found = format!("{}%", f64::from(sum) / 10.0);
            self.problems.push(
                span.diagnostic(
                    format!("the shares of the {what}s do not add up to 100 %"),
                    "a sum of 100 %",
                )
                .with_found(found),
            );
        }
        (self.problems.len() == before).then_some(sizes)
    }

    fn pattern_table(&mut self, table: &DeTable<'_>, span: &SourceSpan) -> Vec<Value> {
        let forms = ["zipf", "hot_set", "seek", "stride"];
        let Some((name, node)) = self.only_entry(table, span, Kind::Pattern, &forms) else {
            return Vec::new();
        };
        if name == "seek" || name == "stride" {
            let kind = if name == "seek" { SEEKS } else { STRIDE };
            let pattern = |value| match value {
                Value::Share(seek_permille) => {
                    Some(AccessPattern::PartlySequential { seek_permille })
                }
                Value::Bytes(stride_bytes) => Some(AccessPattern::Stride { stride_bytes }),
                _ => None,
            };
            let values = self.inner(name, kind, node).into_iter();
            return values.filter_map(pattern).map(Value::Pattern).collect();
        }
        if name == "zipf" {
            let skews = self.inner("zipf", Kind::Skew, node);
            let zipf = |value| match value {
                Value::Skew(theta) => Some(Value::Pattern(AccessPattern::Zipf { theta })),
                _ => None,
            };
            return skews.into_iter().filter_map(zipf).collect();
        }
        let mut found =
            self.fields(node, Kind::Pattern, &[("area", HOT_SHARE), ("accesses", HOT_SHARE)]);
        let (Some(accesses), Some(areas)) = (found.pop(), found.pop()) else { return Vec::new() };
        for (field, values) in [("area", &areas), ("accesses", &accesses)] {
            if values.is_none() {
                let span = self.source.span(node.span());
                self.problems.push(
                    span.diagnostic(format!("`hot_set` lacks `{field}`"), Kind::Pattern.allowed()),
                );
            }
        }
        let mut patterns = Vec::new();
        for area in areas.iter().flatten() {
            for share in accesses.iter().flatten() {
                if let (Value::Share(area_permille), Value::Share(accesses_permille)) =
                    (area, share)
                {
                    patterns.push(Value::Pattern(AccessPattern::HotSet {
                        area_permille: *area_permille,
                        accesses_permille: *accesses_permille,
                    }));
                }
            }
        }
        patterns
    }

    /// The entry of a table that selects one of several forms.
    pub(crate) fn only_entry<'t, 'i>(
        &mut self,
        table: &'t DeTable<'i>,
        span: &SourceSpan,
        kind: Kind,
        names: &[&'static str],
    ) -> Option<(&'static str, &'t Node<'i>)> {
        let mut known = Vec::new();
        for (key, node) in table.iter() {
            match names.iter().find(|name| **name == key.get_ref().as_ref()) {
                Some(name) => known.push((*name, node)),
                None => self.unknown_field(key, names.iter().copied(), kind),
            }
        }
        match known.as_slice() {
            [only] => Some(*only),
            [] if !table.is_empty() => None,
            several => {
                let message =
                    if several.is_empty() { "an empty table" } else { "more than one form" };
                self.problems.push(span.diagnostic(message, kind.allowed()));
                None
            }
        }
    }

    /// The values of the named fields of a table, in the order of `fields`; `None` for a missing
    /// field.
    pub(crate) fn fields(
        &mut self,
        node: &Node<'_>,
        whole: Kind,
        fields: &[(&'static str, Kind)],
    ) -> Vec<Option<Vec<Value>>> {
        let DeValue::Table(table) = node.get_ref() else {
            let span = self.source.span(node.span());
            self.problems.push(span.diagnostic("this is not a table", whole.allowed()));
            return Vec::new();
        };
        for (key, _) in table.iter() {
            if !fields.iter().any(|(name, _)| *name == key.get_ref().as_ref()) {
                self.unknown_field(key, fields.iter().map(|(name, _)| *name), whole);
            }
        }
        fields
            .iter()
            .map(|(name, kind)| table.get(*name).map(|node| self.inner(name, *kind, node)))
            .collect()
    }

    pub(crate) fn unknown_field<'k>(
        &mut self,
        key: &Spanned<std::borrow::Cow<'_, str>>,
        known: impl Iterator<Item = &'k str>,
        kind: Kind,
    ) {
        let span = self.source.span(key.span());
        let mut wrong = span.diagnostic("unknown key", kind.allowed());
        wrong.hint = did_you_mean(key.get_ref(), known);
        self.problems.push(wrong);
    }
}

fn text_of(choice: Choice) -> Option<String> {
    match choice.value {
        Value::Text(text) => Some(text),
        _ => None,
    }
}

fn constant_think_time(choice: Choice) -> Option<Choice> {
    let Value::Duration(think_time_ns) = choice.value else { return None };
    let value = Value::Arrival(Arrival::Closed { think_time_ns });
    Some(Choice { value, span: choice.span })
}

fn single_size(choice: Choice) -> Option<Choice> {
    let Value::Bytes(size_bytes) = choice.value else { return None };
    let sizes = vec![WeightedSize { size_bytes, weight: 1 }];
    Some(Choice { value: Value::Sizes(sizes), span: choice.span })
}

/// Reads one scalar and checks the kind's limits.
fn scalar(kind: Kind, node: &DeValue<'_>) -> Result<Value, Wrong> {
    let value = read_scalar(kind, node)?;
    if within(kind, &value) { Ok(value) } else { Err(Wrong(limit_hint(kind, &value))) }
}

fn read_scalar(kind: Kind, node: &DeValue<'_>) -> Result<Value, Wrong> {
    let plain = || Wrong(None);
    let hint = |text: String| Err(Wrong(Some(text)));
    if let (Kind::Flag, DeValue::Boolean(flag)) = (kind, node) {
        return Ok(Value::Flag(*flag));
    }
    let written = settings::scalar_text(node).ok_or_else(plain)?.to_owned();
    let is_text = matches!(node, DeValue::String(_));
    let is_whole = matches!(node, DeValue::Integer(_));
    Ok(match kind {
        Kind::Text if is_text => Value::Text(written),
        Kind::Word(words) if is_text => match words.iter().find(|word| **word == written) {
            Some(word) => Value::Text((*word).to_owned()),
            None => return Err(Wrong(did_you_mean(&written, words.iter().copied()))),
        },
        Kind::Flag if is_text && matches!(written.as_str(), "true" | "false") => {
            return hint(format!("omit the quotes: `{written}`"));
        }
        Kind::Duration { .. } => {
            if written.parse::<f64>().is_ok() && written != "0" {
                return hint(format!("add a unit: `\"{written}s\"` for {written} seconds"));
            }
            let time = parse_duration(&written).map_err(|_| plain())?;
            Value::Duration(u64::try_from(time.as_nanos()).map_err(|_| plain())?)
        }
        Kind::Bytes { .. } | Kind::FileSize if is_text || is_whole => {
            Value::Bytes(written.parse::<Bytes>().map_err(|_| plain())?.get())
        }
        Kind::Count { .. } if is_text || is_whole => {
            Value::Count(parse_count(&written).map_err(|_| plain())?)
        }
        Kind::Share { .. } if is_text || is_whole => {
            Value::Share(written.parse::<Percent>().map_err(|_| plain())?.permille())
        }
        Kind::Share { .. } => {
            let percent = written.parse::<f64>().unwrap_or(0.0) * 100.0;
            return hint(format!("write shares in percent: `\"{percent}%\"`"));
        }
        Kind::Rate | Kind::ScheduledRate => {
            Value::Rate(written.parse::<OpsPerSec>().map_err(|_| plain())?.get())
        }
        Kind::Speed => Value::Skew(speed(&written, is_text).ok_or_else(plain)?),
        Kind::Skew => Value::Skew(written.parse().map_err(|_| plain())?),
        Kind::Pattern if is_text => match written.as_str() {
            "sequential" => Value::Pattern(AccessPattern::Sequential),
            "random" => Value::Pattern(AccessPattern::Uniform),
            "uniform" => return hint("write \"random\"".to_owned()),
            "zipf" => return hint("add the skew: { zipf = 1.1 }".to_owned()),
            other => return Err(Wrong(did_you_mean(other, ["sequential", "random"]))),
        },
        Kind::Arrival if is_text => match written.as_str() {
            "closed" => Value::Arrival(Arrival::Closed { think_time_ns: 0 }),
            "constant" | "poisson" => {
                return hint(format!("add the offered rate: {{ {written} = \"1000/s\" }}"));
            }
            other => return Err(Wrong(did_you_mean(other, ["closed"]))),
        },
        _ => return Err(plain()),
    })
}

/// Whether a value is within the limits of its kind.
fn within(kind: Kind, value: &Value) -> bool {
    match (kind, value) {
        (Kind::Duration { min_ns, max_ns }, Value::Duration(ns)) => (min_ns..=max_ns).contains(ns),
        (Kind::Bytes { multiple_of, max }, Value::Bytes(bytes)) => {
            *bytes > 0 && *bytes <= max && bytes.is_multiple_of(multiple_of)
        }
        (Kind::FileSize, Value::Bytes(bytes)) => *bytes <= FILE_SIZE_MAX,
        (Kind::Count { min, max }, Value::Count(count)) => (min..=max).contains(count),
        (Kind::Share { min_permille, max_permille }, Value::Share(permille)) => {
            (min_permille..=max_permille).contains(permille)
        }
        (Kind::Rate, Value::Rate(rate)) => (1e-3..=1e9).contains(rate),
        (Kind::ScheduledRate, Value::Rate(rate)) => *rate == 0.0 || (1e-3..=1e9).contains(rate),
        (Kind::Speed, Value::Skew(speed)) => *speed == 0.0 || (1e-3..=1e3).contains(speed),
        (Kind::Skew, Value::Skew(theta)) => *theta > 0.0 && *theta <= 10.0,
        (Kind::Text, Value::Text(text)) => {
            !text.is_empty() && text.chars().count() <= 100 && !text.chars().any(char::is_control)
        }
        _ => true,
    }
}

fn limit_hint(kind: Kind, value: &Value) -> Option<String> {
    match (kind, value) {
        (Kind::Bytes { multiple_of, max }, Value::Bytes(bytes)) if *bytes <= max => {
            let below = bytes / multiple_of * multiple_of;
            let nearest = if below == 0 { multiple_of } else { below };
            Some(format!("the nearest allowed size is {nearest} bytes"))
        }
        _ => None,
    }
}
