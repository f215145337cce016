//! Shows what the report of an hour costs: builds the record of a one-hour run of four streams in
//! intervals of a second, then times analysis and layout and prints the page's size. With a path,
//! writes the page there.

#[path = "../tests/fixture/mod.rs"]
mod fixture;

use std::io::Write as _;
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let record = fixture::hour();
    let begun = Instant::now();
    let findings = analysis::analyze(&record);
    let analyzed = begun.elapsed();
    let page = report::html::render(&findings)?;
    let rendered = begun.elapsed();
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
