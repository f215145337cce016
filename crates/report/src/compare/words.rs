//! The sentences of a comparison.

use analysis::compare::facts::Item;
use analysis::compare::figure::Figure;
use analysis::compare::figures::{Basis, Doubt, FigureComparison, Verdict};
use analysis::compare::flaws::FlawKind;
use analysis::compare::welch::Ratio;
use analysis::compare::{Comparison, Overall, Pair};

use crate::number::{mib, percent, plain, us};

/// More sentences of one kind than this are counted, not written.
const SENTENCES_MAX: usize = 8;

/// The labels of a pair: `A`, `B`.
pub(super) fn labels<'a>(comparison: &'a Comparison, pair: &Pair) -> (&'a str, &'a str) {
    (&comparison.sides[0].label, &comparison.sides[pair.side].label)
}

/// `a`, `a and b`, `a, b and c`.
pub(super) fn and(words: &[&str]) -> String {
    match words {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    }
}

/// What the pair comes to, in a sentence or two.
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
                    " Where a cache of this host answers, figures are not those of the storage \
                     (direct I/O goes past it, and so do files larger than the memory)."
                }
                false => "",
            };
            format!(
                "No winner is named: {a} and {b} differ in {} as well, and nobody knows which of \
                 it makes the figures differ. If that is what you want to compare, say \
                 `--allow-different {}`.{cache}",
                and(&items),
                items.join(",")
            )
        }
        Overall::Faster => format!("{b} is faster than {a}. {tally}"),
        Overall::Slower => format!("{b} is slower than {a}. {tally}"),
        Overall::Mixed => format!("{b} is faster than {a} in some and slower in others. {tally}"),
        Overall::NoDifference => {
            format!("No difference between {a} and {b} was found. {tally} {}", seen(&main))
        }
        Overall::CannotTell => {
            format!("Whether {a} and {b} differ cannot be told. {tally} {}", doubts(&main))
        }
    }
}

/// What was wrong with the measurements, a sentence for each side and kind.
pub(super) fn caveats(comparison: &Comparison, pair: &Pair) -> Vec<String> {
    let of = |caveat: &analysis::compare::flaws::Caveat| {
        let what = match caveat.kind {
            FlawKind::Overloaded => "was offered more than it takes",
            FlawKind::NotSteady => "did not stand still",
            FlawKind::Cached => "was served by a cache of this host, not by the storage alone,",
            FlawKind::HostDiffers => "ran under different host state",
        };
        let count = caveat.load_points.len();
        let first = if count > 1 { ", first " } else { ": " };
        format!(
            "{} {what} in {count} of {}{first}{} ({})",
            comparison.sides[caveat.side].label,
            load_points(pair.points.len()),
            caveat.load_points[0],
            caveat.seen
        )
    };
    pair.caveats.iter().map(of).collect()
}

/// `Of 4 main figures in 2 load points 3 are better and 1 without a difference.`
fn tally(main: &[&FigureComparison], points: usize) -> String {
    let count = |wanted: fn(&Verdict) -> bool| main.iter().filter(|f| wanted(&f.verdict)).count();
    let counts = [
        (count(|v| *v == Verdict::Better), "better"),
        (count(|v| *v == Verdict::Worse), "worse"),
        (count(|v| *v == Verdict::NoDifference), "without a difference"),
        (count(|v| matches!(v, Verdict::CannotTell(_))), "undecided"),
    ];
    let said: Vec<String> = counts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
    let said: Vec<&str> = said.iter().map(String::as_str).collect();
    let figures = if main.len() == 1 { "figure" } else { "figures" };
    format!("Of {} main {figures} in {}: {}.", main.len(), load_points(points), and(&said))
}

fn load_points(count: usize) -> String {
    format!("{count} load point{}", if count == 1 { "" } else { "s" })
}

/// What a comparison that found nothing would have found.
fn seen(main: &[&FigureComparison]) -> String {
    let largest = |share: fn(&FigureComparison) -> Option<f64>| {
        main.iter().filter_map(|figure| share(figure)).fold(0.0, f64::max)
    };
    format!(
        "A change of {} in any of them would have been seen with 80 % power; the largest that a \
         95 % interval leaves possible is {}.",
        percent(largest(|figure| figure.detectable)),
        percent(largest(|figure| figure.at_most))
    )
}

/// What to do where the state of the host may explain the difference.
const INTERLEAVE: &str =
    "`fourcorners run A B --interleave` measures both in turns and would tell.";

/// Why nothing can be said, and what to do.
fn doubts(main: &[&FigureComparison]) -> String {
    let has = |wanted: fn(Doubt) -> bool| {
        main.iter().any(|f| matches!(f.verdict, Verdict::CannotTell(doubt) if wanted(doubt)))
    };
    if has(|d| d == Doubt::HostDiffers) {
        return format!("The two sides ran under different host state. {INTERLEAVE}");
    }
    if has(|d| d == Doubt::Drift) {
        return format!(
            "No difference can be shown from back-to-back runs: the drift from one repeat to the \
             next explains as much. {INTERLEAVE}"
        );
    }
    if has(|d| d == Doubt::FewBackToBack) {
        return format!(
            "Back-to-back runs take at least 9 repeats of both sides together (`--repeats 5`) to \
             tell a difference from a change of the host. {INTERLEAVE}"
        );
    }
    if has(|d| matches!(d, Doubt::SingleRuns | Doubt::SingleRunsDiffer)) {
        return "Each load point was measured once on each side, so how much one run differs from \
                the next is not known. Measure both in turns (`run A B --interleave`), \
                or each at least five times (`--repeats 5`), or say what is known of it \
                (`--run-to-run 2%`)."
            .to_owned();
    }
    if has(|d| d == Doubt::TooCoarse) {
        return "The repeats differ too much among themselves; more of them (`--repeats 10`) or \
                longer windows show smaller changes."
            .to_owned();
    }
    String::new()
}

/// A sentence for each main figure that differs, and what is known of those that do not.
pub(super) fn findings(comparison: &Comparison, pair: &Pair) -> Vec<String> {
    if pair.verdict == Overall::NotComparable {
        return Vec::new();
    }
    let (a, b) = labels(comparison, pair);
    let mut found: Vec<(f64, String)> = Vec::new();
    for (point, subject, figure) in pair.figures() {
        let differs = match figure.verdict {
            Verdict::Better | Verdict::Worse => figure.main,
            Verdict::CannotTell(Doubt::SingleRunsDiffer) => figure.main,
            _ => false,
        };
        if let (true, Some(ratio)) = (differs, figure.ratio) {
            let place = match subject.name.as_str() {
                "" => point.name.clone(),
                name => format!("{}: {name}", point.name),
            };
            let lead = match figure.verdict {
                Verdict::CannotTell(_) => "within these runs ",
                _ => "",
            };
            let host = point.host.map_or(String::new(), |contrast| {
                format!(", but under different host state ({})", contrast.in_words())
            });
            let sentence = format!("{lead}{} in {place}{host}", sentence(a, b, figure, ratio));
            found.push(((ratio.value - 1.0).abs(), sentence));
        }
    }
    found.sort_by(|x, y| y.0.total_cmp(&x.0));
    let more = found.len().saturating_sub(SENTENCES_MAX);
    let mut points: Vec<String> =
        found.into_iter().take(SENTENCES_MAX).map(|(_, words)| words).collect();
    if more > 0 {
        points.push(format!("and {more} more, in the tables below"));
    }
    let same: Vec<&FigureComparison> = pair
        .figures()
        .map(|(_, _, figure)| figure)
        .filter(|figure| figure.main && figure.verdict == Verdict::NoDifference)
        .collect();
    if !points.is_empty() && !same.is_empty() {
        points.push(format!("no difference in {} others. {}", same.len(), seen(&same)));
    }
    points
}

/// `B is 12.4 % (11.3 to 13.5 %) faster than A: 12,400 against 11,000 ops/s`.
fn sentence(a: &str, b: &str, figure: &FigureComparison, ratio: Ratio) -> String {
    let more = ratio.value > 1.0;
    let (low, high) = match more {
        true => (ratio.low - 1.0, ratio.high - 1.0),
        false => (1.0 - ratio.high, 1.0 - ratio.low),
    };
    let size =
        format!("{} % ({} to {} %)", share((ratio.value - 1.0).abs()), share(low), share(high));
    let values = match (figure.first, figure.second) {
        (Some(first), Some(second)) => format!(
            ": {} against {} {}",
            value(figure.figure, second.value),
            value(figure.figure, first.value),
            unit(figure.figure)
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
            format!("{b} takes {size} {more} processor time for each operation{values}")
        }
        other => format!("{b}'s {} is {size} {longer}{values}", name(other)),
    }
}

/// A share in percent, with one digit behind the point up to 100 %.
fn share(share: f64) -> String {
    let percent = share * 100.0;
    match percent.abs() {
        size if size < 0.05 => "0.0".to_owned(),
        size if size < 99.95 => format!("{percent:.1}"),
        _ => format!("{percent:.0}"),
    }
}

/// What a figure is called.
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

/// Its unit.
pub(super) const fn unit(figure: Figure) -> &'static str {
    match figure {
        Figure::AchievedRate => "ops/s",
        Figure::Throughput => "MiB/s",
        _ => "us",
    }
}

/// It as printed.
pub(super) fn value(figure: Figure, value: f64) -> String {
    match figure {
        Figure::AchievedRate => plain(value),
        Figure::Throughput => mib(value),
        _ => us(value),
    }
}

/// Load points that have no partner.
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

/// How it was judged.
pub(super) fn method(comparison: &Comparison) -> String {
    let bases: Vec<Basis> = comparison
        .pairs
        .iter()
        .flat_map(|pair| pair.figures().map(|(_, _, figure)| figure.basis))
        .collect();
    let test = match bases.contains(&Basis::Blocks) {
        true => {
            "The sides took turns in blocks of two runs, in random order. Each difference has a \
             95 % interval from the ratios within the blocks (paired t)."
        }
        false => {
            "Each difference has a 95 % interval (Welch's t, Fieller's for the ratio) and a test \
             by ranks (Mann and Whitney)."
        }
    };
    let drift = match bases.iter().any(|basis| matches!(basis, Basis::Repeats | Basis::Borrowed)) {
        true => {
            " Repeats ran back to back, so the interval covers what their drift (as a random walk) \
             would move one session from the other."
        }
        false => "",
    };
    let mut words = format!(
        "{test}{drift} A main figure is the achieved rate of a \
                     closed loop, the mean response time of an open one, and the 99th percentile \
                     of both."
    );
    if comparison.main_tests > 0 {
        words.push_str(&format!(
            " The {} of main figures share one error rate of 5 % (Holm), the {} others another.",
            tests(comparison.main_tests),
            comparison.other_tests
        ));
    }
    if bases.contains(&Basis::WithinRuns) {
        words.push_str(
            " Of single runs the interval tells how well each is known, not how much runs differ.",
        );
    }
    if bases.contains(&Basis::Borrowed) {
        words.push_str(
            " Where one side is a single run, it is taken to differ from run to run as the other \
             side does.",
        );
    }
    if let Some(share) = comparison.options.run_to_run {
        words.push_str(&format!(
            " Single runs were said to differ by {} from run to run (one standard deviation).",
            percent(share)
        ));
    }
    words
}

fn tests(count: usize) -> String {
    format!("{count} test{}", if count == 1 { "" } else { "s" })
}
