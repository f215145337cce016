//! Student's t: how much wider than the normal an interval from few samples must be.

/// Two-sided 95 % points (97.5 % quantiles) by degrees of freedom.
///
/// Source: NIST/SEMATECH e-Handbook of Statistical Methods, section 1.3.6.7.2, column 0.975.
const POINTS: [(f64, f64); 34] = [
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
    (21.0, 2.080),
    (22.0, 2.074),
    (23.0, 2.069),
    (24.0, 2.064),
    (25.0, 2.060),
    (26.0, 2.056),
    (27.0, 2.052),
    (28.0, 2.048),
    (29.0, 2.045),
    (30.0, 2.042),
    (40.0, 2.021),
    (60.0, 2.000),
    (120.0, 1.980),
    (f64::INFINITY, 1.960),
];

/// The factor between standard error and half-width of a 95 % interval for `degrees` of freedom (at
/// least 1; between tabulated points interpolated in `1 / degrees`, which is accurate to 0.1 %
/// there; below 2 in the same way).
pub(crate) fn t95(degrees: f64) -> f64 {
    let degrees = degrees.max(1.0);
    for pair in POINTS.windows(2) {
        let ((low, t_low), (high, t_high)) = (pair[0], pair[1]);
        if degrees < high {
            let share = (1.0 / low - 1.0 / degrees) / (1.0 / low - 1.0 / high);
            return t_low + (t_high - t_low) * share;
        }
    }
    1.960
}

#[cfg(test)]
mod tests {
    use super::t95;

    #[test]
    fn the_t_points_are_those_of_the_table_and_go_between_them_smoothly() {
        assert_eq!(t95(1.0), 12.706);
        assert_eq!(t95(2.0), 4.303);
        assert_eq!(t95(10.0), 2.228);
        // Tables that list 35, 50 and 100 give 2.030, 2.009 and 1.984.
        assert!((t95(35.0) - 2.030).abs() < 0.002);
        assert!((t95(50.0) - 2.009).abs() < 0.002);
        assert!((t95(100.0) - 1.984).abs() < 0.002);
        assert_eq!(t95(f64::INFINITY), 1.960);
        assert_eq!(t95(0.0), 12.706);
    }
}
