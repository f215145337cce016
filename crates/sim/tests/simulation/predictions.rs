//! The mean value analysis of `predict` compared with simulated queues.

use cloud::figure::Access;
use cloud::service_level::VolumeKind;
use predict::topology::{Floor, HostGroup, Load, VolumeGroup, Workload};
use predict::{Parameter, Parameters, Topology};
use sim::population::{self, Population};
use sim::simulate;
use sim::storage::{Demand, Model};

use crate::runs::{CLOSED, MS, S, assert_near, reads, run, stream};

const DEMAND_S: f64 = 1e-3;

/// A host and a volume whose random reads need [`DEMAND_S`] each, with a delay of `delay_s`.
fn topology(outstanding: u64, delay_s: f64) -> Topology {
    Topology {
        name: "one queue".to_owned(),
        floor: Some(Floor { mean_s: DEMAND_S + delay_s, spread: 0.0 }),
        burst_s: 0.0,
        hosts: vec![HostGroup::linux("host", 1, 1)],
        endpoints: Vec::new(),
        volumes: vec![VolumeGroup::of("volume", 1, VolumeKind::Regular)],
        workloads: vec![Workload {
            name: "reads".to_owned(),
            hosts: 0,
            volumes: vec![0],
            transfer_bytes: 8192,
            read: 1.0,
            access: Access::Random,
            load: Load::Closed { outstanding },
            names: None,
        }],
    }
}

#[test]
fn a_closed_queue_with_exponential_demand_behind_a_delay_is_predicted() {
    let parameters = Parameters::unbounded().with(Parameter::RegularRead, DEMAND_S);
    for (outstanding, delay_ns) in
        [(1, 4 * MS), (3, 4 * MS), (5, 4 * MS), (8, 4 * MS), (20, 9 * MS)]
    {
        let delay_s = delay_ns as f64 / 1e9;
        let predicted =
            predict::at(&topology(outstanding, delay_s), &parameters, outstanding as f64);
        let predicted = predicted.unwrap().ops_per_s.value;
        let demand = Demand::Exponential { mean_ns: 1e9 * DEMAND_S };
        let model = Model { delay_ns, ..Model::queue(1, demand) };
        let run = run(vec![stream(CLOSED, outstanding as u32)], 300 * S, S);
        let seen = reads(&simulate(&run, &model, 5)).completed as f64 / 300.0;
        assert_near(
            predicted,
            seen,
            0.02,
            &format!("{outstanding} outstanding, delay {delay_ns} ns"),
        );
    }
}

/// Many hosts and many volumes with their own connections, like `examples/scale.rs` with ten
/// million operations.
#[test]
fn many_hosts_on_many_volumes_are_predicted() {
    // Below the crossing of the bounds, near it, and far above it.
    for outstanding in [2, 12, 60] {
        let population = Population {
            hosts: 20,
            connections: 4,
            outstanding,
            volumes: 5,
            connection_s: 1e-4,
            volume_s: 1e-4,
            volume_ops_per_s: None,
            delay_s: 4.8e-3,
        };
        let seen = population::simulate(&population, 2.0, 10.0, 3);
        let host = HostGroup::linux("host", 20, 4);
        let mut topology = topology(outstanding.into(), 4e-3);
        topology.hosts = vec![host];
        topology.volumes[0].count = 5;
        let parameters = Parameters::unbounded()
            .with(Parameter::RegularRead, population.volume_s)
            .with(Parameter::FlowRead, population.connection_s);
        let all = f64::from(20 * outstanding);
        let predicted = predict::at(&topology, &parameters, all).unwrap();
        let what = format!("{outstanding} outstanding on each host");
        assert_near(predicted.ops_per_s.value, seen.ops_per_s, 0.03, &what);
        assert_near(predicted.response_s.value, seen.response_s, 0.03, &what);
    }
}
