//! Published figures beside a record: in every output, with the same shares, and nowhere unless
//! they are given.

#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod fixture;

use std::sync::LazyLock;

use analysis::{Findings, analyze};
use report::expect::published::Published;
use report::record::Record;
use report::{html, json, markdown, text};
use serde_json::Value;
use units::part_of;

/// The four corners with what was published beside them. To fit the model takes time, so once.
static CORNERS: LazyLock<(Findings, Published)> = LazyLock::new(|| {
    let findings = analyze(&fixture::four_corners());
    let published = fixture::published::beside(&findings);
    (findings, published)
});

fn corners() -> (&'static Findings, Record<'static>) {
    let (findings, published) = &*CORNERS;
    (findings, Record { findings, published: Some(published) })
}

fn document(record: Record<'_>) -> Value {
    let mut out = Vec::new();
    json::write(record, &mut out).unwrap();
    serde_json::from_slice(&out).unwrap()
}

fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn every_output_of_a_record_says_which_share_of_a_published_figure_is_reached() {
    let (findings, record) = corners();
    let document = document(record);
    let table = text::summary(record, 80);
    assert!(table.lines().all(|line| line.chars().count() <= 80), "{table}");
    let (page, document_text) = (html::render(record).unwrap(), markdown::render(record));
    let outputs = [flat(&table), flat(&page.replace("&#x2f;", "/")), flat(&document_text)];
    let expectations = document["published"]["expectations"].as_array().unwrap();
    assert_eq!(expectations.len(), 4);
    for expectation in expectations {
        let figures = expectation["figures"].as_array().unwrap();
        let known = figures.iter().find(|figure| figure["explained"].is_f64()).unwrap();
        let share = part_of(known["measured_of_published"].as_f64().unwrap());
        let reached =
            format!("You reach {share} the published figure {}", known["id"].as_str().unwrap());
        for output in &outputs {
            assert!(output.contains("Beside published figures"), "{output}");
            assert!(output.contains(&reached), "{reached}: {output}");
            assert!(output.contains("A cache of this host answered"), "{output}");
            assert!(output.contains("2 more variants are left out here"), "{output}");
        }
        // What is said in a terminal is short: the figures are a command away.
        for figure in figures {
            let differs = format!("{} differs:", figure["id"].as_str().unwrap());
            assert!(!outputs[0].contains(&differs));
            assert!(outputs[1..].iter().all(|output| output.contains(&differs)), "{differs}");
        }
    }
    assert!(outputs[0].contains(&format!("fourcorners expect --run {} --explain", findings.id)));
}

#[test]
fn published_times_explained_times_what_is_left_is_what_was_measured() {
    let document = document(corners().1);
    let mut compared = 0;
    for expectation in document["published"]["expectations"].as_array().unwrap() {
        let number = |value: &Value| value.as_f64();
        let rate = number(&expectation["measured"]["ops_per_s"]).unwrap();
        let transfer = number(&expectation["transfer_bytes"]).unwrap();
        for figure in expectation["figures"].as_array().unwrap() {
            let published = number(&figure["value"]).unwrap();
            let mine = match figure["unit"].as_str().unwrap() {
                "ops/s" => rate,
                "MiB/s" => rate * transfer / f64::from(1 << 20),
                other => panic!("a rate in {other}"),
            };
            let share = number(&figure["measured_of_published"]).unwrap();
            assert!((share * published / mine - 1.0).abs() < 1e-6, "{figure}");
            let Some(explained) = number(&figure["explained"]) else { continue };
            let left = number(&figure["unexplained"]).unwrap();
            assert!((explained * left / share - 1.0).abs() < 1e-6, "{figure}");
            compared += 1;
        }
    }
    assert!(compared >= 4, "{compared}");
}

#[test]
fn where_nothing_differs_nothing_is_said_to_explain_the_difference() {
    let (findings, published) = &*CORNERS;
    let mut one = published.expectations[0].clone();
    let near = one.near.iter_mut().find(|near| near.here_ops_per_s.is_some()).unwrap();
    near.steps.clear();
    let here = near.here_ops_per_s.unwrap();
    for (share, verdict) in [
        (0.01, "You measured 1.0 % of that prediction: the model does not explain the rest."),
        (1.0, "measured 100 % of that prediction: no further from it than the model may be off."),
        (90.0, "measured 90.0 times that prediction: the model does not explain that it is more."),
    ] {
        let mut one = one.clone();
        one.measured.as_mut().unwrap().ops_per_s = share * here;
        let published = Published { expectations: vec![one], ..Published::default() };
        let record = Record { findings, published: Some(&published) };
        let said = flat(&markdown::render(record));
        assert!(said.contains(verdict), "{verdict}: {said}");
        assert!(said.contains("so it predicts the published figure"), "{said}");
        assert!(!said.contains("explained, by the model"), "{said}");
    }
}

#[test]
fn a_record_alone_has_no_such_section() {
    let (findings, _) = corners();
    let record = Record::from(findings);
    let page = html::render(record).unwrap();
    for output in [text::summary(record, 80), page.clone(), markdown::render(record)] {
        assert!(!output.contains("Beside published figures"), "{output}");
    }
    assert!(self::document(record).get("published").is_none());
    let document = markdown::render(record);
    for (anchor, name) in [
        ("prediction", "Prediction"),
        ("expectations", "Expectations"),
        ("sizing", "Sizing"),
        ("hosts-and-datastores", "Hosts and datastores"),
    ] {
        assert!(!page.contains(&format!("id=\"method-{anchor}\"")), "{name} is not there");
        assert!(!document.contains(&format!("- **{name}**:")), "{name} is not there");
    }
}

#[test]
fn on_the_page_the_section_has_its_anchor_its_links_and_no_markup_of_others() {
    let record = corners().1;
    let alone = html::render(record).unwrap();
    let two = [record, record];
    let several = html::render_all(&two, &[], report::chart::theme::Theme::Auto).unwrap();
    for (page, anchors) in
        [(&alone, vec!["published"]), (&several, vec!["r1-published", "r2-published"])]
    {
        let body = page.split("<script").next().unwrap();
        for anchor in anchors {
            assert_eq!(body.matches(&format!("<h2 id=\"{anchor}\">")).count(), 1, "{anchor}");
            assert_eq!(body.matches(&format!("href=\"#{anchor}\"")).count(), 1, "{anchor}");
        }
        assert_eq!(body.matches("id=\"method-prediction\"").count(), 1);
        assert!(body.contains("&lt;Azure NetApp Files&gt;"));
        for link in body.split("href=\"#").skip(1) {
            let link = link.split('"').next().unwrap();
            assert!(body.contains(&format!("id=\"{link}\"")), "#{link} leads nowhere");
        }
    }
}
