//! A search in words: its first load, its steps, and when it ends.

use std::fmt::Write as _;
use std::time::Duration;

use units::{BytesPerSec, OpsPerSec, percent, print_duration, print_whole_seconds, thousands};
use workload::plan::{Run, Step, Stream};
use workload::reach::{Reach, RequiredRate};
use workload::scale::Scale;
use workload::search::{OfferedRates, QueueDepthLadder, Repeats, Search, SearchMethod};
use workload::user_search::UserSearch;

use super::stream::stream_words;
use super::write_lines;

pub(super) fn search_lines(out: &mut String, search: &Search) {
    let most = Duration::from_nanos(Step::Search(search.clone()).time_max_ns());
    let first = search.template.index + 1;
    let _ = writeln!(
        out,
        "{first:>4}. {}: search, at most {} runs in {}",
        search.name,
        search.runs_max,
        print_whole_seconds(most)
    );
    let mut words = Vec::new();
    match &search.method {
        SearchMethod::QueueDepth(ladder) => words.extend(ladder_words(ladder)),
        SearchMethod::OfferedRate(rates) => {
            words.extend(ladder_words(&rates.ladder));
            words.push(rates_words(rates, search));
        }
        SearchMethod::Reach(reach) => words.extend(reach_words(reach)),
        SearchMethod::Scale(scale) => words.extend(scale_words(scale, &search.template)),
        SearchMethod::Users(users) => words.push(users_words(users)),
        SearchMethod::Repeat(repeat) => {
            words.push(format!("{} load points:", repeat.points.len()));
            words.extend(repeat.points.iter().map(|run| run.load_point()));
        }
    }
    words.extend(repeats_words(search.repeats));
    let phases = search.template.phases;
    let time = |ns| print_duration(Duration::from_nanos(ns));
    words.push(format!(
        "each run {} after {} of warm-up",
        time(phases.measure_ns),
        time(phases.warm_up_ns)
    ));
    let template = &search.template;
    if let SearchMethod::QueueDepth(_)
    | SearchMethod::OfferedRate(_)
    | SearchMethod::Scale(_)
    | SearchMethod::Users(_) = search.method
    {
        words.extend(template.streams.iter().map(|stream| searched_words(stream, template)));
    }
    write_lines(&words, out);
}

/// A stream without the settings that the search varies.
fn searched_words(stream: &Stream, template: &Run) -> String {
    let mut template = template.clone();
    for key in ["queue_depth", "arrival", "users"] {
        template.parameters.push((key.to_owned(), String::new()));
    }
    stream_words(stream, &template).replace(", arrival as named", "")
}

fn objective_words(ladder: &QueueDepthLadder) -> String {
    ladder.response_time_max_ns.map_or_else(String::new, |ns| {
        let time = print_duration(Duration::from_nanos(ns));
        format!(", or the mean response time exceeds {time}")
    })
}

/// `twice`, `4 times`
fn times(factor: u32) -> String {
    match factor {
        2 => "twice".to_owned(),
        more => format!("{more} times"),
    }
}

fn ladder_words(ladder: &QueueDepthLadder) -> Vec<String> {
    let mut words = vec![format!(
        "closed loop: 1 operation outstanding, then {} as many in each step, up to {}, until throughput \
         stops rising (two steps in a row with less than {} per doubling){}",
        times(ladder.step),
        ladder.queue_depth_max,
        percent(ladder.gain_min_permille.into()),
        objective_words(ladder)
    )];
    if ladder.refine_max > 0 {
        words.push(format!("then up to {} between these, near the knee", ladder.refine_max));
    }
    words
}

fn users_words(users: &UserSearch) -> String {
    let rungs = users.rungs();
    format!(
        "users: {}, then {} as many in each step, up to {}, until more than {} of the scenarios are \
         late; then halfway between the last two, to a precision of {}",
        thousands(u64::from(rungs[0])),
        times(users.step),
        thousands(u64::from(users.users_max)),
        percent(users.overload_max_permille.into()),
        percent(users.precision_permille.into())
    )
}

fn rates_words(rates: &OfferedRates, search: &Search) -> String {
    let share = |point: u32| f64::from(point) * 100.0 / f64::from(rates.load_points.max(1));
    format!(
        "open loop: Poisson arrivals at {:.0} % to {:.0} % of the peak rate, in {} steps, with \
         at most {} outstanding, until the target is overloaded{}",
        share(1),
        share(rates.load_points + rates.beyond),
        rates.load_points + rates.beyond,
        search.template.queue_depth_total(),
        objective_words(&rates.ladder)
    )
}

fn repeats_words(repeats: Repeats) -> Option<String> {
    match repeats.until_permille {
        None if repeats.least > 1 => Some(format!("each load point {} times", repeats.least)),
        None => None,
        Some(until) => Some(format!(
            "each load point {} to {} times, until achieved rate and mean response time are precise \
             to {}",
            repeats.least,
            repeats.most,
            percent(until.into())
        )),
    }
}

fn reach_words(reach: &Reach) -> Vec<String> {
    let required = match reach.required {
        RequiredRate::Throughput { bytes_per_s } => BytesPerSec::new(bytes_per_s).to_string(),
        RequiredRate::Rate { ops_per_s } => OpsPerSec::new(ops_per_s).to_string(),
    };
    vec![format!(
        "the least concurrency that reaches {required} (tolerance {}): 1 operation outstanding, then as \
         many as Little's law requires, up to {}, until n reach the rate and n - 1 do not, or \
         throughput stops rising",
        percent(reach.within_permille.into()),
        reach.outstanding_max
    )]
}

fn scale_words(scale: &Scale, template: &Run) -> Vec<String> {
    let workers: u32 = template.streams.iter().map(|stream| stream.workers).sum();
    let most = scale.queue_depth_max.saturating_mul(workers);
    let mut changes = vec!["transfer size", "order", "number of workers"];
    if template.hosts > 1 {
        changes.push("number of hosts");
    }
    if template.streams.iter().any(|stream| stream.targets.count() > 1) {
        changes.push("number of targets");
    }
    if scale.connections {
        changes.insert(0, "number of connections");
    }
    if scale.direction {
        changes.push("direction");
    }
    let (last, others) = changes.split_last().expect("there are three");
    vec![
        format!(
            "bottleneck: {workers} {} outstanding, then four times as many in each step, up to \
             {most}, until throughput stops rising",
            if workers == 1 { "operation" } else { "operations" }
        ),
        format!(
            "then one change at a time, another {} or {last}: the change for which the remaining \
             explanations predict different rates, until one remains or no change distinguishes them",
            others.join(", ")
        ),
    ]
}
