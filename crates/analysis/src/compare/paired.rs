//! The difference of two sides that were measured in blocks of two, one run of each side in random
//! order (`run A B --interleave`): changes of the host over times longer than a block affect both
//! runs and cancel.
//!
//! The unit of observation is the block: the logarithm of the second side's value over the first's.
//! The interval of their mean is a t interval with one degree of freedom less than the number of
//! blocks. Equal numbers of blocks (up to one) begin with A and with B, in random order, so that
//! neither drift nor position favours a side.
//!
//! Source: R. A. Fisher, "The Design of Experiments", 1935, chapter III (paired comparison in
//! randomised order).

use statistics::distributions::{t_both_tails, t_quantile};

use super::side::Sample;
use super::welch::{LEVEL, Ratio};

/// Comparison of a figure by blocks.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Paired {
    /// The values of each side, block by block.
    pub(super) values: [Vec<f64>; 2],
    /// The second over the first, the geometric mean over the blocks.
    pub(super) ratio: Ratio,
    /// Two-sided p-value that the ratio is 1.
    pub(super) p: f64,
    /// Degrees of freedom.
    pub(super) degrees: f64,
}

/// Pairs the repeats of both sides by their numbers; `None` with fewer than two blocks, or if a
/// value is zero and has no logarithm.
pub(super) fn paired(a: &Sample, b: &Sample) -> Option<Paired> {
    let partner = |number: u32| b.repeats.iter().find(|other| other.number == number);
    let blocks =
        a.repeats.iter().filter_map(|mine| Some((mine.value, partner(mine.number)?.value)));
    let (first, second): (Vec<f64>, Vec<f64>) = blocks.unzip();
    if first.len() < 2 || first.iter().chain(&second).any(|value| *value <= 0.0) {
        return None;
    }
    let logarithms: Vec<f64> = first.iter().zip(&second).map(|(a, b)| (b / a).ln()).collect();
    let count = logarithms.len() as f64;
    let mean = logarithms.iter().sum::<f64>() / count;
    let squares: f64 = logarithms.iter().map(|x| (x - mean).powi(2)).sum();
    let relative = |value: f64| a.figure.resolution(value) / value;
    // A value can be anywhere in its bucket, however many blocks there are.
    let rounding = (relative(first[0]).powi(2) + relative(second[0]).powi(2)) / 4.0;
    let error = (squares / (count - 1.0) / count).max(rounding).sqrt();
    let degrees = count - 1.0;
    let p = match error > 0.0 {
        true => t_both_tails(mean / error, degrees),
        // Without scatter there is no scale: use the signs only, which can agree by chance.
        false if mean != 0.0 => 0.5_f64.powf(count - 1.0),
        false => 1.0,
    };
    let half = t_quantile(1.0 - LEVEL / 2.0, degrees) * error;
    let ratio = Ratio { value: mean.exp(), low: (mean - half).exp(), high: (mean + half).exp() };
    Some(Paired { values: [first, second], ratio, p, degrees })
}

#[cfg(test)]
mod tests {
    use super::super::figure::Figure;
    use super::super::side::Repeat;
    use super::*;

    fn sample(values: &[(u32, f64)]) -> Sample {
        let repeats = values.iter().map(|(number, value)| Repeat {
            number: *number,
            began_unix_ms: 0,
            value: *value,
        });
        Sample {
            figure: Figure::AchievedRate,
            main: true,
            repeats: repeats.collect(),
            without: 0,
            batches: Vec::new(),
            changes_by_plan: false,
        }
    }

    #[track_caller]
    fn near(found: f64, known: f64, tolerance: f64) {
        assert!((found - known).abs() <= tolerance, "{found} is not {known}");
    }

    #[test]
    fn the_paired_test_is_that_of_r() {
        // R, `t.test(extra ~ group, data = sleep, paired = TRUE)`: t = -4.0621, df = 9, p =
        // 0.002833, 95 % interval of the mean difference 0.7001142 to 2.4598858, mean 1.58.
        let first = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0_f64];
        let second = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4_f64];
        let side = |values: &[f64]| {
            sample(&(0..).zip(values).map(|(n, x)| (n, x.exp())).collect::<Vec<_>>())
        };
        let found = paired(&side(&first), &side(&second)).unwrap();
        near(found.p, 0.002_833, 0.000_000_5);
        near(found.degrees, 9.0, 0.0);
        near(found.ratio.value.ln(), 1.58, 1e-9);
        near(found.ratio.low.ln(), 0.700_114_2, 1e-6);
        near(found.ratio.high.ln(), 2.459_885_8, 1e-6);
    }

    #[test]
    fn a_block_without_one_of_its_runs_does_not_count() {
        let a = sample(&[(0, 100.0), (1, 110.0), (3, 130.0)]);
        let b = sample(&[(0, 102.0), (2, 500.0), (3, 131.0)]);
        assert_eq!(paired(&a, &b).unwrap().values, [vec![100.0, 130.0], vec![102.0, 131.0]]);
        assert_eq!(paired(&a, &sample(&[(0, 102.0)])), None);
        assert_eq!(paired(&a, &sample(&[(0, 102.0), (1, 0.0)])), None);
    }

    #[test]
    fn blocks_that_agree_exactly_never_give_p_0() {
        let a = sample(&[(0, 100.0), (1, 100.0), (2, 100.0)]);
        let same = paired(&a, &a).unwrap();
        assert_eq!((same.p, same.ratio.value), (1.0, 1.0));
        let other = paired(&a, &sample(&[(0, 101.0), (1, 101.0), (2, 101.0)])).unwrap();
        assert_eq!(other.p, 0.25);
        // A percentile is exact to its bucket, 0.1 %. A distance of one bucket is no difference.
        let p99 = |value: f64| Sample {
            figure: Figure::ResponseP99,
            ..sample(&(0..8).map(|n| (n, value)).collect::<Vec<_>>())
        };
        assert!(paired(&p99(400_000.0), &p99(400_300.0)).unwrap().p > LEVEL);
        assert!(paired(&p99(400_000.0), &p99(404_000.0)).unwrap().p < LEVEL);
    }
}
