//! A target as a user names it: a directory, a URL of an export, `null:`.

use std::path::PathBuf;

use anyhow::anyhow;
use target::folder::Place;
use target::nfs::NfsUrl;
use workload::plan::{Run, TargetSpec};

use crate::emulated;
use crate::exit::Failure;
use crate::waits;

/// What every export begins with.
const NFS: &str = "nfs://";

/// The target that `named` means, with `options` laid over its URL; the emulated volume without a
/// name.
pub(crate) fn spec(named: Option<&str>, options: &[String]) -> Result<TargetSpec, Failure> {
    let Some(named) = named else {
        let url = emulated::url(&options.join("&"))?;
        return Ok(TargetSpec::Emulated {
            volume: emulated::volume(),
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
            "use option `{option}`: target `{named}` is no NFS export (nfs://host/export)"
        )));
    }
    if named == "null:" {
        return Ok(TargetSpec::Null);
    }
    if named.is_empty() || named.contains("://") {
        return Err(Failure::input(anyhow!(
            "use target `{named}`: a target is a directory, an NFS export such as \
             nfs://host/export, or `null:` for the generator's ceiling"
        )));
    }
    if let Some((host, export)) = named.split_once(":/")
        && !host.contains('/')
    {
        let host = if host == "nfs" { "host" } else { host };
        return Err(Failure::input(anyhow!(
            "use target `{named}`: an NFS export is written nfs://{host}/{export}, and a directory \
             of that name ./{named}"
        )));
    }
    Ok(TargetSpec::Directory { path: named.to_owned() })
}

/// Where files can be: a directory or an export.
pub(crate) fn place(named: &str, options: &[String]) -> Result<Place, Failure> {
    match spec(Some(named), options)? {
        TargetSpec::Directory { path } => Ok(Place::Directory(PathBuf::from(path))),
        TargetSpec::Nfs { url, .. } => Ok(waits::export(parsed(&url)?, None)),
        TargetSpec::Null | TargetSpec::Emulated { .. } => {
            Err(Failure::input(anyhow!("clean `{named}`: nothing was ever written there")))
        }
    }
}

/// The URL with further options.
fn url(named: &str, options: &[String]) -> Result<NfsUrl, Failure> {
    let mut text = named.to_owned();
    for option in options {
        text.push(if text.contains('?') { '&' } else { '?' });
        text.push_str(option);
    }
    parsed(&text)
}

/// The URL, or everything that is wrong with it.
pub(crate) fn parsed(text: &str) -> Result<NfsUrl, Failure> {
    text.parse().map_err(|error: target::nfs::NfsUrlError| {
        let mistakes = error.mistakes.join("\n  - ");
        Failure::input(anyhow!("use target `{}`:\n  - {mistakes}", error.url))
    })
}

/// Calls that all connections together carry at a time; nothing where there are no connections.
pub(crate) fn slots(target: &TargetSpec, run: &Run) -> Result<Option<u32>, Failure> {
    let url: NfsUrl = match target {
        TargetSpec::Nfs { url, .. } => parsed(url)?,
        TargetSpec::Emulated { options, .. } => emulated::url(options)?,
        TargetSpec::Directory { .. } | TargetSpec::Null => return Ok(None),
    };
    let connections = run.connections.unwrap_or(run.streams[0].workers);
    Ok(Some(url.slots.saturating_mul(connections)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_as_mount_takes_it_is_told_how_it_is_written_here() {
        for (named, wanted) in
            [("filer:/vol1", "nfs://filer/vol1"), ("nfs:/vol1", "nfs://host/vol1")]
        {
            let told = spec(Some(named), &[]).unwrap_err().error.unwrap().to_string();
            assert!(told.contains(wanted), "{told}");
        }
        assert!(matches!(spec(Some("./a:/b"), &[]), Ok(TargetSpec::Directory { .. })));
    }

    fn said(named: Option<&str>, options: &[&str]) -> String {
        let options: Vec<String> = options.iter().map(|option| (*option).to_owned()).collect();
        match spec(named, &options) {
            Ok(spec) => format!("{} {:?}", spec.in_words(), spec.connections()),
            Err(failure) => failure.error.map_or_else(String::new, |error| error.to_string()),
        }
    }

    #[test]
    fn a_url_and_its_options_become_one_canonical_url() {
        let canonical = "nfs://filer/vol1?nconnect=8&policy=per-file Some(8)";
        assert_eq!(said(Some("nfs://filer/vol1?policy=per-file&nconnect=8"), &[]), canonical);
        assert_eq!(said(Some("nfs://filer/vol1?policy=per-file"), &["nconnect=8"]), canonical);
        assert_eq!(said(Some("nfs://filer/vol1"), &["nconnect=8", "policy=per-file"]), canonical);
        assert_eq!(said(Some("nfs://filer/vol1"), &[]), "nfs://filer/vol1 None");
    }

    #[test]
    fn without_a_name_it_is_the_emulated_volume_with_the_same_options() {
        assert_eq!(said(None, &["nconnect=4"]), "emulated volume (1 TiB Ultra) Some(4)");
        let Ok(TargetSpec::Emulated { options, .. }) = spec(None, &["nconnect=4".to_owned()])
        else {
            panic!("it is the emulated volume");
        };
        assert_eq!(options, "nconnect=4");
    }

    #[test]
    fn every_mistake_of_a_url_is_told_at_once() {
        let told = said(Some("nfs://filer/vol1?nconect=8&slots=0"), &["timeo=0s"]);
        for mistake in ["`nconect` is no option", "slots is `0`", "timeo is `0s`"] {
            assert!(told.contains(mistake), "{told}");
        }
        let told = said(Some("/mnt/vol1"), &["nconnect=8"]);
        assert!(told.contains("is no NFS export"), "{told}");
        assert!(said(Some("smb://filer/vol1"), &[]).contains("such as nfs://host/export"));
        assert!(said(None, &["port=2049"]).contains("port"), "{}", said(None, &["port=2049"]));
    }
}
