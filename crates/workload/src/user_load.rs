//! Users of a stream at one load point: combines their keys and checks that they fit together.

use std::time::Duration;

use settings::{Diagnostic, SourceSpan};
use units::{counted, print_duration};

use crate::combination::StreamAt;
use crate::layer::DEFAULTS_FILE;
use crate::names::{NameLoad, NameProblem};
use crate::run::Spread;
use crate::scenario::{Scenario, ScenarioStep, Starts, Users};
use crate::value::Value;

/// Keys that only streams with users have.
const KEYS_OF_USERS: [&str; 3] = ["cycle", "scenario", "starts"];
/// Keys that users replace, with the key that sets the same.
const KEYS_REPLACED: [(&str, &str); 3] = [
    ("queue_depth", "each user has at most one operation in flight; omit it"),
    ("arrival", "`cycle` and the think times of `scenario` set when operations are due; omit it"),
    ("mix", "`scenario` sets the operations; omit it"),
];
/// Most operations of one worker's users in flight. Users whose operation is due wait for one of these.
const QUEUE_DEPTH_MAX: u32 = 1024;
/// Fewest that memory allows.
const QUEUE_DEPTH_MIN: u64 = 64;
/// Memory of one worker for the data of its operations.
const BUFFERS_BYTES: u64 = 256 << 20;

/// Reports keys of users without `users`, and keys that do not fit users.
pub(crate) fn check_keys(at: &StreamAt<'_, '_>, problems: &mut Vec<Diagnostic>) {
    let written = |key| at.at(key).filter(|(_, span)| span.file.as_ref() != DEFAULTS_FILE);
    if !at.layer.has_users() {
        for key in KEYS_OF_USERS {
            if let Some((_, span)) = written(key) {
                let wrong = format!("stream `{}` has `{key}`, but no users", at.name);
                let wrong = span.diagnostic(wrong, format!("`{key}` only with `users`"));
                problems.push(wrong.with_hint("set `users`, or use `mix` and `queue_depth`"));
            }
        }
        return;
    }
    for (key, hint) in KEYS_REPLACED {
        if let Some((_, span)) = written(key) {
            let wrong = format!("stream `{}` has `users` and `{key}`", at.name);
            problems.push(
                span.diagnostic(wrong, format!("`{key}` only without `users`")).with_hint(hint),
            );
        }
    }
    if at.shared_arrival.is_some()
        && let Some((_, span)) = at.at("users")
    {
        let wrong = format!("stream `{}` has `users`, and [run] sets `arrival`", at.name);
        let wrong = span.diagnostic(wrong, "`arrival` in [run] only without `users`");
        problems.push(wrong.with_hint("set `arrival` in the other streams"));
    }
}

/// The users of a stream; `None` without users, or if a value is missing or wrong.
pub(crate) fn users(at: &StreamAt<'_, '_>, problems: &mut Vec<Diagnostic>) -> Option<Users> {
    let (Value::Count(count), users_span) = at.at("users")? else { return None };
    let (Value::Duration(cycle_ns), cycle_span) = at.at("cycle")? else { return None };
    let starts = match at.at("starts") {
        Some((Value::Text(word), _)) if word == Starts::Even.name() => Starts::Even,
        _ => Starts::Random,
    };
    let count = u32::try_from(*count).ok()?;
    if let Some((Value::Scenario(scenario), span)) = at.at("scenario") {
        check_length(at, scenario, (*cycle_ns, cycle_span), span, problems)?;
    }
    let workers = at.count("workers")?;
    if count < workers {
        let wrong = format!("stream `{}` has fewer users than workers", at.name);
        let wrong = users_span.diagnostic(wrong, format!("`users` of at least {workers}"));
        let wrong = wrong.with_found(format!("users={count}, workers={workers}"));
        problems.push(wrong.with_hint("lower `workers`; one sends for thousands of users"));
        return None;
    }
    Some(Users { count, cycle_ns: *cycle_ns, starts })
}

/// Refuses a scenario whose think times and offsets alone take longer than the cycle, or than the run.
fn check_length(
    at: &StreamAt<'_, '_>,
    scenario: &Scenario,
    (cycle_ns, cycle_span): (u64, &SourceSpan),
    span: &SourceSpan,
    problems: &mut Vec<Diagnostic>,
) -> Option<()> {
    let shown = |ns| print_duration(Duration::from_nanos(ns));
    let offsets = scenario.steps.iter().filter_map(|step| match step {
        ScenarioStep::At(ns) => Some(*ns),
        _ => None,
    });
    if let Some(last_ns) = offsets.max().filter(|last_ns| *last_ns >= cycle_ns) {
        let wrong = format!(
            "a step of the scenario of stream `{}` is at an offset after the end of its cycle",
            at.name
        );
        let allowed = format!("`at` below {}", shown(cycle_ns));
        let wrong = span.diagnostic(wrong, allowed).with_found(shown(last_ns));
        let hint = format!("lower the offset, or raise `cycle` above {}", shown(last_ns));
        problems.push(wrong.with_hint(hint));
        return None;
    }
    let length_ns = scenario.length_mean_ns();
    if length_ns >= cycle_ns {
        let wrong = format!(
            "the think times of the scenario of stream `{}` take longer than its cycle, so every \
             scenario would be late",
            at.name
        );
        let wrong = cycle_span.diagnostic(wrong, format!("`cycle` above {}", shown(length_ns)));
        let wrong = wrong.with_found(shown(cycle_ns));
        problems.push(wrong.with_hint("raise `cycle`, or shorten the think times of `scenario`"));
        return None;
    }
    let active = at.phases.map(|phases| phases.total_ns());
    if let Some(run_ns) = active.filter(|run_ns| length_ns > *run_ns) {
        let wrong = format!(
            "the think times and offsets of the scenario of stream `{}` take longer than the run, so no \
             scenario would end",
            at.name
        );
        let allowed = format!("a scenario of at most {}", shown(run_ns));
        let wrong = span.diagnostic(wrong, allowed).with_found(shown(length_ns));
        let hint = format!("raise `measure` in [run] to {} or more", shown(length_ns));
        problems.push(wrong.with_hint(hint));
        return None;
    }
    Some(())
}

/// The most users on one target.
pub(crate) fn users_of_target(at: &StreamAt<'_, '_>, users: &Users) -> Option<u32> {
    let targets = at.targets(&mut Vec::new())?;
    let (all, of_target) = match at.spread() {
        Spread::All => (targets.count(), 1),
        Spread::Host | Spread::Worker => {
            let workers = targets.workers(at.count("workers")?, at.hosts)?;
            (workers, u32::try_from(at.workers_of_target()?).ok()?)
        }
    };
    let share = u64::from(users.count).div_ceil(all.into()) * u64::from(of_target);
    u32::try_from(share.min(users.count.into())).ok()
}

/// Operations of one worker that may be in flight: those of all its users, as far as memory allows.
pub(crate) fn queue_depth(users: &Users, workers: u32, buffer_bytes: u64) -> u32 {
    let by_memory = (BUFFERS_BYTES / buffer_bytes.max(1)).max(QUEUE_DEPTH_MIN);
    let by_memory = u32::try_from(by_memory).unwrap_or(u32::MAX);
    users.of_worker(0, workers).max(1).min(by_memory).min(QUEUE_DEPTH_MAX)
}

/// The diagnostic of a scenario and a tree that do not fit together.
pub(crate) fn diagnostic(
    stream: &str,
    load: &NameLoad,
    users: u32,
    problem: NameProblem,
    names_span: &SourceSpan,
    scenario_span: &SourceSpan,
) -> Diagnostic {
    match problem {
        NameProblem::TooFewFiles { files_min } => {
            let wrong = format!("stream `{stream}` has too few files for its users");
            let each = files_min / u64::from(users.max(1));
            names_span
                .diagnostic(wrong, format!("`files` of at least {files_min} ({each} for each)"))
                .with_found(format!("files={}, {}", load.tree.files, counted(users.into(), "user")))
                .with_hint("raise `files`, or lower `users`")
        }
        NameProblem::ShortNames { name_length_min } => names_span
            .diagnostic(
                format!("the names of stream `{stream}` are too short to differ"),
                format!("`name_length` of at least {name_length_min}"),
            )
            .with_found(format!("name_length={}", load.tree.name_length)),
        NameProblem::OnlyGrows => scenario_span
            .diagnostic(
                format!(
                    "the scenario of stream `{stream}` only appends, so files grow without limit"
                ),
                "`append` only with `truncate`, `write_file`, `create` or `copy`",
            )
            .with_hint("add a step `{ truncate = 1 }`"),
        NameProblem::Unbalanced { added, removed, are_directories } => {
            let (what, adding, removing) = match are_directories {
                true => ("directories", "mkdir", "rmdir"),
                false => ("names", "create, copy, link and symlink", "unlink"),
            };
            let (more, less) =
                if removed > added { ("removes", "adds") } else { ("adds", "removes") };
            let wrong =
                format!("the scenario of stream `{stream}` {more} more {what} than it {less}");
            scenario_span
                .diagnostic(wrong, format!("as much {removing} as {adding} together"))
                .with_found(format!("{removing} {removed}, {adding} {added}"))
                .with_hint(match added {
                    0 => format!("omit `{removing}`"),
                    _ => format!("have {added} `{removing}` in the scenario"),
                })
        }
    }
}
