//! Measures the cost per request in the core of the service, and how late deferred requests are
//! released.
//!
//! Prints lines `NAME VALUE UNIT`. `*_ns` are CPU times of one request from its arrival to its
//! counted reply, without sockets and storage. `deferred_*` have 100,000 deferred requests. `late_*`
//! run on the real clock: how late requests are released if the caller sleeps until `next_ns`, as the
//! shell does with a timer.

use std::time::{Duration, Instant};

use cloud::catalog::Catalog;
use volume::config::parse;
use volume::counters::Procedure;
use volume::ids::{ConnectionId, EndpointId, VolumeId};
use volume::service::{DueRequest, Service};

const DEFERRED: u64 = 100_000;
const BYTES: u64 = 8192;
const NS_PER_S: u64 = 1_000_000_000;

fn service(quota: &str, more: &str) -> Service {
    let text = format!(
        "[account]\ncapacity_quota = \"500TiB\"\n\
         [[pool]]\nname = \"p\"\nservice_level = \"premium\"\nsize = \"500TiB\"\n\
         [[volume]]\nname = \"v\"\npool = \"p\"\n{quota}\n{more}"
    );
    let catalog = Catalog::embedded();
    let config = parse(&text, "volumes.toml", &catalog, &mut |path| Err(path.to_owned()));
    let config = config.unwrap_or_else(|problems| panic!("{problems:?}"));
    Service::start(0, catalog, config).unwrap_or_else(|breaches| panic!("{breaches:?}"))
}

/// 64 MiB/s: 8,192 requests of 8 KiB a second.
const LIMITED: &str = "quota = \"1TiB\"";

/// A volume whose kind has no stated limit.
fn unlimited(more: &str) -> Service {
    let endpoints: Vec<String> = (0..6).map(|i| format!("e{i}")).collect();
    let mut tables = String::new();
    for name in &endpoints {
        tables += &format!("[[endpoint]]\nname = \"{name}\"\n");
    }
    let quota =
        format!("quota = \"100TiB\"\nkind = \"breakthrough\"\nendpoints = {endpoints:?}\n{tables}");
    service(&quota, more)
}

fn connect(service: &mut Service, flows: usize) -> (Vec<ConnectionId>, VolumeId) {
    let endpoint = EndpointId::new(0);
    let connection = |flow| service.connect(endpoint, &format!("10.0.0.5:{flow}"), "10.0.0.5");
    let connections = (0..flows).map(connection).collect();
    (connections, service.volume_id("v").expect("a volume of the configuration"))
}

#[expect(clippy::print_stdout, reason = "a program for the terminal")]
fn print(name: &str, value: f64, unit: &str) {
    println!("{name} {value:.1} {unit}");
}

/// Requests that nothing defers.
fn undeferred(name: &str, mut service: Service, flows: usize, step_ns: u64) {
    const REQUESTS: u64 = 2_000_000;
    let (connections, volume) = connect(&mut service, flows);
    let start = Instant::now();
    for token in 0..REQUESTS {
        let connection = connections[token as usize % flows];
        let now_ns = token * step_ns;
        let due = service.arrive(now_ns, connection, volume, Procedure::Read, BYTES, token);
        let due = due.expect("it is accepted").due().expect("nothing defers it");
        service.answered(&due, BYTES, false);
    }
    print(name, start.elapsed().as_nanos() as f64 / REQUESTS as f64, "ns");
}

/// A volume at its limit, 64 requests outstanding in each flow.
fn saturated(name: &str, mut service: Service, flows: usize) {
    const REQUESTS: u64 = 1_000_000;
    let (connections, volume) = connect(&mut service, flows);
    let (mut now_ns, mut done, mut wakes) = (0, 0, 0u64);
    let mut out: Vec<DueRequest> = Vec::new();
    for number in 0..64 * flows {
        let connection = connections[number % flows];
        let due = service.arrive(0, connection, volume, Procedure::Read, BYTES, 0);
        out.extend(due.expect("it is accepted").due());
    }
    let start = Instant::now();
    while done < REQUESTS {
        let mut all_due = std::mem::take(&mut out);
        for due in all_due.drain(..) {
            service.answered(&due, BYTES, false);
            done += 1;
            let next = service.arrive(now_ns, due.connection, volume, Procedure::Read, BYTES, 0);
            out.extend(next.expect("it is accepted").due());
        }
        now_ns = service.next_ns().expect("requests wait").max(now_ns);
        service.advance(now_ns, &mut out);
        wakes += 1;
    }
    print(&format!("{name}_ns"), start.elapsed().as_nanos() as f64 / REQUESTS as f64, "ns");
    print(&format!("{name}_wakes"), wakes as f64 / REQUESTS as f64, "per_request");
    let mib_per_s = (done * BYTES) as f64 / (1 << 20) as f64 / (now_ns as f64 / 1e9);
    print(&format!("{name}_throughput"), mib_per_s, "MiB/s");
}

/// 100,000 deferred requests, released in virtual time.
fn deferred(name: &str, mut service: Service) {
    let (connections, volume) = connect(&mut service, 16);
    let start = Instant::now();
    for token in 0..DEFERRED {
        let connection = connections[token as usize % 16];
        let due = service.arrive(0, connection, volume, Procedure::Read, BYTES, token);
        assert!(due.is_ok(), "it is accepted");
    }
    let arrived = start.elapsed();
    print(&format!("{name}_arrive_ns"), arrived.as_nanos() as f64 / DEFERRED as f64, "ns");
    let (mut out, mut wakes, mut late_ns, mut last_ns) = (Vec::new(), 0u64, 0, 0);
    while let Some(at_ns) = service.next_ns() {
        service.advance(at_ns, &mut out);
        wakes += 1;
        for due in out.drain(..) {
            late_ns = late_ns.max(at_ns - due.due_ns);
            service.answered(&due, BYTES, false);
        }
        last_ns = at_ns;
    }
    let released = (start.elapsed() - arrived).as_nanos() as f64 / DEFERRED as f64;
    print(&format!("{name}_release_ns"), released, "ns");
    print(&format!("{name}_wakes"), wakes as f64 / DEFERRED as f64, "per_request");
    print(&format!("{name}_late_max"), late_ns as f64, "ns_virtual");
    let processors = released * DEFERRED as f64 / last_ns as f64;
    print(&format!("{name}_cpu"), processors, "processors_without_sockets");
}

/// 100,000 deferred requests, released by the real clock for 5 s.
#[expect(clippy::print_stdout, reason = "a program for the terminal")]
fn on_the_clock(name: &str, mut service: Service) {
    // The default timer slack lengthens a sleep by up to 50 us.
    if let Err(error) = std::fs::write("/proc/self/timerslack_ns", "1") {
        println!("# the timer slack is unchanged: {error}");
    }
    let (connections, volume) = connect(&mut service, 16);
    let origin = Instant::now();
    let now = || u64::try_from(origin.elapsed().as_nanos()).expect("less than 584 years");
    for token in 0..DEFERRED {
        let connection = connections[token as usize % 16];
        let due = service.arrive(now(), connection, volume, Procedure::Read, BYTES, token);
        assert!(due.is_ok(), "it is accepted");
    }
    let (cpu_before, start_ns) = (cpu_ns(), now());
    let (mut out, mut late) = (Vec::new(), Vec::new());
    let mut wakes = 0u64;
    while let Some(at_ns) = service.next_ns().filter(|_| now() < start_ns + 5 * NS_PER_S) {
        let wait_ns = at_ns.saturating_sub(now());
        if wait_ns > 0 {
            std::thread::sleep(Duration::from_nanos(wait_ns));
        }
        wakes += 1;
        let now_ns = now();
        service.advance(now_ns, &mut out);
        for due in out.drain(..) {
            // Requests due before the start were not late because of a wake-up.
            if due.due_ns > start_ns {
                late.push(now_ns - due.due_ns);
            }
            service.answered(&due, BYTES, false);
        }
    }
    let passed_ns = (now() - start_ns) as f64;
    let cpu = cpu_ns().zip(cpu_before).map_or(f64::NAN, |(after, before)| (after - before) as f64);
    late.sort_unstable();
    let at = |fraction: f64| late[((late.len() - 1) as f64 * fraction) as usize] as f64 / 1e3;
    print(&format!("{name}_released"), late.len() as f64 / (passed_ns / 1e9), "per_s");
    print(&format!("{name}_wakes"), wakes as f64 / (passed_ns / 1e9), "per_s");
    print(&format!("{name}_p50"), at(0.5), "us");
    print(&format!("{name}_p99"), at(0.99), "us");
    print(&format!("{name}_max"), at(1.0), "us");
    println!("{name}_cpu {:.3} processors", cpu / passed_ns);
}

/// CPU time of this process, which has one thread.
fn cpu_ns() -> Option<u64> {
    std::fs::read_to_string("/proc/self/schedstat").ok()?.split(' ').next()?.parse().ok()
}

fn main() {
    let selected: Vec<String> = std::env::args().skip(1).collect();
    let runs = |name: &str| selected.is_empty() || selected.iter().any(|w| name.starts_with(w));
    if runs("undeferred") {
        undeferred("undeferred_unlimited_1_flow", unlimited(""), 1, 1_000);
        undeferred("undeferred_unlimited_256_flows", unlimited(""), 256, 1_000);
        undeferred("undeferred_limited_1_flow", service(LIMITED, ""), 1, 122_071);
        undeferred("undeferred_limited_256_flows", service(LIMITED, ""), 256, 122_071);
    }
    if runs("saturated") {
        let flow = "[limits]\nflow_throughput = \"4MiB/s\"";
        saturated("saturated_1_flow", service(LIMITED, ""), 1);
        saturated("saturated_256_flows", service(LIMITED, ""), 256);
        saturated("saturated_256_limited_flows", service(LIMITED, flow), 256);
        saturated(
            "saturated_1ms_256_flows",
            service(LIMITED, "[delay]\nread = \"1ms\"\nwrite = \"1ms\""),
            256,
        );
    }
    let lognormal = "[delay]\nread = { median = \"3s\", p99 = \"10s\" }";
    if runs("deferred") {
        deferred("deferred_by_limit", service(LIMITED, ""));
        deferred(
            "deferred_by_limit_and_delay",
            service(LIMITED, "[delay]\nread = \"1ms\"\nwrite = \"1ms\""),
        );
        deferred("deferred_by_delay", unlimited(lognormal));
    }
    if runs("late") {
        on_the_clock("late_by_limit", service(LIMITED, ""));
        on_the_clock("late_by_delay", unlimited(lognormal));
    }
}
