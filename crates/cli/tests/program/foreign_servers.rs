//! Runs with `--verify` on exports of other hands' servers: nfs-ganesha with files in memory and on
//! a local file system, and `nfs3_server`.

use std::os::unix::fs::FileExt;

use crate::ganesha::Ganesha;
use crate::harness::Place;
use crate::memfs::Memfs;
use crate::runs::TINY;

/// Files are prepared, written, read back and verified; found again, and verified again by other
/// connections; removed.
fn is_measured_and_verified(url: &str, more: &[&str]) {
    let place = Place::new();
    place.file("tiny.toml", TINY);
    let mixed = ["--verify", "--no-report", "--set", "read=50%", "--set", "fsync_every=7"];
    let first = place.run(&[&["run", url, "-w", "tiny.toml"], &mixed[..], more].concat());
    assert_eq!(first.code, Some(0), "{url}\n{}\n{}", first.stdout, first.stderr);
    assert!(first.stderr.contains("1 MiB written"), "{}", first.stderr);
    let shown: serde_json::Value =
        serde_json::from_str(&place.ok(&["show", "last", "--json"])).expect("it is JSON");
    let points = shown["load_points"].as_array().expect("there are load points");
    assert_eq!(points.len(), 2);

    let four = format!("{url}&nconnect=4&rsize=4096");
    let larger = ["--set", "transfer_size=16KiB", "--set", "write_stability=file_sync"];
    let arguments = [&["run", &four, "-w", "tiny.toml"], &mixed[..], &larger[..], more].concat();
    let second = place.run(&arguments);
    assert_eq!(second.code, Some(0), "{url}\n{}\n{}", second.stdout, second.stderr);
    assert!(second.stderr.contains("found as they were left"), "{}", second.stderr);
    let connections = place.ok(&["export", "last", "--format", "connections"]);
    assert_eq!(connections.lines().count(), 1 + 2 * 4, "{connections}");
    assert!(place.ok(&["clean", url]).contains("removed"), "{url}");
}

#[test]
fn what_nfs_ganesha_keeps_in_memory_is_measured_and_verified() {
    let server = Ganesha::start();
    // It says that it has no bytes free, whatever is in it. Of writes to the same bytes at the same
    // time it keeps some of each, for good; in order none overlap.
    let more = ["--ignore-free-space", "--set", "pattern=sequential"];
    is_measured_and_verified(&server.mem(""), &more);
}

#[test]
fn what_nfs_ganesha_keeps_in_a_folder_is_measured_and_verified() {
    let server = Ganesha::start();
    is_measured_and_verified(&server.vfs(""), &[]);
}

#[test]
fn what_another_hands_server_keeps_is_measured_and_verified() {
    let server = Memfs::start();
    is_measured_and_verified(&server.url(""), &[]);
}

#[test]
fn a_byte_that_changes_on_the_server_is_found_with_its_place() {
    let server = Ganesha::start();
    let place = Place::new();
    place.file("tiny.toml", TINY);
    let url = server.vfs("");
    let reading = ["--set", "pattern=sequential", "--set", "queue_depth=1", "--measure", "60s"];
    let fixed = ["run", &url, "-w", "tiny.toml", "--no-report", "--verify"];
    let running = place.start(&[&fixed[..], &reading].concat());
    running.wait_for(" measure ");
    let name = "main-1048576-0000.data";
    let path = server.folder().join("fourcorners").join(name);
    let file = std::fs::OpenOptions::new().read(true).write(true).open(path);
    let file = file.expect("open the file in the exported folder");
    // Far behind the stamp of its tile, in the middle of the file.
    let offset = 600 * 1024 + 2000;
    let mut byte = [0];
    file.read_exact_at(&mut byte, offset).expect("read a byte");
    let planted = byte[0] ^ 0x40;
    file.write_all_at(&[planted], offset).expect("write a byte");

    let ended = running.end();
    assert_eq!(ended.code, Some(3), "{}", ended.stderr);
    for said in [name, &offset.to_string(), &format!("{planted:02x}")] {
        assert!(ended.stderr.contains(said), "says `{said}`:\n{}", ended.stderr);
    }
}
