//! Two network namespaces, one for the service and one for the client, connected by a pair of
//! virtual interfaces. Removed on drop.

use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::systems::Link;

/// Address of the service.
pub(crate) const SERVICE: &str = "10.197.0.1";
/// Address of the client.
const CLIENT: &str = "10.197.0.2";
/// Burst of tbf and htb: a few milliseconds at the rate of the slowest link.
const BURST: &str = "64kb";
/// Longest time that tbf queues a packet.
const LATENCY: &str = "200ms";

/// The namespaces.
pub(crate) struct Network {
    names: [String; 2],
}

/// A side of the link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Service,
    Client,
}

impl Network {
    /// Makes both namespaces and the link.
    pub(crate) fn new(link: Link) -> Result<Network> {
        let name = |side: &str| format!("fourcorners-{}-{side}", std::process::id());
        let network = Network { names: [name("service"), name("client")] };
        for name in &network.names {
            ip(&format!("netns add {name}"))?;
            ip(&format!("-n {name} link set lo up"))?;
        }
        let [service, client] = &network.names;
        ip(&format!("link add eth0 netns {service} type veth peer name eth0 netns {client}"))?;
        for (name, address) in [(service, SERVICE), (client, CLIENT)] {
            ip(&format!("-n {name} address add {address}/30 dev eth0"))?;
            ip(&format!("-n {name} link set eth0 up"))?;
        }
        match link {
            Link::Unshaped => {}
            Link::Received(mbit) => {
                let rate = format!("rate {mbit}mbit burst {BURST} latency {LATENCY}");
                tc(&format!("-n {service} qdisc add dev eth0 root tbf {rate}"))?;
            }
            Link::Sent(mbit) => {
                tc(&format!("-n {client} qdisc add dev eth0 root handle 1: htb default 1"))?;
                let class = format!("htb rate {mbit}mbit burst {BURST} cburst {BURST}");
                tc(&format!("-n {client} class add dev eth0 parent 1: classid 1:1 {class}"))?;
            }
        }
        Ok(network)
    }

    /// A command that starts a program in one of the namespaces, on these processors.
    pub(crate) fn command(&self, side: Side, processors: &str) -> Command {
        let name = &self.names[usize::from(side == Side::Client)];
        let mut command = Command::new("nsenter");
        command.arg(format!("--net=/run/netns/{name}"));
        command.args(["taskset", "-c", processors]);
        command
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        for name in &self.names {
            // Fails if the namespace was never made, which is fine.
            let _ = ip(&format!("netns del {name}"));
        }
    }
}

fn ip(words: &str) -> Result<()> {
    run("ip", words)
}

fn tc(words: &str) -> Result<()> {
    run("tc", words)
}

fn run(program: &str, words: &str) -> Result<()> {
    let status = Command::new(program).args(words.split_ascii_whitespace()).status();
    let status = status.with_context(|| format!("start {program}"))?;
    ensure!(status.success(), "`{program} {words}` ended with {status}; it needs root");
    Ok(())
}
