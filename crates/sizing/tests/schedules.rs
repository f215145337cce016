//! Quota and level over the week: the documents' example, costs, and rules.

use std::sync::LazyLock;

use cloud::service_level::ServiceLevel;
use cloud::throughput::KibPerSec;
use cloud::volume_limit::{Ceiling, LimitDerivation, NoQuota, SettingsError};
use sizing::facts::Facts;
use sizing::schedule::{Breach, Phase, Plan, Rule, Schedule, WEEK, plan};
use units::Bytes;

static FACTS: LazyLock<Facts> = LazyLock::new(Facts::embedded);

/// `peak` in these hours of the given days, `off` in all others.
fn schedule(peak: (u64, ServiceLevel), off: (u64, ServiceLevel), days: usize) -> Schedule {
    let phase = |name: &str, (tib, level): (u64, ServiceLevel)| Phase {
        name: name.to_owned(),
        quota_gib: tib << 10,
        level,
    };
    let is_peak = |hour: usize| hour / 24 < days && (8..18).contains(&(hour % 24));
    Schedule {
        phases: vec![phase("peak", peak), phase("off", off)],
        hours: (0..WEEK).map(|hour| usize::from(!is_peak(hour))).collect(),
        stored_gib: 1100,
        throughput: None,
        cool_down_s: None,
        region: "eastus".to_owned(),
        hours_per_month: 730,
    }
}

fn allowed(schedule: &Schedule) -> Plan {
    plan(schedule, &FACTS).expect("the service allows it")
}

fn forbidden(schedule: &Schedule) -> Vec<Breach> {
    plan(schedule, &FACTS).expect_err("the service forbids it")
}

const PREMIUM: ServiceLevel = ServiceLevel::Premium;

/// "During the peak-usage window, provision 5TiB … the ANF volume provides 320MiB/s … reduce the
/// capacity of both pool and volume to 4TiB during non-peak-usage."
#[test]
fn home_directories_have_5_tib_in_peak_and_4_tib_off_peak() {
    let plan = allowed(&schedule((5, PREMIUM), (4, PREMIUM), 7));
    let [peak, off] = &plan.steps[..] else { panic!("two phases") };
    assert_eq!((peak.pool_gib, peak.throughput.to_string()), (5120, "320 MiB/s".to_owned()));
    assert_eq!((off.pool_gib, off.throughput.to_string()), (4096, "256 MiB/s".to_owned()));
    assert_eq!((peak.hours, off.hours), (70, 98));
    // 0.000403 x 730 x (5,120 x 10 + 4,096 x 14) / 24, against 0.000403 x 730 x 5,120.
    assert_eq!(plan.month.micros(), 627_605_333 + 702_917_973);
    assert_eq!(plan.constant.micros(), 1_506_252_800);
    assert_eq!(plan.constant.less(plan.month).to_string(), "$176");
    assert_eq!(plan.changes.len(), 14);
    let change = &plan.changes[0];
    assert_eq!((change.hour, change.to.name.as_str()), (8, "peak"));
    assert_eq!((change.from.quota_gib, change.to.quota_gib), (4_096, 5_120));
}

#[test]
fn the_cool_down_forbids_daily_changes_of_level() {
    let ultra = schedule((5, ServiceLevel::Ultra), (4, PREMIUM), 7);
    let breaches = forbidden(&ultra);
    assert_eq!(breaches.len(), 1, "{breaches:?}");
    let level = ServiceLevel::Ultra;
    assert_eq!(breaches[0].rule, Rule::CoolDown { level, after_hours: 10, wait_hours: 24 });
    assert_eq!(breaches[0].rows[0].row, "limit level_cool_down");
}

#[test]
fn a_level_for_working_days_waits_a_day_but_not_a_week() {
    let mut week = schedule((5, ServiceLevel::Ultra), (5, PREMIUM), 5);
    week.hours = (0..WEEK).map(|hour| usize::from(hour / 24 >= 5)).collect();
    let plan = allowed(&week);
    assert_eq!(plan.changes.len(), 2);
    let change = &plan.changes[0];
    assert_eq!((change.from.level, change.to.level), (PREMIUM, ServiceLevel::Ultra));
    week.cool_down_s = Some(7 * 24 * 3600);
    let level = ServiceLevel::Ultra;
    let rule = Rule::CoolDown { level, after_hours: 120, wait_hours: 168 };
    assert_eq!(forbidden(&week)[0].rule, rule);
}

#[test]
fn a_level_may_be_lowered_exactly_after_the_cool_down() {
    let mut once = schedule((5, ServiceLevel::Ultra), (5, PREMIUM), 0);
    // The catalogue has 24 h.
    let early = Rule::CoolDown { level: ServiceLevel::Ultra, after_hours: 23, wait_hours: 24 };
    for (hours, broken) in [(24, None), (23, Some(early))] {
        once.hours = (0..WEEK).map(|hour| usize::from(hour >= hours)).collect();
        match broken {
            None => assert_eq!(allowed(&once).changes.len(), 2),
            Some(rule) => {
                let breaches = forbidden(&once);
                assert_eq!(breaches.len(), 1, "{breaches:?}");
                assert_eq!(breaches[0].rule, rule);
            }
        }
    }
}

#[test]
fn stored_data_must_fit_and_some_phase_must_reach_the_throughput() {
    let mut small = schedule((5, PREMIUM), (4, PREMIUM), 7);
    small.stored_gib = 4500;
    let phase = "off".to_owned();
    let stored = Rule::Stored { phase, quota_gib: 4_096, stored_gib: 4_500 };
    assert!(forbidden(&small).iter().any(|breach| breach.rule == stored));
    small.stored_gib = 1100;
    small.throughput = KibPerSec::from_mib(321);
    let rule = Rule::Throughput {
        required: KibPerSec::from_mib(321).expect("it fits"),
        most: KibPerSec::from_mib(320).expect("it fits"),
        level: PREMIUM,
        quota: Ok(Bytes::gib(5_136)),
    };
    assert_eq!(forbidden(&small)[0].rule, rule);
}

#[test]
fn a_phase_is_limited_by_its_volumes_ceiling() {
    let mut large = schedule((100, PREMIUM), (80, PREMIUM), 7);
    let plan = allowed(&large);
    assert_eq!(plan.steps[0].throughput, KibPerSec::from_mib(4500).expect("it fits"));
    let LimitDerivation::Quota { granted, ceiling, .. } = plan.reasons[0].limit.derivation else {
        panic!("the limit is by quota")
    };
    assert_eq!(Some(granted), KibPerSec::from_mib(6400));
    assert_eq!(Ceiling::Lower(plan.steps[0].throughput), ceiling);
    large.throughput = KibPerSec::from_mib(4501);
    let Rule::Throughput { most, quota: Err(NoQuota::AboveMost { .. }), .. } =
        forbidden(&large)[0].rule
    else {
        panic!("no quota gives it")
    };
    assert_eq!(Some(most), KibPerSec::from_mib(4_500));
}

#[test]
fn an_invalid_quota_is_refused_with_the_range() {
    let mut tiny = schedule((5, PREMIUM), (4, PREMIUM), 7);
    tiny.phases[1].quota_gib = 40;
    tiny.stored_gib = 0;
    let breaches = forbidden(&tiny);
    let Rule::Settings { phase, error, allowed } = &breaches[0].rule else {
        panic!("{breaches:?}")
    };
    assert!(matches!(error, SettingsError::QuotaTooSmall { .. }), "{error}");
    assert_eq!((phase.as_str(), allowed.as_str()), ("off", "allowed: 50 GiB to 100 TiB"));
}

#[test]
fn kinds_do_not_change_and_growth_of_large_volumes_is_limited() {
    let kinds = forbidden(&schedule((120, PREMIUM), (80, PREMIUM), 7));
    assert!(kinds.iter().any(|breach| breach.rule == Rule::KindChanges), "{kinds:?}");
    let growth = forbidden(&schedule((150, PREMIUM), (110, PREMIUM), 7));
    assert_eq!(growth.len(), 1);
    assert!(matches!(growth[0].rule, Rule::Growth { allowed_gib: 146_432, .. }), "{growth:?}");
    allowed(&schedule((140, PREMIUM), (110, PREMIUM), 7));
}

#[test]
fn flexible_has_no_throughput_by_quota() {
    let flexible = (5, ServiceLevel::Flexible);
    let breaches = forbidden(&schedule(flexible, flexible, 7));
    let Rule::Settings { phase, error: SettingsError::QosType { level, .. }, .. } =
        &breaches[0].rule
    else {
        panic!("{breaches:?}")
    };
    assert_eq!((phase.as_str(), *level), ("peak", ServiceLevel::Flexible));
}
