//! Findings on simulated systems have these digests, figure by figure.
//!
//! What is known of the systems is tested in the other tests and in `sim`; this one notices a
//! change in any figure, bound or judgement that they do not name. If a change is meant:
//! `UPDATE_EXPECT=1 cargo test -p analysis --test unchanged`.

mod snapshot;

use analysis::compare::side::Side;
use analysis::compare::{Options, compare};
use analysis::verdict::Limit;
use analysis::{Findings, analyze};
use expect_test::{Expect, expect};
use sim::examination::{Class, systems, user};
use snapshot::Snapshot;

/// Findings on the system of this class and seed.
fn findings(class: Class, seed: u64) -> Findings {
    analyze(&user::measure(&systems::draw(class, seed), seed))
}

fn check(name: &'static str, findings: &Findings, digests: Expect) {
    let mut all = Snapshot::new(name);
    all.add_each("load point", &findings.load_points);
    all.add_each("curve", &findings.curves);
    all.add_each("steadiness", &findings.steadiness);
    all.add_each("verdict", &findings.verdicts);
    all.add("series", &findings.series);
    all.add("heat", &findings.heats);
    all.add("wire", &findings.wire);
    all.add("searches", &findings.searches);
    all.add("warnings", &findings.warnings);
    all.add("notes", &findings.notes);
    all.add("summary", &findings.summary);
    all.add("others", &(&findings.mixes, &findings.tune, &findings.emulated, &findings.witnessed));
    digests.assert_eq(&all.digests());
}

#[test]
fn a_volume_is_the_limit() {
    check("volume", &findings(Class::One(Limit::VolumeThroughput), 1), expect![[r#"
        350bd20c5e418222 load point 0
        9b1d3ead32b000b4 load point 1
        a7b6204f44a7beaa load point 2
        4a6f5fc54c78bb82 load point 3
        7f5826369053397d load point 4
        accc4e968dd097e4 load point 5
        c02c0f4de46b18ab load point 6
        22dec8df66202521 load point 7
        502d0aadf1b958b7 load point 8
        128de8c44138be1a load point 9
        cb1553324aed275d load point 10
        b2e416da31a7d229 curve 0
        9f526fba3be7a446 curve 1
        227ed8757ca5f322 curve 2
        4bebe91099fe6b2e curve 3
        4c7363920d42bd02 curve 4
        7b7bfa24c83a4270 steadiness 0
        833880c6793afb82 steadiness 1
        35b25b2361e3dddf steadiness 2
        cce7695dadb4c46a steadiness 3
        17d2e4be712c61c3 steadiness 4
        f1520c6f4fe42d25 steadiness 5
        ee13c36b6392a010 steadiness 6
        d120c49403b17ba2 steadiness 7
        9345f3773cbe50ed steadiness 8
        64bdfe4ff3efefbc steadiness 9
        bdd83189c021e32f steadiness 10
        1bf1c01497c47956 verdict 0
        f0e255f7c715e198 verdict 1
        62bafa534ce9972b verdict 2
        5f6e415c7f4f7ed0 verdict 3
        af582409b90a3da3 verdict 4
        e11210ad41a67e50 series
        93f835cea1d59758 heat
        5728c260dd887c05 wire
        495e4f664cc75c34 searches
        236f020fbe932598 warnings
        09612b07b5ecb5a5 notes
        eaa0c2c40e4a36f2 summary
        77c4f8c1a23cbb6b others
    "#]]);
}

#[test]
fn slots_of_the_server_are_the_limit() {
    check("slots", &findings(Class::One(Limit::ServerSlots), 2), expect![[r#"
        db43a71b6f9f65a6 load point 0
        d262d8bb13ad3667 load point 1
        7414cd2c948dd9be load point 2
        45c501d32912ff5d load point 3
        f11fb169d9d5bcfd load point 4
        1b7aa2c4567fdb1d load point 5
        75d99d62237bc639 load point 6
        9ae0611bea57b4c0 load point 7
        0baaff8a4d9cfd8c load point 8
        fd704631920d1010 load point 9
        d908f3ac1ad4eb4f load point 10
        5549a1a674eaf0ff curve 0
        9d8421903f83015f curve 1
        4f8cb325fce55f3f curve 2
        f557251cfda07342 curve 3
        40d90c93bd5531e8 steadiness 0
        ebf4bf9be8a91d9f steadiness 1
        0594a6cc8441b355 steadiness 2
        f55bee854ad6075d steadiness 3
        589351c623b86259 steadiness 4
        0d5e98b7c6029de0 steadiness 5
        200d600c88e58eca steadiness 6
        befc3b3bee3f6a4b steadiness 7
        f5cb408627af587e steadiness 8
        ea3ddde624fdc045 steadiness 9
        075d192e914279e9 steadiness 10
        5024d390d5aaf5b5 verdict 0
        cf2be79b8c9de440 verdict 1
        f83ef3a7b43e4ac7 verdict 2
        32cd014578c117ff verdict 3
        2729444eb267cd24 series
        1ee25a901b0c2c92 heat
        5728c260dd887c05 wire
        495e4f664cc75c34 searches
        75d1a09d8bda1544 warnings
        09612b07b5ecb5a5 notes
        43f1ae324f069654 summary
        eeac5d35e5cabc54 others
    "#]]);
}

#[test]
fn processors_of_the_client_are_the_limit() {
    check("client", &findings(Class::One(Limit::ClientCpu), 3), expect![[r#"
        14ad0fad28501237 load point 0
        b8dbb1c286dedeba load point 1
        ec3ec51beef3befb load point 2
        43ff0614f4a45758 load point 3
        9221dfcee0d44532 load point 4
        8c80387bd10b663b curve 0
        63e163c6a7eda817 curve 1
        afebc348f2d36990 steadiness 0
        f92b117e11fec11c steadiness 1
        b21060127c6f9730 steadiness 2
        a6eb94ee7d551138 steadiness 3
        6358a696b768240d steadiness 4
        ec2b1fe745dacf94 verdict 0
        dd507c5df2db11d1 verdict 1
        7ddb81fe974447a3 series
        f80940db3165aea9 heat
        6dc8a865ad192ab9 wire
        b7745442204b6991 searches
        56eb49a65830127d warnings
        09612b07b5ecb5a5 notes
        1d384b7d516ee624 summary
        eeac5d35e5cabc54 others
    "#]]);
}

#[test]
fn a_link_is_the_limit() {
    check("link", &findings(Class::One(Limit::Link), 4), expect![[r#"
        ea8b7878b22b228d load point 0
        cd42e5e3a6dd18a5 load point 1
        8829c53927921607 load point 2
        0f48d7bc9aca0511 load point 3
        47a20842a9a0138c load point 4
        059ff5450c0a3062 load point 5
        8ab7a9a606fd665a load point 6
        6b870040e28d398d load point 7
        daa7b20d561fd6fd load point 8
        1363f35c59ba2e8b curve 0
        3ffd035cc9587960 curve 1
        902e7b294b2c0d2f curve 2
        aeb43bae8e7a2fda steadiness 0
        a157b0007344a43d steadiness 1
        4f7448d65f58927b steadiness 2
        53086247f34e0202 steadiness 3
        7e4ea596ec0a9b0f steadiness 4
        4a56559852cbb9b7 steadiness 5
        37ed4cdf2ea65112 steadiness 6
        78dc5a13e8ef1b84 steadiness 7
        a396e15135f49b5a steadiness 8
        bf83b17be2e5f5f0 verdict 0
        f61ec2b5b48c4201 verdict 1
        c04de00b3eb714ab verdict 2
        bc95b852e0d1cb2c series
        67d00ae91be97a6d heat
        22a33483f9479bee wire
        8edab457d38bbb67 searches
        6fd4cdd50b4c3355 warnings
        09612b07b5ecb5a5 notes
        a609c626c6dc0d32 summary
        fab6ff570e3a26a6 others
    "#]]);
}

#[test]
fn a_limit_moves() {
    check("moving", &findings(Class::Moving, 5), expect![[r#"
        df340108ea0d08f9 load point 0
        40cbe3b7b2222a8f load point 1
        e6be47ef807f107b load point 2
        b7f1c085cd5c6801 load point 3
        8a4f80f18b5c92e8 load point 4
        927104c5e60327ab load point 5
        a76dff9c8654bd37 load point 6
        d52cca71e476e956 load point 7
        40004bedf4fdfda5 load point 8
        d7ba0a2dd5924ebb load point 9
        12ec20bb7a6f3a5b load point 10
        a0ed907f66e6d073 load point 11
        80ddb33ff6124554 curve 0
        e74895dc8ab2013d curve 1
        33e2d44533f30243 curve 2
        14bdf09ec034954b curve 3
        42a91390b50cef60 curve 4
        120ddecde0c06f80 curve 5
        c6dae3dc168e4ec8 steadiness 0
        11ceb1a799a5003a steadiness 1
        ceb32926ea16f1c3 steadiness 2
        f0555d227e7e517a steadiness 3
        3425fc933af4d8b0 steadiness 4
        518bedfdf2d66257 steadiness 5
        ea81f3c4ace28442 steadiness 6
        27d772910c1ff815 steadiness 7
        2440da246ee3e491 steadiness 8
        a8289a33eb9742f4 steadiness 9
        5c635c482e3eb601 steadiness 10
        09fa5d3551b791ac steadiness 11
        0a60b21128eb8447 verdict 0
        66c30f0f12955ee5 verdict 1
        db1e1af2081a82f0 verdict 2
        e3ef5c1610178434 verdict 3
        e071c3bae0a862be verdict 4
        222479149ddec7b9 verdict 5
        8aab1d623ccb41f6 series
        1f77199a675e3b27 heat
        1f9c6f7d8281ee8f wire
        c0462e5a1be36a62 searches
        d65287f47cfe8c22 warnings
        09612b07b5ecb5a5 notes
        5b3246bddac98544 summary
        eeac5d35e5cabc54 others
    "#]]);
}

#[test]
fn reads_come_from_a_cache() {
    check("cached", &findings(Class::ServerCache, 6), expect![[r#"
        201bbc1283baa880 load point 0
        4f48d79e708e5535 load point 1
        2443625cd7e1b1b8 load point 2
        6bb07fe09c76d79a load point 3
        acdd2701d3794807 load point 4
        6f396056b4de036e load point 5
        9d72b16fbb50a32c load point 6
        420955f67163cdf1 load point 7
        c146f1b543889dd2 load point 8
        9ae3e60c105477d6 load point 9
        001ef2c071b4e1db load point 10
        ee3ad0d0565a6178 load point 11
        fa9332f762812b49 curve 0
        60c98038c7276e5c curve 1
        7f549f8e9dc77a13 curve 2
        1920b041f8814d10 curve 3
        e06ff1f74e76ebb2 curve 4
        c153cab339638ddd steadiness 0
        f8adaa5fe58c35be steadiness 1
        87d818c999994389 steadiness 2
        f6b1107b444da909 steadiness 3
        65a5c7a48b59b2fe steadiness 4
        363daf386fe657a1 steadiness 5
        58008adb3377ab8d steadiness 6
        9d5f176162068fde steadiness 7
        af4e43b8b9df6f79 steadiness 8
        a1960115b1f5091e steadiness 9
        390ecef6cc641b71 steadiness 10
        4c2e7137a1b84624 steadiness 11
        9c7dd1a011c5cda7 verdict 0
        99d4028b0062f5e6 verdict 1
        64df1a523847b333 verdict 2
        e0d3a93289a6db30 verdict 3
        58457e97211041c0 verdict 4
        4c9dd6a1adb3b7de series
        6bfe5dc6daa68a7a heat
        1f9c6f7d8281ee8f wire
        03ffffdeb3498255 searches
        5a3d5394dbdb5e73 warnings
        09612b07b5ecb5a5 notes
        962765db07f9aa3a summary
        eeac5d35e5cabc54 others
    "#]]);
}

#[test]
fn other_processes_use_the_processors() {
    check("busy", &findings(Class::BusyClient, 7), expect![[r#"
        84b540798ad3ab92 load point 0
        140359ad6cbe78b1 load point 1
        0b3b0e8aeb42af3f load point 2
        0d01def33937b8a3 load point 3
        1e5d0ccead538364 load point 4
        fb0b7510383db812 curve 0
        febabfd545c11b27 steadiness 0
        850d0292256b98ba steadiness 1
        ab5aa3f85dac4ee5 steadiness 2
        ca352bba0928f4ba steadiness 3
        74e902f892aa0cdb steadiness 4
        c79f4061cd38d18e verdict 0
        a44b6e1958d40797 series
        77d2e77276bbb2b3 heat
        6dc8a865ad192ab9 wire
        7de785118ad1a63f searches
        a3146c61d2a82959 warnings
        09612b07b5ecb5a5 notes
        3b8ff65c5d8c7eb8 summary
        eeac5d35e5cabc54 others
    "#]]);
}

#[test]
fn a_profile_is_compared_with_that_of_another_system() {
    let measure = |seed: u64| user::measure(&systems::draw(Class::FourCorners, seed), seed);
    let records = [measure(8), measure(9)];
    check("profile", &analyze(&records[0]), expect![[r#"
        6a3602f776fff546 load point 0
        3194701239ceda6f load point 1
        ddd203868acfb1c3 load point 2
        6c2e619ac68105c9 load point 3
        316ad7f93a5de52a load point 4
        fd67353e4649207e load point 5
        228b30c7969902dc load point 6
        0f8ce6a337c01549 load point 7
        e5f11874ea0b3e03 load point 8
        4e36c636e001798f load point 9
        b70bb59d12976081 load point 10
        b1df38084d8b696c load point 11
        5af3f35e083f2ba8 load point 12
        014ceaa6316ced91 load point 13
        606fc2753b845092 load point 14
        ceaffcac0799e744 load point 15
        41d55892d645edf5 curve 0
        9ce3a1e7032eb9d3 curve 1
        0d8eb6e55d5358f2 curve 2
        7afd1a26429b602c curve 3
        fd61049221da1192 steadiness 0
        b68d5173831208eb steadiness 1
        3afeb09988aad65b steadiness 2
        f56e28390f737f6b steadiness 3
        6f093b27d4020d0e steadiness 4
        8a79f529e230d5b9 steadiness 5
        9bf35bee1a0673e6 steadiness 6
        09d7795ca16d7dd8 steadiness 7
        0b6a91bab855e45a steadiness 8
        ed313fa44f0db985 steadiness 9
        f09897fa0f5020b8 steadiness 10
        e727d89f3acd5abb steadiness 11
        f6139df303f26972 steadiness 12
        1476476549424397 steadiness 13
        e606b1888953cd2e steadiness 14
        c2837b7e9fe759b6 steadiness 15
        aef035a71a7b6ef6 verdict 0
        ee0c1d41cb936ed9 verdict 1
        c3700c6fa1540ac6 verdict 2
        3e76dc4ab4607395 verdict 3
        d1334a4b4fea151e series
        08269c554b517809 heat
        555e3086399ce157 wire
        09612b07b5ecb5a5 searches
        e328af650e38554b warnings
        09612b07b5ecb5a5 notes
        79d18f6142d09854 summary
        eeac5d35e5cabc54 others
    "#]]);
    let options = Options { run_to_run: Some(0.02), ..Options::default() };
    let compared = compare(&records.each_ref().map(Side::of), &options);
    let mut all = Snapshot::new("compared");
    all.add("sides", &compared.sides);
    all.add("pairs", &compared.pairs);
    all.add("rankings", &compared.rankings);
    all.add("tests", &(compared.main_tests, compared.other_tests));
    expect![[r#"
        6907810d8b9fc79b sides
        e44ba79a22e02056 pairs
        09612b07b5ecb5a5 rankings
        8c319a96445f90bd tests
    "#]].assert_eq(&all.digests());
}
