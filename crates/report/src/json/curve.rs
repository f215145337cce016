//! A curve as JSON.

use analysis::curve::Curve;
use serde::Serialize;

use crate::number::exported;

#[derive(Serialize)]
pub(super) struct CurveJson<'a> {
    name: &'a str,
    axis: &'a str,
    saturation_point: Option<usize>,
    points: Vec<CurvePointJson<'a>>,
}

#[derive(Serialize)]
pub(super) struct CurvePointJson<'a> {
    load_point: usize,
    x: f64,
    label: &'a str,
}

pub(super) fn curve(curve: &Curve) -> CurveJson<'_> {
    let points = curve.points.iter().map(|p| CurvePointJson {
        load_point: p.load_point,
        x: exported(p.x),
        label: &p.label,
    });
    CurveJson {
        name: &curve.name,
        axis: &curve.axis,
        saturation_point: curve.most,
        points: points.collect(),
    }
}
