//! Published figures in the report of a record: in every output, with the same shares, and only if
//! they are given.

#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use crate::fixture;
use std::sync::LazyLock;

use analysis::{Findings, analyze};
use report::expect::published::Published;
use report::record::Record;
use report::{html, json, markdown, text};
use serde_json::Value;
use units::{OpsPerSec, part_of};

/// The four corners with published figures, made once because fitting the model takes time.
static CORNERS: LazyLock<(Findings, Published)> = LazyLock::new(|| {
    let findings = analyze(&fixture::four_corners());
    let published = fixture::published::published_for(&findings);
    (findings, published)
});

fn corners() -> (&'static Findings, Record<'static>) {
    let (findings, published) = &*CORNERS;
    (findings, Record { published: Some(published), ..Record::from(findings) })
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
fn every_output_has_the_share_of_a_published_figure_that_is_reached() {
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
        let share = part_of(known["measured_over_published"].as_f64().unwrap());
        let reached =
            format!("You reach {share} the published figure {}", known["id"].as_str().unwrap());
        for output in &outputs {
            assert!(output.contains("Comparison with published figures"), "{output}");
            assert!(output.contains(&reached), "{reached}: {output}");
            assert!(output.contains("cache served part of the reads"), "{output}");
            assert!(output.contains("2 more variants are not shown here"), "{output}");
        }
        // The text is short; another command lists the figures.
        for figure in figures {
            let differs = format!("{} differences:", figure["id"].as_str().unwrap());
            assert!(!outputs[0].contains(&differs));
            assert!(outputs[1..].iter().all(|output| output.contains(&differs)), "{differs}");
        }
    }
    assert!(outputs[0].contains(&format!("fourcorners expect --run {} --full", findings.id)));
}

#[test]
fn published_x_explained_x_unexplained_is_the_measured_rate() {
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
            let share = number(&figure["measured_over_published"]).unwrap();
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
fn without_differences_nothing_is_explained_by_the_model() {
    let (findings, published) = &*CORNERS;
    let mut one = published.expectations[0].clone();
    let near = one.near.iter_mut().find(|near| near.here.is_some()).unwrap();
    near.steps.clear();
    let here = near.here.unwrap().get();
    for (share, verdict) in [
        (0.01, "You measured 1.0 % of that prediction: the model does not explain the rest."),
        (1.0, "measured 100 % of that prediction: within the model's uncertainty."),
        (90.0, "measured 90.0 times that prediction: the model does not explain the excess."),
    ] {
        let mut one = one.clone();
        one.measured.as_mut().unwrap().rate = OpsPerSec::new(share * here);
        let published = Published { expectations: vec![one], ..Published::default() };
        let record = Record { published: Some(&published), ..Record::from(findings) };
        let text = flat(&markdown::render(record));
        assert!(text.contains(verdict), "{verdict}: {text}");
        assert!(text.contains("so it predicts the published figure"), "{text}");
        assert!(!text.contains("explained, by the model"), "{text}");
    }
}

#[test]
fn without_published_figures_there_is_no_such_section() {
    let (findings, _) = corners();
    let record = Record::from(findings);
    let page = html::render(record).unwrap();
    for output in [text::summary(record, 80), page.clone(), markdown::render(record)] {
        assert!(!output.contains("Comparison with published figures"), "{output}");
    }
    assert!(self::document(record).get("published").is_none());
    let document = markdown::render(record);
    for (anchor, name) in [
        ("prediction", "Prediction"),
        ("expectations", "Expectations"),
        ("sizing", "Sizing"),
        ("hosts-and-datastores", "Hosts and datastores"),
    ] {
        assert!(!page.contains(&format!("id=\"method-{anchor}\"")), "{name} is absent");
        assert!(!document.contains(&format!("- **{name}**:")), "{name} is absent");
    }
}

#[test]
fn the_section_of_the_page_has_anchors_and_links_and_escapes_names() {
    let record = corners().1;
    let single = html::render(record).unwrap();
    let two = [record, record];
    let several = html::render_all(&two, &[], report::drawing::theme::Theme::Auto).unwrap();
    for (page, anchors) in
        [(&single, vec!["published"]), (&several, vec!["r1-published", "r2-published"])]
    {
        let body = page.split("<script").next().unwrap();
        for anchor in anchors {
            assert_eq!(body.matches(&format!("<h2 id=\"{anchor}\">")).count(), 1, "{anchor}");
        }
        assert_eq!(body.matches("id=\"method-prediction\"").count(), 1);
        assert!(body.contains("&lt;Standard_Z1&gt;"));
        for link in body.split("href=\"#").skip(1) {
            let link = link.split('"').next().unwrap();
            assert!(body.contains(&format!("id=\"{link}\"")), "#{link} has no target");
        }
    }
}
