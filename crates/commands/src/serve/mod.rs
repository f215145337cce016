//! `volume serve`: starts the service of emulated volumes, and applies a changed configuration.

pub mod config;
pub mod printed;
pub mod query;

use std::io::ErrorKind;
use std::path::Path;

use cloud::catalog::Catalog;
use volume::model::Volume;
use volume::shell::{Error, Options, Running, Snapshot};

use crate::emulated_volume::not_started;
use crate::outcome::{Failure, Reason, with_causes};

/// Starts the service.
///
/// # Errors
/// The options cannot be used, or the system refused a thread.
pub fn start(options: Options) -> Result<Running, Failure> {
    Running::start(options).map_err(|error| match error {
        Error::System { ref source, .. } if source.kind() == ErrorKind::WouldBlock => {
            Failure::target(not_started(error))
        }
        Error::System { .. } | Error::Ended => Failure::internal(error),
        error => Failure::input(error),
    })
}

/// The result of [`reload`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reload {
    /// The configuration is active; these volumes changed.
    Applied(Vec<VolumeChange>),
    /// The previous configuration stays active, for these reasons.
    Refused(Vec<String>),
}

/// A changed volume: its name, and its settings before and after; `None` if it does not exist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VolumeChange {
    /// The volume's name.
    pub name: String,
    /// Service level, quota and throughput limit before.
    pub before: Option<String>,
    /// The same after.
    pub after: Option<String>,
}

/// Applies the configuration file to the running service.
///
/// # Errors
/// The service does not respond.
pub fn reload(path: &Path, catalog: &Catalog, running: &Running) -> Result<Reload, Failure> {
    let config = match config::of_file(path, catalog) {
        Ok(config) => config,
        Err(failure) => return Ok(Reload::Refused(lines(failure))),
    };
    let before = running.snapshot().map_err(Failure::internal)?;
    match running.change(config) {
        Ok(()) => {
            let after = running.snapshot().map_err(Failure::internal)?;
            Ok(Reload::Applied(changes(&before, &after)))
        }
        Err(Error::Account(broken)) => {
            Ok(Reload::Refused(broken.iter().map(ToString::to_string).collect()))
        }
        Err(error) => Err(Failure::internal(error)),
    }
}

fn lines(failure: Failure) -> Vec<String> {
    match failure.reason {
        Reason::Error(error) => vec![with_causes(&error)],
        Reason::Problems { problems, .. } => problems.iter().map(ToString::to_string).collect(),
    }
}

fn changes(before: &Snapshot, after: &Snapshot) -> Vec<VolumeChange> {
    let (old, new) = (settings(before), settings(after));
    let of = |all: &[(String, String)], name: &str| {
        all.iter().find(|(other, _)| other == name).map(|(_, settings)| settings.clone())
    };
    let removed = old.iter().filter(|(name, _)| of(&new, name).is_none());
    let names = new.iter().chain(removed).map(|(name, _)| name);
    let change = |name: &String| VolumeChange {
        name: name.clone(),
        before: of(&old, name),
        after: of(&new, name),
    };
    names.map(change).filter(|change| change.before != change.after).collect()
}

/// Name and `level, quota, limit` of each volume.
fn settings(snapshot: &Snapshot) -> Vec<(String, String)> {
    let account = snapshot.account.account();
    let row = |volume: &Volume| {
        let level = account.pool(&volume.pool).map_or("", |pool| pool.level.name());
        let limit = limit_of(snapshot, volume);
        (volume.name.clone(), format!("{level}, {}, {limit}", volume.quota))
    };
    account.volumes.iter().map(row).collect()
}

/// The enforced throughput limit of a volume, or `no limit`.
fn limit_of(snapshot: &Snapshot, volume: &Volume) -> String {
    match snapshot.account.throughput_limit(volume).filter(|_| snapshot.limits_enforced) {
        Some(limit) => limit.to_string(),
        None => "no limit".to_owned(),
    }
}
