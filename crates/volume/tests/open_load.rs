//! Requests that arrive by a schedule, whatever becomes of those before them, at, below and above
//! the pace of a limit: when each is released, and what is counted, in virtual time.

use std::num::NonZeroU64;

use cloud::catalog::Catalog;
use volume::config::parse;
use volume::gcra::Rate;
use volume::qos::{Limits, Request, Shaper};
use volume::service::Service;
use volume::witness::{Counters, Procedure};

const NS_PER_S: u64 = 1_000_000_000;

/// 64 MiB/s in requests of 8 KiB: one each 122,070.3125 ns.
const BYTES: u64 = 8192;
const PER_S: u64 = 8192;

/// When request `number` is due at a rate, in whole nanoseconds, never early.
fn due_ns(number: u64, per_s: u64) -> u64 {
    (u128::from(number) * u128::from(NS_PER_S)).div_ceil(u128::from(per_s)) as u64
}

/// A service with one volume of 64 MiB/s, without burst, delays or other limits.
fn service() -> Service {
    let text = "[[endpoint]]\nname = \"e\"\n[[pool]]\nname = \"p\"\nservice_level = \"premium\"\n\
        size = \"4TiB\"\n[[volume]]\nname = \"v\"\npool = \"p\"\nquota = \"1TiB\"\n\
        [limits]\nrefill_interval = \"0\"\n";
    let catalog = Catalog::embedded();
    let config = parse(text, "v.toml", &catalog, &mut |path| Err(path.to_owned()));
    Service::start(0, catalog, config.expect("it is right")).expect("it keeps rules")
}

/// Sends requests at the given instants, from several clients in turns. Gives the delay of each by
/// its token, and what the service counted.
fn delays(arrivals: &[u64], clients: usize) -> (Vec<u64>, Counters) {
    let mut service = service();
    let endpoint = service.endpoint_key("e").expect("it is there");
    let volume = service.volume_key("v").expect("it is there");
    let connections: Vec<_> = (0..clients)
        .map(|client| service.connect(endpoint, &format!("{client}:1"), &client.to_string()))
        .collect();
    let (mut out, mut delays) = (Vec::new(), vec![u64::MAX; arrivals.len()]);
    let mut settle = |service: &mut Service, end_ns: u64| {
        while let Some(at_ns) = service.next_ns().filter(|at_ns| *at_ns <= end_ns) {
            service.advance(at_ns, &mut out);
            for due in out.drain(..) {
                assert_eq!(due.due_ns, at_ns, "nothing is released late where one comes in time");
                delays[due.token as usize] = due.qos_delay_ns;
                service.answered(&due, BYTES, false);
            }
        }
    };
    for (token, now_ns) in arrivals.iter().enumerate() {
        settle(&mut service, *now_ns);
        let connection = connections[token % clients];
        let token = token as u64;
        let due = service.arrive(*now_ns, connection, volume, Procedure::Read, BYTES, token);
        if let Some(due) = due.expect("it is taken") {
            assert_eq!((due.due_ns, due.qos_delay_ns), (*now_ns, 0));
            service.answered(&due, BYTES, false);
            // It was in nobody's way, so it is noted here and not when it is released.
            assert_eq!(due.token, token);
        }
    }
    settle(&mut service, u64::MAX);
    for delay_ns in &mut delays {
        *delay_ns = if *delay_ns == u64::MAX { 0 } else { *delay_ns };
    }
    let (_, counters) = service.witness().volumes().next().expect("the volume");
    (delays, counters.clone())
}

#[test]
fn load_at_exactly_the_pace_of_the_limit_is_never_delayed() {
    // Two seconds; rounding up to whole nanoseconds must not add up.
    let arrivals: Vec<u64> = (0..2 * PER_S).map(|number| due_ns(number, PER_S)).collect();
    for clients in [1, 3] {
        let (delays, counters) = delays(&arrivals, clients);
        assert!(delays.iter().all(|delay_ns| *delay_ns == 0), "{clients} clients");
        assert_eq!((counters.throttled(), counters.qos_delay_ns), (0, 0));
        assert_eq!((counters.completed(), counters.read_bytes), (2 * PER_S, 2 * PER_S * BYTES));
        assert_eq!(counters.outstanding_max, 1, "each has gone before the next comes");
    }
    // None waits in a queue even for the instant of its arrival.
    let mut service = service();
    let endpoint = service.endpoint_key("e").expect("it is there");
    let volume = service.volume_key("v").expect("it is there");
    let connection = service.connect(endpoint, "a:1", "a");
    for now_ns in arrivals {
        let due = service.arrive(now_ns, connection, volume, Procedure::Read, BYTES, 0);
        assert!(due.is_ok_and(|due| due.is_some()), "at {now_ns}");
    }
}

#[test]
fn load_above_the_pace_waits_by_what_it_is_ahead_of_it() {
    // A quarter more than the limit: request i comes at i/10,240 s and goes at i/8,192 s.
    let arrivals: Vec<u64> = (0..10_240).map(|number| due_ns(number, 10_240)).collect();
    let (delays, counters) = delays(&arrivals, 1);
    for (number, delay_ns) in delays.iter().enumerate() {
        let goes_ns = due_ns(number as u64, PER_S);
        assert_eq!(*delay_ns, goes_ns - arrivals[number], "request {number}");
    }
    assert_eq!(counters.qos_delay_ns, delays.iter().sum::<u64>());
    assert_eq!(counters.qos_delay_ns_max, *delays.last().expect("requests"));
    assert_eq!(counters.throttled(), 10_239, "all but the first");
    // At the end of the second 2,048 are waiting, and the last one with them.
    assert_eq!(counters.outstanding_max, 2048);
}

#[test]
fn load_below_the_pace_that_comes_in_pairs_delays_the_second_of_each_pair_by_one_gap() {
    // Two at once, and room for three until the next two.
    let arrivals: Vec<u64> = (0..2000).map(|number| due_ns(number / 2 * 3, PER_S)).collect();
    let (delays, counters) = delays(&arrivals, 1);
    for (pair, both) in delays.chunks(2).enumerate() {
        let second_ns = due_ns(pair as u64 * 3 + 1, PER_S) - due_ns(pair as u64 * 3, PER_S);
        assert_eq!(both[0], 0, "pair {pair}");
        // A pause leaves no credit but that of rounding, which is less than a nanosecond.
        assert!(second_ns.abs_diff(both[1]) <= 1, "pair {pair}: {} and {second_ns}", both[1]);
    }
    assert_eq!(counters.throttled(), 1000);
}

#[test]
fn a_burst_takes_in_as_much_as_its_time_at_the_rate_and_no_more() {
    let per_s = NonZeroU64::new(PER_S * BYTES).expect("a rate");
    // The time of exactly four requests, rounded up.
    let limits = Limits { bytes: Some(Rate { per_s, burst_ns: 488_282 }), ops: None };
    let mut shaper = Shaper::new(Limits::default());
    let endpoint = shaper.add_endpoint(Limits::default());
    let volume = shaper.add_volume(endpoint, limits);
    let flow = shaper.open_flow();
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
    // The burst has room for 0.75 ns (50 bytes) more than four requests, and the pause left a
    // credit of 1 ns: the next one goes 1.75 ns before the time of one, and the one after it that
    // much before the time of two.
    assert!(!pass(&mut shaper, NS_PER_S + 122_068));
    assert!(pass(&mut shaper, NS_PER_S + 122_069));
    // What was refused has not been counted.
    shaper.arrive(NS_PER_S + 122_069, flow, Request { volume, bytes: BYTES, token: 9 });
    assert_eq!(shaper.next_ns(), Some(NS_PER_S + 244_139));
}
