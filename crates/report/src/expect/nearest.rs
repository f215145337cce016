//! What to expect of a configuration in one sentence, and the nearest published figures in one table.

use cloud::figure::{Access, Figure, Value};
use predict::expect::Near;
use predict::figure_row::what;
use units::Bytes;

use super::{Expectation, published_value, title};
use crate::model::quantity::{Quantity, range};
use crate::number::{NONE, percent, plain, whole};
use crate::table::{Column, Table};

/// Figures of each load if there are several loads.
const OF_SEVERAL: usize = 1;

/// The figures of a load that the table shows.
pub(super) fn shown(of: &Expectation, is_single: bool) -> &[Near] {
    let most = if is_single { usize::MAX } else { OF_SEVERAL };
    &of.near[..of.near.len().min(most)]
}

/// `Expect 140,000 to 194,000 IOPS; published: 200,000 on D32s_v4 with 4 KiB (A61).`
///
/// * `is_named` - with the load, because there are others
pub(crate) fn sentence(of: &Expectation, is_named: bool) -> String {
    let near = of.near.iter().find(|near| Quantity::of_figure(near.figure.value).is_some());
    let by_pattern = || Quantity::of([of.configuration.access]);
    let quantity = near.and_then(|near| Quantity::of_figure(near.figure.value));
    let quantity = quantity.unwrap_or_else(by_pattern);
    let load = match &of.measured {
        Some(measured) => format!(" for {}", measured.variant),
        None if is_named => format!(" for {}", title(&of.configuration)),
        None => String::new(),
    };
    let point = of.curve.as_ref().and_then(|curve| curve.requested.as_ref());
    let expected = match point {
        Some(point) => {
            let range = range(quantity.interval(point), |number| quantity.print(number));
            format!("Expect {range} {}{load}", quantity.unit())
        }
        None => format!(
            "Not modelled{load}: {}. Only published figures are shown",
            of.configuration.protocol.name().to_uppercase()
        ),
    };
    let published = match near {
        Some(near) => {
            let unit =
                if point.is_none() { format!(" {}", quantity.unit()) } else { String::new() };
            let figure = &near.figure;
            let derived = if near.is_derived() { ", derived" } else { "" };
            let (amount, location) = (amount(figure), location(figure));
            format!("; published: {amount}{unit}{location} ({}{derived})", figure.id)
        }
        None => "; nothing comparable is published".to_owned(),
    };
    let measured = of.measured.as_ref().map_or_else(String::new, |measured| {
        let own = quantity.of_ops(measured.rate.get(), of.configuration.transfer_bytes);
        format!("; measured: {}", quantity.print(own))
    });
    format!("{expected}{published}{measured}.")
}

/// The published number without its unit.
fn amount(figure: &Figure) -> String {
    match figure.value {
        Value::Rate(rate) => whole(rate.get()),
        Value::Throughput(rate) => plain(rate.as_mib()),
        Value::Seconds(_) => published_value(figure),
    }
}

/// ` on 6 x D32s_v4 with 4 KiB`
fn location(figure: &Figure) -> String {
    let vm = figure.vm.as_deref().map(|name| name.trim_start_matches("Standard_"));
    let on = match (figure.hosts, &figure.esxi, vm) {
        (Some(hosts), Some(esxi), _) => format!(" on {hosts} x {esxi}"),
        (Some(2..), None, Some(vm)) => format!(" on {} x {vm}", figure.hosts.unwrap_or(1)),
        (_, None, Some(vm)) => format!(" on {vm}"),
        (Some(hosts), None, None) => format!(" on {}", units::counted(hosts, "host")),
        _ => String::new(),
    };
    let size = figure.transfer_bytes.map(|bytes| format!(" with {}", Bytes::new(bytes)));
    format!("{on}{}", size.unwrap_or_default())
}

/// The nearest figures of each load: several for one load, otherwise the nearest of each.
pub(crate) fn table(all: &[Expectation]) -> Table {
    let is_single = all.len() == 1;
    let has_measured = all.iter().any(|of| of.measured.is_some());
    let row = |of: &Expectation, near: &Near| {
        let size = of.configuration.transfer_bytes;
        let mut cells = Vec::new();
        if !is_single {
            cells.push(load(of));
        }
        cells.extend([near.figure.id.clone(), published_value(&near.figure)]);
        let here = near.here.zip(Quantity::of_figure(near.figure.value));
        cells.push(here.map_or_else(
            || NONE.to_owned(),
            |(rate, quantity)| {
                let number = quantity.of_ops(rate.get(), size);
                format!("{} {}", quantity.print(number), quantity.unit())
            },
        ));
        if has_measured {
            let rates = of.measured.as_ref().and_then(|measured| near.rates(measured.rate, size));
            cells.push(rates.map_or_else(|| NONE.to_owned(), |rates| percent(rates.ratio())));
        }
        cells.push(what(&near.figure));
        cells
    };
    let of_load = |of: &Expectation| -> Vec<Vec<String>> {
        shown(of, is_single).iter().map(|near| row(of, near)).collect()
    };
    let mut columns = Vec::new();
    if !is_single {
        columns.push(Column::words("load"));
    }
    columns.extend([
        Column::words("figure"),
        Column::numbers("published", ""),
        Column::numbers("adjusted", "to this"),
    ]);
    if has_measured {
        columns.push(Column::numbers("reached", ""));
    }
    columns.push(Column::words("configuration").dispensable(1));
    Table { caption: String::new(), columns, rows: all.iter().flat_map(of_load).collect() }
}

/// `rand read 8 KiB`
fn load(of: &Expectation) -> String {
    let configuration = &of.configuration;
    let access = match configuration.access {
        Access::Random => "rand",
        Access::Sequential => "seq",
    };
    let size = Bytes::new(configuration.transfer_bytes);
    let mix = match configuration.read {
        1.0 => "read".to_owned(),
        0.0 => "write".to_owned(),
        read => format!("{:.0} % read", 100.0 * read),
    };
    format!("{access} {mix} {size}")
}
