//! What the parts of the service can do: service demands, each of one kind of part.
//!
//! For: the numbers of the model. A demand is the busy time that one call, or one byte, needs at
//! one part (Lazowska et al., Quantitative System Performance, 1984); its inverse is the rate of
//! that part. 0 is a part that never limits. Not for: how they were found, which is
//! [`crate::calibrate`]'s.

use cloud::reason::Reason;

use crate::interval::Interval;

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
    /// A call on one processor of a Linux host.
    Vcpu: LinuxHost, Call, "a call on one processor of a Linux host";
    /// A byte read there.
    VcpuReadByte: LinuxHost, Byte, "a byte read on one processor of a Linux host";
    /// A byte written there.
    VcpuWriteByte: LinuxHost, Byte, "a byte written on one processor of a Linux host";
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

impl Group {
    /// In words.
    pub const fn words(self) -> &'static str {
        match self {
            Group::LinuxFlow => "connections of Linux",
            Group::EsxiFlow => "connections of VMware's hosts",
            Group::Regular => "regular volumes",
            Group::Large => "large volumes",
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
    pub(crate) floor_s: Interval,
    /// Where they come from, by [`Parameter`].
    pub(crate) reasons: Vec<(Group, Reason)>,
    /// Of the floor.
    pub(crate) floor_reason: Reason,
}

impl Parameters {
    /// A model in which nothing limits but what the topology itself says, and nothing is doubtful:
    /// that of a system whose limits are known, such as an emulated volume.
    pub fn unbounded() -> Parameters {
        Parameters {
            values: [0.0; COUNT],
            off: [0.0; COUNT],
            floor_s: Interval::exactly(0.0),
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
        Interval { low: value * (-off).exp(), value, high: value * off.exp() }
    }

    /// The response time of one operation at a time, where a topology says none.
    pub fn floor_s(&self) -> Interval {
        self.floor_s
    }

    /// Where a part's numbers come from.
    pub fn reason(&self, group: Group) -> Option<&Reason> {
        self.reasons.iter().find(|(of, _)| *of == group).map(|(_, reason)| reason)
    }

    /// All demands at the end of their intervals that gives less throughput, or more.
    pub(crate) fn at_end(&self, end: End) -> Parameters {
        let mut all = self.clone();
        for ((value, off), _) in all.values.iter_mut().zip(&self.off).zip(Parameter::ALL) {
            *value *= match end {
                End::Slow => off.exp(),
                End::Fast => (-off).exp(),
            };
        }
        all.floor_s = Interval::exactly(match end {
            End::Slow => self.floor_s.high,
            End::Fast => self.floor_s.low,
        });
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

    #[test]
    fn an_unbounded_model_has_no_demands_and_no_doubt() {
        let none = Parameters::unbounded();
        for parameter in Parameter::ALL {
            assert_eq!(none.interval(*parameter), Interval::exactly(0.0));
        }
    }

    #[test]
    fn ends_of_intervals_lie_around_the_value() {
        let mut all = Parameters::unbounded();
        all.values[0] = 1e-5;
        all.off[0] = 0.1;
        all.floor_s = Interval { low: 1.0, value: 2.0, high: 3.0 };
        let (slow, fast) = (all.at_end(End::Slow), all.at_end(End::Fast));
        assert!(fast.values[0] < 1e-5 && slow.values[0] > 1e-5);
        assert_eq!((fast.floor_s.value, slow.floor_s.value), (1.0, 3.0));
    }
}
