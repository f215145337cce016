//! The known truth: the calculated ceiling of every resource of a testbed for a workload, in
//! operations per second.

use analysis::verdict::Limit;

use crate::testbed::Amounts;

/// Segment size, and bytes of headers and of a call, as the testbed counts them.
const SEGMENT: f64 = 1448.0;
const HEADERS: f64 = 78.0;
const CALL: f64 = 140.0;

/// The load on a testbed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Workload {
    /// Share of reads, 0 to 1.
    pub reads: f64,
    /// Transfer size in bytes.
    pub size_bytes: f64,
    /// Whether access is sequential.
    pub sequential: bool,
    /// Number of connections.
    pub connections: f64,
    /// Number of workers.
    pub workers: f64,
}

/// Mean time of an operation without waiting, in seconds: in total, and in the server.
pub fn unloaded_s(amounts: &Amounts, work: &Workload) -> (f64, f64) {
    let kib = work.size_bytes / 1024.0;
    let writes = 1.0 - work.reads;
    let service = amounts.service_ns * (work.reads + writes * amounts.write_factor);
    let cpu = amounts.server_cpu.map_or(0.0, |cpu| cpu.work_ns.0 + cpu.work_ns.1 * kib);
    let disk = amounts.disk.map_or(0.0, |disk| {
        let (each, per_kib) = if work.sequential { disk.sequential_ns } else { disk.random_ns };
        let reads = work.reads * (1.0 - disk.cache);
        (each + per_kib * kib) * (reads + writes * disk.write_factor)
    });
    let server = (service + cpu + disk) / 1e9;
    let client =
        (amounts.client_cpu_ns.0 + amounts.client_cpu_ns.1 * kib) * slowdown(amounts, work);
    let mut paced = 0.0;
    for rate in [amounts.volume, amounts.endpoint, amounts.flow] {
        paced += rate.map_or(0.0, |rate| work.size_bytes / rate);
    }
    paced += amounts.operations.map_or(0.0, |rate| 1.0 / rate);
    let wire = |bytes: f64, rate: Option<f64>| rate.map_or(0.0, |rate| on_wire(bytes) / rate);
    paced += wire(work.size_bytes, amounts.link) + wire(0.0, amounts.link);
    paced += writes * wire(work.size_bytes, amounts.egress);
    (amounts.wire_ns / 1e9 + client / 1e9 + server + paced, server)
}

/// The ceilings of all resources of the testbed, in operations per second.
pub fn ceilings(amounts: &Amounts, work: &Workload) -> Vec<(Limit, f64)> {
    let kib = work.size_bytes / 1024.0;
    let writes = 1.0 - work.reads;
    let (round_trip_s, server_s) = unloaded_s(amounts, work);
    let mut found = Vec::new();
    let mut add = |limit, ceiling: Option<f64>| found.extend(ceiling.map(|value| (limit, value)));
    let bytes = |rate: Option<f64>| rate.map(|rate| rate / work.size_bytes);
    add(Limit::VolumeThroughput, bytes(amounts.volume));
    add(Limit::Endpoint, bytes(amounts.endpoint));
    let direction = match amounts.flow_by_direction {
        true => work.reads.max(writes),
        false => 1.0,
    };
    add(Limit::NetworkFlow, bytes(amounts.flow).map(|rate| rate * work.connections / direction));
    let sent = writes * on_wire(work.size_bytes) + work.reads * on_wire(0.0);
    let received = work.reads * on_wire(work.size_bytes) + writes * on_wire(0.0);
    add(Limit::VmEgress, amounts.egress.map(|rate| rate / sent));
    add(Limit::Link, amounts.link.map(|rate| rate / sent.max(received)));
    let cpu_ns = (amounts.client_cpu_ns.0 + amounts.client_cpu_ns.1 * kib).max(1e-9);
    add(Limit::ClientCpu, Some(work.workers * 1e9 / (cpu_ns * slowdown(amounts, work))));
    let client_slots = f64::from(amounts.client_slots) * work.connections;
    add(Limit::ClientSlots, Some(client_slots / round_trip_s));
    let per_connection = amounts.slots_per_connection.map(|n| f64::from(n) * work.connections);
    let slots = [per_connection, amounts.slots_per_server.map(f64::from)];
    let slots = slots.into_iter().flatten().reduce(f64::min);
    // The request keeps its slot while it passes the limits of volume and endpoint.
    let paced = |rate: Option<f64>| rate.map_or(0.0, |rate| work.size_bytes / rate);
    let in_slot_s = server_s
        + paced(amounts.volume)
        + paced(amounts.endpoint)
        + amounts.operations.map_or(0.0, |rate| 1.0 / rate);
    add(Limit::ServerSlots, slots.map(|slots| slots / in_slot_s));
    add(
        Limit::ServerCpu,
        amounts
            .server_cpu
            .map(|cpu| f64::from(cpu.processors) * 1e9 / (cpu.work_ns.0 + cpu.work_ns.1 * kib)),
    );
    add(Limit::OperationsPerSecond, amounts.operations);
    add(
        Limit::Disk,
        amounts.disk.map(|disk| {
            let (each, per_kib) = if work.sequential { disk.sequential_ns } else { disk.random_ns };
            let share = work.reads * (1.0 - disk.cache) + writes * disk.write_factor;
            f64::from(disk.devices) * 1e9 / ((each + per_kib * kib) * share)
        }),
    );
    found
}

/// The factor by which other processes slow down this one.
fn slowdown(amounts: &Amounts, work: &Workload) -> f64 {
    let processors = f64::from(amounts.processors.max(1));
    ((work.workers + amounts.other_load) / processors).max(1.0)
}

fn on_wire(data: f64) -> f64 {
    let bytes = data + CALL;
    bytes + (bytes / SEGMENT).ceil() * HEADERS
}
