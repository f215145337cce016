//! What limits a rate, found in simulated systems of which the truth is known.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails there")]

mod confusion;
mod measure;
mod systems;
