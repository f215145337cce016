//! Kneedle: the knee is the point farthest above the line from the first to the last point, with
//! both axes normalized.
//!
//! Source: Satopaa, Albrecht, Irwin and Raghavan, "Finding a 'Kneedle' in a Haystack: Detecting
//! Knee Points in System Behavior", ICDCS Workshops 2011. The smoothing spline is omitted, because
//! points are means of many operations; resampled curves give the uncertainty. Of several knees the
//! one with the largest distance counts.

use crate::sample::{Load, Sample};

/// With fewer points a single one would make the knee.
pub(crate) const POINTS_MIN: usize = 5;
/// Required fall of the difference after its maximum, in mean distances between neighbours: the
/// paper's value for complete data.
const SENSITIVITY: f64 = 1.0;

/// The knee of a curve: of the rate in a closed loop, of the response time in an open loop.
pub(crate) fn of_samples(samples: &[Sample], load: Load) -> Option<usize> {
    match load {
        Load::Closed => {
            let xy: Vec<(f64, f64)> = samples.iter().map(|s| (s.load, s.rate.value)).collect();
            concave_increasing(&xy)
        }
        // Rotating by 180 degrees turns a convex curve into a concave one.
        Load::Open => {
            let xy: Vec<(f64, f64)> =
                samples.iter().rev().map(|s| (-s.load, -s.response_s.value)).collect();
            concave_increasing(&xy).map(|index| samples.len() - 1 - index)
        }
        Load::NotRaised => None,
    }
}

/// Index of the knee of a concave increasing curve with ascending x.
fn concave_increasing(xy: &[(f64, f64)]) -> Option<usize> {
    let (xs, ys) = (xy.iter().map(|p| p.0), xy.iter().map(|p| p.1));
    let range = |values: &mut dyn Iterator<Item = f64>| {
        values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)))
    };
    let ((x_low, x_high), (y_low, y_high)) = (range(&mut xs.clone()), range(&mut ys.clone()));
    if y_high <= y_low {
        return None;
    }
    let above = |x: f64, y: f64| (y - y_low) / (y_high - y_low) - (x - x_low) / (x_high - x_low);
    let above: Vec<f64> = xs.zip(ys).map(|(x, y)| above(x, y)).collect();
    // Mean distance between neighbours on an axis of length 1.
    let fall = SENSITIVITY / (above.len() - 1) as f64;
    let mut best: Option<(usize, f64)> = None;
    let mut candidate: Option<(usize, f64)> = None;
    for index in 1..above.len() {
        let here = above[index];
        let next = above.get(index + 1).copied().unwrap_or(f64::NEG_INFINITY);
        if let Some((at, threshold)) = candidate
            && here < threshold
        {
            if best.is_none_or(|(_, most)| above[at] > most) {
                best = Some((at, above[at]));
            }
            candidate = None;
        }
        if here > above[index - 1] && here >= next && index + 1 < above.len() {
            candidate = Some((index, here - fall));
        } else if here < above[index - 1] && here < next {
            // As in the paper, the threshold is 0 after a local minimum.
            candidate = candidate.map(|(at, _)| (at, 0.0));
        }
    }
    best.map(|(index, _)| index)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(ys: &[f64]) -> Vec<(f64, f64)> {
        ys.iter().enumerate().map(|(x, y)| (x as f64, *y)).collect()
    }

    #[test]
    fn the_papers_figure_two_has_its_knee_at_two_ninths() {
        // y = 5 - 1 / (x + 0.1) at ten places from 0 to 1: the knee is at x = 0.22.
        let xs = (0..10).map(|k| f64::from(k) / 9.0);
        let xy: Vec<(f64, f64)> = xs.map(|x| (x, 5.0 - 1.0 / (x + 0.1))).collect();
        assert_eq!(concave_increasing(&xy), Some(2));
    }

    #[test]
    fn a_curve_that_levels_off_and_one_that_rises_have_their_knees_mirrored() {
        let rising = [1.0, 2.0, 3.0, 4.0, 5.0, 10.0, 15.0, 20.0, 40.0, 100.0];
        let levelling: Vec<f64> = rising.iter().rev().map(|y| 100.0 - y).collect();
        assert_eq!(concave_increasing(&points(&levelling)), Some(2));
        let turned: Vec<(f64, f64)> =
            points(&rising).into_iter().rev().map(|(x, y)| (-x, -y)).collect();
        // Seven of nine: the mirror image of two.
        assert_eq!(concave_increasing(&turned).map(|index| 9 - index), Some(7));
    }

    #[test]
    fn a_straight_line_and_a_flat_one_have_no_knee() {
        assert_eq!(concave_increasing(&points(&[0.0, 1.0, 2.0, 3.0, 4.0])), None);
        assert_eq!(concave_increasing(&points(&[3.0; 5])), None);
    }
}
