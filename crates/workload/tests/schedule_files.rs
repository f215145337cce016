//! Schedules, think times, shared rates and partly ordered patterns in experiment files: what they
//! resolve to, and how wrong ones are refused.

use expect_test::{Expect, expect};
use workload::arrival::{Arrival, Process};
use workload::experiment::parse_with_files;
use workload::overrides::Override;
use workload::plan::{Run, Stream, TargetSpec};
use workload::resolve::{ResolveOptions, resolve};

const STREAM: &str =
    "read = '70%'\ntransfer_size = '8k'\npattern = 'random'\nfile_size = '1GiB'\nqueue_depth = 4\n";

fn read_file(path: &str) -> Result<String, String> {
    match path {
        "rates.csv" => Ok("time,rate\n0,100\n10,2000\n20,0\n".to_owned()),
        "backwards.csv" => Ok("0,100\n10,2000\n5,10\n".to_owned()),
        "negative.csv" => Ok("0,100\n10,-5\n".to_owned()),
        other => Err(format!("open {other}: No such file or directory")),
    }
}

fn problems(text: &str, set: &[&str]) -> Result<Run, String> {
    let overrides: Vec<Override> = set.iter().map(|text| Override::set(text)).collect();
    let shown = |found: Vec<settings::Diagnostic>| -> String {
        found.iter().map(|one| format!("{one}\n")).collect()
    };
    let experiment = parse_with_files(text, "x.toml", &overrides, &read_file).map_err(shown)?;
    let plan = resolve(&experiment, "x.toml", TargetSpec::Null, &ResolveOptions::LOCAL);
    Ok(plan.map_err(shown)?.known_runs().next().unwrap().clone())
}

fn one_stream(line: &str) -> String {
    format!("name = 't'\n[stream.db]\n{line}\n{STREAM}")
}

fn stream_with(line: &str) -> Stream {
    problems(&one_stream(line), &[]).unwrap_or_else(|wrong| panic!("{wrong}")).streams.remove(0)
}

/// The line is the third of the file.
fn refused(line: &str, expected: Expect) {
    // The stream has another pattern already.
    let text = one_stream(line);
    let text =
        if line.starts_with("pattern") { text.replace("pattern = 'random'\n", "") } else { text };
    expected.assert_eq(&problems(&text, &[]).err().unwrap_or_default());
}

/// The mean rates of each of the first seconds.
fn rates(arrival: &Arrival, seconds: u64) -> Vec<f64> {
    let mean =
        |s: u64| arrival.offered_rate(s * 1_000_000_000, (s + 1) * 1_000_000_000).unwrap().get();
    (0..seconds).map(mean).map(|rate| (rate * 1e6).round() / 1e6).collect()
}

#[test]
fn every_form_of_a_segment_offers_its_rates() {
    let of = |line: &str| stream_with(&format!("arrival = {{ schedule = [{line}] }}")).arrival;
    let steps = of("{ constant = 100, for = '2s' }, { constant = '1k/s' }");
    assert_eq!(rates(&steps, 4), [100.0, 100.0, 1000.0, 1000.0]);
    let repeated = of("{ constant = 100, for = '1s' }, { constant = 0, for = '2s' }");
    assert_eq!(rates(&repeated, 4), [100.0, 0.0, 0.0, 100.0]);
    let ramp = of("{ ramp = [0, 400], for = '4s' }");
    assert_eq!(rates(&ramp, 5), [50.0, 150.0, 250.0, 350.0, 50.0]);
    let bursts = of("{ bursts = { rate = 500, base = 20, period = '3s', length = '1s' } }");
    assert_eq!(rates(&bursts, 4), [500.0, 20.0, 20.0, 500.0]);
    let duty = of("{ bursts = { rate = 500, period = '2s', duty = '75%' } }");
    assert_eq!(rates(&duty, 3), [500.0, 250.0, 500.0]);
    let sine = of("{ sine = { mean = 100, amplitude = 100, period = '1s' } }");
    assert_eq!(rates(&sine, 3), [100.0; 3]);
    let trace = of("{ trace = 'rates.csv' }");
    let expected = [vec![100.0; 10], vec![2000.0; 10], vec![0.0; 10], vec![100.0]].concat();
    assert_eq!(rates(&trace, 31), expected);
}

#[test]
fn a_schedule_can_be_set_on_the_command_line_and_is_stored_with_the_run() {
    let text = one_stream("");
    let set = ["arrival={ schedule = [{ trace = 'rates.csv' }], process = 'poisson' }"];
    let run = problems(&text, &set).unwrap();
    let json = serde_json::to_string(&run).unwrap();
    let stored: Run = serde_json::from_str(&json).unwrap();
    assert_eq!(stored, run, "the stored run needs no trace file");
    let Arrival::Scheduled { process, part, .. } = run.streams[0].arrival else { panic!() };
    assert_eq!((process, part), (Process::Poisson, 1.0));
}

#[test]
fn streams_share_a_rate_of_the_run_by_their_weights() {
    let text = format!(
        "name = 't'\n[run]\narrival = {{ poisson = '1k/s' }}\n[stream.a]\nweight = 3\n{STREAM}\
         [stream.b]\n{STREAM}"
    );
    let run = problems(&text, &[]).unwrap();
    let rates: Vec<f64> =
        run.streams.iter().map(|s| s.offered_rate(&run.phases).unwrap().get()).collect();
    assert_eq!(rates, [750.0, 250.0]);
    let run = problems(
        &text,
        &["a.weight=1", "run.arrival={ schedule = [{ ramp = [0, 400], for = '4s' }] }"],
    );
    let run = run.unwrap();
    for stream in &run.streams {
        assert_eq!(self::rates(&stream.arrival, 2), [25.0, 75.0]);
    }
    let refused = |text: &str, expected: Expect| {
        expected.assert_eq(&problems(text, &[]).err().unwrap_or_default());
    };
    refused(
        &text.replace("weight = 3", "arrival = 'closed'"),
        expect![[r#"
        x.toml:5:11: stream `a` sets `arrival`, and so does [run], found `'closed'`, allowed: `arrival` in [run] or in the streams (omit one of them)
    "#]],
    );
    refused(
        &text.replace("{ poisson = '1k/s' }", "'closed'"),
        expect![[r#"
        x.toml:3:11: a closed loop has no rate to share, found `'closed'`, allowed: an offered rate (set `arrival` in the streams)
    "#]],
    );
    refused(
        &text.replace("arrival = { poisson = '1k/s' }", "warm_up = '1s'"),
        expect![[r#"
        x.toml:5:10: stream `a` has a weight, but no rate is shared, found `3`, allowed: `weight` only with `arrival` in [run] (set `arrival` in [run], or omit `weight`)
    "#]],
    );
}

#[test]
fn think_times_are_constant_or_drawn() {
    let shown = |line: &str| stream_with(line).arrival.to_string();
    assert_eq!(shown("arrival = { closed = { think_time = '3ms' } }"), "closed, think time 3ms");
    assert_eq!(
        shown("arrival = { closed = { think_time = { exponential = '10ms' } } }"),
        "closed, think time 10ms exponential"
    );
    assert_eq!(
        shown("arrival = { closed = { think_time = { uniform = ['5ms', '15ms'] } } }"),
        "closed, think time 5ms to 15ms"
    );
    refused(
        "arrival = { closed = { think_time = { uniform = ['15ms', '5ms'] } } }",
        expect![[r#"
            x.toml:3:49: the shortest think time exceeds the longest, found `['15ms', '5ms']`, allowed: two times in order
        "#]],
    );
    refused(
        "arrival = { closed = { think_time = { exponentail = '10ms' } } }",
        expect![[r#"
        x.toml:3:39: unknown key, found `exponentail`, allowed: a duration such as "30s", "2m" or "500ms", from 0s to 1h; or { exponential = "10ms" } or { uniform = ["5ms", "15ms"] } (did you mean `exponential`?)
    "#]],
    );
}

#[test]
fn wrong_schedules_are_refused_with_line_and_remedy() {
    let schedule = |line: &str, expected: Expect| {
        refused(&format!("arrival = {{ schedule = [{line}] }}"), expected);
    };
    schedule(
        "",
        expect![[r#"
        x.toml:3:24: a schedule without segments, found `[]`, allowed: { constant = "1k/s", for = "10s" }, { ramp = ["0/s", "1k/s"], for = "10s" }, { sine = { mean = "1k/s", amplitude = "500/s", period = "1m" } }, { bursts = { rate = "2k/s", period = "5s", length = "1s" } } or { trace = "rates.csv" }
    "#]],
    );
    schedule(
        "{ constant = '-5/s', for = '1s' }",
        expect![[r#"
        x.toml:3:38: wrong value for `constant`, found `'-5/s'`, allowed: a rate such as "10000/s" or "2.5k/s", from 0.001/s to 1000000000/s, or 0
    "#]],
    );
    schedule(
        "{ constant = 0, for = '1s' }",
        expect![[r#"
        x.toml:3:24: the schedule offers no operations, found `[{ constant = 0, for = '1s' }]`, allowed: a rate above 0 in one of the segments
    "#]],
    );
    schedule(
        "{ constant = 10 }, { constant = 20 }",
        expect![[r#"
        x.toml:3:25: a segment before the last one lacks `for`, found `{ constant = 10 }`, allowed: { constant = "1k/s", for = "10s" }, { ramp = ["0/s", "1k/s"], for = "10s" }, { sine = { mean = "1k/s", amplitude = "500/s", period = "1m" } }, { bursts = { rate = "2k/s", period = "5s", length = "1s" } } or { trace = "rates.csv" }
    "#]],
    );
    schedule(
        "{ ramp = [10, 20] }",
        expect![[r#"
        x.toml:3:34: a ramp lacks `for`, found `[10, 20]`, allowed: { constant = "1k/s", for = "10s" }, { ramp = ["0/s", "1k/s"], for = "10s" }, { sine = { mean = "1k/s", amplitude = "500/s", period = "1m" } }, { bursts = { rate = "2k/s", period = "5s", length = "1s" } } or { trace = "rates.csv" }
    "#]],
    );
    schedule(
        "{ ramp = 10, for = '1s' }",
        expect![[r#"
        x.toml:3:34: `ramp` needs two values, found `10`, allowed: a rate such as "10000/s" or "2.5k/s", from 0.001/s to 1000000000/s, or 0
    "#]],
    );
    schedule(
        "{ ramp = [10, 20], constant = 1, for = '1s' }",
        expect![[r#"
        x.toml:3:25: a segment of a schedule has one form, found `{ ramp = [10, 20], constant = 1, for = '1s' }`, allowed: { constant = "1k/s", for = "10s" }, { ramp = ["0/s", "1k/s"], for = "10s" }, { sine = { mean = "1k/s", amplitude = "500/s", period = "1m" } }, { bursts = { rate = "2k/s", period = "5s", length = "1s" } } or { trace = "rates.csv" }
    "#]],
    );
    schedule(
        "{ sine = { mean = 10, amplitude = 20, period = '1s' } }",
        expect![[r#"
        x.toml:3:59: the amplitude of a sine exceeds its mean, so its rate would be negative, found `20`, allowed: at most 10/s
    "#]],
    );
    schedule(
        "{ sine = { mean = 10, period = '1s' } }",
        expect![[r#"
        x.toml:3:34: `sine` lacks `amplitude`, found `{ mean = 10, period = '1s' }`, allowed: { constant = "1k/s", for = "10s" }, { ramp = ["0/s", "1k/s"], for = "10s" }, { sine = { mean = "1k/s", amplitude = "500/s", period = "1m" } }, { bursts = { rate = "2k/s", period = "5s", length = "1s" } } or { trace = "rates.csv" }
    "#]],
    );
    schedule(
        "{ bursts = { rate = 10, period = '5s', duty = '130%' } }",
        expect![[r#"
        x.toml:3:71: wrong value for `duty`, found `'130%'`, allowed: a share from 0.1 % to 99.9 %
    "#]],
    );
    schedule(
        "{ bursts = { rate = 10, period = '5s', length = '6s' } }",
        expect![[r#"
        x.toml:3:73: a burst is not shorter than its period, found `'6s'`, allowed: less than the period
    "#]],
    );
    schedule(
        "{ bursts = { rate = 10, period = '5s' } }",
        expect![[r#"
        x.toml:3:36: `bursts` needs either `length` or `duty`, found `{ rate = 10, period = '5s' }`, allowed: { constant = "1k/s", for = "10s" }, { ramp = ["0/s", "1k/s"], for = "10s" }, { sine = { mean = "1k/s", amplitude = "500/s", period = "1m" } }, { bursts = { rate = "2k/s", period = "5s", length = "1s" } } or { trace = "rates.csv" }
    "#]],
    );
    schedule(
        "{ bursts = { rate = 10, perod = '5s', duty = '10%' } }",
        expect![[r#"
        x.toml:3:49: unknown key, found `perod`, allowed: rate, base, period, length, duty (did you mean `period`?)
    "#]],
    );
    schedule(
        "{ trace = 'backwards.csv' }",
        expect![[r#"
        backwards.csv:3:1: the times of a trace of rates do not increase, found `5,10`, allowed: a later time
    "#]],
    );
    schedule(
        "{ trace = 'negative.csv' }",
        expect![[r#"
        negative.csv:2:1: wrong line in a trace of rates, found `10,-5`, allowed: a time and a rate in each line, such as `1.5,2000` (seconds, operations per second)
    "#]],
    );
    schedule(
        "{ trace = 'missing.csv' }",
        expect![[r#"
        x.toml:3:35: the trace of rates cannot be read: open missing.csv: No such file or directory, found `'missing.csv'`, allowed: a CSV file with a time and a rate in each line (its path is relative to the experiment file)
    "#]],
    );
    schedule(
        "{ trace = 'rates.csv', for = '5s' }",
        expect![[r#"
        x.toml:3:54: a trace has its own length, found `'5s'`, allowed: a trace without `for`
    "#]],
    );
    schedule(
        "{ constnat = 10, for = '1s' }",
        expect![[r#"
        x.toml:3:27: unknown key, found `constnat`, allowed: { constant = "1k/s", for = "10s" }, { ramp = ["0/s", "1k/s"], for = "10s" }, { sine = { mean = "1k/s", amplitude = "500/s", period = "1m" } }, { bursts = { rate = "2k/s", period = "5s", length = "1s" } } or { trace = "rates.csv" } (did you mean `constant`?)
    "#]],
    );
    refused(
        "arrival = { schedule = [{ constant = 1 }], proces = 'poisson' }",
        expect![[r#"
        x.toml:3:44: unknown key, found `proces`, allowed: "closed", { closed = { think_time = "1ms" } }, { constant = "10000/s" }, { poisson = "10k/s" } or { schedule = [{ constant = "1k/s", for = "10s" }, …] } (did you mean `process`?)
    "#]],
    );
}

#[test]
fn wrong_orders_are_refused_with_line_and_remedy() {
    refused(
        "pattern = { seek = '130%' }",
        expect![[r#"
        x.toml:3:20: wrong value for `seek`, found `'130%'`, allowed: a share from 0.1 % to 100 %
    "#]],
    );
    refused(
        "pattern = { seek = '0%' }",
        expect![[r#"
        x.toml:3:20: wrong value for `seek`, found `'0%'`, allowed: a share from 0.1 % to 100 %
    "#]],
    );
    refused(
        "pattern = { stride = '12KiB' }",
        expect![[r#"
        x.toml:3:11: the stride of stream `db` is no multiple of its block size, found 12 KiB, allowed: a multiple of 8 KiB (the next multiple is 16384 bytes)
    "#]],
    );
    refused(
        "pattern = { stride = '1GiB' }",
        expect![[r#"
        x.toml:3:11: the stride of stream `db` is not below its working set, found 1 GiB, allowed: less than 1 GiB
    "#]],
    );
    refused(
        "pattern = { stride = '1MiB', seek = '10%' }",
        expect![[r#"
        x.toml:3:11: more than one form, found `{ stride = '1MiB', seek = '10%' }`, allowed: "sequential", "random", { zipf = 1.1 }, { hot_set = { area = "10%", accesses = "90%" } }, { seek = "25%" } or { stride = "1MiB" }
    "#]],
    );
}
