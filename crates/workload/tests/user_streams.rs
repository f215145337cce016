//! Streams of users in experiment files: what they resolve to, and how wrong ones are refused.

use expect_test::{Expect, expect};
use workload::arrival::Arrival;
use workload::experiment::parse;
use workload::names::NameStream;
use workload::op::OpKind;
use workload::plan::{Plan, Run, Stream, StreamTargets, TargetSpec};
use workload::resolve::{ResolveOptions, resolve};
use workload::scenario::{Starts, Users};
use workload::search::SearchMethod;

const SCENARIO: &str = "scenario = [{ readdirplus = 1 }, { think = '2s' }, \
                        { stat = 5, think = { exponential = '1s' } }, { create = 1 }, { unlink = 1 }]";

fn plan(text: &str) -> Result<Plan, String> {
    let shown = |found: Vec<settings::Diagnostic>| -> String {
        found.iter().map(|one| format!("{one}\n")).collect()
    };
    let experiment = parse(text, "x.toml").map_err(shown)?;
    resolve(&experiment, "x.toml", TargetSpec::Null, &ResolveOptions::LOCAL).map_err(shown)
}

/// The keys start at the fourth line of the file.
fn text(keys: &str) -> String {
    format!("name = 't'\n[run]\nmeasure = '60s'\n[stream.home]\n{keys}\n")
}

fn stream(keys: &str) -> Stream {
    let plan = plan(&text(keys)).unwrap_or_else(|wrong| panic!("{wrong}"));
    plan.known_runs().next().unwrap().streams[0].clone()
}

fn refused(keys: &str, expected: Expect) {
    expected.assert_eq(&plan(&text(keys)).err().unwrap_or_default());
}

fn keys(scenario: &str) -> String {
    format!("names = {{ files = 1000 }}\nusers = 100\ncycle = '30s'\n{scenario}")
}

#[test]
fn users_are_the_lanes_of_a_stream_and_their_scenario_sets_the_operations() {
    let stream = stream(&format!("{}\nstarts = 'even'\nworkers = 3", keys(SCENARIO)));
    let users = Users { count: 100, cycle_ns: 30_000_000_000, starts: Starts::Even };
    assert_eq!(stream.arrival, Arrival::Users(users));
    assert_eq!((stream.name_lanes(), stream.workers, stream.queue_depth), ((100, 0), 3, 34));
    let kinds: Vec<&str> = stream.kinds().into_iter().map(OpKind::name).collect();
    assert_eq!(kinds, ["create", "unlink", "readdirplus", "stat"]);
    let names = NameStream::new(&stream, 1, 1).unwrap();
    assert_eq!((names.lanes(), names.block()), (100, 8));
    let shown: Vec<&str> = (0..9).map(|step| names.op(99, step).kind.name()).collect();
    let stats = ["stat"; 5];
    let expected: Vec<&str> = std::iter::once("readdirplus")
        .chain(stats)
        .chain(["create", "unlink", "readdirplus"])
        .collect();
    assert_eq!(shown, expected);
}

#[test]
fn the_number_of_users_is_swept_and_a_run_with_users_is_stored() {
    let swept = plan(&text(&keys(SCENARIO).replace("users = 100", "users = [100, '200..400 x2']")));
    let swept = swept.unwrap_or_else(|wrong| panic!("{wrong}"));
    let points: Vec<String> = swept.known_runs().map(Run::load_point).collect();
    assert_eq!(points, ["t, users=100", "t, users=200", "t, users=400"]);
    let run = swept.known_runs().next().unwrap();
    let json = serde_json::to_string(run).unwrap();
    assert_eq!(serde_json::from_str::<Run>(&json).unwrap(), *run);
}

#[test]
fn targets_share_the_users_as_their_workers_do() {
    let mut stream = stream(&format!("{}\nworkers = 7", keys(SCENARIO)));
    stream.targets = StreamTargets { positions: vec![0, 1, 2], spread: Default::default() };
    let of_targets: Vec<(u32, u32)> = [0, 1, 2]
        .map(|target| {
            let there = stream.on_target(1, target);
            (there.workers, there.arrival.users().unwrap().count)
        })
        .to_vec();
    // Workers 0 and 1 of 7 have 15 users, the others 14.
    assert_eq!(of_targets, [(3, 43), (2, 29), (2, 28)]);
}

#[test]
fn a_search_for_users_has_their_maximum() {
    let text = text(&keys(SCENARIO)) + "[search]\nmethod = 'users'\noverload_max = '2%'\n";
    let plan = plan(&text).unwrap_or_else(|wrong| panic!("{wrong}"));
    let search = plan.searches().next().unwrap();
    let SearchMethod::Users(users) = &search.method else { panic!("{search:?}") };
    assert_eq!((users.users_max, users.users_min, users.step), (100, 1, 2));
    assert_eq!((users.overload_max_permille, users.precision_permille), (20, 50));
    assert_eq!(users.rungs(), [6, 12, 25, 50, 100]);
    let run = search.template.with_users(25);
    assert_eq!(run.streams[0].arrival.users().unwrap().count, 25);
    assert_eq!(run.load_point(), "t, users=25");
}

#[test]
fn scenarios_that_cannot_be_done_are_refused() {
    refused(
        &keys("scenario = [{ create = 2 }, { unlink = 3 }]"),
        expect![[r#"
        x.toml:8:12: the scenario of stream `home` removes more names than it adds, found unlink 3, create, copy, link and symlink 2, allowed: as much unlink as create, copy, link and symlink together (have 2 `unlink` in the scenario)
    "#]],
    );
    refused(
        &keys("scenario = [{ mkdir = 1 }]"),
        expect![[r#"
        x.toml:8:12: the scenario of stream `home` adds more directories than it removes, found rmdir 0, mkdir 1, allowed: as much rmdir as mkdir together (have 1 `rmdir` in the scenario)
    "#]],
    );
    refused(
        &keys("scenario = [{ append = 1 }]"),
        expect![[r#"
        x.toml:8:12: the scenario of stream `home` only appends, so files grow without limit, found `[{ append = 1 }]`, allowed: `append` only with `truncate`, `write_file`, `create` or `copy` (add a step `{ truncate = 1 }`)
    "#]],
    );
    refused(
        &keys("scenario = [{ create = 9 }, { unlink = 9 }, { write_file = 5 }]"),
        expect![[r#"
            x.toml:5:9: stream `home` has too few files for its users, found files=1000, 100 users, allowed: `files` of at least 1500 (15 for each) (raise `files`, or lower `users`)
        "#]],
    );
    refused(
        &keys("scenario = [{ think = '40s' }, { stat = 1 }]"),
        expect![[r#"
        x.toml:7:9: the think times of the scenario of stream `home` take longer than its cycle, so every scenario would be late, found 30s, allowed: `cycle` above 40s (raise `cycle`, or shorten the think times of `scenario`)
    "#]],
    );
    let long = keys("scenario = [{ stat = 50, think = '2s' }]").replace("30s", "900s");
    refused(
        &long,
        expect![[r#"
            x.toml:8:12: the think times and offsets of the scenario of stream `home` take longer than the run, so no scenario would end, found 1m40s, allowed: a scenario of at most 1m5s (raise `measure` in [run] to 1m40s or more)
        "#]],
    );
    refused(
        &keys("scenario = [{ stat = 1001 }]"),
        expect![[r#"
        x.toml:8:22: wrong value for `stat`, found `1001`, allowed: a whole number from 1 to 1000
    "#]],
    );
    refused(
        &keys("scenario = [{ stat = 600 }, { open = 600 }]"),
        expect![[r#"
        x.toml:8:12: the scenario has too many operations, found 1200, allowed: at most 1000 operations (use a shorter scenario with a shorter `cycle`)
    "#]],
    );
}

#[test]
fn offsets_are_steps_of_their_own_and_may_have_a_think_time() {
    let scenario = "scenario = [{ stat = 1 }, { open = 2, at = '10s', think = '1s' }, \
                    { at = '20s' }, { readdir = 1 }]";
    let stream = stream(&keys(scenario));
    let shown = stream.names.unwrap().scenario.unwrap().to_string();
    assert_eq!(shown, "stat, at 10s, 2 x (think 1s, open), at 20s, readdir");
}

#[test]
fn offsets_out_of_order_or_beyond_the_cycle_are_refused() {
    refused(
        &keys("scenario = [{ stat = 1, at = '20s' },\n { open = 1, at = '10s' }]"),
        expect![[r#"
            x.toml:9:19: a step of the scenario is at an offset before the end of the steps above it, found `'10s'`, allowed: 20s or more (raise the offset, put the steps in the order of their offsets, or shorten the think times before it)
        "#]],
    );
    refused(
        &keys("scenario = [{ stat = 3, think = '5s' }, { open = 1, at = '10s' }]"),
        expect![[r#"
            x.toml:8:58: a step of the scenario is at an offset before the end of the steps above it, found `'10s'`, allowed: 15s or more (raise the offset, put the steps in the order of their offsets, or shorten the think times before it)
        "#]],
    );
    refused(
        &keys("scenario = [{ stat = 1 }, { open = 1, at = '30s' }]"),
        expect![[r#"
        x.toml:8:12: a step of the scenario of stream `home` is at an offset after the end of its cycle, found 30s, allowed: `at` below 30s (lower the offset, or raise `cycle` above 30s)
    "#]],
    );
    refused(
        &keys("scenario = [{ stat = 1 }, { at = '5s' }]"),
        expect![[r#"
        x.toml:8:27: the scenario ends with a pause, and no operation follows, found `{ at = '5s' }`, allowed: an operation as the last step
    "#]],
    );
    refused(
        &keys("scenario = [{ stat = 1, at = 5 }]"),
        expect![[r#"
        x.toml:8:30: wrong value for `at`, found `5`, allowed: a duration such as "30s", "2m" or "500ms", from 0s to 24h (add a unit: `"5s"` for 5 seconds)
    "#]],
    );
    let long = keys("scenario = [{ stat = 1 }, { open = 1, at = '200s' }]").replace("30s", "900s");
    refused(
        &long,
        expect![[r#"
        x.toml:8:12: the think times and offsets of the scenario of stream `home` take longer than the run, so no scenario would end, found 3m20s, allowed: a scenario of at most 1m5s (raise `measure` in [run] to 3m20s or more)
    "#]],
    );
}

#[test]
fn wrong_steps_are_reported_with_their_position() {
    refused(
        &keys("scenario = [{ stats = 1 }]"),
        expect![[r#"
            x.toml:8:15: unknown kind of operation, found `stats`, allowed: a list of steps, each with `think`, `at` or one of create, open, unlink, rename, link, symlink, readlink, mkdir, rmdir, readdir, readdirplus, stat, access, setattr, truncate, append, lookup, lookup_missing, copy, read_file, write_file, statfs and its number, such as [{ readdirplus = 1 }, { think = "2s" }, { stat = 5, think = "1s" }] (did you mean `stat`?)
        "#]],
    );
    refused(
        &keys("scenario = [{ read = 1 }]"),
        expect![[r#"
            x.toml:8:15: unknown kind of operation, found `read`, allowed: a list of steps, each with `think`, `at` or one of create, open, unlink, rename, link, symlink, readlink, mkdir, rmdir, readdir, readdirplus, stat, access, setattr, truncate, append, lookup, lookup_missing, copy, read_file, write_file, statfs and its number, such as [{ readdirplus = 1 }, { think = "2s" }, { stat = 5, think = "1s" }] (whole files are read by `read_file`)
        "#]],
    );
    refused(
        &keys("scenario = [{ stat = 1, open = 1 }]"),
        expect![[r#"
        x.toml:8:25: a step of the scenario has several kinds of operations, found `open`, allowed: one kind in each step (write one step for each, in their order)
    "#]],
    );
    refused(
        &keys("scenario = [{ stat = 1 }, { think = '1s' }]"),
        expect![[r#"
            x.toml:8:27: the scenario ends with a pause, and no operation follows, found `{ think = '1s' }`, allowed: an operation as the last step
        "#]],
    );
    refused(
        &keys("scenario = [{ stat = 1, think = 2 }]"),
        expect![[r#"
        x.toml:8:33: wrong value for `think`, found `2`, allowed: a duration such as "30s", "2m" or "500ms", from 0s to 1h (add a unit: `"2s"` for 2 seconds)
    "#]],
    );
    refused(
        &keys("scenario = [{}]"),
        expect![[r#"
            x.toml:8:13: a step of the scenario is empty, found `{}`, allowed: a list of steps, each with `think`, `at` or one of create, open, unlink, rename, link, symlink, readlink, mkdir, rmdir, readdir, readdirplus, stat, access, setattr, truncate, append, lookup, lookup_missing, copy, read_file, write_file, statfs and its number, such as [{ readdirplus = 1 }, { think = "2s" }, { stat = 5, think = "1s" }]
        "#]],
    );
    refused(
        &keys("scenario = []"),
        expect![[r#"
            x.toml:8:12: the scenario has no operations, found `[]`, allowed: a list of steps, each with `think`, `at` or one of create, open, unlink, rename, link, symlink, readlink, mkdir, rmdir, readdir, readdirplus, stat, access, setattr, truncate, append, lookup, lookup_missing, copy, read_file, write_file, statfs and its number, such as [{ readdirplus = 1 }, { think = "2s" }, { stat = 5, think = "1s" }]
        "#]],
    );
    refused(
        &keys("scenario = { stat = 1 }"),
        expect![[r#"
            x.toml:8:12: `scenario` is not a list of steps, found `{ stat = 1 }`, allowed: a list of steps, each with `think`, `at` or one of create, open, unlink, rename, link, symlink, readlink, mkdir, rmdir, readdir, readdirplus, stat, access, setattr, truncate, append, lookup, lookup_missing, copy, read_file, write_file, statfs and its number, such as [{ readdirplus = 1 }, { think = "2s" }, { stat = 5, think = "1s" }]
        "#]],
    );
}

#[test]
fn keys_that_do_not_fit_users_are_refused() {
    refused(
        &format!("{}\nqueue_depth = 8", keys(SCENARIO)),
        expect![[r#"
        x.toml:9:15: stream `home` has `users` and `queue_depth`, found `8`, allowed: `queue_depth` only without `users` (each user has at most one operation in flight; omit it)
    "#]],
    );
    refused(
        &format!("{}\narrival = {{ poisson = '10/s' }}", keys(SCENARIO)),
        expect![[r#"
            x.toml:9:11: stream `home` has `users` and `arrival`, found `{ poisson = '10/s' }`, allowed: `arrival` only without `users` (`cycle` and the think times of `scenario` set when operations are due; omit it)
        "#]],
    );
    refused(
        &format!("{}\nmix = {{ stat = '100%' }}", keys(SCENARIO)),
        expect![[r#"
        x.toml:9:7: stream `home` has `users` and `mix`, found `{ stat = '100%' }`, allowed: `mix` only without `users` (`scenario` sets the operations; omit it)
    "#]],
    );
    refused(
        "names = { files = 1000 }\nusers = 100",
        expect![[r#"
            x.toml:4:9: stream `home` lacks `cycle`, found nothing, allowed: a duration such as "30s", "2m" or "500ms", from 1ms to 24h (for example cycle = "900s")
            x.toml:4:9: stream `home` lacks `scenario`, found nothing, allowed: a list of steps, each with `think`, `at` or one of create, open, unlink, rename, link, symlink, readlink, mkdir, rmdir, readdir, readdirplus, stat, access, setattr, truncate, append, lookup, lookup_missing, copy, read_file, write_file, statfs and its number, such as [{ readdirplus = 1 }, { think = "2s" }, { stat = 5, think = "1s" }] (for example scenario = [{ readdirplus = 1 }, { think = "2s" }, { stat = 5, think = "1s" }, { read_file = 1 }])
        "#]],
    );
    refused(
        SCENARIO,
        expect![[r#"
            x.toml:4:9: stream `home` lacks `names`, found nothing, allowed: a table with `files`, and optionally `depth`, `width`, `files_per_directory`, `name_length`, `spread`, `size` and `append`, such as { files = 100000, depth = 2, width = 20, size = "4KiB" } (for example names = { files = 100000, depth = 2, width = 20, size = "4KiB" })
            x.toml:4:9: stream `home` lacks `mix`, found nothing, allowed: shares of create, open, unlink, rename, link, symlink, readlink, mkdir, rmdir, readdir, readdirplus, stat, access, setattr, truncate, append, lookup, lookup_missing, copy, read_file, write_file, statfs, with a sum of 100 %, such as { create = "2%", unlink = "2%", stat = "96%" } (for example mix = { create = "2%", unlink = "2%", stat = "66%", read_file = "30%" })
            x.toml:4:9: stream `home` lacks `queue_depth`, found nothing, allowed: a whole number from 1 to 4096 (for example queue_depth = [1, 4, 16])
            x.toml:5:12: stream `home` has `scenario`, but no users, found `[{ readdirplus = 1 }, { think = '2s' }, { stat = 5, think = …`, allowed: `scenario` only with `users` (set `users`, or use `mix` and `queue_depth`)
        "#]],
    );
    let mixed = "names = { files = 1000 }\nmix = { stat = '100%' }\nqueue_depth = 1\ncycle = '1s'";
    refused(
        mixed,
        expect![[r#"
        x.toml:8:9: stream `home` has `cycle`, but no users, found `'1s'`, allowed: `cycle` only with `users` (set `users`, or use `mix` and `queue_depth`)
    "#]],
    );
    refused(
        &keys(SCENARIO).replace("users = 100", "users = 2\nworkers = 4"),
        expect![[r#"
        x.toml:6:9: stream `home` has fewer users than workers, found users=2, workers=4, allowed: `users` of at least 4 (lower `workers`; one sends for thousands of users)
    "#]],
    );
    let shared =
        text(&keys(SCENARIO)).replace("measure", "arrival = { poisson = '10/s' }\nmeasure");
    expect![[r#"
        x.toml:7:9: stream `home` has `users`, and [run] sets `arrival`, found `100`, allowed: `arrival` in [run] only without `users` (set `arrival` in the other streams)
    "#]].assert_eq(&plan(&shared).err().unwrap_or_default());
}

#[test]
fn searches_that_do_not_fit_their_stream_are_refused() {
    let searched = |keys: &str, search: &str| {
        plan(&(text(keys) + "[search]\n" + search)).err().unwrap_or_default()
    };
    let users = "method = 'users'\n";
    expect![[r#"
        x.toml:6:1: a search for queue depths or rates has no users, found `users`, allowed: `queue_depth` (set `method = "users"` in [search])
    "#]].assert_eq(&searched(&keys(SCENARIO), "method = 'curve'\n"));
    let mixed = "names = { files = 1000 }\nmix = { stat = '100%' }\nqueue_depth = 1";
    expect![[r#"
        x.toml:9:10: a search for users needs a stream with users, found `'users'`, allowed: a stream with `users` (set `users`, `cycle` and `scenario`, or choose another `method`)
    "#]].assert_eq(&searched(mixed, users));
    let swept = keys(SCENARIO).replace("users = 100", "users = [100, 200]");
    expect![[r#"
        x.toml:6:1: a search chooses the number of users itself, found 2 numbers, allowed: one `users`: the maximum that is tried
    "#]].assert_eq(&searched(&swept, users));
    let long = keys(SCENARIO).replace("30s", "90s");
    expect![[r#"
        x.toml:10:10: a run of the search is not longer than a cycle of its users, so no scenario can be late, found 1m5s, allowed: `warm_up` and `measure` of more than 1m30s together (set `warm_up` to one cycle and `measure` to one or more, or shorten `cycle`)
    "#]].assert_eq(&searched(&long, users));
    let objective = format!("{users}response_time_max = '5ms'\n");
    expect![[r#"
        x.toml:11:21: a search for users has no objective for the response time, found `'5ms'`, allowed: `overload_max` (omit `response_time_max`)
    "#]].assert_eq(&searched(&keys(SCENARIO), &objective));
}
