//! `fleet status`: prints the agents and spools of hosts.

use anyhow::anyhow;
use commands::fleet::status::status;
use commands::outcome::{Exit, Failure, Outcome};

use super::host_progress;
use super::output::to_stdout;
use crate::fleet_command::FleetStatusArguments;
use crate::interrupt;
use crate::terminal::Terminal;

pub(crate) fn run(arguments: &FleetStatusArguments, terminal: &Terminal) -> Outcome {
    let Some(fleet) = arguments.fleet.fleet()? else {
        let why = anyhow!("fleet status needs the hosts");
        return Err(Failure::input(why).with_remedy("name them with --hosts ssh:vm[01-24]"));
    };
    let interrupt = interrupt::listen()?;
    let mut observe = host_progress::observer(&fleet, terminal, &interrupt.stop);
    let found = status(&fleet, &mut observe);
    to_stdout(|out| match arguments.json {
        true => {
            serde_json::to_writer_pretty(&mut *out, &found)?;
            writeln!(out)
        }
        false => out.write_all(found.text(terminal.listing_columns()).as_bytes()),
    })?;
    Ok(if found.has_lost() { Exit::TargetFailed } else { Exit::Done })
}
