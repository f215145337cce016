//! Users on storages of known behaviour: a closed network with think times, queues with several classes,
//! and scenarios that are late.

use metrics::interval::UsersInterval;
use metrics::run_record::RunRecord;
use sim::simulate;
use sim::storage::{Demand, Effect, Fault, Model};
use statistics::queueing::{closed_rate, md1_response_s};
use workload::arrival::{Arrival, ThinkTime};
use workload::names::{NameLoad, NameSize, NameSpread, TreeShape};
use workload::op::OpKind;
use workload::plan::Stream;
use workload::scenario::{Scenario, ScenarioStep, Starts, Users};

use crate::runs::{MS, S, assert_near, run, stream, whole};

/// A step of a scenario.
fn step(kind: OpKind, count: u16, think_time: Option<ThinkTime>) -> ScenarioStep {
    ScenarioStep::Operations { kind, count, think_time }
}

/// A stream of users, each of whom can have an operation in flight.
fn users(name: &str, users: Users, steps: Vec<ScenarioStep>) -> Stream {
    let scenario = Scenario { steps };
    let load = NameLoad {
        tree: TreeShape {
            files: 4 * u64::from(users.count),
            depth: 1,
            width: 10,
            directories: 10,
            name_length: 12,
            spread: NameSpread::RoundRobin,
            sizes: NameSize::constant(0),
        },
        mix: scenario.mix(),
        append_bytes: 0,
        scenario: Some(scenario),
    };
    assert_eq!(load.problem(users.count, 0), None);
    Stream {
        name: name.to_owned(),
        names: Some(load),
        ..stream(Arrival::Users(users), users.count)
    }
}

fn of_users(record: &RunRecord, stream: usize) -> UsersInterval {
    *whole(record, stream).users.expect("the stream has users")
}

#[test]
fn users_who_are_always_late_are_a_closed_network_with_think_times() {
    // Each scenario is one operation after an exponential think time, and the next is always due.
    let think = ThinkTime::Exponential { mean_ns: 100 * MS };
    for (count, servers) in [(20, 1), (100, 1), (150, 1), (300, 4)] {
        let population = Users { count, cycle_ns: MS, starts: Starts::Even };
        let steps = vec![step(OpKind::Stat, 1, Some(think))];
        let run = run(vec![users("home", population, steps)], 400 * S, 10 * S);
        let demand = Demand::Exponential { mean_ns: 1e6 };
        let record = simulate(&run, &Model::queue(servers, demand), 5);
        let sum = whole(&record, 0);
        let rate = sum.completed() as f64 / 400.0;
        let expected = closed_rate(f64::from(count), 0.1, 1e-3, f64::from(servers));
        assert_near(rate, expected, 0.01, &format!("rate of {count} users, {servers} servers"));
        // The interactive response time law: N = X (R + Z).
        let response_s = sum.kinds[OpKind::Stat].response.mean_ns().unwrap() / 1e9;
        let expected_s = f64::from(count) / expected - 0.1;
        assert_near(response_s, expected_s, 0.05, &format!("response time of {count} users"));
        let late = of_users(&record, 0);
        assert!(late.late as f64 > 0.99 * late.due as f64, "{} of {}", late.late, late.due);
    }
}

#[test]
fn many_users_with_random_starts_are_a_poisson_process_of_several_classes() {
    // Each user starts once within the run, so starts are uniform and independent of each other.
    let population = |count| Users { count, cycle_ns: 400 * S, starts: Starts::Random };
    let streams = vec![
        users("quick", population(150_000), vec![step(OpKind::Stat, 1, None)]),
        users("slow", population(50_000), vec![step(OpKind::Readdirplus, 1, None)]),
    ];
    let run = run(streams, 400 * S, 10 * S);
    // Listings take three times as long.
    let slow = Fault {
        from_ns: 0,
        until_ns: 1000 * S,
        kind: Some(OpKind::Readdirplus),
        probability: 1.0,
        effect: Effect::Slow { factor: 3.0 },
    };
    let model = Model { faults: vec![slow], ..Model::queue(1, Demand::Deterministic { ns: MS }) };
    let record = simulate(&run, &model, 5);
    // Pollaczek and Khinchine: 375/s of 1 ms and 125/s of 3 ms.
    let (rate, load) = (500.0, 0.375 + 0.375);
    let second_moment = (0.75 * 1.0 + 0.25 * 9.0) * 1e-6;
    let waiting_s = rate * second_moment / (2.0 * (1.0 - load));
    for (index, kind, demand_s) in [(0, OpKind::Stat, 1e-3), (1, OpKind::Readdirplus, 3e-3)] {
        let response_s = whole(&record, index).kinds[kind].response.mean_ns().unwrap() / 1e9;
        assert_near(response_s, waiting_s + demand_s, 0.04, kind.name());
    }
    // One class is M/D/1.
    let one = users("quick", population(200_000), vec![step(OpKind::Stat, 1, None)]);
    let run = crate::runs::run(vec![one], 400 * S, 10 * S);
    let record = simulate(&run, &Model::queue(1, Demand::Deterministic { ns: MS }), 5);
    let response_s = whole(&record, 0).kinds[OpKind::Stat].response.mean_ns().unwrap() / 1e9;
    assert_near(response_s, md1_response_s(500.0, 1e-3), 0.03, "one class");
}

#[test]
fn scenarios_are_late_from_the_start_that_arithmetic_gives() {
    // 100 users need 1.26 s of the server in each cycle of 1 s. Operation n, due at n x 10 ms, ends at
    // (n + 1) x 12.6 ms: 12.6 ms + n x 2.6 ms later. From n = 380 on that is more than a cycle, so
    // starts are late from number 480 on, and remain so.
    let population = Users { count: 100, cycle_ns: S, starts: Starts::Even };
    let steps = vec![step(OpKind::Stat, 1, None)];
    let run = run(vec![users("home", population, steps)], 10 * S, S);
    let demand = Demand::Deterministic { ns: 12_600_000 };
    let record = simulate(&run, &Model::queue(1, demand), 1);
    let sum = of_users(&record, 0);
    // Of the 1,000 starts the first of each user cannot be late.
    assert_eq!((sum.due, sum.late), (900, 520));
    let by_interval: Vec<(u64, u64)> = record
        .intervals
        .iter()
        .filter_map(|interval| interval.streams[0].users.as_ref())
        .map(|users| (users.due, users.late))
        .take(10)
        .collect();
    let expected = [0, 0, 0, 0, 20, 100, 100, 100, 100, 100].map(|late| (100, late));
    assert_eq!(by_interval[1..], expected[1..]);
    assert_eq!(by_interval[0], (0, 0));
}

#[test]
fn a_population_that_the_service_can_serve_starts_every_scenario_in_time() {
    // 60 users need 0.756 s of the server in each cycle, and their starts are evenly spaced, so each
    // finds it free: a scenario of two operations takes twice its demand and its think time.
    let population = Users { count: 60, cycle_ns: 2 * S, starts: Starts::Even };
    let think = ThinkTime::Uniform { min_ns: 10 * MS, max_ns: 10 * MS };
    let steps = vec![
        step(OpKind::Create, 1, None),
        ScenarioStep::Pause(think),
        step(OpKind::Unlink, 1, None),
    ];
    let run = run(vec![users("home", population, steps)], 20 * S, S);
    let record = simulate(&run, &Model::queue(1, Demand::Deterministic { ns: MS }), 1);
    let sum = of_users(&record, 0);
    assert_eq!((sum.started, sum.completed, sum.due, sum.late), (600, 600, 540, 0));
    assert_eq!((sum.duration_us.min_ns, sum.duration_us.max_ns), (12_000, 12_000));
    // Operations are sent when they are due.
    assert_eq!((sum.delay.total(), sum.delay.max_ns), (1200, 0));
    assert_eq!(whole(&record, 0).backlog_time_ns, 0);
}

#[test]
fn steps_at_offsets_are_due_at_them_unless_the_operations_before_take_longer() {
    // 10 users, one each 1 s of the cycle: an operation immediately, one 300 ms into the cycle, two 600 ms
    // into it of which the second follows 50 ms after the first.
    let population = Users { count: 10, cycle_ns: 10 * S, starts: Starts::Even };
    let pause = ThinkTime::Uniform { min_ns: 50 * MS, max_ns: 50 * MS };
    let steps = vec![
        step(OpKind::Stat, 1, None),
        ScenarioStep::At(300 * MS),
        step(OpKind::Open, 1, None),
        ScenarioStep::At(600 * MS),
        step(OpKind::Readdir, 1, None),
        step(OpKind::Lookup, 1, Some(pause)),
    ];
    for (service_ms, duration_ms) in [
        // 600 + 100 + 50 + 100.
        (100, 850),
        // 350 ms: the second, due at 300 ms, waits for the first, and the third for the second.
        (350, 1450),
    ] {
        let run = run(vec![users("home", population, steps.clone())], 30 * S, 100 * MS);
        let demand = Demand::Deterministic { ns: service_ms * MS };
        // Enough servers for operations never to wait.
        let record = simulate(&run, &Model::queue(20, demand), 1);
        let sum = of_users(&record, 0);
        assert_eq!((sum.started, sum.late), (30, 0), "{service_ms}");
        let duration = (sum.duration_us.min_ns, sum.duration_us.max_ns);
        assert_eq!(duration, (duration_ms * 1000, duration_ms * 1000), "{service_ms}");
        // Due when it was sent, in every case: no wait is in the response time.
        for kind in [OpKind::Stat, OpKind::Open, OpKind::Readdir, OpKind::Lookup] {
            let response = &whole(&record, 0).kinds[kind].response;
            assert_eq!(response.max_ns, service_ms * MS, "{}", kind.name());
        }
    }
}

#[test]
fn a_late_scenario_catches_up_by_its_offsets() {
    // The service stalls for 1.5 s, longer than the cycle of 1 s: the scenario of 0 s ends late, so the
    // next one starts late. Its second operation is due 500 ms into its own cycle, which has passed.
    let population = Users { count: 1, cycle_ns: S, starts: Starts::Even };
    let steps =
        vec![step(OpKind::Stat, 1, None), ScenarioStep::At(500 * MS), step(OpKind::Open, 1, None)];
    let run = run(vec![users("home", population, steps)], 10 * S, S);
    let stalled = Fault {
        from_ns: 0,
        until_ns: 10 * MS,
        kind: Some(OpKind::Stat),
        probability: 1.0,
        effect: Effect::Slow { factor: 1500.0 },
    };
    let demand = Demand::Deterministic { ns: MS };
    let model = Model { faults: vec![stalled], ..Model::queue(1, demand) };
    let sum = of_users(&simulate(&run, &model, 1), 0);
    // The scenario due at 1 s starts at 1.501 s and ends 2 ms later: that of 2 s is in time again.
    assert_eq!((sum.due, sum.late, sum.completed), (9, 1, 10));
    assert_eq!((sum.duration_us.min_ns, sum.duration_us.max_ns), (2_000, 1_501_000));
}

#[test]
fn users_wait_for_a_free_slot_and_the_wait_is_part_of_the_response_time() {
    // Four users start together; one operation may be in flight.
    let population = Users { count: 4, cycle_ns: S, starts: Starts::Even };
    let steps = vec![
        ScenarioStep::Pause(ThinkTime::Uniform { min_ns: 0, max_ns: 0 }),
        step(OpKind::Stat, 1, None),
    ];
    let mut home = users("home", Users { cycle_ns: 40, ..population }, steps);
    home.queue_depth = 1;
    let run = run(vec![home], 10 * MS, 10 * MS);
    let record = simulate(&run, &Model::queue(1, Demand::Deterministic { ns: MS }), 1);
    let sum = whole(&record, 0);
    let stat = &sum.kinds[OpKind::Stat];
    assert_eq!((stat.completed, stat.service.max_ns), (10, MS));
    // From the fifth on each waited for the three others.
    assert_eq!(stat.response.max_ns, 4 * MS);
    // Three wait from the start to the end, but for the 60 ns until the last is due.
    assert_eq!(sum.backlog_time_ns, 30 * u128::from(MS) - 60);
    assert_eq!(record.intervals[0].streams[0].backlog_end, 3);
}
