//! Whether reads reached the disk: a separate small ext4 on a loop device whose counters only this
//! test changes. Wants root and loop devices, as CI has them; the mount is undone by its guard.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::harness::TestDir;

const IMAGE_BYTES: u64 = 64 << 20;

/// Reads of a file that is much smaller than memory. The warm-up is long enough to read all of it,
/// and the window long enough that bytes between the end of an interval and the reading of the
/// device's counters are negligible, also on a busy machine.
const READS: &str = r#"
name = "reads"

[run]
warm_up = "500ms"
measure = "3s"
interval = "500ms"

[stream.main]
read = "100%"
transfer_size = "16KiB"
pattern = "random"
file_size = "4MiB"
queue_depth = 4
"#;

/// A small file system, until it is dropped.
struct Mounted {
    point: PathBuf,
}

fn run(program: &str, arguments: &[&str]) {
    let ended = Command::new(program).args(arguments).output();
    let ended = ended.unwrap_or_else(|error| {
        panic!("start {program} (`cargo xtask check --install`): {error}");
    });
    assert!(ended.status.success(), "{program}: {}", String::from_utf8_lossy(&ended.stderr));
}

fn path(path: &Path) -> &str {
    path.to_str().expect("paths of tests are UTF-8")
}

impl Mounted {
    fn new(dir: &TestDir) -> Mounted {
        let (image, point) = (dir.path().join("image"), dir.path().join("mount"));
        let file = std::fs::File::create(&image).expect("make a file");
        file.set_len(IMAGE_BYTES).expect("give it a size");
        std::fs::create_dir(&point).expect("make a directory");
        run("mkfs.ext4", &["-q", "-F", "-b", "4096", path(&image)]);
        run("mount", &["-t", "ext4", "-o", "loop", path(&image), path(&point)]);
        std::fs::create_dir(point.join("target")).expect("make a directory");
        Mounted { point }
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        // The program has ended; what another test forks may have our files open until it begins.
        let ended = (0..250).any(|_| {
            let ended = Command::new("umount").arg(&self.point).status();
            if ended.as_ref().is_ok_and(std::process::ExitStatus::success) {
                return true;
            }
            std::thread::sleep(std::time::Duration::from_millis(20));
            false
        });
        assert!(std::thread::panicking() || ended);
    }
}

/// The codes of the warnings, and wire over counted of what was read. The engine is fixed: which
/// one a probe prefers depends on how busy the host is, and runs with different ones are not
/// compared.
fn measured(dir: &TestDir, arguments: &[&str]) -> (Vec<String>, f64) {
    let run = ["run", "mount/target", "-w", "reads.toml", "--engine", "psync"];
    let fixed = [&run[..], &["--no-report", "--no-progress"]].concat();
    dir.ok(&fixed.iter().chain(arguments).copied().collect::<Vec<_>>());
    let shown: Value =
        serde_json::from_str(&dir.ok(&["show", "last", "--json"])).expect("it is JSON");
    let codes = shown["warnings"].as_array().into_iter().flatten();
    let codes = codes.map(|group| group["code"].as_str().unwrap_or_default().to_owned()).collect();
    let wire = &shown["wire"][0][0]["sources"][0];
    assert_eq!(wire["source"], "block_device", "{}", shown["wire"]);
    (codes, wire["read"]["ratio"].as_f64().expect("enough was read to tell"))
}

#[test]
fn reads_from_the_page_cache_are_distinguished_from_reads_of_the_disk() {
    let dir = TestDir::new();
    dir.file("reads.toml", READS);
    let _mounted = Mounted::new(&dir);
    let cached = "served_from_cache".to_owned();

    let (codes, ratio) = measured(&dir, &[]);
    assert!(!codes.contains(&cached), "direct I/O: {codes:?}");
    assert!((0.90..1.25).contains(&ratio), "every read went to the disk once: {ratio}");

    let (codes, ratio) = measured(&dir, &["--buffered"]);
    assert!(codes.contains(&cached), "a file that was read before: {codes:?}");
    assert!(ratio < 0.10, "next to nothing was read from the disk: {ratio}");
    let limits = dir.ok(&["show", "last"]);
    assert!(limits.contains("a client cache answered"), "{limits}");

    // Of the two no winner is named: one is the disk's figure, the other the memory's.
    let compared = dir.run(&["compare", "last~1", "last", "--allow-different", "plan"]);
    assert_eq!(compared.code, Some(1), "{}\n{}", compared.stdout, compared.stderr);
    assert!(compared.stdout.contains("--allow-different cache"), "{}", compared.stdout);
}
