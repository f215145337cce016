//! What a sizing assumes, and probable mistakes in its options.

use cloud::avs::AvsLimit;
use units::{Bytes, Share};

use crate::avs::HOURS_PER_MONTH;
use crate::avs::ask::{Ask, Facts};
use crate::avs::flows::Load;
use crate::avs::hosts::Hosts;
use crate::avs::loads::LoadFrom;
use crate::avs::selection::Selection;
use crate::avs::statement::{Assumption, EachLoad, Warning};

/// The assumptions of a sizing.
pub(crate) fn assumptions(
    selection: &Selection,
    hosts: &Hosts,
    ask: &Ask,
    facts: &Facts<'_>,
) -> Vec<Assumption> {
    let mut all = Vec::new();
    let machines = selection.machines.len() as u64;
    if selection.without_storage > 0 {
        all.push(Assumption::WithoutStorage { machines: selection.without_storage as u64 });
    }
    match selection.totals.bytes_per_s {
        None => all.push(Assumption::NoLoad),
        Some(_) => {
            all.push(load_sources(selection, ask));
            let load = Load::of(selection.machines.iter(), ask.read);
            all.push(Assumption::Reads(load.read));
        }
    }
    let without_load = selection.without_load as u64;
    if without_load > 0 && without_load < machines {
        all.push(Assumption::WithoutLoad { machines: without_load, all: machines });
    }
    if ask.vcpus_per_core.is_none() {
        all.push(Assumption::ProcessorsUnknown);
    }
    all.push(Assumption::HostUsage {
        is_reduced: ask.saving != Share::WHOLE,
        policy: ask.policy.name.clone(),
        management_memory: Bytes::gib(facts.avs.limit(AvsLimit::ManagementMemory)),
    });
    all.push(Assumption::SpareHosts {
        per_cluster: hosts.spare_per_cluster,
        vsan_free: Share::from_percent(facts.avs.limit(AvsLimit::VsanUsedMax)).rest(),
    });
    all.push(match facts.prices {
        Some(prices) => Assumption::Prices {
            region: prices.region().to_owned(),
            date: prices.levels.origin.date.clone(),
            hours_per_month: HOURS_PER_MONTH,
        },
        None => Assumption::NoPrices,
    });
    if ask.host_month.is_none() {
        all.push(Assumption::NoHostPrice);
    }
    all
}

/// How many machines have their load from which source.
fn load_sources(selection: &Selection, ask: &Ask) -> Assumption {
    let from = |source| {
        selection.machines.iter().filter(|machine| machine.load_from == source).count() as u64
    };
    Assumption::LoadSources {
        all: selection.machines.len() as u64,
        measured: from(LoadFrom::Measured),
        of_profile: from(LoadFrom::Class),
        profile: ask.profile.as_ref().map_or(String::new(), |profile| profile.name.clone()),
        each: EachLoad {
            machines: from(LoadFrom::EachMachine),
            ops: ask.ops_per_machine,
            bytes_per_s: ask.bytes_per_s_per_machine,
            transfer: Bytes::new(ask.transfer_bytes),
        },
        unknown: from(LoadFrom::Unknown),
    }
}

/// Probable mistakes: classes without a machine, and options without effect.
pub(crate) fn warnings(selection: &Selection, ask: &Ask) -> Vec<Warning> {
    let mut all = Vec::new();
    let Some(profile) = &ask.profile else { return all };
    for (class, count) in profile.all().map(|(_, class)| class).zip(&selection.classes) {
        let is_default = class.conditions.is_empty();
        let name = || class.name.clone();
        match (count.machines, count.left_out) {
            (0, _) if is_default => {}
            (0, 0) => all.push(Warning::UnmatchedClass { class: name() }),
            (0, out) => all.push(Warning::ClassLeftOut { class: name(), machines: out as u64 }),
            (machines, _) if machines == count.measured => {
                all.push(Warning::ClassMeasured { class: name() });
            }
            _ => {}
        }
    }
    let has_each = ask.ops_per_machine.or(ask.bytes_per_s_per_machine).is_some();
    if has_each && selection.by_options == 0 {
        all.push(Warning::EachLoadUnused);
    }
    all
}
