//! The words of a command line: flags with one value each, in any order.

use anyhow::{Context, Result, bail};

/// What has not been asked for yet.
pub(crate) struct Words(Vec<String>);

impl Words {
    pub(crate) fn of_this_program() -> Words {
        Words(std::env::args().skip(1).collect())
    }

    /// The first word.
    pub(crate) fn next_word(&mut self) -> Option<String> {
        if self.0.is_empty() { None } else { Some(self.0.remove(0)) }
    }

    /// The value of a flag.
    pub(crate) fn text(&mut self, flag: &str) -> Option<String> {
        let at = self.0.iter().position(|word| word == flag)?;
        if at + 1 == self.0.len() {
            return None;
        }
        self.0.remove(at);
        Some(self.0.remove(at))
    }

    /// The number behind a flag, when it is there.
    pub(crate) fn number(&mut self, flag: &str) -> Result<Option<usize>> {
        let Some(text) = self.text(flag) else { return Ok(None) };
        Ok(Some(text.parse().with_context(|| format!("{flag} `{text}` is no number"))?))
    }

    /// The number behind a flag that must be there.
    pub(crate) fn needed(&mut self, flag: &str) -> Result<usize> {
        self.number(flag)?.with_context(|| format!("{flag} is needed"))
    }

    /// Nothing may be left.
    pub(crate) fn finish(self) -> Result<()> {
        if self.0.is_empty() { Ok(()) } else { bail!("what is `{}`?", self.0.join(" ")) }
    }
}
