//! The store's directory: where it is by default, and where its files are in it.

use std::ffi::OsString;
use std::path::PathBuf;
use std::{fs, io};

use crate::Error;

/// The store's directory.
#[derive(Clone, Debug)]
pub(crate) struct Root(pub(crate) PathBuf);

impl Root {
    /// The directory that contains the run directories.
    pub(crate) fn runs(&self) -> PathBuf {
        self.0.join("runs")
    }

    pub(crate) fn run_directory(&self, id: &str) -> PathBuf {
        self.runs().join(id)
    }

    pub(crate) fn index(&self) -> PathBuf {
        self.0.join("index.sqlite")
    }

    /// The file that a process locks while it writes a label, so that labels stay unique.
    pub(crate) fn labels_lock(&self) -> PathBuf {
        self.0.join("labels.lock")
    }

    /// The sorted IDs of all records, which are the names of their run directories.
    pub(crate) fn ids(&self) -> Result<Vec<String>, Error> {
        let fail = |source| Error::ListRuns { path: self.runs(), source };
        let mut ids = Vec::new();
        let entries = match fs::read_dir(self.runs()) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(ids),
            entries => entries.map_err(fail)?,
        };
        for entry in entries {
            let entry = entry.map_err(fail)?;
            let is_directory = entry.file_type().map_err(fail)?.is_dir();
            if let Ok(name) = entry.file_name().into_string()
                && is_directory
                && !name.starts_with('.')
            {
                ids.push(name);
            }
        }
        ids.sort();
        Ok(ids)
    }
}

/// The default directory of the store: `$FOURCORNERS_STORE`, else `$XDG_DATA_HOME/fourcorners`,
/// else `$HOME/.local/share/fourcorners`, else `fourcorners-store` in the current directory.
///
/// * `env` — looks up an environment variable.
///
/// Empty variables count as unset, and a relative `XDG_DATA_HOME` is ignored (XDG Base Directory
/// Specification 0.8).
pub fn default_root(env: impl Fn(&str) -> Option<OsString>) -> PathBuf {
    let path = |name| env(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    if let Some(root) = path("FOURCORNERS_STORE") {
        return root;
    }
    if let Some(data) = path("XDG_DATA_HOME").filter(|data| data.is_absolute()) {
        return data.join("fourcorners");
    }
    match path("HOME") {
        Some(home) => home.join(".local/share/fourcorners"),
        None => PathBuf::from("fourcorners-store"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_usable_variable_determines_the_root() {
        for (variables, root) in [
            (&[("FOURCORNERS_STORE", "s"), ("XDG_DATA_HOME", "/x"), ("HOME", "/h")][..], "s"),
            (&[("XDG_DATA_HOME", "/x"), ("HOME", "/h")], "/x/fourcorners"),
            (&[("XDG_DATA_HOME", "x"), ("HOME", "/h")], "/h/.local/share/fourcorners"),
            (&[("FOURCORNERS_STORE", ""), ("HOME", "/h")], "/h/.local/share/fourcorners"),
            (&[], "fourcorners-store"),
        ] {
            let env = |name: &str| {
                variables.iter().find(|(key, _)| *key == name).map(|(_, value)| value.into())
            };
            assert_eq!(default_root(env), PathBuf::from(root), "{variables:?}");
        }
    }
}
