//! The settings of an emulated volume compared with what was measured.

use std::time::Duration;

use analysis::Findings;
use analysis::emulated::{EmulatedFindings, Seen};
use units::{Bytes, counted, print_duration};
use workload::plan::EmulatedVolume;

use crate::number::{NONE, TimeUnit, mib, thousands};
use crate::results::{load_point_name, time_unit};
use crate::table::{Column, Table};

/// What a run with an emulated volume measures and what it does not, in sentences.
pub fn introduction(volume: &EmulatedVolume) -> [String; 2] {
    let time = |ns| print_duration(Duration::from_nanos(ns));
    [
        format!(
            "target: an {}, served by this process over NFS version 3 on loopback: throughput \
             limit {}/s, reads {}, writes {}",
            volume.in_words(),
            Bytes::new(volume.throughput_limit_bytes_per_s),
            time(volume.read_delay_ns),
            time(volume.write_delay_ns),
        ),
        "this machine's disks are not measured: name a directory or nfs://host/export".to_owned(),
    ]
}

/// A table of the settings; `None` if the target was not an emulated volume.
pub(crate) fn table(findings: &Findings) -> Option<Table> {
    let EmulatedFindings { volume, throughput, read, write } = findings.emulated.as_ref()?;
    let unit = time_unit(&[findings]);
    let row = |name: String,
               configured: String,
               seen: &Option<Seen>,
               print: &dyn Fn(f64) -> String,
               figure: &str| {
        let location = |seen: &Seen| {
            let name = load_point_name(&findings.load_points[seen.load_point]);
            format!("{figure}: {name}")
        };
        vec![
            name,
            configured,
            seen.as_ref().map_or(NONE.to_owned(), |seen| print(seen.value.value)),
            seen.as_ref().map_or("no load point shows it".to_owned(), location),
        ]
    };
    let time = |ns: f64| unit.print(ns);
    let delay = |kind: &str, ns: u64, seen: &Option<Seen>| {
        let name = format!("{kind} delay, {}", unit.symbol());
        row(name, time(ns as f64), seen, &time, "shortest mean service time")
    };
    let limit = mib(volume.throughput_limit_bytes_per_s as f64);
    Some(Table {
        caption: String::new(),
        columns: vec![
            Column::words("setting"),
            Column::numbers("configured", ""),
            Column::numbers("measured", ""),
            Column::words("load point"),
        ],
        rows: vec![
            row(
                "throughput limit, MiB/s".to_owned(),
                limit,
                throughput,
                &mib,
                "highest throughput",
            ),
            delay("read", volume.read_delay_ns, read),
            delay("write", volume.write_delay_ns, write),
        ],
    })
}

/// What the dashed lines in a chart of response times show; nothing if the target was not an
/// emulated volume.
pub(crate) fn delays_caption(findings: &Findings, unit: TimeUnit) -> String {
    let Some(EmulatedFindings { volume, .. }) = &findings.emulated else {
        return String::new();
    };
    let time = |ns: u64| unit.with_symbol(ns as f64);
    format!(
        " Dashed: the volume's configured delays, {} for reads and {} for writes.",
        time(volume.read_delay_ns),
        time(volume.write_delay_ns)
    )
}

/// Whether the service-side counters agree with those of the generator, in one line.
pub(crate) fn service_counters_in_brief(findings: &Findings) -> Option<String> {
    let checked = findings.service_check?;
    Some(match checked.runs_that_differ {
        0 => format!(
            "Service-side counters agree: {} calls, {}.",
            thousands(i128::from(checked.calls)),
            Bytes::new(checked.bytes),
        ),
        differ => format!(
            "Service-side counters differ from those of the generator in {differ} of {}.",
            counted(checked.runs as u64, "run")
        ),
    })
}

/// Whether the counters of the service confirm those of the generator; `None` if there are none.
pub(crate) fn service_counters(findings: &Findings) -> Option<String> {
    let checked = findings.service_check?;
    let runs = match checked.runs {
        1 => "the run".to_owned(),
        runs => format!("all {runs} runs"),
    };
    Some(match checked.runs_that_differ {
        0 => format!(
            "The service and the generator counted the same in {runs}: {} calls, {} bytes.",
            thousands(i128::from(checked.calls)),
            thousands(i128::from(checked.bytes)),
        ),
        differ => format!(
            "The service and the generator counted differently in {differ} of {} runs.",
            checked.runs
        ),
    })
}
