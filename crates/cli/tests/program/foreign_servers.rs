//! Runs with `--verify` on exports of third-party servers: nfs-ganesha with files in memory and on
//! a local file system, and `nfs3_server`.

use std::os::unix::fs::FileExt;

use crate::ganesha::Ganesha;
use crate::harness::TestDir;
use crate::memfs::Memfs;
use crate::runs::TINY;

/// Files are prepared, written, read back and verified; found again, and verified again by other
/// connections; removed.
fn is_measured_and_verified(url: &str, more: &[&str]) {
    let dir = TestDir::new();
    dir.file("tiny.toml", TINY);
    let mixed = ["--verify", "--no-report", "--set", "read=50%", "--set", "fsync_every=7"];
    let first = dir.run(&[&["run", url, "-w", "tiny.toml"], &mixed[..], more].concat());
    assert_eq!(first.code, Some(0), "{url}\n{}\n{}", first.stdout, first.stderr);
    assert!(first.stderr.contains("1 MiB written"), "{}", first.stderr);
    let shown: serde_json::Value =
        serde_json::from_str(&dir.ok(&["show", "last", "--json"])).expect("it is JSON");
    let points = shown["load_points"].as_array().expect("there are load points");
    assert_eq!(points.len(), 2);

    let four = format!("{url}&nconnect=4&rsize=4096");
    let larger = ["--set", "transfer_size=16KiB", "--set", "write_stability=file_sync"];
    let arguments = [&["run", &four, "-w", "tiny.toml"], &mixed[..], &larger[..], more].concat();
    let second = dir.run(&arguments);
    assert_eq!(second.code, Some(0), "{url}\n{}\n{}", second.stdout, second.stderr);
    assert!(second.stderr.contains("no data to write"), "{}", second.stderr);
    let connections = dir.ok(&["export", "last", "--format", "connections"]);
    assert_eq!(connections.lines().count(), 1 + 2 * 4, "{connections}");
    assert!(dir.ok(&["clean", url]).contains("removed"), "{url}");
}

#[test]
fn nfs_ganesha_in_memory_is_measured_and_verified() {
    let server = Ganesha::start();
    // It always reports no free bytes. It mixes concurrent writes to the same bytes permanently;
    // sequential writes do not overlap.
    let more = ["--ignore-free-space", "--set", "pattern=sequential"];
    is_measured_and_verified(&server.mem(""), &more);
}

#[test]
fn nfs_ganesha_on_a_file_system_is_measured_and_verified() {
    let server = Ganesha::start();
    is_measured_and_verified(&server.vfs(""), &[]);
}

#[test]
fn nfs3_server_is_measured_and_verified() {
    let server = Memfs::start();
    is_measured_and_verified(&server.url(""), &[]);
}

#[test]
fn a_byte_that_changes_on_the_server_is_reported_with_its_offset() {
    let server = Ganesha::start();
    let dir = TestDir::new();
    dir.file("tiny.toml", TINY);
    let url = server.vfs("");
    let reading = ["--set", "pattern=sequential", "--set", "queue_depth=1", "--measure", "60s"];
    let fixed = ["run", &url, "-w", "tiny.toml", "-v", "--no-report", "--verify"];
    let running = dir.start(&[&fixed[..], &reading].concat());
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
