//! Times analysis and page of a one-hour run of four streams in intervals of a second, and prints the
//! size of the page. Writes the page if a path is given.

#[path = "../tests/fixture/mod.rs"]
mod fixture;

use std::io::Write as _;
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let record = fixture::hour();
    let start = Instant::now();
    let findings = analysis::analyze(&record);
    let analyzed = start.elapsed();
    let page = report::html::render(&findings)?;
    let rendered = start.elapsed();
    writeln!(
        std::io::stdout(),
        "analyze_ms={} render_ms={} total_ms={} size_bytes={}",
        analyzed.as_millis(),
        (rendered - analyzed).as_millis(),
        rendered.as_millis(),
        page.len()
    )?;
    if let Some(path) = std::env::args_os().nth(1) {
        std::fs::write(path, page)?;
    }
    Ok(())
}
