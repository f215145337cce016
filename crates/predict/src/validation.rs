//! The model beside every figure it can say something about: `docs/validation.md`.
//!
//! For: seeing how far off the model is, row by row, with what contradicts what. `cargo run -p
//! predict --example validation` prints the page, a test holds the one in the tree to it.

use std::fmt::Write;

use cloud::figure::{Figure, Mix, Protocol, Qualifier, Role, Scope, Value};

use crate::interval::Interval;
use crate::of_figure::Case;
use crate::parameters::{Parameter, Parameters, Per};
use crate::resource::ResourceKind;
use crate::{contradictions, coverage, documents};

/// Bytes in a KiB.
const KIB: u64 = 1024;
/// Bytes in a MiB.
const MIB: f64 = 1_048_576.0;

/// A figure and what the model says in its place.
#[derive(Clone, Debug)]
pub struct Row {
    /// The figure.
    pub figure: Figure,
    /// In the figure's unit.
    pub published: f64,
    /// In the figure's unit.
    pub predicted: Interval,
    /// What bounds the prediction.
    pub bounded_by: &'static str,
}

impl Row {
    /// How far off, as a share of what was published.
    pub fn error(&self) -> f64 {
        self.predicted.value / self.published - 1.0
    }
}

/// What the errors of some rows come to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Errors {
    /// Rows.
    pub count: usize,
    /// The middle of the errors' sizes.
    pub median: f64,
    /// The largest.
    pub worst: f64,
    /// Rows whose published number lies in the interval.
    pub in_interval: usize,
}

impl Errors {
    /// `58 figures: median error 2.6 %, worst 23.0 %`
    pub(crate) fn in_words(&self, of: &str) -> String {
        let (median, worst) = (100.0 * self.median, 100.0 * self.worst);
        format!("{} {of}: median error {median:.1} %, worst {worst:.1} %", self.count)
    }
}

/// All figures that the model can say something about, in the order of the data.
pub fn rows(figures: &[Figure], parameters: &Parameters) -> Vec<Row> {
    let row = |case: Case| {
        let transfer = case.topology.workloads[0].transfer_bytes as f64;
        let (published, scale) = match case.figure.value {
            Value::OpsPerSec(rate) => (rate, 1.0),
            Value::BytesPerSec(rate) => (rate / MIB, transfer / MIB),
            Value::Seconds(s) => (s, 1.0),
        };
        Row {
            published,
            predicted: case.predicted_interval(parameters).times(scale),
            bounded_by: case.bounded_by(parameters).map_or("", ResourceKind::short),
            figure: case.figure,
        }
    };
    figures.iter().filter_map(Case::of).map(row).collect()
}

/// The errors of rows; `None` where there are none.
pub fn errors<'a>(rows: impl IntoIterator<Item = &'a Row>) -> Option<Errors> {
    let (mut sizes, mut in_interval) = (Vec::new(), 0);
    for row in rows {
        sizes.push(row.error().abs());
        in_interval += usize::from(row.predicted.holds(row.published));
    }
    sizes.sort_by(f64::total_cmp);
    let (worst, count) = (*sizes.last()?, sizes.len());
    let median = coverage::median(sizes)?;
    Some(Errors { count, median, worst, in_interval })
}

/// The whole page.
pub fn page(figures: &[Figure]) -> String {
    let parameters = Parameters::calibrated(figures);
    let rows = rows(figures, &parameters);
    let of = |role| rows.iter().filter(move |row| row.figure.role == role);
    let mut out = String::from(HEAD);
    out.push_str(&coverage::section(&coverage::left_out(figures)));
    out.push_str(&documents::section(figures, &rows, &parameters));
    for (title, role) in [("Calibration", Role::Calibration), ("Validation", Role::Validation)] {
        let errors = errors(of(role));
        let _ = writeln!(out, "## {title}\n");
        if let Some(errors) = errors {
            let in_interval = errors.in_interval;
            let words = errors.in_words("figures");
            let _ = writeln!(out, "{words}; {in_interval} lie in the interval.\n");
        }
        if role == Role::Validation {
            out.push_str(&contradictions::section(figures, &rows, &parameters));
        }
        table(of(role), &mut out);
    }
    out.push_str("## Not predicted\n\n");
    for figure in figures.iter().filter(|figure| figure.role == Role::Context) {
        let why = figure.why_context.as_deref().unwrap_or_default();
        let _ = writeln!(out, "- {}: {why}", figure.id);
    }
    out.push_str("\n## The numbers of the model\n\n| demand of | value | 90 % interval |\n");
    out.push_str("| :-- | --: | --: |\n");
    for parameter in Parameter::ALL {
        let of = parameters.interval(*parameter);
        let (factor, unit) = match parameter.per() {
            Per::Call => (1e6, "us"),
            Per::Byte => (1e9, "ns"),
            Per::Power => (1.0, ""),
        };
        let [low, value, high] = [of.low, of.value, of.high].map(|s| digits(s * factor));
        let words = parameter.words();
        let _ = writeln!(out, "| {words} | {value} {unit} | {low} .. {high} |");
    }
    out
}

const HEAD: &str = "\
# The model beside published figures

Made by `cargo run -p predict --example validation > docs/validation.md`; a test holds it to the
code. Each figure of `data/published.toml` that `predict` can say something about, with what it
says. Only the figures under Calibration fit the model; those under Validation test it. How:
[method.md](method.md#prediction).

A prediction is the rate at as many operations outstanding as the connections have slots for, unless
the figure says how many there were. In brackets: the 90 % interval. `over`: the source says that
it was more than the number.

";

fn table<'a>(rows: impl Iterator<Item = &'a Row>, out: &mut String) {
    out.push_str("| figure | what | published | predicted | error | bounded by | contradicts |\n");
    out.push_str("| :-- | :-- | --: | --: | --: | :-- | :-- |\n");
    for row in rows {
        let figure = &row.figure;
        let unit = unit(figure);
        let over = if figure.qualifier == Qualifier::Over { "over " } else { "" };
        let [low, value, high] =
            [row.predicted.low, row.predicted.value, row.predicted.high].map(digits);
        let _ = writeln!(
            out,
            "| {} | {} | {over}{} {unit} | {value} [{low}..{high}] | {:+.1} % | {} | {} |",
            figure.id,
            what(figure),
            digits(row.published),
            100.0 * row.error(),
            row.bounded_by,
            figure.contradicts.join(", ")
        );
    }
    out.push('\n');
}

/// What was measured, in a few words.
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

/// What the published number is in.
pub(crate) const fn unit(figure: &Figure) -> &'static str {
    match figure.value {
        Value::OpsPerSec(_) => "ops/s",
        Value::BytesPerSec(_) => "MiB/s",
        Value::Seconds(_) => "s",
    }
}

/// Three digits, thousands apart.
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
