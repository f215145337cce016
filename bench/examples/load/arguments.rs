//! Command-line arguments: flags with one value each, in any order.

use anyhow::{Context, Result, bail};

/// The arguments that were not read yet.
pub(crate) struct Arguments(Vec<String>);

impl Arguments {
    /// The arguments of this process.
    pub(crate) fn read() -> Arguments {
        Arguments(std::env::args().skip(1).collect())
    }

    /// Takes the first argument.
    pub(crate) fn take_first(&mut self) -> Option<String> {
        if self.0.is_empty() { None } else { Some(self.0.remove(0)) }
    }

    /// Takes a flag and its value.
    pub(crate) fn text(&mut self, flag: &str) -> Option<String> {
        let at = self.0.iter().position(|word| word == flag)?;
        if at + 1 == self.0.len() {
            return None;
        }
        self.0.remove(at);
        Some(self.0.remove(at))
    }

    /// Takes a flag and its number.
    pub(crate) fn number(&mut self, flag: &str) -> Result<Option<usize>> {
        let Some(text) = self.text(flag) else { return Ok(None) };
        Ok(Some(text.parse().with_context(|| format!("{flag}: `{text}` is not a number"))?))
    }

    /// Takes a required flag and its number.
    pub(crate) fn required(&mut self, flag: &str) -> Result<usize> {
        self.number(flag)?.with_context(|| format!("{flag} is required"))
    }

    /// Fails if arguments are left.
    pub(crate) fn finish(self) -> Result<()> {
        if self.0.is_empty() {
            Ok(())
        } else {
            bail!("unexpected arguments `{}`", self.0.join(" "))
        }
    }
}
