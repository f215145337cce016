//! The flags of `label`, `rm`, `prune`, `du` and `baseline`, and those that label a new record.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};
use store::{Annotation, Label};

use crate::record_args::{IdArgument, OUTPUT, StoreArguments};

pub(crate) const LABEL_EXAMPLES: &str = "\
Examples:
  fourcorners label last before-upgrade
  fourcorners label last before-upgrade --note \"kernel 6.1, nconnect 1\"
  fourcorners label before-upgrade --remove";

pub(crate) const RM_EXAMPLES: &str = "\
Examples:
  fourcorners rm last
  fourcorners rm 20261121-061500 before-upgrade";

pub(crate) const PRUNE_EXAMPLES: &str = "\
Examples:
  fourcorners prune --older-than 30d --keep-labelled --dry-run
  fourcorners prune --older-than 30d --keep-labelled";

pub(crate) const BASELINE_EXAMPLES: &str = "\
Examples:
  fourcorners baseline save main last
  fourcorners baseline show main.json
  fourcorners compare --baseline main.json last";

/// Label and note of a new record.
#[derive(Debug, Args)]
pub(crate) struct AnnotationArguments {
    /// Name the record; the name can be used wherever an ID can.
    ///
    /// A letter, then letters, digits, `-`, `_` and `.`, up to 40; unique in the store. With
    /// --interleave, the records are named LABEL-A and LABEL-B.
    #[arg(long, help_heading = OUTPUT, value_name = "LABEL")]
    pub(crate) label: Option<Label>,

    /// A remark that `list` shows.
    #[arg(long, help_heading = OUTPUT, value_name = "TEXT", value_parser = note)]
    pub(crate) note: Option<String>,
}

impl AnnotationArguments {
    pub(crate) fn annotation(&self) -> Annotation {
        Annotation { label: self.label.clone(), note: self.note.clone() }
    }
}

/// One line of text.
fn note(text: &str) -> Result<String, String> {
    match text.chars().any(char::is_control) {
        true => Err("a note is one line".to_owned()),
        false => Ok(text.trim().to_owned()),
    }
}

/// Arguments of `label`.
#[derive(Debug, Args)]
pub(crate) struct LabelArguments {
    #[command(flatten)]
    pub(crate) which: IdArgument,

    /// The label: a letter, then letters, digits, `-`, `_` and `.`, up to 40.
    #[arg(value_name = "LABEL", required_unless_present_any = ["note", "remove"])]
    pub(crate) label: Option<Label>,

    /// A remark that `list` shows; empty to remove it.
    #[arg(long, value_name = "TEXT", value_parser = note)]
    pub(crate) note: Option<String>,

    /// Remove label and note.
    #[arg(long, conflicts_with_all = ["label", "note"])]
    pub(crate) remove: bool,
}

/// Arguments of `rm`.
#[derive(Debug, Args)]
pub(crate) struct RmArguments {
    /// The records: IDs from `list`, unique prefixes of them, labels, or `last`.
    #[arg(value_name = "ID", required = true)]
    pub(crate) ids: Vec<String>,

    #[command(flatten)]
    pub(crate) store: StoreArguments,
}

/// Arguments of `prune`.
#[derive(Debug, Args)]
pub(crate) struct PruneArguments {
    /// Remove records that began longer ago than this, for example 30d.
    #[arg(long, value_name = "AGE", value_parser = units::parse_duration)]
    pub(crate) older_than: Duration,

    /// Keep records with a label.
    #[arg(long)]
    pub(crate) keep_labelled: bool,

    /// Print what would be removed, and remove nothing.
    #[arg(long)]
    pub(crate) dry_run: bool,

    #[command(flatten)]
    pub(crate) store: StoreArguments,
}

/// Arguments of `du`.
#[derive(Debug, Args)]
pub(crate) struct DuArguments {
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) store: StoreArguments,
}

/// The commands of `baseline`.
#[derive(Debug, Subcommand)]
pub(crate) enum BaselineCommand {
    /// Write what `compare` needs of a record to a text file, and print its path.
    Save(BaselineSaveArguments),
    /// Print the content of a baseline.
    Show(BaselineShowArguments),
}

/// Arguments of `baseline save`.
#[derive(Debug, Args)]
pub(crate) struct BaselineSaveArguments {
    /// The baseline's name; the file is NAME.json.
    #[arg(value_name = "NAME")]
    pub(crate) name: Label,

    /// The record: an ID from `list`, a unique prefix of it, a label, or `last`.
    #[arg(value_name = "ID", default_value = "last")]
    pub(crate) id: String,

    /// The file to write, instead of NAME.json in the current directory.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) store: StoreArguments,
}

/// Arguments of `baseline show`.
#[derive(Debug, Args)]
pub(crate) struct BaselineShowArguments {
    /// The file of the baseline.
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
}
