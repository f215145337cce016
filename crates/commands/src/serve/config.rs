//! The configuration of a service, from a file.

use std::path::{Path, PathBuf};

use anyhow::Context;
use cloud::catalog::Catalog;
use volume::config::{self, Config};

use crate::outcome::Failure;

/// Reads a configuration file. Histograms that it names are next to it.
///
/// # Errors
/// The file cannot be read, or it has problems.
pub fn of_file(path: &Path, catalog: &Catalog) -> Result<Config, Failure> {
    let text = std::fs::read_to_string(path)
        .with_context(|| format!("read {}", path.display()))
        .map_err(Failure::input)?;
    let folder = path.parent().map_or_else(PathBuf::new, Path::to_owned);
    let mut open =
        |name: &str| std::fs::read_to_string(folder.join(name)).map_err(|error| error.to_string());
    let name = path.display().to_string();
    config::parse(&text, &name, catalog, &mut open)
        .map_err(|problems| Failure::problems(&text, problems))
}
