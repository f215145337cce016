//! No output contradicts itself about a curve, for random records and simulated systems, in text,
//! Markdown, JSON and HTML: each sentence needs a verdict of the record that justifies it.

use crate::fixture::records::{SECOND_NS, done, emulated_volume, experiment, kind, run, stream};
use analysis::curve::plateau::{Reason, State};
use analysis::verdict::{Answer, Gap, Limit, Verdict};
use analysis::{Findings, analyze};
use metrics::interval::StreamInterval;
use metrics::run_record::ExperimentRecord;
use metrics::wire::{CounterSource, WireInterval};
use report::glance::Layout;
use report::look::Look;
use report::{glance, html, json, markdown, text};
use serde_json::Value;
use sim::examination::{Class, systems, user};
use workload::arrival::Arrival;
use workload::op::OpKind;
use workload::plan::TargetSpec;
use workload::random;

/// Random records.
const RANDOM_RECORDS: u64 = 2000;
/// Systems of each simulated class.
const SYSTEMS: u64 = 2;
/// The page, which takes longer, is checked for one record in this many.
const PAGE_EVERY: u64 = 25;

/// A terminal of the usual size.
const GLANCE: Layout = Layout { width: 80, lines_max: 36, look: Look { color: false } };

/// A sentence, and the verdicts that justify it.
type Rule = (&'static str, fn(&Verdict) -> bool);

const RULES: [Rule; 14] = [
    ("limited by ", |one| !one.named().is_empty()),
    ("dotted: the ceiling of throughput", |one| !one.named().is_empty()),
    ("no limit reached", |one| one.answer == Answer::NotReached),
    ("no limit was reached", |one| one.answer == Answer::NotReached),
    ("more throughput needs more concurrency", |one| one.answer == Answer::NotReached),
    ("more load shows where throughput stops rising", is_open_ended),
    ("more load may give more", |one| !one.plateau.is_reached()),
    ("to tell whether throughput still rises", is_open_ended),
    ("saturated: throughput is flat", |one| one.plateau.is_reached()),
    ("not saturated", |one| one.plateau.state == State::NotReached),
    ("saturation is inconclusive", |one| matches!(one.plateau.state, State::Inconclusive(_))),
    ("every offered rate was met", |one| one.plateau.state == State::NotReached),
    ("that limit sets the", |one| one.plateau.floor_is_pace),
    ("latency at queue depth 1: ", |one| !one.plateau.floor_is_pace),
];

fn is_open_ended(one: &Verdict) -> bool {
    matches!(one.answer, Answer::NotEnoughData(Gap::End(_)))
}

/// Text in lower case with single spaces.
fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

/// Sentences that no verdict justifies, and verdicts that contradict the measurements.
fn contradictions(findings: &Findings, with_page: bool) -> Vec<String> {
    let mut found = Vec::new();
    let mut outputs = vec![
        ("text", flat(&text::summary(findings, 80))),
        ("glance", flat(&glance::text(findings, GLANCE).unwrap_or_default())),
        ("markdown", flat(&markdown::render_all(&[findings], &[], &[]))),
    ];
    if with_page {
        let page = html::render(findings).expect("the page is rendered");
        // Without definitions and scripts.
        let body = page.split("<script").next().unwrap_or_default();
        let body = body.split("id=\"definitions\"").next().unwrap_or_default();
        outputs.push(("html", flat(body)));
    }
    for (name, text) in &outputs {
        for (sentence, justifies) in RULES {
            if text.contains(sentence) && !findings.verdicts.iter().any(justifies) {
                found.push(format!("{name} has `{sentence}`, which no verdict justifies"));
            }
        }
        for nonsense in ["nan ", "inf ", "-0 %", "-0.0 %"] {
            if text.split(' ').any(|word| word == nonsense.trim()) {
                found.push(format!("{name} has `{nonsense}`"));
            }
        }
    }
    for verdict in &findings.verdicts {
        found.extend(of_verdict(findings, verdict));
    }
    let mut file = Vec::new();
    json::write(findings, &mut file).expect("a vector accepts everything");
    let file: Value = serde_json::from_slice(&file).expect("it is JSON");
    found.extend(of_json(&file));
    found
}

/// Contradictions between a verdict and the measurements.
fn of_verdict(findings: &Findings, one: &Verdict) -> Vec<String> {
    let mut found = Vec::new();
    let named = one.named();
    if !named.is_empty() && !one.plateau.is_reached() {
        found.push(format!("{}: {named:?} although saturation was not reached", one.name));
    }
    if named.contains(&Limit::VmEgress) && one.signature.read_share > 0.999 {
        found.push(format!("{}: an egress limit of a workload without writes", one.name));
    }
    let points = || one.load_points.iter().map(|point| &findings.load_points[*point]);
    let overloaded = |point: &analysis::load_point::LoadPoint| {
        point.merged.streams.iter().any(|stream| stream.overload.is_some())
    };
    let is_open = points().all(|point| point.merged.total.offered_rate.is_some());
    if one.answer == Answer::NotReached && is_open && points().any(overloaded) {
        found.push(format!("{}: no limit, although an offered rate was not met", one.name));
    }
    let cached = findings
        .warnings
        .iter()
        .filter(|group| group.code == "served_from_cache")
        .flat_map(|group| &group.sightings)
        .any(|sighting| sighting.load_point.is_some_and(|at| one.load_points.contains(&at)));
    if cached && one.answer != Answer::NotEnoughData(Gap::Cached) {
        found.push(format!("{}: a verdict on the storage, although a cache answered", one.name));
    }
    let curves = findings.curves.iter().filter(|curve| {
        curve.points.iter().map(|point| point.load_point).eq(one.load_points.iter().copied())
    });
    for curve in curves {
        if let Ok(plateau) = &curve.plateau
            && *plateau != one.plateau
        {
            found.push(format!("{}: curve and verdict differ in the plateau", one.name));
        }
        if let Ok(floor) = &curve.floor
            && floor.is_pace != one.plateau.floor_is_pace
        {
            found.push(format!("{}: curve and verdict differ in the floor", one.name));
        }
        let bounds = curve.knees.as_ref().is_ok_and(|knees| knees.bounds.is_ok());
        if bounds && (!one.plateau.is_reached() || one.plateau.floor_is_pace) {
            found.push(format!("{}: a knee by bounds without saturation", one.name));
        }
    }
    found
}

/// Fields that must agree.
fn of_json(file: &Value) -> Vec<String> {
    let mut found = Vec::new();
    for verdict in file["verdicts"].as_array().into_iter().flatten() {
        let names = verdict["limits"].as_array().is_some_and(|limits| !limits.is_empty());
        if names != (verdict["answer"] == "limited") || names == verdict["probability"].is_null() {
            found.push(format!("JSON: limits and answer differ: {verdict}"));
        }
        if verdict["answer"] == "not_reached" && verdict["saturation"] != "not_reached" {
            found.push(format!("JSON: answer and saturation differ: {verdict}"));
        }
        for curve in file["curves"].as_array().into_iter().flatten() {
            let points = curve["points"].as_array().into_iter().flatten();
            let points: Vec<&Value> = points.map(|point| &point["load_point"]).collect();
            let own = verdict["load_points"].as_array().into_iter().flatten();
            if points.into_iter().eq(own)
                && !curve["saturation"]["reached"].is_null()
                && curve["saturation"]["reached"] != verdict["saturation"]
            {
                found.push(format!("JSON: curve and verdict differ in saturation: {verdict}"));
            }
        }
    }
    found
}

/// Random numbers of one record, from its seed.
struct Draw {
    seed: u64,
    count: u64,
}

impl Draw {
    fn unit(&mut self) -> f64 {
        self.count += 1;
        random::unit(random::at(self.seed, self.count))
    }

    fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    fn log_between(&mut self, low: f64, high: f64) -> f64 {
        self.between(low.ln(), high.ln()).exp()
    }

    fn chance(&mut self, of: f64) -> bool {
        self.unit() < of
    }

    fn of<T: Copy>(&mut self, values: &[T]) -> T {
        values[(self.unit() * values.len() as f64) as usize]
    }
}

/// A curve of any shape, precise or not, closed or open, of any target; most are unlike any real
/// target.
fn random_record(seed: u64) -> ExperimentRecord {
    let mut draw = Draw { seed, count: 0 };
    let unloaded_s = draw.log_between(20e-6, 20e-3);
    let ceiling = draw.log_between(200.0, 200_000.0);
    let noise = draw.of(&[0.0, 0.005, 0.02, 0.1, 0.5]);
    let is_open = draw.chance(0.25);
    let is_write = draw.chance(0.4);
    let bytes = draw.of(&[4096, 8192, 65_536, 1 << 20]);
    let intervals = draw.of(&[1, 2, 5, 8, 12]);
    let is_cached = draw.chance(0.1);
    let busy = draw.chance(0.3);
    let mut depths: Vec<u32> = Vec::new();
    for depth in [1, 2, 4, 8, 16, 32, 64, 128, 256] {
        if draw.chance(0.5) {
            depths.push(depth);
        }
    }
    if depths.is_empty() {
        depths.push(draw.of(&[1, 16, 64]));
    }
    let repeats = draw.of(&[1, 1, 1, 3]);
    let mut runs = Vec::new();
    for depth in depths {
        for _ in 0..repeats {
            let free = f64::from(depth) / unloaded_s;
            let softness = draw.of(&[1.0, 4.0, 50.0]);
            let rate =
                (free.powf(-softness) + ceiling.powf(-softness)).powf(-1.0 / softness).max(2.0);
            let mut of_stream = stream("main", depth);
            of_stream.read_permille = if is_write { 0 } else { 1000 };
            let offered = draw.between(0.3, 1.3) * rate;
            if is_open {
                of_stream.arrival = Arrival::Poisson { offered_rate: offered };
            }
            let mut planned = run("random", vec![of_stream], 0, intervals);
            let key = if is_open { "offered_rate" } else { "queue_depth" };
            let value = if is_open { format!("{offered:.0}/s") } else { depth.to_string() };
            planned.parameters = vec![(key.to_owned(), value)];
            let mut backlog = 0;
            let seconds = (0..intervals).map(|_| {
                let swing = 1.0 + noise * draw.between(-1.0, 1.0);
                let most = rate * swing;
                let done = if is_open { most.min(offered) } else { most }.max(1.0) as u64;
                let service_ns = (f64::from(depth) / most * 1e9) as u64;
                let mut second = StreamInterval {
                    issued: done,
                    outstanding_time_ns: u128::from(done) * u128::from(service_ns.max(1)),
                    ..StreamInterval::default()
                };
                let mut response_ns = service_ns.max(1);
                if is_open && offered > most {
                    backlog += (offered - most) as u64;
                    second.backlog_end = backlog;
                    second.backlog_time_ns = u128::from(backlog) * u128::from(SECOND_NS);
                    response_ns += (backlog as f64 / most * 1e9) as u64;
                }
                let op = if is_write { OpKind::Write } else { OpKind::Read };
                second.kinds[op as usize] = kind(done, bytes, service_ns.max(1), response_ns);
                second
            });
            let mut measured = done(planned, seconds.collect());
            for interval in &mut measured.intervals {
                let moved: u64 = interval.streams[0].kinds.iter().map(|kind| kind.bytes).sum();
                let counted = if is_cached { moved / 2 } else { moved + moved / 50 };
                let (received_bytes, sent_bytes) =
                    if is_write { (0, counted) } else { (counted, 0) };
                let source = CounterSource::NfsMount;
                interval.wire = vec![WireInterval { source, received_bytes, sent_bytes }];
                for worker in &mut interval.workers {
                    worker.cpu_ns = if busy { SECOND_NS } else { SECOND_NS / 10 };
                }
            }
            runs.push(measured);
        }
    }
    let mut record = experiment(runs);
    *record.plan.target_mut() = match draw.of(&[0, 0, 1, 2]) {
        0 => TargetSpec::Directory { path: "/mnt/vol1".to_owned() },
        1 => emulated_volume(),
        _ => TargetSpec::Null,
    };
    if draw.chance(0.2) {
        let known = draw.log_between(0.3, 3.0) * ceiling * bytes as f64;
        let value = format!("{known:.0} bytes/s, as given");
        record.environment.extend([("known.volume_throughput".to_owned(), value)]);
    }
    record
}

#[test]
fn no_output_of_a_random_record_contradicts_its_verdicts() {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let counts = std::thread::scope(|scope| {
        let check = |first| scope.spawn(move || check_random_records(first, threads));
        let checks: Vec<_> = (0..threads as u64).map(check).collect();
        let counts = checks.into_iter().map(|check| check.join().expect("no contradiction"));
        counts.fold([0; 4], |sum, more| std::array::from_fn(|i| sum[i] + more[i]))
    });
    // The random records cover every kind of verdict.
    assert!(counts.iter().all(|count| *count > 100), "{counts:?}");
}

/// Checks every `step`-th record from `first`. Returns the numbers of curves that are saturated, not
/// saturated and inconclusive, and of verdicts that name a limit.
fn check_random_records(first: u64, step: usize) -> [u32; 4] {
    let mut counts = [0u32; 4];
    for seed in (first..RANDOM_RECORDS).step_by(step) {
        let findings = analyze(&random_record(random::at(0xC0_17AD, seed)));
        let found = contradictions(&findings, seed % PAGE_EVERY == 0);
        assert!(found.is_empty(), "record {seed}: {found:#?}\n{}", text::summary(&findings, 80));
        for verdict in &findings.verdicts {
            counts[match verdict.plateau.state {
                State::Reached(_) => 0,
                State::NotReached => 1,
                State::Inconclusive(_) => 2,
            }] += 1;
            counts[3] += u32::from(!verdict.named().is_empty());
        }
    }
    counts
}

#[test]
fn no_output_of_a_simulated_system_contradicts_its_verdicts() {
    for (class, _) in Class::ALL {
        for seed in 0..SYSTEMS {
            let record = user::measure(&systems::draw(class, seed), seed);
            let findings = analyze(&record);
            let found = contradictions(&findings, seed == 0);
            assert!(found.is_empty(), "{} {seed}: {found:#?}", class.name());
        }
    }
}

#[test]
fn a_contradiction_is_found() {
    // The measurements of the record with another verdict.
    let mut findings = analyze(&random_record(random::at(0xC0_17AD, 3)));
    for verdict in &mut findings.verdicts {
        verdict.answer = Answer::NotReached;
        verdict.plateau.state = State::Reached(Reason::Flat);
    }
    assert!(!contradictions(&findings, false).is_empty());
}
