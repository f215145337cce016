//! The verdict on each curve: whether its end was reached, and what limits it. One value per
//! curve; every sentence, mark and field that any output has about it is made from that value.
//!
//! [`crate::curve::plateau`] says whether throughput has stopped rising. Only then is a cause
//! sought: every hypothesis ([`hypothesis`]) predicts how the ceiling moves when something else
//! changes (connections, transfer size, direction); [`likelihood`] weighs the predictions against
//! every other series by Bayes' rule, together with what is known beforehand ([`known`]) and what
//! was seen of processors and slots; [`calibration`] turns the weights into probabilities that are
//! right as often as they say. One cause is named if it has a probability of at least 90 %, or
//! several that the data cannot tell apart if they have 95 % together; otherwise the verdict is
//! "not enough data", with the experiment that would tell ([`experiment`]).
//!
//! Not for: words; `report` has them.
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
mod limit;
mod series;

pub use known::{Known, KnownLimit};
pub use limit::Limit;

use crate::curve::Outline;
use crate::curve::plateau::{Inconclusive, Plateau, State};
use crate::load_point::LoadPoint;
use crate::work::Work;

use experiment::Experiment;
use hypothesis::HYPOTHESES;
use likelihood::{Observation, PerHypothesis};
use series::Series;

/// Below this probability no cause is named.
pub const NAME_MIN: f64 = 0.90;
/// Several causes are named only if they have this probability together: who reads a list takes it
/// for complete.
pub const NAME_SEVERAL_MIN: f64 = 0.95;
/// At most so many causes are named together, or one more if all of them are about bytes per second
/// or all about requests.
pub const NAMED_MAX: usize = 3;
/// Candidates less probable than this are not listed.
const CANDIDATE_MIN: f64 = 0.02;
/// Probability of a cause that follows from what this program set itself.
const CERTAIN: f64 = 0.99;

/// What is known of one curve's end.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// What it is about: the workload, with the parameters that are equal all along the curve.
    pub name: String,
    /// Its load points, ascending by load, as indices in `Findings::load_points`.
    pub load_points: Vec<usize>,
    /// Whether throughput has stopped rising, and where; indices are those of `load_points`.
    pub plateau: Plateau,
    /// The answer.
    pub answer: Answer,
    /// What could limit it, the most probable first; empty where the end was not reached. What is
    /// missing to 1 is something that is not among the hypotheses.
    pub candidates: Vec<Candidate>,
    /// What was observed, the strongest support for the answer first.
    pub evidence: Vec<Observed>,
    /// The experiment that would tell more, where there is one.
    pub next: Option<Experiment>,
    /// Connections, transfer size, direction: what was done to the target.
    pub work: Work,
    /// Bytes per operation at the highest rate.
    bytes_per_op: f64,
    /// It was measured only to tell something of another curve.
    pub is_evidence: bool,
}

/// The answer to "what limits it?".
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// This limit, or one of these that the data cannot tell apart.
    Limited {
        /// One to four limits, the most probable first; see [`NAMED_MAX`].
        by: Vec<Limit>,
        /// Their probability together, at least [`NAME_MIN`], or [`NAME_SEVERAL_MIN`] of several.
        probability: f64,
    },
    /// The end was not reached: no limit was in force.
    NotReached,
    /// Not enough data.
    NotEnoughData(Gap),
}

/// What is missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gap {
    /// Whether throughput has stopped rising is not known.
    End(Inconclusive),
    /// It has, and several causes explain that.
    Undecided,
    /// A cache of this host answered, so the target was not measured.
    Cached,
}

/// A possible cause.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Candidate {
    /// Which.
    pub limit: Limit,
    /// Its probability, 0 to 1.
    pub probability: f64,
}

/// An observation, and how strongly it speaks for the answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Observed {
    /// What was observed.
    pub evidence: Evidence,
    /// Load points that show it, as indices in `Findings::load_points`.
    pub load_points: Vec<usize>,
    /// Logarithm of its likelihood under the answer over that under everything else; 0 where there
    /// is no answer.
    pub strength: f64,
}

/// Something that was observed.
#[derive(Clone, Debug, PartialEq)]
pub enum Evidence {
    /// How near this host's processors were to their end.
    HostProcessors {
        /// Share of the time that the busiest worker ran or waited to run, 0 to 1.
        busy: f64,
        /// Processors that other processes of the host used; `None` where that is not known.
        others: Option<f64>,
    },
    /// How busy the processor of this program's own service was.
    ServiceProcessor {
        /// 0 to 1.
        busy: f64,
    },
    /// Calls outstanding on each connection, and the client's slots for them.
    ClientSlots {
        /// Mean calls outstanding.
        outstanding: f64,
        /// Slots.
        slots: f64,
        /// Whether they were full.
        full: bool,
    },
    /// Requests in the server at a time, by Little's law with the time of an unloaded operation.
    ServerSlots {
        /// On each connection.
        per_connection: f64,
        /// In all.
        total: f64,
    },
    /// A limit that is known or said to be known.
    Known {
        /// Which.
        limit: Limit,
        /// The ceiling in its unit: bytes or operations per second, or slots.
        measured: f64,
        /// The known amount.
        known: f64,
        /// Where that comes from.
        origin: String,
    },
    /// How evenly operations complete.
    Evenness {
        /// Variance over mean of completions in an interval: 1 is chance.
        dispersion: f64,
    },
    /// The shape of the knee.
    Knee {
        /// By what share the rate near the knee falls short of both bounds.
        shortfall: f64,
    },
    /// Another series, measured under other circumstances.
    Compared {
        /// Its name.
        with: String,
        /// What differs.
        differences: Vec<Difference>,
        /// Its operations per second over those of this series.
        operations: f64,
        /// The same of bytes per second.
        bytes: f64,
        /// Whether its own end was reached; otherwise both ratios are at least this.
        reached: bool,
    },
}

/// What differs between two series.
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
}

impl Verdict {
    /// The limits that are named; empty where none is.
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

    /// A limit that the user gave and the measurements contradict: the ceiling is another one, or
    /// lies above it.
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

/// A ceiling above a known limit by more than this share contradicts it.
const CONTRADICTED: f64 = 0.05;

/// The verdict on every curve, in the order of `outlines`.
///
/// * `is_cached`: whether a cache of this host answered at a load point
/// * `is_evidence`: whether a load point was measured only to tell something of another curve
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

/// Operations per second at a limit that is known for certain, for the work of a load point.
pub(crate) fn certain(known: &Known) -> impl Fn(&LoadPoint) -> Option<f64> {
    let volume = known.certain_volume();
    move |point| volume.map(|limit| limit / point.work.transfer_bytes.max(1.0))
}

fn judge(one: &Series, all: &[Series], known: &Known, cached: bool) -> Verdict {
    let weighed = Weighed::of(one, all, known);
    let answer = match one.plateau.state {
        _ if cached => Answer::NotEnoughData(Gap::Cached),
        State::NotReached => Answer::NotReached,
        State::Inconclusive(why) => Answer::NotEnoughData(Gap::End(why)),
        // Of nothing only this host can be the limit.
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
        work: one.work.clone(),
        bytes_per_op: one.top.bytes_per_op,
        is_evidence: false,
    }
}

/// The hypotheses about one series, weighed against everything that was observed.
pub(crate) struct Weighed {
    /// Calibrated probability of each hypothesis, the last of something else.
    pub(crate) posterior: PerHypothesis,
    /// By limit, the most probable first.
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

    /// Probability of a limit.
    pub(crate) fn probability(&self, limit: Limit) -> f64 {
        of_limit(&self.posterior, limit)
    }

    /// The fewest limits that are probable enough together.
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

    /// The load point of the comparison that speaks most for `named`, as an index in
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

    /// The observations, those first that speak most for `named`.
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

    /// Logarithm of the likelihood under `named` over that under all others, both weighted by
    /// their prior probabilities.
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

/// Probability of a limit: of all its hypotheses together.
fn of_limit(posterior: &PerHypothesis, limit: Limit) -> f64 {
    let mine = HYPOTHESES.iter().zip(posterior).filter(|(one, _)| one.limit == limit);
    mine.map(|(_, probability)| probability).sum()
}
