//! Two network namespaces with a pair of virtual interfaces between them: one for the service, one
//! for the client. Both are gone when this is dropped.

use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::systems::Link;

/// The service's address.
pub(crate) const SERVICE: &str = "10.197.0.1";
/// The client's.
const CLIENT: &str = "10.197.0.2";
/// Burst of tbf and htb: some milliseconds of the slowest link.
const BURST: &str = "64kb";
/// How long tbf keeps a packet at most.
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
    /// Makes both, with the link between them.
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
            Link::Free => {}
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

    /// A program inside, on these processors.
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
            // Where making it failed there may be nothing to remove.
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
