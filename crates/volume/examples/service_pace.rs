//! What a request costs in the service's core, and how late held requests are released.
//!
//! Prints lines `NAME VALUE UNIT`. `*_ns` are processor times of one request from its arrival to
//! its counted answer, with no socket and no storage. `held_*` have 100,000 requests held at once.
//! `late_*` run on the real clock: how long after it was due a request came out, when whoever
//! waits sleeps until `next_ns`; a shell does the same with a timer.

use std::time::{Duration, Instant};

use cloud::catalog::Catalog;
use volume::config::parse;
use volume::service::{Connection, Due, Service, VolumeKey};
use volume::witness::Procedure;

const HELD: u64 = 100_000;
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
    let config = config.unwrap_or_else(|mistakes| panic!("{mistakes:?}"));
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

fn connect(service: &mut Service, flows: usize) -> (Vec<Connection>, VolumeKey) {
    let name = service.config().endpoints[0].name.clone();
    let endpoint = service.endpoint_key(&name).expect("it is described");
    let connection = |flow| service.connect(endpoint, &format!("10.0.0.5:{flow}"), "10.0.0.5");
    let connections = (0..flows).map(connection).collect();
    (connections, service.volume_key("v").expect("it is described"))
}

#[expect(clippy::print_stdout, reason = "a program for the terminal")]
fn print(name: &str, value: f64, unit: &str) {
    println!("{name} {value:.1} {unit}");
}

/// Nothing holds anything.
fn free(name: &str, mut service: Service, flows: usize, step_ns: u64) {
    const REQUESTS: u64 = 2_000_000;
    let (connections, volume) = connect(&mut service, flows);
    let begun = Instant::now();
    for token in 0..REQUESTS {
        let connection = connections[token as usize % flows];
        let now_ns = token * step_ns;
        let due = service.arrive(now_ns, connection, volume, Procedure::Read, BYTES, token);
        let due = due.ok().flatten().expect("nothing holds it");
        service.answered(&due, BYTES, false);
    }
    print(name, begun.elapsed().as_nanos() as f64 / REQUESTS as f64, "ns");
}

/// A volume at its limit, 64 requests outstanding in each flow.
fn saturated(name: &str, mut service: Service, flows: usize) {
    const REQUESTS: u64 = 1_000_000;
    let (connections, volume) = connect(&mut service, flows);
    let (mut now_ns, mut done, mut wakes) = (0, 0, 0u64);
    let mut out: Vec<Due> = Vec::new();
    for place in 0..64 * flows {
        let connection = connections[place % flows];
        let due = service.arrive(0, connection, volume, Procedure::Read, BYTES, 0);
        out.extend(due.expect("it is taken"));
    }
    let begun = Instant::now();
    while done < REQUESTS {
        let mut answer = std::mem::take(&mut out);
        for due in answer.drain(..) {
            service.answered(&due, BYTES, false);
            done += 1;
            let next = service.arrive(now_ns, due.connection, volume, Procedure::Read, BYTES, 0);
            out.extend(next.expect("it is taken"));
        }
        now_ns = service.next_ns().expect("requests wait").max(now_ns);
        service.advance(now_ns, &mut out);
        wakes += 1;
    }
    print(&format!("{name}_ns"), begun.elapsed().as_nanos() as f64 / REQUESTS as f64, "ns");
    print(&format!("{name}_wakes"), wakes as f64 / REQUESTS as f64, "per_request");
    let mib_per_s = (done * BYTES) as f64 / (1 << 20) as f64 / (now_ns as f64 / 1e9);
    print(&format!("{name}_throughput"), mib_per_s, "MiB/s");
}

/// 100,000 requests held at once, released in virtual time.
fn held(name: &str, mut service: Service) {
    let (connections, volume) = connect(&mut service, 16);
    let begun = Instant::now();
    for token in 0..HELD {
        let connection = connections[token as usize % 16];
        let due = service.arrive(0, connection, volume, Procedure::Read, BYTES, token);
        assert!(due.is_ok(), "it is taken");
    }
    let arrived = begun.elapsed();
    print(&format!("{name}_arrive_ns"), arrived.as_nanos() as f64 / HELD as f64, "ns");
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
    let released = (begun.elapsed() - arrived).as_nanos() as f64 / HELD as f64;
    print(&format!("{name}_release_ns"), released, "ns");
    print(&format!("{name}_wakes"), wakes as f64 / HELD as f64, "per_request");
    print(&format!("{name}_late_max"), late_ns as f64, "ns_virtual");
    let cores = released * HELD as f64 / last_ns as f64;
    print(&format!("{name}_cpu"), cores, "cores_in_the_core_alone");
}

/// 100,000 requests held at once, released by the real clock for some seconds.
#[expect(clippy::print_stdout, reason = "a program for the terminal")]
fn on_the_clock(name: &str, mut service: Service) {
    // A thread's sleep may be stretched by its timer slack, 50 us unless told otherwise.
    if let Err(error) = std::fs::write("/proc/self/timerslack_ns", "1") {
        println!("# timer slack stays as it is: {error}");
    }
    let (connections, volume) = connect(&mut service, 16);
    let origin = Instant::now();
    let now = || u64::try_from(origin.elapsed().as_nanos()).expect("less than 584 years");
    for token in 0..HELD {
        let connection = connections[token as usize % 16];
        let due = service.arrive(now(), connection, volume, Procedure::Read, BYTES, token);
        assert!(due.is_ok(), "it is taken");
    }
    let (cpu_before, begun_ns) = (cpu_ns(), now());
    let (mut out, mut late) = (Vec::new(), Vec::new());
    let mut wakes = 0u64;
    while let Some(at_ns) = service.next_ns().filter(|_| now() < begun_ns + 5 * NS_PER_S) {
        let wait_ns = at_ns.saturating_sub(now());
        if wait_ns > 0 {
            std::thread::sleep(Duration::from_nanos(wait_ns));
        }
        wakes += 1;
        let now_ns = now();
        service.advance(now_ns, &mut out);
        for due in out.drain(..) {
            // What was due while the requests were still being brought is no wake's fault.
            if due.due_ns > begun_ns {
                late.push(now_ns - due.due_ns);
            }
            service.answered(&due, BYTES, false);
        }
    }
    let passed_ns = (now() - begun_ns) as f64;
    let cpu = cpu_ns().zip(cpu_before).map_or(f64::NAN, |(after, before)| (after - before) as f64);
    late.sort_unstable();
    let at = |fraction: f64| late[((late.len() - 1) as f64 * fraction) as usize] as f64 / 1e3;
    print(&format!("{name}_released"), late.len() as f64 / (passed_ns / 1e9), "per_s");
    print(&format!("{name}_wakes"), wakes as f64 / (passed_ns / 1e9), "per_s");
    print(&format!("{name}_p50"), at(0.5), "us");
    print(&format!("{name}_p99"), at(0.99), "us");
    print(&format!("{name}_max"), at(1.0), "us");
    println!("{name}_cpu {:.3} cores", cpu / passed_ns);
}

/// Processor time of this process, whose only thread this is.
fn cpu_ns() -> Option<u64> {
    std::fs::read_to_string("/proc/self/schedstat").ok()?.split(' ').next()?.parse().ok()
}

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    let runs = |name: &str| wanted.is_empty() || wanted.iter().any(|w| name.starts_with(w));
    if runs("free") {
        free("free_unlimited_1_flow", unlimited(""), 1, 1_000);
        free("free_unlimited_256_flows", unlimited(""), 256, 1_000);
        free("free_limited_1_flow", service(LIMITED, ""), 1, 122_071);
        free("free_limited_256_flows", service(LIMITED, ""), 256, 122_071);
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
    if runs("held") {
        held("held_by_limit", service(LIMITED, ""));
        held(
            "held_by_limit_and_delay",
            service(LIMITED, "[delay]\nread = \"1ms\"\nwrite = \"1ms\""),
        );
        held("held_by_delay", unlimited(lognormal));
    }
    if runs("late") {
        on_the_clock("late_by_limit", service(LIMITED, ""));
        on_the_clock("late_by_delay", unlimited(lognormal));
    }
}
