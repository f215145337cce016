//! Designs for these needs have these digests, figure by figure and word by word.
//!
//! That they are right is tested in the other tests; this one notices a change in any figure or
//! claim that they do not name. If a change is meant: `UPDATE_EXPECT=1 cargo test -p sizing --test
//! unchanged`.

mod needs;
#[path = "../../analysis/tests/snapshot/mod.rs"]
mod snapshot;

use std::sync::LazyLock;

use cloud::figure::Access;
use cloud::price::{ReplicationInterval, ReservationTerm};
use cloud::service_level::ServiceLevel;
use cloud::throughput::KibPerSec;
use expect_test::{Expect, expect};
use sizing::facts::Facts;
use sizing::need::{Charges, Demand, Need, Part, Protocol, Replication};
use sizing::solve::{Verdict, solve};
use snapshot::Snapshot;

static FACTS: LazyLock<Facts> = LazyLock::new(Facts::embedded);

fn sequential(mib_s: u64, read_permille: u64) -> Demand {
    Demand {
        throughput: KibPerSec::new(mib_s << 10),
        transfer_bytes: 64 << 10,
        read_permille,
        access: Access::Sequential,
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
        8da75795d5a574dc designs
        279fcfb26e682641 of each
    "#]],
    );
    check(
        "writes",
        &needs::of(sequential(2200, 0), 4096),
        expect![[r#"
        5b6b0827f824ad7e designs
        5e6e6c2956620b83 of each
    "#]],
    );
}

#[test]
fn random_operations_within_a_response_time() {
    let rate = needs::of(Demand::of_rate(60_000, 8192, 700), 10 << 10);
    let fast = Need {
        response_time_ns: Some(1_200_000),
        vm: Some("D4s_v5".to_owned()),
        headroom_permille: 200,
        growth_permille: 250,
        ..rate
    };
    check(
        "fast",
        &fast,
        expect![[r#"
        57fe6fd7a03e561e designs
        3057dacabfc9defb of each
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
        eb735b5ab9837fb6 designs
        f633d9f72ae77ab6 of each
    "#]],
    );
    let rate = Demand::of_rate(190_000, 8192, 1000);
    let smb = Need { protocol: Protocol::Smb, ..needs::of(rate, 20 << 10) };
    check(
        "smb",
        &smb,
        expect![[r#"
        612c3f5ac0bf08ac designs
        69b2e32161d679ad of each
    "#]],
    );
    let datastores =
        Need { protocol: Protocol::Datastores, ..needs::of(sequential(800, 700), 20 << 10) };
    check(
        "datastores",
        &datastores,
        expect![[r#"
        26b9ec13a87e6b7c designs
        8b20efa0b19b3018 of each
    "#]],
    );
}

#[test]
fn parts_and_charges() {
    let part = |name: &str, capacity_gib: u64, mib_s: u64| Part {
        name: name.to_owned(),
        capacity_gib,
        demands: vec![sequential(mib_s, 700)],
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
        3f2d8c115a48dc3f designs
        7c642d9560cc833d of each
    "#]],
    );
    let replication = Replication {
        to: "westus".to_owned(),
        interval: ReplicationInterval::Hour,
        daily_change_permille: 30,
        level: Some(ServiceLevel::Standard),
    };
    let charges = Charges {
        reserved: Some(ReservationTerm::ThreeYears),
        replication: Some(replication),
        backup_gib: 500,
        ..Charges::default()
    };
    let charged = Need { charges, ..needs::of(sequential(1500, 700), 120 << 10) };
    let charged = charged.with_snapshots(200);
    check(
        "charged",
        &charged,
        expect![[r#"
        86ee5bd5659bace2 designs
        8d0d144fd0cbb262 of each
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
        29af9c49d7c0b0a3 infeasible
    "#]],
    );
    let much = needs::of(sequential(900 << 20, 1000), 1024);
    check(
        "much",
        &much,
        expect![[r#"
        c15ca7678eb1ab00 infeasible
    "#]],
    );
}
