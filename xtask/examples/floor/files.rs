//! What it costs a process of several threads that its table of files grows.

use std::fs::File;
use std::io::Write;
use std::sync::mpsc::channel;
use std::time::Instant;

use anyhow::{Result, anyhow};

/// What no opening of a file takes that finds room in the table.
const LONG_NS: u128 = 1_000_000;

/// Opens `files` files one after the other, and prints which took long.
pub(crate) fn run(files: usize) -> Result<()> {
    // A thread that waits until all is done: alone, a process waits for nobody.
    let (done, waits) = channel::<()>();
    let other = std::thread::spawn(move || waits.recv().is_err());
    let mut open = Vec::with_capacity(files);
    let mut took_ns = Vec::with_capacity(files);
    for _ in 0..files {
        let begun = Instant::now();
        open.push(File::open("/dev/null")?);
        took_ns.push(begun.elapsed().as_nanos());
    }
    drop(done);
    other.join().map_err(|_| anyhow!("the other thread failed"))?;
    let mut out = std::io::stdout().lock();
    for (number, ns) in took_ns.iter().enumerate().filter(|(_, ns)| **ns > LONG_NS) {
        writeln!(out, "file={} took_ms={:.1}", number + 1, *ns as f64 / 1e6)?;
    }
    took_ns.sort_unstable();
    let median_ns = took_ns.get(files / 2).copied().unwrap_or_default();
    writeln!(out, "files={files} median_us={:.1}", median_ns as f64 / 1e3)?;
    Ok(())
}
