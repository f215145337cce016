//! The configuration file of the service, `volumes.toml`.
//!
//! For: reading the text into account, endpoints, limits and delays. All mistakes, including broken
//! rules of the service, are reported together with their positions. Not for: opening files; the
//! caller passes the text, and a function that opens histograms.
//!
//! ```toml
//! [account]                      # optional
//! name = "lab"
//! capacity_quota = "100TiB"      # default: the cloud's
//! cool_down = "24h"              # default: the cloud's
//!
//! [[endpoint]]                   # default: one, near, on a free port of loopback
//! name = "ep1"
//! address = "127.0.0.1:2049"
//! distance = "near"              # or "far"
//! throughput = "9088MiB/s"       # default: no limit
//! ops = "600k/s"                 # default: no limit
//!
//! [[pool]]
//! name = "pool1"
//! service_level = "premium"      # standard, premium, ultra, flexible
//! size = "4TiB"
//! qos = "auto"                   # or "manual"
//!
//! [[volume]]
//! name = "vol1"
//! pool = "pool1"
//! quota = "1TiB"
//! kind = "regular"               # large, breakthrough
//! endpoints = "ep1"              # or a list
//! rules = [                      # default: loopback and private networks may read and write
//!   { clients = "10.0.0.0/24", access = "read-write", squash = "root" },
//!   { clients = ["10.1.0.0/16", "::1"], access = "read-only", squash = "all" },
//! ]
//!
//! [limits]
//! flow_throughput = "1500MiB/s"  # per network flow; default: no limit
//! flow_ops = "65k/s"             # per network flow; default: no limit
//! refill_interval = "5ms"        # the burst is a share of it, stated in the catalogue
//! outstanding_per_connection = 128
//! enforced = true                # false: limits are not in force, to measure the service itself
//!
//! [delay]                        # default: no delay
//! seed = 1
//! read = "500us"
//! write = { median = "300us", p99 = "2ms" }
//! far_read = { histogram = "far.hgrm", unit = "us" }
//! ```

use std::net::SocketAddr;
use std::num::NonZeroU64;

use cloud::catalog::Catalog;
use cloud::row::LimitName;
use cloud::service_level::{QosType, ServiceLevel, VolumeKind};
use cloud::throughput::KibPerSec;
use settings::{Diagnostic, KeySpans, Node, Problems, TableReader, duration_ns};
use toml::de::{DeTable, DeValue};
use units::{Bytes, BytesPerSec, OpsPerSec};

use crate::config_rules::export_rules;
use crate::delay::{DelayModel, Distance, Distribution, Measured};
use crate::export_rules::ExportRules;
use crate::gcra::Rate;
use crate::model::{Account, NetworkFeatures, Pool, Volume};
use crate::qos::Limits;
use crate::rules::{ConfigItem, Rule, check};

/// The default refill interval. It is our choice, because no source states the interval of the real
/// service. A shorter interval spaces requests more evenly. With 5 ms the burst is 7.5 ms of the rate:
/// even the first second after a pause stays within 1 % of the limit, and a client that receives its
/// replies some milliseconds late still reaches the limit.
pub(crate) const REFILL_INTERVAL_NS: u64 = 5_000_000;

/// The configuration of the service.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// Account, pools and volumes; they keep every rule.
    pub account: Account,
    /// Addresses for clients; at least one.
    pub endpoints: Vec<Endpoint>,
    /// Limits of operations per second: `ops[i]` is for `account.volumes[i]`.
    pub ops: Vec<Option<NonZeroU64>>,
    /// Export rules: `rules[i]` is for `account.volumes[i]`.
    pub rules: Vec<ExportRules>,
    /// Limits that apply to all volumes and flows.
    pub limits: ServiceLimits,
    /// Delays of the emulated storage.
    pub delay: DelayModel,
}

/// An address for clients, which several volumes may share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// Its name.
    pub name: String,
    /// Where it listens; port 0 is any free port.
    pub address: SocketAddr,
    /// How far its clients are.
    pub distance: Distance,
    /// Limit of all its volumes together.
    pub throughput: Option<KibPerSec>,
    /// Limit of operations per second, of all its volumes together.
    pub ops: Option<NonZeroU64>,
}

/// Limits that apply to all volumes and flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServiceLimits {
    /// Throughput limit of each network flow.
    pub flow_throughput: Option<KibPerSec>,
    /// Limit of operations per second of each network flow.
    pub flow_ops: Option<NonZeroU64>,
    /// The burst of every limit, as a time at its rate.
    pub burst_ns: u64,
    /// Most requests in progress on one connection; beyond it the service stops reading.
    pub outstanding_per_connection: u64,
    /// Whether limits are in force. False to measure the service itself.
    pub enforced: bool,
}

impl ServiceLimits {
    /// Limits with this burst; none if limits are not enforced.
    pub fn limits(&self, throughput: Option<KibPerSec>, ops: Option<NonZeroU64>) -> Limits {
        if !self.enforced {
            return Limits::default();
        }
        let rate = |per_s| Rate { per_s, burst_ns: self.burst_ns };
        let bytes = throughput.and_then(|limit| NonZeroU64::new(limit.bytes_per_s()));
        Limits { bytes: bytes.map(rate), ops: ops.map(rate) }
    }

    /// Limits of each network flow.
    pub fn flow(&self) -> Limits {
        self.limits(self.flow_throughput, self.flow_ops)
    }
}

/// Reads a configuration.
///
/// * `file` — its name for diagnostics
/// * `open` — returns the text of a histogram file, or an error
///
/// # Errors
/// All mistakes, in the order of the text.
pub fn parse(
    text: &str,
    file: &str,
    catalog: &Catalog,
    open: &mut dyn FnMut(&str) -> Result<String, String>,
) -> Result<Config, Vec<Diagnostic>> {
    settings::parse(text, file, |tree, problems| {
        ConfigReader { catalog, open, problems }.config(tree)
    })
}

/// Settings of a volume that are not part of the account.
struct VolumeExtras {
    ops: Option<NonZeroU64>,
    rules: ExportRules,
}

struct ConfigReader<'a, 't> {
    catalog: &'a Catalog,
    open: &'a mut dyn FnMut(&str) -> Result<String, String>,
    problems: &'a mut Problems<'t>,
}

impl ConfigReader<'_, '_> {
    /// The whole configuration, with placeholders for wrong values.
    fn config(&mut self, tree: &DeTable<'_>) -> Config {
        let mut top = TableReader::root(tree);
        let (mut account, account_spans) = self.account(&mut top);
        let endpoints = self.endpoints(&mut top);
        let mut pool_names = Vec::new();
        let pools: Vec<(Pool, KeySpans)> = top
            .tables("pool", self.problems)
            .into_iter()
            .filter_map(|fields| self.pool(fields, &mut pool_names))
            .collect();
        let volumes: Vec<(Volume, VolumeExtras, KeySpans)> = top
            .tables("volume", self.problems)
            .into_iter()
            .filter_map(|fields| self.volume(fields, &endpoints))
            .collect();
        let limits = self.limits(&mut top);
        let delay = self.delay(&mut top);
        for table in ["pool", "volume"] {
            if top.node(table).is_none() {
                self.problems.add(
                    0..0,
                    format!("there is no [[{table}]]"),
                    "at least one is required",
                );
            }
        }
        top.finish(self.problems);

        account.pools = pools.iter().map(|(pool, _)| pool.clone()).collect();
        account.volumes = volumes.iter().map(|(volume, ..)| volume.clone()).collect();
        for breach in check(self.catalog, &account) {
            let spans = match breach.item {
                ConfigItem::Pool(index) => &pools[index].1,
                ConfigItem::Volume(index) => &volumes[index].2,
                ConfigItem::Account | ConfigItem::Endpoint(_) | ConfigItem::Unknown => {
                    &account_spans
                }
            };
            // A pool whose table has a mistake exists all the same.
            if let Rule::NoSuchPool { pool } = &breach.rule
                && pool_names.contains(pool)
            {
                continue;
            }
            let remedy = breach.rule.remedy();
            self.problems.add(spans.of(breach.key), breach.rule.to_string(), remedy);
        }
        let (ops, rules) =
            volumes.into_iter().map(|(_, extras, _)| (extras.ops, extras.rules)).unzip();
        Config { account, endpoints, ops, rules, limits, delay }
    }

    fn account(&mut self, top: &mut TableReader<'_, '_>) -> (Account, KeySpans) {
        let empty = DeTable::new();
        let fields = top.table("account", self.problems);
        let mut fields = fields.unwrap_or_else(|| TableReader::root(&empty));
        let spans = fields.key_spans();
        let problems = &mut *self.problems;
        let name = fields.text("name", problems).unwrap_or_else(|| "account".to_owned());
        let quota = fields.bytes("capacity_quota", problems);
        let cool_down_ns = fields.duration_ns("cool_down", problems);
        fields.finish(problems);
        let account = Account {
            name,
            capacity_quota: quota
                .unwrap_or(Bytes::gib(self.catalog.limit(LimitName::RegionCapacityMax))),
            cool_down_s: cool_down_ns.map_or(self.catalog.limit(LimitName::LevelCoolDown), |ns| {
                ns.div_ceil(1_000_000_000)
            }),
            pools: Vec::new(),
            volumes: Vec::new(),
        };
        (account, spans)
    }

    fn endpoints(&mut self, top: &mut TableReader<'_, '_>) -> Vec<Endpoint> {
        let loopback = SocketAddr::from(([127, 0, 0, 1], 0));
        let mut endpoints: Vec<Endpoint> = Vec::new();
        for mut fields in top.tables("endpoint", self.problems) {
            let (problems, spans) = (&mut *self.problems, fields.key_spans());
            let name = fields.required_text("name", problems);
            let allowed = "an address with its port, such as `127.0.0.1:2049`";
            let address = fields.read("address", problems, allowed, |text| text.parse().ok());
            let words = [("near", Distance::Near), ("far", Distance::Far)];
            let endpoint = Endpoint {
                name: name.unwrap_or_default(),
                address: address.unwrap_or(loopback),
                distance: fields.word("distance", problems, &words).unwrap_or(Distance::Near),
                throughput: whole_kib_per_s(&mut fields, "throughput", problems),
                ops: whole_ops_per_s(&mut fields, "ops", problems),
            };
            fields.finish(problems);
            for other in &endpoints {
                if other.name == endpoint.name && !endpoint.name.is_empty() {
                    problems.add(spans.of("name"), "this name is used twice", "");
                }
                if other.address == endpoint.address && endpoint.address.port() != 0 {
                    problems.add(spans.of("address"), "this address is used twice", "");
                }
            }
            endpoints.push(endpoint);
        }
        if endpoints.is_empty() {
            endpoints.push(Endpoint {
                name: "endpoint".to_owned(),
                address: loopback,
                distance: Distance::Near,
                throughput: None,
                ops: None,
            });
        }
        endpoints
    }

    fn pool(
        &mut self,
        mut fields: TableReader<'_, '_>,
        names: &mut Vec<String>,
    ) -> Option<(Pool, KeySpans)> {
        let (problems, spans) = (&mut *self.problems, fields.key_spans());
        let name = fields.required_text("name", problems);
        names.extend(name.clone());
        let levels = ServiceLevel::ALL.map(|level| (level.name(), level));
        let level = fields.word("service_level", problems, &levels);
        let size = fields.bytes("size", problems);
        fields.require(&["service_level", "size"], problems);
        let types = QosType::ALL.map(|qos| (qos.name(), qos));
        let qos_is_written = fields.has("qos");
        let qos = fields.word("qos", problems, &types);
        let throughput = whole_kib_per_s(&mut fields, "throughput", problems);
        fields.finish(problems);
        // Without `qos`, the first type of the level.
        let level = level?;
        let by_level = self.catalog.level(level).qos.first().copied().filter(|_| !qos_is_written);
        let qos = qos.or(by_level)?;
        Some((Pool { name: name?, level, size: size?, qos, throughput }, spans))
    }

    fn volume(
        &mut self,
        mut fields: TableReader<'_, '_>,
        endpoints: &[Endpoint],
    ) -> Option<(Volume, VolumeExtras, KeySpans)> {
        let (problems, spans) = (&mut *self.problems, fields.key_spans());
        let name = fields.required_text("name", problems);
        let pool = fields.required_text("pool", problems);
        fields.require(&["quota"], problems);
        let quota = fields.bytes("quota", problems);
        let throughput = whole_kib_per_s(&mut fields, "throughput", problems);
        let kinds = VolumeKind::ALL.map(|kind| (kind.name(), kind));
        let kind = fields.word("kind", problems, &kinds).unwrap_or(VolumeKind::Regular);
        let features = [("standard", NetworkFeatures::Standard), ("basic", NetworkFeatures::Basic)];
        let network =
            fields.word("network", problems, &features).unwrap_or(NetworkFeatures::Standard);
        let named = fields.texts("endpoints", problems, "a name or a list of names");
        let named: Option<Vec<String>> =
            named.map(|names| names.into_iter().map(|(name, _)| name).collect());
        let ops = whole_ops_per_s(&mut fields, "ops", problems);
        let rules = export_rules(&mut fields, self.catalog, problems);
        fields.finish(problems);
        let known = |name: &String| endpoints.iter().any(|endpoint| endpoint.name == *name);
        for unknown in named.iter().flatten().filter(|name| !known(name)) {
            let message = format!("there is no endpoint `{unknown}`");
            problems.add(spans.of("endpoints"), message, "use the name of an [[endpoint]]");
        }
        // Required only if there are several endpoints.
        let endpoints = named.unwrap_or_else(|| match endpoints {
            [only] => vec![only.name.clone()],
            _ => Vec::new(),
        });
        let (name, pool, quota) = (name?, pool?, quota?);
        let volume = Volume { name, pool, kind, network, quota, throughput, endpoints };
        Some((volume, VolumeExtras { ops, rules }, spans))
    }

    fn limits(&mut self, top: &mut TableReader<'_, '_>) -> ServiceLimits {
        let empty = DeTable::new();
        let fields = top.table("limits", self.problems);
        let mut fields = fields.unwrap_or_else(|| TableReader::root(&empty));
        let problems = &mut *self.problems;
        let refill_ns =
            fields.duration_ns("refill_interval", problems).unwrap_or(REFILL_INTERVAL_NS);
        let percent = self.catalog.limit(LimitName::BurstOfRefill);
        let outstanding = fields.read(
            "outstanding_per_connection",
            problems,
            "a whole number from 1 to 65536",
            |text| text.parse().ok().filter(|number| (1..=65_536).contains(number)),
        );
        let limits = ServiceLimits {
            flow_throughput: whole_kib_per_s(&mut fields, "flow_throughput", problems),
            flow_ops: whole_ops_per_s(&mut fields, "flow_ops", problems),
            burst_ns: refill_ns.saturating_mul(percent) / 100,
            outstanding_per_connection: outstanding
                .unwrap_or(self.catalog.limit(LimitName::OutstandingPerConnectionMax)),
            enforced: fields
                .word("enforced", problems, &[("true", true), ("false", false)])
                .unwrap_or(true),
        };
        fields.finish(problems);
        limits
    }

    fn delay(&mut self, top: &mut TableReader<'_, '_>) -> DelayModel {
        let empty = DeTable::new();
        let fields = top.table("delay", self.problems);
        let mut fields = fields.unwrap_or_else(|| TableReader::root(&empty));
        let seed = fields
            .read("seed", self.problems, "a whole number", |text| text.parse().ok())
            .unwrap_or(1);
        let mut read = |key| fields.node(key).and_then(|node| self.distribution(key, node));
        let none = Distribution::Constant { ns: 0 };
        let near_read = read("read").unwrap_or_else(|| none.clone());
        let near_write = read("write").unwrap_or(none);
        let far_read = read("far_read").unwrap_or_else(|| near_read.clone());
        let far_write = read("far_write").unwrap_or_else(|| near_write.clone());
        fields.finish(self.problems);
        DelayModel { seed, read: near_read, write: near_write, far_read, far_write }
    }

    fn distribution(&mut self, key: &'static str, node: &Node<'_>) -> Option<Distribution> {
        const ALLOWED: &str = "a duration, `{ median = \"300us\", p99 = \"2ms\" }`, or \
                               `{ histogram = \"FILE\", unit = \"us\" }`";
        let wrong = |problems: &mut Problems<'_>, message: String| {
            problems.add(node.span(), message, format!("allowed: {ALLOWED}"));
            None
        };
        let wrong_value = |problems: &mut Problems<'_>| {
            problems.wrong_value(node.span(), key, ALLOWED);
            None
        };
        let table = match node.get_ref() {
            DeValue::String(text) => {
                return match duration_ns(text) {
                    Some(ns) => Some(Distribution::Constant { ns }),
                    None => wrong_value(self.problems),
                };
            }
            DeValue::Table(table) => table,
            _ => return wrong_value(self.problems),
        };
        let mut fields = TableReader::new(table, node.span(), format!("`{key}`"));
        let problems = &mut *self.problems;
        let (median, p99) =
            (fields.duration_ns("median", problems), fields.duration_ns("p99", problems));
        let histogram = fields.text("histogram", problems);
        let units = [("ns", 1.0), ("us", 1e3), ("ms", 1e6), ("s", 1e9)];
        let ns_per_unit = fields.word("unit", problems, &units);
        fields.finish(problems);
        match (median, p99, histogram, ns_per_unit) {
            (Some(median_ns), Some(p99_ns), None, None) => {
                match Distribution::lognormal(median_ns, p99_ns) {
                    Some(distribution) => Some(distribution),
                    None => wrong(problems, "the median is 0 or above the p99".to_owned()),
                }
            }
            (None, None, Some(path), Some(ns_per_unit)) => {
                let text = (self.open)(&path);
                let measured = text.and_then(|text| {
                    Measured::parse(&text, ns_per_unit).map_err(|error| error.to_string())
                });
                match measured {
                    Ok(measured) => Some(Distribution::Measured(measured)),
                    Err(problem) => {
                        problems.add(node.span(), format!("read histogram {path}: {problem}"), "");
                        None
                    }
                }
            }
            _ if problems.has_line_of(&node.span()) => None,
            _ => wrong(problems, format!("`{key}` has none of the three forms")),
        }
    }
}

/// A throughput of whole KiB/s.
fn whole_kib_per_s(
    fields: &mut TableReader<'_, '_>,
    key: &'static str,
    problems: &mut Problems<'_>,
) -> Option<KibPerSec> {
    let allowed = "a throughput of whole KiB/s above 0, such as `64MiB/s`";
    fields.read(key, problems, allowed, |text| {
        text.parse::<BytesPerSec>().ok().and_then(KibPerSec::whole)
    })
}

/// A whole number of operations per second.
fn whole_ops_per_s(
    fields: &mut TableReader<'_, '_>,
    key: &'static str,
    problems: &mut Problems<'_>,
) -> Option<NonZeroU64> {
    fields.read(key, problems, "a rate of at least `1/s`, such as `100k/s`", |text| {
        let rate = text.parse::<OpsPerSec>().ok()?.get();
        let whole = (1.0..=1e12).contains(&rate) && rate.fract() == 0.0;
        NonZeroU64::new(if whole { rate as u64 } else { 0 })
    })
}
