//! Claims on volumes and hosts: from the newest figure, with its kind and contradicting figures.

use crate::needs;
use std::sync::LazyLock;

use cloud::figure::{Access, Value};
use cloud::service_level::{ServiceLevel, VolumeKind};
use cloud::throughput::KibPerSec;
use sizing::capability::Ability;
use sizing::claim::{Claim, ClaimKind};
use sizing::design::Design;
use sizing::facts::Facts;
use sizing::need::{Demand, Need, Protocol};
use sizing::resource_use::{Resource, Use};
use sizing::shortfall::Constraint;
use sizing::solve::{Verdict, solve};
use sizing::statement::{Contradiction, HostStatement, Note, Statement};
use units::{BytesPerSec, Share};

static FACTS: LazyLock<Facts> = LazyLock::new(Facts::embedded);

fn sequential(mib_s: u64, transfer_kib: u64, read_permille: u64) -> Demand {
    let read = Share::from_permille(read_permille);
    Demand {
        throughput: KibPerSec::new(mib_s << 10),
        transfer_bytes: transfer_kib << 10,
        read,
        access: Access::Sequential,
        names_per_s: 0,
    }
}

fn designs(need: &Need, facts: &Facts) -> Vec<Design> {
    match solve(need, facts).expect("a need") {
        Verdict::Feasible { designs, .. } => designs,
        Verdict::Infeasible(why) => panic!("{why:?}"),
    }
}

fn of(design: &Design, resource: Resource) -> &Use {
    design.uses.iter().find(|one| one.resource == resource).expect("it is used")
}

fn volume(demand: &Demand, facts: &Facts) -> sizing::published::Capability {
    Ability::of(demand, VolumeKind::Regular, Protocol::Nfs3, facts).expect("a demand").volume
}

fn contradiction(claim: &Claim) -> Option<(&Contradiction, bool)> {
    match &claim.statement {
        Statement::Note(Note::Contradicted { contradiction, is_short }) => {
            Some((contradiction, *is_short))
        }
        _ => None,
    }
}

fn requested_gib(claim: &Claim) -> Option<u64> {
    match claim.statement {
        Statement::Note(Note::RequestQuota { required_gib, .. }) => Some(required_gib),
        _ => None,
    }
}

fn mib_s(kib_s: f64) -> f64 {
    (kib_s / 1024.0 * 10.0).round() / 10.0
}

#[test]
fn hosts_of_two_processors_are_extrapolated_16_fold_and_not_measured() {
    let need = Need { vm: Some("D2s_v5".to_owned()), ..needs::of(sequential(950, 64, 1000), 4096) };
    let design = &designs(&need, &FACTS)[0];
    assert_eq!(of(design, Resource::HostCapability).kind, ClaimKind::Extrapolated);
    assert_eq!(design.basis(), ClaimKind::Extrapolated);
    let is_extrapolated = |claim: &&Claim| match claim.statement {
        Statement::Hosts(HostStatement::Capability { vcpu, extrapolated_from, .. }) => {
            (vcpu, extrapolated_from) == (Some(2), Some(32))
        }
        _ => false,
    };
    let claim = design.reasons.iter().find(is_extrapolated).expect("a claim about hosts");
    assert_eq!(claim.kind, ClaimKind::Extrapolated);
}

#[test]
fn hosts_are_extrapolated_only_outside_published_sizes() {
    let demand = sequential(950, 64, 1000);
    let ability = Ability::of(&demand, VolumeKind::Regular, Protocol::Nfs3, &FACTS).unwrap();
    for (processors, capability) in &ability.hosts {
        let is_outside = !(32..=104).contains(processors);
        let is_extrapolated = capability.kind == ClaimKind::Extrapolated;
        assert_eq!(is_extrapolated, is_outside, "{processors}: {capability:?}");
    }
}

/// Figure B15 (2024-10-31): one host with 32 processors does 200,000 random 4 KiB reads a second,
/// far fewer than its volume.
#[test]
fn a_host_does_no_more_than_the_newest_figure_bounded_by_a_host() {
    let demand = Demand::of_rate(1000, 4096, Share::WHOLE);
    let ability = Ability::of(&demand, VolumeKind::Regular, Protocol::Nfs3, &FACTS).unwrap();
    let host = ability.host(32);
    assert_eq!((host.kib_s.round(), host.kind), (800_000.0, ClaimKind::Published));
    assert_eq!(host.by[0].row, "figure B15");
}

/// Figure A63: at most 100,000 random 8 KiB reads a second over SMB from one host.
#[test]
fn one_smb_host_does_no_more_than_published() {
    let need = Need {
        protocol: Protocol::Smb,
        ..needs::of(Demand::of_rate(190_000, 8192, Share::WHOLE), 4096)
    };
    for design in designs(&need, &FACTS) {
        let hosts = design.host_count();
        assert!(hosts >= 2, "{hosts}");
        let each = of(&design, Resource::HostCapability).limit / hosts;
        assert!(each <= 100_000 * 8, "{each} KiB/s on one host");
    }
    let one = Need { hosts: Some(1), ..need.clone() };
    let Verdict::Infeasible(why) = solve(&one, &FACTS).expect("a need") else {
        panic!("one host was never seen to do 190,000 a second over SMB")
    };
    assert!(why.shortfalls.iter().any(|one| one.lack.constraint() == Constraint::Hosts));
    assert!(!designs(&Need { hosts: Some(2), ..need }, &FACTS).is_empty());
}

#[test]
fn the_newest_published_figure_of_a_volume_decides() {
    // B09, B11 and B10 of 2024-10-31; older ones have 4,500 and 1,600.
    let cases = [(64, 1000, 3600.0, "B09"), (256, 1000, 3500.0, "B11"), (64, 0, 2400.0, "B10")];
    for (transfer, read, expected, id) in cases {
        let found = volume(&sequential(1000, transfer, read), &FACTS);
        assert_eq!(mib_s(found.kib_s), expected, "{found:?}");
        assert_eq!(found.kind, ClaimKind::Published);
        assert_eq!(found.by[0].row, format!("figure {id}"));
    }
    // Between published mixes and sizes it is derived, beyond them extrapolated.
    assert_eq!(volume(&sequential(1000, 128, 1000), &FACTS).kind, ClaimKind::Derived);
    assert_eq!(volume(&sequential(1000, 64, 700), &FACTS).kind, ClaimKind::Derived);
    assert_eq!(volume(&sequential(1000, 1024, 1000), &FACTS).kind, ClaimKind::Extrapolated);
    assert_eq!(volume(&sequential(1000, 4, 1000), &FACTS).kind, ClaimKind::Extrapolated);
    // A newer row takes precedence.
    let mut facts = FACTS.clone();
    let newest = facts.figures.iter().find(|figure| figure.id == "B09").unwrap();
    let mut newer = newest.clone();
    newer.id = "Z01".to_owned();
    newer.origin.date = "2099-01-01".to_owned();
    newer.value = Value::Throughput(BytesPerSec::new(3000.0 * 1_048_576.0));
    facts.figures.push(newer);
    let found = volume(&sequential(1000, 64, 1000), &facts);
    assert_eq!((mib_s(found.kib_s), found.by[0].row.as_str()), (3000.0, "figure Z01"));
}

#[test]
fn figures_that_contradict_the_newest_mark_the_design_with_both_rows() {
    let noted = |design: &Design, rows: [&str; 2]| {
        let names = |claim: &Claim| {
            let found: Vec<&str> = claim.rows.iter().map(|row| row.row.as_str()).collect();
            contradiction(claim).is_some() && found == rows
        };
        design.notes.iter().any(names)
    };
    // 4,000 MiB/s of reads: two volumes by the newest figure, one by older ones.
    let reads = Need {
        levels: vec![ServiceLevel::Flexible],
        ..needs::of(sequential(4_000, 64, 1000), 10 << 10)
    };
    let all = designs(&reads, &FACTS);
    for design in all.iter().filter(|design| design.kind == VolumeKind::Regular) {
        assert!(design.volume_count() >= 2);
        assert!(!design.contradicted);
        let (higher, is_short) =
            design.notes.iter().find_map(contradiction).expect("older figures are higher");
        assert_eq!(higher.decides.row, "figure B09");
        assert_eq!((mib_s(higher.other_throughput.get() / 1024.0), is_short), (4_500.0, false));
    }
    // 1,800 MiB/s of writes on one volume: by the newest figure (2,400), not by older ones (1,600).
    let writes = Need {
        levels: vec![ServiceLevel::Premium],
        ..needs::of(sequential(1_800, 64, 0), 40 << 10)
    };
    let all = designs(&writes, &FACTS);
    let one = all.iter().find(|d| d.kind == VolumeKind::Regular && d.volume_count() == 1).unwrap();
    assert!(one.contradicted);
    let older = ["A04", "A56", "B08"].map(|id| format!("figure {id}"));
    assert!(older.iter().any(|other| noted(one, ["figure B10", other])), "{:#?}", one.notes);
    assert!(all.iter().any(|design| !design.contradicted), "more volumes leave no contradiction");
}

#[test]
fn only_the_regional_quota_can_be_exceeded() {
    for mib in [950, 3_599, 3_601, 4_457, 4_470, 4_500, 5_200, 9_000] {
        for read in [1000, 500, 0] {
            let need = needs::of(sequential(mib, 64, read), 10 << 10);
            for design in designs(&need, &FACTS) {
                for one in design.uses.iter().filter(|u| u.resource != Resource::RegionalQuota) {
                    assert!(one.share() <= Share::WHOLE, "{mib} MiB/s, {read}: {one:?}");
                }
            }
        }
    }
}

#[test]
fn each_design_has_its_use_of_the_regional_quota() {
    let small = &designs(&needs::of(sequential(100, 64, 1000), 4096), &FACTS)[0];
    let quota = of(small, Resource::RegionalQuota);
    assert_eq!((quota.used, quota.limit), (small.pool_gib(), 25 << 10));
    assert_eq!(quota.kind, ClaimKind::DocumentedLimit);
    assert!(!small.notes.iter().any(|note| requested_gib(note).is_some()));
    let large = &designs(&needs::of(sequential(100, 64, 1000), 60 << 10), &FACTS)[0];
    let note = large.notes.iter().find(|note| requested_gib(note) == Some(60 << 10));
    assert_eq!(note.expect("a request").rows[0].row, "limit region_capacity_max");
}

#[test]
fn more_volumes_hosts_and_endpoints_than_published_are_extrapolated() {
    let many = designs(&needs::of(sequential(60 << 10, 64, 1000), 100 << 10), &FACTS);
    for design in many.iter().filter(|design| design.kind == VolumeKind::Regular) {
        assert!(design.volume_count() > 8, "{}", design.volume_count());
        assert_eq!(of(design, Resource::VolumeCapability).kind, ClaimKind::Extrapolated);
        assert_eq!(of(design, Resource::Endpoints).kind, ClaimKind::Extrapolated);
    }
}

/// Of this size and this demand one host was measured, and others of several.
#[test]
fn what_one_host_does_is_published_and_what_several_do_is_derived() {
    let reads = Demand {
        transfer_bytes: 4096,
        ..Demand::of_rate(20_000, 4096, Share::from_permille(1000))
    };
    let kind = |hosts: u32| {
        let vm = Some("D32s_v5".to_owned());
        let need = Need { vm, hosts: Some(hosts), ..needs::of(reads, 4096) };
        of(&designs(&need, &FACTS)[0], Resource::HostCapability).kind
    };
    assert_eq!(kind(1), ClaimKind::Published);
    assert_eq!(kind(2), ClaimKind::Derived);
    assert_eq!(kind(1000), ClaimKind::Extrapolated);
}
