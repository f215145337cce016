//! What a service has seen and what it is, at one moment, for other threads and other programs.

use std::fmt::{self, Write};

use crate::live::LiveAccount;
use crate::witness::{Counters, Procedure, Witness};

/// A service at one moment.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// When: nanoseconds since it began. Instants in the witness' book are of the same clock.
    pub now_ns: u64,
    /// What was seen.
    pub witness: Witness,
    /// The account in force.
    pub account: LiveAccount,
    /// Names of the endpoints, in the order of the description.
    pub endpoints: Vec<String>,
    /// Limits are in force.
    pub limits_enforced: bool,
    /// Connections that are open.
    pub connections: usize,
    /// Replies that limits or delays hold.
    pub held: usize,
    /// Turns of the loop since it began; an idle service makes none.
    pub turns: u64,
    /// Processor time that the thread that serves has used since it began, in nanoseconds.
    pub processor_ns: u64,
}

impl Snapshot {
    /// Everything as JSON: `volumes`, `flows` and `clients` by name, each with its counters. Units
    /// stand in the names.
    pub fn to_json(&self) -> String {
        let mut text = String::new();
        self.write_json(&mut text).expect("writing to a string cannot fail");
        text
    }

    fn write_json(&self, out: &mut String) -> fmt::Result {
        let Snapshot { now_ns, connections, held, .. } = self;
        write!(out, "{{\"now_ns\":{now_ns},\"connections\":{connections},\"held\":{held}")?;
        write!(out, ",\"processor_ns\":{}", self.processor_ns)?;
        let late = self.witness.lateness();
        write!(out, ",\"late\":{{\"count\":{},\"max_ns\":{}", late.count(), late.max_ns())?;
        for (key, fraction) in [("p50_ns", 0.5), ("p99_ns", 0.99), ("p999_ns", 0.999)] {
            match late.percentile_ns(fraction) {
                Some(ns) => write!(out, ",\"{key}\":{ns}")?,
                None => write!(out, ",\"{key}\":null")?,
            }
        }
        out.push('}');
        let account = self.account.account();
        list(out, "volumes", self.witness.volumes(), |out, name| {
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
        list(out, "flows", self.witness.flows(), |_, _| Ok(()))?;
        list(out, "clients", self.witness.clients(), |_, _| Ok(()))?;
        // Totals stay whole when what went long ago is no longer listed.
        for (key, folded) in [
            ("closed_volumes", self.witness.closed_volumes()),
            ("closed_flows", self.witness.closed_flows()),
            ("closed_clients", self.witness.closed_clients()),
        ] {
            write!(out, ",\"{key}\":{{\"count\":{}", folded.count)?;
            write_counters(out, &folded.counters)?;
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
        ("without_volume", counters.without_volume),
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
    // Entry 0 is of no gap at all, entry n of gaps from 2^(n - 1) ns to below 2^n ns.
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

/// A string of JSON (RFC 8259, section 7).
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
    fn names_are_quoted_as_json_has_it() {
        assert_eq!(Quoted("a\"b\\c\nd").to_string(), "\"a\\\"b\\\\c\\u000ad\"");
    }
}
