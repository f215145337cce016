//! A business metric in every output: the largest passing value, what fails above it, and the bounds in
//! a chart.

use crate::fixture::records::{done, experiment, reads, run, stream};
use analysis::compare::side::Side;
use analysis::compare::{Options, compare};
use analysis::condition::{Answer, Cause, judge};
use analysis::{Findings, analyze};
use metrics::run_record::ExperimentRecord;
use report::drawing::theme::Theme;
use report::glance::{self, Layout};
use report::look::Look;
use report::pictures::pictures;
use report::{html, json, markdown, text};
use workload::arrival::Arrival;
use workload::condition::{Comparison, Condition, Metric as Bounded};
use workload::metric::{Metric, ResponseTime};

/// Job sets of 450 ops/s each on a system that achieves up to `most` ops/s, in 1 ms and, above it, in
/// 9 ms.
fn record(most: u64) -> ExperimentRecord {
    let at = |value: u64| {
        let offered = 450 * value;
        let mut stream = stream("objects", 64);
        stream.arrival = Arrival::Constant { offered_rate: offered as f64 };
        let (rate, time_ns) =
            if offered <= most { (offered, 1_000_000) } else { (most, 9_000_000) };
        let seconds = [0, 1, 2, 1, 0, 2, 1, 0, 1, 2].map(|wave| reads(rate - wave, 8192, time_ns));
        let mut record = done(run("eda", vec![stream], 0, 10), seconds.to_vec());
        record.run.parameters = vec![("job sets".to_owned(), value.to_string())];
        record
    };
    let mut record = experiment([10, 20, 30, 40].map(at).to_vec());
    record.plan.metric = Some(Metric {
        name: "job sets".to_owned(),
        rate_min_permille: 950,
        response_time_max_ns: Some(20_000_000),
        response_time: ResponseTime::Mean,
        capacity_bytes: None,
        inodes: None,
    });
    record
}

fn findings(most: u64) -> Findings {
    analyze(&record(most))
}

fn condition(metric: Bounded, comparison: Comparison, bound: f64) -> Condition {
    Condition {
        is_requirement: false,
        text: String::new(),
        scope: None,
        kind: None,
        metric,
        comparison,
        bound,
    }
}

#[test]
fn every_output_states_the_largest_passing_value_and_the_next_that_fails() {
    let findings = findings(11_000);
    let layout = Layout { width: 100, lines_max: 40, look: Look::default() };
    let page = html::render(&findings).unwrap();
    let shown = [
        glance::text(&findings, layout).unwrap(),
        text::summary(&findings, 100),
        markdown::render(&findings),
    ];
    for text in &shown {
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains("eda, job sets: the largest passing load is 20 ("), "{text}");
        assert!(words.contains("; 30 fails: 81 % of the offered rate"), "{text}");
        // Trapezoids from the origin: (9,000 x 1 ms - 4,500 x 0.5 ms) / 9,000.
        assert!(
            words.contains("Overall response time 0.750 ms") || words.contains("750 µs"),
            "{text}"
        );
    }
    assert!(page.contains("job sets: the largest passing load is 20 ("));
    let mut file = Vec::new();
    json::write(&findings, &mut file).unwrap();
    let file: serde_json::Value = serde_json::from_slice(&file).unwrap();
    let series = &file["metric"]["series"][0];
    assert_eq!(
        (&series["largest_passing"], &series["first_failing"]),
        (&20.0.into(), &30.0.into())
    );
    assert_eq!(series["points"][2]["reason"], "rate");
    assert!(!findings.is_overloaded(), "a metric is measured until a load point fails");
}

#[test]
fn the_chart_of_a_metric_has_both_bounds_and_the_largest_passing_value() {
    let findings = findings(11_000);
    let drawn = pictures(&[&findings], Theme::Light);
    let chart = drawn.iter().find(|picture| picture.name == "metric-job-sets").unwrap();
    for words in ["at most 20.0 ms", "at least 95 %", "20 passes", "job sets"] {
        assert!(chart.svg.contains(words), "{words}: {}", chart.svg);
    }
}

#[test]
fn all_values_that_pass_are_a_lower_bound() {
    let shown = text::summary(&findings(100_000), 200);
    assert!(shown.contains("eda, job sets: at least 40 ("), "{shown}");
}

#[test]
fn conditions_are_judged_by_the_measured_values() {
    use Comparison::{Above, Below};
    let findings = findings(11_000);
    let answer =
        |metric, comparison, bound| judge(&findings, &condition(metric, comparison, bound)).answer;
    assert_eq!(answer(Bounded::LargestPassing, Below, 20.0), Answer::Passed);
    assert_eq!(answer(Bounded::LargestPassing, Below, 21.0), Answer::Failed { load_points: 1 });
    assert_eq!(answer(Bounded::OverallResponse, Above, 1e6), Answer::Passed);
    assert_eq!(answer(Bounded::OverallResponse, Above, 0.7e6), Answer::Failed { load_points: 1 });
    let mut without = record(11_000);
    without.plan.metric = None;
    let judged = judge(&analyze(&without), &condition(Bounded::LargestPassing, Below, 20.0));
    assert_eq!(judged.answer, Answer::CannotTell(Cause::NothingMatches));
}

#[test]
fn a_required_number_is_passed_or_failed_by_a_share_of_it() {
    let sentence = |most, bound| {
        let findings = findings(most);
        let required = Condition {
            is_requirement: true,
            text: format!("metric >= {bound}"),
            ..condition(Bounded::LargestPassing, Comparison::Below, bound)
        };
        let judged = judge(&findings, &required);
        (report::conditions::sentence(&findings, &judged), judged.answer)
    };
    let (failed, answer) = sentence(11_000, 25.0);
    assert_eq!(failed, "`metric >= 25`: 25 job sets required, 20 reached: failed by 20 %");
    assert_eq!(answer, Answer::Failed { load_points: 1 });
    let (passed, answer) = sentence(11_000, 16.0);
    assert_eq!(passed, "`metric >= 16`: 16 job sets required, 20 reached: passed by 25 %");
    assert_eq!(answer, Answer::Passed);
    // Every load point up to 40 passes, so 50 may pass as well.
    let (open, answer) = sentence(100_000, 50.0);
    assert_eq!(answer, Answer::CannotTell(Cause::NoLargerValue));
    assert!(open.contains("50 job sets required, at least 40 reached: every load point"), "{open}");
}

#[test]
fn a_comparison_says_which_system_carries_more() {
    let sides = [record(11_000), record(14_000)];
    let comparison = compare(&sides.each_ref().map(Side::of), &Options::default());
    let shown = report::compare::text(&comparison, report::compare::Detail::Main, 200);
    let words = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("A 20 (30 fails), B 30 (40 fails); B carries more"), "{shown}");
    let same = compare(&[0, 1].map(|_| Side::of(&sides[0])), &Options::default());
    let shown = report::compare::text(&same, report::compare::Detail::Main, 200);
    assert!(shown.contains("cannot be determined"), "{shown}");
}
