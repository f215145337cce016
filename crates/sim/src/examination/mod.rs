//! Examines verdicts: systems with known limits are measured as by a user, and the verdicts graded.
//!
//! Systems are drawn at random ([`systems`]) with their own limits, noise, connections, transfer
//! size, and limits known to the user; some change while they are measured. Each is measured once
//! ([`user`]) with the product's own searches and profiles, and every verdict on it is graded
//! ([`grading`]). Seeds below [`EXAMINED`] are for finding the constants of `analysis::verdict`,
//! the others for examining them.

pub mod grading;
pub mod oracle;
pub mod systems;
pub mod user;

pub use grading::{Grade, Graded, Tally};
pub use systems::{Class, System};

/// Seeds from here on are never used to find constants.
pub const EXAMINED: u64 = 1_000_000;

/// Draws the system of a class and seed, measures it, and grades every verdict.
pub fn examine(class: Class, seed: u64) -> Vec<Graded> {
    let system = systems::draw(class, seed);
    let findings = analysis::analyze(&user::measure(&system, seed));
    findings.answers().map(|verdict| grading::grade(&system, verdict, &findings)).collect()
}
