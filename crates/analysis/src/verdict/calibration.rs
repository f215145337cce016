//! Converts likelihoods to calibrated probabilities.
//!
//! Observations are less independent than their product assumes, and their models are not exact, so
//! the product is overconfident. Its logarithm is divided by a temperature (Guo et al. 2017), and a
//! small uniform probability is added. Both numbers are fitted on simulated systems
//! (`cargo run --release -p sim --example judgement -- train`) and examined on others.

use super::hypothesis::{HYPOTHESES, SOMETHING_ELSE};
use super::known::Known;
use super::likelihood::{Observation, PerHypothesis};

/// Divides logarithms of likelihood ratios.
const TEMPERATURE: f64 = 1.1;
/// Probability that the model is wrong; then every hypothesis keeps its prior probability.
const MODEL_WRONG: f64 = 0.005;
/// Least likelihood.
const LIKELIHOOD_MIN: f64 = 1e-12;

/// Probability of each hypothesis after these observations; the last is any other limit.
pub(crate) fn posterior(observations: &[Observation], known: &Known) -> PerHypothesis {
    let mut priors: PerHypothesis = [SOMETHING_ELSE; HYPOTHESES.len() + 1];
    for (prior, hypothesis) in priors.iter_mut().zip(&HYPOTHESES) {
        *prior = if known.absent.contains(&hypothesis.limit) { 0.0 } else { hypothesis.prior };
    }
    let sum: f64 = priors.iter().sum();
    let mut logs = [0.0; HYPOTHESES.len() + 1];
    for observation in observations {
        for (log, likelihood) in logs.iter_mut().zip(&observation.likelihoods) {
            *log += likelihood.max(LIKELIHOOD_MIN).ln();
        }
    }
    let most = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mut posterior = priors;
    for (one, log) in posterior.iter_mut().zip(&logs) {
        *one *= ((log - most) / TEMPERATURE).exp();
    }
    let weight: f64 = posterior.iter().sum();
    for (one, prior) in posterior.iter_mut().zip(&priors) {
        *one = (1.0 - MODEL_WRONG) * *one / weight + MODEL_WRONG * prior / sum;
    }
    posterior
}
