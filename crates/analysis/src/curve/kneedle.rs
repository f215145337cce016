//! Kneedle: the knee as the point farthest above the straight line from the first point to the
//! last, once both axes are stretched to the same length.
//!
//! Source: Satopaa, Albrecht, Irwin and Raghavan, "Finding a 'Kneedle' in a Haystack: Detecting
//! Knee Points in System Behavior", ICDCS Workshops 2011. Of its steps the smoothing spline is left
//! out, because points are means of many operations and stand at loads of our choice; uncertainty
//! is seen by drawing curves instead. Of several knees the one with the largest distance is taken.

use crate::curve::sample::{Load, Sample};

/// Fewer points have no knee that one of them does not make alone.
pub(crate) const POINTS_MIN: usize = 5;
/// How much a difference must fall from its maximum to be a knee, in mean distances of neighbours:
/// the paper's value for data that is complete.
const SENSITIVITY: f64 = 1.0;

/// The knee of a curve: of rate over load in a closed loop, where it levels off; of response time
/// over load in an open loop, where it rises.
pub(crate) fn of_samples(samples: &[Sample], load: Load) -> Option<usize> {
    match load {
        Load::Closed => {
            let xy: Vec<(f64, f64)> = samples.iter().map(|s| (s.load, s.rate.value)).collect();
            concave_increasing(&xy)
        }
        // Turned by half a turn a curve that bends upwards is one that levels off.
        Load::Open => {
            let xy: Vec<(f64, f64)> =
                samples.iter().rev().map(|s| (-s.load, -s.response_s.value)).collect();
            concave_increasing(&xy).map(|place| samples.len() - 1 - place)
        }
        Load::NotRaised => None,
    }
}

/// The place of the knee among points ascending in x, on a curve that rises and levels off.
fn concave_increasing(xy: &[(f64, f64)]) -> Option<usize> {
    let (xs, ys) = (xy.iter().map(|p| p.0), xy.iter().map(|p| p.1));
    let range = |values: &mut dyn Iterator<Item = f64>| {
        values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)))
    };
    let ((x_low, x_high), (y_low, y_high)) = (range(&mut xs.clone()), range(&mut ys.clone()));
    if x_high <= x_low || y_high <= y_low {
        return None;
    }
    let above = |x: f64, y: f64| (y - y_low) / (y_high - y_low) - (x - x_low) / (x_high - x_low);
    let above: Vec<f64> = xs.zip(ys).map(|(x, y)| above(x, y)).collect();
    // The mean distance of neighbours, of which the axis has the length 1.
    let fall = SENSITIVITY / (above.len() - 1) as f64;
    let mut best: Option<(usize, f64)> = None;
    let mut candidate: Option<(usize, f64)> = None;
    for place in 1..above.len() {
        let here = above[place];
        let next = above.get(place + 1).copied().unwrap_or(f64::NEG_INFINITY);
        if let Some((at, threshold)) = candidate
            && here < threshold
        {
            if best.is_none_or(|(_, most)| above[at] > most) {
                best = Some((at, above[at]));
            }
            candidate = None;
        }
        if here > above[place - 1] && here >= next && place + 1 < above.len() {
            candidate = Some((place, here - fall));
        } else if here < above[place - 1] && here < next {
            // The paper: from a local minimum on the threshold is 0.
            candidate = candidate.map(|(at, _)| (at, 0.0));
        }
    }
    best.map(|(place, _)| place)
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
        assert_eq!(concave_increasing(&turned).map(|place| 9 - place), Some(7));
    }

    #[test]
    fn a_straight_line_and_a_flat_one_have_no_knee() {
        assert_eq!(concave_increasing(&points(&[0.0, 1.0, 2.0, 3.0, 4.0])), None);
        assert_eq!(concave_increasing(&points(&[3.0; 5])), None);
    }
}
