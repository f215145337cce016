//! What no model can meet: published figures to which a model that knows no more than the sources
//! say must give one number.
//!
//! For: saying in `docs/validation.md` how much of an error is the figures' own, computed and not
//! claimed.

use std::fmt::Write;

use cloud::figure::{Figure, Mix, Role, Value};

use crate::parameters::{Parameter, Parameters};
use crate::resource::ResourceKind;
use crate::validation::{Row, digits, errors, rows, unit};

/// Predictions nearer to each other are one number.
const ONE_NUMBER: f64 = 1e-3;
/// Figures nearer to each other need no explanation.
const WORTH_SAYING: f64 = 0.05;

const HEAD: &str = "\
Part B is of one page, which gives two numbers for one configuration: those of 2019, measured with
the same offsets in each run (caching included), and newer ones without. A model that is not told
which of them is meant gives one number for both. Whatever number that is: of `a` and `b` it misses
one by at least `(b - a) / (a + b)`, which is what `2ab / (a + b)` misses both by.

";

/// The section's words below its summary.
pub(crate) fn section(figures: &[Figure], all: &[Row], parameters: &Parameters) -> String {
    let mut out = String::from(HEAD);
    for (one, other) in pairs(all) {
        let _ = writeln!(
            out,
            "- {} and {}, of one configuration ({} and {} {}): at least {:.1} %.",
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
            "- Bounded by {}: {} figures get one number, {} {}, because what they differ in bounds \
             none of them; they go from {} ({}) to {} ({}), so one of them is missed by at least \
             {:.1} %, whatever the number.",
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

/// What one number misses one of two by, at least, as a share of it.
pub(crate) fn least_miss(one: f64, other: f64) -> f64 {
    (one - other).abs() / (one + other)
}

/// Figures for validation that name each other as contradicting, the smaller first.
fn pairs(all: &[Row]) -> Vec<(&Row, &Row)> {
    let of = |row: &&Row| row.figure.role == Role::Validation && row.figure.caching.is_some();
    let mut pairs = Vec::new();
    for (place, one) in all.iter().enumerate().filter(|(_, row)| of(row)) {
        let others = all[place + 1..].iter().filter(of);
        for other in others.filter(|other| one.figure.contradicts.contains(&other.figure.id)) {
            let ascending = one.published <= other.published;
            pairs.push(if ascending { (one, other) } else { (other, one) });
        }
    }
    pairs
}

/// Figures to which the model gives one number, where they are of volumes and lie apart, and some
/// test it.
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
        tested && least_miss(low.published, high.published) >= WORTH_SAYING
    });
    groups
}

fn ends<'a>(group: &[&'a Row]) -> (&'a Row, &'a Row) {
    let by = |a: &&&Row, b: &&&Row| a.published.total_cmp(&b.published);
    let low = group.iter().min_by(by).copied().expect("a group has a row");
    let high = group.iter().max_by(by).copied().expect("a group has a row");
    (low, high)
}

/// What would change if writes in order went as fast as the newer figures of them say: as fast as
/// the lowest of those that say that nothing was cached.
fn newer(figures: &[Figure], all: &[Row], parameters: &Parameters, out: &mut String) {
    let writes = all.iter().filter(|row| {
        row.bounded_by == ResourceKind::VolumeWrites.short()
            && row.figure.caching == Some(false)
            && row.figure.read == Mix::Share(0.0)
    });
    let Some(lowest) = writes.min_by(|a, b| a.published.total_cmp(&b.published)) else { return };
    let Value::BytesPerSec(rate) = lowest.figure.value else { return };
    let with = parameters.clone().with(Parameter::RegularWritePath, 1.0 / rate);
    let told = rows(figures, &with);
    let of = |role| errors(told.iter().filter(move |row| row.figure.role == role));
    let (Some(fitted), Some(tested)) = (of(Role::Calibration), of(Role::Validation)) else {
        return;
    };
    let mean = |rows: &[Row]| rows.iter().find(|row| row.figure.id == MEAN).cloned();
    let (Some(before), Some(after)) = (mean(all), mean(&told)) else { return };
    let _ = writeln!(
        out,
        "The older figures agree with each other and are many, so the model keeps to them. What \
         speaks for the newer ones in part A is {MEAN} alone, of {}, a mean over all mixes: it is \
         missed by {:+.1} %, and with sequential writes at the {} {} of {} it would be by {:+.1} %; \
         but faster reads would explain it as well, and one figure cannot tell which. So there is \
         no parameter for the age of a figure. With those writes the worst error of the figures \
         that fit would be {:.1} %, of those that test {:.1} %. For sequential writes to a regular \
         volume of today expect more than is predicted.\n",
        before.figure.origin.date,
        100.0 * before.error(),
        digits(lowest.published),
        unit(&lowest.figure),
        lowest.figure.id,
        100.0 * after.error(),
        100.0 * fitted.worst,
        100.0 * tested.worst,
    );
}

/// The newest figure of part A to which sequential writes of a regular volume matter.
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
