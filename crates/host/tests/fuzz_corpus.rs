//! The fuzz corpus, replayed without a fuzzer, each input also cut short at every tenth byte.

use std::fs;
use std::path::Path;

#[path = "../../../fuzz/src/host.rs"]
mod host_files;

#[test]
fn every_text_of_the_corpus_is_read_whole_and_cut_short() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/host");
    let mut inputs = 0;
    for entry in fs::read_dir(corpus).unwrap() {
        let data = fs::read(entry.unwrap().path()).unwrap();
        for end in (0..data.len()).step_by(10).chain([data.len()]) {
            host_files::try_host(&data[..end]);
        }
        inputs += 1;
    }
    assert!(inputs >= 5, "the corpus is there");
}
