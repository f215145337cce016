//! Exports the intervals of several records into one file, or one file per record.

use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};
use metrics::run_record::ExperimentRecord;
use report::intervals::{Format, write};
use store::Store;

use super::{output_file, refuse_unwritable, write_file};
use crate::outcome::Failure;

/// The records to export.
#[derive(Clone, Copy, Debug)]
pub enum Selection<'a> {
    /// Those with these IDs; each must be readable.
    Named(&'a [String]),
    /// All of the store; damaged ones are left out.
    All,
}

/// Writes the intervals of the selected records. Returns the reason for each record that was left
/// out.
///
/// * `output` — the file, or a directory (existing, or with `/` at the end) for a file per record
///
/// # Errors
/// The program was built without the format; a named record cannot be read; the file cannot be
/// written.
pub fn export(
    store: &Store,
    selection: Selection<'_>,
    format: Format,
    output: &Path,
) -> Result<Vec<String>, Failure> {
    refuse_unavailable(format)?;
    let ids = match selection {
        Selection::Named(names) => {
            let ids: Result<Vec<String>, _> =
                names.iter().map(|name| store.resolve(name)).collect();
            ids.map_err(Failure::input)?
        }
        Selection::All => {
            let listed = store.list().map_err(Failure::input)?;
            listed.into_iter().map(|one| one.id).collect()
        }
    };
    if ids.is_empty() {
        let error = anyhow!("export: no experiments in {}", store.root().display());
        return Err(Failure::input(error));
    }
    let mut reader = Reader { store, selection, left_out: Vec::new() };
    if is_folder(output) {
        std::fs::create_dir_all(output)
            .with_context(|| format!("create {}", output.display()))
            .map_err(Failure::input)?;
        for id in ids {
            if let Some(record) = reader.load(&id)? {
                let path = output.join(format!("{id}.{}", format.extension()));
                write_file(&path, |out| write(&mut std::iter::once(record), format, out))?;
            }
        }
    } else {
        refuse_unwritable(output)?;
        write_together(&mut reader, &ids, format, output)?;
    }
    Ok(reader.left_out)
}

fn refuse_unavailable(format: Format) -> Result<(), Failure> {
    if format.is_available() {
        return Ok(());
    }
    let error = anyhow!("export: this program was built without Parquet");
    Err(Failure::input(error).with_remedy(
        "build it with `cargo build --release --features parquet`, or export CSV with `--format \
         intervals`",
    ))
}

/// All records into one file. An existing file is unchanged if a record cannot be read.
fn write_together(
    reader: &mut Reader<'_>,
    ids: &[String],
    format: Format,
    output: &Path,
) -> Result<(), Failure> {
    let mut failure = None;
    let written = write_file(output, |out| {
        let mut records = ids.iter().filter_map(|id| match reader.load(id) {
            Ok(record) => record,
            Err(error) => {
                failure.get_or_insert(error);
                None
            }
        });
        write(&mut records, format, out)?;
        match &failure {
            None => Ok(()),
            Some(_) => Err(std::io::Error::other("a record cannot be read")),
        }
    });
    failure.map_or(written, Err)
}

/// Reads records, and remembers those that it leaves out.
struct Reader<'a> {
    store: &'a Store,
    selection: Selection<'a>,
    left_out: Vec<String>,
}

impl Reader<'_> {
    fn load(&mut self, id: &str) -> Result<Option<ExperimentRecord>, Failure> {
        match (self.store.load(id), self.selection) {
            (Ok(record), _) => Ok(Some(record)),
            (Err(error), Selection::Named(_)) => Err(Failure::input(error)),
            (Err(error), Selection::All) => {
                self.left_out.push(format!("{id} is left out: {error}"));
                Ok(None)
            }
        }
    }
}

fn is_folder(path: &Path) -> bool {
    let has_slash = path.as_os_str().as_encoded_bytes().ends_with(b"/");
    !output_file::is_stdout(path) && (has_slash || PathBuf::from(path).is_dir())
}
