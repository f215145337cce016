//! The exact text of a tuning, and its settings as other programs read them.

use std::process::Command;

use crate::fixture::records::{done, experiment, reads as interval, run, stream};
use analysis::Findings;
use analysis::curve::plateau::Inconclusive;
use analysis::estimate::{Estimate, Method};
use analysis::tune::arithmetic::Arithmetic;
use analysis::tune::findings::{HostShare, Outcome, Settings, Tried, TuneFindings};
use analysis::tune::limit::quotas;
use analysis::tune::share::shares;
use expect_test::expect;
use report::glance::Layout;
use report::look::Look;
use report::settings::{Load, experiment as own, fio, vdbench};
use units::{BytesPerSec, Nanos, OpsPerSec};
use workload::data::DataPattern;
use workload::experiment::parse_with_files;
use workload::names::{NameLoad, NameMix, NameSize, NameSpread, TreeShape, WeightedFileSize};
use workload::op::OpKind;
use workload::pattern::AccessPattern;
use workload::plan::{
    EmulatedVolume, Phases, Step, Stream, TargetSpec, WeightedSize, WorkingSet, WriteStability,
};
use workload::reach::{Reach, RequiredRate};
use workload::resolve::{ResolveOptions, resolve};

const MIB: f64 = 1_048_576.0;
const PHASES: Phases =
    Phases { warm_up_ns: 2_000_000_000, measure_ns: 10_000_000_000, interval_ns: 500_000_000 };

/// Sequential reads of 64 KiB from four files.
fn reads() -> Stream {
    Stream {
        name: "tune".to_owned(),
        read_permille: 1000,
        transfer_sizes: vec![WeightedSize { size_bytes: 64 << 10, weight: 1 }],
        access_pattern: AccessPattern::Sequential,
        working_set: WorkingSet { files: 4, file_size_bytes: 256 << 20, area_bytes: 256 << 20 },
        direct: true,
        ..stream("tune", 1)
    }
}

fn estimate(value: f64) -> Estimate {
    let uncertainty = Some(value * 0.004);
    Estimate { value, uncertainty, samples: 20.0, method: Method::Intervals }
}

fn tried(outstanding: u64, ops_per_s: f64) -> Tried {
    Tried {
        load_point: 0,
        outstanding,
        rate: estimate(ops_per_s),
        throughput: Some(estimate(ops_per_s * 65_536.0)),
        response_ns: estimate(outstanding as f64 / ops_per_s * 1e9),
        runs: 1,
        agrees: true,
        worker_busy: Some(0.2),
    }
}

fn settings(outstanding: u64, hosts: u64, ops_per_s: Option<f64>) -> Settings {
    let share = |share: &analysis::tune::share::Share| HostShare {
        hosts: share.holders,
        outstanding: share.each,
        workers: 1,
        queue_depth: share.each as u32,
        rate: ops_per_s.map(|all| OpsPerSec::new(all * share.each as f64 / outstanding as f64)),
    };
    let shares = shares(outstanding, hosts).iter().map(share).collect();
    Settings { outstanding, shares, phases: PHASES, connections: None }
}

/// A finished tuning with the numbers of NetApp's paper.
fn paper(hosts: u32) -> TuneFindings {
    let wanted = RequiredRate::Throughput { bytes_per_s: 200.0 * MIB };
    let enough = tried(7, 3560.0);
    TuneFindings {
        target: TargetSpec::Directory { path: "/mnt/vol1".to_owned() },
        reach: Reach {
            required: wanted,
            within_permille: 0,
            outstanding_max: 1024,
            response_time_max_ns: None,
            hosts,
        },
        stream: reads(),
        target_rate: OpsPerSec::new(3200.0),
        target_throughput: Some(BytesPerSec::new(200.0 * MIB)),
        least_rate: OpsPerSec::new(3200.0),
        arithmetic: Some(Arithmetic::new(wanted, 65_536.0, Nanos(1_909_000.0))),
        tried: vec![tried(1, 523.8), tried(6, 3105.0), enough],
        outcome: Outcome::Reached { enough, too_little: Some(tried(6, 3105.0)), open: false },
        verdict: None,
        quotas: Vec::new(),
        settings: Some(settings(7, u64::from(hosts), Some(3200.0))),
        paced: Some(tried(7, 3200.0)),
        best_within_objective: None,
    }
}

/// A requirement above the limit of an emulated volume of 1 TiB Ultra.
fn limited() -> TuneFindings {
    let volume = EmulatedVolume {
        service_level: "Ultra".to_owned(),
        quota_bytes: 1 << 40,
        throughput_limit_bytes_per_s: 128 << 20,
        read_delay_ns: 400_000,
        write_delay_ns: 300_000,
        memory_bytes: 1 << 30,
    };
    let (top, last) = (tried(3, 2048.0), tried(9, 2045.0));
    TuneFindings {
        target: TargetSpec::Emulated { volume, connections: Some(4), options: String::new() },
        outcome: Outcome::Saturated { top, last },
        tried: vec![tried(1, 1460.0), top, tried(4, 2047.0), tried(6, 2046.0), last],
        verdict: Some(0),
        quotas: quotas(BytesPerSec::new(200.0 * MIB)),
        settings: None,
        paced: None,
        ..paper(1)
    }
}

/// Files that are created and removed at a rate of operations, without data.
fn on_names(hosts: u32) -> TuneFindings {
    let required = RequiredRate::Rate { ops_per_s: 20_000.0 };
    let tried =
        |outstanding, ops_per_s| Tried { throughput: None, ..tried(outstanding, ops_per_s) };
    let (too_little, enough) = (tried(9, 18_950.0), tried(10, 20_900.0));
    TuneFindings {
        reach: Reach { required, within_permille: 30, ..paper(hosts).reach },
        stream: names(churn(NameSize::constant(0)), 1),
        target_rate: OpsPerSec::new(20_000.0),
        target_throughput: None,
        least_rate: OpsPerSec::new(19_400.0),
        arithmetic: Some(Arithmetic::new(required, 0.0, Nanos(470_000.0))),
        tried: vec![tried(1, 2127.0), too_little, enough],
        outcome: Outcome::Reached { enough, too_little: Some(too_little), open: false },
        settings: Some(settings(10, u64::from(hosts), Some(20_000.0))),
        paced: Some(tried(10, 20_000.0)),
        ..paper(hosts)
    }
}

/// Creates and removes in a tree of these sizes.
fn churn(sizes: NameSize) -> NameLoad {
    NameLoad {
        tree: TreeShape {
            files: 20_000,
            depth: 2,
            width: 10,
            directories: 100,
            name_length: 12,
            spread: NameSpread::RoundRobin,
            sizes,
        },
        mix: NameMix::of(&[(OpKind::Create, 500), (OpKind::Unlink, 500)]),
        append_bytes: 4096,
        scenario: None,
    }
}

fn names(load: NameLoad, workers: u32) -> Stream {
    Stream { names: Some(load), direct: false, read_permille: 0, ..stream("tune", workers) }
}

/// The tuning with a record of its measurements.
fn findings(tune: TuneFindings) -> Findings {
    let measured = |tried: &Tried| {
        let rate = tried.rate.value as u64;
        let service_ns = tried.response_ns.value as u64;
        let wave = [0, 4, 1, 3, 2, 0].map(|more| interval(rate + more, 65_536, service_ns));
        let stream = Stream { queue_depth: tried.outstanding as u32, ..reads() };
        let run = run("tune", vec![stream], 0, 6);
        done(run, wave.to_vec())
    };
    let mut record = experiment(tune.tried.iter().map(measured).collect());
    *record.plan.target_mut() = tune.target.clone();
    Findings { tune: Some(tune), ..analysis::analyze(&record) }
}

/// The text about the tuning.
fn text_of(tune: TuneFindings) -> String {
    let text = report::text::summary(&findings(tune), 80);
    let wide = text.lines().find(|line| line.chars().count() > 80);
    assert_eq!(wide, None, "{text}");
    let begin = text.find("Tuning for").expect("there is a section");
    let end = text.find("\nSummary").expect("the next section");
    // The settings for other tools come after the results, up to the next section.
    let settings = text.split_once("\nSettings for").map_or(String::new(), |(_, rest)| {
        format!("\nSettings for{}\n", rest.split("\n\n").next().unwrap_or(rest).trim_end())
    });
    format!("{}{settings}", &text[begin..end])
}

/// The end of `tune`.
fn at_one_glance(tune: TuneFindings) -> String {
    let layout = Layout { width: 80, lines_max: 40, look: Look::default() };
    let text = report::glance::text(&findings(tune), layout).expect("it was measured");
    let wide = text.lines().find(|line| line.chars().count() > 80);
    assert_eq!(wide, None, "{text}");
    assert!(text.lines().count() <= 40, "{text}");
    text
}

#[test]
fn a_tuning_begins_with_its_answer_then_the_calculation_and_the_settings() {
    expect![[r#"
        /mnt/vol1                                 four corners, 6s, 2026-11-21 06:15 UTC

        200 MiB/s (3,200 ops/s) needs 7 in flight (queue depth 7, 1 worker): measured
        200 MiB/s (3,200 ops/s ± 0.4 %) at 2.19 ms.

          Little's law: 3,200 ops/s × 1.91 ms = 6.11, so 7 operations; 6 gave 97 %, 7
            gave 111 %, paced at 3,200 ops/s 100 %.
          fio: `--iodepth=7 --rate_iops=3200`; Vdbench: `threads=7`

          outstanding  rate 95 % CI throughput response result
                  ops ops/s       ±      MiB/s       ms
                    1   524   0.4 %       32.7     1.91 too low; needs 6.11
                    6 3,105   0.4 %        194     1.93 too low; needs 6.18
                    7 3,560   0.4 %        223     1.97 sufficient
                    7 3,200   0.4 %        200     2.19 paced at 3,200 ops/s
    "#]]
    .assert_eq(&at_one_glance(paper(1)));
}

#[test]
fn the_example_of_the_paper_is_calculated_step_by_step() {
    expect![[r#"
        Tuning for 200 MiB/s (3,200 ops/s)
          200 MiB/s (3,200 ops/s) is reached with 7 operations outstanding: 3,560 ops/s
          ± 0.4 %, 223 MiB/s, mean response time 1.97 ms.
          6 outstanding are too few: 3,105 ops/s ± 0.4 %, 97 % of the requirement. (At
          least 3,200 ops/s count as reached: --within 0%.)
          Unpaced, this concurrency gives 111 % of the requirement. Paced at 3,200 ops/s
          (constant arrivals), it gives 3,200 ops/s ± 0.4 %, 200 MiB/s, mean response
          time 2.19 ms.
          Arithmetic:
          - Response time at queue depth 1 of one worker: 1.909 ms = 0.001909 s.
          - Required rate: 200 MiB/s x 1,024 KiB/MiB / 64 KiB = 3,200 ops/s.
          - Little's law, outstanding = rate x response time: 3,200 ops/s x 0.001909 s =
            6.11, so 7 operations.
          - Response time may rise with the load, and the required concurrency with it,
            so it was measured and corrected:
          outstanding  rate 95 % CI throughput response result
                  ops ops/s       ±      MiB/s       ms
                    1   524   0.4 %       32.7     1.91 too low; needs 6.11
                    6 3,105   0.4 %        194     1.93 too low; needs 6.18
                    7 3,560   0.4 %        223     1.97 sufficient
                    7 3,200   0.4 %        200     2.19 paced at 3,200 ops/s

        Settings for 7 operations outstanding
          7 operations on one host: 1 worker x queue depth 7, over 4 files. Unpaced they
          exceed the required rate, so the settings limit the rate; remove the limit for
          the maximum rate.
          fourcorners: save as `tuned.toml` and run
          `fourcorners run /mnt/vol1 -w tuned.toml`
            name = "tuned"
            [run]
            warm_up = "2s"
            measure = "10s"
            interval = "500ms"
            [stream.tune]
            read = "100 %"
            transfer_size = "64KiB"
            pattern = "sequential"
            files = 4
            file_size = "256MiB"
            workers = 1
            queue_depth = 7
            arrival = { constant = "3200/s" }
          fio: save as `tuned.fio` and run `fio tuned.fio`
            [tune]
            ioengine=io_uring
            direct=1
            directory=/mnt/vol1
            filename_format=fio.$filenum
            nrfiles=4
            filesize=256m
            size=1g
            rw=read
            bs=64k
            file_service_type=sequential
            numjobs=1
            iodepth=7
            rate_iops=3200
            time_based=1
            ramp_time=2s
            runtime=10s
            group_reporting=1
          Vdbench: save as `tuned.vdb` and run `vdbench -f tuned.vdb`
            sd=default,size=256m,openflags=o_direct
            sd=sd1,threads=2,lun=/mnt/vol1/vdbench1.data
            sd=sd2,threads=2,lun=/mnt/vol1/vdbench2.data
            sd=sd3,threads=2,lun=/mnt/vol1/vdbench3.data
            sd=sd4,threads=1,lun=/mnt/vol1/vdbench4.data
            wd=wd1,sd=sd*,rdpct=100,seekpct=0,xfersize=64k
            rd=rd1,wd=wd1,iorate=3200,warmup=2,elapsed=10,interval=1
    "#]]
    .assert_eq(&text_of(paper(1)));
}

#[test]
fn settings_for_three_hosts_have_the_share_of_each() {
    let text = text_of(paper(3));
    expect![[r#"
        Settings for 7 operations outstanding
          7 operations over 3 hosts: 1 host with 3 each (1 worker x queue depth 3), 2
          hosts with 2 each (1 worker x queue depth 2). This is calculated: everything
          was measured on one host, and others may have a different network and response
          time. Hosts on one volume need separate directories, which you have to add to
          the settings. Unpaced they exceed the required rate, so the settings limit the
          rate; remove the limit for the maximum rate.
          fourcorners on 1 host: save as `tuned.toml` and run
          `fourcorners run /mnt/vol1 -w tuned.toml`
            name = "tuned"
            [run]
            warm_up = "2s"
            measure = "10s"
            interval = "500ms"
            [stream.tune]
            read = "100 %"
            transfer_size = "64KiB"
            pattern = "sequential"
            files = 4
            file_size = "256MiB"
            workers = 1
            queue_depth = 3
            arrival = { constant = "1372/s" }
          fio on 1 host: save as `tuned.fio` and run `fio tuned.fio`
            [tune]
            ioengine=io_uring
            direct=1
            directory=/mnt/vol1
            filename_format=fio.$filenum
            nrfiles=4
            filesize=256m
            size=1g
            rw=read
            bs=64k
            file_service_type=sequential
            numjobs=1
            iodepth=3
            rate_iops=1372
            time_based=1
            ramp_time=2s
            runtime=10s
            group_reporting=1
          fourcorners on 2 hosts: save as `tuned.toml` and run
          `fourcorners run /mnt/vol1 -w tuned.toml`
            name = "tuned"
            [run]
            warm_up = "2s"
            measure = "10s"
            interval = "500ms"
            [stream.tune]
            read = "100 %"
            transfer_size = "64KiB"
            pattern = "sequential"
            files = 4
            file_size = "256MiB"
            workers = 1
            queue_depth = 2
            arrival = { constant = "915/s" }
          fio on 2 hosts: save as `tuned.fio` and run `fio tuned.fio`
            [tune]
            ioengine=io_uring
            direct=1
            directory=/mnt/vol1
            filename_format=fio.$filenum
            nrfiles=4
            filesize=256m
            size=1g
            rw=read
            bs=64k
            file_service_type=sequential
            numjobs=1
            iodepth=2
            rate_iops=915
            time_based=1
            ramp_time=2s
            runtime=10s
            group_reporting=1
          Vdbench: save as `tuned.vdb` and run `vdbench -f tuned.vdb`
            hd=default,user=root,shell=ssh,vdbench=/opt/vdbench
            hd=host1,system=host1
            hd=host2,system=host2
            hd=host3,system=host3
            sd=default,size=256m,openflags=o_direct
            sd=sd1,host=host1,threads=1,lun=/mnt/vol1/vdbench1.data
            sd=sd2,host=host1,threads=1,lun=/mnt/vol1/vdbench2.data
            sd=sd3,host=host1,threads=1,lun=/mnt/vol1/vdbench3.data
            sd=sd4,host=host2,threads=1,lun=/mnt/vol1/vdbench4.data
            sd=sd5,host=host2,threads=1,lun=/mnt/vol1/vdbench5.data
            sd=sd6,host=host3,threads=1,lun=/mnt/vol1/vdbench6.data
            sd=sd7,host=host3,threads=1,lun=/mnt/vol1/vdbench7.data
            wd=wd1,sd=sd*,rdpct=100,seekpct=0,xfersize=64k
            rd=rd1,wd=wd1,iorate=3200,warmup=2,elapsed=10,interval=1
    "#]]
    .assert_eq(&text[text.find("Settings for").expect("settings")..]);
}

#[test]
fn a_limit_is_named_with_the_quotas_that_suffice() {
    expect![[r#"
        Tuning for 200 MiB/s (3,200 ops/s)
          200 MiB/s (3,200 ops/s) cannot be reached with more concurrency: the rate
          stops rising at 2,048 ops/s ± 0.4 %, 128 MiB/s, mean response time 1,465 µs (3
          operations outstanding).
          With 9 operations outstanding it was 2,045 ops/s ± 0.4 %, and response time
          was 4,401 µs instead of 1,465 µs.
          Limited by the volume's throughput limit (99 % sure).
          Evidence: 128.10 MiB/s at queue depth 3, 100 % of the configured 128.00 MiB/s
          (1 TiB x Ultra).
          For twice the throughput (256 MiB/s), raise the quota to 2.00 TiB.
          The lowest quota for 200 MiB/s at each service level:
          service level  quota volume maximum
                           GiB          MiB/s
          standard      12,800          1,600
          premium        3,200          4,500
          ultra          1,600          4,500
          Arithmetic:
          - Response time at queue depth 1 of one worker: 1.909 ms = 0.001909 s.
          - Required rate: 200 MiB/s x 1,024 KiB/MiB / 64 KiB = 3,200 ops/s.
          - Little's law, outstanding = rate x response time: 3,200 ops/s x 0.001909 s =
            6.11, so 7 operations.
          - Response time may rise with the load, and the required concurrency with it,
            so it was measured and corrected:
          outstanding  rate 95 % CI throughput response result
                  ops ops/s       ±      MiB/s       µs
                    1 1,460   0.4 %       91.2      685 too low; needs 2.19
                    3 2,048   0.4 %        128    1,465 too low; needs 4.69
                    4 2,047   0.4 %        128    1,954 too low; needs 6.25
                    6 2,046   0.4 %        128    2,933 too low; needs 9.38
                    9 2,045   0.4 %        128    4,401 too low; needs 14.08
    "#]]
    .assert_eq(&text_of(limited()));
}

#[test]
fn operations_on_names_have_no_throughput_and_no_job_of_other_tools() {
    expect![[r#"
        /mnt/vol1                                 four corners, 6s, 2026-11-21 06:15 UTC

        20,000 ops/s needs 10 in flight (queue depth 10, 1 worker): measured
        20,000 ops/s ± 0.4 % at 500 µs.

          Little's law: 20,000 ops/s × 470 µs = 9.40, so 10 operations; 9 gave 95 %, 10
            gave 104 %, paced at 20,000 ops/s 100 %.
          fourcorners: `workers = 1`, `queue_depth = 10`,
            `arrival = { constant = "20000/s" }`
          fio and Vdbench have no equivalent job for these operations on names, so there
            are no settings for them.

          outstanding   rate 95 % CI response result
                  ops  ops/s       ±       µs
                    1  2,127   0.4 %      470 too low; needs 9.40
                    9 18,950   0.4 %      475 too low; needs 9.50
                   10 20,900   0.4 %      478 sufficient
                   10 20,000   0.4 %      500 paced at 20,000 ops/s
    "#]]
    .assert_eq(&at_one_glance(on_names(1)));
    expect![[r#"
        Tuning for 20,000 ops/s
          20,000 ops/s is reached with 10 operations outstanding: 20,900 ops/s ± 0.4 %,
          mean response time 478 µs.
          9 outstanding are too few: 18,950 ops/s ± 0.4 %, 95 % of the requirement. (At
          least 19,400 ops/s count as reached: --within 3%.)
          Unpaced, this concurrency gives 104 % of the requirement. Paced at
          20,000 ops/s (constant arrivals), it gives 20,000 ops/s ± 0.4 %, mean response
          time 500 µs.
          Arithmetic:
          - Response time at queue depth 1 of one worker: 0.470 ms = 0.000470 s.
          - Required rate: 20,000 ops/s.
          - Little's law, outstanding = rate x response time: 20,000 ops/s x 0.000470 s
            = 9.40, so 10 operations.
          - Response time may rise with the load, and the required concurrency with it,
            so it was measured and corrected:
          outstanding   rate 95 % CI response result
                  ops  ops/s       ±       µs
                    1  2,127   0.4 %      470 too low; needs 9.40
                    9 18,950   0.4 %      475 too low; needs 9.50
                   10 20,900   0.4 %      478 sufficient
                   10 20,000   0.4 %      500 paced at 20,000 ops/s

        Settings for 10 operations outstanding
          10 operations on one host: 1 worker x queue depth 10, on a tree of 20,000
          files. Unpaced they exceed the required rate, so the settings limit the rate;
          remove the limit for the maximum rate.
          fourcorners: save as `tuned.toml` and run
          `fourcorners run /mnt/vol1 -w tuned.toml`
            name = "tuned"
            [run]
            warm_up = "2s"
            measure = "10s"
            interval = "500ms"
            [stream.tune]
            workers = 1
            queue_depth = 10
            arrival = { constant = "20000/s" }
            [stream.tune.names]
            files = 20000
            depth = 2
            width = 10
            name_length = 12
            spread = "round_robin"
            size = "0"
            [stream.tune.mix]
            create = "50%"
            unlink = "50%"
          fio and Vdbench have no equivalent job for these operations on names, so there
          are no settings for them.
    "#]]
    .assert_eq(&text_of(on_names(1)));
    let json = json_of(on_names(1));
    assert!(json["required"]["bytes_per_sec"].is_null());
    assert!(json["arithmetic"]["transfer_size_bytes"].is_null());
    assert!(json["enough"]["throughput_bytes_per_sec"].is_null());
    let chart = chart_of(on_names(1));
    assert!(chart.caption.contains("the required rate, 20,000 ops/s"), "{}", chart.caption);
    assert!(!chart.svg.contains("IOPS"), "{}", chart.svg);
}

#[test]
fn the_printed_experiment_of_operations_on_names_is_the_measured_load() {
    let weighted = |sizes: &[(u64, u64)]| NameSize::Weighted {
        sizes: sizes
            .iter()
            .map(|(size_bytes, weight)| WeightedFileSize {
                size_bytes: *size_bytes,
                weight: *weight,
            })
            .collect(),
    };
    let lognormal = NameSize::Lognormal { median_bytes: 29_184, sigma: 0.5, max_bytes: 4 << 20 };
    let mut growing = churn(NameSize::constant(4096));
    growing.mix = NameMix::of(&[(OpKind::Append, 15), (OpKind::Truncate, 15), (OpKind::Stat, 970)]);
    growing.append_bytes = 512;
    let mut sparse = churn(NameSize::constant(0));
    sparse.tree.directories = 67;
    sparse.tree.spread = NameSpread::Random;
    for load in [
        churn(NameSize::constant(0)),
        churn(weighted(&[(0, 125), (4096, 600), (3000, 275)])),
        churn(weighted(&[(4096, 1), (8192, 2)])),
        churn(lognormal),
        growing,
        sparse,
    ] {
        let measured = names(load, 2);
        let load = Load {
            stream: &measured,
            phases: PHASES,
            connections: None,
            directory: "/mnt/vol1",
            io_method: "psync",
        };
        for share in settings(7, 3, Some(20_000.0)).shares {
            let text = own::lines(&load, &share).join("\n");
            let sizes = own::size_lines(&measured);
            let read_file = |path: &str| {
                assert_eq!(path, own::SIZES_FILE);
                Ok(sizes.as_ref().expect("the sizes are printed").join("\n"))
            };
            let parsed = parse_with_files(&text, "tuned.toml", &[], &read_file);
            let parsed = parsed.unwrap_or_else(|problems| panic!("{problems:?}\n{text}"));
            let plan = resolve(&parsed, "tuned.toml", TargetSpec::Null, &ResolveOptions::LOCAL);
            let plan = plan.unwrap_or_else(|problems| panic!("{problems:?}\n{text}"));
            let [Step::Fixed(run)] = &plan.steps[..] else { panic!("{:?}", plan.steps) };
            let [again] = &run.streams[..] else { panic!("{:?}", run.streams) };
            let (again, measured) = (again.clone(), measured.clone());
            assert_eq!(again.queue_depth_total(), share.outstanding, "{text}");
            let (again, measured) = (again.names.expect(&text), measured.names.expect("names"));
            assert_eq!((again.mix, again.append_bytes), (measured.mix, measured.append_bytes));
            assert_eq!(again.tree, measured.tree, "{text}");
        }
    }
}

#[test]
fn every_other_outcome_has_a_reason_and_a_line() {
    let why = Inconclusive::Precision(4);
    for (tune, words) in [
        (
            TuneFindings {
                outcome: Outcome::Inconclusive { top: tried(9, 2045.0), why },
                ..limited()
            },
            "Not enough data to tell whether more concurrency would reach it",
        ),
        (
            TuneFindings { outcome: Outcome::Bounded { top: tried(128, 2000.0) }, ..limited() },
            "about 205 outstanding operations are required",
        ),
        (
            TuneFindings { outcome: Outcome::Unfinished, arithmetic: None, ..limited() },
            "is unknown",
        ),
        (
            TuneFindings {
                outcome: Outcome::TooSlow { enough: tried(7, 3560.0), response: Nanos(2.2e6) },
                reach: Reach { response_time_max_ns: Some(2_000_000), ..paper(1).reach },
                best_within_objective: Some(tried(6, 3105.0)),
                ..paper(1)
            },
            "The highest rate within 2.00 ms is 3,105 ops/s",
        ),
    ] {
        let glance = at_one_glance(tune.clone());
        let answer = glance.lines().nth(2).expect("an answer");
        assert!(answer.contains("200 MiB/s (3,200 ops/s)"), "{glance}");
        let text = text_of(tune).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains(words), "{words}: {text}");
    }
}

fn json_of(tune: TuneFindings) -> serde_json::Value {
    let mut out = Vec::new();
    report::json::write(&findings(tune), &mut out).expect("a vector accepts everything");
    let json: serde_json::Value = serde_json::from_slice(&out).expect("it is JSON");
    json["tune"].clone()
}

#[test]
fn json_has_every_number_of_the_text() {
    let tune = json_of(limited());
    assert_eq!(tune["verdict"], "saturated");
    assert_eq!(tune["arithmetic"]["outstanding_whole"], 7);
    assert_eq!(tune["arithmetic"]["outstanding"], 6.1088);
    assert_eq!(tune["saturation"]["throughput_bytes_per_sec"]["value"], f64::from(128 << 20));
    assert_eq!(tune["limited_by"]["limits"][0], "volume_throughput");
    assert_eq!(tune["quotas"][2]["quota_bytes"], 1600u64 << 30);
    assert!(tune["settings"].is_null());
}

/// Streams of every kind that fio supports.
fn streams() -> Vec<Stream> {
    let random = |pattern| Stream { access_pattern: pattern, read_permille: 700, ..reads() };
    vec![
        reads(),
        Stream { read_permille: 0, write_stability: Some(WriteStability::Unstable), ..reads() },
        random(AccessPattern::Uniform),
        random(AccessPattern::Zipf { theta: 1.1 }),
        random(AccessPattern::HotSet { area_permille: 100, accesses_permille: 900 }),
        Stream {
            read_permille: 333,
            dsync: true,
            direct: false,
            fsync_every_writes: Some(8),
            data: DataPattern { compressible_permille: 500, duplicate_permille: 250 },
            transfer_sizes: vec![
                WeightedSize { size_bytes: 8 << 10, weight: 7 },
                WeightedSize { size_bytes: 512, weight: 3 },
            ],
            ..random(AccessPattern::Uniform)
        },
    ]
}

#[test]
fn fio_accepts_every_printed_job() {
    if Command::new("fio").arg("--version").output().is_err() {
        panic!("this test needs fio: install Debian's package `fio`");
    }
    let directory = env!("CARGO_TARGET_TMPDIR");
    for (number, stream) in streams().iter().enumerate() {
        for engine in ["io_uring", "psync", "nfs_client"] {
            for share in settings(7, 3, Some(3200.0)).shares {
                let load = Load {
                    stream,
                    phases: PHASES,
                    connections: Some(8),
                    directory,
                    io_method: engine,
                };
                let job = fio::job(&load, &share).join("\n");
                let path = format!("{directory}/settings-{number}-{engine}.fio");
                std::fs::write(&path, &job).expect("write a job file");
                let parsed = Command::new("fio").args(["--parse-only", &path]).output();
                let parsed = parsed.expect("fio was started above");
                let complaints = String::from_utf8_lossy(&parsed.stderr);
                assert!(parsed.status.success() && complaints.is_empty(), "{complaints}\n{job}");
                std::fs::remove_file(&path).expect("remove the job file");
            }
        }
    }
}

#[test]
fn the_threads_of_vdbench_add_up_to_the_outstanding_operations() {
    let stream = reads();
    let load = Load {
        stream: &stream,
        phases: PHASES,
        connections: None,
        directory: "/mnt/vol1/",
        io_method: "psync",
    };
    for (outstanding, hosts) in [(1, 1), (7, 1), (7, 3), (2, 5), (130, 4)] {
        let lines = vdbench::lines(&load, &settings(outstanding, hosts, None).shares);
        let lines = lines.expect("Vdbench supports sequential reads");
        let threads: u64 = lines
            .iter()
            .filter_map(|line| {
                line.split("threads=").nth(1)?.split(',').next()?.parse::<u64>().ok()
            })
            .sum();
        assert_eq!(threads, outstanding, "{lines:?}");
        let named = |prefix: &str| lines.iter().filter(|line| line.starts_with(prefix)).count();
        let busy_hosts = if hosts > 1 { hosts.min(outstanding) as usize } else { 0 };
        assert_eq!(named("hd=host"), busy_hosts, "{lines:?}");
        // Vdbench ignores text after a blank.
        assert!(lines.iter().all(|line| !line.contains(' ')), "{lines:?}");
    }
    for stream in streams().into_iter().skip(3) {
        let load = Load { stream: &stream, ..load.clone() };
        assert!(vdbench::lines(&load, &settings(7, 1, None).shares).is_err());
    }
}

fn chart_of(tune: TuneFindings) -> report::pictures::Picture {
    let mut findings = analysis::analyze(&experiment(Vec::new()));
    findings.tune = Some(tune);
    let drawn = report::pictures::pictures(&[&findings], report::drawing::theme::Theme::Light);
    drawn.into_iter().find(|picture| picture.name == "tuning").expect("the chart is there")
}

#[test]
fn a_tuning_has_a_chart_with_a_ring_around_the_answer() {
    let chart = chart_of(paper(1));
    assert!(
        chart.caption.contains("Little's law with the response time at queue depth 1 gives 6.11.")
    );
    assert!(chart.caption.contains("Ring: the lowest sufficient number, 7."), "{}", chart.caption);
    assert!(chart.svg.contains("r=\"9\"") && chart.svg.contains(">required rate, "));
}
