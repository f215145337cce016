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
    all.add("load points", &findings.load_points);
    all.add("curves", &findings.curves);
    all.add("steadiness", &findings.steadiness);
    all.add("verdicts", &findings.verdicts);
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
    check(
        "volume",
        &findings(Class::One(Limit::VolumeThroughput), 1),
        expect![[r#"
        3e6a8233ef78d2b5 load points
        b6eb3333cde8f317 curves
        388968f1b1e1d30b steadiness
        aaff97c817c950b6 verdicts
        e11210ad41a67e50 series
        93f835cea1d59758 heat
        5728c260dd887c05 wire
        495e4f664cc75c34 searches
        236f020fbe932598 warnings
        09612b07b5ecb5a5 notes
        eaa0c2c40e4a36f2 summary
        77c4f8c1a23cbb6b others
    "#]],
    );
}

#[test]
fn slots_of_the_server_are_the_limit() {
    check(
        "slots",
        &findings(Class::One(Limit::ServerSlots), 2),
        expect![[r#"
        d7486896a0a58250 load points
        c247b3702dc3b7cc curves
        2e7898749e2b357d steadiness
        d03cfe61ce55cdce verdicts
        2729444eb267cd24 series
        1ee25a901b0c2c92 heat
        5728c260dd887c05 wire
        495e4f664cc75c34 searches
        75d1a09d8bda1544 warnings
        09612b07b5ecb5a5 notes
        43f1ae324f069654 summary
        eeac5d35e5cabc54 others
    "#]],
    );
}

#[test]
fn processors_of_the_client_are_the_limit() {
    check(
        "client",
        &findings(Class::One(Limit::ClientCpu), 3),
        expect![[r#"
        e85e8224a329e514 load points
        a97cb493d94f7831 curves
        696cc4f31c717bfb steadiness
        b40bc9f747983b44 verdicts
        7ddb81fe974447a3 series
        f80940db3165aea9 heat
        6dc8a865ad192ab9 wire
        b7745442204b6991 searches
        56eb49a65830127d warnings
        09612b07b5ecb5a5 notes
        1d384b7d516ee624 summary
        eeac5d35e5cabc54 others
    "#]],
    );
}

#[test]
fn a_link_is_the_limit() {
    check(
        "link",
        &findings(Class::One(Limit::Link), 4),
        expect![[r#"
        6d7c3ca5f9996506 load points
        b986c4ea96ea1a1e curves
        5c159f73379acc82 steadiness
        4056eb4c74c546da verdicts
        bc95b852e0d1cb2c series
        67d00ae91be97a6d heat
        22a33483f9479bee wire
        8edab457d38bbb67 searches
        6fd4cdd50b4c3355 warnings
        09612b07b5ecb5a5 notes
        a609c626c6dc0d32 summary
        fab6ff570e3a26a6 others
    "#]],
    );
}

#[test]
fn a_limit_moves() {
    check(
        "moving",
        &findings(Class::Moving, 5),
        expect![[r#"
        5419208b289a1025 load points
        e0661cc81f0c0c24 curves
        bc642115509d99c6 steadiness
        144f4925acd1ec88 verdicts
        8aab1d623ccb41f6 series
        1f77199a675e3b27 heat
        1f9c6f7d8281ee8f wire
        c0462e5a1be36a62 searches
        d65287f47cfe8c22 warnings
        09612b07b5ecb5a5 notes
        5b3246bddac98544 summary
        eeac5d35e5cabc54 others
    "#]],
    );
}

#[test]
fn reads_come_from_a_cache() {
    check(
        "cached",
        &findings(Class::ServerCache, 6),
        expect![[r#"
        f490a457be0022c1 load points
        e6d84626a7582836 curves
        64aae667662d5740 steadiness
        3b7e12ad67d25fd4 verdicts
        4c9dd6a1adb3b7de series
        6bfe5dc6daa68a7a heat
        1f9c6f7d8281ee8f wire
        03ffffdeb3498255 searches
        5a3d5394dbdb5e73 warnings
        09612b07b5ecb5a5 notes
        962765db07f9aa3a summary
        eeac5d35e5cabc54 others
    "#]],
    );
}

#[test]
fn other_processes_use_the_processors() {
    check(
        "busy",
        &findings(Class::BusyClient, 7),
        expect![[r#"
        e43114c5b1617b1d load points
        7260be7bb73461de curves
        9c7e4f1ddda7f677 steadiness
        e1169f206c380b82 verdicts
        a44b6e1958d40797 series
        77d2e77276bbb2b3 heat
        6dc8a865ad192ab9 wire
        7de785118ad1a63f searches
        a3146c61d2a82959 warnings
        09612b07b5ecb5a5 notes
        3b8ff65c5d8c7eb8 summary
        eeac5d35e5cabc54 others
    "#]],
    );
}

#[test]
fn a_profile_is_compared_with_that_of_another_system() {
    let measure = |seed: u64| user::measure(&systems::draw(Class::FourCorners, seed), seed);
    let records = [measure(8), measure(9)];
    check(
        "profile",
        &analyze(&records[0]),
        expect![[r#"
        e11624aa630b4355 load points
        04b8a84b9570eead curves
        9e5344d226acc026 steadiness
        42b2b03183ed7985 verdicts
        d1334a4b4fea151e series
        08269c554b517809 heat
        555e3086399ce157 wire
        09612b07b5ecb5a5 searches
        e328af650e38554b warnings
        09612b07b5ecb5a5 notes
        79d18f6142d09854 summary
        eeac5d35e5cabc54 others
    "#]],
    );
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
    "#]]
    .assert_eq(&all.digests());
}
