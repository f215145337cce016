//! The settings of load generators that give the concurrency, for each host.

use analysis::Findings;
use analysis::tune::findings::{HostShare, Settings, TuneFindings};
use workload::plan::TargetSpec;

use super::METHOD;
use super::words::{files, hosts, operations, workers};
use crate::document::{Block, Section};
use crate::settings::{Load, experiment, fio, vdbench};

/// Where generators that need a mount are told that the export is.
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
        engine: findings.engine,
    };
    let mut blocks = vec![Block::Paragraph(dealt_out(tune, settings))];
    if !matches!(tune.target, TargetSpec::Directory { .. } | TargetSpec::Null) {
        blocks.push(Block::Paragraph(format!(
            "fio and Vdbench need a mount; `{MOUNT}` stands for where it is."
        )));
    }
    for share in &settings.shares {
        let on = on_hosts(&settings.shares, share);
        let command = experiment::command(&tune.target);
        blocks.push(Block::Paragraph(format!(
            "fourcorners{on}, with this as `tuned.toml`: `{command}`"
        )));
        blocks.push(Block::Commands(experiment::lines(&load, share)));
        if tune.target != TargetSpec::Null {
            blocks.push(Block::Paragraph(format!(
                "fio{on}, with this as `tuned.fio`: `fio tuned.fio`"
            )));
            blocks.push(Block::Commands(fio::job(&load, share)));
        }
    }
    if tune.target != TargetSpec::Null {
        match vdbench::lines(&load, &settings.shares) {
            Ok(lines) => {
                let words = "Vdbench, with this as `tuned.vdb`: `vdbench -f tuned.vdb`";
                blocks.push(Block::Paragraph(words.to_owned()));
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

/// How the outstanding operations are dealt out over hosts, workers and files.
fn dealt_out(tune: &TuneFindings, settings: &Settings) -> String {
    let shares = &settings.shares[..];
    let total: u64 = shares.iter().map(|share| share.hosts * share.outstanding).sum();
    let hosts: u64 = shares.iter().map(|share| share.hosts).sum();
    let files = files(tune.stream.working_set.files);
    let mut words = match shares {
        [only] if only.hosts == 1 => format!(
            "{} on one host: {} x queue depth {}, over {files}.",
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
            let mut words =
                format!("{} over {hosts} hosts: {}.", operations(total), each.join(", "));
            let none = u64::from(tune.reach.hosts).saturating_sub(hosts);
            if none > 0 {
                words.push_str(&format!(
                    " {} more would have nothing to do: there are fewer operations than hosts.",
                    self::hosts(none)
                ));
            }
            words.push_str(
                " This is arithmetic: all was measured on one host, whose network and response \
                 time the others need not share. Hosts on one volume need directories of their own, \
                 which the settings leave to you.",
            );
            words
        }
    };
    if let Some(connections) = settings.connections {
        words.push_str(&format!(
            " The operations of a host go over {connections} connections in turn (nconnect)."
        ));
    }
    if shares.iter().any(|share| share.ops_per_s.is_some()) {
        words.push_str(
            " Left alone they give more than is wanted, so the settings hold them at the wanted \
             rate; without that line they go as fast as they can.",
        );
    }
    words
}

fn on_hosts(shares: &[HostShare], share: &HostShare) -> String {
    match shares {
        [only] if only.hosts == 1 => String::new(),
        _ => format!(" on {}", hosts(share.hosts)),
    }
}
