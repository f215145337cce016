//! Every frame is read as it was written, and invalid ones are refused.

use metrics::connection::ConnectionInterval;
use metrics::histogram::{BUCKETS, Counts};
use metrics::host_state::{HostInterval, ProcessorTimes};
use metrics::interval::{
    KindInterval, StreamInterval, TargetInterval, UsersInterval, WorkerInterval,
};
use metrics::tree_comparison::{ComparedTree, NotCompared, TreeResult};
use metrics::warning::Figure;
use metrics::wire::{CounterSource, WireInterval};
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use workload::connection::{CallCounters, Endpoint, TcpState};
use workload::kind_table::KindTable;
use workload::outcome::ErrorKind;
use workload::plan::IoMethodUsed;

use super::*;

fn any_counts() -> impl Strategy<Value = Counts> {
    let buckets = btree_map(0..BUCKETS as u32, any::<u64>(), 0..20);
    (buckets, any::<u64>(), any::<u128>(), any::<u64>(), any::<u64>()).prop_map(
        |(buckets, over_range, sum_ns, min_ns, max_ns)| Counts {
            buckets: buckets.into_iter().collect(),
            over_range,
            sum_ns,
            min_ns,
            max_ns,
        },
    )
}

fn any_kind() -> impl Strategy<Value = KindInterval> {
    let failed = any::<[u64; ErrorKind::COUNT]>();
    (any::<u64>(), any::<u64>(), failed, any_counts(), proptest::option::of(any_counts())).prop_map(
        |(completed, bytes, failed, service, response)| KindInterval {
            completed,
            bytes,
            failed,
            response: response.unwrap_or_else(|| service.clone()),
            service,
        },
    )
}

fn any_users() -> impl Strategy<Value = UsersInterval> {
    (any::<[u64; 4]>(), any_counts(), any_counts()).prop_map(|(counts, duration_us, delay)| {
        UsersInterval {
            started: counts[0],
            completed: counts[1],
            due: counts[2].max(counts[3]),
            late: counts[2].min(counts[3]),
            duration_us,
            delay,
        }
    })
}

fn any_stream() -> impl Strategy<Value = StreamInterval> {
    let used = prop_oneof![Just(KindInterval::default()), any_kind()];
    let on_names =
        prop_oneof![Just(None), (OpKind::DATA.len()..OpKind::COUNT, any_kind()).prop_map(Some)];
    let kinds = (used, any_kind(), on_names);
    let users = proptest::option::of(any_users());
    (any::<[u64; 4]>(), any::<[u128; 2]>(), kinds, users).prop_map(
        |(counts, times, kinds, users)| StreamInterval {
            users: users.map(Box::new),
            issued: counts[0],
            outstanding_start: counts[1],
            outstanding_end: counts[2],
            outstanding_time_ns: times[0],
            backlog_end: counts[3],
            backlog_time_ns: times[1],
            kinds: {
                let (reads, writes, on_names) = kinds;
                let mut table = KindTable::from([reads, writes, KindInterval::default()]);
                if let Some((number, kind)) = on_names {
                    table[number] = kind;
                }
                table
            },
        },
    )
}

fn any_endpoint() -> impl Strategy<Value = Endpoint> {
    prop_oneof![
        any::<([u8; 4], u16)>().prop_map(|(octets, port)| Endpoint::v4(octets, port)),
        any::<([u8; 16], u16)>().prop_map(|(octets, port)| Endpoint::v6(octets, port)),
    ]
}

fn any_connection() -> impl Strategy<Value = ConnectionInterval> {
    let numbers = any::<([u32; 3], [u64; 9], [u64; 5], u128, Option<([u64; 3], i32)>)>();
    let tcp = proptest::option::of(any::<[u64; 3]>());
    (numbers, any_endpoint(), any_endpoint(), tcp).prop_map(
        |((ids, calls, counts, outstanding_time_ns, down), local, remote, tcp)| {
            let (disturbances, down_errno) = down.unwrap_or_default();
            let kind = |at: usize| CallCounters {
                operations: calls[at],
                calls: calls[at + 1],
                bytes: calls[at + 2],
            };
            ConnectionInterval {
                stream: ids[0],
                lane: ids[1],
                number: ids[2],
                local,
                remote,
                kinds: [kind(0), kind(3), kind(6)].into(),
                outstanding_end: counts[0],
                outstanding_time_ns,
                span_ns: counts[1],
                reconnects: counts[2],
                replays: counts[3],
                retries: counts[4],
                rewritten_bytes: disturbances[0],
                verifier_changes: disturbances[1],
                down_ns: disturbances[2],
                down_errno,
                tcp: tcp.map(|[rtt_ns, rtt_deviation_ns, retransmits]| TcpState {
                    rtt_ns,
                    rtt_deviation_ns,
                    retransmits,
                }),
            }
        },
    )
}

fn any_host() -> impl Strategy<Value = Option<HostInterval>> {
    let numbers = any::<([u64; 2], [Option<u32>; 2], [Option<u64>; 4], Option<[u64; 3]>)>();
    proptest::option::of(numbers.prop_map(|(spans, counts, fields, times)| HostInterval {
        span_ns: spans[0],
        reading_cpu_ns: spans[1],
        processors: counts[0],
        quota_millicores: fields[0],
        times: times.map(|[busy_ns, idle_ns, steal_ns]| ProcessorTimes {
            busy_ns,
            idle_ns,
            steal_ns,
        }),
        runnable_tasks: counts[1],
        pressure_ns: fields[1],
        run_queue_delay_ns: fields[2],
        service_cpu_ns: fields[3],
    }))
}

fn any_interval() -> impl Strategy<Value = Interval> {
    let worker = any::<(u32, u32, u64)>();
    let worker = worker.prop_map(|(stream, lane, cpu_ns)| WorkerInterval { stream, lane, cpu_ns });
    let wire = (0..4usize, any::<[u64; 2]>()).prop_map(|(position, bytes)| WireInterval {
        source: CounterSource::ALL[position],
        received_bytes: bytes[0],
        sent_bytes: bytes[1],
    });
    let streams = vec(any_stream(), 0..3);
    let targets = proptest::collection::btree_map(any::<(u32, u32)>(), any_stream(), 0..3);
    let targets = targets.prop_map(|parts| {
        let part = |((stream, target), sums)| TargetInterval { stream, target, sums };
        parts.into_iter().map(part).collect::<Vec<_>>()
    });
    let connections = vec(any_connection(), 0..4);
    let parts = (streams, targets, vec(worker, 0..5), connections, vec(wire, 0..3), any_host());
    (0..u32::MAX, any::<[u64; 4]>(), parts).prop_map(
        |(index, times, (streams, targets, workers, connections, wire, host))| Interval {
            index,
            start_ns: times[0].min(times[1]),
            end_ns: times[0].max(times[1]),
            process_user_ns: times[2],
            process_system_ns: times[3],
            streams,
            targets,
            workers,
            connections,
            wire,
            host,
        },
    )
}

/// Any number but NaN, which is not equal to itself.
fn any_number() -> impl Strategy<Value = f64> {
    any::<f64>().prop_filter("NaN", |x| !x.is_nan())
}

/// One sample for each tag of the old format.
fn warning(
    tag: usize,
    [a, b]: [f64; 2],
    [c, d]: [u64; 2],
    errors: Vec<(String, String, u64)>,
    text: String,
) -> Warning {
    let (rate, response) = (Figure::AchievedRate, Figure::ResponseTime);
    match tag {
        0 => Warning::GeneratorBusy { busy: a },
        1 => Warning::ScheduleDelayHigh { delay_mean_ns: a, service_mean_ns: b },
        2 => Warning::Overloaded { offered_rate: a, achieved_rate: b, backlog: c },
        3 => Warning::NotSteady { figure: rate, drift: a, thirds: None },
        4 => Warning::WindowTooShort { intervals: c as u32 },
        5 => Warning::FewSamplesForPercentile { percentile: a, samples_above: c },
        6 => Warning::LittleMismatch { outstanding_mean: a, expected: b },
        7 => Warning::WorkingSetFitsCache { working_set_bytes: c, memory_bytes: d },
        8 => Warning::ErrorsSeen { errors },
        9 => Warning::RepeatsDisagree { spread: a, chance: None, repeat: None },
        10 => Warning::HostNoisy { steal: a },
        11 => Warning::EndedEarly { reason: text },
        12 => Warning::NotStorage { filesystem: text },
        13 => Warning::NotSteady { figure: response, drift: a, thirds: None },
        14 => Warning::ProcessorsBusy { used: a, processors: c as u32 },
        15 => Warning::ConnectionsUneven { least: a, most: b, spread: a },
        16 => Warning::ConnectionReestablished { connections: c, reconnects: d, replays: c },
        17 => {
            Warning::RepeatsDisagree { spread: a, chance: (b >= 0.0).then_some(b), repeat: Some(7) }
        }
        18 => Warning::OutlierRepeat { repeat: c as u32 / 2, rate: a, others_mean: b },
        19 => Warning::RoundsDiffer { figure: rate, excursion: a, slope: b },
        20 => Warning::WarmUpTooShort {
            figure: response,
            planned_ns: c,
            cut_ns: d,
            no_end: c > d,
            bias: a,
        },
        21 => Warning::OutlierIntervals {
            outliers: c as u32,
            intervals: d as u32,
            figure: response,
            start_ns: c,
            value: a,
            median: b,
        },
        22 => Warning::ServedFromCache {
            is_read: c > d,
            source: CounterSource::ALL[(c % 4) as usize],
            counted_bytes: c,
            wire_bytes: d,
        },
        23 => Warning::NotSteady { figure: response, drift: a, thirds: Some([b, a]) },
        24 => Warning::ThreadsShareProcessors { threads: d, processors: c as u32 },
        25 => Warning::ServerRestarted { times: c, rewritten_bytes: d },
        26 => Warning::WorkingSetFitsServerCache { working_set_bytes: c },
        27 => Warning::OnHosts {
            hosts: vec![text.clone()],
            of: c as u32,
            warning: Box::new(Warning::HostNoisy { steal: a }),
        },
        28 => Warning::HostsLost { lost: vec![(text.clone(), c, text)], of: d as u32 },
        29 => Warning::HostsStartedApart { spread_ns: c, error_ns: d, last: text },
        30 => Warning::HostSlower { host: text, rate: a, median: b },
        31 => Warning::HostsDiffer { facts: vec![(text.clone(), vec![text])] },
        32 => Warning::SpoolFailed { path: text.clone(), reason: text },
        33 => Warning::WallClockOff { ahead_ns: c as i64, error_ns: d },
        _ => panic!("there are 34 tags"),
    }
}

fn any_warning() -> impl Strategy<Value = Warning> {
    let errors = vec(any::<(String, String, u64)>(), 0..4);
    (0..34usize, [any_number(), any_number()], any::<[u64; 2]>(), errors, any::<String>()).prop_map(
        |(tag, floats, integers, errors, text)| warning(tag, floats, integers, errors, text),
    )
}

/// Payloads of warnings about the run with index 2: as older versions wrote them, and as they are
/// written now.
const STORED_WARNINGS: [(&str, &str); 26] = [
    ("0300000000000000e03f", "010200000000000000e03f"),
    ("0301000000000000e03f00000000000000c0", "010203000000000000e03f00000000000000c0"),
    ("0302000000000000e03f00000000000000c0ac02", "010204000000000000e03f00000000000000c0ac02"),
    ("0303000000000000e03f", "01020500000000000000e03f00"),
    ("0304ac02", "010209ac02"),
    ("0305000000000000e03fac02", "01020a000000000000e03fac02"),
    ("0306000000000000e03f00000000000000c0", "01020b000000000000e03f00000000000000c0"),
    ("0307ac0205", "01020cac0205"),
    ("030801047265616402696f07", "01020d01047265616402696f07"),
    ("0309000000000000e03f", "01020e000000000000e03f0000"),
    ("030a000000000000e03f", "010210000000000000e03f"),
    ("030b036e6673", "010211036e6673"),
    ("030c036e6673", "010216036e6673"),
    ("030d000000000000e03f", "01020501000000000000e03f00"),
    ("030e000000000000e03fac02", "010201000000000000e03fac02"),
    (
        "030f000000000000e03f00000000000000c0000000000000e03f",
        "010212000000000000e03f00000000000000c0000000000000e03f",
    ),
    ("0310ac0205ac02", "010213ac0205ac02"),
    ("0311000000000000e03f000000000000f0bf08", "01020e000000000000e03f000107"),
    ("03129601000000000000e03f00000000000000c0", "01020f9601000000000000e03f00000000000000c0"),
    ("031300000000000000e03f00000000000000c0", "01020600000000000000e03f00000000000000c0"),
    ("031401ac020501000000000000e03f", "01020701ac020501000000000000e03f"),
    (
        "0315ac020501ac02000000000000e03f00000000000000c0",
        "010208ac020501ac02000000000000e03f00000000000000c0",
    ),
    ("03160100ac0205", "0102150100ac0205"),
    (
        "031701000000000000e03f00000000000000c0000000000000e03f",
        "01020501000000000000e03f0100000000000000c0000000000000e03f",
    ),
    ("031805ac02", "01020205ac02"),
    ("0319ac0205", "010214ac0205"),
];

#[test]
fn stored_warnings_are_read_and_their_bytes_do_not_change() {
    let bytes = |hex: &str| -> Vec<u8> {
        let digits = |at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
        (0..hex.len()).step_by(2).map(digits).collect()
    };
    for (tag, (old, new)) in STORED_WARNINGS.into_iter().enumerate() {
        let errors = vec![("read".to_owned(), "io".to_owned(), 7)];
        let warning = warning(tag, [0.5, -2.0], [300, 5], errors, "nfs".to_owned());
        let mut payload = Vec::new();
        encode(&(Some(2u32), &warning), &mut payload);
        assert_eq!(payload, bytes(new), "{warning:?}");
        let frame = Ok(Frame::Warning { run_index: Some(2), warning });
        assert_eq!(Frame::decode(WARNING, &payload), frame);
        assert_eq!(Frame::decode(OLD_WARNING, &bytes(old)), frame);
        assert!(Frame::decode(OLD_WARNING, &[&bytes(old)[..], &[0]].concat()).is_err());
    }
}

fn any_outcome() -> impl Strategy<Value = Outcome> {
    prop_oneof![
        Just(Outcome::Done),
        Just(Outcome::Interrupted),
        Just(Outcome::Aborted),
        any::<String>().prop_map(|reason| Outcome::Failed { reason }),
    ]
}

proptest! {
    #[test]
    fn any_interval_is_read_as_written(host: u32, run_index: u32, interval in any_interval()) {
        let mut payload = Vec::new();
        interval::encode(run_index, &interval, &mut payload);
        prop_assert_eq!(Frame::origin_of_interval(INTERVAL, &payload), Ok(Some((0, run_index))));
        let frame = Frame::decode(INTERVAL, &payload);
        let interval = Box::new(interval);
        prop_assert_eq!(frame, Ok(Frame::Interval { run_index, interval: interval.clone() }));
        let mut payload = Vec::new();
        encode_host_interval(host, run_index, &interval, &mut payload);
        prop_assert_eq!(Frame::origin_of_interval(HOST_INTERVAL, &payload), Ok(Some((host, run_index))));
        let frame = Frame::decode(HOST_INTERVAL, &payload);
        prop_assert_eq!(frame, Ok(Frame::HostInterval { host, run_index, interval }));
    }

    #[test]
    fn nested_warnings_are_refused_before_they_exhaust_the_stack(depth in 2usize..20_000) {
        // No run; then for each level the variant, one host without a name, of 1.
        let mut payload = vec![0];
        for _ in 0..depth {
            payload.extend([27, 1, 0, 1]);
        }
        prop_assert_eq!(Frame::decode(WARNING, &payload), Err(Malformed("its warning is nested")));
    }

    #[test]
    fn any_warning_is_read_as_written(run_index: Option<u32>, warning in any_warning()) {
        let mut payload = Vec::new();
        encode(&(run_index, &warning), &mut payload);
        let frame = Frame::decode(WARNING, &payload);
        prop_assert_eq!(frame, Ok(Frame::Warning { run_index, warning }));
    }

    #[test]
    fn any_outcome_is_read_as_written(run_index: u32, outcome in any_outcome()) {
        let mut payload = Vec::new();
        encode(&(run_index, &outcome), &mut payload);
        let frame = Frame::decode(RUN_FINISHED, &payload);
        prop_assert_eq!(frame, Ok(Frame::RunFinished { run_index, outcome: outcome.clone() }));
        payload.clear();
        encode(&outcome, &mut payload);
        prop_assert_eq!(Frame::decode(FINISHED, &payload), Ok(Frame::Finished(outcome)));
    }

    #[test]
    fn any_service_counters_are_read_as_written(run_index: u32, calls: [u64; OpKind::COUNT], numbers: [u64; 4]) {
        let [failed, read_bytes, written_bytes, outstanding_max] = numbers;
        let counts =
            ServiceCounters { calls, failed, read_bytes, written_bytes, outstanding_max };
        let mut payload = Vec::new();
        encode_counters(run_index, &counts, &mut payload);
        let frame = Frame::decode(SERVICE_COUNTERS, &payload);
        prop_assert_eq!(frame, Ok(Frame::ServiceCounters { run_index, counts }));
    }

    #[test]
    fn any_preparation_is_read_as_written(stream: String, written_bytes: u64, took_ns: u64) {
        let prepared = Prepared { stream, written_bytes, took_ns };
        let mut payload = Vec::new();
        encode(&prepared, &mut payload);
        prop_assert_eq!(Frame::decode(PREPARED, &payload), Ok(Frame::Prepared(prepared)));
    }

    #[test]
    fn invalid_payloads_do_not_cause_a_panic(kind: u8, payload: Vec<u8>) {
        let _read_or_refused = Frame::decode(kind, &payload);
    }
}

#[test]
fn the_bytes_of_an_io_method_do_not_change() {
    let methods = [
        IoMethodUsed::Undecided,
        IoMethodUsed::IoUring,
        IoMethodUsed::Psync,
        IoMethodUsed::NfsClient,
    ];
    for (position, engine) in (0..).zip(methods) {
        let used = ChosenIoMethod { io_method: engine, reason: "forced by `--engine`".to_owned() };
        let mut payload = Vec::new();
        encode(&used, &mut payload);
        assert_eq!(payload[..3], [position, 20, b'f'], "the position, the length of the text");
        assert_eq!(Frame::decode(ENGINE, &payload), Ok(Frame::Engine(used)));
    }
}

#[test]
fn the_bytes_of_compared_trees_do_not_change() {
    let tree = |result| TreeComparison { stream: "home".to_owned(), target: 2, result };
    let compared = ComparedTree {
        files: 1,
        directories: 2,
        symbolic_links: 3,
        unknown: 4,
        differences: 5,
        with_content: true,
    };
    let mut trees = vec![tree(TreeResult::Compared(compared))];
    trees.extend(NotCompared::ALL.map(|reason| tree(TreeResult::NotCompared(reason))));
    let mut payload = Vec::new();
    encode(&(7_u32, &trees), &mut payload);
    let first = [7, 5, 4, b'h', b'o', b'm', b'e', 2, 0, 1, 2, 3, 4, 5, 1];
    assert_eq!(payload[..first.len()], first);
    let reasons: Vec<u8> = payload[first.len()..].chunks(8).map(|one| one[7]).collect();
    assert_eq!(reasons, [0, 1, 2, 3], "the positions of the reasons");
    assert_eq!(Frame::decode(TREES, &payload), Ok(Frame::Trees { run_index: 7, trees }));
}

/// The payload of an interval with one stream whose reads have these service time buckets.
fn with_buckets(buckets: Vec<(u32, u64)>) -> Vec<u8> {
    let mut stream = StreamInterval::default();
    stream.kinds[0].service = Counts { buckets, ..Counts::default() };
    let mut payload = Vec::new();
    let interval = Interval { streams: vec![stream], ..Interval::default() };
    interval::encode(0, &interval, &mut payload);
    payload
}

#[test]
fn buckets_that_do_not_exist_or_do_not_ascend_are_refused() {
    let last = BUCKETS as u32 - 1;
    assert!(Frame::decode(INTERVAL, &with_buckets(vec![(0, 1), (last, 1)])).is_ok());
    for buckets in [
        vec![(last + 1, 1)],
        vec![(u32::MAX, 1)],
        vec![(5, 1), (5, 1)],
        // The negative distance wraps around.
        vec![(5, 1), (4, 1)],
    ] {
        let refused = Frame::decode(INTERVAL, &with_buckets(buckets.clone()));
        assert!(refused.is_err(), "{buckets:?}");
    }
}

#[test]
fn an_interval_that_ends_before_it_begins_is_refused() {
    let decode = |index: u32, start_ns: u64, end_ns: u64| {
        let mut payload = Vec::new();
        let interval = Interval { index, start_ns, end_ns, ..Interval::default() };
        interval::encode(0, &interval, &mut payload);
        Frame::decode(INTERVAL, &payload)
    };
    assert!(decode(0, 7, 7).is_ok());
    assert!(decode(0, 8, 7).is_err());
    assert!(decode(u32::MAX, 7, 8).is_err(), "no interval can follow it");
}

#[test]
fn sums_over_all_intervals_that_overflow_are_refused() {
    let with = |bytes: u64, sum_ns: u128| {
        let mut stream = StreamInterval::default();
        stream.kinds[1].bytes = bytes;
        stream.kinds[1].response.sum_ns = sum_ns;
        Interval { streams: vec![stream], ..Interval::default() }
    };
    let mut sums = interval::Sums::default();
    assert_eq!(sums.add(&with(u64::MAX - 1, u128::MAX - 1)), Ok(()));
    assert_eq!(sums.add(&with(1, 1)), Ok(()));
    assert!(sums.add(&with(1, 0)).is_err());
    assert!(sums.add(&with(0, 1)).is_err());
}

#[test]
fn a_run_that_cannot_be_executed_is_refused() {
    let stream = r#"{"name":"a","read_permille":1000,
        "transfer_sizes":[{"size_bytes":8192,"weight":1}],"access_pattern":"uniform",
        "working_set":{"files":1,"file_size_bytes":8192,"area_bytes":8192},
        "queue_depth":4294967295,"workers":WORKERS,"arrival":{"closed":{"think_time_ns":0}},
        "direct":true,"dsync":false,"fsync_every_writes":null,
        "data":{"compressible_permille":0,"duplicate_permille":0}}"#;
    let decode = |streams: &[&str], measure_ns: u64, interval_ns: u64| {
        let json = format!(
            r#"{{"index":0,"variant":"v","parameters":[],"repeat":0,"seed":1,"streams":[{}],
            "phases":{{"warm_up_ns":1,"measure_ns":{measure_ns},"interval_ns":{interval_ns}}},
            "tolerated_errors":0,"operation_deadline_ns":1}}"#,
            streams.join(",")
        );
        decode_run(&json)
    };
    let one = stream.replace("WORKERS", "1");
    let many = stream.replace("WORKERS", "4294967295");
    assert!(decode(&[&one], 10, 1).is_ok(), "{:?}", decode(&[&one], 10, 1));
    assert!(decode(&[&one], 10, 0).is_err(), "intervals of no length");
    assert!(decode(&[&one], u64::MAX, 1).is_err(), "phases longer than 64 bits of nanoseconds");
    assert!(decode(&[], 10, 1).is_err(), "no streams");
    assert!(decode(&[&many, &many], 10, 1).is_err(), "more workers than 32 bits can count");
}

#[test]
fn a_truncated_or_extended_interval_is_refused() {
    let mut payload = Vec::new();
    interval::encode(3, &Interval::default(), &mut payload);
    for length in 0..payload.len() {
        assert!(Frame::decode(INTERVAL, &payload[..length]).is_err(), "{length}");
    }
    payload.push(0);
    assert!(Frame::decode(INTERVAL, &payload).is_err());
}

#[test]
fn an_interval_without_connections_has_the_older_form_and_is_read() {
    let mut payload = Vec::new();
    let connection = ConnectionInterval { span_ns: 7, ..ConnectionInterval::default() };
    let with = Interval { connections: vec![connection], ..Interval::default() };
    interval::encode(3, &with, &mut payload);
    let mut before = Vec::new();
    interval::encode(3, &Interval::default(), &mut before);
    assert_eq!(before.len(), 8, "run, index, four times, no workers, no streams");
    assert!(payload.starts_with(&before));
    let frame = Frame::Interval { run_index: 3, interval: Box::default() };
    assert_eq!(Frame::decode(INTERVAL, &before), Ok(frame));
    for length in before.len() + 1..payload.len() {
        assert!(Frame::decode(INTERVAL, &payload[..length]).is_err(), "{length}");
    }
}

#[test]
fn an_interval_without_host_state_has_the_older_form_and_is_read() {
    let source = CounterSource::Loopback;
    let wire = vec![WireInterval { source, received_bytes: 300, sent_bytes: 4 }];
    let host = HostInterval { span_ns: 7, pressure_ns: Some(9), ..HostInterval::default() };
    for wire in [Vec::new(), wire] {
        let without = Interval { wire, ..Interval::default() };
        let with = Interval { host: Some(host), ..without.clone() };
        let bytes = |interval: &Interval| {
            let mut payload = Vec::new();
            interval::encode(3, interval, &mut payload);
            payload
        };
        let (before, payload) = (bytes(&without), bytes(&with));
        assert!(payload.starts_with(&before), "host state is only appended");
        let frame = Frame::Interval { run_index: 3, interval: Box::new(without) };
        assert_eq!(Frame::decode(INTERVAL, &before), Ok(frame));
        for length in before.len() + 1..payload.len() {
            assert!(Frame::decode(INTERVAL, &payload[..length]).is_err(), "{length}");
        }
        let mut longer = payload.clone();
        longer.push(0);
        assert!(Frame::decode(INTERVAL, &longer).is_err());
        // After the field bits come the two spans and the one field.
        let mut unknown = payload.clone();
        let fields = unknown.len() - 4;
        assert_eq!(unknown[fields], 1 << 4);
        unknown[fields] |= 1 << 7;
        assert!(Frame::decode(INTERVAL, &unknown).is_err(), "an unknown field");
    }
}

#[test]
fn response_times_equal_to_the_service_times_are_stored_once() {
    let service = Counts {
        buckets: (5000..5300).map(|bucket| (bucket, 7)).collect(),
        sum_ns: 1,
        ..Counts::default()
    };
    let size = |response: &Counts| {
        let mut interval = Interval::default();
        let mut stream = StreamInterval::default();
        stream.kinds[0] = KindInterval {
            completed: 2100,
            service: service.clone(),
            response: response.clone(),
            ..KindInterval::default()
        };
        interval.streams.push(stream);
        let mut payload = Vec::new();
        interval::encode(0, &interval, &mut payload);
        payload.len()
    };
    let mut other = service.clone();
    other.sum_ns += 1;
    assert!(size(&service) < 700, "{}", size(&service));
    assert!(size(&other) > 1200, "{}", size(&other));
}

#[test]
fn streams_without_names_have_the_bytes_of_older_records() {
    let mut stream = StreamInterval { issued: 1, ..StreamInterval::default() };
    stream.kinds[OpKind::Write].completed = 1;
    let mut interval = Interval { streams: vec![stream], ..Interval::default() };
    let bytes = |interval: &Interval| {
        let mut bytes = Vec::new();
        interval::encode(0, interval, &mut bytes);
        bytes
    };
    let data = bytes(&interval);
    // The run, the interval with five numbers, no worker, one stream with six numbers.
    let (before, kinds) = data.split_at(2 + 5 + 1 + 6);
    assert_eq!(before, [0, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0]);
    assert_eq!(kinds[..3], [3, 0, 3], "three kinds, of which the second is used");
    interval.streams[0].kinds[OpKind::Create].completed = 1;
    let with_name = bytes(&interval);
    assert_eq!(with_name[before.len()], 4, "up to create");
    assert_eq!(with_name.len(), data.len() + (data.len() - before.len() - 3));
}
