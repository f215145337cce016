//! An emulated volume's settings beside what was measured, as rows that every output lays out.

use analysis::Findings;
use analysis::emulated::{EmulatedFindings, Seen};

use crate::number::{NONE, mib, thousands, us};
use crate::rows;

/// One setting and the measurement that it bounds.
pub(crate) struct Row {
    /// What it is, with its unit.
    pub(crate) name: &'static str,
    /// What the volume was set to.
    pub(crate) configured: String,
    /// What was measured; a dash where no load point shows it.
    pub(crate) measured: String,
    /// Where, in words.
    pub(crate) place: String,
}

/// The rows; none where the target was not an emulated volume.
pub(crate) fn rows(findings: &Findings) -> Vec<Row> {
    let Some(EmulatedFindings { volume, throughput, read, write }) = &findings.emulated else {
        return Vec::new();
    };
    let row = |name, configured, seen: &Option<Seen>, print: fn(f64) -> String, how: &str| Row {
        name,
        configured,
        measured: seen.map_or(NONE.to_owned(), |seen| print(seen.value.value)),
        place: seen.map_or("no load point shows it".to_owned(), |seen| {
            let name = rows::load_point_name(&findings.load_points[seen.load_point]);
            format!("{how}: {name}")
        }),
    };
    let floor = "shortest mean service time";
    vec![
        row(
            "throughput limit, MiB/s",
            mib(volume.throughput_limit_bytes_per_s as f64),
            throughput,
            mib,
            "highest throughput",
        ),
        row("read delay, us", us(volume.read_delay_ns as f64), read, us, floor),
        row("write delay, us", us(volume.write_delay_ns as f64), write, us, floor),
    ]
}

/// What the dotted lines in the charts of throughput and of response time are; nothing where the
/// target was not an emulated volume.
pub(crate) fn in_captions(findings: &Findings) -> [String; 2] {
    let Some(EmulatedFindings { volume, .. }) = &findings.emulated else {
        return Default::default();
    };
    let (read, write) = (us(volume.read_delay_ns as f64), us(volume.write_delay_ns as f64));
    [
        format!(
            " Dotted: the volume's throughput limit, {} MiB/s.",
            mib(volume.throughput_limit_bytes_per_s as f64)
        ),
        format!(" Dotted: what the volume takes at least, reads {read} µs, writes {write} µs."),
    ]
}

/// What the service itself counted, in a sentence; nothing where no service told.
pub(crate) fn witness(findings: &Findings) -> Option<String> {
    let witnessed = findings.witnessed?;
    let runs = match witnessed.runs {
        1 => "the run".to_owned(),
        runs => format!("all {runs} runs"),
    };
    Some(match witnessed.runs_that_differ {
        0 => format!(
            "The service counted the same as the generator in {runs}: {} calls, {} bytes.",
            thousands(i128::from(witnessed.calls)),
            thousands(i128::from(witnessed.bytes)),
        ),
        differ => format!(
            "The service counted otherwise than the generator in {differ} of {} runs.",
            witnessed.runs
        ),
    })
}
