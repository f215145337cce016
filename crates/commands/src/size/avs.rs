//! `avs`: hosts and datastores of Azure VMware Solution for the machines of an inventory.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};
use cloud::avs::Avs;
use cloud::catalog::Catalog;
use cloud::figure;
use cloud::price::Prices;
use predict::Parameters;
use report::avs::{Source, Unconfirmed};
use rvtools::inventory::Inventory;
use rvtools::{NamedBytes, is_table_of_a_set};
use sizing::avs::ask::{Ask, Facts};
use sizing::avs::current_estate::{CurrentEstate, today};
use sizing::avs::senses::Senses;
use sizing::avs::{Sizing, size};

use super::{inventory, profile};
use crate::outcome::Failure;

/// An inventory, and what to size for it.
#[derive(Clone, Debug)]
pub struct AvsOptions {
    /// The export of RVTools: a workbook, a CSV file, or a directory of CSV files.
    pub rvtools: PathBuf,
    /// The export of Live Optics.
    pub live_optics: Option<PathBuf>,
    /// The profile of loads: a file, or the name of a built-in profile.
    pub profile: Option<PathBuf>,
    /// Which of several figures of a machine counts.
    pub senses: Senses,
    /// The region of the list prices.
    pub region: String,
    /// The sizing. Its profile is replaced by `profile`; without a ratio of virtual processors per
    /// core, that of the inventory is used.
    pub ask: Ask,
}

/// Sizes Azure VMware Solution for an inventory.
///
/// # Errors
/// A file cannot be read or has problems, or the sizing is refused.
pub fn size_avs(options: &AvsOptions) -> Result<(Sizing, Source), Failure> {
    let given = options.profile.as_deref().map(profile::read).transpose()?;
    let (profile, unconfirmed) = given.map_or((None, None), |g| (Some(g.profile), g.unconfirmed));
    let files = files(options)?;
    let columns = profile.as_ref().map_or(&[][..], |profile| &profile.columns);
    let inventory = rvtools::read(&files, columns).map_err(Failure::input)?;
    let machines = inventory::machines(&inventory, options.senses)?;
    let estate = inventory::estate(&inventory);
    let mut ask = options.ask.clone();
    ask.vcpus_per_core = ask.vcpus_per_core.or_else(|| inventory::ratio(&inventory));
    ask.profile = profile;
    let (avs, catalog, prices) = (Avs::embedded(), Catalog::embedded(), Prices::embedded());
    let parameters = Parameters::calibrated(&figure::all());
    let facts = Facts {
        avs: &avs,
        catalog: &catalog,
        parameters: &parameters,
        prices: prices.storage(&options.region),
    };
    let sizing = size(&machines, &ask, &facts).map_err(Failure::input)?;
    let today = today(&estate, &sizing, &ask.host);
    Ok((sizing, source(&files, inventory, today, options.senses, unconfirmed)))
}

/// The files of the export, and Live Optics' after them.
fn files(options: &AvsOptions) -> Result<Vec<NamedBytes>, Failure> {
    let path = &options.rvtools;
    let mut files = match path.is_dir() {
        true => set(path)?,
        false => vec![file(path)?],
    };
    if let Some(path) = &options.live_optics {
        files.push(file(path)?);
    }
    Ok(files)
}

fn file(path: &Path) -> Result<NamedBytes, Failure> {
    let name = path.display().to_string();
    let bytes = fs::read(path).with_context(|| format!("read {name}")).map_err(Failure::input)?;
    Ok(NamedBytes { name, bytes })
}

/// The CSV files of a directory with a known sheet, by name.
fn set(directory: &Path) -> Result<Vec<NamedBytes>, Failure> {
    let name = directory.display();
    let entries = fs::read_dir(directory)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .with_context(|| format!("read the directory {name}"))
        .map_err(Failure::input)?;
    let mut paths: Vec<_> = entries.into_iter().map(|entry| entry.path()).collect();
    paths.retain(|path| path.file_name().is_some_and(|n| is_table_of_a_set(&n.to_string_lossy())));
    paths.sort();
    if paths.is_empty() {
        return Err(Failure::input(anyhow!(
            "read the directory {name}: it has no CSV file of RVTools, such as \
             RVTools_tabvInfo.csv"
        )));
    }
    paths.iter().map(|path| file(path)).collect()
}

fn source(
    files: &[NamedBytes],
    inventory: Inventory,
    today: CurrentEstate,
    senses: Senses,
    unconfirmed: Option<Unconfirmed>,
) -> Source {
    let has_loads = inventory.machines.iter().any(|machine| machine.load.is_some());
    Source {
        files: files.iter().map(|file| file.name.clone()).collect(),
        sheets: inventory.sheets,
        absent: inventory.absent,
        notes: inventory.notes,
        senses,
        has_loads,
        unconfirmed,
        today,
    }
}
