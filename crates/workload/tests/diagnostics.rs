//! Diagnostics of experiment files: position, text found, what is allowed, and a hint; all problems at
//! once.

use expect_test::{Expect, expect};
use workload::experiment::{parse, parse_with};
use workload::overrides::Override;

/// A valid stream.
const STREAM: &str = "
[stream.db]
read = '70%'
transfer_size = '8k'
pattern = 'random'
file_size = '1GiB'
queue_depth = 4
";

fn shown(problems: Vec<settings::Diagnostic>) -> String {
    problems.iter().map(|problem| format!("{problem}\n")).collect()
}

fn check(text: &str, expected: Expect) {
    let found = match parse(text, "x.toml") {
        Ok(_) => "no problems\n".to_owned(),
        Err(problems) => shown(problems),
    };
    expected.assert_eq(&found);
}

/// Puts `lines` before the stream, from line 2 on.
fn check_top(lines: &str, expected: Expect) {
    check(&format!("name = 't'\n{lines}{STREAM}"), expected);
}

/// Puts `lines` after the keys of the stream, from line 9 on.
fn check_stream(lines: &str, expected: Expect) {
    check(&format!("name = 't'\n{}{lines}", &STREAM), expected);
}

/// Makes a stream of `lines`, from line 3 on, with `file_size` and `queue_depth`.
fn check_keys(lines: &str, expected: Expect) {
    check(
        &format!("name = 't'\n[stream.db]\n{lines}\nfile_size = '1GiB'\nqueue_depth = 4\n"),
        expected,
    );
}

fn check_set(settings: &[&str], expected: Expect) {
    let overrides: Vec<Override> = settings.iter().map(|text| Override::set(text)).collect();
    let found = match parse_with(&format!("name = 't'\n{STREAM}"), "x.toml", &overrides) {
        Ok(_) => "no problems\n".to_owned(),
        Err(problems) => shown(problems),
    };
    expected.assert_eq(&found);
}

#[test]
fn all_problems_of_a_file_are_reported_together() {
    check(
        "nam = 'oltp'
[run]
measure = 30
warm_up = '5 apples'
interval = '7s'
queue_depth = 4
[stream.db]
read = 0.7
transfer_size = '8x'
pattern = 'randon'
queue_dept = 4
file_size = '1GiB'
arrival = { poisson = 'fast' }
[stream.log]
read = '130%'
direct = 'yes'
[[variant]]
stream = 'logs'
",
        expect![[r#"
            x.toml:1:1: unknown key in the top level, found `nam`, allowed: name, target, require, run, search, metric, stream, variant (did you mean `name`?)
            x.toml:3:11: wrong value for `measure`, found `30`, allowed: a duration such as "30s", "2m" or "500ms", from 10ms to 720h (add a unit: `"30s"` for 30 seconds)
            x.toml:4:11: wrong value for `warm_up`, found `'5 apples'`, allowed: a duration such as "30s", "2m" or "500ms", from 0s to 24h
            x.toml:6:1: unknown key in [run], found `queue_depth`, allowed: warm_up, measure, interval, repeats, until, repeats_max, seed, order, arrival, tolerated_errors, operation_deadline, hosts, targets, nconnect (`queue_depth` belongs to [stream.NAME])
            x.toml:8:8: wrong value for `read`, found `0.7`, allowed: a share from 0 % to 100 % (write shares in percent: `"70%"`)
            x.toml:9:17: wrong value for `transfer_size`, found `'8x'`, allowed: a size such as "8k", "8KiB" or "1.5GiB", a multiple of 512 B, up to 64 MiB
            x.toml:10:11: wrong value for `pattern`, found `'randon'`, allowed: "sequential", "random", { zipf = 1.1 }, { hot_set = { area = "10%", accesses = "90%" } }, { seek = "25%" } or { stride = "1MiB" } (did you mean `random`?)
            x.toml:11:1: unknown key in [stream.db], found `queue_dept`, allowed: read, transfer_size, pattern, files, file_size, area, names, mix, replay, users, cycle, scenario, starts, queue_depth, workers, sharing, read_what, targets, spread, arrival, start, end, weight, direct, dsync, write_stability, fsync_every, compressible, duplicate (did you mean `queue_depth`?)
            x.toml:13:23: wrong value for `poisson`, found `'fast'`, allowed: a rate such as "10000/s", "2.5k/s" or 500 (per second), from 0.001/s to 1000000000/s
            x.toml:14:9: stream `log` lacks `transfer_size`, found nothing, allowed: a size such as "8k", "8KiB" or "1.5GiB", a multiple of 512 B, up to 64 MiB; or several with their shares: { "8k" = "70%", "64k" = "30%" } (for example transfer_size = "8KiB")
            x.toml:14:9: stream `log` lacks `pattern`, found nothing, allowed: "sequential", "random", { zipf = 1.1 }, { hot_set = { area = "10%", accesses = "90%" } }, { seek = "25%" } or { stride = "1MiB" } (for example pattern = "random")
            x.toml:14:9: stream `log` lacks `file_size`, found nothing, allowed: a size such as "8k", "8KiB" or "1.5GiB", a multiple of 4 KiB, up to 1 PiB (for example file_size = "256MiB")
            x.toml:14:9: stream `log` lacks `queue_depth`, found nothing, allowed: a whole number from 1 to 4096 (for example queue_depth = [1, 4, 16])
            x.toml:15:8: wrong value for `read`, found `'130%'`, allowed: a share from 0 % to 100 %
            x.toml:16:10: wrong value for `direct`, found `'yes'`, allowed: true or false
            x.toml:17:1: the variant refers to an unknown stream, found `logs`, allowed: `db` or `log` (did you mean `log`?)
        "#]],
    );
}

#[test]
fn syntax_errors_are_reported_with_all_other_problems() {
    check(
        "name = 't'\nseed == 1\n[run]\nmeasure = 30\n[stream.db]\nread = '70%\n",
        expect![[r#"
            x.toml:2:7: this is not TOML: extra `=`, expected nothing, found `=`
            x.toml:2:9: this is not TOML: unexpected key or value, expected newline, `#`
            x.toml:4:11: wrong value for `measure`, found `30`, allowed: a duration such as "30s", "2m" or "500ms", from 10ms to 720h (add a unit: `"30s"` for 30 seconds)
            x.toml:6:12: this is not TOML: invalid literal string, expected `'`
        "#]],
    );
    check(
        "name = 't'\n[stream.db]\nread = '1%'\nread = '2%'\n",
        expect![[r#"
        x.toml:4:1: this is not TOML: duplicate key, found `read`
    "#]],
    );
    check(
        "[stream.a]\n[stream.a]\n",
        expect![[r#"
        x.toml:1:1: the experiment lacks `name`, found nothing, allowed: text in quotes, up to 100 characters (for example name = "oltp")
        x.toml:2:9: this is not TOML: duplicate key, found `a`
    "#]],
    );
    check(
        "",
        expect![[r#"
            x.toml:1:1: the experiment lacks `name`, found nothing, allowed: text in quotes, up to 100 characters (for example name = "oltp")
            x.toml:1:1: the experiment has no stream, allowed: one or more [stream.NAME] (add a stream, such as [stream.database])
        "#]],
    );
}

#[test]
fn sections_of_the_wrong_form_are_refused() {
    check_top(
        "run = 3\n",
        expect![[r#"
            x.toml:2:1: `run` is not a table, found `run`, allowed: a table: [run]
        "#]],
    );
    check_top(
        "target = 3\n",
        expect![[r#"
        x.toml:2:10: wrong value for `target`, found `3`, allowed: text in quotes, up to 100 characters
    "#]],
    );
    check(
        "name = 't'\nstream = 4\n",
        expect![[r#"
            x.toml:2:1: `stream` is not a table, found `stream`, allowed: one table for each stream: [stream.NAME]
        "#]],
    );
    check(
        "name = 't'\n[stream]\n",
        expect![[r#"
        x.toml:2:2: the experiment has no stream, found `stream`, allowed: one table for each stream: [stream.NAME]
    "#]],
    );
    check(
        "name = 't'\n[stream]\nread = '70%'\n",
        expect![[r#"
            x.toml:3:1: a key outside of a stream, found `read`, allowed: one table for each stream: [stream.NAME] (put `read` into a stream such as [stream.main])
        "#]],
    );
    check_stream(
        "[variant]\nname = 'v'\n",
        expect![[r#"
            x.toml:9:2: variants are a list of tables, found `variant`, allowed: one [[variant]] for each variant (use two brackets: [[variant]])
        "#]],
    );
    check(
        "name = ''\n[stream.run]\n[stream.'a b']\n",
        expect![[r#"
            x.toml:1:8: wrong value for `name`, found `''`, allowed: text in quotes, up to 100 characters
            x.toml:2:9: not a valid stream name (it is part of file names), found `run`, allowed: up to 40 letters, digits, `-` and `_`, but not `run`, `search` or `stream`
            x.toml:2:9: stream `run` lacks `read`, found nothing, allowed: a share from 0 % to 100 % (for example read = "70%")
            x.toml:2:9: stream `run` lacks `transfer_size`, found nothing, allowed: a size such as "8k", "8KiB" or "1.5GiB", a multiple of 512 B, up to 64 MiB; or several with their shares: { "8k" = "70%", "64k" = "30%" } (for example transfer_size = "8KiB")
            x.toml:2:9: stream `run` lacks `pattern`, found nothing, allowed: "sequential", "random", { zipf = 1.1 }, { hot_set = { area = "10%", accesses = "90%" } }, { seek = "25%" } or { stride = "1MiB" } (for example pattern = "random")
            x.toml:2:9: stream `run` lacks `file_size`, found nothing, allowed: a size such as "8k", "8KiB" or "1.5GiB", a multiple of 4 KiB, up to 1 PiB (for example file_size = "256MiB")
            x.toml:2:9: stream `run` lacks `queue_depth`, found nothing, allowed: a whole number from 1 to 4096 (for example queue_depth = [1, 4, 16])
            x.toml:3:9: not a valid stream name (it is part of file names), found `'a b'`, allowed: up to 40 letters, digits, `-` and `_`, but not `run`, `search` or `stream`
            x.toml:3:9: stream `a b` lacks `read`, found nothing, allowed: a share from 0 % to 100 % (for example read = "70%")
            x.toml:3:9: stream `a b` lacks `transfer_size`, found nothing, allowed: a size such as "8k", "8KiB" or "1.5GiB", a multiple of 512 B, up to 64 MiB; or several with their shares: { "8k" = "70%", "64k" = "30%" } (for example transfer_size = "8KiB")
            x.toml:3:9: stream `a b` lacks `pattern`, found nothing, allowed: "sequential", "random", { zipf = 1.1 }, { hot_set = { area = "10%", accesses = "90%" } }, { seek = "25%" } or { stride = "1MiB" } (for example pattern = "random")
            x.toml:3:9: stream `a b` lacks `file_size`, found nothing, allowed: a size such as "8k", "8KiB" or "1.5GiB", a multiple of 4 KiB, up to 1 PiB (for example file_size = "256MiB")
            x.toml:3:9: stream `a b` lacks `queue_depth`, found nothing, allowed: a whole number from 1 to 4096 (for example queue_depth = [1, 4, 16])
        "#]],
    );
}

#[test]
fn names_must_be_different() {
    check_stream(
        "[stream.DB]\nread='1%'\npattern='random'\n\
         transfer_size='4k'\nfile_size='1g'\nqueue_depth=1\n",
        expect![[r#"
            x.toml:9:9: a stream name that differs from `db` only in case, found `DB`, allowed: names that differ in more than case
        "#]],
    );
    check_stream(
        "[[variant]]\nname = 'a'\n[[variant]]\nname = 'a'\n",
        expect![[r#"
            x.toml:12:1: two variants with the same name, found `a`, allowed: different names
        "#]],
    );
    check_stream(
        "[[variant]]\nname = 'a'\nstream = 'dba'\n",
        expect![[r#"
            x.toml:10:1: the variant refers to an unknown stream, found `dba`, allowed: `db` (did you mean `db`?)
        "#]],
    );
}

#[test]
fn keys_in_the_wrong_section_are_reported_with_the_right_one() {
    check_top(
        "queue_depth = 4\n",
        expect![[r#"
            x.toml:2:1: unknown key in the top level, found `queue_depth`, allowed: name, target, require, run, search, metric, stream, variant (`queue_depth` belongs to [stream.NAME])
        "#]],
    );
    check_stream(
        "measure = '3s'\n",
        expect![[r#"
            x.toml:9:1: unknown key in [stream.db], found `measure`, allowed: read, transfer_size, pattern, files, file_size, area, names, mix, replay, users, cycle, scenario, starts, queue_depth, workers, sharing, read_what, targets, spread, arrival, start, end, weight, direct, dsync, write_stability, fsync_every, compressible, duplicate (`measure` belongs to [run])
        "#]],
    );
    check_stream(
        "[run]\nread = '3%'\n",
        expect![[r#"
            x.toml:10:1: unknown key in [run], found `read`, allowed: warm_up, measure, interval, repeats, until, repeats_max, seed, order, arrival, tolerated_errors, operation_deadline, hosts, targets, nconnect (`read` belongs to [stream.NAME])
        "#]],
    );
    check_stream(
        "elephant = 3\n",
        expect![[r#"
            x.toml:9:1: unknown key in [stream.db], found `elephant`, allowed: read, transfer_size, pattern, files, file_size, area, names, mix, replay, users, cycle, scenario, starts, queue_depth, workers, sharing, read_what, targets, spread, arrival, start, end, weight, direct, dsync, write_stability, fsync_every, compressible, duplicate
        "#]],
    );
}

#[test]
fn quantities_without_or_with_wrong_units_are_refused() {
    check_top(
        "[run]\nmeasure = 30\n",
        expect![[r#"
            x.toml:3:11: wrong value for `measure`, found `30`, allowed: a duration such as "30s", "2m" or "500ms", from 10ms to 720h (add a unit: `"30s"` for 30 seconds)
        "#]],
    );
    check_top(
        "[run]\nmeasure = '30'\nwarm_up = '-1s'\n",
        expect![[r#"
            x.toml:3:11: wrong value for `measure`, found `'30'`, allowed: a duration such as "30s", "2m" or "500ms", from 10ms to 720h (add a unit: `"30s"` for 30 seconds)
            x.toml:4:11: wrong value for `warm_up`, found `'-1s'`, allowed: a duration such as "30s", "2m" or "500ms", from 0s to 24h
        "#]],
    );
    check_top(
        "[run]\nrepeats = 1.5\nseed = -3\n",
        expect![[r#"
        x.toml:3:11: wrong value for `repeats`, found `1.5`, allowed: a whole number from 1 to 1000
        x.toml:4:8: wrong value for `seed`, found `-3`, allowed: a whole number from 0
    "#]],
    );
    check_top(
        "[run]\nrepeats = '3s'\norder = 'random'\n",
        expect![[r#"
        x.toml:3:11: wrong value for `repeats`, found `'3s'`, allowed: a whole number from 1 to 1000
        x.toml:4:9: wrong value for `order`, found `'random'`, allowed: "as-written" or "randomised"
    "#]],
    );
    check_stream(
        "area = '1GB'\n",
        expect![[r#"
            x.toml:9:8: wrong value for `area`, found `'1GB'`, allowed: a size such as "8k", "8KiB" or "1.5GiB", a multiple of 4 KiB, up to 1 PiB (the nearest allowed size is 999997440 bytes)
        "#]],
    );
    check_stream(
        "area = 0\n",
        expect![[r#"
            x.toml:9:8: wrong value for `area`, found `0`, allowed: a size such as "8k", "8KiB" or "1.5GiB", a multiple of 4 KiB, up to 1 PiB (the nearest allowed size is 4096 bytes)
        "#]],
    );
    check_stream(
        "files = 0\nworkers = 2000\n",
        expect![[r#"
            x.toml:9:9: wrong value for `files`, found `0`, allowed: a whole number from 1 to 10000, such as 500 or "2k"
            x.toml:10:11: wrong value for `workers`, found `2000`, allowed: a whole number from 1 to 1024
        "#]],
    );
    check_stream(
        "direct = 1\ndsync = 'false'\n",
        expect![[r#"
            x.toml:9:10: wrong value for `direct`, found `1`, allowed: true or false
            x.toml:10:9: wrong value for `dsync`, found `'false'`, allowed: true or false (omit the quotes: `false`)
        "#]],
    );
    check_stream(
        "compressible = '99%'\n",
        expect![[r#"
        x.toml:9:16: wrong value for `compressible`, found `'99%'`, allowed: a share from 0 % to 95 %
    "#]],
    );
    check_stream(
        "arrival = 1979-05-27\n",
        expect![[r#"
            x.toml:9:11: wrong value for `arrival`, found `1979-05-27`, allowed: "closed", { closed = { think_time = "1ms" } }, { constant = "10000/s" }, { poisson = "10k/s" } or { schedule = [{ constant = "1k/s", for = "10s" }, …] }
        "#]],
    );
}

#[test]
fn transfer_sizes_are_whole_sectors_and_their_shares_add_up() {
    let with = |sizes: &str| format!("read='70%'\npattern='random'\ntransfer_size = {sizes}");
    check_keys(
        &with("'1000'"),
        expect![[r#"
            x.toml:5:17: wrong value for `transfer_size`, found `'1000'`, allowed: a size such as "8k", "8KiB" or "1.5GiB", a multiple of 512 B, up to 64 MiB (the nearest allowed size is 512 bytes)
        "#]],
    );
    check_keys(
        &with("'128MiB'"),
        expect![[r#"
        x.toml:5:17: wrong value for `transfer_size`, found `'128MiB'`, allowed: a size such as "8k", "8KiB" or "1.5GiB", a multiple of 512 B, up to 64 MiB
    "#]],
    );
    check_keys(
        &with("{ '8k' = '70%', '64k' = '20%' }"),
        expect![[r#"
            x.toml:5:17: the shares of the transfer sizes do not add up to 100 %, found 90%, allowed: a sum of 100 %
        "#]],
    );
    check_keys(
        &with("{ '8k' = '70%', '8KiB' = '30%' }"),
        expect![[r#"
            x.toml:5:33: the transfer size 8 KiB is listed twice, found `'8KiB'`, allowed: each size once
        "#]],
    );
    check_keys(
        &with("{ '8k' = '100%', '64k' = '0%' }"),
        expect![[r#"
            x.toml:5:42: wrong share for a transfer size, found `'0%'`, allowed: a share from 0.1 % to 100 %
        "#]],
    );
    check_keys(
        &with("{ 'big' = '50%', '64k' = 'half' }"),
        expect![[r#"
            x.toml:5:19: this is not a transfer size, found `'big'`, allowed: a size such as "8k", "8KiB" or "1.5GiB", a multiple of 512 B, up to 64 MiB
            x.toml:5:42: wrong share for a transfer size, found `'half'`, allowed: a share from 0.1 % to 100 %
        "#]],
    );
    check_keys(
        &with("{}"),
        expect![[r#"
            x.toml:5:17: the shares of the transfer sizes do not add up to 100 %, found 0%, allowed: a sum of 100 %
        "#]],
    );
}

#[test]
fn wrong_patterns_and_arrivals_are_refused() {
    let pattern = |p: &str| format!("read='70%'\ntransfer_size='8k'\npattern = {p}");
    check_keys(
        &pattern("'zipf'"),
        expect![[r#"
            x.toml:5:11: wrong value for `pattern`, found `'zipf'`, allowed: "sequential", "random", { zipf = 1.1 }, { hot_set = { area = "10%", accesses = "90%" } }, { seek = "25%" } or { stride = "1MiB" } (add the skew: { zipf = 1.1 })
        "#]],
    );
    check_keys(
        &pattern("'uniform'"),
        expect![[r#"
            x.toml:5:11: wrong value for `pattern`, found `'uniform'`, allowed: "sequential", "random", { zipf = 1.1 }, { hot_set = { area = "10%", accesses = "90%" } }, { seek = "25%" } or { stride = "1MiB" } (write "random")
        "#]],
    );
    check_keys(
        &pattern("{ zipf = 0 }"),
        expect![[r#"
        x.toml:5:20: wrong value for `zipf`, found `0`, allowed: a number above 0, up to 10, such as 1.1
    "#]],
    );
    check_keys(
        &pattern("{ zipf = -1.5 }"),
        expect![[r#"
        x.toml:5:20: wrong value for `zipf`, found `-1.5`, allowed: a number above 0, up to 10, such as 1.1
    "#]],
    );
    check_keys(
        &pattern("{ ziff = 1 }"),
        expect![[r#"
            x.toml:5:13: unknown key, found `ziff`, allowed: "sequential", "random", { zipf = 1.1 }, { hot_set = { area = "10%", accesses = "90%" } }, { seek = "25%" } or { stride = "1MiB" } (did you mean `zipf`?)
        "#]],
    );
    check_keys(
        &pattern("{ hot_set = { area = '10%' } }"),
        expect![[r#"
            x.toml:5:23: `hot_set` lacks `accesses`, found `{ area = '10%' }`, allowed: "sequential", "random", { zipf = 1.1 }, { hot_set = { area = "10%", accesses = "90%" } }, { seek = "25%" } or { stride = "1MiB" }
        "#]],
    );
    check_keys(
        &pattern("{ hot_set = { area = '0%', accesses = '100%' } }"),
        expect![[r#"
        x.toml:5:32: wrong value for `area`, found `'0%'`, allowed: a share from 0.1 % to 99.9 %
        x.toml:5:49: wrong value for `accesses`, found `'100%'`, allowed: a share from 0.1 % to 99.9 %
    "#]],
    );
    check_keys(
        &pattern("{ zipf = 1, hot_set = { area = '10%', accesses = '90%' } }"),
        expect![[r#"
            x.toml:5:11: more than one form, found `{ zipf = 1, hot_set = { area = '10%', accesses = '90%' } }`, allowed: "sequential", "random", { zipf = 1.1 }, { hot_set = { area = "10%", accesses = "90%" } }, { seek = "25%" } or { stride = "1MiB" }
        "#]],
    );
    check_stream(
        "arrival = 'poisson'\n",
        expect![[r#"
            x.toml:9:11: wrong value for `arrival`, found `'poisson'`, allowed: "closed", { closed = { think_time = "1ms" } }, { constant = "10000/s" }, { poisson = "10k/s" } or { schedule = [{ constant = "1k/s", for = "10s" }, …] } (add the offered rate: { poisson = "1000/s" })
        "#]],
    );
    check_stream(
        "arrival = { constant = '0/s' }\n",
        expect![[r#"
            x.toml:9:24: wrong value for `constant`, found `'0/s'`, allowed: a rate such as "10000/s", "2.5k/s" or 500 (per second), from 0.001/s to 1000000000/s
        "#]],
    );
    check_stream(
        "arrival = { constant = '10/s', closed = { think_time = '1ms' } }\n",
        expect![[r#"
            x.toml:9:11: more than one form, found `{ constant = '10/s', closed = { think_time = '1ms' } }`, allowed: "closed", { closed = { think_time = "1ms" } }, { constant = "10000/s" }, { poisson = "10k/s" } or { schedule = [{ constant = "1k/s", for = "10s" }, …] }
        "#]],
    );
    check_stream(
        "arrival = { poisson = '10/s', think_time = '1ms' }\n",
        expect![[r#"
            x.toml:9:31: unknown key, found `think_time`, allowed: "closed", { closed = { think_time = "1ms" } }, { constant = "10000/s" }, { poisson = "10k/s" } or { schedule = [{ constant = "1k/s", for = "10s" }, …] }
        "#]],
    );
    check_stream(
        "arrival = { closed = '1ms' }\n",
        expect![[r#"
            x.toml:9:22: this is not a table, found `'1ms'`, allowed: "closed", { closed = { think_time = "1ms" } }, { constant = "10000/s" }, { poisson = "10k/s" } or { schedule = [{ constant = "1k/s", for = "10s" }, …] }
        "#]],
    );
    check_stream(
        "arrival = { closed = { think = '1ms' } }\n",
        expect![[r#"
            x.toml:9:24: unknown key, found `think`, allowed: "closed", { closed = { think_time = "1ms" } }, { constant = "10000/s" }, { poisson = "10k/s" } or { schedule = [{ constant = "1k/s", for = "10s" }, …] }
        "#]],
    );
}

#[test]
fn invalid_sweeps_are_refused() {
    check_stream(
        "workers = []\n",
        expect![[r#"
            x.toml:9:11: `workers` is an empty list, found `[]`, allowed: at least one value
        "#]],
    );
    check_stream(
        "workers = [1, 2, 1]\n",
        expect![[r#"
            x.toml:9:18: `workers` has the value 1 twice, found `1`, allowed: each value once (to run every load point several times, set `repeats` in [run])
        "#]],
    );
    check_stream(
        "workers = [[1, 2], 3]\n",
        expect![[r#"
        x.toml:9:12: wrong value for `workers`, found `[1, 2]`, allowed: a whole number from 1 to 1024
    "#]],
    );
    check_stream(
        "workers = '1..8'\n",
        expect![[r#"
            x.toml:9:11: wrong range for `workers`, found `'1..8'`, allowed: "FIRST..LAST xFACTOR" or "FIRST..LAST step STEP", such as "1..32 x2" or "10..100 step 10" (add a factor or a step: `x2` or `step 10`)
        "#]],
    );
    check_stream(
        "workers = '1..8 x1'\n",
        expect![[r#"
            x.toml:9:11: wrong range for `workers`, found `'1..8 x1'`, allowed: "FIRST..LAST xFACTOR" or "FIRST..LAST step STEP", such as "1..32 x2" or "10..100 step 10" (the factor must be a whole number from 2)
        "#]],
    );
    check_stream(
        "workers = '0..8 step 1'\n",
        expect![[r#"
        x.toml:9:11: 0 in the range of `workers`, found `0..8 step 1`, allowed: a whole number from 1 to 1024
    "#]],
    );
    check_stream(
        "workers = '1..4 step 0'\n",
        expect![[r#"
            x.toml:9:11: wrong range for `workers`, found `'1..4 step 0'`, allowed: "FIRST..LAST xFACTOR" or "FIRST..LAST step STEP", such as "1..32 x2" or "10..100 step 10" (the range never reaches its end)
        "#]],
    );
    check_top(
        "[run]\nrepeats = [1, 2]\n",
        expect![[r#"
        x.toml:3:11: wrong value for `repeats`, found `[1, 2]`, allowed: a whole number from 1 to 1000
    "#]],
    );
    check_stream(
        "workers = '1..1000 step 1'\nfiles = '1..100 step 1'\n",
        expect![[r#"
            x.toml:1:1: sweeps and repeats give too many runs, found 100000 runs, allowed: at most 10000 runs
        "#]],
    );
}

#[test]
fn impossible_combinations_are_refused() {
    check_stream(
        "area = '2GiB'\n",
        expect![[r#"
        x.toml:9:8: the area of stream `db` is larger than its files, found 2 GiB, allowed: up to 1 GiB (1 x 1 GiB)
    "#]],
    );
    check_stream(
        "area = '4KiB'\nfiles = 2\n",
        expect![[r#"
            x.toml:9:8: the area of stream `db` is too small for its files, found 4 KiB, allowed: at least 8 KiB for 2 files
        "#]],
    );
    check_stream(
        "area = '8KiB'\nfiles = 2\n",
        expect![[r#"
            x.toml:5:17: a transfer of stream `db` is larger than the part of each file that is accessed, found 8 KiB, allowed: up to 4 KiB (`area` / `files`)
        "#]],
    );
    check_keys(
        "read='0%'\npattern='sequential'\ntransfer_size={'8k'='50%','16k'='50%'}",
        expect![[r#"
            x.toml:5:15: stream `db` is sequential with several transfer sizes, found `{'8k'='50%','16k'='50%'}`, allowed: one transfer size for a sequential pattern (use one stream for each size; streams run concurrently)
        "#]],
    );
    check_keys(
        "read='100%'\npattern='random'\ntransfer_size='8k'\nfsync_every=4",
        expect![[r#"
            x.toml:6:13: stream `db` has `fsync_every` but no writes, found `4`, allowed: `fsync_every` only if `read` is below 100 %
        "#]],
    );
    check_keys(
        "read='100%'\npattern='sequential'\ntransfer_size='64MiB'\nworkers = 17",
        expect![[r#"
            x.toml:4:9: the working set of stream `db` has fewer transfers than the stream has sequential workers, found 16 transfers, 17 workers, allowed: a working set of at least one transfer for each worker
        "#]],
    );
    check_keys(
        "read='100%'\npattern='random'\ntransfer_size='64MiB'\nworkers = 1000",
        expect![[r#"
            x.toml:1:1: the buffers of a run (queue depth x workers x transfer size) take too much memory, found 250 GiB, allowed: up to 64 GiB
        "#]],
    );
    check_top(
        "[run]\nmeasure = '10s'\ninterval = '3s'\n",
        expect![[r#"
            x.toml:3:11: `measure` is not a whole number of intervals, found 10s, allowed: a multiple of `interval` (3s) (the next multiple: `measure = "12s"`)
        "#]],
    );
    check_top(
        "[run]\ninterval = '2s'\n",
        expect![[r#"
        no problems
    "#]],
    );
    check_top(
        "[run]\nmeasure = '30d'\ninterval = '10ms'\n",
        expect![[r#"
            x.toml:4:12: the interval is too short for a run of this length, found `'10ms'`, allowed: at most 10000000 intervals in a run
        "#]],
    );
    check(
        "name='t'\n[stream.db]\nread='1%'\npattern='random'\n\
         transfer_size='8k'\nfile_size='4k'\nqueue_depth=1\n",
        expect![[r#"
            x.toml:5:15: a transfer of stream `db` is larger than the file, found 8 KiB, allowed: up to 4 KiB (`file_size`)
        "#]],
    );
}

#[test]
fn a_key_that_several_variants_lack_is_reported_once() {
    check(
        "name='t'\n[stream.db]\nfile_size='1g'\nqueue_depth=1\n\
         [[variant]]\nname='a'\nread='1%'\npattern='random'\ntransfer_size='8k'\n\
         [[variant]]\nname='b'\nread='1%'\ntransfer_size='8k'\n\
         [[variant]]\nname='c'\nread='1%'\ntransfer_size='8k'\n",
        expect![[r#"
            x.toml:2:9: stream `db` lacks `pattern`, found nothing, allowed: "sequential", "random", { zipf = 1.1 }, { hot_set = { area = "10%", accesses = "90%" } }, { seek = "25%" } or { stride = "1MiB" } (for example pattern = "random")
        "#]],
    );
}

#[test]
fn settings_from_the_command_line_are_checked_like_the_file() {
    check_set(
        &["queue_depth"],
        expect![[r#"
            --set:1:1: a setting without a value, found `queue_depth`, allowed: KEY=VALUE[,VALUE…], STREAM.KEY=VALUE, run.KEY=VALUE, search.KEY=VALUE, metric.KEY=VALUE or target.NAME.KEY=VALUE
        "#]],
    );
    check_set(
        &["queue_depth=x"],
        expect![[r#"
        --set:1:13: wrong value for `queue_depth`, found `x`, allowed: a whole number from 1 to 4096
    "#]],
    );
    check_set(
        &["queue_dept=1"],
        expect![[r#"
            --set:1:1: unknown key in a stream, found `queue_dept`, allowed: read, transfer_size, pattern, files, file_size, area, names, mix, replay, users, cycle, scenario, starts, queue_depth, workers, sharing, read_what, targets, spread, arrival, start, end, weight, direct, dsync, write_stability, fsync_every, compressible, duplicate (did you mean `queue_depth`?)
        "#]],
    );
    check_set(
        &["measure=10s"],
        expect![[r#"
            --set:1:1: unknown key in a stream, found `measure`, allowed: read, transfer_size, pattern, files, file_size, area, names, mix, replay, users, cycle, scenario, starts, queue_depth, workers, sharing, read_what, targets, spread, arrival, start, end, weight, direct, dsync, write_stability, fsync_every, compressible, duplicate (for a key of [run] write `run.measure=…`)
        "#]],
    );
    check_set(
        &["run.measure=10", "bd.read=1%"],
        expect![[r#"
            --set:1:13: wrong value for `measure`, found `10`, allowed: a duration such as "30s", "2m" or "500ms", from 10ms to 720h (add a unit: `"10s"` for 10 seconds)
            --set:1:1: unknown stream, found `bd`, allowed: db, run, search
        "#]],
    );
    check_set(
        &["read.x=10"],
        expect![[r#"
            --set:1:6: `read` has no fields, found `x`, allowed: KEY=VALUE[,VALUE…], STREAM.KEY=VALUE, run.KEY=VALUE, search.KEY=VALUE, metric.KEY=VALUE or target.NAME.KEY=VALUE
        "#]],
    );
    check_set(
        &["arrival.poison=10/s"],
        expect![[r#"
            --set:1:9: unknown key, found `poison`, allowed: "closed", { closed = { think_time = "1ms" } }, { constant = "10000/s" }, { poisson = "10k/s" } or { schedule = [{ constant = "1k/s", for = "10s" }, …] } (did you mean `poisson`?)
        "#]],
    );
    check_set(
        &["transfer_size={'8k'='50%'"],
        expect![[r#"
            --set:1:26: this is not a value: unclosed inline table, expected `}`, allowed: KEY=VALUE[,VALUE…], STREAM.KEY=VALUE, run.KEY=VALUE, search.KEY=VALUE, metric.KEY=VALUE or target.NAME.KEY=VALUE
        "#]],
    );
    check_set(
        &["queue_depth=1,1"],
        expect![[r#"
            --set:1:15: `queue_depth` has the value 1 twice, found `1`, allowed: each value once (to run every load point several times, set `repeats` in [run])
        "#]],
    );
    check_set(
        &["queue_depth="],
        expect![[r#"
        --set:1:13: wrong value for `queue_depth`, allowed: a whole number from 1 to 4096
    "#]],
    );
    check_set(
        &["="],
        expect![[r#"
            --set:1:1: unknown key in a stream, found ``, allowed: read, transfer_size, pattern, files, file_size, area, names, mix, replay, users, cycle, scenario, starts, queue_depth, workers, sharing, read_what, targets, spread, arrival, start, end, weight, direct, dsync, write_stability, fsync_every, compressible, duplicate
        "#]],
    );
}

#[test]
fn the_diagnostic_of_an_option_has_its_text_and_span() {
    let overrides = [Override::option("--measure", "run.measure", "10"), Override::set("a.b=1")];
    let problems = parse_with(&format!("name='t'{STREAM}"), "x.toml", &overrides).unwrap_err();
    assert_eq!(problems[0].file, "--measure");
    assert_eq!(problems[0].source.as_deref(), Some("10"));
    assert_eq!(problems[0].span, 0..2);
    assert_eq!(problems[1].source.as_deref(), Some("a.b=1"));
    assert_eq!(problems[1].span, 0..1);
}

#[test]
fn the_span_is_in_bytes() {
    let text = format!("name = 'größe'\n[run]\nmeasure = 'später'\n{STREAM}");
    let problems = parse(&text, "x.toml").unwrap_err();
    assert_eq!(&text[problems[0].span.clone()], "'später'");
    assert_eq!((problems[0].line, problems[0].column), (3, 11));
}
