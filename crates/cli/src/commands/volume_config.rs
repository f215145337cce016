//! What a service is to be: from a file or from flags, and from the file again.

use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};
use cloud::catalog::Catalog;
use units::diagnostic::Diagnostic;
use volume::config::{self, Config};
use volume::delay::Distribution;
use volume::one_volume::OneVolume;

use crate::diagnostics;
use crate::exit::{Exit, Failure};
use crate::terminal::Terminal;
use crate::volume_args::ServeArguments;

/// Why a file is no description.
pub(crate) enum Unusable {
    /// It cannot be read.
    Unreadable(anyhow::Error),
    /// Its text, and every mistake in it.
    Mistaken(String, Vec<Diagnostic>),
}

/// What the arguments describe. Mistakes have been shown when this fails.
pub(crate) fn described(
    arguments: &ServeArguments,
    catalog: &Catalog,
    terminal: &Terminal,
) -> Result<Config, Failure> {
    let Some(path) = &arguments.config else { return of_flags(arguments, catalog) };
    of_file(path, catalog).map_err(|unusable| match unusable {
        Unusable::Unreadable(error) => Failure::input(error),
        Unusable::Mistaken(text, mistakes) => {
            let drawn: Vec<_> = mistakes.into_iter().map(drawable).collect();
            diagnostics::print(&drawn, &text, terminal);
            Failure::said(Exit::BadInput)
        }
    })
}

/// Reads a file; the histograms that it names are found beside it.
pub(crate) fn of_file(path: &Path, catalog: &Catalog) -> Result<Config, Unusable> {
    let read = std::fs::read_to_string(path);
    let text =
        read.with_context(|| format!("read {}", path.display())).map_err(Unusable::Unreadable)?;
    let folder = path.parent().map_or_else(PathBuf::new, Path::to_owned);
    let mut open =
        |name: &str| std::fs::read_to_string(folder.join(name)).map_err(|error| error.to_string());
    let name = path.display().to_string();
    config::parse(&text, &name, catalog, &mut open)
        .map_err(|mistakes| Unusable::Mistaken(text, mistakes))
}

fn of_flags(arguments: &ServeArguments, catalog: &Catalog) -> Result<Config, Failure> {
    let none = Distribution::Constant { ns: 0 };
    let one = OneVolume {
        name: arguments.name.clone(),
        kind: arguments.kind.unwrap_or_else(|| catalog.usual_kind(arguments.quota)),
        quota: arguments.quota,
        level: arguments.level.service_level(),
        throughput: arguments.throughput,
        address: arguments.address,
        flow_throughput: arguments.flow_throughput,
        enforced: !arguments.no_limits,
        read: arguments.read_delay.clone().unwrap_or_else(|| none.clone()),
        write: arguments.write_delay.clone().unwrap_or(none),
    };
    one.config(catalog).map_err(|broken| {
        let all: Vec<String> = broken.iter().map(ToString::to_string).collect();
        Failure::input(anyhow!("{}", all.join("\n  ")))
    })
}

/// The hints of the service's mistakes are what is allowed.
fn drawable(mistake: Diagnostic) -> workload::diagnostic::Diagnostic {
    let mut drawn = diagnostics::drawable(mistake);
    drawn.allowed = drawn.hint.take().unwrap_or_default();
    drawn
}
