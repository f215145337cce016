//! The kernel's byte counters on the path to a target: NFS mount, network interface, block device.
//!
//! [`Meter::since_last`] returns differences. A reading takes some tens of microseconds and is never
//! done by a worker.

use std::net::IpAddr;
use std::path::{Path, PathBuf};

use metrics::wire::{CounterSource, WireInterval};

use crate::{Root, mounts, mountstats, network};

/// Reads the byte counters on the path to a target.
#[derive(Debug)]
pub struct Meter {
    root: Root,
    tracked: Vec<Tracked>,
}

#[derive(Debug)]
struct Tracked {
    counter: Counter,
    before: Option<(u64, u64)>,
}

#[derive(Debug, PartialEq, Eq)]
enum Counter {
    NfsMount { point: PathBuf },
    BlockDevice { number: (u32, u32) },
    Interface { name: String },
}

/// The unit of `/sys/dev/block/*/stat`, whatever the device's own sectors are
/// (Documentation/block/stat.rst of the kernel).
const SECTOR_BYTES: u64 = 512;

impl Meter {
    /// A meter for a directory (absolute, without links): its NFS mount and the interface to the
    /// server, or its block device. File systems with neither (in memory, on several devices) have no
    /// counters.
    pub fn of_directory(root: Root, path: &Path) -> Meter {
        let mountinfo = root.text("proc/self/mountinfo").unwrap_or_default();
        let mounts = mounts::parse(mountinfo.as_bytes());
        let mut counters = Vec::new();
        if let Some(mount) = mounts::covering(&mounts, path) {
            if mount.filesystem.starts_with("nfs") {
                counters.push(Counter::NfsMount { point: mount.point.clone() });
                let address = mount.super_options.split(',').find_map(|o| o.strip_prefix("addr="));
                if let Some(server) = address.and_then(|address| address.parse().ok()) {
                    counters.extend(interface(&root, server));
                }
            } else if mount.device.0 != 0 {
                counters.push(Counter::BlockDevice { number: mount.device });
            }
        }
        Meter::new(root, counters)
    }

    /// A meter for an export at `server`: the interface that carries packets to it.
    pub fn of_server(root: Root, server: IpAddr) -> Meter {
        let counters = interface(&root, server).into_iter().collect();
        Meter::new(root, counters)
    }

    /// A meter for several targets. A counter that several of them share counts once, and the sums are
    /// only those of sources that every target has.
    pub fn of_all(root: Root, meters: Vec<Meter>) -> Meter {
        let sources = |meter: &Meter| -> Vec<CounterSource> {
            meter.tracked.iter().map(|one| one.counter.source()).collect()
        };
        let of_each: Vec<Vec<CounterSource>> = meters.iter().map(sources).collect();
        let mut counters: Vec<Counter> = Vec::new();
        for counter in meters.into_iter().flat_map(|meter| meter.tracked).map(|one| one.counter) {
            let has_it = |sources: &Vec<CounterSource>| sources.contains(&counter.source());
            if of_each.iter().all(has_it) && !counters.contains(&counter) {
                counters.push(counter);
            }
        }
        Meter::new(root, counters)
    }

    /// A meter without counters.
    pub fn of_nothing(root: Root) -> Meter {
        Meter::new(root, Vec::new())
    }

    fn new(root: Root, counters: Vec<Counter>) -> Meter {
        let track = |counter: Counter| Tracked { before: counter.read(&root), counter };
        let tracked = counters.into_iter().map(track).collect();
        Meter { tracked, root }
    }

    /// Bytes since the last call, or since the meter was created; without counters that are unreadable
    /// or were reset.
    pub fn since_last(&mut self) -> Vec<WireInterval> {
        let Meter { root, tracked } = self;
        let mut sums: Vec<(CounterSource, Option<WireInterval>)> = Vec::new();
        for one in tracked {
            let read = one.since_last(root);
            let source = one.counter.source();
            match sums.iter_mut().find(|(known, _)| *known == source) {
                None => sums.push((source, read)),
                // Without one of its counters a sum would be too small.
                Some((_, sum)) => {
                    *sum = sum.zip(read).map(|(sum, read)| WireInterval {
                        source,
                        received_bytes: sum.received_bytes + read.received_bytes,
                        sent_bytes: sum.sent_bytes + read.sent_bytes,
                    });
                }
            }
        }
        sums.into_iter().filter_map(|(_, sum)| sum).collect()
    }
}

impl Tracked {
    fn since_last(&mut self, root: &Root) -> Option<WireInterval> {
        let now = self.counter.read(root);
        let before = std::mem::replace(&mut self.before, now)?;
        let (received, sent) = now?;
        Some(WireInterval {
            source: self.counter.source(),
            received_bytes: received.checked_sub(before.0)?,
            sent_bytes: sent.checked_sub(before.1)?,
        })
    }
}

impl Counter {
    fn source(&self) -> CounterSource {
        match self {
            Counter::NfsMount { .. } => CounterSource::NfsMount,
            Counter::BlockDevice { .. } => CounterSource::BlockDevice,
            Counter::Interface { name } if name == network::LOOPBACK => CounterSource::Loopback,
            Counter::Interface { .. } => CounterSource::Interface,
        }
    }

    /// `(received, sent)` since the counters started.
    fn read(&self, root: &Root) -> Option<(u64, u64)> {
        match self {
            Counter::NfsMount { point } => {
                let text = root.text("proc/self/mountstats")?;
                let all = mountstats::parse(text.as_bytes());
                let bytes = mountstats::on(&all, point)?.bytes?;
                Some((bytes.server_read, bytes.server_written))
            }
            Counter::BlockDevice { number: (major, minor) } => {
                let text = root.text(&format!("sys/dev/block/{major}:{minor}/stat"))?;
                let mut fields = text.split_ascii_whitespace().map(str::parse::<u64>);
                // Requests, merges, sectors and ticks of reads, then of writes.
                let read = fields.nth(2)?.ok()?;
                let written = fields.nth(3)?.ok()?;
                Some((read.checked_mul(SECTOR_BYTES)?, written.checked_mul(SECTOR_BYTES)?))
            }
            Counter::Interface { name } => device_bytes(&root.text("proc/self/net/dev")?, name),
        }
    }
}

/// `(received, sent)` of an interface, from the table of this process's network namespace
/// (`/sys/class/net` shows the namespace in which it was mounted). Lines have the form `name:
/// received bytes, packets and six more, sent bytes and more`.
fn device_bytes(text: &str, name: &str) -> Option<(u64, u64)> {
    let (_, counters) = text
        .lines()
        .filter_map(|line| line.split_once(':'))
        .find(|(interface, _)| interface.trim() == name)?;
    let mut fields = counters.split_ascii_whitespace().map(str::parse::<u64>);
    let received = fields.next()?.ok()?;
    let sent = fields.nth(7)?.ok()?;
    Some((received, sent))
}

fn interface(root: &Root, server: IpAddr) -> Option<Counter> {
    Some(Counter::Interface { name: network::interface_to(root, Some(server))? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::Tree;

    const MOUNTINFO: &str = "\
27 1 254:0 / / rw - ext4 /dev/vda rw
28 27 0:30 / /tmp rw - tmpfs none rw
612 27 0:52 / /mnt/vol1 rw - nfs 10.0.2.4:/vol1 rw,vers=3,mountaddr=10.0.2.4,addr=10.0.2.4
";
    const ROUTES: &str = "\
Iface Destination Gateway Flags RefCnt Use Metric Mask MTU Window IRTT
eth1 0002000A 00000000 0001 0 0 0 00FFFFFF 0 0 0
";

    fn mountstats(read: u64, written: u64) -> String {
        format!(
            "device 10.0.2.4:/vol1 mounted on /mnt/vol1 with fstype nfs statvers=1.1\n\
             \tbytes:\t9 9 9 9 {read} {written} 1 1\n"
        )
    }

    fn system() -> Tree {
        Tree::of(&[("proc/self/mountinfo", MOUNTINFO), ("proc/net/route", ROUTES)])
    }

    /// Writes the table of this namespace, and `/sys` of another one with an idle interface.
    fn interface(tree: &Tree, name: &str, received: u64, sent: u64) {
        let table = format!(
            "Inter-|   Receive                                                |  Transmit\n \
             face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs \
             drop fifo colls carrier compressed\n\
             {name:>6}:{received:8}      11    0    0    0     0          0         0 {sent:8}       \
             12    0    0    0     0       0          0\n"
        );
        tree.write("proc/self/net/dev", &table);
        for counter in ["rx_bytes", "tx_bytes"] {
            tree.write(&format!("sys/class/net/{name}/statistics/{counter}"), "0\n");
        }
    }

    fn counted(source: CounterSource, received_bytes: u64, sent_bytes: u64) -> WireInterval {
        WireInterval { source, received_bytes, sent_bytes }
    }

    #[test]
    fn a_directory_on_a_disk_uses_the_sectors_of_its_device() {
        let tree = system();
        tree.write("sys/dev/block/254:0/stat", "  9  0  100  5  7  1  40  3  0  5  8\n");
        let mut meter = Meter::of_directory(tree.root(), Path::new("/data/x"));
        assert_eq!(meter.since_last(), [counted(CounterSource::BlockDevice, 0, 0)]);
        tree.write("sys/dev/block/254:0/stat", "  19  0  120  5  7  1  41  3  0  5  8\n");
        assert_eq!(meter.since_last(), [counted(CounterSource::BlockDevice, 20 * 512, 512)]);
    }

    #[test]
    fn an_nfs_mount_uses_its_own_counters_and_those_of_its_interface() {
        let tree = system();
        tree.write("proc/self/mountstats", &mountstats(1000, 50));
        interface(&tree, "eth1", 10, 20);
        let mut meter = Meter::of_directory(tree.root(), Path::new("/mnt/vol1/fourcorners"));
        tree.write("proc/self/mountstats", &mountstats(9192, 50));
        interface(&tree, "eth1", 9000, 500);
        let expected = [
            counted(CounterSource::NfsMount, 8192, 0),
            counted(CounterSource::Interface, 8990, 480),
        ];
        assert_eq!(meter.since_last(), expected);
        // Reset counters (after a remount) are omitted.
        tree.write("proc/self/mountstats", &mountstats(5, 5));
        assert_eq!(meter.since_last(), [counted(CounterSource::Interface, 0, 0)]);
    }

    #[test]
    fn counters_of_several_targets_add_up_and_shared_ones_count_once() {
        let tree = Tree::of(&[
            (
                "proc/self/mountinfo",
                "27 1 254:0 / / rw - ext4 /dev/vda rw\n28 27 254:1 / /b rw - ext4 /dev/vdb rw\n\
                 29 27 0:30 / /tmp rw - tmpfs none rw\n",
            ),
            ("proc/net/route", ROUTES),
        ]);
        let write = |minor: u32, read: u64| {
            let text = format!("9 0 {read} 5 7 1 0 3 0 5 8\n");
            tree.write(&format!("sys/dev/block/254:{minor}/stat"), &text);
        };
        let meter = |paths: &[&str]| {
            let each = paths.iter().map(|path| Meter::of_directory(tree.root(), Path::new(path)));
            Meter::of_all(tree.root(), each.collect())
        };
        write(0, 100);
        write(1, 1000);
        let mut both = meter(&["/x", "/y", "/b/z"]);
        let mut with_memory = meter(&["/x", "/tmp/z"]);
        write(0, 110);
        write(1, 1001);
        assert_eq!(both.since_last(), [counted(CounterSource::BlockDevice, 11 * 512, 0)]);
        assert_eq!(with_memory.since_last(), [], "one target has no counters");
    }

    #[test]
    fn a_server_on_this_host_uses_the_loopback() {
        let tree = system();
        interface(&tree, "lo", 5, 5);
        let mut meter = Meter::of_server(tree.root(), "127.0.0.1".parse().unwrap());
        interface(&tree, "lo", 905, 905);
        assert_eq!(meter.since_last(), [counted(CounterSource::Loopback, 900, 900)]);
    }

    #[test]
    fn targets_without_counters_have_no_counts() {
        let tree = system();
        assert_eq!(Meter::of_directory(tree.root(), Path::new("/tmp/x")).since_last(), []);
        assert_eq!(Meter::of_directory(tree.root(), Path::new("/data")).since_last(), []);
        let elsewhere = "192.0.2.1".parse().unwrap();
        assert_eq!(Meter::of_server(tree.root(), elsewhere).since_last(), []);
        assert_eq!(Meter::of_nothing(tree.root()).since_last(), []);
    }
}
