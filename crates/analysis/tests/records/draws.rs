//! Random draws from a seed, in the distributions of the noise that these tests simulate.

use workload::random::{CounterRng, unit};

/// A source of draws.
pub struct Draws(CounterRng);

impl Draws {
    pub fn new(seed: u64) -> Draws {
        Draws(CounterRng::new(seed))
    }

    pub fn uniform(&mut self) -> f64 {
        1.0 - unit(self.0.next())
    }

    pub fn normal(&mut self) -> f64 {
        (-2.0 * self.uniform().ln()).sqrt() * (std::f64::consts::TAU * self.uniform()).cos()
    }

    /// Student's t with three degrees of freedom, scaled to a standard deviation of 1: wild values
    /// now and then.
    pub fn heavy(&mut self) -> f64 {
        let squares: f64 = (0..3).map(|_| self.normal().powi(2)).sum();
        self.normal() / (squares / 3.0).sqrt() / 3.0_f64.sqrt()
    }

    /// The logarithm's normal distribution, centred and scaled to a standard deviation of 1: a long
    /// tail to one side.
    pub fn skewed(&mut self) -> f64 {
        let (mean, deviation) = (0.5_f64.exp(), (1.0_f64.exp() * (1.0_f64.exp() - 1.0)).sqrt());
        (self.normal().exp() - mean) / deviation
    }
}
