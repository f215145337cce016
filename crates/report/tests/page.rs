//! The hierarchy of a page: the answer first, everything else folded, a sweep as one entry.

#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use crate::fixture;
use crate::fixture::records::{done, experiment, reads, run, stream};
use analysis::{Findings, analyze};
use metrics::run_record::RunRecord;
use report::drawing::theme::Theme;
use report::glance::Glance;
use report::html;
use report::record::{Record, Remarks};

/// Text as it is on a page.
fn on_page(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    text.replace('\'', "&#x27;").replace('"', "&quot;").replace('/', "&#x2f;").replace('`', "")
}

/// The page without scripts and the marks around code.
fn body(page: &str) -> String {
    let body = page.split("<body>").nth(1).unwrap().split("<script").next().unwrap();
    body.replace("<code>", "").replace("</code>", "")
}

/// Reads of growing transfer size at one queue depth: a sweep whose axis is not a load.
fn sweep(sizes: &[u64]) -> Findings {
    let of_size = |size: &u64| -> RunRecord {
        let mut data = stream("data", 8);
        data.transfer_sizes[0].size_bytes = *size;
        let mut run = run("read", vec![data], 0, 6);
        run.parameters.push(("transfer_size".to_owned(), size.to_string()));
        done(run, (0..6).map(|_| reads(1_000, *size, 8_000_000)).collect())
    };
    analyze(&experiment(sizes.iter().map(of_size).collect()))
}

#[test]
fn the_first_screen_has_the_sentences_of_the_glance_in_order() {
    for record in [fixture::four_corners(), fixture::bottleneck(), fixture::troubled()] {
        let findings = analyze(&record);
        let glance = Glance::of(Record::from(&findings)).unwrap();
        let page = body(&html::render(&findings).unwrap());
        let mut sentences = vec![glance.title, glance.context];
        sentences.extend(glance.verdict);
        for curve in glance.curves {
            sentences.extend([curve.name, curve.peak, curve.peak_load]);
            sentences.extend(curve.floor);
        }
        sentences.extend(glance.recommendations);
        sentences.extend(glance.caveats.into_iter().flat_map(|one| [one.line, one.explanation]));
        let mut from = 0;
        for sentence in sentences {
            let found = page[from..].find(&on_page(&sentence));
            from += found.unwrap_or_else(|| panic!("{sentence} is not after offset {from}"));
        }
        assert!(from < page.find("<details class=\"fold").unwrap(), "nothing of it is folded");
    }
}

#[test]
fn everything_but_the_first_screen_is_folded_on_a_screen_and_open_on_paper() {
    let findings = analyze(&fixture::four_corners());
    let page = |theme| html::render_all(&[&findings], &[], theme).unwrap();
    let (screen, paper) = (body(&page(Theme::Auto)), body(&page(Theme::Print)));
    for id in
        ["numbers", "evidence", "percentiles", "time", "steady-state", "environment", "method"]
    {
        let heading = format!("<summary><h2 id=\"{id}\">");
        assert!(screen.contains(&heading) && paper.contains(&heading), "{id}");
    }
    let folds = |page: &str, end: &str| {
        let all = page.split("<details class=\"fold").skip(1);
        all.filter(|fold| fold.split('>').next().unwrap().ends_with(end)).count()
    };
    assert_eq!(folds(&screen, " open"), 0);
    assert!(folds(&paper, " open") > 8 && folds(&paper, "data-paper") == 0);
}

#[test]
fn a_proven_bottleneck_has_the_two_numbers() {
    let page = body(&html::render(&analyze(&fixture::bottleneck())).unwrap());
    let proof = page.split("<dl class=\"proof\">").nth(1).unwrap().split("</dl>").next().unwrap();
    assert_eq!(proof.matches("<dd>").count(), 2, "{proof}");
    // Throughput does not rise from queue depth 8, while latency grows in proportion.
    assert!(proof.contains("queue depth 8 to queue depth 64"), "{proof}");
    assert!(proof.contains("<dd>1.00 ms to 8.00 ms</dd>"), "{proof}");
}

#[test]
fn a_sweep_is_one_entry_in_every_section() {
    let sizes = [4_096, 8_192, 16_384, 32_768, 65_536];
    let page = body(&html::render(&sweep(&sizes)).unwrap());
    assert_eq!(page.matches("<div class=\"card\">").count(), 1);
    assert_eq!(page.matches("data-name=\"over-time-").count(), 1);
    let section = page.split("id=\"evidence\"").nth(1).unwrap().split("</details>").next().unwrap();
    for size in sizes {
        assert!(!section.contains(&format!("read, transfer_size {size}")), "{section}");
    }
}

#[test]
fn the_head_has_the_label_and_the_note() {
    let findings = analyze(&fixture::four_corners());
    let remarks = Remarks { label: Some("before"), note: Some("kernel <6.18>") };
    let page = body(&html::render(Record { remarks, ..Record::from(&findings) }).unwrap());
    let head = page.split("</header>").next().unwrap();
    assert!(head.contains("<strong>before</strong>"), "{head}");
    assert!(head.contains("kernel &lt;6.18&gt;"), "{head}");
}
