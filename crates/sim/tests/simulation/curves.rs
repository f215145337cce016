//! Curves of systems whose floor, knee, saturation and model are known.

use analysis::curve::Curve;
use analysis::curve::plateau::{Reason, State};
use analysis::fit::model::Model as Fitted;
use analysis::fit::{Fit, Fits};
use analysis::{Findings, analyze};
use sim::storage::{Demand, Model, ThroughputLimit};
use statistics::queueing::{md1_response_s, mm1_response_s, mmc_response_s};
use workload::experiment::parse;
use workload::plan::{Plan, TargetSpec};
use workload::resolve::{ResolveOptions, resolve};

use crate::runs::{MS, assert_near};

/// A sweep in the form that a user writes; `load` is its last lines.
fn sweep(measure: &str, load: &str) -> Plan {
    let text = format!(
        "name = \"sweep\"\n[run]\nwarm_up = \"1s\"\nmeasure = \"{measure}\"\ninterval = \"500ms\"\n\
         [stream.reader]\nread = \"100%\"\ntransfer_size = \"8KiB\"\npattern = \"random\"\n\
         files = 1\nfile_size = \"1GiB\"\n{load}\n"
    );
    let experiment = parse(&text, "sweep").unwrap_or_else(|wrong| panic!("{wrong:#?}"));
    let options = ResolveOptions::LOCAL;
    resolve(&experiment, "sweep", TargetSpec::Null, &options)
        .unwrap_or_else(|wrong| panic!("{wrong:#?}"))
}

fn queue_depths(measure: &str, depths: &str) -> Plan {
    sweep(measure, &format!("queue_depth = [{depths}]"))
}

const LADDER: &str = "1, 2, 4, 8, 16, 32, 64";

fn found(plan: &Plan, model: &Model, seed: u64) -> (Findings, Curve) {
    let findings = analyze(&sim::experiment(plan, model, seed));
    assert_eq!(findings.curves.len(), 1, "one curve");
    let curve = findings.curves[0].clone();
    (findings, curve)
}

fn preferred(fits: &Fits) -> &Fit {
    &fits.fits[fits.preferred.unwrap_or_else(|| panic!("a model fits: {fits:#?}"))]
}

/// A volume with this rate of operations of 8 KiB and this delay.
fn volume(ops_per_s: u64, delay_ns: u64) -> Model {
    let limit = ThroughputLimit { bytes_per_s: ops_per_s * 8192, burst_bytes: 0 };
    Model { delay_ns, throughput_limit: Some(limit), ..Model::fixed(0) }
}

#[test]
fn a_throughput_limit_behind_a_delay_is_found_within_a_thousandth() {
    let (_, curve) = found(&queue_depths("5s", LADDER), &volume(8192, MS), 1);
    let floor = curve.floor.as_ref().unwrap();
    assert_near(floor.service_mean_ns.value, 1e6, 0.001, "floor");
    let plateau = curve.plateau.as_ref().unwrap();
    assert_near(plateau.level.value, 8192.0, 0.005, "saturation");
    assert_eq!((plateau.state, plateau.falls), (State::Reached(Reason::Flat), None));
    let knees = curve.knees.as_ref().unwrap();
    assert_near(knees.bounds.clone().unwrap().load, 8.192, 0.006, "floor times saturation");
    assert_eq!(knees.power.clone().unwrap().load, 8.0);
    assert_eq!(knees.kneedle.clone().unwrap().load, 8.0);
    assert_eq!(knees.slo.clone().unwrap().load, 16.0);
    let fit = preferred(curve.fits.as_ref().unwrap());
    assert_eq!(fit.model, Fitted::Bounds);
    assert_near(fit.parameter("alone_s").unwrap().value, 1e-3, 0.01, "alone");
    assert_near(fit.parameter("capacity_ops_per_s").unwrap().value, 8192.0, 0.005, "capacity");
    let worst = curve.points[curve.little_worst.unwrap()].little.unwrap();
    assert!(worst.mismatch.abs() < 0.002, "{worst:?}");
}

#[test]
fn a_ladder_below_the_limit_does_not_claim_saturation() {
    let (_, curve) = found(&queue_depths("3s", "1, 2, 4, 6"), &volume(8192, MS), 1);
    assert_eq!(curve.plateau.as_ref().unwrap().state, State::NotReached);
    assert!(curve.knees.as_ref().unwrap().bounds.is_err());
}

#[test]
fn finite_slots_saturate_at_their_number_divided_by_their_time() {
    // Sixteen slots of 2 ms behind a delay of 1 ms: 8,000 ops/s from 24 outstanding on.
    let slots = Model::queue(16, Demand::Deterministic { ns: 2 * MS });
    let model = Model { delay_ns: MS, ..slots };
    let (_, curve) = found(&queue_depths("5s", "1, 2, 4, 8, 16, 24, 32, 64, 128"), &model, 1);
    assert_near(curve.floor.as_ref().unwrap().service_mean_ns.value, 3e6, 0.001, "floor");
    assert_near(curve.plateau.as_ref().unwrap().level.value, 8000.0, 0.005, "saturation");
    let knees = curve.knees.as_ref().unwrap();
    assert_near(knees.bounds.clone().unwrap().load, 24.0, 0.006, "floor times saturation");
    assert_eq!(knees.power.clone().unwrap().load, 24.0);
}

/// Near and far clients of one volume, as in the figure "IOPS versus latency" of the service's
/// documentation ("the increased latency for the further set of VMs has an impact on the amount of
/// IOPS achieved at a given level of parallelism; regardless" both reach the same).
#[test]
fn a_far_client_reaches_the_same_saturation_with_proportionally_more_concurrency() {
    // The storage's own time, the same for near and far. Without it the ratio of 0.3 and 2 ms is
    // 6.7; with 0.267 ms it is four.
    for (storage_us, ratio) in [(0, 2.0 / 0.3), (267, 4.0)] {
        let depths = "1, 2, 4, 8, 16, 32, 64, 128, 256";
        let at = |way_us: u64| {
            let model = volume(16_384, (way_us + storage_us) * 1000);
            found(&queue_depths("3s", depths), &model, 1).1
        };
        let (near, far) = (at(300), at(2000));
        let most = |curve: &Curve| curve.plateau.as_ref().unwrap().level.value;
        assert_near(most(&far), most(&near), 0.005, "the same saturation");
        let crossing = |curve: &Curve| curve.knees.clone().unwrap().bounds.unwrap().load;
        assert_near(crossing(&far) / crossing(&near), ratio, 0.01, "times the concurrency");
        // At the same queue depth the far client has a lower rate until both are saturated, and
        // then the same response time.
        for (near, far) in near.points.iter().zip(&far.points) {
            let (near, far) = (near.sample.unwrap(), far.sample.unwrap());
            if near.load < 4.0 {
                assert_near(near.rate.value / far.rate.value, ratio, 0.01, "at low load");
            } else if near.load >= 64.0 {
                assert_near(near.response_s.value, far.response_s.value, 0.01, "at high load");
            }
        }
    }
}

/// Fits of a model for many seeds: how often each parameter's interval contained the true value,
/// and how often the model was preferred.
fn over_seeds(
    plan: &Plan,
    model: &Model,
    fitted: Fitted,
    truth: &[f64],
    share: f64,
) -> (Vec<u32>, u32) {
    let mut covered = vec![0; truth.len()];
    let mut best = 0;
    for seed in 1..=SEEDS {
        let (_, curve) = found(plan, model, seed);
        let fits = curve.fits.as_ref().unwrap();
        best += u32::from(fits.preferred.is_some_and(|index| fits.fits[index].model == fitted));
        let fit = fits.fits.iter().find(|fit| fit.model == fitted).unwrap();
        for ((covered, parameter), truth) in covered.iter_mut().zip(&fit.parameters).zip(truth) {
            let is_covered =
                parameter.low <= *truth && parameter.high.is_none_or(|high| *truth <= high);
            *covered += u32::from(is_covered);
            let what = format!("{}, seed {seed}", parameter.name);
            assert!((parameter.value - truth).abs() <= share * truth.max(1e-3), "{what}: {fit:#?}");
        }
    }
    (covered, best)
}

const SEEDS: u64 = 20;

#[test]
fn one_server_in_a_closed_loop_is_found_by_mean_value_analysis() {
    // A delay of 4 ms, then a server with exponential demands of 1 ms.
    let server = Model::queue(1, Demand::Exponential { mean_ns: 1e6 });
    let model = Model { delay_ns: 4 * MS, ..server };
    let plan = queue_depths("20s", "1, 2, 3, 4, 6, 8, 16, 32");
    let truth = [0.004, 1000.0];
    let (covered, best) = over_seeds(&plan, &model, Fitted::DelayAndServer, &truth, 0.05);
    assert!(covered.iter().all(|count| *count >= 18), "{covered:?} of {SEEDS}");
    assert!(best >= 16, "preferred {best} times of {SEEDS}");
}

#[test]
fn several_servers_in_a_closed_loop_are_counted() {
    let servers = Model::queue(4, Demand::Exponential { mean_ns: 2e6 });
    let model = Model { delay_ns: 2 * MS, ..servers };
    let plan = queue_depths("20s", "1, 2, 3, 4, 6, 8, 12, 16, 32, 64");
    let (_, curve) = found(&plan, &model, 1);
    let fit = preferred(curve.fits.as_ref().unwrap());
    assert_eq!(fit.model, Fitted::DelayAndServers);
    assert_eq!(fit.parameter("servers").unwrap().value, 4.0);
    assert_near(fit.parameter("capacity_ops_per_s").unwrap().value, 2000.0, 0.01, "capacity");
}

const RATES: [u32; 9] = [200, 400, 600, 800, 1000, 1200, 1400, 1600, 1800];

/// Poisson arrivals at shares of a capacity of 2,000 ops/s.
fn offered(measure: &str, rates: &[u32]) -> Plan {
    let rates: Vec<String> = rates.iter().map(|rate| format!("\"{rate}/s\"")).collect();
    let arrival = format!("queue_depth = 4096\narrival = {{ poisson = [{}] }}", rates.join(", "));
    sweep(measure, &arrival)
}

#[test]
fn open_queues_are_distinguished_by_the_rise_of_their_response_time() {
    let rate = 1000.0;
    let cases = [
        (1, Demand::Exponential { mean_ns: 5e5 }, Fitted::Mm1, mm1_response_s(rate, 5e-4)),
        (1, Demand::Deterministic { ns: MS / 2 }, Fitted::Md1, md1_response_s(rate, 5e-4)),
        (4, Demand::Exponential { mean_ns: 2e6 }, Fitted::Mmc, mmc_response_s(rate, 2e-3, 4.0)),
    ];
    for (servers, demand, fitted, response_s) in cases {
        let model = Model { delay_ns: MS, ..Model::queue(servers, demand) };
        let (_, curve) = found(&offered("100s", &RATES), &model, 1);
        let fits = curve.fits.as_ref().unwrap();
        let fit = preferred(fits);
        assert_eq!(fit.model, fitted, "{fits:#?}");
        let capacity = fit.parameter("capacity_ops_per_s").unwrap();
        assert_near(capacity.value, 2000.0, 0.03, "capacity");
        assert_near(fit.predicted(rate), 1e-3 + response_s, 0.03, "response time at half");
        assert_eq!(curve.plateau.as_ref().unwrap().state, State::NotReached);
        assert!(curve.knees.as_ref().unwrap().power.is_ok());
    }
}

#[test]
fn parameters_of_an_open_queue_lie_within_their_confidence_interval() {
    let server = Model::queue(1, Demand::Exponential { mean_ns: 5e5 });
    let model = Model { delay_ns: MS, ..server };
    // Closer to capacity a window of this length has too few busy periods to estimate its mean.
    let plan = offered("40s", &RATES[..7]);
    let (covered, _) = over_seeds(&plan, &model, Fitted::Mm1, &[1e-3, 2000.0], 0.15);
    assert!(covered.iter().all(|count| *count >= 18), "{covered:?} of {SEEDS}");
}

#[test]
fn an_unsustainable_rate_is_saturation_but_no_knee() {
    let server = Model::queue(1, Demand::Exponential { mean_ns: 5e5 });
    let arrival = "queue_depth = 64\narrival = { poisson = [\"500/s\", \"1000/s\", \"1500/s\", \
                   \"1900/s\", \"3000/s\"] }";
    let (_, curve) = found(&sweep("20s", arrival), &server, 1);
    let plateau = curve.plateau.as_ref().unwrap();
    assert_eq!((plateau.state, plateau.top), (State::Reached(Reason::RateNotKept), 4));
    assert_near(plateau.level.value, 2000.0, 0.02, "saturation");
    assert!(curve.points[4].sample.unwrap().overloaded);
    let power = curve.knees.as_ref().unwrap().power.clone().unwrap();
    assert!(power.load <= 1500.0, "{power:?}");
}
