//! The generator's figures and the service's counters agree exactly.

use analysis::service_check::GeneratorCounts;
use sim::nfs_setup::{Client, Connections, Data, Incident, Setup};
use sim::nfs_world::{Simulated, simulate};
use sim::wire::Wire;
use volume::counters::{Counters, Procedure};
use workload::op::OpKind;
use workload::plan::Stream;

use crate::setups::{
    CLOSED, MIB, MS, S, SEEDS, VOLUME, assert_whole, calls, repeats, run, size, small, stream,
    volume, whole,
};

const KINDS: [(OpKind, Procedure); 3] = [
    (OpKind::Read, Procedure::Read),
    (OpKind::Write, Procedure::Write),
    (OpKind::Fsync, Procedure::Commit),
];

/// Operations and bytes by kind: the generator's and the service's.
#[track_caller]
pub(crate) fn assert_agree(simulated: &Simulated) {
    let record = &simulated.record;
    let seen = record.service_counters.unwrap();
    assert_eq!(GeneratorCounts::of(record).differences(&seen), Vec::<String>::new());
    for (kind, _) in KINDS {
        assert_eq!(calls(record, kind, None).calls, seen.calls[kind as usize], "{kind:?}");
    }
    let bytes = |kind| -> u64 {
        (0..record.run.streams.len())
            .map(|stream| whole(record, stream).kinds[kind as usize].bytes)
            .sum()
    };
    let (read, written) = (bytes(OpKind::Read), bytes(OpKind::Write));
    assert_eq!((read, written), (seen.read_bytes, seen.written_bytes));
}

#[test]
fn operations_and_bytes_agree_by_kind_and_by_connection() {
    for seed in SEEDS {
        let setup = Setup {
            client: Client::of(6),
            data: Data::Verified { seed: 9 },
            ..Setup::new(volume(Some(64), MS), VOLUME)
        };
        let stream = Stream {
            read_permille: 600,
            transfer_sizes: [size(4096), size(16384)].concat(),
            working_set: small(3, 4 << 20),
            workers: 2,
            fsync_every_writes: Some(7),
            ..stream(CLOSED, 16)
        };
        let simulated = simulate(&run(vec![stream], S, S / 4), &setup, seed);
        assert_whole(&simulated);
        assert_agree(&simulated);
        let record = &simulated.record;
        assert_eq!(simulated.snapshot.flows.len(), 6);
        let connections = || record.intervals.iter().flat_map(|interval| &interval.connections);
        for flow in &simulated.snapshot.flows {
            let of_flow =
                || connections().filter(|one| flow.name.starts_with(&format!("{}-", one.local)));
            assert_eq!(of_flow().count(), record.intervals.len(), "{}", flow.name);
            for (kind, procedure) in KINDS {
                let ours: u64 = of_flow().map(|one| one.kinds[kind as usize].calls).sum();
                assert_eq!(ours, flow.counters.of(procedure), "{} of {}", kind.name(), flow.name);
                assert!(ours > 0);
            }
            let of_kind =
                |kind| -> u64 { of_flow().map(|one| one.kinds[kind as usize].bytes).sum() };
            let Counters { read_bytes, written_bytes, .. } = flow.counters;
            assert_eq!(of_kind(OpKind::Read), read_bytes);
            assert_eq!(of_kind(OpKind::Write), written_bytes);
        }
    }
}

#[test]
fn calls_answered_twice_by_the_service_are_no_difference() {
    for seed in SEEDS {
        // Most of a call's time is spent in the network, so that replies are lost with connections.
        let setup = Setup {
            client: Client::of(2),
            wire: Wire::of_delay(2 * MS),
            incidents: (1..9).map(|n| (n * 20 * MS, Incident::Lose(Connections::All))).collect(),
            ..Setup::new(volume(None, MS / 10), VOLUME)
        };
        let stream = Stream { fsync_every_writes: Some(5), read_permille: 500, ..mixed(16) };
        let simulated = simulate(&run(vec![stream], S / 4, S / 10), &setup, seed);
        assert_whole(&simulated);
        let record = &simulated.record;
        let seen = record.service_counters.unwrap();
        let generated = GeneratorCounts::of(record);
        assert_eq!(generated.differences(&seen), Vec::<String>::new());
        let twice = seen.calls.iter().sum::<u64>() - generated.calls.iter().sum::<u64>();
        assert!(twice > 0 && twice <= repeats(record).1, "{twice}");
    }
}

/// A worker that reads and writes a few small files.
fn mixed(queue_depth: u32) -> Stream {
    Stream { working_set: small(3, 4 << 20), ..stream(CLOSED, queue_depth) }
}

#[test]
fn the_service_sees_the_configured_queue_depth_and_connections() {
    for seed in SEEDS {
        let client = Client::of(4);
        let setup = Setup { client, ..Setup::new(volume(None, MS), VOLUME) };
        let simulated = simulate(&run(vec![stream(CLOSED, 64)], S / 2, S / 4), &setup, seed);
        assert_whole(&simulated);
        assert_agree(&simulated);
        let seen = &simulated.snapshot;
        assert_eq!(seen.volumes[0].counters.outstanding_max, 64);
        let most: Vec<u64> = seen.flows.iter().map(|flow| flow.counters.outstanding_max).collect();
        assert_eq!(most, [16; 4]);
        assert_eq!(simulated.record.service_counters.unwrap().outstanding_max, 64);
    }
}

#[test]
fn a_full_volume_refuses_new_data_and_the_run_ends_according_to_its_tolerance() {
    use metrics::run_record::Outcome;
    use workload::outcome::ErrorKind;
    for seed in SEEDS {
        let setup =
            Setup { quota: Some(units::Bytes::mib(8)), ..Setup::new(volume(None, MS), VOLUME) };
        let mixed = Stream {
            read_permille: 500,
            transfer_sizes: size(65536),
            working_set: small(2, 32 << 20),
            ..stream(CLOSED, 16)
        };
        let mut run = run(vec![mixed], 2 * S, S / 10);
        let tolerant = simulate(&run, &setup, seed);
        assert_eq!(tolerant.record.outcome, Outcome::Done);
        let sum = whole(&tolerant.record, 0);
        let (reads, writes) = (&sum.kinds[OpKind::Read], &sum.kinds[OpKind::Write]);
        assert_eq!(reads.failed_total(), 0, "reads continue");
        assert!(reads.completed > 10_000, "{}", reads.completed);
        assert!(writes.completed > 8 * 16, "existing data can be overwritten");
        let refused = writes.failed[ErrorKind::NoSpace as usize];
        assert!(refused > 1000 && refused == writes.failed_total(), "{:?}", writes.failed);
        let seen = &tolerant.snapshot.volumes[0].counters;
        assert_eq!(refused, seen.failed[Procedure::Write as usize]);
        let (index, _) = tolerant.server.exports().iter().next().unwrap();
        let used = tolerant.server.exports().get(index).unwrap().files.used();
        assert_eq!(used.get() as f64 / MIB, 8.0, "it is full to the last block");

        run.tolerated_errors = refused / 4;
        let strict = simulate(&run, &setup, seed);
        let Outcome::Failed { reason } = &strict.record.outcome else { panic!("it was ended") };
        assert!(reason.contains(&format!("{} tolerated", refused / 4)), "{reason}");
        let intervals = strict.record.intervals.len();
        assert!((2..tolerant.record.intervals.len() - 1).contains(&intervals), "{intervals}");
        let sum = whole(&strict.record, 0);
        assert_eq!(sum.issued, sum.completed() + sum.failed(), "all operations completed");
    }
}
