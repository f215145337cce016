//! `volume stat`: prints the counters of a service.

use std::io::Write;

use anyhow::Context;
use commands::outcome::{Exit, Failure, Outcome};
use commands::serve::query::query;
use report::service_totals::{ServiceTotals, text};

use crate::terminal::Terminal;
use crate::volume_args::{StatArguments, StatFormat};

pub(crate) fn run(arguments: &StatArguments, terminal: &Terminal) -> Outcome {
    let mut before: Option<ServiceTotals> = None;
    loop {
        let path = match arguments.format {
            StatFormat::Json | StatFormat::Text => "/stat.json",
            StatFormat::Prometheus => "/metrics",
        };
        let mut answer = query(arguments.address, path)?;
        if arguments.format == StatFormat::Text {
            let now: ServiceTotals = serde_json::from_str(&answer)
                .context("read the service's reply")
                .map_err(Failure::target)?;
            answer = text(&now, before.as_ref(), terminal.listing_columns());
            before = Some(now);
        }
        let mut out = std::io::stdout().lock();
        out.write_all(answer.as_bytes())?;
        out.flush()?;
        drop(out);
        let Some(interval) = arguments.watch else { return Ok(Exit::Done) };
        std::thread::sleep(interval);
    }
}
