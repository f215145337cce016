//! Checks of a host: results, unknown facts, and no panic for any fact.

use analysis::host_check::finding::{Egress, Finding, TcpWindow};
use analysis::host_check::{
    About, Check, Export, Facts, Options, RoundTrip, RoundTripSource, Status, judge,
};
use proptest::prelude::*;
use units::BytesPerSec;

fn facts(pairs: &[(&str, &str)]) -> Facts {
    Facts(pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect())
}

fn options(about: About) -> Options {
    Options { about, required: None, round_trip: None, is_captured: true }
}

fn directory() -> About {
    About::Directory { path: "/mnt/vol1".to_owned() }
}

fn export(connections: Option<u32>) -> About {
    let url = "nfs://10.0.1.4/vol1".to_owned();
    About::Export(Export { url, connections, slots: 128, privileged: true })
}

fn tcp_window(check: &Check) -> &TcpWindow {
    match &check.finding {
        Finding::TcpWindow(window) => window,
        other => panic!("no window: {other:?}"),
    }
}

fn find(facts: &Facts, options: &Options, id: &str) -> Check {
    let found = judge(facts, options).checks.into_iter().find(|check| check.finding.id() == id);
    found.unwrap_or_else(|| panic!("there is no check {id}"))
}

const NFS: [(&str, &str); 3] =
    [("filesystem.type", "nfs"), ("mount.source", "a:/b"), ("mount.point", "/mnt/vol1")];

#[test]
fn unknown_settings_are_not_checked() {
    for about in [About::Host, directory(), export(None)] {
        for check in judge(&Facts::default(), &options(about)).checks {
            let id = check.finding.id();
            let by_url = id == "export.nconnect" || id == "export.slots";
            let by_absence = id == "clock.keeper";
            assert!(check.status == Status::NotKnown || by_url || by_absence, "{check:?}");
        }
    }
}

#[test]
fn fewer_connections_than_requested_are_a_problem() {
    let mounted = ("mount.super_options", "rw,nconnect=8");
    for (count, status) in [("1", Status::Problem), ("4", Status::Problem), ("8", Status::Ok)] {
        let facts = facts(&[NFS[0], NFS[1], NFS[2], mounted, ("mount.nconnect", count)]);
        assert_eq!(find(&facts, &options(directory()), "mount.nconnect").status, status, "{count}");
    }
}

#[test]
fn a_tcp_window_must_fit_the_rate_per_connection() {
    // 6 MiB of buffer give a window of 3 MiB: at 2 ms 1,500 MiB/s per connection.
    let buffers = [("tcp.rmem", "4096 131072 6291456"), ("mount.nconnect", "2")];
    let facts = facts(&[NFS[0], NFS[1], NFS[2], buffers[0], buffers[1]]);
    let mib = f64::from(1 << 20);
    let upper_bound = RoundTripSource::GetattrMean { calls: 100 };
    for (want, source, status) in [
        (3000.0, RoundTripSource::Given, Status::Ok),
        (3001.0, RoundTripSource::Given, Status::Problem),
        (3001.0, upper_bound, Status::Warning),
    ] {
        let options = Options {
            required: Some(BytesPerSec::new(want * mib)),
            round_trip: Some(RoundTrip { seconds: 2e-3, source }),
            ..options(directory())
        };
        let check = find(&facts, &options, "tcp.receive_window");
        assert_eq!(check.status, status, "{check:?}");
        let throughput = tcp_window(&check).throughput.as_ref().expect("the round trip is known");
        assert_eq!(throughput.per_connection, BytesPerSec::new(1500.0 * mib));
    }
}

#[test]
fn without_window_scaling_a_window_is_64_kib() {
    let facts = facts(&[("tcp.rmem", "1 2 6291456"), ("tcp.window_scaling", "0")]);
    let round_trip = Some(RoundTrip { seconds: 1e-3, source: RoundTripSource::Given });
    let options = Options { round_trip, ..options(About::Host) };
    let check = find(&facts, &options, "tcp.receive_window");
    let buffer = tcp_window(&check).buffer.expect("the sysctl is known");
    assert_eq!(buffer.window_bytes, 65_535);
    assert_eq!(find(&facts, &options, "tcp.window_scaling").status, Status::Problem);
}

#[test]
fn the_machines_egress_limit_applies_to_writes_only() {
    let facts = facts(&[("machine.cloud", "azure"), ("vm.size", "Standard_D4s_v3")]);
    let mib = f64::from(1 << 20);
    for (want, status) in [(238.0, Status::Ok), (239.0, Status::Problem)] {
        let options =
            Options { required: Some(BytesPerSec::new(want * mib)), ..options(About::Host) };
        let check = find(&facts, &options, "vm.egress");
        assert_eq!(check.status, status);
        let Finding::Egress(Egress::Limit { limit, .. }) = check.finding else {
            panic!("no limit: {check:?}");
        };
        assert_eq!(limit, BytesPerSec::new(250e6));
    }
    let unknown = self::facts(&[("machine.cloud", "azure"), ("vm.size", "Standard_Z1")]);
    assert_eq!(find(&unknown, &options(About::Host), "vm.egress").status, Status::NotKnown);
}

#[test]
fn a_container_with_fewer_resources_than_the_host_is_a_warning() {
    let of = |quota| {
        let facts = facts(&[("cpu.count", "4"), ("cpu.quota", quota)]);
        judge(&facts, &options(About::Host))
            .checks
            .into_iter()
            .find(|c| c.finding.id() == "cpu.quota")
    };
    let finding = Finding::ProcessorQuota { quota: 1.5, processors: 4 };
    assert_eq!(of("150000 100000"), Some(Check { status: Status::Warning, finding }));
    assert_eq!(of("max 100000"), None);
    assert_eq!(of("400000 100000"), None);
    assert_eq!(of("1 0"), None);
}

#[test]
fn backports_are_known_by_the_kernels_distribution() {
    let on = |release, id, version| {
        let facts = facts(&[
            NFS[0],
            NFS[1],
            NFS[2],
            ("kernel.release", release),
            ("os.id", id),
            ("os.version", version),
        ]);
        find(&facts, &options(directory()), "mount.kernel").status
    };
    assert_eq!(on("4.18.0-553.el8_10.x86_64", "rhel", "8.10"), Status::Ok);
    assert_eq!(on("4.18.0-193.el8.x86_64", "rocky", "8.2"), Status::Warning);
    assert_eq!(on("5.3.0", "other", "1"), Status::Ok);
    assert_eq!(on("4.19.0", "debian", "10"), Status::Warning);
}

/// Names of facts that checks read as numbers or lists.
const NAMES: &[&str] = &[
    "clock.source",
    "cpu.count",
    "cpu.quota",
    "cpu.steal_share",
    "filesystem.type",
    "generator.ops_per_s",
    "kernel.release",
    "limit.locked_memory_bytes",
    "limit.open_files",
    "machine.cloud",
    "mount.calls_sent",
    "mount.calls_waiting_for_slot_sum",
    "mount.nconnect",
    "mount.options",
    "mount.read_ahead_kib",
    "mount.rsize_bytes",
    "mount.super_options",
    "mount.version",
    "nic.driver",
    "nic.mtu_bytes",
    "nic.name",
    "nic.rx_dropped",
    "nic.rx_packets",
    "nic.speed_mbit_s",
    "nic.tx_packets",
    "nic.vf.name",
    "nic.vf.rx_packets",
    "nic.vf.tx_packets",
    "os.id",
    "os.version",
    "process.capabilities",
    "tcp.adv_win_scale",
    "tcp.rmem",
    "tcp.wmem",
    "transport.unprivileged_ports_from",
    "vm.size",
];

proptest! {
    // Each case reads the catalogue three times.
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_fact_of_a_stranger_makes_a_check_fail(
        values in prop::collection::vec(
            (
                prop::sample::select(NAMES),
                prop_oneof![
                    any::<u64>().prop_map(|number| number.to_string()),
                    any::<i64>().prop_map(|number| number.to_string()),
                    any::<f64>().prop_map(|number| number.to_string()),
                    prop::sample::select(&["azure", "nfs", "hv_netvsc", "max 0", "", "-1"][..])
                        .prop_map(str::to_owned),
                    ".{0,12}",
                ],
            ),
            0..40,
        ),
        want in prop::option::of(1.0..1e30f64),
        rtt in prop::option::of(1e-9..1e9f64),
    ) {
        let facts = Facts(values.into_iter().map(|(name, v)| (name.to_owned(), v)).collect());
        let round_trip = rtt.map(|seconds| RoundTrip {
            seconds,
            source: RoundTripSource::Given,
        });
        for about in [About::Host, directory(), export(Some(u32::MAX))] {
            let round_trip = round_trip.clone();
            let options = Options { about, required: want.map(BytesPerSec::new), round_trip, is_captured: true };
            prop_assert!(!judge(&facts, &options).checks.is_empty());
        }
    }
}
