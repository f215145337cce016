//! Each run over time, and the repeats of each load point: whether the warm-up was long enough,
//! whether the figures are steady, which intervals and repeats are outliers, and whether the
//! repeats agree.
//!
//! Collects the results of [`warm_up`], [`steady`], [`outliers`] and [`agreement`]. They change no
//! figure.

use metrics::interval::Interval;
use metrics::run_record::RunRecord;
use metrics::warning::{Figure, Warning};
use workload::arrival::Arrival;
use workload::plan::Stream;

use crate::agreement::{self, Agreement};
use crate::load_point::LoadPoint;
use crate::outliers;
use crate::run_measured;
use crate::steady::{self, Rounds};
use crate::warm_up;
use crate::window;

/// Steadiness of a load point over time and over its repeats.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Steadiness {
    /// Each stream of each of its runs.
    pub streams: Vec<StreamSteadiness>,
    /// Comparison of its repeats; `None` with fewer than two repeats that measured something.
    pub repeats: Option<RepeatSteadiness>,
}

/// One stream of one run over time.
#[derive(Clone, Debug, PartialEq)]
pub struct StreamSteadiness {
    /// Number of the repeat, from 0.
    pub repeat: u32,
    /// The stream's name.
    pub stream: String,
    /// End of the transient at the start of the run; `None` with too few intervals.
    pub warm_up: Option<WarmUp>,
    /// Steadiness of the achieved rate; `None` if the window is too short.
    pub rate: Option<Judgement>,
    /// Steadiness of the mean response time; `None` if the window is too short.
    pub response: Option<Judgement>,
    /// Outliers among the window's intervals, farthest first.
    pub outliers: Vec<OutlierInterval>,
    /// Number of intervals in the window.
    pub intervals: u32,
}

/// The planned warm-up and the one that MSER-5 requires.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WarmUp {
    /// The figure whose transient lasts longer.
    pub figure: Figure,
    /// Planned warm-up, in nanoseconds.
    pub planned_ns: u64,
    /// Where MSER-5 cuts, in nanoseconds from the run's start.
    pub cut_ns: u64,
    /// Intervals per batch.
    pub batch: u32,
    /// MSER-5 found no end of the transient in the first half.
    pub no_end: bool,
    /// Relative error of the window's mean, because the transient extends into the window; `None`
    /// if it does not, or if noise explains the error.
    pub bias: Option<f64>,
}

/// Whether a figure is steady in a window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Judgement {
    /// Change from the window's first third to its last, as a fraction of the mean.
    pub drift: Option<f64>,
    /// The means of both thirds, in the figure's own unit: operations per second or nanoseconds.
    pub thirds: Option<[f64; 2]>,
    /// The change exceeds the tolerance and is more than noise.
    pub drifts: bool,
    /// The window's five rounds; `None` with fewer than ten intervals.
    pub rounds: Option<Rounds>,
}

impl Judgement {
    /// Whether the figure is steady by both criteria.
    pub fn is_steady(&self) -> bool {
        !self.drifts && self.rounds.is_none_or(|rounds| !rounds.differ())
    }
}

/// An interval that is an outlier within its window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OutlierInterval {
    /// The figure that is an outlier.
    pub figure: Figure,
    /// Start of the interval, in nanoseconds from the start of the run.
    pub start_ns: u64,
    /// Its value: operations per second, or nanoseconds.
    pub value: f64,
    /// Median of the window's intervals.
    pub median: f64,
}

/// Comparison of a load point's repeats.
#[derive(Clone, Debug, PartialEq)]
pub struct RepeatSteadiness {
    /// Numbers of the compared repeats, from 0. The other fields contain indices into this list.
    pub repeats: Vec<u32>,
    /// Their achieved rates, in operations per second.
    pub rates: Vec<f64>,
    /// Whether they differ by more than their intervals explain; `None` if a repeat has too few
    /// intervals.
    pub agreement: Option<Agreement>,
    /// The outlier among five or more repeats.
    pub outlier: Option<usize>,
    /// The last five repeats as SNIA's rounds, by achieved rate.
    pub rounds: Option<Rounds>,
}

/// Examines a load point over time and over its repeats; `records` are those of its runs.
pub(crate) fn steadiness(point: &LoadPoint, records: &[&RunRecord]) -> Steadiness {
    let streams = records.iter().flat_map(|record| of_run(record));
    Steadiness { streams: streams.collect(), repeats: of_repeats(point) }
}

/// Each stream of one run, in the plan's order.
pub(crate) fn of_run(record: &RunRecord) -> Vec<StreamSteadiness> {
    let streams = record.run.streams.iter().enumerate();
    let of_stream = |(index, stream): (usize, &Stream)| {
        let figures = |intervals: &[&Interval]| Figures::of(intervals, index, &stream.arrival);
        let whole = figures(&window::with_warm_up(record, stream));
        let inside = figures(&window::of_stream(record, stream));
        let warm_up_ns = record.run.phases.warm_up_ns.max(stream.active.start_ns);
        StreamSteadiness {
            repeat: record.run.repeat,
            stream: stream.name.clone(),
            warm_up: warm_up_of(warm_up_ns, &whole, &inside),
            rate: inside.rate_judgement(),
            response: judgement(&inside.response_ns, &inside.completed)
                .filter(|_| inside.due.is_none()),
            outliers: outliers_of(&inside),
            intervals: inside.start_ns.len() as u32,
        }
    };
    streams.map(of_stream).collect()
}

/// The figures examined in each interval, over all kinds of operations.
struct Figures {
    start_ns: Vec<u64>,
    seconds: Vec<f64>,
    completed: Vec<f64>,
    response_ns: Vec<f64>,
    /// Operations that became due, if the offered rate changes by plan. Then the rate is judged by
    /// the share of them that completed, and response times, which change with the load, are not.
    due: Option<Vec<f64>>,
}

impl Figures {
    fn of(intervals: &[&Interval], stream: usize, arrival: &Arrival) -> Figures {
        let sum = |interval: &Interval, of: fn(&metrics::interval::KindInterval) -> f64| {
            let kinds = interval.streams.get(stream).map(|stream| &stream.kinds);
            kinds.map_or(0.0, |kinds| kinds.iter().map(of).sum())
        };
        Figures {
            start_ns: intervals.iter().map(|i| i.start_ns).collect(),
            seconds: intervals.iter().map(|i| (i.end_ns - i.start_ns) as f64 / 1e9).collect(),
            completed: intervals.iter().map(|i| sum(i, |k| k.completed as f64)).collect(),
            response_ns: intervals.iter().map(|i| sum(i, |k| k.response.sum_ns as f64)).collect(),
            due: run_measured::due(arrival, intervals).filter(|_| arrival.is_varying()),
        }
    }

    fn rate_judgement(&self) -> Option<Judgement> {
        let Some(due) = &self.due else { return judgement(&self.completed, &self.seconds) };
        // The means of a share are no rates.
        judgement(&self.completed, due).map(|judged| Judgement { thirds: None, ..judged })
    }

    /// `(index, value)` of each interval that has the figure.
    fn values(&self, figure: Figure) -> Vec<(usize, f64)> {
        let (above, below) = match (figure, &self.due) {
            (Figure::AchievedRate, None) => (&self.completed, &self.seconds),
            (Figure::AchievedRate, Some(due)) => (&self.completed, due),
            (Figure::ResponseTime, None) => (&self.response_ns, &self.completed),
            (Figure::ResponseTime, Some(_)) => return Vec::new(),
        };
        let pairs = above.iter().zip(below).enumerate();
        pairs.filter(|(_, (_, b))| **b > 0.0).map(|(index, (a, b))| (index, a / b)).collect()
    }
}

impl StreamSteadiness {
    /// Warnings about this stream. In an `open` loop the rate equals the offered rate, so a change
    /// of the target is visible in the times only.
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
    /// Warnings about the repeats: that they disagree, and which one is an outlier. The uncertainty
    /// covers differences below 5 %.
    pub(crate) fn warnings(&self) -> Vec<Warning> {
        let mut warnings = Vec::new();
        let most = self.rates.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let least = self.rates.iter().copied().fold(f64::INFINITY, f64::min);
        let spread = (most - least) * self.rates.len() as f64 / self.rates.iter().sum::<f64>();
        let unexplained = match self.agreement {
            Some(agreement) => agreement.disagree(),
            // The intervals' variation is unknown, so the difference alone decides.
            None => true,
        };
        if spread > SPREAD_MAX && unexplained {
            let chance = self.agreement.map(|agreement| agreement.chance);
            let differs = self.agreement.and_then(|agreement| agreement.differs);
            let repeat = differs.map(|index| self.repeats[index]);
            warnings.push(Warning::RepeatsDisagree { spread, chance, repeat });
        }
        if let Some(index) = self.outlier {
            let others = self.rates.iter().enumerate().filter(|(other, _)| *other != index);
            let others_mean =
                others.map(|(_, rate)| rate).sum::<f64>() / (self.rates.len() - 1) as f64;
            let (repeat, rate) = (self.repeats[index], self.rates[index]);
            warnings.push(Warning::OutlierRepeat { repeat, rate, others_mean });
        }
        warnings
    }
}

/// Repeats that differ by less than this count as equal, whatever their uncertainty.
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
        let head = window.iter().filter(|(index, _)| inside.start_ns[*index] < cut_ns).count();
        let plain: Vec<f64> = window.iter().map(|(_, value)| *value).collect();
        let bias = warm_up::bias(&plain, head);
        let batch = cut.batch as u32;
        Some(WarmUp { figure, planned_ns, cut_ns, batch, no_end: cut.no_end, bias })
    };
    // A biased figure is worse than a long transient.
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
    if inside.due.is_some() {
        // A planned change of the rate is no outlier, and a share is no rate.
        return Vec::new();
    }
    let of = |figure: Figure| {
        let values = inside.values(figure);
        let plain: Vec<f64> = values.iter().map(|(_, value)| *value).collect();
        let found = outliers::of_intervals(&plain);
        found.into_iter().flat_map(move |found| {
            let median = found.median;
            let values = values.clone();
            found.indices.into_iter().map(move |index| (values[index], median))
        })
    };
    let mut found: Vec<OutlierInterval> = Vec::new();
    for figure in FIGURES {
        for ((index, value), median) in of(figure) {
            let start_ns = inside.start_ns[index];
            // One stall is visible in both figures; report it once.
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
