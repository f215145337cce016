//! Measures the cost of a growing file table in a process with several threads.

use std::fs::File;
use std::io::Write;
use std::sync::mpsc::channel;
use std::time::Instant;

use anyhow::{Result, anyhow};

/// Longer than any `open` that finds room in the table.
const LONG_NS: u128 = 1_000_000;

/// Opens `files` files one after another, and prints those that took long.
pub(crate) fn run(files: usize) -> Result<()> {
    // A second thread: with a single one, the kernel need not wait to replace the table.
    let (done, wait) = channel::<()>();
    let other = std::thread::spawn(move || wait.recv().is_err());
    let mut open = Vec::with_capacity(files);
    let mut took_ns = Vec::with_capacity(files);
    for _ in 0..files {
        let begun = Instant::now();
        open.push(File::open("/dev/null")?);
        took_ns.push(begun.elapsed().as_nanos());
    }
    drop(done);
    other.join().map_err(|_| anyhow!("the other thread panicked"))?;
    let mut out = std::io::stdout().lock();
    for (number, ns) in took_ns.iter().enumerate().filter(|(_, ns)| **ns > LONG_NS) {
        writeln!(out, "file={} took_ms={:.1}", number + 1, *ns as f64 / 1e6)?;
    }
    took_ns.sort_unstable();
    let median_ns = took_ns.get(files / 2).copied().unwrap_or_default();
    writeln!(out, "files={files} median_us={:.1}", median_ns as f64 / 1e3)?;
    Ok(())
}
