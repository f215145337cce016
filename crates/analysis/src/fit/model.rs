//! The models: what each says of rate or response time, and with which parameters.

use crate::fit::queueing::{
    bounds_rate, closed_rate, md1_response_s, mm1_response_s, mmc_response_s, usl_rate,
};

/// A model of a storage. Those of closed loops say the achieved rate at a queue depth, those of
/// open loops the mean response time at an offered rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Model {
    /// Closed: the asymptotic bounds themselves, a delay and then a limit that lets operations pass
    /// evenly (a throughput limit is one).
    Bounds,
    /// Closed: a delay and one server with a queue, with exponential demands (mean value analysis).
    DelayAndServer,
    /// Closed: a delay and several equal servers behind one queue, with exponential demands.
    DelayAndServers,
    /// Closed: Gunther's universal scalability law, in which operations hinder each other.
    Usl,
    /// Open: M/D/1 after a delay: one server, equal demands.
    Md1,
    /// Open: M/M/1 after a delay: one server, exponential demands.
    Mm1,
    /// Open: M/M/c after a delay (Erlang C): several servers, exponential demands.
    Mmc,
}

/// A parameter of a model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parameter {
    /// Its name, with the unit.
    pub name: &'static str,
    /// The least it can be.
    pub least: f64,
}

/// The time of an operation that waits for nothing, at no server.
const DELAY: Parameter = Parameter { name: "delay_s", least: 0.0 };
/// The time of an operation that is alone.
const ALONE: Parameter = Parameter { name: "alone_s", least: 0.0 };
/// The rate at which all servers work.
const CAPACITY: Parameter = Parameter { name: "capacity_ops_per_s", least: 0.0 };
/// How many operations are served at a time.
const SERVERS: Parameter = Parameter { name: "servers", least: 1.0 };
/// The rate of one operation at a time.
const GAMMA: Parameter = Parameter { name: "gamma_ops_per_s", least: 0.0 };
/// The share that is done one after the other (contention).
const SIGMA: Parameter = Parameter { name: "sigma", least: 0.0 };
/// What each pair of operations costs each other (coherency).
const KAPPA: Parameter = Parameter { name: "kappa", least: 0.0 };

impl Model {
    /// Those of closed loops, simplest first.
    pub const CLOSED: &'static [Model] =
        &[Model::Bounds, Model::DelayAndServer, Model::DelayAndServers, Model::Usl];
    /// Those of open loops, simplest first.
    pub const OPEN: &'static [Model] = &[Model::Md1, Model::Mm1, Model::Mmc];

    /// The name in files.
    pub const fn name(self) -> &'static str {
        match self {
            Model::Bounds => "bounds",
            Model::DelayAndServer => "delay_and_server",
            Model::DelayAndServers => "delay_and_servers",
            Model::Usl => "usl",
            Model::Md1 => "m_d_1",
            Model::Mm1 => "m_m_1",
            Model::Mmc => "m_m_c",
        }
    }

    /// What it is, in words.
    pub const fn in_words(self) -> &'static str {
        match self {
            Model::Bounds => "a fixed delay and an even limit",
            Model::DelayAndServer => "a fixed delay and one server with a queue",
            Model::DelayAndServers => "a fixed delay and several servers with a queue",
            Model::Usl => "universal scalability law",
            Model::Md1 => "M/D/1 after a fixed delay",
            Model::Mm1 => "M/M/1 after a fixed delay",
            Model::Mmc => "M/M/c after a fixed delay",
        }
    }

    /// Its parameters, in the order in which they are given to [`Model::predicted`].
    pub const fn parameters(self) -> &'static [Parameter] {
        match self {
            Model::Bounds => &[ALONE, CAPACITY],
            Model::DelayAndServer | Model::Md1 | Model::Mm1 => &[DELAY, CAPACITY],
            Model::DelayAndServers | Model::Mmc => &[DELAY, CAPACITY, SERVERS],
            Model::Usl => &[GAMMA, SIGMA, KAPPA],
        }
    }

    /// Achieved rate in operations per second at a queue depth of `load` with a known think time,
    /// or mean response time in seconds at an offered rate of `load`.
    pub fn predicted(self, parameters: &[f64], load: f64, think_time_s: f64) -> f64 {
        let [first, second] = [parameters[0], parameters[1]];
        let third = parameters.get(2).copied().unwrap_or(1.0);
        match self {
            Model::Bounds => bounds_rate(load, first + think_time_s, second),
            Model::DelayAndServer => closed_rate(load, first + think_time_s, 1.0 / second, 1.0),
            Model::DelayAndServers => {
                closed_rate(load, first + think_time_s, third / second, third)
            }
            Model::Usl => usl_rate(load, first, second, third),
            Model::Md1 => first + md1_response_s(load, 1.0 / second),
            Model::Mm1 => first + mm1_response_s(load, 1.0 / second),
            Model::Mmc => first + mmc_response_s(load, third / second, third),
        }
    }
}
