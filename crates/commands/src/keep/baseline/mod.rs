//! Baselines: what `compare` needs of a record, in a text file that is small enough to commit.
//!
//! A comparison with a baseline gives the same verdict as one with the record.

mod file;
mod lines;

use std::path::Path;

use analysis::compare::side::Side;
use anyhow::{Context, anyhow, ensure};

use crate::keep::{refuse_unwritable, write_file};
use crate::outcome::Failure;
use file::{BaselineFile, VERSION, VersionOnly};

/// The part of a record that a comparison needs, with the name that the user gave it.
#[derive(Clone, Debug, PartialEq)]
pub struct Baseline {
    /// Its name.
    pub name: String,
    /// What is compared.
    pub side: Side,
}

impl Baseline {
    /// Writes the baseline to a file.
    ///
    /// # Errors
    /// The record has no results, or the file cannot be written.
    pub fn save(&self, path: &Path) -> Result<(), Failure> {
        if self.side.points.is_empty() {
            let error = anyhow!("save `{}` as a baseline: nothing was measured", self.side.id);
            return Err(Failure::input(error));
        }
        refuse_unwritable(path)?;
        let text = self.text().map_err(Failure::internal)?;
        write_file(path, |out| out.write_all(text.as_bytes()))
    }

    /// Reads the baseline in a file.
    ///
    /// # Errors
    /// The file cannot be read, is no baseline, or was written by a newer version.
    pub fn load(path: &Path) -> Result<Baseline, Failure> {
        let text = std::fs::read_to_string(path).map_err(anyhow::Error::from);
        let read = text.and_then(|text| Baseline::parse(&text));
        read.with_context(|| format!("read baseline {}", path.display())).map_err(|error| {
            let remedy = "`fourcorners baseline save NAME ID` writes a baseline from a record";
            Failure::input(error).with_remedy(remedy)
        })
    }

    fn text(&self) -> anyhow::Result<String> {
        let mut text = Vec::new();
        let mut lines = serde_json::Serializer::with_formatter(&mut text, lines::Lines::default());
        serde::Serialize::serialize(&BaselineFile::of(self), &mut lines)?;
        text.push(b'\n');
        let text = String::from_utf8(text)?;
        // A number that JSON cannot represent is noticed now, not at the next comparison.
        let is_exact = Baseline::parse(&text).is_ok_and(|read| read == *self);
        ensure!(
            is_exact,
            "the baseline of `{}` does not read back as it was written",
            self.side.id
        );
        Ok(text)
    }

    fn parse(text: &str) -> anyhow::Result<Baseline> {
        const INVALID: &str = "it is not a valid baseline";
        let version: VersionOnly = serde_json::from_str(text).context(INVALID)?;
        let found = version.fourcorners_baseline;
        ensure!(
            found <= VERSION,
            "it has format version {found}, and this version of fourcorners reads up to {VERSION}; \
             use a newer fourcorners"
        );
        let file: BaselineFile = serde_json::from_str(text).context(INVALID)?;
        Ok(file.baseline())
    }
}

#[cfg(test)]
mod tests {
    use analysis::compare::facts::{Fact, Item};
    use analysis::compare::figure::Figure;
    use analysis::compare::flaws::{Flaw, FlawKind};
    use analysis::compare::host_use::HostUse;
    use analysis::compare::side::{PointSide, Repeat, Sample, SideCaveat, Subject};
    use metrics::interleaved::Interleaved;
    use metrics::warning::{Figure as WarnedFigure, Warning};
    use workload::interleave::ComparedSide;

    use super::*;

    fn baseline() -> Baseline {
        let pairs = |pairs: &[(&str, &str)]| -> Vec<(String, String)> {
            pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
        };
        let repeat =
            |number: u32, value: f64| Repeat { number, began_unix_ms: 1_795_241_733_000, value };
        let sample = Sample {
            figure: Figure::AchievedRate,
            main: true,
            repeats: vec![repeat(0, 10_041.333_333_333_334), repeat(1, 1.0 / 3.0)],
            without: 1,
            batches: vec![1e-300, 0.1 + 0.2],
            changes_by_plan: false,
        };
        let warning = Warning::NotSteady {
            figure: WarnedFigure::AchievedRate,
            drift: 0.25,
            thirds: Some([1200.0, 1500.0]),
        };
        let point = PointSide {
            variant: "random read 8 KiB".to_owned(),
            parameters: pairs(&[("queue_depth", "4")]),
            keys: pairs(&[("run.measure", "6s"), ("data.files", "1")]),
            subjects: vec![Subject {
                stream: Some("log".to_owned()),
                operations: "read",
                samples: vec![sample],
            }],
            flaws: vec![Flaw { kind: FlawKind::NotSteady, warning }],
            cached_share: Some(0.02),
            host: Some(HostUse { steal: 0.01, others: 0.05, resolution: 0.001 }),
        };
        let fact = |item, key: &str, value: &str| Fact {
            item,
            key: key.to_owned(),
            value: value.to_owned(),
        };
        let side = Side {
            id: "20261121-061533-tiny-3f2a".to_owned(),
            name: "tiny".to_owned(),
            target: "/mnt/vol1".to_owned(),
            started_unix_ms: 1_795_241_733_000,
            plan_hash: "12ab".to_owned(),
            facts: vec![
                fact(Item::Kernel, "kernel.release", "6.18.0"),
                fact(Item::Other, "run.seed", "1"),
            ],
            interleaved: Some(Interleaved {
                partner: "20261121-061533-tiny-77aa".to_owned(),
                side: ComparedSide::A,
                first: vec![ComparedSide::B, ComparedSide::A],
            }),
            caveats: vec![
                SideCaveat::FailedOperations(3),
                SideCaveat::Failed { reason: "the target is full".to_owned() },
                SideCaveat::Interrupted,
                SideCaveat::Aborted,
            ],
            points: vec![point],
            metric: None,
        };
        Baseline { name: "main".to_owned(), side }
    }

    #[test]
    fn a_baseline_reads_back_bit_for_bit_and_has_a_line_for_each_fact() {
        let text = baseline().text().expect("it reads back");
        assert_eq!(Baseline::parse(&text).expect("it is a baseline"), baseline());
        assert!(
            text.starts_with("{\n  \"fourcorners_baseline\": 1,\n  \"name\": \"main\","),
            "{text}"
        );
        for line in [
            "    [\"kernel\",\"kernel.release\",\"6.18.0\"],\n",
            "              \"batches\": [1e-300,0.30000000000000004]\n",
            "                [0,1795241733000,10041.333333333334],\n",
        ] {
            assert!(text.contains(line), "{line} in\n{text}");
        }
    }

    #[test]
    fn a_wrong_file_is_refused_with_its_line() {
        let text = baseline().text().expect("it reads back");
        let newer = text.replacen("\"fourcorners_baseline\": 1", "\"fourcorners_baseline\": 2", 1);
        let conflict = text.replacen("  \"name\"", "<<<<<<< HEAD\n  \"name\"", 1);
        let figure = text.replacen("\"achieved_rate\"", "\"speed\"", 1);
        for (text, message) in [
            (newer.as_str(), "it has format version 2"),
            (&conflict, "line 3 column 1"),
            (&figure, "`speed` is unknown; there are achieved_rate, "),
            ("{\"id\": 1}", "missing field `fourcorners_baseline` at line 1 column 9"),
            ("", "line 1 column 0"),
        ] {
            let error = Baseline::parse(text).expect_err("it is no baseline");
            let error = format!("{error:#}");
            assert!(error.contains(message), "`{message}` in {error}");
        }
    }
}
