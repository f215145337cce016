//! Experiments on fleets in virtual time: the code of `run --hosts` and `fleet collect` from the target to the
//! record, with the cores of controller, agents, runs and collection, over links with every fault in every
//! phase. Simulated are the network, the clocks, the disks, the target and the engine (crate `sim`, [`agent`],
//! [`share`], [`disk`]); the shells with processes and pipes are not part of it.

mod agent;
mod case;
mod checks;
mod disk;
mod experiment;
mod share;

use std::ops::Range;
use std::panic::catch_unwind;

use runner::fleet_run::OnLost;
use sim::fleet::{Fault, Phase};

use self::case::{Case, Finished, SECOND_NS};

/// Seeds of the matrix of phases and faults.
const SEEDS: u64 = 10_000;

/// Executes and checks the cases of these seeds; which faults happened in which phase.
///
/// # Panics
/// A check failed, after all seeds: each failure has been printed.
fn check_seeds(seeds: Range<u64>) -> Vec<(Phase, usize)> {
    let mut failed = Vec::new();
    let mut all = Vec::new();
    for seed in seeds {
        let checked = catch_unwind(|| {
            let finished = Case::random(seed).execute();
            checks::check(&finished);
            happened(&finished)
        });
        match checked {
            Ok(faults) => all.extend(faults),
            Err(_) => failed.push(seed),
        }
    }
    assert!(failed.is_empty(), "{} seeds: {failed:?}", failed.len());
    all
}

#[test]
fn with_every_fault_in_every_phase_a_fleet_ends_names_the_host_and_loses_nothing() {
    let half = SEEDS / 2;
    let faults = std::thread::scope(|scope| {
        let first = scope.spawn(|| check_seeds(0..half));
        let second = check_seeds(half..SEEDS);
        let first = first.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        [first, second].concat()
    });
    for phase in Phase::ALL {
        for kind in 0..case::KINDS {
            let count = faults.iter().filter(|one| **one == (phase, kind)).count();
            // See where faults are chosen.
            let can_happen = kind != case::kind(&Fault::Stall) || phase.is_in_run();
            assert!(!can_happen || count >= 10, "{phase:?}, fault {kind}: {count} times");
        }
    }
}

/// The faults that happened.
fn happened(finished: &Finished) -> Vec<(Phase, usize)> {
    let fired = finished.case.faults.iter().zip(&finished.fired);
    let happened = fired.filter(|(_, fired_ns)| fired_ns.is_some());
    happened.map(|(planned, _)| (planned.phase, case::kind(&planned.fault))).collect()
}

#[test]
fn an_experiment_on_1000_hosts_loses_nothing_with_and_without_faults() {
    for faults in [0, 20] {
        let case = Case::of_hosts(1_000, faults, OnLost::Continue, 7);
        let finished = case.execute();
        checks::check(&finished);
        assert_eq!(happened(&finished).len(), faults);
        assert!(finished.ended_ns < 180 * SECOND_NS, "{}", finished.ended_ns);
    }
}

#[test]
fn the_same_seed_gives_the_same_experiment() {
    for seed in 0..20 {
        let [first, second] = [0, 1].map(|_| Case::random(seed).execute());
        assert_eq!(first.ended_ns, second.ended_ns, "seed {seed}");
        assert_eq!(first.named, second.named, "seed {seed}");
        assert_eq!(first.totals, second.totals, "seed {seed}");
    }
}
