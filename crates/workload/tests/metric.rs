//! A business metric as the load: its load points scale every stream, and wrong ones are refused.

use expect_test::{Expect, expect};
use workload::arrival::Arrival;
use workload::experiment::parse_with;
use workload::metric::{Metric, ResponseTime};
use workload::overrides::Override;
use workload::plan::{Plan, TargetSpec};
use workload::resolve::{ResolveOptions, resolve};

/// An experiment with these lines in `[metric]`, and with these arrivals of two streams.
fn experiment(metric: &str, arrivals: [&str; 2]) -> String {
    let stream = |name: &str, arrival: &str| {
        format!(
            "[stream.{name}]\nread = '70%'\ntransfer_size = '8k'\npattern = 'random'\nfile_size = \
             '1GiB'\nqueue_depth = 4\n{arrival}\n"
        )
    };
    format!(
        "name = 'eda'\n[metric]\n{metric}\n{}{}",
        stream("small", arrivals[0]),
        stream("large", arrivals[1])
    )
}

const RATES: [&str; 2] = ["arrival = { poisson = '300/s' }", "arrival = { constant = '150/s' }"];

fn plan(text: &str, settings: &[&str]) -> Result<Plan, String> {
    let overrides: Vec<Override> = settings.iter().map(|text| Override::set(text)).collect();
    let shown = |problems: Vec<settings::Diagnostic>| {
        problems.iter().map(|problem| format!("{problem}\n")).collect::<String>()
    };
    let experiment = parse_with(text, "x.toml", &overrides).map_err(shown)?;
    resolve(&experiment, "x.toml", TargetSpec::Null, &ResolveOptions::LOCAL).map_err(shown)
}

/// The name of each run and the rates that its streams offer.
fn offered(plan: &Plan) -> Vec<(String, [f64; 2])> {
    let rate = |arrival: &Arrival| arrival.offered_rate(0, 1_000_000_000).unwrap().get();
    let runs = plan.known_runs();
    runs.map(|run| (run.load_point(), [0, 1].map(|at| rate(&run.streams[at].arrival)))).collect()
}

fn refused(metric: &str, arrivals: [&str; 2], expected: Expect) {
    expected.assert_eq(&plan(&experiment(metric, arrivals), &[]).unwrap_err());
}

#[test]
fn each_value_scales_the_rate_of_every_stream() {
    let text = experiment("name = 'job sets'\nvalues = [1, 20]", RATES);
    let plan = plan(&text, &[]).unwrap();
    let expected = [
        ("eda, job sets=1".to_owned(), [300.0, 150.0]),
        ("eda, job sets=20".to_owned(), [6000.0, 3000.0]),
    ];
    assert_eq!(offered(&plan), expected);
    let metric = Metric {
        name: "job sets".to_owned(),
        rate_min_permille: 950,
        response_time_max_ns: None,
        response_time: ResponseTime::Mean,
        capacity_bytes: None,
        inodes: None,
    };
    assert_eq!(plan.metric, Some(metric));
    // A plan without a metric is stored as before.
    let stored = serde_json::to_string(&plan).unwrap();
    assert_eq!(serde_json::from_str::<Plan>(&stored).unwrap(), plan);
}

#[test]
fn a_maximum_has_ten_load_points_and_the_command_line_sets_keys() {
    let text = experiment("name = 'agents'\nmaximum = 50", RATES);
    let values = |settings: &[&str]| -> Vec<String> {
        let names = offered(&plan(&text, settings).unwrap()).into_iter();
        names.map(|(name, _)| name.trim_start_matches("eda, agents=").to_owned()).collect()
    };
    assert_eq!(values(&[]), ["5", "10", "15", "20", "25", "30", "35", "40", "45", "50"]);
    assert_eq!(values(&["metric.load_points=2"]), ["25", "50"]);
    // Load points of the command line replace those of the file, whichever form they have.
    assert_eq!(values(&["metric.values=3,4"]), ["3", "4"]);
    assert_eq!(values(&["metric.maximum=4", "metric.load_points=2"]), ["2", "4"]);
    let listed = experiment("name = 'agents'\nvalues = [7, 8]", RATES);
    let names = offered(&plan(&listed, &["metric.maximum=4", "metric.load_points=2"]).unwrap());
    assert_eq!(names.last().unwrap().0, "eda, agents=4");
    let both = plan(&listed, &["metric.maximum=4", "metric.values=4"]).unwrap_err();
    assert!(both.contains("`values` and a `maximum`"), "{both}");
    let strict = ["metric.maximum=10", "metric.response_time=p99", "metric.response_time_max=5ms"];
    let metric = plan(&text, &strict).unwrap().metric.unwrap();
    assert_eq!(metric.response_time, ResponseTime::P99);
    assert_eq!(metric.response_time_max_ns, Some(5_000_000));
}

#[test]
fn a_single_value_is_a_parameter_too_and_the_metric_changes_fastest() {
    let text = experiment("name = 'agents'\nvalues = 7", RATES);
    assert_eq!(offered(&plan(&text, &[]).unwrap())[0].0, "eda, agents=7");
    let text = experiment("name = 'agents'\nvalues = [1, 2]", RATES);
    let names: Vec<String> = offered(&plan(&text, &["queue_depth=8,16"]).unwrap())
        .into_iter()
        .map(|(name, _)| name)
        .collect();
    let expected = [
        "eda, queue_depth=8, agents=1",
        "eda, queue_depth=8, agents=2",
        "eda, queue_depth=16, agents=1",
        "eda, queue_depth=16, agents=2",
    ];
    assert_eq!(names, expected);
}

#[test]
fn closed_streams_are_refused_with_their_line() {
    refused(
        "name = 'agents'\nvalues = [1, 2]",
        ["arrival = 'closed'", RATES[1]],
        expect![[r#"
        x.toml:11:1: stream `small` is a closed loop, whose rate [metric] cannot set, found `arrival`, allowed: the rate that the stream offers for one unit (for example arrival = { constant = "450/s" }; `poisson` and `schedule` work as well)
    "#]],
    );
    refused(
        "name = 'agents'\nvalues = [1, 2]",
        ["", RATES[1]],
        expect![[r#"
        x.toml:5:9: stream `small` is a closed loop, whose rate [metric] cannot set, found `small`, allowed: the rate that the stream offers for one unit (for example arrival = { constant = "450/s" }; `poisson` and `schedule` work as well)
    "#]],
    );
}

#[test]
fn streams_of_users_are_refused_with_their_load_axis() {
    let text = "name = 'office'\n[metric]\nname = 'agents'\nvalues = [1, 2]\n[stream.home]\n\
                names = { files = 1000 }\nusers = 10\ncycle = '10s'\nscenario = [{ stat = 1 }]\n";
    let message = plan(text, &[]).unwrap_err();
    assert!(message.contains("stream `home` has users, whose pauses set its rate"), "{message}");
    assert!(message.contains("give several `users`"), "{message}");
}

#[test]
fn wrong_keys_and_values_of_a_metric_are_refused_with_a_remedy() {
    refused(
        "name = 'agents'\nvalue = [1, 2]",
        RATES,
        expect![[r#"
            x.toml:4:1: unknown key in [metric], found `value`, allowed: name, values, maximum, load_points, rate_min, response_time_max, response_time, capacity, inodes (did you mean `values`?)
        "#]],
    );
    refused(
        "name = 'agents'",
        RATES,
        expect![[r#"
            x.toml:3:1: [metric] lacks `values`, found nothing, allowed: a whole number from 1 to 1000000000, such as 5000, "250k" or "1M" (for example values = [10, 20, 30, 40])
        "#]],
    );
    refused(
        "values = [1, 2]",
        RATES,
        expect![[r#"
        x.toml:3:1: [metric] lacks `name`, found nothing, allowed: text in quotes, up to 100 characters (for example name = "job sets")
    "#]],
    );
    refused(
        "name = 'agents'\nvalues = [0, 2]",
        RATES,
        expect![[r#"
            x.toml:4:11: wrong value for `values`, found `0`, allowed: a whole number from 1 to 1000000000, such as 5000, "250k" or "1M"
        "#]],
    );
    refused(
        "name = 'agents'\nvalues = [2, 2]",
        RATES,
        expect![[r#"
        x.toml:4:14: `values` has the value 2 twice, found `2`, allowed: each value once (to run every load point several times, set `repeats` in [run])
    "#]],
    );
    refused(
        "name = 'agents'\nvalues = [2]\nmaximum = 3",
        RATES,
        expect![[r#"
        x.toml:5:1: the metric has `values` and a `maximum`, found `maximum`, allowed: `values` or `maximum` (omit one of them)
    "#]],
    );
    refused(
        "name = 'agents'\nmaximum = 3",
        RATES,
        expect![[r#"
        x.toml:4:1: 10 load points of a maximum of 3 are not whole, found `maximum`, allowed: at least 10 (lower `load_points` to 3, or list `values`)
    "#]],
    );
    refused(
        "name = 'agents'\nvalues = [2]\nload_points = 3",
        RATES,
        expect![[r#"
        x.toml:5:1: `load_points` divides a `maximum`, and there is none, found `load_points`, allowed: `maximum` (add `maximum`)
    "#]],
    );
    refused(
        "name = 'queue_depth'\nvalues = [2]",
        RATES,
        expect![[r#"
            x.toml:3:8: the metric has the name of the key `queue_depth`, found `'queue_depth'`, allowed: up to 40 letters, digits, spaces, `-` and `_`, such as "job sets" (qualify it, such as "active queue_depth")
        "#]],
    );
    refused(
        "name = 'a.b'\nvalues = [2]",
        RATES,
        expect![[r#"
        x.toml:3:8: not a valid name of a metric, found `'a.b'`, allowed: up to 40 letters, digits, spaces, `-` and `_`, such as "job sets"
    "#]],
    );
    refused(
        "name = 'agents'\nvalues = [2]",
        ["arrival = { poisson = '0/s' }", RATES[1]],
        expect![[r#"
            x.toml:11:23: wrong value for `poisson`, found `'0/s'`, allowed: a rate such as "10000/s", "2.5k/s" or 500 (per second), from 0.001/s to 1000000000/s
        "#]],
    );
    refused(
        "name = 'agents'\nvalues = [9000000]",
        RATES,
        expect![[r#"
        x.toml:11:1: 9000000 times the rate of stream `small` is too much, found 2700000000/s, allowed: up to 1000000000/s
        x.toml:18:1: 9000000 times the rate of stream `large` is too much, found 1350000000/s, allowed: up to 1000000000/s
    "#]],
    );
}

#[test]
fn a_metric_may_be_users_because_its_streams_have_no_population_of_them() {
    let plan = plan(&experiment("name = 'users'\nvalues = [1, 20]", RATES), &[]).unwrap();
    let names: Vec<String> = offered(&plan).into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["eda, users=1", "eda, users=20"]);
    assert_eq!(plan.metric.unwrap().name, "users");
}
