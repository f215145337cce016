//! Properties of all reports: of one record and of several, in every theme, as Markdown and pictures.

use crate::fixture;
use crate::fixture::records::{done, experiment, reads, run, stream};
use analysis::{Findings, analyze};
use report::drawing::theme::Theme;
use report::pictures::{Kind, pictures};
use report::{html, markdown, method};

/// A curve of 8 KiB reads with a knee at queue depth 4 and a plateau at 40,000 ops/s.
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
fn the_summary_has_the_highest_rate_the_knee_and_saturation() {
    let text = report::text::summary(&curve("random read", "/mnt/a"), 80);
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("random read: 40,000 ops/s"), "{text}");
    assert!(words.contains("Latency at queue depth 1: 100 µs."), "{text}");
    assert!(words.contains("Knee (power): queue depth 4, at 75 % of peak throughput."), "{text}");
    assert!(words.contains("Saturated"), "{text}");
}

#[test]
fn several_records_have_separate_sections_and_common_charts() {
    let (near, far) = (curve("random read", "/mnt/near"), curve("random read", "/mnt/far"));
    let page = html::render_all(&[&near, &far], &[], Theme::Print).unwrap();
    for anchor in ["overlay", "r1-record", "r2-record", "r1-bottleneck", "r2-numbers"] {
        assert_eq!(page.matches(&format!("id=\"{anchor}\"")).count(), 1, "{anchor}");
    }
    assert!(page.contains("data-theme=\"print\""));
    assert!(page.contains("A (/mnt/near): random read"), "in the charts' legends");
    let text = markdown::render_all(&[&near, &far], &[], &[]);
    assert!(text.contains("# B (/mnt/far): "), "{text}");
}

#[test]
fn evidence_of_several_records_is_folded_and_not_on_paper() {
    let (near, far) = (curve("random read", "/mnt/near"), curve("random read", "/mnt/far"));
    let page = |theme| html::render_all(&[&near, &far], &[], theme).unwrap();
    let (screen, paper) = (page(Theme::Auto), page(Theme::Print));
    let evidence = |page: &str| page.matches("-evidence\">").count();
    assert_eq!((evidence(&screen), evidence(&paper)), (4, 0), "a link and a section for each");
    let folded = |page: &str| page.matches("<details class=\"fold\" data-paper>").count();
    assert!(folded(&screen) > 2 && folded(&paper) == 0, "paper has nothing to unfold");
    assert_eq!(paper.matches("--theme print</code> prints this record by itself").count(), 2);
    // Curves of one workload variant are in one chart, labelled by their records.
    assert!(screen.contains("\"name\":\"A (/mnt/near)\""), "in a legend");
}

#[test]
fn anchors_are_unique_and_every_link_has_a_target() {
    let (near, far) = (curve("random read", "/mnt/near"), curve("random read", "/mnt/far"));
    let section = |title: &str| report::document::Section {
        id: "comparison",
        title: title.to_owned(),
        blocks: Vec::new(),
        method: vec!["Comparison"],
    };
    let sections = [section("B compared with A"), section("C compared with A")];
    let single = [analyze(&fixture::troubled()), near.clone()];
    let mut pages: Vec<String> = single.iter().map(|f| html::render(f).unwrap()).collect();
    for theme in [Theme::Auto, Theme::Print] {
        pages.push(html::render_all(&[&near, &far], &sections, theme).unwrap());
    }
    for page in pages {
        let body = page.split("<script").next().unwrap();
        let ids: Vec<&str> =
            body.split(" id=\"").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
        for (index, id) in ids.iter().enumerate() {
            assert!(!ids[..index].contains(id), "{id} is not unique");
        }
        for link in body.split("href=\"#").skip(1) {
            let link = link.split('"').next().unwrap();
            assert!(ids.contains(&link), "#{link} has no target");
        }
    }
}

#[test]
fn every_link_to_the_method_page_has_a_heading_there() {
    let page = include_str!("../../../docs/method.md");
    let headings: Vec<String> =
        page.lines().filter_map(|line| line.strip_prefix("## ")).map(method::anchor).collect();
    for (name, _) in method::DEFINITIONS {
        let anchor = method::anchor(name);
        assert!(headings.contains(&anchor), "docs/method.md#{anchor}");
    }
}

#[test]
fn pictures_are_self_contained_and_names_cannot_become_markup() {
    let troubled = analyze(&fixture::troubled());
    let curve = curve("<b>&\"</b>", "/mnt/a");
    for findings in [&troubled, &curve] {
        let drawn = pictures(&[findings], Theme::Dark);
        assert!(drawn.iter().any(|p| p.kind == Kind::Run));
        for (index, picture) in drawn.iter().enumerate() {
            let svg = &picture.svg;
            assert!(!svg.contains("<b>") && !svg.contains("<script"), "{svg}");
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{}: {svg}", picture.name);
            assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
            assert!(!svg.contains("href") && !svg.contains("url(http"), "{}", picture.name);
            let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
            assert!(picture.name.chars().all(plain), "{}", picture.name);
            assert!(drawn[..index].iter().all(|other| other.name != picture.name));
        }
    }
}

#[test]
fn every_chart_of_the_page_has_its_numbers_as_a_table() {
    let page = html::render(&curve("random read", "/mnt/a")).unwrap();
    let figures = page.matches("<figure").count();
    // Runs over time and heat maps have their numbers in the caption.
    let tall = page.matches("class=\"chart tall\"").count();
    let heat = page.matches("data-name=\"heat-").count();
    assert_eq!(page.matches("Show as table").count(), figures - tall - heat);
    assert!(figures > 6, "{figures}");
}
