//! What was measured beside what is predicted of the same load.

use crate::curve::{Point, Unpredictable, at};
use crate::parameters::Parameters;
use crate::topology::Topology;

/// One load.
#[derive(Clone, Debug, PartialEq)]
pub struct Beside {
    /// Operations outstanding on average, over all hosts.
    pub outstanding: f64,
    /// Operations per second that were measured.
    pub ops_per_s: f64,
    /// The mean response time that was measured, in seconds.
    pub response_s: f64,
    /// What is predicted, without an interval.
    pub predicted: Point,
}

impl Beside {
    /// A measured load beside the prediction of a topology.
    ///
    /// # Errors
    /// The topology has nothing to be predicted.
    pub fn of(
        topology: &Topology,
        parameters: &Parameters,
        outstanding: f64,
        (ops_per_s, response_s): (f64, f64),
    ) -> Result<Beside, Unpredictable> {
        let predicted = at(topology, parameters, outstanding)?;
        Ok(Beside { outstanding, ops_per_s, response_s, predicted })
    }

    /// How far the predicted rate is off, as a share of the measured one.
    pub fn rate_off(&self) -> f64 {
        self.predicted.ops_per_s.value / self.ops_per_s - 1.0
    }

    /// How far the predicted response time is off, as a share of the measured one.
    pub fn response_off(&self) -> f64 {
        self.predicted.response_s.value / self.response_s - 1.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology_file::parse;

    #[test]
    fn a_measurement_that_is_as_predicted_is_not_off() {
        let text = "floor = \"2ms\"\nfloor_spread = 0\n[[host]]\n[[volume]]\n\
                    throughput = \"32MiB/s\"\n[[workload]]\ntransfer_size = \"64KiB\"\n\
                    read = \"100%\"\npattern = \"sequential\"\n";
        let topology = parse(text, "t.toml").unwrap();
        let of = |measured| Beside::of(&topology, &Parameters::unbounded(), 4.0, measured).unwrap();
        let same = of((512.0, 4.0 / 512.0));
        assert_eq!((same.rate_off(), same.response_off()), (0.0, 0.0));
        let slower = of((256.0, 4.0 / 256.0));
        assert_eq!((slower.rate_off(), slower.response_off()), (1.0, -0.5));
    }
}
