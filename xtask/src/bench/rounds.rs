//! How often and how long a bench measures, as it is asked for.

/// `--rounds N` and `--seconds S`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rounds {
    /// Of each trial.
    pub(crate) rounds: u32,
    /// Of each measurement.
    pub(crate) seconds: u32,
}

impl Rounds {
    /// What `words` ask for, `self` where they do not, and the words that are no flags.
    pub(crate) fn parse<'a>(mut self, words: &[&'a str]) -> Result<(Rounds, Vec<&'a str>), String> {
        let mut names = Vec::new();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let mut number = || {
                let value = words.next().ok_or(format!("{word} wants a value"))?;
                value.parse().map_err(|_| format!("`{value}` is no number"))
            };
            match *word {
                "--rounds" => self.rounds = number()?,
                "--seconds" => self.seconds = number()?,
                flag if flag.starts_with('-') => return Err(format!("no flag `{flag}`")),
                name => names.push(name),
            }
        }
        if self.rounds == 0 || self.seconds == 0 {
            return Err("at least one round of at least one second".to_owned());
        }
        Ok((self, names))
    }

    /// As it is asked for: ` --rounds 5 --seconds 4`.
    pub(crate) fn words(self) -> String {
        format!(" --rounds {} --seconds {}", self.rounds, self.seconds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_asked_for_is_understood_and_the_rest_refused() {
        let usual = Rounds { rounds: 3, seconds: 4 };
        let asked = usual.parse(&["held", "--rounds", "5", "read"]).expect("it is right");
        assert_eq!(asked, (Rounds { rounds: 5, seconds: 4 }, vec!["held", "read"]));
        assert_eq!(asked.0.words(), " --rounds 5 --seconds 4");
        for wrong in [&["--rounds"][..], &["--rounds", "0"], &["--seconds", "x"], &["--pairs"]] {
            assert!(usual.parse(wrong).is_err(), "{wrong:?}");
        }
    }
}
