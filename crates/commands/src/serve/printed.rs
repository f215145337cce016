//! What `volume serve` prints when it starts and when it ends.

use std::fmt::Write as _;
use std::net::{IpAddr, SocketAddr};

use report::table::{Column, Table};
use units::{Bytes, thousands};
use volume::model::Volume;
use volume::shell::{Running, Snapshot};

use super::limit_of;
use crate::outcome::Failure;

/// Volumes with their limits and how to mount them.
///
/// * `memory` - what all volumes may take
/// * `columns` - the width of the terminal
///
/// # Errors
/// The service has ended.
pub fn introduction(running: &Running, memory: Bytes, columns: usize) -> Result<String, Failure> {
    let snapshot = running.snapshot().map_err(Failure::internal)?;
    let account = snapshot.account.account();
    let row = |volume: &Volume| {
        let level = account.pool(&volume.pool).map_or("", |pool| pool.level.name());
        let limit = limit_of(&snapshot, volume);
        vec![volume.name.clone(), level.to_owned(), volume.quota.to_string(), limit]
    };
    let table = Table {
        caption: String::new(),
        columns: vec![
            Column::words("VOLUME"),
            Column::words("LEVEL"),
            Column::numbers("QUOTA", ""),
            Column::words("LIMIT"),
        ],
        rows: account.volumes.iter().map(row).collect(),
    };
    let mut text = table.text(columns);
    for volume in &account.volumes {
        let endpoints = snapshot.endpoints.iter().zip(running.addresses());
        let at = endpoints.filter(|(name, _)| volume.endpoints.contains(name));
        let at: Vec<SocketAddr> = at.map(|(_, address)| *address).collect();
        push(&mut text, format_args!("\n{}", volume.name));
        for address in at {
            let (host, port) = (reachable(address.ip()), address.port());
            let name = &volume.name;
            push(&mut text, format_args!("  nfs://{host}:{port}/{name}?mountport={port}"));
            push(
                &mut text,
                format_args!(
                    "  mount -t nfs -o vers=3,proto=tcp,nolock,port={port},mountport={port},\
                     mountproto=tcp {host}:/{name} /mnt"
                ),
            );
        }
    }
    push(&mut text, format_args!("\nmemory      at most {memory} for all volumes"));
    for address in running.portmappers() {
        push(&mut text, format_args!("portmapper  {address}"));
    }
    if let Some(address) = running.metrics() {
        push(&mut text, format_args!("metrics     http://{address}/metrics"));
    }
    push(&mut text, format_args!("Ctrl-C ends the service"));
    Ok(text)
}

fn push(text: &mut String, line: std::fmt::Arguments<'_>) {
    writeln!(text, "{line}").expect("writing to a string cannot fail");
}

/// An address that a client on this host can use, in brackets where it has colons.
fn reachable(address: IpAddr) -> String {
    match address {
        IpAddr::V4(address) if address.is_unspecified() => "127.0.0.1".to_owned(),
        IpAddr::V4(address) => address.to_string(),
        IpAddr::V6(address) if address.is_unspecified() => "[::1]".to_owned(),
        IpAddr::V6(address) => format!("[{address}]"),
    }
}

/// What was served.
pub fn summary(last: &Snapshot) -> String {
    let mut text = String::from("\n");
    for (name, counters) in last.counters.volumes() {
        push(
            &mut text,
            format_args!(
                "{name}: {} operations, {} read, {} written, {} delayed by limits",
                thousands(counters.completed()),
                Bytes::new(counters.read_bytes),
                Bytes::new(counters.written_bytes),
                thousands(counters.throttled())
            ),
        );
    }
    text
}
