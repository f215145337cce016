//! CREATE, MKDIR, SYMLINK and MKNOD: RFC 1813, sections 3.3.8 to 3.3.11.

use files::{Changed, Created, Error, How, Special};
use nfs3::arguments::{
    CREATE3args, MKDIR3args, MKNOD3args, SYMLINK3args, createhow3, devicedata3, mknoddata3,
};
use nfs3::results::{CREATE3resfail, CREATE3resok, Res3};
use nfs3::types::{nfs_fh3, nfsstat3, sattr3};

use super::call::{Call, Outcome};
use super::convert::{fattr, set_attributes, status, wcc};

pub(super) fn create(call: &mut Call<'_>, args: &CREATE3args<'_>) -> Outcome {
    let how = match &args.how {
        createhow3::UNCHECKED(set) => set_attributes(set).map(How::Unchecked),
        createhow3::GUARDED(set) => set_attributes(set).map(How::Guarded),
        createhow3::EXCLUSIVE(verifier) => Ok(How::Exclusive(*verifier)),
    };
    let name = args.r#where.name.0;
    let created = match how {
        Ok(how) => call.files.create(call.object, name, how, &call.caller, call.now),
        Err(error) => call.not_created(error),
    };
    answer(call, created)
}

pub(super) fn mkdir(call: &mut Call<'_>, args: &MKDIR3args<'_>) -> Outcome {
    let name = args.r#where.name.0;
    let created = match set_attributes(&args.attributes) {
        Ok(set) => call.files.mkdir(call.object, name, &set, &call.caller, call.now),
        Err(error) => call.not_created(error),
    };
    answer(call, created)
}

pub(super) fn symlink(call: &mut Call<'_>, args: &SYMLINK3args<'_>) -> Outcome {
    let (name, text) = (args.r#where.name.0, args.symlink.symlink_data.0);
    let created = match set_attributes(&args.symlink.symlink_attributes) {
        Ok(set) => call.files.symlink(call.object, name, text, &set, &call.caller, call.now),
        Err(error) => call.not_created(error),
    };
    answer(call, created)
}

pub(super) fn mknod(call: &mut Call<'_>, args: &MKNOD3args<'_>) -> Outcome {
    let (what, set) = match &args.what {
        mknoddata3::NF3CHR(device) => special(device, Special::CharacterDevice),
        mknoddata3::NF3BLK(device) => special(device, Special::BlockDevice),
        mknoddata3::NF3SOCK(set) => (Special::Socket, set),
        mknoddata3::NF3FIFO(set) => (Special::Fifo, set),
        // These types have other procedures.
        mknoddata3::NF3REG | mknoddata3::NF3DIR | mknoddata3::NF3LNK => {
            let dir_wcc = wcc(&call.unchanged(call.object));
            let fail = CREATE3resfail { dir_wcc };
            let bad: Res3<CREATE3resok<'_>, _> = Res3::Fail(nfsstat3::NFS3ERR_BADTYPE, fail);
            return call.answer(bad);
        }
    };
    let name = args.r#where.name.0;
    let created = match set_attributes(set) {
        Ok(set) => call.files.mknod(call.object, name, what, &set, &call.caller, call.now),
        Err(error) => call.not_created(error),
    };
    answer(call, created)
}

fn special(device: &devicedata3, kind: fn(u32, u32) -> Special) -> (Special, &sattr3) {
    (kind(device.spec.specdata1, device.spec.specdata2), &device.dev_attributes)
}

impl Call<'_> {
    fn not_created(&self, error: Error) -> Changed<Created> {
        Changed { result: Err(error), wcc: self.unchanged(self.object) }
    }
}

fn answer(call: &mut Call<'_>, created: Changed<Created>) -> Outcome {
    let dir_wcc = wcc(&created.wcc);
    let bytes;
    let result = match created.result {
        Ok(created) => {
            bytes = created.handle.to_bytes();
            let obj_attributes = Some(fattr(&created.attributes));
            Res3::Ok(CREATE3resok { obj: Some(nfs_fh3(&bytes)), obj_attributes, dir_wcc })
        }
        Err(error) => Res3::Fail(status(error), CREATE3resfail { dir_wcc }),
    };
    call.answer(result)
}
