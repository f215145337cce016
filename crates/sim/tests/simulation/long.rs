//! An hour of load is simulated in seconds.

use sim::simulate;
use sim::storage::{Demand, Model};

use crate::runs::{S, assert_near, poisson, reads, run, stream};

#[test]
fn an_hour_of_load_is_fully_simulated() {
    let run = run(vec![stream(poisson(1000.0), 64)], 3600 * S, S);
    let model = Model::queue(4, Demand::Lognormal { mean_ns: 1e6, sigma: 0.5 });
    let record = simulate(&run, &model, 1);
    let (window, after) = record.intervals.split_at(3600);
    assert!(window.iter().all(|interval| interval.end_ns - interval.start_ns == S));
    // Operations outstanding at the end take a few milliseconds.
    let outstanding = window[3599].streams[0].outstanding_end;
    assert_eq!(after.len(), usize::from(outstanding > 0), "{outstanding} outstanding at the end");
    assert_eq!(after.iter().map(|interval| interval.streams[0].issued).sum::<u64>(), 0);
    // The number of arrivals has a Poisson distribution: its standard deviation is 0.05 % of 3.6
    // million.
    assert_near(reads(&record).completed as f64, 3.6e6, 0.002, "operations");
}
