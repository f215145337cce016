//! Values of the model's parameters: service demands of the kinds of parts.
//!
//! A demand is the busy time that one call, or one byte, needs at one part (Lazowska et al.,
//! Quantitative System Performance, 1984); its inverse is the rate of that part. A demand of 0
//! never limits. Not for: fitting them; see [`crate::calibrate`].

use std::sync::Arc;

use cloud::figure::Figure;

use crate::configuration::Configuration;
use crate::distance;
use crate::interval::Interval;
use crate::parameter::{Group, Parameter};
use crate::spread::{Bounding, Spread};
use crate::statement::{Reason, Statement};
use crate::topology::Topology;

impl Parameter {
    /// The resource it bounds, if it is a demand.
    pub(crate) fn bounding(self) -> Option<Bounding> {
        use Parameter as P;
        Some(match (self.group(), self) {
            (_, P::VcpuPower) => return None,
            (Group::LinuxFlow | Group::EsxiFlow, _) => Bounding::Flows,
            (Group::LinuxHost | Group::EsxiHost | Group::Guest, _) => Bounding::Hosts,
            (Group::Endpoint, _) => Bounding::Endpoints,
            // No other document has such a rate, so their error is that of random operations.
            (Group::Names, _) => Bounding::Random,
            (_, P::RegularReadPath | P::LargeReadPath | P::BreakthroughReadPath) => Bounding::Reads,
            (_, P::RegularWritePath | P::LargeWritePath | P::BreakthroughWritePath) => {
                Bounding::Writes
            }
            (Group::Regular | Group::Large | Group::Breakthrough, _) => Bounding::Random,
        })
    }
}

/// Number of parameters.
pub(crate) const COUNT: usize = Parameter::ALL.len();

/// All parameters of the model.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameters {
    /// By [`Parameter`], in seconds per call or byte; 0 never limits.
    pub(crate) values: [f64; COUNT],
    /// By [`Parameter`]: the half-width of the interval of the demand's logarithm, with the
    /// probability of all intervals.
    pub(crate) off: [f64; COUNT],
    /// Response time of one operation at a time, in seconds, for topologies without one.
    pub(crate) floor_s: f64,
    /// Errors of predictions.
    pub(crate) spread: Spread,
    /// The configurations they were fitted to; predictions far from all of them are less certain.
    pub(crate) known: Arc<[Figure]>,
    /// Sources, by [`Parameter`].
    pub(crate) reasons: Vec<(Group, Reason)>,
    /// Source of the floor.
    pub(crate) floor_reason: Reason,
}

impl Parameters {
    /// A model in which only the topology's own limits apply, without uncertainty: for a system
    /// with known limits, such as an emulated volume.
    pub fn unbounded() -> Parameters {
        let mut values = [0.0; COUNT];
        values[Parameter::VcpuPower as usize] = 1.0;
        Parameters {
            values,
            off: [0.0; COUNT],
            floor_s: 0.0,
            spread: Spread::default(),
            known: Arc::from([]),
            reasons: Vec::new(),
            floor_reason: Reason::given(Statement::NoFloor),
        }
    }

    /// The same with another, certain demand, in seconds per call or byte.
    #[must_use]
    pub fn with(mut self, parameter: Parameter, seconds: f64) -> Parameters {
        self.values[parameter as usize] = seconds;
        self.off[parameter as usize] = 0.0;
        self
    }

    /// A demand, in seconds per call or byte.
    pub fn get(&self, parameter: Parameter) -> f64 {
        self.values[parameter as usize]
    }

    /// The same with its interval.
    pub fn interval(&self, parameter: Parameter) -> Interval {
        let (value, off) = (self.get(parameter), self.off[parameter as usize]);
        Interval::spread(value, off)
    }

    /// The response time of one operation at a time, for topologies without one.
    pub fn floor_s(&self) -> Interval {
        self.floor_at(0.0)
    }

    /// The same of a system at a distance from published configurations.
    pub(crate) fn floor_at(&self, distance: f64) -> Interval {
        Interval::spread(self.floor_s, self.spread.latency.at(distance))
    }

    /// Distance of a system from the nearest published configuration; that of the farthest
    /// workload.
    pub(crate) fn distance(&self, topology: &Topology) -> f64 {
        let of = |workload| self.distance_of(&Configuration::of(topology, workload));
        topology.workloads.iter().map(of).fold(0.0, f64::max)
    }

    /// Distance of a configuration from the nearest published one.
    pub(crate) fn distance_of(&self, configuration: &Configuration) -> f64 {
        distance::to_nearest(configuration, self.known.iter()).unwrap_or(0.0)
    }

    /// Sources of a part's parameters.
    pub fn reason(&self, group: Group) -> Option<&Reason> {
        self.reasons.iter().find(|(of, _)| *of == group).map(|(_, reason)| reason)
    }

    /// All demands at the ends of their intervals with less throughput, or with more.
    ///
    /// * `distance` - distance of the system from published configurations
    pub(crate) fn at_end(&self, end: End, distance: f64) -> Parameters {
        let growth = self.spread.rate.growth_at(distance);
        let mut all = self.clone();
        for ((value, off), _) in all.values.iter_mut().zip(&self.off).zip(Parameter::ALL) {
            *value *= match end {
                End::Slow => (off * growth).exp(),
                End::Fast => (-off * growth).exp(),
            };
        }
        let floor_s = self.floor_at(distance);
        all.floor_s = match end {
            End::Slow => floor_s.high,
            End::Fast => floor_s.low,
        };
        all
    }
}

/// An end of the intervals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// Less throughput, longer response times.
    Slow,
    /// More throughput, shorter response times.
    Fast,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parameter::Per;
    use crate::spread::Error;

    #[test]
    fn an_unbounded_model_has_neither_demands_nor_uncertainty() {
        let none = Parameters::unbounded();
        for parameter in Parameter::ALL {
            let value = if parameter.per() == Per::Power { 1.0 } else { 0.0 };
            assert_eq!(none.interval(*parameter), Interval::exactly(value));
        }
    }

    #[test]
    fn ends_of_intervals_lie_around_the_value() {
        let mut all = Parameters::unbounded();
        all.values[0] = 1e-5;
        all.off[0] = 0.1;
        all.floor_s = 2.0;
        let latency = Error { base: 2f64.ln(), growth: 0.0 };
        all.spread =
            Spread { latency, rate: Error { base: 0.0, growth: 0.5 }, ..Spread::default() };
        let (slow, fast) = (all.at_end(End::Slow, 0.0), all.at_end(End::Fast, 0.0));
        assert!(fast.values[0] < 1e-5 && slow.values[0] > 1e-5);
        assert!((fast.floor_s - 1.0).abs() < 1e-12 && (slow.floor_s - 4.0).abs() < 1e-12);
        assert!(all.at_end(End::Slow, 2.0).values[0] > slow.values[0]);
    }
}
