//! A measurement beside a published figure, in words: the share that is reached, what explains the
//! difference, and what is left.

use predict::expect::{Beside, Near, Rates, Step};
use units::{Bytes, part_of};

use super::{Expectation, Measured, published};
use crate::number::mib;
use crate::predict::whole;
use crate::verdict::headline;

/// What is left of a rate when the differences are taken out may be off by this share and means
/// nothing: `docs/method.md`, section Expectations.
const FEW: f64 = 0.05;

/// Paragraphs, the first of which is the answer in short.
pub(super) fn paragraphs(of: &Expectation, measured: &Measured) -> Vec<String> {
    let mut all = vec![reached(of, measured)];
    all.extend(nearest(of, measured).map(|(near, beside)| explained(of, near, beside)));
    let mut more: Vec<String> = measured.apart.clone();
    more.extend(measured.verdict.iter().map(|own| format!("The run itself: {}", headline(own))));
    if !more.is_empty() {
        all.push(more.join(" "));
    }
    all
}

/// How much of the nearest figure is reached, in its own unit.
fn reached(of: &Expectation, measured: &Measured) -> String {
    let rate = whole(measured.ops_per_s);
    let transfer = of.configuration.transfer_bytes;
    let by_model = nearest(of, measured).map(|(near, _)| near);
    let compared = |near| Some((near, Near::rates(near, measured.ops_per_s, transfer)?));
    match by_model.and_then(compared).or_else(|| of.near.iter().find_map(compared)) {
        Some((near, rates)) => {
            let here = match rates {
                Rates::Operations { .. } => format!("{rate} ops/s"),
                Rates::Bytes { here, .. } => {
                    let size = Bytes::new(transfer);
                    format!("{} MiB/s ({rate} ops/s of {size})", mib(here.get()))
                }
            };
            format!(
                "Measured: {here}. You reach {} the published figure {} ({}).",
                part_of(rates.ratio()),
                near.figure.id,
                published(&near.figure)
            )
        }
        None => format!("Measured: {rate} ops/s. No published rate is near."),
    }
}

/// The nearest figure that the model knows.
fn nearest<'e>(of: &'e Expectation, measured: &Measured) -> Option<(&'e Near, Beside)> {
    let transfer = of.configuration.transfer_bytes;
    let beside = |near: &'e Near| Some((near, near.beside(measured.ops_per_s, transfer)?));
    of.near.iter().find_map(beside)
}

/// What explains the difference, what cannot be weighed, and what is left.
fn explained(of: &Expectation, near: &Near, beside: Beside) -> String {
    let expected = of.curve.as_ref().and_then(|curve| curve.asked.as_ref());
    let is_few = (beside.unexplained - 1.0).abs() < FEW;
    let is_near = expected.is_some_and(|point| beside.is_within(point.ops_per_s)) || is_few;
    let verdict = match is_near {
        true => "no further from it than the model may be off",
        false if beside.unexplained < 1.0 => "the model does not explain the rest",
        false => "the model does not explain that it is more",
    };
    let predicted = match near.steps.is_empty() {
        true => {
            "Nothing differs that the model weighs, so it predicts the published figure.".into()
        }
        false => format!(
            "The difference is explained, by the model, by {}: together they predict {} the \
             published figure.",
            steps(&near.steps),
            part_of(beside.explained)
        ),
    };
    let mut words = format!(
        "{predicted} You measured {} that prediction: {verdict}.",
        part_of(beside.unexplained)
    );
    let unweighed = near.differences.iter().filter(|difference| !difference.is_modelled());
    let unweighed: Vec<&str> = unweighed.map(|difference| difference.words.as_str()).collect();
    if !unweighed.is_empty() {
        words.push_str(&format!(" What the model does not weigh: {}.", unweighed.join("; ")));
    }
    words
}

/// Differences with their factors: `connections x 0.52, hosts x 0.17`.
pub(super) fn steps(steps: &[Step]) -> String {
    let one = |step: &Step| format!("{} x {:.2}", step.what, step.factor);
    steps.iter().map(one).collect::<Vec<_>>().join(", ")
}
