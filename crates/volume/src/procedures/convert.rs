//! Conversions between the types of `files` and those of the protocol.

use files::{Attributes, Error, Kind, SetAttributes, SetTime, Time, Wcc};
use nfs3::types::{
    fattr3, ftype3, nfsstat3, nfstime3, post_op_attr, sattr3, set_time, specdata3, wcc_attr,
    wcc_data,
};

pub(super) fn status(error: Error) -> nfsstat3 {
    nfsstat3(error.code())
}

fn time(time: Time) -> nfstime3 {
    nfstime3 { seconds: time.seconds, nseconds: time.nanoseconds }
}

pub(super) fn time_of(time: nfstime3) -> Time {
    Time { seconds: time.seconds, nanoseconds: time.nseconds }
}

pub(super) fn fattr(attributes: &Attributes) -> fattr3 {
    let (specdata1, specdata2) = attributes.rdev;
    fattr3 {
        ftype: match attributes.kind {
            Kind::Regular => ftype3::NF3REG,
            Kind::Directory => ftype3::NF3DIR,
            Kind::BlockDevice => ftype3::NF3BLK,
            Kind::CharacterDevice => ftype3::NF3CHR,
            Kind::Symlink => ftype3::NF3LNK,
            Kind::Socket => ftype3::NF3SOCK,
            Kind::Fifo => ftype3::NF3FIFO,
        },
        mode: attributes.mode,
        nlink: attributes.nlink,
        uid: attributes.uid,
        gid: attributes.gid,
        size: attributes.size,
        used: attributes.used,
        rdev: specdata3 { specdata1, specdata2 },
        fsid: attributes.fsid,
        fileid: attributes.fileid,
        atime: time(attributes.atime),
        mtime: time(attributes.mtime),
        ctime: time(attributes.ctime),
    }
}

/// Attributes after a call, if the object still exists.
pub(super) fn post_op<E>(attributes: &Result<Attributes, E>) -> post_op_attr {
    attributes.as_ref().ok().map(fattr)
}

pub(super) fn wcc(wcc: &Wcc) -> wcc_data {
    let before = wcc.before.map(|before| wcc_attr {
        size: before.size,
        mtime: time(before.mtime),
        ctime: time(before.ctime),
    });
    wcc_data { before, after: wcc.after.as_ref().map(fattr) }
}

/// The attributes to set; `Inval` if a time has more than 999,999,999 ns.
pub(super) fn set_attributes(set: &sattr3) -> Result<SetAttributes, Error> {
    Ok(SetAttributes {
        mode: set.mode,
        uid: set.uid,
        gid: set.gid,
        size: set.size,
        atime: set_time_of(set.atime)?,
        mtime: set_time_of(set.mtime)?,
    })
}

fn set_time_of(set: set_time) -> Result<SetTime, Error> {
    match set {
        set_time::DONT_CHANGE => Ok(SetTime::Keep),
        set_time::SET_TO_SERVER_TIME => Ok(SetTime::Now),
        set_time::SET_TO_CLIENT_TIME(time) if time.nseconds > 999_999_999 => Err(Error::Inval),
        set_time::SET_TO_CLIENT_TIME(time) => Ok(SetTime::To(time_of(time))),
    }
}
