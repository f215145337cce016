//! Each run over time and each load point over its repeats: was the warm-up long enough, does the
//! window stand still, which intervals and repeats lie apart, do repeats agree.
//!
//! It gathers what [`warm_up`], [`steady`], [`outliers`] and [`agreement`] say. None of it changes
//! a figure.

use metrics::interval::Interval;
use metrics::run_record::RunRecord;
use metrics::warning::{Figure, Warning};
use workload::op::OpKind;
use workload::plan::Stream;

use crate::agreement::{self, Agreement};
use crate::load_point::LoadPoint;
use crate::outliers;
use crate::steady::{self, Rounds};
use crate::warm_up;
use crate::window;

/// What time and repeats show of a load point.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Steadiness {
    /// Each stream of each of its runs.
    pub streams: Vec<StreamSteadiness>,
    /// Its repeats beside each other; `None` below two that measured something.
    pub repeats: Option<RepeatSteadiness>,
}

/// One stream of one run over time.
#[derive(Clone, Debug, PartialEq)]
pub struct StreamSteadiness {
    /// Which repeat, from 0.
    pub repeat: u32,
    /// The stream's name.
    pub stream: String,
    /// Where the transient at the run's beginning ends; `None` where there is too little to tell.
    pub warm_up: Option<WarmUp>,
    /// The achieved rate's steadiness; `None` where the window is too short.
    pub rate: Option<Judgement>,
    /// The mean response time's.
    pub response: Option<Judgement>,
    /// Intervals of the window that lie far from the others, farthest first.
    pub outliers: Vec<OutlierInterval>,
    /// Intervals of the window.
    pub intervals: u32,
}

/// The warm-up as planned beside the one that MSER-5 asks for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WarmUp {
    /// The figure whose transient lasts longer.
    pub figure: Figure,
    /// The planned warm-up, in nanoseconds.
    pub planned_ns: u64,
    /// Where MSER-5 cuts, in nanoseconds from the run's start.
    pub cut_ns: u64,
    /// Intervals to a batch.
    pub batch: u32,
    /// No end of the transient was seen in the first half.
    pub no_end: bool,
    /// By what share the window's mean is wrong because the transient reaches into it; `None` where
    /// it does not, or where noise explains it.
    pub bias: Option<f64>,
}

/// Whether a figure stands still in a window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Judgement {
    /// Change from the window's first third to its last, as a fraction of the mean.
    pub drift: Option<f64>,
    /// The means of both thirds, in the figure's own unit: operations per second or nanoseconds.
    pub thirds: Option<[f64; 2]>,
    /// That change is too large, and no noise.
    pub drifts: bool,
    /// The window's five rounds; `None` below ten intervals.
    pub rounds: Option<Rounds>,
}

impl Judgement {
    /// Whether neither criterion says that the figure changes.
    pub fn is_steady(&self) -> bool {
        !self.drifts && self.rounds.is_none_or(|rounds| !rounds.differ())
    }
}

/// An interval that lies far from the others of its window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OutlierInterval {
    /// Its figure that lies apart.
    pub figure: Figure,
    /// Its beginning, in nanoseconds from the run's start.
    pub start_ns: u64,
    /// Its value: operations per second, or nanoseconds.
    pub value: f64,
    /// The median of the window's intervals.
    pub median: f64,
}

/// The repeats of a load point beside each other.
#[derive(Clone, Debug, PartialEq)]
pub struct RepeatSteadiness {
    /// Numbers of the repeats that are compared, from 0; other places below are places in here.
    pub repeats: Vec<u32>,
    /// Their achieved rates, in operations per second.
    pub rates: Vec<f64>,
    /// Whether they differ by more than their intervals explain; `None` where a repeat has too few
    /// intervals to tell.
    pub agreement: Option<Agreement>,
    /// The repeat that lies too far from the others, of five and more.
    pub outlier: Option<usize>,
    /// The last five as SNIA's rounds, by achieved rate.
    pub rounds: Option<Rounds>,
}

/// Gathers what time and repeats show of a load point; `records` are its runs'.
pub(crate) fn steadiness(point: &LoadPoint, records: &[&RunRecord]) -> Steadiness {
    let streams = records.iter().flat_map(|record| of_run(record));
    Steadiness { streams: streams.collect(), repeats: of_repeats(point) }
}

/// Each stream of one run, in the plan's order.
pub(crate) fn of_run(record: &RunRecord) -> Vec<StreamSteadiness> {
    let all = window::with_warm_up(record);
    let measured = window::measured(record);
    let streams = record.run.streams.iter().enumerate();
    let of_stream = |(place, stream): (usize, &Stream)| {
        let (whole, inside) = (Figures::of(&all, place), Figures::of(&measured, place));
        StreamSteadiness {
            repeat: record.run.repeat,
            stream: stream.name.clone(),
            warm_up: warm_up_of(record.run.phases.warm_up_ns, &whole, &inside),
            rate: judgement(&inside.completed, &inside.seconds),
            response: judgement(&inside.response_ns, &inside.completed),
            outliers: outliers_of(&inside),
            intervals: inside.start_ns.len() as u32,
        }
    };
    streams.map(of_stream).collect()
}

/// What is judged of each interval, all kinds of operation together.
struct Figures {
    start_ns: Vec<u64>,
    seconds: Vec<f64>,
    completed: Vec<f64>,
    response_ns: Vec<f64>,
}

impl Figures {
    fn of(intervals: &[&Interval], stream: usize) -> Figures {
        let sum = |interval: &Interval, of: fn(&metrics::interval::KindInterval) -> f64| {
            let kinds = interval.streams.get(stream).map(|stream| &stream.kinds);
            kinds.map_or(0.0, |kinds| OpKind::ALL.iter().map(|k| of(&kinds[*k as usize])).sum())
        };
        Figures {
            start_ns: intervals.iter().map(|i| i.start_ns).collect(),
            seconds: intervals.iter().map(|i| (i.end_ns - i.start_ns) as f64 / 1e9).collect(),
            completed: intervals.iter().map(|i| sum(i, |k| k.completed as f64)).collect(),
            response_ns: intervals.iter().map(|i| sum(i, |k| k.response.sum_ns as f64)).collect(),
        }
    }

    /// `(place, value)` of a figure, where the interval has one.
    fn values(&self, figure: Figure) -> Vec<(usize, f64)> {
        let (above, below) = match figure {
            Figure::AchievedRate => (&self.completed, &self.seconds),
            Figure::ResponseTime => (&self.response_ns, &self.completed),
        };
        let pairs = above.iter().zip(below).enumerate();
        pairs.filter(|(_, (_, b))| **b > 0.0).map(|(place, (a, b))| (place, a / b)).collect()
    }
}

impl StreamSteadiness {
    /// What a reader of its figures must know; in an `open` loop the rate is the offered one, so
    /// that a change of the target shows in the times.
    pub(crate) fn warnings(&self, open: bool) -> Vec<Warning> {
        let judged = [(Figure::AchievedRate, self.rate), (Figure::ResponseTime, self.response)];
        let judged = judged.into_iter().filter(|(figure, _)| open || *figure == FIGURES[0]);
        let judged: Vec<(Figure, Judgement)> =
            judged.filter_map(|(figure, judgement)| Some((figure, judgement?))).collect();
        let drifts = judged.iter().filter(|(_, judgement)| judgement.drifts);
        let drift = drifts.filter_map(|(figure, judgement)| {
            let (drift, thirds) = (judgement.drift?, judgement.thirds);
            Some(Warning::NotSteady { figure: *figure, drift, thirds })
        });
        let rounds = judged.iter().filter_map(|(figure, judgement)| {
            let Rounds { excursion, slope, .. } = judgement.rounds.filter(Rounds::differ)?;
            Some(Warning::RoundsDiffer { figure: *figure, excursion, slope })
        });
        let mut warnings: Vec<Warning> = drift.chain(rounds).take(1).collect();
        warnings.extend(self.warm_up.and_then(|warm_up| {
            let WarmUp { figure, planned_ns, cut_ns, no_end, bias, .. } = warm_up;
            Some(Warning::WarmUpTooShort { figure, planned_ns, cut_ns, no_end, bias: bias? })
        }));
        warnings.extend(self.outliers.first().map(|first| Warning::OutlierIntervals {
            outliers: self.outliers.len() as u32,
            intervals: self.intervals,
            figure: first.figure,
            start_ns: first.start_ns,
            value: first.value,
            median: first.median,
        }));
        warnings
    }
}

impl RepeatSteadiness {
    /// What a reader of the load point must know: that repeats disagree, and which one lies apart.
    /// What is less than 5 % is said by the uncertainty alone.
    pub(crate) fn warnings(&self) -> Vec<Warning> {
        let mut warnings = Vec::new();
        let most = self.rates.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let least = self.rates.iter().copied().fold(f64::INFINITY, f64::min);
        let spread = (most - least) * self.rates.len() as f64 / self.rates.iter().sum::<f64>();
        let unexplained = match self.agreement {
            Some(agreement) => agreement.disagree(),
            // Nothing is known of what a repeat's intervals explain: the difference speaks alone.
            None => true,
        };
        if spread > SPREAD_MAX && unexplained {
            let chance = self.agreement.map(|agreement| agreement.chance);
            let differs = self.agreement.and_then(|agreement| agreement.differs);
            let repeat = differs.map(|place| self.repeats[place]);
            warnings.push(Warning::RepeatsDisagree { spread, chance, repeat });
        }
        if let Some(place) = self.outlier {
            let others = self.rates.iter().enumerate().filter(|(other, _)| *other != place);
            let others_mean =
                others.map(|(_, rate)| rate).sum::<f64>() / (self.rates.len() - 1) as f64;
            let (repeat, rate) = (self.repeats[place], self.rates[place]);
            warnings.push(Warning::OutlierRepeat { repeat, rate, others_mean });
        }
        warnings
    }
}

/// Repeats that differ less than this are called equal whatever their uncertainty.
const SPREAD_MAX: f64 = 0.05;
const FIGURES: [Figure; 2] = [Figure::AchievedRate, Figure::ResponseTime];

fn warm_up_of(planned_ns: u64, whole: &Figures, inside: &Figures) -> Option<WarmUp> {
    let of = |figure: Figure| {
        let values = whole.values(figure);
        let plain: Vec<f64> = values.iter().map(|(_, value)| *value).collect();
        let cut = warm_up::mser(&plain)?;
        let cut_ns = match cut.values {
            0 => 0,
            _ => whole.start_ns[values[cut.values].0],
        };
        let window = inside.values(figure);
        let head = window.iter().filter(|(place, _)| inside.start_ns[*place] < cut_ns).count();
        let plain: Vec<f64> = window.iter().map(|(_, value)| *value).collect();
        let bias = warm_up::bias(&plain, head);
        let batch = cut.batch as u32;
        Some(WarmUp { figure, planned_ns, cut_ns, batch, no_end: cut.no_end, bias })
    };
    // What biases a figure is worse than what only lasts long.
    let size = |w: &WarmUp| (w.bias.map_or(0.0, f64::abs), w.cut_ns);
    FIGURES.into_iter().filter_map(of).reduce(|a, b| match size(&b) > size(&a) {
        true => b,
        false => a,
    })
}

fn judgement(numerators: &[f64], denominators: &[f64]) -> Option<Judgement> {
    let pairs = numerators.iter().zip(denominators).filter(|(_, b)| **b > 0.0);
    let values: Vec<f64> = pairs.map(|(a, b)| a / b).collect();
    let drift = steady::drift(&values);
    let thirds = steady::thirds_means(&values);
    let rounds = steady::rounds(numerators, denominators);
    let drifts = steady::unsteady(&values).is_some();
    (drift.is_some() || rounds.is_some()).then_some(Judgement { drift, thirds, drifts, rounds })
}

fn outliers_of(inside: &Figures) -> Vec<OutlierInterval> {
    let of = |figure: Figure| {
        let values = inside.values(figure);
        let plain: Vec<f64> = values.iter().map(|(_, value)| *value).collect();
        let found = outliers::of_intervals(&plain);
        found.into_iter().flat_map(move |found| {
            let median = found.median;
            let values = values.clone();
            found.places.into_iter().map(move |place| (values[place], median))
        })
    };
    let mut found: Vec<OutlierInterval> = Vec::new();
    for figure in FIGURES {
        for ((place, value), median) in of(figure) {
            let start_ns = inside.start_ns[place];
            // One stall shows in both figures; it is named once.
            if found.iter().all(|known| known.start_ns != start_ns) {
                found.push(OutlierInterval { figure, start_ns, value, median });
            }
        }
    }
    found
}

fn of_repeats(point: &LoadPoint) -> Option<RepeatSteadiness> {
    let known = point.runs.iter().filter(|run| run.summary.intervals > 0);
    let known = known.filter_map(|run| Some((run.repeat, run.summary.total.data.achieved_rate?)));
    let (repeats, estimates): (Vec<u32>, Vec<_>) = known.unzip();
    if repeats.len() < 2 {
        return None;
    }
    let rates: Vec<f64> = estimates.iter().map(|estimate| estimate.value).collect();
    Some(RepeatSteadiness {
        agreement: agreement::agreement(&estimates),
        outlier: outliers::of_repeats(&rates),
        rounds: steady::rounds_of_repeats(&rates),
        repeats,
        rates,
    })
}
