//! What the kernel counts on the way to a target: bytes of an NFS mount, of a network interface, of
//! a block device.
//!
//! Counters only grow; [`Meter::since_last`] gives the differences. Reading them takes some tens of
//! microseconds and is done beside the workers, never by them.

use std::net::IpAddr;
use std::path::{Path, PathBuf};

use crate::{Root, mounts, mountstats, network};

/// What one place counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counted {
    /// Which place.
    pub place: Place,
    /// Bytes that came towards this host, or from the device.
    pub received_bytes: u64,
    /// Bytes that left it, or went to the device.
    pub sent_bytes: u64,
}

/// A place that bytes pass on their way to the storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The mount that the target lies on: data of READ and WRITE calls.
    NfsMount,
    /// The device below the target's file system.
    BlockDevice,
    /// The interface that carries packets to the server.
    Interface,
    /// The same where the server is on this host: both counters hold what went either way.
    Loopback,
}

/// Reads the counters of the places that a target's bytes pass.
#[derive(Debug)]
pub struct Meter {
    root: Root,
    sources: Vec<Source>,
}

#[derive(Debug)]
struct Source {
    counter: Counter,
    before: Option<(u64, u64)>,
}

#[derive(Debug)]
enum Counter {
    NfsMount { point: PathBuf },
    BlockDevice { number: (u32, u32) },
    Interface { name: String },
}

/// The unit of `/sys/dev/block/*/stat`, whatever the device's own sectors are
/// (Documentation/block/stat.rst of the kernel).
const SECTOR_BYTES: u64 = 512;

impl Meter {
    /// Of a directory (absolute, without links): its NFS mount and the interface to the server, or
    /// the device below it. A file system that has neither (in memory, over several devices) gives
    /// a meter that tells nothing.
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

    /// Of an export at `server`: the interface that carries packets to it.
    pub fn of_server(root: Root, server: IpAddr) -> Meter {
        let counters = interface(&root, server).into_iter().collect();
        Meter::new(root, counters)
    }

    /// Of a target whose bytes pass nowhere.
    pub fn of_nothing(root: Root) -> Meter {
        Meter::new(root, Vec::new())
    }

    fn new(root: Root, counters: Vec<Counter>) -> Meter {
        let source = |counter: Counter| Source { before: counter.read(&root), counter };
        let sources = counters.into_iter().map(source).collect();
        Meter { sources, root }
    }

    /// What was counted since the last call, or since the meter was made; places that cannot be
    /// read, or that began to count anew, are left out.
    pub fn since_last(&mut self) -> Vec<Counted> {
        let Meter { root, sources } = self;
        sources.iter_mut().filter_map(|source| source.since_last(root)).collect()
    }
}

impl Source {
    fn since_last(&mut self, root: &Root) -> Option<Counted> {
        let now = self.counter.read(root);
        let before = std::mem::replace(&mut self.before, now)?;
        let (received, sent) = now?;
        Some(Counted {
            place: self.counter.place(),
            received_bytes: received.checked_sub(before.0)?,
            sent_bytes: sent.checked_sub(before.1)?,
        })
    }
}

impl Counter {
    fn place(&self) -> Place {
        match self {
            Counter::NfsMount { .. } => Place::NfsMount,
            Counter::BlockDevice { .. } => Place::BlockDevice,
            Counter::Interface { name } if name == network::LOOPBACK => Place::Loopback,
            Counter::Interface { .. } => Place::Interface,
        }
    }

    /// `(received, sent)` since the place began to count.
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
                // Requests, merges, sectors, ticks of reads, then the same of writes.
                let read = fields.nth(2)?.ok()?;
                let written = fields.nth(3)?.ok()?;
                Some((read.checked_mul(SECTOR_BYTES)?, written.checked_mul(SECTOR_BYTES)?))
            }
            Counter::Interface { name } => device_bytes(&root.text("proc/self/net/dev")?, name),
        }
    }
}

/// `(received, sent)` of an interface, from the table of the network namespace that this process is
/// in. (`/sys/class/net` shows the namespace in which it was mounted.) Lines of `name: received
/// bytes, packets and six more, sent bytes and more`.
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

    /// The table of our namespace, and one of another in which the interface is idle.
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

    fn counted(place: Place, received_bytes: u64, sent_bytes: u64) -> Counted {
        Counted { place, received_bytes, sent_bytes }
    }

    #[test]
    fn a_directory_on_a_disk_is_counted_in_sectors_of_its_device() {
        let tree = system();
        tree.write("sys/dev/block/254:0/stat", "  9  0  100  5  7  1  40  3  0  5  8\n");
        let mut meter = Meter::of_directory(tree.root(), Path::new("/data/x"));
        assert_eq!(meter.since_last(), [counted(Place::BlockDevice, 0, 0)]);
        tree.write("sys/dev/block/254:0/stat", "  19  0  120  5  7  1  41  3  0  5  8\n");
        assert_eq!(meter.since_last(), [counted(Place::BlockDevice, 20 * 512, 512)]);
    }

    #[test]
    fn an_nfs_mount_is_counted_by_the_mount_and_by_its_interface() {
        let tree = system();
        tree.write("proc/self/mountstats", &mountstats(1000, 50));
        interface(&tree, "eth1", 10, 20);
        let mut meter = Meter::of_directory(tree.root(), Path::new("/mnt/vol1/fourcorners"));
        tree.write("proc/self/mountstats", &mountstats(9192, 50));
        interface(&tree, "eth1", 9000, 500);
        let expected = [counted(Place::NfsMount, 8192, 0), counted(Place::Interface, 8990, 480)];
        assert_eq!(meter.since_last(), expected);
        // Counters that begin anew (the mount was made again) tell nothing of this interval.
        tree.write("proc/self/mountstats", &mountstats(5, 5));
        assert_eq!(meter.since_last(), [counted(Place::Interface, 0, 0)]);
    }

    #[test]
    fn a_server_on_this_host_is_counted_by_the_loopback() {
        let tree = system();
        interface(&tree, "lo", 5, 5);
        let mut meter = Meter::of_server(tree.root(), "127.0.0.1".parse().unwrap());
        interface(&tree, "lo", 905, 905);
        assert_eq!(meter.since_last(), [counted(Place::Loopback, 900, 900)]);
    }

    #[test]
    fn what_passes_nowhere_is_not_counted() {
        let tree = system();
        assert_eq!(Meter::of_directory(tree.root(), Path::new("/tmp/x")).since_last(), []);
        assert_eq!(Meter::of_directory(tree.root(), Path::new("/data")).since_last(), []);
        let elsewhere = "192.0.2.1".parse().unwrap();
        assert_eq!(Meter::of_server(tree.root(), elsewhere).since_last(), []);
        assert_eq!(Meter::of_nothing(tree.root()).since_last(), []);
    }
}
