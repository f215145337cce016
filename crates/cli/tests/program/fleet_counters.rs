//! The network counters of each host of a fleet: two hosts in network namespaces, each with its own interface
//! and boot ID as two machines have. Requires root, as in CI.

use serde_json::Value;

use crate::fleet_runs::number;
use crate::harness::TestDir;
use crate::private_network::{Network, ip};
use crate::ssh_hosts::{HUB, PROGRAM};
use crate::volumes::Served;

/// Half of 400 reads per second on each host.
const READS: &str = r#"
name = "reads"
[run]
warm_up = "500ms"
measure = "3s"
interval = "500ms"
[stream.main]
read = "100%"
transfer_size = "16KiB"
pattern = "random"
files = 3
file_size = "1MiB"
queue_depth = 1
workers = 1
arrival = { constant = "400/s" }
"#;

/// Starts the agent in the namespace of its host, with a separate boot ID.
const ENTER: &str = r#"
host=$1
shift
exec nsenter --net="/run/netns/$PREFIX$host" unshare --mount sh -c \
    'mount --bind "boot-$0" /proc/sys/kernel/random/boot_id && exec "$@"' "$host" "$@"
"#;

fn hub() -> Network {
    let hub = Network::new("counters-hub");
    ip(&format!("-n {} link add bridge0 type bridge", hub.name));
    ip(&format!("-n {} address add {HUB}/24 dev bridge0", hub.name));
    ip(&format!("-n {} link set bridge0 up", hub.name));
    hub
}

fn host(hub: &Network, number: u8) -> Network {
    let host = Network::new(&format!("counters-h{number}"));
    let (hub, of_host) = (&hub.name, &host.name);
    ip(&format!("link add e0 netns {of_host} type veth peer name p{number} netns {hub}"));
    ip(&format!("-n {hub} link set p{number} master bridge0 up"));
    ip(&format!("-n {of_host} address add 10.215.0.{number}/24 dev e0"));
    ip(&format!("-n {of_host} link set e0 up"));
    host
}

#[test]
fn each_host_has_the_bytes_of_its_interface_and_their_sum_is_that_of_the_total() {
    let hub = hub();
    let hosts = [1, 2].map(|number| host(&hub, number));
    let mut dir = TestDir::new();
    let prefix = hosts[0].name.strip_suffix("h1").expect("the name ends with the host");
    dir.file("enter", &ENTER.replace("$PREFIX", prefix));
    for number in [1, 2] {
        let boot_id = format!("00000000-0000-4000-8000-00000000000{number}\n");
        dir.file(&format!("boot-h{number}"), &boot_id);
    }
    dir.file("reads.toml", READS);
    let mut starter = hub.command("env");
    starter.args(["--default-signal=INT", PROGRAM]);
    dir.enter(starter);
    let served = Served::start(&dir, &["--address", &format!("{HUB}:2049"), "--no-limits"]);
    let url = format!("nfs://{HUB}:{0}/vol1?mountport={0}&nconnect=1", served.port);
    let fixed = ["run", &url, "-w", "reads.toml", "--no-report", "--no-progress", "--json"];
    let on = ["--hosts", "exec:sh enter {host}", "--hosts", "h1,h2", "--agent", PROGRAM];
    let results: Value =
        serde_json::from_str(&dir.measured(&[&fixed[..], &on].concat())).expect("JSON");
    let each = results["load_points"][0]["hosts"].as_array().expect("a list");
    assert_eq!(each.len(), 2);
    let mut sum = [0, 0];
    for host in each {
        let [wire] = &host["wire"].as_array().expect("they are separate machines")[..] else {
            panic!("one repeat: {host}")
        };
        assert_eq!(wire["source"], "interface");
        let ratio = wire["read"]["ratio"].as_f64().expect("enough was read");
        assert!((0.9..1.25).contains(&ratio), "data and headers: {wire}");
        let moved = number(&host["summary"]["total"]["data"], "moved_bytes");
        assert_eq!(number(&wire["read"], "moved_bytes"), moved);
        sum = [sum[0] + moved, sum[1] + number(&wire["read"], "wire_bytes")];
    }
    let total = &results["wire"][0][0]["sources"][0]["read"];
    assert_eq!(sum, [number(total, "moved_bytes"), number(total, "wire_bytes")]);
    let text = dir.ok(&["show", "last", "--full"]);
    assert!(text.contains("Counted: at the network interface of each host."), "{text}");
    assert!(text.contains("counted"), "{text}");
    assert_eq!(served.end().code, Some(0));
}
