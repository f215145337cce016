//! Measurements of queues agree with queueing theory.

use metrics::interval::KindInterval;
use sim::simulate;
use sim::storage::{Demand, Model};
use statistics::queueing::{bounds_rate, md1_response_s, mm1_response_s, mmc_response_s};
use workload::arrival::Arrival;

use crate::runs::{CLOSED, MS, S, assert_near, poisson, reads, run, stream, whole};

const DEMAND_S: f64 = 1e-3;
const EXPONENTIAL: Demand = Demand::Exponential { mean_ns: 1e6 };
const DETERMINISTIC: Demand = Demand::Deterministic { ns: MS };
/// More than ever wait, so that the worker never delays an operation.
const DEPTH: u32 = 4096;

/// Reads offered at utilization `rho`; more of them if they influence each other more.
fn open(rho: f64, servers: u32, demand: Demand) -> KindInterval {
    open_for(if rho > 0.85 { 3e6 } else { 4e5 }, rho, servers, demand)
}

/// This number of reads offered at utilization `rho`.
fn open_for(ops: f64, rho: f64, servers: u32, demand: Demand) -> KindInterval {
    let rate = rate(rho, servers);
    let seconds = (ops / rate) as u64;
    let run = run(vec![stream(poisson(rate), DEPTH)], seconds * S, 20 * S);
    let record = simulate(&run, &Model::queue(servers, demand), 3);
    assert_eq!(whole(&record, 0).backlog_end, 0, "no operation was delayed");
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
        // At 0.8 about 40 consecutive reads exceed a high percentile (`2 rho / (1 - rho)^2`), so
        // the slowest thousandth of 400,000 reads would be ten such sequences: too few for 5 %.
        let reads = open_for(if rho > 0.75 { 3e6 } else { 4e5 }, rho, 1, EXPONENTIAL);
        let mean = mm1_response_s(rate(rho, 1), DEMAND_S);
        assert_near(mean_s(&reads), mean, 0.025, &format!("mean at {rho}"));
        for fraction in [0.1, 0.5, 0.9, 0.99, 0.999] {
            let seen = reads.response.percentile_ns(fraction).unwrap() as f64 / 1e9;
            // Response times of M/M/1 are exponential.
            let expected = -mean * (1.0 - fraction).ln();
            // At 0.9 busy periods are few and long: three million operations are a few hundred.
            let tolerance = if rho > 0.85 { 0.1 } else { 0.05 };
            assert_near(seen, expected, tolerance, &format!("p{} at {rho}", fraction * 100.0));
        }
    }
}

#[test]
fn one_server_with_deterministic_demand_is_md1() {
    for rho in [0.3, 0.5, 0.8, 0.9] {
        let expected = md1_response_s(rate(rho, 1), DEMAND_S);
        let seen = mean_s(&open(rho, 1, DETERMINISTIC));
        assert_near(seen, expected, 0.02, &format!("mean at {rho}"));
    }
}

#[test]
fn one_server_with_lognormal_demand_follows_pollaczek_and_khinchine() {
    let sigma = 0.8f64;
    let variation = (sigma.powi(2).exp() - 1.0).sqrt();
    for rho in [0.3, 0.8] {
        let demand = Demand::Lognormal { mean_ns: 1e6, sigma };
        let md1_waiting_s = md1_response_s(rate(rho, 1), DEMAND_S) - DEMAND_S;
        let expected = DEMAND_S + md1_waiting_s * (1.0 + variation.powi(2));
        assert_near(mean_s(&open(rho, 1, demand)), expected, 0.03, &format!("mean at {rho}"));
    }
}

#[test]
fn four_servers_with_exponential_demand_are_mmc() {
    for rho in [0.3, 0.5, 0.8, 0.9] {
        let expected = mmc_response_s(rate(rho, 4), DEMAND_S, 4.0);
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
        let bound = bounds_rate(f64::from(outstanding), DEMAND_S, rate(1.0, servers));
        let in_window: u64 = record.intervals[..10].iter().map(|i| i.streams[0].completed()).sum();
        // The last batch of the servers completes after the window.
        assert_eq!(in_window, (bound * 10.0) as u64 - u64::from(servers.min(outstanding)));
        // Operations outstanding at the end complete after it and are counted.
        assert_eq!(reads.completed, in_window + u64::from(outstanding));
        let expected = f64::from(outstanding) / bound;
        // The first operations find no queue.
        assert_near(mean_s(&reads), expected, 0.005, "response time");
        assert_eq!(reads.service, reads.response, "nothing delays them in a closed loop");
    }
}

#[test]
fn think_time_is_part_of_the_response_time_law() {
    let think_time_ns = 3 * MS;
    let run = run(vec![stream(Arrival::Closed { think_time_ns }, 6)], 100 * S, S);
    let reads = reads(&simulate(&run, &Model::queue(2, EXPONENTIAL), 1));
    let rate = reads.completed as f64 / 100.0;
    assert!(rate < bounds_rate(6.0, DEMAND_S + 3e-3, 2.0 / DEMAND_S), "the bound is not exceeded");
    assert_near(mean_s(&reads), 6.0 / rate - 3e-3, 0.005, "response time");
}
