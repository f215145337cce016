//! The client's behaviour for everything that a server may do.

use std::sync::Arc;
use std::time::{Duration, Instant};

use nfs3::arguments::stable_how;
use nfs3::procedure::NfsProcedure;
use nfs3::types::nfsstat3;
use target::{Target, Wait};
use workload::op::{Op, OpKind};

use crate::drive::{all, fill, fsync, read, write};
use crate::scripted::{Act, Scripted, byte_of};

const KIB: u64 = 1 << 10;

fn is_content(op: &Op, memory: &[u8]) -> bool {
    let start = op.offset_bytes as usize;
    memory.iter().enumerate().all(|(at, byte)| *byte == byte_of(op.file as usize, start + at))
}

/// Reads a small file in pieces and compares its content.
fn reads_correctly(act: impl Fn(usize) -> Act + Send + 'static, options: &str) -> Scripted {
    let server = Scripted::start((1, 1 << 20), move |_, world| act(world.seen.len()));
    let mut target = server.open(options, 16, |_| {});
    let ops: Vec<Op> = (0..128).map(|index| read(index * 8 * KIB, 8192)).collect();
    let results = all(&mut target, &ops, 16, |op, memory| assert!(is_content(op, memory)));
    assert!(results.iter().all(|result| *result == 8192), "{results:?}");
    server
}

#[test]
fn replies_in_another_order_are_matched_to_their_operations() {
    reads_correctly(|_| Act::Reversed(16), "");
}

#[test]
fn replies_in_fragments_are_reassembled() {
    reads_correctly(|_| Act::Fragments, "");
}

#[test]
fn calls_to_a_busy_server_are_repeated_and_counted() {
    let jukebox = |seen| {
        if seen % 10 == 1 { Act::Fail(nfsstat3::NFS3ERR_JUKEBOX) } else { Act::Answer }
    };
    let server = reads_correctly(jukebox, "");
    let calls = server.world.lock().unwrap().seen.len();
    assert!(calls > 128, "{calls}");
}

#[test]
fn short_replies_are_continued_until_the_end_of_the_file() {
    let server = Scripted::start((1, 100_000), |_, _| Act::Short(3000));
    let mut target = server.open("", 4, |_| {});
    let ops = [read(0, 65536), read(65536, 65536), read(200_000, 8192)];
    let results = all(&mut target, &ops, 4, |op, memory| {
        let there = 100_000usize.saturating_sub(op.offset_bytes as usize).min(memory.len());
        assert!(is_content(op, &memory[..there]));
    });
    assert_eq!(results, [65536, 100_000 - 65536, 0]);
    let counters = target.connections()[0];
    let reads = counters.kinds[OpKind::Read as usize];
    assert_eq!((reads.operations, reads.calls, reads.bytes), (3, 22 + 12 + 1, 100_000));
}

#[test]
fn an_operation_above_rsize_is_split_into_calls() {
    let server = Scripted::start((1, 1 << 20), |_, _| Act::Answer);
    let mut target = server.open("rsize=4096&wsize=8192", 4, |_| {});
    let ops = [read(0, 65536), read(8192, 10_000), write(65536, 65536), write(0, 12_000)];
    let results = all(&mut target, &ops, 4, |_, _| {});
    assert_eq!(results, [65536, 10_000, 65536, 12_000]);
    let kinds = target.connections()[0].kinds;
    assert_eq!((kinds[0].operations, kinds[0].calls, kinds[0].bytes), (2, 16 + 3, 75_536));
    assert_eq!((kinds[1].operations, kinds[1].calls, kinds[1].bytes), (2, 8 + 2, 77_536));
    let mut expected = vec![0; 65536];
    fill(&ops[2], &mut expected);
    assert!(server.world.lock().unwrap().files[0][65536..131_072] == expected);
}

#[test]
fn the_first_failure_of_a_split_operation_is_its_result() {
    let server = Scripted::start((1, 1 << 20), |seen, _| match seen.offset {
        8192 => Act::Fail(nfsstat3::NFS3ERR_NOSPC),
        _ => Act::Answer,
    });
    let mut target = server.open("rsize=4096", 4, |_| {});
    assert_eq!(all(&mut target, &[read(0, 65536), read(65536, 4096)], 4, |_, _| {}), [-28, 4096]);
}

#[test]
fn a_stale_handle_fails_only_its_operations() {
    let server = Scripted::start((2, 1 << 20), |seen, _| match seen.offset {
        0 => Act::Fail(nfsstat3::NFS3ERR_STALE),
        _ => Act::Answer,
    });
    let mut target = server.open("", 4, |_| {});
    let results = all(&mut target, &[read(0, 8192), read(8192, 8192)], 4, |_, _| {});
    assert_eq!(results, [-116, 8192]);
}

#[test]
fn a_lost_connection_is_replaced_and_its_calls_are_repeated_with_their_xids() {
    for options in ["nconnect=1", "nconnect=3"] {
        let server = Scripted::start((1, 1 << 20), |_, world| match world.seen.len() {
            20 => Act::DoAndClose,
            50 => Act::Close,
            _ => Act::Answer,
        });
        let mut target = server.open(options, 16, |_| {});
        let mut ops: Vec<Op> = (0..64).map(|index| write(index * 16 * KIB, 16384)).collect();
        for (index, op) in ops.iter_mut().enumerate() {
            op.index = index as u64;
        }
        let results = all(&mut target, &ops, 16, |_, _| {});
        assert!(results.iter().all(|result| *result == 16384), "{results:?}");
        let (mut reconnects, mut replays, mut operations) = (0, 0, 0);
        for connection in target.connections() {
            reconnects += connection.reconnects;
            replays += connection.replays;
            operations += connection.kinds[OpKind::Write as usize].operations;
        }
        assert_eq!((reconnects, operations), (2, 64));
        assert!(replays >= 2, "{replays}");
        let world = server.world.lock().unwrap();
        let mut expected = vec![0; 16384];
        for op in &ops {
            fill(op, &mut expected);
            assert!(world.files[0][op.offset_bytes as usize..][..16384] == expected);
        }
        // Repeated calls keep their xids.
        let writes = world.seen.iter().filter(|seen| seen.procedure == NfsProcedure::WRITE);
        let mut xids: Vec<u32> = writes.map(|seen| seen.xid).collect();
        xids.sort_unstable();
        xids.dedup();
        assert_eq!(xids.len(), 64);
    }
}

#[test]
fn calls_to_a_silent_server_are_repeated_over_another_connection() {
    let server = Scripted::start((1, 1 << 20), |_, world| match world.seen.len() {
        1..=4 => Act::Silence,
        _ => Act::Answer,
    });
    let mut target = server.open("timeo=100ms", 4, |_| {});
    let ops: Vec<Op> = (0..8).map(|index| read(index * 8 * KIB, 8192)).collect();
    let results = all(&mut target, &ops, 4, |op, memory| assert!(is_content(op, memory)));
    assert!(results.iter().all(|result| *result == 8192), "{results:?}");
    let counters = target.connections()[0];
    {
        // On a slow machine a reply may also come too late, so compare with what was sent.
        let world = server.world.lock().unwrap();
        let last = world.seen.iter().map(|seen| seen.connection).max().unwrap();
        let first = world.seen.iter().map(|seen| seen.connection).min().unwrap();
        let expected = ((last - first) as u64, (world.seen.len() - ops.len()) as u64);
        assert_eq!((counters.reconnects, counters.replays), expected);
        assert!(counters.reconnects >= 1 && counters.replays >= 4, "{counters:?}");
    }
    // The silent connection was reset, so that nothing sent over it arrives after the repetition.
    // The server's thread notices this with a delay.
    let begun = Instant::now();
    while server.world.lock().unwrap().resets == 0 {
        assert!(begun.elapsed() < Duration::from_secs(30), "it was closed and not reset");
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn an_unusable_stream_is_abandoned_and_its_calls_are_repeated() {
    let garbage = |seen| if seen == 30 { Act::Garbage } else { Act::Answer };
    reads_correctly(garbage, "");
    reads_correctly(garbage, "nconnect=2");
}

#[test]
fn calls_that_do_not_fit_the_send_buffer_are_sent_later() {
    for options in ["nconnect=1&slots=512", "nconnect=2&slots=256"] {
        let server = Scripted::start((1, 32 << 20), |_, _| Act::Answer);
        let mut target = server.open(options, 512, |_| {});
        let ops: Vec<Op> = (0..512).map(|index| write(index * 64 * KIB, 65536)).collect();
        // While its state is locked, the server stops at its first call: the calls exceed what the
        // kernel buffers on both sides.
        let world = Arc::clone(&server.world);
        let locked = world.lock().unwrap();
        let mut done = Vec::with_capacity(512);
        for (tag, op) in (0..).zip(&ops) {
            fill(op, &mut target.buffer(tag).unwrap()[..65536]);
            target.submit(tag, op).unwrap();
        }
        for _ in 0..20 {
            target.reap(Wait::Precise(Duration::from_millis(1)), &mut done).unwrap();
        }
        assert!(done.is_empty());
        drop(locked);
        for _ in 0..100_000 {
            target.reap(Wait::Coarse(Duration::from_millis(100)), &mut done).unwrap();
            if done.len() == ops.len() {
                break;
            }
        }
        assert_eq!(done.len(), ops.len());
        assert!(done.iter().all(|completion| completion.result == 65536));
        let world = server.world.lock().unwrap();
        let mut expected = vec![0; 65536];
        for op in &ops {
            fill(op, &mut expected);
            assert!(world.files[0][op.offset_bytes as usize..][..65536] == expected);
        }
    }
}

#[test]
fn data_that_a_restarted_server_lost_is_rewritten_before_the_fsync_completes() {
    for restart_at in [NfsProcedure::WRITE, NfsProcedure::COMMIT] {
        let mut restarted = false;
        let server = Scripted::start((1, 1 << 20), move |seen, world| {
            if seen.procedure == restart_at && world.seen.len() > 40 && !restarted {
                restarted = true;
                world.restart();
            }
            Act::Answer
        });
        let rewrite = |access: &mut target::nfs::NfsAccess| {
            access.rewrite = Some(Arc::new(|op: &Op, memory: &mut [u8]| fill(op, memory)));
        };
        let mut target = server.open("nconnect=2&wsize=4096", 8, rewrite);
        // Ranges are written several times; the last write must win.
        let mut ops: Vec<Op> = (0..64).map(|index| write(index % 24 * 8 * KIB, 8192)).collect();
        for (index, op) in ops.iter_mut().enumerate() {
            op.index = index as u64;
        }
        let mut expected = server.world.lock().unwrap().files[0].clone();
        for chunk in ops.chunks(8) {
            let results = all(&mut target, chunk, 8, |_, _| {});
            assert!(results.iter().all(|result| *result == 8192), "{results:?}");
            for op in chunk {
                fill(op, &mut expected[op.offset_bytes as usize..][..8192]);
            }
        }
        assert_eq!(all(&mut target, &[fsync()], 8, |_, _| {}), [0]);
        let world = server.world.lock().unwrap();
        assert_eq!(world.verifier[0], 1, "the server was restarted");
        assert!(world.durable[0] == expected, "all written data is durable");
        let again = |seen: &&crate::scripted::Seen| seen.stable == Some(stable_how::FILE_SYNC);
        assert!(world.seen.iter().filter(again).count() > 0);
    }
}

#[test]
fn lost_data_that_cannot_be_rewritten_fails_the_next_fsync() {
    let server = Scripted::start((1, 1 << 20), |seen, world| {
        if seen.procedure == NfsProcedure::COMMIT && world.count(NfsProcedure::COMMIT) == 1 {
            world.restart();
        }
        Act::Answer
    });
    let mut target = server.open("", 1, |_| {});
    let results = all(&mut target, &[write(0, 8192), fsync(), fsync()], 1, |_, _| {});
    assert_eq!(results, [8192, -5, 0]);
}

#[test]
fn the_log_of_uncommitted_writes_stays_within_its_memory() {
    let server = Scripted::start((2, 1 << 20), |_, _| Act::Answer);
    let mut target = server.open("", 8, |access| access.uncommitted_max = 32);
    let ops: Vec<Op> = (0..256u64)
        .map(|index| Op { file: (index % 2) as u32, ..write(index % 128 * 8 * KIB, 8192) })
        .collect();
    let results = all(&mut target, &ops, 8, |_, _| {});
    assert!(results.iter().all(|result| *result == 8192), "{results:?}");
    let counted = target.connections()[0].kinds[OpKind::Fsync as usize];
    assert_eq!(counted.operations, 0);
    assert!(counted.calls >= 8, "{counted:?}");
    let commits = server.world.lock().unwrap().count(NfsProcedure::COMMIT) as u64;
    assert!(commits >= 8 && commits <= counted.calls, "{commits} of {counted:?}");
}

#[test]
fn writes_have_the_configured_stability() {
    use workload::plan::WriteStability;
    for (asked, wire) in [
        (WriteStability::Unstable, stable_how::UNSTABLE),
        (WriteStability::DataSync, stable_how::DATA_SYNC),
        (WriteStability::FileSync, stable_how::FILE_SYNC),
    ] {
        let server = Scripted::start((1, 1 << 20), |_, _| Act::Answer);
        let mut target = server.open("", 1, |access| access.stability = asked);
        assert_eq!(all(&mut target, &[write(0, 8192)], 1, |_, _| {}), [8192]);
        assert_eq!(server.world.lock().unwrap().seen[0].stable, Some(wire));
    }
}

#[test]
fn a_queue_depth_of_64_over_four_connections_is_16_on_each() {
    for policy in ["round-robin", "least-outstanding"] {
        let server = Scripted::start((1, 1 << 20), |_, _| Act::Together(64));
        let mut target = server.open(&format!("nconnect=4&policy={policy}"), 64, |_| {});
        let ops: Vec<Op> = (0..128).map(|index| read(index * 4 * KIB, 4096)).collect();
        // The second time with connections that already carried calls.
        for ops in ops.chunks(64) {
            let results = all(&mut target, ops, 64, |_, _| {});
            assert!(results.iter().all(|result| *result == 4096), "{results:?}");
            let mut world = server.world.lock().unwrap();
            let mut connections: Vec<usize> =
                world.seen.drain(..).map(|seen| seen.connection).collect();
            connections.sort_unstable();
            let counts: Vec<usize> =
                connections.chunk_by(|a, b| a == b).map(<[usize]>::len).collect();
            assert_eq!(counts, [16; 4], "{policy}");
        }
    }
}

#[test]
fn the_policy_per_file_keeps_a_file_on_one_connection() {
    let server = Scripted::start((6, 1 << 20), |_, _| Act::Answer);
    let mut target = server.open("nconnect=3&policy=per-file", 8, |_| {});
    let ops: Vec<Op> =
        (0..60u32).map(|i| Op { file: i % 6, ..read(u64::from(i % 6) * 4096, 4096) }).collect();
    all(&mut target, &ops, 8, |op, memory| assert!(is_content(op, memory)));
    let world = server.world.lock().unwrap();
    for file in 0..6 {
        let mut over: Vec<usize> = world
            .seen
            .iter()
            .filter(|seen| seen.offset == file * 4096)
            .map(|seen| seen.connection)
            .collect();
        over.dedup();
        assert_eq!(over.len(), 1, "file {file} over {over:?}");
    }
}

#[test]
fn operations_beyond_the_slots_of_a_connection_wait_in_the_target() {
    // Replies are sent in groups of four, so more than four outstanding calls would be noticed.
    let server = Scripted::start((1, 1 << 20), |_, _| Act::Reversed(4));
    let mut target = server.open("slots=4&nconnect=1", 32, |_| {});
    let ops: Vec<Op> = (0..64).map(|index| read(index * 4 * KIB, 4096)).collect();
    let results = all(&mut target, &ops, 32, |op, memory| assert!(is_content(op, memory)));
    assert!(results.iter().all(|result| *result == 4096), "{results:?}");
    let counters = target.connections()[0];
    let mean = counters.outstanding_time_ns / u128::from(counters.age_ns);
    assert!(mean <= 4, "{mean}");
    assert!(counters.tcp.is_some_and(|tcp| tcp.rtt_ns > 0));
    assert_eq!(counters.remote.to_string().split(':').next(), Some("127.0.0.1"));
    assert!(counters.local.port > 0);
}
