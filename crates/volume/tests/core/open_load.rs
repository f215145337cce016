//! Open load at, below and above the rate of a limit, in virtual time: when each request is released,
//! and what is counted.

use std::num::NonZeroU64;

use volume::counters::{Counters, Procedure};
use volume::gcra::Rate;
use volume::ids::ClientId;
use volume::qos::{Limits, Request, Shaper};
use volume::service::Service;

use crate::{endpoint_id, id_of, start};

const NS_PER_S: u64 = 1_000_000_000;

/// 64 MiB/s in requests of 8 KiB: one each 122,070.3125 ns.
const BYTES: u64 = 8192;
const PER_S: u64 = 8192;

/// When request `number` is due at a rate, in whole nanoseconds, never early.
fn due_ns(number: u64, per_s: u64) -> u64 {
    (u128::from(number) * u128::from(NS_PER_S)).div_ceil(u128::from(per_s)) as u64
}

/// A service with one volume of 64 MiB/s, without burst, delays or other limits.
const CONFIG: &str = "[[endpoint]]\nname = \"e\"\n[[pool]]\nname = \"p\"\nservice_level = \"premium\"\n\
    size = \"4TiB\"\n[[volume]]\nname = \"v\"\npool = \"p\"\nquota = \"1TiB\"\n\
    [limits]\nrefill_interval = \"0\"\n";

/// Sends requests at these instants, from several clients in turns. Returns the delay of each request
/// by its token, and the counters of the volume.
fn delays(arrivals: &[u64], clients: usize) -> (Vec<u64>, Counters) {
    let mut service = start(CONFIG);
    let endpoint = endpoint_id(&service, "e");
    let volume = id_of(&service, "v");
    let connections: Vec<_> = (0..clients)
        .map(|client| service.connect(endpoint, &format!("{client}:1"), &client.to_string()))
        .collect();
    // A request that is not deferred has a delay of 0.
    let (mut out, mut delays) = (Vec::new(), vec![0; arrivals.len()]);
    let mut answer_until = |service: &mut Service, end_ns: u64| {
        while let Some(at_ns) = service.next_ns().filter(|at_ns| *at_ns <= end_ns) {
            service.advance(at_ns, &mut out);
            for due in out.drain(..) {
                assert_eq!(due.due_ns, at_ns, "a punctual call releases nothing late");
                delays[due.token as usize] = due.qos_delay_ns;
                service.answered(&due, BYTES, false);
            }
        }
    };
    for (token, now_ns) in arrivals.iter().enumerate() {
        answer_until(&mut service, *now_ns);
        let connection = connections[token % clients];
        let token = token as u64;
        let due = service.arrive(*now_ns, connection, volume, Procedure::Read, BYTES, token);
        if let Some(due) = due.expect("it is accepted").due() {
            assert_eq!((due.token, due.due_ns, due.qos_delay_ns), (token, *now_ns, 0));
            service.answered(&due, BYTES, false);
        }
    }
    answer_until(&mut service, u64::MAX);
    let (_, counters) = service.counters().volumes().next().expect("the volume");
    (delays, counters.clone())
}

#[test]
fn load_at_exactly_the_rate_of_the_limit_is_never_delayed() {
    // Two seconds. Rounding up to nanoseconds must not accumulate.
    let arrivals: Vec<u64> = (0..2 * PER_S).map(|number| due_ns(number, PER_S)).collect();
    for clients in [1, 3] {
        let (delays, counters) = delays(&arrivals, clients);
        assert!(delays.iter().all(|delay_ns| *delay_ns == 0), "{clients} clients");
        assert_eq!((counters.throttled(), counters.qos_delay_ns), (0, 0));
        assert_eq!((counters.completed(), counters.read_bytes), (2 * PER_S, 2 * PER_S * BYTES));
        assert_eq!(counters.outstanding_max, 1, "each is answered before the next arrives");
    }
    // No request is queued, not even at the instant of its arrival.
    let mut service = start(CONFIG);
    let endpoint = endpoint_id(&service, "e");
    let volume = id_of(&service, "v");
    let connection = service.connect(endpoint, "a:1", "a");
    for now_ns in arrivals {
        let due = service.arrive(now_ns, connection, volume, Procedure::Read, BYTES, 0);
        assert!(due.is_ok_and(|arrival| arrival.due().is_some()), "at {now_ns}");
    }
}

#[test]
fn load_above_the_rate_is_delayed_to_the_rate() {
    // 25 % above the limit: request i arrives at i/10,240 s and is released at i/8,192 s.
    let arrivals: Vec<u64> = (0..10_240).map(|number| due_ns(number, 10_240)).collect();
    let (delays, counters) = delays(&arrivals, 1);
    for (number, delay_ns) in delays.iter().enumerate() {
        let released_ns = due_ns(number as u64, PER_S);
        assert_eq!(*delay_ns, released_ns - arrivals[number], "request {number}");
    }
    assert_eq!(counters.qos_delay_ns, delays.iter().sum::<u64>());
    assert_eq!(counters.qos_delay_ns_max, *delays.last().expect("requests"));
    assert_eq!(counters.throttled(), 10_239, "all but the first");
    // At the end of the second 2,048 requests wait, including the last.
    assert_eq!(counters.outstanding_max, 2048);
}

#[test]
fn load_below_the_rate_that_arrives_in_pairs_delays_the_second_of_each_pair_by_one_gap() {
    // Two requests at the same instant, in the time of three.
    let arrivals: Vec<u64> = (0..2000).map(|number| due_ns(number / 2 * 3, PER_S)).collect();
    let (delays, counters) = delays(&arrivals, 1);
    for (pair, both) in delays.chunks(2).enumerate() {
        let second_ns = due_ns(pair as u64 * 3 + 1, PER_S) - due_ns(pair as u64 * 3, PER_S);
        assert_eq!(both[0], 0, "pair {pair}");
        // After a pause the only credit is that of rounding, less than a nanosecond.
        assert!(second_ns.abs_diff(both[1]) <= 1, "pair {pair}: {} and {second_ns}", both[1]);
    }
    assert_eq!(counters.throttled(), 1000);
}

#[test]
fn a_burst_passes_exactly_the_requests_of_its_time_at_the_rate() {
    let per_s = NonZeroU64::new(PER_S * BYTES).expect("a rate");
    // The time of four requests, rounded up.
    let limits = Limits { bytes: Some(Rate { per_s, burst_ns: 488_282 }), ops: None };
    let mut shaper = Shaper::new(Limits::default());
    let endpoint = shaper.add_endpoint(Limits::default());
    let volume = shaper.add_volume(endpoint, limits);
    let flow = shaper.open_flow(ClientId::new(0));
    let mut out = Vec::new();
    let mut pass = |shaper: &mut Shaper, now_ns: u64| {
        shaper.release(now_ns, &mut out);
        assert!(out.is_empty(), "nothing was queued");
        shaper.pass(now_ns, flow, volume, BYTES)
    };
    for now_ns in [0, NS_PER_S] {
        let passed = (0..6).filter(|_| pass(&mut shaper, now_ns)).count();
        assert_eq!(passed, 4, "at {now_ns}");
    }
    // The burst has room for 0.75 ns (50 bytes) more than four requests, and the credit is 1 ns, so
    // the next request conforms 1.75 ns before the time of one, and the following one 1.75 ns before
    // the time of two.
    assert!(!pass(&mut shaper, NS_PER_S + 122_068));
    assert!(pass(&mut shaper, NS_PER_S + 122_069));
    // A request that did not pass was not counted.
    shaper.arrive(NS_PER_S + 122_069, flow, Request { volume, bytes: BYTES, token: 9 });
    assert_eq!(shaper.next_ns(), Some(NS_PER_S + 244_139));
}
