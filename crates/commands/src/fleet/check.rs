//! `check --hosts`: the checks of every host, and what differs between them.
//!
//! Agents only read facts. They are judged here, so that one judgement feeds every line.

use analysis::host_check::fleet::{CheckedHost, FleetCheckup, FleetHost};
use analysis::host_check::{self, About, Options as CheckOptions};
use anyhow::anyhow;

use super::reply;
use super::request::{HostFacts, Request};
use super::{Fleet, ObserveHosts};
use crate::check;
use crate::outcome::Failure;

/// The checks of a fleet.
#[derive(Debug)]
pub struct Checked {
    /// What was checked.
    pub about: About,
    /// The results.
    pub fleet: FleetCheckup,
}

/// Checks every host. A host that is not reached is part of the result.
///
/// * `observe` - gets the hosts that are not done, and may end the command
///
/// # Errors
/// The options name no target that several hosts can reach.
pub fn check(
    options: &check::Options,
    fleet: &Fleet,
    observe: ObserveHosts<'_>,
) -> Result<Checked, Failure> {
    if options.root.is_some() {
        return Err(Failure::input(anyhow!(
            "check --root with --hosts: a captured host has no agent; leave one of them out"
        )));
    }
    let about = check::about(options)?;
    let answers = fleet.ask(&Request::of_check(options), observe);
    let hosts = fleet.names().zip(answers).map(|(name, answer)| {
        let checked = answer.map_err(|lost| lost.to_string()).and_then(|answer| {
            let facts = reply::read::<HostFacts>(Ok(answer.result));
            let facts = facts.map_err(|failed| failed.in_words())?;
            let (facts, round_trip) = facts.into_parts();
            let options = CheckOptions {
                about: about.clone(),
                required: options.target_rate,
                round_trip,
                is_captured: false,
            };
            let checkup = host_check::judge(&facts, &options);
            let (clock_ahead_ns, clock_error_ns) = (answer.clock.wall_ns, answer.clock.error_ns);
            Ok(CheckedHost { facts, options, checkup, clock_ahead_ns, clock_error_ns })
        });
        FleetHost { name: name.to_owned(), checked }
    });
    let fleet = FleetCheckup::of(hosts.collect());
    Ok(Checked { about, fleet })
}
