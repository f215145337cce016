//! Where the bytes of a target pass, and what was counted there, from the host's words into the
//! record's.

use host::Root;
use host::wire::{Counted, Meter, Place};
use metrics::wire::{WireInterval, WirePlace};
use target::directory::TargetDirectory;

/// The meter of a target: of an export the interface to its server, of a directory the mount or the
/// device that it lies on, of the null target nothing.
pub(crate) fn meter(root: Root, directory: Option<&TargetDirectory>) -> Meter {
    let Some(directory) = directory else { return Meter::of_nothing(root) };
    match directory.mounted() {
        Some(mounted) => match mounted.servers.first() {
            Some(server) => Meter::of_server(root, server.ip()),
            None => Meter::of_nothing(root),
        },
        None => Meter::of_directory(root, directory.path()),
    }
}

pub(crate) fn interval(counted: Counted) -> WireInterval {
    let Counted { place, received_bytes, sent_bytes } = counted;
    let place = match place {
        Place::NfsMount => WirePlace::NfsMount,
        Place::BlockDevice => WirePlace::BlockDevice,
        Place::Interface => WirePlace::Interface,
        Place::Loopback => WirePlace::Loopback,
    };
    WireInterval { place, received_bytes, sent_bytes }
}
