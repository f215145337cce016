//! A target as the user names it: a directory, the URL of an NFS export, `null:`, or nothing for
//! the emulated volume.

use std::path::{Path, PathBuf};

use anyhow::anyhow;
use target::location::TargetLocation;
use target::nfs::NfsUrl;
use target::nfs::Observer;
use workload::plan::{Run, TargetSpec};

use crate::outcome::Failure;
use crate::{emulated_volume, refusal};

/// The scheme of NFS exports.
const NFS: &str = "nfs://";

/// The target that `named` means, with `options` added to its URL; without a name, the emulated
/// volume.
///
/// # Errors
/// `named` is not a target, or an option is invalid.
pub fn spec(named: Option<&str>, options: &[String]) -> Result<TargetSpec, Failure> {
    let Some(named) = named else {
        let url = emulated_volume::url(&options.join("&"))?;
        return Ok(TargetSpec::Emulated {
            volume: emulated_volume::volume(),
            connections: url.nconnect,
            options: url.to_string().split_once('?').map_or("", |(_, options)| options).to_owned(),
        });
    };
    if named.starts_with(NFS) {
        let url = url(named, options)?;
        return Ok(TargetSpec::Nfs { url: url.to_string(), connections: url.nconnect });
    }
    if let Some(option) = options.first() {
        return Err(Failure::input(anyhow!(
            "`-o {option}`: -o sets an option of an NFS export, and `{named}` is not one \
             (nfs://host/export); to write a report use --report FILE"
        )));
    }
    if named == "null:" {
        return Ok(TargetSpec::Null);
    }
    if named.is_empty() || named.contains("://") {
        return Err(Failure::input(anyhow!(
            "`{named}` is not a target: use a directory, an NFS export such as nfs://host/export, \
             or `null:` for the load generator's own limit"
        )));
    }
    if let Some((host, export)) = named.split_once(":/")
        && !host.contains('/')
    {
        let host = if host == "nfs" { "host" } else { host };
        return Err(Failure::input(anyhow!(
            "`{named}` is not a target: write the NFS export as nfs://{host}/{export}, or a \
             directory of that name as ./{named}"
        )));
    }
    Ok(TargetSpec::Directory { path: named.to_owned() })
}

/// Where the files of `target` are; `None` if it has none, or they are in the emulated volume.
/// `observer` is notified of waits for a server and may end them.
pub fn location(
    target: &TargetSpec,
    observer: Observer,
) -> Result<Option<TargetLocation>, Failure> {
    Ok(match target {
        TargetSpec::Directory { path } => Some(TargetLocation::Directory(PathBuf::from(path))),
        TargetSpec::Nfs { url, .. } => Some(TargetLocation::ObservedNfs(parsed(url)?, observer)),
        TargetSpec::Null | TargetSpec::Emulated { .. } => None,
    })
}

/// Whether two paths name the same directory.
pub(crate) fn is_same_directory(a: &str, b: &str) -> bool {
    let real = |path: &str| Path::new(path).canonicalize();
    a == b || matches!((real(a), real(b)), (Ok(a), Ok(b)) if a == b)
}

/// The URL with more options.
fn url(named: &str, options: &[String]) -> Result<NfsUrl, Failure> {
    let mut text = named.to_owned();
    for option in options {
        text.push(if text.contains('?') { '&' } else { '?' });
        text.push_str(option);
    }
    parsed(&text)
}

/// Parses the URL of an export.
///
/// # Errors
/// Every problem of the URL, in one failure.
pub fn parsed(text: &str) -> Result<NfsUrl, Failure> {
    text.parse().map_err(refusal::of_url)
}

/// How many calls all connections of a run, on all its hosts, can have outstanding; `None` for a target without
/// connections.
pub(crate) fn slots(target: &TargetSpec, run: &Run) -> Result<Option<u32>, Failure> {
    let url: NfsUrl = match target {
        TargetSpec::Nfs { url, .. } => parsed(url)?,
        TargetSpec::Emulated { options, .. } => emulated_volume::url(options)?,
        TargetSpec::Directory { .. } | TargetSpec::Null => return Ok(None),
    };
    // A given number is that of each host to each target.
    let given = run.connections.map(|count| count.saturating_mul(run.connection_parts()));
    let connections = given.unwrap_or(run.streams[0].workers);
    Ok(Some(url.slots.saturating_mul(connections)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::Reason;

    fn error(failure: Failure) -> String {
        match failure.reason {
            Reason::Error(error) => error.to_string(),
            Reason::Problems { .. } => panic!("a target is not a file"),
        }
    }

    #[test]
    fn a_target_in_the_syntax_of_mount_is_refused_with_its_url() {
        for (named, expected) in
            [("filer:/vol1", "nfs://filer/vol1"), ("nfs:/vol1", "nfs://host/vol1")]
        {
            let message = error(spec(Some(named), &[]).unwrap_err());
            assert!(message.contains(expected), "{message}");
        }
        assert!(matches!(spec(Some("./a:/b"), &[]), Ok(TargetSpec::Directory { .. })));
    }

    fn in_words(named: Option<&str>, options: &[&str]) -> String {
        let options: Vec<String> = options.iter().map(|option| (*option).to_owned()).collect();
        match spec(named, &options) {
            Ok(spec) => format!("{} {:?}", spec.in_words(), spec.connections()),
            Err(failure) => error(failure),
        }
    }

    #[test]
    fn a_url_and_its_options_become_one_canonical_url() {
        let canonical = "nfs://filer/vol1?nconnect=8&policy=per-file Some(8)";
        assert_eq!(in_words(Some("nfs://filer/vol1?policy=per-file&nconnect=8"), &[]), canonical);
        assert_eq!(in_words(Some("nfs://filer/vol1?policy=per-file"), &["nconnect=8"]), canonical);
        assert_eq!(
            in_words(Some("nfs://filer/vol1"), &["nconnect=8", "policy=per-file"]),
            canonical
        );
        assert_eq!(in_words(Some("nfs://filer/vol1"), &[]), "nfs://filer/vol1 None");
    }

    #[test]
    fn without_a_name_it_is_the_emulated_volume_with_the_same_options() {
        assert_eq!(in_words(None, &["nconnect=4"]), "emulated volume (1 TiB Ultra) Some(4)");
        let Ok(TargetSpec::Emulated { options, .. }) = spec(None, &["nconnect=4".to_owned()])
        else {
            panic!("it is the emulated volume");
        };
        assert_eq!(options, "nconnect=4");
    }

    #[test]
    fn all_problems_of_a_url_are_reported_together() {
        let message = in_words(Some("nfs://filer/vol1?nconect=8&slots=0"), &["timeo=0s"]);
        for problem in ["`nconect` is not an option", "slots is `0`", "timeo is `0s`"] {
            assert!(message.contains(problem), "{message}");
        }
        let message = in_words(Some("/mnt/vol1"), &["nconnect=8"]);
        assert!(message.contains("option of an NFS export"), "{message}");
        assert!(in_words(Some("smb://filer/vol1"), &[]).contains("such as nfs://host/export"));
        let message = in_words(None, &["port=2049"]);
        assert!(message.contains("port"), "{message}");
    }
}
