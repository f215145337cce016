//! Every experiment in a document parses.

use std::fs;
use std::path::{Path, PathBuf};

use workload::experiment::parse_with_files;

/// Markdown files at the root and below `docs/`.
fn documents() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut folders = vec![root.join("docs")];
    let mut found = vec![root.join("README.md"), root.join("CONTRIBUTING.md")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                found.push(path);
            }
        }
    }
    found
}

/// The files that experiments name.
fn read_file(path: &str) -> Result<String, String> {
    match path {
        "app.replay" => Ok("fourcorners replay 1\nfile 0 db\n0 read 0 0 8192\nend 1\n".to_owned()),
        other => Err(format!("no document has the file {other}")),
    }
}

/// The TOML blocks of a document that define a stream.
fn experiments(document: &str) -> impl Iterator<Item = &str> {
    let blocks = document.split("```toml\n").skip(1);
    let blocks = blocks.map(|rest| rest.split("```").next().unwrap_or(rest));
    blocks.filter(|block| block.contains("[stream."))
}

#[test]
fn every_experiment_in_a_document_parses() {
    let mut count = 0;
    for path in documents() {
        let name = path.display().to_string();
        for experiment in experiments(&fs::read_to_string(&path).unwrap()) {
            if let Err(problems) = parse_with_files(experiment, &name, &[], &read_file) {
                panic!("{}", problems.iter().map(|one| format!("{one}\n")).collect::<String>());
            }
            count += 1;
        }
    }
    assert!(count > 0, "no document has an experiment");
}
