//! `cargo xtask facts`: lists rows of `data/*.toml` that are older than a year or contradict each
//! other. The list never fails: an old row may still be true, and a contradiction may be the
//! vendor's. `--import` generates rows from the vendor's tables (`import.rs`). `--against` compares
//! our results with the vendor's calculator (`against.rs`) and does fail.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, bail};
use serde_json::json;
use sizing::facts::Facts;
use toml::{Table, Value};
use units::Utc;

mod against;
mod import;

/// The keys that identify a row, by file and table. The other keys are its content.
const IDENTITY: &[(&str, &str, &[&str])] = &[
    ("avs.toml", "host", &["name"]),
    ("avs.toml", "policy", &["name"]),
    ("avs.toml", "limit", &["name"]),
    ("avs.toml", "measured", &["hosts", "datastores"]),
    ("client_settings.toml", "setting", &["name"]),
    ("client_settings.toml", "nconnect_support", &["distribution"]),
    ("client_settings.toml", "kerberos", &["flavour"]),
    ("load_profiles.toml", "profile", &["name"]),
    ("prices.toml", "flexible", &["region"]),
    ("prices.toml", "reservation", &["level", "value", "unit"]),
    ("prices.toml", "traffic", &["name"]),
    ("prices.toml", "vm", &["name", "region"]),
    (
        "published.toml",
        "figure",
        &[
            "protocol",
            "scope",
            "volume",
            "volumes",
            "hosts",
            "vm",
            "esxi",
            "guests",
            "nconnect",
            "transfer",
            "pattern",
            "read",
            "outstanding",
            "calls",
            "caching",
            "limit_mib_s",
            "unit",
        ],
    ),
    ("regions.toml", "region", &["name"]),
    ("service_levels.toml", "service_level", &["level"]),
    ("service_levels.toml", "ceiling", &["level", "volume"]),
    ("service_levels.toml", "limit", &["name"]),
    ("storage_prices.toml", "backup", &["region"]),
    ("storage_prices.toml", "capacity", &["region"]),
    ("storage_prices.toml", "cool", &["region"]),
    ("storage_prices.toml", "double_encrypted", &["region"]),
    ("storage_prices.toml", "flexible", &["region"]),
    ("storage_prices.toml", "replication", &["from", "to"]),
    ("vm_sizes.toml", "vm_size", &["name"]),
];

/// The table with default values for the rows of a file.
const DEFAULT: &str = "default";

/// Keys about the origin and the use of a row; neither identity nor content.
const ABOUT: &[&str] =
    &["status", "source", "date", "note", "id", "use", "why", "qualifier", "contradicts"];

/// A row of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Fact {
    file: String,
    table: String,
    /// Its identity: `level=premium volume=regular`.
    identity: String,
    /// Its content: `unit=MiB/s value=4500`.
    content: String,
    current: bool,
    date: String,
    source: String,
    id: Option<String>,
    contradicts: Vec<String>,
}

/// Rows with the same identity and different content, or that name each other in `contradicts`.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Contradiction {
    /// Whether two current rows differ; otherwise a current row differs from a superseded one.
    both_current: bool,
    facts: Vec<Fact>,
}

/// Options of the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Options {
    /// List old and contradictory rows.
    List {
        json: bool,
        /// Such as `2026-11-21`; `None` is the date of the clock.
        today: Option<String>,
    },
    /// Generate rows from the vendor's tables.
    Import { folder: PathBuf, date: String },
    /// Compare with the vendor's calculator.
    Against(PathBuf),
}

impl Options {
    fn parse(words: &[&str]) -> Result<Options, String> {
        let (mut json, mut today, mut date) = (false, None, None);
        let (mut import, mut against) = (None, None);
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let mut value = || words.next().map(|value| (*value).to_owned());
            match *word {
                "--json" => json = true,
                "--today" | "--date" => {
                    let day = value().filter(|date| last_day(date).is_some());
                    let day =
                        day.ok_or_else(|| format!("{word} needs a date such as 2026-11-21"))?;
                    let option = if *word == "--today" { &mut today } else { &mut date };
                    *option = Some(day);
                }
                "--import" => import = Some(value().ok_or("--import needs a folder")?),
                "--against" => against = Some(value().ok_or("--against needs a file")?),
                other => {
                    return Err(format!(
                        "unknown option `{other}`; the options are --json, --today, --import, \
                         --date and --against"
                    ));
                }
            }
        }
        match (import, against, date) {
            (None, None, None) => Ok(Options::List { json, today }),
            _ if json || today.is_some() => {
                Err("--json and --today apply only to the list of rows".to_owned())
            }
            (None, Some(file), None) => Ok(Options::Against(file.into())),
            (Some(folder), None, Some(date)) => Ok(Options::Import { folder: folder.into(), date }),
            (Some(_), None, None) => {
                Err("--import needs --date, the date of the vendor's tables".to_owned())
            }
            _ => Err("use either --import with --date, or --against".to_owned()),
        }
    }
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let options = Options::parse(&words).map_err(anyhow::Error::msg);
    match options.and_then(|options| run(&root(), &options)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // If standard error is closed, the exit code is all that remains.
            let _ = writeln!(std::io::stderr(), "error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// The root of the repository.
fn root() -> PathBuf {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    package.ancestors().nth(2).expect("the package is in xtask/facts").to_path_buf()
}

fn run(root: &Path, options: &Options) -> anyhow::Result<()> {
    let mut out = std::io::stdout();
    match options {
        Options::List { json, today } => {
            let text = list(root, *json, today.as_deref())?;
            out.write_all(text.as_bytes()).context("write the list")
        }
        Options::Import { folder, date } => {
            let unused = import::run(folder, date, &root.join("data"))?;
            for meter in &unused {
                writeln!(out, "unused meter: {meter}").context("write the list")?;
            }
            writeln!(out, "wrote data/regions.toml and data/storage_prices.toml").context("write")
        }
        Options::Against(file) => {
            let table = std::fs::read_to_string(file);
            let table = table.with_context(|| format!("read {}", file.display()))?;
            let comparison = against::compare(&table, &Facts::embedded())?;
            out.write_all(comparison.text().as_bytes()).context("write the comparison")?;
            match comparison.undocumented() {
                0 => Ok(()),
                count => bail!("{count} differences have no documented reason"),
            }
        }
    }
}

fn list(root: &Path, json: bool, today: Option<&str>) -> anyhow::Result<String> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).context("read the clock")?;
    let clock = Utc::from_unix_ms(u64::try_from(now.as_millis())?).date();
    let today = today.unwrap_or(&clock);
    let facts = read(root)?;
    let old = older_than_a_year(&facts, today);
    let contradictions = contradictions(&facts);
    Ok(match json {
        true => as_json(today, &old, &contradictions),
        false => as_text(&facts, today, &old, &contradictions),
    })
}

fn read(root: &Path) -> anyhow::Result<Vec<Fact>> {
    let folder = root.join("data");
    let mut names: Vec<String> = Vec::new();
    for entry in std::fs::read_dir(&folder).with_context(|| format!("list {}", folder.display()))? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if name.ends_with(".toml") {
            names.push(name);
        }
    }
    names.sort();
    let mut facts = Vec::new();
    for name in names {
        let path = folder.join(&name);
        let text = std::fs::read_to_string(&path).with_context(|| format!("read {name}"))?;
        facts.extend(parse(&name, &text).with_context(|| format!("read {name}"))?);
    }
    Ok(facts)
}

fn parse(file: &str, text: &str) -> anyhow::Result<Vec<Fact>> {
    let mut tables: Table = text.parse()?;
    let default = tables.remove(DEFAULT);
    let default = default.as_ref().and_then(Value::as_table).cloned().unwrap_or_default();
    let mut facts = Vec::new();
    for (table, rows) in &tables {
        let known = IDENTITY.iter().find(|(of, name, _)| *of == file && name == table);
        let Some((_, _, identity)) = known else {
            bail!("[[{table}]] is not in IDENTITY (xtask/facts/src/main.rs): add it there");
        };
        for row in rows.as_array().context("not a list of rows")? {
            let mut merged = default.clone();
            merged.extend(row.as_table().context("not a row")?.clone());
            facts.push(fact(file, table, identity, &merged));
        }
    }
    Ok(facts)
}

fn fact(file: &str, table: &str, identity: &[&str], row: &Table) -> Fact {
    let text = |key: &str| row.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let pairs = |is_selected: &dyn Fn(&str) -> bool| {
        let keys = row.iter().filter(|(key, _)| is_selected(key));
        let words = keys.map(|(key, value)| format!("{key}={}", plain(value)));
        words.collect::<Vec<_>>().join(" ")
    };
    let contradicts = row.get("contradicts").and_then(Value::as_array);
    Fact {
        file: file.to_owned(),
        table: table.to_owned(),
        identity: pairs(&|key| identity.contains(&key)),
        content: pairs(&|key| !identity.contains(&key) && !ABOUT.contains(&key)),
        current: text("status") == "current",
        date: text("date"),
        source: text("source"),
        id: row.get("id").and_then(Value::as_str).map(str::to_owned),
        contradicts: contradicts
            .into_iter()
            .flatten()
            .filter_map(|id| id.as_str().map(str::to_owned))
            .collect(),
    }
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// The last day of a date that may lack month and day: `2026` ends on 2026-12-31.
fn last_day(date: &str) -> Option<String> {
    let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    match date.split('-').collect::<Vec<_>>()[..] {
        [y] if y.len() == 4 && digits(y) => Some(format!("{y}-12-31")),
        [y, m] if y.len() == 4 && m.len() == 2 && digits(y) && digits(m) => {
            Some(format!("{date}-31"))
        }
        [y, m, d] if y.len() == 4 && m.len() == 2 && d.len() == 2 => {
            (digits(y) && digits(m) && digits(d)).then(|| date.to_owned())
        }
        _ => None,
    }
}

/// Current rows that are at least a year older than `today`. Dates in this form sort as text.
fn older_than_a_year<'a>(facts: &'a [Fact], today: &str) -> Vec<&'a Fact> {
    let (year, rest) = today.split_at(4);
    let limit = year.parse::<u32>().map(|year| format!("{:04}{rest}", year.saturating_sub(1)));
    let limit = limit.unwrap_or_default();
    let is_old = |fact: &&Fact| last_day(&fact.date).is_none_or(|last| last < limit);
    facts.iter().filter(|fact| fact.current).filter(is_old).collect()
}

/// Rows with the same identity and different content, and rows that name each other.
fn contradictions(facts: &[Fact]) -> Vec<Contradiction> {
    let mut groups: BTreeMap<(&str, &str, &str), Vec<&Fact>> = BTreeMap::new();
    for fact in facts {
        groups.entry((&fact.file, &fact.table, &fact.identity)).or_default().push(fact);
    }
    let mut found = Vec::new();
    for group in groups.values() {
        if group.iter().any(|fact| fact.content != group[0].content) {
            let mut contents: Vec<&str> =
                group.iter().filter(|fact| fact.current).map(|f| f.content.as_str()).collect();
            contents.sort_unstable();
            contents.dedup();
            let facts = group.iter().map(|fact| (*fact).clone()).collect();
            found.push(Contradiction { both_current: contents.len() > 1, facts });
        }
    }
    for fact in facts {
        for other in &fact.contradicts {
            let named = facts.iter().find(|f| f.file == fact.file && f.id.as_ref() == Some(other));
            let Some(named) = named.filter(|named| named.identity != fact.identity) else {
                continue;
            };
            // If both rows name each other, report the pair once.
            if fact.id < named.id
                || !named.contradicts.iter().any(|id| Some(id) == fact.id.as_ref())
            {
                let both_current = fact.current && named.current;
                let facts = vec![fact.clone(), named.clone()];
                found.push(Contradiction { both_current, facts });
            }
        }
    }
    found.sort_by_key(|one| !one.both_current);
    found
}

fn line(fact: &Fact) -> String {
    let id = fact.id.as_ref().map_or(String::new(), |id| format!("{id} "));
    let status = if fact.current { "current" } else { "superseded" };
    format!("{id}{}  ({status}, {}, {})", fact.content, fact.date, fact.source)
}

fn as_text(facts: &[Fact], today: &str, old: &[&Fact], contradictions: &[Contradiction]) -> String {
    let mut out = format!("{} current rows older than a year on {today}:\n", old.len());
    for fact in old {
        let id = fact.id.as_ref().map_or(String::new(), |id| format!(" {id}"));
        out.push_str(&format!(
            "  {} {}{id} {}  ({}, {})\n",
            fact.file, fact.table, fact.identity, fact.date, fact.source
        ));
    }
    let both = contradictions.iter().filter(|one| one.both_current).count();
    out.push_str(&format!(
        "\n{} contradictions, {both} between current rows:\n",
        contradictions.len()
    ));
    for one in contradictions {
        let first = &one.facts[0];
        let mark = if one.both_current { "CURRENT " } else { "" };
        out.push_str(&format!("  {mark}{} {} {}\n", first.file, first.table, first.identity));
        for fact in &one.facts {
            out.push_str(&format!("    {}\n", line(fact)));
        }
    }
    out.push_str(&format!("\n{} rows in all\n", facts.len()));
    out
}

fn as_json(today: &str, old: &[&Fact], contradictions: &[Contradiction]) -> String {
    let fact = |fact: &Fact| {
        json!({
            "file": fact.file, "table": fact.table, "identity": fact.identity, "content": fact.content,
            "status": if fact.current { "current" } else { "superseded" },
            "date": fact.date, "source": fact.source, "id": fact.id,
        })
    };
    let document = json!({
        "today": today,
        "older_than_a_year": old.iter().map(|one| fact(one)).collect::<Vec<_>>(),
        "contradictions": contradictions.iter().map(|one| json!({
            "both_current": one.both_current,
            "rows": one.facts.iter().map(fact).collect::<Vec<_>>(),
        })).collect::<Vec<_>>(),
    });
    format!("{document:#}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROWS: &str = "[[limit]]\nname = \"a\"\nvalue = 1\nunit = \"TiB\"\nstatus = \"current\"\n\
                        source = \"s\"\ndate = \"2025-11-20\"\n";

    fn rows(more: &str) -> Vec<Fact> {
        parse("service_levels.toml", &format!("{ROWS}{more}")).expect("rows")
    }

    #[test]
    fn a_current_row_is_old_a_year_after_the_last_day_of_its_date() {
        let facts = rows("");
        assert_eq!(older_than_a_year(&facts, "2026-11-20").len(), 0);
        assert_eq!(older_than_a_year(&facts, "2026-11-21").len(), 1);
        let year = rows(&ROWS.replace("2025-11-20", "2025").replace("\"a\"", "\"b\""));
        assert_eq!(older_than_a_year(&year, "2026-12-31").len(), 1, "only the first");
        assert_eq!(older_than_a_year(&year, "2027-01-01").len(), 2);
        let past = rows(&ROWS.replace("current", "superseded").replace("2025", "2019"));
        assert_eq!(older_than_a_year(&past, "2026-01-01").len(), 0, "superseded rows may be old");
    }

    #[test]
    fn rows_with_one_identity_and_different_content_contradict() {
        let other = ROWS.replace("value = 1", "value = 2");
        let found = contradictions(&rows(&other));
        assert_eq!((found.len(), found[0].both_current), (1, true));
        let found = contradictions(&rows(&other.replace("current", "superseded")));
        assert_eq!((found.len(), found[0].both_current), (1, false));
        assert_eq!(contradictions(&rows(ROWS)), [], "equal rows do not contradict");
        assert_eq!(contradictions(&rows(&other.replace("\"a\"", "\"b\""))), []);
    }

    #[test]
    fn every_table_of_the_data_is_known_and_no_two_current_limits_contradict() {
        let facts = read(&root()).expect("all files of data/ parse");
        assert!(facts.len() > 200, "{}", facts.len());
        let is_unexpected =
            |one: &&Contradiction| one.both_current && one.facts[0].file != "published.toml";
        assert_eq!(contradictions(&facts).iter().filter(is_unexpected).count(), 0);
        let text = as_text(&facts, "2026-11-21", &older_than_a_year(&facts, "2026-11-21"), &[]);
        assert!(text.contains("service_levels.toml limit name=flow_throughput  (2019, "), "{text}");
        assert!(parse("service_levels.toml", "[[new]]\nname = \"a\"\n").is_err());
    }

    #[test]
    fn options_are_parsed() {
        let today = Some("2026-11-21".to_owned());
        let expected = Options::List { json: true, today };
        assert_eq!(Options::parse(&["--json", "--today", "2026-11-21"]), Ok(expected));
        let expected = Options::Import { folder: "tables".into(), date: "2026-05-09".to_owned() };
        assert_eq!(Options::parse(&["--import", "tables", "--date", "2026-05-09"]), Ok(expected));
        let expected = Options::Against("answers.tsv".into());
        assert_eq!(Options::parse(&["--against", "answers.tsv"]), Ok(expected));
        for wrong in [
            &["--today", "soon"][..],
            &["--yesterday"],
            &["--import", "tables"],
            &["--against", "answers.tsv", "--json"],
            &["--date", "2026-05-09"],
        ] {
            assert!(Options::parse(wrong).is_err(), "{wrong:?}");
        }
    }
}
