//! Settings that override each other: defaults, the stream, the variant, the command line.

use std::sync::OnceLock;

use settings::{Source, SourceSpan};
use toml::de::DeValue;

use crate::keys::{self, Presence, Section};
use crate::reader::Reader;
use crate::value::Value;
use crate::written::Setting;

/// The file name of the table's defaults in diagnostics.
pub(crate) const DEFAULTS_FILE: &str = "the table of keys";

/// The settings that apply to one stream, or to the run.
pub(crate) struct Layer<'e> {
    pub(crate) settings: Vec<&'e Setting>,
}

/// An axis, and the index of one of its values.
pub(crate) type AxisValue<'e> = (&'e Setting, usize);

impl<'e> Layer<'e> {
    /// The defaults of `section` with `layers` over them; later ones take precedence.
    pub(crate) fn over(layers: &[&'e [Setting]], section: Section) -> Layer<'e> {
        let mut layer = Layer { settings: Vec::new() };
        let own = defaults().iter().filter(|setting| setting.key.section == section);
        for setting in own.chain(layers.iter().copied().flatten()) {
            layer.put(setting);
        }
        layer
    }

    pub(crate) fn put(&mut self, setting: &'e Setting) {
        self.settings.retain(|other| other.key.name != setting.key.name);
        self.settings.push(setting);
    }

    pub(crate) fn setting(&self, name: &str) -> Option<&'e Setting> {
        self.settings.iter().copied().find(|setting| setting.key.name == name)
    }

    /// The value at a load point and its position; `None` if it is absent or was wrong.
    pub(crate) fn at(
        &self,
        name: &str,
        axis_values: &[AxisValue<'_>],
    ) -> Option<(&'e Value, &'e SourceSpan)> {
        let setting = self.setting(name)?;
        let axis = axis_values.iter().find(|(axis, _)| std::ptr::eq(*axis, setting));
        let choice = setting.choices.get(axis.map_or(0, |(_, index)| *index))?;
        Some((&choice.value, &choice.span))
    }

    pub(crate) fn value(&self, name: &str, axis_values: &[AxisValue<'_>]) -> Option<&'e Value> {
        self.at(name, axis_values).map(|(value, _)| value)
    }

    /// Whether the stream's operations are on names.
    pub(crate) fn is_on_names(&self) -> bool {
        ["names", "mix", "users", "scenario"].into_iter().any(|key| self.is_written(key))
    }

    /// Whether the stream has users.
    pub(crate) fn has_users(&self) -> bool {
        self.is_written("users")
    }

    /// Whether the stream's operations are those of a list.
    pub(crate) fn is_replay(&self) -> bool {
        self.is_written("replay")
    }

    /// Whether the key is present, even with a wrong value.
    pub(crate) fn is_written(&self, name: &str) -> bool {
        self.setting(name).is_some()
    }
}

/// The table's defaults, read like a user's settings.
fn defaults() -> &'static [Setting] {
    static DEFAULTS: OnceLock<Vec<Setting>> = OnceLock::new();
    DEFAULTS.get_or_init(|| {
        let mut problems = Vec::new();
        let mut settings = Vec::new();
        for key in keys::KEYS {
            let Presence::Default(text) = key.presence else { continue };
            let source = Source::option(DEFAULTS_FILE, text);
            let node = DeValue::parse(text).expect("defaults are TOML values");
            let mut reader = Reader {
                source: &source,
                problems: &mut problems,
                read_file: &crate::experiment::no_files,
            };
            let choices = reader.choices(key, &node);
            settings.push(Setting { key, choices, span: source.span(0..text.len()) });
        }
        assert!(problems.is_empty(), "defaults are valid: {problems:?}");
        settings
    })
}
