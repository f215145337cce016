//! The experiment: what a user wrote, read and checked, with the place of each value.
//!
//! [`parse`] walks the TOML tree with the table of [`crate::keys`] and collects every mistake of
//! the file; what the values mean together is checked by the same code that makes the plan
//! ([`crate::resolve`]), so that a file that parses also resolves. The format is described in
//! `docs/reference/experiment.md`, which comes out of the table.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::diagnostic::{Diagnostic, Place, Source, did_you_mean};
use crate::keys::{self, Key, Section};
use crate::overrides::{self, Override};
use crate::reader::Reader;
use crate::resolve;
use crate::value::{Choice, Value};

/// An experiment as the user wrote it. Made by [`parse`]; turned into runs by [`resolve::resolve`].
#[derive(Clone, Debug, PartialEq)]
pub struct Experiment {
    /// What it is called.
    pub name: String,
    /// What is measured, where the file says so. A target on the command line goes before it.
    pub target: Option<String>,
    /// Settings of `[run]`, with those of the command line.
    pub run: Vec<Setting>,
    /// Settings of `[search]`, with those of the command line.
    pub search: Vec<Setting>,
    /// The streams in the file's order.
    pub streams: Vec<StreamSettings>,
    /// The variants in the file's order; none means one run of the streams as they are.
    pub variants: Vec<VariantSettings>,
    /// Settings from the command line, laid over variants and streams.
    pub overrides: Vec<StreamOverride>,
    /// Where mistakes of the whole are reported.
    pub place: Place,
}

/// A key with the values written for it: one, or several that are swept.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    /// The row of the table of keys.
    pub key: &'static Key,
    /// The values in their order; none where they were wrong, which is reported once and not again.
    pub choices: Vec<Choice>,
    /// Where the key is written.
    pub place: Place,
}

/// `[stream.NAME]`
#[derive(Clone, Debug, PartialEq)]
pub struct StreamSettings {
    /// Its name.
    pub name: String,
    /// What is written in it, in order.
    pub settings: Vec<Setting>,
    /// Where its name is written.
    pub place: Place,
}

/// `[[variant]]`
#[derive(Clone, Debug, PartialEq)]
pub struct VariantSettings {
    /// Its name, where it is given one; else it is called by what it does.
    pub name: Option<String>,
    /// The one stream it changes; every stream if `None`.
    pub stream: Option<String>,
    /// What is written in it, in order.
    pub settings: Vec<Setting>,
    /// Where it begins.
    pub place: Place,
}

/// A setting from the command line.
#[derive(Clone, Debug, PartialEq)]
pub struct StreamOverride {
    /// The one stream it changes; every stream if `None`.
    pub stream: Option<String>,
    /// The setting.
    pub setting: Setting,
}

/// The built-in experiments: name and what it is for.
pub const PROFILES: &[(&str, &str)] = &[
    (
        "four-corners",
        "8 KiB random read and write, 64 KiB sequential read and write over a ladder of queue \
         depths; under three minutes",
    ),
    ("four-corners-quick", "the same four corners, rougher, within 30 seconds"),
    (
        "curve",
        "response time against achieved rate: 8 KiB random and 64 KiB sequential reads, over queue \
         depths until more brings no more, then with Poisson arrivals at shares of that rate; \
         about three minutes",
    ),
    ("curve-quick", "the same curves, rougher, within a minute"),
    (
        "ranges",
        "from all reads to all writes in steps of 10 %, 8 KiB random and 64 KiB sequential, in \
         random order; below four minutes",
    ),
    ("ranges-quick", "the same ranges in steps of 25 %, rougher, within a minute"),
];

/// What the name of a built-in experiment's rougher form ends with.
pub const QUICK: &str = "-quick";

/// The rougher form of a built-in experiment, where it has one.
pub fn quick_profile(name: &str) -> Option<&'static str> {
    let names = PROFILES.iter().map(|(name, _)| *name);
    names.into_iter().find(|quick| quick.strip_suffix(QUICK) == Some(name))
}

/// The text of a built-in experiment.
pub fn profile(name: &str) -> Option<&'static str> {
    Some(match name {
        "four-corners" => include_str!("../profiles/four-corners.toml"),
        "curve" => include_str!("../profiles/curve.toml"),
        "curve-quick" => include_str!("../profiles/curve-quick.toml"),
        "ranges" => include_str!("../profiles/ranges.toml"),
        "ranges-quick" => include_str!("../profiles/ranges-quick.toml"),
        "four-corners-quick" => include_str!("../profiles/four-corners-quick.toml"),
        _ => return None,
    })
}

/// Reads an experiment. `file` is the name that diagnostics show.
///
/// # Errors
/// Every mistake of the text, in the order of the text.
pub fn parse(text: &str, file: &str) -> Result<Experiment, Vec<Diagnostic>> {
    parse_with(text, file, &[])
}

/// Reads an experiment and lays the command line's settings over it. A setting may supply what the
/// file lacks.
///
/// # Errors
/// Every mistake of the text and of the overrides, those of the text first.
pub fn parse_with(
    text: &str,
    file: &str,
    overrides: &[Override],
) -> Result<Experiment, Vec<Diagnostic>> {
    let source = Source::file(file, text);
    let (tree, errors) = DeTable::parse_recoverable(text);
    let syntax: Vec<Diagnostic> = errors.iter().map(|error| syntax_error(&source, error)).collect();
    let mut problems = Vec::new();
    let mut experiment = Walk { source: &source, problems: &mut problems }.experiment(&tree);
    overrides::apply(&mut experiment, overrides, &mut problems);
    if syntax.is_empty() {
        problems.extend(resolve::check(&experiment));
    } else {
        // What the TOML parser made of a broken line is not what the user meant by it.
        problems.retain(|problem| {
            problem.source.is_some() || syntax.iter().all(|error| error.line != problem.line)
        });
        problems.extend(syntax);
    }
    if problems.is_empty() {
        return Ok(experiment);
    }
    Err(in_order(problems))
}

/// Mistakes in the order of the text, options after the file, each once.
pub(crate) fn in_order(mut problems: Vec<Diagnostic>) -> Vec<Diagnostic> {
    // Stable, so that options keep the order in which they were given.
    problems.sort_by_key(|problem| match problem.source {
        None => (false, problem.span.start),
        Some(_) => (true, 0),
    });
    let mut once: Vec<Diagnostic> = Vec::with_capacity(problems.len());
    for problem in problems {
        if !once.contains(&problem) {
            once.push(problem);
        }
    }
    once
}

fn syntax_error(source: &Source<'_>, error: &toml::de::Error) -> Diagnostic {
    let place = source.place(error.span().unwrap_or(0..0));
    let message = error.message().lines().collect::<Vec<_>>().join("; ");
    place.diagnostic(format!("this is not TOML: {message}"), "")
}

/// The walk through the tree of one file.
struct Walk<'s, 'p> {
    source: &'s Source<'s>,
    problems: &'p mut Vec<Diagnostic>,
}

type Entry<'t, 'i> = (&'t Spanned<std::borrow::Cow<'i, str>>, &'t Spanned<DeValue<'i>>);

/// A table's entries in the order of the text.
fn entries<'t, 'i>(table: &'t DeTable<'i>) -> Vec<Entry<'t, 'i>> {
    let mut entries: Vec<Entry<'_, '_>> = table.iter().collect();
    entries.sort_by_key(|(key, _)| key.span().start);
    entries
}

impl Walk<'_, '_> {
    fn experiment(&mut self, tree: &Spanned<DeTable<'_>>) -> Experiment {
        let mut experiment = Experiment {
            name: String::new(),
            target: None,
            run: Vec::new(),
            search: Vec::new(),
            streams: Vec::new(),
            variants: Vec::new(),
            overrides: Vec::new(),
            place: self.source.place(0..0),
        };
        let mut own: Vec<Setting> = Vec::new();
        for (key, node) in entries(tree.get_ref()) {
            match key.get_ref().as_ref() {
                "run" => experiment.run = self.section(key, node, Section::Run, "[run]"),
                "search" => {
                    experiment.search = self.section(key, node, Section::Search, "[search]");
                }
                "stream" => experiment.streams = self.streams(key, node),
                "variant" => experiment.variants = self.variants(key, node),
                _ => own.extend(self.setting(key, node, &[Section::Experiment], "the top level")),
            }
        }
        experiment.name = text_of(&own, "name").unwrap_or_default();
        experiment.target = text_of(&own, "target");
        if !own.iter().any(|setting| setting.key.name == "name") {
            self.missing(&experiment.place.clone(), Section::Experiment, "name", "the experiment");
        }
        if experiment.streams.is_empty() && tree.get_ref().get("stream").is_none() {
            self.problems.push(
                experiment
                    .place
                    .diagnostic("the experiment has no stream", "one or more [stream.NAME]")
                    .with_hint("a stream says what operations are sent: [stream.database]"),
            );
        }
        self.check_variants(&experiment);
        experiment
    }

    /// `[run]` or `[search]`, which is its title.
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

    fn streams(
        &mut self,
        key: &Spanned<std::borrow::Cow<'_, str>>,
        node: &Spanned<DeValue<'_>>,
    ) -> Vec<StreamSettings> {
        let form = "one table for each stream: [stream.NAME]";
        let Some(table) = self.table(key, node, form) else { return Vec::new() };
        let mut streams: Vec<StreamSettings> = Vec::new();
        if table.is_empty() {
            let place = self.source.place(key.span());
            self.problems.push(place.diagnostic("the experiment has no stream", form));
        }
        for (name_key, node) in entries(table) {
            let place = self.source.place(name_key.span());
            let name = name_key.get_ref().as_ref();
            let DeValue::Table(table) = node.get_ref() else {
                let mut wrong = place.diagnostic("this key stands outside of a stream", form);
                if keys::key(Section::Stream, name).is_some() {
                    wrong = wrong
                        .with_hint(format!("`{name}` needs a stream with a name: [stream.main]"));
                }
                self.problems.push(wrong);
                continue;
            };
            let named_well = !name.is_empty()
                && name.len() <= 40
                && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_');
            if !named_well || ["run", "search", "stream"].contains(&name) {
                self.problems.push(place.diagnostic(
                    "a stream cannot have this name; its files are named after it",
                    "up to 40 letters, digits, `-` and `_`, but not `run`, `search` or `stream`",
                ));
            } else if let Some(same) = streams.iter().find(|s| s.name.eq_ignore_ascii_case(name)) {
                self.problems.push(place.diagnostic(
                    format!(
                        "two streams with the same name as file systems see it: `{}`",
                        same.name
                    ),
                    "names that differ by more than capitals",
                ));
            }
            let title = format!("[stream.{name}]");
            let settings = self.settings(table, &[Section::Stream], &title);
            streams.push(StreamSettings { name: name.to_owned(), settings, place });
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
            let place = self.source.place(key.span());
            self.problems.push(
                place
                    .diagnostic("variants are a list of tables", form)
                    .with_hint("with two brackets: [[variant]]"),
            );
            return Vec::new();
        };
        let mut variants = Vec::new();
        for item in items.iter() {
            let place = self.source.place(item.span());
            let DeValue::Table(table) = item.get_ref() else {
                self.problems.push(place.diagnostic("a variant is a table", form));
                continue;
            };
            let all = self.settings(table, &[Section::Variant, Section::Stream], "[[variant]]");
            let (own, settings): (Vec<Setting>, Vec<Setting>) =
                all.into_iter().partition(|setting| setting.key.section == Section::Variant);
            variants.push(VariantSettings {
                name: text_of(&own, "name"),
                stream: text_of(&own, "stream"),
                settings,
                place: own
                    .iter()
                    .find(|setting| setting.key.name == "name")
                    .map_or(place, |setting| setting.place.clone()),
            });
        }
        variants
    }

    /// Variants must differ by name, and change streams that exist.
    fn check_variants(&mut self, experiment: &Experiment) {
        for (at, variant) in experiment.variants.iter().enumerate() {
            let earlier = &experiment.variants[..at];
            if let Some(name) = &variant.name
                && earlier.iter().any(|other| other.name == variant.name)
            {
                self.problems.push(same_name(&variant.place, name));
            }
            let Some(wanted) = &variant.stream else { continue };
            let names = || experiment.streams.iter().map(|stream| stream.name.as_str());
            if !names().any(|name| name == wanted) {
                let known: Vec<String> = names().map(|name| format!("`{name}`")).collect();
                let mut wrong = variant
                    .place
                    .diagnostic("the variant names a stream that is not there", known.join(" or "))
                    .with_found(format!("`{wanted}`"));
                wrong.hint = did_you_mean(wanted, names());
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
        let place = self.source.place(key.span());
        self.problems
            .push(place.diagnostic(format!("`{}` has the wrong form", key.get_ref()), form));
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
        let place = self.source.place(name.span());
        let Some(key) = sections.iter().find_map(|section| keys::key(*section, name.get_ref()))
        else {
            self.problems.push(unknown_key(&place, name.get_ref(), sections, title));
            // What is misspelled is not missing as well.
            let rows = || keys::KEYS.iter().filter(|key| sections.contains(&key.section));
            let meant = units::nearest(name.get_ref(), rows().map(|key| key.name))?;
            let key = rows().find(|key| key.name == meant)?;
            return Some(Setting { key, choices: Vec::new(), place });
        };
        let mut reader = Reader { source: self.source, problems: &mut *self.problems };
        let choices = reader.choices(key, node);
        Some(Setting { key, choices, place })
    }

    fn missing(&mut self, place: &Place, section: Section, name: &str, of: &str) {
        let Some(key) = keys::key(section, name) else { return };
        self.problems.push(missing_key(place, key, of));
    }
}

/// Two variants have the same name.
pub(crate) fn same_name(place: &Place, name: &str) -> Diagnostic {
    place
        .diagnostic("two variants with the same name", "names that differ")
        .with_found(format!("`{name}`"))
}

/// `key` must be written and is not.
pub(crate) fn missing_key(place: &Place, key: &Key, of: &str) -> Diagnostic {
    place
        .diagnostic(format!("{of} lacks `{}`", key.name), key.kind.allowed())
        .with_found("nothing")
        .with_hint(format!("for example {} = {}", key.name, key.example))
}

/// A key that is not in the table: where it belongs, or which one may be meant.
pub(crate) fn unknown_key(
    place: &Place,
    name: &str,
    sections: &[Section],
    title: &str,
) -> Diagnostic {
    let known = || {
        let tables: &[&str] = match sections {
            [Section::Experiment] => &["run", "search", "stream", "variant"],
            _ => &[],
        };
        let rows = keys::KEYS.iter().filter(|key| sections.contains(&key.section));
        rows.map(|key| key.name).chain(tables.iter().copied())
    };
    let all: Vec<&str> = known().collect();
    let mut wrong = place
        .diagnostic(format!("unknown key in {title}"), all.join(", "))
        .with_found(format!("`{name}`"));
    let elsewhere = keys::KEYS.iter().find(|key| key.name == name);
    wrong.hint = match elsewhere.map(|key| key.section) {
        Some(Section::Experiment) => Some(format!("`{name}` stands at the top of the file")),
        Some(Section::Run) => Some(format!("`{name}` belongs to [run]")),
        Some(Section::Search) => Some(format!("`{name}` belongs to [search]")),
        Some(Section::Stream) => Some(format!("`{name}` belongs to [stream.NAME]")),
        Some(Section::Variant) => Some(format!("`{name}` belongs to [[variant]]")),
        None => did_you_mean(name, known()),
    };
    wrong
}

fn text_of(settings: &[Setting], name: &str) -> Option<String> {
    let setting = settings.iter().find(|setting| setting.key.name == name)?;
    match &setting.choices.first()?.value {
        Value::Text(text) => Some(text.clone()),
        _ => None,
    }
}
