//! `label`, `rm`, `prune` and `du`: keep records in order.

use commands::keep::listing::{usage, usage_table};
use commands::keep::removal::{older_than, remove};
use commands::outcome::{Exit, Failure, Outcome};
use store::Annotation;
use units::{Bytes, counted};

use super::output::to_stdout;
use crate::keep_args::{DuArguments, LabelArguments, PruneArguments, RmArguments};
use crate::terminal::Terminal;

pub(crate) fn label(arguments: &LabelArguments) -> Outcome {
    let store = arguments.which.store.open();
    let id = store.resolve(&arguments.which.id).map_err(Failure::input)?;
    let mut annotation = match arguments.remove {
        true => Annotation::default(),
        false => store.annotation(&id).map_err(Failure::input)?,
    };
    annotation.label = arguments.label.clone().or(annotation.label);
    annotation.note = arguments.note.clone().or(annotation.note).filter(|note| !note.is_empty());
    store.annotate(&id, &annotation).map_err(Failure::input)?;
    to_stdout(|out| match &annotation.label {
        Some(label) => writeln!(out, "{id} is labelled {label}"),
        None => writeln!(out, "{id} has no label"),
    })?;
    Ok(Exit::Done)
}

pub(crate) fn rm(arguments: &RmArguments, terminal: &Terminal) -> Outcome {
    let mut worst = Ok(Exit::Done);
    for removed in remove(&arguments.store.open(), &arguments.ids) {
        match removed {
            Ok(removed) => to_stdout(|out| {
                writeln!(out, "removed {} ({})", removed.id, Bytes::new(removed.disk_bytes))
            })?,
            Err(failure) => {
                // The last failure is printed on exit.
                if let Err(earlier) = std::mem::replace(&mut worst, Err(failure)) {
                    terminal.failure(&earlier);
                }
            }
        }
    }
    worst
}

pub(crate) fn prune(arguments: &PruneArguments, terminal: &Terminal) -> Outcome {
    let store = arguments.store.open();
    let old = older_than(&store, arguments.older_than, arguments.keep_labelled)?;
    if old.is_empty() {
        to_stdout(|out| writeln!(out, "no record is that old"))?;
        return Ok(Exit::Done);
    }
    if arguments.dry_run {
        to_stdout(|out| {
            for one in &old {
                writeln!(out, "would remove {} ({})", one.id, Bytes::new(one.disk_bytes))?;
            }
            let sum = old.iter().map(|one| one.disk_bytes).sum();
            writeln!(out, "{}, {}", counted(old.len() as u64, "record"), Bytes::new(sum))
        })?;
        return Ok(Exit::Done);
    }
    let ids = old.into_iter().map(|one| one.id).collect();
    rm(&RmArguments { ids, store: arguments.store.clone() }, terminal)
}

pub(crate) fn du(arguments: &DuArguments, terminal: &Terminal) -> Outcome {
    let all = usage(&arguments.store.open())?;
    to_stdout(|out| match arguments.json {
        true => {
            serde_json::to_writer_pretty(&mut *out, &all)?;
            writeln!(out)
        }
        false => out.write_all(usage_table(&all).text(terminal.listing_columns()).as_bytes()),
    })?;
    Ok(Exit::Done)
}
