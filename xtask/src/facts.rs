//! `cargo xtask facts`: rows of `data/*.toml` that are older than a year, and rows about the same
//! thing that say something else. A list to work through, never a failure: an old row may hold,
//! and a contradiction may be the vendor's. With `--import` rows are made from the vendor's tables
//! (`import.rs`), with `--against` compared with the answers of the vendor's calculator
//! (`against.rs`), which does fail.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, bail};
use serde_json::json;
use sizing::facts::Facts;
use toml::{Table, Value};
use units::Utc;

mod against;
mod import;

/// What tells a row from others of its table, by file and table. All other keys are what it says.
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

/// The table whose keys hold for each row of a file that does not have them.
const DEFAULT: &str = "default";

/// Keys that say where a row is from and how it is to be taken, not what it says.
const ABOUT: &[&str] =
    &["status", "source", "date", "note", "id", "use", "why", "qualifier", "contradicts"];

/// One row, as far as it matters here.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Fact {
    file: String,
    table: String,
    /// What it is about: `level=premium volume=regular`.
    about: String,
    /// What it says: `unit=MiB/s value=4500`.
    says: String,
    current: bool,
    date: String,
    source: String,
    id: Option<String>,
    contradicts: Vec<String>,
}

/// Rows about one thing that differ in what they say.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Contradiction {
    /// Whether two current rows differ; otherwise a superseded one does from a current one.
    both_current: bool,
    facts: Vec<Fact>,
}

/// What the command does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Options {
    /// Lists rows to look after.
    List {
        json: bool,
        /// `2026-11-21`; without it, the clock's.
        today: Option<String>,
    },
    /// Makes rows from the vendor's tables.
    Import { folder: PathBuf, date: String },
    /// Compares with the vendor's calculator.
    Against(PathBuf),
}

impl Options {
    pub(crate) fn parse(words: &[&str]) -> Result<Options, String> {
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
                        day.ok_or_else(|| format!("{word} wants a date such as 2026-11-21"))?;
                    let kept = if *word == "--today" { &mut today } else { &mut date };
                    *kept = Some(day);
                }
                "--import" => import = Some(value().ok_or("--import wants a folder")?),
                "--against" => against = Some(value().ok_or("--against wants a file")?),
                other => {
                    return Err(format!(
                        "no option `{other}`; there are --json, --today, --import, --date and \
                         --against"
                    ));
                }
            }
        }
        match (import, against, date) {
            (None, None, None) => Ok(Options::List { json, today }),
            _ if json || today.is_some() => {
                Err("--json and --today are for the list of rows".to_owned())
            }
            (None, Some(file), None) => Ok(Options::Against(file.into())),
            (Some(folder), None, Some(date)) => Ok(Options::Import { folder: folder.into(), date }),
            (Some(_), None, None) => {
                Err("--import wants --date, the day of the vendor's tables".to_owned())
            }
            _ => Err("give --import with --date, or --against".to_owned()),
        }
    }
}

pub(crate) fn run(root: &Path, options: &Options) -> anyhow::Result<()> {
    let mut out = std::io::stdout();
    match options {
        Options::List { json, today } => {
            let text = list(root, *json, today.as_deref())?;
            out.write_all(text.as_bytes()).context("write the list")
        }
        Options::Import { folder, date } => {
            let left_out = import::run(folder, date, &root.join("data"))?;
            for meter in &left_out {
                writeln!(out, "in no row: {meter}").context("write the list")?;
            }
            writeln!(out, "data/regions.toml and data/storage_prices.toml are written")
                .context("write")
        }
        Options::Against(file) => {
            let table = std::fs::read_to_string(file);
            let table = table.with_context(|| format!("read {}", file.display()))?;
            let comparison = against::compare(&table, &Facts::embedded())?;
            out.write_all(comparison.text().as_bytes()).context("write the comparison")?;
            match comparison.undocumented() {
                0 => Ok(()),
                count => bail!("{count} disagreements have no documented reason"),
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
            bail!("[[{table}]] is in no line of IDENTITY in xtask/src/facts.rs: add it there");
        };
        for row in rows.as_array().context("not a list of rows")? {
            let mut whole = default.clone();
            whole.extend(row.as_table().context("not a row")?.clone());
            facts.push(fact(file, table, identity, &whole));
        }
    }
    Ok(facts)
}

fn fact(file: &str, table: &str, identity: &[&str], row: &Table) -> Fact {
    let text = |key: &str| row.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let shown = |wanted: &dyn Fn(&str) -> bool| {
        let keys = row.iter().filter(|(key, _)| wanted(key));
        let words = keys.map(|(key, value)| format!("{key}={}", plain(value)));
        words.collect::<Vec<_>>().join(" ")
    };
    let contradicts = row.get("contradicts").and_then(Value::as_array);
    Fact {
        file: file.to_owned(),
        table: table.to_owned(),
        about: shown(&|key| identity.contains(&key)),
        says: shown(&|key| !identity.contains(&key) && !ABOUT.contains(&key)),
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

/// The last day that a date can mean: `2026` ends on 2026-12-31.
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

/// Current rows whose date is a year or more before `today`. Dates of this form sort as texts.
fn older_than_a_year<'a>(facts: &'a [Fact], today: &str) -> Vec<&'a Fact> {
    let (year, rest) = today.split_at(4);
    let limit = year.parse::<u32>().map(|year| format!("{:04}{rest}", year.saturating_sub(1)));
    let limit = limit.unwrap_or_default();
    let is_old = |fact: &&Fact| last_day(&fact.date).is_none_or(|last| last < limit);
    facts.iter().filter(|fact| fact.current).filter(is_old).collect()
}

/// Rows about one thing that do not say the same, and those that name each other.
fn contradictions(facts: &[Fact]) -> Vec<Contradiction> {
    let mut groups: BTreeMap<(&str, &str, &str), Vec<&Fact>> = BTreeMap::new();
    for fact in facts {
        groups.entry((&fact.file, &fact.table, &fact.about)).or_default().push(fact);
    }
    let mut found = Vec::new();
    for group in groups.values() {
        if group.iter().any(|fact| fact.says != group[0].says) {
            let mut says: Vec<&str> =
                group.iter().filter(|fact| fact.current).map(|f| f.says.as_str()).collect();
            says.sort_unstable();
            says.dedup();
            let facts = group.iter().map(|fact| (*fact).clone()).collect();
            found.push(Contradiction { both_current: says.len() > 1, facts });
        }
    }
    for fact in facts {
        for other in &fact.contradicts {
            let named = facts.iter().find(|f| f.file == fact.file && f.id.as_ref() == Some(other));
            let Some(named) = named.filter(|named| named.about != fact.about) else { continue };
            // Both name each other; one of the two lines is enough.
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
    format!("{id}{}  ({status}, {}, {})", fact.says, fact.date, fact.source)
}

fn as_text(facts: &[Fact], today: &str, old: &[&Fact], contradictions: &[Contradiction]) -> String {
    let mut out = format!("{} current rows older than a year on {today}:\n", old.len());
    for fact in old {
        let id = fact.id.as_ref().map_or(String::new(), |id| format!(" {id}"));
        out.push_str(&format!(
            "  {} {}{id} {}  ({}, {})\n",
            fact.file, fact.table, fact.about, fact.date, fact.source
        ));
    }
    let both = contradictions.iter().filter(|one| one.both_current).count();
    out.push_str(&format!(
        "\n{} contradictions, {both} of them between current rows:\n",
        contradictions.len()
    ));
    for one in contradictions {
        let first = &one.facts[0];
        let mark = if one.both_current { "CURRENT " } else { "" };
        out.push_str(&format!("  {mark}{} {} {}\n", first.file, first.table, first.about));
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
            "file": fact.file, "table": fact.table, "about": fact.about, "says": fact.says,
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
    fn a_current_row_is_old_a_year_after_the_last_day_that_its_date_can_mean() {
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
    fn rows_about_one_thing_that_say_something_else_contradict() {
        let other = ROWS.replace("value = 1", "value = 2");
        let found = contradictions(&rows(&other));
        assert_eq!((found.len(), found[0].both_current), (1, true));
        let found = contradictions(&rows(&other.replace("current", "superseded")));
        assert_eq!((found.len(), found[0].both_current), (1, false));
        assert_eq!(contradictions(&rows(ROWS)), [], "the same twice is no contradiction");
        assert_eq!(contradictions(&rows(&other.replace("\"a\"", "\"b\""))), []);
    }

    #[test]
    fn every_table_of_the_data_is_known_and_no_two_current_limits_contradict() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("a folder above");
        let facts = read(root).expect("the data are read");
        assert!(facts.len() > 200, "{}", facts.len());
        let ours = |one: &&Contradiction| one.both_current && one.facts[0].file != "published.toml";
        assert_eq!(contradictions(&facts).iter().filter(ours).count(), 0);
        let text = as_text(&facts, "2026-11-21", &older_than_a_year(&facts, "2026-11-21"), &[]);
        assert!(text.contains("service_levels.toml limit name=flow_throughput  (2019, "), "{text}");
        assert!(parse("service_levels.toml", "[[new]]\nname = \"a\"\n").is_err());
    }

    #[test]
    fn options_are_read() {
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
