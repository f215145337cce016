//! What charts show in addition to their points (confidence intervals as bands, limits, knees, fitted
//! models, short names in legends), and the printed part of a page.

#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use crate::fixture;
use crate::fixture::records::{done, experiment, reads, run, stream};
use analysis::curve::fit_line::FitLine;
use analysis::verdict::{Answer, Limit};
use analysis::{Findings, analyze};
use report::drawing::theme::Theme;
use report::html;
use report::pictures::{Picture, pictures};

fn bottleneck() -> Findings {
    analyze(&fixture::bottleneck())
}

fn named<'a>(drawn: &'a [Picture], name: &str) -> &'a Picture {
    drawn.iter().find(|picture| picture.name == name).unwrap()
}

#[test]
fn a_fitted_model_is_a_line_over_all_loads() {
    let findings = bottleneck();
    let line = FitLine::of(&findings.curves[0], &findings.load_points).unwrap();
    let (first, last) = (line.points.first().unwrap(), line.points.last().unwrap());
    assert_eq!((first.x, last.x), (1.0, 64.0));
    assert!((first.rate.get() / 1_017.0 - 1.0).abs() < 0.02, "{first:?}");
    assert!((last.rate.get() / 8_017.0 - 1.0).abs() < 0.02, "{last:?}");
    assert!((last.response_s - 64.0 / last.rate.get()).abs() < 1e-12, "Little's law");
    assert!((last.throughput.unwrap().get() - last.rate.get() * 8192.0).abs() < 1.0);
    assert!(line.points.windows(2).all(|pair| pair[0].x < pair[1].x));
}

#[test]
fn a_curve_has_bands_a_fitted_model_and_a_ring_at_its_knee() {
    let drawn = pictures(&[&bottleneck()], Theme::Light);
    let throughput = named(&drawn, "throughput-by-queue-depth");
    assert!(throughput.svg.contains("fill-opacity=\"0.2\""), "the band");
    assert!(throughput.svg.contains("stroke-dasharray=\"10 3 2 3\""), "the model");
    assert!(throughput.caption.contains("fitted, not measured: fixed delay and throughput limit"));
    let by_rate = named(&drawn, "response-time-by-rate-along-queue-depth");
    assert!(by_rate.svg.contains("r=\"9\""), "the ring");
    assert!(by_rate.caption.contains("Ring: the knee"));
}

#[test]
fn a_limit_is_a_line_at_the_ceiling_and_a_mark_on_the_axis_of_rates() {
    let mut findings = bottleneck();
    let found = &mut findings.verdicts[0];
    assert!(found.plateau.is_reached(), "throughput is flat: {found:#?}");
    found.answer = Answer::Limited { by: vec![Limit::VolumeThroughput], probability: 0.97 };
    let drawn = pictures(&[&findings], Theme::Light);
    let throughput = named(&drawn, "throughput-by-queue-depth");
    let sentence = "Dashed: the ceiling, limited by the volume's throughput limit, 62.6 MiB/s";
    assert!(throughput.caption.contains(sentence), "{}", throughput.caption);
    assert!(throughput.caption.contains("97 % sure"), "{}", throughput.caption);
    let label = ">volume's throughput limit, 62.6 MiB/s</text>";
    assert!(throughput.svg.contains(label), "at the line");
    let by_rate = named(&drawn, "response-time-by-rate-along-queue-depth");
    let label = ">volume's throughput limit, 8,017 IOPS</text>";
    assert!(by_rate.svg.contains(label), "on the axis of rates");
}

#[test]
fn a_legend_omits_the_parts_of_names_that_all_curves_share() {
    let curve = |workers: &str| {
        let point = |depth: u32| {
            let mut run = run("read", vec![stream("data", depth)], 0, 6);
            run.parameters.push(("workers".to_owned(), workers.to_owned()));
            run.parameters.push(("nconnect".to_owned(), "4".to_owned()));
            done(run, (0..6).map(|_| reads(1000, 8192, 1_000_000)).collect())
        };
        [point(1), point(2), point(4)]
    };
    let runs: Vec<_> = curve("1").into_iter().chain(curve("2")).collect();
    let drawn = pictures(&[&analyze(&experiment(runs))], Theme::Light);
    let chart = named(&drawn, "throughput-by-queue-depth");
    assert!(chart.svg.contains(">workers=1</text>") && chart.svg.contains(">workers=2</text>"));
    assert!(chart.caption.contains("read, workers=1, nconnect=4"), "{}", chart.caption);
}

#[test]
fn a_sweep_is_one_chart_over_time_and_paper_lists_what_is_not_printed() {
    let findings = analyze(&fixture::four_corners());
    let screen = html::render(&findings).unwrap();
    let paper = html::render_all(&[&findings], &[], Theme::Print).unwrap();
    // Four curves of five load points of three runs.
    let over_time = |page: &str| page.matches("data-name=\"over-time-").count();
    assert_eq!((over_time(&screen), over_time(&paper)), (4, 4));
    let heat_maps = |page: &str| page.matches("data-name=\"heat-").count();
    assert!(heat_maps(&screen) > 0 && heat_maps(&paper) == 0);
    let drawn = pictures(&[&findings], Theme::Light);
    let chart = named(&drawn, "over-time-random-read-8-kib");
    assert!(chart.caption.starts_with("15 runs one after another"), "{}", chart.caption);
    for load in ["QD 1", "QD 4", "QD 64"] {
        assert_eq!(chart.svg.matches(&format!(">{load}</text>")).count(), 1, "{load}");
    }
    for page in [&screen, &paper] {
        assert!(page.contains("Not printed: ") && page.contains("the table of runs"));
        assert!(page.contains(&format!("fourcorners export {} --format csv", findings.id)));
    }
}

#[test]
fn the_confidence_interval_of_a_percentile_is_in_text_page_and_exports() {
    let findings = bottleneck();
    let text = report::text::summary(&findings, 80);
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("Confidence intervals"), "{text}");
    assert!(words.contains("p50 1.00 (1.00 to 1.00); p99 "), "{text}");
    assert!(words.contains("busiest worker: "), "{text}");
    let mut file = Vec::new();
    report::json::write(&findings, &mut file).unwrap();
    let file: serde_json::Value = serde_json::from_slice(&file).unwrap();
    let total = &file["load_points"][0]["merged"]["total"];
    let p50 = &total["data"]["response_time"]["percentiles"][0];
    let low = p50["interval_ns"][0].as_f64().unwrap();
    assert!((low / p50["value_ns"].as_f64().unwrap() - 1.0).abs() < 0.002, "{p50}");
    assert_eq!(p50["method"], "intervals");
    assert!(total["worker_busy_max_uncertainty_fraction"].is_number(), "{total}");
    let page = html::render(&analyze(&fixture::four_corners())).unwrap();
    assert!(page.contains("<td>74.6 (73.6 to 75.5)</td>"), "in the table of its chart");
}

#[test]
fn json_has_the_summary_and_the_heat_maps() {
    let findings = analyze(&fixture::four_corners());
    let mut file = Vec::new();
    report::json::write(&findings, &mut file).unwrap();
    let file: serde_json::Value = serde_json::from_slice(&file).unwrap();
    let curve = &file["summary"]["curves"][0];
    assert_eq!(curve["curve"], 0);
    assert_eq!(curve["knee"]["method"], "knee_power");
    let heats = file["heats"].as_array().unwrap();
    assert_eq!(heats.len(), findings.heats.len());
    let counted = |heat: &serde_json::Value| -> u64 {
        let cells = heat["cells"].as_array().unwrap().iter();
        cells.map(|cell| cell[2].as_u64().unwrap()).sum()
    };
    let run = &findings.load_points[findings.heats[0].load_point].runs[0];
    // A heat map includes the warm-up.
    assert!(counted(&heats[0]) > run.summary.total.data.completed, "each operation is in a cell");
}
