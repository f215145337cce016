//! `avs --profile` and `--print-profile`: loads by class, from a file or built in.

use std::io::Write;
use std::path::Path;

use anyhow::{Context, anyhow};
use sizing::avs::profile::Profile;
use sizing::avs::{profile_file, profile_text};

use crate::diagnostics;
use crate::exit::{Exit, Failure, Outcome};
use crate::terminal::Terminal;

/// A profile, and what of it nobody confirmed.
pub(super) struct Given {
    pub(super) profile: Profile,
    /// In whole sentences.
    pub(super) doubts: Vec<String>,
}

/// Reads what the user named: a file where there is one, else a built-in profile.
pub(super) fn read(given: &Path, terminal: &Terminal) -> Result<Given, Failure> {
    if given.exists() {
        return Ok(Given { profile: file(given, terminal)?, doubts: Vec::new() });
    }
    let name = given.to_string_lossy();
    let (row, profile) = profile_text::built_in(&name).map_err(|there| {
        Failure::input(anyhow!(
            "read the profile {name}: there is no such file, and no built-in profile of this name; \
             {there}"
        ))
    })?;
    let keys: Vec<String> = row.unconfirmed.iter().map(|key| format!("`{key}`")).collect();
    let doubts = match keys.is_empty() {
        true => Vec::new(),
        false => vec![format!(
            "Of the profile {} no document that could be read confirms {}: print it with \
             --print-profile, put your own there, and give the file.",
            row.name,
            keys.join(", ")
        )],
    };
    Ok(Given { profile, doubts })
}

fn file(path: &Path, terminal: &Terminal) -> Result<Profile, Failure> {
    let name = path.display().to_string();
    let text = std::fs::read_to_string(path)
        .with_context(|| format!("read the profile {name}"))
        .map_err(Failure::input)?;
    profile_file::parse(&text, &name).map_err(|mistakes| {
        let drawn: Vec<_> = mistakes.into_iter().map(diagnostics::drawable).collect();
        diagnostics::print(&drawn, &text, terminal);
        Failure::said(Exit::BadInput)
    })
}

/// Prints a built-in profile as a file.
pub(super) fn print(name: &str) -> Outcome {
    let (row, _) = profile_text::built_in(name).map_err(|there| {
        Failure::input(anyhow!("print the profile {name}: there is none built in; {there}"))
    })?;
    let mut out = std::io::stdout().lock();
    out.write_all(profile_text::text(&row).as_bytes())?;
    out.flush()?;
    Ok(Exit::Done)
}
