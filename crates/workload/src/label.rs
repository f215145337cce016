//! Names variants by their operations. A name from the user is kept unless the command line changes
//! the operations.
//!
//! Not for: the parameters that distinguish the load points of a variant.

use crate::keys::Section;
use crate::layer::Layer;
use crate::value::{Choice, Value, exact_bytes};
use crate::written::{Experiment, Setting, StreamSettings, VariantSettings};

/// The keys that describe an operation, in the order of the words: `random read 8 KiB`.
const OPERATION_KEYS: [&str; 5] = ["pattern", "read", "transfer_size", "mix", "replay"];

/// A variant's streams, with the settings that its name describes.
pub(crate) struct Labelled<'a, 'e> {
    pub(crate) experiment: &'e Experiment,
    pub(crate) variant: &'e VariantSettings,
    /// One for each stream, as in the file.
    pub(crate) written: &'a [Layer<'e>],
    /// One for each stream, with the settings of the command line.
    pub(crate) layers: &'a [Layer<'e>],
}

impl<'e> Labelled<'_, 'e> {
    /// The variant's name.
    pub(crate) fn name(&self) -> String {
        let operations = self.operations(self.layers);
        let derived = self.with_other_keys(&operations, |_| true);
        let Some(name) = &self.variant.name else {
            return if derived.is_empty() { self.experiment.name.clone() } else { derived };
        };
        let written = self.operations(self.written);
        let operations = if operations == written { "" } else { &operations };
        let changes = self.with_other_keys(operations, |key| self.is_changed(key));
        match changes.is_empty() {
            true => name.clone(),
            false if *name == written => derived,
            false => format!("{name}: {changes}"),
        }
    }

    /// Whether the command line changes the key in a stream of the variant.
    fn is_changed(&self, key: &str) -> bool {
        let mut pairs = self.streams(self.written).zip(self.streams(self.layers));
        pairs.any(|((_, written), (_, layer))| values(written, key).ne(values(layer, key)))
    }

    /// `operations, files=4`: adds the keys of the variant that do not describe an operation, without
    /// swept ones.
    fn with_other_keys(&self, operations: &str, is_shown: impl Fn(&str) -> bool) -> String {
        let mut words: Vec<String> = Vec::new();
        words.extend((!operations.is_empty()).then(|| operations.to_owned()));
        for key in self.other_keys().filter(|key| is_shown(key)) {
            let streams: Vec<_> = self.streams(self.layers).collect();
            let values: Vec<_> = streams.iter().map(|(_, layer)| only_value(layer, key)).collect();
            if values.windows(2).all(|pair| pair[0] == pair[1]) {
                words.extend(
                    values.first().copied().flatten().map(|value| format!("{key}={value}")),
                );
                continue;
            }
            let of_streams = streams.iter().zip(values);
            words.extend(of_streams.filter_map(|((stream, _), value)| {
                value.map(|value| format!("{}.{key}={value}", stream.name))
            }));
        }
        words.join(", ")
    }

    /// Describes the operations of all streams of the variant.
    fn operations(&self, layers: &[Layer<'e>]) -> String {
        let several = self.experiment.streams.len() > 1;
        let of_stream = |(stream, layer): (&StreamSettings, &Layer<'_>)| {
            let words = operation(layer);
            match several && !words.is_empty() {
                true => format!("{}: {words}", stream.name),
                false => words,
            }
        };
        let of_streams: Vec<String> =
            self.streams(layers).map(of_stream).filter(|words| !words.is_empty()).collect();
        of_streams.join(" + ")
    }

    /// The streams that the variant applies to, with their settings.
    fn streams<'l>(
        &self,
        layers: &'l [Layer<'e>],
    ) -> impl Iterator<Item = (&'e StreamSettings, &'l Layer<'e>)> {
        let only = self.variant.stream.as_deref();
        let streams = self.experiment.streams.iter().zip(layers);
        streams.filter(move |(stream, _)| only.is_none_or(|name| name == stream.name))
    }

    /// Keys of the variant that do not describe an operation.
    fn other_keys(&self) -> impl Iterator<Item = &'static str> {
        let keys = self.variant.settings.iter().map(|setting| setting.key);
        let streams = keys.filter(|key| key.section == Section::Stream);
        streams.map(|key| key.name).filter(|name| !OPERATION_KEYS.contains(name))
    }
}

/// `random read 8 KiB`, without swept keys.
fn operation(layer: &Layer<'_>) -> String {
    let words = |key: &str| {
        Some(match only_value(layer, key)? {
            Value::Share(1000) => "read".to_owned(),
            Value::Share(0) => "write".to_owned(),
            share @ Value::Share(_) => format!("{share} read"),
            Value::Sizes(sizes) if sizes.len() == 1 => spaced(sizes[0].size_bytes),
            value => value.to_string(),
        })
    };
    OPERATION_KEYS.into_iter().filter_map(words).collect::<Vec<_>>().join(" ")
}

/// `8 KiB`, without rounding, so that different sizes have different names.
fn spaced(bytes: u64) -> String {
    let exact = exact_bytes(bytes);
    let digits = exact.trim_end_matches(|c: char| !c.is_ascii_digit());
    match &exact[digits.len()..] {
        "" => format!("{digits} B"),
        unit => format!("{digits} {unit}"),
    }
}

/// The value of a key that is not swept.
fn only_value<'e>(layer: &Layer<'e>, key: &str) -> Option<&'e Value> {
    match layer.setting(key)?.choices.as_slice() {
        [only] => Some(&only.value),
        _ => None,
    }
}

fn values<'e>(layer: &Layer<'e>, key: &str) -> impl Iterator<Item = &'e Value> {
    let choices = layer.setting(key).map_or(&[][..], |setting: &Setting| &setting.choices);
    choices.iter().map(|choice: &Choice| &choice.value)
}
