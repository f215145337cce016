//! LOOKUP, READLINK, REMOVE, RMDIR, RENAME and LINK: RFC 1813, sections 3.3.3, 3.3.5 and 3.3.12 to
//! 3.3.15.

use files::{Changed, Handle, Linked, Renamed};
use nfs3::arguments::{LINK3args, LOOKUP3args, REMOVE3args, RENAME3args, RMDIR3args};
use nfs3::results::{
    LINK3resok, LOOKUP3resfail, LOOKUP3resok, READ3resfail, READLINK3resok, REMOVE3resok,
    RENAME3resok, Res3,
};
use nfs3::server::reply_with;
use nfs3::types::{filename3, nfs_fh3};

use super::call::{Call, Outcome};
use super::convert::{fattr, post_op, status, wcc};

pub(super) fn lookup(call: &mut Call<'_>, args: &LOOKUP3args<'_>) -> Outcome {
    let found = call.files.lookup(call.object, args.what.name.0, &call.caller);
    let dir_attributes = post_op(&call.files.getattr(call.object));
    let bytes;
    let result = match found {
        Ok(found) => {
            bytes = found.handle.to_bytes();
            let obj_attributes = Some(fattr(&found.attributes));
            Res3::Ok(LOOKUP3resok { object: nfs_fh3(&bytes), obj_attributes, dir_attributes })
        }
        Err(error) => Res3::Fail(status(error), LOOKUP3resfail { dir_attributes }),
    };
    call.answer(result)
}

pub(super) fn readlink(call: &mut Call<'_>) -> Outcome {
    let obj_attributes = post_op(&call.files.getattr(call.object));
    let result = match call.files.readlink(call.object) {
        Ok(text) => {
            let symlink_attributes = obj_attributes;
            Res3::Ok(READLINK3resok { symlink_attributes, data: filename3(text) })
        }
        Err(error) => Res3::Fail(status(error), READ3resfail { obj_attributes }),
    };
    reply_with(call.reply.head(), call.xid, &result);
    Outcome { status: result.status(), bytes: 0 }
}

pub(super) fn remove(call: &mut Call<'_>, args: &REMOVE3args<'_>) -> Outcome {
    let changed = call.files.remove(call.object, args.object.name.0, &call.caller, call.now);
    removed(call, changed)
}

pub(super) fn rmdir(call: &mut Call<'_>, args: &RMDIR3args<'_>) -> Outcome {
    let changed = call.files.rmdir(call.object, args.object.name.0, &call.caller, call.now);
    removed(call, changed)
}

fn removed(call: &mut Call<'_>, changed: Changed<()>) -> Outcome {
    let dir_wcc = REMOVE3resok { dir_wcc: wcc(&changed.wcc) };
    call.answer(match changed.result {
        Ok(()) => Res3::Ok(dir_wcc),
        Err(error) => Res3::Fail(status(error), dir_wcc),
    })
}

/// If the target directory is of another volume, the status is NFS3ERR_XDEV and the reply has weak
/// cache consistency data of the source directory only.
pub(super) fn rename(call: &mut Call<'_>, args: &RENAME3args<'_>) -> Outcome {
    let from = (call.object, args.from.name.0);
    let renamed = match Handle::from_bytes(args.to.dir.0) {
        Ok(to) => call.files.rename(from, (to, args.to.name.0), &call.caller, call.now),
        Err(error) => {
            let from = call.unchanged(call.object);
            Renamed { result: Err(error), from, to: files::Wcc::default() }
        }
    };
    let both = RENAME3resok { fromdir_wcc: wcc(&renamed.from), todir_wcc: wcc(&renamed.to) };
    call.answer(match renamed.result {
        Ok(()) => Res3::Ok(both),
        Err(error) => Res3::Fail(status(error), both),
    })
}

pub(super) fn link(call: &mut Call<'_>, args: &LINK3args<'_>) -> Outcome {
    let linked = match Handle::from_bytes(args.link.dir.0) {
        Ok(directory) => {
            let name = args.link.name.0;
            call.files.link(call.object, directory, name, &call.caller, call.now)
        }
        Err(error) => {
            let file = call.files.getattr(call.object).ok();
            Linked { result: Err(error), file, directory: files::Wcc::default() }
        }
    };
    let file_attributes = linked.file.as_ref().map(fattr);
    let both = LINK3resok { file_attributes, linkdir_wcc: wcc(&linked.directory) };
    call.answer(match linked.result {
        Ok(()) => Res3::Ok(both),
        Err(error) => Res3::Fail(status(error), both),
    })
}
