//! Whether reads reached the disk: a small ext4 of its own, on a loop device whose counters nobody
//! else moves. Wants root and loop devices, as CI has them; the mount is undone by its guard.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::harness::Place;

const IMAGE_BYTES: u64 = 64 << 20;

/// Reads of a file that fits the memory many times, long enough that all of it was read before the
/// window begins, and that what moved between the end of an interval and the look at the device's
/// counters is little beside the rest, on a busy machine too.
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
    fn new(place: &Place) -> Mounted {
        let (image, point) = (place.path().join("image"), place.path().join("mount"));
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
fn measured(place: &Place, arguments: &[&str]) -> (Vec<String>, f64) {
    let run = ["run", "mount/target", "-w", "reads.toml", "--engine", "psync"];
    let fixed = [&run[..], &["--no-report", "--no-progress"]].concat();
    place.ok(&fixed.iter().chain(arguments).copied().collect::<Vec<_>>());
    let shown: Value =
        serde_json::from_str(&place.ok(&["show", "last", "--json"])).expect("it is JSON");
    let codes = shown["warnings"].as_array().into_iter().flatten();
    let codes = codes.map(|group| group["code"].as_str().unwrap_or_default().to_owned()).collect();
    let wire = &shown["wire"][0][0]["places"][0];
    assert_eq!(wire["place"], "block_device", "{}", shown["wire"]);
    (codes, wire["read"]["ratio"].as_f64().expect("enough was read to tell"))
}

#[test]
fn reads_from_the_page_cache_are_told_from_reads_of_the_disk() {
    let place = Place::new();
    place.file("reads.toml", READS);
    let _mounted = Mounted::new(&place);
    let cached = "served_from_cache".to_owned();

    let (codes, ratio) = measured(&place, &[]);
    assert!(!codes.contains(&cached), "direct I/O: {codes:?}");
    assert!((0.90..1.25).contains(&ratio), "every read went to the disk once: {ratio}");

    let (codes, ratio) = measured(&place, &["--buffered"]);
    assert!(codes.contains(&cached), "a file that was read before: {codes:?}");
    assert!(ratio < 0.10, "next to nothing was read from the disk: {ratio}");
    let limits = place.ok(&["show", "last"]);
    assert!(limits.contains("a cache of this host answered"), "{limits}");

    // Of the two no winner is named: one is the disk's figure, the other the memory's.
    let compared = place.run(&["compare", "last~1", "last", "--allow-different", "plan"]);
    assert_eq!(compared.code, Some(1), "{}\n{}", compared.stdout, compared.stderr);
    assert!(compared.stdout.contains("--allow-different cache"), "{}", compared.stdout);
}
