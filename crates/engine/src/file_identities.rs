//! Identities of the local files of a run, to detect at its end that one was replaced. Files on an
//! export are identified by their handles.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use target::TargetError;

use crate::request::{EngineError, Request};

/// Each file with its device and inode number.
pub(crate) struct FileIdentities(Vec<(PathBuf, (u64, u64))>);

impl FileIdentities {
    pub(crate) fn of(request: &Request<'_>) -> Result<FileIdentities, EngineError> {
        let mut all = Vec::new();
        for stream in &request.assignment.run.streams {
            let positions = stream.targets.positions.iter();
            let targets = positions.filter_map(|at| request.targets.get(*at as usize));
            for path in targets.flat_map(|target| target.local_paths(stream)) {
                let found = identity(&path).map_err(|source| EngineError::Target {
                    stream: stream.name.clone(),
                    lane: 0,
                    source: TargetError::Open { path: path.display().to_string(), source },
                })?;
                all.push((path, found));
            }
        }
        Ok(FileIdentities(all))
    }

    /// Describes the first file that was removed or replaced, if any.
    pub(crate) fn replaced(&self) -> Option<String> {
        let gone = |(path, before): &&(PathBuf, (u64, u64))| {
            identity(path).map_or(true, |now| now != *before)
        };
        let (path, _) = self.0.iter().find(gone)?;
        Some(format!("{} was removed or replaced during the run", path.display()))
    }
}

fn identity(path: &Path) -> std::io::Result<(u64, u64)> {
    let found = std::fs::symlink_metadata(path)?;
    Ok((found.dev(), found.ino()))
}
