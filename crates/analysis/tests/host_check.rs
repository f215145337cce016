//! Checks of a host: what is judged, what is not known, and that no fact makes them fail.

use analysis::host_check::{About, Asked, Check, Export, Facts, RoundTrip, Status, judge};
use proptest::prelude::*;

fn facts(pairs: &[(&str, &str)]) -> Facts {
    Facts(pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect())
}

fn asked(about: About) -> Asked {
    Asked { about, want_bytes_per_s: None, round_trip: None, is_captured: true }
}

fn directory() -> About {
    About::Directory { path: "/mnt/vol1".to_owned() }
}

fn export(connections: Option<u32>) -> About {
    let url = "nfs://10.0.1.4/vol1".to_owned();
    About::Export(Export { url, connections, slots: 128, privileged: true })
}

fn find(facts: &Facts, asked: &Asked, id: &str) -> Check {
    let found = judge(facts, asked).checks.into_iter().find(|check| check.id == id);
    found.unwrap_or_else(|| panic!("there is no check {id}"))
}

const NFS: [(&str, &str); 3] =
    [("filesystem.type", "nfs"), ("mount.source", "a:/b"), ("mount.point", "/mnt/vol1")];

#[test]
fn what_is_not_told_is_not_judged() {
    for about in [About::Host, directory(), export(None)] {
        for check in judge(&Facts::default(), &asked(about)).checks {
            let by_url = check.id == "export.nconnect" || check.id == "export.slots";
            let by_absence = check.id == "clock.keeper";
            assert!(check.status == Status::NotKnown || by_url || by_absence, "{check:?}");
        }
    }
}

#[test]
fn every_check_that_is_not_fine_says_why_and_what_is_wanted() {
    let facts = facts(&[NFS[0], NFS[1], NFS[2], ("mount.super_options", "rw,soft,noac,vers=4.0")]);
    for check in judge(&facts, &asked(directory())).checks {
        assert!(!check.found.is_empty() && !check.wanted.is_empty() && !check.why.is_empty());
        let is_bad = matches!(check.status, Status::Problem | Status::Warning);
        assert!(!is_bad || check.change.is_some(), "{check:?}");
    }
}

#[test]
fn fewer_connections_than_asked_for_are_a_problem() {
    let options = ("mount.super_options", "rw,nconnect=8");
    for (count, status) in [("1", Status::Problem), ("4", Status::Problem), ("8", Status::Ok)] {
        let facts = facts(&[NFS[0], NFS[1], NFS[2], options, ("mount.nconnect", count)]);
        assert_eq!(find(&facts, &asked(directory()), "mount.nconnect").status, status, "{count}");
    }
}

#[test]
fn a_window_is_judged_by_the_share_of_a_connection() {
    // 6 MiB of buffer are 3 MiB of window: at 2 ms 1,500 MiB/s on a connection.
    let buffers = [("tcp.rmem", "4096 131072 6291456"), ("mount.nconnect", "2")];
    let facts = facts(&[NFS[0], NFS[1], NFS[2], buffers[0], buffers[1]]);
    let mib = f64::from(1 << 20);
    for (want, is_upper_bound, status) in [
        (3000.0, false, Status::Ok),
        (3001.0, false, Status::Problem),
        (3001.0, true, Status::Warning),
    ] {
        let how = "as given".to_owned();
        let asked = Asked {
            want_bytes_per_s: Some(want * mib),
            round_trip: Some(RoundTrip { seconds: 2e-3, how, is_upper_bound }),
            ..asked(directory())
        };
        let check = find(&facts, &asked, "tcp.receive_window");
        assert_eq!(check.status, status, "{check:?}");
        assert!(check.found.contains("= 1,500 MiB/s on a connection"), "{}", check.found);
    }
}

#[test]
fn without_window_scaling_a_window_is_64_kib() {
    let facts = facts(&[("tcp.rmem", "1 2 6291456"), ("tcp.window_scaling", "0")]);
    let how = "as given".to_owned();
    let round_trip = Some(RoundTrip { seconds: 1e-3, how, is_upper_bound: false });
    let asked = Asked { round_trip, ..asked(About::Host) };
    let check = find(&facts, &asked, "tcp.receive_window");
    assert!(check.found.contains("65,535 bytes / 1.00 ms"), "{}", check.found);
    assert_eq!(find(&facts, &asked, "tcp.window_scaling").status, Status::Problem);
}

#[test]
fn a_machine_that_may_send_less_than_is_wanted_is_told_apart_from_reads() {
    let facts = facts(&[("machine.cloud", "azure"), ("vm.size", "Standard_D4s_v3")]);
    let mib = f64::from(1 << 20);
    for (want, status) in [(238.0, Status::Ok), (239.0, Status::Problem)] {
        let asked = Asked { want_bytes_per_s: Some(want * mib), ..asked(About::Host) };
        let check = find(&facts, &asked, "vm.egress");
        assert_eq!(check.status, status);
        assert!(check.found.contains("238.4 MiB/s"), "{}", check.found);
    }
    let unknown = self::facts(&[("machine.cloud", "azure"), ("vm.size", "Standard_Z1")]);
    assert_eq!(find(&unknown, &asked(About::Host), "vm.egress").status, Status::NotKnown);
}

#[test]
fn a_container_with_less_than_the_host_is_warned_of() {
    let of = |quota| {
        let facts = facts(&[("cpu.count", "4"), ("cpu.quota", quota)]);
        judge(&facts, &asked(About::Host)).checks.into_iter().find(|c| c.id == "cpu.quota")
    };
    let check = of("150000 100000").unwrap();
    assert_eq!((check.status, check.found.as_str()), (Status::Warning, "1.5 of 4 processors"));
    assert_eq!(of("max 100000"), None);
    assert_eq!(of("400000 100000"), None);
    assert_eq!(of("1 0"), None);
}

#[test]
fn a_port_of_an_older_kernel_is_known_by_its_distribution() {
    let on = |release, id, version| {
        let facts = facts(&[
            NFS[0],
            NFS[1],
            NFS[2],
            ("kernel.release", release),
            ("os.id", id),
            ("os.version", version),
        ]);
        find(&facts, &asked(directory()), "mount.kernel").status
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
            how: "as given".to_owned(),
            is_upper_bound: false,
        });
        for about in [About::Host, directory(), export(Some(u32::MAX))] {
            let round_trip = round_trip.clone();
            let asked = Asked { about, want_bytes_per_s: want, round_trip, is_captured: true };
            prop_assert!(!judge(&facts, &asked).checks.is_empty());
        }
    }
}
