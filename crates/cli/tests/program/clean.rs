//! `clean` removes the files that a run created, and nothing else.

use crate::harness::TestDir;
use crate::runs::TINY;

#[test]
fn clean_removes_only_what_is_ours() {
    let dir = TestDir::new();
    dir.file("tiny.toml", TINY);
    dir.ok(&["run", "target", "-w", "tiny.toml"]);
    let ours = dir.target().join("fourcorners");
    std::fs::write(ours.join("notes.txt"), "a stranger's").unwrap();

    let output = dir.ok(&["clean", "target"]);
    assert!(output.contains("1 MiB"), "{output}");
    assert!(!ours.join("main-1048576-0000.data").exists());
    assert_eq!(std::fs::read(ours.join("notes.txt")).unwrap(), b"a stranger's");

    std::fs::remove_file(ours.join("notes.txt")).unwrap();
    dir.ok(&["list"]);
}

#[test]
fn clean_leaves_a_directory_that_was_empty_empty() {
    let dir = TestDir::new();
    dir.file("tiny.toml", TINY);
    dir.ok(&["run", "target", "-w", "tiny.toml"]);
    dir.ok(&["clean", "target"]);
    assert_eq!(std::fs::read_dir(dir.target()).unwrap().count(), 0);
    let again = dir.run(&["clean", "target"]);
    assert_eq!(again.code, Some(2), "no files are left: {}", again.stderr);
}
