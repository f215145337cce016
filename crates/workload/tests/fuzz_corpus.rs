//! Replays the corpus of the fuzz target `experiment`, also with small damage: the parser never
//! panics, and accepted experiments resolve.

#[path = "../../../fuzz/src/experiment.rs"]
mod experiment;

use std::path::{Path, PathBuf};

use workload::random;

fn inputs() -> Vec<(PathBuf, Vec<u8>)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut paths: Vec<PathBuf> =
        ["fuzz/corpus/experiment", "examples", "crates/workload/profiles"]
            .iter()
            .flat_map(|folder| std::fs::read_dir(root.join(folder)).unwrap())
            .map(|entry| entry.unwrap().path())
            // Examples of other files are in folders.
            .filter(|path| path.is_file())
            .collect();
    paths.sort();
    paths.into_iter().map(|path| (path.clone(), std::fs::read(path).unwrap())).collect()
}

#[test]
fn the_corpus_never_makes_the_parser_panic() {
    let inputs = inputs();
    assert!(inputs.len() >= 30, "{} inputs", inputs.len());
    for (_, input) in &inputs {
        experiment::try_experiment(input);
    }
}

/// A small fuzzer with a fixed seed, for machines without cargo-fuzz: removes, repeats and replaces
/// bytes with characters that are significant in TOML.
#[test]
fn damaged_files_never_make_the_parser_panic() {
    const MEANINGFUL: &[u8] = b"[]{}=\"'.,#\n %0123456789xkMs/-_e\xc3\x00";
    for (number, (_, input)) in inputs().into_iter().enumerate() {
        for round in 0..60u64 {
            let mut damaged = input.clone();
            for change in 0..=round % 4 {
                let seed = random::derive(number as u64, round * 4 + change);
                let draw = |number, bound: usize| {
                    random::below(random::at(seed, number), bound as u64) as usize
                };
                if damaged.is_empty() {
                    break;
                }
                let at = draw(0, damaged.len());
                let end = (at + 1 + draw(1, 20)).min(damaged.len());
                match draw(2, 3) {
                    0 => drop(damaged.drain(at..end)),
                    1 => {
                        let part = damaged[at..end].to_vec();
                        damaged.splice(at..at, part);
                    }
                    _ => damaged[at] = MEANINGFUL[draw(3, MEANINGFUL.len())],
                }
            }
            experiment::try_experiment(&damaged);
        }
    }
}
