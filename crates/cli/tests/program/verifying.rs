//! Data on disk: `--verify` finds what was changed behind our back, and what is written compresses
//! as far as promised.

use std::os::unix::fs::FileExt;

use crate::harness::TestDir;
use crate::refusals::data_file;
use crate::runs::TINY;

#[test]
fn planted_corruption_is_reported_with_file_offset_expected_and_found() {
    let dir = TestDir::new();
    dir.file("tiny.toml", TINY);
    let running = dir.start(&[
        "run",
        "target",
        "-w",
        "tiny.toml",
        "-v",
        "--no-report",
        "--verify",
        "--measure",
        "60s",
        "--set",
        "pattern=sequential",
        "--set",
        "queue_depth=1",
    ]);
    running.wait_for(" measure ");
    // Far behind the stamp of its tile, in the middle of the file.
    let offset = 600 * 1024 + 2000;
    let file = std::fs::OpenOptions::new().read(true).write(true).open(data_file(&dir)).unwrap();
    let mut byte = [0u8];
    file.read_exact_at(&mut byte, offset).unwrap();
    let expected = byte[0];
    let planted = expected ^ 0x40;
    file.write_all_at(&[planted], offset).unwrap();
    file.sync_all().unwrap();

    let ended = running.end();
    assert_eq!(ended.code, Some(3), "{}", ended.stderr);
    for said in [
        "main-1048576-0000.data",
        &offset.to_string(),
        &format!("{expected:02x}"),
        &format!("{planted:02x}"),
    ] {
        assert!(ended.stderr.contains(said), "says `{said}`:\n{}", ended.stderr);
    }
    assert!(dir.ok(&["list"]).contains("failed"));
}

#[test]
fn data_that_a_run_wrote_passes_verification() {
    let dir = TestDir::new();
    dir.file("tiny.toml", TINY);
    let mixed = ["--set", "read=50%", "--verify", "--no-report", "--no-progress"];
    for _ in 0..2 {
        dir.ok(&[&["run", "target", "-w", "tiny.toml"], &mixed[..]].concat());
    }
}

/// Share of a file that zstd removes when each block of 4 KiB is compressed by itself, as storage
/// that compresses inline does.
fn compressed_away(path: &std::path::Path) -> f64 {
    const BLOCK: usize = 4096;
    let data = std::fs::read(path).expect("read the data file");
    let packed = data.chunks_exact(BLOCK).map(|block| {
        zstd::bulk::compress(block, 3).expect("zstd compresses any block").len().min(BLOCK)
    });
    1.0 - packed.sum::<usize>() as f64 / data.len() as f64
}

/// The one data file, whose name depends on the promise.
fn only_data_file(dir: &TestDir) -> std::path::PathBuf {
    let entries = std::fs::read_dir(dir.target().join("fourcorners")).expect("it was filled");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let data: Vec<_> =
        paths.filter(|path| path.extension().is_some_and(|ending| ending == "data")).collect();
    let [only] = &data[..] else { panic!("one data file: {data:?}") };
    only.clone()
}

#[test]
fn data_on_disk_compresses_as_far_as_promised_after_the_fill_and_after_writes() {
    for promised in ["0%", "25%", "50%", "75%"] {
        let dir = TestDir::new();
        dir.file("tiny.toml", TINY);
        let experiment = ["run", "target", "-w", "tiny.toml", "--no-report", "--no-progress"];
        let data = ["--set", &format!("compressible={promised}"), "--set", "queue_depth=4"];
        let share = promised.trim_end_matches('%').parse::<f64>().expect("a number") / 100.0;
        let fill = [&experiment[..], &data].concat();
        dir.measured(&fill);
        let path = only_data_file(&dir);
        let filled = compressed_away(&path);
        // As of data in memory: blocks differ, and a compressor adds a few bytes to each.
        assert!((filled - share).abs() <= 0.05, "{promised}: {filled} after the fill");

        let before = std::fs::read(&path).expect("read the data file");
        dir.measured(&[&fill[..], &["--set", "read=0%"]].concat());
        let after = std::fs::read(&path).expect("read the data file");
        assert!(before != after, "{promised}: the run wrote nothing");
        let written = compressed_away(&path);
        assert!((written - share).abs() <= 0.05, "{promised}: {written} after writes");
    }
}
