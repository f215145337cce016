//! Compares a measured load point with the prediction for the same load.

use units::OpsPerSec;

use crate::curve::at;
use crate::parameters::Parameters;
use crate::point::{Point, Unpredictable};
use crate::topology::Topology;

/// A measured load point with its prediction.
#[derive(Clone, Debug, PartialEq)]
pub struct MeasuredPoint {
    /// Mean outstanding operations of all hosts.
    pub outstanding: f64,
    /// Measured rate.
    pub rate: OpsPerSec,
    /// Measured mean response time, in seconds.
    pub response_s: f64,
    /// The prediction, without intervals.
    pub predicted: Point,
}

impl MeasuredPoint {
    /// Predicts a measured load.
    ///
    /// * `measured` - rate, and mean response time in seconds
    ///
    /// # Errors
    /// The topology cannot be predicted.
    pub fn of(
        topology: &Topology,
        parameters: &Parameters,
        outstanding: f64,
        measured: (OpsPerSec, f64),
    ) -> Result<MeasuredPoint, Unpredictable> {
        let (rate, response_s) = measured;
        let predicted = at(topology, parameters, outstanding)?;
        Ok(MeasuredPoint { outstanding, rate, response_s, predicted })
    }

    /// Relative error of the predicted rate.
    pub fn rate_error(&self) -> f64 {
        self.predicted.ops_per_s.value / self.rate.get() - 1.0
    }

    /// Relative error of the predicted response time.
    pub fn response_error(&self) -> f64 {
        self.predicted.response_s.value / self.response_s - 1.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology_file::parse;

    #[test]
    fn a_measurement_equal_to_the_prediction_has_no_error() {
        let text = "floor = \"2ms\"\nfloor_spread = 0\n[[host]]\n[[volume]]\n\
                    throughput = \"32MiB/s\"\n[[workload]]\ntransfer_size = \"64KiB\"\n\
                    read = \"100%\"\npattern = \"sequential\"\n";
        let topology = parse(text, "t.toml").unwrap();
        let of = |measured| {
            MeasuredPoint::of(&topology, &Parameters::unbounded(), 4.0, measured).unwrap()
        };
        let same = of((OpsPerSec::new(512.0), 4.0 / 512.0));
        assert_eq!((same.rate_error(), same.response_error()), (0.0, 0.0));
        let slower = of((OpsPerSec::new(256.0), 4.0 / 256.0));
        assert_eq!((slower.rate_error(), slower.response_error()), (1.0, -0.5));
    }
}
