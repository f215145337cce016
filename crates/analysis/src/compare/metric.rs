//! The largest passing values of a business metric on both sides.

use crate::metric::{MetricFindings, MetricSeries};

/// The same metric, criterion and workload on both sides.
#[derive(Clone, Debug, PartialEq)]
pub struct MetricContrast {
    /// The name of the metric.
    pub metric: String,
    /// The workload with its other parameters.
    pub series: String,
    /// The first side.
    pub first: MetricResult,
    /// The other side.
    pub other: MetricResult,
    /// Which side's largest value is larger.
    pub verdict: MetricVerdict,
}

/// What one side carries.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MetricResult {
    /// The largest value that passes.
    pub largest: Option<f64>,
    /// The smallest above it that fails.
    pub fails_at: Option<f64>,
    /// The overall response time up to the largest value, in nanoseconds.
    pub overall_response_ns: Option<f64>,
}

/// Which side carries more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetricVerdict {
    /// The other side passes where the first fails.
    Larger,
    /// The first side passes where the other fails.
    Smaller,
    /// Neither: the true limits are within ranges that overlap.
    CannotTell,
}

impl MetricVerdict {
    /// The name in files.
    pub const fn name(self) -> &'static str {
        match self {
            MetricVerdict::Larger => "larger",
            MetricVerdict::Smaller => "smaller",
            MetricVerdict::CannotTell => "cannot tell",
        }
    }
}

/// The series that both sides have; none if the metrics or their criteria differ.
pub(super) fn contrasts(
    first: Option<&MetricFindings>,
    other: Option<&MetricFindings>,
) -> Vec<MetricContrast> {
    let Some((first, other)) = first.zip(other).filter(|(a, b)| a.metric == b.metric) else {
        return Vec::new();
    };
    let contrast = |mine: &MetricSeries| {
        let theirs = other.series.iter().find(|series| series.name == mine.name)?;
        let (a, b) = (result(mine), result(theirs));
        Some(MetricContrast {
            metric: first.metric.name.clone(),
            series: mine.name.clone(),
            first: a,
            other: b,
            verdict: verdict(a, b),
        })
    };
    first.series.iter().filter_map(contrast).collect()
}

fn result(series: &MetricSeries) -> MetricResult {
    MetricResult {
        largest: series.value(),
        fails_at: series.fails_at(),
        overall_response_ns: series.overall_response_ns,
    }
}

fn verdict(first: MetricResult, other: MetricResult) -> MetricVerdict {
    let passes_where_fails = |passes: MetricResult, fails: MetricResult| {
        passes.largest.zip(fails.fails_at).is_some_and(|(largest, at)| largest >= at)
    };
    match (passes_where_fails(other, first), passes_where_fails(first, other)) {
        (true, false) => MetricVerdict::Larger,
        (false, true) => MetricVerdict::Smaller,
        _ => MetricVerdict::CannotTell,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_side_carries_more_only_if_it_passes_where_the_other_fails() {
        let of = |largest, fails_at| MetricResult { largest, fails_at, overall_response_ns: None };
        let low = of(Some(40.0), Some(50.0));
        for (other, expected) in [
            (of(Some(50.0), Some(60.0)), MetricVerdict::Larger),
            (of(Some(60.0), None), MetricVerdict::Larger),
            (of(Some(40.0), Some(50.0)), MetricVerdict::CannotTell),
            (of(Some(30.0), Some(50.0)), MetricVerdict::CannotTell),
            (of(Some(30.0), Some(40.0)), MetricVerdict::Smaller),
            (of(None, Some(10.0)), MetricVerdict::Smaller),
            (of(None, None), MetricVerdict::CannotTell),
        ] {
            assert_eq!(verdict(low, other), expected, "{other:?}");
        }
    }
}
