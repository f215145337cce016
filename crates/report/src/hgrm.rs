//! Distributions in the format that HdrHistogram's tools print and plot
//! (`outputPercentileDistribution`), one section for each load point, stream, kind of operation and
//! time. Values are in microseconds.
//!
//! Those tools ignore lines that begin with `#`; each section begins with such a line that names it.

use std::io::{self, Write};

use analysis::Findings;
use analysis::times::Times;

use crate::results::load_point_name;

/// Nanoseconds in the printed unit.
const NS_PER_US: f64 = 1e3;
/// Sub-buckets in HdrHistogram's footer: twice the 1,024 buckets for each power of two.
const SUB_BUCKETS: u32 = 2048;
/// The first bucket, and the powers of two from 2,048 ns to the largest time, 60 s.
const BUCKETS: u32 = 26;

/// Writes every distribution of the findings, with the repeats of each load point combined.
///
/// # Errors
/// Errors of `out`.
pub fn write(findings: &Findings, out: &mut dyn Write) -> io::Result<()> {
    for load_point in &findings.load_points {
        for stream in &load_point.merged.streams {
            for ops in &stream.kinds {
                for (name, times) in
                    [("response time", &ops.response), ("service time", &ops.service)]
                {
                    let point = load_point_name(load_point);
                    writeln!(out, "# {point} | {} | {} | {name} | us", stream.name, ops.name)?;
                    write_times(times, out)?;
                    writeln!(out)?;
                }
            }
        }
    }
    Ok(())
}

/// Writes one distribution, with HdrHistogram's heading and footer.
fn write_times(times: &Times, out: &mut dyn Write) -> io::Result<()> {
    writeln!(
        out,
        "{:>12} {:>14} {:>10} {:>14}\n",
        "Value", "Percentile", "TotalCount", "1/(1-Percentile)"
    )?;
    for row in &times.distribution {
        let value = row.value_ns as f64 / NS_PER_US;
        write!(out, "{value:12.3} {:14.12} {:10}", row.fraction, row.samples_to_here)?;
        match row.fraction < 1.0 {
            true => writeln!(out, " {:14.2}", 1.0 / (1.0 - row.fraction))?,
            false => writeln!(out)?,
        }
    }
    let us = |ns: Option<f64>| ns.map_or(0.0, |ns| ns / NS_PER_US);
    let (mean, deviation) = (us(times.mean_ns.map(|m| m.value)), us(times.deviation.map(|d| d.0)));
    let max = us(times.max_ns.map(|ns| ns as f64));
    writeln!(out, "#[Mean    = {mean:12.3}, StdDeviation   = {deviation:12.3}]")?;
    writeln!(out, "#[Max     = {max:12.3}, Total count    = {:12}]", times.samples)?;
    writeln!(out, "#[Buckets = {BUCKETS:12}, SubBuckets     = {SUB_BUCKETS:12}]")
}
