//! Models of rate and response time, with their parameters.

use statistics::queueing::{
    bounds_rate, closed_rate, md1_response_s, mm1_response_s, mmc_response_s, usl_rate,
};

/// A model of a storage system. Closed models predict the achieved rate at a queue depth, open
/// models the mean response time at an offered rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Model {
    /// Closed: the asymptotic bounds, a delay followed by a limit that completes operations evenly,
    /// such as a throughput limit.
    Bounds,
    /// Closed: a delay and one server with a queue, with exponential demands (mean value analysis).
    DelayAndServer,
    /// Closed: a delay and several equal servers behind one queue, with exponential demands.
    DelayAndServers,
    /// Closed: Gunther's universal scalability law, with contention and coherency.
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
    /// Lower bound.
    pub least: f64,
}

/// Time of an operation outside the servers.
const DELAY: Parameter = Parameter { name: "delay_s", least: 0.0 };
/// Unloaded time of an operation.
const ALONE: Parameter = Parameter { name: "alone_s", least: 0.0 };
/// Total rate of all servers.
const CAPACITY: Parameter = Parameter { name: "capacity_ops_per_s", least: 0.0 };
/// Number of servers.
const SERVERS: Parameter = Parameter { name: "servers", least: 1.0 };
/// Rate at queue depth 1.
const GAMMA: Parameter = Parameter { name: "gamma_ops_per_s", least: 0.0 };
/// Serial share (contention).
const SIGMA: Parameter = Parameter { name: "sigma", least: 0.0 };
/// Cost per pair of operations (coherency).
const KAPPA: Parameter = Parameter { name: "kappa", least: 0.0 };

impl Model {
    /// Closed models, simplest first.
    pub const CLOSED: &'static [Model] =
        &[Model::Bounds, Model::DelayAndServer, Model::DelayAndServers, Model::Usl];
    /// Open models, simplest first.
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

    /// Its parameters, in the order of [`Model::predicted`].
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
