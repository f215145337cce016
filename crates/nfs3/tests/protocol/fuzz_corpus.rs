//! Runs the fuzz targets `rpc`, `procedures` and `mount` on their corpora and on damaged copies,
//! for machines without the fuzzer.

use std::path::Path;

use proptest::prelude::*;

#[path = "../../../../fuzz/src/mount.rs"]
mod mount;
#[path = "../../../../fuzz/src/procedures.rs"]
mod procedures;
#[path = "../../../../fuzz/src/rpc.rs"]
mod rpc;

fn corpus(name: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(name);
    let mut paths: Vec<_> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.iter().map(|path| std::fs::read(path).unwrap()).collect()
}

#[test]
fn the_corpora_are_decoded_or_refused() {
    for (name, count_min, attempt) in [
        ("rpc", 5, rpc::try_rpc as fn(&[u8])),
        ("procedures", 40, procedures::try_procedures),
        ("mount", 10, mount::try_mount),
    ] {
        let inputs = corpus(name);
        assert!(inputs.len() >= count_min, "{} inputs of {name}", inputs.len());
        inputs.iter().for_each(|input| attempt(input));
    }
}

/// An input with a few bytes replaced by special values, possibly truncated.
fn damaged(name: &str) -> impl Strategy<Value = Vec<u8>> + use<> {
    let inputs = corpus(name);
    let byte = prop_oneof![Just(0), Just(1), Just(0xff), Just(0x80), Just(3), any::<u8>()];
    let changes = proptest::collection::vec((any::<prop::sample::Index>(), byte), 0..6);
    (prop::sample::select(inputs), changes, any::<prop::sample::Index>(), any::<bool>()).prop_map(
        |(mut input, changes, end, cut)| {
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
        },
    )
}

proptest! {
    #[test]
    fn damaged_streams_do_not_panic(input in damaged("rpc")) {
        rpc::try_rpc(&input);
    }

    #[test]
    fn damaged_arguments_and_results_do_not_panic(input in damaged("procedures")) {
        procedures::try_procedures(&input);
    }

    #[test]
    fn damaged_mounts_do_not_panic(input in damaged("mount")) {
        mount::try_mount(&input);
    }

    #[test]
    fn arbitrary_bytes_do_not_panic(input in proptest::collection::vec(any::<u8>(), 0..300)) {
        rpc::try_rpc(&input);
        procedures::try_procedures(&input);
        mount::try_mount(&input);
    }
}
