//! Reads a topology from TOML.
//!
//! For: parsing text into a [`Topology`], reporting all mistakes together with their positions. Not
//! for: reading files; the caller provides the text.
//!
//! ```toml
//! name = "a database"
//! floor = "700us"                # response time of one operation at a time; optional
//! floor_spread = 0.5             # standard deviation of its logarithm; 0: constant
//! burst = "7.5ms"                # burst of rate limits, as a time; default: none
//!
//! [[host]]                       # equal machines
//! name = "db"
//! count = 2
//! vm = "D32s_v5"                 # or `client = "esxi"`; or neither: the host does not limit
//! nconnect = 8
//! protocol = "nfsv3"             # default; "smb" is not modelled
//!
//! [[volume]]                     # equal volumes
//! name = "data"
//! count = 1
//! level = "ultra"                # level and quota, or `throughput`, or neither: no limit
//! quota = "10TiB"
//!
//! [[workload]]                   # on all hosts and volumes, unless it names some
//! transfer_size = "8KiB"
//! read = "70%"
//! pattern = "random"
//! outstanding = 64               # per host; or `offered = "50k/s"` in total
//!
//! [[workload]]                   # operations on names
//! mix = { stat = "80%", access = "20%" }
//! offered = "10k/s"
//!
//! [[workload]]                   # or both, as a profile states them
//! profile = "eda-like"
//! metric = 20
//! ```

use std::ops::Range;

use cloud::figure::{Access, Protocol};
use cloud::reason::RowRef;
use cloud::service_level::{ServiceLevel, VolumeKind};
use cloud::vm_size::{self, VmSize};
use settings::{Diagnostic, Problems, TableReader};
use toml::de::DeTable;
use units::{Bytes, OpsPerSec, Percent, nearest};

use crate::facts;
use crate::statement::{Reason, Statement};
use crate::topology::{
    Client, EndpointGroup, Floor, HostGroup, Load, NameLoad, SPREAD, Topology, VolumeGroup,
    Workload,
};
use crate::volume_settings::{check_quota, set_limit};

/// Largest count; more is a typing error.
const COUNT_MAX: u64 = 1_000_000;
/// Most units of a business metric.
const UNITS_MAX: u64 = 1_000_000_000;
/// Rounding of a sum of shares.
const SHARES_OFF: f64 = 1e-6;
/// Largest spread of response times; with more, means are meaningless.
const SPREAD_MAX: f64 = 3.0;

/// Reads a topology.
///
/// * `file` — its name as given by the user
///
/// # Errors
/// All mistakes, in the order of the text.
pub fn parse(text: &str, file: &str) -> Result<Topology, Vec<Diagnostic>> {
    let none = |_: &ProfileUnits<'_>| Err("profiles are not known here".to_owned());
    parse_with(text, file, &none)
}

/// The same with workloads of profiles.
///
/// * `profiles` - the loads of a profile, or why there are none and what to do
///
/// # Errors
/// All mistakes, in the order of the text.
pub fn parse_with(
    text: &str,
    file: &str,
    profiles: &Profiles<'_>,
) -> Result<Topology, Vec<Diagnostic>> {
    settings::parse(text, file, |tree, problems| {
        TopologyReader { problems, profiles }.topology(tree)
    })
}

/// A number of units of a profile's business metric.
#[derive(Clone, Copy, Debug)]
pub struct ProfileUnits<'a> {
    /// The profile.
    pub profile: &'a str,
    /// The number of units.
    pub units: u64,
    /// The workload variant; `None` for the only one.
    pub variant: Option<&'a str>,
}

/// One of the loads of a profile, which are offered together.
#[derive(Clone, Debug, PartialEq)]
pub struct ProfileLoad {
    /// Its name.
    pub name: &'static str,
    /// Transfer size; 0 for operations on names.
    pub transfer_bytes: u64,
    /// The share of reads, 0 to 1.
    pub read: f64,
    /// Access pattern.
    pub access: Access,
    /// Operations per second of all units.
    pub rate: OpsPerSec,
    /// Operations on names instead of reads and writes.
    pub names: Option<NameLoad>,
}

/// Returns the loads of a profile.
pub type Profiles<'a> = dyn Fn(&ProfileUnits<'_>) -> Result<Vec<ProfileLoad>, String> + 'a;

struct TopologyReader<'a, 't> {
    problems: &'a mut Problems<'t>,
    profiles: &'a Profiles<'a>,
}

impl TopologyReader<'_, '_> {
    /// The topology, with default values for whatever is wrong.
    fn topology(&mut self, tree: &DeTable<'_>) -> Topology {
        let mut top = TableReader::root(tree);
        let name = top.text("name", self.problems).unwrap_or_else(|| "topology".to_owned());
        let mean_s = top.positive_seconds("floor", self.problems);
        let spread = top.number("floor_spread", self.problems, SPREAD_MAX);
        let floor = mean_s.map(|mean_s| Floor { mean_s, spread: spread.unwrap_or(SPREAD) });
        if floor.is_none() && spread.is_some() {
            let span = top.span_of("floor_spread");
            self.problems.add(span, "`floor_spread` without `floor`", "give `floor` too");
        }
        let burst_s = top.positive_seconds("burst", self.problems).unwrap_or(0.0);
        let mut all = Topology {
            name,
            floor,
            burst_s,
            hosts: Vec::new(),
            endpoints: Vec::new(),
            volumes: Vec::new(),
            workloads: Vec::new(),
        };
        for fields in self.required_tables(&mut top, "host") {
            let host = self.host(fields, all.hosts.len());
            let names: Vec<&str> = all.hosts.iter().map(|host| host.name.as_str()).collect();
            self.check_name_is_new(&names, &host.0.name, host.1);
            all.hosts.push(host.0);
        }
        for fields in top.tables("endpoint", self.problems) {
            let endpoint = self.endpoint(fields, all.endpoints.len());
            let names: Vec<&str> = all.endpoints.iter().map(|one| one.name.as_str()).collect();
            self.check_name_is_new(&names, &endpoint.0.name, endpoint.1);
            all.endpoints.push(endpoint.0);
        }
        for fields in self.required_tables(&mut top, "volume") {
            let volume = self.volume(fields, &all);
            let names: Vec<&str> = all.volumes.iter().map(|volume| volume.name.as_str()).collect();
            self.check_name_is_new(&names, &volume.0.name, volume.1);
            all.volumes.push(volume.0);
        }
        for fields in self.required_tables(&mut top, "workload") {
            let workloads = self.workload(fields, &all);
            all.workloads.extend(workloads);
        }
        top.finish(self.problems);
        all
    }

    /// The tables of a required list such as `[[host]]`.
    fn required_tables<'t, 'i>(
        &mut self,
        top: &mut TableReader<'t, 'i>,
        key: &'static str,
    ) -> Vec<TableReader<'t, 'i>> {
        if !top.has(key) {
            let hint = format!("add `[[{key}]]`");
            self.problems.add(0..0, format!("the topology has no {key}"), hint);
        }
        top.tables(key, self.problems)
    }

    fn check_name_is_new(&mut self, names: &[&str], name: &str, span: Range<usize>) {
        if names.contains(&name) {
            let hint = "names must differ";
            self.problems.add(span, format!("the name `{name}` is used twice"), hint);
        }
    }

    fn host(
        &mut self,
        mut fields: TableReader<'_, '_>,
        number: usize,
    ) -> (HostGroup, Range<usize>) {
        let m = &mut *self.problems;
        let name = fields.text("name", m).unwrap_or_else(|| format!("host {}", number + 1));
        let count = fields.count("count", m, COUNT_MAX).unwrap_or(1);
        let mut host = HostGroup::linux(&name, count, 1);
        let guests = fields.count("guests", m, COUNT_MAX);
        let words = [("linux", Client::Linux), ("esxi", Client::Esxi { guests })];
        host.client = fields.word("client", m, &words).unwrap_or(Client::Linux);
        let is_linux = host.client == Client::Linux;
        let nconnect_max = facts::of().nconnect_max;
        host.nconnect = fields.count("nconnect", m, nconnect_max).unwrap_or(1);
        for (key, wrong, why) in [
            ("nconnect", !is_linux, "VMware's hosts have one connection to each volume"),
            ("vm", !is_linux, "VMware's hosts are not of a VM size"),
            ("guests", is_linux, "only `client = \"esxi\"` has guests"),
        ] {
            if wrong && fields.has(key) {
                m.add(fields.span_of(key), format!("`{key}` does not belong here"), why);
            }
        }
        if let Some(text) = fields.text("vm", m) {
            match vm(&text) {
                Ok(size) => {
                    host.vcpu = Some(size.vcpu);
                    host.egress = Some(size.egress());
                    host.reasons.push(vm_reason(&size));
                    host.vm = Some(size);
                }
                Err(hint) => {
                    let hint =
                        format!("{hint}; of a size that is not known give `vcpu` and `egress`");
                    m.add(fields.span_of("vm"), format!("unknown VM size `{text}`"), hint);
                }
            }
        }
        let words = [Protocol::Nfsv3, Protocol::Smb].map(|protocol| (protocol.name(), protocol));
        host.protocol = fields.word("protocol", m, &words).unwrap_or(Protocol::Nfsv3);
        if !is_linux && host.protocol != Protocol::Nfsv3 {
            let why = "VMware's hosts have datastores over NFS only";
            m.add(fields.span_of("protocol"), "`protocol` does not belong here", why);
        }
        let vcpu = fields.count("vcpu", m, COUNT_MAX);
        host.vcpu = vcpu.or(host.vcpu);
        let egress = fields.throughput("egress", m);
        host.egress = egress.or(host.egress);
        host.link = fields.throughput("link", m);
        host.slots = fields.count("slots", m, COUNT_MAX).unwrap_or(host.slots);
        host.call_bytes = fields.bytes("calls", m).map_or(host.call_bytes, Bytes::get);
        host.flow_throughput = fields.throughput("flow_throughput", m);
        host.flow_rate = fields.ops("flow_ops", m);
        let span = fields.span_of("name");
        fields.finish(m);
        (host, span)
    }

    fn endpoint(
        &mut self,
        mut fields: TableReader<'_, '_>,
        number: usize,
    ) -> (EndpointGroup, Range<usize>) {
        let m = &mut *self.problems;
        let name = fields.text("name", m).unwrap_or_else(|| format!("endpoint {}", number + 1));
        let count = fields.count("count", m, COUNT_MAX).unwrap_or(1);
        let limit = fields.throughput("throughput", m);
        let span = fields.span_of("name");
        fields.finish(m);
        (EndpointGroup { name, count, limit }, span)
    }

    fn volume(
        &mut self,
        mut fields: TableReader<'_, '_>,
        all: &Topology,
    ) -> (VolumeGroup, Range<usize>) {
        let m = &mut *self.problems;
        let number = all.volumes.len() + 1;
        let name = fields.text("name", m).unwrap_or_else(|| format!("volume {number}"));
        let count = fields.count("count", m, COUNT_MAX).unwrap_or(1);
        let kinds = VolumeKind::ALL.map(|kind| (kind.name(), kind));
        let kind = fields.word("kind", m, &kinds).unwrap_or(VolumeKind::Regular);
        let mut volume = VolumeGroup::of(&name, count, kind);
        let levels = ServiceLevel::ALL.map(|level| (level.name(), level));
        let level = fields.word("level", m, &levels);
        let quota = fields.bytes("quota", m);
        volume.limit = fields.throughput("throughput", m);
        if let Some(quota) = quota {
            check_quota(kind, quota, &fields, m);
        }
        match (level, quota, volume.limit) {
            (Some(level), Some(quota), _) => set_limit(&mut volume, level, quota, &fields, m),
            (_, _, Some(limit)) => {
                let statement = Statement::VolumeLimitGiven { volume: name.clone(), limit };
                volume.reasons.push(Reason::given(statement));
            }
            (None, None, None) => {}
            (Some(_), None, None) => {
                m.add(fields.span_of("level"), "`level` without `quota`", "give `quota` too");
            }
            (None, Some(_), None) => {
                m.add(fields.span_of("quota"), "`quota` without `level`", "give `level` too");
            }
        }
        if let Some(wanted) = fields.text("endpoint", m) {
            let names: Vec<&str> = all.endpoints.iter().map(|one| one.name.as_str()).collect();
            volume.endpoint = names.iter().position(|name| *name == wanted);
            if volume.endpoint.is_none() {
                let message = format!("there is no endpoint `{wanted}`");
                m.add(fields.span_of("endpoint"), message, hint(&wanted, &names));
            }
        }
        let span = fields.span_of("name");
        fields.finish(m);
        (volume, span)
    }

    /// A workload per group of hosts that it names.
    fn workload(&mut self, mut fields: TableReader<'_, '_>, all: &Topology) -> Vec<Workload> {
        let m = &mut *self.problems;
        let name = fields.text("name", m);
        let host_names: Vec<&str> = all.hosts.iter().map(|host| host.name.as_str()).collect();
        let volume_names: Vec<&str> = all.volumes.iter().map(|one| one.name.as_str()).collect();
        let hosts = indices(&mut fields, "hosts", "host", &host_names, m);
        let volumes = indices(&mut fields, "volumes", "volume", &volume_names, m);
        if fields.has("profile") {
            let target =
                HostsAndVolumes { hosts: &hosts, volumes: &volumes, name: name.as_deref() };
            return profile(fields, all, &target, self.profiles, m);
        }
        for key in ["metric", "variant"].into_iter().filter(|key| fields.has(key)) {
            m.add(fields.span_of(key), format!("`{key}` without `profile`"), "give `profile` too");
        }
        let names = mix(&mut fields, m);
        if names.is_none() {
            fields.require(&["transfer_size", "read"], m);
        }
        let transfer_bytes = match names {
            Some(_) => 0,
            None => fields.bytes("transfer_size", m).map_or(1, Bytes::get),
        };
        let read = fields.share("read", m).map_or(1.0, Percent::fraction);
        let words = [Access::Random, Access::Sequential].map(|access| (access.name(), access));
        let access = fields.word("pattern", m, &words).unwrap_or(Access::Random);
        if fields.node("metadata").is_some() {
            let hint = "give operations on names a [[workload]] with `mix = { stat = \"70%\", … }`, or \
                        `profile` and `metric`";
            m.add(fields.span_of("metadata"), "`metadata` is not a key", hint);
        }
        let outstanding = fields.count("outstanding", m, COUNT_MAX);
        let offered = fields.ops("offered", m);
        if fields.has("outstanding") && fields.has("offered") {
            let hint = "a load is closed or offered";
            m.add(fields.span_of("offered"), "both `outstanding` and `offered`", hint);
        }
        let load = |host: &HostGroup, hosts: u64| match offered {
            // Each host has the same load.
            Some(all) => {
                let rate = OpsPerSec::new(all.get() * host.count as f64 / hosts as f64);
                Load::Offered { rate }
            }
            None => Load::Closed { outstanding: outstanding.unwrap_or(host.slots) },
        };
        fields.finish(m);
        let count = hosts.iter().map(|index| all.hosts[*index].count).sum();
        let number = all.workloads.len() + 1;
        let one = |index: &usize| {
            let host = &all.hosts[*index];
            let base = name.clone().unwrap_or_else(|| format!("workload {number}"));
            let is_alone = hosts.len() == 1;
            Workload {
                name: if is_alone { base } else { format!("{base} on {}", host.name) },
                hosts: *index,
                volumes: volumes.clone(),
                transfer_bytes,
                read,
                access,
                load: load(host, count),
                names: names.clone(),
            }
        };
        hosts.iter().map(one).collect()
    }
}

/// Where a workload runs, and its name if it has one.
struct HostsAndVolumes<'a> {
    hosts: &'a [usize],
    volumes: &'a [usize],
    name: Option<&'a str>,
}

/// The workloads of a profile on each group of hosts.
fn profile(
    mut fields: TableReader<'_, '_>,
    all: &Topology,
    on: &HostsAndVolumes<'_>,
    profiles: &Profiles<'_>,
    problems: &mut Problems<'_>,
) -> Vec<Workload> {
    let name = fields.text("profile", problems).unwrap_or_default();
    let variant = fields.text("variant", problems);
    fields.require(&["metric"], problems);
    let units = fields.count("metric", problems, UNITS_MAX);
    let span = fields.span_of("profile");
    for key in ["transfer_size", "read", "pattern", "outstanding", "offered", "mix"] {
        if fields.has(key) {
            let _ = fields.node(key);
            let why = "the profile sets the operations and their rate";
            problems.add(fields.span_of(key), format!("`{key}` does not belong here"), why);
        }
    }
    fields.finish(problems);
    let Some(units) = units else { return Vec::new() };
    let of = ProfileUnits { profile: &name, units, variant: variant.as_deref() };
    let loads = match profiles(&of) {
        Ok(loads) => loads,
        Err(hint) => {
            problems.add(span, format!("profile `{name}` cannot be predicted"), hint);
            return Vec::new();
        }
    };
    let hosts_total: u64 = on.hosts.iter().map(|index| all.hosts[*index].count).sum();
    let base = on.name.unwrap_or(&name);
    let one = |(index, load): (&usize, &ProfileLoad)| {
        let host = &all.hosts[*index];
        let share = host.count as f64 / hosts_total.max(1) as f64;
        let of_host =
            if on.hosts.len() == 1 { String::new() } else { format!(" on {}", host.name) };
        Workload {
            name: format!("{base}, {}{of_host}", load.name),
            hosts: *index,
            volumes: on.volumes.to_vec(),
            transfer_bytes: load.transfer_bytes,
            read: load.read,
            access: load.access,
            load: Load::Offered { rate: OpsPerSec::new(load.rate.get() * share) },
            names: load.names.clone(),
        }
    };
    on.hosts.iter().flat_map(|index| loads.iter().map(move |load| (index, load))).map(one).collect()
}

/// The operations on names of a workload with a `mix`: the kinds without a published rate.
fn mix(fields: &mut TableReader<'_, '_>, problems: &mut Problems<'_>) -> Option<NameLoad> {
    let mut mix = fields.table("mix", problems)?;
    let span = fields.span_of("mix");
    for key in ["transfer_size", "read", "pattern"] {
        if fields.has(key) {
            let _ = fields.node(key);
            let why =
                "operations on names move no data; give reads and writes their own [[workload]]";
            problems.add(fields.span_of(key), format!("`{key}` does not belong here"), why);
        }
    }
    let known = &facts::of().name_kinds;
    let mut sum = 0.0;
    for kind in known {
        sum += mix.share(kind, problems).map_or(0.0, Percent::fraction);
    }
    mix.finish(problems);
    if (sum - 1.0).abs() > SHARES_OFF {
        let found = format!("the shares add up to {:.1} %, not to 100 %", sum * 100.0);
        problems.add(
            span,
            found,
            "kinds without a published rate are not predicted; leave them out",
        );
    }
    Some(NameLoad::default())
}

/// The groups that a key names; all of them without the key.
fn indices(
    fields: &mut TableReader<'_, '_>,
    key: &'static str,
    what: &str,
    names: &[&str],
    problems: &mut Problems<'_>,
) -> Vec<usize> {
    let allowed = "a name or a list of names";
    let Some(wanted) = fields.texts(key, problems, allowed) else {
        return (0..names.len()).collect();
    };
    let mut found: Vec<usize> = Vec::new();
    for (name, span) in wanted {
        match names.iter().position(|other| *other == name) {
            Some(index) if found.contains(&index) => {
                problems.add(span, format!("`{name}` is named twice"), "once is enough");
            }
            Some(index) => found.push(index),
            None => {
                problems.add(span, format!("there is no {what} `{name}`"), hint(&name, names));
            }
        }
    }
    found
}

fn hint(wanted: &str, names: &[&str]) -> String {
    match nearest(wanted, names.iter().copied()) {
        Some(other) => format!("did you mean `{other}`?"),
        None if names.is_empty() => "there is none at all".to_owned(),
        None => format!("there are: {}", names.join(", ")),
    }
}

/// A size of virtual machine by its name, with or without the common prefix; or a hint.
///
/// # Errors
/// The most similar name, or the form of names.
pub fn vm(text: &str) -> Result<VmSize, String> {
    vm_size::find(text).map_err(|near| match near {
        Some(other) => format!("did you mean `{other}`?"),
        None => "sizes are written as `Standard_D32s_v5` or `D32s_v5`".to_owned(),
    })
}

fn vm_reason(size: &VmSize) -> Reason {
    let statement = Statement::VmSize {
        name: size.name.clone(),
        vcpu: size.vcpu,
        egress_mbit_s: size.egress_mbit_s,
        egress: size.egress(),
    };
    let row = RowRef::new("vm_sizes.toml", format!("vm_size {}", size.name), &size.origin);
    Reason { statement, rows: vec![row] }
}

#[cfg(test)]
mod tests {
    use cloud::throughput::KibPerSec;
    use cloud::volume_limit::{Ceiling, LimitDerivation};
    use units::BytesPerSec;

    use super::*;

    const WHOLE: &str = r#"
name = "a database"
floor = "700us"
burst = "7.5ms"

[[host]]
name = "db"
count = 2
vm = "d32s_v5"
nconnect = 8
link = "10Gbit/s"

[[endpoint]]
name = "near"
throughput = "1GiB/s"

[[volume]]
name = "data"
level = "premium"
quota = "5TiB"
endpoint = "near"

[[volume]]
name = "more"
count = 3
throughput = "64MiB/s"

[[workload]]
volumes = "data"
transfer_size = "8KiB"
read = "70%"
outstanding = 64

[[workload]]
hosts = ["db"]
transfer_size = "64KiB"
read = "0%"
pattern = "sequential"
outstanding = 2
"#;

    fn mistakes(from: &str, to: &str) -> Vec<String> {
        assert!(WHOLE.contains(from), "{from}");
        let mistakes = parse(&WHOLE.replace(from, to), "t.toml").expect_err(to);
        mistakes.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_whole_topology_is_read() {
        let topology = parse(WHOLE, "t.toml").unwrap();
        let host = &topology.hosts[0];
        assert_eq!((host.count, host.vcpu, host.nconnect), (2, Some(32), 8));
        assert_eq!(host.egress, Some(BytesPerSec::new(2e9)));
        assert_eq!(host.link, Some(BytesPerSec::new(1.25e9)));
        // 5 TiB Premium is 320 MiB/s.
        assert_eq!(topology.volumes[0].limit.map(BytesPerSec::as_mib), Some(320.0));
        assert_eq!(topology.volumes[0].endpoint, Some(0));
        let [one, other] = &topology.workloads[..] else { panic!("two workloads") };
        assert_eq!((&one.volumes[..], &other.volumes[..]), (&[0][..], &[0, 1][..]));
        assert_eq!(topology.flows(one), 16);
        // The named endpoint, and the one shared by volumes without a name.
        assert_eq!(topology.flows(other), 32);
        assert_eq!(topology.floor.unwrap().spread, SPREAD);
    }

    #[test]
    fn the_limit_of_a_volume_has_a_ceiling_unless_the_service_states_none() {
        let volume = |from: &str, to: &str| {
            let topology = parse(&WHOLE.replace(from, to), "t.toml").expect(to);
            topology.volumes[0].clone()
        };
        let mib = |volume: &VolumeGroup| volume.limit.map(BytesPerSec::as_mib);
        let ceiling = |volume: &VolumeGroup| match volume.reasons[0].statement {
            Statement::VolumeLimit(LimitDerivation::Quota { ceiling, .. }) => Some(ceiling),
            _ => None,
        };
        let large = volume("\"5TiB\"", "\"100TiB\"");
        assert_eq!(mib(&large), Some(4500.0));
        let most = KibPerSec::from_mib(4500).expect("it fits");
        assert_eq!(ceiling(&large), Some(Ceiling::Lower(most)));
        assert_eq!(large.reasons[0].rows[1].row, "ceiling premium regular");
        // A volume with an assigned throughput is in a manual QoS pool, like those of Flexible.
        assert_eq!(mib(&volume("\"5TiB\"", "\"5TiB\"\nthroughput = \"1GiB/s\"")), Some(1024.0));
        let flexible = "\"flexible\"\nthroughput = \"200MiB/s\"";
        assert_eq!(mib(&volume("\"premium\"", flexible)), Some(200.0));
        let breakthrough =
            volume("level = \"premium\"", "level = \"ultra\"\nkind = \"breakthrough\"");
        assert_eq!(mib(&breakthrough), None);
        assert_eq!(ceiling(&breakthrough), Some(Ceiling::NotStated));
    }

    #[test]
    fn every_mistake_has_a_position_and_a_suggestion() {
        for (from, to, said) in [
            ("nconnect = 8", "nconnect = 17", "t.toml:10:12: wrong value for `nconnect`"),
            ("nconnect = 8", "nconnect = 17", "a whole number from 1 to 16"),
            ("nconnect = 8", "nconect = 8", "did you mean `nconnect`?"),
            ("d32s_v5", "d32s_v55", "did you mean `Standard_D32s_v5`?"),
            ("volumes = \"data\"", "volumes = \"dta\"", "did you mean `data`?"),
            ("endpoint = \"near\"", "endpoint = \"far\"", "there are: near"),
            ("quota = \"5TiB\"\n", "", "`level` without `quota`"),
            (
                "count = 3\n",
                "count = 3\nquota = \"1GiB\"\n",
                "a quota of 1 GiB, a regular volume has",
            ),
            ("level = \"premium\"\n", "", "`quota` without `level`"),
            ("\"premium\"", "\"flexible\"", "the level flexible has no auto QoS (give its `thr"),
            (
                "\"5TiB\"",
                "\"5GiB\"",
                "t.toml:20:9: a quota of 5 GiB, a regular volume has at least",
            ),
            ("\"5TiB\"", "\"500TiB\"", "allowed: 50 GiB to 100 TiB; a large volume may have it"),
            ("\"5TiB\"", "\"5000.5GiB\"", "allowed: multiples of 1 GiB"),
            ("\"5TiB\"", "\"5TiB\"\nthroughput = \"5GiB/s\"", "(allowed: 1 MiB/s to 4,500 MiB/s)"),
            ("\"5TiB\"", "\"5TiB\"\nthroughput = \"1GB/s\"", "whole KiB/s, such as `64MiB/s`"),
            ("read = \"70%\"\n", "", "[[workload]] lacks `read`"),
            ("\"8KiB\"", "\"-8KiB\"", "wrong value for `transfer_size`"),
            ("read = \"70%\"", "read = 0.7", "wrong value for `read`"),
            ("\"d32s_v5\"", "\"Z99\"", "give `vcpu` and `egress`"),
            ("outstanding = 64", "outstanding = 64\noffered = \"1k/s\"", "both `outstanding`"),
            ("floor = \"700us\"", "floor = \"0s\"", "a duration above 0"),
            ("name = \"more\"", "name = \"data\"", "the name `data` is used twice"),
            ("vm = \"d32s_v5\"", "client = \"esxi\"", "`nconnect` does not belong here"),
            ("count = 2", "count = 2\nguests = 4", "only `client = \"esxi\"` has guests"),
            ("[[endpoint]]", "[endpoint]", "`endpoint` is a list of tables"),
            ("name = \"db\"", "name = db", "this is not TOML"),
        ] {
            let found = mistakes(from, to);
            assert!(found.iter().any(|one| one.contains(said)), "{to}: {found:#?}");
        }
    }

    #[test]
    fn all_mistakes_are_reported_together() {
        assert_eq!(mistakes("count = 2\nvm = \"d32s_v5\"", "count = 0\nvm = \"none\"").len(), 2);
        let found = parse("", "t.toml").expect_err("nothing is there");
        let found: Vec<String> = found.iter().map(ToString::to_string).collect();
        for table in ["host", "volume", "workload"] {
            let said = format!("t.toml:1:1: the topology has no {table} (add `[[{table}]]`)");
            assert!(found.contains(&said), "{found:?}");
        }
    }

    #[test]
    fn operations_on_names_are_bounded_by_the_largest_published_rate() {
        let parameters = crate::Parameters::calibrated(&cloud::figure::all());
        let curve = |kind: &str, mix: &str| {
            let text = format!(
                "[[host]]\ncount = 10\nnconnect = 8\n[[volume]]\nkind = \"{kind}\"\n[[workload]]\n\
                 mix = {{ {mix} }}\n"
            );
            Ok::<_, Vec<Diagnostic>>(crate::curve(&parse(&text, "t.toml")?, &parameters).unwrap())
        };
        // 40 % of 39,601 and of 792,046 operations per second.
        for (kind, rate) in [("regular", 15_840.0), ("large", 316_818.0)] {
            let curve = curve(kind, "stat = \"80%\", access = \"20%\"").unwrap();
            let bound = &curve.bounds[0];
            assert_eq!(bound.resource.kind, crate::ResourceKind::VolumeNames);
            assert!((bound.ops_per_s.value / rate - 1.0).abs() < 1e-3, "{bound:?}");
            assert!(bound.ops_per_s.low < rate * 0.9 && bound.ops_per_s.high > rate * 1.1);
            assert_eq!(curve.most.bytes_per_s.value, 0.0);
        }
        let wrong = |mix: &str| {
            let found = curve("regular", mix).unwrap_err();
            found.iter().map(|one| format!("{one}\n")).collect::<String>()
        };
        assert!(wrong("stat = \"80%\"").contains("the shares add up to 80.0 %"));
        assert!(wrong("stat = \"80%\", readdir = \"20%\"").contains("found `readdir`"));
    }

    #[test]
    fn a_profile_gives_the_loads_of_a_number_of_units() {
        let text = |lines: &str| format!("[[host]]\ncount = 2\n[[volume]]\n[[workload]]\n{lines}");
        let profiles = |of: &ProfileUnits<'_>| match of.profile {
            "eda" => Ok(vec![ProfileLoad {
                name: "names",
                transfer_bytes: 0,
                read: 1.0,
                access: Access::Random,
                rate: OpsPerSec::new(180.0 * of.units as f64),
                names: Some(NameLoad::default()),
            }]),
            _ => Err("there is `eda`".to_owned()),
        };
        let read = |lines: &str| parse_with(&text(lines), "t.toml", &profiles);
        let topology = read("profile = \"eda\"\nmetric = 20\n").unwrap();
        assert_eq!(topology.workloads[0].name, "eda, names");
        let rate = OpsPerSec::new(3600.0);
        assert_eq!(topology.workloads[0].load, Load::Offered { rate });
        for (lines, words) in [
            ("profile = \"ead\"\nmetric = 20\n", "there is `eda`"),
            ("profile = \"eda\"\n", "[[workload]] lacks `metric`"),
            ("profile = \"eda\"\nmetric = 0\n", "wrong value for `metric`"),
            ("profile = \"eda\"\nmetric = 5\nread = \"70%\"\n", "`read` does not belong here"),
            (
                "metric = 5\ntransfer_size = \"8KiB\"\nread = \"70%\"\n",
                "`metric` without `profile`",
            ),
        ] {
            let found = read(lines).unwrap_err();
            assert!(found.iter().any(|one| one.to_string().contains(words)), "{lines}: {found:?}");
        }
    }

    #[test]
    fn smb_is_refused_because_it_is_not_modelled() {
        let text = "[[host]]\nprotocol = \"smb\"\nvm = \"D16s_v4\"\n[[volume]]\n[[workload]]\n\
                    transfer_size = \"8KiB\"\nread = \"70%\"\n";
        let topology = parse(text, "t.toml").unwrap();
        let parameters = crate::Parameters::calibrated(&cloud::figure::all());
        let curve = crate::curve(&topology, &parameters).unwrap();
        assert_eq!(curve.not_modelled, [cloud::figure::Protocol::Smb]);
    }
}
