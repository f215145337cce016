//! Resolving experiments into plans: precedence of settings, sweeps, and the order of runs.

use expect_test::{Expect, expect};
use units::OpsPerSec;
use workload::experiment::{parse, parse_with};
use workload::overrides::Override;
use workload::plan::{Plan, Run, TargetSpec};
use workload::resolve::{ResolveOptions, resolve};

const TWO_STREAMS: &str = "
name = 'two'
[stream.db]
read = '70%'
transfer_size = '8k'
pattern = 'random'
file_size = '1GiB'
queue_depth = 4
[stream.log]
read = '0%'
transfer_size = '4k'
pattern = 'sequential'
file_size = '64MiB'
queue_depth = 1
";

const OPTIONS: ResolveOptions = ResolveOptions::LOCAL;

fn plan_with(text: &str, settings: &[&str]) -> Plan {
    let overrides: Vec<Override> = settings.iter().map(|text| Override::set(text)).collect();
    let experiment = parse_with(text, "x.toml", &overrides).unwrap_or_else(|p| panic!("{p:#?}"));
    resolve(&experiment, "x.toml", TargetSpec::Null, &OPTIONS).unwrap()
}

fn load_points(plan: &Plan) -> String {
    plan.known_runs().map(|run| format!("{} #{}\n", run.load_point(), run.repeat)).collect()
}

fn check(text: &str, settings: &[&str], expected: Expect) {
    expected.assert_eq(&load_points(&plan_with(text, settings)));
}

#[test]
fn sweeps_are_combined_and_the_first_changes_slowest() {
    let text = format!("{TWO_STREAMS}fsync_every = ['2..4 x2', 9]\n[run]\nmeasure=['5s','1m']\n");
    check(
        &text,
        &[],
        expect![[r#"
        two, run.measure=5s, log.fsync_every=2 #0
        two, run.measure=5s, log.fsync_every=4 #0
        two, run.measure=5s, log.fsync_every=9 #0
        two, run.measure=1m, log.fsync_every=2 #0
        two, run.measure=1m, log.fsync_every=4 #0
        two, run.measure=1m, log.fsync_every=9 #0
    "#]],
    );
}

#[test]
fn a_setting_of_every_stream_is_one_axis_and_that_of_one_stream_is_a_separate_axis() {
    check(
        TWO_STREAMS,
        &["queue_depth=1,8"],
        expect![[r#"
        two, queue_depth=1 #0
        two, queue_depth=8 #0
    "#]],
    );
    check(
        TWO_STREAMS,
        &["db.queue_depth=1,8", "log.dsync=false,true"],
        expect![[r#"
        two, db.queue_depth=1, log.dsync=false #0
        two, db.queue_depth=1, log.dsync=true #0
        two, db.queue_depth=8, log.dsync=false #0
        two, db.queue_depth=8, log.dsync=true #0
    "#]],
    );
    let plan = plan_with(TWO_STREAMS, &["queue_depth=1,8"]);
    let depths: Vec<Vec<u32>> = plan
        .known_runs()
        .map(|run| run.streams.iter().map(|stream| stream.queue_depth).collect())
        .collect();
    assert_eq!(depths, [[1, 1], [8, 8]]);
}

#[test]
fn sweeps_are_allowed_inside_arrival_and_pattern_and_in_options() {
    check(
        TWO_STREAMS,
        &["db.arrival.poisson=1k/s,2000/s", "db.pattern.zipf=0.9..1.1 step 0.1"],
        expect![[r#"
            two, db.arrival=poisson 1000/s, db.pattern=zipf 0.9 #0
            two, db.arrival=poisson 1000/s, db.pattern=zipf 1 #0
            two, db.arrival=poisson 1000/s, db.pattern=zipf 1.1 #0
            two, db.arrival=poisson 2000/s, db.pattern=zipf 0.9 #0
            two, db.arrival=poisson 2000/s, db.pattern=zipf 1 #0
            two, db.arrival=poisson 2000/s, db.pattern=zipf 1.1 #0
        "#]],
    );
    check(
        TWO_STREAMS,
        &["db.arrival={constant='100/s'},closed"],
        expect![[r#"
        two, db.arrival=constant 100/s #0
        two, db.arrival=closed #0
    "#]],
    );
    check(
        TWO_STREAMS,
        &["db.transfer_size=4k,{'8k'='70%','64k'='30%'}", "db.pattern={zipf=1.1}"],
        expect![[r#"
            two, db.transfer_size=4KiB #0
            two, db.transfer_size=70% 8KiB + 30% 64KiB #0
        "#]],
    );
    check(
        TWO_STREAMS,
        &["db.pattern.hot_set={area=['10%','20%'],accesses='90%'}"],
        expect![[r#"
        two, db.pattern=hot set 90% in 10% #0
        two, db.pattern=hot set 90% in 20% #0
    "#]],
    );
    check(
        TWO_STREAMS,
        &["db.arrival.closed.think_time=0,1ms", "stream.log.read=0%"],
        expect![[r#"
            two, db.arrival=closed #0
            two, db.arrival=closed, think time 1ms #0
        "#]],
    );
}

#[test]
fn variants_override_streams_and_the_command_line_overrides_variants() {
    let text = format!(
        "{TWO_STREAMS}
        [[variant]]
        name = 'deep'
        queue_depth = [16, 32]
        [[variant]]
        name = 'large'
        stream = 'db'
        transfer_size = '64k'
        queue_depth = 2
        "
    );
    check(
        &text,
        &[],
        expect![[r#"
        deep, queue_depth=16 #0
        deep, queue_depth=32 #0
        large #0
    "#]],
    );
    let plan = plan_with(&text, &["db.queue_depth=7"]);
    let shown: Vec<String> = plan
        .known_runs()
        .map(|run| {
            let of = |s: &workload::plan::Stream| (s.queue_depth, s.transfer_size_max_bytes());
            format!("{}: {:?}", run.variant, run.streams.iter().map(of).collect::<Vec<_>>())
        })
        .collect();
    expect![[r#"
        deep: db.queue_depth=7: [(7, 8192), (16, 4096)]
        deep: db.queue_depth=7: [(7, 8192), (32, 4096)]
        large: queue_depth=7: [(7, 65536), (1, 4096)]"#]]
    .assert_eq(&shown.join("\n"));
}

const NAMED_VARIANTS: &str = "
name = 'mixed'
[stream.main]
read = '70%'
pattern = 'random'
file_size = '1GiB'
queue_depth = 4
[[variant]]
name = 'order entry'
transfer_size = '8k'
[[variant]]
name = 'random 70% read 64 KiB'
transfer_size = '64k'
[[variant]]
name = 'two files'
transfer_size = '8k'
files = 2
[[variant]]
transfer_size = '16k'
area = '1MiB'
";

#[test]
fn a_variant_keeps_its_name_unless_the_command_line_changes_its_operations() {
    let unchanged = expect![[r#"
        order entry #0
        random 70% read 64 KiB #0
        two files #0
        random 70% read 16 KiB, area=1MiB #0
    "#]];
    let settings = ["queue_depth=8", "run.measure=5s", "read=70%"];
    unchanged.assert_eq(&load_points(&plan_with(NAMED_VARIANTS, &[])));
    unchanged.assert_eq(&load_points(&plan_with(NAMED_VARIANTS, &settings)));
    check(
        NAMED_VARIANTS,
        &["transfer_size=4k"],
        expect![[r#"
        order entry: random 70% read 4 KiB #0
        random 70% read 4 KiB #0
        two files: random 70% read 4 KiB #0
        random 70% read 4 KiB, area=1MiB #0
    "#]],
    );
    check(
        NAMED_VARIANTS,
        &["main.files=3", "pattern=sequential"],
        expect![[r#"
        order entry: sequential 70% read 8 KiB #0
        sequential 70% read 64 KiB #0
        two files: sequential 70% read 8 KiB, files=3 #0
        sequential 70% read 16 KiB, area=1MiB #0
    "#]],
    );
    check(
        NAMED_VARIANTS,
        &["transfer_size=4k,8k", "read=0%"],
        expect![[r#"
        order entry: random write, transfer_size=4KiB #0
        order entry: random write, transfer_size=8KiB #0
        random write, transfer_size=4KiB #0
        random write, transfer_size=8KiB #0
        two files: random write, transfer_size=4KiB #0
        two files: random write, transfer_size=8KiB #0
        random write, area=1MiB, transfer_size=4KiB #0
        random write, area=1MiB, transfer_size=8KiB #0
    "#]],
    );
}

#[test]
fn a_variant_without_a_name_is_described_by_its_streams() {
    let text = format!(
        "{TWO_STREAMS}
        [[variant]]
        queue_depth = 16
        [[variant]]
        stream = 'db'
        transfer_size = '64k'
        files = 4
        "
    );
    check(
        &text,
        &[],
        expect![[r#"
        db: random 70% read 8 KiB + log: sequential write 4 KiB, queue_depth=16 #0
        db: random 70% read 64 KiB, files=4 #0
    "#]],
    );
    check(
        &text,
        &["db.transfer_size=4k", "log.queue_depth=8"],
        expect![[r#"
        db: random 70% read 4 KiB + log: sequential write 4 KiB, db.queue_depth=16, log.queue_depth=8 #0
        db: random 70% read 4 KiB, files=4 #0
    "#]],
    );
}

#[test]
fn variants_with_equal_names_and_different_operations_are_refused() {
    let text = "
        name = 'same'
        [stream.main]
        read = '100%'
        pattern = 'random'
        file_size = '1GiB'
        queue_depth = 4
        [[variant]]
        name = 'random read 8 KiB'
        transfer_size = '8k'
        files = 2
        [[variant]]
        transfer_size = '8k'
        ";
    let problems = parse(text, "x.toml").unwrap_err();
    assert_eq!(problems.len(), 1, "{problems:#?}");
    assert_eq!(problems[0].message, "two variants with the same name");
    assert_eq!(problems[0].found, "`random read 8 KiB`");
}

#[test]
fn later_settings_of_the_command_line_override_earlier_ones() {
    let plan = plan_with(TWO_STREAMS, &["queue_depth=3", "queue_depth=5", "run.seed=8"]);
    assert_eq!(plan.known_runs().count(), 1);
    assert_eq!(plan.known_runs().next().unwrap().streams[0].queue_depth, 5);
    assert_eq!(plan.seed, 8);
    let experiment = parse_with(
        TWO_STREAMS,
        "x",
        &[
            Override::option("--repeats", "run.repeats", "3"),
            Override::option("--seed", "run.seed", "9"),
        ],
    )
    .unwrap();
    let plan = resolve(&experiment, "x", TargetSpec::Null, &OPTIONS).unwrap();
    assert_eq!((plan.known_runs().count(), plan.seed), (3, 9));
}

#[test]
fn a_rate_is_per_second_with_or_without_the_unit() {
    let offered = |set: &str| {
        let plan = plan_with(TWO_STREAMS, &[set]);
        plan.known_runs().next().unwrap().streams[0].arrival.offered_rate(0, 1).map(OpsPerSec::get)
    };
    for rate in ["500", "500/s", "0.5k", "0.5k/s"] {
        assert_eq!(offered(&format!("db.arrival.poisson={rate}")), Some(500.0), "{rate}");
    }
    let in_a_file =
        TWO_STREAMS.replace("queue_depth = 4", "queue_depth = 4\narrival = { poisson = 500 }");
    let plan = plan_with(&in_a_file, &[]);
    let arrival = plan.known_runs().next().unwrap().streams[0].arrival.clone();
    assert_eq!(arrival.offered_rate(0, 1), Some(OpsPerSec::new(500.0)));
}

#[test]
fn the_command_line_can_supply_a_missing_key() {
    let text = TWO_STREAMS.replace("queue_depth = 4\n", "");
    assert!(parse(&text, "x.toml").is_err());
    assert_eq!(plan_with(&text, &["db.queue_depth=4"]).known_runs().count(), 1);
}

#[test]
fn as_written_repeats_are_consecutive() {
    check(
        TWO_STREAMS,
        &["db.queue_depth=1,2", "run.repeats=2"],
        expect![[r#"
        two, db.queue_depth=1 #0
        two, db.queue_depth=1 #1
        two, db.queue_depth=2 #0
        two, db.queue_depth=2 #1
    "#]],
    );
}

#[test]
fn every_randomised_block_has_every_load_point_once() {
    let settings = ["db.queue_depth=1..64 x2", "run.repeats=4", "run.order=randomised"];
    let plan = plan_with(TWO_STREAMS, &settings);
    let runs: Vec<&Run> = plan.known_runs().collect();
    assert_eq!(runs.len(), 28);
    let mut orders = Vec::new();
    for (repeat, block) in runs.chunks(7).enumerate() {
        assert!(block.iter().all(|run| run.repeat == repeat as u32));
        let order: Vec<u32> = block.iter().map(|run| run.streams[0].queue_depth).collect();
        let mut sorted = order.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, [1, 2, 4, 8, 16, 32, 64]);
        orders.push(order);
    }
    orders.sort();
    orders.dedup();
    assert!(orders.len() > 1, "every block has its own order");
    for (index, run) in runs.iter().enumerate() {
        assert_eq!(run.index as usize, index);
    }
    assert_eq!(plan, plan_with(TWO_STREAMS, &settings), "the same seed gives the same order");
}

#[test]
fn the_seed_of_a_run_depends_on_load_point_and_repeat_only() {
    let seeds = |order: &str| {
        let order = format!("run.order={order}");
        let plan = plan_with(TWO_STREAMS, &["db.queue_depth=1,2,3", "run.repeats=3", &order]);
        let mut seeds: Vec<(u32, u32, u64)> = plan
            .known_runs()
            .map(|run| (run.streams[0].queue_depth, run.repeat, run.seed))
            .collect();
        seeds.sort_unstable();
        seeds
    };
    let written = seeds("as-written");
    assert_eq!(written, seeds("randomised"));
    let mut different: Vec<u64> = written.iter().map(|(_, _, seed)| *seed).collect();
    different.sort_unstable();
    different.dedup();
    assert_eq!(different.len(), 9);
}

#[test]
fn the_area_is_distributed_over_the_files_in_whole_blocks() {
    let plan = plan_with(TWO_STREAMS, &["db.files=3", "db.area=1GiB"]);
    let set = plan.known_runs().next().unwrap().streams[0].working_set;
    assert_eq!(set.area_bytes, (1u64 << 30) / 3 / 4096 * 4096);
    assert_eq!(plan.bytes_needed(), units::Bytes::mib(3 * 1024 + 64));
}

#[test]
fn a_default_that_does_not_fit_the_interval_is_rounded_up() {
    let plan = plan_with(TWO_STREAMS, &["run.interval=4s"]);
    let phases = plan.known_runs().next().unwrap().phases;
    assert_eq!((phases.warm_up_ns, phases.measure_ns), (8_000_000_000, 32_000_000_000));
    assert_eq!(phases.window(), (2, 10));
    assert_eq!(plan.time_max().as_secs(), 40);
}

#[test]
fn verification_of_a_null_target_is_refused() {
    let experiment = parse(TWO_STREAMS, "x.toml").unwrap();
    let options = ResolveOptions { verify: true, ..OPTIONS };
    let problems = resolve(&experiment, "x.toml", TargetSpec::Null, &options).unwrap_err();
    assert_eq!(problems[0].file, "--verify");
    let target = TargetSpec::Directory { path: "/mnt/vol1".to_owned() };
    assert!(resolve(&experiment, "x.toml", target, &options).unwrap().verify);
}

#[test]
fn a_plan_round_trips() {
    let plan = plan_with(TWO_STREAMS, &["db.queue_depth=1,2", "db.pattern.zipf=1.1"]);
    let text = serde_json::to_string(&plan).unwrap();
    assert_eq!(serde_json::from_str::<Plan>(&text).unwrap(), plan);
}

#[test]
fn a_plan_stores_one_target_bare_and_several_as_a_list() {
    let mut plan = plan_with(TWO_STREAMS, &[]);
    assert_eq!(serde_json::to_value(&plan).unwrap()["target"], "null");

    plan.targets = ["a", "b"].map(|path| TargetSpec::Directory { path: path.to_owned() }).into();
    let mut stored = serde_json::to_value(&plan).unwrap();
    assert_eq!(stored["target"].as_array().map(Vec::len), Some(2));
    assert_eq!(serde_json::from_value::<Plan>(stored.clone()).unwrap(), plan);

    stored["target"] = serde_json::json!([]);
    let error = serde_json::from_value::<Plan>(stored).unwrap_err();
    assert!(error.to_string().contains("a plan without a target"), "{error}");
}
