//! The sentences of a comparison, and its figures as printed.

use analysis::compare::facts::Item;
use analysis::compare::figure::Figure;
use analysis::compare::figures::{Basis, FigureComparison, InconclusiveCause, Verdict};
use analysis::compare::flaws::FlawKind;
use analysis::compare::metric::{MetricContrast, MetricResult, MetricVerdict};
use analysis::compare::welch::Ratio;
use analysis::compare::{Comparison, Overall, Pair};
use units::counted;

use crate::drawing::ticks;
use crate::number::{TimeUnit, mib, percent, plain, us};
use crate::verdict::words as verdict_words;

/// More sentences of one kind are counted, not written.
const SENTENCES_MAX: usize = 8;

/// The labels of a pair: `A`, `B`.
pub(super) fn labels<'a>(comparison: &'a Comparison, pair: &Pair) -> (&'a str, &'a str) {
    (&comparison.sides[0].label, &comparison.sides[pair.side].label)
}

/// `a`, `a and b`, `a, b and c`.
pub(super) fn list(items: &[&str]) -> String {
    match items {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    }
}

/// The result for a pair, in a sentence or two.
pub(super) fn verdict(comparison: &Comparison, pair: &Pair) -> String {
    let (a, b) = labels(comparison, pair);
    let main: Vec<&FigureComparison> =
        pair.figures().map(|(_, _, figure)| figure).filter(|figure| figure.main).collect();
    let tally = tally(&main, pair.points.len());
    match pair.verdict {
        Overall::NotComparable => {
            let mut items: Vec<&str> = pair.obstacles().map(|d| d.item.name()).collect();
            items.dedup();
            let of_cache = pair.obstacles().any(|difference| difference.item == Item::Cache);
            let cache = match of_cache {
                true => {
                    " Figures served from a client cache are not those of the storage (use \
                     direct I/O, or files larger than memory)."
                }
                false => "",
            };
            format!(
                "No winner is named: {a} and {b} also differ in {}, so the cause of different \
                 figures cannot be determined. To compare them anyway, use `--allow-different \
                 {}`.{cache}",
                list(&items),
                items.join(",")
            )
        }
        Overall::Faster => format!("{b} is faster than {a}. {tally}"),
        Overall::Slower => format!("{b} is slower than {a}. {tally}"),
        Overall::Mixed => {
            format!("{b} is faster than {a} in some figures and slower in others. {tally}")
        }
        Overall::NoDifference => {
            format!("No difference between {a} and {b} was found. {tally} {}", sensitivity(&main))
        }
        Overall::CannotTell => {
            format!("Whether {a} and {b} differ cannot be determined. {tally} {}", advice(&main))
        }
    }
}

/// The largest passing values of a business metric, a sentence for each workload; none if no winner
/// may be named.
pub(super) fn metrics(comparison: &Comparison, pair: &Pair) -> Vec<String> {
    if pair.verdict == Overall::NotComparable {
        return Vec::new();
    }
    let (a, b) = labels(comparison, pair);
    let side = |label: &str, result: &MetricResult| {
        let fails =
            result.fails_at.map_or(String::new(), |at| format!(" ({} fails)", ticks::label(at)));
        match result.largest {
            Some(largest) => format!("{label} {}{fails}", ticks::label(largest)),
            None => format!("{label} none{fails}"),
        }
    };
    let sentence = |one: &MetricContrast| {
        let verdict = match one.verdict {
            MetricVerdict::Larger => format!("{b} carries more"),
            MetricVerdict::Smaller => format!("{a} carries more"),
            MetricVerdict::CannotTell => {
                "neither passes where the other fails, so which carries more cannot be determined"
                    .to_owned()
            }
        };
        let overall = one.first.overall_response_ns.zip(one.other.overall_response_ns);
        let overall = overall.map_or(String::new(), |(first, other)| {
            let unit = TimeUnit::of([first, other]);
            let (first, other) = (unit.with_symbol(first), unit.with_symbol(other));
            format!("; overall response time {a} {first}, {b} {other}")
        });
        let (first, other) = (side(a, &one.first), side(b, &one.other));
        format!(
            "largest passing {} of {}: {first}, {other}; {verdict}{overall}",
            one.metric, one.series
        )
    };
    pair.metrics.iter().map(sentence).collect()
}

/// Problems of the measurements, a sentence for each side and kind.
pub(super) fn caveats(comparison: &Comparison, pair: &Pair) -> Vec<String> {
    let of = |caveat: &analysis::compare::caveats::Caveat| {
        let problem = match caveat.kind {
            FlawKind::Overloaded => "was overloaded",
            FlawKind::NotSteady => "was not in steady state",
            FlawKind::Cached => "was partly served from a client cache",
            FlawKind::HostDiffers => "ran under different host state",
            FlawKind::HostsLost => "lost hosts",
        };
        let count = caveat.load_points.len();
        let first = if count > 1 { ", first " } else { ": " };
        format!(
            "{} {problem} in {count} of {}{first}{} ({})",
            comparison.sides[caveat.side].label,
            load_points(pair.points.len()),
            caveat.load_points[0],
            verdict_words::caveat_evidence(&caveat.observed)
        )
    };
    pair.caveats.iter().map(of).collect()
}

/// `Of 4 main figures in 2 load points: 3 better and 1 without a difference.`
fn tally(main: &[&FigureComparison], points: usize) -> String {
    let count = |is: fn(&Verdict) -> bool| main.iter().filter(|f| is(&f.verdict)).count();
    let counts = [
        (count(|v| *v == Verdict::Better), "better"),
        (count(|v| *v == Verdict::Worse), "worse"),
        (count(|v| *v == Verdict::NoDifference), "without a difference"),
        (count(|v| matches!(v, Verdict::CannotTell(_))), "inconclusive"),
    ];
    let results: Vec<String> = counts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, result)| format!("{count} {result}"))
        .collect();
    let results: Vec<&str> = results.iter().map(String::as_str).collect();
    let figures = counted(main.len() as u64, "main figure");
    format!("Of {figures} in {}: {}.", load_points(points), list(&results))
}

pub(super) fn load_points(count: usize) -> String {
    counted(count as u64, "load point")
}

/// The changes that a comparison would have detected.
fn sensitivity(main: &[&FigureComparison]) -> String {
    let largest = |share: fn(&FigureComparison) -> Option<f64>| {
        main.iter().filter_map(|figure| share(figure)).fold(0.0, f64::max)
    };
    format!(
        "A change of {} in any of them would have been detected with 80 % power; the 95 % \
         confidence intervals exclude changes above {}.",
        percent(largest(|figure| figure.detectable)),
        percent(largest(|figure| figure.at_most))
    )
}

/// What to do if the state of the host may explain the difference.
const INTERLEAVE: &str =
    "To exclude this, measure both in turns: `fourcorners run A B --interleave`.";

/// Why the result is inconclusive, and what to do.
fn advice(main: &[&FigureComparison]) -> String {
    let has = |is: fn(InconclusiveCause) -> bool| {
        main.iter().any(|f| matches!(f.verdict, Verdict::CannotTell(cause) if is(cause)))
    };
    if has(|d| d == InconclusiveCause::HostsLost) {
        return "A side lost hosts, so its values are those of fewer hosts. Complete its record \
                (`fourcorners fleet collect ID`) or measure it again."
            .to_owned();
    }
    if has(|d| d == InconclusiveCause::HostDiffers) {
        return format!("The two sides ran under different host state. {INTERLEAVE}");
    }
    if has(|d| d == InconclusiveCause::Drift) {
        return format!(
            "The runs were back to back, and drift from one repeat to the next explains the \
             difference. {INTERLEAVE}"
        );
    }
    if has(|d| d == InconclusiveCause::FewBackToBack) {
        return format!(
            "Back-to-back runs need at least 9 repeats of both sides together (`--repeats 5`) to \
             distinguish a difference from a change of the host. {INTERLEAVE}"
        );
    }
    if has(|d| d == InconclusiveCause::ChangesByPlan) {
        return "The offered rate changes by plan and each load point was measured once on each side, \
                so chance cannot be distinguished from the plan. Measure both in turns (`run A B \
                --interleave`) or each at least five times (`--repeats 5`)."
            .to_owned();
    }
    if has(|d| matches!(d, InconclusiveCause::SingleRuns | InconclusiveCause::SingleRunsDiffer)) {
        return "Each load point was measured once on each side, so the variation between runs is \
                unknown. Measure both in turns (`run A B --interleave`) or each at least five times \
                (`--repeats 5`), or give the variation if you know it (`--run-to-run 2%`)."
            .to_owned();
    }
    if has(|d| d == InconclusiveCause::TooCoarse) {
        return "The repeats vary too much. Use more of them (`--repeats 10`) or longer windows to \
                detect smaller changes."
            .to_owned();
    }
    String::new()
}

/// A sentence for each main figure that differs, and one for those that do not.
pub(super) fn findings(comparison: &Comparison, pair: &Pair) -> Vec<String> {
    if pair.verdict == Overall::NotComparable {
        return Vec::new();
    }
    let (a, b) = labels(comparison, pair);
    let unit = time_unit(comparison);
    let mut found: Vec<(f64, String)> = Vec::new();
    for (point, subject, figure) in pair.figures() {
        let differs = match figure.verdict {
            Verdict::Better | Verdict::Worse => figure.main,
            Verdict::CannotTell(InconclusiveCause::SingleRunsDiffer) => figure.main,
            _ => false,
        };
        if let (true, Some(ratio)) = (differs, figure.ratio) {
            let subject = match subject.name.as_str() {
                "" => point.name.clone(),
                name => format!("{}: {name}", point.name),
            };
            let lead = match figure.verdict {
                Verdict::CannotTell(_) => "within these runs ",
                _ => "",
            };
            let host = point.host.as_ref().map_or(String::new(), |contrast| {
                format!(
                    ", but under different host state ({})",
                    verdict_words::host_contrast(contrast)
                )
            });
            let sentence = sentence([a, b], figure, ratio, unit);
            let sentence = format!("{lead}{sentence} in {subject}{host}");
            found.push(((ratio.value - 1.0).abs(), sentence));
        }
    }
    found.sort_by(|x, y| y.0.total_cmp(&x.0));
    let more = found.len().saturating_sub(SENTENCES_MAX);
    let mut points: Vec<String> =
        found.into_iter().take(SENTENCES_MAX).map(|(_, sentence)| sentence).collect();
    if more > 0 {
        points.push(format!("and {more} more in the tables below"));
    }
    let same: Vec<&FigureComparison> = pair
        .figures()
        .map(|(_, _, figure)| figure)
        .filter(|figure| figure.main && figure.verdict == Verdict::NoDifference)
        .collect();
    if !points.is_empty() && !same.is_empty() {
        points.push(format!("no difference in {} others. {}", same.len(), sensitivity(&same)));
    }
    points
}

/// `B is 12.4 % (11.3 to 13.5 %) faster than A: 12,400 vs 11,000 ops/s`.
fn sentence(
    [a, b]: [&str; 2],
    figure: &FigureComparison,
    ratio: Ratio,
    time_unit: TimeUnit,
) -> String {
    let more = ratio.value > 1.0;
    let (low, high) = match more {
        true => (ratio.low - 1.0, ratio.high - 1.0),
        false => (1.0 - ratio.high, 1.0 - ratio.low),
    };
    let size =
        format!("{} % ({} to {} %)", share((ratio.value - 1.0).abs()), share(low), share(high));
    let values = match (figure.first, figure.second) {
        (Some(first), Some(second)) => format!(
            ": {} vs {} {}",
            value(figure.figure, second.value, time_unit),
            value(figure.figure, first.value, time_unit),
            unit(figure.figure, time_unit)
        ),
        _ => String::new(),
    };
    let longer = if more { "longer" } else { "shorter" };
    match figure.figure {
        Figure::AchievedRate | Figure::Throughput => {
            let faster = if more { "faster" } else { "slower" };
            format!("{b} is {size} {faster} than {a}{values}")
        }
        Figure::CpuPerOp => {
            let more = if more { "more" } else { "less" };
            format!("{b} uses {size} {more} CPU time per operation{values}")
        }
        other => format!("{b}'s {} is {size} {longer}{values}", name(other)),
    }
}

/// A share in percent, with one decimal below 100 %.
fn share(share: f64) -> String {
    let percent = share * 100.0;
    match percent.abs() {
        size if size < 0.05 => "0.0".to_owned(),
        size if size < 99.95 => format!("{percent:.1}"),
        _ => format!("{percent:.0}"),
    }
}

pub(super) const fn name(figure: Figure) -> &'static str {
    match figure {
        Figure::AchievedRate => "achieved rate",
        Figure::Throughput => "throughput",
        Figure::ResponseMean => "mean response time",
        Figure::ResponseP50 => "median response time",
        Figure::ResponseP99 => "p99 response time",
        Figure::ResponseP999 => "p99.9 response time",
        Figure::ServiceMean => "mean service time",
        Figure::CpuPerOp => "CPU per operation",
    }
}

/// The unit of response and service times in a comparison.
pub(super) fn time_unit(comparison: &Comparison) -> TimeUnit {
    let is_time = |figure: Figure| {
        !matches!(figure, Figure::AchievedRate | Figure::Throughput | Figure::CpuPerOp)
    };
    let figures = comparison.pairs.iter().flat_map(Pair::figures).map(|(_, _, figure)| figure);
    let times = figures.filter(|figure| is_time(figure.figure));
    let values = times.flat_map(|figure| [figure.first, figure.second]).flatten();
    TimeUnit::of(values.map(|estimate| estimate.value))
}

pub(super) const fn unit(figure: Figure, time_unit: TimeUnit) -> &'static str {
    match figure {
        Figure::AchievedRate => "ops/s",
        Figure::Throughput => "MiB/s",
        Figure::CpuPerOp => "µs",
        _ => time_unit.symbol(),
    }
}

pub(super) fn value(figure: Figure, value: f64, time_unit: TimeUnit) -> String {
    match figure {
        Figure::AchievedRate => plain(value),
        Figure::Throughput => mib(value),
        Figure::CpuPerOp => us(value),
        _ => time_unit.print(value),
    }
}

/// Load points that only one side has.
pub(super) fn unmatched(comparison: &Comparison, pair: &Pair) -> Vec<String> {
    let (a, b) = labels(comparison, pair);
    let only = |label: &str, names: &[String]| {
        let shown = names.iter().take(SENTENCES_MAX).map(String::as_str).collect::<Vec<_>>();
        let more = names.len().saturating_sub(SENTENCES_MAX);
        let rest = if more > 0 { format!("; and {more} more") } else { String::new() };
        (!names.is_empty())
            .then(|| format!("only {label} has {}{rest}: not compared", shown.join("; ")))
    };
    [only(a, &pair.only_in_first), only(b, &pair.only_in_other)].into_iter().flatten().collect()
}

/// The statistical method.
pub(super) fn method(comparison: &Comparison) -> String {
    let bases: Vec<Basis> = comparison
        .pairs
        .iter()
        .flat_map(|pair| pair.figures().map(|(_, _, figure)| figure.basis))
        .collect();
    let test = match bases.contains(&Basis::Blocks) {
        true => {
            "The sides took turns in blocks of two runs in random order. Each difference has a \
             95 % confidence interval from the ratios within blocks (paired t)."
        }
        false => {
            "Each difference has a 95 % confidence interval (Welch's t, Fieller's for the ratio) \
             and a rank test (Mann and Whitney)."
        }
    };
    let drift = match bases.iter().any(|basis| matches!(basis, Basis::Repeats | Basis::Borrowed)) {
        true => {
            " Repeats ran back to back, so the interval includes drift (as a random walk) between \
             the two sessions."
        }
        false => "",
    };
    let mut text = format!(
        "{test}{drift} Main figures are the achieved rate of a closed loop, the mean response time \
         of an open loop, and the 99th percentile of both."
    );
    if comparison.main_tests > 0 {
        text.push_str(&format!(
            " The {} of main figures share one error rate of 5 % (Holm), the {} others another.",
            counted(comparison.main_tests as u64, "test"),
            comparison.other_tests
        ));
    }
    if bases.contains(&Basis::WithinRuns) {
        text.push_str(
            " The interval of single runs contains the uncertainty of each, not the variation \
             between runs.",
        );
    }
    if bases.contains(&Basis::Borrowed) {
        text.push_str(
            " A side with a single run is assumed to vary between runs as the other side does.",
        );
    }
    if let Some(share) = comparison.options.run_to_run {
        text.push_str(&format!(
            " The given variation between single runs is {} (one standard deviation).",
            percent(share)
        ));
    }
    text
}
