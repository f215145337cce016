//! What a tuning found: the arithmetic, what was measured on the way, and the answer.

use units::OpsPerSec;
use workload::arrival::Arrival;
use workload::plan::{Phases, Run, Stream, TargetSpec};
use workload::reach::Reach;

use crate::curve::plateau::{Inconclusive, State};
use crate::estimate::Estimate;
use crate::load_point::LoadPoint;
use crate::tune::arithmetic::Arithmetic;
use crate::tune::limit::{LevelQuota, quotas};
use crate::tune::search::{Answer, Goal, Next, Point, next};
use crate::tune::share::shares;
use crate::verdict::{Limit, Verdict};

/// A tuning, whole or as far as it came.
#[derive(Clone, Debug, PartialEq)]
pub struct TuneFindings {
    /// What was tuned for.
    pub target: TargetSpec,
    /// What was looked for.
    pub reach: Reach,
    /// Where: the stream as it was planned.
    pub stream: Stream,
    /// What was wanted, in operations per second.
    pub wanted_ops_per_s: f64,
    /// The same in bytes per second.
    pub wanted_bytes_per_s: f64,
    /// The least rate that counts as reached.
    pub least_ops_per_s: f64,
    /// The worked example; `None` where not even one operation at a time was measured.
    pub arithmetic: Option<Arithmetic>,
    /// Every concurrency that was measured, ascending.
    pub tried: Vec<Tried>,
    /// The answer.
    pub outcome: Outcome,
    /// The verdict on the curve that was measured on the way, as an index in `Findings::verdicts`:
    /// what limits the rate. `None` where nothing was measured.
    pub verdict: Option<usize>,
    /// What each service level would have to be given for the rate; empty where a throughput limit
    /// did not stop it.
    pub quotas: Vec<LevelQuota>,
    /// How the concurrency that was found is dealt out over the hosts; `None` where none was found.
    pub settings: Option<Settings>,
    /// The concurrency that was found, held at the wanted rate: where it gives more than was
    /// wanted if it is let.
    pub held: Option<Tried>,
    /// The highest measured rate whose mean response time is within the objective; `None` where
    /// there is no objective, or nothing is within it.
    pub best_within_objective: Option<Tried>,
}

/// The concurrency that was found, as it is set on each host.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Operations outstanding over all hosts.
    pub outstanding: u64,
    /// What each host has; the hosts of the larger share first.
    pub shares: Vec<HostShare>,
    /// How long it was measured.
    pub phases: Phases,
    /// Connections of each host, where their number was given.
    pub connections: Option<u32>,
}

/// So many hosts with so much each.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HostShare {
    /// How many hosts have it.
    pub hosts: u64,
    /// Operations outstanding on each of them.
    pub outstanding: u64,
    /// Workers of each.
    pub workers: u32,
    /// The queue depth of each worker.
    pub queue_depth: u32,
    /// The share of the wanted rate, where the concurrency would give more than is wanted.
    pub ops_per_s: Option<f64>,
}

/// A concurrency that was measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tried {
    /// The load point, as a place in `Findings::load_points`.
    pub load_point: usize,
    /// Operations that were kept outstanding, or might be.
    pub outstanding: u64,
    /// Operations per second.
    pub rate: Estimate,
    /// Bytes per second.
    pub throughput: Estimate,
    /// Mean response time, in nanoseconds.
    pub response_ns: Estimate,
    /// How often it was measured.
    pub runs: u32,
    /// Whether those runs agree with one another.
    pub agrees: bool,
    /// The share of a processor that the busiest worker used, 0 to 1.
    pub worker_busy: Option<f64>,
}

/// The answer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Outcome {
    /// The rate is reached with this concurrency and with no less.
    Reached {
        /// The least that reaches it.
        enough: Tried,
        /// One less, which does not; `None` where one operation at a time is enough.
        too_little: Option<Tried>,
        /// Noise leaves open which of the two is the least that is enough, although both were
        /// repeated: the bound lies within the half-width of one of them.
        open: bool,
    },
    /// The rate is reached, but not within the objective for the response time.
    TooSlow {
        /// The least concurrency that reaches the rate, and so the shortest response time with it.
        enough: Tried,
        /// The response time that is too long, in nanoseconds: at the wanted rate, where that was
        /// held.
        response_ns: f64,
    },
    /// The rate stops rising below what is wanted, whatever is outstanding.
    Saturated {
        /// The highest rate that was measured.
        top: Tried,
        /// The largest concurrency that was tried.
        last: Tried,
    },
    /// More concurrency is not allowed, and the rate still rose.
    Bounded {
        /// The largest concurrency that was tried.
        top: Tried,
    },
    /// The rate is not reached, and whether more concurrency would reach it is not known.
    Inconclusive {
        /// The largest concurrency that was tried.
        top: Tried,
        /// Why it is not known; the index is that of the verdict's load points.
        why: Inconclusive,
    },
    /// The search did not come to its end.
    Unfinished,
}

impl Outcome {
    /// The rate is reached, within the objective if there is one.
    pub const fn is_reached(&self) -> bool {
        matches!(self, Outcome::Reached { .. })
    }

    /// The least concurrency that reaches the rate, if it was found.
    pub const fn enough(&self) -> Option<Tried> {
        match self {
            Outcome::Reached { enough, .. } | Outcome::TooSlow { enough, .. } => Some(*enough),
            Outcome::Saturated { .. }
            | Outcome::Bounded { .. }
            | Outcome::Inconclusive { .. }
            | Outcome::Unfinished => None,
        }
    }
}

/// What a tuning wants next.
#[derive(Clone, Debug, PartialEq)]
pub enum Wish {
    /// This run.
    Run(Box<Run>),
    /// No more: this is the answer; `None` where a run measured nothing.
    Nothing(Option<Answer>),
}

/// What a tuning wants after `done`, made from `template`.
///
/// After the search comes one run more where the concurrency that was found gives clearly more
/// than was wanted: the same concurrency, held at the wanted rate by constant arrivals. It shows
/// what is felt at that rate.
pub fn wish(reach: &Reach, template: &Run, done: &[&LoadPoint]) -> Wish {
    let goal = goal(reach, &template.streams[0]);
    let closed: Vec<&&LoadPoint> = done.iter().filter(|point| !is_held(point)).collect();
    let tried: Vec<Tried> = closed.iter().filter_map(|point| self::tried(0, point)).collect();
    if tried.len() < closed.len() {
        return Wish::Nothing(None);
    }
    let answer = match next(&goal, &points(&tried)) {
        Next::Measure { outstanding } => {
            return Wish::Run(Box::new(closed_run(template, outstanding)));
        }
        Next::Done(answer) => answer,
    };
    if let Answer::Reached { enough, .. } = answer
        && closed.len() == done.len()
        && tried.iter().any(|t| t.outstanding == enough && gives_more(&goal, t))
    {
        return Wish::Run(Box::new(held(template, enough, goal.ops_per_s)));
    }
    Wish::Nothing(Some(answer))
}

/// The load point that keeps so much outstanding. One operation at a time goes over one connection:
/// it is what response times are held against.
fn closed_run(template: &Run, outstanding: u64) -> Run {
    let run = template.with_queue_depth(depth(outstanding));
    match outstanding {
        1 => Run { connections: run.connections.map(|_| 1), ..run },
        _ => run,
    }
}

/// A number that was never above [`Reach::outstanding_max`].
fn depth(outstanding: u64) -> u32 {
    u32::try_from(outstanding).unwrap_or(u32::MAX)
}

/// What the load points of a tuning say. `load_points` are those of the whole record, `of_tuning`
/// says which are the tuning's.
pub fn findings(
    target: &TargetSpec,
    reach: &Reach,
    template: &Run,
    load_points: &[LoadPoint],
    verdicts: &[Verdict],
    of_tuning: impl Fn(&LoadPoint) -> bool,
) -> Option<TuneFindings> {
    let stream = template.streams.first()?;
    let goal = goal(reach, stream);
    let transfer_bytes = stream.transfer_size_mean_bytes();
    let mine = || load_points.iter().enumerate().filter(|(_, point)| of_tuning(point));
    let mut tried: Vec<Tried> = mine()
        .filter(|(_, p)| !is_held(p))
        .filter_map(|(place, p)| self::tried(place, p))
        .collect();
    tried.sort_by_key(|tried| tried.outstanding);
    let held = mine().filter(|(_, p)| is_held(p)).find_map(|(place, p)| self::tried(place, p));
    let floor = tried.first().filter(|tried| tried.outstanding == 1);
    let objective = reach.response_time_max_ns.map(|ns| ns as f64);
    let within = |tried: &&Tried| objective.is_some_and(|most| tried.response_ns.value <= most);
    let of_tried = |tried: &Tried| {
        verdicts.iter().position(|verdict| verdict.load_points.contains(&tried.load_point))
    };
    let verdict = tried.last().and_then(of_tried);
    let state = verdict.map(|index| verdicts[index].plateau.state);
    let outcome = outcome(&goal, &tried, held.as_ref(), objective, state);
    let settings = outcome.enough().map(|enough| settings(reach, template, &goal, &enough));
    let wanted_bytes_per_s = reach.wanted.bytes_per_s(transfer_bytes);
    let named = verdict.map_or(&[][..], |index| verdicts[index].named());
    let limited = matches!(outcome, Outcome::Saturated { .. })
        && named.first() == Some(&Limit::VolumeThroughput);
    Some(TuneFindings {
        quotas: if limited { quotas(wanted_bytes_per_s) } else { Vec::new() },
        settings,
        target: target.clone(),
        reach: *reach,
        stream: stream.clone(),
        wanted_ops_per_s: goal.ops_per_s,
        wanted_bytes_per_s,
        least_ops_per_s: goal.least(),
        arithmetic: floor
            .map(|floor| Arithmetic::new(reach.wanted, transfer_bytes, floor.response_ns.value)),
        outcome,
        verdict,
        best_within_objective: tried
            .iter()
            .filter(within)
            .max_by(|a, b| a.rate.value.total_cmp(&b.rate.value))
            .copied(),
        tried,
        held,
    })
}

fn goal(reach: &Reach, stream: &Stream) -> Goal {
    Goal {
        ops_per_s: reach.wanted.ops_per_s(stream.transfer_size_mean_bytes()),
        within: f64::from(reach.within_permille) / 1000.0,
        outstanding_max: u64::from(reach.outstanding_max),
    }
}

/// What the search found. Whether the rate has stopped rising comes from the verdict on its curve.
fn outcome(
    goal: &Goal,
    tried: &[Tried],
    held: Option<&Tried>,
    objective: Option<f64>,
    state: Option<State>,
) -> Outcome {
    let of = |outstanding: u64| tried.iter().find(|t| t.outstanding == outstanding).copied();
    let not_reached = |top: u64| {
        let (top, last) = of(top).zip(tried.last().copied())?;
        Some(match state? {
            State::Reached(_) => Outcome::Saturated { top, last },
            State::NotReached => Outcome::Bounded { top: last },
            State::Inconclusive(why) => Outcome::Inconclusive { top: last, why },
        })
    };
    let found = match next(goal, &points(tried)) {
        Next::Measure { .. } => None,
        Next::Done(Answer::Reached { enough, too_little }) => of(enough).map(|enough| {
            let response_ns = held.unwrap_or(&enough).response_ns.value;
            match objective.is_some_and(|most| response_ns > most) {
                true => Outcome::TooSlow { enough, response_ns },
                false => {
                    let too_little = too_little.and_then(of);
                    let open = |tried: &Tried| {
                        let distance = (tried.rate.value - goal.least()).abs();
                        tried.rate.uncertainty.is_some_and(|half| distance < half)
                    };
                    let open = open(&enough) || too_little.as_ref().is_some_and(open);
                    Outcome::Reached { enough, too_little, open }
                }
            }
        }),
        Next::Done(Answer::Saturated { top } | Answer::Bounded { top }) => not_reached(top),
    };
    found.unwrap_or(Outcome::Unfinished)
}

fn settings(reach: &Reach, template: &Run, goal: &Goal, enough: &Tried) -> Settings {
    let total = enough.outstanding;
    let paced = gives_more(goal, enough);
    let share = |share: &crate::tune::share::Share| {
        let run = template.with_queue_depth(depth(share.each));
        let of_rate = share.each as f64 / total as f64;
        HostShare {
            hosts: share.holders,
            outstanding: share.each,
            workers: run.streams[0].workers,
            queue_depth: run.streams[0].queue_depth,
            ops_per_s: paced.then_some(goal.ops_per_s * of_rate),
        }
    };
    Settings {
        outstanding: total,
        shares: shares(total, u64::from(reach.hosts)).iter().map(share).collect(),
        phases: template.phases,
        connections: template.connections,
    }
}

/// Whether a concurrency gives more than what is wanted and tolerated above it.
fn gives_more(goal: &Goal, enough: &Tried) -> bool {
    enough.rate.value > goal.ops_per_s * (1.0 + goal.within)
}

/// The load point that holds a concurrency at the wanted rate.
fn held(template: &Run, outstanding: u64, ops_per_s: f64) -> Run {
    let mut run = template.with_queue_depth(depth(outstanding));
    for stream in &mut run.streams {
        stream.arrival = Arrival::Constant { offered_rate: ops_per_s };
    }
    run.parameters.push(("offered_rate".to_owned(), OpsPerSec::new(ops_per_s).to_string()));
    run
}

fn is_held(point: &LoadPoint) -> bool {
    point.merged.total.offered_rate.is_some()
}

/// What a load point says; nothing where it measured nothing.
fn tried(load_point: usize, point: &LoadPoint) -> Option<Tried> {
    let total = &point.merged.total;
    Some(Tried {
        load_point,
        outstanding: point.queue_depth_total,
        rate: total.data.achieved_rate.filter(|rate| rate.value > 0.0)?,
        throughput: total.data.throughput?,
        response_ns: total.data.response.mean_ns?,
        runs: point.runs.iter().filter(|run| run.summary.intervals > 0).count() as u32,
        agrees: point.rate_for_judgement().is_none_or(|(_, _, agrees)| agrees),
        worker_busy: total.worker_busy_max.map(|busy| busy.value),
    })
}

fn points(tried: &[Tried]) -> Vec<Point> {
    let point = |tried: &Tried| Point {
        outstanding: tried.outstanding,
        rate: tried.rate,
        response_ns: tried.response_ns.value,
        runs: tried.runs,
        agrees: tried.agrees,
    };
    tried.iter().map(point).collect()
}
