//! The part of JSON Schema (draft 2020-12) that the schema of experiments uses: an independent check.
//! Unknown keywords fail the test.

use regex_lite::Regex;
use serde_json::Value;

/// The parts of `value` that the schema does not allow, with their paths.
pub(crate) fn violations(schema: &Value, value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    check(schema, value, "", &mut found);
    found
}

fn check(schema: &Value, value: &Value, path: &str, found: &mut Vec<String>) {
    let rules = schema.as_object().expect("a schema is an object");
    let mut wrong = |what: String| found.push(format!("{path}: {what}, found {value}"));
    for (keyword, rule) in rules {
        let holds = match keyword.as_str() {
            "$schema" | "title" | "description" | "default" => true,
            "type" => has_type(value, rule.as_str().expect("type is a string")),
            "enum" => rule.as_array().expect("enum is an array").contains(value),
            "const" => rule == value,
            "minLength" => value.as_str().is_none_or(|t| t.chars().count() as u64 >= number(rule)),
            "maxLength" => value.as_str().is_none_or(|t| t.chars().count() as u64 <= number(rule)),
            "pattern" => value.as_str().is_none_or(|text| matches(rule, text)),
            "minimum" => value.as_f64().is_none_or(|n| n >= float(rule)),
            "maximum" => value.as_f64().is_none_or(|n| n <= float(rule)),
            "exclusiveMinimum" => value.as_f64().is_none_or(|n| n > float(rule)),
            "minItems" => value.as_array().is_none_or(|a| a.len() as u64 >= number(rule)),
            "minProperties" => value.as_object().is_none_or(|o| o.len() as u64 >= number(rule)),
            "required" => value.as_object().is_none_or(|object| {
                let names = rule.as_array().expect("required is an array");
                names.iter().all(|name| object.contains_key(name.as_str().expect("a name")))
            }),
            "anyOf" => {
                let forms = rule.as_array().expect("anyOf is an array");
                forms.iter().any(|form| violations(form, value).is_empty())
            }
            "propertyNames" => value.as_object().is_none_or(|object| {
                object.keys().all(|key| violations(rule, &Value::String(key.clone())).is_empty())
            }),
            "items" | "properties" | "additionalProperties" => true,
            unknown => panic!("unknown keyword {unknown}"),
        };
        if !holds {
            wrong(format!("{keyword} does not hold"));
        }
    }
    if let (Some(items), Some(array)) = (rules.get("items"), value.as_array()) {
        for (index, item) in array.iter().enumerate() {
            check(items, item, &format!("{path}/{index}"), found);
        }
    }
    let Some(object) = value.as_object() else { return };
    for (key, inner) in object {
        let path = format!("{path}/{key}");
        match (rules.get("properties").and_then(|p| p.get(key)), rules.get("additionalProperties"))
        {
            (Some(form), _) => check(form, inner, &path, found),
            (None, Some(Value::Bool(false))) => found.push(format!("{path}: unknown key")),
            (None, Some(form @ Value::Object(_))) => check(form, inner, &path, found),
            (None, _) => {}
        }
    }
}

fn has_type(value: &Value, name: &str) -> bool {
    match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        other => panic!("unknown type {other}"),
    }
}

fn matches(pattern: &Value, text: &str) -> bool {
    Regex::new(pattern.as_str().expect("a pattern is a string")).unwrap().is_match(text)
}

fn number(rule: &Value) -> u64 {
    rule.as_u64().expect("a limit is a number")
}

fn float(rule: &Value) -> f64 {
    rule.as_f64().expect("a limit is a number")
}
