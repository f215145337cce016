//! Compares two runs of an hour (3,600 intervals of a second each) and prints how long that took:
//! `cargo run --release -p analysis --example compare_hour [STREAMS]`.

#[path = "../../store/tests/samples/mod.rs"]
mod samples;

use std::error::Error;
use std::io::Write;
use std::thread::ScopedJoinHandle;
use std::time::Instant;

use analysis::compare::side::Side;
use analysis::compare::{Options, compare};
use metrics::environment::Environment;
use metrics::run_record::Outcome;
use store::Store;

const INTERVALS: u32 = 3600;
const BUCKETS: u32 = 300;

fn main() -> Result<(), Box<dyn Error>> {
    let streams: u32 = std::env::args().nth(1).map_or(Ok(4), |text| text.parse())?;
    let root = tempfile::tempdir()?;
    let store = Store::open(Some(root.path()))?;
    let mut run = samples::run(0);
    run.streams = (0..streams)
        .map(|number| {
            let mut stream = run.streams[0].clone();
            stream.name = format!("stream-{number}");
            stream
        })
        .collect();
    run.phases.warm_up_ns = 0;
    run.phases.measure_ns = u64::from(INTERVALS) * 1_000_000_000;
    let mut ids = Vec::new();
    for day in 0..2 {
        let mut writer = store.create(
            &samples::plan("hour", 1),
            &Environment::default(),
            1_795_241_700_000 + day,
        )?;
        writer.run_started(&run, 1_795_241_700_000)?;
        for index in 0..INTERVALS {
            writer.interval(0, &samples::interval(index, streams, BUCKETS))?;
        }
        writer.run_finished(0, &Outcome::Done)?;
        writer.finish(&Outcome::Done)?;
        ids.push(writer.id().to_owned());
    }

    let begun = Instant::now();
    // As the command does: at the same time.
    let sides = std::thread::scope(|scope| {
        let mut reading = Vec::new();
        for id in &ids {
            let store = &store;
            reading.push(scope.spawn(move || store.load(id).map(|record| Side::of(&record))));
        }
        let join = |one: ScopedJoinHandle<_>| one.join().expect("it does not panic");
        reading.into_iter().map(join).collect::<Result<Vec<Side>, _>>()
    })?;
    let loaded = begun.elapsed();
    let comparison = compare(&sides, &Options::default());
    let whole = begun.elapsed();
    writeln!(
        std::io::stdout(),
        "{streams} streams, {} figures: load and sum up {} ms, compare {} ms, {} ms in total",
        comparison.pairs[0].figures().count(),
        loaded.as_millis(),
        (whole - loaded).as_millis(),
        whole.as_millis(),
    )?;
    Ok(())
}
