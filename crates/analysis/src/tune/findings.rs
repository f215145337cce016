//! The findings of a tuning: the arithmetic, the measured points, and the answer.

use units::{BytesPerSec, Nanos, OpsPerSec};
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

/// A tuning, complete or as far as it got.
#[derive(Clone, Debug, PartialEq)]
pub struct TuneFindings {
    /// The target.
    pub target: TargetSpec,
    /// The goals of the search.
    pub reach: Reach,
    /// The planned stream.
    pub stream: Stream,
    /// The target rate.
    pub target_rate: OpsPerSec,
    /// The same in bytes; `None` if no operation moves data.
    pub target_throughput: Option<BytesPerSec>,
    /// The lowest rate that counts as reached.
    pub least_rate: OpsPerSec,
    /// The worked example; `None` if one operation at a time was not measured.
    pub arithmetic: Option<Arithmetic>,
    /// Every measured concurrency, ascending.
    pub tried: Vec<Tried>,
    /// The answer.
    pub outcome: Outcome,
    /// The verdict on what limits the rate of the measured curve, as an index into
    /// `Findings::verdicts`; `None` if nothing was measured.
    pub verdict: Option<usize>,
    /// The quota that the rate requires at each service level; empty unless a throughput limit
    /// stopped the search.
    pub quotas: Vec<LevelQuota>,
    /// Distribution of the found concurrency over the hosts; `None` if none was found.
    pub settings: Option<Settings>,
    /// The found concurrency, paced at the target rate; measured if it reaches more unpaced.
    pub paced: Option<Tried>,
    /// The highest measured rate whose mean response time meets the objective; `None` if there is
    /// no objective or no point meets it.
    pub best_within_objective: Option<Tried>,
}

/// The found concurrency as settings of each host.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Operations outstanding over all hosts.
    pub outstanding: u64,
    /// The hosts' shares, the larger one first.
    pub shares: Vec<HostShare>,
    /// Duration of the measurement.
    pub phases: Phases,
    /// Connections per host, if their number was given.
    pub connections: Option<u32>,
}

/// A number of hosts with equal shares.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HostShare {
    /// Number of hosts.
    pub hosts: u64,
    /// Outstanding operations per host.
    pub outstanding: u64,
    /// Workers per host.
    pub workers: u32,
    /// Queue depth per worker.
    pub queue_depth: u32,
    /// The host's share of the target rate, if the concurrency reaches more than that.
    pub rate: Option<OpsPerSec>,
}

/// A measured concurrency.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tried {
    /// Index into `Findings::load_points`.
    pub load_point: usize,
    /// Most outstanding operations.
    pub outstanding: u64,
    /// Operations per second.
    pub rate: Estimate,
    /// Bytes per second; `None` if no operation moved data.
    pub throughput: Option<Estimate>,
    /// Mean response time, in nanoseconds.
    pub response_ns: Estimate,
    /// Number of runs.
    pub runs: u32,
    /// Whether the runs agree.
    pub agrees: bool,
    /// The busiest worker's use of a processor, 0 to 1.
    pub worker_busy: Option<f64>,
}

/// The answer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Outcome {
    /// This concurrency reaches the rate, and no lower one does.
    Reached {
        /// The least concurrency that reaches it.
        enough: Tried,
        /// The next lower one, which does not; `None` if one operation at a time is enough.
        too_little: Option<Tried>,
        /// Noise leaves open which of the two is the least, although both were repeated: the bound
        /// is within the half-width of one of them.
        open: bool,
    },
    /// The rate is reached, but the response time exceeds its objective.
    TooSlow {
        /// The least concurrency that reaches the rate, and therefore its shortest response time.
        enough: Tried,
        /// The response time that exceeds the objective; at the target rate if that was measured.
        response: Nanos,
    },
    /// The rate stops rising below the target, however many operations are outstanding.
    Saturated {
        /// The highest measured rate.
        top: Tried,
        /// The largest measured concurrency.
        last: Tried,
    },
    /// The rate still rose at the largest concurrency allowed.
    Bounded {
        /// The largest measured concurrency.
        top: Tried,
    },
    /// The rate is not reached, and it is unknown whether more concurrency would reach it.
    Inconclusive {
        /// The largest measured concurrency.
        top: Tried,
        /// Why it is unknown; indices are those of the verdict's load points.
        why: Inconclusive,
    },
    /// The search did not end.
    Unfinished,
}

impl Outcome {
    /// The rate is reached, and the objective, if any, is met.
    pub const fn is_reached(&self) -> bool {
        matches!(self, Outcome::Reached { .. })
    }

    /// The least concurrency that reaches the rate, if found.
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

/// Next step of a tuning.
#[derive(Clone, Debug, PartialEq)]
pub enum NextStep {
    /// Make this run.
    Run(Box<Run>),
    /// None: this is the answer; `None` if a run measured nothing.
    Done(Option<Answer>),
}

/// The next step of a tuning after the runs `done`, made from `template`.
///
/// If the found concurrency reaches clearly more than the target rate, the search is followed by
/// another run: the same concurrency, paced at the target rate by constant arrivals. It shows the
/// response times at that rate.
pub fn next_step(reach: &Reach, template: &Run, done: &[&LoadPoint]) -> NextStep {
    let goal = goal(reach, &template.streams[0]);
    let closed: Vec<&&LoadPoint> = done.iter().filter(|point| !is_paced(point)).collect();
    let tried: Vec<Tried> = closed.iter().filter_map(|point| self::tried(0, point)).collect();
    if tried.len() < closed.len() {
        return NextStep::Done(None);
    }
    let answer = match next_on_hosts(&goal, &tried, template.hosts) {
        Next::Measure { outstanding } => {
            return NextStep::Run(Box::new(closed_run(template, outstanding)));
        }
        Next::Done(answer) => answer,
    };
    if let Answer::Reached { enough, .. } = answer
        && closed.len() == done.len()
        && tried.iter().any(|t| t.outstanding == enough && gives_more(&goal, t))
    {
        return NextStep::Run(Box::new(paced_run(template, enough, goal.ops_per_s)));
    }
    NextStep::Done(Some(answer))
}

/// The load point with this many outstanding operations. One operation at a time on each host uses one
/// connection, as the reference for response times.
fn closed_run(template: &Run, outstanding: u64) -> Run {
    let run = template.with_queue_depth(depth(outstanding));
    match outstanding == floor_depth(template) {
        true => Run { connections: run.connections.map(|_| 1), ..run },
        false => run,
    }
}

/// One operation at a time on each host.
pub(super) const fn floor_depth(template: &Run) -> u64 {
    match template.hosts {
        0 => 1,
        hosts => hosts as u64,
    }
}

/// The next step of the search. Hosts have equal loads, so it is the search for one of them, at its share
/// of the rate.
fn next_on_hosts(goal: &Goal, tried: &[Tried], hosts: u32) -> Next {
    let hosts = u64::from(hosts.max(1));
    let share = hosts as f64;
    let of_each = Goal {
        ops_per_s: goal.ops_per_s / share,
        outstanding_max: (goal.outstanding_max / hosts).max(1),
        ..*goal
    };
    let mut points = points(tried);
    for point in &mut points {
        point.outstanding /= hosts;
        point.rate.value /= share;
        point.rate.uncertainty = point.rate.uncertainty.map(|half| half / share);
    }
    let of_all = |outstanding: u64| outstanding * hosts;
    match next(&of_each, &points) {
        Next::Measure { outstanding } => Next::Measure { outstanding: of_all(outstanding) },
        Next::Done(answer) => Next::Done(match answer {
            Answer::Reached { enough, too_little } => {
                Answer::Reached { enough: of_all(enough), too_little: too_little.map(of_all) }
            }
            Answer::Saturated { top } => Answer::Saturated { top: of_all(top) },
            Answer::Bounded { top } => Answer::Bounded { top: of_all(top) },
        }),
    }
}

/// A number that is at most [`Reach::outstanding_max`].
fn depth(outstanding: u64) -> u32 {
    u32::try_from(outstanding).unwrap_or(u32::MAX)
}

/// The findings of a tuning. `load_points` are those of the whole record, `of_tuning` selects those
/// of the tuning. Those with lost hosts do not count.
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
    let operation_bytes = stream.operation_bytes();
    let is_mine = |point: &LoadPoint| of_tuning(point) && point.is_whole();
    let mine = || load_points.iter().enumerate().filter(|(_, point)| is_mine(point));
    let mut tried: Vec<Tried> = mine()
        .filter(|(_, p)| !is_paced(p))
        .filter_map(|(index, p)| self::tried(index, p))
        .collect();
    tried.sort_by_key(|tried| tried.outstanding);
    let paced = mine().filter(|(_, p)| is_paced(p)).find_map(|(index, p)| self::tried(index, p));
    let floor = tried.first().filter(|tried| tried.outstanding == floor_depth(template));
    let objective = reach.response_time_max_ns.map(|ns| ns as f64);
    let within = |tried: &&Tried| objective.is_some_and(|most| tried.response_ns.value <= most);
    let of_tried = |tried: &Tried| {
        verdicts.iter().position(|verdict| verdict.load_points.contains(&tried.load_point))
    };
    let verdict = tried.last().and_then(of_tried);
    let state = verdict.map(|index| verdicts[index].plateau.state);
    let hosts = template.hosts;
    let outcome = outcome(&goal, hosts, &tried, paced.as_ref(), objective, state);
    let settings = outcome.enough().map(|enough| settings(reach, template, &goal, &enough));
    let target_throughput =
        (operation_bytes > 0.0).then(|| reach.required.throughput(operation_bytes));
    let named = verdict.map_or(&[][..], |index| verdicts[index].named());
    let limited = matches!(outcome, Outcome::Saturated { .. })
        && named.first() == Some(&Limit::VolumeThroughput);
    Some(TuneFindings {
        quotas: target_throughput.filter(|_| limited).map(quotas).unwrap_or_default(),
        settings,
        target: target.clone(),
        reach: *reach,
        stream: stream.clone(),
        target_rate: OpsPerSec::new(goal.ops_per_s),
        target_throughput,
        least_rate: OpsPerSec::new(goal.least()),
        arithmetic: floor.map(|floor| {
            let response = Nanos(floor.response_ns.value);
            Arithmetic::new(reach.required, operation_bytes, response)
        }),
        outcome,
        verdict,
        best_within_objective: tried
            .iter()
            .filter(within)
            .max_by(|a, b| a.rate.value.total_cmp(&b.rate.value))
            .copied(),
        tried,
        paced,
    })
}

fn goal(reach: &Reach, stream: &Stream) -> Goal {
    Goal {
        ops_per_s: reach.required.rate(stream.operation_bytes()).get(),
        within: f64::from(reach.within_permille) / 1000.0,
        outstanding_max: u64::from(reach.outstanding_max),
    }
}

/// The search's answer. Whether the rate has stopped rising comes from the verdict on its curve.
fn outcome(
    goal: &Goal,
    hosts: u32,
    tried: &[Tried],
    paced: Option<&Tried>,
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
    let found = match next_on_hosts(goal, tried, hosts) {
        Next::Measure { .. } => None,
        Next::Done(Answer::Reached { enough, too_little }) => of(enough).map(|enough| {
            let response_ns = paced.unwrap_or(&enough).response_ns.value;
            match objective.is_some_and(|most| response_ns > most) {
                true => Outcome::TooSlow { enough, response: Nanos(response_ns) },
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
    let mut of_host = Run { hosts: 1, ..template.clone() };
    for stream in &mut of_host.streams {
        stream.workers = (stream.workers / template.hosts.max(1)).max(1);
    }
    let share = |share: &crate::tune::share::Share| {
        let run = of_host.with_queue_depth(depth(share.each));
        let of_rate = share.each as f64 / total as f64;
        HostShare {
            hosts: share.holders,
            outstanding: share.each,
            workers: run.streams[0].workers,
            queue_depth: run.streams[0].queue_depth,
            rate: paced.then_some(OpsPerSec::new(goal.ops_per_s * of_rate)),
        }
    };
    Settings {
        outstanding: total,
        shares: shares(total, u64::from(reach.hosts)).iter().map(share).collect(),
        phases: template.phases,
        connections: template.connections,
    }
}

/// Whether a concurrency exceeds the target rate by more than the tolerance.
fn gives_more(goal: &Goal, enough: &Tried) -> bool {
    enough.rate.value > goal.ops_per_s * (1.0 + goal.within)
}

/// The run of a concurrency, paced at the target rate.
fn paced_run(template: &Run, outstanding: u64, ops_per_s: f64) -> Run {
    let mut run = template.with_queue_depth(depth(outstanding));
    for stream in &mut run.streams {
        stream.arrival = Arrival::Constant { offered_rate: ops_per_s };
    }
    run.parameters.push(("offered_rate".to_owned(), OpsPerSec::new(ops_per_s).to_string()));
    run
}

fn is_paced(point: &LoadPoint) -> bool {
    point.merged.total.offered_rate.is_some()
}

/// The result of a load point; `None` if it measured nothing.
fn tried(load_point: usize, point: &LoadPoint) -> Option<Tried> {
    let total = &point.merged.total;
    Some(Tried {
        load_point,
        outstanding: point.queue_depth_total,
        rate: total.data.achieved_rate.filter(|rate| rate.value > 0.0)?,
        throughput: total.data.throughput_of_data(),
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A host completes an operation in 10 ms plus 1 ms for each other one that it has outstanding.
    fn measured(outstanding: u64, hosts: u64) -> Tried {
        let response_s = 0.01 + 0.001 * (outstanding / hosts - 1) as f64;
        Tried {
            load_point: 0,
            outstanding,
            rate: Estimate {
                uncertainty: Some(0.0),
                ..Estimate::bare(outstanding as f64 / response_s)
            },
            throughput: None,
            response_ns: Estimate::bare(response_s * 1e9),
            runs: 1,
            agrees: true,
            worker_busy: None,
        }
    }

    /// The concurrencies that the search measures, and its answer.
    fn search(ops_per_s: f64, hosts: u32) -> (Vec<u64>, Answer) {
        let goal = Goal { ops_per_s, within: 0.0, outstanding_max: 1024 };
        let mut tried: Vec<Tried> = Vec::new();
        loop {
            match next_on_hosts(&goal, &tried, hosts) {
                Next::Measure { outstanding } => {
                    tried.push(measured(outstanding, u64::from(hosts)));
                }
                Next::Done(answer) => {
                    return (tried.iter().map(|tried| tried.outstanding).collect(), answer);
                }
            }
            assert!(tried.len() < 20, "the search ends");
        }
    }

    #[test]
    fn hosts_reach_a_rate_with_the_concurrency_that_one_needs_for_its_share() {
        let (alone, one) = search(300.0, 1);
        let (together, three) = search(900.0, 3);
        // 4 operations give 308 per second.
        assert_eq!(one, Answer::Reached { enough: 4, too_little: Some(3) });
        assert_eq!(three, Answer::Reached { enough: 12, too_little: Some(9) });
        let of_each: Vec<u64> = together.iter().map(|outstanding| outstanding / 3).collect();
        assert_eq!(of_each, alone);
        assert!(together.iter().all(|outstanding| outstanding % 3 == 0), "{together:?}");
    }
}
