//! GETATTR, SETATTR and ACCESS: RFC 1813, sections 3.3.1, 3.3.2 and 3.3.4.

use files::{Access, Changed};
use nfs3::arguments::{ACCESS3args, SETATTR3args};
use nfs3::results::{ACCESS3resok, GETATTR3res, GETATTR3resok, READ3resfail, Res3, SETATTR3resok};

use super::call::{Call, Outcome};
use super::convert::{fattr, post_op, set_attributes, status, time_of, wcc};

pub(super) fn getattr(call: &mut Call<'_>) -> Outcome {
    let result: GETATTR3res = match call.files.getattr(call.object) {
        Ok(attributes) => Res3::Ok(GETATTR3resok { obj_attributes: fattr(&attributes) }),
        Err(error) => Res3::Fail(status(error), ()),
    };
    call.answer(result)
}

pub(super) fn setattr(call: &mut Call<'_>, args: &SETATTR3args<'_>) -> Outcome {
    let guard = args.guard.map(time_of);
    let changed = match set_attributes(&args.new_attributes) {
        Ok(set) => call.files.setattr(call.object, &set, guard, &call.caller, call.now),
        Err(error) => Changed { result: Err(error), wcc: call.unchanged(call.object) },
    };
    let obj_wcc = SETATTR3resok { obj_wcc: wcc(&changed.wcc) };
    call.answer(match changed.result {
        Ok(()) => Res3::Ok(obj_wcc),
        Err(error) => Res3::Fail(status(error), obj_wcc),
    })
}

pub(super) fn access(call: &mut Call<'_>, args: &ACCESS3args<'_>) -> Outcome {
    let granted = call.files.access(call.object, Access(args.access), &call.caller);
    let obj_attributes = post_op(&call.files.getattr(call.object));
    call.answer(match granted {
        Ok(Access(access)) => Res3::Ok(ACCESS3resok { obj_attributes, access }),
        Err(error) => Res3::Fail(status(error), READ3resfail { obj_attributes }),
    })
}
