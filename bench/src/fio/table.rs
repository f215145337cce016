//! The results: ratios with minimum, median and maximum, and the dated folder with all pairs.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Result;
use statistics::average::median;

use super::{Options, peer};
use crate::child::PROCESSOR;
use crate::folder::Folder;
use crate::machine::Machine;

/// One measurement of one program.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample {
    pub(crate) operations: f64,
    pub(crate) cpu_us_per_op: f64,
    pub(crate) ops_per_sec: f64,
    pub(crate) resident_max_bytes: u64,
    /// fio: clat. fourcorners: service time.
    pub(crate) service_mean_ns: f64,
    pub(crate) service_p99_ns: f64,
    /// fio: lat (submission and completion). fourcorners: service time.
    pub(crate) total_mean_ns: f64,
    pub(crate) total_p50_ns: f64,
    pub(crate) total_p99_ns: f64,
}

impl Sample {
    /// Of work whose operations have no times.
    pub(crate) const WITHOUT_TIMES: Sample = Sample {
        operations: 0.0,
        cpu_us_per_op: f64::NAN,
        ops_per_sec: f64::NAN,
        resident_max_bytes: 0,
        service_mean_ns: f64::NAN,
        service_p99_ns: f64::NAN,
        total_mean_ns: f64::NAN,
        total_p50_ns: f64::NAN,
        total_p99_ns: f64::NAN,
    };
}

/// Measurements of both programs, one directly after the other.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pair {
    pub(crate) ours: Sample,
    pub(crate) peer: Sample,
}

/// A figure of a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Figure {
    CpuPerOp,
    OpsPerSec,
    ServiceMean,
    ServiceP99,
    TotalMean,
    TotalP50,
    TotalP99,
}

impl Figure {
    const ALL: [Figure; 7] = [
        Figure::CpuPerOp,
        Figure::OpsPerSec,
        Figure::ServiceMean,
        Figure::ServiceP99,
        Figure::TotalMean,
        Figure::TotalP50,
        Figure::TotalP99,
    ];

    fn of(self, sample: &Sample) -> f64 {
        match self {
            Figure::CpuPerOp => sample.cpu_us_per_op,
            Figure::OpsPerSec => sample.ops_per_sec,
            Figure::ServiceMean => sample.service_mean_ns,
            Figure::ServiceP99 => sample.service_p99_ns,
            Figure::TotalMean => sample.total_mean_ns,
            Figure::TotalP50 => sample.total_p50_ns,
            Figure::TotalP99 => sample.total_p99_ns,
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Figure::CpuPerOp => "CPU us/op",
            Figure::OpsPerSec => "ops/s",
            Figure::ServiceMean => "service time mean ns (fio clat)",
            Figure::ServiceP99 => "service time p99 ns (fio clat)",
            Figure::TotalMean => "service time mean ns (fio lat)",
            Figure::TotalP50 => "service time p50 ns (fio lat)",
            Figure::TotalP99 => "service time p99 ns (fio lat)",
        }
    }
}

/// The required range of the median ratio of a figure.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bound {
    figure: Figure,
    low: f64,
    high: f64,
    aim: Option<f64>,
}

impl Bound {
    pub(crate) const fn at_most(figure: Figure, high: f64, aim: f64) -> Bound {
        Bound { figure, low: 0.0, high, aim: Some(aim) }
    }

    pub(crate) const fn at_least(figure: Figure, low: f64) -> Bound {
        Bound { figure, low, high: f64::INFINITY, aim: None }
    }

    pub(crate) const fn within(figure: Figure, share: f64) -> Bound {
        Bound { figure, low: 1.0 - share, high: 1.0 + share, aim: None }
    }
}

/// The result of a row.
#[derive(Clone, Debug)]
pub(crate) struct Outcome {
    name: &'static str,
    against: String,
    results: Vec<Judged>,
    pairs: Vec<Pair>,
}

/// One judged number: a median ratio, or a figure of fourcorners with its limit.
#[derive(Clone, Debug)]
struct Judged {
    what: String,
    value: f64,
    spread: Option<(f64, f64)>,
    medians: Option<(f64, f64)>,
    required: String,
    passes: bool,
    reaches_aim: Option<bool>,
}

impl Outcome {
    /// Judges the ratios of pairs.
    pub(crate) fn paired(
        name: &'static str,
        against: String,
        bounds: &[Bound],
        pairs: Vec<Pair>,
    ) -> Outcome {
        let results = bounds
            .iter()
            .map(|bound| {
                let of = |sample: &Sample| bound.figure.of(sample);
                let figures =
                    |of: &dyn Fn(&Pair) -> f64| pairs.iter().map(of).collect::<Vec<f64>>();
                let ratios = figures(&|pair| of(&pair.ours) / of(&pair.peer));
                let value = median(&ratios).unwrap_or(f64::NAN);
                let required = match (bound.low, bound.high) {
                    (0.0, high) => format!("<= {high}"),
                    (low, f64::INFINITY) => format!(">= {low}"),
                    (low, high) => format!("{low:.2} to {high:.2}"),
                };
                Judged {
                    what: format!("{} ratio", bound.figure.name()),
                    value,
                    spread: Some((
                        ratios.iter().copied().fold(f64::INFINITY, f64::min),
                        ratios.iter().copied().fold(f64::NEG_INFINITY, f64::max),
                    )),
                    medians: median(&figures(&|pair| of(&pair.ours)))
                        .zip(median(&figures(&|pair| of(&pair.peer)))),
                    required,
                    passes: (bound.low..=bound.high).contains(&value),
                    reaches_aim: bound.aim.map(|aim| value <= aim),
                }
            })
            .collect();
        Outcome { name, against, results, pairs }
    }

    /// Judges figures of fourcorners alone, each `(name, value, limit, aim)`.
    pub(crate) fn single(
        name: &'static str,
        against: &str,
        figures: &[(&str, f64, f64, Option<f64>)],
    ) -> Outcome {
        let results = figures
            .iter()
            .map(|(what, value, limit, aim)| Judged {
                what: (*what).to_owned(),
                value: *value,
                spread: None,
                medians: None,
                required: format!("<= {limit}"),
                passes: value <= limit,
                reaches_aim: aim.map(|aim| *value <= aim),
            })
            .collect();
        Outcome { name, against: against.to_owned(), results, pairs: Vec::new() }
    }

    pub(crate) fn name(&self) -> &'static str {
        self.name
    }

    pub(crate) fn passes(&self) -> bool {
        self.results.iter().all(|judged| judged.passes)
    }

    /// One line per judged number.
    pub(crate) fn line(&self) -> String {
        let mut text = String::new();
        for judged in &self.results {
            let _ = write!(text, "{:<18} {:<38} {:>8.3}", self.name, judged.what, judged.value);
            if let Some((low, high)) = judged.spread {
                let _ = write!(text, " ({low:.3} to {high:.3})");
            }
            if let Some((ours, peer)) = judged.medians {
                let _ = write!(text, "  ours {ours:.3}, peer {peer:.3}");
            }
            let _ = write!(text, "  required {}", judged.required);
            let _ = write!(text, ": {}", if judged.passes { "met" } else { "MISSED" });
            match judged.reaches_aim {
                Some(true) => text.push_str(", aim reached"),
                Some(false) => text.push_str(", aim not reached"),
                None => {}
            }
            text.push('\n');
        }
        text.trim_end().to_owned()
    }
}

/// All rows, one line per judged number.
pub(crate) fn summary(outcomes: &[Outcome]) -> String {
    outcomes.iter().map(Outcome::line).collect::<Vec<_>>().join("\n")
}

/// Writes `bench/runs/DATE-MACHINE/{README.md,raw.csv,summary.txt}`.
pub(crate) fn write(
    root: &Path,
    machine: &Machine,
    peer: &str,
    options: &Options,
    outcomes: &[Outcome],
) -> Result<PathBuf> {
    let is_before = options.before.is_some();
    let folder = Folder::make(root, machine, is_before.then_some("before"))?;
    let (before, always) = match is_before {
        true => (" --before PROGRAM", String::new()),
        false => ("", format!("Every fio command also has `{}`.\n", peer::ALWAYS.join(" "))),
    };
    let mut readme = format!(
        "# Bench of {}\n\n{}\nCompared with: {peer}. Pairs: {}, {} s each, on processor {}.\n\
         Command: `cargo xtask bench --pairs {} --seconds {}{before}{}`\n\
         {always}\n",
        folder.date,
        folder.header,
        options.pairs,
        options.seconds,
        PROCESSOR,
        options.pairs,
        options.seconds,
        options.only.iter().map(|name| format!(" {name}")).collect::<String>(),
    );
    readme.push_str("| row | number | median | min to max | required | compared with |\n");
    readme.push_str("| --- | --- | --- | --- | --- | --- |\n");
    for outcome in outcomes {
        for judged in &outcome.results {
            let spread = judged.spread.map_or(String::new(), |(a, b)| format!("{a:.3} to {b:.3}"));
            let _ = writeln!(
                readme,
                "| {} | {} | {:.3} | {spread} | {} | `{}` |",
                outcome.name, judged.what, judged.value, judged.required, outcome.against
            );
        }
    }
    folder.write("README.md", &readme)?;
    folder.write("summary.txt", &format!("{}\n", summary(outcomes)))?;
    folder.write("raw.csv", &raw(outcomes))?;
    Ok(folder.path)
}

fn raw(outcomes: &[Outcome]) -> String {
    let mut text = String::from("row,pair,side,operations");
    for figure in Figure::ALL {
        let _ = write!(text, ",{}", figure.name());
    }
    text.push('\n');
    for outcome in outcomes {
        for (number, pair) in outcome.pairs.iter().enumerate() {
            for (side, sample) in [("fourcorners", &pair.ours), ("peer", &pair.peer)] {
                let _ = write!(text, "{},{number},{side},{}", outcome.name, sample.operations);
                for one in Figure::ALL {
                    let _ = write!(text, ",{:.4}", one.of(sample));
                }
                text.push('\n');
            }
        }
        if outcome.pairs.is_empty() {
            for judged in &outcome.results {
                let _ = writeln!(text, "{},,{},{}", outcome.name, judged.what, judged.value);
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_ratio_of_the_pairs_is_judged() {
        let sample = |cpu| Sample {
            operations: 1.0,
            cpu_us_per_op: cpu,
            ops_per_sec: 1.0,
            resident_max_bytes: 0,
            service_mean_ns: 1.0,
            service_p99_ns: 1.0,
            total_mean_ns: 1.0,
            total_p50_ns: 1.0,
            total_p99_ns: 1.0,
        };
        let pairs: Vec<Pair> =
            [0.2, 0.9, 0.3].map(|cpu| Pair { ours: sample(cpu), peer: sample(1.0) }).to_vec();
        let bound = [Bound::at_most(Figure::CpuPerOp, 0.33, 0.2)];
        let outcome = Outcome::paired("row", String::new(), &bound, pairs);
        assert!(outcome.passes());
        assert_eq!(outcome.results[0].value, 0.3);
        assert_eq!(outcome.results[0].reaches_aim, Some(false));
    }
}
