//! Up to where the journal was acknowledged, kept outside of it: what tells a journal that was cut
//! from one that a crash left.
//!
//! After each sync of the journal its number and its length are written to `acknowledged`, before
//! any reply is sent. The kernel keeps what a killed process wrote, so after a kill this is exact:
//! a journal that ends before it has lost what somebody was promised. After a loss of power it may
//! be older than the journal, and never newer; it then raises no alarm, and may miss one.
//!
//! There are two entries, written in turn, so that one is whole whatever happens to the other.

use std::fs::File;
use std::io;

use crate::folder::Folder;
use crate::host::{self, Call};

/// Its name in the volume's directory.
pub(crate) const NAME: &str = "acknowledged";

const MAGIC: [u8; 8] = *b"4cackn1\n";
const ENTRY_BYTES: usize = 8 + 16 + 8 + 8 + 8 + 4;

/// Each in a sector of its own.
const ENTRY_EVERY: u64 = 512;

/// What was acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mark {
    /// The kernel's life in which it was written; zeros if it does not say.
    pub(crate) boot: [u8; 16],
    /// Of the journal.
    pub(crate) number: u64,
    /// Its length then, in bytes.
    pub(crate) length: u64,
    /// Records it had more than at its beginning.
    pub(crate) records: u64,
}

impl Mark {
    /// Whether the kernel has run since without a break, so that all that was written is there.
    pub(crate) fn is_of_this_boot(&self) -> bool {
        self.boot != [0; 16] && self.boot == boot()
    }

    fn bytes(&self) -> [u8; ENTRY_BYTES] {
        let mut bytes = [0; ENTRY_BYTES];
        bytes[..8].copy_from_slice(&MAGIC);
        bytes[8..24].copy_from_slice(&self.boot);
        for (at, number) in [(24, self.number), (32, self.length), (40, self.records)] {
            bytes[at..at + 8].copy_from_slice(&number.to_le_bytes());
        }
        let check = crc32c::crc32c(&bytes[..48]);
        bytes[48..].copy_from_slice(&check.to_le_bytes());
        bytes
    }

    fn of_bytes(bytes: &[u8; ENTRY_BYTES]) -> Option<Mark> {
        let number = |at: usize| {
            let part = bytes[at..].first_chunk().expect("an entry is longer than that");
            u64::from_le_bytes(*part)
        };
        let boot = *bytes[8..].first_chunk().expect("an entry is longer than that");
        let (length, records) = (number(32), number(40));
        let mark = Mark { boot, number: number(24), length, records };
        (mark.bytes() == *bytes).then_some(mark)
    }
}

/// The kernel's name for the time since it started (`random(4)`), as bytes; zeros if it has none.
fn boot() -> [u8; 16] {
    let text = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let digits: String = text.chars().filter(char::is_ascii_hexdigit).collect();
    u128::from_str_radix(&digits, 16).unwrap_or_default().to_be_bytes()
}

/// The file.
#[derive(Debug)]
pub(crate) struct Acknowledged {
    file: File,
    /// The newest entry.
    mark: Mark,
    /// Entries written, which says where the next one is to be.
    written: u64,
}

impl Acknowledged {
    /// The newest entry; `None` if there is none that is whole.
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
            if let Some(mark) = Mark::of_bytes(&bytes) {
                let is_newer = |old: Mark| (mark.number, mark.length) > (old.number, old.length);
                if newest.is_none_or(is_newer) {
                    newest = Some(mark);
                }
            }
        }
        Ok(newest)
    }

    /// Begins with one entry, safely, in the place of what is there.
    pub(crate) fn begin(folder: &Folder, number: u64, length: u64) -> io::Result<Acknowledged> {
        const NEW_NAME: &str = "acknowledged.new";
        folder.remove(NEW_NAME)?;
        let file = host::open(|| folder.create(NEW_NAME))?;
        let mark = Mark { boot: boot(), number: 0, length: 0, records: 0 };
        let mut acknowledged = Acknowledged { file, mark, written: 0 };
        acknowledged.note(number, length, 0)?;
        acknowledged.sync()?;
        folder.rename(NEW_NAME, NAME)?;
        folder.sync()?;
        Ok(acknowledged)
    }

    /// Notes what may be acknowledged from now on, if that is anything new.
    pub(crate) fn note(&mut self, number: u64, length: u64, records: u64) -> io::Result<()> {
        let mark = Mark { boot: self.mark.boot, number, length, records };
        if mark != self.mark {
            let at = self.written % 2 * ENTRY_EVERY;
            host::write(Call::Acknowledge, &self.file, at, &mark.bytes())?;
            self.mark = mark;
            self.written += 1;
        }
        Ok(())
    }

    /// Makes it safe, for a loss of power after the end of the service.
    pub(crate) fn sync(&self) -> io::Result<()> {
        self.file.sync_data()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::FileExt;

    #[test]
    fn the_newest_whole_entry_counts_and_another_boot_is_noticed() {
        let place = tempfile::tempdir().unwrap();
        let folder = Folder::open_or_make(place.path()).unwrap();
        assert_eq!(Acknowledged::read(&folder).unwrap(), None);
        let mut acknowledged = Acknowledged::begin(&folder, 3, 100).unwrap();
        for records in 1..4 {
            acknowledged.note(3, 100 + records, records).unwrap();
            let mark = Acknowledged::read(&folder).unwrap().unwrap();
            assert_eq!((mark.number, mark.length, mark.records), (3, 100 + records, records));
            assert!(mark.is_of_this_boot());
            assert!(!Mark { boot: [1; 16], ..mark }.is_of_this_boot());
            assert!(!Mark { boot: [0; 16], ..mark }.is_of_this_boot());
        }
        // The entry that was written last is torn: the one before it counts.
        acknowledged.file.write_all_at(b"x", ENTRY_EVERY + 40).unwrap();
        assert_eq!(Acknowledged::read(&folder).unwrap().unwrap().records, 2);
        acknowledged.file.write_all_at(b"x", 40).unwrap();
        assert_eq!(Acknowledged::read(&folder).unwrap(), None);
    }
}
