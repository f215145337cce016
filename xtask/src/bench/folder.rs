//! The dated folder that keeps what a bench measured.

use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result};
use units::Utc;

use super::machine::Machine;

/// Where a bench writes, and of which day.
#[derive(Clone, Debug)]
pub(crate) struct Folder {
    /// `2026-11-21`.
    pub(crate) date: String,
    pub(crate) path: PathBuf,
}

impl Folder {
    /// Makes `bench/runs/DATE-MACHINE` or `bench/runs/DATE-MACHINE-NAME`.
    pub(crate) fn make(root: &Path, machine: &Machine, name: Option<&str>) -> Result<Folder> {
        let unix_ms = SystemTime::now().duration_since(UNIX_EPOCH)?.as_millis() as u64;
        let date = Utc::from_unix_ms(unix_ms).date();
        let name = name.map_or_else(String::new, |name| format!("-{name}"));
        let path = root.join("bench/runs").join(format!("{date}-{}{name}", machine.slug()));
        std::fs::create_dir_all(&path).with_context(|| format!("make {}", path.display()))?;
        Ok(Folder { date, path })
    }

    /// Writes a file in it.
    pub(crate) fn write(&self, name: &str, text: &str) -> Result<()> {
        let path = self.path.join(name);
        std::fs::write(&path, text).with_context(|| format!("write {}", path.display()))
    }
}
