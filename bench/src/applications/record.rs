//! The record of a comparison: every figure of both sides, as CSV.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::reasons::reason;
use super::shape::{Shape, Unit};
use crate::folder::{Folder, quoted};

/// The name of the folder, after its date and machine.
pub(crate) const NAME: &str = "applications";
/// A larger difference needs a reason.
pub(crate) const TOLERANCE_PERCENT: f64 = 15.0;
/// A kind with a smaller share on both sides is not compared.
const SHARE_MIN_PERCENT: f64 = 2.0;
const FIGURES: &str = "figures.csv";
const SETTINGS: &str = "settings.csv";

/// All applications.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Record {
    /// The machine, the version and the limit, one line each.
    pub(crate) about: Vec<String>,
    pub(crate) applications: Vec<Compared>,
}

/// An application and its profile.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Compared {
    pub(crate) name: String,
    /// The profile.
    pub(crate) offered: String,
    pub(crate) version: String,
    pub(crate) settings: String,
    pub(crate) command: String,
    /// What was observed of both, in words.
    pub(crate) sizes: [String; 2],
    pub(crate) rows: Vec<Row>,
}

/// A figure of both sides; `None` where there is none.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Row {
    pub(crate) figure: String,
    pub(crate) unit: Unit,
    pub(crate) real: Option<f64>,
    pub(crate) offered: Option<f64>,
}

/// The figures of two shapes, without kinds that are rare in both.
pub(crate) fn rows(real: &Shape, offered: &Shape) -> Vec<Row> {
    let mut rows: Vec<Row> = real
        .figures
        .iter()
        .map(|figure| Row {
            figure: figure.name.clone(),
            unit: figure.unit,
            real: Some(figure.value),
            offered: offered.get(&figure.name),
        })
        .collect();
    for (at, figure) in offered.figures.iter().enumerate() {
        if real.get(&figure.name).is_none() {
            let row = Row {
                figure: figure.name.clone(),
                unit: figure.unit,
                real: None,
                offered: Some(figure.value),
            };
            rows.insert(at.min(rows.len()), row);
        }
    }
    let is_rare = |share: Option<f64>| share.unwrap_or(0.0) < SHARE_MIN_PERCENT;
    rows.retain(|row| row.unit != Unit::Percent || !is_rare(row.real) || !is_rare(row.offered));
    rows
}

impl Row {
    /// The profile's figure compared with the application's, in percent of the latter; `None` if one
    /// of them is missing or the application's is zero.
    pub(crate) fn difference_percent(&self) -> Option<f64> {
        let real = self.real.filter(|real| *real > 0.0)?;
        Some((self.offered? / real - 1.0) * 100.0)
    }

    /// Whether it needs a reason.
    pub(crate) fn differs(&self) -> bool {
        self.difference_percent().is_none_or(|percent| percent.abs() > TOLERANCE_PERCENT)
    }
}

impl Record {
    /// Differences without a reason.
    pub(crate) fn unexplained(&self) -> Vec<String> {
        let of = |one: &Compared| {
            let missing = one.rows.iter().filter(|row| row.differs());
            let missing = missing.filter(|row| reason(&one.name, row).is_none());
            missing.map(|row| format!("{}: {}", one.name, row.figure)).collect::<Vec<_>>()
        };
        self.applications.iter().flat_map(of).collect()
    }

    pub(crate) fn write(&self, folder: &Folder) -> Result<()> {
        let (figures, settings) = self.tables();
        folder.write(FIGURES, &figures)?;
        folder.write(SETTINGS, &settings)?;
        let about = self.about.join("\n");
        let readme = format!(
            "# Applications and their profiles of {}\n\n{about}\nCommand: `cargo xtask bench \
             applications`\n\n`docs/validation-profiles.md` is made from this folder.\n",
            folder.date
        );
        folder.write("README.md", &readme)
    }

    /// Both files.
    fn tables(&self) -> (String, String) {
        let number =
            |value: Option<f64>| value.map_or_else(String::new, |value| format!("{value:.3}"));
        let mut figures = "application,figure,unit,application value,profile value\n".to_owned();
        let mut settings = "application,item,text\n".to_owned();
        for line in &self.about {
            settings += &format!(",about,{}\n", quoted(line));
        }
        for one in &self.applications {
            let items = [
                ("profile", &one.offered),
                ("version", &one.version),
                ("settings", &one.settings),
                ("command", &one.command),
                ("application observed", &one.sizes[0]),
                ("profile observed", &one.sizes[1]),
            ];
            for (item, text) in items {
                settings += &format!("{},{item},{}\n", one.name, quoted(text));
            }
            for row in &one.rows {
                let (figure, unit) = (quoted(&row.figure), row.unit.name());
                let (real, offered) = (number(row.real), number(row.offered));
                figures += &format!("{},{figure},{unit},{real},{offered}\n", one.name);
            }
        }
        (figures, settings)
    }

    fn parse(figures: &str, settings: &str) -> Result<Record> {
        let mut record = Record::default();
        for line in settings.lines().skip(1) {
            let fields = fields(line);
            let [name, item, text] = fields.as_slice() else { anyhow::bail!("read `{line}`") };
            if name.is_empty() {
                record.about.push(text.clone());
                continue;
            }
            if record.applications.last().is_none_or(|last| last.name != *name) {
                let new = Compared { name: name.clone(), ..Compared::default() };
                record.applications.push(new);
            }
            let one = record.applications.last_mut().context("an application was added")?;
            let field = match item.as_str() {
                "profile" => &mut one.offered,
                "version" => &mut one.version,
                "settings" => &mut one.settings,
                "command" => &mut one.command,
                "application observed" => &mut one.sizes[0],
                "profile observed" => &mut one.sizes[1],
                _ => anyhow::bail!("read `{line}`"),
            };
            *field = text.clone();
        }
        for line in figures.lines().skip(1) {
            let found = fields(line);
            let [name, figure, unit, real, offered] = found.as_slice() else {
                anyhow::bail!("read `{line}`")
            };
            let row = Row {
                figure: figure.clone(),
                unit: Unit::parse(unit).with_context(|| format!("read the unit of `{line}`"))?,
                real: real.parse().ok(),
                offered: offered.parse().ok(),
            };
            let one = record.applications.iter_mut().find(|one| one.name == *name);
            one.with_context(|| format!("find the application of `{line}`"))?.rows.push(row);
        }
        Ok(record)
    }

    /// The newest record, which the document is made from.
    pub(crate) fn newest(root: &Path) -> Result<Record> {
        let folder = newest(&root.join("bench/runs"))?.context("find a record")?;
        let read = |name: &str| {
            let path = folder.join(name);
            std::fs::read_to_string(&path).with_context(|| format!("read {}", path.display()))
        };
        Record::parse(&read(FIGURES)?, &read(SETTINGS)?)
    }
}

/// The newest folder of this bench: by its date, then by its number.
fn newest(runs: &Path) -> Result<Option<PathBuf>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(runs)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if let (Some(date), Some((_, rest))) = (name.get(..10), name.split_once(NAME)) {
            let number: u32 = rest.trim_start_matches('-').parse().unwrap_or(1);
            found.push((date.to_owned(), number, path));
        }
    }
    Ok(found.into_iter().max().map(|(.., path)| path))
}

/// The fields of a line of CSV (RFC 4180) without line breaks in fields.
fn fields(line: &str) -> Vec<String> {
    let (mut fields, mut is_quoted) = (vec![String::new()], false);
    let mut letters = line.chars().peekable();
    while let Some(letter) = letters.next() {
        let field = fields.last_mut().expect("there is one from the start");
        match letter {
            '"' if is_quoted && letters.peek() == Some(&'"') => {
                field.push('"');
                letters.next();
            }
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => fields.push(String::new()),
            letter => field.push(letter),
        }
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(figure: &str, real: Option<f64>, offered: Option<f64>) -> Row {
        Row { figure: figure.to_owned(), unit: Unit::Percent, real, offered }
    }

    #[test]
    fn a_difference_above_the_tolerance_or_a_missing_figure_needs_a_reason() {
        let figure = "share of read";
        assert!(!row(figure, Some(20.0), Some(23.0)).differs());
        assert!(row(figure, Some(20.0), Some(23.2)).differs());
        assert!(row(figure, Some(20.0), Some(16.8)).differs());
        assert!(row(figure, Some(20.0), None).differs());
        assert!(row(figure, Some(0.0), Some(5.0)).differs());
        let one = Compared {
            name: "no such application".to_owned(),
            rows: vec![row(figure, Some(20.0), Some(30.0)), row(figure, Some(1.0), Some(1.0))],
            ..Compared::default()
        };
        let record = Record { about: Vec::new(), applications: vec![one] };
        assert_eq!(record.unexplained(), ["no such application: share of read"]);
    }

    #[test]
    fn a_written_record_is_read_back() {
        let one = Compared {
            name: "build".to_owned(),
            offered: "software-build".to_owned(),
            version: "gcc (Debian), \"12\"".to_owned(),
            rows: vec![row("read size, p50", Some(0.125), None)],
            ..Compared::default()
        };
        let record = Record { about: vec!["Machine: a, b.".to_owned()], applications: vec![one] };
        let (figures, settings) = record.tables();
        assert_eq!(Record::parse(&figures, &settings).expect("its own form"), record);
        assert!(Record::parse("head\nbuild,x,furlong,1,2\n", &settings).is_err());
    }

    #[test]
    fn kinds_that_are_rare_on_both_sides_are_not_compared() {
        let shape = |stat: f64| {
            let figures =
                [("share of read", 90.0), ("share of stat", stat), ("share of open", 1.0)];
            let figures = figures.map(|(name, value)| super::super::shape::Figure {
                name: name.to_owned(),
                unit: Unit::Percent,
                value,
            });
            Shape { figures: figures.to_vec(), ..Shape::default() }
        };
        let found = rows(&shape(1.0), &shape(5.0));
        let names: Vec<&str> = found.iter().map(|row| row.figure.as_str()).collect();
        assert_eq!(names, ["share of read", "share of stat"]);
    }
}
