//! Known answers of small functions of this client that no larger test pins to a value.

use std::io::ErrorKind;
use std::time::Duration;

use nfs3::arguments::stable_how;
use nfs3::mount::mountstat3;
use nfs3::procedure::NfsProcedure;
use nfs3::request::{Arguments, NfsArguments};
use nfs3::rpc::ReplyStatus;
use nfs3::types::nfsstat3;
use rustix::io::Errno;
use workload::connection::ConnectionCounters;

use super::core::Settings;
use super::dial::Caller;
use super::error::{NfsError, NfsFailure, refused_errno};
use super::fault::{self, Faults, ProtocolFault, Violation};
use super::flow::{Flow, Link};
use super::session::NfsFile;
use super::sockets::nanoseconds;
use super::url::Policy;

const MS: u64 = 1_000_000;

#[test]
fn a_read_may_have_all_requested_bytes_and_no_more() {
    let of = |announced: u32, bytes: usize, eof| {
        fault::of_read((4096, 100), announced, bytes, eof).map(|fault| fault.violation)
    };
    assert_eq!(of(100, 100, false), None);
    assert_eq!(of(1, 1, false), None);
    assert_eq!(of(0, 0, true), None);
    assert_eq!(of(101, 101, false), Some(Violation::TooMany(101)));
    assert_eq!(of(100, 99, false), Some(Violation::DataUnlikeCount(100, 99)));
    assert_eq!(of(0, 0, false), Some(Violation::Nothing));
    assert_eq!(fault::of_read((0, 0), 0, 0, false), None, "nothing was requested");
}

#[test]
fn a_write_may_be_more_stable_than_requested_and_not_less() {
    use stable_how::{DATA_SYNC, FILE_SYNC, UNSTABLE};
    let of = |requested, bytes, committed| {
        fault::of_write((0, 100), requested, bytes, committed).map(|fault| fault.violation)
    };
    assert_eq!(of(UNSTABLE, 100, UNSTABLE), None);
    assert_eq!(of(DATA_SYNC, 1, FILE_SYNC), None);
    assert_eq!(of(UNSTABLE, 101, UNSTABLE), Some(Violation::TooMany(101)));
    assert_eq!(of(UNSTABLE, 0, UNSTABLE), Some(Violation::Nothing));
    let less = Violation::LessStable { requested: FILE_SYNC, committed: DATA_SYNC };
    assert_eq!(of(FILE_SYNC, 100, DATA_SYNC), Some(less));
    assert_eq!(fault::of_write((0, 0), UNSTABLE, 0, UNSTABLE), None, "nothing was requested");
}

#[test]
fn the_first_four_faults_are_kept() {
    let mut faults = Faults::new();
    for file in 0..6 {
        let violation = Violation::Nothing;
        faults.note(file, ProtocolFault::of_transfer(NfsProcedure::READ, (0, 1), violation));
    }
    assert_eq!(faults.iter().map(|(file, _)| *file).collect::<Vec<_>>(), [0, 1, 2, 3]);
}

fn flow() -> Flow {
    Flow::new(4, 4096, 512, 1)
}

/// Queues a call without data and returns its slot.
fn call(flow: &mut Flow) -> u32 {
    let credential = Caller::named("host", 0, 0);
    let arguments = Arguments::Nfs(NfsArguments::NULL(()));
    let slot = flow.client.call(&credential.credential(), &arguments).expect("a slot is free");
    flow.begin(slot, 0);
    slot
}

#[test]
fn a_lost_connection_waits_longer_after_each_failure_and_no_longer_than_five_seconds() {
    let mut flow = flow();
    let mut waits = |times: usize| -> Vec<u64> {
        let waits = (0..times).map(|_| {
            flow.lost(1000, Errno::PIPE);
            let Link::Down { until_ns } = flow.link else { panic!("{:?}", flow.link) };
            (until_ns - 1000) / MS
        });
        let waits = waits.collect();
        flow.answered();
        waits
    };
    assert_eq!(waits(10), [0, 50, 100, 200, 400, 800, 1600, 3200, 5000, 5000]);
    assert_eq!(waits(2), [0, 50], "a reply starts the waits again");
}

#[test]
fn outstanding_time_is_calls_times_time() {
    let (mut flow, mut counters) = (flow(), ConnectionCounters::default());
    flow.count_time(100, &mut counters);
    call(&mut flow);
    call(&mut flow);
    flow.count_time(400, &mut counters);
    assert_eq!(counters.outstanding_time_ns, 2 * 300);
    call(&mut flow);
    flow.update_counters(500, &mut counters);
    assert_eq!(counters.outstanding_time_ns, 2 * 300 + 3 * 100);
    assert_eq!((counters.outstanding, counters.age_ns, counters.down_errno), (3, 500, 0));
}

#[test]
fn an_outage_is_counted_once_and_silence_begins_with_it() {
    let (mut flow, mut counters) = (flow(), ConnectionCounters::default());
    flow.lost(1000, Errno::CONNRESET);
    flow.update_counters(1600, &mut counters);
    assert_eq!(
        (counters.down_time_ns, counters.down_errno),
        (600, Errno::CONNRESET.raw_os_error())
    );
    // A failed attempt changes the reason and not the beginning.
    flow.lost(2000, Errno::CONNREFUSED);
    let silence = |flow: &Flow, now_ns| flow.is_silent(now_ns, 1500);
    assert_eq!((silence(&flow, 2499), silence(&flow, 2500)), (false, true));
    flow.connected(3000, &mut counters);
    assert_eq!((counters.down_time_ns, flow.link, flow.outage), (2000, Link::Up, None));
    assert_eq!((silence(&flow, 4499), silence(&flow, 4500)), (false, true));
}

#[test]
fn only_calls_that_were_sent_count_as_repeated_after_a_loss() {
    let calls = super::calls::Calls::new(1);
    let mut flow = flow();
    let first = call(&mut flow);
    call(&mut flow);
    let length = flow.client.message(first).len();
    flow.sent(&calls, length - 1, 10);
    assert!(!flow.is_sent[first as usize], "its last byte was not sent");
    assert_eq!(flow.heard_ns, 0, "the first bytes of a call prove nothing");
    flow.sent(&calls, 1, 20);
    assert!(flow.is_sent[first as usize]);
    assert_eq!(flow.heard_ns, 20);
    // The second call is sent in part.
    flow.sent(&calls, 1, 30);
    assert_eq!(flow.heard_ns, 20);
    assert_eq!(flow.lost(40, Errno::PIPE), 2);
    assert!(flow.has_unsent());
    assert_eq!(flow.lost(50, Errno::PIPE), 0, "nothing was sent meanwhile");
}

#[test]
fn silence_is_checked_four_times_within_the_time_limit() {
    let of = |timeo_ms: u64| {
        let settings = Settings {
            queue_depth: 1,
            rsize_bytes: 4096,
            wsize_bytes: 4096,
            policy: Policy::RoundRobin,
            stability: stable_how::UNSTABLE,
            keep_read_data: false,
            rewrite: None,
            timeo_ns: timeo_ms * MS,
            connect_timeout_ns: MS,
            caller: Caller::named("host", 0, 0),
        };
        settings.silence_check_ns()
    };
    assert_eq!([of(1), of(1000), of(60_000)], [MS, 250 * MS, 500 * MS]);
}

#[test]
fn the_kernel_reports_microseconds() {
    assert_eq!([nanoseconds(0), nanoseconds(1), nanoseconds(2500)], [0, 1000, 2_500_000]);
    assert_eq!(nanoseconds(u32::MAX), 4_294_967_295_000);
}

#[test]
fn each_failure_has_the_error_number_of_a_mounted_file_system() {
    let of = |failure| {
        let error = NfsError { procedure: "MNT", file: String::new(), failure };
        (Errno::from_raw_os_error(error.errno()), error.kind())
    };
    let refused = |status| of(NfsFailure::Refused(status));
    assert_eq!(of(NfsFailure::Malformed(String::new())).0, Errno::PROTO);
    assert_eq!(
        of(NfsFailure::NoExport { exports: Vec::new(), nearest: None }),
        (Errno::NOENT, ErrorKind::NotFound)
    );
    assert_eq!(
        of(NfsFailure::Jukebox { times: 2, within: Duration::from_secs(1) }),
        (Errno::TIMEDOUT, ErrorKind::TimedOut)
    );
    assert_eq!(of(NfsFailure::Cancelled), (Errno::INTR, ErrorKind::Interrupted));
    assert_eq!(of(NfsFailure::Mount(mountstat3::MNT3ERR_ACCES)).0, Errno::ACCESS);
    assert_eq!(of(NfsFailure::Status(nfsstat3::NFS3ERR_ROFS)).0, Errno::ROFS);
    assert_eq!(refused(ReplyStatus::ProgUnavail).0, Errno::PROTONOSUPPORT);
    assert_eq!(refused_errno(&ReplyStatus::ProcUnavail), Errno::OPNOTSUPP.raw_os_error());
    assert_eq!(refused_errno(&ReplyStatus::GarbageArgs), Errno::IO.raw_os_error());
}

#[test]
fn twelve_exports_are_listed_and_the_nearest_is_first() {
    let text = |count: usize, nearest: Option<usize>| {
        let exports: Vec<String> = (0..count).map(|at| format!("/e{at}")).collect();
        let nearest = nearest.map(|at| exports[at].clone());
        NfsFailure::NoExport { exports, nearest }.to_string()
    };
    assert!(text(0, None).ends_with("it lists no exports"), "{}", text(0, None));
    assert!(text(12, None).ends_with("/e10, /e11"), "{}", text(12, None));
    assert!(text(13, None).ends_with("/e11 and 1 more"), "{}", text(13, None));
    let nearest = text(15, Some(14));
    assert!(nearest.contains("it exports /e14, /e0, "), "{nearest}");
    assert!(nearest.ends_with("/e10 and 3 more; did you mean /e14?"), "{nearest}");
}

#[test]
fn a_path_below_a_folder_has_one_slash_in_between() {
    let handle = nfs3::types::Handle::new(b"h").expect("it is short");
    let of = |path: &str| NfsFile { handle, path: path.to_owned() }.path_of(b"name");
    assert_eq!([of("s:/"), of("s:/vol")], ["s:/name", "s:/vol/name"]);
}

#[test]
fn numbers_for_generations_and_names_differ() {
    assert_ne!(super::random_u64(), super::random_u64());
    let generations: Vec<u32> = (0..4).map(|_| super::channel::first_generation()).collect();
    assert!(generations.windows(2).any(|pair| pair[0] != pair[1]), "{generations:?}");
}
