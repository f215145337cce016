//! Properties of every prediction, on random topologies.

#![expect(clippy::unwrap_used, reason = "a helper of tests fails as the test would")]

use cloud::figure::{self, Access};
use cloud::service_level::VolumeKind;
use predict::topology::{Floor, HostGroup, Load, VolumeGroup, Workload};
use predict::{Parameters, Topology, at, capacity, curve};
use units::BytesPerSec;

const MIB: f64 = 1_048_576.0;
/// Whether rates are equal up to rounding and convergence.
const SAME: f64 = 1e-6;

/// Numbers from a seed (SplitMix64).
struct Draw(u64);

impl Draw {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[(self.next() % all.len() as u64) as usize]
    }

    fn topology(&mut self) -> Topology {
        let count = self.of(&[1, 1, 2, 7, 40]);
        let mut host = match self.next() % 4 {
            0 => HostGroup::esxi("host", count, None),
            _ => HostGroup::linux("host", count, self.of(&[1, 2, 8, 16])),
        };
        host.vcpu = Some(self.of(&[4, 16, 32, 104]));
        host.egress = Some(BytesPerSec::new(self.of(&[2e8, 2e9, 12.5e9])));
        let kind = self.of(&[VolumeKind::Regular, VolumeKind::Regular, VolumeKind::Large]);
        let mut volume = VolumeGroup::of("volume", self.of(&[1, 2, 4, 12]), kind);
        let limit_mib = self.of(&[16.0, 128.0, 1280.0, 4500.0]);
        volume.limit = Some(BytesPerSec::new(limit_mib * MIB));
        let workload = Workload {
            name: "load".to_owned(),
            hosts: 0,
            volumes: vec![0],
            transfer_bytes: self.of(&[4096, 8192, 65_536, 1 << 20]),
            read: self.of(&[0.0, 0.3, 0.7, 1.0]),
            access: self.of(&[Access::Random, Access::Sequential]),
            load: Load::Closed { outstanding: self.of(&[1, 4, 32, 500]) },
            names: None,
        };
        Topology {
            name: "drawn".to_owned(),
            floor: Some(Floor {
                mean_s: self.of(&[3e-4, 1e-3, 2e-3]),
                spread: self.of(&[0.0, 0.3, 0.8]),
            }),
            burst_s: self.of(&[0.0, 5e-3]),
            hosts: vec![host],
            endpoints: Vec::new(),
            volumes: vec![volume],
            workloads: vec![workload],
        }
    }
}

fn drawn() -> impl Iterator<Item = Topology> {
    let mut draw = Draw(7);
    (0..300).map(move |_| draw.topology())
}

fn parameters() -> Parameters {
    Parameters::calibrated(&figure::all())
}

fn asked(topology: &Topology) -> f64 {
    let Load::Closed { outstanding } = topology.workloads[0].load else { unreachable!() };
    (outstanding * topology.hosts[0].count) as f64
}

fn rate(topology: &Topology, parameters: &Parameters) -> f64 {
    at(topology, parameters, asked(topology)).unwrap().ops_per_s.value
}

#[test]
fn no_prediction_is_above_a_bound_or_below_the_floor() {
    let parameters = parameters();
    for topology in drawn() {
        let most = capacity(&topology, &parameters).unwrap().ops_per_s.value;
        let point = at(&topology, &parameters, asked(&topology)).unwrap();
        let (rate, response_s) = (point.ops_per_s.value, point.response_s.value);
        let floor_s = topology.floor.unwrap().mean_s;
        assert!(rate <= most * (1.0 + SAME), "{rate} above {most}: {topology:?}");
        assert!(response_s >= floor_s * (1.0 - SAME), "{response_s}: {topology:?}");
        // Little's law.
        assert!((rate * response_s / asked(&topology) - 1.0).abs() < SAME);
    }
}

#[test]
fn more_resources_never_predict_less() {
    let parameters = parameters();
    for topology in drawn() {
        let before = rate(&topology, &parameters);
        let mut more = topology.clone();
        let limit = &mut more.volumes[0].limit;
        *limit = limit.map(|rate| BytesPerSec::new(1.5 * rate.get()));
        let mut connected = topology.clone();
        connected.hosts[0].nconnect *= 2;
        let mut larger = topology.clone();
        larger.hosts[0].vcpu = larger.hosts[0].vcpu.map(|vcpu| 2 * vcpu);
        let mut deeper = topology.clone();
        deeper.workloads[0].load = Load::Closed { outstanding: 1000 };
        let mut wider = topology.clone();
        wider.hosts[0].count *= 2;
        for (what, changed) in [
            ("throughput limit", more),
            ("connections", connected),
            ("processors", larger),
            ("outstanding", deeper),
            ("hosts", wider),
        ] {
            let after = rate(&changed, &parameters);
            // Limits that are reached more often have longer waits in the approximation.
            assert!(after >= before * 0.995, "{what}: {before} to {after}: {topology:?}");
        }
    }
}

#[test]
fn intervals_contain_their_value_and_curves_rise() {
    let parameters = parameters();
    for topology in drawn().take(60) {
        let curve = curve(&topology, &parameters).unwrap();
        assert_eq!(curve, predict::curve(&topology, &parameters).unwrap(), "the same bits");
        let mut before = 0.0;
        for point in &curve.points {
            for interval in [point.ops_per_s, point.bytes_per_s, point.response_s] {
                assert!(interval.low <= interval.value && interval.value <= interval.high);
            }
            assert!(point.ops_per_s.value >= before * 0.999, "{topology:?}");
            before = point.ops_per_s.value;
        }
        assert!(!curve.stretches.is_empty() && !curve.reasons.is_empty());
        let outstanding = curve.points.last().unwrap().outstanding;
        let least = 2.0 * topology.hosts[0].count as f64;
        assert!(outstanding > 0.95 * least, "{outstanding} of {least}: {topology:?}");
    }
}

#[test]
fn groups_equal_their_members_listed_individually() {
    let parameters = parameters();
    for topology in drawn().filter(|one| one.hosts[0].count == 2) {
        let mut apart = topology.clone();
        apart.hosts[0].count = 1;
        let mut second = apart.hosts[0].clone();
        second.name = "second".to_owned();
        apart.hosts.push(second);
        let workload = Workload { hosts: 1, ..apart.workloads[0].clone() };
        apart.workloads.push(workload);
        let (together, apart) =
            (rate(&topology, &parameters), at(&apart, &parameters, asked(&topology)).unwrap());
        let off = apart.ops_per_s.value / together - 1.0;
        assert!(off.abs() < 0.02, "{together} and {}: {topology:?}", apart.ops_per_s.value);
    }
}

#[test]
fn intervals_widen_with_distance_from_published_configurations() {
    let parameters = parameters();
    let parse = |host: &str, volume: &str| {
        let text = format!(
            "floor = \"1ms\"\n[[host]]\ncount = 6\nnconnect = 8\n{host}\n\
             [[endpoint]]\nname = \"many\"\ncount = 16\n[[volume]]\n{volume}\n\
             [[workload]]\ntransfer_size = \"8KiB\"\nread = \"100%\"\noutstanding = 1024\n"
        );
        predict::topology_file::parse(&text, "t.toml").unwrap()
    };
    let width = |host: &str, volume: &str| {
        let curve = curve(&parse(host, volume), &parameters).unwrap();
        curve.most.ops_per_s.width()
    };
    let published = width("vm = \"D32s_v3\"", "");
    assert!(published > 1.2);
    for (what, host, volume) in [
        ("processors", "vcpu = 2", ""),
        ("endpoints", "vm = \"D32s_v3\"", "count = 16\nendpoint = \"many\""),
        ("kind", "vm = \"D4s_v5\"", "kind = \"breakthrough\""),
        ("protocol", "vm = \"D32s_v3\"\nprotocol = \"smb\"", ""),
    ] {
        let wider = width(host, volume);
        assert!(wider > 1.05 * published, "{what}: {wider} and {published}");
    }
}
