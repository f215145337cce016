//! A full disk cuts a write in the middle of a frame. Everything stored before is kept, and the end
//! can still be recorded.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod samples;

use std::env;
use std::path::Path;
use std::process::Command;

use metrics::environment::Environment;
use metrics::run_record::Outcome;
use store::{Error, State, Store};

const TEST_NAME: &str = "a_short_write_is_undone_and_the_end_is_still_recorded";
/// In the environment of the process whose files are limited: the store's directory.
const ROOT: &str = "FOURCORNERS_TEST_FULL_ROOT";
/// A limit on file sizes simulates the full disk. Because the signal is ignored, `write` writes as
/// many bytes as fit and then fails. A block has 512 bytes, or 1,024 in some shells.
const LIMITED: &str = "trap '' XFSZ; ulimit -f 61; exec \"$0\" \"$@\"";

fn store_until_full(root: &Path) {
    let store = Store::open(Some(root)).unwrap();
    let mut writer = store
        .create(&samples::plan("full", 1), &Environment::default(), 1_795_241_700_000)
        .unwrap();
    writer.run_started(&samples::run(0), 1_795_241_700_000).unwrap();
    let mut stored = 0;
    let error = loop {
        match writer.interval(0, &samples::interval(stored, 2, 150)) {
            Ok(()) => stored += 1,
            Err(error) => break error,
        }
    };
    assert!(matches!(error, Error::AppendJournal { .. }), "{error}");
    assert!(stored > 2, "{stored}");
    let failed = Outcome::Failed { reason: "the store is full".to_owned() };
    writer.run_finished(0, &failed).unwrap();
    writer.finish(&failed).unwrap();
    let record = store.load("last").unwrap();
    assert_eq!(record.outcome, failed);
    assert_eq!(record.runs[0].outcome, failed);
    assert_eq!(record.runs[0].intervals.len(), stored as usize);
    for (index, interval) in (0..).zip(&record.runs[0].intervals) {
        assert_eq!(*interval, samples::interval(index, 2, 150));
    }
    assert_eq!(store.list().unwrap()[0].state, State::Ended(failed));
}

#[test]
fn a_short_write_is_undone_and_the_end_is_still_recorded() {
    if let Some(root) = env::var_os(ROOT) {
        return store_until_full(Path::new(&root));
    }
    let root = tempfile::tempdir().unwrap();
    let done = Command::new("sh")
        .args(["-c", LIMITED])
        .arg(env::current_exe().unwrap())
        .args(["--exact", TEST_NAME, "--nocapture"])
        .env(ROOT, root.path())
        .output()
        .unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    assert_eq!(Store::open(Some(root.path())).unwrap().list().unwrap().len(), 1);
}
