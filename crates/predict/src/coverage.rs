//! Coverage: how many published figures are in the interval predicted without their document.
//!
//! For: the true coverage of intervals that should contain nine in ten figures, in
//! `docs/validation.md` and with every prediction. Nothing of a left-out document is used, neither
//! for the fit nor for the errors that determine the interval ([`crate::spread`]).

use std::collections::BTreeMap;
use std::fmt::Write;

use cloud::figure::{Figure, Value};
use statistics::average::median;

use crate::calibrate::{Published, START_BYTE_S, START_CALL_S};
use crate::cross_validation::{LeftOut, Quantity, predicted};
use crate::figure_row::{digits, what};
use crate::of_figure::Case;
use crate::parameters::Parameters;
use crate::spread::Spread;

/// Bytes in a MiB.
const MIB: f64 = 1_048_576.0;
/// Milliseconds in a second.
const MS_PER_S: f64 = 1e3;
/// Errors of at least this share of the published number are listed individually.
const FAR_OFF: f64 = 0.25;
/// The two-sided 95 % point of the standard normal distribution.
const Z_95: f64 = 1.96;

/// Coverage of some figures.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Coverage {
    /// Number of figures in their interval.
    pub inside: usize,
    /// Number of figures.
    pub count: usize,
    /// The median of the intervals' upper ends over their lower ones.
    pub width: f64,
}

impl Coverage {
    /// Coverage of the embedded figures' rates. A test compares it with the computation, which
    /// takes too long for each program start.
    pub const RATES: Coverage = Coverage { inside: 84, count: 93, width: 2.62 };
    /// Coverage of the embedded figures' response times.
    pub const LATENCIES: Coverage = Coverage { inside: 9, count: 10, width: 14.0 };

    /// Coverage of some figures; `None` without figures.
    pub fn of<'a>(all: impl IntoIterator<Item = &'a LeftOut>) -> Option<Coverage> {
        let (mut widths, mut inside) = (Vec::new(), 0);
        for one in all {
            widths.push(one.predicted.width());
            inside += usize::from(one.is_inside());
        }
        let count = widths.len();
        Some(Coverage { inside, count, width: median(&widths)? })
    }

    /// The share of figures in their interval, 0 to 1.
    pub fn share(&self) -> f64 {
        self.inside as f64 / self.count as f64
    }

    /// Half-width of the share's 95 % interval, by the normal approximation of the binomial
    /// distribution. The true one is larger, because errors within a document are correlated.
    fn uncertainty(&self) -> f64 {
        let share = self.share();
        Z_95 * (share * (1.0 - share) / self.count as f64).sqrt()
    }

    /// `97 of 108 (90 %)`
    pub fn in_words(&self) -> String {
        format!("{} of {} ({:.0} %)", self.inside, self.count, 100.0 * self.share())
    }
}

/// Every published number, predicted without its document.
pub fn left_out(figures: &[Figure]) -> Vec<LeftOut> {
    let cases: Vec<Case> = figures.iter().filter_map(Case::of).collect();
    let published = Published::of(&cases, figures);
    let mut all = Vec::new();
    for document in published.documents() {
        let (own, others) = published.split(document);
        let parameters = Parameters::fitted(&others, START_CALL_S, START_BYTE_S);
        all.extend(predicted(&own, &parameters.with_spread(Spread::of(&others))));
    }
    all
}

const HEAD: &str = "\
## Coverage by left-out document

This section shows the coverage of the intervals. Each document in turn is left out: the model is
fitted to all others, its intervals come from the errors of all others (each of which is in turn
left out of the rest), and then the document's figures are predicted. The SMB figures of SQL Server
are included, because hosts of 4, 8 and 16 processors are fitted to them; their response times are
those of SQL Server and are not included. Some documents repeat numbers of older ones, which are
therefore easier to predict.

";

/// The section of `docs/validation.md`.
pub(crate) fn section(all: &[LeftOut]) -> String {
    let mut out = String::from(HEAD);
    for (words, quantity) in [
        ("Rates", Some(Quantity::Rate)),
        ("Response times", Some(Quantity::Latency)),
        ("Together", None),
    ] {
        let of = all.iter().filter(|one| quantity.is_none_or(|of| one.quantity == of));
        if let Some(coverage) = Coverage::of(of) {
            let _ = writeln!(
                out,
                "- {words}: {} +- {:.0} % in their 90 % interval, median width {:.2} (upper over \
                 lower end).",
                coverage.in_words(),
                100.0 * coverage.uncertainty(),
                coverage.width
            );
        }
    }
    out.push_str(
        "\n| document | rates inside | median error | median width | response times inside | \
         median width |\n| :-- | --: | --: | --: | --: | --: |\n",
    );
    let mut documents: BTreeMap<&str, Vec<&LeftOut>> = BTreeMap::new();
    for one in all {
        documents.entry(one.figure.document()).or_default().push(one);
    }
    for (document, of) in &documents {
        let by = |quantity| of.iter().copied().filter(move |one| one.quantity == quantity);
        let cells = |coverage: Option<Coverage>| match coverage {
            Some(Coverage { inside, count, width }) => {
                (format!("{inside} of {count}"), format!("{width:.2}"))
            }
            None => ("-".to_owned(), "-".to_owned()),
        };
        let error = median(&by(Quantity::Rate).map(|one| one.error().abs()).collect::<Vec<f64>>());
        let error = error.map_or("-".to_owned(), |error| format!("{:.1} %", 100.0 * error));
        let (rates, rate_width) = cells(Coverage::of(by(Quantity::Rate)));
        let (times, time_width) = cells(Coverage::of(by(Quantity::Latency)));
        let _ = writeln!(
            out,
            "| {document} | {rates} | {error} | {rate_width} | {times} | {time_width} |"
        );
    }
    let _ = writeln!(
        out,
        "\nEvery figure with an error above {:.0} % or outside its interval:\n\n| \
         figure | what | published | predicted without its document | error | inside | distance \
         |\n| :-- | :-- | --: | --: | --: | :-- | --: |",
        100.0 * FAR_OFF
    );
    for one in all.iter().filter(|one| one.error().abs() > FAR_OFF || !one.is_inside()) {
        let (scale, unit) = unit(one);
        let [published, low, value, high] =
            [one.published, one.predicted.low, one.predicted.value, one.predicted.high]
                .map(|number| digits(number * scale));
        let _ = writeln!(
            out,
            "| {} | {} | {published} {unit} | {value} [{low}..{high}] | {:+.1} % | {} | {:.2} |",
            one.figure.id,
            what(&one.figure),
            100.0 * one.error(),
            if one.is_inside() { "yes" } else { "no" },
            one.distance
        );
    }
    out.push('\n');
    out
}

/// The unit of a number, with its factor.
fn unit(one: &LeftOut) -> (f64, &'static str) {
    match (one.quantity, one.figure.value) {
        (Quantity::Latency, _) => (MS_PER_S, "ms"),
        (Quantity::Rate, Value::Throughput(rate)) => (rate.get() / MIB / one.published, "MiB/s"),
        (Quantity::Rate, Value::Rate(_) | Value::Seconds(_)) => (1.0, "ops/s"),
    }
}
