//! Users: their scenarios, how many were late, and the overload point.

use analysis::Findings;
use analysis::curve::Curve;
use analysis::users::UsersSummary;

use crate::document::{Block, Section};
use crate::number::{NONE, TimeUnit, half_width, percent, plain, thousands};
use crate::results::{percentile, printed};
use crate::table::{Column, Table};

/// The section; `None` without users.
pub(super) fn section(findings: &Findings) -> Option<Section> {
    let of_users = |curve: &&Curve| !rows(findings, curve).is_empty();
    let curves: Vec<&Curve> = findings.curves.iter().filter(of_users).collect();
    let mut blocks: Vec<Block> =
        curves.iter().map(|curve| Block::Table(table(findings, curve))).collect();
    let mut sentences: Vec<String> =
        curves.iter().filter_map(|curve| overload_point(findings, curve)).collect();
    let all = curves.iter().flat_map(|curve| rows(findings, curve));
    if all.into_iter().any(|(_, users)| users.overload.is_none()) {
        sentences.push(
            "-: no user's second start was due in the window. To measure overload, make `warm_up` and \
             `measure` together longer than `cycle`."
                .to_owned(),
        );
    }
    if !sentences.is_empty() {
        blocks.push(Block::List(sentences));
    }
    (!blocks.is_empty()).then(|| Section {
        id: "users",
        title: "Users".to_owned(),
        blocks,
        method: vec!["Users"],
    })
}

/// The points of a curve that have users, by their labels.
fn rows<'a>(findings: &'a Findings, curve: &'a Curve) -> Vec<(&'a str, &'a UsersSummary)> {
    let row = |point: &'a analysis::curve::CurvePoint| {
        let users = findings.load_points[point.load_point].merged.total.users.as_ref()?;
        Some((point.label.as_str(), users))
    };
    curve.points.iter().filter_map(row).collect()
}

fn table(findings: &Findings, curve: &Curve) -> Table {
    let rows = rows(findings, curve);
    let times = |pick: fn(&UsersSummary) -> &analysis::users::UserTimes| {
        TimeUnit::of(rows.iter().flat_map(|(_, users)| {
            let times = pick(users);
            let p99 = times.percentile(0.99).and_then(|p| p.value_ns).map(|ns| ns as f64);
            times.mean_ns.map(|mean| mean.value).into_iter().chain(p99)
        }))
    };
    let (duration, delay) = (times(|users| &users.duration), times(|users| &users.delay));
    let cells = |(label, users): &(&str, &UsersSummary)| {
        let of = |times: &analysis::users::UserTimes, fraction, unit| {
            percentile(times.percentile(fraction), unit)
        };
        vec![
            (*label).to_owned(),
            printed(users.scenarios_per_s, plain),
            thousands(users.due.into()),
            thousands(users.late.into()),
            overload(users),
            printed(users.duration.mean_ns, |ns| duration.print(ns)),
            of(&users.duration, 0.5, duration),
            of(&users.duration, 0.99, duration),
            of(&users.delay, 0.99, delay),
        ]
    };
    let time =
        |name: &str| Column::numbers(name, duration.symbol()).grouped("duration of a scenario");
    Table {
        caption: curve.name.clone(),
        columns: vec![
            Column::numbers(&curve.axis, ""),
            Column::numbers("scenarios", "1/s"),
            Column::numbers("starts due", "").dispensable(2),
            Column::numbers("late", "").dispensable(3),
            Column::numbers("overload", ""),
            time("mean"),
            time("p50").dispensable(4),
            time("p99"),
            Column::numbers("sent late, p99", delay.symbol()).dispensable(1),
        ],
        rows: rows.iter().map(cells).collect(),
    }
}

/// The share of late scenarios with its interval.
fn overload(users: &UsersSummary) -> String {
    let Some(overload) = users.overload else { return NONE.to_owned() };
    percent(overload.value)
}

/// Whether every overload point that was found is certain.
pub(crate) fn is_known(findings: &Findings) -> bool {
    findings.curves.iter().filter_map(|curve| curve.overload_point).all(|found| found.is_certain)
}

/// `Overload point: between 800 and 900 users (overload 0.4 % and 2.1 %; at most 1.0 % is tolerated).`
pub(crate) fn overload_point(findings: &Findings, curve: &Curve) -> Option<String> {
    let found = curve.overload_point?;
    let most = format!("at most {} is tolerated", percent(found.overload_max));
    let users = |point: usize| {
        let point = &findings.load_points[curve.points[point].load_point];
        point.merged.total.users.as_ref()
    };
    let count = |point: usize| thousands(users(point).map_or(0, |users| users.users).into());
    let share = |point: usize| {
        let Some(overload) = users(point).and_then(|users| users.overload) else {
            return NONE.to_owned();
        };
        let half = overload.uncertainty.filter(|_| overload.value > 0.0);
        let half = half.map(|_| format!(" ± {}", half_width(overload.relative().unwrap_or(0.0))));
        format!("{}{}", percent(overload.value), half.unwrap_or_default())
    };
    let (range, shares) = match (found.passes, found.fails) {
        (Some(passes), Some(fails)) => (
            format!("between {} and {} users", count(passes), count(fails)),
            format!("{} and {}", share(passes), share(fails)),
        ),
        (Some(passes), None) if passes + 1 == curve.points.len() => {
            (format!("above {} users, the most that were measured", count(passes)), share(passes))
        }
        (Some(passes), None) => (
            format!("above {} users, the most whose overload was measured", count(passes)),
            share(passes),
        ),
        (None, Some(fails)) => {
            (format!("below {} users, the fewest that were measured", count(fails)), share(fails))
        }
        (None, None) => return None,
    };
    let found_with = match found.is_certain {
        true => "Overload point",
        false => "Likely overload point",
    };
    let mut sentence = format!("{found_with}: {range} (overload {shares}; {most}).");
    if !found.is_certain {
        sentence.push_str(
            " The 95 % CI includes the tolerated overload, or there is none; measure longer \
             (`--measure`).",
        );
    }
    Some(sentence)
}
