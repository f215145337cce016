//! Labels, removal and digests through the store's public interface.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[allow(dead_code, reason = "this test needs only plans")]
mod samples;

use std::fs;

use metrics::environment::Environment;
use metrics::run_record::Outcome;
use store::{Annotation, Error, Store, Writer};
use tempfile::TempDir;

const STARTED: u64 = 1_795_241_700_123;

fn open() -> (TempDir, Store) {
    let root = tempfile::tempdir().unwrap();
    let store = Store::open(Some(root.path())).unwrap();
    (root, store)
}

fn begin(store: &Store) -> Writer {
    store.create(&samples::plan("x", 1), &Environment::default(), STARTED).unwrap()
}

fn finished(store: &Store) -> String {
    let mut writer = begin(store);
    writer.finish(&Outcome::Done).unwrap();
    writer.id().to_owned()
}

fn labelled(label: &str) -> Annotation {
    Annotation { label: Some(label.parse().unwrap()), note: Some("a \"note\"".to_owned()) }
}

#[test]
fn a_label_names_its_record_until_it_is_removed() {
    let (_root, store) = open();
    let (first, second) = (finished(&store), finished(&store));
    store.annotate(&first, &labelled("before")).unwrap();
    assert_eq!(store.resolve("before").unwrap(), first);
    assert_eq!(store.load("before").unwrap().id, first);
    assert_eq!(store.annotation(&first).unwrap(), labelled("before"));
    let listed = store.list().unwrap();
    assert_eq!(listed.iter().filter(|one| one.annotation == labelled("before")).count(), 1);

    // Of the label's own record, the label may be written again.
    store.annotate(&first, &labelled("before")).unwrap();
    let taken = store.annotate(&second, &labelled("before")).unwrap_err();
    assert!(matches!(&taken, Error::LabelTaken { owner, .. } if *owner == first), "{taken}");
    assert!(store.refuse_taken_label(&"before".parse().unwrap()).is_err());
    store.refuse_taken_label(&"after".parse().unwrap()).unwrap();

    store.annotate(&first, &Annotation::default()).unwrap();
    assert!(matches!(store.resolve("before"), Err(Error::NotFound { .. })));
    store.annotate(&second, &labelled("before")).unwrap();
    assert_eq!(store.resolve("before").unwrap(), second);
}

#[test]
fn a_damaged_annotation_leaves_the_record_readable() {
    let (_root, store) = open();
    let id = finished(&store);
    store.annotate(&id, &labelled("before")).unwrap();
    let path = store.run_directory(&id).unwrap().join("annotation.json");
    fs::write(&path, "{\"label\": \"2\"}").unwrap();
    assert!(matches!(store.annotation(&id), Err(Error::DamagedAnnotation { .. })));
    assert_eq!(store.list().unwrap()[0].annotation, Annotation::default());
    assert_eq!(store.load(&id).unwrap().id, id);
    store.annotate(&id, &labelled("again")).unwrap();
    assert_eq!(store.resolve("again").unwrap(), id);
}

#[test]
fn removal_continues_after_an_error_and_leaves_no_half_record() {
    let (root, store) = open();
    let (first, last) = (finished(&store), finished(&store));
    let running = begin(&store);
    let ids = [first.clone(), running.id().to_owned(), last.clone()];
    let left_over = root.path().join("runs/.removed-earlier");
    fs::create_dir_all(left_over.join("report")).unwrap();
    let results = store.remove(&ids);
    assert!(results[0].is_ok() && results[2].is_ok(), "{results:?}");
    assert!(results[0].as_ref().is_ok_and(|bytes| *bytes > 0), "{results:?}");
    assert!(matches!(&results[1], Err(Error::Running { .. })), "{results:?}");
    assert!(!left_over.exists(), "what an interrupted removal left is removed");
    let names: Vec<String> = fs::read_dir(root.path().join("runs"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(names, [running.id()]);
    assert_eq!(store.list().unwrap().len(), 1);
}

#[test]
fn a_digest_is_listed_until_the_record_changes_and_after_the_index_is_lost() {
    let (root, store) = open();
    let mut writer = begin(&store);
    let id = writer.id().to_owned();
    assert_eq!(store.list().unwrap()[0].digest, None);
    store.put_digests(&[(id.clone(), "fast".to_owned())]);
    assert_eq!(store.list().unwrap()[0].digest.as_deref(), Some("fast"));
    writer.finish(&Outcome::Done).unwrap();
    assert_eq!(store.list().unwrap()[0].digest, None, "the record changed");
    store.put_digests(&[(id, "slow".to_owned())]);
    assert_eq!(store.list().unwrap()[0].digest.as_deref(), Some("slow"));
    fs::remove_file(root.path().join("index.sqlite")).unwrap();
    assert_eq!(store.list().unwrap()[0].digest, None, "the index was rebuilt");
}

#[test]
fn the_space_of_a_record_includes_its_reports() {
    let (_root, store) = open();
    let id = finished(&store);
    let before = store.list().unwrap()[0].disk_bytes;
    let report = store.run_directory(&id).unwrap().join("report");
    fs::create_dir(&report).unwrap();
    fs::write(report.join("chart.svg"), vec![b'x'; 100_000]).unwrap();
    let grown = store.list().unwrap()[0].disk_bytes - before;
    assert!((100_000..200_000).contains(&grown), "{grown}");
}
