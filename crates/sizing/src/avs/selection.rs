//! The machines to size.

use std::collections::BTreeMap;

use units::Bytes;

use crate::avs::ask::{Ask, Refusal};
use crate::avs::loads::{Chosen, LoadFrom, with_load};
use crate::avs::machine::{Machine, Power};
use crate::avs::profile::ClassOf;

/// The machines of one class of the profile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClassCount {
    /// The class's name.
    pub name: String,
    /// Selected machines of this class.
    pub machines: usize,
    /// Of those, how many have a measured load, which takes precedence.
    pub measured: usize,
    /// Machines of this class that are left out.
    pub left_out: usize,
    /// Operations per second assumed by the class, of all its machines.
    pub ops_per_s: Option<u64>,
    /// Bytes per second assumed by the class, of all its machines.
    pub bytes_per_s: Option<u64>,
}

/// The machines to size, and the number of others.
#[derive(Clone, Debug, PartialEq)]
pub struct Selection {
    /// In the order of the inventory.
    pub machines: Vec<Chosen>,
    /// How many were left out, by reason.
    pub dropped: BTreeMap<&'static str, usize>,
    /// Selected machines without a figure for storage.
    pub without_storage: usize,
    /// Selected machines with a measured load.
    pub measured: usize,
    /// Selected machines with the load of the options for each machine.
    pub by_options: usize,
    /// Selected machines without a load.
    pub without_load: usize,
    /// The classes of the profile in order, the default last; empty without a profile.
    pub classes: Vec<ClassCount>,
    /// Sums.
    pub totals: Totals,
}

impl Selection {
    /// The name of a machine's class in the profile.
    pub fn class_name(&self, machine: &Chosen) -> Option<&str> {
        let count = match machine.class? {
            ClassOf::Class(at) => self.classes.get(at),
            ClassOf::Default => self.classes.last(),
        };
        count.map(|count| count.name.as_str())
    }
}

/// Sums over the selected machines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Virtual processors.
    pub vcpus: u64,
    /// Memory.
    pub memory: Bytes,
    /// Storage.
    pub storage: Bytes,
    /// Known operations per second.
    pub ops_per_s: Option<u64>,
    /// Known bytes per second.
    pub bytes_per_s: Option<u64>,
}

/// Selects machines: no templates, no placeholders, only the requested power states.
///
/// # Errors
/// No machine is left, or none has a figure for storage.
pub fn select(machines: &[Machine], ask: &Ask) -> Result<Selection, Refusal> {
    let mut dropped: BTreeMap<&'static str, usize> = BTreeMap::new();
    let mut chosen: Vec<Chosen> = Vec::new();
    let mut left_out: Vec<ClassOf> = Vec::new();
    let mut without_storage = 0;
    for machine in machines {
        let class = ask.profile.as_ref().and_then(|profile| profile.class_of(machine));
        let why = match machine {
            _ if machine.is_template => Some("templates"),
            _ if machine.is_placeholder => Some("placeholders of Site Recovery Manager"),
            _ if ask.powers.contains(&machine.power) => None,
            _ => Some(match machine.power {
                Power::On => "powered on",
                Power::Off => "powered off",
                Power::Suspended => "suspended",
            }),
        };
        if let Some(why) = why {
            *dropped.entry(why).or_default() += 1;
            left_out.extend(class);
            continue;
        }
        without_storage += usize::from(machine.storage.is_none());
        chosen.push(with_load(machine, class, ask));
    }
    if chosen.is_empty() {
        let count = |(why, count): (&&str, &usize)| format!("{why} ({count})");
        let dropped: Vec<String> = dropped.iter().map(count).collect();
        return Err(Refusal::NoMachines { all: machines.len(), dropped: dropped.join(", ") });
    }
    if without_storage == chosen.len() {
        return Err(Refusal::NoStorage { other: "provisioned or --storage in-use" });
    }
    let from = |source| chosen.iter().filter(|machine| machine.load_from == source).count();
    Ok(Selection {
        dropped,
        without_storage,
        measured: from(LoadFrom::Measured),
        by_options: from(LoadFrom::EachMachine),
        without_load: from(LoadFrom::Unknown),
        classes: classes(&chosen, &left_out, ask),
        totals: Totals::of(&chosen),
        machines: chosen,
    })
}

/// Counts the machines of each class.
fn classes(chosen: &[Chosen], left_out: &[ClassOf], ask: &Ask) -> Vec<ClassCount> {
    let count = |of: ClassOf, name: &str| {
        let here = || chosen.iter().filter(move |machine| machine.class == Some(of));
        let by_class = || here().filter(|machine| machine.load_from == LoadFrom::Class);
        ClassCount {
            name: name.to_owned(),
            machines: here().count(),
            measured: here().filter(|machine| machine.load_from == LoadFrom::Measured).count(),
            left_out: left_out.iter().filter(|class| **class == of).count(),
            ops_per_s: total(by_class().map(|machine| machine.ops_per_s)),
            bytes_per_s: total(by_class().map(|machine| machine.bytes_per_s)),
        }
    };
    let all = ask.profile.iter().flat_map(|profile| profile.all());
    all.map(|(of, class)| count(of, &class.name)).collect()
}

/// The sum of the known numbers; `None` if none is known.
pub(crate) fn total(numbers: impl Iterator<Item = Option<u64>>) -> Option<u64> {
    numbers.flatten().fold(None, |sum, more| Some(sum.unwrap_or(0_u64).saturating_add(more)))
}

impl Totals {
    fn of(machines: &[Chosen]) -> Totals {
        let mut totals = Totals {
            ops_per_s: total(machines.iter().map(|machine| machine.ops_per_s)),
            bytes_per_s: total(machines.iter().map(|machine| machine.bytes_per_s)),
            ..Totals::default()
        };
        for machine in machines {
            totals.vcpus = totals.vcpus.saturating_add(machine.vcpus);
            totals.memory = sum(totals.memory, machine.memory);
            totals.storage = sum(totals.storage, machine.storage);
        }
        totals
    }
}

pub(crate) fn sum(one: Bytes, other: Bytes) -> Bytes {
    Bytes::new(one.get().saturating_add(other.get()))
}
