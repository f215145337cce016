//! Reads files of a tree and compares their content.

use std::io;

use workload::names::Content;

use super::access::{At, TreeAccess};
use crate::names::content::ContentMaker;

/// The first bytes of a file show its version, because each tile has it at its start.
const HEAD_BYTES: u64 = 64;

/// How much of each file is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Inspection {
    /// Nothing.
    Size,
    /// The first bytes, which show whose content it is and its version.
    Head,
    /// All of it.
    Whole,
}

/// Compares the content of a file; returns what is wrong in words.
pub(super) fn inspect(
    access: &mut dyn TreeAccess,
    at: At<'_>,
    size_bytes: u64,
    inspection: Inspection,
    (maker, content): (&ContentMaker, Content),
) -> io::Result<Option<String>> {
    let bytes = match inspection {
        Inspection::Size => return Ok(None),
        Inspection::Head => size_bytes.min(HEAD_BYTES),
        Inspection::Whole => size_bytes,
    };
    if bytes == 0 {
        return Ok(None);
    }
    let mut wrong = None;
    let read = access.read(at, bytes, &mut |offset, part| {
        wrong = maker.find_wrong(content, offset, part);
        wrong.is_none()
    })?;
    Ok(match wrong {
        Some(wrong) => Some(format!(
            "byte {:#04x} instead of {:#04x} at offset {}",
            wrong.found, wrong.expected, wrong.offset_bytes
        )),
        None if read < bytes => Some(format!("it ends after {read} bytes")),
        None => None,
    })
}
