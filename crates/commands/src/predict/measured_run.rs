//! `predict --against RUN`: measured load points compared with the prediction.

use analysis::analyze;
use analysis::load_point::LoadPoint;
use analysis::measured_load::MeasuredLoad;
use anyhow::anyhow;
use predict::measured::MeasuredPoint;
use predict::topology::{Client, Workload};
use predict::{Parameters, Topology};
use report::predict::MeasuredRun;
use store::Store;
use units::{Bytes, OpsPerSec, counted};

use super::refuse_lost_hosts;
use crate::outcome::Failure;

/// Shares of reads that differ by less are equal: the mix is random.
const SAME_SHARE: f64 = 0.02;
/// Nanoseconds in a second.
const NS_PER_S: f64 = 1e9;

/// The load points of a run whose load, hosts and volumes are those of the topology's only workload.
pub(super) fn measured(
    id: &str,
    store: &Store,
    topology: &Topology,
    parameters: &Parameters,
) -> Result<MeasuredRun, Failure> {
    let [workload] = &topology.workloads[..] else {
        return Err(Failure::input(anyhow!(
            "compare the prediction with `{id}`: the topology has {} workloads, but a run can be \
             compared with one only; remove the others",
            topology.workloads.len()
        )));
    };
    let record = store.load(id).map_err(Failure::input)?;
    let findings = analyze(&record);
    refuse_lost_hosts("compare the prediction with", &findings)?;
    let all: Vec<&LoadPoint> =
        findings.load_points.iter().filter(|point| point.merged.total.data.completed > 0).collect();
    let required = required(topology, workload);
    let same = |point: &&LoadPoint| is_same(&required, &MeasuredLoad::of(point));
    let mut points = Vec::new();
    for point in all.iter().copied().filter(same) {
        let data = &point.merged.total.data;
        let (Some(rate), Some(mean)) = (data.achieved_rate, data.response.mean_ns) else {
            continue;
        };
        let numbers = (OpsPerSec::new(rate.value), mean.value / NS_PER_S);
        let outstanding = rate.value * numbers.1;
        let point = MeasuredPoint::of(topology, parameters, outstanding, numbers);
        points.push(point.map_err(Failure::input)?);
    }
    if points.is_empty() {
        return Err(no_such_load(&findings.id, &workload.name, &required, &all));
    }
    points.sort_by(|a, b| a.outstanding.total_cmp(&b.outstanding));
    Ok(MeasuredRun { id: findings.id, points })
}

/// The load of a record that measures the workload. A VMware host is measured from its virtual
/// machines: from one, unless the topology states how many.
fn required(topology: &Topology, workload: &Workload) -> MeasuredLoad {
    let group = &topology.hosts[workload.hosts];
    let machines = match group.client {
        Client::Linux => 1,
        Client::Esxi { guests } => guests.unwrap_or(1),
    };
    MeasuredLoad {
        transfer_bytes: workload.transfer_bytes,
        read: workload.read,
        access: workload.access,
        hosts: group.count.saturating_mul(machines),
        volumes: workload.volumes.iter().map(|index| topology.volumes[*index].count).sum(),
    }
}

fn is_same(required: &MeasuredLoad, load: &MeasuredLoad) -> bool {
    let mixes_are_close = (load.read - required.read).abs() <= SAME_SHARE;
    mixes_are_close && MeasuredLoad { read: required.read, ..*load } == *required
}

fn no_such_load(id: &str, workload: &str, required: &MeasuredLoad, all: &[&LoadPoint]) -> Failure {
    let in_words = |load: &MeasuredLoad| {
        format!(
            "{} {}, {:.0} % reads, {}, {}",
            Bytes::new(load.transfer_bytes),
            load.access.name(),
            100.0 * load.read,
            counted(load.hosts, "host"),
            counted(load.volumes, "volume")
        )
    };
    let mut there: Vec<String> = Vec::new();
    for point in all {
        let found = in_words(&MeasuredLoad::of(point));
        if !there.contains(&found) {
            there.push(found);
        }
    }
    let there = match there.is_empty() {
        true => "no successful operations".to_owned(),
        false => there.join("; "),
    };
    Failure::input(anyhow!(
        "compare the prediction with `{id}`: none of its load points has the load of workload \
         `{workload}` ({}); it has: {there}",
        in_words(required)
    ))
}

#[cfg(test)]
mod tests {
    use predict::topology_file::parse;

    use super::*;

    /// The counts of hosts and volumes in a record of this topology's workload.
    fn counts(host: &str, volumes: &str) -> (u64, u64) {
        let text = format!(
            "[[host]]\nname = \"h\"\n{host}[[host]]\nname = \"idle\"\ncount = 9\n{volumes}\
             [[workload]]\nhosts = [\"h\"]\ntransfer_size = \"8KiB\"\nread = \"70%\"\n\
             pattern = \"random\"\noutstanding = 4\n"
        );
        let topology = parse(&text, "t.toml").expect("it is a topology");
        let MeasuredLoad { hosts, volumes, .. } = required(&topology, &topology.workloads[0]);
        (hosts, volumes)
    }

    #[test]
    fn a_record_has_the_hosts_of_the_workload_and_all_its_volumes() {
        let two_kinds = "[[volume]]\nname = \"a\"\ncount = 3\n[[volume]]\nname = \"b\"\n";
        assert_eq!(counts("count = 2\n", two_kinds), (2, 4));
        let datastores = "[[volume]]\ncount = 4\n";
        assert_eq!(counts("count = 2\nclient = \"esxi\"\n", datastores), (2, 4));
        assert_eq!(counts("count = 2\nclient = \"esxi\"\nguests = 3\n", datastores), (6, 4));
    }

    #[test]
    fn loads_are_equal_if_only_their_mixes_differ_by_a_little() {
        let load = MeasuredLoad {
            transfer_bytes: 8192,
            read: 0.7,
            access: cloud::figure::Access::Random,
            hosts: 2,
            volumes: 2,
        };
        assert!(is_same(&load, &MeasuredLoad { read: 0.69, ..load }));
        for other in [
            MeasuredLoad { read: 0.65, ..load },
            MeasuredLoad { transfer_bytes: 4096, ..load },
            MeasuredLoad { hosts: 1, ..load },
            MeasuredLoad { volumes: 4, ..load },
        ] {
            assert!(!is_same(&load, &other), "{other:?}");
        }
    }
}
