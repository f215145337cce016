//! The host state, the last part of an interval's frame. Older versions did not store it.
//!
//! ```text
//! fields     one bit for each optional field that follows, in their order
//! span_ns  reading_cpu_ns
//! processors  quota_millicores  busy_ns idle_ns steal_ns  runnable_tasks  pressure_ns
//! run_queue_delay_ns  service_cpu_ns
//! ```

use metrics::host_state::{HostInterval, ProcessorTimes};

use crate::codec::{Cursor, Malformed, put_u64};

/// Number of optional fields. The three processor times are one field.
const FIELDS: u64 = 7;
/// In place of the bits: there is no host state, but something follows it.
const ABSENT: u64 = 1 << 63;

pub(crate) fn encode(host: Option<&HostInterval>, out: &mut Vec<u8>) {
    let Some(host) = host else { return put_u64(out, ABSENT) };
    let HostInterval { span_ns, reading_cpu_ns, times, .. } = *host;
    let times = times.map(|times| [times.busy_ns, times.idle_ns, times.steal_ns]);
    let one = |field: Option<u64>| field.map(|number| vec![number]);
    let fields: [Option<Vec<u64>>; FIELDS as usize] = [
        one(host.processors.map(u64::from)),
        one(host.quota_millicores),
        times.map(Vec::from),
        one(host.runnable_tasks.map(u64::from)),
        one(host.pressure_ns),
        one(host.run_queue_delay_ns),
        one(host.service_cpu_ns),
    ];
    let present = fields.iter().enumerate().filter(|(_, field)| field.is_some());
    put_u64(out, present.map(|(bit, _)| 1 << bit).sum());
    put_u64(out, span_ns);
    put_u64(out, reading_cpu_ns);
    fields.iter().flatten().flatten().for_each(|number| put_u64(out, *number));
}

pub(crate) fn decode(cursor: &mut Cursor<'_>) -> Result<Option<HostInterval>, Malformed> {
    let present = cursor.u64()?;
    if present == ABSENT {
        return Ok(None);
    }
    if present >> FIELDS != 0 {
        return Err(Malformed("this version of fourcorners does not know its host fields"));
    }
    let (span_ns, reading_cpu_ns) = (cursor.u64()?, cursor.u64()?);
    let has = |bit: u32| present & (1 << bit) != 0;
    let processors = has(0).then(|| cursor.u32()).transpose()?;
    let quota_millicores = has(1).then(|| cursor.u64()).transpose()?;
    let times = has(2).then(|| -> Result<ProcessorTimes, Malformed> {
        let (busy_ns, idle_ns, steal_ns) = (cursor.u64()?, cursor.u64()?, cursor.u64()?);
        Ok(ProcessorTimes { busy_ns, idle_ns, steal_ns })
    });
    Ok(Some(HostInterval {
        span_ns,
        reading_cpu_ns,
        processors,
        quota_millicores,
        times: times.transpose()?,
        runnable_tasks: has(3).then(|| cursor.u32()).transpose()?,
        pressure_ns: has(4).then(|| cursor.u64()).transpose()?,
        run_queue_delay_ns: has(5).then(|| cursor.u64()).transpose()?,
        service_cpu_ns: has(6).then(|| cursor.u64()).transpose()?,
    }))
}

/// The numbers that analysis adds up over intervals; 0 for a missing one.
pub(crate) fn numbers(host: &HostInterval) -> [u64; 9] {
    let times = host.times.unwrap_or_default();
    [
        host.span_ns,
        host.reading_cpu_ns,
        times.busy_ns,
        times.idle_ns,
        times.steal_ns,
        host.runnable_tasks.map_or(0, u64::from),
        host.pressure_ns.unwrap_or(0),
        host.run_queue_delay_ns.unwrap_or(0),
        host.service_cpu_ns.unwrap_or(0),
    ]
}
