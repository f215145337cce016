//! Quantiles and tail probabilities of the distributions for tests and intervals: normal, Student's
//! t, F.
//!
//! All are forms of the error function and the regularised incomplete beta function (Abramowitz and
//! Stegun, "Handbook of Mathematical Functions", 26.2 and 26.5), which `puruspe` computes by the
//! methods of Press et al., "Numerical Recipes", 3rd ed., 6.2 to 6.4.

use std::sync::LazyLock;

/// From here on Student's t is the normal distribution to eight digits of its quantiles.
const DEGREES_NORMAL: f64 = 1e8;

/// The quantile of the standard normal distribution: `P(X <= result) = probability`, for a
/// probability strictly between 0 and 1.
pub fn normal_quantile(probability: f64) -> f64 {
    assert!(0.0 < probability && probability < 1.0, "a quantile is of a probability");
    // From the nearer tail, because 1 - p loses the digits of a small p.
    match probability < 0.5 {
        true => -std::f64::consts::SQRT_2 * puruspe::inverfc(2.0 * probability),
        false => std::f64::consts::SQRT_2 * puruspe::inverfc(2.0 * (1.0 - probability)),
    }
}

/// The probability that a standard normal is below `x`.
pub fn normal_below(x: f64) -> f64 {
    0.5 * puruspe::erfc(-x / std::f64::consts::SQRT_2)
}

/// The quantile of Student's t with `degrees` of freedom (any above 0, not whole ones only), for a
/// probability strictly between 0 and 1.
pub fn t_quantile(probability: f64, degrees: f64) -> f64 {
    assert!(degrees > 0.0, "degrees of freedom are above 0");
    if degrees >= DEGREES_NORMAL {
        return normal_quantile(probability);
    }
    assert!(0.0 < probability && probability < 1.0, "a quantile is of a probability");
    let both_tails = 2.0 * probability.min(1.0 - probability);
    // t^2 / (degrees + t^2) has the beta distribution with 1/2 and degrees / 2, the rest of 1 the
    // mirrored one. Inverting the smaller one keeps digits that are lost near 1.
    let odds = if both_tails < 0.5 {
        let rest = puruspe::invbetai(both_tails, degrees / 2.0, 0.5);
        (1.0 - rest) / rest
    } else {
        let share = puruspe::invbetai(1.0 - both_tails, 0.5, degrees / 2.0);
        share / (1.0 - share)
    };
    let size = (degrees * odds).sqrt();
    if probability < 0.5 { -size } else { size }
}

/// The probability that Student's t with `degrees` of freedom lies farther from 0 than `t`, on
/// either side: the two-sided p-value.
pub fn t_both_tails(t: f64, degrees: f64) -> f64 {
    assert!(degrees > 0.0, "degrees of freedom are above 0");
    if degrees >= DEGREES_NORMAL {
        return puruspe::erfc(t.abs() / std::f64::consts::SQRT_2);
    }
    let squares = degrees + t * t;
    incomplete_beta(degrees / 2.0, 0.5, degrees / squares, t * t / squares)
}

/// The probability that an F with these degrees of freedom is larger than `f`: the p-value of an
/// analysis of variance.
pub fn f_upper_tail(f: f64, degrees_above: f64, degrees_below: f64) -> f64 {
    assert!(degrees_above > 0.0 && degrees_below > 0.0, "degrees of freedom are above 0");
    if f <= 0.0 {
        return 1.0;
    }
    let (below, above) = (degrees_below, degrees_above * f);
    incomplete_beta(
        degrees_below / 2.0,
        degrees_above / 2.0,
        below / (below + above),
        above / (below + above),
    )
}

/// The regularised incomplete beta function at `x`, where `rest` is `1 - x`: from the side on which
/// the continued fraction converges in a few steps (Numerical Recipes, 6.4).
fn incomplete_beta(a: f64, b: f64, x: f64, rest: f64) -> f64 {
    match x < (a + 1.0) / (a + b + 2.0) {
        true => puruspe::betai(a, b, x),
        false => 1.0 - puruspe::betai(b, a, rest),
    }
}

/// Steps of [`POINTS`] between no and all of `1 / degrees`.
const STEPS: usize = 256;

/// The 97.5 % quantiles at `1 / degrees = index / STEPS`: an analysis needs about
/// 100,000 of them, and computing one takes 15 µs.
static POINTS: LazyLock<Vec<f64>> = LazyLock::new(|| {
    let degrees = |index: usize| STEPS as f64 / index as f64;
    (0..=STEPS).map(|index| t_quantile(0.975, degrees(index))).collect()
});

/// The factor between standard error and half-width of a 95 % interval for `degrees` of freedom (at
/// least 1: with fewer nothing is known). Interpolated by the cubic through the four nearest
/// computed points, accurate to seven digits.
pub fn t95(degrees: f64) -> f64 {
    let x = STEPS as f64 / degrees.max(1.0);
    let first = (x as usize).saturating_sub(1).min(STEPS - 3);
    let of = |index: usize| {
        let others = (0..4).filter(|other| *other != index);
        let weights =
            others.map(|other| (x - (first + other) as f64) / (index as f64 - other as f64));
        POINTS[first + index] * weights.product::<f64>()
    };
    (0..4).map(of).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn near(found: f64, known: f64, tolerance: f64) {
        assert!((found - known).abs() <= tolerance, "{found} is not {known}");
    }

    #[test]
    fn the_t_points_match_the_table() {
        // NIST/SEMATECH e-Handbook of Statistical Methods, section 1.3.6.7.2, column 0.975; 35, 50
        // and 100 from tables that list them.
        let points = [
            (1.0, 12.706),
            (2.0, 4.303),
            (3.0, 3.182),
            (4.0, 2.776),
            (5.0, 2.571),
            (6.0, 2.447),
            (7.0, 2.365),
            (8.0, 2.306),
            (9.0, 2.262),
            (10.0, 2.228),
            (11.0, 2.201),
            (12.0, 2.179),
            (13.0, 2.160),
            (14.0, 2.145),
            (15.0, 2.131),
            (16.0, 2.120),
            (17.0, 2.110),
            (18.0, 2.101),
            (19.0, 2.093),
            (20.0, 2.086),
            (25.0, 2.060),
            (30.0, 2.042),
            (35.0, 2.030),
            (40.0, 2.021),
            (50.0, 2.009),
            (60.0, 2.000),
            (100.0, 1.984),
            (120.0, 1.980),
            (f64::INFINITY, 1.960),
        ];
        for (degrees, point) in points {
            near(t95(degrees), point, 0.000_51);
        }
        near(t_quantile(0.995, 5.0), 4.032, 0.000_51);
        near(t_quantile(0.90, 7.0), 1.415, 0.000_51);
        near(t_quantile(0.025, 9.0), -2.262, 0.000_51);
        near(t95(0.0), 12.706, 0.000_51);
    }

    #[test]
    fn between_computed_points_the_factor_is_right_to_seven_digits() {
        let most = (0..4_000).map(|step| {
            let degrees = 1.0 / (f64::from(step) + 0.5) * 4_000.0;
            (t95(degrees) / t_quantile(0.975, degrees) - 1.0).abs()
        });
        let most = most.fold(0.0, f64::max);
        assert!(most < 1e-7, "{most}");
    }

    #[test]
    fn quantiles_and_tails_undo_each_other() {
        for degrees in [0.7, 1.0, 2.5, 9.0, 57.3, 1e3, 1e6, 1e9] {
            for probability in [1e-6, 0.01, 0.2, 0.4999, 0.7, 0.975, 0.9999] {
                let t = t_quantile(probability, degrees);
                let tails = 2.0 * f64::min(probability, 1.0 - probability);
                assert!(
                    (t_both_tails(t, degrees) / tails - 1.0).abs() < 1e-6,
                    "t({probability}, {degrees}) is not {t}"
                );
            }
        }
        for probability in [1e-6, 0.01, 0.3, 0.5, 0.99, 0.999_999] {
            let x = normal_quantile(probability);
            let upper = 0.5 * puruspe::erfc(x / std::f64::consts::SQRT_2);
            near(upper, 1.0 - probability, 1e-9);
        }
    }

    #[test]
    fn normal_and_f_match_the_tables() {
        near(normal_quantile(0.975), 1.959_963_985, 1e-9);
        near(normal_quantile(0.01), -2.326_347_874, 1e-8);
        near(normal_quantile(0.5), 0.0, 1e-12);
        // NIST/SEMATECH 1.3.6.7.3: upper 5 % point of F(3, 10) is 3.708, upper 1 % of F(2, 20)
        // 5.849.
        near(f_upper_tail(3.708, 3.0, 10.0), 0.05, 0.000_05);
        near(f_upper_tail(5.849, 2.0, 20.0), 0.01, 0.000_01);
        near(f_upper_tail(0.0, 3.0, 10.0), 1.0, 0.0);
    }
}
