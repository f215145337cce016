//! A comparison as test cases, one for each load point.

use analysis::compare::figures::Verdict;
use analysis::compare::{Comparison, Overall, Pair, PointComparison};

use super::{tables, words};
use crate::junit::{Case, CaseResult};

/// A test case for each compared load point, by its main figures.
///
/// * `strict` - an inconclusive load point is a failure
pub(crate) fn cases(comparison: &Comparison, strict: bool) -> Vec<Case> {
    let unit = words::time_unit(comparison);
    let of_pair = |pair: &Pair| -> Vec<Case> {
        let (a, b) = words::labels(comparison, pair);
        let class = format!("{b} compared with {a}");
        let case = |name: &str, result| Case {
            class: class.clone(),
            name: name.to_owned(),
            window_ns: 0,
            result,
        };
        if pair.verdict == Overall::NotComparable {
            return vec![case(&class, CaseResult::Failed(words::verdict(comparison, pair)))];
        }
        let of_point = |point: &PointComparison| {
            let main = || {
                let figures = point.subjects.iter().flat_map(|subject| &subject.figures);
                figures.filter(|figure| figure.main)
            };
            let listed = |is: fn(&Verdict) -> bool| -> String {
                let found = main().filter(|figure| is(&figure.verdict));
                let found: Vec<String> =
                    found.map(|figure| tables::figure_in_words(pair, figure, unit)).collect();
                found.join("; ")
            };
            let worse = listed(|verdict| *verdict == Verdict::Worse);
            let unknown = listed(|verdict| matches!(verdict, Verdict::CannotTell(_)));
            let result = match (worse.is_empty(), unknown.is_empty()) {
                (false, _) => CaseResult::Failed(worse),
                (true, false) => CaseResult::inconclusive(unknown, strict),
                (true, true) => CaseResult::Passed,
            };
            case(&point.name, result)
        };
        pair.points.iter().map(of_point).collect()
    };
    comparison.pairs.iter().flat_map(of_pair).collect()
}
