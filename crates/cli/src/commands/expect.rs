//! `expect`: what others published about a configuration like this one, and what it means here.

use std::io::Write;
use std::time::SystemTime;

use cloud::figure::{self, Access, Figure};
use predict::Parameters;
use predict::expect::{Configuration, nearest, predicted};
use report::expect::{Expectation, Measured};
use units::Utc;

use crate::commands::output::WIDTH;
use crate::commands::{expect_run, predict as predicting};
use crate::exit::{Exit, Failure, Outcome};
use crate::expect_args::{ClientKind, ExpectArguments};

/// Bytes in a KiB.
const KIB: u64 = 1024;

pub(crate) fn run(arguments: &ExpectArguments) -> Outcome {
    let loads = match &arguments.run {
        Some(id) => expect_run::loads(id, arguments)?,
        None => loads(arguments).into_iter().map(|load| (load, None)).collect(),
    };
    let figures = figure::all();
    let parameters = Parameters::calibrated(&figures);
    let top = arguments.top as usize;
    let of = |(configuration, measured): (Configuration, Option<Measured>)| {
        expectation(configuration, measured, &figures, &parameters, top)
    };
    let all: Vec<Expectation> = loads.into_iter().map(of).collect();
    let sheet = report::expect::sheet(&all, arguments.explain);
    if let Some(path) = &arguments.report {
        predicting::write_sheet(&report::expect::sheet(&all, true), path)?;
    }
    let mut out = std::io::stdout().lock();
    match arguments.json {
        true => report::expect::json::write(&all, &mut out)?,
        false => out.write_all(sheet.text(WIDTH).as_bytes())?,
    }
    out.flush()?;
    Ok(Exit::Done)
}

/// The nearest figures, and what the model says.
pub(super) fn expectation(
    configuration: Configuration,
    measured: Option<Measured>,
    figures: &[Figure],
    parameters: &Parameters,
    top: usize,
) -> Expectation {
    let year = Utc::from_unix_ms(now_unix_ms()).year;
    let all = nearest(&configuration, figures, parameters, year);
    Expectation {
        curve: predicted(&configuration, parameters),
        near: all.into_iter().take(top).collect(),
        figures: figures.to_vec(),
        configuration,
        measured,
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
pub(super) fn of(
    arguments: &ExpectArguments,
    transfer_bytes: u64,
    access: Access,
    read: f64,
) -> Configuration {
    Configuration {
        protocol: arguments.protocol,
        vm: arguments.vm.clone(),
        esxi: arguments.client == ClientKind::Esxi,
        hosts: u64::from(arguments.clients),
        nconnect: u64::from(arguments.nconnect.unwrap_or(1)),
        volumes: u64::from(arguments.volumes),
        kind: arguments.kind,
        limit_bytes_per_s: arguments.limit.map(|limit| limit.get()),
        transfer_bytes,
        read,
        access,
        outstanding: None,
        floor_s: None,
    }
}

fn now_unix_ms() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// What a figure cannot be set beside.
pub(super) fn nothing(id: &str) -> Failure {
    Failure::input(anyhow::anyhow!(
        "expect from `{id}`: it has no operations that succeeded; name a record that has, as \
         `fourcorners show` tells"
    ))
}
