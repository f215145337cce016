//! What a sizing takes for granted, in words.

use units::{Bytes, Percent, thousands};

use crate::avs::HOURS_PER_MONTH;
use crate::avs::ask::{Ask, Facts};
use crate::avs::machine::Selection;
use crate::avs::spread;

/// What was taken for granted.
pub(crate) fn assumptions(selection: &Selection, ask: &Ask, facts: &Facts<'_>) -> Vec<String> {
    let mut said = Vec::new();
    let mut say = |text: String| said.push(text);
    let machines = selection.machines.len() as u64;
    if selection.without_storage > 0 {
        say(format!(
            "{} machines have no figure for storage and count with none.",
            thousands(selection.without_storage as u64)
        ));
    }
    match (selection.measured as u64, selection.totals.bytes_per_s) {
        (_, None) => {
            say("No load is known, so pools are sized for capacity alone; give --ops-per-vm or \
             --throughput-per-vm, or a workbook of Live Optics with --live-optics."
                .to_owned())
        }
        (measured, Some(_)) if measured < machines => say(format!(
            "The load of {} of {} machines was not measured: {}.",
            thousands(machines - measured),
            thousands(machines),
            assumed_load(ask)
        )),
        _ => {}
    }
    if selection.totals.bytes_per_s.is_some() {
        say(format!(
            "Of operations {} are reads; all loads come at once.",
            Percent::from_permille(u16::try_from(ask.read_permille).unwrap_or(1000))
                .unwrap_or_default()
        ));
    }
    if ask.vcpus_per_core.is_none() {
        say("How many vCPUs share a core is not known, so hosts are not counted by processors; \
             give --vcpus-per-core, or an export with the sheet vHost."
            .to_owned());
    }
    say(format!(
        "Memory of a host is wholly for machines, vSAN's data are {} smaller than written, no host \
         is kept free for failures beyond the policy {}; the service's own machines do not count.",
        if ask.saving_permille == 1000 { "no" } else { "as much as asked" },
        ask.policy.name
    ));
    match facts.prices {
        Some(prices) => say(format!(
            "Prices are those of the list in {} ({}), without reservation or discount, for months \
             of {} hours.",
            prices.region, prices.origin.date, HOURS_PER_MONTH
        )),
        None => say("Without a region there are no prices.".to_owned()),
    }
    if ask.host_month.is_none() {
        say(
            "What a host costs is not among the facts; give --host-price for costs and savings in \
             money."
                .to_owned(),
        );
    }
    said
}

fn assumed_load(ask: &Ask) -> String {
    match (ask.ops_per_machine, ask.bytes_per_s_per_machine) {
        (Some(ops), Some(bytes)) => {
            format!("{} ops/s and {} are assumed", thousands(ops), spread::mib_per_s(bytes))
        }
        (Some(ops), None) => {
            format!("{} ops/s of {} are assumed", thousands(ops), Bytes::new(ask.transfer_bytes))
        }
        (None, Some(bytes)) => format!("{} are assumed", spread::mib_per_s(bytes)),
        (None, None) => "those count with none".to_owned(),
    }
}
