//! When the client acts: in virtual time, so that every time is exact.

use nfs3::types::nfsstat3;
use target::nfs::sans_io::SocketAction;

use crate::drive::{read, write};
use crate::exchange::{Exchange, FIRST};

const MS: u64 = 1_000_000;
const SECOND: u64 = 1000 * MS;

#[test]
fn calls_to_a_busy_server_are_repeated_after_waits_that_double_up_to_five_seconds() {
    let mut exchange = Exchange::new(1, "", 1, |_| {});
    exchange.at(SECOND);
    exchange.submit(0, &write(0, 4096));
    let mut wait = 20 * MS;
    for _ in 0..12 {
        let call = exchange.only();
        exchange.fail(&call, nfsstat3::NFS3ERR_JUKEBOX);
        let answered = exchange.now_ns;
        exchange.at(answered + wait - 1);
        exchange.advance();
        assert!(exchange.calls.is_empty(), "not before {wait} ns");
        assert!(exchange.client.next_ns() <= answered + wait);
        exchange.at(answered + wait);
        exchange.advance();
        assert_eq!(exchange.calls.len(), 1, "after {wait} ns");
        wait = (wait * 2).min(5 * SECOND);
    }
    assert_eq!(exchange.counters().retries, 12);
    let call = exchange.only();
    exchange.answer(&call, FIRST);
    assert_eq!(exchange.done(), [(0, 4096)]);
}

#[test]
fn a_lost_connection_is_replaced_immediately_and_then_after_waits_that_double_up_to_five_seconds() {
    let mut exchange = Exchange::new(1, "", 1, |_| {});
    exchange.at(SECOND);
    exchange.submit(0, &read(0, 4096));
    exchange.client.lost(0);
    assert!(exchange.client.next_ns() <= SECOND);
    assert_eq!(exchange.client.advance(), Some(SocketAction::Connect(0)));
    let mut wait = 50 * MS;
    for _ in 0..10 {
        let lost = exchange.now_ns;
        exchange.client.lost(0);
        exchange.at(lost + wait - 1);
        assert_eq!(exchange.client.advance(), None, "not before {wait} ns");
        assert!(exchange.client.next_ns() <= lost + wait);
        exchange.at(lost + wait);
        assert_eq!(exchange.client.advance(), Some(SocketAction::Connect(0)), "after {wait} ns");
        wait = (wait * 2).min(5 * SECOND);
    }
    // A reply resets the backoff: the next attempt is immediate again.
    exchange.client.connected(0);
    exchange.calls.clear();
    exchange.collect();
    let call = exchange.only();
    exchange.answer(&call, FIRST);
    exchange.client.lost(0);
    assert!(exchange.client.next_ns() <= exchange.now_ns);
    assert_eq!(exchange.client.advance(), Some(SocketAction::Connect(0)));
}

#[test]
fn a_connection_is_closed_when_it_has_been_silent_for_timeo_with_calls_outstanding() {
    let mut exchange = Exchange::new(1, "timeo=10s", 2, |_| {});
    // Without outstanding calls, silence does not count.
    exchange.at(30 * SECOND);
    assert_eq!(exchange.advance(), None);
    exchange.submit(0, &read(0, 4096));
    exchange.at(37 * SECOND);
    assert_eq!(exchange.advance(), None);
    // A reply to another call ends the silence.
    exchange.submit(1, &read(4096, 4096));
    let call = exchange.calls[1].clone();
    exchange.answer(&call, FIRST);
    assert_eq!(exchange.done(), [(1, 4096)]);
    exchange.at(47 * SECOND - 1);
    assert_eq!(exchange.advance(), None);
    // Silence is checked every half second.
    exchange.at(47 * SECOND + SECOND / 2);
    assert_eq!(exchange.advance(), Some(SocketAction::Close(0)));
}

#[test]
fn outstanding_calls_are_counted_over_time() {
    let mut exchange = Exchange::new(1, "", 2, |_| {});
    exchange.at(SECOND);
    exchange.submit(0, &read(0, 4096));
    exchange.at(3 * SECOND);
    exchange.submit(1, &read(4096, 4096));
    exchange.at(4 * SECOND);
    for call in exchange.calls.clone() {
        exchange.answer(&call, FIRST);
    }
    exchange.at(9 * SECOND);
    let counters = exchange.counters();
    // One call for three seconds, another for one.
    assert_eq!(counters.outstanding_time_ns, u128::from(4 * SECOND));
    assert_eq!((counters.outstanding, counters.age_ns), (0, 9 * SECOND));
}

#[test]
fn the_first_of_several_failures_is_the_result_of_the_operation() {
    let mut exchange = Exchange::new(1, "wsize=4096", 1, |_| {});
    exchange.submit(0, &write(0, 8192));
    let halves = exchange.calls.clone();
    exchange.fail(&halves[1], nfsstat3::NFS3ERR_NOSPC);
    exchange.fail(&halves[0], nfsstat3::NFS3ERR_IO);
    assert_eq!(exchange.done(), [(0, -28)]);
}

#[test]
fn the_rest_of_a_short_transfer_is_requested_at_its_offset() {
    let mut exchange = Exchange::new(1, "", 1, |_| {});
    exchange.submit(0, &write(8192, 8192));
    let call = exchange.only();
    let whole = call.data.clone();
    exchange.answer_part(&call, 3000, FIRST);
    let rest = exchange.only();
    assert_eq!((rest.offset, rest.count), (8192 + 3000, 8192 - 3000));
    assert_eq!(rest.data, whole[3000..]);
    exchange.answer(&rest, FIRST);
    assert_eq!(exchange.done(), [(0, 8192)]);
    let written = exchange.counters().kinds[1];
    assert_eq!((written.operations, written.calls, written.bytes), (1, 2, 8192));
}
