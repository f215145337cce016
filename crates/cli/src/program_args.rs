//! The flags of commands about the program itself: `schema`, `config`, `completions`, `man`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use clap_complete::Shell;

pub(crate) const SCHEMA_EXAMPLES: &str = "\
Examples:
  fourcorners schema > fourcorners.schema.json
  fourcorners schema results > results.schema.json";

pub(crate) const CONFIG_EXAMPLES: &str = "\
Examples:
  fourcorners config
  FOURCORNERS_STORE=/srv/runs fourcorners config --json";

pub(crate) const COMPLETIONS_EXAMPLES: &str = "\
Examples:
  source <(fourcorners completions bash)
  fourcorners completions zsh > ~/.zfunc/_fourcorners";

pub(crate) const MAN_EXAMPLES: &str = "\
Examples:
  fourcorners man | man -l -
  fourcorners man --output ~/.local/share/man/man1";

/// Arguments of `schema`.
#[derive(Debug, Args)]
pub(crate) struct SchemaArguments {
    /// The documents to describe.
    #[arg(value_name = "DOCUMENT", value_enum, default_value_t = SchemaOf::Experiment)]
    pub(crate) document: SchemaOf,
}

/// Documents with a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SchemaOf {
    /// The experiment file, as JSON with the keys of the TOML.
    Experiment,
    /// The results that `--json` and `export --format json` write.
    Results,
    /// The observation that `observe --json` writes.
    Observation,
}

/// Arguments of `config`.
#[derive(Debug, Args)]
pub(crate) struct ConfigArguments {
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `completions`.
#[derive(Debug, Args)]
pub(crate) struct CompletionsArguments {
    /// The shell.
    #[arg(value_name = "SHELL", value_enum)]
    pub(crate) shell: Shell,
}

/// Arguments of `man`.
#[derive(Debug, Args)]
pub(crate) struct ManArguments {
    /// Write a page for each command into this directory; it is created if it is missing.
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,
}
