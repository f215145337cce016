//! The JSON Schema of results, generated from the types that write them.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;

use super::Document;

/// The schema (draft 2020-12) of the documents that [`write`](super::write) writes.
pub fn json_schema() -> String {
    schema_of::<Document<'static>>()
}

/// The schema of a type, whose parts are named after their purpose in the code: `CurveJson`.
pub(crate) fn schema_of<T: JsonSchema>() -> String {
    let generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    let schema = generator.into_root_schema_for::<T>();
    let text = serde_json::to_string_pretty(&schema).expect("a schema has only text keys");
    text.replace("Json\"", "\"")
}
