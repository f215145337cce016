//! Results as JUnit XML, which CI systems display as tests: one case for each condition or compared
//! load point.
//!
//! There is no official schema; element and attribute names are those that Jenkins, GitHub, GitLab
//! and Azure Pipelines read (<https://github.com/testmoapp/junitxml>).

use std::io::{self, Write};

use quick_xml::Writer;
use quick_xml::events::{BytesDecl, Event};
use units::Utc;

/// A file of test cases.
#[derive(Clone, Debug, PartialEq)]
pub struct Suite {
    /// What was tested.
    pub name: String,
    /// When it began, in milliseconds since 1970.
    pub started_unix_ms: u64,
    /// The cases.
    pub cases: Vec<Case>,
}

/// One test case.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// What it is about; CI systems group by this.
    pub class: String,
    /// The condition or the load point.
    pub name: String,
    /// How long it was measured, in nanoseconds.
    pub window_ns: u64,
    /// The result.
    pub result: CaseResult,
}

/// The result of a test case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CaseResult {
    /// As required.
    Passed,
    /// Not as required, and why.
    Failed(String),
    /// Inconclusive, and why.
    Skipped(String),
}

impl CaseResult {
    /// An inconclusive result, which `strict` makes a failure.
    pub fn inconclusive(message: String, strict: bool) -> CaseResult {
        if strict { CaseResult::Failed(message) } else { CaseResult::Skipped(message) }
    }
}

/// Writes the suite.
///
/// # Errors
/// Errors of `out`.
pub fn write(suite: &Suite, out: &mut dyn Write) -> io::Result<()> {
    let count = |is: fn(&CaseResult) -> bool| {
        suite.cases.iter().filter(|case| is(&case.result)).count().to_string()
    };
    let counts = [
        ("tests", suite.cases.len().to_string()),
        ("failures", count(|result| matches!(result, CaseResult::Failed(_)))),
        ("errors", "0".to_owned()),
        ("skipped", count(|result| matches!(result, CaseResult::Skipped(_)))),
        ("time", seconds(suite.cases.iter().map(|case| case.window_ns).sum())),
    ];
    let counts = || counts.iter().map(|(name, value)| (*name, value.as_str()));
    let started = Utc::from_unix_ms(suite.started_unix_ms);
    let (name, timestamp) = (text(&suite.name), format!("{}T{}", started.date(), started.time()));
    let mut xml = Writer::new_with_indent(&mut *out, b' ', 2);
    xml.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
    xml.create_element("testsuites").with_attributes(counts()).write_inner_content(|xml| {
        let element = xml.create_element("testsuite").with_attribute(("name", name.as_str()));
        let element = element.with_attribute(("timestamp", timestamp.as_str()));
        element
            .with_attributes(counts())
            .write_inner_content(|xml| suite.cases.iter().try_for_each(|one| case(one, xml)))?;
        Ok(())
    })?;
    writeln!(out)
}

fn case<W: Write>(case: &Case, xml: &mut Writer<W>) -> io::Result<()> {
    let attributes = [
        ("classname", text(&case.class)),
        ("name", text(&case.name)),
        ("time", seconds(case.window_ns)),
    ];
    let attributes = attributes.iter().map(|(name, value)| (*name, value.as_str()));
    let element = xml.create_element("testcase").with_attributes(attributes);
    let (child, message) = match &case.result {
        CaseResult::Passed => {
            element.write_empty()?;
            return Ok(());
        }
        CaseResult::Failed(message) => ("failure", text(message)),
        CaseResult::Skipped(message) => ("skipped", text(message)),
    };
    element.write_inner_content(|xml| {
        xml.create_element(child).with_attribute(("message", message.as_str())).write_empty()?;
        Ok(())
    })?;
    Ok(())
}

fn seconds(ns: u64) -> String {
    format!("{}.{:03}", ns / 1_000_000_000, ns / 1_000_000 % 1000)
}

/// Text for an attribute on one line. XML 1.0 has no form for most control characters.
fn text(text: &str) -> String {
    let printable = |c: char| match c {
        '\n' | '\r' | '\t' => ' ',
        c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => '\u{fffd}',
        c => c,
    };
    text.chars().map(printable).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case(name: &str, result: CaseResult) -> Case {
        Case { class: "a".to_owned(), name: name.to_owned(), window_ns: 1_234_567_890, result }
    }

    #[test]
    fn markup_and_control_characters_in_names_give_valid_xml_with_the_right_counts() {
        let suite = Suite {
            name: "<oltp> & \"log\"".to_owned(),
            started_unix_ms: 1_795_241_733_000,
            cases: vec![
                case("p99 > 2ms\u{1b}[31m", CaseResult::Failed("a < b,\n c > 'd'".to_owned())),
                case("ok", CaseResult::Passed),
                case("maybe", CaseResult::inconclusive("too few".to_owned(), false)),
                case("surely", CaseResult::inconclusive("too few".to_owned(), true)),
            ],
        };
        let mut out = Vec::new();
        write(&suite, &mut out).expect("a vector takes everything");
        let text = String::from_utf8(out).expect("XML is UTF-8");
        let xml = roxmltree::Document::parse(&text).expect("it is XML");
        let element = xml.root_element().first_element_child().expect("a test suite");
        let attribute = |name: &str| element.attribute(name).expect("it has the attribute");
        assert_eq!(attribute("name"), suite.name);
        assert_eq!(attribute("timestamp"), "2026-11-21T06:15:33");
        let counts = ["tests", "failures", "errors", "skipped", "time"].map(attribute);
        assert_eq!(counts, ["4", "2", "0", "1", "4.938"]);
        let cases: Vec<_> = element.children().filter(|one| one.is_element()).collect();
        assert_eq!(cases[0].attribute("name"), Some("p99 > 2ms\u{fffd}[31m"));
        assert_eq!(cases[0].attribute("time"), Some("1.234"));
        let failure = cases[0].first_element_child().expect("a failure");
        assert_eq!(failure.attribute("message"), Some("a < b,  c > 'd'"));
        assert_eq!(cases[1].first_element_child(), None);
        assert!(cases[2].first_element_child().is_some_and(|one| one.has_tag_name("skipped")));
        assert!(cases[3].first_element_child().is_some_and(|one| one.has_tag_name("failure")));
    }
}
