//! The verdict on each curve: whether it is saturated, and its bottleneck. All outputs derive from
//! this one value per curve.
//!
//! [`crate::curve::plateau`] decides whether throughput has stopped rising. If so, each hypothesis
//! ([`hypothesis`]) predicts how the ceiling moves when connections, transfer size or direction
//! change. [`likelihood`] compares the predictions with all other series by Bayes' rule, together
//! with known limits ([`known`]) and observations of processors and slots. [`calibration`] turns
//! the weights into calibrated probabilities. One cause is named from 90 %, or several that the
//! data cannot distinguish from 95 % together. Otherwise the verdict is "not enough data", with the
//! experiment that would help most ([`experiment`]).
//!
//! Not for: sentences, which `report` writes.
//!
//! Sources: Lazowska, Zahorjan, Graham and Sevcik, "Quantitative System Performance", 1984, chapter
//! 5 (bounds on throughput and response time); Kass and Raftery, "Bayes Factors", J. American
//! Statistical Association 90, 1995; Guo, Pleiss, Sun and Weinberger, "On Calibration of Modern
//! Neural Networks", ICML 2017 (temperature scaling). `docs/method.md` has each number.

mod calibration;
pub mod experiment;
pub mod explain;
mod hypothesis;
pub mod known;
mod likelihood;
mod series;

pub use known::{Known, KnownLimit};
pub use workload::limit::Limit;

use crate::curve::Outline;
use crate::curve::plateau::{Inconclusive, Plateau, State};
use crate::load_point::LoadPoint;
use crate::workload_signature::WorkloadSignature;

use experiment::Experiment;
use hypothesis::HYPOTHESES;
use known::Origin;
use likelihood::{Observation, PerHypothesis};
use series::Series;

/// Below this probability no cause is named.
pub const NAME_MIN: f64 = 0.90;
/// Several causes are named only from this probability together, because readers take a list as
/// complete.
pub const NAME_SEVERAL_MIN: f64 = 0.95;
/// Most causes named together; one more if all of them bound bytes per second, or all bound
/// requests.
pub const NAMED_MAX: usize = 3;
/// Candidates less probable than this are not listed.
const CANDIDATE_MIN: f64 = 0.02;
/// Probability of a cause that follows from a limit that this program set.
const CERTAIN: f64 = 0.99;

/// The verdict on one curve.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// The workload, with the parameters that are constant along the curve.
    pub name: String,
    /// Its load points, ascending by load, as indices in `Findings::load_points`.
    pub load_points: Vec<usize>,
    /// Whether throughput has stopped rising, and where; indices are those of `load_points`.
    pub plateau: Plateau,
    /// The answer.
    pub answer: Answer,
    /// Possible causes, most probable first; empty if the curve is not saturated. The rest to 1 is
    /// the probability of a cause that is not among the hypotheses.
    pub candidates: Vec<Candidate>,
    /// Observations, the strongest support for the answer first.
    pub evidence: Vec<Observed>,
    /// The experiment that would help most, if any.
    pub next: Option<Experiment>,
    /// Connections, transfer size and direction of the load.
    pub signature: WorkloadSignature,
    /// Bytes per operation at the highest rate.
    bytes_per_op: f64,
    /// Whether it was measured only as evidence about another curve.
    pub is_evidence: bool,
}

/// The bottleneck, as far as it is known.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// This limit, or one of several that the data cannot distinguish.
    Limited {
        /// One to four limits, most probable first; see [`NAMED_MAX`].
        by: Vec<Limit>,
        /// Their total probability, at least [`NAME_MIN`], or [`NAME_SEVERAL_MIN`] for several.
        probability: f64,
    },
    /// Not saturated: no limit was reached.
    NotReached,
    /// Not enough data.
    NotEnoughData(Gap),
}

/// Why there is not enough data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gap {
    /// It is unknown whether throughput has stopped rising.
    End(Inconclusive),
    /// Throughput has stopped rising, and several causes explain it.
    Undecided,
    /// A cache of this host answered, so the target was not measured.
    Cached,
}

/// A possible cause.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Candidate {
    /// The limit.
    pub limit: Limit,
    /// Its probability, 0 to 1.
    pub probability: f64,
}

/// An observation and its support for the answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Observed {
    /// The observation.
    pub evidence: Evidence,
    /// Load points that show it, as indices in `Findings::load_points`.
    pub load_points: Vec<usize>,
    /// Logarithm of the ratio of its likelihoods under the answer and under everything else; 0
    /// without an answer.
    pub strength: f64,
}

/// Observations.
#[derive(Clone, Debug, PartialEq)]
pub enum Evidence {
    /// Use of this host's processors.
    HostProcessors {
        /// Share of time that the busiest worker ran or waited to run, 0 to 1.
        busy: f64,
        /// Processors used by other processes; `None` if unknown.
        others: Option<f64>,
    },
    /// Use of the processor that serves the emulated volume.
    ServiceProcessor {
        /// 0 to 1.
        busy: f64,
    },
    /// Outstanding calls per connection and the client's slots.
    ClientSlots {
        /// Mean calls outstanding.
        outstanding: f64,
        /// Slots.
        slots: f64,
        /// Whether all were in use.
        full: bool,
    },
    /// Requests in the server, by Little's law at the unloaded response time.
    ServerSlots {
        /// Per connection.
        per_connection: f64,
        /// In total.
        total: f64,
    },
    /// A known or given limit.
    Known {
        /// The limit.
        limit: Limit,
        /// The measured ceiling in its unit: bytes or operations per second, or slots.
        measured: f64,
        /// The known amount.
        known: f64,
        /// Its source.
        origin: Origin,
    },
    /// How evenly operations complete.
    Evenness {
        /// Variance divided by mean of completions per interval; 1 for random completions.
        dispersion: f64,
    },
    /// The shape of the knee.
    Knee {
        /// Relative shortfall of the rate near the knee from both bounds.
        shortfall: f64,
    },
    /// Another series, measured under other conditions.
    Compared {
        /// Its name.
        with: String,
        /// What differs.
        differences: Vec<Difference>,
        /// Ratio of its operations per second to those of this series.
        operations: f64,
        /// Ratio of its bytes per second.
        bytes: f64,
        /// Whether it is saturated; otherwise both ratios are lower bounds.
        reached: bool,
    },
}

/// A difference between two series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Difference {
    /// Connections.
    Connections {
        /// Here.
        from: u32,
        /// There.
        to: u32,
    },
    /// Mean transfer size, in bytes.
    TransferSize {
        /// Here.
        from: f64,
        /// There.
        to: f64,
    },
    /// Share of reads.
    ReadShare {
        /// Here.
        from: f64,
        /// There.
        to: f64,
    },
    /// Sequential or random access.
    Order,
    /// Workers.
    Workers {
        /// Here.
        from: u32,
        /// There.
        to: u32,
    },
    /// Volumes.
    Volumes {
        /// Here.
        from: u32,
        /// There.
        to: u32,
    },
    /// Hosts.
    Hosts {
        /// Here.
        from: u32,
        /// There.
        to: u32,
    },
}

impl Verdict {
    /// The named limits, if any.
    pub fn named(&self) -> &[Limit] {
        match &self.answer {
            Answer::Limited { by, .. } => by,
            Answer::NotReached | Answer::NotEnoughData(_) => &[],
        }
    }

    /// The load point with the highest rate, as an index in `Findings::load_points`.
    pub fn top(&self) -> usize {
        self.load_points[self.plateau.top]
    }

    /// Bytes per operation at the highest rate: turns a ceiling in operations into one in bytes.
    pub const fn bytes_per_op(&self) -> f64 {
        self.bytes_per_op
    }

    /// A given limit that the measurement contradicts: the limit, the measured and the given
    /// amount.
    pub fn contradicted(&self) -> Option<(Limit, f64, f64)> {
        self.evidence.iter().find_map(|one| match &one.evidence {
            Evidence::Known { limit, measured, known, .. }
                if *measured > known * (1.0 + CONTRADICTED) =>
            {
                Some((*limit, *measured, *known))
            }
            _ => None,
        })
    }
}

/// A measured ceiling above a given limit by more than this share contradicts it.
const CONTRADICTED: f64 = 0.05;

/// The verdicts on all curves, in the order of `outlines`.
///
/// * `is_cached`: whether a client cache answered at a load point
/// * `is_evidence`: whether a load point was measured only as evidence about another curve
pub(crate) fn verdicts(
    outlines: &[Outline],
    load_points: &[LoadPoint],
    known: &Known,
    is_cached: impl Fn(usize) -> bool,
    is_evidence: impl Fn(&LoadPoint) -> bool,
) -> Vec<Verdict> {
    let all = series::series(outlines, load_points);
    let verdict = |one: &Series| {
        let cached = one.load_points.iter().any(|point| is_cached(*point));
        let evidence = is_evidence(&load_points[one.top_load_point()]);
        Verdict { is_evidence: evidence, ..judge(one, &all, known, cached) }
    };
    all.iter().map(verdict).collect()
}

/// Operations per second at a certain limit, for the operations and the volumes of a load point; `None`
/// if these move no data.
pub(crate) fn certain(known: &Known) -> impl Fn(&LoadPoint) -> Option<f64> {
    move |point| {
        let of_all = known.certain_throughput(&point.signature)?;
        let bytes = point.signature.bytes_per_op();
        (bytes > 0.0).then(|| of_all / bytes)
    }
}

fn judge(one: &Series, all: &[Series], known: &Known, cached: bool) -> Verdict {
    let weighed = Weighed::of(one, all, known);
    let answer = match one.plateau.state {
        _ if cached => Answer::NotEnoughData(Gap::Cached),
        State::NotReached => Answer::NotReached,
        State::Inconclusive(why) => Answer::NotEnoughData(Gap::End(why)),
        // A target that does nothing can only be limited by this host.
        State::Reached(_) if known.is_null() => {
            Answer::Limited { by: vec![Limit::ClientCpu], probability: CERTAIN }
        }
        State::Reached(_) => weighed.answer(one),
    };
    let candidates = match (&answer, one.is_reached()) {
        (Answer::NotEnoughData(Gap::Cached), _) | (_, false) => Vec::new(),
        _ => weighed.candidates.clone(),
    };
    let named: &[Limit] = match &answer {
        Answer::Limited { by, .. } => by,
        _ => &[],
    };
    let next = match answer {
        Answer::NotEnoughData(Gap::Cached) | Answer::NotReached => None,
        _ => experiment::next(one, &weighed, known),
    };
    Verdict {
        name: one.name.clone(),
        load_points: one.load_points.clone(),
        plateau: one.plateau,
        evidence: weighed.evidence(named),
        answer,
        candidates,
        next,
        signature: one.signature.clone(),
        bytes_per_op: one.top.bytes_per_op,
        is_evidence: false,
    }
}

/// The hypotheses about one series, weighed by all observations.
pub(crate) struct Weighed {
    /// Calibrated probability of each hypothesis; the last is an unknown cause.
    pub(crate) posterior: PerHypothesis,
    /// By limit, most probable first.
    pub(crate) candidates: Vec<Candidate>,
    observations: Vec<Observation>,
}

impl Weighed {
    pub(crate) fn of(one: &Series, all: &[Series], known: &Known) -> Weighed {
        let observations = likelihood::observations(one, all, known);
        let posterior = calibration::posterior(&observations, known);
        let mut candidates: Vec<Candidate> = Limit::ALL
            .into_iter()
            .map(|limit| Candidate { limit, probability: of_limit(&posterior, limit) })
            .filter(|candidate| candidate.probability >= CANDIDATE_MIN)
            .collect();
        candidates.sort_by(|a, b| b.probability.total_cmp(&a.probability));
        Weighed { posterior, candidates, observations }
    }

    pub(crate) fn probability(&self, limit: Limit) -> f64 {
        of_limit(&self.posterior, limit)
    }

    /// The fewest limits that are probable enough.
    fn answer(&self, one: &Series) -> Answer {
        if one.is_at_certain_limit() {
            let by = vec![Limit::VolumeThroughput];
            return Answer::Limited { by, probability: CERTAIN };
        }
        let mut probability = 0.0;
        for (index, candidate) in self.candidates.iter().take(NAMED_MAX + 1).enumerate() {
            probability += candidate.probability;
            let least = if index == 0 { NAME_MIN } else { NAME_SEVERAL_MIN };
            if probability >= least {
                let by: Vec<Limit> = self.candidates[..=index].iter().map(|c| c.limit).collect();
                let about_requests = by[0].is_about_requests();
                let alike = by.iter().all(|limit| limit.is_about_requests() == about_requests);
                if by.len() > NAMED_MAX && !alike {
                    break;
                }
                return Answer::Limited { by, probability };
            }
        }
        Answer::NotEnoughData(Gap::Undecided)
    }

    /// The load point of the comparison that supports `named` most, as an index in
    /// `Findings::load_points`.
    pub(crate) fn decisive(&self, named: &[Limit]) -> Option<usize> {
        let compared = |one: &&Observation| matches!(one.evidence, Evidence::Compared { .. });
        let strength = |one: &Observation| self.strength(one, named);
        let strongest = self
            .observations
            .iter()
            .filter(compared)
            .max_by(|a, b| strength(a).total_cmp(&strength(b)))?;
        strongest.load_points.last().copied()
    }

    /// The observations, strongest support for `named` first.
    fn evidence(&self, named: &[Limit]) -> Vec<Observed> {
        let observed = |observation: &Observation| Observed {
            evidence: observation.evidence.clone(),
            load_points: observation.load_points.clone(),
            strength: self.strength(observation, named),
        };
        let mut all: Vec<Observed> = self.observations.iter().map(observed).collect();
        all.sort_by(|a, b| b.strength.total_cmp(&a.strength));
        all
    }

    /// Logarithm of the ratio of the likelihoods under `named` and under all others, weighted by
    /// prior probabilities.
    fn strength(&self, observation: &Observation, named: &[Limit]) -> f64 {
        if named.is_empty() {
            return 0.0;
        }
        let (mut these, mut others) = ((0.0, 0.0), (0.0, 0.0));
        for (hypothesis, likelihood) in HYPOTHESES.iter().zip(&observation.likelihoods) {
            let sum = if named.contains(&hypothesis.limit) { &mut these } else { &mut others };
            sum.0 += hypothesis.prior * likelihood;
            sum.1 += hypothesis.prior;
        }
        let mean = |(sum, weight): (f64, f64)| (sum / f64::max(weight, 1e-9)).max(1e-12);
        (mean(these) / mean(others)).ln()
    }
}

/// Probability of a limit: the sum over its hypotheses.
fn of_limit(posterior: &PerHypothesis, limit: Limit) -> f64 {
    let mine = HYPOTHESES.iter().zip(posterior).filter(|(one, _)| one.limit == limit);
    mine.map(|(_, probability)| probability).sum()
}
