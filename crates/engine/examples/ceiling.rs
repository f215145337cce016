//! The engine alone with a null target or existing files: operations per second and CPU time per
//! operation, with everything recorded. For profiling the hot path; `cargo xtask bench` compares
//! the whole program with others.
//!
//! `ceiling null|DIR io_uring|psync READ_PERMILLE SIZE QUEUE_DEPTH SECONDS buffered|direct`
//! `[FILE_SIZE]`

use std::ops::ControlFlow;
use std::sync::Arc;

use engine::drive::Stop;
use engine::request::Request;
use engine::run::run;
use target::null::NullTarget;
use target::posix::PosixTarget;
use workload::active_time::ActiveTime;
use workload::arrival::Arrival;
use workload::data::DataPattern;
use workload::pattern::AccessPattern;
use workload::plan::{IoMethodUsed, Phases, Run, Stream, WeightedSize, WorkingSet};

#[expect(clippy::print_stdout, reason = "a program for the terminal")]
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let number = |index: usize| args[index].parse::<u64>().expect("a number");
    let file_size_bytes = if args.len() > 8 { number(8) } else { 1 << 30 };
    let stream = Stream {
        name: "ceiling".to_owned(),
        read_permille: number(3) as u16,
        transfer_sizes: vec![WeightedSize { size_bytes: number(4), weight: 1 }],
        access_pattern: AccessPattern::Uniform,
        working_set: WorkingSet { files: 1, file_size_bytes, area_bytes: file_size_bytes },
        file_use: workload::file_use::FileUse::ALL,
        queue_depth: number(5) as u32,
        workers: 1,
        arrival: Arrival::Closed { think_time_ns: 0 },
        active: ActiveTime::WHOLE_RUN,
        direct: args[7] == "direct",
        dsync: false,
        write_stability: None,
        targets: workload::plan::StreamTargets::default(),
        names: None,
        replay: None,
        fsync_every_writes: None,
        data: DataPattern::default(),
    };
    let run_of = Run {
        index: 0,
        variant: "ceiling".to_owned(),
        parameters: Vec::new(),
        repeat: 0,
        seed: 1,
        hosts: 1,
        connections: None,
        streams: vec![stream],
        phases: Phases {
            warm_up_ns: 0,
            measure_ns: number(6) * 1_000_000_000,
            interval_ns: 1_000_000_000,
        },
        tolerated_errors: 0,
        operation_deadline_ns: 60_000_000_000,
    };
    let assignment = run_of.split().remove(0);
    let request = Request {
        assignment: &assignment,
        targets: vec![match args[1].as_str() {
            "null" => Arc::new(NullTarget),
            directory => Arc::new(PosixTarget::new(directory)),
        }],
        io_method: if args[2] == "psync" { IoMethodUsed::Psync } else { IoMethodUsed::IoUring },
        pin: false,
        verify: false,
        data_seed: 1,
    };
    let (mut ops, mut cpu_ns, mut process_ns, mut elapsed_ns) = (0, 0, 0, 0);
    let mut service = metrics::histogram::Counts::default();
    let end = run(&request, &Arc::new(Stop::new()), None, &mut |interval| {
        ops += interval.streams[0].completed();
        cpu_ns += interval.workers[0].cpu_ns;
        process_ns += interval.process_user_ns + interval.process_system_ns;
        elapsed_ns = interval.end_ns;
        for kind in &interval.streams[0].kinds {
            service.merge(&kind.service);
        }
        ControlFlow::Continue(())
    });
    println!("{end:?}");
    println!(
        "{:.0} ops/s, worker CPU {:.4} us/op, process CPU {:.4} us/op, service mean {:.2} us, p99 \
         {:.2} us",
        ops as f64 / (elapsed_ns as f64 / 1e9),
        cpu_ns as f64 / ops as f64 / 1e3,
        process_ns as f64 / ops as f64 / 1e3,
        service.mean_ns().unwrap_or(0.0) / 1e3,
        service.percentile_ns(0.99).unwrap_or(0) as f64 / 1e3,
    );
}
