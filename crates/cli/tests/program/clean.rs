//! `clean` removes what a run made, and nothing else.

use crate::harness::Place;
use crate::runs::TINY;

#[test]
fn clean_removes_only_what_is_ours() {
    let place = Place::new();
    place.file("tiny.toml", TINY);
    place.ok(&["run", "target", "-w", "tiny.toml"]);
    let ours = place.target().join("fourcorners");
    std::fs::write(ours.join("notes.txt"), "a stranger's").unwrap();

    let said = place.ok(&["clean", "target"]);
    assert!(said.contains("1 MiB"), "{said}");
    assert!(!ours.join("main-1048576-0000.data").exists());
    assert_eq!(std::fs::read(ours.join("notes.txt")).unwrap(), b"a stranger's");

    std::fs::remove_file(ours.join("notes.txt")).unwrap();
    place.ok(&["list"]);
}

#[test]
fn clean_leaves_an_empty_target_as_it_was_found() {
    let place = Place::new();
    place.file("tiny.toml", TINY);
    place.ok(&["run", "target", "-w", "tiny.toml"]);
    place.ok(&["clean", "target"]);
    assert_eq!(std::fs::read_dir(place.target()).unwrap().count(), 0);
    let again = place.run(&["clean", "target"]);
    assert_eq!(again.code, Some(2), "there is nothing left: {}", again.stderr);
}
