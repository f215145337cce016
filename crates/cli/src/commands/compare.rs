//! `compare`: the same load points of two and more experiments, with what chance alone would have
//! done beside each difference.

use std::io::Write;
use std::num::NonZero;
use std::thread::ScopedJoinHandle;

use analysis::compare::facts::Item;
use analysis::compare::side::Side;
use analysis::compare::{Comparison, Options, Overall, compare};
use anyhow::{anyhow, bail};
use report::compare::Detail;
use store::Store;

use crate::commands::output::WIDTH;
use crate::compare_args::{CompareArguments, CompareFormat, FailOn};
use crate::exit::{Exit, Failure, Outcome};

pub(crate) fn run(arguments: &CompareArguments) -> Outcome {
    let options = options(arguments).map_err(Failure::input)?;
    let sides = sides(arguments)?;
    let comparison = compare(&sides, &options);
    refuse_nothing_in_common(&comparison).map_err(Failure::input)?;
    let detail = if arguments.all { Detail::All } else { Detail::Main };
    let mut out = std::io::stdout().lock();
    match arguments.form() {
        CompareFormat::Text => {
            let text = report::compare::text(&comparison, detail, WIDTH);
            out.write_all(text.trim_start_matches('\n').as_bytes())?;
        }
        CompareFormat::Md => {
            out.write_all(report::compare::markdown(&comparison, detail).as_bytes())?;
        }
        CompareFormat::Json => report::compare::json::write(&comparison, &mut out)?,
    }
    out.flush()?;
    Ok(exit(&comparison, arguments.fail_on))
}

fn options(arguments: &CompareArguments) -> anyhow::Result<Options> {
    let mut options = Options::default();
    for name in &arguments.allow_different {
        match (name.as_str(), Item::named(name)) {
            ("all", _) => options.allowed.extend(Item::ALL),
            (_, Some(item)) => options.allowed.push(item),
            (_, None) => {
                let forbid = Item::ALL.into_iter().filter(|item| item.forbids());
                let names: Vec<&str> = forbid.map(Item::name).collect();
                bail!(
                    "allow `{name}` to differ: there is no such item; there are {}, and `all`",
                    names.join(", ")
                );
            }
        }
    }
    options.run_to_run = arguments.run_to_run.map(|share| share.fraction());
    if let Some(share) = arguments.resolution {
        options.resolution = share.fraction();
    }
    Ok(options)
}

/// Reads as many records at a time as there are processors: of each only what is compared is kept.
fn sides(arguments: &CompareArguments) -> Result<Vec<Side>, Failure> {
    let store = arguments.store.open();
    let mut ids: Vec<String> = Vec::new();
    for id in &arguments.ids {
        let id = store.resolve(id).map_err(Failure::input)?;
        if ids.contains(&id) {
            return Err(Failure::input(anyhow!(
                "compare `{id}` with itself: every record is named once"
            )));
        }
        ids.push(id);
    }
    let at_a_time = std::thread::available_parallelism().map_or(1, NonZero::get);
    let mut sides: Vec<Side> = Vec::new();
    for some in ids.chunks(at_a_time) {
        sides.extend(read(&store, some)?);
    }
    if let [only] = sides.as_slice() {
        return Err(Failure::input(anyhow!(
            "compare `{}`: name a second record; `fourcorners list` shows what is there",
            only.id
        )));
    }
    Ok(sides)
}

/// Reads records at the same time.
fn read(store: &Store, ids: &[String]) -> Result<Vec<Side>, Failure> {
    std::thread::scope(|scope| {
        let side = |id: &str| store.load(id).map(|record| Side::of(&record));
        let mut reading = Vec::new();
        for id in ids {
            let reader = std::thread::Builder::new().name("reader".to_owned());
            reading.push((id, reader.spawn_scoped(scope, move || side(id))));
        }
        let sides =
            reading.into_iter().map(|(id, reader)| match reader.map(ScopedJoinHandle::join) {
                Ok(Ok(side)) => side.map_err(Failure::input),
                Ok(Err(panic)) => std::panic::resume_unwind(panic),
                // No thread could be started for it.
                Err(_) => side(id).map_err(Failure::input),
            });
        sides.collect()
    })
}

fn refuse_nothing_in_common(comparison: &Comparison) -> anyhow::Result<()> {
    let Some(pair) = comparison.pairs.iter().find(|pair| pair.points.is_empty()) else {
        return Ok(());
    };
    bail!(
        "compare `{}` with `{}`: they have no load point in common; the first has {}, the second \
         {}; compare records of one experiment, measured twice",
        comparison.sides[0].id,
        comparison.sides[pair.side].id,
        some_of(&pair.only_in_first),
        some_of(&pair.only_in_other),
    );
}

/// The first few of load points.
fn some_of(names: &[String]) -> String {
    match names {
        [] => "none, for no run of it was begun".to_owned(),
        [a, b, c, rest @ ..] if !rest.is_empty() => {
            format!("{a}; {b}; {c}; and {} more", rest.len())
        }
        few => few.join("; "),
    }
}

fn exit(comparison: &Comparison, fail_on: FailOn) -> Exit {
    let negative = comparison.pairs.iter().any(|pair| match (fail_on, pair.verdict) {
        (FailOn::Never, _) => false,
        (_, Overall::NotComparable) => true,
        (FailOn::CannotTell, Overall::CannotTell) => true,
        _ => pair.regressed(),
    });
    if negative { Exit::Negative } else { Exit::Done }
}
