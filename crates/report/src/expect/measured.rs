//! Compares a measurement with a published figure: the share reached, what explains the difference,
//! and the unexplained rest.

use predict::expect::{FigureComparison, Near, Rates, Step};
use units::{Bytes, part_of};

use super::words::{change, contrast, note};
use super::{Expectation, Measured, published_value};
use crate::number::{mib, whole};
use crate::verdict::headline;

/// An unexplained difference below this share means nothing (`docs/method.md`, section
/// Expectations).
const SMALL: f64 = 0.05;

/// Paragraphs; the first is the short answer.
pub(super) fn paragraphs(of: &Expectation, measured: &Measured) -> Vec<String> {
    let mut all = vec![reached(of, measured)];
    all.extend(nearest(of, measured).map(|(near, compared)| explained(of, near, compared)));
    let mut more: Vec<String> = measured.notes.iter().map(note).collect();
    more.extend(
        measured.verdict.iter().map(|own| format!("Bottleneck of this run: {}", headline(own))),
    );
    if !more.is_empty() {
        all.push(more.join(" "));
    }
    all
}

/// The share of the nearest figure that is reached.
fn reached(of: &Expectation, measured: &Measured) -> String {
    let rate = whole(measured.rate.get());
    let transfer = of.configuration.transfer_bytes;
    let by_model = nearest(of, measured).map(|(near, _)| near);
    let compared = |near| Some((near, Near::rates(near, measured.rate, transfer)?));
    match by_model.and_then(compared).or_else(|| of.near.iter().find_map(compared)) {
        Some((near, rates)) => {
            let here = match rates {
                Rates::Operations { .. } => format!("{rate} IOPS"),
                Rates::Bytes { here, .. } => {
                    let size = Bytes::new(transfer);
                    format!("{} MiB/s ({rate} IOPS of {size})", mib(here.get()))
                }
            };
            format!(
                "Measured: {here}. You reach {} the published figure {} ({}).",
                part_of(rates.ratio()),
                near.figure.id,
                published_value(&near.figure)
            )
        }
        None => format!("Measured: {rate} IOPS. There is no published rate to compare with."),
    }
}

/// The nearest figure that the model covers.
fn nearest<'e>(of: &'e Expectation, measured: &Measured) -> Option<(&'e Near, FigureComparison)> {
    let transfer = of.configuration.transfer_bytes;
    let compared = |near: &'e Near| Some((near, near.compare(measured.rate, transfer)?));
    of.near.iter().find_map(compared)
}

/// What explains the difference, and what does not.
fn explained(of: &Expectation, near: &Near, compared: FigureComparison) -> String {
    let expected = of.curve.as_ref().and_then(|curve| curve.requested.as_ref());
    let is_small = (compared.unexplained - 1.0).abs() < SMALL;
    let is_near = expected.is_some_and(|point| compared.is_within(point.ops_per_s)) || is_small;
    let verdict = match is_near {
        true => "within the model's uncertainty",
        false if compared.unexplained < 1.0 => "the model does not explain the rest",
        false => "the model does not explain the excess",
    };
    let predicted = match near.steps.is_empty() {
        true => "No difference affects the model, so it predicts the published figure.".into(),
        false => format!(
            "By the model, the difference is due to {}: together these predict {} the published \
             figure.",
            steps(&near.steps),
            part_of(compared.explained)
        ),
    };
    let mut words = format!(
        "{predicted} You measured {} that prediction: {verdict}.",
        part_of(compared.unexplained)
    );
    let unweighed = near.differences.iter().filter(|difference| !difference.is_modelled());
    let unweighed: Vec<String> = unweighed.map(|one| contrast(&one.contrast)).collect();
    if !unweighed.is_empty() {
        words.push_str(&format!(" Not covered by the model: {}.", unweighed.join("; ")));
    }
    words
}

/// Differences with their factors: `connections x 0.52, hosts x 0.17`.
pub(super) fn steps(steps: &[Step]) -> String {
    let one = |step: &Step| format!("{} x {:.2}", change(step.change), step.factor);
    steps.iter().map(one).collect::<Vec<_>>().join(", ")
}
