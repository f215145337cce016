//! Replays the corpora of the fuzz targets `volumes` and `service`, also with random damage, for
//! machines without the fuzzer.

use std::path::Path;

use proptest::prelude::*;

#[path = "../../../fuzz/src/service.rs"]
mod service;
#[path = "../../../fuzz/src/volumes.rs"]
mod volumes;

fn corpus(name: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(name);
    let entries = std::fs::read_dir(folder).expect("a corpus");
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("an input").path()).collect();
    paths.sort();
    paths.iter().map(|path| std::fs::read(path).expect("an input")).collect()
}

#[test]
fn configurations_of_the_corpus_are_refused_with_positions_or_start_a_service() {
    let inputs = corpus("volumes");
    assert!(inputs.len() >= 8, "{} inputs", inputs.len());
    inputs.iter().for_each(|input| volumes::try_volumes(input));
}

#[test]
fn streams_of_the_corpus_get_the_same_answers_in_pieces_of_any_size() {
    let inputs = corpus("service");
    assert!(inputs.len() >= 20, "{} inputs", inputs.len());
    inputs.iter().for_each(|input| service::try_service(input));
}

/// An input with a few bytes replaced by others with a meaning, and perhaps truncated.
fn damaged(name: &str) -> impl Strategy<Value = Vec<u8>> + use<> {
    let byte = prop_oneof![Just(0), Just(1), Just(0xff), Just(b'"'), Just(b'='), any::<u8>()];
    let changes = proptest::collection::vec((any::<prop::sample::Index>(), byte), 0..6);
    (prop::sample::select(corpus(name)), changes, any::<prop::sample::Index>(), any::<bool>())
        .prop_map(|(mut input, changes, end, cut)| {
            for (at, byte) in changes {
                if !input.is_empty() {
                    let at = at.index(input.len());
                    input[at] = byte;
                }
            }
            if cut && !input.is_empty() {
                input.truncate(end.index(input.len()));
            }
            input
        })
}

proptest! {
    #[test]
    fn damaged_configurations_cause_no_panic(input in damaged("volumes")) {
        volumes::try_volumes(&input);
    }

    #[test]
    fn damaged_streams_cause_no_panic(input in damaged("service")) {
        service::try_service(&input);
    }
}
