//! `avs --profile` and `--print-profile`: loads by class, from a file or built in.

use std::path::Path;

use anyhow::{Context, anyhow};
use report::avs::Unconfirmed;
use sizing::avs::profile::Profile;
use sizing::avs::{profile_file, profile_text};

use crate::outcome::Failure;

/// A profile, and what of it no source confirms.
#[derive(Debug)]
pub(super) struct GivenProfile {
    pub(super) profile: Profile,
    pub(super) unconfirmed: Option<Unconfirmed>,
}

/// Reads the file `given`, or if there is none the built-in profile of this name.
pub(super) fn read(given: &Path) -> Result<GivenProfile, Failure> {
    if given.exists() {
        return Ok(GivenProfile { profile: file(given)?, unconfirmed: None });
    }
    let name = given.to_string_lossy();
    let (row, profile) = profile_text::built_in(&name).map_err(|known| {
        Failure::input(anyhow!(
            "read the profile {name}: there is neither such a file nor a built-in profile of this \
             name; {known}"
        ))
    })?;
    let unconfirmed = (!row.unconfirmed.is_empty())
        .then(|| Unconfirmed { profile: row.name.clone(), keys: row.unconfirmed.clone() });
    Ok(GivenProfile { profile, unconfirmed })
}

fn file(path: &Path) -> Result<Profile, Failure> {
    let name = path.display().to_string();
    let text = std::fs::read_to_string(path)
        .with_context(|| format!("read the profile {name}"))
        .map_err(Failure::input)?;
    profile_file::parse(&text, &name).map_err(|problems| Failure::problems(&text, problems))
}

/// The file of a built-in profile.
///
/// # Errors
/// There is no profile of this name.
pub fn text(name: &str) -> Result<String, Failure> {
    let (row, _) = profile_text::built_in(name).map_err(|known| {
        Failure::input(anyhow!("print the profile {name}: there is no such profile; {known}"))
    })?;
    Ok(profile_text::text(&row))
}
