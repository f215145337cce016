//! `require` in an experiment: what it becomes in the plan, and how wrong ones are refused.

use expect_test::{Expect, expect};
use workload::condition::{Comparison, Metric, parse, parse_requirement};
use workload::experiment::parse as parse_experiment;
use workload::plan::{Plan, TargetSpec};
use workload::resolve::{ResolveOptions, resolve};

const STREAM: &str = "
[stream.log]
read = '0%'
transfer_size = '8k'
pattern = 'random'
file_size = '1GiB'
queue_depth = 4
";

fn plan(require: &str) -> Result<Plan, String> {
    let shown = |found: Vec<settings::Diagnostic>| -> String {
        found.iter().map(|one| format!("{one}\n")).collect()
    };
    let text = format!("name = 't'\n{require}{STREAM}");
    let experiment = parse_experiment(&text, "x.toml").map_err(shown)?;
    resolve(&experiment, "x.toml", TargetSpec::Null, &ResolveOptions::LOCAL).map_err(shown)
}

fn refused(require: &str, expected: Expect) {
    expected.assert_eq(&plan(require).unwrap_err());
}

#[test]
fn requirements_are_part_of_the_plan_and_a_plan_without_is_stored_as_before() {
    let plan_with = plan("require = ['log.write.p99 < 10ms', 'achieved >= 95%']\n").unwrap();
    assert_eq!(plan_with.requirements, ["log.write.p99 < 10ms", "achieved >= 95%"]);
    let one = plan("require = 'mean <= 1ms'\n").unwrap();
    assert_eq!(one.requirements, ["mean <= 1ms"]);
    let json = serde_json::to_string(&one).unwrap();
    assert_eq!(serde_json::from_str::<Plan>(&json).unwrap(), one);
    let without = serde_json::to_string(&plan("").unwrap()).unwrap();
    assert!(!without.contains("requirements"), "{without}");
}

#[test]
fn a_requirement_is_the_opposite_of_a_condition_that_fails() {
    for (operator, fails) in [
        ("<", Comparison::AtLeast),
        ("<=", Comparison::Above),
        (">", Comparison::AtMost),
        (">=", Comparison::Below),
    ] {
        let text = format!("log.mean {operator} 1ms");
        let required = parse_requirement(&text).unwrap();
        assert_eq!((required.comparison, required.is_requirement), (fails, true), "{text}");
        assert_eq!(required.metric, Metric::Mean);
        let condition = parse(&text).unwrap();
        assert!(!condition.is_requirement && condition.comparison.opposite() == fails, "{text}");
    }
}

#[test]
fn a_wrong_requirement_is_refused_with_its_position() {
    refused(
        "require = ['log.write.p98 < 10ms']\n",
        expect![[r#"
            x.toml:2:23: `p98` is not a metric; there are throughput, iops, mean, p50, p90, p99, p99.9, max, errors, achieved, overload, overload_point, metric, ort; did you mean `p90`?, found `p98`
        "#]],
    );
    refused(
        "require = 'log.p99'\n",
        expect![[r#"
            x.toml:2:19: compare with `<`, `<=`, `>` or `>=`, as in `read.p99 > 2ms`, found `'`
        "#]],
    );
    refused(
        "require = ['p99 < fast', 10]\n",
        expect![[r#"
            x.toml:2:19: found `fast`, expected a duration such as `30s`, `2m`, `500ms` or `10us`, found `fast`
            x.toml:2:26: a requirement that is not text, found `10`, allowed: a list of conditions in quotes: a metric, `<`, `<=`, `>` or `>=`, and a value with its unit, such as "read.p99 < 2ms"
        "#]],
    );
}

#[test]
fn a_requirement_of_an_unknown_stream_is_refused_with_the_known_ones() {
    refused(
        "require = ['logs.write.p99 < 10ms']\n",
        expect![[r#"
        x.toml:2:12: a requirement of an unknown workload or stream, found `logs`, allowed: `log` or `t` (did you mean `log`?)
    "#]],
    );
}

#[test]
fn a_requirement_of_users_needs_users_and_no_kind_of_operation() {
    for (requirement, wrong) in [
        ("overload <= 1%", "x.toml:2:12: a requirement of users, and the experiment has none"),
        ("overload_point >= 800", "allowed: `overload_point` only with `users`"),
        ("stat.overload <= 1%", "allowed: `overload` without a kind (omit the kind)"),
    ] {
        let found = plan(&format!("require = ['{requirement}']\n")).unwrap_err();
        assert!(found.contains(wrong), "{requirement}: {found}");
    }
}
