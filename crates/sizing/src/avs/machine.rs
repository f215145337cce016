//! Machines, and which of them count.

use std::collections::BTreeMap;

use units::Bytes;

use crate::avs::ask::{Ask, Refusal};

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
    /// Its disks, where they are known.
    pub disks: Vec<Disk>,
    /// Operations per second, where they were measured.
    pub ops_per_s: Option<f64>,
    /// Bytes per second, where they were measured.
    pub bytes_per_s: Option<f64>,
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
    /// Disks.
    pub disks: Vec<Disk>,
    /// Operations per second, measured or assumed.
    pub ops_per_s: Option<u64>,
    /// Bytes per second, measured, assumed, or operations times their size.
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
    /// Of those that count, how many have no load at all.
    pub without_load: usize,
    /// Sums.
    pub totals: Totals,
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
    let mut chosen = Vec::new();
    let (mut without_storage, mut measured) = (0, 0);
    for machine in machines {
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
            continue;
        }
        without_storage += usize::from(machine.storage.is_none());
        measured += usize::from(machine.ops_per_s.or(machine.bytes_per_s).is_some());
        chosen.push(with_load(machine, ask));
    }
    if chosen.is_empty() {
        let count = |(why, count): (&&str, &usize)| format!("{count} {why}");
        let dropped: Vec<String> = dropped.iter().map(count).collect();
        return Err(Refusal::NobodyLeft { all: machines.len(), dropped: dropped.join(", ") });
    }
    if without_storage == chosen.len() {
        return Err(Refusal::NoStorage { other: "provisioned or --storage in-use" });
    }
    let without_load = chosen.iter().filter(|machine| machine.bytes_per_s.is_none()).count();
    let totals = Totals::of(&chosen);
    Ok(Selection { machines: chosen, dropped, without_storage, measured, without_load, totals })
}

/// A machine with its load: what was measured; else what is assumed.
fn with_load(machine: &Machine, ask: &Ask) -> Chosen {
    let is_measured = machine.ops_per_s.or(machine.bytes_per_s).is_some();
    let (ops_per_s, bytes_per_s) = match is_measured {
        true => (machine.ops_per_s.map(whole), machine.bytes_per_s.map(whole)),
        false => (ask.ops_per_machine, ask.bytes_per_s_per_machine),
    };
    let by_ops = ops_per_s.map(|ops| ops.saturating_mul(ask.transfer_bytes));
    Chosen {
        name: machine.name.clone(),
        row: machine.row,
        vcpus: machine.vcpus,
        memory: machine.memory,
        storage: machine.storage.unwrap_or_default(),
        disks: machine.disks.clone(),
        ops_per_s,
        bytes_per_s: bytes_per_s.or(by_ops).map(|bytes| bytes.min(LOAD_MAX)),
    }
}

/// No machine moves a PiB in a second; sums of what is below stay within a u64.
const LOAD_MAX: u64 = 1 << 50;

/// Upwards: a load is never made smaller.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
fn whole(rate: f64) -> u64 {
    (rate.ceil() as u64).min(LOAD_MAX)
}

impl Totals {
    fn of(machines: &[Chosen]) -> Totals {
        let mut totals = Totals::default();
        let add = |sum: &mut Option<u64>, more: Option<u64>| {
            if let Some(more) = more {
                *sum = Some(sum.unwrap_or(0).saturating_add(more));
            }
        };
        for machine in machines {
            totals.vcpus = totals.vcpus.saturating_add(machine.vcpus);
            totals.memory = sum(totals.memory, machine.memory);
            totals.storage = sum(totals.storage, machine.storage);
            add(&mut totals.ops_per_s, machine.ops_per_s);
            add(&mut totals.bytes_per_s, machine.bytes_per_s);
        }
        totals
    }
}

fn sum(one: Bytes, other: Bytes) -> Bytes {
    Bytes::new(one.get().saturating_add(other.get()))
}
