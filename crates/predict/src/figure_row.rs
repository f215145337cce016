//! Published figures with their predictions, as rows of tables.

use cloud::figure::{Figure, Mix, Protocol, Scope, Value};
use statistics::average::median;

use crate::interval::Interval;
use crate::of_figure::Case;
use crate::parameters::Parameters;
use crate::resource::ResourceKind;

/// Bytes in a KiB.
const KIB: u64 = 1024;
/// Bytes in a MiB.
const MIB: f64 = 1_048_576.0;

/// A figure and its prediction.
#[derive(Clone, Debug)]
pub struct Row {
    /// The figure.
    pub figure: Figure,
    /// The published number, in the figure's unit.
    pub published: f64,
    /// The prediction, in the figure's unit.
    pub predicted: Interval,
    /// The resource that bounds the prediction.
    pub bounded_by: &'static str,
}

impl Row {
    /// Error relative to the published number.
    pub fn error(&self) -> f64 {
        self.predicted.value / self.published - 1.0
    }
}

/// Summary of the errors of some rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Errors {
    /// Number of rows.
    pub count: usize,
    /// Median absolute error.
    pub median: f64,
    /// Largest absolute error.
    pub worst: f64,
    /// Number of rows whose interval contains the published number.
    pub in_interval: usize,
}

impl Errors {
    /// `58 figures: median error 2.6 %, worst 23.0 %`
    pub(crate) fn in_words(&self, of: &str) -> String {
        let (median, worst) = (100.0 * self.median, 100.0 * self.worst);
        format!("{} {of}: median error {median:.1} %, worst {worst:.1} %", self.count)
    }
}

/// All figures that the model covers, in the order of the data.
pub fn rows(figures: &[Figure], parameters: &Parameters) -> Vec<Row> {
    let row = |case: Case| {
        let transfer = case.topology.workloads[0].transfer_bytes as f64;
        let (published, scale) = match case.figure.value {
            Value::Rate(rate) => (rate.get(), 1.0),
            Value::Throughput(rate) => (rate.get() / MIB, transfer / MIB),
            Value::Seconds(s) => (s, 1.0),
        };
        Row {
            published,
            predicted: case.predicted_interval(parameters).times(scale),
            bounded_by: case.bounded_by(parameters).map_or("", ResourceKind::label),
            figure: case.figure,
        }
    };
    figures.iter().filter_map(Case::of).map(row).collect()
}

/// Summary of the errors of rows; `None` without rows.
pub fn errors<'a>(rows: impl IntoIterator<Item = &'a Row>) -> Option<Errors> {
    let (mut sizes, mut in_interval) = (Vec::new(), 0);
    for row in rows {
        sizes.push(row.error().abs());
        in_interval += usize::from(row.predicted.holds(row.published));
    }
    sizes.sort_by(f64::total_cmp);
    let (worst, count) = (*sizes.last()?, sizes.len());
    let median = median(&sizes)?;
    Some(Errors { count, median, worst, in_interval })
}

/// Short description of the measurement.
pub fn what(figure: &Figure) -> String {
    let mut words: Vec<String> = Vec::new();
    let count = |number: u64, one: &str| match number {
        1 => format!("1 {one}"),
        many => format!("{many} {one}s"),
    };
    match figure.scope {
        Scope::Endpoint => words.push("an endpoint".to_owned()),
        Scope::Volume => {
            let kind = figure.volume.map_or("", |kind| kind.name());
            words.push(count(figure.volumes, &format!("{kind} volume")));
            if let Some(endpoints) = figure.endpoints {
                words.push(count(endpoints, "endpoint"));
            }
        }
    }
    match (figure.hosts, &figure.esxi, &figure.vm) {
        (Some(hosts), Some(esxi), _) => words.push(count(hosts, &format!("{esxi} host"))),
        (Some(hosts), None, Some(vm)) => {
            words.push(format!("{hosts} x {}", vm.trim_start_matches("Standard_")));
        }
        (Some(hosts), None, None) => words.push(count(hosts, "host")),
        (None, ..) => {}
    }
    if let (None, Some(nconnect)) = (&figure.esxi, figure.nconnect) {
        words.push(format!("nconnect {nconnect}"));
    }
    if let Some(outstanding) = figure.outstanding {
        words.push(format!("{outstanding} outstanding"));
    }
    if figure.protocol != Protocol::Nfsv3 {
        words.push(figure.protocol.name().to_owned());
    }
    let size = figure.transfer_bytes.map(|bytes| format!("{} KiB", bytes / KIB));
    let access = figure.pattern.map(|access| access.name().to_owned());
    let load: Vec<String> = size.into_iter().chain(access).collect();
    words.extend((!load.is_empty()).then(|| load.join(" ")));
    words.push(match figure.read {
        Mix::Share(share) => format!("{:.0} % reads", 100.0 * share),
        Mix::Peak => "best mix".to_owned(),
        Mix::Average => "mean over mixes".to_owned(),
        Mix::NotStated => "mix not stated".to_owned(),
    });
    match figure.caching {
        Some(true) => words.push("caching included".to_owned()),
        Some(false) => words.push("caching excluded".to_owned()),
        None => {}
    }
    words.join(", ")
}

/// Unit of the published number.
pub(crate) const fn unit(figure: &Figure) -> &'static str {
    match figure.value {
        Value::Rate(_) => "ops/s",
        Value::Throughput(_) => "MiB/s",
        Value::Seconds(_) => "s",
    }
}

/// Three significant digits, with separators for thousands.
pub(crate) fn digits(number: f64) -> String {
    if !(number.is_finite() && number > 0.0) {
        return "-".to_owned();
    }
    let places = 2 - number.log10().floor() as i32;
    if places > 0 {
        return format!("{number:.*}", places as usize);
    }
    let step = 10f64.powi(-places);
    units::thousands(((number / step).round() * step) as u64)
}
