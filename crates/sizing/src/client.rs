//! Client settings for a design: mount options and kernel settings, with the rows behind them.

use cloud::client::SettingName;
use cloud::figure::Access;
use cloud::reason::RowRef;
use cloud::row::LimitName;
use cloud::throughput::KibPerSec;
use units::{Bytes, Share};

use crate::claim::Claim;
use crate::facts::Facts;
use crate::hosts::Hosts;
use crate::need::{Demand, Need, Protocol};
use crate::response::Response;
use crate::statement::SettingStatement;

/// Default limit of a receive buffer in Linux (tcp(7): 6 MiB).
const TCP_BUFFER_OF_LINUX: u64 = 6 << 20;
/// By default Linux advertises half of a buffer as window (`tcp_adv_win_scale`).
const BUFFER_PER_WINDOW: u64 = 2;
/// Unit of `read_ahead_kb`.
const KIB: u64 = 1024;

/// Settings of each host.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settings {
    /// Mount options; `None` for SMB and datastores.
    pub mount_options: Option<String>,
    /// Commands to run before mounting.
    pub before: Vec<String>,
    /// Commands that mount or map the volume.
    pub attach: Vec<String>,
    /// Commands to run after mounting.
    pub after: Vec<String>,
    /// Why the settings have their values.
    pub reasons: Vec<Claim>,
}

impl Settings {
    /// All commands, in order.
    pub fn commands(&self) -> Vec<String> {
        [&self.before, &self.attach, &self.after].into_iter().flatten().cloned().collect()
    }

    fn because(&mut self, statement: SettingStatement, rows: impl IntoIterator<Item = RowRef>) {
        self.reasons.push(Claim::documented(statement, rows));
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
    let statement = SettingStatement::Multichannel { connections: hosts.connections };
    settings.because(statement, facts.clients.setting_row(name));
}

fn datastores(settings: &mut Settings) {
    settings.attach.push(
        "az vmware datastore netapp-volume create --resource-group GROUP --private-cloud CLOUD \
         --cluster CLUSTER --name DATASTORE --volume-id VOLUME"
            .to_owned(),
    );
    settings.because(SettingStatement::DatastoreConnections, []);
}

fn mount(hosts: &Hosts, facts: &Facts, settings: &mut Settings) {
    let size = facts.clients.setting(SettingName::TransferSizeRecommended);
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
    let rows = facts.clients.setting_row(SettingName::TransferSizeRecommended);
    let nconnect_row = facts.catalog.limit_row(LimitName::NconnectMax);
    let (transfer, connections) = (Bytes::new(size), hosts.connections);
    let statement = SettingStatement::Mount { transfer, connections };
    settings.because(statement, rows.into_iter().chain([nconnect_row]));
}

fn slots(hosts: &Hosts, facts: &Facts, settings: &mut Settings) {
    let slots = facts.catalog.limit(LimitName::OutstandingPerConnectionMax);
    settings.before.push(format!("sysctl -w sunrpc.tcp_max_slot_table_entries={slots}"));
    let row = facts.catalog.limit_row(LimitName::OutstandingPerConnectionMax);
    settings.because(SettingStatement::Slots { slots }, [row]);
    if hosts.attached == Protocol::Nfs41 {
        let slots = facts.catalog.limit(LimitName::SlotsPerNfs41SessionMax);
        settings.before.push(format!(
            "echo options nfs max_session_slots={slots} > /etc/modprobe.d/nfsclient.conf"
        ));
        let row = facts.catalog.limit_row(LimitName::SlotsPerNfs41SessionMax);
        settings.because(SettingStatement::SessionSlots { slots }, [row]);
    }
}

/// Raises the TCP buffers if Linux's defaults do not cover the bandwidth-delay product.
fn windows(
    need: &Need,
    hosts: &Hosts,
    response: Option<&Response>,
    facts: &Facts,
    settings: &mut Settings,
) {
    let predicted = response.map(|response| response.mean);
    let Some(response_time) = predicted.or(need.response_time) else { return };
    let ns = response_time.0 as u64;
    let each = need.throughput().bytes_per_s() / hosts.connections_total().max(1);
    let window = u128::from(each) * u128::from(ns) / 1_000_000_000;
    let window = u64::try_from(window).unwrap_or(u64::MAX);
    if window.saturating_mul(BUFFER_PER_WINDOW) <= TCP_BUFFER_OF_LINUX {
        return;
    }
    let most = facts.clients.setting(SettingName::TcpBufferMaxRecommended);
    settings.before.push(format!("sysctl -w net.ipv4.tcp_rmem=\"4096 131072 {most}\""));
    settings.before.push(format!("sysctl -w net.ipv4.tcp_wmem=\"4096 16384 {most}\""));
    let (throughput, window) = (KibPerSec::new(each >> 10), Bytes::new(window));
    let statement = SettingStatement::TcpWindow { throughput, response_time, window };
    let rows = facts.clients.setting_row(SettingName::TcpBufferMaxRecommended);
    settings.reasons.push(Claim::derived(statement, rows));
}

/// Sets the read-ahead if there are sequential reads.
fn read_ahead(need: &Need, facts: &Facts, settings: &mut Settings) {
    let reads_sequentially = |demand: &Demand| {
        demand.access == Access::Sequential
            && demand.read > Share::ZERO
            && demand.throughput.get() > 0
    };
    if !need.parts.iter().flat_map(|part| &part.demands).any(reads_sequentially) {
        return;
    }
    let kib = facts.clients.setting(SettingName::ReadAheadRecommended) / KIB;
    settings
        .after
        .push(format!("echo {kib} > /sys/class/bdi/$(mountpoint -d /MOUNT)/read_ahead_kb"));
    let statement = SettingStatement::ReadAhead { size: Bytes::new(kib * KIB) };
    settings.because(statement, facts.clients.setting_row(SettingName::ReadAheadRecommended));
}
