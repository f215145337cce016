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
use rvtools::inventory::{Host, Inventory};
use rvtools::{NamedBytes, is_table_of_a_set};
use sizing::avs::ask::{Ask, Facts, Ratio};
use sizing::avs::machine::{Disk, Machine, Power};
use sizing::avs::{OnVsan, Sizing, size};

use crate::avs_args::{self, AvsArguments, LoadSense, MemorySense, StorageSense};
use crate::commands::output::{self, WIDTH};
use crate::exit::{Exit, Failure, Outcome};

/// Bytes in a GiB.
const GIB: u64 = 1 << 30;

pub(crate) fn run(arguments: &AvsArguments) -> Outcome {
    refuse_unwritable(arguments)?;
    let files = files(arguments)?;
    let inventory = rvtools::read(&files).map_err(Failure::input)?;
    let machines = machines(&inventory, arguments)?;
    let ask = ask(&inventory, arguments);
    let (avs, catalog, prices) = (Avs::embedded(), Catalog::embedded(), Prices::embedded());
    let parameters = Parameters::calibrated(&figure::all());
    let facts = Facts {
        avs: &avs,
        catalog: &catalog,
        parameters: &parameters,
        prices: prices.storage(&arguments.region),
    };
    let sizing = size(&machines, &ask, &facts).map_err(Failure::input)?;
    let source = source(&files, inventory, arguments);
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
    let path = &arguments.rvtools;
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

fn machines(inventory: &Inventory, arguments: &AvsArguments) -> Result<Vec<Machine>, Failure> {
    let consumed = arguments.memory == MemorySense::Consumed;
    if consumed && inventory.machines.iter().all(|machine| machine.memory_consumed.is_none()) {
        return Err(Failure::input(anyhow!(
            "count consumed memory: no sheet vMemory with a column Consumed; use --memory \
             provisioned"
        )));
    }
    let machine = |machine: &rvtools::inventory::Machine| {
        let load = machine.load.unwrap_or_default();
        let (ops_per_s, bytes_per_s) = match arguments.load {
            LoadSense::Peak => (load.peak_ops_per_s, load.peak_bytes_per_s),
            LoadSense::Mean => (load.mean_ops_per_s, load.mean_bytes_per_s),
        };
        let disk = |disk: &rvtools::inventory::Disk| Disk {
            label: disk.label.clone(),
            capacity: disk.capacity,
            is_raw: disk.is_raw,
        };
        Machine {
            name: machine.name.clone(),
            row: machine.row,
            power: match machine.power {
                rvtools::inventory::Power::On => Power::On,
                rvtools::inventory::Power::Off => Power::Off,
                rvtools::inventory::Power::Suspended => Power::Suspended,
            },
            is_template: machine.is_template,
            is_placeholder: machine.is_placeholder,
            vcpus: machine.vcpus,
            memory: match consumed {
                true => machine.memory_consumed.unwrap_or(machine.memory),
                false => machine.memory,
            },
            storage: match arguments.storage {
                StorageSense::InUse => machine.in_use,
                StorageSense::Provisioned => machine.provisioned,
            },
            disks: machine.disks.iter().map(disk).collect(),
            ops_per_s,
            bytes_per_s,
        }
    };
    Ok(inventory.machines.iter().map(machine).collect())
}

fn ask(inventory: &Inventory, arguments: &AvsArguments) -> Ask {
    Ask {
        powers: arguments.power.iter().map(|power| power.power()).collect(),
        host: arguments.host.clone(),
        policy: arguments.policy.clone(),
        vcpus_per_core: arguments.vcpus_per_core.clone().or_else(|| ratio(&inventory.hosts)),
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
        host_month: arguments.host_price,
        ops_per_machine: arguments.iops_per_vm,
        bytes_per_s_per_machine: arguments.throughput_per_vm,
        transfer_bytes: arguments.transfer_size.get(),
        read_permille: u64::from(arguments.read.permille()),
    }
}

/// All virtual processors of the hosts to all their cores; where the export lacks either, the mean
/// of the hosts' own ratios.
fn ratio(hosts: &[Host]) -> Option<Ratio> {
    let sums = hosts.iter().map(|host| Some((host.vcpus?, host.cores?)));
    let sums: Option<Vec<(u64, u64)>> = sums.collect();
    if let Some(sums) = sums.filter(|sums| !sums.is_empty()) {
        let vcpus = sums.iter().fold(0, |sum: u64, (vcpus, _)| sum.saturating_add(*vcpus));
        let cores = sums.iter().fold(0, |sum: u64, (_, cores)| sum.saturating_add(*cores));
        let source = "sheet vHost".to_owned();
        return (vcpus > 0 && cores > 0).then_some(Ratio { vcpus, cores, source });
    }
    let ratios: Vec<f64> = hosts.iter().filter_map(|host| host.vcpus_per_core).collect();
    let mean = ratios.iter().sum::<f64>() / ratios.len() as f64;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "within limits")]
    let vcpus = (mean * 1000.0).round().clamp(0.0, 1e9) as u64;
    let source = "mean over the sheet vHost".to_owned();
    (vcpus > 0).then_some(Ratio { vcpus, cores: 1000, source })
}

fn source(files: &[NamedBytes], inventory: Inventory, arguments: &AvsArguments) -> Source {
    let storage = match arguments.storage {
        StorageSense::InUse => "what it holds now, with snapshots and swap",
        StorageSense::Provisioned => "its disks and swap at their full size",
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
