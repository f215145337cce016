//! The state and counters of a service at one instant, for other threads and programs.

use std::fmt::{self, Write};

use crate::counters::{Counters, Procedure, ServiceCounters};
use crate::live::LiveAccount;

/// A service at one instant.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// Nanoseconds since the service started. Instants in the counters use the same clock.
    pub now_ns: u64,
    /// The service's counters.
    pub counters: ServiceCounters,
    /// The account in force.
    pub account: LiveAccount,
    /// Names of the endpoints, in the order of the configuration.
    pub endpoints: Vec<String>,
    /// Whether limits are in force.
    pub limits_enforced: bool,
    /// Open connections.
    pub connections: usize,
    /// Replies deferred by limits or delays.
    pub deferred: usize,
    /// Turns of the event loop since the start; an idle service makes none.
    pub turns: u64,
    /// CPU time of the serving thread since the start, in nanoseconds.
    pub cpu_ns: u64,
}

impl Snapshot {
    /// The snapshot as JSON: `volumes`, `flows` and `clients` by name, with their counters. Names
    /// contain the units.
    pub fn to_json(&self) -> String {
        let mut text = String::new();
        self.write_json(&mut text).expect("writing to a string cannot fail");
        text
    }

    fn write_json(&self, out: &mut String) -> fmt::Result {
        let Snapshot { now_ns, connections, deferred, .. } = self;
        write!(out, "{{\"now_ns\":{now_ns},\"connections\":{connections},\"deferred\":{deferred}")?;
        write!(out, ",\"cpu_ns\":{}", self.cpu_ns)?;
        let lateness = self.counters.lateness();
        write!(
            out,
            ",\"lateness\":{{\"count\":{},\"max_ns\":{}",
            lateness.count(),
            lateness.max_ns()
        )?;
        for (key, fraction) in [("p50_ns", 0.5), ("p99_ns", 0.99), ("p999_ns", 0.999)] {
            match lateness.percentile_ns(fraction) {
                Some(ns) => write!(out, ",\"{key}\":{ns}")?,
                None => write!(out, ",\"{key}\":null")?,
            }
        }
        out.push('}');
        let account = self.account.account();
        list(out, "volumes", self.counters.volumes(), |out, name| {
            let Some(volume) = account.volume(name) else { return Ok(()) };
            write!(out, ",\"quota_bytes\":{}", volume.quota.get())?;
            let limit = self.account.throughput_limit(volume);
            match limit.filter(|_| self.limits_enforced) {
                Some(limit) => {
                    write!(out, ",\"throughput_limit_bytes_per_s\":{}", limit.bytes_per_s())
                }
                None => write!(out, ",\"throughput_limit_bytes_per_s\":null"),
            }
        })?;
        list(out, "flows", self.counters.flows(), |_, _| Ok(()))?;
        list(out, "clients", self.counters.clients(), |_, _| Ok(()))?;
        // Unlisted subjects, so that totals are complete.
        for (key, closed) in [
            ("closed_volumes", self.counters.closed_volumes()),
            ("closed_flows", self.counters.closed_flows()),
            ("closed_clients", self.counters.closed_clients()),
        ] {
            write!(out, ",\"{key}\":{{\"count\":{}", closed.count)?;
            write_counters(out, &closed.counters)?;
            out.push('}');
        }
        out.write_str("}\n")
    }
}

fn list<'a>(
    out: &mut String,
    key: &str,
    subjects: impl Iterator<Item = (&'a str, &'a Counters)>,
    more: impl Fn(&mut String, &str) -> fmt::Result,
) -> fmt::Result {
    write!(out, ",\"{key}\":[")?;
    for (index, (name, counters)) in subjects.enumerate() {
        if index > 0 {
            out.push(',');
        }
        write!(out, "\n{{\"name\":{}", Quoted(name))?;
        more(out, name)?;
        write_counters(out, counters)?;
        out.push('}');
    }
    out.push(']');
    Ok(())
}

fn write_counters(out: &mut String, counters: &Counters) -> fmt::Result {
    for (key, value) in [
        ("arrived", counters.arrived),
        ("completed", counters.completed()),
        ("read_bytes", counters.read_bytes),
        ("written_bytes", counters.written_bytes),
        ("outstanding", counters.outstanding),
        ("outstanding_max", counters.outstanding_max),
        ("throttled", counters.throttled()),
        ("qos_delay_ns", counters.qos_delay_ns),
        ("qos_delay_ns_max", counters.qos_delay_ns_max),
        ("storage_delay_ns", counters.storage_delay_ns),
        ("dropped", counters.dropped),
        ("calls_without_volume", counters.calls_without_volume),
    ] {
        write!(out, ",\"{key}\":{value}")?;
    }
    let instants = [
        ("first_arrival_ns", counters.first_arrival_ns),
        ("last_arrival_ns", counters.last_arrival_ns),
    ];
    for (key, instant) in instants {
        match instant {
            Some(ns) => write!(out, ",\"{key}\":{ns}")?,
            None => write!(out, ",\"{key}\":null")?,
        }
    }
    // Entry 0 counts arrivals without a gap, entry n gaps from 2^(n - 1) ns to below 2^n ns.
    let used = counters.arrival_gaps.iter().rposition(|count| *count > 0).map_or(0, |at| at + 1);
    write!(out, ",\"arrival_gaps\":{:?}", &counters.arrival_gaps[..used])?;
    for (key, counts) in [("operations", &counters.operations), ("failed", &counters.failed)] {
        write!(out, ",\"{key}\":{{")?;
        let seen = Procedure::ALL.iter().zip(counts).filter(|(_, count)| **count > 0);
        for (index, (procedure, count)) in seen.enumerate() {
            let comma = if index > 0 { "," } else { "" };
            write!(out, "{comma}\"{}\":{count}", procedure.name())?;
        }
        out.push('}');
    }
    Ok(())
}

/// A JSON string (RFC 8259, section 7).
struct Quoted<'a>(&'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_char('"')?;
        for c in self.0.chars() {
            match c {
                '"' | '\\' => write!(f, "\\{c}")?,
                c if c < ' ' => write!(f, "\\u{:04x}", c as u32)?,
                c => f.write_char(c)?,
            }
        }
        f.write_char('"')
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_quoted_as_json_strings() {
        assert_eq!(Quoted("a\"b\\c\nd").to_string(), "\"a\\\"b\\\\c\\u000ad\"");
    }
}
