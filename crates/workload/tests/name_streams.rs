//! Streams on names in experiment files: what they resolve to, and how wrong ones are refused.

use expect_test::{Expect, expect};
use workload::experiment::parse_with_files;
use workload::names::{NameSize, NameSpread, NameStream, WeightedFileSize};
use workload::op::OpKind;
use workload::overrides::Override;
use workload::plan::{Plan, Run, Stream, TargetSpec};
use workload::resolve::{ResolveOptions, resolve};

const MIX: &str = "mix = { create = '2%', unlink = '2%', stat = '66%', read_file = '30%' }";

fn read_file(path: &str) -> Result<String, String> {
    match path {
        "sizes.csv" => Ok("size,files\n0,10\n4KiB, 60\n1MiB,30 # few\n".to_owned()),
        "backwards.csv" => Ok("4KiB,60\n0,10\n".to_owned()),
        "large.csv" => Ok("2GiB,1\n".to_owned()),
        "empty.csv" => Ok("# nothing\n".to_owned()),
        other => Err(format!("open {other}: No such file or directory")),
    }
}

fn plan(text: &str, set: &[&str], hosts: u32) -> Result<Plan, String> {
    let overrides: Vec<Override> = set.iter().map(|text| Override::set(text)).collect();
    let shown = |found: Vec<settings::Diagnostic>| -> String {
        found.iter().map(|one| format!("{one}\n")).collect()
    };
    let experiment = parse_with_files(text, "x.toml", &overrides, &read_file).map_err(shown)?;
    let options = ResolveOptions { hosts, ..ResolveOptions::LOCAL };
    resolve(&experiment, "x.toml", TargetSpec::Null, &options).map_err(shown)
}

/// The lines are the third and fourth of the file.
fn text(names: &str, mix: &str) -> String {
    format!("name = 't'\n[stream.home]\n{names}\n{mix}\nqueue_depth = 8\n")
}

fn stream(names: &str, mix: &str) -> Stream {
    let plan = plan(&text(names, mix), &[], 1).unwrap_or_else(|wrong| panic!("{wrong}"));
    plan.known_runs().next().unwrap().streams[0].clone()
}

fn refused(names: &str, mix: &str, expected: Expect) {
    expected.assert_eq(&plan(&text(names, mix), &[], 1).err().unwrap_or_default());
}

#[test]
fn a_tree_has_its_defaults() {
    let load = stream("names = { files = 1000 }", MIX).names.unwrap();
    assert_eq!((load.tree.files, load.tree.depth, load.tree.width), (1000, 1, 10));
    assert_eq!((load.tree.directories, load.tree.name_length), (10, 12));
    assert_eq!((load.tree.spread, load.append_bytes), (NameSpread::RoundRobin, 4096));
    assert_eq!(load.tree.sizes, NameSize::constant(0));
    let shares: Vec<(&str, u16)> =
        load.mix.shares.iter().map(|share| (share.kind.name(), share.permille)).collect();
    assert_eq!(shares, [("create", 20), ("unlink", 20), ("stat", 660), ("read_file", 300)]);
}

#[test]
fn every_key_of_a_tree_is_read() {
    let names = "names = { files = 100_000, depth = 3, width = 20, files_per_directory = 50, \
                 name_length = 40, spread = 'random', size = '16KiB', append = 100 }";
    let load = stream(names, MIX).names.unwrap();
    assert_eq!((load.tree.depth, load.tree.width, load.tree.directories), (3, 20, 2000));
    assert_eq!((load.tree.name_length, load.append_bytes), (40, 100));
    assert_eq!(load.tree.spread, NameSpread::Random);
    assert_eq!(load.tree.sizes, NameSize::constant(16 << 10));
}

#[test]
fn sizes_are_a_list_a_distribution_or_a_file() {
    let sizes = |size: &str| {
        stream(&format!("names = {{ files = 9999, size = {size} }}"), MIX).names.unwrap().tree.sizes
    };
    let weighted = |sizes: &[(u64, u64)]| NameSize::Weighted {
        sizes: sizes
            .iter()
            .map(|(size_bytes, weight)| WeightedFileSize {
                size_bytes: *size_bytes,
                weight: *weight,
            })
            .collect(),
    };
    assert_eq!(sizes("{ 0 = '25%', '4k' = '75%' }"), weighted(&[(0, 250), (4096, 750)]));
    let of_file = sizes("{ file = 'sizes.csv' }");
    assert_eq!(of_file, weighted(&[(0, 10), (4096, 60), (1 << 20, 30)]));
    let lognormal = |max_bytes| NameSize::Lognormal { median_bytes: 16384, sigma: 1.5, max_bytes };
    assert_eq!(sizes("{ lognormal = { median = '16k', sigma = 1.5 } }"), lognormal(1 << 30));
    let cut = sizes("{ lognormal = { median = '16k', sigma = 1.5, max = '1MiB' } }");
    assert_eq!(cut, lognormal(1 << 20));
}

#[test]
fn a_run_with_names_is_stored_and_a_run_without_is_stored_as_before() {
    let plan = plan(&text("names = { files = 1000, size = '4k' }", MIX), &[], 1).unwrap();
    let run = plan.known_runs().next().unwrap();
    let json = serde_json::to_string(run).unwrap();
    assert_eq!(serde_json::from_str::<Run>(&json).unwrap(), *run);
    let without = "name = 't'\n[stream.db]\nread = '70%'\ntransfer_size = '8k'\npattern = \
                   'random'\nfile_size = '1GiB'\nqueue_depth = 4\n";
    let plan = self::plan(without, &[], 1).unwrap();
    let json = serde_json::to_string(plan.known_runs().next().unwrap()).unwrap();
    assert!(!json.contains("names"), "{json}");
}

#[test]
fn mix_and_tree_can_be_swept_and_set_on_the_command_line() {
    let names = "names = [{ files = 1000 }, { files = 2000 }]";
    let swept = plan(&text(names, MIX), &["mix={ stat = '100%' },{ open = '100%' }"], 1).unwrap();
    let points: Vec<String> = swept.known_runs().map(Run::load_point).collect();
    expect![[r#"
        t, names=1,000 files in 10 directories, 0, mix=100% stat
        t, names=1,000 files in 10 directories, 0, mix=100% open
        t, names=2,000 files in 10 directories, 0, mix=100% stat
        t, names=2,000 files in 10 directories, 0, mix=100% open"#]]
    .assert_eq(&points.join("\n"));
}

#[test]
fn a_field_of_the_tree_on_the_command_line_leaves_the_others_as_they_are() {
    let tree = |set: &[&str]| {
        let names = "names = { files = 1000, depth = 2, width = 5, size = '4KiB', append = '1KiB', \
                     files_per_directory = 50 }";
        let plan = plan(&text(names, MIX), set, 1).unwrap();
        let run = plan.known_runs().next().unwrap();
        let names = run.streams[0].names.as_ref().unwrap();
        format!("{}, append {}", names.tree, names.append_bytes)
    };
    assert_eq!(tree(&[]), "1,000 files in 20 directories, 4KiB, append 1024");
    assert_eq!(tree(&["names.files=500"]), "500 files in 10 directories, 4KiB, append 1024");
    assert_eq!(
        tree(&["names.files=500", "names.size=8KiB"]),
        "500 files in 10 directories, 8KiB, append 1024"
    );
    assert_eq!(
        tree(&["names.files_per_directory=100"]),
        "1,000 files in 10 directories, 4KiB, append 1024"
    );
    assert_eq!(tree(&["names={ files = 500 }"]), "500 files in 10 directories, 0, append 4096");
    let wrong = plan(&text("names = { files = 1000 }", MIX), &["names.files=x"], 1);
    assert_eq!(wrong.unwrap_err().lines().count(), 1, "one mistake");
}

#[test]
fn a_variant_is_named_by_its_mix() {
    let text = "name = 't'\n[stream.home]\nnames = { files = 1000 }\nqueue_depth = 1\n\
                [[variant]]\nmix = { stat = '100%' }\n[[variant]]\nmix = { open = '60%', stat = '40%' }\n";
    let plan = plan(text, &[], 1).unwrap();
    let names: Vec<&str> = plan.known_runs().map(|run| run.variant.as_str()).collect();
    assert_eq!(names, ["100% stat", "60% open, 40% stat"]);
}

#[test]
fn a_plan_has_the_names_directories_and_bytes_of_each_tree() {
    let names = "names = { files = 10_000, depth = 2, width = 10, size = '4KiB' }";
    let mix = "mix = { create = '2%', link = '1%', symlink = '1%', unlink = '4%', mkdir = '1%', \
               rmdir = '1%', rename = '1%', stat = '89%' }";
    let plan = plan(&text(names, mix), &[], 1).unwrap();
    let sets = plan.name_sets(0);
    assert_eq!(sets.len(), 1);
    let population = sets[0].population;
    assert_eq!((population.files, population.originals, population.moved), (10_000, 1000, 1000));
    assert_eq!((population.links, population.symlinks, population.made), (1000, 1000, 1000));
    assert_eq!(sets[0].directories(), 110);
    assert_eq!(sets[0].inodes(), 10_000 + 4 * 1000 + 110);
    assert_eq!(plan.bytes_needed().get(), 12_000 * 4096);
    assert!(plan.file_sets(0).is_empty());
}

#[test]
fn hosts_split_a_run_by_lanes_and_each_name_belongs_to_one() {
    let text = text("names = { files = 5000, size = '4k' }", MIX);
    let plan = plan(&format!("{text}workers = 3\n"), &[], 4).unwrap();
    let run = plan.known_runs().next().unwrap();
    assert_eq!((run.hosts, run.streams[0].workers), (4, 12));
    let names = NameStream::new(&run.streams[0], run.seed, plan.data_seed).unwrap();
    let mut lanes = vec![0; 12];
    for part in run.split() {
        for lane in part.lanes[0].clone() {
            lanes[lane as usize] += 1;
            for step in 0..3000 {
                let op = names.op(lane, step);
                assert_eq!(op.index % 12, u64::from(lane));
                if [OpKind::Create, OpKind::Unlink, OpKind::Stat].contains(&op.kind) {
                    assert_eq!(names.lane_of(op.name), Some(lane));
                }
            }
        }
    }
    assert_eq!(lanes, [1; 12]);
}

#[test]
fn a_mix_that_does_not_balance_is_refused() {
    let names = "names = { files = 100000 }";
    refused(
        names,
        "mix = { create = '2%', unlink = '3%', stat = '95%' }",
        expect![[r#"
        x.toml:4:7: stream `home` removes more names than it adds, found unlink 3%, create, copy, link and symlink 2%, allowed: as much unlink as create, copy, link and symlink together (set `unlink = "2%"`)
    "#]],
    );
    refused(
        names,
        "mix = { create = '2%', copy = '1%', unlink = '1%', stat = '96%' }",
        expect![[r#"
            x.toml:4:7: stream `home` adds more names than it removes, so its tree grows without limit, found unlink 1%, create, copy, link and symlink 3%, allowed: as much unlink as create, copy, link and symlink together (set `unlink = "3%"`)
        "#]],
    );
    refused(
        names,
        "mix = { mkdir = '2%', stat = '98%' }",
        expect![[r#"
        x.toml:4:7: stream `home` adds more directories than it removes, so its tree grows without limit, found rmdir 0%, mkdir 2%, allowed: as much rmdir as mkdir together (set `rmdir = "2%"`)
    "#]],
    );
    refused(
        names,
        "mix = { append = '50%', stat = '50%' }",
        expect![[r#"
        x.toml:4:7: stream `home` only appends, so its files grow without limit, found `{ append = '50%', stat = '50%' }`, allowed: `append` only with `truncate`, `write_file`, `create` or `copy` (add as much `truncate` as the files are to grow between two of them)
    "#]],
    );
}

#[test]
fn a_wrong_mix_is_refused() {
    let names = "names = { files = 100000 }";
    refused(
        names,
        "mix = { stat = '95%' }",
        expect![[r#"
        x.toml:4:7: the shares of the kinds of operations do not add up to 100 %, found 95%, allowed: a sum of 100 %
    "#]],
    );
    refused(
        names,
        "mix = { stat = '50%', opne = '50%' }",
        expect![[r#"
        x.toml:4:23: unknown kind of operation, found `opne`, allowed: shares of create, open, unlink, rename, link, symlink, readlink, mkdir, rmdir, readdir, readdirplus, stat, access, setattr, truncate, append, lookup, lookup_missing, copy, read_file, write_file, statfs, with a sum of 100 %, such as { create = "2%", unlink = "2%", stat = "96%" }
    "#]],
    );
    refused(
        names,
        "mix = { stat = '50%', read = '50%' }",
        expect![[r#"
        x.toml:4:23: unknown kind of operation, found `read`, allowed: shares of create, open, unlink, rename, link, symlink, readlink, mkdir, rmdir, readdir, readdirplus, stat, access, setattr, truncate, append, lookup, lookup_missing, copy, read_file, write_file, statfs, with a sum of 100 %, such as { create = "2%", unlink = "2%", stat = "96%" } (whole files are read by `read_file`)
    "#]],
    );
    refused(
        names,
        "mix = { stat = 0.5, open = 'half' }",
        expect![[r#"
        x.toml:4:16: wrong value for `stat`, found `0.5`, allowed: a share from 0.1 % to 100 % (write shares in percent: `"50%"`)
        x.toml:4:28: wrong value for `open`, found `'half'`, allowed: a share from 0.1 % to 100 %
    "#]],
    );
    refused(
        names,
        "mix = 'stat'",
        expect![[r#"
        x.toml:4:7: this is not a table, found `'stat'`, allowed: shares of create, open, unlink, rename, link, symlink, readlink, mkdir, rmdir, readdir, readdirplus, stat, access, setattr, truncate, append, lookup, lookup_missing, copy, read_file, write_file, statfs, with a sum of 100 %, such as { create = "2%", unlink = "2%", stat = "96%" }
    "#]],
    );
    refused(
        names,
        "mix = {}",
        expect![[r#"
        x.toml:4:7: the shares of the kinds of operations do not add up to 100 %, found 0%, allowed: a sum of 100 %
    "#]],
    );
}

#[test]
fn a_population_below_the_lag_is_refused_with_the_smallest_that_is_enough() {
    let mix = "mix = { create = '2%', unlink = '2%', stat = '96%' }";
    refused(
        "names = { files = 60 }",
        mix,
        expect![[r#"
        x.toml:3:9: stream `home` has too few files for the operations that overlap: each uses files that no other adds, changes or removes, found files=60, 1 worker, queue depth 8, allowed: `files` of at least 61 (raise `files`, or lower `workers`, `queue_depth`, or the shares of create, copy, append, truncate and write_file)
    "#]],
    );
    let deep = format!("{mix}\nworkers = 4");
    refused(
        "names = { files = 243 }",
        &deep,
        expect![[r#"
        x.toml:3:9: stream `home` has too few files for the operations that overlap: each uses files that no other adds, changes or removes, found files=243, 4 workers, queue depth 8, allowed: `files` of at least 244 (raise `files`, or lower `workers`, `queue_depth`, or the shares of create, copy, append, truncate and write_file)
    "#]],
    );
    assert!(plan(&text("names = { files = 244 }", &deep), &[], 1).is_ok());
    assert!(plan(&text("names = { files = 244 }", &deep), &[], 2).is_err(), "8 workers");
}

#[test]
fn a_wrong_tree_is_refused() {
    refused(
        "names = { depth = 2 }",
        MIX,
        expect![[r#"
        x.toml:3:9: `names` lacks `files`, found `{ depth = 2 }`, allowed: a table with `files`, and optionally `depth`, `width`, `files_per_directory`, `name_length`, `spread`, `size` and `append`, such as { files = 100000, depth = 2, width = 20, size = "4KiB" }
    "#]],
    );
    refused(
        "names = { files = 1000, dept = 2 }",
        MIX,
        expect![[r#"
        x.toml:3:25: unknown key, found `dept`, allowed: files, depth, width, files_per_directory, name_length, spread, size, append (did you mean `depth`?)
    "#]],
    );
    refused(
        "names = 1000",
        MIX,
        expect![[r#"
        x.toml:3:9: `names` is not a table, found `1000`, allowed: a table with `files`, and optionally `depth`, `width`, `files_per_directory`, `name_length`, `spread`, `size` and `append`, such as { files = 100000, depth = 2, width = 20, size = "4KiB" }
    "#]],
    );
    refused(
        "names = { files = 1000, depth = 4, width = 100 }",
        MIX,
        expect![[r#"
        x.toml:3:9: the tree has too many directories (`width` to the power of `depth`), found 100000000, allowed: at most 1000000 directories (lower `depth` or `width`, or raise `files_per_directory`)
    "#]],
    );
    refused(
        "names = { files = 1000, depth = 16, width = 100000 }",
        MIX,
        expect![[r#"
        x.toml:3:9: the tree has too many directories (`width` to the power of `depth`), found more than 2^64, allowed: at most 1000000 directories (lower `depth` or `width`, or raise `files_per_directory`)
    "#]],
    );
    refused(
        "names = { files = 1000, files_per_directory = 50 }",
        MIX,
        expect![[r#"
        x.toml:3:47: 1000 files do not fit into 10 directories, found `50`, allowed: `files_per_directory` of at least 100 (or raise `depth` or `width`: the tree has `width` to the power of `depth` directories for files)
    "#]],
    );
    refused(
        "names = { files = 100000, name_length = 4 }",
        MIX,
        expect![[r#"
        x.toml:3:9: the names of stream `home` are too short to differ, found name_length=4, allowed: `name_length` of at least 5
    "#]],
    );
    refused(
        "names = { files = 1000, spread = 'evenly' }",
        MIX,
        expect![[r#"
        x.toml:3:34: wrong value for `spread`, found `'evenly'`, allowed: "fill" or "round_robin" or "random"
    "#]],
    );
}

#[test]
fn wrong_sizes_are_refused_with_file_and_line() {
    let of = |size: &str, expected| {
        refused(&format!("names = {{ files = 1000, size = {size} }}"), MIX, expected);
    };
    of(
        "'8x'",
        expect![[r#"
        x.toml:3:32: wrong value for `size`, found `'8x'`, allowed: a size such as "8k" or "1.5MiB", up to 1 GiB
    "#]],
    );
    of(
        "'2GiB'",
        expect![[r#"
        x.toml:3:32: wrong value for `size`, found `'2GiB'`, allowed: a size such as "8k" or "1.5MiB", up to 1 GiB
    "#]],
    );
    of(
        "{ '4k' = '70%' }",
        expect![[r#"
        x.toml:3:32: the shares of the file sizes do not add up to 100 %, found 70%, allowed: a sum of 100 %
    "#]],
    );
    of(
        "{ lognormal = { median = '4k' } }",
        expect![[r#"
        x.toml:3:46: `lognormal` needs `median` and `sigma`, found `{ median = '4k' }`, allowed: a size such as "8k" or "1.5MiB", up to 1 GiB; several with their shares: { "4k" = "70%", "64k" = "30%" }; { lognormal = { median = "16KiB", sigma = 1.5, max = "64MiB" } } or { file = "sizes.csv" }
    "#]],
    );
    of(
        "{ lognormal = { median = '4k', sigma = 1, max = '1k' } }",
        expect![[r#"
        x.toml:3:80: the largest size is below the median, found `'1k'`, allowed: at least 4 KiB
    "#]],
    );
    of(
        "{ file = 'backwards.csv' }",
        expect![[r#"
        backwards.csv:2:1: the sizes of a file of sizes do not increase, found `0,10`, allowed: a larger size
    "#]],
    );
    of(
        "{ file = 'large.csv' }",
        expect![[r#"
        large.csv:1:1: wrong line in a file of sizes, found `2GiB,1`, allowed: a size and a weight in each line, such as `4KiB,120`, the smallest size first
    "#]],
    );
    of(
        "{ file = 'empty.csv' }",
        expect![[r#"
        empty.csv:1:1: a file of sizes has no line, allowed: a size and a weight in each line, such as `4KiB,120`, the smallest size first
    "#]],
    );
    of(
        "{ file = 'none.csv' }",
        expect![[r#"
        x.toml:3:41: the file of sizes cannot be read: open none.csv: No such file or directory, found `'none.csv'`, allowed: a size and a weight in each line, such as `4KiB,120`, the smallest size first (its path is relative to the experiment file)
    "#]],
    );
}

#[test]
fn keys_of_operations_at_offsets_are_refused() {
    let keys = format!("{MIX}\nread = '70%'\nfile_size = '1GiB'\ndirect = true\nfsync_every = 8");
    refused(
        "names = { files = 1000 }",
        &keys,
        expect![[r#"
        x.toml:5:8: stream `home` has `names` and `read`, found `'70%'`, allowed: `read` only for operations at offsets (omit it, or use two streams; streams run concurrently)
        x.toml:6:13: stream `home` has `names` and `file_size`, found `'1GiB'`, allowed: `file_size` only for operations at offsets (set `files` and `size` in `names`)
        x.toml:7:10: stream `home` has `names` and `direct`, found `true`, allowed: `direct` only for operations at offsets (omit it, or use two streams; streams run concurrently)
        x.toml:8:15: stream `home` has `names` and `fsync_every`, found `8`, allowed: `fsync_every` only for operations at offsets (omit it, or use two streams; streams run concurrently)
    "#]],
    );
    refused(
        "",
        MIX,
        expect![[r#"
        x.toml:2:9: stream `home` lacks `names`, found nothing, allowed: a table with `files`, and optionally `depth`, `width`, `files_per_directory`, `name_length`, `spread`, `size` and `append`, such as { files = 100000, depth = 2, width = 20, size = "4KiB" } (for example names = { files = 100000, depth = 2, width = 20, size = "4KiB" })
    "#]],
    );
    refused(
        "names = { files = 1000 }",
        "",
        expect![[r#"
        x.toml:2:9: stream `home` lacks `mix`, found nothing, allowed: shares of create, open, unlink, rename, link, symlink, readlink, mkdir, rmdir, readdir, readdirplus, stat, access, setattr, truncate, append, lookup, lookup_missing, copy, read_file, write_file, statfs, with a sum of 100 %, such as { create = "2%", unlink = "2%", stat = "96%" } (for example mix = { create = "2%", unlink = "2%", stat = "66%", read_file = "30%" })
    "#]],
    );
}
