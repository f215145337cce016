//! Contradictions between published figures: figures for which any model with only the stated
//! configuration must predict the same number.
//!
//! For: the part of the error in `docs/validation.md` that is due to the figures themselves.

use std::fmt::Write;

use cloud::figure::{Figure, Mix, Role, Value};

use crate::figure_row::{Row, digits, errors, rows, unit};
use crate::parameter::Parameter;
use crate::parameters::Parameters;
use crate::resource::ResourceKind;

/// Predictions within this share count as equal.
const ONE_NUMBER: f64 = 1e-3;
/// Figures within this share count as equal.
const EQUAL_WITHIN: f64 = 0.05;

const HEAD: &str = "\
Part B comes from one page, which states two numbers for one configuration: those of 2019, measured
with the same offsets in each run (caching included), and newer ones without caching. The model does
not distinguish them and predicts one number for both. For published numbers `a` and `b`, any
prediction has an error of at least `(b - a) / (a + b)` for one of them; `2ab / (a + b)` has this
error for both.

";

/// Text of the section, after its summary.
pub(crate) fn section(figures: &[Figure], all: &[Row], parameters: &Parameters) -> String {
    let mut out = String::from(HEAD);
    for (one, other) in pairs(all) {
        let _ = writeln!(
            out,
            "- {} and {}, with the same configuration ({} and {} {}): error of at least {:.1} %.",
            one.figure.id,
            other.figure.id,
            digits(one.published),
            digits(other.published),
            unit(&one.figure),
            100.0 * least_miss(one.published, other.published)
        );
    }
    for group in groups(all) {
        let (low, high) = ends(&group);
        let _ = writeln!(
            out,
            "- Bounded by {}: {} figures have the same prediction, {} {}, because none of their \
             differences is a bound. They range from {} ({}) to {} ({}), so any common prediction \
             has an error of at least {:.1} % for one of them.",
            group[0].bounded_by,
            group.len(),
            digits(group[0].predicted.value),
            unit(&group[0].figure),
            digits(low.published),
            low.figure.id,
            digits(high.published),
            high.figure.id,
            100.0 * least_miss(low.published, high.published)
        );
    }
    out.push('\n');
    newer(figures, all, parameters, &mut out);
    out
}

/// Least relative error of one number for two published ones.
pub(crate) fn least_miss(one: f64, other: f64) -> f64 {
    (one - other).abs() / (one + other)
}

/// Figures for validation that are marked as contradicting each other, the smaller one first.
fn pairs(all: &[Row]) -> Vec<(&Row, &Row)> {
    let of = |row: &&Row| row.figure.role == Role::Validation && row.figure.caching.is_some();
    let mut pairs = Vec::new();
    for (index, one) in all.iter().enumerate().filter(|(_, row)| of(row)) {
        let others = all[index + 1..].iter().filter(of);
        for other in others.filter(|other| one.figure.contradicts.contains(&other.figure.id)) {
            let ascending = one.published <= other.published;
            pairs.push(if ascending { (one, other) } else { (other, one) });
        }
    }
    pairs
}

/// Figures of volumes with equal predictions but different numbers, at least one of them for
/// validation.
fn groups(all: &[Row]) -> Vec<Vec<&Row>> {
    let mut groups: Vec<Vec<&Row>> = Vec::new();
    for row in all.iter().filter(|row| row.figure.volume.is_some()) {
        let same = |group: &&mut Vec<&Row>| {
            let first = group[0];
            let apart = (row.predicted.value / first.predicted.value - 1.0).abs();
            unit(&first.figure) == unit(&row.figure)
                && first.bounded_by == row.bounded_by
                && first.figure.volume == row.figure.volume
                && apart <= ONE_NUMBER
        };
        match groups.iter_mut().find(same) {
            Some(group) => group.push(row),
            None => groups.push(vec![row]),
        }
    }
    groups.retain(|group| {
        let (low, high) = ends(group);
        let tested = group.iter().any(|row| row.figure.role == Role::Validation);
        tested && least_miss(low.published, high.published) >= EQUAL_WITHIN
    });
    groups
}

fn ends<'a>(group: &[&'a Row]) -> (&'a Row, &'a Row) {
    let by = |a: &&&Row, b: &&&Row| a.published.total_cmp(&b.published);
    let low = group.iter().min_by(by).copied().expect("a group has a row");
    let high = group.iter().max_by(by).copied().expect("a group has a row");
    (low, high)
}

/// The effect of setting sequential writes to the lowest newer figure without caching.
fn newer(figures: &[Figure], all: &[Row], parameters: &Parameters, out: &mut String) {
    let writes = all.iter().filter(|row| {
        row.bounded_by == ResourceKind::VolumeWrites.label()
            && row.figure.caching == Some(false)
            && row.figure.read == Mix::Share(0.0)
    });
    let Some(lowest) = writes.min_by(|a, b| a.published.total_cmp(&b.published)) else { return };
    let Value::Throughput(rate) = lowest.figure.value else { return };
    let with = parameters.clone().with(Parameter::RegularWritePath, 1.0 / rate.get());
    let changed = rows(figures, &with);
    let of = |role| errors(changed.iter().filter(move |row| row.figure.role == role));
    let (Some(fitted), Some(tested)) = (of(Role::Calibration), of(Role::Validation)) else {
        return;
    };
    let mean = |rows: &[Row]| rows.iter().find(|row| row.figure.id == MEAN).cloned();
    let (Some(before), Some(after)) = (mean(all), mean(&changed)) else { return };
    let _ = writeln!(
        out,
        "The older figures are many and agree with each other, so the model is fitted to them. In \
         part A only {MEAN}, from {}, a mean over all mixes, supports the newer ones: its error is \
         {:+.1} %, and would be {:+.1} % with sequential writes at the {} {} of {}. Faster reads \
         would explain it as well, and one figure cannot distinguish the two. Therefore the model \
         has no parameter for the age of a figure. With those writes the worst error would be \
         {:.1} % for calibration and {:.1} % for validation. Expect more than predicted for \
         sequential writes to a regular volume today.\n",
        before.figure.origin.date,
        100.0 * before.error(),
        100.0 * after.error(),
        digits(lowest.published),
        unit(&lowest.figure),
        lowest.figure.id,
        100.0 * fitted.worst,
        100.0 * tested.worst,
    );
}

/// The newest figure of part A that depends on sequential writes of a regular volume.
const MEAN: &str = "A35";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_number_misses_both_of_two_by_less_than_the_least_miss() {
        let (a, b) = (1500.0, 2500.0);
        assert_eq!(least_miss(a, b), 0.25);
        let miss = |x: f64| ((x - a) / a).abs().max(((x - b) / b).abs());
        assert!((miss(2.0 * a * b / (a + b)) - 0.25).abs() < 1e-12);
        for x in (1000..3000).map(f64::from) {
            assert!(miss(x) >= 0.25 - 1e-12, "{x}");
        }
    }

    #[test]
    fn sequential_writes_of_a_regular_volume_cannot_all_be_met_within_25_percent() {
        let figures = cloud::figure::all();
        let all = rows(&figures, &Parameters::calibrated(&figures));
        let groups = groups(&all);
        let writes = groups.iter().find(|group| group[0].bounded_by == "volumes, writes").unwrap();
        let (low, high) = ends(writes);
        assert_eq!((low.published, high.published), (1500.0, 2500.0));
        let pairs = pairs(&all);
        assert!(pairs.iter().any(|(a, b)| (a.figure.id == "B08") && (b.figure.id == "B10")));
    }
}
