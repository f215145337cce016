//! `volumes.toml`: what the service is to be.
//!
//! For: reading the text into account, endpoints, limits and delays, with every mistake of form and
//! every broken rule of the service at once, each with its place. Not for: reading files; the
//! caller gives the text, and a function for the histograms that it names.
//!
//! ```toml
//! [account]                      # all of it may be left out
//! name = "lab"
//! capacity_quota = "100TiB"      # default: the service's
//! cool_down = "24h"              # default: the service's
//!
//! [[endpoint]]                   # without any there is one, near, on a free port of loopback
//! name = "ep1"
//! address = "127.0.0.1:2049"
//! distance = "near"              # or "far"
//! throughput = "9088MiB/s"       # without it no limit
//! ops = "600k/s"
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
//! endpoints = "ep1"              # a list where there are several
//! rules = [                      # without them loopback and private networks, read and write
//!   { clients = "10.0.0.0/24", access = "read-write", squash = "root" },
//!   { clients = ["10.1.0.0/16", "::1"], access = "read-only", squash = "all" },
//! ]
//!
//! [limits]
//! flow_throughput = "1500MiB/s"  # of each network flow; without it no limit
//! flow_ops = "65k/s"
//! refill_interval = "5ms"        # the burst is a share of it that the catalogue states
//! outstanding_per_connection = 128
//! enforced = true                # false: no limit is in force, to measure the service itself
//!
//! [delay]                        # without it none
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
use toml::de::{DeTable, DeValue};
use units::Bytes;

use crate::config_rules::export_rules;
use crate::delay::{DelayModel, Distance, Distribution, Measured};
use crate::export_rules::ExportRules;
use crate::fields::{Fields, Node, Places, duration_ns};
use crate::gcra::Rate;
use crate::model::{Account, NetworkFeatures, Pool, Volume};
use crate::qos::Limits;
use crate::rules::{Rule, Subject, check};
use units::diagnostic::{Diagnostic, Mistakes};

/// Our choice: no source states the interval at which the service refills its tokens. The shorter
/// it is, the more evenly requests go. With this one the burst is 7.5 ms of the rate: even the
/// second that begins after a pause stays within 1 % of the limit, and a client that is told of its
/// answers some milliseconds late still gets all of it.
pub(crate) const REFILL_INTERVAL_NS: u64 = 5_000_000;

/// What the service is to be.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// Account, pools and volumes; they keep every rule.
    pub account: Account,
    /// Where clients come to; at least one.
    pub endpoints: Vec<Endpoint>,
    /// Operations per second of a volume: `ops[i]` is for `account.volumes[i]`.
    pub ops: Vec<Option<NonZeroU64>>,
    /// Who may use a volume: `rules[i]` is for `account.volumes[i]`.
    pub rules: Vec<ExportRules>,
    /// What holds for everything.
    pub limits: ServiceLimits,
    /// The time that storage takes.
    pub delay: DelayModel,
}

/// Where clients come to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// What it is called.
    pub name: String,
    /// Where it listens; port 0 is any that is free.
    pub address: SocketAddr,
    /// How far its clients are.
    pub distance: Distance,
    /// Of all its volumes together.
    pub throughput: Option<KibPerSec>,
    /// Of all its volumes together.
    pub ops: Option<NonZeroU64>,
}

/// What holds for everything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServiceLimits {
    /// Of each network flow.
    pub flow_throughput: Option<KibPerSec>,
    /// Of each network flow.
    pub flow_ops: Option<NonZeroU64>,
    /// The time whose units may go at once.
    pub burst_ns: u64,
    /// Requests of one connection that are worked on; beyond it the service stops reading.
    pub outstanding_per_connection: u64,
    /// False: limits are told but hold nothing back, so that the service itself can be measured.
    pub enforced: bool,
}

impl ServiceLimits {
    /// Limits with the burst that holds for everything; none where they are not enforced.
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
/// * `file` — its name as the user gave it
/// * `open` — gives the text of a file that it names, or says why not
///
/// # Errors
/// Every mistake, in the order of the text.
pub fn parse(
    text: &str,
    file: &str,
    catalog: &Catalog,
    open: &mut dyn FnMut(&str) -> Result<String, String>,
) -> Result<Config, Vec<Diagnostic>> {
    let (tree, errors) = DeTable::parse_recoverable(text);
    let mut syntax = Mistakes::new(file, text);
    for error in &errors {
        let message = error.message().lines().collect::<Vec<_>>().join("; ");
        syntax.add(error.span().unwrap_or(0..0), format!("this is not TOML: {message}"), "");
    }
    let syntax = syntax.into_sorted();
    let mut walk = Walk { catalog, open, mistakes: Mistakes::new(file, text) };
    let config = walk.config(tree.get_ref());
    let mut mistakes = walk.mistakes.into_sorted();
    // What the parser made of a broken line is not what the user meant by it.
    mistakes.retain(|mistake| syntax.iter().all(|error| error.line != mistake.line));
    mistakes.extend(syntax);
    mistakes.sort_by_key(|mistake| mistake.span.start);
    if mistakes.is_empty() { Ok(config) } else { Err(mistakes) }
}

/// What a volume's table asks for beside the volume of the account.
struct Asked {
    ops: Option<NonZeroU64>,
    rules: ExportRules,
}

struct Walk<'a, 'o> {
    catalog: &'a Catalog,
    open: &'o mut dyn FnMut(&str) -> Result<String, String>,
    mistakes: Mistakes<'a>,
}

impl Walk<'_, '_> {
    /// Everything, with something in the place of what is wrong.
    fn config(&mut self, tree: &DeTable<'_>) -> Config {
        let mut top = Fields::new(tree, 0..0, "the file");
        let (mut account, account_places) = self.account(&mut top);
        let endpoints = self.endpoints(&mut top);
        let mut pool_names = Vec::new();
        let pools: Vec<(Pool, Places)> = self
            .tables(&mut top, "pool")
            .into_iter()
            .filter_map(|fields| self.pool(fields, &mut pool_names))
            .collect();
        let volumes: Vec<(Volume, Asked, Places)> = self
            .tables(&mut top, "volume")
            .into_iter()
            .filter_map(|fields| self.volume(fields, &endpoints))
            .collect();
        let limits = self.limits(&mut top);
        let delay = self.delay(&mut top);
        for table in ["pool", "volume"] {
            if top.node(table).is_none() {
                self.mistakes.add(0..0, format!("there is no [[{table}]]"), "at least one");
            }
        }
        top.finish(&mut self.mistakes);

        account.pools = pools.iter().map(|(pool, _)| pool.clone()).collect();
        account.volumes = volumes.iter().map(|(volume, ..)| volume.clone()).collect();
        for breach in check(self.catalog, &account) {
            let places = match breach.subject {
                Subject::Pool(index) => &pools[index].1,
                Subject::Volume(index) => &volumes[index].2,
                Subject::Account | Subject::Endpoint(_) | Subject::Unknown => &account_places,
            };
            // A pool whose table has a mistake is there all the same.
            if let Rule::NoSuchPool { pool } = &breach.rule
                && pool_names.contains(pool)
            {
                continue;
            }
            let remedy = breach.rule.remedy();
            self.mistakes.add(places.of(breach.key), breach.rule.to_string(), remedy);
        }
        let (ops, rules) =
            volumes.into_iter().map(|(_, asked, _)| (asked.ops, asked.rules)).unzip();
        Config { account, endpoints, ops, rules, limits, delay }
    }

    /// The tables of a list `[[name]]`.
    fn tables<'t, 'i>(
        &mut self,
        top: &mut Fields<'t, 'i>,
        name: &'static str,
    ) -> Vec<Fields<'t, 'i>> {
        let Some(node) = top.node(name) else { return Vec::new() };
        let mut tables = Vec::new();
        match node.get_ref() {
            DeValue::Array(items) => {
                for item in items.iter() {
                    match item.get_ref() {
                        DeValue::Table(table) => {
                            tables.push(Fields::new(table, item.span(), format!("[[{name}]]")));
                        }
                        _ => self.mistakes.add(item.span(), "this is not a table", ""),
                    }
                }
            }
            _ => {
                let hint = format!("write [[{name}]]");
                self.mistakes.add(node.span(), format!("`{name}` is a list of tables"), hint);
            }
        }
        tables
    }

    /// The table `[name]`, if there is one.
    fn table<'t, 'i>(
        &mut self,
        top: &mut Fields<'t, 'i>,
        name: &'static str,
    ) -> Option<Fields<'t, 'i>> {
        let node = top.node(name)?;
        match node.get_ref() {
            DeValue::Table(table) => Some(Fields::new(table, node.span(), format!("[{name}]"))),
            _ => {
                let hint = format!("write [{name}]");
                self.mistakes.add(node.span(), format!("`{name}` is a table"), hint);
                None
            }
        }
    }

    fn account(&mut self, top: &mut Fields<'_, '_>) -> (Account, Places) {
        let empty = DeTable::new();
        let mut fields =
            self.table(top, "account").unwrap_or_else(|| Fields::new(&empty, 0..0, "[account]"));
        let places = fields.places();
        let mistakes = &mut self.mistakes;
        let name = fields.name("name", mistakes).unwrap_or_else(|| "account".to_owned());
        let quota = fields.bytes("capacity_quota", mistakes);
        let cool_down_ns = fields.duration("cool_down", mistakes);
        fields.finish(mistakes);
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
        (account, places)
    }

    fn endpoints(&mut self, top: &mut Fields<'_, '_>) -> Vec<Endpoint> {
        let loopback = SocketAddr::from(([127, 0, 0, 1], 0));
        let mut endpoints: Vec<Endpoint> = Vec::new();
        for mut fields in self.tables(top, "endpoint") {
            let (mistakes, places) = (&mut self.mistakes, fields.places());
            let name = fields.required_name("name", mistakes);
            let allowed = "an address with its port, such as `127.0.0.1:2049`";
            let address = fields.read("address", mistakes, allowed, |text| text.parse().ok());
            let words = [("near", Distance::Near), ("far", Distance::Far)];
            let endpoint = Endpoint {
                name: name.unwrap_or_default(),
                address: address.unwrap_or(loopback),
                distance: fields.word("distance", mistakes, &words).unwrap_or(Distance::Near),
                throughput: fields.throughput("throughput", mistakes),
                ops: fields.ops("ops", mistakes),
            };
            fields.finish(mistakes);
            for other in &endpoints {
                if other.name == endpoint.name && !endpoint.name.is_empty() {
                    mistakes.add(places.of("name"), "this name stands twice", "");
                }
                if other.address == endpoint.address && endpoint.address.port() != 0 {
                    mistakes.add(places.of("address"), "this address stands twice", "");
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
        mut fields: Fields<'_, '_>,
        names: &mut Vec<String>,
    ) -> Option<(Pool, Places)> {
        let (mistakes, places) = (&mut self.mistakes, fields.places());
        let name = fields.required_name("name", mistakes);
        names.extend(name.clone());
        let levels = ServiceLevel::ALL.map(|level| (level.name(), level));
        let level = fields.word("service_level", mistakes, &levels);
        let size = fields.bytes("size", mistakes);
        for key in ["service_level", "size"] {
            if fields.node(key).is_none() {
                fields.missing(key, mistakes);
            }
        }
        let types = QosType::ALL.map(|qos| (qos.name(), qos));
        let qos_is_wrong = fields.node("qos").is_some();
        let qos = fields.word("qos", mistakes, &types);
        let throughput = fields.throughput("throughput", mistakes);
        fields.finish(mistakes);
        // Where nothing is written, the first type that the level has.
        let level = level?;
        let by_level = self.catalog.level(level).qos.first().copied().filter(|_| !qos_is_wrong);
        let qos = qos.or(by_level)?;
        Some((Pool { name: name?, level, size: size?, qos, throughput }, places))
    }

    fn volume(
        &mut self,
        mut fields: Fields<'_, '_>,
        endpoints: &[Endpoint],
    ) -> Option<(Volume, Asked, Places)> {
        let (mistakes, places) = (&mut self.mistakes, fields.places());
        let name = fields.required_name("name", mistakes);
        let pool = fields.required_name("pool", mistakes);
        if fields.node("quota").is_none() {
            fields.missing("quota", mistakes);
        }
        let quota = fields.bytes("quota", mistakes);
        let throughput = fields.throughput("throughput", mistakes);
        let kinds = VolumeKind::ALL.map(|kind| (kind.name(), kind));
        let kind = fields.word("kind", mistakes, &kinds).unwrap_or(VolumeKind::Regular);
        let features = [("standard", NetworkFeatures::Standard), ("basic", NetworkFeatures::Basic)];
        let network =
            fields.word("network", mistakes, &features).unwrap_or(NetworkFeatures::Standard);
        let named = fields.names("endpoints", mistakes);
        let ops = fields.ops("ops", mistakes);
        let rules = export_rules(&mut fields, self.catalog, mistakes);
        fields.finish(mistakes);
        let known = |name: &String| endpoints.iter().any(|endpoint| endpoint.name == *name);
        for unknown in named.iter().flatten().filter(|name| !known(name)) {
            let message = format!("no endpoint is called `{unknown}`");
            mistakes.add(places.of("endpoints"), message, "name one of the [[endpoint]]s");
        }
        // With one endpoint there is no choice to make; with several it has to be made.
        let endpoints = named.unwrap_or_else(|| match endpoints {
            [only] => vec![only.name.clone()],
            _ => Vec::new(),
        });
        let (name, pool, quota) = (name?, pool?, quota?);
        let volume = Volume { name, pool, kind, network, quota, throughput, endpoints };
        Some((volume, Asked { ops, rules }, places))
    }

    fn limits(&mut self, top: &mut Fields<'_, '_>) -> ServiceLimits {
        let empty = DeTable::new();
        let mut fields =
            self.table(top, "limits").unwrap_or_else(|| Fields::new(&empty, 0..0, "[limits]"));
        let mistakes = &mut self.mistakes;
        let refill_ns = fields.duration("refill_interval", mistakes).unwrap_or(REFILL_INTERVAL_NS);
        let percent = self.catalog.limit(LimitName::BurstOfRefill);
        let outstanding = fields.read(
            "outstanding_per_connection",
            mistakes,
            "a whole number from 1 to 65536",
            |text| text.parse().ok().filter(|number| (1..=65_536).contains(number)),
        );
        let limits = ServiceLimits {
            flow_throughput: fields.throughput("flow_throughput", mistakes),
            flow_ops: fields.ops("flow_ops", mistakes),
            burst_ns: refill_ns.saturating_mul(percent) / 100,
            outstanding_per_connection: outstanding
                .unwrap_or(self.catalog.limit(LimitName::OutstandingPerConnectionMax)),
            enforced: fields
                .word("enforced", mistakes, &[("true", true), ("false", false)])
                .unwrap_or(true),
        };
        fields.finish(mistakes);
        limits
    }

    fn delay(&mut self, top: &mut Fields<'_, '_>) -> DelayModel {
        let empty = DeTable::new();
        let mut fields =
            self.table(top, "delay").unwrap_or_else(|| Fields::new(&empty, 0..0, "[delay]"));
        let seed = fields.number("seed", &mut self.mistakes).unwrap_or(1);
        let mut read = |key| fields.node(key).and_then(|node| self.distribution(key, node));
        let none = Distribution::Constant { ns: 0 };
        let near_read = read("read").unwrap_or_else(|| none.clone());
        let near_write = read("write").unwrap_or(none);
        let far_read = read("far_read").unwrap_or_else(|| near_read.clone());
        let far_write = read("far_write").unwrap_or_else(|| near_write.clone());
        fields.finish(&mut self.mistakes);
        DelayModel { seed, read: near_read, write: near_write, far_read, far_write }
    }

    fn distribution(&mut self, key: &'static str, node: &Node<'_>) -> Option<Distribution> {
        const ALLOWED: &str = "a duration, `{ median = \"300us\", p99 = \"2ms\" }`, or \
                               `{ histogram = \"FILE\", unit = \"us\" }`";
        let wrong = |mistakes: &mut Mistakes<'_>, message: String| {
            mistakes.add(node.span(), message, ALLOWED);
            None
        };
        let table = match node.get_ref() {
            DeValue::String(text) => {
                return match duration_ns(text) {
                    Some(ns) => Some(Distribution::Constant { ns }),
                    None => wrong(&mut self.mistakes, format!("wrong value for `{key}`")),
                };
            }
            DeValue::Table(table) => table,
            _ => return wrong(&mut self.mistakes, format!("wrong value for `{key}`")),
        };
        let mut fields = Fields::new(table, node.span(), format!("`{key}`"));
        let mistakes = &mut self.mistakes;
        let (median, p99) = (fields.duration("median", mistakes), fields.duration("p99", mistakes));
        let histogram = fields.name("histogram", mistakes);
        let units = [("ns", 1.0), ("us", 1e3), ("ms", 1e6), ("s", 1e9)];
        let ns_per_unit = fields.word("unit", mistakes, &units);
        fields.finish(mistakes);
        match (median, p99, histogram, ns_per_unit) {
            (Some(median_ns), Some(p99_ns), None, None) => {
                match Distribution::lognormal(median_ns, p99_ns) {
                    Some(distribution) => Some(distribution),
                    None => wrong(mistakes, "the median is 0 or above the p99".to_owned()),
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
                        mistakes.add(node.span(), format!("read histogram {path}: {problem}"), "");
                        None
                    }
                }
            }
            _ if mistakes.has_line_of(&node.span()) => None,
            _ => wrong(mistakes, format!("`{key}` is none of the three forms")),
        }
    }
}
