//! The words of a host check: title, finding, recommendation, reason, and the command that changes
//! it.

use analysis::host_check::finding::{Finding, ProcessLimit};
use analysis::host_check::{Check, NotChecked, RoundTripSource, Status, Subject};
use units::{BytesPerSec, Nanos, thousands};

use super::{mount, network, own_client, process, processor, tcp};

/// A check in words.
pub(super) struct Words {
    /// A short title.
    pub(super) title: &'static str,
    /// What was found; for an unknown result, why it is unknown.
    pub(super) found: String,
    /// What is recommended.
    pub(super) recommended: String,
    /// Which figure it affects, and how.
    pub(super) why: String,
    /// The command that changes it, if a change is recommended and there is a command.
    pub(super) change: Option<String>,
}

impl Words {
    pub(super) fn new(
        title: &'static str,
        recommended: impl Into<String>,
        why: impl Into<String>,
    ) -> Words {
        let (recommended, why) = (recommended.into(), why.into());
        Words { title, found: String::new(), recommended, why, change: None }
    }

    pub(super) fn found(mut self, found: impl Into<String>) -> Words {
        self.found = found.into();
        self
    }

    /// The value, or why it is unknown.
    pub(super) fn found_or(self, found: Option<impl Into<String>>, unknown: &str) -> Words {
        match found {
            Some(found) => self.found(found),
            None => self.found(unknown),
        }
    }

    pub(super) fn recommended(mut self, recommended: impl Into<String>) -> Words {
        self.recommended = recommended.into();
        self
    }

    pub(super) fn why(mut self, why: impl Into<String>) -> Words {
        self.why = why.into();
        self
    }

    pub(super) fn change(mut self, change: impl Into<String>) -> Words {
        self.change = Some(change.into());
        self
    }
}

/// A check in words.
pub(super) fn words(check: &Check) -> Words {
    let mut words = match &check.finding {
        Finding::FileSystem(found) => mount::file_system(found),
        Finding::NfsVersion(found) => mount::version(found.as_deref()),
        Finding::MountConnections(found) => mount::connections(found),
        Finding::TransferSize(found) => mount::transfer_size(found),
        Finding::NoResponse(found) => mount::no_response(*found),
        Finding::WriteCompletion { is_sync } => mount::write_completion(*is_sync),
        Finding::AttributeCache(found) => mount::attribute_cache(found),
        Finding::AccessTimes(found) => mount::access_times(*found),
        Finding::Security(found) => mount::security(found.as_ref()),
        Finding::OtherMounts(others) => mount::other_mounts(others),
        Finding::LocalCache => mount::local_cache(),
        Finding::LocalLocks(kinds) => mount::locks(kinds),
        Finding::RequestSlots(found) => mount::slots(found),
        Finding::SlotWait(found) => mount::slot_wait(found),
        Finding::SessionSlots { recommended, found } => mount::session_slots(*recommended, *found),
        Finding::ReadAhead { recommended_kib, found_kib, mount_point } => {
            mount::read_ahead(*recommended_kib, *found_kib, mount_point.as_deref())
        }
        Finding::Kernel { needed, found } => mount::kernel(*needed, found.as_ref()),
        Finding::ExportConnections { recommended, flow, connections } => {
            own_client::connections(*recommended, *flow, *connections)
        }
        Finding::ExportSlots(found) => own_client::slots(found),
        Finding::OpenFiles { needed, limit } => own_client::open_files(*needed, limit),
        Finding::PrivilegedPorts(found) => own_client::privileged_ports(*found),
        Finding::Interface(found) => network::interface(found),
        Finding::InterfaceSpeed { mbit_s, exceeded_by } => network::speed(*mbit_s, *exceeded_by),
        Finding::Mtu { interface, recommended_bytes, found_bytes } => {
            network::packets(interface, *recommended_bytes, *found_bytes)
        }
        Finding::PacketLosses(found) => network::losses(found),
        Finding::Numa { nodes, node } => network::numa(nodes, *node),
        Finding::AcceleratedNetworking(found) => network::accelerated(found, check.status),
        Finding::Egress(found) => network::egress(found),
        Finding::TcpWindow(found) => tcp::tcp_window(found),
        Finding::WindowScaling(found) => tcp::scaling(found.as_deref()),
        Finding::ReceiveBufferGrowth(found) => tcp::growth(found.as_deref()),
        Finding::CongestionControl(found) => tcp::congestion(found.as_deref()),
        Finding::SlowStartAfterIdle(found) => tcp::after_idle(found.as_deref()),
        Finding::ProgramBuffers(found) => tcp::program_buffers(*found),
        Finding::Governor(found) => processor::governor(found),
        Finding::Steal(found) => processor::steal(*found),
        Finding::Processors { count, share_cores } => processor::processors(*count, *share_cores),
        Finding::ProcessorQuota { quota, processors } => processor::quota(*quota, *processors),
        Finding::ClockSource { found, better } => {
            processor::clock_source(found.as_deref(), *better)
        }
        Finding::ClockKeeper(found) => processor::clock_keeper(found.as_deref()),
        Finding::IoUring(found) => process::io_uring(found),
        Finding::LockedMemory { needed, limit, is_enforced } => {
            process::locked_memory(*needed, limit, *is_enforced)
        }
        Finding::Generator { ceiling, required, is_captured } => {
            process::generator(*ceiling, *required, *is_captured)
        }
    };
    if matches!(check.status, Status::Ok | Status::NotKnown) {
        words.change = None;
    }
    words
}

/// The heading of a group.
pub(super) const fn group(subject: Subject) -> &'static str {
    match subject {
        Subject::Mount => "Mount",
        Subject::OwnClient => "Built-in NFS client",
        Subject::Network => "Network",
        Subject::Tcp => "TCP",
        Subject::Processor => "Processors and clocks",
        Subject::Process => "Limits and generator",
    }
}

/// What is not checked, and why.
pub(super) const fn not_checked(what: NotChecked) -> &'static str {
    match what {
        NotChecked::Mount => "a mount: give a directory or nfs://host/export to check it too",
        NotChecked::KernelClient => {
            "mount options, slot tables and read-ahead: they belong to the kernel's NFS client, and \
             nfs:// uses the built-in client"
        }
    }
}

/// The source of a round-trip time.
pub(super) fn source(source: &RoundTripSource) -> String {
    match source {
        RoundTripSource::Given => "as given".to_owned(),
        RoundTripSource::Connects { count, address } => {
            format!("the shortest of {count} connects to {address}")
        }
        RoundTripSource::GetattrMean { calls } => {
            format!("mean of {} GETATTR calls, including the server's time", thousands(*calls))
        }
    }
}

/// `1,907.3 MiB/s`.
pub(super) fn mib_s(rate: BytesPerSec) -> String {
    let mib = rate.as_mib();
    if mib < 10.0 {
        return format!("{mib:.2} MiB/s");
    }
    let tenths = (mib * 10.0).round() as u64;
    match (tenths / 10, tenths % 10) {
        (whole, 0) => format!("{} MiB/s", thousands(whole)),
        (whole, tenth) => format!("{}.{tenth} MiB/s", thousands(whole)),
    }
}

/// `262,144 bytes`.
pub(super) fn bytes(count: u64) -> String {
    format!("{} bytes", thousands(count))
}

/// `310 µs`.
pub(super) fn time(seconds: f64) -> String {
    Nanos(seconds * 1e9).to_string()
}

/// A limit of this process, with `print` for its number.
pub(super) fn limit(limit: &ProcessLimit, print: impl Fn(u64) -> String) -> String {
    match limit {
        ProcessLimit::Missing => "/proc/self/limits is missing".to_owned(),
        ProcessLimit::Unreadable(text) => format!("/proc/self/limits says `{text}`"),
        ProcessLimit::Unlimited => "unlimited".to_owned(),
        ProcessLimit::At(limit) => print(*limit),
    }
}

#[cfg(test)]
mod tests {
    use analysis::host_check::{About, Facts, Options, judge};

    use super::*;

    #[test]
    fn numbers_are_printed_with_units() {
        let mib = f64::from(1 << 20);
        assert_eq!(mib_s(BytesPerSec::new(2e9)), "1,907.3 MiB/s");
        assert_eq!(mib_s(BytesPerSec::new(mib * 64.0)), "64 MiB/s");
        assert_eq!(mib_s(BytesPerSec::new(mib * 1.25)), "1.25 MiB/s");
        assert_eq!(bytes(262_144), "262,144 bytes");
        assert_eq!(time(0.00031), "310 µs");
    }

    #[test]
    fn every_failed_check_has_a_reason_and_a_change() {
        let facts = [
            ("filesystem.type", "nfs"),
            ("mount.source", "a:/b"),
            ("mount.point", "/mnt/vol1"),
            ("mount.super_options", "rw,soft,noac,vers=4.0"),
        ];
        let facts = facts.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let about = About::Directory { path: "/mnt/vol1".to_owned() };
        let options = Options { about, required: None, round_trip: None, is_captured: true };
        for check in judge(&Facts(facts.into()), &options).checks {
            let words = words(&check);
            let id = check.finding.id();
            assert!(!words.found.is_empty() && !words.recommended.is_empty(), "{id}");
            assert!(!words.why.is_empty(), "{id}");
            let is_bad = matches!(check.status, Status::Problem | Status::Warning);
            assert!(!is_bad || words.change.is_some(), "{id}");
        }
    }
}
