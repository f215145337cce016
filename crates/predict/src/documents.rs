//! The tables of the two documents of reference, cell by cell, with the model's predictions.
//!
//! For: the first section of `docs/validation.md`. A document's table contains the figures that
//! name it (`table` in `data/published.toml`). Figures that are in the document's pictures only are
//! predicted as well, without a published number.

use std::fmt::Write;

use cloud::figure::{Access, Figure, Mix, Qualifier, Role, Table, Value};
use cloud::row::Status;

use crate::figure_row::{Row, digits, errors, unit, what};
use crate::of_figure::Case;
use crate::parameters::Parameters;

/// Bytes in a MiB.
const MIB: f64 = 1_048_576.0;
/// Steps from all reads to all writes in the documents' pictures.
const STEPS: u32 = 10;

const HEAD: &str = "\
## The tables of the documents

This section lists every number that the documents state in the text of their four tables. The model
is fitted to the cells marked *fits*; the cells marked *tests* test it.

";

const PICTURES: &str = "\
The documents show these ranges as pictures, in steps of ten percent; their texts state the ends
only, which are here in parentheses. Between the ends no text states a number for these
configurations. A34 and A35 above are means over all eleven mixes, B17 and B18 below are half reads
and half writes.

";

/// Rows for cells of the documents' tables.
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
        of.sort_by_key(|row| sort_key(&row.figure));
        if let Some(errors) = errors(of.iter().copied()) {
            let _ = writeln!(out, "{}.\n", errors.in_words("cells"));
        }
        cells_of(&of, &mut out);
    }
    out.push_str("### Predictions from only reads to only writes\n\n");
    out.push_str(PICTURES);
    ranges(figures, parameters, &mut out);
    out
}

const fn title(table: Table) -> &'static str {
    match table {
        Table::HostsAndDatastores => "VMware: one connection per host and datastore",
        Table::Connections => "One D32s_v3: one connection and sixteen",
        Table::Range => "One regular volume: from only reads to only writes",
        Table::LargeVolume => "One large volume: twelve hosts, and one host",
    }
}

/// Order of rows: by pattern, then reads before writes, then the smaller system first.
fn sort_key(figure: &Figure) -> (u8, u32, u64, u64, u64, u64) {
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

/// What was measured, with the machines if they are few.
fn guests(figure: &Figure) -> String {
    let guests = match figure.guests {
        Some(1) => ", 1 machine on each host".to_owned(),
        Some(many) => format!(", {many} machines on each host"),
        None => String::new(),
    };
    format!("{}{guests}", what(figure))
}

/// Configurations with published figures for only reads and only writes.
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
    // Of two sources with the same configuration, use the first.
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

/// Whether two figures have the same configuration and source.
fn is_same(one: &Figure, other: &Figure) -> bool {
    let key = |figure: &Figure| {
        let what = what(figure);
        (what, figure.call_bytes, figure.origin.source.clone())
    };
    key(one) == key(other)
}

/// The number in the figure's unit.
fn number(figure: &Figure) -> f64 {
    match figure.value {
        Value::Rate(rate) => rate.get(),
        Value::Throughput(rate) => rate.get() / MIB,
        Value::Seconds(s) => s,
    }
}

/// The prediction for a figure's configuration with another share of reads.
fn at_mix(figure: &Figure, share: f64, parameters: &Parameters) -> f64 {
    let changed = Figure { read: Mix::Share(share), ..figure.clone() };
    let Some(case) = Case::of(&changed) else { return f64::NAN };
    let bytes = case.topology.workloads[0].transfer_bytes as f64;
    let ops = case.predicted_ops_per_s(parameters);
    match figure.value {
        Value::Throughput(_) => ops * bytes / MIB,
        Value::Rate(_) | Value::Seconds(_) => ops,
    }
}
