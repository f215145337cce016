//! Records: the tree as bytes, for a [`Storage`](crate::Storage) to keep.
//!
//! A record says how one thing is now, not what was done to it: an inode, a name of a directory, or
//! that either is gone. So a whole tree is written in the same records as a change of it, applying
//! one twice is applying it once, and several changes of one thing within a unit are one record.
//!
//! All numbers are little-endian. Each record begins with a byte that says its kind; lengths follow
//! from the kind. A later version adds kinds and never changes one.

use std::fmt;

use crate::attributes::{Kind, Time};

/// Why records cannot be read, or what in them contradicts itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage(pub(crate) String);

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Damage {}

const VOLUME: u8 = 1;
const INODE: u8 = 2;
const GONE: u8 = 3;
const NAME: u8 = 4;
const NO_NAME: u8 = 5;

/// The kind of an inode that is a regular file of which data was promised to be safe: beyond those
/// of the protocol, which a file without promised data has.
const PROMISED_FILE: u8 = 8;

/// One record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Record<'a> {
    /// What stays the same as long as the volume exists: the first record of all.
    Volume { fsid: u64, birth: u64 },
    /// An inode; what a directory or a file holds stays, unless it is of another generation.
    Inode(InodeRecord<'a>),
    /// No inode has this number; the next one will have this generation.
    Gone { fileid: u64, generation: u32 },
    /// A name in a directory.
    Name { directory: u64, cookie: u64, fileid: u64, name: &'a [u8] },
    /// A name that a directory does not have.
    NoName { directory: u64, name: &'a [u8] },
}

/// What is kept of an inode.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct InodeRecord<'a> {
    pub(crate) fileid: u64,
    pub(crate) generation: u32,
    pub(crate) mode: u32,
    pub(crate) uid: u32,
    pub(crate) gid: u32,
    pub(crate) names: u32,
    pub(crate) atime: Time,
    pub(crate) mtime: Time,
    pub(crate) ctime: Time,
    pub(crate) body: BodyRecord<'a>,
}

/// And of its body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum BodyRecord<'a> {
    File { size: u64, exclusive: Option<[u8; 8]>, promised: bool },
    Directory { parent: u64, next_cookie: u64 },
    Symlink(&'a [u8]),
    Special(Kind, (u32, u32)),
}

impl Record<'_> {
    /// Appends its bytes.
    pub(crate) fn put(&self, to: &mut Vec<u8>) {
        match self {
            Record::Volume { fsid, birth } => {
                to.push(VOLUME);
                to.extend(fsid.to_le_bytes());
                to.extend(birth.to_le_bytes());
            }
            Record::Inode(inode) => {
                to.push(INODE);
                to.extend(inode.fileid.to_le_bytes());
                for word in [inode.generation, inode.mode, inode.uid, inode.gid, inode.names] {
                    to.extend(word.to_le_bytes());
                }
                for time in [inode.atime, inode.mtime, inode.ctime] {
                    to.extend(time.seconds.to_le_bytes());
                    to.extend(time.nanoseconds.to_le_bytes());
                }
                inode.body.put(to);
            }
            Record::Gone { fileid, generation } => {
                to.push(GONE);
                to.extend(fileid.to_le_bytes());
                to.extend(generation.to_le_bytes());
            }
            Record::Name { directory, cookie, fileid, name } => {
                to.push(NAME);
                for number in [directory, cookie, fileid] {
                    to.extend(number.to_le_bytes());
                }
                put_bytes(name, to);
            }
            Record::NoName { directory, name } => {
                to.push(NO_NAME);
                to.extend(directory.to_le_bytes());
                put_bytes(name, to);
            }
        }
    }

    /// Takes one record from the beginning of some bytes.
    pub(crate) fn take<'a>(bytes: &mut &'a [u8]) -> Result<Record<'a>, Damage> {
        let mut from = Reader(bytes);
        let record = match from.byte()? {
            VOLUME => Record::Volume { fsid: from.long()?, birth: from.long()? },
            INODE => Record::Inode(InodeRecord {
                fileid: from.long()?,
                generation: from.word()?,
                mode: from.word()?,
                uid: from.word()?,
                gid: from.word()?,
                names: from.word()?,
                atime: from.time()?,
                mtime: from.time()?,
                ctime: from.time()?,
                body: from.body()?,
            }),
            GONE => Record::Gone { fileid: from.long()?, generation: from.word()? },
            NAME => Record::Name {
                directory: from.long()?,
                cookie: from.long()?,
                fileid: from.long()?,
                name: from.bytes()?,
            },
            NO_NAME => Record::NoName { directory: from.long()?, name: from.bytes()? },
            other => {
                return Err(Damage(format!(
                    "a record of kind {other}, which this version does not know"
                )));
            }
        };
        *bytes = from.0;
        Ok(record)
    }
}

impl BodyRecord<'_> {
    fn put(&self, to: &mut Vec<u8>) {
        match self {
            BodyRecord::File { size, exclusive, promised } => {
                to.push(if *promised { PROMISED_FILE } else { Kind::Regular as u8 });
                to.extend(size.to_le_bytes());
                to.push(u8::from(exclusive.is_some()));
                to.extend(exclusive.unwrap_or_default());
            }
            BodyRecord::Directory { parent, next_cookie } => {
                to.push(Kind::Directory as u8);
                to.extend(parent.to_le_bytes());
                to.extend(next_cookie.to_le_bytes());
            }
            BodyRecord::Symlink(text) => {
                to.push(Kind::Symlink as u8);
                put_bytes(text, to);
            }
            BodyRecord::Special(kind, (major, minor)) => {
                to.push(*kind as u8);
                to.extend(major.to_le_bytes());
                to.extend(minor.to_le_bytes());
            }
        }
    }
}

/// Names have at most 255 bytes and texts of links 4096.
fn put_bytes(bytes: &[u8], to: &mut Vec<u8>) {
    debug_assert!(bytes.len() <= usize::from(u16::MAX));
    to.extend((bytes.len() as u16).to_le_bytes());
    to.extend(bytes);
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, length: usize) -> Result<&'a [u8], Damage> {
        let Some((taken, rest)) = self.0.split_at_checked(length) else {
            return Err(Damage("a record that ends in its middle".into()));
        };
        self.0 = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Damage> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N)?);
        Ok(array)
    }

    fn byte(&mut self) -> Result<u8, Damage> {
        self.array::<1>().map(|[byte]| byte)
    }

    fn word(&mut self) -> Result<u32, Damage> {
        self.array().map(u32::from_le_bytes)
    }

    fn long(&mut self) -> Result<u64, Damage> {
        self.array().map(u64::from_le_bytes)
    }

    fn time(&mut self) -> Result<Time, Damage> {
        Ok(Time { seconds: self.word()?, nanoseconds: self.word()? })
    }

    fn bytes(&mut self) -> Result<&'a [u8], Damage> {
        let length = self.array().map(u16::from_le_bytes)?;
        self.take(usize::from(length))
    }

    fn body(&mut self) -> Result<BodyRecord<'a>, Damage> {
        let kind = self.byte()?;
        let special = match kind {
            1 | PROMISED_FILE => {
                let promised = kind == PROMISED_FILE;
                let size = self.long()?;
                let made_exclusively = self.byte()? != 0;
                let verifier = self.array()?;
                let exclusive = made_exclusively.then_some(verifier);
                return Ok(BodyRecord::File { size, exclusive, promised });
            }
            2 => {
                let parent = self.long()?;
                return Ok(BodyRecord::Directory { parent, next_cookie: self.long()? });
            }
            5 => return Ok(BodyRecord::Symlink(self.bytes()?)),
            3 => Kind::BlockDevice,
            4 => Kind::CharacterDevice,
            6 => Kind::Socket,
            7 => Kind::Fifo,
            other => return Err(Damage(format!("an inode of kind {other}, which there is not"))),
        };
        Ok(BodyRecord::Special(special, (self.word()?, self.word()?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inode(body: BodyRecord<'_>) -> Record<'_> {
        let time = |seconds| Time { seconds, nanoseconds: seconds + 1 };
        Record::Inode(InodeRecord {
            fileid: 1 << 40,
            generation: 2,
            mode: 3,
            uid: 4,
            gid: 5,
            names: 6,
            atime: time(7),
            mtime: time(9),
            ctime: time(11),
            body,
        })
    }

    #[test]
    fn every_record_is_read_as_it_was_written_and_no_beginning_of_it_is_one() {
        for record in [
            Record::Volume { fsid: 1, birth: u64::MAX },
            inode(BodyRecord::File { size: 1 << 62, exclusive: None, promised: false }),
            inode(BodyRecord::File { size: 1 << 62, exclusive: None, promised: true }),
            inode(BodyRecord::File { size: 0, exclusive: Some(*b"verifier"), promised: false }),
            inode(BodyRecord::Directory { parent: 2, next_cookie: 3 }),
            inode(BodyRecord::Symlink(&[b'x'; 4096])),
            inode(BodyRecord::Special(Kind::CharacterDevice, (1, 2))),
            inode(BodyRecord::Special(Kind::BlockDevice, (1, 2))),
            inode(BodyRecord::Special(Kind::Socket, (0, 0))),
            inode(BodyRecord::Special(Kind::Fifo, (0, 0))),
            Record::Gone { fileid: 9, generation: 8 },
            Record::Name { directory: 1, cookie: 2, fileid: 3, name: b"name\xff" },
            Record::NoName { directory: 1, name: &[b'n'; 255] },
        ] {
            let mut bytes = Vec::new();
            record.put(&mut bytes);
            for length in 0..bytes.len() {
                assert!(Record::take(&mut &bytes[..length]).is_err(), "{record:?} {length}");
            }
            bytes.push(77);
            let mut rest = &bytes[..];
            assert_eq!(Record::take(&mut rest), Ok(record));
            assert_eq!(rest, [77]);
        }
        assert!(Record::take(&mut &[0][..]).is_err());
    }
}
