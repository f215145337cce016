//! Seeded draws with known properties, for the tests of statistics.

use workload::random::{CounterRng, unit};

/// A source of draws, the same for the same seed.
pub(crate) struct Draws(CounterRng);

impl Draws {
    pub(crate) fn new(seed: u64) -> Draws {
        Draws(CounterRng::new(seed))
    }

    /// Uniform in (0, 1].
    pub(crate) fn uniform(&mut self) -> f64 {
        1.0 - unit(self.0.next())
    }

    /// Standard normal (Box and Muller, 1958).
    pub(crate) fn normal(&mut self) -> f64 {
        let radius = (-2.0 * self.uniform().ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }
}
