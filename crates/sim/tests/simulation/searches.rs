//! A search finds the known properties of the storage, ends for the right reason, and needs few
//! runs.

use analysis::curve::knee::Origin;
use analysis::load_point::{Generator, load_points};
use analysis::search::{Ended, Searched, next};
use analysis::verdict::{Answer, Evidence, Limit, Observed};
use analysis::{Findings, analyze};
use metrics::run_record::ExperimentRecord;
use sim::storage::{Demand, Model, ThroughputLimit};
use statistics::queueing::mmc_response_s;
use workload::experiment::parse;
use workload::limit::{PriorKnowledge, StatedLimit};
use workload::plan::{EmulatedVolume, IoMethodUsed, Plan, Spread, Step, StreamTargets, TargetSpec};
use workload::resolve::{ResolveOptions, resolve};
use workload::scale::{RUNS_MAX, Scale};
use workload::search::SearchMethod;

use crate::runs::assert_near;

/// A plan with this `[search]`: 8 KiB random reads, each run ten intervals of one second.
fn plan(search: &str, run: &str) -> Plan {
    let text = format!(
        "name = 'searched'\n[run]\nwarm_up = '1s'\nmeasure = '10s'\n{run}\n[search]\n{search}\n\
         [stream.main]\nread = '100%'\ntransfer_size = '8k'\npattern = 'random'\n\
         file_size = '1GiB'\nqueue_depth = 256\n"
    );
    let experiment = parse(&text, "searched").unwrap_or_else(|wrong| panic!("{wrong:#?}"));
    let options = ResolveOptions::LOCAL;
    resolve(&experiment, "searched", TargetSpec::Null, &options).unwrap()
}

/// Four servers of 1 ms, exponential: at most 4,000 operations per second.
fn four_servers() -> Model {
    Model::queue(4, Demand::Exponential { mean_ns: 1e6 })
}

/// Every operation takes 1 ms, at most 10,000 of 8 KiB per second: the knee is at 10.
fn limited() -> Model {
    let limit = ThroughputLimit { bytes_per_s: 10_000 * 8192, burst_bytes: 8192 };
    Model { throughput_limit: Some(limit), ..Model::fixed(1_000_000) }
}

fn searched(plan: &Plan, model: &Model) -> (ExperimentRecord, Findings) {
    let record = sim::experiment(plan, model, 5);
    let findings = analyze(&record);
    (record, findings)
}

fn only(findings: &Findings) -> &Searched {
    assert_eq!(findings.searches.len(), 1);
    &findings.searches[0]
}

/// `(maximum outstanding, achieved rate)` of the closed load points, in the order of the runs.
fn closed(findings: &Findings) -> Vec<(u64, f64)> {
    let closed =
        findings.load_points.iter().filter(|point| point.merged.total.offered_rate.is_none());
    let rate = |rate: Option<analysis::estimate::Estimate>| rate.unwrap().value;
    closed
        .map(|point| (point.queue_depth_total, rate(point.merged.total.achieved_rate_all_kinds())))
        .collect()
}

#[test]
fn a_ladder_finds_the_saturation_of_four_servers_within_two_percent_in_few_runs() {
    let (_, findings) = searched(&plan("method = 'queue-depth'", ""), &four_servers());
    let depths = closed(&findings);
    let largest = depths.iter().map(|(_, rate)| *rate).fold(0.0, f64::max);
    assert_near(largest, 4000.0, 0.02, "saturation");
    assert_near(depths[0].1, 1000.0, 0.03, "the floor: one operation outstanding");
    assert_eq!(only(&findings).ended, Some(Ended::NoGain));
    // 1, 2, 4, 8, 16: four operations saturate four servers, and two doublings give no more.
    assert!(only(&findings).runs <= 8, "{depths:?}");
}

#[test]
fn a_ladder_measures_at_the_knee_of_a_limit_behind_a_delay() {
    let (_, findings) = searched(&plan("method = 'queue-depth'", ""), &limited());
    let depths = closed(&findings);
    let largest = depths.iter().map(|(_, rate)| *rate).fold(0.0, f64::max);
    assert_near(largest, 10_000.0, 0.01, "saturation");
    assert_eq!(only(&findings).ended, Some(Ended::NoGain));
    let knee = depths.iter().find(|(depth, _)| *depth == 10);
    assert_near(knee.expect("the knee was measured").1, 10_000.0, 0.01, "at the knee");
    assert!(only(&findings).runs <= 10, "{depths:?}");
}

#[test]
fn a_ladder_ends_at_the_first_depth_above_the_objective() {
    let plan = plan("method = 'queue-depth'\nresponse_time_max = '3ms'\nrefine = 0", "");
    let (_, findings) = searched(&plan, &four_servers());
    // 16 outstanding on four servers of 1 ms take 4 ms each, 8 take 2 ms; from 4 to 8 and from 8 to
    // 16 the rate does not rise, which is checked second.
    let depths: Vec<u64> = closed(&findings).iter().map(|(depth, _)| *depth).collect();
    assert_eq!(depths, [1, 2, 4, 8, 16]);
    assert_eq!(only(&findings).ended, Some(Ended::ResponseTime));
    // The knee by the objective is the last depth within it, independent of the floor.
    let knees = findings.curves[0].knees.as_ref().unwrap();
    let objective = knees.objective.unwrap();
    assert_eq!((objective.response_s, objective.origin), (0.003, Origin::Given));
    let slo = knees.slo.as_ref().unwrap();
    assert_eq!((slo.load, slo.high), (8.0, Some(16.0)));
}

#[test]
fn a_ladder_that_reaches_its_maximum_depth_reports_it() {
    let forever = Model { throughput_limit: None, ..limited() };
    let mut plan = plan("method = 'queue-depth'", "");
    let workload::plan::Step::Search(search) = &mut plan.steps[0] else { panic!("a search") };
    let workload::search::SearchMethod::QueueDepth(ladder) = &mut search.method else {
        panic!("a ladder")
    };
    ladder.queue_depth_max = 24;
    let (_, findings) = searched(&plan, &forever);
    let depths: Vec<u64> = closed(&findings).iter().map(|(depth, _)| *depth).collect();
    assert_eq!(depths, [1, 2, 4, 8, 16, 24]);
    assert_eq!(only(&findings).ended, Some(Ended::AllTried));
}

#[test]
fn an_open_curve_follows_the_queueing_formula_and_ends_with_the_first_overload() {
    let plan = plan("method = 'offered-rate'", "");
    let (record, findings) = searched(&plan, &four_servers());
    assert_eq!(only(&findings).ended, Some(Ended::Overloaded));
    let open: Vec<_> = findings
        .load_points
        .iter()
        .filter_map(|point| Some((point.merged.total.offered_rate?.get(), point)))
        .collect();
    // 10 % to 100 %, and 110 %, which exceeds the capacity; 120 % is not tried.
    assert_eq!(open.len(), 11, "{:?}", open.iter().map(|(rate, _)| rate).collect::<Vec<_>>());
    for (offered, point) in open.iter().filter(|(offered, _)| *offered < 3000.0) {
        let mean = point.merged.total.data.response.mean_ns.unwrap().value / 1e9;
        assert_near(mean, mmc_response_s(*offered, 1e-3, 4.0), 0.05, &format!("at {offered}/s"));
        let data = &point.merged.total.data;
        assert_near(data.achieved_rate.unwrap().value, *offered, 0.03, "offered rate");
    }
    // Below saturation the queue never determines when operations are sent.
    let room = plan.model_streams().next().unwrap().queue_depth;
    assert_eq!(room, 512);
    for record in &record.runs {
        let offered = record.run.streams[0].offered_rate(&record.run.phases);
        if offered.is_some_and(|offered| offered.get() < 3900.0) {
            assert!(record.intervals.iter().all(|i| i.streams[0].backlog_end == 0), "{offered:?}");
        }
    }
}

#[test]
fn every_run_of_a_search_follows_from_the_previous_runs() {
    let plan = plan("method = 'curve'\nload_points = 4", "repeats = 2");
    let (record, _) = searched(&plan, &limited());
    let search = plan.searches().next().unwrap();
    let generator = Generator::of(&plan, IoMethodUsed::IoUring, None);
    for count in 0..=record.runs.len() {
        let done = load_points(&record.runs[..count], generator);
        let again = next(search, &done);
        assert_eq!(again.as_ref(), record.runs.get(count).map(|record| &record.run), "{count}");
        assert_eq!(next(search, &done), again);
    }
    let mut indexes: Vec<u32> = record.runs.iter().map(|record| record.run.index).collect();
    let count = indexes.len();
    indexes.dedup();
    assert_eq!(indexes.len(), count, "no index twice");
    let mut seeds: Vec<u64> = record.runs.iter().map(|record| record.run.seed).collect();
    seeds.sort_unstable();
    seeds.dedup();
    assert_eq!(seeds.len(), count, "no seed twice");
    assert!(count <= plan.runs_max() as usize);
}

/// The limit of `limited` as known to the user.
fn known() -> PriorKnowledge {
    let origin = "as given".to_owned();
    let limit = StatedLimit { limit: Limit::VolumeThroughput, value: 81_920_000.0, origin };
    PriorKnowledge { stated_limits: vec![limit], ..PriorKnowledge::default() }
}

/// The plan's search, changed to an explanation.
fn explaining(may_change: bool) -> Plan {
    let mut plan = plan("method = 'queue-depth'", "");
    // For the null target only this host could be the limit.
    let target = TargetSpec::Directory { path: "/mnt/vol1".to_owned() };
    *plan.target_mut() = target.clone();
    let Step::Search(search) = &mut plan.steps[0] else { panic!("a search") };
    search.template.streams[0].queue_depth = 1;
    let scale = Scale {
        connections: false,
        direction: may_change,
        queue_depth_max: if may_change { 1024 } else { 2 },
        known: known(),
        target,
        other_targets: Vec::new(),
        largest: Box::new(search.template.clone()),
    };
    search.runs_max = RUNS_MAX;
    search.method = SearchMethod::Scale(scale);
    plan
}

#[test]
fn scaling_experiments_follow_from_the_previous_ones_and_end_with_the_limit() {
    let plan = explaining(true);
    let mut record = sim::experiment(&plan, &limited(), 5);
    record.environment.prior = known();
    let findings = analyze(&record);
    assert_eq!(only(&findings).ended, Some(Ended::Explained));
    assert_eq!(findings.verdicts[0].named()[0], Limit::VolumeThroughput);
    // Four of the ladder, two experiments of two runs each, the deciding one again, and the
    // workload itself once more.
    assert!(record.runs.len() <= 10, "{}", record.runs.len());
    let search = plan.searches().next().unwrap();
    let generator = Generator::of(&plan, IoMethodUsed::IoUring, None);
    for count in 0..=record.runs.len() {
        let done = load_points(&record.runs[..count], generator);
        let again = next(search, &done);
        assert_eq!(again.as_ref(), record.runs.get(count).map(|record| &record.run), "{count}");
    }
    // Each once, `1, 4, 16, 64` and the changed ones; the deciding one and the highest rate twice.
    assert_eq!(findings.load_points.len() + 2, record.runs.len());
    let compared = |one: &&Observed| matches!(one.evidence, Evidence::Compared { .. });
    let strongest = findings.verdicts[0].evidence.iter().find(compared).unwrap();
    let decisive = *strongest.load_points.last().unwrap();
    assert_eq!(findings.load_points[decisive].runs.len(), 2, "{strongest:?}");
}

/// An emulated volume with this limit.
fn emulated(bytes_per_s: u64) -> TargetSpec {
    let volume = EmulatedVolume {
        service_level: "Ultra".to_owned(),
        quota_bytes: 1 << 40,
        throughput_limit_bytes_per_s: bytes_per_s,
        read_delay_ns: 0,
        write_delay_ns: 0,
        memory_bytes: 1 << 30,
    };
    TargetSpec::Emulated { volume, connections: None, options: String::new() }
}

#[test]
fn the_limit_of_unequal_volumes_is_their_sum_whichever_is_first() {
    // Together the 10,000 x 8 KiB per second of `limited`.
    let limits = [20_480_000, 61_440_000];
    for order in [[0, 1], [1, 0]] {
        let mut plan = explaining(true);
        plan.targets = order.map(|volume: usize| emulated(limits[volume])).to_vec();
        let targets = plan.targets.clone();
        let Step::Search(search) = &mut plan.steps[0] else { panic!("a search") };
        let stream = &mut search.template.streams[0];
        stream.workers = 2;
        stream.targets = StreamTargets { positions: vec![0, 1], spread: Spread::All };
        let SearchMethod::Scale(scale) = &mut search.method else { panic!("an explanation") };
        scale.known = PriorKnowledge::default();
        (scale.target, scale.other_targets) = (targets[0].clone(), targets[1..].to_vec());
        let (_, findings) = searched(&plan, &limited());
        // Operations take 1 ms, so that 2 and 8 of them reach 20 % and 80 % of the limit.
        let depths: Vec<u64> = closed(&findings).iter().map(|(depth, _)| *depth).collect();
        assert_eq!(depths, [2, 8, 32]);
        assert_eq!(only(&findings).ended, Some(Ended::Explained));
        assert_eq!(findings.verdicts[0].named(), [Limit::VolumeThroughput]);
    }
}

#[test]
fn a_rate_that_still_rises_at_the_allowed_maximum_has_no_limit_yet() {
    let (record, findings) = searched(&explaining(false), &limited());
    assert_eq!(record.runs.len(), 2, "1 and 2 outstanding operations");
    assert_eq!(findings.verdicts[0].answer, Answer::NotReached);
    assert_eq!(only(&findings).ended, Some(Ended::Explained));
}

#[test]
fn repeats_of_a_search_come_in_blocks_of_all_load_points() {
    let plan = plan("method = 'queue-depth'", "repeats = 3");
    let (record, findings) = searched(&plan, &limited());
    let found = findings.load_points.len();
    assert_eq!(record.runs.len(), 3 * found);
    for (block, runs) in record.runs.chunks(found).enumerate() {
        let repeats: Vec<u32> = runs.iter().map(|record| record.run.repeat).collect();
        assert_eq!(repeats, vec![block as u32; found]);
    }
    let order = |block: usize| -> Vec<String> {
        let runs = record.runs[block * found..(block + 1) * found].iter();
        runs.map(|record| record.run.load_point()).collect()
    };
    assert_ne!(order(1), order(2), "each block has its own order");
}

/// Repeats of load points on this storage until they are precise enough.
fn until(model: &Model, until: &str) -> (ExperimentRecord, Findings) {
    let text = format!(
        "name = 'repeated'\n[run]\nwarm_up = '0s'\nmeasure = '1s'\ninterval = '100ms'\n\
         until = '{until}'\nrepeats_max = 8\n[stream.main]\nread = '100%'\n\
         transfer_size = '8k'\npattern = 'random'\nfile_size = '1GiB'\nqueue_depth = [1, 2, 8]\n"
    );
    let experiment = parse(&text, "repeated").unwrap_or_else(|wrong| panic!("{wrong:#?}"));
    let options = ResolveOptions::LOCAL;
    let plan = resolve(&experiment, "repeated", TargetSpec::Null, &options).unwrap();
    searched(&plan, model)
}

#[test]
fn load_points_are_repeated_until_each_is_precise_enough() {
    // A storage without variation needs the fewest repeats.
    let (record, findings) = until(&limited(), "2%");
    assert_eq!(record.runs.len(), 3 * 5, "three load points, three checks from the third on");
    assert_eq!(only(&findings).ended, Some(Ended::AllTried));
    assert!(only(&findings).not_converged.is_empty());
    // 1,000 exponential demands in a run vary by 3 %: 0.1 % is unreachable.
    let (record, findings) = until(&four_servers(), "0.1%");
    assert_eq!(record.runs.len(), 3 * 8, "the maximum");
    assert_eq!(only(&findings).not_converged, [0, 1, 2]);
}
