//! A tree on an NFS export.

use std::collections::HashMap;
use std::io;
use std::sync::Arc;

use nfs3::arguments::{createhow3, stable_how};
use nfs3::types::{nfsstat3, sattr3};
use workload::names::NameTree;

use super::access::{At, TreeAccess, TreeDirectory, TreeEntry};
use super::walk::children;
use crate::folder::Entry;
use crate::names::PART_BYTES_MAX;
use crate::nfs::session::Mounted;
use crate::nfs::{DirEntry, NfsError, NfsFile, Session};

/// Handles of directories that a thread keeps.
const DIRECTORIES_KEPT: usize = 65_536;
/// How often a file is written again because the server lost uncommitted data.
const WRITE_TRIES: u32 = 5;

/// A tree on an export, over one connection.
#[derive(Debug)]
pub(crate) struct ExportTree {
    session: Session,
    tree: NameTree,
    root: NfsFile,
    directories: HashMap<TreeDirectory, NfsFile>,
    part: Vec<u8>,
}

fn failed(error: NfsError) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {}", error.procedure, error.failure))
}

impl ExportTree {
    pub(crate) fn open(mounted: &Arc<Mounted>, root: NfsFile, tree: &NameTree) -> ExportTree {
        ExportTree {
            session: Session::of(mounted),
            tree: tree.clone(),
            root,
            directories: HashMap::new(),
            part: vec![0; PART_BYTES_MAX as usize],
        }
    }

    /// The handle of a directory.
    fn directory(&mut self, directory: TreeDirectory) -> io::Result<NfsFile> {
        let TreeDirectory { level, number } = directory;
        if level == 0 {
            return Ok(self.root.clone());
        }
        if let Some(known) = self.directories.get(&directory) {
            return Ok(known.clone());
        }
        let above = TreeDirectory { level: level - 1, number: number / self.tree.width() };
        let leaf = children(&self.tree, above)
            .into_iter()
            .find_map(|(child, leaf)| (child == directory).then_some(leaf))
            .ok_or(io::ErrorKind::NotFound)?;
        let above = self.directory(above)?;
        let (found, _) = self.session.lookup(&above, &leaf).map_err(failed)?;
        if self.directories.len() >= DIRECTORIES_KEPT {
            self.directories.clear();
        }
        self.directories.insert(directory, found.clone());
        Ok(found)
    }

    fn file(&mut self, (directory, leaf): At<'_>) -> io::Result<NfsFile> {
        let directory = self.directory(directory)?;
        Ok(self.session.lookup(&directory, leaf).map_err(failed)?.0)
    }

    /// The entries of a directory with their attributes.
    fn entries(&mut self, directory: &NfsFile) -> Result<Vec<DirEntry>, NfsError> {
        match self.session.readdirplus(directory) {
            Err(error) if error.is_status(nfsstat3::NFS3ERR_NOTSUPP) => {
                self.session.readdir(directory)
            }
            listed => listed,
        }
    }

    /// Writes a file; returns whether the server kept all of it.
    fn write(
        &mut self,
        file: &NfsFile,
        size_bytes: u64,
        fill: &mut dyn FnMut(u64, &mut [u8]),
    ) -> Result<bool, NfsError> {
        let wsize = u64::from(self.session.mounted().wsize_bytes);
        // One durable WRITE costs less than a WRITE and a COMMIT.
        let stable = if size_bytes <= wsize { stable_how::FILE_SYNC } else { stable_how::UNSTABLE };
        let (mut done, mut verifier, mut is_kept) = (0, None, true);
        while done < size_bytes {
            let length = (size_bytes - done).min(self.part.len() as u64) as usize;
            fill(done, &mut self.part[..length]);
            let mut within = 0;
            while within < length {
                let offset = done + within as u64;
                let part = &self.part[within..length];
                let written = self.session.write(file, offset, part, stable)?;
                if written.committed == stable_how::UNSTABLE {
                    let before = verifier.replace(written.verifier);
                    is_kept &= before.is_none_or(|before| before == written.verifier);
                }
                within += written.bytes as usize;
            }
            done += length as u64;
        }
        if let Some(verifier) = verifier {
            is_kept &= self.session.commit(file)? == verifier;
        }
        Ok(is_kept)
    }
}

impl TreeAccess for ExportTree {
    fn list(&mut self, directory: TreeDirectory) -> io::Result<Vec<TreeEntry>> {
        let directory = self.directory(directory)?;
        let listed = self.entries(&directory).map_err(failed)?;
        let mut entries = Vec::with_capacity(listed.len());
        for entry in listed {
            if entry.name == b"." || entry.name == b".." {
                continue;
            }
            let attributes = match entry.attributes {
                Some(attributes) => attributes,
                None => match self.session.lookup(&directory, &entry.name) {
                    Ok((_, Some(attributes))) => attributes,
                    Ok((file, None)) => self.session.getattr(&file).map_err(failed)?,
                    // It was removed meanwhile.
                    Err(error) if error.is_status(nfsstat3::NFS3ERR_NOENT) => continue,
                    Err(error) => return Err(failed(error)),
                },
            };
            let found = Entry::from(&attributes);
            let (kind, size_bytes) = (found.kind, found.size_bytes);
            entries.push(TreeEntry { leaf: entry.name, kind, size_bytes });
        }
        Ok(entries)
    }

    fn make_directory(&mut self, (directory, leaf): At<'_>) -> io::Result<()> {
        let directory = self.directory(directory)?;
        let attributes = sattr3 { mode: Some(0o755), ..sattr3::UNCHANGED };
        self.session.mkdir(&directory, leaf, attributes).map(drop).map_err(failed)
    }

    fn remove_directory(&mut self, (directory, leaf): At<'_>) -> io::Result<()> {
        let directory = self.directory(directory)?;
        self.session.rmdir(&directory, leaf).map_err(failed)
    }

    fn remove(&mut self, (directory, leaf): At<'_>) -> io::Result<()> {
        let directory = self.directory(directory)?;
        self.session.remove(&directory, leaf).map_err(failed)
    }

    fn create(
        &mut self,
        (directory, leaf): At<'_>,
        size_bytes: u64,
        fill: &mut dyn FnMut(u64, &mut [u8]),
    ) -> io::Result<()> {
        let directory = self.directory(directory)?;
        let attributes = sattr3 { mode: Some(0o644), ..sattr3::UNCHANGED };
        let created = self.session.create(&directory, leaf, createhow3::GUARDED(attributes));
        let (file, _) = created.map_err(failed)?;
        for _ in 0..WRITE_TRIES {
            if self.write(&file, size_bytes, fill).map_err(failed)? {
                return Ok(());
            }
        }
        let why = "the write verifier changed each time (RFC 1813, section 3.3.7): the server \
                   restarted repeatedly and lost uncommitted data";
        Err(io::Error::other(why))
    }

    fn link(&mut self, from: At<'_>, to: At<'_>) -> io::Result<()> {
        let file = self.file(from)?;
        let directory = self.directory(to.0)?;
        self.session.link(&file, &directory, to.1).map_err(failed)
    }

    fn symlink(&mut self, (directory, leaf): At<'_>, text: &[u8]) -> io::Result<()> {
        let directory = self.directory(directory)?;
        let created = self.session.symlink(&directory, leaf, sattr3::UNCHANGED, text);
        created.map(drop).map_err(failed)
    }

    fn link_text(&mut self, at: At<'_>) -> io::Result<Vec<u8>> {
        let file = self.file(at)?;
        self.session.readlink(&file).map_err(failed)
    }

    fn read(
        &mut self,
        at: At<'_>,
        size_bytes: u64,
        each: &mut dyn FnMut(u64, &[u8]) -> bool,
    ) -> io::Result<u64> {
        let file = self.file(at)?;
        let mut done = 0;
        while done < size_bytes {
            let length = (size_bytes - done).min(self.part.len() as u64) as usize;
            let part = &mut self.part[..length];
            let (bytes, eof) = self.session.read(&file, done, part).map_err(failed)?;
            if bytes == 0 || !each(done, &part[..bytes]) {
                break;
            }
            done += bytes as u64;
            if eof {
                break;
            }
        }
        Ok(done)
    }

    fn sync(&mut self) -> io::Result<()> {
        // Everything was written durably.
        Ok(())
    }
}
