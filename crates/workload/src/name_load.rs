//! Combines the tree and the mix of a stream on names, and checks that they fit together.

use settings::{Diagnostic, SourceSpan};
use units::counted;

use crate::active_time;
use crate::arrival::Arrival;
use crate::combination::{StreamAt, write_stability};
use crate::data::DataPattern;
use crate::file_use::FileUse;
use crate::layer::DEFAULTS_FILE;
use crate::names::{NameLoad, NameProblem};
use crate::op::OpKind;
use crate::pattern::AccessPattern;
use crate::run::{Stream, WeightedSize, WorkingSet};
use crate::scenario::Users;
use crate::user_load;
use crate::value::Value;

/// Keys of operations at offsets, which a stream on names has none of.
pub(crate) const KEYS_AT_OFFSETS: [&str; 10] = [
    "read",
    "transfer_size",
    "pattern",
    "files",
    "file_size",
    "area",
    "sharing",
    "read_what",
    "direct",
    "fsync_every",
];
/// Data of whole files is read and written in parts of at most this size.
const BUFFER_BYTES_MAX: u64 = 1 << 20;
/// The unit of buffers.
const SECTOR: u64 = 512;

/// The stream of operations on names with these values; `None` if one is missing or wrong.
pub(crate) fn stream(at: &StreamAt<'_, '_>, problems: &mut Vec<Diagnostic>) -> Option<Stream> {
    let before = problems.len();
    refuse_keys_at_offsets(at, problems);
    user_load::check_keys(at, problems);
    let users = user_load::users(at, problems);
    let load = load(at, users.as_ref(), problems);
    let targets = at.targets(problems)?;
    let load = load?;
    let workers = targets.workers(at.count("workers")?, at.hosts)?;
    let (arrival, queue_depth) = match users {
        Some(users) => {
            let depth = user_load::queue_depth(&users, workers, buffer_bytes(&load));
            (Arrival::Users(users), depth)
        }
        None => (at.arrival()?, at.count("queue_depth")?),
    };
    let stream = Stream {
        name: at.name.to_owned(),
        read_permille: 0,
        transfer_sizes: vec![WeightedSize { size_bytes: buffer_bytes(&load), weight: 1 }],
        access_pattern: AccessPattern::Uniform,
        working_set: WorkingSet { files: 0, file_size_bytes: 0, area_bytes: 0 },
        file_use: FileUse::ALL,
        queue_depth,
        workers,
        arrival,
        direct: false,
        dsync: at.flag("dsync")?,
        write_stability: write_stability(at, problems),
        fsync_every_writes: None,
        data: DataPattern {
            compressible_permille: at.share("compressible")?,
            duplicate_permille: at.share("duplicate")?,
        },
        targets,
        active: active_time::of_stream(at, problems),
        names: Some(load),
        replay: None,
    };
    (problems.len() == before).then_some(stream)
}

/// Bytes of a buffer for the data of one operation.
fn buffer_bytes(load: &NameLoad) -> u64 {
    let append = match load.mix.permille(OpKind::Append) {
        0 => 0,
        _ => u64::from(load.append_bytes),
    };
    let largest = load.tree.sizes.max_bytes().max(append);
    largest.clamp(1, BUFFER_BYTES_MAX).next_multiple_of(SECTOR)
}

fn refuse_keys_at_offsets(at: &StreamAt<'_, '_>, problems: &mut Vec<Diagnostic>) {
    for key in KEYS_AT_OFFSETS {
        let written = at.at(key).filter(|(_, span)| span.file.as_ref() != DEFAULTS_FILE);
        if let Some((_, span)) = written {
            let wrong = format!("stream `{}` has `names` and `{key}`", at.name);
            let allowed = format!("`{key}` only for operations at offsets");
            let hint = match key {
                "files" | "file_size" => "set `files` and `size` in `names`",
                _ => "omit it, or use two streams; streams run concurrently",
            };
            problems.push(span.diagnostic(wrong, allowed).with_hint(hint));
        }
    }
}

/// The tree with its mix or scenario; `None` if one is missing or they do not fit together.
fn load(
    at: &StreamAt<'_, '_>,
    users: Option<&Users>,
    problems: &mut Vec<Diagnostic>,
) -> Option<NameLoad> {
    let (Value::Names(names), names_span) = at.at("names")? else { return None };
    let (mix, scenario, mix_span) = match (at.at("scenario"), at.at("mix")) {
        (Some((Value::Scenario(scenario), span)), _) if at.layer.has_users() => {
            (scenario.mix(), Some(scenario.clone()), span)
        }
        (_, Some((Value::Mix(mix), span))) if !at.layer.has_users() => (mix.clone(), None, span),
        _ => return None,
    };
    let has_users = scenario.is_some();
    let load =
        NameLoad { tree: names.tree.clone(), mix, append_bytes: names.append_bytes, scenario };
    let (lanes, queue_depth) = match has_users {
        true => (user_load::users_of_target(at, users?)?, 0),
        false => (u32::try_from(at.workers_of_target()?).ok()?, at.count("queue_depth")?),
    };
    let Some(problem) = load.problem(lanes, queue_depth) else { return Some(load) };
    if has_users {
        problems.push(user_load::diagnostic(at.name, &load, lanes, problem, names_span, mix_span));
        return None;
    }
    let workers = lanes;
    problems.push(match problem {
        NameProblem::TooFewFiles { files_min } => names_span
            .diagnostic(
                format!(
                    "stream `{}` has too few files for the operations that overlap: each uses \
                     files that no other adds, changes or removes",
                    at.name
                ),
                format!("`files` of at least {files_min}"),
            )
            .with_found(format!(
                "files={}, {}, queue depth {queue_depth}",
                load.tree.files,
                counted(workers.into(), "worker")
            ))
            .with_hint(
                "raise `files`, or lower `workers`, `queue_depth`, or the shares of create, copy, \
                 append, truncate and write_file",
            ),
        NameProblem::ShortNames { name_length_min } => names_span
            .diagnostic(
                format!("the names of stream `{}` are too short to differ", at.name),
                format!("`name_length` of at least {name_length_min}"),
            )
            .with_found(format!("name_length={}", load.tree.name_length)),
        NameProblem::OnlyGrows => mix_span
            .diagnostic(
                format!("stream `{}` only appends, so its files grow without limit", at.name),
                "`append` only with `truncate`, `write_file`, `create` or `copy`",
            )
            .with_hint("add as much `truncate` as the files are to grow between two of them"),
        NameProblem::Unbalanced { added, removed, are_directories } => {
            unbalanced(at.name, added, removed, are_directories, mix_span)
        }
    });
    None
}

/// The diagnostic of a mix that adds more or fewer names than it removes.
fn unbalanced(
    stream: &str,
    added: u64,
    removed: u64,
    are_directories: bool,
    span: &SourceSpan,
) -> Diagnostic {
    let percent = |permille: u64| format!("{}%", permille as f64 / 10.0);
    let (what, adding, removing) = match are_directories {
        true => ("directories", "mkdir", "rmdir"),
        false => ("names", "create, copy, link and symlink", "unlink"),
    };
    let wrong = if removed > added {
        format!("stream `{stream}` removes more {what} than it adds")
    } else {
        format!(
            "stream `{stream}` adds more {what} than it removes, so its tree grows without limit"
        )
    };
    let (added, removed) = (percent(added), percent(removed));
    span.diagnostic(wrong, format!("as much {removing} as {adding} together"))
        .with_found(format!("{removing} {removed}, {adding} {added}"))
        .with_hint(if added == "0%" {
            format!("omit `{removing}`")
        } else {
            format!("set `{removing} = \"{added}\"`")
        })
}
