//! Throughput limits compared with numbers computed by hand, at the edges of every level, kind and
//! QoS type. The smallest quota for a throughput is the inverse of the limit.

use std::sync::LazyLock;

use cloud::catalog::Catalog;
use cloud::pool_throughput::PoolThroughput;
use cloud::service_level::ServiceLevel::{Flexible, Premium, Standard, Ultra};
use cloud::service_level::VolumeKind::{Breakthrough, Large, Regular};
use cloud::service_level::{KibPerSecPerGib, QosType, ServiceLevel, VolumeKind};
use cloud::throughput::KibPerSec;
use cloud::volume_limit::{
    Ceiling, LimitDerivation, LimitSetBy, NoQuota, Setting, SettingsError, VolumeLimit,
    VolumeSettings,
};
use units::Bytes;

static CATALOG: LazyLock<Catalog> = LazyLock::new(Catalog::embedded);

const TIB: u64 = 1024;

fn mib(count: u64) -> KibPerSec {
    KibPerSec::from_mib(count).expect("it fits")
}

fn limit(settings: VolumeSettings) -> VolumeLimit {
    CATALOG.volume_limit(&settings).unwrap_or_else(|errors| panic!("{settings:?}: {errors:?}"))
}

fn errors(settings: VolumeSettings) -> Vec<String> {
    let errors = CATALOG.volume_limit(&settings).expect_err("the service does not allow it");
    let message = |error| format!("{error} ({})", CATALOG.allowed(error));
    errors.iter().map(message).collect()
}

/// The printed limit, what determines it, and its rows.
fn described(limit: &VolumeLimit) -> (String, LimitSetBy, Vec<&str>) {
    let words = limit.throughput.map_or("none".to_owned(), |throughput| throughput.to_string());
    (words, limit.set_by, limit.rows.iter().map(|row| row.row.as_str()).collect())
}

#[test]
fn with_auto_qos_the_quota_gives_the_limit_up_to_the_ceiling_of_the_kind() {
    use LimitSetBy::{Ceiling, Nothing, Quota};
    for (level, kind, gib, words, set_by) in [
        // The smallest and the largest quota, and both sides of the ceiling.
        (Standard, Regular, 50, "0.78125 MiB/s", Quota),
        (Standard, Regular, 100 * TIB - 1, "1,599.984375 MiB/s", Quota),
        (Standard, Regular, 100 * TIB, "1,600 MiB/s", Quota),
        (Premium, Regular, 50, "3.125 MiB/s", Quota),
        (Premium, Regular, 100, "6.25 MiB/s", Quota),
        (Premium, Regular, TIB, "64 MiB/s", Quota),
        (Premium, Regular, 5 * TIB, "320 MiB/s", Quota),
        (Premium, Regular, 15_200, "950 MiB/s", Quota),
        (Premium, Regular, 71_999, "4,499.9375 MiB/s", Quota),
        (Premium, Regular, 72_000, "4,500 MiB/s", Quota),
        (Premium, Regular, 72_001, "4,500 MiB/s", Ceiling),
        (Premium, Regular, 100 * TIB, "4,500 MiB/s", Ceiling),
        (Ultra, Regular, 50, "6.25 MiB/s", Quota),
        (Ultra, Regular, 10 * TIB, "1,280 MiB/s", Quota),
        (Ultra, Regular, 35_999, "4,499.875 MiB/s", Quota),
        (Ultra, Regular, 36_000, "4,500 MiB/s", Quota),
        (Ultra, Regular, 36_001, "4,500 MiB/s", Ceiling),
        (Ultra, Regular, 100 * TIB, "4,500 MiB/s", Ceiling),
        (Standard, Large, 50 * TIB, "800 MiB/s", Quota),
        (Standard, Large, 800 * TIB - 1, "12,799.984375 MiB/s", Quota),
        (Standard, Large, 800 * TIB, "12,800 MiB/s", Quota),
        (Standard, Large, 800 * TIB + 1, "12,800 MiB/s", Ceiling),
        (Standard, Large, 1024 * TIB, "12,800 MiB/s", Ceiling),
        (Premium, Large, 50 * TIB, "3,200 MiB/s", Quota),
        (Premium, Large, 200 * TIB, "12,800 MiB/s", Quota),
        (Premium, Large, 200 * TIB + 1, "12,800 MiB/s", Ceiling),
        (Ultra, Large, 50 * TIB, "6,400 MiB/s", Quota),
        (Ultra, Large, 100 * TIB - 1, "12,799.875 MiB/s", Quota),
        (Ultra, Large, 100 * TIB, "12,800 MiB/s", Quota),
        (Ultra, Large, 1024 * TIB, "12,800 MiB/s", Ceiling),
        (Standard, Breakthrough, 2400, "none", Nothing),
        (Premium, Breakthrough, 100 * TIB, "none", Nothing),
        (Ultra, Breakthrough, 2400 * TIB, "none", Nothing),
    ] {
        let found = limit(VolumeSettings::auto(level, kind, Bytes::gib(gib)));
        let level_row = format!("service_level {level}");
        let ceiling_row = format!("ceiling {level} {}", kind.name());
        let rows = match set_by {
            Ceiling => vec![level_row.as_str(), ceiling_row.as_str()],
            _ => vec![level_row.as_str()],
        };
        let expected = (words.to_owned(), set_by, rows);
        assert_eq!(described(&found), expected, "{level} {} {gib} GiB", kind.name());
        assert!(found.rows.iter().all(|row| !row.source.is_empty() && !row.date.is_empty()));
    }
}

#[test]
fn the_derivation_has_the_arithmetic_with_the_ceiling_that_applies() {
    let by_quota = |level, kind, gib, rate, granted, ceiling| {
        let found = limit(VolumeSettings::auto(level, kind, Bytes::gib(gib))).derivation;
        let (rate, granted) = (KibPerSecPerGib::new(rate).expect("above 0"), mib(granted));
        let expected = LimitDerivation::Quota { quota_gib: gib, rate, granted, kind, ceiling };
        assert_eq!(found, expected);
    };
    by_quota(Premium, Regular, 5 * TIB, 64, 320, Ceiling::NotLower);
    by_quota(Ultra, Regular, 100 * TIB, 128, 12_800, Ceiling::Lower(mib(4500)));
    by_quota(Ultra, Breakthrough, 2400, 128, 300, Ceiling::NotStated);
    let assigned = VolumeSettings::manual(Flexible, Regular, Bytes::gib(TIB), mib(200));
    assert_eq!(limit(assigned).derivation, LimitDerivation::Assigned(mib(200)));
}

#[test]
fn with_manual_qos_the_assigned_throughput_is_the_limit_within_what_can_be_assigned() {
    // The maximum of a regular volume is the same for every level and quota.
    for level in ServiceLevel::ALL {
        for (kind, gib, most) in [
            (Regular, 50, Some((4500, "limit manual_throughput_max".to_owned()))),
            (Regular, 100 * TIB, Some((4500, "limit manual_throughput_max".to_owned()))),
            (Large, 50 * TIB, Some((12_800, format!("ceiling {level} large")))),
            (Large, 1024 * TIB, Some((12_800, format!("ceiling {level} large")))),
            (Breakthrough, 2400, None),
        ] {
            let manual = |assigned| VolumeSettings::manual(level, kind, Bytes::gib(gib), assigned);
            let rows: Vec<&str> = most.iter().map(|(_, row)| row.as_str()).collect();
            let top = most.as_ref().map_or(60_000, |(most, _)| *most);
            for assigned in [mib(1), KibPerSec::new(1025), mib(200), mib(top)] {
                let found = limit(manual(assigned));
                let expected = (assigned.to_string(), LimitSetBy::Assignment, rows.clone());
                assert_eq!(described(&found), expected, "{level} {} {gib} GiB", kind.name());
            }
            let low = errors(manual(KibPerSec::new(1023)));
            assert_eq!(low.len(), 1);
            assert!(low[0].contains("a volume is assigned at least 1 MiB/s"), "{low:?}");
            if let Some((most, _)) = most {
                let high = errors(manual(KibPerSec::new(most * 1024 + 1)));
                assert_eq!(high.len(), 1);
                let range = format!("(allowed: 1 MiB/s to {})", mib(most));
                assert!(high[0].ends_with(&range), "{high:?}");
            }
        }
    }
}

#[test]
fn settings_that_do_not_exist_are_refused_with_what_is_allowed() {
    let auto = |level, kind, gib| VolumeSettings::auto(level, kind, Bytes::gib(gib));
    for (settings, message) in [
        (
            auto(Premium, Regular, 49),
            "a quota of 49 GiB, a regular volume has at least 50 GiB (allowed: 50 GiB to 100 TiB)",
        ),
        (
            auto(Ultra, Regular, 200 * TIB),
            "a quota of 200 TiB, a regular volume has at most 100 TiB (allowed: 50 GiB to 100 TiB; \
             a large volume may have it)",
        ),
        (
            auto(Ultra, Large, 10 * TIB),
            "a quota of 10 TiB, a large volume has at least 50 TiB (allowed: 50 TiB to 1 PiB; a \
             regular volume may have it)",
        ),
        (
            auto(Ultra, Large, 1024 * TIB + 1),
            "a quota of 1.00 PiB, a large volume has at most 1 PiB (allowed: 50 TiB to 1 PiB; a \
             breakthrough volume may have it)",
        ),
        (
            auto(Ultra, Breakthrough, 2400 * TIB + 1),
            "a quota of 2.34 PiB, a breakthrough volume has at most 2.34 PiB (allowed: 2.34 TiB to \
             2.34 PiB)",
        ),
        (
            VolumeSettings::auto(Ultra, Regular, Bytes::new((1 << 40) + 1)),
            "a quota of 1.00 TiB, a volume has a multiple of 1 GiB (allowed: multiples of 1 GiB)",
        ),
        (auto(Flexible, Regular, TIB), "the level flexible has no auto QoS (allowed: manual QoS)"),
        (
            VolumeSettings { qos: QosType::Manual, ..auto(Premium, Regular, TIB) },
            "no throughput, in a manual pool each volume is assigned one (allowed: 1 MiB/s to \
             4,500 MiB/s)",
        ),
        (
            VolumeSettings { assigned: Some(mib(64)), ..auto(Premium, Regular, TIB) },
            "a throughput for a volume in an auto pool, which has it by its quota (allowed: none \
             with auto QoS)",
        ),
    ] {
        assert_eq!(errors(settings), [message]);
    }
}

#[test]
fn every_error_is_reported_with_the_setting_it_concerns() {
    let settings = VolumeSettings {
        level: Flexible,
        kind: Regular,
        qos: QosType::Auto,
        quota: Bytes::new(1),
        assigned: Some(mib(1)),
    };
    let errors = CATALOG.volume_limit(&settings).expect_err("everything is wrong");
    let about: Vec<Setting> = errors.iter().map(SettingsError::setting).collect();
    assert_eq!(about, [Setting::Qos, Setting::Quota, Setting::Quota, Setting::Assigned]);
}

#[test]
fn every_combination_of_level_kind_and_qos_type_has_a_limit_or_an_error() {
    for level in ServiceLevel::ALL {
        for kind in VolumeKind::ALL {
            for qos in QosType::ALL {
                for assigned in [None, Some(mib(64))] {
                    let quota = Bytes::gib(CATALOG.quota_range(kind).0);
                    let settings = VolumeSettings { level, kind, qos, quota, assigned };
                    let offered = level != Flexible || qos == QosType::Manual;
                    let fits = assigned.is_some() == (qos == QosType::Manual);
                    assert_eq!(
                        CATALOG.volume_limit(&settings).is_ok(),
                        offered && fits,
                        "{settings:?}"
                    );
                }
            }
        }
    }
}

/// Quotas in GiB at which a level's limit changes, each with its neighbours, and many between.
fn quotas(kind: VolumeKind) -> Vec<u64> {
    let (least, most) = CATALOG.quota_range(kind);
    let edges = [least, 36_000, 72_000, 100 * TIB, 200 * TIB, 800 * TIB, most];
    let near = edges.into_iter().flat_map(|edge| edge - 1..=edge + 1);
    let between = (least..=most).step_by(997);
    near.chain(between).filter(|gib| (least..=most).contains(gib)).collect()
}

#[test]
fn the_least_quota_for_a_throughput_is_the_inverse_of_the_limit() {
    for level in [Standard, Premium, Ultra] {
        for kind in [Regular, Large] {
            let (least, most) = CATALOG.quota_range(kind);
            let of = |gib| {
                let settings = VolumeSettings::auto(level, kind, Bytes::gib(gib));
                limit(settings).throughput.expect("the service states one")
            };
            // The throughput of a quota gives the smallest quota with that limit.
            for gib in quotas(kind) {
                for required in [of(gib), KibPerSec::new(of(gib).get() - 1)] {
                    let found =
                        CATALOG.least_quota(level, kind, required).expect("a quota gives it");
                    let found = found.get() >> 30;
                    assert!(found <= gib, "{level} {gib} GiB: {found}");
                    assert!(of(found) >= required, "{level} {gib} GiB: {found}");
                    assert!(found == least || of(found - 1) < required, "{level} {gib}: {found}");
                }
            }
            // No quota is proposed for more than the ceiling.
            let highest = of(most);
            let beyond = KibPerSec::new(highest.get() + 1);
            assert_eq!(
                CATALOG.least_quota(level, kind, beyond),
                Err(NoQuota::AboveMost { level, kind, most: highest })
            );
            assert_eq!(CATALOG.least_quota(level, kind, KibPerSec::new(0)), Ok(Bytes::gib(least)));
        }
    }
    let breakthrough = CATALOG.least_quota(Ultra, Breakthrough, mib(1));
    assert_eq!(breakthrough, Err(NoQuota::NoLimit { kind: Breakthrough }));
    for kind in VolumeKind::ALL {
        let flexible = CATALOG.least_quota(Flexible, kind, mib(1));
        assert_eq!(flexible, Err(NoQuota::BoughtSeparately { level: Flexible }));
    }
}

#[test]
fn quotas_for_throughputs_equal_the_documents() {
    let gib = |level, kind, required| {
        CATALOG.least_quota(level, kind, mib(required)).map(|quota| quota.get() >> 30)
    };
    assert_eq!(gib(Premium, Regular, 950), Ok(15_200));
    // 70.31 and 35.16 TiB in the service's documentation.
    assert_eq!(gib(Premium, Regular, 4500), Ok(72_000));
    assert_eq!(gib(Ultra, Regular, 4500), Ok(36_000));
    assert_eq!(format!("{:.2} {:.2}", 72_000.0 / 1024.0, 36_000.0 / 1024.0), "70.31 35.16");
    assert_eq!(gib(Ultra, Large, 6401), Ok(51_208));
    // The smallest quota of the kind, although a smaller one would have the same limit.
    assert_eq!(gib(Ultra, Regular, 1), Ok(50));
    assert_eq!(gib(Premium, Large, 1), Ok(50 * TIB));
    assert_eq!(CATALOG.highest_volume_ceiling(), mib(12_800));
}

#[test]
fn the_default_kind_is_regular_up_to_its_maximum_size() {
    assert_eq!(CATALOG.usual_kind(Bytes::gib(1)), Regular);
    assert_eq!(CATALOG.usual_kind(Bytes::gib(100 * TIB)), Regular);
    assert_eq!(CATALOG.usual_kind(Bytes::new((100 << 40) + 1)), Large);
    assert_eq!(CATALOG.usual_kind(Bytes::gib(2400 * TIB)), Large);
}

#[test]
fn the_throughput_of_a_pool_follows_from_its_size_or_is_bought() {
    let of = |level, gib| CATALOG.pool_throughput(level, gib);
    // The example of the service's documentation: 10 TiB of Ultra.
    assert_eq!(of(Ultra, 10 * TIB), PoolThroughput::BySize(mib(1280)));
    assert_eq!(of(Standard, TIB), PoolThroughput::BySize(mib(16)));
    assert_eq!(of(Premium, 2048 * TIB), PoolThroughput::BySize(mib(131_072)));
    for (tib, most) in [(1, 640), (2, 1280), (10, 6400), (50, 32_000), (1024, 655_360)] {
        let bought = PoolThroughput::Bought { least: mib(128), most: mib(most), step: mib(1) };
        assert_eq!(of(Flexible, tib * TIB), bought);
        assert_eq!(bought.most(), mib(most));
    }
    let rows = ServiceLevel::ALL.map(|level| CATALOG.pool_rate_row(level).row);
    assert_eq!(rows[2..], ["service_level ultra", "limit flexible_throughput_max_per_tib"]);
    assert_eq!(format!("{:#}", CATALOG.pool_rate(Flexible)), "640 MiB/s per TiB");
}

#[test]
fn the_least_pool_for_a_throughput_is_the_inverse_of_its_throughput() {
    for level in ServiceLevel::ALL {
        let most = |gib| CATALOG.pool_throughput(level, gib).most();
        for required in (1..6_000_000).step_by(997).map(KibPerSec::new) {
            let gib = CATALOG.least_size_gib(level, required);
            assert!(most(gib) >= required && most(gib - 1) < required, "{level} {required}: {gib}");
        }
    }
    for (required, bought) in [(0, 128), (128 * 1024, 128), (128 * 1024 + 1, 129), (1 << 20, 1024)]
    {
        assert_eq!(CATALOG.least_purchase(KibPerSec::new(required)), mib(bought));
    }
}
