//! Machines, and which of them count.

use std::collections::BTreeMap;

use units::Bytes;

use crate::avs::ask::{Ask, Refusal};
use crate::avs::loads::with_load;
use crate::avs::profile::{ClassOf, Labels};

/// A virtual machine of an inventory.
#[derive(Clone, Debug, PartialEq)]
pub struct Machine {
    /// Its name, which need not be unique.
    pub name: String,
    /// Its row in the inventory.
    pub row: u32,
    /// Whether it runs.
    pub power: Power,
    /// A template is no machine yet.
    pub is_template: bool,
    /// A placeholder stands for a machine elsewhere.
    pub is_placeholder: bool,
    /// Virtual processors.
    pub vcpus: u64,
    /// Memory, in the wanted sense.
    pub memory: Bytes,
    /// Storage, in the wanted sense; `None` where the inventory does not say.
    pub storage: Option<Bytes>,
    /// Storage in every sense.
    pub held: Held,
    /// What else tells it from others.
    pub labels: Labels,
    /// Its disks, where they are known.
    pub disks: Vec<Disk>,
    /// Operations per second, where they were measured.
    pub ops_per_s: Option<f64>,
    /// Bytes per second, where they were measured.
    pub bytes_per_s: Option<f64>,
}

/// What a machine stores, in each sense in which the inventory says it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Held {
    /// Disks and swap at their full size.
    pub provisioned: Option<Bytes>,
    /// What it holds on datastores, with snapshots and swap.
    pub in_use: Option<Bytes>,
    /// What its guest's file systems hold.
    pub guest_used: Option<Bytes>,
    /// What its guest's file systems could hold.
    pub guest_capacity: Option<Bytes>,
}

/// A disk of a machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Disk {
    /// Its name.
    pub label: String,
    /// Its full size.
    pub capacity: Bytes,
    /// A raw device, which no datastore can hold.
    pub is_raw: bool,
}

/// Whether a machine runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Power {
    /// It does.
    On,
    /// It does not.
    Off,
    /// It was put aside with its memory.
    Suspended,
}

impl Power {
    /// As users write it.
    pub const fn name(self) -> &'static str {
        match self {
            Power::On => "on",
            Power::Off => "off",
            Power::Suspended => "suspended",
        }
    }
}

/// A machine that counts.
#[derive(Clone, Debug, PartialEq)]
pub struct Chosen {
    /// Its name.
    pub name: String,
    /// Its row in the inventory.
    pub row: u32,
    /// Virtual processors.
    pub vcpus: u64,
    /// Memory.
    pub memory: Bytes,
    /// Storage; 0 where the inventory does not say.
    pub storage: Bytes,
    /// Storage in every sense.
    pub held: Held,
    /// Disks.
    pub disks: Vec<Disk>,
    /// Operations per second, measured or assumed.
    pub ops_per_s: Option<u64>,
    /// Bytes per second, measured, assumed, or operations times their size.
    pub bytes_per_s: Option<u64>,
    /// The share of reads among its operations, in thousandths.
    pub read_permille: u64,
    /// Its class in the profile, whether its load is from there or not.
    pub class: Option<ClassOf>,
    /// Who says what it does.
    pub load_from: LoadFrom,
}

/// Who says what a machine does to its disks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoadFrom {
    /// It was measured.
    Measured,
    /// Its class in the profile.
    Class,
    /// What was asked for all machines.
    Asked,
    /// Nobody.
    Nobody,
}

impl LoadFrom {
    /// As scripts read it.
    pub const fn name(self) -> &'static str {
        match self {
            LoadFrom::Measured => "measured",
            LoadFrom::Class => "profile",
            LoadFrom::Asked => "asked",
            LoadFrom::Nobody => "nobody",
        }
    }
}

/// The machines of one class of the profile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClassCount {
    /// The class's name.
    pub name: String,
    /// Machines that count and are of this class.
    pub machines: usize,
    /// Of those, how many have a measured load, which goes before the class's.
    pub measured: usize,
    /// Machines that are of this class and do not count.
    pub left_out: usize,
    /// Operations per second that the class says of its machines, together.
    pub ops_per_s: Option<u64>,
    /// Bytes per second that the class says of its machines, together.
    pub bytes_per_s: Option<u64>,
}

/// The machines that count, and how many do not.
#[derive(Clone, Debug, PartialEq)]
pub struct Selection {
    /// In the order of the inventory.
    pub machines: Vec<Chosen>,
    /// Why others were left out, and how many.
    pub dropped: BTreeMap<&'static str, usize>,
    /// Of those that count, how many have no figure for storage.
    pub without_storage: usize,
    /// Of those that count, how many have a measured load.
    pub measured: usize,
    /// Of those that count, how many have the load that was asked for all.
    pub asked: usize,
    /// Of those that count, how many have no load at all.
    pub without_load: usize,
    /// The classes of the profile in order, the last resort last; none without a profile.
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

/// Sums over the machines that count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Virtual processors.
    pub vcpus: u64,
    /// Memory.
    pub memory: Bytes,
    /// Storage.
    pub storage: Bytes,
    /// Operations per second of those of which they are known.
    pub ops_per_s: Option<u64>,
    /// Bytes per second of those of which they are known.
    pub bytes_per_s: Option<u64>,
}

/// Chooses the machines that count: no templates, no placeholders, the wanted power states.
///
/// # Errors
/// Nobody is left, or nobody says what it stores.
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
        let count = |(why, count): (&&str, &usize)| format!("{count} {why}");
        let dropped: Vec<String> = dropped.iter().map(count).collect();
        return Err(Refusal::NobodyLeft { all: machines.len(), dropped: dropped.join(", ") });
    }
    if without_storage == chosen.len() {
        return Err(Refusal::NoStorage { other: "provisioned or --storage in-use" });
    }
    let from = |whom| chosen.iter().filter(|machine| machine.load_from == whom).count();
    Ok(Selection {
        dropped,
        without_storage,
        measured: from(LoadFrom::Measured),
        asked: from(LoadFrom::Asked),
        without_load: from(LoadFrom::Nobody),
        classes: classes(&chosen, &left_out, ask),
        totals: Totals::of(&chosen),
        machines: chosen,
    })
}

/// Each class with its machines.
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

/// The sum of what is known.
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
