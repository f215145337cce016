//! Findings on curves with known floor, knee and saturation.

use crate::records::{done, experiment, kind, reads, run, stream};
use analysis::curve::knee::{KneeMethod, Knees, Origin};
use analysis::curve::plateau::{Inconclusive, Reason, State};
use analysis::curve::{Curve, Missing};
use analysis::sample::Load;
use analysis::{Findings, analyze};
use metrics::run_record::RunRecord;
use proptest::prelude::*;
use workload::arrival::Arrival;
use workload::op::OpKind;
use workload::plan::{Spread, StreamTargets};

/// Six seconds of 8 KiB reads at a queue depth; rate and time obey Little's law.
fn closed(queue_depth: u32, rate: u64) -> RunRecord {
    let service_ns = u64::from(queue_depth) * 1_000_000_000 / rate;
    let window = (0..6).map(|_| reads(rate, 8192, service_ns)).collect();
    done(run("read", vec![stream("data", queue_depth)], 0, 6), window)
}

/// The same at an offered rate that was sustained.
fn open(offered_rate: u64, response_ns: u64) -> RunRecord {
    let mut stream = stream("data", 4096);
    stream.arrival = Arrival::Poisson { offered_rate: offered_rate as f64 };
    let mut run = run("read", vec![stream], 0, 6);
    run.parameters = vec![("offered_rate".to_owned(), offered_rate.to_string())];
    done(run, (0..6).map(|_| reads(offered_rate, 8192, response_ns)).collect())
}

fn curve_of(records: Vec<RunRecord>) -> (Findings, Curve) {
    let findings = analyze(&experiment(records));
    assert_eq!(findings.curves.len(), 1);
    let curve = findings.curves[0].clone();
    (findings, curve)
}

fn loads(knees: &Knees) -> Vec<Option<f64>> {
    knees.each().iter().map(|(_, knee)| (*knee).clone().ok().map(|knee| knee.load)).collect()
}

/// 1 ms alone, at most 8,000 ops/s: the bounds cross at 8 outstanding.
fn bottleneck(queue_depths: &[u32]) -> Vec<RunRecord> {
    queue_depths.iter().map(|n| closed(*n, (u64::from(*n) * 1000).min(8000))).collect()
}

#[test]
fn a_bottleneck_has_its_knee_where_the_bounds_cross() {
    let (_, curve) = curve_of(bottleneck(&[1, 2, 4, 8, 16, 32, 64]));
    assert_eq!(curve.load, Load::Closed);
    let floor = curve.floor.as_ref().unwrap();
    assert_eq!((floor.point, floor.service_mean_ns.value), (0, 1e6));
    assert_eq!(floor.connections, None);
    assert!((floor.service_p50_ns.unwrap() as f64 / 1e6 - 1.0).abs() < 0.001);
    let plateau = curve.plateau.as_ref().unwrap();
    assert_eq!((plateau.top, plateau.from, plateau.level.value), (3, Some(3), 8000.0));
    assert_eq!((plateau.state, plateau.falls), (State::Reached(Reason::Flat), None));
    let knees = curve.knees.as_ref().unwrap();
    // Twice the floor is kept up to twice the load at which the bounds cross.
    assert_eq!(loads(knees), [Some(8.0), Some(16.0), Some(8.0), Some(8.0)]);
    let objective = knees.objective.unwrap();
    assert_eq!((objective.origin, objective.response_s), (Origin::TwiceFloor, 0.002));
    let power = knees.power.clone().unwrap();
    assert_eq!((power.point, power.low, power.high), (Some(3), 4.0, Some(16.0)));
    let slo = knees.slo.clone().unwrap();
    assert_eq!((slo.low, slo.high), (16.0, Some(32.0)));
    assert_eq!(knees.disagreement, None);
}

#[test]
fn data_generation_counts_for_knees_but_not_for_the_floor() {
    // The same rates, but three fifths of each operation's time are data generation.
    let mut records = bottleneck(&[1, 2, 4, 8, 16, 32, 64]);
    let streams = records.iter_mut().flat_map(|r| &mut r.intervals).flat_map(|i| &mut i.streams);
    for stream in streams {
        let read = &mut stream.kinds[OpKind::Read as usize];
        let service_ns = read.response.max_ns * 2 / 5;
        *read = kind(read.completed, 8192, service_ns, read.response.max_ns);
    }
    let (_, curve) = curve_of(records);
    assert_eq!(curve.floor.as_ref().unwrap().service_mean_ns.value, 0.4e6);
    let knees = curve.knees.as_ref().unwrap();
    let objective = knees.objective.as_ref().expect("there is a floor");
    assert_eq!((objective.origin, objective.response_s), (Origin::TwiceFloor, 0.002));
    assert_eq!(loads(knees), [Some(8.0), Some(16.0), Some(8.0), Some(8.0)]);
}

#[test]
fn a_growing_rate_is_not_saturated() {
    let (_, curve) = curve_of(bottleneck(&[1, 2, 4]));
    let plateau = curve.plateau.as_ref().unwrap();
    assert_eq!((plateau.top, plateau.state), (2, State::NotReached));
    assert_eq!(plateau.growth.unwrap().per_doubling(), 1.0);
    let knees = curve.knees.as_ref().unwrap();
    assert_eq!(knees.bounds, Err(Missing::NotSaturated));
    assert_eq!(knees.slo, Err(Missing::ObjectiveMetEverywhere));
    assert_eq!(knees.kneedle, Err(Missing::TooFewPoints { points: 3, required: 5 }));
    // The highest power is at the end, so its peak was not measured.
    let power = knees.power.clone().unwrap();
    assert_eq!((power.load, power.low, power.high), (4.0, 2.0, None));
}

#[test]
fn the_knee_by_objective_is_the_last_load_that_meets_it() {
    // Twice the floor is 2 ms; 16 operations take 5 % more, 15 exactly as much.
    let shallow = [1, 2, 4, 8].map(|n| closed(n, u64::from(n) * 1000)).to_vec();
    for (queue_depth, rate, last) in [(16, 7619, 8.0), (15, 7500, 15.0)] {
        let records = [shallow.clone(), vec![closed(queue_depth, rate), closed(32, 7800)]].concat();
        let (_, curve) = curve_of(records);
        let knees = curve.knees.as_ref().unwrap();
        assert_eq!(knees.objective.unwrap().response_s, 0.002);
        assert_eq!(knees.slo.clone().unwrap().load, last, "{queue_depth}");
    }
}

#[test]
fn saturation_requires_a_whole_doubling_of_the_load() {
    // From 8 to 10 the rate is flat, but that is a quarter more load; since 4 it has doubled.
    let (_, curve) = curve_of(bottleneck(&[1, 2, 4, 8, 10]));
    let plateau = curve.plateau.as_ref().unwrap();
    let growth = plateau.growth.unwrap();
    assert_eq!((growth.from, growth.total), (2, 1.0));
    assert!((growth.doublings - 2.5f64.log2()).abs() < 1e-12);
    assert!(!plateau.is_reached(), "{plateau:?}");
    // Depths that workers share are a doubling from 1.9 times on.
    for (last, from) in [(19, 3), (18, 2)] {
        let (_, curve) = curve_of(bottleneck(&[1, 3, 5, 10, last]));
        assert_eq!(curve.plateau.unwrap().growth.unwrap().from, from, "{last}");
    }
}

#[test]
fn a_sharp_fall_from_the_peak_requires_repeats() {
    let rates = [(1, 1000), (2, 2000), (4, 4000), (8, 7000), (16, 8000), (32, 7600), (64, 6000)];
    let once: Vec<RunRecord> = rates.into_iter().map(|(n, rate)| closed(n, rate)).collect();
    let (_, curve) = curve_of(once.clone());
    let plateau = curve.plateau.as_ref().unwrap();
    assert_eq!((plateau.top, plateau.state), (4, State::Inconclusive(Inconclusive::Stability(4))));
    assert!((plateau.falls.unwrap() - 0.25).abs() < 1e-12);
    assert!(plateau.growth.unwrap().total < 0.0);
    let twice = once.into_iter().flat_map(|record| {
        let mut again = record.clone();
        again.run.repeat = 1;
        [record, again]
    });
    let (_, curve) = curve_of(twice.collect());
    assert!(curve.plateau.as_ref().unwrap().is_reached());
}

/// The same on two hosts with two targets each, at these total depths of this many workers.
fn on_four_parts(loads: &[(u32, u32)], spread: Spread) -> Vec<RunRecord> {
    let record = |(total, workers): &(u32, u32)| {
        let mut record = closed(*total, (u64::from(*total) * 1000).min(32_000));
        record.run.hosts = 2;
        let stream = &mut record.run.streams[0];
        (stream.workers, stream.queue_depth) = (*workers, total / workers);
        stream.targets = StreamTargets { positions: vec![0, 1], spread };
        record
    };
    loads.iter().map(record).collect()
}

#[test]
fn the_floor_of_several_hosts_and_targets_has_one_operation_on_each() {
    let floor = |loads: &[(u32, u32)], spread| curve_of(on_four_parts(loads, spread)).1.floor;
    let all = [(4, 4), (8, 4), (16, 4), (32, 4), (64, 4), (128, 4)];
    let found = floor(&all, Spread::All).unwrap();
    assert_eq!((found.point, found.service_mean_ns.value), (0, 1e6));
    assert!(!found.is_pace);
    // Two hosts that each send to one target.
    assert_eq!(floor(&[(2, 2), (4, 2), (8, 2)], Spread::Host).unwrap().point, 0);
    let none = Err(Missing::NoQueueDepthOne);
    assert_eq!(floor(&all[1..], Spread::All), none, "two on each");
    assert_eq!(floor(&[(4, 2), (8, 2), (16, 2)], Spread::All), none, "two on some, none on others");
    assert_eq!(floor(&all, Spread::Host), none, "two on each host");
}

#[test]
fn a_curve_without_queue_depth_one_has_no_floor() {
    let (_, curve) = curve_of(bottleneck(&[4, 8, 16, 32, 64]));
    assert_eq!(curve.floor, Err(Missing::NoQueueDepthOne));
    let knees = curve.knees.as_ref().unwrap();
    assert_eq!(knees.bounds, Err(Missing::NoQueueDepthOne));
    // The objective follows from the measurements, and its name states that.
    let objective = knees.objective.unwrap();
    assert_eq!((objective.origin, objective.response_s), (Origin::TwiceShortest, 0.002));
}

#[test]
fn one_load_point_has_neither_saturation_nor_knee() {
    let (_, curve) = curve_of(bottleneck(&[8]));
    assert_eq!(curve.plateau.as_ref().unwrap().state, State::Inconclusive(Inconclusive::OnePoint));
    assert_eq!(curve.knees.unwrap().power, Err(Missing::TooFewPoints { points: 1, required: 3 }));
}

#[test]
fn a_curve_without_a_load_axis_has_only_a_highest_rate() {
    let at = |size: &str, rate: u64| {
        let mut run = run("read", vec![stream("data", 4)], 0, 6);
        run.parameters = vec![("transfer_size".to_owned(), size.to_owned())];
        done(run, (0..6).map(|_| reads(rate, 8192, 100_000)).collect())
    };
    let (_, curve) = curve_of(vec![at("8 KiB", 2000), at("4 KiB", 1000), at("16 KiB", 500)]);
    assert_eq!((curve.load, curve.most), (Load::NotRaised, Some(1)));
    assert_eq!(curve.floor, Err(Missing::NotALoad));
    assert_eq!(curve.plateau, Err(Missing::NotALoad));
    assert_eq!(curve.knees, Err(Missing::NotALoad));
}

#[test]
fn an_open_curve_has_its_knees_at_offered_rates() {
    // M/M/1 of 1 ms: R = 1 / (1 - rho); power is largest at utilization 0.5, twice the shortest
    // mean of 1.111 ms is kept up to utilization 0.55.
    let response = |rho: f64| (1e6 / (1.0 - rho)) as u64;
    let shares = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9];
    let records = shares.map(|rho| open((rho * 1000.0) as u64, response(rho))).to_vec();
    let (_, curve) = curve_of(records);
    assert_eq!(curve.load, Load::Open);
    assert_eq!(curve.plateau.as_ref().unwrap().state, State::NotReached);
    let knees = curve.knees.as_ref().unwrap();
    assert_eq!(loads(knees)[..2], [Some(500.0), Some(500.0)]);
    assert_eq!(knees.bounds, Err(Missing::NotALoad));
    assert_eq!(knees.objective.unwrap().origin, Origin::TwiceShortest);
    let power = knees.power.clone().unwrap();
    assert_eq!((power.low, power.high), (400.0, Some(600.0)));
}

#[test]
fn distant_knees_disagree() {
    // The response time rises sharply at first, and the rate grows slowly for long.
    let rates = [1000, 1050, 1100, 1400, 2200, 3600, 5200, 6400, 6450, 6460];
    let records: Vec<RunRecord> =
        rates.iter().enumerate().map(|(k, rate)| closed(1 << k, *rate)).collect();
    let (_, curve) = curve_of(records);
    let knees = curve.knees.unwrap();
    let disagreement = knees.disagreement.unwrap();
    assert!(disagreement.factor > 4.0, "{knees:?}");
    assert_ne!(disagreement.lowest, disagreement.highest);
    assert_eq!(KneeMethod::Power.name(), "knee_power");
}

#[test]
fn the_worst_violation_of_littles_law_is_named() {
    let mut records = bottleneck(&[1, 2, 4, 8]);
    for interval in &mut records[2].intervals {
        interval.streams[0].outstanding_time_ns = interval.streams[0].outstanding_time_ns / 10 * 9;
    }
    let (_, curve) = curve_of(records);
    assert_eq!(curve.little_worst, Some(2));
    let check = curve.points[2].little.unwrap();
    assert!((check.mismatch - 1.0 / 9.0).abs() < 1e-9, "{check:?}");
}

#[test]
fn arrivals_of_one_process_form_a_curve_over_the_offered_rate() {
    let at = |process: &str, rate: u64| {
        let mut record = open(rate, 1_000_000);
        record.run.parameters = vec![("arrival".to_owned(), format!("{process} {rate}/s"))];
        record
    };
    let records = vec![at("poisson", 900), at("poisson", 1000), at("constant", 900)];
    let findings = analyze(&experiment(records));
    let names: Vec<&str> = findings.curves.iter().map(|c| c.name.as_str()).collect();
    assert_eq!(names, ["read, poisson arrivals", "read, constant arrivals"]);
    let poisson = &findings.curves[0];
    assert_eq!((poisson.axis.as_str(), poisson.load), ("offered rate", Load::Open));
    let labels: Vec<&str> = poisson.points.iter().map(|p| p.label.as_str()).collect();
    assert_eq!(labels, ["900/s", "1000/s"]);
}

/// Twice the operations in half the time each: the same curve in other units.
fn faster(rates: &[u64], factor: u64) -> Vec<RunRecord> {
    rates.iter().enumerate().map(|(k, rate)| closed(1 << k, rate * factor)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn the_order_of_the_runs_changes_nothing(
        rates in prop::collection::vec(500u64..9000, 6),
        order in Just((0..6usize).collect::<Vec<_>>()).prop_shuffle(),
    ) {
        let records = faster(&rates, 1);
        let shuffled: Vec<RunRecord> = order.iter().map(|k| records[*k].clone()).collect();
        let (_, one) = curve_of(records);
        let (_, other) = curve_of(shuffled);
        prop_assert_eq!(&one.plateau, &other.plateau);
        prop_assert_eq!(&one.knees, &other.knees);
        prop_assert_eq!(&one.fits, &other.fits);
        prop_assert_eq!(one.floor.map(|f| f.point), other.floor.map(|f| f.point));
    }

    #[test]
    fn a_system_that_is_so_many_times_as_fast_bends_at_the_same_queue_depths(
        rates in prop::collection::vec(500u64..9000, 6),
        factor in prop::sample::select(vec![2u64, 5]),
    ) {
        let (_, one) = curve_of(faster(&rates, 1));
        let (_, other) = curve_of(faster(&rates, factor));
        let (one, other) = (one.knees.expect("knees"), other.knees.expect("knees"));
        prop_assert_eq!(one.power.map(|k| k.load), other.power.map(|k| k.load));
        prop_assert_eq!(one.kneedle.map(|k| k.load), other.kneedle.map(|k| k.load));
    }

    #[test]
    fn repeats_that_say_the_same_move_no_number(rates in prop::collection::vec(500u64..9000, 6)) {
        let records = faster(&rates, 1);
        let repeated = (0..3).flat_map(|repeat| {
            let again = |record: &RunRecord| {
                let mut record = record.clone();
                record.run.repeat = repeat;
                record
            };
            records.iter().map(again).collect::<Vec<_>>()
        });
        let (_, thrice) = curve_of(repeated.collect());
        let (_, once) = curve_of(records);
        prop_assert_eq!(once.most, thrice.most);
        let of = |curve: &Curve| curve.plateau.clone().map(|p| (p.level.value, p.top));
        prop_assert_eq!(of(&once), of(&thrice));
        let confirmed = once.plateau.is_ok_and(|p| !matches!(p.state, State::Inconclusive(_)));
        let (once, thrice) = (once.knees.expect("knees"), thrice.knees.expect("knees"));
        // A fall from a peak counts as saturation only if repeated, and so do the findings that
        // depend on it.
        let (once, thrice) = (loads(&once), loads(&thrice));
        prop_assert_eq!((once[0], once[2]), (thrice[0], thrice[2]));
        if confirmed {
            prop_assert_eq!(once, thrice);
        }
    }
}
