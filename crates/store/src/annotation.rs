//! `annotation.json`: the label and the note that the user gave a record. They may change later, so
//! they are not part of the manifest, which is never rewritten.
//!
//! A label names one record of the store. Labels begin with a letter and IDs with a digit, so a label
//! is never taken for an ID or a prefix of one.

use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::Path;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::Error;
use crate::root::Root;
use crate::store::{LAST, sync_directory};

/// The file's name in the run directory.
const NAME: &str = "annotation.json";
/// The file that replaces it.
const NEW_NAME: &str = "annotation.json.new";
/// Maximum length of a label.
const LABEL_CHARS_MAX: usize = 40;

/// What the user wrote about a record.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Annotation {
    /// Its name besides the ID; unique in the store.
    pub label: Option<Label>,
    /// A remark.
    pub note: Option<String>,
}

/// A name for a record: a letter, then letters, digits, `-`, `_` and `.`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Label(String);

/// A text that is not a label.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "a label begins with a letter and has up to {LABEL_CHARS_MAX} letters, digits, `-`, `_` and `.`; \
     `{LAST}` means the newest experiment"
)]
pub struct InvalidLabel;

impl FromStr for Label {
    type Err = InvalidLabel;

    fn from_str(text: &str) -> Result<Label, InvalidLabel> {
        let is_allowed = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        let is_label = text.starts_with(|c: char| c.is_ascii_alphabetic())
            && text.chars().all(is_allowed)
            && text.len() <= LABEL_CHARS_MAX
            && text != LAST;
        is_label.then(|| Label(text.to_owned())).ok_or(InvalidLabel)
    }
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl Label {
    /// The label as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

#[derive(Serialize, Deserialize)]
struct AnnotationFile {
    label: Option<String>,
    note: Option<String>,
}

/// The annotation of the record in `directory`; an empty one if there is none.
pub(crate) fn read(directory: &Path) -> Result<Annotation, Error> {
    let path = directory.join(NAME);
    let text = match fs::read(&path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Annotation::default()),
        read => read.map_err(|source| Error::ReadFile { path: path.clone(), source })?,
    };
    let damaged = |reason: String| Error::DamagedAnnotation { path: path.clone(), reason };
    let file: AnnotationFile =
        serde_json::from_slice(&text).map_err(|error| damaged(error.to_string()))?;
    let label = file.label.map(|label| label.parse()).transpose();
    let label = label.map_err(|invalid: InvalidLabel| damaged(invalid.to_string()))?;
    Ok(Annotation { label, note: file.note })
}

/// The record with this label. Records whose annotation cannot be read have none.
pub(crate) fn owner(root: &Root, ids: &[String], label: &Label) -> Option<String> {
    let has_label = |id: &&String| {
        read(&root.run_directory(id)).is_ok_and(|found| found.label.as_ref() == Some(label))
    };
    ids.iter().find(has_label).cloned()
}

/// Refuses a label that another record than `id` has.
pub(crate) fn refuse_taken(root: &Root, label: &Label, id: Option<&str>) -> Result<(), Error> {
    match owner(root, &root.ids()?, label) {
        Some(owner) if Some(owner.as_str()) != id => {
            Err(Error::LabelTaken { label: label.clone(), owner })
        }
        _ => Ok(()),
    }
}

/// Replaces the annotation of record `id`. Of two processes that write the same label, one is refused.
pub(crate) fn write(root: &Root, id: &str, annotation: &Annotation) -> Result<(), Error> {
    let directory = root.run_directory(id);
    let path = directory.join(NAME);
    let fail = |source| Error::WriteAnnotation { path: path.clone(), source };
    let lock = OpenOptions::new().create(true).truncate(false).write(true).open(root.labels_lock());
    let lock = lock.map_err(fail)?;
    lock.lock().map_err(fail)?;
    if let Some(label) = &annotation.label {
        refuse_taken(root, label, Some(id))?;
    }
    let write = || {
        if *annotation == Annotation::default() {
            return match fs::remove_file(&path) {
                Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
                _ => sync_directory(&directory),
            };
        }
        let file = AnnotationFile {
            label: annotation.label.as_ref().map(Label::to_string),
            note: annotation.note.clone(),
        };
        let mut text = serde_json::to_string_pretty(&file)?;
        text.push('\n');
        let new_path = directory.join(NEW_NAME);
        let mut new = File::create(&new_path)?;
        new.write_all(text.as_bytes())?;
        new.sync_all()?;
        fs::rename(&new_path, &path)?;
        sync_directory(&directory)
    };
    write().map_err(fail)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_is_never_an_id_a_prefix_or_a_path() {
        for text in ["before", "v2", "nconnect-8", "a.b_c", "Last", "last-week"] {
            assert_eq!(text.parse::<Label>().map(|label| label.to_string()), Ok(text.to_owned()));
        }
        let long = "x".repeat(LABEL_CHARS_MAX + 1);
        for text in ["", "last", "last~1", "20261121-061500", "2", "-a", "a b", "a/b", "ä", &long]
        {
            assert_eq!(text.parse::<Label>(), Err(InvalidLabel), "{text}");
        }
    }
}
