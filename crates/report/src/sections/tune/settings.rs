//! The settings of load generators that give the concurrency, for each host.

use analysis::Findings;
use analysis::tune::findings::{HostShare, Settings, TuneFindings};
use workload::plan::TargetSpec;

use super::METHOD;
use super::quantities::{files, hosts, operations, workers};
use crate::document::{Block, Section};
use crate::settings::{Load, experiment, fio, vdbench};

/// Why only fourcorners' own experiment is printed for operations on names.
pub(super) const NO_JOB: &str = "fio and Vdbench have no equivalent job for these operations on \
                                 names, so there are no settings for them.";

/// The mount point in the settings of generators that need a mount.
const MOUNT: &str = "/mnt/vol1";

/// The settings of load generators that give the concurrency.
pub(in crate::sections) fn settings(findings: &Findings) -> Option<Section> {
    let tune = findings.tune.as_ref()?;
    let settings = tune.settings.as_ref()?;
    let directory = match &tune.target {
        TargetSpec::Directory { path } => path.as_str(),
        TargetSpec::Nfs { .. } | TargetSpec::Emulated { .. } | TargetSpec::Null => MOUNT,
    };
    let load = Load {
        stream: &tune.stream,
        phases: settings.phases,
        connections: settings.connections,
        directory,
        io_method: findings.io_method,
    };
    let mut blocks = vec![Block::Paragraph(distribution(tune, settings))];
    let has_jobs = tune.target != TargetSpec::Null && !tune.stream.is_on_names();
    if has_jobs && !matches!(tune.target, TargetSpec::Directory { .. }) {
        blocks.push(Block::Paragraph(format!(
            "fio and Vdbench need a mount; replace `{MOUNT}` by the mount point."
        )));
    }
    for share in &settings.shares {
        let on = on_hosts(&settings.shares, share);
        let command = experiment::command(&tune.target);
        blocks.push(Block::Paragraph(format!(
            "fourcorners{on}: save as `tuned.toml` and run `{command}`"
        )));
        blocks.push(Block::Commands(experiment::lines(&load, share)));
        if has_jobs {
            blocks.push(Block::Paragraph(format!(
                "fio{on}: save as `tuned.fio` and run `fio tuned.fio`"
            )));
            blocks.push(Block::Commands(fio::job(&load, share)));
        }
    }
    if let Some(lines) = experiment::size_lines(&tune.stream) {
        let file = experiment::SIZES_FILE;
        blocks.push(Block::Paragraph(format!("Sizes of its files: save as `{file}` next to it")));
        blocks.push(Block::Commands(lines));
    }
    if tune.stream.is_on_names() {
        blocks.push(Block::Paragraph(NO_JOB.to_owned()));
    }
    if has_jobs {
        match vdbench::lines(&load, &settings.shares) {
            Ok(lines) => {
                let usage = "Vdbench: save as `tuned.vdb` and run `vdbench -f tuned.vdb`";
                blocks.push(Block::Paragraph(usage.to_owned()));
                blocks.push(Block::Commands(lines));
            }
            Err(reason) => blocks.push(Block::Paragraph(format!("Vdbench: {reason}."))),
        }
    }
    Some(Section {
        id: "tuning-settings",
        title: format!("Settings for {} outstanding", operations(settings.outstanding)),
        blocks,
        method: vec![METHOD],
    })
}

/// How the outstanding operations are distributed over hosts, workers and files.
fn distribution(tune: &TuneFindings, settings: &Settings) -> String {
    let shares = &settings.shares[..];
    let total: u64 = shares.iter().map(|share| share.hosts * share.outstanding).sum();
    let hosts: u64 = shares.iter().map(|share| share.hosts).sum();
    let files = match &tune.stream.names {
        Some(load) => format!("on a tree of {}", files(load.tree.files)),
        None => format!("over {}", files(u64::from(tune.stream.working_set.files))),
    };
    let mut text = match shares {
        [only] if only.hosts == 1 => format!(
            "{} on one host: {} x queue depth {}, {files}.",
            operations(total),
            workers(only.workers),
            only.queue_depth
        ),
        _ => {
            let each = shares.iter().map(|share| {
                format!(
                    "{} with {} each ({} x queue depth {})",
                    self::hosts(share.hosts),
                    share.outstanding,
                    workers(share.workers),
                    share.queue_depth
                )
            });
            let each: Vec<String> = each.collect();
            let mut text =
                format!("{} over {hosts} hosts: {}.", operations(total), each.join(", "));
            let idle = u64::from(tune.reach.hosts).saturating_sub(hosts);
            if idle > 0 {
                text.push_str(&format!(
                    " {} would be idle, because there are fewer operations than hosts.",
                    self::hosts(idle)
                ));
            }
            text.push_str(
                " This is calculated: everything was measured on one host, and others may have a \
                 different network and response time. Hosts on one volume need separate \
                 directories, which you have to add to the settings.",
            );
            text
        }
    };
    if let Some(connections) = settings.connections {
        text.push_str(&format!(
            " The operations of a host are distributed over {connections} connections (nconnect)."
        ));
    }
    if shares.iter().any(|share| share.rate.is_some()) {
        text.push_str(
            " Unpaced they exceed the required rate, so the settings limit the rate; remove the \
             limit for the maximum rate.",
        );
    }
    text
}

/// ` on 2 hosts`; nothing for a single host.
pub(super) fn on_hosts(shares: &[HostShare], share: &HostShare) -> String {
    match shares {
        [only] if only.hosts == 1 => String::new(),
        _ => format!(" on {}", hosts(share.hosts)),
    }
}
