//! Findings on simulated systems have these digests, figure by figure.
//!
//! What is known of the systems is tested in the other tests and in `sim`; this one notices a
//! change in any figure, bound or judgement that they do not name. If a change is meant:
//! `UPDATE_EXPECT=1 cargo test -p analysis unchanged`.

use crate::snapshot::Snapshot;
use analysis::compare::side::Side;
use analysis::compare::{Options, compare};
use analysis::verdict::Limit;
use analysis::{Findings, analyze};
use expect_test::{Expect, expect};
use sim::examination::{Class, systems, user};

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
    all.add(
        "others",
        &(&findings.mixes, &findings.tune, &findings.emulated, &findings.service_check),
    );
    digests.assert_eq(&all.digests());
}

#[test]
fn a_volume_is_the_limit() {
    check(
        "volume",
        &findings(Class::One(Limit::VolumeThroughput), 1),
        expect![[r#"
            37d56fbd4e7a8548 load points
            0177747d85d9dd9c curves
            388968f1b1e1d30b steadiness
            e3176f7125a22804 verdicts
            8cee86f2361662ac series
            93f835cea1d59758 heat
            5728c260dd887c05 wire
            35dbe1d964a12a32 searches
            af8f89f9c162da7b warnings
            09612b07b5ecb5a5 notes
            9db0b3a3ea86bb54 summary
            6c6a9c56a37a6367 others
        "#]],
    );
}

#[test]
fn slots_of_the_server_are_the_limit() {
    check(
        "slots",
        &findings(Class::One(Limit::ServerSlots), 2),
        expect![[r#"
            139b94c911ae864c load points
            8c1c9a0bf9957a7e curves
            2e7898749e2b357d steadiness
            754d25182a409d6c verdicts
            57336d2c5570ff38 series
            1ee25a901b0c2c92 heat
            5728c260dd887c05 wire
            35dbe1d964a12a32 searches
            d8927f8f273f57b0 warnings
            09612b07b5ecb5a5 notes
            230c57946a8d7e0a summary
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
            41022a156e696cb5 load points
            9e5c89374858d44b curves
            696cc4f31c717bfb steadiness
            1efab785478a4027 verdicts
            f0cca8ec6abaf577 series
            f80940db3165aea9 heat
            6dc8a865ad192ab9 wire
            5b275de6e97a9fd5 searches
            31bf29fe6d8a84b9 warnings
            09612b07b5ecb5a5 notes
            0cd065d42e943aee summary
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
            fc5b83373b550360 load points
            b8db4d9793abf1dd curves
            5c159f73379acc82 steadiness
            1e7a9bbd086022d1 verdicts
            c17af70c631950ea series
            67d00ae91be97a6d heat
            343878b2e237fafa wire
            c96dc664258b3f5b searches
            64c96ad70ec876cf warnings
            09612b07b5ecb5a5 notes
            f3bc1c84805e6da7 summary
            39e3889fc9a1736e others
        "#]],
    );
}

#[test]
fn a_limit_moves() {
    check(
        "moving",
        &findings(Class::Moving, 5),
        expect![[r#"
            15aafca0ae08dca5 load points
            49282093860b6810 curves
            bc642115509d99c6 steadiness
            fafdbe58ceffa56e verdicts
            efa6afbd8b6b34cc series
            1f77199a675e3b27 heat
            1f9c6f7d8281ee8f wire
            8b5e25d9d37c5aa0 searches
            50af19f043400d9b warnings
            09612b07b5ecb5a5 notes
            5abd09b1b1162dce summary
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
            8232186c9f8faedb load points
            9ff5598d5313908f curves
            64aae667662d5740 steadiness
            13ba946d5003ee04 verdicts
            569f83c03f127236 series
            6bfe5dc6daa68a7a heat
            1f9c6f7d8281ee8f wire
            385cc372ceb3bec1 searches
            ad795c84b8f6f864 warnings
            09612b07b5ecb5a5 notes
            3116f8dca4a6e62a summary
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
            3ab28b823b5686d2 load points
            ef7b30ff58220207 curves
            9c7e4f1ddda7f677 steadiness
            b52e4ba3963a97f2 verdicts
            378e5bbf3c7446cb series
            77d2e77276bbb2b3 heat
            6dc8a865ad192ab9 wire
            342d65fa8c226fc3 searches
            6cd2ca7b2f5c96ea warnings
            09612b07b5ecb5a5 notes
            44fd983c805e8a6f summary
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
            3897035c2ee29afc load points
            f0d96f2215d7b4b5 curves
            9e5344d226acc026 steadiness
            2df7100966c6fed6 verdicts
            65bd70d3a3a415d2 series
            08269c554b517809 heat
            555e3086399ce157 wire
            09612b07b5ecb5a5 searches
            622a9a55e86b301e warnings
            09612b07b5ecb5a5 notes
            c271a19d6563552b summary
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
        b501411bde192935 pairs
        09612b07b5ecb5a5 rankings
        8c319a96445f90bd tests
    "#]]
    .assert_eq(&all.digests());
}
