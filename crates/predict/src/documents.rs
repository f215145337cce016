//! The tables of the documents that the product grew from, cell by cell, beside the model.
//!
//! For: the first section of `docs/validation.md`. A document's table is the figures that name it
//! (`table` in `data/published.toml`); those that its text does not give, because they stand in
//! pictures only, are predicted all the same, without a number beside them.

use std::fmt::Write;

use cloud::figure::{Access, Figure, Mix, Qualifier, Role, Table, Value};
use cloud::row::Status;

use crate::of_figure::Case;
use crate::parameters::Parameters;
use crate::validation::{Row, digits, errors, unit, what};

/// Bytes in a MiB.
const MIB: f64 = 1_048_576.0;
/// Steps from all reads to all writes in the documents' pictures.
const STEPS: u32 = 10;

const HEAD: &str = "\
## The tables of the documents

Every number of the four tables that the documents state in words. Cells that *fit* are among those
that the model was fitted to; those that *test* are not.

";

const PICTURES: &str = "\
The documents have these ranges, in steps of ten percent, as pictures; their texts give the ends
only, here in parentheses. Between the ends nothing is published in words for these configurations;
A34 and A35 above are means over all eleven mixes, B17 and B18 below half reads and half writes.

";

/// Rows that are a cell of one of the documents' tables.
pub fn cells(rows: &[Row]) -> impl Iterator<Item = &Row> {
    rows.iter().filter(|row| row.figure.table.is_some())
}

/// The whole section.
pub(crate) fn section(figures: &[Figure], rows: &[Row], parameters: &Parameters) -> String {
    let mut out = String::from(HEAD);
    if let Some(errors) = errors(cells(rows)) {
        let _ = writeln!(out, "{}.\n", errors.in_words("cells"));
    }
    for table in Table::ALL {
        let _ = writeln!(out, "### {}\n", title(table));
        let mut of: Vec<&Row> = cells(rows).filter(|row| row.figure.table == Some(table)).collect();
        of.sort_by_key(|row| place(&row.figure));
        if let Some(errors) = errors(of.iter().copied()) {
            let _ = writeln!(out, "{}.\n", errors.in_words("cells"));
        }
        cells_of(&of, &mut out);
    }
    out.push_str("### From all reads to all writes, predicted\n\n");
    out.push_str(PICTURES);
    ranges(figures, parameters, &mut out);
    out
}

const fn title(table: Table) -> &'static str {
    match table {
        Table::HostsAndDatastores => "VMware: connections are hosts x datastores",
        Table::Connections => "One D32s_v3: one connection and sixteen",
        Table::Range => "One regular volume: from all reads to all writes",
        Table::LargeVolume => "One large volume: twelve hosts, and one host",
    }
}

/// Like beside like: pattern, then reads before writes, then the smaller system first.
fn place(figure: &Figure) -> (u8, u32, u64, u64, u64, u64) {
    let pattern = match figure.pattern {
        Some(Access::Random) => 0,
        Some(Access::Sequential) | None => 1,
    };
    let mix = match figure.read {
        Mix::Share(share) => (100.0 * (1.0 - share)) as u32,
        Mix::Peak | Mix::Average | Mix::NotStated => 0,
    };
    let hosts = figure.hosts.unwrap_or(0);
    let volumes = figure.volumes;
    (pattern, mix, hosts, volumes, figure.guests.unwrap_or(0), figure.nconnect.unwrap_or(0))
}

fn cells_of(rows: &[&Row], out: &mut String) {
    out.push_str("| cell | published | predicted | error | | figure |\n");
    out.push_str("| :-- | --: | --: | --: | :-- | :-- |\n");
    for row in rows {
        let figure = &row.figure;
        let over = if figure.qualifier == Qualifier::Over { "over " } else { "" };
        let used = if figure.role == Role::Calibration { "fits" } else { "tests" };
        let flows =
            Case::of(figure).map_or(0, |case| case.topology.flows(&case.topology.workloads[0]));
        let cell = match figure.table {
            Some(Table::HostsAndDatastores) => {
                format!(
                    "{flows} connection{}: {}",
                    if flows == 1 { "" } else { "s" },
                    guests(figure)
                )
            }
            _ => what(figure),
        };
        let _ = writeln!(
            out,
            "| {cell} | {over}{published} {unit} | {predicted} {unit} | {:+.1} % | {used} | {} |",
            100.0 * row.error(),
            figure.id,
            published = digits(row.published),
            predicted = digits(row.predicted.value),
            unit = unit(figure),
        );
    }
    out.push('\n');
}

/// What was measured, with the machines that did it where they are few.
fn guests(figure: &Figure) -> String {
    let guests = match figure.guests {
        Some(1) => ", 1 machine on each host".to_owned(),
        Some(many) => format!(", {many} machines on each host"),
        None => String::new(),
    };
    format!("{}{guests}", what(figure))
}

/// Configurations whose ends are published, by their mixes.
fn ranges(figures: &[Figure], parameters: &Parameters, out: &mut String) {
    let mut ends: Vec<(&Figure, &Figure)> = figures
        .iter()
        .filter(|figure| figure.role == Role::Calibration && figure.hosts.is_some_and(|n| n > 1))
        .filter(|figure| figure.table.is_some() && figure.read == Mix::Share(1.0))
        .filter(|figure| figure.origin.status == Status::Current)
        .filter_map(|reads| {
            let writes = figures.iter().find(|other| {
                let same = Figure { read: reads.read, ..(*other).clone() };
                other.read == Mix::Share(0.0) && is_same(&same, reads)
            })?;
            Some((reads, writes))
        })
        .collect();
    // Of two sources that say the same of one configuration the first.
    let mut said: Vec<String> = Vec::new();
    ends.retain(|(reads, _)| {
        let words = what(reads);
        let is_new = !said.contains(&words);
        said.push(words);
        is_new
    });
    out.push_str("| reads |");
    for (reads, _) in &ends {
        let without_mix = what(reads);
        let words = without_mix.trim_end_matches(", 100 % reads");
        let _ = write!(out, " {words}, {} |", unit(reads));
    }
    let _ = writeln!(out, "\n| --: |{}", " --: |".repeat(ends.len()));
    for step in (0..=STEPS).rev() {
        let share = f64::from(step) / f64::from(STEPS);
        let _ = write!(out, "| {:.0} % |", 100.0 * share);
        for (reads, writes) in &ends {
            let published = match step {
                0 => format!(" ({}: {})", digits(number(writes)), writes.id),
                STEPS => format!(" ({}: {})", digits(number(reads)), reads.id),
                _ => String::new(),
            };
            let _ = write!(out, " {}{published} |", digits(at_mix(reads, share, parameters)));
        }
        out.push('\n');
    }
    out.push('\n');
}

/// Whether two figures are of one configuration, by one source.
fn is_same(one: &Figure, other: &Figure) -> bool {
    let key = |figure: &Figure| {
        let what = what(figure);
        (what, figure.call_bytes, figure.origin.source.clone())
    };
    key(one) == key(other)
}

/// In the unit that the figure is stated in.
fn number(figure: &Figure) -> f64 {
    match figure.value {
        Value::OpsPerSec(rate) => rate,
        Value::BytesPerSec(rate) => rate / MIB,
        Value::Seconds(s) => s,
    }
}

/// What the model says of a figure's configuration with another share of reads.
fn at_mix(figure: &Figure, share: f64, parameters: &Parameters) -> f64 {
    let asked = Figure { read: Mix::Share(share), ..figure.clone() };
    let Some(case) = Case::of(&asked) else { return f64::NAN };
    let bytes = case.topology.workloads[0].transfer_bytes as f64;
    let ops = case.predicted_ops_per_s(parameters);
    match figure.value {
        Value::BytesPerSec(_) => ops * bytes / MIB,
        Value::OpsPerSec(_) | Value::Seconds(_) => ops,
    }
}
