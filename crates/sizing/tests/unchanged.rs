//! Designs for these needs have these digests, figure by figure and word by word.
//!
//! That they are right is tested in the other tests; this one notices a change in any figure or
//! claim that they do not name. If a change is meant: `UPDATE_EXPECT=1 cargo test -p sizing
//! unchanged`.

#[path = "../../analysis/tests/snapshot/mod.rs"]
mod snapshot;

use std::sync::LazyLock;

use crate::needs;
use cloud::figure::Access;
use cloud::price::{ReplicationInterval, ReservationTerm};
use cloud::service_level::ServiceLevel;
use cloud::throughput::KibPerSec;
use expect_test::{Expect, expect};
use sizing::facts::Facts;
use sizing::need::{Charges, Demand, Need, Part, Protocol, Replication};
use sizing::solve::{Verdict, solve};
use snapshot::Snapshot;
use units::{Nanos, Share};

static FACTS: LazyLock<Facts> = LazyLock::new(Facts::embedded);

fn sequential(mib_s: u64, read_permille: u64) -> Demand {
    Demand {
        throughput: KibPerSec::new(mib_s << 10),
        transfer_bytes: 64 << 10,
        read: Share::from_permille(read_permille),
        access: Access::Sequential,
        names_per_s: 0,
    }
}

fn check(name: &'static str, need: &Need, digests: Expect) {
    let mut all = Snapshot::new(name);
    match solve(need, &FACTS) {
        Err(error) => all.add("error", &error),
        Ok(Verdict::Infeasible(why)) => all.add("infeasible", &why),
        Ok(Verdict::Feasible { designs, of_each, .. }) => {
            all.add("designs", &designs);
            all.add("of each", &of_each);
        }
    }
    digests.assert_eq(&all.digests());
}

#[test]
fn sequential_reads_and_writes() {
    check(
        "reads",
        &needs::of(sequential(950, 1000), 4096),
        expect![[r#"
            461f992f39090c74 designs
            8d09ddd184a0fa3a of each
        "#]],
    );
    check(
        "writes",
        &needs::of(sequential(2200, 0), 4096),
        expect![[r#"
            16de1c89a050aabf designs
            5bc2cd00061265e2 of each
        "#]],
    );
}

#[test]
fn random_operations_within_a_response_time() {
    let rate = needs::of(Demand::of_rate(60_000, 8192, Share::from_permille(700)), 10 << 10);
    let fast = Need {
        response_time: Some(Nanos(1_200_000.0)),
        vm: Some("D4s_v5".to_owned()),
        headroom: Share::from_permille(200),
        growth: Share::from_permille(250),
        ..rate
    };
    check(
        "fast",
        &fast,
        expect![[r#"
            d15ae4d45574fa02 designs
            2c7dcd439a4b6da1 of each
        "#]],
    );
}

#[test]
fn other_protocols() {
    let nfs41 = Need { protocol: Protocol::Nfs41, ..needs::of(sequential(950, 500), 4096) };
    check(
        "nfs41",
        &nfs41,
        expect![[r#"
            3aba757f6ccdbd79 designs
            2b53f298e2e07ca7 of each
        "#]],
    );
    let rate = Demand::of_rate(190_000, 8192, Share::from_permille(1000));
    let smb = Need { protocol: Protocol::Smb, ..needs::of(rate, 20 << 10) };
    check(
        "smb",
        &smb,
        expect![[r#"
            5a7e9faff1db3ddb designs
            4a2cba84bbec646d of each
        "#]],
    );
    let datastores =
        Need { protocol: Protocol::Datastores, ..needs::of(sequential(800, 700), 20 << 10) };
    check(
        "datastores",
        &datastores,
        expect![[r#"
            53d8da8b9f51874c designs
            e84459206209b13a of each
        "#]],
    );
}

#[test]
fn parts_and_charges() {
    let part = |name: &str, capacity_gib: u64, mib_s: u64| Part {
        name: name.to_owned(),
        capacity_gib,
        demands: vec![sequential(mib_s, 700)],
        inodes: 0,
    };
    let need = needs::of(sequential(300, 700), 1024);
    let parts = Need {
        parts: vec![
            part("data", 8 << 10, 300),
            part("log", 512, 120),
            part("backup", 60 << 10, 40),
        ],
        ..need.clone()
    };
    check(
        "parts",
        &parts,
        expect![[r#"
            0609cd37b26c336d designs
            8aa21b1d95c26ee6 of each
        "#]],
    );
    let replication = Replication {
        to: "westus".to_owned(),
        interval: ReplicationInterval::Hour,
        daily_change: Share::from_permille(30),
        level: Some(ServiceLevel::Standard),
    };
    let charges = Charges {
        reserved: Some(ReservationTerm::ThreeYears),
        replication: Some(replication),
        backup_gib: 500,
        ..Charges::default()
    };
    let charged = Need { charges, ..needs::of(sequential(1500, 700), 120 << 10) };
    let charged = charged.with_snapshots(Share::from_permille(200));
    check(
        "charged",
        &charged,
        expect![[r#"
            946d614457c70429 designs
            6af26e3176576609 of each
        "#]],
    );
}

#[test]
fn what_cannot_be() {
    let vm = Some("D32s_v3".to_owned());
    let one_host = Need { vm, hosts: Some(1), ..needs::of(sequential(2000, 0), 4096) };
    check(
        "one_host",
        &one_host,
        expect![[r#"
            5f8dcd6d84cc6c86 infeasible
        "#]],
    );
    let much = needs::of(sequential(900 << 20, 1000), 1024);
    check(
        "much",
        &much,
        expect![[r#"
            00cb13e70cedac9a infeasible
        "#]],
    );
}
