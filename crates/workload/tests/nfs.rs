//! Plans for NFS exports: durability of writes, and connections.

use expect_test::{Expect, expect};
use settings::Diagnostic;
use workload::experiment::parse_with;
use workload::overrides::Override;
use workload::plan::{EmulatedVolume, IoMethod, Plan, TargetSpec, WriteStability};
use workload::resolve::{ResolveOptions, resolve};

const STREAM: &str = "
name = 'log'
[stream.log]
read = '0%'
transfer_size = '4k'
pattern = 'sequential'
file_size = '64MiB'
queue_depth = 1
";

const OPTIONS: ResolveOptions = ResolveOptions::LOCAL;

fn export(connections: Option<u32>) -> TargetSpec {
    TargetSpec::Nfs { url: "nfs://server/vol1".to_owned(), connections }
}

fn emulated() -> TargetSpec {
    let volume = EmulatedVolume {
        service_level: "Ultra".to_owned(),
        quota_bytes: 1 << 40,
        throughput_limit_bytes_per_s: 128 << 20,
        read_delay_ns: 400_000,
        write_delay_ns: 300_000,
        memory_bytes: 1 << 30,
    };
    TargetSpec::Emulated { volume, connections: Some(4), options: "nconnect=4".to_owned() }
}

fn try_plan(
    settings: &[&str],
    target: TargetSpec,
    options: &ResolveOptions,
) -> Result<Plan, Vec<Diagnostic>> {
    let overrides: Vec<Override> = settings.iter().map(|text| Override::set(text)).collect();
    let experiment = parse_with(STREAM, "x.toml", &overrides).unwrap_or_else(|p| panic!("{p:#?}"));
    resolve(&experiment, "x.toml", target, options)
}

fn stabilities(settings: &[&str], target: TargetSpec) -> Vec<Option<WriteStability>> {
    let plan = try_plan(settings, target, &OPTIONS).unwrap();
    plan.known_runs().map(|run| run.streams[0].write_stability).collect()
}

fn refused(settings: &[&str], target: TargetSpec, options: &ResolveOptions, expected: Expect) {
    let problems = try_plan(settings, target, options).unwrap_err();
    let lines: String = problems.iter().map(|problem| format!("{problem}\n")).collect();
    expected.assert_eq(&lines);
}

#[test]
fn nfs_writes_are_unstable_by_default() {
    use WriteStability::{DataSync, FileSync, Unstable};
    assert_eq!(stabilities(&[], export(None)), [Some(Unstable)]);
    assert_eq!(stabilities(&["dsync=true"], export(None)), [Some(DataSync)]);
    assert_eq!(stabilities(&["dsync=true"], emulated()), [Some(DataSync)]);
    let file_sync = ["dsync=true", "write_stability=file_sync"];
    assert_eq!(stabilities(&file_sync, export(None)), [Some(FileSync)]);
    let swept = ["write_stability=unstable,data_sync,file_sync"];
    assert_eq!(stabilities(&swept, emulated()), [Unstable, DataSync, FileSync].map(Some));
}

#[test]
fn write_stability_is_refused_for_other_targets() {
    for target in [TargetSpec::Null, TargetSpec::Directory { path: "/mnt/vol1".to_owned() }] {
        assert_eq!(stabilities(&["dsync=true"], target.clone()), [None]);
        refused(
            &["write_stability=data_sync"],
            target,
            &OPTIONS,
            expect![[r#"
                --set:1:17: stream `log` sets `write_stability`, but the target is not an NFS export, found `data_sync`, allowed: `write_stability` only for a target `nfs://...` (`dsync = true` makes the writes of a directory durable)
            "#]],
        );
    }
}

#[test]
fn each_worker_needs_its_own_connection() {
    assert!(try_plan(&["workers=4"], export(Some(4)), &OPTIONS).is_ok());
    assert!(try_plan(&["workers=400"], export(None), &OPTIONS).is_ok());
    refused(
        &["workers=1,2,8"],
        export(Some(4)),
        &OPTIONS,
        expect![[r#"
            x.toml:1:1: a run has more workers than connections to a target; each worker needs its own connection, found nconnect=4, 8 workers, allowed: `nconnect` of at least 8, or fewer `workers` (omit `nconnect` to give each worker one connection)
        "#]],
    );
}

#[test]
fn an_export_has_no_choice_of_engine() {
    let options = ResolveOptions { io_method: IoMethod::Psync, ..OPTIONS };
    refused(
        &[],
        export(None),
        &options,
        expect![[r#"
            --engine:1:1: an NFS export is accessed by the built-in client, without an engine, allowed: `--engine` only for a directory
        "#]],
    );
}

#[test]
fn a_plan_with_an_emulated_volume_round_trips() {
    let plan = try_plan(&["workers=2"], emulated(), &OPTIONS).unwrap();
    let text = serde_json::to_string(&plan).unwrap();
    assert_eq!(serde_json::from_str::<Plan>(&text).unwrap(), plan);
    assert_eq!(plan.target().in_words(), "emulated volume (1 TiB Ultra)");
    assert_eq!(plan.target().connections(), Some(4));
}

#[test]
fn the_plan_of_a_directory_is_stored_as_before_nfs() {
    let directory = TargetSpec::Directory { path: "/mnt/vol1".to_owned() };
    let plan = try_plan(&[], directory, &OPTIONS).unwrap();
    let text = serde_json::to_string(&plan).unwrap();
    assert!(!text.contains("write_stability"), "{text}");
    assert_eq!(serde_json::from_str::<Plan>(&text).unwrap(), plan);
}

#[test]
fn a_run_can_override_the_number_of_connections() {
    let of = |settings: &[&str], target| {
        let plan = try_plan(settings, target, &OPTIONS).unwrap();
        let text = serde_json::to_string(&plan).unwrap();
        assert_eq!(serde_json::from_str::<Plan>(&text).unwrap(), plan);
        plan.known_runs().map(|run| (run.connections, run.load_point())).collect::<Vec<_>>()
    };
    let named = |count: u32| (Some(count), format!("log, run.nconnect={count}"));
    assert_eq!(of(&["run.nconnect=1,4,16"], export(Some(8))), [named(1), named(4), named(16)]);
    assert_eq!(of(&["run.nconnect=2"], emulated()), [(Some(2), "log".to_owned())]);
    assert_eq!(of(&[], export(Some(8))), [(None, "log".to_owned())]);
}

#[test]
fn nconnect_needs_the_built_in_client_and_one_connection_per_worker() {
    refused(
        &["run.nconnect=4"],
        TargetSpec::Directory { path: "/mnt/vol1".to_owned() },
        &OPTIONS,
        expect![[r#"
            --set:1:14: `nconnect` cannot change the connections of a mounted directory, found `4`, allowed: `nconnect` only for a target `nfs://...` or the emulated volume (mount it with `-o nconnect=8`, or measure its export: `nfs://SERVER/EXPORT?nconnect=8`)
        "#]],
    );
    refused(
        &["run.nconnect=4"],
        TargetSpec::Null,
        &OPTIONS,
        expect![[r#"
            --set:1:14: the target `null:` has no connections, found `4`, allowed: `nconnect` only for a target `nfs://...` or the emulated volume (omit `nconnect`)
        "#]],
    );
    // For any target.
    let settings = ["run.nconnect=1,2", "workers=2"].map(Override::set);
    let problems = parse_with(STREAM, "x.toml", &settings).unwrap_err();
    let expected = expect![[r#"
        x.toml:1:1: a run has more workers than connections to a target; each worker needs its own connection, found nconnect=1, 2 workers, allowed: `nconnect` of at least 2, or fewer `workers` (omit `nconnect` to give each worker one connection)
    "#]];
    expected.assert_eq(&format!("{}\n", problems[0]));
}
