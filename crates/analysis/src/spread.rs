//! How far the repeats of a load point differ from each other.
//!
//! Source: Tukey, "Exploratory Data Analysis", 1977 (five-number summary); quartiles as in Hyndman
//! and Fan, "Sample Quantiles in Statistical Packages", The American Statistician 50, 1996, type 7.

use statistics::average::five_numbers;

use crate::load_point::LoadPoint;

/// Fewer repeats have no quartiles worth the name.
const QUARTILES_MIN: usize = 5;

/// The rates of a load point's repeats compared with the rate of all repeats together.
#[derive(Clone, Debug, PartialEq)]
pub struct RepeatSpread {
    /// The difference of each repeat, in percent of the joint rate.
    pub differences_percent: Vec<f64>,
    /// Lowest, quartiles and highest of them; `None` with fewer than five repeats.
    pub quartiles_percent: Option<[f64; 5]>,
}

impl LoadPoint {
    /// The spread of its repeats; `None` with fewer than two.
    pub fn repeat_spread(&self) -> Option<RepeatSpread> {
        let joint = self.merged.total.data.achieved_rate?.value;
        let rates = self.runs.iter().filter_map(|run| run.summary.total.data.achieved_rate);
        let differences: Vec<f64> = rates
            .map(|rate| (rate.value / joint - 1.0) * 100.0)
            .filter(|d| d.is_finite())
            .collect();
        let quartiles_percent =
            five_numbers(&differences).filter(|_| differences.len() >= QUARTILES_MIN);
        (differences.len() > 1)
            .then_some(RepeatSpread { differences_percent: differences, quartiles_percent })
    }
}
