//! The journal: units of records, each there whole or not at all.
//!
//! A file begins with a line that says its format, a number that is higher than that of each
//! journal before it, and a checksum of both; frames follow. (Format 1 has the line only; it is
//! read, and its number is 0.) A frame is a mark, the length of
//! its unit, its own position in the file, the position up to which everything was safe when it was
//! written, and a checksum (CRC-32C) over these and the unit. All numbers are little-endian.
//!
//! A crash can leave the end of the file in any state, from the first byte that was not yet safe.
//! Which byte that was is told by the frames themselves: where a frame is wrong and a later one
//! says that the place was safe, something else than a crash has been at the file, and it is
//! refused. Where none says so, it and what follows is cut off. Whether anybody was promised what
//! is missing at the end, no journal can say of itself: `acknowledged.rs` does.
//! The whole tree that a journal begins with ends with an empty frame and was safe before the file
//! had its name.

use std::fs::File;
use std::io;

use crate::folder::Folder;
use crate::host::{self, Call};

/// Its name in the volume's directory, and the name of the next one while it is being written.
pub(crate) const NAME: &str = "journal";
pub(crate) const NEW_NAME: &str = "journal.new";

/// The first line of a journal of this format, and of the one before it.
pub(crate) const FORMAT: &str = "fourcorners journal 2\n";
const FORMAT_1: &str = "fourcorners journal 1\n";

/// The line, the journal's number, and the checksum of both.
const HEAD_BYTES: usize = FORMAT.len() + 8 + 4;

const MARK: [u8; 4] = *b"4CVF";
const FRAME_BYTES: usize = 4 + 4 + 8 + 8 + 4;

/// Room that is taken ahead, so that the answer NFS3ERR_NOSPC comes before the work and not after
/// it; what one turn of a server appends is far less than the lower figure.
const RESERVE_BYTES: u64 = 8 << 20;
const RESERVE_LEFT_BYTES: u64 = 2 << 20;

/// A journal is written anew when it has this much more than four times what it began with.
const GROWTH_BYTES: u64 = 64 << 20;

#[derive(Debug)]
pub(crate) struct Journal {
    file: File,
    /// Higher than that of every journal before it.
    pub(crate) number: u64,
    /// Frames that were appended to what it began with.
    appended: u64,
    /// Of them, those that are safe.
    pub(crate) safe_appended: u64,
    /// Length.
    end: u64,
    /// Everything before this is safe.
    pub(crate) safe: u64,
    /// Up to where room is taken.
    reserved: u64,
    /// What it began with; 0 as long as it is being begun.
    began_with: u64,
    /// It is to be begun anew when it is longer than this.
    grown_at: u64,
    /// True if no room could be taken for much more.
    pub(crate) full: bool,
    buffer: Vec<u8>,
}

impl Journal {
    /// Writes a journal that begins with these units, safely, beside the one that is there.
    pub(crate) fn begin(
        folder: &Folder,
        number: u64,
        units: &mut dyn Iterator<Item = Vec<u8>>,
    ) -> io::Result<Journal> {
        folder.remove(NEW_NAME)?;
        let file = host::open(|| folder.create(NEW_NAME))?;
        let mut journal = Journal::of(file, number, head(number));
        for unit in units {
            journal.frame(&unit);
            journal.write()?;
        }
        journal.frame(&[]);
        journal.write()?;
        host::sync(Call::SyncJournal, &journal.file)?;
        journal.safe = journal.end;
        journal.began_with = journal.end;
        journal.grown_at = 4 * journal.end + GROWTH_BYTES;
        folder.rename(NEW_NAME, NAME)?;
        Ok(journal)
    }

    /// Gives back the room that was taken ahead for a journal that nobody writes any more. What
    /// is in it stays.
    pub(crate) fn give_back_room(folder: &Folder) -> io::Result<()> {
        let file = folder.file(NAME)?;
        file.set_len(file.metadata()?.len())
    }

    /// Lets it grow on, where another one could not be begun.
    pub(crate) fn grow_on(&mut self) {
        self.grown_at = self.end + GROWTH_BYTES;
    }

    /// Appends a unit with one write.
    pub(crate) fn append(&mut self, unit: &[u8]) -> io::Result<()> {
        self.buffer.clear();
        self.frame(unit);
        self.write()?;
        self.appended += 1;
        self.reserve()
    }

    /// One that is being begun.
    fn of(file: File, number: u64, buffer: Vec<u8>) -> Journal {
        Journal {
            file,
            number,
            appended: 0,
            safe_appended: 0,
            end: 0,
            safe: 0,
            reserved: 0,
            began_with: 0,
            grown_at: 0,
            full: false,
            buffer,
        }
    }

    /// Makes everything safe.
    pub(crate) fn sync(&mut self) -> io::Result<()> {
        if self.safe < self.end {
            host::sync(Call::SyncJournal, &self.file)?;
            (self.safe, self.safe_appended) = (self.end, self.appended);
        }
        Ok(())
    }

    pub(crate) fn has_grown(&self) -> bool {
        self.end > self.grown_at
    }

    /// Takes room ahead; notes where there is none.
    pub(crate) fn reserve(&mut self) -> io::Result<()> {
        if self.reserved >= self.end + RESERVE_LEFT_BYTES {
            self.full = false;
            return Ok(());
        }
        // The second length is not enough for anything new, but for removing some of the old.
        for length in [RESERVE_BYTES, RESERVE_LEFT_BYTES / 2] {
            match host::reserve(&self.file, self.end, length) {
                Ok(true) => self.reserved = self.reserved.max(self.end + length),
                Ok(false) => self.reserved = u64::MAX,
                Err(error) if host::answer(&error) == files::Error::NoSpc => continue,
                Err(error) => return Err(error),
            }
            break;
        }
        self.full = self.reserved < self.end + RESERVE_LEFT_BYTES;
        Ok(())
    }

    /// Puts a frame into the buffer, behind what is in it.
    fn frame(&mut self, unit: &[u8]) {
        let position = self.end + self.buffer.len() as u64;
        // A journal that is being begun gets its name only when all of it is safe.
        let safe = if self.began_with == 0 { position } else { self.safe };
        let mut head = [0; FRAME_BYTES - 4];
        head[..4].copy_from_slice(&MARK);
        head[4..8].copy_from_slice(&(unit.len() as u32).to_le_bytes());
        head[8..16].copy_from_slice(&position.to_le_bytes());
        head[16..].copy_from_slice(&safe.to_le_bytes());
        let check = crc32c::crc32c_append(crc32c::crc32c(&head), unit);
        self.buffer.extend(head);
        self.buffer.extend(check.to_le_bytes());
        self.buffer.extend(unit);
    }

    fn write(&mut self) -> io::Result<()> {
        host::write(Call::Append, &self.file, self.end, &self.buffer)?;
        self.end += self.buffer.len() as u64;
        self.buffer.clear();
        Ok(())
    }
}

fn head(number: u64) -> Vec<u8> {
    let mut head = Vec::from(FORMAT);
    head.extend(number.to_le_bytes());
    head.extend(crc32c::crc32c(&head).to_le_bytes());
    head
}

/// What is wrong with a journal, and where.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Wrong {
    /// It begins with another line.
    Format(String),
    /// What was safe is not as it was written.
    Damaged { offset: u64, what: String },
}

/// The units of a journal, each with its position, and where what a crash left begins.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Units<'a> {
    pub(crate) number: u64,
    pub(crate) units: Vec<(u64, &'a [u8])>,
    /// Units that were appended to what the journal began with.
    pub(crate) appended: u64,
    pub(crate) cut: Option<u64>,
}

/// The number of a journal, and where its frames begin.
fn read_head(bytes: &[u8]) -> Result<(u64, usize), Wrong> {
    if bytes.starts_with(FORMAT_1.as_bytes()) {
        return Ok((0, FORMAT_1.len()));
    }
    let whole = bytes.get(..HEAD_BYTES).filter(|_| bytes.starts_with(FORMAT.as_bytes()));
    let number = whole.and_then(|whole| whole[FORMAT.len()..].first_chunk());
    let number = number.map(|number| u64::from_le_bytes(*number));
    if let Some(number) = number.filter(|number| whole == Some(&head(*number))) {
        return Ok((number, HEAD_BYTES));
    }
    let is_ours = |format: &str| {
        let shared = bytes.len().min(format.len());
        bytes[..shared] == format.as_bytes()[..shared]
    };
    if is_ours(FORMAT) || is_ours(FORMAT_1) {
        let what = format!("its {} bytes do not begin as a journal does", bytes.len());
        return Err(Wrong::Damaged { offset: 0, what });
    }
    let line = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let line = &line[..line.len().min(FORMAT.len())];
    Err(Wrong::Format(line.escape_ascii().to_string()))
}

pub(crate) fn units(bytes: &[u8]) -> Result<Units<'_>, Wrong> {
    let (number, mut at) = read_head(bytes)?;
    let mut units = Vec::new();
    let mut begun = false;
    let mut appended = 0;
    while at < bytes.len() {
        let Some(frame) = Frame::at(bytes, at) else {
            if !begun {
                let what = "the tree that it begins with is not whole".to_owned();
                return Err(Wrong::Damaged { offset: at as u64, what });
            }
            let mut later = (at + 1..bytes.len()).filter_map(|at| Frame::at(bytes, at));
            if let Some(later) = later.find(|later| later.safe > at as u64) {
                let what = format!(
                    "a checksum is wrong, and the record at byte {} says that it was safe",
                    later.position
                );
                return Err(Wrong::Damaged { offset: at as u64, what });
            }
            return Ok(Units { number, units, appended, cut: Some(at as u64) });
        };
        appended += u64::from(begun);
        begun |= frame.unit.is_empty();
        units.push((frame.position, frame.unit));
        at += FRAME_BYTES + frame.unit.len();
    }
    if !begun {
        let what = "the tree that it begins with is not whole".to_owned();
        return Err(Wrong::Damaged { offset: at as u64, what });
    }
    Ok(Units { number, units, appended, cut: None })
}

struct Frame<'a> {
    position: u64,
    safe: u64,
    unit: &'a [u8],
}

impl Frame<'_> {
    /// The frame that begins there, if one does.
    fn at(bytes: &[u8], at: usize) -> Option<Frame<'_>> {
        let rest = bytes[at..].strip_prefix(&MARK)?;
        let (length, rest) = rest.split_first_chunk::<4>()?;
        let (position, rest) = rest.split_first_chunk::<8>()?;
        let (safe, rest) = rest.split_first_chunk::<8>()?;
        let (check, rest) = rest.split_first_chunk::<4>()?;
        let unit = rest.get(..u32::from_le_bytes(*length) as usize)?;
        let position = u64::from_le_bytes(*position);
        let head = &bytes[at..at + FRAME_BYTES - 4];
        let right = crc32c::crc32c_append(crc32c::crc32c(head), unit);
        let safe = u64::from_le_bytes(*safe);
        let whole = position == at as u64 && right == u32::from_le_bytes(*check);
        whole.then_some(Frame { position, safe, unit })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A journal with a beginning of two units and four more, of which the second and the third
    /// were made safe together; and where each of the four begins.
    fn journal() -> (Vec<u8>, Vec<u64>) {
        let place = tempfile::tempdir().unwrap();
        let folder = Folder::open_or_make(place.path()).unwrap();
        let mut first = vec![b"one".to_vec(), b"two".to_vec()].into_iter();
        let mut journal = Journal::begin(&folder, 7, &mut first).unwrap();
        let mut begins = Vec::new();
        for (unit, sync) in [(&b"three"[..], true), (b"4", false), (b"five", true), (b"6", false)] {
            begins.push(journal.end);
            journal.append(unit).unwrap();
            if sync {
                journal.sync().unwrap();
            }
        }
        assert_eq!((journal.appended, journal.safe_appended), (4, 3));
        (std::fs::read(place.path().join(NAME)).unwrap(), begins)
    }

    #[test]
    fn a_journal_cut_anywhere_gives_a_beginning_of_its_units_or_is_refused() {
        let (bytes, begins) = journal();
        let all = units(&bytes).unwrap();
        assert_eq!(
            all.units.iter().map(|(_, unit)| unit.len()).sum::<usize>(),
            3 + 3 + 5 + 1 + 4 + 1
        );
        assert_eq!((all.number, all.appended, all.cut), (7, 4, None));
        for length in 0..bytes.len() {
            match units(&bytes[..length]) {
                Ok(found) => {
                    assert!(length as u64 >= begins[0], "{length}");
                    assert!(all.units.starts_with(&found.units));
                    let end = begins.iter().filter(|begin| **begin <= length as u64).max();
                    let at_edge = end == Some(&(length as u64));
                    assert_eq!(found.cut, (!at_edge).then(|| *end.unwrap()), "{length}");
                }
                Err(_) => assert!((length as u64) < begins[0], "{length}"),
            }
        }
    }

    #[test]
    fn a_changed_byte_is_refused_where_it_was_safe_and_ends_the_journal_where_it_was_not() {
        let (bytes, begins) = journal();
        let all = units(&bytes).unwrap().units;
        for at in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[at] ^= 0x10;
            let at = at as u64;
            match units(&changed) {
                Err(Wrong::Format(_)) => assert!(at < FORMAT.len() as u64),
                Err(Wrong::Damaged { offset, .. }) => {
                    assert!(at < begins[3], "{at}: nobody was promised this");
                    assert!(offset <= at && at < offset + 64);
                }
                Ok(found) => {
                    assert!(at >= begins[3], "{at}: it was promised");
                    assert_eq!(found.units, all[..all.len() - 1]);
                }
            }
        }
    }

    #[test]
    fn what_was_not_safe_may_be_missing_before_what_was_written_after_it() {
        let place = tempfile::tempdir().unwrap();
        let folder = Folder::open_or_make(place.path()).unwrap();
        let mut journal = Journal::begin(&folder, 1, &mut std::iter::empty()).unwrap();
        let begin = journal.end as usize;
        journal.append(b"lost").unwrap();
        journal.append(b"there").unwrap();
        let mut bytes = std::fs::read(place.path().join(NAME)).unwrap();
        bytes[begin..begin + FRAME_BYTES].fill(0);
        let found = units(&bytes).unwrap();
        assert_eq!((found.units.len(), found.cut), (1, Some(begin as u64)));
    }

    #[test]
    fn another_format_is_told_from_damage_and_the_one_before_is_read() {
        let wrong = units(b"fourcorners journal 3\nwhatever");
        assert_eq!(wrong, Err(Wrong::Format("fourcorners journal 3".into())));
        for emptied in [&b""[..], b"four", b"fourcorners journal 2\n\0\0\0"] {
            assert!(matches!(units(emptied), Err(Wrong::Damaged { offset: 0, .. })));
        }
        let mut old = Journal::of(tempfile::tempfile().unwrap(), 0, FORMAT_1.into());
        old.frame(b"");
        let found = units(&old.buffer).unwrap();
        assert_eq!((found.number, found.units.len()), (0, 1));
    }
}
