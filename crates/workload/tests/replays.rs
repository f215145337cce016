//! Lists to replay in experiment files: what they resolve to, what each worker does, and how wrong ones
//! are refused.

use std::fmt::Write;
use std::sync::Arc;

use expect_test::{Expect, expect};
use workload::arrival::Arrival;
use workload::experiment::parse_with_files;
use workload::op::OpKind;
use workload::overrides::Override;
use workload::plan::{Assignment, Plan, Run, Spread, StreamTargets, TargetSpec};
use workload::replay::{LaneReplay, ReplayList};
use workload::resolve::{PlanTargets, ResolveOptions, resolve};

const MS: u64 = 1_000_000;

/// 4,000 operations on three files in bursts of four every 10 ms, the last at 9.99 s.
fn list() -> String {
    let mut text =
        "fourcorners replay 1\nfile 0 /db\nfile 1 /log\nfile 2 /tmp/x\nleft-out 7 stat\n"
            .to_owned();
    for number in 0..4000u64 {
        let (ns, offset) = (number / 4 * 10 * MS, number / 4 * 8192);
        let line = match number % 4 {
            0 | 1 => format!("read 0 {} 8192", (number * 517) % 1024 * 8192),
            2 => format!("write 1 {offset} 4096"),
            _ if number % 8 == 7 => "fsync 1".to_owned(),
            _ => format!("read 2 {} 512", number % 8 * 512),
        };
        writeln!(text, "{ns} {line}").unwrap();
    }
    text + "end 4000\n"
}

fn read_file(path: &str) -> Result<String, String> {
    let short = |lines: &str| {
        let count = lines.lines().count();
        Ok(format!("fourcorners replay 1\nfile 0 f\n{lines}\nend {count}\n"))
    };
    match path {
        "app.replay" => Ok(list()),
        "odd.replay" => short("0 read 0 3 100\n500000000 write 0 7 5"),
        "timeless.replay" => short("- read 0 0 4096\n- read 0 4096 4096"),
        "one.replay" => short("0 read 0 0 4096\n0 read 0 4096 4096"),
        "late.replay" => short("0 read 0 0 4096\n5 read 0 4096 4096\n4 read 0 0 4096"),
        other => Err(format!("open {other}: No such file or directory")),
    }
}

fn planned(text: &str, set: &[&str], options: &ResolveOptions) -> Result<Plan, String> {
    let overrides: Vec<Override> = set.iter().map(|text| Override::set(text)).collect();
    let shown = |found: Vec<settings::Diagnostic>| -> String {
        found.iter().map(|one| format!("{one}\n")).collect()
    };
    let experiment = parse_with_files(text, "x.toml", &overrides, &read_file).map_err(shown)?;
    resolve(&experiment, "x.toml", TargetSpec::Null, options).map_err(shown)
}

fn text(replay: &str) -> String {
    format!("name = 't'\n[stream.app]\nreplay = {replay}\nqueue_depth = 8\n")
}

fn run(replay: &str, set: &[&str]) -> Run {
    let plan = planned(&text(replay), set, &ResolveOptions::LOCAL);
    plan.unwrap_or_else(|wrong| panic!("{wrong}")).known_runs().next().unwrap().clone()
}

fn refused(replay: &str, set: &[&str], expected: Expect) {
    let plan = planned(&text(replay), set, &ResolveOptions::LOCAL);
    expected.assert_eq(&plan.err().unwrap_or_default());
}

/// Operations per second in each interval.
fn rates(run: &Run) -> Vec<f64> {
    let (stream, second) = (&run.streams[0], 1_000_000_000);
    let intervals = run.phases.total_ns() / second;
    let rate = |s: u64| stream.arrival.offered_rate(s * second, (s + 1) * second).unwrap().get();
    (0..intervals).map(rate).collect()
}

#[test]
fn a_run_lasts_as_long_as_its_list_and_has_no_warm_up() {
    let run = run("'app.replay'", &[]);
    let stream = &run.streams[0];
    let replay = stream.replay.as_ref().unwrap();
    assert_eq!((run.phases.warm_up_ns, run.phases.measure_ns), (0, 10_000 * MS));
    assert_eq!(rates(&run), [400.0; 10]);
    assert_eq!(
        (replay.operations, replay.due, replay.left_out),
        ([2500, 1000, 500], Some(4000), 7)
    );
    assert_eq!(replay.bytes, [2000 * 8192 + 500 * 512, 1000 * 4096]);
    assert_eq!(stream.read_permille, 714);
    assert_eq!(stream.kinds(), OpKind::DATA);
    // 4 KiB, a log of 1,000 records, and reads at the first 1,022 positions.
    let sizes: Vec<u64> = replay.files.iter().map(|files| files.file_size_bytes).collect();
    assert_eq!(sizes, [4096, 999 * 8192 + 4096, 1022 * 8192]);
    assert!(stream.direct, "all offsets and sizes are multiples of 512");
    let sets = stream.file_sets();
    assert_eq!(sets.iter().map(|set| set.file_size_bytes).collect::<Vec<_>>(), sizes);
}

#[test]
fn longer_lists_are_cut_shorter_ones_end_the_run_and_repeated_ones_fill_it() {
    let cut = run("'app.replay'", &["run.measure='4s'", "run.warm_up='1s'"]);
    assert_eq!(cut.phases.total_ns(), 5000 * MS);
    assert_eq!(cut.streams[0].replay.as_ref().unwrap().due, Some(2000));
    let short = run("{ list = 'app.replay', speed = 4 }", &["run.measure='60s'"]);
    assert_eq!(short.phases.total_ns(), 3000 * MS);
    assert_eq!(rates(&short), [1600.0, 1600.0, 800.0]);
    let repeated = "{ list = 'app.replay', speed = 2, repeat = true }";
    let repeated = run(repeated, &["run.measure='20s'", "run.warm_up='0s'"]);
    assert_eq!(repeated.phases.total_ns(), 20_000 * MS);
    // The period is the length and a mean gap: 9.99 s × (1 + 1 / 3,999), at twice the speed.
    let due = repeated.streams[0].replay.as_ref().unwrap().due.unwrap();
    let period = 9.99 * (1.0 + 1.0 / 3999.0) / 2.0;
    assert!(due.abs_diff((20.0 / period * 4000.0) as u64) <= 8, "{due}");
    let fast = run("{ list = 'timeless.replay', speed = 'max' }", &["run.measure='20s'"]);
    assert_eq!(fast.streams[0].arrival, Arrival::Closed { think_time_ns: 0 });
    assert_eq!((fast.phases.measure_ns, fast.phases.warm_up_ns), (20_000 * MS, 5000 * MS));
    // Next to a stream that does not end, the replay ends by itself.
    let both = format!(
        "{}[stream.other]\nread = '100%'\ntransfer_size = '8k'\npattern = 'random'\n\
         file_size = '1MiB'\nqueue_depth = 1\n",
        text("'app.replay'")
    );
    let plan = planned(&both, &["run.measure='60s'"], &ResolveOptions::LOCAL).unwrap();
    let both = plan.known_runs().next().unwrap();
    assert_eq!(both.phases.total_ns(), 65_000 * MS);
    assert_eq!(both.streams[0].active.end_ns, Some(10_000 * MS));
}

#[test]
fn speeds_are_a_sweep_and_a_stored_plan_has_the_figures() {
    let text = text("{ list = 'app.replay', speed = [1, 2, 'max'] }");
    let plan = planned(&text, &[], &ResolveOptions::LOCAL).unwrap();
    let points: Vec<String> = plan.known_runs().map(Run::load_point).collect();
    let expected = ["app.replay", "app.replay at 2x", "app.replay at max"];
    assert_eq!(points, expected.map(|replay| format!("t, replay={replay}")));
    let stored: Plan = serde_json::from_str(&serde_json::to_string(&plan).unwrap()).unwrap();
    assert_eq!(stored, plan);
    let replay = stored.known_runs().next().unwrap().streams[0].replay.clone().unwrap();
    assert_eq!((replay.operations_total(), replay.source().is_some()), (4000, false));
}

#[test]
fn workers_have_each_operation_once_with_those_of_a_file_in_order() {
    let two = StreamTargets { positions: vec![0, 1], spread: Spread::Worker };
    let one = StreamTargets::only(0);
    for (workers, speed, targets) in
        [(1, 1.0, &one), (2, 1.0, &one), (2, 1.0, &two), (3, 2.0, &two)]
    {
        let set = format!("app.workers={workers}");
        let mut run = run(&format!("{{ list = 'app.replay', speed = {speed:.1} }}"), &[&set]);
        // A list is divided among all workers, whatever their target.
        run.streams[0].targets = targets.clone();
        let stream = &run.streams[0];
        let list = stream.replay.as_ref().unwrap().source().unwrap();
        let mut seen = vec![None; list.operations().len()];
        for lane in 0..workers {
            let part = LaneReplay::of(stream, lane).unwrap();
            let mut last = None;
            for step in 0.. {
                let (op, due_ns) = (part.op(step), part.due_ns(step));
                if due_ns == u64::MAX {
                    break;
                }
                assert!(last < Some((due_ns, op.index)), "in order");
                last = Some((due_ns, op.index));
                let listed = list.operations()[op.index as usize];
                assert_eq!(due_ns, (listed.time_ns as f64 / speed) as u64);
                assert_eq!((op.kind, op.offset_bytes), (listed.kind, listed.offset_bytes));
                assert_eq!((op.size_bytes, op.file), (listed.size_bytes, u32::from(listed.file)));
                assert_eq!(seen[op.index as usize].replace(lane), None, "once");
            }
        }
        for file in 0..3 {
            let mut lanes: Vec<_> = list
                .operations()
                .iter()
                .zip(&seen)
                .filter(|(op, _)| op.file == file)
                .map(|(_, lane)| lane.unwrap())
                .collect();
            lanes.dedup();
            assert_eq!(lanes.len(), 1, "a file has one worker");
        }
    }
}

#[test]
fn hosts_have_the_workers_of_a_list_between_them() {
    let several = ResolveOptions { hosts: 3, ..ResolveOptions::LOCAL };
    let plan = planned(&text("'app.replay'"), &[], &several).unwrap();
    let run = plan.known_runs().next().unwrap();
    assert_eq!((run.hosts, run.streams[0].workers), (3, 3));
    let lanes: Vec<_> = run.split().into_iter().map(|part| part.lanes[0].clone()).collect();
    assert_eq!(lanes, [0..1, 1..2, 2..3]);
    // A plan that was sent has no list until it is added.
    let sent = serde_json::to_string(&run.split()[1]).unwrap();
    let mut sent: Assignment = serde_json::from_str(&sent).unwrap();
    assert!(LaneReplay::of(&sent.run.streams[0], 1).is_none());
    let source = run.streams[0].replay.as_ref().unwrap().source().unwrap();
    let replay = sent.run.streams[0].replay.as_mut().unwrap();
    let text: String = source.pieces(1 << 10).collect();
    let other = Arc::new(ReplayList::received(&text, "0").unwrap());
    replay.attach(&other);
    assert!(replay.source().is_none(), "a list with another checksum");
    let same = Arc::new(ReplayList::received(&text, &replay.checksum).unwrap());
    replay.attach(&same);
    let (here, there) = (&run.streams[0], &sent.run.streams[0]);
    let [here, there] = [here, there].map(|stream| LaneReplay::of(stream, 1).unwrap());
    for step in 0..5000 {
        assert_eq!((here.op(step), here.due_ns(step)), (there.op(step), there.due_ns(step)));
    }
}

#[test]
fn each_target_of_a_list_needs_a_file_for_each_worker() {
    let on_targets = |count: usize| {
        let tables: String =
            (0..count).map(|at| format!("[target.t{at}]\nlocation = '/mnt/{at}'\n")).collect();
        let text = format!("{}{tables}", text("'app.replay'"));
        let shown = |found: Vec<settings::Diagnostic>| -> String {
            found.iter().map(|one| format!("{one}\n")).collect()
        };
        let experiment = parse_with_files(&text, "x.toml", &[], &read_file).map_err(shown)?;
        let specs = (0..count).map(|at| TargetSpec::Directory { path: format!("/mnt/{at}") });
        let names = (0..count).map(|at| format!("t{at}")).collect();
        let targets = PlanTargets { specs: specs.collect(), names };
        resolve(&experiment, "x.toml", targets, &ResolveOptions::LOCAL).map_err(shown)
    };
    let plan = on_targets(3).unwrap();
    let stream = &plan.known_runs().next().unwrap().streams[0];
    assert_eq!((stream.workers, stream.targets.count()), (3, 3));
    expect![[r#"
        x.toml:3:10: stream `app` has more workers on its targets together than its list has files, found 4 workers, allowed: at most 3 workers on all targets (operations on a file are sent by one worker, in order; raise `queue_depth`)
    "#]].assert_eq(&on_targets(4).unwrap_err());
}

#[test]
fn a_repeated_list_starts_again_after_its_period() {
    let run = run("{ list = 'app.replay', repeat = true }", &[]);
    let part = LaneReplay::of(&run.streams[0], 0).unwrap();
    let period_ns = 9990 * MS + 9990 * MS / 3999;
    for step in [0, 1, 3999] {
        assert_eq!(part.due_ns(step + 4000), part.due_ns(step) + period_ns);
        assert_eq!(part.due_ns(step + 8000), part.due_ns(step) + 2 * period_ns);
        let (first, second) = (part.op(step), part.op(step + 4000));
        assert_eq!(second.index, first.index + 4000, "each has different data");
        assert_eq!((second.kind, second.offset_bytes), (first.kind, first.offset_bytes));
    }
}

#[test]
fn odd_offsets_use_the_page_cache_unless_direct_io_is_requested() {
    let odd = run("'odd.replay'", &[]);
    let replay = odd.streams[0].replay.as_ref().unwrap();
    assert!(!odd.streams[0].direct && replay.rewrites_fill());
    assert_eq!(odd.streams[0].transfer_size_max_bytes(), 512, "buffers are whole sectors");
    refused(
        "'odd.replay'",
        &["app.direct=true"],
        expect![[r#"
            --set:1:12: stream `app` sets `direct`, but its list has offsets or sizes that are no multiples of 512, found `true`, allowed: `direct = false` (omit `direct`: the page cache is used if it must be)
        "#]],
    );
}

#[test]
fn what_cannot_be_replayed_is_refused_with_line_and_remedy() {
    refused(
        "'missing.replay'",
        &[],
        expect![[r#"
        x.toml:3:10: the list to replay cannot be read: open missing.replay: No such file or directory, found `'missing.replay'`, allowed: a list that `fourcorners observe --replay` wrote (its path is relative to the experiment file)
    "#]],
    );
    refused(
        "'late.replay'",
        &[],
        expect![[r#"
        late.replay:5:1: the operations of a list are out of order, found `4 read 0 0 4096`, allowed: a time that is not before the one of the line above (write the list again: `fourcorners observe TRACE --replay FILE`)
    "#]],
    );
    refused(
        "{ speed = 2 }",
        &[],
        expect![[r#"
        x.toml:3:10: `replay` lacks `list`, found `{ speed = 2 }`, allowed: the file of a list such as "app.replay", or a table with `list`, and optionally `speed` and `repeat`, such as { list = "app.replay", speed = 2 }
    "#]],
    );
    refused(
        "{ list = 'app.replay', speed = 0 }",
        &[],
        expect![[r#"
        x.toml:3:41: wrong value for `speed`, found `0`, allowed: a number from 0.001 to 1000, such as 2 or 0.5, or "max"
    "#]],
    );
    refused(
        "{ list = 'app.replay', sped = 2 }",
        &[],
        expect![[r#"
        x.toml:3:33: unknown key, found `sped`, allowed: list, speed, repeat (did you mean `speed`?)
    "#]],
    );
    refused(
        "'timeless.replay'",
        &[],
        expect![[r#"
        x.toml:3:10: the list of stream `app` has no times, found `'timeless.replay'`, allowed: `speed = "max"` for a list without times (record a trace with times, such as `strace -ttt`)
    "#]],
    );
    refused(
        "{ list = 'one.replay', repeat = true }",
        &[],
        expect![[r#"
        x.toml:3:10: all operations of the list of stream `app` have one time, found `{ list = 'one.replay', repeat = true }`, allowed: `repeat` only for a list that takes time (omit `repeat`, or set `speed = "max"`)
    "#]],
    );
    refused(
        "'one.replay'",
        &["run.warm_up='5s'"],
        expect![[r#"
        x.toml:3:10: the list of stream `app` ends within the warm-up, found 1s, allowed: a list that is longer than `warm_up` (5s) (set `warm_up = "0s"` in [run], or `repeat = true`)
    "#]],
    );
    refused(
        "'app.replay'",
        &["app.workers=4"],
        expect![[r#"
        --set:1:13: stream `app` has more workers than its list has files, found `4`, allowed: at most 3 workers (operations on a file are sent by one worker, in order; raise `queue_depth`)
    "#]],
    );
    refused(
        "'app.replay'",
        &["app.read='50%'"],
        expect![[r#"
        --set:1:10: stream `app` has `replay` and `read`, found `'50%'`, allowed: `read` only without `replay` (omit it, or use two streams; streams run concurrently)
    "#]],
    );
    refused(
        "'app.replay'",
        &["app.arrival={ constant = 5 }"],
        expect![[r#"
        --set:1:13: stream `app` has `replay` and `arrival`, found `{ constant = 5 }`, allowed: `arrival` only without `replay` (set `speed` in `replay`, or omit `arrival`)
    "#]],
    );
    refused(
        "'app.replay'\nstart = '2500ms'",
        &[],
        expect![[r#"
        x.toml:4:9: `start` of stream `app` is not a whole number of intervals, found 2500ms, allowed: a multiple of `interval` (1s) (the next multiple: `start = "3s"`)
    "#]],
    );
    let shared = planned(
        &format!("{}[run]\narrival = {{ poisson = 100 }}\n", text("'app.replay'")),
        &[],
        &ResolveOptions::LOCAL,
    );
    assert!(shared.unwrap_err().contains("replays a list, and [run] sets `arrival`"));
    let several = ResolveOptions { hosts: 4, ..ResolveOptions::LOCAL };
    let hosts = planned(&text("'app.replay'"), &[], &several).unwrap_err();
    expect![[r#"
        x.toml:3:10: stream `app` has more workers on its hosts and targets together than its list has files, found 4 workers, allowed: at most 3 workers on all hosts and targets (operations on a file are sent by one worker, in order; raise `queue_depth`)
    "#]].assert_eq(&hosts);
    let metric = text("'app.replay'")
        .replace("[stream", "[metric]\nname = 'jobs'\nvalues = [1, 2]\n[stream");
    expect![[r#"
        x.toml:5:9: stream `app` replays a list, whose rate [metric] cannot set, found `app`, allowed: streams with `arrival` and without `replay` (run the replay without [metric])
    "#]].assert_eq(&planned(&metric, &[], &ResolveOptions::LOCAL).unwrap_err());
    let search = format!("{}[search]\nmethod = 'curve'\n", text("'app.replay'"));
    expect![[r#"
        x.toml:3:1: a search chooses the load itself, and a replay is that of a trace, found `replay`, allowed: a stream without `replay` (sweep `speed` instead: `speed = [1, 2, 4]`)
    "#]].assert_eq(&planned(&search, &[], &ResolveOptions::LOCAL).unwrap_err());
}

#[test]
fn lists_that_are_cut_or_damaged_are_refused_or_read_and_never_panic() {
    let whole = "fourcorners replay 1\n# x\nfile 0 /a b\nfile 1 c\nleft-out 3 stat\n0 read 0 7 4096\n\
                 5 write 1 1099511627776 67108864\n9 fsync 1\nend 3\n";
    let planned = |list: &str| {
        let read_file = |_: &str| Ok(list.to_owned());
        let experiment = parse_with_files(&text("'l'"), "x.toml", &[], &read_file);
        experiment.map(|one| resolve(&one, "x.toml", TargetSpec::Null, &ResolveOptions::LOCAL))
    };
    assert!(planned(whole).unwrap().is_ok());
    for cut in 0..whole.len() - 1 {
        assert!(planned(&whole[..cut]).is_err(), "{:?}", &whole[..cut]);
    }
    for (at, _) in whole.char_indices() {
        for replacement in ["", "9", "-", "\n", " ", "99999999999999999999", "e"] {
            let damaged = format!("{}{replacement}{}", &whole[..at], &whole[at + 1..]);
            // Whatever it says: it is a list, or it is refused.
            let _ = planned(&damaged);
        }
    }
}
