//! What the host, the target and this binary are: kept with the results, so that a number can be
//! understood later.

use std::io::Read;
use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::sync::Arc;

use analysis::verdict::known::NULL_ROUND_TRIP;
use anyhow::Context;
use host::Root;
use sha2::{Digest, Sha256};
use target::directory::TargetDirectory;
use target::nfs::Mounted;
use target::storage::DirectIo;
use units::Bytes;

use crate::command_line;
use crate::exit::Failure;
use crate::experiment::Planned;

/// `(name, value)`, ordered by name.
pub(crate) fn facts(
    planned: &Planned,
    directory: Option<&TargetDirectory>,
) -> Result<Vec<(String, String)>, Failure> {
    let root = Root::of_this_host();
    let mut facts = host::facts::environment(&root);
    let mounted = directory.and_then(TargetDirectory::mounted);
    if let Some(directory) = directory.filter(|_| mounted.is_none()) {
        facts.extend(host::facts::target_environment(&root, directory.path()));
    }
    if let Some(server) = server(&facts, mounted.map(Arc::as_ref)) {
        let interface = host::network::interface_to(&root, Some(server));
        facts.extend(interface.iter().flat_map(|name| host::network::facts(&root, name)));
    }
    // A machine on Azure tells its size, in little time.
    facts.extend(host::instance::facts(&root));
    let mut add = |name: &str, value: String| facts.push((name.to_owned(), value));
    add("command.line", command_line::of_this_run(planned));
    add(report::html::EXPERIMENT_TEXT, planned.text.clone());
    add("fourcorners.version", env!("CARGO_PKG_VERSION").to_owned());
    add("fourcorners.sha256", own_hash()?);
    if let Some(mounted) = mounted {
        let servers: Vec<String> = mounted.servers.iter().map(ToString::to_string).collect();
        add("target.url", mounted.url.to_string());
        add("target.servers", servers.join(", "));
        add("target.rsize", Bytes::new(u64::from(mounted.rsize_bytes)).to_string());
        add("target.wsize", Bytes::new(u64::from(mounted.wsize_bytes)).to_string());
        if let Some(time) = target::nfs::null_round_trip(mounted) {
            add(NULL_ROUND_TRIP, time.as_nanos().to_string());
        }
    }
    if let Some(directory) = directory.filter(|_| mounted.is_none()) {
        add("target.directory", directory.path().display().to_string());
        add(
            "target.direct_io",
            match &directory.storage().direct {
                DirectIo::Supported { offset_align_bytes } => {
                    format!("in multiples of {offset_align_bytes} bytes")
                }
                DirectIo::Unsupported { reason } => format!("not supported: {reason}"),
            },
        );
    }
    facts.sort();
    Ok(facts)
}

/// The server that packets go to: of an export, or of the NFS mount that a directory is on.
fn server(facts: &[(String, String)], mounted: Option<&Mounted>) -> Option<IpAddr> {
    match mounted {
        Some(mounted) => mounted.servers.first().map(SocketAddr::ip),
        None => facts.iter().find(|(name, _)| name == "mount.server")?.1.parse().ok(),
    }
}

/// SHA-256 of the binary that runs, in hexadecimal: a version number does not tell builds apart.
fn own_hash() -> Result<String, Failure> {
    let hash = hash_of(Path::new("/proc/self/exe")).context("hash this program");
    hash.map_err(Failure::bug)
}

fn hash_of(path: &Path) -> std::io::Result<String> {
    let mut file = std::fs::File::open(path)?;
    let mut hash = Sha256::new();
    let mut chunk = vec![0u8; 1 << 16];
    loop {
        match file.read(&mut chunk)? {
            0 => break,
            count => hash.update(&chunk[..count]),
        }
    }
    Ok(hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_that_of_sha256() {
        let file = tempfile::NamedTempFile::new().expect("make a file");
        std::fs::write(file.path(), "abc").expect("write it");
        // FIPS 180-2, appendix B.1.
        assert_eq!(
            hash_of(file.path()).expect("hash it"),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
    }
}
