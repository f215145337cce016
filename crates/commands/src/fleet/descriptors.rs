//! File descriptors for the pipes of all agents, of which a shell's usual limit allows some 300.

use anyhow::anyhow;

use crate::outcome::Failure;

/// The standard streams of an agent's process.
const EACH_HOST: u64 = 3;
/// For the record, the terminal, sockets, and the process that is being started.
const SPARE: u64 = 64;

/// Raises this process's limit as far as these hosts require and the system allows.
///
/// # Errors
/// The limit is too low for so many hosts.
pub(super) fn provide_for(hosts: usize) -> Result<(), Failure> {
    let needed = needed_for(hosts);
    refuse_below(volume::shell::raise_descriptor_limit(needed), hosts)
}

const fn needed_for(hosts: usize) -> u64 {
    hosts as u64 * EACH_HOST + SPARE
}

fn refuse_below(limit: u64, hosts: usize) -> Result<(), Failure> {
    let needed = needed_for(hosts);
    if limit >= needed {
        return Ok(());
    }
    let reason =
        anyhow!("{hosts} hosts need {needed} open files, and this process is limited to {limit}");
    let possible = limit.saturating_sub(SPARE) / EACH_HOST;
    let remedy = format!("raise the limit (ulimit -n {needed}), or use at most {possible} hosts");
    Err(Failure::input(reason).with_remedy(&remedy))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_hosts_than_open_files_allow_are_refused_with_the_number_that_is_possible() {
        refuse_below(needed_for(1_000), 1_000).expect("they are exactly sufficient");
        let refused = refuse_below(1_024, 1_000).expect_err("three each are missing");
        let reason = refused.reason_in_words();
        assert!(reason.contains("1000 hosts need 3064 open files"), "{reason}");
        assert!(reason.contains("limited to 1024"), "{reason}");
        let remedy = refused.remedy.expect("there is one");
        assert!(
            remedy.contains("ulimit -n 3064") && remedy.contains("at most 320 hosts"),
            "{remedy}"
        );
        refuse_below(1_024, 320).expect("as the remedy says");
        assert!(refuse_below(1_024, 321).is_err());
    }
}
