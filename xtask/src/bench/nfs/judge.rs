//! What came out, and what must.

use crate::bench::median::median;

/// The figures of one trial in one round.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Sample {
    pub(crate) ops_per_sec: f64,
    /// User and system time of the client for each call.
    pub(crate) client_cpu_us: f64,
    /// User and system time of the server for each call.
    pub(crate) server_cpu_us: f64,
    pub(crate) mib_per_sec: f64,
    /// Mean.
    pub(crate) response_us: f64,
}

/// A row of the raw data.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Raw {
    pub(crate) group: &'static str,
    pub(crate) trial: &'static str,
    pub(crate) round: u32,
    pub(crate) sample: Sample,
}

/// A figure that stands alone.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Alone {
    pub(crate) group: &'static str,
    pub(crate) what: &'static str,
    pub(crate) value: f64,
}

/// Everything that was measured so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Measured {
    pub(crate) raw: Vec<Raw>,
    pub(crate) alone: Vec<Alone>,
}

impl Measured {
    pub(crate) fn add(
        &mut self,
        group: &'static str,
        trial: &'static str,
        round: u32,
        sample: Sample,
    ) {
        self.raw.push(Raw { group, trial, round, sample });
    }

    pub(crate) fn add_alone(&mut self, group: &'static str, what: &'static str, value: f64) {
        self.alone.push(Alone { group, what, value });
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.raw.is_empty() && self.alone.is_empty()
    }

    /// One figure of a trial, by round.
    fn values(&self, group: &str, trial: &str, figure: Figure) -> Vec<f64> {
        let mut rows: Vec<&Raw> =
            self.raw.iter().filter(|raw| raw.group == group && raw.trial == trial).collect();
        rows.sort_by_key(|raw| raw.round);
        rows.iter().map(|raw| figure.of(&raw.sample)).collect()
    }
}

/// Which figure is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Figure {
    OpsPerSec,
    ClientCpu,
    ServerCpu,
    /// Calls for each second of the server's CPU time.
    OpsPerServerSecond,
    MibPerSec,
    Response,
}

impl Figure {
    pub(crate) const ALL: [Figure; 6] = [
        Figure::OpsPerSec,
        Figure::ClientCpu,
        Figure::ServerCpu,
        Figure::OpsPerServerSecond,
        Figure::MibPerSec,
        Figure::Response,
    ];

    pub(crate) fn of(self, sample: &Sample) -> f64 {
        match self {
            Figure::OpsPerSec => sample.ops_per_sec,
            Figure::ClientCpu => sample.client_cpu_us,
            Figure::ServerCpu => sample.server_cpu_us,
            Figure::OpsPerServerSecond => 1e6 / sample.server_cpu_us,
            Figure::MibPerSec => sample.mib_per_sec,
            Figure::Response => sample.response_us,
        }
    }

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Figure::OpsPerSec => "ops/s",
            Figure::ClientCpu => "client CPU us/op",
            Figure::ServerCpu => "server CPU us/op",
            Figure::OpsPerServerSecond => "ops per server CPU-second",
            Figure::MibPerSec => "MiB/s",
            Figure::Response => "response time us",
        }
    }
}

/// What the number of a row must be.
#[derive(Clone, Copy, Debug)]
enum Must {
    AtMost(f64, f64),
    AtLeast(f64, f64),
}

/// How two trials are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum By {
    Ratio,
    /// Ours less the other.
    Difference,
}

/// A row of the table: two trials of a group and a bound with an aim.
struct Row {
    work: &'static str,
    group: &'static str,
    ours: &'static str,
    other: &'static str,
    figure: Figure,
    by: By,
    must: Must,
}

const fn row(
    work: &'static str,
    (group, ours, other): (&'static str, &'static str, &'static str),
    figure: Figure,
    must: Must,
) -> Row {
    Row { work, group, ours, other, figure, by: By::Ratio, must }
}

const TO_FLOOR: Must = Must::AtMost(2.0, 1.5);
const SERVICE_TO_FLOOR: Must = Must::AtMost(2.5, 1.8);
const TO_GANESHA: Must = Must::AtLeast(6.0, 12.0);
const METADATA: Must = Must::AtLeast(4.0, 8.0);
const STREAMING: Must = Must::AtLeast(0.75, 0.9);
const PER_SECOND: Figure = Figure::OpsPerServerSecond;

const ROWS: &[Row] = &[
    row("client, 8 KiB READ", ("read-8k", "client", "floor"), Figure::ClientCpu, TO_FLOOR),
    row("client, 8 KiB WRITE", ("write-8k", "client", "floor"), Figure::ClientCpu, TO_FLOOR),
    row(
        "client, 16 connections x 16",
        ("connections", "16x16", "1x64"),
        Figure::OpsPerSec,
        Must::AtLeast(0.8, 1.0),
    ),
    row(
        "service, 8 KiB READ",
        ("read-8k", "load-ours", "floor"),
        Figure::ServerCpu,
        SERVICE_TO_FLOOR,
    ),
    row(
        "service, 8 KiB WRITE",
        ("write-8k", "load-ours", "floor"),
        Figure::ServerCpu,
        SERVICE_TO_FLOOR,
    ),
    row("service, 8 KiB READ, MEM", ("read-8k", "load-ours", "load-mem"), PER_SECOND, TO_GANESHA),
    row("service, 8 KiB READ, VFS", ("read-8k", "load-ours", "load-vfs"), PER_SECOND, TO_GANESHA),
    row("service, 8 KiB WRITE, MEM", ("write-8k", "load-ours", "load-mem"), PER_SECOND, TO_GANESHA),
    row("service, 8 KiB WRITE, VFS", ("write-8k", "load-ours", "load-vfs"), PER_SECOND, TO_GANESHA),
    row("service, GETATTR, MEM", ("getattr", "load-ours", "load-mem"), PER_SECOND, METADATA),
    row("service, GETATTR, VFS", ("getattr", "load-ours", "load-vfs"), PER_SECOND, METADATA),
    row("service, LOOKUP, MEM", ("lookup", "load-ours", "load-mem"), PER_SECOND, METADATA),
    row("service, LOOKUP, VFS", ("lookup", "load-ours", "load-vfs"), PER_SECOND, METADATA),
    row(
        "service, CREATE+REMOVE, MEM",
        ("create-remove", "load-ours", "load-mem"),
        PER_SECOND,
        METADATA,
    ),
    row(
        "service, CREATE+REMOVE, VFS",
        ("create-remove", "load-ours", "load-vfs"),
        PER_SECOND,
        METADATA,
    ),
    row(
        "both, 64 KiB sequential READ",
        ("read-64k", "client", "floor"),
        Figure::MibPerSec,
        STREAMING,
    ),
    row(
        "both, 64 KiB sequential WRITE",
        ("write-64k", "client", "floor"),
        Figure::MibPerSec,
        STREAMING,
    ),
    Row {
        work: "queue depth 1, 8 KiB READ",
        group: "depth-1",
        ours: "client",
        other: "floor",
        figure: Figure::Response,
        by: By::Difference,
        must: Must::AtMost(12.0, 6.0),
    },
];

/// A row of the table about a figure that stands alone.
struct RowAlone {
    work: &'static str,
    group: &'static str,
    what: &'static str,
    /// What a bare process reached at the same.
    bare: Option<&'static str>,
    must: Must,
}

/// Without SCHED_FIFO and `/dev/cpu_dma_latency`.
pub(crate) const ORDINARY_P99: &str = "as users start it: late by p99, us";
pub(crate) const ORDINARY_CORES: &str = "as users start it: service cores";
/// What a bare process reached where the service holds replies back.
pub(crate) const BARE_P99: &str = "a bare process: late by p99, us";
pub(crate) const BARE_CORES: &str = "a bare process: cores";

const ROWS_ALONE: &[RowAlone] = &[
    RowAlone {
        work: "client at rest",
        group: "rest",
        what: "client CPU ms per second",
        bare: None,
        must: Must::AtMost(10.0, 0.0),
    },
    RowAlone {
        work: "service at rest",
        group: "rest",
        what: "service CPU ms per second",
        bare: None,
        must: Must::AtMost(10.0, 0.0),
    },
    RowAlone {
        work: "client, 256 connections x 64",
        group: "memory",
        what: "client MiB",
        bare: None,
        must: Must::AtMost(128.0, 128.0),
    },
    RowAlone {
        work: "service, 256 connections x 64",
        group: "memory",
        what: "service MiB without the data",
        bare: None,
        must: Must::AtMost(128.0, 128.0),
    },
    RowAlone {
        work: "102,400 replies held back",
        group: "held",
        what: "late by p99, us",
        bare: Some(BARE_P99),
        must: Must::AtMost(50.0, 50.0),
    },
    RowAlone {
        work: "the same",
        group: "held",
        what: "late by p99 beyond a bare process, us",
        bare: None,
        must: Must::AtMost(50.0, 0.0),
    },
    RowAlone {
        work: "the same, 8,192 leave each second",
        group: "held",
        what: "service cores",
        bare: Some(BARE_CORES),
        must: Must::AtMost(0.3, 0.3),
    },
    RowAlone {
        work: "102,400 replies held back",
        group: "held",
        what: ORDINARY_P99,
        bare: None,
        must: Must::AtMost(50.0, 50.0),
    },
    RowAlone {
        work: "102,400 replies held back, 8,192 leave each second",
        group: "held",
        what: ORDINARY_CORES,
        bare: None,
        must: Must::AtMost(0.3, 0.3),
    },
];

/// A judged number.
#[derive(Clone, Debug)]
pub(crate) struct Judged {
    pub(crate) work: &'static str,
    pub(crate) against: &'static str,
    /// What is compared and how.
    pub(crate) number: String,
    pub(crate) value: f64,
    /// Smallest and largest of the rounds.
    pub(crate) spread: (f64, f64),
    /// Medians of ours and of the other.
    pub(crate) medians: Option<(f64, f64)>,
    pub(crate) bound: String,
    pub(crate) aim: String,
    holds: bool,
    pub(crate) reaches_aim: bool,
}

impl Judged {
    pub(crate) fn holds(&self) -> bool {
        self.holds
    }

    /// `missed`, `holds` or `aim reached`.
    pub(crate) fn verdict(&self) -> &'static str {
        match (self.holds, self.reaches_aim) {
            (false, _) => "MISSED",
            (true, false) => "holds",
            (true, true) => "aim reached",
        }
    }
}

/// Judges every row of which everything was measured; those of one group when it is named.
pub(crate) fn judge(measured: &Measured, group: Option<&str>) -> Vec<Judged> {
    let asked = |name: &str| group.is_none_or(|group| group == name);
    let rows = ROWS.iter().filter(|row| asked(row.group));
    let alone = ROWS_ALONE.iter().filter(|row| asked(row.group));
    let rows = rows.filter_map(|row| judge_row(measured, row));
    rows.chain(alone.filter_map(|row| judge_alone(measured, row))).collect()
}

fn judge_row(measured: &Measured, row: &Row) -> Option<Judged> {
    let ours = measured.values(row.group, row.ours, row.figure);
    let other = measured.values(row.group, row.other, row.figure);
    let compared: Vec<f64> = ours
        .iter()
        .zip(&other)
        .map(|(ours, other)| match row.by {
            By::Ratio => ours / other,
            By::Difference => ours - other,
        })
        .collect();
    let value = median(&compared)?;
    let how = if row.by == By::Ratio { "ratio" } else { "difference" };
    Some(judged(
        (row.work, row.other),
        format!("{}, {how}", row.figure.name()),
        &compared,
        value,
        median(&ours).zip(median(&other)),
        row.must,
    ))
}

fn judge_alone(measured: &Measured, row: &RowAlone) -> Option<Judged> {
    let of = |what: &str| -> Vec<f64> {
        let found = measured.alone.iter().filter(|a| a.group == row.group && a.what == what);
        found.map(|alone| alone.value).collect()
    };
    let values = of(row.what);
    let value = median(&values)?;
    let beside = row.bare.and_then(|bare| median(&of(bare))).map(|bare| (value, bare));
    let against = if row.bare.is_some() { "bare" } else { "-" };
    Some(judged((row.work, against), row.what.to_owned(), &values, value, beside, row.must))
}

fn judged(
    (work, against): (&'static str, &'static str),
    number: String,
    values: &[f64],
    value: f64,
    medians: Option<(f64, f64)>,
    must: Must,
) -> Judged {
    let (bound, aim, holds, reaches_aim) = match must {
        Must::AtMost(bound, aim) => {
            (format!("<= {bound}"), format!("<= {aim}"), value <= bound, value <= aim)
        }
        Must::AtLeast(bound, aim) => {
            (format!(">= {bound}"), format!(">= {aim}"), value >= bound, value >= aim)
        }
    };
    let smallest = values.iter().copied().fold(f64::INFINITY, f64::min);
    let largest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let spread = (smallest, largest);
    Judged { work, against, number, value, spread, medians, bound, aim, holds, reaches_aim }
}

/// The rows in words.
pub(crate) fn lines(judged: &[Judged]) -> Vec<String> {
    let line = |one: &Judged| {
        let medians = one
            .medians
            .map_or(String::new(), |(ours, other)| format!("  ours {ours:.3}, other {other:.3}"));
        format!(
            "{:<31} {:<9} {:<34} {:>9.3} ({:.3} to {:.3}){medians}  must be {}, aim {}: {}",
            one.work,
            one.against,
            one.number,
            one.value,
            one.spread.0,
            one.spread.1,
            one.bound,
            one.aim,
            one.verdict()
        )
    };
    judged.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(client_cpu_us: f64) -> Sample {
        Sample {
            ops_per_sec: 1.0,
            client_cpu_us,
            server_cpu_us: 1.0,
            mib_per_sec: 1.0,
            response_us: 1.0,
        }
    }

    #[test]
    fn a_row_is_judged_by_the_median_of_the_rounds_ratios() {
        let mut measured = Measured::default();
        for (round, ours) in [(0, 2.6), (1, 1.9), (2, 1.4)] {
            measured.add("read-8k", "client", round, sample(ours));
            measured.add("read-8k", "floor", round, sample(1.0));
        }
        let judged = judge(&measured, Some("read-8k"));
        assert_eq!(judged.len(), 1, "the other rows of the group have nothing to be judged by");
        assert_eq!(judged[0].value, 1.9);
        assert_eq!((judged[0].holds(), judged[0].reaches_aim), (true, false));
    }

    #[test]
    fn every_row_names_trials_that_are_measured() {
        for row in ROWS {
            let group = super::super::GROUPS.iter().find(|group| group.name == row.group);
            let group = group.unwrap_or_else(|| panic!("no group {}", row.group));
            for name in [row.ours, row.other] {
                assert!(group.trial_names().any(|trial| trial == name), "{}: {name}", row.work);
            }
        }
    }
}
