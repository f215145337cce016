//! What is assumed where the user left out a part of an experiment, as values and in words.

/// An assumption about an experiment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Assumed {
    /// This built-in profile, because no experiment is named.
    Profile(String),
    /// This file size, because the emulated volume has no cache that files must exceed.
    FileSize(String),
    /// The emulated volume, because no target is named.
    EmulatedVolume,
    /// The seed 1.
    Seed,
    /// This number of blocks of each load point, for two targets in turns.
    Blocks(u32),
    /// One target for a profile that has several volumes.
    OneTarget {
        /// The volumes of the profile.
        volumes: usize,
    },
}

impl Assumed {
    /// What is assumed: its name, then its value and the reason or the option that replaces it.
    pub fn words(&self) -> (&'static str, String) {
        match self {
            Assumed::Profile(name) => ("experiment", format!("the profile {name} (-w, -p)")),
            Assumed::FileSize(size) => {
                ("file_size", format!("{size}, as the emulated volume has no cache"))
            }
            Assumed::EmulatedVolume => ("target", "an emulated volume".to_owned()),
            Assumed::Seed => ("seed", "1 (--seed)".to_owned()),
            Assumed::Blocks(count) => {
                ("repeats", format!("{count} blocks of each load point (--repeats)"))
            }
            Assumed::OneTarget { volumes } => {
                ("targets", format!("one instead of {volumes} (--set target.NAME.location=TARGET)"))
            }
        }
    }
}
