//! What is measured of a queue is what queueing theory says of it.

use metrics::interval::KindInterval;
use sim::queueing::{
    closed_rate_bound, closed_response_s, md1_waiting_s, mg1_waiting_s, mm1_response_percentile_s,
    mm1_response_s, mmc_response_s,
};
use sim::simulate;
use sim::storage::{Demand, Model};
use workload::arrival::Arrival;

use crate::runs::{CLOSED, MS, S, assert_near, poisson, reads, run, stream, whole};

const DEMAND_S: f64 = 1e-3;
const EXPONENTIAL: Demand = Demand::Exponential { mean_ns: 1e6 };
const DETERMINISTIC: Demand = Demand::Deterministic { ns: MS };
/// More than ever wait, so that the worker never holds an operation back.
const DEPTH: u32 = 4096;

/// Reads that were offered at utilization `rho`; more of them where they influence each other more.
fn open(rho: f64, servers: u32, demand: Demand) -> KindInterval {
    open_for(if rho > 0.85 { 3e6 } else { 4e5 }, rho, servers, demand)
}

/// So many reads that were offered at utilization `rho`.
fn open_for(ops: f64, rho: f64, servers: u32, demand: Demand) -> KindInterval {
    let rate = rate(rho, servers);
    let seconds = (ops / rate) as u64;
    let run = run(vec![stream(poisson(rate), DEPTH)], seconds * S, 20 * S);
    let record = simulate(&run, &Model::queue(servers, demand), 3);
    assert_eq!(whole(&record, 0).backlog_end, 0, "nothing was held back");
    reads(&record)
}

fn rate(rho: f64, servers: u32) -> f64 {
    rho * f64::from(servers) / DEMAND_S
}

fn mean_s(reads: &KindInterval) -> f64 {
    reads.response.mean_ns().unwrap() / 1e9
}

#[test]
fn one_server_with_exponential_demand_is_mm1() {
    for rho in [0.3, 0.5, 0.8, 0.9] {
        // At 0.8 some 40 reads in a row exceed a high percentile (`2 rho / (1 - rho)^2`), so of
        // 400,000 reads the slowest thousandth would be ten such times: too few for 5 %.
        let reads = open_for(if rho > 0.75 { 3e6 } else { 4e5 }, rho, 1, EXPONENTIAL);
        let expected = mm1_response_s(rate(rho, 1), DEMAND_S);
        assert_near(mean_s(&reads), expected, 0.025, &format!("mean at {rho}"));
        for fraction in [0.1, 0.5, 0.9, 0.99, 0.999] {
            let seen = reads.response.percentile_ns(fraction).unwrap() as f64 / 1e9;
            let expected = mm1_response_percentile_s(rate(rho, 1), DEMAND_S, fraction);
            // Busy periods are few and long at 0.9: three million operations are a few hundred.
            let tolerance = if rho > 0.85 { 0.1 } else { 0.05 };
            assert_near(seen, expected, tolerance, &format!("p{} at {rho}", fraction * 100.0));
        }
    }
}

#[test]
fn one_server_with_deterministic_demand_is_md1() {
    for rho in [0.3, 0.5, 0.8, 0.9] {
        let expected = DEMAND_S + md1_waiting_s(rate(rho, 1), DEMAND_S);
        let seen = mean_s(&open(rho, 1, DETERMINISTIC));
        assert_near(seen, expected, 0.02, &format!("mean at {rho}"));
    }
}

#[test]
fn one_server_with_lognormal_demand_answers_pollaczek_and_khinchine() {
    let sigma = 0.8f64;
    let variation = (sigma.powi(2).exp() - 1.0).sqrt();
    for rho in [0.3, 0.8] {
        let demand = Demand::Lognormal { mean_ns: 1e6, sigma };
        let expected = DEMAND_S + mg1_waiting_s(rate(rho, 1), DEMAND_S, variation);
        assert_near(mean_s(&open(rho, 1, demand)), expected, 0.03, &format!("mean at {rho}"));
    }
}

#[test]
fn four_servers_with_exponential_demand_are_mmc() {
    for rho in [0.3, 0.5, 0.8, 0.9] {
        let expected = mmc_response_s(rate(rho, 4), DEMAND_S, 4);
        let seen = mean_s(&open(rho, 4, EXPONENTIAL));
        assert_near(seen, expected, 0.025, &format!("mean at {rho}"));
    }
}

#[test]
fn a_closed_loop_reaches_the_smaller_of_n_over_d_and_c_over_d() {
    for (outstanding, servers) in [(1, 4), (3, 4), (4, 4), (7, 4), (64, 4), (64, 1)] {
        let run = run(vec![stream(CLOSED, outstanding)], 10 * S, S);
        let record = simulate(&run, &Model::queue(servers, DETERMINISTIC), 1);
        let reads = reads(&record);
        let bound = closed_rate_bound(outstanding, servers, DEMAND_S, 0.0);
        let in_window: u64 = record.intervals[..10].iter().map(|i| i.streams[0].completed()).sum();
        // What comes back at the very end is one batch of the servers too late for the window.
        assert_eq!(in_window, (bound * 10.0) as u64 - u64::from(servers.min(outstanding)));
        // Whatever is outstanding at the end comes back after it and is counted.
        assert_eq!(reads.completed, in_window + u64::from(outstanding));
        let expected = closed_response_s(f64::from(outstanding), bound, 0.0);
        // The first operations find nobody before them.
        assert_near(mean_s(&reads), expected, 0.005, "response time");
        assert_eq!(reads.service, reads.response, "nothing delays them in a closed loop");
    }
}

#[test]
fn think_time_takes_part_in_the_response_time_law() {
    let think_time_ns = 3 * MS;
    let run = run(vec![stream(Arrival::Closed { think_time_ns }, 6)], 100 * S, S);
    let reads = reads(&simulate(&run, &Model::queue(2, EXPONENTIAL), 1));
    let rate = reads.completed as f64 / 100.0;
    assert!(rate < closed_rate_bound(6, 2, DEMAND_S, 3e-3), "the bound is never passed");
    assert_near(mean_s(&reads), closed_response_s(6.0, rate, 3e-3), 0.005, "response time");
}
