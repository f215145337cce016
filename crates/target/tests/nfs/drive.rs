//! Runs operations through a target like the engine, without a schedule.

use std::time::{Duration, Instant};

use target::nfs::NfsFiles;
use target::{Completion, Target, Wait};
use workload::op::{Op, OpKind};

/// A test that takes this long is stuck.
const STUCK: Duration = Duration::from_secs(60);

pub(crate) fn read(offset_bytes: u64, size_bytes: u32) -> Op {
    Op { index: 0, offset_bytes, size_bytes, file: 0, kind: OpKind::Read }
}

pub(crate) fn write(offset_bytes: u64, size_bytes: u32) -> Op {
    Op { kind: OpKind::Write, ..read(offset_bytes, size_bytes) }
}

pub(crate) fn fsync() -> Op {
    Op { kind: OpKind::Fsync, ..read(0, 0) }
}

/// The data of a write, a function of the operation.
pub(crate) fn fill(op: &Op, memory: &mut [u8]) {
    for (at, byte) in memory.iter_mut().enumerate() {
        *byte = (op.index * 97 + op.offset_bytes / 512 + at as u64 * 3 + 1) as u8;
    }
}

/// Runs all operations with at most `depth` outstanding and returns their results; calls `inspect`
/// with the buffer of each completed operation.
pub(crate) fn all(
    target: &mut NfsFiles,
    ops: &[Op],
    depth: usize,
    mut inspect: impl FnMut(&Op, &[u8]),
) -> Vec<i32> {
    let begun = Instant::now();
    let mut results = vec![i32::MIN; ops.len()];
    let mut slots: Vec<Option<usize>> = vec![None; depth];
    let (mut next, mut ended) = (0, 0);
    let mut done: Vec<Completion> = Vec::with_capacity(depth);
    while ended < ops.len() {
        for (tag, slot) in slots.iter_mut().enumerate().filter(|(_, slot)| slot.is_none()) {
            if next == ops.len() {
                break;
            }
            let op = &ops[next];
            if op.kind == OpKind::Write {
                let memory = target.buffer(tag as u32).unwrap();
                fill(op, &mut memory[..op.size_bytes as usize]);
            }
            target.submit(tag as u32, op).unwrap();
            *slot = Some(next);
            next += 1;
        }
        let wait = if ended % 2 == 0 {
            Wait::Coarse(Duration::from_millis(100))
        } else {
            Wait::Precise(Duration::from_millis(3))
        };
        target.reap(wait, &mut done).unwrap();
        for Completion { tag, result } in done.drain(..) {
            let index = slots[tag as usize].take().expect("only outstanding operations complete");
            results[index] = result;
            let op = &ops[index];
            inspect(op, &target.buffer(tag).unwrap()[..op.size_bytes as usize]);
            ended += 1;
        }
        assert!(begun.elapsed() < STUCK, "stuck after {ended} of {}", ops.len());
    }
    results
}
