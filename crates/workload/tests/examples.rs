//! Every example and profile parses, resolves, follows the schema, and has unchanged operations.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use crate::schema_check;
use sha2::{Digest, Sha256};

use workload::experiment::{parse, parse_with_files};
use workload::keys::{KEYS, Section};
use workload::names::NameStream;
use workload::op::OpStream;
use workload::plan::{Plan, Stream, TargetSpec};
use workload::profiles::{PROFILES, profile};
use workload::resolve::{PlanTargets, ResolveOptions, resolve};
use workload::schema::json_schema;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Name and text of all examples and profiles, by name.
fn experiments() -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = std::fs::read_dir(root().join("examples"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ext| ext == "toml"))
        .map(|path| {
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            (name, std::fs::read_to_string(&path).unwrap())
        })
        .collect();
    found.sort();
    found.extend(PROFILES.iter().map(|one| (one.name.to_owned(), one.text.to_owned())));
    found
}

fn plan(name: &str, text: &str) -> Plan {
    let experiment = parse(text, name).unwrap_or_else(|problems| {
        panic!("{}", problems.iter().map(|p| format!("{p}\n")).collect::<String>())
    });
    let names: Vec<String> = experiment.targets.iter().map(|one| one.name.clone()).collect();
    let directory = |name: &String| TargetSpec::Directory { path: name.into() };
    let targets = match names.is_empty() {
        true => PlanTargets::from(TargetSpec::Null),
        false => PlanTargets { specs: names.iter().map(directory).collect(), names },
    };
    resolve(&experiment, name, targets, &ResolveOptions::LOCAL).unwrap()
}

#[test]
fn every_example_has_the_name_of_its_file_and_states_its_use() {
    let examples = experiments();
    assert!(examples.len() >= 8 + PROFILES.len());
    for (name, text) in &examples {
        let plan = plan(name, text);
        assert_eq!(&plan.name, name);
        assert!(text.starts_with("# "), "{name} begins with a description");
        if profile(name).is_none() {
            assert!(text.contains("\n# Use it "), "{name} states its use");
        }
    }
}

#[test]
fn every_example_needs_at_most_8_gib_and_one_hour() {
    for (name, text) in experiments() {
        let plan = plan(&name, &text);
        assert!(plan.bytes_needed() <= units::Bytes::gib(8), "{name}: {}", plan.bytes_needed());
        assert!(plan.time_max().as_secs() <= 3600, "{name}: {:?}", plan.time_max());
    }
}

/// SHA-256 of the first 100,000 operations of a stream, ordered by number.
fn fingerprint(stream: &Stream, seed: u64) -> String {
    let mut hash = Sha256::new();
    if let Some(names) = NameStream::new(stream, seed, 1) {
        for index in 0..100_000 {
            let op = names.at(index);
            hash.update([op.kind as u8]);
            for name in [Some(op.name), op.other].into_iter().flatten() {
                hash.update([name.class as u8]);
                hash.update(name.number.to_le_bytes());
            }
            for number in [op.offset_bytes, op.size_bytes.into(), op.content.key] {
                hash.update(number.to_le_bytes());
            }
            hash.update(op.content.version.to_le_bytes());
        }
        return hash.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect();
    }
    let operations = OpStream::new(stream, seed);
    for index in 0..100_000u64 {
        let lane = (index % u64::from(stream.workers)) as u32;
        let op = operations.op(lane, index / u64::from(stream.workers));
        assert_eq!(op.index, index);
        hash.update([op.kind as u8]);
        hash.update(op.file.to_le_bytes());
        hash.update(op.offset_bytes.to_le_bytes());
        hash.update(op.size_bytes.to_le_bytes());
    }
    hash.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

/// If this fails, the same experiment issues different operations than before, and results are no
/// longer comparable. If that is intended, rewrite the file with `UPDATE_EXPECT=1 cargo test -p
/// workload`, and add it to "Numbers" in CHANGELOG.md.
#[test]
fn the_operations_of_every_example_are_unchanged() {
    let mut found = String::from(
        "# SHA-256 (first half) of the first 100,000 operations of each stream, in the first run \
         of each variant.\n# Changed only on purpose: see crates/workload/tests/examples.rs.\n",
    );
    for (name, text) in experiments() {
        let plan = plan(&name, &text);
        let mut seen = BTreeSet::new();
        for run in plan.model_runs().filter(|run| seen.insert(run.variant.clone())) {
            for stream in &run.streams {
                let print = fingerprint(stream, run.seed);
                let variant = if run.variant == plan.name { "-" } else { &run.variant };
                writeln!(found, "{print}  {name} / {variant} / {}", stream.name).unwrap();
            }
        }
    }
    expect_test::expect_file!["fingerprints.txt"].assert_eq(&found);
}

#[test]
fn every_example_follows_the_schema() {
    let schema: serde_json::Value = serde_json::from_str(&json_schema()).unwrap();
    for (name, text) in experiments() {
        let value: serde_json::Value = toml::from_str(&text).unwrap();
        let wrong = schema_check::violations(&schema, &value);
        assert!(wrong.is_empty(), "{name}: {wrong:#?}");
    }
}

#[test]
fn the_schema_refuses_what_the_parser_refuses() {
    let schema: serde_json::Value = serde_json::from_str(&json_schema()).unwrap();
    for (wrong, right) in [
        ("name = 't'\n", "[stream.a]\n"),
        ("[run]\nmeasure = 30\n", "[run]\nmeasure = '30s'\n"),
        ("[run]\nmeasured = '30s'\n", "[run]\nmeasure = ['30s', '1m30s']\n"),
        ("[run]\norder = 'random'\n", "[run]\norder = 'randomised'\n"),
        ("[run]\nrepeats = [1, 2]\n", "[run]\nrepeats = 2\n"),
        ("[stream.a]\nread = 0.7\n", "[stream.a]\nread = '0%..100% step 10%'\n"),
        ("[stream.a]\nread = 130\n", "[stream.a]\nread = [10, '20%']\n"),
        ("[stream.a]\nqueue_depth = '1..8'\n", "[stream.a]\nqueue_depth = '1..8 x2'\n"),
        ("[stream.a]\nqueue_depth = 0\n", "[stream.a]\nqueue_depth = [1, '2..8 x2']\n"),
        ("[stream.a]\ntransfer_size = '8x'\n", "[stream.a]\ntransfer_size = '8 KiB'\n"),
        ("[stream.a]\ntransfer_size = {'8q'='1%'}\n", "[stream.a]\ntransfer_size = {'8k'='1%'}\n"),
        ("[stream.a]\npattern = 'zipf'\n", "[stream.a]\npattern = { zipf = [1, 1.5] }\n"),
        (
            "[stream.a]\npattern = { hot_set = { area = '1%' } }\n",
            "[stream.a]\npattern = { hot_set = { area = '1%', accesses = ['50%', '90%'] } }\n",
        ),
        (
            "[stream.a]\narrival = { constant = '1/s', poisson = '1/s' }\n",
            "[stream.a]\narrival = ['closed', { poisson = '1k/s..4k/s step 1k/s' }]\n",
        ),
        ("[stream.a]\nnames = { depth = 1 }\n", "[stream.a]\nnames = { files = 1 }\n"),
        (
            "[stream.a]\nnames = { files = 1, size = { file = 1 } }\n",
            "[stream.a]\nnames = [{ files = 1, size = 0 }, { files = 1, size = { '4k' = 100 } }]\n",
        ),
        (
            "[stream.a]\nnames = { files = 1, size = { lognormal = { median = '4k' } } }\n",
            "[stream.a]\nnames = { files = 1, size = { lognormal = { median = '4k', sigma = 1 } } }\n",
        ),
        ("[stream.a]\nmix = { read = '1%' }\n", "[stream.a]\nmix = { stat = '1%', open = 99 }\n"),
        ("[stream.'a b']\n", "[stream.a-b]\n"),
        ("[[variant]]\nname = 1\n", "[[variant]]\nread = '1%'\n"),
    ] {
        let check = |text: &str| {
            let mut value: serde_json::Value = toml::from_str(text).unwrap();
            if value.get("name").is_none() {
                value["name"] = "t".into();
                if value.get("stream").is_none() {
                    value["stream"] = serde_json::json!({ "main": {} });
                }
            }
            schema_check::violations(&schema, &value)
        };
        assert!(!check(wrong).is_empty(), "refused: {wrong}");
        assert_eq!(check(right), Vec::<String>::new(), "allowed: {right}");
    }
}

#[test]
fn every_key_of_the_table_is_in_the_schema() {
    let schema: serde_json::Value = serde_json::from_str(&json_schema()).unwrap();
    for key in KEYS {
        let pointer = match key.section {
            Section::Experiment => "/properties",
            Section::Target => "/properties/target/anyOf/1/additionalProperties/properties",
            Section::Run => "/properties/run/properties",
            Section::Search => "/properties/search/properties",
            Section::Metric => "/properties/metric/properties",
            Section::Stream => "/properties/stream/additionalProperties/properties",
            Section::Variant => "/properties/variant/items/properties",
        };
        let property = &schema.pointer(pointer).unwrap()[key.name];
        assert!(property["description"].as_str().unwrap().contains(key.doc), "{}", key.name);
        if key.section == Section::Stream {
            let of_variant = schema.pointer("/properties/variant/items/properties").unwrap();
            assert_eq!(&of_variant[key.name], property);
        }
    }
}

#[test]
fn the_example_of_every_key_is_allowed() {
    for key in KEYS.iter().filter(|key| key.section == Section::Stream) {
        // Only streams without writes read files of other hosts.
        let read = if key.name == "read_what" { "100%" } else { "50%" };
        let mut stream = vec![
            format!("read = '{read}'"),
            "transfer_size = '8k'".to_owned(),
            "pattern = 'random'".to_owned(),
            "files = 2".to_owned(),
            "file_size = '1g'".to_owned(),
            "queue_depth = 1".to_owned(),
        ];
        if ["names", "mix"].contains(&key.name) {
            stream = vec![
                "names = { files = 1000 }".to_owned(),
                "mix = { stat = '100%' }".to_owned(),
                "queue_depth = 1".to_owned(),
            ];
        }
        if key.name == "replay" {
            stream = vec!["queue_depth = 1".to_owned()];
        }
        if ["users", "cycle", "scenario", "starts"].contains(&key.name) {
            stream = vec![
                "names = { files = 5000 }".to_owned(),
                "users = 10".to_owned(),
                "cycle = '60s'".to_owned(),
                "scenario = [{ stat = 1 }]".to_owned(),
            ];
        }
        stream.retain(|line| !line.starts_with(&format!("{} ", key.name)));
        stream.push(format!("{} = {}", key.name, key.example));
        let targets = if key.name == "targets" { "[target.vol1]\n" } else { "" };
        // A weight needs a rate to share.
        let run = if key.name == "weight" { "[run]\narrival = { poisson = 1 }\n" } else { "" };
        let text = format!("name = 't'\n{targets}{run}[stream.a]\n{}\n", stream.join("\n"));
        let list = "fourcorners replay 1\nfile 0 f\n0 read 0 0 4096\nend 1\n";
        parse_with_files(&text, "x", &[], &|_| Ok(list.to_owned()))
            .unwrap_or_else(|problems| panic!("{}: {problems:#?}", key.name));
    }
}

#[test]
fn the_reference_page_is_up_to_date() {
    let page = root().join("docs/reference/experiment.md");
    expect_test::expect_file![page].assert_eq(&workload::reference::reference_markdown());
}
