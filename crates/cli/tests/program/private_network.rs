//! Service and clients in a network namespace, where the well-known ports are free: clients without
//! a port find both programs through the portmapper on port 111. Requires root, as in CI.

use std::process::Command;

use crate::harness::TestDir;
use crate::runs::TINY;

/// A network namespace with nothing but loopback; gone with this.
pub(crate) struct Network {
    pub(crate) name: String,
}

pub(crate) fn ip(words: &str) {
    let status = Command::new("ip").args(words.split_ascii_whitespace()).status();
    let status = status.expect("start ip (`cargo xtask check --install`)");
    assert!(status.success(), "`ip {words}` ended with {status}");
}

impl Network {
    pub(crate) fn new(side: &str) -> Network {
        let name = format!("fourcorners-{}-{side}", std::process::id());
        ip(&format!("netns add {name}"));
        let network = Network { name };
        ip(&format!("-n {} link set lo up", network.name));
        network
    }

    /// A program in it.
    pub(crate) fn command(&self, program: &str) -> Command {
        let mut command = Command::new("nsenter");
        command.arg(format!("--net=/run/netns/{}", self.name)).arg(program);
        command
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        // Where setting up failed there may be nothing to remove; the test fails anyway.
        let _ = Command::new("ip").args(["netns", "del", &self.name]).status();
    }
}

#[test]
fn ports_come_from_the_portmapper_and_connections_use_every_address() {
    let network = Network::new("program");
    let mut dir = TestDir::new();
    dir.file("tiny.toml", TINY);
    dir.enter(network.command(env!("CARGO_BIN_EXE_fourcorners")));
    let serve = ["volume", "serve", "--address", "0.0.0.0:2049", "--portmapper", "111"];
    let serving = dir.start(&serve);
    serving.wait_for("portmapper  0.0.0.0:111");
    serving.wait_for("Ctrl-C ends the service");

    let url = "nfs://127.0.0.1/vol1?nconnect=6&addr=127.0.0.1,127.0.0.2,127.0.0.3";
    let ended = dir.run(&["run", url, "-w", "tiny.toml", "--verify", "--no-report"]);
    assert_eq!(ended.code, Some(0), "{}\n{}", ended.stdout, ended.stderr);
    let connections = dir.ok(&["export", "last", "--format", "connections"]);
    for address in ["127.0.0.1", "127.0.0.2", "127.0.0.3"] {
        let to = connections.matches(&format!(",{address}:2049,")).count();
        // Two runs of the sweep with six connections over three addresses.
        assert_eq!(to, 2 * 2, "{address}:\n{connections}");
    }

    // libnfs asks at port 111 too where its URL has no port.
    let listed = network.command("nfs-ls").args(["-R", "nfs://127.0.0.1/vol1"]).output();
    let listed = listed.expect("start nsenter");
    let text = String::from_utf8_lossy(&listed.stdout);
    assert!(listed.status.success() && text.contains("fourcorners"), "{listed:?}");

    serving.signal("TERM");
    let ended = serving.end();
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let warning =
        "warning: endpoint `endpoint` listens at 0.0.0.0:2049: every host that reaches it";
    assert!(ended.stderr.starts_with(warning), "{}", ended.stderr);
}

/// `showmount` asks the portmapper over UDP and MOUNT at the port that it is given.
#[test]
fn showmount_lists_the_exports() {
    let network = Network::new("showmount");
    let mut dir = TestDir::new();
    dir.enter(network.command(env!("CARGO_BIN_EXE_fourcorners")));
    let serve = ["volume", "serve", "--address", "127.0.0.1:2049", "--portmapper", "111"];
    let serving = dir.start(&serve);
    serving.wait_for("Ctrl-C ends the service");
    let listed = network.command("showmount").args(["-e", "127.0.0.1"]).output();
    let listed = listed.expect("start nsenter");
    let text = String::from_utf8_lossy(&listed.stdout);
    assert!(listed.status.success(), "(`cargo xtask check --install`) {listed:?}");
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("Export list for 127.0.0.1:"));
    let volume = lines.next().unwrap_or_default();
    assert!(volume.starts_with("/vol1 127.0.0.0/8,10.0.0.0/8,"), "{text}");
    assert_eq!(lines.next(), None, "{text}");
    serving.signal("TERM");
    assert_eq!(serving.end().code, Some(0));
}
