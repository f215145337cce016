//! An NFSv3 export, accessed in user space.
//!
//! Only the server follows symbolic links, when it mounts the path that the user named; later every
//! name is looked up in its directory's handle. NFSv3 has no locks that end with their holder, so
//! the lock is a lease ([`lease`]). Changes of directories are durable when they are acknowledged
//! (RFC 1813, section 4.8), and data after a COMMIT if the write verifier is unchanged.

mod files;
mod lease;
mod shared;

use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use nfs3::arguments::{ACCESS3_EXTEND, ACCESS3_LOOKUP, ACCESS3_MODIFY, stable_how};
use nfs3::rpc::Credential;
use nfs3::types::{ftype3, nfsstat3, sattr3};
use workload::names::NameTree;
use workload::plan::Capabilities;

use crate::folder::{Entry, FillFile, FindHandles, Folder, Kind, Lock, SampledFile};
use crate::lease_content::{Content, LockOwner, this_host};
use crate::nfs::folder::files::{ExportFile, Sampled, write_all};
use crate::nfs::folder::lease::Lease;
use crate::nfs::folder::shared::{Shared, entry};
use crate::nfs::session::Mounted;
use crate::nfs::{NfsError, NfsFile, NfsTarget, NfsUrl, Observer, Session};
use crate::refusal::Refusal;
use crate::run_target::RunTarget;
use crate::storage::{DirectIo, PROBE_NAME, Space, Storage};
use crate::tree::access::TreeAccess;
use crate::tree::export::ExportTree;

/// Outstanding writes of a fill, each over its own connection: sufficient for 512 MiB/s from a
/// server that needs 1 ms for 64 KiB.
const WRITERS: usize = 8;
/// Permission bits of new directories.
const DIRECTORY_MODE: u32 = 0o755;
/// The access rights needed to create entries in a directory.
const CREATE_ACCESS: u32 = ACCESS3_LOOKUP | ACCESS3_MODIFY | ACCESS3_EXTEND;
/// How often locking is repeated if the directory was replaced meanwhile.
const LOCK_TRIES: u32 = 4;
/// Replies to a RENAME onto an existing name from servers that do not support it.
const CANNOT_REPLACE: [nfsstat3; 2] = [nfsstat3::NFS3ERR_IO, nfsstat3::NFS3ERR_EXIST];
/// The name of an export's file system.
pub(crate) const FILESYSTEM: &str = "nfs3";

/// A mounted folder: the one that a URL names, or its parent if that does not exist.
#[derive(Clone, Debug)]
pub(crate) struct Export {
    shared: Arc<Shared>,
}

/// The user's name of `path` on the URL's server.
fn named(url: &NfsUrl, path: &str) -> PathBuf {
    PathBuf::from(format!("nfs://{}{}", url.authority(), path.trim_end_matches('/')))
}

/// The user's name of the folder at `url`, without options.
pub(crate) fn path_of(url: &NfsUrl) -> PathBuf {
    named(url, &url.path)
}

impl Export {
    /// Mounts the folder at `url`, or its parent if it does not exist.
    pub(crate) fn open(url: &NfsUrl, observer: Option<&Observer>) -> Result<Export, Refusal> {
        let open = |url: &NfsUrl| match observer {
            Some(observer) => Session::open_observed(url, observer),
            None => Session::open(url),
        };
        let unreachable =
            |error: NfsError| Refusal::NoExport { path: path_of(url), source: Box::new(error) };
        let session = match open(url) {
            Ok(session) => session,
            // What is mounted has no such name in it.
            Err(error) if error.is_status(nfsstat3::NFS3ERR_NOENT) => {
                let above = url.path.trim_end_matches('/').rsplit_once('/');
                match above.map(|(above, _)| above).filter(|above| !above.is_empty()) {
                    None => return Err(unreachable(error)),
                    Some(above) => {
                        let above = NfsUrl { path: above.to_owned(), ..url.clone() };
                        let no_parent = || Refusal::NoParent { path: path_of(url) };
                        open(&above).map_err(|error| {
                            let missing = error.is_status(nfsstat3::NFS3ERR_NOENT);
                            if missing { no_parent() } else { unreachable(error) }
                        })?
                    }
                }
            }
            Err(error) => return Err(unreachable(error)),
        };
        let root = path_of(&session.mounted().url);
        Ok(Export { shared: Arc::new(Shared::new(session, root)) })
    }

    /// Looks a directory up again, bypassing the cache.
    fn look_up(&self, directory: &Path) -> Result<NfsFile, Refusal> {
        self.shared.forget_directories();
        let found = self.shared.directory(directory);
        found.map_err(|error| Refusal::io("open", directory, error))
    }

    /// A connection for a lease. Renewals run in the background, so their waits are not reported to
    /// the user.
    fn lease_session(&self) -> Session {
        Session::of(&self.shared.mounted).unreported()
    }
}

fn not_a_file(kind: Kind) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, format!("it is {}", kind.description()))
}

impl Folder for Export {
    fn resolve_entry(&self, path: &Path) -> io::Result<Entry> {
        self.find_entry(path)?.ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn resolve(&self, path: &Path) -> io::Result<PathBuf> {
        self.resolve_entry(path).map(|_| path.to_path_buf())
    }

    fn find_entry(&self, path: &Path) -> io::Result<Option<Entry>> {
        Ok(self.shared.find(path)?.as_ref().map(entry))
    }

    fn list(&self, directory: &Path) -> io::Result<Vec<OsString>> {
        let handle = self.shared.directory(directory)?;
        let entries = self.shared.with(|session| session.readdir(&handle))?;
        let names = entries.into_iter().map(|entry| entry.name);
        Ok(names.filter(|name| name != b"." && name != b"..").map(OsString::from_vec).collect())
    }

    fn is_root(&self, directory: &Path) -> bool {
        if directory == self.shared.root {
            return self.shared.above_root().is_ok_and(|above| above.is_none());
        }
        // A file system mounted on the server below the export has another fsid.
        let fsid = |path: &Path| self.shared.find(path).ok().flatten().map(|found| found.1.fsid);
        directory.parent().is_none_or(|parent| fsid(parent) != fsid(directory))
    }

    fn refuse_missing_mount(&self, _path: &Path, _existing: &Path) -> Result<(), Refusal> {
        // Opening the export has already failed if it does not exist.
        Ok(())
    }

    fn space(&self, directory: &Path) -> Result<Space, Refusal> {
        let space = || {
            let handle = self.shared.directory(directory)?;
            let (free, attributes, access) = self.shared.with(|session| {
                let free = session.fsstat(&handle)?;
                Ok((free, session.getattr(&handle)?, session.access(&handle, CREATE_ACCESS)?))
            })?;
            // ACCESS does not give a reason; a SETATTR that sets nothing does.
            let read_only = access & CREATE_ACCESS != CREATE_ACCESS
                && self
                    .shared
                    .with(|session| session.setattr(&handle, sattr3::UNCHANGED, None))
                    .is_err_and(|error| error.kind() == io::ErrorKind::ReadOnlyFilesystem);
            Ok(Space {
                filesystem_id: match attributes.fsid {
                    0 => String::new(),
                    id => format!("nfs-{id:016x}"),
                },
                free_bytes: free.abytes,
                free_inodes: (free.tfiles > 0).then_some(free.afiles),
                read_only,
            })
        };
        let refused = |error: io::Error| Refusal::io("query the file system of", directory, error);
        space().map_err(refused)
    }

    fn refuse_unwritable(&self, directory: &Path) -> io::Result<()> {
        let handle = self.shared.directory(directory)?;
        let access = self.shared.with(|session| session.access(&handle, CREATE_ACCESS))?;
        if access & CREATE_ACCESS == CREATE_ACCESS {
            return Ok(());
        }
        let caller = match self.shared.mounted.caller.credential() {
            Credential::Sys(who) => format!("uid {} and gid {}", who.uid, who.gid),
            _ => "an unknown caller".to_owned(),
        };
        let message = format!("ACCESS: the server does not allow it to {caller}");
        Err(io::Error::new(io::ErrorKind::PermissionDenied, message))
    }

    fn probe(&self, directory: &Path) -> Result<Storage, Refusal> {
        let path = directory.join(PROBE_NAME);
        let written = self.write_whole(&path, &[0x46; 4096]);
        let removed = self.remove_file(&path);
        written.map_err(|error| Refusal::io("write", &path, error))?;
        removed.map_err(|error| Refusal::io("remove", &path, error))?;
        Ok(Storage {
            filesystem: FILESYSTEM.to_owned(),
            in_memory: false,
            // This client has no cache, and the protocol has no alignment.
            direct: DirectIo::Supported { offset_align_bytes: 1 },
        })
    }

    fn reads_directly(&self, _path: &Path) -> bool {
        true
    }

    fn lock(&self, directory: &Path, owner: &LockOwner) -> Result<Box<dyn Lock>, Refusal> {
        for _ in 0..LOCK_TRIES {
            let handle = self.look_up(directory)?;
            let lease = Lease::take(self.lease_session(), handle.clone(), directory, owner)?;
            // If another process replaced the directory meanwhile, the lease protects nothing.
            if self.look_up(directory)?.handle == handle.handle {
                return Ok(Box::new(lease));
            }
        }
        Err(Refusal::InUse { path: directory.to_path_buf(), holder: None })
    }

    fn join_lock(&self, directory: &Path, lease: &Content) -> Result<Box<dyn Lock>, Refusal> {
        let handle = self.look_up(directory)?;
        Ok(Box::new(Lease::join(self.lease_session(), handle, directory, lease)?))
    }

    fn refuse_in_use(&self, directory: &Path) -> Result<(), Refusal> {
        let handle = self.look_up(directory)?;
        Lease::refuse_held(Session::of(&self.shared.mounted), &handle, directory)
    }

    fn process_name(&self) -> String {
        format!("{}-{}", this_host().replace('/', "_"), std::process::id())
    }

    fn make_directory(&self, path: &Path) -> io::Result<()> {
        let attributes = sattr3 { mode: Some(DIRECTORY_MODE), ..sattr3::UNCHANGED };
        let created =
            self.shared.at(path, |session, above, name| session.mkdir(above, name, attributes));
        created.map(drop)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let (Some(above), Some(name)) = (to.parent(), to.file_name()) else {
            return Err(io::ErrorKind::InvalidInput.into());
        };
        let above = self.shared.directory(above)?;
        let moved = self.shared.at(from, |session, directory, from_name| {
            let (from, to) = ((directory, from_name), (&above, name.as_bytes()));
            match session.rename(from, to) {
                // For servers that cannot replace a file (nfs-ganesha's memory back end replies
                // NFS3ERR_IO), remove it first. A crash in between leaves a directory that is
                // refused as unmarked, with the new manifest under its temporary name.
                Err(error) if CANNOT_REPLACE.iter().any(|status| error.is_status(*status)) => {
                    let existing = session.lookup(to.0, to.1).ok().and_then(|found| found.1);
                    if existing.is_none_or(|found| found.ftype != ftype3::NF3REG) {
                        return Err(error);
                    }
                    session.remove(to.0, to.1)?;
                    session.rename(from, to)
                }
                moved => moved,
            }
        });
        self.shared.forget_directories();
        moved
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        self.shared.at(path, |session, directory, name| session.remove(directory, name))
    }

    fn remove_directory(&self, path: &Path) -> io::Result<()> {
        let removed = if path == self.shared.root {
            let above = self.shared.above_root()?.ok_or(io::ErrorKind::ResourceBusy)?;
            let name = path.file_name().unwrap_or_default();
            self.shared.with(|session| session.rmdir(&above, name.as_bytes()))
        } else {
            self.shared.at(path, |session, directory, name| session.rmdir(directory, name))
        };
        self.shared.forget_directories();
        removed
    }

    fn sync_directory(&self, _directory: &Path) -> io::Result<()> {
        //= https://www.rfc-editor.org/rfc/rfc1813#section-4.8
        //# Data-modifying operations in the NFS version 3 protocol are synchronous.
        Ok(())
    }

    fn read_whole(&self, path: &Path) -> io::Result<Vec<u8>> {
        let found = self.shared.find(path)?.ok_or(io::ErrorKind::NotFound)?;
        match entry(&found).kind {
            Kind::File => {}
            kind => return Err(not_a_file(kind)),
        }
        let (file, attributes) = found;
        let mut content = Vec::new();
        let mut part = vec![0; self.shared.mounted.rsize_bytes as usize];
        while (content.len() as u64) < attributes.size {
            self.shared.refuse_cancelled()?;
            let offset = content.len() as u64;
            let read = |session: &mut Session| session.read(&file, offset, &mut part);
            let (bytes, end) = self.shared.with(read)?;
            content.extend_from_slice(&part[..bytes]);
            if end || bytes == 0 {
                break;
            }
        }
        Ok(content)
    }

    fn write_whole(&self, path: &Path, content: &[u8]) -> io::Result<()> {
        // Removed and created again, so that a link or a file with a second name is never written.
        let file = match self.shared.create(path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                self.remove_file(path)?;
                self.shared.create(path)?
            }
            created => created?,
        };
        write_all(&self.shared, &file, content, 0, stable_how::FILE_SYNC, |_| ())
    }

    fn open_for_fill(&self, path: &Path) -> io::Result<Box<dyn FillFile>> {
        let file = match self.shared.find(path)? {
            Some(found) => found.0,
            None => match self.shared.create(path) {
                // It was created meanwhile; the caller checks its identity.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    self.shared.find(path)?.ok_or(io::ErrorKind::NotFound)?.0
                }
                created => created?,
            },
        };
        let file = ExportFile::new(Arc::clone(&self.shared), file);
        match file.attributes()?.kind {
            Kind::File => Ok(Box::new(file)),
            kind => Err(not_a_file(kind)),
        }
    }

    fn open_for_sampling(&self, path: &Path, _directly: bool) -> io::Result<Box<dyn SampledFile>> {
        let (file, _) = self.shared.find(path)?.ok_or(io::ErrorKind::NotFound)?;
        Ok(Box::new(Sampled { shared: Arc::clone(&self.shared), file }))
    }

    fn open_tree(&self, root: &Path, tree: &NameTree) -> io::Result<Box<dyn TreeAccess>> {
        let directory = self.shared.directory(root)?;
        Ok(Box::new(ExportTree::open(&self.shared.mounted, directory, tree)))
    }

    fn transfer_threads(&self) -> usize {
        WRITERS
    }

    fn release_fill_resources(&self) {
        self.shared.disconnect_idle();
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::NFS
    }

    fn run_target(
        &self,
        directory: &Path,
        find_handles: FindHandles<'_>,
    ) -> Result<Arc<dyn RunTarget>, Refusal> {
        let (mounted, files) = (Arc::clone(&self.shared.mounted), find_handles()?);
        let directory = self.look_up(directory)?.handle;
        Ok(Arc::new(NfsTarget { mounted, files, directory }))
    }

    fn mounted(&self) -> Option<&Arc<Mounted>> {
        Some(&self.shared.mounted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_folder_is_its_url_without_options() {
        let url: NfsUrl = "nfs://filer:2049/vol1/a/?nconnect=4".parse().unwrap();
        let path = path_of(&url);
        assert_eq!(path, Path::new("nfs://filer:2049/vol1/a"));
        assert_eq!(path.join("x").display().to_string(), "nfs://filer:2049/vol1/a/x");
        assert_eq!(path.parent().unwrap().display().to_string(), "nfs://filer:2049/vol1");
    }
}
