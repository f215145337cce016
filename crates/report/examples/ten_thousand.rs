//! Times analysis and report of 10,000 load points: a thousand curves of ten queue depths, each load
//! point with six intervals of a hundred buckets. The aim is less than 5 s.
//!
//! `cargo run --release -p report --example ten_thousand`

#[path = "../tests/fixture/mod.rs"]
mod fixture;

use std::io::Write;
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let record = fixture::ten_thousand::record();
    let mut out = std::io::stdout();
    let mut start = Instant::now();
    let mut total_s = 0.0;
    let mut lap = |step: String| {
        let step_s = start.elapsed().as_secs_f64();
        start = Instant::now();
        total_s += step_s;
        writeln!(out, "{step_s:6.2} s  {step}")?;
        std::io::Result::Ok(total_s)
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
    let total_s = lap(format!("text, {} bytes", text.len()))?;
    writeln!(out, "{total_s:6.2} s  in total")?;
    Ok(())
}

/// Counts written bytes, so that no disk is measured.
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
