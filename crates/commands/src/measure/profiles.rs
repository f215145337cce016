//! `profiles`: the built-in experiments with what they require of a target.

use serde::Serialize;
use units::{counted, print_whole_seconds};
use workload::profiles::{Group, PROFILES, Profile, Requirements};

/// Columns of a name in the list; longer ones have none.
const NAME_CHARS: usize = 20;

/// A profile as JSON.
#[derive(Debug, Serialize)]
pub struct ProfileJson {
    /// Its name.
    name: &'static str,
    /// What it is about.
    group: &'static str,
    /// What it measures.
    purpose: String,
    /// The size of all files, in bytes.
    bytes: u64,
    /// Files, directories and links.
    inodes: u64,
    /// Time of all runs without the fill, in seconds; with searches, the maximum.
    seconds: f64,
    /// Load points, or searches for them.
    load_points: usize,
    /// Volumes that its streams use.
    volumes: usize,
}

/// All profiles as JSON, in order.
pub fn json() -> Vec<ProfileJson> {
    PROFILES
        .iter()
        .map(|profile| {
            let required = profile.requirements();
            ProfileJson {
                name: profile.name,
                group: profile.group.title(),
                purpose: profile.purpose(),
                bytes: required.bytes.get(),
                inodes: required.inodes,
                seconds: required.time.as_secs_f64(),
                load_points: required.load_points,
                volumes: required.volumes,
            }
        })
        .collect()
}

/// The profiles by group, each with what it requires and measures.
///
/// * `wrapped` - breaks a text into lines of at most so many characters
pub fn list(wrapped: impl Fn(&str, usize) -> Vec<String>, columns: usize) -> String {
    let mut out = String::new();
    for group in Group::ALL {
        out.push_str(&format!("{}\n", group.title()));
        for profile in of_group(group) {
            let required = in_words(&profile.requirements());
            out.push_str(&format!("  {:NAME_CHARS$}{required}\n", profile.name));
            for line in wrapped(&profile.purpose(), columns.saturating_sub(6)) {
                out.push_str(&format!("      {line}\n"));
            }
        }
    }
    out
}

/// The profiles of a group, in order.
fn of_group(group: Group) -> impl Iterator<Item = &'static Profile> {
    PROFILES.iter().filter(move |profile| profile.group == group)
}

/// `2 GiB, 4 inodes; 3 load points, 1m45s`
fn in_words(required: &Requirements) -> String {
    let volumes = match required.volumes {
        1 => String::new(),
        several => format!(" on {several} volumes"),
    };
    format!(
        "{}, {}{volumes}; {}, {}",
        required.bytes,
        counted(required.inodes, "inode"),
        counted(required.load_points as u64, "load point"),
        print_whole_seconds(required.time)
    )
}
