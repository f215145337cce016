//! The systems of the examination: emulated volumes with one limit each, behind a link, on idle or
//! busy processors.

/// The command that measures the system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Command {
    /// `run -w FILE --explain`: one workload, then experiments until the cause is known.
    Explain,
    /// `run --quick`: increasing queue depths for each of the four corners.
    Quick,
    /// `run -w FILE` at these queue depths.
    Depths(&'static [u32]),
}

/// The link between client and service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Link {
    /// A pair of virtual interfaces, without shaping.
    Unshaped,
    /// Traffic to the client is shaped with tbf, in Mbit/s.
    Received(u32),
    /// Traffic from the client is shaped with htb, in Mbit/s.
    Sent(u32),
}

/// How client and service use the two processors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Processors {
    /// One each.
    Separate,
    /// Both use the same one.
    Shared,
    /// One each, with this many busy processes on the client's.
    BusyClient(u32),
    /// One each, with this many busy processes on the service's.
    BusyService(u32),
}

/// A system with one known limit, and how it is measured.
#[derive(Clone, Copy, Debug)]
pub(crate) struct System {
    /// The row of the table in which it is counted.
    pub(crate) class: &'static str,
    /// Codes of the correct causes; `not_reached` if nothing limits.
    pub(crate) truth: &'static [&'static str],
    /// Throughput limits in MiB/s.
    pub(crate) volume: Option<u32>,
    pub(crate) endpoint: Option<u32>,
    pub(crate) flow: Option<u32>,
    /// Operations per second of the endpoint and of each flow.
    pub(crate) ops: Option<u32>,
    pub(crate) flow_ops: Option<u32>,
    /// Requests processed at a time per connection.
    pub(crate) slots: Option<u32>,
    /// Storage latency, in microseconds.
    pub(crate) delay_us: u32,
    pub(crate) link: Link,
    pub(crate) processors: Processors,
    pub(crate) command: Command,
    pub(crate) transfer: &'static str,
    /// Share of reads in percent.
    pub(crate) read: u32,
    pub(crate) connections: u32,
    /// Value of `--known`: limits that the user knows.
    pub(crate) known: &'static str,
}

/// No limit; every system is a change of this one.
const FREE: System = System {
    class: "",
    truth: &[],
    volume: None,
    endpoint: None,
    flow: None,
    ops: None,
    flow_ops: None,
    slots: None,
    delay_us: 500,
    link: Link::Unshaped,
    processors: Processors::Separate,
    command: Command::Explain,
    transfer: "8KiB",
    read: 100,
    connections: 1,
    known: "",
};

const VOLUME: System = System { class: "volume", truth: &["volume_throughput"], ..FREE };
const ENDPOINT: System = System { class: "endpoint", truth: &["endpoint"], ..FREE };
const FLOW: System = System { class: "network flow", truth: &["network_flow"], ..FREE };
const OPS: System =
    System { class: "operations per second", truth: &["operations_per_second"], ..FREE };
const SLOTS: System = System { class: "server slots", truth: &["server_slots"], ..FREE };
const LINK: System = System { class: "link", truth: &["link"], ..FREE };
const SENT: System =
    System { class: "link, writes", truth: &["link", "vm_egress"], read: 0, ..FREE };
const CLIENT: System = System { class: "busy client", truth: &["client_cpu"], ..FREE };
const SERVICE: System = System { class: "busy service", truth: &["server_cpu"], ..FREE };
const SHARED: System = System {
    class: "one shared processor",
    truth: &["client_cpu", "server_cpu"],
    processors: Processors::Shared,
    ..FREE
};
const NOT_REACHED: System =
    System { class: "no limit within reach", truth: &["not_reached"], delay_us: 10_000, ..FREE };

/// All systems; each is measured once.
pub(crate) const ALL: [System; 48] = [
    System { volume: Some(32), ..VOLUME },
    System { volume: Some(64), transfer: "64KiB", connections: 2, ..VOLUME },
    System { volume: Some(48), transfer: "64KiB", read: 50, ..VOLUME },
    System { volume: Some(24), read: 0, delay_us: 2000, ..VOLUME },
    System { volume: Some(96), transfer: "256KiB", connections: 4, ..VOLUME },
    System { volume: Some(64), command: Command::Quick, ..VOLUME },
    System { volume: Some(128), command: Command::Quick, connections: 2, ..VOLUME },
    System { volume: Some(64), known: "volume=64MiB/s", ..VOLUME },
    System { endpoint: Some(64), ..ENDPOINT },
    System { endpoint: Some(96), transfer: "64KiB", connections: 2, ..ENDPOINT },
    System { flow: Some(32), ..FLOW },
    System { flow: Some(16), transfer: "64KiB", ..FLOW },
    System { flow: Some(24), read: 0, ..FLOW },
    System { flow: Some(20), connections: 2, ..FLOW },
    System { flow: Some(40), known: "volume=200MiB/s", ..FLOW },
    System { flow_ops: Some(3000), ..FLOW },
    System { flow: Some(48), command: Command::Quick, ..FLOW },
    System { ops: Some(4000), ..OPS },
    System { ops: Some(2500), connections: 2, ..OPS },
    System { ops: Some(6000), read: 0, ..OPS },
    System { slots: Some(8), delay_us: 2000, ..SLOTS },
    System { slots: Some(8), delay_us: 20_000, ..SLOTS },
    System { slots: Some(16), delay_us: 5000, ..SLOTS },
    System { slots: Some(32), delay_us: 5000, ..SLOTS },
    System { slots: Some(32), delay_us: 20_000, transfer: "64KiB", ..SLOTS },
    System { slots: Some(64), delay_us: 10_000, ..SLOTS },
    System { slots: Some(100), delay_us: 20_000, ..SLOTS },
    System { slots: Some(16), delay_us: 10_000, read: 0, ..SLOTS },
    System { slots: Some(24), delay_us: 10_000, connections: 2, ..SLOTS },
    System { link: Link::Received(400), transfer: "64KiB", ..LINK },
    System { link: Link::Received(200), ..LINK },
    System { link: Link::Received(300), transfer: "64KiB", connections: 2, ..LINK },
    System { link: Link::Received(400), command: Command::Quick, truth: &["link"], ..LINK },
    System { link: Link::Sent(400), transfer: "64KiB", ..SENT },
    System { link: Link::Sent(200), ..SENT },
    System { processors: Processors::BusyClient(3), delay_us: 0, ..CLIENT },
    System { processors: Processors::BusyClient(3), delay_us: 0, transfer: "64KiB", ..CLIENT },
    System { processors: Processors::BusyClient(3), delay_us: 0, read: 0, ..CLIENT },
    System { processors: Processors::BusyService(3), delay_us: 0, ..SERVICE },
    System { processors: Processors::BusyService(3), delay_us: 0, transfer: "64KiB", ..SERVICE },
    System { delay_us: 0, ..SHARED },
    System { delay_us: 0, read: 0, ..SHARED },
    System { processors: Processors::BusyClient(3), flow: Some(10), transfer: "64KiB", ..FLOW },
    System { processors: Processors::BusyClient(2), volume: Some(16), ..VOLUME },
    System { command: Command::Depths(&[1, 2, 4, 8, 16]), ..NOT_REACHED },
    System { command: Command::Depths(&[1, 4, 16]), transfer: "64KiB", read: 50, ..NOT_REACHED },
    System { command: Command::Depths(&[1, 16]), volume: Some(32), ..VOLUME },
    System { command: Command::Depths(&[1, 16]), ..NOT_REACHED },
];

impl System {
    /// The service's configuration, listening at `address`.
    pub(crate) fn config(&self, address: &str) -> String {
        // Ultra: 128 MiB/s per TiB, so 8 GiB per MiB/s.
        let quota_gib = self.volume.map_or(100 * 1024, |limit| 8 * limit);
        let rate = |key: &str, limit: Option<u32>| {
            limit.map_or_else(String::new, |limit| format!("{key} = \"{limit}MiB/s\"\n"))
        };
        let ops = |key: &str, limit: Option<u32>| {
            limit.map_or_else(String::new, |limit| format!("{key} = \"{limit}/s\"\n"))
        };
        let slots = self
            .slots
            .map_or_else(String::new, |slots| format!("outstanding_per_connection = {slots}\n"));
        format!(
            "[account]\ncapacity_quota = \"200TiB\"\n[[endpoint]]\nname = \"ep1\"\n\
             address = \"{address}\"\n{}{}\
             [[pool]]\nname = \"pool1\"\nservice_level = \"ultra\"\nsize = \"100TiB\"\nqos = \"auto\"\n\
             [[volume]]\nname = \"vol1\"\npool = \"pool1\"\nquota = \"{quota_gib}GiB\"\nendpoints = \"ep1\"\n\
             [limits]\nenforced = true\n{}{}{slots}\
             [delay]\nread = \"{}us\"\nwrite = \"{}us\"\n",
            rate("throughput", self.endpoint),
            ops("ops", self.ops),
            rate("flow_throughput", self.flow),
            ops("flow_ops", self.flow_ops),
            self.delay_us,
            self.delay_us,
        )
    }

    /// The experiment file; `None` for `run --quick`.
    pub(crate) fn experiment(&self) -> Option<String> {
        let depths: Vec<String> = match self.command {
            Command::Quick => return None,
            Command::Explain => vec!["16".to_owned()],
            Command::Depths(depths) => depths.iter().map(u32::to_string).collect(),
        };
        Some(format!(
            "name = \"examined\"\n[run]\nwarm_up = \"300ms\"\nmeasure = \"1500ms\"\n\
             interval = \"100ms\"\n[stream.main]\nread = \"{}%\"\ntransfer_size = \"{}\"\n\
             pattern = \"random\"\nfiles = 4\nfile_size = \"16MiB\"\nqueue_depth = [{}]\n",
            self.read,
            self.transfer,
            depths.join(", ")
        ))
    }

    /// Describes the system in one line.
    pub(crate) fn describe(&self) -> String {
        let mut words = vec![self.class.to_owned()];
        let mut add = |word: Option<String>| words.extend(word);
        add(self.volume.map(|limit| format!("volume {limit} MiB/s")));
        add(self.endpoint.map(|limit| format!("endpoint {limit} MiB/s")));
        add(self.flow.map(|limit| format!("flow {limit} MiB/s")));
        add(self.ops.map(|limit| format!("{limit} ops/s")));
        add(self.flow_ops.map(|limit| format!("flow {limit} ops/s")));
        add(self.slots.map(|slots| format!("{slots} slots")));
        add(Some(format!("storage {} us", self.delay_us)));
        match self.link {
            Link::Unshaped => {}
            Link::Received(mbit) => add(Some(format!("{mbit} Mbit/s to the client (tbf)"))),
            Link::Sent(mbit) => add(Some(format!("{mbit} Mbit/s from the client (htb)"))),
        }
        match self.processors {
            Processors::Separate => {}
            Processors::Shared => add(Some("client and service on one processor".to_owned())),
            Processors::BusyClient(count) => {
                add(Some(format!("{count} busy processes next to the client")))
            }
            Processors::BusyService(count) => {
                add(Some(format!("{count} busy processes next to the service")))
            }
        }
        add(Some(match self.command {
            Command::Explain => format!("{} {}% reads, --explain", self.transfer, self.read),
            Command::Quick => "--quick".to_owned(),
            Command::Depths(depths) => {
                format!("{} {}% reads, queue depths {depths:?}", self.transfer, self.read)
            }
        }));
        add(Some(format!("{} connections", self.connections)));
        add((!self.known.is_empty()).then(|| format!("--known {}", self.known)));
        words.join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_at_least_40_systems_and_each_has_a_known_truth() {
        assert!(ALL.len() >= 40);
        for system in ALL {
            assert!(!system.class.is_empty() && !system.truth.is_empty(), "{system:?}");
        }
    }
}
