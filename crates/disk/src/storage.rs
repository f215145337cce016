//! The storage under one volume: its journal and its host files together.

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use files::{DataId, Error, Storage};

use crate::bodies::Bodies;
use crate::directory::Held;
use crate::host;
use crate::journal::Journal;

/// Who is told of what went wrong.
pub(crate) type Tell = dyn Fn(&str) + Send + Sync;

/// One volume's directory.
pub(crate) struct Disk {
    folder: PathBuf,
    tell: Arc<Tell>,
    state: Mutex<State>,
    /// The lock on the directory of all volumes, and this volume's name in it.
    _held: Held,
}

#[derive(Debug)]
struct State {
    /// `None` until the file system has handed over its tree.
    journal: Option<Journal>,
    bodies: Bodies,
    /// What was told last, so that a disk that stays full is told of once.
    told: Option<(&'static str, Option<i32>)>,
}

impl fmt::Debug for Disk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Disk({})", self.folder.display())
    }
}

impl Disk {
    pub(crate) fn new(folder: PathBuf, tell: Arc<Tell>, held: Held) -> Disk {
        let bodies = Bodies::new(&folder.join("data"));
        let state = Mutex::new(State { journal: None, bodies, told: None });
        Disk { folder, tell, state, _held: held }
    }

    /// A thread that panicked while it held the lock left counts that are right or too high.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The answer to a failure, which is told.
    fn refuse(&self, state: &mut State, what: &'static str, error: &io::Error) -> Error {
        let kind = Some((what, error.raw_os_error()));
        if state.told != kind {
            state.told = kind;
            let remedy = match host::answer(error) {
                Error::NoSpc => "; make room on the disk, clients are answered NFS3ERR_NOSPC",
                _ => "",
            };
            (self.tell)(&format!("{what} in {}: {error}{remedy}", self.folder.display()));
        }
        host::answer(error)
    }

    /// Does something that may fail; success ends the silence about what failed before.
    fn attempt<T>(
        &self,
        what: &'static str,
        work: impl FnOnce(&mut State) -> io::Result<T>,
    ) -> Result<T, Error> {
        let mut state = self.state();
        match work(&mut state) {
            Ok(value) => {
                if state.told.is_some_and(|(told, _)| told == what) {
                    state.told = None;
                }
                Ok(value)
            }
            Err(error) => Err(self.refuse(&mut state, what, &error)),
        }
    }
}

impl Storage for Disk {
    fn read(&self, data: DataId, offset: u64, into: &mut [u8]) -> Result<(), Error> {
        let file = self.attempt("open a file's data", |state| state.bodies.find(data))?;
        // Not under the lock, so that one reading does not wait for another.
        let Some(file) = file else {
            into.fill(0);
            return Ok(());
        };
        host::read(&file, offset, into)
            .map_err(|error| self.refuse(&mut self.state(), "read a file's data", &error))
    }

    fn write(&self, data: DataId, offset: u64, bytes: &[u8], stable: bool) -> Result<(), Error> {
        self.attempt("write a file's data", |state| state.bodies.write(data, offset, bytes, stable))
    }

    fn cut(&self, data: DataId, size: u64) -> Result<(), Error> {
        self.attempt("cut a file's data", |state| state.bodies.cut(data, size))
    }

    fn commit(&self, data: DataId) -> Result<(), Error> {
        self.attempt("sync a file's data", |state| state.bodies.commit(data))
    }

    fn forget(&self, data: DataId) {
        self.state().bodies.forget(data);
    }

    fn append(&self, records: &[u8], durable: bool) -> Result<(), Error> {
        self.attempt("append to the journal", |state| {
            if durable {
                state.bodies.keep_promises()?;
            }
            let journal = state.journal.as_mut().ok_or(io::ErrorKind::NotConnected)?;
            if !records.is_empty() {
                journal.append(records)?;
            }
            if durable {
                journal.sync()?;
                state.bodies.remove_forgotten()?;
            }
            Ok(())
        })
    }

    fn replace(&self, units: &mut dyn Iterator<Item = Vec<u8>>) -> Result<(), Error> {
        let begun = self.attempt("write a new journal", |_| Journal::begin(&self.folder, units));
        let mut state = self.state();
        match (begun, &mut state.journal) {
            (Ok(journal), _) => state.journal = Some(journal),
            // The old one still has its name and goes on; what failed was told.
            (Err(_), Some(old)) => {
                old.grow_on();
                return Ok(());
            }
            (Err(error), None) => return Err(error),
        }
        drop(state);
        self.attempt("sync the directory", |state| match &mut state.journal {
            Some(journal) => journal.settle(&self.folder),
            None => Ok(()),
        })
    }

    fn wants_replacing(&self) -> bool {
        self.state().journal.as_ref().is_some_and(Journal::has_grown)
    }

    fn room(&self) -> Result<(), Error> {
        let full = |state: &State| state.journal.as_ref().is_some_and(|journal| journal.full);
        if !full(&self.state()) {
            return Ok(());
        }
        self.attempt("take room for the journal", |state| {
            if let Some(journal) = &mut state.journal {
                journal.reserve()?;
            }
            if full(state) { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use files::{Caller, Error, FileSystem, Handle, How, Options, SetAttributes, Stability, Time};

    use crate::Directory;
    use crate::host::Call;
    use crate::host::faults::FAULT;

    const ROOT: Caller<'static> = Caller { uid: 0, gid: 0, gids: &[], read_only: false };
    const NOW: Time = Time { seconds: 5, nanoseconds: 0 };
    const EIO: i32 = 5;
    const ENOSPC: i32 = 28;
    const EDQUOT: i32 = 122;

    struct Scene {
        fs: FileSystem,
        file: Handle,
        told: Arc<Mutex<Vec<String>>>,
        folder: tempfile::TempDir,
    }

    fn options() -> Options {
        Options {
            fsid: 1,
            instance: 1,
            quota: units::Bytes::gib(1),
            memory_max: units::Bytes::gib(1),
            inodes_max: 1000,
            file_size_max: units::Bytes::gib(1),
            links_max: 100,
            unstable: files::Unstable::Kept,
            transfer_max: 1 << 20,
            root: (0, 0, 0o755),
            made: NOW,
        }
    }

    fn scene() -> Scene {
        let folder = tempfile::tempdir().unwrap();
        let told = Arc::new(Mutex::new(Vec::new()));
        let tell = Arc::clone(&told);
        let tell = move |text: &str| tell.lock().unwrap().push(text.to_owned());
        let directory = Directory::open(folder.path(), tell).unwrap();
        let mut fs = directory.volume("v", options()).unwrap();
        let how = How::Guarded(SetAttributes::default());
        let file = fs.create(fs.root(), b"f", how, &ROOT, NOW).result.unwrap().handle;
        fs.write(file, 0, &[1; 8192], Stability::FileSync, &ROOT, NOW).result.unwrap();
        fs.sync().unwrap();
        Scene { fs, file, told, folder }
    }

    impl Scene {
        fn write(&mut self, stability: Stability) -> Result<(), Error> {
            self.fs.write(self.file, 4096, &[2; 8192], stability, &ROOT, NOW).result.map(drop)
        }
    }

    #[test]
    fn a_full_disk_is_nospc_and_a_failing_one_is_io_and_both_end_with_their_cause() {
        for (errno, error) in [(ENOSPC, Error::NoSpc), (EDQUOT, Error::NoSpc), (EIO, Error::Io)] {
            let mut scene = scene();
            let before = scene.fs.getattr(scene.file);
            FAULT.set(Some((Call::Write, errno)));
            for _ in 0..3 {
                assert_eq!(scene.write(Stability::Unstable), Err(error));
            }
            FAULT.set(None);
            assert_eq!(scene.told.lock().unwrap().len(), 1, "told once");
            assert_eq!(scene.fs.getattr(scene.file), before);
            assert_eq!(scene.write(Stability::FileSync), Ok(()));
            scene.fs.sync().unwrap();
            scene.fs.check();
        }
    }

    #[test]
    fn a_read_that_the_disk_cannot_do_is_io() {
        let scene = scene();
        FAULT.set(Some((Call::Read, EIO)));
        assert_eq!(scene.fs.read(scene.file, 0, 10, &ROOT).err(), Some(Error::Io));
        FAULT.set(None);
        assert!(scene.fs.read(scene.file, 0, 10, &ROOT).is_ok());
        let told = scene.told.lock().unwrap();
        assert!(told[0].contains("read a file's data in ") && told[0].contains("os error 5"));
    }

    #[test]
    fn a_commit_that_the_disk_cannot_keep_is_io_and_has_everybody_write_again() {
        let mut scene = scene();
        scene.write(Stability::Unstable).unwrap();
        let verifier = scene.fs.write_verifier();
        FAULT.set(Some((Call::SyncData, EIO)));
        assert_eq!(scene.fs.commit(scene.file, 0, 0).result, Err(Error::Io));
        FAULT.set(None);
        assert_ne!(scene.fs.write_verifier(), verifier);
        scene.fs.sync().unwrap();
    }

    #[test]
    fn what_was_promised_and_cannot_be_kept_fails_the_sync_and_every_change_after_it() {
        for call in [Call::SyncData, Call::Append, Call::SyncJournal] {
            let mut scene = scene();
            scene.write(Stability::DataSync).unwrap();
            FAULT.set(Some((call, EIO)));
            assert_eq!(scene.fs.sync(), Err(Error::Io), "{call:?}");
            FAULT.set(None);
            assert_eq!(scene.write(Stability::Unstable), Err(Error::Io));
            assert_eq!(scene.fs.sync(), Err(Error::Io));
            assert!(scene.fs.read(scene.file, 0, 10, &ROOT).is_ok());
        }
    }

    #[test]
    fn a_turn_syncs_each_file_once_and_one_without_promises_syncs_nothing() {
        let mut scene = scene();
        scene.write(Stability::Unstable).unwrap();
        for call in [Call::SyncData, Call::SyncJournal] {
            FAULT.set(Some((call, EIO)));
            scene.fs.sync().unwrap();
        }
        FAULT.set(None);
        for _ in 0..100 {
            scene.write(Stability::FileSync).unwrap();
        }
        scene.fs.sync().unwrap();
        scene.fs.commit(scene.file, 0, 0).result.unwrap();
        FAULT.set(Some((Call::SyncData, EIO)));
        assert!(scene.fs.commit(scene.file, 0, 0).result.is_ok(), "it is safe already");
        FAULT.set(None);
    }

    /// The bytes of the file after a crash now.
    fn after_a_crash(scene: Scene) -> Vec<u8> {
        let Scene { fs, file, folder, .. } = scene;
        drop(fs);
        let directory = Directory::open(folder.path(), |_| {}).unwrap();
        let fs = directory.volume("v", options()).unwrap();
        fs.check();
        fs.read(file, 0, 1 << 20, &ROOT).unwrap().pieces.collect::<Vec<_>>().concat()
    }

    #[test]
    fn data_is_cut_off_only_after_the_journal_says_so() {
        for call in [Call::Append, Call::SyncJournal] {
            let mut scene = scene();
            FAULT.set(Some((call, EIO)));
            let set = SetAttributes { size: Some(10), ..SetAttributes::default() };
            assert_eq!(scene.fs.setattr(scene.file, &set, None, &ROOT, NOW).result, Err(Error::Io));
            FAULT.set(None);
            let bytes = after_a_crash(scene);
            assert!(bytes.iter().all(|byte| *byte == 1), "{call:?}");
            // Whether a record reached the disk that was written and could not be made safe is
            // the disk's secret.
            assert_eq!(bytes.len(), if call == Call::Append { 8192 } else { 10 });
        }
    }

    #[test]
    fn the_journal_promises_no_data_that_is_not_safe() {
        let mut scene = scene();
        scene.write(Stability::DataSync).unwrap();
        FAULT.set(Some((Call::SyncData, EIO)));
        assert_eq!(scene.fs.sync(), Err(Error::Io));
        FAULT.set(None);
        assert_eq!(after_a_crash(scene).len(), 8192, "the journal knows nothing of the write");
    }

    #[test]
    fn where_no_room_is_left_for_the_journal_nothing_new_is_made_until_there_is() {
        let mut scene = scene();
        let how = How::Guarded(SetAttributes::default());
        FAULT.set(Some((Call::Reserve, ENOSPC)));
        let mut refused = None;
        // A record is about 100 bytes; the room that is taken ahead is 8 MiB.
        for number in 0..200_000 {
            let name = "n".repeat(200) + &number.to_string();
            let made = scene.fs.create(scene.fs.root(), name.as_bytes(), how, &ROOT, NOW);
            if let Err(error) = made.result {
                refused = Some(error);
                break;
            }
            scene.fs.remove(scene.fs.root(), name.as_bytes(), &ROOT, NOW).result.unwrap();
            if number % 100 == 0 {
                scene.fs.sync().unwrap();
            }
        }
        assert_eq!(refused, Some(Error::NoSpc));
        assert_eq!(scene.fs.remove(scene.fs.root(), b"f", &ROOT, NOW).result, Ok(()));
        scene.fs.sync().unwrap();
        FAULT.set(None);
        assert!(scene.fs.create(scene.fs.root(), b"g", how, &ROOT, NOW).result.is_ok());
        scene.fs.sync().unwrap();
    }
}
