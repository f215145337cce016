//! The host's network and disk counters for a target.

use host::Root;
use host::wire::Meter;
use runner::fleet::WireMeter;
use target::directory::TargetDirectory;

/// The counters that the targets' bytes pass: for an export the interface to its server, for a
/// directory its mount or block device, for the null target none.
pub(crate) fn meter(root: Root, directories: &[TargetDirectory]) -> WireMeter {
    let of_one = |directory: &TargetDirectory| match directory.mounted() {
        None => Meter::of_directory(root.clone(), directory.path()),
        Some(mounted) => match mounted.servers.first() {
            Some(server) => Meter::of_server(root.clone(), server.ip()),
            None => Meter::of_nothing(root.clone()),
        },
    };
    let each = directories.iter().map(of_one).collect();
    let mut meter = Meter::of_all(root.clone(), each);
    Box::new(move || meter.since_last())
}
