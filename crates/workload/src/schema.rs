//! The JSON Schema (draft 2020-12) of an experiment, for completion and checks in editors.
//!
//! It is generated from the parser's table. It describes the form of values; only the parser checks
//! limits that depend on other values or on units (a multiple of 512 bytes).

use serde_json::{Map, Value as Json, json};

use crate::arrival::Process;
use crate::keys::{
    self, APPEND, DEPTH, DUTY, FILE_SIZE_MAX, FILES, FILES_PER_DIRECTORY, HOT_SHARE, Key, Kind,
    NAME_LENGTH, OFFSET, Presence, SCENARIO_COUNT, SCHEDULE_TIME, SEEKS, SIGMA, STRIDE, Section,
    THINK_TIME, TRANSFER, WEIGHT, WIDTH,
};
use crate::name_reader::on_names;
use crate::names::NameSpread;

/// Number and unit of a size; case is ignored.
const SIZE: &str = "[0-9][0-9_]*(\\.[0-9_]*)? *([bB]|[bB]ytes?|[kKmMgGtTpP]([iI]?[bB]?))?";
const TIME: &str = "(0|([0-9][0-9_]*(\\.[0-9_]*)? \
                    *(ns|us|µs|usec|ms|msec|s|sec|seconds?|m|min|minutes?|h|hours?|d|days?) *)+)";
const SHARE: &str = "[0-9]+(\\.[0-9]*)? *%?";
const RATE: &str = "[0-9][0-9_]*(\\.[0-9_]*)? *[kKmM]? *([iI]?[oO][pP][sS])?(/s)?";
const COUNT: &str = "[0-9][0-9_]*(\\.[0-9_]+)? *[kKmMgG]?";
const SPEED: &str = "[0-9]+(\\.[0-9]*)?x?";
const SKEW: &str = "[0-9]+(\\.[0-9]*)?";

/// The schema, as text that ends with a line break.
pub fn json_schema() -> String {
    let mut properties = section(Section::Experiment);
    if let Some(one) = properties.remove("target") {
        properties.insert("target".to_owned(), one_or_more_targets(one));
    }
    properties
        .insert("run".to_owned(), object("How runs are executed.", section(Section::Run), &[]));
    let search = section(Section::Search);
    properties
        .insert("search".to_owned(), object("Load points chosen from measurements.", search, &[]));
    let metric = section(Section::Metric);
    properties.insert(
        "metric".to_owned(),
        object("A business metric as the load.", metric, &required(Section::Metric)),
    );
    properties.insert(
        "stream".to_owned(),
        json!({
            "description": "Streams of operations that run together, each with its own results.",
            "type": "object",
            "minProperties": 1,
            "propertyNames": { "pattern": "^[A-Za-z0-9_-]{1,40}$" },
            "additionalProperties": object("One stream.", section(Section::Stream), &[]),
        }),
    );
    let mut variant = section(Section::Variant);
    variant.extend(section(Section::Stream));
    properties.insert(
        "variant".to_owned(),
        json!({
            "description": "Named sets of stream settings, measured one after another.",
            "type": "array",
            "items": object("Settings that override those of \
                             the streams.", variant, &required(Section::Variant)),
        }),
    );
    let mut needed = required(Section::Experiment);
    needed.push("stream");
    let Json::Object(body) = object("An experiment of fourcorners.", properties, &needed) else {
        return String::new();
    };
    let mut schema = Map::new();
    schema.insert("$schema".to_owned(), json!("https://json-schema.org/draft/2020-12/schema"));
    schema.insert("title".to_owned(), json!("fourcorners experiment"));
    schema.extend(body);
    format!("{:#}\n", Json::Object(schema))
}

/// A target, or tables of several.
fn one_or_more_targets(one: Json) -> Json {
    let tables = json!({
        "type": "object",
        "minProperties": 1,
        "propertyNames": { "pattern": "^[A-Za-z0-9_-]{1,40}$" },
        "additionalProperties": object("One target.", section(Section::Target), &[]),
    });
    json!({ "description": one["description"], "anyOf": [one, tables] })
}

fn object(description: &str, properties: Map<String, Json>, required: &[&str]) -> Json {
    json!({
        "description": description,
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

/// Keys that the section itself must have. Those of a stream may come from a variant or the command
/// line instead.
fn required(section: Section) -> Vec<&'static str> {
    let needed = |key: &&Key| key.presence == Presence::Required;
    keys::keys_of(section).filter(needed).map(|key| key.name).collect()
}

fn section(section: Section) -> Map<String, Json> {
    keys::keys_of(section).map(|key| (key.name.to_owned(), property(key))).collect()
}

fn property(key: &Key) -> Json {
    let mut schema = Map::new();
    schema.insert("description".to_owned(), json!(description(key)));
    if let Presence::Default(text) = key.presence
        && let Ok(default) = serde_json::from_str::<Json>(text)
    {
        schema.insert("default".to_owned(), default);
    }
    let mut forms = forms(key.kind, key.sweep);
    if key.sweep {
        let one = json!({ "anyOf": forms });
        forms.push(json!({ "type": "array", "items": one, "minItems": 1 }));
    }
    schema.insert("anyOf".to_owned(), Json::Array(forms));
    Json::Object(schema)
}

fn description(key: &Key) -> String {
    let sweep = if key.sweep { " Several values form a sweep." } else { "" };
    format!("{} Allowed: {}.{sweep}", key.doc, key.kind.allowed())
}

/// The forms of a value of `kind`; with `sweep` also ranges.
fn forms(kind: Kind, sweep: bool) -> Vec<Json> {
    match kind {
        Kind::Text => vec![json!({ "type": "string", "minLength": 1, "maxLength": 100 })],
        Kind::Word(words) => vec![json!({ "enum": words })],
        Kind::Flag => vec![json!({ "type": "boolean" })],
        Kind::Requirements => {
            let condition = json!({ "type": "string", "pattern": "[<>]" });
            vec![condition.clone(), json!({ "type": "array", "items": condition })]
        }
        Kind::TargetNames => {
            let name = json!({ "type": "string", "minLength": 1, "maxLength": 100 });
            vec![name.clone(), json!({ "type": "array", "items": name, "minItems": 1 })]
        }
        Kind::Duration { .. } => vec![text(TIME, sweep), json!({ "const": 0 })],
        Kind::Bytes { max, .. } => {
            vec![text(SIZE, sweep), json!({ "type": "integer", "minimum": 1, "maximum": max })]
        }
        Kind::FileSize => {
            let max = FILE_SIZE_MAX;
            vec![text(SIZE, sweep), json!({ "type": "integer", "minimum": 0, "maximum": max })]
        }
        Kind::FileSizes => file_sizes(),
        Kind::Replay => {
            let name = json!({ "type": "string", "minLength": 1, "maxLength": 100 });
            let fields = [
                ("list", name.clone()),
                ("speed", nested(Kind::Speed, sweep)),
                ("repeat", json!({ "type": "boolean" })),
            ];
            vec![name, table(&fields, &["list"])]
        }
        Kind::Speed => vec![
            json!({ "const": "max" }),
            text(SPEED, sweep),
            json!({ "type": "number", "minimum": 0.001, "maximum": 1000 }),
        ],
        Kind::Names => vec![names()],
        Kind::Mix => {
            let share = json!({ "anyOf": self::forms(WEIGHT, false) });
            let kinds: Vec<(&str, Json)> =
                on_names().map(|kind| (kind.name(), share.clone())).collect();
            vec![table(&kinds, &[])]
        }
        Kind::Scenario => {
            let count = json!({ "anyOf": self::forms(SCENARIO_COUNT, false) });
            let mut fields: Vec<(&str, Json)> =
                on_names().map(|kind| (kind.name(), count.clone())).collect();
            fields.push(("think", json!({ "anyOf": self::forms(Kind::ThinkTime, false) })));
            fields.push(("at", json!({ "anyOf": self::forms(OFFSET, false) })));
            vec![json!({ "type": "array", "items": table(&fields, &[]), "minItems": 1 })]
        }
        Kind::Count { min, max } => {
            vec![text(COUNT, sweep), json!({ "type": "integer", "minimum": min, "maximum": max })]
        }
        Kind::Share { min_permille, max_permille } => vec![
            text(SHARE, sweep),
            json!({
                "type": "integer",
                "minimum": min_permille.div_ceil(10),
                "maximum": max_permille / 10,
            }),
        ],
        Kind::Rate => {
            vec![text(RATE, sweep), json!({ "type": "number", "minimum": 0.001, "maximum": 1e9 })]
        }
        Kind::ScheduledRate => {
            vec![text(RATE, false), json!({ "type": "number", "minimum": 0, "maximum": 1e9 })]
        }
        Kind::ThinkTime => {
            let mut forms = forms(THINK_TIME, sweep);
            let time = json!({ "anyOf": self::forms(THINK_TIME, false) });
            forms.push(table(&[("exponential", time.clone())], &["exponential"]));
            let two = json!({ "type": "array", "items": time, "minItems": 2, "maxItems": 2 });
            forms.push(table(&[("uniform", two)], &["uniform"]));
            forms
        }
        Kind::Skew => vec![
            text(SKEW, sweep),
            json!({ "type": "number", "exclusiveMinimum": 0, "maximum": 10 }),
        ],
        Kind::TransferSizes => {
            let mut forms = forms(TRANSFER, sweep);
            let share = json!({ "anyOf": self::forms(WEIGHT, false) });
            forms.push(json!({
                "type": "object",
                "minProperties": 1,
                "propertyNames": { "pattern": format!("^{SIZE}$") },
                "additionalProperties": share,
            }));
            forms
        }
        Kind::Pattern => vec![
            json!({ "enum": ["sequential", "random"] }),
            table(&[("zipf", nested(Kind::Skew, sweep))], &["zipf"]),
            table(
                &[(
                    "hot_set",
                    table(
                        &[
                            ("area", nested(HOT_SHARE, sweep)),
                            ("accesses", nested(HOT_SHARE, sweep)),
                        ],
                        &["area", "accesses"],
                    ),
                )],
                &["hot_set"],
            ),
            table(&[("seek", nested(SEEKS, sweep))], &["seek"]),
            table(&[("stride", nested(STRIDE, sweep))], &["stride"]),
        ],
        Kind::Arrival => vec![
            json!({ "const": "closed" }),
            table(
                &[("closed", table(&[("think_time", nested(THINK_TIME, sweep))], &[]))],
                &["closed"],
            ),
            table(&[("constant", nested(Kind::Rate, sweep))], &["constant"]),
            table(&[("poisson", nested(Kind::Rate, sweep))], &["poisson"]),
            schedule(),
        ],
    }
}

/// A tree of names.
fn names() -> Json {
    let one = |kind| json!({ "anyOf": forms(kind, false) });
    let fields = [
        ("files", one(FILES)),
        ("depth", one(DEPTH)),
        ("width", one(WIDTH)),
        ("files_per_directory", one(FILES_PER_DIRECTORY)),
        ("name_length", one(NAME_LENGTH)),
        ("spread", json!({ "enum": NameSpread::NAMES })),
        ("size", one(Kind::FileSizes)),
        ("append", one(APPEND)),
    ];
    table(&fields, &["files"])
}

/// The sizes of files: one, several with their shares, a distribution, or a file.
fn file_sizes() -> Vec<Json> {
    let one = |kind| json!({ "anyOf": forms(kind, false) });
    let size = || one(Kind::FileSize);
    let lognormal = [("median", size()), ("sigma", one(SIGMA)), ("max", size())];
    let mut forms = forms(Kind::FileSize, false);
    forms.push(json!({
        "type": "object",
        "minProperties": 1,
        "propertyNames": { "pattern": format!("^{SIZE}$") },
        "additionalProperties": one(WEIGHT),
    }));
    forms.push(table(&[("lognormal", table(&lognormal, &["median", "sigma"]))], &["lognormal"]));
    forms.push(table(&[("file", json!({ "type": "string", "minLength": 1 }))], &["file"]));
    forms
}

/// A schedule: a list of segments, and the process of arrivals within them.
fn schedule() -> Json {
    let one = |kind| json!({ "anyOf": forms(kind, false) });
    let (rate, time) = (|| one(Kind::ScheduledRate), || one(SCHEDULE_TIME));
    let timed = |name: &str, form: Json, required: &[&str]| {
        table(&[(name, form), ("for", time())], required)
    };
    let two = json!({ "type": "array", "items": rate(), "minItems": 2, "maxItems": 2 });
    let sine = [("mean", rate()), ("amplitude", rate()), ("period", time())];
    let bursts = [
        ("rate", rate()),
        ("base", rate()),
        ("period", time()),
        ("length", time()),
        ("duty", one(DUTY)),
    ];
    let segments = [
        timed("constant", rate(), &["constant"]),
        timed("ramp", two, &["ramp", "for"]),
        timed("sine", table(&sine, &["mean", "amplitude", "period"]), &["sine"]),
        timed("bursts", table(&bursts, &["rate", "period"]), &["bursts"]),
        table(&[("trace", json!({ "type": "string", "minLength": 1 }))], &["trace"]),
    ];
    let list = json!({ "type": "array", "items": { "anyOf": segments }, "minItems": 1 });
    table(&[("schedule", list), ("process", json!({ "enum": Process::NAMES }))], &["schedule"])
}

fn table(fields: &[(&str, Json)], required: &[&str]) -> Json {
    let fields: Map<String, Json> =
        fields.iter().map(|(name, form)| ((*name).to_owned(), form.clone())).collect();
    json!({
        "type": "object",
        "properties": fields,
        "required": required,
        "additionalProperties": false,
    })
}

/// A value inside a table, which may be a sweep.
fn nested(kind: Kind, sweep: bool) -> Json {
    let mut forms = forms(kind, sweep);
    if sweep {
        let one = json!({ "anyOf": forms });
        forms.push(json!({ "type": "array", "items": one, "minItems": 1 }));
    }
    json!({ "anyOf": forms })
}

/// Text of the form `unit`, or a range of such values.
fn text(unit: &str, sweep: bool) -> Json {
    let one = format!(" *{unit} *");
    let range = format!("{one}\\.\\.{one} +([xX*][0-9]+|step +{unit}) *");
    let pattern = if sweep { format!("^({one}|{range})$") } else { format!("^{one}$") };
    json!({ "type": "string", "pattern": pattern })
}
