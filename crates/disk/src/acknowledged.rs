//! The acknowledged length of the journal, in a separate file. It distinguishes a journal that lost
//! acknowledged changes from one with an incomplete end after a crash.
//!
//! After each sync of the journal, its number and length are written to `acknowledged`, before any
//! reply is sent. The kernel keeps what a killed process wrote, so after a kill this is exact: a
//! shorter journal has lost acknowledged changes. After a loss of power it may be older than the
//! journal, but never newer, so there is no false alarm, but a loss may go undetected.
//!
//! Two entries are written alternately, so that one is valid if writing the other is interrupted.

use std::fs::File;
use std::io;

use crate::folder::Folder;
use crate::host::{self, Call};

/// The file's name in the volume's directory, and its name while it is being created.
pub(crate) const NAME: &str = "acknowledged";
pub(crate) const NEW_NAME: &str = "acknowledged.new";

const MAGIC: [u8; 8] = *b"4cackn1\n";
const ENTRY_BYTES: usize = 8 + 16 + 8 + 8 + 8 + 4;

/// Distance of the entries, so that each is in a separate sector.
const ENTRY_EVERY: u64 = 512;

/// An entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mark {
    /// The boot ID of the kernel at the time; zeros if it has none.
    pub(crate) boot: [u8; 16],
    /// The journal's number.
    pub(crate) number: u64,
    /// The journal's acknowledged length in bytes.
    pub(crate) length: u64,
    /// Batches in this length, without the initial tree.
    pub(crate) batches: u64,
}

impl Mark {
    /// Whether the kernel has not been restarted since, so that all written data exists.
    pub(crate) fn is_of_this_boot(&self) -> bool {
        self.boot != [0; 16] && self.boot == boot()
    }

    fn bytes(&self) -> [u8; ENTRY_BYTES] {
        let mut bytes = [0; ENTRY_BYTES];
        bytes[..8].copy_from_slice(&MAGIC);
        bytes[8..24].copy_from_slice(&self.boot);
        for (at, number) in [(24, self.number), (32, self.length), (40, self.batches)] {
            bytes[at..at + 8].copy_from_slice(&number.to_le_bytes());
        }
        let check = crc32c::crc32c(&bytes[..48]);
        bytes[48..].copy_from_slice(&check.to_le_bytes());
        bytes
    }

    fn from_bytes(bytes: &[u8; ENTRY_BYTES]) -> Option<Mark> {
        let number = |at: usize| {
            let part = bytes[at..].first_chunk().expect("an entry is long enough");
            u64::from_le_bytes(*part)
        };
        let boot = *bytes[8..].first_chunk().expect("an entry is long enough");
        let mark = Mark { boot, number: number(24), length: number(32), batches: number(40) };
        (mark.bytes() == *bytes).then_some(mark)
    }
}

/// The kernel's boot ID (`random(4)`); zeros if it has none.
fn boot() -> [u8; 16] {
    let text = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let digits: String = text.chars().filter(char::is_ascii_hexdigit).collect();
    u128::from_str_radix(&digits, 16).unwrap_or_default().to_be_bytes()
}

/// The open file.
#[derive(Debug)]
pub(crate) struct Acknowledged {
    file: File,
    /// The newest entry.
    mark: Mark,
    /// Number of entries written, which determines the position of the next one.
    written: u64,
}

impl Acknowledged {
    /// The newest valid entry, if any.
    pub(crate) fn read(folder: &Folder) -> io::Result<Option<Mark>> {
        let file = match folder.file(NAME) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let mut newest: Option<Mark> = None;
        for index in 0..2 {
            let mut bytes = [0; ENTRY_BYTES];
            host::read(&file, index * ENTRY_EVERY, &mut bytes)?;
            if let Some(mark) = Mark::from_bytes(&bytes) {
                let is_newer = |old: Mark| (mark.number, mark.length) > (old.number, old.length);
                if newest.is_none_or(is_newer) {
                    newest = Some(mark);
                }
            }
        }
        Ok(newest)
    }

    /// Replaces the file by one with a single entry, durably.
    pub(crate) fn create(folder: &Folder, number: u64, length: u64) -> io::Result<Acknowledged> {
        folder.remove(NEW_NAME)?;
        let file = host::open(|| folder.create(NEW_NAME))?;
        let mark = Mark { boot: boot(), number: 0, length: 0, batches: 0 };
        let mut acknowledged = Acknowledged { file, mark, written: 0 };
        acknowledged.write(number, length, 0)?;
        acknowledged.sync()?;
        folder.rename(NEW_NAME, NAME)?;
        folder.sync()?;
        Ok(acknowledged)
    }

    /// Writes the length that may be acknowledged, if it has changed.
    pub(crate) fn write(&mut self, number: u64, length: u64, batches: u64) -> io::Result<()> {
        let mark = Mark { boot: self.mark.boot, number, length, batches };
        if mark != self.mark {
            let at = self.written % 2 * ENTRY_EVERY;
            host::write(Call::Acknowledge, &self.file, at, &mark.bytes())?;
            self.mark = mark;
            self.written += 1;
        }
        Ok(())
    }

    /// Makes the file durable, for a loss of power after the service has ended.
    pub(crate) fn sync(&self) -> io::Result<()> {
        self.file.sync_data()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::FileExt;

    #[test]
    fn the_newest_valid_entry_is_read_and_another_boot_is_detected() {
        let directory = tempfile::tempdir().unwrap();
        let folder = Folder::open_or_create(directory.path()).unwrap();
        assert_eq!(Acknowledged::read(&folder).unwrap(), None);
        let mut acknowledged = Acknowledged::create(&folder, 3, 100).unwrap();
        for batches in 1..4 {
            acknowledged.write(3, 100 + batches, batches).unwrap();
            let mark = Acknowledged::read(&folder).unwrap().unwrap();
            assert_eq!((mark.number, mark.length, mark.batches), (3, 100 + batches, batches));
            assert!(mark.is_of_this_boot());
            assert!(!Mark { boot: [1; 16], ..mark }.is_of_this_boot());
            assert!(!Mark { boot: [0; 16], ..mark }.is_of_this_boot());
        }
        // The last entry is damaged, so the previous one is read.
        acknowledged.file.write_all_at(b"x", ENTRY_EVERY + 40).unwrap();
        assert_eq!(Acknowledged::read(&folder).unwrap().unwrap().batches, 2);
        acknowledged.file.write_all_at(b"x", 40).unwrap();
        assert_eq!(Acknowledged::read(&folder).unwrap(), None);
    }
}
