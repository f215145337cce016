//! Models of a storage: when an operation completes, and with what result.
//!
//! A [`Model`] describes the storage, a [`Storage`] is its state: operations arrive in the order of
//! time, and the time of completion is known on arrival, which is possible with queues in the order
//! of arrival. An operation passes, in this order, the [`ThroughputLimit`], the [`Service`], the
//! [`Stall`]s and the [`Fault`]s; the delay is added.
//!
//! Random numbers are a function of the seed and the operation's number in the order of arrival.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use workload::op::{Op, OpKind};
use workload::random;

/// Minimum time of an operation, so that virtual time advances.
pub const SERVICE_MIN_NS: u64 = 1;
/// The completion time of an operation that never completes.
pub const NEVER_NS: u64 = u64::MAX;

const DEMAND_SEED: u64 = 0xDE3A;
const FAULT_SEED: u64 = 0xFA17;

/// The description of a storage.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// How operations are served.
    pub service: Service,
    /// Additional delay of every operation without queueing, in nanoseconds.
    pub delay_ns: u64,
    /// The throughput limit, if any.
    pub throughput_limit: Option<ThroughputLimit>,
    /// When it stalls.
    pub stalls: Vec<Stall>,
    /// Faults; the first that affects an operation applies.
    pub faults: Vec<Fault>,
}

/// How operations are served.
#[derive(Clone, Debug, PartialEq)]
pub enum Service {
    /// Each operation takes this long: a delay without a queue.
    Fixed {
        /// In nanoseconds.
        time_ns: u64,
    },
    /// One queue in the order of arrival for `servers` equal servers (Kendall's G/G/c).
    Queue {
        /// Number of servers.
        servers: u32,
        /// The service demand of an operation.
        demand: Demand,
    },
}

/// The service demand of an operation: its time at a server, without waiting.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Demand {
    /// Constant.
    Deterministic {
        /// In nanoseconds.
        ns: u64,
    },
    /// Exponential.
    Exponential {
        /// Its mean, in nanoseconds.
        mean_ns: f64,
    },
    /// Lognormal: many short demands, few very long ones.
    Lognormal {
        /// Its mean, in nanoseconds.
        mean_ns: f64,
        /// Standard deviation of its logarithm.
        sigma: f64,
    },
}

/// Delays operations until their bytes conform to a rate.
///
/// The generic cell rate algorithm as a shaper (ITU-T I.371): an operation may begin when at most
/// `burst_bytes` are ahead of the rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThroughputLimit {
    /// The rate, in bytes per second.
    pub bytes_per_s: u64,
    /// Bytes that may pass immediately after a pause.
    pub burst_bytes: u64,
}

/// A time during which the storage serves nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stall {
    /// Its start, in nanoseconds from the run's start.
    pub from_ns: u64,
    /// Its end, in nanoseconds from the run's start.
    pub until_ns: u64,
}

/// A fault of some operations that arrive during a time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fault {
    /// Its start, in nanoseconds from the run's start.
    pub from_ns: u64,
    /// Its end, in nanoseconds from the run's start.
    pub until_ns: u64,
    /// The affected operation kind; `None` affects any.
    pub kind: Option<OpKind>,
    /// The share of those operations that is affected, 0 to 1.
    pub probability: f64,
    /// The effect.
    pub effect: Effect,
}

/// The effect of a fault on an operation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Effect {
    /// It fails with this Linux error number, after its ordinary time.
    Error {
        /// Positive.
        errno: i32,
    },
    /// It moves only half of its bytes.
    Short,
    /// It never completes. Its server continues.
    Never,
    /// Its demand is multiplied by this factor.
    Slow {
        /// Above 0.
        factor: f64,
    },
}

/// The result of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StorageReply {
    /// When it completes; [`NEVER_NS`] if never.
    pub completed_ns: u64,
    /// Bytes moved, or a negative Linux error number.
    pub result: i32,
}

/// The state of a storage.
#[derive(Debug)]
pub struct Storage {
    model: Model,
    seed: u64,
    /// Number of operations that have arrived.
    arrived: u64,
    /// When each server is free.
    free_ns: BinaryHeap<Reverse<u64>>,
    /// When the rate has caught up with the bytes that passed (the theoretical arrival time).
    caught_up_ns: f64,
}

impl Model {
    /// Every operation takes `time_ns`; no faults.
    pub fn fixed(time_ns: u64) -> Model {
        Model::of(Service::Fixed { time_ns })
    }

    /// `servers` servers behind one queue; no faults.
    pub fn queue(servers: u32, demand: Demand) -> Model {
        Model::of(Service::Queue { servers, demand })
    }

    fn of(service: Service) -> Model {
        Model {
            service,
            delay_ns: 0,
            throughput_limit: None,
            stalls: Vec::new(),
            faults: Vec::new(),
        }
    }
}

impl Storage {
    /// An idle storage.
    pub fn new(model: Model, seed: u64) -> Storage {
        let servers = match model.service {
            Service::Fixed { .. } => 0,
            Service::Queue { servers, .. } => servers,
        };
        assert!(
            servers > 0 || matches!(model.service, Service::Fixed { .. }),
            "a queue has a server"
        );
        Storage {
            model,
            seed,
            arrived: 0,
            free_ns: (0..servers).map(|_| Reverse(0)).collect(),
            caught_up_ns: 0.0,
        }
    }

    /// Serves an operation that arrives at `now_ns`; operations must arrive in the order of time.
    pub fn arrive(&mut self, now_ns: u64, op: &Op) -> StorageReply {
        let number = self.arrived;
        self.arrived += 1;
        let effect = self.effect(number, now_ns, op.kind);
        let factor = match effect {
            Some(Effect::Slow { factor }) => factor,
            _ => 1.0,
        };
        let passed_ns = self.pass_limit(now_ns, op.size_bytes);
        let done_ns = self.serve(number, passed_ns, factor);
        let completed_ns = (done_ns + self.model.delay_ns).max(now_ns + SERVICE_MIN_NS);
        let moved = op.size_bytes as i32;
        match effect {
            None | Some(Effect::Slow { .. }) => StorageReply { completed_ns, result: moved },
            Some(Effect::Error { errno }) => StorageReply { completed_ns, result: -errno },
            Some(Effect::Short) => StorageReply { completed_ns, result: moved / 2 },
            Some(Effect::Never) => StorageReply { completed_ns: NEVER_NS, result: 0 },
        }
    }

    /// The effect of the first fault that affects this operation.
    fn effect(&self, number: u64, now_ns: u64, kind: OpKind) -> Option<Effect> {
        let affects = |(index, fault): &(usize, &Fault)| {
            let seed = random::derive(self.seed, FAULT_SEED + *index as u64);
            (fault.from_ns..fault.until_ns).contains(&now_ns)
                && fault.kind.is_none_or(|affected| affected == kind)
                && random::unit(random::at(seed, number)) < fault.probability
        };
        self.model.faults.iter().enumerate().find(affects).map(|(_, fault)| fault.effect)
    }

    /// When the operation's bytes conform to the limit.
    fn pass_limit(&mut self, now_ns: u64, size_bytes: u32) -> u64 {
        let Some(limit) = self.model.throughput_limit else { return now_ns };
        let ns_per_byte = 1e9 / limit.bytes_per_s as f64;
        let burst_ns = limit.burst_bytes as f64 * ns_per_byte;
        let passed_ns = (self.caught_up_ns - burst_ns).max(now_ns as f64);
        self.caught_up_ns =
            self.caught_up_ns.max(now_ns as f64) + f64::from(size_bytes) * ns_per_byte;
        passed_ns.round() as u64
    }

    fn serve(&mut self, number: u64, now_ns: u64, factor: f64) -> u64 {
        match self.model.service {
            Service::Fixed { time_ns } => self.after(now_ns, scaled(time_ns as f64, factor)),
            Service::Queue { demand, .. } => {
                let demand_ns = scaled(demand.draw_ns(self.seed, number), factor);
                let Reverse(free_ns) = self.free_ns.pop().expect("a queue has a server");
                let done_ns = self.after(free_ns.max(now_ns), demand_ns);
                self.free_ns.push(Reverse(done_ns));
                done_ns
            }
        }
    }

    /// When work of `work_ns` that begins at `from_ns` is done; stalls interrupt it.
    fn after(&self, from_ns: u64, work_ns: u64) -> u64 {
        let mut done_ns = from_ns + work_ns;
        let mut at_ns = from_ns;
        for stall in &self.model.stalls {
            // Stalls are in order and do not overlap.
            if stall.until_ns > at_ns && stall.from_ns <= done_ns && stall.from_ns < stall.until_ns
            {
                let interrupted_ns = stall.from_ns.max(at_ns);
                done_ns += stall.until_ns - interrupted_ns;
                at_ns = stall.until_ns;
            }
        }
        done_ns
    }
}

impl Demand {
    /// The demand of operation `number`, in nanoseconds.
    pub fn draw_ns(&self, seed: u64, number: u64) -> f64 {
        let seed = random::derive(seed, DEMAND_SEED);
        // 1 - u lies in (0, 1], so the logarithms are finite.
        let uniform = |draw: u64| 1.0 - random::unit(random::at(seed, 2 * number + draw));
        match *self {
            Demand::Deterministic { ns } => ns as f64,
            Demand::Exponential { mean_ns } => -uniform(0).ln() * mean_ns,
            Demand::Lognormal { mean_ns, sigma } => {
                // Box and Muller, Annals of Mathematical Statistics 29(2), 1958.
                let angle = std::f64::consts::TAU * uniform(1);
                let normal = (-2.0 * uniform(0).ln()).sqrt() * angle.cos();
                // The mean of a lognormal is exp(mu + sigma^2 / 2).
                mean_ns * (sigma * normal - sigma * sigma / 2.0).exp()
            }
        }
    }
}

fn scaled(ns: f64, factor: f64) -> u64 {
    (ns * factor).round() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn op(size_bytes: u32) -> Op {
        Op { index: 0, offset_bytes: 0, size_bytes, file: 0, kind: OpKind::Read }
    }

    fn completed(storage: &mut Storage, now_ns: u64, size_bytes: u32) -> u64 {
        storage.arrive(now_ns, &op(size_bytes)).completed_ns
    }

    #[test]
    fn two_servers_serve_two_operations_and_the_third_waits_for_the_first_free_one() {
        let demand = Demand::Deterministic { ns: 100 };
        let mut storage = Storage::new(Model::queue(2, demand), 1);
        let done: Vec<u64> =
            [0, 10, 20, 500].iter().map(|now| completed(&mut storage, *now, 512)).collect();
        assert_eq!(done, [100, 110, 200, 600]);
    }

    #[test]
    fn the_delay_is_added_without_blocking_a_server() {
        let demand = Demand::Deterministic { ns: 100 };
        let mut storage = Storage::new(Model { delay_ns: 1000, ..Model::queue(1, demand) }, 1);
        let done: Vec<u64> =
            [0, 10, 500].iter().map(|now| completed(&mut storage, *now, 512)).collect();
        assert_eq!(done, [1100, 1200, 1600]);
    }

    #[test]
    fn a_stall_lengthens_operations_in_service_and_delays_arriving_ones() {
        let stalls =
            vec![Stall { from_ns: 1000, until_ns: 2000 }, Stall { from_ns: 2050, until_ns: 2060 }];
        let mut storage = Storage::new(Model { stalls, ..Model::fixed(100) }, 1);
        assert_eq!(completed(&mut storage, 800, 512), 900);
        assert_eq!(completed(&mut storage, 950, 512), 2060);
        assert_eq!(completed(&mut storage, 1500, 512), 2110);
        assert_eq!(completed(&mut storage, 2060, 512), 2160);
    }

    #[test]
    fn a_limit_admits_a_burst_and_then_its_rate() {
        // 1 byte per microsecond; two operations of 1,000 bytes pass with the first.
        let limit = ThroughputLimit { bytes_per_s: 1_000_000, burst_bytes: 2000 };
        let model = Model { throughput_limit: Some(limit), ..Model::fixed(0) };
        let mut storage = Storage::new(model, 1);
        let passed: Vec<u64> = (0..5).map(|_| completed(&mut storage, 0, 1000)).collect();
        assert_eq!(passed, [1, 1, 1, 1_000_000, 2_000_000]);
        // After a pause a burst is allowed again.
        assert_eq!(completed(&mut storage, 9_000_000, 1000), 9_000_001);
    }

    #[test]
    fn faults_affect_only_their_time_and_kind() {
        let fault = Fault {
            from_ns: 100,
            until_ns: 200,
            kind: Some(OpKind::Read),
            probability: 1.0,
            effect: Effect::Error { errno: 5 },
        };
        let mut storage = Storage::new(Model { faults: vec![fault], ..Model::fixed(10) }, 1);
        let mut result = |now, kind| storage.arrive(now, &Op { kind, ..op(512) }).result;
        assert_eq!(result(99, OpKind::Read), 512);
        assert_eq!(result(100, OpKind::Write), 512);
        assert_eq!(result(100, OpKind::Read), -5);
        assert_eq!(result(200, OpKind::Read), 512);
    }

    #[test]
    fn effects_are_half_a_transfer_a_multiple_of_the_demand_and_no_completion() {
        let reply = |effect| {
            let fault = Fault { from_ns: 0, until_ns: 9, kind: None, probability: 1.0, effect };
            let model = Model { faults: vec![fault], ..Model::fixed(10) };
            Storage::new(model, 1).arrive(0, &op(512))
        };
        let slow = Effect::Slow { factor: 3.0 };
        assert_eq!(reply(Effect::Short), StorageReply { completed_ns: 10, result: 256 });
        assert_eq!(reply(slow), StorageReply { completed_ns: 30, result: 512 });
        assert_eq!(reply(Effect::Never).completed_ns, NEVER_NS);
    }

    #[test]
    fn drawn_demands_have_the_configured_mean_and_spread() {
        let moments = |demand: Demand| {
            let n = 200_000;
            let draws: Vec<f64> = (0..n).map(|number| demand.draw_ns(7, number)).collect();
            let mean = draws.iter().sum::<f64>() / n as f64;
            let variance = draws.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n as f64;
            (mean, variance.sqrt() / mean)
        };
        let (mean, spread) = moments(Demand::Exponential { mean_ns: 1000.0 });
        assert!((mean - 1000.0).abs() < 10.0 && (spread - 1.0).abs() < 0.01, "{mean} {spread}");
        // The coefficient of variation of a lognormal is sqrt(exp(sigma^2) - 1).
        let (mean, spread) = moments(Demand::Lognormal { mean_ns: 1000.0, sigma: 0.5 });
        let expected = (0.25f64.exp() - 1.0).sqrt();
        assert!((mean - 1000.0).abs() < 10.0 && (spread - expected).abs() < 0.01, "{spread}");
        assert_eq!(moments(Demand::Deterministic { ns: 1000 }), (1000.0, 0.0));
    }
}
