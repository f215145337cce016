//! What charts show beside their points: intervals as bands, limits, knees and fitted models, names
//! without what all share; and what of a page is printed.

#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod fixture;

use analysis::fit::line::FitLine;
use analysis::{Findings, analyze};
use fixture::records::{done, experiment, reads, run, stream};
use report::chart::theme::Theme;
use report::html;
use report::pictures::{Picture, pictures};

/// A volume of 1 ms and 8,000 ops/s at doubling queue depths, each interval a little off.
fn bottleneck() -> Findings {
    let at = |queue_depth: u32| {
        let rate = u64::from(queue_depth * 1000).min(8000);
        let service_ns = u64::from(queue_depth) * 1_000_000_000 / rate;
        let wave = [0, 40, 10, 30, 20, 0].map(|more| reads(rate + more, 8192, service_ns));
        done(run("random read 8 KiB", vec![stream("data", queue_depth)], 0, 6), wave.to_vec())
    };
    analyze(&experiment([1, 2, 4, 8, 16, 32, 64].map(at).to_vec()))
}

fn named<'a>(drawn: &'a [Picture], name: &str) -> &'a Picture {
    drawn.iter().find(|picture| picture.name == name).unwrap()
}

#[test]
fn a_fitted_model_is_a_line_from_the_lowest_load_to_the_highest() {
    let findings = bottleneck();
    let line = FitLine::of(&findings.curves[0], &findings.load_points).unwrap();
    let (first, last) = (line.points.first().unwrap(), line.points.last().unwrap());
    assert_eq!((first.x, last.x), (1.0, 64.0));
    assert!((first.rate / 1_017.0 - 1.0).abs() < 0.02, "{first:?}");
    assert!((last.rate / 8_017.0 - 1.0).abs() < 0.02, "{last:?}");
    assert!((last.response_s - 64.0 / last.rate).abs() < 1e-12, "Little's law");
    assert!((last.throughput.unwrap() - last.rate * 8192.0).abs() < 1.0);
    assert!(line.points.windows(2).all(|pair| pair[0].x < pair[1].x));
}

#[test]
fn a_curve_has_bands_a_model_a_ring_at_its_knee_and_the_limit_that_was_found() {
    let drawn = pictures(&[&bottleneck()], Theme::Light);
    let throughput = named(&drawn, "throughput-by-queue-depth");
    assert!(throughput.svg.contains("fill-opacity=\"0.2\""), "the band");
    assert!(throughput.svg.contains("stroke-dasharray=\"10 3 2 3\""), "the model");
    assert!(throughput.caption.contains("fitted, not measured: a fixed delay and an even limit"));
    let by_rate = named(&drawn, "response-time-by-rate-along-queue-depth");
    assert!(by_rate.svg.contains("r=\"9\""), "the ring");
    assert!(by_rate.caption.contains("Ring: the knee"));
}

#[test]
fn names_in_a_legend_lack_what_all_curves_share_and_captions_have_it() {
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
fn paper_has_a_table_of_runs_and_says_what_it_leaves_out() {
    let findings = analyze(&fixture::four_corners());
    let screen = html::render(&findings).unwrap();
    let paper = html::render_all(&[&findings], &[], Theme::Print).unwrap();
    // Four curves of five load points of three runs, each with a chart over time.
    let over_time = |page: &str| page.matches("data-name=\"over-time-").count();
    assert_eq!((over_time(&screen), over_time(&paper)), (60, 4));
    assert!(
        screen.matches("<figure class=\"across aside\"").count() == 60,
        "hidden where it is printed"
    );
    for page in [&screen, &paper] {
        assert!(page.contains("All runs as a table"));
        assert!(page.contains("Left out on paper: ") && page.contains("60 of 68 charts over time"));
        assert!(page.contains(&format!("fourcorners export {} --format csv", findings.id)));
    }
}
