//! What the parts of the service can do: service demands, each of one kind of part.
//!
//! For: the numbers of the model. A demand is the busy time that one call, or one byte, needs at
//! one part (Lazowska et al., Quantitative System Performance, 1984); its inverse is the rate of
//! that part. 0 is a part that never limits. Not for: how they were found, which is
//! [`crate::calibrate`]'s.

use std::sync::Arc;

use cloud::figure::Figure;
use cloud::reason::Reason;

use crate::distance;
use crate::expect::Configuration;
use crate::interval::Interval;
use crate::spread::{Bounding, Spread};
use crate::topology::Topology;

macro_rules! parameters {
    ($($(#[$doc:meta])* $variant:ident: $group:ident, $per:ident, $words:literal;)*) => {
        /// A number of the model.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Parameter { $($(#[$doc])* $variant,)* }

        impl Parameter {
            /// All of them.
            pub const ALL: &[Parameter] = &[$(Parameter::$variant,)*];

            /// What it is, in words.
            pub const fn words(self) -> &'static str {
                match self { $(Parameter::$variant => $words,)* }
            }

            /// What it is needed for, once for each.
            pub const fn per(self) -> Per {
                match self { $(Parameter::$variant => Per::$per,)* }
            }

            /// Which part it belongs to: those of one part are fitted together.
            pub const fn group(self) -> Group {
                match self { $(Parameter::$variant => Group::$group,)* }
            }
        }
    };
}

/// What a demand is for one of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Per {
    /// A call, which is an operation where it is no larger than rsize or wsize.
    Call,
    /// A byte.
    Byte,
    /// Nothing: the exponent of a power.
    Power,
}

/// A part of the system whose parameters are fitted together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// A connection of Linux's client.
    LinuxFlow,
    /// A connection of a host of VMware's.
    EsxiFlow,
    /// A regular volume.
    Regular,
    /// A large volume.
    Large,
    /// A large volume in breakthrough mode, for each of its endpoints.
    Breakthrough,
    /// A Linux host, for each of its processors.
    LinuxHost,
    /// A virtual machine on a host of VMware's.
    Guest,
    /// A host of VMware's.
    EsxiHost,
    /// An endpoint of regular volumes.
    Endpoint,
}

parameters! {
    /// A read over one connection of Linux's client.
    FlowRead: LinuxFlow, Call, "a read over one connection, Linux";
    /// A byte read over it.
    FlowReadByte: LinuxFlow, Byte, "a byte read over one connection, Linux";
    /// A write over it.
    FlowWrite: LinuxFlow, Call, "a write over one connection, Linux";
    /// A byte written over it.
    FlowWriteByte: LinuxFlow, Byte, "a byte written over one connection, Linux";
    /// A call over one connection of VMware's client.
    EsxiFlow: EsxiFlow, Call, "a call over one connection, VMware";
    /// A byte over it.
    EsxiFlowByte: EsxiFlow, Byte, "a byte over one connection, VMware";
    /// A random read at a regular volume.
    RegularRead: Regular, Call, "a random read at a regular volume";
    /// A byte of a random operation there.
    RegularByte: Regular, Byte, "a byte of a random operation at a regular volume";
    /// A random write there.
    RegularWrite: Regular, Call, "a random write at a regular volume";
    /// A byte read there in order.
    RegularReadPath: Regular, Byte, "a byte read in order at a regular volume";
    /// A byte written there in order.
    RegularWritePath: Regular, Byte, "a byte written in order at a regular volume";
    /// A random read at a large volume.
    LargeRead: Large, Call, "a random read at a large volume";
    /// A random write there.
    LargeWrite: Large, Call, "a random write at a large volume";
    /// A byte read there in order.
    LargeReadPath: Large, Byte, "a byte read in order at a large volume";
    /// A byte written there in order.
    LargeWritePath: Large, Byte, "a byte written in order at a large volume";
    /// A random read at one endpoint of a volume in breakthrough mode.
    BreakthroughRead: Breakthrough, Call, "a random read at an endpoint of a breakthrough volume";
    /// A random write there.
    BreakthroughWrite: Breakthrough, Call, "a random write at an endpoint of a breakthrough volume";
    /// A byte read there in order.
    BreakthroughReadPath: Breakthrough, Byte,
        "a byte read in order at an endpoint of a breakthrough volume";
    /// A byte written there in order.
    BreakthroughWritePath: Breakthrough, Byte,
        "a byte written in order at an endpoint of a breakthrough volume";
    /// A call on one processor of a host.
    Vcpu: LinuxHost, Call, "a call on one processor of a host";
    /// A byte read there.
    VcpuReadByte: LinuxHost, Byte, "a byte read on one processor of a host";
    /// A byte written there.
    VcpuWriteByte: LinuxHost, Byte, "a byte written on one processor of a host";
    /// The power of the number of processors that a host's rate of calls grows with.
    VcpuPower: LinuxHost, Power, "power of the processors, for calls";
    /// A call of a virtual machine on a host of VMware's.
    Guest: Guest, Call, "a call of one virtual machine on VMware";
    /// A call at a host of VMware's.
    EsxiHost: EsxiHost, Call, "a call at one host of VMware's";
    /// A byte there.
    EsxiHostByte: EsxiHost, Byte, "a byte at one host of VMware's";
    /// A call at an endpoint of regular volumes.
    Endpoint: Endpoint, Call, "a call at an endpoint";
    /// A byte there.
    EndpointByte: Endpoint, Byte, "a byte at an endpoint";
}

impl Parameter {
    /// What it bounds, if it is a demand.
    pub(crate) fn bounding(self) -> Option<Bounding> {
        use Parameter as P;
        Some(match (self.group(), self) {
            (_, P::VcpuPower) => return None,
            (Group::LinuxFlow | Group::EsxiFlow, _) => Bounding::Flows,
            (Group::LinuxHost | Group::EsxiHost | Group::Guest, _) => Bounding::Hosts,
            (Group::Endpoint, _) => Bounding::Endpoints,
            (_, P::RegularReadPath | P::LargeReadPath | P::BreakthroughReadPath) => Bounding::Reads,
            (_, P::RegularWritePath | P::LargeWritePath | P::BreakthroughWritePath) => {
                Bounding::Writes
            }
            (Group::Regular | Group::Large | Group::Breakthrough, _) => Bounding::Random,
        })
    }
}

impl Group {
    /// In words.
    pub const fn words(self) -> &'static str {
        match self {
            Group::LinuxFlow => "connections of Linux",
            Group::EsxiFlow => "connections of VMware's hosts",
            Group::Regular => "regular volumes",
            Group::Large => "large volumes",
            Group::Breakthrough => "large volumes in breakthrough mode",
            Group::LinuxHost => "Linux hosts",
            Group::Guest => "virtual machines on VMware",
            Group::EsxiHost => "VMware's hosts",
            Group::Endpoint => "endpoints",
        }
    }
}

/// How many there are.
pub(crate) const COUNT: usize = Parameter::ALL.len();

/// All numbers of the model.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameters {
    /// By [`Parameter`], in seconds for each call or byte; 0 never limits.
    pub(crate) values: [f64; COUNT],
    /// By [`Parameter`]: what the logarithm of the demand may be off by, either way, with the
    /// probability that intervals are said to have.
    pub(crate) off: [f64; COUNT],
    /// The response time of one operation at a time, in seconds, where a topology says none.
    pub(crate) floor_s: f64,
    /// How far off predictions are.
    pub(crate) spread: Spread,
    /// What they were fitted to: what is far from all of it is less certain.
    pub(crate) known: Arc<[Figure]>,
    /// Where they come from, by [`Parameter`].
    pub(crate) reasons: Vec<(Group, Reason)>,
    /// Of the floor.
    pub(crate) floor_reason: Reason,
}

impl Parameters {
    /// A model in which nothing limits but what the topology itself says, and nothing is doubtful:
    /// that of a system whose limits are known, such as an emulated volume.
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
            floor_reason: Reason::asked("no response time is added where none is given"),
        }
    }

    /// The same with another demand, in seconds for each call or byte, that is not in doubt.
    #[must_use]
    pub fn with(mut self, parameter: Parameter, seconds: f64) -> Parameters {
        self.values[parameter as usize] = seconds;
        self.off[parameter as usize] = 0.0;
        self
    }

    /// A demand, in seconds for each call or byte.
    pub fn get(&self, parameter: Parameter) -> f64 {
        self.values[parameter as usize]
    }

    /// The same with its interval.
    pub fn interval(&self, parameter: Parameter) -> Interval {
        let (value, off) = (self.get(parameter), self.off[parameter as usize]);
        Interval::spread(value, off)
    }

    /// The response time of one operation at a time, where a topology says none.
    pub fn floor_s(&self) -> Interval {
        self.floor_at(0.0)
    }

    /// The same of a system at a distance from published configurations.
    pub(crate) fn floor_at(&self, distance: f64) -> Interval {
        Interval::spread(self.floor_s, self.spread.latency.at(distance))
    }

    /// How far a system is from the nearest published configuration; the farthest of its workloads.
    pub(crate) fn distance(&self, topology: &Topology) -> f64 {
        let of = |workload| self.distance_of(&Configuration::of(topology, workload));
        topology.workloads.iter().map(of).fold(0.0, f64::max)
    }

    /// The same of a configuration.
    pub(crate) fn distance_of(&self, configuration: &Configuration) -> f64 {
        distance::to_nearest(configuration, self.known.iter()).unwrap_or(0.0)
    }

    /// Where a part's numbers come from.
    pub fn reason(&self, group: Group) -> Option<&Reason> {
        self.reasons.iter().find(|(of, _)| *of == group).map(|(_, reason)| reason)
    }

    /// All demands at the end of their intervals that gives less throughput, or more.
    ///
    /// * `distance` - of the system from published configurations
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

/// An end of intervals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// Less throughput, longer response times.
    Slow,
    /// The other.
    Fast,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spread::Error;

    #[test]
    fn an_unbounded_model_has_no_demands_and_no_doubt() {
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
