//! How often a comparison of a system with itself names a winner on hosts whose speed drifts, and
//! how often it finds a true difference of 1 % on a quiet one; for sides that took turns
//! (`run A B --interleave`) and for records that were measured one after the other.
//!
//! The seeds here were not used to choose the method.

use crate::records::draws::Draws;
use crate::records::{SECOND_NS, done, experiment, host_second, random_reads, run, stream};
use analysis::compare::caveats::CaveatEvidence;
use analysis::compare::figure::Figure;
use analysis::compare::figures::{Basis, InconclusiveCause, Verdict};
use analysis::compare::flaws::FlawKind;
use analysis::compare::side::Side;
use analysis::compare::{Comparison, Options, Overall, compare};
use metrics::host_state::{HostInterval, ProcessorTimes};
use metrics::interleaved::Interleaved;
use metrics::run_record::ExperimentRecord;
use workload::interleave::{ComparedSide, order};
use workload::plan::Step;

/// Intervals of a run.
const INTERVALS: usize = 8;

/// What moves the speed of a host, as a share of it; `spread` is one standard deviation of a run
/// (of a step, for a random walk).
#[derive(Clone, Copy, Debug)]
enum Host {
    /// Nothing but this noise from run to run, which nothing carries over, and that of intervals.
    Quiet { noise: f64 },
    /// An autoregressive process with this correlation from one run to the next. It moves within
    /// runs as well.
    Correlated { correlation: f64, spread: f64 },
    /// The same, but constant within each run.
    Stepwise { correlation: f64, spread: f64 },
    /// A random walk that moves within runs.
    Walk { spread: f64 },
    /// A neighbour that takes this share of the speed, and comes or goes after so many runs on
    /// average, at any time.
    Neighbour { takes: f64, runs: f64 },
}

const QUIET: Host = Host::Quiet { noise: 0.001 };

/// Noise of an interval as a share of the rate: 0.07 % of a run's mean.
const INTERVAL_NOISE: f64 = 0.002;

impl Host {
    /// The speed in every interval of `runs` runs that follow each other.
    fn speeds(self, runs: usize, draws: &mut Draws) -> Vec<Vec<f64>> {
        let step = 1.0 / INTERVALS as f64;
        let mut state = draws.normal();
        let mut present = draws.uniform() < 0.5;
        let mut speed_of_host = |first: bool| match self {
            Host::Quiet { noise } => {
                if first {
                    state = draws.normal();
                }
                1.0 + noise * state
            }
            Host::Correlated { correlation, spread } => {
                let kept = correlation.powf(step);
                state = kept * state + (1.0 - kept * kept).sqrt() * draws.normal();
                1.0 + spread * state
            }
            Host::Stepwise { correlation, spread } => {
                if first {
                    let fresh = (1.0 - correlation * correlation).sqrt();
                    state = correlation * state + fresh * draws.normal();
                }
                1.0 + spread * state
            }
            Host::Walk { spread } => {
                state += step.sqrt() * draws.normal();
                1.0 + spread * state
            }
            Host::Neighbour { takes, runs } => {
                if draws.uniform() < step / runs {
                    present = !present;
                }
                if present { 1.0 - takes } else { 1.0 }
            }
        };
        let mut one = |_| -> Vec<f64> { (0..INTERVALS).map(|i| speed_of_host(i == 0)).collect() };
        (0..runs).map(&mut one).collect()
    }
}

/// When the first run begins, and how long each takes.
const BEGAN_MS: u64 = 1_795_241_733_000;
const RUN_MS: u64 = 5_000;

/// The record of one side: its runs in these time slots of the host.
fn record(
    side: ComparedSide,
    slots: &[usize],
    speeds: &[Vec<f64>],
    faster: f64,
    draws: &mut Draws,
) -> ExperimentRecord {
    let runs = slots.iter().zip(0..).map(|(slot, repeat)| {
        let level = 10_000.0 * (1.0 + faster);
        let seconds = speeds[*slot].iter().map(|speed| {
            let rate = level * speed * (1.0 + INTERVAL_NOISE * draws.normal());
            random_reads(rate, 4e9 / rate * (1.0 + INTERVAL_NOISE * draws.normal()))
        });
        let mut run = run("random read 8 KiB", vec![stream("data", 4)], 0, INTERVALS as u64);
        (run.repeat, run.index) = (repeat, repeat);
        let mut record = done(run, seconds.collect());
        record.started_unix_ms = BEGAN_MS + RUN_MS * *slot as u64;
        record
    });
    let mut record = experiment(runs.collect());
    record.id = side.label().to_string();
    record
}

/// Both records, measured in turns or one after the other.
fn pair(host: Host, repeats: usize, faster: f64, turns: bool, seed: u64) -> [ExperimentRecord; 2] {
    let mut draws = Draws::new(seed);
    let speeds = host.speeds(2 * repeats, &mut draws);
    let (firsts, slots) = match turns {
        true => {
            let mut plan = experiment(Vec::new()).plan;
            let steps = (0..repeats as u32).map(|repeat| {
                let mut run = run("random read 8 KiB", vec![stream("data", 4)], 0, 1);
                (run.repeat, run.index) = (repeat, repeat);
                Step::Fixed(run)
            });
            (plan.steps, plan.seed) = (steps.collect(), seed);
            let firsts = order(&plan);
            let of = |side: ComparedSide| -> Vec<usize> {
                let each = firsts.iter().zip(0..);
                each.map(|(first, block)| 2 * block + usize::from(*first != side)).collect()
            };
            let slots = ComparedSide::BOTH.map(of);
            (firsts, slots)
        }
        false => (Vec::new(), [(0..repeats).collect(), (repeats..2 * repeats).collect()]),
    };
    ComparedSide::BOTH.map(|side| {
        let faster = if side == ComparedSide::B { faster } else { 0.0 };
        let mut record = record(side, &slots[side.index()], &speeds, faster, &mut draws);
        if turns {
            let partner = side.other().label().to_string();
            let interleaved = Interleaved { partner, side, first: firsts.clone() };
            record.environment.interleaved = Some(interleaved);
        }
        record
    })
}

fn compared(records: &[ExperimentRecord; 2]) -> Comparison {
    compare(&records.each_ref().map(Side::of), &Options::default())
}

/// The share of pairs in which a winner is named.
fn named(host: Host, repeats: usize, faster: f64, turns: bool, pairs: u64, seed: u64) -> f64 {
    let winner = |pair_number: u64| {
        let records = pair(host, repeats, faster, turns, seed + pair_number);
        let verdict = compared(&records).pairs[0].verdict;
        [Overall::Faster, Overall::Slower, Overall::Mixed].contains(&verdict)
    };
    (0..pairs).filter(|number| winner(*number)).count() as f64 / pairs as f64
}

/// The hosts on which a comparison must not name winners by chance.
fn drifting_hosts() -> Vec<Host> {
    let mut hosts = Vec::new();
    for correlation in [0.6, 0.8, 0.95] {
        hosts.push(Host::Correlated { correlation, spread: 0.03 });
        hosts.push(Host::Stepwise { correlation, spread: 0.03 });
    }
    hosts.push(Host::Walk { spread: 0.02 });
    for runs in [4.0, 10.0, 30.0] {
        hosts.push(Host::Neighbour { takes: 0.2, runs });
    }
    hosts
}

/// Pairs for each host.
const PAIRS: u64 = 200;

/// The rate that is promised, and three standard deviations of the binomial distribution: a method
/// with a rate of 5 % fails here once in 700.
fn bound() -> f64 {
    0.05 + 3.0 * (0.05 * 0.95 / PAIRS as f64).sqrt()
}

#[test]
fn on_drifting_hosts_at_most_5_percent_of_back_to_back_comparisons_name_a_winner() {
    let mut all = 0.0;
    for (number, host) in drifting_hosts().into_iter().enumerate() {
        for repeats in [3, 5, 10] {
            let seed = 1_000_000 * (number as u64 + 1) + 10_000 * repeats as u64;
            let share = named(host, repeats, 0.0, false, PAIRS, seed);
            assert!(share <= bound(), "{host:?}, {repeats} repeats: {share}");
            all += share / 3.0;
        }
    }
    // Of 6,000 pairs together less than 5 % without any allowance for chance.
    let mean = all / drifting_hosts().len() as f64;
    assert!(mean <= 0.05, "{mean}");
}

#[test]
fn on_drifting_hosts_at_most_5_percent_of_interleaved_comparisons_name_a_winner() {
    let mut all = 0.0;
    for (number, host) in drifting_hosts().into_iter().enumerate() {
        for repeats in [3, 5, 10] {
            let seed = 50_000_000 + 1_000_000 * number as u64 + 10_000 * repeats as u64;
            let share = named(host, repeats, 0.0, true, PAIRS, seed);
            assert!(share <= bound(), "{host:?}, {repeats} blocks: {share}");
            all += share / 3.0;
        }
    }
    let mean = all / drifting_hosts().len() as f64;
    assert!(mean <= 0.05, "{mean}");
}

#[test]
fn a_quiet_host_shows_a_difference_of_1_percent_and_none_where_there_is_none() {
    // 18 of 20 are required; of 200 pairs at a true rate of 95 %, fewer than 180 come with a
    // probability of 0.2 %.
    let pairs = 200;
    // Not knowing what lies between two sessions costs half of what can be seen.
    for (turns, noise) in [(true, 0.002), (false, 0.000_6)] {
        let host = Host::Quiet { noise };
        let found = named(host, 5, 0.01, turns, pairs, 90_000_000);
        assert!(found >= 0.90, "interleaved {turns}: {found}");
        let none = named(host, 5, 0.0, turns, pairs, 91_000_000);
        assert!(none <= 0.05, "interleaved {turns}: {none}");
    }
}

#[test]
fn a_difference_of_3_percent_is_found_on_a_drifting_host_in_turns() {
    let host = Host::Walk { spread: 0.01 };
    let found = named(host, 10, 0.03, true, 100, 92_000_000);
    assert!(found >= 0.90, "{found}");
}

fn figure(comparison: &Comparison, wanted: Figure) -> (Basis, Verdict, f64) {
    let mut figures = comparison.pairs[0].figures().map(|(_, _, figure)| figure);
    let found = figures.find(|figure| figure.figure == wanted).expect("it is compared");
    (found.basis, found.verdict, found.p.expect("it is tested"))
}

#[test]
fn interleaving_resolves_a_difference_explained_by_drift() {
    let host = Host::Correlated { correlation: 0.95, spread: 0.05 };
    let mut explained = 0;
    for seed in 0..20 {
        let comparison = compared(&pair(host, 5, 0.0, false, 93_000_000 + seed));
        let (basis, verdict, _) = figure(&comparison, Figure::AchievedRate);
        assert_eq!(basis, Basis::Repeats);
        explained += u32::from(verdict == Verdict::CannotTell(InconclusiveCause::Drift));
    }
    assert!(explained > 0, "some of 20 would be differences if repeats were independent");
    let comparison = compared(&pair(QUIET, 5, 0.05, true, 94_000_000));
    let (basis, verdict, _) = figure(&comparison, Figure::AchievedRate);
    assert_eq!((basis, verdict), (Basis::Blocks, Verdict::Better));
}

#[test]
fn too_few_back_to_back_repeats_give_no_verdict() {
    for (repeats, verdict) in [(4, Overall::CannotTell), (5, Overall::Faster)] {
        let comparison = compared(&pair(QUIET, repeats, 0.2, false, 95_000_000));
        assert_eq!(comparison.pairs[0].verdict, verdict, "{repeats} repeats");
    }
    let comparison = compared(&pair(QUIET, 4, 0.2, true, 95_000_000));
    assert_eq!(comparison.pairs[0].verdict, Overall::Faster, "blocks need no such number");
}

/// A host in which others used this share of the processors and the hypervisor took that.
fn with_host(mut record: ExperimentRecord, others: f64, steal: f64) -> ExperimentRecord {
    let all = 2.0 * SECOND_NS as f64;
    for interval in record.runs.iter_mut().flat_map(|run| &mut run.intervals) {
        let own = (interval.process_user_ns + interval.process_system_ns) as f64;
        let busy_ns = own + others * all;
        let steal_ns = steal * all;
        let times = ProcessorTimes {
            busy_ns: busy_ns as u64,
            steal_ns: steal_ns as u64,
            idle_ns: (all - busy_ns - steal_ns) as u64,
        };
        interval.host = Some(HostInterval { times: Some(times), ..host_second() });
    }
    record
}

#[test]
fn different_host_state_withholds_the_verdict_of_every_figure() {
    let state = |a: (f64, f64), b: (f64, f64), turns: bool| {
        let [first, second] = pair(QUIET, 5, 0.2, turns, 96_000_000);
        compared(&[with_host(first, a.0, a.1), with_host(second, b.0, b.1)])
    };
    let same = state((0.10, 0.002), (0.14, 0.008), false);
    assert_eq!(same.pairs[0].verdict, Overall::Faster);
    assert_eq!(same.pairs[0].points[0].host, None);
    for (a, b) in [((0.1, 0.0), (0.3, 0.0)), ((0.1, 0.05), (0.1, 0.01))] {
        let apart = state(a, b, false);
        assert_eq!(apart.pairs[0].verdict, Overall::CannotTell);
        for wanted in [Figure::AchievedRate, Figure::ResponseP99] {
            let (_, verdict, _) = figure(&apart, wanted);
            assert_eq!(verdict, Verdict::CannotTell(InconclusiveCause::HostDiffers), "{wanted:?}");
        }
        assert_eq!(apart.pairs[0].caveats[0].kind, FlawKind::HostDiffers);
    }
    // Interleaved sides share the host, so the sides cause the difference: a caveat.
    let turns = state((0.1, 0.0), (0.3, 0.0), true);
    assert_eq!(turns.pairs[0].verdict, Overall::Faster);
    assert_eq!(turns.pairs[0].caveats[0].kind, FlawKind::HostDiffers);
    let CaveatEvidence::Host(contrast) = &turns.pairs[0].caveats[0].observed else {
        panic!("{:#?}", turns.pairs[0].caveats)
    };
    assert!(contrast.in_others() && !contrast.in_steal(), "{contrast:?}");
    for (host, others) in [(contrast.first, 0.1), (contrast.second, 0.3)] {
        assert!((host.others - others).abs() < 0.0005, "{contrast:?}");
    }
}

#[test]
fn repeats_without_any_scatter_never_give_p_0() {
    let identical = |rate: f64, side: ComparedSide| {
        let mut draws = Draws::new(1);
        let mut record = record(side, &[0, 1, 2], &vec![vec![1.0; INTERVALS]; 3], 0.0, &mut draws);
        for run in &mut record.runs {
            let seconds = run.intervals.iter_mut();
            seconds.for_each(|i| i.streams = vec![random_reads(rate, 4e9 / rate)]);
        }
        record
    };
    for (rate, least) in [(10_000.0, 1.0), (10_010.0, 0.05), (11_000.0, 0.05)] {
        let records = [identical(10_000.0, ComparedSide::A), identical(rate, ComparedSide::B)];
        let comparison = compared(&records);
        for (_, _, figure) in comparison.pairs[0].figures() {
            let p = figure.p.expect("it is tested");
            assert!(p > 0.0, "{rate}: {figure:?}");
        }
        let (_, _, p) = figure(&comparison, Figure::AchievedRate);
        assert!(p >= least, "{rate}: {p}");
    }
}
