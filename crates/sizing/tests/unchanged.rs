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
            all.add_each("design", &designs);
            all.add("of each", &of_each);
        }
    }
    digests.assert_eq(&all.digests());
}

#[test]
fn sequential_reads_and_writes() {
    check("reads", &needs::of(sequential(950, 1000), 4096), expect![[r#"
        9076302b1922112a design 0
        ea0eee70c8c96518 design 1
        4b150f2755f674f8 design 2
        91fd6ad56ee67de3 design 3
        93c532ccbe511acf design 4
        17ec82a026493cd1 design 5
        4be2719772aeb05c design 6
        c5ff7f3eaec657a1 design 7
        abcc93d019b93ebb design 8
        053d1891822e50c4 design 9
        03c654c0699073e3 design 10
        de1f385870433654 design 11
        db9dbf6f8a7bc5d0 design 12
        a72cd90b16073df4 design 13
        89763d019f5c0a07 design 14
        463e4a41704e8a3b design 15
        3b2d740e5d43febf design 16
        fb2b1fc92b9addad design 17
        e892cdc5f9b29f96 design 18
        ac39086013659377 design 19
        414377969f2b82bf design 20
        a435cb472577a2fd design 21
        363a1204fbabc2a1 design 22
        70b9371d85d2ee53 design 23
        505264abe7a39b5a design 24
        07624b9aa7fa5530 design 25
        25c6cfa5894b42b3 design 26
        fae50f7125a6958d design 27
        07e6118399e34898 design 28
        341be747129dbcd0 design 29
        bcd7d728f919498f design 30
        279fcfb26e682641 of each
    "#]]);
    check("writes", &needs::of(sequential(2200, 0), 4096), expect![[r#"
        0d58da1a12b934d2 design 0
        115832715e0be8c9 design 1
        307f24be43bc2b72 design 2
        27f9f97084954219 design 3
        4b04db5e31388fec design 4
        bc5c10259ea91ee5 design 5
        ac15b8c359797245 design 6
        12e85c036a1ee35d design 7
        915c844759c9d250 design 8
        93613e8afbd99b1b design 9
        bbb485026bac9bc7 design 10
        74e78fbdd46840b3 design 11
        4c17a85a17fbe86a design 12
        21fb54bd9e3d91ef design 13
        5983dc6a5c780f4a design 14
        57471940c434e4cd design 15
        f5a236029f15b7ae design 16
        4862c4febeb55a21 design 17
        9766ecaa5e91963a design 18
        9b076da532fa01f4 design 19
        fa58f5f1534412ce design 20
        3113d0349858d282 design 21
        ecc94f1d8f99944e design 22
        ba53f0e7c74c2ffb design 23
        e3e0730602e2006e design 24
        728e9272996edabf design 25
        90d608d8adaff431 design 26
        4c24ac8349d80bdb design 27
        f305ae36a124f93e design 28
        d00362006816cbc1 design 29
        ecfa436417a57bd8 design 30
        b605a805f8e718a8 design 31
        89e2f27266dc4e65 design 32
        dcf23d139ff2362f design 33
        ca8301c0b8b2cdcc design 34
        72bdfa8e20ca2e6c design 35
        948f8586ee8639ff design 36
        bacb7d0a9eccf1f0 design 37
        7928b15334881aed design 38
        23c1b9ca011332cd design 39
        de68674388283fff design 40
        3a3ec54aa1bf3525 design 41
        c3425067603e5d6a design 42
        016ad1d131cbc97d design 43
        475d362bea2f4a50 design 44
        0e8b4632178738ba design 45
        bf4246325e6e05cc design 46
        4e2d5e3dc6a33d8f design 47
        5e6e6c2956620b83 of each
    "#]]);
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
    check("fast", &fast, expect![[r#"
        ec1455b06eb12342 design 0
        8adb133a9b054677 design 1
        b8edf6cf5962f5e0 design 2
        4976c935101958e8 design 3
        1f75308441566ed6 design 4
        7eed9816ab1ada7c design 5
        e5c46a304413431e design 6
        04aefd717782441f design 7
        f3989039e962e629 design 8
        6f4d5977fa9f9ee9 design 9
        99efa649b0ec0e49 design 10
        cb944b15b8af4175 design 11
        7c82a07002595c22 design 12
        6d5aa8ba80acc5d4 design 13
        5dbed73769996ed8 design 14
        fc74fdd80a0ae556 design 15
        9a3cbd8190596fce design 16
        34302b8a8462c38f design 17
        ea278a5075438ecf design 18
        1e47fdcd0b38fae3 design 19
        3057dacabfc9defb of each
    "#]]);
}

#[test]
fn other_protocols() {
    let nfs41 = Need { protocol: Protocol::Nfs41, ..needs::of(sequential(950, 500), 4096) };
    check("nfs41", &nfs41, expect![[r#"
        92b026a99e076975 design 0
        296514e728314fef design 1
        3edffff483ae78ad design 2
        48bcda4d343a9b0d design 3
        06c25da41d2e4305 design 4
        73b558a1d7f1717e design 5
        530a46c61d35722e design 6
        fbc8caa59dd35b90 design 7
        f33d42b68626cb5b design 8
        ad46d2b6469b6f6b design 9
        64661fd72d205d73 design 10
        7790ddb8275d791c design 11
        7e0fd4b22a7bf3d1 design 12
        db7992e057359aec design 13
        d1f5004176378942 design 14
        154f070e43645c28 design 15
        0de39891cf9b8678 design 16
        250680d49036bad5 design 17
        109e30e09219f068 design 18
        0ab9f96578eb5974 design 19
        43d70f7a9bfcdb6f design 20
        f206457555be2983 design 21
        fff8017ddf7c57d4 design 22
        0d1a8b60711526d1 design 23
        768cb09e8e9ad9b4 design 24
        fe62839451ae0ef1 design 25
        f05a0a1223ec6230 design 26
        039dadf459c60374 design 27
        e90e1d102f876b0d design 28
        d759cd929bc7e6f7 design 29
        639445d7635d357d design 30
        173745dc7386d0f3 design 31
        94159c2df8f2c2c4 design 32
        f633d9f72ae77ab6 of each
    "#]]);
    let rate = Demand::of_rate(190_000, 8192, 1000);
    let smb = Need { protocol: Protocol::Smb, ..needs::of(rate, 20 << 10) };
    check("smb", &smb, expect![[r#"
        cb57e17dccd7af46 design 0
        d5b21ea67f817517 design 1
        7238780400903c12 design 2
        f2c0a52462d8b4e6 design 3
        835c40ebc8c18dd1 design 4
        93c8914bf9eaaeef design 5
        7563c4d7b0c00228 design 6
        664f13f5aa677ba2 design 7
        fb3d484ceaefed35 design 8
        5beb40a4851bd5cb design 9
        0950354d873cbf0b design 10
        acb9afc71af2a1b5 design 11
        99903e1560462ad7 design 12
        9e91f006fedfb098 design 13
        97f51b78cc942f0a design 14
        f3553e10f8602a9c design 15
        20e4b235c8e1a307 design 16
        0de74a83fd27495d design 17
        cda47ec1a27d50b6 design 18
        5d8649d736156f98 design 19
        17e346442280acce design 20
        f401773aebf7a307 design 21
        c7d3ca2b08c425b1 design 22
        09362db56e0cd6de design 23
        199a55503d1cfab0 design 24
        ce65d55a253d3b11 design 25
        d89bc287393ebf4d design 26
        3ac1bd2684a72010 design 27
        f428b5cc448c51f1 design 28
        fedfb775b94cb58b design 29
        e3d050ad4bf39915 design 30
        29f8ef15da23f2cb design 31
        1507e15890afdd52 design 32
        5b526f9dd39f42e8 design 33
        064a7f1e7cca44e7 design 34
        4137ec4391b30a96 design 35
        7b307dfaa363fbd6 design 36
        6642439a01be7074 design 37
        8cf25f612745d9ac design 38
        200808071408ab37 design 39
        6d3bd19d524bcd18 design 40
        61f07c20d07bf11b design 41
        52fbd8c26581fa6e design 42
        9d03b4b9b7d79f56 design 43
        4af31ae1792446e2 design 44
        30e363c51f0969b8 design 45
        a5fe9b7d209f1ee7 design 46
        69b2e32161d679ad of each
    "#]]);
    let datastores =
        Need { protocol: Protocol::Datastores, ..needs::of(sequential(800, 700), 20 << 10) };
    check("datastores", &datastores, expect![[r#"
        75dfe1ad0db29033 design 0
        91ec103d9e3ff09b design 1
        665252f214f00780 design 2
        41083eeae5587d52 design 3
        d8cd3dba73aead5a design 4
        51c109cfdf56343f design 5
        93cf6be4fe7dc90d design 6
        de3e494a5d1fbe9a design 7
        610e53d2ae047763 design 8
        d0e7f08835fa1039 design 9
        d22524819b84ad15 design 10
        96707068d0a5d377 design 11
        521d0f19d02eaec8 design 12
        de8cabf21288d905 design 13
        0a35d3aba03a2a3a design 14
        77e584a731fbae84 design 15
        e19a1acaee711f17 design 16
        252b1583485f7a2d design 17
        5c95da5a0d5ec41d design 18
        79f7d27cf58fc764 design 19
        4a3f08a69b51a5f7 design 20
        6e74307a5ee4284b design 21
        a6ce06165e29c9ec design 22
        ac55301c25d4fcaf design 23
        8b20efa0b19b3018 of each
    "#]]);
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
    check("parts", &parts, expect![[r#"
        80747992e7400f75 design 0
        328876ca973a3c37 design 1
        3258edf352c6ffc1 design 2
        87557bbeb05ea51a design 3
        4defabcb96f6aedf design 4
        40ac4ae01b567155 design 5
        e70f76979f4021c0 design 6
        6d1cc9e3de8e0771 design 7
        b9af59e4a135b6d5 design 8
        2a4228e863c54556 design 9
        be7ea7624ce8e712 design 10
        a9d9e3603f03f344 design 11
        bf205a1ba53d5ae9 design 12
        4c795cd09676af95 design 13
        b221c9e077a0b1ef design 14
        e6fcc638beba4d5a design 15
        9e0743b2607915a6 design 16
        cac38c0ce7a24755 design 17
        5429d162e74bd4f6 design 18
        aaa9ad256da08f88 design 19
        87656c8dd63e57f1 design 20
        c4f7a06e44f4f906 design 21
        5e9e929e1c70d837 design 22
        762f7fbdcff6ecae design 23
        f29ddaef732d7e65 design 24
        ceddd1a43b1a79c2 design 25
        db193f5eadee8442 design 26
        7bbd82ff174d444f design 27
        0d3c1114a9fee0fc design 28
        c72ec4cd53181cef design 29
        cc9936a8f17ff88e design 30
        aabab2846ffd1d36 design 31
        1339f07754fd04f3 design 32
        d3ab72135ee04c0a design 33
        9bda70b8d4d10483 design 34
        26255e69f6225aa1 design 35
        ed76f921a247b43c design 36
        27d49300b91e750d design 37
        ef2b741e7f195307 design 38
        75be481b5a5292a5 design 39
        a0160ceb899c5c06 design 40
        5f3a87558cf44da7 design 41
        1a442bfa0fca3ee0 design 42
        2d7188ca999bd8bd design 43
        92ac63c60401715a design 44
        104e1212fd9d80c4 design 45
        e6afe0e877c2cd1a design 46
        1f18ecc48fd2b19f design 47
        31e8b568e1ffe34d design 48
        ac4f2636ac434e08 design 49
        7c642d9560cc833d of each
    "#]]);
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
    check("charged", &charged, expect![[r#"
        dfcda37c04334c05 design 0
        67eb8a3e455898ad design 1
        1e85876095bfb07d design 2
        868a3ebdd405d7bd design 3
        483cde73976dd09c design 4
        a6a9a4ec36bc6e4b design 5
        540ee70dd7f9c0bf design 6
        3afebeb2fdd82b0d design 7
        9663ecc5600fcc09 design 8
        e36e3b64d580461a design 9
        15cc01a261687df8 design 10
        5cdd0b43ca201253 design 11
        6ff09b3d8b2a424a design 12
        2830327b6249b52e design 13
        774f00eace5639b5 design 14
        9558554a135dda9d design 15
        82be423cfdc740b3 design 16
        69107847f1947e92 design 17
        7241e6cbf9cef7c2 design 18
        7923622aaad3ad0b design 19
        78adfc8c6f50220a design 20
        e7897a9ef3d0d174 design 21
        4a6380ede9953974 design 22
        5356a0cd35f07044 design 23
        c42893bcad2dfff7 design 24
        c6fe9e66241b100d design 25
        8d0d144fd0cbb262 of each
    "#]]);
}

#[test]
fn what_cannot_be() {
    let vm = Some("D32s_v3".to_owned());
    let one_host = Need { vm, hosts: Some(1), ..needs::of(sequential(2000, 0), 4096) };
    check("one_host", &one_host, expect![[r#"
        29af9c49d7c0b0a3 infeasible
    "#]]);
    let much = needs::of(sequential(900 << 20, 1000), 1024);
    check("much", &much, expect![[r#"
        c15ca7678eb1ab00 infeasible
    "#]]);
}
