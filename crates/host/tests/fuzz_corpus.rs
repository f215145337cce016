//! Replays the fuzz corpus, each input also truncated at every tenth byte.

use std::fs;
use std::path::Path;

#[path = "../../../fuzz/src/host.rs"]
mod host_files;

#[test]
fn the_corpus_never_causes_a_panic_whole_or_truncated() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/host");
    let mut inputs = 0;
    for entry in fs::read_dir(corpus).unwrap() {
        let data = fs::read(entry.unwrap().path()).unwrap();
        for end in (0..data.len()).step_by(10).chain([data.len()]) {
            host_files::try_host(&data[..end]);
        }
        inputs += 1;
    }
    assert!(inputs >= 5, "{inputs} inputs");
}
