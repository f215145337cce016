//! Models fitted to curves with known parameters, and to published measurements.

use analysis::curve::Missing;
use analysis::estimate::{Estimate, Method};
use analysis::fit::model::Model;
use analysis::fit::{Fit, Fits, FittedParameter, of_samples};
use analysis::sample::{Load, Sample};
use proptest::prelude::*;
use workload::random;

/// An estimate with a half-width.
fn known(value: f64, half_width: f64) -> Estimate {
    let (uncertainty, samples) = (Some(half_width), f64::INFINITY);
    Estimate { value, uncertainty, samples, method: Method::Intervals }
}

fn closed(load: f64, rate: Estimate) -> Sample {
    let response_s = Estimate::bare(load / rate.value);
    Sample { load, rate, response_s, think_time_s: 0.0, overloaded: false }
}

fn open(load: f64, response_s: Estimate) -> Sample {
    let rate = Estimate::bare(load);
    Sample { load, rate, response_s, think_time_s: 0.0, overloaded: false }
}

/// A curve of `model` without noise, with a half-width of 1 %.
fn exact(model: Model, parameters: &[f64], loads: &[f64], load: Load) -> Vec<Sample> {
    let sample = |at: &f64| {
        let value = model.predicted(parameters, *at, 0.0);
        match load {
            Load::Open => open(*at, known(value, 0.01 * value)),
            _ => closed(*at, known(value, 0.01 * value)),
        }
    };
    loads.iter().map(sample).collect()
}

fn preferred(fits: &Fits) -> &Fit {
    &fits.fits[fits.preferred.expect("a model fits")]
}

/// Whether the confidence interval contains `value`.
fn contains(parameter: &FittedParameter, value: f64) -> bool {
    parameter.low <= value && parameter.high.is_none_or(|high| value <= high)
}

#[track_caller]
fn assert_found(fit: &Fit, expected: &[f64], share: f64) {
    for (parameter, expected) in fit.parameters.iter().zip(expected) {
        let off = (parameter.value / expected - 1.0).abs();
        assert!(off <= share, "{} is {}, not {expected}", parameter.name, parameter.value);
        assert!(contains(parameter, *expected), "{parameter:?}");
    }
}

const LADDER: [f64; 9] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0];
const RATES: [f64; 9] = [1000.0, 2000.0, 3000.0, 4000.0, 5000.0, 6000.0, 7000.0, 7500.0, 7800.0];

#[test]
fn each_closed_model_finds_its_own_parameters_and_is_preferred() {
    let cases: [(Model, &[f64]); 4] = [
        (Model::Bounds, &[0.001, 8192.0]),
        (Model::DelayAndServer, &[0.002, 8192.0]),
        (Model::DelayAndServers, &[0.001, 8000.0, 12.0]),
        (Model::Usl, &[1000.0, 0.02, 0.0004]),
    ];
    for (model, parameters) in cases {
        let fits = of_samples(&exact(model, parameters, &LADDER, Load::Closed), Load::Closed);
        let fits = fits.expect("there are enough points");
        let fit = preferred(&fits);
        assert_eq!(fit.model, model, "{fits:#?}");
        assert_found(fit, parameters, 1e-3);
        assert!(fit.residual_rms < 1e-4, "{}", fit.residual_rms);
    }
}

#[test]
fn each_open_model_finds_its_own_parameters_and_is_preferred() {
    let cases: [(Model, &[f64]); 3] = [
        (Model::Md1, &[0.0005, 8192.0]),
        (Model::Mm1, &[0.0005, 8192.0]),
        (Model::Mmc, &[0.0003, 8192.0, 4.0]),
    ];
    for (model, parameters) in cases {
        let fits = of_samples(&exact(model, parameters, &RATES, Load::Open), Load::Open);
        let fits = fits.expect("there are enough points");
        let fit = preferred(&fits);
        assert_eq!(fit.model, model, "{fits:#?}");
        assert_found(fit, parameters, 2e-3);
    }
}

/// Throughput of a Cisco benchmark at 1 to 32 nodes.
///
/// Source: Baron Schwartz, "Practical Scalability Analysis with the Universal Scalability Law",
/// VividCortex, 2015, whose fit is lambda 995.6486, sigma 0.02671591, kappa 0.0007690945.
const CISCO: [f64; 32] = [
    955.16, 1878.91, 2688.01, 3548.68, 4315.54, 5130.43, 5931.37, 6531.08, 7219.8, 7867.61,
    8278.71, 8646.7, 9047.84, 9426.55, 9645.37, 9897.24, 10097.6, 10240.5, 10532.39, 10798.52,
    11151.43, 11518.63, 11806.0, 12089.37, 12075.41, 12177.29, 12211.41, 12158.93, 12155.27,
    12118.04, 12140.4, 12074.39,
];

#[test]
fn the_universal_law_finds_the_published_parameters_of_a_published_benchmark() {
    // The book gives all points the same weight in ops/s, so they have the same half-width.
    let samples: Vec<Sample> =
        (1u32..).zip(CISCO).map(|(n, rate)| closed(f64::from(n), known(rate, 300.0))).collect();
    let fits = of_samples(&samples, Load::Closed).expect("there are enough points");
    let usl = fits.fits.iter().find(|fit| fit.model == Model::Usl).expect("it is fitted");
    assert_found(usl, &[995.6486, 0.026_715_91, 0.000_769_094_5], 0.02);
}

#[test]
fn a_curve_without_a_fitting_model_has_none() {
    // A rate that jumps up and down.
    let samples: Vec<Sample> = LADDER
        .iter()
        .enumerate()
        .map(|(index, load)| {
            let rate = 1000.0 * (index + 1) as f64 * if index % 2 == 0 { 1.0 } else { 0.5 };
            closed(*load, known(rate, 10.0))
        })
        .collect();
    let fits = of_samples(&samples, Load::Closed).expect("there are enough points");
    assert_eq!(fits.preferred, None);
    assert!(!fits.fits.is_empty() && fits.as_good.is_empty());
    assert!(fits.fits.iter().all(|fit| fit.residual_rms > 0.05));
}

#[test]
fn too_few_points_are_refused() {
    let samples = exact(Model::Bounds, &[0.001, 8000.0], &LADDER[..4], Load::Closed);
    let refused = of_samples(&samples, Load::Closed);
    assert_eq!(refused, Err(Missing::TooFewPoints { points: 4, required: 5 }));
    // Five are enough for two parameters, not for three.
    let samples = exact(Model::Bounds, &[0.001, 8000.0], &LADDER[..5], Load::Closed);
    let fits = of_samples(&samples, Load::Closed).expect("five are enough");
    assert!(fits.fits.iter().all(|fit| fit.parameters.len() == 2));
}

#[test]
fn undetermined_parameters_have_no_bound() {
    // Far from the limit: the delay is determined, the capacity is not.
    let samples = exact(Model::Bounds, &[0.001, 1e6], &[1.0, 2.0, 3.0, 4.0, 5.0], Load::Closed);
    let fits = of_samples(&samples, Load::Closed).expect("there are enough points");
    let bounds = fits.fits.iter().find(|fit| fit.model == Model::Bounds).expect("it is fitted");
    assert!(bounds.parameter("alone_s").expect("a parameter").is_determined());
    let capacity = bounds.parameter("capacity_ops_per_s").expect("a parameter");
    assert!(!capacity.is_determined(), "{capacity:?}");
}

#[test]
fn a_known_think_time_is_not_fitted() {
    let think_time_s = 0.003;
    let sample = |load: &f64| {
        let rate = Model::DelayAndServer.predicted(&[0.001, 2000.0], *load, think_time_s);
        Sample { think_time_s, ..closed(*load, known(rate, 0.01 * rate)) }
    };
    let samples: Vec<Sample> = LADDER.iter().map(sample).collect();
    let fits = of_samples(&samples, Load::Closed).expect("there are enough points");
    let fit = preferred(&fits);
    assert_eq!(fit.model, Model::DelayAndServer);
    assert_found(fit, &[0.001, 2000.0], 1e-3);
}

/// A draw from the standard normal distribution, by the sum of twelve.
fn normal(seed: u64) -> f64 {
    (0..12).map(|n| random::unit(random::at(seed, n))).sum::<f64>() - 6.0
}

#[test]
fn parameters_are_within_their_intervals_in_nine_of_ten_noisy_curves() {
    let (model, truth) = (Model::DelayAndServer, [0.002, 8192.0]);
    let mut within = [0; 2];
    let mut best = 0;
    for seed in 0..100 {
        let sample = |(index, load): (usize, &f64)| {
            let rate = model.predicted(&truth, *load, 0.0);
            let noise = 0.01 * normal(random::derive(seed, index as u64));
            closed(*load, known(rate * (1.0 + noise), 0.0196 * rate))
        };
        let samples: Vec<Sample> = LADDER.iter().enumerate().map(sample).collect();
        let fits = of_samples(&samples, Load::Closed).expect("there are enough points");
        best += u32::from(preferred(&fits).model == model);
        let fit = fits.fits.iter().find(|fit| fit.model == model).expect("it is fitted");
        for ((count, parameter), truth) in within.iter_mut().zip(&fit.parameters).zip(truth) {
            *count += u32::from(contains(parameter, truth));
        }
    }
    assert!(within.iter().all(|count| *count >= 90), "{within:?} of 100");
    assert!(best >= 80, "the true model was preferred {best} times of 100");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn other_units_change_no_residual_and_scale_the_parameters(
        scale in prop::sample::select(vec![1e-3, 0.5, 7.0, 1e4]),
        noise in prop::collection::vec(0.95f64..1.05, 9),
    ) {
        let curve = |factor: f64| -> Vec<Sample> {
            let truth = [0.002 / factor, 8192.0 * factor];
            LADDER.iter().zip(&noise).map(|(load, noise)| {
                let rate = noise * Model::DelayAndServer.predicted(&truth, *load, 0.0);
                closed(*load, known(rate, 0.02 * rate))
            }).collect()
        };
        let one = of_samples(&curve(1.0), Load::Closed).expect("enough");
        let other = of_samples(&curve(scale), Load::Closed).expect("enough");
        for fit in &one.fits {
            let same = other.fits.iter().find(|f| f.model == fit.model).expect("the same models");
            prop_assert!((fit.residual_rms - same.residual_rms).abs() < 1e-3, "{fit:?} {same:?}");
        }
        let capacity = |fits: &Fits| {
            let of_server = fits.fits.iter().find(|f| f.model == Model::DelayAndServer);
            of_server.expect("it is fitted").parameters[1].value
        };
        prop_assert!((capacity(&other) / capacity(&one) / scale - 1.0).abs() < 1e-3);
    }
}
