//! The recorder's accounting: nothing is discarded, and outstanding is the exact time integral, for
//! any sequence of events.

use metrics::histogram::{Counts, Histogram, RANGE_MAX_NS};
use metrics::interval::{KindInterval, StreamInterval};
use metrics::recorder::{Recorder, Tally};
use proptest::collection::vec;
use proptest::prelude::*;
use workload::op::OpKind;
use workload::outcome::ErrorKind;

const MS: u64 = 1_000_000;

fn turn(recorder: &mut Recorder, edge_ns: u64) -> StreamInterval {
    let next = recorder.interval() + 1;
    let mut full = recorder.turn(edge_ns, next, 0, 0, Box::default());
    let mut interval = StreamInterval::default();
    full.drain_into(&mut interval);
    interval
}

#[test]
fn outstanding_is_integrated_over_time_exactly() {
    let mut recorder = Recorder::new(Box::default());
    // Two operations from 100 ms, four from 200 ms, one completes at 500 ms, the rest remains.
    recorder.issue(100 * MS, 2);
    recorder.issue(200 * MS, 2);
    recorder.reap(500 * MS, 1);
    recorder.complete::<false>(OpKind::Read, 4096, 400 * MS, 400 * MS);
    let first = turn(&mut recorder, 1000 * MS);
    // (200 - 100) * 2 + (500 - 200) * 4 + (1000 - 500) * 3 = 200 + 1200 + 1500 ms.
    assert_eq!(first.outstanding_time_ns, u128::from(2900 * MS));
    assert_eq!((first.outstanding_start, first.issued, first.outstanding_end), (0, 4, 3));
    assert!(first.is_balanced());

    // In an interval without events three are outstanding all the time.
    let second = turn(&mut recorder, 2000 * MS);
    assert_eq!(second.outstanding_time_ns, u128::from(3000 * MS));
    assert_eq!((second.outstanding_start, second.issued, second.outstanding_end), (3, 0, 3));
    assert!(second.is_balanced());

    recorder.reap(2250 * MS, 3);
    recorder.complete::<false>(OpKind::Write, 8192, 2150 * MS, 2150 * MS);
    recorder.complete::<false>(OpKind::Read, 4096, 2050 * MS, 2050 * MS);
    recorder.fail(OpKind::Read, ErrorKind::InputOutput);
    let third = turn(&mut recorder, 3000 * MS);
    assert_eq!(third.outstanding_time_ns, u128::from(750 * MS));
    assert_eq!((third.outstanding_start, third.issued, third.outstanding_end), (3, 0, 0));
    assert_eq!((third.completed(), third.failed()), (2, 1));
    assert!(third.is_balanced());
}

#[test]
fn littles_law_is_exact_to_the_nanosecond_if_everything_completes() {
    let mut recorder = Recorder::new(Box::default());
    // One operation every 10 ms, each outstanding for 25 ms: L = 100/s * 0.025 s = 2.5.
    let mut events: Vec<(u64, bool)> = (0..100u64)
        .flat_map(|op| [(op * 10 * MS, true), (op * 10 * MS + 25 * MS, false)])
        .collect();
    events.sort_unstable();
    for (at_ns, is_issue) in events {
        if is_issue {
            recorder.issue(at_ns, 1);
        } else {
            recorder.reap(at_ns, 1);
            recorder.complete::<false>(OpKind::Read, 1, 25 * MS, 25 * MS);
        }
    }
    let interval = turn(&mut recorder, 2000 * MS);
    let service = &interval.kinds[OpKind::Read as usize].service;
    assert_eq!(interval.outstanding_time_ns, service.sum_ns);
    assert_eq!(interval.outstanding_time_ns, u128::from(100 * 25 * MS));
}

#[test]
fn an_instant_before_the_last_one_adds_no_time() {
    let mut recorder = Recorder::new(Box::default());
    recorder.issue(100, 1);
    recorder.issue(90, 1);
    let interval = turn(&mut recorder, 200);
    assert_eq!(interval.outstanding_time_ns, 200);
}

#[test]
fn the_backlog_is_taken_as_given() {
    let mut recorder = Recorder::new(Box::default());
    let mut full = recorder.turn(1000, 1, 7, 3500, Box::default());
    let mut interval = StreamInterval::default();
    full.drain_into(&mut interval);
    assert_eq!((interval.backlog_end, interval.backlog_time_ns), (7, 3500));
    assert_eq!(recorder.interval(), 1);
}

#[test]
fn response_times_are_recorded_separately_only_if_operations_may_be_delayed() {
    for delayed in [false, true] {
        let mut recorder = Recorder::new(Box::default());
        recorder.issue(0, 1);
        recorder.reap(10, 1);
        if delayed {
            recorder.complete::<true>(OpKind::Read, 512, 10, 1000);
        } else {
            recorder.complete::<false>(OpKind::Read, 512, 10, 10);
        }
        let interval = turn(&mut recorder, 20);
        let read = &interval.kinds[OpKind::Read as usize];
        assert_eq!(read.service.buckets, [(10, 1)]);
        assert_eq!(read.response.buckets, [(if delayed { 1000 } else { 10 }, 1)]);
        assert_eq!(read.bytes, 512);
    }
}

#[test]
fn operations_being_prepared_are_backlog_until_they_are_issued() {
    let mut recorder = Recorder::new(Box::default());
    // Three operations whose data is generated from 900 to 1,200 ns, across the boundary at 1,000.
    recorder.prepare(900, 3);
    let first = turn(&mut recorder, 1000);
    assert_eq!((first.backlog_end, first.backlog_time_ns), (3, 300));
    assert_eq!((first.issued, first.outstanding_end, first.outstanding_time_ns), (0, 0, 0));
    recorder.issue(1200, 3);
    recorder.reap(1500, 3);
    for _ in 0..3 {
        recorder.complete::<true>(OpKind::Write, 512, 300, 600);
    }
    // Operations issued without preparation add nothing.
    recorder.issue(1500, 1);
    let second = turn(&mut recorder, 2000);
    assert_eq!((second.backlog_end, second.backlog_time_ns), (0, 600));
    assert_eq!((second.issued, second.outstanding_end), (4, 1));
    assert_eq!(second.outstanding_time_ns, 900 + 500);
}

#[test]
fn a_drained_tally_is_empty() {
    let mut recorder = Recorder::new(Box::default());
    recorder.issue(1, 2);
    recorder.reap(5, 2);
    recorder.complete::<true>(OpKind::Write, 512, 4, 4);
    recorder.fail(OpKind::Fsync, ErrorKind::NoSpace);
    let mut full = recorder.turn(10, 1, 3, 30, Box::default());
    full.drain_into(&mut StreamInterval::default());
    let mut nothing = StreamInterval::default();
    full.drain_into(&mut nothing);
    assert_eq!(nothing, StreamInterval::default());
}

/// An event at a worker.
#[derive(Clone, Debug)]
enum Event {
    Issue(u64),
    /// One of the outstanding operations completes, if there is one.
    Complete {
        kind: usize,
        bytes: u64,
        delay_ns: u64,
    },
    Fail {
        kind: usize,
        error: usize,
    },
    Turn,
}

/// Some kinds of each sort.
const KINDS: [OpKind; 5] =
    [OpKind::Read, OpKind::Write, OpKind::Fsync, OpKind::Create, OpKind::Statfs];

fn any_events() -> impl Strategy<Value = Vec<(u64, Event)>> {
    let event = prop_oneof![
        3 => (0..5u64).prop_map(Event::Issue),
        6 => (0..KINDS.len(), 0..1u64 << 20, 0..1u64 << 40)
            .prop_map(|(kind, bytes, delay_ns)| Event::Complete { kind: KINDS[kind] as usize, bytes, delay_ns }),
        1 => (0..KINDS.len(), 0..ErrorKind::COUNT)
            .prop_map(|(kind, error)| Event::Fail { kind: KINDS[kind] as usize, error }),
        1 => Just(Event::Turn),
    ];
    vec((0..1u64 << 30, event), 0..300)
}

/// The expected counts of the recorder, calculated in the simplest way from single operations.
#[derive(Default)]
struct Model {
    now_ns: u64,
    edge_ns: u64,
    /// Times of issue of the outstanding operations, oldest first.
    outstanding: Vec<u64>,
    /// Operation time within this interval of completed operations.
    returned_time_ns: u128,
    expected: StreamInterval,
    service: [Vec<u64>; OpKind::COUNT],
    response: [Vec<u64>; OpKind::COUNT],
}

impl Model {
    fn take_back(&mut self) -> Option<u64> {
        if self.outstanding.is_empty() {
            return None;
        }
        let issued_ns = self.outstanding.remove(0);
        self.returned_time_ns += u128::from(self.now_ns - issued_ns.max(self.edge_ns));
        Some(issued_ns)
    }

    /// Ends the interval; the next begins.
    fn turn(&mut self) -> StreamInterval {
        let mut interval = std::mem::take(&mut self.expected);
        interval.outstanding_end = self.outstanding.len() as u64;
        interval.outstanding_time_ns = std::mem::take(&mut self.returned_time_ns);
        for issued_ns in &self.outstanding {
            let within = self.now_ns - (*issued_ns).max(self.edge_ns);
            interval.outstanding_time_ns += u128::from(within);
        }
        for kind in 0..OpKind::COUNT {
            if self.service[kind].is_empty() {
                continue;
            }
            let out = &mut interval.kinds[kind];
            out.service = counts_of(&std::mem::take(&mut self.service[kind]));
            out.response = counts_of(&std::mem::take(&mut self.response[kind]));
        }
        self.edge_ns = self.now_ns;
        self.expected.outstanding_start = self.outstanding.len() as u64;
        interval
    }
}

fn counts_of(samples: &[u64]) -> Counts {
    let mut histogram = Histogram::default();
    samples.iter().for_each(|sample| histogram.record(*sample));
    let mut counts = Counts::default();
    histogram.drain_into(&mut counts);
    counts
}

/// So many that their histograms are compact.
const MANY_TALLIES: u64 = 1_000;

/// Applies all events to a recorder and to the model, and compares them at every boundary.
fn check<const DELAYED: bool>(events: &[(u64, Event)], tallies: u64) -> Result<(), TestCaseError> {
    let tally = || Box::new(Tally::for_kinds(&KINDS, 0, tallies));
    let mut recorder = Recorder::new(tally());
    let mut model = Model::default();
    let end = (1, Event::Turn);
    for (passed_ns, event) in events.iter().chain([&end]) {
        model.now_ns += passed_ns;
        let now_ns = model.now_ns;
        match *event {
            Event::Issue(count) => {
                recorder.issue(now_ns, count);
                model.expected.issued += count;
                model.outstanding.extend((0..count).map(|_| now_ns));
            }
            Event::Complete { kind, bytes, delay_ns } => {
                if let Some(issued_ns) = model.take_back() {
                    let service_ns = now_ns - issued_ns;
                    let response_ns = if DELAYED { service_ns + delay_ns } else { service_ns };
                    recorder.reap(now_ns, 1);
                    recorder.complete::<DELAYED>(OpKind::ALL[kind], bytes, service_ns, response_ns);
                    model.expected.kinds[kind].completed += 1;
                    model.expected.kinds[kind].bytes += bytes;
                    model.service[kind].push(service_ns);
                    model.response[kind].push(response_ns);
                }
            }
            Event::Fail { kind, error } => {
                if model.take_back().is_some() {
                    recorder.reap(now_ns, 1);
                    recorder.fail(OpKind::ALL[kind], ErrorKind::ALL[error]);
                    model.expected.kinds[kind].failed[error] += 1;
                }
            }
            Event::Turn => {
                let next = recorder.interval() + 1;
                let mut found = StreamInterval::default();
                recorder.turn(now_ns, next, 0, 0, tally()).drain_into(&mut found);
                prop_assert!(found.is_balanced());
                prop_assert_eq!(found, model.turn());
            }
        }
        prop_assert_eq!(recorder.outstanding(), model.outstanding.len() as u64);
    }
    Ok(())
}

fn any_kind() -> impl Strategy<Value = KindInterval> {
    let samples = vec(0..1u64 << 37, 0..20);
    (samples.clone(), samples, any::<u32>(), any::<[u32; ErrorKind::COUNT]>()).prop_map(
        |(service, response, bytes, failed)| KindInterval {
            completed: service.len() as u64,
            bytes: u64::from(bytes),
            failed: failed.map(u64::from),
            service: counts_of(&service),
            response: counts_of(&response),
        },
    )
}

fn any_balanced_stream() -> impl Strategy<Value = StreamInterval> {
    let kinds = (any_kind(), any_kind(), any_kind());
    (any::<[u32; 3]>(), any::<[u64; 2]>(), kinds).prop_map(|(counts, times, kinds)| {
        let mut stream = StreamInterval {
            outstanding_start: u64::from(counts[0]),
            outstanding_end: u64::from(counts[1]) + u64::from(counts[0]),
            backlog_end: u64::from(counts[2]),
            outstanding_time_ns: u128::from(times[0]),
            backlog_time_ns: u128::from(times[1]),
            kinds: <[KindInterval; 3]>::from(kinds).into(),
            ..StreamInterval::default()
        };
        stream.issued = stream.completed() + stream.failed() + u64::from(counts[1]);
        stream
    })
}

proptest! {
    #[test]
    fn every_interval_is_balanced(events in any_events()) {
        for tallies in [1, MANY_TALLIES] {
            check::<false>(&events, tallies)?;
            check::<true>(&events, tallies)?;
        }
    }

    #[test]
    fn merged_intervals_are_the_sum_of_both_and_remain_balanced(
        a in any_balanced_stream(), b in any_balanced_stream()
    ) {
        let merge = |a: &StreamInterval, b: &StreamInterval| {
            let mut both = a.clone();
            both.merge(b);
            both
        };
        let both = merge(&a, &b);
        prop_assert!(a.is_balanced() && b.is_balanced() && both.is_balanced());
        prop_assert_eq!(&both, &merge(&b, &a));
        prop_assert_eq!(&a, &merge(&a, &StreamInterval::default()));
        prop_assert_eq!(both.issued, a.issued + b.issued);
        prop_assert_eq!(both.outstanding_start, a.outstanding_start + b.outstanding_start);
        prop_assert_eq!(both.outstanding_end, a.outstanding_end + b.outstanding_end);
        prop_assert_eq!(both.outstanding_time_ns, a.outstanding_time_ns + b.outstanding_time_ns);
        prop_assert_eq!(both.backlog_end, a.backlog_end + b.backlog_end);
        prop_assert_eq!(both.backlog_time_ns, a.backlog_time_ns + b.backlog_time_ns);
        prop_assert_eq!(both.completed(), a.completed() + b.completed());
        prop_assert_eq!(both.failed(), a.failed() + b.failed());
        for kind in 0..OpKind::COUNT {
            let (of_both, of_a, of_b) = (&both.kinds[kind], &a.kinds[kind], &b.kinds[kind]);
            prop_assert_eq!(of_both.bytes, of_a.bytes + of_b.bytes);
            prop_assert_eq!(of_both.service.total(), of_a.service.total() + of_b.service.total());
            prop_assert_eq!(of_both.response.sum_ns, of_a.response.sum_ns + of_b.response.sum_ns);
        }
    }

    #[test]
    fn tallies_of_several_workers_are_added_in_one_interval(counts in vec(1..100u64, 1..5)) {
        let mut interval = StreamInterval::default();
        for count in &counts {
            let mut recorder = Recorder::new(Box::<Tally>::default());
            recorder.issue(0, *count);
            recorder.turn(10, 1, 0, 0, Box::default()).drain_into(&mut interval);
        }
        let sum: u64 = counts.iter().sum();
        prop_assert_eq!(interval.issued, sum);
        prop_assert_eq!(interval.outstanding_end, sum);
        prop_assert_eq!(interval.outstanding_time_ns, u128::from(sum) * 10);
        prop_assert!(interval.is_balanced());
    }
}

#[test]
fn a_compact_histogram_has_the_counts_of_any_other() {
    for times in [0, 1, 1023, 1024, 1025, 5000] {
        let (mut compact, mut dense) = (Histogram::compact(), Histogram::default());
        // Twice, because an emptied histogram is used again.
        for _ in 0..2 {
            for time in 0..times {
                let time_ns = workload::random::at(3, time) >> (24 + time % 30);
                compact.record(time_ns);
                dense.record(time_ns);
            }
            // The last bucket, and times beyond it.
            for time_ns in [RANGE_MAX_NS - 1, RANGE_MAX_NS, RANGE_MAX_NS + 1, 2 * RANGE_MAX_NS] {
                compact.record(time_ns);
                dense.record(time_ns);
            }
            let (mut found, mut expected) = (Counts::default(), Counts::default());
            compact.drain_into(&mut found);
            dense.drain_into(&mut expected);
            assert_eq!(found, expected, "{times}");
        }
    }
}
