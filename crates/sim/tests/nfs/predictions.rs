//! Predictions of a client, a network and a volume with known limits agree with the simulation
//! within 3 %.

use cloud::figure::Access;
use cloud::service_level::VolumeKind;
use predict::topology::{Floor, HostGroup, Load, VolumeGroup, Workload};
use predict::{Parameters, Topology};
use sim::nfs_setup::{Client, Setup};
use sim::nfs_world::simulate;
use units::{BytesPerSec, OpsPerSec};
use volume::delay::Distribution;
use workload::arrival::Arrival;
use workload::op::OpKind;
use workload::plan::Stream;

use crate::setups::{
    CLOSED, MIB, MS, S, SEEDS, VOLUME, assert_near, run, size, stream, throughput, volume_of,
};

/// Virtual time.
const MEASURED_S: u64 = 4;
/// Round trip.
const WIRE_S: f64 = 20e-6;
/// Default burst of a volume.
const BURST_S: f64 = 7.5e-3;
/// Tolerance of a prediction.
const NEAR: f64 = 0.03;

/// A client and a volume.
struct System {
    limit_mib: Option<u64>,
    flow_mib: Option<u64>,
    time: Distribution,
    nconnect: u32,
    slots: u32,
    size_bytes: u64,
}

impl System {
    fn new() -> System {
        System {
            limit_mib: Some(16),
            flow_mib: None,
            time: Distribution::Constant { ns: MS },
            nconnect: 4,
            slots: 128,
            size_bytes: 8192,
        }
    }

    fn topology(&self, load: Load) -> Topology {
        let mut host = HostGroup::linux("client", 1, u64::from(self.nconnect));
        host.slots = u64::from(self.slots);
        host.call_bytes = 1 << 20;
        let rate = |mib: u64| BytesPerSec::new(mib as f64 * MIB);
        host.flow_throughput = self.flow_mib.map(rate);
        let mut volume = VolumeGroup::of(VOLUME, 1, VolumeKind::Regular);
        volume.limit = self.limit_mib.map(rate);
        let spread = match self.time {
            Distribution::Lognormal { sigma, .. } => sigma,
            _ => 0.0,
        };
        let mean_s = self.time.mean_ns() / 1e9 + WIRE_S;
        Topology {
            name: "simulated".to_owned(),
            floor: Some(Floor { mean_s, spread }),
            burst_s: BURST_S,
            hosts: vec![host],
            endpoints: Vec::new(),
            volumes: vec![volume],
            workloads: vec![Workload {
                name: "reads".to_owned(),
                hosts: 0,
                volumes: vec![0],
                transfer_bytes: self.size_bytes,
                read: 1.0,
                access: Access::Random,
                load,
                names: None,
            }],
        }
    }

    /// `(MiB/s, mean response time in seconds)` of the prediction and of the simulation.
    fn both(&self, load: Load, seed: u64) -> ((f64, f64), (f64, f64)) {
        let topology = self.topology(load);
        let curve = predict::curve(&topology, &Parameters::unbounded()).unwrap();
        let requested = curve.requested.unwrap();
        let client = Client { slots: self.slots, ..Client::of(self.nconnect) };
        let config = volume_of(self.limit_mib, self.flow_mib, self.time.clone());
        let setup = Setup { client, ..Setup::new(config, VOLUME) };
        let (arrival, depth) = match load {
            Load::Closed { outstanding } => (CLOSED, outstanding as u32),
            Load::Offered { rate } => (Arrival::Poisson { offered_rate: rate.get() }, 512),
        };
        let transfer_sizes = size(self.size_bytes);
        let stream = Stream { transfer_sizes, ..stream(arrival, depth) };
        let simulated = simulate(&run(vec![stream], MEASURED_S * S, S / 2), &setup, seed);
        let record = &simulated.record;
        // From the second interval on: at first no queue exists.
        let after = 2..2 * MEASURED_S as usize;
        let kinds = record.intervals[after.clone()].iter().map(|one| &one.streams[0].kinds);
        let reads = kinds.map(|kinds| &kinds[OpKind::Read as usize].response);
        let (sum, count) = reads.fold((0.0, 0.0), |(sum, count), one| {
            (sum + one.sum_ns as f64, count + one.total() as f64)
        });
        let seen = (throughput(record, 0, after), sum / count / 1e9);
        ((requested.bytes_per_s.value / MIB, requested.response_s.value), seen)
    }

    #[track_caller]
    fn agrees(&self, load: Load, what: &str) {
        let (predicted, seen) = self.both(load, SEEDS[0]);
        assert_near(predicted.0, seen.0, NEAR, &format!("{what}, {load:?}: MiB/s"));
        assert_near(predicted.1, seen.1, NEAR, &format!("{what}, {load:?}: response time"));
    }

    #[track_caller]
    fn agrees_at(&self, depths: &[u64], what: &str) {
        for outstanding in depths {
            self.agrees(Load::Closed { outstanding: *outstanding }, what);
        }
    }
}

#[test]
fn a_volumes_throughput_limit_and_a_constant_response_time_are_predicted() {
    // 2,048 operations of 8 KiB pass in a second: the knee is at 2.09 outstanding.
    System::new().agrees_at(&[1, 2, 3, 16], "volume limit");
    let large = System { size_bytes: 65_536, limit_mib: Some(64), ..System::new() };
    large.agrees_at(&[1, 2, 8], "volume limit, 64 KiB");
}

#[test]
fn connection_limits_are_predicted() {
    for (nconnect, outstanding) in [(1, 16), (2, 32), (4, 32), (16, 64)] {
        let system = System {
            limit_mib: Some(32),
            flow_mib: Some(4),
            size_bytes: 65_536,
            nconnect,
            ..System::new()
        };
        system.agrees_at(&[outstanding], &format!("{nconnect} connections"));
    }
}

#[test]
fn slots_of_connections_are_predicted_with_waiting_times() {
    let system = System { limit_mib: None, slots: 2, nconnect: 2, ..System::new() };
    system.agrees_at(&[2, 4, 16], "slots");
}

#[test]
fn lognormal_response_times_are_predicted_around_the_knee() {
    for p99_ns in [1_300_000, 2_000_000, 4_000_000] {
        let time = Distribution::lognormal(MS, p99_ns).unwrap();
        let system = System { limit_mib: Some(64), time, ..System::new() };
        system.agrees_at(&[4, 8, 11, 16], &format!("lognormal, p99 {p99_ns} ns"));
    }
}

#[test]
fn an_offered_rate_below_the_limit_is_predicted() {
    for share in [0.3, 0.6, 0.8] {
        let load = Load::Offered { rate: OpsPerSec::new(share * 2048.0) };
        System::new().agrees(load, "offered");
    }
}
