//! Records: the tree as bytes, for a [`Storage`](crate::Storage).
//!
//! A record contains the new state of an inode or of a directory's name, or states that it no
//! longer exists. It does not contain the operation. So the whole tree is written in the same
//! records as a change, records are idempotent, and several changes of one object in a batch become
//! one record.
//!
//! All numbers are little-endian. The first byte of a record is its kind, which determines the
//! length. Later versions add kinds and never change one.

use std::fmt;

use crate::attributes::{Kind, Time};

/// Why records cannot be read, or how they contradict each other.
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
const NO_INODE: u8 = 3;
const NAME: u8 = 4;
const NO_NAME: u8 = 5;

/// Kind of a regular file with data that was acknowledged as durable. Other inodes have the kind of
/// the protocol (`ftype3`).
const DURABLE_FILE: u8 = 8;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Record<'a> {
    /// Constants of the volume; the first record.
    Volume { fsid: u64, birth: u64 },
    /// An inode. The entries or data of an inode of the same generation are kept.
    Inode(InodeRecord<'a>),
    /// A free inode number, and the generation of its next inode.
    NoInode { fileid: u64, generation: u32 },
    /// A name in a directory.
    Name { directory: u64, cookie: u64, fileid: u64, name: &'a [u8] },
    /// A name that is not in a directory.
    NoName { directory: u64, name: &'a [u8] },
}

/// The stored fields of an inode.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct InodeRecord<'a> {
    pub(crate) fileid: u64,
    pub(crate) generation: u32,
    pub(crate) mode: u32,
    pub(crate) uid: u32,
    pub(crate) gid: u32,
    pub(crate) links: u32,
    pub(crate) atime: Time,
    pub(crate) mtime: Time,
    pub(crate) ctime: Time,
    pub(crate) body: BodyRecord<'a>,
}

/// The stored fields of an inode's body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum BodyRecord<'a> {
    File { size: u64, exclusive: Option<[u8; 8]>, has_durable_data: bool },
    Directory { parent: u64, next_cookie: u64 },
    Symlink(&'a [u8]),
    Special(Kind, (u32, u32)),
}

impl Record<'_> {
    /// Appends the record to `to`.
    pub(crate) fn encode(&self, to: &mut Vec<u8>) {
        match self {
            Record::Volume { fsid, birth } => {
                to.push(VOLUME);
                to.extend(fsid.to_le_bytes());
                to.extend(birth.to_le_bytes());
            }
            Record::Inode(inode) => {
                to.push(INODE);
                to.extend(inode.fileid.to_le_bytes());
                for word in [inode.generation, inode.mode, inode.uid, inode.gid, inode.links] {
                    to.extend(word.to_le_bytes());
                }
                for time in [inode.atime, inode.mtime, inode.ctime] {
                    to.extend(time.seconds.to_le_bytes());
                    to.extend(time.nanoseconds.to_le_bytes());
                }
                inode.body.encode(to);
            }
            Record::NoInode { fileid, generation } => {
                to.push(NO_INODE);
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

    /// Reads one record and advances `bytes` past it.
    pub(crate) fn decode<'a>(bytes: &mut &'a [u8]) -> Result<Record<'a>, Damage> {
        let mut from = Reader(bytes);
        let record = match from.byte()? {
            VOLUME => Record::Volume { fsid: from.long()?, birth: from.long()? },
            INODE => Record::Inode(InodeRecord {
                fileid: from.long()?,
                generation: from.word()?,
                mode: from.word()?,
                uid: from.word()?,
                gid: from.word()?,
                links: from.word()?,
                atime: from.time()?,
                mtime: from.time()?,
                ctime: from.time()?,
                body: from.body()?,
            }),
            NO_INODE => Record::NoInode { fileid: from.long()?, generation: from.word()? },
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
    fn encode(&self, to: &mut Vec<u8>) {
        match self {
            BodyRecord::File { size, exclusive, has_durable_data } => {
                to.push(if *has_durable_data { DURABLE_FILE } else { Kind::Regular as u8 });
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

/// Names have at most 255 bytes, and targets of symbolic links 4096.
fn put_bytes(bytes: &[u8], to: &mut Vec<u8>) {
    debug_assert!(bytes.len() <= usize::from(u16::MAX));
    to.extend((bytes.len() as u16).to_le_bytes());
    to.extend(bytes);
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, length: usize) -> Result<&'a [u8], Damage> {
        let Some((taken, rest)) = self.0.split_at_checked(length) else {
            return Err(Damage("an incomplete record".into()));
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
            1 | DURABLE_FILE => {
                let size = self.long()?;
                let is_exclusive = self.byte()? != 0;
                let verifier = self.array()?;
                let exclusive = is_exclusive.then_some(verifier);
                return Ok(BodyRecord::File {
                    size,
                    exclusive,
                    has_durable_data: kind == DURABLE_FILE,
                });
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
            other => return Err(Damage(format!("an inode of unknown kind {other}"))),
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
            links: 6,
            atime: time(7),
            mtime: time(9),
            ctime: time(11),
            body,
        })
    }

    #[test]
    fn every_record_is_read_as_it_was_written_and_no_prefix_of_it_is_a_record() {
        for record in [
            Record::Volume { fsid: 1, birth: u64::MAX },
            inode(BodyRecord::File { size: 1 << 62, exclusive: None, has_durable_data: false }),
            inode(BodyRecord::File { size: 1 << 62, exclusive: None, has_durable_data: true }),
            inode(BodyRecord::File {
                size: 0,
                exclusive: Some(*b"verifier"),
                has_durable_data: false,
            }),
            inode(BodyRecord::Directory { parent: 2, next_cookie: 3 }),
            inode(BodyRecord::Symlink(&[b'x'; 4096])),
            inode(BodyRecord::Special(Kind::CharacterDevice, (1, 2))),
            inode(BodyRecord::Special(Kind::BlockDevice, (1, 2))),
            inode(BodyRecord::Special(Kind::Socket, (0, 0))),
            inode(BodyRecord::Special(Kind::Fifo, (0, 0))),
            Record::NoInode { fileid: 9, generation: 8 },
            Record::Name { directory: 1, cookie: 2, fileid: 3, name: b"name\xff" },
            Record::NoName { directory: 1, name: &[b'n'; 255] },
        ] {
            let mut bytes = Vec::new();
            record.encode(&mut bytes);
            for length in 0..bytes.len() {
                assert!(Record::decode(&mut &bytes[..length]).is_err(), "{record:?} {length}");
            }
            bytes.push(77);
            let mut rest = &bytes[..];
            assert_eq!(Record::decode(&mut rest), Ok(record));
            assert_eq!(rest, [77]);
        }
        assert!(Record::decode(&mut &[0][..]).is_err());
    }
}
