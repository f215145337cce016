//! Working sets that the cache of a file server may hold.

use crate::records::{done, emulated_volume, experiment, reads, run, stream};
use analysis::analyze;
use analysis::warnings::Sighting;
use metrics::environment::Environment;
use metrics::run_record::{ExperimentRecord, RunRecord};
use metrics::warning::Warning;
use workload::plan::{TargetSpec, WorkingSet};

/// Reads and writes 8 KiB in `files` files of 16 GiB.
fn measured(variant: &str, files: u32, read_permille: u16) -> RunRecord {
    let mut data = stream("data", 4);
    data.working_set = WorkingSet { files, file_size_bytes: 16 << 30, area_bytes: 16 << 30 };
    data.read_permille = read_permille;
    done(run(variant, vec![data], 2, 6), vec![reads(10_000, 8192, 100_000); 8])
}

fn on(target: TargetSpec, runs: Vec<RunRecord>) -> ExperimentRecord {
    let mut record = experiment(runs);
    record.plan.targets = vec![target];
    record
}

fn export() -> TargetSpec {
    TargetSpec::Nfs { url: "nfs://filer/vol1".to_owned(), connections: None }
}

fn sightings(record: &ExperimentRecord) -> Vec<Sighting> {
    let findings = analyze(record);
    let group = findings.warnings.into_iter().find(|g| g.code == "working_set_fits_server_cache");
    group.map_or_else(Vec::new, |group| group.sightings)
}

/// The working sets that are warned about, with their load points.
fn warned(record: &ExperimentRecord) -> Vec<(Option<usize>, u64)> {
    let of = |sighting: Sighting| match sighting.warning {
        Warning::WorkingSetFitsServerCache { working_set_bytes } => {
            (sighting.load_point, working_set_bytes >> 30)
        }
        other => panic!("another warning: {other:?}"),
    };
    sightings(record).into_iter().map(of).collect()
}

#[test]
fn a_working_set_below_64_gib_on_a_file_server_is_warned_about() {
    assert_eq!(warned(&on(export(), vec![measured("a", 3, 1000)])), [(None, 48)]);
    assert_eq!(warned(&on(export(), vec![measured("a", 4, 1000)])), []);
}

#[test]
fn a_mounted_file_server_counts_and_a_local_file_system_does_not() {
    for (filesystem, expected) in
        [("nfs4", vec![(None, 16)]), ("cifs", vec![(None, 16)]), ("xfs", vec![])]
    {
        let mut record = experiment(vec![measured("a", 1, 1000)]);
        let fact = ("filesystem.type".to_owned(), filesystem.to_owned());
        record.environment = Environment::from_iter([fact]);
        assert_eq!(warned(&record), expected, "{filesystem}");
    }
}

#[test]
fn the_emulated_volume_and_the_null_target_have_no_server_cache() {
    for target in [emulated_volume(), TargetSpec::Null] {
        assert_eq!(warned(&on(target, vec![measured("a", 1, 1000)])), []);
    }
}

#[test]
fn only_load_points_that_read_a_small_working_set_are_named() {
    let runs = vec![measured("small", 2, 500), measured("large", 8, 1000), measured("w", 1, 0)];
    assert_eq!(warned(&on(export(), runs)), [(Some(0), 32)]);
    let runs = vec![measured("small", 2, 1000), measured("medium", 3, 1000)];
    assert_eq!(warned(&on(export(), runs)), [(None, 48)], "one warning about all of them");
}
