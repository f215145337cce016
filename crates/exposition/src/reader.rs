//! Reads what exporters serve: the Prometheus text format 0.0.4, and OpenMetrics.
//!
//! It is strict: a text with a malformed line is refused as a whole, with line and column, because
//! a truncated or foreign text must not become numbers. Timestamps and exemplars are skipped.

use std::collections::BTreeMap;

/// One sample of a text.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample<'t> {
    /// The metric's name.
    pub name: &'t str,
    /// The labels as written, without braces: `device="lo"`.
    pub labels: &'t str,
    /// Whether the value only rises, until it is reset: a counter, or a part of a histogram.
    pub is_counter: bool,
    /// The value.
    pub value: f64,
}

/// A malformed line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {reason}")]
pub struct Malformed {
    /// From 1.
    pub line: usize,
    /// From 1, in characters.
    pub column: usize,
    /// What is expected there.
    pub reason: &'static str,
}

/// Suffixes of the samples of a counter (OpenMetrics), a histogram or a summary.
const COUNTER_SUFFIXES: [&str; 4] = ["_total", "_bucket", "_sum", "_count"];

/// The samples of a text, in its order.
///
/// # Errors
/// The first malformed line.
pub fn samples(text: &str) -> Result<Vec<Sample<'_>>, Malformed> {
    let mut types: BTreeMap<&str, &str> = BTreeMap::new();
    let mut samples = Vec::new();
    let mut is_ended = false;
    for (index, line) in text.lines().enumerate() {
        let at = |(rest, reason): (&str, &'static str)| Malformed {
            line: index + 1,
            column: line[..line.len() - rest.len()].chars().count() + 1,
            reason,
        };
        if is_ended && !line.is_empty() {
            return Err(at((line, "nothing follows `# EOF`")));
        }
        if let Some(comment) = line.strip_prefix('#') {
            is_ended = comment == " EOF";
            let mut words = comment.split_ascii_whitespace();
            if let (Some("TYPE"), Some(name), Some(kind)) =
                (words.next(), words.next(), words.next())
            {
                types.insert(name, kind);
            }
        } else if !line.trim().is_empty() {
            let (name, labels, value) = sample(line).map_err(at)?;
            samples.push(Sample { name, labels, is_counter: is_counter(&types, name), value });
        }
    }
    Ok(samples)
}

fn is_counter(types: &BTreeMap<&str, &str>, name: &str) -> bool {
    if let Some(kind) = types.get(name) {
        return *kind == "counter";
    }
    let family = COUNTER_SUFFIXES.iter().find_map(|suffix| types.get(name.strip_suffix(suffix)?));
    family.is_some_and(|kind| matches!(*kind, "counter" | "histogram" | "summary"))
}

/// The rest of a line where something else is expected, and what.
type Unexpected<'t> = (&'t str, &'static str);

/// Name, labels and value of a line.
fn sample(line: &str) -> Result<(&str, &str, f64), Unexpected<'_>> {
    let (name, rest) = split_name(line, |c| c == ':').ok_or((line, "expected a metric's name"))?;
    let (labels, rest) = match rest.strip_prefix('{') {
        Some(inside) => labels(inside)?,
        None => ("", rest),
    };
    let value = rest.trim_start_matches([' ', '\t']);
    if value.len() == rest.len() {
        return Err((rest, "expected a space before the value"));
    }
    let end = value.find([' ', '\t']).unwrap_or(value.len());
    let number = match &value[..end] {
        "+Inf" | "Inf" => f64::INFINITY,
        "-Inf" => f64::NEG_INFINITY,
        "NaN" => f64::NAN,
        text if text.contains(|c: char| c.is_ascii_digit()) => {
            text.parse().map_err(|_| (value, "expected a number"))?
        }
        _ => return Err((value, "expected a number")),
    };
    let more = value[end..].trim_start_matches([' ', '\t']);
    let timestamp = more.split([' ', '\t']).next().unwrap_or_default();
    if !timestamp.is_empty() && timestamp != "#" && timestamp.parse::<f64>().is_err() {
        return Err((more, "expected a timestamp or the end of the line"));
    }
    Ok((name, labels, number))
}

/// Splits labels from what follows their closing brace.
fn labels(inside: &str) -> Result<(&str, &str), Unexpected<'_>> {
    let mut rest = inside;
    loop {
        rest = rest.trim_start_matches(' ');
        if let Some(after) = rest.strip_prefix('}') {
            let labels = &inside[..inside.len() - rest.len()];
            return Ok((labels.trim_end_matches([',', ' ']), after));
        }
        let (_, after) = split_name(rest, |_| false).ok_or((rest, "expected a label or `}`"))?;
        let value = after.strip_prefix("=\"").ok_or((after, "expected `=\"`"))?;
        rest = after_quote(value).ok_or((value, "the label's value has no closing `\"`"))?;
        match rest.strip_prefix(',') {
            Some(after) => rest = after,
            None if rest.starts_with('}') => {}
            None => return Err((rest, "expected `,` or `}`")),
        }
    }
}

/// What follows the first quotation mark that no backslash precedes.
fn after_quote(value: &str) -> Option<&str> {
    let mut is_escaped = false;
    for (index, c) in value.char_indices() {
        match c {
            '"' if !is_escaped => return Some(&value[index + 1..]),
            c => is_escaped = c == '\\' && !is_escaped,
        }
    }
    None
}

/// Splits a name from what follows it.
fn split_name(text: &str, is_also: fn(char) -> bool) -> Option<(&str, &str)> {
    let belongs = |c: char| c.is_ascii_alphanumeric() || c == '_' || is_also(c);
    let end = text.find(|c| !belongs(c)).unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    let begins_well = name.starts_with(|c: char| !c.is_ascii_digit());
    begins_well.then_some((name, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_have_name_labels_type_and_value() {
        let text = "# HELP a_total Counted.\n# TYPE a_total counter\n\
            a_total{device=\"a,\\\"}b\",mode=\"x\"} 12 1700000000000\n\
            # TYPE t summary\nt{quantile=\"0.5\"} NaN\nt_sum 1.5e3\n\
            # TYPE b counter\nb_total 3 # {id=\"1\"} 1.0\n\nfree:bytes -Inf\n# EOF\n";
        let seen: Vec<(&str, &str, bool, String)> = samples(text)
            .unwrap()
            .into_iter()
            .map(|one| (one.name, one.labels, one.is_counter, one.value.to_string()))
            .collect();
        let of = |name, labels, counter, value: &str| (name, labels, counter, value.to_owned());
        assert_eq!(
            seen,
            [
                of("a_total", "device=\"a,\\\"}b\",mode=\"x\"", true, "12"),
                of("t", "quantile=\"0.5\"", false, "NaN"),
                of("t_sum", "", true, "1500"),
                of("b_total", "", true, "3"),
                of("free:bytes", "", false, "-inf"),
            ]
        );
    }

    #[test]
    fn a_malformed_line_is_refused_with_its_position() {
        for (text, line, column, reason) in [
            ("<html>", 1, 1, "expected a metric's name"),
            ("a 1\nb", 2, 2, "expected a space before the value"),
            ("a one", 1, 3, "expected a number"),
            ("a nan", 1, 3, "expected a number"),
            ("a 1 x", 1, 5, "expected a timestamp or the end of the line"),
            ("a{b=1} 1", 1, 4, "expected `=\"`"),
            ("a{b=\"ü\" 1", 1, 8, "expected `,` or `}`"),
            ("a{b=\"1", 1, 6, "the label's value has no closing `\"`"),
            ("a{=\"1\"} 1", 1, 3, "expected a label or `}`"),
            ("a 1\n# EOF\nb 2\n", 3, 1, "nothing follows `# EOF`"),
        ] {
            assert_eq!(samples(text), Err(Malformed { line, column, reason }), "{text}");
        }
    }

    #[test]
    fn what_the_writer_writes_is_read() {
        use crate::writer::{Exposition, Format, MetricType};
        for format in [Format::Prometheus, Format::OpenMetrics] {
            let mut text = Exposition::new(format);
            let mut family = text.family("x_total", MetricType::Counter, "Counted.");
            family.sample(&[("of", "a\"b\\")], 7);
            let text = text.finish();
            let read = samples(&text).unwrap();
            assert_eq!((read[0].name, read[0].is_counter, read[0].value), ("x_total", true, 7.0));
        }
    }
}
