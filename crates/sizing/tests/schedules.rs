//! Quota and level over the week: the documents' example, costs, and the rules that forbid.

use std::sync::LazyLock;

use cloud::service_level::ServiceLevel;
use cloud::throughput::KibPerSec;
use sizing::facts::Facts;
use sizing::schedule::{Breach, Phase, Plan, Schedule, WEEK, plan};

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
    assert_eq!(plan.changes[0].1, "mon 08:00: to peak, quota from 4,096 to 5,120 GiB");
}

#[test]
fn a_level_that_goes_up_and_down_every_day_is_forbidden_by_the_cool_down() {
    let ultra = schedule((5, ServiceLevel::Ultra), (4, PREMIUM), 7);
    let breaches = forbidden(&ultra);
    assert_eq!(breaches.len(), 1, "{breaches:?}");
    assert!(breaches[0].text.contains("10 h later down again"), "{breaches:?}");
    assert!(breaches[0].text.contains("14 h are missing"), "{breaches:?}");
    assert_eq!(breaches[0].rows[0].row, "limit level_cool_down");
}

#[test]
fn a_level_for_working_days_waits_a_day_but_not_a_week() {
    let mut week = schedule((5, ServiceLevel::Ultra), (5, PREMIUM), 5);
    week.hours = (0..WEEK).map(|hour| usize::from(hour / 24 >= 5)).collect();
    let plan = allowed(&week);
    assert_eq!(plan.changes.len(), 2);
    assert!(plan.changes[0].1.ends_with("moved from premium to ultra"), "{:?}", plan.changes);
    week.cool_down_s = Some(7 * 24 * 3600);
    assert!(forbidden(&week)[0].text.contains("48 h are missing"));
}

#[test]
fn a_level_may_go_down_as_soon_as_the_cool_down_is_over_and_not_an_hour_earlier() {
    let mut once = schedule((5, ServiceLevel::Ultra), (5, PREMIUM), 0);
    // The catalogue has 24 h.
    for (hours, missing) in [(24, None), (23, Some("1 h are missing"))] {
        once.hours = (0..WEEK).map(|hour| usize::from(hour >= hours)).collect();
        match missing {
            None => assert_eq!(allowed(&once).changes.len(), 2),
            Some(words) => {
                let breaches = forbidden(&once);
                assert_eq!(breaches.len(), 1, "{breaches:?}");
                assert!(breaches[0].text.contains(words), "{breaches:?}");
            }
        }
    }
}

#[test]
fn what_is_stored_must_fit_and_what_is_wanted_must_be_given_in_some_phase() {
    let mut small = schedule((5, PREMIUM), (4, PREMIUM), 7);
    small.stored_gib = 4500;
    assert!(forbidden(&small)[0].text.contains("off: 4,096 GiB do not hold 4,500 GiB"));
    small.stored_gib = 1100;
    small.throughput = KibPerSec::from_mib(321);
    let breaches = forbidden(&small);
    assert!(breaches[0].text.contains("the most is 320 MiB/s"), "{breaches:?}");
    assert_eq!(breaches[0].remedy, "5,136 GiB of premium give it");
}

#[test]
fn a_phase_has_no_more_than_the_ceiling_of_its_volume_and_no_quota_above_it_is_proposed() {
    let mut large = schedule((100, PREMIUM), (80, PREMIUM), 7);
    let plan = allowed(&large);
    assert_eq!(plan.steps[0].throughput, KibPerSec::from_mib(4500).expect("it fits"));
    let peak = &plan.reasons[0].text;
    assert!(peak.contains("= 6,400 MiB/s; a regular volume has at most 4,500 MiB/s; "), "{peak}");
    large.throughput = KibPerSec::from_mib(4501);
    let breaches = forbidden(&large);
    assert!(breaches[0].text.contains("the most is 4,500 MiB/s"), "{breaches:?}");
    assert_eq!(
        breaches[0].remedy,
        "a regular volume of premium gets at most 4,500 MiB/s, whatever its quota"
    );
}

#[test]
fn a_quota_that_no_volume_may_have_is_refused_with_the_range() {
    let mut tiny = schedule((5, PREMIUM), (4, PREMIUM), 7);
    tiny.phases[1].quota_gib = 40;
    tiny.stored_gib = 0;
    let breaches = forbidden(&tiny);
    assert_eq!(breaches[0].text, "off: a quota of 40 GiB, a regular volume has at least 50 GiB");
    assert_eq!(breaches[0].remedy, "allowed: 50 GiB to 100 TiB");
}

#[test]
fn kinds_do_not_change_and_large_volumes_grow_by_so_much_only() {
    let kinds = forbidden(&schedule((120, PREMIUM), (80, PREMIUM), 7));
    assert!(kinds.iter().any(|b| b.text.contains("do not become large")), "{kinds:?}");
    let growth = forbidden(&schedule((150, PREMIUM), (110, PREMIUM), 7));
    assert_eq!(growth.len(), 1);
    assert!(growth[0].text.contains("grows to 146,432 GiB"), "{growth:?}");
    allowed(&schedule((140, PREMIUM), (110, PREMIUM), 7));
}

#[test]
fn flexible_has_no_throughput_by_quota() {
    let flexible = (5, ServiceLevel::Flexible);
    let breaches = forbidden(&schedule(flexible, flexible, 7));
    assert_eq!(breaches[0].text, "peak: the level flexible has no auto QoS");
    assert_eq!(breaches[0].remedy, "schedule standard, premium or ultra");
}
