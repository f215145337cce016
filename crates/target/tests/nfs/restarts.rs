//! What the client writes again after a server has restarted, reply by reply: what one instance has
//! answered and another has not committed is lost (RFC 1813, section 3.3.7 and 3.3.21).

use nfs3::arguments::stable_how;
use nfs3::procedure::NfsProcedure;
use nfs3::types::nfsstat3;
use workload::op::{Op, OpKind};

use crate::drive::{fill, fsync, read, write};
use crate::exchange::{Call, Exchange, FIRST, SECOND};

const SIZE: u32 = 8192;

fn place(number: u64) -> Op {
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

/// Writes and has the first instance answer.
fn written(exchange: &mut Exchange, tag: u32, op: &Op) {
    exchange.submit(tag, op);
    let call = exchange.only();
    assert_eq!(call.stable, Some(stable_how::UNSTABLE));
    exchange.answer(&call, FIRST);
    assert_eq!(exchange.done(), [(tag, SIZE as i32)]);
}

#[test]
fn a_commit_with_another_verifier_ends_nothing_before_the_data_is_written_again() {
    let mut exchange = Exchange::new(1, "", 4, |_| {});
    written(&mut exchange, 0, &place(3));
    exchange.submit(1, &fsync());
    let commit = exchange.only();
    assert_eq!(commit.procedure, NfsProcedure::COMMIT);
    exchange.answer(&commit, SECOND);
    assert_eq!(exchange.done(), []);
    let rewrite = exchange.only();
    assert!(is_rewrite_of(&rewrite, &place(3)), "{rewrite:?}");
    exchange.answer(&rewrite, SECOND);
    assert_eq!(exchange.done(), [(1, 0)]);
    let counters = exchange.counters();
    assert_eq!((counters.verifier_changes, counters.rewritten_bytes), (1, u64::from(SIZE)));
    // It is durable: the next fsync is a COMMIT and nothing more.
    exchange.submit(1, &fsync());
    let commit = exchange.only();
    exchange.answer(&commit, SECOND);
    assert_eq!(exchange.done(), [(1, 0)]);
}

#[test]
fn a_commit_answered_before_the_restart_does_not_count_after_it() {
    let mut exchange = Exchange::new(1, "", 4, |_| {});
    written(&mut exchange, 0, &place(0));
    exchange.submit(1, &fsync());
    let commit = exchange.only();
    exchange.submit(2, &place(5));
    let late = exchange.calls[1].clone();
    // The second instance's answer overtakes the first one's, which the network kept.
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
fn a_write_that_was_answered_before_and_after_a_restart_is_written_again() {
    // The first half is answered by the first instance, the second half by the second.
    let mut exchange = Exchange::new(1, "wsize=4096", 4, |_| {});
    let op = place(2);
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
fn a_write_whose_answer_from_before_the_restart_comes_late_is_written_again() {
    let mut exchange = Exchange::new(1, "", 4, |_| {});
    written(&mut exchange, 0, &place(9));
    exchange.submit(1, &fsync());
    let commit = exchange.only();
    exchange.answer(&commit, FIRST);
    assert_eq!(exchange.done(), [(1, 0)]);
    exchange.submit(0, &place(0));
    exchange.submit(1, &place(1));
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
fn the_last_write_to_a_place_is_what_is_there_after_a_restart() {
    let mut exchange = Exchange::new(1, "", 4, |_| {});
    let (first, second) = (place(1), Op { index: 77, ..place(1) });
    written(&mut exchange, 0, &first);
    written(&mut exchange, 0, &second);
    exchange.submit(1, &fsync());
    let commit = exchange.only();
    exchange.answer(&commit, SECOND);
    // One after the other, for they overlap.
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
fn neighbours_are_written_again_together_and_overlapping_bytes_are_not() {
    let mut exchange = Exchange::new(1, "", 4, |_| {});
    // 0 to 8 KiB, 8 to 16 KiB, and the byte at their border.
    let border = Op { index: 5, ..write(8191, 2) };
    for op in [&place(0), &place(1), &border] {
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
fn the_same_bytes_of_two_files_are_written_again_together() {
    let mut exchange = Exchange::new(2, "", 4, |_| {});
    written(&mut exchange, 0, &place(0));
    written(&mut exchange, 0, &Op { file: 1, ..place(0) });
    exchange.submit(1, &fsync());
    let commit = exchange.only();
    exchange.answer(&commit, SECOND);
    let mut files: Vec<u8> = exchange.calls.iter().map(|call| call.file).collect();
    files.sort_unstable();
    assert_eq!(files, [0, 1]);
}

#[test]
fn no_more_than_eight_writes_are_done_again_at_a_time() {
    let mut exchange = Exchange::new(1, "", 4, |_| {});
    for number in 0..20 {
        written(&mut exchange, 0, &place(number));
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
fn writes_of_a_file_that_recovers_wait_and_those_of_other_files_do_not() {
    let mut exchange = Exchange::new(2, "", 8, |_| {});
    written(&mut exchange, 0, &place(0));
    exchange.submit(1, &fsync());
    let commit = exchange.only();
    exchange.answer(&commit, SECOND);
    let rewrite = exchange.only();
    exchange.submit(2, &place(0));
    exchange.submit(3, &Op { file: 1, ..place(7) });
    let sent: Vec<u8> = exchange.calls.iter().skip(1).map(|call| call.file).collect();
    assert_eq!(sent, [1], "the write to file 0 waits");
    exchange.answer(&rewrite, SECOND);
    let held: Vec<&Call> = exchange.calls.iter().filter(|call| call.file == 0).collect();
    assert_eq!(held.len(), 1);
    assert_eq!(held[0].stable, Some(stable_how::UNSTABLE));
}

#[test]
fn data_is_written_again_only_when_the_writes_under_way_have_ended() {
    let mut exchange = Exchange::new(1, "", 4, |_| {});
    written(&mut exchange, 0, &place(0));
    exchange.submit(1, &place(0));
    let under_way = exchange.only();
    exchange.submit(2, &fsync());
    let commit = exchange.calls[1].clone();
    exchange.answer(&commit, SECOND);
    assert_eq!(exchange.only().xid, under_way.xid, "nothing is written again meanwhile");
    exchange.answer(&under_way, SECOND);
    assert!(exchange.only().stable == Some(stable_how::FILE_SYNC));
}

#[test]
fn a_failed_rewrite_fails_the_next_fsync_and_only_that() {
    let mut exchange = Exchange::new(1, "", 4, |_| {});
    written(&mut exchange, 0, &place(0));
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
    exchange.submit(0, &place(0));
    let call = exchange.only();
    exchange.answer(&call, FIRST);
    exchange.submit(1, &place(1));
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
fn a_commit_makes_durable_what_was_answered_before_it_was_sent_and_nothing_else() {
    let mut exchange = Exchange::new(1, "", 4, |_| {});
    written(&mut exchange, 0, &place(0));
    exchange.submit(1, &fsync());
    let commit = exchange.only();
    exchange.submit(0, &place(1));
    let write = exchange.calls[1].clone();
    exchange.answer(&write, FIRST);
    exchange.answer(&commit, FIRST);
    assert_eq!(exchange.done(), [(0, SIZE as i32), (1, 0)]);
    exchange.submit(1, &fsync());
    let commit = exchange.only();
    exchange.answer(&commit, SECOND);
    let rewrite = exchange.only();
    assert!(is_rewrite_of(&rewrite, &place(1)), "{rewrite:?}");
}

#[test]
fn a_read_after_a_reconnection_waits_until_the_server_is_known_to_be_the_same() {
    let mut exchange = Exchange::new(2, "", 4, |_| {});
    written(&mut exchange, 0, &place(0));
    exchange.reconnect();
    let asking = exchange.only();
    assert_eq!((asking.procedure, asking.file), (NfsProcedure::COMMIT, 0));
    exchange.submit(1, &read(0, SIZE));
    // A file with nothing uncommitted is not in doubt.
    exchange.submit(2, &Op { file: 1, ..read(0, SIZE) });
    assert_eq!(exchange.calls.len(), 2);
    exchange.answer(&asking, FIRST);
    assert_eq!(exchange.calls.iter().map(|call| call.file).collect::<Vec<_>>(), [1, 0]);
}

#[test]
fn a_read_that_may_have_seen_what_was_there_before_is_made_again_after_the_rewrite() {
    let mut exchange = Exchange::new(1, "", 4, |_| {});
    written(&mut exchange, 0, &place(0));
    exchange.submit(1, &read(0, SIZE));
    exchange.reconnect();
    let [reading, asking]: [Call; 2] =
        exchange.calls.iter().cloned().collect::<Vec<_>>().try_into().unwrap();
    exchange.answer(&reading, FIRST);
    assert_eq!(exchange.done(), [], "it may have seen what was there before the write");
    exchange.answer(&asking, SECOND);
    let rewrite = exchange.only();
    assert!(is_rewrite_of(&rewrite, &place(0)));
    exchange.answer(&rewrite, SECOND);
    let again = exchange.only();
    assert_eq!(again.procedure, NfsProcedure::READ);
    exchange.answer(&again, SECOND);
    assert_eq!(exchange.done(), [(1, SIZE as i32)]);
    assert_eq!(exchange.counters().kinds[OpKind::Read as usize].operations, 1);
}

#[test]
fn a_reconnection_with_a_write_under_way_asks_for_the_verifier_too() {
    // Over another connection its answer from before a restart may still come.
    let mut exchange = Exchange::new(1, "", 4, |_| {});
    exchange.submit(0, &place(0));
    exchange.reconnect();
    let sent: Vec<_> = exchange.calls.iter().map(|call| call.procedure).collect();
    assert_eq!(sent, [NfsProcedure::WRITE, NfsProcedure::COMMIT]);
    // Nothing that could be lost: nothing is asked.
    let mut exchange = Exchange::new(1, "", 4, |_| {});
    exchange.submit(0, &read(0, SIZE));
    exchange.reconnect();
    assert_eq!(exchange.only().procedure, NfsProcedure::READ);
}

/// A read that was under way while its file recovered.
fn read_under_way_during_a_recovery(exchange: &mut Exchange) -> Call {
    written(exchange, 0, &place(0));
    exchange.submit(1, &read(0, SIZE));
    exchange.reconnect();
    let [reading, asking]: [Call; 2] =
        exchange.calls.iter().cloned().collect::<Vec<_>>().try_into().unwrap();
    exchange.answer(&asking, SECOND);
    let rewrite = exchange.calls[1].clone();
    assert!(is_rewrite_of(&rewrite, &place(0)));
    exchange.answer(&rewrite, SECOND);
    reading
}

#[test]
fn a_read_that_is_answered_after_the_rewrite_is_made_again() {
    let mut exchange = Exchange::new(1, "", 4, |_| {});
    let reading = read_under_way_during_a_recovery(&mut exchange);
    exchange.answer(&reading, SECOND);
    assert_eq!(exchange.done(), [], "it may have been done before the rewrite");
    let again = exchange.only();
    assert_eq!(again.procedure, NfsProcedure::READ);
    exchange.answer(&again, SECOND);
    assert_eq!(exchange.done(), [(1, SIZE as i32)]);
    assert_eq!(exchange.counters().replays, 2, "once by the reconnection, once for the rewrite");
}

#[test]
fn a_read_is_not_made_again_while_the_next_restart_is_not_ruled_out() {
    let mut exchange = Exchange::new(1, "", 4, |_| {});
    read_under_way_during_a_recovery(&mut exchange);
    exchange.submit(0, &place(5));
    let write = exchange.calls[1].clone();
    exchange.answer(&write, SECOND);
    exchange.reconnect();
    let [reading, asking]: [Call; 2] =
        exchange.calls.iter().cloned().collect::<Vec<_>>().try_into().unwrap();
    exchange.answer(&reading, SECOND);
    assert_eq!(exchange.only(), asking);
    exchange.answer(&asking, SECOND);
    assert_eq!(exchange.only().procedure, NfsProcedure::READ);
}

#[test]
fn a_read_of_a_file_that_recovers_waits() {
    let mut exchange = Exchange::new(1, "", 4, |_| {});
    written(&mut exchange, 0, &place(0));
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
fn a_read_that_fails_need_not_wait() {
    let mut exchange = Exchange::new(1, "", 4, |_| {});
    written(&mut exchange, 0, &place(0));
    exchange.submit(1, &read(0, SIZE));
    exchange.reconnect();
    let reading = exchange.calls[0].clone();
    exchange.fail(&reading, nfsstat3::NFS3ERR_STALE);
    assert_eq!(exchange.done(), [(1, -116)]);
}

#[test]
fn a_second_reconnection_asks_again() {
    let mut exchange = Exchange::new(1, "", 4, |_| {});
    written(&mut exchange, 0, &place(0));
    exchange.reconnect();
    exchange.reconnect();
    exchange.submit(1, &read(0, SIZE));
    let asking = exchange.only();
    exchange.answer(&asking, FIRST);
    // That one was sent before the second reconnection as well as after it; only one that was first
    // sent after it tells.
    let asking = exchange.only();
    assert_eq!(asking.procedure, NfsProcedure::COMMIT);
    exchange.answer(&asking, FIRST);
    assert_eq!(exchange.only().procedure, NfsProcedure::READ);
}

#[test]
fn uncommitted_data_is_committed_when_half_of_its_memory_is_used() {
    let mut exchange = Exchange::new(1, "", 4, |access| access.uncommitted_max = 8);
    for number in 0..4 {
        written(&mut exchange, 0, &place(number));
        assert!(exchange.calls.is_empty());
    }
    exchange.submit(0, &place(4));
    let call = exchange.only();
    exchange.answer(&call, FIRST);
    let commit = exchange.only();
    assert_eq!(commit.procedure, NfsProcedure::COMMIT);
    // Its failure is the next fsync's, once.
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
fn no_more_than_four_files_are_committed_at_a_time() {
    let mut exchange = Exchange::new(7, "", 8, |access| access.uncommitted_max = 11);
    // File 3 has nothing to be committed.
    for file in [0, 1, 2, 4, 5, 6] {
        exchange.submit(0, &Op { file, ..place(0) });
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
fn a_file_that_recovers_is_not_committed() {
    let mut exchange = Exchange::new(2, "", 4, |access| access.uncommitted_max = 4);
    written(&mut exchange, 0, &place(0));
    exchange.submit(1, &fsync());
    let commit = exchange.only();
    exchange.answer(&commit, SECOND);
    assert_eq!(exchange.only().stable, Some(stable_how::FILE_SYNC));
    for number in 0..2 {
        exchange.submit(0, &Op { file: 1, ..place(number) });
        let call = exchange.calls[1].clone();
        exchange.answer(&call, SECOND);
    }
    let sent: Vec<_> = exchange.calls.iter().map(|call| (call.procedure, call.file)).collect();
    assert_eq!(sent, [(NfsProcedure::WRITE, 0), (NfsProcedure::COMMIT, 1)]);
}

#[test]
fn a_write_that_failed_is_not_written_again() {
    let mut exchange = Exchange::new(1, "wsize=4096", 4, |_| {});
    written_in_halves(&mut exchange, &place(0), |exchange, half| exchange.answer(half, FIRST));
    assert_eq!(exchange.done(), [(0, SIZE as i32)]);
    written_in_halves(&mut exchange, &place(1), |exchange, half| {
        exchange.fail(half, nfsstat3::NFS3ERR_NOSPC);
    });
    assert_eq!(exchange.done(), [(0, -28)]);
    exchange.submit(1, &fsync());
    let commit = exchange.only();
    exchange.answer(&commit, SECOND);
    let offsets: Vec<u64> = exchange.calls.iter().map(|call| call.offset).collect();
    assert_eq!(offsets, [0, 4096]);
}

/// Writes in two calls, the first of which the first instance answers, the second `last`.
fn written_in_halves(exchange: &mut Exchange, op: &Op, last: impl Fn(&mut Exchange, &Call)) {
    exchange.submit(0, op);
    let halves: Vec<Call> = exchange.calls.iter().cloned().collect();
    assert_eq!(halves.len(), 2);
    exchange.answer(&halves[0], FIRST);
    last(exchange, &halves[1]);
}

#[test]
fn a_commit_of_its_own_with_another_verifier_has_the_data_written_again() {
    let mut exchange = Exchange::new(1, "", 4, |access| access.uncommitted_max = 4);
    for number in 0..3 {
        exchange.submit(0, &place(number));
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
fn writes_that_cannot_be_remembered_are_written_durably() {
    let mut exchange = Exchange::new(1, "", 8, |access| access.uncommitted_max = 4);
    for tag in 0..6 {
        exchange.submit(tag, &place(u64::from(tag)));
    }
    let stable: Vec<_> = exchange.calls.iter().map(|call| call.stable.unwrap()).collect();
    let (unstable, durable) = (stable_how::UNSTABLE, stable_how::DATA_SYNC);
    assert_eq!(stable, [unstable, unstable, unstable, unstable, durable, durable]);
    // With answers comes room, except for what is logged.
    let calls: Vec<Call> = exchange.calls.drain(4..).collect();
    exchange.calls.extend(calls.iter().cloned());
    for call in &calls {
        exchange.answer(call, FIRST);
    }
    exchange.submit(4, &place(10));
    assert_eq!(exchange.calls.back().unwrap().stable, Some(durable));
}
