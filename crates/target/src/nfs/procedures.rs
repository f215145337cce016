//! The NFSv3 procedures as methods of a [`Session`].

use nfs3::arguments::*;
use nfs3::request::{NfsArguments, NfsResults};
use nfs3::results::{FSINFO3resok, FSSTAT3resok, PATHCONF3resok, Res3};
use nfs3::types::{
    Handle, diropargs3, fattr3, filename3, nfstime3, post_op_attr, post_op_fh3, sattr3, writeverf3,
};

use super::error::{NfsError, NfsFailure};
use super::fault::{self, ProtocolFault};
use super::session::{NfsFile, Session};

/// Matches the results of one procedure: the value of a success, or the status.
macro_rules! results {
    ($procedure:ident, $ok:pat => $value:expr) => {
        |results: NfsResults<'_>| match results {
            NfsResults::$procedure(Res3::Ok($ok)) => Some(Ok($value)),
            NfsResults::$procedure(Res3::Fail(status, _)) => Some(Err(status)),
            _ => None,
        }
    };
}

pub(super) use results;

/// The result of a WRITE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Written {
    /// Bytes written, from the start of the data.
    pub bytes: u32,
    /// How durable they are.
    pub committed: stable_how,
    /// The write verifier, to compare with that of the COMMIT.
    pub verifier: writeverf3,
}

fn named<'a>(dir: &'a NfsFile, name: &'a [u8]) -> diropargs3<'a> {
    diropargs3 { dir: dir.handle.fh(), name: filename3(name) }
}

fn broken(file: &NfsFile, fault: ProtocolFault) -> NfsError {
    let procedure = fault.procedure.name();
    NfsError { procedure, file: file.path.clone(), failure: NfsFailure::Fault(fault) }
}

type Created = (Option<Handle>, post_op_attr);

fn created(obj: post_op_fh3<'_>, attributes: post_op_attr) -> Created {
    (obj.map(Handle::from), attributes)
}

/// # Errors
/// Of every method: the procedure failed; the error names the file.
impl Session {
    /// GETATTR: the attributes of `file`.
    pub fn getattr(&mut self, file: &NfsFile) -> Result<fattr3, NfsError> {
        let args = GETATTR3args { object: file.handle.fh() };
        let take = results!(GETATTR, ok => ok.obj_attributes);
        self.call(&file.path, NfsArguments::GETATTR(args), take)
    }

    /// SETATTR: sets attributes of `file`; with a `guard`, only if its ctime equals it. Returns the
    /// attributes afterwards, if the server does.
    pub fn setattr(
        &mut self,
        file: &NfsFile,
        new_attributes: sattr3,
        guard: Option<nfstime3>,
    ) -> Result<post_op_attr, NfsError> {
        let args = SETATTR3args { object: file.handle.fh(), new_attributes, guard };
        let take = results!(SETATTR, ok => ok.obj_wcc.after);
        self.call(&file.path, NfsArguments::SETATTR(args), take)
    }

    /// LOOKUP: the entry `name` in `dir`, with its attributes if the server returns them.
    pub fn lookup(
        &mut self,
        dir: &NfsFile,
        name: &[u8],
    ) -> Result<(NfsFile, post_op_attr), NfsError> {
        let path = dir.path_of(name);
        let args = LOOKUP3args { what: named(dir, name) };
        let take = results!(LOOKUP, ok => (Handle::from(ok.object), ok.obj_attributes));
        let (handle, attributes) = self.call(&path, NfsArguments::LOOKUP(args), take)?;
        Ok((NfsFile { handle, path }, attributes))
    }

    /// ACCESS: the allowed ones of the bits `ACCESS3_...`.
    pub fn access(&mut self, file: &NfsFile, access: u32) -> Result<u32, NfsError> {
        let args = ACCESS3args { object: file.handle.fh(), access };
        self.call(&file.path, NfsArguments::ACCESS(args), results!(ACCESS, ok => ok.access))
    }

    /// READLINK: the text of a symbolic link.
    pub fn readlink(&mut self, link: &NfsFile) -> Result<Vec<u8>, NfsError> {
        let args = READLINK3args { symlink: link.handle.fh() };
        let take = results!(READLINK, ok => ok.data.0.to_vec());
        self.call(&link.path, NfsArguments::READLINK(args), take)
    }

    /// READ: fills the start of `memory`, at most `rsize` bytes. Returns their number and whether
    /// the file ends there.
    pub fn read(
        &mut self,
        file: &NfsFile,
        offset: u64,
        memory: &mut [u8],
    ) -> Result<(usize, bool), NfsError> {
        let count = memory.len().min(self.mounted().rsize_bytes as usize) as u32;
        let args = READ3args { file: file.handle.fh(), offset, count };
        let memory = std::cell::RefCell::new(memory);
        let take = results!(READ, ok => {
            let mut memory = memory.borrow_mut();
            let bytes = ok.data.0.len().min(count as usize);
            memory[..bytes].copy_from_slice(&ok.data.0[..bytes]);
            (ok.data.0.len(), ok.count, ok.eof)
        });
        let (bytes, announced, eof) = self.call(&file.path, NfsArguments::READ(args), take)?;
        match fault::of_read((offset, count), announced, bytes, eof) {
            None => Ok((bytes, eof)),
            Some(fault) => Err(broken(file, fault)),
        }
    }

    /// WRITE: writes the start of `data`, at most `wsize` bytes.
    pub fn write(
        &mut self,
        file: &NfsFile,
        offset: u64,
        data: &[u8],
        stable: stable_how,
    ) -> Result<Written, NfsError> {
        let count = data.len().min(self.mounted().wsize_bytes as usize);
        let data = Data(&data[..count]);
        let args = WRITE3args { file: file.handle.fh(), offset, count: count as u32, stable, data };
        let take = results!(WRITE, ok => Written {
            bytes: ok.count,
            committed: ok.committed,
            verifier: ok.verf,
        });
        let written = self.call(&file.path, NfsArguments::WRITE(args), take)?;
        let Written { bytes, committed, .. } = written;
        match fault::of_write((offset, count as u32), stable, bytes, committed) {
            None => Ok(written),
            Some(fault) => Err(broken(file, fault)),
        }
    }

    /// CREATE: creates a file in `dir`. If the server returns no handle, the file is looked up.
    pub fn create(
        &mut self,
        dir: &NfsFile,
        name: &[u8],
        how: createhow3,
    ) -> Result<(NfsFile, post_op_attr), NfsError> {
        let args = CREATE3args { r#where: named(dir, name), how };
        let take = results!(CREATE, ok => created(ok.obj, ok.obj_attributes));
        let created = self.call(&dir.path_of(name), NfsArguments::CREATE(args), take)?;
        self.found(dir, name, created)
    }

    /// MKDIR: creates a directory in `dir`.
    pub fn mkdir(
        &mut self,
        dir: &NfsFile,
        name: &[u8],
        attributes: sattr3,
    ) -> Result<(NfsFile, post_op_attr), NfsError> {
        let args = MKDIR3args { r#where: named(dir, name), attributes };
        let take = results!(MKDIR, ok => created(ok.obj, ok.obj_attributes));
        let created = self.call(&dir.path_of(name), NfsArguments::MKDIR(args), take)?;
        self.found(dir, name, created)
    }

    /// SYMLINK: creates a symbolic link with `text` in `dir`.
    pub fn symlink(
        &mut self,
        dir: &NfsFile,
        name: &[u8],
        attributes: sattr3,
        text: &[u8],
    ) -> Result<(NfsFile, post_op_attr), NfsError> {
        let symlink =
            symlinkdata3 { symlink_attributes: attributes, symlink_data: filename3(text) };
        let args = SYMLINK3args { r#where: named(dir, name), symlink };
        let take = results!(SYMLINK, ok => created(ok.obj, ok.obj_attributes));
        let created = self.call(&dir.path_of(name), NfsArguments::SYMLINK(args), take)?;
        self.found(dir, name, created)
    }

    /// MKNOD: creates a device, a socket or a named pipe in `dir`.
    pub fn mknod(
        &mut self,
        dir: &NfsFile,
        name: &[u8],
        what: mknoddata3,
    ) -> Result<(NfsFile, post_op_attr), NfsError> {
        let args = MKNOD3args { r#where: named(dir, name), what };
        let take = results!(MKNOD, ok => created(ok.obj, ok.obj_attributes));
        let created = self.call(&dir.path_of(name), NfsArguments::MKNOD(args), take)?;
        self.found(dir, name, created)
    }

    /// What was created; looked up if the server did not return its handle.
    fn found(
        &mut self,
        dir: &NfsFile,
        name: &[u8],
        (handle, attributes): Created,
    ) -> Result<(NfsFile, post_op_attr), NfsError> {
        match handle {
            Some(handle) => Ok((NfsFile { handle, path: dir.path_of(name) }, attributes)),
            None => self.lookup(dir, name),
        }
    }

    /// REMOVE: removes the name of a file that is not a directory.
    pub fn remove(&mut self, dir: &NfsFile, name: &[u8]) -> Result<(), NfsError> {
        let args = REMOVE3args { object: named(dir, name) };
        self.call(&dir.path_of(name), NfsArguments::REMOVE(args), results!(REMOVE, _ => ()))
    }

    /// RMDIR: removes an empty directory.
    pub fn rmdir(&mut self, dir: &NfsFile, name: &[u8]) -> Result<(), NfsError> {
        let args = RMDIR3args { object: named(dir, name) };
        self.call(&dir.path_of(name), NfsArguments::RMDIR(args), results!(RMDIR, _ => ()))
    }

    /// RENAME: renames `name` in `dir` to `to_name` in `to`, replacing an entry with that name.
    pub fn rename(
        &mut self,
        (dir, name): (&NfsFile, &[u8]),
        (to, to_name): (&NfsFile, &[u8]),
    ) -> Result<(), NfsError> {
        let args = RENAME3args { from: named(dir, name), to: named(to, to_name) };
        let path = format!("{} to {}", dir.path_of(name), to.path_of(to_name));
        self.call(&path, NfsArguments::RENAME(args), results!(RENAME, _ => ()))
    }

    /// LINK: gives `file` the additional name `name` in `dir`.
    pub fn link(&mut self, file: &NfsFile, dir: &NfsFile, name: &[u8]) -> Result<(), NfsError> {
        let args = LINK3args { file: file.handle.fh(), link: named(dir, name) };
        self.call(&dir.path_of(name), NfsArguments::LINK(args), results!(LINK, _ => ()))
    }

    /// FSSTAT: the free space of the file system of `file`.
    pub fn fsstat(&mut self, file: &NfsFile) -> Result<FSSTAT3resok, NfsError> {
        let args = FSSTAT3args { fsroot: file.handle.fh() };
        self.call(&file.path, NfsArguments::FSSTAT(args), results!(FSSTAT, ok => ok))
    }

    /// FSINFO: the server's limits and preferences.
    pub fn fsinfo(&mut self, file: &NfsFile) -> Result<FSINFO3resok, NfsError> {
        let args = FSINFO3args { fsroot: file.handle.fh() };
        self.call(&file.path, NfsArguments::FSINFO(args), results!(FSINFO, ok => ok))
    }

    /// PATHCONF: the limits of names and links.
    pub fn pathconf(&mut self, file: &NfsFile) -> Result<PATHCONF3resok, NfsError> {
        let args = PATHCONF3args { object: file.handle.fh() };
        self.call(&file.path, NfsArguments::PATHCONF(args), results!(PATHCONF, ok => ok))
    }

    /// COMMIT: makes written data of `file` durable. If the returned verifier differs from those of
    /// the WRITEs, the data must be rewritten.
    pub fn commit(&mut self, file: &NfsFile) -> Result<writeverf3, NfsError> {
        let args = COMMIT3args { file: file.handle.fh(), offset: 0, count: 0 };
        self.call(&file.path, NfsArguments::COMMIT(args), results!(COMMIT, ok => ok.verf))
    }
}
