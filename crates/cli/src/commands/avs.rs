//! `avs`: hosts and datastores of Azure VMware Solution for the machines of an inventory.

use std::fs;
use std::io::Write;
use std::path::Path;

use anyhow::{Context, anyhow};
use cloud::avs::Avs;
use cloud::catalog::Catalog;
use cloud::figure;
use cloud::price::Prices;
use predict::Parameters;
use report::avs::{Source, sheet};
use rvtools::inventory::Inventory;
use rvtools::{NamedBytes, is_table_of_a_set};
use sizing::avs::ask::{Ask, Facts};
use sizing::avs::present::{Today, today};
use sizing::avs::profile::Profile;
use sizing::avs::{OnVsan, Sizing, size};

use crate::avs_args::{self, AvsArguments, LoadSense, MemorySense, StorageSense};
use crate::commands::output::{self, WIDTH};
use crate::commands::{avs_inventory, avs_profile};
use crate::exit::{Exit, Failure, Outcome};
use crate::terminal::Terminal;

/// Bytes in a GiB.
const GIB: u64 = 1 << 30;

pub(crate) fn run(arguments: &AvsArguments, terminal: &Terminal) -> Outcome {
    if let Some(name) = &arguments.print_profile {
        return avs_profile::print(name);
    }
    refuse_unwritable(arguments)?;
    let given = arguments.profile.as_deref().map(|given| avs_profile::read(given, terminal));
    let given = given.transpose()?;
    let (profile, doubts) = given.map_or((None, Vec::new()), |g| (Some(g.profile), g.doubts));
    let files = files(arguments)?;
    let columns = profile.as_ref().map_or(&[][..], |profile| &profile.columns);
    let inventory = rvtools::read_with_columns(&files, columns).map_err(Failure::input)?;
    let machines = avs_inventory::machines(&inventory, arguments)?;
    let estate = avs_inventory::estate(&inventory);
    let ask = ask(&inventory, profile, arguments);
    let (avs, catalog, prices) = (Avs::embedded(), Catalog::embedded(), Prices::embedded());
    let parameters = Parameters::calibrated(&figure::all());
    let facts = Facts {
        avs: &avs,
        catalog: &catalog,
        parameters: &parameters,
        prices: prices.storage(&arguments.region),
    };
    let mut sizing = size(&machines, &ask, &facts).map_err(Failure::input)?;
    sizing.assumptions.extend(doubts);
    for warning in &sizing.warnings {
        terminal.warn(warning);
    }
    let today = today(&estate, &sizing, &ask.host);
    let source = source(&files, inventory, today, arguments);
    show(&sizing, &source, arguments)?;
    Ok(if sizing.best.is_some() { Exit::Done } else { Exit::Negative })
}

/// Before anything is worked out.
fn refuse_unwritable(arguments: &AvsArguments) -> Result<(), Failure> {
    if let Some(path) = &arguments.report {
        let ending = path.extension().and_then(|ending| ending.to_str()).map(str::to_lowercase);
        if !matches!(ending.as_deref(), Some("html" | "md")) {
            return Err(Failure::input(anyhow!(
                "write {}: a report is .html or .md",
                path.display()
            )));
        }
    }
    for path in arguments.report.iter().chain(&arguments.placement) {
        output::refuse_unwritable(path)?;
    }
    Ok(())
}

/// The export's files, and Live Optics' behind them.
fn files(arguments: &AvsArguments) -> Result<Vec<NamedBytes>, Failure> {
    // Without a path clap lets only those through who print a profile.
    let Some(path) = &arguments.rvtools else { return Ok(Vec::new()) };
    let mut files = match path.is_dir() {
        true => set(path)?,
        false => vec![file(path)?],
    };
    if let Some(path) = &arguments.live_optics {
        files.push(file(path)?);
    }
    Ok(files)
}

fn file(path: &Path) -> Result<NamedBytes, Failure> {
    let name = path.display().to_string();
    let bytes = fs::read(path).with_context(|| format!("read {name}")).map_err(Failure::input)?;
    Ok(NamedBytes { name, bytes })
}

/// The CSV files of a directory that hold a sheet that is read, by name.
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
            "read the directory {name}: no CSV file of RVTools in it, such as \
             RVTools_tabvInfo.csv"
        )));
    }
    paths.iter().map(|path| file(path)).collect()
}

fn ask(inventory: &Inventory, profile: Option<Profile>, arguments: &AvsArguments) -> Ask {
    Ask {
        powers: arguments.power.iter().map(|power| power.power()).collect(),
        host: arguments.host.clone(),
        policy: arguments.policy.clone(),
        vcpus_per_core: arguments
            .vcpus_per_core
            .clone()
            .or_else(|| avs_inventory::ratio(inventory)),
        on_vsan: match arguments.on_vsan {
            avs_args::OnVsan::Coldest => OnVsan::Coldest,
            avs_args::OnVsan::Nothing => OnVsan::Nothing,
        },
        saving_permille: arguments.dedup,
        format_permille: u64::from(arguments.format_overhead.permille()),
        headroom_percent: arguments.headroom.map(|share| u64::from(share.permille()).div_ceil(10)),
        datastores: arguments.datastores,
        datastore_gib_max: arguments.datastore_size.map(|size| size.get() / GIB),
        hosts: arguments.hosts,
        spare_hosts: arguments.spare_hosts,
        host_month: arguments.host_price,
        profile,
        ops_per_machine: arguments.iops_per_vm,
        bytes_per_s_per_machine: arguments.throughput_per_vm,
        transfer_bytes: arguments.transfer_size.get(),
        read_permille: u64::from(arguments.read.permille()),
    }
}

fn source(
    files: &[NamedBytes],
    inventory: Inventory,
    today: Today,
    arguments: &AvsArguments,
) -> Source {
    let storage = match arguments.storage {
        StorageSense::InUse => "what it holds now, with snapshots and swap",
        StorageSense::Provisioned => "its disks and swap at their full size",
        StorageSense::Guest => {
            "what its guest's file systems hold, else what it holds on datastores"
        }
    };
    let memory = match arguments.memory {
        MemorySense::Provisioned => "what it was given",
        MemorySense::Consumed => "what it holds of its host's, else what it was given",
    };
    let mut senses = vec![format!("Storage of a machine is {storage}; memory is {memory}.")];
    if inventory.machines.iter().any(|machine| machine.load.is_some()) {
        senses.push(
            match arguments.load {
                LoadSense::Peak => "Measured loads are peaks, and count as if all came at once.",
                LoadSense::Mean => "Measured loads are means; peaks will be higher.",
            }
            .to_owned(),
        );
    }
    Source {
        files: files.iter().map(|file| file.name.clone()).collect(),
        sheets: inventory.sheets,
        absent: inventory.absent,
        notes: inventory.notes,
        senses,
        today,
    }
}

fn show(sizing: &Sizing, source: &Source, arguments: &AvsArguments) -> Result<(), Failure> {
    if let Some(path) = &arguments.placement {
        let design = sizing.best.map_or(&sizing.designs[0], |at| &sizing.designs[at]);
        output::to_file(path, |out| report::avs::placement::write(&sizing.selection, design, out))?;
    }
    if let Some(path) = &arguments.report {
        let sheet = sheet(sizing, source, true);
        let page = match path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("md")) {
            true => sheet.markdown(),
            false => sheet.html().context("lay out the report").map_err(Failure::bug)?,
        };
        output::to_file(path, |out| out.write_all(page.as_bytes()))?;
    }
    let mut out = std::io::stdout().lock();
    match arguments.json {
        true => report::avs::json::write(sizing, source, &mut out)?,
        false => {
            let text = sheet(sizing, source, arguments.explain).text(WIDTH);
            out.write_all(text.as_bytes())?;
        }
    }
    out.flush()?;
    Ok(())
}
