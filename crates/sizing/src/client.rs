//! How hosts are set for a design: mount options and kernel settings, with the rows they come
//! from.

use cloud::client::SettingName;
use cloud::reason::{Reason, RowRef};
use cloud::row::LimitName;

use crate::facts::Facts;
use crate::hosts::Hosts;
use crate::need::{Need, Protocol};

/// The largest receive buffer of Linux unless it is told otherwise (tcp(7): 6 MiB).
const TCP_BUFFER_OF_LINUX: u64 = 6 << 20;
/// Of a buffer Linux offers half as window unless `tcp_adv_win_scale` says otherwise.
const BUFFER_PER_WINDOW: u64 = 2;

/// Settings of every host.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// Options of the mount; none for SMB.
    pub mount_options: Option<String>,
    /// Commands, to be run before the mount.
    pub commands: Vec<String>,
    /// What they rest on.
    pub reasons: Vec<Reason>,
}

/// The settings for these hosts.
pub fn settings(need: &Need, hosts: &Hosts, facts: &Facts) -> Settings {
    let mut settings = Settings::default();
    match need.protocol {
        Protocol::Smb => {
            settings.commands.push(format!(
                "Set-SmbClientConfiguration -ConnectionCountPerRssNetworkInterface {}",
                hosts.connections
            ));
            let rows = setting_row(facts, SettingName::SmbConnectionsMax);
            settings.reasons.push(Reason::from_rows(
                format!("Multichannel with {} connections", hosts.connections),
                rows,
            ));
            return settings;
        }
        Protocol::Nfs3 | Protocol::Nfs41 => {}
    }
    let size = facts.clients.setting(SettingName::TransferSizeWanted);
    let version = match need.protocol {
        Protocol::Nfs41 => "vers=4.1",
        _ => "vers=3",
    };
    let nconnect = match hosts.connections {
        1 => String::new(),
        count => format!(",nconnect={count}"),
    };
    settings.mount_options =
        Some(format!("rw,hard,{version},tcp{nconnect},rsize={size},wsize={size}"));
    let rows = setting_row(facts, SettingName::TransferSizeWanted);
    let text = format!("rsize and wsize of {size} bytes, {} connections", hosts.connections);
    let connections = facts.catalog.limit_row(LimitName::NconnectMax);
    settings.reasons.push(Reason::from_rows(text, rows.into_iter().chain([connections])));

    let slots = facts.catalog.limit(LimitName::OutstandingPerConnectionMax);
    settings.commands.push(format!("sysctl -w sunrpc.tcp_max_slot_table_entries={slots}"));
    let row = facts.catalog.limit_row(LimitName::OutstandingPerConnectionMax);
    let text = format!("the service works on {slots} requests of a connection at a time");
    settings.reasons.push(Reason::from_rows(text, [row]));
    add_window(need, hosts, facts, &mut settings);
    settings
}

/// TCP windows, where what a connection carries in a response time does not fit into Linux's own.
fn add_window(need: &Need, hosts: &Hosts, facts: &Facts, settings: &mut Settings) {
    let Some(ns) = need.response_time_ns else { return };
    let each = need.grown().throughput().bytes_per_s() / hosts.connections_total().max(1);
    let window = u128::from(each) * u128::from(ns) / 1_000_000_000;
    let window = u64::try_from(window).unwrap_or(u64::MAX);
    if window.saturating_mul(BUFFER_PER_WINDOW) <= TCP_BUFFER_OF_LINUX {
        return;
    }
    let most = facts.clients.setting(SettingName::TcpBufferMaxWanted);
    settings.commands.push(format!("sysctl -w net.ipv4.tcp_rmem=\"4096 131072 {most}\""));
    settings.commands.push(format!("sysctl -w net.ipv4.tcp_wmem=\"4096 16384 {most}\""));
    let text = format!(
        "TCP window: {:.1} MiB/s on a connection x {} = {:.1} MiB",
        each as f64 / (1u64 << 20) as f64,
        units::Nanos(ns as f64),
        window as f64 / (1u64 << 20) as f64
    );
    let rows = setting_row(facts, SettingName::TcpBufferMaxWanted);
    settings.reasons.push(Reason::from_rows(text, rows));
}

fn setting_row(facts: &Facts, name: SettingName) -> Vec<RowRef> {
    facts.clients.setting_row(name).into_iter().collect()
}
