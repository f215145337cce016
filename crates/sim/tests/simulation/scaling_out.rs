//! `--explain` over several hosts and volumes: measuring with fewer of either shows which is the limit.

use analysis::analyze;
use analysis::findings::Findings;
use analysis::verdict::{Answer, Difference, Evidence, Limit, Verdict};
use sim::examination::systems::Method;
use sim::examination::{Class, System, user};
use sim::testbed::{Access, Amounts, Disk, ServerCpu};

const MIB: f64 = 1_048_576.0;

/// Two hosts and four volumes, without any limit near: 400 µs in the server, and connections enough.
fn system(amounts: Amounts, read_permille: u16) -> System {
    System {
        class: Class::Nothing,
        amounts: Amounts {
            wire_ns: 100_000.0,
            service_ns: 400_000.0,
            write_factor: 1.0,
            service_sigma: 0.1,
            processors: 16,
            client_cpu_ns: (1000.0, 20.0),
            client_slots: 128,
            ..amounts
        },
        access: Access::OwnClient,
        connections: 1,
        workers: 1,
        hosts: 2,
        volumes: 4,
        read_permille,
        size_bytes: 65_536,
        sequential: false,
        method: Method::Explain,
        known: Vec::new(),
    }
}

fn explained(system: &System) -> Findings {
    analyze(&user::measure(system, 7))
}

fn answer(findings: &Findings) -> &Verdict {
    findings.answers().next().unwrap()
}

/// Asserts that this limit is named and that a changed run had this part of the throughput.
///
fn limited_by(limit: Limit, amounts: Amounts, read_permille: u16, fewer: Fewer, expected: f64) {
    let findings = explained(&system(amounts, read_permille));
    let verdict = answer(&findings);
    assert_eq!(verdict.named(), [limit], "{verdict:#?}");
    let ratio = ratio(verdict, fewer);
    let is_near = ratio.is_some_and(|ratio| (ratio / expected - 1.0).abs() < 0.05);
    assert!(is_near, "{ratio:?}: {:#?}", verdict.evidence);
}

/// What a changed run has half of.
#[derive(Clone, Copy)]
enum Fewer {
    Volumes,
    Hosts,
}

/// The part of the rate that remains with fewer of them and no other change.
fn ratio(verdict: &Verdict, fewer: Fewer) -> Option<f64> {
    verdict.evidence.iter().find_map(|one| match &one.evidence {
        Evidence::Compared { differences, operations, .. } => match (&differences[..], fewer) {
            ([Difference::Volumes { from: 4, to: 2 }], Fewer::Volumes)
            | ([Difference::Hosts { from: 2, to: 1 }], Fewer::Hosts) => Some(*operations),
            _ => None,
        },
        _ => None,
    })
}

#[test]
fn throughput_that_grows_with_volumes_is_limited_by_the_volumes() {
    let amounts = Amounts { volume: Some(64.0 * MIB), ..Amounts::default() };
    limited_by(Limit::VolumeThroughput, amounts, 1000, Fewer::Volumes, 0.5);
}

#[test]
fn throughput_that_grows_with_neither_is_limited_by_the_endpoint() {
    let amounts = Amounts { endpoint: Some(256.0 * MIB), ..Amounts::default() };
    limited_by(Limit::Endpoint, amounts, 1000, Fewer::Volumes, 1.0);
}

#[test]
fn throughput_of_writes_that_grows_with_hosts_is_limited_by_their_egress() {
    let amounts = Amounts { egress: Some(128.0 * MIB), ..Amounts::default() };
    limited_by(Limit::VmEgress, amounts, 0, Fewer::Hosts, 0.5);
}

#[test]
fn unequal_volumes_at_their_limits_are_recognised() {
    let amounts = Amounts {
        volume: Some(32.0 * MIB),
        volume_factors: vec![1.0, 1.0, 4.0, 4.0],
        ..Amounts::default()
    };
    // Two of ten parts.
    limited_by(Limit::VolumeThroughput, amounts, 1000, Fewer::Volumes, 0.2);
}

#[test]
fn volumes_on_mounts_have_unknown_addresses_and_share_the_answer_with_them() {
    let amounts = Amounts { volume: Some(64.0 * MIB), ..Amounts::default() };
    let mounts = System { access: Access::Mount { connections: 4 }, ..system(amounts, 1000) };
    let findings = explained(&mounts);
    let verdict = answer(&findings);
    match &verdict.answer {
        Answer::Limited { by, .. } => assert!(by.contains(&Limit::VolumeThroughput), "{by:?}"),
        Answer::NotEnoughData(_) => {
            let probable = verdict.candidates.iter().map(|one| one.limit);
            assert!(probable.take(3).any(|limit| limit == Limit::VolumeThroughput));
        }
        Answer::NotReached => panic!("{verdict:#?}"),
    }
    assert_ne!(verdict.named(), [Limit::Endpoint]);
}

#[test]
fn changed_runs_keep_workers_and_connections_and_equal_loads() {
    let amounts = Amounts { volume: Some(64.0 * MIB), ..Amounts::default() };
    let record = user::measure(&system(amounts, 1000), 7);
    let mut changed = 0;
    for run in record.runs.iter().map(|record| &record.run) {
        let stream = &run.streams[0];
        let parts = run.hosts * stream.targets.count();
        assert_eq!(stream.workers % parts, 0, "{run:?}");
        if (run.hosts, stream.targets.count()) != (2, 4) {
            changed += 1;
            assert_eq!(stream.workers, 8, "{run:?}");
            assert_eq!(run.connections.unwrap() * parts, 8, "{run:?}");
        }
    }
    assert!(changed > 0);
}

#[test]
fn no_other_limit_than_the_true_one_is_named() {
    let cpu = ServerCpu { processors: 4, work_ns: (500_000.0, 16_000.0), sigma: 0.3 };
    let disk = Disk {
        devices: 8,
        random_ns: (2_000_000.0, 0.0),
        sequential_ns: (500_000.0, 0.0),
        write_factor: 1.5,
        cache: 0.0,
    };
    let none = Amounts::default;
    let systems = [
        (Limit::VolumeThroughput, Amounts { volume: Some(64.0 * MIB), ..none() }),
        (Limit::Endpoint, Amounts { endpoint: Some(200.0 * MIB), ..none() }),
        (Limit::NetworkFlow, Amounts { flow: Some(32.0 * MIB), ..none() }),
        (Limit::VmEgress, Amounts { egress: Some(128.0 * MIB), ..none() }),
        (Limit::Link, Amounts { link: Some(128.0 * MIB), ..none() }),
        (Limit::ServerSlots, Amounts { slots_per_server: Some(16), ..none() }),
        (Limit::ServerCpu, Amounts { server_cpu: Some(cpu), ..none() }),
        (Limit::Disk, Amounts { disk: Some(disk), ..none() }),
        (Limit::OperationsPerSecond, Amounts { operations: Some(4000.0), ..none() }),
    ];
    for (limit, amounts) in systems {
        for (seed, read_permille) in [(1, 1000), (2, 0)] {
            if limit == Limit::VmEgress && read_permille > 0 {
                continue;
            }
            let findings = analyze(&user::measure(&system(amounts.clone(), read_permille), seed));
            let verdict = answer(&findings);
            let named = verdict.named();
            // Limits on requests may be indistinguishable: their work does not depend on the size here.
            match limit.is_about_requests() {
                true => {
                    assert!(named.is_empty() || named.contains(&limit), "{limit:?}: {verdict:#?}")
                }
                false => assert_eq!(named, [limit], "{read_permille} ‰ reads: {verdict:#?}"),
            }
        }
    }
}
