//! Figures published by vendors, from `data/published.toml`.
//!
//! For: calibrating and validating a model of the service, and comparison with measurements. Each
//! figure has its configuration as far as the source states it; figures that contradict each other
//! refer to each other. Not for: limits that the service states (`service_levels.toml`), or the
//! interpretation of figures.

use units::{BytesPerSec, OpsPerSec};

use crate::reason::RowRef;
use crate::row::{Origin, Status};
use crate::row_reader::{Row, RowsError, rows};
use crate::service_level::VolumeKind;

/// The file's name.
pub const FILE: &str = "published.toml";
/// The embedded figures.
const PUBLISHED: &str = include_str!("../../../data/published.toml");
/// Bytes in a MiB.
const MIB: f64 = 1_048_576.0;
/// Bytes in a KiB.
const KIB: u64 = 1024;

/// One figure of a document.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// Its identifier in the data, such as `A05`.
    pub id: String,
    /// How the product uses it.
    pub role: Role,
    /// The table of the documents that it is from.
    pub table: Option<Table>,
    /// Why it is only context.
    pub why_context: Option<String>,
    /// The protocol of the clients.
    pub protocol: Protocol,
    /// Whether the source states it for a volume or an endpoint.
    pub scope: Scope,
    /// The kind of the volumes; `None` for an endpoint's figure.
    pub volume: Option<VolumeKind>,
    /// Number of volumes that share the load; 1 unless the source states more.
    pub volumes: u64,
    /// Number of endpoints of the volumes, if stated; otherwise the usual number for their kind.
    pub endpoints: Option<u64>,
    /// The throughput limit of each volume, if stated.
    pub limit: Option<BytesPerSec>,
    /// Number of clients; `None` if not stated, or "many".
    pub hosts: Option<u64>,
    /// The VM size of the clients.
    pub vm: Option<String>,
    /// The kind of ESXi host that they run on, whose connections then count.
    pub esxi: Option<String>,
    /// Virtual machines per ESXi host.
    pub guests: Option<u64>,
    /// Connections per host, if stated.
    pub nconnect: Option<u64>,
    /// Bytes per operation.
    pub transfer_bytes: Option<u64>,
    /// rsize and wsize in bytes, if operations are larger.
    pub call_bytes: Option<u64>,
    /// The access pattern.
    pub pattern: Option<Access>,
    /// The share of reads.
    pub read: Mix,
    /// Whether caches were used; `None` if not stated.
    pub caching: Option<bool>,
    /// Outstanding operations, over all clients.
    pub outstanding: Option<u64>,
    /// The latency floor (queue depth 1), in seconds.
    pub floor_s: Option<f64>,
    /// The response time at this figure, in seconds.
    pub response_s: Option<f64>,
    /// The result.
    pub value: Value,
    /// How exactly the source states it.
    pub qualifier: Qualifier,
    /// Figures of the same configuration with other results.
    pub contradicts: Vec<String>,
    /// Its operations on names, if it has any.
    pub names: Option<NameOperations>,
    /// Its source.
    pub origin: Origin,
}

/// How the product uses a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The model is fitted to it.
    Calibration,
    /// The model is tested with it, and never fitted.
    Validation,
    /// It is shown, but not used by the model.
    Context,
    /// It is a response time at a load without queueing.
    Anchor,
}

/// A protocol of file access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// NFS version 3.
    Nfsv3,
    /// SMB, of any version.
    Smb,
}

/// What a figure is stated for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// One or several volumes.
    Volume,
    /// An endpoint or the path to it, with any volumes.
    Endpoint,
}

/// A table of the documents of 2019 to 2024.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Table {
    /// ESXi hosts and datastores: connections are hosts x datastores.
    HostsAndDatastores,
    /// One host with one connection and with many.
    Connections,
    /// Many hosts on one regular volume, from 100 % reads to 100 % writes.
    Range,
    /// One large volume.
    LargeVolume,
}

/// An access pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Sequential.
    Sequential,
    /// Random.
    Random,
}

/// The share of reads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Mix {
    /// This fraction, 0 to 1.
    Share(f64),
    /// The share with the highest result.
    Peak,
    /// The mean over shares from 0 to 100 %.
    Average,
    /// The source does not state it.
    NotStated,
}

/// A published result.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// A rate of operations.
    Rate(OpsPerSec),
    /// A throughput.
    Throughput(BytesPerSec),
    /// A response time in seconds.
    Seconds(f64),
}

/// How exactly a source states its figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Qualifier {
    /// Without a qualification.
    Exactly,
    /// Rounded.
    About,
    /// The highest observed value.
    AtMost,
    /// More than this was observed.
    Over,
    /// A mean over different loads.
    Average,
    /// It follows from other figures of the source.
    Derived,
}

/// Operations on names that move no data, in a figure with other operations.
#[derive(Clone, Debug, PartialEq)]
pub struct NameOperations {
    /// Their share of the operations.
    pub share: f64,
    /// Their kinds, by the names of experiments.
    pub kinds: Vec<String>,
}

impl Protocol {
    /// The name in data and arguments.
    pub const fn name(self) -> &'static str {
        match self {
            Protocol::Nfsv3 => "nfsv3",
            Protocol::Smb => "smb",
        }
    }

    /// The protocol with this name.
    pub fn named(name: &str) -> Option<Protocol> {
        [Protocol::Nfsv3, Protocol::Smb].into_iter().find(|protocol| protocol.name() == name)
    }
}

impl Table {
    /// All values.
    pub const ALL: [Table; 4] =
        [Table::HostsAndDatastores, Table::Connections, Table::Range, Table::LargeVolume];

    /// The name in the data.
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
    /// The name in data and arguments.
    pub const fn name(self) -> &'static str {
        match self {
            Access::Sequential => "sequential",
            Access::Random => "random",
        }
    }

    /// The pattern with this name.
    pub fn named(name: &str) -> Option<Access> {
        [Access::Sequential, Access::Random].into_iter().find(|access| access.name() == name)
    }
}

impl Qualifier {
    /// The name in the data.
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
    /// The rate of its operations on names that move no data.
    pub fn name_rate(&self) -> Option<OpsPerSec> {
        match (&self.names, self.value) {
            (Some(names), Value::Rate(rate)) => Some(OpsPerSec::new(rate.get() * names.share)),
            _ => None,
        }
    }

    /// Its document. Figures of one document are not independent of each other.
    pub fn document(&self) -> &str {
        &self.origin.source
    }

    /// A reference to its row.
    pub fn row_ref(&self) -> RowRef {
        RowRef::new(FILE, format!("figure {}", self.id), &self.origin)
    }
}

/// All figures, in the order of the data.
pub fn all() -> Vec<Figure> {
    parse(PUBLISHED).expect("a test reads the embedded figures")
}

/// The figure with the largest rate of operations on names of one volume of this kind, over NFS.
pub fn most_names(figures: &[Figure], kind: VolumeKind) -> Option<(OpsPerSec, &Figure)> {
    let of_kind = figures.iter().filter(|figure| {
        figure.volume == Some(kind)
            && figure.volumes == 1
            && figure.protocol == Protocol::Nfsv3
            && figure.origin.status == Status::Current
    });
    let rates = of_kind.filter_map(|figure| Some((figure.name_rate()?, figure)));
    rates.max_by(|a, b| a.0.get().total_cmp(&b.0.get()))
}

/// The kinds of operations on names for which figures have a rate.
pub fn name_kinds(figures: &[Figure]) -> Vec<&str> {
    let mut kinds: Vec<&str> = Vec::new();
    for names in figures.iter().filter_map(|figure| figure.names.as_ref()) {
        for kind in &names.kinds {
            if !kinds.contains(&kind.as_str()) {
                kinds.push(kind);
            }
        }
    }
    kinds
}

/// Reads the text of a table of figures.
///
/// # Errors
/// All problems of the text.
pub fn parse(text: &str) -> Result<Vec<Figure>, RowsError> {
    let figures = rows(text, FILE, |table, row| match table {
        "figure" => figure(row),
        _ => Err("unknown table".to_owned()),
    })?;
    let wrong = |figure: &Figure, problem: String| RowsError::Contradiction {
        row: format!("figure {}", figure.id),
        problem,
    };
    for (index, figure) in figures.iter().enumerate() {
        if figures[..index].iter().any(|other| other.id == figure.id) {
            return Err(wrong(figure, "a second row".to_owned()));
        }
        for id in &figure.contradicts {
            let other = figures.iter().find(|other| other.id == *id);
            let other = other.ok_or_else(|| wrong(figure, format!("there is no figure `{id}`")))?;
            if !other.contradicts.contains(&figure.id) {
                return Err(wrong(figure, format!("`{id}` does not name `{}`", figure.id)));
            }
        }
    }
    Ok(figures)
}

fn figure(row: &mut Row<'_, '_>) -> Result<Figure, String> {
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
        limit: row.optional("limit_mib_s", count)?.map(|mib| BytesPerSec::new(mib as f64 * MIB)),
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
        names: names(row)?,
        origin: row.origin()?,
    };
    match (figure.role, &figure.why_context) {
        (Role::Context, None) => Err("context needs a reason, in `why`".to_owned()),
        (Role::Context, Some(_)) | (_, None) => Ok(figure),
        (_, Some(_)) => Err("`why` belongs to context only".to_owned()),
    }
}

fn names(row: &mut Row<'_, '_>) -> Result<Option<NameOperations>, String> {
    let share = row.optional("names", |row, key| row.named(key, mix))?;
    let kinds = row.optional("name_kinds", Row::texts)?;
    match (share, kinds) {
        (Some(Mix::Share(share)), Some(kinds)) => Ok(Some(NameOperations { share, kinds })),
        (None, None) => Ok(None),
        _ => Err("`names` is a share, and has `name_kinds`".to_owned()),
    }
}

fn value(row: &mut Row<'_, '_>) -> Result<Value, String> {
    let (value, unit) = (count(row, "value")? as f64, row.text("unit")?);
    match unit.as_str() {
        "ops/s" => Ok(Value::Rate(OpsPerSec::new(value))),
        "MiB/s" => Ok(Value::Throughput(BytesPerSec::new(value * MIB))),
        "us" => Ok(Value::Seconds(value / 1e6)),
        _ => Err(format!("wrong unit `{unit}`")),
    }
}

fn count(row: &mut Row<'_, '_>, key: &str) -> Result<u64, String> {
    match row.number(key)? {
        0 => Err(format!("`{key}` is 0")),
        number => Ok(number),
    }
}

/// Whole KiB as bytes.
fn kib(row: &mut Row<'_, '_>, key: &str) -> Result<u64, String> {
    let text = row.text(key)?;
    let number = text.strip_suffix("KiB").and_then(|number| number.parse::<u64>().ok());
    let bytes = number.and_then(|number| number.checked_mul(KIB)).filter(|bytes| *bytes > 0);
    bytes.ok_or_else(|| format!("`{key}` is not a size in KiB: `{text}`"))
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
    fn the_embedded_figures_are_complete() {
        let all = parse(PUBLISHED).unwrap();
        let of = |role| all.iter().filter(|figure| figure.role == role).count();
        assert_eq!(of(Role::Validation), 29);
        assert!(of(Role::Calibration) > 50 && of(Role::Anchor) >= 5);
        // Figures of the documents.
        let named = |id: &str| all.iter().find(|figure| figure.id == id).unwrap();
        assert_eq!(named("A44").value, Value::Rate(OpsPerSec::new(709_000.0)));
        assert_eq!(named("A20").value, Value::Throughput(BytesPerSec::new(10_500.0 * MIB)));
        assert_eq!((named("A33").hosts, named("A33").volumes), (Some(4), 4));
        assert_eq!(named("A16").floor_s, Some(0.001_909));
        assert!(named("B08").contradicts.contains(&"B10".to_owned()));
        // The page of EDA workloads measured a large volume at a third of its load.
        assert_eq!(named("G05").volume, Some(VolumeKind::Large));
        assert_eq!(named("C12").endpoints, Some(5));
        // 88 job sets, with 180 operations on names per second each.
        let names = named("C08").name_rate().unwrap().get();
        assert!((names / 180.0 - 88.0).abs() < 0.01, "{names}");
        // All 12 figures of a large volume.
        let large = all.iter().filter(|figure| figure.table == Some(Table::LargeVolume));
        assert_eq!(large.count(), 12);
    }

    #[test]
    fn an_invalid_figure_is_refused() {
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
        assert!(problem("8KiB", "8000").contains("not a size in KiB"));
        assert!(problem("id =", "names = \"40%\"\nid =").contains("has `name_kinds`"));
        assert!(problem("id =", "table = \"x\"\nid =").contains("`table` is unknown"));
        assert!(problem("value = 5", "value = 0").contains("`value` is 0"));
        assert!(problem("calibration", "context").contains("needs a reason"));
        assert!(
            problem("id =", "hue = 1\nid =").contains("unknown key in [[figure]], found `hue`")
        );
        let other = "contradicts = [\"X2\"]\nstatus";
        assert!(problem("status", other).contains("no figure `X2`"));
        assert!(parse(&format!("{row}{row}")).unwrap_err().to_string().contains("a second"));
        let one_sided = format!("{}{}", row.replace("status", other), row.replace("X1", "X2"));
        assert!(parse(&one_sided).unwrap_err().to_string().contains("does not name `X1`"));
    }
}
