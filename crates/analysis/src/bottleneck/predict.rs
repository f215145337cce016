//! What each explanation predicts: how much of the resource one operation needs, so that the
//! ceiling is the resource's amount over it.
//!
//! Amounts are unknown; ratios of ceilings under different circumstances are not. An explanation
//! whose details are not known has several forms, each with a weight.

use super::Limit;
use super::groups::Group;

/// Bytes that a segment of a TCP stream carries (Ethernet's 1,500 less the headers of IPv4 and of
/// TCP with timestamps; RFC 9293, RFC 7323).
const SEGMENT_BYTES: f64 = 1448.0;
/// What is sent around it: Ethernet with preamble, checksum and gap 38, IPv4 20, TCP 32.
const HEADERS_BYTES: f64 = 90.0;
/// An NFS call or reply without data, with RPC's headers (RFC 5531, RFC 1813).
const CALL_BYTES: f64 = 150.0;

/// One form of an explanation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Form {
    pub(crate) weight: f64,
    /// Logarithm of the resource that one operation needs, in the resource's own unit.
    pub(crate) need: f64,
}

/// How an explanation bounds rates.
#[derive(Clone, Debug)]
pub(crate) enum Prediction {
    /// By an amount that is the same everywhere.
    Amount(Vec<Form>),
    /// By the work that one operation makes, which is the same for more connections, but depends on
    /// direction and order in ways that nobody knows, and on the size somewhere between not at all
    /// and in proportion. The number divides it: processors.
    Work(f64),
}

/// What `limit` says of the ceiling of a group.
pub(crate) fn prediction(limit: Limit, group: &Group, processors: f64) -> Option<Prediction> {
    let work = &group.work;
    let size = work.transfer_bytes.max(1.0);
    let (reads, writes) = (work.read_share, 1.0 - work.read_share);
    let connections = f64::from(work.connections.unwrap_or(1).max(1));
    let volumes = f64::from(work.volumes.max(1));
    let one = |need: f64| Some(Prediction::Amount(vec![Form { weight: 1.0, need: need.ln() }]));
    match limit {
        Limit::VolumeThroughput => one(size / volumes),
        Limit::Endpoint => one(size),
        Limit::NetworkFlow => {
            let form = |weight, need: f64| Form { weight, need: (need / connections).ln() };
            // Both directions together, each for itself, or the operations of a connection.
            let forms = [form(0.45, size), form(0.45, size * reads.max(writes)), form(0.10, 1.0)];
            Some(Prediction::Amount(forms.to_vec()))
        }
        Limit::VmEgress => one(sent(size, writes, reads)),
        Limit::Link => one(sent(size, writes, reads).max(sent(size, reads, writes))),
        Limit::ServerSlots => one(group.floor_s? * work.calls_per_op.unwrap_or(1.0) / connections),
        Limit::OperationsPerSecond => one(1.0),
        Limit::ClientCpu => Some(Prediction::Work(f64::from(work.workers.max(1)).min(processors))),
        Limit::Disk => Some(Prediction::Work(1.0)),
        Limit::NotReached | Limit::Unknown => None,
    }
}

/// Bytes on the wire in one direction for each operation: data for `with` of them, a call or reply
/// without data for `without`.
fn sent(size: f64, with: f64, without: f64) -> f64 {
    with * wire_bytes(size) + without * wire_bytes(0.0)
}

/// A call or reply with so much data, with all headers.
pub(crate) fn wire_bytes(data_bytes: f64) -> f64 {
    let bytes = data_bytes + CALL_BYTES;
    bytes + (bytes / SEGMENT_BYTES).max(1.0) * HEADERS_BYTES
}

/// How one group's ceiling lies to another's, as logarithms: what is predicted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Ratio {
    /// This.
    Exactly(f64),
    /// Anything from the first to the second.
    Between(f64, f64),
    /// Anything.
    Any,
}

/// The forms of `limit` with the predicted ratio of the ceiling of `other` to that of `group`.
pub(crate) fn ratios(
    limit: Limit,
    group: &Group,
    other: &Group,
    processors: f64,
) -> Option<Vec<Ratio>> {
    let of = |group| prediction(limit, group, processors);
    match (of(group)?, of(other)?) {
        (Prediction::Amount(here), Prediction::Amount(there)) => {
            let ratio = |(here, there): (&Form, &Form)| Ratio::Exactly(here.need - there.need);
            Some(here.iter().zip(&there).map(ratio).collect())
        }
        (Prediction::Work(here), Prediction::Work(there)) => {
            let (a, b) = (&group.work, &other.work);
            let same_direction = (a.read_share - b.read_share).abs() < 0.01;
            if !same_direction || a.order != b.order {
                return Some(vec![Ratio::Any]);
            }
            let more = (there / here).ln();
            let by_size = (a.transfer_bytes / b.transfer_bytes).ln();
            Some(vec![match by_size.abs() < 0.01 {
                true => Ratio::Exactly(more),
                false => Ratio::Between(more + by_size.min(0.0), more + by_size.max(0.0)),
            }])
        }
        _ => None,
    }
}
