//! Metrics of other systems, read from their exporters while runs are measured.

/// All stored metrics of other systems.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scraped {
    /// One entry for each exporter.
    pub sources: Vec<ScrapedSource>,
}

/// What one exporter served.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ScrapedSource {
    /// Its address.
    pub url: String,
    /// The successful scrapes, in order.
    pub scrapes: Vec<Scrape>,
    /// How often a scrape failed.
    pub failed: u64,
    /// Why a scrape failed, the last time.
    pub last_failure: Option<String>,
    /// The most samples of one scrape that were not stored because there were too many.
    pub left_out: u64,
    /// The series, in the order of their first sample.
    pub series: Vec<ScrapedSeries>,
}

/// One successful scrape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scrape {
    /// The run during which it was.
    pub run_index: u32,
    /// The interval that had just ended; `None` at the start of the run.
    pub after_interval: Option<u32>,
    /// When the answer arrived, in milliseconds since 1970.
    pub unix_ms: u64,
}

/// One series of values.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ScrapedSeries {
    /// The metric's name.
    pub name: String,
    /// Its labels as the exporter writes them: `device="lo"`.
    pub labels: String,
    /// Whether the value only rises, until it is reset.
    pub is_counter: bool,
    /// The values that differ from the one before.
    pub changes: Vec<Change>,
}

/// A changed value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Change {
    /// The index of its scrape.
    pub scrape: u32,
    /// The value from this scrape on; `None` if the exporter no longer serves the series.
    pub value: Option<f64>,
}

impl ScrapedSeries {
    /// Metric and labels, as an exporter writes them.
    pub fn full_name(&self) -> String {
        match self.labels.is_empty() {
            true => self.name.clone(),
            false => format!("{}{{{}}}", self.name, self.labels),
        }
    }

    /// The value at each of `scrapes` scrapes; `None` where the exporter did not serve the series.
    pub fn values(&self, scrapes: usize) -> impl Iterator<Item = Option<f64>> {
        let mut changes = self.changes.iter().peekable();
        let mut value = None;
        (0..scrapes).map(move |index| {
            while let Some(change) = changes.next_if(|change| change.scrape as usize <= index) {
                value = change.value;
            }
            value
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_series_keeps_its_value_until_it_changes_or_ends() {
        let change = |scrape, value| Change { scrape, value };
        let changes = vec![change(1, Some(5.0)), change(3, Some(6.0)), change(4, None)];
        let series = ScrapedSeries { changes, ..ScrapedSeries::default() };
        let values: Vec<Option<f64>> = series.values(6).collect();
        assert_eq!(values, [None, Some(5.0), Some(5.0), Some(6.0), None, None]);
    }
}
