//! The results, and what is required of them.

use statistics::average::median;

/// Figures of a trial in one round.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Sample {
    pub(crate) ops_per_sec: f64,
    /// User and system time of the client per call.
    pub(crate) client_cpu_us: f64,
    /// User and system time of the server per call.
    pub(crate) server_cpu_us: f64,
    pub(crate) mib_per_sec: f64,
    /// Mean latency.
    pub(crate) latency_us: f64,
}

/// A sample, with its trial and round.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Paired {
    pub(crate) group: &'static str,
    pub(crate) trial: &'static str,
    pub(crate) round: u32,
    pub(crate) sample: Sample,
}

/// A figure without a counterpart in another trial.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unpaired {
    pub(crate) group: &'static str,
    pub(crate) name: &'static str,
    pub(crate) value: f64,
}

/// Everything that was measured so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Measurements {
    pub(crate) paired: Vec<Paired>,
    pub(crate) unpaired: Vec<Unpaired>,
}

impl Measurements {
    pub(crate) fn add(
        &mut self,
        group: &'static str,
        trial: &'static str,
        round: u32,
        sample: Sample,
    ) {
        self.paired.push(Paired { group, trial, round, sample });
    }

    pub(crate) fn add_unpaired(&mut self, group: &'static str, name: &'static str, value: f64) {
        self.unpaired.push(Unpaired { group, name, value });
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.paired.is_empty() && self.unpaired.is_empty()
    }

    /// A figure of a trial, in the order of rounds.
    fn values(&self, group: &str, trial: &str, figure: Figure) -> Vec<f64> {
        let mut samples: Vec<&Paired> =
            self.paired.iter().filter(|one| one.group == group && one.trial == trial).collect();
        samples.sort_by_key(|one| one.round);
        samples.iter().map(|one| figure.of(&one.sample)).collect()
    }
}

/// A figure of a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Figure {
    OpsPerSec,
    ClientCpu,
    ServerCpu,
    /// Calls per second of the server's CPU time.
    OpsPerServerSecond,
    MibPerSec,
    Latency,
}

impl Figure {
    pub(crate) const ALL: [Figure; 6] = [
        Figure::OpsPerSec,
        Figure::ClientCpu,
        Figure::ServerCpu,
        Figure::OpsPerServerSecond,
        Figure::MibPerSec,
        Figure::Latency,
    ];

    pub(crate) fn of(self, sample: &Sample) -> f64 {
        match self {
            Figure::OpsPerSec => sample.ops_per_sec,
            Figure::ClientCpu => sample.client_cpu_us,
            Figure::ServerCpu => sample.server_cpu_us,
            Figure::OpsPerServerSecond => 1e6 / sample.server_cpu_us,
            Figure::MibPerSec => sample.mib_per_sec,
            Figure::Latency => sample.latency_us,
        }
    }

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Figure::OpsPerSec => "ops/s",
            Figure::ClientCpu => "client CPU us/op",
            Figure::ServerCpu => "server CPU us/op",
            Figure::OpsPerServerSecond => "ops per server CPU-second",
            Figure::MibPerSec => "MiB/s",
            Figure::Latency => "latency us",
        }
    }
}

/// The requirement for the number of a row.
#[derive(Clone, Copy, Debug)]
enum Required {
    /// The limit and the aim.
    AtMost(f64, f64),
    /// The limit and the aim.
    AtLeast(f64, f64),
    /// The number is only shown, next to one that is judged.
    Shown,
}

/// How two trials are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Comparison {
    /// fourcorners / other.
    Ratio,
    /// fourcorners - other.
    Difference,
}

/// A row of the table: two trials of a group and the requirement.
struct Row {
    work: &'static str,
    group: &'static str,
    ours: &'static str,
    other: &'static str,
    figure: Figure,
    comparison: Comparison,
    required: Required,
}

const fn row(
    work: &'static str,
    (group, ours, other): (&'static str, &'static str, &'static str),
    figure: Figure,
    required: Required,
) -> Row {
    Row { work, group, ours, other, figure, comparison: Comparison::Ratio, required }
}

const TO_FLOOR: Required = Required::AtMost(2.0, 1.5);
const SERVICE_TO_FLOOR: Required = Required::AtMost(2.5, 1.8);
const TO_GANESHA: Required = Required::AtLeast(6.0, 12.0);
const METADATA: Required = Required::AtLeast(4.0, 8.0);
/// As many outstanding calls over more connections.
const EQUAL_TOTAL: Required = Required::AtLeast(0.85, 1.0);
const STREAMING: Required = Required::AtLeast(0.75, 0.9);
const PER_SECOND: Figure = Figure::OpsPerServerSecond;

const ROWS: &[Row] = &[
    row("client, 8 KiB READ", ("read-8k", "client", "floor"), Figure::ClientCpu, TO_FLOOR),
    row("client, 8 KiB WRITE", ("write-8k", "client", "floor"), Figure::ClientCpu, TO_FLOOR),
    row(
        "READ, 64 over 16 connections",
        ("connections-read", "16x4", "1x64"),
        Figure::OpsPerSec,
        EQUAL_TOTAL,
    ),
    row(
        "WRITE, 64 over 16 connections",
        ("connections-write", "16x4", "1x64"),
        Figure::OpsPerSec,
        EQUAL_TOTAL,
    ),
    row(
        "transport, READ, the same",
        ("connections-read", "floor-16x4", "floor-1x64"),
        Figure::OpsPerSec,
        Required::Shown,
    ),
    row(
        "transport, WRITE, the same",
        ("connections-write", "floor-16x4", "floor-1x64"),
        Figure::OpsPerSec,
        Required::Shown,
    ),
    row(
        "service, 8 KiB READ",
        ("read-8k", "load-volume", "floor"),
        Figure::ServerCpu,
        SERVICE_TO_FLOOR,
    ),
    row(
        "service, 8 KiB WRITE",
        ("write-8k", "load-volume", "floor"),
        Figure::ServerCpu,
        SERVICE_TO_FLOOR,
    ),
    row("service, 8 KiB READ, MEM", ("read-8k", "load-volume", "load-mem"), PER_SECOND, TO_GANESHA),
    row("service, 8 KiB READ, VFS", ("read-8k", "load-volume", "load-vfs"), PER_SECOND, TO_GANESHA),
    row(
        "service, 8 KiB WRITE, MEM",
        ("write-8k", "load-volume", "load-mem"),
        PER_SECOND,
        TO_GANESHA,
    ),
    row(
        "service, 8 KiB WRITE, VFS",
        ("write-8k", "load-volume", "load-vfs"),
        PER_SECOND,
        TO_GANESHA,
    ),
    row("service, GETATTR, MEM", ("getattr", "load-volume", "load-mem"), PER_SECOND, METADATA),
    row("service, GETATTR, VFS", ("getattr", "load-volume", "load-vfs"), PER_SECOND, METADATA),
    row("service, LOOKUP, MEM", ("lookup", "load-volume", "load-mem"), PER_SECOND, METADATA),
    row("service, LOOKUP, VFS", ("lookup", "load-volume", "load-vfs"), PER_SECOND, METADATA),
    row(
        "service, CREATE+REMOVE, MEM",
        ("create-remove", "load-volume", "load-mem"),
        PER_SECOND,
        METADATA,
    ),
    row(
        "service, CREATE+REMOVE, VFS",
        ("create-remove", "load-volume", "load-vfs"),
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
        figure: Figure::Latency,
        comparison: Comparison::Difference,
        required: Required::AtMost(12.0, 6.0),
    },
];

/// A row of the table about an unpaired figure.
struct UnpairedRow {
    work: &'static str,
    group: &'static str,
    name: &'static str,
    /// The figure of the bare process, shown for comparison.
    bare: Option<&'static str>,
    required: Required,
}

/// Figures of the service with default scheduling: without SCHED_FIFO and `/dev/cpu_dma_latency`.
pub(crate) const DEFAULT_P99: &str = "default scheduling: lateness p99, us";
pub(crate) const DEFAULT_CORES: &str = "default scheduling: service cores";
/// Figures of a bare process that sends as many replies at the same instants.
pub(crate) const BARE_P99: &str = "bare process: lateness p99, us";
pub(crate) const BARE_CORES: &str = "bare process: cores";
/// Figures of the service with real-time scheduling.
pub(crate) const LATENESS_P99: &str = "lateness p99, us";
pub(crate) const EXCESS_P99: &str = "lateness p99 in excess of the bare process, us";
pub(crate) const SERVICE_CORES: &str = "service cores";

const UNPAIRED_ROWS: &[UnpairedRow] = &[
    UnpairedRow {
        work: "idle client",
        group: "rest",
        name: "client CPU ms per second",
        bare: None,
        required: Required::AtMost(10.0, 0.0),
    },
    UnpairedRow {
        work: "idle service",
        group: "rest",
        name: "service CPU ms per second",
        bare: None,
        required: Required::AtMost(10.0, 0.0),
    },
    UnpairedRow {
        work: "client, 256 connections x 64",
        group: "memory",
        name: "client MiB",
        bare: None,
        required: Required::AtMost(128.0, 128.0),
    },
    UnpairedRow {
        work: "service, 256 connections x 64",
        group: "memory",
        name: "service MiB without the data",
        bare: None,
        required: Required::AtMost(128.0, 128.0),
    },
    UnpairedRow {
        work: "102,400 delayed replies",
        group: "delayed",
        name: LATENESS_P99,
        bare: Some(BARE_P99),
        required: Required::AtMost(50.0, 50.0),
    },
    UnpairedRow {
        work: "102,400 delayed replies",
        group: "delayed",
        name: EXCESS_P99,
        bare: None,
        required: Required::AtMost(50.0, 0.0),
    },
    UnpairedRow {
        work: "102,400 delayed replies, 8,192/s",
        group: "delayed",
        name: SERVICE_CORES,
        bare: Some(BARE_CORES),
        required: Required::AtMost(0.3, 0.3),
    },
    UnpairedRow {
        work: "102,400 delayed replies",
        group: "delayed",
        name: DEFAULT_P99,
        bare: None,
        required: Required::AtMost(50.0, 50.0),
    },
    UnpairedRow {
        work: "102,400 delayed replies, 8,192/s",
        group: "delayed",
        name: DEFAULT_CORES,
        bare: None,
        required: Required::AtMost(0.3, 0.3),
    },
];

/// A judged number.
#[derive(Clone, Debug)]
pub(crate) struct Judged {
    pub(crate) work: &'static str,
    pub(crate) against: &'static str,
    /// The figure and how it is compared.
    pub(crate) number: String,
    pub(crate) value: f64,
    /// Minimum and maximum of the rounds.
    pub(crate) spread: (f64, f64),
    /// Medians of fourcorners and of the other.
    pub(crate) medians: Option<(f64, f64)>,
    pub(crate) bound: String,
    pub(crate) aim: String,
    passes: bool,
    pub(crate) reaches_aim: bool,
}

impl Judged {
    pub(crate) fn passes(&self) -> bool {
        self.passes
    }

    /// `MISSED`, `met` or `aim reached`; `-` if nothing is required.
    pub(crate) fn verdict(&self) -> &'static str {
        if self.bound == "-" {
            return "-";
        }
        match (self.passes, self.reaches_aim) {
            (false, _) => "MISSED",
            (true, false) => "met",
            (true, true) => "aim reached",
        }
    }
}

/// Judges every row whose trials were all measured; with `group`, only its rows.
pub(crate) fn judge(measurements: &Measurements, group: Option<&str>) -> Vec<Judged> {
    let is_selected = |name: &str| group.is_none_or(|group| group == name);
    let rows = ROWS.iter().filter(|row| is_selected(row.group));
    let unpaired = UNPAIRED_ROWS.iter().filter(|row| is_selected(row.group));
    let rows = rows.filter_map(|row| judge_row(measurements, row));
    rows.chain(unpaired.filter_map(|row| judge_unpaired(measurements, row))).collect()
}

fn judge_row(measurements: &Measurements, row: &Row) -> Option<Judged> {
    let ours = measurements.values(row.group, row.ours, row.figure);
    let other = measurements.values(row.group, row.other, row.figure);
    let compared: Vec<f64> = ours
        .iter()
        .zip(&other)
        .map(|(ours, other)| match row.comparison {
            Comparison::Ratio => ours / other,
            Comparison::Difference => ours - other,
        })
        .collect();
    let value = median(&compared)?;
    let how = if row.comparison == Comparison::Ratio { "ratio" } else { "difference" };
    Some(judged(
        (row.work, row.other),
        format!("{}, {how}", row.figure.name()),
        &compared,
        value,
        median(&ours).zip(median(&other)),
        row.required,
    ))
}

fn judge_unpaired(measurements: &Measurements, row: &UnpairedRow) -> Option<Judged> {
    let of = |name: &str| -> Vec<f64> {
        let all = measurements.unpaired.iter();
        all.filter(|one| one.group == row.group && one.name == name).map(|one| one.value).collect()
    };
    let values = of(row.name);
    let value = median(&values)?;
    let medians = row.bare.and_then(|bare| median(&of(bare))).map(|bare| (value, bare));
    let against = if row.bare.is_some() { "bare" } else { "-" };
    Some(judged((row.work, against), row.name.to_owned(), &values, value, medians, row.required))
}

fn judged(
    (work, against): (&'static str, &'static str),
    number: String,
    values: &[f64],
    value: f64,
    medians: Option<(f64, f64)>,
    required: Required,
) -> Judged {
    let (bound, aim, passes, reaches_aim) = match required {
        Required::AtMost(bound, aim) => {
            (format!("<= {bound}"), format!("<= {aim}"), value <= bound, value <= aim)
        }
        Required::AtLeast(bound, aim) => {
            (format!(">= {bound}"), format!(">= {aim}"), value >= bound, value >= aim)
        }
        Required::Shown => ("-".to_owned(), "-".to_owned(), true, false),
    };
    let min = values.iter().copied().fold(f64::INFINITY, f64::min);
    let max = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let spread = (min, max);
    Judged { work, against, number, value, spread, medians, bound, aim, passes, reaches_aim }
}

/// One line per row, for the terminal.
pub(crate) fn lines(judged: &[Judged]) -> Vec<String> {
    let line = |one: &Judged| {
        let medians = one.medians.map_or(String::new(), |(ours, other)| {
            format!("  fourcorners {ours:.3}, other {other:.3}")
        });
        format!(
            "{:<31} {:<9} {:<34} {:>9.3} ({:.3} to {:.3}){medians}  required {}, aim {}: {}",
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
            latency_us: 1.0,
        }
    }

    #[test]
    fn the_median_ratio_of_the_rounds_is_judged() {
        let mut measurements = Measurements::default();
        for (round, ours) in [(0, 2.6), (1, 1.9), (2, 1.4)] {
            measurements.add("read-8k", "client", round, sample(ours));
            measurements.add("read-8k", "floor", round, sample(1.0));
        }
        let judged = judge(&measurements, Some("read-8k"));
        assert_eq!(judged.len(), 1, "the trials of the other rows were not measured");
        assert_eq!(judged[0].value, 1.9);
        assert_eq!((judged[0].passes(), judged[0].reaches_aim), (true, false));
    }

    #[test]
    fn every_row_names_trials_of_its_group() {
        for row in ROWS {
            let group = super::super::GROUPS.iter().find(|group| group.name == row.group);
            let group = group.unwrap_or_else(|| panic!("no group {}", row.group));
            for name in [row.ours, row.other] {
                assert!(group.trial_names().any(|trial| trial == name), "{}: {name}", row.work);
            }
        }
    }
}
