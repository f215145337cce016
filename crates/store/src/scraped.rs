//! Metrics of other systems: the file `scraped` of a run directory, in the form of a journal.
//!
//! It is separate from the journal because the results do not depend on it: if it is damaged, the
//! record has a warning instead. Only changed values are stored; most of an exporter's metrics stay
//! the same from one scrape to the next.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::Path;

use metrics::scraped::{Change, Scrape, Scraped, ScrapedSeries, ScrapedSource};
use metrics::warning::Warning;
use serde::{Deserialize, Serialize};

use crate::Error;
use crate::journal::{self, Journal};
use record::codec::Malformed;
use record::frame::{decode, encode};

/// The file's name in the run directory.
const NAME: &str = "scraped";
/// Series of one exporter that are stored; more are counted.
const SERIES_MAX: usize = 10_000;

// Kinds of frames; never reused.
const SOURCES: u8 = 1;
const SCRAPE: u8 = 2;
const FAILED: u8 = 3;

/// One scrape as stored.
#[derive(Debug, Default, Serialize, Deserialize)]
struct StoredScrape {
    source: u32,
    run_index: u32,
    after_interval: Option<u32>,
    unix_ms: u64,
    /// Name, labels and whether it is a counter; they get the next numbers.
    new_series: Vec<(String, String, bool)>,
    /// Series by number, and their new values; none if the exporter no longer serves them.
    changes: Vec<(u32, Option<f64>)>,
    left_out: u64,
}

/// A scrape that failed.
#[derive(Debug, Serialize, Deserialize)]
struct StoredFailure {
    source: u32,
    reason: String,
}

/// Writes the file while runs are measured.
#[derive(Debug)]
pub struct ScrapedWriter {
    journal: Journal,
    sources: Vec<KnownSeries>,
}

/// The series of a source.
#[derive(Debug, Default)]
struct KnownSeries {
    /// Numbers by name and labels.
    numbers: HashMap<(String, String), u32>,
    /// By number, as stored last.
    values: Vec<Option<f64>>,
}

/// One sample of a scrape.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScrapedSample<'t> {
    /// The metric's name.
    pub name: &'t str,
    /// Its labels, without braces.
    pub labels: &'t str,
    /// Whether the value only rises, until it is reset.
    pub is_counter: bool,
    /// The value.
    pub value: f64,
}

impl ScrapedWriter {
    pub(crate) fn create(directory: &Path, urls: &[String]) -> Result<ScrapedWriter, Error> {
        let mut journal = Journal::create(directory.join(NAME))?;
        journal.append(SOURCES, |out| encode(&urls, out))?;
        let sources = urls.iter().map(|_| KnownSeries::default()).collect();
        Ok(ScrapedWriter { journal, sources })
    }

    /// Stores the samples of a source.
    ///
    /// * `source` - the index of its URL
    ///
    /// # Errors
    /// [`Error::AppendJournal`], [`Error::JournalClosed`].
    pub fn scrape<'t>(
        &mut self,
        source: usize,
        scrape: Scrape,
        samples: impl IntoIterator<Item = ScrapedSample<'t>>,
    ) -> Result<(), Error> {
        let stored = self.sources[source].changes(samples);
        let Scrape { run_index, after_interval, unix_ms } = scrape;
        let stored =
            StoredScrape { source: source as u32, run_index, after_interval, unix_ms, ..stored };
        self.journal.append(SCRAPE, |out| encode(&stored, out))
    }

    /// Stores that a scrape failed.
    ///
    /// # Errors
    /// [`Error::AppendJournal`], [`Error::JournalClosed`].
    pub fn failed(&mut self, source: usize, reason: &str) -> Result<(), Error> {
        let failure = StoredFailure { source: source as u32, reason: reason.to_owned() };
        self.journal.append(FAILED, |out| encode(&failure, out))
    }
}

impl KnownSeries {
    /// New series, and values that differ from those stored last.
    fn changes<'t>(
        &mut self,
        samples: impl IntoIterator<Item = ScrapedSample<'t>>,
    ) -> StoredScrape {
        let mut stored = StoredScrape::default();
        let mut served = vec![false; self.values.len()];
        for ScrapedSample { name, labels, is_counter, value } in samples {
            let key = (name.to_owned(), labels.to_owned());
            let number = match self.numbers.get(&key) {
                Some(number) => *number as usize,
                None if self.values.len() == SERIES_MAX => {
                    stored.left_out += 1;
                    continue;
                }
                None => {
                    let number = self.values.len();
                    stored.new_series.push((key.0.clone(), key.1.clone(), is_counter));
                    self.numbers.insert(key, number as u32);
                    self.values.push(None);
                    served.push(false);
                    number
                }
            };
            served[number] = true;
            let before = self.values[number].replace(value);
            // NaN is not equal to itself.
            if before.map(f64::to_bits) != Some(value.to_bits()) {
                stored.changes.push((number as u32, Some(value)));
            }
        }
        for (number, value) in self.values.iter_mut().enumerate() {
            if !served[number] && value.take().is_some() {
                stored.changes.push((number as u32, None));
            }
        }
        stored
    }
}

/// Reads the file, and what is to be known about it. Without the file there are no sources.
pub(crate) fn load(directory: &Path) -> (Scraped, Vec<Warning>) {
    let path = directory.join(NAME);
    let read = match fs::read(&path) {
        Ok(bytes) => read(&path, &bytes),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Scraped::default()),
        Err(source) => Err(Error::ReadFile { path, source }),
    };
    match read {
        Ok(scraped) => {
            let warnings = scraped.sources.iter().filter_map(failures).collect();
            (scraped, warnings)
        }
        Err(error) => {
            (Scraped::default(), vec![Warning::ScrapedDamaged { reason: error.to_string() }])
        }
    }
}

fn failures(source: &ScrapedSource) -> Option<Warning> {
    let reason = source.last_failure.clone()?;
    let scrapes = source.scrapes.len() as u64 + source.failed;
    Some(Warning::ScrapesFailed { url: source.url.clone(), failed: source.failed, scrapes, reason })
}

fn read(path: &Path, bytes: &[u8]) -> Result<Scraped, Error> {
    let mut scraped = Scraped::default();
    for frame in journal::frames(path, bytes)? {
        add(&mut scraped, frame.kind, frame.payload).map_err(|malformed| {
            Error::DamagedJournal {
                path: path.to_owned(),
                offset_bytes: frame.offset_bytes,
                reason: malformed.0.to_owned(),
            }
        })?;
    }
    Ok(scraped)
}

fn add(scraped: &mut Scraped, kind: u8, payload: &[u8]) -> Result<(), Malformed> {
    match kind {
        SOURCES => {
            let urls: Vec<String> = decode(payload)?;
            let source = |url| ScrapedSource { url, ..ScrapedSource::default() };
            scraped.sources.extend(urls.into_iter().map(source));
        }
        SCRAPE => {
            let stored: StoredScrape = decode(payload)?;
            let source = source_of(scraped, stored.source)?;
            let scrape = source.scrapes.len() as u32;
            source.series.extend(stored.new_series.into_iter().map(
                |(name, labels, is_counter)| ScrapedSeries {
                    name,
                    labels,
                    is_counter,
                    changes: Vec::new(),
                },
            ));
            for (number, value) in stored.changes {
                let series = source.series.get_mut(number as usize);
                let series = series.ok_or(Malformed("a value belongs to no series"))?;
                series.changes.push(Change { scrape, value });
            }
            source.left_out = source.left_out.max(stored.left_out);
            let StoredScrape { run_index, after_interval, unix_ms, .. } = stored;
            source.scrapes.push(Scrape { run_index, after_interval, unix_ms });
        }
        FAILED => {
            let StoredFailure { source, reason } = decode(payload)?;
            let source = source_of(scraped, source)?;
            source.failed += 1;
            source.last_failure = Some(reason);
        }
        _ => return Err(Malformed("this version of fourcorners does not know its kind")),
    }
    Ok(())
}

fn source_of(scraped: &mut Scraped, index: u32) -> Result<&mut ScrapedSource, Malformed> {
    scraped.sources.get_mut(index as usize).ok_or(Malformed("its source is not listed"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(name: &'static str, value: f64) -> ScrapedSample<'static> {
        ScrapedSample { name, labels: "", is_counter: name.ends_with("_total"), value }
    }

    fn scrape(after_interval: Option<u32>) -> Scrape {
        Scrape { run_index: 0, after_interval, unix_ms: 1_000 }
    }

    fn written(directory: &Path) -> ScrapedWriter {
        let urls = ["http://a/".to_owned(), "http://b/".to_owned()];
        let mut writer = ScrapedWriter::create(directory, &urls).unwrap();
        writer.scrape(1, scrape(None), [sample("x_total", 1.0), sample("y", 5.0)]).unwrap();
        writer.failed(0, "connection refused").unwrap();
        writer.scrape(1, scrape(Some(0)), [sample("x_total", 2.0), sample("y", 5.0)]).unwrap();
        writer.scrape(1, scrape(Some(1)), [sample("x_total", 3.0), sample("z", 0.5)]).unwrap();
        writer
    }

    #[test]
    fn values_are_read_as_scraped_and_failures_are_a_warning() {
        let directory = tempfile::tempdir().unwrap();
        drop(written(directory.path()));
        let (scraped, warnings) = load(directory.path());
        let source = &scraped.sources[1];
        assert_eq!(source.scrapes, [scrape(None), scrape(Some(0)), scrape(Some(1))]);
        let series: Vec<(&str, bool, Vec<Option<f64>>)> = source
            .series
            .iter()
            .map(|one| (one.name.as_str(), one.is_counter, one.values(3).collect()))
            .collect();
        assert_eq!(
            series,
            [
                ("x_total", true, vec![Some(1.0), Some(2.0), Some(3.0)]),
                ("y", false, vec![Some(5.0), Some(5.0), None]),
                ("z", false, vec![None, None, Some(0.5)]),
            ]
        );
        // What did not change is not stored again.
        assert_eq!(source.series[1].changes.len(), 2);
        let failed = Warning::ScrapesFailed {
            url: "http://a/".to_owned(),
            failed: 1,
            scrapes: 1,
            reason: "connection refused".to_owned(),
        };
        assert_eq!(warnings, [failed]);
    }

    #[test]
    fn a_damaged_file_is_a_warning_and_a_truncated_one_keeps_its_beginning() {
        let directory = tempfile::tempdir().unwrap();
        drop(written(directory.path()));
        let path = directory.path().join(NAME);
        let whole = fs::read(&path).unwrap();
        fs::write(&path, &whole[..whole.len() - 1]).unwrap();
        assert_eq!(load(directory.path()).0.sources[1].scrapes.len(), 2);
        let mut flipped = whole.clone();
        flipped[40] ^= 1;
        fs::write(&path, &flipped).unwrap();
        let (scraped, warnings) = load(directory.path());
        assert_eq!(scraped, Scraped::default());
        assert!(matches!(warnings.as_slice(), [Warning::ScrapedDamaged { .. }]), "{warnings:?}");
    }

    #[test]
    fn series_beyond_the_limit_are_counted() {
        let mut known = KnownSeries::default();
        let names: Vec<String> = (0..SERIES_MAX + 7).map(|n| format!("m{n}")).collect();
        let samples = || {
            names.iter().map(|name| ScrapedSample {
                name,
                labels: "",
                is_counter: false,
                value: 1.0,
            })
        };
        let first = known.changes(samples());
        assert_eq!((first.new_series.len(), first.left_out), (SERIES_MAX, 7));
        let second = known.changes(samples());
        assert_eq!((second.new_series.len(), second.changes.len(), second.left_out), (0, 0, 7));
    }
}
