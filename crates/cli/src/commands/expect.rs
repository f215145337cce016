//! `expect`: what others published about a configuration like this one, and what it means here.

use std::io::Write;
use std::time::SystemTime;

use analysis::analyze;
use anyhow::anyhow;
use cloud::figure::{Access, Protocol};
use predict::expect::{Configuration, usual_endpoints};
use report::expect::published::Published;

use crate::beside::{self, Literature, Said};
use crate::commands::output::WIDTH;
use crate::commands::predict as predicting;
use crate::exit::{Exit, Failure, Outcome};
use crate::expect_args::{ClientKind, ExpectArguments};

/// Bytes in a KiB.
const KIB: u64 = 1024;

pub(crate) fn run(arguments: &ExpectArguments) -> Outcome {
    refuse_what_has_no_meaning(arguments)?;
    arguments.report.as_deref().map(predicting::refuse_unwritable_sheet).transpose()?;
    let shown = match &arguments.run {
        Some(id) => of_run(id, arguments)?,
        None => {
            let literature = Literature::at(now_unix_ms(), arguments.top as usize);
            let all = loads(arguments).into_iter();
            let expectations = all.map(|load| literature.beside(load, None)).collect();
            Published { expectations, ..Published::default() }
        }
    };
    if let Some(path) = &arguments.report {
        predicting::write_sheet(&report::expect::sheet(&shown, true), path)?;
    }
    let mut out = std::io::stdout().lock();
    match arguments.json {
        true => report::expect::json::write(&shown, &mut out)?,
        false => {
            let sheet = report::expect::sheet(&shown, arguments.explain);
            out.write_all(sheet.text(WIDTH).as_bytes())?;
        }
    }
    out.flush()?;
    Ok(Exit::Done)
}

/// What would be taken without a word and then not be looked at.
fn refuse_what_has_no_meaning(arguments: &ExpectArguments) -> Result<(), Failure> {
    let is_esxi = arguments.client == ClientKind::Esxi;
    let wrong = if is_esxi && arguments.nconnect.is_some() {
        "--nconnect: hosts of VMware's have one connection to each volume; leave it out, and say \
         with --volumes how many there are"
    } else if is_esxi && arguments.protocol == Some(Protocol::Smb) {
        "--protocol smb: hosts of VMware's have datastores over NFS only; leave it out"
    } else {
        return Ok(());
    };
    Err(Failure::input(anyhow!(wrong)))
}

/// What was measured, beside figures.
fn of_run(id: &str, arguments: &ExpectArguments) -> Result<Published, Failure> {
    let store = arguments.store.open();
    let record = store.load(id).map_err(Failure::input)?;
    let findings = analyze(&record);
    let said = said(arguments);
    let top = arguments.top as usize;
    let shown = beside::published(&record, &findings, &said, top, usize::MAX);
    if shown.expectations.is_empty() {
        return Err(Failure::input(anyhow!(
            "expect from `{}`: it has no operations that succeeded; name a record that has, as \
             `fourcorners show` tells",
            findings.id
        )));
    }
    Ok(shown)
}

/// What the arguments say of a configuration.
fn said(arguments: &ExpectArguments) -> Said {
    Said {
        vm: arguments.vm.clone(),
        protocol: arguments.protocol,
        nconnect: arguments.nconnect.map(u64::from),
        limit_bytes_per_s: arguments.limit.map(|limit| limit.get()),
        esxi: arguments.client == ClientKind::Esxi,
        hosts: u64::from(arguments.clients),
        volumes: u64::from(arguments.volumes),
        kind: arguments.kind,
    }
}

/// What the arguments ask for; all four corners where they name no load.
fn loads(arguments: &ExpectArguments) -> Vec<Configuration> {
    let ExpectArguments { transfer_size, read, pattern, .. } = arguments;
    if let (None, None, None) = (transfer_size, read, pattern) {
        let corners = [
            (8 * KIB, Access::Random, 1.0),
            (8 * KIB, Access::Random, 0.0),
            (64 * KIB, Access::Sequential, 1.0),
            (64 * KIB, Access::Sequential, 0.0),
        ];
        return corners.map(|(size, access, read)| of(arguments, size, access, read)).to_vec();
    }
    let access = pattern.unwrap_or(Access::Random);
    let usual = if access == Access::Random { 8 * KIB } else { 64 * KIB };
    let size = transfer_size.map_or(usual, |size| size.get());
    vec![of(arguments, size, access, read.map_or(1.0, |read| read.fraction()))]
}

/// The configuration of the arguments with a load.
fn of(
    arguments: &ExpectArguments,
    transfer_bytes: u64,
    access: Access,
    read: f64,
) -> Configuration {
    let said = said(arguments);
    Configuration {
        protocol: said.protocol.unwrap_or(Protocol::Nfsv3),
        vcpu: said.vm.as_ref().map(|size| size.vcpu),
        vm: said.vm,
        esxi: said.esxi,
        hosts: said.hosts,
        nconnect: said.nconnect.unwrap_or(1),
        volumes: said.volumes,
        kind: said.kind,
        endpoints: usual_endpoints(said.kind, said.volumes),
        limit_bytes_per_s: said.limit_bytes_per_s,
        transfer_bytes,
        read,
        access,
        outstanding: None,
        floor_s: None,
    }
}

pub(super) fn now_unix_ms() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
