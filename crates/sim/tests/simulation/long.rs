//! An hour of load in seconds.

use sim::simulate;
use sim::storage::{Demand, Model};

use crate::runs::{S, assert_near, poisson, reads, run, stream};

#[test]
fn an_hour_of_load_is_simulated_whole() {
    let run = run(vec![stream(poisson(1000.0), 64)], 3600 * S, S);
    let model = Model::queue(4, Demand::Lognormal { mean_ns: 1e6, sigma: 0.5 });
    let record = simulate(&run, &model, 1);
    assert_eq!(record.intervals.len(), 3600);
    // The number of arrivals is Poisson: its standard deviation is 0.05 % of 3.6 million.
    assert_near(reads(&record).completed as f64, 3.6e6, 0.002, "operations");
}
