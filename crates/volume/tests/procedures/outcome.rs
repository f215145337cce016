//! The status and attributes in the results of every procedure, in one form.

use nfs3::request::NfsResults;
use nfs3::results::Res3;
use nfs3::types::{nfsstat3, post_op_attr, wcc_data};

/// Status, attributes of objects after the call, and weak cache consistency data, in the order of
/// the RFC.
pub(crate) struct Outcome {
    pub(crate) status: nfsstat3,
    pub(crate) attributes: Vec<post_op_attr>,
    pub(crate) wcc: Vec<wcc_data>,
}

fn outcome(status: nfsstat3, attributes: &[post_op_attr], wcc: &[wcc_data]) -> Outcome {
    Outcome { status, attributes: attributes.to_vec(), wcc: wcc.to_vec() }
}

pub(crate) fn outcome_of(results: &NfsResults<'_>) -> Outcome {
    use NfsResults as R;
    let ok = nfsstat3::NFS3_OK;
    match results {
        R::NULL(()) => outcome(ok, &[], &[]),
        R::GETATTR(Res3::Ok(done)) => outcome(ok, &[Some(done.obj_attributes)], &[]),
        R::GETATTR(Res3::Fail(status, ())) => outcome(*status, &[], &[]),
        R::SETATTR(Res3::Ok(done)) => outcome(ok, &[], &[done.obj_wcc]),
        R::SETATTR(Res3::Fail(status, fail)) => outcome(*status, &[], &[fail.obj_wcc]),
        R::LOOKUP(Res3::Ok(done)) => outcome(ok, &[done.obj_attributes, done.dir_attributes], &[]),
        R::LOOKUP(Res3::Fail(status, fail)) => outcome(*status, &[fail.dir_attributes], &[]),
        R::ACCESS(Res3::Ok(done)) => outcome(ok, &[done.obj_attributes], &[]),
        R::ACCESS(Res3::Fail(status, fail)) => outcome(*status, &[fail.obj_attributes], &[]),
        R::READLINK(Res3::Ok(done)) => outcome(ok, &[done.symlink_attributes], &[]),
        R::READLINK(Res3::Fail(status, fail)) => outcome(*status, &[fail.obj_attributes], &[]),
        R::READ(Res3::Ok(done)) => outcome(ok, &[done.file_attributes], &[]),
        R::READ(Res3::Fail(status, fail)) => outcome(*status, &[fail.obj_attributes], &[]),
        R::WRITE(Res3::Ok(done)) => outcome(ok, &[], &[done.file_wcc]),
        R::WRITE(Res3::Fail(status, fail)) => outcome(*status, &[], &[fail.file_wcc]),
        R::CREATE(made) | R::MKDIR(made) | R::SYMLINK(made) | R::MKNOD(made) => match made {
            Res3::Ok(done) => outcome(ok, &[done.obj_attributes], &[done.dir_wcc]),
            Res3::Fail(status, fail) => outcome(*status, &[], &[fail.dir_wcc]),
        },
        R::REMOVE(gone) | R::RMDIR(gone) => match gone {
            Res3::Ok(done) => outcome(ok, &[], &[done.dir_wcc]),
            Res3::Fail(status, fail) => outcome(*status, &[], &[fail.dir_wcc]),
        },
        R::RENAME(Res3::Ok(done)) => outcome(ok, &[], &[done.fromdir_wcc, done.todir_wcc]),
        R::RENAME(Res3::Fail(status, fail)) => {
            outcome(*status, &[], &[fail.fromdir_wcc, fail.todir_wcc])
        }
        R::LINK(Res3::Ok(done)) => outcome(ok, &[done.file_attributes], &[done.linkdir_wcc]),
        R::LINK(Res3::Fail(status, fail)) => {
            outcome(*status, &[fail.file_attributes], &[fail.linkdir_wcc])
        }
        R::READDIR(Res3::Ok(done)) => outcome(ok, &[done.dir_attributes], &[]),
        R::READDIR(Res3::Fail(status, fail)) => outcome(*status, &[fail.obj_attributes], &[]),
        R::READDIRPLUS(Res3::Ok(done)) => outcome(ok, &[done.dir_attributes], &[]),
        R::READDIRPLUS(Res3::Fail(status, fail)) => outcome(*status, &[fail.obj_attributes], &[]),
        R::FSSTAT(Res3::Ok(done)) => outcome(ok, &[done.obj_attributes], &[]),
        R::FSSTAT(Res3::Fail(status, fail)) => outcome(*status, &[fail.obj_attributes], &[]),
        R::FSINFO(Res3::Ok(done)) => outcome(ok, &[done.obj_attributes], &[]),
        R::FSINFO(Res3::Fail(status, fail)) => outcome(*status, &[fail.obj_attributes], &[]),
        R::PATHCONF(Res3::Ok(done)) => outcome(ok, &[done.obj_attributes], &[]),
        R::PATHCONF(Res3::Fail(status, fail)) => outcome(*status, &[fail.obj_attributes], &[]),
        R::COMMIT(Res3::Ok(done)) => outcome(ok, &[], &[done.file_wcc]),
        R::COMMIT(Res3::Fail(status, fail)) => outcome(*status, &[], &[fail.file_wcc]),
    }
}
