//! The results, their judgement, and the dated folder.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Result;
use statistics::average::median;

use super::groups::{Group, Side};
use crate::child::PROCESSOR;
use crate::folder::Folder;
use crate::machine::Machine;
use crate::nfs::servers;
use crate::process::SERVER_PROCESSOR;
use crate::rounds::GroupOptions;

/// What a program did in one run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample {
    pub(crate) operations: f64,
    /// User and system time of the threads that make the calls, from the first to the last.
    pub(crate) cpu_us_per_op: f64,
    /// The same of the whole process, with all that it does before and after.
    pub(crate) process_us_per_op: f64,
}

/// A sample, with its program and round.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Measured {
    pub(crate) group: &'static str,
    pub(crate) side: &'static str,
    pub(crate) round: u32,
    pub(crate) sample: Sample,
}

/// A number of fourcorners without a counterpart, by round.
#[derive(Clone, Debug)]
pub(crate) struct Figure {
    pub(crate) name: &'static str,
    pub(crate) values: Vec<f64>,
    pub(crate) max: f64,
}

/// Everything that was measured.
#[derive(Clone, Debug, Default)]
pub(crate) struct Results {
    measured: Vec<Measured>,
    judged: Vec<Judged>,
}

/// One number and its limit.
#[derive(Clone, Debug)]
struct Judged {
    group: &'static str,
    number: String,
    median: f64,
    spread: (f64, f64),
    /// Medians of fourcorners and of the other program, in µs of CPU time per operation.
    medians: Option<(f64, f64)>,
    max: Option<f64>,
}

impl Judged {
    fn of(group: &'static str, number: String, values: &[f64], max: Option<f64>) -> Judged {
        Judged {
            group,
            number,
            median: median(values).unwrap_or(f64::NAN),
            spread: (
                values.iter().copied().fold(f64::INFINITY, f64::min),
                values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            ),
            medians: None,
            max,
        }
    }

    fn passes(&self) -> bool {
        self.max.is_none_or(|max| self.median <= max)
    }

    fn required(&self) -> String {
        self.max.map_or_else(|| "-".to_owned(), |max| format!("<= {max}"))
    }

    fn verdict(&self) -> &'static str {
        match (self.max, self.passes()) {
            (None, _) => "-",
            (Some(_), true) => "met",
            (Some(_), false) => "MISSED",
        }
    }

    fn line(&self) -> String {
        let Judged { group, number, median, spread: (low, high), medians, .. } = self;
        let medians = medians
            .map_or_else(String::new, |(ours, other)| format!("  {ours:.3} and {other:.3} us/op"));
        format!(
            "{group:<26} {number:<28} {median:>7.3} ({low:.3} to {high:.3}){medians}  required {}: {}",
            self.required(),
            self.verdict()
        )
    }
}

impl Results {
    /// Adds a round of a group and judges the group's rounds so far.
    pub(crate) fn add_round(&mut self, group: &Group, measured: Vec<Measured>) {
        self.measured.extend(measured);
        self.judged.retain(|judged| judged.group != group.name);
        for side in &group.sides[1..] {
            let judged = self.ratio(group, side);
            self.judged.push(judged);
        }
    }

    /// The ratio of the CPU time of fourcorners to that of another program, paired by round.
    fn ratio(&self, group: &Group, side: &Side) -> Judged {
        let of = |name: &str| -> Vec<f64> {
            let these = |one: &&Measured| one.group == group.name && one.side == name;
            let mut all: Vec<&Measured> = self.measured.iter().filter(these).collect();
            all.sort_by_key(|one| one.round);
            all.iter().map(|one| one.sample.cpu_us_per_op).collect()
        };
        let (ours, other) = (of(group.sides[0].name), of(side.name));
        let ratios: Vec<f64> = ours.iter().zip(&other).map(|(ours, other)| ours / other).collect();
        let number = format!("CPU us/op ratio to {}", side.name);
        let judged = Judged::of(group.name, number, &ratios, side.ratio_max);
        Judged { medians: median(&ours).zip(median(&other)), ..judged }
    }

    /// Adds the rounds of a figure.
    pub(crate) fn add_figures(&mut self, group: &'static str, figure: Figure) {
        let Figure { name, values, max } = figure;
        self.judged.push(Judged::of(group, name.to_owned(), &values, Some(max)));
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.judged.is_empty()
    }

    /// One line per number, of one group or of all.
    pub(crate) fn lines(&self, group: Option<&str>) -> Vec<String> {
        let selected = self.judged.iter().filter(|one| group.is_none_or(|name| one.group == name));
        selected.map(Judged::line).collect()
    }

    /// The numbers above their limits.
    pub(crate) fn missed(&self) -> Vec<String> {
        let missed = self.judged.iter().filter(|one| !one.passes());
        missed.map(|one| format!("{} {}", one.group, one.number)).collect()
    }

    /// Writes `bench/runs/DATE-MACHINE-names/{README.md,raw.csv,summary.txt}`; returns its path.
    pub(crate) fn write(
        &self,
        root: &Path,
        machine: &Machine,
        options: &GroupOptions,
    ) -> Result<PathBuf> {
        let folder = Folder::make(root, machine, Some("names"))?;
        let mut readme = format!(
            "# Bench of operations on names of {}\n\n{}\nCompared with: {}, {}, {}; the floor is \
             `bench/examples/floor`. Debian has no elbencho.\n\
             Rounds: {}, {} s each. Programs on processor {PROCESSOR}, servers on \
             {SERVER_PROCESSOR}. Load average at the end: {}.\n\
             Command: `cargo xtask bench names{}{}`\n\n{TABLE_HEAD}",
            folder.date,
            folder.header,
            version("fio"),
            version("libnfs-dev"),
            servers::ganesha_version()?,
            options.repetition.rounds,
            options.repetition.seconds,
            std::fs::read_to_string("/proc/loadavg")?.trim(),
            options.repetition.flags(),
            options.only.iter().map(|name| format!(" {name}")).collect::<String>(),
        );
        for one in &self.judged {
            let (ours, other) = one.medians.map_or((String::new(), String::new()), |(a, b)| {
                (format!("{a:.3}"), format!("{b:.3}"))
            });
            let _ = writeln!(
                readme,
                "| {} | {} | {ours} | {other} | {:.3} | {:.3} to {:.3} | {} | {} |",
                one.group,
                one.number,
                one.median,
                one.spread.0,
                one.spread.1,
                one.required(),
                one.verdict()
            );
        }
        folder.write("README.md", &readme)?;
        folder.write("summary.txt", &format!("{}\n", self.lines(None).join("\n")))?;
        let mut raw = String::from("group,program,round,operations,CPU us/op,process us/op\n");
        for Measured { group, side, round, sample } in &self.measured {
            let Sample { operations, cpu_us_per_op, process_us_per_op } = sample;
            let _ = writeln!(
                raw,
                "{group},{side},{round},{operations},{cpu_us_per_op:.4},{process_us_per_op:.4}"
            );
        }
        folder.write("raw.csv", &raw)?;
        Ok(folder.path)
    }
}

const TABLE_HEAD: &str = "\
| group | number | fourcorners | other | median | min to max | required | verdict |
| --- | --- | --- | --- | --- | --- | --- | --- |
";

/// The version of a Debian package, such as `fio 3.33-3`.
fn version(package: &str) -> String {
    let output = std::process::Command::new("dpkg-query")
        .args(["--show", "--showformat", "${Package} ${Version}", package])
        .output();
    output.map_or_else(
        |_| format!("{package} of unknown version"),
        |output| String::from_utf8_lossy(&output.stdout).into_owned(),
    )
}

#[cfg(test)]
mod tests {
    use super::super::groups::groups;
    use super::*;

    #[test]
    fn the_median_ratio_of_the_rounds_is_judged_and_a_floor_only_shown() {
        let groups = groups();
        let group = &groups[0];
        let mut results = Results::default();
        for (round, fio) in [(0, 1.0), (1, 2.0), (2, 4.0)] {
            let measured = |side, cpu_us_per_op| Measured {
                group: group.name,
                side,
                round,
                sample: Sample { operations: 1.0, cpu_us_per_op, process_us_per_op: cpu_us_per_op },
            };
            // In any order.
            let round = vec![measured("floor", 0.5), measured("fio", fio)];
            let all = round.into_iter().chain([measured("fourcorners", 1.9)]).collect();
            results.add_round(group, all);
        }
        assert_eq!(results.judged.len(), 2);
        let judged = &results.judged[0];
        assert!((judged.median - 0.95).abs() < 1e-9, "{judged:?}");
        assert_eq!(judged.medians, Some((1.9, 2.0)));
        // 0.95 > 0.9.
        assert_eq!(results.missed(), ["tmpfs-stat CPU us/op ratio to fio"]);
        assert_eq!(results.judged[1].verdict(), "-");
    }

    #[test]
    fn group_names_are_unique_and_every_group_starts_with_fourcorners() {
        let groups = groups();
        let names: std::collections::BTreeSet<&str> = groups.iter().map(|one| one.name).collect();
        assert_eq!(names.len(), groups.len());
        assert!(groups.iter().all(|one| one.sides[0].name == "fourcorners"));
    }
}
