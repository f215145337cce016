//! The sentences of a comparison with published figures: differences and their effects.

use predict::distance::{Contrast, Property};
use predict::expect::Change;

use super::Note;
use crate::number::plain;

/// A difference: the figure's value, then that of the configuration.
pub(super) fn contrast(of: &Contrast) -> String {
    let percent = |share: &f64| format!("{:.0} %", 100.0 * share);
    let client = |is_vmware: bool| if is_vmware { "VMware client" } else { "Linux client" };
    match of {
        Contrast::Protocol(its, own) => format!("{}, not {}", its.name(), own.name()),
        Contrast::Pattern(its, own) => format!("{}, not {}", its.name(), own.name()),
        Contrast::Read(its, own) => format!("{} reads, not {}", percent(its), percent(own)),
        Contrast::BestRead => "the best share of reads".to_owned(),
        Contrast::MeanRead => "a mean over shares of reads".to_owned(),
        Contrast::TransferSize(its, own) => format!("transfer size {its}, not {own}"),
        Contrast::VmwareClient(its, own) => format!("{}, not {}", client(*its), client(*own)),
        Contrast::Nconnect(its, own) => format!("nconnect {its}, not {own}"),
        Contrast::Endpoint => "measured at an endpoint, not at volumes".to_owned(),
        Contrast::Volume(its, own) => format!("a {} volume, not a {} one", its.name(), own.name()),
        Contrast::Volumes(its, own) => format!("{its} volumes, not {own}"),
        Contrast::Endpoints(its, own) => format!("{its} endpoints, not {own}"),
        Contrast::Hosts(its, own) => format!("{its} hosts, not {own}"),
        Contrast::Vm(its, own) => format!("{its}, not {own}"),
        Contrast::VmProcessors(its, own) => format!("{its}, not {own} processors"),
        Contrast::Cached => "caching included".to_owned(),
        Contrast::Age(year, years) => format!("from {year}, {years} years old"),
        Contrast::Superseded => "superseded by a newer figure".to_owned(),
        Contrast::NotStated(property) => format!("{} not stated", name(*property)),
    }
}

const fn name(of: Property) -> &'static str {
    match of {
        Property::Protocol => "protocol",
        Property::Pattern => "access pattern",
        Property::Read => "share of reads",
        Property::TransferSize => "transfer size",
        Property::Client => "client",
        Property::Nconnect => "nconnect",
        Property::Volume => "kind of volume",
        Property::Volumes => "number of volumes",
        Property::Endpoints => "number of endpoints",
        Property::Hosts => "number of hosts",
        Property::Vm => "VM size",
        Property::Caching => "caching",
        Property::Age => "date",
        Property::Superseded => "status",
    }
}

/// What distinguishes a measurement from published tests.
pub(super) fn note(of: &Note) -> String {
    match of {
        Note::OfferedRate(rate) => format!(
            "The offered rate was {} IOPS, so this is not the storage's maximum.",
            plain(rate.get())
        ),
        Note::ThinkTime => {
            "Operations had a think time, so this is not the storage's maximum.".to_owned()
        }
        Note::Cached => {
            "A client's cache served part of the reads; the published figures exclude caches."
                .to_owned()
        }
    }
}

/// A change of a figure's configuration.
pub(super) const fn change(of: Change) -> &'static str {
    match of {
        Change::FullSlots => "all slots in use",
        Change::Read => "share of reads",
        Change::TransferSizeAndPattern => "transfer size and pattern",
        Change::Volumes => "volumes",
        Change::Endpoints => "endpoints",
        Change::Hosts => "hosts",
        Change::Machine => "machine",
        Change::Connections => "connections",
        Change::ThroughputLimit => "throughput limit",
        Change::Outstanding => "outstanding operations",
    }
}
