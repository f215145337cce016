//! The options `--rounds` and `--seconds`, and those of benches with groups.

/// `--rounds N` and `--seconds S`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rounds {
    /// Rounds per trial.
    pub(crate) rounds: u32,
    /// Duration of each measurement.
    pub(crate) seconds: u32,
}

impl Rounds {
    /// Parses `words`, with `self` as defaults; also returns the words that are not flags.
    pub(crate) fn parse<'a>(mut self, words: &[&'a str]) -> Result<(Rounds, Vec<&'a str>), String> {
        let mut names = Vec::new();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let mut number = || {
                let value = words.next().ok_or(format!("{word} needs a value"))?;
                value.parse().map_err(|_| format!("`{value}` is not a number"))
            };
            match *word {
                "--rounds" => self.rounds = number()?,
                "--seconds" => self.seconds = number()?,
                flag if flag.starts_with('-') => return Err(format!("unknown flag `{flag}`")),
                name => names.push(name),
            }
        }
        if self.rounds == 0 || self.seconds == 0 {
            return Err("--rounds and --seconds must be at least 1".to_owned());
        }
        Ok((self, names))
    }

    /// As on the command line: ` --rounds 5 --seconds 4`.
    pub(crate) fn flags(self) -> String {
        format!(" --rounds {} --seconds {}", self.rounds, self.seconds)
    }
}

/// Options of a bench with groups: `[--rounds N] [--seconds S] [GROUP...]`.
#[derive(Clone, Debug)]
pub(crate) struct GroupOptions {
    /// Rounds per group, duration of each measurement.
    pub(crate) repetition: Rounds,
    /// Only what has one of these in its name; if empty, all.
    pub(crate) only: Vec<String>,
    /// The unparsed options, for the process inside the namespaces.
    pub(crate) words: Vec<String>,
}

impl GroupOptions {
    /// Parses `words`.
    pub(crate) fn parse(words: &[&str], defaults: Rounds) -> Result<GroupOptions, String> {
        let (repetition, only) = defaults.parse(words)?;
        let owned = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        Ok(GroupOptions { repetition, only: owned(&only), words: owned(words) })
    }

    /// Whether what has this name is to be measured.
    pub(crate) fn selects(&self, name: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|part| name.contains(part.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_are_parsed_and_wrong_ones_refused() {
        let defaults = Rounds { rounds: 3, seconds: 4 };
        let parsed = defaults.parse(&["delayed", "--rounds", "5", "read"]).expect("valid flags");
        assert_eq!(parsed, (Rounds { rounds: 5, seconds: 4 }, vec!["delayed", "read"]));
        assert_eq!(parsed.0.flags(), " --rounds 5 --seconds 4");
        for wrong in [&["--rounds"][..], &["--rounds", "0"], &["--seconds", "x"], &["--pairs"]] {
            assert!(defaults.parse(wrong).is_err(), "{wrong:?}");
        }
    }
}
