//! The facts that `check` judges: files below a root, and on the running host also short trials.

use std::io::ErrorKind;
use std::net::{IpAddr, SocketAddr, TcpStream, ToSocketAddrs};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use analysis::host_check::{Facts, RoundTrip, RoundTripSource};
use anyhow::anyhow;
use engine::drive::Stop;
use host::cpu::CpuTimes;
use host::{Root, facts, instance, network, observations};
use runner::fleet::{Fleet, LocalFleet, Progress};
use workload::experiment;
use workload::plan::TargetSpec;
use workload::resolve::{self, ResolveOptions};

/// A host, running or captured, and its target.
pub(super) struct HostFacts<'a> {
    pub(super) root: &'a Root,
    pub(super) is_captured: bool,
    /// Absolute and without symbolic links.
    pub(super) directory: Option<&'a Path>,
    /// The server's address, if it is known without the mount.
    pub(super) server: Option<IpAddr>,
}

/// Timeout for resolving the server's name, and for each connection to it.
const TIMEOUT: Duration = Duration::from_millis(250);
/// Connections; the shortest round trip counts.
const CONNECTS: usize = 3;
const NFS_PORT: u16 = 2049;

/// The load generator on the null target, for a quarter of a second.
const CEILING: &str = r#"
name = "ceiling"
[run]
warm_up = "50ms"
measure = "200ms"
interval = "50ms"
[stream.ceiling]
read = "100%"
transfer_size = "8KiB"
pattern = "random"
file_size = "1GiB"
queue_depth = 32
"#;

impl HostFacts<'_> {
    /// All facts, by name.
    pub(super) fn read(&self) -> Facts {
        let steal_before = CpuTimes::read(self.root);
        let mut all = facts::of_host(self.root);
        all.extend(observations::of_host(self.root));
        if let Some(directory) = self.directory {
            all.extend(facts::of_mount(self.root, directory, None));
            all.extend(observations::of_mount(self.root, directory));
            let missing = observations::missing_mount(self.root, directory);
            all.extend(missing.map(|point| ("mount.missing".to_owned(), point)));
        }
        all.extend(interface_facts(self.root, self.server(&all)));
        if let Some(name) = value(&all, "nic.name").map(str::to_owned) {
            all.extend(observations::of_interface(self.root, &name));
        }
        match self.is_captured {
            true => all.extend(captured_instance(self.root)),
            false => {
                all.extend(instance::facts(self.root));
                all.extend(trials());
                let steal = steal_before.zip(CpuTimes::read(self.root));
                let share = steal.and_then(|(before, after)| after.steal_since(&before));
                all.extend(
                    share.map(|share| ("cpu.steal_share".to_owned(), format!("{share:.6}"))),
                );
            }
        }
        Facts(all)
    }

    /// The address that packets are sent to: the mount's, or the resolved one.
    pub(super) fn server(&self, facts: &[(String, String)]) -> Option<IpAddr> {
        value(facts, "mount.server").and_then(|server| server.parse().ok()).or(self.server)
    }
}

/// Facts about the interface to `server`, or that of the default route.
fn interface_facts(root: &Root, server: Option<IpAddr>) -> Vec<(String, String)> {
    match network::interface_to(root, server) {
        Some(name) if name == "lo" => vec![("nic.name".to_owned(), name)],
        Some(name) => network::facts(root, &name),
        None => Vec::new(),
    }
}

fn value<'f>(facts: &'f [(String, String)], name: &str) -> Option<&'f str> {
    facts.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str())
}

/// The entries of a captured instance metadata document, complete or only its part `compute`.
/// Values that are not text or too long for a name are ignored.
fn captured_instance(root: &Root) -> Vec<(String, String)> {
    instance::captured(root).map(|text| instance_of(&text)).unwrap_or_default()
}

fn instance_of(text: &str) -> Vec<(String, String)> {
    let Ok(document) = serde_json::from_str::<serde_json::Value>(text) else { return Vec::new() };
    let compute = document.get("compute").unwrap_or(&document);
    let entry = |(name, entry): (&str, &str)| {
        let value = compute.get(entry)?.as_str()?;
        let is_name = (1..=100).contains(&value.len());
        is_name.then(|| (name.to_owned(), value.to_owned()))
    };
    instance::ENTRIES.into_iter().filter_map(entry).collect()
}

/// What only a trial shows: whether io_uring works, and the load generator's own limit.
fn trials() -> Vec<(String, String)> {
    let ring = || {
        let file = std::fs::File::open("/dev/null")?;
        uring::ring::Ring::open(vec![file.into()], uring::buffers::Buffers::new(1, 4096)?)
    };
    let ring = match ring() {
        Ok(_) => "works".to_owned(),
        Err(error) => format!("refused: {error}"),
    };
    let mut facts = vec![("io_uring.tried".to_owned(), ring)];
    // Without the fact, the check reports that none was measured.
    if let Ok((ops_per_s, workers)) = ceiling() {
        facts.push(("generator.ops_per_s".to_owned(), format!("{ops_per_s:.0}")));
        facts.push(("generator.workers".to_owned(), workers.to_string()));
    }
    facts
}

/// Operations per second on the null target with one worker per processor, and the workers.
fn ceiling() -> anyhow::Result<(f64, usize)> {
    let workers = engine::processor::processors().len().max(1);
    let text = format!("{CEILING}workers = {workers}\n");
    let invalid = |_| anyhow!("the built-in experiment is invalid");
    let experiment = experiment::parse_with(&text, "ceiling", &[]).map_err(invalid)?;
    let options = ResolveOptions::LOCAL;
    let plan =
        resolve::resolve(&experiment, "ceiling", TargetSpec::Null, &options).map_err(invalid)?;
    let run =
        plan.known_runs().next().ok_or_else(|| anyhow!("the built-in experiment has no run"))?;
    let mut fleet = LocalFleet::new(&plan);
    fleet.choose_io_method(&plan, &[])?;
    let (mut completed, mut ns) = (0u64, 0u64);
    fleet.run(run, &Arc::new(Stop::default()), &mut |progress| {
        // The first interval is the warm-up.
        if let Progress::Interval(interval) = progress
            && interval.index > 0
        {
            completed += interval.streams.iter().map(|stream| stream.completed()).sum::<u64>();
            ns += interval.end_ns - interval.start_ns;
        }
        ControlFlow::Continue(())
    })?;
    anyhow::ensure!(ns > 0, "the run had no interval");
    Ok((completed as f64 * 1e9 / ns as f64, workers))
}

/// The address of a host name; `None` if there is none or resolving takes too long.
pub(super) fn resolved(host: &str) -> Option<IpAddr> {
    if let Ok(address) = host.parse() {
        return Some(address);
    }
    let (send, receive) = channel();
    let host = host.to_owned();
    // The resolver may block for long and cannot be cancelled; the thread ends with the process.
    let resolver = std::thread::Builder::new().name("resolver".to_owned());
    resolver
        .spawn(move || {
            let address =
                (host.as_str(), NFS_PORT).to_socket_addrs().ok().and_then(|mut all| all.next());
            let _ = send.send(address);
        })
        .ok()?;
    receive.recv_timeout(TIMEOUT).ok().flatten().map(|address| address.ip())
}

/// The round-trip time to a server: the shortest time to establish a connection, or to have it
/// refused.
pub(super) fn round_trip(server: IpAddr, port: Option<u16>) -> Option<RoundTrip> {
    let address = SocketAddr::new(server, port.unwrap_or(NFS_PORT));
    let once = || {
        let began = Instant::now();
        match TcpStream::connect_timeout(&address, TIMEOUT) {
            Ok(_) => {}
            // A refusal takes a round trip too.
            Err(error) if error.kind() == ErrorKind::ConnectionRefused => {}
            Err(_) => return None,
        }
        Some(began.elapsed().as_secs_f64())
    };
    let mut least = once()?;
    for _ in 1..CONNECTS {
        least = least.min(once()?);
    }
    let source = RoundTripSource::Connects { count: CONNECTS, address: address.to_string() };
    (least > 0.0).then_some(RoundTrip { seconds: least, source })
}

/// The mean time of the mount's GETATTR calls: an upper bound, because it includes the server's
/// service time.
pub(super) fn round_trip_of_mount(facts: &Facts) -> Option<RoundTrip> {
    let ms = facts.real("mount.getattr_round_trip_ms").filter(|ms| *ms > 0.0)?;
    let calls = facts.number("mount.getattr_calls")?;
    Some(RoundTrip { seconds: ms / 1e3, source: RoundTripSource::GetattrMean { calls } })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_captured_metadata_document_has_the_vm_size() {
        let size = |text: &str| {
            let facts = instance_of(text);
            value(&facts, "vm.size").map(str::to_owned)
        };
        let whole = r#"{"compute":{"vmSize":"Standard_D4s_v5","tags":"a:b"},"network":{}}"#;
        assert_eq!(size(whole).as_deref(), Some("Standard_D4s_v5"));
        assert_eq!(size(r#"{"vmSize":"Standard_D4s_v5"}"#).as_deref(), Some("Standard_D4s_v5"));
        for wrong in ["", "{", "[]", "3", r#"{"compute":7}"#, r#"{"vmSize":{"x":1}}"#] {
            assert_eq!(size(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_truncated_or_damaged_metadata_document_is_ignored() {
        let whole = r#"{"compute":{"vmSize":"Standard_D4s_v5","location":"w","zone":"1"}}"#;
        for end in 0..whole.len() {
            assert_eq!(instance_of(&whole[..end]), [], "{end}");
        }
        for at in 0..whole.len() {
            for byte in *b"\0\"{}[]:,9\\" {
                let mut bytes = whole.as_bytes().to_vec();
                bytes[at] = byte;
                let text = String::from_utf8_lossy(&bytes);
                assert!(instance_of(&text).len() <= instance::ENTRIES.len());
            }
        }
        let deep = "[".repeat(100_000);
        assert_eq!(instance_of(&deep), []);
    }

    #[test]
    fn a_refused_connection_measures_the_round_trip() {
        let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).expect("listen");
        let address = listener.local_addr().expect("it has an address");
        assert!(round_trip(address.ip(), Some(address.port())).is_some());
        drop(listener);
        assert!(round_trip(address.ip(), Some(address.port())).is_some());
    }
}
