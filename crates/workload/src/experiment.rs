//! Reads and checks experiments.
//!
//! [`parse`] reads the file by the table of [`crate::keys`] and reports all problems. Combinations of
//! values are checked by the code that makes the plan ([`crate::resolve`]), so that a file that
//! parses also resolves. `docs/reference/experiment.md` describes the format.

use settings::{Diagnostic, Source, SourceSpan, did_you_mean};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::condition::parse_requirement;
use crate::keys::{self, Kind, Section};
use crate::metric;
use crate::overrides::{self, Override};
use crate::problem::{missing_key, same_name, unknown_key};
pub use crate::reader::ReadFile;
use crate::reader::Reader;
use crate::resolve;
use crate::value::Value;
pub use crate::written::{
    Experiment, Requirement, Setting, StreamOverride, StreamSettings, TargetSettings,
    VariantSettings,
};

/// Reads an experiment. `file` is its name in diagnostics.
///
/// # Errors
/// All problems, in the order of the text.
pub fn parse(text: &str, file: &str) -> Result<Experiment, Vec<Diagnostic>> {
    parse_with(text, file, &[])
}

/// Reads an experiment and applies the command line's settings, which may supply missing keys.
///
/// # Errors
/// All problems, those of the text first.
pub fn parse_with(
    text: &str,
    file: &str,
    overrides: &[Override],
) -> Result<Experiment, Vec<Diagnostic>> {
    parse_with_files(text, file, overrides, &no_files)
}

/// As [`parse_with`], for experiments that may name other files: `read_file` reads them.
///
/// # Errors
/// All problems, those of the text first.
pub fn parse_with_files(
    text: &str,
    file: &str,
    overrides: &[Override],
    read_file: ReadFile<'_>,
) -> Result<Experiment, Vec<Diagnostic>> {
    settings::parse(text, file, |tree, problems| {
        let is_toml = problems.is_toml();
        let (source, found) = problems.parts();
        let mut experiment =
            ExperimentReader { source, problems: found, read_file }.experiment(tree);
        overrides::apply(&mut experiment, overrides, read_file, found);
        metric::complete(&mut experiment, found);
        if is_toml {
            found.extend(resolve::check(&experiment));
        }
        experiment
    })
}

/// Refuses to read a file, for experiments that must be complete in themselves.
pub(crate) fn no_files(_path: &str) -> Result<String, String> {
    Err("this experiment cannot name other files".to_owned())
}

/// Reads the tables of one file.
struct ExperimentReader<'s, 'p> {
    source: &'s Source<'s>,
    problems: &'p mut Vec<Diagnostic>,
    read_file: ReadFile<'s>,
}

type Entry<'t, 'i> = (&'t Spanned<std::borrow::Cow<'i, str>>, &'t Spanned<DeValue<'i>>);

/// A table's entries in the order of the text.
fn entries<'t, 'i>(table: &'t DeTable<'i>) -> Vec<Entry<'t, 'i>> {
    let mut entries: Vec<Entry<'_, '_>> = table.iter().collect();
    entries.sort_by_key(|(key, _)| key.span().start);
    entries
}

impl ExperimentReader<'_, '_> {
    fn experiment(&mut self, tree: &DeTable<'_>) -> Experiment {
        let mut experiment = Experiment {
            name: String::new(),
            target: None,
            targets: Vec::new(),
            requirements: Vec::new(),
            run: Vec::new(),
            search: Vec::new(),
            metric: Vec::new(),
            streams: Vec::new(),
            variants: Vec::new(),
            overrides: Vec::new(),
            span: self.source.span(0..0),
        };
        let mut own: Vec<Setting> = Vec::new();
        for (key, node) in entries(tree) {
            match key.get_ref().as_ref() {
                "run" => experiment.run = self.section(key, node, Section::Run, "[run]"),
                "search" => {
                    experiment.search = self.section(key, node, Section::Search, "[search]");
                }
                "metric" => {
                    experiment.metric = self.section(key, node, Section::Metric, "[metric]");
                }
                "stream" => experiment.streams = self.streams(key, node),
                "target" if matches!(node.get_ref(), DeValue::Table(_)) => {
                    experiment.targets = self.targets(key, node);
                }
                "variant" => experiment.variants = self.variants(key, node),
                "require" => experiment.requirements = self.requirements(node),
                _ => own.extend(self.setting(key, node, &[Section::Experiment], "the top level")),
            }
        }
        experiment.name = text_of(&own, "name").unwrap_or_default();
        experiment.target = text_of(&own, "target");
        if !own.iter().any(|setting| setting.key.name == "name") {
            self.missing(&experiment.span.clone(), Section::Experiment, "name", "the experiment");
        }
        if experiment.streams.is_empty() && tree.get("stream").is_none() {
            self.problems.push(
                experiment
                    .span
                    .diagnostic("the experiment has no stream", "one or more [stream.NAME]")
                    .with_hint("add a stream, such as [stream.database]"),
            );
        }
        self.check_variants(&experiment);
        experiment
    }

    /// `[run]`, `[search]` or `[metric]`, which is its title.
    fn section(
        &mut self,
        key: &Spanned<std::borrow::Cow<'_, str>>,
        node: &Spanned<DeValue<'_>>,
        section: Section,
        title: &str,
    ) -> Vec<Setting> {
        let form = format!("a table: {title}");
        let Some(table) = self.table(key, node, &form) else { return Vec::new() };
        self.settings(table, &[section], title)
    }

    fn targets(
        &mut self,
        key: &Spanned<std::borrow::Cow<'_, str>>,
        node: &Spanned<DeValue<'_>>,
    ) -> Vec<TargetSettings> {
        let form = "one table for each target: [target.NAME]";
        let Some(table) = self.table(key, node, form) else { return Vec::new() };
        let mut targets: Vec<TargetSettings> = Vec::new();
        for (name_key, node) in entries(table) {
            let span = self.source.span(name_key.span());
            let name = name_key.get_ref().as_ref();
            let DeValue::Table(table) = node.get_ref() else {
                let mut wrong = span.diagnostic("a key outside of a target", form);
                if keys::key(Section::Target, name).is_some() {
                    wrong = wrong
                        .with_hint(format!("put `{name}` into a target such as [target.vol1]"));
                }
                self.problems.push(wrong);
                continue;
            };
            if !is_plain_name(name) {
                self.problems.push(span.diagnostic(
                    "not a valid target name",
                    "up to 40 letters, digits, `-` and `_`",
                ));
            }
            let title = format!("[target.{name}]");
            let settings = self.settings(table, &[Section::Target], &title);
            let is_written = |key: &str| settings.iter().find(|setting| setting.key.name == key);
            if let (Some(_), Some(wrong)) =
                (is_written("location"), is_written("quota").or(is_written("service_level")))
            {
                let key = wrong.key.name;
                self.problems.push(wrong.span.diagnostic(
                    format!("target `{name}` has `location` and `{key}`"),
                    "`quota` and `service_level` only for an emulated volume",
                ));
            }
            targets.push(TargetSettings { name: name.to_owned(), settings, span });
        }
        targets
    }

    fn streams(
        &mut self,
        key: &Spanned<std::borrow::Cow<'_, str>>,
        node: &Spanned<DeValue<'_>>,
    ) -> Vec<StreamSettings> {
        let form = "one table for each stream: [stream.NAME]";
        let Some(table) = self.table(key, node, form) else { return Vec::new() };
        let mut streams: Vec<StreamSettings> = Vec::new();
        if table.is_empty() {
            let span = self.source.span(key.span());
            self.problems.push(span.diagnostic("the experiment has no stream", form));
        }
        for (name_key, node) in entries(table) {
            let span = self.source.span(name_key.span());
            let name = name_key.get_ref().as_ref();
            let DeValue::Table(table) = node.get_ref() else {
                let mut wrong = span.diagnostic("a key outside of a stream", form);
                if keys::key(Section::Stream, name).is_some() {
                    wrong = wrong
                        .with_hint(format!("put `{name}` into a stream such as [stream.main]"));
                }
                self.problems.push(wrong);
                continue;
            };
            if !is_plain_name(name) || ["run", "search", "stream"].contains(&name) {
                self.problems.push(span.diagnostic(
                    "not a valid stream name (it is part of file names)",
                    "up to 40 letters, digits, `-` and `_`, but not `run`, `search` or `stream`",
                ));
            } else if let Some(same) = streams.iter().find(|s| s.name.eq_ignore_ascii_case(name)) {
                self.problems.push(span.diagnostic(
                    format!("a stream name that differs from `{}` only in case", same.name),
                    "names that differ in more than case",
                ));
            }
            let title = format!("[stream.{name}]");
            let settings = self.settings(table, &[Section::Stream], &title);
            streams.push(StreamSettings { name: name.to_owned(), settings, span });
        }
        streams
    }

    fn variants(
        &mut self,
        key: &Spanned<std::borrow::Cow<'_, str>>,
        node: &Spanned<DeValue<'_>>,
    ) -> Vec<VariantSettings> {
        let form = "one [[variant]] for each variant";
        let DeValue::Array(items) = node.get_ref() else {
            let span = self.source.span(key.span());
            self.problems.push(
                span.diagnostic("variants are a list of tables", form)
                    .with_hint("use two brackets: [[variant]]"),
            );
            return Vec::new();
        };
        let mut variants = Vec::new();
        for item in items.iter() {
            let span = self.source.span(item.span());
            let DeValue::Table(table) = item.get_ref() else {
                self.problems.push(span.diagnostic("a variant is a table", form));
                continue;
            };
            let all = self.settings(table, &[Section::Variant, Section::Stream], "[[variant]]");
            let (own, settings): (Vec<Setting>, Vec<Setting>) =
                all.into_iter().partition(|setting| setting.key.section == Section::Variant);
            variants.push(VariantSettings {
                name: text_of(&own, "name"),
                stream: text_of(&own, "stream"),
                settings,
                span: own
                    .iter()
                    .find(|setting| setting.key.name == "name")
                    .map_or(span, |setting| setting.span.clone()),
            });
        }
        variants
    }

    /// The conditions of `require`: a list, or only one.
    fn requirements(&mut self, node: &Spanned<DeValue<'_>>) -> Vec<Requirement> {
        match node.get_ref() {
            DeValue::Array(items) => {
                items.iter().filter_map(|item| self.requirement(item)).collect()
            }
            _ => self.requirement(node).into_iter().collect(),
        }
    }

    fn requirement(&mut self, node: &Spanned<DeValue<'_>>) -> Option<Requirement> {
        let span = self.source.span(node.span());
        let allowed = Kind::Requirements.allowed();
        let DeValue::String(text) = node.get_ref() else {
            self.problems.push(span.diagnostic("a requirement that is not text", allowed));
            return None;
        };
        match parse_requirement(text) {
            Ok(condition) => Some(Requirement { condition, span }),
            Err(wrong) => {
                // Inside of the quotes.
                let start = node.span().start + 1 + wrong.at.start;
                let end = (node.span().start + 1 + wrong.at.end).min(node.span().end);
                let span = self.source.span(start.min(end)..end);
                self.problems.push(span.diagnostic(wrong.message, ""));
                None
            }
        }
    }

    /// Variants need different names, and must refer to streams that exist.
    fn check_variants(&mut self, experiment: &Experiment) {
        for (at, variant) in experiment.variants.iter().enumerate() {
            let earlier = &experiment.variants[..at];
            if let Some(name) = &variant.name
                && earlier.iter().any(|other| other.name == variant.name)
            {
                self.problems.push(same_name(&variant.span, name));
            }
            let Some(stream) = &variant.stream else { continue };
            let names = || experiment.streams.iter().map(|stream| stream.name.as_str());
            if !names().any(|name| name == stream) {
                let known: Vec<String> = names().map(|name| format!("`{name}`")).collect();
                let mut wrong = variant
                    .span
                    .diagnostic("the variant refers to an unknown stream", known.join(" or "))
                    .with_found(format!("`{stream}`"));
                wrong.hint = did_you_mean(stream, names());
                self.problems.push(wrong);
            }
        }
    }

    fn table<'t, 'i>(
        &mut self,
        key: &Spanned<std::borrow::Cow<'_, str>>,
        node: &'t Spanned<DeValue<'i>>,
        form: &str,
    ) -> Option<&'t DeTable<'i>> {
        if let DeValue::Table(table) = node.get_ref() {
            return Some(table);
        }
        let span = self.source.span(key.span());
        self.problems.push(span.diagnostic(format!("`{}` is not a table", key.get_ref()), form));
        None
    }

    fn settings(&mut self, table: &DeTable<'_>, sections: &[Section], title: &str) -> Vec<Setting> {
        let found = entries(table)
            .into_iter()
            .filter_map(|(key, node)| self.setting(key, node, sections, title));
        let mut settings: Vec<Setting> = Vec::new();
        for setting in found {
            match settings.iter().position(|other| other.key.name == setting.key.name) {
                Some(at) if settings[at].choices.is_empty() => settings[at] = setting,
                Some(_) => {}
                None => settings.push(setting),
            }
        }
        settings
    }

    fn setting(
        &mut self,
        name: &Spanned<std::borrow::Cow<'_, str>>,
        node: &Spanned<DeValue<'_>>,
        sections: &[Section],
        title: &str,
    ) -> Option<Setting> {
        let span = self.source.span(name.span());
        let Some(key) = sections.iter().find_map(|section| keys::key(*section, name.get_ref()))
        else {
            self.problems.push(unknown_key(&span, name.get_ref(), sections, title));
            // A misspelled key is not reported as missing too.
            let rows = || keys::KEYS.iter().filter(|key| sections.contains(&key.section));
            let meant = units::nearest(name.get_ref(), rows().map(|key| key.name))?;
            let key = rows().find(|key| key.name == meant)?;
            return Some(Setting { key, choices: Vec::new(), span });
        };
        let mut reader = Reader {
            source: self.source,
            problems: &mut *self.problems,
            read_file: self.read_file,
        };
        let choices = reader.choices(key, node);
        Some(Setting { key, choices, span })
    }

    fn missing(&mut self, span: &SourceSpan, section: Section, name: &str, of: &str) {
        let Some(key) = keys::key(section, name) else { return };
        self.problems.push(missing_key(span, key, of));
    }
}

/// Whether a name consists of characters that file names and patterns can contain.
fn is_plain_name(name: &str) -> bool {
    !name.is_empty()
        && name.len() <= 40
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
}

fn text_of(settings: &[Setting], name: &str) -> Option<String> {
    let setting = settings.iter().find(|setting| setting.key.name == name)?;
    match &setting.choices.first()?.value {
        Value::Text(text) => Some(text.clone()),
        _ => None,
    }
}
