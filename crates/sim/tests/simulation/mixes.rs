//! The mix of reads and writes is kept under load, however long each takes.

use analysis::analyze;
use sim::storage::{Demand, Effect, Fault, Model};
use workload::experiment::parse;
use workload::op::OpKind;
use workload::plan::TargetSpec;
use workload::resolve::{ResolveOptions, resolve};

#[test]
fn ranges_keep_every_mix_if_writes_take_five_times_as_long_as_reads() {
    let text = "name = 'mixed'\n[run]\nwarm_up = '1s'\nmeasure = '4s'\n[stream.range]\n\
                read = '100%..0% step 10%'\ntransfer_size = '8k'\npattern = 'random'\n\
                file_size = '1GiB'\nqueue_depth = 8\nworkers = 2\n";
    let experiment = parse(text, "mixed").unwrap_or_else(|wrong| panic!("{wrong:#?}"));
    let options = ResolveOptions::LOCAL;
    let plan = resolve(&experiment, "mixed", TargetSpec::Null, &options).unwrap();
    let slow_writes = Fault {
        from_ns: 0,
        until_ns: u64::MAX,
        kind: Some(OpKind::Write),
        probability: 1.0,
        effect: Effect::Slow { factor: 5.0 },
    };
    let queue = Model::queue(16, Demand::Exponential { mean_ns: 1e6 });
    let model = Model { faults: vec![slow_writes], ..queue };
    let findings = analyze(&sim::experiment(&plan, &model, 9));
    // Only reads or only writes is no mix.
    assert_eq!(findings.mixes.len(), 9);
    for mix in &findings.mixes {
        assert!(mix.operations > 5_000, "{mix:?}");
        assert!(mix.holds(), "{mix:?}");
        assert!(mix.difference().abs() < 0.004, "{mix:?}");
    }
    for point in &findings.load_points {
        let data = &point.merged.total;
        let mean = |name| {
            data.kinds.iter().find(|k| k.name == name).map(|k| k.service.mean_ns.unwrap().value)
        };
        if let (Some(read), Some(write)) = (mean("read"), mean("write")) {
            assert!(write > 2.0 * read, "they complete at different speeds");
        }
    }
}
