//! The circumstances of an experiment, grouped into items that a user can allow to differ.

use std::collections::BTreeSet;

use metrics::environment::{fact_of_target, without_target};
use metrics::interleaved::Interleaved;
use metrics::run_record::ExperimentRecord;
use units::{Bytes, BytesPerSec, Nanos};
use workload::plan::{EmulatedVolume, TargetSpec};

/// A fact about the circumstances of an experiment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fact {
    /// Its item.
    pub item: Item,
    /// Its name as in the record: `kernel.release`.
    pub key: String,
    /// Its value as in the record.
    pub value: String,
}

/// A group of facts in which two experiments can differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Item {
    /// The operating system's kernel.
    Kernel,
    /// How operations reach the kernel.
    Engine,
    /// File system, mount options, transfer sizes and slots.
    Mount,
    /// Connections to the export.
    Nconnect,
    /// The size of the virtual machine, or the machine's model.
    Vm,
    /// Number and model of processors, and how they are set.
    Cpu,
    /// The host's memory.
    Memory,
    /// Network interface and driver.
    Network,
    /// The clock source.
    Clock,
    /// The target.
    Target,
    /// The emulated volume's settings.
    Volume,
    /// The plan of the load points.
    Plan,
    /// Whether a client cache served data.
    Cache,
    /// The build of this program.
    Tool,
    /// Anything else: reported, but does not prevent a verdict.
    Other,
}

impl Item {
    /// All of them, in the order of reports.
    pub const ALL: [Item; 15] = [
        Item::Kernel,
        Item::Engine,
        Item::Mount,
        Item::Nconnect,
        Item::Vm,
        Item::Cpu,
        Item::Memory,
        Item::Network,
        Item::Clock,
        Item::Target,
        Item::Volume,
        Item::Plan,
        Item::Cache,
        Item::Tool,
        Item::Other,
    ];

    /// The name on the command line and in files.
    pub const fn name(self) -> &'static str {
        match self {
            Item::Kernel => "kernel",
            Item::Engine => "engine",
            Item::Mount => "mount",
            Item::Nconnect => "nconnect",
            Item::Vm => "vm",
            Item::Cpu => "cpu",
            Item::Memory => "memory",
            Item::Network => "network",
            Item::Clock => "clock",
            Item::Target => "target",
            Item::Volume => "volume",
            Item::Plan => "plan",
            Item::Cache => "cache",
            Item::Tool => "tool",
            Item::Other => "other",
        }
    }

    /// Whether a difference in it prevents a verdict unless the user allows it.
    pub const fn prevents_verdict(self) -> bool {
        !matches!(self, Item::Other)
    }

    /// The item of that name.
    pub fn named(name: &str) -> Option<Item> {
        Item::ALL.into_iter().find(|item| item.name() == name && item.prevents_verdict())
    }
}

/// Facts that change from one moment to the next, or that repeat other facts.
const IGNORED: &[&str] = &[
    "command.line",
    "experiment.text",
    "filesystem.free_bytes",
    "mount.rsize_bytes",
    "mount.security",
    "mount.version",
    "mount.wsize_bytes",
    "target.null_round_trip_ns",
];

/// The address of an export.
const SERVICE_ADDRESS: &[&str] = &["target.servers", "target.url"];

/// Prefixes of facts' names with their items; the first match counts.
const ITEMS: &[(&str, Item)] = &[
    ("kernel.", Item::Kernel),
    ("io_uring.", Item::Kernel),
    ("filesystem.size_bytes", Item::Target),
    ("filesystem.", Item::Mount),
    ("mount.nconnect", Item::Nconnect),
    ("mount.point", Item::Target),
    ("mount.server", Item::Target),
    ("mount.source", Item::Target),
    ("mount.", Item::Mount),
    ("nfs.", Item::Mount),
    ("sunrpc.", Item::Mount),
    ("target.rsize", Item::Mount),
    ("target.wsize", Item::Mount),
    ("target.direct_io", Item::Mount),
    ("target.", Item::Target),
    ("device.", Item::Target),
    ("vm.", Item::Vm),
    ("machine.", Item::Vm),
    ("virtualisation", Item::Vm),
    ("cpu.", Item::Cpu),
    ("numa.", Item::Cpu),
    ("memory.", Item::Memory),
    ("nic.", Item::Network),
    ("core.", Item::Network),
    ("tcp.", Item::Network),
    ("transport.", Item::Network),
    ("clock", Item::Clock),
    ("fourcorners.", Item::Tool),
];

/// Prefix of the names of mount options' facts.
pub const OPTION: &str = "mount option ";

/// Lists of mount options, which are compared option by option.
const OPTION_LISTS: &[&str] = &["mount.options", "mount.super_options"];

/// Mount options that are not settings but contain addresses of the server or client.
const OPTIONS: &[(&str, Item)] = &[
    ("addr", Item::Target),
    ("clientaddr", Item::Other),
    ("mountaddr", Item::Target),
    ("mountport", Item::Target),
    ("nconnect", Item::Nconnect),
    ("port", Item::Target),
];

/// The facts of a record: its environment, and its plan as a whole.
pub(super) fn of_record(record: &ExperimentRecord) -> Vec<Fact> {
    let emulated = matches!(record.plan.target(), TargetSpec::Emulated { .. });
    // An emulated volume is started for each experiment, on any free port.
    let of_moment = |name: &str| {
        IGNORED.contains(&name)
            || Interleaved::is_about(name)
            || (emulated && SERVICE_ADDRESS.contains(&name))
    };
    let facts_of = |(stored, value): (String, String)| -> Vec<Fact> {
        let (name, target) = without_target(&stored, &record.plan.target_names);
        let mut facts = match name {
            name if of_moment(name) => Vec::new(),
            name if OPTION_LISTS.contains(&name) => options(&value),
            name => vec![fact(item_of(name), name, value)],
        };
        for one in &mut facts {
            one.key = target.map_or(one.key.clone(), |target| fact_of_target(&one.key, target));
        }
        facts
    };
    let mut facts: Vec<Fact> = record.environment.pairs().into_iter().flat_map(facts_of).collect();
    // Both lists contain `rw`.
    let mut seen = BTreeSet::new();
    facts.retain(|fact| seen.insert(fact.key.clone()));
    let plan = &record.plan;
    facts.push(fact(Item::Engine, "engine", record.io_method.io_method.name().to_owned()));
    match plan.targets.as_slice() {
        [only] => facts.extend(of_target(only)),
        several => facts.extend(several.iter().enumerate().flat_map(|(at, target)| {
            let name = plan.target_name(at);
            let named = move |one: Fact| Fact { key: fact_of_target(&one.key, &name), ..one };
            of_target(target).into_iter().map(named)
        })),
    }
    facts.push(fact(Item::Plan, "run.pin", plan.pin.to_string()));
    facts.push(fact(Item::Plan, "run.verify", plan.verify.to_string()));
    facts.push(fact(Item::Other, "experiment.name", plan.name.clone()));
    facts.push(fact(Item::Other, "experiment.source", plan.source.clone()));
    facts.push(fact(Item::Other, "run.seed", plan.seed.to_string()));
    facts
}

fn item_of(name: &str) -> Item {
    ITEMS.iter().find(|(start, _)| name.starts_with(start)).map_or(Item::Other, |(_, item)| *item)
}

/// Each option of a mount as a fact.
fn options(list: &str) -> Vec<Fact> {
    let each = list.split(',').filter(|option| !option.is_empty());
    each.map(|option| {
        let (name, value) = option.split_once('=').unwrap_or((option, "set"));
        let known = OPTIONS.iter().find(|(own, _)| *own == name);
        let item = known.map_or(Item::Mount, |(_, item)| *item);
        fact(item, &format!("{OPTION}{name}"), value.to_owned())
    })
    .collect()
}

fn fact(item: Item, key: &str, value: String) -> Fact {
    Fact { item, key: key.to_owned(), value }
}

fn of_target(target: &TargetSpec) -> Vec<Fact> {
    let mut facts = vec![fact(Item::Target, "target", target.in_words())];
    if target.capabilities().own_client {
        let connections =
            target.connections().map_or("one for each worker".to_owned(), |n| n.to_string());
        facts.push(fact(Item::Nconnect, "nconnect", connections));
    }
    if let TargetSpec::Emulated { volume, connections: _, options } = target {
        let EmulatedVolume {
            service_level,
            quota_bytes,
            throughput_limit_bytes_per_s,
            read_delay_ns,
            write_delay_ns,
            memory_bytes,
        } = volume;
        let limit = BytesPerSec::new(*throughput_limit_bytes_per_s as f64);
        facts.extend([
            fact(Item::Volume, "volume.service_level", service_level.clone()),
            fact(Item::Volume, "volume.quota", Bytes::new(*quota_bytes).to_string()),
            fact(Item::Volume, "volume.throughput_limit", limit.to_string()),
            fact(Item::Volume, "volume.read_delay", Nanos(*read_delay_ns as f64).to_string()),
            fact(Item::Volume, "volume.write_delay", Nanos(*write_delay_ns as f64).to_string()),
            fact(Item::Volume, "volume.memory", Bytes::new(*memory_bytes).to_string()),
            fact(Item::Mount, "target.options", options.clone()),
        ]);
    }
    facts
}
