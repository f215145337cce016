//! What vendors published: numbers of their documents, from `data/published.toml`.
//!
//! For: fitting and testing a model of the service, and setting a measurement beside what others
//! saw. Each figure says what was measured and on what, as far as its source does; two figures that
//! contradict each other name each other in the data. Not for: limits that the service states,
//! which are in `service_levels.toml`, and for what the figures mean.

use crate::catalog::{CatalogError, Row, rows};
use crate::reason::RowRef;
use crate::row::Origin;
use crate::service_level::VolumeKind;

/// The file's name.
pub const FILE: &str = "published.toml";
/// The figures that the product knows.
const PUBLISHED: &str = include_str!("../../../data/published.toml");
/// Bytes in a MiB.
const MIB: f64 = 1_048_576.0;
/// Bytes in a KiB.
const KIB: u64 = 1024;

/// One number of one document.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// Ours, such as `A05`.
    pub id: String,
    /// What the product does with it.
    pub role: Role,
    /// The table of the documents that it is a cell of.
    pub table: Option<Table>,
    /// Why it is context and no more.
    pub why_context: Option<String>,
    /// How the store was reached.
    pub protocol: Protocol,
    /// Whose limit the source says it is.
    pub scope: Scope,
    /// What the volumes are; not of an endpoint's figure.
    pub volume: Option<VolumeKind>,
    /// How many volumes share the load; 1 unless the source says more.
    pub volumes: u64,
    /// How many endpoints the volumes are reached at, where the source says so; otherwise the usual
    /// number for their kind.
    pub endpoints: Option<u64>,
    /// The throughput limit of each volume, in bytes per second, where it is stated.
    pub limit_bytes_per_s: Option<f64>,
    /// Machines that send; `None` where the source does not say, or says "many".
    pub hosts: Option<u64>,
    /// The size of those machines.
    pub vm: Option<String>,
    /// The host of VMware's that they run on, whose connections then count.
    pub esxi: Option<String>,
    /// Virtual machines on each host of VMware's.
    pub guests: Option<u64>,
    /// Connections of each host, if stated.
    pub nconnect: Option<u64>,
    /// Bytes of one operation.
    pub transfer_bytes: Option<u64>,
    /// rsize and wsize in bytes, where an operation is larger.
    pub call_bytes: Option<u64>,
    /// Where operations go.
    pub pattern: Option<Access>,
    /// The share of reads.
    pub read: Mix,
    /// Whether a cache took part; `None` where the source does not say.
    pub caching: Option<bool>,
    /// Operations outstanding, over all machines.
    pub outstanding: Option<u64>,
    /// The response time of one operation at a time, in seconds.
    pub floor_s: Option<f64>,
    /// The response time at this figure, in seconds.
    pub response_s: Option<f64>,
    /// What came out.
    pub value: Value,
    /// How the source puts it.
    pub qualifier: Qualifier,
    /// Figures about the same thing that say something else.
    pub contradicts: Vec<String>,
    /// Where from.
    pub origin: Origin,
}

/// What the product does with a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Models are fitted to it.
    Calibration,
    /// Models are tested with it, and never fitted.
    Validation,
    /// It is shown, and models do not know it.
    Context,
    /// It is a response time under so little load that nothing waits.
    Anchor,
}

/// How the store was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// NFS version 3.
    Nfsv3,
    /// SMB, of any version.
    Smb,
}

/// Whose limit a figure is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Of one or several volumes.
    Volume,
    /// Of an endpoint or the way to it, whatever volumes are behind it.
    Endpoint,
}

/// A table of the documents that the product grew from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Table {
    /// VMware's hosts and datastores: connections are hosts x datastores.
    HostsAndDatastores,
    /// One host over one connection and over many.
    Connections,
    /// Many hosts on one regular volume, from all reads to all writes.
    Range,
    /// One large volume.
    LargeVolume,
}

/// Where operations go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// One after the other.
    Sequential,
    /// Anywhere.
    Random,
}

/// Which share of the operations are reads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Mix {
    /// This fraction, 0 to 1.
    Share(f64),
    /// The share that gave the most.
    Peak,
    /// The mean over shares from none to all.
    Average,
    /// The source does not say.
    NotStated,
}

/// A published number in our units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// Operations per second.
    OpsPerSec(f64),
    /// Bytes per second.
    BytesPerSec(f64),
    /// A response time in seconds.
    Seconds(f64),
}

/// How a source puts its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Qualifier {
    /// Without a qualification.
    Exactly,
    /// Rounded.
    About,
    /// The largest that was seen.
    AtMost,
    /// More than this was seen.
    Over,
    /// A mean over unlike loads.
    Average,
    /// It follows from other numbers of the source.
    Derived,
}

impl Protocol {
    /// As data and arguments write it.
    pub const fn name(self) -> &'static str {
        match self {
            Protocol::Nfsv3 => "nfsv3",
            Protocol::Smb => "smb",
        }
    }

    /// The protocol of this name.
    pub fn named(name: &str) -> Option<Protocol> {
        [Protocol::Nfsv3, Protocol::Smb].into_iter().find(|protocol| protocol.name() == name)
    }
}

impl Table {
    /// All of them.
    pub const ALL: [Table; 4] =
        [Table::HostsAndDatastores, Table::Connections, Table::Range, Table::LargeVolume];

    /// As the data write it.
    pub const fn name(self) -> &'static str {
        match self {
            Table::HostsAndDatastores => "hosts and datastores",
            Table::Connections => "connections",
            Table::Range => "range",
            Table::LargeVolume => "large volume",
        }
    }

    fn named(name: &str) -> Option<Table> {
        Table::ALL.into_iter().find(|table| table.name() == name)
    }
}

impl Access {
    /// As data and arguments write it.
    pub const fn name(self) -> &'static str {
        match self {
            Access::Sequential => "sequential",
            Access::Random => "random",
        }
    }

    /// The pattern of this name.
    pub fn named(name: &str) -> Option<Access> {
        [Access::Sequential, Access::Random].into_iter().find(|access| access.name() == name)
    }
}

impl Qualifier {
    /// As the data write it.
    pub const fn name(self) -> &'static str {
        match self {
            Qualifier::Exactly => "exactly",
            Qualifier::About => "about",
            Qualifier::AtMost => "at most",
            Qualifier::Over => "over",
            Qualifier::Average => "average",
            Qualifier::Derived => "derived",
        }
    }

    fn named(name: &str) -> Option<Qualifier> {
        use Qualifier::{About, AtMost, Average, Derived, Exactly, Over};
        let all = [Exactly, About, AtMost, Over, Average, Derived];
        all.into_iter().find(|qualifier| qualifier.name() == name)
    }
}

impl Figure {
    /// The document that it comes from. Figures of one document share its measurements, its authors
    /// and its mistakes.
    pub fn document(&self) -> &str {
        &self.origin.source
    }

    /// The row as a reference, for what is concluded from it.
    pub fn row_ref(&self) -> RowRef {
        RowRef::new(FILE, format!("figure {}", self.id), &self.origin)
    }
}

/// All figures, in the order of the data.
pub fn all() -> Vec<Figure> {
    parse(PUBLISHED).expect("a test reads the embedded figures")
}

/// Reads the text of a table of figures.
///
/// # Errors
/// The first thing that is wrong with it.
pub fn parse(text: &str) -> Result<Vec<Figure>, CatalogError> {
    let figures = rows(text, |table, row| match table {
        "figure" => figure(row),
        _ => Err("an unknown table".to_owned()),
    })?;
    let wrong = |index: usize, problem: String| CatalogError::Row {
        table: "figure".to_owned(),
        row: index + 1,
        problem,
    };
    for (index, figure) in figures.iter().enumerate() {
        if figures[..index].iter().any(|other| other.id == figure.id) {
            return Err(wrong(index, format!("a second figure `{}`", figure.id)));
        }
        for id in &figure.contradicts {
            let other = figures.iter().find(|other| other.id == *id);
            let other = other.ok_or_else(|| wrong(index, format!("there is no figure `{id}`")))?;
            if !other.contradicts.contains(&figure.id) {
                return Err(wrong(index, format!("`{id}` does not name `{}`", figure.id)));
            }
        }
    }
    Ok(figures)
}

fn figure(row: &mut Row) -> Result<Figure, String> {
    let role = |name: &str| match name {
        "calibration" => Some(Role::Calibration),
        "validation" => Some(Role::Validation),
        "context" => Some(Role::Context),
        "anchor" => Some(Role::Anchor),
        _ => None,
    };
    let scope = |name: &str| match name {
        "volume" => Some(Scope::Volume),
        "endpoint" => Some(Scope::Endpoint),
        _ => None,
    };
    let caching = |name: &str| match name {
        "included" => Some(true),
        "excluded" => Some(false),
        _ => None,
    };
    let seconds = |us: u64| us as f64 / 1e6;
    let figure = Figure {
        id: row.text("id")?,
        role: row.named("use", role)?,
        table: row.optional("table", |row, key| row.named(key, Table::named))?,
        why_context: row.optional("why", Row::text)?,
        protocol: row.named("protocol", Protocol::named)?,
        scope: row.named("scope", scope)?,
        volume: row.optional("volume", |row, key| row.named(key, VolumeKind::named))?,
        volumes: row.optional("volumes", count)?.unwrap_or(1),
        endpoints: row.optional("endpoints", count)?,
        limit_bytes_per_s: row.optional("limit_mib_s", count)?.map(|mib| mib as f64 * MIB),
        hosts: row.optional("hosts", count)?,
        vm: row.optional("vm", Row::text)?,
        esxi: row.optional("esxi", Row::text)?,
        guests: row.optional("guests", count)?,
        nconnect: row.optional("nconnect", count)?,
        transfer_bytes: row.optional("transfer", kib)?,
        call_bytes: row.optional("calls", kib)?,
        pattern: row.optional("pattern", |row, key| row.named(key, Access::named))?,
        read: row.optional("read", |row, key| row.named(key, mix))?.unwrap_or(Mix::NotStated),
        caching: row.optional("caching", |row, key| row.named(key, caching))?,
        outstanding: row.optional("outstanding", count)?,
        floor_s: row.optional("floor_us", count)?.map(seconds),
        response_s: row.optional("response_time_us", count)?.map(seconds),
        value: value(row)?,
        qualifier: row.named("qualifier", Qualifier::named)?,
        contradicts: row.optional("contradicts", Row::texts)?.unwrap_or_default(),
        origin: row.origin()?,
    };
    match (figure.role, &figure.why_context) {
        (Role::Context, None) => Err("context says why, in `why`".to_owned()),
        (Role::Context, Some(_)) | (_, None) => Ok(figure),
        (_, Some(_)) => Err("`why` belongs to context only".to_owned()),
    }
}

fn value(row: &mut Row) -> Result<Value, String> {
    let (value, unit) = (count(row, "value")? as f64, row.text("unit")?);
    match unit.as_str() {
        "ops/s" => Ok(Value::OpsPerSec(value)),
        "MiB/s" => Ok(Value::BytesPerSec(value * MIB)),
        "us" => Ok(Value::Seconds(value / 1e6)),
        _ => Err(format!("wrong unit `{unit}`")),
    }
}

fn count(row: &mut Row, key: &str) -> Result<u64, String> {
    match row.number(key)? {
        0 => Err(format!("`{key}` is 0")),
        number => Ok(number),
    }
}

/// Whole KiB as bytes.
fn kib(row: &mut Row, key: &str) -> Result<u64, String> {
    let text = row.text(key)?;
    let number = text.strip_suffix("KiB").and_then(|number| number.parse::<u64>().ok());
    let bytes = number.and_then(|number| number.checked_mul(KIB)).filter(|bytes| *bytes > 0);
    bytes.ok_or_else(|| format!("`{key}` is no size in KiB: `{text}`"))
}

fn mix(text: &str) -> Option<Mix> {
    match text {
        "peak" => Some(Mix::Peak),
        "average" => Some(Mix::Average),
        share => {
            let percent: u8 = share.strip_suffix('%')?.parse().ok()?;
            (percent <= 100).then(|| Mix::Share(f64::from(percent) / 100.0))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_embedded_figures_are_read_and_each_part_is_whole() {
        let all = parse(PUBLISHED).unwrap();
        let of = |role| all.iter().filter(|figure| figure.role == role).count();
        assert_eq!(of(Role::Validation), 29);
        assert!(of(Role::Calibration) > 50 && of(Role::Anchor) >= 5);
        // Numbers of the documents, in our units.
        let named = |id: &str| all.iter().find(|figure| figure.id == id).unwrap();
        assert_eq!(named("A44").value, Value::OpsPerSec(709_000.0));
        assert_eq!(named("A20").value, Value::BytesPerSec(10_500.0 * MIB));
        assert_eq!((named("A33").hosts, named("A33").volumes), (Some(4), 4));
        assert_eq!(named("A16").floor_s, Some(0.001_909));
        assert!(named("B08").contradicts.contains(&"B10".to_owned()));
        // The page of EDA workloads measured a large volume at a third of its load.
        assert_eq!(named("G05").volume, Some(VolumeKind::Large));
        assert_eq!(named("C12").endpoints, Some(5));
        // Of 12 numbers of a large volume none is left out.
        let large = all.iter().filter(|figure| figure.table == Some(Table::LargeVolume));
        assert_eq!(large.count(), 12);
    }

    #[test]
    fn a_figure_that_is_not_whole_is_refused() {
        let row = "[[figure]]\nid = \"X1\"\nuse = \"calibration\"\nprotocol = \"nfsv3\"\n\
                   scope = \"volume\"\ntransfer = \"8KiB\"\nread = \"70%\"\nvalue = 5\n\
                   unit = \"ops/s\"\nqualifier = \"about\"\nstatus = \"current\"\n\
                   source = \"s\"\ndate = \"2024\"\n";
        let one = &parse(row).unwrap()[0];
        assert_eq!((one.transfer_bytes, one.read), (Some(8192), Mix::Share(0.7)));
        let problem = |from: &str, to: &str| parse(&row.replace(from, to)).unwrap_err().to_string();
        assert!(problem("ops/s", "apples/s").contains("wrong unit"));
        assert!(problem("date = \"2024\"\n", "").contains("`date` is missing"));
        assert!(problem("70%", "170%").contains("`read` is unknown"));
        assert!(problem("8KiB", "8000").contains("no size in KiB"));
        assert!(problem("id =", "table = \"x\"\nid =").contains("`table` is unknown"));
        assert!(problem("value = 5", "value = 0").contains("`value` is 0"));
        assert!(problem("calibration", "context").contains("says why"));
        assert!(problem("id =", "hue = 1\nid =").contains("unknown key `hue`"));
        let other = "contradicts = [\"X2\"]\nstatus";
        assert!(problem("status", other).contains("no figure `X2`"));
        assert!(parse(&format!("{row}{row}")).unwrap_err().to_string().contains("a second"));
        let one_sided = format!("{}{}", row.replace("status", other), row.replace("X1", "X2"));
        assert!(parse(&one_sided).unwrap_err().to_string().contains("does not name `X1`"));
    }
}
