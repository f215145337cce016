//! The data path of operations on names: generates the content of new files before they are sent, and
//! with `--verify` compares what whole-file reads return.

use std::sync::Arc;

use target::Target;
use target::names::content::{ContentMaker, WrongByte};
use target::names::writes_content;
use workload::names::NameStream;
use workload::op::{Op, OpKind};
use workload::outcome::ErrorKind;

use crate::worker::DataPath;

/// Mismatches that a worker keeps in words; all are counted.
const MISMATCHES_KEPT: usize = 16;

/// Generates and verifies the content of files.
#[derive(Debug)]
pub struct NameData {
    stream: Arc<NameStream>,
    content: Arc<ContentMaker>,
    verify: bool,
    took_time: bool,
    mismatches: Vec<String>,
}

impl NameData {
    /// The content of the files of `stream`.
    pub fn new(stream: Arc<NameStream>, content: Arc<ContentMaker>, verify: bool) -> NameData {
        let mismatches = Vec::with_capacity(MISMATCHES_KEPT);
        NameData { stream, content, verify, took_time: false, mismatches }
    }

    /// The first mismatches, in words.
    pub fn into_mismatches(self) -> Vec<String> {
        self.mismatches
    }

    /// Compares the last part of a file that was read, which is all of it unless it is larger than
    /// the buffer; the target has compared the other parts.
    fn check(&mut self, op: &Op, data: &[u8]) -> Option<WrongByte> {
        let content = self.stream.at(op.index).content;
        let size = op.size_bytes as usize;
        let offset = size.saturating_sub(1) / data.len() * data.len();
        self.took_time = true;
        self.content.find_wrong(content, offset as u64, &data[..size - offset])
    }

    fn report(&mut self, op: &Op, wrong: WrongByte) {
        if self.mismatches.len() < MISMATCHES_KEPT {
            let mut path = String::new();
            self.stream.tree().push_path(self.stream.at(op.index).name, &mut path);
            self.mismatches.push(format!(
                "{path}, offset {}: byte {:#04x} instead of {:#04x} (operation {})",
                wrong.offset_bytes, wrong.found, wrong.expected, op.index
            ));
        }
    }
}

impl DataPath for NameData {
    const TAKES_TIME: bool = true;

    fn before(&mut self, tag: u32, op: &Op, target: &mut impl Target) {
        if op.size_bytes > 0
            && writes_content(op.kind)
            && let Some(buffer) = target.buffer(tag)
        {
            let name = self.stream.at(op.index);
            let length = (op.size_bytes as usize).min(buffer.len());
            let offset = if op.kind == OpKind::Append { op.offset_bytes } else { 0 };
            self.content.fill(name.content, offset, &mut buffer[..length]);
            self.took_time = true;
        }
    }

    fn after(&mut self, tag: u32, op: &Op, target: &mut impl Target) -> Result<(), ErrorKind> {
        if !self.verify || op.kind != OpKind::ReadFile || op.size_bytes == 0 {
            return Ok(());
        }
        let wrong = match target.wrong_byte(tag) {
            None => target.buffer(tag).and_then(|data| self.check(op, data)),
            wrong => wrong,
        };
        let Some(wrong) = wrong else { return Ok(()) };
        self.report(op, wrong);
        Err(ErrorKind::Corrupt)
    }

    fn failed(&mut self, _tag: u32, _op: &Op) {}

    #[inline]
    fn took_time(&mut self) -> bool {
        std::mem::take(&mut self.took_time)
    }
}
