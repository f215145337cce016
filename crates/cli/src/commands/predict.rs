//! `predict`: what a topology will do, before it is there.

use std::io::Write;
use std::path::Path;

use anyhow::{Context, anyhow};
use predict::expect::Configuration;
use predict::topology::Workload;
use predict::{Curve, Parameters, Topology, topology_file};
use report::expect::Expectation;
use report::predict::{Beside, Detail};
use report::sheet::Sheet;

use crate::beside::Literature;
use crate::commands::expect::now_unix_ms;
use crate::commands::output::{WIDTH, refuse_unwritable, to_file};
use crate::commands::predict_run;
use crate::diagnostics;
use crate::exit::{Exit, Failure, Outcome};
use crate::predict_args::{Against, PredictArguments};
use crate::terminal::Terminal;

/// Figures beside each workload.
const FIGURES_SHOWN: usize = 3;

pub(crate) fn run(arguments: &PredictArguments, terminal: &Terminal) -> Outcome {
    arguments.report.as_deref().map(refuse_unwritable_sheet).transpose()?;
    let topology = read(&arguments.topology, terminal)?;
    let parameters = Parameters::calibrated(&cloud::figure::all());
    let curve = predict::curve(&topology, &parameters).map_err(Failure::input)?;
    let beside = beside(arguments, &topology, &parameters)?;
    if let Some(path) = &arguments.report {
        write_report(&topology, &curve, &beside, path)?;
    }
    let mut out = std::io::stdout().lock();
    match arguments.json {
        true => report::predict::json::write(&topology, &curve, &beside, &mut out)?,
        false => {
            let detail = Detail { curve: arguments.curve, explain: arguments.explain };
            let sheet = report::predict::sheet(&topology, &curve, &beside, detail);
            out.write_all(sheet.text(WIDTH).as_bytes())?;
        }
    }
    out.flush()?;
    Ok(if curve.asked.is_some() { Exit::Done } else { Exit::Negative })
}

fn read(path: &Path, terminal: &Terminal) -> Result<Topology, Failure> {
    let text = std::fs::read_to_string(path)
        .with_context(|| format!("read topology {}", path.display()))
        .map_err(Failure::input)?;
    topology_file::parse(&text, &path.display().to_string()).map_err(|mistakes| {
        let drawn: Vec<_> = mistakes.into_iter().map(diagnostics::drawable).collect();
        diagnostics::print(&drawn, &text, terminal);
        Failure::said(Exit::BadInput)
    })
}

/// Everything that the prediction is to be set beside.
fn beside(
    arguments: &PredictArguments,
    topology: &Topology,
    parameters: &Parameters,
) -> Result<Beside, Failure> {
    let mut beside = Beside::default();
    for against in &arguments.against {
        match against {
            Against::Published => beside.published = published(topology),
            Against::Run(id) => {
                let store = &arguments.store;
                beside.measured.push(predict_run::measured(id, store, topology, parameters)?);
            }
        }
    }
    Ok(beside)
}

/// Each workload beside the figures nearest to it.
fn published(topology: &Topology) -> Vec<Expectation> {
    let literature = Literature::at(now_unix_ms(), FIGURES_SHOWN);
    let of = |workload: &Workload| literature.beside(Configuration::of(topology, workload), None);
    topology.workloads.iter().map(of).collect()
}

fn write_report(
    topology: &Topology,
    curve: &Curve,
    beside: &Beside,
    path: &Path,
) -> Result<(), Failure> {
    let detail = Detail { curve: true, explain: true };
    write_sheet(&report::predict::sheet(topology, curve, beside, detail), path)
}

/// The forms of a sheet as a file.
#[derive(Clone, Copy)]
enum SheetForm {
    Html,
    Markdown,
}

impl SheetForm {
    /// By the file's ending.
    fn of(path: &Path) -> Result<SheetForm, Failure> {
        match path.extension().and_then(|ending| ending.to_str()) {
            Some("html") => Ok(SheetForm::Html),
            Some("md") => Ok(SheetForm::Markdown),
            _ => Err(Failure::input(anyhow!(
                "write the report {}: its name ends in .html or .md, which says the form",
                path.display()
            ))),
        }
    }
}

/// Refuses a path that [`write_sheet`] could not write.
pub(super) fn refuse_unwritable_sheet(path: &Path) -> Result<(), Failure> {
    SheetForm::of(path)?;
    refuse_unwritable(path)
}

/// A page or Markdown, by the file's ending.
pub(super) fn write_sheet(sheet: &Sheet, path: &Path) -> Result<(), Failure> {
    let text = match SheetForm::of(path)? {
        SheetForm::Html => sheet.html().context("lay out the report").map_err(Failure::bug)?,
        SheetForm::Markdown => sheet.markdown(),
    };
    to_file(path, |out| out.write_all(text.as_bytes()))
}
