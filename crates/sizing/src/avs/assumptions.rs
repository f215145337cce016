//! What a sizing takes for granted, in words.

use cloud::avs::AvsLimit;
use units::{Bytes, Percent, counted, thousands};

use crate::avs::ask::{Ask, Facts};
use crate::avs::flows::Load;
use crate::avs::hosts::Hosts;
use crate::avs::machine::{LoadFrom, Selection};
use crate::avs::{HOURS_PER_MONTH, spread};

/// What was taken for granted.
pub(crate) fn assumptions(
    selection: &Selection,
    hosts: &Hosts,
    ask: &Ask,
    facts: &Facts<'_>,
) -> Vec<String> {
    let mut said = Vec::new();
    let mut say = |text: String| said.push(text);
    let machines = selection.machines.len() as u64;
    if selection.without_storage > 0 {
        say(format!(
            "{} machines have no figure for storage and count with none.",
            thousands(selection.without_storage as u64)
        ));
    }
    match selection.totals.bytes_per_s {
        None => say("No load is known, so pools are sized for capacity alone; give --profile, \
             --iops-per-vm or --throughput-per-vm, or a workbook of Live Optics with \
             --live-optics."
            .to_owned()),
        Some(_) => {
            say(load_sources(selection, ask));
            let load = Load::of(selection.machines.iter(), ask.read_permille);
            let read = u16::try_from(load.read_permille).unwrap_or(1000);
            let read = Percent::from_permille(read).unwrap_or_default();
            say(format!("Of operations {read} are reads; all loads come at once."));
        }
    }
    let by_nobody = selection.without_load as u64;
    if by_nobody > 0 && by_nobody < machines {
        say(format!(
            "{} of {} machines have no load at all and count with none.",
            thousands(by_nobody),
            thousands(machines)
        ));
    }
    if ask.vcpus_per_core.is_none() {
        say("How many vCPUs share a core is not known, so hosts are not counted by processors; \
             give --vcpus-per-core, or an export with the sheet vHost."
            .to_owned());
    }
    say(format!(
        "Memory of a host is wholly for machines; vSAN's data are {} smaller than written and \
         safe as the policy {} makes them; the service's own machines, for which {} of the first \
         cluster are reserved, do not count.",
        if ask.saving_permille == 1000 { "no" } else { "as much as asked" },
        ask.policy.name,
        Bytes::gib(facts.avs.limit(AvsLimit::ManagementMemory))
    ));
    say(match hosts.spare_per_cluster {
        0 => "No host is kept free: while one has failed the others do its work too.".to_owned(),
        spare => format!(
            "Processors and memory of {} of each cluster are kept free for hosts that fail; their \
             vSAN is used, of which {} % stay free.",
            counted(spare, "host"),
            100 - facts.avs.limit(AvsLimit::VsanUsedMax).min(100)
        ),
    });
    match facts.prices {
        Some(prices) => say(format!(
            "Prices are those of the list in {} ({}), without reservation or discount, for months \
             of {} hours.",
            prices.region(),
            prices.levels.origin.date,
            HOURS_PER_MONTH
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

/// Who says what how many machines do.
fn load_sources(selection: &Selection, ask: &Ask) -> String {
    let from = |whom| selection.machines.iter().filter(|one| one.load_from == whom).count() as u64;
    let mut parts = Vec::new();
    let mut say = |count: u64, what: String| {
        if count > 0 {
            parts.push(format!("{} {what}", thousands(count)));
        }
    };
    say(from(LoadFrom::Measured), "measured".to_owned());
    let name = ask.profile.as_ref().map_or("", |profile| profile.name.as_str());
    say(from(LoadFrom::Class), format!("assumed by the profile {name}"));
    say(from(LoadFrom::Asked), format!("assumed for each ({})", assumed_load(ask)));
    say(from(LoadFrom::Nobody), "not known".to_owned());
    let all = thousands(selection.machines.len() as u64);
    format!("Loads of {all} machines: {}.", parts.join(", "))
}

fn assumed_load(ask: &Ask) -> String {
    match (ask.ops_per_machine, ask.bytes_per_s_per_machine) {
        (Some(ops), Some(bytes)) => {
            format!("{} ops/s, {}", thousands(ops), spread::mib_per_s(bytes))
        }
        (Some(ops), None) => {
            format!("{} ops/s of {}", thousands(ops), Bytes::new(ask.transfer_bytes))
        }
        (None, Some(bytes)) => spread::mib_per_s(bytes),
        (None, None) => "nothing".to_owned(),
    }
}

/// What is probably a slip: classes without a machine, assumptions that nobody needs.
pub(crate) fn warnings(selection: &Selection, ask: &Ask) -> Vec<String> {
    let mut said = Vec::new();
    let Some(profile) = &ask.profile else { return said };
    for (class, count) in profile.all().map(|(_, class)| class).zip(&selection.classes) {
        let is_default = class.wanted.is_empty();
        match (count.machines, count.left_out) {
            (0, 0) if is_default => {}
            (0, 0) => said.push(format!(
                "The class `{}` of the profile matches no machine: no machine is told by all of \
                 its patterns and by no class before it.",
                class.name
            )),
            (0, out) if !is_default => said.push(format!(
                "The class `{}` of the profile matches no machine that counts, only {} left out.",
                class.name,
                counted(out as u64, "machine")
            )),
            (machines, _) if machines > 0 && machines == count.measured => said.push(format!(
                "The class `{}` of the profile gives nobody a load: that of all its machines was \
                 measured.",
                class.name
            )),
            _ => {}
        }
    }
    let asks = ask.ops_per_machine.or(ask.bytes_per_s_per_machine).is_some();
    if asks && selection.asked == 0 {
        said.push(
            "What was asked for each machine (--iops-per-vm, --throughput-per-vm) is used for \
             none: all others are measured or of a class."
                .to_owned(),
        );
    }
    said
}
