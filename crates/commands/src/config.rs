//! Values that users would otherwise repeat in every command: store, colour, width, VM size, region.
//!
//! A flag has precedence over the variable `FOURCORNERS_KEY`, which has precedence over the line
//! `key = "value"` in `~/.config/fourcorners/config.toml`, which has precedence over the built-in
//! default. Flags are not known here: the callers of [`Config::get`] use a value only without one.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::anyhow;
use cloud::region::Regions;
use cloud::vm_size;
use report::table::{Column, Table};
use serde::Serialize;
use settings::{Source, TableReader, scalar_text};

use crate::outcome::Failure;

/// The widths that reports are laid out for.
pub const WIDTHS: std::ops::RangeInclusive<usize> = 40..=200;

/// A configurable value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Key {
    /// The directory where results are stored.
    Store,
    /// When messages and tables are coloured.
    Color,
    /// Columns of results.
    Width,
    /// The VM size of the clients.
    Vm,
    /// The region whose prices apply.
    Region,
}

impl Key {
    /// All keys, in the order in which they are printed.
    pub const ALL: [Key; 5] = [Key::Store, Key::Color, Key::Width, Key::Vm, Key::Region];

    /// The name in the file, which is also that of the flag.
    pub const fn name(self) -> &'static str {
        match self {
            Key::Store => "store",
            Key::Color => "color",
            Key::Width => "width",
            Key::Vm => "vm",
            Key::Region => "region",
        }
    }

    /// The environment variable.
    pub const fn variable(self) -> &'static str {
        match self {
            Key::Store => "FOURCORNERS_STORE",
            Key::Color => "FOURCORNERS_COLOR",
            Key::Width => "FOURCORNERS_WIDTH",
            Key::Vm => "FOURCORNERS_VM",
            Key::Region => "FOURCORNERS_REGION",
        }
    }

    const fn allowed(self) -> &'static str {
        match self {
            Key::Store => "the path of a directory",
            Key::Color => "`auto`, `always` or `never`",
            Key::Width => "a number of columns from 40 to 200",
            Key::Vm => "a VM size of Azure such as `D32s_v5`",
            Key::Region => "a region of Azure such as `westeurope`",
        }
    }

    fn allows(self, value: &str) -> bool {
        match self {
            Key::Store => !value.is_empty(),
            Key::Color => ["auto", "always", "never"].contains(&value),
            Key::Width => value.parse().is_ok_and(|width| WIDTHS.contains(&width)),
            Key::Vm => vm_size::find(value).is_ok(),
            Key::Region => Regions::embedded().find(value).is_some(),
        }
    }
}

/// Where a value is set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// In this environment variable.
    Variable(&'static str),
    /// In a line of the file.
    File {
        /// The line, from 1.
        line: u32,
    },
}

/// The configured values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Config {
    /// The file, which may not exist; `None` without a home directory.
    pub file: Option<PathBuf>,
    values: BTreeMap<Key, (String, Origin)>,
}

impl Config {
    /// Reads the environment and the file.
    ///
    /// * `env` — looks up an environment variable; an empty one counts as unset
    ///
    /// # Errors
    /// The file cannot be read or has problems, or a variable has a value that is not allowed.
    pub fn load(env: impl Fn(&str) -> Option<OsString>) -> Result<Config, Failure> {
        let env = |name: &str| env(name).filter(|value| !value.is_empty());
        let mut config = Config { file: file(&env), values: BTreeMap::new() };
        if let Some(path) = &config.file {
            let text = match std::fs::read_to_string(path) {
                Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
                Err(error) => {
                    let error = anyhow::Error::new(error);
                    return Err(Failure::input(error.context(format!("read {}", path.display()))));
                }
                Ok(text) => text,
            };
            let home = env("HOME").map(PathBuf::from);
            config.values = parse(&text, path, home.as_deref())?;
        }
        for key in Key::ALL {
            let Some(value) = env(key.variable()) else { continue };
            let value = value.to_string_lossy().into_owned();
            let (variable, allowed) = (key.variable(), key.allowed());
            if !key.allows(&value) {
                let error = anyhow!("the variable {variable} is `{value}`, allowed: {allowed}");
                return Err(Failure::input(error));
            }
            config.values.insert(key, (value, Origin::Variable(variable)));
        }
        Ok(config)
    }

    /// The configured value of `key`, valid for it.
    pub fn get(&self, key: Key) -> Option<&str> {
        self.values.get(&key).map(|(value, _)| value.as_str())
    }

    /// Each key with its value and where it comes from.
    ///
    /// * `defaults` — the built-in value of a key
    pub fn settings(&self, defaults: impl Fn(Key) -> String) -> Vec<Setting> {
        let setting = |key: Key| {
            let (value, source) = match self.values.get(&key) {
                Some((value, origin)) => (value.clone(), self.source(origin)),
                None => (defaults(key), "default".to_owned()),
            };
            Setting { key: key.name(), value, source, variable: key.variable() }
        };
        Key::ALL.into_iter().map(setting).collect()
    }

    fn source(&self, origin: &Origin) -> String {
        match origin {
            Origin::Variable(name) => format!("variable {name}"),
            Origin::File { line } => {
                let path = self.file.as_deref().unwrap_or(Path::new("")).display();
                format!("{path}:{line}")
            }
        }
    }
}

/// A value and where it comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Setting {
    /// The key in the file.
    pub key: &'static str,
    /// The value in effect without a flag.
    pub value: String,
    /// `variable NAME`, `FILE:LINE` or `default`.
    pub source: String,
    /// The variable that sets it.
    pub variable: &'static str,
}

/// The settings as a table.
pub fn table(settings: &[Setting]) -> Table {
    let row = |one: &Setting| vec![one.key.to_owned(), one.value.clone(), one.source.clone()];
    Table {
        columns: vec![Column::words("KEY"), Column::words("VALUE"), Column::words("FROM")],
        rows: settings.iter().map(row).collect(),
        ..Table::default()
    }
}

/// `$XDG_CONFIG_HOME/fourcorners/config.toml`, else `~/.config/fourcorners/config.toml`. A relative
/// `XDG_CONFIG_HOME` is ignored (XDG Base Directory Specification 0.8).
fn file(env: &impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let folder = env("XDG_CONFIG_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let folder = folder.or_else(|| Some(PathBuf::from(env("HOME")?).join(".config")))?;
    Some(folder.join("fourcorners/config.toml"))
}

/// The values of the file; `~/` at the start of the store's path is the home directory.
fn parse(
    text: &str,
    path: &Path,
    home: Option<&Path>,
) -> Result<BTreeMap<Key, (String, Origin)>, Failure> {
    let name = path.display().to_string();
    let source = Source::file(&name, text);
    let values = settings::parse(text, &name, |tree, problems| {
        let mut top = TableReader::root(tree);
        let mut values = BTreeMap::new();
        for key in Key::ALL {
            let Some(node) = top.node(key.name()) else { continue };
            let value = scalar_text(node.get_ref()).filter(|value| key.allows(value));
            let Some(value) = value else {
                problems.wrong_value(node.span(), key.name(), key.allowed());
                continue;
            };
            let value = match (key, value.strip_prefix("~/"), home) {
                (Key::Store, Some(rest), Some(home)) => home.join(rest).display().to_string(),
                _ => value.to_owned(),
            };
            values.insert(key, (value, Origin::File { line: source.span(node.span()).line }));
        }
        top.finish(problems);
        values
    });
    values.map_err(|problems| Failure::problems(text, problems))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::Reason;

    fn values(text: &str) -> Result<BTreeMap<Key, (String, Origin)>, Vec<String>> {
        parse(text, Path::new("c.toml"), Some(Path::new("/users/x"))).map_err(|failure| {
            let Reason::Problems { problems, .. } = failure.reason else { panic!("no problems") };
            problems.iter().map(ToString::to_string).collect()
        })
    }

    #[test]
    fn every_key_is_read_with_its_line() {
        let text = "store = '~/runs'\ncolor = 'never'\n\nwidth = 100\nvm = 'D32s_v5'\n\
                    region = 'West Europe'\n";
        let found = values(text).expect("the values are allowed");
        let found: Vec<_> =
            found.iter().map(|(key, (value, origin))| (*key, value.as_str(), origin)).collect();
        let line = |line| Origin::File { line };
        assert_eq!(
            found,
            [
                (Key::Store, "/users/x/runs", &line(1)),
                (Key::Color, "never", &line(2)),
                (Key::Width, "100", &line(4)),
                (Key::Vm, "D32s_v5", &line(5)),
                (Key::Region, "West Europe", &line(6)),
            ]
        );
    }

    #[test]
    fn an_unknown_key_and_a_wrong_value_are_reported_with_line_and_column() {
        let found = values("stor = '/x'\nwidth = 20\nvm = 'D32s_v99'\n").expect_err("it is wrong");
        assert_eq!(found.len(), 3, "{found:#?}");
        assert!(found[0].starts_with("c.toml:1:1: unknown key"), "{}", found[0]);
        assert!(found[0].contains("did you mean `store`"), "{}", found[0]);
        assert!(found[1].starts_with("c.toml:2:9: wrong value for `width`"), "{}", found[1]);
        assert!(found[2].starts_with("c.toml:3:6: wrong value for `vm`"), "{}", found[2]);
    }

    #[test]
    fn a_variable_has_precedence_over_the_default_and_must_be_valid() {
        let env = |width: &'static str| {
            move |name: &str| (name == "FOURCORNERS_WIDTH").then(|| OsString::from(width))
        };
        let config = Config::load(env("66")).expect("a valid width");
        assert_eq!(config.get(Key::Width), Some("66"));
        assert_eq!(config.get(Key::Store), None);
        let settings = config.settings(|key| format!("built-in {}", key.name()));
        let of = |key: &str| {
            let found = settings.iter().find(|one| one.key == key).expect("every key is listed");
            (found.value.as_str(), found.source.as_str())
        };
        assert_eq!(of("width"), ("66", "variable FOURCORNERS_WIDTH"));
        assert_eq!(of("store"), ("built-in store", "default"));
        assert_eq!(
            Config::load(env("")).expect("an empty variable is unset").get(Key::Width),
            None
        );
        let Reason::Error(error) = Config::load(env("x")).expect_err("no width").reason else {
            panic!("problems of a file")
        };
        assert!(error.to_string().contains("FOURCORNERS_WIDTH is `x`, allowed: a number"));
    }

    #[test]
    fn the_file_is_below_the_configuration_directory() {
        let with = |variables: &'static [(&str, &str)]| {
            file(&|name: &str| {
                let found = variables.iter().find(|(key, _)| *key == name);
                found.map(|(_, value)| OsString::from(value))
            })
        };
        let path = |text: &str| Some(PathBuf::from(text));
        let home = with(&[("HOME", "/h"), ("XDG_CONFIG_HOME", "relative")]);
        assert_eq!(home, path("/h/.config/fourcorners/config.toml"));
        let xdg = with(&[("HOME", "/h"), ("XDG_CONFIG_HOME", "/x")]);
        assert_eq!(xdg, path("/x/fourcorners/config.toml"));
        assert_eq!(with(&[]), None);
    }
}
