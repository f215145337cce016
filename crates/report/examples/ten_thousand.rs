//! How long analysis and report take for 10,000 load points: a thousand curves of ten queue depths,
//! each load point six seconds of intervals with some hundred buckets. Wanted: below 5 s.
//!
//! `cargo run --release -p report --example ten_thousand`

#[path = "../tests/fixture/mod.rs"]
mod fixture;

use std::io::Write;
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let record = fixture::ten_thousand::record();
    let mut out = std::io::stdout();
    let mut begun = Instant::now();
    let mut together = 0.0;
    let mut lap = |what: String| {
        let took = begun.elapsed().as_secs_f64();
        begun = Instant::now();
        together += took;
        writeln!(out, "{took:6.2} s  {what}")?;
        std::io::Result::Ok(together)
    };
    let findings = analysis::analyze(&record);
    let fits = findings.curves.iter().filter_map(|curve| curve.fits.as_ref().ok());
    let fitted = fits.filter(|fits| fits.preferred.is_some()).count();
    lap(format!(
        "analysis: {} load points, {} curves, {fitted} of them with a model that fits",
        findings.load_points.len(),
        findings.curves.len(),
    ))?;
    let page = report::html::render(&findings)?;
    lap(format!("HTML, {} bytes", page.len()))?;
    let mut counter = Counter(0);
    report::json::write(&findings, &mut counter)?;
    lap(format!("JSON, {} bytes", counter.0))?;
    let text = report::text::summary(&findings, 80);
    let together = lap(format!("text, {} bytes", text.len()))?;
    writeln!(out, "{together:6.2} s  together")?;
    Ok(())
}

/// Counts what is written: a disk would be measured otherwise.
struct Counter(usize);

impl Write for Counter {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
