//! The schemas of JSON results and observations: documents satisfy them, and the reference pages follow
//! from them.

#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use crate::fixture;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use analysis::analyze;
use expect_test::expect_file;
use report::json::{schema::json_schema, write};
use serde_json::{Map, Value};

/// A reference page up to this line is written by hand.
const GENERATED: &str =
    "<!-- Generated from the types. UPDATE_EXPECT=1 cargo test -p report json_schema -->\n";
const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/json.md");
const OBSERVE_PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/observe.md");

fn schema() -> Value {
    serde_json::from_str(&json_schema()).unwrap()
}

fn schema_of_observations() -> Value {
    serde_json::from_str(&report::observe::json::json_schema()).unwrap()
}

/// The types of the schema by name, the document itself as `results`.
fn types(schema: &Value) -> BTreeMap<String, Map<String, Value>> {
    let parts = schema["$defs"].as_object().unwrap().iter();
    let mut all: BTreeMap<_, _> =
        parts.map(|(name, part)| (name.clone(), part.as_object().unwrap().clone())).collect();
    all.insert("results".to_owned(), schema.as_object().unwrap().clone());
    all
}

fn is_generic(name: &str) -> bool {
    name.contains("_for_")
}

#[test]
fn every_field_is_described() {
    for (name, part) in types(&schema()).into_iter().chain(types(&schema_of_observations())) {
        assert!(is_generic(&name) || part.contains_key("description"), "{name}");
        for (field, of) in part.get("properties").and_then(Value::as_object).into_iter().flatten() {
            assert!(of["description"].is_string(), "{name}.{field}");
        }
    }
}

#[test]
fn the_json_references_are_generated_from_the_types() {
    let generated = |page: &str, title: &str, schema: &Value| {
        let page = std::fs::read_to_string(page).unwrap();
        let head = page.split(GENERATED).next().unwrap().to_owned();
        format!("{head}{GENERATED}{}", reference(title, schema))
    };
    expect_file![PAGE].assert_eq(&generated(PAGE, "Results of a record", &schema()));
    let observations = schema_of_observations();
    let page = generated(OBSERVE_PAGE, "Observation", &observations);
    expect_file![OBSERVE_PAGE].assert_eq(&page);
}

/// A table for each type, the document first.
fn reference(title: &str, schema: &Value) -> String {
    let mut types = types(schema);
    let results = types.remove("results").unwrap();
    let mut text = section(title, &results);
    for (name, part) in types.iter().filter(|(name, _)| !is_generic(name)) {
        text.push_str(&section(name, part));
    }
    text
}

fn section(title: &str, part: &Map<String, Value>) -> String {
    let mut text = format!("\n## {title}\n\n{}\n", part["description"].as_str().unwrap());
    let Some(fields) = part.get("properties").and_then(Value::as_object) else { return text };
    let required: Vec<&str> = part
        .get("required")
        .into_iter()
        .flat_map(|all| all.as_array().unwrap())
        .map(|one| one.as_str().unwrap())
        .collect();
    text.push_str("\n| field | type | meaning |\n| --- | --- | --- |\n");
    for (name, of) in fields {
        let optional = if required.contains(&name.as_str()) { "" } else { ", optional" };
        let meaning = of["description"].as_str().unwrap().replace('\n', " ");
        text.push_str(&format!("| `{name}` | {}{optional} | {meaning} |\n", type_name(of)));
    }
    text
}

/// A type in words: `integer`, `number or null`, `list of [Stream](#stream)`.
fn type_name(of: &Value) -> String {
    if let Some(name) = of["$ref"].as_str().and_then(|path| path.rsplit('/').next()) {
        return match name.strip_prefix("Found_for_") {
            Some(found) => format!("{} or [Missing](#missing)", link(found)),
            None => link(name),
        };
    }
    if let Some(any) = of["anyOf"].as_array() {
        return any.iter().map(type_name).collect::<Vec<_>>().join(" or ");
    }
    if let Some(several) = of["type"].as_array() {
        let mut of = of.clone();
        let each = several.iter().map(|one| {
            of["type"] = one.clone();
            type_name(&of)
        });
        return each.collect::<Vec<_>>().join(" or ");
    }
    match of["type"].as_str().unwrap_or("any value") {
        "array" if of["items"].is_object() => format!("list of {}", type_name(&of["items"])),
        "array" => {
            let items = of["prefixItems"].as_array().unwrap().iter().map(type_name);
            format!("list: {}", items.collect::<Vec<_>>().join(", "))
        }
        "object" if of["additionalProperties"].is_object() => {
            format!("object of {}", type_name(&of["additionalProperties"]))
        }
        "string" => "text".to_owned(),
        other => other.to_owned(),
    }
}

fn link(name: &str) -> String {
    format!("[{name}](#{})", name.to_lowercase())
}

/// Runs the validator of Debian's python3-jsonschema.
fn validate(schema: &Path, documents: &[PathBuf]) -> Result<(), String> {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/validate.py");
    let mut python = Command::new("/usr/bin/python3");
    let output = python.arg(script).arg(schema).args(documents).output().unwrap();
    let text = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap()).concat();
    if output.status.success() { Ok(()) } else { Err(text) }
}

#[test]
fn documents_satisfy_the_schema_and_broken_ones_do_not() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("json_schema");
    std::fs::create_dir_all(&folder).unwrap();
    let file = |name: &str, text: &[u8]| {
        let path = folder.join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    let schema = file("schema.json", json_schema().as_bytes());
    let records =
        [fixture::four_corners(), fixture::troubled(), fixture::records::experiment(Vec::new())];
    let mut documents: Vec<Vec<u8>> = Vec::new();
    for record in &records {
        let mut text = Vec::new();
        write(&analyze(record), &mut text).unwrap();
        documents.push(text);
    }
    let named = documents.iter().enumerate();
    let paths: Vec<PathBuf> =
        named.map(|(index, text)| file(&format!("{index}.json"), text)).collect();
    assert_eq!(validate(&schema, &paths), Ok(()));

    type Break = fn(&mut Value);
    let broken: [(&str, Break); 4] = [
        ("id", |document| document["id"] = Value::Null),
        ("seed", |document| {
            document.as_object_mut().unwrap().remove("seed");
        }),
        ("operation", |document| {
            document["load_points"][0]["merged"]["total"]["data"]["operation"] = 1.into();
        }),
        ("floor", |document| document["curves"][0]["floor"] = "none".into()),
    ];
    for (name, break_it) in broken {
        let mut document: Value = serde_json::from_slice(&documents[0]).unwrap();
        break_it(&mut document);
        let path = file("broken.json", document.to_string().as_bytes());
        let problem = validate(&schema, &[path]).expect_err(name);
        assert!(problem.contains(name), "{name}: {problem}");
    }
}

/// An application that reads and syncs, and a trace without times.
const TRACES: [&str; 2] = [
    "fio version 3 iolog\n0 /f open\n1000 /f read 0 4096\n2000 /f read 4096 4096\n2500 /f datasync\n\
     9000 /f write 40960 8192\n",
    "fio version 2 iolog\n/f open\n/f read 0 4096\n",
];

#[test]
fn observations_satisfy_their_schema_and_broken_ones_do_not() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("observation_schema");
    std::fs::create_dir_all(&folder).unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    let schema = file("schema.json", &report::observe::json::json_schema());
    let document = |trace: &str| {
        let found = observe::observe(trace.as_bytes(), &observe::Options::default()).unwrap();
        let mut text = Vec::new();
        report::observe::json::write(&found, &observe::Profile::of(&found), &mut text).unwrap();
        String::from_utf8(text).unwrap()
    };
    let documents = TRACES.map(document);
    let named = documents.iter().enumerate();
    let paths: Vec<PathBuf> = named.map(|(at, text)| file(&format!("{at}.json"), text)).collect();
    assert_eq!(validate(&schema, &paths), Ok(()));
    type Break = fn(&mut Value);
    let broken: [(&str, Break); 3] = [
        ("operations", |document| document["operations"] = "many".into()),
        ("pattern", |document| document["experiment"]["streams"][0]["pattern"] = "zigzag".into()),
        ("runs", |document| {
            document.as_object_mut().unwrap().remove("runs");
        }),
    ];
    for (name, break_it) in broken {
        let mut document: Value = serde_json::from_str(&documents[0]).unwrap();
        break_it(&mut document);
        let path = file("broken.json", &document.to_string());
        let problem = validate(&schema, &[path]).expect_err(name);
        assert!(problem.contains(name), "{name}: {problem}");
    }
}
