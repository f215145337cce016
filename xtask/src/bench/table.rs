//! What came out: ratios with their minimum, median and maximum, and the dated folder that keeps
//! every pair.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Result;

use super::Options;
use super::folder::Folder;
use super::machine::Machine;
use super::median::median;
use super::rows::figure;

/// One measurement of one program.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample {
    pub(crate) operations: f64,
    pub(crate) cpu_us_per_op: f64,
    pub(crate) ops_per_sec: f64,
    pub(crate) resident_max_bytes: u64,
    /// fio: clat. Ours: service time.
    pub(crate) service_mean_ns: f64,
    pub(crate) service_p99_ns: f64,
    /// fio: lat, submission and completion. Ours: service time.
    pub(crate) total_mean_ns: f64,
    pub(crate) total_p50_ns: f64,
    pub(crate) total_p99_ns: f64,
}

/// Both programs, one right after the other.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pair {
    pub(crate) ours: Sample,
    pub(crate) peer: Sample,
}

/// What is compared.
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

/// What the median ratio of a figure must be.
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

/// What came out of a row.
#[derive(Clone, Debug)]
pub(crate) struct Outcome {
    name: &'static str,
    against: String,
    results: Vec<Judged>,
    pairs: Vec<Pair>,
}

/// One judged number: a median ratio, or a figure of ours against a limit.
#[derive(Clone, Debug)]
struct Judged {
    what: String,
    value: f64,
    spread: Option<(f64, f64)>,
    medians: Option<(f64, f64)>,
    required: String,
    holds: bool,
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
                let of = |sample: &Sample| figure(sample, bound.figure);
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
                    holds: (bound.low..=bound.high).contains(&value),
                    reaches_aim: bound.aim.map(|aim| value <= aim),
                }
            })
            .collect();
        Outcome { name, against, results, pairs }
    }

    /// Judges figures of ours, each `(what, value, at most, aim)`.
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
                holds: value <= limit,
                reaches_aim: aim.map(|aim| *value <= aim),
            })
            .collect();
        Outcome { name, against: against.to_owned(), results, pairs: Vec::new() }
    }

    pub(crate) fn name(&self) -> &'static str {
        self.name
    }

    pub(crate) fn holds(&self) -> bool {
        self.results.iter().all(|judged| judged.holds)
    }

    /// The row in words, one line for each judged number.
    pub(crate) fn line(&self) -> String {
        let mut text = String::new();
        for judged in &self.results {
            let _ = write!(text, "{:<18} {:<38} {:>8.3}", self.name, judged.what, judged.value);
            if let Some((low, high)) = judged.spread {
                let _ = write!(text, " ({low:.3} to {high:.3})");
            }
            if let Some((ours, peer)) = judged.medians {
                let _ = write!(text, "  ours {ours:.3}, fio {peer:.3}");
            }
            let _ = write!(text, "  required {}", judged.required);
            let _ = write!(text, ": {}", if judged.holds { "holds" } else { "MISSED" });
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

/// All rows, one line for each number.
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
    let folder = Folder::make(root, machine, None)?;
    let mut readme = format!(
        "# Bench of {}\n\n{}\nPeer: {peer}. Pairs: {}, {} s each, on processor {}.\n\
         Command: `cargo xtask bench --pairs {} --seconds {}{}`\n\
         Each command of the peer has `{}` too.\n\n",
        folder.date,
        folder.measured,
        options.pairs,
        options.seconds,
        super::child::PROCESSOR,
        options.pairs,
        options.seconds,
        options.only.iter().map(|name| format!(" {name}")).collect::<String>(),
        super::fio::ALWAYS.join(" "),
    );
    readme.push_str("| row | number | median | min to max | required | against |\n");
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
            for (side, sample) in [("fourcorners", &pair.ours), ("fio", &pair.peer)] {
                let _ = write!(text, "{},{number},{side},{}", outcome.name, sample.operations);
                for one in Figure::ALL {
                    let _ = write!(text, ",{:.4}", figure(sample, one));
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
    fn a_ratio_is_judged_by_the_median_of_the_pairs() {
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
        assert!(outcome.holds());
        assert_eq!(outcome.results[0].value, 0.3);
        assert_eq!(outcome.results[0].reaches_aim, Some(false));
    }
}
