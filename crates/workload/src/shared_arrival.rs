//! A rate in `[run]` that the streams share in proportion to their weights.

use settings::Diagnostic;

use crate::arrival::Arrival;
use crate::layer::{AxisValue, DEFAULTS_FILE, Layer};
use crate::value::Value;

/// The arrival process that `[run]` gives to the streams, each its part; `None` if it sets none or it
/// cannot be shared.
///
/// * `streams` - the streams with their names
pub(crate) fn parts(
    run: &Layer<'_>,
    streams: &[(&str, &Layer<'_>)],
    axis_values: &[AxisValue<'_>],
    problems: &mut Vec<Diagnostic>,
) -> Option<Vec<Arrival>> {
    let written = |layer: &Layer<'_>, key| {
        let found =
            layer.at(key, axis_values).filter(|(_, span)| span.file.as_ref() != DEFAULTS_FILE);
        found.map(|(_, span)| span.clone())
    };
    let Some((Value::Arrival(arrival), span)) = run.at("arrival", axis_values) else {
        for (name, layer) in streams {
            if let Some(span) = written(layer, "weight") {
                let wrong = format!("stream `{name}` has a weight, but no rate is shared");
                let wrong = span.diagnostic(wrong, "`weight` only with `arrival` in [run]");
                problems.push(wrong.with_hint("set `arrival` in [run], or omit `weight`"));
            }
        }
        return None;
    };
    if !arrival.is_open() {
        let wrong = span.diagnostic("a closed loop has no rate to share", "an offered rate");
        problems.push(wrong.with_hint("set `arrival` in the streams"));
        return None;
    }
    for (name, layer) in streams {
        if let Some(span) = written(layer, "arrival") {
            let wrong = format!("stream `{name}` sets `arrival`, and so does [run]");
            let wrong = span.diagnostic(wrong, "`arrival` in [run] or in the streams");
            problems.push(wrong.with_hint("omit one of them"));
            return None;
        }
        let limited =
            ["start", "end"].into_iter().find_map(|key| Some((key, written(layer, key)?)));
        if let Some((key, span)) = limited {
            let wrong = format!("stream `{name}` shares a rate for a part of the run only");
            let wrong = span.diagnostic(wrong, format!("no `{key}` with `arrival` in [run]"));
            problems.push(wrong.with_hint("set `arrival` in the streams"));
            return None;
        }
    }
    let weight = |(_, layer): &(&str, &Layer<'_>)| match layer.value("weight", axis_values) {
        Some(Value::Count(weight)) => Some(*weight as f64),
        _ => None,
    };
    let weights = streams.iter().map(weight).collect::<Option<Vec<f64>>>()?;
    let sum: f64 = weights.iter().sum();
    Some(weights.into_iter().map(|weight| arrival.scaled(weight / sum)).collect())
}
