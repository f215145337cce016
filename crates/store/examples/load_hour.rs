//! Stores an hour of four streams at 1 s intervals, loads it, and prints durations and size: `cargo
//! run --release -p store --example load_hour`.

#[path = "../tests/samples/mod.rs"]
mod samples;

use std::error::Error;
use std::io::Write;
use std::time::Instant;

use metrics::environment::Environment;
use metrics::run_record::Outcome;
use store::Store;

const INTERVALS: u32 = 3600;
const STREAMS: u32 = 4;
const BUCKETS: u32 = 300;

fn main() -> Result<(), Box<dyn Error>> {
    let root = tempfile::tempdir()?;
    let store = Store::open(Some(root.path()))?;
    let mut writer =
        store.create(&samples::plan("hour", 1), &Environment::default(), 1_795_241_700_000)?;
    writer.run_started(&samples::run(0), 1_795_241_700_000)?;
    let mut append_us = Vec::new();
    for index in 0..INTERVALS {
        let interval = samples::interval(index, STREAMS, BUCKETS);
        let begun = Instant::now();
        writer.interval(0, &interval)?;
        append_us.push(begun.elapsed().as_micros());
    }
    writer.run_finished(0, &Outcome::Done)?;
    writer.finish(&Outcome::Done)?;
    append_us.sort_unstable();
    let bytes = std::fs::metadata(writer.directory().join("journal"))?.len();

    let begun = Instant::now();
    let record = store.load("last")?;
    let load_ms = begun.elapsed().as_millis();
    let begun = Instant::now();
    std::fs::remove_file(root.path().join("index.sqlite"))?;
    store.list()?;
    let list_ms = begun.elapsed().as_millis();
    writeln!(
        std::io::stdout(),
        "{} intervals, {bytes} bytes; append median {} us, maximum {} us; load {load_ms} ms; list \
         without an index {list_ms} ms",
        record.runs[0].intervals.len(),
        append_us[append_us.len() / 2],
        append_us[append_us.len() - 1],
    )?;
    Ok(())
}
