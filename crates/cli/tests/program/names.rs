//! Operations on names: from an experiment to a record, what a killed run leaves, and `clean`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::harness::TestDir;
use crate::volumes::{Served, program};

const PROGRAM: &str = env!("CARGO_BIN_EXE_fourcorners");

const NAMES: &str = r#"
name = "names"
[run]
warm_up = "250ms"
measure = "1s"
interval = "250ms"
[stream.home]
names = { files = 4000, depth = 2, width = 5, size = { "0" = "10%", "3000" = "60%", "20KiB" = "30%" } }
mix = { create = "10%", unlink = "10%", stat = "30%", open = "10%", rename = "5%", read_file = "20%", write_file = "10%", readdir = "5%" }
queue_depth = 2
workers = 2
"#;

fn target(dir: &TestDir) -> String {
    fs::create_dir_all(dir.target()).expect("the target can be made");
    dir.target().display().to_string()
}

/// Lines are broken between words.
fn unwrapped(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn names_are_measured_on_a_directory_and_on_the_emulated_volume_and_removed_by_clean() {
    let dir = TestDir::new();
    dir.file("names.toml", NAMES);
    let target = target(&dir);
    for engine in ["psync", "io_uring"] {
        dir.measured(&["run", &target, "-w", "names.toml", "--verify", "--engine", engine]);
    }
    dir.measured(&["run", "-w", "names.toml", "--verify"]);
    dir.ok(&["clean", &target]);
    let left = fs::read_dir(dir.target()).expect("the target can be listed").count();
    assert_eq!(left, 0);
}

/// A small tree with names of every class.
const KILLED: &str = r#"
name = "killed"
[run]
warm_up = "0s"
measure = "60s"
interval = "250ms"
[stream.home]
names = { files = 250, depth = 2, width = 3, size = { "0" = "20%", "3000" = "60%", "20KiB" = "20%" } }
queue_depth = 4
workers = 1
[stream.home.mix]
create = "2%"
link = "2%"
symlink = "2%"
unlink = "6%"
mkdir = "2%"
rmdir = "2%"
rename = "6%"
append = "1%"
truncate = "2%"
stat = "35%"
read_file = "40%"
"#;

const KILLS: usize = 100;
/// System calls that change a tree, each in one operation of the mix.
const CHANGES: [&str; 7] =
    ["unlinkat", "renameat,renameat2", "mkdirat", "linkat", "symlinkat", "ftruncate", "pwrite64"];

/// Each run is killed by its own system call: the *k*-th of a kind in one of its threads, before the call
/// is done. So the kills are in the repair of what the kill before has left and in the run, whatever the
/// speed of the machine is.
#[test]
fn the_run_after_a_hundred_killed_ones_finds_the_tree_that_it_needs() {
    std::thread::scope(|scope| {
        for engine in ["psync", "io_uring"] {
            scope.spawn(move || killed_and_repaired(engine));
        }
    });
}

/// Half of the kills, on one target.
fn killed_and_repaired(engine: &str) {
    let mut dir = TestDir::new();
    dir.file("killed.toml", KILLED);
    dir.file("short.toml", &KILLED.replace("measure = \"60s\"", "measure = \"500ms\""));
    let target = target(&dir);
    for kill in 0..KILLS / 2 {
        let round = kill / CHANGES.len();
        let (calls, when) = match engine {
            "psync" => (CHANGES[kill % CHANGES.len()], 1 + round * round / 2),
            // Its operations are in the ring.
            _ => ("io_uring_enter", 1 + kill * kill / 4),
        };
        let inject = format!("inject={calls}:signal=KILL:when={when}");
        let mut strace = Command::new("strace");
        strace.args(["--follow-forks", "--quiet=all", "-o", "/dev/null"]);
        strace.args(["-e", &format!("trace={calls}"), "-e", &inject, PROGRAM]);
        dir.enter(strace);
        let run = ["run", &target, "-w", "killed.toml", "--engine", engine, "--no-report"];
        let ended = dir.run(&run);
        assert_eq!(ended.code, None, "{inject}: {}\n{}", ended.stdout, ended.stderr);
    }
    dir.enter(Command::new(PROGRAM));
    let ended = dir.run(&["run", &target, "-w", "short.toml", "--verify", "--engine", engine]);
    assert!(matches!(ended.code, Some(0 | 1)), "{}\n{}", ended.stdout, ended.stderr);
    let words = unwrapped(&ended.stdout);
    assert!(words.contains("no differences; every byte was read."), "{words}");
    dir.ok(&["clean", &target]);
    let left = fs::read_dir(dir.target()).expect("the target can be listed").count();
    assert_eq!(left, 0);
}

/// Only reads whole files, each in three parts.
const READ_PARTS: &str = r#"
name = "parts"
[run]
warm_up = "0s"
measure = "500ms"
interval = "250ms"
[stream.big]
names = { files = 4, depth = 0, size = "3000000" }
mix = { read_file = "100%" }
queue_depth = 2
"#;

#[test]
fn a_wrong_byte_in_any_part_of_a_file_that_is_read_fails_its_operation() {
    let dir = TestDir::new();
    dir.file("parts.toml", READ_PARTS);
    let target = target(&dir);
    let run = ["run", &target, "-w", "parts.toml", "--verify"];
    dir.measured(&run);
    let file = a_file(&dir.target());
    // In the first part, in the middle of the second, and in the last one.
    for offset in [100_000, 1_500_000, 2_999_999] {
        flip(&file, offset);
        for engine in ["psync", "io_uring"] {
            let ended = dir.run(&[&run[..], &["--engine", engine]].concat());
            assert_eq!(ended.code, Some(3), "{}\n{}", ended.stdout, ended.stderr);
            let words = unwrapped(&ended.stderr);
            let found = format!("offset {offset}: byte ");
            assert!(words.contains(&found) && words.contains("(operation "), "{engine}: {words}");
        }
        flip(&file, offset);
    }
    dir.measured(&run);
}

/// Flips a bit of a file at an offset, with libnfs: the program does not see it.
const FLIP: &str = r#"
import ctypes, sys
nfs = ctypes.CDLL("libnfs.so.13")
class Url(ctypes.Structure):
    _fields_ = [(name, ctypes.c_char_p) for name in ("server", "path", "file")]
nfs.nfs_init_context.restype = ctypes.c_void_p
nfs.nfs_parse_url_full.restype = ctypes.POINTER(Url)
nfs.nfs_get_error.restype = ctypes.c_char_p
context = ctypes.c_void_p(nfs.nfs_init_context())
def check(result):
    if result < 0:
        sys.exit(nfs.nfs_get_error(context).decode())
url = nfs.nfs_parse_url_full(context, sys.argv[1].encode()).contents
file, byte, at = ctypes.c_void_p(), ctypes.create_string_buffer(1), ctypes.c_uint64(int(sys.argv[2]))
check(nfs.nfs_mount(context, url.server, url.path))
check(nfs.nfs_open(context, url.file, 2, ctypes.byref(file)))
check(nfs.nfs_pread(context, file, at, ctypes.c_uint64(1), byte))
byte[0] = bytes([byte[0][0] ^ 1])
check(nfs.nfs_pwrite(context, file, at, ctypes.c_uint64(1), byte))
check(nfs.nfs_close(context, file))
"#;

#[test]
fn a_wrong_byte_in_any_part_of_a_file_of_an_export_fails_its_operation() {
    let dir = TestDir::new();
    dir.file("parts.toml", READ_PARTS);
    let served = Served::start(&dir, &["--address", "127.0.0.1:0", "--no-limits"]);
    let url = format!("nfs://127.0.0.1:{0}/vol1?mountport={0}", served.port);
    let run = ["run", &url, "-w", "parts.toml", "--create", "--verify"];
    dir.measured(&run);
    let listed = program("nfs-ls", &["-R", &served.url("/vol1")]);
    let line = listed.lines().find(|line| line.contains(" 3000000 ")).expect("a file is listed");
    let name = line.rsplit(' ').next().expect("its name is last");
    let file = served.url(&format!("/vol1/{name}"));
    for offset in ["100000", "1500000", "2999999"] {
        program("python3", &["-c", FLIP, &file, offset]);
        let ended = dir.run(&run);
        assert_eq!(ended.code, Some(3), "{}\n{}", ended.stdout, ended.stderr);
        let (words, found) = (unwrapped(&ended.stderr), format!("offset {offset}: byte "));
        assert!(words.contains(&found) && words.contains("(operation "), "{words}");
        program("python3", &["-c", FLIP, &file, offset]);
    }
    dir.measured(&run);
    assert_eq!(served.end().code, Some(0));
}

/// A file of the tree in a target.
fn a_file(target: &Path) -> PathBuf {
    let ours = target.join("fourcorners");
    let entries = |path: &Path| {
        let entries = fs::read_dir(path).expect("it can be listed");
        entries.map(|entry| entry.expect("it can be listed").path()).collect::<Vec<_>>()
    };
    let trees =
        entries(&ours).into_iter().filter(|path| path.extension().is_some_and(|e| e == "tree"));
    trees.flat_map(|tree| entries(&tree)).find(|path| path.is_file()).expect("a tree with a file")
}

/// Flips a bit of a file.
fn flip(path: &Path, offset: usize) {
    let mut data = fs::read(path).expect("it can be read");
    data[offset] ^= 1;
    fs::write(path, data).expect("it can be written");
}

#[test]
fn a_tree_of_another_plan_is_refused_and_replaced_on_request() {
    let dir = TestDir::new();
    dir.file("names.toml", NAMES);
    dir.file("other.toml", &NAMES.replace("files = 4000", "files = 5000"));
    let target = target(&dir);
    dir.measured(&["run", &target, "-w", "names.toml"]);
    let refused = dir.run(&["run", &target, "-w", "other.toml"]);
    assert!(refused.stderr.contains("is a tree of another plan"), "{}", refused.stderr);
    assert!(refused.stderr.contains("--refill"), "{}", refused.stderr);
    dir.measured(&["run", &target, "-w", "other.toml", "--refill"]);
}
