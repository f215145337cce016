//! The host's network and disk counters for a target.

use host::Root;
use host::wire::Meter;
use runner::fleet::WireMeter;
use target::directory::TargetDirectory;

/// The counters that a target's bytes pass: for an export the interface to its server, for a
/// directory its mount or block device, for the null target none.
pub(crate) fn meter(root: Root, directory: Option<&TargetDirectory>) -> WireMeter {
    let mut meter = match directory.map(|directory| (directory, directory.mounted())) {
        None => Meter::of_nothing(root),
        Some((directory, None)) => Meter::of_directory(root, directory.path()),
        Some((_, Some(mounted))) => match mounted.servers.first() {
            Some(server) => Meter::of_server(root, server.ip()),
            None => Meter::of_nothing(root),
        },
    };
    Box::new(move || meter.since_last())
}
