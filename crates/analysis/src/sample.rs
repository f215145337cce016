//! A point of a curve as plain numbers, the input of floor, knees, saturation and models.

use workload::random;

use crate::estimate::Estimate;
use crate::load_point::{LoadPoint, OpSummary};

/// The kind of load along a curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Load {
    /// Closed loop: the queue depth of all workers.
    Closed,
    /// Open loop: the offered rate, in operations per second.
    Open,
    /// Another parameter, such as transfer size: the curve has no floor, knee or saturation.
    NotRaised,
}

impl Load {
    /// The name in files.
    pub const fn name(self) -> &'static str {
        match self {
            Load::Closed => "closed",
            Load::Open => "open",
            Load::NotRaised => "not_raised",
        }
    }

    /// The unit of a load.
    pub const fn unit(self) -> &'static str {
        match self {
            Load::Closed => "outstanding",
            Load::Open => "ops/s offered",
            Load::NotRaised => "",
        }
    }
}

/// One point of a curve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// Queue depth of all workers, or offered operations per second.
    pub load: f64,
    /// Operations completed per second.
    pub rate: Estimate,
    /// Mean response time, in seconds.
    pub response_s: Estimate,
    /// Think time in seconds; 0 in an open loop.
    pub think_time_s: f64,
    /// Whether the offered rate was not kept, so that response time depends on the length of the
    /// run.
    pub overloaded: bool,
}

impl Sample {
    /// Reads and writes of a load point; `None` if nothing was measured or hosts were lost.
    pub(crate) fn of_data(point: &LoadPoint, load: Load) -> Option<Sample> {
        Sample::of(point, load, &point.merged.total.data)
    }

    /// Operations of all kinds including fsync, as counted by queue depth and offered rate.
    pub(crate) fn of_all_kinds(point: &LoadPoint, load: Load) -> Option<Sample> {
        let total = &point.merged.total;
        Sample::of(point, load, total.all_kinds.as_ref().unwrap_or(&total.data))
    }

    fn of(point: &LoadPoint, load: Load, ops: &OpSummary) -> Option<Sample> {
        let total = &point.merged.total;
        let load = match load {
            Load::Open => total.offered_rate?.get(),
            Load::Closed | Load::NotRaised => total.queue_depth_total as f64,
        };
        let (rate, response_ns) = (ops.achieved_rate?, ops.response.mean_ns?);
        let measured = rate.value > 0.0 && response_ns.value > 0.0 && load > 0.0;
        let measured = measured && point.is_whole();
        measured.then(|| Sample {
            load,
            rate,
            response_s: response_ns.scaled(1e-9),
            think_time_s: total.think_time_ns as f64 * 1e-9,
            overloaded: total.overload.is_some(),
        })
    }

    /// Power: rate divided by response time.
    pub fn power(&self) -> f64 {
        self.rate.value / self.response_s.value
    }
}

/// Resampled curves: each point varies normally by its own uncertainty. In a closed loop rate and
/// response time vary inversely, because their product is the load; in an open loop only the
/// response time varies. Deterministic in `seed` and the number of the draw.
pub(crate) struct Draws<'a> {
    samples: &'a [Sample],
    /// Standard error of each point.
    errors: Vec<f64>,
    load: Load,
    seed: u64,
    scratch: Vec<Sample>,
}

impl<'a> Draws<'a> {
    pub(crate) fn new(samples: &'a [Sample], load: Load, seed: u64) -> Draws<'a> {
        let error = |sample: &Sample| match load {
            Load::Open => sample.response_s.standard_error(),
            Load::Closed | Load::NotRaised => sample.rate.standard_error(),
        };
        let errors = samples.iter().map(error).collect();
        Draws { samples, errors, load, seed, scratch: samples.to_vec() }
    }

    /// Whether any point has an uncertainty.
    pub(crate) fn vary(&self) -> bool {
        self.errors.iter().any(|error| *error > 0.0)
    }

    /// Draw `number`.
    pub(crate) fn draw(&mut self, number: u64) -> &[Sample] {
        let seed = random::derive(self.seed, number);
        let points = self.scratch.iter_mut().zip(self.samples).zip(&self.errors);
        for (index, ((drawn, sample), error)) in points.enumerate() {
            let by = error * normal(seed, index as u64);
            match self.load {
                Load::Open => drawn.response_s.value = moved(sample.response_s.value, by),
                Load::Closed | Load::NotRaised => {
                    drawn.rate.value = moved(sample.rate.value, by);
                    drawn.response_s.value =
                        sample.response_s.value * sample.rate.value / drawn.rate.value;
                }
            }
        }
        &self.scratch
    }
}

/// At least 1 % of the value, because rates and times are positive.
fn moved(value: f64, by: f64) -> f64 {
    (value + by).max(value / 100.0)
}

/// A draw from the standard normal distribution.
///
/// Source: Box and Muller, Annals of Mathematical Statistics 29(2), 1958.
fn normal(seed: u64, index: u64) -> f64 {
    let radius = (-2.0 * (1.0 - random::unit(random::at(seed, 2 * index))).ln()).sqrt();
    radius * (std::f64::consts::TAU * random::unit(random::at(seed, 2 * index + 1))).cos()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::Method;

    #[test]
    fn resampled_curves_vary_by_the_uncertainty_of_their_points() {
        let estimate = |value: f64, half: f64| Estimate {
            value,
            uncertainty: Some(half),
            samples: f64::INFINITY,
            method: Method::Intervals,
        };
        let sample = Sample {
            load: 8.0,
            rate: estimate(1000.0, 19.6),
            response_s: estimate(0.008, 0.000_16),
            think_time_s: 0.0,
            overloaded: false,
        };
        let samples = [sample];
        let mut draws = Draws::new(&samples, Load::Closed, 1);
        assert!(draws.vary());
        let rates: Vec<f64> = (0..4000).map(|n| draws.draw(n)[0].rate.value).collect();
        let mean = rates.iter().sum::<f64>() / 4000.0;
        let deviation = (rates.iter().map(|r| (r - mean).powi(2)).sum::<f64>() / 4000.0).sqrt();
        // A half-width of 19.6 is a standard error of 10.
        assert!((mean - 1000.0).abs() < 0.6 && (deviation - 10.0).abs() < 0.5, "{deviation}");
        let drawn = draws.draw(7)[0];
        assert!((drawn.rate.value * drawn.response_s.value - 8.0).abs() < 1e-9, "their product");
        let bare =
            [Sample { rate: Estimate::bare(1.0), response_s: Estimate::bare(1.0), ..sample }];
        assert!(!Draws::new(&bare, Load::Closed, 1).vary());
    }
}
