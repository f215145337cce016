//! Reports of several records, in every look, as Markdown and as pictures: what must hold of all.

mod fixture;

use analysis::{Findings, analyze};
use fixture::records::{done, experiment, reads, run, stream};
use report::chart::theme::Theme;
use report::pictures::{Kind, pictures};
use report::{html, markdown, method};

/// A curve of 8 KiB reads that bends at queue depth 4 and is flat at 40,000 ops/s.
fn curve(name: &str, target: &str) -> Findings {
    let rates =
        [(1_u64, 10_000_u64), (2, 18_000), (4, 30_000), (8, 39_500), (16, 40_000), (32, 40_000)];
    let runs = rates.map(|(depth, rate)| {
        let time_ns = depth * 1_000_000_000 / rate;
        let mut run = run(name, vec![stream("data", depth as u32)], 0, 6);
        run.index = depth as u32;
        done(run, (0..6).map(|_| reads(rate, 8192, time_ns)).collect())
    });
    let mut findings = analyze(&experiment(runs.to_vec()));
    findings.target = target.to_owned();
    findings
}

#[test]
fn the_summary_says_what_it_can_do_and_where_it_bends() {
    let text = report::text::summary(&curve("random read", "/mnt/a"), 80);
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("random read: 40,000 ops/s"), "{text}");
    assert!(words.contains("Latency at queue depth 1: 100 us."), "{text}");
    assert!(
        words.contains("Knee (power): queue depth 4, at 75 % of the highest throughput; the"),
        "{text}"
    );
    assert!(words.contains("Saturated"), "{text}");
}

#[test]
fn several_records_have_a_section_each_and_charts_together() {
    let (near, far) = (curve("random read", "/mnt/near"), curve("random read", "/mnt/far"));
    let page = html::render_all(&[&near, &far], &[], Theme::Print).unwrap();
    for anchor in ["overlay", "r1-record", "r2-record", "r1-summary", "r2-numbers"] {
        assert_eq!(page.matches(&format!("id=\"{anchor}\"")).count(), 1, "{anchor}");
    }
    assert!(page.contains("data-theme=\"print\""));
    assert!(page.contains("A (/mnt/near): random read"), "in the charts' legends");
    let text = markdown::render_all(&[&near, &far], &[], &[]);
    assert!(text.contains("# B (/mnt/far): "), "{text}");
}

#[test]
fn beside_others_a_records_evidence_is_folded_and_paper_leaves_it_out() {
    let (near, far) = (curve("random read", "/mnt/near"), curve("random read", "/mnt/far"));
    let page = |theme| html::render_all(&[&near, &far], &[], theme).unwrap();
    let (screen, paper) = (page(Theme::Auto), page(Theme::Print));
    assert_eq!(screen.matches("<details class=\"evidence aside\">").count(), 2);
    assert!(screen.contains("aria-label=\"Sections of B (&#x2f;mnt&#x2f;far)\""));
    assert_eq!(paper.matches("class=\"evidence").count(), 0);
    assert_eq!(paper.matches("--theme print</code> prints this record alone").count(), 2);
    // Curves of one variant are beside each other, by what tells the records apart.
    assert!(screen.contains("\"name\":\"A (/mnt/near)\""), "in a legend");
}

#[test]
fn no_anchor_is_there_twice_and_every_link_leads_somewhere() {
    let (near, far) = (curve("random read", "/mnt/near"), curve("random read", "/mnt/far"));
    let section = |title: &str| report::document::Section {
        id: "comparison",
        title: title.to_owned(),
        blocks: Vec::new(),
        method: vec!["Comparison"],
    };
    let sections = [section("B against A"), section("C against A")];
    let single = [analyze(&fixture::troubled()), near.clone()];
    let mut pages: Vec<String> = single.iter().map(|f| html::render(f).unwrap()).collect();
    for theme in [Theme::Auto, Theme::Print] {
        pages.push(html::render_all(&[&near, &far], &sections, theme).unwrap());
    }
    for page in pages {
        let body = page.split("<script").next().unwrap();
        let ids: Vec<&str> =
            body.split(" id=\"").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
        for (place, id) in ids.iter().enumerate() {
            assert!(!ids[..place].contains(id), "{id} is there twice");
        }
        for link in body.split("href=\"#").skip(1) {
            let link = link.split('"').next().unwrap();
            assert!(ids.contains(&link), "#{link} leads nowhere");
        }
    }
}

#[test]
fn every_anchor_of_the_method_page_that_a_report_names_is_a_heading_there() {
    let page = include_str!("../../../docs/method.md");
    let headings: Vec<String> =
        page.lines().filter_map(|line| line.strip_prefix("## ")).map(method::anchor).collect();
    for (name, _) in method::DEFINITIONS {
        let anchor = method::anchor(name);
        assert!(headings.contains(&anchor), "docs/method.md#{anchor}");
    }
}

#[test]
fn a_picture_of_each_chart_stands_alone_and_takes_hostile_names() {
    let troubled = analyze(&fixture::troubled());
    let curve = curve("<b>&\"</b>", "/mnt/a");
    for findings in [&troubled, &curve] {
        let drawn = pictures(&[findings], Theme::Dark);
        assert!(drawn.iter().any(|p| p.kind == Kind::Run));
        for (place, picture) in drawn.iter().enumerate() {
            let svg = &picture.svg;
            assert!(!svg.contains("<b>") && !svg.contains("<script"), "{svg}");
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{}: {svg}", picture.name);
            assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
            assert!(!svg.contains("href") && !svg.contains("url(http"), "{}", picture.name);
            let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
            assert!(picture.name.chars().all(plain), "{}", picture.name);
            assert!(drawn[..place].iter().all(|other| other.name != picture.name));
        }
    }
}

#[test]
fn every_chart_of_the_page_has_its_numbers_as_text() {
    let page = html::render(&curve("random read", "/mnt/a")).unwrap();
    let figures = page.matches("<figure").count();
    // Runs over time and heat maps say in their captions what a table would.
    let tall = page.matches("class=\"chart tall\"").count();
    let heat = page.matches("data-name=\"heat-").count();
    assert_eq!(page.matches("The same as a table").count(), figures - tall - heat);
    assert!(figures > 8, "{figures}");
}
