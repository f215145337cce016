//! The experiment as the user wrote it: settings with their positions.
//!
//! Not for: reading it (`experiment.rs`), nor for resolving it (`resolve.rs`).

use settings::SourceSpan;

use crate::condition::Condition;
use crate::keys::{Key, Section};
use crate::layer::Layer;
use crate::value::{Choice, Value};

/// An experiment as the user wrote it. Read by [`crate::experiment::parse`]; resolved into runs by
/// [`crate::resolve::resolve`].
#[derive(Clone, Debug, PartialEq)]
pub struct Experiment {
    /// Its name.
    pub name: String,
    /// The target, if the file has one. A target on the command line overrides it.
    pub target: Option<String>,
    /// The targets in the file's order, if the file has tables of them.
    pub targets: Vec<TargetSettings>,
    /// Settings of `[run]`, with those of the command line.
    pub run: Vec<Setting>,
    /// Settings of `[search]`, with those of the command line.
    pub search: Vec<Setting>,
    /// What the results must meet.
    pub requirements: Vec<Requirement>,
    /// Settings of `[metric]`, with those of the command line.
    pub metric: Vec<Setting>,
    /// The streams in the file's order.
    pub streams: Vec<StreamSettings>,
    /// The variants in the file's order; without any, the streams run as they are.
    pub variants: Vec<VariantSettings>,
    /// Settings from the command line, which override variants and streams.
    pub overrides: Vec<StreamOverride>,
    /// The position for problems of the whole file.
    pub span: SourceSpan,
}

impl Experiment {
    /// Puts all streams on one target instead of those of its tables.
    pub fn use_one_target(&mut self) {
        self.targets.clear();
        let of_streams = self.streams.iter_mut().map(|stream| &mut stream.settings);
        let of_variants = self.variants.iter_mut().map(|variant| &mut variant.settings);
        for settings in of_streams.chain(of_variants) {
            settings.retain(|one| !["targets", "spread"].contains(&one.key.name));
        }
    }
}

/// A key with its value, or with several values as a sweep.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    /// The row of the table of keys.
    pub key: &'static Key,
    /// The values in order; empty if they were wrong, which is reported only once.
    pub choices: Vec<Choice>,
    /// The key in the text.
    pub span: SourceSpan,
}

/// One of the conditions of `require`.
#[derive(Clone, Debug, PartialEq)]
pub struct Requirement {
    /// The condition, whose text is as written and whose comparison is its opposite.
    pub condition: Condition,
    /// Its position in the text.
    pub span: SourceSpan,
}

/// `[target.NAME]`
#[derive(Clone, Debug, PartialEq)]
pub struct TargetSettings {
    /// Its name.
    pub name: String,
    /// Its settings, in order.
    pub settings: Vec<Setting>,
    /// Its name in the text.
    pub span: SourceSpan,
}

impl TargetSettings {
    /// The directory or the export; `None` for an emulated volume.
    pub fn location(&self) -> Option<(&str, &SourceSpan)> {
        match self.at("location")? {
            (Value::Text(text), span) => Some((text, span)),
            _ => None,
        }
    }

    /// The quota of an emulated volume, in bytes.
    pub fn quota_bytes(&self) -> Option<u64> {
        match self.at("quota")?.0 {
            Value::Bytes(bytes) => Some(*bytes),
            _ => None,
        }
    }

    /// The service level of an emulated volume.
    pub fn service_level(&self) -> Option<&str> {
        match self.at("service_level")?.0 {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The value of a key, or its default.
    fn at(&self, name: &str) -> Option<(&Value, &SourceSpan)> {
        Layer::over(&[&self.settings], Section::Target).at(name, &[])
    }
}

/// `[stream.NAME]`
#[derive(Clone, Debug, PartialEq)]
pub struct StreamSettings {
    /// Its name.
    pub name: String,
    /// Its settings, in order.
    pub settings: Vec<Setting>,
    /// Its name in the text.
    pub span: SourceSpan,
}

/// `[[variant]]`
#[derive(Clone, Debug, PartialEq)]
pub struct VariantSettings {
    /// Its name; without one, it is named by a description.
    pub name: Option<String>,
    /// The stream that it applies to; all streams if `None`.
    pub stream: Option<String>,
    /// Its settings, in order.
    pub settings: Vec<Setting>,
    /// Its position in the text.
    pub span: SourceSpan,
}

/// A setting from the command line.
#[derive(Clone, Debug, PartialEq)]
pub struct StreamOverride {
    /// The stream that it applies to; all streams if `None`.
    pub stream: Option<String>,
    /// The setting.
    pub setting: Setting,
}
