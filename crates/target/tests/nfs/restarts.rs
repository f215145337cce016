//! What the client rewrites after a server restart, reply by reply: data that one instance
//! acknowledged and another has not committed is lost (RFC 1813, section 3.3.7 and 3.3.21).

use nfs3::arguments::stable_how;
use nfs3::procedure::NfsProcedure;
use nfs3::types::nfsstat3;
use workload::op::{Op, OpKind};

use crate::drive::{fill, fsync, read, write};
use crate::exchange::{Call, Exchange, FIRST, SECOND};

const SIZE: u32 = 8192;

fn block(number: u64) -> Op {
    Op { index: number, ..write(number * u64::from(SIZE), SIZE) }
}

fn data_of(op: &Op) -> Vec<u8> {
    let mut data = vec![0; op.size_bytes as usize];
    fill(op, &mut data);
    data
}

fn is_rewrite_of(call: &Call, op: &Op) -> bool {
    call.stable == Some(stable_how::FILE_SYNC)
        && (call.offset, &call.data) == (op.offset_bytes, &data_of(op))
}

/// Performs a write that the first instance acknowledges.
fn written(exchange: &mut Exchange, tag: u32, op: &Op) {
    exchange.submit(tag, op);
    let call = exchange.only();
    assert_eq!(call.stable, Some(stable_how::UNSTABLE));
    exchange.answer(&call, FIRST);
    assert_eq!(exchange.done(), [(tag, SIZE as i32)]);
}

#[test]
fn a_commit_with_another_verifier_completes_only_after_the_rewrite() {
    let mut exchange = Exchange::new(1, "", 4, |_| {});
    written(&mut exchange, 0, &block(3));
    exchange.submit(1, &fsync());
    let commit = exchange.only();
    assert_eq!(commit.procedure, NfsProcedure::COMMIT);
    exchange.answer(&commit, SECOND);
    assert_eq!(exchange.done(), []);
    let rewrite = exchange.only();
    assert!(is_rewrite_of(&rewrite, &block(3)), "{rewrite:?}");
    exchange.answer(&rewrite, SECOND);
    assert_eq!(exchange.done(), [(1, 0)]);
    let counters = exchange.counters();
    assert_eq!((counters.verifier_changes, counters.rewritten_bytes), (1, u64::from(SIZE)));
    // The data is durable: the next fsync is only a COMMIT.
    exchange.submit(1, &fsync());
    let commit = exchange.only();
    exchange.answer(&commit, SECOND);
    assert_eq!(exchange.done(), [(1, 0)]);
}

#[test]
fn a_commit_from_before_the_restart_does_not_count_after_it() {
    let mut exchange = Exchange::new(1, "", 4, |_| {});
    written(&mut exchange, 0, &block(0));
    exchange.submit(1, &fsync());
    let commit = exchange.only();
    exchange.submit(2, &block(5));
    let late = exchange.calls[1].clone();
    // The second instance's reply overtakes the first one's.
    exchange.answer(&late, SECOND);
    assert_eq!(exchange.done(), [(2, SIZE as i32)]);
    exchange.answer(&commit, FIRST);
    assert_eq!(exchange.done(), []);
    let mut rewritten = Vec::new();
    while let Some(call) = exchange.calls.front().cloned() {
        rewritten.push(call.offset / u64::from(SIZE));
        assert_eq!(call.stable, Some(stable_how::FILE_SYNC));
        exchange.answer(&call, SECOND);
    }
    assert!(rewritten.contains(&0), "{rewritten:?}");
    assert_eq!(exchange.done(), [(1, 0)]);
}

#[test]
fn a_write_acknowledged_partly_before_and_partly_after_a_restart_is_rewritten() {
    // The first half is acknowledged by the first instance, the second half by the second.
    let mut exchange = Exchange::new(1, "wsize=4096", 4, |_| {});
    let op = block(2);
    exchange.submit(0, &op);
    let halves: Vec<Call> = exchange.calls.iter().cloned().collect();
    assert_eq!(halves.len(), 2);
    exchange.answer(&halves[0], FIRST);
    exchange.answer(&halves[1], SECOND);
    assert_eq!(exchange.done(), [(0, SIZE as i32)]);
    let again: Vec<Call> = exchange.calls.iter().cloned().collect();
    assert_eq!(again.iter().map(|call| call.offset).collect::<Vec<_>>(), [16384, 20480]);
    assert!(again.iter().all(|call| call.stable == Some(stable_how::FILE_SYNC)));
    assert_eq!([&again[0].data[..], &again[1].data[..]].concat(), data_of(&op));
}

#[test]
fn a_write_whose_reply_from_before_the_restart_comes_late_is_rewritten() {
    let mut exchange = Exchange::new(1, "", 4, |_| {});
    written(&mut exchange, 0, &block(9));
    exchange.submit(1, &fsync());
    let commit = exchange.only();
    exchange.answer(&commit, FIRST);
    assert_eq!(exchange.done(), [(1, 0)]);
    exchange.submit(0, &block(0));
    exchange.submit(1, &block(1));
    let [early, late]: [Call; 2] =
        exchange.calls.iter().cloned().collect::<Vec<_>>().try_into().unwrap();
    exchange.answer(&late, SECOND);
    assert_eq!(exchange.done(), [(1, SIZE as i32)]);
    assert!(exchange.calls.iter().all(|call| call.stable != Some(stable_how::FILE_SYNC)));
    exchange.answer(&early, FIRST);
    assert_eq!(exchange.done(), [(0, SIZE as i32)]);
    let offsets: Vec<u64> = exchange.calls.iter().map(|call| call.offset).collect();
    assert!(offsets.contains(&0), "{:?}", exchange.calls);
}

#[test]
fn the_last_write_to_a_range_wins_after_a_restart() {
    let mut exchange = Exchange::new(1, "", 4, |_| {});
    let (first, second) = (block(1), Op { index: 77, ..block(1) });
    written(&mut exchange, 0, &first);
    written(&mut exchange, 0, &second);
    exchange.submit(1, &fsync());
    let commit = exchange.only();
    exchange.answer(&commit, SECOND);
    // One after the other, because they overlap.
    let rewrite = exchange.only();
    assert!(is_rewrite_of(&rewrite, &first));
    exchange.answer(&rewrite, SECOND);
    let rewrite = exchange.only();
    assert!(is_rewrite_of(&rewrite, &second));
    assert_eq!(exchange.done(), []);
    exchange.answer(&rewrite, SECOND);
    assert_eq!(exchange.done(), [(1, 0)]);
}

#[test]
fn adjacent_ranges_are_rewritten_concurrently_and_overlapping_ones_are_not() {
    let mut exchange = Exchange::new(1, "", 4, |_| {});
    // 0 to 8 KiB, 8 to 16 KiB, and the byte at their border.
    let border = Op { index: 5, ..write(8191, 2) };
    for op in [&block(0), &block(1), &border] {
        exchange.submit(0, op);
        let call = exchange.only();
        exchange.answer(&call, FIRST);
    }
    exchange.submit(1, &fsync());
    let commit = exchange.only();
    exchange.answer(&commit, SECOND);
    let together: Vec<u64> = exchange.calls.iter().map(|call| call.offset).collect();
    assert_eq!(together, [0, 8192]);
    let first = exchange.calls[0].clone();
    exchange.answer(&first, SECOND);
    assert_eq!(exchange.calls.len(), 1, "the second still overlaps");
    let second = exchange.only();
    exchange.answer(&second, SECOND);
    assert_eq!(exchange.only().offset, 8191);
}

#[test]
fn the_same_ranges_of_two_files_are_rewritten_concurrently() {
    let mut exchange = Exchange::new(2, "", 4, |_| {});
    written(&mut exchange, 0, &block(0));
    written(&mut exchange, 0, &Op { file: 1, ..block(0) });
    exchange.submit(1, &fsync());
    let commit = exchange.only();
    exchange.answer(&commit, SECOND);
    let mut files: Vec<u8> = exchange.calls.iter().map(|call| call.file).collect();
    files.sort_unstable();
    assert_eq!(files, [0, 1]);
}

#[test]
fn at_most_eight_writes_are_rewritten_concurrently() {
    let mut exchange = Exchange::new(1, "", 4, |_| {});
    for number in 0..20 {
        written(&mut exchange, 0, &block(number));
    }
    exchange.submit(1, &fsync());
    let commit = exchange.only();
    exchange.answer(&commit, SECOND);
    let mut offsets = Vec::new();
    while let Some(call) = exchange.calls.front().cloned() {
        assert!(exchange.calls.len() <= 8, "{}", exchange.calls.len());
        assert_eq!(exchange.done(), []);
        offsets.push(call.offset / u64::from(SIZE));
        exchange.answer(&call, SECOND);
    }
    assert_eq!(offsets, (0..20).collect::<Vec<_>>());
    assert_eq!(exchange.done(), [(1, 0)]);
    assert_eq!(exchange.counters().rewritten_bytes, 20 * u64::from(SIZE));
}

#[test]
fn writes_of_a_recovering_file_wait_and_those_of_other_files_do_not() {
    let mut exchange = Exchange::new(2, "", 8, |_| {});
    written(&mut exchange, 0, &block(0));
    exchange.submit(1, &fsync());
    let commit = exchange.only();
    exchange.answer(&commit, SECOND);
    let rewrite = exchange.only();
    exchange.submit(2, &block(0));
    exchange.submit(3, &Op { file: 1, ..block(7) });
    let sent: Vec<u8> = exchange.calls.iter().skip(1).map(|call| call.file).collect();
    assert_eq!(sent, [1], "the write to file 0 waits");
    exchange.answer(&rewrite, SECOND);
    let deferred: Vec<&Call> = exchange.calls.iter().filter(|call| call.file == 0).collect();
    assert_eq!(deferred.len(), 1);
    assert_eq!(deferred[0].stable, Some(stable_how::UNSTABLE));
}

#[test]
fn data_is_rewritten_only_after_outstanding_writes_have_completed() {
    let mut exchange = Exchange::new(1, "", 4, |_| {});
    written(&mut exchange, 0, &block(0));
    exchange.submit(1, &block(0));
    let outstanding = exchange.only();
    exchange.submit(2, &fsync());
    let commit = exchange.calls[1].clone();
    exchange.answer(&commit, SECOND);
    assert_eq!(exchange.only().xid, outstanding.xid, "nothing is rewritten meanwhile");
    exchange.answer(&outstanding, SECOND);
    assert!(exchange.only().stable == Some(stable_how::FILE_SYNC));
}

#[test]
fn a_failed_rewrite_fails_the_next_fsync_and_only_that() {
    let mut exchange = Exchange::new(1, "", 4, |_| {});
    written(&mut exchange, 0, &block(0));
    exchange.submit(1, &fsync());
    let commit = exchange.only();
    exchange.answer(&commit, SECOND);
    let rewrite = exchange.only();
    exchange.fail(&rewrite, nfsstat3::NFS3ERR_NOSPC);
    assert_eq!(exchange.done(), [(1, -28)]);
    exchange.submit(1, &fsync());
    let commit = exchange.only();
    exchange.answer(&commit, SECOND);
    assert_eq!(exchange.done(), [(1, 0)]);
}

#[test]
fn a_file_sync_write_needs_no_rewrite() {
    let stability = workload::plan::WriteStability::FileSync;
    let mut exchange = Exchange::new(1, "", 4, |access| access.stability = stability);
    exchange.submit(0, &block(0));
    let call = exchange.only();
    exchange.answer(&call, FIRST);
    exchange.submit(1, &block(1));
    let call = exchange.only();
    exchange.answer(&call, SECOND);
    assert_eq!(exchange.done(), [(0, SIZE as i32), (1, SIZE as i32)]);
    exchange.submit(2, &fsync());
    let commit = exchange.only();
    exchange.answer(&commit, SECOND);
    assert_eq!(exchange.done(), [(2, 0)]);
    assert_eq!(exchange.counters().rewritten_bytes, 0);
}

#[test]
fn a_commit_covers_only_what_was_acknowledged_before_it_was_sent() {
    let mut exchange = Exchange::new(1, "", 4, |_| {});
    written(&mut exchange, 0, &block(0));
    exchange.submit(1, &fsync());
    let commit = exchange.only();
    exchange.submit(0, &block(1));
    let write = exchange.calls[1].clone();
    exchange.answer(&write, FIRST);
    exchange.answer(&commit, FIRST);
    assert_eq!(exchange.done(), [(0, SIZE as i32), (1, 0)]);
    exchange.submit(1, &fsync());
    let commit = exchange.only();
    exchange.answer(&commit, SECOND);
    let rewrite = exchange.only();
    assert!(is_rewrite_of(&rewrite, &block(1)), "{rewrite:?}");
}

#[test]
fn a_read_after_a_reconnection_waits_until_a_restart_is_ruled_out() {
    let mut exchange = Exchange::new(2, "", 4, |_| {});
    written(&mut exchange, 0, &block(0));
    exchange.reconnect();
    let check = exchange.only();
    assert_eq!((check.procedure, check.file), (NfsProcedure::COMMIT, 0));
    exchange.submit(1, &read(0, SIZE));
    // A file without uncommitted data does not wait.
    exchange.submit(2, &Op { file: 1, ..read(0, SIZE) });
    assert_eq!(exchange.calls.len(), 2);
    exchange.answer(&check, FIRST);
    assert_eq!(exchange.calls.iter().map(|call| call.file).collect::<Vec<_>>(), [1, 0]);
}

#[test]
fn a_read_that_may_have_returned_reverted_data_is_repeated_after_the_rewrite() {
    let mut exchange = Exchange::new(1, "", 4, |_| {});
    written(&mut exchange, 0, &block(0));
    exchange.submit(1, &read(0, SIZE));
    exchange.reconnect();
    let [reading, check]: [Call; 2] =
        exchange.calls.iter().cloned().collect::<Vec<_>>().try_into().unwrap();
    exchange.answer(&reading, FIRST);
    assert_eq!(exchange.done(), [], "it may have returned data from before the write");
    exchange.answer(&check, SECOND);
    let rewrite = exchange.only();
    assert!(is_rewrite_of(&rewrite, &block(0)));
    exchange.answer(&rewrite, SECOND);
    let again = exchange.only();
    assert_eq!(again.procedure, NfsProcedure::READ);
    exchange.answer(&again, SECOND);
    assert_eq!(exchange.done(), [(1, SIZE as i32)]);
    assert_eq!(exchange.counters().kinds[OpKind::Read as usize].operations, 1);
}

#[test]
fn a_reconnection_with_an_outstanding_write_checks_for_a_restart_too() {
    // A reply from before a restart may still arrive over another connection.
    let mut exchange = Exchange::new(1, "", 4, |_| {});
    exchange.submit(0, &block(0));
    exchange.reconnect();
    let sent: Vec<_> = exchange.calls.iter().map(|call| call.procedure).collect();
    assert_eq!(sent, [NfsProcedure::WRITE, NfsProcedure::COMMIT]);
    // Without data that could be lost there is no check.
    let mut exchange = Exchange::new(1, "", 4, |_| {});
    exchange.submit(0, &read(0, SIZE));
    exchange.reconnect();
    assert_eq!(exchange.only().procedure, NfsProcedure::READ);
}

/// A read that was outstanding while its file recovered.
fn read_outstanding_during_a_recovery(exchange: &mut Exchange) -> Call {
    written(exchange, 0, &block(0));
    exchange.submit(1, &read(0, SIZE));
    exchange.reconnect();
    let [reading, check]: [Call; 2] =
        exchange.calls.iter().cloned().collect::<Vec<_>>().try_into().unwrap();
    exchange.answer(&check, SECOND);
    let rewrite = exchange.calls[1].clone();
    assert!(is_rewrite_of(&rewrite, &block(0)));
    exchange.answer(&rewrite, SECOND);
    reading
}

#[test]
fn a_read_answered_after_the_rewrite_is_repeated() {
    let mut exchange = Exchange::new(1, "", 4, |_| {});
    let reading = read_outstanding_during_a_recovery(&mut exchange);
    exchange.answer(&reading, SECOND);
    assert_eq!(exchange.done(), [], "it may have been performed before the rewrite");
    let again = exchange.only();
    assert_eq!(again.procedure, NfsProcedure::READ);
    exchange.answer(&again, SECOND);
    assert_eq!(exchange.done(), [(1, SIZE as i32)]);
    assert_eq!(exchange.counters().replays, 2, "by the reconnection and by the rewrite");
}

#[test]
fn a_read_is_not_repeated_until_another_restart_is_ruled_out() {
    let mut exchange = Exchange::new(1, "", 4, |_| {});
    read_outstanding_during_a_recovery(&mut exchange);
    exchange.submit(0, &block(5));
    let write = exchange.calls[1].clone();
    exchange.answer(&write, SECOND);
    exchange.reconnect();
    let [reading, check]: [Call; 2] =
        exchange.calls.iter().cloned().collect::<Vec<_>>().try_into().unwrap();
    exchange.answer(&reading, SECOND);
    assert_eq!(exchange.only(), check);
    exchange.answer(&check, SECOND);
    assert_eq!(exchange.only().procedure, NfsProcedure::READ);
}

#[test]
fn a_read_of_a_recovering_file_waits() {
    let mut exchange = Exchange::new(1, "", 4, |_| {});
    written(&mut exchange, 0, &block(0));
    exchange.submit(1, &fsync());
    let commit = exchange.only();
    exchange.answer(&commit, SECOND);
    let rewrite = exchange.only();
    exchange.submit(2, &read(0, SIZE));
    assert_eq!(exchange.only(), rewrite);
    exchange.answer(&rewrite, SECOND);
    assert_eq!(exchange.only().procedure, NfsProcedure::READ);
}

#[test]
fn a_failed_read_does_not_wait() {
    let mut exchange = Exchange::new(1, "", 4, |_| {});
    written(&mut exchange, 0, &block(0));
    exchange.submit(1, &read(0, SIZE));
    exchange.reconnect();
    let reading = exchange.calls[0].clone();
    exchange.fail(&reading, nfsstat3::NFS3ERR_STALE);
    assert_eq!(exchange.done(), [(1, -116)]);
}

#[test]
fn a_second_reconnection_starts_another_check() {
    let mut exchange = Exchange::new(1, "", 4, |_| {});
    written(&mut exchange, 0, &block(0));
    exchange.reconnect();
    exchange.reconnect();
    exchange.submit(1, &read(0, SIZE));
    let check = exchange.only();
    exchange.answer(&check, FIRST);
    // This COMMIT was first sent before the second reconnection, so it does not decide.
    let check = exchange.only();
    assert_eq!(check.procedure, NfsProcedure::COMMIT);
    exchange.answer(&check, FIRST);
    assert_eq!(exchange.only().procedure, NfsProcedure::READ);
}

#[test]
fn uncommitted_data_is_committed_when_half_of_the_log_is_used() {
    let mut exchange = Exchange::new(1, "", 4, |access| access.uncommitted_max = 8);
    for number in 0..4 {
        written(&mut exchange, 0, &block(number));
        assert!(exchange.calls.is_empty());
    }
    exchange.submit(0, &block(4));
    let call = exchange.only();
    exchange.answer(&call, FIRST);
    let commit = exchange.only();
    assert_eq!(commit.procedure, NfsProcedure::COMMIT);
    // Its failure fails the next fsync, once.
    exchange.fail(&commit, nfsstat3::NFS3ERR_IO);
    exchange.done();
    exchange.submit(1, &fsync());
    let commit = exchange.only();
    exchange.answer(&commit, FIRST);
    assert_eq!(exchange.done(), [(1, -5)]);
    exchange.submit(1, &fsync());
    let commit = exchange.only();
    exchange.answer(&commit, FIRST);
    assert_eq!(exchange.done(), [(1, 0)]);
}

#[test]
fn at_most_four_files_are_committed_concurrently() {
    let mut exchange = Exchange::new(7, "", 8, |access| access.uncommitted_max = 11);
    // File 3 has no uncommitted data.
    for file in [0, 1, 2, 4, 5, 6] {
        exchange.submit(0, &Op { file, ..block(0) });
        let call = exchange.only();
        exchange.answer(&call, FIRST);
    }
    let mut files = Vec::new();
    while let Some(commit) = exchange.calls.front().cloned() {
        assert_eq!(commit.procedure, NfsProcedure::COMMIT);
        assert_eq!(exchange.calls.len(), 4.min(6 - files.len()), "{:?}", exchange.calls);
        files.push(commit.file);
        exchange.answer(&commit, FIRST);
    }
    assert_eq!(files, [0, 1, 2, 4, 5, 6]);
}

#[test]
fn a_recovering_file_is_not_committed() {
    let mut exchange = Exchange::new(2, "", 4, |access| access.uncommitted_max = 4);
    written(&mut exchange, 0, &block(0));
    exchange.submit(1, &fsync());
    let commit = exchange.only();
    exchange.answer(&commit, SECOND);
    assert_eq!(exchange.only().stable, Some(stable_how::FILE_SYNC));
    for number in 0..2 {
        exchange.submit(0, &Op { file: 1, ..block(number) });
        let call = exchange.calls[1].clone();
        exchange.answer(&call, SECOND);
    }
    let sent: Vec<_> = exchange.calls.iter().map(|call| (call.procedure, call.file)).collect();
    assert_eq!(sent, [(NfsProcedure::WRITE, 0), (NfsProcedure::COMMIT, 1)]);
}

#[test]
fn a_failed_write_is_not_rewritten() {
    let mut exchange = Exchange::new(1, "wsize=4096", 4, |_| {});
    written_in_halves(&mut exchange, &block(0), |exchange, half| exchange.answer(half, FIRST));
    assert_eq!(exchange.done(), [(0, SIZE as i32)]);
    written_in_halves(&mut exchange, &block(1), |exchange, half| {
        exchange.fail(half, nfsstat3::NFS3ERR_NOSPC);
    });
    assert_eq!(exchange.done(), [(0, -28)]);
    exchange.submit(1, &fsync());
    let commit = exchange.only();
    exchange.answer(&commit, SECOND);
    let offsets: Vec<u64> = exchange.calls.iter().map(|call| call.offset).collect();
    assert_eq!(offsets, [0, 4096]);
}

/// Writes in two calls: the first instance acknowledges the first; `last` answers the second.
fn written_in_halves(exchange: &mut Exchange, op: &Op, last: impl Fn(&mut Exchange, &Call)) {
    exchange.submit(0, op);
    let halves: Vec<Call> = exchange.calls.iter().cloned().collect();
    assert_eq!(halves.len(), 2);
    exchange.answer(&halves[0], FIRST);
    last(exchange, &halves[1]);
}

#[test]
fn the_targets_own_commit_with_another_verifier_starts_the_rewrite() {
    let mut exchange = Exchange::new(1, "", 4, |access| access.uncommitted_max = 4);
    for number in 0..3 {
        exchange.submit(0, &block(number));
        let call = exchange.only();
        exchange.answer(&call, FIRST);
    }
    let commit = exchange.only();
    assert_eq!(commit.procedure, NfsProcedure::COMMIT);
    exchange.answer(&commit, SECOND);
    let offsets: Vec<u64> = exchange.calls.iter().map(|call| call.offset).collect();
    assert_eq!(offsets, [0, 8192, 16384]);
    assert!(exchange.calls.iter().all(|call| call.stable == Some(stable_how::FILE_SYNC)));
}

#[test]
fn writes_that_do_not_fit_in_the_log_are_written_durably() {
    let mut exchange = Exchange::new(1, "", 8, |access| access.uncommitted_max = 4);
    for tag in 0..6 {
        exchange.submit(tag, &block(u64::from(tag)));
    }
    let stable: Vec<_> = exchange.calls.iter().map(|call| call.stable.unwrap()).collect();
    let (unstable, durable) = (stable_how::UNSTABLE, stable_how::DATA_SYNC);
    assert_eq!(stable, [unstable, unstable, unstable, unstable, durable, durable]);
    // Replies free room, except for logged writes.
    let calls: Vec<Call> = exchange.calls.drain(4..).collect();
    exchange.calls.extend(calls.iter().cloned());
    for call in &calls {
        exchange.answer(call, FIRST);
    }
    exchange.submit(4, &block(10));
    assert_eq!(exchange.calls.back().unwrap().stable, Some(durable));
}
