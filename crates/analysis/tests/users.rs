//! Users: overload, durations and the overload point, from records with known answers.

use analysis::analyze;
use analysis::condition::{Answer, Cause, judge};
use analysis::curve::Missing;
use analysis::users::OverloadPoint;
use metrics::interval::{StreamInterval, UsersInterval};
use metrics::run_record::RunRecord;
use workload::arrival::Arrival;
use workload::scenario::{Starts, Users};

use crate::records::{SECOND_NS, counts, done, experiment, reads, run, stream};

/// A second with 10 starts that were due, of which `late` were late.
fn second(late: u64) -> StreamInterval {
    let users = UsersInterval {
        started: 10,
        completed: 9,
        due: 10,
        late,
        // Of 2 s and, ten times, 4 s.
        duration_us: counts(&[vec![2_000_000], vec![4_000_000; 10]].concat()),
        delay: counts(&[50_000; 100]),
    };
    StreamInterval { users: Some(Box::new(users)), ..reads(100, 0, 1_000_000) }
}

/// A run of this many users, of whose starts in each second these were late.
fn run_of(count: u32, late: &[u64]) -> RunRecord {
    let mut one = stream("home", 64);
    one.arrival = Arrival::Users(Users { count, cycle_ns: 60 * SECOND_NS, starts: Starts::Random });
    let mut planned = run("office", vec![one], 1, late.len() as u64);
    planned.parameters = vec![("users".to_owned(), count.to_string())];
    let warm_up = std::iter::once(&10);
    done(planned, warm_up.chain(late).map(|late| second(*late)).collect())
}

#[test]
fn overload_is_the_share_of_starts_in_the_window_that_were_late() {
    let findings = analyze(&experiment(vec![run_of(600, &[1, 0, 2, 0, 1, 0, 2, 0, 1, 1])]));
    let users = findings.load_points[0].merged.total.users.as_ref().expect("it has users");
    assert_eq!((users.users, users.started, users.completed), (600, 100, 90));
    assert_eq!((users.due, users.late), (100, 8));
    let overload = users.overload.expect("starts were due");
    assert!((overload.value - 0.08).abs() < 1e-12 && overload.uncertainty.is_some());
    assert!((users.scenarios_per_s.expect("scenarios ended").value - 9.0).abs() < 1e-12);
    // Durations are those of microseconds, reported in nanoseconds.
    assert_eq!(users.duration.max_ns, Some(4 * SECOND_NS));
    let p50 = users.duration.percentile(0.5).and_then(|p| p.value_ns).expect("enough samples");
    assert_eq!(p50, 4 * SECOND_NS);
    let delay = users.delay.percentile(0.99).and_then(|p| p.value_ns).expect("enough samples");
    assert_eq!((delay, users.delay.samples), (50_000, 1000));
}

#[test]
fn the_overload_point_is_between_the_last_point_that_passes_and_the_first_that_fails() {
    let none = [0; 10];
    let one = [1, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    let two = [1, 0, 0, 0, 1, 0, 0, 0, 0, 0];
    // In the order of users, whatever the order of the runs; 1 % is tolerated.
    let runs = vec![run_of(400, &two), run_of(100, &none), run_of(200, &one), run_of(800, &none)];
    let findings = analyze(&experiment(runs));
    let [curve] = &findings.curves[..] else { panic!("one curve") };
    assert_eq!((curve.axis.as_str(), curve.points.len()), ("users", 4));
    let point =
        OverloadPoint { overload_max: 0.01, passes: Some(1), fails: Some(2), is_certain: false };
    assert_eq!(curve.overload_point, Some(point));
    // The number in flight is no load that users set.
    assert_eq!(curve.plateau, Err(Missing::NotALoad));
    assert!(findings.verdicts.is_empty());
}

#[test]
fn the_overload_point_is_certain_if_the_intervals_of_both_ends_exclude_the_tolerance() {
    let is_certain = |runs: Vec<RunRecord>| {
        analyze(&experiment(runs)).curves[0].overload_point.expect("users").is_certain
    };
    let many = [5, 4, 5, 6, 5, 4, 5, 6, 5, 5];
    // No start of 400 was late: with 95 % confidence fewer than 0.75 %. Of 100: fewer than 3 %.
    assert!(is_certain(vec![run_of(100, &[0; 40]), run_of(200, &many)]));
    assert!(!is_certain(vec![run_of(100, &[0; 10]), run_of(200, &many)]));
    // 2 % in the mean, with single late starts.
    let few = [1, 0, 0, 0, 1, 0, 0, 0, 0, 0];
    assert!(!is_certain(vec![run_of(100, &[0; 40]), run_of(200, &few)]));
}

#[test]
fn without_a_late_or_a_timely_point_the_overload_point_has_one_end() {
    let point = |runs: Vec<RunRecord>| {
        let found = analyze(&experiment(runs)).curves[0].overload_point.expect("users");
        (found.passes, found.fails)
    };
    assert_eq!(point(vec![run_of(100, &[0; 5]), run_of(200, &[0; 5])]), (Some(1), None));
    assert_eq!(point(vec![run_of(100, &[3; 5]), run_of(200, &[9; 5])]), (None, Some(0)));
}

#[test]
fn a_run_in_which_no_second_start_was_due_has_no_overload() {
    let mut record = run_of(100, &[0; 10]);
    for interval in &mut record.intervals {
        let users = interval.streams[0].users.as_mut().expect("it has users");
        (users.due, users.late) = (0, 0);
    }
    let findings = analyze(&experiment(vec![record]));
    let users = findings.load_points[0].merged.total.users.as_ref().expect("it has users");
    assert_eq!(users.overload, None);
    assert_eq!(findings.curves[0].overload_point, None);
}

#[test]
fn repeats_of_users_are_summed_and_give_the_uncertainty() {
    let repeats = [run_of(100, &[0; 6]), run_of(100, &[2; 6])];
    let mut runs = repeats.to_vec();
    runs[1].run.repeat = 1;
    let findings = analyze(&experiment(runs));
    let users = findings.load_points[0].merged.total.users.as_ref().expect("it has users");
    assert_eq!((users.due, users.late), (120, 12));
    let overload = users.overload.expect("starts were due");
    assert!((overload.value - 0.1).abs() < 1e-12 && overload.samples == 2.0);
}

/// The answer to a condition on these runs.
fn answer(text: &str, runs: &[RunRecord]) -> Answer {
    let condition = workload::condition::parse(text).expect("it is a condition");
    judge(&analyze(&experiment(runs.to_vec())), &condition).answer
}

#[test]
fn a_condition_on_overload_is_judged_with_the_uncertainty_of_late_starts() {
    let many = [5, 4, 5, 6, 5, 4, 5, 6, 5, 5];
    let failed = Answer::Failed { load_points: 1 };
    assert_eq!(answer("overload > 1%", &[run_of(100, &[0; 40]), run_of(200, &many)]), failed);
    assert_eq!(answer("home.overload > 1%", &[run_of(100, &[0; 40])]), Answer::Passed);
    // None of 100 starts was late, which may be by chance if 2 % are.
    let unclear = Answer::CannotTell(Cause::IncludesBound);
    assert_eq!(answer("overload > 1%", &[run_of(100, &[0; 10])]), unclear);
    assert_eq!(answer("overload > 5%", &[run_of(100, &[0; 10])]), Answer::Passed);
    let without = done(run("office", vec![stream("home", 4)], 1, 4), vec![reads(100, 0, 1_000); 5]);
    assert_eq!(answer("overload > 1%", &[without]), Answer::CannotTell(Cause::NoUsers));
    let mut short = run_of(100, &[0; 10]);
    for interval in &mut short.intervals {
        let users = interval.streams[0].users.as_mut().expect("it has users");
        (users.due, users.late) = (0, 0);
    }
    assert_eq!(answer("overload > 1%", &[short]), Answer::CannotTell(Cause::NoSecondStart));
}

#[test]
fn a_condition_on_the_overload_point_is_judged_by_the_numbers_of_users_around_it() {
    let many = [5, 4, 5, 6, 5, 4, 5, 6, 5, 5];
    let runs = [run_of(100, &[0; 40]), run_of(200, &[0; 40]), run_of(400, &many)];
    assert_eq!(answer("overload_point < 200", &runs), Answer::Passed);
    assert_eq!(answer("overload_point < 401", &runs), Answer::Failed { load_points: 1 });
    let between = Answer::CannotTell(Cause::BracketIncludesBound);
    assert_eq!(answer("overload_point < 300", &runs), between);
    // Without a number of users that fails it is at least the largest.
    assert_eq!(answer("overload_point < 200", &runs[..2]), Answer::Passed);
    assert_eq!(answer("overload_point < 300", &runs[..2]), between);
    // An end that is not certain does not count: it is between 100 and 400.
    let likely = [run_of(100, &[0; 40]), run_of(200, &[0; 10]), run_of(400, &many)];
    let unclear = Answer::CannotTell(Cause::IncludesBound);
    assert_eq!(answer("overload_point < 150", &likely), unclear);
    assert_eq!(answer("overload_point < 100", &likely), Answer::Passed);
    assert_eq!(
        answer("office, x.overload_point < 1", &runs),
        Answer::CannotTell(Cause::NothingMatches)
    );
}
