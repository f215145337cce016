//! FSSTAT, FSINFO and PATHCONF: RFC 1813, sections 3.3.18 to 3.3.20.

use nfs3::results::{FSINFO3resok, FSSTAT3resok, PATHCONF3resok, READ3resfail, Res3};
use nfs3::types::nfstime3;

use super::call::{Call, Outcome};
use super::convert::{post_op, status};

/// Preferred transfer size: one chunk of a file, as storage systems of this kind prefer too. Mount
/// options that their documents recommend set `rsize=262144`, which the largest transfer allows.
const PREFERRED_BYTES: u32 = 64 << 10;

/// The size of the volume is its quota. Available space is also limited by the service's memory.
/// `invarsec` is 0 because the quota may change at any time.
pub(super) fn fsstat(call: &mut Call<'_>) -> Outcome {
    let obj_attributes = post_op(&call.files.getattr(call.object));
    call.answer(match call.files.fsstat(call.object) {
        Ok(space) => Res3::Ok(FSSTAT3resok {
            obj_attributes,
            tbytes: space.total.get(),
            fbytes: space.free.get(),
            abytes: space.available.get(),
            tfiles: space.files_total,
            ffiles: space.files_free,
            afiles: space.files_free,
            invarsec: 0,
        }),
        Err(error) => Res3::Fail(status(error), READ3resfail { obj_attributes }),
    })
}

pub(super) fn fsinfo(call: &mut Call<'_>) -> Outcome {
    let obj_attributes = post_op(&call.files.getattr(call.object));
    call.answer(match call.files.fsinfo(call.object) {
        Ok(info) => Res3::Ok(FSINFO3resok {
            obj_attributes,
            rtmax: info.read_max,
            rtpref: info.read_max.min(PREFERRED_BYTES),
            rtmult: info.multiple,
            wtmax: info.write_max,
            wtpref: info.write_max.min(PREFERRED_BYTES),
            wtmult: info.multiple,
            dtpref: info.readdir_preferred,
            maxfilesize: info.file_size_max.get(),
            time_delta: nfstime3 {
                seconds: info.time_delta.seconds,
                nseconds: info.time_delta.nanoseconds,
            },
            properties: info.properties,
        }),
        Err(error) => Res3::Fail(status(error), READ3resfail { obj_attributes }),
    })
}

pub(super) fn pathconf(call: &mut Call<'_>) -> Outcome {
    let obj_attributes = post_op(&call.files.getattr(call.object));
    call.answer(match call.files.pathconf(call.object) {
        Ok(names) => Res3::Ok(PATHCONF3resok {
            obj_attributes,
            linkmax: names.links_max,
            name_max: names.name_max,
            no_trunc: true,
            chown_restricted: true,
            case_insensitive: false,
            case_preserving: true,
        }),
        Err(error) => Res3::Fail(status(error), READ3resfail { obj_attributes }),
    })
}
