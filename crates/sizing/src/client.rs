//! How hosts are set for a design: mount options and kernel settings, with the rows they come
//! from.

use cloud::client::SettingName;
use cloud::figure::Access;
use cloud::reason::RowRef;
use cloud::row::LimitName;
use cloud::throughput::KibPerSec;

use crate::claim::Claim;
use crate::facts::Facts;
use crate::hosts::Hosts;
use crate::need::{Demand, Need, Protocol};
use crate::response::Response;

/// The largest receive buffer of Linux unless it is told otherwise (tcp(7): 6 MiB).
const TCP_BUFFER_OF_LINUX: u64 = 6 << 20;
/// Of a buffer Linux offers half as window unless `tcp_adv_win_scale` says otherwise.
const BUFFER_PER_WINDOW: u64 = 2;
/// As `read_ahead_kb` counts.
const KIB: u64 = 1024;

/// Settings of every host.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// Options of the mount; none for SMB and datastores.
    pub mount_options: Option<String>,
    /// Commands to be run before the volume is attached.
    pub before: Vec<String>,
    /// Commands that attach it.
    pub attach: Vec<String>,
    /// Commands to be run afterwards.
    pub after: Vec<String>,
    /// What they rest on.
    pub reasons: Vec<Claim>,
}

impl Settings {
    /// Every command, in order.
    pub fn commands(&self) -> Vec<String> {
        [&self.before, &self.attach, &self.after].into_iter().flatten().cloned().collect()
    }

    fn because(&mut self, text: String, rows: impl IntoIterator<Item = RowRef>) {
        self.reasons.push(Claim::documented(text, rows));
    }
}

/// The settings for these hosts.
///
/// * `need` - without growth to come
pub fn settings(
    need: &Need,
    hosts: &Hosts,
    response: Option<&Response>,
    facts: &Facts,
) -> Settings {
    let mut settings = Settings::default();
    match hosts.attached {
        Protocol::Smb => multichannel(hosts, facts, &mut settings),
        Protocol::Datastores => datastores(&mut settings),
        Protocol::Nfs3 | Protocol::Nfs41 => {
            mount(hosts, facts, &mut settings);
            slots(hosts, facts, &mut settings);
            windows(need, hosts, response, facts, &mut settings);
            read_ahead(need, facts, &mut settings);
        }
    }
    settings
}

fn multichannel(hosts: &Hosts, facts: &Facts, settings: &mut Settings) {
    settings.before.push(format!(
        "Set-SmbClientConfiguration -ConnectionCountPerRssNetworkInterface {}",
        hosts.connections
    ));
    settings.attach.push("New-SmbMapping -LocalPath X: -RemotePath \\\\SERVER\\SHARE".to_owned());
    let name = match hosts.connections > facts.clients.setting(SettingName::SmbConnectionsDefault) {
        true => SettingName::SmbConnectionsMax,
        false => SettingName::SmbConnectionsDefault,
    };
    let text = format!("Multichannel with {} connections", hosts.connections);
    settings.because(text, facts.clients.setting_row(name));
}

fn datastores(settings: &mut Settings) {
    settings.attach.push(
        "az vmware datastore netapp-volume create --resource-group GROUP --private-cloud CLOUD \
         --cluster CLUSTER --name DATASTORE --volume-id VOLUME"
            .to_owned(),
    );
    settings.reasons.push(Claim::documented(
        "each host makes one connection to each datastore, and its options are not to be chosen",
        [],
    ));
}

fn mount(hosts: &Hosts, facts: &Facts, settings: &mut Settings) {
    let size = facts.clients.setting(SettingName::TransferSizeWanted);
    let version = match hosts.attached {
        Protocol::Nfs41 => "vers=4.1",
        _ => "vers=3",
    };
    let nconnect = match hosts.connections {
        1 => String::new(),
        count => format!(",nconnect={count}"),
    };
    let options = format!("rw,hard,{version},tcp{nconnect},rsize={size},wsize={size}");
    settings.attach.push(format!("mount -t nfs -o {options} ADDRESS:/VOLUME /MOUNT"));
    settings.mount_options = Some(options);
    let rows = facts.clients.setting_row(SettingName::TransferSizeWanted);
    let text = format!("rsize and wsize of {size} bytes, {} connections", hosts.connections);
    let connections = facts.catalog.limit_row(LimitName::NconnectMax);
    settings.because(text, rows.into_iter().chain([connections]));
}

fn slots(hosts: &Hosts, facts: &Facts, settings: &mut Settings) {
    let slots = facts.catalog.limit(LimitName::OutstandingPerConnectionMax);
    settings.before.push(format!("sysctl -w sunrpc.tcp_max_slot_table_entries={slots}"));
    let row = facts.catalog.limit_row(LimitName::OutstandingPerConnectionMax);
    let text = format!("the service works on {slots} requests of a connection at a time");
    settings.because(text, [row]);
    if hosts.attached == Protocol::Nfs41 {
        let slots = facts.catalog.limit(LimitName::SlotsPerNfs41SessionMax);
        settings.before.push(format!(
            "echo options nfs max_session_slots={slots} > /etc/modprobe.d/nfsclient.conf"
        ));
        let row = facts.catalog.limit_row(LimitName::SlotsPerNfs41SessionMax);
        let text = format!(
            "the service gives a session {slots} slots, which all connections of a mount share; \
             the module reads the option when it is loaded"
        );
        settings.because(text, [row]);
    }
}

/// TCP windows, where what a connection carries in a response time does not fit into Linux's own.
fn windows(
    need: &Need,
    hosts: &Hosts,
    response: Option<&Response>,
    facts: &Facts,
    settings: &mut Settings,
) {
    let expected = response.map(|response| response.mean_ns as u64);
    let Some(ns) = expected.or(need.response_time_ns) else { return };
    let each = need.throughput().bytes_per_s() / hosts.connections_total().max(1);
    let window = u128::from(each) * u128::from(ns) / 1_000_000_000;
    let window = u64::try_from(window).unwrap_or(u64::MAX);
    if window.saturating_mul(BUFFER_PER_WINDOW) <= TCP_BUFFER_OF_LINUX {
        return;
    }
    let most = facts.clients.setting(SettingName::TcpBufferMaxWanted);
    settings.before.push(format!("sysctl -w net.ipv4.tcp_rmem=\"4096 131072 {most}\""));
    settings.before.push(format!("sysctl -w net.ipv4.tcp_wmem=\"4096 16384 {most}\""));
    let text = format!(
        "TCP window: {:.1} on a connection x {} = {:.1} MiB",
        KibPerSec::new(each >> 10),
        units::Nanos(ns as f64),
        window as f64 / (1u64 << 20) as f64
    );
    let rows = facts.clients.setting_row(SettingName::TcpBufferMaxWanted);
    settings.reasons.push(Claim::derived(text, rows));
}

/// Read-ahead, where something is read in order.
fn read_ahead(need: &Need, facts: &Facts, settings: &mut Settings) {
    let is_read_in_order = |demand: &Demand| {
        demand.access == Access::Sequential
            && demand.read_permille > 0
            && demand.throughput.get() > 0
    };
    if !need.parts.iter().flat_map(|part| &part.demands).any(is_read_in_order) {
        return;
    }
    let kib = facts.clients.setting(SettingName::ReadAheadWanted) / KIB;
    settings
        .after
        .push(format!("echo {kib} > /sys/class/bdi/$(mountpoint -d /MOUNT)/read_ahead_kb"));
    let text = format!(
        "read-ahead of {kib} KiB, for what is read in order through the page cache; without effect \
         on what bypasses it"
    );
    settings.because(text, facts.clients.setting_row(SettingName::ReadAheadWanted));
}
