//! Errors of predictions: the spread of their intervals.
//!
//! [`crate::cross_validation`] computes them.

use crate::resource::ResourceKind;

/// The share of figures that intervals should contain.
pub const CONFIDENCE: f64 = 0.9;
/// Error of predictions of one quantity, as the logarithm of a factor in both directions.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Error {
    /// For a published configuration.
    pub base: f64,
    /// Exponent of its growth with one plus the distance.
    pub growth: f64,
}

impl Error {
    /// The factor by which it is larger at a distance from published configurations.
    pub fn growth_at(&self, distance: f64) -> f64 {
        (1.0 + distance).powf(self.growth)
    }

    /// At a distance from published configurations.
    pub fn at(&self, distance: f64) -> f64 {
        self.base * self.growth_at(distance)
    }
}

/// Kinds of resources whose errors are pooled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bounding {
    /// Connections.
    Flows,
    /// Hosts, and the virtual machines on them.
    Hosts,
    /// Endpoints.
    Endpoints,
    /// Random operations of volumes.
    Random,
    /// Sequential reads of volumes.
    Reads,
    /// Sequential writes of volumes.
    Writes,
}

impl Bounding {
    /// All of them.
    pub const ALL: [Bounding; 6] = [
        Bounding::Flows,
        Bounding::Hosts,
        Bounding::Endpoints,
        Bounding::Random,
        Bounding::Reads,
        Bounding::Writes,
    ];

    /// The kind of a resource with a fitted demand; `None` for known limits.
    pub(crate) fn of(kind: ResourceKind) -> Option<Bounding> {
        match kind {
            ResourceKind::Flow => Some(Bounding::Flows),
            ResourceKind::HostProcessing | ResourceKind::Guest => Some(Bounding::Hosts),
            ResourceKind::EndpointOps | ResourceKind::EndpointThroughput => {
                Some(Bounding::Endpoints)
            }
            ResourceKind::VolumeRandom | ResourceKind::VolumeNames => Some(Bounding::Random),
            ResourceKind::VolumeReads => Some(Bounding::Reads),
            ResourceKind::VolumeWrites => Some(Bounding::Writes),
            _ => None,
        }
    }
}

/// Errors of predictions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// Rates.
    pub rate: Error,
    /// By resource, factor on the errors of rates that it bounds: 1, except for resources with
    /// larger errors than all together.
    pub worse: [f64; Bounding::ALL.len()],
    /// Response times of one operation at a time.
    pub latency: Error,
}

impl Default for Spread {
    /// No errors.
    fn default() -> Spread {
        let none = Error::default();
        Spread { rate: none, worse: [1.0; Bounding::ALL.len()], latency: none }
    }
}

impl Spread {
    /// Errors of the embedded figures: the result of [`Spread::published`], rounded up; a test
    /// compares them. The computation needs a fit per document, too long for each program start.
    pub const PUBLISHED: Spread = Spread {
        rate: Error { base: 0.1542, growth: 0.70 },
        worse: [1.162, 1.0, 1.0, 1.1192, 1.0, 1.1775],
        latency: Error { base: 1.204, growth: 0.10 },
    };

    /// Error of a rate that a demand bounds, for a published configuration.
    pub(crate) fn of_rate(&self, bounding: Bounding) -> f64 {
        self.rate.base * self.worse[bounding as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_of_a_rate_is_that_of_the_resource_that_bounds_it() {
        use ResourceKind::{
            Egress, EndpointOps, EndpointThroughput, Flow, Guest, HostProcessing, VolumeLimit,
            VolumeNames, VolumeRandom, VolumeReads, VolumeWrites,
        };
        let rate = Error { base: 10.0, growth: 0.0 };
        let spread = Spread { rate, worse: [1.0, 2.0, 3.0, 4.0, 5.0, 6.0], ..Spread::default() };
        let error = |kind| Bounding::of(kind).map(|bounding| spread.of_rate(bounding));
        assert_eq!(error(Flow), Some(10.0));
        assert_eq!([HostProcessing, Guest].map(error), [Some(20.0); 2]);
        assert_eq!([EndpointOps, EndpointThroughput].map(error), [Some(30.0); 2]);
        assert_eq!([VolumeRandom, VolumeNames].map(error), [Some(40.0); 2]);
        assert_eq!([VolumeReads, VolumeWrites].map(error), [Some(50.0), Some(60.0)]);
        assert_eq!([VolumeLimit, Egress].map(error), [None; 2], "known limits");
    }
}
