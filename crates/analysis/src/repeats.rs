//! How many repeats are enough: the stopping rule for repeating a load point.
//!
//! Stopping at the first narrow interval would favour moments at which repeats happen to agree, and
//! the printed interval would cover the truth in fewer than 95 % of cases. The interval must
//! therefore be narrow enough at three looks in a row. `docs/method.md` has the coverage that
//! remains.
//!
//! Sources: Chow and Robbins, Annals of Mathematical Statistics 36, 1965 (sequential intervals of
//! fixed width); Law, "Simulation Modeling and Analysis", section 9.4 (the relative half-width).

use crate::estimate::Estimate;
use crate::load_point::{LoadPoint, OpSummary, RunSummary};

/// Fewer repeats than this are never enough: two say little about the spread.
pub const REPEATS_MIN: u32 = 3;
/// Looks in a row at which the interval must be narrow enough.
pub const LOOKS: u32 = 3;

/// The state of a load point's repeats.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Look {
    /// Whether to continue.
    pub verdict: Verdict,
    /// Repeats that measured something.
    pub repeats: u32,
    /// Half-width of the 95 % interval as a share of the value: of the achieved rate or of the mean
    /// response time, whichever is wider. `None` below two repeats, or where nothing completed.
    pub relative: Option<f64>,
    /// How many looks in a row, this one included, found it narrow enough; at most [`LOOKS`].
    pub looks_narrow: u32,
}

/// Whether a load point needs another repeat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The intervals were narrow enough at [`LOOKS`] looks in a row.
    Enough,
    /// Another repeat is needed.
    More,
    /// The maximum number of repeats was done, and the intervals are still too wide.
    NotReached,
}

/// Whether the repeats of `point` are enough: the 95 % confidence intervals of its achieved rate and
/// mean response time, from the differences between repeats, have a relative half-width of at most
/// `required_relative` (0.02 for 2 %).
///
/// The first look is at `repeats_min` repeats, or [`REPEATS_MIN`] if larger, so at least two more
/// are needed. At most `repeats_max` are done; a repeat that measured nothing counts for the maximum
/// only.
///
/// Source: see the module; its coverage is simulated in
/// `stopping_when_narrow_keeps_the_coverage`.
pub fn enough(
    point: &LoadPoint,
    required_relative: f64,
    repeats_min: u32,
    repeats_max: u32,
) -> Look {
    let mut runs: Vec<&RunSummary> = point.runs.iter().collect();
    runs.sort_by_key(|run| run.repeat);
    let done = runs.len() as u32;
    let pick = |pick: fn(&OpSummary) -> Option<Estimate>| -> Vec<Option<f64>> {
        runs.iter().map(|run| pick(&run.summary.total.data).map(|e| e.value)).collect()
    };
    let both = pick(|data| data.achieved_rate).into_iter().zip(pick(|data| data.response.mean_ns));
    let (rates, times): (Vec<f64>, Vec<f64>) =
        both.filter_map(|(rate, time)| Some((rate.filter(|r| *r > 0.0)?, time?))).unzip();
    let look = look(&[&rates, &times], required_relative, repeats_min);
    let over = look.verdict == Verdict::More && done >= repeats_max;
    Look { verdict: if over { Verdict::NotReached } else { look.verdict }, ..look }
}

/// The rule for plain figures: `figures[figure][repeat]` in the order of measurement, all of the same
/// length.
pub fn look(figures: &[&[f64]], required_relative: f64, repeats_min: u32) -> Look {
    let repeats = figures.iter().map(|values| values.len()).min().unwrap_or(0);
    let widest = |count: usize| -> Option<f64> {
        let relative = figures.iter().map(|values| relative_half_width(&values[..count]));
        relative.reduce(|a, b| a.zip(b).map(|(a, b)| a.max(b))).flatten()
    };
    let first_look = repeats_min.max(REPEATS_MIN) as usize;
    let narrow = |count: &usize| widest(*count).is_some_and(|width| width <= required_relative);
    let counts = (first_look..=repeats).rev().take(LOOKS as usize);
    let looks_narrow = counts.take_while(narrow).count() as u32;
    let verdict = if looks_narrow == LOOKS { Verdict::Enough } else { Verdict::More };
    Look { verdict, repeats: repeats as u32, relative: widest(repeats), looks_narrow }
}

fn relative_half_width(values: &[f64]) -> Option<f64> {
    if values.len() < 2 {
        return None;
    }
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    Estimate::between_repeats(mean, values).relative()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulated::of_repeats;

    #[test]
    fn three_narrow_looks_in_a_row_are_enough_and_two_are_not() {
        // t(2) = 4.302653, s = 1: 4.302653 / sqrt(3) = 2.484 % of 100.
        let values = [99.0, 100.0, 101.0, 100.0, 100.0, 100.0];
        let after = |count: usize, first| look(&[&values[..count]], 0.025, first);
        assert_eq!((after(3, 2).verdict, after(3, 2).looks_narrow), (Verdict::More, 1));
        assert!((after(3, 2).relative.unwrap() - 0.024_841).abs() < 1e-6);
        assert_eq!((after(4, 2).verdict, after(4, 2).looks_narrow), (Verdict::More, 2));
        assert_eq!((after(5, 2).verdict, after(5, 2).repeats), (Verdict::Enough, 5));
        // With a first look at four repeats the fifth is the second look.
        assert_eq!(after(5, 4).verdict, Verdict::More);
        assert_eq!(after(6, 4).verdict, Verdict::Enough);
        // One look of the three too wide.
        let wide_at_first = [90.0, 100.0, 110.0, 100.0, 100.0];
        assert_eq!(look(&[&wide_at_first], 0.2, 2).looks_narrow, 2);
    }

    #[test]
    fn the_wider_of_two_figures_decides() {
        let narrow = [100.0, 100.1, 99.9, 100.0, 100.0];
        let wide = [90.0, 110.0, 95.0, 105.0, 100.0];
        let both = look(&[&narrow, &wide], 0.02, 2);
        assert_eq!(both.verdict, Verdict::More);
        assert_eq!(both.relative, look(&[&wide], 0.02, 2).relative);
        assert_eq!(look(&[&narrow, &narrow], 0.02, 2).verdict, Verdict::Enough);
        assert_eq!(look(&[&[], &[]], 0.02, 2).relative, None);
    }

    #[test]
    fn stopping_when_narrow_keeps_the_coverage() {
        // Repeats that differ by half to twice as much as required: where chance decides when to
        // stop. The example `coverage` does it over the whole range of ratios.
        for (deviation, seed) in [(0.01, 1), (0.024, 2), (0.035, 3)] {
            let (printed, required) = of_repeats(seed, 4_000, deviation, 0.02, LOOKS);
            assert!(printed > 92.0, "{deviation}: the printed interval contains {printed} %");
            assert!(required > 94.5, "{deviation}: the required width contains {required} %");
        }
    }
}
