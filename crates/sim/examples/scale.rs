//! Ten million operations outstanding on 1,000 hosts × 16 connections × 10 volumes, simulated and
//! predicted: `cargo run --release -p sim --example scale`.

use std::io::Write;
use std::time::Instant;

use cloud::figure::Access;
use cloud::service_level::VolumeKind;
use predict::topology::{EndpointGroup, Floor, HostGroup, Load, Topology, VolumeGroup, Workload};
use predict::{Parameter, Parameters, curve};
use sim::population::{Population, simulate};

/// Mean service demand of an operation at its connection and at its volume, in seconds.
const CONNECTION_S: f64 = 15e-6;
const VOLUME_S: f64 = 1.5e-6;
const FLOOR_S: f64 = 1e-3;
/// Long enough that every operation completes once before the measurement.
const WARM_UP_S: f64 = 1.6;
const FOR_S: f64 = 2.4;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut out = std::io::stdout();
    let population = Population {
        hosts: 1000,
        connections: 16,
        outstanding: 10_000,
        volumes: 10,
        connection_s: CONNECTION_S,
        volume_s: VOLUME_S,
        volume_ops_per_s: None,
        delay_s: FLOOR_S - CONNECTION_S - VOLUME_S,
    };
    let started = Instant::now();
    let seen = simulate(&population, WARM_UP_S, FOR_S, 1);
    writeln!(
        out,
        "simulated: {:.0} ops/s, response time {:.3} s; {} events in {:.2} s, peak memory {}",
        seen.ops_per_s,
        seen.response_s,
        seen.events,
        started.elapsed().as_secs_f64(),
        peak_memory()
    )?;
    let started = Instant::now();
    let curve = curve(&topology(&population), &parameters())?;
    let requested = curve.requested.ok_or("a closed load is always admitted")?;
    writeln!(
        out,
        "predicted: {:.0} ops/s ({:+.2} %), response time {:.3} s; {:.4} s",
        requested.ops_per_s.value,
        100.0 * (requested.ops_per_s.value / seen.ops_per_s - 1.0),
        requested.response_s.value,
        started.elapsed().as_secs_f64()
    )?;
    Ok(())
}

fn parameters() -> Parameters {
    Parameters::unbounded()
        .with(Parameter::FlowRead, CONNECTION_S)
        .with(Parameter::LargeRead, VOLUME_S)
}

fn topology(population: &Population) -> Topology {
    let mut host = HostGroup::linux("host", population.hosts.into(), population.connections.into());
    // A slot for every operation.
    host.slots = population.outstanding.into();
    Topology {
        name: "scale".to_owned(),
        floor: Some(Floor { mean_s: FLOOR_S, spread: 0.0 }),
        burst_s: 0.0,
        hosts: vec![host],
        endpoints: vec![EndpointGroup { name: "all".to_owned(), count: 1, limit: None }],
        volumes: vec![VolumeGroup {
            endpoint: Some(0),
            ..VolumeGroup::of("volume", population.volumes.into(), VolumeKind::Large)
        }],
        workloads: vec![Workload {
            name: "reads".to_owned(),
            hosts: 0,
            volumes: vec![0],
            transfer_bytes: 8192,
            read: 1.0,
            access: Access::Random,
            load: Load::Closed { outstanding: population.outstanding.into() },
            names: None,
        }],
    }
}

/// Peak resident memory of this process, according to Linux.
fn peak_memory() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    peak.map_or_else(|| "an unknown amount".to_owned(), |peak| peak.trim().to_owned())
}
