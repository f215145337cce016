//! Measures the cost of memory that was not used for a second: on a virtual machine, the hypervisor
//! must sometimes map a page again.

use std::io::Write;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};

const PAGE_BYTES: usize = 4096;
/// Pause between two rounds over all pages.
const PAUSE: Duration = Duration::from_secs(1);
/// Rounds; in the first, the kernel allocates the memory.
const ROUNDS: usize = 3;
/// Longer than any cache miss.
const LONG_NS: u128 = 50_000;

/// Writes to each page of `data_bytes` once a second, and prints how many writes took long.
pub(crate) fn run(data_bytes: usize) -> Result<()> {
    ensure!(data_bytes >= PAGE_BYTES, "--data must be at least one page");
    let mut data = vec![1_u8; data_bytes];
    for round in 1..=ROUNDS {
        std::thread::sleep(PAUSE);
        let mut took_ns: Vec<u128> = Vec::with_capacity(data_bytes / PAGE_BYTES + 1);
        for page in data.chunks_mut(PAGE_BYTES) {
            let begun = Instant::now();
            page[0] = std::hint::black_box(page[0]).wrapping_add(1);
            took_ns.push(begun.elapsed().as_nanos());
        }
        took_ns.sort_unstable();
        let long = &took_ns[took_ns.partition_point(|ns| *ns <= LONG_NS)..];
        let usual_ns = long.get(long.len() / 2).copied().unwrap_or_default();
        let line = format!(
            "round={round} pages={} above_50_us={} median_of_those_us={:.1}",
            took_ns.len(),
            long.len(),
            usual_ns as f64 / 1e3
        );
        writeln!(std::io::stdout(), "{line}")?;
    }
    Ok(())
}
