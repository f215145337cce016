//! Queueing theory: rate and response time of single queues and closed loops.
//!
//! Times are in seconds, rates in operations per second. `demand_s` is the time an operation
//! occupies a server, without waiting. The number of servers may lie between whole numbers: `k` operations
//! are served at the rate `min(k, servers) / demand_s`, which is M/M/c where `servers` is whole,
//! and lets a fit move smoothly from one to the next.

/// Mean response time of M/M/1 at `rate`: `D / (1 - rate D)`; infinite at utilization 1.
///
/// Source: Kleinrock, "Queueing Systems", vol. 1, 1975, section 3.2.
pub fn mm1_response_s(rate: f64, demand_s: f64) -> f64 {
    let rho = rate * demand_s;
    if rho < 1.0 { demand_s / (1.0 - rho) } else { f64::INFINITY }
}

/// Mean response time of M/D/1 at `rate`: `D + rho D / (2 (1 - rho))`; infinite at utilization 1.
///
/// Source: the Pollaczek-Khinchine formula (Kleinrock, section 5.6).
pub fn md1_response_s(rate: f64, demand_s: f64) -> f64 {
    let rho = rate * demand_s;
    if rho < 1.0 { demand_s * (1.0 + rho / (2.0 * (1.0 - rho))) } else { f64::INFINITY }
}

/// Mean response time of M/M/c at `rate`, from the probabilities of its states: the state with `k`
/// operations has the weight `prod (rate D / min(j, c))`. By Little's law the result is their mean number over the rate.
///
/// Source: Kleinrock, section 3.5 (Erlang C).
pub fn mmc_response_s(rate: f64, demand_s: f64, servers: f64) -> f64 {
    let offered = rate * demand_s;
    let rho = offered / servers;
    if rho >= 1.0 {
        return f64::INFINITY;
    }
    if rate <= 0.0 {
        return demand_s;
    }
    // Up to the state in which all servers work one by one, from there on a geometric series.
    let full = servers.ceil();
    let (mut weight, mut sum, mut weighted) = (1.0, 0.0, 0.0);
    let mut k = 0.0;
    while k < full {
        sum += weight;
        weighted += k * weight;
        k += 1.0;
        weight *= offered / servers.min(k);
        // Weights grow at first; scaled so that they never overflow.
        if weight > 1e200 {
            (sum, weighted, weight) = (sum * 1e-200, weighted * 1e-200, weight * 1e-200);
        }
    }
    // The states from `full` on: sum of w rho^i is w / (1 - rho), and the sum of (full + i) w rho^i.
    let rest = weight / (1.0 - rho);
    sum += rest;
    weighted += full * rest + rest * rho / (1.0 - rho);
    weighted / sum / rate
}

/// The rate of a closed loop of `population` operations that are delayed for `delay_s` (without a
/// queue) and then served by `servers` servers behind one queue, with exponential demands: the
/// machine repair model. Of the states, `k` at the servers has the weight
/// `delay^(N-k) / (N-k)! x prod_(j<=k) (D / min(j, c))`, and the rate is that of the mean number of
/// busy servers. Summed outwards from the most probable state until terms are negligible.
///
/// For one server this equals exact mean value analysis.
///
/// Source: Gross, Shortle, Thompson and Harris, "Fundamentals of Queueing Theory", 4th ed. 2008,
/// section 2.7 (finite sources); Lazowska et al., "Quantitative System Performance", 1984, ch. 6.
pub fn closed_rate(population: f64, delay_s: f64, demand_s: f64, servers: f64) -> f64 {
    if delay_s <= 0.0 {
        return population.min(servers) / demand_s;
    }
    // weight(k) / weight(k - 1)
    let step = |k: f64| demand_s * (population - k + 1.0) / (servers.min(k) * delay_s);
    let free = (demand_s * population - delay_s) / (demand_s + delay_s);
    let queued = population - servers * delay_s / demand_s;
    let mode = if free < servers { free } else { queued };
    let mode = mode.round().clamp(0.0, population);
    let busy = |k: f64| servers.min(k);
    let (mut sum, mut working) = (1.0, busy(mode));
    let mut add = |k: f64, weight: f64| {
        sum += weight;
        working += busy(k) * weight;
        weight > 1e-16
    };
    let (mut k, mut weight) = (mode, 1.0);
    while k < population {
        k += 1.0;
        weight *= step(k);
        if !add(k, weight) {
            break;
        }
    }
    let (mut k, mut weight) = (mode, 1.0);
    while k > 0.0 {
        weight /= step(k);
        k -= 1.0;
        if !add(k, weight) {
            break;
        }
    }
    working / sum / demand_s
}

/// The upper bound on the rate of a closed loop: `min(N / (R + Z), X_max)`.
///
/// Source: Lazowska et al., section 5.2 (asymptotic bounds).
pub fn bounds_rate(population: f64, alone_s: f64, capacity: f64) -> f64 {
    (population / alone_s).min(capacity)
}

/// Gunther's universal scalability law: `gamma N / (1 + sigma (N - 1) + kappa N (N - 1))`.
///
/// Source: N. J. Gunther, "Guerrilla Capacity Planning", 2007, chapter 4.
pub fn usl_rate(population: f64, gamma: f64, sigma: f64, kappa: f64) -> f64 {
    let others = population - 1.0;
    gamma * population / (1.0 + sigma * others + kappa * population * others)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn near(value: f64, expected: f64, share: f64) {
        assert!((value / expected - 1.0).abs() <= share, "{value}, not {expected}");
    }

    #[test]
    fn mm1_matches_jains_gateway_example() {
        // Jain, "The Art of Computer Systems Performance Analysis", example 31.2: 125 packets per
        // second of 2 ms: 2.66 ms.
        near(mm1_response_s(125.0, 0.002), 0.002 / 0.75, 1e-12);
        assert_eq!(mm1_response_s(500.0, 0.002), f64::INFINITY);
    }

    #[test]
    fn md1_waits_half_as_long_as_mm1() {
        for rho in [0.1, 0.5, 0.9] {
            near(md1_response_s(rho, 1.0) - 1.0, (mm1_response_s(rho, 1.0) - 1.0) / 2.0, 1e-12);
        }
    }

    #[test]
    fn mmc_matches_the_eye_clinic_of_gross_and_harris() {
        // Three doctors, 20 minutes each, six patients an hour: 28.9 minutes; 8/9 wait on average.
        let response_h = mmc_response_s(6.0, 1.0 / 3.0, 3.0);
        assert!((response_h * 60.0 - 28.9).abs() < 0.05, "{}", response_h * 60.0);
        near(6.0 * (response_h - 1.0 / 3.0), 8.0 / 9.0, 1e-12);
        assert_eq!(mmc_response_s(9.0, 1.0 / 3.0, 3.0), f64::INFINITY);
    }

    #[test]
    fn one_server_of_mmc_is_mm1_and_between_whole_numbers_it_is_monotone() {
        for rho in [0.1, 0.5, 0.95] {
            near(mmc_response_s(rho, 1.0, 1.0), mm1_response_s(rho, 1.0), 1e-12);
        }
        // At the same capacity more and slower servers take longer.
        let at = |servers: f64| mmc_response_s(0.8, servers, servers);
        let servers: Vec<f64> = (4..=40).map(|quarter| f64::from(quarter) / 4.0).collect();
        assert!(servers.windows(2).all(|pair| at(pair[0]) < at(pair[1])));
        // A thousand servers do not overflow.
        near(mmc_response_s(500.0, 1.0, 1000.0), 1.0, 1e-9);
    }

    /// Mean response time of M/M/c by Erlang's C, computed from Erlang B by its recursion
    /// `B(k) = a B(k-1) / (k + a B(k-1))`: `C = B / (1 - rho (1 - B))`.
    ///
    /// Source: Kleinrock, section 3.5; the recursion is in Gross et al., section 2.4.
    fn by_erlang_c_s(rate: f64, demand_s: f64, servers: u32) -> f64 {
        let offered = rate * demand_s;
        let rho = offered / f64::from(servers);
        let step = |blocked: f64, k: u32| offered * blocked / (f64::from(k) + offered * blocked);
        let blocked = (1..=servers).fold(1.0, step);
        let waits = blocked / (1.0 - rho * (1.0 - blocked));
        demand_s * (1.0 + waits / (f64::from(servers) * (1.0 - rho)))
    }

    #[test]
    fn mmc_matches_erlang_c() {
        for servers in [1, 2, 3, 4, 16, 100] {
            for rho in [0.1, 0.5, 0.8, 0.95] {
                let rate = rho * f64::from(servers);
                let expected = by_erlang_c_s(rate, 1.0, servers);
                near(mmc_response_s(rate, 1.0, f64::from(servers)), expected, 1e-9);
            }
        }
    }

    /// Exact mean value analysis of one queue and a delay.
    ///
    /// Source: Reiser and Lavenberg, Journal of the ACM 27(2), 1980; Lazowska et al., section 6.4.
    fn mva_rate(population: u32, delay_s: f64, demand_s: f64) -> f64 {
        let (mut queue, mut rate) = (0.0, 0.0);
        for n in 1..=population {
            let residence_s = demand_s * (1.0 + queue);
            rate = f64::from(n) / (delay_s + residence_s);
            queue = rate * residence_s;
        }
        rate
    }

    #[test]
    fn a_closed_loop_with_one_server_matches_mean_value_analysis() {
        for population in [1, 2, 5, 20, 100, 1000] {
            for delay_s in [0.001, 0.01, 0.1, 1.0] {
                let n = f64::from(population);
                near(closed_rate(n, delay_s, 0.01, 1.0), mva_rate(population, delay_s, 0.01), 1e-9);
            }
        }
    }

    #[test]
    fn a_closed_loop_with_several_servers_matches_the_repairmen_of_gross_and_harris() {
        // Two repairmen, five machines that run for 30 hours and are repaired in 3: by the states'
        // weights C(5, k) (1/10)^k for k up to 2, and k! / (2^(k-2) 2!) as much beyond.
        let a: f64 = 0.1;
        let weights =
            [1.0, 5.0 * a, 10.0 * a.powi(2), 15.0 * a.powi(3), 15.0 * a.powi(4), 7.5 * a.powi(5)];
        let sum: f64 = weights.iter().sum();
        let busy = (weights[1] + 2.0 * weights[2..].iter().sum::<f64>()) / sum;
        near(closed_rate(5.0, 30.0, 3.0, 2.0), busy / 3.0, 1e-12);
    }

    #[test]
    fn without_a_delay_all_servers_are_busy_and_no_rate_exceeds_its_bound() {
        assert_eq!(closed_rate(3.0, 0.0, 0.01, 4.0), 300.0);
        assert_eq!(closed_rate(9.0, 0.0, 0.01, 4.0), 400.0);
        for population in [1.0, 3.0, 10.0, 30.0, 100.0, 65536.0] {
            let rate = closed_rate(population, 0.05, 0.01, 4.0);
            assert!(rate <= bounds_rate(population, 0.06, 400.0) * (1.0 + 1e-9), "{population}");
        }
        near(closed_rate(65536.0, 0.05, 0.01, 4.0), 400.0, 1e-12);
    }

    #[test]
    fn the_universal_scalability_law_peaks_at_its_known_population() {
        // The peak is at sqrt((1 - sigma) / kappa).
        let at = |n: f64| usl_rate(n, 1000.0, 0.02, 0.0002);
        assert_eq!(at(1.0), 1000.0);
        let top = (0.98f64 / 0.0002).sqrt();
        assert!(at(top) > at(top - 1.0) && at(top) > at(top + 1.0));
    }
}
