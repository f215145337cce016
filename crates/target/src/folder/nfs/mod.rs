//! An export of NFS version 3, in user space.
//!
//! Symbolic links are followed by the server alone, when it mounts what the user named, and never
//! here: every name is looked up in its directory's handle. NFS has no locks that end with their
//! holder, so the lock is a lease ([`lease`]). Changes of names are durable when
//! they are answered (RFC 1813, section 4.8), and data after COMMIT, as long as the write verifier
//! is the same.

mod files;
pub(crate) mod lease;
mod shared;

use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use nfs3::arguments::{ACCESS3_EXTEND, ACCESS3_LOOKUP, ACCESS3_MODIFY, stable_how};
use nfs3::rpc::Credential;
use nfs3::types::{ftype3, nfsstat3, sattr3};

use crate::folder::nfs::files::{ExportFile, Sampled, write_all};
use crate::folder::nfs::lease::Lease;
use crate::folder::nfs::shared::{Shared, entry};
use crate::folder::{Entry, FillFile, Folder, Kind, Lock, Observer, SampledFile};
use crate::nfs::session::Mounted;
use crate::nfs::{NfsError, NfsFile, NfsUrl, Session};
use crate::refusal::Refusal;
use crate::storage::{DirectIo, PROBE_NAME, Space, Storage};

/// Writes of a fill that are outstanding, each over a connection of its own: enough for a server
/// that takes a millisecond for 64 KiB and gives half a GiB/s.
const WRITERS: usize = 8;
/// Permission bits of directories that are made.
const DIRECTORY_MODE: u32 = 0o755;
/// What is asked of a directory in which entries are to be made.
const MAKING: u32 = ACCESS3_LOOKUP | ACCESS3_MODIFY | ACCESS3_EXTEND;
/// A directory that is replaced while it is locked is locked again this often.
const LOCK_TRIES: u32 = 4;
/// What servers say to a RENAME onto a name that is there, where they cannot do that.
const CANNOT_REPLACE: [nfsstat3; 2] = [nfsstat3::NFS3ERR_IO, nfsstat3::NFS3ERR_EXIST];
/// How an export is called where a file system's name is wanted.
pub(crate) const FILESYSTEM: &str = "nfs3";

/// The folder that a URL names, or the one above it where that is not there yet.
#[derive(Clone, Debug)]
pub(crate) struct Export {
    shared: Arc<Shared>,
}

/// How the user names what is at `path` on the URL's server.
fn named(url: &NfsUrl, path: &str) -> PathBuf {
    PathBuf::from(format!("nfs://{}{}", url.authority(), path.trim_end_matches('/')))
}

/// The name of what `url` names.
pub(crate) fn path_of(url: &NfsUrl) -> PathBuf {
    named(url, &url.path)
}

impl Export {
    /// Mounts what `url` names; where that is missing, the folder it would be made in.
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

    /// What is under a directory's name now.
    fn look_up(&self, directory: &Path) -> Result<NfsFile, Refusal> {
        self.shared.forget_directories();
        let found = self.shared.directory(directory);
        found.map_err(|error| Refusal::io("open", directory, error))
    }
}

fn not_a_file(kind: Kind) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, format!("it is {}", kind.words()))
}

impl Folder for Export {
    fn look_through(&self, path: &Path) -> io::Result<Entry> {
        self.look(path)?.ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn resolve(&self, path: &Path) -> io::Result<PathBuf> {
        self.look_through(path).map(|_| path.to_path_buf())
    }

    fn look(&self, path: &Path) -> io::Result<Option<Entry>> {
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
        // Where another file system is mounted on the server, its root has another number.
        let fsid = |path: &Path| self.shared.find(path).ok().flatten().map(|found| found.1.fsid);
        directory.parent().is_none_or(|parent| fsid(parent) != fsid(directory))
    }

    fn refuse_missing_mount(&self, _path: &Path, _existing: &Path) -> Result<(), Refusal> {
        // The server mounted what was named, or said that there is no such thing.
        Ok(())
    }

    fn space(&self, directory: &Path) -> Result<Space, Refusal> {
        let space = || {
            let handle = self.shared.directory(directory)?;
            let (free, attributes, access) = self.shared.with(|session| {
                let free = session.fsstat(&handle)?.abytes;
                Ok((free, session.getattr(&handle)?, session.access(&handle, MAKING)?))
            })?;
            // ACCESS does not say why not; a SETATTR that sets nothing does.
            let read_only = access & MAKING != MAKING
                && self
                    .shared
                    .with(|session| session.setattr(&handle, sattr3::UNCHANGED, None))
                    .is_err_and(|error| error.kind() == io::ErrorKind::ReadOnlyFilesystem);
            Ok(Space {
                filesystem_id: match attributes.fsid {
                    0 => String::new(),
                    id => format!("nfs-{id:016x}"),
                },
                free_bytes: free,
                read_only,
            })
        };
        space().map_err(|error: io::Error| Refusal::io("ask the file system of", directory, error))
    }

    fn may_write_into(&self, directory: &Path) -> io::Result<()> {
        let handle = self.shared.directory(directory)?;
        let access = self.shared.with(|session| session.access(&handle, MAKING))?;
        if access & MAKING == MAKING {
            return Ok(());
        }
        let who = match self.shared.mounted.caller.credential() {
            Credential::Sys(who) => format!("uid {} and gid {}", who.uid, who.gid),
            _ => "an unknown caller".to_owned(),
        };
        let message = format!("ACCESS: the server does not allow it to {who}");
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
            // Nothing is kept on this side, and the protocol knows no alignment.
            direct: DirectIo::Supported { offset_align_bytes: 1 },
        })
    }

    fn reads_directly(&self, _path: &Path) -> bool {
        true
    }

    fn lock(&self, directory: &Path) -> Result<Box<dyn Lock>, Refusal> {
        for _ in 0..LOCK_TRIES {
            let handle = self.look_up(directory)?;
            // Its sign of life is sent in the background too, where nobody waits for it.
            let session = Session::of(&self.shared.mounted).unreported();
            let lease = Lease::take(session, handle.clone(), directory)?;
            // Between the two another process may have put another directory there, and a lock on
            // what nobody else finds keeps nobody away.
            if self.look_up(directory)?.handle == handle.handle {
                return Ok(Box::new(lease));
            }
        }
        Err(Refusal::InUse { path: directory.to_path_buf(), holder: None })
    }

    fn refuse_in_use(&self, directory: &Path) -> Result<(), Refusal> {
        let handle = self.look_up(directory)?;
        Lease::refuse_alive(Session::of(&self.shared.mounted), &handle, directory)
    }

    fn maker(&self) -> String {
        let host = crate::folder::nfs::lease::this_host();
        format!("{}-{}", host.replace('/', "_"), std::process::id())
    }

    fn make_directory(&self, path: &Path) -> io::Result<()> {
        let attributes = sattr3 { mode: Some(DIRECTORY_MODE), ..sattr3::UNCHANGED };
        let made =
            self.shared.at(path, |session, above, name| session.mkdir(above, name, attributes));
        made.map(drop)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let (Some(above), Some(name)) = (to.parent(), to.file_name()) else {
            return Err(io::ErrorKind::InvalidInput.into());
        };
        let above = self.shared.directory(above)?;
        let moved = self.shared.at(from, |session, directory, from_name| {
            let (from, to) = ((directory, from_name), (&above, name.as_bytes()));
            match session.rename(from, to) {
                // A server that cannot replace what is there (nfs-ganesha's memory says NFS3ERR_IO)
                // gets it in two steps. Who crashes between them leaves a directory that is refused
                // as unmarked, with the new manifest beside.
                Err(error) if CANNOT_REPLACE.iter().any(|status| error.is_status(*status)) => {
                    let there = session.lookup(to.0, to.1).ok().and_then(|there| there.1);
                    if there.is_none_or(|found| found.ftype != ftype3::NF3REG) {
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
        // Made anew, so that what has a second name or is a link is never written into.
        let file = match self.shared.create(path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                self.remove_file(path)?;
                self.shared.create(path)?
            }
            made => made?,
        };
        write_all(&self.shared, &file, content, 0, stable_how::FILE_SYNC, |_| ())
    }

    fn open_for_fill(&self, path: &Path) -> io::Result<Box<dyn FillFile>> {
        let made = match self.shared.find(path)? {
            Some(found) => found.0,
            None => match self.shared.create(path) {
                // It came in between: whose it is will be asked of its identity.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    self.shared.find(path)?.ok_or(io::ErrorKind::NotFound)?.0
                }
                made => made?,
            },
        };
        let file = ExportFile::new(Arc::clone(&self.shared), made);
        match file.look()?.kind {
            Kind::File => Ok(Box::new(file)),
            kind => Err(not_a_file(kind)),
        }
    }

    fn open_for_sampling(&self, path: &Path, _directly: bool) -> io::Result<Box<dyn SampledFile>> {
        let (file, _) = self.shared.find(path)?.ok_or(io::ErrorKind::NotFound)?;
        Ok(Box::new(Sampled { shared: Arc::clone(&self.shared), file }))
    }

    fn fill_writers(&self) -> usize {
        WRITERS
    }

    fn rest(&self) {
        self.shared.disconnect_idle();
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
