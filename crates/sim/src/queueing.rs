//! What queueing theory says about the models: the truth that simulations are held against.
//!
//! Times are in seconds, rates per second. A *service demand* is what an operation needs of a
//! server without waiting; utilization is `rate * demand / servers`. The formulas for open queues
//! hold for Poisson arrivals, service in the order of arrival, and below utilization 1; at or above
//! it there is no steady state and the functions return infinity.
//!
//! Sources: Kleinrock, "Queueing Systems", vol. 1, 1975; Gross, Shortle, Thompson and Harris,
//! "Fundamentals of Queueing Theory", 4th ed. 2008; Jain, "The Art of Computer Systems Performance
//! Analysis", 1991; Lazowska, Zahorjan, Graham and Sevcik, "Quantitative System Performance", 1984.

/// Share of the servers' time that is used: the utilization law, `rho = X D / c`
/// (Lazowska et al., section 3.2).
pub fn utilization(rate: f64, demand_s: f64, servers: u32) -> f64 {
    rate * demand_s / f64::from(servers)
}

/// Mean response time of M/M/1: `R = D / (1 - rho)`.
///
/// Source: Kleinrock, section 3.2; Jain, box 31.1.
pub fn mm1_response_s(rate: f64, demand_s: f64) -> f64 {
    let rho = utilization(rate, demand_s, 1);
    if rho < 1.0 { demand_s / (1.0 - rho) } else { f64::INFINITY }
}

/// The response time of M/M/1 that a share `fraction` of operations does not exceed: it is
/// exponential, so `R * ln(1 / (1 - fraction))`.
///
/// Source: Jain, box 31.1.
pub fn mm1_response_percentile_s(rate: f64, demand_s: f64, fraction: f64) -> f64 {
    -mm1_response_s(rate, demand_s) * (1.0 - fraction).ln()
}

/// Mean waiting time of M/D/1, without the service itself: `W = rho D / (2 (1 - rho))`.
///
/// Source: the Pollaczek-Khinchine formula (Kleinrock, section 5.6) without variance of the demand.
pub fn md1_waiting_s(rate: f64, demand_s: f64) -> f64 {
    let rho = utilization(rate, demand_s, 1);
    if rho < 1.0 { rho * demand_s / (2.0 * (1.0 - rho)) } else { f64::INFINITY }
}

/// Mean waiting time of M/G/1, without the service itself:
/// `W = rho D (1 + v^2) / (2 (1 - rho))`, where `v` is the demand's coefficient of variation
/// (standard deviation over mean).
///
/// Source: the Pollaczek-Khinchine formula (Kleinrock, section 5.6).
pub fn mg1_waiting_s(rate: f64, demand_s: f64, variation: f64) -> f64 {
    md1_waiting_s(rate, demand_s) * (1.0 + variation * variation)
}

/// The probability that an arriving operation finds all servers of M/M/c busy: Erlang C.
///
/// Computed from Erlang B by its recursion `B(k) = a B(k-1) / (k + a B(k-1))`, which needs no
/// factorials: `C = B / (1 - rho (1 - B))`.
///
/// Source: Kleinrock, section 3.5; the recursion is in Gross et al., section 2.4.
pub fn erlang_c(rate: f64, demand_s: f64, servers: u32) -> f64 {
    let rho = utilization(rate, demand_s, servers);
    if rho >= 1.0 {
        return 1.0;
    }
    let offered = rate * demand_s;
    let step = |blocked: f64, k: u32| offered * blocked / (f64::from(k) + offered * blocked);
    let blocked = (1..=servers).fold(1.0, step);
    blocked / (1.0 - rho * (1.0 - blocked))
}

/// Mean response time of M/M/c: `R = D + C D / (c (1 - rho))` with Erlang's C.
///
/// Source: Kleinrock, section 3.5; Gross et al., section 2.3.
pub fn mmc_response_s(rate: f64, demand_s: f64, servers: u32) -> f64 {
    let rho = utilization(rate, demand_s, servers);
    if rho >= 1.0 {
        return f64::INFINITY;
    }
    let waiting = erlang_c(rate, demand_s, servers) / (f64::from(servers) * (1.0 - rho));
    demand_s * (1.0 + waiting)
}

/// Mean response time of a closed loop: the interactive response time law, `R = N / X - Z`.
///
/// * `outstanding`: operations outstanding or thinking, all of them
/// * `rate`: completions per second
/// * `think_time_s`: from a completion to the next operation it makes due
///
/// Source: Lazowska et al., section 3.3 (the response time law).
pub fn closed_response_s(outstanding: f64, rate: f64, think_time_s: f64) -> f64 {
    outstanding / rate - think_time_s
}

/// The largest rate that `outstanding` operations in a closed loop can reach on `servers` servers:
/// `min(N / (D + Z), c / D)`. Reached exactly where demands do not vary and all begin together.
///
/// Source: Lazowska et al., section 5.2 (asymptotic bounds).
pub fn closed_rate_bound(outstanding: u32, servers: u32, demand_s: f64, think_time_s: f64) -> f64 {
    let by_outstanding = f64::from(outstanding) / (demand_s + think_time_s);
    by_outstanding.min(f64::from(servers) / demand_s)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(value: f64, expected: f64, digits: i32) {
        let tolerance = 0.5 * 10f64.powi(-digits);
        assert!((value - expected).abs() <= tolerance, "{value}, not {expected}");
    }

    #[test]
    fn mm1_answers_jains_gateway() {
        // Jain, example 31.2: 125 packets per second, 2 ms each: utilization 0.25, 2.66 ms.
        near(utilization(125.0, 0.002, 1), 0.25, 12);
        near(mm1_response_s(125.0, 0.002) * 1e3, 2.0 / 0.75, 9);
        // The median of an exponential is its mean times ln 2.
        near(mm1_response_percentile_s(125.0, 0.002, 0.5), 0.002 / 0.75 * 2f64.ln(), 12);
        near(mm1_response_percentile_s(125.0, 0.002, 0.9), 0.002 / 0.75 * 10f64.ln(), 12);
    }

    #[test]
    fn md1_waits_half_as_long_as_mm1() {
        for rho in [0.1, 0.5, 0.9] {
            let mm1_waiting_s = mm1_response_s(rho, 1.0) - 1.0;
            near(md1_waiting_s(rho, 1.0), mm1_waiting_s / 2.0, 12);
            near(mg1_waiting_s(rho, 1.0, 1.0), mm1_waiting_s, 12);
        }
        // At utilization 0.9 the mean wait is four and a half demands.
        near(md1_waiting_s(0.9, 1.0), 4.5, 9);
    }

    #[test]
    fn mmc_answers_the_eye_clinic_of_gross_and_harris() {
        // Three doctors, 20 minutes each, six patients an hour: on average 8/9 of a patient waits,
        // and a patient is there for 28.9 minutes.
        let (rate, demand_s) = (6.0, 1.0 / 3.0);
        near(erlang_c(rate, demand_s, 3), 4.0 / 9.0, 12);
        let response_h = mmc_response_s(rate, demand_s, 3);
        near(rate * (response_h - demand_s), 8.0 / 9.0, 12);
        near(response_h * 60.0, 28.9, 1);
    }

    #[test]
    fn one_server_of_mmc_is_mm1() {
        for rho in [0.1, 0.5, 0.95] {
            near(mmc_response_s(rho, 1.0, 1), mm1_response_s(rho, 1.0), 9);
            near(erlang_c(rho, 1.0, 1), rho, 12);
        }
    }

    #[test]
    fn at_utilization_one_there_is_no_steady_state() {
        assert_eq!(mm1_response_s(1.0, 1.0), f64::INFINITY);
        assert_eq!(md1_waiting_s(2.0, 1.0), f64::INFINITY);
        assert_eq!(mmc_response_s(4.0, 1.0, 4), f64::INFINITY);
        near(erlang_c(4.0, 1.0, 4), 1.0, 12);
    }

    #[test]
    fn the_response_time_law_answers_lazowskas_interactive_system() {
        // 64 users who think 30 s, two interactions per second: 2 s each.
        near(closed_response_s(64.0, 2.0, 30.0), 2.0, 12);
    }

    #[test]
    fn a_closed_loop_is_bound_by_its_operations_and_then_by_the_servers() {
        near(closed_rate_bound(2, 4, 0.001, 0.0), 2000.0, 9);
        near(closed_rate_bound(64, 4, 0.001, 0.0), 4000.0, 9);
        near(closed_rate_bound(2, 4, 0.001, 0.003), 500.0, 9);
    }
}
