//! The system that a prediction is about: charts, the use of its resources, and its diagram. Shared
//! with expectations, whose configuration is a topology.

use predict::topology::{Client, HostGroup, VolumeGroup};
use predict::{Bound, Curve, Point, Topology};
use units::{BytesPerSec, counted, thousands};

use super::Comparison;
use super::charts::of_prediction;
use crate::buy::diagram::{Diagram, Layer, Links};
use crate::buy::utilization::{Bar, highest_first};
use crate::document::{Block, Section};
use crate::model::quantity::Quantity;
use crate::model::words::resource_label;

/// Most resources that are shown, those with the highest use.
const RESOURCES_MAX: usize = 6;

/// The charts, the use of resources and the diagram.
pub(crate) fn sections(topology: &Topology, curve: &Curve, with: &Comparison) -> Vec<Section> {
    let section = |id, title: String, block| Section {
        id,
        title,
        blocks: vec![block],
        method: vec!["Prediction"],
    };
    let charts = Block::Charts(of_prediction(topology, curve, with));
    let mut sections = vec![section("charts", "Throughput and latency".to_owned(), charts)];
    let (load, title) = match &curve.requested {
        Some(point) => (point, "Use of resources at this load"),
        None => (&curve.most, "Use of resources at the peak"),
    };
    if !curve.bounds.is_empty() {
        let bars = Block::Bars(bars(topology, curve, load));
        sections.push(section("use", title.to_owned(), bars));
    }
    sections.push(section("system", "System".to_owned(), Block::Diagram(diagram(topology))));
    sections
}

/// The used share of each resource.
fn bars(topology: &Topology, curve: &Curve, load: &Point) -> Vec<Bar> {
    let quantity = Quantity::of_topology(topology);
    let used = quantity.interval(load).value;
    let bar = |bound: &Bound| {
        let share = bound.used_by(load);
        Bar {
            resource: resource_label(&bound.resource),
            used: share,
            amount: format!(
                "{} of {} {}",
                quantity.print(used),
                quantity.print(used / share),
                quantity.unit()
            ),
        }
    };
    let mut bars = highest_first(curve.bounds.iter().map(bar).collect());
    bars.truncate(RESOURCES_MAX);
    bars
}

/// Hosts, connections, endpoints and volumes.
pub(crate) fn diagram(topology: &Topology) -> Diagram {
    let hosts = topology.host_count();
    let connections: u64 =
        topology.workloads.iter().map(|workload| topology.flows(workload)).max().unwrap_or(0);
    let mut layers = vec![Layer {
        count: hosts,
        title: names(hosts, "host", topology.hosts.iter().map(host)),
        below: Links::Connections(counted(connections, "connection")),
    }];
    // VMware hosts have a connection to each volume.
    if topology.hosts.iter().any(|host| host.client == Client::Linux) {
        let endpoints =
            topology.workloads.iter().map(|workload| topology.endpoints_of(workload)).max();
        let count = endpoints.unwrap_or(1);
        let title = counted(count, "endpoint");
        layers.push(Layer { count, title, below: Links::Members });
    }
    let volumes = topology.volumes.iter().map(|volume| volume.count).sum();
    layers.push(Layer {
        count: volumes,
        title: names(volumes, "volume", topology.volumes.iter().map(volume)),
        below: Links::Members,
    });
    Diagram { layers }
}

/// `6 hosts: 4 app, 2 db (Standard_D32s_v5)`
fn names(count: u64, noun: &str, groups: impl Iterator<Item = (u64, String)>) -> String {
    let groups: Vec<(u64, String)> = groups.collect();
    let several = groups.len() > 1;
    let name = |(count, name): (u64, String)| match several {
        true => format!("{} {name}", thousands(count)),
        false => name,
    };
    let names: Vec<String> = groups.into_iter().map(name).collect();
    format!("{}: {}", counted(count, noun), names.join(", "))
}

fn host(host: &HostGroup) -> (u64, String) {
    let kind = match (&host.client, &host.vm) {
        (Client::Esxi { .. }, _) => " (VMware)".to_owned(),
        (Client::Linux, Some(size)) => format!(" ({})", size.name.trim_start_matches("Standard_")),
        (Client::Linux, None) => String::new(),
    };
    (host.count, format!("{}{kind}", host.name))
}

fn volume(volume: &VolumeGroup) -> (u64, String) {
    let limit = volume.limit.map(|rate: BytesPerSec| format!(", at most {rate} each"));
    let text = format!("{}, {}{}", volume.name, volume.kind.name(), limit.unwrap_or_default());
    (volume.count, text)
}
