//! Predicts 1,000 hosts x 16 connections on 10 volumes with ten million operations outstanding, and
//! prints how long that takes: `cargo run --release -p predict --example thousand_hosts`.

use std::io::Write;
use std::time::Instant;

use cloud::figure::{self, Access};
use cloud::service_level::VolumeKind;
use predict::topology::{HostGroup, Load, Topology, VolumeGroup, Workload};
use predict::{Parameters, curve};
use units::BytesPerSec;

const MIB: f64 = 1_048_576.0;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let started = Instant::now();
    let parameters = Parameters::calibrated(&figure::all());
    let calibrated = started.elapsed();
    let mut host = HostGroup::linux("host", 1000, 16);
    host.vcpu = Some(32);
    host.egress = Some(BytesPerSec::new(2e9));
    // Enough that all of them are sent, and none waits for a slot.
    host.slots = 1024;
    let mut volume = VolumeGroup::of("volume", 10, VolumeKind::Large);
    volume.limit = Some(BytesPerSec::new(12_800.0 * MIB));
    let topology = Topology {
        name: "scale".to_owned(),
        floor: None,
        burst_s: 0.0,
        hosts: vec![host],
        endpoints: Vec::new(),
        volumes: vec![volume],
        workloads: vec![Workload {
            name: "random".to_owned(),
            hosts: 0,
            volumes: vec![0],
            transfer_bytes: 8192,
            read: 0.7,
            access: Access::Random,
            load: Load::Closed { outstanding: 10_000 },
            names: None,
        }],
    };
    let curve = curve(&topology, &parameters)?;
    let requested = curve.requested.ok_or("a closed load is always let through")?;
    writeln!(
        std::io::stdout(),
        "{} connections, {:.0} outstanding: {:.0} ops/s, {:.3} s; {} points in {:?}, after \
         calibration in {calibrated:?}",
        topology.flows(&topology.workloads[0]),
        requested.outstanding,
        requested.ops_per_s.value,
        requested.response_s.value,
        curve.points.len(),
        started.elapsed() - calibrated,
    )?;
    Ok(())
}
