//! `--verify` finds what was changed behind our back.

use std::os::unix::fs::FileExt;

use crate::harness::Place;
use crate::refusals::data_file;
use crate::runs::TINY;

#[test]
fn planted_corruption_is_reported_with_file_offset_expected_and_found() {
    let place = Place::new();
    place.file("tiny.toml", TINY);
    let running = place.start(&[
        "run",
        "target",
        "-w",
        "tiny.toml",
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
    let file = std::fs::OpenOptions::new().read(true).write(true).open(data_file(&place)).unwrap();
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
    assert!(place.ok(&["list"]).contains("failed"));
}

#[test]
fn what_a_run_wrote_itself_is_verified_as_good() {
    let place = Place::new();
    place.file("tiny.toml", TINY);
    let mixed = ["--set", "read=50%", "--verify", "--no-report", "--no-progress"];
    for _ in 0..2 {
        place.ok(&[&["run", "target", "-w", "tiny.toml"], &mixed[..]].concat());
    }
}
